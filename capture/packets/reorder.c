#include "array.h"
#include "clean.h"
#include "heap.h"
#include "order.h"
#include "random.h"

#include <stdlib.h>

#define N_ENTRIES (2 * TB_DEDUP_FRAMES_MAX) // per frame: one alone, one with its point
#define N_BUCKETS N_ENTRIES

struct entry {
	uint64_t key;
	int64_t at_ns;
	uint32_t n;
	uint32_t next; // in its bucket: index + 1, 0 at the end
};

// A ring of entries in the order of time, and buckets over it.
struct tb_dedup {
	uint32_t first; // oldest entry
	uint32_t n;
	uint32_t buckets[N_BUCKETS]; // index + 1, 0: empty
	struct entry entries[N_ENTRIES];
};

int tb_dedup_new(struct tb_dedup **dedup)
{
	// Zeroed pages cost nothing until they are used.
	struct tb_dedup *new = calloc(1, sizeof *new);
	if (!new)
		return TB_ENOMEM;
	*dedup = new;
	return TB_OK;
}

void tb_dedup_free(struct tb_dedup *dedup)
{
	free(dedup);
}

// Keys are hashes already, so their low bits will do.
static uint32_t *dedup_bucket(struct tb_dedup *dedup, uint64_t key)
{
	return &dedup->buckets[key & (N_BUCKETS - 1)];
}

// dedup_count returns the counter of the key, which is 0 for a new key.
static uint32_t *dedup_count(struct tb_dedup *dedup, uint64_t key, int64_t at_ns)
{
	uint32_t *bucket = dedup_bucket(dedup, key);
	for (uint32_t i = *bucket; i != 0; i = dedup->entries[i - 1].next)
		if (dedup->entries[i - 1].key == key)
			return &dedup->entries[i - 1].n;
	uint32_t slot = (dedup->first + dedup->n++) & (N_ENTRIES - 1);
	dedup->entries[slot] = (struct entry){key, at_ns, 0, *bucket};
	*bucket = slot + 1;
	return &dedup->entries[slot].n;
}

bool tb_dedup_is_copy(
	struct tb_dedup *dedup, uint64_t digest, uint64_t point, int64_t at_ns)
{
	while (dedup->n > 0 &&
		(dedup->n > N_ENTRIES - 2 || at_ns - dedup->entries[dedup->first].at_ns >
						     TB_DEDUP_WINDOW_NS)) {
		uint32_t oldest = dedup->first;
		uint32_t *link = dedup_bucket(dedup, dedup->entries[oldest].key);
		while (*link != oldest + 1)
			link = &dedup->entries[*link - 1].next;
		*link = dedup->entries[oldest].next;
		dedup->first = (oldest + 1) & (N_ENTRIES - 1);
		dedup->n--;
	}
	// A call adds up to two entries: one counts the frames of this digest, one how
	// often this point saw it.
	uint32_t *taken = dedup_count(dedup, tb_random_mix(digest), at_ns);
	if (point == TB_DEDUP_ANY_POINT)
		return (*taken)++ > 0;
	uint32_t *here =
		dedup_count(dedup, tb_random_mix(digest ^ tb_random_mix(point)), at_ns);
	if (++*here <= *taken)
		return true;
	++*taken;
	return false;
}

#define GAP_MAX_NS   (TB_PACKETS_GAP_MAX / TB_PS_PER_NS)
#define FIRST_MAX_NS (INT64_C(4) << 60) // in 2116; leaves as much for what follows
#define AT_MAX_NS    (INT64_C(7) << 60)

struct tb_straggler {
	uint64_t arrival;
	struct tb_held held;
};

void tb_reorder_fini(struct tb_reorder *reorder)
{
	free(reorder->ring);
	free(reorder->heap);
	*reorder = (struct tb_reorder){0};
}

// use_offset makes the next stamps move by `offset_ns`, and keeps the former offsets.
static void use_offset(struct tb_reorder *reorder, int64_t offset_ns)
{
	uint32_t i = 0;
	while (i < reorder->n_former && reorder->former_ns[i] != offset_ns)
		i++;
	if (i == TB_REORDER_STRETCHES)
		i--;
	else if (i == reorder->n_former)
		reorder->n_former++;
	for (; i > 0; i--)
		reorder->former_ns[i] = reorder->former_ns[i - 1];
	reorder->former_ns[0] = offset_ns;
	reorder->offset_ns = offset_ns;
}

// step_by returns how far behind the newest record a stamp is with this offset. Stamps of
// centuries apart may wrap around, so that they only seem near.
static int64_t step_by(
	const struct tb_reorder *reorder, int64_t stamp_ns, int64_t offset_ns)
{
	return (int64_t)((uint64_t)stamp_ns + (uint64_t)offset_ns -
			 (uint64_t)reorder->newest_ns);
}

// is_in_sequence returns whether a former stretch goes on with this stamp; then that is
// in use. Since then time went on by the rest with which the stretches after it began.
static bool is_in_sequence(struct tb_reorder *reorder, int64_t stamp_ns)
{
	for (uint32_t i = 1; i < reorder->n_former; i++) {
		int64_t offset_ns = reorder->former_ns[i];
		int64_t step_ns = step_by(reorder, stamp_ns, offset_ns);
		int64_t apart_ns = reorder->offset_ns - offset_ns;
		int64_t rest_ns = apart_ns < TB_REORDER_REST_NS ? TB_REORDER_PAUSE_NS
								: TB_REORDER_REST_NS;
		if (step_ns < -rest_ns - TB_REORDER_WINDOW_NS ||
			step_ns > TB_REORDER_LATE_NS)
			continue;
		if (step_ns < -TB_REORDER_WINDOW_NS)
			reorder->former_ns[i] = offset_ns -= step_ns;
		use_offset(reorder, offset_ns);
		return true;
	}
	return false;
}

// reorder_edge returns the edge, which follows the newest record.
static int64_t reorder_edge(struct tb_reorder *reorder)
{
	if (reorder->edge_ns < reorder->newest_ns - TB_REORDER_WINDOW_NS)
		reorder->edge_ns = reorder->newest_ns - TB_REORDER_WINDOW_NS;
	return reorder->edge_ns;
}

static int64_t stamp_in_order(struct tb_reorder *reorder, int64_t at_ns)
{
	reorder->newest_ns = at_ns;
	return at_ns;
}

static int64_t stamp_out_of_order(struct tb_reorder *reorder, int64_t at_ns)
{
	int64_t step_ns = reorder->newest_ns - at_ns;
	reorder->peak_ns = tb_max_i64(reorder->peak_ns, step_ns);
	reorder->n_reordered++;
	if (at_ns >= reorder_edge(reorder))
		return at_ns;
	reorder->n_late++;
	reorder->n_late_run =
		reorder->late_at == reorder->n_arrived - 1 ? reorder->n_late_run + 1 : 1;
	reorder->late_at = reorder->n_arrived;
	return reorder->edge_ns;
}

int64_t tb_reorder_stamp(struct tb_reorder *reorder, int64_t stamp_ns)
{
	if (reorder->n_arrived++ == 0) {
		reorder->newest_ns = stamp_ns < FIRST_MAX_NS ? stamp_ns : FIRST_MAX_NS;
		reorder->edge_ns = reorder->newest_ns - TB_REORDER_WINDOW_NS;
		use_offset(reorder, reorder->newest_ns - stamp_ns);
	}
	int64_t step_ns = step_by(reorder, stamp_ns, reorder->offset_ns);
	if ((uint64_t)step_ns <= TB_REORDER_LATE_NS) // not negative, either
		return stamp_in_order(reorder, reorder->newest_ns + step_ns);
	if (step_ns > 0 || step_ns < -TB_REORDER_LATE_NS ||
		(reorder->late_at == reorder->n_arrived - 1 &&
			reorder->n_late_run >= TB_REORDER_LATE_MAX &&
			reorder->newest_ns + step_ns < reorder_edge(reorder))) {
		// Stamp a record whose stamp is far from those before it.
		step_ns = step_by(reorder, stamp_ns, reorder->offset_ns);
		if (is_in_sequence(reorder, stamp_ns)) {
			step_ns = step_by(reorder, stamp_ns, reorder->offset_ns);
			return step_ns < 0 ? stamp_out_of_order(reorder,
						     reorder->newest_ns + step_ns)
					   : stamp_in_order(reorder,
						     reorder->newest_ns + step_ns);
		}
		bool moves = step_ns < 0 || step_ns > GAP_MAX_NS;
		if (step_ns < 0) {
			reorder->n_stepped++;
			reorder->stepped_ns = tb_max_i64(reorder->stepped_ns, -step_ns);
			step_ns = -step_ns < TB_REORDER_REST_NS ? TB_REORDER_PAUSE_NS
								: TB_REORDER_REST_NS;
		} else if (moves) {
			step_ns = GAP_MAX_NS +
				  1; // still longer than the longest that stays
		}
		if (step_ns > AT_MAX_NS - reorder->newest_ns)
			step_ns = 0;
		int64_t at_ns = reorder->newest_ns + step_ns;
		if (moves)
			use_offset(reorder, at_ns - stamp_ns);
		return stamp_in_order(reorder, at_ns);
	}
	return stamp_out_of_order(reorder, reorder->newest_ns + step_ns);
}

static int grow_ring(struct tb_reorder *reorder)
{
	uint32_t capacity = reorder->ring_capacity ? reorder->ring_capacity * 2 : 256;
	struct tb_held *ring = aligned_alloc(64, capacity * sizeof *ring);
	if (!ring)
		return TB_ENOMEM;
	for (uint32_t i = 0; i < reorder->ring_n; i++)
		ring[i] = reorder->ring[(reorder->ring_first + i) &
					(reorder->ring_capacity - 1)];
	free(reorder->ring);
	reorder->ring = ring;
	reorder->ring_first = 0;
	reorder->ring_capacity = capacity;
	return TB_OK;
}

static bool straggler_is_older(const struct tb_straggler *a, const struct tb_straggler *b)
{
	if (a->held.at_ns != b->held.at_ns)
		return a->held.at_ns < b->held.at_ns;
	return a->arrival < b->arrival;
}

TB_HEAP(stragglers, struct tb_straggler, straggler_is_older)

static struct tb_held *take_straggler(struct tb_reorder *reorder)
{
	reorder->taken = stragglers_take(reorder->heap, reorder->heap_n--).held;
	return &reorder->taken;
}

struct tb_held *tb_reorder_place(struct tb_reorder *reorder)
{
	if (reorder->ring_n == reorder->ring_capacity && grow_ring(reorder) != TB_OK)
		return NULL;
	uint32_t end = reorder->ring_first + reorder->ring_n;
	return &reorder->ring[end & (reorder->ring_capacity - 1)];
}

int tb_reorder_put(struct tb_reorder *reorder, int64_t at_ns)
{
	uint32_t mask = reorder->ring_capacity - 1;
	uint32_t end = reorder->ring_first + reorder->ring_n;
	reorder->ring[end & mask].at_ns = at_ns;
	if (reorder->ring_n > 0 && at_ns < reorder->ring[(end - 1) & mask].at_ns) {
		const struct tb_held *held = &reorder->ring[end & mask];
		if (TB_ARRAY_RESERVE(&reorder->heap, &reorder->heap_room,
			    reorder->heap_n + 1) != TB_OK)
			return TB_ENOMEM;
		struct tb_straggler new = {reorder->n_arrived, *held};
		stragglers_put(reorder->heap, reorder->heap_n++, new);
		return TB_OK;
	}
	reorder->ring_n++;
	return TB_OK;
}

static struct tb_held *take_first(struct tb_reorder *reorder)
{
	struct tb_held *first = &reorder->ring[reorder->ring_first];
	reorder->ring_first = (reorder->ring_first + 1) & (reorder->ring_capacity - 1);
	reorder->ring_n--;
	return first;
}

struct tb_held *tb_reorder_take(struct tb_reorder *reorder, bool all)
{
	size_t n = reorder->ring_n + reorder->heap_n;
	if (n == 0)
		return NULL;
	const struct tb_held *next =
		reorder->ring_n > 0 ? &reorder->ring[reorder->ring_first] : NULL;
	// On a tie the record in the ring arrived first: a straggler is one that came
	// after records with later stamps.
	bool straggler = reorder->heap_n > 0 &&
			 (!next || reorder->heap[0].held.at_ns < next->at_ns);
	int64_t at_ns = straggler ? reorder->heap[0].held.at_ns : next->at_ns;
	if (!all && at_ns > reorder->newest_ns - TB_REORDER_WINDOW_NS &&
		n < TB_REORDER_RECORDS_MAX)
		return NULL;
	reorder->edge_ns = tb_max_i64(reorder->edge_ns, at_ns);
	return straggler ? take_straggler(reorder) : take_first(reorder);
}

#include "heaviest.h"

#include "wait_steps.h"

#include <stdlib.h>
#include <string.h>

enum { FIRST_SLOTS = 256 };

// new_slots makes free slots, none of which lies in two lines of the cache.
static struct tb_heavy *new_slots(uint32_t n)
{
	struct tb_heavy *slots = aligned_alloc(64, n * sizeof *slots);
	if (slots)
		memset(slots, 0, n * sizeof *slots);
	return slots;
}

int tb_heaviest_init(struct tb_heaviest *heaviest, uint32_t n_most, bool by_bin)
{
	struct tb_heavy *slots = new_slots(FIRST_SLOTS);
	if (!slots)
		return TB_ENOMEM;
	*heaviest = (struct tb_heaviest){.slots = slots,
		.n_slots = FIRST_SLOTS,
		.n_most = n_most,
		.by_bin = by_bin};
	return TB_OK;
}

void tb_heaviest_fini(struct tb_heaviest *heaviest)
{
	free(heaviest->slots);
	*heaviest = (struct tb_heaviest){0};
}

static uint64_t *floor_of(struct tb_heaviest *heaviest, struct tb_wait_key key)
{
	return &heaviest->floors_ps[heaviest->by_bin ? key.a : 0];
}

static struct tb_heavy *slot_of(struct tb_heaviest *heaviest, struct tb_wait_key key)
{
	uint32_t mask = heaviest->n_slots - 1;
	uint32_t i = tb_heaviest_place(heaviest, key);
	while (heaviest->slots[i].most_ps &&
		!tb_wait_key_equal(heaviest->slots[i].key, key))
		i = (i + 1) & mask;
	return &heaviest->slots[i];
}

// gather moves the used slots to the front.
static uint32_t gather(struct tb_heaviest *heaviest)
{
	uint32_t n = 0;
	for (uint32_t i = 0; i < heaviest->n_slots; i++)
		if (heaviest->slots[i].most_ps)
			heaviest->slots[n++] = heaviest->slots[i];
	return n;
}

// refill puts `n` keys, all different, into a table of `n_slots`, and frees them.
static int refill(struct tb_heaviest *heaviest, uint32_t n, uint32_t n_slots)
{
	struct tb_heavy *kept = heaviest->slots;
	struct tb_heavy *slots = new_slots(n_slots);
	if (slots) {
		heaviest->slots = slots;
		heaviest->n_slots = n_slots;
		for (uint32_t i = 0; i < n; i++)
			*slot_of(heaviest, kept[i].key) = kept[i];
		free(kept);
	}
	heaviest->n_used = n;
	return slots ? TB_OK : TB_ENOMEM;
}

// evict forgets the lighter half of the keys. Which are light is decided by how far they
// have come above the floor, so that the bound of the header holds.
static int evict(struct tb_heaviest *heaviest)
{
	struct tb_wait_steps steps = {0};
	uint32_t n = gather(heaviest), n_kept = 0;
	uint64_t before_ps[TB_HEAVIEST_BINS];
	memcpy(before_ps, heaviest->floors_ps, sizeof before_ps);
	for (uint32_t i = 0; i < n; i++)
		tb_wait_steps_add(
			&steps, heaviest->slots[i].most_ps -
					*floor_of(heaviest, heaviest->slots[i].key));
	uint64_t least_ps = tb_wait_steps_reached(&steps, heaviest->n_most / 2);
	for (uint32_t i = 0; i < n; i++) {
		const struct tb_heavy heavy = heaviest->slots[i];
		uint64_t before = before_ps[heaviest->by_bin ? heavy.key.a : 0];
		uint64_t *floor_ps = floor_of(heaviest, heavy.key);
		if (heavy.most_ps - before >= least_ps)
			heaviest->slots[n_kept++] = heavy;
		else if (heavy.most_ps > *floor_ps)
			*floor_ps = heavy.most_ps;
	}
	return refill(heaviest, n_kept, heaviest->n_slots);
}

static int make_room(struct tb_heaviest *heaviest)
{
	if (heaviest->n_used >= heaviest->n_most)
		return evict(heaviest);
	if (heaviest->n_used < heaviest->n_slots / 2)
		return TB_OK;
	return refill(heaviest, gather(heaviest), 2 * heaviest->n_slots);
}

int tb_heaviest_put(struct tb_heaviest *heaviest, struct tb_heavy *slot,
	struct tb_wait_key key, uint32_t n_waits, uint64_t wait_ps)
{
	uint64_t floor_ps = *floor_of(heaviest, key);
	*slot = (struct tb_heavy){key, n_waits, floor_ps + wait_ps, floor_ps};
	heaviest->n_used++;
	return make_room(heaviest);
}

static int by_key(const void *left, const void *right)
{
	const struct tb_heavy *a = left, *b = right;
	return tb_wait_key_order(a->key, b->key);
}

// merge adds up `n` sorted entries whose slices became one. Of a key that was kept in
// only one of the two, the other's floor is unknown waiting.
static uint32_t merge(struct tb_heaviest *heaviest, uint32_t n)
{
	const uint64_t *floors_ps = heaviest->floors_ps;
	struct tb_heavy *slots = heaviest->slots;
	uint32_t n_merged = 0;
	for (uint32_t i = 0; i < n; i++) {
		struct tb_heavy *last = n_merged ? &slots[n_merged - 1] : NULL;
		struct tb_heavy heavy = slots[i];
		uint64_t other_ps = floors_ps[heavy.key.a ^ 1];
		uint64_t own_ps = floors_ps[heavy.key.a];
		heavy.key.a /= 2;
		if (last && tb_wait_key_equal(last->key, heavy.key)) {
			// Its error holds this slice's floor, in place of these waits.
			last->n_waits += heavy.n_waits;
			last->most_ps += heavy.most_ps - own_ps;
			last->error_ps += heavy.error_ps - own_ps;
			continue;
		}
		heavy.most_ps += other_ps;
		heavy.error_ps += other_ps;
		slots[n_merged++] = heavy;
	}
	return n_merged;
}

static int by_wide_key(const void *left, const void *right)
{
	struct tb_heavy a = *(const struct tb_heavy *)left;
	struct tb_heavy b = *(const struct tb_heavy *)right;
	a.key.a /= 2;
	b.key.a /= 2;
	int order = tb_wait_key_order(a.key, b.key);
	return order ? order : by_key(left, right);
}

int tb_heaviest_widen(struct tb_heaviest *heaviest)
{
	uint32_t n = gather(heaviest);
	if (n)
		qsort(heaviest->slots, n, sizeof *heaviest->slots, by_wide_key);
	n = merge(heaviest, n);
	uint64_t *floors_ps = heaviest->floors_ps;
	for (uint32_t bin = 0; bin < TB_HEAVIEST_BINS; bin++)
		floors_ps[bin] = bin < TB_HEAVIEST_BINS / 2
					 ? floors_ps[2 * bin] + floors_ps[2 * bin + 1]
					 : 0;
	return refill(heaviest, n, heaviest->n_slots);
}

static int heaviest_first(const void *left, const void *right)
{
	const struct tb_heavy *a = left, *b = right;
	uint64_t of_a = a->most_ps - a->error_ps, of_b = b->most_ps - b->error_ps;
	if (of_a != of_b)
		return of_a > of_b ? -1 : 1;
	return by_key(left, right);
}

uint32_t tb_heaviest_list(
	struct tb_heaviest *heaviest, uint32_t n_listed, uint64_t *floor_ps)
{
	uint32_t n = gather(heaviest);
	*floor_ps = 0;
	for (uint32_t bin = 0; bin < TB_HEAVIEST_BINS; bin++)
		if (heaviest->floors_ps[bin] > *floor_ps)
			*floor_ps = heaviest->floors_ps[bin];
	if (n > n_listed)
		qsort(heaviest->slots, n, sizeof *heaviest->slots, heaviest_first);
	for (; n > n_listed; n--)
		if (heaviest->slots[n - 1].most_ps > *floor_ps)
			*floor_ps = heaviest->slots[n - 1].most_ps;
	if (n)
		qsort(heaviest->slots, n, sizeof *heaviest->slots, by_key);
	return n;
}

#include "heaviest.h"

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

static struct tb_heavy *heavy_slot(struct tb_heaviest *heaviest, struct tb_wait_key key)
{
	uint32_t mask = heaviest->n_slots - 1;
	uint32_t i = tb_heaviest_place(heaviest, key);
	while (heaviest->slots[i].most_ps &&
		!tb_wait_key_equal(heaviest->slots[i].key, key))
		i = (i + 1) & mask;
	return &heaviest->slots[i];
}

// slots_for is how many slots `n` keys need, at most half of which are used.
static uint32_t slots_for(uint32_t n)
{
	uint32_t n_slots = FIRST_SLOTS;
	while (n >= n_slots / 2)
		n_slots *= 2;
	return n_slots;
}

// heaviest_gather moves the used slots to the front.
static uint32_t heaviest_gather(struct tb_heaviest *heaviest)
{
	uint32_t n = 0;
	for (uint32_t i = 0; i < heaviest->n_slots; i++)
		if (heaviest->slots[i].most_ps)
			heaviest->slots[n++] = heaviest->slots[i];
	return n;
}

// heaviest_refill puts `n` keys, all different, into a table of `n_slots`, and frees
// them.
static int heaviest_refill(struct tb_heaviest *heaviest, uint32_t n, uint32_t n_slots)
{
	struct tb_heavy *kept = heaviest->slots;
	struct tb_heavy *slots = new_slots(n_slots);
	if (slots) {
		heaviest->slots = slots;
		heaviest->n_slots = n_slots;
		for (uint32_t i = 0; i < n; i++)
			*heavy_slot(heaviest, kept[i].key) = kept[i];
		free(kept);
	}
	heaviest->n_used = n;
	return slots ? TB_OK : TB_ENOMEM;
}

// evict removes the lighter keys: those least above the floor, so that the bound of the
// header holds.
static int evict(struct tb_heaviest *heaviest)
{
	struct tb_wait_steps steps = {0};
	uint32_t n = heaviest_gather(heaviest), n_kept = 0;
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
	// About as many keys will be added until the next call as since the last one.
	return heaviest_refill(heaviest, n_kept, slots_for(n));
}

int tb_heaviest_trim(struct tb_heaviest *heaviest)
{
	return heaviest->n_used > heaviest->n_most ? evict(heaviest) : TB_OK;
}

int tb_heaviest_put(struct tb_heaviest *heaviest, struct tb_heavy *slot,
	struct tb_wait_key key, uint32_t n_waits, uint64_t wait_ps)
{
	uint64_t floor_ps = *floor_of(heaviest, key);
	*slot = (struct tb_heavy){key, n_waits, floor_ps + wait_ps, floor_ps};
	heaviest->n_used++;
	if (heaviest->n_used < heaviest->n_slots / 2)
		return TB_OK;
	return heaviest_refill(
		heaviest, heaviest_gather(heaviest), 2 * heaviest->n_slots);
}

static int heavy_key_order(const void *left, const void *right)
{
	const struct tb_heavy *a = left, *b = right;
	return tb_wait_key_order(a->key, b->key);
}

// put_wide puts a key whose slice became one with its neighbour. Of a key that is kept in
// only one of the two, the other's floor is unknown waiting; of one that is kept in both,
// it stood for waits that are known now.
static void put_wide(
	struct tb_heaviest *to, struct tb_heavy heavy, const uint64_t *floors)
{
	uint64_t other_ps = floors[heavy.key.a ^ 1], own_ps = floors[heavy.key.a];
	heavy.key.a /= 2;
	struct tb_heavy *slot = heavy_slot(to, heavy.key);
	if (slot->most_ps == 0) {
		heavy.most_ps += other_ps;
		heavy.error_ps += other_ps;
		*slot = heavy;
		to->n_used++;
		return;
	}
	slot->n_waits += heavy.n_waits;
	slot->most_ps += heavy.most_ps - own_ps;
	slot->error_ps += heavy.error_ps - own_ps;
}

int tb_heaviest_widen(struct tb_heaviest *heaviest)
{
	struct tb_heaviest wide = *heaviest;
	uint64_t *floors_ps = heaviest->floors_ps;
	wide.slots = new_slots(wide.n_slots);
	wide.n_used = 0;
	if (!wide.slots)
		return TB_ENOMEM;
	for (uint32_t i = 0; i < heaviest->n_slots; i++)
		if (heaviest->slots[i].most_ps)
			put_wide(&wide, heaviest->slots[i], floors_ps);
	free(heaviest->slots);
	for (uint32_t bin = 0; bin < TB_HEAVIEST_BINS; bin++)
		wide.floors_ps[bin] =
			bin < TB_HEAVIEST_BINS / 2
				? floors_ps[2 * bin] + floors_ps[2 * bin + 1]
				: 0;
	*heaviest = wide;
	return TB_OK;
}

static int heavy_compare(const void *left, const void *right)
{
	const struct tb_heavy *a = left, *b = right;
	uint64_t of_a = a->most_ps - a->error_ps, of_b = b->most_ps - b->error_ps;
	if (of_a != of_b)
		return of_a > of_b ? -1 : 1;
	return heavy_key_order(left, right);
}

// select_first moves the `n_first` heaviest of `n` to the front, in any order, by
// partitioning (Hoare, "Algorithm 65: Find", CACM 1961). All keys differ.
static void select_first(struct tb_heavy *heavy, uint32_t n, uint32_t n_first)
{
	int64_t low = 0, high = (int64_t)n - 1, place = n_first;
	while (low < high) {
		const struct tb_heavy pivot = heavy[low + (high - low) / 2];
		int64_t i = low, j = high;
		while (i <= j) {
			while (heavy_compare(&heavy[i], &pivot) < 0)
				i++;
			while (heavy_compare(&heavy[j], &pivot) > 0)
				j--;
			if (i > j)
				break;
			struct tb_heavy swapped = heavy[i];
			heavy[i++] = heavy[j];
			heavy[j--] = swapped;
		}
		if (place <= j)
			high = j;
		else if (place >= i)
			low = i;
		else
			return;
	}
}

uint32_t tb_heaviest_pick(
	struct tb_heaviest *heaviest, uint32_t n_listed, uint64_t *floor_ps)
{
	uint32_t n = heaviest_gather(heaviest);
	*floor_ps = 0;
	for (uint32_t bin = 0; bin < TB_HEAVIEST_BINS; bin++)
		if (heaviest->floors_ps[bin] > *floor_ps)
			*floor_ps = heaviest->floors_ps[bin];
	if (n > n_listed)
		select_first(heaviest->slots, n, n_listed);
	for (; n > n_listed; n--)
		if (heaviest->slots[n - 1].most_ps > *floor_ps)
			*floor_ps = heaviest->slots[n - 1].most_ps;
	return n;
}

uint32_t tb_heaviest_list(
	struct tb_heaviest *heaviest, uint32_t n_listed, uint64_t *floor_ps)
{
	uint32_t n = tb_heaviest_pick(heaviest, n_listed, floor_ps);
	if (n)
		qsort(heaviest->slots, n, sizeof *heaviest->slots, heavy_key_order);
	return n;
}

#include "heaviest.h"

#include "sort.h"

#include <stdlib.h>
#include <string.h>

enum { FIRST_INDEX = 256 };

int tb_heaviest_init(struct tb_heaviest *heaviest, uint32_t n_most, bool by_bin)
{
	*heaviest = (struct tb_heaviest){
		.slots = malloc(FIRST_INDEX / 2 * sizeof(struct tb_heavy)),
		.index = calloc(FIRST_INDEX, sizeof(uint32_t)),
		.n_index = FIRST_INDEX,
		.n_most = n_most,
		.by_bin = by_bin};
	if (heaviest->slots && heaviest->index)
		return TB_OK;
	tb_heaviest_fini(heaviest);
	return TB_ENOMEM;
}

void tb_heaviest_fini(struct tb_heaviest *heaviest)
{
	free(heaviest->slots);
	free(heaviest->index);
	*heaviest = (struct tb_heaviest){0};
}

// heaviest_index makes the index anew: of the first `n_used` slots, whose keys differ.
static void heaviest_index(struct tb_heaviest *heaviest)
{
	uint32_t mask = heaviest->n_index - 1;
	memset(heaviest->index, 0, heaviest->n_index * sizeof *heaviest->index);
	for (uint32_t slot = 0; slot < heaviest->n_used; slot++) {
		uint32_t i =
			(uint32_t)(tb_wait_key_hash(heaviest->slots[slot].key) >> 32) &
			mask;
		while (heaviest->index[i])
			i = (i + 1) & mask;
		heaviest->index[i] = slot + 1;
	}
}

int tb_heaviest_reserve(struct tb_heaviest *heaviest, uint32_t n)
{
	uint32_t n_index = heaviest->n_index;
	while (heaviest->n_used + n > n_index / 2)
		n_index *= 2;
	if (n_index == heaviest->n_index)
		return TB_OK;
	struct tb_heavy *slots = realloc(heaviest->slots, n_index / 2 * sizeof *slots);
	if (!slots)
		return TB_ENOMEM;
	heaviest->slots = slots;
	uint32_t *index = malloc(n_index * sizeof *index);
	if (!index)
		return TB_ENOMEM;
	free(heaviest->index);
	heaviest->index = index;
	heaviest->n_index = n_index;
	heaviest_index(heaviest);
	return TB_OK;
}

// tb_heaviest_trim removes the lighter keys: those least above the floor, so that the
// bound of the header holds.
void tb_heaviest_trim(struct tb_heaviest *heaviest)
{
	struct tb_wait_steps steps = {0};
	struct tb_heavy *slots = heaviest->slots;
	uint32_t n = heaviest->n_used, n_kept = 0;
	uint64_t before_ps[TB_HEAVIEST_BINS];
	if (n <= heaviest->n_most)
		return;
	memcpy(before_ps, heaviest->floors_ps, sizeof before_ps);
	const uint32_t by_bin = heaviest->by_bin ? UINT32_MAX : 0;
	for (uint32_t i = 0; i < n; i++)
		tb_wait_steps_add(
			&steps, slots[i].most_ps - before_ps[slots[i].key.a & by_bin]);
	uint64_t least_ps = tb_wait_steps_reached(&steps, heaviest->n_most / 2);
	for (uint32_t i = 0; i < n; i++) {
		uint64_t before = before_ps[slots[i].key.a & by_bin];
		uint64_t *floor_ps = &heaviest->floors_ps[slots[i].key.a & by_bin];
		if (slots[i].most_ps - before >= least_ps)
			slots[n_kept++] = slots[i];
		else if (slots[i].most_ps > *floor_ps)
			*floor_ps = slots[i].most_ps;
	}
	// Keep room for as many keys as come from call to call, not for a rush.
	while (heaviest->n_index > FIRST_INDEX && n <= heaviest->n_index / 16)
		heaviest->n_index /= 2;
	heaviest->n_used = n_kept;
	heaviest_index(heaviest);
}

static inline bool heavy_is_before(const struct tb_heavy *a, const struct tb_heavy *b)
{
	return tb_wait_key_order(a->key, b->key) < 0;
}

TB_SORT(sort_heavy, struct tb_heavy, heavy_is_before)

// put_wide puts a key whose slice became one with its neighbour. Of a key that is kept in
// only one of the two, the other's floor is unknown waiting; of one that is kept in both,
// it stood for waits that are known now.
static void put_wide(struct tb_heaviest *to, struct tb_heavy heavy)
{
	const uint64_t *floors = to->floors_ps;
	uint64_t other_ps = floors[heavy.key.a ^ 1], own_ps = floors[heavy.key.a];
	heavy.key.a /= 2;
	uint32_t *place = tb_heaviest_find(to, heavy.key);
	if (!*place) {
		heavy.most_ps += other_ps;
		heavy.error_ps += other_ps;
		to->slots[to->n_used++] = heavy;
		*place = to->n_used;
		return;
	}
	struct tb_heavy *slot = &to->slots[*place - 1];
	slot->n_waits += heavy.n_waits;
	slot->most_ps += heavy.most_ps - own_ps;
	slot->error_ps += heavy.error_ps - own_ps;
}

void tb_heaviest_widen(struct tb_heaviest *heaviest)
{
	uint64_t *floors_ps = heaviest->floors_ps;
	uint32_t n = heaviest->n_used;
	heaviest->n_used = 0;
	heaviest_index(heaviest);
	for (uint32_t i = 0; i < n; i++) // in place: no more come than went
		put_wide(heaviest, heaviest->slots[i]);
	for (uint32_t bin = 0; bin < TB_HEAVIEST_BINS; bin++)
		floors_ps[bin] = bin < TB_HEAVIEST_BINS / 2
					 ? floors_ps[2 * bin] + floors_ps[2 * bin + 1]
					 : 0;
}

static int heavy_compare(const void *left, const void *right)
{
	const struct tb_heavy *a = left, *b = right;
	uint64_t of_a = a->most_ps - a->error_ps, of_b = b->most_ps - b->error_ps;
	if (of_a != of_b)
		return of_a > of_b ? -1 : 1;
	return tb_wait_key_order(a->key, b->key);
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
	uint32_t n = heaviest->n_used;
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

int tb_heaviest_list(
	struct tb_heaviest *heaviest, uint32_t n_listed, uint64_t *floor_ps, uint32_t *n)
{
	*n = tb_heaviest_pick(heaviest, n_listed, floor_ps);
	struct tb_heavy *spare = malloc((*n + 1u) * sizeof *spare);
	if (!spare)
		return TB_ENOMEM;
	sort_heavy(heaviest->slots, spare, *n);
	free(spare);
	return TB_OK;
}

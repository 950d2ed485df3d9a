#include "wait_sums.h"

#include <stdlib.h>

enum { FIRST_SLOTS = 64 };

void tb_wait_sums_fini(struct tb_wait_sums *sums)
{
	free(sums->slots);
	*sums = (struct tb_wait_sums){0};
}

static bool wait_sums_is_free(const struct tb_wait_sum *sum)
{
	return (sum->first | sum->second) == 0;
}

static struct tb_wait_sum *wait_sum_slot(
	const struct tb_wait_sums *sums, struct tb_wait_key key)
{
	size_t mask = sums->n_slots - 1;
	size_t i = (size_t)(tb_wait_key_hash(key) >> 32) & mask;
	while (!wait_sums_is_free(&sums->slots[i]) &&
		!tb_wait_key_equal(sums->slots[i].key, key))
		i = (i + 1) & mask;
	return &sums->slots[i];
}

static void wait_sums_enter(struct tb_wait_sums *sums, const struct tb_wait_sum *more)
{
	struct tb_wait_sum *sum = wait_sum_slot(sums, more->key);
	if (wait_sums_is_free(sum)) {
		*sum = *more;
		sums->n_used++;
		return;
	}
	sum->first += more->first;
	sum->second += more->second;
}

// wait_sums_refill moves the sums into a table of `n_slots`, each key's a shifted by
// `shift`.
static int wait_sums_refill(struct tb_wait_sums *sums, size_t n_slots, unsigned shift)
{
	struct tb_wait_sums made = {calloc(n_slots, sizeof *made.slots), n_slots, 0};
	if (!made.slots)
		return TB_ENOMEM;
	for (size_t i = 0; i < sums->n_slots; i++) {
		struct tb_wait_sum sum = sums->slots[i];
		sum.key.a >>= shift;
		if (!wait_sums_is_free(&sum))
			wait_sums_enter(&made, &sum);
	}
	free(sums->slots);
	*sums = made;
	return TB_OK;
}

int tb_wait_sums_add(struct tb_wait_sums *sums, struct tb_wait_key key, uint64_t first,
	uint64_t second)
{
	if (sums->n_used >= sums->n_slots / 2 &&
		wait_sums_refill(sums, sums->n_slots ? 2 * sums->n_slots : FIRST_SLOTS,
			0) != TB_OK)
		return TB_ENOMEM;
	wait_sums_enter(sums, &(struct tb_wait_sum){key, first, second});
	return TB_OK;
}

static int wait_sum_order(const void *left, const void *right)
{
	const struct tb_wait_sum *a = left, *b = right;
	return tb_wait_key_order(a->key, b->key);
}

void tb_wait_sums_list(struct tb_wait_sums *sums)
{
	size_t n = 0;
	for (size_t i = 0; i < sums->n_slots; i++)
		if (!wait_sums_is_free(&sums->slots[i]))
			sums->slots[n++] = sums->slots[i];
	if (n)
		qsort(sums->slots, n, sizeof *sums->slots, wait_sum_order);
}

int tb_wait_sums_widen(struct tb_wait_sums *sums)
{
	return sums->n_slots ? wait_sums_refill(sums, sums->n_slots, 1) : TB_OK;
}

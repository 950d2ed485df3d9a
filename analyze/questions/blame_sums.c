#include "blame_sums.h"

#include <stdlib.h>

#define N_FIELDS 8

// A row and the keys by which it is summed.
struct row {
	uint32_t fields[N_FIELDS]; // TB_ID_NONE for keys not in use
	const struct tb_blame_sample *told;
};

static uint32_t chosen(uint32_t id, unsigned keys, unsigned key)
{
	return (keys & key) == key ? id : TB_ID_NONE;
}

static struct row row_of(const struct tb_blame_sample *told, unsigned keys)
{
	return (struct row){.told = told,
		.fields = {chosen(told->link.id, keys, TB_BLAME_LINK),
			chosen(told->root.id, keys, TB_BLAME_ROOT),
			chosen(told->victim_job, keys, TB_BLAME_VICTIM_JOB),
			chosen(told->victim_source.id, keys, TB_BLAME_VICTIM),
			chosen(told->victim_destination.id, keys, TB_BLAME_VICTIM),
			chosen(told->culprit_job, keys, TB_BLAME_CULPRIT_JOB),
			chosen(told->culprit_source.id, keys, TB_BLAME_CULPRIT),
			chosen(told->culprit_destination.id, keys, TB_BLAME_CULPRIT)}};
}

static int compare(uint32_t a, uint32_t b)
{
	return (a > b) - (a < b);
}

static int compare_fields(const struct row *a, const struct row *b)
{
	for (int i = 0; i < N_FIELDS; i++)
		if (a->fields[i] != b->fields[i])
			return compare(a->fields[i], b->fields[i]);
	return 0;
}

static int by_fields(const void *left, const void *right)
{
	const struct row *a = left, *b = right;
	int order = compare_fields(a, b);
	if (order == 0)
		order = compare(a->told->link.id, b->told->link.id);
	return order ? order : (a->told > b->told) - (a->told < b->told);
}

static int longest_first(const void *left, const void *right)
{
	const struct tb_blame_sum *a = left, *b = right;
	if (a->at.wait_ps != b->at.wait_ps)
		return a->at.wait_ps < b->at.wait_ps ? 1 : -1;
	const struct row of_a = row_of(&a->at, ~0u), of_b = row_of(&b->at, ~0u);
	return compare_fields(&of_a, &of_b);
}

static uint64_t added(uint64_t a, uint64_t b)
{
	return a > INT64_MAX - b ? INT64_MAX : a + b;
}

static struct tb_blame_sum first_of(const struct row *row)
{
	struct tb_blame_sum sum = {.heaviest = *row->told, .n_links = 1};
	sum.at.link.id = row->fields[0];
	sum.at.root.id = row->fields[1];
	sum.at.victim_job = row->fields[2];
	sum.at.victim_source.id = row->fields[3];
	sum.at.victim_destination.id = row->fields[4];
	sum.at.culprit_job = row->fields[5];
	sum.at.culprit_source.id = row->fields[6];
	sum.at.culprit_destination.id = row->fields[7];
	sum.at.n_waits = row->told->n_waits;
	sum.at.wait_ps = row->told->wait_ps;
	return sum;
}

// merge sums sorted rows; the rows of a sum are adjacent, and within them those of a
// link.
static uint32_t merge(const struct row *rows, uint32_t n, struct tb_blame_sum *sums)
{
	uint32_t n_sums = 0;
	for (uint32_t i = 0; i < n; i++) {
		const struct tb_blame_sample *told = rows[i].told;
		if (i == 0 || compare_fields(&rows[i - 1], &rows[i]) != 0) {
			sums[n_sums++] = first_of(&rows[i]);
			continue;
		}
		struct tb_blame_sum *sum = &sums[n_sums - 1];
		sum->n_links += rows[i - 1].told->link.id != told->link.id;
		sum->at.n_waits = added(sum->at.n_waits, told->n_waits);
		sum->at.wait_ps = added(sum->at.wait_ps, told->wait_ps);
		if (told->wait_ps > sum->heaviest.wait_ps)
			sum->heaviest = *told;
	}
	return n_sums;
}

int tb_blame_sums(const struct tb_blame_sample *rows, uint32_t n_rows, unsigned keys,
	struct tb_blame_sum **sums, uint32_t *n_sums)
{
	struct row *sorted = malloc(((size_t)n_rows + 1) * sizeof *sorted);
	struct tb_blame_sum *made = malloc(((size_t)n_rows + 1) * sizeof *made);
	if (!sorted || !made) {
		free(sorted);
		free(made);
		return TB_ENOMEM;
	}
	for (uint32_t i = 0; i < n_rows; i++)
		sorted[i] = row_of(&rows[i], keys);
	qsort(sorted, n_rows, sizeof *sorted, by_fields);
	uint32_t n = merge(sorted, n_rows, made);
	qsort(made, n, sizeof *made, longest_first);
	free(sorted);
	*sums = made;
	*n_sums = n;
	return TB_OK;
}

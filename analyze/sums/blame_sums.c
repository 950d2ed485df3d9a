#include "blame_sums.h"

#include "array.h"
#include "random.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define N_FIELDS 8

static const struct {
	const char *name;
	unsigned keys;
} lists[TB_BLAME_LISTS] = {
	[TB_BLAME_FLOWS] = {"flows", TB_BLAME_VICTIM | TB_BLAME_CULPRIT},
	[TB_BLAME_LINK_FLOWS] = {"link-flows",
		TB_BLAME_LINK | TB_BLAME_VICTIM | TB_BLAME_CULPRIT},
	[TB_BLAME_JOBS] = {"jobs", TB_BLAME_VICTIM_JOB | TB_BLAME_CULPRIT_JOB},
	[TB_BLAME_ROOTS] = {"roots", TB_BLAME_ROOT},
	[TB_BLAME_ROOT_JOBS] = {"root-jobs",
		TB_BLAME_ROOT | TB_BLAME_VICTIM_JOB | TB_BLAME_CULPRIT_JOB},
};

unsigned tb_blame_list_keys(enum tb_blame_list list)
{
	return lists[list].keys;
}

const char *tb_blame_list_name(enum tb_blame_list list)
{
	return lists[list].name;
}

// The keys of a row, TB_ID_NONE for those not in use.
struct fields {
	uint32_t id[N_FIELDS];
};

// The sums so far, found by a table of open addressing.
struct summing {
	struct tb_blame_sum *sums;
	uint32_t *last_link; // by sum: of the row added last
	uint32_t n;
	size_t room, links_room;
	uint32_t *slots; // 1 + index of the sum; 0: free
	uint32_t n_slots;
	unsigned keys;
};

static uint32_t chosen(uint32_t id, unsigned keys, unsigned key)
{
	return (keys & key) == key ? id : TB_ID_NONE;
}

static struct fields fields_of(const struct tb_blame_sample *row, unsigned keys)
{
	return (struct fields){{chosen(row->link.id, keys, TB_BLAME_LINK),
		chosen(row->root.id, keys, TB_BLAME_ROOT),
		chosen(row->victim_job, keys, TB_BLAME_VICTIM_JOB),
		chosen(row->victim_source.id, keys, TB_BLAME_VICTIM),
		chosen(row->victim_destination.id, keys, TB_BLAME_VICTIM),
		chosen(row->culprit_job, keys, TB_BLAME_CULPRIT_JOB),
		chosen(row->culprit_source.id, keys, TB_BLAME_CULPRIT),
		chosen(row->culprit_destination.id, keys, TB_BLAME_CULPRIT)}};
}

static int compare_rows(const struct tb_blame_sample *a, const struct tb_blame_sample *b)
{
	const struct fields of_a = fields_of(a, ~0u), of_b = fields_of(b, ~0u);
	for (int i = 0; i < N_FIELDS; i++)
		if (of_a.id[i] != of_b.id[i])
			return of_a.id[i] < of_b.id[i] ? -1 : 1;
	return 0;
}

static int longest_first(const void *left, const void *right)
{
	const struct tb_blame_sum *a = left, *b = right;
	if (a->at.wait_ps != b->at.wait_ps)
		return a->at.wait_ps < b->at.wait_ps ? 1 : -1;
	return compare_rows(&a->at, &b->at);
}

static uint64_t hash_of(const struct fields *fields)
{
	uint64_t hash = 0;
	for (int i = 0; i < N_FIELDS; i += 2)
		hash = tb_random_mix(
			hash ^ ((uint64_t)fields->id[i] << 32 | fields->id[i + 1]));
	return hash;
}

static bool is_of(const struct tb_blame_sum *sum, const struct fields *fields)
{
	const struct fields own = fields_of(&sum->at, ~0u);
	return memcmp(&own, fields, sizeof own) == 0;
}

// slot_of returns the slot of the sum with these keys, or the free one that it would get.
static uint32_t slot_of(const struct summing *summing, const struct fields *fields)
{
	uint32_t mask = summing->n_slots - 1;
	uint32_t slot = (uint32_t)hash_of(fields) & mask;
	while (summing->slots[slot] &&
		!is_of(&summing->sums[summing->slots[slot] - 1], fields))
		slot = (slot + 1) & mask;
	return slot;
}

static int enlarge(struct summing *summing)
{
	uint32_t n_slots = summing->n_slots ? 2 * summing->n_slots : 1024;
	uint32_t *slots = calloc(n_slots, sizeof *slots);
	if (!slots)
		return TB_ENOMEM;
	free(summing->slots);
	summing->slots = slots;
	summing->n_slots = n_slots;
	for (uint32_t i = 0; i < summing->n; i++) {
		const struct fields own = fields_of(&summing->sums[i].at, ~0u);
		summing->slots[slot_of(summing, &own)] = i + 1;
	}
	return TB_OK;
}

static uint64_t added(uint64_t a, uint64_t b)
{
	return a > INT64_MAX - b ? INT64_MAX : a + b;
}

static int put_first(struct summing *summing, const struct tb_blame_sample *row,
	const struct fields *fields)
{
	size_t n = (size_t)summing->n + 1;
	if (TB_ARRAY_RESERVE(&summing->sums, &summing->room, n) != TB_OK ||
		TB_ARRAY_RESERVE(&summing->last_link, &summing->links_room, n) != TB_OK)
		return TB_ENOMEM;
	const uint32_t *id = fields->id;
	summing->sums[summing->n] =
		(struct tb_blame_sum){.at = {.link = {id[0]},
					      .root = {id[1]},
					      .victim_job = id[2],
					      .victim_source = {id[3]},
					      .victim_destination = {id[4]},
					      .culprit_job = id[5],
					      .culprit_source = {id[6]},
					      .culprit_destination = {id[7]},
					      .n_waits = row->n_waits,
					      .wait_ps = row->wait_ps},
			.heaviest = *row,
			.n_links = 1};
	summing->last_link[summing->n++] = row->link.id;
	return TB_OK;
}

// add adds a row to its sum. Rows come in the order of their links, so that one look back
// tells a new link.
static int add(struct summing *summing, const struct tb_blame_sample *row)
{
	const struct fields fields = fields_of(row, summing->keys);
	if (summing->n >= summing->n_slots / 2 && enlarge(summing) != TB_OK)
		return TB_ENOMEM;
	uint32_t *slot = &summing->slots[slot_of(summing, &fields)];
	if (!*slot) {
		*slot = summing->n + 1;
		return put_first(summing, row, &fields);
	}
	struct tb_blame_sum *sum = &summing->sums[*slot - 1];
	uint32_t *last_link = &summing->last_link[*slot - 1];
	sum->n_links += *last_link != row->link.id;
	*last_link = row->link.id;
	sum->at.n_waits = added(sum->at.n_waits, row->n_waits);
	sum->at.wait_ps = added(sum->at.wait_ps, row->wait_ps);
	if (row->wait_ps > sum->heaviest.wait_ps ||
		(row->wait_ps == sum->heaviest.wait_ps &&
			compare_rows(row, &sum->heaviest) < 0))
		sum->heaviest = *row;
	return TB_OK;
}

static int by_link(const void *left, const void *right)
{
	const struct tb_blame_sample *a = *(const struct tb_blame_sample *const *)left;
	const struct tb_blame_sample *b = *(const struct tb_blame_sample *const *)right;
	return (a->link.id > b->link.id) - (a->link.id < b->link.id);
}

static bool in_order(const struct tb_blame_sample *rows, uint32_t n)
{
	for (uint32_t i = 1; i < n; i++)
		if (rows[i - 1].link.id > rows[i].link.id)
			return false;
	return true;
}

static int add_sorted(
	struct summing *summing, const struct tb_blame_sample *rows, uint32_t n)
{
	const struct tb_blame_sample **sorted =
		malloc(((size_t)n + 1) * sizeof(const struct tb_blame_sample *));
	int status = sorted ? TB_OK : TB_ENOMEM;
	if (!status) {
		for (uint32_t i = 0; i < n; i++)
			sorted[i] = &rows[i];
		qsort(sorted, n, sizeof(const struct tb_blame_sample *), by_link);
	}
	for (uint32_t i = 0; !status && i < n; i++)
		status = add(summing, sorted[i]);
	free(sorted);
	return status;
}

int tb_blame_sums(const struct tb_blame_sample *rows, uint32_t n_rows, unsigned keys,
	struct tb_blame_sum **sums, uint32_t *n_sums)
{
	struct summing summing = {.keys = keys};
	int status = TB_ARRAY_RESERVE(&summing.sums, &summing.room, 1);
	if (!status && in_order(rows, n_rows))
		for (uint32_t i = 0; !status && i < n_rows; i++)
			status = add(&summing, &rows[i]);
	else if (!status)
		status = add_sorted(&summing, rows, n_rows);
	free(summing.slots);
	free(summing.last_link);
	if (status) {
		free(summing.sums);
		return status;
	}
	qsort(summing.sums, summing.n, sizeof *summing.sums, longest_first);
	*sums = summing.sums;
	*n_sums = summing.n;
	return TB_OK;
}

#include "blame_record.h"

#include "blame_copy.h"

#include <stdlib.h>
#include <string.h>

// Rows that a list of the heaviest comes to: storing one costs about as much as replaying
// a packet.
enum { LISTED_BY_LINK = 4096, LISTED_BY_TIME = 4096, LISTED_TREES = 4096 };
enum { LISTED_GROUPS = 512 };

// The sums by root and time come to one row for every so many waits, or to so many rows;
// their slices are as wide as that takes.
enum { WAITS_PER_ROOT_BIN = 64, FEWEST_ROOT_BINS = 16384 };

static int blame_list_roots(
	const struct tb_blame_table *blame, struct tb_blame_record *record)
{
	uint32_t n_links = blame->net->n_links;
	size_t n = 0;
	for (uint32_t link = 0; link < n_links; link++)
		n += blame->roots[link].n_waits > 0;
	struct tb_root_sample *rows = malloc((n + 1) * sizeof *rows);
	record->roots = rows;
	if (!rows)
		return TB_ENOMEM;
	n = 0;
	for (uint32_t link = 0; link < n_links; link++)
		if (blame->roots[link].n_waits)
			rows[n++] = (struct tb_root_sample){.root = {link},
				.n_waits = blame->roots[link].n_waits,
				.wait_ps = blame->roots[link].wait_ps};
	record->n_roots = n;
	return TB_OK;
}

static size_t count_root_bins(const struct tb_blame_table *blame)
{
	size_t n = 0;
	for (int bin = 0; bin < TB_BLAME_BINS; bin++) {
		const uint64_t *sums = blame->root_bins[bin];
		uint32_t n_links = sums ? blame->net->n_links : 0;
		for (uint32_t link = 0; link < n_links; link++) {
			link = tb_blame_next_root(sums, link, n_links);
			n += link < n_links;
		}
	}
	return n;
}

// widen_sums widens the slices of the sums alone, until these come to few enough rows.
static int widen_sums(struct tb_blame_table *blame, size_t *n)
{
	uint64_t n_most = blame->n_waits / WAITS_PER_ROOT_BIN;
	int status = TB_OK;
	if (n_most < FEWEST_ROOT_BINS)
		n_most = FEWEST_ROOT_BINS;
	while ((*n = count_root_bins(blame)) > n_most &&
		1 << blame->sum_shift < TB_BLAME_BINS && !status)
		status = tb_blame_table_widen_sums(blame);
	return status;
}

static int list_root_bins(struct tb_blame_table *blame, struct tb_blame_record *record)
{
	size_t n = 0;
	if (widen_sums(blame, &n) != TB_OK)
		return TB_ENOMEM;
	struct tb_root_bin_sample *rows = malloc((n + 1) * sizeof *rows);
	record->root_bins = rows;
	if (!rows)
		return TB_ENOMEM;
	n = 0;
	for (uint32_t bin = 0; bin < TB_BLAME_BINS; bin++) {
		const uint64_t *sums = blame->root_bins[bin];
		uint32_t n_links = sums ? blame->net->n_links : 0;
		for (uint32_t link = 0; link < n_links; link++) {
			link = tb_blame_next_root(sums, link, n_links);
			if (link < n_links)
				rows[n++] = (struct tb_root_bin_sample){
					bin, {link}, sums[link]};
		}
		free(blame->root_bins[bin]);
		blame->root_bins[bin] = NULL;
	}
	record->n_root_bins = n;
	record->sum_bin_ps = blame->bin_ps << blame->sum_shift;
	return TB_OK;
}

static int list_job_waits(struct tb_blame_table *blame, struct tb_blame_record *record)
{
	struct tb_wait_sums *sums = &blame->job_waits;
	tb_wait_sums_list(sums);
	struct tb_job_wait_sample *rows = malloc((sums->n_used + 1) * sizeof *rows);
	record->job_waits = rows;
	if (!rows)
		return TB_ENOMEM;
	for (size_t i = 0; i < sums->n_used; i++) {
		const struct tb_wait_sum *sum = &sums->slots[i];
		rows[i] = (struct tb_job_wait_sample){.bin = sum->key.a,
			.victim_job = sum->key.b,
			.culprit_job = sum->key.c,
			.n_waits = sum->first,
			.wait_ps = sum->second};
	}
	record->n_job_waits = sums->n_used;
	return TB_OK;
}

static int blame_list_root_jobs(
	struct tb_blame_table *blame, struct tb_blame_record *record)
{
	struct tb_wait_sums *sums = &blame->root_jobs;
	tb_wait_sums_list(sums);
	struct tb_root_job_sample *rows = malloc((sums->n_used + 1) * sizeof *rows);
	record->root_jobs = rows;
	if (!rows)
		return TB_ENOMEM;
	for (size_t i = 0; i < sums->n_used; i++) {
		const struct tb_wait_sum *sum = &sums->slots[i];
		rows[i] = (struct tb_root_job_sample){.root = {sum->key.a},
			.victim_job = sum->key.b,
			.n_waits = sum->first,
			.wait_ps = sum->second};
	}
	record->n_root_jobs = sums->n_used;
	return TB_OK;
}

static int blame_list_job_links(
	struct tb_blame_table *blame, struct tb_blame_record *record)
{
	struct tb_wait_sums *sums = &blame->job_links;
	tb_wait_sums_list(sums);
	struct tb_job_link_sample *rows = malloc((sums->n_used + 1) * sizeof *rows);
	record->job_links = rows;
	if (!rows)
		return TB_ENOMEM;
	for (size_t i = 0; i < sums->n_used; i++) {
		const struct tb_wait_sum *sum = &sums->slots[i];
		rows[i] = (struct tb_job_link_sample){.link = {sum->key.a},
			.job = sum->key.b,
			.wait_ps = sum->first,
			.blamed_ps = sum->second};
	}
	record->n_job_links = sums->n_used;
	return TB_OK;
}

// blame_list_jobs lists the sums by job but those that are the sums of all, of job 0.
static int blame_list_jobs(struct tb_blame_table *blame, struct tb_blame_record *record)
{
	int status = TB_OK;
	if (!blame->several && blame->first_job != 0)
		status = tb_blame_table_part_jobs(blame);
	if (!status)
		status = list_job_waits(blame, record);
	if (!status)
		status = blame_list_root_jobs(blame, record);
	return status ? status : blame_list_job_links(blame, record);
}

static struct tb_node blame_host(const struct tb_blame_table *blame, struct tb_node nic)
{
	return (struct tb_node){nic.id % blame->net->n_hosts};
}

static struct tb_blame_sample listed_blame(const struct tb_blame_table *blame,
	const struct tb_flow_sample *flows, const struct tb_heavy *heavy)
{
	const struct tb_flow_sample *victim = &flows[heavy->key.b];
	const struct tb_flow_sample *culprit = &flows[heavy->key.c];
	return (struct tb_blame_sample){.victim_job = victim->job,
		.victim_source = blame_host(blame, victim->source),
		.victim_destination = blame_host(blame, victim->destination),
		.culprit_job = culprit->job,
		.culprit_source = blame_host(blame, culprit->source),
		.culprit_destination = blame_host(blame, culprit->destination),
		.n_waits = heavy->n_waits,
		.wait_ps = heavy->most_ps - heavy->error_ps,
		.error_ps = heavy->error_ps};
}

static inline uint64_t blame_record_both(uint32_t upper, uint32_t lower)
{
	return (uint64_t)upper << 32 | lower;
}

// blame_cell_order sorts rows by bin or link, then by flows: those were numbered as they
// came.
static int blame_cell_order(const void *left, const void *right)
{
	const struct tb_blame_sample *a = left, *b = right;
	const uint64_t keys[][2] = {{blame_record_both(a->bin, a->link.id),
					    blame_record_both(b->bin, b->link.id)},
		{blame_record_both(a->victim_job, a->victim_source.id),
			blame_record_both(b->victim_job, b->victim_source.id)},
		{blame_record_both(a->victim_destination.id, a->culprit_job),
			blame_record_both(b->victim_destination.id, b->culprit_job)},
		{blame_record_both(a->culprit_source.id, a->culprit_destination.id),
			blame_record_both(
				b->culprit_source.id, b->culprit_destination.id)}};
	for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
		if (keys[i][0] != keys[i][1])
			return keys[i][0] < keys[i][1] ? -1 : 1;
	return 0;
}

static int list_by_link(struct tb_blame_table *blame, const struct tb_flow_sample *flows,
	struct tb_blame_record *record)
{
	uint32_t n = tb_heaviest_pick(
		&blame->by_link, LISTED_BY_LINK, &record->by_link_floor_ps);
	struct tb_blame_sample *rows = malloc((n + 1) * sizeof *rows);
	record->by_link = rows;
	if (!rows)
		return TB_ENOMEM;
	for (uint32_t i = 0; i < n; i++) {
		const struct tb_heavy *heavy = &blame->by_link.slots[i];
		rows[i] = listed_blame(blame, flows, heavy);
		rows[i].link.id = heavy->key.a;
	}
	record->n_by_link = n;
	qsort(rows, n, sizeof *rows, blame_cell_order);
	return TB_OK;
}

static int list_by_time(struct tb_blame_table *blame, const struct tb_flow_sample *flows,
	struct tb_blame_record *record)
{
	uint32_t n = tb_heaviest_pick(
		&blame->by_time, LISTED_BY_TIME, &record->by_time_floor_ps);
	struct tb_blame_sample *rows = malloc((n + 1) * sizeof *rows);
	record->by_time = rows;
	if (!rows)
		return TB_ENOMEM;
	for (uint32_t i = 0; i < n; i++) {
		const struct tb_heavy *heavy = &blame->by_time.slots[i];
		rows[i] = listed_blame(blame, flows, heavy);
		rows[i].link.id = TB_ID_NONE;
		rows[i].bin = heavy->key.a;
	}
	record->n_by_time = n;
	qsort(rows, n, sizeof *rows, blame_cell_order);
	return TB_OK;
}

static int list_group(
	struct tb_blame_table *blame, int grouping, struct tb_blame_record *record)
{
	struct tb_heaviest *of = &blame->groups[grouping];
	uint32_t n =
		tb_heaviest_list(of, LISTED_GROUPS, &record->group_floor_ps[grouping]);
	struct tb_group_sample *rows = malloc((n + 1) * sizeof *rows);
	record->groups[grouping] = rows;
	if (!rows)
		return TB_ENOMEM;
	for (uint32_t i = 0; i < n; i++)
		rows[i] = (struct tb_group_sample){.victim = of->slots[i].key.b,
			.culprit = of->slots[i].key.c,
			.n_waits = of->slots[i].n_waits,
			.wait_ps = of->slots[i].most_ps - of->slots[i].error_ps,
			.error_ps = of->slots[i].error_ps};
	record->n_groups[grouping] = n;
	return TB_OK;
}

static int list_trees(struct tb_blame_table *blame, struct tb_blame_record *record)
{
	uint32_t n =
		tb_heaviest_list(&blame->trees, LISTED_TREES, &record->tree_floor_ps);
	struct tb_tree_sample *rows = malloc((n + 1) * sizeof *rows);
	record->trees = rows;
	if (!rows)
		return TB_ENOMEM;
	for (uint32_t i = 0; i < n; i++) {
		const struct tb_heavy *heavy = &blame->trees.slots[i];
		rows[i] = (struct tb_tree_sample){.bin = heavy->key.a,
			.root = {heavy->key.b},
			.link = {heavy->key.c},
			.wait_ps = heavy->most_ps - heavy->error_ps,
			.error_ps = heavy->error_ps};
	}
	record->n_trees = n;
	return TB_OK;
}

static int list_blame_entry(struct tb_blame_table *blame,
	const struct tb_flow_sample *flows, struct tb_blame_record *record)
{
	int status = blame_list_roots(blame, record);
	if (!status)
		status = list_root_bins(blame, record);
	if (!status)
		status = blame_list_jobs(blame, record);
	if (!status)
		status = list_by_link(blame, flows, record);
	if (!status)
		status = list_by_time(blame, flows, record);
	for (int i = 0; !status && i < TB_GROUPINGS; i++)
		status = list_group(blame, i, record);
	if (!status)
		status = list_trees(blame, record);
	record->bin_ps = blame->bin_ps;
	return status;
}

int tb_blame_record_give(struct tb_blame_table *blame, const struct tb_flow_sample *flows,
	const struct tb_observer *observer, int *returned)
{
	struct tb_blame_record record = {0};
	int status = blame->failed ? TB_ENOMEM : list_blame_entry(blame, flows, &record);
	if (!status)
		*returned = observer->blame(observer->context, &record);
	tb_blame_record_free(&record);
	return status;
}

#include "store_tops.h"

#include "blame_sums.h"
#include "flow_sum.h"
#include "heap.h"
#include "store_row.h"

#include <stdbool.h>
#include <stdlib.h>

// Of the roots, so many are kept that their sums by job are no more than this.
#define ROOT_JOBS_KEPT 4000

struct list {
	struct tb_blame_sum *sums;
	uint32_t n, n_kept;
};

static int no_memory(const char *path, struct tb_error *error)
{
	return tb_fail_in(error, TB_ENOMEM, path, "no memory to add up its waits");
}

static int write_list(sqlite3 *db, const char *path, int64_t run, enum tb_blame_list kind,
	const struct list *list, struct tb_error *error)
{
	struct tb_row row = tb_row_into(db, path,
		"INSERT INTO blame_top VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)",
		error);
	for (uint32_t i = 0; !row.status && i < list->n_kept; i++) {
		const struct tb_blame_sample *at = &list->sums[i].at;
		const struct tb_blame_sample *most = &list->sums[i].heaviest;
		tb_row_put(&row, run);
		tb_row_put_text(&row, tb_blame_list_name(kind));
		tb_row_put(&row, i + 1);
		tb_row_put(&row, list->n);
		tb_row_put_id(&row, at->link.id);
		tb_row_put_id(&row, at->root.id);
		tb_row_put_id(&row, at->victim_job);
		tb_row_put_id(&row, at->victim_source.id);
		tb_row_put_id(&row, at->victim_destination.id);
		tb_row_put_id(&row, at->culprit_job);
		tb_row_put_id(&row, at->culprit_source.id);
		tb_row_put_id(&row, at->culprit_destination.id);
		tb_row_put(&row, (int64_t)at->n_waits);
		tb_row_put(&row, (int64_t)at->wait_ps);
		tb_row_put(&row, list->sums[i].n_links);
		tb_row_put_id(&row, most->link.id);
		tb_row_put_id(&row, most->root.id);
		tb_row_put_id(&row, most->victim_job);
		tb_row_put_id(&row, most->victim_source.id);
		tb_row_put_id(&row, most->victim_destination.id);
		tb_row_end(&row);
	}
	return tb_row_done(&row);
}

// keep_listed moves the sums of the kept roots to the front and counts them; TB_ENOMEM.
static int keep_listed(struct list *jobs, const struct list *roots)
{
	uint32_t n_links = 0;
	for (uint32_t i = 0; i < roots->n; i++)
		if (roots->sums[i].at.root.id >= n_links)
			n_links = roots->sums[i].at.root.id + 1;
	bool *is_kept = calloc((size_t)n_links + 1, sizeof *is_kept);
	if (!is_kept)
		return TB_ENOMEM;
	for (uint32_t i = 0; i < roots->n_kept; i++)
		is_kept[roots->sums[i].at.root.id] = true;
	jobs->n_kept = 0;
	for (uint32_t i = 0; i < jobs->n; i++) {
		if (!is_kept[jobs->sums[i].at.root.id])
			continue;
		struct tb_blame_sum kept = jobs->sums[i];
		jobs->sums[i] = jobs->sums[jobs->n_kept];
		jobs->sums[jobs->n_kept++] = kept;
	}
	free(is_kept);
	return TB_OK;
}

// match_roots keeps the sums by root and jobs of the kept roots, and of fewer roots when
// they are too many.
static int match_roots(struct list *jobs, struct list *roots)
{
	int status = keep_listed(jobs, roots);
	while (!status && jobs->n_kept > ROOT_JOBS_KEPT && roots->n_kept > 1) {
		roots->n_kept /= 2;
		status = keep_listed(jobs, roots);
	}
	return status;
}

int tb_store_write_blame_tops(sqlite3 *db, const char *path, int64_t run,
	const struct tb_blame_sample *samples, size_t n, struct tb_error *error)
{
	struct list lists[TB_BLAME_LISTS] = {0};
	int status = TB_OK;
	if (n < TB_TOPS_FROM || n > UINT32_MAX)
		return TB_OK;
	for (int i = 0; !status && i < TB_BLAME_LISTS; i++) {
		status = tb_blame_sums(samples, (uint32_t)n,
			tb_blame_list_keys((enum tb_blame_list)i), &lists[i].sums,
			&lists[i].n);
		lists[i].n_kept = lists[i].n < TB_TOPS_KEPT ? lists[i].n : TB_TOPS_KEPT;
	}
	if (!status)
		status = match_roots(&lists[TB_BLAME_ROOT_JOBS], &lists[TB_BLAME_ROOTS]);
	if (status)
		status = no_memory(path, error);
	for (int i = 0; !status && i < TB_BLAME_LISTS; i++)
		status = write_list(
			db, path, run, (enum tb_blame_list)i, &lists[i], error);
	for (int i = 0; i < TB_BLAME_LISTS; i++)
		free(lists[i].sums);
	return status;
}

// less_slow orders flows as the table does that a reader sorts: by slowdown, ties by
// their ids, which ascend in the samples.
static bool less_slow(
	const struct tb_flow_sample *const *a, const struct tb_flow_sample *const *b)
{
	double of_a = tb_flow_slowdown(*a), of_b = tb_flow_slowdown(*b);
	return of_a != of_b ? of_a < of_b : *a > *b;
}

typedef const struct tb_flow_sample *flow_pointer;
TB_HEAP(slow, flow_pointer, less_slow)

static int write_slowest(sqlite3 *db, const char *path, int64_t run,
	const struct tb_flow_sample *samples, size_t n, struct tb_error *error)
{
	flow_pointer heap[TB_TOPS_KEPT], next;
	size_t n_kept = 0;
	for (next = samples; next < samples + n; next++) {
		if (n_kept < TB_TOPS_KEPT)
			slow_put(heap, n_kept++, next);
		else if (less_slow(&heap[0], &next))
			slow_replace(heap, n_kept, next);
	}
	struct tb_row row =
		tb_row_into(db, path, "INSERT INTO flow_top VALUES (?,?,?,?,?,?)", error);
	for (size_t rank = n_kept; !row.status && rank > 0; rank--) {
		flow_pointer flow = slow_take(heap, rank);
		tb_row_put(&row, run);
		tb_row_put(&row, (int64_t)rank);
		tb_row_put(&row, (int64_t)n);
		tb_row_put(&row, flow->job);
		tb_row_put(&row, flow->source.id);
		tb_row_put(&row, flow->destination.id);
		tb_row_end(&row);
	}
	return tb_row_done(&row);
}

static int write_job(sqlite3 *db, const char *path, int64_t run,
	const struct tb_flow_sample *sum, uint64_t n_flows, struct tb_error *error)
{
	struct tb_row row = tb_row_into(db, path,
		"INSERT INTO job_total VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?)", error);
	tb_row_put(&row, run);
	tb_row_put(&row, sum->job);
	tb_row_put(&row, (int64_t)n_flows);
	tb_row_put(&row, (int64_t)sum->n_messages);
	tb_row_put(&row, (int64_t)sum->n_packets);
	tb_row_put(&row, (int64_t)sum->bytes);
	tb_row_put(&row, (int64_t)sum->latency_ps);
	tb_row_put(&row, (int64_t)sum->queue_ps);
	tb_row_put(&row, (int64_t)sum->network_ps);
	tb_row_put(&row, (int64_t)sum->worst_latency_ps);
	tb_row_put(&row, (int64_t)sum->ideal_ps);
	tb_row_put(&row, (int64_t)sum->wait_ps);
	tb_row_put(&row, sum->first_ps);
	tb_row_put(&row, sum->last_ps);
	tb_row_end(&row);
	return tb_row_done(&row);
}

// write_jobs adds up the flows of each job, which are adjacent in the samples.
static int write_jobs(sqlite3 *db, const char *path, int64_t run,
	const struct tb_flow_sample *samples, size_t n, struct tb_error *error)
{
	int status = TB_OK;
	for (size_t i = 0; !status && i < n;) {
		struct tb_flow_sample sum = {.job = samples[i].job};
		uint64_t n_flows = 0;
		for (; i < n && samples[i].job == sum.job; i++) {
			n_flows += samples[i].n_messages > 0;
			if (samples[i].n_messages > 0)
				tb_flow_add(&sum, &samples[i]);
		}
		if (n_flows)
			status = write_job(db, path, run, &sum, n_flows, error);
	}
	return status;
}

static int write_senders(sqlite3 *db, const char *path, int64_t run,
	const struct tb_flow_sample *senders, uint32_t n, struct tb_error *error)
{
	struct tb_row row = tb_row_into(
		db, path, "INSERT INTO sender_total VALUES (?,?,?,?,?,?,?,?)", error);
	for (uint32_t node = 0; !row.status && node < n; node++) {
		const struct tb_flow_sample *sum = &senders[node];
		if (sum->n_messages == 0)
			continue;
		tb_row_put(&row, run);
		tb_row_put(&row, node);
		tb_row_put(&row, (int64_t)sum->n_messages);
		tb_row_put(&row, (int64_t)sum->bytes);
		tb_row_put(&row, (int64_t)sum->latency_ps);
		tb_row_put(&row, (int64_t)sum->queue_ps);
		tb_row_put(&row, sum->first_ps);
		tb_row_put(&row, sum->last_post_ps);
		tb_row_end(&row);
	}
	return tb_row_done(&row);
}

int tb_store_write_senders(sqlite3 *db, const char *path, int64_t run,
	const struct tb_flow_sample *samples, size_t n, struct tb_error *error)
{
	uint32_t n_nodes = 0;
	for (size_t i = 0; i < n; i++)
		if (samples[i].source.id >= n_nodes)
			n_nodes = samples[i].source.id + 1;
	struct tb_flow_sample *senders = calloc((size_t)n_nodes + 1, sizeof *senders);
	if (!senders)
		return no_memory(path, error);
	for (size_t i = 0; i < n; i++)
		if (samples[i].n_messages)
			tb_flow_add(&senders[samples[i].source.id], &samples[i]);
	int status = write_senders(db, path, run, senders, n_nodes, error);
	free(senders);
	return status;
}

int tb_store_write_flow_tops(sqlite3 *db, const char *path, int64_t run,
	const struct tb_flow_sample *samples, size_t n, struct tb_error *error)
{
	if (n < TB_TOPS_FROM)
		return TB_OK;
	int status = write_jobs(db, path, run, samples, n, error);
	return status ? status : write_slowest(db, path, run, samples, n, error);
}

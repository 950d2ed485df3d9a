// Keeps everything that an observer receives, and compares two such records field by
// field.
#ifndef TB_TESTS_REPLAY_OBSERVED_H
#define TB_TESTS_REPLAY_OBSERVED_H

#include "blame_table.h"
#include "observer.h"
#include "slowest_messages.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct binned {
	uint64_t bin;
	struct tb_link_sample sample;
};

struct observed { // zeroed: empty
	tb_time_ps bin_ps;
	struct binned *bins;
	size_t n_bins, bins_room;
	struct tb_flow_sample *flows;
	size_t n_flows;
	bool has_blame;
	struct tb_blame_record blame;
	struct tb_undelivered_sample *undelivered;
	size_t n_undelivered;
	struct tb_message_sample *messages;
	size_t n_messages;
	struct tb_port_loss_sample *lost_ports;
	struct tb_flow_loss_sample *lost_flows;
	size_t n_lost_ports, n_lost_flows;
};

static inline void observed_free(struct observed *observed)
{
	free(observed->bins);
	free(observed->flows);
	tb_blame_record_free(&observed->blame);
	free(observed->undelivered);
	free(observed->messages);
	free(observed->lost_ports);
	free(observed->lost_flows);
	*observed = (struct observed){0};
}

static inline int observed_start(void *context, tb_time_ps bin_ps)
{
	struct observed *observed = context;
	observed->bin_ps = bin_ps;
	observed->n_bins = 0;
	return TB_OK;
}

static inline bool is_empty(const struct tb_link_sample *sample)
{
	return tb_link_sample_empty(sample);
}

static inline int observed_bin(
	void *context, uint64_t bin, const struct tb_link_sample *samples, size_t n)
{
	struct observed *observed = context;
	for (size_t i = 0; i < n; i++) {
		if (is_empty(&samples[i]))
			continue;
		if (observed->n_bins == observed->bins_room) {
			observed->bins_room =
				observed->bins_room ? observed->bins_room * 2 : 256;
			observed->bins = realloc(observed->bins,
				observed->bins_room * sizeof *observed->bins);
		}
		observed->bins[observed->n_bins++] = (struct binned){bin, samples[i]};
	}
	return TB_OK;
}

static inline void *observed_copy(const void *samples, size_t n, size_t size)
{
	void *copy = malloc((n + 1) * size);
	if (n)
		memcpy(copy, samples, n * size);
	return copy;
}

static inline int observed_flows(
	void *context, const struct tb_flow_sample *samples, size_t n)
{
	struct observed *observed = context;
	observed->flows = observed_copy(samples, n, sizeof *samples);
	observed->n_flows = n;
	return TB_OK;
}

static inline int observed_blame(void *context, const struct tb_blame_record *record)
{
	struct observed *observed = context;
	observed->has_blame = true;
	return tb_blame_record_copy(&observed->blame, record);
}

static inline int observed_undelivered(
	void *context, const struct tb_undelivered_sample *samples, size_t n)
{
	struct observed *observed = context;
	observed->undelivered = observed_copy(samples, n, sizeof *samples);
	observed->n_undelivered = n;
	return TB_OK;
}

static inline int observed_messages(
	void *context, const struct tb_message_sample *samples, size_t n)
{
	struct observed *observed = context;
	observed->messages = observed_copy(samples, n, sizeof *samples);
	observed->n_messages = n;
	return TB_OK;
}

static inline int observed_losses(void *context, const struct tb_loss_record *record)
{
	struct observed *observed = context;
	observed->n_lost_ports = record->n_ports;
	observed->n_lost_flows = record->n_flows;
	observed->lost_ports =
		observed_copy(record->ports, record->n_ports, sizeof *record->ports);
	observed->lost_flows =
		observed_copy(record->flows, record->n_flows, sizeof *record->flows);
	return TB_OK;
}

static inline struct tb_observer observer_of(struct observed *observed)
{
	return (struct tb_observer){.context = observed,
		.start = observed_start,
		.bin = observed_bin,
		.flows = observed_flows,
		.blame = observed_blame,
		.undelivered = observed_undelivered,
		.messages = observed_messages,
		.losses = observed_losses};
}

// A difference between engine and oracle, as a sentence.
struct difference {
	char text[1100];
};

static inline bool differ(struct difference *difference, const char *what, uint64_t which,
	uint64_t engine, uint64_t oracle)
{
	if (engine == oracle)
		return false;
	snprintf(difference->text, sizeof difference->text,
		"%s %" PRIu64 ": %" PRIu64 " by the engine, %" PRIu64 " by the oracle",
		what, which, engine, oracle);
	return true;
}

// DIFFER compares a field of two rows; `a` is the engine's, `b` the oracle's.
#define DIFFER(which, field)                                                             \
	differ(difference, #field " of", which, (uint64_t)a->field, (uint64_t)b->field)

static inline bool bins_differ(const struct observed *engine,
	const struct observed *oracle, struct difference *difference)
{
	for (size_t i = 0; i < engine->n_bins && i < oracle->n_bins; i++) {
		const struct binned *a = &engine->bins[i], *b = &oracle->bins[i];
		uint32_t link = a->sample.link.id;
		if (DIFFER(i, bin) || DIFFER(a->bin, sample.link.id) ||
			DIFFER(link, sample.came_by_ps) ||
			DIFFER(link, sample.wait_for_ps) ||
			DIFFER(link, sample.longest_wait_ps) ||
			DIFFER(link, sample.stall_ps) || DIFFER(link, sample.busy_ps) ||
			DIFFER(link, sample.bytes) || DIFFER(link, sample.n_packets) ||
			DIFFER(link, sample.n_blocked) ||
			DIFFER(link, sample.largest_queue_bytes))
			return true;
	}
	return differ(difference, "width of bins", 0, (uint64_t)engine->bin_ps,
		       (uint64_t)oracle->bin_ps) ||
	       differ(difference, "bins of links, all", 0, engine->n_bins,
		       oracle->n_bins);
}

static inline bool flows_differ(const struct observed *engine,
	const struct observed *oracle, struct difference *difference)
{
	for (size_t i = 0; i < engine->n_flows && i < oracle->n_flows; i++) {
		const struct tb_flow_sample *a = &engine->flows[i];
		const struct tb_flow_sample *b = &oracle->flows[i];
		if (DIFFER(i, job) || DIFFER(i, source.id) || DIFFER(i, destination.id) ||
			DIFFER(i, n_messages) || DIFFER(i, n_packets) ||
			DIFFER(i, bytes) || DIFFER(i, latency_ps) ||
			DIFFER(i, queue_ps) || DIFFER(i, network_ps) ||
			DIFFER(i, worst_latency_ps) || DIFFER(i, ideal_ps) ||
			DIFFER(i, wait_ps) || DIFFER(i, blamed_ps) ||
			DIFFER(i, first_ps) || DIFFER(i, last_ps) ||
			DIFFER(i, last_post_ps))
			return true;
	}
	return differ(difference, "flows, all", 0, engine->n_flows, oracle->n_flows);
}

// DIFFER_ALL compares what DIFFERENT says of the rows a and b of a list, one by one.
#define DIFFER_ALL(list, DIFFERENT)                                                      \
	for (size_t i = 0; i < engine->n_##list && i < oracle->n_##list; i++) {          \
		const __typeof__(*engine->list) *a = &engine->list[i];                   \
		const __typeof__(*oracle->list) *b = &oracle->list[i];                   \
		if (DIFFERENT)                                                           \
			return true;                                                     \
	}                                                                                \
	if (differ(difference, "rows of " #list, 0, engine->n_##list, oracle->n_##list)) \
	return true

static inline int root_bin_order(const void *left, const void *right)
{
	const struct tb_root_bin_sample *a = left, *b = right;
	if (a->bin != b->bin)
		return a->bin < b->bin ? -1 : 1;
	return (a->root.id > b->root.id) - (a->root.id < b->root.id);
}

static inline int job_wait_order(const void *left, const void *right)
{
	const struct tb_job_wait_sample *a = left, *b = right;
	if (a->bin != b->bin)
		return a->bin < b->bin ? -1 : 1;
	if (a->victim_job != b->victim_job)
		return a->victim_job < b->victim_job ? -1 : 1;
	return (a->culprit_job > b->culprit_job) - (a->culprit_job < b->culprit_job);
}

// merge_root_bins and merge_job_waits make so many slices of the oracle's sums one.
static inline void merge_root_bins(struct tb_blame_record *oracle, uint32_t times)
{
	struct tb_root_bin_sample *rows =
		(struct tb_root_bin_sample *)(uintptr_t)oracle->root_bins;
	size_t n = 0;
	for (size_t i = 0; i < oracle->n_root_bins; i++)
		rows[i].bin /= times;
	qsort(rows, oracle->n_root_bins, sizeof *rows, root_bin_order);
	for (size_t i = 0; i < oracle->n_root_bins; i++)
		if (n && root_bin_order(&rows[n - 1], &rows[i]) == 0)
			rows[n - 1].wait_ps += rows[i].wait_ps;
		else
			rows[n++] = rows[i];
	oracle->n_root_bins = n;
}

static inline void merge_job_waits(struct tb_blame_record *oracle, uint32_t times)
{
	struct tb_job_wait_sample *rows =
		(struct tb_job_wait_sample *)(uintptr_t)oracle->job_waits;
	size_t n = 0;
	for (size_t i = 0; i < oracle->n_job_waits; i++)
		rows[i].bin /= times;
	qsort(rows, oracle->n_job_waits, sizeof *rows, job_wait_order);
	for (size_t i = 0; i < oracle->n_job_waits; i++) {
		if (n == 0 || job_wait_order(&rows[n - 1], &rows[i]) != 0) {
			rows[n++] = rows[i];
			continue;
		}
		rows[n - 1].n_waits += rows[i].n_waits;
		rows[n - 1].wait_ps += rows[i].wait_ps;
	}
	oracle->n_job_waits = n;
}

static inline bool sums_differ(const struct tb_blame_record *engine,
	struct tb_blame_record *oracle, struct difference *difference)
{
	if (differ(difference, "width of slices", 0, (uint64_t)engine->bin_ps,
		    (uint64_t)oracle->bin_ps))
		return true;
	uint32_t times = (uint32_t)(engine->sum_bin_ps / engine->bin_ps);
	if (times > 1) {
		merge_root_bins(oracle, times);
		merge_job_waits(oracle, times);
	}
	DIFFER_ALL(roots, DIFFER(i, root.id) || DIFFER(i, n_waits) || DIFFER(i, wait_ps));
	DIFFER_ALL(root_jobs, DIFFER(i, root.id) || DIFFER(i, victim_job) ||
				      DIFFER(i, n_waits) || DIFFER(i, wait_ps));
	DIFFER_ALL(job_waits, DIFFER(i, bin) || DIFFER(i, victim_job) ||
				      DIFFER(i, culprit_job) || DIFFER(i, n_waits) ||
				      DIFFER(i, wait_ps));
	DIFFER_ALL(job_links, DIFFER(i, link.id) || DIFFER(i, job) ||
				      DIFFER(i, wait_ps) || DIFFER(i, blamed_ps));
	DIFFER_ALL(root_bins, DIFFER(i, bin) || DIFFER(i, root.id) || DIFFER(i, wait_ps));
	return differ(difference, "width of the sums' slices", 0,
		(uint64_t)engine->sum_bin_ps, (uint64_t)engine->bin_ps * times);
}

// A row of a list of the heaviest, with its key in one order for all lists.
struct heavy_row {
	uint32_t key[8];
	uint64_t n_waits, wait_ps, error_ps;
};

static inline int heavy_order(const void *left, const void *right)
{
	const struct heavy_row *a = left, *b = right;
	for (int i = 0; i < 8; i++)
		if (a->key[i] != b->key[i])
			return a->key[i] < b->key[i] ? -1 : 1;
	return 0;
}

// heavy_differ compares rows sorted by key. Of those that the engine kept, the oracle's
// wait must be within the bounds; what it left out must not be above the floor.
static inline bool heavy_differ(const char *what, const struct heavy_row *engine,
	size_t n_engine, const struct heavy_row *oracle, size_t n_oracle,
	uint64_t floor_ps, struct difference *difference)
{
	size_t at = 0;
	for (size_t i = 0; i < n_oracle; i++) {
		uint64_t wait_ps = oracle[i].wait_ps;
		bool kept = at < n_engine && heavy_order(&engine[at], &oracle[i]) == 0;
		const struct heavy_row *row = kept ? &engine[at++] : NULL;
		bool fits = row ? wait_ps >= row->wait_ps &&
					    wait_ps <= row->wait_ps + row->error_ps
				: wait_ps <= floor_ps;
		if (!fits || (row && row->error_ps == 0 && row->n_waits &&
				     row->n_waits != oracle[i].n_waits)) {
			snprintf(difference->text, sizeof difference->text,
				"%s, row %zu: %" PRIu64 " + %" PRIu64 " by the engine (%"
				"s, floor %" PRIu64 "), %" PRIu64 " by the oracle",
				what, i, row ? row->wait_ps : 0, row ? row->error_ps : 0,
				row ? "kept" : "left out", floor_ps, wait_ps);
			return true;
		}
	}
	return differ(difference, what, 0, n_engine, at);
}

static inline struct heavy_row *rows_of_blame(
	const struct tb_blame_sample *samples, size_t n)
{
	struct heavy_row *rows = calloc(n + 1, sizeof *rows);
	for (size_t i = 0; i < n; i++) {
		const struct tb_blame_sample *at = &samples[i];
		rows[i] = (struct heavy_row){
			{at->bin, at->link.id, at->victim_job, at->victim_source.id,
				at->victim_destination.id, at->culprit_job,
				at->culprit_source.id, at->culprit_destination.id},
			at->n_waits, at->wait_ps, at->error_ps};
	}
	return rows;
}

static inline struct heavy_row *rows_of_groups(
	const struct tb_group_sample *samples, size_t n)
{
	struct heavy_row *rows = calloc(n + 1, sizeof *rows);
	for (size_t i = 0; i < n; i++)
		rows[i] = (struct heavy_row){{samples[i].victim, samples[i].culprit},
			samples[i].n_waits, samples[i].wait_ps, samples[i].error_ps};
	return rows;
}

static inline struct heavy_row *rows_of_trees(
	const struct tb_tree_sample *samples, size_t n)
{
	struct heavy_row *rows = calloc(n + 1, sizeof *rows);
	for (size_t i = 0; i < n; i++)
		rows[i] = (struct heavy_row){
			{samples[i].bin, samples[i].root.id, samples[i].link.id}, 0,
			samples[i].wait_ps, samples[i].error_ps};
	return rows;
}

// rows_differ compares and frees them.
static inline bool rows_differ(const char *what, struct heavy_row *engine,
	size_t n_engine, struct heavy_row *oracle, size_t n_oracle, uint64_t floor_ps,
	struct difference *difference)
{
	bool different = heavy_differ(
		what, engine, n_engine, oracle, n_oracle, floor_ps, difference);
	free(engine);
	free(oracle);
	return different;
}

// same_rows compares rows of two engines, which must be the same, and frees them.
static inline bool same_rows(
	struct heavy_row *one, size_t n_one, struct heavy_row *other, size_t n_other)
{
	bool same = n_one == n_other && memcmp(one, other, n_one * sizeof *one) == 0;
	free(one);
	free(other);
	return same;
}

// heaviest_differ compares the lists of the heaviest of two engines, which must be the
// same, whatever they left out.
static inline bool heaviest_differ(const struct tb_blame_record *one,
	const struct tb_blame_record *other, struct difference *difference)
{
	bool same = same_rows(rows_of_blame(one->by_link, one->n_by_link), one->n_by_link,
			    rows_of_blame(other->by_link, other->n_by_link),
			    other->n_by_link) &&
		    same_rows(rows_of_blame(one->by_time, one->n_by_time), one->n_by_time,
			    rows_of_blame(other->by_time, other->n_by_time),
			    other->n_by_time) &&
		    same_rows(rows_of_trees(one->trees, one->n_trees), one->n_trees,
			    rows_of_trees(other->trees, other->n_trees), other->n_trees);
	for (int i = 0; i < TB_GROUPINGS && same; i++)
		same = one->group_floor_ps[i] == other->group_floor_ps[i] &&
		       same_rows(rows_of_groups(one->groups[i], one->n_groups[i]),
			       one->n_groups[i],
			       rows_of_groups(other->groups[i], other->n_groups[i]),
			       other->n_groups[i]);
	same = same && one->by_link_floor_ps == other->by_link_floor_ps &&
	       one->by_time_floor_ps == other->by_time_floor_ps &&
	       one->tree_floor_ps == other->tree_floor_ps;
	if (!same)
		snprintf(difference->text, sizeof difference->text,
			"the lists of the heaviest differ");
	return !same;
}

static inline bool blame_differs(const struct tb_blame_record *engine,
	struct tb_blame_record *oracle, struct difference *difference)
{
	if (sums_differ(engine, oracle, difference) ||
		rows_differ("blame by link",
			rows_of_blame(engine->by_link, engine->n_by_link),
			engine->n_by_link,
			rows_of_blame(oracle->by_link, oracle->n_by_link),
			oracle->n_by_link, engine->by_link_floor_ps, difference) ||
		rows_differ("blame by time",
			rows_of_blame(engine->by_time, engine->n_by_time),
			engine->n_by_time,
			rows_of_blame(oracle->by_time, oracle->n_by_time),
			oracle->n_by_time, engine->by_time_floor_ps, difference) ||
		rows_differ("trees", rows_of_trees(engine->trees, engine->n_trees),
			engine->n_trees, rows_of_trees(oracle->trees, oracle->n_trees),
			oracle->n_trees, engine->tree_floor_ps, difference))
		return true;
	for (int i = 0; i < TB_GROUPINGS; i++)
		if (rows_differ("blame by group",
			    rows_of_groups(engine->groups[i], engine->n_groups[i]),
			    engine->n_groups[i],
			    rows_of_groups(oracle->groups[i], oracle->n_groups[i]),
			    oracle->n_groups[i], engine->group_floor_ps[i], difference))
			return true;
	return false;
}

static inline bool undelivered_differ(const struct observed *engine,
	const struct observed *oracle, struct difference *difference)
{
	for (size_t i = 0; i < engine->n_undelivered && i < oracle->n_undelivered; i++) {
		const struct tb_undelivered_sample *a = &engine->undelivered[i];
		const struct tb_undelivered_sample *b = &oracle->undelivered[i];
		if (DIFFER(i, job) || DIFFER(i, source.id) || DIFFER(i, destination.id) ||
			DIFFER(i, dead.id) || DIFFER(i, n_messages) || DIFFER(i, bytes) ||
			DIFFER(i, first_ps))
			return true;
	}
	return differ(difference, "rows of what was not delivered", 0,
		engine->n_undelivered, oracle->n_undelivered);
}

static inline int64_t lost_by(const struct tb_message_sample *message)
{
	return (int64_t)(message->network_ps - message->ideal_ps);
}

// drop_messages leaves of the oracle's messages, which are all, those that the engine
// kept. Those that it did not must have lost no more than any of the others.
static inline bool drop_messages(const struct observed *engine, struct observed *oracle,
	struct difference *difference)
{
	int64_t most_dropped = INT64_MIN, least_kept = INT64_MAX;
	size_t n = 0;
	for (size_t i = 0; i < oracle->n_messages; i++) {
		const struct tb_message_sample *at = &oracle->messages[i];
		bool kept = n < engine->n_messages &&
			    engine->messages[n].number == at->number;
		if (!kept && lost_by(at) > most_dropped)
			most_dropped = lost_by(at);
		if (kept && lost_by(at) < least_kept)
			least_kept = lost_by(at);
		if (kept)
			oracle->messages[n++] = *at;
	}
	oracle->n_messages = n;
	snprintf(difference->text, sizeof difference->text,
		"a message was kept that lost less than one that was not");
	return most_dropped > least_kept;
}

static inline bool kept_messages_differ(const struct observed *engine,
	struct observed *oracle, struct difference *difference)
{
	if (oracle->n_messages > TB_MESSAGES_KEPT &&
		drop_messages(engine, oracle, difference))
		return true;
	for (size_t i = 0; i < engine->n_messages && i < oracle->n_messages; i++) {
		const struct tb_message_sample *a = &engine->messages[i];
		const struct tb_message_sample *b = &oracle->messages[i];
		if (DIFFER(i, number) || DIFFER(i, job) || DIFFER(i, source.id) ||
			DIFFER(i, destination.id) || DIFFER(i, bytes) ||
			DIFFER(i, posted_ps) || DIFFER(i, started_ps) ||
			DIFFER(i, delivered_ps) || DIFFER(i, queue_ps) ||
			DIFFER(i, network_ps) || DIFFER(i, ideal_ps))
			return true;
	}
	return differ(
		difference, "messages, all", 0, engine->n_messages, oracle->n_messages);
}

static inline bool losses_differ(const struct observed *engine,
	const struct observed *oracle, struct difference *difference)
{
	DIFFER_ALL(lost_ports,
		DIFFER(i, link.id) || DIFFER(i, n_frames) || DIFFER(i, bytes));
	DIFFER_ALL(lost_flows, DIFFER(i, job) || DIFFER(i, source.id) ||
				       DIFFER(i, destination.id) || DIFFER(i, n_frames) ||
				       DIFFER(i, bytes) || DIFFER(i, n_resent));
	return false;
}

// observed_differ returns whether two observers received different things, and stores the
// first difference. It sorts and folds the rows of both.
static inline bool observed_differ(
	struct observed *engine, struct observed *oracle, struct difference *difference)
{
	return bins_differ(engine, oracle, difference) ||
	       flows_differ(engine, oracle, difference) ||
	       blame_differs(&engine->blame, &oracle->blame, difference) ||
	       undelivered_differ(engine, oracle, difference) ||
	       kept_messages_differ(engine, oracle, difference) ||
	       losses_differ(engine, oracle, difference);
}

#endif

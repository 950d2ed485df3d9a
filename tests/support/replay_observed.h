// Keeps everything that an observer receives, and compares two such records field by
// field.
#ifndef TB_TESTS_REPLAY_OBSERVED_H
#define TB_TESTS_REPLAY_OBSERVED_H

#include "message_book.h"

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
	struct tb_blame_sample *blame;
	size_t n_blame;
	struct tb_undelivered_sample *undelivered;
	size_t n_undelivered;
	tb_time_ps slice_ps;
	struct tb_tree_sample *trees;
	size_t n_trees;
	struct tb_message_sample *messages;
	size_t n_messages;
};

static inline void observed_free(struct observed *observed)
{
	free(observed->bins);
	free(observed->flows);
	free(observed->blame);
	free(observed->undelivered);
	free(observed->trees);
	free(observed->messages);
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
	return !sample->n_packets && !sample->n_blocked && !sample->wait_ps &&
	       !sample->stall_ps && !sample->busy_ps && !sample->bytes &&
	       !sample->longest_wait_ps;
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

static inline int observed_blame(
	void *context, const struct tb_blame_sample *samples, size_t n)
{
	struct observed *observed = context;
	observed->blame = observed_copy(samples, n, sizeof *samples);
	observed->n_blame = n;
	return TB_OK;
}

static inline int observed_undelivered(
	void *context, const struct tb_undelivered_sample *samples, size_t n)
{
	struct observed *observed = context;
	observed->undelivered = observed_copy(samples, n, sizeof *samples);
	observed->n_undelivered = n;
	return TB_OK;
}

static inline int observed_trees(void *context, tb_time_ps slice_ps,
	const struct tb_tree_sample *samples, size_t n)
{
	struct observed *observed = context;
	observed->slice_ps = slice_ps;
	observed->trees = observed_copy(samples, n, sizeof *samples);
	observed->n_trees = n;
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

static inline struct tb_observer observer_of(struct observed *observed)
{
	return (struct tb_observer){observed, observed_start, observed_bin,
		observed_flows, observed_blame, observed_undelivered, observed_trees,
		observed_messages};
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
			DIFFER(link, sample.wait_ps) ||
			DIFFER(link, sample.longest_wait_ps) ||
			DIFFER(link, sample.stall_ps) || DIFFER(link, sample.busy_ps) ||
			DIFFER(link, sample.bytes) || DIFFER(link, sample.n_packets) ||
			DIFFER(link, sample.n_blocked))
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
			DIFFER(i, wait_ps) || DIFFER(i, first_ps) || DIFFER(i, last_ps) ||
			DIFFER(i, last_post_ps))
			return true;
	}
	return differ(difference, "flows, all", 0, engine->n_flows, oracle->n_flows);
}

static inline int blame_order(const void *left, const void *right)
{
	const struct tb_blame_sample *a = left, *b = right;
	const uint64_t keys[][2] = {{b->wait_ps, a->wait_ps}, {a->link.id, b->link.id},
		{a->root.id, b->root.id}, {a->victim_job, b->victim_job},
		{a->victim_source.id, b->victim_source.id},
		{a->victim_destination.id, b->victim_destination.id},
		{a->culprit_job, b->culprit_job},
		{a->culprit_source.id, b->culprit_source.id},
		{a->culprit_destination.id, b->culprit_destination.id}};
	for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
		if (keys[i][0] != keys[i][1])
			return keys[i][0] < keys[i][1] ? -1 : 1;
	return 0;
}

// fold_blame leaves of every row its link and jobs alone, as the lesser rows have them
// where there are very many.
static inline void fold_blame(struct observed *observed)
{
	size_t n = 0;
	for (size_t i = 0; i < observed->n_blame; i++) {
		const struct tb_blame_sample *row = &observed->blame[i];
		size_t at = 0;
		while (at < n &&
			(observed->blame[at].link.id != row->link.id ||
				observed->blame[at].victim_job != row->victim_job ||
				observed->blame[at].culprit_job != row->culprit_job))
			at++;
		if (at < n) {
			observed->blame[at].n_waits += row->n_waits;
			observed->blame[at].wait_ps += row->wait_ps;
			continue;
		}
		observed->blame[n++] = (struct tb_blame_sample){.link = row->link,
			.victim_job = row->victim_job,
			.culprit_job = row->culprit_job,
			.n_waits = row->n_waits,
			.wait_ps = row->wait_ps};
	}
	observed->n_blame = n;
}

static inline bool blame_is_folded(const struct observed *observed)
{
	for (size_t i = 0; i < observed->n_blame; i++)
		if (observed->blame[i].victim_source.id == TB_ID_NONE)
			return true;
	return false;
}

static inline uint64_t place_of_blame(const struct tb_blame_sample *row)
{
	return (uint64_t)row->link.id << 32 | row->root.id;
}

// Rows come by link and by root; how flows are sorted is not defined. The oracle folds
// none.
static inline bool blame_differs(
	struct observed *engine, struct observed *oracle, struct difference *difference)
{
	for (size_t i = 1; i < engine->n_blame; i++)
		if (place_of_blame(&engine->blame[i]) <
			place_of_blame(&engine->blame[i - 1])) {
			snprintf(difference->text, sizeof difference->text,
				"blame %zu belongs before the one before", i);
			return true;
		}
	if (blame_is_folded(engine)) {
		fold_blame(engine);
		fold_blame(oracle);
	}
	if (engine->n_blame)
		qsort(engine->blame, engine->n_blame, sizeof *engine->blame, blame_order);
	if (oracle->n_blame)
		qsort(oracle->blame, oracle->n_blame, sizeof *oracle->blame, blame_order);
	for (size_t i = 0; i < engine->n_blame && i < oracle->n_blame; i++) {
		const struct tb_blame_sample *a = &engine->blame[i];
		const struct tb_blame_sample *b = &oracle->blame[i];
		if (DIFFER(i, wait_ps) || DIFFER(i, n_waits) || DIFFER(i, link.id) ||
			DIFFER(i, root.id) || DIFFER(i, victim_job) ||
			DIFFER(i, victim_source.id) || DIFFER(i, victim_destination.id) ||
			DIFFER(i, culprit_job) || DIFFER(i, culprit_source.id) ||
			DIFFER(i, culprit_destination.id))
			return true;
	}
	return differ(difference, "blames, all", 0, engine->n_blame, oracle->n_blame);
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

// fold_trees leaves of every row its slice alone, as the lesser rows have it where there
// are very many.
static inline void fold_trees(struct observed *observed)
{
	size_t n = 0;
	for (size_t i = 0; i < observed->n_trees; i++) {
		struct tb_tree_sample row = observed->trees[i];
		row.root.id = row.link.id = TB_ID_NONE;
		if (n && observed->trees[n - 1].bin == row.bin)
			observed->trees[n - 1].wait_ps += row.wait_ps;
		else
			observed->trees[n++] = row;
	}
	observed->n_trees = n;
}

static inline bool trees_are_folded(const struct observed *observed)
{
	for (size_t i = 0; i < observed->n_trees; i++)
		if (observed->trees[i].root.id == TB_ID_NONE)
			return true;
	return false;
}

static inline bool trees_differ(
	struct observed *engine, struct observed *oracle, struct difference *difference)
{
	if (trees_are_folded(engine)) {
		fold_trees(engine);
		fold_trees(oracle);
	}
	for (size_t i = 0; i < engine->n_trees && i < oracle->n_trees; i++) {
		const struct tb_tree_sample *a = &engine->trees[i];
		const struct tb_tree_sample *b = &oracle->trees[i];
		if (DIFFER(i, bin) || DIFFER(i, root.id) || DIFFER(i, link.id) ||
			DIFFER(i, wait_ps))
			return true;
	}
	return differ(difference, "rows of trees", 0, engine->n_trees, oracle->n_trees) ||
	       differ(difference, "width of trees' slices", 0, (uint64_t)engine->slice_ps,
		       (uint64_t)oracle->slice_ps);
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

// observed_differ returns whether two observers received different things, and stores the
// first difference. It sorts and folds the rows of both.
static inline bool observed_differ(
	struct observed *engine, struct observed *oracle, struct difference *difference)
{
	return bins_differ(engine, oracle, difference) ||
	       flows_differ(engine, oracle, difference) ||
	       blame_differs(engine, oracle, difference) ||
	       undelivered_differ(engine, oracle, difference) ||
	       trees_differ(engine, oracle, difference) ||
	       kept_messages_differ(engine, oracle, difference);
}

#endif

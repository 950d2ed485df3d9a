// A source that follows a script, and an observer that adds up what it receives, for
// tests of the engine.
#ifndef TB_TESTS_REPLAY_SCRIPT_H
#define TB_TESTS_REPLAY_SCRIPT_H

#include "engine.h"

#include <stdlib.h>
#include <string.h>

// One message to post at a time; the script is sorted by time.
#define CAPTURED UINT32_MAX

struct line {
	tb_time_ps at;
	uint32_t source, destination;
	uint64_t bytes;
	// Filled by the replay.
	tb_time_ps sent, delivered;
	uint32_t source_rank; // of several on a node; CAPTURED: a captured frame
	uint32_t destination_rank, job;
};

struct script {
	struct line *lines;
	size_t n, next;
};

static inline tb_time_ps script_when(void *context)
{
	const struct script *script = context;
	return script->next < script->n ? script->lines[script->next].at : TB_TIME_NEVER;
}

static inline int script_take(
	void *context, tb_time_ps now, struct tb_message *message, struct tb_error *error)
{
	struct script *script = context;
	(void)error;
	if (script->next == script->n || script->lines[script->next].at > now)
		return 0;
	const struct line *line = &script->lines[script->next];
	uint32_t rank = line->source_rank == CAPTURED ? 0 : line->source_rank;
	*message = (struct tb_message){.cookie = script->next++,
		.source = {line->source},
		.job = line->job,
		.destination = {line->destination},
		.bytes = line->bytes,
		.source_rank = rank,
		.source_place = rank,
		.destination_rank = line->destination_rank,
		.destination_place = line->destination_rank,
		.captured = line->source_rank == CAPTURED};
	return 1;
}

static inline int script_sent(
	void *context, tb_time_ps now, uint64_t cookie, struct tb_error *error)
{
	(void)error;
	((struct script *)context)->lines[cookie].sent = now;
	return TB_OK;
}

static inline int script_delivered(
	void *context, tb_time_ps now, uint64_t cookie, struct tb_error *error)
{
	(void)error;
	((struct script *)context)->lines[cookie].delivered = now;
	return TB_OK;
}

static inline struct tb_source script_source(struct script *script)
{
	return (struct tb_source){.context = script,
		.when = script_when,
		.take = script_take,
		.sent = script_sent,
		.delivered = script_delivered};
}

// The sums of what an observer received.
struct tally {
	tb_time_ps bin_ps;
	uint64_t n_bins, last_bin;
	struct tb_link_sample *links; // by id
	uint64_t n_links;
	uint64_t wait_ps, wait_for_ps; // of all links
	uint64_t flow_wait_ps, flow_ideal_ps, flow_latency_ps;
	uint64_t flow_queue_ps, flow_network_ps;
	uint64_t flow_bytes, flow_messages, blame_ps;
	struct tb_link worst_root; // of which most waits
	uint64_t worst_root_ps;
	uint64_t hash;	   // of everything received, in order
	bool out_of_order; // bins or links came twice or in descending order
};

static inline void tally_hash(struct tally *tally, const void *bytes, size_t n)
{
	const unsigned char *at = bytes;
	for (size_t i = 0; i < n; i++)
		tally->hash = (tally->hash ^ at[i]) * UINT64_C(1099511628211);
}

static inline int tally_start(void *context, tb_time_ps bin_ps)
{
	struct tally *tally = context;
	tally->bin_ps = bin_ps;
	tally->n_bins = 0;
	tally->wait_ps = tally->wait_for_ps = 0;
	tally->hash = UINT64_C(14695981039346656037);
	memset(tally->links, 0, tally->n_links * sizeof *tally->links);
	return TB_OK;
}

static inline int tally_bin(
	void *context, uint64_t bin, const struct tb_link_sample *samples, size_t n)
{
	struct tally *tally = context;
	if (tally->n_bins && bin <= tally->last_bin)
		tally->out_of_order = true;
	tally->last_bin = bin;
	tally->n_bins++;
	tally_hash(tally, &bin, sizeof bin);
	for (size_t i = 0; i < n; i++) {
		const struct tb_link_sample *sample = &samples[i];
		struct tb_link_sample *sum = &tally->links[sample->link.id];
		if (i && sample->link.id <= samples[i - 1].link.id)
			tally->out_of_order = true;
		tb_link_sample_add(sum, sample);
		tally->wait_ps += sample->came_by_ps;
		tally->wait_for_ps += sample->wait_for_ps;
		// Hash field by field: padding between them is undefined.
		uint64_t fields[] = {sample->link.id, sample->n_packets,
			sample->n_blocked, sample->came_by_ps, sample->stall_ps,
			sample->busy_ps, sample->bytes, sample->longest_wait_ps};
		tally_hash(tally, fields, sizeof fields);
	}
	return TB_OK;
}

static inline int tally_flows(
	void *context, const struct tb_flow_sample *samples, size_t n)
{
	struct tally *tally = context;
	for (size_t i = 0; i < n; i++) {
		tally->flow_wait_ps += samples[i].wait_ps;
		tally->flow_ideal_ps += samples[i].ideal_ps;
		tally->flow_latency_ps += samples[i].latency_ps;
		tally->flow_queue_ps += samples[i].queue_ps;
		tally->flow_network_ps += samples[i].network_ps;
		tally->flow_bytes += samples[i].bytes;
		tally->flow_messages += samples[i].n_messages;
		tally_hash(tally, &samples[i].latency_ps, sizeof samples[i].latency_ps);
		tally_hash(tally, &samples[i].wait_ps, sizeof samples[i].wait_ps);
	}
	return TB_OK;
}

static inline int tally_blame(void *context, const struct tb_blame_record *record)
{
	struct tally *tally = context;
	for (size_t i = 0; i < record->n_roots; i++)
		tally->blame_ps += record->roots[i].wait_ps;
	for (size_t i = 0; i < record->n_roots; i++)
		if (record->roots[i].wait_ps > tally->worst_root_ps) {
			tally->worst_root = record->roots[i].root;
			tally->worst_root_ps = record->roots[i].wait_ps;
		}
	return TB_OK;
}

static inline struct tb_observer tally_observer(struct tally *tally, uint32_t n_links)
{
	*tally = (struct tally){.n_links = n_links};
	tally->links = calloc(n_links, sizeof *tally->links);
	return (struct tb_observer){.context = tally,
		.start = tally_start,
		.bin = tally_bin,
		.flows = tally_flows,
		.blame = tally_blame};
}

#endif

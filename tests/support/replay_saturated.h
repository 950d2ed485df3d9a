// A few nodes on a network that never rest: how much of their links' rate they reach.
#ifndef TB_TESTS_REPLAY_SATURATED_H
#define TB_TESTS_REPLAY_SATURATED_H

#include "engine.h"
#include "traffic.h"

#include "replay_outcome.h"

enum { SATURATED_MOST = 32 };

struct saturated {
	const char *preset;
	uint32_t n_nodes;	     // that are sent to, at most SATURATED_MOST
	uint32_t n_senders;	     // the first of these
	uint32_t first_target;	     // they send to this one and those behind it
	uint64_t message_bytes;	     // 0: 64 KiB
	uint32_t depth;		     // messages that each keeps under way
	uint64_t n_warm, n_measured; // instants before the window, and in it
};

// saturated_share is what the senders reach of a link's rate while each always has
// messages for the others, drawn at random.
static inline double saturated_share(const struct saturated *run)
{
	uint32_t nodes[SATURATED_MOST];
	struct tb_error error = {0};
	struct tb_traffic *traffic = NULL;
	struct tb_engine *engine = NULL;
	struct tb_network *net = network_of(run->preset);
	for (uint32_t i = 0; i < run->n_nodes; i++)
		nodes[i] = i;
	const struct tb_traffic_job job = {.senders = nodes,
		.n_senders = run->n_senders,
		.rule = TB_TRAFFIC_RANDOM,
		.targets = nodes + run->first_target,
		.n_targets = run->n_nodes - run->first_target,
		.message_bytes = run->message_bytes ? run->message_bytes : 65536,
		.size_dist = TB_SYNTH_FIXED,
		.depth = run->depth};
	assert_int_equal(tb_traffic_new(&traffic, &job, 1, 1, &error), TB_OK);
	const struct tb_source source = tb_traffic_source(traffic);
	const struct tb_engine_options options = {.seed = 1, .without_blame = true};
	assert_int_equal(
		tb_engine_new(&engine, net, &source, NULL, &options, &error), TB_OK);
	assert_int_equal(tb_engine_run(engine, run->n_warm, &error), 1);
	struct tb_engine_stats before = tb_engine_stats_of(engine);
	assert_int_equal(tb_engine_run(engine, run->n_measured, &error), 1);
	struct tb_engine_stats after = tb_engine_stats_of(engine);
	double seconds = (double)(after.now_ps - before.now_ps) / (double)TB_PS_PER_S;
	double bytes = (double)(after.payload_bytes - before.payload_bytes);
	double rate = (double)tb_network_params(net)->link_bytes_per_s;
	tb_engine_free(engine);
	tb_traffic_free(traffic);
	tb_network_free(net);
	return bytes / seconds / rate / run->n_senders;
}

#endif

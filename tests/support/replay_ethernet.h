// Random replays on Ethernet, for property tests.
#ifndef TB_TESTS_REPLAY_ETHERNET_H
#define TB_TESTS_REPLAY_ETHERNET_H

#include "circuit_params.h"
#include "ethernet_params.h"
#include "replay_program.h"

static inline void random_ethernet_params(
	struct tb_random *random, struct tb_network_params *params)
{
	*params = (struct tb_network_params){
		.name = "random",
		.switching = "ethernet",
		.arity = 2 + below(random, 3),
		.levels = 1 + below(random, 3),
		.n_rails = 1,
		.ascent = (enum tb_ascent)below(random, N_ASCENTS),
		.link_bytes_per_s = any_rate(random),
		.hop_latency_ps = (tb_time_ps)ONE_OF(random, 1, 40000, 700000, 10000000),
		.packet_payload_bytes = 1 + below(random, 1500),
		.packet_overhead_bytes = 1 + below(random, 90),
		.send_overhead_ps = (tb_time_ps)ONE_OF(random, 1000, 500000, 10000000),
		.receive_overhead_ps = (tb_time_ps)ONE_OF(random, 0, 0, 10000000),
	};
	*tb_ethernet_params_mutable(params) = (struct tb_ethernet_params){
		.burst_bytes = below(random, 3) ? 0 : below(random, 6000),
		.initial_window = 1 + below(random, 12),
		.window_bytes = 2000 + below(random, 200000),
		.rto_min_ps =
			(tb_time_ps)ONE_OF(random, 2000000000, 20000000000, 200000000000),
		.delayed_ack_ps = (tb_time_ps)ONE_OF(random, 0, 40000000000),
		.idle_restart = below(random, 2),
		.header_room = below(random, 400),
		.tcp = below(random, 3)};
	uint32_t wire = params->packet_payload_bytes + params->packet_overhead_bytes;
	params->fifo_bytes = wire * (1 + below(random, 12));
	if (below(random, 4) == 0)
		params->fifo_bytes = 1 << 20;
}

// random_traffic has messages be longer, both nodes of a pair send at once now and then,
// and some of what is sent be captured.
static inline void random_traffic(struct tb_random *random, struct program *program)
{
	uint64_t full = program->params.packet_payload_bytes;
	bool has_captured = below(random, 3) == 0;
	for (uint32_t i = 0; i < program->n_posts; i++) {
		struct post *post = &program->posts[i];
		if (below(random, 2))
			post->bytes = tb_random_below(random, 60 * full);
		post->captured = has_captured && below(random, 3) == 0;
		if (post->captured) // a frame is never empty
			post->bytes += 70;
		if (i > 0 && below(random, 4) == 0) {
			post->source = program->posts[i - 1].destination;
			post->destination = program->posts[i - 1].source;
		}
	}
}

// random_ethernet_program goes on to draw from `random`.
static inline struct program random_ethernet_program(
	struct tb_random *random, uint64_t seed, enum shape shape)
{
	struct program program = {.seed = seed};
	tb_random_init(random, seed, 300 + (uint64_t)shape);
	random_ethernet_params(random, &program.params);
	if (shape != SHAPE_TREE) {
		tb_circuit_params_mutable(&program.params)->flit_bytes =
			1; // what random_tree asks for
		random_tree(random, &program, shape == SHAPE_MIXED);
		tb_circuit_params_mutable(&program.params)->flit_bytes = 0;
	}
	random_posts(random, &program);
	random_traffic(random, &program);
	program.open_loop = below(random, 4) == 0;
	program.bin_ps = (tb_time_ps)ONE_OF(random, 1000000, 77777777, 1000000000, 0);
	return program;
}

#endif

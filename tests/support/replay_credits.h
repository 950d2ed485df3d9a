// Random replays on networks with credits, for property tests.
#ifndef TB_TESTS_REPLAY_CREDITS_H
#define TB_TESTS_REPLAY_CREDITS_H

#include "circuit_params.h"
#include "credit_params.h"
#include "replay_program.h"

// random_table writes an arbitration table in which every lane below n_vls has a weight,
// and some entries have none.
static inline void random_table(struct tb_random *random, char *text, uint32_t n_vls)
{
	uint32_t n = n_vls + below(random, 4);
	size_t at = 0;
	for (uint32_t i = 0; i < n; i++) {
		uint32_t vl = i < n_vls ? i : below(random, n_vls);
		uint32_t weight = i < n_vls ? 1 + below(random, 20) : below(random, 4);
		at += (size_t)snprintf(text + at, TB_VL_TABLE_TEXT - at, "%s%u:%u",
			i ? " " : "", vl, weight);
	}
}

static inline void random_lanes(
	struct tb_random *random, struct tb_network_params *params)
{
	struct tb_credit_params *credits = tb_credit_params_mutable(params);
	params->n_vcs = below(random, 2) ? 1 : 1 + below(random, 4);
	if (below(random, 16) == 0)
		params->n_vcs = TB_VLS_MOST;
	if (below(random, 2))
		random_table(random, credits->vl_low, params->n_vcs);
	if (below(random, 2))
		random_table(random, credits->vl_high, 1 + below(random, params->n_vcs));
	credits->vl_limit = (uint32_t)ONE_OF(random, 0, 0, 1, 2, 255);
	size_t at = 0;
	for (uint32_t i = below(random, 2) ? TB_SLS : 0; i < TB_SLS; i++)
		at += (size_t)snprintf(credits->sl_to_vl + at, TB_SL_TEXT - at, "%s%u",
			i ? " " : "", below(random, params->n_vcs));
}

static inline uint32_t longest_wire(const struct tb_network_params *params)
{
	uint32_t bytes = params->packet_payload_bytes + params->packet_overhead_bytes +
			 tb_credit_params(params)->first_overhead_bytes;
	return bytes ? bytes : 1;
}

// random_buffer is a buffer for a link: for one packet or some, with pause what the rule
// asks for (C10), and now and then a little more.
static inline uint32_t random_buffer(struct tb_random *random,
	const struct tb_network_params *params, uint64_t bytes_per_s, tb_time_ps latency)
{
	uint32_t wire = longest_wire(params), packet = (wire + 63) / 64 * 64;
	if (tb_credit_params(params)->flow_control == TB_FLOW_PAUSE)
		return tb_credit_params(params)->xoff_bytes + 3 * wire + 1 +
		       (uint32_t)(2e-12 * (double)latency * (double)bytes_per_s) +
		       below(random, 3) * 64;
	uint32_t n = below(random, 3) ? 1 + below(random, 3) : 1 + below(random, 12);
	return n * packet + (below(random, 3) ? 0 : below(random, packet));
}

static inline void random_credit_params(
	struct tb_random *random, struct tb_network_params *params)
{
	uint32_t most = (uint32_t)ONE_OF(random, 70, 300, 300, 1000, 4096);
	*params = (struct tb_network_params){
		.name = "random",
		.switching = "credits",
		.arity = 2 + below(random, 3),
		.levels = 1 + below(random, 3),
		.n_rails = 1,
		.ascent = (enum tb_ascent)below(random, N_ASCENTS),
		.link_bytes_per_s = any_rate(random),
		.hop_latency_ps =
			(tb_time_ps)ONE_OF(random, 1, 10000, 40000, 200000, 700000),
		.packet_payload_bytes = 1 + below(random, most),
		.packet_overhead_bytes = below(random, 2) ? below(random, 70) : 0,
		.send_overhead_ps = (tb_time_ps)ONE_OF(random, 0, 10000, 40000, 1000000),
		.receive_overhead_ps = (tb_time_ps)ONE_OF(random, 0, 300000, 700000),
	};
	*tb_credit_params_mutable(params) = (struct tb_credit_params){
		.queues = (enum tb_queues)below(random, 2),
		.input_speedup = below(random, 4),
		.forwarding = below(random, 3) ? TB_FORWARDING_CUT_THROUGH
					       : TB_FORWARDING_STORE,
		.flow_control = below(random, 3) ? TB_FLOW_CREDITS : TB_FLOW_PAUSE,
		.first_overhead_bytes = below(random, 2) ? below(random, 70) : 0,
		.ack_bytes = (uint32_t)ONE_OF(random, 0, 30, 500),
		.pcie_bytes_per_s = below(random, 3) ? any_rate(random) : 0,
		.queue_pairs = (enum tb_queue_pairs)below(random, 2)};
	if (params->arity == 4 && params->levels == 3)
		params->levels = 2;
	struct tb_credit_params *credits = tb_credit_params_mutable(params);
	credits->xoff_bytes = below(random, 3 * longest_wire(params));
	credits->xon_bytes = below(random, credits->xoff_bytes + 1);
	random_lanes(random, params);
	params->fifo_bytes = random_buffer(
		random, params, params->link_bytes_per_s, params->hop_latency_ps);
}

// random_congestion has three in four of the networks control congestion, with thresholds
// that a packet or two pass.
static inline void random_congestion(
	struct tb_random *random, struct tb_network_params *params)
{
	struct tb_credit_params *credits = tb_credit_params_mutable(params);
	if (below(random, 4) == 0)
		return;
	credits->congestion_control = TB_CONGESTION_DCQCN;
	credits->ecn_min_bytes =
		below(random, 3) ? 0 : below(random, longest_wire(params));
	credits->ecn_max_bytes =
		credits->ecn_min_bytes + below(random, 2 * longest_wire(params));
	credits->ecn_probability = below(random, 3) / 2.0;
	credits->cnp_interval_ps = (tb_time_ps)ONE_OF(random, 0, 1000000, 50000000);
	credits->rate_timer_ps = (tb_time_ps)ONE_OF(random, 20000, 200000, 3000000);
	credits->rate_bytes = 1 + below(random, 20 * longest_wire(params));
	credits->rate_step_bytes_per_s = any_rate(random) / 100 + 1;
	if (below(random, 2))
		return;
	credits->congestion_control = TB_CONGESTION_FECN;
	credits->fecn_threshold = 15 - below(random, 2) * below(random, 16);
	credits->fecn_packet_size = below(random, 3) ? 0 : below(random, 20);
	credits->marking_rate = below(random, 2) * below(random, 5);
	credits->fecn_victims = (enum tb_fecn_victims)below(random, 3);
	credits->ccti_limit = 1 + below(random, 200);
	credits->ccti_min = below(random, 3) ? 0 : below(random, credits->ccti_limit);
	credits->ccti_increase = 1 + below(random, 20);
	credits->ccti_timer_ps = (tb_time_ps)ONE_OF(random, 200000, 2000000, 20000000);
	credits->cct_shift = below(random, 4);
	credits->cct_square = (double)ONE_OF(random, 3, 50, 1000) / 1000;
}

// random_gaps has half of the networks limit how often messages begin, by gaps of up to
// some packets.
static inline void random_gaps(struct tb_random *random, struct tb_network_params *params)
{
	struct tb_credit_params *credits = tb_credit_params_mutable(params);
	if (below(random, 2))
		return;
	credits->message_gap_ps = (tb_time_ps)ONE_OF(random, 1, 5000, 40000, 300000);
	credits->queue_pair_gap_ps =
		credits->message_gap_ps * below(random, below(random, 2) ? 4 : 40);
}

// random_fetch has half of the networks fetch data of longer messages.
static inline void random_fetch(
	struct tb_random *random, struct tb_network_params *params)
{
	if (below(random, 2))
		return;
	tb_credit_params_mutable(params)->fetch_delay_ps =
		(tb_time_ps)ONE_OF(random, 1, 40000, 1000000);
	tb_credit_params_mutable(params)->inline_bytes =
		below(random, 2 * longest_wire(params));
}

// fit_cables gives the cables of an irregular network the buffers that they need.
static inline void fit_cables(struct tb_random *random, struct program *program)
{
	const struct tb_network_params *params = &program->params;
	for (uint32_t i = 0; i < CABLES_MOST; i++) {
		struct tb_cable *cable = &program->cables[i];
		uint64_t rate = cable->bytes_per_s ? cable->bytes_per_s
						   : params->link_bytes_per_s;
		tb_time_ps latency =
			cable->latency_ps ? cable->latency_ps : params->hop_latency_ps;
		cable->n_vcs = cable->n_vcs ? params->n_vcs : 0;
		cable->fifo_bytes = random_buffer(random, params, rate, latency);
	}
	program->n_top_nodes = below(random, 3);
}

// random_pgft is a tree of up to 27 nodes with cables that are doubled, tapered, or of
// other rates by level.
static inline void random_pgft(struct tb_random *random, struct tb_network_params *params)
{
	uint32_t h = 1 + below(random, 3), w[2], p[2];
	for (uint32_t i = 0; i < 2; i++) {
		w[i] = 1 + below(random, 3);
		p[i] = 1 + below(random, 2);
	}
	uint32_t m = 2 + below(random, 2);
	if (h == 1)
		snprintf(params->shape, sizeof params->shape, "pgft(1; %u; 1; 1)", m + 3);
	else if (h == 2)
		snprintf(params->shape, sizeof params->shape,
			"pgft(2; %u,%u; 1,%u; 1,%u)", m, m + 1, w[0], p[0]);
	else
		snprintf(params->shape, sizeof params->shape,
			"pgft(3; %u,%u,%u; 1,%u,%u; 1,%u,%u)", m, 2, 3, w[0], w[1], p[0],
			p[1]);
	if (below(random, 2) == 0)
		return;
	// As many as there are levels of cables, at most.
	char *rates = params->level_rates, *latencies = params->level_latencies;
	for (uint32_t i = 0; i < 3 && i < h; i++)
		rates += sprintf(
			rates, "%s%uMB/s", i ? " " : "", 100 + below(random, 400u << i));
	for (uint32_t i = 0; i < 2 && i < h; i++)
		latencies += sprintf(latencies, "%s%uns", i ? " " : "",
			1 + below(random, i ? 700 : 300));
	params->link_bytes_per_s = 1700000000; // the most, for the buffers
	params->hop_latency_ps = 700000;
}

// random_shape makes the network another one than a k-ary n-tree.
static inline void random_shape(
	struct tb_random *random, struct program *program, enum shape shape)
{
	struct tb_network_params *params = &program->params;
	if (shape == SHAPE_PGFT) {
		random_pgft(random, params);
		params->fifo_bytes = random_buffer(
			random, params, params->link_bytes_per_s, params->hop_latency_ps);
		return;
	}
	if (shape == SHAPE_WIDE) { // more ports than a word has bits
		params->arity = 60 + below(random, 80);
		params->levels = 1;
		return;
	}
	// What a flit is decides the sizes of FIFOs there.
	tb_circuit_params_mutable(params)->flit_bytes = 1;
	random_tree(random, program, shape == SHAPE_MIXED);
	tb_circuit_params_mutable(params)->flit_bytes = 0;
	fit_cables(random, program);
}

// random_load adds to the posts: more bytes, slow receivers.
static inline void random_load(struct tb_random *random, struct program *program)
{
	uint32_t times = below(random, 4) ? 1 : 1 + below(random, 5);
	for (uint32_t i = 0; i < program->n_posts; i++)
		program->posts[i].bytes *= times;
	for (uint32_t i = 0; i < 2 && below(random, 4) == 0; i++)
		program->slow[i] = (struct slow){
			program->posts[below(random, program->n_posts)].destination,
			any_rate(random)};
	for (uint32_t i = 0; i < JOBS_MOST; i++)
		program->service_levels[i] = (uint8_t)below(random, TB_SLS);
}

static inline struct program random_credit_program(uint64_t seed, enum shape shape)
{
	struct tb_random random;
	struct program program = {.seed = seed};
	tb_random_init(&random, seed, 200 + (uint64_t)shape);
	random_credit_params(&random, &program.params);
	if (shape != SHAPE_TREE)
		random_shape(&random, &program, shape);
	random_posts(&random, &program);
	random_load(&random, &program);
	program.open_loop = below(&random, 4) == 0;
	program.bin_ps = (tb_time_ps)ONE_OF(&random, 77777, 1000000, 10000000, 0);
	random_congestion(&random, &program.params);
	random_gaps(&random, &program.params);
	random_fetch(&random, &program.params);
	return program;
}

#endif

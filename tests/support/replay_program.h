// Random replays for property tests: a network, its faults and the messages to post.
#ifndef TB_TESTS_REPLAY_PROGRAM_H
#define TB_TESTS_REPLAY_PROGRAM_H

#include "circuit_params.h"
#include "faults.h"
#include "network_builder.h"
#include "network_impl.h"
#include "network_open.h"
#include "random.h"
#include "route_file.h"
#include "slow_nodes.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	POSTS_MOST = 48,
	JOBS_MOST = 3,
	FAULTS_MOST = 6,
	CABLES_MOST = 64,
	LINKS_MOST = 256,
	N_ASCENTS = TB_ASCENT_TABLE
};

// A message: posted at a time, or when an earlier one is sent or delivered.
struct post {
	enum { POST_AT, POST_AFTER_SENT, POST_AFTER_DELIVERED } when;
	tb_time_ps at; // POST_AT: the time; otherwise the delay after the event
	uint32_t after;
	uint32_t source, destination, job;
	uint32_t n_receivers; // above 1: a broadcast
	bool captured;
	uint64_t bytes;
};

struct program {
	uint64_t seed;
	struct tb_network_params params;
	// n_leaves 0: a k-ary n-tree. Otherwise leaf and top switches, joined by cables.
	uint32_t n_leaves, n_tops, nodes_a_leaf[4];
	struct tb_cable cables[CABLES_MOST]; // those of nodes first; VCs 0: missing
	bool by_table;			     // its routes come from a route file
	bool open_loop; // the source is not informed of sent messages
	tb_time_ps bin_ps;
	uint32_t n_posts;
	struct post posts[POSTS_MOST];
	bool ideal;		       // its nodes, on the ideal network
	uint32_t n_parts, n_threads;   // of the engine; 0: as it likes
	struct tb_peer_streams *peers; // of the engine; NULL: none
	uint64_t *job_bytes;	       // of the engine; NULL: none
	uint64_t n_between; // windows between two checkpoints; 0: there are none
	uint32_t n_faults;
	struct tb_fault faults[FAULTS_MOST]; // ids modulo the number in the network
	// With credits.
	uint8_t service_levels[JOBS_MOST];
	uint32_t n_top_nodes; // of an irregular network, at its first top
	struct slow {	      // receivers; rate 0: none
		uint32_t node;
		uint64_t bytes_per_s;
	} slow[2];
};

static inline uint32_t below(struct tb_random *random, uint32_t bound)
{
	return (uint32_t)tb_random_below(random, bound);
}

static inline uint64_t one_of(struct tb_random *random, const uint64_t *values, size_t n)
{
	return values[tb_random_below(random, n)];
}

#define ONE_OF(random, ...)                                                              \
	one_of(random, (const uint64_t[]){__VA_ARGS__},                                  \
		sizeof((const uint64_t[]){__VA_ARGS__}) / sizeof(uint64_t))

// Rates with whole picoseconds per byte, and some without.
static inline uint64_t any_rate(struct tb_random *random)
{
	return ONE_OF(random, 400000000, 1000000000, 250000000, 125000000, 700000000,
		12500000000);
}

static inline void random_params(
	struct tb_random *random, struct tb_network_params *params)
{
	uint32_t flit = (uint32_t)ONE_OF(random, 1, 2, 7, 16, 64);
	uint32_t flits = 1 + below(random, 40); // of payload
	*params = (struct tb_network_params){
		.name = "random",
		.arity = 2 + below(random, 3),
		.levels = 1 + below(random, 3),
		.ascent = below(random, 3) ? TB_ASCENT_ADAPTIVE
					   : (enum tb_ascent)below(random, N_ASCENTS),
		.link_bytes_per_s = any_rate(random),
		.hop_latency_ps =
			(tb_time_ps)ONE_OF(random, 1, 10000, 35000, 40000, 700000),
		.n_vcs = 1 + below(random, 4),
		.fifo_bytes = flit * (1 + below(random, 12)) + below(random, flit),
	};
	struct tb_circuit_params *circuits = tb_circuit_params_mutable(params);
	circuits->flit_bytes = flit;
	circuits->link_tokens = (double)below(random, 4) / 4;
	params->packet_payload_bytes = 1 + below(random, flit * flits);
	params->packet_overhead_bytes = below(random, 2) ? below(random, 3 * flit) : 0;
	circuits->bus_bytes_per_s = below(random, 3) ? any_rate(random) : 0;
	circuits->ack_delay_ps = (tb_time_ps)ONE_OF(random, 0, 0, 200000, 3000000);
	params->send_overhead_ps = (tb_time_ps)ONE_OF(random, 0, 0, 40000, 1000000);
	params->receive_overhead_ps = (tb_time_ps)ONE_OF(random, 0, 0, 700000);
	circuits->age_weight = (double)below(random, 6) / 5;
	if (params->arity == 4 && params->levels == 3)
		params->levels = 2;
	if (below(random, 2))
		circuits->slice_bytes =
			1 + below(random, 4 * params->packet_payload_bytes);
	if (below(random, 2))
		circuits->partners = 1 + below(random, 3);
	circuits->partner_delay_ps = (tb_time_ps)ONE_OF(random, 0, 460000, 2000000);
}

// random_tree: up to four leaves below up to three tops, cables of different VCs and
// FIFOs, some doubled or missing; with `mixed`, of different rates and latencies.
static inline void random_tree(
	struct tb_random *random, struct program *program, bool mixed)
{
	const struct tb_network_params *params = &program->params;
	program->n_leaves = 2 + below(random, 3);
	program->n_tops = 1 + below(random, 3);
	for (uint32_t i = 0; i < program->n_leaves; i++)
		program->nodes_a_leaf[i] = 1 + below(random, 4);
	// Whole picoseconds per byte, or any number.
	uint64_t unit = below(random, 2) ? UINT64_C(2000000000) / (1 + below(random, 4))
					 : 100000003;
	for (uint32_t i = 0; i < CABLES_MOST; i++) {
		struct tb_cable *cable = &program->cables[i];
		*cable = (struct tb_cable){.n_vcs = 1 + below(random, 3),
			.fifo_bytes =
				params->fifo_bytes * (1 + below(random, 4)) +
				below(random, tb_circuit_params(params)->flit_bytes)};
		if (mixed) {
			cable->bytes_per_s = unit > 200000000
						     ? unit / (1 + below(random, 4))
						     : unit * (1 + below(random, 8));
			cable->latency_ps = 1 + below(random, 50000);
		}
		// The first top connects all leaves; of the other cables a quarter is
		// missing.
		if (i >= 20 && below(random, 4) == 0)
			cable->n_vcs = 0;
	}
}

static inline uint32_t n_nodes_of(const struct program *program)
{
	uint32_t n = 1;
	struct tb_shape shape;
	if (program->params.shape[0] &&
		tb_shape_parse(&shape, program->params.shape, NULL) == TB_OK)
		return tb_shape_n_nodes(&shape);
	for (uint32_t i = 0; i < program->params.levels; i++)
		n *= program->params.arity;
	if (program->n_leaves == 0)
		return n;
	n = 0;
	for (uint32_t i = 0; i < program->n_leaves; i++)
		n += program->nodes_a_leaf[i];
	return n + program->n_top_nodes;
}

static inline void random_posts(struct tb_random *random, struct program *program)
{
	const struct tb_network_params *params = &program->params;
	uint32_t n_nodes = n_nodes_of(program);
	uint32_t hot = below(random, n_nodes), hot_share = below(random, 4);
	// Most posts fall on the same time as others; steps are of the size of a packet's
	// transfer time.
	tb_time_ps step = (tb_time_ps)ONE_OF(random, 0, 0, 1, 5000, 40000, 1000000);
	uint64_t most = params->packet_payload_bytes * (uint64_t)(1 + below(random, 8));
	tb_time_ps at = 0;
	program->n_posts = 1 + below(random, POSTS_MOST);
	for (uint32_t i = 0; i < program->n_posts; i++) {
		struct post *post = &program->posts[i];
		at += step * below(random, 4);
		*post = (struct post){.at = at,
			.source = below(random, n_nodes),
			.destination = below(random, n_nodes),
			.job = below(random, JOBS_MOST),
			.bytes = below(random, 6) ? tb_random_below(random, most) : 0};
		if (below(random, 4) < hot_share)
			post->destination = hot;
		if (i > 0 && below(random, 4) == 0) {
			post->when = 1 + below(random, 2);
			post->after = below(random, i);
			post->source = program->posts[post->after].destination;
			post->at = step * below(random, 2);
		}
	}
}

// Those from SHAPE_PGFT on are of networks with credits.
enum shape { SHAPE_TREE, SHAPE_IRREGULAR, SHAPE_MIXED, SHAPE_PGFT, SHAPE_WIDE };

// random_memory has messages lie in main memory, and packets carry whole blocks.
static inline void random_memory(
	struct tb_random *random, struct tb_network_params *params)
{
	struct tb_circuit_params *circuits = tb_circuit_params_mutable(params);
	uint32_t n_blocks = 1 + below(random, 5);
	if (below(random, 3) == 0 && params->packet_payload_bytes % n_blocks == 0)
		circuits->write_block_bytes = params->packet_payload_bytes / n_blocks;
	if (below(random, 3) == 0) {
		circuits->buffers = (enum tb_buffers)(1 + below(random, 3));
		circuits->pci_bytes_per_s = any_rate(random);
		if (circuits->buffers == TB_BUFFERS_MAIN)
			circuits->pci_turn_ps = circuits->bus_turn_ps / 2;
	}
}

static inline struct program random_program(uint64_t seed, enum shape shape)
{
	struct tb_random random;
	struct program program = {.seed = seed};
	tb_random_init(&random, seed, shape);
	random_params(&random, &program.params);
	if (shape != SHAPE_TREE)
		random_tree(&random, &program, shape == SHAPE_MIXED);
	random_posts(&random, &program);
	program.open_loop = below(&random, 4) == 0;
	program.bin_ps = (tb_time_ps)ONE_OF(&random, 77777, 1000000, 10000000, 0);
	tb_circuit_params_mutable(&program.params)->bus_turn_ps =
		(tb_time_ps)ONE_OF(&random, 0, 10000, 600000);
	random_memory(&random, &program.params);
	return program;
}

// random_faults lets cables, and switches now and then, die while messages are under way.
static inline void random_faults(struct tb_random *random, struct program *program)
{
	struct tb_network_params *params = &program->params;
	params->retries = below(random, 4);
	program->by_table = program->n_leaves &&
			    params->ascent == TB_ASCENT_DETERMINISTIC && below(random, 2);
	params->retry_delay_ps = (tb_time_ps)ONE_OF(random, 0, 0, 1000, 300000);
	tb_time_ps span = program->posts[program->n_posts - 1].at + 3000000;
	program->n_faults = 1 + below(random, FAULTS_MOST);
	for (uint32_t i = 0; i < program->n_faults; i++) {
		struct tb_fault *fault = &program->faults[i];
		*fault = (struct tb_fault){
			.is_switch = below(random, 8) == 0, .id = below(random, 1 << 20)};
		if (below(random, 5))
			fault->at_ps =
				(tb_time_ps)tb_random_below(random, (uint64_t)span);
		if (i > 0 && below(random, 4) == 0)
			fault->at_ps = program->faults[i - 1].at_ps;
	}
}

static inline int plug(const struct program *program, struct tb_network_builder *builder,
	struct tb_error *error)
{
	struct tb_switch leaves[4], tops[3];
	uint32_t n_up = 2 * program->n_tops;
	uint32_t cable = 0;
	int status = TB_OK;
	for (uint32_t i = 0; i < program->n_leaves && status == TB_OK; i++)
		status = tb_network_add_switch(builder, 0, 4, n_up, &leaves[i], error);
	for (uint32_t i = 0; i < program->n_tops && status == TB_OK; i++)
		status = tb_network_add_switch(builder, 1,
			2 * program->n_leaves + program->n_top_nodes, 0, &tops[i], error);
	for (uint32_t i = 0; i < program->n_leaves; i++)
		for (uint32_t port = 0;
			port < program->nodes_a_leaf[i] && status == TB_OK; port++)
			status = tb_network_add_node(builder, leaves[i], port,
				&program->cables[i * 4 + port], error);
	for (uint32_t i = 0; i < program->n_top_nodes && status == TB_OK; i++)
		status = tb_network_add_node(builder, tops[0], 2 * program->n_leaves + i,
			&program->cables[i], error);
	for (uint32_t top = 0; top < program->n_tops; top++)
		for (uint32_t i = 0; i < 2 * program->n_leaves && status == TB_OK; i++) {
			cable = 16 + top * 8 + i;
			// The first top keeps its even cables, so that all stay
			// connected.
			if (i / program->n_leaves == 0 && top == 0)
				cable = i;
			if (program->cables[cable].n_vcs)
				status = tb_network_add_cable(builder,
					leaves[i % program->n_leaves],
					4 + 2 * top + i / program->n_leaves, tops[top], i,
					&program->cables[cable], error);
		}
	return status;
}

// write_routes writes the routes of an irregular network as a route file.
static inline void write_routes(const struct tb_network *net, FILE *stream)
{
	for (uint32_t sw = 0; sw < net->n_switches; sw++) {
		fprintf(stream,
			"Unicast lids [0x1-0x%x] of switch Lid %u guid 0 ('%u.%u'):\n",
			net->n_nodes, net->n_nodes + 1 + sw, net->switches[sw].level,
			net->switches[sw].index);
		for (uint32_t to = 0; to < net->n_nodes; to++) {
			uint32_t link = net->routes[(size_t)sw * net->n_nodes + to];
			if (link != TB_ROUTE_NONE)
				fprintf(stream, "0x%04x %03u\n", to + 1,
					net->links[link].from_port + 1);
		}
	}
}

// by_table writes a network's routes to a route file and reads them back.
static inline int by_table(struct tb_network *net, struct tb_error *error)
{
	char *text = NULL;
	size_t size = 0;
	FILE *stream = open_memstream(&text, &size);
	write_routes(net, stream);
	fclose(stream);
	stream = fmemopen(text, size, "r");
	int status = tb_route_file_read(net, stream, "routes", error);
	fclose(stream);
	free(text);
	return status;
}

// slow_down makes a program's slow receivers.
static inline struct tb_network *slow_down(
	const struct program *program, struct tb_network *net)
{
	for (uint32_t i = 0; i < 2; i++)
		if (program->slow[i].bytes_per_s)
			(void)!tb_network_set_drain(net,
				(struct tb_node){program->slow[i].node},
				program->slow[i].bytes_per_s);
	return net;
}

// network_of builds a program's network; NULL on failure, with `error` filled.
static inline struct tb_network *network_of(
	const struct program *program, struct tb_error *error)
{
	struct tb_network *net = NULL;
	struct tb_network_builder *builder = NULL;
	if (program->n_leaves == 0) {
		if (tb_network_open(&net,
			    &(struct tb_network_description){.params = &program->params},
			    error) != TB_OK)
			return NULL;
		return slow_down(program, net);
	}
	int status = tb_network_builder_new(&builder, &program->params, error);
	if (status == TB_OK)
		status = plug(program, builder, error);
	if (status == TB_OK)
		status = tb_network_finish(builder, &net, error);
	if (status == TB_OK && program->by_table && by_table(net, error) != TB_OK) {
		tb_network_free(net);
		net = NULL;
	}
	tb_network_builder_free(builder);
	return net ? slow_down(program, net) : NULL;
}

// faults_of makes a program's faults; NULL if it has none.
static inline struct tb_faults *faults_of(
	const struct program *program, const struct tb_network *net)
{
	struct tb_faults *faults = NULL;
	if (program->n_faults == 0 || tb_faults_new(&faults, net, NULL) != TB_OK)
		return NULL;
	for (uint32_t i = 0; i < program->n_faults; i++) {
		struct tb_fault fault = program->faults[i];
		fault.id %= fault.is_switch ? tb_network_n_switches(net)
					    : tb_network_n_links(net);
		(void)!tb_faults_put(faults, fault, NULL);
	}
	return faults;
}

#endif

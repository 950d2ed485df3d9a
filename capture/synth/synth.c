#include "synth.h"

#include "nearest.h"
#include "random.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

// The traffic patterns, and the search by name.

// n_bits returns the number of binary coordinates of a node; n_nodes is a power of two.
static unsigned n_bits(const struct tb_synth_options *options)
{
	unsigned n = 0;
	while ((UINT32_C(1) << n) < options->n_nodes)
		n++;
	return n;
}

static uint32_t uniform(
	const struct tb_synth_options *options, uint32_t node, struct tb_random *random)
{
	// Draw among the other nodes, and skip the node itself.
	uint32_t drawn = (uint32_t)tb_random_below(random, options->n_nodes - 1);
	return drawn + (drawn >= node);
}

static uint32_t bit_reversal(
	const struct tb_synth_options *options, uint32_t node, struct tb_random *random)
{
	(void)random;
	uint32_t reversed = 0;
	for (unsigned i = 0; i < n_bits(options); i++)
		reversed = reversed << 1 | (node >> i & 1);
	return reversed;
}

static uint32_t butterfly(
	const struct tb_synth_options *options, uint32_t node, struct tb_random *random)
{
	(void)random;
	uint32_t ends = options->n_nodes / 2 | 1;
	bool differ = (node & ends) != 0 && (node & ends) != ends;
	return differ ? node ^ ends : node;
}

static uint32_t complement(
	const struct tb_synth_options *options, uint32_t node, struct tb_random *random)
{
	(void)random;
	return options->n_nodes - 1 - node;
}

// rotate_node_bits rotates the binary coordinates.
static uint32_t rotate_node_bits(
	const struct tb_synth_options *options, uint32_t node, unsigned by)
{
	unsigned n = n_bits(options);
	return (node << by | node >> (n - by)) & (options->n_nodes - 1);
}

// transpose: with an odd number of coordinates the matrix has twice as many columns as
// rows.
static uint32_t transpose(
	const struct tb_synth_options *options, uint32_t node, struct tb_random *random)
{
	(void)random;
	return rotate_node_bits(options, node, n_bits(options) - n_bits(options) / 2);
}

static uint32_t shuffle_node(
	const struct tb_synth_options *options, uint32_t node, struct tb_random *random)
{
	(void)random;
	return rotate_node_bits(options, node, 1);
}

static uint32_t neighbour(
	const struct tb_synth_options *options, uint32_t node, struct tb_random *random)
{
	(void)options, (void)random;
	return node ^ 1;
}

static uint32_t hot_spot(
	const struct tb_synth_options *options, uint32_t node, struct tb_random *random)
{
	(void)node, (void)random;
	return options->hot;
}

static uint32_t ping(
	const struct tb_synth_options *options, uint32_t node, struct tb_random *random)
{
	(void)random;
	return node == 0 ? options->n_nodes - 1 : node;
}

static uint32_t ping_both(
	const struct tb_synth_options *options, uint32_t node, struct tb_random *random)
{
	(void)random;
	uint32_t last = options->n_nodes - 1;
	return node == 0 || node == last ? last - node : node;
}

// synth_io_node returns the i-th I/O node: one of the highest nodes, or of nodes at a
// fixed stride.
static uint32_t synth_io_node(const struct tb_synth_options *options, uint32_t i)
{
	uint32_t stride = options->n_nodes / options->n_io;
	return options->io_distributed ? i * stride + stride - 1
				       : options->n_nodes - options->n_io + i;
}

// io_index returns the index of a node among the I/O nodes, or n_io if it is none of
// them; it counts I/O nodes with a lower number in `before`.
static uint32_t io_index(
	const struct tb_synth_options *options, uint32_t node, uint32_t *before)
{
	uint32_t index = options->n_io;
	*before = 0;
	for (uint32_t i = 0; i < options->n_io; i++) {
		uint32_t other = synth_io_node(options, i);
		*before += other < node;
		if (other == node)
			index = i;
	}
	return index;
}

static uint32_t io_random(
	const struct tb_synth_options *options, uint32_t node, struct tb_random *random)
{
	uint32_t before;
	uint32_t self = io_index(options, node, &before);
	bool serves = self < options->n_io;
	if (serves && options->dedicated)
		return node;
	uint32_t drawn = (uint32_t)tb_random_below(random, options->n_io - serves);
	return synth_io_node(options, drawn + (drawn >= self));
}

// io_fixed assigns I/O nodes to senders in turn. An I/O node never gets itself, but the
// next one.
static uint32_t io_fixed(
	const struct tb_synth_options *options, uint32_t node, struct tb_random *random)
{
	(void)random;
	uint32_t before;
	uint32_t self = io_index(options, node, &before);
	if (self < options->n_io && options->dedicated)
		return node;
	uint32_t turn = (options->dedicated ? node - before : node) % options->n_io;
	return synth_io_node(options, turn == self ? (turn + 1) % options->n_io : turn);
}

const struct tb_synth_pattern tb_synth_patterns[] = {
	{"uniform", "each message to another node at random", 1, uniform},
	{"bit-reversal", "to the node with the binary digits reversed", 0, bit_reversal},
	{"butterfly", "first and last binary digit swapped", 0, butterfly},
	{"complement", "all binary digits inverted", 0, complement},
	{"transpose", "upper and lower half of the binary digits swapped", 0, transpose},
	{"shuffle", "binary digits rotated left by one", 0, shuffle_node},
	{"neighbour", "0 with 1, 2 with 3, and so on", 2, neighbour},
	{"stencil", "to the six neighbours on a grid, in rounds (--messages)", 1, NULL},
	{"hot-spot", "all to one node (--hot)", 1, hot_spot},
	{"ping", "node 0 to the last node", 1, ping},
	{"ping-both", "node 0 to the last node, and back", 1, ping_both},
	{"io-random", "each message to one of some nodes (--io-nodes) at random", 1,
		io_random},
	{"io-fixed", "each node to one of some nodes (--io-nodes)", 1, io_fixed},
	{NULL, NULL, 0, NULL},
};

int tb_synth_pattern_find(
	const struct tb_synth_pattern **pattern, const char *name, struct tb_error *error)
{
	size_t n = 0;
	for (const struct tb_synth_pattern *p = tb_synth_patterns; p->name; p++, n++) {
		if (strcmp(p->name, name) == 0) {
			*pattern = p;
			return TB_OK;
		}
	}
	struct tb_hint hint;
	return tb_fail(error, TB_EUSAGE, "no pattern is called '%s'%s", name,
		tb_hint_near(&hint, name, &tb_synth_patterns->name, n,
			sizeof *tb_synth_patterns));
}

bool tb_synth_pattern_has_io(const struct tb_synth_pattern *pattern)
{
	return pattern->destination == io_random || pattern->destination == io_fixed;
}

const char *const tb_synth_dists[] = {"fixed", "uniform", "exponential", NULL};

int tb_synth_dist_find(enum tb_synth_dist *dist, const char *name, struct tb_error *error)
{
	for (unsigned i = 0; tb_synth_dists[i]; i++) {
		if (strcmp(name, tb_synth_dists[i]) == 0) {
			*dist = (enum tb_synth_dist)i;
			return TB_OK;
		}
	}
	return tb_fail(error, TB_EUSAGE,
		"a distribution is fixed, uniform or exponential, not '%s'", name);
}

#define CALC_CPU   1
#define LONGEST_NS 8.64e15 // 100 days; simulated time in ps overflows after 106

// The random streams of a node.
enum { STREAM_DESTINATION, STREAM_SIZE, STREAM_TIME, N_STREAMS };

struct synth_message {
	uint64_t bytes;
	uint32_t source, destination;
};

// All messages, source after source.
struct traffic {
	const struct tb_synth_options *options;
	struct synth_message *messages;
	uint32_t *first;    // n_nodes + 1: messages from a node
	uint32_t *first_to; // n_nodes + 1: into `towards`
	uint32_t *towards;  // messages by destination
};

static bool traffic_init(struct traffic *traffic, const struct tb_synth_options *options)
{
	size_t n = (size_t)options->n_nodes * options->n_messages;
	traffic->options = options;
	traffic->messages = malloc(n * sizeof *traffic->messages);
	traffic->towards = malloc(n * sizeof *traffic->towards);
	traffic->first = calloc((size_t)options->n_nodes + 1, sizeof *traffic->first);
	traffic->first_to =
		calloc((size_t)options->n_nodes + 1, sizeof *traffic->first_to);
	return traffic->messages && traffic->towards && traffic->first &&
	       traffic->first_to;
}

static void stream_init(
	struct tb_random *random, const struct traffic *traffic, uint32_t node, int which)
{
	tb_random_init(random, traffic->options->seed,
		(uint64_t)node * N_STREAMS + (uint64_t)which);
}

// draw_factor draws a number by which the mean is multiplied.
static double draw_factor(enum tb_synth_dist dist, struct tb_random *random)
{
	switch (dist) {
	case TB_SYNTH_FIXED:
		return 1;
	case TB_SYNTH_UNIFORM:
		return 2 * tb_random_unit(random);
	case TB_SYNTH_EXPONENTIAL:
		return tb_random_exponential(random);
	}
	return 1;
}

static uint64_t draw_message_bytes(
	const struct tb_synth_options *options, struct tb_random *random)
{
	if (options->size_dist == TB_SYNTH_FIXED)
		return options->message_bytes;
	double bytes =
		(double)options->message_bytes * draw_factor(options->size_dist, random) +
		0.5;
	return bytes < 1 ? 1 : (uint64_t)bytes;
}

// mean_gap_ns returns the mean time between messages; 0 without a load.
static double mean_gap_ns(const struct tb_synth_options *options)
{
	uint64_t rate = options->rate_bytes_per_s ? options->rate_bytes_per_s
						  : TB_SYNTH_RATE_BYTES_PER_S;
	if (options->load <= 0)
		return 0;
	return (double)options->message_bytes * 1e9 / (double)rate / options->load;
}

static void traffic_add_sends(
	struct tb_job_builder *builder, const struct traffic *traffic, uint32_t node)
{
	const struct tb_synth_options *options = traffic->options;
	double gap_ns = mean_gap_ns(options);
	double due_ns = 0;
	uint64_t last_ns = 0;
	uint32_t on = TB_ID_NONE;
	struct tb_random times;
	stream_init(&times, traffic, node, STREAM_TIME);
	for (uint32_t i = traffic->first[node]; i < traffic->first[node + 1]; i++) {
		if (options->load > 0) {
			due_ns += gap_ns * draw_factor(options->time_dist, &times);
			uint64_t now_ns = (uint64_t)(due_ns + 0.5);
			// Add the calc that issues a node's next message, after the calc
			// before it. The times at which calcs end are rounded, not their
			// lengths, so that the chain does not drift.
			struct tb_op op = {.kind = TB_OP_CALC,
				.amount = now_ns - last_ns,
				.cpu = CALC_CPU};
			uint32_t before = on;
			on = tb_job_add(builder, node, &op);
			if (before != TB_ID_NONE)
				tb_job_depend(builder, node, on, before, false);
			last_ns = now_ns;
		}
		struct tb_op op = {.kind = TB_OP_SEND,
			.amount = traffic->messages[i].bytes,
			.peer = traffic->messages[i].destination};
		uint32_t send = tb_job_add(builder, node, &op);
		if (on != TB_ID_NONE)
			tb_job_depend(builder, node, send, on, false);
		if (options->load <= 0)
			on = send;
	}
}

int tb_synth_check_nodes(const struct tb_synth_options *o, struct tb_error *error)
{
	const struct tb_synth_pattern *pattern = o->pattern;
	if (o->n_nodes < 2 || o->n_nodes > TB_RANKS_MAX)
		return tb_fail(error, TB_EUSAGE,
			"traffic needs 2 to %" PRIu32 " nodes, not %" PRIu32,
			TB_RANKS_MAX, o->n_nodes);
	if (pattern->multiple_of == 0 && (o->n_nodes & (o->n_nodes - 1)) != 0)
		return tb_fail(error, TB_EUSAGE,
			"%s moves binary digits: the number of nodes must be a power of "
			"two, not %" PRIu32,
			pattern->name, o->n_nodes);
	if (pattern->multiple_of > 1 && o->n_nodes % pattern->multiple_of != 0)
		return tb_fail(error, TB_EUSAGE,
			"the number of nodes for %s must be a multiple of %" PRIu32
			", not %" PRIu32,
			pattern->name, pattern->multiple_of, o->n_nodes);
	if (o->hot >= o->n_nodes)
		return tb_fail(error, TB_EUSAGE,
			"node %" PRIu32 " cannot be hot: the nodes are 0 to %" PRIu32,
			o->hot, o->n_nodes - 1);
	if (tb_synth_pattern_has_io(pattern) && (o->n_io < 2 || o->n_io > o->n_nodes / 2))
		return tb_fail(error, TB_EUSAGE,
			"%" PRIu32 " I/O nodes of %" PRIu32
			": expected 2 to half of the nodes",
			o->n_io, o->n_nodes);
	return TB_OK;
}

// n_ops returns how many operations a node has at most.
static uint64_t n_ops(const struct tb_synth_options *o)
{
	uint64_t of_message = !o->pattern->destination ? 13 : o->load > 0 ? 3 : 2;
	return of_message * o->n_messages;
}

static int check_synth_messages(const struct tb_synth_options *o, struct tb_error *error)
{
	if (o->load < 0 || o->n_messages < 1)
		return tb_fail(error, TB_EUSAGE,
			"expected a load of at least 0 and at least 1 message");
	if (o->message_bytes == 0 && (o->load > 0 || o->size_dist != TB_SYNTH_FIXED))
		return tb_fail(error, TB_EUSAGE,
			"messages of 0 bytes have neither load nor distribution");
	if ((double)o->n_messages * mean_gap_ns(o) > LONGEST_NS)
		return tb_fail(error, TB_EUSAGE,
			"%" PRIu32 " messages at that load take longer than 100 days",
			o->n_messages);
	if (!o->pattern->destination && (o->load > 0 || o->size_dist != TB_SYNTH_FIXED))
		return tb_fail(error, TB_EUSAGE,
			"%s sends when its neighbours have sent, as much to each: it has "
			"neither load nor distribution",
			o->pattern->name);
	if (n_ops(o) * o->n_nodes > INT32_MAX)
		return tb_fail(error, TB_ECAPACITY,
			"%" PRIu32 " messages from each of %" PRIu32
			" nodes are more operations than a job can hold (%d)",
			o->n_messages, o->n_nodes, INT32_MAX);
	return TB_OK;
}

static void build_traffic(struct tb_job_builder *builder, struct traffic *traffic)
{
	const struct tb_synth_options *options = traffic->options;
	uint32_t n = 0, n_nodes = options->n_nodes, sum = 0;
	for (uint32_t node = 0; node < n_nodes; node++) {
		struct tb_random destinations, sizes;
		stream_init(&destinations, traffic, node, STREAM_DESTINATION);
		stream_init(&sizes, traffic, node, STREAM_SIZE);
		traffic->first[node] = n;
		for (uint32_t i = 0; i < options->n_messages; i++) {
			uint32_t to = options->pattern->destination(
				options, node, &destinations);
			if (to == node)
				break; // silent: permutations have fixed points
			traffic->messages[n++] = (struct synth_message){
				draw_message_bytes(options, &sizes), node, to};
		}
	}
	traffic->first[n_nodes] = n;
	// List the messages by destination, and those of a destination by source.
	for (uint32_t i = 0; i < n; i++)
		traffic->first_to[traffic->messages[i].destination]++;
	for (uint32_t node = 0; node <= n_nodes; node++)
		traffic->first_to[node] = sum += traffic->first_to[node];
	for (uint32_t i = n; i-- > 0;)
		traffic->towards[--traffic->first_to[traffic->messages[i].destination]] =
			i;
	for (uint32_t node = 0; node < n_nodes; node++) {
		for (uint32_t i = traffic->first_to[node];
			i < traffic->first_to[node + 1]; i++) {
			const struct synth_message *message =
				&traffic->messages[traffic->towards[i]];
			struct tb_op op = {.kind = TB_OP_RECV,
				.amount = message->bytes,
				.peer = message->source};
			tb_job_add(builder, node, &op);
		}
		traffic_add_sends(builder, traffic, node);
	}
}

// A stencil: ranks on a grid of three dimensions whose ends meet exchange their faces.
//
// The grid is as close to a cube as the number of ranks allows, and ranks go through its
// first dimension fastest. In each round a rank sends to all of its neighbours, when it
// has sent and received all of the round before: an empty calc joins these, so that a
// rank has one dependency for each of them, not for each pair.
#define SIDES 6 // the most neighbours of a rank

// largest_divisor returns the largest of n that is at most `root`, the root of n to the
// power of 1 / `dimensions`.
static uint32_t largest_divisor(uint32_t n, unsigned dimensions)
{
	uint32_t best = 1;
	for (uint32_t i = 1;; i++) {
		uint64_t power = 1;
		for (unsigned k = 0; k < dimensions; k++)
			power *= i;
		if (power > n)
			return best;
		if (n % i == 0)
			best = i;
	}
}

uint32_t tb_stencil_neighbours(uint32_t n, uint32_t rank, uint32_t neighbours[SIDES])
{
	uint32_t last = largest_divisor(n, 3);
	uint32_t middle = largest_divisor(n / last, 2);
	const uint32_t sides[3] = {n / last / middle, middle, last}; // longest first
	uint32_t n_found = 0, stride = 1;
	for (int i = 0; i < 3; i++) {
		uint32_t side = sides[i], at = rank / stride % side;
		uint32_t base = rank - at * stride;
		if (side > 1)
			neighbours[n_found++] = base + (at + 1) % side * stride;
		if (side > 2)
			neighbours[n_found++] = base + (at + side - 1) % side * stride;
		stride *= side;
	}
	return n_found;
}

// add_messages adds the sends or receives of a rank's round, and lists them. Sends wait
// for `joint`, the calc of the round before; TB_ID_NONE: there was none.
static void add_messages(struct tb_job_builder *builder, uint32_t rank, struct tb_op op,
	const uint32_t *neighbours, uint32_t n, uint32_t joint, uint32_t *added)
{
	for (uint32_t i = 0; i < n; i++) {
		op.peer = neighbours[i];
		added[i] = tb_job_add(builder, rank, &op);
		if (op.kind == TB_OP_SEND && joint != TB_ID_NONE)
			tb_job_depend(builder, rank, added[i], joint, false);
	}
}

// build_stencil adds the operations of all ranks; the options are checked.
static void build_stencil(
	struct tb_job_builder *builder, const struct tb_synth_options *options)
{
	const struct tb_op nothing = {.kind = TB_OP_CALC};
	struct tb_op op = {.amount = options->message_bytes};
	for (uint32_t rank = 0; rank < options->n_nodes; rank++) {
		uint32_t neighbours[SIDES], added[2 * SIDES], joint = TB_ID_NONE;
		uint32_t n = tb_stencil_neighbours(options->n_nodes, rank, neighbours);
		for (uint32_t i = 0; i < options->n_messages; i++) {
			op.kind = TB_OP_RECV;
			add_messages(builder, rank, op, neighbours, n, joint, added);
			op.kind = TB_OP_SEND;
			add_messages(builder, rank, op, neighbours, n, joint, added + n);
			joint = tb_job_add(builder, rank, &nothing);
			for (uint32_t j = 0; j < 2 * n; j++)
				tb_job_depend(builder, rank, joint, added[j], false);
		}
	}
}

int tb_synth_job(struct tb_job **job, const struct tb_synth_options *options,
	struct tb_error *error)
{
	int status = tb_synth_check_nodes(options, error);
	TB_THEN(status, check_synth_messages(options, error));
	if (status != TB_OK)
		return status;
	struct tb_job_builder *builder = NULL;
	status = tb_job_builder_new(&builder, options->n_nodes, error);
	if (status == TB_OK && options->pattern->destination) {
		struct traffic traffic = {0};
		if (traffic_init(&traffic, options))
			build_traffic(builder, &traffic);
		else
			status = tb_fail_memory(error, "so many messages");
		free(traffic.messages);
		free(traffic.first);
		free(traffic.first_to);
		free(traffic.towards);
	} else if (status == TB_OK)
		build_stencil(builder, options);
	TB_THEN(status, tb_job_finish(builder, "", job, error));
	tb_job_builder_free(builder);
	return status;
}

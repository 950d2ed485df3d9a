// The traffic patterns, and the search by name.
#include "synth.h"

#include "nearest.h"
#include "random.h"

#include <string.h>

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

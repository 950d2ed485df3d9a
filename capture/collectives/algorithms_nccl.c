// NCCL's rings, chains and trees. Members of one host are neighbours in them. The data of
// a member are cut into pieces: one per channel and turn, which each has a port of the
// plan, and no piece is larger than the chunk that fits into a channel's buffer.
#include "algorithms.h"

#include <stdlib.h>

#define N_CHANNELS  2
#define CHUNK_BYTES (UINT64_C(2) << 20)
#define SMALL_BYTES (UINT64_C(64) << 10) // one channel carries it

// The members by host, hosts in the order in which they appear. `heads` are the places of
// the first members of hosts in it.
struct host_order {
	uint32_t *members, *heads;
	uint32_t n, n_hosts;
};

static uint32_t host_of(const struct tb_collective_shape *shape, uint32_t member)
{
	return shape->hosts ? shape->hosts[member] : member;
}

struct member_on_host {
	uint32_t host, member; // the host is then replaced by its first member
};

static int compare_placed(const void *a, const void *b)
{
	const struct member_on_host *x = a, *y = b;
	if (x->host != y->host)
		return x->host < y->host ? -1 : 1;
	return x->member < y->member ? -1 : x->member > y->member;
}

// place sorts the members. Cost: O(n log n).
static void place(struct member_on_host *placed, const struct tb_collective_shape *shape)
{
	for (uint32_t i = 0; i < shape->n; i++)
		placed[i] = (struct member_on_host){host_of(shape, i), i};
	qsort(placed, shape->n, sizeof *placed, compare_placed);
	uint32_t first = 0, host = 0;
	for (uint32_t i = 0; i < shape->n; i++) {
		if (i == 0 || placed[i].host != host) {
			host = placed[i].host;
			first = placed[i].member;
		}
		placed[i].host = first;
	}
	qsort(placed, shape->n, sizeof *placed, compare_placed);
}

static bool order_init(struct host_order *order, const struct tb_collective_shape *shape)
{
	struct member_on_host *placed = malloc(shape->n * sizeof *placed);
	*order = (struct host_order){.n = shape->n};
	order->members = malloc(shape->n * sizeof *order->members);
	order->heads = malloc((shape->n + UINT64_C(1)) * sizeof *order->heads);
	if (placed && order->members && order->heads) {
		place(placed, shape);
		for (uint32_t i = 0; i < shape->n; i++) {
			order->members[i] = placed[i].member;
			if (placed[i].member == placed[i].host)
				order->heads[order->n_hosts++] = i;
		}
		order->heads[order->n_hosts] = shape->n;
	}
	bool made = placed && order->members && order->heads;
	free(placed);
	return made;
}

static void order_fini(struct host_order *order)
{
	free(order->members);
	free(order->heads);
}

// cut cuts what each of `parts` parts of the vector (or each member's block) is into
// pieces and returns their number.
static uint32_t cut(struct tb_plan *plan, uint32_t parts, uint64_t part_bytes, bool whole)
{
	uint32_t channels = part_bytes < SMALL_BYTES ? 1 : N_CHANNELS;
	uint64_t turn = channels * CHUNK_BYTES;
	uint64_t turns = part_bytes / turn + (part_bytes % turn != 0);
	uint64_t pieces = (turns ? turns : 1) * channels;
	if (pieces > INT32_MAX / parts) {
		plan->status = TB_ECAPACITY;
		return 0;
	}
	plan->n_ports = channels;
	plan->n_blocks = pieces * parts;
	plan->blocks_per_unit = (uint32_t)(whole ? plan->n_blocks : pieces);
	return (uint32_t)pieces;
}

static void put_piece(struct tb_plan *plan, struct tb_way way, uint64_t block,
	uint32_t channel, bool combines)
{
	tb_plan_put(plan, (struct tb_transfer){.from = way.from,
				  .to = way.to,
				  .port = (uint16_t)channel,
				  .blocks = TB_BLOCKS_RANGE,
				  .first = (uint32_t)block,
				  .count = 1,
				  .combines = combines});
}

void tb_nccl_ring(struct tb_plan *plan, const struct tb_collective_shape *shape)
{
	struct host_order order;
	uint32_t n = shape->n;
	bool whole = shape->op != TB_COLL_ALLGATHER;
	uint32_t pieces = cut(plan, n, whole ? shape->bytes / n : shape->bytes, whole);
	if (!order_init(&order, shape))
		plan->status = TB_ENOMEM;
	for (uint32_t turn = 0; plan->status == TB_OK && turn < pieces / plan->n_ports;
		turn++) {
		const struct tb_ring ring = {.members = order.members,
			.pieces = pieces,
			.first = turn * plan->n_ports};
		if (whole)
			tb_plan_ring(plan, ring, n - 1, true);
		if (shape->op != TB_COLL_REDUCE_SCATTER)
			tb_plan_ring(plan, ring, 0, false);
	}
	order_fini(&order);
}

// Piece by piece along the ring: a broadcast from the root on, a reduction towards it.
void tb_nccl_chain(struct tb_plan *plan, const struct tb_collective_shape *shape)
{
	struct host_order order;
	uint32_t n = shape->n, at = 0, pieces = cut(plan, 1, shape->bytes, true);
	bool up = shape->op == TB_COLL_REDUCE;
	if (!order_init(&order, shape))
		plan->status = TB_ENOMEM;
	while (plan->status == TB_OK && order.members[at] != shape->root)
		at++;
	uint32_t turns = plan->status == TB_OK ? pieces / plan->n_ports : 0;
	for (uint64_t round = 0;
		turns && plan->status == TB_OK && round < turns + n - UINT64_C(2);
		round++) {
		tb_plan_next_round(plan);
		uint32_t hop = round < turns ? 0 : (uint32_t)(round - turns + 1);
		for (; hop + 1 < n && hop <= round; hop++) {
			uint32_t from = up ? at + 1 + hop : at + hop;
			struct tb_way way = TB_WAY(
				order.members[from % n], order.members[(from + 1) % n]);
			for (uint32_t c = 0; c < plan->n_ports; c++)
				put_piece(plan, way, (round - hop) * plan->n_ports + c, c,
					up);
		}
	}
	order_fini(&order);
}

// The parent of host v in the first of two binary trees: its lowest bit that is set moves
// up by one, or is cleared where there is no such host. Host 0 is the root. The second
// tree is the first one mirrored or, of an odd number of hosts, shifted by one, so that
// leaves of one are inner hosts of the other (Sanders, Speck, Traeff 2009).
static uint32_t tree_parent(uint32_t v, uint32_t n)
{
	uint32_t bit = v & (~v + 1);
	uint64_t up = (v ^ bit) | (uint64_t)bit << 1;
	return up < n ? (uint32_t)up : v ^ bit;
}

static uint32_t in_tree(uint32_t v, uint32_t n, uint32_t tree)
{
	if (tree == 0)
		return v;
	return n % 2 ? (v + 1) % n : n - 1 - v;
}

// A member's parent in a tree, and how far down it is: within a host members form a chain
// that ends with the head.
struct tree_links {
	uint32_t *parent, *depth; // by member and tree
	uint32_t deepest;
};

static void link_hosts(
	struct tree_links *links, const struct host_order *order, uint32_t tree)
{
	uint32_t n = order->n, hosts = order->n_hosts;
	for (uint32_t v = 0; v < hosts; v++) {
		uint32_t host = in_tree(v, hosts, tree), depth = 0;
		const uint32_t *chain = order->members + order->heads[host];
		uint32_t length = order->heads[host + 1] - order->heads[host];
		for (uint32_t u = v; u != 0; u = tree_parent(u, hosts))
			depth++;
		uint32_t above = v ? in_tree(tree_parent(v, hosts), hosts, tree) : host;
		links->parent[tree * n + chain[0]] = order->members[order->heads[above]];
		for (uint32_t i = 0; i < length; i++) {
			if (i > 0)
				links->parent[tree * n + chain[i]] = chain[i - 1];
			// A head's chain hangs below it, beside the hosts below.
			links->depth[tree * n + chain[i]] = depth + i;
			if (depth + i > links->deepest)
				links->deepest = depth + i;
		}
	}
}

static void put_trees(struct tb_plan *plan, const struct tree_links *links,
	uint64_t round, uint64_t turns, bool up)
{
	uint32_t n = plan->n_ranks;
	tb_plan_next_round(plan);
	for (uint32_t i = 0; i < 2 * n; i++) {
		uint32_t tree = i / n, member = i % n, depth = links->depth[i];
		uint32_t wait = up ? links->deepest - depth : depth - 1;
		if (depth == 0 || round < wait || round - wait >= turns)
			continue;
		uint32_t parent = links->parent[i];
		put_piece(plan, up ? TB_WAY(member, parent) : TB_WAY(parent, member),
			(round - wait) * 2 + tree, tree, up);
	}
}

void tb_nccl_tree(struct tb_plan *plan, const struct tb_collective_shape *shape)
{
	struct host_order order;
	uint32_t n = shape->n;
	uint64_t halves = shape->bytes / 2, turns = halves / CHUNK_BYTES + 1;
	struct tree_links links = {.parent = calloc(2 * (size_t)n, sizeof *links.parent),
		.depth = calloc(2 * (size_t)n, sizeof *links.depth)};
	plan->n_ports = 2; // a tree for each half
	plan->n_blocks = 2 * turns;
	plan->blocks_per_unit = (uint32_t)plan->n_blocks;
	if (!order_init(&order, shape) || !links.parent || !links.depth)
		plan->status = TB_ENOMEM;
	else if (turns > INT32_MAX / 2)
		plan->status = TB_ECAPACITY;
	for (uint32_t tree = 0; plan->status == TB_OK && tree < 2; tree++)
		link_hosts(&links, &order, tree);
	uint64_t rounds = plan->status == TB_OK ? links.deepest + turns - 1 : 0;
	for (uint64_t round = 0; plan->status == TB_OK && round < 2 * rounds; round++)
		put_trees(plan, &links, round % rounds, turns, round < rounds);
	order_fini(&order);
	free(links.parent);
	free(links.depth);
}

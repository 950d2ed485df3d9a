// NCCL's rings, chains, trees and what goes through NVSwitch. Members of one host are
// neighbours in them. The data are cut into pieces: one per channel and turn, no larger
// than the chunk that fits into a channel's buffer. Each channel has ports of its own and
// enters a host at another member, so that channels use the adapters of all of them.
#include "algorithms.h"
#include "order.h"

#include <stdlib.h>

// Where no library has chosen.
#define N_CHANNELS  2
#define CHUNK_BYTES (UINT64_C(2) << 20)
#define SMALL_BYTES (UINT64_C(64) << 10) // one channel carries it

// The members by host, hosts in the order in which they appear. `heads` are the places of
// the first members of hosts in it.
struct host_order {
	uint32_t *members, *heads;
	uint32_t n, n_hosts;
};

struct member_on_host {
	uint32_t host, member; // the host is then replaced by its first member
};

TB_ORDER_BY(compare_placed, struct member_on_host, TB_UP(host) TB_UP(member))

static bool order_init(struct host_order *order, const struct tb_collective_shape *shape)
{
	struct member_on_host *placed = malloc(shape->n * sizeof *placed);
	*order = (struct host_order){.n = shape->n};
	order->members = malloc(shape->n * sizeof *order->members);
	order->heads = malloc((shape->n + UINT64_C(1)) * sizeof *order->heads);
	if (placed && order->members && order->heads) {
		// Sort the members. Cost: O(n log n).
		for (uint32_t i = 0; i < shape->n; i++)
			placed[i] = (struct member_on_host){
				shape->hosts ? shape->hosts[i] : i, i};
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

// host_member_at returns member number i of a host where a channel enters it.
static uint32_t host_member_at(
	const struct host_order *order, uint32_t host, uint32_t i, uint32_t channel)
{
	uint32_t first = order->heads[host], n = order->heads[host + 1] - first;
	return order->members[first + (i + channel) % n];
}

// rings_of returns the members in the order of each channel's ring; NULL without memory.
static uint32_t *rings_of(const struct host_order *order, uint32_t n_channels)
{
	uint32_t *rings = malloc((size_t)order->n * n_channels * sizeof *rings);
	uint32_t *at = rings;
	for (uint32_t c = 0; rings && c < n_channels; c++)
		for (uint32_t host = 0; host < order->n_hosts; host++)
			for (uint32_t i = 0;
				i < order->heads[host + 1] - order->heads[host]; i++)
				*at++ = host_member_at(order, host, i, c);
	return rings;
}

// nccl_cut cuts what each of `parts` parts of the vector (or each member's block) is into
// pieces, for so many channels, and returns their number.
static uint32_t nccl_cut(struct tb_plan *plan, const struct tb_collective_shape *shape,
	uint32_t parts, uint64_t part_bytes, bool whole)
{
	uint32_t usual = part_bytes < SMALL_BYTES ? 1 : N_CHANNELS;
	uint32_t channels = shape->n_channels ? shape->n_channels : usual;
	uint64_t turn =
		channels * (shape->chunk_bytes ? shape->chunk_bytes : CHUNK_BYTES);
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

// A port, and that by which what it sends has come.
struct port {
	uint32_t number, after;
};

static void put_piece(struct tb_plan *plan, struct tb_way way, uint64_t block,
	struct port port, bool combines)
{
	tb_plan_put(plan, (struct tb_transfer){.from = way.from,
				  .to = way.to,
				  .port = (uint16_t)port.number,
				  .after = (uint16_t)port.after,
				  .blocks = TB_BLOCKS_RANGE,
				  .first = (uint32_t)block,
				  .count = 1,
				  .combines = combines});
}

// go_round: in each of n - 1 rounds every member sends on a piece of the part of the
// member `shift` places on in its channel's ring, and then one place less.
static void go_round(struct tb_plan *plan, const uint32_t *rings, uint32_t pieces,
	uint32_t turn, bool combines)
{
	uint32_t n = plan->n_ranks, shift = combines ? n - 1 : 0;
	for (uint32_t i = 0; i + 1 < n && plan->status == TB_OK; i++) {
		tb_plan_next_round(plan);
		for (uint32_t k = 0; k < n * plan->n_ports; k++) {
			uint32_t p = k / plan->n_ports, c = k % plan->n_ports;
			const uint32_t *ring = rings + (size_t)c * n;
			uint64_t part = ring[(p + shift + n - i) % n];
			put_piece(plan, TB_WAY(ring[p], ring[(p + 1) % n]),
				part * pieces + turn * plan->n_ports + c,
				(struct port){c, c}, combines);
		}
	}
}

void tb_nccl_ring(struct tb_plan *plan, const struct tb_collective_shape *shape)
{
	struct host_order order;
	uint32_t n = shape->n, *rings = NULL;
	bool whole = shape->op != TB_COLL_ALLGATHER;
	uint32_t pieces =
		nccl_cut(plan, shape, n, whole ? shape->bytes / n : shape->bytes, whole);
	if (!order_init(&order, shape) || !(rings = rings_of(&order, plan->n_ports)))
		plan->status = TB_ENOMEM;
	for (uint32_t turn = 0; plan->status == TB_OK && turn < pieces / plan->n_ports;
		turn++) {
		if (whole)
			go_round(plan, rings, pieces, turn, true);
		if (shape->op != TB_COLL_REDUCE_SCATTER)
			go_round(plan, rings, pieces, turn, false);
	}
	order_fini(&order);
	free(rings);
}

// Piece by piece along each channel's ring: a broadcast from the root on, a reduction
// towards it.
void tb_nccl_chain(struct tb_plan *plan, const struct tb_collective_shape *shape)
{
	struct host_order order;
	uint32_t n = shape->n, pieces = nccl_cut(plan, shape, 1, shape->bytes, true);
	uint32_t *rings = NULL, channels = plan->n_ports;
	bool up = shape->op == TB_COLL_REDUCE;
	if (!order_init(&order, shape) || !(rings = rings_of(&order, channels)))
		plan->status = TB_ENOMEM;
	uint32_t turns = plan->status == TB_OK ? pieces / channels : 0;
	uint64_t rounds = turns ? turns + n - UINT64_C(2) : 0;
	for (uint64_t round = 0; plan->status == TB_OK && round < rounds; round++) {
		tb_plan_next_round(plan);
		for (uint32_t c = 0; c < channels; c++) {
			const uint32_t *ring = rings + (size_t)c * n;
			uint32_t member = shape->root;
			uint32_t at = 0;
			while (ring[at] != member)
				at++;
			uint32_t hop = round < turns ? 0 : (uint32_t)(round - turns + 1);
			for (; hop + 1 < n && hop <= round; hop++) {
				uint32_t from = up ? at + 1 + hop : at + hop;
				put_piece(plan,
					TB_WAY(ring[from % n], ring[(from + 1) % n]),
					(round - hop) * channels + c, (struct port){c, c},
					up);
			}
		}
	}
	order_fini(&order);
	free(rings);
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

// A member's parent in the tree of a channel, and how far down it is. Within a host
// members form a chain below the head, or all hang on it.
struct tree_links {
	uint32_t *parent, *depth; // by channel and member
	uint32_t n_trees, deepest;
	bool is_star;
};

// put_trees: pieces go up one after another, and down from the root as they have come.
static void put_trees(struct tb_plan *plan, const struct tree_links *links,
	uint64_t round, uint64_t turns)
{
	uint32_t n = plan->n_ranks;
	tb_plan_next_round(plan);
	for (size_t i = 0; i < (size_t)links->n_trees * n; i++) {
		uint32_t tree = (uint32_t)(i / n), member = (uint32_t)(i % n);
		uint32_t depth = links->depth[i], parent = links->parent[i];
		uint64_t up = links->deepest - depth;
		uint64_t down = links->deepest + (uint64_t)depth - 1;
		struct port above = {2 * tree, 2 * tree},
			    below = {2 * tree + 1, 2 * tree + 1};
		if (depth == 1) // from the root
			below.after = above.number;
		if (depth > 0 && round >= up && round - up < turns)
			put_piece(plan, TB_WAY(member, parent),
				(round - up) * links->n_trees + tree, above, true);
		if (depth > 0 && round >= down && round - down < turns)
			put_piece(plan, TB_WAY(parent, member),
				(round - down) * links->n_trees + tree, below, false);
	}
}

static void plan_trees(
	struct tb_plan *plan, const struct tb_collective_shape *shape, bool is_star)
{
	struct host_order order;
	uint32_t n = shape->n,
		 n_trees = shape->n_channels ? shape->n_channels : N_CHANNELS;
	uint64_t chunk =
		n_trees * (shape->chunk_bytes ? shape->chunk_bytes : CHUNK_BYTES);
	uint64_t turns = shape->bytes / chunk + 1;
	size_t size = (size_t)n_trees * n;
	struct tree_links links = {.parent = calloc(size, sizeof *links.parent),
		.depth = calloc(size, sizeof *links.depth),
		.n_trees = n_trees,
		.is_star = is_star};
	plan->n_ports = 2 * n_trees; // up and down
	plan->n_blocks = n_trees * turns;
	plan->blocks_per_unit = (uint32_t)plan->n_blocks;
	if (!order_init(&order, shape) || !links.parent || !links.depth)
		plan->status = TB_ENOMEM;
	else if (turns > INT32_MAX / n_trees)
		plan->status = TB_ECAPACITY;
	for (uint32_t tree = 0; plan->status == TB_OK && tree < n_trees; tree++) {
		uint32_t hosts = order.n_hosts;
		for (uint32_t v = 0; v < hosts; v++) {
			uint32_t host = in_tree(v, hosts, tree % 2), depth = 0;
			for (uint32_t u = v; u != 0; u = tree_parent(u, hosts))
				depth++;
			uint32_t above =
				v ? in_tree(tree_parent(v, hosts), hosts, tree % 2)
				  : host;
			links.parent[(size_t)tree * order.n +
				     host_member_at(&order, host, 0, tree / 2)] =
				host_member_at(&order, above, 0, tree / 2);
			uint32_t length = order.heads[host + 1] - order.heads[host];
			size_t first = (size_t)tree * order.n;
			for (uint32_t i = 0; i < length; i++) {
				uint32_t member =
					host_member_at(&order, host, i, tree / 2);
				uint32_t below = links.is_star ? i > 0 : i;
				if (i > 0)
					links.parent[first + member] = host_member_at(
						&order, host, links.is_star ? 0 : i - 1,
						tree / 2);
				// A head's chain hangs below it, beside the hosts below.
				links.depth[first + member] = depth + below;
				if (depth + below > links.deepest)
					links.deepest = depth + below;
			}
		}
	}
	uint64_t rounds = turns + 2 * (uint64_t)links.deepest - 1;
	for (uint64_t round = 0; plan->status == TB_OK && round < rounds; round++)
		put_trees(plan, &links, round, turns);
	order_fini(&order);
	free(links.parent);
	free(links.depth);
}

void tb_nccl_tree(struct tb_plan *plan, const struct tb_collective_shape *shape)
{
	plan_trees(plan, shape, false);
}

void tb_nccl_nvls_tree(struct tb_plan *plan, const struct tb_collective_shape *shape)
{
	plan_trees(plan, shape, true);
}

// Each member's part goes to it from all others, added by the switch, and then to all.
void tb_nccl_nvls(struct tb_plan *plan, const struct tb_collective_shape *shape)
{
	uint32_t n = shape->n;
	plan->n_blocks = plan->blocks_per_unit = n;
	for (int back = 0; back < 2; back++) {
		tb_plan_next_round(plan);
		for (uint32_t i = 0; i < n; i++)
			for (uint32_t k = 1; k < n; k++) {
				uint32_t to = (i + k) % n;
				put_piece(plan, TB_WAY(i, to), back ? i : to,
					(struct port){0, 0}, !back);
			}
	}
}

// PAT: blocks spread as in Bruck's algorithm, and are added on the same ways back.
void tb_nccl_pat(struct tb_plan *plan, const struct tb_collective_shape *shape)
{
	tb_allgather_bruck(plan, shape);
	if (shape->op == TB_COLL_ALLGATHER || plan->status != TB_OK)
		return;
	size_t n = plan->n_transfers;
	for (size_t i = 0; i < n; i++) {
		struct tb_transfer *t = &plan->transfers[i];
		uint32_t n_rounds = plan->n_rounds;
		uint32_t from = t->from;
		t->from = t->to;
		t->to = from;
		t->round = n_rounds - 1 - t->round;
		t->combines = true;
	}
	for (size_t i = 0; i < n / 2; i++) {
		struct tb_transfer t = plan->transfers[i];
		plan->transfers[i] = plan->transfers[n - 1 - i];
		plan->transfers[n - 1 - i] = t;
	}
}

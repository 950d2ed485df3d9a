// Algorithms in which each message goes straight from where its data are to where they
// belong. A round is what a rank does without waiting in between: all at once, or to k
// others.
#include "algorithms.h"

#include <stdlib.h>
#include <string.h>

// put_star is a round in which the root sends to all others, or they to it, in the order
// of their places: to or from each its own block, all blocks, or a token.
static void put_star(struct tb_plan *plan, const struct tb_collective_shape *shape,
	bool up, enum tb_moves moves)
{
	uint32_t root = shape->root;
	tb_plan_next_round(plan);
	for (uint32_t rank = 0; rank < plan->n_ranks; rank++) {
		struct tb_way way = up ? TB_WAY(rank, root) : TB_WAY(root, rank);
		if (rank == root)
			continue;
		if (moves == TB_MOVES_WHOLE && up)
			tb_put_combining(plan, way, 0, plan->n_blocks);
		else if (moves == TB_MOVES_WHOLE)
			tb_put(plan, way, 0, plan->n_blocks);
		else
			tb_put(plan, way, moves == TB_MOVES_PARTS ? rank : 0,
				moves == TB_MOVES_PARTS);
	}
}

// Of operations without a root the first member is it.
void tb_linear(struct tb_plan *plan, const struct tb_collective_shape *shape)
{
	static const struct {
		bool goes_up, goes_down;
		enum tb_moves up, down;
	} ways[TB_COLL_N] = {
		[TB_COLL_BARRIER] = {true, true, TB_MOVES_TOKEN, TB_MOVES_TOKEN},
		[TB_COLL_BROADCAST] = {.goes_down = true, .down = TB_MOVES_WHOLE},
		[TB_COLL_GATHER] = {.goes_up = true, .up = TB_MOVES_PARTS},
		[TB_COLL_SCATTER] = {.goes_down = true, .down = TB_MOVES_PARTS},
		[TB_COLL_REDUCE] = {.goes_up = true, .up = TB_MOVES_WHOLE},
		[TB_COLL_ALLREDUCE] = {true, true, TB_MOVES_WHOLE, TB_MOVES_WHOLE},
		[TB_COLL_REDUCE_SCATTER] = {true, true, TB_MOVES_WHOLE, TB_MOVES_PARTS},
	};
	if (ways[shape->op].goes_up)
		put_star(plan, shape, true, ways[shape->op].up);
	if (ways[shape->op].goes_down)
		put_star(plan, shape, false, ways[shape->op].down);
}

// put_for_one adds what a rank has for another: in an all-to-all the block of the two, in
// an all-gather its own.
static void put_for_one(
	struct tb_plan *plan, enum tb_collective_op op, struct tb_way way, uint32_t port)
{
	bool pairs = op == TB_COLL_ALLTOALL;
	tb_plan_put(plan, (struct tb_transfer){.from = way.from,
				  .to = way.to,
				  .port = (uint16_t)port,
				  .blocks = pairs ? TB_BLOCKS_PAIR : TB_BLOCKS_RANGE,
				  .first = pairs ? 0 : way.from,
				  .count = !pairs});
}

// Each rank posts all its sends at once, to the ranks after it first.
void tb_linear_to_all(struct tb_plan *plan, const struct tb_collective_shape *shape)
{
	plan->order = TB_ORDER_SENDS;
	tb_plan_next_round(plan);
	for (uint32_t i = 1; i < shape->n; i++)
		for (uint32_t rank = 0; rank < shape->n; rank++)
			put_for_one(
				plan, shape->op, TB_WAY(rank, (rank + i) % shape->n), 0);
}

// A rank receives what those before it have added up, adds its own and sends it on. In an
// exclusive scan, too, where it keeps what it received.
void tb_scan_linear(struct tb_plan *plan, const struct tb_collective_shape *shape)
{
	for (uint32_t rank = 0; rank + 1 < shape->n; rank++) {
		tb_plan_next_round(plan);
		tb_put_combining(plan, TB_WAY(rank, rank + 1), 0, plan->n_blocks);
	}
}

// Each message has a block of its own, in the order of transfers.
void tb_exchange_linear(struct tb_plan *plan, const struct tb_collective_shape *shape)
{
	const struct tb_collective_call *call = shape->call;
	uint32_t block = 0;
	plan->order = TB_ORDER_SENDS;
	tb_plan_next_round(plan);
	for (uint32_t from = 0; from < shape->n; from++)
		for (uint32_t to = 0; call->sizes && call->sizes[from] && to < shape->n;
			to++)
			if (from != to && call->sizes[from][to])
				tb_put(plan, TB_WAY(from, to), block++, 1);
}

// The root talks to the other ranks one after the other, k per round.
void tb_sequential(struct tb_plan *plan, const struct tb_collective_shape *shape)
{
	uint32_t n = shape->n, root = shape->root;
	bool up = shape->op == TB_COLL_GATHER;
	plan->order = TB_ORDER_SENDS;
	for (uint32_t i = 0; i < n - 1; i++) {
		uint32_t other = (uint32_t)(((uint64_t)root + i + 1) % n);
		if (i % plan->n_ports == 0)
			tb_plan_next_round(plan);
		tb_plan_put(plan, (struct tb_transfer){.from = up ? other : root,
					  .to = up ? root : other,
					  .port = (uint16_t)(i % plan->n_ports),
					  .blocks = TB_BLOCKS_RANGE,
					  .first = other,
					  .count = 1});
	}
}

// direct_round: every rank sends to the ranks at distances done + 1 to done + k.
static void direct_round(struct tb_plan *plan, enum tb_collective_op op, uint32_t done)
{
	uint32_t n = plan->n_ranks, k = plan->n_ports;
	tb_plan_next_round(plan);
	for (uint32_t p = 0; p < n; p++)
		for (uint32_t j = 0; j < k && done + j < n - 1; j++)
			put_for_one(plan, op, TB_WAY(p, (p + done + j + 1) % n), j);
}

// Direct, when a rank has received what came before.
void tb_alltoall_shift(struct tb_plan *plan, const struct tb_collective_shape *shape)
{
	for (uint32_t done = 0; done < shape->n - 1; done += plan->n_ports)
		direct_round(plan, shape->op, done);
}

void tb_direct(struct tb_plan *plan, const struct tb_collective_shape *shape)
{
	plan->order = TB_ORDER_SENDS;
	tb_alltoall_shift(plan, shape);
}

// In each round p sends to the ranks to which p + k sent in the round before. p + k then
// sends p a token, so that two ranks never send to the same one at the same time.
void tb_alltoall_permission(struct tb_plan *plan, const struct tb_collective_shape *shape)
{
	uint32_t n = plan->n_ranks, k = plan->n_ports;
	plan->order = TB_ORDER_SENDS;
	for (uint32_t done = 0; done < n - 1; done += k) {
		direct_round(plan, shape->op, done);
		if (done + k >= n - 1)
			break;
		tb_plan_next_round(plan);
		for (uint32_t p = 0; p < n; p++)
			tb_plan_put(plan, (struct tb_transfer){.from = p,
						  .to = (p + n - k) % n,
						  .blocks = TB_BLOCKS_NONE});
	}
}

// partner returns the partner of p in the i-th of the matchings that pair all ranks once:
// n - 1 matchings for an even number of ranks, n for an odd one, where p itself means no
// partner. A power of two pairs by exclusive or, as in MPI libraries. Otherwise two ranks
// whose sum is i modulo an odd number are partners; for an even n that is n - 1, and the
// last rank takes the one that is left over.
static uint32_t partner(uint32_t p, uint32_t i, uint32_t n)
{
	if ((n & (n - 1)) == 0)
		return p ^ (i + 1);
	uint32_t odd = n - (n % 2 == 0);
	if (p == odd) // the last of an even number: twice its partner is i
		return i % 2 == 0 ? i / 2 : (i + odd) / 2;
	uint32_t other = (i + odd - p) % odd;
	return other == p && odd != n ? odd : other;
}

void tb_alltoall_pairwise(struct tb_plan *plan, const struct tb_collective_shape *shape)
{
	uint32_t n = plan->n_ranks, k = plan->n_ports;
	uint32_t n_matchings = n - (n % 2 == 0);
	for (uint32_t i = 0; i < n_matchings; i++) {
		if (i % k == 0)
			tb_plan_next_round(plan);
		for (uint32_t p = 0; p < n; p++) {
			uint32_t other = partner(p, i, n);
			if (other != p)
				put_for_one(plan, shape->op, TB_WAY(p, other), i % k);
		}
	}
}

// Rings and pairwise exchanges.

// ring_step: in the ring of each port, the rank at place p sends on its piece of the
// chunk of the rank `shift` places on from it.
static void ring_step(struct tb_plan *plan, uint32_t shift, bool combines)
{
	uint32_t n = plan->n_ranks;
	tb_plan_next_round(plan);
	for (uint32_t p = 0; p < n; p++) {
		for (uint32_t j = 0; j < plan->n_ports; j++) {
			bool back = j % 2 == 1;
			uint32_t to = (back ? p + n - 1 : p + 1) % n;
			uint64_t chunk = (back ? p + n - shift : p + shift) % n;
			tb_plan_put(plan,
				(struct tb_transfer){.from = p,
					.to = to,
					.port = (uint16_t)j,
					.blocks = TB_BLOCKS_RANGE,
					.first = (uint32_t)(chunk * plan->n_ports + j),
					.count = 1,
					.combines = combines});
		}
	}
}

// plan_ring: a ring over all ranks for each of n_ports pieces of a rank's chunk, every
// other one backwards. In round i of N - 1, a rank sends on the pieces of the rank
// `shift` - i places behind it in the ring.
static void plan_ring(struct tb_plan *plan, uint32_t shift, bool combines)
{
	uint32_t n = plan->n_ranks;
	for (uint32_t i = 0; i + 1 < n; i++)
		ring_step(plan, (shift + n - i) % n, combines);
}

// At first a rank sends the chunk before its own, so that it ends with the sum of its
// own; in the libraries it sends its own.
void tb_allreduce_ring(struct tb_plan *plan, const struct tb_collective_shape *shape)
{
	uint32_t shift = shape->by_ports ? shape->n - 1 : 0;
	tb_cut_chunks(plan, shape);
	plan_ring(plan, shift, true);
	plan_ring(plan, (shift + 1) % shape->n, false);
}

void tb_reduce_scatter_ring(struct tb_plan *plan, const struct tb_collective_shape *shape)
{
	tb_cut_chunks(plan, shape);
	plan_ring(plan, shape->n - 1, true);
}

void tb_allgather_ring(struct tb_plan *plan, const struct tb_collective_shape *shape)
{
	plan->blocks_per_unit = plan->n_ports;
	plan->n_blocks = (uint64_t)shape->n * plan->n_ports;
	plan_ring(plan, 0, false);
}

// Scattered along a binomial tree; the parts then go round.
void tb_broadcast_scatter_allgather(
	struct tb_plan *plan, const struct tb_collective_shape *shape)
{
	plan->n_blocks = (uint64_t)plan->n_ranks * plan->n_ports;
	plan->blocks_per_unit = (uint32_t)plan->n_blocks;
	(void)shape;
	tb_plan_binomial_down(plan, TB_MOVES_PARTS);
	plan_ring(plan, 0, false);
}

static uint64_t block_bytes(const struct tb_collective_shape *shape, uint32_t member)
{
	return shape->call ? shape->call->bytes[member] : shape->bytes;
}

// cut_blocks cuts each member's block into as many segments as the largest one has, of
// which the last ones of a smaller block are empty. It returns how many.
static uint32_t cut_blocks(
	struct tb_plan *plan, const struct tb_collective_shape *shape, uint64_t segment)
{
	uint64_t most = 1, end = 0;
	for (uint32_t r = 0; r < shape->n; r++)
		most = block_bytes(shape, r) > most ? block_bytes(shape, r) : most;
	uint64_t each = segment ? most / segment + (most % segment != 0) : 1;
	if (each > INT32_MAX / shape->n)
		plan->status = TB_ECAPACITY;
	plan->n_blocks = each * shape->n;
	plan->block_ends = plan->status == TB_OK
				   ? malloc(plan->n_blocks * sizeof *plan->block_ends)
				   : NULL;
	if (plan->status == TB_OK && !plan->block_ends)
		plan->status = TB_ENOMEM;
	for (uint64_t i = 0; plan->block_ends && i < plan->n_blocks; i++) {
		uint64_t done = i % each * segment,
			 all = block_bytes(shape, (uint32_t)(i / each));
		uint64_t left = done < all ? all - done : 0;
		end += each == 1 || left < segment ? left : segment;
		plan->block_ends[i] = end;
	}
	return (uint32_t)each;
}

// Segments of blocks follow each other around the ring.
void tb_allgather_pipelined_ring(
	struct tb_plan *plan, const struct tb_collective_shape *shape)
{
	uint32_t n = shape->n, each = cut_blocks(plan, shape, shape->segment_bytes);
	for (uint64_t i = 0; plan->status == TB_OK && i < (uint64_t)each * (n - 1); i++) {
		tb_plan_next_round(plan);
		for (uint32_t r = 0; r < n; r++) {
			uint64_t owner = (r + n - i / each) % n, block;
			block = owner * each + i % each;
			uint64_t before = block ? plan->block_ends[block - 1] : 0;
			if (plan->block_ends[block] > before)
				tb_put(plan, TB_WAY(r, (r + 1) % n), block, 1);
		}
	}
}

// Pairs of neighbours exchange their blocks, and then what they got last, with the
// neighbour on one side and on the other in turn (Chen et al. 2005).
void tb_allgather_neighbor(struct tb_plan *plan, const struct tb_collective_shape *shape)
{
	uint32_t n = shape->n;
	uint32_t *last = malloc(2 * (size_t)n * sizeof *last), *next = last + n;
	if (!last) {
		plan->status = TB_ENOMEM;
		return;
	}
	for (uint32_t i = 0; i < n / 2; i++) {
		tb_plan_next_round(plan);
		for (uint32_t r = 0; r < n; r++) {
			bool up = (r % 2 == 0) == (i % 2 == 0);
			uint32_t to = (up ? r + 1 : r + n - 1) % n;
			if (i == 0)
				last[r] = r - r % 2;
			tb_put(plan, TB_WAY(r, to), i == 0 ? r : last[r], i == 0 ? 1 : 2);
			next[to] = i == 0 ? r - r % 2 : last[r];
		}
		for (uint32_t r = 0; r < n; r++)
			last[r] = next[r];
	}
	free(last);
}

// As in an all-to-all, each gets its block of the vector from everybody, and adds.
void tb_reduce_scatter_pairwise(
	struct tb_plan *plan, const struct tb_collective_shape *shape)
{
	tb_cut_even(plan, shape->n, tb_element_bytes(shape->bytes));
	for (uint32_t i = 1; i < shape->n; i++) {
		tb_plan_next_round(plan);
		for (uint32_t r = 0; r < shape->n; r++) {
			uint32_t to = (r + i) % shape->n;
			tb_put_combining(plan, TB_WAY(r, to), to, 1);
		}
	}
}

// A token goes round twice.
void tb_barrier_double_ring(struct tb_plan *plan, const struct tb_collective_shape *shape)
{
	for (uint32_t i = 0; i < 2 * shape->n; i++) {
		uint32_t r = i % shape->n;
		tb_plan_next_round(plan);
		tb_put(plan, TB_WAY(r, (r + 1) % shape->n), 0, 0);
	}
}

// Algorithms made of parts: other collective operations, permissions before data.

// plan_part plans an operation that is part of another one, on all blocks of the plan,
// as Open MPI chooses it.
static void plan_part(struct tb_plan *plan, const struct tb_collective_shape *whole,
	enum tb_collective_op op, uint64_t bytes)
{
	struct tb_collective_shape shape = {.op = op,
		.n = whole->n,
		.n_local = whole->n,
		.bytes = bytes,
		.hosts = whole->hosts,
		.call = whole->call};
	struct tb_algorithm_choice choice = {0};
	const struct tb_algorithm *algorithm;
	tb_choose_openmpi(&choice, &shape);
	// Those that cut the vector would cut it anew.
	if (strncmp(choice.algorithm, "s", 1) == 0 ||
		strcmp(choice.algorithm, "rabenseifner") == 0)
		choice.algorithm = "binomial";
	if (tb_algorithm_find(&algorithm, op, choice.algorithm, NULL) == TB_OK)
		algorithm->plan(plan, &shape);
}

void tb_allreduce_reduce_broadcast(
	struct tb_plan *plan, const struct tb_collective_shape *shape)
{
	plan_part(plan, shape, TB_COLL_REDUCE, shape->bytes);
	plan_part(plan, shape, TB_COLL_BROADCAST, shape->bytes);
}

void tb_reduce_scatter_reduce(
	struct tb_plan *plan, const struct tb_collective_shape *shape)
{
	tb_cut_even(plan, shape->n, tb_element_bytes(shape->bytes));
	plan_part(plan, shape, TB_COLL_REDUCE, shape->bytes);
	put_star(plan, shape, false, TB_MOVES_PARTS);
}

// Gathered by the first member, straight or by ports up a tree, and broadcast.
void tb_allgather_gather_broadcast(
	struct tb_plan *plan, const struct tb_collective_shape *shape)
{
	if (shape->by_ports) {
		tb_plan_heap_up(plan, shape, TB_MOVES_PARTS, false);
		tb_plan_heap_down(plan, shape, TB_MOVES_WHOLE);
		return;
	}
	put_star(plan, shape, true, TB_MOVES_PARTS);
	plan_part(plan, shape, TB_COLL_BROADCAST, shape->bytes * shape->n);
}

// The root permits each to send. The data go in a first segment, which is all where no
// size of segments is set, and an empty rest.
void tb_gather_sync(struct tb_plan *plan, const struct tb_collective_shape *shape)
{
	put_star(plan, shape, false, TB_MOVES_TOKEN);
	put_star(plan, shape, true, TB_MOVES_PARTS);
	put_star(plan, shape, true, TB_MOVES_TOKEN);
}

void tb_barrier_hardware(struct tb_plan *plan, const struct tb_collective_shape *shape)
{
	tb_plan_heap_up(plan, shape, TB_MOVES_TOKEN, false);
	put_star(plan, shape, false, TB_MOVES_TOKEN);
}

// Broadcasts of large vectors: scattered in parts along a binomial tree, and the parts
// then gathered by all. Part i is that of relative rank i, counted from the root.
static struct tb_way parts_way(
	const struct tb_collective_shape *shape, uint32_t from, uint32_t to)
{
	uint64_t n = shape->n, root = shape->root;
	return TB_WAY((uint32_t)((from + root) % n), (uint32_t)((to + root) % n));
}

static void parts_scatter(struct tb_plan *plan, const struct tb_collective_shape *shape)
{
	uint32_t n = shape->n, mask = 1;
	tb_cut_ceiling(plan, n);
	while (mask < n)
		mask *= 2;
	for (mask /= 2; mask > 0; mask /= 2) {
		tb_plan_next_round(plan);
		for (uint64_t v = 0; v + mask < n; v += 2 * (uint64_t)mask) {
			uint64_t child = v + mask, left = n - child;
			tb_put(plan, parts_way(shape, (uint32_t)v, (uint32_t)child),
				child, left < mask ? left : mask);
		}
	}
}

void tb_broadcast_scatter_ring(
	struct tb_plan *plan, const struct tb_collective_shape *shape)
{
	uint32_t n = shape->n;
	parts_scatter(plan, shape);
	for (uint32_t i = 0; i + 1 < n; i++) {
		tb_plan_next_round(plan);
		for (uint32_t v = 0; v < n; v++)
			tb_put(plan, parts_way(shape, v, (v + 1) % n), (v + n - i) % n,
				1);
	}
}

void tb_broadcast_scatter_doubling(
	struct tb_plan *plan, const struct tb_collective_shape *shape)
{
	parts_scatter(plan, shape);
	for (uint32_t mask = 1; mask < shape->n; mask *= 2) {
		uint32_t n = shape->n;
		tb_plan_next_round(plan);
		for (uint32_t v = 0; v < n; v++) {
			uint32_t first = v - v % mask, left = n - first;
			if ((v ^ mask) < n)
				tb_put(plan, parts_way(shape, v, v ^ mask), first,
					left < mask ? left : mask);
		}
		uint32_t last = (n - 1) - (n - 1) % (2 * mask);
		if (last + mask >= n || last + 2 * (uint64_t)mask <= n)
			continue;
		for (uint32_t hop = mask / 2; hop > 0; hop /= 2) {
			tb_plan_next_round(plan);
			// A group is 2 * mask members from `group` on, of which the upper
			// half may be incomplete. Then only as many of the lower half got
			// its parts, and pass them on among themselves.
			uint32_t upper = last + mask, n_upper = shape->n - upper;
			for (uint32_t v = last; v < upper; v++) {
				uint32_t other = v ^ hop,
					 have = v - v % (2 * hop) + n_upper;
				if (other > v && v < have && other >= have)
					tb_put(plan, parts_way(shape, v, other), upper,
						n_upper);
			}
		}
	}
}

// Calls of inter-communicators: two groups, of which each gets what the other gives. All
// libraries treat them alike here: messages go straight from group to group
// (docs/collectives.md).

static void put_across(struct tb_plan *plan, const struct tb_collective_shape *shape,
	struct tb_way way, uint32_t *block)
{
	bool token = shape->op == TB_COLL_BARRIER;
	tb_plan_put(plan, (struct tb_transfer){.from = way.from,
				  .to = way.to,
				  .blocks = token ? TB_BLOCKS_NONE : TB_BLOCKS_RANGE,
				  .first = token ? 0 : *block,
				  .count = !token,
				  .combines = tb_collectives[shape->op].combines});
	*block += !token;
}

const char *tb_inter_plan(struct tb_plan *plan, const struct tb_collective_shape *shape)
{
	uint32_t n = shape->n, local = shape->n_local, block = 0;
	tb_plan_next_round(plan);
	if (tb_collective_op_has_root(shape->op)) {
		// The root of one group, and all of the other one.
		bool up = shape->op == TB_COLL_GATHER || shape->op == TB_COLL_REDUCE;
		uint32_t root = shape->root, rank = root < local ? local : 0;
		for (uint32_t end = root < local ? n : local; rank < end; rank++)
			put_across(plan, shape,
				up ? TB_WAY(rank, root) : TB_WAY(root, rank), &block);
	} else {
		plan->order = TB_ORDER_SENDS;
		for (uint32_t from = 0; from < n; from++)
			for (uint32_t to = from < local ? local : 0;
				to < (from < local ? n : local); to++)
				put_across(plan, shape, TB_WAY(from, to), &block);
	}
	return "linear";
}

// The algorithms of collective operations, in one table: those of synthetic jobs, and
// those that libraries choose. Sources of the libraries' names: the settings of Open MPI
// (coll_tuned_*_algorithm), the functions of MPICH (src/mpi/coll) and the algorithms of
// NCCL (NCCL_ALGO). What reductions copy and allocate: Open MPI 4.1, ompi/mca/coll/base
// (coll_base_reduce.c, coll_base_allreduce.c, coll_base_reduce_scatter.c), and the same
// algorithms of MPICH 4.0 (src/mpi/coll).

#define SQUARE TB_GROWS_SQUARE
#define PORTS  TB_TAKES_PORTS
#define TREE   (TB_TAKES_PORTS | TB_TAKES_BRANCH)
#define FIRST  TB_COPIES_FIRST
#define LAST   TB_COPIES_LAST
#define WHOLE  TB_COPIES_WHOLE
#define ONE    TB_TAKES_VECTOR
#define TWO    TB_TAKES_VECTORS

// What libraries call an algorithm.
#define OPENMPI(name)  [TB_LIBRARY_OPENMPI] = (name)
#define MPICH(name)    [TB_LIBRARY_MPICH] = (name)
#define NCCL(name)     [TB_LIBRARY_NCCL] = (name)
#define POINT_TO_POINT NCCL("grouped sends and receives")

const struct tb_algorithm tb_algorithms[] = {
	// Nobody goes on before all have arrived.
	{TB_COLL_BARRIER, "dissemination",
		"each sends to k others, further away each round",
		tb_barrier_dissemination, PORTS,
		{OPENMPI("bruck"), MPICH("dissemination")}},
	{TB_COLL_BARRIER, "tree", "up a tree to rank 0 and down again", tb_tree_heap,
		TREE, {NCCL("Tree")}},
	{TB_COLL_BARRIER, "hardware", "up a tree to rank 0, then one message to all",
		tb_barrier_hardware, TREE, {0}},
	{TB_COLL_BARRIER, "linear", "all to rank 0, and back", tb_linear, 0,
		{OPENMPI("linear")}},
	{TB_COLL_BARRIER, "doubling", "pairs exchange, then pairs of pairs",
		tb_barrier_doubling, 0, {OPENMPI("recursive_doubling")}},
	{TB_COLL_BARRIER, "binomial", "up a binomial tree to rank 0 and down again",
		tb_tree_binomial, 0, {OPENMPI("tree")}},
	{TB_COLL_BARRIER, "double-ring", "a token goes round twice",
		tb_barrier_double_ring, 0, {0}},

	{TB_COLL_BROADCAST, "binomial", "each that has it sends it to k others per round",
		tb_tree_binomial, PORTS, {MPICH("binomial")}},
	{TB_COLL_BROADCAST, "tree", "down a tree in which a rank has --branch children",
		tb_tree_heap, TREE, {0}},
	{TB_COLL_BROADCAST, "scatter-allgather",
		"scattered in parts, which then go round in rings",
		tb_broadcast_scatter_allgather, SQUARE | PORTS, {0}},
	{TB_COLL_BROADCAST, "hardware",
		"one message to all, if the network has broadcast=yes", tb_linear, PORTS,
		{0}},
	{TB_COLL_BROADCAST, "linear", "the root sends to all at once", tb_linear, 0,
		{OPENMPI("basic_linear")}},
	{TB_COLL_BROADCAST, "mirrored-binomial",
		"binomial, most ranks below the root's neighbour", tb_tree_mirrored, 0,
		{OPENMPI("binomial")}},
	{TB_COLL_BROADCAST, "knomial", "as binomial, by digits to base 4",
		tb_tree_knomial, 0, {OPENMPI("knomial")}},
	{TB_COLL_BROADCAST, "binary", "down a tree of two children per rank",
		tb_tree_binary, 0, {OPENMPI("binary_tree")}},
	{TB_COLL_BROADCAST, "split-binary",
		"halves down the halves of a binary tree, then exchanged",
		tb_tree_split_binary, 0, {OPENMPI("split_binary_tree")}},
	{TB_COLL_BROADCAST, "chain", "from rank to rank", tb_tree_chain, 0,
		{OPENMPI("chain")}},
	{TB_COLL_BROADCAST, "pipeline", "from rank to rank, in segments if they are set",
		tb_tree_chain, 0, {OPENMPI("pipeline")}},
	{TB_COLL_BROADCAST, "scatter-doubling",
		"scattered in parts, then exchanged by pairs",
		tb_broadcast_scatter_doubling, 0,
		{OPENMPI("scatter_allgather"),
			MPICH("scatter_recursive_doubling_allgather")}},
	{TB_COLL_BROADCAST, "scatter-ring",
		"scattered in equal parts, which then go round",
		tb_broadcast_scatter_ring, SQUARE, {MPICH("scatter_ring_allgather")}},
	{TB_COLL_BROADCAST, "nccl-chain", "in chunks from rank to rank, by channels",
		tb_nccl_chain, TB_TAKES_HOSTS, {NCCL("Ring")}},

	{TB_COLL_GATHER, "binomial", "the reverse of scatter", tb_tree_binomial,
		PORTS | FIRST, {OPENMPI("binomial"), MPICH("binomial")}},
	{TB_COLL_GATHER, "tree", "up a tree in which a rank has --branch children",
		tb_tree_heap, TREE, {0}},
	{TB_COLL_GATHER, "sequential", "everybody sends to the root at once",
		tb_sequential, PORTS, {0}},
	{TB_COLL_GATHER, "linear", "all to the root, in a round", tb_linear, FIRST,
		{OPENMPI("basic_linear"), MPICH("linear"), POINT_TO_POINT}},
	{TB_COLL_GATHER, "linear-sync", "all to the root, when it permits",
		tb_gather_sync, LAST, {OPENMPI("linear_sync")}},

	{TB_COLL_SCATTER, "binomial", "each rank with blocks sends on k of k + 1 parts",
		tb_tree_binomial, PORTS | LAST, {OPENMPI("binomial"), MPICH("binomial")}},
	{TB_COLL_SCATTER, "sequential", "the root sends to k others per round",
		tb_sequential, PORTS, {0}},
	{TB_COLL_SCATTER, "linear", "the root sends to all at once", tb_linear, FIRST,
		{OPENMPI("basic_linear"), MPICH("linear"), POINT_TO_POINT}},

	{TB_COLL_ALLGATHER, "direct", "each sends its block to k others per round",
		tb_direct, SQUARE | PORTS, {0}},
	{TB_COLL_ALLGATHER, "exchange", "groups of k + 1 exchange, then groups of groups",
		tb_allgather_exchange, PORTS, {0}},
	{TB_COLL_ALLGATHER, "bruck",
		"each sends its blocks to k others, ever further away",
		tb_allgather_bruck, PORTS | FIRST, {OPENMPI("bruck"), MPICH("brucks")}},
	{TB_COLL_ALLGATHER, "ring", "blocks go round, a ring for each port",
		tb_allgather_ring, SQUARE | PORTS | FIRST,
		{OPENMPI("ring"), MPICH("ring")}},
	{TB_COLL_ALLGATHER, "gather-broadcast", "up a tree to rank 0 and down again",
		tb_allgather_gather_broadcast, TREE, {OPENMPI("default")}},
	{TB_COLL_ALLGATHER, "linear", "each sends its block to all at once",
		tb_linear_to_all, SQUARE, {POINT_TO_POINT}},
	{TB_COLL_ALLGATHER, "pipelined-ring",
		"blocks go round, in segments if they are set",
		tb_allgather_pipelined_ring, SQUARE, {MPICH("ring of allgatherv")}},
	{TB_COLL_ALLGATHER, "doubling", "pairs exchange, then pairs of pairs",
		tb_allgather_exchange, TB_NEEDS_POWER | FIRST,
		{OPENMPI("recursive_doubling"), MPICH("recursive_doubling")}},
	{TB_COLL_ALLGATHER, "neighbor", "neighbours exchange, on either side in turn",
		tb_allgather_neighbor, TB_NEEDS_EVEN | SQUARE | FIRST,
		{OPENMPI("neighbor")}},
	{TB_COLL_ALLGATHER, "pair", "the two exchange", tb_allgather_ring,
		TB_NEEDS_TWO | LAST, {OPENMPI("two_proc")}},
	{TB_COLL_ALLGATHER, "nccl-ring", "in chunks round, by channels", tb_nccl_ring,
		TB_NEEDS_EQUAL | SQUARE | TB_TAKES_HOSTS, {NCCL("Ring")}},
	{TB_COLL_ALLGATHER, "nccl-pat", "blocks double their places in each round",
		tb_nccl_pat, TB_NEEDS_EQUAL, {NCCL("PAT")}},

	{TB_COLL_ALLTOALL, "direct", "each sends to the next k others, waits for none",
		tb_direct, SQUARE | PORTS, {0}},
	{TB_COLL_ALLTOALL, "pairwise", "pairs exchange, k pairs per rank and round",
		tb_alltoall_pairwise, SQUARE | PORTS | FIRST, {MPICH("pairwise")}},
	{TB_COLL_ALLTOALL, "permission", "direct, when the sender before it permits",
		tb_alltoall_permission, SQUARE | PORTS, {0}},
	{TB_COLL_ALLTOALL, "bruck", "blocks hop by the digits of their distance",
		tb_alltoall_bruck, TB_NEEDS_EQUAL | PORTS,
		{OPENMPI("modified_bruck"), MPICH("brucks")}},
	{TB_COLL_ALLTOALL, "linear", "each sends to all others at once", tb_linear_to_all,
		SQUARE | FIRST, {OPENMPI("linear"), MPICH("scattered"), POINT_TO_POINT}},
	{TB_COLL_ALLTOALL, "linear-sync",
		"linear, as many messages under way as there are", tb_linear_to_all,
		SQUARE | FIRST, {OPENMPI("linear_sync")}},
	{TB_COLL_ALLTOALL, "shift", "each sends to the next, then to the one after it",
		tb_alltoall_shift, SQUARE | LAST,
		{OPENMPI("pairwise"), MPICH("pairwise")}},
	{TB_COLL_ALLTOALL, "pair", "the two exchange", tb_alltoall_shift,
		TB_NEEDS_TWO | LAST, {OPENMPI("two_proc")}},

	{TB_COLL_REDUCE, "binomial", "the reverse of broadcast", tb_tree_binomial,
		PORTS | TWO, {OPENMPI("binomial"), MPICH("binomial")}},
	{TB_COLL_REDUCE, "tree", "up a tree in which a rank has --branch children",
		tb_tree_heap, TREE, {0}},
	{TB_COLL_REDUCE, "rabenseifner", "parts reduced by halving, then gathered",
		tb_rabenseifner, PORTS | WHOLE | TWO, {OPENMPI("rabenseifner")}},
	{TB_COLL_REDUCE, "linear", "all to the root at once", tb_linear, ONE,
		{OPENMPI("linear")}},
	{TB_COLL_REDUCE, "binary", "up a tree of two children per rank", tb_tree_binary,
		TWO, {OPENMPI("binary")}},
	{TB_COLL_REDUCE, "in-order-binary",
		"up a binary tree that keeps the order of ranks", tb_tree_in_order, TWO,
		{OPENMPI("in-order_binary")}},
	{TB_COLL_REDUCE, "chain", "from rank to rank", tb_tree_chain, TWO,
		{OPENMPI("chain")}},
	{TB_COLL_REDUCE, "pipeline", "from rank to rank, in segments if they are set",
		tb_tree_chain, ONE, {OPENMPI("pipeline")}},
	{TB_COLL_REDUCE, "halving-gather",
		"pairs add first, then parts by halving, then gathered", tb_halving,
		WHOLE | TWO, {MPICH("reduce_scatter_gather")}},
	{TB_COLL_REDUCE, "nccl-chain", "in chunks from rank to rank, by channels",
		tb_nccl_chain, TB_TAKES_HOSTS, {NCCL("Ring")}},

	{TB_COLL_ALLREDUCE, "doubling",
		"groups of k + 1 exchange and add, then groups of groups",
		tb_allreduce_doubling, PORTS | WHOLE | ONE,
		{OPENMPI("recursive_doubling"), MPICH("recursive_doubling")}},
	{TB_COLL_ALLREDUCE, "tree", "up a tree to rank 0 and down again", tb_tree_heap,
		TREE, {0}},
	{TB_COLL_ALLREDUCE, "ring", "parts go round twice, a ring for each port",
		tb_allreduce_ring, SQUARE | PORTS | WHOLE, {OPENMPI("ring")}},
	{TB_COLL_ALLREDUCE, "rabenseifner",
		"parts reduced by halving, then spread by doubling", tb_rabenseifner,
		PORTS | WHOLE | ONE, {OPENMPI("rabenseifner")}},
	{TB_COLL_ALLREDUCE, "linear", "all to rank 0, and back", tb_linear, 0,
		{OPENMPI("basic_linear")}},
	{TB_COLL_ALLREDUCE, "reduce-broadcast", "reduced by rank 0, then broadcast",
		tb_allreduce_reduce_broadcast, 0, {OPENMPI("nonoverlapping")}},
	{TB_COLL_ALLREDUCE, "halving-doubling",
		"pairs add first, then parts by halving and doubling", tb_halving,
		WHOLE | ONE, {MPICH("reduce_scatter_allgather")}},
	{TB_COLL_ALLREDUCE, "nccl-ring", "in chunks round twice, by channels",
		tb_nccl_ring, SQUARE | TB_TAKES_HOSTS, {NCCL("Ring")}},
	{TB_COLL_ALLREDUCE, "nccl-tree", "halves up and down two binary trees of hosts",
		tb_nccl_tree, TB_TAKES_HOSTS, {NCCL("Tree")}},
	{TB_COLL_ALLREDUCE, "nccl-nvls", "parts added and copied by NVSwitch",
		tb_nccl_nvls, SQUARE, {NCCL("NVLS")}},
	{TB_COLL_ALLREDUCE, "nccl-nvls-tree", "by NVSwitch, between hosts by trees",
		tb_nccl_nvls_tree, TB_TAKES_HOSTS, {NCCL("NVLSTree")}},

	{TB_COLL_REDUCE_SCATTER, "ring", "parts go round once, a ring for each port",
		tb_reduce_scatter_ring, SQUARE | PORTS | WHOLE | ONE, {OPENMPI("ring")}},
	{TB_COLL_REDUCE_SCATTER, "halving",
		"groups of groups exchange halves, then groups",
		tb_reduce_scatter_halving, PORTS | WHOLE | TWO,
		{OPENMPI("recursive_halving"), MPICH("recursive_halving")}},
	{TB_COLL_REDUCE_SCATTER, "linear", "all to rank 0, and parts back", tb_linear, 0,
		{OPENMPI("linear")}},
	{TB_COLL_REDUCE_SCATTER, "reduce-scatter", "reduced by rank 0, then scattered",
		tb_reduce_scatter_reduce, 0, {OPENMPI("non-overlapping")}},
	{TB_COLL_REDUCE_SCATTER, "butterfly", "pairs exchange halves, ever further away",
		tb_reduce_scatter_butterfly, WHOLE | TWO, {OPENMPI("butterfly")}},
	{TB_COLL_REDUCE_SCATTER, "pairwise", "each gets its part from all, one per round",
		tb_reduce_scatter_pairwise, SQUARE, {MPICH("pairwise")}},
	{TB_COLL_REDUCE_SCATTER, "nccl-ring", "in chunks round once, by channels",
		tb_nccl_ring, SQUARE | TB_TAKES_HOSTS, {NCCL("Ring")}},

	{TB_COLL_REDUCE_SCATTER, "nccl-pat", "the reverse of its all-gather", tb_nccl_pat,
		0, {NCCL("PAT")}},

	{TB_COLL_SCAN, "linear", "from rank to rank, each adds its own", tb_scan_linear,
		0, {OPENMPI("linear"), POINT_TO_POINT}},
	{TB_COLL_SCAN, "doubling", "pairs exchange and add, then pairs of pairs",
		tb_scan_doubling, 0, {MPICH("recursive_doubling")}},
	{TB_COLL_EXSCAN, "linear", "from rank to rank, each adds its own", tb_scan_linear,
		0, {OPENMPI("linear"), POINT_TO_POINT}},
	{TB_COLL_EXSCAN, "doubling", "pairs exchange and add, then pairs of pairs",
		tb_scan_doubling, 0, {MPICH("recursive_doubling")}},
	{TB_COLL_EXCHANGE, "linear", "each message goes straight", tb_exchange_linear, 0,
		{OPENMPI("linear"), MPICH("linear"), POINT_TO_POINT}},
	{TB_COLL_N, NULL, NULL, NULL, 0, {0}},
};

void tb_put(struct tb_plan *plan, struct tb_way way, uint64_t first, uint64_t count)
{
	tb_plan_put(plan, (struct tb_transfer){.from = way.from,
				  .to = way.to,
				  .blocks = count ? TB_BLOCKS_RANGE : TB_BLOCKS_NONE,
				  .first = (uint32_t)first,
				  .count = (uint32_t)count});
}

void tb_put_combining(
	struct tb_plan *plan, struct tb_way way, uint64_t first, uint64_t count)
{
	tb_plan_put(plan, (struct tb_transfer){.from = way.from,
				  .to = way.to,
				  .blocks = TB_BLOCKS_RANGE,
				  .first = (uint32_t)first,
				  .count = (uint32_t)count,
				  .combines = true});
}

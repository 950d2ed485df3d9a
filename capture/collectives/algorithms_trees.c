// Groups of ranks and exchanges between them, and how a vector is cut into blocks.
#include "algorithms.h"

#include <stdlib.h>

// rank_groups_of makes the groups of paper 002 where the call is by ports, else those
// of libraries, which have one port.
static struct tb_rank_groups rank_groups_of(const struct tb_plan *plan,
	const struct tb_collective_shape *shape, enum tb_fold of_libraries)
{
	uint32_t groups = 1, b = plan->n_ports + 1;
	while (groups <= shape->n / b)
		groups *= b;
	return (struct tb_rank_groups){
		.fold = shape->by_ports ? TB_FOLD_SPREAD : of_libraries,
		.n_groups = groups,
		.n_ranks = shape->n,
		.root = shape->by_ports ? shape->root : 0,
		.n_more = shape->n - groups};
}

static uint32_t group_start(const struct tb_rank_groups *groups, uint32_t group)
{
	if (groups->fold == TB_FOLD_SPREAD)
		return (uint32_t)((uint64_t)group * groups->n_ranks / groups->n_groups);
	return group + (group < groups->n_more ? group : groups->n_more);
}

uint32_t tb_group_head(const struct tb_rank_groups *groups, uint32_t group)
{
	bool second = groups->fold == TB_FOLD_ODD && group < groups->n_more;
	return group_start(groups, group) + second;
}

static uint32_t groups_rank_at(const struct tb_rank_groups *groups, uint32_t relative)
{
	return (uint32_t)(((uint64_t)relative + groups->root) % groups->n_ranks);
}

// groups_put adds a transfer between relative ranks. PARTS: it moves the blocks of the
// relative ranks `first` to `end` - 1.
static void groups_put(struct tb_plan *plan, const struct tb_rank_groups *groups,
	enum tb_moves moves, struct tb_transfer transfer, uint32_t end)
{
	uint32_t per_rank = (uint32_t)(plan->n_blocks / plan->n_ranks);
	bool whole = moves == TB_MOVES_WHOLE;
	transfer.blocks = moves == TB_MOVES_TOKEN ? TB_BLOCKS_NONE : TB_BLOCKS_RANGE;
	transfer.count =
		whole ? (uint32_t)plan->n_blocks : (end - transfer.first) * per_rank;
	transfer.first = whole ? 0 : groups_rank_at(groups, transfer.first) * per_rank;
	transfer.from = groups_rank_at(groups, transfer.from);
	transfer.to = groups_rank_at(groups, transfer.to);
	tb_plan_put(plan, transfer);
}

// within_groups is a round in which all members of a group send to its head, or get from
// it.
static void within_groups(struct tb_plan *plan, const struct tb_rank_groups *groups,
	enum tb_moves moves, struct tb_transfer what, bool up)
{
	if (groups->n_groups == groups->n_ranks)
		return;
	tb_plan_next_round(plan);
	for (uint32_t c = 0; c < groups->n_groups; c++) {
		uint32_t head = tb_group_head(groups, c);
		uint32_t end = group_start(groups, c + 1);
		what.port = 0;
		for (uint32_t v = group_start(groups, c); v < end; v++) {
			if (v == head)
				continue;
			what.from = up ? v : head;
			what.to = up ? head : v;
			what.first = v;
			groups_put(plan, groups, moves, what, v + 1);
			what.port++;
		}
	}
}

// plan_collect: the members of each group send to its head; plan_hand_out: the
// reverse. One round, or none if every group is a single rank. PARTS: each member's
// block.
static void plan_collect(struct tb_plan *plan, const struct tb_rank_groups *groups,
	enum tb_moves moves, bool combines)
{
	within_groups(
		plan, groups, moves, (struct tb_transfer){.combines = combines}, true);
}

static void plan_hand_out(
	struct tb_plan *plan, const struct tb_rank_groups *groups, enum tb_moves moves)
{
	within_groups(plan, groups, moves, (struct tb_transfer){0}, false);
}

// groups_exchange is a round in which group c sends to the k groups that differ from it
// in the digit of weight `size`. It sends the blocks of the `size` groups around itself;
// if they are to be combined, those of the groups around the other.
static void groups_exchange(struct tb_plan *plan, const struct tb_rank_groups *groups,
	uint32_t size, enum tb_moves moves, bool combines)
{
	uint32_t b = plan->n_ports + 1;
	tb_plan_next_round(plan);
	for (uint32_t c = 0; c < groups->n_groups; c++) {
		uint32_t digit = c / size % b;
		for (uint32_t j = 1; j < b; j++) {
			uint32_t other = c + ((digit + j) % b) * size - digit * size;
			uint32_t of = combines ? other : c;
			uint32_t low = of - of % size;
			groups_put(plan, groups, moves,
				(struct tb_transfer){.from = tb_group_head(groups, c),
					.to = tb_group_head(groups, other),
					.first = group_start(groups, low),
					.port = (uint16_t)(j - 1),
					.combines = combines},
				group_start(groups, low + size));
		}
	}
}

// plan_double: the heads of the groups exchange with k others, then groups of b groups
// do, and so on: log_b M rounds. PARTS: all blocks that each has by then.
static void plan_double(struct tb_plan *plan, const struct tb_rank_groups *groups,
	enum tb_moves moves, bool combines)
{
	for (uint32_t size = 1; size < groups->n_groups; size *= plan->n_ports + 1)
		groups_exchange(plan, groups, size, moves, combines);
}

// plan_halve: the reverse, with combining. In the end each head has the blocks of its
// own group.
static void plan_halve(struct tb_plan *plan, const struct tb_rank_groups *groups)
{
	for (uint32_t size = groups->n_groups / (plan->n_ports + 1); size > 0;
		size /= plan->n_ports + 1)
		groups_exchange(plan, groups, size, TB_MOVES_PARTS, true);
}

// plan_make_room gives a plan `n` blocks whose ends are to be filled in.
static bool plan_make_room(struct tb_plan *plan, uint64_t n)
{
	free(plan->block_ends);
	plan->block_ends = malloc((n + 1) * sizeof *plan->block_ends);
	if (!plan->block_ends)
		plan->status = TB_ENOMEM;
	else
		plan->n_blocks = n;
	return plan->block_ends != NULL;
}

uint64_t tb_element_bytes(uint64_t bytes)
{
	return bytes % 8 == 0 ? 8 : bytes % 4 == 0 ? 4 : 1;
}

// cut_segments cuts the vector into segments of so many bytes; 0: it stays whole.
static void cut_segments(struct tb_plan *plan, uint64_t segment_bytes)
{
	uint64_t bytes = plan->unit_bytes;
	if (segment_bytes == 0 || segment_bytes >= bytes)
		return;
	uint64_t n = bytes / segment_bytes + (bytes % segment_bytes != 0);
	if (!plan_make_room(plan, n))
		return;
	for (uint64_t i = 0; i < n; i++)
		plan->block_ends[i] = i + 1 < n ? (i + 1) * segment_bytes : bytes;
}

void tb_cut_even(struct tb_plan *plan, uint32_t n, uint64_t element_bytes)
{
	uint64_t elements = plan->unit_bytes / element_bytes, end = 0;
	if (!plan_make_room(plan, n))
		return;
	for (uint32_t i = 0; i < n; i++) {
		end += (elements / n + (i < elements % n)) * element_bytes;
		plan->block_ends[i] = i + 1 < n ? end : plan->unit_bytes;
	}
}

void tb_cut_ceiling(struct tb_plan *plan, uint32_t n)
{
	uint64_t each = plan->unit_bytes / n + (plan->unit_bytes % n != 0);
	if (!plan_make_room(plan, n))
		return;
	for (uint32_t i = 0; i < n; i++) {
		uint64_t end = each * (i + UINT64_C(1));
		plan->block_ends[i] = end < plan->unit_bytes ? end : plan->unit_bytes;
	}
}

void tb_cut_chunks(struct tb_plan *plan, const struct tb_collective_shape *shape)
{
	if (!shape->by_ports) {
		tb_cut_even(plan, shape->n, tb_element_bytes(shape->bytes));
		return;
	}
	plan->n_blocks = (uint64_t)plan->n_ranks * plan->n_ports;
	plan->blocks_per_unit = (uint32_t)plan->n_blocks;
}

// Algorithms in which the distance between partners grows or shrinks from round to round
// by the factor k + 1: Bruck's, dissemination, and exchanges between groups (Rabenseifner
// 2004; Thakur, Rabenseifner, Gropp 2005).

void tb_allreduce_doubling(struct tb_plan *plan, const struct tb_collective_shape *shape)
{
	struct tb_rank_groups groups = rank_groups_of(plan, shape, TB_FOLD_ODD);
	plan_collect(plan, &groups, TB_MOVES_WHOLE, true);
	plan_double(plan, &groups, TB_MOVES_WHOLE, true);
	plan_hand_out(plan, &groups, TB_MOVES_WHOLE);
}

void tb_reduce_scatter_halving(
	struct tb_plan *plan, const struct tb_collective_shape *shape)
{
	struct tb_rank_groups groups = rank_groups_of(plan, shape, TB_FOLD_ODD);
	if (!shape->by_ports)
		tb_cut_chunks(plan, shape);
	plan_collect(plan, &groups, TB_MOVES_WHOLE, true);
	plan_halve(plan, &groups);
	plan_hand_out(plan, &groups, TB_MOVES_PARTS);
}

void tb_allgather_exchange(struct tb_plan *plan, const struct tb_collective_shape *shape)
{
	struct tb_rank_groups groups = rank_groups_of(plan, shape, TB_FOLD_SPREAD);
	plan_collect(plan, &groups, TB_MOVES_PARTS, false);
	plan_double(plan, &groups, TB_MOVES_PARTS, false);
	plan_hand_out(plan, &groups, TB_MOVES_WHOLE);
}

// In each round a rank has `have` blocks, from its own on. It sends them to the k ranks
// at distances have, 2 * have, ... before it; in the last round only those that they
// miss.
void tb_allgather_bruck(struct tb_plan *plan, const struct tb_collective_shape *shape)
{
	uint64_t n = shape->n, b = plan->n_ports + 1;
	for (uint64_t have = 1; have < n; have *= b) {
		tb_plan_next_round(plan);
		for (uint32_t p = 0; p < n; p++)
			for (uint32_t j = 1; j < b && j * have < n; j++) {
				uint64_t misses = n - j * have;
				uint64_t count = misses < have ? misses : have;
				tb_plan_put(plan,
					(struct tb_transfer){.from = p,
						.to = (uint32_t)((p + n - j * have) % n),
						.port = (uint16_t)(j - 1),
						.blocks = TB_BLOCKS_RANGE,
						.first = p,
						.count = (uint32_t)count});
			}
	}
}

void tb_alltoall_bruck(struct tb_plan *plan, const struct tb_collective_shape *shape)
{
	uint64_t n = shape->n, b = plan->n_ports + 1;
	plan->radix = (uint32_t)b;
	for (uint64_t weight = 1; weight < n; weight *= b) {
		tb_plan_next_round(plan);
		for (uint32_t p = 0; p < n; p++)
			for (uint32_t j = 1; j < b && j * weight < n; j++)
				tb_plan_put(plan,
					(struct tb_transfer){.from = p,
						.to = (uint32_t)((p + j * weight) % n),
						.port = (uint16_t)(j - 1),
						.blocks = TB_BLOCKS_DIGIT,
						.first = (uint32_t)weight,
						.count = j});
	}
}

// Each rank sends tokens to k others, further away each round. After ceil(log_b N) rounds
// each rank has heard, directly or not, from all.
void tb_barrier_dissemination(
	struct tb_plan *plan, const struct tb_collective_shape *shape)
{
	(void)shape;
	uint64_t n = plan->n_ranks, b = plan->n_ports + 1;
	for (uint64_t distance = 1; distance < n; distance *= b) {
		tb_plan_next_round(plan);
		for (uint32_t p = 0; p < n; p++)
			for (uint32_t j = 1; j < b && j * distance < n; j++)
				tb_plan_put(plan,
					(struct tb_transfer){.from = p,
						.to = (uint32_t)((p + j * distance) % n),
						.port = (uint16_t)(j - 1),
						.blocks = TB_BLOCKS_NONE});
	}
}

// The members beyond a power of two give a token to the first ones, and get one back.
void tb_barrier_doubling(struct tb_plan *plan, const struct tb_collective_shape *shape)
{
	struct tb_rank_groups groups = rank_groups_of(plan, shape, TB_FOLD_EVEN);
	uint32_t power = groups.n_groups;
	for (uint32_t v = 0; v < groups.n_more; v++) {
		if (v == 0)
			tb_plan_next_round(plan);
		tb_put(plan, TB_WAY(power + v, v), 0, 0);
	}
	for (uint32_t mask = 1; mask < power; mask *= 2) {
		tb_plan_next_round(plan);
		for (uint32_t v = 0; v < power; v++)
			tb_put(plan, TB_WAY(v, v ^ mask), 0, 0);
	}
	for (uint32_t v = 0; v < groups.n_more; v++) {
		if (v == 0)
			tb_plan_next_round(plan);
		tb_put(plan, TB_WAY(v, power + v), 0, 0);
	}
}

static uint32_t mirrored_bits(uint32_t v, uint32_t power)
{
	uint32_t mirrored = 0;
	for (uint32_t bit = 1; bit < power; bit *= 2)
		mirrored = mirrored * 2 + ((v & bit) != 0);
	return mirrored;
}

// doubling_window returns the first block of the window of `size` blocks that v has while
// distances double: the lowest bit of v chooses the half of the vector.
static uint32_t doubling_window(uint32_t v, uint32_t power, uint32_t size)
{
	uint32_t block = mirrored_bits(v, power);
	return block - block % size;
}

// by_windows: halves of the vector are added up in windows, which then go to the root, or
// to all.
static void by_windows(struct tb_plan *plan, const struct tb_collective_shape *shape,
	const struct tb_rank_groups *groups)
{
	for (uint32_t mask = 1; mask < groups->n_groups; mask *= 2) {
		uint32_t size = groups->n_groups / mask / 2;
		tb_plan_next_round(plan);
		for (uint32_t v = 0; v < groups->n_groups; v++)
			tb_put_combining(plan,
				TB_WAY(tb_group_head(groups, v),
					tb_group_head(groups, v ^ mask)),
				doubling_window(v ^ mask, groups->n_groups, size), size);
	}
	if (shape->op == TB_COLL_REDUCE) {
		// The root gets all windows, up a binomial tree. It may have been left
		// out; then the first member gives its window to it, and it goes on in
		// its place.
		uint32_t root = shape->root;
		bool left_out = root < 2 * groups->n_more && root % 2;
		uint32_t top = left_out			   ? 0
			       : root < 2 * groups->n_more ? root / 2
							   : root - groups->n_more;
		if (left_out) {
			tb_plan_next_round(plan);
			tb_put(plan, TB_WAY(0, root), 0, 1);
		}
		for (uint32_t mask = groups->n_groups / 2; mask > 0; mask /= 2) {
			uint32_t size = groups->n_groups / mask / 2;
			tb_plan_next_round(plan);
			// Those who still gather agree with the top in all bits above the
			// mask's.
			for (uint32_t v = 0; v < groups->n_groups; v++) {
				uint32_t to = v ^ mask;
				if (!((v ^ top) & mask) || (v ^ top) >= 2 * mask)
					continue;
				tb_put(plan,
					TB_WAY(tb_group_head(groups, v),
						left_out && to == 0
							? root
							: tb_group_head(groups, to)),
					doubling_window(v, groups->n_groups, size), size);
			}
		}
		return;
	}
	// The reverse of halve_windows, without combining.
	for (uint32_t mask = groups->n_groups / 2; mask > 0; mask /= 2) {
		uint32_t size = groups->n_groups / mask / 2;
		tb_plan_next_round(plan);
		for (uint32_t v = 0; v < groups->n_groups; v++)
			tb_put(plan,
				TB_WAY(tb_group_head(groups, v),
					tb_group_head(groups, v ^ mask)),
				doubling_window(v, groups->n_groups, size), size);
	}
	plan_hand_out(plan, groups, TB_MOVES_WHOLE);
}

// Distances halve here, so that each has the blocks of its own group.
static void rabenseifner_by_ports(struct tb_plan *plan,
	const struct tb_collective_shape *shape, const struct tb_rank_groups *groups)
{
	plan_collect(plan, groups, TB_MOVES_WHOLE, true);
	plan_halve(plan, groups);
	if (shape->op == TB_COLL_REDUCE) {
		// The head of group 0 gets the blocks of all groups from their
		// heads, up a binomial tree.
		uint32_t n = groups->n_groups, b = plan->n_ports + 1;
		for (uint32_t size = 1; size < n; size *= b) {
			tb_plan_next_round(plan);
			for (uint32_t c = 0; c < n; c++) {
				uint32_t digit = c / size % b;
				if (c % size != 0 || digit == 0)
					continue;
				uint32_t to = tb_group_head(groups, c - digit * size);
				groups_put(plan, groups, TB_MOVES_PARTS,
					(struct tb_transfer){
						.from = tb_group_head(groups, c),
						.to = to,
						.first = group_start(groups, c),
						.port = (uint16_t)(digit - 1)},
					group_start(groups, c + size));
			}
		}
		return;
	}
	plan_double(plan, groups, TB_MOVES_PARTS, false);
	plan_hand_out(plan, groups, TB_MOVES_WHOLE);
}

void tb_rabenseifner(struct tb_plan *plan, const struct tb_collective_shape *shape)
{
	struct tb_rank_groups groups = rank_groups_of(plan, shape, TB_FOLD_EVEN);
	if (shape->by_ports) {
		rabenseifner_by_ports(plan, shape, &groups);
		return;
	}
	uint64_t element_bytes = tb_element_bytes(shape->bytes);
	uint64_t *ends;
	if (plan_make_room(plan, groups.n_groups)) {
		ends = plan->block_ends;
		ends[0] = plan->unit_bytes / element_bytes;
		// Sizes first: each of the blocks so far is split, the last one before
		// the others.
		for (uint32_t have = 1; have < groups.n_groups; have *= 2)
			for (uint32_t i = have; i-- > 0;) {
				uint64_t size = ends[i];
				ends[2 * i] = size / 2;
				ends[2 * i + 1] = size - size / 2;
			}
		for (uint32_t i = 0; i < groups.n_groups; i++)
			ends[i] = ends[i] * element_bytes + (i ? ends[i - 1] : 0);
		ends[groups.n_groups - 1] = plan->unit_bytes;
	}
	// Both of a pair reduce a half, and the odd one gives his to the even one.
	uint32_t half = groups.n_groups / 2;
	if (groups.n_more) {
		tb_plan_next_round(plan);
		for (uint32_t v = 0; v < groups.n_more; v++) {
			tb_put_combining(plan, TB_WAY(2 * v, 2 * v + 1), half, half);
			tb_put_combining(plan, TB_WAY(2 * v + 1, 2 * v), 0, half);
		}
		tb_plan_next_round(plan);
		for (uint32_t v = 0; v < groups.n_more; v++)
			tb_put(plan, TB_WAY(2 * v + 1, 2 * v), half, half);
	}
	by_windows(plan, shape, &groups);
}

void tb_halving(struct tb_plan *plan, const struct tb_collective_shape *shape)
{
	enum tb_fold fold = shape->op == TB_COLL_ALLREDUCE ? TB_FOLD_ODD : TB_FOLD_EVEN;
	struct tb_rank_groups groups = rank_groups_of(plan, shape, fold);
	tb_cut_even(plan, groups.n_groups, tb_element_bytes(shape->bytes));
	plan_collect(plan, &groups, TB_MOVES_WHOLE, true);
	by_windows(plan, shape, &groups);
}

// Pairs exchange what they have added up of their groups, which double. The sum of the
// lower group counts; that of the higher one is only passed on.
void tb_scan_doubling(struct tb_plan *plan, const struct tb_collective_shape *shape)
{
	for (uint32_t mask = 1; mask < shape->n; mask *= 2) {
		tb_plan_next_round(plan);
		for (uint32_t v = 0; v < shape->n; v++)
			if ((v ^ mask) < shape->n)
				tb_put_combining(
					plan, TB_WAY(v, v ^ mask), 0, plan->n_blocks);
	}
}

// Distances double, so that each ends with the blocks of its mirror image (Traeff 2005).
void tb_reduce_scatter_butterfly(
	struct tb_plan *plan, const struct tb_collective_shape *shape)
{
	struct tb_rank_groups groups = rank_groups_of(plan, shape, TB_FOLD_ODD);
	uint32_t power = groups.n_groups;
	tb_cut_even(plan, shape->n, tb_element_bytes(shape->bytes));
	plan_collect(plan, &groups, TB_MOVES_WHOLE, true);
	for (uint32_t mask = 1; mask < power; mask *= 2) {
		uint32_t size = power / mask / 2;
		tb_plan_next_round(plan);
		for (uint32_t v = 0; v < power; v++) {
			uint32_t low = doubling_window(v ^ mask, power, size);
			uint32_t first = group_start(&groups, low);
			tb_put_combining(plan,
				TB_WAY(tb_group_head(&groups, v),
					tb_group_head(&groups, v ^ mask)),
				first, group_start(&groups, low + size) - first);
		}
	}
	tb_plan_next_round(plan);
	for (uint32_t v = 0; v < power; v++) {
		uint32_t to = mirrored_bits(v, power), rank = tb_group_head(&groups, v);
		uint32_t first = group_start(&groups, to);
		if (to < groups.n_more && first != rank)
			tb_put(plan, TB_WAY(rank, first), first, 1);
		if (to != v)
			tb_put(plan, TB_WAY(rank, tb_group_head(&groups, to)),
				first + (to < groups.n_more), 1);
	}
}

// Trees. In those of libraries a member passes a part on to all of its children at once,
// and a vector may go in segments, one behind the other. In those of the papers it sends
// to k children per round.

// moves_of returns what goes along an edge of a tree.
static enum tb_moves moves_of(enum tb_collective_op op)
{
	return op == TB_COLL_BARRIER			  ? TB_MOVES_TOKEN
	       : tb_collectives[op].size == TB_SIZE_BLOCK ? TB_MOVES_PARTS
							  : TB_MOVES_WHOLE;
}

static uint32_t real_rank(const struct tb_plan *plan, uint64_t relative)
{
	return (uint32_t)((relative + plan->root) % plan->n_ranks);
}

// An edge of a tree, between relative ranks. The subtree of `below` has the `n_below`
// relative ranks from `below` on.
struct subtree_edge {
	uint32_t above, below, n_below;
	uint32_t port;
};

static void put_edge(struct tb_plan *plan, struct subtree_edge edge, bool up,
	enum tb_moves moves, bool combines)
{
	uint32_t parent = real_rank(plan, edge.above),
		 child = real_rank(plan, edge.below);
	uint64_t per_rank = plan->n_blocks / plan->n_ranks;
	bool whole = moves == TB_MOVES_WHOLE;
	tb_plan_put(plan, (struct tb_transfer){.from = up ? child : parent,
				  .to = up ? parent : child,
				  .port = (uint16_t)edge.port,
				  .blocks = moves == TB_MOVES_TOKEN ? TB_BLOCKS_NONE
								    : TB_BLOCKS_RANGE,
				  .first = whole ? 0 : (uint32_t)(child * per_rank),
				  .count = (uint32_t)(whole ? plan->n_blocks
							    : edge.n_below * per_rank),
				  .combines = combines});
}

// binomial_round connects each relative rank that is a multiple of b * size to the k
// subtrees of `size` relative ranks that follow it.
static void binomial_round(
	struct tb_plan *plan, uint64_t size, bool up, enum tb_moves moves, bool combines)
{
	uint32_t n = plan->n_ranks, k = plan->n_ports;
	tb_plan_next_round(plan);
	for (uint64_t v = 0; v < n; v += size * (k + 1)) {
		for (uint32_t j = 1; j <= k && v + j * size < n; j++) {
			uint64_t child = v + j * size;
			uint64_t n_below = n - child < size ? n - child : size;
			struct subtree_edge edge = {
				(uint32_t)v, (uint32_t)child, (uint32_t)n_below, j - 1};
			put_edge(plan, edge, up, moves, combines);
		}
	}
}

void tb_plan_binomial_down(struct tb_plan *plan, enum tb_moves moves)
{
	uint64_t size = 1, b = plan->n_ports + 1;
	while (size * b < plan->n_ranks)
		size *= b;
	for (; size > 0; size /= b)
		binomial_round(plan, size, false, moves, false);
}

static void plan_binomial_up(struct tb_plan *plan, enum tb_moves moves, bool combines)
{
	uint64_t b = plan->n_ports + 1;
	for (uint64_t size = 1; size < plan->n_ranks; size *= b)
		binomial_round(plan, size, true, moves, combines);
}

// A level of a heap: relative ranks first to end - 1. The last level may extend beyond N.
struct heap_row {
	uint64_t first, end;
};

static struct heap_row below(struct heap_row level, uint32_t branch)
{
	return (struct heap_row){level.first * branch + 1, level.end * branch + 1};
}

static struct heap_row above(struct heap_row level, uint32_t branch)
{
	return (struct heap_row){(level.first - 1) / branch, (level.end - 1) / branch};
}

// heap_level connects the ranks of a level to their parents, k children of a parent per
// round.
static void heap_level(struct tb_plan *plan, struct heap_row level, uint32_t branch,
	bool up, struct tb_transfer what)
{
	uint32_t k = plan->n_ports;
	if (level.end > plan->n_ranks)
		level.end = plan->n_ranks;
	uint64_t widest = level.end - level.first;
	widest = widest < branch ? widest : branch;
	for (uint32_t begin = 0; begin < widest; begin += k) {
		tb_plan_next_round(plan);
		for (uint64_t v = level.first; v < level.end; v++) {
			uint32_t child = (uint32_t)((v - 1) % branch);
			if (child < begin || child >= begin + k)
				continue;
			uint32_t parent = real_rank(plan, (v - 1) / branch);
			uint32_t rank = real_rank(plan, v);
			what.from = up ? rank : parent;
			what.to = up ? parent : rank;
			what.port = (uint16_t)(child - begin);
			what.first = what.blocks == TB_BLOCKS_HEAP ? (uint32_t)v : 0;
			tb_plan_put(plan, what);
		}
	}
}

static struct tb_transfer heap_transfer(
	struct tb_plan *plan, uint32_t branch, enum tb_moves moves, bool combines)
{
	struct tb_transfer what = {.combines = combines};
	plan->radix = branch;
	what.blocks = moves == TB_MOVES_TOKEN	? TB_BLOCKS_NONE
		      : moves == TB_MOVES_PARTS ? TB_BLOCKS_HEAP
						: TB_BLOCKS_RANGE;
	what.count = moves == TB_MOVES_WHOLE ? (uint32_t)plan->n_blocks : 0;
	return what;
}

// With more children than other ranks, the rest would be idle.
static uint32_t branch_of(const struct tb_collective_shape *shape)
{
	uint32_t branch = shape->radix ? shape->radix : 2;
	return branch < shape->n - 1 ? branch : shape->n - 1;
}

void tb_plan_heap_down(struct tb_plan *plan, const struct tb_collective_shape *shape,
	enum tb_moves moves)
{
	uint32_t branch = branch_of(shape);
	struct tb_transfer what = heap_transfer(plan, branch, moves, false);
	for (struct heap_row level = {1, (uint64_t)branch + 1};
		level.first < plan->n_ranks; level = below(level, branch))
		heap_level(plan, level, branch, false, what);
}

void tb_plan_heap_up(struct tb_plan *plan, const struct tb_collective_shape *shape,
	enum tb_moves moves, bool combines)
{
	uint32_t branch = branch_of(shape);
	struct tb_transfer what = heap_transfer(plan, branch, moves, combines);
	struct heap_row level = {0, 1};
	while (below(level, branch).first < plan->n_ranks)
		level = below(level, branch);
	for (; level.first > 0; level = above(level, branch))
		heap_level(plan, level, branch, true, what);
}

// A tree over relative ranks: the parent of each, and how far down it is. The root is
// relative rank 0.
struct rank_tree {
	uint32_t n, root, depth; // of the deepest
	uint32_t *parent, *level;
};

// A shape of trees: the parent of relative rank v > 0, which is before or behind v.
typedef uint32_t parent_of(uint32_t v, uint32_t n, uint32_t radix);

static uint32_t rank_tree_level(const struct rank_tree *tree, uint32_t v)
{
	uint32_t level = 0;
	for (; v != 0; v = tree->parent[v])
		level++;
	return level;
}

static bool rank_tree_init(struct rank_tree *tree,
	const struct tb_collective_shape *shape, parent_of *parent, uint32_t radix)
{
	*tree = (struct rank_tree){.n = shape->n, .root = shape->root};
	tree->parent = calloc(shape->n, sizeof *tree->parent);
	tree->level = calloc(shape->n, sizeof *tree->level);
	if (!tree->parent || !tree->level)
		return false;
	for (uint32_t v = 1; v < shape->n; v++)
		tree->parent[v] = parent(v, shape->n, radix);
	for (uint32_t v = 1; v < shape->n; v++) {
		// A parent with a smaller number has its level already.
		tree->level[v] = tree->parent[v] < v ? tree->level[tree->parent[v]] + 1
						     : rank_tree_level(tree, v);
		if (tree->level[v] > tree->depth)
			tree->depth = tree->level[v];
	}
	return true;
}

static void rank_tree_fini(struct rank_tree *tree)
{
	free(tree->parent);
	free(tree->level);
}

static uint32_t rank_tree_rank(const struct rank_tree *tree, uint32_t v)
{
	return (uint32_t)(((uint64_t)v + tree->root) % tree->n);
}

// put_round puts the transfers of a round of a broadcast: segment s of relative rank v
// comes in round level - 1 + s. A reduction is the same backwards in levels.
static void put_round(struct tb_plan *plan, const struct rank_tree *tree, uint64_t round,
	uint64_t n_segments, bool up)
{
	uint64_t count = plan->n_blocks / n_segments;
	tb_plan_next_round(plan);
	for (uint32_t v = 1; v < tree->n; v++) {
		uint32_t wait = up ? tree->depth - tree->level[v] : tree->level[v] - 1;
		if (round < wait || round - wait >= n_segments)
			continue;
		uint32_t child = rank_tree_rank(tree, v),
			 parent = rank_tree_rank(tree, tree->parent[v]);
		if (up)
			tb_put_combining(
				plan, TB_WAY(child, parent), round - wait, count);
		else
			tb_put(plan, TB_WAY(parent, child), round - wait, count);
	}
}

static void along(struct tb_plan *plan, const struct tb_collective_shape *shape,
	parent_of *parent, uint32_t radix)
{
	struct rank_tree tree;
	uint64_t n_segments = 1;
	if (shape->segment_bytes) {
		cut_segments(plan, shape->segment_bytes);
		n_segments = plan->n_blocks;
	}
	if (!rank_tree_init(&tree, shape, parent, radix))
		plan->status = TB_ENOMEM;
	for (uint64_t round = 0;
		plan->status == TB_OK && round < tree.depth + n_segments - 1; round++)
		put_round(plan, &tree, round, n_segments, shape->op == TB_COLL_REDUCE);
	rank_tree_fini(&tree);
}

static uint32_t chain_parent(uint32_t v, uint32_t n, uint32_t radix)
{
	// Of `radix` chains the first ones are longer by one where they cannot be equal.
	uint32_t length = (n - 1) / radix, longer = (n - 1) % radix;
	uint32_t in_longer = longer * (length + 1);
	uint32_t place =
		v - 1 < in_longer ? (v - 1) % (length + 1) : (v - 1 - in_longer) % length;
	return place == 0 ? 0 : v - 1;
}

// The lowest digit to the base `radix` that is not 0 becomes 0.
static uint32_t knomial_parent(uint32_t v, uint32_t n, uint32_t radix)
{
	(void)n;
	uint64_t weight = 1;
	while (v / weight % radix == 0)
		weight *= radix;
	return (uint32_t)(v - v / weight % radix * weight);
}

// The highest bit becomes 0: a binomial tree with the order of bits reversed.
static uint32_t mirrored_parent(uint32_t v, uint32_t n, uint32_t radix)
{
	(void)n, (void)radix;
	uint32_t bit = 1;
	while (bit <= v / 2)
		bit *= 2;
	return v - bit;
}

// Levels are full but for the last: level L has the 2^L relative ranks from 2^L - 1 on,
// and the children of one are 2^L and 2^(L+1) behind it.
static uint32_t binary_parent(uint32_t v, uint32_t n, uint32_t radix)
{
	(void)n, (void)radix;
	uint32_t width = 1;
	while (v >= 2 * width - 1)
		width *= 2;
	return width / 2 - 1 + (v - (width - 1)) % (width / 2);
}

// The subtree of the last rank is all; of a subtree of s that ends with rank e, one child
// is e - 1 with (s - 1) / 2 ranks, the other one has those before. Numbers are counted
// from the end here, so that the root is 0.
static uint32_t in_order_parent(uint32_t v, uint32_t n, uint32_t radix)
{
	(void)radix;
	uint32_t top = 0, size = n;
	for (;;) {
		uint32_t right = (size - 1) / 2, left = size - 1 - right;
		uint32_t second = top + 1 + right;
		if (right && v == top + 1)
			return top;
		if (v == second)
			return top;
		size = v > second ? left : right;
		top = v > second ? second : top + 1;
	}
}

void tb_tree_chain(struct tb_plan *plan, const struct tb_collective_shape *shape)
{
	uint32_t chains = shape->radix ? shape->radix : 1;
	along(plan, shape, chain_parent, chains < shape->n - 1 ? chains : shape->n - 1);
}

void tb_tree_binomial(struct tb_plan *plan, const struct tb_collective_shape *shape)
{
	enum tb_collective_op op = shape->op;
	enum tb_moves moves = moves_of(op);
	if (moves == TB_MOVES_WHOLE && !shape->by_ports) {
		along(plan, shape, knomial_parent, 2);
		return;
	}
	if (op != TB_COLL_BROADCAST && op != TB_COLL_SCATTER)
		plan_binomial_up(plan, moves, tb_collectives[op].combines);
	if (op != TB_COLL_REDUCE && op != TB_COLL_GATHER)
		tb_plan_binomial_down(plan, moves);
}

void tb_tree_mirrored(struct tb_plan *plan, const struct tb_collective_shape *shape)
{
	along(plan, shape, mirrored_parent, 2);
}

void tb_tree_knomial(struct tb_plan *plan, const struct tb_collective_shape *shape)
{
	along(plan, shape, knomial_parent, shape->radix > 1 ? shape->radix : 4);
}

void tb_tree_binary(struct tb_plan *plan, const struct tb_collective_shape *shape)
{
	along(plan, shape, binary_parent, 2);
}

// Ranks are counted from the end by a plan of the mirrored ranks. The last rank sends the
// sum to the root if that is another one.
void tb_tree_in_order(struct tb_plan *plan, const struct tb_collective_shape *shape)
{
	struct tb_collective_shape mirrored = *shape;
	mirrored.root = 0;
	along(plan, &mirrored, in_order_parent, 2);
	for (size_t i = 0; i < plan->n_transfers; i++) {
		plan->transfers[i].from = shape->n - 1 - plan->transfers[i].from;
		plan->transfers[i].to = shape->n - 1 - plan->transfers[i].to;
	}
	if (shape->root == shape->n - 1)
		return;
	tb_plan_next_round(plan);
	tb_put(plan, TB_WAY(shape->n - 1, shape->root), 0, plan->n_blocks);
}

// The halves of the vector go down the two subtrees of a binary tree; then neighbours, of
// which each is in one of them, exchange their halves.
void tb_tree_split_binary(struct tb_plan *plan, const struct tb_collective_shape *shape)
{
	struct rank_tree tree;
	uint32_t n = shape->n;
	tb_cut_even(plan, 2, 1);
	if (!rank_tree_init(&tree, shape, binary_parent, 2))
		plan->status = TB_ENOMEM;
	for (uint32_t level = 1; plan->status == TB_OK && level <= tree.depth; level++) {
		tb_plan_next_round(plan);
		for (uint32_t v = 1; v < n; v++)
			if (tree.level[v] == level)
				tb_put(plan,
					TB_WAY(rank_tree_rank(&tree, tree.parent[v]),
						rank_tree_rank(&tree, v)),
					1 - v % 2, 1);
	}
	tb_plan_next_round(plan);
	for (uint32_t v = 1; v < n; v++) {
		uint32_t mate = v % 2 ? (v + 1) % n : v - 1;
		tb_put(plan,
			TB_WAY(rank_tree_rank(&tree, mate), rank_tree_rank(&tree, v)),
			v % 2, 1);
	}
	rank_tree_fini(&tree);
}

void tb_tree_heap(struct tb_plan *plan, const struct tb_collective_shape *shape)
{
	enum tb_collective_op op = shape->op;
	enum tb_moves moves = moves_of(op);
	if (op != TB_COLL_BROADCAST)
		tb_plan_heap_up(plan, shape, moves, tb_collectives[op].combines);
	if (op != TB_COLL_REDUCE && op != TB_COLL_GATHER)
		tb_plan_heap_down(plan, shape, moves);
}

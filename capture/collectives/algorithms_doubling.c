// Algorithms in which the distance between partners grows or shrinks from round to round
// by the factor k + 1: Bruck's, dissemination, and exchanges between groups (Rabenseifner
// 2004; Thakur, Rabenseifner, Gropp 2005).
#include "algorithms.h"

void tb_allreduce_doubling(struct tb_plan *plan, const struct tb_collective_shape *shape)
{
	struct tb_rank_groups groups = tb_rank_groups_of(plan, shape, TB_FOLD_ODD);
	tb_plan_collect(plan, &groups, TB_MOVES_WHOLE, true);
	tb_plan_double(plan, &groups, TB_MOVES_WHOLE, true);
	tb_plan_hand_out(plan, &groups, TB_MOVES_WHOLE);
}

void tb_reduce_scatter_halving(
	struct tb_plan *plan, const struct tb_collective_shape *shape)
{
	struct tb_rank_groups groups = tb_rank_groups_of(plan, shape, TB_FOLD_ODD);
	if (!shape->by_ports)
		tb_cut_chunks(plan, shape);
	tb_plan_collect(plan, &groups, TB_MOVES_WHOLE, true);
	tb_plan_halve(plan, &groups);
	tb_plan_hand_out(plan, &groups, TB_MOVES_PARTS);
}

void tb_allgather_exchange(struct tb_plan *plan, const struct tb_collective_shape *shape)
{
	struct tb_rank_groups groups = tb_rank_groups_of(plan, shape, TB_FOLD_SPREAD);
	tb_plan_collect(plan, &groups, TB_MOVES_PARTS, false);
	tb_plan_double(plan, &groups, TB_MOVES_PARTS, false);
	tb_plan_hand_out(plan, &groups, TB_MOVES_WHOLE);
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
	struct tb_rank_groups groups = tb_rank_groups_of(plan, shape, TB_FOLD_EVEN);
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

// fold_halves: both of a pair reduce a half, and the odd one gives his to the even one.
static void fold_halves(struct tb_plan *plan, const struct tb_rank_groups *groups)
{
	uint32_t half = groups->n_groups / 2;
	if (!groups->n_more)
		return;
	tb_plan_next_round(plan);
	for (uint32_t v = 0; v < groups->n_more; v++) {
		tb_put_combining(plan, TB_WAY(2 * v, 2 * v + 1), half, half);
		tb_put_combining(plan, TB_WAY(2 * v + 1, 2 * v), 0, half);
	}
	tb_plan_next_round(plan);
	for (uint32_t v = 0; v < groups->n_more; v++)
		tb_put(plan, TB_WAY(2 * v + 1, 2 * v), half, half);
}

// doubling_window returns the first block of the window of `size` blocks that v has while
// distances double: the lowest bit of v chooses the half of the vector.
static uint32_t doubling_window(uint32_t v, uint32_t power, uint32_t size)
{
	uint32_t block = mirrored_bits(v, power);
	return block - block % size;
}

static void halve_windows(struct tb_plan *plan, const struct tb_rank_groups *groups)
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
}

// spread_windows: the reverse of halve_windows, without combining.
static void spread_windows(struct tb_plan *plan, const struct tb_rank_groups *groups)
{
	for (uint32_t mask = groups->n_groups / 2; mask > 0; mask /= 2) {
		uint32_t size = groups->n_groups / mask / 2;
		tb_plan_next_round(plan);
		for (uint32_t v = 0; v < groups->n_groups; v++)
			tb_put(plan,
				TB_WAY(tb_group_head(groups, v),
					tb_group_head(groups, v ^ mask)),
				doubling_window(v, groups->n_groups, size), size);
	}
}

// gather_windows: the root gets all windows, up a binomial tree. It may have been left
// out; then the first member gives its window to it, and it goes on in its place.
static void gather_windows(
	struct tb_plan *plan, const struct tb_rank_groups *groups, uint32_t root)
{
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
		// Those who still gather agree with the top in all bits above the mask's.
		for (uint32_t v = 0; v < groups->n_groups; v++) {
			uint32_t to = v ^ mask;
			if (!((v ^ top) & mask) || (v ^ top) >= 2 * mask)
				continue;
			tb_put(plan,
				TB_WAY(tb_group_head(groups, v),
					left_out && to == 0 ? root
							    : tb_group_head(groups, to)),
				doubling_window(v, groups->n_groups, size), size);
		}
	}
}

// by_windows: halves of the vector are added up in windows, which then go to the root, or
// to all.
static void by_windows(struct tb_plan *plan, const struct tb_collective_shape *shape,
	const struct tb_rank_groups *groups)
{
	halve_windows(plan, groups);
	if (shape->op == TB_COLL_REDUCE) {
		gather_windows(plan, groups, shape->root);
		return;
	}
	spread_windows(plan, groups);
	tb_plan_hand_out(plan, groups, TB_MOVES_WHOLE);
}

// Distances halve here, so that each has the blocks of its own group.
static void rabenseifner_by_ports(struct tb_plan *plan,
	const struct tb_collective_shape *shape, const struct tb_rank_groups *groups)
{
	tb_plan_collect(plan, groups, TB_MOVES_WHOLE, true);
	tb_plan_halve(plan, groups);
	if (shape->op == TB_COLL_REDUCE) {
		tb_plan_gather_groups(plan, groups);
		return;
	}
	tb_plan_double(plan, groups, TB_MOVES_PARTS, false);
	tb_plan_hand_out(plan, groups, TB_MOVES_WHOLE);
}

void tb_rabenseifner(struct tb_plan *plan, const struct tb_collective_shape *shape)
{
	struct tb_rank_groups groups = tb_rank_groups_of(plan, shape, TB_FOLD_EVEN);
	if (shape->by_ports) {
		rabenseifner_by_ports(plan, shape, &groups);
		return;
	}
	tb_cut_halves(plan, groups.n_groups, tb_element_bytes(shape->bytes));
	fold_halves(plan, &groups);
	by_windows(plan, shape, &groups);
}

void tb_halving(struct tb_plan *plan, const struct tb_collective_shape *shape)
{
	enum tb_fold fold = shape->op == TB_COLL_ALLREDUCE ? TB_FOLD_ODD : TB_FOLD_EVEN;
	struct tb_rank_groups groups = tb_rank_groups_of(plan, shape, fold);
	tb_cut_even(plan, groups.n_groups, tb_element_bytes(shape->bytes));
	tb_plan_collect(plan, &groups, TB_MOVES_WHOLE, true);
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
	struct tb_rank_groups groups = tb_rank_groups_of(plan, shape, TB_FOLD_ODD);
	uint32_t power = groups.n_groups;
	tb_cut_even(plan, shape->n, tb_element_bytes(shape->bytes));
	tb_plan_collect(plan, &groups, TB_MOVES_WHOLE, true);
	for (uint32_t mask = 1; mask < power; mask *= 2) {
		uint32_t size = power / mask / 2;
		tb_plan_next_round(plan);
		for (uint32_t v = 0; v < power; v++) {
			uint32_t low = doubling_window(v ^ mask, power, size);
			uint32_t first = tb_group_start(&groups, low);
			tb_put_combining(plan,
				TB_WAY(tb_group_head(&groups, v),
					tb_group_head(&groups, v ^ mask)),
				first, tb_group_start(&groups, low + size) - first);
		}
	}
	tb_plan_next_round(plan);
	for (uint32_t v = 0; v < power; v++) {
		uint32_t to = mirrored_bits(v, power), rank = tb_group_head(&groups, v);
		uint32_t first = tb_group_start(&groups, to);
		if (to < groups.n_more && first != rank)
			tb_put(plan, TB_WAY(rank, first), first, 1);
		if (to != v)
			tb_put(plan, TB_WAY(rank, tb_group_head(&groups, to)),
				first + (to < groups.n_more), 1);
	}
}

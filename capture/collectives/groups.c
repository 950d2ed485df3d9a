// Groups of ranks and exchanges between them, and how a vector is cut into blocks.
#include "algorithms.h"

#include <stdlib.h>

struct tb_rank_groups tb_rank_groups_of(const struct tb_plan *plan,
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

uint32_t tb_group_start(const struct tb_rank_groups *groups, uint32_t group)
{
	if (groups->fold == TB_FOLD_SPREAD)
		return (uint32_t)((uint64_t)group * groups->n_ranks / groups->n_groups);
	return group + (group < groups->n_more ? group : groups->n_more);
}

uint32_t tb_group_head(const struct tb_rank_groups *groups, uint32_t group)
{
	bool second = groups->fold == TB_FOLD_ODD && group < groups->n_more;
	return tb_group_start(groups, group) + second;
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
		uint32_t end = tb_group_start(groups, c + 1);
		what.port = 0;
		for (uint32_t v = tb_group_start(groups, c); v < end; v++) {
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

void tb_plan_collect(struct tb_plan *plan, const struct tb_rank_groups *groups,
	enum tb_moves moves, bool combines)
{
	within_groups(
		plan, groups, moves, (struct tb_transfer){.combines = combines}, true);
}

void tb_plan_hand_out(
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
					.first = tb_group_start(groups, low),
					.port = (uint16_t)(j - 1),
					.combines = combines},
				tb_group_start(groups, low + size));
		}
	}
}

void tb_plan_double(struct tb_plan *plan, const struct tb_rank_groups *groups,
	enum tb_moves moves, bool combines)
{
	for (uint32_t size = 1; size < groups->n_groups; size *= plan->n_ports + 1)
		groups_exchange(plan, groups, size, moves, combines);
}

void tb_plan_halve(struct tb_plan *plan, const struct tb_rank_groups *groups)
{
	for (uint32_t size = groups->n_groups / (plan->n_ports + 1); size > 0;
		size /= plan->n_ports + 1)
		groups_exchange(plan, groups, size, TB_MOVES_PARTS, true);
}

void tb_plan_gather_groups(struct tb_plan *plan, const struct tb_rank_groups *groups)
{
	uint32_t n = groups->n_groups, b = plan->n_ports + 1;
	for (uint32_t size = 1; size < n; size *= b) {
		tb_plan_next_round(plan);
		for (uint32_t c = 0; c < n; c++) {
			uint32_t digit = c / size % b;
			if (c % size != 0 || digit == 0)
				continue;
			uint32_t to = tb_group_head(groups, c - digit * size);
			groups_put(plan, groups, TB_MOVES_PARTS,
				(struct tb_transfer){.from = tb_group_head(groups, c),
					.to = to,
					.first = tb_group_start(groups, c),
					.port = (uint16_t)(digit - 1)},
				tb_group_start(groups, c + size));
		}
	}
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

void tb_cut_segments(struct tb_plan *plan, uint64_t segment_bytes)
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

void tb_cut_halves(struct tb_plan *plan, uint32_t n, uint64_t element_bytes)
{
	uint64_t *ends;
	if (!plan_make_room(plan, n))
		return;
	ends = plan->block_ends;
	ends[0] = plan->unit_bytes / element_bytes;
	// Sizes first: each of the blocks so far is split, the last one before the
	// others.
	for (uint32_t have = 1; have < n; have *= 2)
		for (uint32_t i = have; i-- > 0;) {
			uint64_t size = ends[i];
			ends[2 * i] = size / 2;
			ends[2 * i + 1] = size - size / 2;
		}
	for (uint32_t i = 0; i < n; i++)
		ends[i] = ends[i] * element_bytes + (i ? ends[i - 1] : 0);
	ends[n - 1] = plan->unit_bytes;
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

// Groups of ranks, and exchanges between them.
#include "collective_impl.h"

struct tb_groups tb_groups_of(const struct tb_collective_options *options)
{
	uint32_t groups = 1, b = options->n_ports + 1;
	while (groups <= options->n_ranks / b)
		groups *= b;
	return (struct tb_groups){groups, options->n_ranks, options->root};
}

uint32_t tb_groups_start(const struct tb_groups *groups, uint32_t group)
{
	return (uint32_t)((uint64_t)group * groups->n_ranks / groups->n_groups);
}

static uint32_t rank_at(const struct tb_groups *groups, uint32_t relative)
{
	return (uint32_t)(((uint64_t)relative + groups->root) % groups->n_ranks);
}

// put adds a transfer between relative ranks. PARTS: it moves the blocks of the relative
// ranks `first` to `end` - 1.
static void put(struct tb_plan *plan, const struct tb_groups *groups, enum tb_moves moves,
	struct tb_transfer transfer, uint32_t end)
{
	uint64_t per_rank = plan->n_blocks / plan->n_ranks;
	transfer.from = rank_at(groups, transfer.from);
	transfer.to = rank_at(groups, transfer.to);
	transfer.blocks = moves == TB_MOVES_TOKEN ? TB_BLOCKS_NONE : TB_BLOCKS_RANGE;
	uint32_t n_ranks =
		moves == TB_MOVES_WHOLE ? groups->n_ranks : end - transfer.first;
	transfer.first = rank_at(groups, transfer.first) * (uint32_t)per_rank;
	transfer.count = n_ranks * (uint32_t)per_rank;
	tb_plan_put(plan, transfer);
}

void tb_plan_collect(struct tb_plan *plan, const struct tb_groups *groups,
	enum tb_moves moves, bool combines)
{
	if (groups->n_groups == groups->n_ranks)
		return;
	tb_plan_next_round(plan);
	for (uint32_t c = 0; c < groups->n_groups; c++) {
		uint32_t start = tb_groups_start(groups, c);
		uint32_t end = tb_groups_start(groups, c + 1);
		for (uint32_t v = start + 1; v < end; v++)
			put(plan, groups, moves,
				(struct tb_transfer){.from = v,
					.to = start,
					.first = v,
					.port = (uint16_t)(v - start - 1),
					.combines = combines},
				v + 1);
	}
}

void tb_plan_hand_out(
	struct tb_plan *plan, const struct tb_groups *groups, enum tb_moves moves)
{
	if (groups->n_groups == groups->n_ranks)
		return;
	tb_plan_next_round(plan);
	for (uint32_t c = 0; c < groups->n_groups; c++) {
		uint32_t start = tb_groups_start(groups, c);
		uint32_t end = tb_groups_start(groups, c + 1);
		for (uint32_t v = start + 1; v < end; v++)
			put(plan, groups, moves,
				(struct tb_transfer){.from = start,
					.to = v,
					.first = v,
					.port = (uint16_t)(v - start - 1)},
				v + 1);
	}
}

// exchange is a round in which group c sends to the k groups that differ from it in the
// digit of weight `size`. It sends the blocks of the `size` groups around itself; if they
// are to be combined, those of the groups around the other.
static void exchange(struct tb_plan *plan, const struct tb_groups *groups, uint32_t size,
	enum tb_moves moves, bool combines)
{
	uint32_t b = plan->n_ports + 1;
	tb_plan_next_round(plan);
	for (uint32_t c = 0; c < groups->n_groups; c++) {
		uint32_t digit = c / size % b;
		for (uint32_t j = 1; j < b; j++) {
			uint32_t other = c + ((digit + j) % b) * size - digit * size;
			uint32_t of = combines ? other : c;
			uint32_t low = of - of % size;
			put(plan, groups, moves,
				(struct tb_transfer){.from = tb_groups_start(groups, c),
					.to = tb_groups_start(groups, other),
					.first = tb_groups_start(groups, low),
					.port = (uint16_t)(j - 1),
					.combines = combines},
				tb_groups_start(groups, low + size));
		}
	}
}

void tb_plan_double(struct tb_plan *plan, const struct tb_groups *groups,
	enum tb_moves moves, bool combines)
{
	for (uint32_t size = 1; size < groups->n_groups; size *= plan->n_ports + 1)
		exchange(plan, groups, size, moves, combines);
}

void tb_plan_halve(struct tb_plan *plan, const struct tb_groups *groups)
{
	for (uint32_t size = groups->n_groups / (plan->n_ports + 1); size > 0;
		size /= plan->n_ports + 1)
		exchange(plan, groups, size, TB_MOVES_PARTS, true);
}

void tb_plan_gather_groups(struct tb_plan *plan, const struct tb_groups *groups)
{
	uint32_t n = groups->n_groups, b = plan->n_ports + 1;
	for (uint32_t size = 1; size < n; size *= b) {
		tb_plan_next_round(plan);
		for (uint32_t c = 0; c < n; c++) {
			uint32_t digit = c / size % b;
			if (c % size != 0 || digit == 0)
				continue;
			uint32_t start = tb_groups_start(groups, c);
			put(plan, groups, TB_MOVES_PARTS,
				(struct tb_transfer){.from = start,
					.to = tb_groups_start(groups, c - digit * size),
					.first = start,
					.port = (uint16_t)(digit - 1)},
				tb_groups_start(groups, c + size));
		}
	}
}

// Rings and pairwise exchanges.
#include "expansion_impl.h"

#include <stdlib.h>

#define WAY(from, to) ((struct tb_way){(from), (to)})

// turn: in round i of n - 1, rank r sends block r + shift - i to the next one.
static void turn(struct tb_plan *plan, uint32_t n, uint32_t shift, bool combines)
{
	for (uint32_t i = 0; i + 1 < n; i++) {
		tb_plan_next_round(plan);
		for (uint32_t r = 0; r < n; r++) {
			uint32_t block = (r + shift + n - i) % n;
			if (combines)
				tb_put_combining(plan, WAY(r, (r + 1) % n), block, 1);
			else
				tb_put(plan, WAY(r, (r + 1) % n), block, 1);
		}
	}
}

void tb_ring_allreduce(struct tb_plan *plan, const struct tb_shape *shape,
	const struct tb_choice *choice)
{
	(void)choice;
	tb_cut_even(plan, shape->n, tb_element_bytes(shape->bytes));
	turn(plan, shape->n, 0, true);
	turn(plan, shape->n, 1, false);
}

void tb_ring_reduce_scatter(struct tb_plan *plan, const struct tb_shape *shape,
	const struct tb_choice *choice)
{
	(void)choice;
	tb_cut_even(plan, shape->n, tb_element_bytes(shape->bytes));
	turn(plan, shape->n, shape->n - 1, true);
}

void tb_ring_allgather(struct tb_plan *plan, const struct tb_shape *shape,
	const struct tb_choice *choice)
{
	(void)choice;
	turn(plan, shape->n, 0, false);
}

// cut_blocks cuts each member's block into as many segments as the largest one has, of
// which the last ones of a smaller block are empty. It returns how many.
static uint32_t cut_blocks(
	struct tb_plan *plan, const struct tb_shape *shape, uint64_t segment)
{
	const uint64_t *bytes = shape->call->bytes;
	uint64_t most = 1, end = 0;
	for (uint32_t r = 0; r < shape->n; r++)
		most = bytes[r] > most ? bytes[r] : most;
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
		uint64_t done = i % each * segment, all = bytes[i / each];
		uint64_t left = done < all ? all - done : 0;
		end += each == 1 || left < segment ? left : segment;
		plan->block_ends[i] = end;
	}
	return (uint32_t)each;
}

// Segments of blocks follow each other around the ring.
void tb_pipelined_ring_allgather(struct tb_plan *plan, const struct tb_shape *shape,
	const struct tb_choice *choice)
{
	uint32_t n = shape->n, each = cut_blocks(plan, shape, choice->segment_bytes);
	for (uint64_t i = 0; plan->status == TB_OK && i < (uint64_t)each * (n - 1); i++) {
		tb_plan_next_round(plan);
		for (uint32_t r = 0; r < n; r++) {
			uint64_t owner = (r + n - i / each) % n, block;
			block = owner * each + i % each;
			uint64_t before = block ? plan->block_ends[block - 1] : 0;
			if (plan->block_ends[block] > before)
				tb_put(plan, WAY(r, (r + 1) % n), block, 1);
		}
	}
}

// Pairs of neighbours exchange their blocks, and then what they got last, with the
// neighbour on one side and on the other in turn (Chen et al. 2005).
void tb_neighbor_allgather(struct tb_plan *plan, const struct tb_shape *shape,
	const struct tb_choice *choice)
{
	(void)choice;
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
			tb_put(plan, WAY(r, to), i == 0 ? r : last[r], i == 0 ? 1 : 2);
			next[to] = i == 0 ? r - r % 2 : last[r];
		}
		for (uint32_t r = 0; r < n; r++)
			last[r] = next[r];
	}
	free(last);
}

// shift: in round i each exchanges with those i behind and before it.
void tb_shift_alltoall(struct tb_plan *plan, const struct tb_shape *shape,
	const struct tb_choice *choice)
{
	(void)choice;
	for (uint32_t i = 1; i < shape->n; i++) {
		tb_plan_next_round(plan);
		for (uint32_t r = 0; r < shape->n; r++)
			tb_put_pair(plan, WAY(r, (r + i) % shape->n));
	}
}

// shift: as in an all-to-all each gets its block of the vector from everybody, and adds.
void tb_pairwise_reduce_scatter(struct tb_plan *plan, const struct tb_shape *shape,
	const struct tb_choice *choice)
{
	(void)choice;
	tb_cut_even(plan, shape->n, tb_element_bytes(shape->bytes));
	for (uint32_t i = 1; i < shape->n; i++) {
		tb_plan_next_round(plan);
		for (uint32_t r = 0; r < shape->n; r++) {
			uint32_t to = (r + i) % shape->n;
			tb_put_combining(plan, WAY(r, to), to, 1);
		}
	}
}

// A token goes round twice.
void tb_double_ring_barrier(struct tb_plan *plan, const struct tb_shape *shape,
	const struct tb_choice *choice)
{
	(void)choice;
	for (uint32_t i = 0; i < 2 * shape->n; i++) {
		uint32_t r = i % shape->n;
		tb_plan_next_round(plan);
		tb_put(plan, WAY(r, (r + 1) % shape->n), 0, 0);
	}
}

// Up a binomial tree to the first member and down again.
void tb_binomial_barrier(struct tb_plan *plan, const struct tb_shape *shape,
	const struct tb_choice *choice)
{
	(void)choice;
	uint32_t n = shape->n, mask = 1;
	for (; mask < n; mask *= 2) {
		tb_plan_next_round(plan);
		for (uint32_t v = mask; v < n; v += 2 * mask)
			tb_put(plan, WAY(v, v - mask), 0, 0);
	}
	for (mask /= 2; mask > 0; mask /= 2) {
		tb_plan_next_round(plan);
		for (uint32_t v = mask; v < n; v += 2 * mask)
			tb_put(plan, WAY(v - mask, v), 0, 0);
	}
}

// Rings and pairwise exchanges.
#include "algorithms.h"

#include <stdlib.h>

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

void tb_plan_ring(struct tb_plan *plan, uint32_t shift, bool combines)
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
	tb_plan_ring(plan, shift, true);
	tb_plan_ring(plan, (shift + 1) % shape->n, false);
}

void tb_reduce_scatter_ring(struct tb_plan *plan, const struct tb_collective_shape *shape)
{
	tb_cut_chunks(plan, shape);
	tb_plan_ring(plan, shape->n - 1, true);
}

void tb_allgather_ring(struct tb_plan *plan, const struct tb_collective_shape *shape)
{
	plan->blocks_per_unit = plan->n_ports;
	plan->n_blocks = (uint64_t)shape->n * plan->n_ports;
	tb_plan_ring(plan, 0, false);
}

// Scattered along a binomial tree; the parts then go round.
void tb_broadcast_scatter_allgather(
	struct tb_plan *plan, const struct tb_collective_shape *shape)
{
	plan->n_blocks = (uint64_t)plan->n_ranks * plan->n_ports;
	plan->blocks_per_unit = (uint32_t)plan->n_blocks;
	(void)shape;
	tb_plan_binomial_down(plan, TB_MOVES_PARTS);
	tb_plan_ring(plan, 0, false);
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

// Up a binomial tree to the first member and down again.
void tb_barrier_binomial(struct tb_plan *plan, const struct tb_collective_shape *shape)
{
	uint32_t n = shape->n, mask = 1;
	for (; mask < n; mask *= 2) {
		tb_plan_next_round(plan);
		for (uint32_t v = mask; v < n; v += 2 * mask)
			tb_put(plan, TB_WAY(v, v - mask), 0, 0);
	}
	for (mask /= 2; mask > 0; mask /= 2) {
		tb_plan_next_round(plan);
		for (uint32_t v = mask; v < n; v += 2 * mask)
			tb_put(plan, TB_WAY(v - mask, v), 0, 0);
	}
}

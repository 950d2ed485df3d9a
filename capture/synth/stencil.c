// A stencil: ranks on a grid of three dimensions whose ends meet exchange their faces.
//
// The grid is as close to a cube as the number of ranks allows, and ranks go through its
// first dimension fastest. In each round a rank sends to all of its neighbours, when it
// has sent and received all of the round before: an empty calc joins these, so that a
// rank has one dependency for each of them, not for each pair.
#include "stencil.h"

#include <inttypes.h>

#define SIDES 6 // the most neighbours of a rank

struct stencil_grid {
	uint32_t sides[3]; // longest first
};

// largest_divisor returns the largest of n that is at most `root`, the root of n to the
// power of 1 / `dimensions`.
static uint32_t largest_divisor(uint32_t n, unsigned dimensions)
{
	uint32_t best = 1;
	for (uint32_t i = 1;; i++) {
		uint64_t power = 1;
		for (unsigned k = 0; k < dimensions; k++)
			power *= i;
		if (power > n)
			return best;
		if (n % i == 0)
			best = i;
	}
}

uint32_t tb_stencil_neighbours(uint32_t n, uint32_t rank, uint32_t neighbours[SIDES])
{
	uint32_t last = largest_divisor(n, 3);
	uint32_t middle = largest_divisor(n / last, 2);
	struct stencil_grid grid =
		(struct stencil_grid){{n / last / middle, middle, last}};
	uint32_t n_found = 0, stride = 1;
	for (int i = 0; i < 3; i++) {
		uint32_t side = grid.sides[i], at = rank / stride % side;
		uint32_t base = rank - at * stride;
		if (side > 1)
			neighbours[n_found++] = base + (at + 1) % side * stride;
		if (side > 2)
			neighbours[n_found++] = base + (at + side - 1) % side * stride;
		stride *= side;
	}
	return n_found;
}

// add_messages adds the sends or receives of a rank's round, and lists them. Sends wait
// for `joint`, the calc of the round before; TB_ID_NONE: there was none.
static void add_messages(struct tb_job_builder *builder, uint32_t rank, struct tb_op op,
	const uint32_t *neighbours, uint32_t n, uint32_t joint, uint32_t *added)
{
	for (uint32_t i = 0; i < n; i++) {
		op.peer = neighbours[i];
		added[i] = tb_job_add(builder, rank, &op);
		if (op.kind == TB_OP_SEND && joint != TB_ID_NONE)
			tb_job_depend(builder, rank, added[i], joint, false);
	}
}

void tb_stencil_build(
	struct tb_job_builder *builder, const struct tb_synth_options *options)
{
	const struct tb_op nothing = {.kind = TB_OP_CALC};
	struct tb_op op = {.amount = options->message_bytes};
	for (uint32_t rank = 0; rank < options->n_nodes; rank++) {
		uint32_t neighbours[SIDES], added[2 * SIDES], joint = TB_ID_NONE;
		uint32_t n = tb_stencil_neighbours(options->n_nodes, rank, neighbours);
		for (uint32_t i = 0; i < options->n_messages; i++) {
			op.kind = TB_OP_RECV;
			add_messages(builder, rank, op, neighbours, n, joint, added);
			op.kind = TB_OP_SEND;
			add_messages(builder, rank, op, neighbours, n, joint, added + n);
			joint = tb_job_add(builder, rank, &nothing);
			for (uint32_t j = 0; j < 2 * n; j++)
				tb_job_depend(builder, rank, joint, added[j], false);
		}
	}
}

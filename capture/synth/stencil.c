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

// The operations of a rank's round.
struct stencil_round {
	struct tb_job_builder *builder;
	uint32_t rank, n;
	uint32_t neighbours[SIDES];
	uint32_t joint; // the calc before it; TB_ID_NONE: none
};

// add_messages adds the sends or receives, and lists them.
static int add_messages(const struct stencil_round *round, enum tb_op_kind kind,
	uint64_t bytes, uint32_t *added, struct tb_error *error)
{
	int status = TB_OK;
	for (uint32_t i = 0; i < round->n && status == TB_OK; i++) {
		struct tb_op op = {.kind = (uint8_t)kind,
			.amount = bytes,
			.peer = round->neighbours[i]};
		status = tb_job_add(round->builder, round->rank, &op, &added[i], error);
		if (status == TB_OK && kind == TB_OP_SEND && round->joint != TB_ID_NONE)
			status = tb_job_depend(round->builder, round->rank, added[i],
				round->joint, false, error);
	}
	return status;
}

int tb_stencil_build(struct tb_job_builder *builder,
	const struct tb_synth_options *options, struct tb_error *error)
{
	int status = TB_OK;
	for (uint32_t rank = 0; rank < options->n_nodes && status == TB_OK; rank++) {
		struct stencil_round round = {
			.builder = builder, .rank = rank, .joint = TB_ID_NONE};
		round.n = tb_stencil_neighbours(options->n_nodes, rank, round.neighbours);
		for (uint32_t i = 0; i < options->n_messages && status == TB_OK; i++) {
			uint64_t bytes = options->message_bytes;
			uint32_t added[2 * SIDES], joint = 0;
			struct tb_op nothing = {.kind = TB_OP_CALC};
			status = add_messages(&round, TB_OP_RECV, bytes, added, error);
			if (status == TB_OK)
				status = add_messages(&round, TB_OP_SEND, bytes,
					added + round.n, error);
			if (status == TB_OK)
				status = tb_job_add(round.builder, round.rank, &nothing,
					&joint, error);
			for (uint32_t j = 0; j < 2 * round.n && status == TB_OK; j++)
				status = tb_job_depend(round.builder, round.rank, joint,
					added[j], false, error);
			round.joint = joint;
		}
	}
	return status;
}

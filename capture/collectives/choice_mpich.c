// What MPICH chooses: the default selection of version 4.0.2 for built-in operations and
// communicators with one rank per host, maint/tuning/coll/mpir/generic.json. (The
// device's own file, ch4/generic.json, leaves these communicators to it.)
#include "algorithms.h"

#include <stdio.h>

static bool is_power_of_two(uint32_t n)
{
	return (n & (n - 1)) == 0;
}

static bool has_few_elements(const struct tb_collective_shape *shape)
{
	uint32_t power = 1;
	while (power <= shape->n / 2)
		power *= 2;
	return shape->bytes / tb_element_bytes(shape->bytes) < power;
}

static void mpich_choose(
	struct tb_choice *choice, const char *algorithm, const char *reason)
{
	choice->algorithm = algorithm;
	snprintf(choice->reason, sizeof choice->reason, "MPICH 4.0, %s", reason);
}

static void choose_broadcast(
	struct tb_choice *choice, const struct tb_collective_shape *shape)
{
	if (shape->n < 8)
		mpich_choose(choice, "binomial", "fewer than 8 members");
	else if (shape->bytes <= 12288)
		mpich_choose(choice, "binomial", "up to 12288 B");
	else if (is_power_of_two(shape->n) && shape->bytes <= 524288)
		mpich_choose(choice, "scatter-doubling",
			"up to 524288 B, a power of two of members");
	else
		mpich_choose(choice, "scatter-ring",
			is_power_of_two(shape->n) ? "above 524288 B" : "above 12288 B");
}

static void choose_allgather(
	struct tb_choice *choice, const struct tb_collective_shape *shape)
{
	// A product beyond 64 bits is above the limits, too.
	uint64_t most = (is_power_of_two(shape->n) ? 524288 : 81920) - 1;
	bool small = shape->bytes <= most / shape->n;
	if (!small)
		mpich_choose(choice, shape->unequal ? "pipelined-ring" : "ring",
			is_power_of_two(shape->n)
				? "524288 B and more in all"
				: "81920 B and more in all, no power of two of members");
	else if (is_power_of_two(shape->n))
		mpich_choose(choice, "doubling", "below 524288 B in all, a power of two");
	else
		mpich_choose(choice, "bruck", "below 81920 B in all, no power of two");
	choice->segment_bytes =
		small ? 0 : 32768; // MPIR_CVAR_ALLGATHERV_PIPELINE_MSG_SIZE
}

// The file has "comm_size<8" here, but where this is asked after other questions, csel.c
// compares with <=; measured, too.
static void choose_alltoall(
	struct tb_choice *choice, const struct tb_collective_shape *shape)
{
	const char *pairwise = is_power_of_two(shape->n) ? "pairwise" : "shift";
	if (shape->unequal)
		mpich_choose(choice, "linear", "blocks of unequal size");
	else if (shape->n > 8 && shape->bytes <= 256)
		mpich_choose(choice, "bruck", "more than 8 members, up to 256 B");
	else if (shape->bytes <= 32768)
		mpich_choose(choice, "linear", "up to 32768 B");
	else
		mpich_choose(choice, pairwise, "above 32768 B");
}

static void choose_reduction(
	struct tb_choice *choice, const struct tb_collective_shape *shape)
{
	bool to_all = shape->op == TB_COLL_ALLREDUCE;
	const char *small = to_all ? "doubling" : "binomial";
	if (shape->bytes <= (to_all ? 8 : 2048))
		mpich_choose(choice, small, to_all ? "up to 8 B" : "up to 2048 B");
	else if (has_few_elements(shape))
		mpich_choose(choice, small, "fewer elements than members");
	else
		mpich_choose(choice, to_all ? "halving-doubling" : "halving-gather",
			to_all ? "above 8 B" : "above 2048 B");
}

static void choose_other(
	struct tb_choice *choice, const struct tb_collective_shape *shape)
{
	static const char *const names[TB_COLL_N] = {
		[TB_COLL_BARRIER] = "dissemination",
		[TB_COLL_GATHER] = "binomial",
		[TB_COLL_SCATTER] = "binomial",
		[TB_COLL_SCAN] = "doubling",
		[TB_COLL_EXSCAN] = "doubling",
		[TB_COLL_EXCHANGE] = "linear",
	};
	if (shape->unequal)
		mpich_choose(choice, "linear", "blocks of unequal size");
	else
		mpich_choose(choice, names[shape->op], "always");
}

void tb_choose_mpich(struct tb_choice *choice, const struct tb_collective_shape *shape)
{
	switch (shape->op) {
	case TB_COLL_BROADCAST:
		choose_broadcast(choice, shape);
		return;
	case TB_COLL_ALLGATHER:
		choose_allgather(choice, shape);
		return;
	case TB_COLL_ALLTOALL:
		choose_alltoall(choice, shape);
		return;
	case TB_COLL_REDUCE:
	case TB_COLL_ALLREDUCE:
		choose_reduction(choice, shape);
		return;
	case TB_COLL_REDUCE_SCATTER:
		if (shape->bytes < 524288)
			mpich_choose(choice, "halving", "below 524288 B");
		else
			mpich_choose(choice, "pairwise", "524288 B and more");
		return;
	case TB_COLL_BARRIER:
	case TB_COLL_GATHER:
	case TB_COLL_SCATTER:
	case TB_COLL_SCAN:
	case TB_COLL_EXSCAN:
	case TB_COLL_EXCHANGE:
	case TB_COLL_N:
		break;
	}
	choose_other(choice, shape);
}

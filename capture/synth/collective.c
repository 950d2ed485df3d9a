// The table of collectives and their algorithms, and the checks before planning one.
#include "collective_impl.h"

#include "nearest.h"

#include <inttypes.h>
#include <string.h>

static const struct tb_collective_algorithm allgather[] = {
	{"direct", "each sends its block to k others per round", false, true,
		tb_allgather_direct},
	{"exchange", "groups of k + 1 exchange, then groups of groups", false, false,
		tb_allgather_exchange},
	{"bruck", "each sends its blocks to k others, ever further away", false, false,
		tb_allgather_bruck},
	{"ring", "blocks go round, a ring for each port", false, true, tb_allgather_ring},
	{"gather-broadcast", "up a tree to rank 0 and down again", true, false,
		tb_allgather_gather_broadcast},
	{0},
};

static const struct tb_collective_algorithm scatter[] = {
	{"binomial", "each rank with blocks sends on k of k + 1 parts", false, false,
		tb_scatter_binomial},
	{"sequential", "the root sends to k others per round", false, false,
		tb_scatter_sequential},
	{0},
};

static const struct tb_collective_algorithm gather[] = {
	{"binomial", "the reverse of scatter", false, false, tb_gather_binomial},
	{"tree", "up a tree in which a rank has --branch children", true, false,
		tb_gather_tree},
	{"sequential", "everybody sends to the root at once", false, false,
		tb_gather_sequential},
	{0},
};

static const struct tb_collective_algorithm alltoall[] = {
	{"direct", "each sends to the next k others per round", false, true,
		tb_alltoall_direct},
	{"pairwise", "pairs exchange, k pairs per rank and round", false, true,
		tb_alltoall_pairwise},
	{"permission", "direct, when the sender before it permits", false, true,
		tb_alltoall_permission},
	{"bruck", "blocks hop by the digits of their distance", false, false,
		tb_alltoall_bruck},
	{0},
};

static const struct tb_collective_algorithm broadcast[] = {
	{"binomial", "each that has it sends it to k others per round", false, false,
		tb_broadcast_binomial},
	{"tree", "down a tree in which a rank has --branch children", true, false,
		tb_broadcast_tree},
	{"scatter-allgather", "scattered in parts, which then go round in rings", false,
		true, tb_broadcast_scatter_allgather},
	{"hardware", "one message to all, if the network has broadcast=yes", false, false,
		tb_broadcast_hardware},
	{0},
};

static const struct tb_collective_algorithm barrier[] = {
	{"dissemination", "each sends to k others, further away each round", false, false,
		tb_barrier_dissemination},
	{"tree", "up a tree to rank 0 and down again", true, false, tb_barrier_tree},
	{"hardware", "up a tree to rank 0, then one message to all", true, false,
		tb_barrier_hardware},
	{0},
};

static const struct tb_collective_algorithm reduce[] = {
	{"binomial", "the reverse of broadcast", false, false, tb_reduce_binomial},
	{"tree", "up a tree in which a rank has --branch children", true, false,
		tb_reduce_tree},
	{"rabenseifner", "parts reduced by halving, then gathered", false, false,
		tb_reduce_rabenseifner},
	{0},
};

static const struct tb_collective_algorithm allreduce[] = {
	{"doubling", "groups of k + 1 exchange and add, then groups of groups", false,
		false, tb_allreduce_doubling},
	{"tree", "up a tree to rank 0 and down again", true, false, tb_allreduce_tree},
	{"ring", "parts go round twice, a ring for each port", false, true,
		tb_allreduce_ring},
	{"rabenseifner", "parts reduced by halving, then spread by doubling", false,
		false, tb_allreduce_rabenseifner},
	{0},
};

static const struct tb_collective_algorithm reduce_scatter[] = {
	{"ring", "parts go round once, a ring for each port", false, true,
		tb_reduce_scatter_ring},
	{"halving", "groups of groups exchange halves, then groups", false, false,
		tb_reduce_scatter_halving},
	{0},
};

const struct tb_collective tb_collectives[] = {
	{"allgather", "everybody ends with everybody's block", TB_SIZE_BLOCK, false,
		false, allgather},
	{"scatter", "the root sends each its block", TB_SIZE_BLOCK, true, false, scatter},
	{"gather", "the root receives everybody's block", TB_SIZE_BLOCK, true, false,
		gather},
	{"alltoall", "each sends a block to each other", TB_SIZE_BLOCK, false, false,
		alltoall},
	{"broadcast", "everybody ends with what the root has", TB_SIZE_WHOLE, true, false,
		broadcast},
	{"barrier", "nobody goes on before all have arrived", TB_SIZE_NONE, false, false,
		barrier},
	{"reduce", "the root ends with the sum of all", TB_SIZE_WHOLE, true, true,
		reduce},
	{"allreduce", "everybody ends with the sum of all", TB_SIZE_WHOLE, false, true,
		allreduce},
	{"reduce-scatter", "each ends with its part of the sum of all", TB_SIZE_WHOLE,
		false, true, reduce_scatter},
	{0},
};

const struct tb_collective *tb_collective_find(const char *name)
{
	for (const struct tb_collective *c = tb_collectives; c->name; c++)
		if (strcmp(c->name, name) == 0)
			return c;
	return NULL;
}

int tb_collective_algorithm_find(const struct tb_collective_algorithm **algorithm,
	const struct tb_collective *collective, const char *name, struct tb_error *error)
{
	size_t n = 0;
	for (const struct tb_collective_algorithm *a = collective->algorithms; a->name;
		a++, n++) {
		if (strcmp(a->name, name) == 0) {
			*algorithm = a;
			return TB_OK;
		}
	}
	struct tb_hint hint;
	return tb_fail(error, TB_EUSAGE, "no algorithm of %s is called '%s'%s",
		collective->name, name,
		tb_hint_choice(&hint, name, &collective->algorithms->name, n,
			sizeof *collective->algorithms));
}

static int check_ranks(const struct tb_collective_options *o, struct tb_error *error)
{
	if (o->n_ranks < 2 || o->n_ranks > TB_RANKS_MAX)
		return tb_fail(error, TB_EUSAGE,
			"a collective needs 2 to %" PRIu32 " ranks, not %" PRIu32,
			TB_RANKS_MAX, o->n_ranks);
	if (o->root >= o->n_ranks)
		return tb_fail(error, TB_EUSAGE,
			"rank %" PRIu32
			" cannot be the root: the ranks are 0 to %" PRIu32,
			o->root, o->n_ranks - 1);
	return TB_OK;
}

static int check_amounts(const struct tb_collective_options *o, struct tb_error *error)
{
	if (o->n_ports < 1 || o->n_ports > TB_PORTS_MAX)
		return tb_fail(error, TB_EUSAGE, "a rank has 1 to %d ports, not %" PRIu32,
			TB_PORTS_MAX, o->n_ports);
	if (o->algorithm->branches && o->branch < 1)
		return tb_fail(
			error, TB_EUSAGE, "a tree needs at least one child per rank");
	if (o->bytes > (UINT64_C(1) << 62) / o->n_ranks)
		return tb_fail(error, TB_EUSAGE,
			"%" PRIu64 " bytes are too many for %" PRIu32 " ranks", o->bytes,
			o->n_ranks);
	uint64_t pairs = (uint64_t)o->n_ranks * (o->n_ranks - 1);
	if (o->algorithm->quadratic && pairs > TB_PLAN_TRANSFERS_MAX)
		return tb_fail(error, TB_ECAPACITY,
			"%s %s among %" PRIu32
			" ranks takes more operations than a job can hold (%d)",
			o->collective->name, o->algorithm->name, o->n_ranks, INT32_MAX);
	return TB_OK;
}

int tb_collective_plan(struct tb_plan *plan, const struct tb_collective_options *o,
	struct tb_error *error)
{
	int status = check_ranks(o, error);
	if (status == TB_OK)
		status = check_amounts(o, error);
	if (status != TB_OK)
		return status;
	bool whole = o->collective->size == TB_SIZE_WHOLE;
	// With more ports or children than other ranks, the rest would be idle.
	struct tb_collective_options used = *o;
	uint32_t others = o->n_ranks - 1;
	used.n_ports = o->n_ports < others ? o->n_ports : others;
	used.branch = o->branch < others ? o->branch : others;
	struct tb_plan made = {.n_ranks = o->n_ranks,
		.n_ports = used.n_ports,
		.order = TB_ORDER_DATA,
		.root = o->root,
		.n_blocks = o->n_ranks,
		.unit_bytes = o->bytes,
		.blocks_per_unit = whole ? o->n_ranks : 1};
	o->algorithm->plan(&made, &used);
	if (made.status != TB_OK) {
		tb_plan_fini(&made);
		return tb_fail(error, made.status,
			made.status == TB_ENOMEM
				? "no memory for so many messages"
				: "these are more messages than a job can hold");
	}
	*plan = made;
	return TB_OK;
}

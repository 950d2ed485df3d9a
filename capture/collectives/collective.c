// Algorithms by name, what they need, and plans of synthetic jobs.
#include "collective.h"

#include "nearest.h"

#include <inttypes.h>
#include <string.h>

int tb_algorithm_find(const struct tb_algorithm **algorithm, enum tb_collective_op op,
	const char *name, struct tb_error *error)
{
	const char *names[64];
	size_t n = 0;
	for (const struct tb_algorithm *a = tb_algorithms; a->name; a++) {
		if (a->op != op)
			continue;
		if (!name || strcmp(a->name, name) == 0) {
			*algorithm = a;
			return TB_OK;
		}
		if (n < sizeof names / sizeof *names)
			names[n++] = a->name;
	}
	struct tb_hint hint;
	return tb_fail(error, TB_EUSAGE, "no algorithm of %s is called '%s'%s",
		tb_collective_op_name(op), name,
		tb_hint_choice(&hint, name, names, n, sizeof *names));
}

const char *tb_algorithm_lacks(
	const struct tb_algorithm *algorithm, const struct tb_collective_shape *shape)
{
	if ((algorithm->traits & TB_NEEDS_EQUAL) && shape->unequal)
		return "blocks of equal size";
	if ((algorithm->traits & TB_NEEDS_EVEN) && shape->n % 2)
		return "an even number of members";
	if ((algorithm->traits & TB_NEEDS_POWER) && (shape->n & (shape->n - 1)))
		return "a power of two of members";
	if ((algorithm->traits & TB_NEEDS_TWO) && shape->n != 2)
		return "two members";
	return NULL;
}

struct tb_plan tb_plan_of_call(
	enum tb_collective_op op, uint32_t n, uint64_t bytes, bool by_ports)
{
	bool parts = tb_collectives[op].size == TB_SIZE_BLOCK;
	bool scatters = op == TB_COLL_REDUCE_SCATTER || (by_ports && !parts);
	return (struct tb_plan){.n_ranks = n,
		.n_ports = 1,
		.order = TB_ORDER_DATA,
		.n_blocks = parts || scatters ? n : 1,
		.unit_bytes = bytes,
		.blocks_per_unit = scatters ? n : 1};
}

static int collective_check_ranks(
	const struct tb_collective_options *o, struct tb_error *error)
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

static int collective_check_ports(
	const struct tb_collective_options *o, struct tb_error *error)
{
	const struct tb_algorithm *algorithm = o->algorithm;
	if (o->n_ports < 1 || o->n_ports > TB_PORTS_MAX)
		return tb_fail(error, TB_EUSAGE, "a rank has 1 to %d ports, not %" PRIu32,
			TB_PORTS_MAX, o->n_ports);
	if (o->n_ports > 1 && !(algorithm->traits & TB_TAKES_PORTS))
		return tb_fail(error, TB_EUSAGE,
			"%s %s has one port per rank, not %" PRIu32,
			tb_collective_op_name(algorithm->op), algorithm->name,
			o->n_ports);
	if ((algorithm->traits & TB_TAKES_BRANCH) && o->branch < 1)
		return tb_fail(
			error, TB_EUSAGE, "a tree needs at least one child per rank");
	return TB_OK;
}

static int check_amounts(const struct tb_collective_options *o, struct tb_error *error)
{
	const struct tb_algorithm *algorithm = o->algorithm;
	const char *name = tb_collective_op_name(algorithm->op);
	const struct tb_collective_shape shape = {.n = o->n_ranks};
	const char *lacks = tb_algorithm_lacks(algorithm, &shape);
	if (lacks)
		return tb_fail(
			error, TB_EUSAGE, "%s %s needs %s", name, algorithm->name, lacks);
	if (o->bytes > (UINT64_C(1) << 62) / o->n_ranks)
		return tb_fail(error, TB_EUSAGE,
			"%" PRIu64 " bytes are too many for %" PRIu32 " ranks", o->bytes,
			o->n_ranks);
	uint64_t pairs = (uint64_t)o->n_ranks * (o->n_ranks - 1);
	if ((algorithm->traits & TB_GROWS_SQUARE) && pairs > TB_PLAN_TRANSFERS_MAX)
		return tb_fail(error, TB_ECAPACITY,
			"%s %s among %" PRIu32
			" ranks takes more operations than a job can hold (%d)",
			name, algorithm->name, o->n_ranks, INT32_MAX);
	return TB_OK;
}

int tb_collective_plan(struct tb_plan *plan, const struct tb_collective_options *o,
	struct tb_error *error)
{
	int status = collective_check_ranks(o, error);
	if (status == TB_OK)
		status = collective_check_ports(o, error);
	if (status == TB_OK)
		status = check_amounts(o, error);
	if (status != TB_OK)
		return status;
	const struct tb_collective_shape shape = {.op = o->algorithm->op,
		.n = o->n_ranks,
		.n_local = o->n_ranks,
		.root = o->root,
		.bytes = o->bytes,
		.by_ports = o->algorithm->traits & TB_TAKES_PORTS,
		.radix = o->algorithm->traits & TB_TAKES_BRANCH ? o->branch : 0};
	// A plan without transfers, with ports for no more than all others.
	enum tb_collective_op op = o->algorithm->op;
	bool by_ports = o->algorithm->traits & TB_TAKES_PORTS;
	struct tb_plan made = tb_plan_of_call(op, o->n_ranks, o->bytes, by_ports);
	made.n_ports = o->n_ports < o->n_ranks - 1 ? o->n_ports : o->n_ranks - 1;
	made.root = o->root;
	o->algorithm->plan(&made, &shape);
	if (made.status != TB_OK) {
		tb_plan_fini(&made);
		return made.status == TB_ENOMEM
			       ? tb_fail_memory(error, "so many messages")
			       : tb_fail(error, made.status,
					 "these are more messages than a job can hold");
	}
	tb_plan_close_rounds(&made);
	*plan = made;
	return TB_OK;
}

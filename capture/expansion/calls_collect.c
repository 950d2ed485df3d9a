// Which collective calls belong together: the i-th of each member of a group.
#include "array.h"
#include "calls_job_impl.h"

#include <inttypes.h>
#include <stdlib.h>

static uint64_t place_key(uint32_t group, uint32_t rank)
{
	return (uint64_t)group << 32 | rank;
}

// group_number_members keeps the places of a group's members, except where each has the
// place of its rank, as in the group of all.
static int group_number_members(struct tb_lowering *l, uint32_t group)
{
	struct tb_group members = tb_calls_members(l->calls, group);
	int status = TB_OK;
	l->groups[group].n_made = calloc(members.n, sizeof *l->groups[group].n_made);
	if (!l->groups[group].n_made)
		return TB_ENOMEM;
	for (uint32_t i = 0; i < members.n && status == TB_OK; i++)
		if (members.members[i] != i)
			status = tb_map_put(
				&l->places, place_key(group, members.members[i]), i);
	return status;
}

static bool group_find_place(
	const struct tb_lowering *l, uint32_t group, uint32_t rank, uint32_t *place)
{
	struct tb_group members = tb_calls_members(l->calls, group);
	*place = rank;
	return (rank < members.n && members.members[rank] == rank) ||
	       tb_map_find(&l->places, place_key(group, rank), place);
}

static int fail_call(const struct tb_lowering *l, uint32_t rank,
	const struct tb_call *call, uint64_t nth, const struct tb_instance *instance)
{
	return tb_fail(l->error, TB_EFORMAT,
		"rank %" PRIu32 " at %.6f s: its collective call %" PRIu64
		" of group %" PRIu32 " is %s with root %" PRIu32
		", but that of others is %s with root %" PRIu32
		" (--lenient leaves such calls out)",
		rank, (double)call->enter_ns / 1e9, nth + 1, call->group,
		tb_collective_op_name(call->op), call->peer,
		tb_collective_op_name(instance->op), instance->root);
}

// rank_count_call adds a rank's next call to those of its group, and keeps which one it
// is: lanes do not come to their calls in the order in which these were made.
static int rank_count_call(struct tb_lowering *l, uint32_t rank, uint32_t index)
{
	const struct tb_call *call = &l->ranks[rank].calls[index];
	struct tb_group_calls *group = &l->groups[call->group];
	uint32_t place;
	if (!group_find_place(l, call->group, rank, &place))
		return tb_fail(l->error, TB_EFORMAT,
			"rank %" PRIu32 " at %.6f s: it calls %s in group %" PRIu32
			", of which it is no member",
			rank, (double)call->enter_ns / 1e9,
			tb_collective_op_name(call->op), call->group);
	uint32_t i = group->n_made[place]++;
	l->ranks[rank].edges[index] = i;
	if (TB_ARRAY_RESERVE(&group->instances, &group->room, (size_t)i + 1) != TB_OK)
		return TB_ENOMEM;
	struct tb_instance *instance = &group->instances[i];
	if (i == group->n) {
		*instance = (struct tb_instance){.op = call->op, .root = call->peer};
		group->n++;
	}
	instance->n_seen++;
	if (instance->op == call->op &&
		(!tb_collective_op_has_root(call->op) || instance->root == call->peer))
		return TB_OK;
	instance->dropped = true;
	return l->reading->lenient ? TB_OK : fail_call(l, rank, call, i, instance);
}

// call_enter_time returns when a rank made its nth call of a group.
static double call_enter_time(
	const struct tb_lowering *l, uint32_t rank, uint32_t group, size_t nth)
{
	const struct tb_lowered_rank *of = &l->ranks[rank];
	for (uint32_t i = 0; i < of->n; i++)
		if (of->calls[i].kind == TB_CALL_COLLECTIVE &&
			of->calls[i].group == group && nth-- == 0)
			return (double)of->calls[i].enter_ns / 1e9;
	return 0;
}

// fail_missing names a member that did not make a call, and one that did.
static int fail_missing(const struct tb_lowering *l, uint32_t group, size_t nth)
{
	struct tb_group members = tb_calls_members(l->calls, group);
	const struct tb_group_calls *of = &l->groups[group];
	uint32_t missing = 0, other = 0;
	while (of->n_made[missing] > nth)
		missing++;
	while (of->n_made[other] <= nth)
		other++;
	return tb_fail(l->error, TB_EFORMAT,
		"rank %" PRIu32
		" at %.6f s: its %s (collective call %zu of group %" PRIu32
		") lacks rank %" PRIu32 ", which makes %" PRIu32
		" of the group (--lenient leaves such calls out)",
		members.members[other],
		call_enter_time(l, members.members[other], group, nth),
		tb_collective_op_name(of->instances[nth].op), nth + 1, group,
		members.members[missing], of->n_made[missing]);
}

// group_settle_place finds the calls that members lack.
static int group_settle_place(struct tb_lowering *l, uint32_t group)
{
	struct tb_group_calls *of = &l->groups[group];
	struct tb_group members = tb_calls_members(l->calls, group);
	for (size_t i = 0; i < of->n; i++) {
		struct tb_instance *instance = &of->instances[i];
		if (instance->n_seen < members.n && !l->reading->lenient)
			return fail_missing(l, group, i);
		instance->dropped = instance->dropped || instance->n_seen < members.n;
		l->n_dropped_collectives += instance->dropped;
	}
	return TB_OK;
}

int tb_lowering_collect(struct tb_lowering *l)
{
	uint32_t n = tb_calls_n_groups(l->calls);
	int status = TB_OK;
	l->groups = calloc(n, sizeof *l->groups);
	if (!l->groups)
		return tb_lowering_no_memory(l);
	for (uint32_t g = 0; g < n && status == TB_OK; g++)
		status = group_number_members(l, g);
	for (uint32_t r = 0; r < l->n_ranks; r++) {
		const struct tb_lowered_rank *rank = &l->ranks[r];
		for (uint32_t i = 0; i < rank->n && status == TB_OK; i++)
			if (rank->calls[i].kind == TB_CALL_COLLECTIVE)
				status = rank_count_call(l, r, i);
	}
	for (uint32_t g = 0; g < n && status == TB_OK; g++)
		status = group_settle_place(l, g);
	return status == TB_ENOMEM ? tb_lowering_no_memory(l) : status;
}

struct tb_instance *tb_lowering_instance(
	struct tb_lowering *l, uint32_t rank, uint32_t index, uint32_t *place)
{
	const struct tb_lowered_rank *of = &l->ranks[rank];
	uint32_t group = of->calls[index].group;
	*place = 0;
	(void)group_find_place(l, group, rank, place); // tb_lowering_collect found it
	return &l->groups[group].instances[of->edges[index]];
}

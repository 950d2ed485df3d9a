// From the graph of a rank to its calls. A node goes on in the lane of a node that it
// depends on, if nothing has gone on there before; else it begins a lane of its own. So a
// chain costs no dependencies at all, and memory is 48 bytes a node and 8 a dependency
// that crosses lanes.
#include "chakra_impl.h"

#include <inttypes.h>
#include <stdlib.h>

struct chakra_making {
	const struct chakra_graph *graph;
	struct tb_calls *calls;
	uint32_t rank;
	uint32_t n_lanes;
	uint64_t first_ns;
	// By node: the call at whose end it is complete, CHAKRA_NONE: from the beginning;
	// and that call's lane.
	uint32_t *call_of, *lane_of;
	uint32_t *last;	 // by lane: its last call
	bool *is_member; // by group
};

static int lane_add(struct chakra_making *making, uint32_t lane, struct tb_call *call)
{
	call->lane = lane;
	return tb_calls_add(making->calls, making->rank, call, &making->last[lane],
		making->graph->error);
}

// add_waits makes the last call come after all dependencies but that on `chosen`.
static int add_waits(
	struct chakra_making *making, uint32_t chosen, const uint64_t *deps, size_t n)
{
	int status = TB_OK;
	for (size_t i = 0; i < n && status == TB_OK; i++) {
		uint32_t call = making->call_of[deps[i]];
		bool is_own = chosen != CHAKRA_NONE && call == making->call_of[chosen];
		if (call != CHAKRA_NONE && !is_own)
			status = tb_calls_after(
				making->calls, making->rank, call, making->graph->error);
	}
	return status;
}

static struct tb_call node_call(
	const struct chakra_making *making, const struct chakra_node *node)
{
	struct tb_call call = {.kind = node->kind,
		.op = node->op,
		.bytes = node->bytes,
		.peer = node->peer,
		.tag = node->tag,
		.calc_ns = node->calc_ns};
	if (node->start_ns > making->first_ns)
		call.enter_ns = node->start_ns - making->first_ns;
	if (node->lasted_ns && making->graph->has_starts)
		call.leave_ns = call.enter_ns + node->lasted_ns;
	if (node->kind != TB_CALL_COLLECTIVE || node->group == CHAKRA_NONE)
		return call;
	call.group = making->graph->groups->groups[node->group].number;
	return call;
}

// call_share_ns returns the bytes of a collective as calls.h has them: Chakra's are those
// of the tensors that go in.
static uint64_t call_share_ns(
	const struct chakra_making *making, const struct tb_call *call)
{
	bool is_cut = call->kind == TB_CALL_COLLECTIVE &&
		      (call->op == TB_COLL_ALLTOALL || call->op == TB_COLL_SCATTER);
	return is_cut ? call->bytes / tb_calls_members(making->calls, call->group).n
		      : call->bytes;
}

// making_pass_lanes makes a node that takes no time complete with what it depends on, if
// that is one node at most; false otherwise.
static bool making_pass_lanes(
	struct chakra_making *making, uint32_t place, const uint64_t *deps, size_t n)
{
	const struct chakra_node *node = &making->graph->nodes[place];
	uint32_t on = CHAKRA_NONE, n_on = 0;
	for (size_t i = 0; i < n; i++) {
		uint32_t call = making->call_of[deps[i]];
		if (call == CHAKRA_NONE ||
			(on != CHAKRA_NONE && call == making->call_of[on]))
			continue;
		on = (uint32_t)deps[i];
		n_on++;
	}
	if (node->kind != TB_CALL_JOINT || node->calc_ns > 0 || n_on > 1)
		return false;
	making->call_of[place] = on == CHAKRA_NONE ? CHAKRA_NONE : making->call_of[on];
	making->lane_of[place] = on == CHAKRA_NONE ? 0 : making->lane_of[on];
	return true;
}

// check_member refuses a collective in a group that the rank is no member of, of which
// the group's list knows nothing.
static int check_member(const struct chakra_making *making, uint32_t place)
{
	const struct chakra_graph *graph = making->graph;
	uint32_t group = graph->nodes[place].group;
	if (group == CHAKRA_NONE || making->is_member[group])
		return TB_OK;
	return tb_fail_at(graph->error, TB_EFORMAT, graph->file, TB_PLACE_RECORD,
		place + 1,
		"node %" PRIu64 " calls in process group '%.80s', in which rank %" PRIu32
		" is not",
		graph->nodes[place].id, graph->groups->groups[group].name, making->rank);
}

static bool *find_memberships(const struct chakra_making *making)
{
	const struct chakra_groups *groups = making->graph->groups;
	bool *is_member = calloc(groups->n + 1, sizeof *is_member);
	for (size_t i = 0; is_member && i < groups->n; i++) {
		struct tb_group group =
			tb_calls_members(making->calls, groups->groups[i].number);
		is_member[i] = tb_group_place(&group, making->rank) < group.n;
	}
	return is_member;
}

static int making_add_node(struct chakra_making *making, uint32_t place)
{
	size_t n;
	const uint64_t *deps = chakra_deps_of(making->graph, place, &n);
	if (making_pass_lanes(making, place, deps, n))
		return TB_OK;
	if (check_member(making, place) != TB_OK)
		return TB_EFORMAT;
	const struct chakra_node *node = &making->graph->nodes[place];
	// The dependency in whose lane the node goes on, or CHAKRA_NONE.
	uint32_t chosen = CHAKRA_NONE;
	for (size_t i = 0; i < n; i++) {
		uint32_t call = making->call_of[deps[i]];
		if (call == CHAKRA_NONE || making->last[making->lane_of[deps[i]]] != call)
			continue;
		// The latest call is the likeliest to be waited for.
		if (chosen == CHAKRA_NONE || call > making->call_of[chosen])
			chosen = (uint32_t)deps[i];
	}
	uint32_t lane =
		chosen == CHAKRA_NONE ? making->n_lanes++ : making->lane_of[chosen];
	struct tb_call call = node_call(making, node);
	call.bytes = call_share_ns(making, &call);
	bool waits = false;
	for (size_t i = 0; i < n && !waits; i++)
		waits = making->call_of[deps[i]] != CHAKRA_NONE &&
			(chosen == CHAKRA_NONE ||
				making->call_of[deps[i]] != making->call_of[chosen]);
	// Computation counts from the lane's call before, so what else it comes after has
	// to be waited for first; a lane's first call counts from what it comes after.
	struct tb_call joint = {.kind = TB_CALL_JOINT, .enter_ns = call.enter_ns};
	bool joins = waits && node->calc_ns > 0 && chosen != CHAKRA_NONE;
	int status = lane_add(making, lane, joins ? &joint : &call);
	if (status == TB_OK && waits)
		status = add_waits(making, chosen, deps, n);
	if (status == TB_OK && joins)
		status = lane_add(making, lane, &call);
	making->call_of[place] = making->last[lane];
	making->lane_of[place] = lane;
	return status;
}

static int making_add_nodes(struct chakra_making *making, uint32_t *order)
{
	const struct chakra_graph *graph = making->graph;
	int status = tb_chakra_graph_order(graph, order);
	for (size_t i = 0; i < graph->n; i++)
		if (i == 0 || graph->nodes[i].start_ns < making->first_ns)
			making->first_ns = graph->nodes[i].start_ns;
	for (size_t i = 0; i < graph->n && status == TB_OK; i++) {
		status = making_add_node(making, order[i]);
		if (status != TB_OK && status != TB_ENOMEM && graph->error &&
			!graph->error->file[0])
			snprintf(graph->error->file, sizeof graph->error->file, "%s",
				graph->file);
	}
	return status;
}

int tb_chakra_graph_calls(
	const struct chakra_graph *graph, struct tb_calls *calls, uint32_t rank)
{
	struct chakra_making making = {.graph = graph, .calls = calls, .rank = rank};
	size_t n = graph->n + 1;
	uint32_t *order = malloc(n * sizeof *order);
	making.call_of = malloc(n * sizeof *making.call_of);
	making.lane_of = malloc(n * sizeof *making.lane_of);
	making.last = malloc(n * sizeof *making.last);
	making.is_member = find_memberships(&making);
	bool has_memory = order && making.is_member && making.call_of && making.lane_of &&
			  making.last;
	int status = has_memory ? making_add_nodes(&making, order)
				: tb_fail_memory_in(graph->error, graph->file,
					  "%zu calls", graph->n);
	free(order);
	free(making.call_of);
	free(making.lane_of);
	free(making.last);
	free(making.is_member);
	return status;
}

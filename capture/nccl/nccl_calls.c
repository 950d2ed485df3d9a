// Makes calls of a log: each stream of a GPU is a lane, in which calls follow each other.
#include "nccl_log.h"

#include "array.h"
#include "nccl_impl.h"
#include "units.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define LANES_MAX 4096 // of a GPU

// A stream of a GPU, and the sends and receives that NCCL does at once: those that follow
// each other in one communicator with the same opCount, of which no two are of one kind
// with one partner (where no proxy sends, all calls have the same opCount).
struct nl_lane {
	uint64_t stream, number;
	uint32_t gpu, comm;
	uint32_t index; // of the rank
	uint32_t turn;	// of its groups
	uint32_t *begun;
	size_t n_begun, begun_room;
};

struct nl_making {
	struct nl_log *log;
	struct tb_calls *calls;
	struct nl_lane *lanes;
	size_t n_lanes, lanes_room;
	struct tb_map lane_of; // hash of GPU and stream
	struct tb_map turn_of; // hash of lane, kind and partner to the last group with it
	uint32_t *n_of_gpu;    // lanes
	uint64_t n_left_out;   // calls of communicators that lack members
	bool rootless;	       // a call has a root though the log names no ranks
};

static int nccl_find_lane(
	struct nl_making *making, uint32_t gpu, uint64_t stream, struct nl_lane **lane)
{
	uint32_t place;
	uint64_t key = (stream ^ (uint64_t)gpu << 40) * UINT64_C(0x9e3779b97f4a7c15);
	for (; tb_map_find(&making->lane_of, key, &place); key++) {
		*lane = &making->lanes[place];
		if ((*lane)->gpu == gpu && (*lane)->stream == stream)
			return TB_OK;
	}
	if (making->n_of_gpu[gpu] >= LANES_MAX)
		return tb_fail_in(making->log->error, TB_ECAPACITY, making->log->file,
			"a GPU with more than %d streams", LANES_MAX);
	if (TB_ARRAY_RESERVE(&making->lanes, &making->lanes_room, making->n_lanes + 1) !=
			TB_OK ||
		tb_map_put(&making->lane_of, key, (uint32_t)making->n_lanes) != TB_OK)
		return tb_nl_no_memory(making->log);
	*lane = &making->lanes[making->n_lanes++];
	**lane = (struct nl_lane){.stream = stream,
		.gpu = gpu,
		.comm = NL_NONE,
		.index = making->n_of_gpu[gpu]++};
	return TB_OK;
}

// end_group waits for the messages that a lane has begun.
static int end_group(struct nl_making *making, struct nl_lane *lane)
{
	uint32_t rank = making->log->gpus[lane->gpu].rank;
	struct tb_error *error = making->log->error;
	lane->comm = NL_NONE;
	lane->turn++;
	if (lane->n_begun == 0)
		return TB_OK;
	int status = tb_calls_add(making->calls, rank,
		&(struct tb_call){.kind = TB_CALL_JOINT, .lane = lane->index}, NULL,
		error);
	for (size_t i = 0; i < lane->n_begun && status == TB_OK; i++)
		status = tb_calls_after(making->calls, rank, lane->begun[i], error);
	lane->n_begun = 0;
	return status;
}

static int nccl_add_message(struct nl_making *making, struct nl_lane *lane,
	const struct nl_op *op, struct tb_call call)
{
	struct nl_log *log = making->log;
	const struct nl_group *group = &log->groups[log->comms[op->comm].group];
	uint32_t rank = log->gpus[lane->gpu].rank;
	call.peer = log->gpus[log->comms[group->members[op->root]].gpu].rank;
	call.starts = true;
	if (call.peer == rank) { // a copy within the GPU
		log->n_self++;
		return TB_OK;
	}
	if (TB_ARRAY_RESERVE(&lane->begun, &lane->begun_room, lane->n_begun + 1) != TB_OK)
		return tb_nl_no_memory(log);
	int status = tb_calls_add(
		making->calls, rank, &call, &lane->begun[lane->n_begun], log->error);
	lane->n_begun += status == TB_OK;
	return status;
}

// lane_goes_on returns whether a message is of the group that its lane has begun, and
// notes that it is of the present one in any case.
static int lane_goes_on(struct nl_making *making, struct nl_lane *lane,
	const struct nl_op *op, bool *same)
{
	uint64_t key = ((uint64_t)(lane - making->lanes) << 32 | op->root) *
			       UINT64_C(0x9e3779b97f4a7c15) +
		       (op->what == NL_SEND);
	uint32_t turn;
	*same = lane->comm == op->comm && lane->number == op->number &&
		!(tb_map_find(&making->turn_of, key, &turn) && turn == lane->turn);
	turn = lane->turn + !*same;
	return tb_map_put(&making->turn_of, key, turn) == TB_OK
		       ? TB_OK
		       : tb_nl_no_memory(making->log);
}

static int nccl_add_op(struct nl_making *making, const struct nl_op *op)
{
	struct nl_log *log = making->log;
	const struct nl_comm *comm = &log->comms[op->comm];
	const struct nl_group *group = &log->groups[comm->group];
	bool is_message = op->what == NL_SEND || op->what == NL_RECV;
	struct nl_lane *lane = NULL;
	bool same = false;
	int status = nccl_find_lane(making, comm->gpu, op->stream, &lane);
	if (status == TB_OK && is_message)
		status = lane_goes_on(making, lane, op, &same);
	if (status == TB_OK && !same)
		status = end_group(making, lane);
	if (status != TB_OK)
		return status;
	struct tb_call call = {.kind = op->what == NL_SEND   ? TB_CALL_SEND
				       : op->what == NL_RECV ? TB_CALL_RECV
							     : TB_CALL_COLLECTIVE,
		.bytes = op->count * op->element_bytes,
		.enter_ns = (log->n_untimed > 0 ? 0 : op->at_ns - log->first_ns),
		.group = group->number,
		.lane = lane->index};
	if (is_message) {
		lane->comm = op->comm;
		lane->number = op->number;
		return nccl_add_message(making, lane, op, call);
	}
	call.op = op->what;
	call.told = op->told;
	if (op->what == TB_COLL_REDUCE_SCATTER)
		call.bytes *= group->n_ranks;
	if (tb_collective_op_has_root((enum tb_collective_op)op->what)) {
		call.peer = op->root;
		making->rootless = making->rootless || group->is_numbered;
	}
	return tb_calls_add(
		making->calls, log->gpus[comm->gpu].rank, &call, NULL, log->error);
}

static int refuse_group(const struct nl_log *log, const struct nl_group *group)
{
	if (group->is_unsure)
		return tb_fail_in(log->error, TB_EFORMAT, log->file,
			"has several communicators of %" PRIu32
			" ranks without ids, of which nothing says who is a member of "
			"which (%s of later NCCL have ids)",
			group->n_ranks, log->parts);
	return tb_fail_in(log->error, TB_EFORMAT, log->file,
		"has calls in a communicator of %" PRIu32 " ranks, but the lines of "
		"only %" PRIu32 " of them: give the %s of all processes, let "
		"the others do what these do (--clone-ranks %" PRIu32 "), or leave these "
		"calls out with --lenient",
		group->n_ranks, group->n_members, log->parts, group->n_ranks);
}

// nccl_add_group makes a group of the calls; one that cannot be has none with --lenient.
static int nccl_add_group(struct nl_making *making, struct nl_group *group,
	const struct tb_reading *reading)
{
	struct nl_log *log = making->log;
	group->number = NL_NONE;
	if (group->n_ops == 0)
		return TB_OK;
	if (!group->members || group->is_unsure) {
		making->n_left_out += group->n_ops;
		return reading->lenient ? TB_OK : refuse_group(log, group);
	}
	uint32_t *ranks = calloc(group->n_ranks, sizeof *ranks);
	if (!ranks)
		return tb_nl_no_memory(log);
	for (uint32_t i = 0; i < group->n_ranks; i++)
		ranks[i] = log->gpus[log->comms[group->members[i]].gpu].rank;
	int status = tb_calls_group(making->calls, ranks, group->n_ranks, group->n_ranks,
		&group->number, log->error);
	free(ranks);
	return status;
}

static int nccl_add_hosts(struct nl_making *making)
{
	const struct nl_log *log = making->log;
	int status = TB_OK;
	for (size_t i = 0; i < log->n_gpus && status == TB_OK; i++)
		if (log->gpus[i].rank != NL_NONE &&
			log->processes[log->gpus[i].process].host[0])
			status = tb_calls_host(making->calls, log->gpus[i].rank,
				log->processes[log->gpus[i].process].host, log->error);
	return status;
}

static int add_ops(struct nl_making *making)
{
	struct nl_log *log = making->log;
	int status = TB_OK;
	for (size_t i = 0; i < log->n_ops && status == TB_OK; i++) {
		const struct nl_op *op = &log->ops[i];
		const struct nl_group *group = &log->groups[log->comms[op->comm].group];
		if (group->number == NL_NONE)
			continue;
		if (op->what >= TB_COLL_N && group->is_numbered)
			return tb_fail_in(log->error, TB_EFORMAT, log->file,
				"has sends and receives, but does not say which rank a "
				"process is: "
				"expected the lines of the initialization too "
				"(NCCL_DEBUG_SUBSYS=INIT,COLL)");
		status = nccl_add_op(making, op);
	}
	for (size_t i = 0; i < making->n_lanes && status == TB_OK; i++)
		status = end_group(making, &making->lanes[i]);
	if (status == TB_OK && making->n_lanes == 0)
		status = tb_fail_in(log->error, TB_EFORMAT, log->file,
			"has no call of which all ranks are known: give the %s of all "
			"processes",
			log->parts);
	return status;
}

static void nccl_note_left_out(const struct nl_making *making)
{
	const struct nl_log *log = making->log;
	struct tb_calls *calls = making->calls;
	char text[96];
	for (size_t i = 0; i < log->left_out.n; i++)
		tb_calls_note(calls, "%s of %s %s left out",
			tb_format_counted(
				log->left_out.rows[i].n, "call", text, sizeof text),
			log->left_out.rows[i].text,
			log->left_out.rows[i].n == 1 ? "is" : "are");
	if (making->n_left_out > 0)
		tb_calls_note(calls,
			"%s left out: the %s lack members of their communicators, or do "
			"not say who they are",
			tb_format_counted(making->n_left_out, "call is|calls are", text,
				sizeof text),
			log->parts);
	if (log->n_broken_lines > 0)
		tb_calls_note(calls, "%s broken, left out",
			tb_format_counted(log->n_broken_lines,
				"line of a call is|lines of calls are", text,
				sizeof text));
	if (log->n_self > 0)
		tb_calls_note(calls, "%s left out",
			tb_format_counted(log->n_self,
				"send or receive of a rank to itself is|"
				"sends and receives of a rank to itself are",
				text, sizeof text));
}

static void nccl_note(const struct nl_making *making)
{
	const struct nl_log *log = making->log;
	struct tb_calls *calls = making->calls;
	bool numbered = false;
	for (size_t i = 0; i < log->n_groups; i++)
		numbered = numbered || (log->groups[i].number != NL_NONE &&
					       log->groups[i].is_numbered);
	tb_calls_note(calls,
		"the %s do not tell what was computed: the calls of a %s "
		"follow each other at once, and %ss do not wait for each other",
		log->parts, log->lane, log->lane);
	if (numbered)
		tb_calls_note(calls,
			"the %s do not say which rank a process is: ranks are "
			"numbered by host and device%s",
			log->parts, making->rootless ? ", and so are roots" : "");
	nccl_note_left_out(making);
	if (log->n_cloned > 0)
		tb_calls_note(calls,
			"%" PRIu32 " of %" PRIu32 " ranks have no log and do what the "
			"others do",
			log->n_cloned, log->n_ranks);
	tb_reading_note_breaks(calls, log->n_broken_files);
}

static int nccl_fill_calls(struct nl_making *making, const struct tb_reading *reading)
{
	struct nl_log *log = making->log;
	int status = TB_OK;
	making->n_of_gpu = calloc(log->n_gpus + 1, sizeof *making->n_of_gpu);
	if (!making->n_of_gpu)
		return tb_nl_no_memory(log);
	for (size_t i = 0; i < log->n_groups && status == TB_OK; i++)
		status = nccl_add_group(making, &log->groups[i], reading);
	if (status == TB_OK)
		status = nccl_add_hosts(making);
	if (status == TB_OK)
		status = add_ops(making);
	if (status == TB_OK)
		nccl_note(making);
	return status;
}

int tb_nl_calls(
	struct nl_log *log, const struct tb_reading *reading, struct tb_calls **calls)
{
	struct nl_making making = {.log = log};
	if (log->n_ops == 0)
		return tb_fail_in(log->error, TB_EFORMAT, log->file,
			"tells how NCCL was set up, not what was called: expected "
			"lines such as 'AllReduce: opCount 0 ...' "
			"(NCCL_DEBUG_SUBSYS=INIT,GRAPH,COLL,TUNING)");
	if (log->n_ranks == 0)
		return refuse_group(
			log, &log->groups[log->comms[log->ops[0].comm].group]);
	int status = tb_calls_new(&making.calls, log->n_ranks, log->error);
	if (status == TB_OK)
		status = nccl_fill_calls(&making, reading);
	for (size_t i = 0; i < making.n_lanes; i++)
		free(making.lanes[i].begun);
	free(making.lanes);
	free(making.n_of_gpu);
	tb_map_fini(&making.lane_of);
	tb_map_fini(&making.turn_of);
	if (status == TB_OK)
		*calls = making.calls;
	else
		tb_calls_free(making.calls);
	return status;
}

int tb_nccl_read(struct tb_calls **calls, const struct tb_reading *reading,
	const char *const *paths, size_t n, const char **made, struct tb_error *error)
{
	struct nl_log log = {.error = error};
	int status = tb_nl_read(&log, reading, reading->clone_ranks, paths, n);
	if (status == TB_OK)
		status = tb_nl_calls(&log, reading, calls);
	tb_nl_fini(&log);
	if (status == TB_OK)
		*made = "nccl";
	return status;
}

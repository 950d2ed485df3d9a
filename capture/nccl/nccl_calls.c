// Finds which communicators of the ranks are the same, and which rank of the job each GPU
// is.
#include "array.h"
#include "hash.h"
#include "infile.h"
#include "input_files.h"
#include "nccl_log.h"
#include "nccl_trace.h"
#include "order.h"
#include "stop.h"
#include "text_lines.h"
#include "trace_files.h"
#include "units.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

// A communicator of a rank with its group, for sorting.
struct nl_member {
	uint32_t group, key, gpu, comm;
};

struct nl_grouping {
	struct nl_log *log;
	struct tb_map group_of; // of id or size, and turn, to the newest such group
	struct tb_map place_of; // hash of group and rank, or of group and GPU
	struct tb_map turn_of;	// hash of GPU and size to how many it has had
};

static int grouping_map_put(
	struct nl_grouping *g, struct tb_map *map, uint64_t key, uint32_t value)
{
	return tb_map_put(map, key, value) == TB_OK ? TB_OK : tb_nl_no_memory(g->log);
}

static bool place_is_free(
	const struct nl_grouping *g, uint32_t group, const struct nl_comm *comm)
{
	uint32_t other;
	return !tb_map_find(
		       &g->place_of, tb_nl_mix(tb_nl_mix(1, group), comm->gpu), &other) &&
	       (comm->rank == NL_NONE ||
		       !tb_map_find(&g->place_of,
			       tb_nl_mix(tb_nl_mix(2, group), comm->rank), &other));
}

static int grouping_join(struct nl_grouping *g, struct nl_comm *comm, uint32_t group)
{
	struct nl_group *of = &g->log->groups[group];
	comm->group = group;
	of->n_members++;
	of->n_ops += comm->n_ops;
	of->is_numbered = of->is_numbered || comm->rank == NL_NONE;
	int status = grouping_map_put(
		g, &g->place_of, tb_nl_mix(tb_nl_mix(1, group), comm->gpu), 0);
	if (status == TB_OK && comm->rank != NL_NONE)
		status = grouping_map_put(
			g, &g->place_of, tb_nl_mix(tb_nl_mix(2, group), comm->rank), 0);
	return status;
}

// grouping_add adds a group beside others with the same key; without ids it is then
// uncertain which is which.
static int grouping_add(struct nl_grouping *g, const struct nl_comm *comm, uint32_t turn,
	uint64_t key, bool beside)
{
	struct nl_log *log = g->log;
	uint32_t number = (uint32_t)log->n_groups;
	if (TB_ARRAY_RESERVE(&log->groups, &log->groups_room, log->n_groups + 1) != TB_OK)
		return tb_nl_no_memory(log);
	log->groups[log->n_groups++] = (struct nl_group){.id = comm->id,
		.n_ranks = comm->n_ranks,
		.turn = turn,
		.is_unsure = beside && comm->id == 0};
	return grouping_map_put(g, &g->group_of, key, number);
}

// A group has the communicator's id. Without one it is the i-th group of that size that
// each of its ranks made; if several ranks claim one place in it, other groups exist
// beside it, and it is not known who is in which.
static int grouping_place(struct nl_grouping *g, uint32_t number)
{
	struct nl_log *log = g->log;
	struct nl_comm *comm = &log->comms[number];
	uint32_t turn = 0, group;
	uint64_t by = tb_nl_mix(tb_nl_mix(3, comm->gpu), comm->n_ranks);
	if (comm->id == 0) {
		if (!tb_map_find(&g->turn_of, by, &turn))
			turn = 0;
		if (grouping_map_put(g, &g->turn_of, by, turn + 1) != TB_OK)
			return TB_ENOMEM;
	}
	uint64_t key = tb_nl_mix(tb_nl_mix(comm->id, comm->n_ranks), turn);
	bool found = tb_map_find(&g->group_of, key, &group);
	if (found && place_is_free(g, group, comm))
		return grouping_join(g, comm, group);
	if (found && comm->id == 0)
		log->groups[group].is_unsure = true;
	int status = grouping_add(g, comm, turn, key, found);
	return status == TB_OK ? grouping_join(g, comm, (uint32_t)log->n_groups - 1)
			       : status;
}

TB_ORDER_BY(by_member, struct nl_member, TB_UP(group) TB_UP(key) TB_UP(gpu))

// group_copy_members copies a group's part of the sorted list as its members.
static int group_copy_members(
	struct nl_log *log, const struct nl_member *run, struct nl_group *group)
{
	group->members = calloc(group->n_ranks, sizeof *group->members);
	if (!group->members)
		return tb_nl_no_memory(log);
	for (uint32_t i = 0; i < group->n_ranks; i++)
		group->members[i] = run[i].comm;
	return TB_OK;
}

// groups_fill lists the members of each group of which all are known: by rank or, where
// the log does not name ranks, by host and device.
static int groups_fill(struct nl_log *log, const uint32_t *place_of_gpu)
{
	size_t n = 0;
	struct nl_member *list = calloc(log->n_comms + 1, sizeof *list);
	if (!list)
		return tb_nl_no_memory(log);
	for (size_t i = 0; i < log->n_comms; i++) {
		const struct nl_comm *comm = &log->comms[i];
		if (comm->n_ranks == 0)
			continue;
		bool numbered = log->groups[comm->group].is_numbered;
		list[n++] = (struct nl_member){comm->group,
			numbered ? place_of_gpu[comm->gpu] : comm->rank, comm->gpu,
			(uint32_t)i};
	}
	qsort(list, n, sizeof *list, by_member);
	int status = TB_OK;
	for (size_t i = 0, end; i < n && status == TB_OK; i = end) {
		struct nl_group *group = &log->groups[list[i].group];
		for (end = i; end < n && list[end].group == list[i].group;)
			end++;
		if (end - i == group->n_ranks)
			status = group_copy_members(log, &list[i], group);
	}
	free(list);
	return status;
}

// A GPU, ordered by host, in the order in which the log first names hosts.
struct nl_seat {
	uint32_t host, device, process, gpu;
};

TB_ORDER_BY(by_seat, struct nl_seat, TB_UP(host) TB_UP(device) TB_UP(process))

// grouping_host returns the first process on the same host.
static int grouping_host(
	struct nl_grouping *g, struct tb_map *hosts, uint32_t process, uint32_t *host)
{
	const char *name = g->log->processes[process].host;
	uint64_t key = tb_hash_text(TB_HASH_BEGIN, name);
	for (; tb_map_find(hosts, key, host); key++)
		if (strcmp(g->log->processes[*host].host, name) == 0)
			return TB_OK;
	*host = process;
	return grouping_map_put(g, hosts, key, process);
}

// grouping_seat_ranks stores each GPU's place in the order of hosts and devices.
static int grouping_seat_ranks(struct nl_grouping *g, uint32_t *place_of_gpu)
{
	struct nl_log *log = g->log;
	struct tb_map hosts = {0};
	int status = TB_OK;
	struct nl_seat *seats = calloc(log->n_gpus + 1, sizeof *seats);
	if (!seats)
		return tb_nl_no_memory(log);
	for (uint32_t i = 0; i < log->n_gpus && status == TB_OK; i++) {
		seats[i] = (struct nl_seat){.device = log->gpus[i].device,
			.process = log->gpus[i].process,
			.gpu = i};
		status = grouping_host(g, &hosts, seats[i].process, &seats[i].host);
	}
	qsort(seats, log->n_gpus, sizeof *seats, by_seat);
	for (uint32_t i = 0; i < log->n_gpus; i++)
		place_of_gpu[seats[i].gpu] = i;
	free(seats);
	tb_map_fini(&hosts);
	return status;
}

static int group_by_size(const void *a, const void *b)
{
	const struct nl_group *const *one = a, *const *other = b;
	if ((*one)->n_ranks != (*other)->n_ranks)
		return (*one)->n_ranks > (*other)->n_ranks ? -1 : 1;
	return TB_ORDER(*one, *other);
}

// groups_number_ranks numbers the GPUs as the largest communicator does, then those that
// only the next one has, and so on.
static int groups_number_ranks(struct nl_log *log)
{
	const struct nl_group **order = calloc(log->n_groups + 1, sizeof(*order));
	if (!order)
		return tb_nl_no_memory(log);
	for (size_t i = 0; i < log->n_groups; i++)
		order[i] = &log->groups[i];
	qsort(order, log->n_groups, sizeof(*order), group_by_size);
	for (size_t i = 0; i < log->n_groups; i++)
		for (uint32_t r = 0; order[i]->members && r < order[i]->n_ranks; r++) {
			uint32_t gpu = log->comms[order[i]->members[r]].gpu;
			if (log->gpus[gpu].rank == NL_NONE)
				log->gpus[gpu].rank = log->n_ranks++;
		}
	free(order);
	return TB_OK;
}

static int grouping_place_all(struct nl_grouping *g)
{
	struct nl_log *log = g->log;
	int status = TB_OK;
	for (uint32_t i = 0; i < log->n_comms && status == TB_OK; i++) {
		struct nl_comm *comm = &log->comms[i];
		status = tb_nl_gpu(log, comm->process, comm->device, &comm->gpu);
		if (status == TB_OK && comm->n_ranks > 0)
			status = grouping_place(g, i);
	}
	return status;
}

static int group_comms(struct nl_log *log)
{
	struct nl_grouping grouping = {.log = log};
	uint32_t *place_of_gpu = NULL;
	int status = grouping_place_all(&grouping);
	if (status == TB_OK) {
		place_of_gpu = calloc(log->n_gpus + 1, sizeof *place_of_gpu);
		status = place_of_gpu ? grouping_seat_ranks(&grouping, place_of_gpu)
				      : tb_nl_no_memory(log);
	}
	if (status == TB_OK)
		status = groups_fill(log, place_of_gpu);
	if (status == TB_OK)
		status = groups_number_ranks(log);
	free(place_of_gpu);
	tb_map_fini(&grouping.group_of);
	tb_map_fini(&grouping.place_of);
	tb_map_fini(&grouping.turn_of);
	return status;
}

// Ranks without a log, which do what the others do (--clone-ranks).

struct nl_cloning {
	struct nl_log *log;
	uint32_t n_ranks, world; // of the job, and of the log
	uint32_t *templates;	 // GPUs with calls
	uint32_t n_templates;
	uint32_t *copy_of;     // by communicator: that of the rank being made
	bool *is_taken;	       // by rank
	size_t n_comms, n_ops; // of the log
};

static int clones_refuse(const struct nl_log *log, const char *why)
{
	return tb_fail_in(
		log->error, TB_EUSAGE, log->file, "its ranks cannot be cloned: %s", why);
}

// clones_check finds the GPUs with calls, and checks that these are all collective calls
// of all ranks.
static int clones_check(struct nl_cloning *c)
{
	struct nl_log *log = c->log;
	for (size_t i = 0; i < log->n_ops; i++)
		if (log->ops[i].what >= TB_COLL_N)
			return clones_refuse(log, "they send messages to single ranks");
	for (size_t i = 0; i < log->n_comms; i++)
		if (log->comms[i].n_ops > 0 && log->comms[i].n_ranks > c->world)
			c->world = log->comms[i].n_ranks;
	for (size_t i = 0; i < log->n_comms; i++) {
		struct nl_comm *comm = &log->comms[i];
		if (comm->n_ops == 0)
			continue;
		if (comm->n_ranks != c->world)
			return clones_refuse(log,
				"they call in communicators of some ranks, "
				"and the others' are not known");
		int status = tb_nl_gpu(log, comm->process, comm->device, &comm->gpu);
		if (status != TB_OK)
			return status;
	}
	if (c->n_ranks < c->world)
		return tb_fail_in(log->error, TB_EUSAGE, log->file,
			"is of a job with %" PRIu32 " ranks: --clone-ranks %" PRIu32
			" would make fewer",
			c->world, c->n_ranks);
	return TB_OK;
}

// list_templates lists the GPUs with calls in their order, and gives each its rank.
static int list_templates(struct nl_cloning *c)
{
	struct nl_log *log = c->log;
	uint32_t *rank_of = malloc((log->n_gpus + 1) * sizeof *rank_of);
	c->templates = calloc(log->n_gpus + 1, sizeof *c->templates);
	c->copy_of = calloc(log->n_comms + 1, sizeof *c->copy_of);
	c->is_taken = calloc(c->n_ranks + 1, sizeof *c->is_taken);
	bool fine = rank_of && c->templates && c->copy_of && c->is_taken;
	for (size_t i = 0; fine && i < log->n_gpus; i++)
		rank_of[i] = NL_NONE;
	for (size_t i = 0; fine && i < log->n_comms; i++) {
		struct nl_comm *comm = &log->comms[i];
		if (comm->n_ops == 0)
			continue;
		if (rank_of[comm->gpu] == NL_NONE) {
			rank_of[comm->gpu] =
				comm->rank == NL_NONE ? c->n_templates : comm->rank;
			c->templates[c->n_templates++] = comm->gpu;
		}
		if (comm->rank == NL_NONE)
			comm->rank = rank_of[comm->gpu];
		comm->n_ranks = c->n_ranks;
		if (comm->rank < c->n_ranks)
			c->is_taken[comm->rank] = true;
	}
	free(rank_of);
	return fine ? TB_OK : tb_nl_no_memory(log);
}

static int add_process(struct nl_log *log, uint32_t *process)
{
	struct nl_process made = {.host = strdup("")};
	*process = (uint32_t)log->n_processes;
	if (!made.host || TB_ARRAY_RESERVE(&log->processes, &log->processes_room,
				  log->n_processes + 1) != TB_OK) {
		free(made.host);
		return tb_nl_no_memory(log);
	}
	log->processes[log->n_processes++] = made;
	return TB_OK;
}

static int copy_ops(struct nl_cloning *c, uint32_t gpu)
{
	struct nl_log *log = c->log;
	for (size_t i = 0; i < c->n_ops; i++) {
		if (log->comms[log->ops[i].comm].gpu != gpu)
			continue;
		if (log->n_ops >= NL_NONE - 1 ||
			TB_ARRAY_RESERVE(&log->ops, &log->ops_room, log->n_ops + 1) !=
				TB_OK)
			return tb_nl_no_memory(log);
		log->ops[log->n_ops] = log->ops[i];
		log->ops[log->n_ops++].comm = c->copy_of[log->ops[i].comm];
	}
	return TB_OK;
}

static int clone_all(struct nl_cloning *c)
{
	int status = TB_OK;
	uint32_t process;
	for (uint32_t r = 0; r < c->n_ranks && status == TB_OK; r++) {
		uint32_t gpu = c->templates[r % c->n_templates];
		if (c->is_taken[r])
			continue;
		c->log->n_cloned++;
		status = add_process(c->log, &process);
		if (status == TB_OK) {
			struct nl_log *log = c->log;
			for (size_t i = 0; i < c->n_comms && status == TB_OK; i++) {
				const struct nl_comm *from = &log->comms[i];
				const struct nl_comm made = {.id = from->id,
					.process = process,
					.device = from->device,
					.rank = r,
					.n_ranks = c->n_ranks,
					.n_ops = from->n_ops};
				if (from->n_ops > 0 && from->gpu == gpu)
					status = tb_nl_comm_add(
						log, &made, &c->copy_of[i]);
			}
		}
		if (status == TB_OK)
			status = copy_ops(c, gpu);
	}
	return status;
}

static int clone_ranks_of(struct nl_log *log, uint32_t n_ranks)
{
	struct nl_cloning c = {.log = log,
		.n_ranks = n_ranks,
		.n_comms = log->n_comms,
		.n_ops = log->n_ops};
	int status = clones_check(&c);
	if (status == TB_OK)
		status = list_templates(&c);
	if (status == TB_OK && c.n_templates > 0)
		status = clone_all(&c);
	free(c.templates);
	free(c.copy_of);
	free(c.is_taken);
	return status;
}

int tb_nl_group(struct nl_log *log, uint32_t clone_ranks)
{
	int status = clone_ranks > 0 ? clone_ranks_of(log, clone_ranks) : TB_OK;
	return status == TB_OK ? group_comms(log) : status;
}

// Turns a log into calls: each stream of a GPU is a lane, in which calls follow each
// other.

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

// end_group adds a wait for the messages that a lane has begun.
static void end_group(struct nl_making *making, struct nl_lane *lane)
{
	uint32_t rank = making->log->gpus[lane->gpu].rank;
	const struct tb_call joint = {.kind = TB_CALL_JOINT, .lane = lane->index};
	lane->comm = NL_NONE;
	lane->turn++;
	if (lane->n_begun == 0)
		return;
	tb_calls_add(making->calls, rank, &joint);
	for (size_t i = 0; i < lane->n_begun; i++)
		tb_calls_after(making->calls, rank, lane->begun[i]);
	lane->n_begun = 0;
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
	lane->begun[lane->n_begun++] = tb_calls_add(making->calls, rank, &call);
	return TB_OK;
}

// lane_goes_on returns whether a message belongs to the group that its lane has begun,
// and in any case records it as part of the current group.
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
	if (status != TB_OK)
		return status;
	if (!same)
		end_group(making, lane);
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
	call.observed = op->observed;
	if (op->what == TB_COLL_REDUCE_SCATTER)
		call.bytes *= group->n_ranks;
	if (tb_collective_op_has_root((enum tb_collective_op)op->what)) {
		call.peer = op->root;
		making->rootless = making->rootless || group->is_numbered;
	}
	tb_calls_add(making->calls, log->gpus[comm->gpu].rank, &call);
	return TB_OK;
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

// nccl_add_group adds a group to the calls. With --lenient, an impossible group is left
// out.
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

static void nccl_add_hosts(struct nl_making *making)
{
	const struct nl_log *log = making->log;
	for (size_t i = 0; i < log->n_gpus; i++)
		if (log->gpus[i].rank != NL_NONE &&
			log->processes[log->gpus[i].process].host[0])
			tb_calls_host(making->calls, log->gpus[i].rank,
				log->processes[log->gpus[i].process].host);
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
				"process is: expected the lines of the initialization "
				"too "
				"(NCCL_DEBUG_SUBSYS=INIT,COLL)");
		status = nccl_add_op(making, op);
	}
	for (size_t i = 0; i < making->n_lanes && status == TB_OK; i++)
		end_group(making, &making->lanes[i]);
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

uint32_t tb_nl_adapters(const struct nl_log *log, const char **list, const char **host)
{
	uint32_t n = 0;
	for (size_t i = 0; i < log->n_processes && n == 0; i++) {
		*list = log->processes[i].adapters;
		*host = log->processes[i].host;
		for (const char *at = *list; at && (at = strchr(at, '[')); at++)
			n += isdigit((unsigned char)at[1]) != 0;
	}
	return n;
}

// note_adapters says that the network has fewer adapters than the hosts had.
static void note_adapters(
	const struct nl_log *log, const struct tb_gpu_node *node, struct tb_calls *calls)
{
	const char *list, *host;
	uint32_t n = tb_nl_adapters(log, &list, &host);
	bool is_one_host = log->n_cloned == 0;
	for (size_t i = 1; i < log->n_processes && is_one_host; i++)
		is_one_host = strcmp(log->processes[i].host, log->processes[0].host) == 0;
	if (node && node->n_nics > 0 && n > node->n_nics && !is_one_host)
		tb_calls_note(calls,
			"the %s have %" PRIu32 " adapters a host, the network %" PRIu32
			": " TB_NOTE_RAILS "%" PRIu32 " has as many",
			log->parts, n, node->n_nics, n);
}

static void nccl_note(const struct nl_making *making, const struct tb_reading *reading)
{
	const struct nl_log *log = making->log;
	struct tb_calls *calls = making->calls;
	bool numbered = false;
	for (size_t i = 0; i < log->n_groups; i++)
		numbered = numbered || (log->groups[i].number != NL_NONE &&
					       log->groups[i].is_numbered);
	note_adapters(log, reading->node, calls);
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
	nccl_add_hosts(making);
	if (status == TB_OK)
		status = add_ops(making);
	if (status == TB_OK)
		nccl_note(making, reading);
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

// log_library returns the library that wrote a log, and gives its version and settings to
// the calls.
static const char *log_library(const struct nl_log *log, struct tb_calls *calls)
{
	char text[1024];
	const char *version = log->versions.n ? log->versions.rows[0].text : "NCCL ";
	const char *name = *version == 'R' ? "rccl" : "nccl";
	unsigned major, minor;
	int n = snprintf(text, sizeof text, "%s", name);
	if (sscanf(version + strlen("NCCL "), "%u.%u", &major, &minor) == 2)
		n = snprintf(text, sizeof text, "%s@%u.%u", name, major, minor);
	for (size_t i = 0; i < log->settings.n && (size_t)n < sizeof text; i++)
		n += snprintf(text + n, sizeof text - (size_t)n, " %s",
			log->settings.rows[i].text);
	tb_calls_made_with(calls, text);
	return name;
}

int tb_nccl_read(struct tb_calls **calls, const struct tb_reading *reading,
	const char *const *paths, size_t n, const char **made, struct tb_error *error)
{
	struct nl_log log = {.error = error};
	int status = tb_nl_read(&log, reading, reading->clone_ranks, paths, n);
	if (status == TB_OK)
		status = tb_nl_calls(&log, reading, calls);
	if (status == TB_OK)
		*made = log_library(&log, *calls);
	tb_nl_fini(&log);
	return status;
}

// The files of a log.

// What a program prints before NCCL's lines, and in lines of its own, may be long.
#define LINE_MOST    ((size_t)64 << 20)
#define MENTION_MOST ((size_t)256 << 20)
#define MARK	     " NCCL INFO "

bool tb_nccl_begins(struct tb_bytes first)
{
	return memmem(first.data, first.n, MARK, strlen(MARK)) != NULL;
}

static bool log_is_among(const char *path, bool further)
{
	FILE *stream;
	struct tb_infile *file;
	struct tb_bytes first;
	if (!tb_input_is_file(path) ||
		tb_infile_open(&stream, &file, path, NULL) != TB_OK)
		return false;
	bool is = tb_infile_peek(file, TB_INFILE_PEEK_MAX, &first, NULL) == TB_OK;
	if (is)
		is = tb_nccl_begins(first) ||
		     (further && (first.n > 0 && !memchr(first.data, 0, first.n)) &&
			     tb_infile_mentions(stream, MARK, MENTION_MOST));
	fclose(stream);
	return is;
}

bool tb_nccl_mentions(const char *path)
{
	return log_is_among(path, true);
}

static bool begins_log(const char *path, const char *name)
{
	(void)name;
	return log_is_among(path, false);
}

bool tb_nccl_is_folder(const char *path)
{
	return tb_trace_files_are_in(path, begins_log);
}

// log_take_line reads a line. With --lenient a broken line of a call is left out, as
// processes that write to one file may cut each other's lines.
static int log_take_line(struct nl_log *log, const char *text, bool lenient)
{
	struct nl_line line;
	tb_nl_version(log, text);
	if (!tb_nl_line(&line, text))
		return TB_OK;
	log->n_lines++;
	if (line.has_time) {
		if (log->first_ns == 0 || line.at_ns < log->first_ns)
			log->first_ns = line.at_ns;
		if (line.at_ns > log->last_ns)
			log->last_ns = line.at_ns;
	}
	int status = tb_nl_call(log, &line);
	if (status == TB_OK)
		status = tb_nl_choice(log, &line);
	if (status == TB_OK)
		status = tb_nl_topology(log, &line);
	if (status == TB_EFORMAT && lenient) {
		log->n_broken_lines++;
		return TB_OK;
	}
	return status;
}

static int log_read_lines(
	struct nl_log *log, FILE *stream, const struct tb_reading *reading)
{
	struct tb_text_lines lines;
	int status = TB_OK, found = 1;
	tb_text_lines_init(&lines, stream, log->file, log->error);
	lines.most = LINE_MOST;
	while (status == TB_OK && (found = tb_text_lines_next(&lines)) > 0) {
		log->line = lines.number;
		status = log_take_line(log, lines.text, reading->lenient);
		if (lines.number % 4096 == 0 && tb_stop_asked(reading->stop))
			status =
				tb_fail_in(log->error, TB_ESTOPPED, log->file, "stopped");
	}
	tb_text_lines_fini(&lines);
	return found < 0 ? found : status;
}

static int log_read_file(struct nl_log *log, const struct tb_reading *reading)
{
	FILE *stream;
	struct tb_infile *file;
	int status = tb_infile_open(&stream, &file, log->file, log->error);
	if (status != TB_OK)
		return status;
	tb_infile_stop_on(file, reading->stop);
	status = log_read_lines(log, stream, reading);
	int cause = tb_infile_check(file, log->error);
	fclose(stream);
	if (cause == TB_EFORMAT)
		return tb_reading_breaks_off(
			reading, cause, &log->n_broken_files, log->error);
	return cause != TB_OK ? cause : status;
}

int tb_nl_read(struct nl_log *log, const struct tb_reading *reading, uint32_t clone_ranks,
	const char *const *paths, size_t n)
{
	struct tb_trace_files files = {0};
	log->file = paths[0];
	log->parts = "logs";
	log->lane = "stream";
	int status = tb_trace_files_list(&files, paths, n, begins_log, log->error);
	for (size_t i = 0; i < files.n && status == TB_OK; i++) {
		log->file = files.paths[i];
		status = log_read_file(log, reading);
	}
	log->file = paths[0];
	tb_trace_files_fini(&files);
	if (status == TB_OK && log->n_lines == 0)
		status = tb_fail_in(log->error, TB_EFORMAT, log->file,
			"has no line of NCCL's: expected HOST:PID:TID [DEVICE] NCCL "
			"INFO");
	return status == TB_OK ? tb_nl_group(log, clone_ranks) : status;
}

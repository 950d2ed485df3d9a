// Which communicators of the ranks are one, and which rank of the job each GPU is.
#include "nccl_impl.h"

#include "array.h"

#include <stdlib.h>
#include <string.h>

// What is sorted: a communicator of a rank, by its group.
struct nl_member {
	uint32_t group, key, gpu, comm;
};

struct nl_grouping {
	struct nl_log *log;
	struct tb_map group_of; // of id or size, and turn, to the newest such group
	struct tb_map place_of; // hash of group and rank, or of group and GPU
	struct tb_map turn_of;	// hash of GPU and size to how many it has had
};

static uint64_t hash_mix(uint64_t a, uint64_t b)
{
	a = (a ^ b * UINT64_C(0x9e3779b97f4a7c15)) * UINT64_C(0xbf58476d1ce4e5b9);
	return a ^ a >> 29;
}

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
		       &g->place_of, hash_mix(hash_mix(1, group), comm->gpu), &other) &&
	       (comm->rank == NL_NONE ||
		       !tb_map_find(&g->place_of,
			       hash_mix(hash_mix(2, group), comm->rank), &other));
}

static int grouping_join(struct nl_grouping *g, struct nl_comm *comm, uint32_t group)
{
	struct nl_group *of = &g->log->groups[group];
	comm->group = group;
	of->n_members++;
	of->n_ops += comm->n_ops;
	of->is_numbered = of->is_numbered || comm->rank == NL_NONE;
	int status = grouping_map_put(
		g, &g->place_of, hash_mix(hash_mix(1, group), comm->gpu), 0);
	if (status == TB_OK && comm->rank != NL_NONE)
		status = grouping_map_put(
			g, &g->place_of, hash_mix(hash_mix(2, group), comm->rank), 0);
	return status;
}

// grouping_add adds a group beside those of the same key, which are then unsure unless
// they have ids.
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

// A group is that of the id; without one the i-th that each of its ranks made of that
// size. Where several ranks have a place in it, others exist beside it, and it is not
// known who is in which.
static int grouping_place(struct nl_grouping *g, uint32_t number)
{
	struct nl_log *log = g->log;
	struct nl_comm *comm = &log->comms[number];
	uint32_t turn = 0, group;
	uint64_t by = hash_mix(hash_mix(3, comm->gpu), comm->n_ranks);
	if (comm->id == 0) {
		if (!tb_map_find(&g->turn_of, by, &turn))
			turn = 0;
		if (grouping_map_put(g, &g->turn_of, by, turn + 1) != TB_OK)
			return TB_ENOMEM;
	}
	uint64_t key = hash_mix(hash_mix(comm->id, comm->n_ranks), turn);
	bool found = tb_map_find(&g->group_of, key, &group);
	if (found && place_is_free(g, group, comm))
		return grouping_join(g, comm, group);
	if (found && comm->id == 0)
		log->groups[group].is_unsure = true;
	int status = grouping_add(g, comm, turn, key, found);
	return status == TB_OK ? grouping_join(g, comm, (uint32_t)log->n_groups - 1)
			       : status;
}

static int by_member(const void *a, const void *b)
{
	const struct nl_member *one = a, *other = b;
	if (one->group != other->group)
		return one->group < other->group ? -1 : 1;
	if (one->key != other->key)
		return one->key < other->key ? -1 : 1;
	return (one->gpu > other->gpu) - (one->gpu < other->gpu);
}

// group_copy_members makes the list of a group of its run in the sorted list.
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

// groups_fill has each group of which all members are known list them: by rank or, where
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

// A GPU in the order of hosts, as the log names them first.
struct nl_seat {
	uint32_t host, device, process, gpu;
};

static int by_seat(const void *a, const void *b)
{
	const struct nl_seat *one = a, *other = b;
	if (one->host != other->host)
		return one->host < other->host ? -1 : 1;
	if (one->device != other->device)
		return one->device < other->device ? -1 : 1;
	return (one->process > other->process) - (one->process < other->process);
}

// grouping_host returns the first process on the host of a process.
static int grouping_host(
	struct nl_grouping *g, struct tb_map *hosts, uint32_t process, uint32_t *host)
{
	const char *name = g->log->processes[process].host;
	uint64_t key = 1469598103934665603u; // FNV-1a
	for (const char *c = name; *c; c++)
		key = (key ^ (uint8_t)*c) * 1099511628211u;
	for (; tb_map_find(hosts, key, host); key++)
		if (strcmp(g->log->processes[*host].host, name) == 0)
			return TB_OK;
	*host = process;
	return grouping_map_put(g, hosts, key, process);
}

// grouping_seat_ranks stores the place of each GPU in the order of hosts and devices.
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
	return (*one > *other) - (*one < *other);
}

// groups_number_ranks numbers the GPUs as the largest communicator does, then those that
// are only in the next, and so on.
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

int tb_nl_group(struct nl_log *log)
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

#include "ranks.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define RANKS_MAX (UINT32_C(1) << 24)

static int too_many(const char *path, uint64_t n, struct tb_error *error)
{
	return tb_fail_in(error, TB_ECAPACITY, path,
		"the archive has %" PRIu64 " ranks: expected at most %" PRIu32, n,
		RANKS_MAX);
}

// ranks_number_members numbers the locations that take part in MPI.
static int ranks_number_members(
	struct tb_otf2_definitions *of, const char *path, struct tb_error *error)
{
	if (of->n_mpi_locations > RANKS_MAX)
		return too_many(path, of->n_mpi_locations, error);
	for (uint32_t rank = 0; rank < of->n_mpi_locations; rank++) {
		uint32_t place;
		if (!tb_map_find(&of->location_of, of->mpi_locations[rank], &place))
			return tb_fail_in(error, TB_EFORMAT, path,
				"rank %" PRIu32 " is location %" PRIu64
				", which is not defined",
				rank, of->mpi_locations[rank]);
		struct tb_otf2_location *main = &of->locations[place];
		if (main->rank != TB_OTF2_NONE)
			return tb_fail_in(error, TB_EFORMAT, path,
				"location %" PRIu64 " is rank %" PRIu32
				" and rank %" PRIu32,
				main->ref, main->rank, rank);
		main->rank = rank;
		main->is_main = true;
		if (main->process == TB_OTF2_NONE)
			continue;
		struct tb_otf2_process *process = &of->processes[main->process];
		if (process->rank == TB_OTF2_NONE)
			process->rank = rank;
	}
	of->n_ranks = of->n_mpi_locations;
	return TB_OK;
}

// number_processes numbers the processes that have a location, by their definitions.
static int number_processes(
	struct tb_otf2_definitions *of, const char *path, struct tb_error *error)
{
	uint32_t *main = malloc((of->n_processes + 1) * sizeof *main);
	if (!main)
		return tb_fail_memory(error, "the ranks of an archive");
	memset(main, 0xff, (of->n_processes + 1) * sizeof *main);
	for (size_t i = 0; i < of->n_locations; i++) {
		uint32_t process = of->locations[i].process;
		if (process != TB_OTF2_NONE && main[process] == TB_OTF2_NONE)
			main[process] = (uint32_t)i;
	}
	uint32_t n = 0;
	for (size_t i = 0; i < of->n_processes; i++) {
		if (!of->processes[i].is_process || main[i] == TB_OTF2_NONE)
			continue;
		of->locations[main[i]].rank = n;
		of->locations[main[i]].is_main = true;
		of->processes[i].rank = n++;
	}
	free(main);
	of->n_ranks = n;
	return n > RANKS_MAX ? too_many(path, n, error) : TB_OK;
}

static int location_by_rank(const void *a, const void *b)
{
	const struct tb_otf2_location *x = a, *y = b;
	if (x->rank != y->rank)
		return x->rank < y->rank ? -1 : 1;
	if (x->is_main != y->is_main)
		return x->is_main ? -1 : 1;
	return x->ref < y->ref ? -1 : x->ref > y->ref;
}

int tb_otf2_ranks_find(
	struct tb_otf2_definitions *of, const char *path, struct tb_error *error)
{
	int status = of->n_mpi_locations > 0 ? ranks_number_members(of, path, error)
					     : number_processes(of, path, error);
	if (status != TB_OK)
		return status;
	if (of->n_ranks == 0)
		return tb_fail_in(error, TB_EFORMAT, path,
			"the archive has no processes: expected locations in groups");
	for (size_t i = 0; i < of->n_locations; i++) {
		struct tb_otf2_location *location = &of->locations[i];
		if (location->rank == TB_OTF2_NONE && location->process != TB_OTF2_NONE)
			location->rank = of->processes[location->process].rank;
	}
	qsort(of->locations, of->n_locations, sizeof *of->locations, location_by_rank);
	return TB_OK;
}

// self_group returns the group of one rank, in which COMM_SELF is.
static int self_group(struct tb_otf2_definitions *of, struct tb_calls *calls,
	uint32_t rank, uint32_t *group, struct tb_error *error)
{
	if (!of->self_of) {
		of->self_of = malloc(of->n_ranks * sizeof *of->self_of);
		if (!of->self_of)
			return tb_fail_memory(error, "the groups of an archive");
		memset(of->self_of, 0xff, of->n_ranks * sizeof *of->self_of);
	}
	int status = TB_OK;
	if (of->self_of[rank] == TB_OTF2_NONE)
		status = tb_calls_group(calls, &rank, 1, 1, &of->self_of[rank], error);
	*group = of->self_of[rank];
	return status;
}

static void ranks_copy_members(uint32_t *to, const struct tb_otf2_group *group)
{
	// A rank beyond 32 bits becomes one that no job has.
	for (uint32_t i = 0; i < group->n; i++)
		to[i] = group->members[i] < TB_OTF2_NONE ? (uint32_t)group->members[i]
							 : TB_OTF2_NONE;
}

static int ranks_add_group(struct tb_otf2_definitions *of, struct tb_calls *calls,
	struct tb_otf2_comm *comm, struct tb_error *error)
{
	const struct tb_otf2_group *a = &of->groups[comm->a];
	const struct tb_otf2_group *b =
		comm->b != TB_OTF2_NONE ? &of->groups[comm->b] : NULL;
	uint64_t n = (uint64_t)a->n + (b ? b->n : 0);
	if (!b && a->n == of->n_ranks &&
		strcmp(tb_otf2_string(of, comm->name), "MPI_COMM_WORLD") == 0) {
		comm->group = 0;
		return TB_OK;
	}
	if (n > of->n_ranks)
		return tb_fail(error, TB_EFORMAT,
			"a communicator has %" PRIu64 " members: the archive has %" PRIu32
			" ranks",
			n, of->n_ranks);
	uint32_t *members = malloc((n ? n : 1) * sizeof *members);
	if (!members)
		return tb_fail_memory(error, "the groups of an archive");
	ranks_copy_members(members, a);
	if (b)
		ranks_copy_members(members + a->n, b);
	int status =
		tb_calls_group(calls, members, (uint32_t)n, a->n, &comm->group, error);
	free(members);
	if (status == TB_EUSAGE && error)
		error->code = TB_EFORMAT;
	return status == TB_EUSAGE ? TB_EFORMAT : status;
}

static int view_members(const struct tb_calls *calls, uint32_t comm, uint32_t rank,
	struct tb_otf2_view *view, struct tb_error *error)
{
	struct tb_group group = tb_calls_members(calls, view->group);
	uint32_t at = tb_group_place(&group, rank);
	if (at == group.n)
		return tb_fail(error, TB_EFORMAT,
			"rank %" PRIu32 " communicates in communicator %" PRIu32
			", of which it is no member",
			rank, comm);
	bool is_local = at < group.n_local;
	uint32_t n_remote = group.n - group.n_local;
	view->is_inter = n_remote > 0;
	view->me = is_local ? at : at - group.n_local;
	view->n_local = is_local ? group.n_local : n_remote;
	view->n = !view->is_inter ? group.n : is_local ? n_remote : group.n_local;
	view->first = view->is_inter && is_local ? group.n_local : 0;
	return TB_OK;
}

int tb_otf2_view_of(struct tb_otf2_definitions *of, struct tb_calls *calls, uint32_t comm,
	uint32_t rank, struct tb_otf2_view *view, struct tb_error *error)
{
	uint32_t place;
	int status = TB_OK;
	*view = (struct tb_otf2_view){0};
	// An archive without groups of ranks can only mean all of them.
	if (!tb_map_find(&of->comm_of, comm, &place)) {
		if (of->n_comms > 0)
			return tb_fail(error, TB_EFORMAT,
				"rank %" PRIu32 " communicates in communicator %" PRIu32
				", which is not defined",
				rank, comm);
		return view_members(calls, comm, rank, view, error);
	}
	struct tb_otf2_comm *of_comm = &of->comms[place];
	if (of_comm->b == TB_OTF2_NONE && of->groups[of_comm->a].is_self) {
		*view = (struct tb_otf2_view){.n = 1, .n_local = 1};
		return self_group(of, calls, rank, &view->group, error);
	}
	if (of_comm->group == TB_OTF2_NONE)
		status = ranks_add_group(of, calls, of_comm, error);
	view->group = of_comm->group;
	view->is_global = of->groups[of_comm->a].is_global;
	return status == TB_OK ? view_members(calls, comm, rank, view, error) : status;
}

uint32_t tb_otf2_peer(
	const struct tb_calls *calls, const struct tb_otf2_view *view, uint32_t peer)
{
	if (view->is_global)
		return peer < tb_calls_n_ranks(calls) ? peer : TB_OTF2_NONE;
	if (peer >= view->n)
		return TB_OTF2_NONE;
	return tb_calls_members(calls, view->group).members[view->first + peer];
}

uint32_t tb_otf2_root(
	const struct tb_calls *calls, const struct tb_otf2_view *view, uint32_t root)
{
	if (view->is_global) {
		struct tb_group group = tb_calls_members(calls, view->group);
		root = tb_group_place(&group, root);
	}
	return root < view->n ? root : TB_OTF2_NONE;
}


#include "wrap.h"

#include <stdlib.h>

static struct tb_handles comms = {.lock = PTHREAD_MUTEX_INITIALIZER};
static struct tb_handles windows = {.lock = PTHREAD_MUTEX_INITIALIZER};

// MPICH's handles are integers, Open MPI's pointers.
#ifdef OPEN_MPI
#define NUMBER_OF(handle) ((uint64_t)(uintptr_t)(handle))
#else
#define NUMBER_OF(handle) ((uint64_t)(uint32_t)(handle))
#endif

// What is written of a communicator.
struct members {
	int n, n_local;
	uint64_t *runs; // pairs of first rank and count
	size_t n_runs;	// values
};

// members_add_group appends the members of a group. Processes that are not of this
// program's MPI_COMM_WORLD (MPI_Comm_spawn) have no rank; then the communicator has no
// members.
static bool members_add_group(struct members *members, MPI_Group group)
{
	int n = 0;
	MPI_Group world;
	PMPI_Group_size(group, &n);
	int *ranks = malloc(2 * (size_t)n * sizeof *ranks + 1);
	uint64_t *runs = realloc(
		members->runs, (members->n_runs + 2 * (size_t)n + 1) * sizeof *runs);
	members->runs = runs ? runs : members->runs;
	bool done = ranks && runs;
	if (done) {
		for (int i = 0; i < n; i++)
			ranks[i] = i;
		PMPI_Comm_group(MPI_COMM_WORLD, &world);
		PMPI_Group_translate_ranks(group, n, ranks, world, ranks + n);
		PMPI_Group_free(&world);
	}
	for (int i = 0; i < n && done; i++) {
		int rank = ranks[n + i];
		done = rank != MPI_UNDEFINED;
		if (i > 0 && rank == ranks[n + i - 1] + 1) {
			runs[members->n_runs - 1]++;
			continue;
		}
		runs[members->n_runs++] = (uint64_t)rank;
		runs[members->n_runs++] = 1;
	}
	free(ranks);
	members->n += n;
	return done;
}

static uint64_t comm_define(struct tb_record_lane *lane, MPI_Comm comm, MPI_Comm like,
	uint64_t parent, const struct tb_comm_birth *birth)
{
	struct members members = {0};
	int inter = 0;
	MPI_Group group;
	PMPI_Comm_group(like, &group);
	bool done = members_add_group(&members, group);
	PMPI_Group_free(&group);
	members.n_local = members.n;
	PMPI_Comm_test_inter(like, &inter);
	if (inter && done) {
		PMPI_Comm_remote_group(like, &group);
		done = members_add_group(&members, group);
		PMPI_Group_free(&group);
	}
	if (!done)
		members.n = members.n_local = 0, members.n_runs = 0;
	uint64_t id = tb_handles_add(&comms, NUMBER_OF(comm));
	const uint64_t fields[] = {id, parent, birth ? birth->how : TB_TBT_FOUND,
		birth ? (uint64_t)(uint32_t)birth->tag : 0, (uint64_t)members.n,
		(uint64_t)members.n_local};
	tb_lane_define(lane, TB_TBT_COMM, fields, members.runs, members.n_runs);
	free(members.runs);
	return id;
}

void tb_comms_begin(struct tb_record_lane *lane)
{
	comm_define(lane, MPI_COMM_WORLD, MPI_COMM_WORLD, 0, NULL);
	comm_define(lane, MPI_COMM_SELF, MPI_COMM_SELF, 0, NULL);
}

uint64_t tb_comm_id(struct tb_record_lane *lane, MPI_Comm comm)
{
	uint64_t id = 0;
	if (tb_handles_find(&comms, NUMBER_OF(comm), &id))
		return id;
	return comm_define(lane, comm, comm, 0, NULL);
}

void tb_comm_made(
	struct tb_record_lane *lane, MPI_Comm comm, const struct tb_comm_birth *birth)
{
	if (comm == MPI_COMM_NULL)
		return;
	uint64_t parent = 0;
	if (birth->how != TB_TBT_INTER)
		parent = tb_comm_id(lane, birth->parent) + 1;
	comm_define(lane, comm, birth->like, parent, birth);
}

void tb_comm_gone(MPI_Comm comm)
{
	tb_handles_remove(&comms, NUMBER_OF(comm));
}

static uint64_t define_window(struct tb_record_lane *lane, MPI_Win window, uint64_t comm)
{
	uint64_t id = tb_handles_add(&windows, NUMBER_OF(window));
	const uint64_t fields[] = {id, comm};
	tb_lane_define(lane, TB_TBT_WINDOW, fields, NULL, 0);
	return id;
}

// A window that is not known was made by a function that is not listed in real.h: it is
// taken for one of all ranks.
uint64_t tb_window_id(struct tb_record_lane *lane, MPI_Win window)
{
	uint64_t id = 0;
	if (tb_handles_find(&windows, NUMBER_OF(window), &id))
		return id;
	return define_window(lane, window, 0);
}

void tb_window_made(struct tb_record_lane *lane, MPI_Win window, MPI_Comm comm)
{
	define_window(lane, window, tb_comm_id(lane, comm));
}

void tb_window_gone(MPI_Win window)
{
	tb_handles_remove(&windows, NUMBER_OF(window));
}

// What handles of MPI stand for: communicators, windows and files by number, and
// requests.
#include "wrap.h"

#include <stdatomic.h>
#include <stdlib.h>

// MPICH's handles are integers, Open MPI's pointers.
#ifdef OPEN_MPI
#define NUMBER_OF(handle) ((uint64_t)(uintptr_t)(handle))
#else
#define NUMBER_OF(handle) ((uint64_t)(uint32_t)(handle))
#endif

static void lock_if_threads(pthread_mutex_t *lock)
{
	if (tb_lanes_threads())
		pthread_mutex_lock(lock);
}

static void unlock_if_threads(pthread_mutex_t *lock)
{
	if (tb_lanes_threads())
		pthread_mutex_unlock(lock);
}

// handles_look returns where a handle stands, or n.
static uint32_t handles_look(struct tb_handles *handles, uint64_t handle)
{
	if (handles->last < handles->n && handles->items[handles->last].handle == handle)
		return handles->last;
	for (uint32_t i = 0; i < handles->n; i++)
		if (handles->items[i].handle == handle)
			return handles->last = i;
	return handles->n;
}

bool tb_handles_find(struct tb_handles *handles, uint64_t handle, uint64_t *id)
{
	lock_if_threads(&handles->lock);
	uint32_t at = handles_look(handles, handle);
	bool found = at < handles->n;
	if (found)
		*id = handles->items[at].id;
	unlock_if_threads(&handles->lock);
	return found;
}

static bool handles_make_room(struct tb_handles *handles)
{
	if (handles->n < handles->room)
		return true;
	uint32_t room = handles->room ? 2 * handles->room : 64;
	struct tb_handle *items = realloc(handles->items, room * sizeof *items);
	if (!items)
		return false;
	handles->items = items;
	handles->room = room;
	return true;
}

uint64_t tb_handles_add(struct tb_handles *handles, uint64_t handle)
{
	lock_if_threads(&handles->lock);
	uint32_t at = handles_look(handles, handle);
	uint64_t id = handles->n_ids++;
	if (at < handles->n || handles_make_room(handles)) {
		handles->items[at] = (struct tb_handle){handle, id};
		handles->n += at == handles->n;
	}
	unlock_if_threads(&handles->lock);
	return id;
}

void tb_handles_remove(struct tb_handles *handles, uint64_t handle)
{
	lock_if_threads(&handles->lock);
	uint32_t at = handles_look(handles, handle);
	if (at < handles->n)
		handles->items[at] = handles->items[--handles->n];
	unlock_if_threads(&handles->lock);
}

static struct tb_handles comms = {.lock = PTHREAD_MUTEX_INITIALIZER};
static struct tb_handles windows = {.lock = PTHREAD_MUTEX_INITIALIZER};

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

struct request_node {
	uint64_t handle;
	struct tb_traced_request request;
	uint32_t next; // in its bucket or in the list of free ones; 0: none
};

// Nodes are numbered from 1. There are at least as many buckets as nodes, a power of two.
static struct {
	pthread_mutex_t lock;
	_Atomic uint64_t last_id;
	struct request_node *nodes;
	uint32_t *buckets;
	uint32_t n_nodes, n_buckets, free;
} table = {.lock = PTHREAD_MUTEX_INITIALIZER};

uint64_t tb_request_new(void)
{
	return atomic_fetch_add_explicit(&table.last_id, 1, memory_order_relaxed) + 1;
}

static uint32_t *request_bucket(uint64_t handle)
{
	uint64_t hash = handle * UINT64_C(0x9e3779b97f4a7c15);
	return &table.buckets[(hash >> 32) & (table.n_buckets - 1)];
}

static void chain(uint32_t at)
{
	uint32_t *bucket = request_bucket(table.nodes[at].handle);
	table.nodes[at].next = *bucket;
	*bucket = at;
}

// requests_grow doubles the table; called when no node is free.
static bool requests_grow(void)
{
	uint32_t n = table.n_buckets ? 2 * table.n_buckets : 1024;
	struct request_node *nodes = realloc(table.nodes, (n + 1) * sizeof *nodes);
	if (!nodes)
		return false;
	table.nodes = nodes;
	uint32_t *buckets = calloc(n, sizeof *buckets);
	if (!buckets)
		return false;
	free(table.buckets);
	table.buckets = buckets;
	table.n_buckets = n;
	for (uint32_t i = 1; i <= table.n_nodes; i++)
		chain(i);
	for (uint32_t i = n; i > table.n_nodes; i--) {
		table.nodes[i].next = table.free;
		table.free = i;
	}
	table.n_nodes = n;
	return true;
}

void tb_request_put(MPI_Request handle, const struct tb_traced_request *request)
{
	lock_if_threads(&table.lock);
	// Without memory the operation's completion is not in the trace.
	if (table.free || requests_grow()) {
		uint32_t at = table.free;
		table.free = table.nodes[at].next;
		table.nodes[at].handle = NUMBER_OF(handle);
		table.nodes[at].request = *request;
		chain(at);
	}
	unlock_if_threads(&table.lock);
}

bool tb_request_take(MPI_Request handle, struct tb_traced_request *request)
{
	bool found = false;
	if (handle == MPI_REQUEST_NULL)
		return false;
	lock_if_threads(&table.lock);
	if (table.n_buckets) {
		uint64_t number = NUMBER_OF(handle);
		uint32_t *link = request_bucket(number);
		while (*link && table.nodes[*link].handle != number)
			link = &table.nodes[*link].next;
		uint32_t at = *link;
		found = at != 0;
		if (found) {
			*request = table.nodes[at].request;
			*link = table.nodes[at].next;
			table.nodes[at].next = table.free;
			table.free = at;
		}
	}
	unlock_if_threads(&table.lock);
	return found;
}

#include "requests.h"

#include "lane.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

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

// MPICH's handles are integers, Open MPI's pointers.
static uint64_t request_number(MPI_Request handle)
{
#ifdef OPEN_MPI
	return (uint64_t)(uintptr_t)handle;
#else
	return (uint64_t)(uint32_t)handle;
#endif
}

static void requests_lock(void)
{
	if (tb_lanes_threads())
		pthread_mutex_lock(&table.lock);
}

static void requests_unlock(void)
{
	if (tb_lanes_threads())
		pthread_mutex_unlock(&table.lock);
}

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
	requests_lock();
	// Without memory the operation's completion is not in the trace.
	if (table.free || requests_grow()) {
		uint32_t at = table.free;
		table.free = table.nodes[at].next;
		table.nodes[at].handle = request_number(handle);
		table.nodes[at].request = *request;
		chain(at);
	}
	requests_unlock();
}

bool tb_request_take(MPI_Request handle, struct tb_traced_request *request)
{
	bool found = false;
	if (handle == MPI_REQUEST_NULL)
		return false;
	requests_lock();
	if (table.n_buckets) {
		uint64_t number = request_number(handle);
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
	requests_unlock();
	return found;
}

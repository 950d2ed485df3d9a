// One-sided communication: windows, what goes through them, and its synchronization.
#include "wrap.h"

#include <stdlib.h>

// Making and freeing a window is collective: its members agree, as for a communicator.
enum { AGREE_BYTES = 4 };

static void record_window(struct tb_traced_call *entry, MPI_Comm comm)
{
	const uint64_t fields[] = {
		TB_TBT_ALLREDUCE, tb_comm_id(entry->lane, comm), 0, AGREE_BYTES, 0};
	tb_lane_record(entry, TB_TBT_COLL, fields, NULL, 0);
}

#define MAKER(name, parameters, arguments)                                               \
	TB_TRACED(                                                                       \
		name, parameters, arguments, tb_window_made(entry.lane, *window, comm);  \
		record_window(&entry, comm))

MAKER(Win_create,
	(void *base, MPI_Aint size, int unit, MPI_Info info, MPI_Comm comm,
		MPI_Win *window),
	(base, size, unit, info, comm, window));
MAKER(Win_allocate,
	(MPI_Aint size, int unit, MPI_Info info, MPI_Comm comm, void *base,
		MPI_Win *window),
	(size, unit, info, comm, base, window));
MAKER(Win_allocate_shared,
	(MPI_Aint size, int unit, MPI_Info info, MPI_Comm comm, void *base,
		MPI_Win *window),
	(size, unit, info, comm, base, window));
MAKER(Win_create_dynamic, (MPI_Info info, MPI_Comm comm, MPI_Win *window),
	(info, comm, window));

static void record_sync(struct tb_traced_call *entry, MPI_Win window,
	enum tb_tbt_sync what, int peer, MPI_Group group)
{
	int n = 0;
	uint64_t *peers = NULL;
	const uint64_t fields[] = {tb_window_id(entry->lane, window), what,
		peer >= 0 ? (uint64_t)peer + 1 : 0};
	if (group != MPI_GROUP_NULL)
		PMPI_Group_size(group, &n);
	if (n > 0)
		peers = tb_lane_scratch(entry->lane, 2 * (size_t)n);
	if (peers) {
		MPI_Group all;
		int *own = (int *)(peers + n), *theirs = own + n;
		for (int i = 0; i < n; i++)
			own[i] = i;
		PMPI_Win_get_group(window, &all);
		PMPI_Group_translate_ranks(group, n, own, all, theirs);
		PMPI_Group_free(&all);
		for (int i = 0; i < n; i++)
			peers[i] = (uint64_t)theirs[i];
	}
	tb_lane_record(entry, TB_TBT_RMA_SYNC, fields, peers, peers ? (size_t)n : 0);
}

// A window's end is a fence: all that goes through it is complete.
int MPI_Win_free(MPI_Win *window)
{
	struct tb_traced_call entry;
	MPI_Win gone = *window;
	uint64_t id = 0;
	tb_enter(&entry);
	if (tb_outermost(&entry)) {
		id = tb_window_id(entry.lane, gone);
		tb_window_gone(gone);
	}
	int result = tb_real.Win_free(window);
	const uint64_t fields[] = {id, TB_TBT_SYNC_FENCE, 0};
	if (tb_leave(&entry))
		tb_lane_record(&entry, TB_TBT_RMA_SYNC, fields, NULL, 0);
	return result;
}
TB_ALIAS(Win_free);

#define SYNC(name, parameters, arguments, what, peer, group)                             \
	TB_TRACED(name, parameters, arguments,                                           \
		record_sync(&entry, window, TB_TBT_SYNC_##what, peer, group))
#define ALL    (-1)
#define NOBODY MPI_GROUP_NULL

SYNC(Win_fence, (int assert, MPI_Win window), (assert, window), FENCE, ALL, NOBODY);
SYNC(Win_lock, (int type, int peer, int assert, MPI_Win window),
	(type, peer, assert, window), LOCK, peer, NOBODY);
SYNC(Win_lock_all, (int assert, MPI_Win window), (assert, window), LOCK, ALL, NOBODY);
SYNC(Win_unlock, (int peer, MPI_Win window), (peer, window), UNLOCK, peer, NOBODY);
SYNC(Win_unlock_all, (MPI_Win window), (window), UNLOCK, ALL, NOBODY);
SYNC(Win_flush, (int peer, MPI_Win window), (peer, window), FLUSH, peer, NOBODY);
SYNC(Win_flush_all, (MPI_Win window), (window), FLUSH, ALL, NOBODY);
SYNC(Win_flush_local, (int peer, MPI_Win window), (peer, window), FLUSH, peer, NOBODY);
SYNC(Win_flush_local_all, (MPI_Win window), (window), FLUSH, ALL, NOBODY);
SYNC(Win_post, (MPI_Group group, int assert, MPI_Win window), (group, assert, window),
	POST, ALL, group);
SYNC(Win_start, (MPI_Group group, int assert, MPI_Win window), (group, assert, window),
	START, ALL, group);
SYNC(Win_complete, (MPI_Win window), (window), COMPLETED, ALL, NOBODY);
SYNC(Win_wait, (MPI_Win window), (window), WAITED, ALL, NOBODY);

int MPI_Win_test(MPI_Win window, int *flag)
{
	struct tb_traced_call entry;
	tb_enter(&entry);
	int result = tb_real.Win_test(window, flag);
	if (!tb_leave(&entry))
		return result;
	if (result == MPI_SUCCESS && *flag)
		record_sync(&entry, window, TB_TBT_SYNC_WAITED, ALL, MPI_GROUP_NULL);
	else
		tb_lane_poll(&entry);
	return result;
}
TB_ALIAS(Win_test);

// record_access records what goes there and what comes back; `request` may be NULL.
static void record_access(struct tb_traced_call *entry, MPI_Win window, int peer,
	uint64_t there, uint64_t back, const MPI_Request *request)
{
	if (peer == MPI_PROC_NULL)
		return;
	const uint64_t fields[] = {tb_window_id(entry->lane, window), (uint64_t)peer,
		there, back, request ? tb_started(*request, false) + 1 : 0};
	tb_lane_record(entry, TB_TBT_RMA, fields, NULL, 0);
}

#define ACCESS(name, parameters, arguments, there, back, request)                        \
	TB_TRACED(name, parameters, arguments,                                           \
		record_access(&entry, window, peer, there, back, request))

// ACCESSES defines the form that is complete with the next synchronization and the one
// with a request.
#define ACCESSES(name, rname, parameters, arguments, there, back)                        \
	ACCESS(name, (TB_BARE parameters), (TB_BARE arguments), there, back, NULL);      \
	ACCESS(rname, (TB_BARE parameters, MPI_Request * request),                       \
		(TB_BARE arguments, request), there, back, request)

ACCESSES(Put, Rput,
	(const void *out, int n, MPI_Datatype type, int peer, MPI_Aint at, int n_there,
		MPI_Datatype type_there, MPI_Win window),
	(out, n, type, peer, at, n_there, type_there, window), tb_bytes_of(n, type), 0);
ACCESSES(Get, Rget,
	(void *in, int n, MPI_Datatype type, int peer, MPI_Aint at, int n_there,
		MPI_Datatype type_there, MPI_Win window),
	(in, n, type, peer, at, n_there, type_there, window), 0, tb_bytes_of(n, type));
ACCESSES(Accumulate, Raccumulate,
	(const void *out, int n, MPI_Datatype type, int peer, MPI_Aint at, int n_there,
		MPI_Datatype type_there, MPI_Op op, MPI_Win window),
	(out, n, type, peer, at, n_there, type_there, op, window), tb_bytes_of(n, type),
	0);
ACCESSES(Get_accumulate, Rget_accumulate,
	(const void *out, int n_out, MPI_Datatype out_type, void *in, int n_in,
		MPI_Datatype in_type, int peer, MPI_Aint at, int n, MPI_Datatype type,
		MPI_Op op, MPI_Win window),
	(out, n_out, out_type, in, n_in, in_type, peer, at, n, type, op, window),
	op == MPI_NO_OP ? 0 : tb_bytes_of(n_out, out_type), tb_bytes_of(n_in, in_type));
ACCESS(Fetch_and_op,
	(const void *out, void *in, MPI_Datatype type, int peer, MPI_Aint at, MPI_Op op,
		MPI_Win window),
	(out, in, type, peer, at, op, window), op == MPI_NO_OP ? 0 : tb_bytes_of(1, type),
	tb_bytes_of(1, type), NULL);
ACCESS(Compare_and_swap,
	(const void *out, const void *compare, void *in, MPI_Datatype type, int peer,
		MPI_Aint at, MPI_Win window),
	(out, compare, in, type, peer, at, window), 2 * tb_bytes_of(1, type),
	tb_bytes_of(1, type), NULL);

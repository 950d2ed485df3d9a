// Collective calls, blocking, non-blocking and persistent.
#include "wrap.h"

#include <string.h>

// What a call contributes (calls.h): `count` items of `type`, or `counts` by member.
struct traced_collective {
	enum tb_tbt_op op;
	MPI_Comm comm;
	int root;
	MPI_Count count;
	MPI_Datatype type; // MPI_DATATYPE_NULL: nothing
	const int *counts;
	const MPI_Datatype *types; // by member; NULL: all `type`
	bool neighbours;	   // to these only
};

enum how { BLOCKING, STARTED, DEFINED };

static uint64_t bytes_to(const struct traced_collective *call, size_t i)
{
	MPI_Count count = call->counts ? call->counts[i] : call->count;
	MPI_Datatype type = call->types ? call->types[i] : call->type;
	return count > 0 ? tb_bytes_of(count, type) : 0;
}

static int n_members(MPI_Comm comm)
{
	int inter = 0, n = 0;
	PMPI_Comm_test_inter(comm, &inter);
	if (inter)
		PMPI_Comm_remote_size(comm, &n);
	else
		PMPI_Comm_size(comm, &n);
	return n;
}

static size_t list_sizes(struct tb_record_lane *lane,
	const struct traced_collective *call, uint64_t **list)
{
	size_t n = (size_t)n_members(call->comm);
	*list = tb_lane_scratch(lane, n);
	for (size_t i = 0; i < n && *list; i++)
		(*list)[i] = bytes_to(call, i);
	return *list ? n : 0;
}

// n_neighbours returns to how many neighbours a rank sends.
static int n_neighbours(MPI_Comm comm, int *topology)
{
	int n = 0, in = 0, weighted = 0, rank = 0;
	PMPI_Topo_test(comm, topology);
	if (*topology == MPI_CART && PMPI_Cartdim_get(comm, &n) == MPI_SUCCESS)
		return 2 * n;
	PMPI_Comm_rank(comm, &rank);
	if (*topology == MPI_GRAPH)
		PMPI_Graph_neighbors_count(comm, rank, &n);
	else if (*topology == MPI_DIST_GRAPH)
		PMPI_Dist_graph_neighbors_count(comm, &in, &n, &weighted);
	return n;
}

// list_neighbours makes pairs of member and bytes, without those that are not there.
static size_t list_neighbours(struct tb_record_lane *lane,
	const struct traced_collective *call, uint64_t **list)
{
	int topology = MPI_UNDEFINED;
	int n = n_neighbours(call->comm, &topology);
	// The pairs, the ranks and room for weights.
	*list = tb_lane_scratch(lane, 4 * (size_t)n + 2);
	if (!*list || n == 0)
		return 0;
	int *ranks = (int *)(*list + 2 * n);
	size_t n_list = 0;
	memset(ranks, 0, 2 * (size_t)n * sizeof *ranks);
	MPI_Comm comm = call->comm;
	int *spare = ranks + n;
	int rank = 0, n_in = 0, n_out = 0, weighted = 0;
	PMPI_Comm_rank(comm, &rank);
	if (topology == MPI_CART)
		for (int i = 0; i < n / 2; i++)
			PMPI_Cart_shift(comm, i, 1, &ranks[2 * i], &ranks[2 * i + 1]);
	else if (topology == MPI_GRAPH)
		PMPI_Graph_neighbors(comm, rank, n, ranks);
	else if (PMPI_Dist_graph_neighbors_count(comm, &n_in, &n_out, &weighted) ==
		 MPI_SUCCESS)
		PMPI_Dist_graph_neighbors(comm, 0, spare, spare, n, ranks, spare);
	for (int i = 0; i < n; i++) {
		if (ranks[i] < 0)
			continue;
		(*list)[n_list++] = (uint64_t)ranks[i];
		(*list)[n_list++] = bytes_to(call, (size_t)i);
	}
	return n_list;
}

static uint64_t root_rank(int root)
{
	if (root == MPI_ROOT)
		return TB_TBT_ROOT_SELF;
	if (root == MPI_PROC_NULL)
		return TB_TBT_ROOT_BESIDE;
	return 4 * (uint64_t)root + TB_TBT_ROOT_RANK;
}

static void record(struct tb_traced_call *entry, const struct traced_collective *call,
	enum how how, const MPI_Request *request)
{
	uint64_t *list = NULL;
	size_t n_list = 0;
	uint64_t fields[5] = {call->op, tb_comm_id(entry->lane, call->comm),
		root_rank(call->root), 0, 0};
	if (call->neighbours)
		n_list = list_neighbours(entry->lane, call, &list);
	else if (call->counts)
		n_list = list_sizes(entry->lane, call, &list);
	else if (call->type != MPI_DATATYPE_NULL)
		fields[3] = tb_bytes_of(call->count, call->type);
	if (how == STARTED)
		fields[4] = tb_started(*request, false) + 1;
	else if (how == DEFINED)
		fields[4] = tb_defined(*request, false);
	tb_lane_record(entry, how == DEFINED ? TB_TBT_COLL_INIT : TB_TBT_COLL, fields,
		list, n_list);
}

// The calls by shape: what of the arguments says how much the rank contributes.

static struct traced_collective record_whole(
	enum tb_tbt_op op, MPI_Count count, MPI_Datatype type, int root, MPI_Comm comm)
{
	struct traced_collective call = {
		.op = op, .comm = comm, .root = root, .count = count, .type = type};
	if (root == MPI_PROC_NULL)
		call.type = MPI_DATATYPE_NULL;
	return call;
}

// in_or_out is for calls that send one block, or have it in the receive buffer already.
static struct traced_collective in_or_out(enum tb_tbt_op op, const void *out,
	MPI_Count n_out, MPI_Datatype out_type, MPI_Count n_in, MPI_Datatype in_type,
	MPI_Comm comm)
{
	bool in_place = out == MPI_IN_PLACE;
	return record_whole(
		op, in_place ? n_in : n_out, in_place ? in_type : out_type, 0, comm);
}

static struct traced_collective record_gather(const void *out, MPI_Count n_out,
	MPI_Datatype out_type, MPI_Count n_in, MPI_Datatype in_type, int root,
	MPI_Comm comm)
{
	struct traced_collective call =
		in_or_out(TB_TBT_GATHER, out, n_out, out_type, n_in, in_type, comm);
	call.root = root;
	if (root < 0) // nothing from the side of the root
		call.type = MPI_DATATYPE_NULL;
	return call;
}

static struct traced_collective record_scatter(MPI_Count n_out, MPI_Datatype out_type,
	const void *in, MPI_Count n_in, MPI_Datatype in_type, int root, MPI_Comm comm)
{
	bool sent = in == MPI_IN_PLACE || root == MPI_ROOT;
	return record_whole(TB_TBT_SCATTER, sent ? n_out : n_in,
		sent ? out_type : in_type, root, comm);
}

static int rank_in(MPI_Comm comm)
{
	int rank = 0;
	PMPI_Comm_rank(comm, &rank);
	return rank;
}

static struct traced_collective gather_v(const void *out, int n_out,
	MPI_Datatype out_type, const int *n_in, MPI_Datatype in_type, int root,
	MPI_Comm comm)
{
	int own = out == MPI_IN_PLACE ? n_in[rank_in(comm)] : 0;
	return record_gather(out, n_out, out_type, own, in_type, root, comm);
}

static struct traced_collective allgather_v(const void *out, int n_out,
	MPI_Datatype out_type, const int *n_in, MPI_Datatype in_type, MPI_Comm comm)
{
	int own = out == MPI_IN_PLACE ? n_in[rank_in(comm)] : 0;
	return in_or_out(TB_TBT_ALLGATHER, out, n_out, out_type, own, in_type, comm);
}

static struct traced_collective scatter_v(const int *n_out, MPI_Datatype out_type,
	const void *in, int n_in, MPI_Datatype in_type, int root, MPI_Comm comm)
{
	struct traced_collective call =
		record_scatter(0, out_type, in, n_in, in_type, root, comm);
	if (root == MPI_ROOT || (root >= 0 && rank_in(comm) == root)) {
		call.counts = n_out;
		call.type = out_type;
	}
	return call;
}

// The vector of a reduce-scatter is all members' blocks.
static struct traced_collective reduce_scatter(
	const int *counts, MPI_Datatype type, MPI_Comm comm)
{
	int n = 0;
	MPI_Count sum = 0;
	PMPI_Comm_size(comm, &n);
	for (int i = 0; i < n; i++)
		sum += counts[i];
	return record_whole(TB_TBT_REDUCE_SCATTER, sum, type, 0, comm);
}

static struct traced_collective reduce_scatter_block(
	MPI_Count count, MPI_Datatype type, MPI_Comm comm)
{
	int n = 0;
	PMPI_Comm_size(comm, &n);
	return record_whole(TB_TBT_REDUCE_SCATTER, count * n, type, 0, comm);
}

static struct traced_collective alltoall_v(const void *out, const int *n_out,
	MPI_Datatype out_type, const int *n_in, MPI_Datatype in_type, MPI_Comm comm)
{
	bool in_place = out == MPI_IN_PLACE;
	struct traced_collective call =
		record_whole(TB_TBT_ALLTOALL, 0, in_place ? in_type : out_type, 0, comm);
	call.counts = in_place ? n_in : n_out;
	return call;
}

static struct traced_collective alltoall_w(const void *out, const int *n_out,
	const MPI_Datatype *out_types, const int *n_in, const MPI_Datatype *in_types,
	MPI_Comm comm)
{
	struct traced_collective call =
		alltoall_v(out, n_out, MPI_DATATYPE_NULL, n_in, MPI_DATATYPE_NULL, comm);
	call.types = out == MPI_IN_PLACE ? in_types : out_types;
	return call;
}

static struct traced_collective neighbours(const int *counts, MPI_Count count,
	MPI_Datatype type, const MPI_Datatype *types, MPI_Comm comm)
{
	return (struct traced_collective){.op = TB_TBT_EXCHANGE,
		.comm = comm,
		.count = count,
		.type = type,
		.counts = counts,
		.types = types,
		.neighbours = true};
}

#define CALL(name, parameters, arguments, shape, how, request)                           \
	TB_TRACED(name, parameters, arguments,                                           \
		  const struct traced_collective call = shape;                           \
		  record(&entry, &call, how, request))

// PAIR defines the blocking and the non-blocking form.
#define PAIR(name, iname, parameters, arguments, shape)                                  \
	CALL(name, (TB_BARE parameters), (TB_BARE arguments), shape, BLOCKING, NULL);    \
	CALL(iname, (TB_BARE parameters, MPI_Request * request),                         \
		(TB_BARE arguments, request), shape, STARTED, request)

// INIT defines the persistent form.
#define INIT(name, parameters, arguments, shape)                                         \
	CALL(name, (TB_BARE parameters, MPI_Info info, MPI_Request * request),           \
		(TB_BARE arguments, info, request), shape, DEFINED, request)

// Parameters and arguments of functions that share them; COUNT is the type of a count.
#define BARRIER_P      (MPI_Comm comm)
#define BARRIER_A      (comm)
#define BARRIER_S      record_whole(TB_TBT_BARRIER, 0, MPI_DATATYPE_NULL, 0, comm)
#define BCAST_P(COUNT) (void *buffer, COUNT n, MPI_Datatype type, int root, MPI_Comm comm)
#define BCAST_A	       (buffer, n, type, root, comm)
#define BCAST_S	       record_whole(TB_TBT_BROADCAST, n, type, root, comm)
#define ROOTED_P(COUNT)                                                                  \
	(const void *out, COUNT n_out, MPI_Datatype out_type, void *in, COUNT n_in,      \
		MPI_Datatype in_type, int root, MPI_Comm comm)
#define ROOTED_A  (out, n_out, out_type, in, n_in, in_type, root, comm)
#define GATHER_S  record_gather(out, n_out, out_type, n_in, in_type, root, comm)
#define SCATTER_S record_scatter(n_out, out_type, in, n_in, in_type, root, comm)
#define ALL_P(COUNT)                                                                     \
	(const void *out, COUNT n_out, MPI_Datatype out_type, void *in, COUNT n_in,      \
		MPI_Datatype in_type, MPI_Comm comm)
#define ALL_A	  (out, n_out, out_type, in, n_in, in_type, comm)
#define ALL_S(op) in_or_out(op, out, n_out, out_type, n_in, in_type, comm)
#define REDUCE_P(COUNT)                                                                  \
	(const void *out, void *in, COUNT n, MPI_Datatype type, MPI_Op op, int root,     \
		MPI_Comm comm)
#define REDUCE_A (out, in, n, type, op, root, comm)
#define REDUCE_S record_whole(TB_TBT_REDUCE, n, type, root, comm)
#define VECTOR_P(COUNT)                                                                  \
	(const void *out, void *in, COUNT n, MPI_Datatype type, MPI_Op op, MPI_Comm comm)
#define VECTOR_A     (out, in, n, type, op, comm)
#define VECTOR_S(op) record_whole(op, n, type, 0, comm)
#define V_P                                                                              \
	(const void *out, const int n_out[], const int out_at[], MPI_Datatype out_type,  \
		void *in, const int n_in[], const int in_at[], MPI_Datatype in_type,     \
		MPI_Comm comm)
#define V_A (out, n_out, out_at, out_type, in, n_in, in_at, in_type, comm)
#define W_P(PLACE)                                                                       \
	(const void *out, const int n_out[], const PLACE out_at[],                       \
		const MPI_Datatype out_types[], void *in, const int n_in[],              \
		const PLACE in_at[], const MPI_Datatype in_types[], MPI_Comm comm)
#define W_A (out, n_out, out_at, out_types, in, n_in, in_at, in_types, comm)
#define ALLGATHERV_P                                                                     \
	(const void *out, int n_out, MPI_Datatype out_type, void *in, const int n_in[],  \
		const int in_at[], MPI_Datatype in_type, MPI_Comm comm)
#define ALLGATHERV_A (out, n_out, out_type, in, n_in, in_at, in_type, comm)

PAIR(Barrier, Ibarrier, BARRIER_P, BARRIER_A, BARRIER_S);
PAIR(Bcast, Ibcast, BCAST_P(int), BCAST_A, BCAST_S);
PAIR(Gather, Igather, ROOTED_P(int), ROOTED_A, GATHER_S);
PAIR(Scatter, Iscatter, ROOTED_P(int), ROOTED_A, SCATTER_S);
PAIR(Allgather, Iallgather, ALL_P(int), ALL_A, ALL_S(TB_TBT_ALLGATHER));
PAIR(Alltoall, Ialltoall, ALL_P(int), ALL_A, ALL_S(TB_TBT_ALLTOALL));
PAIR(Reduce, Ireduce, REDUCE_P(int), REDUCE_A, REDUCE_S);
PAIR(Allreduce, Iallreduce, VECTOR_P(int), VECTOR_A, VECTOR_S(TB_TBT_ALLREDUCE));
PAIR(Scan, Iscan, VECTOR_P(int), VECTOR_A, VECTOR_S(TB_TBT_SCAN));
PAIR(Exscan, Iexscan, VECTOR_P(int), VECTOR_A, VECTOR_S(TB_TBT_EXSCAN));
PAIR(Reduce_scatter_block, Ireduce_scatter_block, VECTOR_P(int), VECTOR_A,
	reduce_scatter_block(n, type, comm));
PAIR(Reduce_scatter, Ireduce_scatter, VECTOR_P(const int *), VECTOR_A,
	reduce_scatter(n, type, comm));
PAIR(Gatherv, Igatherv,
	(const void *out, int n_out, MPI_Datatype out_type, void *in, const int n_in[],
		const int in_at[], MPI_Datatype in_type, int root, MPI_Comm comm),
	(out, n_out, out_type, in, n_in, in_at, in_type, root, comm),
	gather_v(out, n_out, out_type, n_in, in_type, root, comm));
PAIR(Scatterv, Iscatterv,
	(const void *out, const int n_out[], const int out_at[], MPI_Datatype out_type,
		void *in, int n_in, MPI_Datatype in_type, int root, MPI_Comm comm),
	(out, n_out, out_at, out_type, in, n_in, in_type, root, comm),
	scatter_v(n_out, out_type, in, n_in, in_type, root, comm));
PAIR(Allgatherv, Iallgatherv, ALLGATHERV_P, ALLGATHERV_A,
	allgather_v(out, n_out, out_type, n_in, in_type, comm));
PAIR(Alltoallv, Ialltoallv, V_P, V_A,
	alltoall_v(out, n_out, out_type, n_in, in_type, comm));
PAIR(Alltoallw, Ialltoallw, W_P(int), W_A,
	alltoall_w(out, n_out, out_types, n_in, in_types, comm));
PAIR(Neighbor_allgather, Ineighbor_allgather, ALL_P(int), ALL_A,
	neighbours(NULL, n_out, out_type, NULL, comm));
PAIR(Neighbor_allgatherv, Ineighbor_allgatherv, ALLGATHERV_P, ALLGATHERV_A,
	neighbours(NULL, n_out, out_type, NULL, comm));
PAIR(Neighbor_alltoall, Ineighbor_alltoall, ALL_P(int), ALL_A,
	neighbours(NULL, n_out, out_type, NULL, comm));
PAIR(Neighbor_alltoallv, Ineighbor_alltoallv, V_P, V_A,
	neighbours(n_out, 0, out_type, NULL, comm));
PAIR(Neighbor_alltoallw, Ineighbor_alltoallw, W_P(MPI_Aint), W_A,
	neighbours(n_out, 0, MPI_DATATYPE_NULL, out_types, comm));

#if MPI_VERSION >= 4
INIT(Barrier_init, BARRIER_P, BARRIER_A, BARRIER_S);
INIT(Bcast_init, BCAST_P(int), BCAST_A, BCAST_S);
INIT(Gather_init, ROOTED_P(int), ROOTED_A, GATHER_S);
INIT(Scatter_init, ROOTED_P(int), ROOTED_A, SCATTER_S);
INIT(Allgather_init, ALL_P(int), ALL_A, ALL_S(TB_TBT_ALLGATHER));
INIT(Alltoall_init, ALL_P(int), ALL_A, ALL_S(TB_TBT_ALLTOALL));
INIT(Reduce_init, REDUCE_P(int), REDUCE_A, REDUCE_S);
INIT(Allreduce_init, VECTOR_P(int), VECTOR_A, VECTOR_S(TB_TBT_ALLREDUCE));
INIT(Reduce_scatter_block_init, VECTOR_P(int), VECTOR_A,
	reduce_scatter_block(n, type, comm));
INIT(Scan_init, VECTOR_P(int), VECTOR_A, VECTOR_S(TB_TBT_SCAN));
INIT(Exscan_init, VECTOR_P(int), VECTOR_A, VECTOR_S(TB_TBT_EXSCAN));
CALL(Bcast_c, BCAST_P(MPI_Count), BCAST_A, BCAST_S, BLOCKING, NULL);
CALL(Gather_c, ROOTED_P(MPI_Count), ROOTED_A, GATHER_S, BLOCKING, NULL);
CALL(Scatter_c, ROOTED_P(MPI_Count), ROOTED_A, SCATTER_S, BLOCKING, NULL);
CALL(Allgather_c, ALL_P(MPI_Count), ALL_A, ALL_S(TB_TBT_ALLGATHER), BLOCKING, NULL);
CALL(Alltoall_c, ALL_P(MPI_Count), ALL_A, ALL_S(TB_TBT_ALLTOALL), BLOCKING, NULL);
CALL(Reduce_c, REDUCE_P(MPI_Count), REDUCE_A, REDUCE_S, BLOCKING, NULL);
CALL(Allreduce_c, VECTOR_P(MPI_Count), VECTOR_A, VECTOR_S(TB_TBT_ALLREDUCE), BLOCKING,
	NULL);
#endif

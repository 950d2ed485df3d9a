// The functions of MPI that the tracer stands in for, and the MPI's own.
//
// Model: the tracer defines MPI_X and, as another name of it, PMPI_X. A program in C
// calls the one, Open MPI's Fortran bindings the other, so every language comes by here.
// The MPI's own function is the next PMPI_X that the linker finds. Functions that are not
// listed here are called as PMPI_X.
#ifndef TB_REAL_H
#define TB_REAL_H

#pragma GCC visibility push(default)
#include <mpi.h>
#pragma GCC visibility pop

#ifdef OPEN_MPI
#define TB_MPI TB_TBT_OPENMPI
#else
#define TB_MPI TB_TBT_MPICH
#endif

// clang-format off
#define TB_WRAPPED_3(X) \
	X(Init) X(Init_thread) X(Finalize) X(Abort) \
	X(Send) X(Bsend) X(Ssend) X(Rsend) X(Isend) X(Ibsend) X(Issend) X(Irsend) \
	X(Send_init) X(Bsend_init) X(Ssend_init) X(Rsend_init) \
	X(Recv) X(Irecv) X(Recv_init) X(Mrecv) X(Imrecv) \
	X(Sendrecv) X(Sendrecv_replace) \
	X(Probe) X(Iprobe) X(Mprobe) X(Improbe) \
	X(Start) X(Startall) X(Cancel) X(Request_free) \
	X(Wait) X(Waitall) X(Waitany) X(Waitsome) X(Test) X(Testall) X(Testany) X(Testsome) \
	X(Barrier) X(Ibarrier) X(Bcast) X(Ibcast) X(Gather) X(Igather) X(Gatherv) X(Igatherv) \
	X(Scatter) X(Iscatter) X(Scatterv) X(Iscatterv) X(Allgather) X(Iallgather) \
	X(Allgatherv) X(Iallgatherv) X(Alltoall) X(Ialltoall) X(Alltoallv) X(Ialltoallv) \
	X(Alltoallw) X(Ialltoallw) X(Reduce) X(Ireduce) X(Allreduce) X(Iallreduce) \
	X(Reduce_scatter) X(Ireduce_scatter) X(Reduce_scatter_block) X(Ireduce_scatter_block) \
	X(Scan) X(Iscan) X(Exscan) X(Iexscan) \
	X(Neighbor_allgather) X(Ineighbor_allgather) X(Neighbor_allgatherv) \
	X(Ineighbor_allgatherv) X(Neighbor_alltoall) X(Ineighbor_alltoall) \
	X(Neighbor_alltoallv) X(Ineighbor_alltoallv) X(Neighbor_alltoallw) \
	X(Ineighbor_alltoallw) \
	X(Comm_dup) X(Comm_dup_with_info) X(Comm_idup) X(Comm_create) X(Comm_create_group) \
	X(Comm_split) X(Comm_split_type) X(Comm_free) X(Comm_disconnect) \
	X(Intercomm_create) X(Intercomm_merge) X(Cart_create) X(Cart_sub) X(Graph_create) \
	X(Dist_graph_create) X(Dist_graph_create_adjacent) \
	X(Comm_spawn) X(Comm_spawn_multiple) X(Comm_accept) X(Comm_connect) X(Comm_join) \
	X(Win_create) X(Win_allocate) X(Win_allocate_shared) X(Win_create_dynamic) X(Win_free) \
	X(Put) X(Get) X(Accumulate) X(Get_accumulate) X(Fetch_and_op) X(Compare_and_swap) \
	X(Rput) X(Rget) X(Raccumulate) X(Rget_accumulate) \
	X(Win_fence) X(Win_lock) X(Win_lock_all) X(Win_unlock) X(Win_unlock_all) X(Win_flush) \
	X(Win_flush_all) X(Win_flush_local) X(Win_flush_local_all) X(Win_post) X(Win_start) \
	X(Win_complete) X(Win_wait) X(Win_test) \
	X(File_open) X(File_close) X(File_read_at) X(File_write_at) X(File_read_at_all) \
	X(File_write_at_all) X(File_read) X(File_write) X(File_read_all) X(File_write_all) \
	X(File_read_shared) X(File_write_shared) X(File_read_ordered) \
	X(File_write_ordered) X(File_iread_at) X(File_iwrite_at) X(File_iread_at_all) \
	X(File_iwrite_at_all) X(File_iread) X(File_iwrite) X(File_iread_all) \
	X(File_iwrite_all) X(File_iread_shared) X(File_iwrite_shared) \
	X(File_read_at_all_begin) X(File_write_at_all_begin) X(File_read_all_begin) \
	X(File_write_all_begin) X(File_read_ordered_begin) X(File_write_ordered_begin) \
	X(File_read_at_all_end) X(File_write_at_all_end) X(File_read_all_end) \
	X(File_write_all_end) X(File_read_ordered_end) X(File_write_ordered_end) \
	X(File_sync) X(File_set_size) X(File_preallocate) X(File_set_view)
#if MPI_VERSION >= 4
#define TB_WRAPPED_4(X) \
	X(Send_c) X(Bsend_c) X(Ssend_c) X(Rsend_c) X(Isend_c) X(Ibsend_c) X(Issend_c) \
	X(Irsend_c) X(Send_init_c) X(Bsend_init_c) X(Ssend_init_c) X(Rsend_init_c) \
	X(Recv_c) X(Irecv_c) X(Recv_init_c) X(Mrecv_c) X(Imrecv_c) \
	X(Sendrecv_c) X(Sendrecv_replace_c) X(Isendrecv) X(Isendrecv_replace) \
	X(Psend_init) X(Precv_init) X(Pready) X(Pready_range) X(Pready_list) X(Parrived) \
	X(Barrier_init) X(Bcast_init) X(Gather_init) X(Scatter_init) X(Allgather_init) \
	X(Alltoall_init) X(Reduce_init) X(Allreduce_init) X(Reduce_scatter_block_init) \
	X(Scan_init) X(Exscan_init) \
	X(Bcast_c) X(Gather_c) X(Scatter_c) X(Allgather_c) X(Alltoall_c) X(Reduce_c) \
	X(Allreduce_c)
#else
#define TB_WRAPPED_4(X)
#endif
// clang-format on
#define TB_WRAPPED(X) TB_WRAPPED_3(X) TB_WRAPPED_4(X)

struct tb_real {
#define TB_REAL_FIELD(name) __typeof__(&MPI_##name) name;
	TB_WRAPPED(TB_REAL_FIELD)
#undef TB_REAL_FIELD
};

extern struct tb_real tb_real;

// TB_ALIAS(name); stands behind the definition of MPI_name.
#define TB_ALIAS(name)                                                                   \
	extern __typeof__(MPI_##name) PMPI_##name __attribute__((alias("MPI_" #name)))

#endif

// Exports of Nsight Systems to SQLite (nsys export -t sqlite), as what MPI ranks called
// or, where this sends more, what GPUs called of NCCL.
//
// Format: the tables of NVIDIA's "SQLite Export Schema Reference". Read are StringIds,
// MPI_RANKS (which thread is of which rank), MPI_P2P_EVENTS, MPI_COLLECTIVES_EVENTS,
// MPI_START_WAIT_EVENTS and MPI_OTHER_EVENTS (Nsight Systems 2022 and later, recorded
// with --trace=mpi); NVTX_EVENTS with NCCL's ranges, their payloads (columns binaryData,
// jsonText) and NVTX_PAYLOAD_SCHEMA_ENTRIES, by which these are read; and for people
// CUPTI_ACTIVITY_KIND_KERNEL and TARGET_INFO_SYSTEM_ENV. Any may be absent.
//
// The file is a stranger's: it is opened as immutable and read only, no view, trigger,
// virtual table or generated column of it runs, and its values have limits. Memory: about
// 100 bytes for each call.
//
// Rules:
//
// nsys export -t sqlite of a report recorded with --trace=mpi (2022 and later) or
// nvtx; one, several or their folder.
// 1. MPI_RANKS says which thread is of which rank; all ranks from 0 on are needed.
//    Threads are lanes, timed from the rank's first call; a wait is for its request,
//    or without one for all that its thread began.
// 2. A rank that uses one communicator uses that of all ranks; of several the export
//    lists no members: refused. So are receives from any source. MPI_Sendrecv and
//    persistent requests are left out. MPI_Alltoallv is spread evenly.
// 3. Where NCCL sends more than MPI, its ranges become calls instead, by the rules of
//    its logs (a communicator is a stream). Sizes, communicators, roots and partners
//    are those of the ranges' payloads (--trace=nvtx, nsys export
//    --include-blobs=true; NCCL 2.27 and later have all), ranks those of
//    ncclCommInitRank. What a payload lacks is counted and noted, and a communicator
//    that was made before the recording has those who call in it.
#ifndef TB_NSYS_EXPORT_H
#define TB_NSYS_EXPORT_H

#include "bytes.h"
#include "reading.h"

// tb_nsys_is returns whether a file that begins so is such an export.
bool tb_nsys_is(const char *path, struct tb_bytes first);

// tb_nsys_is_folder returns whether a folder has some: NAME.sqlite, one for each report.
bool tb_nsys_is_folder(const char *path);

// tb_nsys_read reads the exports of one job: files, or a folder of them. TB_EFORMAT for
// what is damaged, for exports without calls or their sizes, for ranks that are missing
// and for communicators of which nobody knows the members.
int tb_nsys_read(struct tb_calls **calls, const struct tb_reading *reading,
	const char *const *paths, size_t n, const char **made,
	struct tb_error *error) TB_MUST_USE;

// tb_nsys_facts adds hosts, MPI calls, kernels and ranges of NCCL.
int tb_nsys_facts(struct tb_facts *facts, const struct tb_reading *reading,
	const char *const *paths, size_t n, struct tb_error *error) TB_MUST_USE;

#endif

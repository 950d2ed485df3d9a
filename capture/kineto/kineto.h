// Reads the profiles that PyTorch writes through Kineto, a file a rank, as what the ranks
// called.
//
// Format: the trace event format of Chrome, an object with "traceEvents", to which Kineto
// adds "distributedInfo" (rank, world size, process groups) and, in the arguments of
// NCCL's kernels and of the operations record_param_comms, what was sent: "Collective
// name", "In msg nelems", "dtype", "Process Group Ranks" and others
// (torch/csrc/profiler/util.cpp, names of 2.1 and later).
//
// Each file is read twice from beginning to end, so memory grows with the communication
// of a profile and with its streams, not with its other events.
//
// Rules:
//
// What torch.profiler writes, JSON, a file a rank. Give all files, or their folder:
// - Rank and job. The rank and the number of ranks are those of distributedInfo;
//   without it, the rank is the number behind "rank" in the file's name. The host is
//   the profile's member hostname, or that in a name HOST_PID.TIME.pt.trace.json.
//   Ranks are timed from the first work of their GPU: their clocks are not compared.
// - Communication. A kernel of NCCL (or RCCL) is a collective call or messages. What
//   it does is in its arguments ("Collective name", "In msg nelems", "dtype"), else in
//   those of the record_param_comms with its "External id", else in those begun before
//   its launch that have no kernel of their own (batch_isend_irecv, whose messages go
//   at once). PyTorch before 2.1 has no such arguments: then the annotation around the
//   kernel's launch (nccl:all_reduce) tells, with the "Input Dims" of a profile with
//   record_shapes=True, or, without annotations, the call of c10d. Operations of CPUs
//   (gloo:), and those of a profile without kernels of communication, are timed by the
//   CPU. A kernel of which nothing says what it sends is refused, or with --lenient
//   counted and left out; one launched before the profile began is left out. Bytes are
//   elements times their type's. A barrier is an all-reduce of 4 bytes. Split sizes
//   divide an all-to-all (evenly beyond 30). The root of a broadcast is "Rank", else
//   the group's first rank.
// - Library. NCCL of the version in distributedInfo, or RCCL where the GPUs are AMD's
//   (deviceProperties, calls of HIP). Without kernels of communication it is that of
//   the backend: sockets for gloo, whose own algorithms are not modelled.
// - Groups. Members are the "Process Group Ranks", else those of pg_config, else those
//   of "Global rank start" and "stride", else all ranks where the group is as large,
//   else the ranks whose profiles use a group of this name; else the profile is
//   refused. Annotations and old execution traces name no group: all ranks.
// - Streams. Each stream of a GPU is a lane. Its kernels and copies are computation,
//   with the gaps between them. Launches are in the order of correlation ids.
// - A communication waits for the work that was launched before it on all other
//   streams, but for a stream whose work was still going on when it began; and for the
//   one before in its own stream. The time from the end of that work to the launch
//   remains; a kernel that begins less than 10 us after the one before in its stream
//   was waiting for that.
// - Computation waits for a communication where the program had a stream wait
//   (cudaStreamWaitEvent outside of NCCL's own operations, or a synchronization of the
//   device). With cuda_sync events in the profile both streams are known. Otherwise
//   the stream is the one to which work is launched next, and the communication is the
//   last that ended while that stream was idle; if there is none, the oldest for which
//   nothing has waited yet.
// - Without calls of the runtime in the profile, time decides: communication waits for
//   what had begun before it, and computation for all communication that had ended
//   before it began.
// Execution traces of PyTorch (ExecutionTraceObserver, JSON with "nodes") are read
// likewise: their record_param_comms follow each other, without times. Their rank is
// that of the file's name, or that of an operation of all ranks. Both can be ranks of
// one job.
// --clone-ranks N makes a job of N ranks of n ranks' profiles: rank r without a
// profile does what number r mod n of them does. A group of all ranks remains one.
// Another must be a row of a grid: s ranks of equal distance d, that begin at a
// multiple of d s, or less than d behind it. Rank r is in the row that crosses it, and
// the rows of the outermost dimension, of which d s is n, grow with the job. Ranks
// that send to single ranks (a pipeline's) are not cloned. With -H nccl and --per-node
// the GPUs of a node talk over NVLink; rails=8 gives it the interfaces of a DGX.
#ifndef TB_KINETO_H
#define TB_KINETO_H

#include "bytes.h"
#include "reading.h"

// tb_kineto_begins returns whether a file that begins like this is such a profile.
bool tb_kineto_begins(struct tb_bytes first);

// tb_kineto_begins_gloo returns whether it also names gloo, which sends by sockets, as
// its backend; tb_kineto_is_gloo_folder, whether a folder has such profiles.
bool tb_kineto_begins_gloo(struct tb_bytes first);
bool tb_kineto_is_gloo_folder(const char *path);

// tb_kineto_mentions returns whether a file of JSON has "traceEvents" in its first MiB:
// what wrote it may put much before the events.
bool tb_kineto_mentions(const char *path);

// tb_kineto_is_folder returns whether a folder has such profiles in it.
bool tb_kineto_is_folder(const char *path);

// tb_kineto_read reads the profiles of one job: files, or a folder of them. TB_EFORMAT
// for what is broken, for two profiles of one rank, for ranks of which there is none, and
// for a process group of which nobody knows the members; TB_EUSAGE for --clone-ranks that
// cannot be.
int tb_kineto_read(struct tb_calls **calls, const struct tb_reading *reading,
	const char *const *paths, size_t n, const char **made,
	struct tb_error *error) TB_MUST_USE;

#endif

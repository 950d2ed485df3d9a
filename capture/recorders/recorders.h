// What recorders of collective calls keep, as what the ranks called: PyTorch's flight
// recorder, NCCL's inspector, the traces of NCCL's example profiler, and DeepSpeed's log
// of communication.
//
// Formats:
//
// - Flight recorder (torch/csrc/distributed/c10d/FlightRecorderDetail.hpp, 2.3 to 2.9;
//   torchcomms likewise): a file per rank, the rank at the end of its name
//   (/tmp/nccl_trace_rank_3). One object, as JSON or as Python's pickle (pickle.h):
//   "entries" with "process_group" [name, description], "collective_seq_id",
//   "profiling_name" ("nccl:all_reduce"), "input_sizes", "input_dtypes", "state"
//   (scheduled, started, completed), "time_created_ns", "duration_ms"; "pg_config" has
//   the ranks of each group.
// - Inspector (ext-profiler/inspector of NCCL 2.28): objects, one after the other or one
//   a line, with "header" (communicator id, rank, n_ranks), "metadata" (hostname, pid)
//   and "coll_perf" (coll, coll_sn, coll_msg_size_bytes, coll_exec_time_us).
//   coll_msg_size_bytes of AllGather and ReduceScatter is one rank's block: with it the
//   bandwidths of the same line agree.
// - Example profiler (ext-profiler/example of NCCL 2.23 and later): an array of Chrome's
//   trace events, one a line. Those of category COLL and P2P are read, by CommHash and
//   Rank; others (their arguments are not always JSON) are passed over.
// - DeepSpeed (utils/comms_logging.py, with "verbose"): lines "rank=0 | comm op: ... |
//   time (ms): ... | msg size: ... |", of rank 0 only.
//
// Rules:
//
// 1. Ranks of the flight recorder are those of the files; in the others, places in the
//    largest communicator.
// 2. Calls of one communicator follow each other in a lane of its own. What was computed
//    between is known only where both the beginning and the duration of calls were
//    recorded; elsewhere they follow each other at once, and a note says so.
// 3. A collective counts where every member's file has it, by its number; others are
//    left out and counted: a ring overwrote them, or somebody never came to them.
// 4. Roots are not recorded: the first member is it.
#ifndef TB_RECORDERS_H
#define TB_RECORDERS_H

#include "bytes.h"
#include "reading.h"

// These return whether a file that begins like this is of the format, or whether a folder
// has such files.
bool tb_flight_begins(struct tb_bytes first);
bool tb_flight_is_folder(const char *path);
bool tb_nccl_records_begin(struct tb_bytes first);
bool tb_nccl_records_is_folder(const char *path);
bool tb_deepspeed_begins(struct tb_bytes first);

// tb_deepspeed_mentions returns whether the first MiB of a file has such a line, among
// other output of a job.
bool tb_deepspeed_mentions(const char *path);

// Readers of calls. TB_EFORMAT for what is broken, and where no call is in the files of
// all its members.
int tb_flight_read(struct tb_calls **calls, const struct tb_reading *reading,
	const char *const *paths, size_t n, const char **made,
	struct tb_error *error) TB_MUST_USE;
int tb_nccl_records_read(struct tb_calls **calls, const struct tb_reading *reading,
	const char *const *paths, size_t n, const char **made,
	struct tb_error *error) TB_MUST_USE;

// tb_deepspeed_read needs reading->clone_ranks, of which all do what rank 0 did;
// TB_EUSAGE without.
int tb_deepspeed_read(struct tb_calls **calls, const struct tb_reading *reading,
	const char *const *paths, size_t n, const char **made,
	struct tb_error *error) TB_MUST_USE;

// tb_flight_facts adds who is behind in which collective of which group, who waits, and
// which ranks called something else than the others. tb_nccl_records_facts adds how long
// calls took, by operation and size.
int tb_flight_facts(struct tb_facts *facts, const struct tb_reading *reading,
	const char *const *paths, size_t n, struct tb_error *error) TB_MUST_USE;
int tb_nccl_records_facts(struct tb_facts *facts, const struct tb_reading *reading,
	const char *const *paths, size_t n, struct tb_error *error) TB_MUST_USE;

#endif

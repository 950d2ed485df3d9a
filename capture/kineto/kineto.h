// Reads the profiles that PyTorch writes through Kineto, a file a rank, as what the ranks
// called.
//
// Format: the trace event format of Chrome, an object with "traceEvents", to which Kineto
// adds "distributedInfo" (rank, world size, process groups) and, in the arguments of
// NCCL's kernels and of the operations record_param_comms, what was sent: "Collective
// name", "In msg nelems", "dtype", "Process Group Ranks" and others
// (torch/csrc/profiler/util.cpp, names of 2.1 and later). docs/traces.md has the rules by
// which streams become lanes.
//
// Each file is read twice from beginning to end, so memory grows with the communication
// of a profile and with its streams, not with its other events.
#ifndef TB_KINETO_H
#define TB_KINETO_H

#include "bytes.h"
#include "reading.h"

// tb_kineto_begins returns whether a file that begins like this is such a profile.
bool tb_kineto_begins(struct tb_bytes first);

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

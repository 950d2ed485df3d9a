// Chakra execution traces (MLCommons): what the ranks of a training job computed and
// sent, as a graph of nodes that depend on each other; a file per rank.
//
// A trace is the files NAME.0.et, NAME.1.et, ... of one folder (protobuf,
// execution_trace.proto), or NAME.0.json, ... (the output of Chakra's jsonizer: one
// object after the other; or of the form {"workload_graph": [...]}). The number is the
// rank. Any of them may be compressed, and then ends in .gz, .zst, .xz, .lz4 or .bz2.
//
// Rules (docs/traces.md): a node begins when the nodes of its data_deps are complete, and
// of its ctrl_deps, too, unless the trace is of PyTorch, where these are the operators
// that called it. Computation and memory nodes take their duration, communication what
// the network makes of it. A chain of nodes is a lane of calls.
#ifndef TB_CHAKRA_H
#define TB_CHAKRA_H

#include "bytes.h"
#include "calls.h"
#include "reading.h"

// tb_chakra_begins returns whether a file that begins so is a Chakra trace in protobuf;
// tb_chakra_json_begins, in JSON. `first`: as much of it as is known.
bool tb_chakra_begins(struct tb_bytes first);
bool tb_chakra_json_begins(struct tb_bytes first);

// tb_chakra_is_named returns whether a path ends like a file of a Chakra trace in
// protobuf, ".3.et"; tb_chakra_is_folder, whether a folder has such a file.
bool tb_chakra_is_named(const char *path);
bool tb_chakra_is_folder(const char *path);

// tb_chakra_read is a tb_calls_read. One path is a folder with one trace, or a file of a
// trace, to which all files of that trace beside it belong; several are the files. Groups
// of processes come from comm_group.json beside them, {"NAME": [RANK, ...], ...}, else
// from the trace. TB_EFORMAT names file and node; TB_EDEADLOCK, nodes that wait for each
// other; TB_EUSAGE for ranks that are missing; TB_EIO, TB_ENOMEM, TB_ESTOPPED.
int tb_chakra_read(struct tb_calls **calls, const struct tb_reading *reading,
	const char *const *paths, size_t n, const char **made,
	struct tb_error *error) TB_MUST_USE;

#endif

// Chakra execution traces (MLCommons): what the ranks of a training job computed and
// sent, as a graph of nodes that depend on each other; a file per rank.
//
// A trace is the files NAME.0.et, NAME.1.et, ... of one folder (protobuf,
// execution_trace.proto), or NAME.0.json, ... (the output of Chakra's jsonizer: one
// object after the other; or of the form {"workload_graph": [...]} or {"nodes": [...]}).
// The number is the rank. Any of them may be compressed, and then ends in .gz, .zst, .xz,
// .lz4 or .bz2.
//
// Rules:
//
// 1. A node begins when the nodes of its data_deps are complete. So for its ctrl_deps,
//    unless the trace was made from PyTorch (its operators have an rf_id, or run on
//    the CPU): there these are the operators that called it, which it need not wait
//    for. Nodes may be in any order; those that wait for each other are named.
// 2. Computation and memory nodes take their duration; one without (num_ops alone)
//    takes no time, and the notes count them. Nothing but dependencies holds a node
//    back: others may compute at the same time.
// 3. A collective node of the CPU (is_cpu_op) launches one; it counts as computation.
// 4. comm_size is what goes into a collective: of an all-to-all and a scatter it is
//    cut by the number of members. Chakra names no roots: the first member is it.
// 5. A process group (pg_name) has the ranks that comm_group.json beside the files
//    lists for it ({"0": [0, 1], "1": [2, 3]}, as for ASTRA-sim), or else those of
//    PyTorch's list in a metadata node; or else those that call in it, which the notes
//    say. Collectives without a group are of all ranks. involved_dim would need a
//    topology, and is counted in the notes.
// 6. Every rank from 0 on needs a file, unless --clone-ranks N is given: then rank r
//    does what file r modulo their number has, and sends and receives are refused.
// 7. The library is NCCL, unless --library says otherwise.
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
// protobuf, ".3.et"; tb_chakra_is_folder, whether a folder has such a file, or one in
// JSON (".3.json") that begins like a trace.
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

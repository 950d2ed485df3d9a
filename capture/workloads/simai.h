// Workloads of SimAI and of ASTRA-sim 1: the layers of a model, as what each rank of a
// training step computes and sends.
//
// Format: text. The first line has the kind of parallelism and, from SimAI (AICB), keys;
// the second the number of layers, then a line for each, of words and numbers:
//
//   HYBRID_TRANSFORMER_FWD_IN_BCKWD model_parallel_NPU_group: 8 ep: 1 pp: 1 vpp: 8
//   ga: 1 all_gpus: 16 checkpoints: 0 checkpoint_initiates: 0
//   1
//   attention -1 556000 ALLREDUCE 16777216 1 NONE 0 1 NONE 0 1
//
// name, dependency, then three times the computation in ns, the operation and its bytes:
// forward, input gradient, weight gradient; and the ns of the update. Operations are
// ALLREDUCE, ALLGATHER, REDUCESCATTER, ALLTOALL and NONE; what follows them names the
// group: _EP, _DP, _DP_EP, _TP (SimAI/aicb, utils; astra-sim 1.0, workload/Workload.cc).
//
// Rules:
//
// 1. A step is the layers forward, then backward from the last to the first: input
//    gradient, then weight gradient; of DATA, MICRO and HYBRID_DLRM the other way round
//    (astra-sim 1.0, workload/Workload.cc, iterate_...). The collectives of forward and
//    input gradients are waited for. Those of weight gradients go on beside the rest of
//    the step, of each group one after the other, until its end, where the updates are
//    computed.
// 2. Ranks are those of all_gpus, or else of --clone-ranks. Groups are Megatron's: tensor
//    parallel ranks follow each other, then data parallel ones, of which `ep` that follow
//    each other are expert parallel; pipeline stages are outermost. Without a suffix,
//    forward and input gradient are of the tensor parallel group, weight gradients of the
//    data parallel one; without keys all are of all ranks.
// 3. Bytes are the whole data of a rank; of SimAI's ALLGATHER what it ends with, of
//    ASTRA-sim's what it begins with.
// 4. Messages between pipeline stages are not in the layers: they are left out and noted.
#ifndef TB_SIMAI_H
#define TB_SIMAI_H

#include "bytes.h"
#include "reading.h"

// tb_simai_begins returns whether text begins with such a line, and a number in the next.
bool tb_simai_begins(struct tb_bytes first);

// tb_simai_read is a tb_calls_read of one file. TB_EFORMAT with the line; TB_EUSAGE where
// neither the file nor --clone-ranks tells how many ranks there are.
int tb_simai_read(struct tb_calls **calls, const struct tb_reading *reading,
	const char *const *paths, size_t n, const char **made,
	struct tb_error *error) TB_MUST_USE;

#endif

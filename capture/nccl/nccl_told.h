// What processes told of NCCL in another way than by its log: communicators and calls, of
// which the calls of ranks are made by the same rules as of a log (nccl_log.h).
//
// Communicators come before the calls in them. The calls of one are told in the order in
// which its process made them.
#ifndef TB_NCCL_TOLD_H
#define TB_NCCL_TOLD_H

#include "reading.h"

struct tb_nccl_told; // opaque

// tb_nccl_told_new begins with nothing told. Of errors and notes, `file` is the file, and
// `parts` what the processes told it in: "exports". Both are borrowed, and so is `error`.
int tb_nccl_told_new(struct tb_nccl_told **told, const char *file, const char *parts,
	struct tb_error *error) TB_MUST_USE;
void tb_nccl_told_free(struct tb_nccl_told *told); // NULL is fine

#define TB_NCCL_NO_RANK UINT32_MAX

// A communicator as one rank has it. Those of one id are one; 0: it has none.
struct tb_nccl_comm {
	const char *host; // of its process; "": unknown
	uint64_t process; // a number of its own, whatever the host
	uint64_t id;
	uint32_t device;	// of the process
	uint32_t rank, n_ranks; // the rank may be TB_NCCL_NO_RANK
};

// tb_nccl_told_comm adds one and stores its number. TB_EFORMAT for ranks that cannot be.
int tb_nccl_told_comm(struct tb_nccl_told *told, const struct tb_nccl_comm *comm,
	uint32_t *number) TB_MUST_USE;

// tb_nccl_names_call returns whether a function ("ncclAllReduce") is one of NCCL's that
// communicate, and stores which one.
bool tb_nccl_names_call(const char *function, uint8_t *what);

struct tb_nccl_call {
	uint32_t comm;
	uint32_t peer;	// the root, or the rank that a message goes to or comes from
	uint64_t bytes; // as NCCL's arguments: a block of reduce-scatter or all-gather
	uint64_t group; // messages of one group, told after another, go at once
	uint64_t at_ns; // since any instant of its process
	uint8_t what;
};

// tb_nccl_told_call adds a call. TB_EFORMAT for a size or peer that cannot be.
int tb_nccl_told_call(
	struct tb_nccl_told *told, const struct tb_nccl_call *call) TB_MUST_USE;

// tb_nccl_told_calls makes the calls of the ranks, once all is told. TB_EFORMAT as
// tb_nccl_read. It heeds `lenient` and `clone_ranks`.
int tb_nccl_told_calls(struct tb_nccl_told *told, const struct tb_reading *reading,
	struct tb_calls **calls) TB_MUST_USE;

#endif

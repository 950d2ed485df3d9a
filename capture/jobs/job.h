// A job trace: per rank, operations (send, receive, compute) and what they depend on.
//
// Model: GOAL, as LogGOPSim (Hoefler, Schneider, Lumsdaine, HPDC 2010) and ATLAHS define
// it. An operation is ready when every operation that it `requires` is done and every one
// that it `irequires` has started. Operations are numbered over the whole job, rank after
// rank, in the order in which they were added. A finished job is read-only and may be
// read by any thread.
#ifndef TB_JOB_H
#define TB_JOB_H

#include "ids.h"
#include "status.h"
#include "units.h"

#include <stdbool.h>
#include <stddef.h>

#define TB_ANY	     UINT32_MAX // any source, any tag
#define TB_RANKS_MAX (UINT32_C(1) << 24)

enum tb_op_kind { TB_OP_CALC, TB_OP_SEND, TB_OP_RECV };

struct tb_op {
	uint64_t amount; // bytes of a send or receive, nanoseconds of a calc
	uint32_t peer;	 // rank; TB_ANY only for receives; 0 for calc
	uint32_t tag;	 // TB_ANY only for receives
	uint8_t kind;	 // enum tb_op_kind
	uint8_t cpu;	 // compute stream within the rank
	uint8_t nic;	 // network interface within the rank
	uint8_t reserved[5];
};

// A finished job. Read freely, change nothing. Successors ascend, so equal jobs are equal
// byte for byte whatever the order in which they were built. The successors of operation
// i are successors[first_successor[i] .. first_successor[i + 1]); the top bit
// (TB_DEP_START) says that the successor waits for i's start only (`irequires`).
#define TB_DEP_START UINT32_C(0x80000000)

struct tb_job {
	uint32_t n_ranks;
	uint32_t n_ops;		   // at most 2^31 - 1
	uint16_t n_cpus;	   // highest cpu + 1
	uint16_t n_nics;	   // highest nic + 1
	uint64_t n_pairs;	   // ordered pairs of ranks with sends
	uint32_t *first_op;	   // n_ranks + 1 entries: ops of rank r are [r], [r + 1)
	struct tb_op *ops;	   // n_ops
	uint32_t *first_successor; // n_ops + 1
	uint32_t *successors;
	uint32_t *n_predecessors; // n_ops: dependencies of either kind
	char *name;		  // of the file it came from; "" when made in memory
	const char *form;	  // of that file: "GOAL" or "flow list"; NULL likewise
};

// tb_job_free frees a finished job (NULL is fine).
void tb_job_free(struct tb_job *job);

// tb_job_rank_of is the rank of operation `op`. Cost: logarithm of the number of ranks.
uint32_t tb_job_rank_of(const struct tb_job *job, uint32_t op);

// tb_job_describe writes "rank 3 operation 4 (send 8b to 1 tag 0)" for messages, counting
// a rank's operations from 1; always terminated. 96 bytes suffice.
char *tb_job_describe(const struct tb_job *job, uint32_t op, char *buffer, size_t size);

// Building: ranks in any order, dependencies within one rank, by index within the rank.
// Rank after rank is cheapest: nothing is moved at the end.
struct tb_job_builder;

// tb_job_builder_new begins a job of 1 to TB_RANKS_MAX ranks; TB_EUSAGE otherwise.
int tb_job_builder_new(struct tb_job_builder **builder, uint32_t n_ranks,
	struct tb_error *error) TB_MUST_USE;
void tb_job_builder_free(struct tb_job_builder *builder);

// tb_job_add appends an operation to `rank` and stores its index within the rank (`index`
// may be NULL). TB_EUSAGE for a rank or peer out of range, a send without a definite
// peer and tag; TB_ECAPACITY beyond 2^31 - 1 operations.
int tb_job_add(struct tb_job_builder *builder, uint32_t rank, const struct tb_op *op,
	uint32_t *index, struct tb_error *error) TB_MUST_USE;

// tb_job_depend makes `index` wait for `on` (both of `rank`): for its end, or with
// `on_start` for its start.
int tb_job_depend(struct tb_job_builder *builder, uint32_t rank, uint32_t index,
	uint32_t on, bool on_start, struct tb_error *error) TB_MUST_USE;

// tb_job_builder_set_line tells from which line of a text the operations come that are
// added from now on; messages of tb_job_finish then name it. 0: from none.
void tb_job_builder_set_line(struct tb_job_builder *builder, uint64_t line);

// tb_job_finish checks the whole and hands it over. TB_EDEADLOCK names operations that
// wait for each other, within a rank or across ranks: what is stuck even if every send is
// done at once (wildcards and the order of arrival may hide a deadlock until the replay).
// TB_EFORMAT names rank, peer and tag of sends and receives that can never match. The
// builder is spent either way and must still be freed. `name` is copied. Linear cost.
int tb_job_finish(struct tb_job_builder *builder, const char *name, struct tb_job **job,
	struct tb_error *error) TB_MUST_USE;

// Writing GOAL. The text form keeps labels l1, l2, ... a rank; the binary form is that of
// LogGOPSim's txt2bin. Both read back to an equal job.
int tb_job_write_text(
	const struct tb_job *job, const char *path, struct tb_error *error) TB_MUST_USE;
int tb_job_write_binary(
	const struct tb_job *job, const char *path, struct tb_error *error) TB_MUST_USE;

struct tb_job_summary {
	uint64_t n_sends, n_recvs, n_calcs, n_dependencies;
	uint64_t send_bytes;
	uint64_t calc_ns;
	uint64_t n_pairs;
};

void tb_job_summarize(const struct tb_job *job, struct tb_job_summary *summary);

#endif

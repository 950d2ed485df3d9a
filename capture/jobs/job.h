// A job trace: for each rank its operations (send, receive, compute) and what these
// depend on.
//
// Model: GOAL, as LogGOPSim (Hoefler, Schneider, Lumsdaine, HPDC 2010) and ATLAHS define
// it. An operation is ready when every operation that it `requires` is done and every one
// that it `irequires` has started. Operations are numbered over the whole job, rank after
// rank, in the order in which they were added. A finished job is read-only; any thread
// may read it.
#ifndef TB_JOB_H
#define TB_JOB_H

#include "call_times.h"
#include "congestion.h"
#include "disk_array.h"
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
	uint8_t cpu;	 // processor within the rank
	uint8_t nic;	 // network interface within the rank
	uint8_t planned; // 1: a library made it of a collective call, by its channels
	bool closed;	 // of a calc: no computation, but its rank's window was closed
	bool of_call;	 // of a calc: what a rank does in a collective call
	uint8_t reserved[2];
};

// A finished job, read-only. The successors of operation i are successors[
// first_successor[i]] up to but not including successors[first_successor[i + 1]]; in each
// the top bit (TB_DEP_START) is set if it waits only for the start of i (`irequires`).
// They ascend, so equal jobs are equal byte for byte in whatever order they were built.
#define TB_DEP_START UINT32_C(0x80000000)

struct tb_job_arrays {
	struct tb_disk_array ops, first_successor, successors, n_predecessors;
};

struct tb_job {
	uint32_t n_ranks;
	uint32_t n_ops;		   // at most 2^31 - 1
	uint16_t n_cpus;	   // highest cpu + 1
	uint16_t n_nics;	   // highest nic + 1
	uint64_t n_pairs;	   // ordered pairs of ranks with sends
	uint32_t *first_op;	   // n_ranks + 1: rank r has ops [r] to [r + 1] - 1
	struct tb_op *ops;	   // n_ops
	uint32_t *first_successor; // n_ops + 1
	uint32_t *successors;
	uint32_t *n_predecessors; // n_ops: dependencies of either kind
	char *name;		  // of the file it was read from; "" when made in memory
	const char *form;	  // of that file: "GOAL" or "flow list"; NULL without
	char **hosts; // by rank: the name of the host on which it ran, or NULL; NULL: of
		      // none it is known
	bool of_gpus; // ranks of one host reach each other by its own links
	const char *gpu;  // "a100", of the host library nccl@a100; NULL: not known
	char **endpoints; // by rank: the endpoint of a capture that it was, or NULL;
			  // NULL: it is of no capture
	char *notes;	  // a sentence a line: what was left out or assumed; NULL: none
	struct tb_recorded_calls
		*recorded; // what the trace recorded of times; NULL: nothing
	struct tb_congestion *congestion; // what its capture recorded; NULL: nothing
	struct tb_placed_calls *placed;	  // the calls that it was made of; NULL: none
	struct tb_job_bounds *bounds;	  // of an inferred one; NULL: it has none
	struct tb_job_arrays arrays;	  // that ops to n_predecessors point into
	char *beside; // what is made of it may lie in files there (disk_array.h); NULL
	bool is_lent; // all that the members point to but the notes is another job's
};

// The jobs that a capture allows (rule L16 of infer.h): that which is closest to the
// captured times, that which is likely, and its bounds.
enum tb_hypothesis {
	TB_HYPOTHESIS_CLOSEST,
	TB_HYPOTHESIS_LIKELY,
	TB_HYPOTHESIS_BOUND, // the first of them
};

// Their names, in that order; NULL at the end.
extern const char *const tb_hypothesis_names[];

// What else a capture allows than the job that was inferred from it (infer.h).
struct tb_job_bounds {
	uint64_t n_calls, n_hidden; // messages, and those called for behind a queue
	uint64_t n_untold;   // or after time that may have been the captured path's
	bool are_hypotheses; // of a capture (enum tb_hypothesis): the job is another
	size_t own; // the bound whose place the job has taken; n: it is as inferred
	size_t n;
	struct tb_job *jobs[]; // of as many ranks and messages
};

// tb_job_free frees a finished job (NULL is fine).
void tb_job_free(struct tb_job *job);

// tb_job_cool lets go of the memory that a job on disk takes since.
void tb_job_cool(const struct tb_job *job);

// tb_job_lend makes a job of the same members, which outlive it, with notes and bounds of
// its own; NULL without memory.
struct tb_job *tb_job_lend(const struct tb_job *job);

// tb_job_choose has a job, of hypotheses, and its bound `i` exchange what they do and
// what is recorded of it. tb_job_drop_bounds frees the bounds.
void tb_job_choose(struct tb_job *job, size_t i);
void tb_job_drop_bounds(struct tb_job *job);

// tb_job_rank_of returns the rank of operation `op`. Cost: O(log n_ranks).
uint32_t tb_job_rank_of(const struct tb_job *job, uint32_t op);

// tb_job_describe writes "rank 3 operation 4 (send 8b to 1 tag 0)" for messages and
// returns buffer, always terminated; 96 bytes suffice. It counts a rank's operations from
// 1.
char *tb_job_describe(const struct tb_job *job, uint32_t op, char *buffer, size_t size);

// Builds a job. Ranks may come in any order; going rank after rank is cheapest, because
// then nothing is moved at the end. Dependencies are between operations of one rank,
// given by their index within the rank.
struct tb_job_builder;

// tb_job_builder_new begins a job of 1 to TB_RANKS_MAX ranks; TB_EUSAGE otherwise.
int tb_job_builder_new(struct tb_job_builder **builder, uint32_t n_ranks,
	struct tb_error *error) TB_MUST_USE;
void tb_job_builder_free(struct tb_job_builder *builder);

// tb_job_builder_keep has a large job lie in files in the folder of `beside` (NULL: in
// memory), from before the first operation is added.
void tb_job_builder_keep(struct tb_job_builder *builder, const char *beside);

// tb_job_add appends an operation to `rank` and returns its index within the rank. The
// builder keeps its first failure, after which nothing is added and the index is 0, so
// callers check once, at the end or where they can name the place: TB_EUSAGE for a rank
// or peer out of range, or a send to any peer or with any tag; TB_ECAPACITY beyond
// 2^31 - 1 operations; TB_ENOMEM.
uint32_t tb_job_add(
	struct tb_job_builder *builder, uint32_t rank, const struct tb_op *op);

// tb_job_depend makes operation `index` wait for the end of operation `on`, or with
// `on_start` for its start. Both belong to `rank`. It fails as tb_job_add does.
void tb_job_depend(struct tb_job_builder *builder, uint32_t rank, uint32_t index,
	uint32_t on, bool on_start);

// tb_job_builder_check returns the first failure so far, as tb_job_finish does.
int tb_job_builder_check(
	const struct tb_job_builder *builder, struct tb_error *error) TB_MUST_USE;

// tb_job_builder_set_line sets the line of the input from which the operations added next
// come, for the error messages of tb_job_finish. 0: none.
void tb_job_builder_set_line(struct tb_job_builder *builder, uint64_t line);

// tb_job_finish checks the job and hands it over. TB_EDEADLOCK: operations, within a rank
// or across ranks, wait for each other even if every send is done at once (where
// wildcards or the order of arrival decide, only the replay can find a deadlock).
// TB_EFORMAT: sends and receives that can never match, named by rank, peer and tag. The
// builder is used up in any case, but must still be freed. `name` is copied. Linear cost.
int tb_job_finish(struct tb_job_builder *builder, const char *name, struct tb_job **job,
	struct tb_error *error) TB_MUST_USE;

// These write GOAL to a file. The text form labels the operations of each rank l1, l2,
// ...; the binary form is that of LogGOPSim's txt2bin. Both read back to an equal job.
int tb_job_write_text(
	const struct tb_job *job, const char *path, struct tb_error *error) TB_MUST_USE;
int tb_job_write_binary(
	const struct tb_job *job, const char *path, struct tb_error *error) TB_MUST_USE;

struct tb_job_summary {
	uint64_t n_sends, n_recvs, n_calcs, n_dependencies;
	uint64_t send_bytes;
	uint64_t calc_ns, call_ns; // of calcs; of those, a library's in collective calls
	uint64_t n_pairs;
};

void tb_job_summarize(const struct tb_job *job, struct tb_job_summary *summary);

#endif

// Collective operations as plans: what each algorithm moves to whom, and in which round.
// One table has the algorithms of synthetic jobs and those of the libraries whose calls
// are in traces.
//
// An algorithm plans for a call (struct tb_collective_shape) in one of two manners.
// In synthetic jobs it follows papers 002 (all-gather) and 003 (scatter, gather,
// all-to-all), for any number of ranks N and of ports k. The base for counting rounds is
// b = k + 1: when a rank has sent to k others, b ranks have the data. In traces it
// follows the libraries: a rank has one port, posts what a round has for it at once, and
// cuts vectors between elements. Most algorithms do not differ; those with
// TB_TAKES_PORTS do what the papers do in synthetic jobs, the others always what the
// libraries do.
//
// Some algorithms need a power of b. For other N, let M be the next power of b below N.
// The ranks form M groups of at most b neighbours, and one rank of each group runs the
// algorithm. In a round before it they collect from their groups (each member sends by
// its own port), and in a round after it they distribute the result: the correction steps
// of paper 002, 6.2. In the libraries the first ranks form pairs, and the ranks behind
// them stay alone. Trees simply omit the missing ranks (paper 003, 5: dummy processes),
// and Bruck's last round moves only what is missing (002, 6.3).
#ifndef TB_COLLECTIVE_H
#define TB_COLLECTIVE_H

#include "collective_ops.h"
#include "plan.h"
#include "reading.h"

struct tb_collective_call; // library.h
struct tb_nccl_settings;

// A call as choices and planners see it. Numbers of members are places in the group.
struct tb_collective_shape {
	enum tb_collective_op op;
	uint32_t n, n_local, root;
	uint64_t bytes; // of a block, or of the vector; of unequal blocks the mean
	bool unequal;	// blocks differ
	bool by_ports;	// with ports, as in the papers; plan->n_ports says how many
	uint32_t radix; // children of a member in a tree, or chains; 0: default
	uint64_t segment_bytes;		     // of pipelines; 0: whole
	uint32_t n_channels;		     // of NCCL; 0: default
	uint64_t chunk_bytes;		     // that one carries at once; 0: default
	const struct tb_gpu_node *node;	     // what GPUs have to send with; NULL: unknown
	const struct tb_nccl_settings *nccl; // library.h; NULL: its defaults
	bool is_rccl;
	const uint32_t *hosts;		       // NULL: each its own
	const struct tb_collective_call *call; // NULL: all blocks are of `bytes`
};

// What an algorithm cannot do without, what it can do, that its messages grow with the
// square of the members, and when MPI libraries copy a member's own block, which no
// message carries (the root's alone in rooted calls).
enum tb_algorithm_traits {
	TB_NEEDS_EQUAL = 1,    // blocks of the same size
	TB_NEEDS_EVEN = 2,     // an even number of members
	TB_NEEDS_POWER = 4,    // a power of two of them
	TB_NEEDS_TWO = 8,      // two members
	TB_GROWS_SQUARE = 16,  // about N * (N - 1) messages
	TB_TAKES_PORTS = 32,   // any number of ports, in synthetic jobs
	TB_TAKES_BRANCH = 64,  // the children of a rank in its tree
	TB_COPIES_FIRST = 128, // before the exchanges
	TB_COPIES_LAST = 256,  // after them
	// Of reductions in MPI libraries: each member copies its vector before it begins,
	// and those that add up allocate one, or two, of the vector's size meanwhile.
	TB_COPIES_WHOLE = 512,
	TB_TAKES_VECTOR = 1024,
	TB_TAKES_VECTORS = 2048,
	TB_TAKES_HOSTS = 4096, // goes by which members share a host
};

enum tb_library_id {
	TB_LIBRARY_OPENMPI,
	TB_LIBRARY_MPICH,
	TB_LIBRARY_NCCL,
	TB_LIBRARY_N
};

struct tb_algorithm {
	enum tb_collective_op op;
	const char *name;
	const char *summary; // one line
	void (*plan)(struct tb_plan *plan, const struct tb_collective_shape *shape);
	unsigned traits; // enum tb_algorithm_traits
	// By library: what it calls the algorithm; NULL: it does not choose it by itself.
	const char *names[TB_LIBRARY_N];
};

// By operation; its first one is the default of synthetic jobs. Ends with a NULL name.
extern const struct tb_algorithm tb_algorithms[];

// tb_algorithm_find finds an algorithm of an operation by name; NULL: its first one. The
// message of TB_EUSAGE proposes the nearest name.
int tb_algorithm_find(const struct tb_algorithm **algorithm, enum tb_collective_op op,
	const char *name, struct tb_error *error) TB_MUST_USE;

// tb_algorithm_lacks names what the call lacks of what the algorithm needs; NULL:
// nothing.
const char *tb_algorithm_lacks(
	const struct tb_algorithm *algorithm, const struct tb_collective_shape *shape);

// tb_plan_of_call returns a plan without transfers for a call of `n` members. Where the
// whole vector moves in a library, it is one block, which planners cut as they need; by
// ports, it is one per rank.
struct tb_plan tb_plan_of_call(
	enum tb_collective_op op, uint32_t n, uint64_t bytes, bool by_ports);

#define TB_PORTS_MAX 64

// A synthetic job of one operation. Exchanges have no size and cannot be made.
struct tb_collective_options {
	const struct tb_algorithm *algorithm;
	uint32_t n_ranks; // at least 2
	uint32_t n_ports; // 1 to TB_PORTS_MAX; 1 unless the algorithm takes ports
	uint64_t bytes;	  // see enum tb_collective_size
	uint32_t root;	  // 0 unless the collective is rooted
	uint32_t branch;  // children per rank of a tree, at least 1
	// Ranks that follow each other on a host; 0: 1. With more, whose algorithm must
	// take hosts, a channel enters each host at each of its ranks.
	uint32_t per_node;
};

// tb_collective_plan makes the plan, which the caller frees with tb_plan_fini. TB_EUSAGE
// for options that make no sense together, TB_ECAPACITY for more messages than a job can
// hold.
int tb_collective_plan(struct tb_plan *plan, const struct tb_collective_options *options,
	struct tb_error *error) TB_MUST_USE;

#endif

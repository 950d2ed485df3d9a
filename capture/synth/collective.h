// Collective operations, as plans: what each algorithm moves to whom, and in which round.
//
// The algorithms are those of papers 002 (all-gather) and 003 (scatter, gather,
// all-to-all), for any number of ranks N and of ports k, and the usual ones where the
// papers have none. The base for counting rounds is b = k + 1: when a rank has sent to k
// others, b ranks have the data.
//
// Some algorithms need a power of b. For other N, let M be the next power of b below N.
// The ranks form M groups of at most b neighbours, and the first ranks of the groups run
// the algorithm. In a round before it they collect from their groups (each member sends
// by its own port), and in a round after it they distribute the result: the correction
// steps of paper 002, 6.2. Trees simply omit the missing ranks (paper 003, 5: dummy
// processes), and Bruck's last round moves only what is missing (002, 6.3).
#ifndef TB_COLLECTIVE_H
#define TB_COLLECTIVE_H

#include "plan.h"

struct tb_collective_options;

struct tb_collective_algorithm {
	const char *name;
	const char *summary; // one line
	bool branches;	     // takes `branch`
	bool quadratic;	     // each rank talks to all others: N * (N - 1) messages
	void (*plan)(struct tb_plan *plan, const struct tb_collective_options *options);
};

// What `bytes` is the size of.
enum tb_collective_size {
	TB_SIZE_NONE,  // nothing: no data is moved
	TB_SIZE_BLOCK, // one rank's block (in all-to-all, one pair's)
	TB_SIZE_WHOLE, // all data of a rank
};

struct tb_collective {
	const char *name;
	const char *summary; // one line
	enum tb_collective_size size;
	bool rooted;					  // takes `root`
	bool combines;					  // adds up the ranks' data
	const struct tb_collective_algorithm *algorithms; // ends with a NULL name; the
							  // first is the default
};

// Ends with a NULL name.
extern const struct tb_collective tb_collectives[];

#define TB_PORTS_MAX 64

struct tb_collective_options {
	const struct tb_collective *collective;
	const struct tb_collective_algorithm *algorithm;
	uint32_t n_ranks; // at least 2
	uint32_t n_ports; // 1 to TB_PORTS_MAX
	uint64_t bytes;	  // see enum tb_collective_size
	uint32_t root;	  // 0 unless the collective is rooted
	uint32_t branch;  // children per rank of a tree, at least 1
};

// tb_collective_find finds a collective by name; NULL when there is none.
const struct tb_collective *tb_collective_find(const char *name);

// tb_collective_algorithm_find finds an algorithm of a collective by name. The message of
// TB_EUSAGE proposes the nearest name.
int tb_collective_algorithm_find(const struct tb_collective_algorithm **algorithm,
	const struct tb_collective *collective, const char *name,
	struct tb_error *error) TB_MUST_USE;

// tb_collective_plan makes the plan, which the caller frees with tb_plan_fini. TB_EUSAGE
// for options that make no sense together, TB_ECAPACITY for more messages than a job can
// hold.
int tb_collective_plan(struct tb_plan *plan, const struct tb_collective_options *options,
	struct tb_error *error) TB_MUST_USE;

#endif

// Collective operations, as plans: which algorithm moves what to whom, and in which
// round.
//
// The algorithms are those of papers 002 (all-gather) and 003 (scatter, gather,
// all-to-all), for any number of ranks N and of ports k, and the usual ones where the
// papers have none. Papers and MPI libraries count rounds with b = k + 1: a rank that
// sends to k others makes b that have it.
//
// N that is no power of b, where an algorithm takes one: M is the power of b below N, the
// ranks form M groups of neighbours, of at most b each, whose first ranks run the
// algorithm. In a round before they collect what their groups have (the members send by
// one port each), and in a round behind they give them the result: the correction steps
// of paper 002, 6.2. Trees simply leave out the ranks that are not there (paper 003, 5:
// dummy processes), and Bruck's last round moves what is missing (002, 6.3).
#ifndef TB_COLLECTIVE_H
#define TB_COLLECTIVE_H

#include "plan.h"

struct tb_collective_options;

struct tb_collective_algorithm {
	const char *name;
	const char *summary; // one line
	bool branches;	     // takes `branch`
	bool quadratic; // of N ranks each deals with all others: N * (N - 1) messages
	void (*plan)(struct tb_plan *plan, const struct tb_collective_options *options);
};

// What a size means.
enum tb_collective_size {
	TB_SIZE_NONE,  // nothing is moved
	TB_SIZE_BLOCK, // of one rank's block (of each pair's, in all-to-all)
	TB_SIZE_WHOLE, // of all that every rank has
};

struct tb_collective {
	const char *name;
	const char *summary; // one line
	enum tb_collective_size size;
	bool rooted;					  // takes `root`
	bool combines;					  // adds up what ranks have
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
	uint32_t root;	  // where the collective is rooted; else 0
	uint32_t branch;  // children a rank of a tree has, at least 1
};

// tb_collective_find returns NULL when no collective has this name.
const struct tb_collective *tb_collective_find(const char *name);

// tb_collective_algorithm_find finds an algorithm of a collective: TB_EUSAGE names the
// nearest one.
int tb_collective_algorithm_find(const struct tb_collective_algorithm **algorithm,
	const struct tb_collective *collective, const char *name,
	struct tb_error *error) TB_MUST_USE;

// tb_collective_plan makes the plan, to be freed with tb_plan_fini. TB_EUSAGE for options
// that make no sense together, TB_ECAPACITY for more messages than a job can hold.
int tb_collective_plan(struct tb_plan *plan, const struct tb_collective_options *options,
	struct tb_error *error) TB_MUST_USE;

#endif

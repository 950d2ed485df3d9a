// Communication libraries: which messages they make of a collective call, and how they
// send a message.
//
// Model: of a collective call a library chooses an algorithm by operation, number of
// members and bytes, as its default settings do (docs/collectives.md has each rule with
// its source: file and version). The algorithm is a plan (plan.h) over the members of the
// group, numbered by their places in it. A message of more than the eager limit is sent
// by rendezvous: the sender asks, the receiver answers once its receive is posted, and
// then the data go. Libraries are constant data; any thread may use them.
#ifndef TB_LIBRARY_H
#define TB_LIBRARY_H

#include "collective.h"

struct tb_library; // opaque

// tb_library_number returns the name of library i, NULL beyond the last.
const char *tb_library_number(size_t i);

// tb_library_find finds a library by name: "openmpi" (4.1), "openmpi5", "mpich",
// "intelmpi", "nccl". NULL: the default, Open MPI 4.1. TB_EUSAGE lists the names.
int tb_library_find(const struct tb_library **library, const char *name,
	struct tb_error *error) TB_MUST_USE;
const char *tb_library_name(const struct tb_library *library);

// tb_library_eager_bytes returns the most bytes of a message that is sent without asking,
// between hosts; UINT64_MAX: all are.
uint64_t tb_library_eager_bytes(const struct tb_library *library);

// tb_library_flat returns a sentence on what is not modelled of collective calls where
// hosts have several members; NULL: nothing.
const char *tb_library_flat(const struct tb_library *library);

// Choices of the user's, which take the place of the library's: "allreduce=ring". A
// zeroed struct has none.
struct tb_collective_choices {
	char algorithms[TB_COLL_N][32]; // by operation; "": the library's choice
};

// tb_collective_choices_add reads one. TB_EUSAGE names what there is.
int tb_collective_choices_add(struct tb_collective_choices *choices, const char *choice,
	struct tb_error *error) TB_MUST_USE;

// One collective call, of all its members; numbers are places in the group.
struct tb_collective_call {
	enum tb_collective_op op;
	uint32_t n, n_local; // members: see struct tb_group
	uint32_t root;
	const uint64_t *bytes;	      // by member: what its call says (calls.h)
	const uint64_t *const *sizes; // by member, of which any may be NULL; NULL: none
	const uint32_t *hosts; // by member: the number of its host; NULL: each its own
	// Of a part of a composed call (composition.h), else zero.
	const char *algorithm; // NULL: the choice of the user or the library
	uint32_t radix;
	uint64_t segment_bytes;
	const struct tb_gpu_node *node; // reading.h; NULL: unknown
	struct tb_observed observed;	// what the trace shows of NCCL's choice
};

// How a plan came about, for people: "ring" and "Open MPI 4.1, 1 MiB and more per rank".
struct tb_expansion_rule {
	const char *algorithm; // constant
	char reason[120];
};

// tb_library_expand makes the plan of a call, which the caller frees with tb_plan_fini,
// and states the rule. A call that moves nothing (one member) has a plan without
// transfers. TB_EUSAGE for a choice that cannot be used with this call; TB_ECAPACITY,
// TB_ENOMEM.
int tb_library_expand(const struct tb_library *library,
	const struct tb_collective_choices *choices,
	const struct tb_collective_call *call, struct tb_plan *plan,
	struct tb_expansion_rule *rule, struct tb_error *error) TB_MUST_USE;

#endif

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

// tb_library_find finds a library by name: "openmpi" (4.1), "openmpi4.0", "openmpi5",
// "mpich", "intelmpi", "nccl", "rccl". NULL: the default, Open MPI 4.1. TB_EUSAGE lists
// the names.
int tb_library_find(const struct tb_library **library, const char *name,
	struct tb_error *error) TB_MUST_USE;
const char *tb_library_name(const struct tb_library *library);

// tb_library_host returns what networks call a library of its class ([host.NAME]) for the
// name that a library is given by, with its version: "mpi", "nccl" or "tcp"; NULL of one
// that is unknown.
const char *tb_library_host(const char *text);

// tb_library_is_of_gpus returns whether processes are GPUs (NCCL, RCCL), of which a host
// has several that do not reach each other by the network.
bool tb_library_is_of_gpus(const struct tb_library *library);

// What of NCCL's version and environment bears on its choice. A zeroed struct is the
// newest version that is modelled, without settings.
struct tb_nccl_settings {
	uint16_t version; // 2.19 is 219
	// By operation, what NCCL_ALGO and NCCL_PROTO leave out: bits of choice_nccl.c.
	uint8_t without_algorithms[TB_COLL_N], without_protocols[TB_COLL_N];
	uint16_t least_channels, most_channels; // 0: as NCCL has it
};

// tb_nccl_settings_add reads one of them as the environment has it:
// "NCCL_ALGO=ring;allreduce:tree". TB_EUSAGE says what there is.
int tb_nccl_settings_add(struct tb_nccl_settings *settings, const char *word,
	struct tb_error *error) TB_MUST_USE;

// tb_library_eager_bytes returns the most bytes of a message that is sent without asking,
// between hosts; UINT64_MAX: all are.
uint64_t tb_library_eager_bytes(const struct tb_library *library);

// Choices of the user's, which take the place of the library's: "allreduce=ring". A
// zeroed struct has none.
struct tb_collective_choices {
	char algorithms[TB_COLL_N][32]; // by operation; "": the library's choice
	struct tb_nccl_settings nccl;
};

// tb_library_read reads a library with its version and settings into `library` and
// `choices`, of both of which it leaves what it does not name, if `library` (or NULL) was
// the same: "nccl@2.19 NCCL_ALGO=Ring NCCL_PROTO=^LL128". NULL as of tb_library_find.
// TB_EUSAGE.
int tb_library_read(const struct tb_library **library,
	struct tb_collective_choices *choices, const char *text,
	struct tb_error *error) TB_MUST_USE;

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
	size_t most_transfers; // refuse a plan of more; 0: as many as a job holds
};

// How a plan came about, for people: "ring" and "Open MPI 4.1, 1 MiB and more per rank".
struct tb_expansion_rule {
	const char *algorithm; // constant
	const char *protocol;  // NCCL's: "LL128"; NULL: not known; constant
	char reason[120];
};

// tb_library_expand makes the plan of a call, which the caller frees with tb_plan_fini,
// and states the rule. A call that moves nothing (one member) has a plan without
// transfers. TB_EUSAGE for a choice that cannot be used with this call; TB_ECAPACITY for
// a plan of too many transfers, whose rule is stated all the same; TB_ENOMEM.
int tb_library_expand(const struct tb_library *library,
	const struct tb_collective_choices *choices,
	const struct tb_collective_call *call, struct tb_plan *plan,
	struct tb_expansion_rule *rule, struct tb_error *error) TB_MUST_USE;

#endif

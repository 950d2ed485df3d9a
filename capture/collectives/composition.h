// Calls that libraries compose by host: their leaders (of each host the first member)
// exchange the data, and the members of a host get it from their leader, or give it.
//
// A composed call is a sequence of parts: calls among some of the members. A member comes
// to its next part when it has left the one before; to parts that stand beside each other
// it comes at once, and leaves them together. Hosts of one member need no part.
#ifndef TB_COMPOSITION_H
#define TB_COMPOSITION_H

#include "algorithms.h"
#include "library.h"

struct tb_call_part {
	enum tb_collective_op op;
	uint32_t *members; // places in the group of the call, ascending
	uint32_t n;
	uint32_t root;	// among `members`
	uint64_t bytes; // of the vector
	// How hosts share the data among their members, where the library does not send
	// it: an algorithm that moves as much in as many steps; NULL: the library's
	// choice.
	const char *algorithm;
	uint32_t radix;
	uint64_t segment_bytes; // of the algorithm; 0: whole
	bool beside;		// the part before it
};

// A zeroed struct has no parts.
struct tb_composition {
	struct tb_call_part *parts;
	size_t n, room;
	uint32_t n_hosts;
	const char *name; // what the library calls it
};

// tb_library_compose composes a call; without parts it is to be expanded as one, as calls
// are for which the user chose the algorithm. The caller frees it. TB_ENOMEM;
// TB_ECAPACITY for a call of more messages than a job can hold.
int tb_library_compose(const struct tb_library *library,
	const struct tb_collective_choices *choices,
	const struct tb_collective_call *call, struct tb_composition *composition,
	struct tb_error *error) TB_MUST_USE;
void tb_composition_fini(struct tb_composition *composition);

// Building blocks of compositions (composition.h). Only for capture/collectives.

// The hosts of a call's members, in the order of their leaders.
struct tb_composing {
	const struct tb_collective_call *call;
	struct tb_composition *made;
	uint64_t bytes; // of the vector
	uint32_t n_hosts;
	uint32_t *host_of;   // by member
	uint32_t *leaders;   // by host: the first member
	uint32_t *sizes;     // by host: members
	bool is_consecutive; // the members of each host are neighbours
	bool no_memory, too_many;
	bool is_staged;	 // the parts to come are of a stage ...
	bool in_stage;	 // ... that has one already
	size_t n_joined; // members of the parts so far
};

// A composer adds the parts of a call, or none.
typedef void tb_composer(struct tb_composing *composing);
tb_composer tb_compose_mpich, tb_compose_openmpi5;

// How a part goes: its operation and, unless the library chooses it, its algorithm.
struct tb_part_way {
	enum tb_collective_op op;
	const char *algorithm;
	uint32_t radix;
	uint64_t segment_bytes;
};

// What a library is. Only for capture/collectives.

struct tb_library {
	const char *name;
	tb_chooser *choose;
	tb_composer *compose; // calls of several members a host; NULL: it does not
	uint64_t eager_bytes;
	const char *flat; // what is not modelled of several members a host; NULL: nothing
};

#endif

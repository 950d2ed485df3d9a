// Building blocks of compositions (composition.h). Only for capture/collectives.
#ifndef TB_COMPOSING_H
#define TB_COMPOSING_H

#include "composition.h"

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

// tb_compose_hosts adds a part on each host of several members, rooted at its leader, but
// for host `except` (n_hosts: none); tb_compose_host on one host, rooted at the one of
// its members that has `place` among them.
void tb_compose_hosts(
	struct tb_composing *composing, struct tb_part_way way, uint32_t except);
void tb_compose_host(struct tb_composing *composing, struct tb_part_way way,
	uint32_t host, uint32_t place);
// tb_compose_across adds a part of the members that have `place` on their hosts, rooted
// at that of a host; tb_compose_leaders of the first ones, the leaders.
void tb_compose_across(struct tb_composing *composing, struct tb_part_way way,
	uint32_t place, uint32_t host);
void tb_compose_leaders(
	struct tb_composing *composing, enum tb_collective_op op, uint32_t host);
// tb_compose_message sends the vector from a member to another.
void tb_compose_message(struct tb_composing *composing, uint32_t from, uint32_t to);
// tb_compose_stage has the parts that follow, up to the next stage, go on at once.
void tb_compose_stage(struct tb_composing *composing);
// tb_composing_failed returns whether there is no use in more parts.
bool tb_composing_failed(const struct tb_composing *composing);
// tb_composing_place returns a member's number among those of its host.
uint32_t tb_composing_place(const struct tb_composing *composing, uint32_t member);

#endif

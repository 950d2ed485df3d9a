// Late acknowledgements: in a replay in parts, how many partners a node has when a packet
// comes in (docs/model.md, rule 6). Private to replay/.
//
// Model: the part of a destination learns at the end of a window which messages to it got
// under way. So a packet that arrives within a window is drained at once, but its
// acknowledgement is deferred until the next window begins, when the number of partners
// is known. That is early enough: an acknowledgement has no effect before it has crossed
// two links, and a window is no longer than one.
//
// Cost: a record a packet; messages sorted by when they got under way.
#ifndef TB_LATE_ACKS_H
#define TB_LATE_ACKS_H

#include "replay_parts.h"

struct tb_begun { // a message that got under way
	tb_time_ps at;
	uint32_t source, destination;
};

struct tb_late_acks {
	struct tb_late_ack *acks;
	struct tb_begun *begun;	    // sent by nodes of the part, not handed over yet
	struct tb_begun *elsewhere; // to nodes of the part, not counted yet
	size_t n_acks, n_begun, n_elsewhere;
	size_t acks_room, begun_room, elsewhere_room;
};

// tb_late_acks_new makes those of a part, if its network has a limit on partners.
int tb_late_acks_new(struct tb_replay *part) TB_MUST_USE;
void tb_late_acks_free(struct tb_late_acks *late); // NULL is fine

// tb_late_acks_add_begun keeps a message that another part has handed over.
void tb_late_acks_add_begun(struct tb_replay *replay, const struct tb_begun *begun);

// tb_late_acks_settle sends all that were deferred in earlier windows.
void tb_late_acks_settle(struct tb_replay *replay);

#endif

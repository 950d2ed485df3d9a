// Late acknowledgements: in a replay in parts, how many partners a node has when a packet
// comes in (docs/model.md, rule 6). Private to replay/.
//
// Model: that a message gets under way is told to its destination's part at the end of a
// window. So a packet that comes in within a window is drained at once, and its
// acknowledgement is put off until the next window begins: its partners are known then,
// and nothing that it does can be seen before it has crossed two links, each of which
// takes as long as a window at least.
//
// Cost: a record a packet; messages sorted by when they got under way.
#ifndef TB_LATE_ACKS_H
#define TB_LATE_ACKS_H

#include "replay.h"

struct tb_late_ack {
	tb_time_ps at;	       // its packet came in
	tb_time_ps leaves_at;  // with few partners
	tb_time_ps drained_at; // its packet
	uint32_t packet, message, source, destination;
	bool is_last; // of its message
};

struct tb_begun { // a message that has got under way
	tb_time_ps at;
	uint32_t source, destination;
};

struct tb_late_acks {
	struct tb_late_ack *acks;
	struct tb_begun *begun; // by nodes of the part, and not handed over yet
	struct tb_begun *told;	// to nodes of the part, and not counted yet
	size_t n_acks, n_begun, n_told;
	size_t acks_room, begun_room, told_room;
};

// tb_late_acks_new makes those of a part, if its network has a limit on partners.
int tb_late_acks_new(struct tb_replay *part) TB_MUST_USE;
void tb_late_acks_free(struct tb_late_acks *late); // NULL is fine

// tb_late_acks_begin keeps a message that gets under way now; tb_late_acks_told one that
// a part has handed over.
void tb_late_acks_begin(struct tb_replay *replay, const struct tb_message *message);
void tb_late_acks_told(struct tb_replay *replay, const struct tb_begun *begun);

// tb_late_acks_put puts an acknowledgement off.
void tb_late_acks_put(struct tb_replay *replay, const struct tb_late_ack *ack);

// tb_late_acks_settle lets all leave that were put off in earlier windows.
void tb_late_acks_settle(struct tb_replay *replay);

#endif

// What crosses from one part of a network to another (docs/credits.md, "Parts, windows,
// threads"). Private to replay/.
//
// A part simulates a window of time alone. What leaves it over a link that crosses goes
// as a letter: a packet to the part of the link's far end, an update of credits or a
// pause to that of its near end. Letters are delivered before the next window, those of
// part 0 first, each part's in the order in which they were handed over; the model's
// `receive` then does in its part what it does at once where both ends are in one part. A
// letter is of an instant `at` least the link's latency after the one in which it is
// handed over, so that it cannot come too late.
//
// Cost: a copy of the letter and of its packet. Memory: of one window, kept for the next.
#ifndef TB_HANDOVER_H
#define TB_HANDOVER_H

#include "replay.h"

struct tb_letter {
	tb_time_ps at;	   // when what it tells of happens; not before the window's end
	uint32_t link;	   // that crosses
	uint32_t kind;	   // what it tells: the model's own
	uint64_t words[4]; // the model's own
	bool has_packet;
};

// tb_handover_crosses returns whether a link leads from one part to another; false in a
// network that is one part.
static inline bool tb_handover_crosses(const struct tb_replay *replay, uint32_t link)
{
	return replay->parts && replay->parts->crossing_of[link] != TB_ID_NONE;
}

// tb_handover_packet hands a packet over to the part of the far end of letter->link, with
// its record of packet_bytes. The caller then drops its own record.
void tb_handover_packet(
	struct tb_replay *replay, const struct tb_letter *letter, uint32_t packet);

// tb_handover_back hands a letter without a packet to the part of the near end.
void tb_handover_back(struct tb_replay *replay, const struct tb_letter *letter);

// What the windows call (windows.h).
//
// tb_handover_new gives a part, joined to its desk, what it needs to hand over.
int tb_handover_new(struct tb_replay *replay) TB_MUST_USE;
void tb_handover_free(struct tb_replay *replay);

// tb_handover_turn: what has been handed over can be received, and what is handed over
// from now on will be after the next turn. For all parts between windows.
void tb_handover_turn(struct tb_replay *replay);

// tb_handover_earliest is the earliest instant that a letter handed over since the last
// turn is of; TB_TIME_NEVER: there is none.
tb_time_ps tb_handover_earliest(const struct tb_replay *replay);

// tb_handover_receive calls `receive` for each letter to a part, with the record of its
// packet or NULL, which live for the call.
void tb_handover_receive(struct tb_replay *replay,
	void (*receive)(struct tb_replay *replay, const struct tb_letter *letter,
		const struct tb_packet *packet));

#endif

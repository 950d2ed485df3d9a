// The calls between the parts of a network with credits. Private to this room.
#ifndef TB_CREDITS_IMPL_H
#define TB_CREDITS_IMPL_H

#include "credits.h"

// crossing.c: packets leave and come.
//
// tb_crossing_inject has a node's fetched packet begin to cross its injection link.
void tb_crossing_inject(struct credits *credits, uint32_t node, uint32_t packet);
// tb_crossing_reach: a packet has begun to cross a link to a switch; its header comes by
// `slot` at `header_at`. It joins a queue there, behind all that began before it, or
// chooses its route when it has come.
void tb_crossing_reach(struct credits *credits, struct packet *packet, uint32_t slot,
	tb_time_ps header_at);
// tb_crossing_join: it has come and has its route.
void tb_crossing_join(struct credits *credits, struct packet *packet);
// tb_crossing_look lets a link of a plain switch take a packet, if it is free and one can
// go.
void tb_crossing_look(struct credits *credits, uint32_t slot);
// tb_crossing_begin has the first packet of a queue begin to cross a link; `by`: the
// update of this instant without which it could not, or NULL.
void tb_crossing_begin(struct credits *credits, uint32_t slot, struct packet *packet,
	const struct update *by);
// tb_crossing_done: a link out of a switch has carried its packet.
void tb_crossing_done(struct credits *credits, uint32_t slot);
// The end of a packet that has come to a node. tb_crossing_free: what it holds falls free
// at `drained_at`; tb_crossing_end counts it; tb_crossing_acknowledged_at is when its
// source knows that it has come now.
void tb_crossing_free(
	struct credits *credits, const struct packet *packet, tb_time_ps drained_at);
void tb_crossing_end(struct credits *credits, struct packet *packet);
tb_time_ps tb_crossing_acknowledged_at(
	const struct credits *credits, const struct packet *packet);

// arbiter.c: crossbars.
//
// tb_arbiter_serve lets the links that are to look choose, switch by switch.
void tb_arbiter_serve(struct credits *credits);
// tb_arbiter_begun: a packet has begun to leave; its input may have reached S.
void tb_arbiter_begun(
	struct credits *credits, uint32_t slot, const struct packet *packet);
// tb_arbiter_allow: an input has fewer than S packets in the crossbar again.
void tb_arbiter_allow(struct credits *credits, uint32_t from);

// deaths.c: what dies.
//
// tb_deaths_strike: a link dies now.
void tb_deaths_strike(struct credits *credits, uint32_t link);
// tb_deaths_turn_away discards a packet that comes where no link leads on.
void tb_deaths_turn_away(struct credits *credits, struct packet *packet);
// tb_deaths_fails returns whether a packet that is in at its node was spoilt; then it is
// no more.
bool tb_deaths_fails(struct credits *credits, uint32_t packet);

// credits_join.c: what passes to another part of the network.
//
// Hands over a packet that begins to cross a link, with its header at the far end at
// `header_at`; drops it here.
void tb_parts_hand_packet(struct credits *credits, uint32_t link,
	const struct packet *packet, tb_time_ps header_at);
// Hands back what has fallen free now behind the link that comes in by a slot.
void tb_parts_hand_update(
	struct credits *credits, uint32_t slot, uint32_t vl, const struct update *update);
// See struct tb_switching.
int tb_credits_join(
	struct tb_replay **replay, struct tb_replay *desk, uint32_t part) TB_MUST_USE;
void tb_credits_receive(struct tb_replay *replay, const struct tb_letter *letter,
	const struct tb_packet *packet);

// books.c: what is counted.
//
// Charges a wait that ends or lasts, up to `until`, to the open bin.
void tb_credits_charge(
	struct credits *credits, const struct packet *packet, tb_time_ps until);
// Counts how long a link was stalled, up to `until`, in the open bin.
void tb_credits_stalled(
	struct credits *credits, uint32_t slot, tb_time_ps from, tb_time_ps until);
// The wait of a packet ends now, when it begins to cross a link: charges and blames it,
// and returns the link that is its root. `by`: the update that let it go, or NULL.
uint32_t tb_credits_end_wait(struct credits *credits, uint32_t slot,
	const struct packet *packet, const struct update *by);
// Blames a wait that lasts at `until` (rule C24), adds it to the packet's, and returns
// its root.
uint32_t tb_credits_blame_lasting(
	struct credits *credits, struct packet *packet, tb_time_ps until);
// The delays that the options ask for: notes that a packet begins to cross a link; adds
// what one met that is in at its node.
void tb_credits_note_stop(
	struct credits *credits, const struct packet *packet, uint32_t link);
void tb_credits_add_delays(struct credits *credits, const struct packet *packet);
// See struct tb_switching.
bool tb_credits_settle(struct credits *credits, tb_time_ps until);
void tb_credits_blame_open(struct credits *credits, tb_time_ps until);

// ahead.c: fetches what events to come will read; see struct tb_switching.
void tb_credits_look_first(
	const struct credits *credits, const struct tb_event *events, uint32_t n);
void tb_credits_look_second(const struct credits *credits, struct tb_event event);
void tb_credits_look_third(const struct credits *credits, struct tb_event event);

// credits_new.c: see struct tb_switching.
int tb_credits_make(struct tb_replay *replay, const struct tb_engine_options *options,
	struct tb_cell ***cells) TB_MUST_USE;
void tb_credits_free(struct tb_replay *replay);
// tb_credits_make_lists makes the lists of an instant; tb_credits_make_replay the nodes'
// part, when all else is made. Both are a part's own where there are several.
int tb_credits_make_lists(struct credits *credits) TB_MUST_USE;
int tb_credits_make_replay(struct credits *credits) TB_MUST_USE;

#endif

// The calls between the parts of a network with credits. Private to this room.
#ifndef TB_CREDITS_IMPL_H
#define TB_CREDITS_IMPL_H

#include "credits.h"

// crossing.c: packets leave and come.
//
// tb_crossing_inject has a node's fetched packet begin to cross its injection link.
void tb_crossing_inject(struct credits *credits, uint32_t node, uint32_t packet);
// tb_crossing_reach: a packet has begun to cross a link to a switch; its header arrives
// through `slot` at `header_at`. It joins a queue there, behind all that began before it,
// or chooses its route when it has arrived.
void tb_crossing_reach(struct credits *credits, struct credit_packet *packet,
	uint32_t slot, tb_time_ps header_at);
// tb_crossing_join: a packet has arrived and has its route.
void tb_crossing_join(struct credits *credits, struct credit_packet *packet);
// tb_crossing_look lets a link of a plain switch take a packet, if it is free and one can
// go.
void tb_crossing_look(struct credits *credits, uint32_t slot);
// tb_crossing_begin has the first packet of a queue begin to cross a link; `by` is the
// update of this instant whose credits it needed, or NULL.
void tb_crossing_begin(struct credits *credits, uint32_t slot,
	struct credit_packet *packet, const struct update *by);
// tb_crossing_catch_up: what came in through a slot of a switch and has crossed its next
// link until now, without an event, has left the crossbar.
void tb_crossing_catch_up(struct credits *credits, uint32_t from);
// tb_crossing_allow: an input has fewer than S packets in the crossbar again.
void tb_crossing_allow(struct credits *credits, uint32_t from);
// tb_crossing_limit: an input has S packets in the crossbar, the last of which takes the
// link of `slot`.
void tb_crossing_limit(struct credits *credits, uint32_t slot, uint32_t from);
// tb_crossing_carry has a packet that a link has taken begin to cross it;
// tb_crossing_give_back returns the credits that a packet frees when it has crossed.
void tb_crossing_carry(struct credits *credits, struct link_sender *sender,
	struct credit_packet *packet);
void tb_crossing_give_back(struct credits *credits, const struct link_sender *sender);
// tb_crossing_done: a link out of a switch has carried its packet. Returns whether it is
// to choose another.
bool tb_crossing_done(struct credits *credits, uint32_t slot);
// The end of a packet that has arrived at a node. tb_crossing_free: its buffer falls free
// at `drained_at`. tb_crossing_end counts it. tb_crossing_acknowledged_at returns when
// its source has the acknowledgement that is sent now.
void tb_crossing_free(struct credits *credits, const struct credit_packet *packet,
	tb_time_ps drained_at);
void tb_crossing_end(struct credits *credits, struct credit_packet *packet);
tb_time_ps tb_crossing_acknowledged_at(
	const struct credits *credits, const struct credit_packet *packet);

// arbiter.c: crossbars.
//
// tb_arbiter_serve lets the listed links choose packets, switch by switch.
void tb_arbiter_serve(struct credits *credits);
// tb_arbiter_serve_one does so for a single link, that of a slot. Switches have up to 64
// ports.
void tb_arbiter_serve_one(struct credits *credits, uint32_t slot);
// tb_arbiter_limit: the input of a slot has S packets in the crossbar, with that which
// has begun to leave by the link of `slot`.
void tb_arbiter_limit(struct credits *credits, uint32_t slot, uint32_t from);
// tb_arbiter_allow: an input has fewer than S packets in the crossbar again.
void tb_arbiter_allow(struct credits *credits, uint32_t from);

// failures.c: failed links.
//
// tb_failures_fail_link: a link fails now.
void tb_failures_fail_link(struct credits *credits, uint32_t link);
// tb_failures_discard discards a packet that arrives where no link leads on.
void tb_failures_discard(struct credits *credits, struct credit_packet *packet);
// tb_failures_end_corrupted returns whether a packet that has arrived at its node was
// corrupted; if so it ends it: the node does not accept it.
bool tb_failures_end_corrupted(struct credits *credits, uint32_t packet);

// credits_join.c: what passes to another part of the network.
//
// tb_parts_hand_packet hands over a packet that begins to cross a link to another part,
// where its header arrives at `header_at`; its record here is dropped.
void tb_parts_hand_packet(struct credits *credits, uint32_t link,
	const struct credit_packet *packet, tb_time_ps header_at);
// tb_parts_return returns credits that fall free now or later, in the buffer of the link
// that comes in through a slot, to its sender in another part. tb_parts_put_off is
// tb_lanes_put_off for those of that slot that are not free yet: they do not arrive
// before `known_at`; returns whether there are any. tb_parts_hand_pending hands over what
// has fallen free before `until`, the end of a window.
void tb_parts_return(
	struct credits *credits, uint32_t slot, uint32_t vl, const struct update *update);
bool tb_parts_put_off(struct credits *credits, uint32_t slot, tb_time_ps known_at);
void tb_parts_hand_pending(struct credits *credits, tb_time_ps until);
// tb_parts_make_pending allocates what pending updates to other parts need.
int tb_parts_make_pending(struct credits *credits) TB_MUST_USE;
// See struct tb_switching.
int tb_credits_join(
	struct tb_replay **replay, struct tb_replay *whole, uint32_t part) TB_MUST_USE;
void tb_credits_receive(struct tb_replay *replay, const struct tb_part_message *message,
	const void *packet);
bool tb_credits_can_receive(const struct tb_replay *replay,
	const struct tb_part_message *message, const void *packet);

// waits.c: what is counted.
//
// tb_credits_charge charges a wait that ends or lasts to the open bin, up to `until`.
void tb_credits_charge(
	struct credits *credits, const struct credit_packet *packet, tb_time_ps until);
// tb_credits_stalled adds the time for which a link was stalled to the open bin, up to
// `until`.
void tb_credits_stalled(struct credits *credits, const struct link_sender *sender,
	tb_time_ps from, tb_time_ps until);
// tb_credits_end_wait: the wait of a packet ends now, as it begins to cross a link.
// Charges and blames the wait, and returns the link that is its root. `by` is the update
// whose credits the packet needed, or NULL.
uint32_t tb_credits_end_wait(struct credits *credits, const struct link_sender *sender,
	const struct credit_packet *packet, const struct update *by);
// tb_credits_blame_lasting blames a wait that still lasts at `until` (rule C24), adds it
// to the packet's, and returns its root.
uint32_t tb_credits_blame_lasting(
	struct credits *credits, struct credit_packet *packet, tb_time_ps until);
// Delays, if the options ask for them: tb_credits_note_stop notes that a packet begins to
// cross a link; tb_credits_add_delays adds up those of a packet that has arrived.
void tb_credits_note_stop(
	struct credits *credits, const struct credit_packet *packet, uint32_t link);
void tb_credits_add_delays(struct credits *credits, const struct credit_packet *packet);
// See struct tb_switching.
bool tb_credits_settle(struct credits *credits, tb_time_ps until);
void tb_credits_blame_open(struct credits *credits, tb_time_ps until);

// prefetch.c: fetches into the cache what the next events will read; see struct
// tb_switching.
void tb_credits_prefetch_first(
	const struct credits *credits, const struct tb_event *events, uint32_t n);
void tb_credits_prefetch_second(const struct credits *credits, struct tb_event event);
void tb_credits_prefetch_third(const struct credits *credits, struct tb_event event);

// credits_new.c: see struct tb_switching.
int tb_credits_make(struct tb_replay *replay, const struct tb_engine_options *options,
	struct tb_cell ***cells) TB_MUST_USE;
void tb_credits_free(struct tb_replay *replay);
// tb_credits_make_lists makes the lists of an instant; tb_credits_make_replay the nodes'
// part, when all else is made. Both are a part's own where there are several.
int tb_credits_make_lists(struct credits *credits) TB_MUST_USE;
int tb_credits_make_replay(struct credits *credits) TB_MUST_USE;

#endif

// The calls between the parts of a network with credits. Private to this room.
#ifndef TB_CREDITS_IMPL_H
#define TB_CREDITS_IMPL_H

#include "credits.h"

// tb_crossing_inject has a node's fetched packet begin to cross its injection link.
void tb_crossing_inject(struct credits *credits, uint32_t node, uint32_t packet);
// tb_crossing_done: a link out of a switch has carried its packet.
void tb_crossing_done(struct credits *credits, uint32_t slot);
// tb_crossing_look lets a link take a packet, if it is free and one can go.
void tb_crossing_look(struct credits *credits, uint32_t slot);
// tb_crossing_release: a node has drained a packet; see tb_carrier.
tb_time_ps tb_crossing_release(
	struct credits *credits, uint32_t packet, tb_time_ps drained_at);

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
// See struct tb_switching.
bool tb_credits_settle(struct credits *credits, tb_time_ps until);
void tb_credits_blame_open(struct credits *credits, tb_time_ps until);

// credits_new.c: see struct tb_switching.
int tb_credits_make(struct tb_replay **replay, const struct tb_network *network,
	const struct tb_source *source, const struct tb_observer *observer,
	const struct tb_engine_options *options) TB_MUST_USE;
void tb_credits_free(struct tb_replay *replay);

#endif

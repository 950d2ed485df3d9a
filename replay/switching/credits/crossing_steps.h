// Steps of a crossing that every way through a switch has (crossing.c, straight.c).
// Private to this room.
#ifndef TB_CROSSING_STEPS_H
#define TB_CROSSING_STEPS_H

#include "credits_impl.h"

// settle_wait ends a packet's wait when it begins to cross a link. The root of that wait
// becomes the link's root: packets that wait for this one blame it.
static inline void settle_wait(struct credits *credits, struct link_sender *sender,
	struct credit_packet *packet, const struct update *by)
{
	tb_time_ps now = credits->replay.now;
	bool waited = packet->ready_at < now;
	uint32_t root = NOTHING;
	if (waited) {
		root = tb_credits_end_wait(credits, sender, packet, by);
		packet->wait_ps += now - packet->ready_at;
	}
	sender->root = root;
	sender->by_credit = waited && by;
	if (sender->stalled_since < now)
		tb_credits_stalled(credits, sender, sender->stalled_since, now);
	sender->stalled_since = TB_TIME_NEVER;
}

// leave_crossbar: a packet that came in through a receiver has crossed its next link, by
// free_at, so that input may send another head into the crossbar. When that ends without
// an event it is done before anybody could notice: when the link takes another packet, or
// in tb_crossing_catch_up.
static inline void leave_crossbar(struct credits *credits, struct link_sender *sender)
{
	struct receiver *receiver = receiver_at(credits, sender->from);
	tb_time_ps at = sender->free_at;
	if (receiver->stopped_at < at ||
		(receiver->stopped_at == at && sender->port < receiver->stopped_port)) {
		receiver->stopped_at = at;
		receiver->stopped_port = sender->port;
		receiver->stopped_flow = sender->flow;
		receiver->stopped_root =
			sender->root == NOTHING ? sender->link : sender->root;
	}
	sender->bytes = 0;
	receiver->crossing &= ~(UINT64_C(1) << sender->port % 64);
	if (receiver->n_crossing-- >= credits->speedup)
		tb_crossing_allow(credits, sender->from);
}

// enter_crossbar: a packet that came in through a receiver begins to cross its next link.
static inline void enter_crossbar(struct credits *credits, uint32_t slot,
	const struct link_sender *sender, struct receiver *receiver)
{
	if (receiver->n_crossing + 1 == credits->speedup)
		tb_crossing_catch_up(credits, sender->from);
	receiver->crossing |= UINT64_C(1) << sender->port % 64;
	if (++receiver->n_crossing == credits->speedup)
		tb_crossing_limit(credits, slot, sender->from);
}

#endif

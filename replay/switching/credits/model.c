// Credits as a switching model: their function table, and how they handle each event.

#include "clock.h"
#include "credits_impl.h"
#include "idle_credits.h"
#include "lanes.h"
#include "paces.h"
#include "pause.h"
#include "queues.h"
#include "routing.h"
#include "straight.h"

static struct credits *credits_of_replay(struct tb_replay *replay)
{
	return (void *)replay;
}

static void credits_revisit(struct credits *credits, uint32_t slot)
{
	for (uint32_t v = 0; v < credits->n_vls; v++)
		if (lane_at(credits, slot, v)->choose_at <= credits->replay.now)
			lane_at(credits, slot, v)->choose_at = TB_TIME_NEVER;
	list_sender(credits, slot);
}

// is_current returns whether the packet of an EV_READY is still the first of its queue.
// With faults it may have been discarded, and its record be another packet's.
static inline bool is_current(
	const struct credits *credits, const struct credit_packet *packet)
{
	return !credits->replay.retries ||
	       (packet->queued && !packet->is_head &&
		       packet->ready_at <= credits->replay.now &&
		       queue_of(credits, packet)->first == packet->of.id);
}

// is_frequent: after the most frequent events a link chooses a packet.
static inline bool is_frequent(struct tb_event event)
{
	return event.kind == EV_DONE || event.kind == EV_READY;
}

static __attribute__((noinline)) void arrive_in_general(
	struct tb_replay *replay, struct tb_event event)
{
	struct credits *credits = credits_of_replay(replay);
	uint32_t id = event.subject;
	switch ((enum credit_event_kind)event.kind) {
	case EV_DONE:
		if (tb_crossing_done(credits, id))
			list_sender(credits, id);
		break;
	case EV_READY:
		if (is_current(credits, credit_packet_at(credits, id)))
			become_head(credits, credit_packet_at(credits, id));
		break;
	case EV_COME:
		tb_routing_arrive(credits, id);
		break;
	case EV_IN:
		if (!replay->retries || !tb_failures_end_corrupted(credits, id))
			tb_nodes_arrive(replay, id);
		break;
	case EV_CHOOSE:
		credits_revisit(credits, id);
		break;
	case EV_DRAINED:
		tb_pause_drained(credits, id);
		break;
	case EV_CNP:
		tb_paces_notified(replay, id);
		break;
	}
}

static inline void credits_arrive(struct tb_replay *replay, struct tb_event event)
{
	if (credits_of_replay(replay)->setup.straight && is_frequent(event))
		tb_straight_arrive(credits_of_replay(replay), event);
	else
		arrive_in_general(replay, event);
}

static void credits_choose(struct tb_replay *replay)
{
	struct credits *credits = credits_of_replay(replay);
	if (credits->come.n)
		tb_routing_choose(credits);
	if (credits->meters_now.n)
		tb_pause_compare(credits);
}

// serve_round is phase 3 of a round, and phase 1 of the next one for packets that became
// heads in it.
static void serve_round(struct credits *credits)
{
	uint32_t n = credits->senders_now.n;
	for (uint32_t i = 0; i < n; i++)
		tb_crossing_look(credits, credits->senders_now.ids[i]);
	credits->senders_now.n = 0;
	tb_arbiter_serve(credits);
	for (uint32_t i = 0; i < credits->n_next_heads; i++)
		become_head(credits, credit_packet_at(credits, credits->next_heads[i]));
	credits->n_next_heads = 0;
}

static __attribute__((noinline)) void serve_rounds(struct credits *credits)
{
	do
		serve_round(credits);
	while (credits->senders_now.n || credits->switches_now.n);
}

static inline void credits_serve_links(struct tb_replay *replay)
{
	struct credits *credits = credits_of_replay(replay);
	if (credits->setup.straight)
		tb_straight_serve(credits);
	else if (credits->senders_now.n || credits->switches_now.n)
		serve_rounds(credits);
}

// chooses_alone does what happens in phase 1 for the most frequent events, and returns
// the slot of the link that chooses then, or NOTHING.
static inline uint32_t chooses_alone(struct credits *credits, struct tb_event event)
{
	uint32_t id = event.subject;
	if (event.kind == EV_DONE)
		return tb_crossing_done(credits, id) ? id : NOTHING;
	struct credit_packet *packet = credit_packet_at(credits, id);
	if (is_current(credits, packet) &&
		show_head(credits, packet, receiver_at(credits, packet->at),
			sender_at(credits, packet->route)))
		return packet->route;
	return NOTHING;
}

// alone_in_general needs no lists where at most one link chooses.
static __attribute__((noinline)) void alone_in_general(
	struct tb_replay *replay, struct tb_event event)
{
	struct credits *credits = credits_of_replay(replay);
	if (!credits->setup.chooses_alone || !is_frequent(event)) {
		credits_arrive(replay, event);
		credits_choose(replay);
		credits_serve_links(replay);
		return;
	}
	uint32_t slot = chooses_alone(credits, event);
	if (slot != NOTHING && credits->switches_now.n == 0)
		tb_arbiter_serve_one(credits, slot);
	else if (slot != NOTHING)
		list_sender(credits, slot);
	if (credits->n_next_heads || credits->switches_now.n)
		serve_rounds(credits);
}

static inline void credits_alone(struct tb_replay *replay, struct tb_event event)
{
	struct credits *credits = credits_of_replay(replay);
	if (credits->setup.straight && is_frequent(event))
		tb_straight_alone(credits, event);
	else if (credits->setup.straight && event.kind == EV_IN)
		tb_nodes_arrive(replay, event.subject);
	else
		alone_in_general(replay, event);
}

static void credits_prefetch_first(
	struct tb_replay *replay, const struct tb_event *events, uint32_t n)
{
	tb_credits_prefetch_first(credits_of_replay(replay), events, n);
}

static void credits_prefetch_second(struct tb_replay *replay, struct tb_event event)
{
	tb_credits_prefetch_second(credits_of_replay(replay), event);
}

static void credits_prefetch_third(struct tb_replay *replay, struct tb_event event)
{
	tb_credits_prefetch_third(credits_of_replay(replay), event);
}

static void credits_link_failed(struct tb_replay *replay, uint32_t link)
{
	tb_failures_fail_link(credits_of_replay(replay), link);
}

static tb_time_ps credits_injects_at(
	const struct tb_replay *replay, uint32_t node, uint32_t id)
{
	const struct credits *credits = (const void *)replay;
	if (credits->setup.straight)
		return tb_straight_injects_at(credits, node, id);
	const struct credit_packet *packet = credit_packet_at(credits, id);
	uint32_t slot = credits->first_node + node;
	struct lane *lane = lane_at(credits, slot, vl_of(credits, &packet->of));
	if (replay->retries && tb_route_choice_is_dead(&replay->choice,
				       sender_at(credits, slot)->link, replay->now))
		return replay->now; // to fail there
	tb_time_ps known_at = tb_lanes_enough_at(
		credits, lane, lane_needs(credits, packet->of.wire_bytes));
	tb_time_ps free_at = sender_at(credits, slot)->free_at;
	return known_at > free_at ? known_at : free_at;
}

static void credits_inject_packet(
	struct tb_replay *replay, uint32_t node, uint32_t packet)
{
	if (credits_of_replay(replay)->setup.straight)
		tb_straight_inject(credits_of_replay(replay), node, packet);
	else
		tb_crossing_inject(credits_of_replay(replay), node, packet);
}

// notify has the source of a marked packet know at `at`, unless it was notified recently.
static void notify(
	struct credits *credits, const struct credit_packet *packet, tb_time_ps at)
{
	uint32_t pair = tb_paces_marked(&credits->replay,
		tb_packet_source(&credits->replay, &packet->of), packet->of.destination);
	if (pair != NOTHING)
		tb_wheel_put(&credits->replay.wheel, at, EV_CNP, pair);
}

static tb_time_ps credits_release(struct tb_replay *replay, uint32_t packet,
	tb_time_ps ack_at, tb_time_ps drained_at)
{
	(void)ack_at; // packets are acknowledged when they have come
	struct credits *credits = credits_of_replay(replay);
	struct credit_packet *record = credit_packet_at(credits, packet);
	if (credits->delays)
		tb_credits_add_delays(credits, record);
	tb_crossing_free(credits, record, drained_at);
	tb_crossing_end(credits, record);
	tb_time_ps known_at = tb_crossing_acknowledged_at(credits, record);
	if (record->marked)
		notify(credits, record, known_at);
	return known_at;
}

static bool credits_settle(struct tb_replay *replay, tb_time_ps until)
{
	return tb_credits_settle(credits_of_replay(replay), until);
}

static void credits_blame_open(struct tb_replay *replay, tb_time_ps until)
{
	tb_credits_blame_open(credits_of_replay(replay), until);
}

// The tail of a packet that was discarded crosses a link perhaps beyond the last event.
static tb_time_ps credits_lasts_until(const struct tb_replay *replay)
{
	const struct credits *credits = (const void *)replay;
	tb_time_ps end = replay->now;
	for (uint32_t i = 0; i < credits->n_own; i++)
		for (uint32_t slot = credits->own[i].first; slot < credits->own[i].end;
			slot++)
			if (sender_at(credits, slot)->free_at > end)
				end = sender_at(credits, slot)->free_at;
	return end;
}

static uint32_t credits_link_bytes(const struct tb_replay *replay)
{
	const struct credits *credits = (const void *)replay;
	return (uint32_t)(sizeof(struct link_sender) + credits->receiver_bytes +
			  credits->n_vls *
				  (sizeof(struct lane) +
					  FIRST_UPDATES * sizeof(struct update)) +
			  2 * sizeof(uint32_t) + sizeof(struct tb_cell *) +
			  sizeof(struct tb_link_sample));
}

static int credits_run(
	struct tb_replay *replay, uint64_t n_rounds, struct tb_error *error);
static void credits_window(struct tb_replay *replay, tb_time_ps until);

const struct tb_switching tb_credits = {.name = "credits",
	.carrier = {.injects_at = credits_injects_at,
		.inject = credits_inject_packet,
		.release = credits_release,
		.ideal_ps = tb_idle_credits_ps,
		.in_parts = true},
	.bytes = sizeof(struct credits),
	.can_fail = true,
	.holds_stall = true,
	.n_rows = ROWS,
	.make = tb_credits_make,
	.free = tb_credits_free,
	.run = credits_run,
	.arrive = credits_arrive,
	.choose = credits_choose,
	.serve = credits_serve_links,
	.alone = credits_alone,
	.prefetch_first = credits_prefetch_first,
	.prefetch_second = credits_prefetch_second,
	.prefetch_third = credits_prefetch_third,
	.link_failed = credits_link_failed,
	.settle = credits_settle,
	.lasts_until = credits_lasts_until,
	.blame_open = credits_blame_open,
	.link_bytes = credits_link_bytes,
	.join = tb_credits_join,
	.window = credits_window,
	.receive = tb_credits_receive,
	.can_receive = tb_credits_can_receive};

static int credits_run(
	struct tb_replay *replay, uint64_t n_rounds, struct tb_error *error)
{
	return tb_clock_run(replay, &tb_credits, n_rounds, error);
}

static void credits_window(struct tb_replay *replay, tb_time_ps until)
{
	tb_clock_window(replay, &tb_credits, until);
	tb_parts_hand_pending(credits_of_replay(replay), until);
}

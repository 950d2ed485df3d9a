// Flows begin and end, and share anew what they have in common.
#include "fluid.h"

#include "array.h"
#include "credit_params.h"

#include <stdlib.h>

uint64_t tb_fluid_wire_bytes(
	const struct tb_replay *replay, const struct tb_posted *message)
{
	const struct tb_network_params *params = &replay->net->params;
	bool keeps_frames = tb_replay_keeps_frames(replay, &message->what);
	uint64_t overhead = params->packet_overhead_bytes -
			    (keeps_frames ? tb_replay_headers(replay) : 0);
	bool has_first = !keeps_frames && message->n_unfetched == message->n_packets;
	uint64_t first = has_first ? tb_credit_params(params)->first_overhead_bytes : 0;
	uint64_t wire = tb_message_left(replay, message) +
			message->n_unfetched * overhead + first;
	return wire ? wire : 1;
}

// use_links prepares the links that are used for the first time: of a large network that
// may be few, and the others take no memory.
static void use_links(struct fluid *fluid, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		uint32_t link = fluid->steps[i].link;
		if (link >= fluid->replay.net->n_links)
			continue;
		struct tb_share_link *share = &fluid->shares.links[link];
		if (share->capacity)
			continue;
		share->capacity =
			TB_SHARE_WHOLE * tb_fluid_capacity(fluid->replay.net, link);
		fluid->cell[link].link = link & INT32_MAX;
	}
}

static void fluid_flow_begin(struct fluid *fluid, uint32_t id)
{
	struct tb_replay *replay = &fluid->replay;
	uint32_t n_hops = 0;
	uint32_t n = tb_fluid_route(fluid, id, &n_hops);
	use_links(fluid, n);
	uint32_t flow = tb_shares_begin(&fluid->shares, fluid->steps, n);
	if (flow == TB_SHARES_NONE || TB_ARRAY_RESERVE(&fluid->flows, &fluid->flows_room,
					      (size_t)flow + 1) != TB_OK) {
		tb_replay_no_memory(replay, "the flows");
		return;
	}
	tb_nodes_begun(replay, id);
	const struct tb_posted *message = &replay->messages[id];
	uint64_t wire = tb_fluid_wire_bytes(replay, message);
	struct fluid_trip trip = fluid->is_ideal
					 ? tb_fluid_lone_trip(fluid, message, wire)
					 : tb_fluid_trip(replay->net, fluid->steps,
						   n_hops, message->what.bytes);
	fluid_amount all = (fluid_amount)wire * BYTE_AMOUNT;
	fluid->flows[flow] = (struct fluid_flow){.all = all,
		.left = all,
		.begun_at = replay->now,
		.since = replay->now,
		.in_ps = trip.in_ps,
		.back_ps = trip.back_ps,
		.order = message->serial,
		.message = id,
		.n_before = message->n_packets - message->n_unfetched,
		.place = NOTHING,
		.n_hops = n_hops};
	replay->stats.n_hops += (uint64_t)n_hops * message->n_unfetched;
}

void tb_fluid_end_due(struct fluid *fluid)
{
	while (fluid->n_ends > 0 &&
		fluid->flows[fluid->ends[0]].ends_at <= fluid->replay.now) {
		if (TB_ARRAY_RESERVE(&fluid->ended, &fluid->ended_room,
			    (size_t)fluid->n_ended + 1) != TB_OK) {
			tb_replay_no_memory(&fluid->replay, "the flows that end");
			return;
		}
		uint32_t flow = tb_fluid_ends_take(fluid);
		fluid->ended[fluid->n_ended++] = flow;
		tb_shares_end(&fluid->shares, flow);
		tb_fluid_unload(fluid, flow);
		tb_fluid_next(fluid, fluid->flows[flow].message);
	}
}

void tb_fluid_sort(uint32_t *ids, uint32_t n, const struct tb_posted *messages)
{
	for (uint32_t i = 1; i < n; i++) {
		uint32_t id = ids[i], at = i;
		for (; at > 0 && messages[ids[at - 1]].serial > messages[id].serial; at--)
			ids[at] = ids[at - 1];
		ids[at] = id;
	}
}

// begin_all begins flows in the order in which their messages were posted, as routes may
// depend on it.
static void begin_all(struct fluid *fluid)
{
	uint32_t *ids = fluid->beginning;
	tb_fluid_sort(ids, fluid->n_beginning, fluid->replay.messages);
	for (uint32_t i = 0; i < fluid->n_beginning; i++)
		fluid_flow_begin(fluid, ids[i]);
	fluid->n_beginning = 0;
}

// leave_old settles the flows of the group for which anything changes, and their links.
static void leave_old(struct fluid *fluid)
{
	struct tb_shares *shares = &fluid->shares;
	tb_time_ps now = fluid->replay.now;
	for (uint32_t i = 0; i < shares->n_group; i++) {
		uint32_t id = shares->group[i];
		const struct tb_share_flow *share = &shares->flows[id];
		const struct tb_share_step *steps = tb_shares_steps(shares, id);
		for (uint32_t s = 0;
			s < share->n_steps && share->next_rate != share->rate; s++)
			if (steps[s].link < fluid->replay.net->n_links)
				tb_fluid_account(fluid, steps[s].link);
		if (tb_shares_is_stirred(shares, id))
			tb_fluid_settle(fluid, id, now);
	}
}

// note_limit counts a flow that begins to have less than it could.
static void note_limit(struct fluid *fluid, uint32_t id)
{
	const struct tb_share_flow *share = &fluid->shares.flows[id];
	bool was = !share->begins && share->rate < share->free_rate;
	if (share->ends || share->next_rate == share->free_rate ||
		(was && share->next_limit == share->limit))
		return;
	uint32_t cell = tb_fluid_link(fluid, id, share->next_limit);
	tb_records_blocked(&fluid->replay.records, &fluid->cell[cell]);
}

// fluid_flow_take_new has the flows whose rates change end at other times.
static void fluid_flow_take_new(struct fluid *fluid)
{
	struct tb_shares *shares = &fluid->shares;
	tb_time_ps now = fluid->replay.now;
	for (uint32_t i = 0; i < shares->n_group; i++) {
		uint32_t id = shares->group[i];
		const struct tb_share_flow *share = &shares->flows[id];
		struct fluid_flow *flow = &fluid->flows[id];
		note_limit(fluid, id);
		if (share->ends || share->next_rate == share->rate)
			continue;
		flow->ends_at = now + tb_fluid_duration(flow->left, share->next_rate);
		if (tb_fluid_ends_put(fluid, id) != TB_OK)
			tb_replay_no_memory(&fluid->replay, "the ends of flows");
	}
}

// carry_in has messages whose flows have ended arrive.
static void carry_in(struct fluid *fluid)
{
	tb_time_ps now = fluid->replay.now;
	for (uint32_t i = 0; i < fluid->n_ended; i++) {
		const struct fluid_flow *flow = &fluid->flows[fluid->ended[i]];
		tb_nodes_carried(&fluid->replay, flow->message, now + flow->in_ps,
			now + flow->in_ps + flow->back_ps);
	}
	fluid->n_ended = 0;
}

static void fluid_flow_look_again(struct fluid *fluid)
{
	if (fluid->n_ends == 0)
		return;
	tb_time_ps at = fluid->flows[fluid->ends[0]].ends_at;
	if (at >= fluid->event_at)
		return;
	fluid->event_at = at;
	tb_wheel_put(&fluid->replay.wheel, at, EV_END, 0);
}

void tb_fluid_share(struct fluid *fluid)
{
	if (fluid->n_beginning)
		begin_all(fluid);
	if (fluid->replay.failure.code != TB_OK)
		return;
	if (fluid->shares.n_group) {
		tb_shares_solve(&fluid->shares);
		if (fluid->shares.failed) {
			tb_replay_no_memory(&fluid->replay, "the shares of flows");
			return;
		}
		leave_old(fluid);
		fluid_flow_take_new(fluid);
		tb_shares_apply(&fluid->shares);
		carry_in(fluid);
	}
	fluid_flow_look_again(fluid);
}

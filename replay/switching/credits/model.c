// Credits as a switching model: their function table, the windows in which nodes and
// switches take turns, and how they handle each event.
#include "clock.h"

#include "agenda.h"
#include "array.h"
#include "credit_params.h"
#include "idle.h"
#include "memory.h"
#include "paces.h"

#include <stdlib.h>
#include <string.h>

static struct credits *credits_of_replay(struct tb_replay *replay)
{
	return (void *)replay;
}

static void credits_arrive(struct tb_replay *replay, struct tb_event event)
{
	struct credits *credits = credits_of_replay(replay);
	uint32_t id = event.subject;
	switch ((enum credit_event_kind)event.kind) {
	case EV_IN:
		if (!replay->retries || !tb_failures_end_corrupted(credits, id))
			tb_nodes_arrive(replay, id);
		break;
	case EV_LOST:
		tb_failures_lost(credits, credit_packet_at(credits, id));
		break;
	case EV_DRAINED:
		tb_pause_drained(credits, id);
		break;
	case EV_CNP:
		tb_paces_notified(replay, id);
		break;
	case EV_SERVE:
		tb_agenda_soon(credits, id);
		break;
	case EV_VISIT:
		agenda_visit(credits, id, replay->now);
		break;
	}
}

static void credits_choose(struct tb_replay *replay)
{
	struct credits *credits = credits_of_replay(replay);
	if (credits->meters_now.n)
		tb_pause_compare(credits);
}

static inline void credits_alone(struct tb_replay *replay, struct tb_event event)
{
	struct credits *credits = credits_of_replay(replay);
	if (credits->setup.simple && event.kind == EV_IN) {
		tb_nodes_arrive(replay, event.subject);
		return;
	}
	credits_arrive(replay, event);
	credits_choose(replay);
}

static tb_time_ps credits_injects_at(
	const struct tb_replay *replay, uint32_t node, uint32_t id)
{
	return tb_serve_injects_at((const void *)replay, node, id);
}

static void credits_inject_packet(
	struct tb_replay *replay, uint32_t node, uint32_t packet)
{
	tb_serve_inject(credits_of_replay(replay), node, packet);
}

static uint8_t credits_vl(const struct tb_replay *replay, uint32_t job)
{
	const struct credits *credits = (const void *)replay;
	return credits->vls[job < credits->n_jobs ? job : credits->n_jobs];
}

static uint32_t credits_arbitrate(
	struct tb_replay *replay, uint32_t node, uint32_t can, const uint32_t *packets)
{
	struct credits *credits = credits_of_replay(replay);
	struct credit_packet *records[TB_VLS_MOST];
	for (uint32_t vl = 0; vl < credits->n_vls; vl++)
		records[vl] =
			can >> vl & 1 ? credit_packet_at(credits, packets[vl]) : NULL;
	return tb_arbiter_take(credits, credits->first_node + node, can, records);
}

static tb_time_ps credits_free_at(const struct tb_replay *replay, uint32_t node)
{
	const struct credits *credits = (const void *)replay;
	return sender_at(credits, credits->first_node + node)->free_at;
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
	crossing_end(credits, record);
	tb_time_ps known_at = crossing_acknowledged_at(credits, record);
	if (record->marked) {
		// Notify the source of the marked packet, unless it was notified
		// recently.
		uint32_t pair = tb_paces_marked(&credits->replay, &record->of);
		if (pair != NOTHING)
			tb_wheel_put(&credits->replay.wheel, known_at, EV_CNP, pair);
	}
	return known_at;
}

static tb_time_ps credits_worked(const struct tb_replay *replay, uint32_t link)
{
	const struct credits *credits = (const void *)replay;
	uint32_t slot = credits->slot_of_link[link];
	const struct marker *marker = &credits->markers[(size_t)slot * credits->n_vls];
	tb_time_ps free_at = sender_at(credits, slot)->free_at, worked_ps = 0;
	for (uint32_t vl = 0; vl < credits->n_vls; vl++)
		worked_ps += marker[vl].busy_ps;
	return worked_ps - tb_time_later(0, free_at - replay->now);
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

// receiver_bytes is what a receiver takes in the mean.
static size_t receiver_bytes(const struct credits *credits)
{
	return (size_t)credits->receiver_of[credits->n_slots] * sizeof(struct receiver) /
		       credits->n_slots +
	       sizeof *credits->receiver_of;
}

static uint32_t credits_link_bytes(const struct tb_replay *replay)
{
	const struct credits *credits = (const void *)replay;
	return (uint32_t)(sizeof(struct link_sender) + receiver_bytes(credits) +
			  credits->n_vls *
				  (sizeof(struct lane) +
					  FIRST_UPDATES * sizeof(struct update)) +
			  2 * sizeof(uint32_t) + sizeof(struct tb_cell *) +
			  sizeof(struct tb_link_sample));
}

static int credits_run(
	struct tb_replay *replay, uint64_t n_rounds, struct tb_error *error);
static void credits_window(struct tb_replay *replay, tb_time_ps until);
static void credits_leave(struct tb_replay *replay);

const struct tb_switching tb_credits = {.name = "credits",
	.carrier = {.injects_at = credits_injects_at,
		.inject = credits_inject_packet,
		.release = credits_release,
		.catch_up = tb_adapters_catch_up,
		.vl = credits_vl,
		.arbitrate = credits_arbitrate,
		.free_at = credits_free_at,
		.worked = credits_worked,
		.ideal_ps = tb_idle_credits_ps},
	.in_parts = true,
	.bytes = sizeof(struct credits),
	.can_fail = true,
	.holds_stall = true,
	.make = tb_credits_make,
	.free = tb_credits_free,
	.leave = credits_leave,
	.run = credits_run,
	.arrive = credits_arrive,
	.choose = credits_choose,
	.alone = credits_alone,
	.prefetch_first = tb_credits_prefetch_first,
	.prefetch_second = tb_credits_prefetch_second,
	.prefetch_third = tb_credits_prefetch_third,
	.link_failed = tb_failures_fail_link,
	.settle = tb_credits_settle,
	.lasts_until = credits_lasts_until,
	.blame_open = tb_credits_blame_open,
	.link_bytes = credits_link_bytes,
	.join = tb_credits_join,
	.window = credits_window,
	.receive = tb_credits_receive,
	.can_receive = tb_credits_can_receive};

// next_instant returns when something may happen next.
static tb_time_ps next_instant(struct tb_replay *replay, tb_time_ps limit)
{
	tb_time_ps next = tb_time_earlier(
		tb_agenda_next(credits_of_replay(replay)), replay->outside_at);
	limit = tb_time_earlier(next, limit);
	return tb_time_earlier(tb_wheel_next(&replay->wheel, 0, limit), next);
}

// serve_until has the nodes, and then the switches, do what happens in a window.
static void serve_until(struct tb_replay *replay, tb_time_ps until)
{
	struct credits *credits = credits_of_replay(replay);
	tb_clock_window(replay, &tb_credits, until);
	if (credits->setup.serves_nodes)
		tb_adapters_serve(credits, until);
	tb_agenda_serve(credits, until);
}

// run_windows is the model's `run`: a window begins when something may happen next. It
// ends before links fail; one that begins then is that instant alone.
static int credits_run(
	struct tb_replay *replay, uint64_t n_rounds, struct tb_error *error)
{
	uint64_t begun = replay->stats.n_events;
	while (replay->stats.n_events - begun < n_rounds) {
		tb_time_ps next = next_instant(replay, TB_TIME_NEVER);
		if (next == TB_TIME_NEVER || (tb_clock_only_faults_left(replay) &&
						     tb_agenda_next(credits_of_replay(
							     replay)) == TB_TIME_NEVER))
			return tb_clock_end(replay, error);
		if (next >= replay->pause_at)
			return tb_clock_pause(replay, &tb_credits, error);
		int status = tb_clock_pass_bins(replay, &tb_credits, next, error);
		if (status != TB_OK)
			return status;
		tb_time_ps until =
			tb_time_earlier(tb_agenda_begin(credits_of_replay(replay), next),
				replay->records.bin_end);
		until = tb_time_earlier(
			until, replay->fault_at > next ? replay->fault_at : next + 1);
		serve_until(replay, tb_time_earlier(until, replay->pause_at));
		if (tb_clock_failed(replay)) {
			if (error)
				*error = replay->failure;
			return replay->failure.code;
		}
	}
	return 1;
}

// credits_window: within a part links may be shorter than those to others.
static void credits_window(struct tb_replay *replay, tb_time_ps until)
{
	struct credits *credits = credits_of_replay(replay);
	for (tb_time_ps next;
		(next = next_instant(replay, until)) < until && !tb_clock_failed(replay);)
		serve_until(
			replay, tb_time_earlier(tb_agenda_begin(credits, next), until));
	tb_parts_hand_pending(credits, until);
	replay->handover_at =
		tb_time_earlier(replay->handover_at, tb_agenda_next(credits));
}

// Allocates the parts of a network with credits, sized for it, and frees them.

// Links larger than this in total do not stay in the cache of one processor.
enum { CACHE_BYTES = 1 << 21 };

static int find_kinds(struct credits *credits, uint16_t *kind_of_link)
{
	const struct tb_network *net = credits->replay.net;
	for (uint32_t i = 0; i < net->n_links; i++) {
		const struct tb_link_info *info = &net->links[i];
		uint64_t q20 = tb_per_byte_q20(info->bytes_per_s);
		uint32_t k = 0;
		while (k < credits->n_kinds &&
			(credits->kinds[k].byte_q20 != q20 ||
				credits->kinds[k].latency_ps != info->latency_ps))
			k++;
		kind_of_link[i] = (uint16_t)k;
		if (k < credits->n_kinds)
			continue;
		if (k == UINT16_MAX)
			return TB_ECAPACITY;
		if (TB_ARRAY_RESERVE(&credits->kinds, &credits->kinds_room, k + 1u) !=
			TB_OK)
			return TB_ENOMEM;
		credits->kinds[k] = (struct link_kind_row){q20, info->latency_ps};
		credits->n_kinds++;
	}
	credits->common = credits->kinds[0];
	return TB_OK;
}

// slot_behind returns the slot at the receiving end of a link.
static uint32_t slot_behind(
	const struct credits *credits, const struct tb_link_info *info)
{
	if (info->kind == TB_LINK_EJECTION)
		return credits->first_node + info->to;
	return credits->replay.net->first_out[info->to] + info->to_port;
}

static void credits_make_link(
	struct credits *credits, uint32_t slot, uint32_t id, uint16_t kind)
{
	const struct tb_replay *replay = &credits->replay;
	uint32_t peer = slot_behind(credits, &replay->net->links[id]);
	bool has_to = tb_replay_has_to(replay, id);
	credits->slot_of_link[id] = slot;
	credits->cells[id] = NULL;
	if (!has_to && !tb_replay_has_from(replay, id))
		return;
	// Make a link at its near end, or, where another process simulates that,
	// what its far end reads of it.
	const struct tb_link_info *info = &credits->replay.net->links[id];
	struct link_sender *sender = sender_at(credits, slot);
	sender->link = id;
	sender->peer = slot_behind(credits, info);
	sender->kind = kind;
	sender->to_sw = info->kind == TB_LINK_EJECTION ? TB_ID_NONE : info->to;
	sender->to_port = (uint16_t)info->to_port;
	sender->port = (uint16_t)info->from_port;
	sender->from = slot; // of its own part, until a packet comes by another
	sender->crosses_parts = tb_handover_crosses(&credits->replay, id);
	if (tb_replay_has_from(&credits->replay, id)) {
		receiver_at(credits, slot)->port = info->from_port;
		receiver_at(credits, slot)->sw =
			info->kind == TB_LINK_INJECTION ? TB_ID_NONE : info->from;
		uint32_t buffer = info->fifo_bytes;
		for (uint32_t v = 0; v < credits->n_vls; v++) {
			struct lane *lane = lane_at(credits, slot, v);
			lane->choose_at = TB_TIME_NEVER;
			lane->updates =
				credits->updates +
				((size_t)slot * credits->n_vls + v) * FIRST_UPDATES;
			lane->mask = FIRST_UPDATES - 1;
			lane->credits =
				credits->setup.pauses
					? 1
					: (int32_t)(buffer / TB_CREDIT_BLOCK_BYTES);
		}
	}
	credits->cells[id] =
		has_to ? cell_at(credits, peer)
		       : &credits->far_cells[replay->side->parts->crossing_of[id]];
	tb_cell_clear(credits->cells[id], id);
	if (has_to)
		receiver_at(credits, peer)->link = id;
}

// make_unused_slot is the first to touch a receiver, the largest piece of a link.
static void make_unused_slot(struct credits *credits, uint32_t slot)
{
	*sender_at(credits, slot) = (struct link_sender){.stalled_since = TB_TIME_NEVER,
		.flow = NOTHING,
		.waited.root = NOTHING,
		.link = TB_ID_NONE};
	*receiver_at(credits, slot) = (struct receiver){.stopped_at = -1, .came_at = -1};
	*look_at_of(credits, slot) = TB_TIME_NEVER;
	if (is_node(credits, slot))
		receiver_at(credits, slot)->coming = (struct queue){NOTHING, NOTHING, 0};
	*cell_at(credits, slot) = (struct tb_cell){0};
	for (uint32_t q = 0; q < n_queues_at(credits, slot); q++)
		*queue_in(receiver_at(credits, slot), q) =
			(struct queue){NOTHING, NOTHING, 0};
	if (credits->words > 1)
		memset((char *)receiver_at(credits, slot) + credits->sets_at, 0,
			2 * credits->words * sizeof(uint64_t));
}

static bool has_switch(const struct credits *credits, uint32_t sw)
{
	const struct tb_replay *replay = &credits->replay;
	const struct tb_parts *parts = tb_parts_of(replay);
	return !parts || tb_parts_has(parts, parts->of_switch[sw]);
}

static void make_unused(struct credits *credits)
{
	const struct tb_network *net = credits->replay.net;
	for (uint32_t sw = 0; sw < net->n_switches; sw++)
		for (uint32_t slot = net->first_out[sw];
			has_switch(credits, sw) && slot < net->first_out[sw + 1]; slot++)
			make_unused_slot(credits, slot);
	for (uint32_t node = 0; node < net->n_nodes; node++)
		if (tb_replay_has_node(&credits->replay, node))
			make_unused_slot(credits, credits->first_node + node);
}

static int make_far_cells(struct credits *credits)
{
	const struct tb_parts *parts = tb_parts_of(&credits->replay);
	credits->far_cells =
		calloc(parts ? parts->n_crossing + 1u : 1, sizeof *credits->far_cells);
	return credits->far_cells ? TB_OK : TB_ENOMEM;
}

// n_queues_for returns how many queues a switch needs for what comes in by a slot: with
// one lane, as many as it has ports, and in a k-ary n-tree as many as lead down for what
// comes from above.
static uint32_t n_queues_for(const struct credits *credits, uint32_t slot, uint32_t sw)
{
	const struct tb_network *net = credits->replay.net;
	const struct tb_switch_info *info = &net->switches[sw];
	if (credits->n_vls > 1 || credits->queues_of_vl == 1 || credits->words > 1)
		return credits->n_queues;
	bool from_above = slot - net->first_out[sw] >= info->n_down_ports;
	if (net->regular && from_above && !credits->replay.choice.dead_at)
		return info->n_down_ports;
	return net->first_out[sw + 1] - net->first_out[sw];
}

// place_receivers makes the receivers one after the other. Nodes take what comes in
// order: they have one queue.
static int place_receivers(struct credits *credits)
{
	const struct tb_network *net = credits->replay.net;
	uint64_t at = 0;
	credits->receiver_of =
		malloc((credits->n_slots + 1u) * sizeof *credits->receiver_of);
	if (!credits->receiver_of)
		return TB_ENOMEM;
	for (uint32_t sw = 0, slot = 0; slot <= credits->n_slots; slot++) {
		credits->receiver_of[slot] = (uint32_t)at;
		while (sw < net->n_switches && slot >= net->first_out[sw + 1])
			sw++;
		size_t n = sw < net->n_switches ? n_queues_for(credits, slot, sw) : 0;
		size_t bytes = n * sizeof(struct queue);
		if (credits->words > 1)
			bytes = credits->sets_at - sizeof(struct receiver) -
				sizeof(struct tb_cell) +
				2 * credits->words * sizeof(uint64_t);
		at += 2 + (bytes + sizeof(struct receiver) - 1) / sizeof(struct receiver);
		if (at > UINT32_MAX)
			return TB_ECAPACITY;
	}
	credits->receivers = tb_replay_lines_new_untouched(&credits->replay,
		credits->receiver_of[credits->n_slots], sizeof(struct receiver));
	return credits->receivers ? TB_OK : TB_ENOMEM;
}

static int credits_make_links(struct credits *credits, const uint16_t *kinds)
{
	const struct tb_network *net = credits->replay.net;
	const struct tb_replay *replay = &credits->replay;
	size_t n = credits->n_slots, n_lanes = n * credits->n_vls;
	credits->links = tb_replay_lines_new(replay, n, credits->link_bytes);
	credits->updates = tb_replay_lines_new_untouched(
		replay, n_lanes * FIRST_UPDATES, sizeof *credits->updates);
	int status = place_receivers(credits);
	if (status != TB_OK)
		return status;
	credits->slot_of_link = malloc(net->n_links * sizeof *credits->slot_of_link);
	credits->cells = malloc(net->n_links * sizeof *credits->cells);
	credits->own = malloc(sizeof *credits->own);
	if (!credits->own || !credits->links || !credits->updates ||
		!credits->slot_of_link || !credits->cells ||
		make_far_cells(credits) != TB_OK)
		return TB_ENOMEM;
	credits->own[credits->n_own++] = (struct slot_range){0, credits->n_slots};
	make_unused(credits);
	for (uint32_t slot = 0; slot < credits->first_node; slot++)
		if (net->out_links[slot] != TB_ID_NONE)
			credits_make_link(credits, slot, net->out_links[slot],
				kinds[net->out_links[slot]]);
	for (uint32_t node = 0; node < net->n_nodes; node++)
		credits_make_link(credits, credits->first_node + node,
			net->injection[node], kinds[net->injection[node]]);
	if (credits->queues_of_vl == 1)
		credits->left = malloc(n_lanes * sizeof *credits->left);
	for (size_t i = 0; credits->left && i < n_lanes; i++)
		credits->left[i].at = -1;
	if (credits->queues_of_vl == 1 && !credits->left)
		return TB_ENOMEM;
	return TB_OK;
}

int tb_credits_make_lists(struct credits *credits)
{
	credits->choices = malloc(
		(tb_network_most_ports(credits->replay.net) + 1u) * sizeof(uint32_t));
	return credits->choices ? tb_agenda_make(credits) : TB_ENOMEM;
}

// The first guess of the number of packets under way is one per link and buffer.
int tb_credits_make_replay(struct credits *credits)
{
	const struct tb_network *net = credits->replay.net;
	const struct tb_network_params *params = &net->params;
	uint64_t n_packets = 2 * (uint64_t)net->n_links + 64;
	if (credits->replay.side)
		n_packets = n_packets / credits->replay.side->parts->n + 64;
	size_t bytes = sizeof(struct credit_packet);
	if (credits->setup.notes_paths)
		bytes += 64; // struct packet_path
	if (credits->delays)
		bytes += (credits->stops_most * sizeof(struct stop) + 63) / 64 * 64;
	if (n_packets > UINT32_MAX / 2)
		return TB_ECAPACITY;
	const struct link_kind_row *kind =
		credits_link_kind(credits, sender_at(credits, credits->first_node));
	tb_time_ps packet_ps = credits_wire_time(
		kind, params->packet_payload_bytes + params->packet_overhead_bytes);
	int status = tb_replay_make(
		&credits->replay, (uint32_t)n_packets, bytes, packet_ps, 4);
	size_t link_bytes = credits->link_bytes + receiver_bytes(credits) +
			    credits->n_vls * FIRST_UPDATES * sizeof(struct update);
	// When the window of a part begins, the cache is full of other parts' links.
	credits->replay.pulls = credits->setup.serves_nodes;
	credits->replay.prefetches = credits->n_slots * link_bytes >= CACHE_BYTES;
	return status;
}

// most_stops is how many links a packet may take: more than without faults when it goes
// up and down around a failed link.
static uint32_t most_stops(const struct credits *credits)
{
	const struct tb_network *net = credits->replay.net;
	uint32_t around = credits->replay.choice.dead_at ? 2 * net->n_levels : 0;
	return net->longest_path > around ? net->longest_path : around;
}

// credits_size_up computes the sizes of the network's parts.
static void credits_size_up(struct credits *credits)
{
	const struct tb_network *net = credits->replay.net;
	const struct tb_credit_params *params = tb_credit_params(&net->params);
	uint32_t most_ports = tb_network_most_ports(net);
	bool by_output = params->queues == TB_QUEUES_VOQ;
	credits->stops_most = most_stops(credits);
	credits->n_vls = net->params.n_vcs;
	credits->queues_of_vl = by_output ? most_ports : 1;
	credits->n_queues = credits->n_vls * credits->queues_of_vl;
	credits->words = (most_ports + 63) / 64;
	credits->speedup = params->input_speedup ? params->input_speedup : ANY_NUMBER;
	credits->mark_q20 = (uint64_t)(params->ecn_probability * (1 << 20) + 0.5);
	credits->first_node = net->first_out[net->n_switches];
	credits->n_slots = credits->first_node + net->n_nodes;
	credits->link_bytes =
		sizeof(struct link_sender) + credits->n_vls * sizeof(struct lane);
	size_t queues = sizeof(struct receiver) + sizeof(struct tb_cell) +
			credits->n_queues * sizeof(struct queue);
	credits->sets_at = (queues + 7) / 8 * 8;
	if (credits->words > 1) {
		size_t set = credits->words * sizeof(uint64_t);
		credits->link_bytes += (credits->n_vls * set + 63) / 64 * 64;
	}
}

// make_crossbars makes the crossbars of switches.
static int make_crossbars(struct credits *credits)
{
	const struct tb_network *net = credits->replay.net;
	credits->crossbars = tb_replay_lines_new(
		&credits->replay, net->n_switches, sizeof *credits->crossbars);
	credits->lists = tb_replay_lines_new(&credits->replay,
		(size_t)net->n_switches * AGENDA_CELLS, sizeof *credits->lists);
	uint32_t n_arbiters = credits->n_vls > 1 ? credits->n_slots : 1;
	credits->arbiters = calloc(n_arbiters, sizeof *credits->arbiters);
	if (credits->words > 1)
		credits->switch_sets = calloc((size_t)net->n_switches * 2,
			credits->words * sizeof *credits->switch_sets);
	if (!credits->crossbars || !credits->lists || !credits->arbiters ||
		(credits->words > 1 && !credits->switch_sets))
		return TB_ENOMEM;
	for (uint32_t sw = 0; sw < net->n_switches; sw++) {
		if (!has_switch(credits, sw))
			continue;
		credits->crossbars[sw].first = net->first_out[sw];
		credits->crossbars[sw].n_ports =
			(uint16_t)(net->first_out[sw + 1] - net->first_out[sw]);
	}
	return TB_OK;
}

static int credits_make_tables(struct credits *credits)
{
	const struct tb_credit_params *params =
		tb_credit_params(&credits->replay.net->params);
	int status = tb_vl_table_read(
		&credits->tables[0], params->vl_low, credits->n_vls, true);
	if (status == TB_OK)
		status = tb_vl_table_read(
			&credits->tables[1], params->vl_high, credits->n_vls, false);
	uint32_t n_arbiters = credits->n_vls > 1 ? credits->n_slots : 1;
	for (uint32_t slot = 0; status == TB_OK && slot < n_arbiters; slot++)
		for (int t = 0; t < 2; t++)
			credits->arbiters[slot].left[t] =
				credits->tables[t].n ? credits->tables[t].at[0].weight
						     : 0;
	return status;
}

// find_setup finds what kind of network this is, once its kinds of links are known.
static struct credits_setup find_setup(const struct credits *credits)
{
	const struct tb_network *net = credits->replay.net;
	const struct tb_credit_params *params = tb_credit_params(&net->params);
	const enum tb_ascent ascent = net->params.ascent;
	bool fails = credits->replay.choice.dead_at != NULL;
	bool marks = tb_paces_control(credits->replay.paces);
	struct credits_setup setup = {.equal_rates = true,
		.equal_links = credits->n_kinds == 1,
		.pauses = params->flow_control == TB_FLOW_PAUSE,
		.store_and_forward = params->forwarding == TB_FORWARDING_STORE,
		.by_digits = net->regular && ascent == TB_ASCENT_DETERMINISTIC,
		.adaptive = ascent == TB_ASCENT_ADAPTIVE ||
			    ascent == TB_ASCENT_ADAPTIVE_LOWEST ||
			    ascent == TB_ASCENT_ADAPTIVE_ROUND_ROBIN};
	tb_time_ps least_ps = TB_TIME_NEVER;
	for (uint32_t k = 0; k < credits->n_kinds; k++) {
		setup.equal_rates &=
			credits->kinds[k].byte_q20 == credits->kinds[0].byte_q20;
		least_ps = tb_time_earlier(least_ps, credits->kinds[k].latency_ps);
	}
	// No message may start in the instant in which it is posted, when its node may
	// have done what it does then, nor be delivered in the window in which its last
	// packet comes.
	setup.serves_nodes = credits->n_vls == 1 && !setup.pauses && !fails && !marks &&
			     net->params.send_overhead_ps > 0 &&
			     net->params.receive_overhead_ps >= least_ps &&
			     net->params.exact_to_ps == 0;
	setup.late_routes = setup.adaptive || setup.pauses || fails || marks;
	setup.counts_waiting = setup.adaptive || marks;
	setup.notes_paths = !setup.equal_links || credits->delays;
	setup.simple = credits->n_vls == 1 && credits->queues_of_vl > 1 &&
		       credits->words == 1 && setup.equal_links && !setup.late_routes &&
		       !setup.store_and_forward && !setup.notes_paths;
	return setup;
}

static int credits_allocate(struct credits *credits)
{
	const struct tb_network *net = credits->replay.net;
	credits_size_up(credits);
	uint16_t *kinds = malloc(net->n_links * sizeof *kinds);
	int status = kinds ? find_kinds(credits, kinds) : TB_ENOMEM;
	if (status == TB_OK) {
		credits->setup = find_setup(credits);
		status = credits_make_links(credits, kinds);
	}
	free(kinds);
	if (status == TB_OK)
		status = make_crossbars(credits);
	if (status == TB_OK)
		status = credits_make_tables(credits);
	if (status == TB_OK && credits->setup.pauses)
		status = tb_pause_new(credits);
	if (status == TB_OK && credits->replay.choice.dead_at) {
		credits->crossing = calloc(credits->n_slots, sizeof *credits->crossing);
		status = credits->crossing ? TB_OK : TB_ENOMEM;
	}
	if (status == TB_OK && credits->setup.adaptive) {
		credits->loads = calloc(credits->n_slots, sizeof *credits->loads);
		status = credits->loads ? TB_OK : TB_ENOMEM;
	}
	if (status == TB_OK && tb_paces_control(credits->replay.paces)) {
		credits->markers = calloc((size_t)credits->n_slots * credits->n_vls,
			sizeof *credits->markers);
		status = credits->markers ? TB_OK : TB_ENOMEM;
	}
	if (status == TB_OK)
		status = tb_parts_make_pending(credits);
	if (status == TB_OK)
		status = tb_credits_make_lists(credits);
	return status == TB_OK ? tb_credits_make_replay(credits) : status;
}

// make_vls finds the VL of each job (rule C3).
static int make_vls(struct credits *credits, const struct tb_engine_options *options)
{
	const struct tb_network_params *params = &credits->replay.net->params;
	uint8_t vls[TB_SLS];
	int status =
		tb_sl_to_vl_read(vls, tb_credit_params(params)->sl_to_vl, credits->n_vls);
	if (status != TB_OK)
		return status;
	credits->n_jobs = options->service_levels ? options->n_service_levels : 0;
	credits->vls = malloc(credits->n_jobs + 1u);
	for (uint32_t j = 0; credits->vls && j < credits->n_jobs; j++)
		credits->vls[j] = vls[options->service_levels[j] % TB_SLS];
	if (credits->vls)
		credits->vls[credits->n_jobs] = vls[0];
	return credits->vls ? TB_OK : TB_ENOMEM;
}

int tb_credits_make(struct tb_replay *replay, const struct tb_engine_options *options,
	struct tb_cell ***cells)
{
	struct credits *credits = (void *)replay;
	credits->delays = options->delays;
	int status = credits_allocate(credits);
	*cells = credits->cells;
	return status == TB_OK ? make_vls(credits, options) : status;
}

// credits_leave frees the most of what links take.
static void credits_leave(struct tb_replay *replay)
{
	struct credits *credits = (void *)replay;
	for (uint32_t slot = 0; credits->links && slot < credits->n_slots; slot++)
		for (uint32_t v = 0; v < credits->n_vls; v++)
			if (lane_at(credits, slot, v)->mask >= FIRST_UPDATES)
				free(lane_at(credits, slot, v)->updates);
	free(credits->links);
	free(credits->updates);
	free(credits->receivers);
	credits->links = NULL;
	credits->receivers = NULL;
	credits->updates = NULL;
}

void tb_credits_free(struct tb_replay *replay)
{
	struct credits *credits = (void *)replay;
	if (!credits)
		return;
	tb_pause_free(credits);
	if (!tb_replay_is_part(replay)) {
		// Free what parts have in common.
		credits_leave(replay);
		free(credits->receiver_of);
		free(credits->vls);
		free(credits->kinds);
		free(credits->slot_of_link);
		free(credits->crossing);
		free(credits->cells);
		free(credits->far_cells);
		uint32_t n_switches = replay->net->n_switches;
		for (uint32_t sw = 0; credits->crossbars && sw < n_switches; sw++)
			free(credits->crossbars[sw].far.all);
		for (uint32_t i = 0; credits->lists && i < n_switches * AGENDA_CELLS; i++)
			free(credits->lists[i].all);
		free(credits->lists);
		free(credits->crossbars);
		free(credits->switch_sets);
		free(credits->arbiters);
		free(credits->loads);
		free(credits->markers);
		free(credits->pending_first);
		free(credits->left);
	}
	tb_agenda_free(credits);
	tb_replay_fini(replay);
	free(credits->choices);
	free(credits->pending);
	free(credits->own);
	free(credits);
}

// A fluid as a switching model: its function table, and how it handles each event.
#include "clock.h"

#include "array.h"
#include "circuit_params.h"
#include "credit_params.h"
#include "fluid.h"
#include "fluid_edges.h"
#include "switchings.h"

#include <math.h>
#include <stdlib.h>

static int fluid_make(struct tb_replay *replay, const struct tb_engine_options *options,
	struct tb_cell ***cells);
static void fluid_free(struct tb_replay *replay);

static void fluid_carry(struct tb_replay *replay, uint32_t message)
{
	tb_fluid_join(fluid_of(replay), message);
}

static void fluid_arrive(struct tb_replay *replay, struct tb_event event)
{
	struct fluid *fluid = fluid_of(replay);
	if (event.kind == EV_BEGIN)
		tb_fluid_begins(fluid, event.subject);
	else if (fluid->event_at <= replay->now)
		fluid->event_at = TB_TIME_NEVER;
}

static void fluid_choose(struct tb_replay *replay)
{
	tb_fluid_end_due(fluid_of(replay));
}

static void fluid_serve(struct tb_replay *replay)
{
	tb_fluid_share(fluid_of(replay));
}

static void fluid_alone(struct tb_replay *replay, struct tb_event event)
{
	fluid_arrive(replay, event);
	fluid_choose(replay);
	fluid_serve(replay);
}

static bool fluid_settle(struct tb_replay *replay, tb_time_ps until)
{
	return tb_fluid_settle_all(fluid_of(replay), until);
}

static tb_time_ps fluid_lasts_until(const struct tb_replay *replay)
{
	return replay->now;
}

// fluid_blame_open: what is lost is charged whenever it is counted.
static void fluid_blame_open(struct tb_replay *replay, tb_time_ps until)
{
	(void)replay;
	(void)until;
}

static uint32_t fluid_link_bytes(const struct tb_replay *replay)
{
	(void)replay;
	return sizeof(struct fluid_link) + sizeof(struct tb_share_link) +
	       sizeof(struct tb_cell) + sizeof(struct tb_cell *) +
	       sizeof(struct tb_link_sample) + sizeof(uint32_t);
}

static void fluid_leave(struct tb_replay *replay)
{
	tb_fluid_free_links(fluid_of(replay));
}

static int fluid_run(struct tb_replay *replay, uint64_t n_rounds, struct tb_error *error);

// It has no link_failed and no prefetches: it takes no faults, and does not prefetch.
const struct tb_switching tb_fluid = {.name = "fluid",
	.carrier = {.carry = fluid_carry, .ideal_ps = tb_fluid_ideal_ps},
	.bytes = sizeof(struct fluid),
	.holds_stall = true,
	.is_ideal_too = true,
	.make = fluid_make,
	.free = fluid_free,
	.leave = fluid_leave,
	.run = fluid_run,
	.arrive = fluid_arrive,
	.choose = fluid_choose,
	.alone = fluid_alone,
	.serve = fluid_serve,
	.settle = fluid_settle,
	.lasts_until = fluid_lasts_until,
	.blame_open = fluid_blame_open,
	.link_bytes = fluid_link_bytes};

static int fluid_run(struct tb_replay *replay, uint64_t n_rounds, struct tb_error *error)
{
	return tb_clock_run(replay, &tb_fluid, n_rounds, error);
}

enum { EVENTS_A_NODE = 4 };

// steps_most is the links of all ways, and two buses.
static uint32_t steps_most(const struct fluid *fluid)
{
	return fluid->ways_most * fluid->replay.net->longest_path + 2;
}

static int fluid_make_links(struct fluid *fluid)
{
	const struct tb_network *net = fluid->replay.net;
	uint32_t n = net->n_links;
	fluid->links = calloc(n, sizeof *fluid->links);
	fluid->cell = calloc(n, sizeof *fluid->cell);
	fluid->cells = malloc(n * sizeof *fluid->cells);
	fluid->listed = malloc(n * sizeof *fluid->listed);
	fluid->ways_most = fluid->is_ideal ? 1 : tb_fluid_ways_most(net);
	fluid->steps = malloc(steps_most(fluid) * sizeof *fluid->steps);
	if (!fluid->links || !fluid->cell || !fluid->cells || !fluid->listed ||
		!fluid->steps)
		return TB_ENOMEM;
	for (uint32_t i = 0; i < n; i++)
		fluid->cells[i] = &fluid->cell[i];
	return TB_OK;
}

// Age decides in part who goes first where circuits wait. In a hot-spot of 64 nodes one
// beside it gets 8 MB/s, and each of four links that carry 15 others 12 · 4.8 + 48 · 4.3
// over 4, 66 MB/s (paper 000, 5.5): 15^0.78 times as much.
#define CIRCUITS_BY_FLOW 0.78

// So many packets of a node choose the same way one after another, as the link that one
// has left is free when the next one comes: the number by which all-to-alls and shifts of
// 16 and 64 nodes take as long as with packets.
enum { ADAPTIVE_STAYS = 2 };
// Above so many levels nodes that send in step stay in it, and draws hold them up: a
// complement of 64 nodes in three levels and 1 MiB +156 % (tests/measured/fluid.py).
enum { LEVELS_DRAWN = 2 };

enum { ACKS_APART = 200 }; // acknowledgements take 3 %

// Ways are drawn, or split into 16ths, so that rates are not known to a hundredth.
#define APART_SPLIT 1e-2

// make_shares: buses of hosts are links behind those of the network, where any can limit.
// Links of the network are written when first used (fluid.c): of a large network
// that may be a few, and the others take no memory.
static int make_shares(struct fluid *fluid)
{
	const struct tb_network *net = fluid->replay.net;
	bool has_buses = false;
	for (uint32_t i = 0; i < net->n_nodes; i++)
		has_buses |= tb_fluid_bus_capacity(net, i) > 0;
	uint64_t n = (uint64_t)net->n_links + (has_buses ? net->n_nodes : 0);
	if (n >= TB_SHARES_NONE)
		return TB_ECAPACITY;
	// Packets that wait hold up others, but for those that are dropped, and circuits
	// that choose free links, if there are any. A bus that limits has both directions
	// of a node in one, which no queue has.
	bool coupled = !fluid->is_ideal && !fluid->nodes->stores && !has_buses &&
		       !(fluid->nodes->has_circuits && fluid->ways_most > 1 &&
			       net->n_levels > 1);
	int status =
		tb_shares_init(&fluid->shares, (uint32_t)n, steps_most(fluid), coupled);
	bool has_tokens = fluid->nodes->has_circuits || fluid->nodes->stores;
	if (status == TB_OK && has_tokens && !fluid->is_ideal) {
		double tokens = tb_circuit_params(&net->params)->link_tokens;
		if (fluid->nodes->stores)
			tokens = tb_fluid_acks(&net->params);
		status = tb_shares_take_tokens(&fluid->shares, tokens);
		if (fluid->nodes->stores)
			fluid->shares.tokens_apart = ACKS_APART;
		fluid->shares.by_flow = CIRCUITS_BY_FLOW;
		for (uint32_t i = 0; i < net->n_links && status == TB_OK; i++)
			fluid->shares.reverse[i] = net->links[i].reverse.id;
	}
	if (status != TB_OK)
		return status;
	if (fluid->ways_most > 1)
		fluid->shares.apart_least = APART_SPLIT;
	const struct tb_credit_params *credits = tb_credit_params(&net->params);
	if (coupled && !fluid->nodes->has_circuits && credits->queues == TB_QUEUES_VOQ)
		fluid->buffer_bytes = credits->xoff_bytes      ? credits->xoff_bytes
				      : net->params.fifo_bytes ? net->params.fifo_bytes
							       : credits->buffer_bytes;
	fluid->shares.has_buffers = fluid->buffer_bytes > 0;
	if (fluid->buffer_bytes && !credits->xoff_bytes && fluid->ways_most > 1 &&
		net->n_levels <= LEVELS_DRAWN)
		fluid->stays_packets =
			net->params.ascent == TB_ASCENT_RANDOM ? 1 : ADAPTIVE_STAYS;
	fluid->first_bus = has_buses ? net->n_links : 0;
	for (uint32_t i = 0; has_buses && i < net->n_nodes; i++) {
		uint64_t capacity = tb_fluid_bus_capacity(net, i);
		fluid->shares.links[fluid->first_bus + i].capacity =
			capacity ? TB_SHARE_WHOLE * capacity : UINT64_MAX >> 1;
	}
	return TB_OK;
}

static int make_nodes(struct fluid *fluid)
{
	const struct tb_network *net = fluid->replay.net;
	const struct tb_network_params *params = &net->params;
	fluid->event_at = TB_TIME_NEVER;
	if (tb_credit_params(params)->message_gap_ps) {
		fluid->node_begun_at = malloc(net->n_nodes * sizeof(tb_time_ps));
		if (!fluid->node_begun_at)
			return TB_ENOMEM;
		for (uint32_t i = 0; i < net->n_nodes; i++)
			fluid->node_begun_at[i] =
				-tb_credit_params(params)->message_gap_ps;
	}
	tb_time_ps packet_ps = tb_fluid_duration(
		(fluid_amount)params->packet_payload_bytes * BYTE_AMOUNT,
		net->links[net->injection[0]].bytes_per_s << RATE_SHIFT);
	int status = tb_replay_make(
		&fluid->replay, 1, sizeof(struct tb_packet), packet_ps, EVENTS_A_NODE);
	fluid->replay.prefetches = false;
	return status;
}

// fluid_make is the `make` of struct tb_switching.
static int fluid_make(struct tb_replay *replay, const struct tb_engine_options *options,
	struct tb_cell ***cells)
{
	struct fluid *fluid = fluid_of(replay);
	if (options->faults)
		tb_replay_fail(replay, TB_EUSAGE,
			"switching = fluid has no faults: expected a network of "
			"switching = circuits or credits");
	fluid->nodes = tb_switching_nodes(&replay->net->params);
	fluid->is_ideal = options->ideal;
	if (fluid->nodes->has_circuits && !fluid->is_ideal)
		fluid->slice_packets = tb_slice_packets(&replay->net->params);
	int status =
		fluid->is_ideal ? tb_ideal_ways_init(&fluid->ways, replay->net) : TB_OK;
	if (status == TB_OK)
		status = fluid_make_links(fluid);
	*cells = fluid->cells;
	if (status == TB_OK)
		status = make_shares(fluid);
	return status == TB_OK ? make_nodes(fluid) : status;
}

void tb_fluid_free_links(struct fluid *fluid)
{
	tb_shares_fini(&fluid->shares);
	free(fluid->flows);
	free(fluid->links);
	fluid->flows = NULL;
	fluid->links = NULL;
}

static void fluid_free(struct tb_replay *replay)
{
	struct fluid *fluid = fluid_of(replay);
	if (!fluid)
		return;
	tb_replay_fini(replay);
	tb_fluid_free_links(fluid);
	tb_map_fini(&fluid->line_of);
	tb_map_fini(&fluid->parts_of);
	tb_ideal_ways_fini(&fluid->ways);
	free(fluid->cell);
	free(fluid->cells);
	free(fluid->listed);
	free(fluid->ends);
	free(fluid->beginning);
	free(fluid->ended);
	free(fluid->steps);
	free(fluid->lines);
	free(fluid->node_begun_at);
	free(fluid);
}

// Flows begin and end, and share anew what they have in common.

// wire_bytes is what those packets of a message that nobody has sent yet, or the frames
// that were captured, have on the wire; of the first `n` of them.
static uint64_t wire_bytes(
	const struct tb_replay *replay, const struct tb_posted *message, uint32_t n)
{
	const struct tb_network_params *params = &replay->net->params;
	bool keeps_frames = tb_replay_keeps_frames(replay, &message->what);
	uint64_t overhead = params->packet_overhead_bytes;
	overhead -= keeps_frames ? replay->frame_headers : 0; // may be more, of all bytes
	bool has_first = !keeps_frames && message->n_unfetched == message->n_packets;
	uint64_t first = has_first ? tb_credit_params(params)->first_overhead_bytes : 0;
	uint64_t payload =
		n < message->n_unfetched
			? (uint64_t)n * tb_replay_full_payload(replay, &message->what)
			: tb_message_left(replay, message);
	uint64_t wire = payload + n * overhead + first;
	return wire ? wire : 1;
}

// A long message has longer turns, so that it is not the more work the longer it is;
// where packets choose ways, four, which are enough for nodes to fall out of step.
enum { TURNS_MOST = 64, STAYS_MOST = 4 };
uint32_t tb_fluid_turn(const struct fluid *fluid, const struct tb_posted *message)
{
	uint32_t n = fluid->slice_packets, longest = message->n_packets / TURNS_MOST;
	if (fluid->stays_packets) {
		n = fluid->stays_packets;
		longest = message->n_packets / STAYS_MOST;
	}
	if (n && longest > n)
		n = longest;
	return n && n < message->n_unfetched ? n : message->n_unfetched;
}

// fluid_line_key stores the key of the line in which a message waits; false: it waits for
// no other message.
static bool fluid_line_key(
	const struct fluid *fluid, const struct tb_posted *message, uint64_t *key)
{
	const struct tb_network_params *params = &fluid->replay.net->params;
	uint32_t source = message->what.source.id;
	bool by_pair =
		fluid->nodes->stores ||
		(fluid->nodes->has_queue_pairs && tb_credit_params(params)->queue_pairs ==
							  TB_QUEUE_PAIRS_CONNECTION);
	*key = (uint64_t)source << 32 | (by_pair ? message->end : source);
	return by_pair || fluid->slice_packets ||
	       (fluid->nodes->has_circuits &&
		       tb_circuit_params(params)->slice_bytes == 0);
}

// fluid_line_of is the line of a message; NOTHING: none.
static uint32_t fluid_line_of(const struct fluid *fluid, uint32_t message)
{
	uint64_t key = 0;
	uint32_t at = NOTHING;
	if (fluid_line_key(fluid, &fluid->replay.messages[message], &key))
		(void)tb_map_find(&fluid->line_of, key, &at);
	return at;
}

static void fluid_flow_begin(struct fluid *fluid, uint32_t id)
{
	struct tb_replay *replay = &fluid->replay;
	uint32_t n_hops = 0;
	uint32_t n = tb_fluid_route(fluid, id, &n_hops);
	// Prepare the links that are used for the first time: of a large network that
	// may be few, and the others take no memory.
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
		if (fluid->buffer_bytes &&
			fluid->replay.net->links[link].kind != TB_LINK_EJECTION) {
			fluid->shares.queues[link].room =
				(double)(TB_SHARE_WHOLE * BYTE_AMOUNT) *
				fluid->buffer_bytes;
			fluid->shares.queues[link].since = fluid->replay.now;
			fluid->shares.queues[link].changes_at = INT64_MAX;
		}
	}
	uint32_t flow = tb_shares_begin(&fluid->shares, fluid->steps, n);
	if (flow == TB_SHARES_NONE || TB_ARRAY_RESERVE(&fluid->flows, &fluid->flows_room,
					      (size_t)flow + 1) != TB_OK) {
		tb_replay_no_memory(replay, "the flows");
		return;
	}
	tb_nodes_begun(replay, id);
	const struct tb_posted *message = &replay->messages[id];
	uint32_t n_packets = tb_fluid_turn(fluid, message);
	uint64_t wire = wire_bytes(replay, message, n_packets);
	struct fluid_trip trip = fluid->is_ideal
					 ? tb_fluid_ideal_trip(fluid, message)
					 : tb_fluid_trip(replay->net, fluid->steps,
						   n_hops, message->what.bytes);
	fluid_amount all = (fluid_amount)wire * BYTE_AMOUNT;
	fluid->flows[flow] = (struct fluid_flow){.all = all,
		.left = all,
		.begun_at = replay->now,
		.since = replay->now,
		.counted_at = replay->now,
		.in_ps = trip.in_ps,
		.back_ps = trip.back_ps,
		.order = message->serial,
		.message = id,
		.n_before = message->n_packets - message->n_unfetched,
		.n_all = n_packets,
		.place = NOTHING,
		.n_hops = n_hops};
	replay->stats.n_hops += (uint64_t)n_hops * n_packets;
	if (fluid->nodes->stores)
		tb_fluid_opened(fluid, flow, fluid_line_of(fluid, id));
	for (uint32_t i = 0; i < n; i++) {
		uint32_t link = fluid->steps[i].link;
		if (link >= replay->net->n_links)
			continue;
		struct fluid_link *owes = &fluid->links[link];
		owes->owed += all * fluid->steps[i].weight;
		uint64_t rate = (replay->net->links[link].bytes_per_s << RATE_SHIFT) *
				TB_SHARE_WHOLE;
		fluid->lasts_ps =
			tb_time_later(fluid->lasts_ps, (tb_time_ps)(owes->owed / rate));
	}
}

static void count_parts(struct fluid *fluid, uint32_t message, uint32_t n)
{
	if (tb_map_put(&fluid->parts_of, message, n) != TB_OK)
		tb_replay_no_memory(&fluid->replay, "the parts of messages");
}

// leave_node: all of a flow has left its node.
static void leave_node(struct fluid *fluid, uint32_t id)
{
	struct fluid_flow *flow = &fluid->flows[id];
	struct tb_posted *message = &fluid->replay.messages[flow->message];
	tb_fluid_unload(fluid, id);
	flow->is_part = flow->n_all < message->n_unfetched;
	if (flow->is_part) {
		tb_nodes_carried_part(&fluid->replay, flow->message, flow->n_all);
		message->behind_since = fluid->replay.now;
	}
	if (flow->is_part && fluid->stays_packets) {
		uint32_t n = 0;
		(void)tb_map_find(&fluid->parts_of, flow->message, &n);
		count_parts(fluid, flow->message, n + 1);
		tb_fluid_begins(fluid, flow->message);
		return;
	}
	if (flow->is_part)
		tb_fluid_join(fluid, flow->message);
	tb_fluid_next(fluid, flow->message);
}

// is_through counts a flow that is through; returns whether all of its message is.
enum { LAST_IS_THROUGH = 1 << 30 }; // beside how many parts have left and are not
static bool is_through(struct fluid *fluid, const struct fluid_flow *flow)
{
	uint32_t n = 0;
	if (!fluid->stays_packets)
		return !flow->is_part;
	(void)tb_map_find(&fluid->parts_of, flow->message, &n);
	n = flow->is_part ? n - 1 : n | LAST_IS_THROUGH;
	count_parts(fluid, flow->message, n == LAST_IS_THROUGH ? 0 : n);
	return n == LAST_IS_THROUGH;
}

void tb_fluid_end_due(struct fluid *fluid)
{
	fluid->shares.now = fluid->replay.now;
	while (fluid->n_ends > 0 &&
		fluid->flows[fluid->ends[0]].ends_at <= fluid->replay.now) {
		if (TB_ARRAY_RESERVE(&fluid->ended, &fluid->ended_room,
			    (size_t)fluid->n_ended + 1) != TB_OK) {
			tb_replay_no_memory(&fluid->replay, "the flows that end");
			return;
		}
		uint32_t flow = tb_fluid_ends_take(fluid);
		if (tb_fluid_stopped(fluid, flow))
			continue;
		if (fluid->nodes->stores)
			tb_fluid_closed(fluid, flow);
		if (!fluid->shares.flows[flow].entered)
			leave_node(fluid, flow);
		if (tb_shares_enter(&fluid->shares, flow))
			continue;
		tb_shares_end(&fluid->shares, flow);
		if (is_through(fluid, &fluid->flows[flow]))
			fluid->ended[fluid->n_ended++] = flow;
	}
}

// fluid_sort sorts messages, which mostly are, into the order of their posting.
static void fluid_sort(uint32_t *ids, uint32_t n, const struct tb_posted *messages)
{
	for (uint32_t i = 1; i < n; i++) {
		uint32_t id = ids[i], at = i;
		for (; at > 0 && messages[ids[at - 1]].serial > messages[id].serial; at--)
			ids[at] = ids[at - 1];
		ids[at] = id;
	}
}

// note_limit counts a flow whose rate begins to be limited by others.
static void note_limit(struct fluid *fluid, uint32_t id)
{
	const struct tb_share_flow *share = &fluid->shares.flows[id];
	bool was = !share->begins && share->rate < share->free_rate;
	if (share->ends || share->next_rate == share->free_rate ||
		(was && share->next_limit == share->limit))
		return;
	uint32_t link = tb_fluid_link(fluid, id, share->next_limit);
	if (fluid->replay.net->links[link].kind != TB_LINK_INJECTION)
		tb_records_blocked(&fluid->replay.records, &fluid->cell[link]);
}

void tb_fluid_await(struct fluid *fluid, uint32_t id, uint64_t rate)
{
	struct fluid_flow *flow = &fluid->flows[id];
	const struct tb_share_flow *share = &fluid->shares.flows[id];
	tb_time_ps now = fluid->replay.now;
	double takes = share->ahead / fmax(share->ahead_rate, 1);
	if (share->entered)
		flow->ends_at = takes < (double)(TB_TIME_NEVER / 4)
					? now + (tb_time_ps)ceil(takes)
					: TB_TIME_NEVER;
	else if (rate)
		flow->ends_at = tb_fluid_stops_at(fluid, flow,
			now + tb_fluid_duration(flow->left - flow->stop, rate),
			now + tb_fluid_duration(flow->left, rate));
	if ((share->entered || rate) && tb_fluid_ends_put(fluid, id) != TB_OK)
		tb_replay_no_memory(&fluid->replay, "the ends of flows");
}

// fluid_flow_take_new updates the ends of the flows whose rates have changed.
static void fluid_flow_take_new(struct fluid *fluid)
{
	struct tb_shares *shares = &fluid->shares;
	for (uint32_t i = 0; i < shares->n_group; i++) {
		uint32_t id = shares->group[i];
		const struct tb_share_flow *share = &shares->flows[id];
		note_limit(fluid, id);
		if (!share->ends && (share->next_rate != share->rate || share->entered))
			tb_fluid_await(fluid, id, share->next_rate);
	}
}

// carry_in delivers the messages whose flows have ended.
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

// is_held_alike returns whether a flow goes on to be held up by the same link.
static bool is_held_alike(const struct tb_share_flow *share)
{
	return !share->begins && !share->ends && !share->entered &&
	       share->rate != share->free_rate && share->next_rate != share->free_rate &&
	       share->next_limit == share->limit && share->next_root == share->root;
}

void tb_fluid_share(struct fluid *fluid)
{
	if (fluid->n_beginning && !fluid->is_stopped) {
		// Begin flows in the order in which their messages were posted, as routes
		// may depend on it.
		uint32_t *ids = fluid->beginning;
		fluid_sort(ids, fluid->n_beginning, fluid->replay.messages);
		for (uint32_t i = 0; i < fluid->n_beginning; i++)
			fluid_flow_begin(fluid, ids[i]);
		fluid->n_beginning = 0;
		tb_records_lasts(&fluid->replay.records, fluid->lasts_ps);
	}
	if (fluid->replay.failure.code != TB_OK)
		return;
	fluid->shares.now = fluid->replay.now;
	if (fluid->shares.n_group ||
		tb_shares_change_at(&fluid->shares) <= fluid->replay.now) {
		tb_shares_solve(&fluid->shares);
		if (fluid->shares.failed) {
			tb_replay_no_memory(&fluid->replay, "the shares of flows");
			return;
		}
		// Settle the flows of the group for which anything changes, and their
		// links. Of those for which only the rate does, more is lost to the same
		// ones, and counted later.
		struct tb_shares *shares = &fluid->shares;
		tb_time_ps now = fluid->replay.now;
		for (uint32_t i = 0; i < shares->n_group; i++) {
			uint32_t id = shares->group[i];
			const struct tb_share_flow *share = &shares->flows[id];
			const struct tb_share_step *steps = tb_shares_steps(shares, id);
			for (uint32_t s = 0;
				s < share->n_steps && share->next_rate != share->rate;
				s++)
				if (steps[s].link < fluid->replay.net->n_links)
					tb_fluid_account(fluid, steps[s].link);
			if (is_held_alike(share))
				tb_fluid_move(fluid, id, now);
			else if (tb_shares_is_stirred(shares, id))
				tb_fluid_settle(fluid, id, now);
		}
		fluid_flow_take_new(fluid);
		tb_shares_apply(&fluid->shares);
		carry_in(fluid);
	}
	tb_time_ps at = tb_shares_change_at(&fluid->shares);
	if (fluid->n_ends > 0 && fluid->flows[fluid->ends[0]].ends_at < at)
		at = fluid->flows[fluid->ends[0]].ends_at;
	if (fluid->n_ends == 0 || at >= fluid->event_at)
		return;
	fluid->event_at = at;
	tb_wheel_put(&fluid->replay.wheel, at, EV_END, 0);
}

// Which flow ends next: a binary heap in which flows move when their rates change.

static bool is_sooner(const struct fluid *fluid, uint32_t a, uint32_t b)
{
	const struct fluid_flow *one = &fluid->flows[a], *other = &fluid->flows[b];
	if (one->ends_at != other->ends_at)
		return one->ends_at < other->ends_at;
	return one->order < other->order;
}

static void fluid_end_set(struct fluid *fluid, uint32_t place, uint32_t flow)
{
	fluid->ends[place] = flow;
	fluid->flows[flow].place = place;
}

// rise and sink move a flow from a free place to where it belongs.
static uint32_t rise(struct fluid *fluid, uint32_t place, uint32_t flow)
{
	for (; place > 0 && is_sooner(fluid, flow, fluid->ends[(place - 1) / 2]);
		place = (place - 1) / 2)
		fluid_end_set(fluid, place, fluid->ends[(place - 1) / 2]);
	return place;
}

static uint32_t fluid_end_sink(struct fluid *fluid, uint32_t place, uint32_t flow)
{
	for (uint32_t child; (child = 2 * place + 1) < fluid->n_ends; place = child) {
		if (child + 1 < fluid->n_ends &&
			is_sooner(fluid, fluid->ends[child + 1], fluid->ends[child]))
			child++;
		if (!is_sooner(fluid, fluid->ends[child], flow))
			break;
		fluid_end_set(fluid, place, fluid->ends[child]);
	}
	return place;
}

int tb_fluid_ends_put(struct fluid *fluid, uint32_t flow)
{
	uint32_t place = fluid->flows[flow].place;
	if (place == NOTHING) {
		if (TB_ARRAY_RESERVE(&fluid->ends, &fluid->ends_room,
			    (size_t)fluid->n_ends + 1) != TB_OK)
			return TB_ENOMEM;
		place = fluid->n_ends++;
	}
	place = rise(fluid, place, flow);
	fluid_end_set(fluid, fluid_end_sink(fluid, place, flow), flow);
	return TB_OK;
}

uint32_t tb_fluid_ends_take(struct fluid *fluid)
{
	uint32_t first = fluid->ends[0];
	uint32_t last = fluid->ends[--fluid->n_ends];
	if (fluid->n_ends > 0)
		fluid_end_set(fluid, fluid_end_sink(fluid, 0, last), last);
	fluid->flows[first].place = NOTHING;
	return first;
}

// Messages that wait for others of their node: those of a queue pair or a connection go
// one after another, and gaps lie between messages that begin.

uint32_t tb_fluid_line_find(const struct fluid *fluid, uint32_t from, uint32_t to)
{
	uint32_t at = NOTHING;
	(void)tb_map_find(&fluid->line_of, (uint64_t)from << 32 | to, &at);
	return at;
}

static uint32_t fluid_line_make(struct fluid *fluid, uint64_t key, uint32_t message)
{
	uint32_t id = fluid->n_lines;
	if (tb_map_find(&fluid->line_of, key, &id))
		return id;
	if (TB_ARRAY_RESERVE(&fluid->lines, &fluid->lines_room,
		    (size_t)fluid->n_lines + 1) != TB_OK ||
		tb_map_put(&fluid->line_of, key, id) != TB_OK)
		return NOTHING;
	fluid->lines[id] = (struct fluid_line){.flowing = NOTHING,
		.first = NOTHING,
		.last = NOTHING,
		.flow = NOTHING,
		.unsent = NOTHING,
		.begun_at = -1,
		.opens_at = -1};
	fluid->n_lines++;
	if (fluid->nodes->stores)
		tb_fluid_open(fluid, id, message);
	return id;
}

void tb_fluid_begins(struct fluid *fluid, uint32_t message)
{
	if (TB_ARRAY_RESERVE(&fluid->beginning, &fluid->beginning_room,
		    (size_t)fluid->n_beginning + 1) != TB_OK) {
		tb_replay_no_memory(&fluid->replay, "the flows");
		return;
	}
	fluid->beginning[fluid->n_beginning++] = message;
}

// begin_in_time schedules the beginning of a message after its gaps, and not before its
// connection opens; `last` is when the one before it in its line began.
static tb_time_ps begin_in_time(
	struct fluid *fluid, uint32_t message, tb_time_ps last, tb_time_ps opens_at)
{
	const struct tb_credit_params *credits =
		tb_credit_params(&fluid->replay.net->params);
	uint32_t source = fluid->replay.messages[message].what.source.id;
	tb_time_ps at = tb_time_later(fluid->replay.now, opens_at);
	if (last >= 0 && at < last + credits->queue_pair_gap_ps)
		at = last + credits->queue_pair_gap_ps;
	if (fluid->node_begun_at) {
		tb_time_ps free_at =
			fluid->node_begun_at[source] + credits->message_gap_ps;
		if (at < free_at)
			at = free_at;
		fluid->node_begun_at[source] = at;
	}
	if (at == fluid->replay.now)
		tb_fluid_begins(fluid, message);
	else
		tb_wheel_put(&fluid->replay.wheel, at, EV_BEGIN, message);
	return at;
}

void tb_fluid_join(struct fluid *fluid, uint32_t id)
{
	struct tb_posted *message = &fluid->replay.messages[id];
	uint64_t key = 0;
	if (!fluid_line_key(fluid, message, &key)) {
		(void)begin_in_time(fluid, id, -1, -1);
		return;
	}
	uint32_t at = fluid_line_make(fluid, key, id);
	if (at == NOTHING) {
		tb_replay_no_memory(&fluid->replay, "the queue pairs");
		return;
	}
	struct fluid_line *line = &fluid->lines[at];
	if (line->flowing == NOTHING) {
		line->flowing = id;
		line->begun_at = begin_in_time(fluid, id, line->begun_at, line->opens_at);
	} else {
		message->next = NOTHING;
		if (line->first == NOTHING)
			line->first = id;
		else
			fluid->replay.messages[line->last].next = id;
		line->last = id;
	}
	if (fluid->nodes->stores)
		tb_fluid_written(fluid, at, id);
}

void tb_fluid_next(struct fluid *fluid, uint32_t id)
{
	uint32_t at = fluid_line_of(fluid, id);
	if (at == NOTHING)
		return;
	struct fluid_line *line = &fluid->lines[at];
	uint32_t next = line->flowing = line->first;
	if (next == NOTHING)
		return;
	line->first = fluid->replay.messages[next].next;
	line->begun_at = begin_in_time(fluid, next, line->begun_at, line->opens_at);
}

// leave_flow has what a flow is within be sent. The message has arrived `waits` later,
// but for its latency, if that was its last packet; else what is left of it is on the
// list.
static void leave_flow(struct fluid *fluid, uint32_t id, tb_time_ps waits)
{
	struct tb_replay *replay = &fluid->replay;
	struct fluid_flow *flow = &fluid->flows[id];
	uint32_t n = tb_fluid_round_up(fluid, id);
	uint32_t n_left = replay->messages[flow->message].n_unfetched - n;
	replay->stats.n_hops -= (uint64_t)flow->n_hops * (flow->n_all - n);
	flow->left = 0;
	tb_shares_end(&fluid->shares, id);
	if (!flow->is_part && n_left) {
		tb_nodes_carried_part(replay, flow->message, n);
		replay->messages[flow->message].behind_since = replay->now;
		tb_fluid_begins(fluid, flow->message);
	} else if (is_through(fluid, flow)) {
		tb_time_ps in = replay->now + waits + flow->in_ps;
		tb_nodes_carried(replay, flow->message, in, in + flow->back_ps);
	}
}

tb_time_ps tb_fluid_stop(struct tb_replay *replay)
{
	struct fluid *fluid = fluid_of(replay);
	(void)tb_fluid_settle_all(fluid, replay->now);
	tb_time_ps empties = 0;
	for (uint32_t i = 0; i < fluid->n_listed && fluid->buffer_bytes; i++) {
		uint32_t id = fluid->listed[i];
		const struct fluid_link *link = &fluid->links[id];
		fluid_amount passed =
			(fluid_amount)link->bytes * BYTE_AMOUNT * TB_SHARE_WHOLE;
		tb_time_ps takes = tb_fluid_duration(link->moved - passed,
			(replay->net->links[id].bytes_per_s << RATE_SHIFT) *
				TB_SHARE_WHOLE);
		empties = tb_time_later(empties, takes);
	}
	for (uint32_t i = 0; i < fluid->n_ends; i++)
		leave_flow(fluid, fluid->ends[i], empties);
	fluid->n_ends = 0;
	fluid->is_stopped = true;
	tb_fluid_share(fluid);
	tb_wheel_put(&replay->wheel, replay->now + empties, EV_END, 0);
	return replay->now + empties;
}

void tb_fluid_leave(struct tb_replay *replay)
{
	struct fluid *fluid = fluid_of(replay);
	(void)tb_fluid_settle_all(fluid, replay->now);
	fluid->buffer_bytes = 0; // but for what rounding leaves, all has passed
	(void)tb_fluid_settle_all(fluid, replay->now);
}

void tb_fluid_waits(struct tb_replay *replay, struct tb_event event)
{
	if (event.kind == EV_BEGIN)
		tb_fluid_begins(fluid_of(replay), event.subject);
}

uint32_t tb_fluid_left(
	struct tb_replay *replay, const struct tb_posted *messages, const uint32_t **ids)
{
	struct fluid *fluid = fluid_of(replay);
	fluid_sort(fluid->beginning, fluid->n_beginning, messages);
	for (uint32_t i = 0; i < fluid->n_lines; i++)
		for (uint32_t id = fluid->lines[i].first; id != NOTHING;
			id = messages[id].next)
			tb_fluid_begins(fluid, id);
	*ids = fluid->beginning;
	return fluid->n_beginning;
}

void tb_fluid_enter(struct tb_replay *replay, const uint32_t *ids, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		tb_fluid_join(fluid_of(replay), ids[i]);
	tb_wheel_put(&replay->wheel, replay->now, EV_END, 0);
}

// Ethernet as a switching model: its function table, and how it handles each event.
#include "clock.h"

#include "array.h"
#include "ethernet_impl.h"
#include "ethernet_params.h"
#include "idle.h"
#include "sort.h"

#include <stdlib.h>

static int ethernet_join(
	struct tb_replay **replay, struct tb_replay *whole, uint32_t part);
static void ethernet_receive(struct tb_replay *replay,
	const struct tb_part_message *message, const void *frame);

static int ethernet_make(struct tb_replay *replay,
	const struct tb_engine_options *options, struct tb_cell ***cells);
static void ethernet_free(struct tb_replay *replay);

static struct ethernet *ethernet_of_replay(struct tb_replay *replay)
{
	return (void *)replay;
}

// The operating system accepts everything that programs send.
static tb_time_ps ethernet_injects_at(
	const struct tb_replay *replay, uint32_t node, uint32_t packet)
{
	(void)node;
	(void)packet;
	return replay->now;
}

// posted: the streams of connections are numbered in the order of posting.
static void posted(struct tb_replay *whole, uint32_t message)
{
	tb_streams_posted(ethernet_of_replay(whole), message);
}

static void ethernet_inject(struct tb_replay *replay, uint32_t node, uint32_t id)
{
	uint32_t message = tb_packet_at(replay, id)->message;
	if (replay->messages[message].what.captured) {
		// Send a captured frame as it is: it belongs to no connection here.
		struct ethernet *ethernet = ethernet_of_replay(replay);
		uint32_t made = tb_ports_make(ethernet, node);
		if (made != NOTHING) {
			const struct tb_packet *packet =
				tb_packet_at(&ethernet->replay, id);
			struct tcp_frame *frame = &ethernet->frames[made];
			frame->kind = FRAME_CAPTURED;
			frame->message = packet->message;
			frame->flow = packet->flow;
			frame->to = packet->destination;
			frame->bytes = packet->wire_bytes;
			frame->number = tb_nodes_forget(&ethernet->replay, id);
			tb_ports_send(ethernet, made);
		}
	} else
		tb_send_post(ethernet_of_replay(replay), id);
}

// ethernet_release: a message is sent when its last segment has arrived; its sender's
// buffer was free before (rule E17).
static tb_time_ps ethernet_release(struct tb_replay *replay, uint32_t packet,
	tb_time_ps ack_at, tb_time_ps drained_at)
{
	(void)packet;
	(void)ack_at;
	(void)drained_at;
	return replay->now;
}

// come: a frame has arrived at its node.
static void come(struct ethernet *ethernet, uint32_t id)
{
	const struct tcp_frame frame = ethernet->frames[id];
	tb_ports_drop(ethernet, id);
	ethernet->replay.stats.n_hops += frame.n_hops;
	if (frame.kind == FRAME_CAPTURED) {
		tb_nodes_arrive(&ethernet->replay,
			tb_nodes_recall(&ethernet->replay, frame.message,
				(uint32_t)frame.number));
		return;
	}
	tb_open_come(ethernet, &frame);
	if (frame.kind == FRAME_OPEN || frame.kind == FRAME_OPENED)
		return;
	tb_acks_come(ethernet, frame.stream ^ 1, &frame);
	if (frame.kind == FRAME_SEGMENT)
		tb_receive_segment(ethernet, &frame);
}

static inline __attribute__((always_inline)) void ethernet_handle(
	struct ethernet *ethernet, struct tb_event event)
{
	uint32_t id = event.subject;
	switch ((enum ethernet_event_kind)event.kind) {
	case EV_FREE:
		tb_ports_free(ethernet, id);
		break;
	case EV_COME:
		if (tb_ports_come(ethernet, id))
			come(ethernet, id);
		break;
	case EV_TIMEOUT:
		tb_send_timeout(ethernet, id);
		break;
	case EV_ACK:
		tb_receive_late(ethernet, id);
		break;
	case EV_PACE:
		tb_rate_late(ethernet, id);
		break;
	}
}

static void ethernet_arrive(struct tb_replay *replay, struct tb_event event)
{
	struct ethernet *ethernet = ethernet_of_replay(replay);
	if (event.kind == EV_FREE) {
		ethernet->freed[ethernet->n_freed++] = event.subject;
		return;
	}
	if (TB_ARRAY_RESERVE(&ethernet->arrivals, &ethernet->arrivals_room,
		    2 * ((size_t)ethernet->n_arrivals + 1)) != TB_OK) { // to sort them
		tb_replay_no_memory(replay, "the frames");
		return;
	}
	ethernet->n_come += event.kind == EV_COME;
	ethernet->arrivals[ethernet->n_arrivals++] =
		(struct frame_arrival){.order = event.subject, .event = event};
}

// draw_turns orders the frames that come. Drawn: of two senders in step the same one
// would find the queue full each time, and lose all that it sends.
static void draw_turns(struct ethernet *ethernet)
{
	for (struct frame_arrival *arrival = ethernet->arrivals;
		arrival < ethernet->arrivals + ethernet->n_arrivals; arrival++) {
		if (arrival->event.kind != EV_COME)
			continue;
		const struct tcp_frame *frame = &ethernet->frames[arrival->event.subject];
		arrival->turn = tb_ethernet_draw(ethernet, frame->from, frame->to);
		arrival->made_at = frame->made_at;
		arrival->order = frame->order;
	}
}

static inline bool frame_is_before(
	const struct frame_arrival *a, const struct frame_arrival *b)
{
	if (a->event.kind != b->event.kind)
		return a->event.kind < b->event.kind;
	if (a->turn != b->turn)
		return a->turn < b->turn;
	return a->made_at != b->made_at ? a->made_at < b->made_at : a->order < b->order;
}

static inline bool link_is_before(const uint32_t *a, const uint32_t *b)
{
	return *a < *b;
}

TB_SORT(sort_arrivals, struct frame_arrival, frame_is_before)
TB_SORT(sort_freed, uint32_t, link_is_before)

// ethernet_choose handles what has arrived in this instant, in an order that does not
// depend on that of the events: links fall free first, then frames come (rule E5).
static void ethernet_choose(struct tb_replay *replay)
{
	struct ethernet *ethernet = ethernet_of_replay(replay);
	struct frame_arrival *arrivals = ethernet->arrivals;
	uint32_t *freed = ethernet->freed, n_freed = ethernet->n_freed;
	ethernet->n_freed = 0;
	sort_freed(freed, freed + n_freed, n_freed);
	for (uint32_t i = 0; i < n_freed; i++)
		tb_ports_free(ethernet, freed[i]);
	if (ethernet->n_come > 1)
		draw_turns(ethernet);
	ethernet->n_come = 0;
	sort_arrivals(arrivals, arrivals + ethernet->n_arrivals, ethernet->n_arrivals);
	for (uint32_t i = 0; i < ethernet->n_arrivals; i++)
		ethernet_handle(ethernet, arrivals[i].event);
	ethernet->n_arrivals = 0;
}

static void ethernet_alone(struct tb_replay *replay, struct tb_event event)
{
	ethernet_handle(ethernet_of_replay(replay), event);
}

static void ethernet_serve(struct tb_replay *replay)
{
	(void)replay;
}

// The last frame crosses a link perhaps beyond the last event.
static tb_time_ps ethernet_lasts_until(const struct tb_replay *replay)
{
	const struct ethernet *ethernet = (const void *)replay;
	tb_time_ps end = replay->now;
	for (uint32_t i = 0; i < ethernet->n_own; i++)
		if (ethernet->ports[ethernet->own_links[i]].free_at > end)
			end = ethernet->ports[ethernet->own_links[i]].free_at;
	return end;
}

static uint32_t ethernet_link_bytes(const struct tb_replay *replay)
{
	(void)replay;
	return sizeof(struct ethernet_port) + sizeof(struct tb_cell) +
	       sizeof(struct tb_cell *) + sizeof(struct tb_link_sample);
}

static int ethernet_run(
	struct tb_replay *replay, uint64_t n_rounds, struct tb_error *error);
static void ethernet_window(struct tb_replay *replay, tb_time_ps until);

// It has no link_failed and no prefetches: it takes no faults, and does not prefetch.
const struct tb_switching tb_ethernet = {.name = "ethernet",
	.carrier = {.posted = posted,
		.injects_at = ethernet_injects_at,
		.inject = ethernet_inject,
		.release = ethernet_release,
		.ideal_ps = tb_idle_stored_ps},
	.in_parts = true,
	.in_one_memory = true,
	.bytes = sizeof(struct ethernet),
	.holds_stall = true,
	.in_rounds = true,
	.n_rows = ROWS,
	.make = ethernet_make,
	.free = ethernet_free,
	.run = ethernet_run,
	.arrive = ethernet_arrive,
	.choose = ethernet_choose,
	.alone = ethernet_alone,
	.serve = ethernet_serve,
	.settle = tb_ports_settle,
	.lasts_until = ethernet_lasts_until,
	.blame_open = tb_ports_blame_open,
	.link_bytes = ethernet_link_bytes,
	.join = ethernet_join,
	.window = ethernet_window,
	.receive = ethernet_receive};

static int ethernet_run(
	struct tb_replay *replay, uint64_t n_rounds, struct tb_error *error)
{
	return tb_clock_run(replay, &tb_ethernet, n_rounds, error);
}

static void ethernet_window(struct tb_replay *replay, tb_time_ps until)
{
	tb_clock_window(replay, &tb_ethernet, until);
}

enum {
	NODES_MOST = 1 << 24, // that the key of a connection has room for
	PACKETS_A_NODE = 2,   // that is cut or arrives; the model keeps no records
	EVENTS_A_PACKET = 3,  // beside the wheel's rows
};

static int make_ports(struct ethernet *made)
{
	const struct tb_network *net = made->replay.net;
	made->n_made = calloc(net->n_nodes, sizeof *made->n_made);
	made->tcp = calloc(1, sizeof *made->tcp);
	made->ports = calloc(net->n_links, sizeof *made->ports);
	made->cell = calloc(net->n_links, sizeof *made->cell);
	made->cells = malloc(net->n_links * sizeof *made->cells);
	if (made->tcp && (net->params.ascent == TB_ASCENT_ECMP ||
				 net->params.ascent == TB_ASCENT_SOURCE))
		made->tcp->hops_most = net->longest_path;
	if (!made->n_made || !made->tcp || !made->ports || !made->cell || !made->cells)
		return TB_ENOMEM;
	for (uint32_t i = 0; i < net->n_links; i++) {
		const struct tb_link_info *info = &net->links[i];
		tb_cell_clear(&made->cell[i], i);
		made->cells[i] = &made->cell[i];
		made->ports[i] = (struct ethernet_port){
			.byte_q20 = tb_per_byte_q20(info->bytes_per_s),
			.latency_ps = info->latency_ps,
			.burst_ps = tb_idle_time(
				tb_ethernet_params(&net->params)->burst_bytes,
				tb_per_byte_q20(info->bytes_per_s)),
			.link = i,
			.reverse = info->reverse.id,
			.first = NOTHING,
			.last = NOTHING,
			.waits = NOTHING,
			.most = net->params.fifo_bytes,
			.tells = info->kind == TB_LINK_INJECTION};
		made->ports[i].tells |= made->ports[i].burst_ps > 0;
	}
	return TB_OK;
}

// ethernet_find_links lists the links that begin in a part.
static int ethernet_find_links(struct ethernet *made)
{
	const struct tb_replay *replay = &made->replay;
	bool is_part = tb_replay_is_part(replay);
	made->own_links = malloc(replay->net->n_links * sizeof *made->own_links);
	for (uint32_t i = 0; made->own_links && i < replay->net->n_links; i++)
		if (!is_part || tb_parts_from(replay->side->parts, replay->net, i) ==
					replay->side->part)
			made->own_links[made->n_own++] = i;
	made->freed = malloc(2 * ((size_t)made->n_own + 1) * sizeof *made->freed);
	return made->own_links && made->freed ? TB_OK : TB_ENOMEM;
}

int tb_ethernet_make_own(struct ethernet *made)
{
	const struct tb_network *net = made->replay.net;
	const struct tb_network_params *params = &net->params;
	made->free_frame = NOTHING;
	made->full_bytes = params->packet_payload_bytes + params->packet_overhead_bytes;
	if (net->n_nodes > NODES_MOST)
		return TB_ECAPACITY;
	if (ethernet_find_links(made) != TB_OK)
		return TB_ENOMEM;
	tb_time_ps packet_ps =
		tb_idle_time(params->packet_payload_bytes + params->packet_overhead_bytes,
			made->ports[net->injection[0]].byte_q20);
	int status = tb_replay_make(&made->replay, net->n_nodes * PACKETS_A_NODE,
		(sizeof(struct tb_packet) + 63) / 64 * 64, packet_ps, EVENTS_A_PACKET);
	made->replay.prefetches = false;
	return status;
}

// ethernet_make is the `make` of struct tb_switching.
static int ethernet_make(struct tb_replay *replay,
	const struct tb_engine_options *options, struct tb_cell ***cells)
{
	struct ethernet *ethernet = (void *)replay;
	if (options->faults)
		tb_replay_fail(replay, TB_EUSAGE,
			"switching = ethernet has no faults: expected a network of "
			"switching = circuits or credits");
	int status = make_ports(ethernet);
	*cells = ethernet->cells;
	return status == TB_OK ? tb_ethernet_make_own(ethernet) : status;
}

static void ethernet_free(struct tb_replay *replay)
{
	struct ethernet *ethernet = (void *)replay;
	if (!ethernet)
		return;
	if (!tb_replay_is_part(replay)) {
		// Free what parts have in common.
		if (ethernet->tcp)
			tb_streams_free(ethernet->tcp);
		free(ethernet->tcp);
		free(ethernet->n_made);
		free(ethernet->ports);
		free(ethernet->cell);
		free(ethernet->cells);
	}
	tb_replay_fini(replay);
	free(ethernet->own_links);
	free(ethernet->freed);
	free(ethernet->frames);
	free(ethernet->arrivals);
	free(ethernet);
}

// Ethernet in parts side by side (rule E22): what makes a part, and the frames that pass
// from part to part.

void tb_ethernet_hand(
	struct ethernet *ethernet, const struct tcp_frame *frame, tb_time_ps at)
{
	const struct tb_part_message message = {
		.at = at, .link = frame->link, .n_bytes = sizeof *frame};
	tb_handover_to_receiver(&ethernet->replay, &message, frame);
}

static void ethernet_receive(struct tb_replay *replay,
	const struct tb_part_message *message, const void *frame)
{
	tb_ports_adopt((void *)replay, frame, message->at);
}

// ethernet_join is the `join` of struct tb_switching.
static int ethernet_join(
	struct tb_replay **replay, struct tb_replay *whole, uint32_t part)
{
	const struct ethernet *all = (const void *)whole;
	struct ethernet *made = calloc(1, sizeof *made);
	if (!made)
		return TB_ENOMEM;
	tb_replay_join(&made->replay, whole, part);
	made->ports = all->ports;
	made->cells = all->cells;
	made->cell = all->cell;
	made->n_made = all->n_made;
	made->tcp = all->tcp;
	int status = tb_ethernet_make_own(made);
	if (status == TB_OK)
		status = tb_replay_open_part(&made->replay);
	if (status == TB_OK)
		*replay = &made->replay;
	else
		ethernet_free(&made->replay);
	return status;
}

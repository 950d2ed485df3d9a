#include "credits_impl.h"

#include "lanes.h"
#include "queues.h"
#include "ways.h"

// stored_for is how long a packet that comes is stored, so that its last byte is in when
// the next link sends it (rule C6): 0 unless that link is faster.
static tb_time_ps stored_for(const struct credits *credits, const struct packet *packet,
	tb_time_ps crossing_ps)
{
	const struct kind *kind = kind_of(credits, sender_at(credits, packet->route));
	tb_time_ps next = time_of(kind, packet->of.wire_bytes);
	return next < crossing_ps ? crossing_ps - next : 0;
}

// reach has a packet that begins to cross towards a switch join its queue there, behind
// all that began before it.
static inline void reach(struct credits *credits, struct packet *packet, uint32_t slot,
	tb_time_ps header_at, tb_time_ps crossing_ps)
{
	packet->at = slot;
	packet->route = route_of(credits, receiver_at(credits, slot)->sw, packet);
	packet->ready_at = header_at;
	if (credits->stores)
		packet->ready_at += crossing_ps;
	else if (!credits->equal_rates)
		packet->ready_at += stored_for(credits, packet, crossing_ps);
	join(credits, packet);
}

static inline void add_to_path(const struct credits *credits, const struct packet *packet,
	const struct kind *kind)
{
	struct path *path = path_of(credits, packet->of.id);
	if (packet->of.n_hops == 0)
		*path = (struct path){0};
	path->latency_ps += kind->latency_ps;
	if (kind->byte_q20 > path->slowest_q20)
		path->slowest_q20 = kind->byte_q20;
}

// carry has a packet begin to cross the link of a slot.
static inline void carry(struct credits *credits, uint32_t slot, struct packet *packet)
{
	struct tb_replay *replay = &credits->replay;
	struct sender *sender = sender_at(credits, slot);
	const struct kind *kind = kind_of(credits, sender);
	uint32_t bytes = packet->of.wire_bytes;
	tb_time_ps crossing_ps = time_of(kind, bytes);
	tb_time_ps header_at = replay->now + kind->latency_ps;
	sender->free_at = replay->now + crossing_ps;
	sender->flow = packet->of.flow;
	tb_books_burst(&replay->books, cell_at(credits, sender->peer), replay->now,
		sender->free_at, bytes, true);
	if (!credits->equal_links)
		add_to_path(credits, packet, kind);
	packet->of.n_hops++;
	if (!is_node(credits, sender->peer)) {
		reach(credits, packet, sender->peer, header_at, crossing_ps);
		return;
	}
	packet->at = sender->peer;
	tb_wheel_put(&replay->wheel, header_at + crossing_ps, EV_IN, packet->of.id);
}

void tb_crossing_inject(struct credits *credits, uint32_t node, uint32_t id)
{
	uint32_t slot = credits->first_node + node;
	struct packet *packet = packet_at(credits, id);
	const struct sender *sender = sender_at(credits, slot);
	tb_time_ps fetched_at = credits->replay.nics[node].fetched_at;
	packet->vl = (uint8_t)vl_of(credits, &packet->of);
	packet->wait_ps = 0;
	lane_settle(lane_at(credits, slot, packet->vl), credits->replay.now);
	lane_at(credits, slot, packet->vl)->credits -=
		(int32_t)blocks_of(packet->of.wire_bytes);
	tb_credits_stalled(credits, slot,
		fetched_at > sender->free_at ? fetched_at : sender->free_at,
		credits->replay.now);
	carry(credits, slot, packet);
}

// begin has the first packet of a queue begin to cross the link that it is to take.
static inline void begin(struct credits *credits, uint32_t slot, struct lane *lane,
	struct packet *packet, const struct update *by)
{
	struct sender *sender = sender_at(credits, slot);
	struct queue *queue = queue_of(credits, packet);
	tb_time_ps now = credits->replay.now;
	uint32_t root = NOTHING;
	bool waited = packet->ready_at < now;
	if (waited)
		root = tb_credits_end_wait(credits, slot, packet, by);
	packet->wait_ps += now - packet->ready_at;
	if (sender->stalled_since < now)
		tb_credits_stalled(credits, slot, sender->stalled_since, now);
	sender->stalled_since = TB_TIME_NEVER;
	sender->order = packet->of.order;
	sender->root = root;
	sender->by_credit = waited && by;
	sender->blocks = blocks_of(packet->of.wire_bytes);
	sender->from = packet->at;
	sender->crosses = true;
	sender->n_heads--;
	lane->credits -= (int32_t)sender->blocks;
	uint32_t port = sender_at(credits, packet->at)->port;
	lane->heads &= ~(UINT64_C(1) << port % 64);
	lane->turn = (uint16_t)((port + 1) % 64);
	receiver_at(credits, packet->at)->n_crossing++;
	queue->left_at = now;
	queue->left_flow = packet->of.flow;
	queue->left_root = root == NOTHING ? sender->link : root;
	leave(credits, queue, packet);
	carry(credits, slot, packet);
	tb_wheel_put(&credits->replay.wheel, sender->free_at, EV_DONE, slot);
}

void tb_crossing_look(struct credits *credits, uint32_t slot)
{
	struct sender *sender = sender_at(credits, slot);
	struct lane *lane = lane_at(credits, slot, 0);
	sender->listed = false;
	if (sender->crosses || lane->heads == 0)
		return;
	uint32_t from = slot - sender->port + in_turn(lane);
	struct packet *packet = packet_at(credits, queue_at(credits, from)->first);
	uint32_t need = blocks_of(packet->of.wire_bytes);
	const struct update *by;
	if (lane_has(lane, need, credits->replay.now, &by))
		begin(credits, slot, lane, packet, by);
	else
		tb_lanes_wait(credits, slot, lane, need);
}

// give_back tells the sender before a switch what has fallen free there (rule C9).
static inline void give_back(struct credits *credits, const struct sender *sender)
{
	const struct sender *reverse = sender_at(credits, sender->from);
	tb_time_ps now = credits->replay.now;
	tb_time_ps sent_at = reverse->free_at > now ? reverse->free_at : now;
	uint32_t link = receiver_at(credits, sender->from)->link;
	const struct update update = {
		.known_at = sent_at + kind_of(credits, reverse)->latency_ps,
		.order = sender->order,
		.flow = sender->flow,
		.root = sender->root == NOTHING ? link : sender->root,
		.blocks = sender->blocks};
	tb_lanes_push(credits, reverse->peer, sender->vl, &update, now);
}

// stop: a packet that came by a receiver's link has crossed the next one, so that the
// first of its queue may.
static inline void stop(struct credits *credits, const struct sender *sender)
{
	struct receiver *receiver = receiver_at(credits, sender->from);
	tb_time_ps now = credits->replay.now;
	if (receiver->stopped_at < now || sender->port < receiver->stopped_port) {
		receiver->stopped_port = sender->port;
		receiver->stopped_flow = sender->flow;
		receiver->stopped_root =
			sender->root == NOTHING ? sender->link : sender->root;
	}
	receiver->stopped_at = now;
	if (receiver->n_crossing-- < credits->speedup)
		return;
	uint32_t first = queue_at(credits, sender->from)->first;
	if (first != NOTHING && packet_at(credits, first)->up)
		make_candidate(credits, packet_at(credits, first));
}

void tb_crossing_done(struct credits *credits, uint32_t slot)
{
	struct sender *sender = sender_at(credits, slot);
	sender->crosses = false;
	give_back(credits, sender);
	stop(credits, sender);
	if (sender->n_heads == 0)
		return;
	sender->stalled_since = credits->replay.now;
	list_sender(credits, slot);
}

tb_time_ps tb_crossing_release(
	struct credits *credits, uint32_t id, tb_time_ps drained_at)
{
	struct tb_replay *replay = &credits->replay;
	struct packet *packet = packet_at(credits, id);
	const struct sender *reverse = sender_at(credits, packet->at);
	const struct kind *kind = kind_of(credits, reverse);
	const struct update update = {.known_at = drained_at + kind->latency_ps,
		.order = packet->of.order,
		.flow = packet->of.flow,
		.root = receiver_at(credits, packet->at)->link,
		.blocks = blocks_of(packet->of.wire_bytes)};
	tb_lanes_push(credits, reverse->peer, packet->vl, &update, drained_at);
	replay->stats.n_hops += packet->of.n_hops;
	replay->books.flows[packet->of.flow].wait_ps += (uint64_t)packet->wait_ps;
	packet->wait_ps = 0;
	uint32_t ack = replay->net->params.credits.ack_bytes;
	if (credits->equal_links)
		return replay->now + packet->of.n_hops * kind->latency_ps +
		       time_of(kind, ack);
	const struct path *path = path_of(credits, id);
	return replay->now + path->latency_ps +
	       time_of(&(struct kind){.byte_q20 = path->slowest_q20}, ack);
}

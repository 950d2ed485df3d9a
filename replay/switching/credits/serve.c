// Switches served in windows: nearly all networks with credits.
//
// What a switch does takes at least a cable's latency to reach another switch or a node:
// a packet that begins to leave it, and credits that it returns. So within a window that
// is no longer than that, each switch is served alone: it takes what has come to it,
// chooses by the rules, and hands on what the next windows need. First come the nodes,
// whose events the replay's wheel has; then, one after the other, the switches that have
// something to do before the window ends. Each lies together in memory, so what it needs
// is fetched once a window.
//
// An agenda lists the switches by the cell of time, no longer than a window, in which
// each has something to do next. A switch has a list of what it is to do: packets that
// come to it, to which others add as these begin to cross its cables, and the times at
// which its own links look, because they have carried a packet or may have credits. What
// of that is due in a window is sorted when the switch is served. A packet that comes
// when nothing else happens to a link that is free goes on at once, without a queue.
//
// Waits are logged, and entered at the end of a window in the order in which they ended.
//
// Where credits->setup.served a switch has up to 64 ports; all links take time, and none
// fails.
#include "credits.h"

#include "array.h"
#include "queues.h"

#include <stdlib.h>
#include <string.h>

#define RARELY(condition) __builtin_expect(condition, 0)
#define ALWAYS_INLINE	  static inline __attribute__((always_inline))

enum {
	CELLS = 64,
	PORTS = 64,
	READY = 2 * PORTS,
	AHEAD = 4, // switches, of which the last steps of prefetching follow each other
	SPANS = 1024
};

// A switch's times are this far from the base or, until the window ends, little farther.
#define BASE_MOST (INT64_C(1) << (62 - TO_DO_BITS))

struct agenda_cell {
	uint32_t *switches;
	uint32_t n;
	size_t room;
};

// What is due at a switch in a window, sorted.
struct due {
	struct crossbar *crossbar; // NULL: none is to be served
	struct to_do *all;	   // [first, n), then one beyond all times
	uint32_t first, n;
	size_t room;
};

struct agenda {
	unsigned shift;	 // a cell is 2^shift ps
	tb_time_ps base; // times in struct to_do count from here
	uint64_t first;	 // cell: none before it has a switch
	uint64_t filled; // bit a cell, modulo 64: it has switches
	struct agenda_cell cells[CELLS];
	tb_time_ps until; // end of the window
	struct due dues[AHEAD];
	struct due *due;	// of the switch that is served; NULL: none is
	uint64_t comes;		// bit an input: a packet comes to it now
	uint64_t choosing_next; // bit a port: its link is to choose in the next round
	uint32_t next_heads[PORTS], n_next_heads; // packets, likewise
	uint64_t *queued; // bit a slot: its receiver has queues that hold packets, or had
	struct tb_blame_wait *waits; // of this window
	size_t n_waits, waits_room;
	struct tb_blame_wait *sorted;
	size_t sorted_room;
};

bool tb_serve_is_possible(const struct credits *credits)
{
	for (uint32_t k = 0; k < credits->n_kinds; k++)
		if (credits_wire_time(&credits->kinds[k], 1) == 0)
			return false;
	return credits->words == 1 && !credits->setup.instant_links &&
	       !credits->replay.choice.dead_at;
}

int tb_serve_make(struct credits *credits)
{
	credits->agenda = calloc(1, sizeof *credits->agenda);
	if (!credits->agenda)
		return TB_ENOMEM;
	credits->agenda->queued =
		calloc((size_t)credits->first_node / 64 + 1, sizeof(uint64_t));
	if (!credits->agenda->queued)
		return TB_ENOMEM;
	credits->window_ps = TB_TIME_NEVER;
	for (uint32_t k = 0; k < credits->n_kinds; k++)
		credits->window_ps =
			tb_time_earlier(credits->window_ps, credits->kinds[k].latency_ps);
	credits->agenda->shift =
		63u - (unsigned)__builtin_clzll((uint64_t)credits->window_ps);
	return TB_OK;
}

void tb_serve_free(struct credits *credits)
{
	if (!credits->agenda)
		return;
	for (uint32_t i = 0; i < CELLS; i++)
		free(credits->agenda->cells[i].switches);
	for (uint32_t i = 0; i < AHEAD; i++)
		free(credits->agenda->dues[i].all);
	free(credits->agenda->queued);
	free(credits->agenda->waits);
	free(credits->agenda->sorted);
	free(credits->agenda);
}

// Functions that are told whether the network is simple are compiled for either.
static inline struct link_sender *served_at(
	const struct credits *credits, uint32_t slot, bool simple)
{
	const size_t bytes = sizeof(struct link_sender) + sizeof(struct lane);
	if (simple)
		return (void *)(credits->links + slot * bytes);
	return sender_at(credits, slot);
}

// any_heads returns whether packets of any lane wait for a link.
static inline bool any_heads(
	const struct credits *credits, struct link_sender *sender, bool simple)
{
	uint64_t heads = credits_lane(sender, 0)->heads;
	for (uint32_t v = 1; !simple && v < credits->n_vls; v++)
		heads |= credits_lane(sender, v)->heads;
	return heads != 0;
}

static inline bool is_fifo(const struct credits *credits, bool simple)
{
	return !simple && credits->queues_of_vl == 1;
}

// queue_for is the number of an input's queue for a lane and a port.
static inline uint32_t queue_for(
	const struct credits *credits, uint32_t vl, uint32_t port)
{
	return credits->queues_of_vl == 1 ? vl : vl * credits->queues_of_vl + port;
}

static inline struct credit_packet *record_at(
	const struct credits *credits, uint32_t id, bool simple)
{
	if (simple)
		return (struct credit_packet *)(void *)credits->replay.packets + id;
	return credit_packet_at(credits, id);
}

// enter_cell_slowly is the rarer part of enter_cell: a cell beyond the agenda, or without
// room.
static __attribute__((noinline)) void enter_cell_slowly(
	struct credits *credits, uint32_t sw, uint64_t number)
{
	struct agenda *agenda = credits->agenda;
	struct agenda_cell *cell = &agenda->cells[number % CELLS];
	if (number - agenda->first >= CELLS) {
		tb_wheel_put(&credits->replay.wheel, credits->crossbars[sw].next_at,
			EV_SERVE, sw);
		return;
	}
	if (tb_array_grow(&cell->switches, &cell->room, (size_t)cell->n + 1,
		    sizeof *cell->switches) != TB_OK) {
		tb_replay_no_memory(&credits->replay, "the switches to be served");
		return;
	}
	cell->switches[cell->n++] = sw;
	agenda->filled |= UINT64_C(1) << number % CELLS;
}

// enter_cell adds a switch to the cell of the time at which it is to be served next.
static inline void enter_cell(struct credits *credits, struct crossbar *crossbar)
{
	struct agenda *agenda = credits->agenda;
	uint32_t sw = (uint32_t)(crossbar - credits->crossbars);
	uint64_t number = crossbar->cell;
	struct agenda_cell *cell = &agenda->cells[number % CELLS];
	if (RARELY(number - agenda->first >= CELLS || cell->n == cell->room)) {
		enter_cell_slowly(credits, sw, number);
		return;
	}
	cell->switches[cell->n++] = sw;
	agenda->filled |= UINT64_C(1) << number % CELLS;
}

// serve_before has a switch be served at `at`, earlier than it was to be.
static __attribute__((noinline)) void serve_before(
	struct credits *credits, struct crossbar *crossbar, tb_time_ps at)
{
	crossbar->next_at = at;
	uint64_t cell = (uint64_t)at >> credits->agenda->shift;
	if (cell >= crossbar->cell)
		return;
	crossbar->cell = cell;
	enter_cell(credits, crossbar);
}

void tb_serve_soon(struct credits *credits, uint32_t sw)
{
	struct crossbar *crossbar = &credits->crossbars[sw];
	if (crossbar->next_at <= credits->replay.now)
		enter_cell(credits, crossbar);
}

tb_time_ps tb_serve_next(const struct credits *credits)
{
	const struct agenda *agenda = credits->agenda;
	if (!agenda->filled)
		return TB_TIME_NEVER;
	unsigned from = agenda->first % CELLS;
	uint64_t filled = agenda->filled >> from;
	if (from)
		filled |= agenda->filled << (CELLS - from);
	tb_time_ps at = (tb_time_ps)((agenda->first + (unsigned)__builtin_ctzll(filled))
				     << agenda->shift);
	return tb_time_later(at, credits->served_until);
}

// A switch's list of what it is to do has packets that come, by their ports; from PORTS
// on, the times at which links are to look, of which only the last is right; and READY:
// a packet that has come, the first of its queue, is ready.
static inline struct to_do to_do_at(
	const struct agenda *agenda, tb_time_ps at, uint32_t what, uint32_t packet)
{
	return (struct to_do){(uint64_t)(at - agenda->base) << TO_DO_BITS | what, packet};
}

static inline tb_time_ps to_do_time(const struct agenda *agenda, uint64_t key)
{
	return agenda->base + (tb_time_ps)(key >> TO_DO_BITS);
}

// grow_to_do makes room for more that a switch is to do.
static __attribute__((noinline)) bool grow_to_do(
	struct credits *credits, struct crossbar *crossbar)
{
	size_t room = crossbar->to_do_room;
	if (tb_array_grow(&crossbar->to_do, &room, room + 1, sizeof *crossbar->to_do) !=
		TB_OK) {
		tb_replay_no_memory(&credits->replay, "what switches are to do");
		return false;
	}
	crossbar->to_do_room = (uint32_t)room;
	return true;
}

// add_to_do adds to what a switch is to do in a later window, at `at`.
static inline void add_to_do(struct credits *credits, struct crossbar *crossbar,
	tb_time_ps at, uint32_t what, uint32_t packet)
{
	uint32_t n = crossbar->n_to_do;
	if (RARELY(n == crossbar->to_do_room) && !grow_to_do(credits, crossbar))
		return;
	crossbar->to_do[n] = to_do_at(credits->agenda, at, what, packet);
	crossbar->n_to_do = n + 1;
	if (at < crossbar->next_at)
		serve_before(credits, crossbar, at);
}

// due_has_room makes room for `n` at once of what is due.
static bool due_has_room(struct credits *credits, struct due *due, size_t n)
{
	if (n <= due->room ||
		tb_array_grow(&due->all, &due->room, n, sizeof *due->all) == TB_OK)
		return true;
	tb_replay_no_memory(&credits->replay, "what switches are to do");
	return false;
}

// add_due adds what is due at the switch that is served before the window ends.
static __attribute__((noinline)) void add_due(struct credits *credits, struct to_do to_do)
{
	struct due *due = credits->agenda->due;
	if (!due_has_room(credits, due, (size_t)due->n + 2))
		return;
	uint32_t i = due->n++;
	due->all[due->n].key = UINT64_MAX;
	for (; i > due->first && due->all[i - 1].key > to_do.key; i--)
		due->all[i] = due->all[i - 1];
	due->all[i] = to_do;
}

// look_when_due has a link of the switch that is served look at `at`.
static inline void look_when_due(
	struct credits *credits, struct crossbar *crossbar, uint32_t port, tb_time_ps at)
{
	credits->look_at[crossbar->first + port] = at;
	if (at < credits->agenda->until)
		add_due(credits, to_do_at(credits->agenda, at, PORTS + port, 0));
	else
		add_to_do(credits, crossbar, at, PORTS + port, 0);
}

// ready_when_due: a packet, the first of its queue, is ready later than now.
static void ready_when_due(struct credits *credits, struct crossbar *crossbar,
	const struct credit_packet *packet)
{
	tb_time_ps at = packet->ready_at;
	if (at < credits->agenda->until)
		add_due(credits, to_do_at(credits->agenda, at, READY, packet->of.id));
	else
		add_to_do(credits, crossbar, at, READY, packet->of.id);
}

void tb_serve_look(struct credits *credits, uint32_t slot, tb_time_ps at)
{
	const struct link_sender *sender = sender_at(credits, slot);
	struct crossbar *crossbar = &credits->crossbars[sender->sw];
	if (credits->look_at[slot] <= at) // and see
		return;
	if (credits->agenda->due && credits->agenda->due->crossbar == crossbar) {
		look_when_due(credits, crossbar, sender->port, at);
		return;
	}
	credits->look_at[slot] = at;
	add_to_do(credits, crossbar, at, PORTS + sender->port, 0);
}

// Packets come.

// serve_route gives a packet that has come its route.
static inline void serve_route(struct credits *credits, const struct receiver *receiver,
	struct credit_packet *packet)
{
	if (credits->setup.by_digits)
		packet->route = route_by_digits(credits, receiver->port, packet);
	else
		packet->route = credit_route(credits, receiver->sw, packet);
}

// serve_reach is tb_serve_reach.
ALWAYS_INLINE void serve_reach(struct credits *credits, struct credit_packet *packet,
	uint32_t slot, tb_time_ps at, const bool simple)
{
	const struct link_sender *reverse = served_at(credits, slot, simple);
	if (!simple && credits->setup.store_and_forward)
		at += credits_wire_time(
			credits_link_kind(credits, sender_at(credits, reverse->peer)),
			packet->of.wire_bytes);
	packet->at = slot;
	packet->ready_at = at;
	add_to_do(credits, &credits->crossbars[reverse->sw], at, reverse->port,
		packet->of.id);
}

void tb_serve_reach(struct credits *credits, struct credit_packet *packet, uint32_t slot,
	tb_time_ps header_at)
{
	serve_reach(credits, packet, slot, header_at, false);
}

// serve_carry has a packet that a link has taken begin to cross it.
ALWAYS_INLINE void serve_carry(struct credits *credits, struct link_sender *sender,
	struct credit_packet *packet, tb_time_ps latency_ps, const bool simple)
{
	struct tb_replay *replay = &credits->replay;
	uint32_t peer = sender->peer;
	if (RARELY(sender->crosses_parts)) {
		tb_crossing_carry(credits, sender, packet);
		return;
	}
	tb_records_burst(&replay->records, cell_at(credits, peer), replay->now,
		sender->free_at, packet->of.wire_bytes, true);
	if (!simple && credits->setup.notes_paths)
		tb_crossing_note_path(credits, sender, packet);
	packet->of.n_hops++;
	if (is_node(credits, peer)) {
		packet->at = peer;
		tb_wheel_put(&replay->wheel, sender->free_at + latency_ps, EV_IN,
			packet->of.id);
		return;
	}
	serve_reach(credits, packet, peer, replay->now + latency_ps, simple);
}

// serve_occupy makes a packet, of so many blocks, the one that crosses a link from now
// on.
static inline void serve_occupy(const struct credits *credits, struct link_sender *sender,
	const struct link_kind_row *kind, const struct credit_packet *packet,
	uint32_t blocks, const bool simple)
{
	sender->free_at =
		credits->replay.now + credits_wire_time(kind, packet->of.wire_bytes);
	sender->flow = packet->of.flow;
	sender->order = packet->of.order;
	if (simple || !credits->setup.pauses)
		credits_lane(sender, simple ? 0 : packet->vl)->credits -= (int32_t)blocks;
}

void tb_serve_inject(struct credits *credits, uint32_t node, uint32_t id)
{
	struct credit_packet *packet = record_at(credits, id, false);
	struct link_sender *sender = sender_at(credits, credits->first_node + node);
	const struct link_kind_row *kind = credits_link_kind(credits, sender);
	tb_time_ps from =
		tb_time_later(credits->replay.nics[node].fetched_at, sender->free_at);
	packet->vl = (uint8_t)vl_of(credits, &packet->of);
	packet->wait_ps = 0;
	packet->queued = packet->corrupted = packet->marked = false;
	if (from < credits->replay.now)
		tb_credits_stalled(credits, sender, from, credits->replay.now);
	serve_occupy(
		credits, sender, kind, packet, blocks_of(packet->of.wire_bytes), false);
	serve_carry(credits, sender, packet, kind->latency_ps, false);
}

tb_time_ps tb_serve_injects_at(const struct credits *credits, uint32_t node, uint32_t id)
{
	const struct tb_packet *packet = &record_at(credits, id, false)->of;
	struct link_sender *sender = sender_at(credits, credits->first_node + node);
	struct lane *lane = credits_lane(sender, vl_of(credits, packet));
	int32_t need = lane_needs(credits, packet->wire_bytes);
	tb_time_ps known_at = credits->replay.now;
	lane->lacks = 0;
	if (lane->credits < need || credits->setup.pauses)
		known_at = tb_lanes_enough_at(credits, lane, need);
	return known_at > sender->free_at ? known_at : sender->free_at;
}

// Credits.

// serve_settle adds what was known before now to the credits of a lane.
static inline void serve_settle(struct lane *lane, tb_time_ps now)
{
	uint32_t n = lane->n;
	if (n == 0)
		return;
	uint32_t first = lane->first & lane->mask;
	const struct update *update = &lane->updates[first];
	if (update->known_at >= now)
		return;
	do {
		lane->credits += (int32_t)update->blocks;
		first = (first + 1) & lane->mask;
		update = &lane->updates[first];
	} while (--n && update->known_at < now);
	lane->first = first;
	lane->n = n;
}

// serve_put_off is tb_lanes_put_off.
static inline void serve_put_off(struct credits *credits, uint32_t slot,
	struct link_sender *sender, tb_time_ps latency_ps)
{
	if (RARELY(sender->crosses_parts) || credits->n_vls > 1) {
		tb_lanes_put_off(credits, slot);
		return;
	}
	tb_time_ps now = credits->replay.now;
	tb_time_ps known_at = sender->free_at + latency_ps;
	const struct lane *lane = credits_lane(sender_at(credits, sender->peer), 0);
	uint32_t i = lane->n;
	for (; i > 0; i--) {
		struct update *update = update_at(lane, i - 1);
		if (update->freed_at <= now)
			break;
		if (update->known_at < known_at)
			update->known_at = known_at;
	}
	sender->has_pending = i < lane->n;
}

// push_update: an update whose address is taken is kept out of the way of those that are
// only appended.
static __attribute__((noinline)) void push_update(
	struct credits *credits, uint32_t slot, uint32_t vl, struct update update)
{
	tb_lanes_push(credits, slot, vl, &update);
}

// serve_send_credits puts the `blocks` that a packet frees, which has begun to leave by a
// link, into the ring of the sender before the switch, as lanes_return does.
ALWAYS_INLINE void serve_send_credits(struct credits *credits,
	const struct link_sender *sender, const struct receiver *receiver,
	struct link_sender *reverse, uint32_t blocks, tb_time_ps latency_ps,
	const bool simple)
{
	tb_time_ps freed_at = sender->free_at, crosses_at = freed_at;
	if (crosses_at < reverse->free_at)
		crosses_at = reverse->free_at;
	if (!simple && reverse->kind != sender->kind)
		latency_ps = credits_link_kind(credits, reverse)->latency_ps;
	tb_time_ps known_at = crosses_at + latency_ps;
	uint32_t root = sender->root == NOTHING ? receiver->link : sender->root;
	uint32_t vl = simple ? 0 : sender->vl;
	struct lane *lane = credits_lane(served_at(credits, reverse->peer, simple), vl);
	reverse->has_pending = true;
	if (lane->n > lane->mask)
		serve_settle(lane, credits->served_until);
	uint32_t n = lane->n;
	if (RARELY(freed_at <= lane->freed_at || n > lane->mask || lane->lacks > 0)) {
		push_update(credits, reverse->peer, vl,
			(struct update){.freed_at = freed_at,
				.known_at = known_at,
				.order = sender->order,
				.flow = sender->flow,
				.root = root,
				.blocks = blocks});
		return;
	}
	lane->n = n + 1;
	lane->freed_at = freed_at;
	struct update *update = update_at(lane, n);
	update->freed_at = freed_at;
	update->known_at = known_at;
	update->order = sender->order;
	update->flow = sender->flow;
	update->root = root;
	update->blocks = blocks;
}

// Crossbars. When a link has carried a packet and no other waits for it, nobody need know
// at once that the packet's input may send another: it is seen to when the link takes its
// next packet, or by catch_up. But where an input has S packets in the crossbar, all
// their links look when they have carried them.

// ports_of_heads returns to which ports the first packets of an input's queues lead.
static uint64_t ports_of_heads(const struct credits *credits,
	const struct crossbar *crossbar, struct receiver *receiver)
{
	uint64_t ports = 0;
	if (!is_fifo(credits, false))
		return receiver->used_queues;
	for (uint64_t used = receiver->used_queues; used; used &= used - 1) {
		uint32_t id =
			short_queue_in(receiver, (uint32_t)__builtin_ctzll(used))->first;
		ports |= UINT64_C(1)
			 << (record_at(credits, id, false)->route - crossbar->first);
	}
	return ports;
}

// free_heads returns the links that no packet crosses, of those that packets which came
// by an input wait for.
static uint64_t free_heads(const struct credits *credits, const struct crossbar *crossbar,
	struct receiver *receiver)
{
	uint64_t ports = 0;
	for (uint64_t used = ports_of_heads(credits, crossbar, receiver); used;
		used &= used - 1) {
		uint32_t port = (uint32_t)__builtin_ctzll(used);
		if (!is_busy(credits, sender_at(credits, crossbar->first + port)))
			ports |= UINT64_C(1) << port;
	}
	return ports;
}

// serve_leave: a packet that came by an input has crossed its next link, by free_at.
static inline void serve_leave(struct credits *credits, struct crossbar *crossbar,
	struct link_sender *sender, struct receiver *receiver)
{
	tb_time_ps now = credits->replay.now;
	// Only who begins now asks for the packet that has just stopped.
	if (sender->free_at == now &&
		(receiver->stopped_at < now || sender->port < receiver->stopped_port)) {
		receiver->stopped_at = now;
		receiver->stopped_port = sender->port;
		receiver->stopped_flow = sender->flow;
		receiver->stopped_root =
			sender->root == NOTHING ? sender->link : sender->root;
	}
	sender->bytes = 0;
	receiver->crossing &= ~(UINT64_C(1) << sender->port % PORTS);
	if (RARELY(receiver->n_crossing-- == credits->speedup)) {
		crossbar->limited &= ~(UINT64_C(1) << receiver->port % PORTS);
		crossbar->choosing |= free_heads(credits, crossbar, receiver);
	}
}

// catch_up: what came by an input and has crossed its next link has left the crossbar.
static __attribute__((noinline)) void catch_up(
	struct credits *credits, struct crossbar *crossbar, struct receiver *receiver)
{
	for (uint64_t ports = receiver->crossing; ports; ports &= ports - 1) {
		uint32_t port = (uint32_t)__builtin_ctzll(ports);
		struct link_sender *sender = sender_at(credits, crossbar->first + port);
		if (!is_busy(credits, sender))
			serve_leave(credits, crossbar, sender, receiver);
	}
}

// Waits.

static void log_wait(struct credits *credits, const struct tb_blame_wait *wait)
{
	struct agenda *agenda = credits->agenda;
	if (TB_ARRAY_RESERVE(&agenda->waits, &agenda->waits_room, agenda->n_waits + 1) !=
		TB_OK)
		tb_replay_no_memory(&credits->replay, "the waits of a window");
	else
		agenda->waits[agenda->n_waits++] = *wait;
}

uint32_t tb_serve_waiting(
	const struct credits *credits, const struct short_queue *queue, tb_time_ps until)
{
	if (credits->setup.equal_rates)
		return queue->bytes;
	uint32_t bytes = 0;
	for (uint32_t id = queue->first; id != NOTHING;
		id = record_at(credits, id, false)->next)
		if (record_at(credits, id, false)->ready_at < until)
			bytes += record_at(credits, id, false)->of.wire_bytes;
	return bytes;
}

// serve_end_wait is tb_credits_end_wait: a packet that waited, the first of its queue,
// begins to cross a link. Returns the root of its wait.
static inline uint32_t serve_end_wait(struct credits *credits, struct crossbar *crossbar,
	const struct link_sender *sender, struct receiver *receiver,
	const struct short_queue *queue, const struct credit_packet *packet,
	const struct update *by)
{
	struct tb_records *records = &credits->replay.records;
	tb_time_ps now = credits->replay.now, from = packet->ready_at;
	uint32_t culprit = packet->of.flow, root = sender->link;
	const struct queue_left *left =
		RARELY(credits->left != NULL)
			? &credits->left[packet->at * credits->n_vls + packet->vl]
			: NULL;
	bool asks = !by && sender->free_at != now;
	bool left_now = asks && left && left->at == now;
	asks = asks && !left_now && credits->speedup != ANY_NUMBER;
	if (asks)
		catch_up(credits, crossbar, receiver);
	if (by) {
		culprit = by->flow;
		root = by->root;
	} else if (left_now) {
		culprit = left->flow;
		root = left->root;
	} else if (asks && receiver->stopped_at == now) {
		culprit = receiver->stopped_flow;
		root = receiver->stopped_root;
	} else if (sender->flow != NOTHING) {
		culprit = sender->flow;
		root = sender->by_credit ? sender->root : sender->link;
	}
	struct tb_cell *cell = sender_cell(credits, sender);
	if (from >= records->bin_start)
		cell->n_blocked++;
	else
		from = records->bin_start;
	tb_records_wait_by(records, cell_at(credits, packet->at), now - from);
	tb_records_wait_for(records, cell, now - from);
	tb_records_longest(cell, now - packet->ready_at);
	// A packet that comes now does not wait yet.
	uint32_t bytes = queue->bytes;
	if (RARELY(!credits->setup.equal_rates))
		bytes = tb_serve_waiting(credits, queue, now);
	else if (RARELY(credits->agenda->comes >> receiver->port % PORTS & 1)) {
		const struct credit_packet *last = record_at(credits, queue->last, false);
		if (last->ready_at == now)
			bytes -= last->of.wire_bytes;
	}
	if (now > from)
		tb_records_queue(records, cell, bytes);
	if (records->blame || records->keeps_waits) {
		const struct tb_blame_wait wait = {receiver->link, root, packet->of.flow,
			culprit, packet->ready_at, now};
		log_wait(credits, &wait);
	}
	return root;
}

static void enter_wait(struct tb_records *records, const struct tb_blame_wait *wait)
{
	tb_records_blame(records, wait->link, wait->root, wait->victim, wait->culprit,
		wait->to - wait->from, wait->to);
}

// sort_waits sorts the waits of a window by their ends, by counting how many end in each
// of as many spans.
static bool sort_waits(struct agenda *agenda)
{
	uint32_t ends[SPANS + 1] = {0};
	size_t n = agenda->n_waits;
	const struct tb_blame_wait *waits = agenda->waits;
	if (TB_ARRAY_RESERVE(&agenda->sorted, &agenda->sorted_room, n) != TB_OK)
		return false;
	tb_time_ps first = waits[0].to, last = first;
	for (size_t i = 1; i < n; i++) {
		first = tb_time_earlier(first, waits[i].to);
		last = tb_time_later(last, waits[i].to);
	}
	unsigned shift = 0;
	while ((last - first) >> shift >= SPANS || (size_t)((last - first) >> shift) > n)
		shift++;
	uint32_t n_spans = (uint32_t)((last - first) >> shift) + 1;
	for (size_t i = 0; i < n; i++)
		ends[((waits[i].to - first) >> shift) + 1]++;
	for (uint32_t i = 1; i < n_spans; i++)
		ends[i] += ends[i - 1];
	struct tb_blame_wait *sorted = agenda->sorted;
	for (size_t i = 0; i < n; i++)
		sorted[ends[(waits[i].to - first) >> shift]++] = waits[i];
	for (size_t i = 1; i < n; i++) {
		if (sorted[i].to >= sorted[i - 1].to)
			continue;
		struct tb_blame_wait wait = sorted[i];
		size_t at = i;
		for (; at > 0 && sorted[at - 1].to > wait.to; at--)
			sorted[at] = sorted[at - 1];
		sorted[at] = wait;
	}
	agenda->sorted = agenda->waits;
	agenda->waits = sorted;
	size_t room = agenda->waits_room;
	agenda->waits_room = agenda->sorted_room;
	agenda->sorted_room = room;
	return true;
}

// enter_waits enters the waits of a window, in the order in which they ended, unless
// these end no batch.
static void enter_waits(struct credits *credits)
{
	struct agenda *agenda = credits->agenda;
	struct tb_records *records = &credits->replay.records;
	const struct tb_blame_table *blame = records->blame;
	size_t n = agenda->n_waits;
	if (n == 0)
		return;
	if ((!blame || blame->n_in_batch + n > blame->batch) && !sort_waits(agenda))
		tb_replay_no_memory(&credits->replay, "the waits of a window");
	for (size_t i = 0; i < n; i++)
		enter_wait(records, &agenda->waits[i]);
	agenda->n_waits = 0;
}

// A switch.

// look_at_end has a link look when it has carried its packet.
static inline void look_at_end(struct credits *credits, struct crossbar *crossbar,
	const struct link_sender *sender)
{
	if (credits->look_at[crossbar->first + sender->port] > sender->free_at)
		look_when_due(credits, crossbar, sender->port, sender->free_at);
}

// serve_head: a packet is the first of its queue, and ready.
static inline void serve_head(struct credits *credits, struct crossbar *crossbar,
	const struct receiver *receiver, const struct credit_packet *packet)
{
	struct link_sender *sender = sender_at(credits, packet->route);
	bool busy = is_busy(credits, sender);
	if (!busy && !any_heads(credits, sender, false))
		sender->stalled_since = credits->replay.now;
	credits_lane(sender, packet->vl)->heads |= UINT64_C(1) << receiver->port % PORTS;
	if (busy)
		look_at_end(credits, crossbar, sender);
	else
		crossbar->choosing |= UINT64_C(1) << sender->port % PORTS;
}

// serve_limit: an input has S packets in the crossbar with that which begins to leave by
// `port`. Links that wait for credits for its packets may take others: in this round
// those whose turn is after that, else in the next one.
static __attribute__((noinline)) void serve_limit(struct credits *credits,
	struct crossbar *crossbar, struct receiver *receiver, uint32_t port)
{
	uint32_t n = crossbar->n_ports;
	uint32_t present = (port + n - crossbar->began_with) % n;
	for (uint64_t ports = receiver->crossing; ports; ports &= ports - 1) {
		uint32_t other = (uint32_t)__builtin_ctzll(ports);
		look_at_end(
			credits, crossbar, sender_at(credits, crossbar->first + other));
	}
	crossbar->limited |= UINT64_C(1) << receiver->port % PORTS;
	for (uint64_t ports = free_heads(credits, crossbar, receiver); ports;
		ports &= ports - 1) {
		uint32_t other = (uint32_t)__builtin_ctzll(ports);
		uint32_t place = (other + n - crossbar->began_with) % n;
		if (place > present)
			crossbar->choosing |= UINT64_C(1) << other;
		else if (place < present)
			credits->agenda->choosing_next |= UINT64_C(1) << other;
	}
}

// serve_cross has a packet that came through a receiver, and is in no queue any more,
// begin to cross a link.
ALWAYS_INLINE void serve_cross(struct credits *credits, struct crossbar *crossbar,
	struct link_sender *sender, struct receiver *receiver,
	struct credit_packet *packet, const bool simple)
{
	uint32_t from = packet->at, port = sender->port;
	struct link_sender *reverse = served_at(credits, from, simple);
	const struct link_kind_row kind =
		simple ? credits->common : *credits_link_kind(credits, sender);
	uint32_t blocks = blocks_of(packet->of.wire_bytes);
	sender->bytes = packet->of.wire_bytes;
	sender->from = from;
	if (!simple)
		sender->vl = packet->vl;
	serve_occupy(credits, sender, &kind, packet, blocks, simple);
	credits_lane(sender, simple ? 0 : packet->vl)->turn =
		(uint16_t)(receiver->port + 1u);
	if (!simple && credits->setup.counts_waiting)
		tb_crossing_uncount(credits, crossbar->first + port, packet);
	if (++crossbar->n_begun == crossbar->n_ports)
		crossbar->n_begun = 0;
	if (receiver->n_crossing + 1 == credits->speedup)
		catch_up(credits, crossbar, receiver);
	receiver->crossing |= UINT64_C(1) << port % PORTS;
	if (++receiver->n_crossing == credits->speedup)
		serve_limit(credits, crossbar, receiver, port);
	if (sender->has_pending)
		serve_put_off(credits, crossbar->first + port, sender, kind.latency_ps);
	bool is_early = simple || credits->setup.early_credits;
	if (RARELY(reverse->crosses_parts) && is_early)
		tb_crossing_give_back(credits, sender);
	else if (is_early)
		serve_send_credits(credits, sender, receiver, reverse, blocks,
			kind.latency_ps, simple);
	if (!is_early || any_heads(credits, sender, simple))
		look_at_end(credits, crossbar, sender);
	serve_carry(credits, sender, packet, kind.latency_ps, simple);
}

// serve_fifo has a packet that was the first of its input's only queue of a lane begin to
// cross a link. The next one takes its place when it is ready: in a further round of this
// instant if the crossbar has room for it (rule C7).
static __attribute__((noinline)) void serve_fifo(struct credits *credits,
	struct crossbar *crossbar, struct link_sender *sender, struct receiver *receiver,
	struct credit_packet *packet)
{
	uint32_t vl = packet->vl, id = packet->next;
	credits->left[packet->at * credits->n_vls + vl] =
		(struct queue_left){.at = credits->replay.now,
			.flow = packet->of.flow,
			.root = sender->root == NOTHING ? sender->link : sender->root};
	credits_lane(sender, vl)->heads &= ~(UINT64_C(1) << receiver->port % PORTS);
	if (id == NOTHING)
		receiver->used_queues &= ~(UINT64_C(1) << vl);
	serve_cross(credits, crossbar, sender, receiver, packet, false);
	if (id == NOTHING)
		return;
	const struct credit_packet *next = record_at(credits, id, false);
	if (next->ready_at > credits->replay.now)
		ready_when_due(credits, crossbar, next);
	else if (receiver->n_crossing < credits->speedup)
		credits->agenda->next_heads[credits->agenda->n_next_heads++] = id;
	else
		serve_head(credits, crossbar, receiver, next);
}

// serve_first has a packet, the first of a queue, begin to cross a link.
ALWAYS_INLINE void serve_first(struct credits *credits, struct crossbar *crossbar,
	struct link_sender *sender, struct credit_packet *packet, const struct update *by,
	const bool simple)
{
	struct receiver *receiver = receiver_at(credits, packet->at);
	uint32_t vl = simple ? 0 : packet->vl;
	struct short_queue *queue = short_queue_in(
		receiver, simple ? sender->port : queue_for(credits, vl, sender->port));
	tb_time_ps now = credits->replay.now;
	uint32_t root = NOTHING;
	bool waited = packet->ready_at < now;
	if (sender->bytes)
		serve_leave(
			credits, crossbar, sender, receiver_at(credits, sender->from));
	if (waited) {
		root = serve_end_wait(
			credits, crossbar, sender, receiver, queue, packet, by);
		packet->wait_ps += now - packet->ready_at;
	}
	sender->root = root;
	sender->by_credit = waited && by;
	if (sender->stalled_since < now)
		tb_credits_stalled(credits, sender, sender->stalled_since, now);
	sender->stalled_since = TB_TIME_NEVER;
	queue->bytes -= packet->of.wire_bytes;
	queue->first = packet->next;
	if (is_fifo(credits, simple)) {
		serve_fifo(credits, crossbar, sender, receiver, packet);
		return;
	}
	if (queue->first == NOTHING) {
		bool others = false;
		for (uint32_t v = 0; !simple && v < credits->n_vls; v++)
			others |= short_queue_in(
					  receiver, queue_for(credits, v, sender->port))
					  ->first != NOTHING;
		if (!others)
			receiver->used_queues &= ~(UINT64_C(1) << sender->port % PORTS);
		credits_lane(sender, vl)->heads &=
			~(UINT64_C(1) << receiver->port % PORTS);
	} else if (!simple && record_at(credits, queue->first, false)->ready_at > now) {
		credits_lane(sender, vl)->heads &=
			~(UINT64_C(1) << receiver->port % PORTS);
		ready_when_due(
			credits, crossbar, record_at(credits, queue->first, false));
	}
	serve_cross(credits, crossbar, sender, receiver, packet, simple);
}

static __attribute__((noinline)) void serve_begin(struct credits *credits,
	struct crossbar *crossbar, struct link_sender *sender,
	struct credit_packet *packet, const struct update *by)
{
	if (credits->setup.simple)
		serve_first(credits, crossbar, sender, packet, by, true);
	else
		serve_first(credits, crossbar, sender, packet, by, false);
}

// choose_when_known lets a link take a packet if the updates of this instant give it
// enough credits; if not, the link looks again when it has them.
static __attribute__((noinline)) void choose_when_known(struct credits *credits,
	struct crossbar *crossbar, struct link_sender *sender,
	struct credit_packet *packet)
{
	struct lane *lane = credits_lane(sender, 0);
	int32_t need = lane_needs(credits, packet->of.wire_bytes);
	const struct update *by;
	if (lane_has(credits, lane, need, &by))
		serve_begin(credits, crossbar, sender, packet, by);
	else
		tb_lanes_wait(credits, packet->route, lane, need);
}

// candidate_of_lane returns the packet that is next in turn for a link and lane; NULL
// when none is a candidate.
static inline struct credit_packet *candidate_of_lane(const struct credits *credits,
	const struct crossbar *crossbar, struct link_sender *sender, uint32_t vl)
{
	const struct lane *lane = credits_lane(sender, vl);
	uint64_t candidates = lane->heads & ~crossbar->limited;
	if (candidates == 0)
		return NULL;
	uint32_t from = crossbar->first + queue_in_turn(candidates, lane->turn);
	uint32_t queue = queue_for(credits, vl, sender->port);
	return record_at(
		credits, short_queue_in(receiver_at(credits, from), queue)->first, false);
}

// choose_lane lets a link that is free take a packet of one of several lanes.
static __attribute__((noinline)) void choose_lane(
	struct credits *credits, struct crossbar *crossbar, struct link_sender *sender)
{
	struct credit_packet *packets[TB_VLS_MOST];
	const struct update *bys[TB_VLS_MOST];
	uint32_t can = 0, slot = crossbar->first + sender->port;
	for (uint32_t vl = 0; vl < credits->n_vls; vl++) {
		packets[vl] = candidate_of_lane(credits, crossbar, sender, vl);
		if (packets[vl] &&
			lane_has(credits, credits_lane(sender, vl),
				lane_needs(credits, packets[vl]->of.wire_bytes),
				&bys[vl]))
			can |= 1u << vl;
	}
	uint32_t taken = can ? tb_arbiter_take(credits, slot, can, packets) : NOTHING;
	if (taken != NOTHING) {
		serve_begin(credits, crossbar, sender, packets[taken], bys[taken]);
		return;
	}
	for (uint32_t vl = 0; vl < credits->n_vls; vl++)
		if (packets[vl] && !(can >> vl & 1))
			tb_lanes_wait(credits, slot, credits_lane(sender, vl),
				lane_needs(credits, packets[vl]->of.wire_bytes));
}

// serve_choose lets a link take a packet. It adds the updates that have arrived to the
// lane's credits only if these do not suffice.
ALWAYS_INLINE void serve_choose(
	struct credits *credits, struct crossbar *crossbar, uint32_t port)
{
	struct link_sender *sender = sender_at(credits, crossbar->first + port);
	if (is_busy(credits, sender))
		return;
	if (RARELY(credits->n_vls > 1)) {
		choose_lane(credits, crossbar, sender);
		return;
	}
	struct lane *lane = credits_lane(sender, 0);
	struct credit_packet *packet = candidate_of_lane(credits, crossbar, sender, 0);
	if (!packet)
		return;
	int32_t need = (int32_t)blocks_of(packet->of.wire_bytes);
	if (lane->credits < need && !credits->setup.pauses)
		serve_settle(lane, credits->replay.now);
	if (RARELY(lane->credits < need || credits->setup.pauses))
		choose_when_known(credits, crossbar, sender, packet);
	else
		serve_begin(credits, crossbar, sender, packet, NULL);
}

static inline void serve_ports(
	struct credits *credits, struct crossbar *crossbar, uint64_t ports)
{
	uint64_t choosing;
	while ((choosing = crossbar->choosing & ports) != 0) {
		crossbar->choosing &= ~(choosing & -choosing);
		serve_choose(credits, crossbar, (uint32_t)__builtin_ctzll(choosing));
	}
}

// serve_look: a link has carried its packet, or looks for credits, unless it was to look
// at another time.
static inline void serve_look(
	struct credits *credits, struct crossbar *crossbar, uint32_t port)
{
	struct link_sender *sender = sender_at(credits, crossbar->first + port);
	tb_time_ps now = credits->replay.now;
	if (credits->look_at[crossbar->first + port] != now)
		return;
	credits->look_at[crossbar->first + port] = TB_TIME_NEVER;
	for (uint32_t v = 0; v < credits->n_vls; v++)
		credits_lane(sender, v)->choose_at = TB_TIME_NEVER;
	if (sender->free_at > now) { // it has taken a packet since it was to look
		look_when_due(credits, crossbar, port, sender->free_at);
		return;
	}
	if (any_heads(credits, sender, false)) {
		crossbar->choosing |= UINT64_C(1) << port;
		if (sender->free_at == now)
			sender->stalled_since = now;
	}
	if (!sender->bytes)
		return;
	if (!credits->setup.early_credits)
		tb_crossing_give_back(credits, sender);
	serve_leave(credits, crossbar, sender, receiver_at(credits, sender->from));
}

// serve_come: a packet has come by an input, and joins its queue.
static __attribute__((noinline)) void serve_come(struct credits *credits,
	struct crossbar *crossbar, struct receiver *receiver,
	struct credit_packet *packet)
{
	uint32_t to = packet->route - crossbar->first;
	struct short_queue *queue =
		short_queue_in(receiver, queue_for(credits, packet->vl, to));
	packet->next = NOTHING;
	queue->bytes += packet->of.wire_bytes;
	if (queue->first != NOTHING) {
		record_at(credits, queue->last, false)->next = packet->of.id;
		queue->last = packet->of.id;
		return;
	}
	queue->first = queue->last = packet->of.id;
	receiver->used_queues |= UINT64_C(1)
				 << (is_fifo(credits, false) ? packet->vl : to);
	set_bit(credits->agenda->queued, packet->at);
	if (packet->ready_at <= credits->replay.now)
		serve_head(credits, crossbar, receiver, packet);
	else
		ready_when_due(credits, crossbar, packet);
}

// serve_through: a packet has come to a switch at which nothing else happens now. It goes
// on at once if it can; returns whether it does.
ALWAYS_INLINE bool serve_through(struct credits *credits, struct crossbar *crossbar,
	struct receiver *receiver, struct credit_packet *packet, const bool simple)
{
	struct link_sender *sender = served_at(credits, packet->route, simple);
	struct lane *lane = credits_lane(sender, 0);
	int32_t need = simple ? (int32_t)blocks_of(packet->of.wire_bytes)
			      : lane_needs(credits, packet->of.wire_bytes);
	const struct update *by;
	if ((!simple && (credits->n_vls > 1 || credits->queues_of_vl == 1)) ||
		is_busy(credits, sender) || lane->heads ||
		crossbar->limited >> receiver->port % PORTS & 1)
		return false;
	if (!simple && credits->setup.pauses) {
		if (!lane_has(credits, lane, need, &by))
			return false;
	} else if (lane->credits < need) {
		serve_settle(lane, credits->replay.now);
		if (lane->credits < need)
			return false;
	}
	if (sender->bytes)
		serve_leave(
			credits, crossbar, sender, receiver_at(credits, sender->from));
	sender->root = NOTHING;
	sender->by_credit = false;
	serve_cross(credits, crossbar, sender, receiver, packet, simple);
	return true;
}

// find_due finds what is due at a switch of a cell before the window ends, if it is to be
// served. Until it is, what others hand on to it is for later windows.
static inline void find_due(struct credits *credits, struct due *due,
	struct crossbar *crossbar, uint64_t number)
{
	tb_time_ps until = credits->agenda->until;
	if (crossbar->cell != number || crossbar->next_at >= until)
		return;
	uint32_t n = crossbar->n_to_do, n_due = 0, n_left = 0;
	if (!due_has_room(credits, due, (size_t)n + 1))
		return;
	struct to_do *all = due->all, *to_do = crossbar->to_do;
	uint64_t end = to_do_at(credits->agenda, until, 0, 0).key, next = UINT64_MAX;
	for (uint32_t i = 0; i < n; i++) {
		const struct to_do one = to_do[i];
		if (one.key < end) {
			uint32_t k = n_due++;
			for (; k > 0 && all[k - 1].key > one.key; k--)
				all[k] = all[k - 1];
			all[k] = one;
		} else {
			next = one.key < next ? one.key : next;
			to_do[n_left++] = one;
		}
	}
	all[n_due].key = UINT64_MAX;
	due->crossbar = crossbar;
	due->first = 0;
	due->n = n_due;
	crossbar->n_to_do = n_left;
	crossbar->next_at = n_left ? to_do_time(credits->agenda, next) : TB_TIME_NEVER;
	crossbar->cell = 0; // who hands on need not enter it into one
}

// Prefetching: each step reads what the one before it has fetched, for the switch that it
// was made for. Nothing here changes any state. The empty asm keeps gcc 12 from taking a
// function that does nothing but fetch for one without effect.
static inline void serve_fetch(const void *at)
{
	__builtin_prefetch(at, 0, 3);
	__asm__ volatile("");
}

// fetch_switches fetches switches of a list that are to be looked at soon, and then what
// they are to do.
static inline void fetch_switches(
	const struct credits *credits, const uint32_t *switches, uint32_t i, uint32_t n)
{
	if (i + 6 < n)
		serve_fetch(&credits->crossbars[switches[i + 6]]);
	if (i + 3 >= n)
		return;
	const struct crossbar *crossbar = &credits->crossbars[switches[i + 3]];
	for (uint32_t k = 0; k < crossbar->n_to_do; k += 4)
		serve_fetch(crossbar->to_do + k);
}

// fetch_first fetches the ports of a switch at which something is due.
static inline void fetch_first(const struct credits *credits, const struct due *due)
{
	for (uint32_t i = 0; due->crossbar && i < due->n; i++) {
		uint32_t what = due->all[i].key % (1 << TO_DO_BITS);
		uint32_t slot = due->crossbar->first + what % PORTS;
		if (what >= READY)
			continue;
		if (what < PORTS) {
			serve_fetch(record_at(credits, due->all[i].packet, false));
			serve_fetch(receiver_at(credits, slot));
			serve_fetch(sender_at(credits, slot));
		} else {
			serve_fetch(sender_at(credits, slot));
			serve_fetch(lane_at(credits, slot, 0));
		}
	}
}

// fetch_second fetches the links that packets are to take, and what is behind links that
// look.
static inline void fetch_second(struct credits *credits, const struct due *due)
{
	for (uint32_t i = 0; due->crossbar && i < due->n; i++) {
		uint32_t what = due->all[i].key % (1 << TO_DO_BITS);
		uint32_t first = due->crossbar->first, port = what % PORTS;
		if (what >= READY || (what < PORTS && credits->setup.late_routes))
			continue;
		if (what < PORTS) {
			struct credit_packet *packet =
				record_at(credits, due->all[i].packet, false);
			serve_route(credits, receiver_at(credits, first + port), packet);
			serve_fetch(sender_at(credits, packet->route));
			serve_fetch(lane_at(credits, packet->route, 0));
			continue;
		}
		const struct link_sender *sender = sender_at(credits, first + port);
		const struct lane *lane = lane_at(credits, first + port, 0);
		if (!lane->heads)
			continue;
		uint32_t from = first + queue_in_turn(lane->heads, lane->turn);
		serve_fetch(cell_at(credits, sender->peer));
		serve_fetch(receiver_at(credits, from));
		serve_fetch(short_queue_in(
			receiver_at(credits, from), queue_for(credits, 0, port)));
		serve_fetch(cell_at(credits, from));
		serve_fetch(sender_at(credits, from));
	}
}

// fetch_back fetches where the credits go that a packet frees.
static inline void fetch_back(const struct credits *credits, uint32_t slot)
{
	const struct link_sender *reverse = sender_at(credits, slot);
	if (reverse->crosses_parts)
		return;
	serve_fetch(lane_at(credits, reverse->peer, 0));
	serve_fetch(&credits->updates[(size_t)reverse->peer * credits->n_vls *
				      FIRST_UPDATES]);
	serve_fetch(
		&credits->updates[(size_t)reverse->peer * credits->n_vls * FIRST_UPDATES +
				  2]);
}

// fetch_third fetches what is behind the links that packets are to take, the packets that
// links may take, and where the credits go.
static inline void fetch_third(const struct credits *credits, const struct due *due)
{
	for (uint32_t i = 0; due->crossbar && i < due->n; i++) {
		uint32_t what = due->all[i].key % (1 << TO_DO_BITS);
		uint32_t first = due->crossbar->first, port = what % PORTS;
		if (what >= READY)
			continue;
		if (what < PORTS) {
			fetch_back(credits, first + port);
			if (credits->setup.late_routes)
				continue;
			const struct link_sender *sender = sender_at(credits,
				record_at(credits, due->all[i].packet, false)->route);
			serve_fetch(cell_at(credits, sender->peer));
			serve_fetch(sender_at(credits, sender->peer));
			continue;
		}
		const struct lane *lane = lane_at(credits, first + port, 0);
		if (!lane->heads)
			continue;
		uint32_t from = first + queue_in_turn(lane->heads, lane->turn);
		serve_fetch(record_at(credits,
			short_queue_in(
				receiver_at(credits, from), queue_for(credits, 0, port))
				->first,
			false));
		fetch_back(credits, from);
	}
}

// serve_rounds lets the links that are to choose do so, round after round.
static __attribute__((noinline)) void serve_rounds(
	struct credits *credits, struct crossbar *crossbar)
{
	struct agenda *agenda = credits->agenda;
	do {
		serve_ports(credits, crossbar, ~UINT64_C(0) << crossbar->began_with);
		serve_ports(credits, crossbar, ~UINT64_C(0));
		crossbar->choosing = agenda->choosing_next;
		agenda->choosing_next = 0;
		crossbar->began_with = crossbar->n_begun;
		for (uint32_t i = 0; i < agenda->n_next_heads; i++) {
			const struct credit_packet *packet =
				record_at(credits, agenda->next_heads[i], false);
			serve_head(credits, crossbar, receiver_at(credits, packet->at),
				packet);
		}
		agenda->n_next_heads = 0;
	} while (crossbar->choosing);
}

// serve_route_and_store gives a packet that comes its route, and stores it until its last
// byte will have arrived when the next link sends it.
static void serve_route_and_store(struct credits *credits,
	const struct receiver *receiver, struct credit_packet *packet)
{
	if (credits->setup.late_routes)
		tb_routing_choose_one(credits, packet);
	else
		serve_route(credits, receiver, packet);
	if (!credits->setup.equal_rates && !credits->setup.store_and_forward)
		packet->ready_at += tb_crossing_stored_for(credits, packet);
}

// come_in_turn has a packet that comes take its place among those that come in this
// instant, in the order of packets.
static void come_in_turn(
	struct credit_packet **packets, uint32_t n, struct credit_packet *packet)
{
	for (; n > 0 && packets[n - 1]->of.order > packet->of.order; n--)
		packets[n] = packets[n - 1];
	packets[n] = packet;
}

static void serve_ready(struct credits *credits, struct crossbar *crossbar, uint32_t id)
{
	const struct credit_packet *packet = record_at(credits, id, false);
	serve_head(credits, crossbar, receiver_at(credits, packet->at), packet);
}

// serve_many serves an instant in which several things happen, the first of them `one`.
static __attribute__((noinline)) void serve_many(struct credits *credits,
	struct crossbar *crossbar, struct due *due, struct to_do one)
{
	struct credit_packet *packets[PORTS];
	uint32_t n = 0;
	for (;;) {
		uint32_t what = one.key % (1 << TO_DO_BITS);
		if (what < PORTS) {
			struct credit_packet *packet =
				record_at(credits, one.packet, false);
			credits->agenda->comes |= UINT64_C(1) << what;
			if (credits->setup.pauses)
				tb_pause_come(credits, packet->at, packet->vl,
					packet->of.wire_bytes);
			come_in_turn(packets, n++, packet);
		} else if (what < READY) {
			serve_look(credits, crossbar, what % PORTS);
		} else {
			serve_ready(credits, crossbar, one.packet);
		}
		if (due->all[due->first].key >> TO_DO_BITS != one.key >> TO_DO_BITS)
			break;
		one = due->all[due->first++];
	}
	for (uint32_t i = 0; i < n; i++) {
		struct receiver *receiver = receiver_at(credits, packets[i]->at);
		serve_route_and_store(credits, receiver, packets[i]);
		serve_come(credits, crossbar, receiver, packets[i]);
	}
}

// serve_one serves an instant in which only one packet comes.
ALWAYS_INLINE void serve_one(struct credits *credits, struct crossbar *crossbar,
	uint32_t port, struct credit_packet *packet, const bool simple)
{
	struct receiver *receiver = receiver_at(credits, crossbar->first + port);
	credits->agenda->comes = UINT64_C(1) << port;
	if (simple) {
		serve_route(credits, receiver, packet);
	} else {
		if (credits->setup.pauses)
			tb_pause_come(
				credits, packet->at, packet->vl, packet->of.wire_bytes);
		serve_route_and_store(credits, receiver, packet);
		if (credits->meters_now.n)
			tb_pause_compare(credits);
	}
	if ((!simple && packet->ready_at > credits->replay.now) ||
		!serve_through(credits, crossbar, receiver, packet, simple))
		serve_come(credits, crossbar, receiver, packet);
}

// serve_switch serves a switch up to the end of a window.
ALWAYS_INLINE void serve_switch(
	struct credits *credits, struct due *due, const bool simple)
{
	struct agenda *agenda = credits->agenda;
	struct crossbar *crossbar = due->crossbar;
	agenda->due = due;
	while (due->first < due->n) {
		const struct to_do one = due->all[due->first++];
		uint32_t what = one.key % (1 << TO_DO_BITS);
		credits->replay.now = to_do_time(agenda, one.key);
		credits->replay.stats.n_events++;
		crossbar->began_with = crossbar->n_begun;
		agenda->comes = 0;
		if (RARELY(due->all[due->first].key >> TO_DO_BITS ==
			    one.key >> TO_DO_BITS)) {
			serve_many(credits, crossbar, due, one);
			if (!simple && credits->meters_now.n)
				tb_pause_compare(credits);
		} else if (what < PORTS) {
			serve_one(credits, crossbar, what,
				record_at(credits, one.packet, simple), simple);
		} else {
			if (simple || what < READY)
				serve_look(credits, crossbar, what % PORTS);
			else
				serve_ready(credits, crossbar, one.packet);
			if (!simple && credits->meters_now.n)
				tb_pause_compare(credits);
		}
		if (crossbar->choosing | agenda->choosing_next)
			serve_rounds(credits, crossbar);
	}
	agenda->due = NULL;
	due->crossbar = NULL;
	crossbar->cell = UINT64_MAX;
	if (crossbar->next_at == TB_TIME_NEVER)
		return;
	crossbar->cell = (uint64_t)crossbar->next_at >> agenda->shift;
	enter_cell(credits, crossbar);
}

// serve_cell serves the switches of a cell up to the end of a window, and keeps those
// that have nothing to do before. A switch that is to be served before the cell, or
// stands in it twice, is passed over. Where switches do not stay in the cache, what each
// needs is fetched, in steps, while others are served.
ALWAYS_INLINE tb_time_ps serve_cell(struct credits *credits, uint64_t number,
	tb_time_ps last, const bool prefetches, const bool simple)
{
	struct agenda *agenda = credits->agenda;
	struct agenda_cell *cell = &agenda->cells[number % CELLS];
	uint32_t n = cell->n, n_kept = 0;
	for (uint32_t i = 0; i < n + (prefetches ? AHEAD - 1 : 0); i++) {
		struct due *due = &agenda->dues[prefetches ? i % AHEAD : 0];
		if (prefetches)
			fetch_switches(credits, cell->switches, i, n);
		if (!prefetches || i < n) {
			uint32_t sw = cell->switches[i];
			find_due(credits, due, &credits->crossbars[sw], number);
			if (credits->crossbars[sw].cell == number)
				cell->switches[n_kept++] = sw;
		}
		if (prefetches) {
			fetch_first(credits, due);
			fetch_second(credits, &agenda->dues[(i - 1) % AHEAD]);
			fetch_third(credits, &agenda->dues[(i - 2) % AHEAD]);
			due = &agenda->dues[(i + 1) % AHEAD];
		}
		if (due->crossbar) {
			serve_switch(credits, due, simple);
			last = tb_time_later(last, credits->replay.now);
		}
	}
	memmove(cell->switches + n_kept, cell->switches + n,
		(cell->n - n) * sizeof *cell->switches);
	cell->n = n_kept + (cell->n - n);
	if (cell->n == 0)
		agenda->filled &= ~(UINT64_C(1) << number % CELLS);
	return last;
}

static tb_time_ps serve_cell_of_kind(
	struct credits *credits, uint64_t number, tb_time_ps last)
{
	if (credits->setup.simple)
		return credits->replay.prefetches
			       ? serve_cell(credits, number, last, true, true)
			       : serve_cell(credits, number, last, false, true);
	return credits->replay.prefetches
		       ? serve_cell(credits, number, last, true, false)
		       : serve_cell(credits, number, last, false, false);
}

// settle_receiver charges the packets that wait in the queues of a receiver.
static void settle_receiver(
	struct credits *credits, struct receiver *receiver, tb_time_ps until)
{
	for (uint64_t used = receiver->used_queues; used; used &= used - 1) {
		// Of a port every lane's, but of FIFO inputs the lane's own.
		uint32_t queue = (uint32_t)__builtin_ctzll(used);
		uint32_t step = is_fifo(credits, false) ? credits->n_queues
							: credits->queues_of_vl;
		for (; queue < credits->n_queues; queue += step)
			for (uint32_t id = short_queue_in(receiver, queue)->first;
				id != NOTHING; id = record_at(credits, id, false)->next)
				if (record_at(credits, id, false)->ready_at < until)
					tb_credits_charge(credits,
						record_at(credits, id, false), until);
	}
}

// settle_links counts the stalls that last of links of a switch for which packets wait.
static void settle_links(
	struct credits *credits, uint32_t sw, uint64_t ports, tb_time_ps until)
{
	for (; ports; ports &= ports - 1) {
		const struct link_sender *sender = sender_at(credits,
			credits->crossbars[sw].first + (uint32_t)__builtin_ctzll(ports));
		if (sender->stalled_since < until)
			tb_credits_stalled(credits, sender, sender->stalled_since, until);
	}
}

bool tb_serve_settle(struct credits *credits, tb_time_ps until)
{
	uint64_t *queued = credits->agenda->queued, links = 0;
	uint32_t sw = NOTHING, n_words = credits->first_node / 64 + 1;
	for (uint32_t w = 0; w < n_words; w++) {
		for (uint64_t ahead = w + 1 < n_words ? queued[w + 1] : 0; ahead;
			ahead &= ahead - 1)
			serve_fetch(receiver_at(credits,
				64 * (w + 1) + (uint32_t)__builtin_ctzll(ahead)));
		for (uint64_t slots = queued[w]; slots; slots &= slots - 1) {
			uint32_t bit = (uint32_t)__builtin_ctzll(slots);
			struct receiver *receiver = receiver_at(credits, 64 * w + bit);
			if (!receiver->used_queues) {
				queued[w] &= ~(UINT64_C(1) << bit);
				continue;
			}
			if (receiver->sw != sw) {
				settle_links(credits, sw, links, until);
				links = 0;
			}
			sw = receiver->sw;
			links |= ports_of_heads(
				credits, &credits->crossbars[sw], receiver);
			settle_receiver(credits, receiver, until);
		}
	}
	settle_links(credits, sw, links, until);
	return sw != NOTHING;
}

// move_base has what switches are to do count from `base`, before which is nothing.
static __attribute__((noinline)) void move_base(struct credits *credits, tb_time_ps base)
{
	uint64_t by = (uint64_t)(base - credits->agenda->base) << TO_DO_BITS;
	for (uint32_t sw = 0; sw < credits->replay.net->n_switches; sw++)
		for (uint32_t i = 0; i < credits->crossbars[sw].n_to_do; i++)
			credits->crossbars[sw].to_do[i].key -= by;
	credits->agenda->base = base;
}

void tb_serve_begin_window(struct credits *credits, tb_time_ps until)
{
	// Nothing is to be done earlier than a window before its end.
	struct agenda *agenda = credits->agenda;
	tb_time_ps from = until - credits->window_ps;
	if (RARELY(from - agenda->base > BASE_MOST))
		move_base(credits, from);
	uint64_t first = from > 0 ? (uint64_t)from >> agenda->shift : 0;
	for (; agenda->first < first && agenda->filled; agenda->first++) {
		agenda->cells[agenda->first % CELLS].n = 0;
		agenda->filled &= ~(UINT64_C(1) << agenda->first % CELLS);
	}
	if (agenda->first < first)
		agenda->first = first;
}

void tb_serve_window(struct credits *credits, tb_time_ps until)
{
	struct agenda *agenda = credits->agenda;
	uint64_t end = (uint64_t)(until - 1) >> agenda->shift;
	tb_time_ps last = credits->replay.now;
	agenda->until = until;
	for (uint64_t number = agenda->first; number <= end; number++)
		if (agenda->filled >> number % CELLS & 1)
			last = serve_cell_of_kind(credits, number, last);
	credits->replay.now = last;
	agenda->first = (uint64_t)until >> agenda->shift;
	credits->served_until = until;
	enter_waits(credits);
}

// Networks with credits: InfiniBand and lossless Ethernet. Private to this room.
//
// Model (docs/credits.md): virtual cut-through. A packet crosses a link whole, is queued
// at the switch behind it by the link that it came by, and goes on when its turn comes
// and the buffer ahead has room for all of it.
//
// Switches are served in windows of time, one after the other (serve.c); what nodes do
// stands in the replay's wheel. Without pauses, the credits that a packet will free are
// sent when it begins to leave a buffer: at once they are pending at the sender before
// that, with the time at which they arrive. The sender adds them up when it needs them.
// To another part they are handed over at the end of the window in which they are free.
//
// Words: a slot is a port of a switch or a node. The ports of a switch are consecutive
// slots, in the order of ports; the nodes come last. A slot has a sender, the link that
// leaves through it, and a receiver, the link that comes in through it. The peer of a
// slot is the slot at the other end of its cable. A packet is a head when it is the first
// of its queue and ready, and a candidate when it also may enter the crossbar.
//
// The links of a switch choose one after the other (rule C13).
//
// Files: model.c (function table, windows, allocation), agenda.h (when which switch has
// something to do), serve.c (what a switch does; kinds.h: of which kind), lanes.h (what a
// sender knows of the buffer behind its link), arbiter.c (lanes take turns), routing.h
// (which link packets leave by), adapters.c (nodes), failures.c (links that fail),
// crossing.c (marks, and the end of a packet at its node), pause.c (pauses in place of
// credits), waits.c (waits and whom they are blamed on), credits_join.c (parts side by
// side), prefetch.c (fetches what comes next).
//
// Parts (docs/credits.md, "Parts, windows, threads"): a slot belongs to the part of its
// switch or node, with its sender, its lanes and its receiver. Other parts read of it
// only what never changes. A packet that leaves through a slot whose peer is in another
// part is handed over to that part, and so are the credits that its receiver returns.
#ifndef TB_CREDITS_H
#define TB_CREDITS_H

#include "credit_params.h"
#include "switching.h"

#include <stddef.h>

#define NOTHING TB_NOTHING

enum { FIRST_UPDATES = 4 }; // that a ring holds at first

#define ANY_NUMBER UINT32_MAX // of packets that an input sends at once

enum credit_event_kind {
	EV_IN = TB_EVENT_OF_MODEL, // packet: its tail is in at its destination
	EV_LOST,    // packet: it has come to a switch where no link leads on
	EV_DRAINED, // node: it has drained a packet (with pauses)
	EV_CNP,	    // pair of nodes: its source is notified of congestion
	EV_SERVE,   // switch: it is to be served (agenda.h)
	EV_VISIT,   // node: likewise (adapters.c)
};

// What links have in common: there are few.
struct link_kind_row {
	uint64_t byte_q20; // picoseconds a byte, 20 binary places
	tb_time_ps latency_ps;
};

struct blamed { // by what waits for a packet (C23)
	uint32_t flow, root;
	uint32_t ahead; // instead of the flow, by its own packets
};

struct wait_cause { // of a wait
	uint32_t culprit, root;
};

struct update { // on its way to a sender: what has fallen free, or will
	tb_time_ps freed_at;
	tb_time_ps known_at;  // not before; exactly, once freed_at is over
	uint64_t order;	      // of the packet that left
	struct blamed blamed; // when somebody waited for it
	uint32_t blocks;
};

struct pending_update { // credits for a sender in another part, kept until they are free
	struct update update;
	uint32_t slot, vl; // whose buffer
	uint32_t crossing; // number of that link, which crosses from the other part
	uint32_t next;	   // of this slot; NOTHING
};

struct lane {			     // a VL of a link, at its sender
	_Alignas(64) uint64_t heads; // bit an input port: its first packet is ready and
				     // waits for this link (heads_of)
	tb_time_ps freed_at;	 // the latest of all updates until now
	tb_time_ps choose_at;	 // the look under way for credits
	struct update *updates;	 // ring, in the order in which they are known
	uint32_t first, n, mask; // mask + 1: its size
	int32_t credits;	 // blocks that the sender knows to be free
	int32_t lacks; // credits that a waiting packet still lacks when all updates have
		       // arrived
	uint16_t turn;	    // port with which the next turn begins
	tb_time_ps look_at; // of the first lane: when its link looks; TB_TIME_NEVER: not
};
_Static_assert(sizeof(struct lane) == 64, "a cache line");

struct link_sender { // a link that leaves by a slot
	_Alignas(64) tb_time_ps free_at;
	tb_time_ps stalled_since; // TB_TIME_NEVER: it is not
	uint64_t order;		  // of the packet that crosses, or crossed last
	uint32_t flow;		  // of that; NOTHING: none has
	struct wait_cause waited; // here; root NOTHING: it did not wait
	uint32_t bytes;		  // of that, on the wire; 0 once it has left the crossbar
	uint32_t from;		  // slot by which it came
	uint32_t peer;		  // slot
	uint32_t link;		  // id
	uint32_t to_sw;		  // switch to which it leads, and the port there
	uint16_t kind;
	uint16_t port, to_port;
	uint8_t vl;		// of the packet
	bool by_credit : 1;	// its wait ended by one
	bool has_pending : 1;	// updates cross this link whose credits are not free yet
	bool crosses_parts : 1; // the peer is in another part of the network
};
_Static_assert(sizeof(struct link_sender) == 64, "a cache line");

struct to_do_list { // agenda.h
	struct to_do *all;
	uint32_t n, room;
};

struct crossbar { // of a switch
	_Alignas(64) uint64_t
		choosing; // bit a port: its link is to choose a packet (choosing_of)
	uint64_t limited; // bit an input: it has S packets in the crossbar (limited_of)
	struct to_do_list far; // in the agenda's later cells
	uint32_t first;	       // slot
	uint16_t n_ports;      // slots
	uint16_t n_begun;      // packets that left, modulo n_ports
	uint16_t began_with;   // port with which its present round began
};
struct arbiter {	     // of a link with several lanes: where its tables stand
	uint8_t at[2];	     // current entries of the low and the high one
	uint8_t left[2];     // of their weights
	bool took_high;	     // since the last packet of the low table
	uint32_t high_bytes; // that it took since
};

struct meter {	       // of a buffer that pauses its sender
	int64_t bytes; // come and not left
	uint64_t left_order;
	tb_time_ps left_at; // the last that left
	struct blamed left_blamed;
	bool paused; // its sender has been sent a pause
	bool listed;
};

struct resumed { // a VL of a link, at its sender, when a pause last ended a wait (C23)
	tb_time_ps at;	       // 0: none has
	tb_time_ps idle_since; // the packet before that one had crossed
	tb_time_ps crossed_at; // the last one has, or will have
	struct blamed blamed;
};

struct queue_left { // who left a queue last
	tb_time_ps at;
	struct blamed blamed;
};

struct queue {		      // of packets that have come
	uint32_t first, last; // packets; first NOTHING: empty
	uint32_t bytes;	      // of all
};

struct receiver { // the link that comes in by a slot; then its cell, queues and sets
	uint32_t link;
	uint32_t n_crossing; // packets that came by it and cross the next link
	tb_time_ps stopped_at;
	union {
		struct {
			struct blamed stopped; // the last such, over
			uint32_t stopped_port;
		};
		struct queue coming; // of a node: packets in the order of their tails
	};
	uint32_t port; // of the switch
	uint32_t sw;
	uint64_t crossing;  // bit a port: its link carries one of those (crossing_of)
	uint64_t used;	    // which queues hold packets (used_of)
	tb_time_ps came_at; // the last packet
};
_Static_assert(sizeof(struct receiver) == 64, "a cache line");

struct marker { // of the packets that wait for a link on a VL, with congestion control
	uint64_t bytes;
	tb_time_ps busy_ps;  // of what has begun to cross it
	uint32_t n_unmarked; // by FECN, that could have been since the last
};

struct credit_packet { // a cache line
	struct tb_packet of;
	tb_time_ps ready_at;
	tb_time_ps wait_ps; // at switches until now
	uint32_t next;	    // in its queue
	uint32_t route;	    // slot by which it leaves
	uint32_t at;	    // slot by which it came
	uint8_t vl;
	bool corrupted : 1; // crossed a link while that failed
	bool marked : 1;    // left a long queue (C33)
};

struct packet_path { // of a packet, where links differ: behind its record
	tb_time_ps latency_ps;
	uint64_t slowest_q20;
};

struct stop { // of a packet on its way, where delays are asked for: behind its path
	tb_time_ps began_at; // to cross
	uint32_t link;
};

struct slot_range { // of slots, [first, end)
	uint32_t first, end;
};

// What kind of network this is. All of it follows from the network and the options when a
// replay is made (model.c), and never changes.
struct credits_setup {
	// None of what follows but by_digits; links are equal, inputs have a queue for
	// each output, there is one lane, and no switch has more than 64 ports.
	bool simple;
	// Switches store and forward: a packet may leave when its tail is in
	// (crossing.c).
	bool store_and_forward;
	// Pause frames instead of credits: a lane has one credit while its sender may
	// send (lanes.h, pause.c).
	bool pauses;
	// Routes follow from the digits of the destination, in a regular tree
	// (routing.h).
	bool by_digits;
	// A packet gets its route in the order of those that come with it (routing.c).
	bool late_routes;
	// Routes depend on how many packets wait for each link (routing.c).
	bool adaptive;
	// The number of packets, or bytes, that wait for each link is kept: for adaptive
	// routes or congestion control (crossing.c).
	bool counts_waiting;
	// Nodes are served in windows: there is one lane, and nothing acts on them but
	// their messages, credits and packets (adapters.c).
	bool serves_nodes;
	bool equal_rates; // all links have one rate
	bool equal_links; // all links have one rate and one latency
	// Each packet carries a struct packet_path: links differ, or the options ask for
	// delays (crossing.c).
	bool notes_paths;
};

struct due; // agenda.h

struct credits {
	struct tb_replay replay;
	uint32_t n_slots, first_node; // slot of node 0
	uint32_t stops_most;	      // of a packet
	tb_time_ps *delays;	      // of the options
	uint32_t n_vls;
	uint32_t n_queues;     // of a receiver
	uint32_t queues_of_vl; // 1, or the most ports that a switch has
	uint32_t speedup;      // S; ANY_NUMBER
	uint32_t words;	       // of 64 ports, that the largest switch has: of a set
	struct credits_setup setup;
	uint8_t *vls; // by job of those that have a service level, then of others
	uint32_t n_jobs;
	uint32_t n_kinds;
	struct link_kind_row *kinds;
	struct link_kind_row common; // the first, of all where links are equal
	size_t kinds_room;
	char *links; // by slot, link_bytes each: a sender, then its lanes
	size_t link_bytes;
	struct update *updates;	    // first rings of all lanes, by slot
	struct receiver *receivers; // with what is behind each, in lines of its size
	uint32_t *receiver_of;	// by slot: the line with which its receiver begins; then
				// that behind the last
	size_t sets_at;		// where words > 1: the sets behind a receiver
	struct tb_cell **cells; // by link id
	// By number of the crossing link: the cells of those whose far end another
	// process simulates.
	struct tb_cell *far_cells;
	uint32_t *slot_of_link; // by link id: that of its sender
	uint32_t *crossing;	// by slot, with faults: the packet that crosses, or last
	struct crossbar *crossbars;   // by switch
	uint64_t *switch_sets;	      // by switch, 2 * words, where words > 1
	struct arbiter *arbiters;     // by slot
	struct tb_vl_table tables[2]; // low, high
	struct agenda *agenda;	      // of a part of the network
	tb_time_ps served_until;      // all its switches have been served
	struct to_do_list *lists;     // by switch, AGENDA_CELLS each
	struct queue_left *left;      // by slot, n_vls each: with FIFO inputs
	uint32_t *loads;	      // by slot: packets that have this route
	uint32_t *choices;	      // slots of links, scratch of a part's own
	struct marker *markers; // by slot, n_vls each; NULL: without congestion control
	uint64_t mark_q20;	// probability of a mark at ecn_max
	// With pauses.
	struct meter *meters;	 // by slot, n_vls each
	struct resumed *resumed; // likewise
	struct tb_list meters_now;
	struct drains *drains;
	struct pending_update *pending; // of a part of the network
	uint32_t n_pending;
	size_t pending_room;
	uint32_t *pending_first; // by crossing link, that comes in: NOTHING: none
	struct slot_range *own;	 // the slots of this part of the network
	uint32_t n_own;
};

static inline struct credit_packet *credit_packet_at(
	const struct credits *credits, uint32_t id)
{
	return (void *)tb_packet_at(&credits->replay, id);
}

static inline struct link_sender *sender_at(const struct credits *credits, uint32_t slot)
{
	return (void *)(credits->links + slot * credits->link_bytes);
}

// credits_lane is a lane of a link.
static inline struct lane *credits_lane(struct link_sender *sender, uint32_t vl)
{
	return (struct lane *)(void *)(sender + 1) + vl;
}

// blamed_for is what is blamed by those that waited for the packet that crosses a link,
// with `link` as root if that did not wait.
static inline struct blamed blamed_for(const struct link_sender *sender, uint32_t link)
{
	if (sender->waited.root == NOTHING)
		return (struct blamed){sender->flow, link, sender->flow};
	return (struct blamed){sender->flow, sender->waited.root, sender->waited.culprit};
}

// cause_of is that of the wait of a packet of a flow.
static inline struct wait_cause cause_of(struct blamed blamed, uint32_t flow)
{
	return (struct wait_cause){
		blamed.flow == flow ? blamed.ahead : blamed.flow, blamed.root};
}

static inline tb_time_ps *look_at_of(const struct credits *credits, uint32_t slot)
{
	return &credits_lane(sender_at(credits, slot), 0)->look_at;
}

static inline struct lane *lane_at(
	const struct credits *credits, uint32_t slot, uint32_t vl)
{
	return credits_lane(sender_at(credits, slot), vl);
}

static inline struct receiver *receiver_at(const struct credits *credits, uint32_t slot)
{
	return &credits->receivers[credits->receiver_of[slot]];
}

static inline struct queue *queue_in(struct receiver *receiver, uint32_t number)
{
	return (struct queue *)(void *)((char *)(receiver + 1) + sizeof(struct tb_cell)) +
	       number;
}

// n_queues_at is how many queues there is room for behind the receiver of a slot: those
// that its packets can be in, at least.
static inline uint32_t n_queues_at(const struct credits *credits, uint32_t slot)
{
	size_t lines = credits->receiver_of[slot + 1] - credits->receiver_of[slot] - 2;
	size_t n = lines * sizeof(struct receiver) / sizeof(struct queue);
	return n < credits->n_queues ? (uint32_t)n : credits->n_queues;
}

// queue_for is the number of an input's queue for a lane and a port.
static inline uint32_t queue_for(
	const struct credits *credits, uint32_t vl, uint32_t port)
{
	return credits->queues_of_vl == 1 ? vl : vl * credits->queues_of_vl + port;
}

// cell_at is what is counted of the link that comes in by a slot.
static inline struct tb_cell *cell_at(const struct credits *credits, uint32_t slot)
{
	return (void *)(receiver_at(credits, slot) + 1);
}

// sender_cell is the one in which the sender of a link counts what it does.
static inline struct tb_cell *sender_cell(
	const struct credits *credits, const struct link_sender *sender)
{
	if (sender->crosses_parts)
		return tb_records_near_cell(&credits->replay.records, sender->link);
	return cell_at(credits, sender->peer);
}

static inline bool is_node(const struct credits *credits, uint32_t slot)
{
	return slot >= credits->first_node;
}

// is_busy returns whether a packet crosses a link at this instant.
static inline bool is_busy(
	const struct credits *credits, const struct link_sender *sender)
{
	return sender->free_at > credits->replay.now;
}

static inline const struct link_kind_row *credits_link_kind(
	const struct credits *credits, const struct link_sender *sender)
{
	return &credits->kinds[sender->kind];
}

static inline tb_time_ps credits_wire_time(
	const struct link_kind_row *kind, uint64_t bytes)
{
	return (tb_time_ps)((bytes * kind->byte_q20 + (UINT64_C(1) << 19)) >> 20);
}

// Sets of ports, a bit each. That of a switch of up to 64 ports is a word in the record
// of what it belongs to, that of a larger one credits->words words behind that.

static inline void set_bit(uint64_t *set, uint32_t i)
{
	set[i / 64] |= UINT64_C(1) << i % 64;
}

static inline void clear_bit(uint64_t *set, uint32_t i)
{
	set[i / 64] &= ~(UINT64_C(1) << i % 64);
}

static inline bool has_bit(const uint64_t *set, uint32_t i)
{
	return set[i / 64] >> i % 64 & 1;
}

static inline bool any_bit(const uint64_t *set, uint32_t words)
{
	uint64_t any = set[0];
	for (uint32_t w = 1; w < words; w++)
		any |= set[w];
	return any != 0;
}

// next_bit returns the first bit that is set in [from, end); NOTHING when none is.
static inline uint32_t next_bit(const uint64_t *set, uint32_t from, uint32_t end)
{
	while (from < end) {
		uint64_t word = set[from / 64] >> from % 64;
		if (word) {
			uint32_t bit = from + (uint32_t)__builtin_ctzll(word);
			return bit < end ? bit : NOTHING;
		}
		from = (from / 64 + 1) * 64;
	}
	return NOTHING;
}

// next_in_turn returns which of some ports, at least one, is next in round-robin order,
// at a switch of up to 64 ports.
static inline uint32_t next_in_turn(uint64_t ports, uint32_t turn)
{
	uint64_t from_turn = ports >> turn % 64 << turn % 64;
	return (uint32_t)__builtin_ctzll(from_turn ? from_turn : ports);
}

// heads_of is which inputs of a switch have a packet for a link and lane.
static inline uint64_t *heads_of(
	const struct credits *credits, struct link_sender *sender, uint32_t vl)
{
	if (credits->words == 1)
		return &credits_lane(sender, vl)->heads;
	return (uint64_t *)(void *)credits_lane(sender, credits->n_vls) +
	       vl * credits->words;
}

// crossing_of is which links carry packets that came in by a receiver; used_of which
// queues of it hold any: with queues by output a bit a port, whatever the lane; otherwise
// a bit a lane.
static inline uint64_t *crossing_of(
	const struct credits *credits, struct receiver *receiver)
{
	if (credits->words == 1)
		return &receiver->crossing;
	return (void *)((char *)receiver + credits->sets_at);
}

static inline uint64_t *used_of(const struct credits *credits, struct receiver *receiver)
{
	if (credits->words == 1)
		return &receiver->used;
	return (uint64_t *)(void *)((char *)receiver + credits->sets_at) + credits->words;
}

static inline uint64_t *choosing_of(
	const struct credits *credits, struct crossbar *crossbar)
{
	if (credits->words == 1)
		return &crossbar->choosing;
	return credits->switch_sets +
	       (size_t)(crossbar - credits->crossbars) * 2 * credits->words;
}

static inline uint64_t *limited_of(
	const struct credits *credits, struct crossbar *crossbar)
{
	if (credits->words == 1)
		return &crossbar->limited;
	return choosing_of(credits, crossbar) + credits->words;
}

static inline struct packet_path *credits_path(const struct credits *credits, uint32_t id)
{
	return (void *)(credit_packet_at(credits, id) + 1);
}

static inline struct stop *stops_of(const struct credits *credits, uint32_t id)
{
	return (void *)((char *)credits_path(credits, id) + 64);
}

// vl_of is the virtual lane of a packet (rule C3).
static inline uint32_t vl_of(
	const struct credits *credits, const struct tb_packet *packet)
{
	return credits->n_vls == 1 ? 0 : credits->replay.messages[packet->message].vl;
}

// fetched_since is since when a node has had a packet that waits to enter its link, or
// when it will; TB_TIME_NEVER: it has none.
static inline tb_time_ps fetched_since(const struct credits *credits, uint32_t node)
{
	tb_time_ps since = TB_TIME_NEVER;
	for (uint32_t vl = 0; vl < credits->n_vls; vl++) {
		const struct tb_nic *nic = tb_nic_at(&credits->replay, node, vl);
		if (nic->fetched != NOTHING)
			since = tb_time_earlier(since, nic->fetched_at);
	}
	return since;
}

// marker_of is that of the link that a packet is to take.
static inline struct marker *marker_of(
	const struct credits *credits, const struct credit_packet *packet)
{
	return &credits->markers[(size_t)packet->route * credits->n_vls + packet->vl];
}

static inline struct resumed *resumed_of(
	const struct credits *credits, const struct credit_packet *packet)
{
	return &credits->resumed[(size_t)packet->route * credits->n_vls + packet->vl];
}

static inline uint32_t blocks_of(uint32_t wire_bytes)
{
	return (wire_bytes + TB_CREDIT_BLOCK_BYTES - 1) / TB_CREDIT_BLOCK_BYTES;
}

// The calls between the parts of a network with credits. Private to this room.

// crossing.c: marks, and the end of a packet.
//
// tb_crossing_note_path notes, where setup.notes_paths, the link that a packet begins to
// cross; tb_crossing_uncount, where setup.counts_waiting, that it no longer waits for
// that of a slot, and marks it if that has a long queue.
void tb_crossing_note_path(struct credits *credits, const struct link_sender *sender,
	const struct credit_packet *packet);
void tb_crossing_uncount(
	struct credits *credits, uint32_t slot, struct credit_packet *packet);
// The end of a packet that has arrived at a node. tb_crossing_free: its buffer falls free
// at `drained_at`. crossing_end counts it. crossing_acknowledged_at returns when its
// source has the acknowledgement that is sent now.
void tb_crossing_free(struct credits *credits, const struct credit_packet *packet,
	tb_time_ps drained_at);

static inline void crossing_end(struct credits *credits, struct credit_packet *packet)
{
	struct tb_replay *replay = &credits->replay;
	replay->stats.n_hops += packet->of.n_hops;
	if (packet->wait_ps > 0)
		replay->records.flows[packet->of.flow].wait_ps +=
			(uint64_t)packet->wait_ps;
	packet->wait_ps = 0;
}

static inline tb_time_ps crossing_acknowledged_at(
	const struct credits *credits, const struct credit_packet *packet)
{
	tb_time_ps now = credits->replay.now;
	uint32_t ack = tb_credit_params(&credits->replay.net->params)->ack_bytes;
	if (credits->setup.equal_links)
		return now + packet->of.n_hops * credits->common.latency_ps +
		       credits_wire_time(&credits->common, ack);
	const struct packet_path *path = credits_path(credits, packet->of.id);
	return now + path->latency_ps +
	       credits_wire_time(
		       &(struct link_kind_row){.byte_q20 = path->slowest_q20}, ack);
}

// arbiter.c: tb_arbiter_take chooses one of the lanes that can send for the link of a
// slot, by the tables, and counts its packet; NOTHING.
uint32_t tb_arbiter_take(struct credits *credits, uint32_t slot, uint32_t can,
	struct credit_packet *const packets[TB_VLS_MOST]);

// failures.c: failed links.
//
// tb_failures_fail_link: a link fails now, before which all switches have been served.
void tb_failures_fail_link(struct tb_replay *replay, uint32_t link);
// tb_failures_foresee finds the way on for a packet that will have come to a switch at
// packet->ready_at, and keeps it as the packet's route. When all links that lead on will
// have failed by then it returns false, and the packet is lost at that instant (EV_LOST).
bool tb_failures_foresee(struct credits *credits, struct credit_packet *packet);
void tb_failures_lost(struct credits *credits, struct credit_packet *packet);
// tb_failures_left: with pauses, a packet that was discarded leaves its buffer, in the
// instant in which that is served; `number` is that in struct to_do.
void tb_failures_left(struct credits *credits, uint32_t number);
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
// tb_credits_end_wait: the wait of a packet, the first of its queue, ends now, as it
// begins to cross a link. Charges it, and logs and returns its cause. `by` is
// the update whose credits the packet needed, or NULL.
struct wait_cause tb_credits_end_wait(struct credits *credits, struct crossbar *crossbar,
	const struct link_sender *sender, struct receiver *receiver,
	const struct queue *queue, const struct credit_packet *packet,
	const struct update *by);
// tb_credits_enter_waits enters the waits of a window, in the order in which they ended.
void tb_credits_enter_waits(struct credits *credits);
// tb_credits_waiting sums the packets of a queue that have been ready since before
// `until`, which is not later than now, or than the end of the bin.
uint32_t tb_credits_waiting(
	const struct credits *credits, const struct queue *queue, tb_time_ps until);
// tb_credits_blame_lasting blames a wait that still lasts at `until` (rule C24), adds it
// to the packet's, and returns its cause.
struct wait_cause tb_credits_blame_lasting(
	struct credits *credits, struct credit_packet *packet, tb_time_ps until);
// Delays, if the options ask for them: tb_credits_note_stop notes that a packet begins to
// cross a link; tb_credits_add_delays adds up those of a packet that has arrived.
void tb_credits_note_stop(
	struct credits *credits, const struct credit_packet *packet, uint32_t link);
void tb_credits_add_delays(struct credits *credits, const struct credit_packet *packet);
// See struct tb_switching.
bool tb_credits_settle(struct tb_replay *replay, tb_time_ps until);
void tb_credits_blame_open(struct tb_replay *replay, tb_time_ps until);

// prefetch.c: fetches into the cache what nodes will read next; see struct tb_switching.
// The rest fetches what the switches of a list need that are to be served soon, from
// number i on: in steps, each of which reads what the one before has fetched.
void tb_credits_prefetch_first(
	struct tb_replay *replay, const struct tb_event *events, uint32_t n);
void tb_credits_prefetch_second(struct tb_replay *replay, struct tb_event event);
void tb_credits_prefetch_third(struct tb_replay *replay, struct tb_event event);
void tb_credits_fetch_switches(
	const struct credits *credits, const uint32_t *switches, uint32_t i, uint32_t n);
void tb_credits_fetch_nodes(
	const struct credits *credits, const uint32_t *nodes, uint32_t i, uint32_t n);
void tb_credits_fetch_first(const struct credits *credits, const struct due *due);
void tb_credits_fetch_second(const struct credits *credits, const struct due *due);
void tb_credits_fetch_third(const struct credits *credits, const struct due *due);

// adapters.c, with setup.serves_nodes.
//
// tb_adapters_serve has the nodes do what they do before `until`, the end of the window.
// tb_adapters_come: a packet has begun to cross the link to its node, packet->at, and its
// tail will be in. tb_adapters_look has a node that waits to inject do so when it can.
// tb_adapters_catch_up is the carrier's catch_up.
void tb_adapters_serve(struct credits *credits, tb_time_ps until);
void tb_adapters_come(
	struct credits *credits, struct credit_packet *packet, tb_time_ps tail_at);
void tb_adapters_look(struct credits *credits, uint32_t node);
void tb_adapters_catch_up(struct tb_replay *replay, uint32_t message);

// model.c: see struct tb_switching.
int tb_credits_make(struct tb_replay *replay, const struct tb_engine_options *options,
	struct tb_cell ***cells) TB_MUST_USE;
void tb_credits_free(struct tb_replay *replay);
// tb_credits_make_lists makes what an instant needs; tb_credits_make_replay the nodes'
// part, when all else is made. Both are a part's own where there are several.
int tb_credits_make_lists(struct credits *credits) TB_MUST_USE;
int tb_credits_make_replay(struct credits *credits) TB_MUST_USE;

// Pauses in place of credits (rule C10). Private to this room.

// tb_pause_new makes what pauses need. TB_ENOMEM.
int tb_pause_new(struct credits *credits) TB_MUST_USE;
// tb_pause_join makes a part's own, which shares the rest with its whole.
int tb_pause_join(struct credits *credits, const struct credits *whole) TB_MUST_USE;
void tb_pause_free(struct credits *credits);

// tb_pause_come counts a packet that has arrived through a slot.
void tb_pause_come(struct credits *credits, uint32_t slot, uint32_t vl, uint32_t bytes);

// tb_pause_left counts a packet whose last byte has left; `update` has what is
// to blame if it ends a pause.
void tb_pause_left(struct credits *credits, uint32_t slot, uint32_t vl, uint32_t bytes,
	const struct update *update);

// tb_pause_drain counts a packet that has arrived at its node, until it is drained.
void tb_pause_drain(struct credits *credits, const struct credit_packet *packet,
	tb_time_ps drained_at, struct update update);
void tb_pause_drained(struct credits *credits, uint32_t node); // EV_DRAINED

// tb_pause_compare compares this instant's counts with the thresholds, in phase 2, and
// sends pauses and ends of pauses.
void tb_pause_compare(struct credits *credits);

// Switches: see serve.c. Private to this room.

// tb_serve_inject has a node's fetched packet begin to cross its injection link;
// tb_serve_injects_at is the carrier's injects_at.
void tb_serve_inject(struct credits *credits, uint32_t node, uint32_t packet);
tb_time_ps tb_serve_injects_at(
	const struct credits *credits, uint32_t node, uint32_t packet);
// tb_serve_reach: a packet has begun to cross a link, of another part, to a switch; its
// header arrives at `header_at`, after those of all that began before it.
void tb_serve_reach(struct credits *credits, const struct link_sender *sender,
	struct credit_packet *packet, tb_time_ps header_at);
// tb_serve_look has a link of a switch look for credits at `at`; unless it is of the
// switch that is served, not before the window ends.
void tb_serve_look(struct credits *credits, uint32_t slot, tb_time_ps at);
// tb_serve_head: a packet has become the first of its queue because those before it were
// discarded. If it is ready, its link looks in this instant.
void tb_serve_head(struct credits *credits, const struct credit_packet *packet);
// tb_serve_catch_up: what came in by a receiver and has crossed its next link has left
// the crossbar.
void tb_serve_catch_up(
	struct credits *credits, struct crossbar *crossbar, struct receiver *receiver);
// tb_serve_heads is to which ports the first packets of a receiver's queues lead, until
// the next call.
const uint64_t *tb_serve_heads(const struct credits *credits,
	const struct crossbar *crossbar, struct receiver *receiver);
// tb_serve_switch serves a switch up to the end of the window; the times at which it does
// something pass as replay.now.
void tb_serve_switch(struct credits *credits, struct due *due);

#endif

// Networks with credits: InfiniBand and lossless Ethernet. Private to this room.
//
// Model (docs/credits.md): virtual cut-through. A packet crosses a link whole, is queued
// at the switch behind it by the link that it came by, and goes on when its turn comes
// and the buffer ahead has room for all of it.
//
// Cost: at most two events per hop. One ends a crossing, and is made only if a packet
// waits for the link; one is made when the first packet of a queue is ready. A packet
// that arrives behind others in its queue makes no event, unless its route depends on the
// loads that it finds. When a packet begins to leave a buffer, the credits that it will
// free are sent early: at once they are pending at the sender before that buffer, with
// the time at which they arrive. The sender adds them up when it needs them, and only a
// packet that waits for them makes an event. (With pauses, faults or an input speedup S
// credits are returned when they are free; to another part at the end of the window in
// which they are.)
//
// Words: a slot is a port of a switch or a node. The ports of a switch are consecutive
// slots, in the order of ports; the nodes come last. A slot has a sender, the link that
// leaves through it, and a receiver, the link that comes in through it. The peer of a
// slot is the slot at the other end of its cable. A packet is a head when it is the first
// of its queue and ready, and a candidate when it also may enter the crossbar.
//
// Most networks are plain: one virtual lane, and one queue per input. There the choice of
// one output of a switch never changes what another may take, so rule C13 (the order in
// which outputs choose) has no effect. In all others the outputs of a switch choose one
// after the other (arbiter.c).
//
// Files: model.c (its table), credits_new.c (its parts), queues.h (who waits behind
// whom), crossing.c (packets leave and come), lanes.c (what a sender knows of the buffer
// behind its link), pause.c (the same by pauses), arbiter.c (crossbars), straight.c (the
// common case in one piece), routing.c (which link packets leave by), waits.c (waits and
// whose fault they are), failures.c (faults), credits_join.c (parts side by side),
// prefetch.c (fetches what comes next).
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
	EV_DONE = TB_EVENT_OF_MODEL, // slot: its link has carried the packet
	EV_READY,   // packet: the first of its queue is ready to leave it
	EV_COME,    // packet: it has come to a switch and takes a route
	EV_IN,	    // packet: its tail is in at its destination
	EV_CHOOSE,  // slot: its link may have a packet to choose
	EV_DRAINED, // node: it has drained a packet (with pauses)
	EV_CNP,	    // pair of nodes: its source is notified of congestion
};

// Rows of the wheel (base/containers/wheel.h). Over equal links the header of a packet
// that begins to cross one comes later than those of all that began before; so does its
// tail, and its crossing ends later, if it is as long.
enum { ROW_READY, ROW_IN, ROW_DONE, ROWS };

// What links have in common: there are few.
struct link_kind_row {
	uint64_t byte_q20; // picoseconds a byte, 20 binary places
	tb_time_ps latency_ps;
};

struct update { // on its way to a sender: what has fallen free, or will
	tb_time_ps freed_at;
	tb_time_ps known_at; // not before; exactly, once freed_at is over
	uint64_t order;	     // of the packet that left
	uint32_t flow, root; // whom to blame when somebody waited for it
	uint32_t blocks;
};

struct pending_update { // credits for a sender in another part, kept until they are free
	struct update update;
	uint32_t slot, vl; // whose buffer
	uint32_t crossing; // number of that link, which crosses from the other part
	uint32_t next;	   // of this slot; NOTHING
};

struct lane {			     // a VL of a link, at its sender
	_Alignas(64) uint64_t heads; // bit an input port: has a candidate
	tb_time_ps freed_at;	     // the latest of all updates until now
	tb_time_ps choose_at;	     // the EV_CHOOSE under way for credits
	struct update *updates;	     // ring, in the order in which they are known
	uint32_t first, n, mask;     // mask + 1: its size
	int32_t credits;	     // blocks that the sender knows to be free
	int32_t lacks; // credits that a waiting packet still lacks when all updates have
		       // arrived
	uint16_t turn; // port with which the next turn begins
};

struct link_sender { // a link that leaves by a slot
	_Alignas(64) tb_time_ps free_at;
	tb_time_ps stalled_since; // TB_TIME_NEVER: it is not
	uint64_t order;		  // of the packet that crosses, or crossed last
	uint32_t flow;		  // of that; NOTHING: none has
	uint32_t root;		  // of its wait here; NOTHING: it did not wait
	uint32_t bytes;		  // of that, on the wire; 0 once it has left the crossbar
	uint32_t from;		  // slot by which it came
	uint32_t peer;		  // slot
	uint32_t link;		  // id
	uint32_t sw;		  // from which it leads; of a node's: unused
	uint16_t n_heads;	  // heads that leave through this slot
	uint16_t kind;
	uint16_t port;
	uint8_t vl;	    // of the packet
	bool by_credit;	    // its wait ended by one
	bool ends;	    // EV_DONE is under way (never of a node)
	bool has_pending;   // updates cross this link whose credits are not free yet
	bool listed;	    // is on the list of this instant
	bool crosses_parts; // the peer is in another part of the network
};

struct crossbar {	   // of a switch that is not plain
	uint64_t choosing; // bit a port: its link is to choose a packet; where words == 1
	uint64_t limited;  // bit an input: it has S packets in the crossbar; likewise
	uint32_t first;	   // slot
	uint32_t n_ports;  // slots
	uint32_t n_begun;  // packets that left, modulo n_ports
	uint32_t began_with; // port with which its present round began
	bool listed;
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
	uint32_t left_flow, left_root;
	bool paused; // its sender has been sent a pause
	bool listed;
};

struct queue {
	uint32_t first, last;	  // packets; NOTHING: empty
	uint32_t first_uncounted; // the first packet that `waiting` does not count;
				  // NOTHING: none
	uint32_t waiting; // bytes of the packets before that; updated when one leaves
	uint32_t left_flow, left_root;
	tb_time_ps left_at; // the last that left it
};

struct receiver { // the link that comes in by a slot; then its queues and its cell
	uint32_t link;
	uint32_t n_crossing; // packets that came by it and cross the next link
	tb_time_ps stopped_at;
	uint32_t stopped_flow, stopped_root; // of the last such that was over
	uint32_t stopped_port;
	uint32_t port;	   // of the switch
	uint64_t crossing; // bit a port, where words == 1: its link carries one of those
	// Unless plain: bit a queue, where there are up to 64 (see struct credits).
	uint64_t used_queues;
};

struct marker { // of the packets that wait for a link on a VL, with congestion control
	uint64_t bytes;
	uint32_t n_unmarked; // by FECN, that could have been since the last
};

struct credit_packet { // a cache line
	struct tb_packet of;
	tb_time_ps ready_at;
	tb_time_ps wait_ps; // at switches until now
	uint32_t next;	    // in its queue
	uint32_t route;	    // slot by which it leaves
	uint32_t at;	    // slot by which it came
	uint16_t port;	    // of the switch, by which it came
	uint8_t vl;
	bool is_head : 1;
	bool queued : 1;
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
// replay is made (credits_new.c), and never changes.
struct credits_setup {
	// One queue per input and at most 64 ports per switch: the links of a switch
	// choose independently, without a struct crossbar (queues.h, crossing.c).
	bool plain;
	// An event that is alone in its instant needs no lists (model.c). Crossbars of at
	// most 64 ports, and no pauses.
	bool chooses_alone;
	// The common case, for which straight.c has a path of its own.
	bool straight;
	// Switches store and forward: a packet may leave when its tail is in
	// (crossing.c).
	bool store_and_forward;
	// Pause frames instead of credits: a lane has one credit while its sender may
	// send (lanes.h, pause.c).
	bool pauses;
	// Routes follow from the digits of the destination, in a regular tree
	// (routing.h).
	bool by_digits;
	// A packet gets its route when it has arrived, by an event EV_COME; otherwise as
	// soon as it begins to cross the link before (crossing.c).
	bool late_routes;
	// Routes depend on how many packets wait for each link (routing.c).
	bool adaptive;
	// The number of packets, or bytes, that wait for each link is kept: for adaptive
	// routes or congestion control (crossing.c).
	bool counts_waiting;
	bool equal_rates;   // all links have one rate (crossing.c)
	bool equal_links;   // all links have one rate and one latency (crossing.c)
	bool instant_links; // some link has no latency (queues.h)
	// A packet joins its next queue as soon as it begins to cross the link before:
	// equal rates, routes known early, cut-through (crossing.c).
	bool joins_at_once;
	// Each packet carries a struct packet_path: links differ, or the options ask for
	// delays (crossing.c).
	bool notes_paths;
	// Credits are sent when a packet begins to leave a buffer, before they are free
	// (lanes.h, crossing.c).
	bool early_credits;
};

struct credits {
	struct tb_replay replay;
	uint32_t n_slots, first_node; // slot of node 0
	uint32_t stops_most;	      // of a packet
	tb_time_ps *delays;	      // of the options
	uint32_t n_vls;
	uint32_t n_queues;     // of a receiver
	uint32_t queues_of_vl; // 1, or the most ports that a switch has
	uint32_t speedup;      // S; ANY_NUMBER
	uint32_t words;	       // of 64 ports, that the largest switch has
	struct credits_setup setup;
	uint8_t vl_of_others; // of jobs that have no service level
	uint8_t *vls;	      // by job, of those that have one
	uint32_t n_jobs;
	uint32_t n_kinds;
	struct link_kind_row *kinds;
	struct link_kind_row common; // the first, of all where links are equal
	size_t kinds_room;
	char *links; // by slot, link_bytes each: a sender, then its lanes
	size_t link_bytes;
	uint64_t *wide;		// by lane, words each: its heads, where words > 1
	struct update *updates; // first rings of all lanes, by slot
	char *receivers;	// by slot, receiver_bytes each
	size_t receiver_bytes;
	struct tb_cell **cells; // by link id
	// By number of the crossing link: the cells of those whose far end another
	// process simulates.
	struct tb_cell *far_cells;
	uint32_t *slot_of_link; // by link id: that of its sender
	uint32_t *crossing;	// by slot, with faults: the packet that crosses, or last
	struct tb_list senders_now;
	// Packets that become heads in the next round of this instant.
	uint32_t *next_heads, n_next_heads;
	// Unless plain.
	struct crossbar *crossbars;   // by switch
	uint64_t *choosing, *limited; // by switch, words each, where words > 1
	// By slot, queue_words each, where that is not 1: queues that hold packets, or
	// did at the end of the last bin or later.
	uint64_t *used_queues;
	uint32_t queue_words;
	struct arbiter *arbiters;     // by slot
	struct tb_vl_table tables[2]; // low, high
	struct tb_list switches_now;
	// Where packets choose their routes.
	struct tb_list come; // packets, in this round
	size_t come_room;
	uint32_t *loads;	// by slot: packets that have this route
	struct marker *markers; // by slot, n_vls each; NULL: without congestion control
	uint64_t mark_q20;	// probability of a mark at ecn_max
	// With pauses.
	struct meter *meters; // by slot, n_vls each
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

static inline struct lane *lane_at(
	const struct credits *credits, uint32_t slot, uint32_t vl)
{
	return credits_lane(sender_at(credits, slot), vl);
}

static inline uint64_t *heads_at(
	const struct credits *credits, struct lane *lane, uint32_t slot, uint32_t vl)
{
	if (credits->words == 1)
		return &lane->heads;
	return &credits->wide[((size_t)slot * credits->n_vls + vl) * credits->words];
}

static inline struct receiver *receiver_at(const struct credits *credits, uint32_t slot)
{
	return (void *)(credits->receivers + slot * credits->receiver_bytes);
}

static inline struct queue *queue_in(struct receiver *receiver, uint32_t number)
{
	return (struct queue *)(void *)(receiver + 1) + number;
}

static inline struct queue *queue_at(const struct credits *credits, uint32_t slot)
{
	return queue_in(receiver_at(credits, slot), 0);
}

// cell_at is what is counted of the link that comes in by a slot.
static inline struct tb_cell *cell_at(const struct credits *credits, uint32_t slot)
{
	return (void *)(credits->receivers + (slot + 1) * credits->receiver_bytes - 64);
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

static inline struct packet_path *credits_path(const struct credits *credits, uint32_t id)
{
	return (void *)(credit_packet_at(credits, id) + 1);
}

static inline struct stop *stops_of(const struct credits *credits, uint32_t id)
{
	return (void *)((char *)credits_path(credits, id) + 64);
}

// vl_of is the virtual lane of a packet's job (rule C3).
static inline uint32_t vl_of(
	const struct credits *credits, const struct tb_packet *packet)
{
	if (credits->n_vls == 1)
		return 0;
	uint32_t job = credits->replay.messages[packet->message].what.job;
	return job < credits->n_jobs ? credits->vls[job] : credits->vl_of_others;
}

static inline uint32_t blocks_of(uint32_t wire_bytes)
{
	return (wire_bytes + TB_CREDIT_BLOCK_BYTES - 1) / TB_CREDIT_BLOCK_BYTES;
}

#endif

// Networks with credits: InfiniBand and lossless Ethernet. Private to this room.
//
// Model (docs/credits.md): virtual cut-through. A packet crosses a link whole, is queued
// at the switch behind it by the link that it came by, and goes on when its turn comes
// and the buffer ahead has room for all of it.
//
// Switches are served in windows (serve.c) unless links can fail or take no time, or a
// switch has more than 64 ports. Then every event stands in the wheel: one when a
// crossing ends, and one when the first packet of a queue is ready. Credits are returned
// when they are free; to another part at the end of the window in which they are.
//
// In windows, and without pauses, the credits that a packet will free are sent when it
// begins to leave a buffer: at once they are pending at the sender before that, with the
// time at which they arrive. The sender adds them up when it needs them.
//
// Words: a slot is a port of a switch or a node. The ports of a switch are consecutive
// slots, in the order of ports; the nodes come last. A slot has a sender, the link that
// leaves through it, and a receiver, the link that comes in through it. The peer of a
// slot is the slot at the other end of its cable. A packet is a head when it is the first
// of its queue and ready, and a candidate when it also may enter the crossbar.
//
// The links of a switch choose one after the other (rule C13).
//
// Files: model.c (function table, allocation), queues.h (queues, and what a sender knows
// of the buffer behind its link), crossing.c (packets leave and arrive, credits return),
// pause.c (pauses in place of credits), arbiter.c (crossbars), serve.c (switches in
// windows), routing.c (which link packets leave by, faults), waits.c (waits
// and whom they are blamed on), credits_join.c (parts side by side), prefetch.c (fetches
// what comes next).
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
	EV_SERVE,   // switch: it is to be served (serve.c)
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
	bool has_pending;   // updates cross this link whose credits are not free yet
	bool crosses_parts; // the peer is in another part of the network
};

enum { TO_DO_BITS = 8 };

struct to_do {		 // of a switch that is served in windows (serve.c)
	uint64_t key;	 // the time, and in the last TO_DO_BITS what it is
	uint32_t packet; // that comes
};

struct crossbar {	   // of a switch
	uint64_t choosing; // bit a port: its link is to choose a packet; where words == 1
	uint64_t limited;  // bit an input: it has S packets in the crossbar; likewise
	// Of a switch that is served in windows (serve.c).
	struct to_do *to_do; // in later windows
	tb_time_ps next_at;  // it is to be served; TB_TIME_NEVER
	uint64_t cell;	     // of the agenda, where it stands; UINT64_MAX: in none
	uint32_t n_to_do, to_do_room;
	uint32_t first;	     // slot
	uint16_t n_ports;    // slots
	uint16_t n_begun;    // packets that left, modulo n_ports
	uint16_t began_with; // port with which its present round began
	bool listed;
};
_Static_assert(sizeof(struct crossbar) == 64, "a cache line");

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

struct queue_left { // who left a queue last
	tb_time_ps at;
	uint32_t flow, root;
};

struct short_queue { // where switches are served in windows: of packets that have come
	uint32_t first, last; // packets; first NOTHING: empty
	uint32_t bytes;	      // of all
};

struct receiver { // the link that comes in by a slot; then its queues and its cell
	uint32_t link;
	uint32_t n_crossing; // packets that came by it and cross the next link
	tb_time_ps stopped_at;
	uint32_t stopped_flow, stopped_root; // of the last such that was over
	uint32_t stopped_port;
	uint32_t port;	   // of the switch
	uint64_t crossing; // bit a port, where words == 1: its link carries one of those
	// Bit a queue, where there are up to 64 (see struct credits).
	uint64_t used_queues;
	uint32_t sw;
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
// replay is made (model.c), and never changes.
struct credits_setup {
	// An event that is alone in its instant needs no lists (model.c). Crossbars of at
	// most 64 ports, and no pauses.
	bool chooses_alone;
	// Switches are served in windows (serve.c): most networks.
	bool served;
	// Of these: none of what follows but by_digits and early_credits; links are
	// equal.
	bool simple;
	// Switches store and forward: a packet may leave when its tail is in
	// (crossing.c).
	bool store_and_forward;
	// Pause frames instead of credits: a lane has one credit while its sender may
	// send (queues.h, pause.c).
	bool pauses;
	// Routes follow from the digits of the destination, in a regular tree
	// (queues.h).
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
	// Credits are sent when a packet begins to leave a buffer, before they are free:
	// where switches are served, without pauses (serve.c).
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
	// Packets that become heads in the next round of this instant.
	uint32_t *next_heads, n_next_heads;
	struct crossbar *crossbars;   // by switch
	uint64_t *choosing, *limited; // by switch, words each, where words > 1
	// By slot, queue_words each, where that is not 1: queues that hold packets, or
	// did at the end of the last bin or later.
	uint64_t *used_queues;
	uint32_t queue_words;
	struct arbiter *arbiters;     // by slot
	struct tb_vl_table tables[2]; // low, high
	struct tb_list switches_now;
	// Where switches are served in windows.
	struct agenda *agenda;	 // of a part of the network
	tb_time_ps served_until; // all its switches have been served
	tb_time_ps window_ps;	 // in which they can be: the least latency
	struct queue_left *left; // by slot, n_vls each: with FIFO inputs
	tb_time_ps *look_at;	 // by slot: when its link looks; TB_TIME_NEVER: not
	struct tb_list come;	 // packets, in this round
	size_t come_room;
	uint32_t *loads;	// by slot: packets that have this route
	uint32_t *choices;	// slots of links, scratch of a part's own
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

static inline struct short_queue *short_queue_in(
	struct receiver *receiver, uint32_t number)
{
	return (struct short_queue *)(void *)(receiver + 1) + number;
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

// The calls between the parts of a network with credits. Private to this room.

// crossing.c: packets leave and come.
//
// tb_crossing_inject has a node's fetched packet begin to cross its injection link.
void tb_crossing_inject(struct credits *credits, uint32_t node, uint32_t packet);
// tb_crossing_reach: a packet has begun to cross a link to a switch; its header arrives
// through `slot` at `header_at`. It joins a queue there, behind all that began before it,
// or chooses its route when it has arrived.
void tb_crossing_reach(struct credits *credits, struct credit_packet *packet,
	uint32_t slot, tb_time_ps header_at);
// tb_crossing_stored_for returns how long a packet that has arrived and has its route is
// stored so that its last byte has arrived when the next link sends it (rule C6).
tb_time_ps tb_crossing_stored_for(
	const struct credits *credits, const struct credit_packet *packet);
// tb_crossing_join: a packet has arrived and has its route.
void tb_crossing_join(struct credits *credits, struct credit_packet *packet);
// tb_crossing_begin has the first packet of a queue begin to cross a link; `by` is the
// update of this instant whose credits it needed, or NULL.
void tb_crossing_begin(struct credits *credits, uint32_t slot,
	struct credit_packet *packet, const struct update *by);
// tb_crossing_carry has a packet that a link has taken begin to cross it;
// tb_crossing_give_back returns the credits that a packet frees when it has crossed.
void tb_crossing_carry(struct credits *credits, struct link_sender *sender,
	struct credit_packet *packet);
void tb_crossing_give_back(struct credits *credits, const struct link_sender *sender);
// tb_crossing_note_path notes, where setup.notes_paths, the link that a packet begins to
// cross; tb_crossing_uncount, where setup.counts_waiting, that it no longer waits for
// that of a slot, and marks it if that has a long queue.
void tb_crossing_note_path(struct credits *credits, const struct link_sender *sender,
	const struct credit_packet *packet);
void tb_crossing_uncount(
	struct credits *credits, uint32_t slot, struct credit_packet *packet);
// tb_crossing_done: a link out of a switch has carried its packet. Returns whether it is
// to choose another.
bool tb_crossing_done(struct credits *credits, uint32_t slot);
// The end of a packet that has arrived at a node. tb_crossing_free: its buffer falls free
// at `drained_at`. tb_crossing_end counts it. tb_crossing_acknowledged_at returns when
// its source has the acknowledgement that is sent now.
void tb_crossing_free(struct credits *credits, const struct credit_packet *packet,
	tb_time_ps drained_at);
void tb_crossing_end(struct credits *credits, struct credit_packet *packet);
tb_time_ps tb_crossing_acknowledged_at(
	const struct credits *credits, const struct credit_packet *packet);

// arbiter.c: crossbars.
//
// tb_arbiter_serve lets the listed links choose packets, switch by switch.
void tb_arbiter_serve(struct credits *credits);
// tb_arbiter_serve_one does so for a single link, that of a slot. Switches have up to 64
// ports.
void tb_arbiter_serve_one(struct credits *credits, uint32_t slot);
// tb_arbiter_take chooses one of the lanes that can send for the link of a slot, by the
// tables, and counts its packet; NOTHING.
uint32_t tb_arbiter_take(struct credits *credits, uint32_t slot, uint32_t can,
	struct credit_packet *const packets[TB_VLS_MOST]);
// tb_arbiter_limit: the input of a slot has S packets in the crossbar, with that which
// has begun to leave by the link of `slot`.
void tb_arbiter_limit(struct credits *credits, uint32_t slot, uint32_t from);
// tb_arbiter_allow: an input has fewer than S packets in the crossbar again.
void tb_arbiter_allow(struct credits *credits, uint32_t from);

// routing.c: failed links.
//
// tb_failures_fail_link: a link fails now.
void tb_failures_fail_link(struct tb_replay *replay, uint32_t link);
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
// tb_credits_end_wait: the wait of a packet ends now, as it begins to cross a link.
// Charges and blames the wait, and returns the link that is its root. `by` is the update
// whose credits the packet needed, or NULL.
uint32_t tb_credits_end_wait(struct credits *credits, const struct link_sender *sender,
	const struct credit_packet *packet, const struct update *by);
// tb_credits_blame_lasting blames a wait that still lasts at `until` (rule C24), adds it
// to the packet's, and returns its root.
uint32_t tb_credits_blame_lasting(
	struct credits *credits, struct credit_packet *packet, tb_time_ps until);
// Delays, if the options ask for them: tb_credits_note_stop notes that a packet begins to
// cross a link; tb_credits_add_delays adds up those of a packet that has arrived.
void tb_credits_note_stop(
	struct credits *credits, const struct credit_packet *packet, uint32_t link);
void tb_credits_add_delays(struct credits *credits, const struct credit_packet *packet);
// See struct tb_switching.
bool tb_credits_settle(struct tb_replay *replay, tb_time_ps until);
void tb_credits_blame_open(struct tb_replay *replay, tb_time_ps until);

// prefetch.c: fetches into the cache what the next events will read; see struct
// tb_switching.
void tb_credits_prefetch_first(
	struct tb_replay *replay, const struct tb_event *events, uint32_t n);
void tb_credits_prefetch_second(struct tb_replay *replay, struct tb_event event);
void tb_credits_prefetch_third(struct tb_replay *replay, struct tb_event event);

// model.c: see struct tb_switching.
int tb_credits_make(struct tb_replay *replay, const struct tb_engine_options *options,
	struct tb_cell ***cells) TB_MUST_USE;
void tb_credits_free(struct tb_replay *replay);
// tb_credits_make_lists makes the lists of an instant; tb_credits_make_replay the nodes'
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

// tb_pause_left counts a packet whose last byte has left; `update` has the flow and root
// to blame if it ends a pause.
void tb_pause_left(struct credits *credits, uint32_t slot, uint32_t vl, uint32_t bytes,
	const struct update *update);

// tb_pause_drain counts a packet that has arrived at its node, until it is drained.
void tb_pause_drain(struct credits *credits, const struct credit_packet *packet,
	tb_time_ps drained_at, const struct update *update);
void tb_pause_drained(struct credits *credits, uint32_t node); // EV_DRAINED

// tb_pause_compare compares this instant's counts with the thresholds, in phase 2, and
// sends pauses and ends of pauses.
void tb_pause_compare(struct credits *credits);

// Switches that are served in windows; see serve.c. Private to this room.

// tb_serve_is_possible returns whether a network, set up but for that, is of the common
// case. tb_serve_make makes the agenda of a part; TB_ENOMEM.
bool tb_serve_is_possible(const struct credits *credits);
int tb_serve_make(struct credits *credits) TB_MUST_USE;
void tb_serve_free(struct credits *credits);

// tb_serve_inject and tb_serve_injects_at are tb_crossing_inject and the carrier's
// injects_at.
void tb_serve_inject(struct credits *credits, uint32_t node, uint32_t packet);
tb_time_ps tb_serve_injects_at(
	const struct credits *credits, uint32_t node, uint32_t packet);

// tb_serve_reach: a packet has begun to cross a link to a switch; its header arrives
// through `slot` at `header_at`, after those of all that began before it.
void tb_serve_reach(struct credits *credits, struct credit_packet *packet, uint32_t slot,
	tb_time_ps header_at);
// tb_serve_look has a link of a switch look for credits at `at`; unless it is of the
// switch that is served, not before the window ends.
void tb_serve_look(struct credits *credits, uint32_t slot, tb_time_ps at);
// tb_serve_soon: EV_SERVE.
void tb_serve_soon(struct credits *credits, uint32_t sw);

// tb_serve_settle is tb_credits_settle for the switches.
bool tb_serve_settle(struct credits *credits, tb_time_ps until);

// tb_serve_waiting sums the packets of a queue that have been ready since before `until`,
// which is not later than now, or than the end of the bin.
uint32_t tb_serve_waiting(
	const struct credits *credits, const struct short_queue *queue, tb_time_ps until);

// tb_serve_next returns when a switch has something to do next, or somewhat before;
// TB_TIME_NEVER. A window, no longer than a link's latency, begins with
// tb_serve_begin_window; when the nodes have done what happens in it, tb_serve_window
// serves the switches.
tb_time_ps tb_serve_next(const struct credits *credits);
void tb_serve_begin_window(struct credits *credits, tb_time_ps until);
void tb_serve_window(struct credits *credits, tb_time_ps until);

#endif

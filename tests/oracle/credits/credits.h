// The oracle's networks with credits (docs/credits.md), shared by links.c (blocks that
// cross, buffers, updates), switches.c (queues, routes, who goes next), failures.c (what
// dies), blame.c (who a wait was for), adapter.c (queue pairs, PCIe, injection,
// acknowledgements) and ideal.c.
//
// Every block of 64 bytes that crosses a link is an event, and so is its coming in at the
// far end; a buffer is an array of blocks, a queue an array of packets, an update a
// message. Nothing is indexed: what is asked for is searched. Rounds, messages, retries,
// routes and sums are those of the oracle's other half.
#ifndef ORACLE_CREDITS_H
#define ORACLE_CREDITS_H

#include "credit_params.h"
#include "oracle_impl.h"

enum { BLOCK_BYTES = 64 };

struct blamed { // on whom the wait for a packet is blamed
	struct oracle_flow flow;
	uint32_t root;
	bool by_credit;		  // the first reason of C23
	struct oracle_flow ahead; // instead of the flow, by its own packets
};

struct update { // of what has fallen free behind a link, or of a pause (C9, C10)
	uint32_t link, vl;
	uint32_t n_blocks;
	bool pauses; // with pause: else the sender may go on
	// What C23 needs.
	tb_time_ps freed_at;
	uint64_t order;
	struct blamed blamed;
};

struct updates {
	struct update *list;
	size_t n;
};

struct left { // the packet that left a queue last
	tb_time_ps at;
	struct blamed blamed; // by what waited for it
};

struct lane { // a VL of a link
	// The sender's side.
	uint32_t n_free; // blocks that it knows to be free
	bool paused;
	tb_time_ps known_at;	// an update, last
	struct updates known;	// all of that instant
	uint32_t n_free_before; // that instant
	bool paused_before;
	tb_time_ps crossed_at; // a packet of it had crossed, last
	// The wait that an update ended last: then no packet had crossed for `idle`.
	tb_time_ps resumed_at, idle;
	struct blamed resumed;
	uint32_t turn;	   // port behind the one that was served last (C11)
	uint32_t n_let_by; // not marked since the last, but could have been (C40)
	// The buffer at the far end, by block; NULL: free.
	struct packet **blocks;
	uint32_t n_blocks;
	struct packet **queue; // packets that have come, in the order in which they did
	size_t n_queue;
	struct left *left; // by queue: with voq by the port that they left by
	uint64_t n_bytes;  // of packets that have come and not left (C10)
	bool is_pausing_sender;
	struct left leaver;    // who left last, and of one instant
	uint64_t leaver_order; // the last by order
};

struct arbiter { // of a table (C12)
	uint32_t current, weight_left;
};

struct crossed {       // what crossed a link last
	tb_time_ps at; // it had crossed
	uint32_t came_by;
	struct oracle_flow flow;
	struct blamed blamed; // by what waited for it
};

struct line {			 // a link
	struct packet *crossing; // NULL: it is free
	uint32_t hop;		 // of that packet
	tb_time_ps ends_at;
	bool has_crossed; // anything
	struct crossed last;
	struct arbiter high, low;
	uint64_t n_high_bytes; // since the last packet of vl_low
	uint32_t n_high;
	bool stalled;
	tb_time_ps stalled_from;
	struct lane *lanes; // by VL
};

struct crossbar {	      // a switch
	struct packet **came; // in this instant, to choose their routes
	size_t n_came;
	uint64_t n_begun; // packets that have begun to leave it
	bool touched, seen;
};

struct pair { // a queue pair that has something to send
	uint32_t destination, vl;
	const struct message *message; // NULL: all those to the destination
};

struct pace { // of the messages of a node to another one on a VL (C34 to C37)
	uint32_t source, destination, vl;
	tb_time_ps told_at; // the last notification left, -1: none has
	bool limited;	    // else at the rate of the link
	uint64_t rate, target, alpha, bytes;
	uint32_t by_time, by_bytes; // steps since the last notification
	tb_time_ps alpha_due, step_due, next;
	uint32_t ccti; // and with FECN, C40
	tb_time_ps falls_at;
};

struct begun { // the last message of a process to another one (C38)
	uint32_t destination, job, source_rank, destination_rank;
	tb_time_ps at;
};

struct sent { // a packet of a VL has crossed a node's link, or does
	uint32_t vl;
	tb_time_ps from, to;
};

struct adapter {	    // a node
	struct pair *pairs; // in turn
	size_t n_pairs;
	struct begun *begun;
	size_t n_begun;
	tb_time_ps last_began; // a message of any
	struct sent *sent;     // all
	size_t n_sent;
	tb_time_ps free_at[2]; // its PCIe servers, by way
	uint64_t byte_q20[2];
};

struct credits {
	const struct tb_credit_params *params;
	struct tb_vl_table high, low;
	uint8_t vl_of[TB_SLS];
	uint32_t n_vls;
	struct line *lines;
	struct crossbar *crossbars;
	struct adapter *adapters;
	struct pace *paces;
	size_t n_paces;
	struct updates updates; // all, by the id of their happening
	// Switches to be looked at when the instant is over.
	struct touched now;
	tb_time_ps last_instant; // of something other than an update
};

static inline bool pauses(const struct credits *credits)
{
	return credits->params->flow_control == TB_FLOW_PAUSE;
}

static inline uint32_t blocks_of(const struct packet *packet)
{
	return (packet->wire_bytes + BLOCK_BYTES - 1) / BLOCK_BYTES;
}

static inline struct line *line_of(const struct oracle *oracle, uint32_t link)
{
	return &oracle->credits->lines[link];
}

static inline struct lane *lane_of(
	const struct oracle *oracle, uint32_t link, const struct packet *packet)
{
	return &oracle->credits->lines[link].lanes[packet->vl];
}

static inline uint32_t came_by(const struct packet *packet)
{
	return packet->hops[packet->n_granted - 1].link;
}

// The flow of a packet, whose message may be gone.
static inline struct oracle_flow flow_of(const struct packet *packet)
{
	return (struct oracle_flow){
		packet->what.job, packet->what.source.id, packet->destination};
}

// make.c
//
// Makes oracle->credits, for a network with credits; an oracle without stays as it is.
void credits_make(struct oracle *oracle);
void credits_unmake(struct oracle *oracle);

// switch_of is the switch to which a packet came last.
static inline uint32_t switch_of(const struct oracle *oracle, const struct packet *packet)
{
	return oracle->links[came_by(packet)].info->to;
}

// links.c
//
// A packet begins to cross a link, its next hop.
void credits_begin(struct oracle *oracle, struct packet *packet, uint32_t link);
void credits_block_crossed(struct oracle *oracle, struct packet *packet, uint32_t hop);
void credits_block_in(struct oracle *oracle, struct packet *packet, uint32_t hop);
void credits_header_in(struct oracle *oracle, struct packet *packet, uint32_t hop);
// What a packet holds behind a link falls free; `blamed` as C23 has it for the next.
void credits_free(struct oracle *oracle, struct packet *packet, uint32_t link,
	struct blamed blamed);
void credits_update_in(struct oracle *oracle, uint32_t update);
bool credits_may_begin(
	const struct oracle *oracle, uint32_t link, const struct packet *packet);
// Compares counts with xoff and xon (C10), when the instant is over.
void credits_send_pauses(struct oracle *oracle);

// switches.c
//
void credits_touch(struct oracle *oracle, uint32_t sw);
void credits_come(struct oracle *oracle, struct packet *packet); // to a switch
void credits_ready(struct oracle *oracle, struct packet *packet);
uint64_t credits_waiting(
	const struct oracle *oracle, uint32_t sw, uint32_t link, uint32_t vl);
void credits_choose_routes(struct oracle *oracle); // phase 2
void credits_serve(struct oracle *oracle);	   // phase 3
// credits_arbitrate is which VL a link takes of those whose packets it looks at, a NULL
// where there is none (C12); TB_ID_NONE: nothing can go.
uint32_t credits_arbitrate(
	struct oracle *oracle, uint32_t link, struct packet *const packets[TB_VLS_MOST]);
// Takes a packet out of its queue.
void credits_unqueue(struct oracle *oracle, struct packet *packet);
// Notes who was blocked, and which links stall, when the instant is over.
void credits_note_instant(struct oracle *oracle);
void credits_note_lasting(struct oracle *oracle); // when the replay is

// failures.c
//
void credits_fail_links(struct oracle *oracle); // something dies

// blame.c
//
// credits_end_wait notes the wait of a packet that begins to cross a link now and is no
// more in its queue, and what the wait was for.
void credits_end_wait(struct oracle *oracle, struct packet *packet, uint32_t link);
// credits_note_open notes one that ends otherwise, or lasts (C24).
void credits_note_open(struct oracle *oracle, struct packet *packet);
// credits_blamed is what is blamed by what waited for a packet: for the wait of a hop, or
// if it did not wait there, its flow with a link.
struct blamed credits_blamed(
	const struct packet *packet, const struct hop *hop, uint32_t link);

struct left *credits_left_of(struct oracle *oracle, const struct packet *packet);

// adapter.c
//
uint8_t credits_vl(const struct oracle *oracle, const struct tb_message *message);
tb_time_ps credits_serve_pcie(
	struct oracle *oracle, uint32_t node, enum way way, uint64_t bytes);
void credits_join(struct oracle *oracle, struct message *message);
void credits_leave(struct oracle *oracle, const struct message *message);
// The message of which the next packet is to be cut; NULL: none.
struct message *credits_next(struct oracle *oracle, uint32_t node, uint32_t vl);
struct packet *credits_cut_next(struct oracle *oracle, uint32_t node, uint32_t vl);
// What a message waits for its fetch before it joins the queue (C39).
tb_time_ps credits_fetch_delay(
	const struct oracle *oracle, const struct message *message);
void credits_inject(struct oracle *oracle, uint32_t node);
// credits_others_sent is for how long packets of other VLs have crossed a node's link
// since an instant.
tb_time_ps credits_others_sent(
	const struct oracle *oracle, uint32_t node, uint32_t vl, tb_time_ps since);
void credits_in(struct oracle *oracle, struct packet *packet); // at its destination
void credits_acknowledged(struct oracle *oracle, struct packet *packet);
void credits_drained(struct oracle *oracle, struct packet *packet);
// A packet has ended where it is: its source knows now.
void credits_fail(struct oracle *oracle, struct packet *packet);
// A packet's event is over; the packet may be, too.
void credits_event_over(struct oracle *oracle, struct packet *packet);

// paces.c: congestion control.
//
// A packet leaves a switch: whether it is marked.
void credits_mark(struct oracle *oracle, struct packet *packet, uint32_t link);
// It has come, and its source is to be told.
void credits_tell(struct oracle *oracle, const struct packet *packet, tb_time_ps after);
void credits_notified(struct oracle *oracle, uint32_t pace);
// When the next packet of a message may be cut.
tb_time_ps credits_may_cut_at(const struct oracle *oracle, const struct message *message);
void credits_was_cut(struct oracle *oracle, const struct packet *packet);

// ideal.c
//
tb_time_ps credits_ideal_ps(struct oracle *oracle, const struct message *message);

#endif

// The inside of the engine, shared by circuits.c (headers and VCs), bursts.c (links),
// endpoint.c (messages, the node's bus, acknowledgements), engine_new.c (its parts) and
// engine.c (time). Private to replay/.
//
// Words: a packet's path has hops 0 (injection) to n_hops - 1 (ejection). A burst is the
// part of a packet that fits the smallest FIFO of the network; burst m of hop j may cross
// link j when the header has its VC there, burst m - 1 has crossed, burst m is coming
// over link j - 1, and the FIFO behind link j has room because an earlier burst went on
// over link j + 1.
#ifndef TB_ENGINE_IMPL_H
#define TB_ENGINE_IMPL_H

#include "books.h"
#include "broadcast.h"
#include "engine.h"
#include "least_loaded.h"
#include "network_impl.h"
#include "partners.h"
#include "route_choice.h"
#include "wheel.h"

#define NOTHING UINT32_MAX

enum event_kind {
	EV_HEADER,    // packet: its header stands at the next switch
	EV_TAIL,      // packet: its last flit is in at the destination
	EV_READY,     // packet << hops_shift | hop: the next burst can cross, after a gap
	EV_LINK,      // slot: falls free while another VC has a burst ready
	EV_SWITCH,    // switch: a VC that headers wait for falls free
	EV_NODE,      // node: a packet is fetched and its injection VC free
	EV_SENT,      // message: acknowledged
	EV_DELIVERED, // message: at the receiver
	EV_UNDELIVERED, // message: given up, nothing of it is under way
	EV_ERROR,	// retry: the error of a packet is known at its source
	EV_BROADCAST,	// links that a broadcast waits for fall free
};

// Inside the engine a link goes by its slot: the links out of a switch follow each other
// in the order of its ports, so that what a header chooses from lies side by side. The
// injection links come last, in the order of nodes. A port without a cable is an unused
// slot.

struct vc { // what is asked only where packets meet; free_at stands apart
	_Alignas(32) tb_time_ps granted_at; // to its present or last holder
	uint32_t packet;		    // holder, while a burst may still be served
	uint32_t hop;
	uint32_t flow; // of the present or last holder
	uint32_t root; // id of the link that limited the last holder here: what a waiter
		       // waited for
};

struct link { // every crossing touches all of it: two cache lines side by side
	_Alignas(128) tb_time_ps
		reserved_until; // the burst being served ends; final, whatever comes
	tb_time_ps held_since;	// TB_TIME_NEVER while no VC is held
	tb_time_ps hop_ps;	// header on this link to header at the next switch
	tb_time_ps flit_ps;
	uint64_t byte_q20;    // picoseconds a byte, 20 binary places
	uint32_t id;	      // in the network
	uint32_t from;	      // switch, or node of an injection link
	uint32_t to;	      // switch, or node of an ejection link
	uint16_t room_bursts; // bursts that its FIFO holds; BURSTS_ALWAYS at an ejection
	uint16_t ready;	      // bit a VC: its next burst waits for the link
	uint8_t serving;      // VC served last
	uint8_t n_vcs;
	bool serves_last; // burst of a packet
	bool event_set;	  // an EV_LINK is under way
	bool listed;	  // is on the list of this instant
	bool ejection;
	bool injection;
	_Alignas(64) struct tb_cell cell; // what is counted of it
};

#define BURSTS_ALWAYS UINT16_MAX // a node, or who discards, takes whatever comes

struct span { // of a burst on a link
	tb_time_ps start, end;
};

struct hop {		 // followed by a span for each burst: see span_at
	tb_time_ps wait; // before its VC was granted
	uint32_t link;	 // slot
	uint32_t bursts; // bursts begun
	uint32_t root;	 // id of the link that the wait was for in the end
	uint16_t room;	 // room_bursts of the link
	uint8_t vc;	 // of the link
	uint8_t number;	 // of the hop
	bool armed;	 // next burst is ready, or known when it will be
	bool to_look_at; // is on the list of hops_to_look_at
	uint32_t next;	 // in that list
};

struct packet {		    // a cache line, followed by its hops: see hop_at
	uint64_t order;	    // message serial and number within it: breaks ties
	tb_time_ps arrived; // header at the switch where it stands
	tb_time_ps charged; // wait up to here is counted already
	tb_time_ps waited;  // at earlier switches
	uint32_t id;
	uint32_t message, flow;
	uint32_t destination;
	uint32_t wire_bytes;
	uint32_t n_bursts;
	uint32_t came_by;  // slot of its last hop
	uint8_t n_granted; // hops whose VC it has
	uint8_t ascending; // of a regular tree
	bool is_empty;	   // has no payload
};

struct waiter {
	int64_t key; // smaller is older: arrival - age weight x earlier waits
	uint64_t order;
	uint32_t packet;
	uint32_t route; // slot, or a group with TB_ROUTE_GROUP
};

struct group { // of links any of which leads on
	uint32_t n;
	uint32_t first;	       // slot, the others follow it
	const uint32_t *slots; // unless they do not: NULL when they do
	bool at_once;	       // engine->least_loaded finds the least loaded
};

struct switch_state {
	tb_time_ps wake_at;	// earliest EV_SWITCH under way
	struct waiter *waiters; // n_waiting, then n_new, each sorted, oldest first
	uint32_t n_waiting;
	uint32_t n_new; // came in this instant
	bool listed;
};

struct message {
	struct tb_message what;
	uint32_t end; // its destination; of a broadcast the end that is followed
	uint64_t serial;
	tb_time_ps posted_at, start_at;
	tb_time_ps sent_at, delivered_at;
	uint32_t n_unfetched, n_undrained, n_packets;
	uint32_t flow;
	uint8_t ascending; // of a regular tree
	uint32_t next;	   // in its node's queue, or in the free list
	uint32_t uses;	   // what still refers to it
	uint32_t n_lost;   // packets that failed and are not tried again
	bool given_up;
};

struct node {
	_Alignas(64) tb_time_ps bus_free_at;
	tb_time_ps drained_at;	   // the last packet that came in
	tb_time_ps wake_at;	   // earliest EV_NODE under way
	uint32_t queue, queue_end; // messages
	tb_time_ps fetched_at;	   // perhaps still to come
	uint32_t fetched;	   // packet that waits for an injection VC
	bool listed;
};

struct list { // ids touched in this instant
	uint32_t *ids;
	uint32_t n, room;
};

struct ending { // of a message: EV_SENT or EV_DELIVERED
	uint64_t serial;
	uint32_t message;
	enum event_kind kind;
};

struct tb_engine {
	const struct tb_network *net;
	const struct tb_source *source;
	struct tb_books books;
	struct tb_wheel wheel;
	tb_time_ps now;
	tb_time_ps last_told;  // the source of an ending
	bool over;	       // nothing is left to do
	tb_time_ps source_at;  // when the source has something; read anew after it was
			       // told
	tb_time_ps outside_at; // that, the end of a send overhead, or a death, whichever
			       // comes first
	struct tb_route_choice choice;
	bool odd_routes;	  // they are not simply the network's
	struct tb_faulty *faulty; // NULL when nothing dies
	tb_time_ps fault_at;	  // when something dies next
	struct tb_partners partners;
	uint32_t slice_packets; // of a message before the next one's turn; 0: all
	int64_t age_q10;	// age weight, 10 binary places
	uint64_t bus_q20;
	uint32_t burst_bytes, bursts_most, hops_most, vcs_most;
	unsigned hops_shift;		// of an EV_READY's subject
	size_t hop_bytes, packet_bytes; // strides
	bool equal_rates;		// of all links
	uint32_t n_slots, first_injection;
	struct link *links;	// by slot
	struct vc *vcs;		// by slot, vcs_most each
	tb_time_ps *free_at;	// of each VC; TB_TIME_NEVER while the end is not known
	uint32_t *slot_of_link; // by id
	struct tb_cell **cells; // by id
	struct group *groups;
	tb_least_loaded *least_loaded;
	uint32_t *group_slots; // memory of those that do not follow each other
	struct switch_state *switches;
	struct waiter *waiters; // memory of all switches
	struct node *nodes;
	char *packets; // records of packet_bytes each
	uint32_t *free_packets;
	uint32_t n_free_packets, n_packets_most;
	struct message *messages;
	uint32_t n_messages, messages_room, free_message;
	uint32_t *posted; // ring of messages that wait out their send overhead
	uint32_t posted_first, n_posted, posted_room;
	struct list links_now, switches_now, nodes_now;
	struct ending *endings; // of this round, by message serial
	uint32_t n_endings, endings_room;
	struct tb_engine_stats stats;
	bool broadcasting;		// a broadcast has been posted
	struct switch_state broadcasts; // those that wait for their branches
	uint32_t *branches;		// links of one level, a working space
	uint32_t hops_to_look_at;	// packet << hops_shift | hop: see bursts.c
	tb_time_ps *delays;		// of the options
	struct tb_error failure;	// code is TB_OK while all is well
};

// tb_engine_fail keeps the first failure; the loop ends with it.
void tb_engine_fail(struct tb_engine *engine, enum tb_status code, const char *sentence);

static inline struct packet *packet_at(const struct tb_engine *engine, uint32_t id)
{
	return (void *)(engine->packets + id * engine->packet_bytes);
}

static inline struct hop *hop_at(
	const struct tb_engine *engine, struct packet *packet, uint32_t hop)
{
	return (void *)((char *)(packet + 1) + hop * engine->hop_bytes);
}

static inline struct span *span_at(struct hop *hop, uint32_t burst)
{
	return (struct span *)(void *)(hop + 1) + burst;
}

static inline uint32_t payload_bytes(
	const struct tb_engine *engine, const struct packet *packet)
{
	return packet->is_empty
		       ? 0
		       : packet->wire_bytes - engine->net->params.packet_overhead_bytes;
}

static inline tb_time_ps link_time(const struct link *link, uint64_t bytes)
{
	return (tb_time_ps)((bytes * link->byte_q20 + (UINT64_C(1) << 19)) >> 20);
}

static inline tb_time_ps *free_at(const struct tb_engine *engine, uint32_t slot)
{
	return engine->free_at + (size_t)slot * engine->vcs_most;
}

static inline struct vc *vcs_of(const struct tb_engine *engine, uint32_t slot)
{
	return engine->vcs + (size_t)slot * engine->vcs_most;
}

static inline void list_add(struct list *list, uint32_t id, bool *listed)
{
	if (*listed)
		return;
	*listed = true;
	list->ids[list->n++] = id;
}

// bursts.c: when a burst crosses a link.
//
// A hop's VC has just been granted: its first burst crosses at once or waits for the
// link.
void tb_bursts_enter(struct tb_engine *engine, struct packet *packet, struct hop *at);
void tb_bursts_ready(struct tb_engine *engine, uint32_t subject); // EV_READY
void tb_bursts_serve(struct tb_engine *engine, uint32_t slot);	  // phase 3
// The header has met a dead link: its switch takes what comes of the packet, and EV_TAIL
// follows when it has all.
void tb_bursts_swallow(struct tb_engine *engine, struct packet *packet);

// circuits.c: who gets a VC, and when it falls free again.
//
// A packet's first hop gets VC `vc` of its node's injection link at the present instant.
void tb_circuit_inject(
	struct tb_engine *engine, uint32_t node, uint32_t packet, uint32_t vc);
void tb_circuit_header(struct tb_engine *engine, uint32_t packet); // EV_HEADER
// EV_HEADER when nothing else happens in this instant: phase 2 included.
void tb_circuit_header_alone(struct tb_engine *engine, uint32_t packet);
void tb_circuit_switch(struct tb_engine *engine, uint32_t sw); // phase 2
// The last flit is in and the acknowledgement leaves at `ack_at`; returns when it is back
// at the source. The end-of-packet token, sent then, frees the VCs.
tb_time_ps tb_circuit_release(
	struct tb_engine *engine, struct packet *packet, tb_time_ps ack_at);
// Adds to the delays that the options ask for what this packet met.
void tb_circuit_add_delays(struct tb_engine *engine, struct packet *packet);
// When the first VC of a link is known to fall free.
tb_time_ps tb_circuit_first_free(const struct tb_engine *engine, uint32_t slot);
// tb_circuit_count_branches counts a burst of a broadcast on the branches that are not
// followed.
void tb_circuit_count_branches(struct tb_engine *engine, struct packet *packet,
	const struct hop *at, uint32_t bytes);
// Which broadcasts that wait get their branches: before phase 2.
void tb_circuit_broadcasts(struct tb_engine *engine);
// A link out of a switch has died: headers that wait there look for their ways anew.
void tb_circuit_strike(struct tb_engine *engine, uint32_t sw);
// Blames the waits that last at the end of a replay on whom they wait for then.
void tb_circuit_blame_open(struct tb_engine *engine, tb_time_ps until);
// Counts what lasts up to `until`, the end of the open bin; says whether anything lasts
// beyond.
bool tb_circuit_settle(struct tb_engine *engine, tb_time_ps until);

// endpoint.c: messages, the bus, acknowledgements.
void tb_endpoint_post(struct tb_engine *engine, const struct tb_message *message);
void tb_endpoint_start(struct tb_engine *engine, uint32_t message); // overhead is over
void tb_endpoint_node(struct tb_engine *engine, uint32_t node);	    // phase 2
void tb_endpoint_tail(struct tb_engine *engine, uint32_t packet);   // EV_TAIL
// Makes packet `number` of a message; tb_endpoint_cut the next one of a node's queue.
uint32_t tb_endpoint_packet(struct tb_engine *engine, uint32_t message, uint32_t number);
uint32_t tb_endpoint_cut(struct tb_engine *engine, struct node *node);
// Has the node look when its packet has come and finds a VC, if that is known.
void tb_endpoint_look_again(struct tb_engine *engine, uint32_t node);
// EV_SENT or EV_DELIVERED: the source is told at the end of phase 1.
void tb_endpoint_ended(struct tb_engine *engine, uint32_t message, enum event_kind kind);
void tb_endpoint_tell_source(struct tb_engine *engine);
// Reads anew when something comes from outside the network.
void tb_endpoint_look_outside(struct tb_engine *engine);

#endif

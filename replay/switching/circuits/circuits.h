// The circuits of a replay: the switching of QsNet. Private to this room.
//
// Model (docs/model.md, rules 9 to 18). A packet's header takes one VC on each link of
// its path and keeps them all until its acknowledgement has come back and the
// end-of-packet token has passed; a header that finds no free VC waits in place, its
// flits in the FIFOs behind it. A link serves one VC until that has no flit to send or no
// room ahead. Flits of a packet cross a link in bursts of one FIFO's length without a
// gap, so bursts are what is scheduled: the cost does not depend on flit or packet size,
// nor on idle links.
//
// Words: a packet's path has hops 0 (injection) to n_hops - 1 (ejection). A burst is the
// part of a packet that fits the smallest FIFO of the network. Burst m of hop j may cross
// link j when the header has its VC there, burst m - 1 has crossed, burst m has begun to
// arrive over link j - 1, and the FIFO behind link j has room because an earlier burst
// has gone on over link j + 1.
//
// Files: model.c (function table), circuits_new.c (allocation), headers.c (which header
// gets a VC), routes.h (of which link), circuits_impl.h (VCs taken and freed), bursts.c
// (links), circuits_join.c (parts side by side), branches.c (broadcasts), link_tokens.h
// (flow-control traffic for the reverse link), failures.c (failed links), prefetch.c
// (what the next events will read).
//
// Parts (docs/model.md, rule 36): a link, with its VCs, belongs to one part, its reverse
// to the same one. A packet has a record in each part that its path comes through, with
// the hops there, and a copy of the hop before and after them: their part sends what
// begins to cross those, one hop before it takes effect. At a switch each part that has
// links out of it has a list of the headers that wait for these.
#ifndef TB_CIRCUITS_H
#define TB_CIRCUITS_H

#include "broadcast.h"
#include "circuit_params.h"
#include "link_tokens.h"
#include "switching.h"
#include "units.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// Which links of a group have the most free VCs: the choice of every ascending header.
// Private to replay/.
//
// A VC is free when the instant at which it falls free has come. For links of two VCs
// whose instants lie side by side this is a row of comparisons, done four at a time where
// the processor can; what comes out does not depend on how.

// The most links that one choice can be made from.
#define TB_LEAST_LOADED_LINKS 32

// A tb_least_loaded gives the links that have two free VCs or, where there are none,
// those that have one: bit 2i stands for link i, 0 means that no VC is free. free_at[2i]
// and free_at[2i + 1] are link i's; three more can be read behind the last.
typedef uint64_t tb_least_loaded(
	const tb_time_ps *free_at, uint32_t n_links, tb_time_ps now);

// tb_least_loaded_best is the quickest on this processor, tb_least_loaded_plain the one
// that bursts on any.
tb_least_loaded *tb_least_loaded_best(void);
uint64_t tb_least_loaded_plain(
	const tb_time_ps *free_at, uint32_t n_links, tb_time_ps now);

// tb_bits_count counts the bits of a mask; tb_bits_nth is the place of its bit number n,
// from 0; it has that many.
static inline uint32_t tb_bits_count(uint64_t mask)
{
	mask -= mask >> 1 & UINT64_C(0x5555555555555555);
	mask = (mask & UINT64_C(0x3333333333333333)) +
	       (mask >> 2 & UINT64_C(0x3333333333333333));
	mask = (mask + (mask >> 4)) & UINT64_C(0x0f0f0f0f0f0f0f0f);
	return (uint32_t)((mask * UINT64_C(0x0101010101010101)) >> 56);
}

static inline uint32_t tb_bits_nth(uint64_t mask, uint32_t n)
{
	for (; n > 0; n--)
		mask &= mask - 1;
	return (uint32_t)__builtin_ctzll(mask);
}

#define NOTHING TB_NOTHING

enum circuit_event_kind {
	EV_HEADER = TB_EVENT_OF_MODEL, // packet << hops_shift | hop: its header stands at
				       // the next switch
	EV_TAIL,		       // packet: its last flit is in at the destination
	EV_READY,     // packet << hops_shift | hop: the next burst can cross, after a gap
	EV_LINK,      // slot: falls free while another VC has a burst ready
	EV_SWITCH,    // switch: a VC that headers wait for falls free
	EV_BROADCAST, // links that a broadcast waits for fall free
};

// Inside this room a link goes by its slot: the links out of a switch follow each other
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

struct circuit_link { // every crossing touches all of it: two cache lines side by side
	_Alignas(128) tb_time_ps
		reserved_until; // the burst being served ends; final, whatever comes
	tb_time_ps held_since;	// TB_TIME_NEVER while no VC is held
	tb_time_ps hop_ps;	// header on this link to header at the next switch
	uint64_t byte_q20;	// picoseconds a byte, 20 binary places
	struct train *train;	// NULL without link tokens
	uint32_t id;		// in the network
	uint32_t from;		// switch, or node of an injection link
	uint32_t to;		// switch, or node of an ejection link
	uint16_t room_bursts; // bursts that its FIFO holds; BURSTS_ALWAYS at an ejection
	uint16_t ready;	      // bit a VC: its next burst waits for the link
	uint8_t serving;      // VC served last
	uint8_t n_vcs;
	bool serves_last; // burst of a packet
	bool event_set;	  // an EV_LINK is under way
	bool listed;	  // is on the list of this instant
	bool ejection;
	bool injection;
	bool crossing;			  // where it leads to, another part has links
	_Alignas(64) struct tb_cell cell; // what is counted of it
};

#define BURSTS_ALWAYS UINT16_MAX // a node, or who discards, takes whatever comes

struct burst_span { // of a burst on a link
	tb_time_ps start, end;
};

// Whose hop it is, in a part.
enum tb_hop_place {
	TB_HOP_OWN,
	TB_HOP_LAST, // its own, and the next link is another part's
	TB_HOP_COPY, // another part's: before its own its `wait` is what a header takes
		     // to cross all links up to it
};

struct hop {		 // followed by a span for each burst: see span_at
	tb_time_ps wait; // before its VC was granted
	uint32_t link;	 // slot
	uint32_t bursts; // bursts begun
	uint32_t root;	 // id of the link that the wait was for in the end
	uint16_t room;	 // room_bursts of the link
	uint8_t vc;	 // of the link
	uint8_t number;	 // of the hop
	bool followed;	 // its VC fell free in the instant of its grant
	bool armed;	 // next burst is ready, or known when it will be
	bool to_check;	 // is on the list of hops_to_check
	uint8_t place;	 // enum tb_hop_place
	uint32_t next;	 // in that list
};

struct circuit_packet {	     // a cache line, followed by its hops: see hop_at
	struct tb_packet of; // n_hops: those whose VC it has
	tb_time_ps arrived;  // header, where it stands; NEVER: on its way, or discarded
	tb_time_ps waited;   // at earlier switches
	uint32_t n_bursts;
	uint32_t came_by; // slot of its last hop
	uint32_t at;	  // where that leads: switch, or node in the end
	uint32_t route;	  // on from there, unless routes are odd and there are no parts
};

struct waiter {
	int64_t key; // smaller is older: arrival - age weight x earlier waits
	uint64_t order;
	uint32_t packet;
	uint32_t route; // slot, or a group with TB_ROUTE_GROUP
};

struct link_group { // of links any of which leads on
	uint32_t n;
	uint32_t first;	       // slot, the others follow it
	const uint32_t *slots; // unless they do not: NULL when they do
	bool at_once;	       // circuits->least_loaded finds the least loaded
};

struct switch_state {
	tb_time_ps wake_at;	// earliest EV_SWITCH under way
	struct waiter *waiters; // n_waiting, then n_new, each sorted, oldest first
	uint32_t n_waiting;
	uint32_t n_new; // came in this instant
	bool listed;
};

// A wait of a header that has come over a VC to a switch out of which other parts have
// links: the last one.
struct arrival {
	tb_time_ps arrived;
	_Atomic tb_time_ps until; // TB_TIME_NEVER: it lasts
	uint32_t bytes;
};

struct queue_end { // of a wait, over such a VC: how many bytes waited then is not known
	uint32_t slot;
	tb_time_ps at;
};

struct received { // by another part
	const struct tb_part_message *message;
	const struct circuit_packet *load;
};

struct circuits {
	struct tb_replay replay;
	bool odd_routes; // they are not simply the network's
	int64_t age_q10; // age weight, 10 binary places
	uint32_t burst_bytes, bursts_most, hops_most, vcs_most;
	unsigned hops_shift; // of an EV_READY's subject
	size_t hop_bytes;    // stride
	size_t packet_bytes;
	bool equal_rates; // of all links
	uint32_t n_slots, first_injection;
	struct circuit_link *links; // by slot
	struct vc *vcs;		    // by slot, vcs_most each
	tb_time_ps *free_at;	// of each VC; TB_TIME_NEVER while the end is not known
	uint32_t *slot_of_link; // by id
	struct tb_cell **cells; // by id
	struct link_group *groups;
	tb_least_loaded *least_loaded;
	uint32_t *group_slots; // memory of those that do not follow each other
	uint32_t **late_slots; // of the groups that faults leave, as they are met
	uint32_t n_late;
	size_t groups_room, late_room;
	struct switch_state *switches;
	struct waiter *waiters; // memory of all switches
	struct trains *trains;	// by slot; NULL without link tokens
	struct tb_list links_now, switches_now;
	bool broadcasting;		// a broadcast has been posted
	struct switch_state broadcasts; // those that wait for their branches
	uint32_t *branches;		// links of one level, a working space
	uint32_t hops_to_check;		// packet << hops_shift | hop: see bursts.c
	tb_time_ps *delays;		// of the options
	// Of the whole and its parts:
	uint8_t *part_of_slot; // NULL: the network is one part
	bool prefetches;
	struct arrival *arrivals; // by crossing link, vcs_most each
	uint32_t *came; // by VC over which a packet came: its number where it goes on
	// Of a part:
	uint32_t *slots; // its links
	uint32_t n_own;
	uint32_t *own_switches; // out of which it has links
	uint32_t n_own_switches;
	struct queue_end *queue_ends; // since they were counted last
	size_t n_queue_ends, queue_ends_room;
	struct received *received; // since the last window
	size_t n_received, received_room;
};

static inline struct circuit_packet *circuit_packet_at(
	const struct circuits *circuits, uint32_t id)
{
	return (void *)tb_packet_at(&circuits->replay, id);
}

static inline struct hop *hop_at(
	const struct circuits *circuits, struct circuit_packet *packet, uint32_t hop)
{
	return (void *)((char *)(packet + 1) + hop * circuits->hop_bytes);
}

static inline struct hop *hop_before(
	const struct circuits *circuits, const struct hop *at)
{
	return (void *)((uintptr_t)at - circuits->hop_bytes);
}

static inline struct hop *hop_after(const struct circuits *circuits, const struct hop *at)
{
	return (void *)((uintptr_t)at + circuits->hop_bytes);
}

static inline struct burst_span *span_at(struct hop *hop, uint32_t burst)
{
	return (struct burst_span *)(void *)(hop + 1) + burst;
}

// middle_at is when a flit in the middle of a burst begins to cross: the one in the same
// place as the last flit of the packet's last, shorter burst. Kept only where rates
// differ.
static inline tb_time_ps *middle_at(
	const struct circuits *circuits, struct hop *at, uint32_t burst)
{
	return (tb_time_ps *)(void *)span_at(at, circuits->bursts_most) + burst;
}

static inline tb_time_ps link_time(const struct circuit_link *link, uint64_t bytes)
{
	return (tb_time_ps)((bytes * link->byte_q20 + (UINT64_C(1) << 19)) >> 20);
}

static inline tb_time_ps flit_time(
	const struct circuits *circuits, const struct circuit_link *link)
{
	return link_time(
		link, tb_circuit_params(&circuits->replay.net->params)->flit_bytes);
}

static inline tb_time_ps *free_at(const struct circuits *circuits, uint32_t slot)
{
	return circuits->free_at + (size_t)slot * circuits->vcs_most;
}

static inline struct vc *vcs_of(const struct circuits *circuits, uint32_t slot)
{
	return circuits->vcs + (size_t)slot * circuits->vcs_most;
}

#endif

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
// Files: model.c (function table, allocation), headers.c (which header gets a VC,
// broadcasts, failed links), routes.h (of which link), circuits.h (VCs taken and freed),
// bursts.c (links, and circuits released), circuits_join.c (parts side by side),
// link_tokens.h (flow-control traffic for the reverse link), prefetch.c (what the next
// events will read).
//
// Parts (docs/model.md, rule 36): a link, with its VCs, belongs to one part, its reverse
// to the same one. A packet has a record in each part that its path comes through, with
// the hops there, and a copy of the hop before and after them: their part sends what
// begins to cross those, one hop before it takes effect. At a switch each part that has
// links out of it has a list of the headers that wait for these.
#ifndef TB_CIRCUITS_H
#define TB_CIRCUITS_H

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
	uint32_t route;		// slot, or a group with TB_ROUTE_GROUP
	uint32_t came_by, flow; // of the packet, to be fetched before it is there
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
	uint32_t n_new;	 // came in this instant
	uint32_t wanted; // bit slot % 32: one of n_waiting waits for that slot
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
	uint32_t wire_most;  // bytes of a packet
	unsigned hops_shift; // of an EV_READY's subject
	size_t hop_bytes;    // stride
	size_t packet_bytes;
	bool equal_rates; // of all links
	tb_time_ps
		equal_hop_ps; // hop_ps of all links, which need not be read for it; or 0
	uint32_t n_slots, first_injection;
	bool few_ports;		    // at each switch: `wanted` has a bit for each
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

static inline tb_time_ps hop_ps_of(const struct circuits *circuits, uint32_t slot)
{
	return circuits->equal_hop_ps ? circuits->equal_hop_ps
				      : circuits->links[slot].hop_ps;
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

// The inside of the circuits: the calls between their files, and what all of these do at
// each step with VCs of links and the headers that wait for them. Private to this room.

// bursts.c: when a burst crosses a link.
//
// tb_bursts_go_on lets the next burst of a hop cross from `start` on, TB_TIME_NEVER: when
// it can, and then all others that it lets begin.
void tb_bursts_go_on(struct circuits *circuits, struct circuit_packet *packet,
	struct hop *at, tb_time_ps start);
void tb_bursts_ready(struct circuits *circuits, uint32_t subject); // EV_READY
void tb_bursts_serve(struct circuits *circuits, uint32_t slot);	   // phase 3
// tb_bursts_discard: the header has met a failed link. Its switch discards the flits of
// the packet, and EV_TAIL follows when it has all of them.
void tb_bursts_discard(struct circuits *circuits, struct circuit_packet *packet);

// headers.c: who gets a VC.
//
// tb_circuits_inject: a packet's first hop gets the lowest free VC of its node's
// injection link.
void tb_circuits_inject(struct tb_replay *replay, uint32_t node, uint32_t packet);
// tb_circuits_grant gives a packet VC `v` of a link as its next hop.
void tb_circuits_grant(struct circuits *circuits, struct circuit_packet *packet,
	uint32_t slot, uint32_t v);
void tb_circuits_header(struct circuits *circuits, uint32_t packet); // EV_HEADER
// tb_circuits_header_alone is EV_HEADER when nothing else happens in this instant, phase
// 2 included.
void tb_circuits_header_alone(struct circuits *circuits, uint32_t packet);
void tb_circuits_switch(struct circuits *circuits, uint32_t sw); // phase 2

// prefetch.c: fetches into the cache what the next events will read; see struct
// tb_switching.
void tb_circuits_prefetch_first(
	struct tb_replay *replay, const struct tb_event *events, uint32_t n);
void tb_circuits_prefetch_second(struct tb_replay *replay, struct tb_event event);
void tb_circuits_prefetch_third(struct tb_replay *replay, struct tb_event event);
// The same three stages of a packet that is let go up to its hop number n_hops - 1.
void tb_circuits_prefetch_packet(const struct circuits *circuits, uint32_t id);
void tb_circuits_prefetch_path(
	const struct circuits *circuits, struct circuit_packet *packet, uint32_t n_hops);
void tb_circuits_prefetch_switches(
	const struct circuits *circuits, struct circuit_packet *packet, uint32_t n_hops);

// bursts.c: how circuits end.
//
// What limited a packet further on, of its path up to a hop.
struct circuit_limit {
	tb_time_ps longest;
	uint32_t root; // NOTHING: nothing did
};
// tb_circuits_release: the last flit has arrived, and the acknowledgement leaves at
// `ack_at`. Returns when the acknowledgement is back at the source. The end-of-packet
// token, sent then, frees the VCs.
tb_time_ps tb_circuits_release(
	struct circuits *circuits, struct circuit_packet *packet, tb_time_ps ack_at);
// tb_circuits_let_go frees the VCs of the hops up to `last` that a packet has in this
// part. The acknowledgement comes back over that at `ack_at`; at the source it is at
// `back_at`, TB_TIME_NEVER: this part knows when.
tb_time_ps tb_circuits_let_go(struct circuits *circuits, struct circuit_packet *packet,
	struct hop *last, tb_time_ps ack_at, tb_time_ps back_at,
	struct circuit_limit limit);
// tb_circuits_add_delays adds what this packet met to the delays that the options ask
// for.
void tb_circuits_add_delays(struct circuits *circuits, struct circuit_packet *packet);
// tb_circuits_blame blames a wait that lasts on the first VC of the first link that would
// do.
void tb_circuits_blame(
	struct circuits *circuits, const struct waiter *waiter, tb_time_ps until);
// tb_circuits_blame_open blames all waits that last at the end of a replay.
void tb_circuits_blame_open(struct tb_replay *replay, tb_time_ps until);
// tb_circuits_settle counts what lasts up to `until`, the end of the open bin; returns
// whether anything lasts beyond.
bool tb_circuits_settle(struct tb_replay *replay, tb_time_ps until);

// headers.c: broadcasts.
//
// tb_branches_prepare makes what broadcasts need, and stores in `end` the node to which
// this one is followed. Returns why it cannot be replayed, or NULL.
const char *tb_branches_prepare(
	struct circuits *circuits, const struct tb_message *message, uint32_t *end);
// tb_branches_descends returns whether a packet is a broadcast at or below its apex.
bool tb_branches_descends(
	const struct circuits *circuits, const struct circuit_packet *packet);
// tb_branches_choose gives waiting broadcasts their branches, before phase 2.
void tb_branches_choose(struct circuits *circuits);
// tb_branches_count counts a burst on the branches that are not followed.
void tb_branches_count(struct circuits *circuits, struct circuit_packet *packet,
	const struct hop *at, uint32_t bytes);
// tb_branches_free: the token frees all branches of a hop at `passes`.
void tb_branches_free(struct circuits *circuits, struct circuit_packet *packet,
	uint32_t number, tb_time_ps passes);
// tb_branches_recheck schedules the next choice for the time when branches of waiting
// broadcasts will be free.
void tb_branches_recheck(struct circuits *circuits);

// circuits_join.c: parts side by side.
//
// tb_parts_send_burst informs the next part that a burst of a packet's last hop in this
// one begins to cross, tb_parts_send_room the part before that one of the first hop here
// does. tb_parts_send_ack has the acknowledgement go on in the part before, at `at`.
void tb_parts_send_burst(struct circuits *circuits, struct circuit_packet *packet,
	struct hop *at, uint32_t burst);
void tb_parts_send_room(struct circuits *circuits, const struct circuit_packet *packet,
	struct hop *at, uint32_t burst);
void tb_parts_send_ack(struct circuits *circuits, const struct hop *before, tb_time_ps at,
	tb_time_ps back_at, struct circuit_limit limit);
// tb_parts_wait and tb_parts_end_wait: a header waits, or has waited, that came over a
// VC behind which headers may wait in several parts. tb_parts_queue counts how many bytes
// wait in the queue of such a link as a wait ends, or at the end of a bin.
void tb_parts_wait(struct circuits *circuits, struct circuit_packet *packet);
void tb_parts_end_wait(struct circuits *circuits, struct circuit_packet *packet);
void tb_parts_queue(struct circuits *circuits, uint32_t slot, tb_time_ps until);
void tb_parts_count_queues(struct circuits *circuits);
int tb_circuits_join(
	struct tb_replay **replay, struct tb_replay *whole, uint32_t part) TB_MUST_USE;
// tb_circuits_begin_window carries out what other parts have sent since the last window.
void tb_circuits_begin_window(struct circuits *circuits);
void tb_circuits_end_window(struct circuits *circuits, tb_time_ps until);
void tb_circuits_receive(struct tb_replay *replay, const struct tb_part_message *message,
	const void *record);

// headers.c: failed links.
//
// tb_failures_route returns the route from a switch: a slot, a group, or TB_ROUTE_NONE
// when the header meets a failed link.
uint32_t tb_failures_route(
	struct circuits *circuits, uint32_t sw, const struct circuit_packet *packet);
// tb_circuits_end_failed returns whether a packet whose last flit has arrived has failed;
// if so its error goes back to the source.
bool tb_circuits_end_failed(struct circuits *circuits, uint32_t packet);
// tb_circuits_route_again: a link out of a switch has failed; headers that wait at the
// switch choose their routes again.
void tb_circuits_route_again(struct circuits *circuits, uint32_t sw);

// model.c: see struct tb_switching.
// tb_circuits_make_part makes what a part has of its own.
int tb_circuits_make_part(struct circuits *circuits) TB_MUST_USE;
int tb_circuits_make(struct tb_replay *replay, const struct tb_engine_options *options,
	struct tb_cell ***cells) TB_MUST_USE;
void tb_circuits_free(struct tb_replay *replay);

// free_from is when a link can take a burst that begins a train, for all that is known
// now: the burst being served has ended, and its tokens are sent.
static inline tb_time_ps free_from(
	const struct circuits *circuits, const struct circuit_link *link)
{
	tb_time_ps end = link->reserved_until;
	if (!link->train || end > circuits->replay.now)
		return end;
	return tb_time_later(end, tb_link_tokens_sent(link->train, circuits->replay.now));
}

// own_slot and own_switch are the links and switches of a part, all of a network that is
// one part.
static inline uint32_t own_slot(const struct circuits *circuits, uint32_t i)
{
	return circuits->slots ? circuits->slots[i] : i;
}

static inline uint32_t own_switch(const struct circuits *circuits, uint32_t i)
{
	return circuits->own_switches ? circuits->own_switches[i] : i;
}

// VCs and waiting headers.
//
// last_free is when the last VC of a link is known to fall free.
static inline tb_time_ps last_free(const struct circuits *circuits, uint32_t slot)
{
	const tb_time_ps *frees = free_at(circuits, slot);
	uint32_t n_vcs = circuits->links[slot].n_vcs;
	if (n_vcs == 2)
		return frees[0] > frees[1] ? frees[0] : frees[1];
	tb_time_ps end = frees[0];
	for (uint32_t v = 1; v < n_vcs; v++)
		if (frees[v] > end)
			end = frees[v];
	return end;
}

// circuit_settle_link counts the time that VCs of the link were held, up to `until`.
static inline void circuit_settle_link(
	struct circuits *circuits, uint32_t slot, tb_time_ps until)
{
	struct circuit_link *link = &circuits->links[slot];
	if (link->held_since == TB_TIME_NEVER)
		return;
	tb_time_ps end = last_free(circuits, slot);
	bool over = end <= until;
	if (!over)
		end = until;
	if (end > link->held_since)
		tb_records_held(
			&circuits->replay.records, &link->cell, end - link->held_since);
	link->held_since = over ? TB_TIME_NEVER : until;
}

// free_vcs returns how many VCs of a link are free.
static inline uint32_t free_vcs(const struct circuits *circuits, uint32_t slot)
{
	const tb_time_ps *frees = free_at(circuits, slot);
	if (circuits->vcs_most == 2) // the rule: spare the loop
		return (uint32_t)(frees[0] <= circuits->replay.now) +
		       (uint32_t)(frees[1] <= circuits->replay.now);
	uint32_t n = 0;
	for (uint32_t v = 0; v < circuits->vcs_most; v++)
		n += frees[v] <= circuits->replay.now;
	return n;
}

// lowest_free is the number of the first free VC; there is one.
static inline uint32_t lowest_free(const struct circuits *circuits, uint32_t slot)
{
	const tb_time_ps *frees = free_at(circuits, slot);
	if (circuits->vcs_most == 2)
		return frees[0] > circuits->replay.now;
	uint32_t v = 0;
	while (frees[v] > circuits->replay.now)
		v++;
	return v;
}

// first_free is when the first VC of a link is known to fall free.
static inline tb_time_ps first_free(const struct circuits *circuits, uint32_t slot)
{
	const tb_time_ps *frees = free_at(circuits, slot);
	if (circuits->vcs_most == 2)
		return frees[0] < frees[1] ? frees[0] : frees[1];
	tb_time_ps first = TB_TIME_NEVER;
	for (uint32_t v = 0; v < circuits->vcs_most; v++)
		if (frees[v] < first)
			first = frees[v];
	return first;
}

// came_by is the link over which a header came to where it stands.
static inline struct circuit_link *came_by(
	const struct circuits *circuits, const struct circuit_packet *packet)
{
	return &circuits->links[packet->came_by];
}

static inline bool circuit_is_own(const struct circuits *circuits, uint32_t slot)
{
	return !circuits->part_of_slot ||
	       circuits->part_of_slot[slot] == circuits->replay.side->part;
}

// arrival_cell is the cell in which what waits of a link is counted.
static inline struct tb_cell *arrival_cell(struct circuits *circuits, uint32_t slot)
{
	const struct tb_side *side = circuits->replay.side;
	return circuit_is_own(circuits, slot)
		       ? &circuits->links[slot].cell
		       : tb_joint_records_own_cell(
				 side->records, side->part, circuits->links[slot].id);
}

// circuit_waiting_bytes sums the packets whose headers came in over the link of a slot
// and have waited there since before `until`. Each holds a VC of the link, which is its
// last hop's.
static inline uint64_t circuit_waiting_bytes(
	const struct circuits *circuits, uint32_t slot, tb_time_ps until)
{
	const tb_time_ps *frees = free_at(circuits, slot);
	const struct vc *vcs = vcs_of(circuits, slot);
	uint64_t bytes = 0;
	for (uint32_t v = 0; v < circuits->links[slot].n_vcs; v++) {
		if (frees[v] != TB_TIME_NEVER)
			continue;
		struct circuit_packet *packet =
			circuit_packet_at(circuits, vcs[v].packet);
		if (packet->came_by == slot && packet->arrived < until &&
			vcs[v].hop + 1u == packet->of.n_hops &&
			hop_at(circuits, packet, vcs[v].hop)->vc == v)
			bytes += packet->of.wire_bytes;
	}
	return bytes;
}

// circuit_charge counts a header's wait up to `until` in the open bin, at the link by
// which it came. The part of the wait before that bin was counted when the bin before it
// was closed.
static inline void circuit_charge(
	struct circuits *circuits, struct circuit_packet *packet, tb_time_ps until)
{
	struct tb_records *records = &circuits->replay.records;
	tb_time_ps from = packet->arrived > records->bin_start ? packet->arrived
							       : records->bin_start;
	struct tb_cell *cell = arrival_cell(circuits, packet->came_by);
	tb_records_flow_wait(records, packet->of.flow, until - from);
	tb_records_wait_by(records, cell, until - from);
	tb_records_longest(cell, until - packet->arrived);
	if (until <= from)
		return;
	// Whose packets wait need not be looked up where no more could than did before.
	const struct circuit_link *link = came_by(circuits, packet);
	if (link->crossing)
		tb_parts_queue(circuits, packet->came_by, until);
	else if (cell->largest_queue_bytes < link->n_vcs * circuits->wire_most)
		tb_records_queue(records, cell,
			circuit_waiting_bytes(circuits, packet->came_by, until));
}

// charge_link counts all of a header's wait, which ends, at the link of a slot: which one
// it waited for is known when it gets a VC. The slots of a switch are of its part.
static inline void charge_link(struct circuits *circuits,
	const struct circuit_packet *packet, uint32_t slot, tb_time_ps until)
{
	struct tb_records *records = &circuits->replay.records;
	tb_time_ps from =
		packet->arrived > records->from_ps ? packet->arrived : records->from_ps;
	if (until > from)
		tb_records_wait_for(records, &circuits->links[slot].cell, until - from);
}

static inline bool circuit_waits_longer(const struct waiter *a, const struct waiter *b)
{
	return a->key < b->key || (a->key == b->key && a->order < b->order);
}

// circuit_insert puts a waiter among `n` others, which are sorted, oldest first.
static inline void circuit_insert(
	struct waiter *waiters, uint32_t n, struct waiter waiter)
{
	for (; n > 0 && circuit_waits_longer(&waiter, &waiters[n - 1]); n--)
		waiters[n] = waiters[n - 1];
	waiters[n] = waiter;
}

static inline struct waiter waiter_of(const struct circuits *circuits,
	const struct circuit_packet *packet, uint32_t route)
{
	return (struct waiter){
		.key = packet->arrived - ((packet->waited * circuits->age_q10) >> 10),
		.order = packet->of.order,
		.packet = packet->of.id,
		.route = route,
		.came_by = packet->came_by,
		.flow = packet->of.flow};
}

static inline const struct link_group *group_at(
	const struct circuits *circuits, uint32_t route)
{
	return &circuits->groups[route & ~TB_ROUTE_GROUP];
}

static inline uint32_t slot_in(const struct link_group *group, uint32_t i)
{
	return group->slots ? group->slots[i] : group->first + i;
}

// first_slot is a slot of a route; all of them belong to one part.
static inline uint32_t first_slot(const struct circuits *circuits, uint32_t route)
{
	return route & TB_ROUTE_GROUP ? slot_in(group_at(circuits, route), 0) : route;
}

static inline void wake_switch(struct circuits *circuits, uint32_t sw, tb_time_ps at)
{
	if (at >= circuits->switches[sw].wake_at)
		return;
	circuits->switches[sw].wake_at = at;
	tb_wheel_put(&circuits->replay.wheel, at, EV_SWITCH, sw);
}

// route_bits are those of `wanted` for a route.
static inline uint32_t route_bits(const struct circuits *circuits, uint32_t route)
{
	if (!(route & TB_ROUTE_GROUP))
		return UINT32_C(1) << route % 32;
	const struct link_group *group = group_at(circuits, route);
	if (group->slots || group->n >= 32)
		return UINT32_MAX;
	uint64_t bits = ((UINT64_C(1) << group->n) - 1) << group->first % 32;
	return (uint32_t)(bits | bits >> 32);
}

// is_wanted returns whether a header waits at a switch for a VC of this link out of it.
static inline bool is_wanted(const struct circuits *circuits, uint32_t sw, uint32_t slot)
{
	const struct switch_state *at = &circuits->switches[sw];
	if (circuits->few_ports || !(at->wanted >> slot % 32 & 1))
		return at->wanted >> slot % 32 & 1;
	for (uint32_t i = 0; i < at->n_waiting; i++) {
		uint32_t route = at->waiters[i].route;
		if (route == slot)
			return true;
		if (!(route & TB_ROUTE_GROUP))
			continue;
		const struct link_group *group = group_at(circuits, route);
		if (group->slots || slot - group->first < group->n)
			return true;
	}
	return false;
}

#endif

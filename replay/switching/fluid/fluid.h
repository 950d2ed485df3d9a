// Fluid networks: messages as flows that share links. Private to this room.
//
// Model (docs/fluid.md): a message is one flow over the links of its route, at a rate
// that it has by those that share them (shares.h); with circuits a flow for each of its
// turns. There are no packets: a flow carries the bytes of its message's packets, and
// takes the latency of its path once. Of queues their bytes are known, by output, where
// switches queue so; elsewhere only what they do to rates.
//
// Cost: two or three events a message, and what the flows that share its links cost when
// it begins and ends, and when a buffer fills. Memory: 350 bytes per link, 250 and 20 a
// link of its ways per flow.
//
// Files: fluid.c (function table, allocation, flows that begin and end, messages that
// wait for others of their node), paths.c (routes and latencies), shares.c (rates),
// coupled.c (rates where queues hold flows up), connections.c (send buffers and windows
// of TCP), charges.c (what is counted).
#ifndef TB_FLUID_H
#define TB_FLUID_H

#include "ideal_ways.h"
#include "map.h"
#include "shares.h"
#include "switching.h"

#define NOTHING TB_NOTHING

// Rates are in bytes per second with 16 binary places, amounts in what such a rate
// carries in a picosecond. A terabyte is 2^96 of these: 128 bits hold all, unrounded.
__extension__ typedef unsigned __int128 fluid_amount;

enum { RATE_SHIFT = 16, SLACK_SHIFT = 10 };
#define BYTE_AMOUNT ((uint64_t)TB_PS_PER_S << RATE_SHIFT)

enum fluid_event_kind {
	EV_END = TB_EVENT_OF_MODEL, // the flow that ends first may have
	EV_BEGIN,		    // message: its gap is over
};

struct fluid_flow { // by number of the shares
	fluid_amount all, left;
	fluid_amount stop;  // of `left`, where it stops without an end (connections.c)
	bool stops_in_step; // with others
	tb_time_ps begun_at;
	tb_time_ps since;      // until then `left` is up to date
	tb_time_ps counted_at; // and until then what it has carried and lost
	tb_time_ps ends_at;
	tb_time_ps lost_ps; // to others, counted
	tb_time_ps held_ps; // of that, without a break at the link `held_by`
	tb_time_ps in_ps;   // from its end until its last byte is in
	tb_time_ps back_ps; // and from then until that is acknowledged
	uint64_t order;	    // serial of its message
	uint32_t message;
	uint32_t held_by;
	uint32_t n_packets; // counted
	uint32_t n_before;  // of its message, sent before it began
	uint32_t n_all;	    // of its turn
	uint32_t turn;	    // among many others, with whom a charge begins
	uint32_t place;	    // in the heap of ends
	uint32_t n_hops;    // links of a way
	// Where nodes have TCP, its connection, and the link before which its window
	// waits, of so many segments.
	uint32_t line, queue, queued;
	bool is_part; // of its message, which goes on; once it has left its node
};

struct fluid_link {
	fluid_amount moved;	 // times TB_SHARE_WHOLE
	fluid_amount owed;	 // by all flows that have begun, likewise
	tb_time_ps since;	 // until then `moved` is up to date
	uint64_t bytes, busy_ps; // of that, counted
	tb_time_ps counted_at;
	uint32_t load;	 // weights of the flows that cross it, not of those that end
	uint32_t queued; // segments of connections that wait before it
	bool listed;
};

// Messages that go one after another: those of a queue pair, or of a node.
struct fluid_line {
	uint32_t flowing;     // NOTHING: none
	uint32_t first, last; // of those that wait
	tb_time_ps begun_at;  // the last one
	// Of a connection: when it is open, and, in bytes: those written, and of messages
	// that have left; the first message that is not in the send buffer, its end, and
	// the buffer's room.
	uint32_t flow, unsent;
	tb_time_ps opens_at;
	uint64_t written, acked, unsent_end, room;
	// The window when slow start ended, segments, and what was acknowledged then; 0:
	// it goes on.
	uint64_t threshold, slow_until;
};

struct fluid {
	struct tb_replay replay;
	const struct tb_switching_kind *nodes; // of the network that this stands for
	struct tb_shares shares;
	uint32_t first_bus; // host buses as links of the shares; 0: none
	struct fluid_flow *flows;
	size_t flows_room;
	struct fluid_link *links;
	struct tb_cell *cell, **cells; // by link
	uint32_t *listed, n_listed;    // links that carry, or carried in the open bin
	uint32_t *ends, n_ends;	       // flows, a heap
	size_t ends_room;
	tb_time_ps event_at; // the earliest EV_END under way
	tb_time_ps lasts_ps; // what the link that owes most needs for all of it, alone
	uint32_t *beginning; // messages, in this round
	uint32_t n_beginning;
	size_t beginning_room;
	uint32_t *ended; // flows, in this round
	uint32_t n_ended;
	size_t ended_room;
	struct tb_share_step *steps; // scratch: of the flow that begins
	uint32_t ways_most;
	uint32_t slice_packets;	   // of a message, then it is the next one's turn; 0: all
	uint32_t stays_packets;	   // of a message, on a way that they choose; 0: any
	uint32_t buffer_bytes;	   // behind each link, of what waits there; 0: none
	bool is_ideal;		   // only nodes' links and buses limit
	struct tb_ideal_ways ways; // there
	bool is_stopped;	   // nothing begins any more
	struct tb_map line_of;
	struct tb_map parts_of; // messages, of which parts have left and are not through
	struct fluid_line *lines;
	uint32_t n_lines;
	size_t lines_room;
	tb_time_ps *node_begun_at; // the last message by node; NULL: no gaps
};

static inline struct fluid *fluid_of(struct tb_replay *replay)
{
	return (void *)replay;
}

// tb_fluid_free_links frees what is known of links and flows: nothing flows any more.
void tb_fluid_free_links(struct fluid *fluid);

// paths.c
//
// What a message takes beyond what its bytes take at its rate.
struct fluid_trip {
	uint64_t rate;	    // alone
	tb_time_ps in_ps;   // until its last byte is in
	tb_time_ps back_ps; // until that is acknowledged
};

// tb_fluid_capacity is that of a link, with what its node can send or receive; rates of
// payload are turned into those of full packets.
uint64_t tb_fluid_capacity(const struct tb_network *net, uint32_t link);
// tb_fluid_bus_capacity is that of a node's bus; 0: it never limits.
uint64_t tb_fluid_bus_capacity(const struct tb_network *net, uint32_t node);
// tb_fluid_trip is that of a message over the first `n` links of its steps.
struct fluid_trip tb_fluid_trip(const struct tb_network *net,
	const struct tb_share_step *steps, uint32_t n, uint64_t bytes);
// tb_fluid_ideal_trip is that of a message on the ideal network (ideal_ways.h).
struct fluid_trip tb_fluid_ideal_trip(
	const struct fluid *fluid, const struct tb_posted *message);
// tb_fluid_duration is what an amount takes at a rate, rounded up; not for a thousandth
// of a picosecond, which is what divisions leave of rates, so that like flows end at
// once.
tb_time_ps tb_fluid_duration(fluid_amount amount, uint64_t rate);
tb_time_ps tb_fluid_ideal_ps(const struct tb_network *network, struct tb_node source,
	struct tb_node destination, uint64_t bytes);

// fluid.c
//
// tb_fluid_turn is how many packets a message sends in its next flow.
uint32_t tb_fluid_turn(const struct fluid *fluid, const struct tb_posted *message);

// paths.c
//
// tb_fluid_ways_most is over how many ways the messages of a network are split: 1 where
// not each packet chooses anew.
uint32_t tb_fluid_ways_most(const struct tb_network *net);
// tb_fluid_route writes the steps of a message into `steps`, those of its first way
// first, then those of others, then buses, and adds its load to its links; returns how
// many, and of how many links the first way is. tb_fluid_unload takes the load of a flow
// off again.
uint32_t tb_fluid_route(struct fluid *fluid, uint32_t message, uint32_t *n_hops);
void tb_fluid_unload(struct fluid *fluid, uint32_t flow);

// fluid.c
//
// tb_fluid_join has a message begin when those before it let it: it is put on the list of
// those that begin. tb_fluid_next: the flow of a message has ended.
void tb_fluid_join(struct fluid *fluid, uint32_t message);
void tb_fluid_next(struct fluid *fluid, uint32_t message);
void tb_fluid_begins(struct fluid *fluid, uint32_t message);

// fluid.c
//
// tb_fluid_end_due ends the flows that end now, tb_fluid_share has those that begin
// begin, and gives all their rates.
void tb_fluid_end_due(struct fluid *fluid);
void tb_fluid_share(struct fluid *fluid);

// connections.c: where nodes have TCP.
//
// tb_fluid_acks is what each byte costs the other direction in acknowledgements.
// tb_fluid_open: a line is new, with its first message. tb_fluid_written: a message has
// joined it. tb_fluid_opened: its flow begins there; tb_fluid_closed: it has ended.
// tb_fluid_stops_at is when a flow ends or stops that would at `stop`. tb_fluid_stopped
// returns whether a flow that is due only stops, and goes on.
double tb_fluid_acks(const struct tb_network_params *params);
void tb_fluid_open(struct fluid *fluid, uint32_t line, uint32_t message);
void tb_fluid_written(struct fluid *fluid, uint32_t line, uint32_t message);
void tb_fluid_opened(struct fluid *fluid, uint32_t flow, uint32_t line);
bool tb_fluid_stopped(struct fluid *fluid, uint32_t flow);
tb_time_ps tb_fluid_stops_at(const struct fluid *fluid, const struct fluid_flow *flow,
	tb_time_ps stop, tb_time_ps end);
void tb_fluid_closed(struct fluid *fluid, uint32_t flow);

// fluid.c
//
// tb_fluid_await has a flow that is settled now end, or stop, in time for a rate.
void tb_fluid_await(struct fluid *fluid, uint32_t flow, uint64_t rate);

// fluid.c
//
// tb_fluid_line_find returns the line from a node to another; NOTHING: there is none.
uint32_t tb_fluid_line_find(const struct fluid *fluid, uint32_t from, uint32_t to);

// fluid.c
//
// tb_fluid_ends_put puts a flow in its place by `ends_at`, whether it is there already
// (place != NOTHING) or not; TB_ENOMEM. tb_fluid_ends_take takes the first one.
int tb_fluid_ends_put(struct fluid *fluid, uint32_t flow) TB_MUST_USE;
uint32_t tb_fluid_ends_take(struct fluid *fluid);

// charges.c
//
// tb_fluid_move takes what a flow has carried until an instant, at the rate until then,
// off what is left of it; tb_fluid_settle counts that, too, and what it has lost.
// tb_fluid_account does so of a link. tb_fluid_settle_all counts all, into
// the open bin, and returns whether anything flows.
void tb_fluid_move(struct fluid *fluid, uint32_t flow, tb_time_ps until);
void tb_fluid_settle(struct fluid *fluid, uint32_t flow, tb_time_ps until);
// tb_fluid_link is the link id of a flow's step: of a bus the link of its node.
uint32_t tb_fluid_link(const struct fluid *fluid, uint32_t flow, uint32_t step);
void tb_fluid_account(struct fluid *fluid, uint32_t link);
// tb_fluid_round_up counts what is left of the packet that a flow is within, on all its
// links; returns how many packets of the flow are counted.
uint32_t tb_fluid_round_up(struct fluid *fluid, uint32_t flow);
bool tb_fluid_settle_all(struct fluid *fluid, tb_time_ps until);

#endif

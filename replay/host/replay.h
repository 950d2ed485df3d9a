// One replay: its time, its records, and its nodes with their messages and packets.
// Private to replay/.
//
// The switching model that carries the packets keeps its own state behind this one, and
// its own part of a packet behind the part that is here: a model's struct begins with a
// struct tb_replay, its packet with a struct tb_packet. What one step touches so lies in
// the same cache lines as if there were but one model.
//
// Ids: messages and packets are numbers of records that are used again.
//
// Borrowing: a replay can be given its messages by another one, which it borrows the
// nodes from, and leave the reports of their endings to it.
#ifndef TB_REPLAY_H
#define TB_REPLAY_H

#include "engine_stats.h"
#include "faults.h"
#include "idle_times.h"
#include "map.h"
#include "network.h"
#include "replay_records.h"
#include "route_choice.h"
#include "source.h"
#include "wheel.h"

#include <stddef.h>

// What nodes ask of their carrier: the links and switches, as one of the switching models
// simulates them (switching.h).
//
// Nodes cut messages into packets, fetch and drain them, acknowledge, retry and give up.
// From a packet's injection until its last flit has arrived it is the model's. The model
// calls back: tb_nodes_arrive, tb_nodes_fail, tb_nodes_look (replay.h). A model may take
// messages whole instead.

struct tb_replay;

// The time of a message from post to delivery on an idle network of that kind.
typedef tb_time_ps tb_ideal_time(const struct tb_network *network, struct tb_node source,
	struct tb_node destination, uint64_t bytes);

struct tb_carrier {
	// carry takes a whole message, whose send overhead is over. The message is not
	// cut, and of the functions below only `branch` and `ideal_ps` are called. The
	// model sets when the message began (struct tb_posted), and calls
	// tb_nodes_carried. NULL: the model carries packets.
	void (*carry)(struct tb_replay *replay, uint32_t message);
	// posted is called for each message that is posted between two nodes, in the
	// replay that takes it. May be NULL.
	void (*posted)(struct tb_replay *replay, uint32_t message);
	// injects_at returns when a node's packet, once fetched, can enter the network:
	// now or before, later, or TB_TIME_NEVER if that is not known yet. In the last
	// case the model calls tb_nodes_look as soon as it is. With circuits that is when
	// the first VC of the injection link falls free, with credits when the link is
	// free and there are credits for the whole packet.
	tb_time_ps (*injects_at)(
		const struct tb_replay *replay, uint32_t node, uint32_t packet);
	// inject takes the packet, for which injects_at has returned now or before. The
	// model's part of the record still has the contents of its previous packet.
	void (*inject)(struct tb_replay *replay, uint32_t node, uint32_t packet);
	// release: the destination drains the packet by `drained_at`, perhaps still to
	// come, and acknowledges it at `ack_at`. The model frees what the packet still
	// holds, calls tb_nodes_look for its source if that may inject earlier now, and
	// returns when the source has the acknowledgement. With circuits the
	// acknowledgement goes back along the circuit, and the token after it frees the
	// VCs. With credits only the buffer of the ejection link is left, free once
	// drained; an acknowledgement takes what a short packet takes, and nothing in the
	// network waits for it.
	tb_time_ps (*release)(struct tb_replay *replay, uint32_t packet,
		tb_time_ps ack_at, tb_time_ps drained_at);
	// branch prepares a broadcast. It returns NULL and stores in `end` the node to
	// which its packets are followed, or it returns why the broadcast is impossible.
	// NULL: the model has no broadcasts.
	const char *(*branch)(struct tb_replay *replay, const struct tb_message *message,
		uint32_t *end);
	tb_ideal_time *ideal_ps;
	// catch_up is called with tb_replay.pulls before a message starts: the model has
	// its source do all that it does before now, with what nodes_impl.h has for that.
	// It has the node go on some time later, as of now. NULL: it does not pull.
	void (*catch_up)(struct tb_replay *replay, uint32_t message);
	// Where nodes keep a packet ahead of each of several VLs (docs/credits.md, C16).
	// `vl` is that of a job's messages; `arbitrate` chooses one of the VLs, bits of
	// `can`, whose packets can enter now; `free_at` is when the link of a node is
	// free. NULL: a node has one packet ahead.
	uint8_t (*vl)(const struct tb_replay *replay, uint32_t job);
	uint32_t (*arbitrate)(struct tb_replay *replay, uint32_t node, uint32_t can,
		const uint32_t *packets);
	tb_time_ps (*free_at)(const struct tb_replay *replay, uint32_t node);
	// worked returns for how long packets have crossed a link out of a switch until
	// now. Asked with congestion control alone. NULL: it is not known.
	tb_time_ps (*worked)(const struct tb_replay *replay, uint32_t link);
};

// An acknowledgement that leaves later than its packet arrives.
struct tb_late_ack {
	tb_time_ps at;	       // its packet came in
	tb_time_ps leaves_at;  // with few partners
	tb_time_ps drained_at; // its packet
	uint32_t packet, message, source, destination;
	bool is_last; // of its message
};

// What a replay calls where acknowledgements leave later: for a message that gets under
// way, and for a packet that has arrived and is drained. Whoever sends the
// acknowledgement then drops the packet.
struct tb_ack_delay {
	void (*begin)(struct tb_replay *replay, const struct tb_message *message);
	void (*put)(struct tb_replay *replay, const struct tb_late_ack *ack);
};

#define TB_NOTHING UINT32_MAX

// What can happen. Kinds of the model's own follow from TB_EVENT_OF_MODEL on.
enum tb_event_kind {
	TB_EVENT_NODE,	      // node: its packet is fetched and can enter
	TB_EVENT_SENT,	      // message: acknowledged
	TB_EVENT_DELIVERED,   // message: at the receiver
	TB_EVENT_UNDELIVERED, // message: given up, nothing of it is under way
	TB_EVENT_ERROR,	      // retry: the error of a packet is known at its source
	TB_EVENT_OF_MODEL,
};

struct tb_packet {	// half a cache line; the model's part follows
	uint64_t order; // message serial and number within it: breaks ties
	uint32_t id;
	uint32_t message, flow;
	uint32_t destination; // node to which it is followed
	uint32_t wire_bytes;
	uint8_t n_hops;	   // links that it has been given; 0 when it is injected
	uint8_t ascending; // of a regular tree
	bool is_empty;	   // has no payload
	bool is_first;	   // of its message
};

struct tb_posted { // a message
	struct tb_message what;
	uint32_t end; // its destination; of a broadcast the end that is followed
	uint64_t serial;
	tb_time_ps posted_at, start_at;
	tb_time_ps behind_since; // it stands behind others in its node's queue
	tb_time_ps queue_ps;	 // time spent behind others, and then waiting for a VC
	tb_time_ps started_at;	 // its first packet entered the network
	tb_time_ps sent_at, delivered_at;
	tb_time_ps ideal_ps; // of the network's part, once it is delivered
	tb_time_ps paced_ps; // in vain at its pace (paces.h), once its last packet is cut
	uint32_t n_unfetched, n_undrained, n_packets;
	uint32_t flow;
	uint8_t ascending; // of a regular tree
	uint8_t vl;	   // below n_vls, once it has started
	uint32_t next;	   // in its node's queue, or in the free list
	// Of a queue pair (nodes_impl.h): behind this one; of the first its last, and
	// the next in the table's bucket.
	uint32_t pair_next, pair_last, pair_chain;
	bool pair_listed;
	uint32_t uses;	 // what still refers to it
	uint32_t n_lost; // packets that failed and are not tried again
	bool given_up;
	bool was_sent;	// its source knows, or will
	bool is_behind; // the next packet that is cut of it begins a turn
};

struct tb_nic { // of a node; of further VLs only what tb_nic_at names
	_Alignas(64)
		tb_time_ps bus_free_at; // with PCIe: when the server that fetches is free
	tb_time_ps drained_at; // when the last packet that came in is; with PCIe: when
			       // the server that drains is free
	tb_time_ps wake_at;    // earliest TB_EVENT_NODE under way
	uint32_t queue, queue_end; // messages
	tb_time_ps fetched_at;	   // perhaps still to come
	uint32_t fetched;	   // packet that waits to enter the network
	uint32_t turned;	   // message whose turn has ended, until the next cut
	bool bus_inward;	   // what the bus carried last
	bool begins_turn;	   // the fetched packet
	bool listed;
	uint8_t vl_turn;      // behind the one of which a packet was cut last
	uint8_t vl_entered;   // of the packet that entered last
	tb_time_ps others_ps; // the link carries other VLs' packets while this one waits
};

// A node's partners: the nodes with at least one message to it under way; see
// nodes_impl.h.
struct tb_partners {
	uint32_t most;	      // beyond which a node releases circuits later; 0: no limit
	uint32_t *n_partners; // by node
	struct tb_map pair_of;
	uint32_t *n_messages; // under way, by pair
	uint32_t n_pairs;
	size_t room;
};

// Queue pairs of nodes: see nodes_impl.h.
struct tb_pair_table {
	bool by_connection;
	uint32_t *buckets; // first message, or TB_NOTHING
	uint32_t n_buckets, n_listed;
};

struct tb_list { // ids touched in this instant
	uint32_t *ids;
	uint32_t n;
};

struct tb_ring { // of ids, first in, first out
	uint32_t *ids;
	uint32_t first, n, room;
};

struct tb_ending { // of a message
	tb_time_ps at;
	uint32_t round; // of that instant
	uint64_t serial;
	uint32_t message;
	enum tb_event_kind kind;
};

struct tb_replay {
	const struct tb_network *net;
	const struct tb_source *source;
	const struct tb_carrier *carrier;
	struct tb_records records;
	struct tb_wheel wheel;
	tb_time_ps handover_at; // when it next does something without an event, or
				// somewhat before
	tb_time_ps opens_until; // the wheel opens no bucket ahead beyond it
	bool prefetches;	// what the next events will read, into the cache
	tb_time_ps now;
	uint32_t round;		  // number within this instant, where endings need it
	tb_time_ps last_reported; // when an ending was reported to the source
	tb_time_ps pause_at;	  // tb_engine_pause_at
	bool over;		  // nothing is left to do
	tb_time_ps source_at;	  // of the source's next message, as of its last call
	// The earliest of source_at, fault_at and the end of a send overhead.
	tb_time_ps outside_at;
	struct tb_route_choice choice;
	struct tb_retries *retries; // NULL without faults
	tb_time_ps fault_at;	    // when a link fails next
	struct tb_partners partners;
	struct tb_pair_table pairs;
	struct tb_paces *paces; // NULL: none (paces.h)
	uint32_t slice_packets; // of a message before the next one's turn; 0: all
	uint64_t bus_q20;	// of the bus, or of PCIe in each direction
	uint64_t in_q20;	// of the bus inwards, where that is another one
	bool has_two_buses;	// one for each direction, as PCIe has
	bool has_pcie;		// in place of a bus, as networks with credits
	uint32_t frame_headers; // which a captured frame has itself; 0: frames are cut
	uint32_t frame_payload; // the most that a captured frame has with these
	bool takes_all;		// a message is sent when its node has it
	bool holds_back;	// nodes cut no more packets
	bool pulls;		// the model has nodes send, and receive, when it needs to
	uint64_t *drain_q20;	// by node; NULL: all drain as they fetch
	uint32_t n_vls;		// that nodes keep apart
	struct tb_nic *nics;	// by node, and VL (tb_nic_at)
	char *packets;		// records of packet_bytes each
	size_t packet_bytes;
	uint32_t *free_packets;
	uint32_t n_free_packets, n_packets_most;
	uint32_t n_forgotten; // see tb_nodes_forget; modulo 2^32, as others may recall
	struct tb_kept_idle_time *idle_times; // of messages, TB_IDLE_TIMES of them
	struct tb_posted *messages;
	uint32_t n_messages, free_message;
	size_t messages_room;
	struct tb_ring starting[2]; // messages that wait out their send overhead; with a
				    // fetch
	struct tb_list nodes_now;
	struct tb_ending *endings; // of this round, by message serial
	uint32_t n_endings;
	size_t endings_room;
	uint32_t n_jobs;	   // whose posted messages are counted; 0: none
	uint64_t *n_posted_of_job; // messages
	struct tb_engine_stats stats;
	uint64_t *job_bytes;		      // of the options
	struct tb_error failure;	      // code is TB_OK while all is well
	const struct tb_ack_delay *ack_delay; // NULL: acknowledgements leave at once
	bool borrows; // nodes and messages, and another replay posts and reports them
	double n_simulated;   // about how many nodes it simulates
	struct tb_side *side; // of those who simulate it (replay_parts.h)
};

struct tb_replay_options { // as in struct tb_engine_options
	uint64_t seed;
	const struct tb_faults *faults;
	uint32_t n_jobs;
	uint64_t *job_bytes;
	tb_time_ps bin_ps, from_ps, to_ps;
	bool without_blame;
};

// A zeroed replay is made in three steps, so that a model can size its own part between
// them; tb_replay_fini ends it after any of them.
//
// tb_replay_init makes what does not depend on the model. Borrows network and source.
int tb_replay_init(struct tb_replay *replay, const struct tb_network *network,
	const struct tb_source *source, const struct tb_carrier *carrier,
	const struct tb_replay_options *options) TB_MUST_USE;
// tb_replay_make: nodes, room for so many packets of `packet_bytes` each (in whole cache
// lines, struct tb_packet included) as can be under way at once, more being made when
// they do not suffice, and the event queue, made for about `n_events` a packet that takes
// `packet_ps` to cross a link.
int tb_replay_make(struct tb_replay *replay, uint32_t n_packets, size_t packet_bytes,
	tb_time_ps packet_ps, double n_events) TB_MUST_USE;
// tb_replay_grow doubles the room for packets, whose records move. TB_ENOMEM,
// TB_ECAPACITY.
int tb_replay_grow(struct tb_replay *replay) TB_MUST_USE;
// tb_replay_open: the records, in cells that the model has placed by link id; then the
// replay can run.
int tb_replay_open(struct tb_replay *replay, const struct tb_observer *observer,
	struct tb_cell **cells, const struct tb_replay_options *options) TB_MUST_USE;
void tb_replay_fini(struct tb_replay *replay);

// tb_nic_init begins the state of a node. tb_replay_make does so for all, unless the
// replay has nodes already.
void tb_nic_init(struct tb_nic *nic, const struct tb_network *net);

// A replay can continue with another model: in place of tb_replay_init, tb_replay_follow
// moves everything of `before` that does not depend on the model to a zeroed replay. The
// new model's `make` follows, and then tb_replay_take_over in place of tb_replay_open: it
// moves records, messages, and the events of messages, into `cells` as tb_replay_open
// takes them. All other events go to `other`; NULL drops them. Afterwards `before` can
// only be freed (messages.c).
void tb_replay_follow(struct tb_replay *replay, struct tb_replay *before,
	const struct tb_carrier *carrier);
void tb_replay_take_over(struct tb_replay *replay, struct tb_replay *before,
	struct tb_cell **cells,
	void (*other)(struct tb_replay *before, struct tb_event event));
// tb_replay_abandon: the new replay was not made whole, and the one before keeps all.
void tb_replay_abandon(struct tb_replay *replay);

// tb_replay_fail keeps the first failure; the replay ends with it.
void tb_replay_fail(struct tb_replay *replay, enum tb_status code, const char *sentence);
// tb_replay_no_memory is the same for a lack of memory for `what`.
void tb_replay_no_memory(struct tb_replay *replay, const char *what);

// tb_per_byte_q20 is picoseconds a byte with 20 binary places, rounded; 0 without a rate.
uint64_t tb_per_byte_q20(uint64_t bytes_per_s);

static inline struct tb_packet *tb_packet_at(const struct tb_replay *replay, uint32_t id)
{
	return (void *)(replay->packets + id * replay->packet_bytes);
}

// tb_nic_at is what a node has of a VL: queue, fetched packet and turn. The rest is that
// of VL 0.
static inline struct tb_nic *tb_nic_at(
	const struct tb_replay *replay, uint32_t node, uint32_t vl)
{
	return &replay->nics[(size_t)vl * replay->net->n_nodes + node];
}

// tb_replay_in_flight is how many packets have been made and have not arrived, modulo
// 2^32.
static inline uint32_t tb_replay_in_flight(const struct tb_replay *replay)
{
	return replay->n_packets_most - replay->n_free_packets + replay->n_forgotten;
}

static inline uint32_t tb_packet_source(
	const struct tb_replay *replay, const struct tb_packet *packet)
{
	return replay->messages[packet->message].what.source.id;
}

static inline void tb_list_add(struct tb_list *list, uint32_t id, bool *listed)
{
	if (*listed)
		return;
	*listed = true;
	list->ids[list->n++] = id;
}

// A captured frame stays one (docs/ethernet.md, E8; docs/credits.md, C41): the headers
// that it was captured with are among its bytes, and the network's take their place.
static inline bool tb_replay_keeps_frames(
	const struct tb_replay *replay, const struct tb_message *message)
{
	if (!message->captured || replay->frame_headers == 0)
		return false;
	// Where the network's headers are shorter, no packet may come out below nothing.
	return replay->frame_headers <= replay->net->params.packet_overhead_bytes ||
	       (message->bytes >= replay->frame_headers &&
		       message->bytes <= replay->frame_payload);
}

// tb_replay_full_payload is the most that a packet of a message carries of it: of a
// captured one also its headers, and those that an RDMA write's first packet has more.
static inline uint32_t tb_replay_full_payload(
	const struct tb_replay *replay, const struct tb_message *message)
{
	return tb_replay_keeps_frames(replay, message)
		       ? replay->frame_payload
		       : replay->net->params.packet_payload_bytes;
}

// nodes.c: what a model calls.
//
// The last flit of a packet is in at its destination, and what it holds is whole.
// tb_carrier.release follows within the call; the packet is no more.
void tb_nodes_arrive(struct tb_replay *replay, uint32_t packet);
// A message is sent now, before all of it has been acknowledged; once for each.
void tb_nodes_sent(struct tb_replay *replay, uint32_t message);
// A message that a model carries whole begins, or goes on; `behind_since` is when it
// began to wait for that. n further packets of it have been carried. The rest of them is
// in its destination's memory at `drained_at`; its source knows at `known_at`.
void tb_nodes_begun(struct tb_replay *replay, uint32_t message);
void tb_nodes_carried_part(struct tb_replay *replay, uint32_t message, uint32_t n);
void tb_nodes_carried(struct tb_replay *replay, uint32_t message, tb_time_ps drained_at,
	tb_time_ps known_at);
// A packet has failed: it met the link `dead`, and its source knows of that at `at`. What
// it held is let go; the packet is no more.
void tb_nodes_fail(
	struct tb_replay *replay, uint32_t packet, uint32_t dead, tb_time_ps at);
// tb_nodes_adopt returns the number of a copy of another replay's record of a packet;
// tb_nodes_new_record that of a record to be filled in by the model, which other records
// may move for; tb_nodes_drop drops a packet that another replay has now.
uint32_t tb_nodes_adopt(struct tb_replay *replay, const struct tb_packet *packet);
uint32_t tb_nodes_new_record(struct tb_replay *replay);
void tb_nodes_drop(struct tb_replay *replay, uint32_t packet);
// A model can keep a packet as no more than its message and its number in that, in which
// it has no record: tb_nodes_forget drops the record and returns the number;
// tb_nodes_recall makes it again, perhaps in another replay, before it arrives.
uint32_t tb_nodes_forget(struct tb_replay *replay, uint32_t packet);
uint32_t tb_nodes_recall(struct tb_replay *replay, uint32_t message, uint32_t number);
// tb_nodes_look has a node that waits to inject ask again when it can.
void tb_nodes_look(struct tb_replay *replay, uint32_t node);

// messages.c: messages, from one replay to the next.
//
// tb_messages_go_on has a node cut what is left of a message from now on.
// tb_messages_left lists those that are not wholly cut, in the order of the nodes and
// their queues, which it empties; `*ids` is to be freed. TB_NOTHING without memory.
void tb_messages_go_on(struct tb_replay *replay, uint32_t message);
uint32_t tb_messages_left(struct tb_replay *replay, uint32_t **ids);

// tb_message_left is the payload of a message of which no packet has been made yet.
static inline uint64_t tb_message_left(
	const struct tb_replay *replay, const struct tb_posted *message)
{
	uint64_t made = message->n_packets - message->n_unfetched;
	uint64_t bytes = made * tb_replay_full_payload(replay, &message->what);
	return bytes < message->what.bytes ? message->what.bytes - bytes : 0;
}

// nodes.c and messages.c: what the loop over instants calls (clock.h).
//
void tb_messages_take(struct tb_replay *replay);  // those posted now
void tb_messages_start(struct tb_replay *replay); // those whose send overhead is over
// tb_messages_unqueue takes the first message out of a ring of `starting`;
// tb_messages_await puts one into the same ring of another replay, where it starts.
// tb_messages_skip takes out those that start before `until`.
uint32_t tb_messages_unqueue(struct tb_ring *ring);
void tb_messages_await(struct tb_replay *replay, unsigned ring, uint32_t message);
void tb_messages_skip(struct tb_replay *replay, tb_time_ps until);
// Reads anew when something comes from outside the network.
void tb_messages_look_outside(struct tb_replay *replay);
// TB_EVENT_SENT, _DELIVERED or _UNDELIVERED, which the end of phase 1 reports.
void tb_messages_ended(
	struct tb_replay *replay, uint32_t message, enum tb_event_kind kind);
// tb_messages_report reports this round's endings to the source. A replay that borrows
// keeps them. tb_messages_add_ending adds one whose figures are known.
void tb_messages_add_ending(
	struct tb_replay *replay, uint32_t message, enum tb_event_kind kind);
void tb_messages_report(struct tb_replay *replay);
void tb_nodes_handle(struct tb_replay *replay, struct tb_event event);
// tb_nodes_handle when nothing else happens in this instant: phase 2 included.
void tb_nodes_alone(struct tb_replay *replay, struct tb_event event);
void tb_nodes_choose(struct tb_replay *replay); // phase 2

#endif

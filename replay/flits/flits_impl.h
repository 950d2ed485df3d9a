// The inside of the reference engine, shared by flits.c (time), flits_links.c (flits,
// credits, headers, VCs) and flits_nodes.c (messages, the bus, acknowledgements, tokens).
// Private to replay/.
//
// Words are those of docs/model.md: flit, block (the flits of a packet that fill the
// smallest FIFO), credit, header, acknowledgement, token. A packet's path has hops 0
// (injection) to n_hops - 1 (ejection).
#ifndef TB_FLITS_IMPL_H
#define TB_FLITS_IMPL_H

#include "books.h"
#include "broadcast.h"
#include "flits.h"
#include "flits_books.h"
#include "network_impl.h"
#include "partners.h"
#include "route_choice.h"

enum what {	      // in the order in which they happen in one instant
	STARTED,      // message: its send overhead is over
	FLIT_CROSSED, // link: falls free
	FLIT_IN,      // packet, hop: its next flit is in behind the hop's link
	CREDIT_IN,    // packet, hop: room for one more flit behind the hop's link
	ACK_IN,	      // packet, hop: the acknowledgement is back before the hop's link
	TOKEN_IN,     // packet, hop: the end-of-packet token frees the hop's VC
	FETCHED,      // node: the packet that it fetches is over the bus
	FAILED,	      // packet: its source knows of its error
	DRAINED,      // packet: is over the bus of its destination
	SENT,	      // message: its last acknowledgement is back
	DELIVERED,    // message: its receive overhead is over
	UNDELIVERED,  // message: given up, nothing of it is under way
};

struct happening {
	tb_time_ps at;
	uint64_t number; // of its being foreseen
	enum what what;
	uint32_t id; // link, node, or hop of the packet
	struct packet *packet;
	struct message *message;
};

struct heap { // binary, earliest first
	struct happening *items;
	size_t n, room;
};

struct message {
	struct tb_message what;
	uint64_t serial;
	tb_time_ps posted_at;
	uint32_t n_packets;
	uint32_t n_uncut, n_undrained, n_unacknowledged; // packets
	uint32_t n_outside; // packets that are not in at the destination
	uint32_t n_lost;    // packets that failed and are not tried again
	bool given_up;
	uint32_t end; // its destination; of a broadcast the end that is followed
	uint32_t flow;
	bool sent, delivered; // the source knows
	struct message *next; // in its node's queue
	struct message *older, *newer;
};

struct hop {
	uint32_t link, vc;
	uint32_t n_here;     // flits that stand before the link
	uint32_t n_begun;    // flits that have begun to cross it
	uint32_t n_in;	     // flits that are in behind it
	uint32_t room;	     // credits: free places in the FIFO behind it
	tb_time_ps begun_at; // its header, to cross the link
	tb_time_ps wait;     // before the VC was granted
	uint32_t root;	     // link that this wait was for in the end
};

struct packet {
	struct message *message;
	struct tb_message what; // of the message, which may be gone before the token
	uint64_t order;
	uint32_t destination, payload_bytes, wire_bytes;
	uint32_t n_flits;
	uint32_t ascending;
	tb_time_ps arrived; // its header at the switch where it stands
	tb_time_ps waited;  // at the switches before
	struct packet *next_waiting;
	struct packet *older, *newer;
	uint32_t n_granted; // hops whose VC it has
	bool drained,
		closed; // over the bus, or its error dealt with; its last VC is free
	// With faults.
	uint32_t tables;	   // that its node had when it cut the packet
	uint32_t n_failed;	   // tries before, with these tables
	uint32_t dead;		   // link that its header met
	bool refused;		   // where it stands: the switch discards what comes
	bool failed;		   // an error goes back instead of an acknowledgement
	struct packet *next_again; // in its node's queue of those to be tried again
	struct hop hops[];	   // one more than the longest path
};

struct ending { // of a message
	struct message *message;
	enum what what; // SENT, DELIVERED or UNDELIVERED
};

struct channel { // a VC of a link
	struct packet *holder;
	uint32_t hop; // of the holder
	tb_time_ps granted_at;
	uint32_t flow; // of the holder or the last one
	uint32_t root; // link that limited the last holder
	tb_time_ps freed_at;
};

struct link {
	const struct tb_link_info *info;
	uint64_t byte_q20; // picoseconds a byte, 20 binary places
	tb_time_ps hop_ps; // flit begins here to flit can begin on the next link
	uint32_t fifo;	   // flits a VC
	struct channel *channels;
	uint32_t serving;      // VC whose flit crosses or crossed last
	bool crossing;	       // a flit crosses
	tb_time_ps block_from; // the block that is crossing began
	uint32_t n_held;       // VCs
	tb_time_ps held_from;
	bool touched; // to be looked at in this round
};

struct switch_state {
	struct packet *waiting; // headers, oldest first
	bool touched;
};

struct node {
	struct message *queue;
	struct message **queue_end;
	struct packet *fetching, *fetched;
	tb_time_ps bus_free_at;
	tb_time_ps drained_at; // the last packet from the network
	bool touched;
	uint32_t tables;      // what it knows to be dead: see choice.h
	struct packet *again; // to be cut anew, in the order of their errors
};

struct touched {
	uint32_t *ids;
	uint32_t n;
};

struct tb_flits {
	const struct tb_network *net;
	const struct tb_source *source;
	struct tb_observer of_flows; // the observer, deaf to bins
	struct tb_books books;	     // flows and blame only
	struct tb_flits_books link_books;
	struct heap heap;
	tb_time_ps now;
	tb_time_ps last_told; // the source of an end
	bool over;
	struct tb_route_choice choice;
	struct tb_partners partners;
	uint64_t bus_q20;
	int64_t age_q10;
	uint32_t block_flits;
	struct link *links;
	struct channel *channels;
	struct switch_state *switches;
	struct node *nodes;
	struct message *messages; // all that the source has not been told the end of
	struct packet *packets;	  // all that are under way
	struct switch_state broadcasts; // those that wait for their branches
	uint32_t *branches;		// links of one level, a working space
	struct touched links_now, switches_now, nodes_now;
	struct ending *endings; // of this round
	uint32_t n_endings, endings_room;
	tb_time_ps fault_at;   // when something dies next
	size_t n_dead;	       // deaths that have come
	struct packet *errors; // of this round, by order, next_again
	struct tb_engine_stats stats;
	tb_time_ps *delays;	 // of the options
	struct tb_error failure; // code is TB_OK while all is well
};

void tb_flits_fail(struct tb_flits *flits, enum tb_status code, const char *sentence);

// tb_flits_foresee puts down what will happen; unused of id, packet and message are zero.
void tb_flits_foresee(struct tb_flits *flits, struct happening happening);

static inline void touch(struct touched *list, uint32_t id, bool *touched)
{
	if (!*touched)
		list->ids[list->n++] = id;
	*touched = true;
}

// T(n) of the definition: what `bytes` take at a rate, in two parts as a message may be
// so long that the product has no room.
static inline tb_time_ps rate_time(uint64_t byte_q20, uint64_t bytes)
{
	uint64_t whole = bytes >> 20, rest = bytes & ((1u << 20) - 1);
	return (tb_time_ps)(whole * byte_q20 +
			    ((rest * byte_q20 + (UINT64_C(1) << 19)) >> 20));
}

// flits_links.c
//
void tb_flits_inject(struct tb_flits *flits, struct packet *packet, uint32_t vc);
void tb_flits_crossed(struct tb_flits *flits, uint32_t link);
void tb_flits_in(struct tb_flits *flits, struct packet *packet, uint32_t hop);
void tb_flits_credit(struct tb_flits *flits, struct packet *packet, uint32_t hop);
void tb_flits_free_vc(struct tb_flits *flits, struct packet *packet, uint32_t hop);
void tb_flits_choose_vcs(struct tb_flits *flits, uint32_t sw); // phase 2
void tb_flits_choose_branches(struct tb_flits *flits);	       // before phase 2
void tb_flits_serve(struct tb_flits *flits, uint32_t link);    // phase 3
// A header waits no more, but did not get a VC: what it waited.
void tb_flits_count_refused(
	struct tb_flits *flits, const struct packet *packet, uint32_t first);
void tb_flits_touch_link(struct tb_flits *flits, uint32_t link);
// Counts up to now the time that VCs which are held were held; and all else that lasts.
void tb_flits_count_held(struct tb_flits *flits);
void tb_flits_count_lasting(struct tb_flits *flits);

// flits_nodes.c
//
void tb_flits_post(struct tb_flits *flits, const struct tb_message *what);
void tb_flits_started(struct tb_flits *flits, struct message *message);
void tb_flits_fetched(struct tb_flits *flits, uint32_t node);
void tb_flits_packet_in(struct tb_flits *flits, struct packet *packet);
void tb_flits_drained(struct tb_flits *flits, struct packet *packet);
void tb_flits_ack(struct tb_flits *flits, struct packet *packet, uint32_t hop);
void tb_flits_token(struct tb_flits *flits, struct packet *packet, uint32_t hop);
void tb_flits_ended(struct tb_flits *flits, struct message *message, enum what what);
void tb_flits_tell_source(struct tb_flits *flits);
void tb_flits_fetch(struct tb_flits *flits, uint32_t node); // phase 2
void tb_flits_leave_queue(struct node *node, struct message *message);
// The next packet of a node's messages, or NULL (rule 2).
struct packet *tb_flits_cut_next(struct tb_flits *flits, struct node *node);
struct packet *tb_flits_packet(
	struct tb_flits *flits, struct message *message, uint32_t number);
void tb_flits_drop_done(struct tb_flits *flits, struct packet *packet);

// flits_faults.c
//
// What dies now is dead: headers that wait for it turn elsewhere or meet an error.
void tb_flits_strike(struct tb_flits *flits);
// The way on of a packet's header: a link, or a group of the choice's; TB_ROUTE_NONE when
// it meets a dead link.
uint32_t tb_flits_way(struct tb_flits *flits, struct packet *packet, uint32_t sw);
// The header has met a dead link.
void tb_flits_refuse(struct tb_flits *flits, struct packet *packet);
// Whether a packet that is all in at its destination has crossed what is dead by now.
bool tb_flits_is_spoilt(struct tb_flits *flits, struct packet *packet);
// The last flit of a packet that fails is in where it fails: its error goes back.
void tb_flits_send_error(struct tb_flits *flits, struct packet *packet);
// The error is back at the source.
void tb_flits_error_in(struct tb_flits *flits, struct packet *packet);
void tb_flits_failed(struct tb_flits *flits, struct packet *packet); // FAILED
// What is made of this round's errors.
void tb_flits_settle(struct tb_flits *flits);
// The next packet of a node with faults: one to be tried again, or of its messages.
struct packet *tb_flits_cut(struct tb_flits *flits, uint32_t node);
// A fetched packet that would get a VC of a dead cable fails.
bool tb_flits_inject_fails(struct tb_flits *flits, struct packet *packet);
// Ends a message that was given up once nothing of it is under way.
void tb_flits_end(struct tb_flits *flits, struct message *message);

#endif

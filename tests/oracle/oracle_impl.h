// The inside of the oracle, shared by oracle.c (time), oracle_nodes.c (messages, the bus,
// acknowledgements, tokens), oracle_links.c (flits, credits), oracle_headers.c (who gets
// a VC), oracle_routes.c (the links that lead on) and oracle_faults.c (what dies). In
// networks with credits (credits/) links, switches and half of the nodes are others.
//
// Words are those of docs/model.md: flit, block (the flits of a packet that fill the
// smallest FIFO), credit, header, acknowledgement, token. A packet's path has hops 0
// (injection) to n_granted - 1, at last the ejection.
#ifndef ORACLE_IMPL_H
#define ORACLE_IMPL_H

#include "credit_params.h"
#include "network_impl.h"
#include "oracle.h"
#include "oracle_facts.h"

// Of network_impl.h the oracle takes the graph and the tables of a route file, of
// balance.h what balanced routes are.
#pragma GCC poison tb_network_route tb_network_ascending tb_slice_packets group_links

enum what {	       // in the order in which they happen in one instant
	STARTED,       // message: its send overhead is over
	TRAIN_OVER,    // link: the instant after a block of its train ended has come
	TOKENS_SENT,   // link: what it owed is sent
	BLOCK_IN,      // packet, hop: its next block is in behind the hop's link
	BLOCK_CROSSED, // packet, hop: its next block has crossed
	HEADER_IN,     // packet, hop: its header is in behind the hop's link
	READY,	       // packet: can be sent on
	UPDATE_IN,     // update: its receiver knows
	CNP_IN,	       // pace: its node is notified of congestion
	PACED,	       // node: its rates allow a packet
	FLIT_CROSSED,  // link: falls free
	FLIT_IN,       // packet, hop: its next flit is in behind the hop's link
	CREDIT_IN,     // packet, hop: room for one more flit behind the hop's link
	ACK_IN,	       // packet, hop: the acknowledgement is back before the hop's link
	TOKEN_IN,      // packet, hop: the end-of-packet token frees the hop's VC
	FETCHED,       // node: the packet that it fetches is over the bus
	FAILED,	       // packet: its source knows of its error
	DRAINED,       // packet: is over the bus of its destination
	ACKNOWLEDGED,  // packet: its source knows that it has come
	SENT,	       // message: its last acknowledgement is back
	DELIVERED,     // message: its receive overhead is over
	UNDELIVERED,   // message: given up, nothing of it is under way
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
	size_t n;
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
	uint32_t vl;  // with credits
	struct oracle_flow flow;
	bool sent, delivered; // the source knows
	bool stands_behind;   // others in its node's queue, or has just joined it
	tb_time_ps behind_since, queued; // before
	bool has_entered;
	tb_time_ps entered;   // its first packet, the network
	tb_time_ps drained;   // its last packet
	struct message *next; // in its node's queue
	struct message *older, *newer;
};

struct hop {
	uint32_t link, vc;
	uint32_t n_here;	    // flits that stand before the link
	uint32_t n_begun;	    // flits that have begun to cross it
	uint32_t n_in;		    // flits that are in behind it
	uint32_t room;		    // credits: free places in the FIFO behind it
	tb_time_ps begun_at;	    // its header, to cross the link
	tb_time_ps wait;	    // before the VC was granted
	uint32_t root;		    // link that this wait was for in the end
	struct oracle_flow culprit; // with credits: the flow
	bool followed;		    // its VC fell free as its header came
	bool by_credit;		    // with credits: the wait was for some
};

struct packet {
	struct message *message;
	struct tb_message what; // of the message, which may be gone before the token
	uint64_t order;
	uint32_t destination, payload_bytes, wire_bytes, padding;
	uint32_t n_flits;
	uint32_t apex;	    // hops up to the apex of a broadcast
	tb_time_ps arrived; // its header at the switch where it stands
	tb_time_ps waited;  // at the switches before
	struct packet *next_waiting;
	struct packet *older, *newer;
	uint32_t n_granted; // hops whose VC it has
	bool drained,
		closed; // over the bus, or its error dealt with; its last VC is free
	// With faults.
	tb_time_ps tables;	   // instant of the tables by which its node cut it
	uint32_t n_failed;	   // tries before, with these tables
	uint32_t dead;		   // link that its header met
	bool refused;		   // where it stands: the switch discards what comes
	bool failed;		   // an error goes back instead of an acknowledgement
	struct packet *next_again; // in its node's queue of those to be tried again
	struct hop *hops;	   // one more than those granted, at least
	// With credits.
	uint32_t vl;
	uint32_t route; // link that it is to take
	tb_time_ps came_at;
	tb_time_ps ready_at;   // to take it
	uint32_t corrupted_by; // link that died while it crossed, or TB_ID_NONE
	uint32_t n_events;     // foreseen that refer to it
	bool marked;	       // left a long queue
	bool over;	       // its source knows of its end, or will
};

struct ending { // of a message
	struct message *message;
	enum what what; // SENT, DELIVERED or UNDELIVERED
};

struct channel { // a VC of a link
	struct packet *holder;
	uint32_t hop; // of the holder
	tb_time_ps granted_at;
	struct oracle_flow flow; // of the holder or the last one
	uint32_t root;		 // link that limited the last holder
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
	// Link tokens: the train that crosses, or crossed last.
	bool in_train;		   // it is not known to be over
	tb_time_ps block_ended_at; // its last block, or the one that crosses
	tb_time_ps train_owes;	   // what it makes the reverse link owe
	tb_time_ps ended_owes;	   // the same of one that ended as this one began
	tb_time_ps owed;	   // tokens that this link cannot send yet
	tb_time_ps tokens_sent_at;
};

struct switch_state {
	struct packet *waiting; // headers, oldest first
	uint32_t turn;		// port behind the one taken last from a group
	bool touched;
};

enum way { OUT, IN }; // of payload over a node's bus

struct ahead { // what a node has cut ahead, with credits of a VL
	struct packet *fetching, *fetched;
	struct packet *first_of_turn; // the one of these two that is
	struct message *turn_over;    // until the next packet is cut of a message
	tb_time_ps fetched_at;
};

struct node {
	struct message *queue;
	struct message **queue_end;
	struct ahead ahead[TB_VLS_MOST];
	uint32_t vl_turn;	   // VL behind the one that was cut last
	tb_time_ps bus_free_at[2]; // for payload of each way
	tb_time_ps drained_at;	   // the last packet from the network
	bool touched;
	tb_time_ps tables;    // instant of the tables that it has
	struct packet *again; // to be cut anew, in the order of their errors
};

struct touched {
	uint32_t *ids;
	uint32_t n;
};

struct oracle {
	const struct tb_network *net;
	const struct tb_source *source;
	const struct oracle_options *options;
	struct oracle_facts facts;
	struct heap heap;
	uint64_t n_foreseen;
	tb_time_ps now;
	tb_time_ps last_reported; // the source of an end
	uint64_t bus_q20;
	int64_t age_q10;
	tb_time_ps tokens_q16; // link tokens that a picosecond of a train makes due
	uint32_t block_flits;
	struct link *links;
	struct channel *channels;
	struct switch_state *switches;
	struct node *nodes;
	struct message *messages;    // all that the source has not been told the end of
	struct packet *packets;	     // all that are under way
	struct packet *broadcasts;   // those that wait for their branches, oldest first
	bool header_came;	     // in this instant
	struct distances *distances; // measured so far
	struct balanced *balanced;   // made so far
	uint32_t *branches;	     // links of one level, a working space
	bool *seen;		     // by node, a working space
	struct touched links_now, switches_now, nodes_now;
	struct ending *endings; // of this round
	size_t n_endings;
	tb_time_ps *dead_at;	   // by link; NULL when nothing dies
	tb_time_ps fault_at;	   // when something dies next
	struct packet *errors;	   // of this round, by order, next_again
	uint64_t *n_posted_of_job; // where jobs are counted by themselves
	bool shaped;		   // the tree has a shape, not arity and levels
	uint32_t widths[TB_SHAPE_LEVELS_MOST]; // by level: w1 w2 ... up to it
	struct credits *credits;	       // NULL: circuits
	struct oracle_stats stats;
	struct tb_error failure; // code is TB_OK while all is well
};

void oracle_fail(struct oracle *oracle, enum tb_status code, const char *sentence);

// oracle_foresee puts down what will happen; unused of id, packet and message are zero.
void oracle_foresee(struct oracle *oracle, struct happening happening);

// oracle_zeroed is memory for n items.
void *oracle_zeroed(size_t n, size_t size);

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

// q of the definition: picoseconds a byte with 20 binary places, rounded; 0: no time.
static inline uint64_t byte_time(uint64_t bytes_per_s)
{
	if (bytes_per_s == 0)
		return 0;
	return (((uint64_t)TB_PS_PER_S << 20) + bytes_per_s / 2) / bytes_per_s;
}

static inline bool is_broadcast(const struct tb_message *message)
{
	return message->n_receivers > 1;
}

static inline struct link *link_of(const struct oracle *oracle, const struct hop *hop)
{
	return &oracle->links[hop->link];
}

static inline bool is_dead(const struct oracle *oracle, uint32_t link, tb_time_ps at)
{
	return oracle->dead_at && oracle->dead_at[link] <= at;
}

// descends returns whether hop `at` of a packet is one of a broadcast below its apex.
static inline bool descends(const struct packet *packet, uint32_t at)
{
	return is_broadcast(&packet->what) && at > packet->apex;
}

// oracle_links.c
//
void oracle_crossed(struct oracle *oracle, uint32_t link);
void oracle_train_over(struct oracle *oracle, uint32_t link);
void oracle_in(struct oracle *oracle, struct packet *packet, uint32_t hop);
void oracle_credit(struct oracle *oracle, struct packet *packet, uint32_t hop);
void oracle_serve(struct oracle *oracle, uint32_t link); // phase 3
void oracle_touch_link(struct oracle *oracle, uint32_t link);
// Notes the blocks that are crossing when a replay ends.
void oracle_note_crossing(struct oracle *oracle);

// oracle_headers.c
//
void oracle_header_in(struct oracle *oracle, struct packet *packet, uint32_t sw);
// Gives a packet a VC of its next link.
void oracle_grant(
	struct oracle *oracle, struct packet *packet, uint32_t link, uint32_t vc);
void oracle_free_vc(struct oracle *oracle, struct packet *packet, uint32_t hop);
void oracle_choose_vcs(struct oracle *oracle, uint32_t sw); // phase 2
void oracle_choose_branches(struct oracle *oracle);	    // before phase 2
// A header waits no more, or no longer is watched, but did not get a VC of `first`.
void oracle_note_refused(
	struct oracle *oracle, const struct packet *packet, uint32_t first);
// Notes the headers that came in this instant and got no VC in it.
void oracle_note_blocked(struct oracle *oracle);
// Notes the waits and the held links that last when a replay ends.
void oracle_note_lasting(struct oracle *oracle);

// oracle_routes.c
//
enum { GROUP_MOST = 256 };

struct group { // of links any of which leads on, in the order of ports
	uint32_t n;
	uint32_t links[GROUP_MOST];
};

// oracle_group_on is the links by which a header may go on at an instant; none when it
// meets a dead link, which then stands in packet->dead.
struct group oracle_group_on(
	struct oracle *oracle, struct packet *packet, uint32_t sw, tb_time_ps at);
// oracle_link_on is the link of these that a header takes now, or none: no VC is free.
uint32_t oracle_link_on(struct oracle *oracle, struct packet *packet, uint32_t sw);
// oracle_one_of is the link that a header takes of equally good ones (rule 18).
uint32_t oracle_one_of(struct oracle *oracle, const struct packet *packet, uint32_t sw,
	const struct group *best);
// oracle_ideal_link is the link of a switch by which a message goes on its ideal path.
uint32_t oracle_ideal_link(
	struct oracle *oracle, uint32_t sw, uint32_t source, uint32_t destination);
// oracle_leads returns whether the tables of an instant know a path between two nodes.
bool oracle_leads(
	struct oracle *oracle, tb_time_ps tables, uint32_t source, uint32_t destination);
void oracle_free_distances(struct oracle *oracle);
// Rule 28: the node to which a broadcast is followed, how many hops lead up to its apex,
// and the links (written to oracle->branches) that all its paths take at a hop.
uint32_t oracle_broadcast_end(
	const struct oracle *oracle, const struct tb_message *message);
// The random number of a packet's order, or another one's, at a switch (rule 18).
uint64_t oracle_draw(const struct oracle *oracle, uint64_t what, uint32_t sw);
uint32_t oracle_hops_up(const struct oracle *oracle, uint32_t source, uint32_t node);
uint32_t oracle_links_at(struct oracle *oracle, const struct packet *packet, uint32_t at);

// oracle_nodes.c
//
void oracle_post(struct oracle *oracle, const struct tb_message *what);
void oracle_started(struct oracle *oracle, struct message *message);
void oracle_fetched(struct oracle *oracle, uint32_t node, uint32_t vl);
void oracle_packet_in(struct oracle *oracle, struct packet *packet);
void oracle_drained(struct oracle *oracle, struct packet *packet);
void oracle_ack(struct oracle *oracle, struct packet *packet, uint32_t hop);
void oracle_token(struct oracle *oracle, struct packet *packet, uint32_t hop);
void oracle_ended(struct oracle *oracle, struct message *message, enum what what);
void oracle_report_to_source(struct oracle *oracle);
void oracle_fetch(struct oracle *oracle, uint32_t node); // phase 2
void oracle_leave_queue(
	struct oracle *oracle, struct node *node, struct message *message);
// The next packet of a node's messages, or NULL (rule 2); and the message that it is of.
struct packet *oracle_cut_next(struct oracle *oracle, uint32_t node, uint32_t vl);
struct message *oracle_next(struct oracle *oracle, uint32_t node, uint32_t vl);
// A packet is cut, or enters ("Latency").
void oracle_note_turn(struct oracle *oracle, struct node *node, struct packet *packet);
void oracle_note_entry(struct oracle *oracle, uint32_t node, uint32_t vl);
// A packet is in at its destination, and whole; its source knows.
void oracle_count_in(struct oracle *oracle, struct packet *packet);
void oracle_acknowledged(struct oracle *oracle, struct packet *packet);
struct packet *oracle_packet(
	struct oracle *oracle, struct message *message, uint32_t number);
void oracle_drop_done(struct oracle *oracle, struct packet *packet);
void oracle_drop_packet(struct oracle *oracle, struct packet *packet);
void oracle_drop_message(struct oracle *oracle, struct message *message);

// oracle_ideal.c
//
enum { PATH_MOST = 64 };

struct path {
	const struct link *links[PATH_MOST];
	uint32_t n;
};

struct path oracle_ideal_path(
	struct oracle *oracle, uint32_t source, uint32_t destination);
// The ideal latency of a message ("What is counted").
tb_time_ps oracle_ideal_ps(struct oracle *oracle, const struct message *message);

// oracle_faults.c
//
// What dies now is dead: headers that wait for it turn elsewhere or meet an error.
void oracle_fail_links(struct oracle *oracle);
// The header has met a dead link.
void oracle_refuse(struct oracle *oracle, struct packet *packet);
// Whether a packet that is all in at its destination has crossed what is dead by now.
bool oracle_is_corrupted(struct oracle *oracle, struct packet *packet);
// The last flit of a packet that fails is in where it fails: its error goes back.
void oracle_send_error(struct oracle *oracle, struct packet *packet);
// The error is back at the source.
void oracle_error_in(struct oracle *oracle, struct packet *packet);
void oracle_failed(struct oracle *oracle, struct packet *packet); // FAILED
// What is made of this round's errors.
void oracle_settle(struct oracle *oracle);
// The next packet of a node with faults: one to be tried again, or of its messages.
struct packet *oracle_cut(struct oracle *oracle, uint32_t node, uint32_t vl);
// A fetched packet that would get a VC of a dead cable fails.
bool oracle_inject_fails(struct oracle *oracle, struct packet *packet);

#endif

// Rates of flows that share links: max-min fair, or coupled as queues couple them
// (coupled.c has those rules). Private to this room.
//
// A flow crosses a set of links, its steps, each of which has a capacity. It may be split
// over several ways, each of which carries the same part of it: a step has the weight of
// the ways that cross its link. Its rate, of all ways, is the largest for which no flow
// with a lower or equal rate has to give up any (Bertsekas and Gallager, Data Networks,
// 6.5.2): the link with the least share, what is left of it by the weights of its flows,
// limits these flows; then the next one. Links whose shares are
// equal limit at once. A flow may have several such shares of its links. Rates are whole
// numbers of the capacities' unit: a share is rounded down, which leaves less than a unit
// for each flow of a link.
//
// When flows begin or end, only those are looked at whose rates can change: all that
// cross a link which limits one of them, and so on. If a link begins to limit, its faster
// flows join them. What results is what all flows would get if they began now, but for
// what is left of divisions.
//
// Use: tb_shares_begin and tb_shares_end, any number of them, then tb_shares_solve, which
// leaves all rates as they are; look at the group; tb_shares_apply.
//
// Cost of a solution: n log n in the steps of the group. Memory: 64 bytes per link that
// is used, 8 more per flow on links of several; 56 and 12 a step per flow.
#ifndef TB_SHARES_H
#define TB_SHARES_H

#include "map.h"
#include "status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TB_SHARES_NONE UINT32_MAX

// The weight of a step that all of a flow crosses, and the most ways of a flow. With
// weights that are whole numbers nothing is rounded where a flow is split.
enum { TB_SHARE_WHOLE = 16 };

// Tokens that change by less than such a part of a link do not count, nor do those of
// more rounds: each round leaves a fifth of what the one before left.
enum { TB_SHARE_TOKENS_APART = 8000, TB_SHARE_TOKENS_ROUNDS = 8 };

struct tb_share_use { // of a link, by a flow
	uint32_t flow;
	uint16_t step, weight;
};

struct tb_share_link {			 // a cache line
	uint64_t capacity;		 // times TB_SHARE_WHOLE
	uint64_t rate;			 // of all its flows, by their weights
	union {				 // its flows, those that end among them
		struct tb_share_use one; // without room for more
		struct tb_share_use *many;
	} uses;
	uint32_t room, n;
	uint32_t n_limited; // flows whose rates it limits
	// In a solution:
	uint32_t left;	      // weights of the flows of the group without a rate yet
	uint64_t rest, level; // for these; what it gave each
	uint32_t mark;	      // of the solution, to which belong
	uint32_t states;      // a set of those of shares.c
};
_Static_assert(sizeof(struct tb_share_link) == 64, "millions of links have one each");

struct tb_share_step { // of a flow, over a link
	uint32_t link;
	uint32_t at;	 // its place among the link's uses
	uint16_t weight; // of TB_SHARE_WHOLE, above 0
	uint16_t ways;	 // that cross it, as the caller numbers them: a set of bits
	// Where rates are coupled, each way has its steps by itself, one behind another:
	uint32_t port; // by which it comes to the link
	uint32_t crossing;
	bool begins_way;
	bool is_chosen; // by packets, among others
};

struct tb_share_flow {
	uint32_t origin; // its first link
	uint32_t n_steps;
	bool begins, ends; // with the next solution
	// With buffers: all of it has left its node. Its last byte waits for what is
	// ahead of it between two links of a way, which begins at step `way`.
	bool entered;
	uint32_t n_hops; // of each way
	uint32_t share;	 // beside others of a full link, where rates are not coupled
	uint32_t passed; // links of that way behind it
	uint32_t way;
	double pace;		    // as it left
	uint64_t rate, next_rate;   // now; by the solution
	uint64_t free_rate;	    // alone
	uint32_t limit, next_limit; // the step that limits it
	uint32_t root, next_root;   // the link that does in the end
	uint32_t gathered, solved;  // marks
	uint32_t next;		    // in the free list
	double ahead, ahead_rate;
	int64_t ahead_since;
};

struct tb_share_entry { // of the heap of links
	uint64_t share;
	uint32_t link;
};

// Of coupled rates: a link, an input of one, and an input among others by its demand.
struct tb_share_queue {
	double level;	// what it lets each of its inputs send; INFINITY: all
	double pace;	// of a node's link: of each of its flows
	uint32_t bound; // the next link that holds it back; TB_SHARES_NONE: none
	// In a solution:
	uint32_t mark, n_looks;
	uint32_t scaled, scaled_mark;
	bool listed;
	// With tokens, what it carries, of which its reverse has tokens, and its capacity
	// without; 0: nothing is taken off.
	double carries, carried;
	uint64_t full;
	// The buffer at its far end: room (0: none), what it holds, and whether that
	// holds back what comes. Its contents by next link are in its ports.
	double room, held;
	int64_t since, changes_at;
	uint32_t first_port;	 // from it, plus 1
	uint32_t first_crossing; // of it that is used, plus 1
	uint32_t n_waiting;	 // flows whose last byte is in it
	bool is_full, is_held;
};

struct tb_share_crossing {     // of a link, from an input on to a next link
	uint32_t in, out;      // ports; TB_SHARES_NONE: it begins, or ends, there
	uint32_t n;	       // uses that are not over
	uint32_t before, next; // of the link, plus 1
	uint64_t weight;
	double rate; // at the paces of now
};

struct tb_share_port {
	uint32_t from, to; // links
	double demand;	   // what would come by it
	double weight;	   // of its share beside other inputs
	double held;	   // in the buffer between them
	double in, out;	   // rates, of that
	uint32_t next;	   // from the same link, plus 1
	// In a look at a link:
	uint64_t look;
	double sum, part, most;
	uint32_t n_flows;
	bool is_chosen;	 // by packets, among others
	bool is_backlog; // of a full buffer
};

struct tb_share_change { // of a buffer that will be full, or of an output that has none
			 // in it
	int64_t at;
	uint32_t link;
};

struct tb_share_rank {
	double demand;
	uint32_t port;
};

struct tb_shares {
	struct tb_share_link *links;
	uint32_t n_links;
	struct tb_share_flow *flows;
	struct tb_share_step *steps; // n_steps_most for each flow
	uint32_t n_flows, n_steps_most, free_flow;
	size_t flows_room, steps_room;
	uint32_t mark; // of the solution
	// Flows that begin or end, then all whose rates were solved.
	uint32_t *group;
	uint32_t n_group;
	size_t group_room;
	uint32_t *touched; // links of the group
	uint32_t n_touched;
	size_t touched_room;
	struct tb_share_entry *heap;
	uint32_t *level_links; // of the level being given
	size_t heap_room, level_room;
	bool failed;  // out of memory
	bool coupled; // rates; else they are max-min fair
	// The reverse of each link, and which part of what crosses a link its reverse
	// carries as tokens; NULL: none.
	uint32_t *reverse;
	double tokens;
	uint64_t tokens_apart; // by which part of a capacity these count
	// Of n flows that come by an input its share is n to this power: 0 where inputs
	// take turns, 1 where flows do. Between them where age decides in part.
	double by_flow;
	// Of coupled rates, the first with tokens, too:
	struct tb_share_queue *queues;
	struct tb_share_port *ports;
	struct tb_map port_of;
	uint32_t n_ports;
	struct tb_share_crossing *crossings;
	struct tb_map crossing_of;
	uint32_t n_crossings;
	uint32_t *due; // links to look at, a ring
	size_t first_due, n_due, due_room;
	uint32_t *ins, *outs; // inputs and outputs of the link that is looked at
	struct tb_share_rank *ranks;
	size_t ports_room, crossings_room, ins_room, outs_room, ranks_room;
	uint64_t n_looks;
	double apart;	    // by which part changes count
	double apart_least; // in a solution that reaches few links
	// With buffers:
	bool has_buffers;
	int64_t now;	  // which the caller sets
	int64_t begun_at; // the first flow: from then on steps of buffers are counted
	struct tb_share_change *changes;
	size_t n_changes, changes_room;
};

// tb_shares_init makes `n_links` links without capacity, which the caller sets, in any
// unit per time, and room for flows of so many steps, 2^16 at most. TB_ENOMEM.
// tb_shares_fini frees them; zeroed is fine.
int tb_shares_init(struct tb_shares *shares, uint32_t n_links, uint32_t n_steps_most,
	bool coupled) TB_MUST_USE;
// tb_shares_take_tokens has each link carry, of each byte on its reverse (`reverse`,
// which the caller sets), so many bytes of tokens. TB_ENOMEM.
int tb_shares_take_tokens(struct tb_shares *shares, double tokens) TB_MUST_USE;
void tb_shares_fini(struct tb_shares *shares);

// tb_shares_begin begins a flow over different links, of whose steps it reads all but
// `at`, with rate 0 until the next solution is applied. Of several that limit it at once
// the first counts. Returns its number, TB_SHARES_NONE without
// memory. tb_shares_end has a flow end with the next solution.
uint32_t tb_shares_begin(
	struct tb_shares *shares, const struct tb_share_step *steps, uint32_t n);
void tb_shares_end(struct tb_shares *shares, uint32_t flow);
// tb_shares_weigh gives a flow so many shares of its links, TB_SHARES_MOST at most, from
// the next solution on; it has one from its beginning.
enum { TB_SHARES_MOST = 255 };
void tb_shares_weigh(struct tb_shares *shares, uint32_t flow, uint32_t n);

// With buffers: tb_shares_enter is for a flow whose last byte leaves its node, and then
// for one whose last byte has nothing ahead of it any more; returns whether it has to
// wait (again) behind others on its way. tb_shares_change_at is when rates change by
// themselves, INT64_MAX: never.
bool tb_shares_enter(struct tb_shares *shares, uint32_t flow);
int64_t tb_shares_change_at(struct tb_shares *shares);

// tb_shares_solve finds the rates of the group.
void tb_shares_solve(struct tb_shares *shares);

// tb_shares_is_stirred returns whether anything changes for a flow of the group: its
// rate, what limits it, or the rates of others at the link that limits it now.
bool tb_shares_is_stirred(const struct tb_shares *shares, uint32_t flow);

// tb_shares_apply gives the group its rates, and drops the flows that end.
void tb_shares_apply(struct tb_shares *shares);

// tb_share_uses are the `n` uses of a link, until a flow begins or ends.
static inline const struct tb_share_use *tb_share_uses(const struct tb_share_link *link)
{
	return link->room ? link->uses.many : &link->uses.one;
}

// shares.c: tb_shares_gather adds a flow to the group of this solution. coupled.c: the
// parts of coupled rates.
void tb_shares_gather(struct tb_shares *shares, uint32_t flow);
void tb_coupled_update(struct tb_shares *shares, uint32_t link);
int tb_coupled_begin(struct tb_shares *shares, uint32_t flow) TB_MUST_USE;
// tb_coupled_pass: a flow has passed the links of its ways before one; of those before
// `from` that was said earlier.
void tb_coupled_pass(struct tb_shares *shares, uint32_t flow, uint32_t from, uint32_t to);
void tb_coupled_solve(struct tb_shares *shares);
// shares.c: tb_shares_look lists a link to be looked at;
// tb_shares_next takes the first one, unless it was looked at so often.
void tb_shares_look(struct tb_shares *shares, uint32_t link);
uint32_t tb_shares_next(struct tb_shares *shares, uint32_t most);

static inline struct tb_share_step *tb_shares_steps(
	const struct tb_shares *shares, uint32_t flow)
{
	return shares->steps + (size_t)flow * shares->n_steps_most;
}

#endif

// The books: what happens on links, in flows and between them, counted during a replay
// and passed on to the observer. Private to replay/.
//
// Bins: the open bin has one cell per link and is closed when simulated time passes its
// end. With a fixed width, closed bins go to the observer at once. With an automatic
// width they are kept; whenever there are too many, neighbours are merged and the width
// doubles, so memory and rows stay bounded however long the replay is.
//
// Parts: where a replay runs in parts side by side (network_parts.h), each part has books
// of its own, joined to the main ones: what its links carry and wait, and whom it blames.
// Between windows one thread closes bins and enters the blame for all of them, part by
// part; flows and messages are in the main books alone. A link from part to part has two
// cells, which are added up: the one of its far end, as any link, and one in which the
// part of its near end counts (tb_books_near_cell).
#ifndef TB_BOOKS_H
#define TB_BOOKS_H

#include "blame_book.h"
#include "kept_bins.h"
#include "map.h"
#include "message_book.h"
#include "network_parts.h"
#include "observer.h"

#include <stdbool.h>
#include <stddef.h>

struct tb_cell {					       // one link in the open bin
	uint64_t wait_ps, busy_ps, held_ps, bytes, longest_ps; // held: see holds_stall
	uint32_t n_packets, n_blocked;
	uint32_t link;
	bool touched; // holds something: its bit is set
};

struct tb_spill { // a burst of flits that reaches beyond the open bin
	uint32_t link;
	uint32_t n_packets;
	uint64_t bytes;
	tb_time_ps start, end;
};

struct tb_losses { // books_losses.c
	struct tb_map port_of, flow_of;
	struct tb_port_loss_sample *ports;
	struct tb_flow_loss_sample *flows;
	size_t n_ports, n_flows, ports_room, flows_room;
};

struct tb_books {
	const struct tb_observer *observer;
	uint32_t n_links;
	bool automatic;
	bool started; // the observer knows the width
	tb_time_ps bin_ps, bin_start, bin_end;
	uint64_t bin, bins_most;
	struct tb_cell **cells; // by link
	uint64_t *touched;	// bit a link: its cell holds something
	struct tb_spill *spills, *spills_before;
	size_t n_spills, spills_room, before_room;
	struct tb_kept_bins kept;
	size_t kept_told; // bytes of those passed to the observer, with their present
			  // width
	struct tb_link_sample *told; // scratch for one bin
	struct tb_map flow_of;
	struct tb_flow_sample *flows;
	uint32_t n_flows;
	size_t flows_room;
	struct tb_blame_book *blame;  // NULL: not kept
	struct tb_map undelivered_of; // by flow and dead link
	struct tb_undelivered_sample *undelivered;
	uint32_t n_undelivered;
	size_t undelivered_room;
	struct tb_losses losses;
	struct tb_message_book messages;
	bool keeps_messages;
	bool holds_stall; // held_ps of cells is the stall; else stall and busy together
	uint64_t wait_ps; // all waits
	bool failed;	  // out of memory
	// With parts alone. Books that are joined borrow cells and flows of the main
	// ones.
	const struct tb_parts *parts;
	struct tb_cell *near_cells; // by number of the crossing link
	struct tb_books **joined;   // of the main books: by part
	uint32_t n_joined;
	bool is_joined, keeps_waits;
	struct tb_blame_wait *waits; // to be entered into the main books' blame
	size_t n_waits, waits_room;
};

// tb_books_init borrows the network, and the cells of the links, by id, zeroed except for
// their id; the caller places them next to its own state. NULL: links are not counted.
int tb_books_init(struct tb_books *books, const struct tb_network *net,
	const struct tb_observer *observer, struct tb_cell **cells, tb_time_ps bin_ps,
	bool blame) TB_MUST_USE;
void tb_books_fini(struct tb_books *books);

// tb_books_cut prepares books for parts, which it borrows: TB_OK, or TB_ENOMEM.
int tb_books_cut(struct tb_books *books, const struct tb_parts *parts) TB_MUST_USE;

// tb_books_join makes the books of the next part, joined to books that are cut. End them
// first. TB_ENOMEM.
int tb_books_join(struct tb_books *books, struct tb_books *whole) TB_MUST_USE;

// tb_books_enter_waits enters the waits of all parts into the blame, part by part, with
// the threads of a team; NULL: the caller's alone.
void tb_books_enter_waits(struct tb_books *whole, struct tb_team *team);

// tb_books_waits is the sum of all waits, of all parts.
uint64_t tb_books_waits(const struct tb_books *whole);

// tb_books_near_cell is the cell in which the part of a link's near end counts what
// begins to cross it and what stalls.
static inline struct tb_cell *tb_books_near_cell(
	const struct tb_books *books, uint32_t link)
{
	if (books->parts && books->parts->crossing_of[link] != TB_ID_NONE)
		return &books->near_cells[books->parts->crossing_of[link]];
	return books->cells[link];
}

// tb_books_keep_wait keeps a wait for tb_books_enter_waits.
void tb_books_keep_wait(struct tb_books *books, const struct tb_blame_wait *wait);

// What closing a bin needs of joined books (books_parts.c): take_touched returns and
// clears the bits of 64 links; add_near adds the near cell of a link to a copy of its
// other one, and clears it; follow opens the bin of the main books, moves flows on.
uint64_t tb_books_take_touched(struct tb_books *whole, uint32_t word);
void tb_books_add_near(struct tb_books *whole, uint32_t link, struct tb_cell *sum);
void tb_books_follow(struct tb_books *whole);

// tb_books_flow returns the number of the flow (job, source, destination), and adds it
// when it is new.
uint32_t tb_books_flow(
	struct tb_books *books, uint32_t job, uint32_t source, uint32_t destination);

static inline void tb_books_touch(struct tb_books *books, struct tb_cell *cell)
{
	if (cell->touched)
		return;
	cell->touched = true;
	books->touched[cell->link / 64] |= UINT64_C(1) << cell->link % 64;
}

// tb_books_spill takes a burst that does not lie wholly in the open bin.
void tb_books_spill(struct tb_books *books, struct tb_spill burst);

// tb_books_burst counts a burst of flits that crosses a link in [start, end), start not
// before the open bin.
static inline void tb_books_burst(struct tb_books *books, struct tb_cell *cell,
	tb_time_ps start, tb_time_ps end, uint32_t bytes, bool header)
{
	if (end > books->bin_end) {
		tb_books_spill(
			books, (struct tb_spill){cell->link, header, bytes, start, end});
		return;
	}
	cell->busy_ps += (uint64_t)(end - start);
	cell->bytes += bytes;
	cell->n_packets += header;
	tb_books_touch(books, cell);
}

// tb_books_held counts time during which a VC of the link was held, or, with holds_stall,
// during which the link was stalled, within the open bin.
static inline void tb_books_held(
	struct tb_books *books, struct tb_cell *cell, tb_time_ps span)
{
	cell->held_ps += (uint64_t)span;
	tb_books_touch(books, cell);
}

// tb_books_blocked counts a header that came in by the link and must wait.
static inline void tb_books_blocked(struct tb_books *books, struct tb_cell *cell)
{
	cell->n_blocked++;
	tb_books_touch(books, cell);
}

// tb_books_link_wait counts `part` of a wait within the open bin; `whole` is its length
// so far. The wait of the flow is counted by whoever calls.
static inline void tb_books_link_wait(
	struct tb_books *books, struct tb_cell *cell, tb_time_ps part, tb_time_ps whole)
{
	cell->wait_ps += (uint64_t)part;
	if ((uint64_t)whole > cell->longest_ps)
		cell->longest_ps = (uint64_t)whole;
	books->wait_ps += (uint64_t)part;
	tb_books_touch(books, cell);
}

// tb_books_wait does so and counts the part of the flow.
static inline void tb_books_wait(struct tb_books *books, struct tb_cell *cell,
	uint32_t flow, tb_time_ps part, tb_time_ps whole)
{
	books->flows[flow].wait_ps += (uint64_t)part;
	tb_books_link_wait(books, cell, part, whole);
}

// tb_flow_count adds a message that is delivered now to its flow.
static inline void tb_flow_count(struct tb_flow_sample *flow,
	const struct tb_message_sample *message, uint32_t n_packets)
{
	uint64_t latency = (uint64_t)(message->delivered_ps - message->posted_ps);
	if (flow->n_messages == 0 || message->posted_ps < flow->first_ps)
		flow->first_ps = message->posted_ps;
	flow->last_ps = message->delivered_ps;
	if (message->posted_ps > flow->last_post_ps)
		flow->last_post_ps = message->posted_ps;
	flow->n_messages++;
	flow->n_packets += n_packets;
	flow->bytes += message->bytes;
	flow->latency_ps += latency;
	flow->queue_ps += message->queue_ps;
	flow->network_ps += message->network_ps;
	if (latency > flow->worst_latency_ps)
		flow->worst_latency_ps = latency;
	flow->ideal_ps += message->ideal_ps;
}

// tb_books_message keeps a delivered message if the observer asks for them.
static inline void tb_books_message(
	struct tb_books *books, const struct tb_message_sample *message)
{
	if (books->keeps_messages &&
		tb_message_book_add(&books->messages, message) != TB_OK)
		books->failed = true;
}

// tb_books_blame adds a wait of `victim` for `culprit`, of length `wait`, which ended at
// `end`.
static inline void tb_books_blame(struct tb_books *books, uint32_t link, uint32_t root,
	uint32_t victim, uint32_t culprit, tb_time_ps wait, tb_time_ps end)
{
	const struct tb_blame_wait made = {link, root, victim, culprit, end - wait, end};
	if (books->blame)
		tb_blame_book_add(books->blame, books->flows, &made, NULL);
	else if (books->keeps_waits)
		tb_books_keep_wait(books, &made);
}

// tb_books_undelivered counts a message of a flow that is given up; `dead` is the link
// that it met, TB_ID_NONE when there was no route.
void tb_books_undelivered(struct tb_books *books, uint32_t flow, uint32_t dead,
	uint64_t bytes, tb_time_ps now);

// tb_books_lost counts a frame of a flow for which the queue before a link had no room,
// tb_books_resent a segment that is sent again; tb_books_tell_losses passes both to the
// observer and returns its status.
void tb_books_lost(struct tb_books *books, uint32_t flow, uint32_t link, uint32_t bytes);
void tb_books_resent(struct tb_books *books, uint32_t flow);
int tb_books_tell_losses(struct tb_books *books) TB_MUST_USE;
void tb_losses_fini(struct tb_losses *losses);

// tb_books_close closes the open bin, after the engine has settled what lasts beyond
// it, and opens the next.
int tb_books_close(struct tb_books *books, struct tb_error *error) TB_MUST_USE;

// tb_books_idle returns whether the open bin is empty, so that time may jump.
bool tb_books_idle(const struct tb_books *books);

// tb_books_jump makes the bin that holds `now` the open one; the books must be idle.
void tb_books_jump(struct tb_books *books, tb_time_ps now);

// tb_books_tell_bins passes all kept bins to the observer (automatic width only).
int tb_books_tell_bins(struct tb_books *books, struct tb_error *error) TB_MUST_USE;

// tb_books_finish passes kept bins, flows, blame, undelivered messages and losses to the
// observer.
int tb_books_finish(struct tb_books *books, struct tb_error *error) TB_MUST_USE;

#endif

// The records: what happens on links, in flows and between them, counted during a replay
// and passed on to the observer. Private to replay/.
//
// Bins: the open bin has one cell per link and is closed when simulated time passes its
// end. With a fixed width, closed bins go to the observer at once. With an automatic
// width they are kept; whenever there are too many, neighbours are merged and the width
// doubles, so memory and rows stay bounded however long the replay is.
//
// A link is counted in a cell; what begins to cross it can be counted in another one
// (from_cells), so that what happens at its ends needs no common cell. Records without
// blame of their own can keep waits in a log instead, to be entered by others; flows can
// be borrowed from other records, in which others count at the same time.
#ifndef TB_REPLAY_RECORDS_H
#define TB_REPLAY_RECORDS_H

#include "blame_table.h"
#include "map.h"
#include "network_impl.h"
#include "observer.h"
#include "slowest_messages.h"

#include <stdbool.h>
#include <stddef.h>

// The figures of one link in the open bin. `stall` counts how long the link was held;
// the records turn that into stall (see holds_stall).
struct tb_cell { // a cache line
#define TB_FIGURE_FIELD(ID, field, column, type, ...) type field;
	TB_LINK_FIGURES(TB_FIGURE_FIELD)
#undef TB_FIGURE_FIELD
	uint32_t link : 31;
	uint32_t touched : 1; // holds something: its bit is set
};
_Static_assert(sizeof(struct tb_cell) == 64, "engines place them in lines of the cache");

// tb_cell_clear makes a cell that of a link, in which nothing has happened.
static inline void tb_cell_clear(struct tb_cell *cell, uint32_t link)
{
	*cell = (struct tb_cell){.link = link & INT32_MAX};
}

// Kept bins: the samples of closed time bins, packed, until the width of the bins is
// final. Private to replay/.
//
// A bin's samples are sorted by link. Packed, a sample takes some 24 bytes instead of 64:
// each figure takes only the bytes that it needs. When the width doubles, bins stay as
// they are: those that now form one bin are added up when they are read, and merged in
// place once they take too much memory. Cost: some 50 instructions a sample to keep, 60
// to read.

struct tb_kept_bins { // zeroed: none
	unsigned char *bytes;
	size_t n_bytes, room;
	size_t last;	   // byte at which the bin begun last begins
	unsigned level;	   // how often the width doubled
	size_t most_bytes; // when it doubles, bins that take more are merged
	uint64_t *seen;	   // bit a link, while bins are added up
	size_t seen_room;
};

void tb_kept_bins_fini(struct tb_kept_bins *kept);

// tb_kept_bins_begin begins bin number `bin`, greater than those before it; any number of
// tb_kept_bins_add add its samples, the cells of links in order. A bin without any is
// left out.
// TB_ENOMEM.
int tb_kept_bins_begin(struct tb_kept_bins *kept, uint32_t bin) TB_MUST_USE;
int tb_kept_bins_add(
	struct tb_kept_bins *kept, const struct tb_cell *cells, uint32_t n) TB_MUST_USE;

// tb_kept_bins_append adds the samples of the only bin of `from` to the bin begun last;
// their links come after those that it has. TB_ENOMEM.
int tb_kept_bins_append(
	struct tb_kept_bins *kept, const struct tb_kept_bins *from) TB_MUST_USE;

// tb_kept_bins_read reads the bin that begins at byte `from` into `samples`, which has
// room for all links; returns the byte after it.
size_t tb_kept_bins_read(struct tb_kept_bins *kept, size_t from, uint32_t *bin,
	struct tb_link_sample *samples, uint32_t *n);

// tb_kept_bins_widen makes bins 2b and 2b + 1 one, b. `samples` has room for all links.
// The memory for bins can double from one merge to the next; large ones grow by half.
void tb_kept_bins_widen(struct tb_kept_bins *kept, struct tb_link_sample *samples);

// tb_kept_bins_join makes `joined` the bins of several, of one replay and level: those of
// one number follow each other, to be added up when they are read. Links are below
// `n_links`. All but the first are checked. TB_ENOMEM; TB_EFORMAT when their levels
// differ, or when what they hold are no bins.
int tb_kept_bins_join(struct tb_kept_bins *joined,
	const struct tb_kept_bins *const *several, uint32_t n,
	uint32_t n_links) TB_MUST_USE;

struct tb_spill { // a burst of flits that reaches beyond the open bin
	struct tb_cell *cell;
	tb_time_ps start, end;
	uint32_t bytes, n_packets;
};

struct tb_slice; // replay_records.c

struct tb_wait_log { // by end; full with `room`
	struct tb_blame_wait *waits;
	size_t n, room;
};

struct tb_losses { // replay_records.c
	struct tb_map port_of, flow_of, burst_of, retry_of;
	struct tb_port_loss_sample *ports;
	struct tb_flow_loss_sample *flows;
	size_t n_ports, n_flows, ports_room, flows_room;
	// Timers that ran out, and where and, as to_ps, when flows had lost frames: of
	// losses at a port within TB_LOSSES_BURST_PS of each other the last.
	struct tb_timeout_sample *timers, *bursts;
	size_t n_timers, n_bursts, timers_room, bursts_room;
};
#define TB_LOSSES_BURST_PS TB_PS_PER_MS

struct tb_records {
	const struct tb_observer *observer;
	uint32_t n_links;
	bool automatic;
	bool started; // the observer knows the width
	tb_time_ps bin_ps, bin_start, bin_end;
	uint64_t bin, bins_most;
	tb_time_ps from_ps,
		to_ps; // the only time for which bins and blame are kept; to_ps 0: all
	struct tb_cell **cells;	     // by link
	struct tb_cell **from_cells; // by link: for what begins to cross it
	uint64_t *touched;	     // bit a link: its cell holds something
	struct tb_spill *spills, *spills_before;
	size_t n_spills, spills_room, before_room;
	struct tb_kept_bins kept;
	size_t kept_reported; // bytes of `kept` that the observer has already received
	struct tb_link_sample *bin_samples; // scratch for one bin
	struct tb_map flow_of;
	struct tb_flow_sample *flows;
	uint32_t n_flows;
	size_t flows_room;
	struct tb_blame_table *blame; // NULL: not kept
	struct tb_map undelivered_of; // by flow and dead link
	struct tb_undelivered_sample *undelivered;
	uint32_t n_undelivered;
	size_t undelivered_room;
	struct tb_losses losses;
	struct tb_slowest_messages messages;
	bool keeps_messages;
	bool holds_stall; // stall_ps of cells is the stall; else stall and busy together
	uint64_t wait_ps; // all waits
	bool failed;	  // out of memory
	bool keeps_bins;  // until the end, even with a fixed width
	bool borrows_flows;	 // and counts in them while others do
	bool keeps_waits;	 // in the log, which grows: there is no blame
	struct tb_wait_log log;	 // of waits that are not in the blame table yet
	struct tb_team *team;	 // closes bins; NULL: the caller alone
	struct tb_slice *slices; // NULL: bins are closed as one
};

// tb_records_init borrows the network, and the cells of the links, by id, zeroed except
// for their id; the caller places them next to its own state. NULL: links are not
// counted.
int tb_records_init(struct tb_records *records, const struct tb_network *net,
	const struct tb_observer *observer, struct tb_cell **cells, tb_time_ps bin_ps,
	bool blame) TB_MUST_USE;
void tb_records_fini(struct tb_records *records);

// tb_records_limit_to keeps bins and blame only for [from_ps, to_ps), which are multiples
// of the width; the width is fixed. The time before and the time after are one bin each,
// which no observer gets. Call it before anything happens.
void tb_records_limit_to(
	struct tb_records *records, tb_time_ps from_ps, tb_time_ps to_ps);

// tb_records_near_cell is the cell in which is counted what begins to cross a link, and
// what stalls before it.
static inline struct tb_cell *tb_records_near_cell(
	const struct tb_records *records, uint32_t link)
{
	return records->from_cells[link];
}

// tb_records_make_slices has bins be closed in TB_RECORDS_SLICES slices of links, by the
// threads of `team`: more than threads, as their work differs; untouched links cost
// nothing. TB_ENOMEM. tb_records_first_word returns the first of the words of 64 links
// that a slice has.
enum { TB_RECORDS_SLICES = 32 };
int tb_records_make_slices(struct tb_records *records) TB_MUST_USE;
static inline uint32_t tb_records_first_word(
	const struct tb_records *records, uint32_t slice)
{
	uint64_t n_words = records->n_links / 64 + 1u;
	return (uint32_t)(n_words * slice / TB_RECORDS_SLICES);
}

// tb_records_pour adds to the opened bin what bursts left for it; tb_records_close does.
void tb_records_pour(struct tb_records *records);

// tb_records_add_losses adds the losses of other records, at ports of their own.
// tb_records_forget_spills frees what is left for later bins. tb_records_check_memory
// fails if memory ran out.
int tb_records_add_losses(
	struct tb_records *records, const struct tb_records *others) TB_MUST_USE;
void tb_records_forget_spills(struct tb_records *records);
int tb_records_check_memory(
	const struct tb_records *records, struct tb_error *error) TB_MUST_USE;

// tb_records_flow returns the number of the flow (job, source, destination), and adds it
// when it is new.
uint32_t tb_records_flow(
	struct tb_records *records, uint32_t job, uint32_t source, uint32_t destination);

static inline void tb_records_touch(struct tb_records *records, struct tb_cell *cell)
{
	if (cell->touched)
		return;
	cell->touched = true;
	records->touched[cell->link / 64] |= UINT64_C(1) << cell->link % 64;
}

// tb_records_spill counts a burst that ends behind the open bin.
void tb_records_spill(struct tb_records *records, struct tb_spill burst);

// tb_records_burst counts a burst of flits that crosses a link in [start, end), start not
// before the open bin.
static inline void tb_records_burst(struct tb_records *records, struct tb_cell *cell,
	tb_time_ps start, tb_time_ps end, uint32_t bytes, bool header)
{
	if (end > records->bin_end) {
		tb_records_spill(
			records, (struct tb_spill){cell, start, end, bytes, header});
		return;
	}
	cell->busy_ps += (uint64_t)(end - start);
	cell->bytes += bytes;
	cell->n_packets += header;
	tb_records_touch(records, cell);
}

// tb_records_held counts time during which a VC of the link was held, or, with
// holds_stall, during which the link was stalled, within the open bin.
static inline void tb_records_held(
	struct tb_records *records, struct tb_cell *cell, tb_time_ps span)
{
	cell->stall_ps += (uint64_t)span;
	tb_records_touch(records, cell);
}

// tb_records_blocked counts a header that must wait, at the link whose wait leads.
static inline void tb_records_blocked(struct tb_records *records, struct tb_cell *cell)
{
	cell->n_blocked++;
	tb_records_touch(records, cell);
}

// tb_records_queue counts how many bytes, of packets, wait in a queue of the link.
static inline void tb_records_queue(
	struct tb_records *records, struct tb_cell *cell, uint64_t bytes)
{
	if (bytes <= cell->largest_queue_bytes)
		return;
	cell->largest_queue_bytes = bytes < UINT32_MAX ? (uint32_t)bytes : UINT32_MAX;
	tb_records_touch(records, cell);
}

// tb_records_wait_by counts the `part` of a wait that lies in the open bin at the link by
// which the packet came, tb_records_wait_for at the one that it waits for. Every wait is
// counted once at each. The caller counts the wait of the flow.
static inline void tb_records_wait_by(
	struct tb_records *records, struct tb_cell *cell, tb_time_ps part)
{
	cell->came_by_ps += (uint64_t)part;
	records->wait_ps += (uint64_t)part;
	tb_records_touch(records, cell);
}

static inline void tb_records_wait_for(
	struct tb_records *records, struct tb_cell *cell, tb_time_ps part)
{
	cell->wait_for_ps += (uint64_t)part;
	tb_records_touch(records, cell);
}

// tb_records_longest notes that a wait has lasted for `whole` until now, at the link
// whose wait leads; a part of it is counted there too.
static inline void tb_records_longest(struct tb_cell *cell, tb_time_ps whole)
{
	if ((uint64_t)whole > cell->longest_wait_ps)
		cell->longest_wait_ps = (uint64_t)whole;
}

// tb_records_flow_wait counts a wait of a flow.
static inline void tb_records_flow_wait(
	struct tb_records *records, uint32_t flow, tb_time_ps wait)
{
	uint64_t *sum = &records->flows[flow].wait_ps;
	if (records->borrows_flows)
		(void)__atomic_fetch_add(sum, (uint64_t)wait, __ATOMIC_RELAXED);
	else
		*sum += (uint64_t)wait;
}

// tb_message_bound keeps the ideal time a lower bound: over links faster than those of
// the closed form, or over several routes, a message can be faster, and its own time is
// then the bound.
static inline void tb_message_bound(struct tb_message_sample *message)
{
	if (message->ideal_ps > message->network_ps)
		message->ideal_ps = message->network_ps;
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

// tb_records_message keeps a delivered message if the observer asks for them.
static inline void tb_records_message(
	struct tb_records *records, const struct tb_message_sample *message)
{
	if (records->keeps_messages &&
		tb_slowest_messages_add(&records->messages, message) != TB_OK)
		records->failed = true;
}

// tb_records_blame_all adds waits, in the order of their ends, but for those that end no
// batch of the blame table. tb_records_blame adds one of `victim` for `culprit`, of
// length `wait`, which ended at `end`. tb_records_room_for_waits makes room for so many
// in the log, and enters those in it if there is a blame table; it returns whether there
// is room: not without blame.
bool tb_records_room_for_waits(struct tb_records *records, size_t n);
void tb_records_blame_all(
	struct tb_records *records, const struct tb_blame_wait *waits, size_t n);
static inline void tb_records_blame(struct tb_records *records, uint32_t link,
	uint32_t root, uint32_t victim, uint32_t culprit, tb_time_ps wait, tb_time_ps end)
{
	struct tb_wait_log *log = &records->log;
	if (records->to_ps && (end <= records->from_ps || end - wait >= records->to_ps))
		return;
	if (log->n == log->room && !tb_records_room_for_waits(records, 1))
		return;
	log->waits[log->n++] =
		(struct tb_blame_wait){{link, root, victim, culprit}, end - wait, end};
}

// tb_records_undelivered counts a message of a flow that is given up; `dead` is the link
// that it met, TB_ID_NONE when there was no route.
void tb_records_undelivered(struct tb_records *records, uint32_t flow, uint32_t dead,
	uint64_t bytes, tb_time_ps now);

// tb_records_lost counts a frame of a flow that was dropped because the queue before a
// link was full, tb_records_resent a segment that is sent again. tb_records_timed_out
// keeps that a flow's retransmission timer ran out; it counts as a time-out if the flow
// lost a frame meanwhile, or before by no more than it waited. tb_records_retried keeps
// that a packet of a flow, which had failed at a dead link, waited for its retry timer.
// tb_records_report_losses passes all to the observer and returns its status.
void tb_records_lost(struct tb_records *records, uint32_t flow, uint32_t link,
	uint32_t bytes, tb_time_ps now);
void tb_records_resent(struct tb_records *records, uint32_t flow);
void tb_records_timed_out(
	struct tb_records *records, uint32_t flow, tb_time_ps from_ps, tb_time_ps now);
void tb_records_retried(struct tb_records *records, uint32_t flow, uint32_t dead,
	tb_time_ps from_ps, tb_time_ps now);
int tb_records_report_losses(struct tb_records *records) TB_MUST_USE;
void tb_losses_fini(struct tb_losses *losses);

// tb_records_close closes the open bin, after the engine has settled what lasts beyond
// it, and opens the next.
int tb_records_close(struct tb_records *records, struct tb_error *error) TB_MUST_USE;

// tb_records_lasts: the replay will last until that instant at least. Bins whose width is
// found are made as wide as that needs, so that fewer have to be closed. What is in the
// open bin stays there, so nothing happens while that is an odd one.
void tb_records_lasts(struct tb_records *records, tb_time_ps until);

// tb_records_idle returns whether the open bin is empty, so that time may jump.
bool tb_records_idle(const struct tb_records *records);

// tb_records_jump makes the bin that holds `now` the open one; the records must be idle.
void tb_records_jump(struct tb_records *records, tb_time_ps now);

// tb_records_report_bins passes all kept bins to the observer (automatic width only).
int tb_records_report_bins(
	struct tb_records *records, struct tb_error *error) TB_MUST_USE;

// tb_records_finish passes kept bins, flows, blame, undelivered messages and losses to
// the observer.
int tb_records_finish(struct tb_records *records, struct tb_error *error) TB_MUST_USE;

// Flows in the order of job, source and destination. Private to replay/.

// tb_flow_key identifies a flow within a replay.
static inline uint64_t tb_flow_key(uint32_t job, uint32_t source, uint32_t destination)
{
	return (uint64_t)job << 48 | (uint64_t)source << 24 | destination;
}

// tb_flows_in_order copies `n` flows to `sorted`, by their keys. TB_ENOMEM. Cost: some 20
// instructions a flow and byte in which keys differ, and the copy.
int tb_flows_in_order(const struct tb_flow_sample *flows, size_t n,
	struct tb_flow_sample *sorted) TB_MUST_USE;

#endif

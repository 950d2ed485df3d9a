// The agenda: which switches have something to do in which cell of time, and what.
// Private to this room.
//
// What a switch does takes at least a cable's latency to reach another switch or a node:
// a packet that begins to leave it, and credits that it returns. So within a window that
// is no longer than that, each switch is served alone (serve.c): it takes what has come
// to it, chooses by the rules, and hands on what later windows need. First come the
// nodes: the events of the replay's wheel and then, unless pauses, faults or congestion
// control act on nodes, those that the agenda lists for the cell (adapters.c). Then, one
// after the other, come the switches that have something to do before the window ends. A
// link fails at the beginning of a window.
//
// Time is cut into cells no longer than that, and a window lies within one. Each switch
// has a list for each of the next cells of what it is to do: packets that come to it, to
// which others add as these begin to cross its cables, and the times at which its own
// links look, because they have carried a packet or may have credits. What is due later
// than in those cells waits for an event of the wheel. A list is sorted by time when the
// switch is served; the order within an instant is that of the rules, whatever the order
// of the list.
#ifndef TB_AGENDA_H
#define TB_AGENDA_H

#include "credits.h"

#define RARELY(condition) __builtin_expect(condition, 0)

enum {
	AGENDA_CELLS = 8,
	AGENDA_AHEAD = 4 // switches, of which the last steps of prefetching follow each
			 // other
};

enum to_do_kind {
	TO_COME,  // a packet comes by the port
	TO_LOOK,  // the link of the port looks, if look_at is still that time
	TO_READY, // a packet that has come, the first of its queue, is ready
	TO_LEAVE  // a packet was discarded (tb_failures_left)
};

struct to_do {
	tb_time_ps at;
	uint32_t packet; // or number
	uint16_t port;
	uint8_t kind; // enum to_do_kind
	uint8_t to; // TO_COME, unless setup.late_routes or there are more than 64 ports:
		    // that by which the packet is to leave
};

struct agenda_cell {
	uint32_t *switches; // whose lists for this cell are not empty
	uint32_t *nodes;    // that do something in it (adapters.c)
	uint32_t n, n_nodes;
};

// What is due at a switch in a window: a list, of which what is due stands first, sorted.
// One beyond the list is beyond all times.
struct due {
	struct crossbar *crossbar; // NULL: none is to be served
	struct to_do_list *list;
	uint32_t first, n; // [first, n) is due and not done
};

struct discard { // of a packet that waited, with pauses
	struct update update;
	uint32_t slot, vl, bytes;
};

struct agenda {
	unsigned shift;	 // a cell is 2^shift ps
	uint64_t first;	 // cell, of the window: none before it has a switch
	uint32_t filled; // bit a cell, modulo AGENDA_CELLS: it has switches
	struct agenda_cell cells[AGENDA_CELLS];
	tb_time_ps until; // end of the window
	struct due dues[AGENDA_AHEAD];
	struct due *due;	     // of the switch that is served; NULL: none is
	uint64_t *choosing_next;     // set: links that are to choose in the next round
	uint64_t *ports;	     // set, scratch of tb_serve_heads
	uint64_t *held;		     // set, scratch of tb_credits_settle
	uint32_t *next_heads;	     // packets, heads in the next round
	struct credit_packet **come; // in this instant
	uint32_t n_next_heads;
	uint64_t *queued; // bit a slot: its receiver has queues that hold packets, or had
	struct tb_blame_wait *waits; // of this window
	size_t n_waits, waits_room;
	struct tb_blame_wait *sorted;
	size_t sorted_room;
	struct discard *discards; // of the links that fail now
	size_t n_discards, discards_room;
};

// tb_agenda_make makes the agenda of a part; TB_ENOMEM.
int tb_agenda_make(struct credits *credits) TB_MUST_USE;
void tb_agenda_free(struct credits *credits);

// tb_agenda_next returns when a switch has something to do next, or somewhat before;
// TB_TIME_NEVER: not in the next cells.
tb_time_ps tb_agenda_next(const struct credits *credits);
// tb_agenda_begin begins a window at `from`, up to which all switches have been served,
// and returns when it ends at the latest.
tb_time_ps tb_agenda_begin(struct credits *credits, tb_time_ps from);
// tb_agenda_serve serves the switches up to `until`, the end of the window, when the
// nodes have done what happens in it.
void tb_agenda_serve(struct credits *credits, tb_time_ps until);
// tb_agenda_soon is EV_SERVE.
void tb_agenda_soon(struct credits *credits, uint32_t sw);

// tb_agenda_add_slowly is the rarer part of agenda_add: a list that is full, a cell
// beyond the agenda.
void tb_agenda_add_slowly(struct credits *credits, uint32_t sw, struct to_do to_do);
// tb_agenda_add_due adds to what is due at the switch that is served before the window
// ends.
void tb_agenda_add_due(struct credits *credits, struct to_do to_do);
// tb_agenda_forget: a packet at a switch will not be ready at `at`.
void tb_agenda_forget(
	struct credits *credits, uint32_t sw, uint32_t packet, tb_time_ps at);

// list_of is a switch's list for a cell.
static inline struct to_do_list *list_of(
	const struct credits *credits, uint32_t sw, uint64_t cell)
{
	return &credits->lists[(size_t)sw * AGENDA_CELLS + cell % AGENDA_CELLS];
}

// agenda_add adds to what a switch is to do in a later window, or in this one before the
// switches are served.
static inline void agenda_add(struct credits *credits, uint32_t sw, struct to_do to_do)
{
	struct agenda *agenda = credits->agenda;
	uint64_t number = (uint64_t)to_do.at >> agenda->shift;
	struct to_do_list *list = list_of(credits, sw, number);
	uint32_t n = list->n;
	if (RARELY(number - agenda->first >= AGENDA_CELLS || n + 1 >= list->room)) {
		tb_agenda_add_slowly(credits, sw, to_do);
		return;
	}
	list->all[n] = to_do;
	list->n = n + 1;
	// Whether it is the first cannot be foreseen: no branch.
	struct agenda_cell *cell = &agenda->cells[number % AGENDA_CELLS];
	cell->switches[cell->n] = sw;
	cell->n += n == 0;
	agenda->filled |= 1u << number % AGENDA_CELLS;
}

// agenda_add_now does so for the switch that is served: perhaps in this window.
static inline void agenda_add_now(
	struct credits *credits, struct crossbar *crossbar, struct to_do to_do)
{
	if (to_do.at < credits->agenda->until)
		tb_agenda_add_due(credits, to_do);
	else
		agenda_add(credits, (uint32_t)(crossbar - credits->crossbars), to_do);
}

// agenda_visit has a node be served in the window of an instant. The bits `used` of its
// receiver are the cells in which it is listed.
static inline void agenda_visit(struct credits *credits, uint32_t node, tb_time_ps at)
{
	struct agenda *agenda = credits->agenda;
	uint64_t number = (uint64_t)at >> agenda->shift;
	uint64_t bit = UINT64_C(1) << number % AGENDA_CELLS;
	struct receiver *receiver = receiver_at(credits, credits->first_node + node);
	if (RARELY(number - agenda->first >= AGENDA_CELLS)) {
		tb_wheel_put(&credits->replay.wheel, at, EV_VISIT, node);
		return;
	}
	if (receiver->used & bit)
		return;
	receiver->used |= bit;
	struct agenda_cell *cell = &agenda->cells[number % AGENDA_CELLS];
	cell->nodes[cell->n_nodes++] = node;
	agenda->filled |= (uint32_t)bit;
}

#endif

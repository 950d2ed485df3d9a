#include "agenda.h"

#include "array.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

int tb_agenda_make(struct credits *credits)
{
	struct agenda *agenda = calloc(1, sizeof *agenda);
	if (!agenda)
		return TB_ENOMEM;
	credits->agenda = agenda;
	uint32_t ports = credits->words * 64;
	agenda->queued = calloc(credits->first_node / 64 + 1u, sizeof(uint64_t));
	agenda->choosing_next = calloc(3u * credits->words, sizeof(uint64_t));
	agenda->next_heads = malloc(ports * sizeof *agenda->next_heads);
	agenda->come = malloc(ports * sizeof *agenda->come);
	if (!agenda->queued || !agenda->choosing_next || !agenda->next_heads ||
		!agenda->come)
		return TB_ENOMEM;
	agenda->ports = agenda->choosing_next + credits->words;
	agenda->held = agenda->ports + credits->words;
	credits->window_ps = TB_TIME_NEVER;
	for (uint32_t k = 0; k < credits->n_kinds; k++)
		credits->window_ps =
			tb_time_earlier(credits->window_ps, credits->kinds[k].latency_ps);
	assert(credits->window_ps > 0); // as all readers of networks see to
	agenda->shift = 63u - (unsigned)__builtin_clzll((uint64_t)credits->window_ps);
	return TB_OK;
}

void tb_agenda_free(struct credits *credits)
{
	struct agenda *agenda = credits->agenda;
	if (!agenda)
		return;
	for (uint32_t i = 0; i < AGENDA_CELLS; i++)
		free(agenda->cells[i].switches);
	for (uint32_t i = 0; i < AGENDA_AHEAD; i++)
		free(agenda->dues[i].all);
	free(agenda->queued);
	free(agenda->choosing_next);
	free(agenda->next_heads);
	free(agenda->come);
	free(agenda->waits);
	free(agenda->sorted);
	free(agenda->discards);
	free(agenda);
}

void tb_agenda_enter_cell(struct credits *credits, uint32_t sw, uint64_t number)
{
	struct agenda *agenda = credits->agenda;
	struct agenda_cell *cell = &agenda->cells[number % AGENDA_CELLS];
	if (number - agenda->first >= AGENDA_CELLS) {
		tb_wheel_put(&credits->replay.wheel, credits->crossbars[sw].next_at,
			EV_SERVE, sw);
		return;
	}
	if (tb_array_grow(&cell->switches, &cell->room, (size_t)cell->n + 1,
		    sizeof *cell->switches) != TB_OK) {
		tb_replay_no_memory(&credits->replay, "the switches to be served");
		return;
	}
	cell->switches[cell->n++] = sw;
	agenda->filled |= UINT64_C(1) << number % AGENDA_CELLS;
}

void tb_agenda_serve_before(
	struct credits *credits, struct crossbar *crossbar, tb_time_ps at)
{
	crossbar->next_at = at;
	uint64_t cell = (uint64_t)at >> credits->agenda->shift;
	if (cell >= crossbar->cell)
		return;
	crossbar->cell = cell;
	agenda_enter(credits, crossbar);
}

void tb_agenda_soon(struct credits *credits, uint32_t sw)
{
	struct crossbar *crossbar = &credits->crossbars[sw];
	if (crossbar->next_at <= credits->replay.now)
		agenda_enter(credits, crossbar);
}

tb_time_ps tb_agenda_next(const struct credits *credits)
{
	const struct agenda *agenda = credits->agenda;
	if (!agenda->filled)
		return TB_TIME_NEVER;
	unsigned from = agenda->first % AGENDA_CELLS;
	uint64_t filled = agenda->filled >> from;
	if (from)
		filled |= agenda->filled << (AGENDA_CELLS - from);
	tb_time_ps at = (tb_time_ps)((agenda->first + (unsigned)__builtin_ctzll(filled))
				     << agenda->shift);
	return tb_time_later(at, credits->served_until);
}

void tb_agenda_begin_window(struct credits *credits, tb_time_ps until)
{
	// Nothing is to be done earlier than a window before its end.
	struct agenda *agenda = credits->agenda;
	tb_time_ps from = until - credits->window_ps;
	uint64_t first = from > 0 ? (uint64_t)from >> agenda->shift : 0;
	for (; agenda->first < first && agenda->filled; agenda->first++) {
		agenda->cells[agenda->first % AGENDA_CELLS].n = 0;
		agenda->filled &= ~(UINT64_C(1) << agenda->first % AGENDA_CELLS);
	}
	if (agenda->first < first)
		agenda->first = first;
}

bool tb_agenda_grow(struct credits *credits, struct crossbar *crossbar)
{
	size_t room = crossbar->to_do_room;
	if (tb_array_grow(&crossbar->to_do, &room, room + 1, sizeof *crossbar->to_do) !=
		TB_OK) {
		tb_replay_no_memory(&credits->replay, "what switches are to do");
		return false;
	}
	crossbar->to_do_room = (uint32_t)room;
	return true;
}

bool tb_agenda_due_has_room(struct credits *credits, struct due *due, size_t n)
{
	if (n <= due->room ||
		tb_array_grow(&due->all, &due->room, n, sizeof *due->all) == TB_OK)
		return true;
	tb_replay_no_memory(&credits->replay, "what switches are to do");
	return false;
}

void tb_agenda_add_due(struct credits *credits, struct to_do to_do)
{
	struct due *due = credits->agenda->due;
	if (!tb_agenda_due_has_room(credits, due, (size_t)due->n + 2))
		return;
	uint32_t i = due->n++;
	due->all[due->n].at = TB_TIME_NEVER;
	for (; i > due->first && due->all[i - 1].at > to_do.at; i--)
		due->all[i] = due->all[i - 1];
	due->all[i] = to_do;
}

// find_due finds what is due at a switch of a cell before the window ends, if it is to be
// served. Until it is, what others hand on to it is for later windows.
static inline void find_due(struct credits *credits, struct due *due,
	struct crossbar *crossbar, uint64_t number)
{
	tb_time_ps until = credits->agenda->until;
	if (crossbar->cell != number || crossbar->next_at >= until)
		return;
	uint32_t n = crossbar->n_to_do, n_due = 0, n_left = 0;
	if (!tb_agenda_due_has_room(credits, due, (size_t)n + 1))
		return;
	struct to_do *all = due->all, *to_do = crossbar->to_do;
	tb_time_ps next = TB_TIME_NEVER;
	for (uint32_t i = 0; i < n; i++) {
		const struct to_do one = to_do[i];
		if (one.at < until) {
			uint32_t k = n_due++;
			for (; k > 0 && all[k - 1].at > one.at; k--)
				all[k] = all[k - 1];
			all[k] = one;
		} else {
			next = one.at < next ? one.at : next;
			to_do[n_left++] = one;
		}
	}
	all[n_due].at = TB_TIME_NEVER;
	due->crossbar = crossbar;
	due->first = 0;
	due->n = n_due;
	crossbar->n_to_do = n_left;
	crossbar->next_at = next;
	crossbar->cell = 0; // who hands on need not enter it into one
}

// serve_cell serves the switches of a cell up to the end of a window, and keeps those
// that have nothing to do before. A switch that is to be served before the cell, or
// stands in it twice, is passed over. Where switches do not stay in the cache, what each
// needs is fetched, in steps, while others are served.
static tb_time_ps serve_cell(struct credits *credits, uint64_t number, tb_time_ps last)
{
	const bool prefetches = credits->replay.prefetches;
	struct agenda *agenda = credits->agenda;
	struct agenda_cell *cell = &agenda->cells[number % AGENDA_CELLS];
	uint32_t n = cell->n, n_kept = 0;
	for (uint32_t i = 0; i < n + (prefetches ? AGENDA_AHEAD - 1 : 0); i++) {
		struct due *due = &agenda->dues[prefetches ? i % AGENDA_AHEAD : 0];
		if (prefetches)
			tb_credits_fetch_switches(credits, cell->switches, i, n);
		if (!prefetches || i < n) {
			uint32_t sw = cell->switches[i];
			find_due(credits, due, &credits->crossbars[sw], number);
			if (credits->crossbars[sw].cell == number)
				cell->switches[n_kept++] = sw;
		}
		if (prefetches) {
			tb_credits_fetch_first(credits, due);
			tb_credits_fetch_second(
				credits, &agenda->dues[(i - 1) % AGENDA_AHEAD]);
			tb_credits_fetch_third(
				credits, &agenda->dues[(i - 2) % AGENDA_AHEAD]);
			due = &agenda->dues[(i + 1) % AGENDA_AHEAD];
		}
		if (due->crossbar) {
			tb_serve_switch(credits, due);
			last = tb_time_later(last, credits->replay.now);
		}
	}
	memmove(cell->switches + n_kept, cell->switches + n,
		(cell->n - n) * sizeof *cell->switches);
	cell->n = n_kept + (cell->n - n);
	if (cell->n == 0)
		agenda->filled &= ~(UINT64_C(1) << number % AGENDA_CELLS);
	return last;
}

void tb_agenda_serve(struct credits *credits, tb_time_ps until)
{
	struct agenda *agenda = credits->agenda;
	uint64_t end = (uint64_t)(until - 1) >> agenda->shift;
	tb_time_ps last = credits->replay.now;
	agenda->until = until;
	for (uint64_t number = agenda->first; number <= end; number++)
		if (agenda->filled >> number % AGENDA_CELLS & 1)
			last = serve_cell(credits, number, last);
	credits->replay.now = last;
	agenda->first = (uint64_t)until >> agenda->shift;
	credits->served_until = until;
	tb_credits_enter_waits(credits);
	agenda->n_discards = 0;
}

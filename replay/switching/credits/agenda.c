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
	uint32_t n_switches = credits->replay.net->n_switches;
	for (uint32_t i = 0; i < AGENDA_CELLS; i++) {
		agenda->cells[i].switches = malloc((n_switches + 1u) * sizeof(uint32_t));
		agenda->cells[i].nodes =
			malloc(credits->replay.net->n_nodes * sizeof(uint32_t));
		if (!agenda->cells[i].switches || !agenda->cells[i].nodes)
			return TB_ENOMEM;
	}
	agenda->choosing_next = calloc(3u * credits->words, sizeof(uint64_t));
	agenda->next_heads = malloc(ports * sizeof *agenda->next_heads);
	agenda->come = malloc(ports * sizeof *agenda->come);
	if (!agenda->queued || !agenda->choosing_next || !agenda->next_heads ||
		!agenda->come)
		return TB_ENOMEM;
	agenda->ports = agenda->choosing_next + credits->words;
	agenda->held = agenda->ports + credits->words;
	tb_time_ps least_ps = TB_TIME_NEVER;
	for (uint32_t k = 0; k < credits->n_kinds; k++)
		least_ps = tb_time_earlier(least_ps, credits->kinds[k].latency_ps);
	assert(least_ps > 0); // as all readers of networks see to
	agenda->shift = 63u - (unsigned)__builtin_clzll((uint64_t)least_ps);
	return TB_OK;
}

void tb_agenda_free(struct credits *credits)
{
	struct agenda *agenda = credits->agenda;
	if (!agenda)
		return;
	for (uint32_t i = 0; i < AGENDA_CELLS; i++) {
		free(agenda->cells[i].switches);
		free(agenda->cells[i].nodes);
	}
	free(agenda->queued);
	free(agenda->choosing_next);
	free(agenda->next_heads);
	free(agenda->come);
	free(agenda->waits);
	free(agenda->sorted);
	free(agenda->discards);
	free(agenda);
}

// to_do_has_room makes room for another in a list, and one beyond.
static bool to_do_has_room(struct credits *credits, struct to_do_list *list)
{
	size_t room = list->room;
	if (TB_ARRAY_RESERVE(&list->all, &room, (size_t)list->n + 2) != TB_OK) {
		tb_replay_no_memory(&credits->replay, "what switches are to do");
		return false;
	}
	list->room = (uint32_t)room;
	return true;
}

void tb_agenda_add_slowly(struct credits *credits, uint32_t sw, struct to_do to_do)
{
	const struct agenda *agenda = credits->agenda;
	uint64_t number = (uint64_t)to_do.at >> agenda->shift;
	struct to_do_list *far = &credits->crossbars[sw].far;
	if (number - agenda->first < AGENDA_CELLS) {
		if (to_do_has_room(credits, list_of(credits, sw, number)))
			agenda_add(credits, sw, to_do);
	} else if (to_do_has_room(credits, far)) {
		far->all[far->n++] = to_do;
		tb_wheel_put(&credits->replay.wheel, to_do.at, EV_SERVE, sw);
	}
}

void tb_agenda_soon(struct credits *credits, uint32_t sw)
{
	struct to_do_list *far = &credits->crossbars[sw].far;
	const struct agenda *agenda = credits->agenda;
	for (uint32_t i = far->n; i-- > 0;) {
		const struct to_do one = far->all[i];
		if (((uint64_t)one.at >> agenda->shift) - agenda->first >= AGENDA_CELLS)
			continue;
		far->all[i] = far->all[--far->n];
		agenda_add(credits, sw, one);
	}
}

void tb_agenda_forget(
	struct credits *credits, uint32_t sw, uint32_t packet, tb_time_ps at)
{
	struct to_do_list *lists[] = {
		list_of(credits, sw, (uint64_t)at >> credits->agenda->shift),
		&credits->crossbars[sw].far};
	for (size_t l = 0; l < 2; l++)
		for (uint32_t i = 0; i < lists[l]->n; i++) {
			struct to_do *one = &lists[l]->all[i];
			// A link that looks in vain does nothing.
			if (one->kind == TO_READY && one->packet == packet)
				*one = (struct to_do){.at = at, .kind = TO_LOOK};
		}
}

tb_time_ps tb_agenda_next(const struct credits *credits)
{
	const struct agenda *agenda = credits->agenda;
	if (!agenda->filled)
		return TB_TIME_NEVER;
	uint32_t from = agenda->first % AGENDA_CELLS;
	uint32_t filled = agenda->filled >> from | agenda->filled
							   << (AGENDA_CELLS - from);
	tb_time_ps at = (tb_time_ps)((agenda->first + (unsigned)__builtin_ctz(filled))
				     << agenda->shift);
	return tb_time_later(at, credits->served_until);
}

tb_time_ps tb_agenda_begin(struct credits *credits, tb_time_ps from)
{
	struct agenda *agenda = credits->agenda;
	agenda->first = (uint64_t)from >> agenda->shift;
	return (tb_time_ps)((agenda->first + 1) << agenda->shift);
}

void tb_agenda_add_due(struct credits *credits, struct to_do to_do)
{
	struct due *due = credits->agenda->due;
	struct to_do_list *list = due->list;
	if (!to_do_has_room(credits, list))
		return;
	list->all[++list->n].at = TB_TIME_NEVER;
	// What is not due makes room.
	uint32_t i = due->n++;
	list->all[list->n - 1] = list->all[i];
	for (; i > due->first && list->all[i - 1].at > to_do.at; i--)
		list->all[i] = list->all[i - 1];
	list->all[i] = to_do;
}

// find_due finds what is due at a switch of a cell before the window ends, which may be
// before the cell does. Until it is served, what others hand on to it is for later cells.
static inline void find_due(
	struct credits *credits, struct due *due, uint32_t sw, uint64_t number, bool ends)
{
	struct to_do_list *list = list_of(credits, sw, number);
	struct to_do *all = list->all;
	uint32_t n = list->n, n_due = ends ? n : 0;
	tb_time_ps until = credits->agenda->until;
	for (uint32_t i = 1; ends && i < n; i++) {
		if (all[i - 1].at <= all[i].at)
			continue;
		const struct to_do one = all[i];
		uint32_t k = i;
		for (; k > 0 && all[k - 1].at > one.at; k--)
			all[k] = all[k - 1];
		all[k] = one;
	}
	for (uint32_t i = 0; !ends && i < n; i++) {
		const struct to_do one = all[i];
		if (one.at >= until)
			continue;
		uint32_t k = n_due++;
		all[i] = all[k]; // what is not due makes room
		for (; k > 0 && all[k - 1].at > one.at; k--)
			all[k] = all[k - 1];
		all[k] = one;
	}
	all[n].at = TB_TIME_NEVER;
	*due = (struct due){n_due ? &credits->crossbars[sw] : NULL, list, 0, n_due};
}

// serve_cell serves the switches of a cell up to the end of a window; `ends`: with which
// it ends. Where switches do not stay in the cache, what each needs is fetched, in steps,
// while others are served.
static tb_time_ps serve_cell(
	struct credits *credits, uint64_t number, bool ends, tb_time_ps last)
{
	const bool prefetches = credits->replay.prefetches;
	struct agenda *agenda = credits->agenda;
	struct agenda_cell *cell = &agenda->cells[number % AGENDA_CELLS];
	uint32_t n = cell->n, n_kept = 0;
	for (uint32_t i = 0; i < n + (prefetches ? AGENDA_AHEAD - 1 : 0); i++) {
		struct due *due = &agenda->dues[prefetches ? i % AGENDA_AHEAD : 0];
		if (prefetches)
			tb_credits_fetch_switches(credits, cell->switches, i, n);
		if (i < n)
			find_due(credits, due, cell->switches[i], number, ends);
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
			due->crossbar = NULL;
		}
	}
	for (uint32_t i = 0; !ends && i < n; i++) // what is not due stays
		if (list_of(credits, cell->switches[i], number)->n)
			cell->switches[n_kept++] = cell->switches[i];
	cell->n = n_kept;
	if (n_kept == 0 && cell->n_nodes == 0)
		agenda->filled &= ~(1u << number % AGENDA_CELLS);
	return last;
}

void tb_agenda_serve(struct credits *credits, tb_time_ps until)
{
	struct agenda *agenda = credits->agenda;
	uint64_t number = agenda->first;
	bool ends = (uint64_t)until >> agenda->shift > number;
	agenda->until = until;
	if (agenda->filled >> number % AGENDA_CELLS & 1)
		credits->replay.now =
			serve_cell(credits, number, ends, credits->replay.now);
	agenda->first = (uint64_t)until >> agenda->shift;
	credits->served_until = until;
	tb_credits_enter_waits(credits);
	agenda->n_discards = 0;
}

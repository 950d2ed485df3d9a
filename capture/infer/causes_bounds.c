// The bounds of what is likely: rule L16 of docs/closed-loop.md.
#include "causes_impl.h"

#define NONE	    UINT32_MAX
#define FRAME_BYTES 1514u // of Ethernet

// instant_of returns when a message was called for in a bound. One that runs on behind
// another may have waited for the window of its connection since that began.
static int64_t instant_of(const struct cause_search *search, uint32_t message)
{
	const struct tb_inferred_message *row = &search->list->rows[message];
	int64_t early_ns =
		row->began_ns < row->called_ns ? row->began_ns : row->called_ns;
	return search->bound == TB_BOUND_LEAST ? early_ns : row->left_ns;
}

static int64_t bounded_at(const struct cause_search *search, const struct tb_cause *cause)
{
	const struct tb_inferred_message *row = &search->list->rows[cause->message];
	if (cause->is_done)
		return row->acked_ns;
	return cause->is_call ? instant_of(search, cause->message) : row->delivered_ns;
}

// date_causes gives the events their instants in the bound, and drops those after the
// call. Returns the last instant.
static int64_t date_causes(struct cause_search *search, int64_t until_ns)
{
	uint32_t n = 0;
	for (uint32_t i = 0; i < search->n_events; i++) {
		struct cause_event event = search->events[i];
		const struct tb_cause *cause = &event.cause;
		event.at_ns = bounded_at(search, cause);
		if (event.at_ns > until_ns)
			continue;
		if (!cause->is_call)
			event.at_ns =
				tb_message_arrived(&search->list->rows[cause->message]);
		search->events[n++] = event;
	}
	search->n_events = n;
	return tb_causes_last_event(search);
}

// Of these a message's last deliveries may be the one that came last.
#define LATE_MOST 16

// delivered_latest returns until when a delivery may have taken: behind the capture point
// there may be a queue that shows in nothing but the acknowledgement. Of one or two
// segments that says little, as it may be delayed. A path that is not known may be as
// long as the shortest answer.
static int64_t delivered_latest(const struct cause_search *search, uint32_t message)
{
	const struct tb_inferred_message *row = &search->list->rows[message];
	bool is_prompt = row->bytes > 2 * FRAME_BYTES && row->acked_ns != INT64_MAX;
	int64_t at_ns = tb_message_arrived(row) + row->path_most_ns - row->path_ns;
	return is_prompt && row->acked_ns > at_ns ? row->acked_ns : at_ns;
}

// least_gap returns the computation before a message that is certain: it followed all
// that had come, and what the node sent before: a program may wait for that to leave.
static int64_t least_gap(const struct cause_search *search, uint32_t message)
{
	int64_t at_ns = instant_of(search, message);
	int64_t last_ns = tb_causes_last_event(search);
	uint32_t event = search->nearest[message];
	for (uint32_t i = 0; i < LATE_MOST && event != NONE; i++) {
		int64_t late_ns = delivered_latest(search, event);
		if (search->list->rows[event].delivered_ns <= at_ns && late_ns > last_ns)
			last_ns = late_ns;
		event = search->earlier[event];
	}
	if (search->busy_ns[message] > last_ns)
		last_ns = search->busy_ns[message];
	return tb_causes_gap(&search->list->rows[message], last_ns, at_ns);
}

int tb_causes_settle_bound(struct cause_search *search, uint32_t message)
{
	const struct tb_inferred_message *row = &search->list->rows[message];
	int64_t at_ns = instant_of(search, message);
	search->causes = &search->made[1 + search->bound];
	search->n_events = 0;
	tb_causes_add_preceding(search, message);
	if (search->bound == TB_BOUND_CAUSES) {
		// Add the call before a message, and all that came since then.
		uint32_t previous = search->previous[message];
		uint32_t end = previous == NONE ? NONE : search->latest[previous];
		tb_causes_add_event(search, previous, true);
		for (uint32_t event = search->latest[message];
			event != NONE && event != end; event = search->earlier[event])
			tb_causes_add_event(search, event, false);
		// Add that the last of what its node sent before a message had arrived.
		int64_t until_ns = search->list->rows[message].left_ns;
		uint32_t before = search->previous[message];
		while (before != NONE && search->list->rows[before].acked_ns > until_ns)
			before = search->previous[before];
		if (before != NONE && search->n_events < CANDIDATES_MAX)
			search->events[search->n_events++] =
				(struct cause_event){{before, true, true}, 0};
	}
	int64_t last_ns = date_causes(search, at_ns);
	if (search->n_events == 0) {
		tb_causes_add_event(search, search->previous[message], true);
		if (search->n_events == 0) // its node's first
			tb_causes_add_event(search, search->nearest[message], false);
		last_ns = date_causes(search, at_ns);
	}
	search->causes->of[message].gap_ns = search->bound == TB_BOUND_LEAST
						     ? least_gap(search, message)
						     : tb_causes_gap(row, last_ns, at_ns);
	return tb_causes_keep(search, message);
}

#include "array.h"
#include "infer_impl.h"
#include "order.h"

#include <stdlib.h>
#include <string.h>

#define CANDIDATES_MAX 256 // of one message, before those that follow are left out

struct cause_event {
	struct tb_cause cause;
	int64_t at_ns;
};

struct gaps {
	int64_t *rows;
	size_t n, room;
};

// A window that was closed: what filled it, and the acknowledgement that opened it.
struct window_closing {
	uint32_t filled, opened; // messages
};

struct cause_search {
	struct tb_causes *causes; // those in question
	struct tb_causes *made;	  // of a node: what is likely, then the bounds
	struct tb_causes found[1 + TB_N_BOUNDS]; // of all
	uint32_t n_bounds;
	uint32_t node;
	const struct tb_message_list *list; // from and to the node
	uint64_t *places;		    // tb_message_places
	struct tb_classes classes;
	struct tb_precedences precedences;
	struct gaps gaps;
	int64_t begin_ns;
	uint32_t *nearest; // by message: the last delivery to its source before; NONE
	uint32_t
		*earlier; // by message: the last delivery to its destination before; NONE
	uint32_t *previous; // by message: the call of its source before; NONE
	struct window_closing *closings; // by number
	int64_t *busy_ns; // by message: until when those before kept its source busy
	struct cause_event events[CANDIDATES_MAX];
	uint32_t n_events;
	uint32_t
		*added; // by message and whether its call: the list of events that had it
	uint32_t n_lists;
};

#define NONE UINT32_MAX

// A gap is the same in each repetition if the median distance from their median is at
// most a fifth of that, or as short as the scatter of a program's reactions (rule L9).
#define SPREAD_PART 5
#define SPREAD_NS   100000

// Where fewer calls than this part are not hidden, those that are not are exceptions.
#define SEEN_PART 5

static int64_t at_of(const struct cause_search *search, const struct tb_cause *cause)
{
	const struct tb_inferred_message *message = &search->list->rows[cause->message];
	return cause->is_call ? message->called_ns : tb_message_arrived(message);
}

// causes_gap returns the computation of a message's sender from `last_ns` until it
// called at `at_ns`: that time, less what its connection could not send.
static int64_t causes_gap(
	const struct tb_inferred_message *message, int64_t last_ns, int64_t at_ns)
{
	int64_t from_ns = message->stalled_from_ns, to_ns = message->stalled_to_ns;
	int64_t gap_ns = at_ns > last_ns ? at_ns - last_ns : 0;
	from_ns = tb_max_i64(from_ns, last_ns);
	if (to_ns > at_ns)
		to_ns = at_ns;
	return to_ns > from_ns ? gap_ns - (to_ns - from_ns) : gap_ns;
}

static void causes_begin(struct cause_search *search)
{
	search->n_events = 0;
	search->n_lists++;
}

// causes_add_event adds a delivery or a call to the events in question, once.
static void causes_add_event(struct cause_search *search, uint32_t message, bool is_call)
{
	const struct tb_cause cause = tb_cause_of(message, is_call);
	if (message == NONE || search->n_events == CANDIDATES_MAX ||
		search->added[2 * (size_t)message + is_call] == search->n_lists)
		return;
	search->added[2 * (size_t)message + is_call] = search->n_lists;
	search->events[search->n_events++] =
		(struct cause_event){cause, at_of(search, &cause)};
}

// causes_add_preceding adds what comes before a message in every repetition.
static void causes_add_preceding(struct cause_search *search, uint32_t message)
{
	for (size_t i = 0; i < search->precedences.n; i++) {
		uint32_t event = tb_precedence_event(
			&search->precedences, i, &search->classes, search->list, message);
		causes_add_event(search, event, search->precedences.rows[i].is_call);
	}
}

// add_nearest adds the last delivery before a call that was due.
static void add_nearest(struct cause_search *search, uint32_t message)
{
	uint32_t event = search->nearest[message];
	while (event != NONE && tb_precedence_is_early(&search->precedences,
					&search->classes, search->list, event, message))
		event = search->earlier[event];
	causes_add_event(search, event, false);
}

// last_event returns when the last of the events was.
static int64_t causes_last_event(const struct cause_search *search)
{
	int64_t last_ns = search->begin_ns;
	for (uint32_t i = 0; i < search->n_events; i++)
		last_ns = tb_max_i64(last_ns, search->events[i].at_ns);
	return last_ns;
}

static bool is_hidden_cause(const struct tb_inferred_message *message)
{
	return message->called_ns < message->left_ns;
}

TB_ORDER_BY(latest_first, struct cause_event,
	TB_DOWN(at_ns) TB_DOWN(cause.is_call) TB_DOWN(cause.message))

static bool is_same_pair(const struct tb_message_list *list, uint32_t a, uint32_t b)
{
	return list->rows[a].source == list->rows[b].source &&
	       list->rows[a].destination == list->rows[b].destination;
}

// follows_kept_cause returns whether an event follows from one of those that are kept: a
// call that waited for it, or for a later one of its pair.
static bool follows_kept_cause(const struct cause_search *search,
	const struct tb_cause *event, const struct tb_cause *kept, uint32_t n_kept)
{
	for (uint32_t i = 0; i < n_kept; i++) {
		if (!kept[i].is_call)
			continue;
		const struct tb_caused *of = &search->causes->of[kept[i].message];
		const struct tb_cause *rows = search->causes->rows + of->first;
		if (event->is_call && event->message == kept[i].message)
			return true;
		for (uint32_t k = 0; k < of->n; k++)
			if (rows[k].is_call == event->is_call &&
				rows[k].message >= event->message &&
				is_same_pair(
					search->list, rows[k].message, event->message))
				return true;
	}
	return false;
}

// causes_keep stores the events as the causes of a message, less those that follow from
// others.
static int causes_keep(struct cause_search *search, uint32_t message)
{
	struct tb_causes *causes = search->causes;
	struct tb_caused *of = &causes->of[message];
	int status = TB_DISK_ARRAY_RESERVE(&causes->row_array, &causes->rows,
		&causes->rows_room, causes->n_rows + TB_CAUSES_MAX);
	if (status != TB_OK)
		return status;
	of->first = (uint32_t)causes->n_rows;
	struct tb_cause *kept = causes->rows + of->first;
	qsort(search->events, search->n_events, sizeof *search->events, latest_first);
	for (uint32_t i = 0; i < search->n_events && of->n < TB_CAUSES_MAX; i++)
		if (!follows_kept_cause(search, &search->events[i].cause, kept, of->n))
			kept[of->n++] = search->events[i].cause;
	causes->n_rows += of->n;
	return TB_OK;
}

static int64_t median(int64_t *rows, size_t n)
{
	qsort(rows, n, sizeof *rows, tb_order_i64);
	return rows[n / 2];
}

// A class: whether its gaps are the same each time, and their median.
struct verdict {
	bool same;
	bool known; // there were messages of which the call is not hidden
	int64_t median_ns;
};

// judge_class compares the gaps of the messages of a class whose calls are not hidden.
// With `nearest` the last delivery is among the causes.
static int judge_class(struct cause_search *search, uint32_t class, bool nearest,
	struct verdict *verdict)
{
	const struct tb_classes *classes = &search->classes;
	search->gaps.n = 0;
	for (uint32_t i = classes->first[class]; i < classes->first[class + 1]; i++) {
		uint32_t message = classes->members[i];
		const struct tb_inferred_message *row = &search->list->rows[message];
		if (is_hidden_cause(row))
			continue;
		causes_begin(search);
		causes_add_preceding(search, message);
		if (nearest)
			add_nearest(search, message);
		int status = TB_ARRAY_NEXT(&search->gaps, rows);
		if (status != TB_OK)
			return status;
		search->gaps.rows[search->gaps.n++] =
			causes_gap(row, causes_last_event(search), row->called_ns);
	}
	size_t n = search->gaps.n;
	*verdict = (struct verdict){
		.known = n >= TB_RECURS_FROM &&
			 n * SEEN_PART >= tb_classes_size(classes, class)};
	if (!verdict->known)
		return TB_OK;
	int64_t *gaps = search->gaps.rows;
	verdict->median_ns = median(gaps, n);
	for (size_t i = 0; i < n; i++)
		gaps[i] = llabs(gaps[i] - verdict->median_ns);
	int64_t spread_ns = median(gaps, n);
	verdict->same =
		spread_ns <= SPREAD_NS || spread_ns <= verdict->median_ns / SPREAD_PART;
	return TB_OK;
}

// gap_of returns the computation between a message's last cause and its call. Where the
// call is hidden, it is the usual one, within the bounds that are known.
static int64_t gap_of(const struct cause_search *search,
	const struct tb_inferred_message *message, const struct verdict *verdict)
{
	int64_t last_ns = causes_last_event(search);
	int64_t least = causes_gap(message, last_ns, message->called_ns);
	int64_t most = causes_gap(message, last_ns, message->left_ns);
	if (!is_hidden_cause(message) || !verdict->known || verdict->median_ns < least)
		return least;
	return verdict->median_ns < most ? verdict->median_ns : most;
}

// follows_call returns whether a message waits for the previous send of its node. It
// does if its class is one of messages at the same place in the program's order of
// sends, or if no precedence of its class involves that send's class, because the two
// occur in different numbers and nothing else orders them.
static bool follows_call(const struct cause_search *search, uint32_t message)
{
	uint32_t previous = search->previous[message];
	if (search->classes.by_place[message])
		return true;
	for (size_t i = 0; previous != NONE && i < search->precedences.n; i++)
		if (search->precedences.rows[i].is_call &&
			search->precedences.rows[i].class == search->classes.of[previous])
			return false;
	return true;
}

// is_unusual returns whether a gap is so much longer than those of its class that a rule
// seems not to have been found for this one message.
static bool is_unusual(const struct verdict *verdict, int64_t gap_ns)
{
	int64_t usual_ns = verdict->known ? verdict->median_ns : 0;
	return gap_ns > usual_ns + usual_ns / 2 + SPREAD_NS;
}

// is_path_known returns whether it is known how long the last of the events took on the
// captured path.
static bool is_path_known(const struct cause_search *search)
{
	const struct cause_event *last = NULL;
	for (uint32_t i = 0; i < search->n_events; i++)
		if (!last || search->events[i].at_ns > last->at_ns)
			last = &search->events[i];
	return !last || last->cause.is_call ||
	       search->list->rows[last->cause.message].path_known;
}

static int settle_cause(struct cause_search *search, uint32_t message,
	const struct verdict *verdict, bool recurring)
{
	const struct tb_inferred_message *row = &search->list->rows[message];
	struct tb_caused *of = &search->causes->of[message];
	causes_begin(search);
	causes_add_preceding(search, message);
	if (!recurring || search->n_events == 0) {
		recurring = false;
		add_nearest(search, message);
	}
	if (follows_call(search, message))
		causes_add_event(search, search->previous[message], true);
	of->kind = search->n_events == 0 ? TB_CAUSE_FIRST
		   : recurring		 ? TB_CAUSE_RECURRING
					 : TB_CAUSE_NEAREST;
	of->hidden = is_hidden_cause(row);
	of->gap_ns = gap_of(search, row, verdict);
	if (recurring && is_unusual(verdict, of->gap_ns)) {
		add_nearest(search, message);
		of->kind = TB_CAUSE_NEAREST;
		of->gap_ns = gap_of(search, row, verdict);
	}
	// A longer one is a wait of which the cause was not found (rule L12).
	bool repeats = search->precedences.n > 0;
	if (repeats && is_unusual(verdict, of->gap_ns))
		of->gap_ns = verdict->known ? verdict->median_ns : 0;
	of->gap_may_be_path = of->gap_ns > SPREAD_NS && !is_path_known(search);
	return causes_keep(search, message);
}

#define FRAME_BYTES 1514u // of Ethernet

// instant_of returns the earliest instant at which a message was called for. One that
// runs on behind another may have waited for the window of its connection since that
// began.
static int64_t instant_of(const struct cause_search *search, uint32_t message)
{
	const struct tb_inferred_message *row = &search->list->rows[message];
	return tb_min_i64(row->began_ns, row->called_ns);
}

// date_causes gives the events their instants in the bound, and drops those after the
// call. Returns the last instant.
static int64_t date_causes(struct cause_search *search, int64_t until_ns)
{
	uint32_t n = 0;
	for (uint32_t i = 0; i < search->n_events; i++) {
		struct cause_event event = search->events[i];
		const struct tb_cause *cause = &event.cause;
		const struct tb_inferred_message *row =
			&search->list->rows[cause->message];
		event.at_ns = cause->is_call ? instant_of(search, cause->message)
					     : row->delivered_ns;
		if (event.at_ns > until_ns)
			continue;
		if (!cause->is_call)
			event.at_ns = tb_message_arrived(row);
		search->events[n++] = event;
	}
	search->n_events = n;
	return causes_last_event(search);
}

// Of these a message's last deliveries may be the one that came last.
#define LATE_MOST 16

// latest_arrival returns until when a delivery may have taken: behind the capture point
// there may be a queue that shows in nothing but the acknowledgement. Of one or two
// segments that says little, as it may be delayed. A path that is not known may be as
// long as the shortest answer.
static int64_t latest_arrival(const struct tb_inferred_message *row)
{
	bool is_prompt = row->bytes > 2 * FRAME_BYTES && row->acked_ns != INT64_MAX;
	int64_t arrives_ns = tb_message_arrived(row) + row->path_most_ns - row->path_ns;
	return is_prompt && row->acked_ns > arrives_ns ? row->acked_ns : arrives_ns;
}

// least_gap returns the computation before a message that is certain: it followed all
// that had come, and what the node sent before: a program may wait for that to leave.
static int64_t least_gap(const struct cause_search *search, uint32_t message)
{
	int64_t at_ns = instant_of(search, message);
	int64_t last_ns = causes_last_event(search);
	uint32_t event = search->nearest[message];
	for (uint32_t i = 0; i < LATE_MOST && event != NONE; i++) {
		int64_t late_ns = latest_arrival(&search->list->rows[event]);
		if (search->list->rows[event].delivered_ns <= at_ns && late_ns > last_ns)
			last_ns = late_ns;
		event = search->earlier[event];
	}
	last_ns = tb_max_i64(last_ns, search->busy_ns[message]);
	return causes_gap(&search->list->rows[message], last_ns, at_ns);
}

// causes_settle_bound writes down the causes and the gap of a message in the bound in
// question.
static int causes_settle_bound(struct cause_search *search, uint32_t message)
{
	int64_t at_ns = instant_of(search, message);
	search->causes = &search->made[1 + TB_BOUND_LEAST];
	causes_begin(search);
	causes_add_preceding(search, message);
	date_causes(search, at_ns);
	if (search->n_events == 0) {
		causes_begin(search);
		causes_add_event(search, search->previous[message], true);
		if (search->n_events == 0) // its node's first
			causes_add_event(search, search->nearest[message], false);
		date_causes(search, at_ns);
	}
	search->causes->of[message].gap_ns = least_gap(search, message);
	return causes_keep(search, message);
}

static int settle_recurring_causes(struct cause_search *search, uint32_t message,
	const struct verdict *verdict, bool recurring)
{
	const struct tb_inferred_message *row = &search->list->rows[message];
	// What is likely, and the least.
	uint32_t n_settled = search->n_bounds ? 1 + TB_BOUND_LEAST : 0;
	for (uint32_t i = 0; (row->reopens || row->resumes) && i <= n_settled; i++) {
		search->causes = &search->made[i];
		// Make the acknowledgement that opens a window wait for what filled it,
		// as long as its receiver took, and what is sent then wait for that.
		const struct window_closing *closing =
			&search->closings[row->reopens + row->resumes];
		struct tb_caused *of = &search->causes->of[message];
		causes_begin(search);
		causes_add_event(
			search, row->reopens ? closing->filled : closing->opened, false);
		of->kind = TB_CAUSE_RECURRING;
		if (row->reopens)
			of->gap_ns = causes_gap(
				row, causes_last_event(search), row->called_ns);
		int closed = causes_keep(search, message);
		if (closed != TB_OK || i == n_settled)
			return closed;
	}
	search->causes = &search->made[0];
	int status = settle_cause(search, message, verdict, recurring);
	return status == TB_OK && n_settled ? causes_settle_bound(search, message)
					    : status;
}

// A gap that follows all that can have been a cause is computation, but short where
// something else came meanwhile: those of this part of an event's repetitions are whole.
#define WHOLE_PART 4

// regular_gap returns what the calls of an event that are not hidden show of a regular
// computation before it: the third quartile of the least gaps, if it is like the seventh
// octile; 0 where it is not regular.
static int regular_gap(struct cause_search *search, uint32_t class, int64_t *gap_ns)
{
	const struct tb_classes *classes = &search->classes;
	const struct tb_causes *least = &search->made[1 + TB_BOUND_LEAST];
	uint32_t n = 0;
	if (TB_ARRAY_RESERVE(&search->gaps.rows, &search->gaps.room,
		    (size_t)tb_classes_size(classes, class)) != TB_OK)
		return TB_ENOMEM;
	int64_t *gaps = search->gaps.rows;
	for (uint32_t i = classes->first[class]; i < classes->first[class + 1]; i++) {
		uint32_t message = classes->members[i];
		// A node's first call waits for nothing.
		if (search->made[0].of[message].n > 0 &&
			!is_hidden_cause(&search->list->rows[message]))
			gaps[n++] = least->of[message].gap_ns;
	}
	*gap_ns = 0;
	if (n < TB_RECURS_FROM)
		return TB_OK;
	qsort(gaps, n, sizeof *gaps, tb_order_i64);
	int64_t whole_ns = gaps[(n - 1) - (n - 1) / WHOLE_PART];
	int64_t above_ns = gaps[(n - 1) - (n - 1) / (2 * WHOLE_PART)] - whole_ns;
	if (above_ns <= SPREAD_NS || above_ns <= whole_ns / SPREAD_PART)
		*gap_ns = whole_ns;
	return TB_OK;
}

// append_regular appends the likely causes of a message. If they leave more than its gap,
// it waits for the last delivery, too.
static void append_regular(
	const struct cause_search *search, uint32_t message, int64_t regular_ns)
{
	const struct tb_inferred_message *row = &search->list->rows[message];
	struct tb_causes *made = &search->made[1 + TB_BOUND_REGULAR];
	struct tb_caused *of = &made->of[message];
	const struct tb_cause *likely = search->made[0].rows + of->first;
	struct tb_cause *kept = made->rows + made->n_rows;
	uint32_t nearest = search->nearest[message];
	int64_t last_ns = search->begin_ns;
	of->first = (uint32_t)made->n_rows;
	for (uint32_t i = 0; i < of->n; i++) {
		kept[i] = likely[i];
		last_ns = tb_max_i64(last_ns, at_of(search, &kept[i]));
		if (kept[i].message == nearest && !kept[i].is_call)
			nearest = NONE;
	}
	if (!row->reopens && !row->resumes) {
		const struct tb_caused *least =
			&search->made[1 + TB_BOUND_LEAST].of[message];
		const struct tb_cause delivery = tb_cause_of(nearest, false);
		int64_t gap_ns = tb_max_i64(regular_ns, least->gap_ns);
		int64_t seen_ns = causes_gap(row, last_ns, row->called_ns);
		if (nearest != NONE && of->n < TB_CAUSES_MAX &&
			seen_ns > gap_ns + gap_ns / 2 + SPREAD_NS) {
			kept[of->n++] = delivery;
			last_ns = tb_max_i64(last_ns, at_of(search, &delivery));
		}
		of->gap_ns = tb_min_i64(gap_ns, causes_gap(row, last_ns, row->left_ns));
	}
	made->n_rows += of->n;
}

// derive_regular makes the bound that has the causes of what is likely, and computation
// that is the same each time.
static int derive_regular(struct cause_search *search)
{
	struct tb_causes *made = &search->made[1 + TB_BOUND_REGULAR];
	const struct tb_classes *classes = &search->classes;
	if (TB_DISK_ARRAY_RESERVE(&made->row_array, &made->rows, &made->rows_room,
		    search->made[0].n_rows + search->list->n) != TB_OK)
		return TB_ENOMEM;
	memcpy(made->of, search->made[0].of, search->list->n * sizeof *made->of);
	for (uint32_t c = classes->sent; c < classes->sent_end; c++) {
		int64_t regular_ns;
		if (regular_gap(search, c, &regular_ns) != TB_OK)
			return TB_ENOMEM;
		for (uint32_t i = classes->first[c]; i < classes->first[c + 1]; i++)
			append_regular(search, classes->members[i], regular_ns);
	}
	return TB_OK;
}

// look_at_deliveries fills `nearest` and `earlier`.
static int look_at_deliveries(const struct cause_search *search)
{
	const struct tb_message_list *list = search->list;
	// What came while a message stood in its node's queue may have come after its
	// call.
	struct tb_node_moment *moments = malloc((2 * list->n + 1) * sizeof *moments);
	size_t n = 0;
	if (!moments)
		return TB_ENOMEM;
	for (uint32_t i = 0; i < list->n; i++) {
		const struct tb_inferred_message *row = &list->rows[i];
		if (row->source == search->node)
			moments[n++] = (struct tb_node_moment){
				row->called_ns, row->source, tb_cause_of(i, true)};
		if (row->destination == search->node)
			moments[n++] = (struct tb_node_moment){row->delivered_ns,
				row->destination, tb_cause_of(i, false)};
	}
	qsort(moments, n, sizeof *moments, tb_by_node_moment);
	uint32_t delivery = NONE;
	for (size_t i = 0; i < n; i++) {
		uint32_t message = moments[i].what.message;
		if (moments[i].what.is_call) {
			search->nearest[message] = delivery;
			continue;
		}
		search->earlier[message] = delivery;
		delivery = message;
	}
	free(moments);
	return TB_OK;
}

// look_back fills `previous`, `busy_ns` and `closings`.
static void look_back(struct cause_search *search)
{
	const struct tb_inferred_message *rows = search->list->rows;
	uint32_t before = NONE;
	int64_t busy_ns = search->begin_ns;
	for (uint32_t i = 0; i < search->list->n; i++) {
		if (rows[i].closes)
			search->closings[rows[i].closes].filled = i;
		if (rows[i].reopens)
			search->closings[rows[i].reopens].opened = i;
		if (rows[i].source != search->node)
			continue;
		search->previous[i] = before;
		search->busy_ns[i] = busy_ns;
		busy_ns = tb_max_i64(busy_ns, rows[i].last_ns);
		before = i;
	}
}

static int causes_make_room(struct tb_causes *causes, size_t n)
{
	int status = tb_disk_array_resize(&causes->array, (n + 1) * sizeof *causes->of);
	causes->of = (void *)causes->array.memory;
	return status;
}

static int search_node(struct cause_search *search)
{
	size_t n = search->list->n;
	for (uint32_t i = 0; i <= search->n_bounds; i++) {
		struct tb_causes *made = &search->made[i];
		if (causes_make_room(made, n) != TB_OK)
			return TB_ENOMEM;
		memset(made->of, 0, n * sizeof *made->of);
	}
	look_back(search);
	int status = look_at_deliveries(search);
	TB_THEN(status, tb_classes_find(&search->classes, search->list, search->places,
				search->node));
	TB_THEN(status, tb_precedences_begin(
				&search->precedences, &search->classes, search->list));
	const struct tb_classes *classes = &search->classes;
	for (uint32_t c = classes->sent; status == TB_OK && c < classes->sent_end; c++) {
		struct verdict verdict = {0};
		status = tb_precedences_find(
			&search->precedences, classes, search->list, c);
		TB_THEN(status, judge_class(search, c, false, &verdict));
		bool recurring = verdict.same || !verdict.known;
		struct verdict nearer = {0};
		if (status == TB_OK && verdict.known)
			status = judge_class(search, c, true, &nearer);
		// A gap that a delivery within it explains as well is a wait.
		if (!recurring ||
			(nearer.same && nearer.median_ns < verdict.median_ns / 2)) {
			recurring = false;
			verdict = nearer;
		}

		for (uint32_t i = classes->first[c];
			status == TB_OK && i < classes->first[c + 1]; i++)
			status = settle_recurring_causes(
				search, classes->members[i], &verdict, recurring);
	}
	return status == TB_OK && search->n_bounds ? derive_regular(search) : status;
}

// hand_out appends the causes of the node's messages, which are `members` of all.
static int hand_out(const struct cause_search *search, const uint32_t *members,
	struct tb_causes *causes, const struct tb_causes *made)
{
	const struct tb_message_list *list = search->list;
	if (TB_DISK_ARRAY_RESERVE(&causes->row_array, &causes->rows, &causes->rows_room,
		    causes->n_rows + made->n_rows) != TB_OK)
		return TB_ENOMEM;
	tb_causes_cool(causes);
	for (size_t i = 0; i < list->n; i++) {
		struct tb_caused *of = &causes->of[members[i]];
		if (list->rows[i].source != search->node)
			continue;
		*of = made->of[i];
		of->first += (uint32_t)causes->n_rows;
	}
	for (size_t i = 0; i < made->n_rows; i++) {
		const struct tb_cause cause = made->rows[i];
		causes->rows[causes->n_rows++] =
			tb_cause_of(members[cause.message], cause.is_call);
	}
	return TB_OK;
}

// find_node finds the causes of the messages of a node among all of its messages, which
// are copied to `rows`: memory is needed for those of one node at a time.
static int find_node(struct cause_search *search, const struct tb_message_list *all,
	const uint64_t *places, const uint32_t *members, struct tb_message_list *own)
{
	struct tb_causes made[1 + TB_N_BOUNDS] = {0};
	search->list = own;
	search->made = made;
	for (uint32_t i = 0; i < own->n; i++) {
		if (i == 0 || members[i] / TB_COOLED_MESSAGES !=
				      members[i - 1] / TB_COOLED_MESSAGES)
			tb_message_list_cool(all, 0);
		own->rows[i] = all->rows[members[i]];
		search->places[i] = places[members[i]];
	}
	int status = search_node(search);
	for (uint32_t i = 0; i <= search->n_bounds; i++) {
		TB_THEN(status, hand_out(search, members, &search->found[i], &made[i]));
		tb_causes_fini(&made[i]);
	}
	tb_classes_fini(&search->classes);
	tb_precedences_fini(&search->precedences);
	return status;
}

// list_by_node lists the messages from and to each node v, from first[v] on, and returns
// the most of a node.
static size_t list_by_node(const struct tb_message_list *list, uint32_t n_nodes,
	size_t *first, uint32_t *members)
{
	size_t most = 0;
	// While it is filled, `first` is shifted by one: afterwards it is right.
	for (int fill = 0; fill < 2; fill++) {
		for (uint32_t i = 0; i < list->n; i++) {
			const struct tb_inferred_message *row =
				tb_message_list_at(list, i);
			uint32_t ends[] = {row->source, row->destination};
			for (int end = 0; end < 1 + (ends[0] != ends[1]); end++)
				if (fill)
					members[first[ends[end] + 1]++] = i;
				else
					first[ends[end] + 2]++;
		}
		for (uint32_t v = 0; !fill && v < n_nodes; v++) {
			most = first[v + 2] > most ? first[v + 2] : most;
			first[v + 2] += first[v + 1];
		}
	}
	return most;
}

int tb_causes_find(struct tb_causes *causes, uint32_t n_bounds,
	const struct tb_message_list *list, uint32_t n_nodes, int64_t begin_ns)
{
	struct cause_search search = {.n_bounds = n_bounds, .begin_ns = begin_ns};
	uint64_t *places = tb_message_places(list, n_nodes);
	size_t *first = calloc(n_nodes + UINT64_C(2), sizeof *first);
	uint32_t *members = malloc((2 * list->n + 1) * sizeof *members);
	search.closings =
		malloc((list->n_closings + UINT64_C(1)) * sizeof *search.closings);
	bool has_room = places && first && members && search.closings;
	size_t most = has_room ? list_by_node(list, n_nodes, first, members) + 1 : 0;
	struct tb_message_list own = {.rows = malloc(most * sizeof *own.rows)};
	search.nearest = malloc(most * sizeof *search.nearest);
	search.earlier = malloc(most * sizeof *search.earlier);
	search.previous = malloc(most * sizeof *search.previous);
	search.busy_ns = malloc(most * sizeof *search.busy_ns);
	search.added = calloc(2 * most, sizeof *search.added);
	search.places = malloc(most * sizeof *search.places);
	has_room = has_room && own.rows && search.nearest && search.earlier &&
		   search.previous && search.busy_ns && search.added && search.places;
	for (uint32_t i = 0; i <= n_bounds; i++) {
		search.found[i].array.beside = list->array.beside;
		search.found[i].row_array.beside = list->array.beside;
		has_room &= causes_make_room(&search.found[i], list->n) == TB_OK;
	}
	int status = has_room ? TB_OK : TB_ENOMEM;
	for (; status == TB_OK && search.node < n_nodes; search.node++) {
		own.n = first[search.node + 1] - first[search.node];
		status = find_node(
			&search, list, places, members + first[search.node], &own);
	}
	free(own.rows);
	free(search.nearest);
	free(search.earlier);
	free(search.previous);
	free(search.busy_ns);
	free(search.added);
	free(search.places);
	free(places);
	free(first);
	free(members);
	free(search.closings);
	free(search.gaps.rows);
	for (uint32_t i = 0; i <= n_bounds; i++)
		if (status == TB_OK)
			causes[i] = search.found[i];
		else
			tb_causes_fini(&search.found[i]);
	return status;
}

void tb_causes_fini(struct tb_causes *causes)
{
	tb_disk_array_fini(&causes->array);
	tb_disk_array_fini(&causes->row_array);
	*causes = (struct tb_causes){0};
}

void tb_causes_cool(const struct tb_causes *causes)
{
	tb_disk_array_cool(&causes->array);
	tb_disk_array_cool(&causes->row_array);
}

// The bounds of what is likely: rule L16 of infer.h.

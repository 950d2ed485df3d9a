#include "infer_impl.h"

#include "array.h"

#include <stdlib.h>
#include <string.h>

#define NEIGHBOURS    16 // on either side, that show a rule
#define UNEQUAL_PER   20 // the numbers of repetitions may differ by one in so many
#define UNEQUAL_LEAST 2
#define TIMES_MAX     16 // of one event for each of another

static bool is_hidden_event(const struct tb_inferred_message *message)
{
	return message->called_ns < message->left_ns;
}

// event_precedes returns whether an event came before the call for a message. Where a
// queue hides the call, the sender's own acknowledgement shows it, as it stood in the
// same queue in front of the message; or it `may` have come until the message left.
static bool event_precedes(const struct tb_message_list *list, uint32_t event,
	bool is_call, uint32_t message, bool may)
{
	// The list is ordered by the instants at which messages left.
	const struct tb_inferred_message *other = &list->rows[event];
	const struct tb_inferred_message *row = &list->rows[message];
	if (is_call)
		return event < message;
	return other->delivered_ns <= (may ? row->left_ns : row->called_ns) ||
	       other->acked_ns <= row->began_ns;
}

// How many of the events come with each message, or messages with each event: one of
// `times` and `per` is 1.
struct precedence_ratio {
	uint32_t times, per;
	uint32_t phase; // below `per`
};

// relate_numbers finds the ratio; false when the numbers do not fit.
static bool relate_numbers(uint32_t n, uint32_t m, struct precedence_ratio *found)
{
	uint32_t less = n < m ? n : m, more = n < m ? m : n;
	uint32_t ratio = (more + less / 2) / less;
	uint32_t apart = more < ratio * less ? ratio * less - more : more - ratio * less;
	uint32_t allowed = more / UNEQUAL_PER;
	*found = (struct precedence_ratio){n < m ? ratio : 1, n < m ? 1 : ratio, 0};
	return ratio <= TIMES_MAX &&
	       apart <= (allowed < UNEQUAL_LEAST ? UNEQUAL_LEAST : allowed);
}

// second_least returns the second least of a few numbers: one exception is allowed.
static int64_t second_least(const int64_t *numbers, uint32_t n)
{
	int64_t least = INT64_MAX, second = INT64_MAX;
	for (uint32_t i = 0; i < n; i++) {
		if (numbers[i] < least) {
			second = least;
			least = numbers[i];
		} else if (numbers[i] < second) {
			second = numbers[i];
		}
	}
	return n > 1 ? second : least;
}

// shift_all turns how many events came before each member into the place of the last of
// them that comes before it each time: `due` are the places that would keep step with the
// members, and what is added is the most that holds for a member's neighbours but one. A
// rule for all members at once would not survive a message that was not recognised. Calls
// that are hidden show little, and count with what may have come before them where enough
// of their neighbours are not. Returns the sum of the places.
static int64_t shift_all(const struct tb_steps *steps, int64_t *places, uint32_t n)
{
	int64_t sum = 0;
	uint32_t first = 0, end = 0, n_seen = 0;
	for (uint32_t j = 0; j < n; j++)
		for (int may = 0; may < 2; may++)
			steps->ahead[may][j] = steps->came[may][j] - steps->due[j];
	for (uint32_t j = 0; j < n; j++) {
		for (; end < n && end <= j + NEIGHBOURS; end++)
			n_seen += steps->seen[end];
		for (; first + NEIGHBOURS < j; first++)
			n_seen -= steps->seen[first];
		const int64_t *ahead = steps->ahead[n_seen >= TB_RECURS_FROM];
		places[j] = steps->due[j] + second_least(ahead + first, end - first) - 1;
		sum += places[j];
	}
	return sum;
}

static void count_before(const struct tb_steps *steps, const struct tb_precedence *found,
	const struct tb_message_list *list, const uint32_t *own, uint32_t n)
{
	uint32_t passed[2] = {0, 0};
	for (uint32_t j = 0; j < n; j++) {
		steps->seen[j] = !is_hidden_event(&list->rows[own[j]]);
		for (int may = 0; may < 2; may++) {
			while (passed[may] < found->n_others &&
				event_precedes(list, found->others[passed[may]],
					found->is_call, own[j], may))
				passed[may]++;
			steps->came[may][j] = passed[may];
		}
	}
}

static int reserve_precedences(struct tb_precedences *precedences, uint32_t n)
{
	struct tb_steps *steps = &precedences->steps;
	int status = TB_ARRAY_RESERVE(&steps->rows, &steps->rows_room, (size_t)6 * n);
	if (status == TB_OK)
		status = TB_ARRAY_RESERVE(&steps->seen, &steps->seen_room, (size_t)n);
	if (status == TB_OK)
		status = TB_ARRAY_RESERVE(&precedences->places, &precedences->places_room,
			precedences->n_places + n);
	if (status == TB_OK)
		status = TB_ARRAY_RESERVE(
			&precedences->rows, &precedences->room, precedences->n + 1);
	if (status != TB_OK)
		return status;
	int64_t **arrays[] = {&steps->came[0], &steps->came[1], &steps->ahead[0],
		&steps->ahead[1], &steps->due, &steps->tried};
	for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++)
		*arrays[i] = steps->rows + i * n;
	return TB_OK;
}

static void add_precedence_row(
	struct tb_precedences *precedences, const struct tb_precedence *found, uint32_t n)
{
	struct tb_precedence *row = &precedences->rows[precedences->n++];
	*row = *found;
	row->places = precedences->n_places;
	precedences->n_places += n;
}

// consider relates a class to another by their numbers.
static int consider(struct tb_precedences *precedences, const struct tb_classes *classes,
	const struct tb_message_list *list, uint32_t class, struct tb_precedence found)
{
	uint32_t n = tb_classes_size(classes, class);
	struct precedence_ratio ratio;
	found.others = classes->members + classes->first[found.class];
	found.n_others = tb_classes_size(classes, found.class);
	if (found.n_others < TB_RECURS_FROM || !relate_numbers(n, found.n_others, &ratio))
		return TB_OK;
	int status = reserve_precedences(precedences, n);
	if (status != TB_OK)
		return status;
	count_before(&precedences->steps, &found, list,
		classes->members + classes->first[class], n);
	// Put the places of events that come so many with each member behind those of
	// the other precedences, with the phase that asks for the latest events.
	const struct tb_steps *steps = &precedences->steps;
	int64_t best = INT64_MIN;
	for (ratio.phase = 0; ratio.phase < ratio.per; ratio.phase++) {
		for (uint32_t j = 0; j < n; j++)
			steps->due[j] =
				((int64_t)j + ratio.phase) * ratio.times / ratio.per;
		int64_t sum = shift_all(steps, steps->tried, n);
		if (sum <= best)
			continue;
		best = sum;
		memcpy(precedences->places + precedences->n_places, steps->tried,
			n * sizeof *steps->tried);
	}
	add_precedence_row(precedences, &found, n);
	return TB_OK;
}

// is_answered returns the messages of the other direction of a pair, if they are about as
// many, or NULL.
static const struct tb_ordered_pair *answers(
	const struct tb_classes *classes, const struct tb_ordered_pair *pair)
{
	const struct tb_ordered_pair *back =
		tb_classes_pair(classes, pair->destination, pair->source);
	struct precedence_ratio ratio;
	bool fits = back && pair->n >= TB_RECURS_FROM && back->n >= TB_RECURS_FROM &&
		    relate_numbers(pair->n, back->n, &ratio) && ratio.times == ratio.per;
	return fits ? back : NULL;
}

// step_pair finds for each message of a pair the place of what regularly came back
// before.
static int step_pair(struct tb_precedences *precedences, const struct tb_classes *classes,
	const struct tb_message_list *list, const struct tb_ordered_pair *there)
{
	const struct tb_ordered_pair *back = answers(classes, there);
	const struct tb_steps *steps = &precedences->steps;
	const uint32_t *own = classes->by_pair + there->first;
	if (!back)
		return TB_OK;
	const struct tb_precedence found = {
		.others = classes->by_pair + back->first, .n_others = back->n};
	int status = reserve_precedences(precedences, there->n);
	if (status != TB_OK)
		return status;
	count_before(steps, &found, list, own, there->n);
	for (uint32_t k = 0; k < there->n; k++)
		steps->due[k] = k;
	shift_all(steps, steps->tried, there->n);
	for (uint32_t k = 0; k < there->n; k++)
		precedences->due[own[k]] = steps->tried[k];
	return TB_OK;
}

int tb_precedences_begin(struct tb_precedences *precedences,
	const struct tb_classes *classes, const struct tb_message_list *list)
{
	int status = TB_OK;
	precedences->due = malloc((list->n + 1) * sizeof *precedences->due);
	if (!precedences->due)
		return TB_ENOMEM;
	for (uint32_t i = 0; status == TB_OK && i < classes->n_pairs; i++)
		status = step_pair(precedences, classes, list, &classes->pairs[i]);
	return status;
}

// due_back returns the place of what regularly came back before the next message of a
// pair from `message` on.
static int64_t due_back(const struct tb_precedences *precedences,
	const struct tb_classes *classes, const struct tb_ordered_pair *there,
	uint32_t message)
{
	const uint32_t *rows = classes->by_pair + there->first;
	uint32_t first = 0, end = there->n - 1;
	while (first < end) {
		uint32_t middle = first + (end - first) / 2;
		if (rows[middle] < message)
			first = middle + 1;
		else
			end = middle;
	}
	return precedences->due[rows[first]];
}

bool tb_precedence_is_early(const struct tb_precedences *precedences,
	const struct tb_classes *classes, const struct tb_message_list *list,
	uint32_t event, uint32_t message)
{
	const struct tb_inferred_message *row = &list->rows[event];
	const struct tb_ordered_pair *there =
		tb_classes_pair(classes, row->destination, row->source);
	const struct tb_ordered_pair *back = there ? answers(classes, there) : NULL;
	if (!back)
		return false;
	int64_t due = due_back(precedences, classes, there, message);
	return due >= 0 && due < back->n && classes->by_pair[back->first + due] < event;
}

// consider_pair relates a class to all messages of a pair that reach its source, where as
// many go back: those that went back before a member, and what came before these, keep
// step with what came before the member.
static int consider_pair(struct tb_precedences *precedences,
	const struct tb_classes *classes, const struct tb_message_list *list,
	uint32_t class, const struct tb_ordered_pair *there,
	const struct tb_ordered_pair *back)
{
	uint32_t n = tb_classes_size(classes, class);
	const uint32_t *own = classes->members + classes->first[class];
	const struct tb_steps *steps = &precedences->steps;
	const struct tb_precedence found = {.class = UINT32_MAX,
		.others = classes->by_pair + back->first,
		.n_others = back->n};
	int status = reserve_precedences(precedences, n);
	if (status != TB_OK)
		return status;
	for (uint32_t j = 0; j < n; j++)
		steps->due[j] = due_back(precedences, classes, there, own[j]);
	count_before(steps, &found, list, own, n);
	int64_t *places = precedences->places + precedences->n_places;
	shift_all(steps, places, n);
	for (uint32_t j = 0; j < n; j++)
		if (places[j] > steps->due[j])
			places[j] = steps->due[j];
	add_precedence_row(precedences, &found, n);
	return TB_OK;
}

// find_by_place looks at the other direction of the pairs of a node; its own calls are in
// the place of the class already.
static int find_by_place(struct tb_precedences *precedences,
	const struct tb_classes *classes, const struct tb_message_list *list,
	uint32_t class, uint32_t node)
{
	int status = TB_OK;
	for (uint32_t i = classes->got_first[node], last = UINT32_MAX;
		status == TB_OK && i < classes->got_first[node + 1]; i++) {
		uint32_t got = classes->got[i];
		uint32_t from = list->rows[classes->members[classes->first[got]]].source;
		const struct tb_ordered_pair *there =
			tb_classes_pair(classes, node, from);
		const struct tb_ordered_pair *back =
			there ? answers(classes, there) : NULL;
		if (!back)
			status = consider(precedences, classes, list, class,
				(struct tb_precedence){.class = got});
		else if (from != last)
			status = consider_pair(
				precedences, classes, list, class, there, back);
		last = from;
	}
	return status;
}

static int find_by_size(struct tb_precedences *precedences,
	const struct tb_classes *classes, const struct tb_message_list *list,
	uint32_t class, uint32_t node)
{
	int status = TB_OK;
	for (uint32_t i = classes->got_first[node];
		status == TB_OK && i < classes->got_first[node + 1]; i++)
		status = consider(precedences, classes, list, class,
			(struct tb_precedence){.class = classes->got[i]});
	for (uint32_t c = classes->sent_first[node];
		status == TB_OK && c < classes->sent_first[node + 1]; c++)
		status = consider(precedences, classes, list, class,
			(struct tb_precedence){.class = c, .is_call = true});
	return status;
}

int tb_precedences_find(struct tb_precedences *precedences,
	const struct tb_classes *classes, const struct tb_message_list *list,
	uint32_t class)
{
	precedences->n = precedences->n_places = 0;
	if (tb_classes_size(classes, class) < TB_RECURS_FROM)
		return TB_OK;
	uint32_t first = classes->members[classes->first[class]];
	uint32_t node = list->rows[first].source;
	return classes->by_place[first]
		       ? find_by_place(precedences, classes, list, class, node)
		       : find_by_size(precedences, classes, list, class, node);
}

void tb_precedences_fini(struct tb_precedences *precedences)
{
	free(precedences->rows);
	free(precedences->steps.rows);
	free(precedences->steps.seen);
	free(precedences->places);
	free(precedences->due);
	*precedences = (struct tb_precedences){0};
}

uint32_t tb_precedence_event(const struct tb_precedences *precedences, size_t row,
	const struct tb_classes *classes, const struct tb_message_list *list,
	uint32_t message)
{
	const struct tb_precedence *precedence = &precedences->rows[row];
	uint32_t member = classes->place[message];
	const int64_t *places = precedences->places + precedence->places;
	int64_t place = places[member];
	if (place < 0 || place >= precedence->n_others ||
		(member > 0 && place <= places[member - 1]))
		return UINT32_MAX;
	uint32_t event = precedence->others[place];
	return event_precedes(list, event, precedence->is_call, message, true)
		       ? event
		       : UINT32_MAX;
}

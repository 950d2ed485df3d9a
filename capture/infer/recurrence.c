#include "recurrence.h"

#include "array.h"

#include <stdlib.h>
#include <string.h>

#define NEIGHBOURS    16 // on either side, that show a rule
#define UNEQUAL_PER   20 // the numbers of repetitions may differ by one in so many
#define UNEQUAL_LEAST 2
#define TIMES_MAX     16 // of one event for each of another

// comes_before returns whether an event came before the call for a message. Where a queue
// hides the call, the sender's own acknowledgement shows it, as it stood in the same
// queue in front of the message.
static bool comes_before(const struct tb_message_list *list, uint32_t event, bool is_call,
	uint32_t message)
{
	// The list is ordered by the instants at which messages left.
	const struct tb_message *other = &list->rows[event];
	const struct tb_message *row = &list->rows[message];
	if (is_call)
		return event < message;
	return other->delivered_ns <= row->called_ns || other->acked_ns <= row->began_ns;
}

// relate_numbers finds how many of the events come with each message, or messages with
// each event; false when the numbers do not fit.
static bool relate_numbers(uint32_t n, uint32_t m, struct tb_precedence *found)
{
	uint32_t less = n < m ? n : m, more = n < m ? m : n;
	uint32_t ratio = (more + less / 2) / less;
	uint32_t apart = more < ratio * less ? ratio * less - more : more - ratio * less;
	uint32_t allowed = more / UNEQUAL_PER;
	found->times = n < m ? ratio : 1;
	found->per = n < m ? 1 : ratio;
	return ratio <= TIMES_MAX &&
	       apart <= (allowed < UNEQUAL_LEAST ? UNEQUAL_LEAST : allowed);
}

static int64_t unshifted(const struct tb_precedence *precedence, uint32_t j)
{
	return ((int64_t)j + precedence->phase) * precedence->times / precedence->per;
}

// second_least returns the second least of a few numbers: one exception is allowed.
static int32_t second_least(const int32_t *numbers, uint32_t n)
{
	int32_t least = INT32_MAX, second = INT32_MAX;
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

// shift_all finds for each of the members the most that holds for its neighbours but one,
// where `before` has the events that came before each. A rule for all members at once
// would not survive a message that was not recognised. Returns the sum of the shifts.
static int64_t shift_all(const struct tb_precedence *found, const uint32_t *before,
	int32_t *scratch, int32_t *shifts, uint32_t n)
{
	int64_t sum = 0;
	for (uint32_t j = 0; j < n; j++)
		scratch[j] = (int32_t)((int64_t)before[j] - unshifted(found, j));
	for (uint32_t j = 0; j < n; j++) {
		uint32_t first = j < NEIGHBOURS ? 0 : j - NEIGHBOURS;
		uint32_t end = n - j <= NEIGHBOURS ? n : j + NEIGHBOURS + 1;
		shifts[j] = second_least(scratch + first, end - first) - 1;
		sum += shifts[j];
	}
	return sum;
}

static void count_before(uint32_t *before, const struct tb_classes *classes,
	const struct tb_message_list *list, uint32_t class,
	const struct tb_precedence *found)
{
	uint32_t n = tb_classes_size(classes, class);
	uint32_t m = tb_classes_size(classes, found->class);
	const uint32_t *own = classes->members + classes->first[class];
	const uint32_t *others = classes->members + classes->first[found->class];
	uint32_t passed = 0;
	for (uint32_t j = 0; j < n; j++) {
		while (passed < m &&
			comes_before(list, others[passed], found->is_call, own[j]))
			passed++;
		before[j] = passed;
	}
}

// relate chooses the phase that asks for the latest events, and puts the shifts of the
// members behind those of the other precedences.
static int relate(struct tb_precedences *precedences, const struct tb_classes *classes,
	const struct tb_message_list *list, uint32_t class, struct tb_precedence *found)
{
	uint32_t n = tb_classes_size(classes, class);
	int status = TB_ARRAY_RESERVE(
		&precedences->scratch, &precedences->scratch_room, (size_t)2 * n);
	if (status == TB_OK)
		status = TB_ARRAY_RESERVE(
			&precedences->before, &precedences->before_room, (size_t)n);
	if (status == TB_OK)
		status = TB_ARRAY_RESERVE(&precedences->shifts, &precedences->shifts_room,
			precedences->n_shifts + n);
	if (status != TB_OK)
		return status;
	count_before(precedences->before, classes, list, class, found);
	struct tb_precedence tried = *found;
	int32_t *shifts = precedences->scratch + n;
	int64_t best = INT64_MIN;
	for (tried.phase = 0; tried.phase < tried.per; tried.phase++) {
		int64_t sum = shift_all(
			&tried, precedences->before, precedences->scratch, shifts, n);
		int64_t reached = sum * tried.per + (int64_t)n * tried.phase;
		if (reached <= best)
			continue;
		best = reached;
		*found = tried;
		memcpy(precedences->shifts + precedences->n_shifts, shifts,
			n * sizeof *shifts);
	}
	found->shifts = precedences->n_shifts;
	return TB_OK;
}

static int consider(struct tb_precedences *precedences, const struct tb_classes *classes,
	const struct tb_message_list *list, uint32_t class, struct tb_precedence found)
{
	uint32_t n = tb_classes_size(classes, class);
	uint32_t m = tb_classes_size(classes, found.class);
	if (m < TB_RECURS_FROM || !relate_numbers(n, m, &found))
		return TB_OK;
	int status = relate(precedences, classes, list, class, &found);
	if (status != TB_OK)
		return status;
	precedences->n_shifts += n;
	status = TB_ARRAY_RESERVE(
		&precedences->rows, &precedences->room, precedences->n + 1);
	if (status == TB_OK)
		precedences->rows[precedences->n++] = found;
	return status;
}

int tb_precedences_find(struct tb_precedences *precedences,
	const struct tb_classes *classes, const struct tb_message_list *list,
	uint32_t class)
{
	precedences->n = precedences->n_shifts = 0;
	if (tb_classes_size(classes, class) < TB_RECURS_FROM)
		return TB_OK;
	uint32_t node = list->rows[classes->members[classes->first[class]]].source;
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

void tb_precedences_fini(struct tb_precedences *precedences)
{
	free(precedences->rows);
	free(precedences->scratch);
	free(precedences->before);
	free(precedences->shifts);
	*precedences = (struct tb_precedences){0};
}

uint32_t tb_precedence_event(const struct tb_precedences *precedences, size_t row,
	const struct tb_classes *classes, const struct tb_message_list *list,
	uint32_t message)
{
	const struct tb_precedence *precedence = &precedences->rows[row];
	int64_t place = unshifted(precedence, classes->place[message]) +
			precedences->shifts[precedence->shifts + classes->place[message]];
	if (place < 0 || place >= tb_classes_size(classes, precedence->class))
		return UINT32_MAX;
	uint32_t event =
		classes->members[classes->first[precedence->class] + (uint32_t)place];
	return comes_before(list, event, precedence->is_call, message) ? event
								       : UINT32_MAX;
}

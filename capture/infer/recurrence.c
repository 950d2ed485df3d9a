#include "array.h"
#include "hash.h"
#include "infer_impl.h"
#include "order.h"

#include <stdlib.h>
#include <string.h>

#define SIZES_MAX                                                                        \
	8 // a pair with more has its events distinguished by their place in the program
#define PLACE 8 // calls before a message that make up its place

struct message_of_class {
	uint32_t source, destination;
	uint64_t kind; // bytes, or a hash of the place
	uint32_t message;
};

TB_ORDER_BY(order_by_class, struct message_of_class,
	TB_UP(source) TB_UP(destination) TB_UP(kind) TB_UP(message))

void tb_classes_fini(struct tb_classes *classes)
{
	free(classes->first);
	free(classes->members);
	free(classes->of);
	free(classes->place);
	free(classes->by_place);
	free(classes->got);
	free(classes->pairs);
	free(classes->by_pair);
	*classes = (struct tb_classes){0};
}

static bool allocate_classes(struct tb_classes *classes, size_t n)
{
	classes->first = malloc((n + 1) * sizeof *classes->first);
	classes->members = malloc((n + 1) * sizeof *classes->members);
	classes->of = malloc((n + 1) * sizeof *classes->of);
	classes->place = malloc((n + 1) * sizeof *classes->place);
	classes->by_place = calloc(n + 1, sizeof *classes->by_place);
	classes->got = malloc((n + 1) * sizeof *classes->got);
	classes->pairs = malloc((n + 1) * sizeof *classes->pairs);
	classes->by_pair = malloc((n + 1) * sizeof *classes->by_pair);
	return classes->pairs && classes->by_pair && classes->first && classes->members &&
	       classes->of && classes->place && classes->by_place && classes->got;
}

static bool is_same_class_pair(
	const struct message_of_class *x, const struct message_of_class *y)
{
	return x->source == y->source && x->destination == y->destination;
}

// mark_many marks the messages of pairs with many sizes, given keys in order; returns
// whether there are any.
static bool mark_many(
	struct tb_classes *classes, const struct message_of_class *keys, size_t n)
{
	bool any = false;
	for (size_t i = 0, end; i < n; i = end) {
		uint32_t sizes = 1;
		for (end = i + 1; end < n && is_same_class_pair(&keys[end], &keys[i]);
			end++)
			sizes += keys[end].kind != keys[end - 1].kind;
		for (size_t k = i; sizes > SIZES_MAX && k < end; k++)
			classes->by_place[keys[k].message] = any = true;
	}
	return any;
}

// hash_place hashes to whom a node sent last, the latest first.
static uint64_t hash_place(const uint32_t *recent)
{
	uint64_t hash = TB_HASH_BEGIN;
	for (uint32_t k = 0; k < PLACE; k++)
		hash = tb_hash_word(hash, recent[k]);
	return hash;
}

uint64_t *tb_message_places(const struct tb_message_list *list, uint32_t n_nodes)
{
	uint32_t(*recent)[PLACE] = calloc(n_nodes + 1u, sizeof *recent);
	uint64_t *places = malloc((list->n + 1) * sizeof *places);
	// Messages leave a node in the order in which it called for them.
	for (size_t i = 0; recent && places && i < list->n; i++) {
		const struct tb_inferred_message *row = tb_message_list_at(list, i);
		uint32_t *of = recent[row->source];
		places[i] = hash_place(of);
		memmove(of + 1, of, (PLACE - 1) * sizeof *of);
		of[0] = row->destination + 1;
	}
	if (!recent) {
		free(places);
		return NULL;
	}
	free(recent);
	return places;
}

// sort_keys puts the messages of a class together. Marked ones have their places instead
// of their sizes.
static void sort_keys(struct tb_classes *classes, struct message_of_class *keys,
	const struct tb_message_list *list, const uint64_t *places)
{
	for (size_t i = 0; i < list->n; i++)
		keys[i] = (struct message_of_class){list->rows[i].source,
			list->rows[i].destination, list->rows[i].bytes, (uint32_t)i};
	qsort(keys, list->n, sizeof *keys, order_by_class);
	if (!mark_many(classes, keys, list->n))
		return;
	for (size_t i = 0; i < list->n; i++)
		if (classes->by_place[keys[i].message])
			keys[i].kind = places[keys[i].message];
	qsort(keys, list->n, sizeof *keys, order_by_class);
}

// list_class_pairs fills pairs and by_pair.
static void list_class_pairs(
	struct tb_classes *classes, const struct message_of_class *keys, size_t n)
{
	for (size_t i = 0, end; i < n; i = end) {
		for (end = i; end < n && is_same_class_pair(&keys[end], &keys[i]); end++)
			classes->by_pair[end] = keys[end].message;
		qsort(classes->by_pair + i, end - i, sizeof *classes->by_pair,
			tb_order_u32);
		classes->pairs[classes->n_pairs++] =
			(struct tb_ordered_pair){keys[i].source, keys[i].destination,
				(uint32_t)i, (uint32_t)(end - i)};
	}
}

TB_ORDER_BY(compare_pairs, struct tb_ordered_pair, TB_UP(source) TB_UP(destination))

// classes_pair returns an ordered pair, or NULL when it has no messages.
static const struct tb_ordered_pair *classes_pair(
	const struct tb_classes *classes, uint32_t source, uint32_t destination)
{
	const struct tb_ordered_pair wanted = {source, destination, 0, 0};
	return bsearch(
		&wanted, classes->pairs, classes->n_pairs, sizeof wanted, compare_pairs);
}

int tb_classes_find(struct tb_classes *classes, const struct tb_message_list *list,
	const uint64_t *places, uint32_t node)
{
	struct tb_classes made = {.node = node};
	struct message_of_class *keys = malloc((list->n + 1) * sizeof *keys);
	if (!keys || !allocate_classes(&made, list->n)) {
		free(keys);
		tb_classes_fini(&made);
		return TB_ENOMEM;
	}
	sort_keys(&made, keys, list, places);
	// Give each message its class and its place.
	size_t n = list->n;
	for (size_t i = 0; i < n; i++) {
		bool begins = i == 0 || !is_same_class_pair(&keys[i], &keys[i - 1]) ||
			      keys[i].kind != keys[i - 1].kind;
		if (begins)
			made.first[made.n++] = (uint32_t)i;
		uint32_t class = made.n - 1;
		made.members[i] = keys[i].message;
		made.of[keys[i].message] = class;
		made.place[keys[i].message] = (uint32_t)i - made.first[class];
	}
	made.first[made.n] = (uint32_t)n;
	list_class_pairs(&made, keys, list->n);
	// Classes of one source stand together.
	for (uint32_t c = 0; c < made.n; c++) {
		const struct message_of_class *key = &keys[made.first[c]];
		made.sent += key->source < node;
		made.sent_end += key->source <= node;
		if (key->destination == node)
			made.got[made.n_got++] = c;
	}
	free(keys);
	*classes = made;
	return TB_OK;
}

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

// The two least of the numbers in a window that moves on, and where they are.
struct least_two {
	const int64_t *numbers;
	uint32_t end; // of the window
	uint32_t least, second;
};

// second_least returns the second least number of [first, end), of one number that:
// one exception is allowed. `two` is of a window before, or zeroed.
static int64_t second_least(
	struct least_two *two, const int64_t *numbers, uint32_t first, uint32_t end)
{
	if (two->numbers != numbers || two->least < first || two->second < first) {
		two->numbers = numbers;
		two->least = two->second = first;
		two->end = first + 1;
	}
	for (; two->end < end; two->end++) {
		int64_t number = numbers[two->end];
		bool is_alone = two->least == two->second;
		if (number <= numbers[two->least]) {
			two->second = two->least;
			two->least = two->end;
		} else if (is_alone || number <= numbers[two->second]) {
			two->second = two->end;
		}
	}
	return numbers[two->second];
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
	struct least_two two = {0};
	for (uint32_t j = 0; j < n; j++)
		for (int may = 0; may < 2; may++)
			steps->ahead[may][j] = steps->came[may][j] - steps->due[j];
	for (uint32_t j = 0; j < n; j++) {
		for (; end < n && end <= j + NEIGHBOURS; end++)
			n_seen += steps->seen[end];
		for (; first + NEIGHBOURS < j; first++)
			n_seen -= steps->seen[first];
		const int64_t *ahead = steps->ahead[n_seen >= TB_RECURS_FROM];
		places[j] = steps->due[j] + second_least(&two, ahead, first, end) - 1;
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
	TB_THEN(status, TB_ARRAY_RESERVE(&steps->seen, &steps->seen_room, (size_t)n));
	TB_THEN(status, TB_ARRAY_RESERVE(&precedences->places, &precedences->places_room,
				precedences->n_places + n));
	TB_THEN(status, TB_ARRAY_NEXT(precedences, rows));
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
		classes_pair(classes, pair->destination, pair->source);
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
		classes_pair(classes, row->destination, row->source);
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
		places[j] = tb_min_i64(places[j], steps->due[j]);
	add_precedence_row(precedences, &found, n);
	return TB_OK;
}

// find_by_place looks at the other direction of the pairs of a node; its own calls are in
// the place of the class already.
static int find_by_place(struct tb_precedences *precedences,
	const struct tb_classes *classes, const struct tb_message_list *list,
	uint32_t class)
{
	int status = TB_OK;
	for (uint32_t i = 0, last = UINT32_MAX; status == TB_OK && i < classes->n_got;
		i++) {
		uint32_t got = classes->got[i], node = classes->node;
		uint32_t from = list->rows[classes->members[classes->first[got]]].source;
		const struct tb_ordered_pair *there = classes_pair(classes, node, from);
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
	uint32_t class)
{
	int status = TB_OK;
	for (uint32_t i = 0; status == TB_OK && i < classes->n_got; i++)
		status = consider(precedences, classes, list, class,
			(struct tb_precedence){.class = classes->got[i]});
	for (uint32_t c = classes->sent; status == TB_OK && c < classes->sent_end; c++)
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
	return classes->by_place[first] ? find_by_place(precedences, classes, list, class)
					: find_by_size(precedences, classes, list, class);
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

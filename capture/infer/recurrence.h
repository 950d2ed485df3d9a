// Which events precede each message of a class in every repetition: rule L8 of
// docs/closed-loop.md.
#ifndef TB_RECURRENCE_H
#define TB_RECURRENCE_H

#include "classes.h"

#define TB_RECURS_FROM 4 // repetitions of an event that show a rule

// What comes before each member of the class in question: deliveries to its source, or
// calls of that, each the `event` at a place among `n_others`.
struct tb_precedence {
	uint32_t class; // that these are, or UINT32_MAX: messages of a pair
	bool is_call;
	const uint32_t *others;
	uint32_t n_others;
	size_t places; // where those of the members begin
};

// Of each member of the class in question, while a precedence is looked for. Where two:
// what came before its call for sure, and what may have.
struct tb_steps {
	int64_t *rows; // room for all of these
	size_t rows_room;
	int64_t *came[2];
	int64_t *due;	   // that keep step with the members
	int64_t *ahead[2]; // came, less due
	int64_t *tried;	   // places
	bool *seen;	   // its call is not hidden
	size_t seen_room;
};

struct tb_precedences {
	struct tb_precedence *rows;
	size_t n, room;
	struct tb_steps steps;
	int64_t *places; // below 0: none
	size_t n_places, places_room;
	int64_t *due; // by message of a pair that is answered: see tb_precedences_begin
};

// tb_precedences_begin finds for each message of a pair, of which as many come back, the
// place of the last of these that regularly came before it.
int tb_precedences_begin(struct tb_precedences *precedences,
	const struct tb_classes *classes, const struct tb_message_list *list) TB_MUST_USE;

// tb_precedence_is_early returns whether a delivery came before it was due: before the
// other messages of its pair come at the place of `message`.
bool tb_precedence_is_early(const struct tb_precedences *precedences,
	const struct tb_classes *classes, const struct tb_message_list *list,
	uint32_t event, uint32_t message);

// tb_precedences_find replaces the rows by those of `class`. Cost: the members of all
// classes of its source that are about as many, or the messages of its pairs.
int tb_precedences_find(struct tb_precedences *precedences,
	const struct tb_classes *classes, const struct tb_message_list *list,
	uint32_t class) TB_MUST_USE;
void tb_precedences_fini(struct tb_precedences *precedences);

// tb_precedence_event returns what comes before a message of the class, or UINT32_MAX
// when there is none, or it came later this time.
uint32_t tb_precedence_event(const struct tb_precedences *precedences, size_t row,
	const struct tb_classes *classes, const struct tb_message_list *list,
	uint32_t message);

#endif

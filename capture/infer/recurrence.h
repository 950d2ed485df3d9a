// Which events precede each message of a class in every repetition: rule L8 of
// docs/closed-loop.md.
#ifndef TB_RECURRENCE_H
#define TB_RECURRENCE_H

#include "classes.h"

#define TB_RECURS_FROM 4 // repetitions of an event that show a rule

// Before member j of the class in question comes member (j + phase) * times / per +
// shifts[j]
// of `class`: its call if that class has the same source, else its delivery. One of
// `times` and `per` is 1: an iteration of a program may hold several of an event.
struct tb_precedence {
	uint32_t class;
	bool is_call;
	uint32_t times, per;
	uint32_t phase; // below `per`
	size_t shifts;	// where those of the members begin
};

struct tb_precedences {
	struct tb_precedence *rows;
	size_t n, room;
	int32_t *scratch;
	size_t scratch_room;
	uint32_t *before;
	size_t before_room;
	int32_t *shifts;
	size_t n_shifts, shifts_room;
};

// tb_precedences_find replaces the rows by those of `class`. Cost: the members of all
// classes of its source that are about as many.
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

// The search for causes, as causes.c, which finds what is likely, and causes_bounds.c
// have it. Private to capture/infer/.
#ifndef TB_CAUSES_IMPL_H
#define TB_CAUSES_IMPL_H

#include "infer_impl.h"

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
	struct tb_causes *made;	  // what is likely, then the bounds
	uint32_t bound, n_bounds;
	const struct tb_message_list *list;
	struct tb_classes classes;
	struct tb_precedences precedences;
	struct gaps gaps;
	int64_t begin_ns;
	uint32_t *nearest; // by message: the last delivery to its source before; NONE
	uint32_t
		*earlier; // by message: the last delivery to its destination before; NONE
	uint32_t *latest; // by message: the last delivery to its source before it left
	uint32_t *previous; // by message: the call of its source before; NONE
	struct window_closing *closings; // by number
	int64_t *busy_ns; // by message: until when those before kept its source busy
	struct cause_event events[CANDIDATES_MAX];
	uint32_t n_events;
};

// tb_causes_add_event adds a delivery or a call to the events in question, once.
void tb_causes_add_event(struct cause_search *search, uint32_t message, bool is_call);

// tb_causes_add_preceding adds what comes before a message in every repetition.
void tb_causes_add_preceding(struct cause_search *search, uint32_t message);

// tb_causes_last_event returns when the last of the events was.
int64_t tb_causes_last_event(const struct cause_search *search);

// tb_causes_gap returns the computation of a message's sender from `last_ns` until it
// called at `at_ns`: that time, less what its connection could not send.
int64_t tb_causes_gap(
	const struct tb_inferred_message *message, int64_t last_ns, int64_t at_ns);

// tb_causes_keep writes the events down as the causes of a message, less those that
// follow from others. TB_ENOMEM.
int tb_causes_keep(struct cause_search *search, uint32_t message) TB_MUST_USE;

// tb_causes_settle_bound writes down the causes and the gap of a message in the bound in
// question.
int tb_causes_settle_bound(struct cause_search *search, uint32_t message) TB_MUST_USE;

#endif

// The parts of the view of ranks: view_ranks.c has the question and what a user does,
// rank_head.c what is above the rows, rank_rows.c the rows of ranks and links,
// rank_calls.c the calls in them, rank_held.c what held a span up and what a link held
// up.
#ifndef TB_RANK_IMPL_H
#define TB_RANK_IMPL_H

#include "held_up.h"
#include "run_timeline.h"
#include "view.h"

#define TB_RANKS_PAD	  16
#define TB_RANKS_GUTTER	  150 // for names
#define TB_RANKS_AXIS_H	  26
#define TB_RANKS_LOW_H	  400 // in less, legends and links have fewer lines
#define TB_RANKS_LINKS	  8
#define TB_RANKS_COLUMNS  512
#define TB_RANKS_LEGEND_H 24

struct tb_ranks_answer {
	struct tb_timeline timeline; // its run belongs to the reader
	double *heat;		     // by link and column
	double most;		     // of them
};

struct tb_ranks_question {
	struct tb_question question;
	tb_time_ps from_ps, to_ps; // that is asked or answered
	struct tb_ranks_answer made, shown;
	bool has_shown;
	uint64_t n_taken; // answers
};

// What a click chose: a span of a rank, or a call. Its number is that of its pick,
// TB_PICK_SPAN.
struct tb_rank_choice {
	struct tb_rank_span span; // of a call `peer` is TB_ID_NONE
	bool is_call;
	char name[192]; // "rank 3 sends to rank 7"
};

struct tb_rank_held_question {
	struct tb_question question;
	struct tb_held_up held; // of the run, once it was read
	bool has_held;
	struct tb_pick at; // that is asked or answered: a choice, or a link
	struct tb_rank_span asked;
	struct tb_held_list list;
};

struct tb_ranks {
	struct tb_ranks_question asked;
	struct tb_rank_held_question held;
	struct tb_rank_choice *choices;
	size_t n_choices, choices_room;
	enum tb_timeline_order order;
	size_t *chosen; // numbers of the ranks that have a row
	size_t n_chosen;
	struct {
		uint64_t n_taken;
		size_t most;
		enum tb_timeline_order order;
		struct tb_pick selected;
	} laid;	      // what `chosen` is of
	double top_h; // of all above the ranks
};

static inline struct tb_ranks *tb_ranks_of(const struct tb_pane *pane)
{
	return pane->state;
}

static inline const struct tb_timeline *tb_ranks_shown(const struct tb_pane *pane)
{
	return &tb_ranks_of(pane)->asked.shown.timeline;
}

// tb_ranks_area returns the place of the rows; tb_ranks_x where an instant is in it.
struct tb_box tb_ranks_area(const struct tb_pane *pane);
double tb_ranks_x(const struct tb_pane *pane, tb_time_ps at_ps);

// rank_head.c: title, order, what the critical path is made of, legend. The height is
// that of all of it.
double tb_ranks_head_h(const struct tb_pane *pane);
void tb_ranks_head_draw(struct tb_pane *pane, struct tb_picture *picture);
struct tb_colour tb_ranks_span_colour(const struct tb_style *style, uint32_t kind);
struct tb_colour tb_ranks_step_colour(const struct tb_style *style, uint32_t cause);

// rank_rows.c.
void tb_ranks_rows_draw(struct tb_pane *pane, struct tb_picture *picture);
// tb_ranks_row returns the row of a rank, or -1.
double tb_ranks_row(const struct tb_pane *pane, uint32_t job, uint32_t rank);

// tb_ranks_span_text writes "rank 3 sends to rank 7".
char *tb_ranks_span_text(const struct tb_rank_span *span, char *buffer, size_t size);

// rank_held.c. tb_ranks_choose returns the pick of a span or call, none without memory;
// tb_ranks_choice the choice of a pick, NULL when it has none.
struct tb_pick tb_ranks_choose(
	struct tb_ranks *ranks, const struct tb_rank_choice *choice);
const struct tb_rank_choice *tb_ranks_choice(
	const struct tb_pane *pane, struct tb_pick pick);
// tb_ranks_held returns the links that held the selected choice up, or the spans that the
// selected link held up; NULL while that is not known.
const struct tb_held_list *tb_ranks_held(const struct tb_pane *pane);
// tb_ranks_held_draw frames what is selected, and these spans, in rows from `top` on that
// are `h` high.
void tb_ranks_held_draw(
	struct tb_pane *pane, struct tb_picture *picture, double top, double h);
void tb_ranks_held_fini(struct tb_ranks *ranks);

#endif

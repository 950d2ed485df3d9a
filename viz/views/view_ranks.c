// Ranks: what each rank did over the window, the critical path through them, and below,
// over the same axis, the hottest links. Along the top of a rank's row are its calls. The
// wheel zooms the axis, which is the window that all views show. A step that was held up
// selects the link where its flow waited longest; where a link is selected, the steps
// that it held up have a frame.
#include "array.h"
#include "detail.h"
#include "held_up.h"
#include "panes.h"
#include "parts.h"
#include "run_timeline.h"
#include "scale.h"
#include "view.h"
#include "views.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define RANKS_PAD      16
#define RANKS_GUTTER   150 // for names
#define RANKS_LINKS    8
#define RANKS_COLUMNS  512
#define CALLS_H	       4 // of the band
#define RANKS_AXIS_H   26
#define RANKS_LOW_H    400 // in less, legends and links have fewer lines
#define RANKS_LEGEND_H 24

struct ranks_answer {
	struct tb_timeline timeline; // its run belongs to the reader
	double *heat;		     // by link and column
	double most;		     // of them
};

struct ranks_question {
	struct tb_question question;
	tb_time_ps from_ps, to_ps; // that is asked or answered
	struct ranks_answer made, shown;
	bool has_shown;
	uint64_t n_taken; // answers
};

// What a click chose: a span of a rank, or a call. Its number is that of its pick,
// TB_PICK_SPAN.
struct rank_choice {
	struct tb_rank_span span; // of a call `peer` is TB_ID_NONE
	bool is_call;
	char name[192]; // "rank 3 sends to rank 7"
};

struct rank_held_question {
	struct tb_question question;
	struct tb_held_up held; // of the run, once it was read
	bool has_held;
	struct tb_pick at; // that is asked or answered: a choice, or a link
	struct tb_rank_span asked;
	struct tb_held_list list;
};

struct ranks_layout {
	uint64_t n_taken, most, first, n_columns, order, is_open;
	struct tb_pick selected;
};

struct tb_ranks {
	struct ranks_question asked;
	struct rank_held_question held;
	struct rank_choice *choices;
	size_t n_choices, choices_room;
	enum tb_timeline_order order;
	size_t *chosen; // numbers of the ranks that have a row, of the first of a group
	size_t n_chosen;
	size_t group;	  // ranks a row, of one job; 1: each has its own
	double *shares;	  // by group, column, and kind of span or call
	size_t n_columns; // of these
	bool is_open;	  // not in groups: those of the order from `first` on
	size_t first;
	struct ranks_layout laid; // what `chosen` is of
	double top_h;		  // of all above the ranks
};

static inline struct tb_ranks *tb_ranks_of(const struct tb_pane *pane)
{
	return pane->state;
}

static inline const struct tb_timeline *tb_ranks_shown(const struct tb_pane *pane)
{
	return &tb_ranks_of(pane)->asked.shown.timeline;
}

#define CALL_HUES 4 // kinds of calls that are told apart, the last with all others

// rank_calls_colour returns the colour of a kind of calls.
static struct tb_colour rank_calls_colour(const struct tb_style *style, uint32_t kind)
{
	// The hues that neither spans nor steps have.
	static const uint32_t hues[CALL_HUES] = {1, 5, 6, 7};
	return tb_job_colour(style->theme, hues[kind]);
}

// rank_calls_kind returns the number of a sort's kind: sorts are ordered by it.
static uint32_t rank_calls_kind(const struct tb_call_spans *calls, uint32_t sort)
{
	uint32_t kind = 0;
	for (uint32_t i = 1; i <= sort; i++)
		kind += strcmp(calls->sorts[i].kind, calls->sorts[i - 1].kind) != 0;
	return kind;
}

// call_hue returns the number of its colour.
static uint32_t call_hue(const struct tb_call_spans *calls, uint32_t sort)
{
	uint32_t kind = rank_calls_kind(calls, sort);
	return kind < CALL_HUES ? kind : CALL_HUES - 1;
}

static double call_x(
	const struct tb_timeline *timeline, struct tb_box row, tb_time_ps at_ps)
{
	double share = (double)(at_ps - timeline->from_ps) /
		       (double)(timeline->to_ps - timeline->from_ps);
	return row.x + row.w * fmin(fmax(share, 0), 1);
}

// rank_calls_draw draws the calls of a rank into `row`, which shows the timeline's
// span of time. A call's pick is the cell behind those of all spans, by its number.
static void rank_calls_draw(struct tb_picture *picture, const struct tb_style *style,
	const struct tb_timeline *timeline, const struct tb_timeline_rank *rank,
	struct tb_box row)
{
	double drawn = row.x - 1;
	for (size_t i = rank->first_call; i < rank->first_call + rank->n_calls; i++) {
		const struct tb_called *call = &timeline->calls.calls[i];
		double from = call_x(timeline, row, call->from_ps);
		double to = fmax(call_x(timeline, row, call->to_ps), from + 1);
		// Of several within a pixel the first stands for all.
		if (to - drawn < 1)
			continue;
		tb_picture_rect(picture, (struct tb_box){from, row.y, to - from, CALLS_H},
			rank_calls_colour(style, call_hue(&timeline->calls, call->sort)));
		tb_picture_pick(picture, (struct tb_pick){TB_PICK_CELL,
						 (uint32_t)(timeline->times.n + i)});
		drawn = to;
	}
}

// rank_calls_choose fills in the choice of the call of a cell; false when it is none.
static bool rank_calls_choose(
	const struct tb_timeline *timeline, uint32_t cell, struct rank_choice *choice)
{
	const struct tb_call_spans *calls = &timeline->calls;
	char name[150];
	if (cell < timeline->times.n || cell - timeline->times.n >= calls->n)
		return false;
	const struct tb_called *call = &calls->calls[cell - timeline->times.n];
	*choice = (struct rank_choice){.is_call = true,
		.span = {.job = call->job,
			.rank = call->rank,
			.peer = TB_ID_NONE,
			.from_ps = call->from_ps,
			.to_ps = call->to_ps,
			.n = 1}};
	snprintf(choice->name, sizeof choice->name, "rank %" PRIu32 " calls %s",
		call->rank,
		tb_call_sort_name(&calls->sorts[call->sort], name, sizeof name));
	return true;
}

// rank_calls_tip describes the call of a pick, if it is one.
static void rank_calls_tip(const struct tb_timeline *timeline, struct tb_tip *tip)
{
	struct rank_choice choice;
	if (tip->pick.kind != TB_PICK_CELL ||
		!rank_calls_choose(timeline, tip->pick.index, &choice))
		return;
	tb_tip_line(tip, 0, "%s", choice.name);
	tb_tip_line(tip, 1, "%s to %s: %s", TB_TIME_TEXT(choice.span.from_ps),
		TB_TIME_TEXT(choice.span.to_ps),
		TB_TIME_TEXT(choice.span.to_ps - choice.span.from_ps));
}

// From a span of a rank, or a call, to the links that held it up, and from a link to the
// spans that it held up (analyze/questions/held_up.h): the question, frames in the rows,
// and sheets of the panel.

#define FRAMES 500 // of spans, the longest waits first
#define LINKS  30  // that a sheet lists, and spans
#define SPANS  8

static bool same_span(const struct rank_choice *a, const struct rank_choice *b)
{
	return a->is_call == b->is_call && a->span.job == b->span.job &&
	       a->span.rank == b->span.rank && a->span.from_ps == b->span.from_ps &&
	       a->span.to_ps == b->span.to_ps && strcmp(a->name, b->name) == 0;
}

// ranks_choose returns the pick of a span or call, none without memory;
// ranks_choice the choice of a pick, NULL when it has none.
static struct tb_pick ranks_choose(
	struct tb_ranks *ranks, const struct rank_choice *choice)
{
	size_t i = 0;
	while (i < ranks->n_choices && !same_span(&ranks->choices[i], choice))
		i++;
	if (i == ranks->n_choices) {
		if (TB_ARRAY_RESERVE(&ranks->choices, &ranks->choices_room, i + 1) !=
			TB_OK)
			return (struct tb_pick){TB_PICK_NONE, 0};
		ranks->choices[ranks->n_choices++] = *choice;
	}
	return (struct tb_pick){TB_PICK_SPAN, (uint32_t)i};
}

static const struct rank_choice *ranks_choice(
	const struct tb_pane *pane, struct tb_pick pick)
{
	const struct tb_ranks *ranks = tb_ranks_of(pane);
	return ranks && pick.kind == TB_PICK_SPAN && pick.index < ranks->n_choices
		       ? &ranks->choices[pick.index]
		       : NULL;
}

static int read_held(
	struct tb_question *question, struct tb_run *run, struct tb_error *error)
{
	struct rank_held_question *asked = (struct rank_held_question *)question;
	int status = asked->has_held ? TB_OK : tb_held_up_init(&asked->held, run, error);
	if (status)
		return status;
	asked->has_held = true;
	return asked->at.kind == TB_PICK_LINK
		       ? tb_held_spans(&asked->held, run,
				 (struct tb_link){asked->at.index}, &asked->list, error)
		       : tb_held_links(
				 &asked->held, run, &asked->asked, &asked->list, error);
}

// ask_for makes the selection what is asked for next, unless something is under way.
static bool ask_for(const struct tb_pane *pane, struct rank_held_question *asked)
{
	struct tb_pick selected = pane->selection->selected;
	const struct rank_choice *choice = ranks_choice(pane, selected);
	if (!choice && selected.kind != TB_PICK_LINK)
		return false;
	if (asked->question.state == TB_ASKED)
		return true;
	if (!asked->question.read)
		asked->question = (struct tb_question){
			.what = "finding what held spans up", .read = read_held};
	if (!tb_pick_equal(asked->at, selected))
		asked->question.state = TB_UNASKED;
	asked->at = selected;
	if (choice)
		asked->asked = choice->span;
	return true;
}

// ranks_held returns the links that held the selected choice up, or the spans that the
// selected link held up; NULL while that is not known.
static const struct tb_held_list *ranks_held(const struct tb_pane *pane)
{
	struct rank_held_question *asked =
		tb_ranks_of(pane) ? &tb_ranks_of(pane)->held : NULL;
	struct tb_error error;
	int status = 0;
	// An answer may still be that of the selection before.
	for (int i = 0; i < 2 && asked && status >= 0; i++) {
		if (!ask_for(pane, asked))
			return NULL;
		if (asked->question.state == TB_REFUSED)
			return NULL; // it has been reported
		status = tb_viewer_put(pane->viewer, &asked->question, &error);
		if (status > 0 && tb_pick_equal(asked->at, pane->selection->selected))
			return &asked->list;
	}
	if (status < 0)
		tb_viewer_report(pane->viewer, &error);
	return NULL;
}

// group_end returns the number behind a group of `n` ranks that begins at one.
static size_t group_end(const struct tb_timeline *timeline, size_t begin, size_t n)
{
	const struct tb_timeline_rank *ranks = timeline->ranks;
	size_t end = begin + 1;
	while (end < timeline->n_ranks && ranks[end].job == ranks[begin].job &&
		ranks[end].rank / n == ranks[begin].rank / n)
		end++;
	return end;
}

// ranks_row returns the row of a rank, or -1.
static double ranks_row(const struct tb_pane *pane, uint32_t job, uint32_t rank)
{
	const struct tb_ranks *ranks = tb_ranks_of(pane);
	const struct tb_timeline *timeline = tb_ranks_shown(pane);
	for (size_t i = 0; i < ranks->n_chosen; i++) {
		const struct tb_timeline_rank *one = &timeline->ranks[ranks->chosen[i]];
		size_t end = group_end(timeline, ranks->chosen[i], ranks->group);
		if (one->job == job && one->rank <= rank &&
			rank <= timeline->ranks[end - 1].rank)
			return (double)i;
	}
	return -1;
}

// ranks_area returns the place of the rows; ranks_x where an instant is in it.
static struct tb_box ranks_area(const struct tb_pane *pane)
{
	struct tb_box place = pane->place;
	return (struct tb_box){place.x + RANKS_GUTTER, place.y + tb_ranks_of(pane)->top_h,
		fmax(place.w - RANKS_GUTTER - RANKS_PAD, 1),
		fmax(place.h - tb_ranks_of(pane)->top_h - RANKS_AXIS_H, 1)};
}

static double ranks_x(const struct tb_pane *pane, tb_time_ps at_ps)
{
	const struct tb_timeline *timeline = tb_ranks_shown(pane);
	struct tb_box area = ranks_area(pane);
	double share = (double)(at_ps - timeline->from_ps) /
		       (double)(timeline->to_ps - timeline->from_ps);
	return area.x + area.w * fmin(fmax(share, 0), 1);
}

// frame_span draws a frame around a span of a rank that has a row and is in the window.
static void frame_span(struct tb_pane *pane, struct tb_picture *picture,
	const struct tb_rank_span *span, struct tb_box row, double width)
{
	const struct tb_timeline *timeline = tb_ranks_shown(pane);
	double i = ranks_row(pane, span->job, span->rank);
	double from = ranks_x(pane, span->from_ps), to = ranks_x(pane, span->to_ps);
	if (i < 0 || span->to_ps <= timeline->from_ps || span->from_ps >= timeline->to_ps)
		return;
	tb_picture_frame(picture,
		(struct tb_box){
			from - 1, row.y + i * row.h, fmax(to - from, 1) + 2, row.h - 1},
		width, tb_palette_of(pane->style->theme)->text);
}

// ranks_span_text writes "rank 3 sends to rank 7".
static char *ranks_span_text(const struct tb_pane *pane, const struct tb_rank_span *span,
	char *buffer, size_t size)
{
	const char *const doing[TB_SPAN_KINDS] = {tb_pane_computing(pane),
		"sends to rank", "receives from rank", "waits for rank"};
	char peer[24] = "";
	if (span->peer != TB_ID_NONE)
		snprintf(peer, sizeof peer, " %" PRIu32, span->peer);
	snprintf(buffer, size, "rank %" PRIu32 " %s%s", span->rank, doing[span->what],
		span->peer == TB_ID_NONE && span->what ? " several" : peer);
	return buffer;
}

// held_add lists them, as links or as spans.
static void held_add(const struct tb_detail *detail, struct tb_ranks *ranks,
	const struct tb_held_list *held, bool links)
{
	const struct tb_run *run = detail->pane->data->run;
	size_t most = links ? LINKS : SPANS;
	for (size_t i = 0; i < held->n && i < most; i++) {
		const struct tb_span_held *row = &held->rows[i];
		struct rank_choice choice = {.span = row->span};
		ranks_span_text(
			detail->pane, &row->span, choice.name, sizeof choice.name);
		struct tb_pick pick = links ? (struct tb_pick){TB_PICK_LINK, row->link.id}
					    : ranks_choose(ranks, &choice);
		struct tb_sheet_line *line = tb_sheet_item(detail->sheet, pick,
			links ? tb_run_links(run)[row->link.id].label : choice.name,
			TB_TIME_TEXT(row->wait_ps));
		line->to = (double)row->wait_ps / fmax((double)held->rows[0].wait_ps, 1);
	}
	if (held->n > most)
		tb_sheet_caption(detail->sheet, "and %zu more", held->n - most);
}

bool tb_ranks_span_sheet(const struct tb_detail *detail, struct tb_pick pick)
{
	const struct tb_pane *pane = tb_viewer_pane(detail->pane->viewer, &tb_view_ranks);
	const struct rank_choice *choice = pane ? ranks_choice(pane, pick) : NULL;
	if (!choice)
		return false;
	tb_sheet_heading(detail->sheet, choice->is_call ? "Call" : "Span", choice->name);
	const struct tb_rank_span *span = &choice->span;
	tb_sheet_row(detail->sheet, "from", TB_TIME_TEXT(span->from_ps));
	tb_sheet_row(detail->sheet, "to", TB_TIME_TEXT(span->to_ps));
	tb_sheet_row(detail->sheet, "takes", TB_TIME_TEXT(span->to_ps - span->from_ps));
	if (span->n > 1)
		tb_sheet_row(detail->sheet, "stands for",
			TB_COUNTED_TEXT(span->n, "short one"));
	tb_sheet_gap(detail->sheet);
	const struct tb_held_list *held = ranks_held(pane);
	if (!choice->is_call && choice->span.what == TB_SPAN_COMPUTE)
		tb_sheet_caption(
			detail->sheet, "no message is waited for: no link holds it up");
	else if (held && held->n == 0)
		tb_sheet_caption(detail->sheet, "no link is known to have held it up");
	else if (held) {
		tb_sheet_caption(
			detail->sheet, "links that held it up: its packets' wait, about");
		held_add(detail, tb_ranks_of(pane), held, true);
	}
	return true;
}

void tb_ranks_link_sheet(const struct tb_detail *detail)
{
	const struct tb_pane *pane = tb_viewer_pane(detail->pane->viewer, &tb_view_ranks);
	if (!pane || detail->pane->panes->main != pane)
		return;
	const struct tb_held_list *held = ranks_held(pane);
	if (!held || held->n == 0)
		return;
	tb_sheet_gap(detail->sheet);
	tb_sheet_caption(
		detail->sheet, "spans that it held up: their packets' wait, about");
	held_add(detail, tb_ranks_of(pane), held, false);
}

const char *tb_ranks_span_name(const struct tb_pane *pane, struct tb_pick pick)
{
	const struct tb_pane *ranks = tb_viewer_pane(pane->viewer, &tb_view_ranks);
	const struct rank_choice *choice = ranks ? ranks_choice(ranks, pick) : NULL;
	return choice ? choice->name : "the span";
}

// The rows: ranks with their spans, their calls and the critical path through them, and
// below them, over the same axis, the hottest links.

#define LOW_LINKS   3
#define ROW_MOST    22
#define ROW_LEAST   12 // of a rank with its calls
#define ROW_THIN    5  // of a rank, where all ranks have a row then
#define ROW_GROUP   17 // of a group of ranks
#define SHARES	    (TB_SPAN_KINDS + CALL_HUES) // of a group's time
#define CALLS_SHARE 0.02 // of a group's ranks are in calls that are drawn
#define PATH_MOST   6
#define PART	    4 // least pixels of what is drawn of a group
#define LINK_H	    15
#define GAP	    22	 // between ranks and links, for a line about both
#define COLUMN	    2	 // pixels
#define HOPS	    2000 // messages of the path that have a line, at most

// rank_row_links returns how many links have a row.
static uint32_t rank_row_links(const struct tb_pane *pane)
{
	uint32_t n = tb_ranks_shown(pane)->n_links;
	return pane->place.h < RANKS_LOW_H && n > LOW_LINKS ? LOW_LINKS : n;
}

// choose_groups chooses groups of ranks, as small as `most` rows allow.
static void choose_groups(
	struct tb_ranks *ranks, const struct tb_timeline *timeline, size_t most)
{
	size_t n = most + 1;
	while (n > most && ranks->group < timeline->n_ranks) {
		ranks->group *= 2;
		n = 0;
		for (size_t i = 0; i < timeline->n_ranks;
			i = group_end(timeline, i, ranks->group)) {
			if (n < most)
				ranks->chosen[n] = i;
			n++;
		}
	}
	ranks->n_chosen = n < most ? n : most;
}

// add_share adds [from_ps, to_ps) of a rank to a share of its group's time, by column.
static void add_share(struct tb_ranks *ranks, const struct tb_timeline *timeline,
	size_t group, uint32_t share, tb_time_ps from_ps, tb_time_ps to_ps)
{
	size_t begin = ranks->chosen[group];
	size_t n = group_end(timeline, begin, ranks->group) - begin;
	double column_ps =
		(double)(timeline->to_ps - timeline->from_ps) / (double)ranks->n_columns;
	double from = fmax((double)(from_ps - timeline->from_ps) / column_ps, 0);
	double to = (double)(to_ps - timeline->from_ps) / column_ps;
	for (size_t c = (size_t)from; c < ranks->n_columns && (double)c < to; c++)
		ranks->shares[(group * ranks->n_columns + c) * SHARES + share] +=
			(fmin(to, (double)c + 1) - fmax(from, (double)c)) / (double)n;
}

// fill_shares fills in which share of a group's time goes where, by column.
static void fill_shares(struct tb_ranks *ranks, const struct tb_timeline *timeline)
{
	const size_t n = ranks->n_chosen * ranks->n_columns * SHARES;
	free(ranks->shares);
	ranks->shares = calloc(n + 1, sizeof *ranks->shares);
	ranks->n_chosen = ranks->shares ? ranks->n_chosen : 0;
	for (size_t i = 0; i < ranks->n_chosen; i++) {
		size_t begin = ranks->chosen[i],
		       end = group_end(timeline, begin, ranks->group);
		for (size_t r = begin; r < end; r++) {
			const struct tb_timeline_rank *rank = &timeline->ranks[r];
			const struct tb_rank_span *spans =
				timeline->times.spans + rank->first_span;
			for (size_t k = 0; k < rank->n_spans; k++)
				add_share(ranks, timeline, i, spans[k].what,
					spans[k].from_ps, spans[k].to_ps);
			const struct tb_called *calls =
				timeline->calls.calls + rank->first_call;
			for (size_t k = 0; k < rank->n_calls; k++)
				add_share(ranks, timeline, i,
					TB_SPAN_KINDS +
						call_hue(&timeline->calls, calls[k].sort),
					calls[k].from_ps, calls[k].to_ps);
		}
	}
}

// rank_row_choose finds the ranks that have room in `h` pixels, unless they are known.
static void rank_row_choose(const struct tb_pane *pane, double h)
{
	struct tb_ranks *ranks = tb_ranks_of(pane);
	const struct tb_timeline *timeline = tb_ranks_shown(pane);
	struct tb_pick selected = pane->selection->selected;
	const struct rank_choice *choice = ranks_choice(pane, selected);
	bool whole = ranks->order == TB_RANKS_BY_JOB && !ranks->is_open;
	bool thin = whole && timeline->calls.n == 0 &&
		    (double)timeline->n_ranks * ROW_THIN <= h;
	bool grouped = whole && !thin && (double)timeline->n_ranks * ROW_LEAST > h;
	size_t most = (size_t)fmax(h / (thin		 ? ROW_THIN
					       : grouped ? ROW_GROUP
							 : ROW_LEAST),
		1);
	size_t last = timeline->n_ranks > most ? timeline->n_ranks - most : 0;
	ranks->first = ranks->first < last ? ranks->first : last;
	ranks->n_columns = (size_t)fmax(ranks_area(pane).w / PART, 1);
	const struct ranks_layout asked = {ranks->asked.n_taken, most, ranks->first,
		ranks->n_columns, ranks->order, ranks->is_open, selected};
	if (memcmp(&ranks->laid, &asked, sizeof asked) == 0)
		return;
	size_t *chosen =
		realloc(ranks->chosen, (timeline->n_ranks + 1) * sizeof *ranks->chosen);
	ranks->n_chosen = 0;
	ranks->group = 1;
	if (!chosen)
		return;
	ranks->chosen = chosen;
	if (grouped) {
		choose_groups(ranks, timeline, most);
		fill_shares(ranks, timeline);
	} else {
		ranks->n_chosen = tb_timeline_choose(
			timeline, ranks->order, chosen, ranks->first + most);
		ranks->n_chosen -= ranks->first;
		memmove(chosen, chosen + ranks->first, ranks->n_chosen * sizeof *chosen);
	}
	// Give the rank of the selected span a row, if need be the last one.
	if (choice && !grouped && !ranks->first && ranks->n_chosen &&
		ranks_row(pane, choice->span.job, choice->span.rank) < 0)
		for (size_t i = 0; i < timeline->n_ranks; i++)
			if (timeline->ranks[i].job == choice->span.job &&
				timeline->ranks[i].rank == choice->span.rank)
				chosen[ranks->n_chosen - 1] = i;
	ranks->laid = asked;
}

// rank_row_lay_out chooses the ranks that have room and returns how high a row is.
static double rank_row_lay_out(const struct tb_pane *pane)
{
	double h = ranks_area(pane).h - GAP - LINK_H * (double)rank_row_links(pane);
	rank_row_choose(pane, h);
	double rows = fmax((double)tb_ranks_of(pane)->n_chosen, 1);
	return fmin(fmax(floor(h / rows), ROW_THIN),
		tb_ranks_of(pane)->group > 1 ? 2 * ROW_GROUP : ROW_MOST);
}

static void draw_rank_row_name(struct tb_pane *pane, struct tb_picture *picture, double y,
	double h, const char *name)
{
	struct tb_type type = tb_style_type(pane->style, TB_FONT_TEXT, 11, true);
	tb_picture_name(picture,
		(struct tb_box){
			pane->place.x + RANKS_PAD, y, RANKS_GUTTER - RANKS_PAD - 8, h},
		type, name);
}

static struct tb_colour ranks_span_colour(const struct tb_style *style, uint32_t kind)
{
	const struct tb_palette *palette = tb_palette_of(style->theme);
	static const uint32_t hues[TB_SPAN_KINDS] = {
		[TB_SPAN_COMPUTE] = 2, [TB_SPAN_SEND] = 0, [TB_SPAN_RECEIVE] = 4};
	return kind == TB_SPAN_WAIT
		       ? palette->empty
		       : tb_colour_mix(palette->panel,
				 tb_job_colour(style->theme, hues[kind]), 0.6);
}

// draw_spans draws a rank's spans, of those in one column the one with most time.
static void draw_spans(struct tb_pane *pane, struct tb_picture *picture,
	const struct tb_timeline_rank *rank, struct tb_box row)
{
	const struct tb_timeline *timeline = tb_ranks_shown(pane);
	double most = 0;
	size_t best = rank->first_span;
	// A rank does nothing before its job starts.
	double drawn = rank->n_spans ? ranks_x(pane, timeline->times.spans[best].from_ps)
				     : row.x;
	drawn = fmax(drawn, row.x);
	for (size_t i = rank->first_span; i < rank->first_span + rank->n_spans; i++) {
		const struct tb_rank_span *span = &timeline->times.spans[i];
		double to = ranks_x(pane, span->to_ps),
		       w = to - ranks_x(pane, span->from_ps);
		if (w > most) {
			most = w;
			best = i;
		}
		bool last = i + 1 == rank->first_span + rank->n_spans;
		if (to - drawn < COLUMN && !last)
			continue;
		if (to > drawn) {
			tb_picture_rect(picture,
				(struct tb_box){drawn, row.y, to - drawn, row.h},
				ranks_span_colour(
					pane->style, timeline->times.spans[best].what));
			tb_picture_pick(
				picture, (struct tb_pick){TB_PICK_CELL, (uint32_t)best});
		}
		drawn = fmax(drawn, to);
		most = 0;
	}
}

// draw_group draws what the ranks of a row do as shares of its height. What is alike in
// several columns is one rectangle.
static void draw_group(
	struct tb_pane *pane, struct tb_picture *picture, size_t group, struct tb_box row)
{
	const struct tb_ranks *ranks = tb_ranks_of(pane);
	const struct tb_timeline *timeline = tb_ranks_shown(pane);
	double steps = fmax(floor(row.h / PART), 1), w = row.w / (double)ranks->n_columns;
	int before[TB_SPAN_KINDS + 1] = {0}; // heights, and the kind of calls
	size_t drawn = 0;
	for (size_t c = 0; c <= ranks->n_columns; c++) {
		const double *shares =
			&ranks->shares[(group * ranks->n_columns + c) * SHARES];
		int now[TB_SPAN_KINDS + 1] = {0};
		double sum = 0;
		for (int kind = 0; c < ranks->n_columns && kind < TB_SPAN_KINDS; kind++)
			now[kind] = (int)round((sum += shares[kind]) * steps);
		sum = CALLS_SHARE;
		for (int kind = 0; c < ranks->n_columns && kind < CALL_HUES; kind++)
			if (shares[TB_SPAN_KINDS + kind] > sum) {
				sum = shares[TB_SPAN_KINDS + kind];
				now[TB_SPAN_KINDS] = kind + 1;
			}
		if (c == 0)
			memcpy(before, now, sizeof now);
		if (c < ranks->n_columns && memcmp(before, now, sizeof now) == 0)
			continue;
		uint32_t cell = (uint32_t)(timeline->times.n + timeline->calls.n +
					   group * ranks->n_columns + drawn);
		double x = row.x + w * (double)drawn, part_w = w * (double)(c - drawn);
		int lower = 0;
		tb_picture_rect(picture, (struct tb_box){x, row.y, part_w, row.h},
			tb_palette_of(pane->style->theme)->page);
		tb_picture_pick(picture, (struct tb_pick){TB_PICK_CELL, cell});
		for (uint32_t kind = 0; kind < TB_SPAN_KINDS; kind++) {
			double part_h = row.h * (before[kind] - lower) / steps;
			lower = before[kind];
			if (part_h <= 0)
				continue;
			tb_picture_rect(picture,
				(struct tb_box){x, row.y + row.h * (1 - lower / steps),
					part_w, part_h},
				ranks_span_colour(pane->style, kind));
			tb_picture_pick(picture, (struct tb_pick){TB_PICK_CELL, cell});
		}
		if (before[TB_SPAN_KINDS])
			tb_picture_rect(picture,
				(struct tb_box){x, row.y, part_w, CALLS_H},
				rank_calls_colour(pane->style,
					(uint32_t)before[TB_SPAN_KINDS] - 1));
		memcpy(before, now, sizeof now);
		drawn = c;
	}
}

static struct tb_colour ranks_step_colour(const struct tb_style *style, uint32_t cause)
{
	const struct tb_palette *palette = tb_palette_of(style->theme);
	if (cause == TB_PATH_TIMEOUT)
		return palette->second;
	return cause == TB_PATH_HELD_UP ? palette->dead : palette->accent;
}

// draw_step draws a step of the path as a bar in the row of its rank.
static void draw_step(struct tb_pane *pane, struct tb_picture *picture,
	const struct tb_path_step *step, struct tb_box row)
{
	const struct tb_blame_sample *wait =
		step->span.what == TB_PATH_HELD_UP
			? tb_critical_path_wait(&tb_ranks_shown(pane)->path, step, NULL)
			: NULL;
	double from = ranks_x(pane, step->span.from_ps),
	       to = ranks_x(pane, step->span.to_ps);
	double h = fmin(fmax(floor(row.h * 0.4), 2), PATH_MOST);
	struct tb_box bar = {from, row.y + floor((row.h - h) / 2), fmax(to - from, 1), h};
	tb_picture_rect(picture, bar, ranks_step_colour(pane->style, step->span.what));
	if (!wait || wait->link.id == TB_ID_NONE)
		return;
	struct tb_pick pick = {TB_PICK_LINK, wait->link.id};
	tb_picture_pick(picture, pick);
	if (tb_pick_equal(pane->selection->selected, pick))
		tb_picture_frame(picture,
			(struct tb_box){bar.x - 2, row.y, bar.w + 4, row.h}, 2,
			tb_palette_of(pane->style->theme)->text);
}

static void draw_path(
	struct tb_pane *pane, struct tb_picture *picture, double top, double h)
{
	const struct tb_timeline *timeline = tb_ranks_shown(pane);
	struct tb_box area = ranks_area(pane);
	double before = -1;
	uint32_t n_hops = 0;
	for (size_t i = 0; i < timeline->path.n_steps; i++) {
		const struct tb_path_step *step = &timeline->path.steps[i];
		if (step->span.to_ps <= timeline->from_ps ||
			step->span.from_ps >= timeline->to_ps) {
			before = -1;
			continue;
		}
		double row = ranks_row(pane, step->span.job, step->span.rank);
		double y = top + row * h, x = ranks_x(pane, step->span.from_ps);
		if (row >= 0 && before >= 0 && row != before && n_hops++ < HOPS)
			tb_picture_line(picture,
				(struct tb_box){x, top + (before + 0.5) * h, 0,
					(row - before) * h},
				1, tb_palette_of(pane->style->theme)->accent);
		if (row >= 0)
			draw_step(pane, picture, step,
				(struct tb_box){area.x, y, area.w, h - 1});
		before = row;
	}
}

// is_marked is true for the selected link, and for those that held the selected span up.
static bool is_marked(const struct tb_pane *pane, uint32_t link)
{
	const struct tb_pick selected = pane->selection->selected;
	const struct tb_held_list *held =
		selected.kind == TB_PICK_SPAN ? ranks_held(pane) : NULL;
	bool holds = tb_pick_equal(selected, (struct tb_pick){TB_PICK_LINK, link});
	for (size_t i = 0; held && i < held->n && !holds; i++)
		holds = held->rows[i].link.id == link;
	return holds;
}

// name_rank writes the rank, or those, of a row, and what it is listed by.
static char *name_rank(
	const struct tb_pane *pane, size_t number, char *buffer, size_t size)
{
	enum tb_timeline_order order = tb_ranks_of(pane)->order;
	const struct tb_timeline *timeline = tb_ranks_shown(pane);
	const struct tb_timeline_rank *rank = &timeline->ranks[number];
	size_t end = group_end(timeline, number, tb_ranks_of(pane)->group);
	bool several = pane->data->info->n_jobs > 1;
	char last[24] = "";
	if (end - number > 1)
		snprintf(
			last, sizeof last, " to %" PRIu32, timeline->ranks[end - 1].rank);
	snprintf(buffer, size, "%s%srank%s %" PRIu32 "%s%s%s",
		several ? tb_run_job_name(pane->data->run, rank->job) : "",
		several ? " " : "", *last ? "s" : "", rank->rank, last,
		order == TB_RANKS_BY_JOB ? "" : ", ",
		order == TB_RANKS_BY_JOB
			? ""
			: TB_TIME_TEXT(order == TB_RANKS_BY_END ? rank->end_ps
								: rank->wait_ps));
	return buffer;
}

// draw_below draws the links, the axis, and how many ranks have no row.
static void draw_below(struct tb_pane *pane, struct tb_picture *picture, double y)
{
	const struct tb_ranks *ranks = tb_ranks_of(pane);
	struct tb_box area = ranks_area(pane);
	size_t n_all = tb_ranks_shown(pane)->n_ranks, n = ranks->n_chosen;
	char text[64] = "height: share of ranks";
	if (n && ranks->group > 1)
		n = group_end(tb_ranks_shown(pane), ranks->chosen[n - 1], ranks->group);
	if (n < n_all)
		snprintf(text, sizeof text, "%s of %s ranks", TB_COUNT_TEXT(n),
			TB_COUNT_TEXT(n_all));
	if (n < n_all || ranks->group > 1)
		draw_rank_row_name(pane, picture, y - GAP + 2, GAP - 6, text);
	snprintf(text, sizeof text, "waiting packets at hot links, %.3g at most",
		ranks->asked.shown.most);
	if (rank_row_links(pane) && ranks->asked.shown.most > 0)
		tb_picture_text(picture,
			(struct tb_box){area.x, y - GAP + 2, area.w, GAP - 6},
			tb_style_type(pane->style, TB_FONT_TEXT, 11, true), text);
	for (uint32_t i = 0; i < rank_row_links(pane); i++, y += LINK_H) {
		struct tb_box row = (struct tb_box){area.x, y, area.w, LINK_H - 1};
		const struct ranks_answer *shown = &tb_ranks_of(pane)->asked.shown;
		uint32_t link = shown->timeline.links[i].sample.link.id;
		double w = row.w / RANKS_COLUMNS;
		draw_rank_row_name(pane, picture, row.y, row.h,
			tb_run_links(pane->data->run)[link].label);
		tb_picture_rect(picture, row, tb_palette_of(pane->style->theme)->empty);
		tb_picture_pick(picture, (struct tb_pick){TB_PICK_LINK, link});
		for (uint32_t k = 0, end; k < RANKS_COLUMNS; k = end) {
			double heat = shown->heat[(size_t)i * RANKS_COLUMNS + k];
			for (end = k + 1;
				end < RANKS_COLUMNS &&
				shown->heat[(size_t)i * RANKS_COLUMNS + end] == heat;)
				end++;
			if (heat <= 0)
				continue;
			tb_picture_rect(picture,
				(struct tb_box){
					row.x + w * k, row.y, w * (end - k), row.h},
				tb_style_shade(pane->style, 100 * heat / shown->most));
			tb_picture_pick(picture, (struct tb_pick){TB_PICK_LINK, link});
		}
		if (is_marked(pane, link))
			tb_picture_frame(picture, row, 2,
				tb_palette_of(pane->style->theme)->accent);
	}
	const struct tb_timeline *timeline = tb_ranks_shown(pane);
	tb_time_axis_draw(pane->style, picture,
		(struct tb_box){area.x, area.y, area.w, y - area.y}, timeline->from_ps,
		timeline->to_ps);
}

// What is above the rows of ranks: the title, the order of the rows, what the critical
// path is made of, and the legend.

#define BAR_Y	  28 // of the causes, below the title
#define BAR_LINES 2  // of the legend of the path's causes; where it is low, one
#define ORDER_W	  168

// draw_rank_head_legend names the colours.
static void draw_rank_head_legend(struct tb_pane *pane, struct tb_picture *picture)
{
	const struct tb_call_spans *calls = &tb_ranks_shown(pane)->calls;
	static const uint32_t steps[] = {
		TB_PATH_TRANSFER, TB_PATH_HELD_UP, TB_PATH_TIMEOUT};
	const char *names[TB_SPAN_KINDS + 3 + CALL_HUES] = {tb_pane_computing(pane),
		"sends", "receives", "waits until the other sends", "critical path",
		"held up", "time-out"};
	uint32_t first_call =
		TB_SPAN_KINDS + 2 + (tb_ranks_shown(pane)->path.n_timeouts > 0);
	uint32_t n = first_call;
	for (uint32_t i = 0; i < calls->n_sorts; i++) {
		uint32_t kind = rank_calls_kind(calls, i);
		bool first = i == 0 || kind != rank_calls_kind(calls, i - 1);
		if (first && kind < CALL_HUES)
			names[n++] = calls->sorts[i].kind;
		else if (first)
			names[n - 1] = "other calls";
	}
	struct tb_type type = tb_style_type(pane->style, TB_FONT_TEXT, 12, true);
	double x = pane->place.x + RANKS_PAD,
	       y = pane->place.y + tb_ranks_of(pane)->top_h - 20;
	for (uint32_t i = 0; i < n; i++) {
		double w = tb_text_width(type.font, type.size, names[i]) + 6;
		bool is_step = i >= TB_SPAN_KINDS;
		struct tb_colour colour =
			i >= first_call ? rank_calls_colour(pane->style, i - first_call)
			: is_step
				? ranks_step_colour(pane->style, steps[i - TB_SPAN_KINDS])
				: ranks_span_colour(pane->style, i);
		if (x + 20 + w > pane->place.x + pane->place.w)
			return;
		tb_picture_rect(picture,
			(struct tb_box){x, y + (is_step ? 5 : 2), 14, is_step ? 4 : 10},
			colour);
		if (i == TB_SPAN_WAIT) // as dark, or as light, as the page
			tb_picture_frame(picture, (struct tb_box){x, y + 2, 14, 10}, 1,
				tb_palette_of(pane->style->theme)->line);
		tb_picture_text(
			picture, (struct tb_box){x + 20, y, w, 14}, type, names[i]);
		x += w + 28;
	}
}

// What the path's bars show has its colour there.
struct tb_colour tb_ranks_cause_colour(const struct tb_style *style, uint32_t cause)
{
	// No two parts of the bar have one hue, nor that of what ranks do.
	static const uint32_t hues[TB_PATH_CAUSES] = {[TB_PATH_CLOSED] = 4,
		[TB_PATH_QUEUE] = 1,
		[TB_PATH_SOFTWARE] = 3,
		[TB_PATH_PACED] = 2,
		[TB_PATH_LOST] = 5,
		[TB_PATH_ACKNOWLEDGE] = 6,
		[TB_PATH_END] = 7};
	if (cause == TB_PATH_HELD_UP || cause == TB_PATH_TRANSFER ||
		cause == TB_PATH_TIMEOUT)
		return ranks_step_colour(style, cause);
	if (cause == TB_PATH_COMPUTE)
		return ranks_span_colour(style, TB_SPAN_COMPUTE);
	if (cause == TB_PATH_START)
		return tb_palette_of(style->theme)->line;
	return tb_colour_mix(tb_palette_of(style->theme)->panel,
		tb_job_colour(style->theme, hues[cause]), 0.6);
}

// draw_shares draws what the critical path is made of as a bar.
static double draw_shares(const struct tb_pane *pane, struct tb_picture *picture,
	const struct tb_critical_path *path)
{
	struct tb_share shares[TB_PATH_CAUSES];
	for (size_t i = 0; i < path->n_shares; i++) {
		uint32_t cause = path->shares[i].cause;
		shares[i] = (struct tb_share){.amount = path->shares[i].percent,
			.colour = tb_ranks_cause_colour(pane->style, cause)};
		char percent[16];
		snprintf(shares[i].text, sizeof shares[i].text, "%s %s",
			tb_share_text(path->shares[i].percent, percent, sizeof percent),
			cause == TB_PATH_COMPUTE && pane->data->info->is_captured
				? tb_pane_computing(pane)
				: tb_path_words((enum tb_path_cause)cause));
	}
	return tb_share_bar_draw(picture, pane->style,
		(struct tb_box){pane->place.x + RANKS_PAD, pane->place.y + BAR_Y,
			pane->place.w - 2 * RANKS_PAD, 0},
		shares, path->n_shares, pane->place.h < RANKS_LOW_H ? 1 : BAR_LINES);
}

// ranks_head_h returns the height of what stands above the rows: title, order, what the
// critical path is made of, legend.
static double ranks_head_h(const struct tb_pane *pane)
{
	const struct tb_critical_path *path = &tb_ranks_shown(pane)->path;
	double bar_h = path->n_shares ? draw_shares(pane, NULL, path) : 0;
	return BAR_Y + bar_h + RANKS_LEGEND_H;
}

// draw_order has a button that says how the rows are ordered, and changes it.
static void draw_order(struct tb_pane *pane, struct tb_picture *picture)
{
	static const char *const orders[TB_RANKS_ORDERS] = {
		[TB_RANKS_BY_JOB] = "Rows by job and rank",
		[TB_RANKS_BY_WAIT] = "Rows by wait for others",
		[TB_RANKS_BY_END] = "Rows by time of end"};
	struct tb_box place = pane->place;
	char groups[48];
	snprintf(groups, sizeof groups, "Groups of %s ranks",
		TB_COUNT_TEXT(tb_ranks_of(pane)->group));
	tb_pane_button(pane, picture,
		(struct tb_box){place.x + place.w - RANKS_PAD - ORDER_W, place.y + 5,
			ORDER_W, 20},
		TB_REQUEST_FIGURE,
		tb_ranks_of(pane)->group > 1 ? groups : orders[tb_ranks_of(pane)->order]);
}

static void rank_drop(struct ranks_answer *answer)
{
	tb_timeline_fini(&answer->timeline);
	free(answer->heat);
	*answer = (struct ranks_answer){.heat = NULL};
}

static int read_shown_ranks(
	struct tb_question *question, struct tb_run *run, struct tb_error *error)
{
	struct ranks_question *asked = (struct ranks_question *)question;
	const struct tb_timeline_options wanted = {
		asked->from_ps, asked->to_ps, RANKS_LINKS, NULL};
	struct ranks_answer *made = &asked->made;
	rank_drop(made);
	int status = tb_timeline_init(&made->timeline, run, &wanted, error);
	size_t n = (size_t)made->timeline.n_links * RANKS_COLUMNS;
	if (status)
		return status;
	made->heat = malloc((n + 1) * sizeof *made->heat);
	status = made->heat ? tb_timeline_heat(
				      &made->timeline, made->heat, RANKS_COLUMNS, error)
			    : tb_fail_memory(error, "the ranks");
	for (size_t i = 0; i < n && !status; i++)
		made->most = fmax(made->most, made->heat[i]);
	return status;
}

static void take_read_ranks(struct tb_question *question, struct tb_run *run)
{
	struct ranks_question *asked = (struct ranks_question *)question;
	struct ranks_answer before = asked->shown;
	(void)run;
	asked->shown = asked->made;
	asked->made = before;
	asked->has_shown = true;
	asked->n_taken++;
}

static void close_ranks(void *state)
{
	struct tb_ranks *ranks = state;
	tb_question_drop(&ranks->asked.question);
	rank_drop(&ranks->asked.made);
	rank_drop(&ranks->asked.shown);
	free(ranks->chosen);
	free(ranks->shares);
	tb_question_drop(&ranks->held.question);
	tb_held_up_fini(&ranks->held.held);
	tb_held_list_fini(&ranks->held.list);
	free(ranks->choices);
}

static int open_ranks(struct tb_pane *pane, struct tb_error *error)
{
	(void)error;
	struct ranks_question *asked = &tb_ranks_of(pane)->asked;
	if (!asked->question.read)
		asked->question = (struct tb_question){.what = "reading what ranks did",
			.read = read_shown_ranks,
			.taken = take_read_ranks};
	return TB_OK;
}

static void rank_draw(struct tb_pane *pane, struct tb_picture *picture)
{
	if (!tb_ranks_of(pane))
		return;
	// Ask for the window that is shown, unless that is what is known.
	struct ranks_question *asked = &tb_ranks_of(pane)->asked;
	const struct tb_run_info *info = pane->data->info;
	tb_time_ps from = tb_window_begin_ps(info, pane->data->window);
	tb_time_ps to = tb_window_end_ps(info, pane->data->window);
	bool same = asked->from_ps == from && asked->to_ps == to;
	struct tb_error error;
	if (asked->question.state != TB_REFUSED || !same) { // it has been reported
		if (asked->question.state != TB_ASKED &&
			(asked->question.state == TB_UNASKED || !same)) {
			asked->question.state = TB_UNASKED;
			asked->from_ps = from;
			asked->to_ps = to;
		}
		if (tb_viewer_put(pane->viewer, &asked->question, &error) < 0)
			tb_viewer_report(pane->viewer, &error);
	}
	if (!tb_ranks_of(pane)->asked.has_shown)
		return;
	if (tb_ranks_shown(pane)->n_ranks == 0) {
		tb_pane_too_early(pane, picture, "what ranks did is");
		return;
	}
	tb_ranks_of(pane)->top_h = ranks_head_h(pane);
	const struct tb_critical_path *path = &tb_ranks_shown(pane)->path;
	tb_picture_text(picture,
		(struct tb_box){pane->place.x + RANKS_PAD, pane->place.y + 6,
			pane->place.w - 3 * RANKS_PAD - ORDER_W, 18},
		tb_style_type(pane->style, TB_FONT_BOLD, 13, false),
		path->n_shares ? "Critical path of the run" : "What ranks did");
	double h = rank_row_lay_out(pane);
	draw_order(pane, picture);
	if (path->n_shares)
		(void)draw_shares(pane, picture, path);
	draw_rank_head_legend(pane, picture);
	const struct tb_ranks *ranks = tb_ranks_of(pane);
	const struct tb_timeline *timeline = tb_ranks_shown(pane);
	struct tb_box area = ranks_area(pane);
	char name[200];
	size_t named = (size_t)ceil(ROW_LEAST / h); // one of so many
	for (size_t i = 0; i < ranks->n_chosen; i++) {
		size_t number = ranks->chosen[i];
		struct tb_box row = {area.x, area.y + h * (double)i, area.w, h - 1};
		double name_h = fmax(row.h, ROW_LEAST - 1);
		if (i % named == 0)
			draw_rank_row_name(pane, picture, row.y + (row.h - name_h) / 2,
				name_h, name_rank(pane, number, name, sizeof name));
		if (ranks->group > 1)
			draw_group(pane, picture, i, row);
		else
			draw_spans(pane, picture, &timeline->ranks[number], row);
	}
	draw_path(pane, picture, area.y, h);
	for (size_t i = 0; i < ranks->n_chosen && ranks->group == 1; i++)
		rank_calls_draw(picture, pane->style, timeline,
			&timeline->ranks[ranks->chosen[i]],
			(struct tb_box){area.x, area.y + h * (double)i, area.w, h - 1});
	// Frame what is selected, and these spans, in rows from `top` on that
	// are `h` high.
	const struct tb_box row = {0, area.y, 0, h};
	struct tb_pick selected = pane->selection->selected;
	const struct rank_choice *choice = ranks_choice(pane, selected);
	const struct tb_held_list *held =
		selected.kind == TB_PICK_LINK ? ranks_held(pane) : NULL;
	if (choice)
		frame_span(pane, picture, &choice->span, row, 2);
	for (size_t i = 0; held && i < held->n && i < FRAMES; i++)
		frame_span(pane, picture, &held->rows[i].span, row, 1);
	draw_below(pane, picture, area.y + h * (double)ranks->n_chosen + GAP);
}

// rank_zoom_at zooms the window about a point of the axis, to whole bins.
static void rank_zoom_at(struct tb_pane *pane, double x, double factor)
{
	const struct tb_window *asked = &pane->data->asked;
	struct tb_box area = ranks_area(pane);
	double bins = (double)pane->data->info->n_bins;
	double width = (double)tb_viewer_data_asked_bins(pane->data);
	double share = fmin(fmax((x - area.x) / area.w, 0), 1);
	double middle = (double)asked->first_bin + width * share;
	double wanted = fmin(fmax(round(width / factor), 1), bins);
	double first = fmin(fmax(round(middle - wanted * share), 0), bins - wanted);
	tb_viewer_show(pane->viewer,
		(struct tb_window){(uint64_t)first, (uint64_t)(first + wanted)},
		pane->data->metric);
}

static void rank_pan(struct tb_pane *pane, double dx)
{
	double bins = (double)pane->data->info->n_bins;
	double width = (double)tb_viewer_data_asked_bins(pane->data);
	double first = (double)pane->data->asked.first_bin +
		       round(width * dx / ranks_area(pane).w);
	first = fmin(fmax(first, 0), bins - width);
	if (width < bins)
		tb_viewer_show(pane->viewer,
			(struct tb_window){(uint64_t)first, (uint64_t)(first + width)},
			pane->data->metric);
}

// rank_scroll scrolls the rows by so many, down where it is positive.
static void rank_scroll(struct tb_pane *pane, double rows)
{
	struct tb_ranks *ranks = tb_ranks_of(pane);
	double first = fmax((double)ranks->first + round(rows), 0);
	ranks->is_open = true;
	ranks->first = (size_t)fmin(first, (double)tb_ranks_shown(pane)->n_ranks);
}

// rank_choose selects a span or a call, by its cell.
static void rank_choose(struct tb_pane *pane, uint32_t cell)
{
	const struct tb_timeline *timeline = tb_ranks_shown(pane);
	struct tb_ranks *ranks = tb_ranks_of(pane);
	struct rank_choice choice = {.is_call = cell >= timeline->times.n};
	size_t group = cell - timeline->times.n - timeline->calls.n;
	if (choice.is_call && cell >= timeline->times.n + timeline->calls.n) {
		ranks->first = ranks->chosen[group / ranks->n_columns];
		ranks->is_open = true;
		return;
	}
	if (!choice.is_call)
		choice.span = timeline->times.spans[cell];
	else if (!rank_calls_choose(timeline, cell, &choice))
		return;
	if (!choice.is_call)
		ranks_span_text(pane, &choice.span, choice.name, sizeof choice.name);
	tb_viewer_select(pane->viewer, ranks_choose(ranks, &choice));
}

static void rank_pointer(struct tb_pane *pane, const struct tb_pointer_event *event)
{
	if (event->kind == TB_EVENT_CLICK && event->pick.kind == TB_PICK_CELL)
		rank_choose(pane, event->pick.index);
	if (pane->data->info->n_bins == 0)
		return;
	if (event->kind == TB_EVENT_WHEEL && event->x < ranks_area(pane).x)
		rank_scroll(pane, -3 * event->steps);
	else if (event->kind == TB_EVENT_WHEEL && event->steps != 0)
		rank_zoom_at(pane, event->x, event->steps > 0 ? 2 : 0.5);
	else if (event->kind == TB_EVENT_DRAG)
		rank_pan(pane, -event->dx);
}

static bool rank_request(struct tb_pane *pane, const struct tb_request *asked)
{
	struct tb_box area = ranks_area(pane);
	double middle = area.x + area.w / 2;
	if (pane->data->info->n_bins == 0)
		return false;
	switch ((int)asked->name) {
	case TB_REQUEST_FIGURE:
		tb_ranks_of(pane)->order =
			(tb_ranks_of(pane)->order + 1) % TB_RANKS_ORDERS;
		return true;
	case TB_REQUEST_ZOOM_IN:
		rank_zoom_at(pane, middle, 2);
		return true;
	case TB_REQUEST_ZOOM_OUT:
		rank_zoom_at(pane, middle, 0.5);
		return true;
	case TB_REQUEST_FIT:
		tb_ranks_of(pane)->first = 0;
		tb_ranks_of(pane)->is_open = false;
		return true;
	case TB_REQUEST_PAN_UP:
		rank_scroll(pane, -fmax((double)tb_ranks_of(pane)->n_chosen / 2, 1));
		return true;
	case TB_REQUEST_PAN_DOWN:
		rank_scroll(pane, fmax((double)tb_ranks_of(pane)->n_chosen / 2, 1));
		return true;
	case TB_REQUEST_PAN_LEFT:
		rank_pan(pane, -area.w / 4);
		return true;
	case TB_REQUEST_PAN_RIGHT:
		rank_pan(pane, area.w / 4);
		return true;
	default:
		return false;
	}
}

// tip_group describes a column of a group.
static void tip_group(const struct tb_pane *pane, struct tb_tip *tip, size_t column)
{
	static const char *const doing[TB_SPAN_KINDS] = {
		"compute", "send", "receive", "wait until others send"};
	const struct tb_ranks *ranks = tb_ranks_of(pane);
	const double *shares = &ranks->shares[column * SHARES];
	char percent[40], name[80];
	tb_tip_line(tip, 0, "%s",
		name_rank(pane, ranks->chosen[column / ranks->n_columns], name,
			sizeof name));
	for (int kind = 0; kind < TB_SPAN_KINDS; kind++)
		if (shares[kind] > 0)
			tb_tip_line(tip, tip->n_lines, "%s %s",
				tb_format_percent(
					100 * shares[kind], percent, sizeof percent),
				doing[kind]);
	tb_tip_line(tip, tip->n_lines, "a click shows each");
}

static void rank_tip(const struct tb_pane *pane, struct tb_tip *tip)
{
	const struct tb_timeline *timeline = tb_ranks_shown(pane);
	if (tip->pick.kind == TB_PICK_CELL &&
		tip->pick.index >= timeline->times.n + timeline->calls.n) {
		tip_group(pane, tip,
			tip->pick.index - timeline->times.n - timeline->calls.n);
		return;
	}
	if (tip->pick.kind != TB_PICK_CELL || tip->pick.index >= timeline->times.n) {
		rank_calls_tip(timeline, tip);
		return;
	}
	const struct tb_rank_span *span = &timeline->times.spans[tip->pick.index];
	ranks_span_text(pane, span, tip->lines[0], sizeof tip->lines[0]);
	tb_tip_line(tip, 1, "%s to %s: %s", TB_TIME_TEXT(span->from_ps),
		TB_TIME_TEXT(span->to_ps), TB_TIME_TEXT(span->to_ps - span->from_ps));
	if (span->n > 1)
		tb_tip_line(tip, tip->n_lines, "the longest of %" PRIu32 " short ones",
			span->n);
}

// rank_reveal shows the time of the span that is selected, where the window has none of
// it.
static void rank_reveal(struct tb_pane *pane, bool zoom)
{
	const struct tb_viewer_data *data = pane->data;
	const struct rank_choice *choice = ranks_choice(pane, pane->selection->selected);
	struct tb_window window;
	bool is_shown =
		choice &&
		choice->span.from_ps < tb_window_end_ps(data->info, data->window) &&
		choice->span.to_ps > tb_window_begin_ps(data->info, data->window);
	if (choice && (zoom || !is_shown) &&
		tb_window_between(data->info, choice->span.from_ps, choice->span.to_ps,
			&window, NULL) == TB_OK)
		tb_viewer_show(pane->viewer, window, data->metric);
}

// rank_is_there is true for runs of jobs; captures that are replayed as they were
// captured have no ranks.
static bool rank_is_there(const struct tb_pane *pane)
{
	const char *kind = pane->data->run ? pane->data->info->input_kind : "";
	return strcmp(kind, "job") == 0 || strcmp(kind, "mixed") == 0;
}

const struct tb_view tb_view_ranks = {.slot = TB_SLOT_MAIN,
	.about = "What each rank did. The critical path is the chain of steps that the "
		 "end of the run waited for: to shorten anything else gains nothing. A "
		 "click on a span shows which links delayed it. Where not all ranks have "
		 "room, rows are groups: a click opens one, w and s, or the wheel over "
		 "the names, scroll, and f goes back.",
	.name = "ranks",
	.tab = "Ranks",
	.state_size = sizeof(struct tb_ranks),
	.open = open_ranks,
	.draw = rank_draw,
	.request = rank_request,
	.pointer = rank_pointer,
	.tip = rank_tip,
	.reveal = rank_reveal,
	.is_there = rank_is_there,
	.absent = "the run has no ranks",
	.forget = tb_pane_drop,
	.close = close_ranks};

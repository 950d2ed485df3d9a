// From a span of a rank, or a call, to the links that held it up, and from a link to the
// spans that it held up (analyze/timeline/held_up.h): the question, frames in the rows,
// and sheets of the panel.
#include "rank_held.h"

#include "array.h"
#include "panes.h"
#include "rank_calls.h"
#include "rank_impl.h"
#include "run_text.h"
#include "views.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define FRAMES 500 // of spans, the longest waits first
#define LINKS  30  // that a sheet lists, and spans
#define SPANS  8

static bool same_span(const struct tb_rank_choice *a, const struct tb_rank_choice *b)
{
	return a->is_call == b->is_call && a->span.job == b->span.job &&
	       a->span.rank == b->span.rank && a->span.from_ps == b->span.from_ps &&
	       a->span.to_ps == b->span.to_ps && strcmp(a->name, b->name) == 0;
}

struct tb_pick tb_ranks_choose(
	struct tb_ranks *ranks, const struct tb_rank_choice *choice)
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

const struct tb_rank_choice *tb_ranks_choice(
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
	struct tb_rank_held_question *asked = (struct tb_rank_held_question *)question;
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

void tb_ranks_held_fini(struct tb_ranks *ranks)
{
	tb_question_drop(&ranks->held.question);
	tb_held_up_fini(&ranks->held.held);
	tb_held_list_fini(&ranks->held.list);
	free(ranks->choices);
}

// ask_for makes the selection what is asked for next, unless something is under way.
static bool ask_for(const struct tb_pane *pane, struct tb_rank_held_question *asked)
{
	struct tb_pick selected = pane->selection->selected;
	const struct tb_rank_choice *choice = tb_ranks_choice(pane, selected);
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

const struct tb_held_list *tb_ranks_held(const struct tb_pane *pane)
{
	struct tb_rank_held_question *asked =
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

// frame_span draws a frame around a span of a rank that has a row and is in the window.
static void frame_span(struct tb_pane *pane, struct tb_picture *picture,
	const struct tb_rank_span *span, struct tb_box row, double width)
{
	const struct tb_timeline *timeline = tb_ranks_shown(pane);
	double i = tb_ranks_row(pane, span->job, span->rank);
	double from = tb_ranks_x(pane, span->from_ps), to = tb_ranks_x(pane, span->to_ps);
	if (i < 0 || span->to_ps <= timeline->from_ps || span->from_ps >= timeline->to_ps)
		return;
	tb_picture_frame(picture,
		(struct tb_box){
			from - 1, row.y + i * row.h, fmax(to - from, 1) + 2, row.h - 1},
		width, tb_palette_of(pane->style->theme)->text);
}

void tb_ranks_held_draw(
	struct tb_pane *pane, struct tb_picture *picture, double top, double h)
{
	const struct tb_box row = {0, top, 0, h};
	struct tb_pick selected = pane->selection->selected;
	const struct tb_rank_choice *choice = tb_ranks_choice(pane, selected);
	const struct tb_held_list *held =
		selected.kind == TB_PICK_LINK ? tb_ranks_held(pane) : NULL;
	if (choice)
		frame_span(pane, picture, &choice->span, row, 2);
	for (size_t i = 0; held && i < held->n && i < FRAMES; i++)
		frame_span(pane, picture, &held->rows[i].span, row, 1);
}

// held_add lists them, as links or as spans.
static void held_add(const struct tb_detail *detail, struct tb_ranks *ranks,
	const struct tb_held_list *held, bool links)
{
	const struct tb_run *run = detail->pane->data->run;
	size_t most = links ? LINKS : SPANS;
	char text[40];
	for (size_t i = 0; i < held->n && i < most; i++) {
		const struct tb_span_held *row = &held->rows[i];
		struct tb_rank_choice choice = {.span = row->span};
		tb_ranks_span_text(&row->span, choice.name, sizeof choice.name);
		struct tb_pick pick = links ? (struct tb_pick){TB_PICK_LINK, row->link.id}
					    : tb_ranks_choose(ranks, &choice);
		struct tb_sheet_line *line = tb_sheet_item(detail->sheet, pick,
			links ? tb_run_links(run)[row->link.id].label : choice.name,
			tb_format_time(row->wait_ps, text, sizeof text));
		line->to = (double)row->wait_ps / fmax((double)held->rows[0].wait_ps, 1);
	}
	snprintf(text, sizeof text, "and %zu more", held->n > most ? held->n - most : 0);
	if (held->n > most)
		tb_sheet_caption(detail->sheet, text);
}

bool tb_ranks_span_sheet(const struct tb_detail *detail, struct tb_pick pick)
{
	const struct tb_pane *pane = tb_viewer_pane(detail->pane->viewer, &tb_view_ranks);
	const struct tb_rank_choice *choice = pane ? tb_ranks_choice(pane, pick) : NULL;
	if (!choice)
		return false;
	tb_sheet_heading(detail->sheet, choice->is_call ? "Call" : "Span", choice->name);
	const struct tb_rank_span *span = &choice->span;
	char text[40];
	tb_sheet_row(
		detail->sheet, "from", tb_format_time(span->from_ps, text, sizeof text));
	tb_sheet_row(detail->sheet, "to", tb_format_time(span->to_ps, text, sizeof text));
	tb_sheet_row(detail->sheet, "takes",
		tb_format_time(span->to_ps - span->from_ps, text, sizeof text));
	if (span->n > 1)
		tb_sheet_row(detail->sheet, "stands for",
			tb_format_counted(span->n, "short one", text, sizeof text));
	tb_sheet_gap(detail->sheet);
	const struct tb_held_list *held = tb_ranks_held(pane);
	if (!choice->is_call && choice->span.what == TB_SPAN_COMPUTE)
		tb_sheet_caption(detail->sheet, "it computes: no link holds it up");
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
	const struct tb_held_list *held = tb_ranks_held(pane);
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
	const struct tb_rank_choice *choice = ranks ? tb_ranks_choice(ranks, pick) : NULL;
	return choice ? choice->name : "the span";
}

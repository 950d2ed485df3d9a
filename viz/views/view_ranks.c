// Ranks: what each rank did over the window, the critical path through them, and below,
// over the same axis, the hottest links. Along the top of a rank's row are its calls. The
// wheel zooms the axis, which is the window that all views show. A step that was held up
// selects the link where its flow waited longest; where a link is selected, the steps
// that it held up have a frame.
#include "rank_calls.h"
#include "rank_impl.h"
#include "run_text.h"
#include "views.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static void rank_drop(struct tb_ranks_answer *answer)
{
	tb_timeline_fini(&answer->timeline);
	free(answer->heat);
	*answer = (struct tb_ranks_answer){.heat = NULL};
}

static int read_shown_ranks(
	struct tb_question *question, struct tb_run *run, struct tb_error *error)
{
	struct tb_ranks_question *asked = (struct tb_ranks_question *)question;
	const struct tb_timeline_options wanted = {
		asked->from_ps, asked->to_ps, TB_RANKS_LINKS, NULL};
	struct tb_ranks_answer *made = &asked->made;
	rank_drop(made);
	int status = tb_timeline_init(&made->timeline, run, &wanted, error);
	size_t n = (size_t)made->timeline.n_links * TB_RANKS_COLUMNS;
	if (status)
		return status;
	made->heat = malloc((n + 1) * sizeof *made->heat);
	status = made->heat ? tb_timeline_heat(&made->timeline, made->heat,
				      TB_RANKS_COLUMNS, error)
			    : tb_fail_memory(error, "the ranks");
	for (size_t i = 0; i < n && !status; i++)
		made->most = fmax(made->most, made->heat[i]);
	return status;
}

static void take_read_ranks(struct tb_question *question, struct tb_run *run)
{
	struct tb_ranks_question *asked = (struct tb_ranks_question *)question;
	struct tb_ranks_answer before = asked->shown;
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
	tb_ranks_held_fini(ranks);
}

static int open_ranks(struct tb_pane *pane, struct tb_error *error)
{
	if (!pane->state)
		pane->state = calloc(1, sizeof(struct tb_ranks));
	if (!pane->state)
		return tb_fail_memory(error, "the ranks");
	struct tb_ranks_question *asked = &tb_ranks_of(pane)->asked;
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
	struct tb_ranks_question *asked = &tb_ranks_of(pane)->asked;
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
	tb_ranks_of(pane)->top_h = tb_ranks_head_h(pane);
	tb_ranks_head_draw(pane, picture);
	tb_ranks_rows_draw(pane, picture);
}

// rank_zoom_at zooms the window about a point of the axis, to whole bins.
static void rank_zoom_at(struct tb_pane *pane, double x, double factor)
{
	const struct tb_window *asked = &pane->data->asked;
	struct tb_box area = tb_ranks_area(pane);
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
		       round(width * dx / tb_ranks_area(pane).w);
	first = fmin(fmax(first, 0), bins - width);
	if (width < bins)
		tb_viewer_show(pane->viewer,
			(struct tb_window){(uint64_t)first, (uint64_t)(first + width)},
			pane->data->metric);
}

// rank_choose selects a span or a call, by its cell.
static void rank_choose(struct tb_pane *pane, uint32_t cell)
{
	const struct tb_timeline *timeline = tb_ranks_shown(pane);
	struct tb_rank_choice choice = {.is_call = cell >= timeline->times.n};
	if (!choice.is_call)
		choice.span = timeline->times.spans[cell];
	else if (!tb_rank_calls_choose(timeline, cell, &choice))
		return;
	if (!choice.is_call)
		tb_ranks_span_text(&choice.span, choice.name, sizeof choice.name);
	tb_viewer_select(pane->viewer, tb_ranks_choose(tb_ranks_of(pane), &choice));
}

static void rank_pointer(struct tb_pane *pane, const struct tb_pointer_event *event)
{
	if (event->kind == TB_EVENT_CLICK && event->pick.kind == TB_PICK_CELL)
		rank_choose(pane, event->pick.index);
	if (pane->data->info->n_bins == 0)
		return;
	if (event->kind == TB_EVENT_WHEEL && event->steps != 0)
		rank_zoom_at(pane, event->x, event->steps > 0 ? 2 : 0.5);
	else if (event->kind == TB_EVENT_DRAG)
		rank_pan(pane, -event->dx);
}

static bool rank_request(struct tb_pane *pane, const struct tb_request *asked)
{
	struct tb_box area = tb_ranks_area(pane);
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

char *tb_ranks_span_text(const struct tb_rank_span *span, char *buffer, size_t size)
{
	static const char *const doing[TB_SPAN_KINDS] = {
		"computes", "sends to rank", "receives from rank", "waits for rank"};
	char peer[24] = "";
	if (span->peer != TB_ID_NONE)
		snprintf(peer, sizeof peer, " %" PRIu32, span->peer);
	snprintf(buffer, size, "rank %" PRIu32 " %s%s", span->rank, doing[span->what],
		span->peer == TB_ID_NONE && span->what ? " several" : peer);
	return buffer;
}

static void rank_tip(const struct tb_pane *pane, struct tb_tip *tip)
{
	const struct tb_timeline *timeline = tb_ranks_shown(pane);
	char from[24], to[24], took[24];
	if (tip->pick.kind != TB_PICK_CELL || tip->pick.index >= timeline->times.n) {
		tb_rank_calls_tip(timeline, tip);
		return;
	}
	const struct tb_rank_span *span = &timeline->times.spans[tip->pick.index];
	tb_ranks_span_text(span, tip->lines[0], sizeof tip->lines[0]);
	snprintf(tip->lines[1], sizeof tip->lines[1], "%s to %s: %s",
		tb_format_time(span->from_ps, from, sizeof from),
		tb_format_time(span->to_ps, to, sizeof to),
		tb_format_time(span->to_ps - span->from_ps, took, sizeof took));
	tip->n_lines = 2;
	if (span->n > 1)
		snprintf(tip->lines[tip->n_lines++], sizeof tip->lines[0],
			"the longest of %" PRIu32 " short ones", span->n);
}

// rank_reveal shows the time of the span that is selected, where the window has none of
// it.
static void rank_reveal(struct tb_pane *pane, bool zoom)
{
	const struct tb_viewer_data *data = pane->data;
	const struct tb_rank_choice *choice =
		tb_ranks_choice(pane, pane->selection->selected);
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
	.name = "ranks",
	.tab = "Ranks",
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

// Ranks: what each rank did over the window, the critical path through them, and below,
// over the same axis, the hottest links. Along the top of a rank's row are its calls. The
// wheel zooms the axis, which is the window that all views show. A step that was held up
// selects the link where its flow waited longest; where a link is selected, the steps
// that it held up have a frame.
#include "parts.h"
#include "rank_calls.h"
#include "run_text.h"
#include "run_timeline.h"
#include "share_bar.h"
#include "views.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define PAD	    16
#define GUTTER	    150 // for names
#define BAR_Y	    28	// of the causes, below the title
#define LEGEND_H    24
#define BAR_LINES   2	// of the legend of the path's causes
#define LOW_H	    400 // in less there is one such line, and fewer links have a row
#define LOW_LINKS   3
#define FEW_TICKS_W 400
#define AXIS_H	    26
#define ROW_MOST    22
#define ROW_LEAST   12 // below that, ranks are left out
#define LINK_H	    15
#define GAP	    10 // between ranks and links
#define LINKS	    8
#define COLUMNS	    512
#define COLUMN	    2	 // pixels
#define HOPS	    2000 // messages of the path that have a line, at most

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
};

struct ranks {
	struct ranks_question asked;
	size_t *chosen; // numbers of the ranks that have a row
	size_t n_chosen;
	double top_h; // of all above the ranks
};

static struct ranks *ranks_of(const struct tb_pane *pane)
{
	return pane->state;
}

static const struct tb_timeline *shown_of(const struct tb_pane *pane)
{
	return &ranks_of(pane)->asked.shown.timeline;
}

static void drop(struct ranks_answer *answer)
{
	tb_timeline_fini(&answer->timeline);
	free(answer->heat);
	*answer = (struct ranks_answer){.heat = NULL};
}

static int read_ranks(
	struct tb_question *question, struct tb_run *run, struct tb_error *error)
{
	struct ranks_question *asked = (struct ranks_question *)question;
	const struct tb_timeline_options wanted = {
		asked->from_ps, asked->to_ps, LINKS, NULL};
	struct ranks_answer *made = &asked->made;
	drop(made);
	int status = tb_timeline_init(&made->timeline, run, &wanted, error);
	size_t n = (size_t)made->timeline.n_links * COLUMNS;
	if (status)
		return status;
	made->heat = malloc((n + 1) * sizeof *made->heat);
	status = made->heat
			 ? tb_timeline_heat(&made->timeline, made->heat, COLUMNS, error)
			 : tb_fail_memory(error, "the ranks");
	for (size_t i = 0; i < n && !status; i++)
		made->most = fmax(made->most, made->heat[i]);
	return status;
}

static void take_ranks(struct tb_question *question, struct tb_run *run)
{
	struct ranks_question *asked = (struct ranks_question *)question;
	struct ranks_answer before = asked->shown;
	(void)run;
	asked->shown = asked->made;
	asked->made = before;
	asked->has_shown = true;
}

static void close_ranks(void *state)
{
	struct ranks *ranks = state;
	tb_question_drop(&ranks->asked.question);
	drop(&ranks->asked.made);
	drop(&ranks->asked.shown);
	free(ranks->chosen);
}

static int open_ranks(struct tb_pane *pane, struct tb_error *error)
{
	if (!pane->state)
		pane->state = calloc(1, sizeof(struct ranks));
	if (!pane->state)
		return tb_fail_memory(error, "the ranks");
	struct ranks_question *asked = &ranks_of(pane)->asked;
	if (!asked->question.read)
		asked->question = (struct tb_question){.what = "reading what ranks did",
			.read = read_ranks,
			.taken = take_ranks};
	return TB_OK;
}

// ask asks for the window that is shown, unless that is what is known.
static void ask(struct tb_pane *pane)
{
	struct ranks_question *asked = &ranks_of(pane)->asked;
	const struct tb_run_info *info = pane->data->info;
	tb_time_ps from = tb_window_begin_ps(info, pane->data->window);
	tb_time_ps to = tb_window_end_ps(info, pane->data->window);
	bool same = asked->from_ps == from && asked->to_ps == to;
	struct tb_error error;
	if (asked->question.state == TB_REFUSED && same)
		return; // it has been reported
	if (asked->question.state != TB_ASKED &&
		(asked->question.state == TB_UNASKED || !same)) {
		asked->question.state = TB_UNASKED;
		asked->from_ps = from;
		asked->to_ps = to;
	}
	if (tb_viewer_put(pane->viewer, &asked->question, &error) < 0)
		tb_viewer_report(pane->viewer, &error);
}

static struct tb_box area_of(const struct tb_pane *pane)
{
	struct tb_box place = pane->place;
	return (struct tb_box){place.x + GUTTER, place.y + ranks_of(pane)->top_h,
		fmax(place.w - GUTTER - PAD, 1),
		fmax(place.h - ranks_of(pane)->top_h - AXIS_H, 1)};
}

static double x_of(const struct tb_pane *pane, tb_time_ps at_ps)
{
	const struct tb_timeline *timeline = shown_of(pane);
	struct tb_box area = area_of(pane);
	double share = (double)(at_ps - timeline->from_ps) /
		       (double)(timeline->to_ps - timeline->from_ps);
	return area.x + area.w * fmin(fmax(share, 0), 1);
}

// links_of returns how many links have a row.
static uint32_t links_of(const struct tb_pane *pane)
{
	uint32_t n = shown_of(pane)->n_links;
	return pane->place.h < LOW_H && n > LOW_LINKS ? LOW_LINKS : n;
}

// lay_out chooses the ranks that have room and returns how high a row is.
static double lay_out(const struct tb_pane *pane)
{
	struct ranks *ranks = ranks_of(pane);
	const struct tb_timeline *timeline = shown_of(pane);
	double h = area_of(pane).h - GAP - LINK_H * (double)links_of(pane);
	size_t most = h > ROW_LEAST ? (size_t)(h / ROW_LEAST) : 1;
	size_t *chosen =
		realloc(ranks->chosen, (timeline->n_ranks + 1) * sizeof *ranks->chosen);
	ranks->n_chosen = 0;
	if (!chosen)
		return ROW_LEAST;
	ranks->chosen = chosen;
	ranks->n_chosen = tb_timeline_choose(timeline, chosen, most);
	double rows = fmax((double)ranks->n_chosen, 1);
	return fmin(fmax(floor(h / rows), ROW_LEAST), ROW_MOST);
}

static struct tb_colour span_colour(const struct tb_style *style, uint32_t kind)
{
	const struct tb_palette *palette = tb_palette_of(style->theme);
	static const uint32_t hues[TB_SPAN_KINDS] = {
		[TB_SPAN_COMPUTE] = 2, [TB_SPAN_SEND] = 0, [TB_SPAN_RECEIVE] = 4};
	return kind == TB_SPAN_WAIT
		       ? palette->empty
		       : tb_colour_mix(palette->panel,
				 tb_job_colour(style->theme, hues[kind]), 0.6);
}

static struct tb_colour step_colour(const struct tb_style *style, uint32_t cause)
{
	const struct tb_palette *palette = tb_palette_of(style->theme);
	return cause == TB_PATH_HELD_UP ? palette->dead : palette->accent;
}

// draw_legend names the colours.
static void draw_legend(struct tb_pane *pane, struct tb_picture *picture)
{
	static const char *const names[] = {"computes", "sends", "receives",
		"waits until the other sends", "critical path", "held up", "calls"};
	uint32_t n = TB_SPAN_KINDS + (shown_of(pane)->calls.n ? 3 : 2);
	struct tb_type type = tb_style_type(pane->style, TB_FONT_TEXT, 12, true);
	double x = pane->place.x + PAD, y = pane->place.y + ranks_of(pane)->top_h - 20;
	for (uint32_t i = 0; i < n; i++) {
		double w = tb_text_width(type.font, type.size, names[i]) + 6;
		bool is_step = i >= TB_SPAN_KINDS;
		struct tb_colour colour =
			i == TB_SPAN_KINDS + 2 ? tb_rank_calls_colour(pane->style, 0)
			: is_step ? step_colour(pane->style, i == TB_SPAN_KINDS
								     ? TB_PATH_TRANSFER
								     : TB_PATH_HELD_UP)
				  : span_colour(pane->style, i);
		if (x + 20 + w > pane->place.x + pane->place.w)
			return;
		tb_picture_rect(picture,
			(struct tb_box){x, y + (is_step ? 5 : 2), 14, is_step ? 4 : 10},
			colour);
		tb_picture_text(
			picture, (struct tb_box){x + 20, y, w, 14}, type, names[i]);
		x += w + 34;
	}
}

// cause_colour gives what the path's bars show their colour there.
static struct tb_colour cause_colour(const struct tb_style *style, uint32_t cause)
{
	if (cause == TB_PATH_HELD_UP || cause == TB_PATH_TRANSFER)
		return step_colour(style, cause);
	if (cause == TB_PATH_COMPUTE)
		return span_colour(style, TB_SPAN_COMPUTE);
	return tb_colour_mix(tb_palette_of(style->theme)->panel,
		tb_job_colour(style->theme, cause), 0.6);
}

// draw_shares draws what the critical path is made of as a bar.
static double draw_shares(struct tb_pane *pane, struct tb_picture *picture,
	const struct tb_critical_path *path)
{
	struct tb_share shares[TB_PATH_CAUSES];
	for (size_t i = 0; i < path->n_shares; i++) {
		uint32_t cause = path->shares[i].cause;
		shares[i] = (struct tb_share){.amount = path->shares[i].percent,
			.colour = cause_colour(pane->style, cause)};
		snprintf(shares[i].text, sizeof shares[i].text, "%.3g %% %s",
			path->shares[i].percent,
			tb_path_words((enum tb_path_cause)cause));
	}
	return tb_share_bar_draw(picture, pane->style,
		(struct tb_box){pane->place.x + PAD, pane->place.y + BAR_Y,
			pane->place.w - 2 * PAD, 0},
		shares, path->n_shares, pane->place.h < LOW_H ? 1 : BAR_LINES);
}

static void draw_head(struct tb_pane *pane, struct tb_picture *picture)
{
	const struct tb_critical_path *path = &shown_of(pane)->path;
	tb_picture_text(picture,
		(struct tb_box){pane->place.x + PAD, pane->place.y + 6,
			pane->place.w - 2 * PAD, 18},
		tb_style_type(pane->style, TB_FONT_BOLD, 13, false),
		path->n_shares ? "Critical path of the run" : "What ranks did");
	if (path->n_shares)
		(void)draw_shares(pane, picture, path);
	draw_legend(pane, picture);
}

static void draw_name(struct tb_pane *pane, struct tb_picture *picture, double y,
	double h, const char *name)
{
	struct tb_type type = tb_style_type(pane->style, TB_FONT_TEXT, 11, true);
	tb_picture_name(picture,
		(struct tb_box){pane->place.x + PAD, y, GUTTER - PAD - 8, h}, type, name);
}

// draw_spans draws a rank's spans, of those in one column the one with most time.
static void draw_spans(struct tb_pane *pane, struct tb_picture *picture,
	const struct tb_timeline_rank *rank, struct tb_box row)
{
	const struct tb_timeline *timeline = shown_of(pane);
	double drawn = row.x, most = 0;
	size_t best = rank->first_span;
	for (size_t i = rank->first_span; i < rank->first_span + rank->n_spans; i++) {
		const struct tb_rank_span *span = &timeline->times.spans[i];
		double to = x_of(pane, span->to_ps), w = to - x_of(pane, span->from_ps);
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
				span_colour(
					pane->style, timeline->times.spans[best].what));
			tb_picture_pick(
				picture, (struct tb_pick){TB_PICK_CELL, (uint32_t)best});
		}
		drawn = fmax(drawn, to);
		most = 0;
	}
}

// row_of returns the row of a rank, or -1.
static double row_of(const struct tb_pane *pane, uint32_t job, uint32_t rank)
{
	const struct ranks *ranks = ranks_of(pane);
	for (size_t i = 0; i < ranks->n_chosen; i++) {
		const struct tb_timeline_rank *one =
			&shown_of(pane)->ranks[ranks->chosen[i]];
		if (one->job == job && one->rank == rank)
			return (double)i;
	}
	return -1;
}

// draw_step draws a step of the path as a bar in the row of its rank.
static void draw_step(struct tb_pane *pane, struct tb_picture *picture,
	const struct tb_path_step *step, struct tb_box row)
{
	const struct tb_blame_sample *wait =
		step->span.what == TB_PATH_HELD_UP
			? tb_critical_path_wait(&shown_of(pane)->path, step)
			: NULL;
	double from = x_of(pane, step->span.from_ps), to = x_of(pane, step->span.to_ps);
	struct tb_box bar = {from, row.y + floor(row.h * 0.3), fmax(to - from, 1),
		fmax(floor(row.h * 0.4), 2)};
	tb_picture_rect(picture, bar, step_colour(pane->style, step->span.what));
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
	const struct tb_timeline *timeline = shown_of(pane);
	struct tb_box area = area_of(pane);
	double before = -1;
	uint32_t n_hops = 0;
	for (size_t i = 0; i < timeline->path.n_steps; i++) {
		const struct tb_path_step *step = &timeline->path.steps[i];
		if (step->span.to_ps <= timeline->from_ps ||
			step->span.from_ps >= timeline->to_ps) {
			before = -1;
			continue;
		}
		double row = row_of(pane, step->span.job, step->span.rank);
		double y = top + row * h, x = x_of(pane, step->span.from_ps);
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

static void draw_link(
	struct tb_pane *pane, struct tb_picture *picture, uint32_t i, struct tb_box row)
{
	const struct ranks_answer *shown = &ranks_of(pane)->asked.shown;
	uint32_t link = shown->timeline.links[i].sample.link.id;
	double w = row.w / COLUMNS;
	draw_name(pane, picture, row.y, row.h, tb_run_links(pane->data->run)[link].label);
	tb_picture_rect(picture, row, tb_palette_of(pane->style->theme)->empty);
	tb_picture_pick(picture, (struct tb_pick){TB_PICK_LINK, link});
	for (uint32_t k = 0, end; k < COLUMNS; k = end) {
		double heat = shown->heat[(size_t)i * COLUMNS + k];
		for (end = k + 1;
			end < COLUMNS && shown->heat[(size_t)i * COLUMNS + end] == heat;)
			end++;
		if (heat <= 0)
			continue;
		tb_picture_rect(picture,
			(struct tb_box){row.x + w * k, row.y, w * (end - k), row.h},
			tb_style_shade(pane->style, 100 * heat / shown->most));
		tb_picture_pick(picture, (struct tb_pick){TB_PICK_LINK, link});
	}
	if (tb_pick_equal(
		    pane->selection->selected, (struct tb_pick){TB_PICK_LINK, link}))
		tb_picture_frame(
			picture, row, 2, tb_palette_of(pane->style->theme)->accent);
}

static void draw_axis(struct tb_pane *pane, struct tb_picture *picture, double y)
{
	const struct tb_timeline *timeline = shown_of(pane);
	struct tb_box area = area_of(pane);
	struct tb_type type = tb_style_type(pane->style, TB_FONT_TEXT, 11, true);
	char text[24];
	for (int i = 0; i <= 4; i += area.w < FEW_TICKS_W ? 2 : 1) {
		tb_time_ps span = timeline->to_ps - timeline->from_ps;
		double x = area.x + area.w * i / 4;
		tb_format_time(timeline->from_ps + span / 4 * i, text, sizeof text);
		type.align = i == 0   ? TB_ALIGN_LEFT
			     : i == 4 ? TB_ALIGN_RIGHT
				      : TB_ALIGN_CENTRE;
		x -= i == 0 ? 0 : i == 4 ? 100 : 50;
		tb_picture_text(picture, (struct tb_box){x, y + 4, 100, 14}, type, text);
	}
}

static void draw_rows(struct tb_pane *pane, struct tb_picture *picture)
{
	const struct ranks *ranks = ranks_of(pane);
	const struct tb_timeline *timeline = shown_of(pane);
	struct tb_box area = area_of(pane);
	double h = lay_out(pane), y = area.y;
	char name[200];
	for (size_t i = 0; i < ranks->n_chosen; i++, y += h) {
		const struct tb_timeline_rank *rank = &timeline->ranks[ranks->chosen[i]];
		bool several = pane->data->info->n_jobs > 1;
		snprintf(name, sizeof name, "%s%srank %" PRIu32,
			several ? tb_run_job_name(pane->data->run, rank->job) : "",
			several ? " " : "", rank->rank);
		draw_name(pane, picture, y, h - 1, name);
		draw_spans(
			pane, picture, rank, (struct tb_box){area.x, y, area.w, h - 1});
	}
	draw_path(pane, picture, area.y, h);
	for (size_t i = 0; i < ranks->n_chosen; i++)
		tb_rank_calls_draw(picture, pane->style, timeline,
			&timeline->ranks[ranks->chosen[i]],
			(struct tb_box){area.x, area.y + h * (double)i, area.w, h - 1});
	y += GAP;
	for (uint32_t i = 0; i < links_of(pane); i++, y += LINK_H)
		draw_link(
			pane, picture, i, (struct tb_box){area.x, y, area.w, LINK_H - 1});
	draw_axis(pane, picture, y);
	snprintf(name, sizeof name, "and %zu more ranks",
		timeline->n_ranks - ranks->n_chosen);
	if (timeline->n_ranks > ranks->n_chosen)
		draw_name(pane, picture, y + 4, ROW_LEAST, name);
}

static void draw(struct tb_pane *pane, struct tb_picture *picture)
{
	if (!ranks_of(pane))
		return;
	ask(pane);
	if (!ranks_of(pane)->asked.has_shown)
		return;
	if (shown_of(pane)->n_ranks == 0) {
		tb_pane_too_early(pane, picture, "what ranks did is");
		return;
	}
	const struct tb_critical_path *path = &shown_of(pane)->path;
	double bar_h = path->n_shares ? draw_shares(pane, NULL, path) : 0;
	ranks_of(pane)->top_h = BAR_Y + bar_h + LEGEND_H;
	draw_head(pane, picture);
	draw_rows(pane, picture);
}

// zoom_at zooms the window about a point of the axis, to whole bins.
static void zoom_at(struct tb_pane *pane, double x, double factor)
{
	const struct tb_window *asked = &pane->data->asked;
	struct tb_box area = area_of(pane);
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

static void pan(struct tb_pane *pane, double dx)
{
	double bins = (double)pane->data->info->n_bins;
	double width = (double)tb_viewer_data_asked_bins(pane->data);
	double first =
		(double)pane->data->asked.first_bin + round(width * dx / area_of(pane).w);
	first = fmin(fmax(first, 0), bins - width);
	if (width < bins)
		tb_viewer_show(pane->viewer,
			(struct tb_window){(uint64_t)first, (uint64_t)(first + width)},
			pane->data->metric);
}

static void pointer(struct tb_pane *pane, const struct tb_pointer_event *event)
{
	if (pane->data->info->n_bins == 0)
		return;
	if (event->kind == TB_EVENT_WHEEL && event->steps != 0)
		zoom_at(pane, event->x, event->steps > 0 ? 2 : 0.5);
	else if (event->kind == TB_EVENT_DRAG)
		pan(pane, -event->dx);
}

static bool request(struct tb_pane *pane, const struct tb_request *asked)
{
	struct tb_box area = area_of(pane);
	double middle = area.x + area.w / 2;
	if (pane->data->info->n_bins == 0)
		return false;
	switch ((int)asked->name) {
	case TB_REQUEST_ZOOM_IN:
		zoom_at(pane, middle, 2);
		return true;
	case TB_REQUEST_ZOOM_OUT:
		zoom_at(pane, middle, 0.5);
		return true;
	case TB_REQUEST_PAN_LEFT:
		pan(pane, -area.w / 4);
		return true;
	case TB_REQUEST_PAN_RIGHT:
		pan(pane, area.w / 4);
		return true;
	default:
		return false;
	}
}

static void tip(const struct tb_pane *pane, struct tb_tip *tip)
{
	static const char *const doing[TB_SPAN_KINDS] = {"computes", "sends to rank",
		"receives from rank", "waits until this rank sends:"};
	const struct tb_timeline *timeline = shown_of(pane);
	char from[24], to[24], took[24], peer[24] = "";
	if (tip->pick.kind != TB_PICK_CELL || tip->pick.index >= timeline->times.n) {
		tb_rank_calls_tip(timeline, tip);
		return;
	}
	const struct tb_rank_span *span = &timeline->times.spans[tip->pick.index];
	if (span->peer != TB_ID_NONE)
		snprintf(peer, sizeof peer, " %" PRIu32, span->peer);
	snprintf(tip->lines[0], sizeof tip->lines[0], "rank %" PRIu32 " %s%s", span->rank,
		doing[span->what],
		span->peer == TB_ID_NONE && span->what ? " several" : peer);
	snprintf(tip->lines[1], sizeof tip->lines[1], "%s to %s: %s",
		tb_format_time(span->from_ps, from, sizeof from),
		tb_format_time(span->to_ps, to, sizeof to),
		tb_format_time(span->to_ps - span->from_ps, took, sizeof took));
	tip->n_lines = 2;
	if (span->n > 1)
		snprintf(tip->lines[tip->n_lines++], sizeof tip->lines[0],
			"the longest of %" PRIu32 " short ones", span->n);
}

// is_there is true for runs of jobs; captures that are replayed as they were captured
// have no ranks.
static bool is_there(const struct tb_pane *pane)
{
	const char *kind = pane->data->run ? pane->data->info->input_kind : "";
	return strcmp(kind, "job") == 0 || strcmp(kind, "mixed") == 0;
}

const struct tb_view tb_view_ranks = {.slot = TB_SLOT_MAIN,
	.tab = "Ranks",
	.open = open_ranks,
	.draw = draw,
	.request = request,
	.pointer = pointer,
	.tip = tip,
	.is_there = is_there,
	.absent = "the run has no ranks",
	.forget = tb_pane_drop,
	.close = close_ranks};

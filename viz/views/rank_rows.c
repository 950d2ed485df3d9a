// The rows: ranks with their spans, their calls and the critical path through them, and
// below them, over the same axis, the hottest links.
#include "rank_calls.h"
#include "rank_impl.h"
#include "run_text.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#define LOW_LINKS   3
#define FEW_TICKS_W 400
#define ROW_MOST    22
#define ROW_LEAST   12 // below that, ranks are left out
#define LINK_H	    15
#define GAP	    10	 // between ranks and links
#define COLUMN	    2	 // pixels
#define HOPS	    2000 // messages of the path that have a line, at most

struct tb_box tb_ranks_area(const struct tb_pane *pane)
{
	struct tb_box place = pane->place;
	return (struct tb_box){place.x + TB_RANKS_GUTTER,
		place.y + tb_ranks_of(pane)->top_h,
		fmax(place.w - TB_RANKS_GUTTER - TB_RANKS_PAD, 1),
		fmax(place.h - tb_ranks_of(pane)->top_h - TB_RANKS_AXIS_H, 1)};
}

double tb_ranks_x(const struct tb_pane *pane, tb_time_ps at_ps)
{
	const struct tb_timeline *timeline = tb_ranks_shown(pane);
	struct tb_box area = tb_ranks_area(pane);
	double share = (double)(at_ps - timeline->from_ps) /
		       (double)(timeline->to_ps - timeline->from_ps);
	return area.x + area.w * fmin(fmax(share, 0), 1);
}

// rank_row_links returns how many links have a row.
static uint32_t rank_row_links(const struct tb_pane *pane)
{
	uint32_t n = tb_ranks_shown(pane)->n_links;
	return pane->place.h < TB_RANKS_LOW_H && n > LOW_LINKS ? LOW_LINKS : n;
}

double tb_ranks_row(const struct tb_pane *pane, uint32_t job, uint32_t rank)
{
	const struct tb_ranks *ranks = tb_ranks_of(pane);
	for (size_t i = 0; i < ranks->n_chosen; i++) {
		const struct tb_timeline_rank *one =
			&tb_ranks_shown(pane)->ranks[ranks->chosen[i]];
		if (one->job == job && one->rank == rank)
			return (double)i;
	}
	return -1;
}

// rank_row_seat gives the rank of the selected span a row, if need be the last one.
static void rank_row_seat(const struct tb_pane *pane, struct tb_rank_span span)
{
	struct tb_ranks *ranks = tb_ranks_of(pane);
	const struct tb_timeline *timeline = tb_ranks_shown(pane);
	if (ranks->n_chosen == 0 || tb_ranks_row(pane, span.job, span.rank) >= 0)
		return;
	for (size_t i = 0; i < timeline->n_ranks; i++)
		if (timeline->ranks[i].job == span.job &&
			timeline->ranks[i].rank == span.rank)
			ranks->chosen[ranks->n_chosen - 1] = i;
}

// rank_row_choose finds the ranks that have room, unless they are known.
static void rank_row_choose(const struct tb_pane *pane, size_t most)
{
	struct tb_ranks *ranks = tb_ranks_of(pane);
	const struct tb_timeline *timeline = tb_ranks_shown(pane);
	struct tb_pick selected = pane->selection->selected;
	const struct tb_rank_choice *choice = tb_ranks_choice(pane, selected);
	if (ranks->laid.n_taken == ranks->asked.n_taken && ranks->laid.most == most &&
		ranks->laid.order == ranks->order &&
		tb_pick_equal(ranks->laid.selected, selected))
		return;
	size_t *chosen =
		realloc(ranks->chosen, (timeline->n_ranks + 1) * sizeof *ranks->chosen);
	ranks->n_chosen = 0;
	if (!chosen)
		return;
	ranks->chosen = chosen;
	ranks->n_chosen = tb_timeline_choose(timeline, ranks->order, chosen, most);
	if (choice)
		rank_row_seat(pane, choice->span);
	ranks->laid.n_taken = ranks->asked.n_taken;
	ranks->laid.most = most;
	ranks->laid.order = ranks->order;
	ranks->laid.selected = selected;
}

// rank_row_lay_out chooses the ranks that have room and returns how high a row is.
static double rank_row_lay_out(const struct tb_pane *pane)
{
	double h = tb_ranks_area(pane).h - GAP - LINK_H * (double)rank_row_links(pane);
	rank_row_choose(pane, h > ROW_LEAST ? (size_t)(h / ROW_LEAST) : 1);
	double rows = fmax((double)tb_ranks_of(pane)->n_chosen, 1);
	return fmin(fmax(floor(h / rows), ROW_LEAST), ROW_MOST);
}

static void draw_rank_row_name(struct tb_pane *pane, struct tb_picture *picture, double y,
	double h, const char *name)
{
	struct tb_type type = tb_style_type(pane->style, TB_FONT_TEXT, 11, true);
	tb_picture_name(picture,
		(struct tb_box){pane->place.x + TB_RANKS_PAD, y,
			TB_RANKS_GUTTER - TB_RANKS_PAD - 8, h},
		type, name);
}

// draw_spans draws a rank's spans, of those in one column the one with most time.
static void draw_spans(struct tb_pane *pane, struct tb_picture *picture,
	const struct tb_timeline_rank *rank, struct tb_box row)
{
	const struct tb_timeline *timeline = tb_ranks_shown(pane);
	double drawn = row.x, most = 0;
	size_t best = rank->first_span;
	for (size_t i = rank->first_span; i < rank->first_span + rank->n_spans; i++) {
		const struct tb_rank_span *span = &timeline->times.spans[i];
		double to = tb_ranks_x(pane, span->to_ps),
		       w = to - tb_ranks_x(pane, span->from_ps);
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
				tb_ranks_span_colour(
					pane->style, timeline->times.spans[best].what));
			tb_picture_pick(
				picture, (struct tb_pick){TB_PICK_CELL, (uint32_t)best});
		}
		drawn = fmax(drawn, to);
		most = 0;
	}
}

// draw_step draws a step of the path as a bar in the row of its rank.
static void draw_step(struct tb_pane *pane, struct tb_picture *picture,
	const struct tb_path_step *step, struct tb_box row)
{
	const struct tb_blame_sample *wait =
		step->span.what == TB_PATH_HELD_UP
			? tb_critical_path_wait(&tb_ranks_shown(pane)->path, step)
			: NULL;
	double from = tb_ranks_x(pane, step->span.from_ps),
	       to = tb_ranks_x(pane, step->span.to_ps);
	struct tb_box bar = {from, row.y + floor(row.h * 0.3), fmax(to - from, 1),
		fmax(floor(row.h * 0.4), 2)};
	tb_picture_rect(picture, bar, tb_ranks_step_colour(pane->style, step->span.what));
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
	struct tb_box area = tb_ranks_area(pane);
	double before = -1;
	uint32_t n_hops = 0;
	for (size_t i = 0; i < timeline->path.n_steps; i++) {
		const struct tb_path_step *step = &timeline->path.steps[i];
		if (step->span.to_ps <= timeline->from_ps ||
			step->span.from_ps >= timeline->to_ps) {
			before = -1;
			continue;
		}
		double row = tb_ranks_row(pane, step->span.job, step->span.rank);
		double y = top + row * h, x = tb_ranks_x(pane, step->span.from_ps);
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
		selected.kind == TB_PICK_SPAN ? tb_ranks_held(pane) : NULL;
	bool holds = tb_pick_equal(selected, (struct tb_pick){TB_PICK_LINK, link});
	for (size_t i = 0; held && i < held->n && !holds; i++)
		holds = held->rows[i].link.id == link;
	return holds;
}

static void draw_rank_row_axis(struct tb_pane *pane, struct tb_picture *picture, double y)
{
	const struct tb_timeline *timeline = tb_ranks_shown(pane);
	struct tb_box area = tb_ranks_area(pane);
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

// name_rank writes the rank, and what its row is listed by.
static char *name_rank(const struct tb_pane *pane, const struct tb_timeline_rank *rank,
	char *buffer, size_t size)
{
	enum tb_timeline_order order = tb_ranks_of(pane)->order;
	bool several = pane->data->info->n_jobs > 1;
	char by[24];
	tb_format_time(
		order == TB_RANKS_BY_END ? rank->end_ps : rank->wait_ps, by, sizeof by);
	snprintf(buffer, size, "%s%srank %" PRIu32 "%s%s",
		several ? tb_run_job_name(pane->data->run, rank->job) : "",
		several ? " " : "", rank->rank, order == TB_RANKS_BY_JOB ? "" : ", ",
		order == TB_RANKS_BY_JOB ? "" : by);
	return buffer;
}

// draw_below draws the links, the axis, and how many ranks have no row.
static void draw_below(struct tb_pane *pane, struct tb_picture *picture, double y)
{
	const struct tb_ranks *ranks = tb_ranks_of(pane);
	struct tb_box area = tb_ranks_area(pane);
	size_t n_left = tb_ranks_shown(pane)->n_ranks - ranks->n_chosen;
	char text[64];
	for (uint32_t i = 0; i < rank_row_links(pane); i++, y += LINK_H) {
		struct tb_box row = (struct tb_box){area.x, y, area.w, LINK_H - 1};
		const struct tb_ranks_answer *shown = &tb_ranks_of(pane)->asked.shown;
		uint32_t link = shown->timeline.links[i].sample.link.id;
		double w = row.w / TB_RANKS_COLUMNS;
		draw_rank_row_name(pane, picture, row.y, row.h,
			tb_run_links(pane->data->run)[link].label);
		tb_picture_rect(picture, row, tb_palette_of(pane->style->theme)->empty);
		tb_picture_pick(picture, (struct tb_pick){TB_PICK_LINK, link});
		for (uint32_t k = 0, end; k < TB_RANKS_COLUMNS; k = end) {
			double heat = shown->heat[(size_t)i * TB_RANKS_COLUMNS + k];
			for (end = k + 1;
				end < TB_RANKS_COLUMNS &&
				shown->heat[(size_t)i * TB_RANKS_COLUMNS + end] == heat;)
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
	draw_rank_row_axis(pane, picture, y);
	snprintf(text, sizeof text, "and %zu more ranks", n_left);
	if (n_left)
		draw_rank_row_name(pane, picture, y + 4, ROW_LEAST, text);
}

void tb_ranks_rows_draw(struct tb_pane *pane, struct tb_picture *picture)
{
	double h = rank_row_lay_out(pane);
	const struct tb_ranks *ranks = tb_ranks_of(pane);
	const struct tb_timeline *timeline = tb_ranks_shown(pane);
	struct tb_box area = tb_ranks_area(pane);
	char name[200];
	for (size_t i = 0; i < ranks->n_chosen; i++) {
		const struct tb_timeline_rank *rank = &timeline->ranks[ranks->chosen[i]];
		double y = area.y + h * (double)i;
		draw_rank_row_name(pane, picture, y, h - 1,
			name_rank(pane, rank, name, sizeof name));
		draw_spans(
			pane, picture, rank, (struct tb_box){area.x, y, area.w, h - 1});
	}
	draw_path(pane, picture, area.y, h);
	for (size_t i = 0; i < ranks->n_chosen; i++)
		tb_rank_calls_draw(picture, pane->style, timeline,
			&timeline->ranks[ranks->chosen[i]],
			(struct tb_box){area.x, area.y + h * (double)i, area.w, h - 1});
	tb_ranks_held_draw(pane, picture, area.y, h);
	draw_below(pane, picture, area.y + h * (double)ranks->n_chosen + GAP);
}

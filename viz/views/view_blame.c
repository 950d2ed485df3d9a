// Blame: who waited for whom, job against job and flow against flow, and where. A
// selected link, node or job narrows it to the waits there. A window restricts it to the
// slices of time that it touches; of these the store does not keep the links.
#include "list_view.h"
#include "markup.h"
#include "parts.h"
#include "scale.h"
#include "squares.h"
#include "views.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define PAD	 16
#define TITLE_H	 26
#define LABEL_H	 14 // a line above the square
#define ROW_H	 20
#define HEADER_H 22
#define SPAN_H	 22
#define TIP_W	 400 // of a name in a tooltip
#define LEAST_PX 15  // of a cell of the square
#define TIMES_W	 48  // of one of counts

#define LEAST_H		240 // of the place for square and list
#define LEAST_FIGURES_W 520 // of a list with more figures than the wait
#define LITTLE		20  // percent of the wait, of which less is but a sample
#define LEAST_NAMED	5   // columns of the square with names above them

struct blame_state {
	struct tb_blame_square jobs, flows;
	struct tb_blame_filter filter;
	uint32_t victim_job, culprit_job; // chosen in the jobs' square
	uint32_t *rows;			  // of the list: those that pass
	uint32_t n_rows;
	double scroll;
	bool filled;
	double flows_w, flows_h; // of the square's place then
	const struct tb_heavy_waits *filled_of;
	struct tb_span span;	     // of these
	bool is_bounded;	     // rows are the heaviest, at least
	double kept_percent;	     // of the wait, which the store has by flow
	struct tb_name_widths names; // of the list
	// At the sides of the square, above which an end has a line of its own.
	double label_w, end_w;
	bool named;    // the square has names, not numbers of nodes
	int end_lines; // of an end above it, 2 where names have blanks
};

static void close_blame(void *state)
{
	struct blame_state *blame = state;
	free(blame->rows);
}

static struct blame_state *blame_rows(const struct tb_pane *pane)
{
	return pane->state;
}

static int open_blame(struct tb_pane *pane, struct tb_error *error)
{
	if (blame_rows(pane))
		return TB_OK;
	struct blame_state *made = calloc(1, sizeof *made);
	if (!made)
		return tb_fail_memory(error, "who waited for whom");
	made->victim_job = made->culprit_job = TB_ID_NONE;
	pane->state = made;
	return TB_OK;
}

static bool blame_in_window(const struct tb_pane *pane)
{
	return !tb_window_whole(pane->data->info, pane->data->window);
}

// heaviest_of and job_pairs_of return what is shown, NULL while that is being read.
static const struct tb_heavy_waits *heaviest_of(const struct tb_pane *pane)
{
	const struct tb_during *during;
	if (!blame_in_window(pane))
		return tb_viewer_blame(pane->viewer);
	during = tb_viewer_during(pane->viewer);
	return during ? &during->heaviest : NULL;
}

static const struct tb_job_pairs *job_pairs_of(const struct tb_pane *pane)
{
	const struct tb_during *during;
	if (!blame_in_window(pane))
		return tb_viewer_job_pairs(pane->viewer);
	during = tb_viewer_during(pane->viewer);
	return during ? &during->job_pairs : NULL;
}

// blame_pick returns what a row of flows stands for: rows of the whole run are known by
// themselves, those of a window by the flow that waited.
static struct tb_pick blame_pick(const struct tb_pane *pane, uint32_t index)
{
	const struct tb_pick none = {TB_PICK_NONE, 0};
	if (!blame_in_window(pane))
		return (struct tb_pick){TB_PICK_PAIR, index};
	const struct tb_heavy_waits *waits = heaviest_of(pane);
	const struct tb_flow_table *table = tb_viewer_flows(pane->viewer);
	if (!waits || !table || index >= waits->listed.n)
		return none;
	const struct tb_blame_sample *row = &waits->rows[index];
	uint32_t flow = tb_flow_table_find(
		table, row->victim_job, row->victim_source, row->victim_destination);
	return flow < table->n ? (struct tb_pick){TB_PICK_FLOW, flow} : none;
}

// filter_of narrows to the selected link, node or job.
static struct tb_blame_filter filter_of(const struct tb_pane *pane)
{
	const struct blame_state *blame = blame_rows(pane);
	struct tb_blame_filter filter = {
		TB_ID_NONE, blame->victim_job, blame->culprit_job, TB_ID_NONE};
	if (pane->selection->selected.kind == TB_PICK_LINK && !blame_in_window(pane))
		filter.link = pane->selection->selected.index;
	if (pane->selection->selected.kind == TB_PICK_NODE)
		filter.node = pane->selection->selected.index;
	if (pane->selection->selected.kind == TB_PICK_JOB)
		filter.victim_job = pane->selection->selected.index;
	return filter;
}

static bool is_whole(const struct tb_blame_filter *filter)
{
	return filter->link == TB_ID_NONE && filter->node == TB_ID_NONE &&
	       filter->victim_job == TB_ID_NONE && filter->culprit_job == TB_ID_NONE;
}

static bool same_filter(struct tb_blame_filter a, struct tb_blame_filter b)
{
	return a.link == b.link && a.victim_job == b.victim_job &&
	       a.culprit_job == b.culprit_job && a.node == b.node;
}

// The places of the view's parts.
struct blame_parts {
	struct tb_box jobs, flows, list;
};

static struct blame_parts blame_parts_of(const struct tb_pane *pane)
{
	struct tb_box place = pane->place;
	double span_h = blame_in_window(pane) ? SPAN_H : 0;
	place.y += span_h;
	place.h -= span_h;
	// A low place has the list alone.
	double top_h = place.h < LEAST_H ? 0 : fmax(place.h * 0.52, 150);
	double jobs_w =
		pane->data->info->n_jobs > 1 ? fmin(place.w * 0.38, top_h * 1.25) : 0;
	struct tb_box top = {place.x + PAD, place.y + 8, place.w - 2 * PAD, top_h - 8};
	return (struct blame_parts){.jobs = {top.x, top.y, jobs_w, top.h},
		.flows = {top.x + jobs_w + (jobs_w > 0 ? 24 : 0), top.y,
			top.w - jobs_w - (jobs_w > 0 ? 24 : 0), top.h},
		.list = {place.x, place.y + top_h + 8, place.w, place.h - top_h - 8}};
}

// end_text writes an end of a flow above a column.
static char *end_text(
	const struct tb_pane *pane, struct tb_node node, char *buffer, size_t size)
{
	const char *name = tb_run_node_label(pane->data->run, node);
	if (*name && blame_rows(pane)->named)
		snprintf(buffer, size, "%s", name);
	else
		snprintf(buffer, size, "%" PRIu32, node.id);
	return buffer;
}

// end_blank returns the blank at which a name above a column may break; NULL: nowhere.
static const char *end_blank(const struct tb_pane *pane, const char *name)
{
	return blame_rows(pane)->named ? strrchr(name, ' ') : NULL;
}

// label_h returns the height of what stands above a square.
static double label_h(const struct tb_pane *pane, enum tb_blame_parties parties)
{
	return parties == TB_BLAME_OF_JOBS
		       ? 2 * LABEL_H
		       : 2 * LABEL_H * fmax(blame_rows(pane)->end_lines, 1);
}

// label_w returns the room for labels left of a square.
static double label_w(const struct tb_pane *pane, enum tb_blame_parties parties)
{
	return parties == TB_BLAME_OF_JOBS ? 84 : blame_rows(pane)->label_w;
}

static uint32_t side_of(
	const struct tb_pane *pane, struct tb_box box, enum tb_blame_parties parties)
{
	double h = (box.h - TITLE_H - label_h(pane, parties) - 30) / LEAST_PX;
	double w = (box.w - label_w(pane, parties)) /
		   (parties == TB_BLAME_OF_JOBS ? LEAST_PX : blame_rows(pane)->end_w);
	return (uint32_t)fmin(fmax(fmin(h, w), 1), TB_BLAME_SIDE);
}

// measure_names finds how wide names are. The square has them where that leaves room for
// LEAST_NAMED columns, or for as many as numbers do.
static void measure_names(struct tb_pane *pane, const struct tb_blame_sample *rows)
{
	struct blame_state *blame = blame_rows(pane);
	const struct tb_run *run = pane->data->run;
	const struct tb_box box = blame_parts_of(pane).flows;
	double sides[2][2] = {{0, 0}, {0, 0}}; // of numbers and names: label, end
	uint32_t n[2];
	char text[160];
	bool has_blanks = false;
	blame->names = (struct tb_name_widths){0, 0, 0};
	for (uint32_t i = 0; i < blame->n_rows; i++) {
		const struct tb_blame_sample *row = &rows[blame->rows[i]];
		const struct tb_node ends[] = {row->victim_source,
			row->victim_destination, row->culprit_source,
			row->culprit_destination};
		tb_name_widths_add(&blame->names, run, row,
			blame_in_window(pane)
				? ""
				: tb_viewer_wait_label(pane->data, blame->rows[i]));
		for (int j = 0; j < 4; j += 2) {
			tb_run_pair_text(
				run, ends[j], ends[j + 1], INFINITY, text, sizeof text);
			sides[1][0] =
				fmax(sides[1][0], tb_text_width(TB_FONT_TEXT, 11, text));
		}
		for (int j = 0; j < 8; j++) {
			blame->named = j >= 4;
			end_text(pane, ends[j % 4], text, sizeof text - 2);
			const char *blank = end_blank(pane, text);
			size_t first = blank ? (size_t)(blank - text) : 0;
			has_blanks |= blank != NULL;
			strcat(text, " >");
			double w = tb_text_width(
				TB_FONT_TEXT, 10, text + first + (blank != NULL));
			text[first] = '\0';
			w = fmax(w, tb_text_width(TB_FONT_TEXT, 10, text));
			sides[blame->named][1] = fmax(sides[blame->named][1], w);
		}
	}
	snprintf(text, sizeof text, "%" PRIu32 " > %" PRIu32, pane->data->info->n_nodes,
		pane->data->info->n_nodes);
	sides[0][0] = tb_text_width(TB_FONT_TEXT, 11, text);
	for (int named = 0; named < 2; named++) {
		blame->label_w = fmax(sides[named][0] + 12, 60);
		blame->end_w = fmax(sides[named][1] + 4, 12);
		blame->end_lines = named && has_blanks ? 2 : 1;
		n[named] = side_of(pane, box, TB_BLAME_OF_FLOWS);
	}
	blame->named = n[1] >= LEAST_NAMED || n[1] >= n[0];
	if (blame->named)
		return;
	blame->label_w = fmax(sides[0][0] + 12, 60);
	blame->end_w = fmax(sides[0][1] + 4, 12);
	blame->end_lines = 1;
}

// fill_jobs fills the square of jobs, of which sums are known: all of the wait.
static int fill_jobs(struct tb_pane *pane, const struct tb_job_pairs *pairs)
{
	const struct tb_blame_filter all = {
		TB_ID_NONE, TB_ID_NONE, TB_ID_NONE, TB_ID_NONE};
	const struct tb_node none = {TB_ID_NONE};
	uint32_t n = pairs->listed.n;
	struct tb_blame_sample *rows = malloc((n + 1u) * sizeof *rows);
	if (!rows)
		return TB_ENOMEM;
	for (uint32_t i = 0; i < n; i++)
		rows[i] = (struct tb_blame_sample){.link = {TB_ID_NONE},
			.victim_job = pairs->rows[i].victim_job,
			.victim_source = none,
			.victim_destination = none,
			.culprit_job = pairs->rows[i].culprit_job,
			.culprit_source = none,
			.culprit_destination = none,
			.wait_ps = pairs->rows[i].wait_ps};
	int status =
		tb_blame_square_fill(&blame_rows(pane)->jobs, rows, n, TB_BLAME_OF_JOBS,
			&all, side_of(pane, blame_parts_of(pane).jobs, TB_BLAME_OF_JOBS));
	free(rows);
	return status;
}

// is_filled_of is true when the rows are of these waits: one answer takes the place of
// another of the same kind.
static bool is_filled_of(
	const struct blame_state *blame, const struct tb_heavy_waits *waits)
{
	return blame->rows && blame->filled_of == waits &&
	       blame->span.from_ps == waits->listed.span.from_ps &&
	       blame->span.to_ps == waits->listed.span.to_ps;
}

static int blame_fill(struct tb_pane *pane, const struct tb_heavy_waits *waits,
	const struct tb_job_pairs *pairs)
{
	struct blame_state *blame = blame_rows(pane);
	const struct tb_blame_sample *rows = waits->rows;
	uint32_t n = waits->listed.n;
	struct tb_blame_filter filter = filter_of(pane);
	struct tb_box flows = blame_parts_of(pane).flows;
	if (blame->filled && is_filled_of(blame, waits) &&
		same_filter(filter, blame->filter) && blame->flows_w == flows.w &&
		blame->flows_h == flows.h)
		return TB_OK;
	if (!is_filled_of(blame, waits)) {
		free(blame->rows);
		blame->rows = malloc((n + 1u) * sizeof *blame->rows);
		blame->filled_of = waits;
		blame->span = waits->listed.span;
	}
	if (!blame->rows)
		return TB_ENOMEM;
	// A wait for a link is at the link that is waited for, not where packets came in.
	struct tb_blame_sample *placed = malloc((n + 1u) * sizeof *placed);
	if (!placed)
		return TB_ENOMEM;
	blame->n_rows = 0;
	for (uint32_t i = 0; i < n; i++) {
		placed[i] = rows[i];
		if (!blame_in_window(pane) && pane->data->info->wait == TB_WAIT_FOR)
			placed[i].link = pane->data->of_blame.places[i].link;
		if (tb_blame_passes(&placed[i], &filter))
			blame->rows[blame->n_rows++] = i;
	}
	measure_names(pane, rows);
	blame->flows_w = flows.w;
	blame->flows_h = flows.h;
	int status = fill_jobs(pane, pairs);
	if (status == TB_OK)
		status = tb_blame_square_fill(&blame->flows, placed, n, TB_BLAME_OF_FLOWS,
			&filter, side_of(pane, flows, TB_BLAME_OF_FLOWS));
	free(placed);
	if (is_whole(&filter))
		blame->flows.whole_ps = (uint64_t)waits->listed.whole_ps;
	blame->kept_percent =
		waits->listed.whole_ps > 0
			? 100 - 100 * waits->listed.rest_ps / waits->listed.whole_ps
			: 100;
	blame->is_bounded = waits->listed.rest_ps > 0 || waits->listed.floor_ps > 0;
	blame->filter = filter;
	blame->filled = status == TB_OK;
	return status;
}

static char *party_text(const struct tb_pane *pane, const struct tb_square_party *party,
	bool of_jobs, double width, char *buffer, size_t size)
{
	const char *job = tb_run_job_name(pane->data->run, party->job);
	if (!of_jobs)
		tb_run_pair_text(pane->data->run, party->source, party->destination,
			width, buffer, size);
	else if (job[0])
		snprintf(buffer, size, "%s", job);
	else
		snprintf(buffer, size, "job %" PRIu32, party->job);
	return buffer;
}

static void draw_blame_cell(struct tb_pane *pane, struct tb_picture *picture,
	struct tb_box box, const struct tb_blame_square *square, uint32_t index)
{
	const struct tb_palette *palette = tb_palette_of(pane->style->theme);
	const struct blame_state *blame = blame_rows(pane);
	uint32_t victim = index / TB_BLAME_SIDE, culprit = index % TB_BLAME_SIDE;
	bool of_jobs = square->parties == TB_BLAME_OF_JOBS;
	uint64_t wait_ps = square->wait_ps[victim][culprit];
	const struct tb_scale scale =
		tb_style_scale(pane->style, TB_QUANTITY_TIME, (double)square->largest_ps);
	struct tb_colour colour =
		wait_ps ? tb_style_shade(
				  pane->style, tb_scale_percent(&scale, (double)wait_ps))
			: palette->empty;
	char text[16];
	tb_picture_rect(picture, box, colour);
	tb_picture_pick(
		picture, (struct tb_pick){of_jobs ? TB_PICK_JOBS : TB_PICK_CELL, index});
	if (wait_ps && box.w >= 22)
		tb_picture_text(picture, box,
			(struct tb_type){TB_FONT_TEXT, fmin(box.h * 0.55, 11),
				TB_ALIGN_CENTRE, tb_colour_ink(colour)},
			tb_scale_number(&scale, (double)wait_ps, text, sizeof text));
	bool chosen =
		of_jobs ? square->victims[victim].job == blame->victim_job &&
				  square->culprits[culprit].job == blame->culprit_job
			: wait_ps && pane->selection->selected.kind != TB_PICK_NONE &&
				  tb_pick_equal(pane->selection->selected,
					  blame_pick(pane,
						  square->heaviest[victim][culprit]));
	if (chosen)
		tb_picture_frame(picture,
			(struct tb_box){box.x - 2, box.y - 2, box.w + 4, box.h + 4}, 2,
			palette->accent);
}

// draw_end writes an end of a flow above its column, at the bottom of the box.
static void draw_end(struct tb_pane *pane, struct tb_picture *picture, struct tb_box box,
	struct tb_node node, const char *arrow)
{
	char text[96];
	struct tb_type type = tb_style_type(pane->style, TB_FONT_TEXT, 10, true);
	type.align = TB_ALIGN_CENTRE;
	const char *blank = end_blank(pane, end_text(pane, node, text, sizeof text));
	int first = blank ? (int)(blank - text) : 0;
	box.y += box.h - LABEL_H;
	box.h = LABEL_H;
	tb_picture_printf(
		picture, box, type, "%s%s", text + first + (blank != NULL), arrow);
	box.y -= LABEL_H;
	if (blank)
		tb_picture_printf(picture, box, type, "%.*s", first, text);
}

// draw_culprit labels a column: a flow one end below the other, as columns are narrow.
static void draw_culprit(struct tb_pane *pane, struct tb_picture *picture,
	struct tb_box box, const struct tb_square_party *party, bool of_jobs)
{
	char text[96];
	struct tb_type type = tb_style_type(pane->style, TB_FONT_TEXT, 11, true);
	type.align = TB_ALIGN_CENTRE;
	if (of_jobs) {
		party_text(pane, party, true, 0, text, sizeof text);
		tb_picture_text(picture, box, type, text);
		return;
	}
	box.h /= 2;
	draw_end(pane, picture, box, party->source, " >");
	box.y += box.h;
	draw_end(pane, picture, box, party->destination, "");
}

static void draw_square(struct tb_pane *pane, struct tb_picture *picture,
	struct tb_box box, const struct tb_blame_square *square)
{
	bool of_jobs = square->parties == TB_BLAME_OF_JOBS;
	double left = label_w(pane, square->parties);
	double w = (box.w - left) / fmax(square->n_culprits, 1);
	const double above_h = label_h(pane, square->parties);
	double h = (box.h - TITLE_H - above_h - 22) / fmax(square->n_victims, 1);
	struct tb_type type = tb_style_type(pane->style, TB_FONT_TEXT, 11, true);
	char text[160];
	w = fmin(w, fmax(blame_rows(pane)->end_w, 96));
	h = fmin(h, 30);
	const char *title = of_jobs ? "Job against job" : "Flow against flow";
	const struct tb_type bold = tb_style_type(pane->style, TB_FONT_BOLD, 13, false);
	tb_picture_text(picture, (struct tb_box){box.x, box.y, box.w, 18}, bold, title);
	double share = square->whole_ps ? 100.0 * (double)square->shown_ps /
						  (double)square->whole_ps
					: 0;
	double title_w = tb_text_width(bold.font, bold.size, title) + 12;
	char sample[128], brief_sample[48];
	snprintf(sample, sizeof sample,
		"a sample: the store keeps %s of the wait by flow; lists of links and "
		"trees have all of it",
		tb_share_text(blame_rows(pane)->kept_percent, (char[16]){0}, 16));
	snprintf(brief_sample, sizeof brief_sample, "a sample: %s of the wait",
		tb_share_text(blame_rows(pane)->kept_percent, (char[16]){0}, 16));
	const struct tb_box beside = {box.x + title_w, box.y, box.w - title_w, 18};
	if (!of_jobs && pane->data->info->caution[0])
		tb_picture_fitting(picture, beside, type,
			(const char *const[]){TB_FLUID_BLAME,
				"a fluid's is a sample, by rates", "a sample", NULL});
	else if (!of_jobs && blame_rows(pane)->kept_percent < LITTLE)
		tb_picture_fitting(picture, beside, type,
			(const char *const[]){sample, brief_sample, NULL});
	for (uint32_t i = 0; i < square->n_culprits; i++)
		draw_culprit(pane, picture,
			(struct tb_box){
				box.x + left + i * w, box.y + TITLE_H, w - 1, above_h},
			&square->culprits[i], of_jobs);
	double y = box.y + TITLE_H + above_h + 2;
	for (uint32_t row = 0; row < square->n_victims; row++, y += h) {
		type.align = TB_ALIGN_RIGHT;
		tb_picture_text(picture, (struct tb_box){box.x, y, left - 8, h}, type,
			party_text(pane, &square->victims[row], of_jobs,
				blame_rows(pane)->named ? INFINITY : 0, text,
				sizeof text));
		for (uint32_t i = 0; i < square->n_culprits; i++)
			draw_blame_cell(pane, picture,
				(struct tb_box){box.x + left + i * w, y, w - 1, h - 1},
				square, row * TB_BLAME_SIDE + i);
	}
	type.align = TB_ALIGN_LEFT;
	char long_text[192], brief[128], hundred[64] = "", part[48] = "", percent[16];
	if (!pane->style->absolute)
		snprintf(hundred, sizeof hundred, "; 100 is %s, %s of %s",
			TB_TIME_TEXT((tb_time_ps)square->largest_ps),
			tb_share_text(100.0 * (double)square->largest_ps /
					      fmax((double)square->whole_ps, 1),
				percent, sizeof percent),
			of_jobs || is_whole(&blame_rows(pane)->filter) ? "all wait"
								       : "these waits");
	if (share < 99.5)
		snprintf(part, sizeof part, "; shown %s",
			tb_share_text(share, percent, sizeof percent));
	snprintf(long_text, sizeof long_text, "row waited for column%s%s%s",
		!of_jobs && blame_rows(pane)->is_bounded  ? ", the heaviest, at least"
		: square->n_victims < square->all_victims ? ", heaviest only"
							  : "",
		hundred, part);
	snprintf(brief, sizeof brief, "row for column%s%s", hundred, part);
	tb_picture_fitting(picture, (struct tb_box){box.x, y + 4, box.w, 16}, type,
		(const char *const[]){long_text, brief,
			hundred[0] ? hundred + 2 : "row for column",
			"row waited for column", NULL});
}

// What the functions of the list need.
struct blame_shown {
	const struct tb_pane *pane;
	const struct tb_blame_sample *rows;
};

static struct tb_pick pick_wait(const struct tb_list_view *list, uint32_t row)
{
	const struct blame_shown *shown = list->context;
	return blame_pick(shown->pane, blame_rows(shown->pane)->rows[row]);
}

// Columns of figures are numbered as enum tb_listed_figure, those of names follow.
enum { WHO = TB_N_LISTED_FIGURES, WHOM, WHERE };

// listed_wait returns the figures of a row. Of a window the number of waits is not known.
static struct tb_listed_wait listed_wait(
	const struct tb_pane *pane, const struct tb_blame_sample *row)
{
	return (struct tb_listed_wait){.wait_ps = (int64_t)row->wait_ps,
		.error_ps = (int64_t)row->error_ps,
		.waits = blame_in_window(pane) ? -1 : (int64_t)row->n_waits};
}

static void draw_wait(const struct tb_list_cell *cell)
{
	const struct blame_shown *shown = cell->list->context;
	const struct tb_run *run = shown->pane->data->run;
	const struct tb_blame_sample *row =
		&shown->rows[blame_rows(shown->pane)->rows[cell->row]];
	const struct tb_listed_wait wait = listed_wait(shown->pane, row);
	double w = cell->box.w;
	char text[160] = "=";
	if (cell->what < TB_N_LISTED_FIGURES) {
		enum tb_listed_figure figure = (enum tb_listed_figure)cell->what;
		if (figure != TB_LISTED_AT_MOST || row->error_ps)
			tb_wait_figure_format(&wait, figure, text, sizeof text);
		tb_list_cell_number(cell, false, text);
		return;
	}
	if (cell->what == WHO)
		tb_run_pair_text(run, row->victim_source, row->victim_destination, w,
			text, sizeof text);
	else if (cell->what == WHOM)
		tb_run_pair_text(run, row->culprit_source, row->culprit_destination, w,
			text, sizeof text);
	else
		snprintf(text, sizeof text, "%s",
			tb_viewer_wait_label(shown->pane->data,
				blame_rows(shown->pane)->rows[cell->row]));
	tb_list_cell_name(cell, text);
}

// list_waits returns the list without its columns.
static struct tb_list_view list_waits(const struct tb_pane *pane)
{
	struct tb_box place = blame_parts_of(pane).list;
	return (struct tb_list_view){.pick = pick_wait,
		.chosen = pane->selection->selected,
		.body = {place.x, place.y + HEADER_H, place.w,
			fmax(place.h - HEADER_H, 1)},
		.n = blame_rows(pane)->n_rows,
		.row_h = ROW_H,
		.scroll = &blame_rows(pane)->scroll,
		.notch = 3};
}

static void draw_blame_list(struct tb_pane *pane, struct tb_picture *picture,
	const struct tb_blame_sample *rows)
{
	const struct blame_shown shown = {pane, rows};
	struct tb_list_view list = list_waits(pane);
	struct tb_view_column columns[TB_N_LISTED_FIGURES + 3];
	bool of_window = blame_in_window(pane), bounded = blame_rows(pane)->is_bounded;
	const struct tb_listed_wait first =
		listed_wait(pane, &rows[blame_rows(pane)->rows[0]]);
	double w = list.body.w, x = PAD;
	size_t n = 0;
	for (int i = 0; i < TB_N_LISTED_FIGURES; i++) {
		// Where rows are the heaviest, they are "at least" and have an "at most".
		bool at_least = bounded && i == TB_LISTED_WAIT;
		if (!tb_blame_looks[i].title || (i == TB_LISTED_AT_MOST && !bounded) ||
			(i != TB_LISTED_WAIT && w < LEAST_FIGURES_W) ||
			isnan(tb_listed_figure_of(&first, (enum tb_listed_figure)i)))
			continue;
		columns[n++] = (struct tb_view_column){.what = i,
			.title = at_least ? "Wait, at least" : tb_blame_looks[i].title,
			.brief = at_least ? "at least" : NULL,
			.x = x,
			.w = i == TB_LISTED_WAITS ? TIMES_W : TB_LIST_FIGURE_W,
			.align = TB_ALIGN_RIGHT};
		x += columns[n - 1].w + 4;
	}
	// Of a window the links are not known.
	n += tb_list_view_names(columns + n, WHO, x, w - PAD, &blame_rows(pane)->names,
		of_window ? NULL : tb_viewer_wait_title(pane->data));
	list.draw = draw_wait;
	list.context = &shown;
	list.columns = columns;
	list.n_columns = n;
	tb_list_view_draw_titles(&list, pane, picture, list.body.y - HEADER_H, HEADER_H);
	tb_picture_line(picture,
		(struct tb_box){
			list.body.x + PAD, list.body.y - 0.5, list.body.w - 2 * PAD, 0},
		1, tb_palette_of(pane->style->theme)->line);
	tb_list_view_draw(&list, pane, picture);
}

static void blame_nothing(struct tb_pane *pane, struct tb_picture *picture)
{
	const struct tb_heavy_waits *waits = heaviest_of(pane);
	bool narrowed = waits && waits->listed.n > 0;
	bool of_span = waits && waits->listed.span.to_ps;
	if (!narrowed && !of_span)
		tb_pane_no_waits(pane, picture, "blame is");
	else
		tb_pane_nothing(pane, picture,
			narrowed ? "Nothing to show: no wait is known here. Escape "
				   "shows all."
				 : "Nothing to show: no wait is known of this time. 0 "
				   "shows the whole run.");
}

static void blame_draw(struct tb_pane *pane, struct tb_picture *picture)
{
	const struct tb_heavy_waits *waits = heaviest_of(pane);
	const struct tb_job_pairs *pairs = job_pairs_of(pane);
	struct blame_parts parts = blame_parts_of(pane);
	if (!blame_rows(pane) || !waits || !pairs)
		return;
	if (blame_fill(pane, waits, pairs) != TB_OK) {
		picture->status = TB_ENOMEM;
		return;
	}
	// Name the time that the waits are of: slices are wider than bins may be.
	char span[64];
	if (blame_in_window(pane)) {
		tb_picture_printf(picture,
			(struct tb_box){pane->place.x + PAD, pane->place.y + 6,
				pane->place.w - 2 * PAD, 16},
			tb_style_type(pane->style, TB_FONT_TEXT, 12, true),
			"Waits of %s, the slices of time that the window touches, at all "
			"links",
			tb_span_text(blame_rows(pane)->span, span, sizeof span));
	}
	if (blame_rows(pane)->n_rows == 0) {
		blame_nothing(pane, picture);
		return;
	}
	if (parts.jobs.w > 0)
		draw_square(pane, picture, parts.jobs, &blame_rows(pane)->jobs);
	if (parts.flows.h > 0)
		draw_square(pane, picture, parts.flows, &blame_rows(pane)->flows);
	draw_blame_list(pane, picture, waits->rows);
}

static void choose_jobs(struct tb_pane *pane, uint32_t index)
{
	struct blame_state *blame = blame_rows(pane);
	uint32_t victim = blame->jobs.victims[index / TB_BLAME_SIDE].job;
	uint32_t culprit = blame->jobs.culprits[index % TB_BLAME_SIDE].job;
	bool again = blame->victim_job == victim && blame->culprit_job == culprit;
	blame->victim_job = again ? TB_ID_NONE : victim;
	blame->culprit_job = again ? TB_ID_NONE : culprit;
	blame->scroll = 0;
}

static void blame_click(struct tb_pane *pane, struct tb_pick pick)
{
	const struct blame_state *blame = blame_rows(pane);
	uint32_t victim = pick.index / TB_BLAME_SIDE,
		 culprit = pick.index % TB_BLAME_SIDE;
	if (pick.kind == TB_PICK_JOBS)
		choose_jobs(pane, pick.index);
	else if (pick.kind == TB_PICK_CELL && blame->flows.wait_ps[victim][culprit])
		tb_viewer_select(pane->viewer,
			blame_pick(pane, blame->flows.heaviest[victim][culprit]));
	else if (pick.kind == TB_PICK_NONE)
		tb_viewer_select(pane->viewer, pick);
}

static void blame_pointer(struct tb_pane *pane, const struct tb_pointer_event *event)
{
	struct blame_state *blame = blame_rows(pane);
	if (!blame || !blame->filled)
		return;
	const struct tb_list_view list = list_waits(pane);
	if (!tb_list_view_pointer(&list, event) && event->kind == TB_EVENT_CLICK)
		blame_click(pane, event->pick);
}

static bool blame_request(struct tb_pane *pane, const struct tb_request *asked)
{
	struct blame_state *blame = blame_rows(pane);
	if (!blame)
		return false;
	const struct tb_list_view list = list_waits(pane);
	if (asked->name == TB_REQUEST_FIT)
		blame->victim_job = blame->culprit_job = TB_ID_NONE;
	return tb_list_view_request(&list, asked);
}

static void blame_tip(const struct tb_pane *pane, struct tb_tip *tip)
{
	struct tb_pick pick = tip->pick;
	const struct blame_state *blame = blame_rows(pane);
	char victim[64], culprit[64];
	if (!blame || !blame->filled ||
		(pick.kind != TB_PICK_JOBS && pick.kind != TB_PICK_CELL))
		return;
	bool of_jobs = pick.kind == TB_PICK_JOBS;
	const struct tb_blame_square *square = of_jobs ? &blame->jobs : &blame->flows;
	uint32_t row = pick.index / TB_BLAME_SIDE, column = pick.index % TB_BLAME_SIDE;
	if (row >= square->n_victims || column >= square->n_culprits)
		return;
	uint64_t wait_ps = square->wait_ps[row][column];
	tb_tip_line(tip, 0, "%s waited for %s",
		party_text(pane, &square->victims[row], of_jobs, TIP_W, victim,
			sizeof victim),
		party_text(pane, &square->culprits[column], of_jobs, TIP_W, culprit,
			sizeof culprit));
	tb_tip_line(tip, 1, "%s, %.1f %% of the wait", TB_METRIC_TEXT(TB_WAIT, wait_ps),
		square->whole_ps ? 100.0 * (double)wait_ps / (double)square->whole_ps
				 : 0);
	tb_tip_line(tip, 2,
		"time that packets waited while the other's packets held %s%s",
		pane->data->info->words->held,
		blame_in_window(pane) ? "" : ", whole run");
}

static void blame_put_csv(struct tb_pane *pane, FILE *stream)
{
	const struct blame_state *blame = blame_rows(pane);
	const struct tb_heavy_waits *waits = heaviest_of(pane);
	fputs("waited,waited_for,link", stream);
	tb_wait_figures_put_keys(tb_blame_looks, stream);
	fputc('\n', stream);
	const struct tb_job_pairs *pairs = job_pairs_of(pane);
	if (!blame || !waits || !pairs || blame_fill(pane, waits, pairs) != TB_OK)
		return;
	for (uint32_t i = 0; i < blame->n_rows; i++) {
		const struct tb_blame_sample *row = &waits->rows[blame->rows[i]];
		uint32_t link = row->link.id;
		const struct tb_listed_wait wait = listed_wait(pane, row);
		tb_pane_put_flow(
			pane, stream, row->victim_source, row->victim_destination);
		fputc(',', stream);
		tb_pane_put_flow(
			pane, stream, row->culprit_source, row->culprit_destination);
		fputc(',', stream);
		tb_csv_put(stream, link == TB_ID_NONE
					   ? ""
					   : tb_run_links(pane->data->run)[link].label);
		tb_wait_figures_put(tb_blame_looks, &wait, stream);
		fputc('\n', stream);
	}
}

const struct tb_view tb_view_blame = {.slot = TB_SLOT_MAIN,
	.about = "Whose packets held what others waited for. Rows waited for columns. A "
		 "click on a cell or row marks the paths of both.",
	.put_csv = blame_put_csv,
	.is_there = tb_pane_is_replayed,
	.name = "blame",
	.tab = "Blame",
	.open = open_blame,
	.draw = blame_draw,
	.request = blame_request,
	.pointer = blame_pointer,
	.tip = blame_tip,
	.forget = tb_pane_drop,
	.close = close_blame};

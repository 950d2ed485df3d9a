#include "matrix_picture.h"

#include "backends.h"
#include "json.h"
#include "markup.h"
#include "scale.h"
#include "wrap.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

// The natural size: 16 boxes of four links per line, as in the paper's figure.
static const struct tb_matrix_metrics natural = {.cell_w = 24,
	.cell_h = 17,
	.sum_h = 21,
	.gap_x = 8,
	.gap_y = 8,
	.strip_gap = 4,
	.band_gap = 16};

#define NATURAL_WIDTH	 1656
#define FOLDED_WIDTH	 1784 // 32 groups per line
#define PAGE_WIDTH	 980  // in an HTML page
#define FOLDED_PAGE	 1048 // the same of 16 groups per line
#define NARROWEST	 420
#define WIDE		 960  // from here on the legend stands beside its text
#define MOST_NUMBERS_H	 1800 // a page of numbers; taller figures show shades alone
#define SHADES_H	 1000
#define SHADES_BAND_GAP	 48
#define PICTURE_GROUPS	 64 // at most in a level
#define LEAST_GROUPS	 16 // on paper, where else their numbers cannot be read
#define TERMINAL_GROUPS	 16
#define NAME_H		 13    // of the names of groups
#define MOST_TIPS	 20000 // links
#define MARGIN		 28
#define GUTTER		 100
#define HEAD		 64
#define FOOT		 88
#define FOOT_MOST	 112 // where what the legend means takes more lines
#define PAPER_ZOOM	 0.7 // from here on numbers can be read on paper
#define LARGEST_ZOOM	 1.5
#define MOST_SHADED_ROWS 100 // of a terminal
#define WIDEST_TERMINAL	 1000

// What a figure shows: its matrix, or groups of that.
struct shown_matrix {
	const struct tb_matrix *matrix;
	struct tb_subtrees subtrees;
	struct tb_matrix_fold fold;
	struct tb_matrix_focus focus;
};

static void shown_fini(struct shown_matrix *shown)
{
	tb_matrix_fold_fini(&shown->fold);
	tb_subtrees_fini(&shown->subtrees);
}

// shown_init folds the matrix of a large network, and opens the groups of a switch.
static int shown_init(
	struct shown_matrix *shown, const struct tb_matrix_figure *figure, uint32_t most)
{
	struct tb_error error;
	*shown =
		(struct shown_matrix){.matrix = figure->matrix, .focus = TB_MATRIX_WHOLE};
	if (figure->level)
		return TB_OK;
	int status = tb_subtrees_init(&shown->subtrees, figure->run, &error);
	if (status == TB_OK)
		status = tb_matrix_fold_init(&shown->fold, figure->matrix, NULL,
			&shown->subtrees, shown->focus, most);
	bool inside = figure->within != NULL;
	while (status == TB_OK && inside) {
		status = tb_matrix_fold_step(
			&shown->fold, &shown->focus, *figure->within, most);
		if (status == TB_EUSAGE) {
			inside = false;
			status = TB_OK;
		}
	}
	if (status != TB_OK)
		shown_fini(shown);
	else
		shown->matrix = &shown->fold.matrix;
	return status;
}

// shown_part is tb_matrix_fold_left_out, also of a matrix that is not folded.
static char *shown_part(
	const struct shown_matrix *shown, uint32_t row, char *buffer, size_t size)
{
	buffer[0] = '\0';
	return shown->fold.groups
		       ? tb_matrix_fold_left_out(&shown->fold, row, buffer, size)
		       : buffer;
}

static const struct tb_matrix_cell *matrix_largest(
	const struct tb_matrix_cell *cells, uint32_t n, uint64_t value)
{
	for (uint32_t i = 0; i < n; i++)
		if (cells[i].link.id != TB_ID_NONE && cells[i].value == value)
			return &cells[i];
	return NULL;
}

// matrix_most_loaded returns the name of the first link or switch with the largest value,
// and stores how well its figures are known.
static const char *matrix_most_loaded(const struct tb_run *run,
	const struct tb_matrix *matrix, bool links, struct tb_link_known *known)
{
	*known = (struct tb_link_known){.wait = TB_EXACT};
	for (uint32_t row = 0; row < matrix->n_rows; row++) {
		for (uint32_t i = 0; i < matrix->rows[row].n_boxes; i++) {
			const struct tb_matrix_box *box = &matrix->rows[row].boxes[i];
			if (!links && box->sum == matrix->largest_switch) {
				*known = tb_run_switches(run)[box->sw.id].known;
				return tb_run_switches(run)[box->sw.id].label;
			}
			if (!links)
				continue;
			const struct tb_matrix_cell *cell = matrix_largest(
				box->above, box->n_above, matrix->largest_link);
			if (!cell)
				cell = matrix_largest(
					box->below, box->n_below, matrix->largest_link);
			if (!cell)
				cell = matrix_largest(
					box->nodes, box->n_nodes, matrix->largest_link);
			if (cell) {
				*known = tb_run_links(run)[cell->link.id].known;
				return tb_run_links(run)[cell->link.id].label;
			}
		}
	}
	return "none";
}

char *tb_matrix_scale_text(const struct tb_run *run, const struct tb_matrix *matrix,
	const struct tb_matrix_view *view, bool links, char *buffer, size_t size)
{
	char value[48];
	struct tb_link_known known;
	uint64_t largest = links ? matrix->largest_link : matrix->largest_switch;
	const char *name = matrix_most_loaded(run, matrix, links, &known);
	snprintf(buffer, size, "%s%s (%s)",
		tb_known_sign(tb_known_of(known, matrix->metric)),
		tb_metric_format_as(matrix->metric, largest,
			view->links.absolute ? (uint64_t)view->links.top : largest, value,
			sizeof value),
		name);
	return buffer;
}

// title_text explains what marks mean; `mark` is that of what was not measured.
static void title_text(const struct tb_matrix_figure *figure, const char *mark,
	char *buffer, size_t size)
{
	enum tb_metric metric = figure->matrix->metric;
	const struct tb_run_info *info = tb_run_info(figure->run);
	bool unmeasured = tb_run_n_unmeasured(figure->run, metric) > 0;
	bool came_by =
		metric == TB_CAME_BY || (metric == TB_WAIT && info->wait == TB_CAME_BY);
	// Counters tell who is held: by whom is for the findings.
	bool held = tb_run_is_measured(info) &&
		    (metric == TB_WAIT || metric == TB_WAIT_FOR || metric == TB_STALL);
	snprintf(buffer, size, "Congestion matrix: %s%s%s%s%s%s",
		came_by ? "wait, came by" : tb_run_metric_text(info, metric),
		tb_run_n_faults(figure->run) ? ", crossed out: dead" : "",
		unmeasured ? ", " : "", unmeasured ? mark : "",
		unmeasured ? ": not measured" : "",
		held ? " (who is held; by whom: report)" : "");
}

static void subtitle_text(const struct tb_matrix_figure *figure,
	const struct shown_matrix *shown, char *buffer, size_t size)
{
	char caption[256];
	char window[80];
	const struct tb_run_info *info = tb_run_info(figure->run);
	char focus[64] = "";
	bool inside = shown->focus.n > 0 || shown->focus.subtree != TB_ID_NONE;
	if (inside)
		tb_matrix_focus_text(&shown->subtrees, shown->focus, focus, sizeof focus);
	snprintf(buffer, size, "run %" PRId64 ": %s%s%s%s%s", info->id,
		tb_run_caption(info, caption, sizeof caption), figure->bare ? "" : ", ",
		figure->bare
			? ""
			: tb_window_text(info, figure->window, window, sizeof window),
		inside ? ", " : "", focus);
}

static void matrix_level_text(
	uint32_t level, uint32_t n_levels, char *buffer, size_t size)
{
	const char *place = n_levels == 1	    ? " (only)"
			    : level == 0	    ? " (nodes)"
			    : level == n_levels - 1 ? " (top)"
						    : "";
	snprintf(buffer, size, "level %" PRIu32 "%s", level, place);
}

static struct tb_matrix_view matrix_view(const struct tb_matrix_figure *figure)
{
	struct tb_matrix_view view = {.zoom = 1,
		.detail = TB_DETAIL_NUMBERS,
		.colours = figure->colours,
		.theme = figure->theme,
		.font = TB_FONT_TEXT,
		.bold_font = TB_FONT_BOLD,
		.font_size = TB_MATRIX_FONT_SIZE,
		.names = true,
		.end_ps = tb_window_end_ps(tb_run_info(figure->run), figure->window)};
	tb_matrix_view_scale(&view, figure->matrix, false, false);
	return view;
}

// matrix_head adds the title and returns how much higher it is than HEAD.
static double matrix_head(struct tb_picture *picture,
	const struct tb_matrix_figure *figure, const struct shown_matrix *shown)
{
	char text[320];
	const struct tb_palette *palette = tb_palette_of(figure->theme);
	double width = picture->width - 2 * MARGIN;
	title_text(figure, "hatched", text, sizeof text);
	tb_picture_text(picture, (struct tb_box){MARGIN, 20, width, 24},
		(struct tb_type){TB_FONT_BOLD, 18, TB_ALIGN_LEFT, palette->text}, text);
	subtitle_text(figure, shown, text, sizeof text);
	uint32_t lines = tb_picture_paragraph(picture,
		(struct tb_box){MARGIN, 46, width, 18},
		(struct tb_type){TB_FONT_TEXT, 13, TB_ALIGN_LEFT, palette->muted}, text);
	return (lines - 1) * 18;
}

// scale_text adds what 100 % is, and returns how many lines that took beyond two.
static double scale_text(struct tb_picture *picture,
	const struct tb_matrix_figure *figure, const struct tb_matrix_view *view,
	struct tb_box box)
{
	const struct tb_matrix *matrix = figure->matrix;
	struct tb_type type = {
		TB_FONT_TEXT, 12, TB_ALIGN_LEFT, tb_palette_of(figure->theme)->text};
	char place[128];
	char text[160];
	if (matrix->largest_switch == 0) {
		tb_run_nothing_text(figure->run, matrix->metric, text, sizeof text);
		box.y += 8;
		return fmax(0, tb_picture_paragraph(picture, box, type, text) - 2.0);
	}
	tb_matrix_scale_text(figure->run, matrix, view, true, place, sizeof place);
	snprintf(text, sizeof text, "100 %% of a link: %s", place);
	uint32_t lines = tb_picture_paragraph(picture, box, type, text);
	box.y += lines * box.h;
	tb_matrix_scale_text(figure->run, matrix, view, false, place, sizeof place);
	snprintf(text, sizeof text, "100 %% of a switch: %s", place);
	return lines + tb_picture_paragraph(picture, box, type, text) - 2.0;
}

// metrics_of returns the sizes of boxes: groups have a name above.
static struct tb_matrix_metrics metrics_of(const struct tb_matrix_view *view)
{
	struct tb_matrix_metrics metrics = natural;
	metrics.name_h = view->fold && view->fold->folded ? NAME_H : 0;
	return metrics;
}

// layout_figure chooses detail and shape. Big networks trade numbers for shades.
static int layout_figure(const struct tb_matrix *matrix, double wrap,
	struct tb_matrix_layout *layout, struct tb_matrix_view *view)
{
	const struct tb_matrix_metrics metrics = metrics_of(view);
	if (tb_matrix_layout_init(layout, matrix, &metrics, wrap))
		return TB_ENOMEM;
	view->tips = view->fold || tb_run_info(matrix->run)->n_links <= MOST_TIPS;
	if (layout->height <= MOST_NUMBERS_H)
		return TB_OK;
	layout->metrics.band_gap = SHADES_BAND_GAP;
	view->zoom = tb_matrix_layout_fit(layout, wrap, SHADES_H);
	view->detail = tb_matrix_detail_at(&natural, view->zoom);
	return TB_OK;
}

// margin_of: on paper a figure has the margins of the page.
static double margin_of(const struct tb_matrix_figure *figure)
{
	return figure->height > 0 ? 0 : MARGIN;
}

// layout_page lays the figure out, in its natural width if the page is not narrower, and
// sets the width of the picture.
static int layout_page(const struct tb_matrix_figure *figure,
	const struct tb_matrix *matrix, struct tb_matrix_layout *layout,
	struct tb_matrix_view *view, double *width)
{
	const struct tb_matrix_view first = *view;
	const struct tb_matrix_metrics metrics = metrics_of(view);
	double page = fmax(figure->width, NARROWEST);
	double beside = GUTTER + 2 * margin_of(figure);
	if (figure->height > 0) {
		if (tb_matrix_layout_init(layout, matrix, &metrics, page - beside))
			return TB_ENOMEM;
		view->zoom = fmin(tb_matrix_layout_fit(layout, page - beside,
					  fmax(figure->height - FOOT_MOST, 100)),
			LARGEST_ZOOM);
		view->detail = tb_matrix_detail_at(&natural, view->zoom);
		if (view->zoom >= PAPER_ZOOM) {
			view->detail = TB_DETAIL_NUMBERS;
			view->ink = 1;
		}
		tb_matrix_layout_widen(layout, (page - beside) / view->zoom);
		*width = page;
		return TB_OK;
	}
	// As in an HTML page, unless that is too narrow for a switch or for numbers.
	bool folded = view->fold && view->fold->folded;
	if (folded && page >= PAGE_WIDTH && page < FOLDED_PAGE)
		page = FOLDED_PAGE;
	double wrap = folded ? FOLDED_WIDTH : PAGE_WIDTH - beside;
	int status = layout_figure(matrix, wrap, layout, view);
	if (status == TB_OK && !folded && (layout->width > wrap || view->zoom < 1)) {
		tb_matrix_layout_fini(layout);
		*view = first;
		status = layout_figure(matrix, NATURAL_WIDTH, layout, view);
	}
	if (status != TB_OK)
		return status;
	*width = ceil(fmax(layout->width * view->zoom + beside, WIDE));
	if (figure->width > 0 && page < *width) {
		tb_matrix_layout_fini(layout);
		*view = first;
		*width = page;
		status = layout_figure(matrix, page - beside, layout, view);
	}
	// Names of a few groups need wider boxes than their numbers.
	if (status == TB_OK && folded)
		tb_matrix_layout_widen(layout, (*width - beside) / view->zoom);
	return status;
}

// show_page chooses what the figure shows, in as many groups as have numbers on paper,
// and lays it out.
static int show_page(struct shown_matrix *shown, const struct tb_matrix_figure *figure,
	struct tb_matrix_layout *layout, struct tb_matrix_view *view, double *width)
{
	const struct tb_matrix_view first = *view;
	for (uint32_t most = PICTURE_GROUPS;; most /= 2) {
		if (shown_init(shown, figure, most) != TB_OK)
			return TB_ENOMEM;
		*view = first;
		view->fold = shown->fold.groups ? &shown->fold : NULL;
		if (layout_page(figure, shown->matrix, layout, view, width) != TB_OK) {
			shown_fini(shown);
			return TB_ENOMEM;
		}
		if (figure->height <= 0 || !shown->fold.folded || most <= LEAST_GROUPS ||
			view->zoom >= PAPER_ZOOM)
			return TB_OK;
		tb_matrix_layout_fini(layout);
		shown_fini(shown);
	}
}

// folded_box_text returns what a box of a folded matrix stands for.
static const char *folded_box_text(const struct shown_matrix *shown)
{
	bool one = false, several = false;
	for (uint32_t row = 0; row < shown->matrix->n_rows; row++) {
		bool is_one = tb_matrix_fold_size(&shown->fold, row) == 1;
		one |= is_one;
		several |= !is_one;
	}
	return !several ? "a switch"
	       : !one	? "a group of neighbouring switches"
			: "a switch, or as many neighbouring ones as its level says";
}

int tb_matrix_picture(struct tb_picture *picture, const struct tb_matrix_figure *figure)
{
	struct tb_matrix_layout layout;
	struct tb_matrix_view view = matrix_view(figure);
	struct shown_matrix shown;
	double width = 0, margin = margin_of(figure);
	if (show_page(&shown, figure, &layout, &view, &width) != TB_OK)
		return TB_ENOMEM;
	bool folded = shown.fold.folded;
	double body_w = layout.width * view.zoom;
	double body_h = layout.height * view.zoom;
	double body_y = margin / 2;
	// The height is known when all text is set.
	tb_picture_clear(picture, width, 0, tb_palette_of(figure->theme)->page);
	if (!figure->bare)
		body_y += HEAD + matrix_head(picture, figure, &shown);
	view.area = (struct tb_box){margin + GUTTER, body_y, body_w + 1, body_h + 1};
	const struct tb_palette *palette = tb_palette_of(figure->theme);
	for (uint32_t i = 0; i < layout.n_bands; i++) {
		const struct tb_matrix_band *band = &layout.bands[i];
		char text[48];
		double y = view.area.y + band->y * view.zoom;
		double middle = (layout.metrics.name_h + band->above_h) * view.zoom;
		double line_h = layout.metrics.sum_h * view.zoom;
		struct tb_box box = {margin, y + middle, GUTTER - 8, fmax(line_h, 14)};
		matrix_level_text(band->level, figure->matrix->n_rows, text, sizeof text);
		tb_picture_text(picture, box,
			(struct tb_type){TB_FONT_TEXT, 11, TB_ALIGN_LEFT, palette->text},
			text);
		char group[32] = "", step[32] = "";
		if (shown.fold.groups)
			tb_matrix_fold_note(&shown.fold, i, group, step);
		shown_part(&shown, i, text, sizeof text);
		const char *const notes[] = {text, group, step};
		for (int j = 0; j < 3; j++)
			if (notes[j][0])
				tb_picture_text(picture,
					(struct tb_box){
						box.x, box.y += box.h, box.w, box.h},
					(struct tb_type){TB_FONT_TEXT, 11, TB_ALIGN_LEFT,
						palette->muted},
					notes[j]);
	}
	tb_matrix_draw(picture, &layout, shown.matrix, figure->run, &view);
	// Add the legend and what it means.
	double y = body_y + body_h + 22;
	struct tb_type muted = {TB_FONT_TEXT, 11, TB_ALIGN_LEFT, palette->muted};
	bool wide = picture->width >= WIDE || figure->height > 0;
	double x = wide ? margin + 290 : margin;
	double below = wide ? 0 : 42;
	const struct tb_legend legend = tb_legend_of(&view);
	tb_legend_draw(picture, (struct tb_box){margin + 8, y + 4, 240, 29}, &legend);
	below += 18 *
		 scale_text(picture, figure, &view,
			 (struct tb_box){x, y + below, picture->width - x - margin, 18});
	char text[400], part[48];
	bool nodes = layout.n_bands && layout.bands[layout.n_bands - 1].nodes_h > 0;
	bool leaves = figure->matrix->leaves;
	const char *way = leaves ? "to" : "from", *back = leaves ? "from" : "to";
	const char *more = figure->theme == TB_LIGHT ? "Darker" : "Brighter";
	if (folded)
		snprintf(text, sizeof text,
			"A box is %s; at its left the worst, at its right the mean: "
			"above, of the links %s the level above; in the middle, of "
			"switches; below, of the links %s the level below or %s the "
			"nodes. %s means more.",
			folded_box_text(&shown), way, way, way, more);
	else
		snprintf(text, sizeof text,
			"A box is a switch: above, the links %s the level above; below, "
			"those %s "
			"the level below or %s the nodes%s%s%s; in the middle, their "
			"sum. %s "
			"means more.",
			way, way, way, nodes ? ", and under them those " : "",
			nodes ? back : "", nodes ? " the nodes" : "", more);
	shown_part(&shown, TB_ID_NONE, part, sizeof part);
	if (part[0])
		snprintf(text + strlen(text), sizeof text - strlen(text),
			" Of the switches %s are shown: the others carried nothing.",
			part);
	uint32_t lines = tb_picture_paragraph(picture,
		(struct tb_box){margin, y + 42 + below, picture->width - 2 * margin, 16},
		muted, text);
	double foot_h = FOOT - 16 + below + (lines - 1) * 16;
	picture->height = ceil(body_y + body_h + 22 + foot_h);
	shown_fini(&shown);
	tb_matrix_layout_fini(&layout);
	return picture->status;
}

// The details for a terminal, finest first; the first that fits is used.
static const struct terminal_detail {
	enum tb_matrix_detail detail;
	struct tb_matrix_metrics metrics;
	uint32_t most_rows;
} terminal_details[] = {
	{TB_DETAIL_NUMBERS,
		{.cell_w = 4,
			.cell_h = 1,
			.sum_h = 1,
			.gap_x = 2,
			.gap_y = 1,
			.strip_gap = 1},
		120},
	{TB_DETAIL_CELLS,
		{.cell_w = 1,
			.cell_h = 1,
			.sum_h = 1,
			.gap_x = 1,
			.gap_y = 1,
			.strip_gap = 1},
		MOST_SHADED_ROWS},
	{TB_DETAIL_SWITCHES, {.cell_h = 0, .sum_h = 1, .box_w = 1}, UINT32_MAX},
};

// terminal_group returns how many switches share a character when one is left to each:
// a single level stays within its rows, all levels together may need a hundred.
static uint32_t terminal_group(const struct tb_matrix_figure *figure,
	const struct tb_matrix *part, uint32_t columns)
{
	bool one = figure->level && figure->most_rows;
	uint64_t n = one ? part->rows[0].n_boxes : tb_run_info(figure->run)->n_switches;
	uint64_t room = (uint64_t)(one ? figure->most_rows : MOST_SHADED_ROWS) * columns;
	return (uint32_t)((n + room - 1) / room);
}

// names_w returns the width of the longest first name of a group.
static double names_w(const struct tb_matrix_fold *fold)
{
	double most = 0;
	for (uint32_t i = 0; i < fold->matrix.n_boxes; i++) {
		char name[96];
		tb_matrix_group_name(
			fold, &fold->groups[i], TB_GROUP_FIRST, name, sizeof name);
		most = fmax(most, tb_text_columns(name));
	}
	return most;
}

static int layout_terminal(const struct tb_matrix_figure *figure,
	const struct tb_matrix *part, uint32_t columns, struct tb_matrix_layout *layout,
	struct tb_matrix_view *view)
{
	const size_t n = sizeof terminal_details / sizeof *terminal_details;
	bool named = view->fold && view->fold->folded;
	// The names of groups first: they may need wider gaps.
	for (size_t i = 0, wide = named; i < n; wide ? wide = 0 : i++) {
		struct tb_matrix_metrics metrics = terminal_details[i].metrics;
		// A blank line and the level's label; names have lines of their own.
		metrics.band_gap = 2 - metrics.gap_y + (named && i == 0);
		if (wide)
			metrics.gap_x = fmax(metrics.gap_x,
				names_w(view->fold) + 1 - 2 * metrics.cell_w);
		if (i == n - 1)
			metrics.group = terminal_group(figure, part, columns);
		if (tb_matrix_layout_init(layout, part, &metrics, columns))
			return TB_ENOMEM;
		view->detail = terminal_details[i].detail;
		uint32_t most = terminal_details[i].most_rows;
		if (figure->most_rows && figure->most_rows < most)
			most = figure->most_rows;
		bool fits = layout->width <= columns && layout->height <= most;
		if (fits || i == n - 1)
			break;
		tb_matrix_layout_fini(layout);
	}
	return TB_OK;
}

// numbers_width returns the least columns in which numbers fit, 0 when none are enough.
static uint32_t numbers_width(const struct tb_matrix *part)
{
	struct tb_matrix_layout layout;
	struct tb_matrix_metrics metrics = terminal_details[0].metrics;
	uint32_t columns = 40;
	metrics.band_gap = 2 - metrics.gap_y;
	if (tb_matrix_layout_init(&layout, part, &metrics, columns))
		return 0;
	while (columns <= WIDEST_TERMINAL &&
		(layout.width > columns || layout.height > terminal_details[0].most_rows))
		tb_matrix_layout_wrap(&layout, ++columns);
	tb_matrix_layout_fini(&layout);
	return columns <= WIDEST_TERMINAL ? columns : 0;
}

// terminal_line writes a line of cells, the brief one where the other has no room.
static void terminal_line(struct tb_picture *picture,
	const struct tb_matrix_figure *figure, double y, const char *text,
	const char *brief)
{
	const struct tb_type type = {
		TB_FONT_CELL, 1, TB_ALIGN_LEFT, tb_palette_of(figure->theme)->text};
	tb_picture_fitting(picture, (struct tb_box){0, y, picture->width, 1}, type,
		(const char *const[]){text, brief, NULL});
}

// matrix_explain writes what a character is, and where the numbers are, in two lines.
static void matrix_explain(struct tb_picture *picture,
	const struct tb_matrix_figure *figure, const struct tb_matrix_layout *layout,
	bool cells, double y)
{
	char text[80];
	uint32_t columns = numbers_width(figure->matrix);
	snprintf(text, sizeof text, "a character: the most of %" PRIu32 " switches",
		layout->metrics.group);
	if (cells && layout->bands[layout->n_bands - 1].nodes_h > 0)
		terminal_line(picture, figure, y,
			"a box: links up, the switch, links down, links to nodes",
			"a box: up, switch, down, to nodes");
	else if (cells)
		terminal_line(picture, figure, y,
			"a box: links up, the switch, links down",
			"a box: up, switch, down");
	else
		terminal_line(picture, figure, y,
			layout->metrics.group > 1 ? text : "a character: a switch", NULL);
	snprintf(text, sizeof text, "numbers and names: --width %" PRIu32, columns);
	terminal_line(picture, figure, y + 1,
		columns ? text : "numbers and names: -f csv", NULL);
}

// explain_groups says what the boxes of a folded matrix are, and how to open them.
static void explain_groups(
	struct tb_picture *picture, const struct tb_matrix_figure *figure, double y)
{
	terminal_line(picture, figure, y,
		"a box: worst, mean of links up, switches, links down, of nodes; below: "
		"names",
		"a box: worst, mean; names below");
	terminal_line(picture, figure, y + 1,
		"inside a group: tailback matrix --within SWITCH; all numbers: -f csv",
		"inside: matrix --within SWITCH");
}

// name_groups writes below each box which switches it stands for.
static void name_groups(struct tb_picture *picture, const struct tb_matrix_figure *figure,
	const struct tb_matrix_fold *fold, const struct tb_matrix_layout *layout)
{
	struct tb_type type = {
		TB_FONT_CELL, 1, TB_ALIGN_LEFT, tb_palette_of(figure->theme)->muted};
	for (uint32_t i = 0; i < layout->n_bands; i++) {
		double room = layout->bands[i].box_w + layout->metrics.gap_x - 1;
		enum tb_group_name how = tb_matrix_row_name(fold, i, room, &type);
		size_t first = (size_t)(fold->matrix.rows[i].boxes - fold->matrix.boxes);
		for (uint32_t at = 0; at < layout->bands[i].n_boxes; at++) {
			char name[96];
			struct tb_box box = tb_matrix_layout_box(layout, i, at);
			tb_matrix_group_name(
				fold, &fold->groups[first + at], how, name, sizeof name);
			tb_picture_name(picture,
				(struct tb_box){box.x, 4 + box.y + box.h, room, 1}, type,
				name);
		}
	}
}

// scale_lines draws the legend of the terminal: what numbers and shades mean.
static void scale_lines(struct tb_picture *picture, const struct tb_matrix_figure *figure,
	const struct tb_matrix_view *view, bool shaded, double y)
{
	const struct tb_matrix *matrix = figure->matrix;
	char text[128], whole[160], brief[160];
	if (matrix->largest_switch == 0) {
		tb_run_nothing_text(figure->run, matrix->metric, text, sizeof text);
		terminal_line(picture, figure, y, text, NULL);
		return;
	}
	for (int link = 1; link >= 0; link--) {
		tb_matrix_scale_text(figure->run, matrix, view, link, text, sizeof text);
		snprintf(whole, sizeof whole, "100 %% of a %s %s",
			link ? "link:  " : "switch:", text);
		snprintf(brief, sizeof brief, "100 %%: %s", text);
		terminal_line(picture, figure, y++, whole, brief);
	}
	const struct tb_legend legend = tb_legend_of(view);
	if (shaded)
		tb_legend_draw(picture, (struct tb_box){2, y, 32, 2}, &legend);
	else if (view->detail != TB_DETAIL_NUMBERS)
		terminal_line(
			picture, figure, y, "blank: 0, then .:-=+*#%@ up to 100", NULL);
}

// terminal_subtitle writes a line of cells, or two where one is too short: what decides
// the figures must not be cut off.
static void terminal_subtitle(
	struct tb_picture *picture, const struct tb_matrix_figure *figure, char *text)
{
	size_t end = 0, columns = (size_t)picture->width;
	if (strlen(text) > columns)
		for (const char *at = strstr(text, ", ");
			at && (size_t)(at - text) < columns; at = strstr(at + 2, ", "))
			end = (size_t)(at - text) + 1;
	if (end) {
		if (!figure->bare)
			terminal_line(picture, figure, 2, text + end + 1, NULL);
		text[end - figure->bare] = '\0'; // else its second line is another's
	}
	terminal_line(picture, figure, 1, text, NULL);
}

int tb_matrix_picture_text(struct tb_picture *picture,
	const struct tb_matrix_figure *figure, uint32_t columns, bool shaded)
{
	struct tb_matrix_layout layout;
	struct tb_matrix_view view = matrix_view(figure);
	view.font = view.bold_font = TB_FONT_CELL;
	view.font_size = 0;
	view.ramp = !shaded;
	// The rows to show: all, or one.
	struct shown_matrix shown;
	if (shown_init(&shown, figure, TERMINAL_GROUPS) != TB_OK)
		return TB_ENOMEM;
	bool folded = shown.fold.folded;
	view.fold = shown.fold.groups ? &shown.fold : NULL;
	struct tb_matrix part = *shown.matrix;
	if (figure->level) {
		part.rows += figure->level - 1;
		part.n_rows = 1;
	}
	if (layout_terminal(figure, &part, columns, &layout, &view) != TB_OK) {
		shown_fini(&shown);
		return TB_ENOMEM;
	}
	const struct tb_palette *palette = tb_palette_of(figure->theme);
	double legend_rows = figure->matrix->largest_switch == 0 ? 2
			     : shaded				 ? 5
			     : view.detail == TB_DETAIL_NUMBERS	 ? 3
								 : 4;
	bool explained = figure->explained && figure->matrix->largest_switch > 0 &&
			 (folded || view.detail != TB_DETAIL_NUMBERS);
	bool named = folded && view.detail == TB_DETAIL_NUMBERS;
	double legend = 4 + layout.height + 1 + named;
	double end = legend - 1 + legend_rows;
	char text[320];
	tb_picture_clear(picture, columns, end + (explained ? 2 : 0), palette->page);
	title_text(
		figure, view.detail == TB_DETAIL_NUMBERS ? "-" : "?", text, sizeof text);
	terminal_line(picture, figure, 0, text, NULL);
	subtitle_text(figure, &shown, text, sizeof text);
	terminal_subtitle(picture, figure, text);
	for (uint32_t i = 0; i < layout.n_bands; i++) {
		matrix_level_text(
			layout.bands[i].level, figure->matrix->n_rows, text, sizeof text);
		uint32_t n = tb_matrix_fold_size(&shown.fold, i);
		char note[80] = "", box[32], step[32] = "", shown_of[48];
		char line[512], brief[448];
		shown_part(&shown, i, shown_of, sizeof shown_of);
		if (n > 1) {
			tb_matrix_fold_note(&shown.fold, i, box, step);
			snprintf(note, sizeof note, ": %" PRIu32 " switches a box%s%s", n,
				step[0] ? ", " : "", step);
		}
		snprintf(brief, sizeof brief, "%s: %s%s%s", text, n > 1 ? box : shown_of,
			step[0] ? ", " : "", step);
		snprintf(line, sizeof line, "%s%s%s%s%s", text, note,
			shown_of[0] ? n > 1 ? ", " : ": " : "", shown_of,
			!shown_of[0] ? ""
			: shown.fold.idle_rows >> i % 64 & 1
				? ", none carried anything"
				: ", the others carried nothing");
		terminal_line(picture, figure, 3 + layout.bands[i].y, line, brief);
	}
	view.area = (struct tb_box){0, 4, columns, layout.height};
	tb_matrix_draw(picture, &layout, &part, figure->run, &view);
	if (named)
		name_groups(picture, figure, &shown.fold, &layout);
	scale_lines(picture, figure, &view, shaded, legend);
	if (explained && folded)
		explain_groups(picture, figure, end);
	else if (explained)
		matrix_explain(
			picture, figure, &layout, view.detail == TB_DETAIL_CELLS, end);
	shown_fini(&shown);
	tb_matrix_layout_fini(&layout);
	return picture->status;
}

bool tb_matrix_is_blank(const struct tb_matrix *matrix)
{
	return matrix->largest_link == 0 && matrix->largest_switch == 0 &&
	       tb_run_n_unmeasured(matrix->run, matrix->metric) == 0;
}

static int svg_string(
	const struct tb_picture *picture, char **svg, struct tb_error *error)
{
	char *text = NULL;
	size_t length;
	FILE *stream = open_memstream(&text, &length);
	if (!stream)
		return tb_fail_memory(error, "the matrix's picture");
	tb_picture_svg(picture, 0, stream);
	int failed = ferror(stream);
	if (fclose(stream) != 0 || failed) {
		free(text);
		return tb_fail_memory(error, "the matrix's picture");
	}
	*svg = text;
	return TB_OK;
}

int tb_matrix_picture_svg(struct tb_run *run, struct tb_window window,
	enum tb_metric metric, enum tb_theme theme, char **svg, struct tb_error *error)
{
	struct tb_matrix matrix;
	int status = tb_matrix_init(&matrix, run, window, metric, error);
	if (status != TB_OK)
		return status;
	struct tb_picture picture = {0};
	if (tb_matrix_is_blank(&matrix)) {
		tb_matrix_fini(&matrix);
		return TB_OK;
	}
	const struct tb_matrix_figure figure = {.run = run,
		.matrix = &matrix,
		.window = window,
		.colours = TB_CIVIDIS,
		.theme = theme,
		.width = PAGE_WIDTH,
		.bare = true};
	if (tb_matrix_picture(&picture, &figure) == TB_OK)
		status = svg_string(&picture, svg, error);
	else
		status = tb_fail_memory(error, "the matrix's picture");
	tb_picture_fini(&picture);
	tb_matrix_fini(&matrix);
	return status;
}

// One row of the table.
struct matrix_data_row {
	const struct tb_run_switch *sw;
	enum tb_metric metric;
	const char *wait; // NULL: it is not about waits
	const char *direction;
	const char *link; // NULL: the switch's sum
	uint32_t port;
	enum tb_known known; // of not measured ones there is no value
	uint64_t value;
	double percent;
};

// Where rows go.
struct matrix_data_sink {
	void (*write)(void *context, const struct matrix_data_row *row);
	void *context;
};

// wait_of_metric returns the word for the wait that a metric measures, NULL for others.
static const char *wait_of_metric(const struct tb_run *run, enum tb_metric metric)
{
	const struct tb_run_info *info = tb_run_info(run);
	if (metric == TB_WAIT)
		metric = info->wait;
	else if (metric == TB_BLOCKED || metric == TB_LONGEST || metric == TB_QUEUE)
		metric = info->leads;
	return metric == TB_WAIT_FOR  ? tb_wait_lead_words[TB_LEADS_FOR]
	       : metric == TB_CAME_BY ? tb_wait_lead_words[TB_LEADS_CAME_BY]
				      : NULL;
}

static void each_cell(const struct tb_run *run, struct matrix_data_row *row,
	const struct tb_matrix_cell *cells, uint32_t n,
	const struct matrix_data_sink *sink)
{
	uint32_t first_port = row->port;
	for (uint32_t i = 0; i < n; i++) {
		if (cells[i].link.id == TB_ID_NONE)
			continue;
		row->port = first_port + i;
		row->link = tb_run_links(run)[cells[i].link.id].name;
		row->known = tb_known_of(
			tb_run_links(run)[cells[i].link.id].known, row->metric);
		row->value = cells[i].value;
		row->percent = cells[i].percent;
		sink->write(sink->context, row);
	}
}

static void matrix_data_each_row(const struct tb_run *run, const struct tb_matrix *matrix,
	const struct matrix_data_sink *sink)
{
	for (uint32_t level = 0; level < matrix->n_rows; level++) {
		for (uint32_t i = 0; i < matrix->rows[level].n_boxes; i++) {
			const struct tb_matrix_box *box = &matrix->rows[level].boxes[i];
			const struct tb_run_switch *sw =
				&tb_run_switches(run)[box->sw.id];
			struct matrix_data_row row = {.sw = sw,
				.metric = matrix->metric,
				.wait = wait_of_metric(run, matrix->metric),
				.direction = "above",
				.port = box->n_below};
			each_cell(run, &row, box->above, box->n_above, sink);
			row.direction = "sum";
			row.link = NULL;
			row.port = 0;
			row.known = tb_known_of(sw->known, matrix->metric);
			row.value = box->sum;
			row.percent = box->percent;
			sink->write(sink->context, &row);
			row.direction = "below";
			each_cell(run, &row, box->below, box->n_below, sink);
			row.direction = "node";
			row.port = 0;
			each_cell(run, &row, box->nodes, box->n_nodes, sink);
		}
	}
}

static void csv_row(void *context, const struct matrix_data_row *row)
{
	FILE *stream = context;
	fprintf(stream, "%" PRIu32 ",", row->sw->at.level);
	tb_csv_put(stream, row->sw->name);
	fputc(',', stream);
	if (row->link)
		fprintf(stream, "%" PRIu32, row->port);
	fprintf(stream, ",%s,", row->direction);
	tb_csv_put(stream, row->link ? row->link : "");
	if (row->known == TB_NOT_MEASURED)
		fputs(",,", stream);
	else
		fprintf(stream, ",%" PRIu64 ",%.3f", row->value, row->percent);
	bool bounded = row->known == TB_AT_LEAST || row->known == TB_AT_MOST;
	fprintf(stream, ",%s,%s\n", row->wait ? row->wait : "",
		bounded ? tb_known_word(row->known) : "");
}

void tb_matrix_csv(const struct tb_run *run, const struct tb_matrix *matrix, FILE *stream)
{
	fputs("level,switch,port,direction,link_name,value,percent,wait,bound\n", stream);
	matrix_data_each_row(run, matrix, &(struct matrix_data_sink){csv_row, stream});
}

static void json_row(void *context, const struct matrix_data_row *row)
{
	json_t *port = row->link ? tb_json_count(row->port) : json_null();
	json_t *link = row->link ? tb_json_text(row->link) : json_null();
	bool lacks = row->known == TB_NOT_MEASURED;
	json_t *value = lacks ? json_null() : tb_json_count(row->value);
	json_t *percent = lacks ? json_null() : json_real(row->percent);
	const char *bound = lacks ? NULL : tb_known_word(row->known);
	tb_json_rows_put(
		context, json_pack("{s:I, s:o, s:o, s:s, s:o, s:o, s:o, s:s*}", "level",
				 (json_int_t)row->sw->at.level, "switch",
				 tb_json_text(row->sw->name), "port", port, "direction",
				 row->direction, "link_name", link, "value", value,
				 "percent", percent, "bound", bound));
}

int tb_matrix_json(const struct tb_run *run, const struct tb_matrix *matrix,
	struct tb_window window, FILE *stream)
{
	const struct tb_run_info *info = tb_run_info(run);
	struct tb_json_object head = tb_json_object_new();
	struct tb_json_rows rows;
	tb_json_add_count(&head, "run", (uint64_t)info->id);
	tb_json_add_text(&head, "input", info->input_name);
	tb_json_add_text(&head, "network", info->network_name);
	tb_json_add_count(&head, "nodes", info->n_nodes);
	tb_json_add(&head, "complete", json_boolean(info->complete));
	tb_json_add_text(&head, "metric", tb_link_figures[matrix->metric].name);
	tb_json_add_text(&head, "unit", tb_metric_unit(matrix->metric));
	tb_json_add_text(&head, "links", matrix->leaves ? "leaving" : "arriving");
	const char *wait = wait_of_metric(run, matrix->metric);
	tb_json_add(&head, "wait", wait ? json_string(wait) : json_null());
	tb_json_add_count(&head, "from_ps", (uint64_t)tb_window_begin_ps(info, window));
	tb_json_add_count(&head, "to_ps", (uint64_t)tb_window_end_ps(info, window));
	tb_json_add_count(&head, "largest_link", matrix->largest_link);
	tb_json_add_count(&head, "largest_switch", matrix->largest_switch);
	tb_json_rows_begin(&rows, tb_json_object_take(&head), "cells", 6, stream);
	matrix_data_each_row(run, matrix, &(struct matrix_data_sink){json_row, &rows});
	return tb_json_rows_end(&rows);
}

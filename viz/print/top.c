#include "top.h"

#include "matrix_picture.h"
#include "order.h"
#include "scale.h"
#include "select.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define LINKS_ONCE  10 // listed when there is no screen to fill
#define LINKS_LEAST 6  // of a screen's rows, before the matrix loses detail
#define OTHER_ROWS  12 // of a screen: titles, legend, the list's head, the keys
#define MATRIX_ROWS 3  // at least
#define NAME_W	    26
#define VALUE_W	    14
#define BAR_LEAST   18 // of a share and its bar, beside long names

struct top_row {
	uint32_t link;
	uint64_t value;
};

struct tb_top {
	struct tb_top_options options;
	struct tb_run *run;
	const struct tb_run_info *info;
	struct tb_window window;
	struct tb_matrix matrix;
	struct top_row *rows; // links by value; sorted as far as they are shown
	uint32_t n_rows, first;
	uint32_t level; // shown alone, as of struct tb_matrix_figure; 0: all
	bool paused;
	char trouble[640];
};

void tb_top_free(struct tb_top *top)
{
	if (!top)
		return;
	tb_matrix_fini(&top->matrix);
	tb_run_free(top->run);
	free(top->rows);
	free(top);
}

static void top_report(struct tb_top *top, const struct tb_error *error)
{
	tb_error_format(error, top->trouble, sizeof top->trouble);
}

// read reads the window's figures; on failure the old ones stay.
static void read_top_window(struct tb_top *top)
{
	const struct tb_link_sample *samples;
	struct tb_error error;
	if (tb_run_look(top->run, top->window, &samples, &error) != TB_OK) {
		top_report(top, &error);
		return;
	}
	top->trouble[0] = '\0';
	tb_matrix_fill(&top->matrix, samples, top->options.metric);
	top->n_rows = 0;
	for (uint32_t i = 0; i < top->info->n_links; i++) {
		uint64_t value = tb_metric_of(&samples[i], top->options.metric);
		if (value > 0)
			top->rows[top->n_rows++] = (struct top_row){i, value};
	}
	if (top->first >= top->n_rows)
		top->first = 0;
}

int tb_top_new(
	struct tb_top **top, const struct tb_top_options *options, struct tb_error *error)
{
	struct tb_top *made = calloc(1, sizeof *made);
	if (!made)
		return tb_fail_memory(error, "the run");
	made->options = *options;
	int status = tb_run_open(&made->run, options->store, options->run, error);
	if (status == TB_OK) {
		made->info = tb_run_info(made->run);
		if (options->chooses_wait)
			tb_run_choose_wait(made->run, options->wait);
		made->rows = calloc((size_t)made->info->n_links + 1, sizeof *made->rows);
		status = made->rows
				 ? tb_matrix_lay_out(&made->matrix, made->run, error)
				 : tb_fail_memory(error, "%u links", made->info->n_links);
	}
	if (status != TB_OK) {
		tb_top_free(made);
		return status;
	}
	read_top_window(made);
	*top = made;
	return TB_OK;
}

void tb_top_refresh(struct tb_top *top)
{
	struct tb_error error;
	tb_time_ps bin_ps = top->info->bin_ps;
	if (top->paused || top->info->complete)
		return;
	int changed = tb_run_refresh(top->run, &error);
	if (changed < 0)
		top_report(top, &error);
	// The window counts bins: when bins became wider, they mean other times.
	if (top->info->bin_ps != bin_ps || top->window.end_bin > top->info->n_bins)
		top->window = (struct tb_window){0, 0};
	if (changed > 0)
		read_top_window(top);
}

// top_move_window moves by a whole window, a sixteenth of the run.
static void top_move_window(struct tb_top *top, int by)
{
	uint64_t n_bins = top->info->n_bins;
	uint64_t width = n_bins / 16 ? n_bins / 16 : 1;
	uint64_t first = top->window.first_bin;
	if (n_bins == 0)
		return;
	if (top->window.end_bin == 0)
		first = by < 0 ? n_bins - width : 0;
	else if (by < 0)
		first -= first < width ? first : width;
	else
		first = first + 2 * width > n_bins ? n_bins - width : first + width;
	top->window = (struct tb_window){first, first + width};
	read_top_window(top);
}

static void top_scroll(struct tb_top *top, int64_t by)
{
	int64_t last = top->n_rows ? (int64_t)top->n_rows - 1 : 0;
	int64_t first = (int64_t)top->first + by;
	top->first = (uint32_t)(first < 0 ? 0 : first > last ? last : first);
}

bool tb_top_key(struct tb_top *top, const char *key)
{
	if (strcmp(key, "q") == 0)
		return false;
	if (strcmp(key, "s") == 0) {
		top->options.metric =
			(enum tb_metric)((top->options.metric + 1) % TB_N_METRICS);
		top->first = 0;
		read_top_window(top);
	} else if (strcmp(key, "Left") == 0) {
		top_move_window(top, -1);
	} else if (strcmp(key, "Right") == 0) {
		top_move_window(top, 1);
	} else if (strcmp(key, "l") == 0) {
		top->level = (top->level + 1) % (top->matrix.n_rows + 1);
	} else if (strcmp(key, "L") == 0) {
		top->level = (top->level ? top->level : top->matrix.n_rows + 1) - 1;
	} else if (strcmp(key, "Home") == 0 || strcmp(key, "0") == 0) {
		top->window = (struct tb_window){0, 0};
		top->first = top->level = 0;
		read_top_window(top);
	} else if (strcmp(key, " ") == 0) {
		top->paused = !top->paused;
	} else if (strcmp(key, "Up") == 0) {
		top_scroll(top, -1);
	} else if (strcmp(key, "Down") == 0) {
		top_scroll(top, 1);
	} else if (strcmp(key, "PageUp") == 0) {
		top_scroll(top, -LINKS_ONCE);
	} else if (strcmp(key, "PageDown") == 0) {
		top_scroll(top, LINKS_ONCE);
	}
	return true;
}

// A pen for lines of text below the matrix.
struct top_pen {
	struct tb_picture *picture;
	struct tb_type type;
	double y;
	double name_w; // of the links
};

static void top_put(const struct top_pen *pen, double x, double w, enum tb_align align,
	const char *text)
{
	struct tb_type type = pen->type;
	type.align = align;
	tb_picture_text(pen->picture, (struct tb_box){x, pen->y, w, 1}, type, text);
}

static int top_by_value(const void *one, const void *other)
{
	const struct top_row *a = one, *b = other;
	return a->value != b->value ? TB_ORDER(b->value, a->value)
				    : TB_ORDER(a->link, b->link);
}

static void draw_top_row(
	const struct tb_top *top, const struct top_pen *pen, uint32_t index)
{
	const struct top_row *row = &top->rows[index];
	enum tb_metric metric = top->options.metric;
	char text[64];
	double percent = 100.0 * (double)row->value / (double)top->rows[0].value;
	double bar_x = 6 + pen->name_w + VALUE_W + 2;
	double bar_w = fmin(pen->picture->width - bar_x - 6, 40);
	double value_w = pen->picture->width < bar_x + 6 ? 10 : VALUE_W;
	snprintf(text, sizeof text, "%" PRIu32, index + 1);
	top_put(pen, 0, 5, TB_ALIGN_RIGHT, text);
	const char *name = tb_run_links(top->run)[row->link].label;
	tb_picture_name(pen->picture, (struct tb_box){6, pen->y, pen->name_w, 1},
		pen->type, name);
	top_put(pen, 6 + pen->name_w, value_w, TB_ALIGN_RIGHT,
		tb_metric_format(metric, row->value, text, sizeof text));
	snprintf(text, sizeof text, percent < 0.5 ? "<1 %%" : "%.0f %%", percent);
	if (value_w == VALUE_W)
		top_put(pen, bar_x, 6, TB_ALIGN_RIGHT, text);
	if (bar_w >= 8)
		tb_picture_rect(pen->picture,
			(struct tb_box){bar_x + 7, pen->y,
				fmax(round((bar_w - 7) * percent / 100), 1), 1},
			tb_shade(top->options.colours, top->options.theme, percent));
}

static void draw_state(const struct tb_top *top, const struct top_pen *pen)
{
	char text[200], window[80], brief[200];
	const struct tb_run_info *info = top->info;
	const char *ended = info->complete ? "" : ", the run has not ended";
	const char *paused = top->paused ? "; paused" : "";
	tb_window_text(info, top->window, window, sizeof window);
	snprintf(text, sizeof text, "%s, %" PRIu64 " bins of %s%s%s", window,
		info->n_bins, TB_TIME_TEXT(info->bin_ps), ended, paused);
	snprintf(brief, sizeof brief, "%s%s%s", window, paused, ended);
	tb_picture_fitting(pen->picture,
		(struct tb_box){0, pen->y, pen->picture->width, 1}, pen->type,
		top->trouble[0] ? (const char *const[]){top->trouble, NULL}
				: (const char *const[]){text, brief, NULL});
}

int tb_top_picture(struct tb_top *top, uint32_t columns, uint32_t rows, bool shaded,
	struct tb_picture *picture)
{
	uint32_t spare = rows > OTHER_ROWS + LINKS_LEAST ? rows - OTHER_ROWS - LINKS_LEAST
							 : MATRIX_ROWS;
	const struct tb_matrix_figure figure = {.run = top->run,
		.matrix = &top->matrix,
		.window = top->window,
		.colours = top->options.colours,
		.theme = top->options.theme,
		.bare = true,
		.level = top->level,
		.explained = !rows && top->info->n_nodes >= TB_FOLDED_NODES,
		.most_rows = rows ? spare : 0};
	int status = tb_matrix_picture_text(picture, &figure, columns, shaded);
	if (status != TB_OK)
		return status;
	struct top_pen pen = {.picture = picture,
		.type = {TB_FONT_CELL, 1, TB_ALIGN_LEFT,
			tb_palette_of(top->options.theme)->text},
		.y = 2};
	draw_state(top, &pen);
	double last = rows ? rows - 1.0 : 0;
	pen.y = picture->height + 1;
	// Where the matrix is higher than the screen, cover its end with a few links.
	if (rows && pen.y > last - LINKS_LEAST)
		pen.y = fmax(last - LINKS_LEAST, 3);
	if (rows)
		tb_picture_rect(picture, (struct tb_box){0, pen.y - 1, columns, rows},
			picture->page);
	uint32_t n = rows ? (uint32_t)fmax(last - pen.y - 1, 0) : LINKS_ONCE;
	char text[160], brief[80];
	uint32_t end = top->first + n < top->n_rows ? top->first + n : top->n_rows;
	if (top->n_rows != 0) {
		tb_select_first(
			top->rows, top->n_rows, sizeof *top->rows, end, top_by_value);
		snprintf(text, sizeof text,
			"Hot links by %s, %" PRIu32 " to %" PRIu32 " of %s",
			tb_run_metric_text(top->info, top->options.metric),
			top->first + 1, end, TB_COUNT_TEXT(top->n_rows));
		snprintf(brief, sizeof brief,
			"Hot links, %" PRIu32 " to %" PRIu32 " of %s", top->first + 1,
			end, TB_COUNT_TEXT(top->n_rows));
		tb_picture_fitting(picture, (struct tb_box){0, pen.y, columns, 1},
			pen.type, (const char *const[]){text, brief, NULL});
		// Names get what they need of the line, down to a short bar.
		size_t longest = 0;
		for (uint32_t i = top->first; i < end; i++) {
			size_t length =
				strlen(tb_run_links(top->run)[top->rows[i].link].label);
			longest = length > longest ? length : longest;
		}
		pen.name_w = fmax(
			fmin((double)longest, columns - 6.0 - VALUE_W - 2 - BAR_LEAST),
			fmin(NAME_W, columns - 6.0 - 10));
		for (uint32_t i = top->first; i < end; i++) {
			pen.y++;
			draw_top_row(top, &pen, i);
		}
		pen.y++;
	}
	if (rows) {
		pen.y = last;
		tb_picture_fitting(picture, (struct tb_box){0, pen.y, columns, 1},
			pen.type,
			(const char *const[]){
				"q quit  s metric  l level  left/right time  0 all  "
				"up/down links  space pause",
				"q quit  s metric  l level  0 all", NULL});
	}
	picture->height = rows ? rows : pen.y;
	return picture->status;
}

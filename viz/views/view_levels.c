// By level: a histogram of the metric for each level. A drag brushes a range of values:
// all views then show the links that have them.
#include "histogram.h"
#include "parts.h"
#include "scale.h"
#include "ticks.h"
#include "views.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#define GUTTER	 92
#define MARGIN	 16
#define TOP_H	 40
#define AXIS_H	 32
#define ROW_GAP	 22
#define CAP_H	 2 // of a bar, whose shade may be close to the ground's
#define ZERO_GAP 8 // behind the bucket of zeros

struct levels {
	struct tb_histogram histogram;
	bool filled, logarithmic, absolute; // as the style was then
	// A drag: where it began.
	uint32_t row, bucket;
};

static struct levels *levels_of(const struct tb_pane *pane)
{
	return pane->state;
}

static void close_levels(void *state)
{
	tb_histogram_fini(&((struct levels *)state)->histogram);
}

static int open_levels(struct tb_pane *pane, struct tb_error *error)
{
	(void)error;
	levels_of(pane)->filled = false;
	return TB_OK;
}

// level_fill counts the links unless they are counted for the window and scale that are
// shown.
static bool level_fill(const struct tb_pane *pane)
{
	struct levels *levels = levels_of(pane);
	const struct tb_style *style = pane->style;
	if (levels->filled && levels->logarithmic == style->logarithmic &&
		levels->absolute == style->absolute)
		return true;
	levels->filled =
		tb_histogram_fill(&levels->histogram, pane->data, style) == TB_OK;
	levels->logarithmic = style->logarithmic;
	levels->absolute = style->absolute;
	return levels->filled;
}

static struct tb_box level_area(const struct tb_pane *pane)
{
	struct tb_box place = pane->place;
	return (struct tb_box){place.x + GUTTER, place.y + TOP_H,
		fmax(place.w - GUTTER - MARGIN, 1), fmax(place.h - TOP_H - AXIS_H, 1)};
}

// row_box returns the box of a level's bars; the top level comes first, nodes last.
static struct tb_box row_box(const struct tb_pane *pane, uint32_t row)
{
	struct tb_box area = level_area(pane);
	uint32_t n = pane->data->info->n_levels + 1;
	double h = area.h / n;
	uint32_t place = row + 1 == n ? row : n - 2 - row;
	return (struct tb_box){area.x, area.y + place * h, area.w, fmax(h - ROW_GAP, 4)};
}

static uint32_t row_at(const struct tb_pane *pane, double y)
{
	struct tb_box area = level_area(pane);
	uint32_t n = pane->data->info->n_levels + 1;
	double place = floor((y - area.y) / area.h * n);
	uint32_t at = (uint32_t)fmin(fmax(place, 0), n - 1);
	return at + 1 == n ? at : n - 2 - at;
}

static double bucket_w(struct tb_box row)
{
	return fmax((row.w - ZERO_GAP) / TB_HISTOGRAM_BUCKETS, 1);
}

// level_x returns where a bucket begins.
static double level_x(struct tb_box row, uint32_t bucket)
{
	return row.x + bucket * bucket_w(row) + (bucket > 0 ? ZERO_GAP : 0);
}

static uint32_t bucket_at(const struct tb_pane *pane, double x)
{
	struct tb_box row = row_box(pane, 0);
	double w = bucket_w(row);
	if (x < row.x + w + ZERO_GAP / 2.0)
		return 0;
	double place = floor((x - row.x - ZERO_GAP) / w);
	return (uint32_t)fmin(fmax(place, 1), TB_HISTOGRAM_BUCKETS - 1);
}

static bool brushed(const struct tb_pane *pane, uint32_t row, uint32_t bucket)
{
	const struct tb_brush *brush = &pane->selection->brush;
	uint64_t low, high;
	if (!brush->on || brush->metric != pane->data->metric)
		return !brush->on;
	tb_histogram_range(&levels_of(pane)->histogram, bucket, bucket, &low, &high);
	return row >= brush->from_level && row <= brush->to_level && low >= brush->low &&
	       low <= brush->high;
}

static void draw_level_bars(
	struct tb_pane *pane, struct tb_picture *picture, uint32_t row)
{
	const struct tb_histogram *histogram = &levels_of(pane)->histogram;
	const struct tb_palette *palette = tb_palette_of(pane->style->theme);
	struct tb_box box = row_box(pane, row);
	const uint32_t *counts = &histogram->counts[(size_t)row * TB_HISTOGRAM_BUCKETS];
	uint32_t most = 0;
	for (uint32_t i = 1; i < TB_HISTOGRAM_BUCKETS; i++)
		most = counts[i] > most ? counts[i] : most;
	struct tb_type type = tb_style_type(pane->style, TB_FONT_TEXT, 11, true);
	struct tb_box above = {box.x, box.y - 13, box.w / 2, 13};
	if (counts[0])
		tb_picture_printf(picture, above, type, "%s at 0",
			TB_COUNTED_TEXT(counts[0], "link"));
	above.x += above.w;
	type.align = TB_ALIGN_RIGHT;
	if (most)
		tb_picture_printf(picture, above, type, "full height: %s",
			TB_COUNTED_TEXT(most, "link"));
	for (uint32_t i = 0; i < TB_HISTOGRAM_BUCKETS; i++) {
		// Zeros are many and show little: cut their bar off.
		double share = fmin((double)counts[i] / fmax(most, 1), 1);
		double h = counts[i] ? fmax(share * (box.h - 4), 1.5) : 0;
		double percent = i ? 100.0 * (i - 0.5) / (TB_HISTOGRAM_BUCKETS - 1) : 0;
		if (h == 0)
			continue;
		const struct tb_box bar = {level_x(box, i), box.y + box.h - h,
			fmax(bucket_w(box) - 1, 1), h};
		bool on = brushed(pane, row, i);
		tb_picture_rect(picture, bar,
			!on ? palette->line
			: i ? tb_style_shade(pane->style, percent)
			    : palette->muted);
		if (on)
			tb_picture_rect(picture,
				(struct tb_box){bar.x, bar.y, bar.w, fmin(CAP_H, h)},
				palette->muted);
	}
}

// level_tick writes a value below the bars, unless it would run into the one before,
// which ends at `free_x`; it returns where this one ends.
static double level_tick(const struct tb_pane *pane, struct tb_picture *picture,
	struct tb_box row, double x, double free_x, const char *text)
{
	struct tb_type type = tb_style_type(pane->style, TB_FONT_TEXT, 11, true);
	double w = ceil(tb_text_width(type.font, type.size, text)) + 2;
	double left = fmin(x - w / 2, row.x + row.w - w);
	if (left < free_x)
		return free_x;
	tb_picture_line(picture, (struct tb_box){x, row.y + row.h, 0, 4}, 1,
		tb_palette_of(pane->style->theme)->line);
	tb_picture_text(
		picture, (struct tb_box){left, row.y + row.h + 5, w, 15}, type, text);
	return left + w + 4;
}

// draw_level_axis labels round values, of logarithmic bars the powers of ten below the
// largest.
static void draw_level_axis(struct tb_pane *pane, struct tb_picture *picture)
{
	const struct tb_scale *scale = &levels_of(pane)->histogram.scale;
	struct tb_box row = row_box(pane, pane->data->info->n_levels);
	double left = level_x(row, 1), w = row.x + row.w - left;
	double values[TB_SCALE_MOST_TICKS], step = scale->top / 8, free_x = row.x;
	char text[48];
	free_x = level_tick(pane, picture, row, row.x + bucket_w(row) / 2, free_x, "0");
	if (scale->logarithmic) {
		int n = tb_scale_ticks(scale, values);
		for (int i = 0; i < n && scale->top > 0; i++)
			free_x = level_tick(pane, picture, row, left + w * i / (n - 1),
				free_x,
				tb_quantity_format(
					scale->quantity, values[i], text, sizeof text));
	} else if (step > 0) {
		step = scale->quantity == TB_QUANTITY_TIME ? tb_tick_time_step(step)
		       : scale->quantity == TB_QUANTITY_BYTES
			       ? exp2(ceil(log2(step)))
			       : fmax(tb_tick_step(step), 1);
		for (double at = step; at <= scale->top; at += step)
			free_x = level_tick(pane, picture, row,
				left + w * at / scale->top, free_x,
				scale->quantity == TB_QUANTITY_TIME
					? tb_tick_time(at, step, text, sizeof text)
					: tb_quantity_format(scale->quantity, at, text,
						  sizeof text));
	}
	const char *title = tb_metric_title(pane->data->metric);
	char whole[160], brief[128];
	snprintf(whole, sizeof whole,
		"%s of a link in the window; height: number of links, cut off at 0 "
		"(grey)",
		title);
	snprintf(brief, sizeof brief, "%s of a link; height: number of links", title);
	tb_picture_fitting(picture, (struct tb_box){row.x, row.y + row.h + 24, row.w, 17},
		tb_style_type(pane->style, TB_FONT_TEXT, 12, false),
		(const char *const[]){whole, brief, title, NULL});
}

static void draw_top(struct tb_pane *pane, struct tb_picture *picture)
{
	struct tb_box place = pane->place;
	const struct tb_brush *brush = &pane->selection->brush;
	char text[128];
	struct tb_box line = {place.x + 16, place.y + 10, place.w - 32, 18};
	struct tb_type type = tb_style_type(pane->style, TB_FONT_TEXT, 12, true);
	if (!brush->on) {
		tb_picture_fitting(picture, line, type,
			(const char *const[]){"Drag over values: all views then show "
					      "only the links that have them.",
				"Drag over values: all views show only their links.",
				NULL});
		return;
	}
	line.w -= 98;
	tb_picture_printf(picture, line,
		tb_style_type(pane->style, TB_FONT_TEXT, 12, false), "%s links: %s",
		TB_COUNT_TEXT(pane->selection->n_brushed),
		tb_brush_text(brush, pane->data, text, sizeof text));
	tb_pane_button(pane, picture,
		(struct tb_box){place.x + place.w - 16 - 90, place.y + 7, 90, 22},
		TB_REQUEST_UNBRUSH, "All links");
}

static void level_draw(struct tb_pane *pane, struct tb_picture *picture)
{
	struct levels *levels = levels_of(pane);
	if (!levels)
		return;
	if (!level_fill(pane)) {
		picture->status = TB_ENOMEM;
		return;
	}
	draw_top(pane, picture);
	for (uint32_t row = 0; row < levels->histogram.n_rows; row++) {
		const struct tb_histogram *histogram = &levels_of(pane)->histogram;
		const struct tb_palette *palette = tb_palette_of(pane->style->theme);
		struct tb_box box = row_box(pane, row);
		struct tb_box label = {pane->place.x + 16, box.y, GUTTER - 20, 15};
		struct tb_type type = tb_style_type(pane->style, TB_FONT_BOLD, 12, false);
		char count[32];
		if (row == pane->data->info->n_levels)
			tb_picture_text(picture, label, type, "to nodes");
		else
			tb_picture_printf(picture, label, type, "to level %" PRIu32, row);
		label.y += 15;
		char links[48];
		tb_format_count(histogram->n_links[row], count, sizeof count);
		snprintf(links, sizeof links, "%s %s", count,
			tb_run_n_unmeasured(pane->data->run, pane->data->metric)
				? "measured"
				: "links");
		tb_picture_fitting(picture, label,
			tb_style_type(pane->style, TB_FONT_TEXT, 11, true),
			(const char *const[]){links, count, NULL});
		tb_picture_rect(picture, box, palette->empty);
		tb_picture_pick(picture, (struct tb_pick){TB_PICK_PART, TB_PART_GRID});
		draw_level_bars(pane, picture, row);
		tb_picture_line(picture, (struct tb_box){box.x, box.y + box.h, box.w, 0},
			1, palette->line);
	}
	// Frame the brushed range in its rows.
	const struct tb_palette *palette = tb_palette_of(pane->style->theme);
	const struct tb_brush *brush = &pane->selection->brush;
	const struct tb_histogram *histogram = &levels_of(pane)->histogram;
	struct tb_colour veil = palette->accent;
	veil.a = 40;
	if (brush->on && brush->metric == pane->data->metric) {
		uint32_t first = tb_histogram_bucket(histogram, brush->low);
		uint32_t last = brush->high == UINT64_MAX
					? TB_HISTOGRAM_BUCKETS - 1
					: tb_histogram_bucket(histogram, brush->high);
		for (uint32_t row = brush->from_level; row <= brush->to_level; row++) {
			struct tb_box box = row_box(pane, row);
			double left = level_x(box, first);
			struct tb_box at = {left, box.y,
				level_x(box, last) + bucket_w(box) - left, box.h};
			tb_picture_rect(picture, at, veil);
			tb_picture_frame(picture, at, 1.5, palette->accent);
		}
	}
	draw_level_axis(pane, picture);
}

// brush brushes from one row and bucket to another.
static void brush(struct tb_pane *pane, uint32_t row, uint32_t bucket, uint32_t to_row,
	uint32_t to_bucket)
{
	struct tb_brush made = {.on = true,
		.from_level = row < to_row ? row : to_row,
		.to_level = row < to_row ? to_row : row,
		.metric = pane->data->metric};
	if (!level_fill(pane))
		return;
	tb_histogram_range(&levels_of(pane)->histogram,
		bucket < to_bucket ? bucket : to_bucket,
		bucket < to_bucket ? to_bucket : bucket, &made.low, &made.high);
	tb_viewer_brush(pane->viewer, &made);
}

// level_step moves the brush by buckets and rows, or widens it; the first step brushes
// the upper half of the top level.
static void level_step(struct tb_pane *pane, int by_bucket, int by_row, int wider)
{
	const struct tb_brush *now = &pane->selection->brush;
	const struct tb_histogram *histogram = &levels_of(pane)->histogram;
	int last_row = (int)pane->data->info->n_levels;
	int last = TB_HISTOGRAM_BUCKETS - 1;
	int row = last_row - 1, first = TB_HISTOGRAM_BUCKETS / 2, end = last;
	if (!level_fill(pane))
		return;
	if (now->on && now->metric == pane->data->metric) {
		row = (int)now->from_level;
		// From the nodes, the lowest row, up to the top level.
		int place = (row == last_row ? -1 : row) - by_row;
		place = place < -1 ? -1 : place > last_row - 1 ? last_row - 1 : place;
		row = place < 0 ? last_row : place;
		first = (int)tb_histogram_bucket(histogram, now->low) + by_bucket - wider;
		end = now->high == UINT64_MAX
			      ? last
			      : (int)tb_histogram_bucket(histogram, now->high);
		end += by_bucket;
	}
	first = first < 0 ? 0 : first > last ? last : first;
	end = end < first ? first : end > last ? last : end;
	brush(pane, (uint32_t)row, (uint32_t)first, (uint32_t)row, (uint32_t)end);
}

static bool level_request(struct tb_pane *pane, const struct tb_request *asked)
{
	if (!levels_of(pane))
		return false;
	switch ((int)asked->name) {
	case TB_REQUEST_PAN_LEFT:
	case TB_REQUEST_PAN_RIGHT:
		level_step(pane, asked->name == TB_REQUEST_PAN_LEFT ? -1 : 1, 0, 0);
		return true;
	case TB_REQUEST_PAN_UP:
	case TB_REQUEST_PAN_DOWN:
		level_step(pane, 0, asked->name == TB_REQUEST_PAN_UP ? -1 : 1, 0);
		return true;
	case TB_REQUEST_ZOOM_OUT:
	case TB_REQUEST_ZOOM_IN:
		level_step(pane, 0, 0, asked->name == TB_REQUEST_ZOOM_OUT ? 1 : -1);
		return true;
	default:
		return false;
	}
}

static void level_pointer(struct tb_pane *pane, const struct tb_pointer_event *event)
{
	struct levels *levels = levels_of(pane);
	bool on_bars =
		event->pick.kind == TB_PICK_PART && event->pick.index == TB_PART_GRID;
	if (!levels || !on_bars)
		return;
	uint32_t row = row_at(pane, event->y), bucket = bucket_at(pane, event->x);
	if (event->kind == TB_EVENT_PRESS) {
		levels->row = row;
		levels->bucket = bucket;
	} else if (event->kind == TB_EVENT_DRAG) {
		brush(pane, levels->row, levels->bucket, row, bucket);
	} else if (event->kind == TB_EVENT_CLICK) {
		tb_viewer_brush(pane->viewer, &(struct tb_brush){.on = false});
	}
}

static void level_tip(const struct tb_pane *pane, struct tb_tip *tip)
{
	const struct levels *levels = levels_of(pane);
	uint64_t low, high;
	if (!levels || !levels->filled || tip->pick.kind != TB_PICK_PART)
		return;
	uint32_t row = row_at(pane, tip->y), bucket = bucket_at(pane, tip->x);
	uint32_t n =
		levels->histogram.counts[(size_t)row * TB_HISTOGRAM_BUCKETS + bucket];
	tb_histogram_range(&levels->histogram, bucket, bucket, &low, &high);
	tb_tip_line(tip, 0, "%" PRIu32 " %s", n, n == 1 ? "link" : "links");
	if (high == UINT64_MAX)
		tb_tip_line(tip, 1, "%s %s or more",
			tb_link_figures[pane->data->metric].name,
			TB_METRIC_TEXT(pane->data->metric, low));
	else
		tb_tip_line(tip, 1, "%s %s to %s",
			tb_link_figures[pane->data->metric].name,
			TB_METRIC_TEXT(pane->data->metric, low),
			TB_METRIC_TEXT(pane->data->metric, high));
	tip->about = row_box(pane, row);
	tip->about.x = level_x(tip->about, bucket);
	tip->about.w = bucket_w(row_box(pane, row));
}

const struct tb_view tb_view_levels = {.slot = TB_SLOT_MAIN,
	.about = "How many links of each level have how much. Drag over values: all "
		 "views then show these links only; u shows all again.",
	.name = "levels",
	.tab = "By level",
	.brief_tab = "Levels",
	.state_size = sizeof(struct levels),
	.open = open_levels,
	.draw = level_draw,
	.request = level_request,
	.pointer = level_pointer,
	.tip = level_tip,
	.close = close_levels};

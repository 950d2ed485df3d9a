#include "scale.h"

#include "run_capture.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum tb_quantity tb_quantity_of(enum tb_metric metric)
{
	switch (tb_link_figures[metric].kind) {
	case TB_KIND_SIZE:
		return TB_QUANTITY_BYTES;
	case TB_KIND_COUNT:
	case TB_KIND_RATE:
		return TB_QUANTITY_COUNT;
	case TB_KIND_TIME:
		break;
	}
	return TB_QUANTITY_TIME;
}

// round_up returns the next 1, 2 or 5 times a power of ten; for bytes the next power of
// two.
static double round_up(enum tb_quantity quantity, double value)
{
	static const double steps[] = {1, 2, 5};
	if (value <= 0)
		return 0;
	if (quantity == TB_QUANTITY_BYTES)
		return exp2(ceil(log2(value)));
	double power = pow(10, floor(log10(value)));
	for (size_t i = 0; i < 3; i++)
		if (steps[i] * power >= value * (1 - 1e-12))
			return steps[i] * power;
	return 10 * power;
}

struct tb_scale tb_scale_of(
	enum tb_quantity quantity, double largest, bool absolute, bool logarithmic)
{
	return (struct tb_scale){.quantity = quantity,
		.top = absolute ? round_up(quantity, largest) : largest,
		.absolute = absolute,
		.logarithmic = logarithmic};
}

double tb_scale_percent(const struct tb_scale *scale, double value)
{
	if (scale->top <= 0 || value <= 0)
		return 0;
	if (!scale->logarithmic)
		return 100.0 * value / scale->top;
	double share = 1 + log10(value / scale->top) / TB_SCALE_DECADES;
	return fmin(fmax(100 * share, 1), 100);
}

struct quantity_unit {
	double size;
	const char *name;
};

static struct quantity_unit scale_unit(const struct tb_scale *scale)
{
	static const struct quantity_unit units[][5] = {
		[TB_QUANTITY_TIME] = {{1, "ps"}, {1e3, "ns"}, {1e6, "us"}, {1e9, "ms"},
			{1e12, "s"}},
		[TB_QUANTITY_BYTES] = {{1, "B"}, {0x1p10, "KiB"}, {0x1p20, "MiB"},
			{0x1p30, "GiB"}, {0x1p40, "TiB"}},
		[TB_QUANTITY_COUNT] = {{1, ""}, {1e3, "thousand"}, {1e6, "million"},
			{1e9, "billion"}, {1e12, "trillion"}},
		[TB_QUANTITY_RATIO] = {{1, "times"}, {INFINITY, ""}, {INFINITY, ""},
			{INFINITY, ""}, {INFINITY, ""}},
		[TB_QUANTITY_PACKETS] = {{1, "packets"}, {INFINITY, ""}, {INFINITY, ""},
			{INFINITY, ""}, {INFINITY, ""}},
		[TB_QUANTITY_PERCENT] = {{1, "%"}, {INFINITY, ""}, {INFINITY, ""},
			{INFINITY, ""}, {INFINITY, ""}},
	};
	const struct quantity_unit *of = units[scale->quantity];
	double decides = scale->unit_value > 0 ? scale->unit_value : scale->top;
	size_t i = 0;
	while (i + 1 < 5 && decides >= of[i + 1].size)
		i++;
	return of[i];
}

char *tb_scale_number(
	const struct tb_scale *scale, double value, char *buffer, size_t size)
{
	double percent = scale->top > 0 ? 100.0 * value / scale->top : 0;
	double number = scale->absolute ? value / scale_unit(scale).size : percent;
	bool whole = !scale->absolute || (scale->quantity == TB_QUANTITY_COUNT &&
						 scale_unit(scale).size == 1);
	if (!scale->absolute && value > 0 && percent < 0.5)
		snprintf(buffer, size, "<1");
	else if (whole || number >= 9.95 || value <= 0)
		snprintf(buffer, size, "%.0f", number);
	else if (number < 0.05)
		snprintf(buffer, size, "<.1");
	else
		snprintf(buffer, size, "%.1f", number);
	return buffer;
}

const char *tb_scale_unit(const struct tb_scale *scale)
{
	return scale->absolute ? scale_unit(scale).name : "%";
}

int tb_scale_ticks(const struct tb_scale *scale, double values[TB_SCALE_MOST_TICKS])
{
	if (scale->logarithmic) {
		for (int i = 0; i <= TB_SCALE_DECADES; i++)
			values[i] = scale->top * pow(10, i - TB_SCALE_DECADES);
		return TB_SCALE_DECADES + 1;
	}
	bool whole = scale->absolute && scale->quantity == TB_QUANTITY_COUNT;
	int n = 0;
	for (int i = 0; i < TB_SCALE_MOST_TICKS; i++) {
		double value = scale->top * i / (TB_SCALE_MOST_TICKS - 1);
		value = whole ? round(value) : value;
		if (n == 0 || !whole || value > values[n - 1])
			values[n++] = value;
	}
	return n;
}

char *tb_quantity_format(
	enum tb_quantity quantity, double value, char *buffer, size_t size)
{
	switch (quantity) {
	case TB_QUANTITY_TIME:
		return tb_format_time((tb_time_ps)fmin(value, 9e18), buffer, size);
	case TB_QUANTITY_BYTES:
		return tb_format_size((uint64_t)fmin(value, 9e18), buffer, size);
	case TB_QUANTITY_COUNT:
		return tb_format_count((uint64_t)fmin(value, 9e18), buffer, size);
	case TB_QUANTITY_RATIO:
	case TB_QUANTITY_PACKETS:
		snprintf(buffer, size, "%.*f %s", value < 10 ? 2 : 0, value,
			quantity == TB_QUANTITY_RATIO ? "times" : "packets");
		break;
	case TB_QUANTITY_PERCENT:
		snprintf(buffer, size, "%.*f %%", value < 100 ? 1 : 0, value);
		break;
	}
	return buffer;
}

#define TICK_SIZE 11
#define APART	  6 // pixels between labels

// A tick and its label, which is centred below it.
struct tick {
	double x, left, right; // of the label
	char text[32];
};

static struct tick scale_tick(
	struct tb_box bar, const struct tb_legend *legend, double value, bool last)
{
	const struct tb_scale *scale = &legend->scale;
	char number[16];
	double share = scale->top <= 0	    ? 0
		       : scale->logarithmic ? tb_scale_percent(scale, value) / 100
					    : value / scale->top;
	const char *unit = last ? tb_scale_unit(scale) : "";
	struct tick tick = {.x = bar.x + bar.w * fmin(share, 1)};
	tb_scale_number(scale, value, number, sizeof number);
	snprintf(tick.text, sizeof tick.text, "%s%s%s", number, unit[0] ? " " : "", unit);
	double w = legend->font == TB_FONT_CELL
			   ? 0 // a terminal's bar is made for its labels
			   : tb_text_width(legend->font, TICK_SIZE, tick.text) + APART;
	tick.left = tick.x - w / 2;
	tick.right = tick.x + w / 2;
	return tick;
}

static void draw_tick(struct tb_picture *picture, struct tb_box bar,
	const struct tb_legend *legend, const struct tick *tick, bool labelled)
{
	const struct tb_palette *palette = tb_palette_of(legend->theme);
	bool cells = legend->font == TB_FONT_CELL;
	double half = cells ? 3 : 26;
	struct tb_box label = {tick->x - half, bar.y + bar.h + (cells ? 0 : 2), 2 * half,
		cells ? 1 : 13};
	struct tb_type type = {
		legend->font, cells ? 1 : TICK_SIZE, TB_ALIGN_CENTRE, palette->muted};
	if (!cells)
		tb_picture_line(picture, (struct tb_box){tick->x, bar.y + bar.h, 0, 3}, 1,
			palette->line);
	if (labelled)
		tb_picture_text(picture, label, type, tick->text);
}

// draw_scale_ticks labels the last tick, which has the unit, and those that do not run
// into it or into the one before.
static void draw_scale_ticks(
	struct tb_picture *picture, struct tb_box bar, const struct tb_legend *legend)
{
	double values[TB_SCALE_MOST_TICKS], free_from = -INFINITY;
	int n = tb_scale_ticks(&legend->scale, values);
	for (int i = 0; i < n; i++) {
		bool is_last = i == n - 1;
		struct tick tick = scale_tick(bar, legend, values[i], is_last);
		struct tick last = scale_tick(bar, legend, values[n - 1], true);
		bool labelled =
			is_last || (tick.left >= free_from && tick.right <= last.left);
		draw_tick(picture, bar, legend, &tick, labelled);
		if (labelled)
			free_from = tick.right;
	}
}

// or_percent replaces the scale of values that are all 0 by one of percentages.
static struct tb_scale or_percent(struct tb_scale scale)
{
	if (scale.top <= 0)
		scale = (struct tb_scale){.quantity = scale.quantity,
			.top = 100,
			.logarithmic = scale.logarithmic};
	return scale;
}

void tb_legend_draw(
	struct tb_picture *picture, struct tb_box box, const struct tb_legend *given)
{
	struct tb_legend legend = *given;
	bool cells = legend.font == TB_FONT_CELL;
	uint32_t n = cells ? (uint32_t)box.w : 100;
	struct tb_box bar = {box.x, box.y, box.w, cells ? 1 : box.h - 15};
	legend.scale = or_percent(legend.scale);
	// Draw each step up to the end of the bar, so that no seam shows where two steps
	// share a pixel. In a terminal none do.
	for (uint32_t i = 0; i < n; i++) {
		double left = bar.x + bar.w * i / n;
		double right = bar.x + (cells ? bar.w * (i + 1) / n : bar.w);
		tb_picture_rect(picture,
			(struct tb_box){left, bar.y, right - left, bar.h},
			tb_shade(legend.colours, legend.theme, 100.0 * (i + 0.5) / n));
	}
	draw_scale_ticks(picture, bar, &legend);
}

#define HATCH_STEP  5
#define HATCH_LEAST 7 // pixels of a cell's sides
#define GREY	    0.35

void tb_unmeasured_draw(
	struct tb_picture *picture, struct tb_box box, enum tb_theme theme)
{
	const struct tb_palette *palette = tb_palette_of(theme);
	bool small = fmin(box.w, box.h) < HATCH_LEAST;
	struct tb_colour grey = tb_colour_mix(palette->empty, palette->muted, GREY);
	tb_picture_rect(picture, box, small ? grey : palette->empty);
	// Lines at 45 degrees, each from its right or upper end to its left or lower one.
	box = (struct tb_box){box.x + 1, box.y + 1, box.w - 2, box.h - 2};
	for (double at = HATCH_STEP; !small && at < box.w + box.h; at += HATCH_STEP) {
		double right = fmin(at, box.w), left = fmax(at - box.h, 0);
		tb_picture_line(picture,
			(struct tb_box){box.x + right, box.y + at - right, left - right,
				right - left},
			1, grey);
	}
}

bool tb_window_whole(const struct tb_run_info *info, struct tb_window window)
{
	return window.end_bin == 0 ||
	       (window.first_bin == 0 && window.end_bin >= info->n_bins);
}

tb_time_ps tb_window_begin_ps(const struct tb_run_info *info, struct tb_window window)
{
	return tb_window_whole(info, window)
		       ? 0
		       : (tb_time_ps)window.first_bin * info->bin_ps;
}

tb_time_ps tb_window_end_ps(const struct tb_run_info *info, struct tb_window window)
{
	tb_time_ps end = (tb_time_ps)window.end_bin * info->bin_ps;
	bool last = tb_window_whole(info, window) || end > info->simulated_ps;
	return last ? info->simulated_ps : end;
}

int tb_window_between(const struct tb_run_info *info, tb_time_ps from, tb_time_ps to,
	struct tb_window *window, struct tb_error *error)
{
	if (from >= to)
		return tb_fail(error, TB_EUSAGE,
			"the window is %s: it must end after it begins",
			from > to ? "reversed" : "empty");
	if (info->n_bins == 0 || from >= (tb_time_ps)info->n_bins * info->bin_ps)
		return tb_fail(error, TB_EUSAGE,
			"the window begins after the run's end at %s",
			TB_TIME_TEXT(info->simulated_ps));
	uint64_t bin = (uint64_t)info->bin_ps;
	uint64_t end = ((uint64_t)to + bin - 1) / bin;
	window->first_bin = (uint64_t)from / bin;
	window->end_bin = end < info->n_bins ? end : info->n_bins;
	return TB_OK;
}

char *tb_window_text(const struct tb_run_info *info, struct tb_window window,
	char *buffer, size_t size)
{
	tb_time_ps begin = tb_window_begin_ps(info, window);
	snprintf(buffer, size, "%s to %s%s", begin == 0 ? "0" : TB_TIME_TEXT(begin),
		TB_TIME_TEXT(tb_window_end_ps(info, window)),
		tb_window_whole(info, window) ? " (whole run)" : "");
	return buffer;
}

char *tb_run_input_text(const char *input, char *buffer, size_t size)
{
	const char *end = strstr(input, ", ");
	unsigned more = 0;
	for (const char *next = end; next; next = strstr(next + 2, ", "))
		more++;
	if (!end)
		end = input + strlen(input);
	const char *begin = end;
	while (begin > input && !(begin[-1] == '/' && begin < end))
		begin--;
	int length = snprintf(buffer, size, "%.*s", (int)(end - begin), begin);
	if (more && length >= 0 && (size_t)length < size)
		snprintf(buffer + length, size - (size_t)length, " and %u more", more);
	if (strcmp(buffer, "-") == 0)
		snprintf(buffer, size, "standard input");
	return buffer;
}

// capture_text writes what decides the figures of a capture: ", time scale 0.1, 5.2 s
// idle taken out"; nothing of a job, which has no time scale.
static char *capture_text(const struct tb_run_info *info, char *buffer, size_t size)
{
	struct tb_run_capture capture = {0};
	char sampled[96];
	*buffer = '\0';
	if (strcmp(info->input_kind, "packets") != 0 &&
		strcmp(info->input_kind, "mixed") != 0)
		return buffer;
	int length = snprintf(buffer, size, ", time scale %.6g", info->time_scale);
	if (!tb_run_capture(info, &capture))
		return buffer;
	if (capture.sampled_most > 0)
		length += snprintf(buffer + length, size - (size_t)length, ", %s",
			tb_run_sampled(&capture, sampled, sizeof sampled));
	if (capture.idle_ps > 0 && capture.idle_ps < TB_TIME_NEVER)
		snprintf(buffer + length, size - (size_t)length, ", %s idle taken out",
			TB_TIME_TEXT(capture.idle_ps));
	return buffer;
}

char *tb_run_pair_text(const struct tb_run *run, struct tb_node source,
	struct tb_node destination, double width, char *buffer, size_t size)
{
	const char *from = tb_run_node_label(run, source);
	const char *to = tb_run_node_label(run, destination);
	snprintf(buffer, size, "%.76s > %.76s", from, to);
	bool fits = width >= TB_PAIR_NAMES_W ||
		    (width >= TB_PAIR_NAMES_W / 2 &&
			    tb_text_width(TB_FONT_MONO, 12, buffer) <= width);
	if (!*from || !*to || !fits)
		snprintf(buffer, size, "%" PRIu32 " > %" PRIu32, source.id,
			destination.id);
	return buffer;
}

char *tb_run_caption(const struct tb_run_info *info, char *buffer, size_t size)
{
	return tb_run_caption_with(info, tb_run_caution(info), buffer, size);
}

char *tb_run_caption_with(
	const struct tb_run_info *info, const char *caution, char *buffer, size_t size)
{
	char input[81], capture[192];
	snprintf(buffer, size, "%s on %.32s%s, %s nodes%s%s",
		tb_run_input_text(info->input_name, input, sizeof input),
		info->network_name, caution, TB_COUNT_TEXT(info->n_nodes),
		capture_text(info, capture, sizeof capture),
		info->complete ? "" : " (not ended)");
	return buffer;
}

char *tb_span_text(struct tb_span span, char *buffer, size_t size)
{
	if (span.to_ps == 0)
		snprintf(buffer, size, "the whole run");
	else
		snprintf(buffer, size, "%s to %s",
			span.from_ps == 0 ? "0" : TB_TIME_TEXT(span.from_ps),
			TB_TIME_TEXT(span.to_ps));
	return buffer;
}

static tb_time_ps to_time(uint64_t value)
{
	return value > INT64_MAX ? INT64_MAX : (tb_time_ps)value;
}

char *tb_metric_format(enum tb_metric metric, uint64_t value, char *buffer, size_t size)
{
	return tb_metric_format_as(metric, value, value, buffer, size);
}

char *tb_metric_format_as(
	enum tb_metric metric, uint64_t value, uint64_t model, char *buffer, size_t size)
{
	const struct tb_link_figure *figure = &tb_link_figures[metric];
	switch (figure->kind) {
	case TB_KIND_TIME:
		return tb_format_time_as(to_time(value), to_time(model), buffer, size);
	case TB_KIND_SIZE:
		return tb_format_size_as(value, model, buffer, size);
	case TB_KIND_RATE: {
		// Write what happens in a second: "17 /s", "12.35 k/s", "148.8 M/s".
		double unit = model >= 1000000 ? 1e6 : model >= 1000 ? 1e3 : 1;
		snprintf(buffer, size, "%.4g %s/s", (double)value / unit,
			unit > 1e3   ? "M"
			: unit > 1.0 ? "k"
				     : "");
		return buffer;
	}
	case TB_KIND_COUNT:
		snprintf(buffer, size, "%s %.*s", TB_COUNT_TEXT(value),
			(int)(strlen(figure->unit) - (value == 1)), figure->unit);
		break;
	}
	return buffer;
}

const char *tb_metric_unit(enum tb_metric metric)
{
	return tb_link_figures[metric].unit;
}

const char *tb_metric_title(enum tb_metric metric)
{
	return tb_link_figures[metric].title;
}

char *tb_metric_meaning(enum tb_metric metric, const struct tb_switching_words *switching,
	char *buffer, size_t size)
{
	return tb_fill_words(tb_link_figures[metric].meaning, switching, buffer, size);
}

// The head: the caption of the run, and the metrics to choose from.
#include "scale.h"
#include "underload.h"
#include "views.h"

#include <inttypes.h>
#include <math.h>

#define PAD	     16
#define CHIP_PAD     22 // both sides of a chip's text
#define TRY_RECORDED "; try -n recorded"

// metric_shown is which of the two waits the wait is. Of a job alone those are known of
// what came by links.
static enum tb_metric metric_shown(const struct tb_viewer_data *data)
{
	if (data->metric != TB_WAIT)
		return data->metric;
	return tb_viewer_data_is_of_job(data) ? TB_CAME_BY : data->info->wait;
}

static double chip_width(int metric)
{
	return ceil(tb_text_width(TB_FONT_TEXT, 12, tb_link_figures[metric].brief)) +
	       CHIP_PAD;
}

// has_chip: seven chips leave the lines before them room at 1280 pixels; a further metric
// has one while it is shown.
static bool has_chip(int metric, enum tb_metric shown)
{
	return metric <= TB_LONGEST || metric == (int)shown;
}

// draw_run draws which of the store's runs this is, as a button for the list of them, and
// the settings of a point; it returns how much of the line that takes.
static double draw_run(struct tb_pane *pane, struct tb_picture *picture, double y)
{
	const struct tb_run_list *runs = &pane->data->runs;
	size_t at = tb_run_list_of(runs, pane->data->info->id);
	char text[200];
	if (runs->n < 2 || at == runs->n)
		return 0;
	const struct tb_listed_run *run = &runs->runs[at];
	snprintf(text, sizeof text, "run %" PRId64 " of %zu%s%.150s", run->id, runs->n,
		run->settings && run->settings[0] ? ": " : "",
		run->settings ? run->settings : "");
	double w = ceil(tb_text_width(TB_FONT_TEXT, 12, text)) + 16;
	tb_pane_button(
		pane, picture, (struct tb_box){PAD, y - 1, w, 18}, TB_REQUEST_RUNS, text);
	return w + 10;
}

// draw_filters names which job and links all views show, when those are not all.
static void draw_filters(
	const struct tb_pane *pane, struct tb_picture *picture, struct tb_box line)
{
	const struct tb_brush *brush = &pane->selection->brush;
	char text[128];
	struct tb_type type = tb_style_type(pane->style, TB_FONT_TEXT, 12, false);
	if (pane->data->job != TB_ID_NONE) {
		snprintf(text, sizeof text, "only job %.80s%s",
			tb_run_job_name(pane->data->run, pane->data->job),
			tb_viewer_data_is_of_job(pane->data) &&
					pane->data->metric == TB_WAIT
				? ""
				: ", but links of all");
		tb_picture_rect(picture, (struct tb_box){line.x, line.y + 4, 8, 8},
			tb_job_colour(pane->style->theme, pane->data->job));
		line.x += 13;
		tb_picture_text(picture, line, type, text);
		double used = tb_text_width(type.font, type.size, text) + 12;
		line.x += used;
		line.w = fmax(line.w - used, 1);
	}
	if (!brush->on)
		return;
	type.colour = tb_palette_of(pane->style->theme)->accent;
	tb_picture_printf(picture, line, type,
		"only links with %s; switches sum all links",
		tb_brush_text(brush, pane->data, text, sizeof text));
}

static void head_draw(struct tb_pane *pane, struct tb_picture *picture)
{
	struct tb_box place = pane->place;
	const struct tb_palette *palette = tb_palette_of(pane->style->theme);
	char text[256];
	char window[80];
	tb_picture_rect(picture, place, palette->panel);
	tb_picture_line(picture, (struct tb_box){place.x, place.h - 0.5, place.w, 0}, 1,
		palette->line);
	double x = place.x + place.w - PAD - 34;
	tb_pane_button(pane, picture, (struct tb_box){x, place.y + 14, 34, 28},
		TB_REQUEST_HELP, "?");
	x -= 12;
	tb_run_caption(pane->data->info, text, sizeof text);
	// Narrow each chip so that the caption, which ends at `from`, has its room.
	double from = tb_text_width(TB_FONT_BOLD, 15, text) + PAD + 20;
	enum tb_metric shown = pane->data->metric;
	double all = 0;
	int n = 0;
	for (int metric = 0; metric < TB_N_METRICS; metric++) {
		n += has_chip(metric, shown);
		all += has_chip(metric, shown) ? chip_width(metric) : 0;
	}
	double over = ceil((from + all - x) / n);
	double less = fmin(fmax(over, 0), CHIP_PAD - 8);
	for (int metric = TB_N_METRICS - 1; metric >= 0; metric--) {
		if (!has_chip(metric, pane->data->metric))
			continue;
		double w = chip_width(metric) - less;
		x -= w;
		tb_pane_chip(pane, picture,
			&(struct tb_chip){.box = {x, place.y + 14, w - 2, 28},
				.pick = {TB_PICK_METRIC, (uint32_t)metric},
				.title = tb_link_figures[metric].brief,
				.chosen = pane->data->metric == (enum tb_metric)metric,
				.in_panel = true,
				.line = 1,
				.align = TB_ALIGN_CENTRE});
	}
	double room = fmax(x - PAD - 20, 40);
	double run_w = draw_run(pane, picture, place.y + 30);
	// The network that was taken, the one that was recorded, and what to try.
	char recorded[80], both[sizeof text + sizeof recorded];
	char full[sizeof both + sizeof TRY_RECORDED], caution[64], brief[256];
	const struct tb_run_info *info = pane->data->info;
	enum tb_recorded_on on = tb_run_recorded_on(pane->data->run);
	snprintf(both, sizeof both, "%s%s", text,
		tb_recorded_on_text(on, 0, recorded, sizeof recorded));
	snprintf(full, sizeof full, "%s%s", both,
		tb_recorded_elsewhere(on, &info->network) ? TRY_RECORDED : "");
	tb_run_caption_with(info, tb_run_caution_brief(info, caution, sizeof caution),
		brief, sizeof brief);
	tb_picture_fitting(picture, (struct tb_box){PAD, place.y + 9, room, 20},
		tb_style_type(pane->style, TB_FONT_BOLD, 15, false),
		(const char *const[]){full, both, text, brief, NULL});
	tb_window_text(pane->data->info, pane->data->window, window, sizeof window);
	snprintf(text, sizeof text, "%s, %s", tb_metric_title(metric_shown(pane->data)),
		window);
	struct tb_type type = tb_style_type(pane->style, TB_FONT_TEXT, 12, true);
	struct tb_box line = {PAD + run_w, place.y + 30, fmax(room - run_w, 1), 16};
	tb_picture_text(picture, line, type, text);
	double used = tb_text_width(type.font, type.size, text) + 12;
	line.x += used;
	line.w = fmax(line.w - used, 1);
	draw_filters(pane, picture, line);
}

const struct tb_view tb_view_head = {.slot = TB_SLOT_HEAD, .draw = head_draw};

// Two runs: their matrices side by side under one zoom, what changed from one to the
// other, and the links that moved most.
#include "metric_text.h"
#include "pair.h"
#include "run_text.h"
#include "viewer_impl.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define PAD	    16
#define GAP	    14
#define TITLE_H	    40
#define LEGEND_H    36
#define LOWER_H	    168
#define ROW_H	    17
#define MOST_ZOOM   8
#define MOST_FITTED 2.2
#define FONT_SIZE   10.5
#define NATURAL_W   860 // world units that lines of blocks are wrapped to

enum { PANEL_A, PANEL_B, PANEL_CHANGE, N_PANELS };

static const struct tb_matrix_metrics metrics = {
	.cell_w = 24, .cell_h = 17, .sum_h = 21, .gap_x = 8, .gap_y = 8, .band_gap = 18};

struct state {
	struct tb_pair *pair;
	struct tb_matrix_layout layouts[2]; // of A and of B
	double zoom, fit_zoom, pan_x, pan_y;
	struct tb_box fitted; // the place that it was fitted for
};

static struct state *state_of(const struct tb_viewer *viewer)
{
	return viewer->states[TB_VIEW_PAIR];
}

bool tb_viewer_has(const struct tb_viewer *viewer, enum tb_view_name name)
{
	return name != TB_VIEW_PAIR || state_of(viewer) != NULL;
}

static void close(void *closed)
{
	struct state *state = closed;
	tb_pair_free(state->pair);
	tb_matrix_layout_fini(&state->layouts[0]);
	tb_matrix_layout_fini(&state->layouts[1]);
}

static int n_panels(const struct state *state)
{
	return state->pair->same_shape ? N_PANELS : PANEL_CHANGE;
}

static struct tb_box panel_of(const struct tb_viewer *viewer, int panel)
{
	struct tb_box place = viewer->places[TB_VIEW_PAIR];
	int n = n_panels(state_of(viewer));
	double w = (place.w - 2 * PAD - (n - 1) * GAP) / n;
	return (struct tb_box){place.x + PAD + panel * (w + GAP), place.y + TITLE_H,
		fmax(w, 1), fmax(place.h - TITLE_H - LEGEND_H - LOWER_H, 1)};
}

static const struct tb_matrix_layout *layout_of(const struct state *state, int panel)
{
	return &state->layouts[panel == PANEL_B];
}

static double clamp(double pan, double span, double sight)
{
	double low = fmin(fmin(-sight / 2, span - sight), 0);
	double high = fmax(fmax(span - sight / 2, span - sight), 0);
	return fmin(fmax(pan, low), high);
}

static void set_view(struct tb_viewer *viewer, double zoom, double pan_x, double pan_y)
{
	struct state *state = state_of(viewer);
	struct tb_box area = panel_of(viewer, PANEL_A);
	const struct tb_matrix_layout *a = &state->layouts[0], *b = &state->layouts[1];
	state->zoom = zoom;
	state->pan_x = clamp(pan_x, fmax(a->width, b->width), area.w / zoom);
	state->pan_y = clamp(pan_y, fmax(a->height, b->height), area.h / zoom);
	viewer->stale = true;
}

static void fit(struct tb_viewer *viewer)
{
	struct state *state = state_of(viewer);
	struct tb_box area = panel_of(viewer, PANEL_A);
	double of_a = tb_matrix_layout_fit(&state->layouts[0], area.w - 4, area.h - 4);
	double of_b = tb_matrix_layout_fit(&state->layouts[1], area.w - 4, area.h - 4);
	state->fit_zoom = fmin(fmin(of_a, of_b), MOST_FITTED);
	state->fitted = viewer->places[TB_VIEW_PAIR];
	viewer->away[TB_VIEW_PAIR] = false;
	set_view(viewer, state->fit_zoom, 0, 0);
}

// zoom_at leaves what is under (x, y) where it is; the other panels follow.
static void zoom_at(struct tb_viewer *viewer, double x, double y, double factor)
{
	struct state *state = state_of(viewer);
	struct tb_box area = panel_of(viewer, PANEL_A);
	for (int i = 0; i < n_panels(state); i++)
		if (tb_box_holds(panel_of(viewer, i), x, y))
			area = panel_of(viewer, i);
	double zoom = fmin(state->zoom * factor, fmax(MOST_ZOOM, state->fit_zoom));
	if (zoom <= state->fit_zoom * 1.01) {
		fit(viewer);
		return;
	}
	double world_x = (x - area.x) / state->zoom + state->pan_x;
	double world_y = (y - area.y) / state->zoom + state->pan_y;
	viewer->away[TB_VIEW_PAIR] = true;
	set_view(viewer, zoom, world_x - (x - area.x) / zoom,
		world_y - (y - area.y) / zoom);
}

static void pan(struct tb_viewer *viewer, double dx, double dy)
{
	struct state *state = state_of(viewer);
	viewer->away[TB_VIEW_PAIR] = true;
	set_view(viewer, state->zoom, state->pan_x - dx / state->zoom,
		state->pan_y - dy / state->zoom);
}

static int open(struct tb_viewer *viewer, struct tb_error *error)
{
	struct state *state = state_of(viewer);
	struct tb_pair *pair = state->pair;
	int status = tb_pair_show(pair, viewer->run, viewer->window, viewer->samples,
		&viewer->matrix, error);
	if (status || state->layouts[0].bands)
		return status;
	if (tb_matrix_layout_init(
		    &state->layouts[0], &viewer->matrix, &metrics, NATURAL_W) ||
		tb_matrix_layout_init(
			&state->layouts[1], &pair->matrix, &metrics, NATURAL_W))
		return tb_fail(error, TB_ENOMEM, "no memory for the matrix' layout");
	return TB_OK;
}

int tb_viewer_compare(
	struct tb_viewer *viewer, const char *path, int64_t id, struct tb_error *error)
{
	struct tb_pair *pair;
	if (!viewer->run)
		return tb_fail_in(error, TB_EUSAGE, viewer->path, "holds no run");
	int status = tb_pair_new(&pair, viewer->run, path, id, error);
	if (status)
		return status;
	struct state *state = calloc(1, sizeof *state);
	if (!state) {
		tb_pair_free(pair);
		return tb_fail(error, TB_ENOMEM, "no memory to compare two runs");
	}
	state->pair = pair;
	if (state_of(viewer))
		close(state_of(viewer));
	free(viewer->states[TB_VIEW_PAIR]);
	viewer->states[TB_VIEW_PAIR] = state;
	viewer->unread[TB_VIEW_PAIR] = true;
	tb_viewer_go(viewer, TB_VIEW_PAIR);
	return TB_OK;
}

static uint64_t larger(uint64_t one, uint64_t other)
{
	return one > other ? one : other;
}

// view_of is how a panel is looked at. A and B share a scale, so that equal waits have
// equal shades.
static struct tb_matrix_view view_of(const struct tb_viewer *viewer, int panel)
{
	const struct state *state = state_of(viewer);
	const struct tb_pair *pair = state->pair;
	struct tb_matrix_view view = {.area = panel_of(viewer, panel),
		.zoom = state->zoom,
		.pan_x = state->pan_x,
		.pan_y = state->pan_y,
		.detail = tb_matrix_detail_at(&metrics, state->zoom),
		.colours = viewer->colours,
		.theme = viewer->theme,
		.font = TB_FONT_TEXT,
		.bold_font = TB_FONT_BOLD,
		.font_size = FONT_SIZE,
		.names = true};
	if (panel != PANEL_B || pair->same_shape) {
		view.selected = viewer->selected;
		view.hovered = viewer->hovered;
		view.marks = viewer->marks;
	}
	struct tb_matrix scaled = pair->change;
	if (panel == PANEL_CHANGE) {
		view.less_links = pair->less_links;
		view.less_switches = pair->less_switches;
	} else {
		scaled.metric = viewer->matrix.metric;
		scaled.largest_link =
			larger(viewer->matrix.largest_link, pair->matrix.largest_link);
		scaled.largest_switch = larger(
			viewer->matrix.largest_switch, pair->matrix.largest_switch);
	}
	tb_matrix_view_scale(&view, &scaled, viewer->absolute, viewer->logarithmic);
	return view;
}

static void draw_title(
	const struct tb_viewer *viewer, struct tb_picture *picture, int panel)
{
	static const char *const names[] = {"A", "B", "B - A"};
	const struct tb_pair *pair = state_of(viewer)->pair;
	struct tb_box box = panel_of(viewer, panel);
	char caption[192], window[80];
	box.y -= TITLE_H - 4;
	box.h = 17;
	double name_w = tb_text_width(TB_FONT_BOLD, 13, names[panel]) + 8;
	tb_picture_text(picture, box, tb_viewer_type(viewer, TB_FONT_BOLD, 13, false),
		names[panel]);
	struct tb_box rest = {box.x + name_w, box.y, fmax(box.w - name_w, 1), 17};
	struct tb_type type = tb_viewer_type(viewer, TB_FONT_TEXT, 12, false);
	struct tb_type muted = tb_viewer_type(viewer, TB_FONT_TEXT, 11, true);
	struct tb_box line = {box.x, box.y + 17, box.w, 15};
	if (panel == PANEL_CHANGE) {
		tb_picture_printf(
			picture, rest, type, "%s", tb_metric_title(viewer->metric));
		tb_picture_text(picture, line, muted, "orange: more in B, blue: less");
		return;
	}
	const struct tb_run_info *info =
		panel == PANEL_A ? tb_run_info(viewer->run) : pair->info;
	tb_picture_printf(picture, rest, type, "%s, run %" PRId64,
		panel == PANEL_A ? viewer->path : pair->path, info->id);
	bool over = panel == PANEL_B && pair->over;
	tb_picture_printf(picture, line, muted, "%s, %s",
		over ? "ended before this window"
		     : tb_window_text(info,
			       panel == PANEL_A ? viewer->window : pair->window, window,
			       sizeof window),
		tb_run_caption(info, caption, sizeof caption));
}

// unpick takes the ids off what was drawn since: they are another network's.
static void unpick(struct tb_picture *picture, size_t from)
{
	for (size_t i = from; i < picture->n_items; i++)
		picture->items[i].pick = (struct tb_pick){TB_PICK_NONE, 0};
}

// draw_change_legend is a bar from the most that is less to the most that is more.
static void draw_change_legend(const struct tb_viewer *viewer, struct tb_picture *picture,
	struct tb_box box, const struct tb_scale *scale)
{
	const int n = 100;
	char number[16], text[3][40];
	struct tb_type type = tb_viewer_type(viewer, TB_FONT_TEXT, 11, true);
	for (int i = 0; i < n; i++) {
		double left = box.x + box.w * i / n;
		tb_picture_rect(picture,
			(struct tb_box){left, box.y, box.x + box.w - left, box.h - 15},
			tb_shade_change(viewer->theme, -100 + 200.0 * (i + 0.5) / n));
	}
	tb_scale_number(scale, scale->top, number, sizeof number);
	snprintf(text[0], sizeof text[0], "-%s", number);
	snprintf(text[1], sizeof text[1], "0");
	snprintf(text[2], sizeof text[2], "+%s %s", number, tb_scale_unit(scale));
	type.align = TB_ALIGN_CENTRE;
	for (int i = 0; i < 3; i++)
		tb_picture_text(picture,
			(struct tb_box){
				box.x + box.w * i / 2 - 40, box.y + box.h - 13, 80, 13},
			type, text[i]);
}

static void draw_panel(struct tb_viewer *viewer, struct tb_picture *picture, int panel)
{
	const struct state *state = state_of(viewer);
	const struct tb_pair *pair = state->pair;
	struct tb_matrix_view view = view_of(viewer, panel);
	const struct tb_matrix *matrix = panel == PANEL_A   ? &viewer->matrix
					 : panel == PANEL_B ? &pair->matrix
							    : &pair->change;
	size_t before = picture->n_items;
	draw_title(viewer, picture, panel);
	tb_matrix_draw(picture, layout_of(state, panel), matrix,
		panel == PANEL_B ? pair->run : viewer->run, &view);
	if (panel == PANEL_B && !pair->same_shape)
		unpick(picture, before);
	const struct tb_box legend = {view.area.x + 4, view.area.y + view.area.h + 4,
		fmin(fmax(view.area.w - 40, 60), 260), 27};
	const struct tb_legend amounts = tb_legend_of(&view);
	if (panel == PANEL_A)
		tb_legend_draw(picture, legend, &amounts);
	else if (panel == PANEL_CHANGE)
		draw_change_legend(viewer, picture, legend, &view.links);
}

static const char *name_of(
	const struct tb_viewer *viewer, const struct tb_link_pair *pair)
{
	return pair->a.id != TB_ID_NONE
		       ? tb_run_links(viewer->run)[pair->a.id].name
		       : tb_run_links(state_of(viewer)->pair->run)[pair->b.id].name;
}

static void draw_mover(const struct tb_viewer *viewer, struct tb_picture *picture,
	struct tb_box box, const struct tb_mover *mover)
{
	const struct tb_palette *palette = tb_palette_of(viewer->theme);
	char before[48], after[48], change[48];
	double more = tb_mover_change(mover);
	struct tb_pick pick = {TB_PICK_LINK, mover->pair.a.id};
	bool known = mover->pair.a.id != TB_ID_NONE;
	bool chosen = known && tb_pick_equal(viewer->selected, pick);
	bool under = known && tb_pick_equal(viewer->hovered, pick);
	tb_picture_rect(picture, box, chosen || under ? palette->raised : palette->page);
	if (known)
		tb_picture_pick(picture, pick);
	struct tb_type type = tb_viewer_type(viewer, TB_FONT_TEXT, 12, false);
	struct tb_type name = tb_viewer_type(viewer, TB_FONT_MONO, 12, false);
	tb_picture_rect(picture, (struct tb_box){box.x, box.y + 3, 4, box.h - 6},
		tb_shade_change(viewer->theme, more < 0 ? -100 : 100));
	tb_metric_format(viewer->metric, mover->before, before, sizeof before);
	tb_metric_format(viewer->metric, mover->after, after, sizeof after);
	tb_metric_format(viewer->metric, (uint64_t)fabs(more), change, sizeof change);
	tb_picture_text(picture, (struct tb_box){box.x + 10, box.y, 190, box.h}, name,
		name_of(viewer, &mover->pair));
	tb_picture_printf(picture,
		(struct tb_box){box.x + 204, box.y, fmax(box.w - 204, 1), box.h}, type,
		"%c%s: %s, then %s", more < 0 ? '-' : '+', change, before, after);
}

static void draw_movers(
	const struct tb_viewer *viewer, struct tb_picture *picture, struct tb_box box)
{
	const struct tb_pair *pair = state_of(viewer)->pair;
	char count[32];
	int n = (int)(box.h / ROW_H) - 1;
	tb_picture_printf(picture, (struct tb_box){box.x, box.y, box.w, ROW_H},
		tb_viewer_type(viewer, TB_FONT_BOLD, 12, false),
		"Links whose %s changed most, of %s", tb_metric_name(viewer->metric),
		tb_format_count(pair->n_moved, count, sizeof count));
	for (int i = 0; i < n && i < (int)pair->n_movers; i++) {
		box.y += ROW_H;
		draw_mover(viewer, picture, (struct tb_box){box.x, box.y, box.w, ROW_H},
			&pair->movers[i]);
	}
}

static void draw_differences(
	const struct tb_viewer *viewer, struct tb_picture *picture, struct tb_box box)
{
	const struct tb_pair *pair = state_of(viewer)->pair;
	struct tb_type type = tb_viewer_type(viewer, TB_FONT_TEXT, 12, false);
	int n = (int)(box.h / ROW_H) - 1;
	tb_picture_text(picture, (struct tb_box){box.x, box.y, box.w, ROW_H},
		tb_viewer_type(viewer, TB_FONT_BOLD, 12, false),
		pair->n_differences ? "What differs"
				    : "Both runs were made from the same");
	for (int i = 0; i < n && i < pair->n_differences; i++) {
		const struct tb_difference *at = &pair->differences[i];
		box.y += ROW_H;
		tb_picture_printf(picture, (struct tb_box){box.x, box.y, box.w, ROW_H},
			type, "%s: %s, then %s", at->name, at->a[0] ? at->a : "none",
			at->b[0] ? at->b : "none");
	}
}

static void draw(
	struct tb_viewer *viewer, struct tb_picture *picture, struct tb_box place)
{
	struct state *state = state_of(viewer);
	if (!state->layouts[1].bands)
		return; // B could not be read, which is told
	if (memcmp(&state->fitted, &place, sizeof place) != 0 &&
		!viewer->away[TB_VIEW_PAIR])
		fit(viewer);
	for (int i = 0; i < n_panels(state); i++)
		draw_panel(viewer, picture, i);
	double y = place.y + place.h - LOWER_H + 6;
	double w = (place.w - 2 * PAD - GAP) / 2;
	double left_w = fmin(fmax(w, 440), place.w - 2 * PAD);
	draw_movers(
		viewer, picture, (struct tb_box){place.x + PAD, y, left_w, LOWER_H - 10});
	if (place.w - 2 * PAD - left_w - GAP > 120)
		draw_differences(viewer, picture,
			(struct tb_box){place.x + PAD + left_w + GAP, y,
				place.w - 2 * PAD - left_w - GAP, LOWER_H - 10});
}

static bool request(struct tb_viewer *viewer, const struct tb_request *asked)
{
	static const struct tb_view_moves moves = {fit, zoom_at, pan};
	return tb_viewer_move(viewer, asked, panel_of(viewer, PANEL_A), &moves);
}

static void pointer(struct tb_viewer *viewer, const struct tb_pointer_event *event)
{
	if (event->kind == TB_EVENT_WHEEL)
		zoom_at(viewer, event->x, event->y, pow(TB_ZOOM_STEP, event->steps));
	else if (event->kind == TB_EVENT_DRAG)
		pan(viewer, event->dx, event->dy);
	else if (event->kind == TB_EVENT_CLICK && event->pick.kind == TB_PICK_NONE)
		tb_viewer_select(viewer, event->pick);
}

const struct tb_view tb_view_pair = {.name = "pair",
	.tab = "Two runs",
	.brief_tab = "Pair",
	.open = open,
	.draw = draw,
	.request = request,
	.pointer = pointer,
	.close = close};

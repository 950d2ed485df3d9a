// Two runs: their matrices side by side under one zoom, what changed from one to the
// other, and the links that changed most.
#include "markup.h"
#include "matrix_draw.h"
#include "order.h"
#include "pair.h"
#include "parts.h"
#include "scale.h"
#include "views.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define PAD	       16
#define GAP	       14
#define TITLE_H	       38
#define LEGEND_H       36
#define STRIPS_H       72
#define LEAST_LOWER_H  92
#define LEAST_MATRIX_H 60
#define MOST_LOWER_H   168
#define ROW_H	       17
#define LEVELS_W       56  // of the levels' names
#define MOST_GROUPS    64  // in a level
#define NATURAL_W      860 // world units to wrap lines of boxes to, until fitted

enum { PANEL_A, PANEL_B, PANEL_CHANGE, N_PANELS };

struct pair_state {
	struct tb_run_pair *pair;
	struct tb_pair_overview overview;
	// Of large networks groups are shown, as in the view of the matrix.
	struct tb_subtrees subtrees[2]; // of A and, where that has another shape, of B
	struct tb_matrix_fold folds[N_PANELS]; // zeroed: switch by switch
	struct tb_matrix_layout layouts[2];    // of A and of B
	struct tb_camera camera;
	double larger[2]; // times its zoom A and B are drawn, so that each fits its panel
};

static struct pair_state *state_of(const struct tb_pane *pane)
{
	return pane->state;
}

static bool pair_view_is_there(const struct tb_pane *pane)
{
	return state_of(pane) != NULL; // once there is a second run
}

// is_read is false until B has been read; after a failure the picture reports why.
static bool is_read(const struct tb_pane *pane)
{
	return state_of(pane) && state_of(pane)->layouts[1].bands;
}

static void close_pair(void *closed)
{
	struct pair_state *state = closed;
	tb_run_pair_free(state->pair);
	tb_pair_overview_fini(&state->overview);
	tb_matrix_layout_fini(&state->layouts[0]);
	tb_matrix_layout_fini(&state->layouts[1]);
	for (int panel = 0; panel < N_PANELS; panel++)
		tb_matrix_fold_fini(&state->folds[panel]);
	tb_subtrees_fini(&state->subtrees[0]);
	tb_subtrees_fini(&state->subtrees[1]);
}

static bool pair_is_folded(const struct pair_state *state)
{
	return state->folds[PANEL_A].groups != NULL;
}

// pair_matrix returns what a panel shows; `whole`: switch by switch.
static const struct tb_matrix *pair_matrix(
	const struct tb_pane *pane, int panel, bool whole)
{
	const struct pair_state *state = state_of(pane);
	if (!whole && pair_is_folded(state))
		return &state->folds[panel].matrix;
	return panel == PANEL_A	  ? &pane->data->matrix
	       : panel == PANEL_B ? &state->pair->matrix
				  : &state->pair->change;
}

static int n_panels(const struct pair_state *state)
{
	return state->pair->same_shape ? N_PANELS : PANEL_CHANGE;
}

// pair_fold folds the matrices of a large network, or takes their values again.
static int pair_fold(struct tb_pane *pane, struct tb_error *error)
{
	struct pair_state *state = state_of(pane);
	const struct tb_run *runs[] = {pane->data->run, state->pair->run};
	bool same = state->pair->same_shape;
	int status = TB_OK;
	if (!same && pane->data->info->n_nodes < TB_FOLDED_NODES &&
		tb_run_info(runs[1])->n_nodes < TB_FOLDED_NODES)
		return TB_OK;
	for (int i = 0; i < (same ? 1 : 2) && status == TB_OK; i++)
		if (!state->subtrees[i].list)
			status = tb_subtrees_init(&state->subtrees[i], runs[i], error);
	for (int panel = 0; panel < n_panels(state) && status == TB_OK; panel++) {
		struct tb_matrix_fold *fold = &state->folds[panel];
		const struct tb_matrix *whole = pair_matrix(pane, panel, true);
		const struct tb_run *beside = whole->run == runs[0] ? runs[1] : runs[0];
		if (fold->groups)
			tb_matrix_fold_fill(fold);
		else if (tb_matrix_fold_init(fold, whole, same ? beside : NULL,
				 &state->subtrees[!same && panel == PANEL_B],
				 TB_MATRIX_WHOLE, MOST_GROUPS))
			status = tb_fail_memory(error, "the groups of switches");
	}
	return status;
}

static struct tb_type words_type(const struct tb_pane *pane)
{
	return tb_style_type(pane->style, TB_FONT_TEXT, 13, false);
}

// words_of returns the place of what changed in words, above all else.
static struct tb_box words_of(const struct tb_pane *pane)
{
	struct tb_box box = {pane->place.x + PAD, pane->place.y + 4,
		fmax(pane->place.w - 2 * PAD, 1), 0};
	box.h = tb_pair_overview_words(
		&state_of(pane)->overview, NULL, words_type(pane), box);
	return box;
}

// is_low is true where there is no room for the strips and the lists at the bottom.
static bool is_low(const struct tb_pane *pane)
{
	return pane->place.h < words_of(pane).h + TITLE_H + LEAST_MATRIX_H + LEGEND_H +
				       STRIPS_H + LEAST_LOWER_H;
}

// lower_h returns the height of the lists at the bottom: they get more of a tall window.
static double lower_h(const struct tb_pane *pane)
{
	return is_low(pane)
		       ? 0
		       : fmin(fmax(pane->place.h * 0.2, LEAST_LOWER_H), MOST_LOWER_H);
}

static struct tb_box strips_of(const struct tb_pane *pane)
{
	struct tb_box place = pane->place;
	double h = is_low(pane) ? 0 : STRIPS_H;
	return (struct tb_box){place.x + PAD, place.y + place.h - lower_h(pane) - h,
		fmax(place.w - 2 * PAD, 1), h};
}

// pair_view_panel returns the area of a matrix. The levels are named left of the first,
// of two shapes left of each.
static struct tb_box pair_view_panel(const struct tb_pane *pane, int panel)
{
	struct tb_box place = pane->place;
	int n = n_panels(state_of(pane));
	int n_named = state_of(pane)->pair->same_shape ? 1 : n;
	double w = (place.w - 2 * PAD - (n - 1) * GAP - n_named * LEVELS_W) / n;
	struct tb_box words = words_of(pane);
	double y = words.y + words.h + TITLE_H;
	int before = panel + 1 < n_named ? panel + 1 : n_named;
	return (struct tb_box){
		place.x + PAD + before * LEVELS_W + panel * (fmax(w, 1) + GAP), y,
		fmax(w, 1), fmax(strips_of(pane).y - LEGEND_H - y, 1)};
}

// pair_view_fit shows all of both.
static void pair_view_fit(struct tb_pane *pane)
{
	struct pair_state *state = state_of(pane);
	struct tb_camera *camera = &state->camera;
	struct tb_box area = pair_view_panel(pane, PANEL_A);
	struct tb_matrix_layout *a = &state->layouts[0], *b = &state->layouts[1];
	double of_a = tb_matrix_layout_fit(a, area.w - 4, area.h - 4);
	double of_b = tb_matrix_layout_fit(b, area.w - 4, area.h - 4);
	camera->fit_zoom = fmin(fmin(of_a, of_b), TB_MOST_FITTED);
	double *larger = state->larger;
	larger[0] = fmin(of_a, TB_MOST_FITTED) / camera->fit_zoom;
	larger[1] = fmin(of_b, TB_MOST_FITTED) / camera->fit_zoom;
	camera->world_w = fmax(a->width * larger[0], b->width * larger[1]);
	camera->world_h = fmax(a->height * larger[0], b->height * larger[1]);
	pane->away = false;
	tb_camera_set(camera, camera->fit_zoom, 0, 0);
}

static void pair_view_placed(struct tb_pane *pane)
{
	if (!is_read(pane))
		return;
	struct tb_box area = pair_view_panel(pane, PANEL_A);
	struct tb_camera *camera = &state_of(pane)->camera;
	camera->area_w = area.w;
	camera->area_h = area.h;
	if (!pane->away)
		pair_view_fit(pane);
}

// pair_view_zoom_at zooms in the panel under the pointer; the other panels follow.
static void pair_view_zoom_at(struct tb_pane *pane, double x, double y, double factor)
{
	struct pair_state *state = state_of(pane);
	struct tb_box area = pair_view_panel(pane, PANEL_A);
	for (int i = 0; i < n_panels(state); i++)
		if (tb_box_holds(pair_view_panel(pane, i), x, y))
			area = pair_view_panel(pane, i);
	pane->away = tb_camera_zoom(&state->camera, x - area.x, y - area.y, factor);
	if (!pane->away)
		pair_view_fit(pane);
}

static void pair_view_pan(struct tb_pane *pane, double dx, double dy)
{
	pane->away = true;
	tb_camera_pan(&state_of(pane)->camera, dx, dy);
}

static int open_pair(struct tb_pane *pane, struct tb_error *error)
{
	struct pair_state *state = state_of(pane);
	struct tb_run_pair *pair = state->pair;
	const struct tb_viewer_data *data = pane->data;
	int status = tb_run_pair_show(
		pair, data->run, data->window, data->samples, &data->matrix, error);
	if (!status)
		status = pair_fold(pane, error);
	if (status)
		return status;
	const struct tb_matrix *a = pair_matrix(pane, PANEL_A, false);
	const struct tb_matrix *b = pair_matrix(pane, PANEL_B, false);
	if (state->layouts[0].bands) {
		bool moved = tb_matrix_layout_measure(&state->layouts[0], a);
		moved |= tb_matrix_layout_measure(&state->layouts[1], b);
		if (moved)
			pair_view_placed(pane);
		return TB_OK;
	}
	if (tb_matrix_layout_init(
		    &state->layouts[0], a, &tb_matrix_on_screen, NATURAL_W) ||
		tb_matrix_layout_init(
			&state->layouts[1], b, &tb_matrix_on_screen, NATURAL_W))
		return tb_fail_memory(error, "the matrix's layout");
	pair_view_placed(pane);
	return TB_OK;
}

// pair_view_others lists B's links where they have more of the metric than A's.
static void pair_view_others(struct tb_pane *pane, struct tb_rows *rows)
{
	uint64_t of_a = 0, of_b = 0;
	if (!is_read(pane) || !state_of(pane)->pair->same_shape)
		return;
	const struct tb_run_pair *pair = state_of(pane)->pair;
	for (uint32_t i = 0; i < pair->info->n_links; i++) {
		of_a += tb_metric_of(&pane->data->samples[i], pane->data->metric);
		of_b += tb_metric_of(&pair->samples[i], pane->data->metric);
	}
	if (of_b <= of_a)
		return;
	rows->other = pair->samples;
	rows->other_run = pair->run;
}

int tb_views_compare(
	struct tb_viewer *viewer, const char *path, int64_t id, struct tb_error *error)
{
	struct tb_run_pair *pair;
	struct tb_pane *pane = tb_viewer_pane(viewer, &tb_view_pair);
	if (!pane || !pane->data->run)
		return tb_fail_in(
			error, TB_EUSAGE, tb_viewer_path(viewer), "holds no run");
	int status = tb_run_pair_new(&pair, pane->data->run, path, id, error);
	if (status)
		return status;
	struct pair_state *state = calloc(1, sizeof *state);
	if (!state) {
		tb_run_pair_free(pair);
		return tb_fail_memory(error, "the comparison of two runs");
	}
	state->pair = pair;
	// Without the overview the links are compared all the same.
	(void)!tb_pair_overview_init(&state->overview,
		(struct tb_pair_side){tb_viewer_path(viewer), pane->data->info->id},
		(struct tb_pair_side){path, id}, NULL);
	if (state_of(pane))
		close_pair(state_of(pane));
	pane->rows->other = NULL;
	tb_rows_read(pane->rows);
	free(pane->state);
	pane->state = state;
	pane->unread = true;
	pane->away = false;
	tb_viewer_go(viewer, pane);
	return TB_OK;
}

// pair_matrix_view returns how to show a panel. A and B share a scale, so that equal
// waits have equal shades.
static struct tb_matrix_view pair_matrix_view(const struct tb_pane *pane, int panel)
{
	const struct pair_state *state = state_of(pane);
	const struct tb_run_pair *pair = state->pair;
	struct tb_matrix_view view = tb_camera_matrix_view(
		&state->camera, pair_view_panel(pane, panel), pane->style);
	double larger = state->larger[panel == PANEL_B];
	view.zoom *= larger;
	view.pan_x /= larger;
	view.pan_y /= larger;
	view.detail = tb_matrix_detail_at(&tb_matrix_on_screen, view.zoom);
	if (panel != PANEL_B || pair->same_shape) {
		view.selected = pane->selection->selected;
		view.hovered = pane->selection->hovered;
		view.marks = pane->selection->marks;
	}
	struct tb_matrix scaled = pair->change;
	view.fold = pair_is_folded(state) ? &state->folds[panel] : NULL;
	if (panel == PANEL_CHANGE) {
		view.less_links = pair->less_links;
		view.unmeasured = pair->unmeasured;
		view.unmeasured_switches = pair->unmeasured_switches;
		view.less_switches = pair->less_switches;
	} else {
		scaled.metric = pane->data->matrix.metric;
		scaled.largest_link = tb_max_u64(
			pane->data->matrix.largest_link, pair->matrix.largest_link);
		scaled.largest_switch = tb_max_u64(
			pane->data->matrix.largest_switch, pair->matrix.largest_switch);
	}
	tb_matrix_view_scale(
		&view, &scaled, pane->style->absolute, pane->style->logarithmic);
	return view;
}

static void draw_pair_view_title(
	const struct tb_pane *pane, struct tb_picture *picture, int panel)
{
	static const char *const names[] = {"A", "B", "B " TB_MINUS " A"};
	const struct tb_run_pair *pair = state_of(pane)->pair;
	struct tb_box box = pair_view_panel(pane, panel);
	char caption[256], window[80];
	box.y -= TITLE_H - 4;
	box.h = 17;
	double name_w = tb_text_width(TB_FONT_BOLD, 13, names[panel]) + 8;
	tb_picture_text(picture, box, tb_style_type(pane->style, TB_FONT_BOLD, 13, false),
		names[panel]);
	struct tb_box rest = {box.x + name_w, box.y, fmax(box.w - name_w, 1), 17};
	struct tb_type type = tb_style_type(pane->style, TB_FONT_TEXT, 12, false);
	struct tb_type muted = tb_style_type(pane->style, TB_FONT_TEXT, 11, true);
	struct tb_box line = {box.x, box.y + 17, box.w, 15};
	if (panel == PANEL_CHANGE) {
		tb_picture_printf(
			picture, rest, type, "%s", tb_metric_title(pane->data->metric));
		const struct tb_matrix_fold *fold = &state_of(pane)->folds[panel];
		char part[48] = "", text[128];
		if (fold->groups)
			tb_matrix_fold_left_out(fold, TB_ID_NONE, part, sizeof part);
		snprintf(text, sizeof text, "orange: more in B, blue: less; %s switches",
			part);
		tb_picture_fitting(picture, line, muted,
			(const char *const[]){
				part[0] ? text : "orange: more in B, blue: less",
				"orange: more in B, blue: less", NULL});
		return;
	}
	const struct tb_run_info *info =
		panel == PANEL_A ? tb_run_info(pane->data->run) : pair->info;
	tb_picture_printf(picture, rest, type, "%s, run %" PRId64,
		panel == PANEL_A ? tb_viewer_path(pane->viewer) : pair->path, info->id);
	bool over = panel == PANEL_B && pair->over;
	const struct tb_window shown =
		panel == PANEL_A ? pane->data->window : pair->window;
	const char *apart = panel == PANEL_B && pair->apart ? "kept by L: " : "";
	char full[384], brief[128];
	if (over)
		snprintf(window, sizeof window, "ended before this window");
	else
		tb_window_text(info, shown, window, sizeof window);
	tb_run_caption(info, caption, sizeof caption);
	snprintf(full, sizeof full, "%s%s, %s", apart, window, caption);
	snprintf(brief, sizeof brief, "%s%s", apart, window);
	tb_picture_fitting(
		picture, line, muted, (const char *const[]){full, brief, NULL});
}

static void draw_panel(struct tb_pane *pane, struct tb_picture *picture, int panel)
{
	const struct pair_state *state = state_of(pane);
	const struct tb_run_pair *pair = state->pair;
	struct tb_matrix_view view = pair_matrix_view(pane, panel);
	const struct tb_matrix *matrix = pair_matrix(pane, panel, false);
	size_t before = picture->n_items;
	draw_pair_view_title(pane, picture, panel);
	tb_matrix_draw(picture, &state->layouts[panel == PANEL_B], matrix,
		panel == PANEL_B ? pair->run : pane->data->run, &view);
	if (panel == PANEL_A || !pair->same_shape)
		tb_matrix_levels_draw(pane->style, picture,
			(struct tb_box){view.area.x - LEVELS_W, view.area.y, LEVELS_W - 6,
				view.area.h},
			&state->layouts[panel], &view);
	if (panel == PANEL_B && !pair->same_shape) {
		// Remove the ids of items from `from` on: they belong to another network.
		for (size_t i = before; i < picture->n_items; i++)
			picture->items[i].pick = (struct tb_pick){TB_PICK_NONE, 0};
	}
	const struct tb_box legend = {view.area.x + 4, view.area.y + view.area.h + 4,
		fmin(fmax(view.area.w - 40, 60), 260), 27};
	const struct tb_legend amounts = tb_legend_of(&view);
	struct tb_type type = tb_style_type(pane->style, TB_FONT_TEXT, 11, true);
	if (panel == PANEL_A)
		tb_legend_draw(picture, legend, &amounts);
	else if (panel == PANEL_B) {
		char of_link[80], top[64];
		tb_scale_top_text(&view.links, top, sizeof top);
		snprintf(of_link, sizeof of_link, "%s of a link%s",
			tb_link_figures[pane->data->metric].name, top);
		tb_picture_text(picture,
			(struct tb_box){
				view.area.x + 4, legend.y - 2, view.area.w - 4, 14},
			type, of_link);
	} else if (panel == PANEL_CHANGE) {
		// Draw a bar from the largest decrease to the largest increase.
		const struct tb_scale *scale = &view.links;
		const int n = 100;
		char number[48], text[3][56];
		for (int i = 0; i < n; i++) {
			double left = legend.x + legend.w * i / n;
			tb_picture_rect(picture,
				(struct tb_box){left, legend.y,
					legend.x + legend.w - left, legend.h - 15},
				tb_shade_change(pane->style->theme,
					-100 + 200.0 * (i + 0.5) / n));
		}
		tb_quantity_format(scale->quantity, scale->top, number, sizeof number);
		snprintf(text[0], sizeof text[0], TB_MINUS "%s", number);
		snprintf(text[1], sizeof text[1], "0");
		snprintf(text[2], sizeof text[2], "+%s", number);
		type.align = TB_ALIGN_CENTRE;
		for (int i = 0; i < 3; i++)
			tb_picture_text(picture,
				(struct tb_box){legend.x + legend.w * i / 2 - 40,
					legend.y + legend.h - 13, 80, 13},
				type, text[i]);
	}
}

static const char *pair_view_name(
	const struct tb_pane *pane, const struct tb_link_pair *pair)
{
	return pair->a.id != TB_ID_NONE
		       ? tb_run_links(pane->data->run)[pair->a.id].label
		       : tb_run_links(state_of(pane)->pair->run)[pair->b.id].label;
}

static void draw_mover(const struct tb_pane *pane, struct tb_picture *picture,
	struct tb_box box, const struct tb_mover *mover)
{
	const struct tb_palette *palette = tb_palette_of(pane->style->theme);
	char before[48], after[48], change[48];
	double more = tb_mover_change(mover);
	struct tb_pick pick = {TB_PICK_LINK, mover->pair.a.id};
	bool known = mover->pair.a.id != TB_ID_NONE;
	bool chosen = known && tb_pick_equal(pane->selection->selected, pick);
	bool under = known && tb_pick_equal(pane->selection->hovered, pick);
	tb_picture_rect(picture, box, chosen || under ? palette->raised : palette->page);
	if (known)
		tb_picture_pick(picture, pick);
	struct tb_type type = tb_style_type(pane->style, TB_FONT_TEXT, 12, false);
	struct tb_type name = tb_style_type(pane->style, TB_FONT_MONO, 12, false);
	tb_picture_rect(picture, (struct tb_box){box.x, box.y + 3, 4, box.h - 6},
		tb_shade_change(pane->style->theme, more < 0 ? -100 : 100));
	snprintf(before, sizeof before, "-");
	snprintf(after, sizeof after, "-");
	if (mover->pair.a.id != TB_ID_NONE)
		tb_metric_format(
			pane->data->metric, mover->before, before, sizeof before);
	if (mover->pair.b.id != TB_ID_NONE)
		tb_metric_format(pane->data->metric, mover->after, after, sizeof after);
	tb_metric_format(pane->data->metric, (uint64_t)fabs(more), change, sizeof change);
	tb_picture_name(picture, (struct tb_box){box.x + 10, box.y, 190, box.h}, name,
		pair_view_name(pane, &mover->pair));
	tb_picture_printf(picture,
		(struct tb_box){box.x + 204, box.y, fmax(box.w - 204, 1), box.h}, type,
		"%s%s: %s, then %s", more < 0 ? TB_MINUS : "+", change, before, after);
}

static void draw_movers(
	const struct tb_pane *pane, struct tb_picture *picture, struct tb_box box)
{
	const struct tb_run_pair *pair = state_of(pane)->pair;
	int n = (int)(box.h / ROW_H) - 1;
	tb_picture_printf(picture, (struct tb_box){box.x, box.y, box.w, ROW_H},
		tb_style_type(pane->style, TB_FONT_BOLD, 12, false),
		"Links whose %s changed most, of %s",
		tb_link_figures[pane->data->metric].name, TB_COUNT_TEXT(pair->n_moved));
	for (int i = 0; i < n && i < (int)pair->n_movers; i++) {
		box.y += ROW_H;
		draw_mover(pane, picture, (struct tb_box){box.x, box.y, box.w, ROW_H},
			&pair->movers[i]);
	}
}

static void draw_differences(
	const struct tb_pane *pane, struct tb_picture *picture, struct tb_box box)
{
	const struct tb_run_pair *pair = state_of(pane)->pair;
	struct tb_type type = tb_style_type(pane->style, TB_FONT_TEXT, 12, false);
	int n = (int)(box.h / ROW_H) - 1;
	tb_picture_text(picture, (struct tb_box){box.x, box.y, box.w, ROW_H},
		tb_style_type(pane->style, TB_FONT_BOLD, 12, false),
		pair->n_differences ? "What differs"
				    : "Both runs have the same settings");
	for (int i = 0; i < n && i < pair->n_differences; i++) {
		const struct tb_difference *at = &pair->differences[i];
		box.y += ROW_H;
		tb_picture_printf(picture, (struct tb_box){box.x, box.y, box.w, ROW_H},
			type, "%s: %s, then %s", at->name, at->a[0] ? at->a : "-",
			at->b[0] ? at->b : "-");
	}
}

static void pair_view_draw(struct tb_pane *pane, struct tb_picture *picture)
{
	struct tb_box place = pane->place;
	if (!is_read(pane))
		return;
	int n = n_panels(state_of(pane));
	const struct tb_run_pair *pair = state_of(pane)->pair;
	const struct tb_run_info *info = pane->data->info;
	const struct tb_window of_a = pane->data->window;
	struct tb_span shown[2] = {
		{tb_window_begin_ps(info, of_a), tb_window_end_ps(info, of_a)}};
	shown[1] = shown[0];
	if (!pair->over)
		shown[1] = (struct tb_span){tb_window_begin_ps(pair->info, pair->window),
			tb_window_end_ps(pair->info, pair->window)};
	tb_picture_clip(picture, place);
	tb_pair_overview_words(
		&state_of(pane)->overview, picture, words_type(pane), words_of(pane));
	tb_picture_unclip(picture);
	// The words come first where there is no room for more.
	if (pair_view_panel(pane, PANEL_A).h < LEAST_MATRIX_H)
		return;
	for (int i = 0; i < n; i++)
		draw_panel(pane, picture, i);
	if (is_low(pane))
		return;
	tb_pair_overview_strips(&state_of(pane)->overview, picture,
		tb_palette_of(pane->style->theme), shown, strips_of(pane));
	double y = place.y + place.h - lower_h(pane) + 6;
	double w = (place.w - 2 * PAD - GAP) / 2;
	double left_w = fmin(fmax(w, 440), place.w - 2 * PAD);
	draw_movers(pane, picture,
		(struct tb_box){place.x + PAD, y, left_w, lower_h(pane) - 10});
	if (place.w - 2 * PAD - left_w - GAP > 120)
		draw_differences(pane, picture,
			(struct tb_box){place.x + PAD + left_w + GAP, y,
				place.w - 2 * PAD - left_w - GAP, lower_h(pane) - 10});
}

// turn_lock lets B keep its window while that of A moves, or has it follow again.
static void turn_lock(struct tb_pane *pane)
{
	struct tb_run_pair *pair = state_of(pane)->pair;
	struct tb_error error;
	pair->apart = !pair->apart;
	if (open_pair(pane, &error) != TB_OK)
		tb_viewer_report(pane->viewer, &error);
	pane->rows->other = NULL;
	pair_view_others(pane, pane->rows);
	tb_rows_read(pane->rows);
}

static bool pair_view_request(struct tb_pane *pane, const struct tb_request *asked)
{
	static const struct tb_pane_moves moves = {
		pair_view_fit, pair_view_zoom_at, pair_view_pan};
	if (is_read(pane) && asked->name == TB_REQUEST_LOCK) {
		turn_lock(pane);
		return true;
	}
	return is_read(pane) &&
	       tb_pane_move(pane, asked, pair_view_panel(pane, PANEL_A), &moves);
}

static void pair_view_pointer(struct tb_pane *pane, const struct tb_pointer_event *event)
{
	if (!is_read(pane))
		return;
	if (event->kind == TB_EVENT_WHEEL)
		pair_view_zoom_at(
			pane, event->x, event->y, pow(TB_ZOOM_STEP, event->steps));
	else if (event->kind == TB_EVENT_DRAG)
		pair_view_pan(pane, event->dx, event->dy);
	else if (event->kind == TB_EVENT_CLICK && event->pick.kind == TB_PICK_NONE)
		tb_viewer_select(pane->viewer, event->pick);
	else if (event->kind == TB_EVENT_CLICK && event->pick.kind == TB_PICK_CELL &&
		 event->pick.index < state_of(pane)->folds[PANEL_A].matrix.n_boxes) {
		// Select the switch of the group that changed most; of another shape only
		// A has any, and the worst of those.
		const struct pair_state *state = state_of(pane);
		const struct tb_matrix_group *group =
			&state->folds[state->pair->same_shape ? PANEL_CHANGE : PANEL_A]
				 .groups[event->pick.index];
		const struct tb_group_figure *most = &group->figures[TB_GROUP_SWITCH];
		if (most->at != TB_ID_NONE)
			tb_viewer_select(
				pane->viewer, (struct tb_pick){TB_PICK_SWITCH, most->at});
	}
}

static void pair_view_put_csv(struct tb_pane *pane, FILE *stream)
{
	const struct pair_state *state = state_of(pane);
	fprintf(stream, "rank,link,%s_before,%s_after\n",
		tb_link_figures[pane->data->metric].column,
		tb_link_figures[pane->data->metric].column);
	for (uint32_t i = 0; is_read(pane) && i < state->pair->n_movers; i++) {
		const struct tb_mover *mover = &state->pair->movers[i];
		fprintf(stream, "%" PRIu32 ",", i + 1);
		tb_csv_put(stream, pair_view_name(pane, &mover->pair));
		fprintf(stream, ",%" PRIu64 ",%" PRIu64 "\n", mover->before,
			mover->after);
	}
}

const struct tb_view tb_view_pair = {.slot = TB_SLOT_MAIN,
	.about = "A is the run of the other views, B the one beside it; on the right "
		 "what B has more or less. B follows A's window of time, and is whole "
		 "where A is; L lets it keep its own. A box of a large network is a "
		 "group: the worst and the mean, on the right what changed most; a click "
		 "selects that switch.",
	.put_csv = pair_view_put_csv,
	.name = "pair",
	.tab = "Two runs",
	.brief_tab = "Pair",
	.open = open_pair,
	.placed = pair_view_placed,
	.draw = pair_view_draw,
	.request = pair_view_request,
	.pointer = pair_view_pointer,
	.is_there = pair_view_is_there,
	.others = pair_view_others,
	.absent = "there is no second run (Ctrl+D chooses one)",
	.close = close_pair};

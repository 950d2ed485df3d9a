// The congestion matrix: zoom at the pointer, pan by dragging, click to select. Of a
// large network it shows groups of switches: a click or the wheel opens one, Esc or the
// wheel closes it.
#include "matrix_draw.h"
#include "matrix_picture.h"
#include "parts.h"
#include "scale.h"
#include "views.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define GUTTER	     92
#define MARGIN	     14
#define PATH_H	     18
#define LEGEND_H     52
#define FOCUS_ZOOM   2.5
#define NATURAL_W    1656 // world units to wrap lines of boxes to, until fitted
#define MOST_GROUPS  64	  // in a level, halved down to the least where numbers then fit
#define LEAST_GROUPS 16
#define NAME_H	     12 // of the name of a group, at zoom 1
#define MOST_OPEN    16 // groups within groups

// The layout of the matrix and the camera on it.
struct sight {
	struct tb_matrix_layout layout;
	struct tb_camera camera;
	bool fitted; // to a place that had a size
	// Of a large network: its groups, and those that were opened, the last one shown.
	struct tb_subtrees subtrees;
	struct tb_matrix_fold fold;
	uint32_t most;		     // groups in a level
	struct tb_matrix_layout all; // of MOST_GROUPS with their names
	struct tb_matrix_focus opened[MOST_OPEN];
	uint32_t n_opened;
	double turned; // of the wheel, since it opened or closed a group
};

// matrix_view_area returns the area for boxes within the view's place.
static struct tb_box matrix_view_area(const struct tb_pane *pane)
{
	struct tb_box place = pane->place;
	return (struct tb_box){place.x + GUTTER, place.y + PATH_H,
		fmax(place.w - GUTTER - MARGIN, 1), fmax(place.h - PATH_H - LEGEND_H, 1)};
}

static struct sight *sight_of(const struct tb_pane *pane)
{
	return pane->state;
}

static void close_matrix(void *state)
{
	struct sight *sight = state;
	tb_matrix_layout_fini(&sight->layout);
	tb_matrix_layout_fini(&sight->all);
	tb_matrix_fold_fini(&sight->fold);
	tb_subtrees_fini(&sight->subtrees);
}

static struct tb_matrix_focus focus_of(const struct sight *sight)
{
	return sight->n_opened ? sight->opened[sight->n_opened - 1] : TB_MATRIX_WHOLE;
}

static struct tb_matrix_view matrix_view_of_pane(const struct tb_pane *pane)
{
	struct tb_matrix_view view = tb_camera_matrix_view(
		&sight_of(pane)->camera, matrix_view_area(pane), pane->style);
	view.jobs = pane->data->info->n_jobs > 1;
	view.outside = tb_selection_outside(pane->selection);
	view.selected = pane->selection->selected;
	view.hovered = pane->selection->hovered;
	view.marks = pane->selection->marks;
	view.fold = &sight_of(pane)->fold;
	view.end_ps = tb_window_end_ps(pane->data->info, pane->data->window);
	tb_matrix_view_scale(&view, &pane->data->matrix, pane->style->absolute,
		pane->style->logarithmic);
	return view;
}

// show_all shows the fitted matrix beside the levels' names, centred vertically.
static void show_all(struct tb_pane *pane)
{
	struct tb_camera *camera = &sight_of(pane)->camera;
	double spare = camera->area_h / camera->fit_zoom - camera->world_h;
	pane->away = false;
	tb_camera_set(camera, camera->fit_zoom, 0, -fmax(spare, 0) / 2);
}

// fitted_zoom lays out a matrix for the view's place. It leaves room for marks and the
// last rule, which reach beyond the boxes.
static double fitted_zoom(const struct tb_pane *pane, struct tb_matrix_layout *layout)
{
	struct tb_box area = matrix_view_area(pane);
	return fmin(tb_matrix_layout_fit(layout, area.w - 4, area.h - 4), TB_MOST_FITTED);
}

// matrix_view_fit lays out the matrix and shows all of it.
static void matrix_view_fit(struct tb_pane *pane)
{
	struct sight *sight = sight_of(pane);
	struct tb_camera *camera = &sight->camera;
	camera->fit_zoom = fitted_zoom(pane, &sight->layout);
	tb_matrix_layout_widen(
		&sight->layout, fmax(camera->area_w - 4, 1) / camera->fit_zoom);
	camera->world_w = sight->layout.width;
	camera->world_h = sight->layout.height;
	sight->fitted = true;
	show_all(pane);
}

static int fold_again(struct tb_pane *pane);

static void matrix_view_placed(struct tb_pane *pane)
{
	struct sight *sight = pane->state;
	struct tb_box area = matrix_view_area(pane);
	if (!sight)
		return;
	// Another place may have room for the numbers of more groups, or of fewer;
	// without memory for others these stay.
	if (!pane->away || !sight->fitted)
		(void)!fold_again(pane);
	sight->camera.area_w = area.w;
	sight->camera.area_h = area.h;
	if (!pane->away || !sight->fitted)
		matrix_view_fit(pane);
}

// n_with_numbers returns into how many groups a level can be folded so that they have
// names and numbers in the view's place, halving MOST_GROUPS; 0: into none.
static uint32_t n_with_numbers(const struct tb_pane *pane)
{
	const struct tb_matrix_layout *all = &sight_of(pane)->all;
	struct tb_matrix_layout trial = *all;
	size_t bytes = (all->n_bands + 1u) * sizeof *trial.bands;
	trial.bands = malloc(bytes);
	uint32_t most = trial.bands ? MOST_GROUPS : 0;
	for (; most >= LEAST_GROUPS; most /= 2) {
		memcpy(trial.bands, all->bands, all->n_bands * sizeof *trial.bands);
		for (uint32_t i = 0; i < all->n_bands; i++)
			trial.bands[i].n_boxes = (uint32_t)ceil(
				(double)trial.bands[i].n_boxes * most / MOST_GROUPS);
		if (fitted_zoom(pane, &trial) * tb_matrix_on_screen.cell_w >=
			TB_MATRIX_NUMBERS_W)
			break;
	}
	free(trial.bands);
	return most >= LEAST_GROUPS ? most : 0;
}

// fold_opened folds what the last group that was opened has, or all, to `most` groups in
// a level. TB_ENOMEM.
static int fold_opened(const struct tb_pane *pane, uint32_t most,
	struct tb_matrix_fold *fold, struct tb_matrix_layout *layout, double name_h)
{
	struct sight *sight = sight_of(pane);
	struct tb_matrix_metrics metrics = tb_matrix_on_screen;
	metrics.name_h = name_h;
	if (tb_matrix_fold_init(fold, &pane->data->matrix, NULL, &sight->subtrees,
		    focus_of(sight), most) != TB_OK)
		return TB_ENOMEM;
	if (tb_matrix_layout_init(layout, &fold->matrix, &metrics, NATURAL_W) == TB_OK)
		return TB_OK;
	tb_matrix_fold_fini(fold);
	return TB_ENOMEM;
}

// fold_again folds what is opened to as many groups as can have names and numbers, if
// that is another number than now. TB_ENOMEM: the view stays as it was.
static int fold_again(struct tb_pane *pane)
{
	struct sight *sight = sight_of(pane);
	struct tb_matrix_fold fold;
	struct tb_matrix_layout layout;
	uint32_t n = sight->fold.folded ? n_with_numbers(pane) : 0;
	uint32_t most = n ? n : MOST_GROUPS;
	double name_h = n ? NAME_H : 0;
	if (most == sight->most && name_h == sight->layout.metrics.name_h)
		return TB_OK;
	if (fold_opened(pane, most, &fold, &layout, name_h) != TB_OK)
		return TB_ENOMEM;
	tb_matrix_layout_fini(&sight->layout);
	tb_matrix_fold_fini(&sight->fold);
	sight->layout = layout;
	sight->fold = fold;
	sight->most = most;
	return TB_OK;
}

// show_opened lays out what the last group that was opened has, or all. TB_ENOMEM: the
// view stays as it was.
static int show_opened(struct tb_pane *pane)
{
	struct sight *sight = sight_of(pane);
	struct tb_matrix_fold fold;
	struct tb_matrix_layout layout, all;
	if (fold_opened(pane, MOST_GROUPS, &fold, &layout, 0) != TB_OK)
		return TB_ENOMEM;
	struct tb_matrix_metrics named = tb_matrix_on_screen;
	named.name_h = NAME_H;
	if (tb_matrix_layout_init(&all, &fold.matrix, &named, NATURAL_W) != TB_OK) {
		tb_matrix_layout_fini(&layout);
		tb_matrix_fold_fini(&fold);
		return TB_ENOMEM;
	}
	tb_matrix_layout_fini(&sight->layout);
	tb_matrix_layout_fini(&sight->all);
	tb_matrix_fold_fini(&sight->fold);
	sight->layout = layout;
	sight->all = all;
	sight->fold = fold;
	sight->most = MOST_GROUPS;
	sight->fitted = false;
	pane->away = false;
	if (pane->place.w > 0)
		matrix_view_placed(pane);
	return TB_OK;
}

// open_group shows what is in a box; false when it is no group.
static bool open_group(struct tb_pane *pane, uint32_t box)
{
	struct sight *sight = sight_of(pane);
	struct tb_matrix_focus focus;
	if (sight->n_opened == MOST_OPEN ||
		!tb_matrix_fold_open(&sight->fold, focus_of(sight), box, &focus))
		return false;
	sight->opened[sight->n_opened++] = focus;
	if (show_opened(pane) != TB_OK)
		sight->n_opened--;
	return true;
}

// close_group goes back to what the last group was opened from; false: there is none.
static bool close_group(struct tb_pane *pane)
{
	struct sight *sight = sight_of(pane);
	if (!sight->n_opened)
		return false;
	sight->n_opened--;
	if (show_opened(pane) != TB_OK)
		sight->n_opened++;
	return true;
}

static void matrix_view_zoom_at(struct tb_pane *pane, double x, double y, double factor)
{
	struct tb_box area = matrix_view_area(pane);
	struct tb_camera *camera = &sight_of(pane)->camera;
	pane->away = tb_camera_zoom(camera, x - area.x, y - area.y, factor);
	if (!pane->away)
		show_all(pane);
}

static void matrix_view_pan(struct tb_pane *pane, double dx, double dy)
{
	pane->away = true;
	tb_camera_pan(&sight_of(pane)->camera, dx, dy);
}

// selected_box finds the box of the selection; false when the matrix does not have it.
static bool selected_box(const struct tb_pane *pane, struct tb_box *box)
{
	struct tb_matrix_view view = matrix_view_of_pane(pane);
	return tb_matrix_cell_box(&sight_of(pane)->layout, &sight_of(pane)->fold.matrix,
		&view, pane->selection->selected, box);
}

// open_selected closes groups until the selection is in one that is shown, and with
// `whole` opens those that it is in; false when it is nowhere.
static bool open_selected(struct tb_pane *pane, bool whole)
{
	struct sight *sight = sight_of(pane);
	struct tb_pick selected = pane->selection->selected;
	struct tb_box box;
	while (!selected_box(pane, &box))
		if (!close_group(pane))
			return false;
	while (whole) {
		uint32_t group = tb_matrix_group_of(&sight->fold, selected);
		if (group == TB_ID_NONE || !open_group(pane, group))
			break;
	}
	return true;
}

static void matrix_view_reveal(struct tb_pane *pane, bool zoom)
{
	const struct tb_camera *camera;
	struct tb_box area = matrix_view_area(pane), box;
	if (!sight_of(pane) || !open_selected(pane, zoom) || !selected_box(pane, &box))
		return;
	if (zoom) {
		camera = &sight_of(pane)->camera;
		double wanted = fmax(camera->fit_zoom, FOCUS_ZOOM) / camera->zoom;
		matrix_view_zoom_at(pane, box.x + box.w / 2, box.y + box.h / 2, wanted);
		if (selected_box(pane, &box))
			matrix_view_pan(pane, area.x + area.w / 2 - box.x - box.w / 2,
				area.y + area.h / 2 - box.y - box.h / 2);
		return;
	}
	double dx = fmax(area.x - box.x, 0) + fmin(area.x + area.w - box.x - box.w, 0);
	double dy = fmax(area.y - box.y, 0) + fmin(area.y + area.h - box.y - box.h, 0);
	if (dx != 0 || dy != 0)
		matrix_view_pan(pane, dx, dy);
}

static int open_matrix(struct tb_pane *pane, struct tb_error *error)
{
	struct sight *sight = sight_of(pane);
	// The topology of a run does not change, but not every metric has links to nodes.
	if (sight) {
		tb_matrix_fold_fill(&sight->fold);
		if (tb_matrix_layout_measure(
			    &sight->layout, &sight_of(pane)->fold.matrix)) {
			sight->camera.world_h = sight->layout.height;
			matrix_view_placed(pane);
		}
		return TB_OK;
	}
	sight = calloc(1, sizeof *sight);
	if (!sight)
		return tb_fail_memory(error, "the matrix's layout");
	int status = tb_subtrees_init(&sight->subtrees, pane->data->run, error);
	pane->state = sight;
	if (status == TB_OK && show_opened(pane) != TB_OK)
		status = tb_fail_memory(error, "the matrix's layout");
	if (status != TB_OK) {
		close_matrix(sight);
		free(sight);
		pane->state = NULL;
		return status;
	}
	pane->away = false;
	if (pane->place.w > 0)
		matrix_view_placed(pane);
	return TB_OK;
}

// draw_path writes which part of the network is shown, and how to go on.
static void draw_path(struct tb_pane *pane, struct tb_picture *picture)
{
	const struct sight *sight = sight_of(pane);
	char focus[80], part[48], text[320];
	tb_matrix_focus_text(&sight->subtrees, focus_of(sight), focus, sizeof focus);
	tb_matrix_fold_left_out(&sight->fold, TB_ID_NONE, part, sizeof part);
	if (!part[0] && !sight->fold.folded && !sight->n_opened)
		return;
	const char *groups = !sight->fold.folded ? ""
			     : part[0] ? ": in a box left the worst, right the mean; "
					 "click opens it"
				       : ": in a box left the worst, right the mean, of "
					 "switches and their links; click opens it";
	snprintf(text, sizeof text, "%s%s%s%s%s%s", focus, groups,
		sight->n_opened ? "; Esc goes back" : "", part[0] ? "; " : "", part,
		part[0] ? " switches: the others carried nothing" : "");
	tb_picture_text(picture,
		(struct tb_box){pane->place.x + GUTTER, pane->place.y - 1,
			pane->place.w - GUTTER - MARGIN, MARGIN},
		tb_style_type(pane->style, TB_FONT_TEXT, 11, true), text);
}

static void matrix_view_draw(struct tb_pane *pane, struct tb_picture *picture)
{
	if (!sight_of(pane))
		return;
	struct tb_matrix_view view = matrix_view_of_pane(pane);
	tb_matrix_levels_draw(pane->style, picture,
		(struct tb_box){
			pane->place.x + 16, view.area.y, GUTTER - 18, view.area.h},
		&sight_of(pane)->layout, &view);
	tb_matrix_draw(picture, &sight_of(pane)->layout, &sight_of(pane)->fold.matrix,
		pane->data->run, &view);
	draw_path(pane, picture);
	char text[128], line[224], brief[160];
	struct tb_box place = pane->place;
	double y = place.y + place.h - LEGEND_H + 12;
	double x = place.x + GUTTER;
	double bar_w = fmin(220, fmax(place.w * 0.25, 100));
	struct tb_type type = tb_style_type(pane->style, TB_FONT_TEXT, 12, false);
	const struct tb_legend legend = tb_legend_of(&view);
	tb_legend_draw(picture, (struct tb_box){x, y, bar_w, 29}, &legend);
	struct tb_box box = {x + bar_w + 36, y - 3, place.w - GUTTER - bar_w - 48, 17};
	if (pane->data->matrix.largest_switch == 0) {
		box.y += 6;
		char why[120];
		tb_picture_text(picture, box, type,
			tb_run_nothing_text(
				pane->data->run, pane->data->metric, why, sizeof why));
		return;
	}
	const char *what = pane->style->absolute ? "most loaded" : "100 % of a";
	const char *unit = pane->style->absolute ? tb_scale_unit(&view.links) : "";
	tb_matrix_scale_text(
		pane->data->run, &pane->data->matrix, &view, true, text, sizeof text);
	snprintf(line, sizeof line, "%s link: %s%s%s", what, text,
		unit[0] ? "; all numbers in " : "", unit);
	snprintf(brief, sizeof brief, "%s link: %.*s", what, (int)strcspn(text, "("),
		text);
	tb_picture_fitting(picture, box, type, (const char *const[]){line, brief, NULL});
	box.y += 18;
	tb_matrix_scale_text(
		pane->data->run, &pane->data->matrix, &view, false, text, sizeof text);
	snprintf(line, sizeof line, "%s switch: %s%s%s", what, text,
		tb_run_n_faults(pane->data->run) ? "; crossed out: dead" : "",
		tb_run_n_unmeasured(pane->data->run, pane->data->metric)
			? "; hatched: not measured"
			: "");
	snprintf(brief, sizeof brief, "%s switch: %.*s", what, (int)strcspn(text, "("),
		text);
	tb_picture_fitting(picture, box, type, (const char *const[]){line, brief, NULL});
}

static bool matrix_view_request(struct tb_pane *pane, const struct tb_request *asked)
{
	static const struct tb_pane_moves moves = {
		matrix_view_fit, matrix_view_zoom_at, matrix_view_pan};
	if (sight_of(pane) && asked->name == TB_REQUEST_BACK && !pane->away &&
		pane->selection->selected.kind == TB_PICK_NONE && close_group(pane))
		return true;
	return sight_of(pane) &&
	       tb_pane_move(pane, asked, matrix_view_area(pane), &moves);
}

// turn_wheel opens the group under the pointer, or closes the last one, by a whole step
// of the wheel; false where it magnifies instead.
static bool turn_wheel(struct tb_pane *pane, const struct tb_pointer_event *event)
{
	struct sight *sight = sight_of(pane);
	bool opens = event->steps > 0 && event->pick.kind == TB_PICK_CELL;
	if (!(opens || (event->steps < 0 && !pane->away && sight->n_opened)))
		return false;
	if (sight->turned * event->steps < 0)
		sight->turned = 0;
	sight->turned += event->steps;
	if (fabs(sight->turned) < 1)
		return true;
	sight->turned = 0;
	return opens ? open_group(pane, event->pick.index) : close_group(pane);
}

static void matrix_view_pointer(
	struct tb_pane *pane, const struct tb_pointer_event *event)
{
	if (!sight_of(pane))
		return;
	switch (event->kind) {
	case TB_EVENT_WHEEL:
		if (turn_wheel(pane, event))
			break;
		matrix_view_zoom_at(
			pane, event->x, event->y, pow(TB_ZOOM_STEP, event->steps));
		break;
	case TB_EVENT_DRAG:
		matrix_view_pan(pane, event->dx, event->dy);
		break;
	case TB_EVENT_CLICK:
		if (event->pick.kind == TB_PICK_CELL)
			open_group(pane, event->pick.index);
		else if (event->pick.kind == TB_PICK_NONE)
			tb_viewer_select(pane->viewer, event->pick);
		break;
	case TB_EVENT_PRESS:
	case TB_EVENT_DOUBLE:
		break;
	}
}

// matrix_view_tip explains a group.
static void matrix_view_tip(const struct tb_pane *pane, struct tb_tip *tip)
{
	static const char *const of[TB_N_GROUP_PARTS] = {
		"links up", "switches", "links down", "links of nodes"};
	const struct sight *sight = sight_of(pane);
	enum tb_metric metric = pane->data->metric;
	char worst[48], mean[48];
	if (!sight || tip->pick.kind != TB_PICK_CELL ||
		tip->pick.index >= sight->fold.matrix.n_boxes)
		return;
	const struct tb_matrix_group *group = &sight->fold.groups[tip->pick.index];
	tb_matrix_fold_text(&sight->fold, group, tip->lines[0], sizeof tip->lines[0]);
	tip->n_lines = 1;
	for (int part = 0; part < TB_N_GROUP_PARTS; part++) {
		const struct tb_group_figure *figure = &group->figures[part];
		if (figure->at == TB_ID_NONE)
			continue;
		tb_tip_line(tip, tip->n_lines, "%s: at most %s (%s), %s on average",
			of[part],
			tb_metric_format(metric, figure->worst, worst, sizeof worst),
			part == TB_GROUP_SWITCH
				? tb_run_switches(pane->data->run)[figure->at].label
				: tb_run_links(pane->data->run)[figure->at].label,
			tb_metric_format(metric, figure->mean, mean, sizeof mean));
	}
}

const struct tb_view tb_view_matrix = {.slot = TB_SLOT_MAIN,
	.about =
		"A box is a switch, or a group of them: in the middle its sum, above "
		"that the "
		"links with the level above, below it those with the level below or with "
		"nodes. The scale has the shades. A click shows the figures, the wheel "
		"zooms.",
	.name = "matrix",
	.tab = "Matrix",
	.open = open_matrix,
	.placed = matrix_view_placed,
	.draw = matrix_view_draw,
	.request = matrix_view_request,
	.pointer = matrix_view_pointer,
	.tip = matrix_view_tip,
	.reveal = matrix_view_reveal,
	.close = close_matrix};

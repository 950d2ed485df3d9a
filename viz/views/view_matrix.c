// The congestion matrix: zoom at the pointer, pan by dragging, click to select.
#include "matrix_picture.h"
#include "metric_text.h"
#include "viewer_impl.h"

#include <inttypes.h>
#include <math.h>

#define GUTTER	    92
#define MARGIN	    14
#define LEGEND_H    52
#define MOST_ZOOM   8
#define FOCUS_ZOOM  2.5
#define FONT_SIZE   10.5
#define MOST_FITTED 2.2 // a small network is not blown up beyond

static const struct tb_matrix_metrics metrics = {
	.cell_w = 24, .cell_h = 17, .sum_h = 21, .gap_x = 8, .gap_y = 8, .band_gap = 18};

// area_of is where blocks are drawn within the view's place.
static struct tb_box area_of(const struct tb_viewer *viewer)
{
	struct tb_box place = viewer->places[TB_VIEW_MATRIX];
	return (struct tb_box){place.x + GUTTER, place.y + MARGIN,
		fmax(place.w - GUTTER - MARGIN, 1), fmax(place.h - MARGIN - LEGEND_H, 1)};
}

static struct tb_matrix_view view_of(const struct tb_viewer *viewer)
{
	struct tb_matrix_view view = {.area = area_of(viewer),
		.zoom = viewer->zoom,
		.pan_x = viewer->pan_x,
		.pan_y = viewer->pan_y,
		.detail = tb_matrix_detail_at(&metrics, viewer->zoom),
		.colours = viewer->colours,
		.theme = viewer->theme,
		.font = TB_FONT_TEXT,
		.bold_font = TB_FONT_BOLD,
		.font_size = FONT_SIZE,
		.names = true,
		.selected = viewer->selected,
		.hovered = viewer->hovered,
		.marks = viewer->marks};
	tb_matrix_view_scale(
		&view, &viewer->matrix, viewer->absolute, viewer->logarithmic);
	return view;
}

// clamp keeps a span within reach: its view's middle stays over it, or all of it in
// sight. Anything tighter would tear a zoom away from the pointer at the edges.
static double clamp(double pan, double span, double sight)
{
	double low = fmin(fmin(-sight / 2, span - sight), 0);
	double high = fmax(fmax(span - sight / 2, span - sight), 0);
	return fmin(fmax(pan, low), high);
}

static void set_view(struct tb_viewer *viewer, double zoom, double pan_x, double pan_y)
{
	struct tb_box area = area_of(viewer);
	viewer->zoom = zoom;
	viewer->pan_x = clamp(pan_x, viewer->layout.width, area.w / zoom);
	viewer->pan_y = clamp(pan_y, viewer->layout.height, area.h / zoom);
	viewer->stale = true;
}

// show_all is the fitted view: beside the levels' names, in the middle of the height.
static void show_all(struct tb_viewer *viewer)
{
	struct tb_box area = area_of(viewer);
	double spare = area.h / viewer->fit_zoom - viewer->layout.height;
	viewer->away[TB_VIEW_MATRIX] = false;
	set_view(viewer, viewer->fit_zoom, 0, -fmax(spare, 0) / 2);
}

void tb_matrix_view_fit(struct tb_viewer *viewer)
{
	struct tb_box area = area_of(viewer);
	// Marks and the last rule reach beyond the blocks.
	double zoom = tb_matrix_layout_fit(&viewer->layout, area.w - 4, area.h - 4);
	viewer->fit_zoom = fmin(zoom, MOST_FITTED);
	viewer->laid_out = viewer->width > 0;
	show_all(viewer);
}

// zoom_at changes the zoom and leaves the world point under (x, y) where it is.
static void zoom_at(struct tb_viewer *viewer, double x, double y, double factor)
{
	struct tb_box area = area_of(viewer);
	double zoom = viewer->zoom * factor;
	if (zoom <= viewer->fit_zoom * 1.01) {
		show_all(viewer);
		return;
	}
	zoom = fmin(zoom, fmax(MOST_ZOOM, viewer->fit_zoom));
	double world_x = (x - area.x) / viewer->zoom + viewer->pan_x;
	double world_y = (y - area.y) / viewer->zoom + viewer->pan_y;
	viewer->away[TB_VIEW_MATRIX] = true;
	set_view(viewer, zoom, world_x - (x - area.x) / zoom,
		world_y - (y - area.y) / zoom);
}

static void pan(struct tb_viewer *viewer, double dx, double dy)
{
	viewer->away[TB_VIEW_MATRIX] = true;
	set_view(viewer, viewer->zoom, viewer->pan_x - dx / viewer->zoom,
		viewer->pan_y - dy / viewer->zoom);
}

static void reveal(struct tb_viewer *viewer, bool zoom)
{
	struct tb_matrix_view view = view_of(viewer);
	struct tb_box box;
	if (!tb_matrix_cell_box(
		    &viewer->layout, &viewer->matrix, &view, viewer->selected, &box))
		return;
	if (zoom) {
		double wanted = fmax(viewer->fit_zoom, FOCUS_ZOOM) / viewer->zoom;
		zoom_at(viewer, box.x + box.w / 2, box.y + box.h / 2, wanted);
		view = view_of(viewer);
		if (!tb_matrix_cell_box(&viewer->layout, &viewer->matrix, &view,
			    viewer->selected, &box))
			return;
		pan(viewer, view.area.x + view.area.w / 2 - box.x - box.w / 2,
			view.area.y + view.area.h / 2 - box.y - box.h / 2);
		return;
	}
	double dx = fmax(view.area.x - box.x, 0) +
		    fmin(view.area.x + view.area.w - box.x - box.w, 0);
	double dy = fmax(view.area.y - box.y, 0) +
		    fmin(view.area.y + view.area.h - box.y - box.h, 0);
	if (dx != 0 || dy != 0)
		pan(viewer, dx, dy);
}

static int open(struct tb_viewer *viewer, struct tb_error *error)
{
	if (viewer->layout.bands)
		return TB_OK; // the topology of a run does not change
	if (tb_matrix_layout_init(&viewer->layout, &viewer->matrix, &metrics, 1656))
		return tb_fail(error, TB_ENOMEM, "no memory for the matrix' layout");
	viewer->away[TB_VIEW_MATRIX] = false;
	if (viewer->width > 0)
		tb_matrix_view_fit(viewer);
	return TB_OK;
}

static void draw_gutter(
	struct tb_viewer *viewer, struct tb_picture *picture, struct tb_box area)
{
	struct tb_box gutter = {viewer->places[TB_VIEW_MATRIX].x, area.y, GUTTER, area.h};
	double line_h = 15;
	double free_y = area.y;
	tb_picture_clip(picture, gutter);
	for (uint32_t i = 0; i < viewer->layout.n_bands; i++) {
		const struct tb_matrix_band *band = &viewer->layout.bands[i];
		double top = area.y + (band->y - viewer->pan_y) * viewer->zoom;
		double bottom = top + band->h * viewer->zoom;
		// The label stays in sight as long as its level does.
		double y = fmin(fmax(top, free_y), fmax(bottom - line_h, top));
		const char *note = viewer->layout.n_bands == 1 ? ""
				   : i == 0		       ? "top"
				   : band->level == 0	       ? "nodes below"
							       : "";
		if (bottom < area.y || top > area.y + area.h)
			continue;
		tb_picture_printf(picture,
			(struct tb_box){gutter.x + 16, y, GUTTER - 18, line_h},
			tb_viewer_type(viewer, TB_FONT_BOLD, 12, false), "level %" PRIu32,
			band->level);
		if (bottom - y >= 2 * line_h)
			tb_picture_text(picture,
				(struct tb_box){
					gutter.x + 16, y + line_h, GUTTER - 18, line_h},
				tb_viewer_type(viewer, TB_FONT_TEXT, 11, true), note);
	}
	tb_picture_unclip(picture);
}

static void draw_legend(struct tb_viewer *viewer, struct tb_picture *picture,
	const struct tb_matrix_view *view)
{
	char text[128];
	struct tb_box place = viewer->places[TB_VIEW_MATRIX];
	double y = place.y + place.h - LEGEND_H + 12;
	double x = place.x + GUTTER;
	double bar_w = fmin(220, fmax(place.w * 0.25, 100));
	struct tb_type type = tb_viewer_type(viewer, TB_FONT_TEXT, 12, false);
	const struct tb_legend legend = tb_legend_of(view);
	tb_legend_draw(picture, (struct tb_box){x, y, bar_w, 29}, &legend);
	struct tb_box box = {x + bar_w + 36, y - 3, place.w - GUTTER - bar_w - 48, 17};
	if (viewer->matrix.largest_switch == 0) {
		box.y += 6;
		tb_picture_printf(picture, box, type,
			"Nothing to show: %s is 0 on every link in this window.",
			tb_metric_name(viewer->metric));
		return;
	}
	const char *what = viewer->absolute ? "most loaded" : "100 % of a";
	const char *units[2] = {"", ""};
	if (viewer->absolute) {
		units[0] = tb_scale_unit(&view->links);
		units[1] = tb_scale_unit(&view->switches);
	}
	const char *in = units[0][0] ? ", numbers in " : "";
	tb_picture_printf(picture, box, type, "%s link: %s%s%s", what,
		tb_matrix_scale_text(
			viewer->run, &viewer->matrix, true, text, sizeof text),
		in, units[0]);
	box.y += 18;
	in = units[1][0] ? ", numbers in " : "";
	tb_picture_printf(picture, box, type, "%s switch: %s%s%s", what,
		tb_matrix_scale_text(
			viewer->run, &viewer->matrix, false, text, sizeof text),
		in, units[1]);
}

static void draw(
	struct tb_viewer *viewer, struct tb_picture *picture, struct tb_box place)
{
	(void)place; // kept in viewer->places, which area_of reads
	struct tb_matrix_view view = view_of(viewer);
	draw_gutter(viewer, picture, view.area);
	tb_matrix_draw(picture, &viewer->layout, &viewer->matrix, viewer->run, &view);
	draw_legend(viewer, picture, &view);
}

static bool request(struct tb_viewer *viewer, const struct tb_request *asked)
{
	static const struct tb_view_moves moves = {tb_matrix_view_fit, zoom_at, pan};
	return tb_viewer_move(viewer, asked, area_of(viewer), &moves);
}

static void pointer(struct tb_viewer *viewer, const struct tb_pointer_event *event)
{
	switch (event->kind) {
	case TB_EVENT_WHEEL:
		zoom_at(viewer, event->x, event->y, pow(TB_ZOOM_STEP, event->steps));
		break;
	case TB_EVENT_DRAG:
		pan(viewer, event->dx, event->dy);
		break;
	case TB_EVENT_CLICK:
		if (event->pick.kind == TB_PICK_NONE)
			tb_viewer_select(viewer, event->pick);
		break;
	case TB_EVENT_PRESS:
	case TB_EVENT_DOUBLE:
		break;
	}
}

const struct tb_view tb_view_matrix = {.name = "matrix",
	.tab = "Matrix",
	.open = open,
	.draw = draw,
	.request = request,
	.pointer = pointer,
	.reveal = reveal};

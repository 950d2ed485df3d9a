// Congestion trees: the roots by what they hold up; for one of them its branches, its
// growth over time, and the flows that it held up.
#include "metric_text.h"
#include "parts.h"
#include "root_list.h"
#include "run_text.h"
#include "views.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#define PAD	16
#define LIST_W	296
#define LINE_H	19
#define LEAST_H 10 // of a row of branches
#define MOST_H	34

struct roots {
	struct tb_root_list list;
	struct tb_tree_shape shape; // of the root that is shown
	bool shaped;
};

static void close(void *state)
{
	struct roots *roots = state;
	tb_root_list_forget(&roots->list);
	tb_tree_shape_fini(&roots->shape);
}

static struct roots *roots_of(const struct tb_pane *pane)
{
	return pane->state;
}

static int open(struct tb_pane *pane, struct tb_error *error)
{
	if (!pane->state)
		pane->state = calloc(1, sizeof(struct roots));
	if (!pane->state)
		return tb_fail(error, TB_ENOMEM, "no memory to show congestion trees");
	tb_root_list_forget(&roots_of(pane)->list);
	roots_of(pane)->shaped = false;
	return TB_OK;
}

// shown_root returns the root to show: that of the selected link; else the one shown
// before, so that it stays while the window moves; else the heaviest.
static struct tb_link shown_root(const struct tb_pane *pane, const struct tb_trees *trees)
{
	const struct roots *roots = roots_of(pane);
	struct tb_pick selected = pane->selection->selected;
	struct tb_link root = {TB_ID_NONE};
	if (selected.kind == TB_PICK_LINK)
		root = tb_root_list_find(
			&roots->list, trees, (struct tb_link){selected.index});
	if (root.id == TB_ID_NONE && roots->shaped)
		root = roots->shape.root;
	if (root.id == TB_ID_NONE && roots->list.n)
		root = roots->list.roots[0].root;
	return root;
}

static int prepare(struct tb_pane *pane, const struct tb_trees *trees)
{
	struct roots *roots = roots_of(pane);
	struct tb_slices slices = tb_slices_of(pane->data, trees);
	int status = tb_root_list_read(
		&roots->list, trees, slices, tb_selection_outside(pane->selection));
	if (status != TB_OK)
		return status;
	struct tb_link root = shown_root(pane, trees);
	if (root.id == TB_ID_NONE)
		return TB_OK;
	struct tb_tree_shape shape;
	status = tb_tree_shape_init(
		&shape, pane->data->run, trees, root, slices.from, slices.end);
	if (status != TB_OK)
		return status;
	tb_tree_shape_fini(&roots->shape);
	roots->shape = shape;
	roots->shaped = true;
	return TB_OK;
}

// The parts of the place.
struct parts {
	struct tb_box list, title, branches, chart, victims;
};

static struct parts parts_of(const struct tb_pane *pane)
{
	struct tb_box place = pane->place;
	double list_w = fmin(LIST_W, place.w * 0.42);
	double x = place.x + list_w + PAD;
	double w = fmax(place.w - list_w - 2 * PAD, 1);
	double y = place.y + 6;
	double h = fmax(place.h - 12, 1);
	double branches_h = fmax(h * 0.4 - 40, 40);
	double chart_y = y + 44 + branches_h + 34;
	double chart_h = fmax(h * 0.16, 30);
	double victims_y = chart_y + chart_h + 30;
	return (struct parts){.list = {place.x, place.y, list_w, place.h},
		.title = {x, y, w, 40},
		.branches = {x, y + 44, w, branches_h},
		.chart = {x, chart_y, w, chart_h},
		.victims = {x, victims_y, w, fmax(y + h - victims_y, 0)}};
}

static void draw_title(
	struct tb_pane *pane, struct tb_picture *picture, struct tb_box box)
{
	const struct tb_tree_shape *shape = &roots_of(pane)->shape;
	bool is_whole = shape->branches_ps == shape->whole_ps;
	char wait[48], whole[48], links[48];
	if (!is_whole && shape->n_shown == 0)
		snprintf(links, sizeof links, "at links that were not kept");
	else
		snprintf(links, sizeof links, "%sat %" PRIu32 " %s",
			is_whole ? "" : "at least ", shape->n_shown,
			shape->n_shown == 1 ? "link" : "links");
	tb_picture_printf(picture, (struct tb_box){box.x, box.y, box.w, 20},
		tb_style_type(pane->style, TB_FONT_BOLD, 13, false), "Held up by %s",
		tb_run_links(pane->data->run)[shape->root.id].label);
	tb_picture_printf(picture, (struct tb_box){box.x, box.y + 19, box.w, 17},
		tb_style_type(pane->style, TB_FONT_TEXT, 12, true),
		"%s within the window, %s; %s in the whole run",
		tb_metric_format(TB_WAIT, shape->shown_ps, wait, sizeof wait), links,
		tb_metric_format(TB_WAIT, shape->whole_ps, whole, sizeof whole));
}

static struct tb_box branch_box(const struct tb_tree_shape *shape,
	const struct tb_branch *branch, struct tb_box box)
{
	double h = fmin(fmax(box.h / (shape->depth + 1.0), LEAST_H), MOST_H);
	double left = box.x + box.w * branch->x;
	double right = box.x + box.w * (branch->x + branch->w);
	return (struct tb_box){left, box.y + branch->depth * h,
		fmax(right - left - (right - left > 3), 0.5), h - 1};
}

static void draw_branch(struct tb_pane *pane, struct tb_picture *picture,
	struct tb_box box, const struct tb_branch *branch)
{
	const struct tb_palette *palette = tb_palette_of(pane->style->theme);
	const struct tb_tree_shape *shape = &roots_of(pane)->shape;
	const struct tb_scale scale =
		tb_style_scale(pane->style, TB_QUANTITY_TIME, (double)shape->largest_ps);
	struct tb_pick pick = {TB_PICK_LINK, branch->link.id};
	const char *name = tb_run_links(pane->data->run)[branch->link.id].label;
	struct tb_colour colour =
		branch->shown_ps
			? tb_style_shade(pane->style,
				  tb_scale_percent(&scale, (double)branch->shown_ps))
		: branch->depth ? palette->empty
				: palette->raised;
	tb_picture_rect(picture, box, colour);
	tb_picture_pick(picture, pick);
	struct tb_colour ink = branch->shown_ps ? tb_colour_ink(colour) : palette->muted;
	bool fits = tb_text_width(TB_FONT_TEXT, 11, name) < box.w - 6 && box.h >= 13;
	if (fits)
		tb_picture_text(picture, box,
			(struct tb_type){branch->depth ? TB_FONT_TEXT : TB_FONT_BOLD, 11,
				TB_ALIGN_CENTRE, branch->depth ? ink : palette->text},
			name);
	bool selected = tb_pick_equal(pane->selection->selected, pick);
	if (selected || tb_pick_equal(pane->selection->hovered, pick))
		tb_picture_frame(
			picture, box, 2, selected ? palette->accent : palette->text);
}

static void draw_branches(
	struct tb_pane *pane, struct tb_picture *picture, struct tb_box box)
{
	const struct tb_tree_shape *shape = &roots_of(pane)->shape;
	tb_picture_clip(picture, box);
	for (uint32_t i = 0; i < shape->n; i++)
		draw_branch(pane, picture, branch_box(shape, &shape->branches[i], box),
			&shape->branches[i]);
	tb_picture_unclip(picture);
	struct tb_type type = tb_style_type(pane->style, TB_FONT_TEXT, 11, true);
	tb_picture_printf(picture, (struct tb_box){box.x, box.y + box.h + 3, box.w, 15},
		type,
		"below each link those that waited for it%s; width: in the whole run, "
		"shade: in the window",
		shape->branches_ps < shape->whole_ps ? ", the heaviest, at least" : "");
}

static void draw_chart(struct tb_pane *pane, struct tb_picture *picture,
	struct tb_box box, const struct tb_trees *trees)
{
	const struct tb_palette *palette = tb_palette_of(pane->style->theme);
	struct tb_root_waits waits;
	uint32_t most = 1;
	char wait[48];
	uint64_t largest = 0;
	tb_root_waits_fill(&waits, trees, roots_of(pane)->shape.root);
	for (uint32_t i = 0; i < trees->n_bins; i++) {
		most = waits.n_links[i] > most ? waits.n_links[i] : most;
		largest = waits.wait_ps[i] > largest ? waits.wait_ps[i] : largest;
	}
	tb_picture_printf(picture, (struct tb_box){box.x, box.y - 17, box.w, 15},
		tb_style_type(pane->style, TB_FONT_TEXT, 11, true),
		"growth over time: bars show its wait, %s at most, lines the links it "
		"reached, %" PRIu32 " at most",
		tb_metric_format(TB_WAIT, largest, wait, sizeof wait), most);
	tb_picture_rect(picture, box, palette->empty);
	tb_picture_pick(picture, (struct tb_pick){TB_PICK_PART, TB_PART_GRID});
	tb_root_waits_draw(&waits, trees->n_bins, tb_slices_of(pane->data, trees),
		pane->style, picture, box);
	for (uint32_t i = 0; i < trees->n_bins; i++) {
		double left = box.x + box.w * i / trees->n_bins;
		double right = box.x + box.w * (i + 1) / trees->n_bins;
		double y = box.y + box.h - (box.h - 2) * waits.n_links[i] / most;
		if (waits.n_links[i])
			tb_picture_rect(picture,
				(struct tb_box){left, y - 1, right - left, 2},
				palette->accent);
	}
}

// is_branch is true for a link of the tree.
static bool is_branch(
	const struct tb_trees *trees, struct tb_link root, struct tb_link link)
{
	for (uint32_t i = trees->first[root.id]; i < trees->first[root.id + 1]; i++)
		if (trees->rows[i].link.id == link.id)
			return true;
	return false;
}

static void draw_victim(struct tb_pane *pane, struct tb_picture *picture,
	struct tb_box row, const struct tb_blame_sample *at, uint32_t index)
{
	const struct tb_palette *palette = tb_palette_of(pane->style->theme);
	struct tb_pick pick = {TB_PICK_PAIR, index};
	char wait[48], victim[160], culprit[160];
	bool raised = tb_pick_equal(pane->selection->hovered, pick) ||
		      tb_pick_equal(pane->selection->selected, pick);
	tb_picture_rect(picture, row, raised ? palette->raised : palette->page);
	tb_picture_pick(picture, pick);
	struct tb_type mono = tb_style_type(pane->style, TB_FONT_MONO, 12, false);
	struct tb_type type = tb_style_type(pane->style, TB_FONT_TEXT, 12, false);
	type.align = TB_ALIGN_RIGHT;
	tb_picture_text(picture, (struct tb_box){row.x, row.y, 80, row.h}, type,
		tb_metric_format(TB_WAIT, at->wait_ps, wait, sizeof wait));
	const struct tb_run *run = pane->data->run;
	double third = (row.w - 94) / 3.2; // what is left are the words between
	tb_picture_printf(picture, (struct tb_box){row.x + 94, row.y, row.w - 94, row.h},
		mono, "%s for %s, over %s",
		tb_run_pair_text(run, at->victim_source, at->victim_destination,
			third - 60, victim, sizeof victim),
		tb_run_pair_text(run, at->culprit_source, at->culprit_destination,
			third - 60, culprit, sizeof culprit),
		tb_run_links(run)[at->link.id].label);
}

static void draw_victims(struct tb_pane *pane, struct tb_picture *picture,
	struct tb_box box, const struct tb_trees *trees)
{
	const struct tb_heavy_waits *waits = tb_viewer_blame(pane->viewer);
	struct tb_link root = roots_of(pane)->shape.root;
	uint32_t line = 0;
	if (!waits || box.h < 2 * LINE_H)
		return;
	tb_picture_printf(picture, (struct tb_box){box.x, box.y, box.w, 16},
		tb_style_type(pane->style, TB_FONT_TEXT, 11, true),
		"flows that waited at its links, whole run%s: who waited for whom, and "
		"where",
		waits->listed.rest_ps > 0 ? ", the heaviest, at least" : "");
	for (uint32_t i = 0; i < waits->listed.n && (line + 2) * LINE_H <= box.h; i++) {
		if (!is_branch(trees, root, waits->rows[i].link))
			continue;
		draw_victim(pane, picture,
			(struct tb_box){
				box.x, box.y + 18 + line * LINE_H, box.w, LINE_H - 1},
			&waits->rows[i], i);
		line++;
	}
}

static void nothing(struct tb_pane *pane, struct tb_picture *picture)
{
	if (pane->data->info->complete)
		tb_pane_nothing(pane, picture,
			"Nothing to show: no header waited, or the replay ran with "
			"--no-blame.");
	else
		tb_pane_too_early(pane, picture, "trees are");
}

static void draw(struct tb_pane *pane, struct tb_picture *picture)
{
	const struct tb_trees *trees = tb_viewer_trees(pane->viewer);
	struct parts parts = parts_of(pane);
	if (!roots_of(pane) || !trees)
		return;
	if (trees->n_roots == 0) {
		nothing(pane, picture);
		return;
	}
	if (prepare(pane, trees) != TB_OK) {
		picture->status = TB_ENOMEM;
		return;
	}
	struct roots *roots = roots_of(pane);
	const struct tb_link none = {TB_ID_NONE};
	tb_root_list_draw(&roots->list, trees, roots->shaped ? roots->shape.root : none,
		pane, picture, parts.list);
	if (roots->list.n == 0 && pane->selection->brush.on)
		tb_picture_text(picture, parts.title,
			tb_style_type(pane->style, TB_FONT_TEXT, 13, false),
			"Nothing to show: no root is among the brushed links. u shows "
			"all.");
	if (!roots_of(pane)->shaped)
		return;
	draw_title(pane, picture, parts.title);
	draw_branches(pane, picture, parts.branches);
	draw_chart(pane, picture, parts.chart, trees);
	draw_victims(pane, picture, parts.victims, trees);
}

// show_slice makes the window the slice under the pointer.
static void show_slice(struct tb_pane *pane, double x)
{
	const struct tb_trees *trees = tb_viewer_trees(pane->viewer);
	struct tb_box chart = parts_of(pane).chart;
	struct tb_window window;
	if (!trees || trees->n_bins == 0 || trees->bin_ps <= 0)
		return;
	double share = fmin(fmax((x - chart.x) / chart.w, 0), 0.9999);
	tb_time_ps from = (tb_time_ps)(share * trees->n_bins) * trees->bin_ps;
	if (tb_window_between(
		    pane->data->info, from, from + trees->bin_ps, &window, NULL) == TB_OK)
		tb_viewer_show(pane->viewer, window, pane->data->metric);
}

static void pointer(struct tb_pane *pane, const struct tb_pointer_event *event)
{
	struct roots *roots = roots_of(pane);
	bool in_list = tb_box_holds(parts_of(pane).list, event->x, event->y);
	bool in_chart = event->pick.kind == TB_PICK_PART;
	if (!roots)
		return;
	if (event->kind == TB_EVENT_WHEEL && in_list)
		roots->list.scroll -= event->steps * 3 * TB_ROOT_LIST_ROW_H;
	else if (event->kind == TB_EVENT_DRAG && in_list)
		roots->list.scroll -= event->dy;
	else if (in_chart &&
		 (event->kind == TB_EVENT_CLICK || event->kind == TB_EVENT_DRAG))
		show_slice(pane, event->x);
}

// step selects the previous root of the list (by -1), or the next.
static void step(struct tb_pane *pane, int by)
{
	const struct roots *roots = roots_of(pane);
	struct tb_link root = tb_root_list_step(&roots->list, roots->shape.root, by);
	if (root.id != TB_ID_NONE)
		tb_viewer_select(pane->viewer, (struct tb_pick){TB_PICK_LINK, root.id});
}

static bool request(struct tb_pane *pane, const struct tb_request *asked)
{
	struct roots *roots = roots_of(pane);
	if (!roots || !roots->shaped)
		return false;
	switch ((int)asked->name) {
	case TB_REQUEST_PAN_UP:
		step(pane, -1);
		return true;
	case TB_REQUEST_PAN_DOWN:
		step(pane, 1);
		return true;
	case TB_REQUEST_FIT:
		roots->list.scroll = 0;
		return true;
	default:
		return false;
	}
}

static void tip(const struct tb_pane *pane, struct tb_tip *tip)
{
	struct tb_pick pick = tip->pick;
	const struct roots *roots = roots_of(pane);
	if (!roots || !roots->shaped || pick.kind != TB_PICK_LINK)
		return;
	const struct tb_tree_shape *shape = &roots->shape;
	for (uint32_t i = 0; i < shape->n; i++) {
		char shown[48], whole[48];
		const struct tb_branch *branch = &shape->branches[i];
		if (branch->link.id != pick.index)
			continue;
		snprintf(tip->lines[1], sizeof tip->lines[1],
			"for this root: %s within the window, %s in the whole run",
			tb_metric_format(TB_WAIT, branch->shown_ps, shown, sizeof shown),
			tb_metric_format(TB_WAIT, branch->whole_ps, whole, sizeof whole));
		snprintf(tip->lines[2], sizeof tip->lines[2],
			i == 0 ? "the root: all below waited for it in the end"
			       : "headers arriving over it waited, in the end, for the "
				 "root");
	}
}

const struct tb_view tb_view_roots = {.slot = TB_SLOT_MAIN,
	.shows_trees = true,
	.tab = "Congestion trees",
	.brief_tab = "Trees",
	.open = open,
	.draw = draw,
	.request = request,
	.pointer = pointer,
	.tip = tip,
	.forget = tb_pane_drop,
	.close = close};

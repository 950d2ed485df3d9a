// Congestion trees: the roots by what they hold up; of one of them its branches, how it
// grew and dissolved, and whose messages it held up.
#include "blame_square.h"
#include "metric_text.h"
#include "parts.h"
#include "run_text.h"
#include "tree_shape.h"
#include "views.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define PAD	   16
#define LIST_W	   296
#define HEADER_H   46
#define ROW_H	   30
#define LINE_H	   19
#define LEAST_H	   10 // of a row of branches
#define MOST_H	   34
#define MAX_SLICES 128

struct roots {
	struct tb_tree_root *roots; // heaviest in the window first
	uint32_t n;
	struct tb_tree_shape shape;
	uint32_t from, end; // slices that the window touches
	double scroll;
	bool listed, shaped;
};

static void forget(struct roots *roots)
{
	free(roots->roots);
	roots->roots = NULL;
	roots->n = 0;
	roots->listed = false;
}

static void close(void *state)
{
	struct roots *roots = state;
	forget(roots);
	tb_tree_shape_fini(&roots->shape);
}

static struct roots *roots_of(const struct tb_pane *pane)
{
	return pane->state;
}

static int open(struct tb_pane *pane, struct tb_error *error)
{
	if (!roots_of(pane)) {
		pane->state = calloc(1, sizeof(struct roots));
		if (!roots_of(pane))
			return tb_fail(
				error, TB_ENOMEM, "no memory to show congestion trees");
	}
	forget(roots_of(pane));
	roots_of(pane)->shaped = false;
	return TB_OK;
}

// slices_of is which slices the window touches, wholly or in part.
static void slices_of(const struct tb_pane *pane, const struct tb_trees *trees,
	uint32_t *from, uint32_t *end)
{
	*from = 0;
	*end = trees->n_bins;
	if (tb_window_whole(pane->data->info, pane->data->window) || trees->bin_ps <= 0)
		return;
	tb_time_ps begin_ps = tb_window_begin_ps(pane->data->info, pane->data->window);
	tb_time_ps end_ps = tb_window_end_ps(pane->data->info, pane->data->window);
	*from = (uint32_t)(begin_ps / trees->bin_ps);
	*end = (uint32_t)((end_ps + trees->bin_ps - 1) / trees->bin_ps);
}

static bool is_root(const struct roots *roots, uint32_t link)
{
	for (uint32_t i = 0; i < roots->n; i++)
		if (roots->roots[i].root.id == link && link != TB_ID_NONE)
			return true;
	return false;
}

// root_with is the heaviest root for which headers waited at a link.
static struct tb_link root_with(
	const struct roots *roots, const struct tb_trees *trees, uint32_t link)
{
	for (uint32_t r = 0; r < roots->n; r++)
		for (uint32_t i = 0; i < trees->n; i++)
			if (trees->rows[i].link.id == link &&
				trees->rows[i].root.id == roots->roots[r].root.id)
				return roots->roots[r].root;
	return (struct tb_link){TB_ID_NONE};
}

// shown_root is the root that is looked at: the selected link, if it is one; else the one
// that the selected link waited for; else the heaviest.
static struct tb_link shown_root(const struct tb_pane *pane, const struct tb_trees *trees)
{
	const struct roots *roots = roots_of(pane);
	struct tb_link root = {TB_ID_NONE};
	if (pane->selection->selected.kind == TB_PICK_LINK) {
		root.id = pane->selection->selected.index;
		if (!is_root(roots, root.id))
			root = root_with(roots, trees, root.id);
	}
	if (root.id == TB_ID_NONE && roots->shaped)
		root = roots->shape.root; // stays while time goes on
	if (root.id == TB_ID_NONE && roots->n)
		root = roots->roots[0].root;
	return root;
}

static int prepare(struct tb_pane *pane, const struct tb_trees *trees)
{
	struct roots *roots = roots_of(pane);
	int status = TB_OK;
	slices_of(pane, trees, &roots->from, &roots->end);
	if (!roots->listed)
		status = tb_tree_roots(
			trees, roots->from, roots->end, &roots->roots, &roots->n);
	roots->listed = status == TB_OK;
	struct tb_link root = shown_root(pane, trees);
	if (status != TB_OK || root.id == TB_ID_NONE)
		return status;
	struct tb_tree_shape shape;
	status = tb_tree_shape_init(
		&shape, pane->data->run, trees, root, roots->from, roots->end);
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

static void draw_slices(struct tb_pane *pane, struct tb_picture *picture,
	struct tb_box box, const uint64_t *values, uint32_t n)
{
	const struct tb_palette *palette = tb_palette_of(pane->style->theme);
	const struct roots *roots = roots_of(pane);
	uint64_t largest = 0;
	for (uint32_t i = 0; i < n; i++)
		largest = values[i] > largest ? values[i] : largest;
	for (uint32_t i = 0; i < n; i++) {
		if (!values[i])
			continue;
		double h = fmax(box.h * (double)values[i] / (double)largest, 1);
		double left = box.x + box.w * i / n;
		double right = box.x + box.w * (i + 1) / n;
		bool shown = i >= roots->from && i < roots->end;
		tb_picture_rect(picture,
			(struct tb_box){left, box.y + box.h - h,
				fmax(right - left - (right - left > 4), 1), h},
			shown ? palette->muted : palette->line);
	}
}

// slice_waits sums the slices of a root; n_links counts the links in each.
static void slice_waits(const struct tb_trees *trees, uint32_t root,
	uint64_t waits[MAX_SLICES], uint32_t n_links[MAX_SLICES])
{
	memset(waits, 0, MAX_SLICES * sizeof *waits);
	memset(n_links, 0, MAX_SLICES * sizeof *n_links);
	for (uint32_t i = 0; i < trees->n; i++) {
		const struct tb_tree_sample *row = &trees->rows[i];
		if (row->root.id != root || row->bin >= MAX_SLICES)
			continue;
		waits[row->bin] += row->wait_ps;
		n_links[row->bin]++;
	}
}

static void draw_root(struct tb_pane *pane, struct tb_picture *picture, struct tb_box box,
	const struct tb_tree_root *root, const struct tb_trees *trees)
{
	const struct tb_palette *palette = tb_palette_of(pane->style->theme);
	const struct roots *roots = roots_of(pane);
	struct tb_pick pick = {TB_PICK_LINK, root->root.id};
	bool known = root->root.id != TB_ID_NONE;
	bool shown = known && roots->shaped && roots->shape.root.id == root->root.id;
	bool under = known && tb_pick_equal(pane->selection->hovered, pick);
	uint64_t waits[MAX_SLICES];
	uint32_t n_links[MAX_SLICES];
	char value[48];
	tb_picture_rect(picture, box, shown || under ? palette->raised : palette->page);
	if (known)
		tb_picture_pick(picture, pick);
	if (shown)
		tb_picture_rect(picture, (struct tb_box){box.x, box.y, 3, box.h},
			palette->accent);
	tb_picture_text(picture,
		(struct tb_box){box.x + PAD, box.y + 1, box.w - PAD - 90, 16},
		tb_style_type(
			pane->style, known ? TB_FONT_MONO : TB_FONT_TEXT, 12, !known),
		known ? tb_run_links(pane->data->run)[root->root.id].name
		      : "lesser trees together");
	struct tb_type type = tb_style_type(pane->style, TB_FONT_TEXT, 12, false);
	type.align = TB_ALIGN_RIGHT;
	tb_picture_text(picture, (struct tb_box){box.x, box.y + 1, box.w - 6, 16}, type,
		tb_metric_format(TB_WAIT, root->shown_ps, value, sizeof value));
	if (!known)
		return;
	type = tb_style_type(pane->style, TB_FONT_TEXT, 11, true);
	tb_picture_printf(picture, (struct tb_box){box.x + PAD, box.y + 15, 100, 13},
		type, "%" PRIu32 " links", root->n_links);
	slice_waits(trees, root->root.id, waits, n_links);
	draw_slices(pane, picture,
		(struct tb_box){box.x + box.w * 0.4, box.y + 17, box.w * 0.6 - 6, 10},
		waits, trees->n_bins);
}

static void draw_list(struct tb_pane *pane, struct tb_picture *picture,
	struct tb_box place, const struct tb_trees *trees)
{
	const struct tb_palette *palette = tb_palette_of(pane->style->theme);
	struct roots *roots = roots_of(pane);
	struct tb_box body = {
		place.x, place.y + HEADER_H, place.w, fmax(place.h - HEADER_H, 1)};
	char width[24];
	tb_picture_text(picture,
		(struct tb_box){place.x + PAD, place.y + 8, place.w - PAD, 18},
		tb_style_type(pane->style, TB_FONT_BOLD, 13, false),
		"Roots by what they hold up");
	tb_picture_printf(picture,
		(struct tb_box){place.x + PAD, place.y + 26, place.w - PAD, 15},
		tb_style_type(pane->style, TB_FONT_TEXT, 11, true),
		"wait within the window, in slices of %s",
		tb_format_time(trees->bin_ps, width, sizeof width));
	double most = fmax(roots->n * (double)ROW_H - body.h, 0);
	roots->scroll = fmin(fmax(roots->scroll, 0), most);
	tb_picture_clip(picture, body);
	for (uint32_t i = (uint32_t)(roots->scroll / ROW_H); i < roots->n; i++) {
		double y = body.y + i * (double)ROW_H - roots->scroll;
		if (y >= body.y + body.h)
			break;
		draw_root(pane, picture, (struct tb_box){body.x, y, body.w, ROW_H - 1},
			&roots->roots[i], trees);
	}
	tb_picture_unclip(picture);
	tb_picture_line(picture,
		(struct tb_box){place.x + place.w + 5.5, place.y + 8, 0, place.h - 16}, 1,
		palette->line);
}

static void draw_title(
	struct tb_pane *pane, struct tb_picture *picture, struct tb_box box)
{
	const struct tb_tree_shape *shape = &roots_of(pane)->shape;
	char wait[48], whole[48];
	tb_picture_printf(picture, (struct tb_box){box.x, box.y, box.w, 20},
		tb_style_type(pane->style, TB_FONT_BOLD, 13, false), "Held up by %s",
		tb_run_links(pane->data->run)[shape->root.id].name);
	tb_picture_printf(picture, (struct tb_box){box.x, box.y + 19, box.w, 17},
		tb_style_type(pane->style, TB_FONT_TEXT, 12, true),
		"%s within the window, at %" PRIu32 " %s; %s in the whole run",
		tb_metric_format(TB_WAIT, shape->shown_ps, wait, sizeof wait),
		shape->n_shown, shape->n_shown == 1 ? "link" : "links",
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
	const char *name = tb_run_links(pane->data->run)[branch->link.id].name;
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
	tb_picture_text(picture, (struct tb_box){box.x, box.y + box.h + 3, box.w, 15},
		type,
		"below each link those that waited for it; wide: waited long in the "
		"whole run, shade: in the window");
}

static void draw_chart(struct tb_pane *pane, struct tb_picture *picture,
	struct tb_box box, const struct tb_trees *trees)
{
	const struct tb_palette *palette = tb_palette_of(pane->style->theme);
	const struct roots *roots = roots_of(pane);
	uint64_t waits[MAX_SLICES];
	uint32_t n_links[MAX_SLICES], most = 1;
	char wait[48];
	uint64_t largest = 0;
	slice_waits(trees, roots->shape.root.id, waits, n_links);
	for (uint32_t i = 0; i < trees->n_bins; i++) {
		most = n_links[i] > most ? n_links[i] : most;
		largest = waits[i] > largest ? waits[i] : largest;
	}
	tb_picture_printf(picture, (struct tb_box){box.x, box.y - 17, box.w, 15},
		tb_style_type(pane->style, TB_FONT_TEXT, 11, true),
		"how it grew and dissolved: bars its wait, %s at most; lines the links "
		"it "
		"reached, %" PRIu32 " at most",
		tb_metric_format(TB_WAIT, largest, wait, sizeof wait), most);
	tb_picture_rect(picture, box, palette->empty);
	tb_picture_pick(picture, (struct tb_pick){TB_PICK_PART, TB_PART_GRID});
	draw_slices(pane, picture, box, waits, trees->n_bins);
	for (uint32_t i = 0; i < trees->n_bins; i++) {
		double left = box.x + box.w * i / trees->n_bins;
		double right = box.x + box.w * (i + 1) / trees->n_bins;
		double y = box.y + box.h - (box.h - 2) * n_links[i] / most;
		if (n_links[i])
			tb_picture_rect(picture,
				(struct tb_box){left, y - 1, right - left, 2},
				palette->accent);
	}
}

static void draw_victims(
	struct tb_pane *pane, struct tb_picture *picture, struct tb_box box)
{
	uint32_t n, line = 0;
	const struct tb_blame_sample *rows = tb_viewer_blame(pane->viewer, &n);
	const struct tb_palette *palette = tb_palette_of(pane->style->theme);
	uint32_t root = roots_of(pane)->shape.root.id;
	if (!rows || box.h < 2 * LINE_H)
		return;
	tb_picture_text(picture, (struct tb_box){box.x, box.y, box.w, 16},
		tb_style_type(pane->style, TB_FONT_TEXT, 11, true),
		"whose messages it held up, whole run: who waited for whom, and where");
	for (uint32_t i = 0; i < n && (line + 2) * LINE_H <= box.h; i++) {
		char wait[48];
		if (rows[i].root.id != root || rows[i].victim_source.id == TB_ID_NONE)
			continue;
		struct tb_pick pick = {TB_PICK_PAIR, i};
		struct tb_box row = {
			box.x, box.y + 18 + line * LINE_H, box.w, LINE_H - 1};
		bool lit = tb_pick_equal(pane->selection->hovered, pick) ||
			   tb_pick_equal(pane->selection->selected, pick);
		tb_picture_rect(picture, row, lit ? palette->raised : palette->page);
		tb_picture_pick(picture, pick);
		struct tb_type mono = tb_style_type(pane->style, TB_FONT_MONO, 12, false);
		struct tb_type type = tb_style_type(pane->style, TB_FONT_TEXT, 12, false);
		type.align = TB_ALIGN_RIGHT;
		tb_picture_text(picture, (struct tb_box){row.x, row.y, 80, row.h}, type,
			tb_metric_format(TB_WAIT, rows[i].wait_ps, wait, sizeof wait));
		tb_picture_printf(picture,
			(struct tb_box){row.x + 94, row.y, row.w - 94, row.h}, mono,
			"%" PRIu32 " > %" PRIu32 " for %" PRIu32 " > %" PRIu32 ", by %s",
			rows[i].victim_source.id, rows[i].victim_destination.id,
			rows[i].culprit_source.id, rows[i].culprit_destination.id,
			tb_run_links(pane->data->run)[rows[i].link.id].name);
		line++;
	}
}

static void nothing(struct tb_pane *pane, struct tb_picture *picture)
{
	tb_pane_nothing(pane, picture,
		pane->data->info->complete
			? "Nothing to show: nobody waited, or the replay ran with "
			  "--no-blame."
			: "Nothing to show: trees are kept at the end of a run, and this "
			  "one was stopped early.");
}

static void draw(struct tb_pane *pane, struct tb_picture *picture)
{
	const struct tb_trees *trees = tb_viewer_trees(pane->viewer);
	struct parts parts = parts_of(pane);
	if (!roots_of(pane) || !trees)
		return;
	if (trees->n == 0) {
		nothing(pane, picture);
		return;
	}
	if (prepare(pane, trees) != TB_OK) {
		picture->status = TB_ENOMEM;
		return;
	}
	draw_list(pane, picture, parts.list, trees);
	if (!roots_of(pane)->shaped)
		return;
	draw_title(pane, picture, parts.title);
	draw_branches(pane, picture, parts.branches);
	draw_chart(pane, picture, parts.chart, trees);
	draw_victims(pane, picture, parts.victims);
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
		roots->scroll -= event->steps * 3 * ROW_H;
	else if (event->kind == TB_EVENT_DRAG && in_list)
		roots->scroll -= event->dy;
	else if (in_chart &&
		 (event->kind == TB_EVENT_CLICK || event->kind == TB_EVENT_DRAG))
		show_slice(pane, event->x);
}

// step goes to the next root of the list, or the one before.
static void step(struct tb_pane *pane, int by)
{
	const struct roots *roots = roots_of(pane);
	uint32_t at = 0;
	while (at < roots->n && roots->roots[at].root.id != roots->shape.root.id)
		at++;
	if (at == roots->n)
		return;
	at = by < 0 ? at - (at > 0) : at + (at + 1 < roots->n);
	if (roots->roots[at].root.id != TB_ID_NONE)
		tb_viewer_select(pane->viewer,
			(struct tb_pick){TB_PICK_LINK, roots->roots[at].root.id});
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
		roots->scroll = 0;
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
			i == 0 ? "the root: what limited all that waited below"
			       : "headers that came in by it waited, in the end, for the "
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

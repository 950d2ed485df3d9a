// Congestion trees: the roots by what they hold up; for one of them its branches, its
// growth over time, and the flows that it held up.
#include "list_view.h"
#include "markup.h"
#include "parts.h"
#include "root_list.h"
#include "scale.h"
#include "squares.h"
#include "views.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#define PAD	     16
#define LIST_W	     296
#define LINE_H	     19
#define LEAST_NAME_W 72 // of a branch that has a name
#define LEAST_H	     10 // of a row of branches
#define MOST_H	     34

struct roots_state {
	struct tb_root_list list;
	struct tb_tree_shape shape; // of the root that is shown
	bool shaped;
	struct tb_root_victims victims; // of the root that is shown
	struct tb_name_widths names;	// of these
	double scroll;			// of their list
};

static void close_roots(void *state)
{
	struct roots_state *roots = state;
	tb_root_list_forget(&roots->list);
	tb_tree_shape_fini(&roots->shape);
	tb_root_victims_fini(&roots->victims);
}

static struct roots_state *roots_of(const struct tb_pane *pane)
{
	return pane->state;
}

static int open_roots(struct tb_pane *pane, struct tb_error *error)
{
	(void)error;
	tb_root_list_forget(&roots_of(pane)->list);
	roots_of(pane)->shaped = false;
	return TB_OK;
}

// shown_root returns the root to show: that of the selected link; else the one shown
// before, so that it stays while the window moves; else the heaviest.
static struct tb_link shown_root(const struct tb_pane *pane, const struct tb_trees *trees)
{
	const struct roots_state *roots = roots_of(pane);
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

static int root_prepare(struct tb_pane *pane, const struct tb_trees *trees)
{
	struct roots_state *roots = roots_of(pane);
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
struct roots_parts {
	struct tb_box list, title, branches, chart, victims;
};

static struct roots_parts root_parts(const struct tb_pane *pane)
{
	struct tb_box place = pane->place;
	double list_w = fmin(LIST_W, place.w * 0.42);
	double x = place.x + list_w + PAD;
	double w = fmax(place.w - list_w - 2 * PAD, 1);
	double y = place.y + 6;
	double h = fmax(place.h - 12, 1);
	const struct roots_state *roots = roots_of(pane);
	double branches_h = fmax(h * 0.4 - 40, 40);
	if (roots && roots->shaped && roots->shape.depth)
		branches_h = fmin(branches_h, (roots->shape.depth + 1.0) * MOST_H);
	// Of a single slice there is no growth.
	const struct tb_trees *trees = tb_viewer_trees(pane->viewer);
	double chart_y = y + 44 + branches_h + 34;
	double chart_h = trees && trees->n_bins > 1 ? fmax(h * 0.16, 30) : 0;
	double victims_y = chart_h > 0 ? chart_y + chart_h + 30 : chart_y - 8;
	return (struct roots_parts){.list = {place.x, place.y, list_w, place.h},
		.title = {x, y, w, 40},
		.branches = {x, y + 44, w, branches_h},
		.chart = {x, chart_y, w, chart_h},
		.victims = {x, victims_y, w, fmax(y + h - victims_y, 0)}};
}

static void draw_root_title(
	struct tb_pane *pane, struct tb_picture *picture, struct tb_box box)
{
	const struct tb_tree_shape *shape = &roots_of(pane)->shape;
	bool is_whole = shape->branches_ps == shape->whole_ps;
	char wait[48], links[48];
	if (!is_whole && shape->n_shown == 0)
		snprintf(links, sizeof links, "at links that were not kept");
	else
		snprintf(links, sizeof links, "%sat %" PRIu32 " %s",
			is_whole ? "" : "at least ", shape->n_shown,
			shape->n_shown == 1 ? "link" : "links");
	const struct tb_type bold = tb_style_type(pane->style, TB_FONT_BOLD, 13, false);
	double held_w = tb_text_width(bold.font, bold.size, "Held up by ");
	tb_picture_text(
		picture, (struct tb_box){box.x, box.y, held_w, 20}, bold, "Held up by");
	tb_picture_name(picture,
		(struct tb_box){box.x + held_w, box.y, fmax(box.w - held_w, 1), 20}, bold,
		tb_run_links(pane->data->run)[shape->root.id].label);
	char text[200], brief[160];
	tb_metric_format(TB_WAIT, shape->shown_ps, wait, sizeof wait);
	snprintf(text, sizeof text, "%s within the window, %s; %s in the whole run", wait,
		links, TB_METRIC_TEXT(TB_WAIT, shape->whole_ps));
	snprintf(brief, sizeof brief, "%s, %s", wait, links);
	tb_picture_fitting(picture, (struct tb_box){box.x, box.y + 19, box.w, 17},
		tb_style_type(pane->style, TB_FONT_TEXT, 12, true),
		(const char *const[]){text, brief, NULL});
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
	if (box.w >= LEAST_NAME_W && box.h >= 13)
		tb_picture_name(picture,
			(struct tb_box){box.x + 3, box.y, box.w - 6, box.h},
			(struct tb_type){branch->depth ? TB_FONT_TEXT : TB_FONT_BOLD, 11,
				TB_ALIGN_CENTRE, branch->depth ? ink : palette->text},
			name);
	bool selected = tb_pick_equal(pane->selection->selected, pick);
	if (selected || tb_pick_equal(pane->selection->hovered, pick))
		tb_picture_frame(
			picture, box, 2, selected ? palette->accent : palette->text);
}

static void draw_chart(struct tb_pane *pane, struct tb_picture *picture,
	struct tb_box box, const struct tb_trees *trees)
{
	const struct tb_palette *palette = tb_palette_of(pane->style->theme);
	struct tb_root_waits waits;
	uint32_t most = 1;
	char wait[48], text[160], brief[120];
	uint64_t largest = 0;
	tb_root_waits_fill(&waits, trees, roots_of(pane)->shape.root);
	for (uint32_t i = 0; i < trees->n_bins; i++) {
		most = waits.n_links[i] > most ? waits.n_links[i] : most;
		largest = waits.wait_ps[i] > largest ? waits.wait_ps[i] : largest;
	}
	tb_metric_format(TB_WAIT, largest, wait, sizeof wait);
	snprintf(text, sizeof text,
		"growth over time: bars show its wait, %s at most, lines the links it "
		"reached, %" PRIu32 " at most",
		wait, most);
	snprintf(brief, sizeof brief, "bars: wait, to %s; lines: links, to %" PRIu32,
		wait, most);
	tb_picture_fitting(picture, (struct tb_box){box.x, box.y - 17, box.w, 15},
		tb_style_type(pane->style, TB_FONT_TEXT, 11, true),
		(const char *const[]){text, brief, NULL});
	tb_picture_rect(picture, box, palette->empty);
	tb_picture_pick(picture, (struct tb_pick){TB_PICK_PART, TB_PART_GRID});
	tb_root_waits_draw(&waits, trees, pane, picture, box);
	for (uint32_t i = 0; i < trees->n_bins; i++) {
		struct tb_box slice = tb_root_slice(pane->data, trees, box, i);
		double y = box.y + box.h - (box.h - 2) * waits.n_links[i] / most;
		if (waits.n_links[i])
			tb_picture_rect(picture,
				(struct tb_box){slice.x, y - 1, slice.w, 2},
				palette->accent);
	}
	tb_time_axis_draw(pane->style, picture, box, 0,
		tb_window_end_ps(pane->data->info, (struct tb_window){0}));
}

// Columns of the flows that waited; those of names follow.
enum { LEAST, MOST, WHO, WHOM, WHERE, N_VICTIM_COLUMNS };

static void draw_victim(const struct tb_list_cell *cell)
{
	const struct tb_pane *pane = cell->pane;
	const struct tb_run *run = pane->data->run;
	const struct tb_root_victim *victim = &roots_of(pane)->victims.list[cell->row];
	const struct tb_blame_sample *at =
		&tb_viewer_blame(pane->viewer)->rows[victim->row];
	bool exact = victim->least_ps == victim->most_ps;
	char text[160];
	switch (cell->what) {
	case LEAST:
		tb_list_cell_number(cell, false,
			victim->least_ps ? TB_METRIC_TEXT(TB_WAIT, victim->least_ps)
					 : "-");
		return;
	case MOST:
		tb_list_cell_number(cell, false,
			exact ? "=" : TB_METRIC_TEXT(TB_WAIT, victim->most_ps));
		return;
	case WHO:
		tb_run_pair_text(run, at->victim_source, at->victim_destination,
			cell->box.w, text, sizeof text);
		break;
	case WHOM:
		tb_run_pair_text(run, at->culprit_source, at->culprit_destination,
			cell->box.w, text, sizeof text);
		break;
	default:
		snprintf(text, sizeof text, "%s",
			tb_viewer_wait_label(pane->data, victim->row));
	}
	tb_list_cell_name(cell, text);
}

static struct tb_pick pick_victim(const struct tb_list_view *list, uint32_t row)
{
	const struct roots_state *roots = list->context;
	return (struct tb_pick){TB_PICK_PAIR, roots->victims.list[row].row};
}

// victims_view returns the list in a place, below its title; only whole rows are shown.
static struct tb_list_view victims_view(const struct tb_pane *pane, struct tb_box box,
	struct tb_view_column columns[N_VICTIM_COLUMNS])
{
	struct roots_state *roots = roots_of(pane);
	// Where no wait is sure, there is nothing that it was at least.
	bool sure = roots->victims.n && roots->victims.list[0].least_ps > 0;
	size_t n = 0;
	for (int what = sure ? LEAST : MOST; what <= MOST; what++) {
		columns[n] = (struct tb_view_column){.what = what,
			.title = what == LEAST ? "Wait, at least"
				 : sure	       ? "at most"
					       : "Wait, at most",
			.brief = "at most",
			.x = (double)n * TB_LIST_FIGURE_W,
			.w = TB_LIST_FIGURE_W,
			.align = TB_ALIGN_RIGHT};
		n++;
	}
	n += tb_list_view_names(columns + n, WHO, (double)n * TB_LIST_FIGURE_W, box.w,
		&roots->names, tb_viewer_wait_title(pane->data));
	return (struct tb_list_view){.context = roots,
		.draw = draw_victim,
		.columns = columns,
		.n_columns = n,
		.pick = pick_victim,
		.chosen = pane->selection->selected,
		.body = {box.x, box.y + 18 + LINE_H, box.w,
			fmax(floor((box.h - 17) / LINE_H) - 1, 1) * LINE_H},
		.n = roots->victims.n,
		.row_h = LINE_H,
		.gap = 1,
		.scroll = &roots->scroll,
		.notch = 3};
}

static void draw_victims(struct tb_pane *pane, struct tb_picture *picture,
	struct tb_box box, const struct tb_trees *trees)
{
	const struct tb_heavy_waits *waits = tb_viewer_blame(pane->viewer);
	struct roots_state *roots = roots_of(pane);
	struct tb_root_victims *victims = &roots->victims;
	struct tb_view_column columns[N_VICTIM_COLUMNS];
	if (!waits || !pane->data->of_trees.wait_ps || box.h < 3 * LINE_H)
		return;
	bool read = victims->listed && victims->root.id == roots->shape.root.id;
	if (tb_root_victims_read(victims, trees, waits, pane->data->of_trees.wait_ps,
		    roots->shape.root) != TB_OK) {
		picture->status = TB_ENOMEM;
		return;
	}
	if (!read) {
		roots->scroll = 0;
		roots->names = (struct tb_name_widths){0, 0, 0};
		for (uint32_t i = 0; i < victims->n; i++)
			tb_name_widths_add(&roots->names, pane->data->run,
				&waits->rows[victims->list[i].row],
				tb_viewer_wait_label(pane->data, victims->list[i].row));
	}
	static const char *const sure[] = {
		"flows that waited for it, whole run; = is no more than at least, - "
		"perhaps not at all",
		"flows that waited for it, whole run", NULL};
	static const char *const perhaps[] = {
		"flows that waited at its links, for it or for other roots, whole run",
		"flows that waited at its links, perhaps for it", NULL};
	static const char *const none[] = {
		"which flows waited for it is not known: others have the heaviest waits "
		"of the run",
		"which flows waited for it is not known", NULL};
	tb_picture_fitting(picture, (struct tb_box){box.x, box.y, box.w, 16},
		tb_style_type(pane->style, TB_FONT_TEXT, 11, true),
		victims->n == 0			? none
		: victims->list[0].least_ps > 0 ? sure
						: perhaps);
	const struct tb_list_view list = victims_view(pane, box, columns);
	if (victims->n)
		tb_list_view_draw_titles(&list, pane, picture, box.y + 17, LINE_H);
	tb_list_view_draw(&list, pane, picture);
}

static void root_draw(struct tb_pane *pane, struct tb_picture *picture)
{
	const struct tb_trees *trees = tb_viewer_trees(pane->viewer);
	if (!roots_of(pane) || !trees)
		return;
	if (trees->n_roots == 0) {
		tb_pane_no_waits(pane, picture, "trees are");
		return;
	}
	if (root_prepare(pane, trees) != TB_OK) {
		picture->status = TB_ENOMEM;
		return;
	}
	struct roots_state *roots = roots_of(pane);
	struct roots_parts parts = root_parts(pane);
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
	draw_root_title(pane, picture, parts.title);
	struct tb_box box = parts.branches;
	const struct tb_tree_shape *shape = &roots_of(pane)->shape;
	tb_picture_clip(picture, box);
	for (uint32_t i = 0; i < shape->n; i++)
		draw_branch(pane, picture, branch_box(shape, &shape->branches[i], box),
			&shape->branches[i]);
	tb_picture_unclip(picture);
	struct tb_type type = tb_style_type(pane->style, TB_FONT_TEXT, 11, true);
	char text[160];
	if (shape->n_shown == 0 && shape->branches_ps < shape->whole_ps)
		tb_pane_again(pane, picture,
			(struct tb_box){box.x, box.y + box.h / 2, box.w, 16},
			"The store has no link of this tree: an earlier version kept "
			"4,096 links of all trees together. This keeps them:");
	snprintf(text, sizeof text,
		"below each link those that waited for it%s; width: in the whole run, "
		"shade: in the window",
		shape->branches_ps < shape->whole_ps ? ", the heaviest, at least" : "");
	tb_picture_fitting(picture, (struct tb_box){box.x, box.y + box.h + 3, box.w, 15},
		type,
		(const char *const[]){text, "width: whole run, shade: window", NULL});
	if (parts.chart.h > 0)
		draw_chart(pane, picture, parts.chart, trees);
	draw_victims(pane, picture, parts.victims, trees);
}

static void root_pointer(struct tb_pane *pane, const struct tb_pointer_event *event)
{
	struct roots_state *roots = roots_of(pane);
	bool in_list = tb_box_holds(root_parts(pane).list, event->x, event->y);
	bool in_chart = event->pick.kind == TB_PICK_PART;
	if (!roots)
		return;
	struct tb_view_column columns[N_VICTIM_COLUMNS];
	bool in_victims = tb_box_holds(root_parts(pane).victims, event->x, event->y);
	const struct tb_list_view list =
		in_victims ? victims_view(pane, root_parts(pane).victims, columns)
			   : tb_root_list_view(&roots->list, root_parts(pane).list);
	if ((!(in_list || in_victims) || !tb_list_view_pointer(&list, event)) &&
		in_chart &&
		(event->kind == TB_EVENT_CLICK || event->kind == TB_EVENT_DRAG)) {
		// Make the window the slice under the pointer.
		double x = event->x;
		const struct tb_trees *trees = tb_viewer_trees(pane->viewer);
		struct tb_box chart = root_parts(pane).chart;
		struct tb_window window;
		if (trees && trees->n_bins != 0 && trees->bin_ps > 0) {
			double slice_w = tb_root_slice(pane->data, trees, chart, 0).w;
			uint32_t slice = (uint32_t)fmin(
				fmax((x - chart.x) / slice_w, 0), trees->n_bins - 1);
			struct tb_span span = tb_trees_span(trees, slice, slice + 1);
			if (tb_window_between(pane->data->info, span.from_ps, span.to_ps,
				    &window, NULL) == TB_OK)
				tb_viewer_show(pane->viewer, window, pane->data->metric);
		}
	}
}

// root_step selects the previous root of the list (by -1), or the next.
static void root_step(struct tb_pane *pane, int by)
{
	const struct roots_state *roots = roots_of(pane);
	struct tb_link root = tb_root_list_step(&roots->list, roots->shape.root, by);
	if (root.id != TB_ID_NONE)
		tb_viewer_select(pane->viewer, (struct tb_pick){TB_PICK_LINK, root.id});
}

static bool root_request(struct tb_pane *pane, const struct tb_request *asked)
{
	struct roots_state *roots = roots_of(pane);
	if (!roots || !roots->shaped)
		return false;
	switch ((int)asked->name) {
	case TB_REQUEST_PAN_UP:
		root_step(pane, -1);
		return true;
	case TB_REQUEST_PAN_DOWN:
		root_step(pane, 1);
		return true;
	case TB_REQUEST_FIT:
		roots->list.scroll = roots->scroll = 0;
		return true;
	default:
		return false;
	}
}

static void root_tip(const struct tb_pane *pane, struct tb_tip *tip)
{
	struct tb_pick pick = tip->pick;
	const struct roots_state *roots = roots_of(pane);
	if (!roots || !roots->shaped || pick.kind != TB_PICK_LINK)
		return;
	const struct tb_tree_shape *shape = &roots->shape;
	for (uint32_t i = 0; i < shape->n; i++) {
		const struct tb_branch *branch = &shape->branches[i];
		if (branch->link.id != pick.index)
			continue;
		tb_tip_line(tip, 1,
			"for this root: %s within the window, %s in the whole run",
			TB_METRIC_TEXT(TB_WAIT, branch->shown_ps),
			TB_METRIC_TEXT(TB_WAIT, branch->whole_ps));
		tb_tip_line(tip, 2,
			i == 0 ? "the root: all below waited for it in the end"
			       : "packets arriving over it waited, in the end, for the "
				 "root");
	}
}

static void root_put_csv(struct tb_pane *pane, FILE *stream)
{
	const struct tb_trees *trees = tb_viewer_trees(pane->viewer);
	struct roots_state *roots = roots_of(pane);
	double whole_ps = 0;
	fputs("rank,root", stream);
	tb_wait_figures_put_keys(tb_root_looks, stream);
	fputc('\n', stream);
	if (!roots || !trees ||
		tb_root_list_read(&roots->list, trees, tb_slices_of(pane->data, trees),
			tb_selection_outside(pane->selection)) != TB_OK)
		return;
	for (uint32_t i = 0; i < roots->list.n; i++)
		whole_ps += (double)roots->list.roots[i].shown_ps;
	for (uint32_t i = 0; i < roots->list.n; i++) {
		const struct tb_tree_root *root = &roots->list.roots[i];
		// How many waits that are is not kept by slice of time.
		const struct tb_listed_wait wait = {.wait_ps = (int64_t)root->shown_ps,
			.waits = -1,
			.links = root->n_links,
			.whole_ps = whole_ps};
		fprintf(stream, "%" PRIu32 ",", i + 1);
		tb_csv_put(stream, tb_run_links(pane->data->run)[root->root.id].label);
		tb_wait_figures_put(tb_root_looks, &wait, stream);
		fputc('\n', stream);
	}
}

const struct tb_view tb_view_roots = {.slot = TB_SLOT_MAIN,
	.about = "Packets that wait for each other form trees. At the root is the link "
		 "for which all of them wait in the end: relieve that one first. A click "
		 "on a link below it shows who waits there.",
	.put_csv = root_put_csv,
	.shows_trees = true,
	.is_there = tb_pane_is_replayed,
	.name = "trees",
	.tab = "Congestion trees",
	.brief_tab = "Trees",
	.state_size = sizeof(struct roots_state),
	.open = open_roots,
	.draw = root_draw,
	.request = root_request,
	.pointer = root_pointer,
	.tip = root_tip,
	.forget = tb_pane_drop,
	.close = close_roots};

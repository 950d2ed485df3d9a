// The tooltip: what is under the pointer, in words, beside it.
#include "scale.h"
#include "viewer_impl.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

static void tooltip_draw(const struct tb_viewer *viewer, struct tb_picture *picture);

// What lies on top of all views: the keys, notices, trouble; a tooltip by tooltip.c.

#define KEYS_W 120

#define GROUPS_GAP 18 // between the groups of a column, together

// begins_group is true for the first row of a group.
static bool begins_group(const struct tb_request_row *rows, int i)
{
	return i == 0 || strcmp(rows[i].group, rows[i - 1].group) != 0;
}

static void draw_help(const struct tb_viewer *viewer, struct tb_picture *picture)
{
	const struct tb_palette *palette = tb_palette_of(viewer->style.theme);
	const struct tb_request_row *rows = tb_request_rows();
	const double column_w = fmin(484, (picture->width - 60) / 2);
	// The second column begins with the group in which the first half ends.
	int n_lines = TB_N_REQUESTS, half = 0, second = 0, per_column = 0;
	for (int i = 0; i < TB_N_REQUESTS; i++)
		n_lines += begins_group(rows, i);
	for (int i = 0; i < TB_N_REQUESTS; i++) {
		if (begins_group(rows, i) && 2 * (half + 1) <= n_lines) {
			second = i;
			per_column = half;
		}
		half += 1 + begins_group(rows, i);
	}
	per_column = (int)fmax(per_column, n_lines - per_column);
	const double line_h =
		fmin(21, floor((picture->height - 120 - GROUPS_GAP) / per_column));
	struct tb_colour veil = palette->page;
	veil.a = 200;
	tb_picture_rect(
		picture, (struct tb_box){0, 0, picture->width, picture->height}, veil);
	struct tb_box box = {
		0, 0, 2 * column_w + 40, per_column * line_h + 108 + GROUPS_GAP};
	box.x = round((picture->width - box.w) / 2);
	box.y = round((picture->height - box.h) / 2);
	tb_picture_rect(picture, box, palette->panel);
	tb_picture_frame(picture, box, 1, palette->line);
	tb_picture_text(picture, (struct tb_box){box.x + 24, box.y + 16, 400, 24},
		tb_style_type(&viewer->style, TB_FONT_BOLD, 16, false), "Keys");
	double x = box.x + 24, y = box.y + 48;
	for (int i = 0; i < TB_N_REQUESTS; i++) {
		if (i == second) {
			x += column_w;
			y = box.y + 48;
		}
		if (begins_group(rows, i)) {
			y += y > box.y + 48 ? GROUPS_GAP / 3 : 0;
			tb_picture_text(picture, (struct tb_box){x, y, column_w, line_h},
				tb_style_type(&viewer->style, TB_FONT_BOLD, 12, false),
				rows[i].group);
			y += line_h;
		}
		// "1 2 3 4 5 6 7 8 9" reads better as "1 to 9".
		const char *keys = i == TB_REQUEST_METRIC ? "1 to 9"
				   : i == TB_REQUEST_VIEW ? "F2 to F11"
							  : rows[i].keys;
		tb_picture_text(picture, (struct tb_box){x, y, KEYS_W, line_h},
			tb_style_type(&viewer->style, TB_FONT_MONO, 12, false), keys);
		tb_picture_text(picture,
			(struct tb_box){
				x + KEYS_W + 4, y, column_w - KEYS_W - 12, line_h},
			tb_style_type(&viewer->style, TB_FONT_TEXT, 12, true),
			rows[i].help);
		y += line_h;
	}
	tb_picture_text(picture,
		(struct tb_box){box.x + 24, box.y + box.h - 38, box.w - 48, 20},
		tb_style_type(&viewer->style, TB_FONT_TEXT, 12, false),
		"Mouse: wheel zooms at the pointer, drag moves, click selects, double "
		"click zooms in. On the time strip, drag selects a window.");
}

static void draw_banner(const struct tb_viewer *viewer, struct tb_picture *picture,
	const char *text, bool trouble)
{
	const struct tb_palette *palette = tb_palette_of(viewer->style.theme);
	double w = fmin(tb_text_width(TB_FONT_TEXT, 13, text) + 44, picture->width - 20);
	struct tb_box box = {round((picture->width - w) / 2),
		viewer->panes.slots[TB_SLOT_TIME].y - 42, w, 34};
	if (!viewer->data.run) {
		box.y = round(picture->height / 2) - 17;
		tb_picture_text(picture,
			(struct tb_box){0, box.y - 40, picture->width, 24},
			(struct tb_type){
				TB_FONT_BOLD, 16, TB_ALIGN_CENTRE, palette->text},
			"Nothing to show");
	}
	tb_picture_rect(picture, box, palette->raised);
	tb_picture_rect(picture, (struct tb_box){box.x, box.y, 4, box.h},
		trouble ? palette->accent : palette->muted);
	tb_picture_text(picture, (struct tb_box){box.x + 22, box.y, box.w - 44, box.h},
		tb_style_type(&viewer->style, TB_FONT_TEXT, 13, false), text);
}

void tb_overlay_draw(const struct tb_viewer *viewer, struct tb_picture *picture)
{
	const struct tb_notices *messages = &viewer->messages;
	if (messages->trouble[0])
		draw_banner(viewer, picture, messages->trouble, true);
	else if (messages->notice_s > 0)
		draw_banner(viewer, picture, messages->notice, false);
	else if (messages->reading) {
		const char *what = messages->reading;
		char text[80];
		snprintf(text, sizeof text, "%s ...", what);
		draw_banner(viewer, picture, text, false);
	}
	if (viewer->help)
		draw_help(viewer, picture);
	else if (viewer->prompt.kind != TB_PROMPT_NONE)
		tb_prompt_draw(&viewer->prompt, &viewer->style, viewer->selection.hovered,
			picture);
	else
		tooltip_draw(viewer, picture);
}

#define TIP_PAD	 10
#define TIP_LINE 17
#define TIP_GAP	 6
#define POINTER	 24 // what the pointer itself covers

// What a cell of the matrix or a row of the list stands for.
struct tooltip_counted {
	const char *kind, *name;
	uint64_t value;
	uint64_t largest; // of its kind in the matrix; 0: not in the matrix
	enum tb_known known;
};

static void tip_cell(const struct tb_viewer *viewer, struct tb_tip *tip,
	const struct tooltip_counted *cell)
{
	char amount[48];
	tb_tip_line(tip, 0, "%s %s", cell->kind, cell->name);
	tip->n_lines = 2;
	if (cell->known == TB_NOT_MEASURED) {
		tb_tip_line(tip, 1, "not measured: no port at its %s counted that",
			strcmp(cell->kind, "link") == 0 ? "ends" : "links");
		return;
	}
	tb_metric_format(viewer->data.metric, cell->value, amount, sizeof amount);
	if (cell->largest)
		tb_tip_line(tip, 1, "%s %s, %.1f %% of the most loaded %s",
			tb_link_figures[viewer->data.metric].name, amount,
			100.0 * (double)cell->value / (double)cell->largest, cell->kind);
	else
		tb_tip_line(tip, 1, "%s %s", tb_link_figures[viewer->data.metric].name,
			amount);
	tb_metric_meaning(viewer->data.metric, viewer->data.info->words, tip->lines[2],
		sizeof tip->lines[2]);
	tip->n_lines = 3;
}

// tooltip_visible returns the part of a box that its pane shows.
static struct tb_box tooltip_visible(struct tb_box box, struct tb_box place)
{
	double x = fmax(box.x, place.x), y = fmax(box.y, place.y);
	return (struct tb_box){x, y, fmin(box.x + box.w, place.x + place.w) - x,
		fmin(box.y + box.h, place.y + place.h) - y};
}

static void tip_switch(const struct tb_viewer *viewer, struct tb_tip *tip, uint32_t sw)
{
	const struct tb_matrix_box *box =
		tb_matrix_box_of(&viewer->data.matrix, (struct tb_switch){sw});
	enum tb_known known = tb_known_of(
		tb_run_switches(viewer->data.run)[sw].known, viewer->data.metric);
	tip_cell(viewer, tip,
		&(struct tooltip_counted){"switch",
			tb_run_switches(viewer->data.run)[sw].name, box ? box->sum : 0,
			viewer->data.matrix.largest_switch, known});
	if (known == TB_NOT_MEASURED)
		return;
	tb_tip_line(tip, 2,
		tb_link_figures[viewer->data.metric].adds == TB_ADDS_MOST
			? "the largest on its %s%s"
			: "the sum over its %s%s",
		viewer->data.matrix.leaves ? "outgoing links" : "incoming links",
		!box || !box->n_nodes	     ? ""
		: viewer->data.matrix.leaves ? " and those from nodes"
					     : " and those to nodes");
}

static void tip_of(const struct tb_viewer *viewer, struct tb_tip *tip)
{
	uint32_t index = tip->pick.index;
	const struct tb_run_link *link;
	switch ((int)tip->pick.kind) {
	case TB_PICK_LINK:
		link = &tb_run_links(viewer->data.run)[index];
		tip_cell(viewer, tip,
			&(struct tooltip_counted){"link", link->name,
				tb_metric_of(&viewer->data.samples[index],
					viewer->data.metric),
				viewer->data.matrix.largest_link,
				tb_known_of(link->known, viewer->data.metric)});
		break;
	case TB_PICK_SWITCH:
		tip_switch(viewer, tip, index);
		break;
	case TB_PICK_METRIC:
		tb_tip_line(tip, 0, "%s", tb_metric_title((enum tb_metric)index));
		tb_metric_meaning((enum tb_metric)index, viewer->data.info->words,
			tip->lines[1], sizeof tip->lines[1]);
		tip->n_lines = 2;
		break;
	case TB_PICK_BUTTON: {
		const struct tb_request_row *row = &tb_request_rows()[index];
		tb_tip_line(tip, 0, "%s", row->help);
		tb_tip_line(tip, 1, "key: %.*s", (int)strcspn(row->keys, " "), row->keys);
	} break;
	case TB_PICK_NODE: {
		const char *name =
			tb_run_node_name(viewer->data.run, (struct tb_node){index});
		tb_tip_line(
			tip, 0, "node %" PRIu32 "%s%s", index, name[0] ? ": " : "", name);
	} break;
	default:
		break;
	}
	// Let the view under the pointer explain its own parts.
	const struct tb_pane *pane = tb_panes_at(&viewer->panes, tip->x, tip->y);
	if (!pane)
		return;
	if (pane->view->slot == TB_SLOT_LIST || pane->view->slot == TB_SLOT_DETAIL)
		tip->side = TB_TIP_LEFT;
	if (pane->view->tip)
		pane->view->tip(pane, tip);
	if (tip->side == TB_TIP_LEFT) {
		tip->about.x = pane->place.x;
		tip->about.w = pane->place.w;
	}
	tip->about = tooltip_visible(tip->about, pane->place);
}

// tooltip_about returns the box of what is under the pointer, as far as it is visible: a
// line only there.
static struct tb_box tooltip_about(const struct tb_viewer *viewer,
	const struct tb_picture *picture, const struct tb_mouse *mouse)
{
	const struct tb_pane *pane = tb_panes_at(&viewer->panes, mouse->x, mouse->y);
	struct tb_box box = {
		mouse->x - POINTER / 2.0, mouse->y - POINTER / 2.0, POINTER, POINTER};
	struct tb_box hit;
	struct tb_pick pick;
	if (!pane || !tb_picture_hit(picture, mouse->x, mouse->y, &pick, &hit) ||
		!tb_box_holds(hit, mouse->x, mouse->y))
		return box;
	return tooltip_visible(hit, pane->place);
}

// tooltip_beside_run moves `box` to a side of `about` where it has room: the one that the
// tip asks for, else the first of them that has; false when none has. It stays left of
// `end`.
static bool tooltip_beside_run(struct tb_box *box, struct tb_box about,
	const struct tb_tip *tip, double end, const struct tb_picture *picture)
{
	double right = fmax(end - box->w, 0);
	double bottom = fmax(picture->height - box->h, 0);
	const double at[] = {[TB_TIP_BELOW] = ceil(about.y + about.h + TIP_GAP),
		[TB_TIP_ABOVE] = floor(about.y - TIP_GAP - box->h),
		[TB_TIP_RIGHT] = ceil(about.x + about.w + TIP_GAP),
		[TB_TIP_LEFT] = floor(about.x - TIP_GAP - box->w)};
	box->x = round(fmin(fmax(tip->x, 0), right));
	box->y = round(fmin(fmax(tip->y, 0), bottom));
	for (int i = -1; i <= TB_TIP_LEFT; i++) {
		enum tb_tip_side side = i < 0 ? tip->side : (enum tb_tip_side)i;
		bool upright = side == TB_TIP_BELOW || side == TB_TIP_ABOVE;
		if (at[side] < 0 || at[side] > (upright ? bottom : right))
			continue;
		*(upright ? &box->y : &box->x) = at[side];
		return true;
	}
	return false;
}

// tooltip_draw explains what is under the pointer, if anything, beside it.
static void tooltip_draw(const struct tb_viewer *viewer, struct tb_picture *picture)
{
	const struct tb_mouse *mouse = &viewer->mouse;
	if (!viewer->data.run || !mouse->in || mouse->pressed || mouse->rests)
		return;
	struct tb_tip tip = {
		.x = mouse->x, .y = mouse->y, .pick = viewer->selection.hovered};
	const struct tb_box narrow = tip.about = tooltip_about(viewer, picture, mouse);
	tip_of(viewer, &tip);
	if (tip.n_lines == 0)
		return;
	double w = 0;
	for (int i = 0; i < tip.n_lines; i++)
		w = fmax(w, tb_text_width(i == 0 ? TB_FONT_BOLD : TB_FONT_TEXT,
				    i == 0 ? 12 : 11, tip.lines[i]));
	struct tb_box box = {.w = fmin(ceil(w) + 2 * TIP_PAD, picture->width),
		.h = tip.n_lines * TIP_LINE + 2 * TIP_PAD - 4};
	const struct tb_box pointer = {
		tip.x - POINTER / 2.0, tip.y - POINTER / 2.0, POINTER, POINTER};
	// That of a view does not cover the panel beside it.
	const struct tb_box main = viewer->panes.slots[TB_SLOT_MAIN];
	double end = tb_box_holds(main, tip.x, tip.y) && box.w <= main.w ? main.x + main.w
									 : picture->width;
	// What fills the window is covered, but not where the pointer is.
	if (!tooltip_beside_run(&box, tip.about, &tip, end, picture) &&
		!tooltip_beside_run(&box, narrow, &tip, end, picture))
		(void)tooltip_beside_run(&box, pointer, &tip, end, picture);
	const struct tb_palette *palette = tb_palette_of(viewer->style.theme);
	tb_picture_rect(picture, box, palette->raised);
	tb_picture_frame(picture, box, 1, palette->line);
	for (int i = 0; i < tip.n_lines; i++) {
		struct tb_box line = {box.x + TIP_PAD, box.y + TIP_PAD - 2 + i * TIP_LINE,
			box.w - 2 * TIP_PAD, TIP_LINE};
		tb_picture_text(picture, line,
			tb_style_type(&viewer->style,
				i == 0 ? TB_FONT_BOLD : TB_FONT_TEXT, i == 0 ? 12 : 11,
				i == 2),
			tip.lines[i]);
	}
}

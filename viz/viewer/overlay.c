// What lies on top of all views: the tooltip at the pointer, the keys, notices, trouble.
#include "metric_text.h"
#include "run_text.h"
#include "viewer_impl.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#define TIP_PAD	 10
#define TIP_LINE 17
#define KEYS_W	 120

// What a cell of the matrix or a row of the list stands for.
struct counted {
	const char *kind, *name;
	uint64_t value;
	uint64_t largest; // of its kind in the matrix; 0: not in the matrix
};

static void tip_cell(
	const struct tb_viewer *viewer, struct tb_tip *tip, const struct counted *cell)
{
	char amount[48];
	snprintf(tip->lines[0], sizeof tip->lines[0], "%s %s", cell->kind, cell->name);
	tb_metric_format(viewer->data.metric, cell->value, amount, sizeof amount);
	if (cell->largest)
		snprintf(tip->lines[1], sizeof tip->lines[1],
			"%s %s, %.1f %% of the most loaded %s",
			tb_metric_name(viewer->data.metric), amount,
			100.0 * (double)cell->value / (double)cell->largest, cell->kind);
	else
		snprintf(tip->lines[1], sizeof tip->lines[1], "%s %s",
			tb_metric_name(viewer->data.metric), amount);
	tb_metric_meaning(viewer->data.metric, viewer->data.info->words, tip->lines[2],
		sizeof tip->lines[2]);
	tip->n_lines = 3;
}

static const struct tb_matrix_box *box_of(const struct tb_matrix *matrix, uint32_t sw)
{
	for (uint32_t row = 0; row < matrix->n_rows; row++)
		for (uint32_t i = 0; i < matrix->rows[row].n_boxes; i++)
			if (matrix->rows[row].boxes[i].sw.id == sw)
				return &matrix->rows[row].boxes[i];
	return NULL;
}

static void tip_button(struct tb_tip *tip, uint32_t request)
{
	const struct tb_request_row *row = &tb_request_rows()[request];
	snprintf(tip->lines[0], sizeof tip->lines[0], "%s", row->help);
	snprintf(tip->lines[1], sizeof tip->lines[1], "key: %.*s",
		(int)strcspn(row->keys, " "), row->keys);
	tip->n_lines = 2;
}

// tip_of_view lets the view under the pointer explain its own parts.
static void tip_of_view(const struct tb_viewer *viewer, struct tb_tip *tip)
{
	const struct tb_pane *pane = tb_panes_at(&viewer->panes, tip->x, tip->y);
	if (pane && pane->view->tip)
		pane->view->tip(pane, tip);
}

static void tip_node(const struct tb_viewer *viewer, struct tb_tip *tip, uint32_t node)
{
	const char *name = tb_run_node_name(viewer->data.run, (struct tb_node){node});
	snprintf(tip->lines[0], sizeof tip->lines[0], "node %" PRIu32 "%s%s", node,
		name[0] ? ": " : "", name);
	tip->n_lines = 1;
}

static void tip_of(const struct tb_viewer *viewer, struct tb_tip *tip)
{
	uint32_t index = tip->pick.index;
	const struct tb_matrix_box *box;
	const struct tb_run_link *link;
	switch ((int)tip->pick.kind) {
	case TB_PICK_LINK:
		link = &tb_run_links(viewer->data.run)[index];
		tip_cell(viewer, tip,
			&(struct counted){"link", link->name,
				tb_metric_of(&viewer->data.samples[index],
					viewer->data.metric),
				link->at.kind == TB_LINK_EJECTION
					? 0
					: viewer->data.matrix.largest_link});
		break;
	case TB_PICK_SWITCH:
		box = box_of(&viewer->data.matrix, index);
		tip_cell(viewer, tip,
			&(struct counted){"switch",
				tb_run_switches(viewer->data.run)[index].name,
				box ? box->sum : 0, viewer->data.matrix.largest_switch});
		snprintf(tip->lines[2], sizeof tip->lines[2],
			viewer->data.metric == TB_LONGEST
				? "the longest on its incoming links"
				: "the sum over its incoming links");
		break;
	case TB_PICK_METRIC:
		snprintf(tip->lines[0], sizeof tip->lines[0], "%s",
			tb_metric_title((enum tb_metric)index));
		tb_metric_meaning((enum tb_metric)index, viewer->data.info->words,
			tip->lines[1], sizeof tip->lines[1]);
		tip->n_lines = 2;
		break;
	case TB_PICK_BUTTON:
		tip_button(tip, index);
		break;
	case TB_PICK_NODE:
		tip_node(viewer, tip, index);
		break;
	default:
		break;
	}
	tip_of_view(viewer, tip);
}

static void draw_tip(const struct tb_viewer *viewer, struct tb_picture *picture)
{
	const struct tb_palette *palette = tb_palette_of(viewer->style.theme);
	const struct tb_mouse *mouse = &viewer->mouse;
	struct tb_tip tip = {
		.x = mouse->x, .y = mouse->y, .pick = viewer->selection.hovered};
	tip_of(viewer, &tip);
	if (tip.n_lines == 0)
		return;
	double w = 0;
	for (int i = 0; i < tip.n_lines; i++)
		w = fmax(w, tb_text_width(i == 0 ? TB_FONT_BOLD : TB_FONT_TEXT,
				    i == 0 ? 12 : 11, tip.lines[i]));
	w = fmin(ceil(w) + 2 * TIP_PAD, picture->width);
	double h = tip.n_lines * TIP_LINE + 2 * TIP_PAD - 4;
	// Below and right of the pointer, or on its other side where there is no room.
	double x = tip.x + 16 + w > picture->width ? tip.x - 12 - w : tip.x + 16;
	double y = tip.y + 20 + h > picture->height ? tip.y - 12 - h : tip.y + 20;
	struct tb_box box = {round(fmax(x, 0)), round(fmax(y, 0)), w, h};
	tb_picture_rect(picture, box, palette->raised);
	tb_picture_frame(picture, box, 1, palette->line);
	for (int i = 0; i < tip.n_lines; i++) {
		struct tb_box line = {box.x + TIP_PAD, box.y + TIP_PAD - 2 + i * TIP_LINE,
			w - 2 * TIP_PAD, TIP_LINE};
		tb_picture_text(picture, line,
			tb_style_type(&viewer->style,
				i == 0 ? TB_FONT_BOLD : TB_FONT_TEXT, i == 0 ? 12 : 11,
				i == 2),
			tip.lines[i]);
	}
}

static void draw_help(const struct tb_viewer *viewer, struct tb_picture *picture)
{
	const struct tb_palette *palette = tb_palette_of(viewer->style.theme);
	const struct tb_request_row *rows = tb_request_rows();
	const double line_h = 21;
	const double column_w = fmin(484, (picture->width - 60) / 2);
	const int per_column = (TB_N_REQUESTS + 1) / 2;
	struct tb_colour veil = palette->page;
	veil.a = 200;
	tb_picture_rect(
		picture, (struct tb_box){0, 0, picture->width, picture->height}, veil);
	struct tb_box box = {0, 0, 2 * column_w + 40, per_column * line_h + 112};
	box.x = round((picture->width - box.w) / 2);
	box.y = round((picture->height - box.h) / 2);
	tb_picture_rect(picture, box, palette->panel);
	tb_picture_frame(picture, box, 1, palette->line);
	tb_picture_text(picture, (struct tb_box){box.x + 24, box.y + 16, 400, 24},
		tb_style_type(&viewer->style, TB_FONT_BOLD, 16, false), "Keys");
	for (int i = 0; i < TB_N_REQUESTS; i++) {
		double x = box.x + 24 + (i / per_column) * column_w;
		double y = box.y + 50 + (i % per_column) * line_h;
		// "1 2 3 4 5 6 7" reads better as "1 to 7".
		const char *keys = i == TB_REQUEST_METRIC ? "1 to 7"
				   : i == TB_REQUEST_VIEW ? "F2 to F10"
							  : rows[i].keys;
		tb_picture_text(picture, (struct tb_box){x, y, KEYS_W, line_h},
			tb_style_type(&viewer->style, TB_FONT_MONO, 12, false), keys);
		tb_picture_text(picture,
			(struct tb_box){
				x + KEYS_W + 4, y, column_w - KEYS_W - 12, line_h},
			tb_style_type(&viewer->style, TB_FONT_TEXT, 12, true),
			rows[i].help);
	}
	tb_picture_text(picture,
		(struct tb_box){box.x + 24, box.y + box.h - 42, box.w - 48, 20},
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
		viewer->panes.slots[TB_SLOT_TABS].y + 8, w, 34};
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

static void draw_reading(
	const struct tb_viewer *viewer, struct tb_picture *picture, const char *what)
{
	char text[80];
	snprintf(text, sizeof text, "%s ...", what);
	draw_banner(viewer, picture, text, false);
}

void tb_overlay_draw(const struct tb_viewer *viewer, struct tb_picture *picture)
{
	const struct tb_messages *messages = &viewer->messages;
	const struct tb_mouse *mouse = &viewer->mouse;
	if (messages->trouble[0])
		draw_banner(viewer, picture, messages->trouble, true);
	else if (messages->notice_s > 0)
		draw_banner(viewer, picture, messages->notice, false);
	else if (messages->reading)
		draw_reading(viewer, picture, messages->reading);
	if (viewer->help)
		draw_help(viewer, picture);
	else if (viewer->prompt.kind != TB_PROMPT_NONE)
		tb_prompt_draw(&viewer->prompt, &viewer->style, viewer->selection.hovered,
			picture);
	else if (viewer->data.run && mouse->in && !mouse->pressed)
		draw_tip(viewer, picture);
}

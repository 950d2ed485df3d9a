// What lies on top of all views: the keys, notices, trouble; a tooltip by tooltip.c.
#include "viewer_impl.h"

#include <math.h>

#define KEYS_W 120

static void draw_help(const struct tb_viewer *viewer, struct tb_picture *picture)
{
	const struct tb_palette *palette = tb_palette_of(viewer->style.theme);
	const struct tb_request_row *rows = tb_request_rows();
	const double column_w = fmin(484, (picture->width - 60) / 2);
	const int per_column = (TB_N_REQUESTS + 1) / 2;
	const double line_h = fmin(21, floor((picture->height - 132) / per_column));
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
		tb_tooltip_draw(viewer, picture);
}

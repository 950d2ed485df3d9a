// The tabs: which of the main views is shown, and how its numbers and shades are scaled.
#include "viewer_impl.h"

#include <math.h>

#define PAD   16
#define TAB_H 26

static double tab_width(const char *text)
{
	return ceil(tb_text_width(TB_FONT_BOLD, 12, text)) + 22;
}

static const char *text_of(enum tb_view_name name, bool brief)
{
	const struct tb_view *view = tb_viewer_view(name);
	return brief && view->brief_tab ? view->brief_tab : view->tab;
}

// all_width is how wide all tabs are, with PAD before them.
static double all_width(const struct tb_viewer *viewer, bool brief)
{
	double w = PAD;
	for (int i = TB_FIRST_MAIN; i <= TB_LAST_MAIN; i++)
		if (tb_viewer_has(viewer, (enum tb_view_name)i))
			w += tab_width(text_of((enum tb_view_name)i, brief));
	return w;
}

static void draw_tab(struct tb_viewer *viewer, struct tb_picture *picture,
	struct tb_box box, enum tb_view_name name, const char *text)
{
	const struct tb_palette *palette = tb_palette_of(viewer->theme);
	struct tb_pick pick = {TB_PICK_VIEW, name};
	bool chosen = viewer->main == name;
	bool under = tb_pick_equal(viewer->hovered, pick);
	struct tb_type type = tb_viewer_type(
		viewer, chosen ? TB_FONT_BOLD : TB_FONT_TEXT, 12, !chosen && !under);
	type.align = TB_ALIGN_CENTRE;
	tb_picture_rect(picture, box, chosen || under ? palette->raised : palette->page);
	tb_picture_pick(picture, pick);
	if (chosen)
		tb_picture_rect(picture, (struct tb_box){box.x, box.y, box.w, 2},
			palette->accent);
	tb_picture_text(picture, box, type, text);
}

static void draw(
	struct tb_viewer *viewer, struct tb_picture *picture, struct tb_box place)
{
	const char *scale = viewer->logarithmic ? "Log" : "Linear";
	const char *numbers = viewer->absolute ? "Absolute" : "Percent";
	double x = place.x + PAD;
	double y = place.y + place.h - TAB_H;
	bool brief = all_width(viewer, false) > place.w - PAD;
	for (int i = TB_FIRST_MAIN; i <= TB_LAST_MAIN; i++) {
		const char *text = text_of((enum tb_view_name)i, brief);
		if (!tb_viewer_has(viewer, (enum tb_view_name)i))
			continue;
		double w = tab_width(text);
		draw_tab(viewer, picture, (struct tb_box){x, y, w - 2, TAB_H},
			(enum tb_view_name)i, text);
		x += w;
	}
	double right = place.x + place.w - PAD;
	if (right - x < 150)
		return; // a narrow window: there are keys for these
	tb_viewer_button(viewer, picture, (struct tb_box){right - 62, y, 62, 22},
		TB_REQUEST_LOGARITHMIC, scale);
	tb_viewer_button(viewer, picture, (struct tb_box){right - 136, y, 70, 22},
		TB_REQUEST_ABSOLUTE, numbers);
}

const struct tb_view tb_view_tabs = {.name = "tabs", .draw = draw};

// Drawing and moving that views share.
#include "markup.h"
#include "run_text.h"
#include "view.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

bool tb_pane_move(struct tb_pane *pane, const struct tb_request *asked,
	struct tb_box area, const struct tb_pane_moves *moves)
{
	double x = area.x + area.w / 2, y = area.y + area.h / 2;
	switch ((int)asked->name) {
	case TB_REQUEST_FIT:
		moves->fit(pane);
		return true;
	case TB_REQUEST_ZOOM_IN:
		moves->zoom_at(pane, x, y, TB_ZOOM_STEP);
		return true;
	case TB_REQUEST_ZOOM_OUT:
		moves->zoom_at(pane, x, y, 1 / TB_ZOOM_STEP);
		return true;
	case TB_REQUEST_PAN_LEFT:
		moves->pan(pane, TB_PAN_STEP, 0);
		return true;
	case TB_REQUEST_PAN_RIGHT:
		moves->pan(pane, -TB_PAN_STEP, 0);
		return true;
	case TB_REQUEST_PAN_UP:
		moves->pan(pane, 0, TB_PAN_STEP);
		return true;
	case TB_REQUEST_PAN_DOWN:
		moves->pan(pane, 0, -TB_PAN_STEP);
		return true;
	default:
		return false;
	}
}

void tb_pane_nothing(
	const struct tb_pane *pane, struct tb_picture *picture, const char *why)
{
	struct tb_box place = pane->place;
	struct tb_type type = tb_style_type(pane->style, TB_FONT_TEXT, 13, false);
	type.align = TB_ALIGN_CENTRE;
	tb_picture_text(picture,
		(struct tb_box){place.x, place.y + place.h / 2 - 10, place.w, 20}, type,
		why);
}

void tb_pane_put_flow(const struct tb_pane *pane, FILE *stream, struct tb_node source,
	struct tb_node destination)
{
	char text[160] = "";
	if (source.id != TB_ID_NONE && destination.id != TB_ID_NONE)
		tb_run_pair_text(pane->data->run, source, destination, INFINITY, text,
			sizeof text);
	tb_csv_put(stream, text);
}

void tb_pane_too_early(
	const struct tb_pane *pane, struct tb_picture *picture, const char *what)
{
	char why[128];
	snprintf(why, sizeof why,
		"Nothing to show: %s written at the end of a run, and this one %s.", what,
		pane->data->replaying ? "is being replayed" : "was stopped early");
	tb_pane_nothing(pane, picture, why);
}

void tb_pane_button(const struct tb_pane *pane, struct tb_picture *picture,
	struct tb_box box, enum tb_request_name request, const char *text)
{
	const struct tb_palette *palette = tb_palette_of(pane->style->theme);
	struct tb_pick pick = {TB_PICK_BUTTON, request};
	bool under = tb_pick_equal(pane->selection->hovered, pick);
	tb_picture_rect(picture, box, under ? palette->line : palette->raised);
	tb_picture_pick(picture, pick);
	struct tb_type type = tb_style_type(pane->style, TB_FONT_TEXT, 12, false);
	type.align = TB_ALIGN_CENTRE;
	tb_picture_text(picture, box, type, text);
}

void tb_pane_drop(struct tb_pane *pane)
{
	if (pane->view->close && pane->state)
		pane->view->close(pane->state);
	free(pane->state);
	pane->state = NULL;
}

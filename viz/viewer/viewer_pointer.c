// The pointer: which view it is over, what it hits, clicks and drags.
#include "viewer_impl.h"

#include <math.h>

static void pointer_pass_on(struct tb_viewer *viewer, struct tb_pane *pane,
	const struct tb_pointer_event *event)
{
	viewer->stale = true;
	if (viewer->data.run && pane->view->pointer)
		pane->view->pointer(pane, event);
}

static struct tb_pick hit(struct tb_viewer *viewer, double x, double y)
{
	struct tb_pick pick;
	const struct tb_picture *picture = tb_viewer_picture(viewer);
	if (picture && tb_picture_hit(picture, x, y, &pick, NULL))
		return pick;
	return (struct tb_pick){TB_PICK_NONE, 0};
}

// press_prompt chooses an offer, or closes the prompt.
static void press_prompt(struct tb_viewer *viewer, struct tb_pick pick)
{
	viewer->stale = true;
	if (pick.kind != TB_PICK_RESULT) {
		viewer->prompt.kind = TB_PROMPT_NONE;
		return;
	}
	if (pick.index == TB_PROMPT_ABOUT) {
		tb_viewer_key(viewer, "Ctrl+T");
		return;
	}
	viewer->prompt.chosen = (int)pick.index;
	tb_viewer_accept(viewer);
}

static void press(struct tb_viewer *viewer, double x, double y)
{
	struct tb_mouse *mouse = &viewer->mouse;
	if (tb_viewer_typing(viewer)) {
		press_prompt(viewer, hit(viewer, x, y));
		return;
	}
	if (viewer->help) {
		viewer->help = false;
		viewer->stale = true;
		return;
	}
	if (!viewer->data.run && viewer->file.opening) {
		tb_opening_press(viewer->file.opening, hit(viewer, x, y));
		viewer->stale = true;
		return;
	}
	tb_mouse_press(mouse, tb_panes_at(&viewer->panes, x, y), hit(viewer, x, y));
	if (mouse->pressed)
		pointer_pass_on(viewer, mouse->grabbed,
			&(struct tb_pointer_event){.kind = TB_EVENT_PRESS,
				.x = x,
				.y = y,
				.pick = mouse->pick});
}

static void pointer_click(struct tb_viewer *viewer, struct tb_pick pick, bool adds)
{
	struct tb_mouse *mouse = &viewer->mouse;
	if (pick.kind == TB_PICK_BUTTON) {
		tb_viewer_ask(viewer,
			&(struct tb_request){(enum tb_request_name)pick.index, 0});
		return;
	}
	if (pick.kind == TB_PICK_METRIC) {
		tb_viewer_show(viewer, viewer->data.asked, (enum tb_metric)pick.index);
		return;
	}
	if (pick.kind == TB_PICK_VIEW)
		tb_viewer_go(viewer, &viewer->panes.list[pick.index]);
	if (tb_selection_can(pick) && adds)
		tb_viewer_add_end(viewer, pick);
	else if (tb_selection_can(pick) && mouse->grabbed->view->slot == TB_SLOT_DETAIL)
		tb_viewer_enter(viewer, pick);
	else if (tb_selection_can(pick))
		tb_viewer_select(viewer, pick);
	pointer_pass_on(viewer, mouse->grabbed,
		&(struct tb_pointer_event){.kind = TB_EVENT_CLICK,
			.x = mouse->x,
			.y = mouse->y,
			.pick = pick});
}

static void pointer_move(struct tb_viewer *viewer, double x, double y)
{
	struct tb_mouse *mouse = &viewer->mouse;
	double dx, dy;
	bool drags = tb_mouse_move(mouse, x, y, &dx, &dy);
	if (!mouse->pressed) {
		struct tb_selection *selection = &viewer->selection;
		struct tb_pick pick = hit(viewer, x, y);
		// A tooltip follows the pointer, so every move over an item changes the
		// picture.
		viewer->stale |= pick.kind != TB_PICK_NONE ||
				 !tb_pick_equal(pick, selection->hovered);
		selection->hovered = pick;
	} else if (drags)
		pointer_pass_on(viewer, mouse->grabbed,
			&(struct tb_pointer_event){.kind = TB_EVENT_DRAG,
				.x = x,
				.y = y,
				.dx = dx,
				.dy = dy,
				.pick = mouse->pick});
}

void tb_viewer_pointer(struct tb_viewer *viewer, enum tb_pointer what, double x, double y)
{
	pointer_move(viewer, x, y);
	if (what == TB_POINTER_PRESS)
		tb_viewer_note(viewer, false);
	if (what == TB_POINTER_PRESS)
		press(viewer, x, y);
	else if (what == TB_POINTER_RELEASE || what == TB_POINTER_ADD) {
		bool adds = what == TB_POINTER_ADD;
		struct tb_mouse *mouse = &viewer->mouse;
		bool clicks = mouse->pressed && !mouse->dragged;
		mouse->pressed = false;
		if (clicks)
			pointer_click(viewer, mouse->pick, adds);
	} else if (what == TB_POINTER_DOUBLE) {
		// Handle a double click, which follows its second release.
		struct tb_pane *pane = tb_panes_at(&viewer->panes, x, y);
		struct tb_pick pick = hit(viewer, x, y);
		if (tb_selection_can(pick))
			tb_viewer_ask(viewer, &(struct tb_request){TB_REQUEST_FOCUS, 0});
		if (pane)
			pointer_pass_on(viewer, pane,
				&(struct tb_pointer_event){.kind = TB_EVENT_DOUBLE,
					.x = x,
					.y = y,
					.pick = pick});
	}
	if (what != TB_POINTER_MOVE && what != TB_POINTER_PRESS)
		tb_viewer_note(viewer, false);
}

void tb_viewer_leave(struct tb_viewer *viewer)
{
	viewer->mouse.in = false;
	viewer->selection.hovered = (struct tb_pick){TB_PICK_NONE, 0};
	viewer->stale = true;
}

void tb_viewer_wheel(struct tb_viewer *viewer, double x, double y, double steps)
{
	pointer_move(viewer, x, y);
	struct tb_pane *pane = tb_panes_at(&viewer->panes, x, y);
	tb_viewer_note(viewer, false);
	if (tb_viewer_typing(viewer)) {
		tb_prompt_scroll(&viewer->prompt, -(int)lround(steps * 3));
		viewer->stale = true;
	} else if (pane)
		pointer_pass_on(viewer, pane,
			&(struct tb_pointer_event){
				.kind = TB_EVENT_WHEEL, .x = x, .y = y, .steps = steps});
	tb_viewer_note(viewer, true);
}

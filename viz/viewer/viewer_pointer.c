// The pointer: which view it is over, what it hits, clicks and drags.
#include "viewer_impl.h"

#include <math.h>

#define DRAG_SLACK 4 // pixels that a click may wander

static bool view_at(
	const struct tb_viewer *viewer, double x, double y, enum tb_view_name *name)
{
	for (size_t i = 0; i < TB_N_VIEWS; i++) {
		if (!tb_box_holds(viewer->places[i], x, y))
			continue;
		*name = (enum tb_view_name)i;
		return true;
	}
	return false;
}

static void tell_view(struct tb_viewer *viewer, enum tb_view_name name,
	const struct tb_pointer_event *event)
{
	viewer->stale = true;
	if (viewer->run && tb_viewer_view(name)->pointer)
		tb_viewer_view(name)->pointer(viewer, event);
}

static struct tb_pick hit(struct tb_viewer *viewer, double x, double y)
{
	struct tb_pick pick = {TB_PICK_NONE, 0};
	const struct tb_picture *picture = tb_viewer_picture(viewer);
	if (picture && tb_picture_hit(picture, x, y, &pick, NULL))
		return pick;
	return (struct tb_pick){TB_PICK_NONE, 0};
}

static void press(struct tb_viewer *viewer, double x, double y)
{
	if (viewer->prompt.kind != TB_PROMPT_NONE) {
		tb_prompt_press(viewer, hit(viewer, x, y));
		return;
	}
	if (viewer->help) {
		viewer->help = false;
		viewer->stale = true;
		return;
	}
	if (!viewer->run && viewer->opening) {
		tb_opening_press(viewer->opening, hit(viewer, x, y));
		viewer->stale = true;
		return;
	}
	viewer->pressed = view_at(viewer, x, y, &viewer->grabbed);
	viewer->dragged = false;
	viewer->press_x = x;
	viewer->press_y = y;
	viewer->pressed_pick = hit(viewer, x, y);
	if (viewer->pressed)
		tell_view(viewer, viewer->grabbed,
			&(struct tb_pointer_event){.kind = TB_EVENT_PRESS,
				.x = x,
				.y = y,
				.pick = viewer->pressed_pick});
}

// is_selectable says whether a click on it marks it in all views.
static bool is_selectable(struct tb_pick pick)
{
	return pick.kind == TB_PICK_LINK || pick.kind == TB_PICK_SWITCH ||
	       pick.kind == TB_PICK_NODE || pick.kind == TB_PICK_JOB ||
	       pick.kind == TB_PICK_FLOW || pick.kind == TB_PICK_PAIR;
}

static void release(struct tb_viewer *viewer, double x, double y)
{
	if (!viewer->pressed)
		return;
	viewer->pressed = false;
	if (viewer->dragged)
		return;
	struct tb_pick pick = viewer->pressed_pick;
	if (pick.kind == TB_PICK_BUTTON) {
		tb_viewer_ask(viewer,
			&(struct tb_request){(enum tb_request_name)pick.index, 0});
		return;
	}
	if (pick.kind == TB_PICK_METRIC) {
		tb_viewer_show(viewer, viewer->window, (enum tb_metric)pick.index);
		return;
	}
	if (pick.kind == TB_PICK_VIEW)
		tb_viewer_go(viewer, (enum tb_view_name)pick.index);
	if (is_selectable(pick))
		tb_viewer_select(viewer, pick);
	tell_view(viewer, viewer->grabbed,
		&(struct tb_pointer_event){
			.kind = TB_EVENT_CLICK, .x = x, .y = y, .pick = pick});
}

static void move(struct tb_viewer *viewer, double x, double y)
{
	double dx = x - viewer->x;
	double dy = y - viewer->y;
	viewer->x = x;
	viewer->y = y;
	viewer->pointer_in = true;
	if (!viewer->pressed) {
		struct tb_pick pick = hit(viewer, x, y);
		// A tooltip follows the pointer, so that every move over an item counts.
		viewer->stale |= pick.kind != TB_PICK_NONE ||
				 !tb_pick_equal(pick, viewer->hovered);
		viewer->hovered = pick;
		return;
	}
	if (!viewer->dragged &&
		hypot(x - viewer->press_x, y - viewer->press_y) < DRAG_SLACK)
		return;
	if (!viewer->dragged) { // what the slack held back
		dx = x - viewer->press_x;
		dy = y - viewer->press_y;
	}
	viewer->dragged = true;
	tell_view(viewer, viewer->grabbed,
		&(struct tb_pointer_event){.kind = TB_EVENT_DRAG,
			.x = x,
			.y = y,
			.dx = dx,
			.dy = dy,
			.pick = viewer->pressed_pick});
}

// twice answers a double click, which follows its second release.
static void twice(struct tb_viewer *viewer, double x, double y)
{
	enum tb_view_name name;
	struct tb_pick pick = hit(viewer, x, y);
	if (is_selectable(pick))
		tb_viewer_ask(viewer, &(struct tb_request){TB_REQUEST_FOCUS, 0});
	if (view_at(viewer, x, y, &name))
		tell_view(viewer, name,
			&(struct tb_pointer_event){
				.kind = TB_EVENT_DOUBLE, .x = x, .y = y, .pick = pick});
}

void tb_viewer_pointer(struct tb_viewer *viewer, enum tb_pointer what, double x, double y)
{
	move(viewer, x, y);
	if (what == TB_POINTER_PRESS)
		press(viewer, x, y);
	else if (what == TB_POINTER_RELEASE)
		release(viewer, x, y);
	else if (what == TB_POINTER_DOUBLE)
		twice(viewer, x, y);
}

void tb_viewer_leave(struct tb_viewer *viewer)
{
	viewer->pointer_in = false;
	viewer->hovered = (struct tb_pick){TB_PICK_NONE, 0};
	viewer->stale = true;
}

void tb_viewer_wheel(struct tb_viewer *viewer, double x, double y, double steps)
{
	enum tb_view_name name;
	move(viewer, x, y);
	if (view_at(viewer, x, y, &name))
		tell_view(viewer, name,
			&(struct tb_pointer_event){
				.kind = TB_EVENT_WHEEL, .x = x, .y = y, .steps = steps});
}

#include "mouse.h"

#include <math.h>

#define DRAG_SLACK 4 // pixels that a click may wander

void tb_mouse_press(struct tb_mouse *mouse, struct tb_pane *pane, struct tb_pick pick)
{
	mouse->pressed = pane != NULL;
	mouse->dragged = false;
	mouse->press_x = mouse->x;
	mouse->press_y = mouse->y;
	mouse->grabbed = pane;
	mouse->pick = pick;
}

bool tb_mouse_move(struct tb_mouse *mouse, double x, double y, double *dx, double *dy)
{
	*dx = x - mouse->x;
	*dy = y - mouse->y;
	mouse->x = x;
	mouse->y = y;
	mouse->in = true;
	if (!mouse->pressed)
		return false;
	if (!mouse->dragged) {
		// The first drag makes up for the slack.
		*dx = x - mouse->press_x;
		*dy = y - mouse->press_y;
		mouse->dragged = hypot(*dx, *dy) >= DRAG_SLACK;
	}
	return mouse->dragged;
}

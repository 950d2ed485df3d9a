// The pointer: where it is, what it pressed and in which view, and whether it drags.
#ifndef TB_MOUSE_H
#define TB_MOUSE_H

#include "picture.h"

struct tb_pane;

struct tb_mouse {
	double x, y;
	bool in; // the window
	bool pressed, dragged;
	double press_x, press_y;
	struct tb_pane *grabbed; // the pane of the press
	struct tb_pick pick;	 // what was pressed
};

// tb_mouse_press begins a press in a pane; NULL for one outside of all panes.
void tb_mouse_press(struct tb_mouse *mouse, struct tb_pane *pane, struct tb_pick pick);

// tb_mouse_move moves the pointer; true when that is a drag, then by (dx, dy).
bool tb_mouse_move(struct tb_mouse *mouse, double x, double y, double *dx, double *dy);

#endif

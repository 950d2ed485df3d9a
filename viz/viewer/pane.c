// The keys that zoom and move, for every view that can do both.
#include "viewer_impl.h"

bool tb_viewer_move(struct tb_viewer *viewer, const struct tb_request *asked,
	struct tb_box area, const struct tb_view_moves *moves)
{
	double x = area.x + area.w / 2, y = area.y + area.h / 2;
	switch ((int)asked->name) {
	case TB_REQUEST_FIT:
		moves->fit(viewer);
		return true;
	case TB_REQUEST_ZOOM_IN:
		moves->zoom_at(viewer, x, y, TB_ZOOM_STEP);
		return true;
	case TB_REQUEST_ZOOM_OUT:
		moves->zoom_at(viewer, x, y, 1 / TB_ZOOM_STEP);
		return true;
	case TB_REQUEST_PAN_LEFT:
		moves->pan(viewer, TB_PAN_STEP, 0);
		return true;
	case TB_REQUEST_PAN_RIGHT:
		moves->pan(viewer, -TB_PAN_STEP, 0);
		return true;
	case TB_REQUEST_PAN_UP:
		moves->pan(viewer, 0, TB_PAN_STEP);
		return true;
	case TB_REQUEST_PAN_DOWN:
		moves->pan(viewer, 0, -TB_PAN_STEP);
		return true;
	default:
		return false;
	}
}

#include "camera.h"

#include <math.h>

#define MOST_ZOOM 8

// clamp limits a pan: the middle of the view stays on the span, or all of the span stays
// visible. A tighter limit would pull a zoom at the edges away from the pointer.
static double clamp(double pan, double span, double sight)
{
	double low = fmin(fmin(-sight / 2, span - sight), 0);
	double high = fmax(fmax(span - sight / 2, span - sight), 0);
	return fmin(fmax(pan, low), high);
}

void tb_camera_set(struct tb_camera *camera, double zoom, double pan_x, double pan_y)
{
	camera->zoom = zoom;
	camera->pan_x = clamp(pan_x, camera->world_w, camera->area_w / zoom);
	camera->pan_y = clamp(pan_y, camera->world_h, camera->area_h / zoom);
}

bool tb_camera_zoom(struct tb_camera *camera, double x, double y, double factor)
{
	double zoom = camera->zoom * factor;
	if (zoom <= camera->fit_zoom * 1.01)
		return false;
	zoom = fmin(zoom, fmax(MOST_ZOOM, camera->fit_zoom));
	double world_x = x / camera->zoom + camera->pan_x;
	double world_y = y / camera->zoom + camera->pan_y;
	tb_camera_set(camera, zoom, world_x - x / zoom, world_y - y / zoom);
	return true;
}

void tb_camera_pan(struct tb_camera *camera, double dx, double dy)
{
	tb_camera_set(camera, camera->zoom, camera->pan_x - dx / camera->zoom,
		camera->pan_y - dy / camera->zoom);
}

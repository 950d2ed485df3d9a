// A camera on a matrix: which part is visible and how large. World units are those of the
// matrix's layout; pixels those of the picture.
#ifndef TB_CAMERA_H
#define TB_CAMERA_H

#include <stdbool.h>

#define TB_MOST_FITTED 2.2 // zoom: a small matrix is not enlarged beyond

struct tb_camera {
	double area_w, area_h;	 // pixels that show the world
	double world_w, world_h; // size of the world
	double fit_zoom;	 // that shows all of the world
	double zoom;		 // pixels per world unit
	double pan_x, pan_y;	 // the world point in the area's upper left corner
};

// tb_camera_set sets zoom and pan. It clips the pan: the middle of the area stays on the
// world, or all of the world stays visible.
void tb_camera_set(struct tb_camera *camera, double zoom, double pan_x, double pan_y);

// tb_camera_zoom zooms about pixel (x, y) of the area. False, and nothing changes, when
// that would show all: the caller fits instead.
bool tb_camera_zoom(struct tb_camera *camera, double x, double y, double factor);

// tb_camera_pan moves the world by pixels.
void tb_camera_pan(struct tb_camera *camera, double dx, double dy);

#endif

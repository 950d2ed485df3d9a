// Which part of a matrix is seen and how large: zoom about a point, pan, and back to all
// of it. World units are those of its layout; pixels those of the picture.
#ifndef TB_CAMERA_H
#define TB_CAMERA_H

#include <stdbool.h>

#define TB_MOST_FITTED 2.2 // zoom: a small matrix is not enlarged beyond

struct tb_camera {
	double area_w, area_h;	 // pixels that show it
	double world_w, world_h; // all there is to see
	double fit_zoom;	 // at which all is seen
	double zoom;		 // pixels per world unit
	double pan_x, pan_y;	 // the world point in the area's upper left corner
};

// tb_camera_set looks at a part; the pan is held within reach of what there is to see.
void tb_camera_set(struct tb_camera *camera, double zoom, double pan_x, double pan_y);

// tb_camera_zoom changes the zoom and leaves what is under pixel (x, y) of the area where
// it is. False, and nothing changes, when that would show all: the caller fits.
bool tb_camera_zoom(struct tb_camera *camera, double x, double y, double factor);

// tb_camera_pan moves what is seen by pixels.
void tb_camera_pan(struct tb_camera *camera, double dx, double dy);

#endif

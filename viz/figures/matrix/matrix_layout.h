// The layout of a congestion matrix: a band per level, the top level first, each wrapped
// into lines of boxes that fill a given shape.
//
// Geometry alone, in world units (the abstract pixels of a picture at zoom 1). A box
// has a cell's width for each link above or below its switch, whichever are more. All
// boxes of a level are as wide as its widest.
#ifndef TB_MATRIX_LAYOUT_H
#define TB_MATRIX_LAYOUT_H

#include "matrix.h"
#include "picture.h"

// The sizes of a layout's parts.
struct tb_matrix_metrics {
	double cell_w, cell_h; // a link
	double sum_h;	       // the switch's sum
	double gap_x, gap_y;   // between boxes
	double band_gap;       // between levels, beyond gap_y
	double box_w;	       // fixed width of a box; 0: as wide as its links
	uint32_t group;	       // switches that share a box; 0 means 1
};

// The sizes in the viewer, the same in every view of a matrix.
extern const struct tb_matrix_metrics tb_matrix_on_screen;

struct tb_matrix_band {
	uint32_t level;
	uint32_t n_boxes; // after grouping
	uint32_t per_line, n_lines;
	double y, h; // of the whole band
	double box_w, box_h;
	double above_h; // 0 when no switch of the level has links above
};

struct tb_matrix_layout {
	struct tb_matrix_metrics metrics;
	uint32_t n_bands;
	struct tb_matrix_band *bands; // one per row of the matrix
	double width, height;	      // of all bands
};

// tb_matrix_layout_init lays out a matrix in lines of at most `width` world units (at
// least one box). TB_ENOMEM. tb_matrix_layout_fini frees it, and accepts a zeroed
// struct.
int tb_matrix_layout_init(struct tb_matrix_layout *layout, const struct tb_matrix *matrix,
	const struct tb_matrix_metrics *metrics, double width) TB_MUST_USE;
void tb_matrix_layout_fini(struct tb_matrix_layout *layout);

// tb_matrix_layout_wrap wraps the lines to another width.
void tb_matrix_layout_wrap(struct tb_matrix_layout *layout, double width);

// tb_matrix_layout_fit wraps the lines to fill a shape of w by h best, and returns the
// zoom at which all of it fits.
double tb_matrix_layout_fit(struct tb_matrix_layout *layout, double w, double h);

// tb_matrix_layout_box returns where a box of a band is, by its number in the row.
struct tb_box tb_matrix_layout_box(
	const struct tb_matrix_layout *layout, uint32_t band, uint32_t index);

#endif

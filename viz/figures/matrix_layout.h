// Where the blocks of a congestion matrix stand: a band per level, the top level first,
// each wrapped into as many lines of blocks as the shape to be filled asks for.
//
// Geometry alone, in world units (the abstract pixels of a picture at zoom 1). A block is
// as wide as its switch has links on the fuller side; in a network of unequal switches
// the widest of a level decides for that level.
#ifndef TB_MATRIX_LAYOUT_H
#define TB_MATRIX_LAYOUT_H

#include "matrix.h"
#include "picture.h"

// The sizes that a layout is made of.
struct tb_matrix_metrics {
	double cell_w, cell_h; // a link
	double sum_h;	       // the switch's sum
	double gap_x, gap_y;   // between blocks
	double band_gap;       // between levels, beyond gap_y
	double block_w;	       // fixed width of a block; 0: by its links
	uint32_t group;	       // switches that share a block; 0 reads as 1
};

// tb_matrix_on_screen are the sizes in the viewer, the same in every view of a matrix.
extern const struct tb_matrix_metrics tb_matrix_on_screen;

struct tb_matrix_band {
	uint32_t level;
	uint32_t n_blocks; // after grouping
	uint32_t per_line, n_lines;
	double y, h; // of the whole band
	double block_w, block_h;
	double above_h; // 0 when no switch of the level has links above
};

struct tb_matrix_layout {
	struct tb_matrix_metrics metrics;
	uint32_t n_bands;
	struct tb_matrix_band *bands; // as the matrix' rows
	double width, height;	      // what the bands cover
};

// tb_matrix_layout_init wraps the bands to at most `width` world units (at least one
// block). tb_matrix_layout_fini frees; a zeroed struct is fine to free.
int tb_matrix_layout_init(struct tb_matrix_layout *layout, const struct tb_matrix *matrix,
	const struct tb_matrix_metrics *metrics, double width) TB_MUST_USE;
void tb_matrix_layout_fini(struct tb_matrix_layout *layout);

// tb_matrix_layout_wrap wraps anew.
void tb_matrix_layout_wrap(struct tb_matrix_layout *layout, double width);

// tb_matrix_layout_fit wraps so that the whole fills a shape of w by h best, and returns
// the zoom at which it does.
double tb_matrix_layout_fit(struct tb_matrix_layout *layout, double w, double h);

// tb_matrix_layout_block is the box of a block of a band.
struct tb_box tb_matrix_layout_block(
	const struct tb_matrix_layout *layout, uint32_t band, uint32_t block);

#endif

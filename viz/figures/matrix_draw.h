// Draws the boxes of a congestion matrix: numbers where they are legible, shaded strips
// where not, one shade per switch where even strips are too small.
#ifndef TB_MATRIX_DRAW_H
#define TB_MATRIX_DRAW_H

#include "colour.h"
#include "matrix.h"
#include "matrix_fold.h"
#include "picture.h"
#include "run.h"
#include "scale.h"

// The layout of a congestion matrix: a band per level, the top level first, each wrapped
// into lines of boxes that fill a given shape.
//
// Geometry alone, in world units (the abstract pixels of a picture at zoom 1). A box
// has a cell's width for each link above or below its switch, whichever are more. All
// boxes of a level are as wide as its widest. Where a switch has so many links that they
// have no room in a line, they are wrapped within the box.

// The sizes of a layout's parts.
struct tb_matrix_metrics {
	double cell_w, cell_h; // a link
	double sum_h;	       // the switch's sum
	double name_h;	       // a line with the name above the box; 0: none
	double gap_x, gap_y;   // between boxes
	double strip_gap;      // between wrapped links down and those of nodes
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
	double y, h;				     // of the whole band
	uint32_t most_above, most_below, most_nodes; // links of a switch
	uint32_t columns;			     // cells in a line of a box
	double box_w, box_h;
	double above_h; // 0 when no switch of the level has links above
	double below_h;
	double nodes_h; // 0 when none has links to nodes, or the metric has none there
	double gap_h;	// between the two
};

struct tb_matrix_layout {
	struct tb_matrix_metrics metrics;
	uint32_t n_bands;
	struct tb_matrix_band *bands; // one per row of the matrix
	double width, height;	      // of all bands
	double wider;		      // times their width boxes have; 0: as they are
};

// tb_matrix_layout_init lays out a matrix in lines of at most `width` world units (at
// least one box). TB_ENOMEM. tb_matrix_layout_fini frees it, and accepts a zeroed
// struct.
int tb_matrix_layout_init(struct tb_matrix_layout *layout, const struct tb_matrix *matrix,
	const struct tb_matrix_metrics *metrics, double width) TB_MUST_USE;
void tb_matrix_layout_fini(struct tb_matrix_layout *layout);

// tb_matrix_layout_measure adapts it to the metric that the matrix shows, and returns
// whether that changed its size.
bool tb_matrix_layout_measure(
	struct tb_matrix_layout *layout, const struct tb_matrix *matrix);

// tb_matrix_layout_wrap wraps the lines to another width, and the links of a box that is
// wider.
void tb_matrix_layout_wrap(struct tb_matrix_layout *layout, double width);

// tb_matrix_layout_fit wraps the lines to fill a shape of w by h best, and returns the
// zoom at which all of it fits.
double tb_matrix_layout_fit(struct tb_matrix_layout *layout, double w, double h);

// tb_matrix_layout_widen makes boxes wider, TB_MATRIX_MOST_WIDER times at most, so that
// the lines fill a width; the next fit begins with their own width again.
#define TB_MATRIX_MOST_WIDER 2.5
void tb_matrix_layout_widen(struct tb_matrix_layout *layout, double width);

// tb_matrix_layout_box returns where a box of a band is, by its number in the row.
struct tb_box tb_matrix_layout_box(
	const struct tb_matrix_layout *layout, uint32_t band, uint32_t index);

#define TB_MATRIX_FONT_SIZE 10.5 // em at zoom 1, of numbers in cells 24 wide
#define TB_MATRIX_NUMBERS_W 18	 // of a cell, in pixels, from which on numbers are clear

enum tb_matrix_detail {
	TB_DETAIL_NUMBERS,  // a shade and a number per link and per switch
	TB_DETAIL_CELLS,    // shades alone
	TB_DETAIL_SWITCHES, // one shade per switch
};

// How to show a matrix. World point (x, y) is drawn at area + (point - pan) * zoom.
struct tb_matrix_view {
	struct tb_box area;
	double zoom, pan_x, pan_y;
	enum tb_matrix_detail detail;
	enum tb_colours colours;
	enum tb_theme theme;
	enum tb_font font, bold_font;
	double font_size; // em at zoom 1; 0: one character per pixel, not scaled
	double ink;	  // of numbers, at least: small ones fade where it is below 1
	bool names;	  // switch names in the boxes
	bool ramp;	  // without colours: show the shade as one of " .:-=+*#%@"
	bool tips;	  // a sentence for each cell
	bool jobs;	  // nodes' own links in the colours of their jobs
	struct tb_pick selected, hovered;
	struct tb_marks marks;
	struct tb_scale links, switches; // tb_matrix_view_scale
	const uint8_t *outside;		 // by link: 1 is not drawn; NULL: all are
	tb_time_ps end_ps; // links and switches dead before this are crossed out
	// For a matrix of changes: 1 where the value fell, by id. NULL: a matrix of
	// amounts.
	const uint8_t *less_links, *less_switches;
	const struct tb_matrix_fold *fold; // whose matrix this is; NULL: none's
	// Beside what the run lacks, by link and switch; NULL: nothing.
	const uint8_t *unmeasured, *unmeasured_switches;
};

// tb_matrix_detail_at returns the finest detail that is legible at a zoom.
enum tb_matrix_detail tb_matrix_detail_at(
	const struct tb_matrix_metrics *metrics, double zoom);

// tb_matrix_view_scale sets both scales for the values of a matrix. Their numbers share a
// unit: the links'.
void tb_matrix_view_scale(struct tb_matrix_view *view, const struct tb_matrix *matrix,
	bool absolute, bool logarithmic);

// tb_matrix_draw adds the visible part of the matrix, clipped to the area. `run` names
// switches and links. Linear in visible boxes.
void tb_matrix_draw(struct tb_picture *picture, const struct tb_matrix_layout *layout,
	const struct tb_matrix *matrix, const struct tb_run *run,
	const struct tb_matrix_view *view);

// tb_matrix_cell_box finds where a link's cell, a switch's box or the group that it is in
// (TB_PICK_CELL: a group, by its box) is drawn; false when the matrix does not have it.
// Linear in boxes.
bool tb_matrix_cell_box(const struct tb_matrix_layout *layout,
	const struct tb_matrix *matrix, const struct tb_matrix_view *view,
	struct tb_pick pick, struct tb_box *box);

// tb_legend_of returns the legend for the links of a matrix.
struct tb_legend tb_legend_of(const struct tb_matrix_view *view);

#endif

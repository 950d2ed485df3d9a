// Draws the boxes of a congestion matrix: numbers where they are legible, shaded strips
// where not, one shade per switch where even strips are too small.
#ifndef TB_MATRIX_DRAW_H
#define TB_MATRIX_DRAW_H

#include "legend.h"
#include "marks.h"
#include "matrix_layout.h"
#include "run.h"
#include "scale.h"

#define TB_MATRIX_FONT_SIZE 10.5 // em at zoom 1, of numbers in cells 24 wide

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

// tb_matrix_cell_box finds where a link's cell or a switch's box is drawn; false when the
// matrix does not have it. Linear in boxes.
bool tb_matrix_cell_box(const struct tb_matrix_layout *layout,
	const struct tb_matrix *matrix, const struct tb_matrix_view *view,
	struct tb_pick pick, struct tb_box *box);

// tb_legend_of returns the legend for the links of a matrix.
struct tb_legend tb_legend_of(const struct tb_matrix_view *view);

#endif

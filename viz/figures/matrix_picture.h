// The congestion matrix as a figure: laid out like figure 15 of paper 000, with a title,
// the value of 100 %, and a legend.
//
// A row per level, the top level first; a box per switch, by index; in it the links
// from the level above, the switch's sum, the links from the level below or the nodes,
// and those to the nodes.
// Rows wrap. A network whose numbers would fill more than a page gets shades alone; from
// TB_FOLDED_NODES nodes on (matrix_fold.h) boxes are groups of switches.
#ifndef TB_MATRIX_PICTURE_H
#define TB_MATRIX_PICTURE_H

#include "matrix.h"
#include "matrix_draw.h"

#include <stdio.h>

struct tb_matrix_figure {
	struct tb_run *run;
	const struct tb_matrix *matrix;
	struct tb_window window; // that the matrix shows
	enum tb_colours colours;
	enum tb_theme theme;
	const struct tb_switch *within; // in a folded matrix, what the groups of this
					// switch open to; NULL: the whole network
	double width;  // of the page, to which rows and text wrap; 0: the natural one
	double height; // of the page, which boxes fill together with the width; 0: as
		       // high as it takes
	bool bare;	// no title: the page around it has one; in a terminal: no window
	uint32_t level; // in a terminal: 1 more than the one row of the matrix to show,
			// the top level first; 0: all
	uint32_t most_rows; // to stay within in a terminal, by less detail; 0: about a
			    // hundred
	bool explained;	    // in a terminal: where shades stand for numbers, says what a
			    // character is, and how wide the terminal must be for numbers
};

// tb_matrix_picture prepares the figure for SVG, PNG and PDF: in its natural size, 16
// boxes of four links in a line (64 nodes: 1788 wide), or as wide as a page that is
// narrower, but at least 420 wide. TB_ENOMEM.
int tb_matrix_picture(
	struct tb_picture *picture, const struct tb_matrix_figure *figure) TB_MUST_USE;

// tb_matrix_picture_text prepares it for a terminal, one pixel per character, `columns`
// (at least 40) wide. Without `shaded` the shades of big networks become characters.
// TB_ENOMEM.
int tb_matrix_picture_text(struct tb_picture *picture,
	const struct tb_matrix_figure *figure, uint32_t columns, bool shaded) TB_MUST_USE;

// tb_matrix_is_blank returns whether all links were measured, and all of them are 0.
bool tb_matrix_is_blank(const struct tb_matrix *matrix);

// tb_matrix_picture_svg makes the figure of a window as an SVG element for an HTML page:
// no prolog, ids or title, scalable by its viewBox, with eight boxes per line so that it
// stays legible at a page's width. The caller frees *svg, which stays as it is where the
// matrix is blank. Errors as of tb_matrix_init.
int tb_matrix_picture_svg(struct tb_run *run, struct tb_window window,
	enum tb_metric metric, enum tb_theme theme, char **svg,
	struct tb_error *error) TB_MUST_USE;

// tb_matrix_scale_text writes the value of 100 % and where it is: "1.2 ms (0.3:5 >
// 1.3:1)", of links or of switches, where numbers are absolute in the unit of the view's
// links. 128 bytes suffice. Returns buffer.
char *tb_matrix_scale_text(const struct tb_run *run, const struct tb_matrix *matrix,
	const struct tb_matrix_view *view, bool links, char *buffer, size_t size);

// The congestion matrix as data: CSV and JSON.
//
// Columns: level, switch ("2.13"), port (of the switch; empty for its sum), direction
// ("above" or "below": where the link comes from or, where links stand at the switch that
// they leave, leads to; "node": the other link of a node's cable; "sum"), link (its
// name), value (in the metric's unit), percent. Rows in the order of the matrix.

// Write errors show in ferror(stream).
void tb_matrix_csv(
	const struct tb_run *run, const struct tb_matrix *matrix, FILE *stream);
int tb_matrix_json(const struct tb_run *run, const struct tb_matrix *matrix,
	struct tb_window window, FILE *stream) TB_MUST_USE;

#endif

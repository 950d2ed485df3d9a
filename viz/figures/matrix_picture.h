// The congestion matrix as a figure: laid out as figure 15 of paper 000, with a title,
// what 100 % is in real units, and the legend.
//
// A row per level, the top level first; a block per switch, by index; in it the links
// from the level above, the switch's sum, the links from the level below or the nodes.
// Rows wrap. Networks whose numbers would fill more than a page lose the numbers and keep
// the shades; beyond 16384 switches neighbours share a cell, which shows the most loaded.
#ifndef TB_MATRIX_PICTURE_H
#define TB_MATRIX_PICTURE_H

#include "matrix_draw.h"

struct tb_matrix_figure {
	struct tb_run *run;
	const struct tb_matrix *matrix;
	struct tb_window window; // of which the matrix was made
	enum tb_colours colours;
	enum tb_theme theme;
	double wrap; // width of a line of blocks; 0: natural, 16 blocks of four links
	bool bare;   // without title: the page that it stands on has one
	uint32_t most_rows; // of blocks in a terminal, as far as less detail serves; 0: a
			    // hundred or so
};

// tb_matrix_picture prepares the figure for SVG, PNG and PDF in its natural size (64
// nodes: 1788 wide). TB_ENOMEM.
int tb_matrix_picture(
	struct tb_picture *picture, const struct tb_matrix_figure *figure) TB_MUST_USE;

// tb_matrix_picture_text prepares it for a terminal, one pixel a character, `columns`
// (at least 40) wide. Without `shaded` the shades of big networks become characters.
int tb_matrix_picture_text(struct tb_picture *picture,
	const struct tb_matrix_figure *figure, uint32_t columns, bool shaded) TB_MUST_USE;

// tb_matrix_picture_svg makes the figure of a window as an SVG element to be put into an
// HTML page: no prolog, no ids, no title, scalable by its viewBox, in lines of eight
// blocks so that a page's width keeps them legible. The caller frees *svg.
int tb_matrix_picture_svg(struct tb_run *run, struct tb_window window,
	enum tb_metric metric, enum tb_theme theme, char **svg,
	struct tb_error *error) TB_MUST_USE;

// tb_matrix_scale_text says what 100 % is: "0.3:5 > 1.3:1 waits 1.2 ms", for the most
// loaded link (links true) or switch. 128 bytes suffice.
char *tb_matrix_scale_text(const struct tb_run *run, const struct tb_matrix *matrix,
	bool links, char *buffer, size_t size);

#endif

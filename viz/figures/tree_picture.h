// The tree of a run as a figure for paper or a page: a row per level, the nodes below,
// the cables between them in the shade of the metric, the most loaded on top.
//
// The viewer's tree can be zoomed; this one shows all, folded where there is no room
// (tree_plan.h), and of links drawn as one the most loaded.
#ifndef TB_TREE_PICTURE_H
#define TB_TREE_PICTURE_H

#include "picture.h"
#include "run.h"

struct tb_tree_gap {
	uint32_t lower, upper; // switches between which a cable is missing
};

struct tb_tree_figure {
	struct tb_run *run;
	enum tb_metric metric; // of the whole run
	enum tb_colours colours;
	enum tb_theme theme;
	double width; // 0: the natural one, by the number of nodes
	const char *title;
	const char *measure;	  // what the shades stand for: "time busy, all to all"
	const char *const *notes; // below the title, a paragraph each, NULL at the end
	// What is not alike has a colour of its own, above the shades of the others.
	const uint8_t *odd;		// by link: 1 is so; NULL: none
	const struct tb_tree_gap *gaps; // dashed
	uint32_t n_gaps;
};

// tb_tree_picture prepares the figure for SVG, PNG and PDF. TB_ENOMEM; TB_EIO and
// TB_EFORMAT as of tb_run_samples.
int tb_tree_picture(struct tb_picture *picture, const struct tb_tree_figure *figure,
	struct tb_error *error) TB_MUST_USE;

#endif

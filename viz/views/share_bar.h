// A bar of shares with their legend: of a run time, of the critical path.
#ifndef TB_SHARE_BAR_H
#define TB_SHARE_BAR_H

#include "style.h"

struct tb_share {
	double amount;
	char text[96];
	struct tb_colour colour;
};

// tb_share_bar_draw draws the shares side by side over the width of a box and names them
// below, in `lines` lines at most; it returns the height of all of it. Shares of 0 are
// left out. `picture` NULL: it only returns
// the height.
double tb_share_bar_draw(struct tb_picture *picture, const struct tb_style *style,
	struct tb_box box, const struct tb_share *shares, size_t n, int lines);

#endif

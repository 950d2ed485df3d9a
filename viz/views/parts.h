// Parts of views that the pointer can grab: the indices of TB_PICK_PART.
#ifndef TB_PARTS_H
#define TB_PARTS_H

enum tb_part {
	TB_PART_STRIP,	// of time
	TB_PART_WINDOW, // on it
	TB_PART_FROM,	// its edges
	TB_PART_TO,
	TB_PART_LIST,	// a scroll bar
	TB_PART_GRID,	// the background of a square or chart
	TB_PART_SUBTREE // the handle of the first subtree of the tree; others follow
};

#endif

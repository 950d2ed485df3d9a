// A sheet: the lines of a panel, prepared first and then drawn, so that keys can step
// through its rows and long lists scroll. Lines are headings, pairs of label and value,
// captions, gaps, and items, which select what they name.
#ifndef TB_SHEET_H
#define TB_SHEET_H

#include "view.h"

struct tb_sheet_line {
	enum tb_sheet_kind {
		TB_SHEET_HEADING,
		TB_SHEET_ROW,
		TB_SHEET_CAPTION,
		TB_SHEET_GAP,
		TB_SHEET_ITEM
	} kind;
	char label[160], value[96];
	// Items.
	struct tb_pick pick;
	bool is_pair; // drawn as a row
	bool has_chip;
	struct tb_colour chip; // its colour
	double from, to;       // of a bar below, in shares of the width; equal: no bar
	double faint_to;       // up to where it is faint
};

// A zeroed struct is an empty sheet.
struct tb_sheet {
	struct tb_sheet_line *lines;
	size_t n, room;
	uint32_t n_items;
	struct tb_sheet_line lost; // takes the line for which there was no memory
	int status;		   // TB_OK, or TB_ENOMEM then
};

// The scroll of a sheet and the item that keys chose.
struct tb_sheet_place {
	double scroll; // pixels
	bool has_chosen;
	uint32_t chosen; // of the items
};

void tb_sheet_clear(struct tb_sheet *sheet); // keeps the memory
void tb_sheet_fini(struct tb_sheet *sheet);

void tb_sheet_heading(struct tb_sheet *sheet, const char *kind, const char *name);
void tb_sheet_row(struct tb_sheet *sheet, const char *label, const char *value);
void tb_sheet_caption(struct tb_sheet *sheet, const char *text);
void tb_sheet_gap(struct tb_sheet *sheet);
// tb_sheet_item adds an item and returns it to be completed; never NULL, and valid until
// the next line.
struct tb_sheet_line *tb_sheet_item(struct tb_sheet *sheet, struct tb_pick pick,
	const char *label, const char *value);

// tb_sheet_name adds a row whose value names what it selects.
void tb_sheet_name(struct tb_sheet *sheet, struct tb_pick pick, const char *label,
	const char *value);

// tb_sheet_pick returns the pick of an item, counted among items.
struct tb_pick tb_sheet_pick(const struct tb_sheet *sheet, uint32_t item);

// tb_sheet_step moves the choice by one item and scrolls to it; false when there are
// none.
bool tb_sheet_step(const struct tb_sheet *sheet, struct tb_sheet_place *place, int by,
	double visible_h);

// tb_sheet_draw draws the visible lines into a box; it clips the scroll to the sheet.
void tb_sheet_draw(const struct tb_sheet *sheet, struct tb_sheet_place *place,
	const struct tb_pane *pane, struct tb_picture *picture, struct tb_box box);

#endif

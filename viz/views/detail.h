// The sheets of the panel on the right: one per kind of selection. Each is written from
// the data of the window; view_detail.c draws it. Private to viz/views/.
#ifndef TB_DETAIL_H
#define TB_DETAIL_H

#include "view.h"

// A sheet: the lines of a panel, prepared first and then drawn, so that keys can step
// through its rows and long lists scroll. Lines are headings, pairs of label and value,
// captions, gaps, and items, which select what they name.

struct tb_sheet_line {
	enum tb_sheet_kind {
		TB_SHEET_HEADING,
		TB_SHEET_ROW,
		TB_SHEET_CAPTION,
		TB_SHEET_TEXT, // a line of a paragraph
		TB_SHEET_GAP,
		TB_SHEET_ITEM
	} kind;
	char label[160], value[160];
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

void tb_sheet_heading(struct tb_sheet *sheet, const char *kind, const char *name);
void tb_sheet_row(struct tb_sheet *sheet, const char *label, const char *value);
void tb_sheet_printf(struct tb_sheet *sheet, const char *label, const char *format, ...)
	TB_PRINTF(3, 4);
void tb_sheet_caption(struct tb_sheet *sheet, const char *format, ...) TB_PRINTF(2, 3);
void tb_sheet_gap(struct tb_sheet *sheet);
// tb_sheet_item adds an item and returns it to be completed; never NULL, and valid until
// the next line.
struct tb_sheet_line *tb_sheet_item(struct tb_sheet *sheet, struct tb_pick pick,
	const char *label, const char *value);

// tb_sheet_name adds a row whose value names what it selects.
void tb_sheet_name(struct tb_sheet *sheet, struct tb_pick pick, const char *label,
	const char *value);

struct tb_detail {
	struct tb_pane *pane;
	struct tb_sheet *sheet;
};

// tb_detail_text adds a paragraph in lines as wide as the panel.
void tb_detail_text(const struct tb_detail *detail, const char *text);

// What the network is made of.
void tb_detail_run(const struct tb_detail *detail);
void tb_detail_link(const struct tb_detail *detail, uint32_t link);
// tb_detail_link_traffic lists who waits there and who crosses it.
void tb_detail_link_traffic(const struct tb_detail *detail, uint32_t link);
void tb_detail_switch(const struct tb_detail *detail, uint32_t sw);
void tb_detail_node(const struct tb_detail *detail, uint32_t node);

// tb_detail_routes lists the routes between the two ends that are selected.
void tb_detail_routes(const struct tb_detail *detail);

// What crosses it.
void tb_detail_job(const struct tb_detail *detail, uint32_t job);
void tb_detail_flow(const struct tb_detail *detail, uint32_t flow);
// tb_detail_show_message makes the window the life of one of them.
void tb_detail_show_message(struct tb_pane *pane, uint32_t message);
// tb_detail_message_tip describes the message of a tooltip's pick.
void tb_detail_message_tip(const struct tb_pane *pane, struct tb_tip *tip);
void tb_detail_pair(const struct tb_detail *detail, uint32_t pair);

// tb_ranks_span_sheet writes the sheet of a span or call (TB_PICK_SPAN); false when it is
// none any more.
bool tb_ranks_span_sheet(const struct tb_detail *detail, struct tb_pick pick);
// tb_ranks_link_sheet adds the spans that the selected link held up, while the view of
// ranks is shown.
void tb_ranks_link_sheet(const struct tb_detail *detail);
// tb_ranks_cause_colour returns the colour of a cause of the critical path.
struct tb_colour tb_ranks_cause_colour(const struct tb_style *style, uint32_t cause);
// tb_ranks_span_name returns the name of a span or call.
const char *tb_ranks_span_name(const struct tb_pane *pane, struct tb_pick pick);

// tb_lists_row_sheet writes all that a list of the report has about a row (TB_PICK_ROW);
// false when the row is not there any more.
bool tb_lists_row_sheet(const struct tb_detail *detail, struct tb_pick pick);

#endif

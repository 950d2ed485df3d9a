// The sheets of the panel on the right: one per kind of selection. Each is written from
// the data of the window; view_detail.c draws it. Private to view_detail.c.
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

struct tb_detail {
	struct tb_pane *pane;
	struct tb_sheet *sheet;
};

// What the network is made of (detail_network.c).
void tb_detail_run(const struct tb_detail *detail);
void tb_detail_link(const struct tb_detail *detail, uint32_t link);
// tb_detail_link_traffic lists who waits there and who crosses it.
void tb_detail_link_traffic(const struct tb_detail *detail, uint32_t link);
void tb_detail_switch(const struct tb_detail *detail, uint32_t sw);
void tb_detail_node(const struct tb_detail *detail, uint32_t node);

// tb_detail_routes lists the routes between the two ends that are selected
// (detail_routes.c), tb_detail_routes_from offers to keep the selection as one.
void tb_detail_routes(const struct tb_detail *detail);
void tb_detail_routes_from(const struct tb_detail *detail);

// What crosses it (detail_traffic.c).
void tb_detail_job(const struct tb_detail *detail, uint32_t job);
void tb_detail_flow(const struct tb_detail *detail, uint32_t flow);
// tb_detail_messages lists the messages of a flow on a time axis (detail_messages.c).
void tb_detail_messages(
	const struct tb_detail *detail, const struct tb_flow_sample *flow);
// tb_detail_show_message makes the window the life of one of them.
void tb_detail_show_message(struct tb_pane *pane, uint32_t message);
void tb_detail_pair(const struct tb_detail *detail, uint32_t pair);
// tb_detail_sent adds the figures of a flow, or of a sum of flows.
void tb_detail_sent(const struct tb_detail *detail, const struct tb_flow_sample *flow);
// tb_detail_sum sums the flows from a node, or of a job; TB_ID_NONE for any.
struct tb_flow_sample tb_detail_sum(
	const struct tb_detail *detail, uint32_t node, uint32_t job, uint32_t *n);
// tb_detail_crossing adds the jobs and flows that cross a link or switch.
void tb_detail_crossing(const struct tb_detail *detail, struct tb_pick pick);

// tb_detail_link_item adds a link as an item, with its metric in the window.
void tb_detail_link_item(const struct tb_detail *detail, uint32_t link);
// tb_detail_waits lists who waited at a link or switch and for whom (detail_waits.c).
void tb_detail_waits(const struct tb_detail *detail, struct tb_pick at);
// tb_detail_flow_waits lists for whom a flow waited in the slices of time of the window,
// and who for it; tb_detail_job_waits all jobs with which a job did.
void tb_detail_flow_waits(
	const struct tb_detail *detail, const struct tb_flow_sample *flow);
void tb_detail_job_waits(const struct tb_detail *detail, uint32_t job);
// tb_detail_flow_item adds a flow as an item, with the colour of its job.
struct tb_sheet_line *tb_detail_flow_item(
	const struct tb_detail *detail, uint32_t flow, const char *value);
// tb_detail_job_item adds a job as one.
struct tb_sheet_line *tb_detail_job_item(
	const struct tb_detail *detail, uint32_t job, const char *value);
// tb_detail_flows lists the flows of a node or a job; TB_ID_NONE for any.
void tb_detail_flows(const struct tb_detail *detail, uint32_t node, uint32_t job);
// tb_detail_node_text writes "node 5 (name)".
char *tb_detail_node_text(
	const struct tb_detail *detail, uint32_t node, char *buffer, size_t size);

#endif

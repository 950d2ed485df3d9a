// The sheets of the panel on the right: one per kind of selection. Each is written from
// the data of the window; view_detail.c draws it. Private to view_detail.c.
#ifndef TB_DETAIL_H
#define TB_DETAIL_H

#include "sheet.h"

struct tb_detail {
	struct tb_pane *pane;
	struct tb_sheet *sheet;
};

// What the network is made of (detail_network.c).
void tb_detail_run(const struct tb_detail *detail);
void tb_detail_link(const struct tb_detail *detail, uint32_t link);
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

// What the network is made of: the sheets of a run, link, switch and node.
#include "credit_params.h"
#include "detail.h"
#include "run_capture.h"
#include "run_text.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

// add_link_figures lists them in few rows: rates stand behind what they divide, the
// largest queue behind how many were blocked.
static void add_link_figures(const struct tb_detail *detail,
	const struct tb_link_sample *sample, struct tb_link_known known)
{
	char value[48], more[48], both[120];
	for (int i = 0; i <= TB_LONGEST; i++) {
		enum tb_metric metric = (enum tb_metric)i;
		enum tb_metric second = metric == TB_PACKETS   ? TB_PACKET_RATE
					: metric == TB_BLOCKED ? TB_QUEUE
							       : TB_N_METRICS;
		tb_metric_format(metric, sample->figures[metric], value, sizeof value);
		snprintf(both, sizeof both, "%s%s",
			tb_known_sign(tb_known_of(known, metric)), value);
		if (second < TB_N_METRICS && sample->figures[second])
			snprintf(both, sizeof both, "%s, %s%s", value,
				tb_metric_format(second, sample->figures[second], more,
					sizeof more),
				second == TB_QUEUE ? " at once" : "");
		tb_sheet_row(detail->sheet, tb_metric_title(metric),
			tb_run_unmeasured(known, metric) ? "not measured" : both);
	}
}

char *tb_detail_node_text(
	const struct tb_detail *detail, uint32_t node, char *buffer, size_t size)
{
	const char *name =
		tb_run_node_name(detail->pane->data->run, (struct tb_node){node});
	if (name[0])
		snprintf(buffer, size, "node %" PRIu32 " (%s)", node, name);
	else
		snprintf(buffer, size, "node %" PRIu32, node);
	return buffer;
}

// One end of a link.
struct route_end {
	bool is_node;
	uint32_t id, port;
};

static void end_row(
	const struct tb_detail *detail, const char *label, struct route_end end)
{
	char text[96];
	struct tb_pick pick = {end.is_node ? TB_PICK_NODE : TB_PICK_SWITCH, end.id};
	if (end.is_node)
		tb_detail_node_text(detail, end.id, text, sizeof text);
	else
		snprintf(text, sizeof text, "switch %s, port %" PRIu32,
			tb_run_switches(detail->pane->data->run)[end.id].name, end.port);
	tb_sheet_name(detail->sheet, pick, label, text);
}

// dead_row says when a link or switch died, or will.
static void dead_row(const struct tb_detail *detail, tb_time_ps dead_at_ps)
{
	char text[48] = "from the start", time[24];
	if (dead_at_ps == TB_TIME_NEVER)
		return;
	if (dead_at_ps > 0)
		snprintf(text, sizeof text, "%sfrom %s on",
			tb_viewer_data_is_dead(detail->pane->data, dead_at_ps)
				? ""
				: "later, ",
			tb_format_time(dead_at_ps, time, sizeof time));
	tb_sheet_row(detail->sheet, "dead", text);
}

void tb_detail_link(const struct tb_detail *detail, uint32_t id)
{
	const struct tb_pane *pane = detail->pane;
	const struct tb_run_link *link = &tb_run_links(pane->data->run)[id];
	const struct tb_link_info *at = &link->at;
	const struct tb_link_sample *sample = &pane->data->samples[id];
	const struct route_end from = {
		at->kind == TB_LINK_INJECTION, at->from, at->from_port};
	const struct route_end to = {at->kind == TB_LINK_EJECTION, at->to, at->to_port};
	char text[96];
	char other[24];
	tb_sheet_heading(detail->sheet, "Link", link->name);
	end_row(detail, "from", from);
	end_row(detail, "to", to);
	tb_sheet_row(detail->sheet, "rate",
		tb_format_rate((double)at->bytes_per_s, text, sizeof text));
	const char *channels = pane->data->info->words->channels;
	snprintf(text, sizeof text, "%s, %" PRIu32 " %.*s",
		tb_format_time(at->latency_ps, other, sizeof other), at->n_vcs,
		(int)strlen(channels) - (at->n_vcs == 1), channels);
	tb_sheet_row(detail->sheet, "latency", text);
	dead_row(detail, link->dead_at_ps);
	tb_sheet_gap(detail->sheet);
	if (tb_run_unmeasured_all(link->known)) {
		tb_sheet_caption(
			detail->sheet, "not measured: no port at its ends counted");
		return;
	}
	add_link_figures(detail, sample, link->known);
	if (!tb_run_unmeasured(link->known, TB_STALL)) {
		// The row shows what the port's counter has, where it has one.
		const struct tb_viewer_data *data = detail->pane->data;
		char value[32];
		if (tb_credit_params(&data->info->network)->xmit_wait_tick_bytes)
			tb_sheet_row(detail->sheet, "XmitWait",
				tb_format_counted(tb_run_ticks(data->run, sample->link,
							  sample->stall_ps),
					"tick", value, sizeof value));
	}
	double span = tb_viewer_data_window_ps(pane->data);
	if (span > 0) {
		tb_sheet_gap(detail->sheet);
		snprintf(text, sizeof text, "%.1f %% of the window",
			100 * (double)sample->busy_ps / span);
		tb_sheet_row(detail->sheet, "Utilisation", text);
		tb_sheet_row(detail->sheet, "Throughput",
			tb_format_rate((double)sample->bytes / (span / TB_PS_PER_S), text,
				sizeof text));
	}
}

void tb_detail_link_traffic(const struct tb_detail *detail, uint32_t id)
{
	tb_detail_waits(detail, (struct tb_pick){TB_PICK_LINK, id});
	tb_detail_crossing(detail, (struct tb_pick){TB_PICK_LINK, id});
}

void tb_detail_link_item(const struct tb_detail *detail, uint32_t link)
{
	const struct tb_viewer_data *data = detail->pane->data;
	uint64_t amount = tb_metric_of(&data->samples[link], data->metric);
	const struct tb_run_link *of = &tb_run_links(data->run)[link];
	char value[48];
	tb_metric_format(data->metric, amount, value, sizeof value);
	struct tb_sheet_line *line = tb_sheet_item(detail->sheet,
		(struct tb_pick){TB_PICK_LINK, link}, of->label,
		tb_run_unmeasured(of->known, data->metric) ? "-" : value);
	line->to = fmin((double)amount / fmax((double)data->matrix.largest_link, 1), 1);
}

// n_cells returns how many cells a box has, from `below` on; the box may be NULL.
static uint32_t n_cells(const struct tb_matrix_box *box)
{
	return box ? box->n_below + box->n_above + box->n_nodes : 0;
}

// box_links lists the links of a switch's box in the matrix that the brush does not leave
// out.
static void box_links(const struct tb_detail *detail, const struct tb_matrix_box *box)
{
	const struct tb_viewer_data *data = detail->pane->data;
	const uint8_t *outside = tb_selection_outside(detail->pane->selection);
	char text[80];
	bool leaves = data->matrix.leaves;
	snprintf(text, sizeof text, "%slinks %s it%s, and their %s",
		outside ? "brushed " : "", leaves ? "out of" : "into",
		!box || !box->n_nodes ? ""
		: leaves	      ? " and from nodes"
				      : " and to nodes",
		tb_link_figures[data->metric].name);
	tb_sheet_gap(detail->sheet);
	tb_sheet_caption(detail->sheet, text);
	for (uint32_t i = 0; i < n_cells(box); i++) {
		uint32_t link = box->below[i].link.id;
		if (link != TB_ID_NONE && !(outside && outside[link]))
			tb_detail_link_item(detail, link);
	}
}

void tb_detail_switch(const struct tb_detail *detail, uint32_t id)
{
	const struct tb_viewer_data *data = detail->pane->data;
	const struct tb_run_switch *sw = &tb_run_switches(data->run)[id];
	const struct tb_matrix_box *box =
		tb_matrix_box_of(&data->matrix, (struct tb_switch){id});
	struct tb_link_sample sum = {.n_packets = 0};
	char text[96];
	for (uint32_t i = 0; i < n_cells(box); i++)
		if (box->below[i].link.id != TB_ID_NONE)
			tb_link_sample_add(&sum, &data->samples[box->below[i].link.id]);
	tb_sheet_heading(detail->sheet, "Switch", sw->name);
	snprintf(text, sizeof text, "%" PRIu32 " (the top is %" PRIu32 ")", sw->at.level,
		data->info->n_levels - 1);
	tb_sheet_row(detail->sheet, "level", text);
	snprintf(text, sizeof text, "%" PRIu32 " down, %" PRIu32 " up",
		sw->at.n_down_ports, sw->at.n_up_ports);
	tb_sheet_row(detail->sheet, "ports", text);
	dead_row(detail, sw->dead_at_ps);
	tb_detail_routes_from(detail);
	tb_sheet_gap(detail->sheet);
	if (tb_selection_outside(detail->pane->selection))
		tb_sheet_caption(detail->sheet, "sums of all its links, brushed or not");
	if (tb_run_unmeasured_all(sw->known))
		tb_sheet_caption(
			detail->sheet, "not measured: no port at its links counted");
	else
		add_link_figures(detail, &sum, sw->known);
	box_links(detail, box);
	tb_detail_waits(detail, (struct tb_pick){TB_PICK_SWITCH, id});
	tb_detail_crossing(detail, (struct tb_pick){TB_PICK_SWITCH, id});
}

// own_links sums a node's links into the network, or out of it.
static struct tb_link_sample own_links(
	const struct tb_pane *pane, uint32_t node, enum tb_link_kind kind)
{
	const struct tb_run_link *links = tb_run_links(pane->data->run);
	struct tb_link_sample sum = {.n_packets = 0};
	for (uint32_t i = 0; i < pane->data->info->n_links; i++) {
		const struct tb_link_info *at = &links[i].at;
		uint32_t end = kind == TB_LINK_INJECTION ? at->from : at->to;
		if (at->kind == kind && end == node)
			tb_link_sample_add(&sum, &pane->data->samples[i]);
	}
	return sum;
}

void tb_detail_node(const struct tb_detail *detail, uint32_t node)
{
	struct tb_pane *pane = detail->pane;
	const char *name = tb_run_node_name(pane->data->run, (struct tb_node){node});
	char text[48];
	uint32_t n;
	snprintf(text, sizeof text, "%" PRIu32, node);
	tb_sheet_heading(detail->sheet, "Node", text);
	if (name[0])
		tb_sheet_row(detail->sheet, "host", name);
	tb_detail_routes_from(detail);
	struct tb_link_sample in = own_links(pane, node, TB_LINK_INJECTION);
	struct tb_link_sample out = own_links(pane, node, TB_LINK_EJECTION);
	tb_sheet_caption(detail->sheet, "in the window, on the wire");
	tb_sheet_row(
		detail->sheet, "Bytes out", tb_format_size(in.bytes, text, sizeof text));
	tb_sheet_row(
		detail->sheet, "Bytes in", tb_format_size(out.bytes, text, sizeof text));
	tb_sheet_row(detail->sheet, "Wait at its switch",
		tb_metric_format(TB_WAIT, in.wait_ps, text, sizeof text));
	tb_sheet_gap(detail->sheet);
	struct tb_flow_sample sent = tb_detail_sum(detail, node, pane->data->job, &n);
	snprintf(text, sizeof text, "sent in %" PRIu32 " flows, whole run", n);
	tb_sheet_caption(detail->sheet, text);
	tb_detail_sent(detail, &sent);
	tb_detail_flows(detail, node, TB_ID_NONE);
}

// add_node_jobs lists the jobs of a run of several.
static void add_node_jobs(const struct tb_detail *detail)
{
	const struct tb_viewer_data *data = detail->pane->data;
	if (data->info->n_jobs < 2)
		return;
	tb_sheet_gap(detail->sheet);
	const struct tb_job_times *times = tb_viewer_times(detail->pane->viewer);
	tb_sheet_caption(detail->sheet, times ? "jobs, and their run times" : "jobs");
	for (uint32_t i = 0; i < data->info->n_jobs; i++) {
		char text[32] = "";
		if (times && times[i].run.known)
			tb_format_time(times[i].run.run_ps, text, sizeof text);
		tb_detail_job_item(detail, i, text);
	}
}

// capture_rows shows what decides the figures of a capture.
static void capture_rows(const struct tb_detail *detail)
{
	const struct tb_run_info *info = detail->pane->data->info;
	struct tb_run_capture capture;
	char text[48];
	if (!tb_run_capture(info, &capture))
		return;
	if (strcmp(info->input_kind, "packets") != 0)
		tb_sheet_row(detail->sheet, "captured, on the wire",
			tb_format_size(capture.wire_bytes, text, sizeof text));
	tb_sheet_row(detail->sheet, "captured payload",
		tb_format_size(capture.payload_bytes, text, sizeof text));
	snprintf(text, sizeof text, "%.6g", info->time_scale);
	tb_sheet_row(detail->sheet, "time scale", text);
	tb_sheet_row(detail->sheet, "idle taken out",
		capture.idle_ps ? tb_format_time(capture.idle_ps, text, sizeof text)
				: "none");
}

static void count_row(const struct tb_detail *detail, const char *name, uint64_t n)
{
	char text[32];
	tb_sheet_row(detail->sheet, name, tb_format_count(n, text, sizeof text));
}

void tb_detail_run(const struct tb_detail *detail)
{
	const struct tb_run_info *info = detail->pane->data->info;
	char text[96];
	snprintf(text, sizeof text, "%" PRId64, info->id);
	tb_sheet_heading(detail->sheet, "Run", text);
	snprintf(text, sizeof text, "%.32s%s", info->network_name, tb_run_caution(info));
	tb_sheet_row(detail->sheet, "network", text);
	count_row(detail, "nodes", info->n_nodes);
	if (info->network.n_rails > 1)
		count_row(detail, "rails", info->network.n_rails);
	count_row(detail, "switches", info->n_switches);
	count_row(detail, "links", info->n_links);
	if (tb_run_n_faults(detail->pane->data->run)) {
		snprintf(text, sizeof text, "%" PRIu32 " (filter: dead)",
			tb_run_n_faults(detail->pane->data->run));
		tb_sheet_row(detail->sheet, "dead or dying", text);
	}
	tb_sheet_gap(detail->sheet);
	bool measured = tb_run_is_measured(info);
	tb_sheet_row(detail->sheet, measured ? "measured" : "simulated",
		tb_format_time(info->simulated_ps, text, sizeof text));
	if (!measured)
		count_row(detail, "messages", info->n_messages);
	const struct tb_run *run = detail->pane->data->run;
	if (tb_run_received_known(run, TB_PACKETS) == TB_NOT_MEASURED)
		tb_sheet_row(detail->sheet, "packets", "not measured");
	else
		count_row(detail, "packets", info->n_packets);
	tb_format_size(info->delivered_bytes, text, sizeof text);
	tb_sheet_row(detail->sheet, tb_run_carried_title(info),
		tb_run_received_known(run, TB_BYTES) == TB_NOT_MEASURED ? "not measured"
									: text);
	capture_rows(detail);
	tb_sheet_row(detail->sheet, "complete",
		info->complete			? "yes"
		: detail->pane->data->replaying ? "no, being replayed"
						: "no, stopped early");
	if (info->n_notes) {
		snprintf(text, sizeof text, "%zu, with the findings", info->n_notes);
		tb_sheet_row(detail->sheet, "notes", text);
	}
	tb_sheet_gap(detail->sheet);
	tb_sheet_caption(detail->sheet, "Click a switch or a link for its figures.");
	add_node_jobs(detail);
}

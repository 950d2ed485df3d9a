// The selection in full: the place of a link or switch and all its figures in the window;
// the figures of the run when nothing is selected.
#include "metric_text.h"
#include "run_capture.h"
#include "run_text.h"
#include "views.h"

#include <inttypes.h>
#include <math.h>

#define PAD    14
#define LINE_H 19

// Where the next line goes.
struct sheet {
	struct tb_pane *pane;
	struct tb_picture *picture;
	struct tb_box place;
	double y;
};

static void heading(struct sheet *sheet, const char *kind, const char *name)
{
	struct tb_box box = {
		sheet->place.x + PAD, sheet->y, sheet->place.w - 2 * PAD, 18};
	double w = tb_text_width(TB_FONT_TEXT, 12, kind) + 7;
	struct tb_type type = tb_style_type(sheet->pane->style, TB_FONT_TEXT, 12, true);
	tb_picture_text(sheet->picture, box, type, kind);
	box.x += w;
	box.w -= w;
	type = tb_style_type(sheet->pane->style, TB_FONT_BOLD, 13, false);
	tb_picture_text(sheet->picture, box, type, name);
	sheet->y += 24;
}

static void row(struct sheet *sheet, const char *label, const char *value)
{
	struct tb_box box = {
		sheet->place.x + PAD, sheet->y, sheet->place.w - 2 * PAD, LINE_H - 2};
	struct tb_type type = tb_style_type(sheet->pane->style, TB_FONT_TEXT, 12, true);
	if (sheet->y + LINE_H > sheet->place.y + sheet->place.h)
		return;
	tb_picture_text(sheet->picture, box, type, label);
	type = tb_style_type(sheet->pane->style, TB_FONT_TEXT, 12, false);
	type.align = TB_ALIGN_RIGHT;
	box.x += 108;
	box.w -= 108;
	tb_picture_text(sheet->picture, box, type, value);
	sheet->y += LINE_H;
}

static void gap(struct sheet *sheet)
{
	const struct tb_palette *palette = tb_palette_of(sheet->pane->style->theme);
	double y = sheet->y + 4.5;
	tb_picture_line(sheet->picture,
		(struct tb_box){sheet->place.x + PAD, y, sheet->place.w - 2 * PAD, 0}, 1,
		palette->line);
	sheet->y += 10;
}

// sum_into adds a link's figures to a switch's.
static void sum_into(struct tb_link_sample *sum, const struct tb_link_sample *sample)
{
	sum->n_packets += sample->n_packets;
	sum->n_blocked += sample->n_blocked;
	sum->wait_ps += sample->wait_ps;
	sum->stall_ps += sample->stall_ps;
	sum->busy_ps += sample->busy_ps;
	sum->bytes += sample->bytes;
	if (sample->longest_wait_ps > sum->longest_wait_ps)
		sum->longest_wait_ps = sample->longest_wait_ps;
}

static void figures(struct sheet *sheet, const struct tb_link_sample *sample)
{
	char value[48];
	for (int i = TB_WAIT; i <= TB_LONGEST; i++) {
		enum tb_metric metric = (enum tb_metric)i;
		row(sheet, tb_metric_title(metric),
			tb_metric_format(metric, tb_metric_of(sample, metric), value,
				sizeof value));
	}
}

// One end of a link.
struct end {
	bool is_node;
	uint32_t id, port;
};

static char *end_text(const struct tb_run *run, struct end end, char *buffer, size_t size)
{
	if (!end.is_node) {
		snprintf(buffer, size, "switch %s, port %" PRIu32,
			tb_run_switches(run)[end.id].name, end.port);
		return buffer;
	}
	const char *name = tb_run_node_name(run, (struct tb_node){end.id});
	if (name[0])
		snprintf(buffer, size, "node %" PRIu32 " (%s)", end.id, name);
	else
		snprintf(buffer, size, "node %" PRIu32, end.id);
	return buffer;
}

// dead_row says when a link or switch died, or will.
static void dead_row(struct sheet *sheet, tb_time_ps dead_at_ps)
{
	char text[48] = "from the start", time[24];
	if (dead_at_ps == TB_TIME_NEVER)
		return;
	if (dead_at_ps > 0)
		snprintf(text, sizeof text, "%sfrom %s on",
			tb_viewer_data_is_dead(sheet->pane->data, dead_at_ps) ? ""
									      : "later, ",
			tb_format_time(dead_at_ps, time, sizeof time));
	row(sheet, "dead", text);
}

static void link_sheet(struct sheet *sheet, uint32_t id)
{
	const struct tb_pane *pane = sheet->pane;
	const struct tb_run_link *link = &tb_run_links(pane->data->run)[id];
	const struct tb_link_info *at = &link->at;
	const struct tb_link_sample *sample = &pane->data->samples[id];
	const struct end from = {at->kind == TB_LINK_INJECTION, at->from, at->from_port};
	const struct end to = {at->kind == TB_LINK_EJECTION, at->to, at->to_port};
	char text[96];
	char other[24];
	heading(sheet, "Link", link->name);
	row(sheet, "from", end_text(pane->data->run, from, text, sizeof text));
	row(sheet, "to", end_text(pane->data->run, to, text, sizeof text));
	row(sheet, "rate", tb_format_rate((double)at->bytes_per_s, text, sizeof text));
	snprintf(text, sizeof text, "%s, %" PRIu32 " %s",
		tb_format_time(at->latency_ps, other, sizeof other), at->n_vcs,
		pane->data->info->words->channels);
	row(sheet, "latency", text);
	dead_row(sheet, link->dead_at_ps);
	gap(sheet);
	figures(sheet, sample);
	double span = tb_viewer_data_window_ps(pane->data);
	if (span > 0) {
		gap(sheet);
		snprintf(text, sizeof text, "%.1f %% of the window",
			100 * (double)sample->busy_ps / span);
		row(sheet, "Utilisation", text);
		row(sheet, "Throughput",
			tb_format_rate((double)sample->bytes / (span / TB_PS_PER_S), text,
				sizeof text));
	}
}

static void switch_sheet(struct sheet *sheet, uint32_t id)
{
	const struct tb_pane *pane = sheet->pane;
	const struct tb_run_switch *sw = &tb_run_switches(pane->data->run)[id];
	const struct tb_run_link *links = tb_run_links(pane->data->run);
	struct tb_link_sample sum = {.n_packets = 0};
	const struct tb_run_link *most = NULL;
	char text[96];
	char value[48];
	for (uint32_t i = 0; i < pane->data->info->n_links; i++) {
		const struct tb_link_info *at = &links[i].at;
		if (at->kind == TB_LINK_EJECTION || at->to != id)
			continue;
		sum_into(&sum, &pane->data->samples[i]);
		if (!most || tb_metric_of(&pane->data->samples[i], pane->data->metric) >
				     tb_metric_of(&pane->data->samples[most->id.id],
					     pane->data->metric))
			most = &links[i];
	}
	heading(sheet, "Switch", sw->name);
	snprintf(text, sizeof text, "%" PRIu32 " (the top is %" PRIu32 ")", sw->at.level,
		pane->data->info->n_levels - 1);
	row(sheet, "level", text);
	snprintf(text, sizeof text, "%" PRIu32 " down, %" PRIu32 " up",
		sw->at.n_down_ports, sw->at.n_up_ports);
	row(sheet, "ports", text);
	dead_row(sheet, sw->dead_at_ps);
	gap(sheet);
	figures(sheet, &sum);
	if (!most)
		return;
	gap(sheet);
	row(sheet, "Hottest link", most->name);
	row(sheet, "",
		tb_metric_format(pane->data->metric,
			tb_metric_of(
				&pane->data->samples[most->id.id], pane->data->metric),
			value, sizeof value));
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
			sum_into(&sum, &pane->data->samples[i]);
	}
	return sum;
}

// flow_rows adds the figures of a flow, or of a sum of flows.
static void flow_rows(struct sheet *sheet, const struct tb_flow_sample *flow)
{
	char text[48];
	row(sheet, "Messages", tb_format_count(flow->n_messages, text, sizeof text));
	row(sheet, "Payload", tb_format_size(flow->bytes, text, sizeof text));
	if (flow->n_messages == 0)
		return;
	row(sheet, "Mean latency",
		tb_format_time((tb_time_ps)(flow->latency_ps / flow->n_messages), text,
			sizeof text));
	row(sheet, "Worst latency",
		tb_format_time((tb_time_ps)flow->worst_latency_ps, text, sizeof text));
	if (flow->ideal_ps) {
		snprintf(text, sizeof text, "%.3g times the ideal time",
			(double)flow->latency_ps / (double)flow->ideal_ps);
		row(sheet, "Slowdown", text);
	}
	row(sheet, "Header wait",
		tb_format_time((tb_time_ps)flow->wait_ps, text, sizeof text));
}

static void caption(struct sheet *sheet, const char *text)
{
	tb_picture_text(sheet->picture,
		(struct tb_box){
			sheet->place.x + PAD, sheet->y, sheet->place.w - 2 * PAD, LINE_H},
		tb_style_type(sheet->pane->style, TB_FONT_TEXT, 12, true), text);
	sheet->y += LINE_H;
}

// sent_by sums the flows from a node, or of a job; TB_ID_NONE for any.
static struct tb_flow_sample sent_by(
	struct tb_pane *pane, uint32_t node, uint32_t job, uint32_t *n)
{
	const struct tb_flow_table *table = tb_viewer_flows(pane->viewer);
	struct tb_flow_sample sum = {.n_messages = 0};
	*n = 0;
	for (uint32_t i = 0; table && i < table->n; i++) {
		const struct tb_flow_sample *flow = &table->rows[i];
		if ((node != TB_ID_NONE && flow->source.id != node) ||
			(job != TB_ID_NONE && flow->job != job))
			continue;
		tb_flow_add(&sum, flow);
		++*n;
	}
	return sum;
}

static void node_sheet(struct sheet *sheet, uint32_t node)
{
	struct tb_pane *pane = sheet->pane;
	const char *name = tb_run_node_name(pane->data->run, (struct tb_node){node});
	char text[48];
	uint32_t n;
	snprintf(text, sizeof text, "%" PRIu32, node);
	heading(sheet, "Node", text);
	if (name[0])
		row(sheet, "host", name);
	struct tb_link_sample in = own_links(pane, node, TB_LINK_INJECTION);
	struct tb_link_sample out = own_links(pane, node, TB_LINK_EJECTION);
	caption(sheet, "in the window, on the wire");
	row(sheet, "Bytes out", tb_format_size(in.bytes, text, sizeof text));
	row(sheet, "Bytes in", tb_format_size(out.bytes, text, sizeof text));
	row(sheet, "Wait at its switch",
		tb_metric_format(TB_WAIT, in.wait_ps, text, sizeof text));
	gap(sheet);
	struct tb_flow_sample sent = sent_by(pane, node, TB_ID_NONE, &n);
	snprintf(text, sizeof text, "sent in %" PRIu32 " flows, whole run", n);
	caption(sheet, text);
	flow_rows(sheet, &sent);
}

static void job_sheet(struct sheet *sheet, uint32_t job)
{
	char text[48];
	uint32_t n;
	heading(sheet, "Job", tb_run_job_name(sheet->pane->data->run, job));
	struct tb_flow_sample sent = sent_by(sheet->pane, TB_ID_NONE, job, &n);
	snprintf(text, sizeof text, "in %" PRIu32 " flows, whole run", n);
	caption(sheet, text);
	flow_rows(sheet, &sent);
}

static void flow_sheet(struct sheet *sheet, uint32_t index)
{
	struct tb_pane *pane = sheet->pane;
	const struct tb_flow_table *table = tb_viewer_flows(pane->viewer);
	char text[96], from[24], to[24];
	if (!table || index >= table->n)
		return;
	const struct tb_flow_sample *flow = &table->rows[index];
	snprintf(text, sizeof text, "%" PRIu32 " > %" PRIu32, flow->source.id,
		flow->destination.id);
	heading(sheet, table->group > 1 ? "Flows of groups" : "Flow", text);
	row(sheet, "from",
		end_text(pane->data->run, (struct end){true, flow->source.id, 0}, text,
			sizeof text));
	row(sheet, "to",
		end_text(pane->data->run, (struct end){true, flow->destination.id, 0},
			text, sizeof text));
	if (flow->job != TB_ID_NONE && tb_run_job_name(pane->data->run, flow->job)[0])
		row(sheet, "job", tb_run_job_name(pane->data->run, flow->job));
	gap(sheet);
	flow_rows(sheet, flow);
	if (flow->last_ps == 0)
		return;
	gap(sheet);
	snprintf(text, sizeof text, "%s to %s",
		tb_format_time(flow->first_ps, from, sizeof from),
		tb_format_time(flow->last_ps, to, sizeof to));
	row(sheet, "under way", text);
}

static void party_row(struct sheet *sheet, const char *label, uint32_t job,
	struct tb_node source, struct tb_node destination)
{
	char text[64];
	if (source.id != TB_ID_NONE)
		snprintf(text, sizeof text, "%" PRIu32 " > %" PRIu32, source.id,
			destination.id);
	else
		snprintf(text, sizeof text, "various flows");
	row(sheet, label, text);
	if (tb_run_job_name(sheet->pane->data->run, job)[0])
		row(sheet, "of job", tb_run_job_name(sheet->pane->data->run, job));
}

static void pair_sheet(struct sheet *sheet, uint32_t index)
{
	uint32_t n;
	char text[48];
	const struct tb_blame_sample *pair = tb_viewer_blame(sheet->pane->viewer, &n);
	if (!pair || index >= n)
		return;
	pair += index;
	const struct tb_run_link *links = tb_run_links(sheet->pane->data->run);
	heading(sheet, "Wait",
		tb_metric_format(TB_WAIT, pair->wait_ps, text, sizeof text));
	party_row(sheet, "who waited", pair->victim_job, pair->victim_source,
		pair->victim_destination);
	party_row(sheet, "for whom", pair->culprit_job, pair->culprit_source,
		pair->culprit_destination);
	gap(sheet);
	row(sheet, "arrived over", links[pair->link.id].name);
	row(sheet, "root", links[pair->root.id].name);
	row(sheet, "times", tb_format_count(pair->n_waits, text, sizeof text));
	gap(sheet);
	caption(sheet, "whole run; marked: the paths of both");
}

static void run_sheet(struct sheet *sheet)
{
	const struct tb_run_info *info = sheet->pane->data->info;
	char text[96];
	snprintf(text, sizeof text, "%" PRId64, info->id);
	heading(sheet, "Run", text);
	row(sheet, "network", info->network_name);
	row(sheet, "nodes", tb_format_count(info->n_nodes, text, sizeof text));
	if (info->network.n_rails > 1)
		row(sheet, "rails",
			tb_format_count(info->network.n_rails, text, sizeof text));
	row(sheet, "switches", tb_format_count(info->n_switches, text, sizeof text));
	row(sheet, "links", tb_format_count(info->n_links, text, sizeof text));
	if (tb_run_n_faults(sheet->pane->data->run)) {
		snprintf(text, sizeof text, "%" PRIu32 " (filter: dead)",
			tb_run_n_faults(sheet->pane->data->run));
		row(sheet, "dead or dying", text);
	}
	gap(sheet);
	row(sheet, "simulated", tb_format_time(info->simulated_ps, text, sizeof text));
	row(sheet, "messages", tb_format_count(info->n_messages, text, sizeof text));
	row(sheet, "packets", tb_format_count(info->n_packets, text, sizeof text));
	row(sheet, tb_run_carried_title(info),
		tb_format_size(info->payload_bytes, text, sizeof text));
	row(sheet, "complete", info->complete ? "yes" : "no, stopped early");
	gap(sheet);
	tb_picture_text(sheet->picture,
		(struct tb_box){
			sheet->place.x + PAD, sheet->y, sheet->place.w - 2 * PAD, LINE_H},
		tb_style_type(sheet->pane->style, TB_FONT_TEXT, 12, true),
		"Click a switch or a link for its figures.");
}

static void draw(struct tb_pane *pane, struct tb_picture *picture)
{
	struct tb_box place = pane->place;
	const struct tb_palette *palette = tb_palette_of(pane->style->theme);
	struct sheet sheet = {pane, picture, place, place.y + 12};
	tb_picture_rect(picture, place, palette->panel);
	tb_picture_line(picture, (struct tb_box){place.x + 0.5, place.y, 0, place.h}, 1,
		palette->line);
	tb_picture_line(picture, (struct tb_box){place.x, place.y + 0.5, place.w, 0}, 1,
		palette->line);
	tb_picture_clip(picture, place);
	uint32_t index = pane->selection->selected.index;
	switch ((int)pane->selection->selected.kind) {
	case TB_PICK_LINK:
		link_sheet(&sheet, index);
		break;
	case TB_PICK_SWITCH:
		switch_sheet(&sheet, index);
		break;
	case TB_PICK_NODE:
		node_sheet(&sheet, index);
		break;
	case TB_PICK_JOB:
		job_sheet(&sheet, index);
		break;
	case TB_PICK_FLOW:
		flow_sheet(&sheet, index);
		break;
	case TB_PICK_PAIR:
		pair_sheet(&sheet, index);
		break;
	default:
		run_sheet(&sheet);
		break;
	}
	tb_picture_unclip(picture);
}

const struct tb_view tb_view_detail = {.slot = TB_SLOT_DETAIL, .draw = draw};

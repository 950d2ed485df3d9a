// What crosses the network: the sheets of a job, a flow and a wait, and who crosses a
// link or switch.
#include "detail.h"
#include "run_capture.h"
#include "run_text.h"

#include "select.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#define MOST_ITEMS 200 // of a list

// latency_rows shows the mean latency of a flow's messages and its parts.
static void latency_rows(
	const struct tb_detail *detail, const struct tb_flow_sample *flow)
{
	const struct {
		const char *label;
		uint64_t sum_ps;
	} rows[] = {{"Mean latency", flow->latency_ps}, {"- own queue", flow->queue_ps},
		{"- network", flow->network_ps},
		{"- software", flow->latency_ps - flow->queue_ps - flow->network_ps}};
	char text[48];
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
		tb_sheet_row(detail->sheet, rows[i].label,
			tb_format_time((tb_time_ps)(rows[i].sum_ps / flow->n_messages),
				text, sizeof text));
}

void tb_detail_sent(const struct tb_detail *detail, const struct tb_flow_sample *flow)
{
	char text[48];
	tb_sheet_row(detail->sheet, "Messages",
		tb_format_count(flow->n_messages, text, sizeof text));
	tb_sheet_row(detail->sheet, tb_run_carried_column(detail->pane->data->info),
		tb_format_size(flow->bytes, text, sizeof text));
	if (flow->n_messages == 0)
		return;
	latency_rows(detail, flow);
	tb_sheet_row(detail->sheet, "Worst latency",
		tb_format_time((tb_time_ps)flow->worst_latency_ps, text, sizeof text));
	if (flow->ideal_ps) {
		snprintf(text, sizeof text, "%.3g times an idle network",
			tb_flow_slowdown(flow));
		tb_sheet_row(detail->sheet, "Slowdown", text);
	}
	tb_sheet_row(detail->sheet, "Header wait",
		tb_format_time((tb_time_ps)flow->wait_ps, text, sizeof text));
}

struct tb_flow_sample tb_detail_sum(
	const struct tb_detail *detail, uint32_t node, uint32_t job, uint32_t *n)
{
	const struct tb_flow_table *table = tb_viewer_flows(detail->pane->viewer);
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

struct tb_sheet_line *tb_detail_job_item(
	const struct tb_detail *detail, uint32_t job, const char *value)
{
	struct tb_sheet_line *line =
		tb_sheet_item(detail->sheet, (struct tb_pick){TB_PICK_JOB, job},
			tb_run_job_name(detail->pane->data->run, job), value);
	line->has_chip = true;
	line->chip = tb_job_colour(detail->pane->style->theme, job);
	return line;
}

struct tb_sheet_line *tb_detail_flow_item(
	const struct tb_detail *detail, uint32_t index, const char *value)
{
	char text[160];
	const struct tb_flow_table *table = tb_viewer_flows(detail->pane->viewer);
	const struct tb_flow_sample *flow = &table->rows[index];
	tb_run_pair_text(detail->pane->data->run, flow->source, flow->destination,
		table->group > 1 ? 0 : detail->pane->place.w - 120, text, sizeof text);
	struct tb_sheet_line *line = tb_sheet_item(
		detail->sheet, (struct tb_pick){TB_PICK_FLOW, index}, text, value);
	line->has_chip = detail->pane->data->info->n_jobs > 1;
	line->chip = tb_job_colour(detail->pane->style->theme, flow->job);
	return line;
}

static void count_rest(const struct tb_detail *detail, uint32_t n, uint32_t shown)
{
	char text[64], count[32];
	if (n <= shown)
		return;
	snprintf(text, sizeof text, "and %s more with fewer bytes",
		tb_format_count(n - shown, count, sizeof count));
	tb_sheet_caption(detail->sheet, text);
}

// crossing_jobs lists the jobs of a run of several.
static void crossing_jobs(
	const struct tb_detail *detail, const struct tb_crossing *crossing)
{
	char text[64], size[32];
	if (detail->pane->data->info->n_jobs < 2)
		return;
	for (uint32_t i = 0; i < crossing->n_jobs; i++) {
		const struct tb_crossing_job *job = &crossing->jobs[i];
		snprintf(text, sizeof text, "%" PRIu32 " %s, %s", job->n_flows,
			job->n_flows == 1 ? "flow" : "flows",
			tb_format_size(job->bytes, size, sizeof size));
		struct tb_sheet_line *line = tb_detail_job_item(detail, job->job, text);
		line->to = (double)job->bytes / fmax((double)crossing->jobs[0].bytes, 1);
	}
}

void tb_detail_crossing(const struct tb_detail *detail, struct tb_pick pick)
{
	const struct tb_viewer_data *data = detail->pane->data;
	const struct tb_flow_table *table = tb_viewer_flows(detail->pane->viewer);
	const struct tb_crossing *crossing =
		table && table->group == 1
			? tb_viewer_crossing(detail->pane->viewer, pick)
			: NULL;
	char text[96], count[32];
	tb_sheet_gap(detail->sheet);
	if (!crossing) {
		tb_sheet_caption(detail->sheet,
			table && table->group > 1
				? "There are too many flows to know who crosses it."
				: "Finding who crosses it.");
		return;
	}
	snprintf(text, sizeof text, "%s %s %s it%s",
		tb_format_count(crossing->n, count, sizeof count),
		crossing->n == 1 ? "flow" : "flows",
		!crossing->exact   ? "may cross"
		: crossing->n == 1 ? "crosses"
				   : "cross",
		tb_window_whole(data->info, data->window) ? ", by bytes"
							  : " in the window");
	tb_sheet_caption(detail->sheet, text);
	crossing_jobs(detail, crossing);
	uint32_t shown = crossing->n < MOST_ITEMS ? crossing->n : MOST_ITEMS;
	for (uint32_t i = 0; i < shown; i++) {
		const struct tb_flow_sample *flow = &table->rows[crossing->flows[i]];
		struct tb_sheet_line *line =
			tb_detail_flow_item(detail, crossing->flows[i],
				tb_format_size(flow->bytes, text, sizeof text));
		line->to = (double)flow->bytes /
			   fmax((double)table->rows[crossing->flows[0]].bytes, 1);
	}
	count_rest(detail, crossing->n, shown);
}

void tb_detail_flows(const struct tb_detail *detail, uint32_t node, uint32_t job)
{
	const struct tb_flow_table *table = tb_viewer_flows(detail->pane->viewer);
	struct tb_flow_bytes *list =
		table ? malloc((table->n + 1u) * sizeof *list) : NULL;
	if (job == TB_ID_NONE)
		job = detail->pane->data->job;
	uint32_t n = 0;
	char text[48];
	for (uint32_t i = 0; list && table->group == 1 && i < table->n; i++) {
		const struct tb_flow_sample *flow = &table->rows[i];
		bool of_node = flow->source.id == node || flow->destination.id == node;
		if ((node == TB_ID_NONE || of_node) &&
			(job == TB_ID_NONE || flow->job == job))
			list[n++] = (struct tb_flow_bytes){flow->bytes, i};
	}
	uint32_t shown = n < MOST_ITEMS ? n : MOST_ITEMS;
	if (n) {
		tb_select_first(list, n, sizeof *list, shown, tb_flow_bytes_order);
		tb_sheet_gap(detail->sheet);
		tb_sheet_caption(detail->sheet, "flows, by bytes, whole run");
	}
	for (uint32_t i = 0; i < shown; i++) {
		struct tb_sheet_line *line = tb_detail_flow_item(detail, list[i].row,
			tb_format_size(list[i].bytes, text, sizeof text));
		line->to = (double)list[i].bytes / fmax((double)list[0].bytes, 1);
	}
	count_rest(detail, n, shown);
	free(list);
}

static void time_row(const struct tb_detail *detail, const char *label, double time_ps)
{
	char text[48], time[32];
	tb_format_time((tb_time_ps)(time_ps < 0 ? -time_ps : time_ps), time, sizeof time);
	snprintf(text, sizeof text, "%s%s", time_ps < 0 ? "-" : "", time);
	tb_sheet_row(detail->sheet, label, text);
}

static void part_row(const struct tb_detail *detail, const char *label,
	const struct tb_job_times *times, enum tb_job_part part)
{
	tb_time_ps part_ps = 0;
	if (tb_job_times_part(times, part, &part_ps))
		time_row(detail, label, (double)part_ps);
}

static void latency_row(
	const struct tb_detail *detail, const char *label, const struct tb_job_time *time)
{
	if (time->known)
		time_row(detail, label, time->mean_latency_ps);
}

void tb_detail_job(const struct tb_detail *detail, uint32_t job)
{
	char text[48];
	uint32_t n;
	tb_sheet_heading(
		detail->sheet, "Job", tb_run_job_name(detail->pane->data->run, job));
	// Add how long a job took and, after a replay with --alone, what of it the
	// others and the network cost it.
	const struct tb_job_times *all = tb_viewer_times(detail->pane->viewer);
	const struct tb_job_times *times = all ? &all[job] : NULL;
	if (times && times->run.known) {
		tb_sheet_caption(detail->sheet, "from first post to last delivery");
		time_row(detail, "run time", (double)times->run.run_ps);
		if (times->alone.known)
			time_row(detail, "alone", (double)times->alone.run_ps);
		part_row(detail, "on an ideal network", times, TB_JOB_IDEAL);
		part_row(detail, "the others cost it", times, TB_JOB_OTHERS);
		part_row(detail, "the network costs it", times, TB_JOB_NETWORK);
		if (times->alone.known || times->ideal.known) {
			tb_sheet_gap(detail->sheet);
			tb_sheet_caption(detail->sheet, "latency of a message, mean");
			latency_row(detail, "with the others", &times->run);
			latency_row(detail, "alone", &times->alone);
			latency_row(detail, "on an ideal network", &times->ideal);
		}
		tb_sheet_gap(detail->sheet);
	}
	struct tb_flow_sample sent = tb_detail_sum(detail, TB_ID_NONE, job, &n);
	snprintf(text, sizeof text, "in %" PRIu32 " flows, whole run", n);
	tb_sheet_caption(detail->sheet, text);
	tb_detail_sent(detail, &sent);
	tb_detail_job_waits(detail, job);
	tb_detail_flows(detail, TB_ID_NONE, job);
}

// traffic_way lists the links of a flow's way, or of all its shortest paths.
static void traffic_way(const struct tb_detail *detail, const struct tb_flow_sample *flow)
{
	const struct tb_viewer_data *data = detail->pane->data;
	char text[64];
	uint32_t n = 0;
	struct tb_paths *paths = tb_viewer_paths(detail->pane->viewer);
	if (!paths)
		return;
	const struct tb_link *links =
		tb_paths_way(paths, flow->source, flow->destination, &n);
	snprintf(text, sizeof text, "links that it %s, and their %s",
		tb_paths_are_known(paths) ? "crosses" : "may cross",
		tb_link_figures[data->metric].name);
	tb_sheet_gap(detail->sheet);
	tb_sheet_caption(detail->sheet, text);
	for (uint32_t i = 0; i < n; i++)
		tb_detail_link_item(detail, links[i].id);
}

void tb_detail_flow(const struct tb_detail *detail, uint32_t index)
{
	struct tb_pane *pane = detail->pane;
	const struct tb_flow_table *table = tb_viewer_flows(pane->viewer);
	char text[96], from[24], to[24];
	if (!table || index >= table->n)
		return;
	const struct tb_flow_sample *flow = &table->rows[index];
	snprintf(text, sizeof text, "%" PRIu32 " > %" PRIu32, flow->source.id,
		flow->destination.id);
	tb_sheet_heading(
		detail->sheet, table->group > 1 ? "Flows of groups" : "Flow", text);
	tb_sheet_name(detail->sheet, (struct tb_pick){TB_PICK_NODE, flow->source.id},
		"from", tb_detail_node_text(detail, flow->source.id, text, sizeof text));
	tb_sheet_name(detail->sheet, (struct tb_pick){TB_PICK_NODE, flow->destination.id},
		"to",
		tb_detail_node_text(detail, flow->destination.id, text, sizeof text));
	if (flow->job != TB_ID_NONE && tb_run_job_name(pane->data->run, flow->job)[0])
		tb_sheet_name(detail->sheet, (struct tb_pick){TB_PICK_JOB, flow->job},
			"job", tb_run_job_name(pane->data->run, flow->job));
	tb_sheet_gap(detail->sheet);
	tb_detail_sent(detail, flow);
	if (flow->last_ps == 0)
		return;
	tb_sheet_gap(detail->sheet);
	snprintf(text, sizeof text, "%s to %s",
		tb_format_time(flow->first_ps, from, sizeof from),
		tb_format_time(flow->last_ps, to, sizeof to));
	tb_sheet_row(detail->sheet, "under way", text);
	tb_detail_messages(detail, flow);
	tb_detail_flow_waits(detail, flow);
	traffic_way(detail, flow);
}

static void party_row(const struct tb_detail *detail, const char *label, uint32_t job,
	struct tb_node source, struct tb_node destination)
{
	char text[64];
	snprintf(text, sizeof text, "%" PRIu32 " > %" PRIu32, source.id, destination.id);
	tb_sheet_row(detail->sheet, label, text);
	if (tb_run_job_name(detail->pane->data->run, job)[0])
		tb_sheet_row(detail->sheet, "of job",
			tb_run_job_name(detail->pane->data->run, job));
}

void tb_detail_pair(const struct tb_detail *detail, uint32_t index)
{
	char text[48];
	const struct tb_heavy_waits *blame = tb_viewer_blame(detail->pane->viewer);
	if (!blame || index >= blame->listed.n)
		return;
	const struct tb_blame_sample *pair = &blame->rows[index];
	const struct tb_run_link *links = tb_run_links(detail->pane->data->run);
	tb_sheet_heading(detail->sheet, pair->error_ps ? "Wait, at least" : "Wait",
		tb_metric_format(TB_WAIT, pair->wait_ps, text, sizeof text));
	party_row(detail, "who waited", pair->victim_job, pair->victim_source,
		pair->victim_destination);
	party_row(detail, "for whom", pair->culprit_job, pair->culprit_source,
		pair->culprit_destination);
	tb_sheet_gap(detail->sheet);
	tb_sheet_name(detail->sheet, (struct tb_pick){TB_PICK_LINK, pair->link.id},
		"arrived over", links[pair->link.id].name);
	if (pair->error_ps)
		tb_sheet_row(detail->sheet, "at most",
			tb_metric_format(TB_WAIT, pair->wait_ps + pair->error_ps, text,
				sizeof text));
	tb_sheet_row(detail->sheet, "times",
		tb_format_count(pair->n_waits, text, sizeof text));
	tb_sheet_gap(detail->sheet);
	tb_sheet_caption(detail->sheet, "whole run; marked: the paths of both");
}

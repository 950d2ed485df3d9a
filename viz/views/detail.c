#include "detail.h"

#include "array.h"
#include "credit_params.h"
#include "order.h"
#include "panes.h"
#include "root_list.h"
#include "run_capture.h"
#include "scale.h"
#include "select.h"
#include "squares.h"
#include "underload.h"
#include "views.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// The messages of a flow on a time axis: from post to delivery, faint while they stood in
// their sender's own queue. What of that time a message waited is its time in the queue,
// and what it took in the network beyond what an idle one takes.

#define MOST_MESSAGES 500 // in the list

static const struct tb_flow_messages *detail_messages_of(
	struct tb_viewer *viewer, uint32_t flow_index)
{
	const struct tb_flow_table *table = tb_viewer_flows(viewer);
	if (!table || table->group > 1 || flow_index >= table->n)
		return NULL;
	return tb_viewer_messages(viewer, &table->rows[flow_index]);
}

static tb_time_ps message_waited(const struct tb_message_sample *message)
{
	return (tb_time_ps)(message->queue_ps + message->network_ps - message->ideal_ps);
}

void tb_detail_message_tip(const struct tb_pane *pane, struct tb_tip *tip)
{
	const struct tb_flow_messages *messages =
		detail_messages_of(pane->viewer, pane->selection->selected.index);
	if (pane->selection->selected.kind != TB_PICK_FLOW || !messages ||
		tip->pick.index >= messages->n)
		return;
	const struct tb_message_sample *message = &messages->list[tip->pick.index];
	tb_tip_line(tip, 0, "message of %s, a click shows its time",
		TB_SIZE_TEXT(message->bytes));
	tb_tip_line(tip, 1, "posted at %s, in the network from %s, delivered at %s",
		TB_TIME_TEXT(message->posted_ps), TB_TIME_TEXT(message->started_ps),
		TB_TIME_TEXT(message->delivered_ps));
	tb_tip_line(tip, 2, "took %s, of which it waited %s:",
		TB_TIME_TEXT(message->delivered_ps - message->posted_ps),
		TB_TIME_TEXT(message_waited(message)));
	tb_tip_line(tip, 3, "%s behind its node's own messages, %s in the network",
		TB_TIME_TEXT((tb_time_ps)message->queue_ps),
		TB_TIME_TEXT((tb_time_ps)(message->network_ps - message->ideal_ps)));
}

// detail_messages lists the messages of a flow on a time axis.
static void detail_messages(
	const struct tb_detail *detail, const struct tb_flow_sample *flow)
{
	const struct tb_flow_messages *messages = detail_messages_of(
		detail->pane->viewer, detail->pane->selection->selected.index);
	char from[32], to[32];
	if (!messages || messages->n == 0)
		return;
	tb_sheet_gap(detail->sheet);
	tb_sheet_caption(detail->sheet,
		messages->n == flow->n_messages
			? "messages: posted to delivered, time, of it waited"
			: "%" PRIu32 " that lost most: posted to delivered, time, waited",
		messages->n);
	tb_sheet_row(detail->sheet, tb_format_time(flow->first_ps, from, sizeof from),
		tb_format_time(flow->last_ps, to, sizeof to));
	uint32_t shown = messages->n < MOST_MESSAGES ? messages->n : MOST_MESSAGES;
	for (uint32_t i = 0; i < shown; i++) {
		const struct tb_message_sample *message = &messages->list[i];
		const struct tb_viewer_data *data = detail->pane->data;
		double life = fmax((double)(flow->last_ps - flow->first_ps), 1);
		char span[56], time[56];
		snprintf(span, sizeof span, "%s to %s", TB_TIME_TEXT(message->posted_ps),
			TB_TIME_TEXT(message->delivered_ps));
		snprintf(time, sizeof time, "%s, %s",
			TB_TIME_TEXT(message->delivered_ps - message->posted_ps),
			TB_TIME_TEXT(message_waited(message)));
		struct tb_sheet_line *line = tb_sheet_item(
			detail->sheet, (struct tb_pick){TB_PICK_MESSAGE, i}, span, time);
		line->from = (double)(message->posted_ps - flow->first_ps) / life;
		line->faint_to = (double)(message->started_ps - flow->first_ps) / life;
		line->to = (double)(message->delivered_ps - flow->first_ps) / life;
		bool in_window =
			message->posted_ps < tb_window_end_ps(data->info, data->window) &&
			message->delivered_ps >
				tb_window_begin_ps(data->info, data->window);
		line->has_chip = !tb_window_whole(data->info, data->window) && in_window;
		line->chip = tb_palette_of(detail->pane->style->theme)->accent;
	}
	if (messages->n > shown) {
		tb_sheet_caption(
			detail->sheet, "and %" PRIu32 " later ones", messages->n - shown);
	}
}

void tb_detail_show_message(struct tb_pane *pane, uint32_t message)
{
	struct tb_window window;
	const struct tb_flow_messages *messages =
		detail_messages_of(pane->viewer, pane->selection->selected.index);
	if (pane->selection->selected.kind != TB_PICK_FLOW || !messages ||
		message >= messages->n)
		return;
	const struct tb_message_sample *shown = &messages->list[message];
	if (tb_window_between(pane->data->info, shown->posted_ps, shown->delivered_ps,
		    &window, NULL) == TB_OK)
		tb_viewer_show(pane->viewer, window, pane->data->metric);
}

// What crosses the network: the sheets of a job, a flow and a wait, and who crosses a
// link or switch.

#define MOST_ITEMS 200 // of a list

// detail_sent adds the figures of a flow, or of a sum of flows.
static void detail_sent(const struct tb_detail *detail, const struct tb_flow_sample *flow)
{
	for (int i = 0; i < TB_N_FLOW_FIGURES; i++) {
		enum tb_flow_figure figure = (enum tb_flow_figure)i;
		const char *title = tb_flow_looks[i].title;
		if (figure == TB_FLOW_BYTES)
			title = tb_run_carried_column(detail->pane->data->info);
		if (title && !isnan(tb_flow_figure_of(flow, figure)))
			tb_sheet_row(detail->sheet, title, TB_FLOW_TEXT(flow, figure));
	}
}

// detail_sum sums the flows from a node, or of a job; TB_ID_NONE for any.
static struct tb_flow_sample detail_sum(
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

// detail_job_item adds a job as one.
static struct tb_sheet_line *detail_job_item(
	const struct tb_detail *detail, uint32_t job, const char *value)
{
	struct tb_sheet_line *line =
		tb_sheet_item(detail->sheet, (struct tb_pick){TB_PICK_JOB, job},
			tb_run_job_name(detail->pane->data->run, job), value);
	line->has_chip = true;
	line->chip = tb_job_colour(detail->pane->style->theme, job);
	return line;
}

// detail_flow_item adds a flow as an item, with the colour of its job.
static struct tb_sheet_line *detail_flow_item(
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
	if (n <= shown)
		return;
	tb_sheet_caption(
		detail->sheet, "and %s more with fewer bytes", TB_COUNT_TEXT(n - shown));
}

// crossing_jobs lists the jobs of a run of several.
static void crossing_jobs(
	const struct tb_detail *detail, const struct tb_crossing *crossing)
{
	char text[64];
	if (detail->pane->data->info->n_jobs < 2)
		return;
	for (uint32_t i = 0; i < crossing->n_jobs; i++) {
		const struct tb_crossing_job *job = &crossing->jobs[i];
		snprintf(text, sizeof text, "%" PRIu32 " %s, %s", job->n_flows,
			job->n_flows == 1 ? "flow" : "flows", TB_SIZE_TEXT(job->bytes));
		struct tb_sheet_line *line = detail_job_item(detail, job->job, text);
		line->to = (double)job->bytes / fmax((double)crossing->jobs[0].bytes, 1);
	}
}

// detail_crossing adds the jobs and flows that cross a link or switch.
static void detail_crossing(const struct tb_detail *detail, struct tb_pick pick)
{
	const struct tb_viewer_data *data = detail->pane->data;
	const struct tb_flow_table *table = tb_viewer_flows(detail->pane->viewer);
	const struct tb_crossing *crossing =
		table && table->group == 1
			? tb_viewer_crossing(detail->pane->viewer, pick)
			: NULL;
	tb_sheet_gap(detail->sheet);
	if (!crossing) {
		tb_sheet_caption(detail->sheet,
			table && table->group > 1
				? "There are too many flows to know who crosses it."
				: "Finding who crosses it.");
		return;
	}
	tb_sheet_caption(detail->sheet, "%s %s %s it%s", TB_COUNT_TEXT(crossing->n),
		crossing->n == 1 ? "flow" : "flows",
		!crossing->exact   ? "may cross"
		: crossing->n == 1 ? "crosses"
				   : "cross",
		tb_window_whole(data->info, data->window) ? ", by bytes"
							  : " in the window");
	crossing_jobs(detail, crossing);
	uint32_t shown = crossing->n < MOST_ITEMS ? crossing->n : MOST_ITEMS;
	for (uint32_t i = 0; i < shown; i++) {
		const struct tb_flow_sample *flow = &table->rows[crossing->flows[i]];
		struct tb_sheet_line *line = detail_flow_item(
			detail, crossing->flows[i], TB_SIZE_TEXT(flow->bytes));
		line->to = (double)flow->bytes /
			   fmax((double)table->rows[crossing->flows[0]].bytes, 1);
	}
	count_rest(detail, crossing->n, shown);
}

// detail_flows lists the flows of a node or a job; TB_ID_NONE for any.
static void detail_flows(const struct tb_detail *detail, uint32_t node, uint32_t job)
{
	const struct tb_flow_table *table = tb_viewer_flows(detail->pane->viewer);
	struct tb_flow_bytes *list =
		table ? malloc((table->n + 1u) * sizeof *list) : NULL;
	if (job == TB_ID_NONE)
		job = detail->pane->data->job;
	uint32_t n = 0;
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
		struct tb_sheet_line *line = detail_flow_item(
			detail, list[i].row, TB_SIZE_TEXT(list[i].bytes));
		line->to = (double)list[i].bytes / fmax((double)list[0].bytes, 1);
	}
	count_rest(detail, n, shown);
	free(list);
}

static void time_row(const struct tb_detail *detail, const char *label, double time_ps)
{
	tb_sheet_printf(detail->sheet, label, "%s%s", time_ps < 0 ? "-" : "",
		TB_TIME_TEXT((tb_time_ps)(time_ps < 0 ? -time_ps : time_ps)));
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
	if (time->known && !isnan(time->mean_latency_ps))
		time_row(detail, label, time->mean_latency_ps);
}

void tb_detail_job(const struct tb_detail *detail, uint32_t job)
{
	uint32_t n;
	tb_sheet_heading(
		detail->sheet, "Job", tb_run_job_name(detail->pane->data->run, job));
	// Add how long a job took and, after a replay with --alone, what of it the
	// others and the network cost it.
	const struct tb_job_times *all = tb_viewer_times(detail->pane->viewer);
	const struct tb_job_times *times = all ? &all[job] : NULL;
	if (times && times->run.known) {
		tb_sheet_caption(detail->sheet, "from its begin to its end");
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
	struct tb_flow_sample sent = detail_sum(detail, TB_ID_NONE, job, &n);
	tb_sheet_caption(detail->sheet, "in %" PRIu32 " flows, whole run", n);
	detail_sent(detail, &sent);
	const struct tb_during *during = tb_viewer_during(detail->pane->viewer);
	char value[80], span[64];
	bool begun = false;
	uint32_t n_jobs = detail->pane->data->info->n_jobs;
	for (uint32_t i = 0; during && n_jobs > 1 && i < n_jobs; i++) {
		uint64_t for_ps = tb_job_pairs_wait(&during->job_pairs, job, i);
		uint64_t of_ps = tb_job_pairs_wait(&during->job_pairs, i, job);
		if (for_ps == 0 && of_ps == 0)
			continue;
		if (!begun) {
			tb_sheet_gap(detail->sheet);
			tb_sheet_caption(detail->sheet,
				"waited for jobs, and held them up, %s",
				tb_span_text(during->job_pairs.listed.span, span,
					sizeof span));
		}
		begun = true;
		snprintf(value, sizeof value, "%s, %s", TB_METRIC_TEXT(TB_WAIT, for_ps),
			TB_METRIC_TEXT(TB_WAIT, of_ps));
		detail_job_item(detail, i, value);
	}
	detail_flows(detail, TB_ID_NONE, job);
}

// detail_node_text writes "node 5 (name)".
static char *detail_node_text(
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

// sheet_pair adds a row, which selects the flow that waited, or (`other`) the one it
// waited for.
static void sheet_pair(const struct tb_detail *detail, const struct tb_flow_table *table,
	const struct tb_blame_sample *row, bool other, double largest)
{
	char text[64], value[64];
	uint32_t flow = other ? tb_flow_table_find(table, row->culprit_job,
					row->culprit_source, row->culprit_destination)
			      : tb_flow_table_find(table, row->victim_job,
					row->victim_source, row->victim_destination);
	const struct tb_pick pick = {flow < table->n ? TB_PICK_FLOW : TB_PICK_NONE, flow};
	snprintf(text, sizeof text,
		"%" PRIu32 " > %" PRIu32 " for %" PRIu32 " > %" PRIu32,
		row->victim_source.id, row->victim_destination.id, row->culprit_source.id,
		row->culprit_destination.id);
	snprintf(value, sizeof value, "%s%s", row->error_ps ? "at least " : "",
		TB_METRIC_TEXT(TB_WAIT, row->wait_ps));
	struct tb_sheet_line *line = tb_sheet_item(detail->sheet, pick, text, value);
	line->has_chip = detail->pane->data->info->n_jobs > 1;
	line->chip = tb_job_colour(detail->pane->style->theme, row->victim_job);
	line->to = (double)row->wait_ps / fmax(largest, 1);
}

// whom_waits lists the waits of a flow for others, or of others for it, in the slices of
// time of the window.
static void whom_waits(const struct tb_detail *detail, const struct tb_heavy_waits *waits,
	const struct tb_flow_sample *flow, bool waited)
{
	const struct tb_flow_table *table = tb_viewer_flows(detail->pane->viewer);
	uint32_t n = 0;
	double largest = 0;
	char span[64];
	for (uint32_t i = 0; table && i < waits->listed.n && n < TB_WAITS_MOST; i++) {
		const struct tb_blame_sample *row = &waits->rows[i];
		if (!(waited ? (row->victim_job == flow->job &&
				       row->victim_source.id == flow->source.id &&
				       row->victim_destination.id == flow->destination.id)
			     : (row->culprit_job == flow->job &&
				       row->culprit_source.id == flow->source.id &&
				       row->culprit_destination.id ==
					       flow->destination.id)))
			continue;
		if (n++ == 0) {
			tb_sheet_gap(detail->sheet);
			tb_sheet_caption(detail->sheet, "%s, %s",
				waited ? "whom it waited for" : "who waited for it",
				tb_span_text(waits->listed.span, span, sizeof span));
			largest = (double)row->wait_ps;
		}
		sheet_pair(detail, table, row, waited, largest);
	}
}

static struct tb_path_end route_end_of(struct tb_pick pick)
{
	return (struct tb_path_end){pick.kind == TB_PICK_SWITCH, pick.index};
}

// add_route_flows lists the flows between two nodes, both ways.
static void add_route_flows(
	const struct tb_detail *detail, struct tb_pick from, struct tb_pick to)
{
	const struct tb_flow_table *table = tb_viewer_flows(detail->pane->viewer);
	if (from.kind != TB_PICK_NODE || to.kind != TB_PICK_NODE || !table ||
		table->group > 1)
		return;
	tb_sheet_gap(detail->sheet);
	tb_sheet_caption(detail->sheet, "flows between them, whole run");
	uint32_t before = detail->sheet->n_items;
	for (uint32_t i = 0; i < table->n; i++) {
		uint32_t source = table->rows[i].source.id;
		uint32_t destination = table->rows[i].destination.id;
		if ((source == from.index && destination == to.index) ||
			(source == to.index && destination == from.index))
			detail_flow_item(detail, i, TB_SIZE_TEXT(table->rows[i].bytes));
	}
	if (detail->sheet->n_items == before)
		tb_sheet_caption(detail->sheet, "none");
}

// detail_link_item adds a link as an item, with its metric in the window.
static void detail_link_item(const struct tb_detail *detail, uint32_t link)
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

// links lists the links of the shortest paths.
static void links(const struct tb_detail *detail, struct tb_pick from, struct tb_pick to)
{
	uint32_t n;
	char text[64];
	struct tb_paths *paths = tb_viewer_paths(detail->pane->viewer);
	if (!paths)
		return;
	tb_paths_between(paths, route_end_of(from), route_end_of(to), &n);
	snprintf(text, sizeof text, "%" PRIu32, n);
	tb_sheet_row(detail->sheet, "links on the way", n ? text : "none: no path");
	tb_sheet_row(detail->sheet, "marked", "there; in the other colour: back");
	add_route_flows(detail, from, to);
	tb_sheet_gap(detail->sheet);
	tb_sheet_caption(detail->sheet, "links of the shortest paths, and their %s",
		tb_link_figures[detail->pane->data->metric].name);
	const struct tb_link *found =
		tb_paths_between(paths, route_end_of(from), route_end_of(to), &n);
	for (uint32_t i = 0; i < n; i++)
		detail_link_item(detail, found[i].id);
}

void tb_detail_flow(const struct tb_detail *detail, uint32_t index)
{
	struct tb_pane *pane = detail->pane;
	const struct tb_flow_table *table = tb_viewer_flows(pane->viewer);
	char text[96];
	if (!table || index >= table->n)
		return;
	const struct tb_flow_sample *flow = &table->rows[index];
	snprintf(text, sizeof text, "%" PRIu32 " > %" PRIu32, flow->source.id,
		flow->destination.id);
	tb_sheet_heading(
		detail->sheet, table->group > 1 ? "Flows of groups" : "Flow", text);
	tb_sheet_name(detail->sheet, (struct tb_pick){TB_PICK_NODE, flow->source.id},
		"from", detail_node_text(detail, flow->source.id, text, sizeof text));
	tb_sheet_name(detail->sheet, (struct tb_pick){TB_PICK_NODE, flow->destination.id},
		"to", detail_node_text(detail, flow->destination.id, text, sizeof text));
	if (flow->job != TB_ID_NONE && tb_run_job_name(pane->data->run, flow->job)[0])
		tb_sheet_name(detail->sheet, (struct tb_pick){TB_PICK_JOB, flow->job},
			"job", tb_run_job_name(pane->data->run, flow->job));
	tb_sheet_gap(detail->sheet);
	detail_sent(detail, flow);
	if (flow->last_ps == 0)
		return;
	tb_sheet_gap(detail->sheet);
	tb_sheet_printf(detail->sheet, "under way", "%s to %s",
		TB_TIME_TEXT(flow->first_ps), TB_TIME_TEXT(flow->last_ps));
	detail_messages(detail, flow);
	const struct tb_during *during = tb_viewer_during(detail->pane->viewer);
	if (during) {
		whom_waits(detail, &during->heaviest, flow, true);
		whom_waits(detail, &during->heaviest, flow, false);
	}
	// List the links of a flow's way, or of all its shortest paths.
	const struct tb_viewer_data *data = detail->pane->data;
	uint32_t n = 0;
	struct tb_paths *paths = tb_viewer_paths(detail->pane->viewer);
	if (!paths)
		return;
	const struct tb_link *links =
		tb_paths_way(paths, flow->source, flow->destination, &n);
	tb_sheet_gap(detail->sheet);
	tb_sheet_caption(detail->sheet, "links that it %s, and their %s",
		tb_paths_are_known(paths) ? "crosses" : "may cross",
		tb_link_figures[data->metric].name);
	for (uint32_t i = 0; i < n; i++)
		detail_link_item(detail, links[i].id);
}

static void party_row(const struct tb_detail *detail, const char *label, uint32_t job,
	struct tb_node source, struct tb_node destination)
{
	tb_sheet_printf(detail->sheet, label, "%" PRIu32 " > %" PRIu32, source.id,
		destination.id);
	if (tb_run_job_name(detail->pane->data->run, job)[0])
		tb_sheet_row(detail->sheet, "of job",
			tb_run_job_name(detail->pane->data->run, job));
}

void tb_detail_pair(const struct tb_detail *detail, uint32_t index)
{
	const struct tb_heavy_waits *blame = tb_viewer_blame(detail->pane->viewer);
	if (!blame || index >= blame->listed.n)
		return;
	const struct tb_blame_sample *pair = &blame->rows[index];
	tb_sheet_heading(detail->sheet, pair->error_ps ? "Wait, at least" : "Wait",
		TB_METRIC_TEXT(TB_WAIT, pair->wait_ps));
	party_row(detail, "who waited", pair->victim_job, pair->victim_source,
		pair->victim_destination);
	party_row(detail, "for whom", pair->culprit_job, pair->culprit_source,
		pair->culprit_destination);
	tb_sheet_gap(detail->sheet);
	const struct tb_viewer_data *data = detail->pane->data;
	const struct tb_wait_place place = data->of_blame.places[index];
	bool of_link = place.link.id != TB_ID_NONE;
	tb_sheet_name(detail->sheet,
		(struct tb_pick){of_link ? TB_PICK_LINK : TB_PICK_SWITCH,
			of_link ? place.link.id : place.sw.id},
		tb_viewer_wait_title(data), tb_wait_place_name(data->run, place));
	if (pair->error_ps)
		tb_sheet_row(detail->sheet, "at most",
			TB_METRIC_TEXT(TB_WAIT, pair->wait_ps + pair->error_ps));
	tb_sheet_row(detail->sheet, "times", TB_COUNT_TEXT(pair->n_waits));
	tb_sheet_gap(detail->sheet);
	tb_sheet_caption(detail->sheet, "whole run; marked: the paths of both");
}

// The sheet of two nodes or switches: the links of all shortest paths from the one to the
// other, and what flows between them.

static char *end_name(
	const struct tb_detail *detail, struct tb_pick end, char *buffer, size_t size)
{
	if (end.kind == TB_PICK_NODE)
		snprintf(buffer, size, "node %" PRIu32, end.index);
	else
		snprintf(buffer, size, "switch %s",
			tb_run_switches(detail->pane->data->run)[end.index].name);
	return buffer;
}

void tb_detail_routes(const struct tb_detail *detail)
{
	struct tb_pick from = detail->pane->selection->end;
	struct tb_pick to = detail->pane->selection->selected;
	char one[48], text[112], other[48];
	snprintf(text, sizeof text, "%s > %s", end_name(detail, from, one, sizeof one),
		end_name(detail, to, other, sizeof other));
	tb_sheet_heading(detail->sheet, "Routes", text);
	links(detail, from, to);
}

static void detail_routes_from(const struct tb_detail *detail)
{
	const struct tb_pick pick = {TB_PICK_BUTTON, TB_REQUEST_ROUTES};
	bool kept = tb_pick_equal(
		detail->pane->selection->end, detail->pane->selection->selected);
	tb_sheet_name(detail->sheet, pick, "routes",
		kept ? "select the other end" : "to another node or switch");
}

// Who waits at a link or switch and for whom: jobs by exact sums, flows the heaviest, at
// least.

static void add_waiting_jobs(
	const struct tb_detail *detail, const struct tb_job_links *waits)
{
	char text[128];
	for (uint32_t i = 0; i < waits->n; i++) {
		const struct tb_job_link_sample *job = &waits->rows[i];
		snprintf(text, sizeof text, "waited %s, held up %s",
			TB_METRIC_TEXT(TB_WAIT, job->wait_ps),
			TB_METRIC_TEXT(TB_WAIT, job->blamed_ps));
		detail_job_item(detail, job->job, text);
	}
}

struct root_wait {
	uint32_t root;
	uint64_t wait_ps;
};

static int sheet_pairs_by_wait(const void *one, const void *other)
{
	const struct root_wait *a = one, *b = other;
	return a->wait_ps != b->wait_ps ? TB_ORDER(b->wait_ps, a->wait_ps)
					: TB_ORDER(a->root, b->root);
}

// roots_at sums the waits at a link by root in slices of time; n is how many there are.
// NULL without memory.
static struct root_wait *roots_at(
	const struct tb_trees *trees, uint32_t link, struct tb_slices slices, uint32_t *n)
{
	struct root_wait *list = NULL;
	size_t room = 0;
	*n = 0;
	for (uint32_t i = 0; i < trees->n; i++) { // root by root
		const struct tb_tree_sample *row = &trees->rows[i];
		if (row->link.id != link || row->bin < slices.from ||
			row->bin >= slices.end)
			continue;
		if (*n == 0 || list[*n - 1].root != row->root.id) {
			if (TB_ARRAY_RESERVE(&list, &room, (size_t)*n + 1) != TB_OK)
				break;
			list[(*n)++] = (struct root_wait){row->root.id, 0};
		}
		list[*n - 1].wait_ps += row->wait_ps;
	}
	if (*n)
		qsort(list, *n, sizeof *list, sheet_pairs_by_wait);
	return list;
}

// roots_in_window lists what headers at a link waited for in the end. Pairs of flows are
// not known by link and time both.
static void roots_in_window(const struct tb_detail *detail, uint32_t link)
{
	const struct tb_viewer_data *data = detail->pane->data;
	const struct tb_trees *trees = tb_viewer_trees(detail->pane->viewer);
	char span[64];
	uint32_t n;
	if (!trees || trees->n == 0 || tb_window_whole(data->info, data->window))
		return;
	struct tb_slices slices = tb_slices_of(data, trees);
	struct root_wait *list = roots_at(trees, link, slices, &n);
	const struct tb_span counted = tb_trees_span(trees, slices.from, slices.end);
	if (n) {
		tb_sheet_gap(detail->sheet);
		tb_sheet_caption(detail->sheet, "roots it waited for%s, %s",
			trees->rest_ps > 0 ? ", at least" : "",
			tb_span_text(counted, span, sizeof span));
	}
	for (uint32_t i = 0; i < n && i < TB_WAITS_MOST; i++) {
		struct tb_sheet_line *line = tb_sheet_item(detail->sheet,
			(struct tb_pick){TB_PICK_LINK, list[i].root},
			tb_run_links(data->run)[list[i].root].label,
			TB_METRIC_TEXT(TB_WAIT, list[i].wait_ps));
		line->to = (double)list[i].wait_ps / fmax((double)list[0].wait_ps, 1);
	}
	free(list);
}

#define MOST_AT_ONCE 5 // pairs of those who waited for a link, above its figures

// detail_link_waits answers what is asked first of a hot link: who waited for it and for
// whom, since when, and what is worth trying. Of waits for a link rows know by which
// link the packets had come in, and their places which link they waited for.
static void detail_link_waits(const struct tb_detail *detail, uint32_t id)
{
	const struct tb_viewer_data *data = detail->pane->data;
	const struct tb_flow_table *table = tb_viewer_flows(detail->pane->viewer);
	const struct tb_heavy_waits *waits = tb_viewer_blame(detail->pane->viewer);
	const struct tb_waits_question *of_link =
		tb_viewer_waits(detail->pane->viewer, (struct tb_pick){TB_PICK_LINK, id});
	const struct tb_findings_question *asked = &data->of_findings; // when idle
	const bool whole = tb_window_whole(data->info, data->window);
	const struct tb_blame_sample *rows[MOST_AT_ONCE];
	uint32_t n = 0;
	double named_ps = 0, all_ps = (double)data->samples[id].wait_ps;
	char share[32] = "in the whole run";
	if (all_ps <= 0)
		return;
	for (uint32_t i = 0; waits && table && i < waits->listed.n; i++) {
		const struct tb_blame_sample *row = &waits->rows[i];
		uint32_t link = data->info->wait == TB_WAIT_FOR
					? data->of_blame.places[i].link.id
					: row->link.id;
		if (link != id)
			continue;
		named_ps += (double)row->wait_ps;
		if (n < MOST_AT_ONCE)
			rows[n] = row;
		n++;
	}
	if (whole && named_ps < all_ps)
		snprintf(
			share, sizeof share, "%.1f %% is known", 100 * named_ps / all_ps);
	if (n) {
		tb_sheet_gap(detail->sheet);
		tb_sheet_caption(detail->sheet, "who waited %s, for whom%s%s",
			data->info->wait == TB_WAIT_FOR ? "for it" : "there",
			whole && named_ps >= all_ps ? "" : "; ",
			whole && named_ps >= all_ps ? "" : share);
	}
	for (uint32_t i = 0; i < n && i < MOST_AT_ONCE; i++)
		sheet_pair(detail, table, rows[i], false, (double)rows[0]->wait_ps);
	if (n > MOST_AT_ONCE)
		tb_sheet_caption(
			detail->sheet, "and %" PRIu32 " more: F7", n - MOST_AT_ONCE);
	if (of_link && of_link->queue.to_ps > 0)
		tb_sheet_printf(detail->sheet, "Waited without rest", "%s to %s",
			TB_TIME_TEXT(of_link->queue.from_ps),
			TB_TIME_TEXT(of_link->queue.to_ps));
	const struct tb_findings *findings = &asked->findings;
	size_t n_findings = asked->question.state == TB_ANSWERED ? findings->n : 0;
	for (size_t i = 0; i < n_findings; i++) {
		if (!findings->list[i].remedy)
			continue;
		tb_sheet_gap(detail->sheet);
		tb_sheet_caption(detail->sheet, "worth trying first; F9 shows all");
		tb_detail_text(detail, findings->list[i].sentence);
		break;
	}
}

// detail_waits lists who waited at a link or switch and for whom.
static void detail_waits(const struct tb_detail *detail, struct tb_pick at)
{
	const struct tb_viewer_data *data = detail->pane->data;
	const struct tb_flow_table *table = tb_viewer_flows(detail->pane->viewer);
	if (at.kind == TB_PICK_LINK)
		roots_in_window(detail, at.index);
	const struct tb_waits_question *waits = tb_viewer_waits(detail->pane->viewer, at);
	if (waits && at.kind == TB_PICK_LINK) {
		// Show how deep the queue of a link was, and when.
		const struct tb_link_queue *queue = &waits->queue;
		if (queue->largest_bytes != 0) {
			tb_sheet_gap(detail->sheet);
			tb_sheet_printf(detail->sheet, "Longest queue", "%s at %s",
				TB_SIZE_TEXT(queue->largest_bytes),
				TB_TIME_TEXT(queue->largest_at_ps));
		}
	}
	if (!waits || !table || (waits->jobs.n == 0 && waits->heaviest.listed.n == 0))
		return;
	tb_sheet_gap(detail->sheet);
	// These are the waits of what came by a link, not the wait for it; where that is
	// shown, detail_link_waits has listed who waited for whom.
	bool is_link = at.kind == TB_PICK_LINK;
	bool waited_next = is_link && data->info->wait == TB_WAIT_FOR;
	tb_sheet_caption(detail->sheet, "%s for whom%s",
		waited_next ? "who came by it, and waited" : "who waited here, and",
		tb_window_whole(data->info, data->window) ? "" : ", in the whole run");
	add_waiting_jobs(detail, &waits->jobs);
	if (is_link && !waited_next)
		return;
	for (uint32_t i = 0; i < waits->heaviest.listed.n; i++) {
		const struct tb_blame_sample *row = &waits->heaviest.rows[i];
		if (data->job == TB_ID_NONE || data->job == row->victim_job ||
			data->job == row->culprit_job)
			sheet_pair(detail, table, row, false,
				(double)waits->heaviest.rows[0].wait_ps);
	}
	if (waits->heaviest.listed.n_all > waits->heaviest.listed.n) {
		tb_sheet_caption(detail->sheet, "and %" PRIu64 " pairs that waited less",
			waits->heaviest.listed.n_all - waits->heaviest.listed.n);
	}
}

// What the network is made of: the sheets of a run, link, switch and node.

// add_link_figures lists them in few rows: rates stand behind what they divide, the
// largest queue behind how many were blocked.
static void add_link_figures(const struct tb_detail *detail,
	const struct tb_link_sample *sample, struct tb_link_known known)
{
	char value[48], both[120];
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
				TB_METRIC_TEXT(second, sample->figures[second]),
				second == TB_QUEUE ? " at once" : "");
		tb_sheet_row(detail->sheet, tb_link_figures[metric].brief,
			tb_run_unmeasured(known, metric) ? "not measured" : both);
	}
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
		detail_node_text(detail, end.id, text, sizeof text);
	else
		snprintf(text, sizeof text, "switch %s, port %" PRIu32,
			tb_run_switches(detail->pane->data->run)[end.id].name, end.port);
	tb_sheet_name(detail->sheet, pick, label, text);
}

// dead_row reports when a link or switch died, or will.
static void dead_row(const struct tb_detail *detail, tb_time_ps dead_at_ps)
{
	bool now = tb_viewer_data_is_dead(detail->pane->data, dead_at_ps);
	if (dead_at_ps == TB_TIME_NEVER)
		return;
	if (dead_at_ps <= 0)
		tb_sheet_row(detail->sheet, "dead", "from the start");
	else
		tb_sheet_printf(detail->sheet, "dead", "%sfrom %s on",
			now ? "" : "later, ", TB_TIME_TEXT(dead_at_ps));
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
	tb_sheet_heading(detail->sheet, "Link", link->name);
	end_row(detail, "from", from);
	end_row(detail, "to", to);
	detail_link_waits(detail, id);
	tb_sheet_gap(detail->sheet);
	tb_sheet_row(detail->sheet, "rate",
		tb_format_rate((double)at->bytes_per_s, text, sizeof text));
	const char *channels = pane->data->info->words->channels;
	tb_sheet_printf(detail->sheet, "latency", "%s, %" PRIu32 " %.*s",
		TB_TIME_TEXT(at->latency_ps), at->n_vcs,
		(int)strlen(channels) - (at->n_vcs == 1), channels);
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
		if (tb_credit_params(&data->info->network)->xmit_wait_tick_bytes)
			tb_sheet_row(detail->sheet, "XmitWait",
				TB_COUNTED_TEXT(tb_run_ticks(data->run, sample->link,
							sample->stall_ps),
					"tick"));
	}
	double span = tb_viewer_data_window_ps(pane->data);
	if (span > 0) {
		tb_sheet_gap(detail->sheet);
		tb_sheet_printf(detail->sheet, "Utilisation", "%.1f %% of the window",
			100 * (double)sample->busy_ps / span);
		tb_sheet_row(detail->sheet, "Throughput",
			tb_format_rate((double)sample->bytes / (span / TB_PS_PER_S), text,
				sizeof text));
	}
}

void tb_detail_link_traffic(const struct tb_detail *detail, uint32_t id)
{
	detail_waits(detail, (struct tb_pick){TB_PICK_LINK, id});
	detail_crossing(detail, (struct tb_pick){TB_PICK_LINK, id});
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
	bool leaves = data->matrix.leaves;
	tb_sheet_gap(detail->sheet);
	tb_sheet_caption(detail->sheet, "%slinks %s it%s, and their %s",
		outside ? "brushed " : "", leaves ? "out of" : "into",
		!box || !box->n_nodes ? ""
		: leaves	      ? " and from nodes"
				      : " and to nodes",
		tb_link_figures[data->metric].name);
	for (uint32_t i = 0; i < n_cells(box); i++) {
		uint32_t link = box->below[i].link.id;
		if (link != TB_ID_NONE && !(outside && outside[link]))
			detail_link_item(detail, link);
	}
}

void tb_detail_switch(const struct tb_detail *detail, uint32_t id)
{
	const struct tb_viewer_data *data = detail->pane->data;
	const struct tb_run_switch *sw = &tb_run_switches(data->run)[id];
	const struct tb_matrix_box *box =
		tb_matrix_box_of(&data->matrix, (struct tb_switch){id});
	struct tb_link_sample sum = {.n_packets = 0};
	for (uint32_t i = 0; i < n_cells(box); i++)
		if (box->below[i].link.id != TB_ID_NONE)
			tb_link_sample_add(&sum, &data->samples[box->below[i].link.id]);
	tb_sheet_heading(detail->sheet, "Switch", sw->name);
	tb_sheet_printf(detail->sheet, "level", "%" PRIu32 " (the top is %" PRIu32 ")",
		sw->at.level, data->info->n_levels - 1);
	tb_sheet_printf(detail->sheet, "ports", "%" PRIu32 " down, %" PRIu32 " up",
		sw->at.n_down_ports, sw->at.n_up_ports);
	dead_row(detail, sw->dead_at_ps);
	detail_routes_from(detail);
	tb_sheet_gap(detail->sheet);
	if (tb_selection_outside(detail->pane->selection))
		tb_sheet_caption(detail->sheet, "sums of all its links, brushed or not");
	if (tb_run_unmeasured_all(sw->known))
		tb_sheet_caption(
			detail->sheet, "not measured: no port at its links counted");
	else
		add_link_figures(detail, &sum, sw->known);
	box_links(detail, box);
	detail_waits(detail, (struct tb_pick){TB_PICK_SWITCH, id});
	detail_crossing(detail, (struct tb_pick){TB_PICK_SWITCH, id});
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
	detail_routes_from(detail);
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
	struct tb_flow_sample sent = detail_sum(detail, node, pane->data->job, &n);
	tb_sheet_caption(detail->sheet, "sent in %" PRIu32 " flows, whole run", n);
	detail_sent(detail, &sent);
	detail_flows(detail, node, TB_ID_NONE);
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
		detail_job_item(detail, i, text);
	}
}

// capture_rows shows what decides the figures of a capture.
static void capture_rows(const struct tb_detail *detail)
{
	const struct tb_run_info *info = detail->pane->data->info;
	struct tb_run_capture capture;
	if (!tb_run_capture(info, &capture))
		return;
	if (strcmp(info->input_kind, "packets") != 0)
		tb_sheet_row(detail->sheet, "captured, on the wire",
			TB_SIZE_TEXT(capture.wire_bytes));
	tb_sheet_row(
		detail->sheet, "captured payload", TB_SIZE_TEXT(capture.payload_bytes));
	tb_sheet_printf(detail->sheet, "time scale", "%.6g", info->time_scale);
	tb_sheet_row(detail->sheet, "idle taken out",
		capture.idle_ps ? TB_TIME_TEXT(capture.idle_ps) : "none");
}

static void count_row(const struct tb_detail *detail, const char *name, uint64_t n)
{
	tb_sheet_row(detail->sheet, name, TB_COUNT_TEXT(n));
}

void tb_detail_run(const struct tb_detail *detail)
{
	const struct tb_run_info *info = detail->pane->data->info;
	char text[96];
	snprintf(text, sizeof text, "%" PRId64, info->id);
	const struct tb_view *main = detail->pane->panes->main->view;
	tb_sheet_heading(detail->sheet, main == &tb_view_pair ? "A is run" : "Run", text);
	tb_sheet_printf(detail->sheet, "network", "%.32s", info->network_name);
	if (info->caution[0])
		tb_detail_text(detail, info->caution + 1);
	enum tb_recorded_on on = tb_run_recorded_on(detail->pane->data->run);
	tb_recorded_on_text(on, 0, text, sizeof text);
	if (*text)
		tb_sheet_printf(detail->sheet, "recorded", "%s%s",
			text + strlen(", recorded "),
			tb_recorded_elsewhere(on, &info->network) ? ": -n recorded" : "");
	if (info->n_links < 100000) {
		tb_sheet_printf(detail->sheet, "nodes / switches / links", "%s / %s / %s",
			TB_COUNT_TEXT(info->n_nodes), TB_COUNT_TEXT(info->n_switches),
			TB_COUNT_TEXT(info->n_links));
	} else { // would run into each other
		count_row(detail, "nodes", info->n_nodes);
		tb_sheet_printf(detail->sheet, "switches / links", "%s / %s",
			TB_COUNT_TEXT(info->n_switches), TB_COUNT_TEXT(info->n_links));
	}
	if (info->network.n_rails > 1)
		count_row(detail, "rails", info->network.n_rails);
	if (tb_run_n_faults(detail->pane->data->run)) {
		tb_sheet_printf(detail->sheet, "dead or dying",
			"%" PRIu32 " (filter: dead)",
			tb_run_n_faults(detail->pane->data->run));
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
	if (!info->complete)
		tb_sheet_row(detail->sheet, "complete",
			detail->pane->data->replaying ? "no, being replayed"
						      : "no, stopped early");
	if (info->n_notes) {
		tb_sheet_printf(
			detail->sheet, "notes", "%zu, with the findings", info->n_notes);
	}
	add_node_jobs(detail);
	// What the run comes to, once that is read, unless it is shown anyway.
	const struct tb_findings *findings = &detail->pane->data->of_findings.findings;
	if (detail->pane->data->of_findings.question.state == TB_ANSWERED &&
		findings->n && main != &tb_view_findings) {
		tb_sheet_gap(detail->sheet);
		tb_detail_text(detail, findings->list[0].sentence);
	}
	if (main->about) {
		tb_sheet_gap(detail->sheet);
		tb_sheet_caption(detail->sheet, "%s", main->tab);
		tb_detail_text(detail, main->about);
	}
}

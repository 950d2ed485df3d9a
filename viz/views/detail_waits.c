// Who waits at a link or switch and for whom: jobs by exact sums, flows the heaviest, at
// least.
#include "array.h"
#include "detail.h"
#include "root_list.h"
#include "run_text.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

static void add_waiting_jobs(
	const struct tb_detail *detail, const struct tb_job_links *waits)
{
	char text[128], wait[48], blamed[48];
	for (uint32_t i = 0; i < waits->n; i++) {
		const struct tb_job_link_sample *job = &waits->rows[i];
		tb_metric_format(TB_WAIT, job->wait_ps, wait, sizeof wait);
		tb_metric_format(TB_WAIT, job->blamed_ps, blamed, sizeof blamed);
		snprintf(text, sizeof text, "waited %s, held up %s", wait, blamed);
		tb_detail_job_item(detail, job->job, text);
	}
}

// sheet_pair adds a row, which selects the flow that waited, or (`other`) the one it
// waited for.
static void sheet_pair(const struct tb_detail *detail, const struct tb_flow_table *table,
	const struct tb_blame_sample *row, bool other, double largest)
{
	char text[64], wait[48], value[64];
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
		tb_metric_format(TB_WAIT, row->wait_ps, wait, sizeof wait));
	struct tb_sheet_line *line = tb_sheet_item(detail->sheet, pick, text, value);
	line->has_chip = detail->pane->data->info->n_jobs > 1;
	line->chip = tb_job_colour(detail->pane->style->theme, row->victim_job);
	line->to = (double)row->wait_ps / fmax(largest, 1);
}

struct root_wait {
	uint32_t root;
	uint64_t wait_ps;
};

static int sheet_pairs_by_wait(const void *one, const void *other)
{
	const struct root_wait *a = one, *b = other;
	if (a->wait_ps != b->wait_ps)
		return a->wait_ps < b->wait_ps ? 1 : -1;
	return (a->root > b->root) - (a->root < b->root);
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
	char text[128], span[64];
	uint32_t n;
	if (!trees || trees->n == 0 || tb_window_whole(data->info, data->window))
		return;
	struct tb_slices slices = tb_slices_of(data, trees);
	struct root_wait *list = roots_at(trees, link, slices, &n);
	const struct tb_span counted = tb_trees_span(trees, slices.from, slices.end);
	if (n) {
		snprintf(text, sizeof text, "roots it waited for%s, %s",
			trees->rest_ps > 0 ? ", at least" : "",
			tb_span_text(counted, span, sizeof span));
		tb_sheet_gap(detail->sheet);
		tb_sheet_caption(detail->sheet, text);
	}
	for (uint32_t i = 0; i < n && i < TB_WAITS_MOST; i++) {
		struct tb_sheet_line *line = tb_sheet_item(detail->sheet,
			(struct tb_pick){TB_PICK_LINK, list[i].root},
			tb_run_links(data->run)[list[i].root].label,
			tb_metric_format(TB_WAIT, list[i].wait_ps, text, sizeof text));
		line->to = (double)list[i].wait_ps / fmax((double)list[0].wait_ps, 1);
	}
	free(list);
}

void tb_detail_waits(const struct tb_detail *detail, struct tb_pick at)
{
	const struct tb_viewer_data *data = detail->pane->data;
	const struct tb_flow_table *table = tb_viewer_flows(detail->pane->viewer);
	if (at.kind == TB_PICK_LINK)
		roots_in_window(detail, at.index);
	const struct tb_waits_question *waits = tb_viewer_waits(detail->pane->viewer, at);
	if (waits && at.kind == TB_PICK_LINK) {
		// Show how deep the queue of a link was, how long it stood, and when.
		const struct tb_link_queue *queue = &waits->queue;
		char text[80], amount[32], when[32];
		if (queue->largest_bytes != 0 || queue->to_ps != 0) {
			tb_sheet_gap(detail->sheet);
			tb_sheet_caption(
				detail->sheet, "its queue, whole run, by time bins");
			if (queue->largest_bytes > 0) {
				snprintf(text, sizeof text, "%s at %s",
					tb_format_size(queue->largest_bytes, amount,
						sizeof amount),
					tb_format_time(
						queue->largest_at_ps, when, sizeof when));
				tb_sheet_row(detail->sheet, "Most", text);
			}
			if (queue->to_ps > 0) {
				snprintf(text, sizeof text, "%s from %s",
					tb_format_time(queue->to_ps - queue->from_ps,
						amount, sizeof amount),
					tb_format_time(
						queue->from_ps, when, sizeof when));
				tb_sheet_row(detail->sheet, "Stood longest", text);
			}
		}
	}
	if (!waits || !table || (waits->jobs.n == 0 && waits->heaviest.listed.n == 0))
		return;
	tb_sheet_gap(detail->sheet);
	tb_sheet_caption(detail->sheet,
		tb_window_whole(data->info, data->window)
			? "who waited here, and for whom"
			: "who waited here, and for whom, in the whole run");
	add_waiting_jobs(detail, &waits->jobs);
	for (uint32_t i = 0; i < waits->heaviest.listed.n; i++) {
		const struct tb_blame_sample *row = &waits->heaviest.rows[i];
		if (data->job == TB_ID_NONE || data->job == row->victim_job ||
			data->job == row->culprit_job)
			sheet_pair(detail, table, row, false,
				(double)waits->heaviest.rows[0].wait_ps);
	}
	if (waits->heaviest.listed.n_all > waits->heaviest.listed.n) {
		char text[64];
		snprintf(text, sizeof text, "and %" PRIu64 " pairs that waited less",
			waits->heaviest.listed.n_all - waits->heaviest.listed.n);
		tb_sheet_caption(detail->sheet, text);
	}
}

// whom_waits lists the waits of a flow for others, or of others for it, in the slices of
// time of the window.
static void whom_waits(const struct tb_detail *detail, const struct tb_heavy_waits *waits,
	const struct tb_flow_sample *flow, bool waited)
{
	const struct tb_flow_table *table = tb_viewer_flows(detail->pane->viewer);
	uint32_t n = 0;
	double largest = 0;
	char text[128], span[64];
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
			snprintf(text, sizeof text, "%s, %s",
				waited ? "whom it waited for" : "who waited for it",
				tb_span_text(waits->listed.span, span, sizeof span));
			tb_sheet_gap(detail->sheet);
			tb_sheet_caption(detail->sheet, text);
			largest = (double)row->wait_ps;
		}
		sheet_pair(detail, table, row, waited, largest);
	}
}

void tb_detail_flow_waits(
	const struct tb_detail *detail, const struct tb_flow_sample *flow)
{
	const struct tb_during *during = tb_viewer_during(detail->pane->viewer);
	if (!during)
		return;
	whom_waits(detail, &during->heaviest, flow, true);
	whom_waits(detail, &during->heaviest, flow, false);
}

void tb_detail_job_waits(const struct tb_detail *detail, uint32_t job)
{
	const struct tb_during *during = tb_viewer_during(detail->pane->viewer);
	char text[160], value[80], span[64], waited[48], blamed[48];
	bool begun = false;
	uint32_t n_jobs = detail->pane->data->info->n_jobs;
	for (uint32_t i = 0; during && n_jobs > 1 && i < n_jobs; i++) {
		uint64_t for_ps = tb_job_pairs_wait(&during->job_pairs, job, i);
		uint64_t of_ps = tb_job_pairs_wait(&during->job_pairs, i, job);
		if (for_ps == 0 && of_ps == 0)
			continue;
		if (!begun) {
			snprintf(text, sizeof text,
				"waited for jobs, and held them up, %s",
				tb_span_text(during->job_pairs.listed.span, span,
					sizeof span));
			tb_sheet_gap(detail->sheet);
			tb_sheet_caption(detail->sheet, text);
		}
		begun = true;
		snprintf(value, sizeof value, "%s, %s",
			tb_metric_format(TB_WAIT, for_ps, waited, sizeof waited),
			tb_metric_format(TB_WAIT, of_ps, blamed, sizeof blamed));
		tb_detail_job_item(detail, i, value);
	}
}

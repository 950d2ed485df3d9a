// Who waits at a link and for whom: jobs by exact sums, flows the heaviest, at least.
#include "detail.h"
#include "metric_text.h"
#include "run_text.h"

#include <inttypes.h>
#include <math.h>

// flow_of finds a flow in the run's table; its number of rows when it is not there.
static uint32_t flow_of(const struct tb_flow_table *table, uint32_t job,
	struct tb_node source, struct tb_node destination)
{
	for (uint32_t i = tb_flow_table_from(table, source.id);
		i < table->n && table->rows[i].source.id == source.id; i++)
		if (table->rows[i].destination.id == destination.id &&
			table->rows[i].job == job)
			return i;
	return table->n;
}

static void jobs(const struct tb_detail *detail, const struct tb_job_links *waits)
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

static void pair(const struct tb_detail *detail, const struct tb_flow_table *table,
	const struct tb_blame_sample *row, double largest)
{
	char text[64], wait[48], value[64];
	uint32_t flow = flow_of(
		table, row->victim_job, row->victim_source, row->victim_destination);
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

void tb_detail_waits(const struct tb_detail *detail, uint32_t link)
{
	const struct tb_viewer_data *data = detail->pane->data;
	const struct tb_flow_table *table = tb_viewer_flows(detail->pane->viewer);
	const struct tb_waits_question *waits =
		tb_viewer_waits(detail->pane->viewer, (struct tb_link){link});
	if (!waits || !table || (waits->jobs.n == 0 && waits->heaviest.listed.n == 0))
		return;
	tb_sheet_gap(detail->sheet);
	tb_sheet_caption(detail->sheet,
		tb_window_whole(data->info, data->window)
			? "who waited here, and for whom"
			: "who waited here, and for whom, in the whole run");
	jobs(detail, &waits->jobs);
	for (uint32_t i = 0; i < waits->heaviest.listed.n; i++) {
		const struct tb_blame_sample *row = &waits->heaviest.rows[i];
		if (data->job == TB_ID_NONE || data->job == row->victim_job ||
			data->job == row->culprit_job)
			pair(detail, table, row, (double)waits->heaviest.rows[0].wait_ps);
	}
	if (waits->heaviest.listed.n_all > waits->heaviest.listed.n) {
		char text[64];
		snprintf(text, sizeof text, "and %" PRIu64 " pairs that waited less",
			waits->heaviest.listed.n_all - waits->heaviest.listed.n);
		tb_sheet_caption(detail->sheet, text);
	}
}

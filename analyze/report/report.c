#include "report_impl.h"

#include <stdlib.h>
#include <string.h>

void tb_report_free(struct tb_report *report)
{
	if (!report)
		return;
	for (int i = 0; i < report->n_tables; i++)
		free(report->tables[i].cells);
	tb_matrix_fini(&report->matrix);
	free(report->hot_links);
	free(report->switches);
	free(report->flows);
	tb_jobs_fini(&report->jobs);
	free(report->times);
	tb_blame_lists_fini(&report->blame);
	free(report->root_victims);
	free(report->link_jobs);
	free(report->blame_of_link);
	free(report->wait_by_bin);
	tb_evidence_fini(&report->evidence);
	tb_findings_fini(&report->findings);
	free(report);
}

static int gather_links(struct tb_report *report, uint32_t top, struct tb_error *error)
{
	const struct tb_window whole = {0, 0};
	const struct tb_link_sample *samples;
	int status = tb_hot_links(
		report->run, whole, top, &report->hot_links, &report->n_hot_links, error);
	if (!status)
		status = tb_run_look(report->run, whole, &samples, error);
	for (uint32_t i = 0; !status && i < report->info->n_links; i++) {
		report->n_waiting += samples[i].wait_ps > 0;
		report->wait_ps += (double)samples[i].wait_ps;
	}
	return status;
}

static int by_sum(const void *left, const void *right)
{
	const struct tb_matrix_box *a = *(const struct tb_matrix_box *const *)left;
	const struct tb_matrix_box *b = *(const struct tb_matrix_box *const *)right;
	if (a->sum != b->sum)
		return a->sum > b->sum ? -1 : 1;
	return (a->sw.id > b->sw.id) - (a->sw.id < b->sw.id);
}

static int gather_switches(struct tb_report *report, uint32_t top, struct tb_error *error)
{
	int status = tb_matrix_init(
		&report->matrix, report->run, (struct tb_window){0, 0}, TB_WAIT, error);
	if (status)
		return status;
	report->switches = calloc((size_t)report->info->n_switches + 1,
		sizeof(const struct tb_matrix_box *));
	if (!report->switches)
		return tb_fail(error, TB_ENOMEM, "no memory for a report");
	uint32_t n = 0;
	for (uint32_t r = 0; r < report->matrix.n_rows; r++)
		for (uint32_t b = 0; b < report->matrix.rows[r].n_boxes; b++)
			if (report->matrix.rows[r].boxes[b].sum)
				report->switches[n++] = &report->matrix.rows[r].boxes[b];
	qsort(report->switches, n, sizeof(const struct tb_matrix_box *), by_sum);
	report->n_switches_waiting = n;
	report->n_switches = top && top < n ? top : n;
	return TB_OK;
}

static int by_root(const void *left, const void *right)
{
	const struct tb_blame_sum *a = left, *b = right;
	if (a->at.root.id != b->at.root.id)
		return a->at.root.id < b->at.root.id ? -1 : 1;
	if (a->at.wait_ps != b->at.wait_ps)
		return a->at.wait_ps < b->at.wait_ps ? 1 : -1;
	return (a->at.victim_job > b->at.victim_job) -
	       (a->at.victim_job < b->at.victim_job);
}

static int no_memory(struct tb_error *error)
{
	return tb_fail(error, TB_ENOMEM, "no memory for a report");
}

// gather_root_victims sums those of the listed roots.
static int gather_root_victims(struct tb_report *report, struct tb_error *error)
{
	const struct tb_blame_listed *jobs = &report->blame.of[TB_BLAME_ROOT_JOBS];
	struct tb_blame_sample *rows = malloc(((size_t)jobs->n + 1) * sizeof *rows);
	if (!rows)
		return no_memory(error);
	for (uint32_t i = 0; i < jobs->n; i++)
		rows[i] = jobs->sums[i].at;
	int status = tb_blame_sums(rows, jobs->n, TB_BLAME_ROOT | TB_BLAME_VICTIM_JOB,
		&report->root_victims, &report->n_root_victims);
	free(rows);
	if (status)
		return no_memory(error);
	qsort(report->root_victims, report->n_root_victims, sizeof *report->root_victims,
		by_root);
	return TB_OK;
}

// list_links lists the links of which the blame is needed, each once.
static struct tb_link *list_links(const struct tb_report *report, uint32_t *n)
{
	const struct tb_blame_listed *triples = &report->blame.of[TB_BLAME_LINK_FLOWS];
	bool *wanted = calloc((size_t)report->info->n_links + 1, sizeof *wanted);
	struct tb_link *links =
		calloc((size_t)report->n_hot_links + triples->n + 1, sizeof *links);
	*n = 0;
	if (!wanted || !links) {
		free(wanted);
		free(links);
		return NULL;
	}
	for (uint32_t i = 0; i < report->n_hot_links; i++)
		wanted[report->hot_links[i].sample.link.id] = true;
	for (uint32_t i = 0; i < triples->n; i++)
		wanted[triples->sums[i].at.link.id] = true;
	for (uint32_t i = 0; i < report->info->n_links; i++)
		if (wanted[i])
			links[(*n)++].id = i;
	free(wanted);
	return links;
}

static int gather_link_jobs(struct tb_report *report, struct tb_error *error)
{
	uint32_t n = 0;
	struct tb_link *links = list_links(report, &n);
	report->blame_of_link =
		calloc(report->info->n_links + 1u, sizeof *report->blame_of_link);
	if (!links || !report->blame_of_link) {
		free(links);
		return no_memory(error);
	}
	int status = tb_blame_of_links(
		report->run, links, n, &report->link_jobs, &report->n_link_jobs, error);
	free(links);
	for (uint32_t i = 0; i < report->n_link_jobs; i++) {
		const struct tb_blame_sample *at = &report->link_jobs[i].at;
		report->blame_of_link[at->link.id] += (double)at->wait_ps;
	}
	return status;
}

static int gather_blame(struct tb_report *report, uint32_t top, struct tb_error *error)
{
	int status = tb_blame_lists_init(&report->blame, report->run, top, error);
	if (!status)
		status = gather_root_victims(report, error);
	return status ? status : gather_link_jobs(report, error);
}

static int gather_time(struct tb_report *report, struct tb_error *error)
{
	report->wait_by_bin =
		calloc(report->info->n_bins + 1, sizeof *report->wait_by_bin);
	if (!report->wait_by_bin)
		return tb_fail(error, TB_ENOMEM, "no memory for a report");
	return tb_run_wait_by_bin(report->run, report->wait_by_bin, error);
}

static int gather(struct tb_report *report, uint32_t top, struct tb_error *error)
{
	int status = gather_links(report, top, error);
	if (!status)
		status = gather_switches(report, top, error);
	if (!status)
		status = tb_flows_slowest(
			report->run, top, &report->flows, &report->n_flows, error);
	if (!status)
		status = tb_flows_count(report->run, &report->n_flows_all, error);
	if (!status)
		status = tb_jobs_init(&report->jobs, report->run, error);
	if (!status)
		status = tb_job_times_init(
			&report->times, &report->jobs, report->run, error);
	if (!status)
		status = gather_blame(report, top, error);
	if (!status)
		status = gather_time(report, error);
	if (!status)
		status = tb_evidence_init(&report->evidence, report->run, error);
	if (!status && tb_findings_judge(&report->findings, &report->evidence))
		status = no_memory(error);
	if (!status && tb_report_tabulate(report))
		status = tb_fail(error, TB_ENOMEM, "no memory for a report");
	return status;
}

int tb_report_new(struct tb_report **report, struct tb_run *run, uint32_t top,
	struct tb_error *error)
{
	struct tb_report *made = calloc(1, sizeof *made);
	if (!made)
		return tb_fail(error, TB_ENOMEM, "no memory for a report");
	made->run = run;
	made->info = tb_run_info(run);
	made->top = top;
	made->has_capture = tb_run_capture(made->info, &made->capture);
	int status = gather(made, top, error);
	if (status) {
		tb_report_free(made);
		return status;
	}
	*report = made;
	return TB_OK;
}

const struct tb_hot_link *tb_report_hottest(const struct tb_report *report)
{
	return report->n_waiting ? &report->hot_links[0] : NULL;
}

int tb_report_write(const struct tb_report *report, enum tb_format format,
	const struct tb_report_figures *figures, const char *list, FILE *stream,
	struct tb_error *error)
{
	static const struct tb_report_figures none = {NULL, NULL};
	int status = TB_OK;
	if (format == TB_FORMAT_CSV)
		status = tb_report_write_csv(report, list ? list : "hot-links", stream);
	else if (format == TB_FORMAT_JSON)
		status = tb_report_write_json(report, stream);
	else if (format == TB_FORMAT_MARKDOWN)
		tb_report_write_markdown(report, stream);
	else if (format == TB_FORMAT_HTML)
		tb_report_write_html(report, figures ? figures : &none, stream);
	else
		tb_report_write_text(report, stream);
	return status == TB_OK ? TB_OK
			       : tb_fail(error, TB_ENOMEM, "no memory for a report");
}

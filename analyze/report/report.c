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
	free(report->blame);
	free(report->blame_jobs);
	tb_jobs_fini(&report->jobs);
	free(report->triples);
	free(report->roots);
	free(report->root_victims);
	free(report->link_jobs);
	free(report->root_jobs);
	free(report->blame_of_link);
	free(report->wait_by_bin);
	free(report);
}

// gather_links lists all links, for the sums, and then keeps the first `top`.
static int gather_links(struct tb_report *report, uint32_t top, struct tb_error *error)
{
	int status = tb_hot_links(report->run, (struct tb_window){0, 0}, 0,
		&report->hot_links, &report->n_waiting, error);
	if (status)
		return status;
	for (uint32_t i = 0; i < report->n_waiting; i++)
		report->wait_ps += (double)report->hot_links[i].sample.wait_ps;
	report->n_hot_links = top && top < report->n_waiting ? top : report->n_waiting;
	return TB_OK;
}

static int by_sum(const void *left, const void *right)
{
	const struct tb_matrix_block *a = *(const struct tb_matrix_block *const *)left;
	const struct tb_matrix_block *b = *(const struct tb_matrix_block *const *)right;
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
		sizeof(const struct tb_matrix_block *));
	if (!report->switches)
		return tb_fail(error, TB_ENOMEM, "no memory for a report");
	uint32_t n = 0;
	for (uint32_t r = 0; r < report->matrix.n_rows; r++)
		for (uint32_t b = 0; b < report->matrix.rows[r].n_blocks; b++)
			if (report->matrix.rows[r].blocks[b].sum)
				report->switches[n++] = &report->matrix.rows[r].blocks[b];
	qsort(report->switches, n, sizeof(const struct tb_matrix_block *), by_sum);
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

// add_blame_of_links sums the blame by link and in total.
static int add_blame_of_links(struct tb_report *report)
{
	report->blame_of_link =
		calloc(report->info->n_links + 1u, sizeof *report->blame_of_link);
	if (!report->blame_of_link)
		return TB_ENOMEM;
	for (uint32_t i = 0; i < report->n_link_jobs; i++) {
		const struct tb_blame_sample *at = &report->link_jobs[i].at;
		report->blame_of_link[at->link.id] += (double)at->wait_ps;
		report->blamed_ps += (double)at->wait_ps;
	}
	return TB_OK;
}

// gather_blame sums the blame by all keys that the tables need.
static int gather_blame(struct tb_report *report, uint32_t top, struct tb_error *error)
{
	const struct {
		unsigned keys;
		struct tb_blame_sum **sums;
		uint32_t *n;
	} wanted[] = {
		{TB_BLAME_LINK | TB_BLAME_VICTIM | TB_BLAME_CULPRIT, &report->triples,
			&report->n_triples_all},
		{TB_BLAME_ROOT, &report->roots, &report->n_roots_all},
		{TB_BLAME_ROOT | TB_BLAME_VICTIM_JOB, &report->root_victims,
			&report->n_root_victims},
		{TB_BLAME_LINK | TB_BLAME_VICTIM_JOB | TB_BLAME_CULPRIT_JOB,
			&report->link_jobs, &report->n_link_jobs},
		{TB_BLAME_ROOT | TB_BLAME_VICTIM_JOB | TB_BLAME_CULPRIT_JOB,
			&report->root_jobs, &report->n_root_jobs},
	};
	struct tb_blame_sample *rows = NULL;
	uint32_t n_rows = 0;
	int status = tb_blame_all(report->run, &rows, &n_rows, error);
	for (size_t i = 0; status == TB_OK && i < sizeof wanted / sizeof *wanted; i++)
		if (tb_blame_sums(rows, n_rows, wanted[i].keys, wanted[i].sums,
			    wanted[i].n) != TB_OK)
			status = tb_fail(error, TB_ENOMEM, "no memory for a report");
	free(rows);
	if (status == TB_OK && add_blame_of_links(report) != TB_OK)
		status = tb_fail(error, TB_ENOMEM, "no memory for a report");
	if (status != TB_OK)
		return status;
	qsort(report->root_victims, report->n_root_victims, sizeof *report->root_victims,
		by_root);
	report->n_triples =
		top && top < report->n_triples_all ? top : report->n_triples_all;
	report->n_roots = top && top < report->n_roots_all ? top : report->n_roots_all;
	return status;
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
		status = tb_blame_worst(
			report->run, top, &report->blame, &report->n_blame, error);
	if (!status)
		status = tb_blame_by_job(
			report->run, &report->blame_jobs, &report->n_blame_jobs, error);
	if (!status)
		status = tb_jobs_init(&report->jobs, report->run, error);
	if (!status)
		status = gather_blame(report, top, error);
	if (!status)
		status = gather_time(report, error);
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

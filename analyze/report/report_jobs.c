// The report's tables by job: what each did, and which waits for which.
#include "report_cells.h"

#include <string.h>

// listed returns how many of `n` rows a table shows.
static uint32_t listed(const struct tb_report *report, uint32_t n)
{
	return report->top && report->top < n ? report->top : n;
}

// Tables cut lists of nodes shorter than JSON does.
#define NODES_WIDTH 20

static void put_nodes(struct tb_report_writer *writer, const char *nodes)
{
	struct tb_report_cell *at = tb_report_cell(writer);
	if (!nodes)
		return;
	if (strlen(nodes) <= NODES_WIDTH) {
		snprintf(at->text, sizeof at->text, "%s", nodes);
		return;
	}
	int length = NODES_WIDTH - 3;
	while (length > 1 && nodes[length] != ',')
		length--;
	snprintf(at->text, sizeof at->text, "%.*s,...", length, nodes);
}

int tb_report_tabulate_jobs(struct tb_report *report)
{
	struct tb_report_table table = {
		.id = "jobs",
		.title = "Jobs",
		.n_rows = report->info->n_jobs > 1 ? listed(report, report->jobs.n) : 0,
		.columns =
			{
				{"Job", "Its name", false},
				{"Nodes", "On which it runs", true},
				{"On", "The nodes", false},
				{"From", "When its first message was posted", true},
				{"Run time", "From then to its last delivery", true},
				{"Messages", "Delivered", true},
				{tb_run_carried_column(report->info),
					"Of its messages, delivered", true},
				{"Mean latency", "Of a message, from post to delivery",
					true},
				{"Own queue",
					"Of that, behind other messages of its node",
					true},
				{"Network", "Of that; the rest is software", true},
				{"Slowdown", "Time in the network against an idle one",
					true},
				{"Wait", "Of its headers, over all links", true},
				{"For others", "What of it was for other jobs' packets",
					true},
				{"Delays others",
					"What other jobs' headers waited for its packets",
					true},
			},
	};
	struct tb_report_writer writer;
	if (!table.n_rows)
		return TB_OK;
	tb_report_remark_rest(&table, report->jobs.n, "jobs",
		tb_report_any_alone(report)
			? ""
			: "A replay with --alone shows what the others cost each.");
	if (tb_report_open_table(report, &table, &writer))
		return TB_ENOMEM;
	double worst = 0;
	for (uint32_t i = 0; i < report->jobs.n; i++)
		if (report->jobs.jobs[i].slowdown > worst)
			worst = report->jobs.jobs[i].slowdown;
	for (uint32_t i = 0; i < table.n_rows; i++) {
		const struct tb_job_figures *job = &report->jobs.jobs[i];
		tb_report_put_job(&writer, report->run, i);
		tb_report_put_count(&writer, job->n_nodes);
		put_nodes(&writer, job->nodes);
		tb_report_put_time(&writer, (double)job->first_ps);
		tb_report_put_time(&writer, (double)report->times[i].run.run_ps);
		tb_report_put_count(&writer, job->n_messages);
		tb_report_put_size(&writer, job->bytes);
		tb_report_put_time(&writer, job->mean_latency_ps);
		tb_report_put_mean(&writer, job->queue_ps, job->n_messages);
		tb_report_put_mean(&writer, job->network_ps, job->n_messages);
		tb_report_put_slowdown(&writer, job->slowdown, worst);
		tb_report_put_time(&writer, (double)job->wait_ps);
		tb_report_put_time(
			&writer, (double)tb_job_pairs_for_others(&report->job_pairs, i));
		tb_report_put_time(
			&writer, (double)tb_job_pairs_of_others(&report->job_pairs, i));
	}
	return TB_OK;
}

static int list_job_blame(struct tb_report *report)
{
	const struct tb_job_pairs *pairs = &report->job_pairs;
	struct tb_report_table table = {
		.id = "blame-by-job",
		.title = "Which job makes which wait",
		.n_rows = listed(report, pairs->listed.n),
		.columns =
			{
				{"Waits", "The job whose packets waited", false},
				{"For", report->info->words->culprit, false},
				{"Wait", "Over all flows and links", true},
				{"Of all", "Share of all wait that is blamed on a job",
					true},
				{"Times", "How many waits", true},
			},
	};
	struct tb_report_writer writer;
	if (!table.n_rows)
		return TB_OK;
	tb_report_remark_rest(&table, pairs->listed.n_all, "pairs of jobs", "");
	if (tb_report_open_table(report, &table, &writer))
		return TB_ENOMEM;
	for (uint32_t i = 0; i < table.n_rows; i++) {
		const struct tb_job_pair *jobs = &pairs->rows[i];
		double percent = tb_report_percent_of_blame(report, jobs->wait_ps);
		tb_report_put_job(&writer, report->run, jobs->victim_job);
		tb_report_put_job(&writer, report->run, jobs->culprit_job);
		tb_report_put_time(&writer, (double)jobs->wait_ps)->bar = percent;
		tb_report_put_real(&writer, percent, " %");
		tb_report_put_count(&writer, jobs->n_waits);
	}
	return TB_OK;
}

static void put_pair(struct tb_report_writer *writer, uint64_t wait_ps, double largest)
{
	if (wait_ps == 0)
		tb_report_put_text(writer, "-");
	else
		tb_report_put_time(writer, (double)wait_ps)->bar =
			largest > 0 ? 100.0 * (double)wait_ps / largest : -1;
}

// The matrix has a row for each job that waits and a column for each that it waits for.
static int draw_job_matrix(struct tb_report *report)
{
	uint32_t n = report->info->n_jobs;
	struct tb_report_table table = {.id = "blame-by-job",
		.title = "Which job makes which wait",
		.n_rows = n,
		.columns = {{"Waits \\ for", "The job whose packets waited", false}}};
	struct tb_report_writer writer;
	for (uint32_t i = 0; i < n; i++)
		table.columns[i + 1] = (struct tb_report_column){
			report->jobs.jobs[i].name, "Whose packets held them", true};
	snprintf(table.remark, sizeof table.remark,
		"A row's job waited so long while a column's held %s.",
		report->info->words->held);
	table.columns[n + 1] = (struct tb_report_column){"All", "Over all jobs", true};
	if (tb_report_open_table(report, &table, &writer))
		return TB_ENOMEM;
	double largest = (double)report->job_pairs.rows[0].wait_ps;
	for (uint32_t victim = 0; victim < n; victim++) {
		double sum = 0;
		tb_report_put_job(&writer, report->run, victim);
		for (uint32_t culprit = 0; culprit < n; culprit++) {
			uint64_t wait_ps =
				tb_job_pairs_wait(&report->job_pairs, victim, culprit);
			put_pair(&writer, wait_ps, largest);
			sum += (double)wait_ps;
		}
		tb_report_put_time(&writer, sum);
	}
	return TB_OK;
}

int tb_report_tabulate_job_blame(struct tb_report *report)
{
	if (report->info->n_jobs < 2 || report->job_pairs.listed.n == 0)
		return TB_OK;
	// As many jobs as there are columns for each.
	bool fits = report->info->n_jobs + 2 <= TB_REPORT_COLUMNS;
	return fits ? draw_job_matrix(report) : list_job_blame(report);
}

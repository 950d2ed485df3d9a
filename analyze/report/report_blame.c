// The report's tables of blame: who waited for whom, where, and for which root.
#include "report_cells.h"

#include <string.h>

// percent returns 0 when the whole is 0, as it may be in a foreign file.
static double percent(uint64_t part, double whole)
{
	return whole > 0 ? 100.0 * (double)part / whole : 0;
}

double tb_report_percent_of_link(
	const struct tb_report *report, struct tb_link link, uint64_t wait_ps)
{
	return percent(wait_ps, (double)report->wait_by_link[link.id]);
}

double tb_report_percent_of_blame(const struct tb_report *report, uint64_t wait_ps)
{
	return percent(wait_ps, report->roots.listed.whole_ps);
}

// is_bounded returns whether a list has rows that may have waited longer than they say.
static bool is_bounded(const struct tb_listed *listed)
{
	return listed->floor_ps > 0 || listed->rest_ps > 0;
}

// name_bounded completes a table of the heaviest: its title, the title of its column of
// waits, and the remark say what is left out. `bound` is the column behind that.
static void name_bounded(struct tb_report_table *table, const struct tb_listed *listed,
	const char *title, const char *what, int bound)
{
	char rest[32], floor[32], left_out[100];
	snprintf(table->heading, sizeof table->heading, "%s: the heaviest%s", title,
		is_bounded(listed) ? ", at least" : "");
	table->title = table->heading;
	table->columns[bound - 1].title = is_bounded(listed) ? "At least" : "Wait";
	left_out[0] = '\0';
	if (is_bounded(listed))
		snprintf(left_out, sizeof left_out,
			"Not told apart: %s, no part of which is longer than %s.",
			tb_report_format_time(listed->rest_ps, rest, sizeof rest),
			tb_report_format_time(
				(double)listed->floor_ps, floor, sizeof floor));
	tb_report_remark_rest(table, listed->n_all, what, left_out);
	if (is_bounded(listed))
		return;
	// Exact rows need no column for what they may be at most.
	memmove(&table->columns[bound], &table->columns[bound + 1],
		(size_t)(TB_REPORT_COLUMNS - bound - 1) * sizeof *table->columns);
}

// put_bounded writes a wait and, where rows are not exact, what it may be at most.
static void put_bounded(struct tb_report_writer *writer, const struct tb_listed *listed,
	uint64_t wait_ps, uint64_t error_ps, uint64_t largest_ps)
{
	tb_report_put_time(writer, (double)wait_ps)->bar =
		percent(wait_ps, (double)largest_ps);
	if (is_bounded(listed) && error_ps)
		tb_report_put_time(writer, (double)wait_ps + (double)error_ps);
	else if (is_bounded(listed))
		tb_report_put_text(writer, "=");
}

// put_culprit writes "itself" where a flow waited for its own packets.
static void put_culprit(struct tb_report_writer *writer, const struct tb_run *run,
	const struct tb_blame_sample *at)
{
	if (at->victim_job == at->culprit_job &&
		at->victim_source.id == at->culprit_source.id &&
		at->victim_destination.id == at->culprit_destination.id)
		tb_report_put_text(writer, "itself");
	else
		tb_report_put_flow(writer, run, at->culprit_job, at->culprit_source,
			at->culprit_destination);
}

#define AT_MOST                                                                          \
	{                                                                                \
		"At most", "What it may have waited; = for no more", true                \
	}

int tb_report_tabulate_heaviest(struct tb_report *report)
{
	const struct tb_listed *listed = &report->heaviest.listed;
	struct tb_report_table table = {
		.id = "blame",
		.n_rows = listed->n,
		.columns =
			{
				{"At", "The link by which the waiting headers came in",
					false},
				{"Waits", "The flow whose packets waited", false},
				{"For", report->info->words->culprit, false},
				{"Wait", "For this flow, at this link", true},
				AT_MOST,
				{"Of the link", "Share of the link's wait", true},
				{"Times", "How many waits", true},
			},
	};
	struct tb_report_writer writer;
	if (!table.n_rows)
		return TB_OK;
	name_bounded(&table, listed, "Where who waits for whom",
		"combinations of link, flow and flow", 4);
	if (tb_report_open_table(report, &table, &writer))
		return TB_ENOMEM;
	for (uint32_t i = 0; i < listed->n; i++) {
		const struct tb_blame_sample *at = &report->heaviest.rows[i];
		tb_report_put_text(&writer, tb_run_links(report->run)[at->link.id].name);
		tb_report_put_flow(&writer, report->run, at->victim_job,
			at->victim_source, at->victim_destination);
		put_culprit(&writer, report->run, at);
		put_bounded(&writer, listed, at->wait_ps, at->error_ps,
			report->heaviest.rows[0].wait_ps);
		tb_report_put_real(&writer,
			tb_report_percent_of_link(report, at->link, at->wait_ps), " %");
		tb_report_put_count(&writer, at->n_waits);
	}
	return TB_OK;
}

static void put_party(
	struct tb_report_writer *writer, const struct tb_report *report, uint32_t id)
{
	char text[80];
	tb_report_put_text(writer, tb_grouped_party(report->run, report->grouped.grain,
					   id, text, sizeof text));
}

// Flows and jobs have tables of their own.
int tb_report_tabulate_grouped(struct tb_report *report)
{
	const struct tb_grouped *grouped = &report->grouped;
	const struct tb_listed *listed = &grouped->listed;
	bool has_own =
		grouped->grain == TB_GRAIN_FLOWS || grouped->grain == TB_GRAIN_JOBS;
	char title[64];
	struct tb_report_table table = {
		.id = "blame-groups",
		.n_rows = has_own ? 0 : listed->n,
		.columns =
			{
				{"Waits", "Whose packets waited", false},
				{"For", report->info->words->culprit, false},
				{"Wait", "Over all flows of the group, at all links",
					true},
				AT_MOST,
				{"Of all", "Share of the whole network's wait", true},
				{"Times", "How many waits", true},
			},
	};
	struct tb_report_writer writer;
	if (!table.n_rows)
		return TB_OK;
	snprintf(title, sizeof title, "Who makes whom wait, by %s",
		tb_grain_name(grouped->grain));
	name_bounded(&table, listed, title, "pairs", 3);
	if (tb_report_open_table(report, &table, &writer))
		return TB_ENOMEM;
	for (uint32_t i = 0; i < listed->n; i++) {
		const struct tb_group_sample *at = &grouped->rows[i];
		put_party(&writer, report, at->victim);
		if (at->victim == at->culprit)
			tb_report_put_text(&writer, "the same");
		else
			put_party(&writer, report, at->culprit);
		put_bounded(&writer, listed, at->wait_ps, at->error_ps,
			grouped->rows[0].wait_ps);
		tb_report_put_real(
			&writer, tb_report_percent_of_blame(report, at->wait_ps), " %");
		tb_report_put_count(&writer, at->n_waits);
	}
	return TB_OK;
}

// put_held names the jobs that wait for a root, which begin at `*next`.
static void put_held(struct tb_report_writer *writer, const struct tb_report *report,
	const struct tb_root *root, uint32_t *next)
{
	struct tb_report_cell *at = tb_report_cell(writer);
	const struct tb_root_jobs *jobs = &report->root_jobs;
	size_t used = 0;
	at->text[0] = '\0';
	for (; *next < jobs->n && jobs->rows[*next].root.id == root->root.id; ++*next) {
		const struct tb_root_job_sample *part = &jobs->rows[*next];
		char name[40];
		if (used + sizeof name + 12 > sizeof at->text)
			continue;
		used += (size_t)snprintf(at->text + used, sizeof at->text - used,
			"%s%s %.0f %%", used ? ", " : "",
			tb_report_job_name(
				report->run, part->victim_job, name, sizeof name),
			percent(part->wait_ps, (double)root->wait_ps));
	}
}

int tb_report_tabulate_roots(struct tb_report *report)
{
	const struct tb_listed *listed = &report->roots.listed;
	bool jobs = report->info->n_jobs > 1;
	struct tb_report_table table = {
		.id = "congestion-roots",
		.title = "Congestion roots",
		.n_rows = listed->n,
		.columns =
			{
				{"Root", report->info->words->root, false},
				{"Wait", "Of all headers that it holds up, everywhere",
					true},
				{"Of all", "Share of the whole network's wait", true},
				{"Times", "How many waits", true},
				{report->roots.links_left_out ? "Links, at least"
							      : "Links",
					"At which headers wait for it in the end, at "
					"least",
					true},
				{jobs ? "Holds up" : NULL,
					"The jobs, by their share of its wait", false},
			},
	};
	struct tb_report_writer writer;
	uint32_t next = 0;
	if (!table.n_rows)
		return TB_OK;
	tb_report_remark_rest(&table, listed->n_all, "roots", "");
	if (tb_report_open_table(report, &table, &writer))
		return TB_ENOMEM;
	for (uint32_t i = 0; i < listed->n; i++) {
		const struct tb_root *root = &report->roots.rows[i];
		tb_report_put_text(
			&writer, tb_run_links(report->run)[root->root.id].name);
		tb_report_put_time(&writer, (double)root->wait_ps)->bar =
			percent(root->wait_ps, (double)report->roots.rows[0].wait_ps);
		tb_report_put_real(
			&writer, tb_report_percent_of_blame(report, root->wait_ps), " %");
		tb_report_put_count(&writer, root->n_waits);
		tb_report_put_count(&writer, root->n_links);
		if (jobs)
			put_held(&writer, report, root, &next);
	}
	return TB_OK;
}

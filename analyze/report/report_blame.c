// The report's tables of blame: who waited for whom, where, and for which root.
#include "report_cells.h"

#include <string.h>

// percent returns 0 when the whole is 0, as it may be in a foreign file.
static double percent(uint64_t part, double whole)
{
	return whole > 0 ? 100.0 * (double)part / whole : 0;
}

double tb_report_percent_of_link(
	const struct tb_report *report, const struct tb_blame_sum *sum)
{
	return percent(sum->at.wait_ps, report->blame_of_link[sum->at.link.id]);
}

double tb_report_percent_of_blame(
	const struct tb_report *report, const struct tb_blame_sum *sum)
{
	return percent(sum->at.wait_ps, report->blame.wait_ps);
}

// put_culprit writes "itself" where a flow waited for its own packets.
static void put_culprit(struct tb_report_writer *writer, const struct tb_run *run,
	const struct tb_blame_sample *at)
{
	if (at->victim_source.id != TB_ID_NONE && at->victim_job == at->culprit_job &&
		at->victim_source.id == at->culprit_source.id &&
		at->victim_destination.id == at->culprit_destination.id)
		tb_report_put_text(writer, "itself");
	else
		tb_report_put_flow(writer, run, at->culprit_job, at->culprit_source,
			at->culprit_destination);
}

int tb_report_tabulate_blame(struct tb_report *report)
{
	const struct tb_blame_listed *listed = &report->blame.of[TB_BLAME_FLOWS];
	struct tb_report_table table = {
		.id = "blame",
		.title = "Who makes whom wait",
		.n_rows = listed->n,
		.columns =
			{
				{"Waits", "The flow whose packets waited", false},
				{"For", report->info->words->culprit, false},
				{"Wait", "For this flow, over all links", true},
				{"Of all", "Share of all wait that is blamed on a flow",
					true},
				{"Times", "How many waits", true},
				{"Most at", "The link at which most of it was", false},
			},
	};
	struct tb_report_writer writer;
	if (!table.n_rows)
		return TB_OK;
	if (tb_report_open_table(report, &table, &writer))
		return TB_ENOMEM;
	for (size_t i = 0; i < table.n_rows; i++) {
		const struct tb_blame_sum *pair = &listed->sums[i];
		tb_report_put_flow(&writer, report->run, pair->at.victim_job,
			pair->at.victim_source, pair->at.victim_destination);
		put_culprit(&writer, report->run, &pair->at);
		tb_report_put_time(&writer, (double)pair->at.wait_ps)->bar =
			listed->sums[0].at.wait_ps
				? percent(pair->at.wait_ps,
					  (double)listed->sums[0].at.wait_ps)
				: -1;
		tb_report_put_real(
			&writer, tb_report_percent_of_blame(report, pair), " %");
		tb_report_put_count(&writer, pair->at.n_waits);
		tb_report_put_text(
			&writer, tb_run_links(report->run)[pair->heaviest.link.id].name);
	}
	return TB_OK;
}

int tb_report_tabulate_triples(struct tb_report *report)
{
	const struct tb_blame_listed *listed = &report->blame.of[TB_BLAME_LINK_FLOWS];
	struct tb_report_table table = {
		.id = "blame-triples",
		.title = "Where who waits for whom",
		.n_rows = listed->n,
		.columns =
			{
				{"At", "The link by which the waiting headers came in",
					false},
				{"Waits", "The flow whose packets waited", false},
				{"For", report->info->words->culprit, false},
				{"Wait", "For this flow, at this link", true},
				{"Of the link", "Share of the link's wait", true},
				{"Times", "How many waits", true},
				{"Held up by", report->info->words->root, false},
			},
	};
	struct tb_report_writer writer;
	if (!table.n_rows)
		return TB_OK;
	tb_report_remark_rest(
		&table, listed->n_all, "combinations of link, flow and flow", "");
	if (tb_report_open_table(report, &table, &writer))
		return TB_ENOMEM;
	const struct tb_run_link *links = tb_run_links(report->run);
	for (uint32_t i = 0; i < listed->n; i++) {
		const struct tb_blame_sum *sum = &listed->sums[i];
		tb_report_put_text(&writer, links[sum->at.link.id].name);
		tb_report_put_flow(&writer, report->run, sum->at.victim_job,
			sum->at.victim_source, sum->at.victim_destination);
		put_culprit(&writer, report->run, &sum->at);
		tb_report_put_time(&writer, (double)sum->at.wait_ps)->bar =
			percent(sum->at.wait_ps, (double)listed->sums[0].at.wait_ps);
		tb_report_put_real(&writer, tb_report_percent_of_link(report, sum), " %");
		tb_report_put_count(&writer, sum->at.n_waits);
		tb_report_put_text(&writer, links[sum->heaviest.root.id].name);
	}
	return TB_OK;
}

// first_victim finds the jobs that wait for a root.
static uint32_t first_victim(const struct tb_report *report, struct tb_link root)
{
	uint32_t first = 0, n = report->n_root_victims;
	while (n > 0) {
		uint32_t half = n / 2;
		if (report->root_victims[first + half].at.root.id < root.id) {
			first += half + 1;
			n -= half + 1;
		} else {
			n = half;
		}
	}
	return first;
}

// put_held names what waits for a root: the jobs or, in a run with one job, the flow that
// waits longest.
static void put_held(struct tb_report_writer *writer, const struct tb_report *report,
	const struct tb_blame_sum *root)
{
	const struct tb_run *run = report->run;
	if (report->info->n_jobs < 2) {
		tb_report_put_flow(writer, run, root->heaviest.victim_job,
			root->heaviest.victim_source, root->heaviest.victim_destination);
		return;
	}
	struct tb_report_cell *at = tb_report_cell(writer);
	size_t used = 0;
	at->text[0] = '\0';
	for (uint32_t i = first_victim(report, root->at.root); i < report->n_root_victims;
		i++) {
		const struct tb_blame_sum *part = &report->root_victims[i];
		char name[40];
		if (part->at.root.id != root->at.root.id ||
			used + sizeof name + 12 > sizeof at->text)
			break;
		used += (size_t)snprintf(at->text + used, sizeof at->text - used,
			"%s%s %.0f %%", used ? ", " : "",
			tb_report_job_name(run, part->at.victim_job, name, sizeof name),
			percent(part->at.wait_ps, (double)root->at.wait_ps));
	}
}

int tb_report_tabulate_roots(struct tb_report *report)
{
	const struct tb_blame_listed *listed = &report->blame.of[TB_BLAME_ROOTS];
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
				{"Links", "At which headers wait for it in the end",
					true},
				{"Holds up",
					"The jobs, by their share of its wait; of one "
					"job, the flow that waits most",
					false},
			},
	};
	struct tb_report_writer writer;
	if (!table.n_rows)
		return TB_OK;
	tb_report_remark_rest(&table, listed->n_all, "roots", "");
	if (tb_report_open_table(report, &table, &writer))
		return TB_ENOMEM;
	for (uint32_t i = 0; i < listed->n; i++) {
		const struct tb_blame_sum *root = &listed->sums[i];
		tb_report_put_text(
			&writer, tb_run_links(report->run)[root->at.root.id].name);
		tb_report_put_time(&writer, (double)root->at.wait_ps)->bar =
			percent(root->at.wait_ps, (double)listed->sums[0].at.wait_ps);
		tb_report_put_real(
			&writer, tb_report_percent_of_blame(report, root), " %");
		tb_report_put_count(&writer, root->n_links);
		put_held(&writer, report, root);
	}
	return TB_OK;
}

// The report's tables of blame: who waited for whom, where, and for which root.
#include "report_cells.h"

#include <string.h>

static bool same_flow(const struct tb_blame_pair *pair)
{
	return pair->victim_source.id != TB_ID_NONE &&
	       pair->victim_job == pair->culprit_job &&
	       pair->victim_source.id == pair->culprit_source.id &&
	       pair->victim_destination.id == pair->culprit_destination.id;
}

int tb_report_tabulate_blame(struct tb_report *report)
{
	struct tb_report_table table = {
		.id = "blame",
		.title = "Who makes whom wait",
		.n_rows = report->n_blame,
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
	for (uint32_t i = 0; i < report->n_blame; i++) {
		const struct tb_blame_pair *pair = &report->blame[i];
		tb_report_put_flow(&writer, report->run, pair->victim_job,
			pair->victim_source, pair->victim_destination);
		if (same_flow(pair))
			tb_report_put_text(&writer, "itself");
		else
			tb_report_put_flow(&writer, report->run, pair->culprit_job,
				pair->culprit_source, pair->culprit_destination);
		tb_report_put_time(&writer, (double)pair->wait_ps)->bar =
			report->blame[0].wait_ps
				? 100.0 * (double)pair->wait_ps /
					  (double)report->blame[0].wait_ps
				: -1;
		tb_report_put_real(&writer, pair->percent, " %");
		tb_report_put_count(&writer, pair->n_waits);
		tb_report_put_text(
			&writer, tb_run_links(report->run)[pair->link.id].name);
	}
	return TB_OK;
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
	return percent(sum->at.wait_ps, report->blamed_ps);
}

int tb_report_tabulate_triples(struct tb_report *report)
{
	struct tb_report_table table = {
		.id = "blame-triples",
		.title = "Where who waits for whom",
		.n_rows = report->n_triples,
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
		&table, report->n_triples_all, "combinations of link, flow and flow", "");
	if (tb_report_open_table(report, &table, &writer))
		return TB_ENOMEM;
	const struct tb_run_link *links = tb_run_links(report->run);
	for (uint32_t i = 0; i < report->n_triples; i++) {
		const struct tb_blame_sum *sum = &report->triples[i];
		tb_report_put_text(&writer, links[sum->at.link.id].name);
		tb_report_put_flow(&writer, report->run, sum->at.victim_job,
			sum->at.victim_source, sum->at.victim_destination);
		put_culprit(&writer, report->run, &sum->at);
		tb_report_put_time(&writer, (double)sum->at.wait_ps)->bar =
			percent(sum->at.wait_ps, (double)report->triples[0].at.wait_ps);
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
	struct tb_report_table table = {
		.id = "congestion-roots",
		.title = "Congestion roots",
		.n_rows = report->n_roots,
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
	tb_report_remark_rest(&table, report->n_roots_all, "roots", "");
	if (tb_report_open_table(report, &table, &writer))
		return TB_ENOMEM;
	for (uint32_t i = 0; i < report->n_roots; i++) {
		const struct tb_blame_sum *root = &report->roots[i];
		tb_report_put_text(
			&writer, tb_run_links(report->run)[root->at.root.id].name);
		tb_report_put_time(&writer, (double)root->at.wait_ps)->bar =
			percent(root->at.wait_ps, (double)report->roots[0].at.wait_ps);
		tb_report_put_real(
			&writer, tb_report_percent_of_blame(report, root), " %");
		tb_report_put_count(&writer, root->n_links);
		put_held(&writer, report, root);
	}
	return TB_OK;
}

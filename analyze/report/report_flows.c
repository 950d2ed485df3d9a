// The report's lists of flows, of jobs and of ranks.
#include "report_impl.h"

#include <math.h>
#include <string.h>

static void put_flow_end(struct tb_datum *at)
{
	const struct tb_report *report = at->of;
	struct tb_node node = {(uint32_t)at->whole};
	const char *name = tb_run_node_name(report->run, node);
	tb_put_text(at, *name ? "node %u (%s)" : "node %u", node.id, name);
}

static void put_listed_flow_job(struct tb_datum *at)
{
	const struct tb_report *report = at->of;
	tb_report_job_name(report->run, (uint32_t)at->whole, at->text, sizeof at->text);
}

static void put_job_name(struct tb_datum *at)
{
	const struct tb_report *report = at->of;
	at->word = tb_run_job_name(report->run, (uint32_t)at->whole);
}

static void put_end_name(struct tb_datum *at)
{
	const struct tb_report *report = at->of;
	at->word = tb_run_node_name(report->run, (struct tb_node){(uint32_t)at->whole});
}

void tb_put_flow_figure(struct tb_datum *at, const struct tb_flow_sample *flow,
	enum tb_flow_figure figure)
{
	at->real = tb_flow_figure_of(flow, figure);
	at->whole = tb_flow_figure_whole(flow, figure);
	at->unknown = isnan(at->real);
	at->real = at->unknown ? 0 : at->real;
}

static void put_flow_figure(struct tb_datum *at)
{
	const struct tb_report *report = at->of;
	enum tb_flow_figure figure = (enum tb_flow_figure)at->column->which;
	tb_put_flow_figure(at, &((const struct tb_flow *)at->item)->sample, figure);
	if (figure == TB_FLOW_SLOWDOWN && report->flows[0].slowdown > 0)
		at->bar = 100 * at->real / report->flows[0].slowdown;
}

// adapt_flow_figure: whose bytes they are depends on the input.
static void adapt_flow_figure(struct tb_column *column, const void *of)
{
	const struct tb_report *report = of;
	if (column->which == TB_FLOW_BYTES)
		column->title = tb_run_carried_column(report->info);
}

// adapt_job_figure leaves to the list of flows what is of single messages, and what the
// other parts of the latency leave.
static void adapt_job_figure(struct tb_column *column, const void *of)
{
	adapt_flow_figure(column, of);
	if (column->which == TB_FLOW_WORST || column->which == TB_FLOW_MEAN_SOFTWARE)
		column->title = NULL;
}

// The figures of flows and jobs (flow_sum.h).
// clang-format off
#define FIGURE(of, ID, kind, key, title, meaning)                                        \
	{key TB_PS_##kind, title, meaning, TB_DATUM_##kind, .put = put_##of##_figure,    \
		.adapt = adapt_##of##_figure, .flags = TB_NULL_##kind, .which = TB_FLOW_##ID},
#define OF_FLOWS(ID, formula, kind, key, jobs, view, compared, name, brief, title, meaning) \
	FIGURE(flow, ID, kind, key, title, meaning)
#define OF_JOBS(ID, formula, kind, key, jobs, view, compared, name, brief, title, meaning) \
	OF_JOBS_##jobs(FIGURE(job, ID, kind, key, title, meaning))
#define OF_JOBS_NO(row)
#define OF_JOBS_YES(row) row
// clang-format on

#define FLOW(member) TB_MEMBER(struct tb_flow, member)

#define JOB_BEGINS "When it started; of captured packets, the first message"
#define JOB_ENDS   "When its last message was delivered, or its last rank done computing"

static const struct tb_column flow_columns[] = {
	{"source", "From", "The sending node", TB_DATUM_ID, FLOW(sample.source.id),
		.put = put_flow_end, .flags = TB_COLUMN_LEFT},
	{"destination", "To", "The receiving node", TB_DATUM_ID,
		FLOW(sample.destination.id), .put = put_flow_end,
		.flags = TB_COLUMN_LEFT},
	{"source_name", NULL, "The captured endpoint, empty when there is none",
		TB_DATUM_TEXT, FLOW(sample.source.id), .put = put_end_name},
	{"destination_name", NULL, "The captured endpoint, empty when there is none",
		TB_DATUM_TEXT, FLOW(sample.destination.id), .put = put_end_name},
	{"job", "Job", "The job that it belongs to", TB_DATUM_ID, FLOW(sample.job),
		.put = put_listed_flow_job, .adapt = tb_report_adapt_job,
		.flags = TB_COLUMN_LEFT},
	{"job_name", NULL, NULL, TB_DATUM_TEXT, FLOW(sample.job), .put = put_job_name},
	// clang-format off
	TB_FLOW_COLUMNS(OF_FLOWS)
	// clang-format on
};

const struct tb_table_type tb_list_flows = {"flows", "Slowest flows",
	"Flows by slowdown, slowest first. Empty for a run that did not end.",
	TB_COLUMNS(flow_columns), TB_ROWS(struct tb_report, flows),
	.n = TB_COUNT(struct tb_report, n_flows),
	.n_all = TB_COUNT(struct tb_report, n_flows_all), .what = "flows",
	.remark = "Slowdown is the time in the network against that of the same messages "
		  "on an idle one.",
	.brief = "Flows"};

static void put_flow_rank(struct tb_datum *at)
{
	at->whole = (int64_t)at->row;
	put_listed_flow_job(at);
}

// Tables cut lists of nodes shorter than JSON does.
#define NODES_WIDTH 20

static void put_nodes(struct tb_datum *at)
{
	const struct tb_job_figures *figures = at->item;
	at->word = figures->nodes ? figures->nodes : "";
	if (strlen(at->word) <= NODES_WIDTH)
		return;
	int length = NODES_WIDTH - 3;
	while (length > 1 && at->word[length] != ',')
		length--;
	tb_put_text(at, "%.*s,...", length, at->word);
}

static void put_run_time(struct tb_datum *at)
{
	const struct tb_report *report = at->of;
	at->whole = report->times[at->row].run.run_ps;
}

struct tb_flow_sample tb_report_sent(const struct tb_job_figures *job)
{
	return (struct tb_flow_sample){.n_messages = job->n_messages,
		.n_packets = job->n_packets,
		.bytes = job->bytes,
		.latency_ps = job->latency_ps,
		.queue_ps = job->queue_ps,
		.network_ps = job->network_ps,
		.worst_latency_ps = job->worst_latency_ps,
		.ideal_ps = job->ideal_ps,
		.wait_ps = job->wait_ps};
}

static void put_job_figure(struct tb_datum *at)
{
	const struct tb_report *report = at->of;
	const struct tb_flow_sample all = tb_report_sent(at->item);
	double worst = 0;
	tb_put_flow_figure(at, &all, (enum tb_flow_figure)at->column->which);
	for (uint32_t i = 0; i < report->jobs.n; i++)
		worst = fmax(worst, report->jobs.jobs[i].slowdown);
	if (at->column->which == TB_FLOW_SLOWDOWN && worst > 0)
		at->bar = 100 * at->real / worst;
}

static void put_for_others(struct tb_datum *at)
{
	const struct tb_report *report = at->of;
	tb_put_count(at, tb_job_pairs_for_others(&report->job_pairs, (uint32_t)at->row));
}

static void put_of_others(struct tb_datum *at)
{
	const struct tb_report *report = at->of;
	tb_put_count(at, tb_job_pairs_of_others(&report->job_pairs, (uint32_t)at->row));
}

#define JOB(member) TB_MEMBER(struct tb_job_figures, member)

// adapt_moment leaves it out where all jobs begin with the run.
static void adapt_moment(struct tb_column *column, const void *of)
{
	const struct tb_report *report = of;
	bool any_later = false;
	for (uint32_t i = 0; i < report->jobs.n; i++)
		any_later |=
			report->jobs.jobs[i].first_ps >= report->info->simulated_ps / 100;
	if (!any_later)
		column->title = NULL;
}

static const struct tb_column job_columns[] = {
	{"job", "Job", "Its name", TB_DATUM_ID, .put = put_flow_rank,
		.flags = TB_COLUMN_LEFT},
	{"name", NULL, NULL, TB_DATUM_TEXT, JOB(name)},
	{"input", NULL, "The file that it came from", TB_DATUM_TEXT, JOB(input)},
	{"placement", NULL, "The placement of its ranks, as given; empty when not given",
		TB_DATUM_TEXT, JOB(placement)},
	{"start_ps", NULL, "When it started", TB_DATUM_TIME, JOB(start_ps)},
	{"ranks", NULL, NULL, TB_DATUM_COUNT, JOB(n_ranks)},
	{"nodes", "Nodes", "On which its ranks are placed", TB_DATUM_COUNT, JOB(n_nodes)},
	{"node_list", "On",
		"The nodes, such as 0-15,20; a long list is cut off and ends in three "
		"dots",
		TB_DATUM_TEXT, .put = put_nodes},
	{"first_ps", "From", JOB_BEGINS, TB_DATUM_TIME, JOB(first_ps),
		.adapt = adapt_moment},
	{"last_ps", NULL, JOB_ENDS, TB_DATUM_TIME, JOB(last_ps)},
	{NULL, "Run time", "From its begin to its end", TB_DATUM_TIME,
		.put = put_run_time},
	{"flows", NULL, NULL, TB_DATUM_COUNT, JOB(n_flows)},
	// clang-format off
	TB_FLOW_COLUMNS(OF_JOBS)
	// clang-format on
	{"wait_for_others_ps", "For others", "What of it was for other jobs' packets",
		TB_DATUM_TIME, .put = put_for_others},
	{"wait_of_others_ps", "Delays others",
		"What other jobs' packets waited for its own", TB_DATUM_TIME,
		.put = put_of_others},
};

static void list_report_jobs(struct tb_table *table)
{
	const struct tb_report *report = table->of;
	table->n_rows = report->jobs.n;
	if (report->info->n_jobs > 1)
		table->n_shown = tb_report_n_listed(report, report->jobs.n);
	tb_table_remark_rest(table, report->jobs.n, "jobs",
		tb_report_any_alone(report)
			? ""
			: "A replay with --alone shows what the others cost each.");
}

const struct tb_table_type tb_list_jobs = {"jobs", "Jobs",
	"All jobs. Figures that come from flows are missing in a run that did not end.",
	TB_COLUMNS(job_columns), TB_ROWS(struct tb_report, jobs.jobs),
	.list = list_report_jobs};

static void put_timed_job_name(struct tb_datum *at)
{
	const struct tb_report *report = at->of;
	at->word = report->jobs.jobs[at->row].name;
}

static const struct tb_job_time *time_of_job_row(const struct tb_datum *at)
{
	const struct tb_job_times *item = at->item;
	const struct tb_job_time *const parts[] = {
		&item->run, &item->alone, &item->ideal};
	return parts[at->column->which];
}

enum { RUN, ALONE, IDEALLY };

static void put_time(struct tb_datum *at)
{
	at->unknown = !time_of_job_row(at)->known;
	at->whole = time_of_job_row(at)->run_ps;
}

static void put_time_latency(struct tb_datum *at)
{
	double mean_ps = time_of_job_row(at)->mean_latency_ps;
	at->unknown = !time_of_job_row(at)->known || isnan(mean_ps);
	at->real = at->unknown ? 0 : mean_ps;
}

void tb_put_part(struct tb_datum *at, const struct tb_job_times *times_of)
{
	tb_time_ps part_ps = 0;
	at->unknown = !tb_job_times_part(
		times_of, (enum tb_job_part)at->column->which, &part_ps);
	at->whole = part_ps;
	if (times_of->run.run_ps > 0 && part_ps >= 0 && !at->unknown)
		at->bar = 100.0 * (double)part_ps / (double)times_of->run.run_ps;
}

static void put_part(struct tb_datum *at)
{
	tb_put_part(at, at->item);
}

enum { BEGINS, ENDS };

static void put_moment(struct tb_datum *at)
{
	const struct tb_report *report = at->of;
	const struct tb_job_figures *job = &report->jobs.jobs[at->row];
	at->unknown = job->n_messages == 0;
	at->whole = at->column->which == ENDS ? job->last_ps : job->first_ps;
}

static const struct tb_column time_columns[] = {
	{"job", "Job", "Its name", TB_DATUM_ID, .put = put_flow_rank,
		.flags = TB_COLUMN_LEFT},
	{"name", NULL, NULL, TB_DATUM_TEXT, .put = put_timed_job_name},
	{"first_ps", "Begins", JOB_BEGINS, TB_DATUM_TIME, .put = put_moment,
		.adapt = adapt_moment, .flags = TB_COLUMN_NULL, .which = BEGINS},
	{"last_ps", "Ends", JOB_ENDS, TB_DATUM_TIME, .put = put_moment,
		.adapt = adapt_moment, .flags = TB_COLUMN_NULL, .which = ENDS},
	{"run_ps", "Run time", "From its begin to its end", TB_DATUM_TIME,
		.put = put_time, .flags = TB_COLUMN_NULL, .which = RUN},
	{"alone_ps", "Alone", "The same without the other jobs, on its nodes",
		TB_DATUM_TIME, .put = put_time, .flags = TB_COLUMN_NULL, .which = ALONE},
	{"ideal_ps", "Ideal",
		"Alone on an ideal network, in which no packet waits for another",
		TB_DATUM_TIME, .put = put_time, .flags = TB_COLUMN_NULL,
		.which = IDEALLY},
	{"others_cost_ps", "Others cost", "Run time less alone", TB_DATUM_TIME,
		.put = put_part, .flags = TB_COLUMN_NULL | TB_COLUMN_SIGNED,
		.which = TB_JOB_OTHERS},
	{"network_costs_ps", "Network costs", "Alone less ideal", TB_DATUM_TIME,
		.put = put_part, .flags = TB_COLUMN_NULL | TB_COLUMN_SIGNED,
		.which = TB_JOB_NETWORK},
	{"mean_latency_ps", "Latency", "Mean of its messages, from post to delivery",
		TB_DATUM_MEAN, .put = put_time_latency, .flags = TB_COLUMN_NULL,
		.which = RUN},
	{"alone_mean_latency_ps", "Latency alone", "The same, of the job alone",
		TB_DATUM_MEAN, .put = put_time_latency, .flags = TB_COLUMN_NULL,
		.which = ALONE},
	{"ideal_mean_latency_ps", "Latency ideal", "And alone on an ideal network",
		TB_DATUM_MEAN, .put = put_time_latency, .flags = TB_COLUMN_NULL,
		.which = IDEALLY},
};

bool tb_report_any_alone(const struct tb_report *report)
{
	for (uint32_t i = 0; i < report->jobs.n; i++)
		if (report->times[i].alone.known || report->times[i].ideal.known)
			return true;
	return false;
}

static void list_job_times(struct tb_table *table)
{
	const struct tb_report *report = table->of;
	table->n_rows = report->jobs.n;
	if (tb_report_any_alone(report))
		table->n_shown = tb_report_n_listed(report, report->jobs.n);
	tb_table_remark_rest(table, report->jobs.n, "jobs",
		report->has_capture ? "Captured frames are posted when they were "
				      "captured: look at the latencies."
				    : "");
}

const struct tb_table_type tb_list_job_times = {"job-times", "How long the jobs take",
	"How long each job took, from its begin to its end: with the "
	"others, alone on its nodes, and alone on an ideal network. null where replay "
	"--alone was not given, or no message arrived.",
	TB_COLUMNS(time_columns), TB_ROWS(struct tb_report, times),
	.list = list_job_times, .brief = "Job times"};

#define PAIR(member) TB_MEMBER(struct tb_job_pair, member)
#define OF_PAIRS(ID, formula, kind, key, roots, held, pairs, groups, blame, compared,    \
	title, meaning)                                                                  \
	TB_WAIT_IN_##pairs(TB_OF_PAIRS, ID, kind, key, title, meaning)

static const struct tb_column pair_columns[] = {
	{"victim_job", "Waits", "The job whose packets waited", TB_DATUM_ID,
		PAIR(victim_job), .put = put_listed_flow_job, .flags = TB_COLUMN_LEFT},
	{"culprit_job", "For", TB_REPORT_CULPRIT, TB_DATUM_ID, PAIR(culprit_job),
		.put = put_listed_flow_job, .flags = TB_COLUMN_LEFT,
		.adapt = tb_report_name_culprit},
	// clang-format off
	TB_WAIT_COLUMNS(OF_PAIRS)
	// clang-format on
};

// So many jobs have a column each.
#define MATRIX_JOBS 12

static bool is_matrix(const struct tb_report *report)
{
	return report->info->n_jobs <= MATRIX_JOBS;
}

static void list_report_job_pairs(struct tb_table *table)
{
	const struct tb_report *report = table->of;
	table->n_rows = report->job_pairs.listed.n;
	if (report->info->n_jobs > 1 && !is_matrix(report))
		table->n_shown = tb_report_n_listed(report, report->job_pairs.listed.n);
	tb_table_remark_rest(table, report->job_pairs.listed.n_all, "pairs of jobs", "");
}

const struct tb_table_type tb_list_job_pairs = {"blame-by-job",
	"Which job makes which wait",
	"Which job waited for which, over all links: all pairs. Sums: they are the wait "
	"of all packets.",
	TB_COLUMNS(pair_columns), TB_ROWS(struct tb_report, job_pairs.rows),
	.list = list_report_job_pairs, .brief = "Job waits"};

// The matrix has a row for each job that waits and a column for each that it waits for.

static void put_cell(struct tb_datum *at)
{
	const struct tb_report *report = at->of;
	double largest = (double)report->job_pairs.rows[0].wait_ps;
	tb_put_count(at, tb_job_pairs_wait(&report->job_pairs, (uint32_t)at->row,
				 at->column->which));
	at->unknown = at->whole == 0;
	if (at->whole && largest > 0)
		at->bar = 100.0 * (double)at->whole / largest;
}

static void put_all(struct tb_datum *at)
{
	const struct tb_report *report = at->of;
	for (uint32_t job_of = 0; job_of < report->info->n_jobs; job_of++)
		at->real += (double)tb_job_pairs_wait(
			&report->job_pairs, (uint32_t)at->row, job_of);
}

// A column of the matrix takes the name of its job; there is none for more than there
// are.
static void name_job(struct tb_column *column, const void *of)
{
	const struct tb_report *report = of;
	bool is = column->which < report->jobs.n;
	column->title = is ? report->jobs.jobs[column->which].name : NULL;
}

#define CELL(n)                                                                          \
	{                                                                                \
		NULL, "Job", "Whose packets held them", TB_DATUM_TIME,                   \
			.put = put_cell, .adapt = name_job, .which = n                   \
	}

static const struct tb_column matrix_columns[] = {
	{NULL, "Waits \\ for", "The job whose packets waited", TB_DATUM_ID,
		.put = put_flow_rank, .flags = TB_COLUMN_LEFT},
	CELL(0),
	CELL(1),
	CELL(2),
	CELL(3),
	CELL(4),
	CELL(5),
	CELL(6),
	CELL(7),
	CELL(8),
	CELL(9),
	CELL(10),
	CELL(11),
	{NULL, "All", "Over all jobs", TB_DATUM_MEAN, .put = put_all},
};

_Static_assert(sizeof matrix_columns / sizeof *matrix_columns == MATRIX_JOBS + 2,
	"a column for each job");

static void list_job_matrix(struct tb_table *table)
{
	const struct tb_report *report = table->of;
	if (report->info->n_jobs > 1 && is_matrix(report) && report->job_pairs.listed.n)
		table->n_shown = report->info->n_jobs;
	snprintf(table->remark, sizeof table->remark,
		"A row's job waited so long while a column's held %s.",
		report->info->words->held);
}

const struct tb_table_type tb_list_job_matrix = {"blame-by-job",
	"Which job makes which wait", NULL, TB_COLUMNS(matrix_columns),
	TB_ROWS(struct tb_report, times), .list = list_job_matrix, .brief = "Job waits"};

// What ranks did, those that compute longest first.

static const void *ranks_item(const void *of, size_t row)
{
	return ((const struct tb_report *)of)->ranks[row];
}

static void put_rank_node(struct tb_datum *at)
{
	if (!at->unknown)
		put_flow_end(at);
}

static void put_rank_more(struct tb_datum *at)
{
	at->real = ((const struct tb_rank_load *)at->item)->more_percent;
	at->unknown = isnan(at->real);
}

#define RANK(member) TB_MEMBER(struct tb_rank_load, member)

static const struct tb_column rank_columns[] = {
	{"job", "Job", "The job that it belongs to", TB_DATUM_ID, RANK(job),
		.put = put_listed_flow_job, .adapt = tb_report_adapt_job,
		.flags = TB_COLUMN_LEFT},
	{"rank", "Rank", "Its number", TB_DATUM_ID, RANK(rank)},
	{"node", "On", "The node", TB_DATUM_ID, RANK(node.id), .put = put_rank_node,
		.flags = TB_COLUMN_LEFT | TB_COLUMN_NULL},
	{"computed_ps", "Computing", "How long it computed", TB_DATUM_TIME,
		RANK(computed_ps), .flags = TB_COLUMN_BAR},
	{"more_percent", "Against median", "More than the median of its job's ranks",
		TB_DATUM_PERCENT, .put = put_rank_more,
		.flags = TB_COLUMN_NULL | TB_COLUMN_SIGNED},
	{"waited_ps", "Waiting", "Until others sent", TB_DATUM_TIME, RANK(waited_ps)},
};

static void list_ranks(struct tb_table *table)
{
	const struct tb_report *report = table->of;
	// Where nobody computes, ranks do what flows tell.
	bool any = report->evidence.loads.n && report->ranks[0]->computed_ps > 0;
	table->n_rows = any ? report->evidence.loads.n : 0;
	table->n_shown = tb_report_n_listed(report, table->n_rows);
	tb_table_remark_rest(table, table->n_rows, "ranks",
		"Waiting: until others sent; the rest of the time is sending and "
		"receiving.");
}

const struct tb_table_type tb_list_ranks = {"ranks", "Ranks",
	"How long ranks computed and waited for others, those that computed longest "
	"first.",
	TB_COLUMNS(rank_columns), .item = ranks_item, .list = list_ranks};

// The comparison's lists. Private to analyze/.
#include "compare_impl.h"
#include "run_capture.h"

#include <math.h>
#include <string.h>

// tb_compare_put_change writes how a figure changed against A.
void tb_compare_put_change(struct tb_datum *at, double before, double after)
{
	at->real = after - before;
	if (before == after)
		tb_put_text(at, "=");
	else if (before == 0)
		tb_put_text(at, "new");
	else if (after == 0)
		tb_put_text(at, "gone");
	else if (fabs(after - before) < TB_WORDS_NO_CHANGE * before)
		tb_put_text(at, "no change");
	else if (after / before >= TB_WORDS_TIMES)
		tb_put_text(at, "%.*f times", after < 9.95 * before, after / before);
	else if (after / before < 1 - TB_WORDS_ALL)
		tb_put_text(at, "below -%.1f %%", 100 * TB_WORDS_ALL);
	else
		tb_put_text(at, "%+.1f %%", 100 * (after - before) / before);
}

// put_time_moved writes the change of a wait with its sign.
static void put_time_moved(struct tb_datum *at, uint64_t before, uint64_t after)
{
	char time[32];
	double change_ps = (double)after - (double)before;
	at->whole = (int64_t)(after - before);
	tb_put_text(at, "%c%s", change_ps < 0 ? '-' : '+',
		tb_format_long_time(fabs(change_ps), time, sizeof time));
}

// put_setting: of long ones people read the part that differs.
static void put_setting(struct tb_datum *at)
{
	const struct tb_difference *item = at->item;
	const char *shown = at->column->which ? item->b : item->a;
	const char *whole = at->column->which ? item->whole_b : item->whole_a;
	at->word = whole ? whole : shown;
	tb_put_text(at, "%s", *shown ? shown : "-");
}

static void put_setting_name(struct tb_datum *at)
{
	at->word = ((const struct tb_difference *)at->item)->name;
}

static const struct tb_column difference_columns[] = {
	{"setting", "Setting", "As the command line or the preset has it", TB_DATUM_TEXT,
		.put = put_setting_name},
	{"a", "A", "In the first run", TB_DATUM_TEXT, .put = put_setting},
	{"b", "B", "In the second run", TB_DATUM_TEXT, .put = put_setting, .which = 1},
};

static void list_differences(struct tb_table *table)
{
	const struct tb_compare *compare = table->of;
	table->n_rows = table->n_shown = (size_t)compare->n_differences;
}

const struct tb_table_type tb_compare_list_differences = {"differences", "What differs",
	"The settings that differ.", TB_COLUMNS(difference_columns),
	TB_ROWS_IN(struct tb_compare, differences), .list = list_differences};

static void put_compared_job_name(struct tb_datum *at)
{
	at->word = ((const struct tb_job_mover *)at->item)->name;
}

static void put_compared_job_verdict(struct tb_datum *at)
{
	at->word = ((const struct tb_job_mover *)at->item)->verdict;
}

static void put_run_change(struct tb_datum *at)
{
	const struct tb_job_mover *item = at->item;
	tb_compare_put_change(
		at, (double)item->times[0].run.run_ps, (double)item->times[1].run.run_ps);
}

static void put_part_in_a(struct tb_datum *at)
{
	tb_put_part(at, &((const struct tb_job_mover *)at->item)->times[0]);
}

static void put_part_in_b(struct tb_datum *at)
{
	tb_put_part(at, &((const struct tb_job_mover *)at->item)->times[1]);
}

static void put_compared_job(struct tb_datum *at)
{
	const struct tb_job_mover *item = at->item;
	tb_put_flow_figure(at, &item->sent[at->column->which % 2],
		(enum tb_flow_figure)(at->column->which / 2));
}

#define JOB(name)     TB_MEMBER(struct tb_job_mover, name)
#define IN_B	      "The same in the second run"
#define MAY_LACK      TB_COLUMN_NULL | TB_COLUMN_SIGNED
#define OTHERS_COST   "Run time less that alone"
#define NETWORK_COSTS "Alone less on an ideal network"

// The figures of flows and jobs that are compared (flow_sum.h), of both runs.
// clang-format off
#define OF_SIDE(put_it, ID, side, key, title, meaning, kind)                                     \
	{key TB_PS_##kind, title, meaning, TB_DATUM_##kind, .put = put_it,               \
		.flags = TB_NULL_##kind, .which = 2 * TB_FLOW_##ID + (side)},
#define OF_BOTH_NO(...)
#define OF_BOTH_KEYS(put_it, ID, kind, name, brief, meaning)                                     \
	OF_SIDE(put_it, ID, 0, name "_a", NULL, meaning, kind)                                   \
	OF_SIDE(put_it, ID, 1, name "_b", NULL, IN_B, kind)
#define OF_BOTH_YES(put_it, ID, kind, name, brief, meaning)                                      \
	OF_SIDE(put_it, ID, 0, name "_a", brief " in A", meaning, kind)                          \
	OF_SIDE(put_it, ID, 1, name "_b", brief " in B", IN_B, kind)
#define OF_FLOWS(ID, formula, kind, key, jobs, view, compared, name, brief, title, meaning) \
	OF_BOTH_##compared(put_compared_flow, ID, kind, name, brief, meaning)
#define OF_JOBS(ID, formula, kind, key, jobs, view, compared, name, brief, title, meaning) \
	OF_JOBS_##jobs(OF_BOTH_##compared(put_compared_job, ID, kind, name, brief, meaning))
#define OF_JOBS_NO(rows)
#define OF_JOBS_YES(rows) rows
// clang-format on

static const struct tb_column job_columns[] = {
	{"job", "Job", "Its name", TB_DATUM_TEXT, .put = put_compared_job_name},
	{"verdict", NULL, "Sentences on it", TB_DATUM_TEXT,
		.put = put_compared_job_verdict},
	{"run_a_ps", "Run time in A", "From its begin to its end", TB_DATUM_TIME,
		JOB(times[0].run.run_ps)},
	{"run_b_ps", "In B", IN_B, TB_DATUM_TIME, JOB(times[1].run.run_ps)},
	{NULL, "Change", "Against A", TB_DATUM_RATIO, .put = put_run_change},
	{"others_cost_a_ps", "Others cost in A", OTHERS_COST, TB_DATUM_TIME,
		.put = put_part_in_a, .flags = MAY_LACK, .which = TB_JOB_OTHERS},
	{"others_cost_b_ps", "In B", IN_B, TB_DATUM_TIME, .put = put_part_in_b,
		.flags = MAY_LACK, .which = TB_JOB_OTHERS},
	{"network_costs_a_ps", "Network costs in A", NETWORK_COSTS, TB_DATUM_TIME,
		.put = put_part_in_a, .flags = MAY_LACK, .which = TB_JOB_NETWORK},
	{"network_costs_b_ps", "In B", IN_B, TB_DATUM_TIME, .put = put_part_in_b,
		.flags = MAY_LACK, .which = TB_JOB_NETWORK},
	{"ideal_a_ps", NULL, "On an ideal network", TB_DATUM_TIME, .put = put_part_in_a,
		.flags = TB_COLUMN_NULL, .which = TB_JOB_IDEAL},
	{"ideal_b_ps", NULL, IN_B, TB_DATUM_TIME, .put = put_part_in_b,
		.flags = TB_COLUMN_NULL, .which = TB_JOB_IDEAL},
	// clang-format off
	TB_FLOW_COLUMNS(OF_JOBS)
	// clang-format on
	{"undelivered_a", NULL, "Its messages that were given up", TB_DATUM_COUNT,
		JOB(n_undelivered[0])},
	{"undelivered_b", NULL, IN_B, TB_DATUM_COUNT, JOB(n_undelivered[1])},
};

static const struct tb_table_type jobs = {"jobs", "Jobs",
	"The jobs of both runs, and what each gains or loses.", TB_COLUMNS(job_columns),
	TB_ROWS(struct tb_compare, jobs), .n = TB_COUNT(struct tb_compare, n_jobs),
	.n_all = TB_COUNT(struct tb_compare, n_jobs_matched),
	.what = "jobs of both runs"};

static void put_pair_wait(struct tb_datum *at)
{
	const struct tb_job_pair_mover *pair = at->item;
	tb_put_listed_wait(at, &pair->of[at->column->which % 2],
		(enum tb_listed_figure)(at->column->which / 2));
}

static void put_pair_moved(struct tb_datum *at)
{
	const struct tb_job_pair_mover *pair = at->item;
	put_time_moved(at, (uint64_t)pair->of[0].wait_ps, (uint64_t)pair->of[1].wait_ps);
}

static void put_pair_change(struct tb_datum *at)
{
	const struct tb_job_pair_mover *pair = at->item;
	tb_compare_put_change(
		at, (double)pair->of[0].wait_ps, (double)pair->of[1].wait_ps);
}

// The figures of waits that are compared (wait_figures.h), of both runs.
// clang-format off
#define WAIT_SIDE(put_it, ID, side, kind, key, title, meaning)                           \
	{key TB_PS_##kind, title, meaning, TB_DATUM_##kind, .put = put_it,               \
		.flags = TB_NULL_##kind, .which = 2 * TB_LISTED_##ID + (side)},
#define WAIT_SIDES_NO(...)
#define WAIT_SIDES_KEYS(put_it, ID, kind, key, title, meaning)                           \
	WAIT_SIDE(put_it, ID, 0, kind, key "_a", NULL, meaning)                          \
	WAIT_SIDE(put_it, ID, 1, kind, key "_b", NULL, IN_B)
#define WAIT_SIDES_YES(put_it, ID, kind, key, title, meaning)                            \
	WAIT_SIDE(put_it, ID, 0, kind, key "_a", title " in A", meaning)                 \
	WAIT_SIDE(put_it, ID, 1, kind, key "_b", title " in B", IN_B)
#define WAIT_OF_PAIRS(ID, formula, kind, key, roots, held, pairs, groups, blame,         \
	compared, title, meaning)                                                        \
	WAIT_SIDES_##compared(put_pair_wait, ID, kind, key, title, meaning)
#define WAIT_OF_ROOTS(ID, formula, kind, key, roots, held, pairs, groups, blame,         \
	compared, title, meaning)                                                        \
	WAIT_SIDES_##compared(put_root_wait, ID, kind, key, title, meaning)
// clang-format on
#define PAIR(name) TB_MEMBER(struct tb_job_pair_mover, name)

static const struct tb_column pair_columns[] = {
	{"victim_job", "Waits", "The job whose packets waited", TB_DATUM_TEXT,
		PAIR(victim)},
	{"culprit_job", "For", "The job whose packets held what they waited for",
		TB_DATUM_TEXT, PAIR(culprit)},
	// clang-format off
	TB_WAIT_COLUMNS(WAIT_OF_PAIRS)
	// clang-format on
	{NULL, "More in B", "Or less", TB_DATUM_TIME, .put = put_pair_moved},
	{NULL, "Change", "Against A", TB_DATUM_RATIO, .put = put_pair_change},
};

static const struct tb_table_type job_pairs = {"blame-by-job",
	"Which job makes which wait", "Which job waited for which, most changed first.",
	TB_COLUMNS(pair_columns), TB_ROWS(struct tb_compare, job_pairs),
	.n = TB_COUNT(struct tb_compare, n_job_pairs),
	.n_all = TB_COUNT(struct tb_compare, n_job_pairs_moved),
	.what = "pairs of jobs whose wait changed"};

// alone_text writes how many links or flows only one of the runs has, "" for none.
static const char *alone_text(
	const char *what, uint32_t n_a, uint32_t n_b, char *text, size_t size)
{
	text[0] = '\0';
	if (n_a || n_b)
		snprintf(text, size, "%u %s are in A alone, %u in B alone.", n_a, what,
			n_b);
	return text;
}

static void put_mover_rank(struct tb_datum *at)
{
	at->whole = (int64_t)at->row + 1;
}

static void put_mover_link(struct tb_datum *at)
{
	at->word =
		tb_compare_link_name(at->of, &((const struct tb_mover *)at->item)->pair);
}

static bool mover_is_in(const struct tb_datum *at, bool b)
{
	const struct tb_mover *mover = at->item;
	return (b ? mover->pair.b.id : mover->pair.a.id) != TB_ID_NONE;
}

static void put_mover_runs(struct tb_datum *at)
{
	at->word = !mover_is_in(at, false) ? "b" : !mover_is_in(at, true) ? "a" : "both";
}

static void put_is_in(struct tb_datum *at)
{
	at->whole = mover_is_in(at, at->column->which);
}

// put_mover_wait leaves the wait unknown of a run that lacks the link.
static void put_mover_wait(struct tb_datum *at)
{
	at->unknown = !mover_is_in(at, at->column->which);
}

static void put_link_moved(struct tb_datum *at)
{
	const struct tb_mover *mover = at->item;
	put_time_moved(at, mover->before, mover->after);
}

static void put_link_change(struct tb_datum *at)
{
	const struct tb_mover *mover = at->item;
	tb_compare_put_change(at, (double)mover->before, (double)mover->after);
}

// put_link_figure puts the metric which / 2 of the run which % 2.
static void put_link_figure(struct tb_datum *at)
{
	const struct tb_compare *compare = at->of;
	uint32_t side = at->column->which % 2;
	at->unknown = !mover_is_in(at, side);
	at->whole = (int64_t)compare->link_figures[at->row][side]
			    .figures[at->column->which / 2];
}

// known_of_mover: what changed is known where both waits are.
static enum tb_known known_of_mover(const struct tb_datum *at)
{
	const struct tb_compare *compare = at->of;
	const struct tb_mover *mover = at->item;
	const struct tb_column *column = at->column;
	enum tb_known known[2];
	if (column->put == put_link_figure) {
		enum tb_metric metric = (enum tb_metric)(column->which / 2);
		uint32_t side = column->which % 2;
		tb_link_pair_known(&compare->pairs, &mover->pair, metric, known);
		return tb_figure_known(
			&compare->link_figures[at->row][side], known[side], metric);
	}
	tb_link_pair_known(&compare->pairs, &mover->pair, TB_WAIT, known);
	if (column->key && strcmp(column->key, "wait_a_ps") == 0)
		return known[0];
	if (column->key && strcmp(column->key, "wait_b_ps") == 0)
		return known[1];
	bool is_change = column->put == put_link_moved || column->put == put_link_change;
	return is_change && (known[0] || known[1]) ? TB_NOT_MEASURED : TB_EXACT;
}

#define MOVER(name) TB_MEMBER(struct tb_mover, name)
#define ARRIVING    "The wait that leads in its network, or that --wait names"

// The derived figures that are compared (link_figures.h), of both runs.
// clang-format off
#define IF_YES(text) text
#define IF_NO(text)  NULL
#define COMPARED(ID, side, key, title, meaning, kind)                                    \
	{key, title, meaning, TB_DATUM_##kind, .put = put_link_figure,                   \
		.flags = TB_COLUMN_NULL, .which = 2 * TB_##ID + (side)},
#define BOTH(ID, field, formula, adds, kind, compared, key, unit, name, title, brief,    \
	meaning)                                                                         \
	COMPARED(ID, 0, IF_##compared(key "_a" TB_PS_##kind),                            \
		IF_##compared(brief " in A"), meaning, kind)                             \
	COMPARED(ID, 1, IF_##compared(key "_b" TB_PS_##kind), IF_##compared("In B"),     \
		IN_B, kind)
#define TB_DATUM_RATE TB_DATUM_COUNT
// clang-format on

static const struct tb_column link_columns[] = {
	{"rank", "#", "Rank by change of wait", TB_DATUM_COUNT, .put = put_mover_rank},
	{"name", "Link", "From and to: level.index:port of a switch", TB_DATUM_TEXT,
		.put = put_mover_link},
	{"in", NULL, "Which run has it", TB_DATUM_TEXT, .put = put_mover_runs,
		.schema = "{\"enum\": [\"a\", \"b\", \"both\"]}"},
	{"in_a", NULL, NULL, TB_DATUM_FLAG, .put = put_is_in, .flags = TB_COLUMN_NESTED},
	{"in_b", NULL, NULL, TB_DATUM_FLAG, .put = put_is_in, .which = 1,
		.flags = TB_COLUMN_NESTED},
	{"wait_a_ps", "Wait in A", ARRIVING, TB_DATUM_TIME, MOVER(before),
		.put = put_mover_wait, .flags = TB_COLUMN_NULL},
	{"wait_b_ps", "Wait in B", ARRIVING, TB_DATUM_TIME, MOVER(after),
		.put = put_mover_wait, .flags = TB_COLUMN_NULL, .which = 1},
	{"change_ps", "More in B", "Or less", TB_DATUM_TIME, .put = put_link_moved,
		.flags = TB_COLUMN_SIGNED | TB_COLUMN_NULL},
	{NULL, "Change", "Against A", TB_DATUM_RATIO, .put = put_link_change},
	// clang-format off
	TB_LINK_DERIVED(BOTH)
	// clang-format on
};

static void list_compared_links(struct tb_table *table)
{
	const struct tb_compare *compare = table->of;
	char note[80];
	table->n_rows = table->n_shown = compare->n_links;
	if (compare->info[0]->wait == compare->info[1]->wait)
		snprintf(table->heading, sizeof table->heading,
			"Links of which this changed most: %s",
			tb_run_wait_text(compare->info[0]));
	else
		snprintf(table->heading, sizeof table->heading, "%s: A, %s; B, %s",
			table->type->title, tb_run_wait_text(compare->info[0]),
			tb_run_wait_text(compare->info[1]));
	tb_table_remark_rest(table, compare->n_links_moved, "links whose wait changed",
		alone_text("links", compare->pairs.n_only_a, compare->pairs.n_only_b,
			note, sizeof note));
}

const struct tb_table_type tb_compare_list_links = {"links",
	"Links whose wait changed most",
	"Links by the change of their wait, largest first.", TB_COLUMNS(link_columns),
	TB_ROWS(struct tb_compare, links), .list = list_compared_links,
	.known = known_of_mover};

static void put_root_wait(struct tb_datum *at)
{
	const struct tb_compare *compare = at->of;
	tb_put_listed_wait(at, &compare->root_waits[at->row][at->column->which % 2],
		(enum tb_listed_figure)(at->column->which / 2));
}

static const struct tb_column root_columns[] = {
	{"root", "Root", "What packets wait for in the end", TB_DATUM_TEXT,
		.put = put_mover_link},
	// clang-format off
	TB_WAIT_COLUMNS(WAIT_OF_ROOTS)
	// clang-format on
	{NULL, "More in B", "Or less", TB_DATUM_TIME, .put = put_link_moved},
	{NULL, "Change", "Against A", TB_DATUM_RATIO, .put = put_link_change},
};

static const struct tb_table_type roots = {"congestion-roots",
	"Roots whose wait changed most",
	"Roots of congestion trees by the change of their wait, largest first.",
	TB_COLUMNS(root_columns), TB_ROWS(struct tb_compare, roots),
	.n = TB_COUNT(struct tb_compare, n_roots),
	.n_all = TB_COUNT(struct tb_compare, n_roots_moved),
	.what = "roots whose wait changed"};

static void put_flow(struct tb_datum *at)
{
	const struct tb_compare *compare = at->of;
	const struct tb_flow_sample *flow =
		&((const struct tb_flow_mover *)at->item)->of[0];
	tb_report_flow_name(compare->runs[0].run, flow->job, flow->source,
		flow->destination, at->text, sizeof at->text);
}

// put_flow_end puts the name of the source, or the destination.
static void put_flow_end(struct tb_datum *at)
{
	const struct tb_compare *compare = at->of;
	const struct tb_flow_sample *flow =
		&((const struct tb_flow_mover *)at->item)->of[0];
	struct tb_node node = at->column->which ? flow->destination : flow->source;
	at->unknown = node.id == TB_ID_NONE;
	at->word = at->unknown ? "" : tb_run_node_name(compare->runs[0].run, node);
}

static void put_flow_job(struct tb_datum *at)
{
	const struct tb_compare *compare = at->of;
	tb_report_job_name(
		compare->runs[0].run, (uint32_t)at->whole, at->text, sizeof at->text);
	at->word = at->text;
}

static void put_compared_flow(struct tb_datum *at)
{
	const struct tb_flow_mover *item = at->item;
	tb_put_flow_figure(at, &item->of[at->column->which % 2],
		(enum tb_flow_figure)(at->column->which / 2));
}

static void put_flow_change(struct tb_datum *at)
{
	const struct tb_flow_mover *item = at->item;
	tb_compare_put_change(at, tb_flow_figure_of(&item->of[0], TB_FLOW_LATENCY),
		tb_flow_figure_of(&item->of[1], TB_FLOW_LATENCY));
}

#define FLOW(name) TB_MEMBER(struct tb_flow_mover, name)

static const struct tb_column flow_columns[] = {
	{NULL, "Flow", "From and to", TB_DATUM_TEXT, .put = put_flow},
	{"job", NULL, NULL, TB_DATUM_TEXT, FLOW(of[0].job), .put = put_flow_job},
	{"source", NULL, NULL, TB_DATUM_ID, FLOW(of[0].source.id),
		.flags = TB_COLUMN_NULL},
	{"destination", NULL, NULL, TB_DATUM_ID, FLOW(of[0].destination.id),
		.flags = TB_COLUMN_NULL},
	{"source_name", NULL, NULL, TB_DATUM_TEXT, .put = put_flow_end,
		.flags = TB_COLUMN_NULL},
	{"destination_name", NULL, NULL, TB_DATUM_TEXT, .put = put_flow_end,
		.flags = TB_COLUMN_NULL, .which = 1},
	// clang-format off
	TB_FLOW_COLUMNS(OF_FLOWS)
	// clang-format on
	{NULL, "Change", "Of the mean latency, against A", TB_DATUM_RATIO,
		.put = put_flow_change},
};

static void list_compared_flows(struct tb_table *table)
{
	const struct tb_compare *compare = table->of;
	char note[80];
	table->n_rows = table->n_shown = compare->n_flows;
	tb_table_remark_rest(table, compare->n_flows_moved, "flows whose latency changed",
		alone_text("flows", compare->n_flows_only[0], compare->n_flows_only[1],
			note, sizeof note));
}

static const struct tb_table_type flows = {"flows", "Flows whose latency changed most",
	"Flows by the change of their mean latency, largest first.",
	TB_COLUMNS(flow_columns), TB_ROWS(struct tb_compare, flows),
	.list = list_compared_flows};

const struct tb_table_type *const tb_compare_lists[] = {&tb_compare_list_chance,
	&tb_compare_list_outcome, &tb_compare_list_differences, &tb_compare_list_recorded,
	&tb_compare_list_ranks, &jobs, &tb_compare_list_calls, &tb_compare_list_loads,
	&job_pairs, &tb_compare_list_links, &roots, &flows};

void tb_compare_tabulate(struct tb_compare *compare)
{
	tb_compare_pass_verdict(compare);
	for (size_t i = 0; i < TB_COMPARE_LISTS; i++) {
		compare->tables[i] =
			(struct tb_table){.type = tb_compare_lists[i], .of = compare};
		tb_table_list(&compare->tables[i], compare->top);
		// What is of one pair alone tells less than the seeds together.
		if (compare->chance.n_pairs &&
			tb_compare_lists[i] != &tb_compare_list_chance &&
			tb_compare_lists[i] != &tb_compare_list_differences)
			compare->tables[i].n_shown = 0;
	}
}

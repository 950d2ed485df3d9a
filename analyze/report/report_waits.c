// The report's lists of blame: who waited for whom, where, and for which root.
#include "report_impl.h"

#include <math.h>
#include <string.h>

// blame_percent returns 0 when the whole is 0, as it may be in a foreign file.
static double blame_percent(uint64_t part, double whole)
{
	return whole > 0 ? 100.0 * (double)part / whole : 0;
}

double tb_report_percent_of_wait(const struct tb_report *report, uint64_t wait_ps)
{
	return blame_percent(wait_ps, report->wait_ps);
}

void tb_report_name_culprit(struct tb_column *column, const void *of)
{
	const struct tb_report *report = of;
	column->meaning = report->info->words->culprit;
}

// is_bounded returns whether a list has rows that may have waited longer than they say.
static bool is_bounded(const struct tb_listed *listed)
{
	return listed->floor_ps > 0 || listed->rest_ps > 0;
}

// name_bounded says in heading and remark what a list of the heaviest leaves out.
static void name_bounded(struct tb_table *table, const struct tb_listed *listed,
	const char *title, const char *what)
{
	char rest[32], floor[32], left_out[100] = "";
	snprintf(table->heading, sizeof table->heading, "%s: the heaviest%s", title,
		is_bounded(listed) ? ", at least" : "");
	if (is_bounded(listed))
		snprintf(left_out, sizeof left_out,
			"Not told apart: %s, no part of which is longer than %s.",
			tb_format_long_time(listed->rest_ps, rest, sizeof rest),
			tb_format_long_time(
				(double)listed->floor_ps, floor, sizeof floor));
	tb_table_remark_rest(table, listed->n_all, what, left_out);
}

void tb_put_listed_wait(struct tb_datum *at, const struct tb_listed_wait *wait,
	enum tb_listed_figure figure)
{
	at->real = tb_listed_figure_of(wait, figure);
	at->whole = tb_listed_figure_whole(wait, figure);
	at->unknown = isnan(at->real);
	at->real = at->unknown ? 0 : at->real;
}

static int64_t as_listed(uint64_t sum)
{
	return sum < INT64_MAX ? (int64_t)sum : INT64_MAX;
}

// whole_at returns all wait at the place of a row of blame: for the link, where runs are
// led by that, or of what came by it; 0: several links are the place, or packets waited
// elsewhere too, so that it is not known.
static double whole_at(
	const struct tb_report *report, size_t row, const struct tb_blame_sample *of)
{
	if (report->info->wait != TB_WAIT_FOR)
		return (double)report->wait_by_link[of->link.id];
	struct tb_link link = report->places[row].link;
	uint64_t whole = link.id == TB_ID_NONE ? 0 : report->waited_for[link.id];
	return whole < of->wait_ps ? 0 : (double)whole;
}

// wait_of returns the figures of a row of a list.
static struct tb_listed_wait wait_of(const struct tb_datum *at, enum tb_wait_list list)
{
	const struct tb_report *report = at->of;
	struct tb_listed_wait wait = {.whole_ps = report->roots.listed.whole_ps};
#define TAKE_WAIT(type)                                                                  \
	const type *row = at->item;                                                      \
	wait.wait_ps = as_listed(row->wait_ps);                                          \
	wait.waits = as_listed(row->n_waits)
	switch (list) {
	case TB_OF_ROOTS: {
		TAKE_WAIT(struct tb_root);
		wait.links = row->n_links;
		break;
	}
	case TB_OF_HELD: {
		TAKE_WAIT(struct tb_root_job_sample);
		for (uint32_t i = 0; i < report->roots.listed.n; i++)
			if (report->roots.rows[i].root.id == row->root.id)
				wait.whole_ps = (double)report->roots.rows[i].wait_ps;
		break;
	}
	case TB_OF_PAIRS: {
		TAKE_WAIT(struct tb_job_pair);
		break;
	}
	case TB_OF_GROUPS: {
		TAKE_WAIT(struct tb_group_sample);
		wait.error_ps = as_listed(row->error_ps);
		break;
	}
	case TB_OF_BLAME: {
		TAKE_WAIT(struct tb_blame_sample);
		wait.error_ps = as_listed(row->error_ps);
		wait.whole_ps = whole_at(report, at->row, row);
		break;
	}
	}
	return wait;
}

void tb_report_put_wait(struct tb_datum *at)
{
	uint32_t which = at->column->which;
	enum tb_listed_figure figure =
		(enum tb_listed_figure)(which % TB_N_LISTED_FIGURES);
	const struct tb_listed_wait wait =
		wait_of(at, (enum tb_wait_list)(which / TB_N_LISTED_FIGURES));
	tb_put_listed_wait(at, &wait, figure);
	if (figure == TB_LISTED_AT_MOST && wait.error_ps == 0)
		tb_put_text(at, "=");
}

void tb_report_adapt_wait(struct tb_column *column, const void *of)
{
	const struct tb_report *report = of;
	uint32_t figure = column->which % TB_N_LISTED_FIGURES;
	uint32_t list = column->which / TB_N_LISTED_FIGURES;
	bool bounded = (list == TB_OF_BLAME && is_bounded(&report->heaviest.listed)) ||
		       (list == TB_OF_GROUPS && is_bounded(&report->grouped.listed));
	if (figure == TB_LISTED_WAIT && bounded)
		column->title = "At least";
	if (figure == TB_LISTED_AT_MOST && !bounded)
		column->title = NULL;
	if (figure == TB_LISTED_LINKS && report->roots.links_left_out)
		column->title = "Links, at least";
}

static void put_victim(struct tb_datum *at)
{
	const struct tb_report *report = at->of;
	const struct tb_blame_sample *item = at->item;
	tb_report_flow_name(report->run, item->victim_job, item->victim_source,
		item->victim_destination, at->text, sizeof at->text);
}

// put_wait_culprit writes "itself" where a flow waited for its own packets.
static void put_wait_culprit(struct tb_datum *at)
{
	const struct tb_report *report = at->of;
	const struct tb_blame_sample *item = at->item;
	if (item->victim_job == item->culprit_job &&
		item->victim_source.id == item->culprit_source.id &&
		item->victim_destination.id == item->culprit_destination.id)
		tb_put_text(at, "itself");
	else
		tb_report_flow_name(report->run, item->culprit_job, item->culprit_source,
			item->culprit_destination, at->text, sizeof at->text);
}

const char *tb_report_place_words(const struct tb_report *report, bool some_are_switches)
{
	return report->info->wait != TB_WAIT_FOR
		       ? "At: the link by which packets had come in."
	       : some_are_switches
		       ? "At: the link that packets waited for; its switch, where it is "
			 "one of several."
		       : "At: the link that packets waited for.";
}

static void put_wait_place(struct tb_datum *at)
{
	const struct tb_report *report = at->of;
	at->word = tb_wait_place_name(report->run, report->places[at->row]);
}

#define BLAME(member) TB_MEMBER(struct tb_blame_sample, member)
#define PARTY(who)                                                                       \
	{#who "_job", NULL, NULL, TB_DATUM_ID, BLAME(who##_job)},                        \
		{#who ".job", NULL, NULL, TB_DATUM_ID, BLAME(who##_job),                 \
			.flags = TB_COLUMN_NESTED},                                      \
		{#who ".source", NULL, NULL, TB_DATUM_ID, BLAME(who##_source.id)},       \
	{                                                                                \
#who ".destination", NULL, NULL, TB_DATUM_ID,                            \
			BLAME(who##_destination.id)                                      \
	}

#define OF_BLAME(ID, formula, kind, key, roots, held, pairs, groups, blame, compared,    \
	title, meaning)                                                                  \
	TB_WAIT_IN_##blame(TB_OF_BLAME, ID, kind, key, title, meaning)

static const struct tb_column blame_columns[] = {
	{"link", NULL, "By which the waiting packets came in", TB_DATUM_ID,
		BLAME(link.id)},
	{"name", NULL, "The link by which the waiting packets came in", TB_DATUM_TEXT,
		BLAME(link.id), .put = tb_put_link},
	{"at", "At",
		"Where they waited, as hot links are led by: the link that they waited "
		"for, or its switch where it is one of several; or the link by which "
		"they came in",
		TB_DATUM_TEXT, .put = put_wait_place},
	{NULL, "Waits", "The flow whose packets waited", TB_DATUM_TEXT,
		.put = put_victim},
	{NULL, "For", TB_REPORT_CULPRIT, TB_DATUM_TEXT, .put = put_wait_culprit,
		.adapt = tb_report_name_culprit},
	PARTY(victim), PARTY(culprit),
	// clang-format off
	TB_WAIT_COLUMNS(OF_BLAME)
	// clang-format on
};

static void list_blame(struct tb_table *table)
{
	const struct tb_report *report = table->of;
	table->n_rows = table->n_shown = report->heaviest.listed.n;
	name_bounded(table, &report->heaviest.listed, table->type->title,
		"combinations of link, flow and flow");
	bool switches = false;
	for (size_t i = 0; i < table->n_shown; i++)
		switches |= report->places[i].sw.id != TB_ID_NONE;
	size_t used = strlen(table->remark);
	snprintf(table->remark + used, sizeof table->remark - used, "%s%s%s%s",
		used ? " " : "", tb_report_place_words(report, switches),
		report->info->caution[0] ? " " : "",
		report->info->caution[0] ? TB_FLUID_BLAME "." : "");
}

const struct tb_table_type tb_list_blame = {"blame", "Where who waits for whom",
	"Which flow waited for which, and at which link: the heaviest, longest first.",
	TB_COLUMNS(blame_columns), TB_ROWS(struct tb_report, heaviest.rows),
	.list = list_blame, .brief = "Waits"};

// The list that JSON has is of all groupings; people read the finest.

static const enum tb_grain grain_of[TB_GROUPINGS] = {
	[TB_GROUP_DESTINATION] = TB_GRAIN_DESTINATIONS,
	[TB_GROUP_DESTINATION_LEAF] = TB_GRAIN_DESTINATION_LEAVES,
	[TB_GROUP_SOURCE_LEAF] = TB_GRAIN_SOURCE_LEAVES,
};

// grouping_of finds the grouping of a row, and which of its rows that is.
static int grouping_of(const struct tb_report *report, size_t *row)
{
	int g = 0;
	for (; g < TB_GROUPINGS - 1 && *row >= report->groups[g].listed.n; g++)
		*row -= report->groups[g].listed.n;
	return g;
}

static const void *wait_group_at(const void *of, size_t row)
{
	const struct tb_report *report = of;
	int g = grouping_of(report, &row);
	return &report->groups[g].rows[row];
}

static void put_by(struct tb_datum *at)
{
	at->word = tb_grouping_name((enum tb_grouping)grouping_of(at->of, &at->row));
}

static void put_party(
	struct tb_datum *at, const struct tb_report *report, enum tb_grain grain)
{
	const struct tb_group_sample *item = at->item;
	tb_grouped_party(report->run, grain,
		at->column->which ? item->culprit : item->victim, at->text,
		sizeof at->text);
}

static void put_group_party(struct tb_datum *at)
{
	put_party(at, at->of, grain_of[grouping_of(at->of, &at->row)]);
}

#define GROUP(member) TB_MEMBER(struct tb_group_sample, member)
#define A_GROUP	      "A node, or the leaf switch of one"

static const char *grouping_name(size_t i)
{
	return i < TB_GROUPINGS ? tb_grouping_name((enum tb_grouping)i) : NULL;
}

#define OF_GROUPS(ID, formula, kind, key, roots, held, pairs, groups, blame, compared,   \
	title, meaning)                                                                  \
	TB_WAIT_IN_##groups(TB_OF_GROUPS, ID, kind, key, title, meaning)

static const struct tb_column group_columns[] = {
	{"by", NULL, "The grouping", TB_DATUM_TEXT, .put = put_by, .word = grouping_name},
	{"victim", NULL, A_GROUP, TB_DATUM_ID, GROUP(victim)},
	{"victim_name", NULL, NULL, TB_DATUM_TEXT, .put = put_group_party},
	{"culprit", NULL, A_GROUP, TB_DATUM_ID, GROUP(culprit)},
	{"culprit_name", NULL, NULL, TB_DATUM_TEXT, .put = put_group_party, .which = 1},
	// clang-format off
	TB_WAIT_COLUMNS(OF_GROUPS)
	// clang-format on
};

static void list_groups(struct tb_table *table)
{
	const struct tb_report *report = table->of;
	for (int g = 0; g < TB_GROUPINGS; g++)
		table->n_rows += report->groups[g].listed.n;
}

const struct tb_table_type tb_list_groups = {"blame-groups", NULL,
	"The same for groups of flows, at all links: the heaviest of each grouping, "
	"longest first.",
	TB_COLUMNS(group_columns), .item = wait_group_at, .list = list_groups};

static void put_grouped_party(struct tb_datum *at)
{
	const struct tb_report *report = at->of;
	const struct tb_group_sample *item = at->item;
	if (at->column->which && item->victim == item->culprit)
		tb_put_text(at, "the same");
	else
		put_party(at, report, report->grouped.grain);
}

static const struct tb_column grouped_columns[] = {
	{NULL, "Waits", "Whose packets waited", TB_DATUM_TEXT, .put = put_grouped_party},
	{NULL, "For", TB_REPORT_CULPRIT, TB_DATUM_TEXT, .put = put_grouped_party,
		.which = 1, .adapt = tb_report_name_culprit},
	// clang-format off
	TB_WAIT_COLUMNS(OF_GROUPS)
	// clang-format on
};

// Flows and jobs have tables of their own.
static void list_grouped(struct tb_table *table)
{
	const struct tb_report *report = table->of;
	const struct tb_grouped *of = &report->grouped;
	char title[64];
	if (of->grain != TB_GRAIN_FLOWS && of->grain != TB_GRAIN_JOBS)
		table->n_shown = of->listed.n;
	snprintf(title, sizeof title, "Who makes whom wait, by %s",
		tb_grain_name(of->grain));
	name_bounded(table, &of->listed, title, "pairs");
}

const struct tb_table_type tb_list_grouped = {"blame-groups", "Who makes whom wait", NULL,
	TB_COLUMNS(grouped_columns), TB_ROWS(struct tb_report, grouped.rows),
	.list = list_grouped, .brief = "Groups"};

static void adapt_root(struct tb_column *column, const void *of)
{
	const struct tb_report *report = of;
	column->meaning = report->info->words->root;
}

// put_root_held names the jobs that wait for a root.
static void put_root_held(struct tb_datum *at)
{
	const struct tb_report *report = at->of;
	const struct tb_root *item = at->item;
	const struct tb_root_jobs *jobs = &report->root_jobs;
	size_t used = 0;
	for (uint32_t i = 0; i < jobs->n; i++) {
		const struct tb_root_job_sample *part = &jobs->rows[i];
		char name[200];
		if (part->root.id != item->root.id ||
			used + sizeof name + 16 > sizeof at->text)
			continue;
		used += (size_t)snprintf(at->text + used, sizeof at->text - used,
			"%s%s %.0f %%", used ? ", " : "",
			tb_report_job_name(
				report->run, part->victim_job, name, sizeof name),
			blame_percent(part->wait_ps, (double)item->wait_ps));
	}
}

static void adapt_held(struct tb_column *column, const void *of)
{
	const struct tb_report *report = of;
	if (report->info->n_jobs < 2)
		column->title = NULL;
}

#define ROOT(member) TB_MEMBER(struct tb_root, member)

#define OF_ROOTS(ID, formula, kind, key, roots, held, pairs, groups, blame, compared,    \
	title, meaning)                                                                  \
	TB_WAIT_IN_##roots(TB_OF_ROOTS, ID, kind, key, title, meaning)

static const struct tb_column root_columns[] = {
	{"root", NULL, "A link", TB_DATUM_ID, ROOT(root.id)},
	{"name", "Root", "The link at the end of a chain of waits", TB_DATUM_TEXT,
		ROOT(root.id), .put = tb_put_link, .adapt = adapt_root},
	// clang-format off
	TB_WAIT_COLUMNS(OF_ROOTS)
	// clang-format on
	{NULL, "Holds up", "The jobs, by their share of its wait", TB_DATUM_TEXT,
		.put = put_root_held, .adapt = adapt_held},
};

const struct tb_table_type tb_list_roots = {"congestion-roots", "Congestion roots",
	"Roots of congestion trees, by the wait that they cause in the whole network, "
	"longest first. Empty for a run that did not end or recorded no blame.",
	TB_COLUMNS(root_columns), TB_ROWS(struct tb_report, roots.rows),
	.n = TB_COUNT(struct tb_report, roots.listed.n),
	.n_all = TB_COUNT(struct tb_report, roots.listed.n_all), .what = "roots",
	.brief = "Roots"};

#define ROOT_JOB(member) TB_MEMBER(struct tb_root_job_sample, member)

#define OF_HELD(ID, formula, kind, key, roots, held, pairs, groups, blame, compared,     \
	title, meaning)                                                                  \
	TB_WAIT_IN_##held(TB_OF_HELD, ID, kind, key, title, meaning)

static const struct tb_column root_job_columns[] = {
	{"root", NULL, "A link", TB_DATUM_ID, ROOT_JOB(root.id)},
	{"name", NULL, NULL, TB_DATUM_TEXT, ROOT_JOB(root.id), .put = tb_put_link},
	{"victim_job", NULL, NULL, TB_DATUM_ID, ROOT_JOB(victim_job)},
	// clang-format off
	TB_WAIT_COLUMNS(OF_HELD)
	// clang-format on
};

const struct tb_table_type tb_list_root_jobs = {"root-by-job", NULL,
	"Which jobs each of congestion_roots holds up: the sums by root equal theirs.",
	TB_COLUMNS(root_job_columns), TB_ROWS(struct tb_report, root_jobs.rows),
	.n = TB_COUNT(struct tb_report, root_jobs.n)};

#define JOB_LINK(member) TB_MEMBER(struct tb_job_link_sample, member)

static const struct tb_column job_link_columns[] = {
	{"link", NULL, NULL, TB_DATUM_ID, JOB_LINK(link.id)},
	{"name", NULL, NULL, TB_DATUM_TEXT, JOB_LINK(link.id), .put = tb_put_link},
	{"job", NULL, NULL, TB_DATUM_ID, JOB_LINK(job)},
	{"came_by_ps", NULL, "Wait of the job's packets that came by the link",
		TB_DATUM_TIME, JOB_LINK(wait_ps)},
	{"came_by_blamed_ps", NULL,
		"Wait of anybody's packets that came by the link, for what the job's "
		"held",
		TB_DATUM_TIME, JOB_LINK(blamed_ps)},
};

const struct tb_table_type tb_list_job_links = {"blame-by-link", NULL,
	"The jobs at the links of hot_links. Sums: over the jobs, both are each the "
	"link's came_by_ps.",
	TB_COLUMNS(job_link_columns), TB_ROWS(struct tb_report, job_links.rows),
	.n = TB_COUNT(struct tb_report, job_links.n)};

static const void *listed_of(const void *of, size_t row)
{
	const struct tb_report *report = of;
	return row ? &report->groups[row - 1].listed : &report->heaviest.listed;
}

static const char *list_name(size_t i)
{
	return i ? grouping_name(i - 1) : "blame";
}

static void put_list(struct tb_datum *at)
{
	at->word = list_name(at->row);
}

static void put_rest(struct tb_datum *at)
{
	at->whole = tb_whole_ps(((const struct tb_listed *)at->item)->rest_ps);
}

#define LISTED(member) TB_MEMBER(struct tb_listed, member)

static const struct tb_column left_out_columns[] = {
	{"list", NULL, NULL, TB_DATUM_TEXT, .put = put_list, .word = list_name},
	{"rows", NULL, "That the store keeps", TB_DATUM_COUNT, LISTED(n_all)},
	{"floor_ps", NULL, "Nothing that was left out waited longer", TB_DATUM_TIME,
		LISTED(floor_ps)},
	{"rest_ps", NULL,
		"The wait of all packets less that of these rows; 0: nothing was left "
		"out",
		TB_DATUM_TIME, .put = put_rest},
};

static void list_left_out(struct tb_table *table)
{
	table->n_rows = 1 + TB_GROUPINGS;
}

const struct tb_table_type tb_list_left_out = {"left-out", NULL,
	"What the heaviest rows that the store keeps leave out, for blame and each "
	"grouping of blame_groups.",
	TB_COLUMNS(left_out_columns), .item = listed_of, .list = list_left_out};

// The report's lists of the critical path: what the end of the run waited for.
#include "report_impl.h"

#include <inttypes.h>
#include <math.h>

static const char *cause_name(size_t i)
{
	return tb_path_name((uint32_t)i);
}

static void put_cause(struct tb_datum *at)
{
	const struct tb_path_share *item = at->item;
	at->word = tb_path_name(item->cause);
	tb_put_text(at, "%s", tb_path_words((enum tb_path_cause)item->cause));
}

#define SHARE(member) TB_MEMBER(struct tb_path_share, member)

static const struct tb_column path_columns[] = {
	{"cause", "Waited for", "What it was", TB_DATUM_TEXT, .put = put_cause,
		.word = cause_name},
	{"time_ps", "Time", "On the critical path", TB_DATUM_TIME, SHARE(sum_ps),
		.flags = TB_COLUMN_BAR},
	{"percent", "Share", "Of the run time", TB_DATUM_SHARE, SHARE(percent)},
	{"steps", "Steps", "In how many steps", TB_DATUM_COUNT, SHARE(n_steps)},
};

const struct tb_table_type tb_list_path = {"critical-path", "Critical path",
	"What the end of the run waited for, back to its beginning, by cause, longest "
	"first. The times add up to the run time.",
	TB_COLUMNS(path_columns), TB_ROWS_IN(struct tb_report, evidence.path.shares),
	.n = TB_COUNT(struct tb_report, evidence.path.n_shares), .all = true,
	.brief = "Path"};

#define LINK(member) TB_MEMBER(struct tb_path_link, member)

static void put_path_known(struct tb_datum *at)
{
	const struct tb_path_link *item = at->item;
	at->unknown = item->culprit_job == TB_ID_NONE;
}

static void put_path_link_id(struct tb_datum *at)
{
	const struct tb_path_link *item = at->item;
	at->unknown = item->place.link.id == TB_ID_NONE;
	at->whole = item->place.link.id;
}

static void put_path_link(struct tb_datum *at)
{
	const struct tb_report *report = at->of;
	const struct tb_path_link *item = at->item;
	at->word = tb_wait_place_name(report->run, item->place);
	at->unknown = !at->word;
	if (at->unknown && item->culprit_source.id != TB_ID_NONE)
		tb_put_text(at, "connection %" PRIu32 " > %" PRIu32,
			item->culprit_source.id, item->culprit_destination.id);
	else if (at->unknown)
		tb_put_text(at, "at no link");
}

static void put_path_culprit(struct tb_datum *at)
{
	const struct tb_report *report = at->of;
	const struct tb_path_link *item = at->item;
	tb_report_flow_name(report->run, item->culprit_job, item->culprit_source,
		item->culprit_destination, at->text, sizeof at->text);
}

static void put_path_share(struct tb_datum *at)
{
	const struct tb_report *report = at->of;
	const struct tb_path_link *item = at->item;
	at->real = 100.0 * (double)item->sum_ps /
		   (double)report->evidence.path.causes[TB_PATH_HELD_UP];
}

#define UNKNOWN "; null: it was no wait, or is not known"

static const struct tb_column link_columns[] = {
	{"link", NULL,
		"Where packets of the path waited, as hot links are led by: the link "
		"that they waited for, or by which they had come in; null: one of "
		"several, no wait, or not known",
		TB_DATUM_ID, .put = put_path_link_id, .flags = TB_COLUMN_NULL},
	{"name", "At",
		"Its name; where it is one of several, that of their switch" UNKNOWN,
		TB_DATUM_TEXT, .put = put_path_link, .flags = TB_COLUMN_NULL},
	{NULL, "For", TB_REPORT_CULPRIT, TB_DATUM_TEXT, LINK(culprit_job),
		.put = put_path_culprit, .flags = TB_COLUMN_NULL,
		.adapt = tb_report_name_culprit},
	{"culprit_job", NULL, NULL, TB_DATUM_ID, LINK(culprit_job), .put = put_path_known,
		.flags = TB_COLUMN_NULL},
	{"culprit.job", NULL, NULL, TB_DATUM_ID, LINK(culprit_job), .put = put_path_known,
		.flags = TB_COLUMN_NESTED | TB_COLUMN_NULL},
	{"culprit.source", NULL, NULL, TB_DATUM_ID, LINK(culprit_source.id),
		.put = put_path_known, .flags = TB_COLUMN_NULL},
	{"culprit.destination", NULL, NULL, TB_DATUM_ID, LINK(culprit_destination.id),
		.put = put_path_known, .flags = TB_COLUMN_NULL},
	{"time_ps", "Time", "On the critical path", TB_DATUM_TIME, LINK(sum_ps),
		.flags = TB_COLUMN_BAR},
	{"percent", "Share", "Of what the path was held up", TB_DATUM_SHARE,
		.put = put_path_share},
};

static void list_path_links(struct tb_table *table)
{
	const struct tb_report *report = table->of;
	table->n_rows = table->n_shown =
		tb_report_n_listed(report, report->evidence.path.n_links);
	char meaning[400];
	bool switches = false;
	for (size_t i = 0; i < table->n_shown; i++)
		switches |= report->evidence.path.links[i].place.sw.id != TB_ID_NONE;
	snprintf(meaning, sizeof meaning,
		"%s Shared out by what the messages' flows waited over the whole run; "
		"%s%s.",
		tb_report_place_words(report, switches),
		report->evidence.path.connects
			? "in a connection of two nodes: at its windows, or until it "
			  "sent again what was lost"
			: "at no link: ",
		report->evidence.path.connects
			? ""
			: tb_path_nowhere(&report->evidence.path, report->evidence.info));
	tb_table_remark_rest(
		table, report->evidence.path.n_links, "links and flows", meaning);
}

const struct tb_table_type tb_list_path_links = {"critical-links",
	"Critical path: where it was held up",
	"Where, and for which flow, messages of the critical path waited, longest first; "
	"shared out by what their flows waited over the whole run.",
	TB_COLUMNS(link_columns), TB_ROWS(struct tb_report, evidence.path.links),
	.list = list_path_links, .brief = "Held up"};

#define TIMEOUT(member) TB_MEMBER(struct tb_path_timeout, member)

static void put_connection(struct tb_datum *at)
{
	const struct tb_report *report = at->of;
	const struct tb_path_timeout *item = at->item;
	tb_report_flow_name(report->run, item->job, item->source, item->destination,
		at->text, sizeof at->text);
}

static void put_timeout_share(struct tb_datum *at)
{
	const struct tb_report *report = at->of;
	at->real = 100.0 * (double)((const struct tb_path_timeout *)at->item)->sum_ps /
		   (double)report->info->simulated_ps;
}

static const struct tb_column timeout_columns[] = {
	{NULL, "Connection", "Which waited for its timer", TB_DATUM_TEXT, TIMEOUT(job),
		.put = put_connection},
	{"job", NULL, NULL, TB_DATUM_ID, TIMEOUT(job)},
	{"source", NULL, NULL, TB_DATUM_ID, TIMEOUT(source.id)},
	{"destination", NULL, NULL, TB_DATUM_ID, TIMEOUT(destination.id)},
	{"timeouts", "Time-outs", "How often the timer ran out", TB_DATUM_COUNT,
		TIMEOUT(n)},
	{"time_ps", "Time", "On the critical path", TB_DATUM_TIME, TIMEOUT(sum_ps),
		.flags = TB_COLUMN_BAR},
	{"percent", "Share", "Of the run time", TB_DATUM_SHARE, .put = put_timeout_share},
	{"link_name", "Lost at",
		"Where the connection had lost frames, over the whole run, before it "
		"waited longest",
		TB_DATUM_TEXT, TIMEOUT(lost.id), .put = tb_put_link,
		.flags = TB_COLUMN_NULL},
};

static void list_timeouts(struct tb_table *table)
{
	const struct tb_report *report = table->of;
	table->n_rows = report->evidence.path.n_timeouts;
	table->n_shown = tb_report_n_listed(report, table->n_rows);
	tb_table_remark_rest(table, table->n_rows, "connections",
		"All time-outs are in the view time_outs of the store.");
}

const struct tb_table_type tb_list_timeouts = {"time-outs", "Critical path: time-outs",
	"Connections on the critical path that had lost frames, or packets at what is "
	"dead, and waited until their timers ran out, longest first.",
	TB_COLUMNS(timeout_columns), TB_ROWS(struct tb_report, evidence.path.timeouts),
	.list = list_timeouts};

// The report's list of what no routing can beat.

static const struct tb_bounds *bounds_of(const struct tb_report *report)
{
	return &report->evidence.bounds;
}

// item: the whole run comes first, then its phases.
static const void *item(const void *of, size_t row)
{
	const struct tb_bounds *bounds = bounds_of(of);
	return row == 0 ? &bounds->whole : &bounds->phases[row - 1];
}

static void put_bound_name(struct tb_datum *at)
{
	if (at->row == 0)
		at->word = "run";
	else
		snprintf(at->text, sizeof at->text, "phase %zu", at->row);
}

static void put_load(struct tb_datum *at, const struct tb_cut_load *load)
{
	at->unknown = load->ps == 0;
	if (!at->unknown)
		tb_cut_text(&bounds_of(at->of)->cuts, load, at->text, sizeof at->text);
}

static void put_bound_host(struct tb_datum *at)
{
	put_load(at, &((const struct tb_bound *)at->item)->host);
}

static void put_cut(struct tb_datum *at)
{
	put_load(at, &((const struct tb_bound *)at->item)->cut);
}

// put_split: only of the whole run it is known which traffic there was.
static void put_split(struct tb_datum *at)
{
	const struct tb_split *split = &bounds_of(at->of)->split;
	at->unknown = at->row > 0 || !split->known;
	if (!at->unknown)
		at->whole = at->column->which ? split->found_ps : split->least_ps;
}

static void put_fixed(struct tb_datum *at)
{
	const struct tb_static_routes *fixed = &bounds_of(at->of)->fixed;
	at->unknown = at->row > 0 || !fixed->known;
	if (!at->unknown)
		at->whole = at->column->which ? fixed->found_ps : fixed->least_ps;
}

static void put_gap(struct tb_datum *at)
{
	const struct tb_static_routes *fixed = &bounds_of(at->of)->fixed;
	at->unknown = at->row > 0 || !fixed->known;
	if (!at->unknown)
		at->real = tb_static_gap_percent(fixed);
}

#define BOUND(member) TB_MEMBER(struct tb_bound, member)

static const struct tb_column columns[] = {
	{"what", "Of", "The run, or a phase: links were busy or held", TB_DATUM_TEXT,
		.put = put_bound_name},
	{"begin_ps", "From", "When it begins", TB_DATUM_TIME, BOUND(begin_ps)},
	{"span_ps", "Took", "How long it is", TB_DATUM_TIME, BOUND(span_ps)},
	{"host_ps", "By host links", "The links of the node that they take longest",
		TB_DATUM_TIME, BOUND(host_ps)},
	{"host", NULL, "Which", TB_DATUM_TEXT, .put = put_bound_host,
		.flags = TB_COLUMN_NULL},
	{"cables_ps", "By all cables", "All bytes between switches, on all links there",
		TB_DATUM_TIME, BOUND(cables_ps)},
	{"cut_ps", "By its cut",
		"What crossed a cut, on all its links: no routes are faster",
		TB_DATUM_TIME, BOUND(cut_ps)},
	{"cut", "Tightest cut", "The cut that takes longest", TB_DATUM_TEXT,
		.put = put_cut, .flags = TB_COLUMN_NULL},
	{"split_least_ps", NULL,
		"Proved lower bound of routes that split flows in any shares",
		TB_DATUM_TIME, .put = put_split, .flags = TB_COLUMN_NULL},
	{"split_ps", "If flows split", "The best such routes that were found",
		TB_DATUM_TIME, .put = put_split, .flags = TB_COLUMN_NULL, .which = 1},
	{"static_least_ps", NULL,
		"Proved lower bound of static routes, one path for each pair of nodes",
		TB_DATUM_TIME, .put = put_fixed, .flags = TB_COLUMN_NULL},
	{"static_ps", "One route each", "The best static routes that were found",
		TB_DATUM_TIME, .put = put_fixed, .flags = TB_COLUMN_NULL, .which = 1},
	{"static_gap_percent", "Unsure by",
		"By how much these exceed the proved bound of static routes",
		TB_DATUM_PERCENT, .put = put_gap, .flags = TB_COLUMN_NULL},
	{"routes_ps", "As routed", "The link that needs longest for what it carried",
		TB_DATUM_TIME, BOUND(routes_ps)},
	{"link_name", "Its link", "Which", TB_DATUM_TEXT, BOUND(link.id),
		.put = tb_put_link, .flags = TB_COLUMN_NULL},
};

static void list_bounds(struct tb_table *table)
{
	const struct tb_report *report = table->of;
	const struct tb_bounds *bounds = bounds_of(report);
	size_t n_phases = bounds->n_phases > 1 ? bounds->n_phases : 0;
	bool any = bounds->whole.routes_ps > 0;
	// Counters have no phases, and what they ran for is no bound.
	any = any && !tb_run_is_measured(report->info);
	table->n_rows = any ? 1 + n_phases : 0;
	table->n_shown = any ? 1 + tb_report_n_listed(report, n_phases) : 0;
	char meaning[560], joined[160] = "";
	if (bounds->n_stretches > bounds->n_phases)
		snprintf(joined, sizeof joined,
			" Links were busy in %" PRIu64
			" stretches: those with the shortest pauses between them are one "
			"phase.",
			bounds->n_stretches);
	snprintf(meaning, sizeof meaning,
		"The least time that the bytes need: over the busiest node's links, over "
		"all cables evenly, over the tightest cut by any routes, by the best "
		"routes that split flows or give each one path (and by how much that may "
		"be off), and over the busiest link as they were routed.%s",
		joined);
	tb_table_remark_rest(table, table->n_rows, "stretches", meaning);
}

const struct tb_table_type tb_list_bounds = {"bounds", "How good it could be",
	"Bounds of the run and of its phases, which its time is never below: by the "
	"links of nodes, by what had to cross the cuts of the network whatever the "
	"routes, and "
	"by the links of the run's own routes; and the best routes that split flows or "
	"not (docs/findings.md).",
	TB_COLUMNS(columns), .item = item, .list = list_bounds, .brief = "Bounds"};

// Calls by kind, algorithm, size and members.

static const void *calls_item(const void *of, size_t row)
{
	return &((const struct tb_report *)of)->evidence.calls.sorts[row];
}

static void put_call_algorithm(struct tb_datum *at)
{
	at->word = ((const struct tb_call_sort *)at->item)->algorithm;
	at->unknown = !*at->word;
}

static void put_call_members(struct tb_datum *at)
{
	at->whole = ((const struct tb_call_sort *)at->item)->n_members;
	at->unknown = at->whole == 0;
}

void tb_put_calls_figure(struct tb_datum *at, const struct tb_call_figures *calls,
	enum tb_calls_figure figure)
{
	at->real = tb_calls_figure_of(calls, figure);
	at->whole = tb_calls_figure_whole(calls, figure);
	at->unknown = isnan(at->real);
	at->real = at->unknown ? 0 : at->real;
}

static void put_call_figure(struct tb_datum *at)
{
	tb_put_calls_figure(at, &((const struct tb_call_sort *)at->item)->figures,
		(enum tb_calls_figure)at->column->which);
}

static void put_call_bus(struct tb_datum *at)
{
	char text[24];
	at->real = ((const struct tb_call_sort *)at->item)->bus_rate;
	at->unknown = isnan(at->real);
	if (!at->unknown)
		tb_put_text(at, "%s", tb_format_rate(at->real, text, sizeof text));
}

#define CALL(member) TB_MEMBER(struct tb_call_sort, member)

static const struct tb_column call_columns[] = {
	{"call", "Call", "What ranks called", TB_DATUM_TEXT, CALL(kind)},
	{"algorithm", "Algorithm", "By which a collective call became messages",
		TB_DATUM_TEXT, .put = put_call_algorithm, .flags = TB_COLUMN_NULL},
	{"bytes", "Size", "Of a message; of a collective call what the rank gave it",
		TB_DATUM_SIZE, CALL(bytes)},
	{"members", "Members", "Of a collective call whose blocks are alike",
		TB_DATUM_COUNT, .put = put_call_members, .flags = TB_COLUMN_NULL},
// clang-format off
#define ROW(ID, formula, kind, key, compared, title, meaning)                            \
	{key TB_PS_##kind, title, meaning, TB_DATUM_##kind, .put = put_call_figure,      \
		.which = TB_CALLS_##ID},
	TB_CALL_COLUMNS(ROW)
#undef ROW
	// clang-format on
	{"bus_bytes_per_s", "Bus bandwidth",
		"Of the mean time less waiting, as nccl-tests define it "
		"(doc/PERFORMANCE.md there)",
		TB_DATUM_RATIO, .put = put_call_bus, .flags = TB_COLUMN_NULL},
};

#define CALLS_REMARK                                                                     \
	"Size: what a rank gave: its part in an allgather, the whole in a reduce-"       \
	"scatter. Calls: every rank's."

static void list_calls(struct tb_table *table)
{
	const struct tb_report *report = table->of;
	table->n_rows = report->evidence.calls.n_sorts;
	table->n_shown = tb_report_n_listed(report, table->n_rows);
	const char *const remark =
		report->evidence.calls.n_left ? CALLS_REMARK
			" The store keeps the longest calls of each rank."
					      : CALLS_REMARK;
	tb_table_remark_rest(table, table->n_rows, "sorts of calls", remark);
}

const struct tb_table_type tb_list_calls = {"calls", "Calls",
	"What ranks called, by kind, algorithm, size and members, longest in all first.",
	TB_COLUMNS(call_columns), .item = calls_item, .list = list_calls};

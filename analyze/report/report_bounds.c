// The report's list of what no routing can beat.
#include "report_impl.h"

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

static void put_host(struct tb_datum *at)
{
	put_load(at, &((const struct tb_bound *)at->item)->host);
}

static void put_cut(struct tb_datum *at)
{
	put_load(at, &((const struct tb_bound *)at->item)->cut);
}

static void put_bound_link(struct tb_datum *at)
{
	const struct tb_bound *bound = at->item;
	at->unknown = bound->link.id == TB_ID_NONE;
	if (!at->unknown)
		at->word = tb_run_links(
			((const struct tb_report *)at->of)->run)[bound->link.id]
				   .name;
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
	{"host_ps", "Host links", "The links of the node that they take longest",
		TB_DATUM_TIME, BOUND(host_ps)},
	{"host", NULL, "Which", TB_DATUM_TEXT, .put = put_host, .flags = TB_COLUMN_NULL},
	{"cables_ps", "All cables", "All bytes between switches, on all links there",
		TB_DATUM_TIME, BOUND(cables_ps)},
	{"cut_ps", "Any routes",
		"What crossed a cut, on all its links: no routes are faster",
		TB_DATUM_TIME, BOUND(cut_ps)},
	{"cut", "Cut", "The cut that takes longest", TB_DATUM_TEXT, .put = put_cut,
		.flags = TB_COLUMN_NULL},
	{"split_least_ps", NULL,
		"Routes that split flows in any shares take at least so long, proved",
		TB_DATUM_TIME, .put = put_split, .flags = TB_COLUMN_NULL},
	{"split_ps", "Best split", "And those that were found take so long",
		TB_DATUM_TIME, .put = put_split, .flags = TB_COLUMN_NULL, .which = 1},
	{"static_least_ps", NULL,
		"Static routes, one path for each pair of nodes, take at least so long, "
		"proved",
		TB_DATUM_TIME, .put = put_fixed, .flags = TB_COLUMN_NULL},
	{"static_ps", "Static routes", "And those that were found take so long",
		TB_DATUM_TIME, .put = put_fixed, .flags = TB_COLUMN_NULL, .which = 1},
	{"static_gap_percent", "Gap",
		"How much longer these take than is proved of all static routes",
		TB_DATUM_PERCENT, .put = put_gap, .flags = TB_COLUMN_NULL},
	{"routes_ps", "Its routes", "The link that what it carried takes longest",
		TB_DATUM_TIME, BOUND(routes_ps)},
	{"link", "Link", "Which", TB_DATUM_TEXT, .put = put_bound_link,
		.flags = TB_COLUMN_NULL},
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
	tb_table_remark_rest(table, table->n_rows, "stretches",
		"What takes longest, in the least time that it can take.");
}

const struct tb_table_type tb_list_bounds = {"bounds", "How good it could be",
	"Bounds of the run and of its phases, which its time is never below: by the "
	"links "
	"of nodes, by what had to cross the cuts of the network whatever the routes, and "
	"by the links of the run's own routes; and the best routes that split flows or "
	"not (docs/findings.md).",
	TB_COLUMNS(columns), .item = item, .list = list_bounds};

// The report's lists of places: links, switches and regions.
#include "credit_params.h"
#include "findings_impl.h"
#include "report_impl.h"

#include <math.h>
#include <string.h>

static const struct tb_run_link *report_link_at(
	const struct tb_report *report, uint32_t link)
{
	return &tb_run_links(report->run)[link];
}

void tb_put_link(struct tb_datum *at)
{
	at->word = report_link_at(at->of, (uint32_t)at->whole)->name;
}

static void put_stalled(struct tb_datum *at)
{
	const struct tb_report *report = at->of;
	const struct tb_hot_link *hot = at->item;
	double all = (double)report->info->simulated_ps;
	at->real = all > 0 ? fmin(100 * (double)hot->sample.stall_ps / all, 100) : 0;
}

static void put_packets_waiting(struct tb_datum *at)
{
	at->real = ((const struct tb_hot_link *)at->item)->waiting / 100;
}

static void put_ticks(struct tb_datum *at)
{
	const struct tb_report *report = at->of;
	const struct tb_hot_link *hot = at->item;
	at->unknown = tb_run_is_measured(report->info) &&
		      tb_run_links(report->run)[hot->sample.link.id].tick_bytes == 0;
	if (at->unknown)
		return;
	tb_put_count(
		at, tb_run_ticks(report->run, hot->sample.link, hot->sample.stall_ps));
}

// cost_known: packets may have waited at other links, or have stood in their nodes behind
// those that waited here.
static enum tb_known cost_known(
	const struct tb_report *report, const struct tb_hot_link *hot)
{
	const struct tb_link_cost *cost =
		&report->evidence.link_costs[hot->sample.link.id];
	bool more = cost->may_be_more || tb_network_presses(&report->evidence);
	return !more ? TB_EXACT : cost->least_ps > 0 ? TB_AT_LEAST : TB_NOT_MEASURED;
}

static void put_cost(struct tb_datum *at)
{
	const struct tb_report *report = at->of;
	const struct tb_hot_link *hot = at->item;
	const struct tb_link_cost *costs = report->evidence.link_costs;
	at->unknown = !costs;
	if (!costs)
		return;
	// What it is at least is for people: programs that add it up take it for all.
	at->whole = costs[hot->sample.link.id].least_ps;
	at->unknown = cost_known(report, hot) != TB_EXACT;
	if (at->unknown && at->whole > 0)
		tb_format_time((tb_time_ps)at->whole, at->text, sizeof at->text);
}

enum queue_column { QUEUE_AT, QUEUE_STOOD, QUEUE_FROM };

static void put_queue_time(struct tb_datum *at)
{
	const struct tb_report *report = at->of;
	const struct tb_link_queue *queue = &report->hot_queues[at->row];
	switch ((enum queue_column)at->column->which) {
	case QUEUE_AT:
		at->unknown = queue->largest_bytes == 0;
		at->whole = queue->largest_at_ps;
		return;
	case QUEUE_STOOD:
		at->whole = queue->to_ps - queue->from_ps;
		return;
	case QUEUE_FROM:
		at->unknown = queue->to_ps == 0;
		at->whole = queue->from_ps;
		return;
	}
}

static void adapt_ticks(struct tb_column *column, const void *of)
{
	const struct tb_report *report = of;
	if (!tb_credit_params(&report->info->network)->xmit_wait_tick_bytes)
		column->key = column->title = NULL;
}

// Counters know neither single headers nor queues; and these are those of the wait that
// leads.
static void adapt_measured(struct tb_column *column, const void *of)
{
	const struct tb_report *report = of;
	if (tb_run_is_measured(report->info) || report->info->wait != report->info->leads)
		column->title = NULL;
}

// Only of counters there is something to say on how well a figure is known.
static void adapt_known(struct tb_column *column, const void *of)
{
	const struct tb_report *report = of;
	if (!tb_run_is_measured(report->info))
		column->key = column->title = NULL;
}

static void put_hot_link_known(struct tb_datum *at)
{
	const struct tb_report *report = at->of;
	const struct tb_hot_link *hot = at->item;
	enum tb_known known =
		tb_known_of(report_link_at(report, hot->sample.link.id)->known,
			(enum tb_metric)at->column->which);
	at->word = tb_known_name(known);
}

// known_of_column is how well a figure of a hot link is known, by the key of its column.
// A share of all waits is known where these are.
static enum tb_known known_of_column(const struct tb_datum *at)
{
	static const struct {
		const char *key;
		enum tb_metric metric;
	} derived[] = {{"packets_waiting", TB_WAIT}, {"stalled_percent", TB_STALL},
		{"xmit_wait_ticks", TB_STALL}, {"busy_percent", TB_BUSY},
		{"queue_at_ps", TB_QUEUE}, {"queue_stood_ps", TB_QUEUE},
		{"queue_stood_from_ps", TB_QUEUE}};
	const struct tb_report *report = at->of;
	const struct tb_hot_link *hot = at->item;
	const char *key = at->column->key;
	// These are counted by the wait that leads.
	bool by_leading = key && (strcmp(key, "blocked") == 0 ||
					 strcmp(key, "longest_wait_ps") == 0 ||
					 strcmp(key, "largest_queue_bytes") == 0);
	if (by_leading && report->info->wait != report->info->leads)
		return TB_NOT_MEASURED;
	if (key && strcmp(key, "cost_ps") == 0 && report->evidence.link_costs)
		return cost_known(report, hot);
	struct tb_link_known known = report_link_at(report, hot->sample.link.id)->known;
	for (int metric = 0; key && metric < TB_N_ALL_METRICS; metric++)
		if (strcmp(tb_link_figures[metric].column, key) == 0)
			return tb_figure_known(&hot->sample,
				tb_known_of(known, (enum tb_metric)metric),
				(enum tb_metric)metric);
	if (!key || !tb_run_is_measured(report->info))
		return TB_EXACT;
	if (strncmp(key, "percent_of_", 11) == 0)
		return tb_run_sum_known(report->run, TB_WAIT) == TB_EXACT
			       ? TB_EXACT
			       : TB_NOT_MEASURED;
	for (size_t i = 0; i < sizeof derived / sizeof *derived; i++)
		if (strcmp(derived[i].key, key) == 0)
			return tb_known_of(known, derived[i].metric);
	return TB_EXACT;
}

// adapt_came_by: what came by a link and waited is not known of counters of ports.
static void adapt_came_by(struct tb_column *column, const void *of)
{
	const struct tb_report *report = of;
	if (tb_run_is_measured(report->info))
		column->key = column->title = NULL;
}

// A figure of a link (link_figures.h). Wait has its own row, before its percentages;
// stall and busy time and bytes stand behind percentages that people read instead.
// clang-format off
#define FIGURE(ID, field, column, type, adds, kind, unit, name, title, brief, meaning)   \
	{column, TB_##ID < TB_PACKETS || TB_##ID >= TB_N_METRICS ? NULL : brief, meaning, \
		TB_DATUM_##kind, LINK(sample.field),                                     \
		.flags = TB_COLUMN_NULL | (TB_##ID == TB_CAME_BY ? TB_COLUMN_SOME : 0),  \
		.adapt = TB_##ID == TB_CAME_BY    ? adapt_came_by                        \
			 : TB_##ID == TB_WAIT_FOR ? NULL                                 \
			 : TB_##ID > TB_PACKETS   ? adapt_measured                       \
						  : NULL},
#define DERIVED(ID, field, formula, adds, kind, compared, key, unit, name, title, brief, \
	meaning)                                                                         \
	{key TB_PS_##kind, brief, meaning, TB_DATUM_##kind, LINK(sample.field),          \
		.flags = TB_COLUMN_NULL},
#define TB_DATUM_RATE TB_DATUM_COUNT // per second, which its title says
// clang-format on
#define LINK(member) TB_MEMBER(struct tb_hot_link, member)

static const struct tb_column hot_link_columns[] = {
	{"rank", "#", "Rank by wait, from 1", TB_DATUM_COUNT, LINK(rank)},
	{"link", NULL, NULL, TB_DATUM_ID, LINK(sample.link.id)},
	{"name", "Link", "From and to: level.index:port of a switch, or a node",
		TB_DATUM_TEXT, LINK(sample.link.id), .put = tb_put_link},
	{"wait_ps", "Wait",
		"The wait by which links are sorted: for it, or of packets "
		"that came by it",
		TB_DATUM_TIME, LINK(sample.wait_ps), .flags = TB_COLUMN_BAR},
	{"percent_of_top", NULL, "Wait against the hottest link's", TB_DATUM_SHARE,
		LINK(percent_of_top), .flags = TB_COLUMN_NULL},
	{"percent_of_wait", "Of all", "Share of the whole network's wait", TB_DATUM_SHARE,
		LINK(percent_of_wait), .flags = TB_COLUMN_NULL},
	{"cost_ps", "Run held here",
		"For how long packets that waited there held up the end of the run, on "
		"its critical path: where it waited, while roots say why; null: there is "
		"none, or it is known at least: routes leave several links open, or "
		"others "
		"stood in their nodes behind such packets",
		TB_DATUM_TIME, .put = put_cost, .flags = TB_COLUMN_NULL},
	{"packets_waiting", "Packets waiting",
		"At once, on average over all of the time: a hundredth of what "
		"--fail-over compares",
		TB_DATUM_RATIO, .put = put_packets_waiting},
	{"busy_percent", "Busy", "Time in which bytes moved, against all of it",
		TB_DATUM_PERCENT, LINK(utilisation), .flags = TB_COLUMN_NULL},
	{"stalled_percent", "Stalled",
		"Percent time stalled (Jha et al., NSDI 2020): held by a packet, and no "
		"bytes moved",
		TB_DATUM_SHARE, .put = put_stalled},
	// clang-format off
	TB_LINK_FIGURES(FIGURE)
	// clang-format on
	{"queue_at_ps", "Queue at",
		"When its largest queue stood, to the width of a time bin; null: none "
		"did, or it is not known",
		TB_DATUM_TIME, .put = put_queue_time, .flags = TB_COLUMN_NULL,
		.adapt = adapt_measured, .which = QUEUE_AT},
	{"queue_stood_ps", "Stood for",
		"The longest time without a rest in which packets waited there, to the "
		"width of a time bin",
		TB_DATUM_TIME, .put = put_queue_time, .flags = TB_COLUMN_NULL,
		.adapt = adapt_measured, .which = QUEUE_STOOD},
	{"queue_stood_from_ps", "Stood from", "When that began; null: nothing waited",
		TB_DATUM_TIME, .put = put_queue_time, .flags = TB_COLUMN_NULL,
		.adapt = adapt_measured, .which = QUEUE_FROM},
	// clang-format off
	TB_LINK_DERIVED(DERIVED)
	// clang-format on
	{"xmit_wait_ticks", "XmitWait",
		"PortXmitWait of the port at which it begins, in the counter's ticks; "
		"only where the network has such a counter",
		TB_DATUM_COUNT, .put = put_ticks, .flags = TB_COLUMN_SOME,
		.adapt = adapt_ticks},
	{"wait_known", NULL, "How well its wait and stall are known; of counters only",
		TB_DATUM_TEXT, .put = put_hot_link_known, .flags = TB_COLUMN_SOME,
		.word = tb_known_name, .adapt = adapt_known, .which = TB_WAIT},
	{"bytes_known", NULL, "Likewise of its bytes and busy time", TB_DATUM_TEXT,
		.put = put_hot_link_known, .flags = TB_COLUMN_SOME, .word = tb_known_name,
		.adapt = adapt_known, .which = TB_BYTES},
	{"packets_known", NULL, "Likewise of its packets", TB_DATUM_TEXT,
		.put = put_hot_link_known, .flags = TB_COLUMN_SOME, .word = tb_known_name,
		.adapt = adapt_known, .which = TB_PACKETS},
};

static void list_longest_waits(struct tb_table *table)
{
	const struct tb_report *report = table->of;
	table->n_rows = table->n_shown = report->n_hot_links;
	snprintf(table->heading, sizeof table->heading, "Hot links by %s",
		tb_run_wait_text(report->info));
	tb_table_remark_rest(table, report->n_waiting,
		report->info->wait == TB_WAIT_FOR ? "links that were waited for"
						  : "links whose packets waited",
		tb_run_is_measured(report->info)
			? "The time in which the port at which the link begins could not "
			  "send."
			: "");
}

const struct tb_table_type tb_list_hot_links = {"hot-links", "Hot links",
	"Links by the wait that totals.wait names, longest first.",
	TB_COLUMNS(hot_link_columns), TB_ROWS(struct tb_report, hot_links),
	.list = list_longest_waits, .known = known_of_column};

static const void *box(const void *of, size_t row)
{
	const struct tb_report *report = of;
	return report->switches[row];
}

static const struct tb_run_switch *switch_of(const struct tb_datum *at, const void *of)
{
	const struct tb_report *report = of;
	const struct tb_matrix_box *item = at->item;
	return &tb_run_switches(report->run)[item->sw.id];
}

static void put_switch_name(struct tb_datum *at)
{
	at->word = switch_of(at, at->of)->name;
}

static void put_switch_level(struct tb_datum *at)
{
	at->whole = switch_of(at, at->of)->at.level;
}

static void put_switch_share(struct tb_datum *at)
{
	const struct tb_matrix_box *item = at->item;
	at->real = tb_report_percent_of_wait(at->of, item->sum);
}

#define BOX(member) TB_MEMBER(struct tb_matrix_box, member)

static enum tb_known known_of_switch(const struct tb_datum *at)
{
	const struct tb_report *report = at->of;
	const char *key = at->column->key;
	if (!key || !tb_run_is_measured(report->info))
		return TB_EXACT;
	if (strcmp(key, "wait_ps") == 0)
		return switch_of(at, at->of)->known.wait;
	return strncmp(key, "percent_of_", 11) == 0 &&
			       tb_run_sum_known(report->run, TB_WAIT) != TB_EXACT
		       ? TB_NOT_MEASURED
		       : TB_EXACT;
}

static const struct tb_column switch_columns[] = {
	{"switch", NULL, NULL, TB_DATUM_ID, BOX(sw.id)},
	{"name", "Switch", "level.index", TB_DATUM_TEXT, .put = put_switch_name},
	{"level", "Level", "0 joins the nodes", TB_DATUM_COUNT, .put = put_switch_level},
	{"wait_ps", "Wait", "Of the packets that waited in it", TB_DATUM_TIME, BOX(sum),
		.flags = TB_COLUMN_BAR},
	{"percent_of_top", NULL, "Wait against that of the first of the list",
		TB_DATUM_SHARE, BOX(percent), .flags = TB_COLUMN_NULL},
	{"percent_of_wait", "Of all", "Share of the whole network's wait", TB_DATUM_SHARE,
		.put = put_switch_share, .flags = TB_COLUMN_NULL},
};

const struct tb_table_type tb_list_switches = {"switches", "Switches",
	"Switches by the wait of the packets in them, longest first.",
	TB_COLUMNS(switch_columns), .item = box,
	.n = TB_COUNT(struct tb_report, n_switches),
	.n_all = TB_COUNT(struct tb_report, n_switches_waiting),
	.what = "switches at which packets waited", .known = known_of_switch};

static void put_stall_level(struct tb_datum *at)
{
	at->word = tb_stall_level_name(((const struct tb_region *)at->item)->level);
}

static void put_region_links(struct tb_datum *at)
{
	tb_region_text(at->item, at->text, sizeof at->text);
}

static void put_region_wait(struct tb_datum *at)
{
	at->bar = tb_report_percent_of_wait(
		at->of, ((const struct tb_region *)at->item)->wait_ps);
}

static void put_region_share(struct tb_datum *at)
{
	put_region_wait(at);
	at->real = at->bar;
	at->bar = -1;
}

#define REGION(member) TB_MEMBER(struct tb_region, member)

static const char *stall_level(size_t i)
{
	size_t level = TB_STALLED_LOW + i;
	return level <= TB_STALLED_HIGH ? tb_stall_level_name((enum tb_stall_level)level)
					: NULL;
}

static const struct tb_column region_columns[] = {
	{"level", "Level",
		"By the mean percent time stalled: low above 5, medium above 15, high "
		"above 25",
		TB_DATUM_TEXT, .put = put_stall_level, .word = stall_level},
	{"stalled_percent", "Stalled", "Percent time stalled, mean of its links",
		TB_DATUM_SHARE, REGION(percent)},
	{"links", "Links", "What it consists of", TB_DATUM_COUNT, REGION(n_links),
		.put = put_region_links, .flags = TB_COLUMN_LEFT},
	{"from_nodes", NULL, "Of its links", TB_DATUM_COUNT,
		REGION(n_of_kind[TB_LINK_INJECTION])},
	{"up", NULL, "Of its links", TB_DATUM_COUNT, REGION(n_of_kind[TB_LINK_UP])},
	{"down", NULL, "Of its links", TB_DATUM_COUNT, REGION(n_of_kind[TB_LINK_DOWN])},
	{"to_nodes", NULL, "Of its links", TB_DATUM_COUNT,
		REGION(n_of_kind[TB_LINK_EJECTION])},
	{"stall_ps", NULL, "Sum over its links", TB_DATUM_TIME, REGION(stall_ps)},
	{"wait_ps", "Wait", "The wait of its links", TB_DATUM_TIME, REGION(wait_ps),
		.put = put_region_wait},
	{"percent_of_wait", "Of all", "Share of the whole network's wait", TB_DATUM_SHARE,
		.put = put_region_share, .flags = TB_COLUMN_NULL},
	{"worst_link", NULL, "Its link with the largest percent", TB_DATUM_ID,
		REGION(worst.id)},
	{"worst_name", "Most stalled", "Its link with the largest percent", TB_DATUM_TEXT,
		REGION(worst.id), .put = tb_put_link},
};

// known_of_region: shares of a wait that is not known exactly are not.
static enum tb_known known_of_region(const struct tb_datum *at)
{
	const struct tb_report *report = at->of;
	const char *key = at->column->key;
	return key && strcmp(key, "percent_of_wait") == 0 &&
			       tb_run_sum_known(report->run, TB_WAIT) != TB_EXACT
		       ? TB_NOT_MEASURED
		       : TB_EXACT;
}

static void list_regions(struct tb_table *table)
{
	const struct tb_report *report = table->of;
	table->n_rows = table->n_shown =
		tb_report_n_listed(report, report->evidence.regions.n);
	tb_table_remark_rest(table, report->evidence.regions.n, "regions",
		"Neighbouring links stalled for about the same share of the time; one "
		"without wait is busy.");
}

const struct tb_table_type tb_list_regions = {"regions", "Congestion regions",
	"Congestion regions: neighbouring links stalled for about the same share of the "
	"time, longest stall "
	"first.",
	TB_COLUMNS(region_columns), TB_ROWS(struct tb_report, evidence.regions.regions),
	.list = list_regions, .known = known_of_region, .brief = "Regions"};

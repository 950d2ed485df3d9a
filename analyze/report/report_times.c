// The report's lists of the critical path: what the end of the run waited for.
#include "report_impl.h"

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

static void list_path(struct tb_table *table)
{
	const struct tb_report *report = table->of;
	table->n_rows = table->n_shown = report->path.n_shares;
}

const struct tb_table_type tb_list_path = {"critical-path", "Critical path",
	"What the end of the run waited for, back to its beginning, by cause, longest "
	"first. The times add up to the run time.",
	TB_COLUMNS(path_columns), TB_ROWS_IN(struct tb_report, path.shares),
	.list = list_path};

#define LINK(member) TB_MEMBER(struct tb_path_link, member)

static void put_link_name(struct tb_datum *at)
{
	const struct tb_path_link *item = at->item;
	at->unknown = item->link.id == TB_ID_NONE;
	if (!at->unknown)
		tb_put_link(at);
}

static void put_path_known(struct tb_datum *at)
{
	const struct tb_path_link *item = at->item;
	at->unknown = item->link.id == TB_ID_NONE;
}

static void put_path_culprit(struct tb_datum *at)
{
	const struct tb_report *report = at->of;
	const struct tb_path_link *item = at->item;
	put_path_known(at);
	if (!at->unknown)
		tb_report_flow_name(report->run, item->culprit_job, item->culprit_source,
			item->culprit_destination, at->text, sizeof at->text);
}

static void put_path_share(struct tb_datum *at)
{
	const struct tb_report *report = at->of;
	const struct tb_path_link *item = at->item;
	at->real = 100.0 * (double)item->sum_ps /
		   (double)report->path.causes[TB_PATH_HELD_UP];
}

#define UNKNOWN "; null: it was no wait, or is not known"

static const struct tb_column link_columns[] = {
	{"link", NULL, "By which waiting packets of the path had come in" UNKNOWN,
		TB_DATUM_ID, LINK(link.id), .put = put_path_known,
		.flags = TB_COLUMN_NULL},
	{"name", "At",
		"The link by which waiting packets of the path had come in" UNKNOWN,
		TB_DATUM_TEXT, LINK(link.id), .put = put_link_name,
		.flags = TB_COLUMN_NULL},
	{NULL, "For", TB_REPORT_CULPRIT, TB_DATUM_TEXT, .put = put_path_culprit,
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
	table->n_rows = table->n_shown = tb_report_n_listed(report, report->path.n_links);
	tb_table_remark_rest(table, report->path.n_links, "links and flows",
		"Shared out by what the messages' flows waited over the whole run; at no "
		"link: time-outs, packets sent again, or not known.");
}

const struct tb_table_type tb_list_path_links = {"critical-links",
	"Critical path: where it was held up",
	"Where, and for which flow, messages of the critical path waited, longest first; "
	"shared out by what their flows waited over the whole run.",
	TB_COLUMNS(link_columns), TB_ROWS(struct tb_report, path.links),
	.list = list_path_links};

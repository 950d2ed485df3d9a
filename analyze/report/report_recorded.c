// The report's lists of what was recorded, beside what was simulated.
#include "report_impl.h"

#include "recorded_ranks.h"

static void put_recorded_job(struct tb_datum *at)
{
	const struct tb_report *report = at->of;
	char name[200];
	tb_put_text(at, "%s",
		tb_report_job_name(report->run, (uint32_t)at->whole, name, sizeof name));
}

// A run of one job has no column for it.
static void adapt_job(struct tb_column *column, const void *of)
{
	const struct tb_report *report = of;
	if (report->info->n_jobs < 2)
		column->title = NULL;
}

static void put_recorded_change(struct tb_datum *at)
{
	const struct tb_recorded_row *row = at->item;
	at->unknown = row->unmodelled || !tb_recorded_percent(row->recorded_ps,
						 row->simulated_ps, &at->real);
	if (!at->unknown)
		tb_put_text(at, "%+.1f %%", at->real);
}

static void put_change_at(struct tb_datum *at)
{
	const struct tb_recorded_row *row = at->item;
	at->unknown = row->unmodelled || !tb_recorded_percent(row->recorded_at_ps,
						 row->simulated_at_ps, &at->real);
	if (!at->unknown)
		tb_put_text(at, "%+.1f %%", at->real);
}

static void put_rate(struct tb_datum *at)
{
	at->unknown = at->whole == 0;
}

static void put_modelled(struct tb_datum *at)
{
	const struct tb_recorded_row *row = at->item;
	at->unknown = row->unmodelled;
}

#define ROW(member)	  TB_MEMBER(struct tb_recorded_row, member)
#define SIMULATED_OF_THEM "The same in the replay"
#define UNMODELLED	  "; null: not modelled, of calls that only start something"
#define CHANGE		  "Simulated against recorded: positive where the replay takes longer"
#define JOB                                                                              \
	{                                                                                \
		"job", "Job", "Its name", TB_DATUM_ID, ROW(job),                         \
			.put = put_recorded_job, .adapt = adapt_job,                     \
			.flags = TB_COLUMN_LEFT                                          \
	}
#define CHANGE_FLAGS (TB_COLUMN_NULL | TB_COLUMN_SIGNED)

static const struct tb_column whole_columns[] = {
	JOB,
	{"unit", "Compared", "What times are compared of: calls, messages or packets",
		TB_DATUM_TEXT, ROW(name),
		.schema = "{\"enum\": [\"call\", \"message\", \"packet\"]}"},
	{"compared", "Number", "How many", TB_DATUM_COUNT, ROW(n)},
	{"recorded_ps", "Recorded",
		"From the beginning until the last of them ended, as recorded",
		TB_DATUM_TIME, ROW(recorded_ps)},
	{"simulated_ps", "Simulated", SIMULATED_OF_THEM, TB_DATUM_TIME,
		ROW(simulated_ps)},
	{"change_percent", "Change", CHANGE, TB_DATUM_PERCENT, .put = put_recorded_change,
		.flags = CHANGE_FLAGS},
	{"recorded_bytes_per_s", NULL,
		"Rate of the recorded network's ports, estimated; null: the trace does "
		"not say",
		TB_DATUM_COUNT, ROW(bytes_per_s), .put = put_rate,
		.flags = TB_COLUMN_NULL},
};

static void list_whole(struct tb_table *table)
{
	const struct tb_report *report = table->of;
	table->n_rows = report->recorded.jobs.n;
	if (report->recorded.jobs.n > 1)
		table->n_shown = tb_report_n_listed(report, report->recorded.jobs.n);
	tb_table_remark_rest(table, report->recorded.jobs.n, "jobs",
		"The recorded network may be another one.");
}

const struct tb_table_type tb_list_recorded = {"recorded", "Recorded and simulated",
	"What really happened, beside the replay: jobs whose traces recorded times.",
	TB_COLUMNS(whole_columns), TB_ROWS(struct tb_report, recorded.jobs.rows),
	.list = list_whole};

static const struct tb_column kind_columns[] = {
	JOB,
	{"kind", "Call", "Kind of call: i before a name is of one that only starts",
		TB_DATUM_TEXT, ROW(name)},
	{"calls", "Calls", "How many were recorded", TB_DATUM_COUNT, ROW(n)},
	{"bytes", "Bytes", "Of their messages, or given to collective calls",
		TB_DATUM_SIZE, ROW(bytes)},
	{"recorded_ps", "Recorded", "In these calls, of all ranks", TB_DATUM_TIME,
		ROW(recorded_ps)},
	{"simulated_calls", NULL, "How many of them the replay came to the end of",
		TB_DATUM_COUNT, ROW(n_simulated)},
	{"simulated_ps", "Simulated", SIMULATED_OF_THEM UNMODELLED, TB_DATUM_TIME,
		ROW(simulated_ps), .put = put_modelled, .flags = TB_COLUMN_NULL},
	{"change_percent", "Change", CHANGE, TB_DATUM_PERCENT, .put = put_recorded_change,
		.flags = CHANGE_FLAGS},
	{"recorded_median_ps", "Median", "Of the recorded calls", TB_DATUM_TIME,
		ROW(recorded_at_ps)},
	{"simulated_median_ps", "Simulated", SIMULATED_OF_THEM UNMODELLED, TB_DATUM_TIME,
		ROW(simulated_at_ps), .put = put_modelled, .flags = TB_COLUMN_NULL},
	{"median_change_percent", NULL, CHANGE, TB_DATUM_PERCENT, .put = put_change_at,
		.flags = CHANGE_FLAGS},
};

static void list_kinds(struct tb_table *table)
{
	const struct tb_report *report = table->of;
	size_t n = report->recorded.kinds.n;
	table->n_rows = n;
	table->n_shown = tb_report_n_listed(report, n);
	tb_table_remark_rest(table, n, "kinds of calls",
		"How long calls took from entering to leaving; - is not modelled.");
}

const struct tb_table_type tb_list_recorded_kinds = {"recorded-calls",
	"Recorded and simulated by kind of call",
	"How long calls took, as recorded and in the replay, by kind.",
	TB_COLUMNS(kind_columns), TB_ROWS(struct tb_report, recorded.kinds.rows),
	.list = list_kinds};

static void put_job_of_rank(struct tb_datum *at)
{
	const struct tb_recorded_beside *item = at->item;
	at->whole = item->sides[0]->job;
	put_recorded_job(at);
}

static const struct tb_column rank_columns[] = {
	{"job", "Job", "Its name", TB_DATUM_ID, .put = put_job_of_rank,
		.adapt = adapt_job, .flags = TB_COLUMN_LEFT},
	TB_RANK_COLUMNS,
	TB_RANK_SIDE_COLUMNS("", "", 0),
};

static void list_recorded_ranks(struct tb_table *table)
{
	const struct tb_report *report = table->of;
	size_t n = report->recorded.ranks.n;
	table->n_rows = table->n_shown = tb_report_n_listed(report, n);
	tb_table_remark_rest(table, n, "ranks", TB_RANK_REMARK);
}

const struct tb_table_type tb_list_recorded_ranks = {"recorded-ranks",
	"Recorded and simulated by rank",
	"How long ranks were in calls and when they ended, as recorded and in the "
	"replay.",
	TB_COLUMNS(rank_columns), TB_ROWS(struct tb_report, recorded.beside),
	.list = list_recorded_ranks};

static const struct tb_column uncompared_columns[] = {
	JOB,
	{"calls", "Calls", "How many", TB_DATUM_COUNT, ROW(n)},
	{"reason", "That", "What keeps them from being compared", TB_DATUM_TEXT,
		ROW(name)},
};

static void list_uncompared(struct tb_table *table)
{
	const struct tb_report *report = table->of;
	size_t n = report->recorded.uncompared.n;
	table->n_rows = n;
	table->n_shown = tb_report_n_listed(report, n);
	tb_table_remark_rest(table, n, "reasons", "");
}

const struct tb_table_type tb_list_uncompared = {"uncompared", "Not compared",
	"Recorded calls that cannot be compared with the replay, and why.",
	TB_COLUMNS(uncompared_columns),
	TB_ROWS(struct tb_report, recorded.uncompared.rows), .list = list_uncompared};

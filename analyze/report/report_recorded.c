// The report's lists of what was recorded, beside what was simulated.
#include "recorded_ranks.h"
#include "report_impl.h"

#include <stdlib.h>

static void put_recorded_job(struct tb_datum *at)
{
	const struct tb_report *report = at->of;
	char name[200];
	tb_put_text(at, "%s",
		tb_report_job_name(report->run, (uint32_t)at->whole, name, sizeof name));
}

void tb_report_adapt_job(struct tb_column *column, const void *of)
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
}

// A message of one frame ends a nanosecond behind it, which is no time: where half of
// them are such, the capture does not tell the median.
static void put_recorded_median(struct tb_datum *at)
{
	const struct tb_recorded_row *row = at->item;
	at->unknown = row->recorded_at_ps <= TB_PS_PER_NS;
}

static void put_change_at(struct tb_datum *at)
{
	const struct tb_recorded_row *row = at->item;
	at->unknown = row->unmodelled || row->recorded_at_ps <= TB_PS_PER_NS ||
		      !tb_recorded_percent(
			      row->recorded_at_ps, row->simulated_at_ps, &at->real);
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
			.put = put_recorded_job, .adapt = tb_report_adapt_job,           \
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
	.list = list_whole, .brief = "Compared"};

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
	{"recorded_median_ps", "Median recorded",
		"Of the recorded calls; null: most took no time that was recorded",
		TB_DATUM_TIME, ROW(recorded_at_ps), .put = put_recorded_median,
		.flags = TB_COLUMN_NULL},
	{"simulated_median_ps", "Median simulated", SIMULATED_OF_THEM UNMODELLED,
		TB_DATUM_TIME, ROW(simulated_at_ps), .put = put_modelled,
		.flags = TB_COLUMN_NULL},
	{"median_change_percent", NULL, CHANGE, TB_DATUM_PERCENT, .put = put_change_at,
		.flags = CHANGE_FLAGS},
};

const struct tb_table_type tb_list_recorded_kinds = {"recorded-calls",
	"Recorded and simulated by kind of call",
	"How long calls took, as recorded and in the replay, by kind.",
	TB_COLUMNS(kind_columns), TB_ROWS(struct tb_report, recorded.kinds.rows),
	.n = TB_COUNT(struct tb_report, recorded.kinds.n), .what = "kinds of calls",
	.remark = "How long calls took from entering to leaving; - is not known.",
	.brief = "By call"};

static void put_job_of_rank(struct tb_datum *at)
{
	const struct tb_recorded_beside *item = at->item;
	at->whole = item->sides[0]->job;
	put_recorded_job(at);
}

static const struct tb_column rank_columns[] = {
	{"job", "Job", "Its name", TB_DATUM_ID, .put = put_job_of_rank,
		.adapt = tb_report_adapt_job, .flags = TB_COLUMN_LEFT},
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
	.list = list_recorded_ranks, .brief = "By rank"};

static const struct tb_column uncompared_columns[] = {
	JOB,
	{"calls", "Calls", "How many", TB_DATUM_COUNT, ROW(n)},
	{"reason", "That", "What keeps them from being compared", TB_DATUM_TEXT,
		ROW(name)},
};

const struct tb_table_type tb_list_uncompared = {"uncompared", "Not compared",
	"Recorded calls that cannot be compared with the replay, and why.",
	TB_COLUMNS(uncompared_columns),
	TB_ROWS(struct tb_report, recorded.uncompared.rows),
	.n = TB_COUNT(struct tb_report, recorded.uncompared.n), .what = "reasons"};

// The report's section of what captures recorded of congestion, before any replay.

// gather_capture appends the rows of a capture: pairs that suffered, the worst first, and
// of the others so many as sent most.
enum { OTHER_FLOWS = 16 };
static int gather_capture(
	struct tb_report *report, const struct tb_recorded_capture *capture)
{
	const struct tb_congestion *congestion = capture->congestion;
	struct tb_report_congestion *to = &report->congestion;
	size_t n, *worst = tb_congestion_worst(congestion, &n);
	for (size_t i = 0; worst && i < congestion->n_pairs; i++)
		if (i < n || (i < n + OTHER_FLOWS &&
				     congestion->pairs[worst[i]].times.lasted_ps > 0))
			to->pairs[to->n_pairs++] = (struct tb_report_pair){capture->job,
				(uint32_t)worst[i], congestion->pairs[worst[i]]};
	for (size_t i = 0; i < congestion->n_bins; i++)
		to->bins[to->n_bins++] = (struct tb_report_bin){
			capture->job, congestion->bin_ps, congestion->bins[i]};
	for (size_t i = 0; i < congestion->n_pauses; i++) {
		const struct tb_congestion_pause *pause = &congestion->pauses[i];
		to->pauses[to->n_pauses++] = (struct tb_report_pause){
			capture->job, *pause, congestion->pairs[pause->pair].source};
	}
	for (int i = 0; i < TB_CONGESTION_N; i++)
		to->all.of[i] += congestion->all.counts.of[i];
	tb_flow_times_add(&to->times, &congestion->all.times);
	free(worst);
	return worst ? TB_OK : TB_ENOMEM;
}

int tb_report_gather_congestion(struct tb_report *report)
{
	const struct tb_recorded_captures *from = &report->evidence.recorded;
	struct tb_report_congestion *to = &report->congestion;
	size_t n_pairs = 1, n_bins = 1, n_pauses = 1;
	for (size_t i = 0; i < from->n; i++) {
		n_pairs += from->rows[i].congestion->n_pairs;
		n_bins += from->rows[i].congestion->n_bins;
		n_pauses += from->rows[i].congestion->n_pauses;
	}
	to->pairs = malloc(n_pairs * sizeof *to->pairs);
	to->bins = malloc(n_bins * sizeof *to->bins);
	to->pauses = malloc(n_pauses * sizeof *to->pauses);
	int status = to->pairs && to->bins && to->pauses ? TB_OK : TB_ENOMEM;
	for (size_t i = 0; status == TB_OK && i < from->n; i++)
		status = gather_capture(report, &from->rows[i]);
	return status;
}

void tb_report_congestion_fini(struct tb_report_congestion *congestion)
{
	free(congestion->pairs);
	free(congestion->bins);
	free(congestion->pauses);
}

// A column of which there is nothing is not shown.
static void adapt_count(struct tb_column *column, const void *of)
{
	const struct tb_report *report = of;
	if (report->congestion.all.of[column->which] == 0)
		column->title = NULL;
}

// Nor is a part of the time that takes less than a per mille of it, nor any where none is
// known.
static void adapt_time(struct tb_column *column, const void *of)
{
	const struct tb_flow_times *all =
		&((const struct tb_report *)of)->congestion.times;
	uint64_t told_ps = tb_flow_told_ps(all);
	if (all->of_ps[column->which] <= told_ps / 1000)
		column->title = NULL;
}

static void adapt_payload(struct tb_column *column, const void *of)
{
	if (((const struct tb_report *)of)->congestion.times.payload_bytes == 0)
		column->title = NULL;
}

static void put_trip(struct tb_datum *at)
{
	const struct tb_report_pair *row = at->item;
	const struct tb_round_trips *trips =
		at->column->which ? &row->of.handshake : &row->of.acknowledged;
	at->unknown = trips->n == 0 || at->whole < 0;
}

static void put_pair_at_most(struct tb_datum *at)
{
	at->unknown = !((const struct tb_report_pause *)at->item)->of.rate_known;
}

#define PAIR(name)  TB_MEMBER(struct tb_report_pair, name)
#define BIN(name)   TB_MEMBER(struct tb_report_bin, name)
#define PAUSE(name) TB_MEMBER(struct tb_report_pause, name)
#define TRIP(key, title, meaning, name, handshake)                                       \
	{                                                                                \
		key, title, meaning, TB_DATUM_TIME, PAIR(of.name),                       \
			.put = put_trip, .flags = TB_COLUMN_NULL, .which = handshake     \
	}
#define OF_PAIR(NAME, key, title, meaning, one, kind)                                    \
	{key, title, meaning, TB_DATUM_##kind, PAIR(of.counts.of[TB_CONGESTION_##NAME]), \
		.adapt = adapt_count, .which = TB_CONGESTION_##NAME},
#define OF_BIN(NAME, key, title, meaning, one, kind)                                     \
	{key, NULL, meaning, TB_DATUM_##kind, BIN(of.counts.of[TB_CONGESTION_##NAME])},
#define OF_TIMES(NAME, key, title, meaning, one, kind)                                   \
	{key, title, meaning, TB_DATUM_##kind, PAIR(of.times.of_ps[TB_FLOW_##NAME]),     \
		.adapt = adapt_time, .which = TB_FLOW_##NAME},

static const struct tb_column pair_columns[] = {
	{"job", NULL, "The first of the captures", TB_DATUM_ID, PAIR(job)},
	{"pair", NULL, "Its number, by first appearance", TB_DATUM_ID, PAIR(pair)},
	{"source", "Source", "An endpoint; null: all pairs beyond those told apart",
		TB_DATUM_TEXT, PAIR(of.source), .flags = TB_COLUMN_NULL},
	{"destination", "Destination", "An endpoint", TB_DATUM_TEXT, PAIR(of.destination),
		.flags = TB_COLUMN_NULL},
	{"source_node", NULL, "Of the run; null: none", TB_DATUM_ID, PAIR(of.source_node),
		.flags = TB_COLUMN_NULL},
	{"destination_node", NULL, "Of the run; null: none", TB_DATUM_ID,
		PAIR(of.destination_node), .flags = TB_COLUMN_NULL},
	{"payload_bytes", "Payload", "Of TCP, without what was sent again", TB_DATUM_SIZE,
		PAIR(of.times.payload_bytes), .adapt = adapt_payload},
	{"lasted_ps", "Lasted",
		"Of TCP, from its first data to its last; the parts are of all "
		"connections together, 0 when captured in one direction",
		TB_DATUM_TIME, PAIR(of.times.lasted_ps), .adapt = adapt_payload},
	TB_FLOW_TIMES(OF_TIMES) TB_CONGESTION_FIGURES(OF_PAIR){"handshakes", NULL,
		"Connections that the source opened", TB_DATUM_COUNT,
		PAIR(of.handshake.n)},
	TRIP("handshake_least_ps", NULL, "Shortest round trip by handshake",
		handshake.least_ps, 1),
	TRIP("handshake_median_ps", NULL, "Median of these", handshake.median_ps, 1),
	TRIP("handshake_p95_ps", NULL, "95th percentile of these", handshake.p95_ps, 1),
	{"round_trips", NULL, "Round trips by acknowledgement of what the source sent",
		TB_DATUM_COUNT, PAIR(of.acknowledged.n)},
	TRIP("round_trip_least_ps", "Round trip", "The shortest of these",
		acknowledged.least_ps, 0),
	TRIP("round_trip_median_ps", "Median", "Of these, at most 1/32 off",
		acknowledged.median_ps, 0),
	TRIP("round_trip_p95_ps", "95th", "95th percentile of these, at most 1/32 off",
		acknowledged.p95_ps, 0),
};

const struct tb_table_type tb_list_recorded_pairs = {"recorded-pairs", "Recorded",
	"What the captures recorded of congestion, by ordered pair, worst first, and "
	"where "
	"flows of TCP spent their time; of pairs without any, the 16 that sent most.",
	TB_COLUMNS(pair_columns), TB_ROWS(struct tb_report, congestion.pairs),
	.n = TB_COUNT(struct tb_report, congestion.n_pairs), .what = "pairs",
	.remark = "What the capture shows of congestion, before any replay."};

static const struct tb_column pause_columns[] = {
	{"job", NULL, "The first of the captures", TB_DATUM_ID, PAUSE(job)},
	{"pair", NULL, "Its number in recorded_pairs", TB_DATUM_ID, PAUSE(of.pair)},
	{"source", "By", "Who sent the frames", TB_DATUM_TEXT, PAUSE(source),
		.flags = TB_COLUMN_NULL},
	{"class", "Class", "Of priority; 8: the whole port (IEEE 802.3x)", TB_DATUM_ID,
		PAUSE(of.class)},
	{"pauses", "Pauses", "How many", TB_DATUM_COUNT, PAUSE(of.n)},
	{"resumes", "Resumed", "How often it was let go on (0 quanta)", TB_DATUM_COUNT,
		PAUSE(of.n_resumes)},
	{"quanta", "Quanta", "For how long, in 512 bit times of the port, at most",
		TB_DATUM_COUNT, PAUSE(of.quanta)},
	{"at_most_ps", "At most", "The same at the port's rate; null: it is not known",
		TB_DATUM_TIME, PAUSE(of.at_most_ps), .put = put_pair_at_most,
		.flags = TB_COLUMN_NULL},
};

const struct tb_table_type tb_list_recorded_pauses = {"recorded-pauses",
	"Recorded pauses by class", "Pause frames of the captures, by sender and class.",
	TB_COLUMNS(pause_columns), TB_ROWS(struct tb_report, congestion.pauses),
	.n = TB_COUNT(struct tb_report, congestion.n_pauses), .what = "classes",
	.remark = "A frame asks for a pause at most: the next one may end it.",
	.brief = "Pauses"};

static const struct tb_column bin_columns[] = {
	{"job", NULL, "The first of the captures", TB_DATUM_ID, BIN(job)},
	{"pair", NULL, "Its number in recorded_pairs", TB_DATUM_ID, BIN(of.pair)},
	{"from_ps", NULL, "Since the first packet, before --time-scale", TB_DATUM_TIME,
		BIN(of.from_ps)},
	{"bin_ps", NULL, "Width of the bin", TB_DATUM_TIME, BIN(bin_ps)},
	TB_CONGESTION_FIGURES(OF_BIN)};

const struct tb_table_type tb_list_recorded_bins = {"recorded-bins", NULL,
	"The same over time: bins in which a pair had anything, by pair.",
	TB_COLUMNS(bin_columns), TB_ROWS(struct tb_report, congestion.bins),
	.n = TB_COUNT(struct tb_report, congestion.n_bins)};

// The figures of ranks, as recorded and as simulated.

static void put_known_percent(struct tb_datum *at, bool known, double percent)
{
	at->unknown = !known;
	at->real = percent;
}

static void put_rank_share(struct tb_datum *at, int64_t part_ps, int64_t whole_ps)
{
	bool known = whole_ps > 0;
	put_known_percent(
		at, known, known ? 100.0 * (double)part_ps / (double)whole_ps : 0);
}

static void put_rank_change(struct tb_datum *at, int64_t was_ps, int64_t is_ps)
{
	double percent = 0;
	bool known = tb_recorded_percent(was_ps, is_ps, &percent);
	put_known_percent(at, known, percent);
}

// put_recorded puts what does not depend on the run.
static void put_recorded(struct tb_datum *at, enum tb_rank_figure figure,
	const struct tb_recorded_row *row)
{
	if (figure == TB_RANK_JOB)
		at->whole = row->job;
	else if (figure == TB_RANK_NUMBER)
		at->whole = row->rank;
	else if (figure == TB_RANK_CALLS)
		at->whole = (int64_t)row->n;
	else if (figure == TB_RANK_RECORDED_END)
		at->whole = row->recorded_at_ps;
	else if (figure == TB_RANK_RECORDED)
		at->whole = row->recorded_ps;
	else
		put_rank_share(at, row->recorded_ps, row->recorded_at_ps);
}

void tb_put_rank(struct tb_datum *at)
{
	const struct tb_recorded_beside *item = at->item;
	const struct tb_recorded_row *row = item->sides[at->column->which % 2];
	enum tb_rank_figure figure = (enum tb_rank_figure)(at->column->which / 2);
	if (figure <= TB_RANK_RECORDED_SHARE)
		put_recorded(at, figure, item->sides[item->sides[0] == NULL]);
	else if (row) {
		if (figure == TB_RANK_SIMULATED_CALLS)
			at->whole = (int64_t)row->n_simulated;
		else if (figure == TB_RANK_SIMULATED_END)
			at->whole = row->simulated_at_ps;
		else if (figure == TB_RANK_END_CHANGE)
			put_rank_change(at, row->recorded_at_ps, row->simulated_at_ps);
		else if (figure == TB_RANK_SIMULATED)
			at->whole = row->simulated_ps;
		else if (figure == TB_RANK_CHANGE)
			put_rank_change(at, row->recorded_ps, row->simulated_ps);
		else
			put_rank_share(at, row->simulated_ps, row->simulated_at_ps);
	} else
		at->unknown = true;
}

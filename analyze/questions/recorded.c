#include "recorded.h"
#include "array.h"
#include "recorded_congestion.h"
#include "run_impl.h"
#include "stored_tables.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void free_list(struct tb_recorded_list *list)
{
	for (size_t i = 0; i < list->n; i++)
		free(list->rows[i].name);
	free(list->rows);
}

void tb_recorded_fini(struct tb_recorded *recorded)
{
	free_list(&recorded->jobs);
	free_list(&recorded->kinds);
	free_list(&recorded->ranks);
	free_list(&recorded->uncompared);
	free_list(&recorded->checks);
	free(recorded->beside);
	*recorded = (struct tb_recorded){.jobs = {.n = 0}};
}

#define RECORD struct tb_recorded_row
#define JOB    TB_COLUMN_AS(TB_STORED_JOB, "job", job)
static const struct tb_stored_table recorded_jobs = TB_STORED_TABLE("recorded_job",
	RECORD, JOB, TB_COLUMN("unit", name), TB_COLUMN("compared", n),
	TB_COLUMN("compared", n_simulated), TB_COLUMN("recorded_ps", recorded_ps),
	TB_COLUMN("simulated_ps", simulated_ps),
	TB_COLUMN("coalesce(bytes_per_s, 0)", bytes_per_s));
static const struct tb_stored_table recorded_kinds = TB_STORED_TABLE("recorded_kind",
	RECORD, JOB, TB_COLUMN("kind", name), TB_COLUMN("calls", n),
	TB_COLUMN("bytes", bytes), TB_COLUMN("simulated_calls", n_simulated),
	TB_COLUMN("recorded_ps", recorded_ps),
	TB_COLUMN("coalesce(simulated_ps, 0)", simulated_ps),
	TB_COLUMN("recorded_median_ps", recorded_at_ps),
	TB_COLUMN("coalesce(simulated_median_ps, 0)", simulated_at_ps),
	TB_COLUMN("simulated_ps IS NULL", unmodelled));
static const struct tb_stored_table recorded_ranks = TB_STORED_TABLE("recorded_rank",
	RECORD, JOB, TB_COLUMN("rank", rank), TB_COLUMN("''", name),
	TB_COLUMN("calls", n), TB_COLUMN("simulated_calls", n_simulated),
	TB_COLUMN("recorded_ps", recorded_ps), TB_COLUMN("simulated_ps", simulated_ps),
	TB_COLUMN("recorded_end_ps", recorded_at_ps),
	TB_COLUMN("simulated_end_ps", simulated_at_ps));
static const struct tb_stored_table uncompared = TB_STORED_TABLE(
	"uncompared", RECORD, JOB, TB_COLUMN("reason", name), TB_COLUMN("calls", n));
static const struct tb_stored_table checks = TB_STORED_TABLE("capture_check", RECORD, JOB,
	TB_COLUMN("''", name), TB_COLUMN("recorded_ps", recorded_ps),
	TB_COLUMN("simulated_ps", simulated_ps),
	TB_COLUMN("recorded_message_ps", recorded_at_ps),
	TB_COLUMN("simulated_message_ps", simulated_at_ps),
	TB_COLUMN("bytes_per_s", bytes_per_s),
	TB_COLUMN_AS(TB_STORED_BIG_REAL, "node_percent", node_percent));
#undef RECORD

int tb_recorded_init(
	struct tb_recorded *recorded, struct tb_run *run, struct tb_error *error)
{
	const struct {
		struct tb_recorded_list *list;
		const struct tb_stored_table *table;
		const char *from;
	} lists[] = {
		{&recorded->jobs, &recorded_jobs,
			"recorded_job WHERE run = ?1 ORDER BY job"},
		{&recorded->kinds, &recorded_kinds,
			"recorded_kind AS k WHERE run = ?1 ORDER BY job, k.recorded_ps "
			"DESC, kind"},
		{&recorded->ranks, &recorded_ranks,
			"recorded_rank WHERE run = ?1 ORDER BY job, rank"},
		{&recorded->uncompared, &uncompared,
			"uncompared WHERE run = ?1 ORDER BY job, calls DESC, reason"},
		{&recorded->checks, &checks, "capture_check WHERE run = ?1 ORDER BY job"},
	};
	int status = TB_OK;
	*recorded = (struct tb_recorded){.jobs = {.n = 0}};
	for (size_t i = 0; i < sizeof lists / sizeof *lists && !status; i++) {
		struct tb_row_reader rows =
			tb_run_read(run, lists[i].table, lists[i].from, error);
		status = tb_row_read_all(&rows, &lists[i].list->rows, &lists[i].list->n,
			&lists[i].list->room, "what was recorded");
	}
	static const struct tb_recorded none;
	size_t n;
	if (!status && tb_recorded_put_beside(&recorded->beside, &n, recorded, &none))
		status = tb_fail_memory_in(error, run->path, "what was recorded");
	if (status)
		tb_recorded_fini(recorded);
	return status;
}

// order_recorded_rows returns which of two ranks comes first: negative for the first.
static int order_recorded_rows(
	const struct tb_recorded_row *a, const struct tb_recorded_row *b)
{
	if (a->job != b->job)
		return a->job < b->job ? -1 : 1;
	return a->rank < b->rank ? -1 : a->rank > b->rank;
}

int tb_recorded_put_beside(struct tb_recorded_beside **rows, size_t *n,
	const struct tb_recorded *a, const struct tb_recorded *b)
{
	const struct tb_recorded_list *left = &a->ranks, *right = &b->ranks;
	size_t i = 0, k = 0, n_made = 0;
	struct tb_recorded_beside *made = calloc(left->n + right->n + 1, sizeof *made);
	if (!made)
		return TB_ENOMEM;
	while (i < left->n || k < right->n) {
		const struct tb_recorded_row *at = i < left->n ? &left->rows[i] : NULL;
		const struct tb_recorded_row *to = k < right->n ? &right->rows[k] : NULL;
		bool same = at && to &&
			    (order_recorded_rows(at, to) == 0 && at->n == to->n &&
				    at->recorded_ps == to->recorded_ps &&
				    at->recorded_at_ps == to->recorded_at_ps);
		bool is_left = at && (!to || order_recorded_rows(at, to) <= 0);
		made[n_made++] = (struct tb_recorded_beside){
			{is_left ? at : NULL, same || !is_left ? to : NULL}};
		i += is_left;
		k += same || !is_left;
	}
	*rows = made;
	*n = n_made;
	return TB_OK;
}

bool tb_recorded_percent(int64_t recorded, int64_t simulated, double *percent)
{
	if (recorded <= 0)
		return false;
	*percent = 100.0 * ((double)simulated / (double)recorded - 1);
	return true;
}

char *tb_recorded_sentence(const struct tb_recorded_row *job, char *buffer, size_t size)
{
	char time[2][32], rate[32], share[40] = "", where[96];
	double percent;
	bool is_open = strcmp(job->name, "packet") == 0;
	if (!is_open &&
		tb_recorded_percent(job->recorded_ps, job->simulated_ps, &percent))
		snprintf(share, sizeof share, " (%+.1f %%)", percent);
	if (is_open)
		snprintf(where, sizeof where,
			"frames are posted when they were captured, by the time scale");
	else if (job->bytes_per_s)
		snprintf(where, sizeof where, "it was recorded at %s a port (estimated)",
			tb_format_rate((double)job->bytes_per_s, rate, sizeof rate));
	else
		snprintf(where, sizeof where,
			"the trace does not say on which network it was recorded");
	snprintf(buffer, size, "%s%s, simulated %s%s; %s",
		tb_format_time(job->recorded_ps, time[0], 32),
		is_open || job->bytes_per_s ? "" : " until the last call returned",
		tb_format_time(job->simulated_ps, time[1], 32), share, where);
	return buffer;
}

char *tb_recorded_check_sentence(
	const struct tb_recorded_row *check, char *buffer, size_t size)
{
	char rate[32], time[4][32];
	double percent = 0;
	tb_recorded_percent(check->recorded_ps, check->simulated_ps, &percent);
	if (check->recorded_at_ps == 0) { // of calls
		snprintf(buffer, size,
			"on the network on which it was recorded, of %s a port, the "
			"replay takes %s, recorded were %s (%+.1f %%); ranks end %.1f %% "
			"off on average",
			tb_format_rate((double)check->bytes_per_s, rate, sizeof rate),
			tb_format_time(check->simulated_ps, time[0], sizeof time[0]),
			tb_format_time(check->recorded_ps, time[1], sizeof time[1]),
			percent, check->node_percent);
		return buffer;
	}
	snprintf(buffer, size,
		"at the captured %s the replay takes %s, captured were %s (%+.1f %%); "
		"nodes end %.1f %% off on average; a message takes %s from its first "
		"byte on the wire until it is delivered, captured were %s from its "
		"first frame to its last (nothing where it is one frame)",
		tb_format_rate((double)check->bytes_per_s, rate, sizeof rate),
		tb_format_time(check->simulated_ps, time[0], sizeof time[0]),
		tb_format_time(check->recorded_ps, time[1], sizeof time[1]), percent,
		check->node_percent,
		tb_format_time(check->simulated_at_ps, time[2], sizeof time[2]),
		tb_format_time(check->recorded_at_ps, time[3], sizeof time[3]));
	return buffer;
}

void tb_recorded_captures_fini(struct tb_recorded_captures *captures)
{
	for (size_t i = 0; i < captures->n; i++)
		tb_congestion_free(captures->rows[i].congestion);
	free(captures->rows);
	*captures = (struct tb_recorded_captures){.n = 0};
}

// capture_of returns the table of a job; NULL when there is none.
static struct tb_congestion *capture_of(
	const struct tb_recorded_captures *captures, uint32_t job)
{
	for (size_t i = 0; i < captures->n; i++)
		if (captures->rows[i].job == job)
			return captures->rows[i].congestion;
	return NULL;
}

// What each of these adds is a row of its table: TB_OK, TB_ENOMEM, or TB_EFORMAT for one
// that makes no sense.
static int add_recorded_capture(struct tb_recorded_captures *captures,
	struct tb_congestion_row *row, int64_t number)
{
	(void)number;
	struct tb_congestion *new = calloc(1, sizeof *new);
	if (!new || TB_ARRAY_RESERVE(&captures->rows, &captures->room, captures->n + 1) !=
			    TB_OK) {
		free(new);
		return TB_ENOMEM;
	}
	captures->rows[captures->n++] = (struct tb_recorded_capture){row->job, new};
	new->bin_ps = row->bin.from_ps;
	new->all = (struct tb_congestion_pair){.source_node = TB_ID_NONE,
		.destination_node = TB_ID_NONE,
		.handshake = row->pair.handshake,
		.acknowledged = row->pair.acknowledged};
	return row->bin.from_ps > INT64_MAX / 2 ? TB_EFORMAT : TB_OK;
}

static int add_pair(struct tb_recorded_captures *captures, struct tb_congestion_row *row,
	int64_t number)
{
	struct tb_congestion *to = capture_of(captures, row->job);
	size_t room = to ? to->n_pairs : 0;
	if (!to || TB_ARRAY_RESERVE(&to->pairs, &room, to->n_pairs + 1) != TB_OK) {
		free(row->pair.source);
		free(row->pair.destination);
		return to ? TB_ENOMEM : TB_OK;
	}
	bool follows = number >= 0 && (size_t)number == to->n_pairs;
	to->pairs[to->n_pairs++] = row->pair;
	for (int i = 0; i < TB_CONGESTION_N; i++)
		to->all.counts.of[i] += row->pair.counts.of[i];
	tb_flow_times_add(&to->all.times, &row->pair.times);
	for (int i = 0; i < TB_FLOW_TIME_N; i++)
		follows &= row->pair.times.of_ps[i] <= INT64_MAX / TB_FLOW_TIME_N;
	return follows ? TB_OK : TB_EFORMAT;
}

static int add_captured_bin(struct tb_recorded_captures *captures,
	struct tb_congestion_row *row, int64_t number)
{
	struct tb_congestion *to = capture_of(captures, row->job);
	size_t room = to ? to->n_bins : 0;
	(void)number;
	if (!to)
		return TB_OK;
	if (TB_ARRAY_RESERVE(&to->bins, &room, to->n_bins + 1) != TB_OK)
		return TB_ENOMEM;
	to->bins[to->n_bins++] = row->bin;
	return row->bin.pair < to->n_pairs && row->bin.from_ps <= INT64_MAX / 2
		       ? TB_OK
		       : TB_EFORMAT;
}

static int add_pause(struct tb_recorded_captures *captures, struct tb_congestion_row *row,
	int64_t number)
{
	struct tb_congestion *to = capture_of(captures, row->job);
	size_t room = to ? to->n_pauses : 0;
	(void)number;
	if (!to)
		return TB_OK;
	if (TB_ARRAY_RESERVE(&to->pauses, &room, to->n_pauses + 1) != TB_OK)
		return TB_ENOMEM;
	row->pause.rate_known = row->at_most_ps >= 0;
	row->pause.at_most_ps = row->at_most_ps >= 0 ? (uint64_t)row->at_most_ps : 0;
	to->pauses[to->n_pauses++] = row->pause;
	return row->pause.pair < to->n_pairs &&
			       row->pause.class <= TB_CONGESTION_WHOLE_PORT
		       ? TB_OK
		       : TB_EFORMAT;
}

// The tables, in the order in which they are read.
static const struct {
	const struct tb_stored_table *table;
	const char *from;
	int (*add)(struct tb_recorded_captures *captures, struct tb_congestion_row *row,
		int64_t number);
} recorded_tables[] = {
	{&tb_recorded_captures_stored, "recorded_capture WHERE run = ?1 ORDER BY job",
		add_recorded_capture},
	{&tb_recorded_pairs_stored, "recorded_pair WHERE run = ?1 ORDER BY job, pair",
		add_pair},
	{&tb_recorded_bins_stored,
		"recorded_bin WHERE run = ?1 ORDER BY job, pair, from_ps",
		add_captured_bin},
	{&tb_recorded_pauses_stored,
		"recorded_pause WHERE run = ?1 ORDER BY job, pair, class", add_pause},
};

static int read_table(struct tb_recorded_captures *captures, struct tb_run *run, size_t i,
	struct tb_error *error)
{
	struct tb_row_reader rows = tb_run_read(
		run, recorded_tables[i].table, recorded_tables[i].from, error);
	struct tb_congestion_row row = {0};
	while (tb_row_read(&rows, &row)) {
		int status = recorded_tables[i].add(captures, &row, rows.number);
		if (status == TB_ENOMEM)
			tb_row_no_memory(&rows, "what was recorded");
		else if (status)
			tb_row_damaged(&rows);
	}
	return tb_row_reader_end(&rows);
}

int tb_recorded_captures_init(
	struct tb_recorded_captures *captures, struct tb_run *run, struct tb_error *error)
{
	int status = TB_OK;
	*captures = (struct tb_recorded_captures){.n = 0};
	for (size_t i = 0;
		!status && i < sizeof recorded_tables / sizeof *recorded_tables; i++)
		status = read_table(captures, run, i, error);
	if (status)
		tb_recorded_captures_fini(captures);
	return status;
}

const char *const tb_recorded_lane_names[TB_RECORDED_LANES] = {
	[TB_LANE_LOST] = "sent again",
	[TB_LANE_WINDOWS] = "windows",
	[TB_LANE_MARKS] = "marks",
	[TB_LANE_PAUSES] = "pauses",
};

uint64_t tb_recorded_lane_of(
	const struct tb_congestion_counts *counts, enum tb_recorded_lane lane)
{
	const uint64_t *of = counts->of;
	switch (lane) {
	case TB_LANE_LOST:
		return of[TB_CONGESTION_RETRANSMISSIONS];
	case TB_LANE_WINDOWS:
		return of[TB_CONGESTION_CLOSED_PS] + of[TB_CONGESTION_LIMITED_PS];
	case TB_LANE_MARKS:
		return of[TB_CONGESTION_MARKED] + of[TB_CONGESTION_CNPS];
	case TB_LANE_PAUSES:
		return of[TB_CONGESTION_PAUSES];
	case TB_RECORDED_LANES:
		break;
	}
	return 0;
}

int tb_recorded_lanes(struct tb_run *run, uint32_t *n_lanes, struct tb_error *error)
{
	int64_t n = 0;
	int status = tb_sql_number(run->db, run->path,
		"SELECT coalesce(max(retransmissions > 0), 0) + "
		"coalesce(max(zero_window_ps > 0 OR window_limited_ps > 0), 0) + "
		"coalesce(max(marked > 0 OR cnps > 0), 0) + coalesce(max(pauses > 0), 0) "
		"FROM recorded_pair WHERE run = ?1",
		run->record.info.id, &n, error);
	if (!status)
		*n_lanes = (uint32_t)n;
	return status;
}

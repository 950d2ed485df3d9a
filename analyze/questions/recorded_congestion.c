#include "recorded_congestion.h"

#include "array.h"
#include "run_impl.h"

#include <stdio.h>
#include <stdlib.h>

void tb_recorded_captures_fini(struct tb_recorded_captures *captures)
{
	for (size_t i = 0; i < captures->n; i++)
		tb_congestion_free(captures->rows[i].congestion);
	free(captures->rows);
	*captures = (struct tb_recorded_captures){.n = 0};
}

static int64_t known(struct tb_run_row *row, int column)
{
	return sqlite3_column_type(row->query, column) == SQLITE_NULL
		       ? -1
		       : (int64_t)tb_run_get(row, column, INT64_MAX);
}

static struct tb_round_trips get_round_trips(struct tb_run_row *row, int column)
{
	return (struct tb_round_trips){.n = tb_run_get(row, column, INT64_MAX),
		.least_ps = known(row, column + 1),
		.median_ps = known(row, column + 2),
		.p95_ps = known(row, column + 3)};
}

static void get_counts(
	struct tb_run_row *row, int column, struct tb_congestion_counts *counts)
{
	for (int i = 0; i < TB_CONGESTION_N; i++)
		counts->of[i] = tb_run_get(row, column + i, INT64_MAX);
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

// What each of these takes up is a row of its table, from the column of the job on.
static int take_capture(
	struct tb_recorded_captures *captures, struct tb_run_row *row, uint32_t n_nodes)
{
	(void)n_nodes;
	if (TB_ARRAY_RESERVE(&captures->rows, &captures->room, captures->n + 1) != TB_OK)
		return TB_ENOMEM;
	struct tb_congestion *new = calloc(1, sizeof *new);
	if (!new)
		return TB_ENOMEM;
	captures->rows[captures->n++] =
		(struct tb_recorded_capture){tb_run_get32(row, 0, UINT32_MAX), new};
	new->bin_ps = (tb_time_ps)tb_run_get(row, 1, INT64_MAX / 2);
	new->all = (struct tb_congestion_pair){.source_node = TB_ID_NONE,
		.destination_node = TB_ID_NONE,
		.handshake = get_round_trips(row, 2),
		.acknowledged = get_round_trips(row, 6)};
	return TB_OK;
}

static uint32_t get_captured_node(struct tb_run_row *row, int column, uint32_t n_nodes)
{
	return sqlite3_column_type(row->query, column) == SQLITE_NULL
		       ? TB_ID_NONE
		       : tb_run_get_id(row, column, n_nodes);
}

static int take_captured_pair(
	struct tb_recorded_captures *captures, struct tb_run_row *row, uint32_t n_nodes)
{
	struct tb_congestion *to = capture_of(captures, tb_run_get32(row, 0, UINT32_MAX));
	size_t room = to ? to->n_pairs : 0;
	if (!to)
		return TB_OK;
	// They are numbered from 0 on.
	row->bad |= tb_run_get(row, 1, UINT32_MAX) != to->n_pairs;
	if (TB_ARRAY_RESERVE(&to->pairs, &room, to->n_pairs + 1) != TB_OK)
		return TB_ENOMEM;
	struct tb_congestion_pair *pair = &to->pairs[to->n_pairs++];
	*pair = (struct tb_congestion_pair){
		.source_node = get_captured_node(row, 4, n_nodes),
		.destination_node = get_captured_node(row, 5, n_nodes),
		.handshake = get_round_trips(row, 6 + TB_CONGESTION_N),
		.acknowledged = get_round_trips(row, 10 + TB_CONGESTION_N)};
	get_counts(row, 6, &pair->counts);
	for (int i = 0; i < TB_CONGESTION_N; i++)
		to->all.counts.of[i] += pair->counts.of[i];
	if (sqlite3_column_type(row->query, 2) == SQLITE_NULL)
		return TB_OK;
	pair->source = tb_run_get_text(row, 2);
	pair->destination = tb_run_get_text(row, 3);
	return pair->source && pair->destination ? TB_OK : TB_ENOMEM;
}

static int take_bin(
	struct tb_recorded_captures *captures, struct tb_run_row *row, uint32_t n_nodes)
{
	(void)n_nodes;
	struct tb_congestion *to = capture_of(captures, tb_run_get32(row, 0, UINT32_MAX));
	size_t room = to ? to->n_bins : 0;
	if (!to)
		return TB_OK;
	if (TB_ARRAY_RESERVE(&to->bins, &room, to->n_bins + 1) != TB_OK)
		return TB_ENOMEM;
	struct tb_congestion_bin *bin = &to->bins[to->n_bins++];
	bin->pair = tb_run_get_id(row, 1, (uint32_t)to->n_pairs);
	bin->from_ps = (tb_time_ps)tb_run_get(row, 2, INT64_MAX / 2);
	get_counts(row, 3, &bin->counts);
	return TB_OK;
}

static int take_pause(
	struct tb_recorded_captures *captures, struct tb_run_row *row, uint32_t n_nodes)
{
	(void)n_nodes;
	struct tb_congestion *to = capture_of(captures, tb_run_get32(row, 0, UINT32_MAX));
	size_t room = to ? to->n_pauses : 0;
	if (!to)
		return TB_OK;
	if (TB_ARRAY_RESERVE(&to->pauses, &room, to->n_pauses + 1) != TB_OK)
		return TB_ENOMEM;
	int64_t at_most_ps = known(row, 6);
	to->pauses[to->n_pauses++] = (struct tb_congestion_pause){
		.pair = tb_run_get_id(row, 1, (uint32_t)to->n_pairs),
		.class = tb_run_get_id(row, 2, TB_CONGESTION_WHOLE_PORT + 1),
		.n = tb_run_get(row, 3, INT64_MAX),
		.n_resumes = tb_run_get(row, 4, INT64_MAX),
		.quanta = tb_run_get(row, 5, INT64_MAX),
		.rate_known = at_most_ps >= 0,
		.at_most_ps = at_most_ps >= 0 ? (uint64_t)at_most_ps : 0};
	return TB_OK;
}

// The tables, in the order in which they are read. Their columns but the run are those of
// schemas/results.sql.
static const struct {
	const char *table, *columns, *order;
	bool counts, round_trips;
	int (*take)(struct tb_recorded_captures *captures, struct tb_run_row *row,
		uint32_t n_nodes);
} recorded_tables[] = {
	{"recorded_capture", "job, bin_ps", "job", false, true, take_capture},
	{"recorded_pair", "job, pair, source, destination, source_node, destination_node",
		"job, pair", true, true, take_captured_pair},
	{"recorded_bin", "job, pair, from_ps", "job, pair, from_ps", true, false,
		take_bin},
	{"recorded_pause", "job, pair, class, pauses, resumes, quanta, at_most_ps",
		"job, pair, class", false, false, take_pause},
};

static int read_table(struct tb_recorded_captures *captures, struct tb_run *run, size_t i,
	struct tb_error *error)
{
	char *sql = NULL;
	size_t size;
	FILE *stream = open_memstream(&sql, &size);
	struct tb_run_row row;
	if (!stream)
		return tb_fail_memory_in(error, run->path, "what was recorded");
	fprintf(stream, "SELECT %s", recorded_tables[i].columns);
	for (int k = 0; recorded_tables[i].counts && k < TB_CONGESTION_N; k++)
		fprintf(stream, ", %s", tb_congestion_names[k].key);
	if (recorded_tables[i].round_trips)
		fputs(", handshakes, handshake_least_ps, handshake_median_ps, "
		      "handshake_p95_ps, round_trips, round_trip_least_ps, "
		      "round_trip_median_ps, round_trip_p95_ps",
			stream);
	fprintf(stream, " FROM %s WHERE run = ?1 ORDER BY %s", recorded_tables[i].table,
		recorded_tables[i].order);
	if (fclose(stream) != 0) {
		free(sql);
		return tb_fail_memory_in(error, run->path, "what was recorded");
	}
	int status = tb_run_query(run, sql, &row, error);
	free(sql);
	if (status)
		return status;
	while ((status = tb_run_next(run, recorded_tables[i].table, &row, error)) > 0)
		if (recorded_tables[i].take(captures, &row, tb_run_info(run)->n_nodes) !=
			TB_OK) {
			status = tb_fail_memory_in(error, run->path, "what was recorded");
			break;
		}
	sqlite3_finalize(row.query);
	return status;
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
	struct tb_run_row row;
	int status = tb_run_query(run,
		"SELECT coalesce(max(retransmissions > 0), 0) + "
		"coalesce(max(zero_window_ps > 0 OR window_limited_ps > 0), 0) + "
		"coalesce(max(marked > 0 OR cnps > 0), 0) + coalesce(max(pauses > 0), 0) "
		"FROM recorded_pair WHERE run = ?1",
		&row, error);
	if (status)
		return status;
	status = tb_run_next(run, "recorded_pair", &row, error);
	if (status > 0)
		*n_lanes = tb_run_get32(&row, 0, TB_RECORDED_LANES);
	sqlite3_finalize(row.query);
	return status < 0 ? status : TB_OK;
}

#include "recorded_congestion.h"

#include "array.h"
#include "run_impl.h"
#include "stored_tables.h"

#include <stdlib.h>

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
static int add_capture(struct tb_recorded_captures *captures,
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
	return follows ? TB_OK : TB_EFORMAT;
}

static int add_bin(struct tb_recorded_captures *captures, struct tb_congestion_row *row,
	int64_t number)
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
		add_capture},
	{&tb_recorded_pairs_stored, "recorded_pair WHERE run = ?1 ORDER BY job, pair",
		add_pair},
	{&tb_recorded_bins_stored,
		"recorded_bin WHERE run = ?1 ORDER BY job, pair, from_ps", add_bin},
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

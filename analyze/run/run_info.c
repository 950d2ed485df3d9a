#include "run_impl.h"

#include "array.h"
#include "store.h"
#include "visible.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

uint64_t tb_run_get(struct tb_run_row *row, int column, uint64_t max)
{
	// Asking for the value once is a third quicker than for type and number in turn.
	sqlite3_value *found = sqlite3_column_value(row->query, column);
	int64_t value = sqlite3_value_int64(found);
	if (sqlite3_value_type(found) == SQLITE_INTEGER && value >= 0 &&
		(uint64_t)value <= max)
		return (uint64_t)value;
	row->bad = true;
	return 0;
}

uint32_t tb_run_get_id(struct tb_run_row *row, int column, uint32_t n)
{
	if (n == 0)
		row->bad = true;
	return n ? tb_run_get32(row, column, n - 1) : 0;
}

uint32_t tb_run_get_id_or_none(struct tb_run_row *row, int column, uint32_t n)
{
	return sqlite3_column_int64(row->query, column) == -1
		       ? TB_ID_NONE
		       : tb_run_get_id(row, column, n);
}

static double get_real(struct tb_run_row *row, int column)
{
	double value = sqlite3_column_double(row->query, column);
	if (value >= 0 && value <= 1e18)
		return value;
	row->bad = true;
	return 0;
}

char *tb_run_get_text(struct tb_run_row *row, int column)
{
	const unsigned char *from = sqlite3_column_text(row->query, column);
	char *text = strdup(from ? (const char *)from : "");
	if (!text)
		return NULL;
	for (char *at = text; (at = strpbrk(at, "\t\r\n"));)
		*at = ' ';
	char *shown = tb_visible_dup(text);
	free(text);
	return shown;
}

int tb_run_damaged(const char *path, const char *table, struct tb_error *error)
{
	return tb_fail_in(error, TB_EFORMAT, path,
		"is damaged: a value in its table '%s' is out of range", table);
}

void tb_run_record_fini(struct tb_run_record *record)
{
	for (int i = 0; i < record->n_texts; i++)
		free(record->texts[i]);
	for (size_t i = 0; i < record->info.n_others; i++) {
		free(record->others[i].key);
		free(record->others[i].text);
	}
	free(record->others);
	tb_run_notes_fini(record);
	*record = (struct tb_run_record){0};
}

// Columns in the order in which load_row reads them.
#define SELECT_RUN                                                                       \
	"SELECT r.run, complete, simulated_ps, n_messages, n_packets, delivered_bytes, " \
	"bin_ps, input_bytes, time_scale, seed, n_nodes, n_switches, n_links, "          \
	"n_levels, n_jobs, wall_s, n_undelivered, n_retries, n_messages_kept, "          \
	"n_lost, n_resent, (SELECT max(bin) FROM bin_total AS b WHERE b.run = r.run), "  \
	"g.least_ps, g.most_ps, g.calls, g.hidden, g.untold, f.compute_ps, "             \
	"f.closed_ps, f.ideal_ps, "                                                      \
	"switching, leads, "                                                             \
	"network, input_name, "                                                          \
	"input_kind, input_digest, options, "                                            \
	"program_version, started_at, host, input_summary "                              \
	"FROM run AS r LEFT JOIN run_environment AS e ON e.run = r.run "                 \
	"LEFT JOIN run_range AS g ON g.run = r.run "                                     \
	"LEFT JOIN run_bound AS f ON f.run = r.run "

enum { LAST_BIN = 21, RANGE = 22, BOUND = 27, SWITCHING = 30, LEADS, FIRST_TEXT };

// get_bins works the number of bins out: idle ones at the end have no row, and a run that
// is being written has rows after the simulated time last stored.
static void get_bins(struct tb_run_row *row, struct tb_run_info *info)
{
	info->bin_ps = (tb_time_ps)tb_run_get(row, 6, INT64_MAX);
	if (info->bin_ps > 0 && info->simulated_ps > 0)
		info->n_bins = (uint64_t)((info->simulated_ps - 1) / info->bin_ps) + 1;
	if (sqlite3_column_type(row->query, LAST_BIN) != SQLITE_NULL) {
		uint64_t last = tb_run_get(row, LAST_BIN, TB_BINS_MAX - 1);
		if (info->n_bins <= last)
			info->n_bins = last + 1;
	}
	// So that the time of a bin's end always fits.
	if (info->n_bins > TB_BINS_MAX || (info->n_bins && !info->bin_ps) ||
		(info->n_bins && info->bin_ps > INT64_MAX / (int64_t)info->n_bins))
		row->bad = true;
}

static void get_range(struct tb_run_row *row, struct tb_run_info *info)
{
	if (sqlite3_column_type(row->query, RANGE) == SQLITE_NULL)
		return;
	info->least_ps = (tb_time_ps)tb_run_get(row, RANGE, INT64_MAX);
	info->most_ps = (tb_time_ps)tb_run_get(row, RANGE + 1, INT64_MAX);
	info->n_calls = tb_run_get(row, RANGE + 2, INT64_MAX);
	info->n_hidden = tb_run_get(row, RANGE + 3, info->n_calls);
	info->n_untold = tb_run_get(row, RANGE + 4, info->n_calls);
	row->bad |= info->least_ps > info->most_ps;
}

static void get_bound(struct tb_run_row *row, struct tb_run_info *info)
{
	if (sqlite3_column_type(row->query, BOUND) == SQLITE_NULL)
		return;
	info->has_bound = true;
	info->ideal_ps =
		(tb_time_ps)tb_run_get(row, BOUND + 2, (uint64_t)info->simulated_ps);
	info->compute_ps = (tb_time_ps)tb_run_get(row, BOUND, (uint64_t)info->ideal_ps);
	info->closed_ps = (tb_time_ps)tb_run_get(
		row, BOUND + 1, (uint64_t)(info->ideal_ps - info->compute_ps));
}

static void get_numbers(struct tb_run_row *row, struct tb_run_info *info)
{
	info->id = (int64_t)tb_run_get(row, 0, INT64_MAX);
	info->complete = tb_run_get(row, 1, 1) == 1;
	info->simulated_ps = (tb_time_ps)tb_run_get(row, 2, INT64_MAX);
	info->n_messages = tb_run_get(row, 3, INT64_MAX);
	info->n_packets = tb_run_get(row, 4, INT64_MAX);
	info->delivered_bytes = tb_run_get(row, 5, INT64_MAX);
	get_bins(row, info);
	info->input_bytes = tb_run_get(row, 7, INT64_MAX);
	info->time_scale = get_real(row, 8);
	const char *seed = (const char *)sqlite3_column_text(row->query, 9);
	info->seed = seed ? strtoull(seed, NULL, 10) : 0;
	info->n_nodes = tb_run_get32(row, 10, TB_ID_NONE - 1);
	info->n_switches = tb_run_get32(row, 11, TB_ID_NONE - 1);
	info->n_links = tb_run_get32(row, 12, TB_ID_NONE - 1);
	info->n_levels = tb_run_get32(row, 13, TB_ID_NONE - 1);
	info->n_jobs = tb_run_get32(row, 14, TB_ID_NONE - 1);
	info->wall_s = get_real(row, 15); // NULL reads as 0
	info->n_undelivered = tb_run_get(row, 16, INT64_MAX);
	info->n_retries = tb_run_get(row, 17, INT64_MAX);
	info->n_messages_kept = tb_run_get(row, 18, info->n_messages);
	info->n_lost = tb_run_get(row, 19, INT64_MAX);
	info->n_resent = tb_run_get(row, 20, INT64_MAX);
	get_range(row, info);
	get_bound(row, info);
	if (info->wall_s > 1e-9)
		info->packets_per_s = (double)info->n_packets / info->wall_s;
}

// get_texts returns false when there is no memory.
static bool get_texts(struct tb_run_row *row, struct tb_run_record *record)
{
	struct tb_run_info *info = &record->info;
	const char **const fields[TB_RUN_TEXTS] = {&info->network_name, &info->input_name,
		&info->input_kind, &info->input_digest, &info->options,
		&info->program_version, &info->started_at, &info->host,
		&info->input_summary};
	for (int i = 0; i < TB_RUN_TEXTS; i++) {
		char *text = tb_run_get_text(row, FIRST_TEXT + i);
		if (!text)
			return false;
		record->texts[record->n_texts++] = text;
		*fields[i] = text;
	}
	return true;
}

// get_switching reads which keys and which meaning the rest has.
static int get_switching(struct tb_run_row *row, const char *path,
	struct tb_run_info *info, struct tb_error *error)
{
	struct tb_network_params *network = &info->network;
	char *name = tb_run_get_text(row, SWITCHING);
	if (!name)
		return tb_fail_memory_in(error, path, "a run");
	int status = TB_OK;
	snprintf(network->switching, sizeof network->switching, "%s", name);
	if (!tb_switching_words(network))
		status = tb_fail_in(error, TB_EVERSION, path,
			"its run %" PRId64 " is of a network with switching = %s, which "
			"this Tailback does not have",
			info->id, name);
	snprintf(network->name, sizeof network->name, "%s", info->network_name);
	free(name);
	return status;
}

// What is said about waits that counters measured.
static const struct tb_switching_words measured_words = {"virtual lanes",
	"room ahead, by the counters of the sending port", "no room ahead",
	"what they waited for", "the sending port could not send", "Not known",
	"Not known", "that wanted the link"};

bool tb_run_is_measured(const struct tb_run_info *info)
{
	return strcmp(info->input_kind, TB_MEASURED_KIND) == 0;
}

// load_row reads the row of `query` and what other tables have about its run.
static int load_row(sqlite3_stmt *query, const char *path, struct tb_run_record *record,
	struct tb_error *error)
{
	struct tb_run_row row = {.query = query};
	struct tb_run_record loaded = {0};
	int status = TB_OK;
	get_numbers(&row, &loaded.info);
	if (!get_texts(&row, &loaded))
		status = tb_fail_memory_in(error, path, "a run");
	if (!status && row.bad)
		status = tb_run_damaged(path, "run", error);
	if (!status)
		status = get_switching(&row, path, &loaded.info, error);
	const char *leads = (const char *)sqlite3_column_text(query, LEADS);
	loaded.info.leads = leads && strcmp(leads, tb_wait_lead_words[TB_LEADS_FOR]) == 0
				    ? TB_WAIT_FOR
				    : TB_CAME_BY;
	loaded.info.wait = loaded.info.leads;
	if (!status)
		status = tb_run_parameters_load(
			sqlite3_db_handle(query), path, &loaded, error);
	if (!status)
		status =
			tb_run_notes_load(sqlite3_db_handle(query), path, &loaded, error);
	if (status) {
		tb_run_record_fini(&loaded);
		return status;
	}
	loaded.info.words = tb_run_is_measured(&loaded.info)
				    ? &measured_words
				    : tb_switching_words(&loaded.info.network);
	*record = loaded;
	return TB_OK;
}

// no_such_run names the runs that the store has.
static int no_such_run(sqlite3 *db, const char *path, int64_t id, struct tb_error *error)
{
	sqlite3_stmt *query = NULL;
	int64_t newest = 0;
	int status = tb_sql_prepare(db, path, "SELECT max(run) FROM run", &query, error);
	if (status)
		return status;
	if (sqlite3_step(query) == SQLITE_ROW)
		newest = sqlite3_column_int64(query, 0);
	sqlite3_finalize(query);
	if (newest == 0)
		return tb_fail_in(error, TB_EFORMAT, path, "holds no run");
	return tb_fail_in(error, TB_EUSAGE, path,
		"holds no run %" PRId64 " (its newest is run %" PRId64 ")", id, newest);
}

int tb_run_record_load(sqlite3 *db, const char *path, int64_t id,
	struct tb_run_record *record, struct tb_error *error)
{
	sqlite3_stmt *query = NULL;
	int status = tb_sql_prepare(db, path,
		SELECT_RUN "WHERE ?1 IN (0, r.run) ORDER BY r.run DESC LIMIT 1", &query,
		error);
	if (status)
		return status;
	sqlite3_bind_int64(query, 1, id);
	int code = sqlite3_step(query);
	if (code == SQLITE_ROW)
		status = load_row(query, path, record, error);
	else if (code == SQLITE_DONE)
		status = no_such_run(db, path, id, error);
	else
		status = tb_sql_fail(error, db, path);
	sqlite3_finalize(query);
	return status;
}

const struct tb_run_info *tb_run_info(const struct tb_run *run)
{
	return &run->record.info;
}

struct tb_runs {
	struct tb_run_record *records;
	size_t n, room;
};

void tb_runs_free(struct tb_runs *runs)
{
	if (!runs)
		return;
	for (size_t i = 0; i < runs->n; i++)
		tb_run_record_fini(&runs->records[i]);
	free(runs->records);
	free(runs);
}

static int load_all(
	sqlite3 *db, const char *path, struct tb_runs *runs, struct tb_error *error)
{
	sqlite3_stmt *query = NULL;
	int status = tb_sql_prepare(db, path, SELECT_RUN "ORDER BY r.run", &query, error);
	int code = SQLITE_DONE;
	while (!status && (code = sqlite3_step(query)) == SQLITE_ROW) {
		if (TB_ARRAY_RESERVE(&runs->records, &runs->room, runs->n + 1) != TB_OK) {
			status = tb_fail_memory_in(error, path, "runs");
			break;
		}
		status = load_row(query, path, &runs->records[runs->n], error);
		runs->n += !status;
	}
	if (!status && code != SQLITE_DONE)
		status = tb_sql_fail(error, db, path);
	sqlite3_finalize(query);
	return status;
}

// runs_load_and_close reads the runs of an open store and closes it.
static int runs_load_and_close(
	struct tb_runs **runs, sqlite3 *db, const char *path, struct tb_error *error)
{
	struct tb_runs *made = calloc(1, sizeof *made);
	int status = made ? load_all(db, path, made, error)
			  : tb_fail_memory_in(error, path, "runs");
	sqlite3_close(db);
	if (status)
		tb_runs_free(made);
	else
		*runs = made;
	return status;
}

int tb_runs_open(struct tb_runs **runs, const char *path, struct tb_error *error)
{
	sqlite3 *db = NULL;
	int status = tb_sql_open_reader(&db, path, error);
	return status ? status : runs_load_and_close(runs, db, path, error);
}

int tb_runs_open_bytes(
	struct tb_runs **runs, const void *bytes, size_t size, struct tb_error *error)
{
	sqlite3 *db = NULL;
	int status = tb_sql_open_bytes(&db, TB_RUN_IN_MEMORY, bytes, size, error);
	return status ? status : runs_load_and_close(runs, db, TB_RUN_IN_MEMORY, error);
}

size_t tb_runs_n(const struct tb_runs *runs)
{
	return runs->n;
}

const struct tb_run_info *tb_runs_at(const struct tb_runs *runs, size_t i)
{
	return &runs->records[i].info;
}

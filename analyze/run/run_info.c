#include "run_impl.h"

#include "array.h"
#include "store.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int tb_run_damaged(const char *path, const char *table, struct tb_error *error)
{
	return tb_sql_damaged(path, table, error);
}

struct tb_id_limits tb_run_limits(const struct tb_run_info *info)
{
	return (struct tb_id_limits){info->n_nodes, info->n_switches, info->n_links,
		info->n_levels, info->n_jobs};
}

// A row of the table `run` with what other tables have once of its run.
struct run_record {
	struct tb_run_info info;
	char *texts[TB_RUN_TEXTS];
	char *seed, *switching, *leads;
	uint64_t last_bin;
};
#define RECORD			struct run_record
#define INFO(column, member)	TB_COLUMN(column, info.member)
#define OR_NULL(column, member) TB_COLUMN_WITH(column, info.member, TB_STORED_OR_NULL)
static const struct tb_stored_table run_records = TB_STORED_TABLE("run", RECORD,
	INFO("r.run", id), INFO("complete", complete), INFO("simulated_ps", simulated_ps),
	INFO("n_messages", n_messages), INFO("n_packets", n_packets),
	INFO("delivered_bytes", delivered_bytes), INFO("bin_ps", bin_ps),
	INFO("input_bytes", input_bytes), INFO("time_scale", time_scale),
	TB_COLUMN("seed", seed), INFO("n_nodes", n_nodes), INFO("n_switches", n_switches),
	INFO("n_links", n_links), INFO("n_levels", n_levels), INFO("n_jobs", n_jobs),
	INFO("wall_s", wall_s), INFO("n_undelivered", n_undelivered),
	INFO("n_retries", n_retries), INFO("n_messages_kept", n_messages_kept),
	INFO("chosen", is_chosen), INFO("n_lost", n_lost), INFO("n_resent", n_resent),
	TB_COLUMN_WITH("(SELECT max(bin) FROM bin_total AS b WHERE b.run = r.run)",
		last_bin, TB_STORED_OR_NULL),
	OR_NULL("g.least_ps", least_ps), OR_NULL("g.most_ps", most_ps),
	OR_NULL("g.calls", n_calls), OR_NULL("g.hidden", n_hidden),
	OR_NULL("g.untold", n_untold), OR_NULL("c.was_ps", check_recorded_ps),
	OR_NULL("c.is_ps", check_simulated_ps),
	INFO("coalesce(c.nodes, 0.0)", check_node_percent),
	INFO("coalesce(c.messages, 0.0)", check_messages),
	INFO("(SELECT count(*) > 0 FROM recorded_kind AS k WHERE k.run = r.run AND "
	     "k.kind = 'message')",
		is_captured),
	OR_NULL("f.compute_ps", compute_ps), OR_NULL("f.closed_ps", closed_ps),
	OR_NULL("f.ideal_ps", ideal_ps), TB_COLUMN("switching", switching),
	TB_COLUMN("leads", leads), TB_COLUMN("network", texts[0]),
	TB_COLUMN("input_name", texts[1]), TB_COLUMN("input_kind", texts[2]),
	TB_COLUMN("input_digest", texts[3]), TB_COLUMN("options", texts[4]),
	TB_COLUMN("program_version", texts[5]), TB_COLUMN("started_at", texts[6]),
	TB_COLUMN("host", texts[7]), TB_COLUMN("input_summary", texts[8]));
#undef RECORD

#define FROM_RUNS                                                                        \
	"run AS r LEFT JOIN run_environment AS e ON e.run = r.run "                      \
	"LEFT JOIN run_range AS g ON g.run = r.run "                                     \
	"LEFT JOIN run_bound AS f ON f.run = r.run "                                     \
	"LEFT JOIN (SELECT run, recorded_ps AS was_ps, simulated_ps AS is_ps, "          \
	"node_percent AS nodes, "                                                        \
	"1.0 * simulated_message_ps / nullif(recorded_message_ps, 0) AS messages, "      \
	"max(abs(1.0 * simulated_ps / recorded_ps - 1)) FROM capture_check "             \
	"WHERE recorded_ps > 0 GROUP BY run) AS c ON c.run = r.run "

void tb_run_record_fini(struct tb_run_record *record)
{
	for (int i = 0; i < TB_RUN_TEXTS; i++)
		free(record->texts[i]);
	for (size_t i = 0; i < record->info.n_others; i++) {
		free(record->others[i].key);
		free(record->others[i].text);
	}
	free(record->others);
	for (size_t i = 0; i < record->info.n_notes; i++)
		free(record->notes[i].text);
	free(record->notes);
	*record = (struct tb_run_record){0};
}

// settle_bins works the number of bins out: idle ones at the end have no row, and a run
// that is being written has rows after the simulated time last stored. False when the
// time of a bin's end does not fit.
static bool settle_bins(struct tb_run_info *info, uint64_t last_bin)
{
	if (info->bin_ps > 0 && info->simulated_ps > 0)
		info->n_bins = (uint64_t)((info->simulated_ps - 1) / info->bin_ps) + 1;
	if (last_bin != UINT64_MAX) {
		uint64_t last = last_bin;
		if (last >= TB_BINS_MAX)
			return false;
		if (info->n_bins <= last)
			info->n_bins = last + 1;
	}
	return info->n_bins <= TB_BINS_MAX &&
	       (!info->n_bins ||
		       (info->bin_ps &&
			       info->bin_ps <= INT64_MAX / (int64_t)info->n_bins));
}

// settle_numbers checks numbers against each other, and works out what follows of them.
static bool settle_numbers(struct tb_run_info *info, uint64_t last_bin)
{
	bool has_range = info->least_ps >= 0;
	info->has_bound = info->compute_ps >= 0;
	if (!has_range) {
		info->least_ps = info->most_ps = 0;
		info->n_calls = info->n_hidden = info->n_untold = 0;
	}
	if (info->check_recorded_ps <= 0 || info->check_simulated_ps <= 0)
		info->check_recorded_ps = info->check_simulated_ps = 0;
	if (!info->has_bound)
		info->compute_ps = info->closed_ps = 0;
	info->has_ideal = info->has_bound && info->ideal_ps >= 0;
	tb_time_ps most_ps = info->has_ideal ? info->ideal_ps : info->simulated_ps;
	if (!info->has_ideal)
		info->ideal_ps = 0;
	if (info->wall_s > 1e-9)
		info->packets_per_s = (double)info->n_packets / info->wall_s;
	return settle_bins(info, last_bin) && info->n_nodes < TB_ID_NONE &&
	       info->n_switches < TB_ID_NONE && info->n_links < TB_ID_NONE &&
	       info->n_levels < TB_ID_NONE && info->n_jobs < TB_ID_NONE &&
	       info->n_messages_kept <= info->n_messages &&
	       info->n_hidden <= info->n_calls && info->n_untold <= info->n_calls &&
	       info->least_ps <= info->most_ps && most_ps <= info->simulated_ps &&
	       info->compute_ps <= most_ps &&
	       info->closed_ps <= most_ps - info->compute_ps;
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

// The notes of a run, of which there may be any number.
#define RECORD struct tb_run_note
static const struct tb_stored_table run_notes = TB_STORED_TABLE("note", RECORD,
	TB_COLUMN_AS(TB_STORED_JOB | TB_STORED_OR_NULL, "job", job),
	TB_COLUMN("text", text));
#undef RECORD

const char *tb_run_note_about(const struct tb_run *run, const struct tb_run_note *note)
{
	return note->job == TB_ID_NONE ? tb_run_info(run)->network_name
				       : tb_run_job_name(run, note->job);
}

// The parameters of a run's network, as its store has them: anything may stand there.
struct run_parameter {
	char *key, *type, *text;
	int64_t whole;
	double real;
};
#define RECORD struct run_parameter
static const struct tb_stored_table run_parameters = TB_STORED_TABLE("run_parameter",
	RECORD, TB_COLUMN("key", key), TB_COLUMN("typeof(value)", type),
	TB_COLUMN("value", text), TB_COLUMN_AS(TB_STORED_SIGNED, "value", whole),
	TB_COLUMN_AS(TB_STORED_ANY_REAL, "value", real));
#undef RECORD

// keep_other keeps a parameter that has no key here, for those who read lists. Returns
// whether it did.
static bool keep_other(struct tb_run_record *record, char *key, char *text)
{
	struct tb_run_info *info = &record->info;
	if (!record->others)
		record->others = calloc(TB_RUN_OTHERS_MOST, sizeof *record->others);
	if (!record->others || info->n_others == TB_RUN_OTHERS_MOST)
		return false;
	record->others[info->n_others++] = (struct tb_run_other){key, text};
	info->others = record->others;
	return true;
}

// load_parameters reads the network's parameters; its switching is known already.
static int load_parameters(sqlite3 *db, const char *path, struct tb_run_record *record,
	struct tb_error *error)
{
	struct tb_run_info *info = &record->info;
	struct tb_parameters_taken taken = {.params = &info->network};
	struct tb_row_reader rows = tb_row_reader_open(
		db, path, &run_parameters, "run_parameter WHERE run = ?1", NULL, error);
	struct run_parameter parameter;
	tb_row_bind(&rows, 1, info->id);
	while (tb_row_read(&rows, &parameter)) {
		struct tb_value value = {.type = TB_VALUE_WORD, .word = parameter.text};
		if (strcmp(parameter.type, "integer") == 0)
			value = (struct tb_value){
				.type = TB_VALUE_WHOLE, .whole = parameter.whole};
		else if (strcmp(parameter.type, "real") == 0)
			value = (struct tb_value){
				.type = TB_VALUE_REAL, .real = parameter.real};
		int status = tb_parameters_take(&taken, parameter.key, &value);
		free(parameter.type);
		if (status != 0 || !keep_other(record, parameter.key, parameter.text)) {
			free(parameter.key);
			free(parameter.text);
		}
		if (status == TB_ENOMEM)
			tb_row_no_memory(&rows, "a run");
		else if (status < 0)
			tb_row_damaged(&rows);
	}
	int status = tb_row_reader_end(&rows);
	const char *missing = tb_parameters_missing(&taken);
	if (!status && missing)
		return tb_fail_in(error, TB_EFORMAT, path,
			"is damaged: its table 'run_parameter' has no '%s' for run "
			"%" PRId64,
			missing, info->id);
	if (!status && info->network.n_rails == 0)
		return tb_sql_damaged(path, "run_parameter", error);
	(void)tb_switching_caution(&info->network, info->caution, sizeof info->caution);
	return status;
}

size_t tb_run_parameters(
	const struct tb_run_info *info, struct tb_parameter list[TB_RUN_PARAMETERS_MOST])
{
	size_t n = tb_parameters(&info->network, list);
	for (size_t i = 0; i < info->n_others; i++)
		list[n++] = (struct tb_parameter){.section = "others",
			.key = info->others[i].key,
			.value = {.type = TB_VALUE_WORD, .word = info->others[i].text}};
	return n;
}

// load_record makes a record of a row, whose texts it takes, and of what other tables
// have about its run.
static int load_record(sqlite3 *db, const char *path, struct run_record *row,
	struct tb_run_record *record, struct tb_error *error)
{
	struct tb_run_record loaded = {.info = row->info};
	struct tb_run_info *info = &loaded.info;
	const char **const fields[TB_RUN_TEXTS] = {&info->network_name, &info->input_name,
		&info->input_kind, &info->input_digest, &info->options,
		&info->program_version, &info->started_at, &info->host,
		&info->input_summary};
	for (int i = 0; i < TB_RUN_TEXTS; i++)
		*fields[i] = loaded.texts[i] = row->texts[i];
	info->seed = strtoull(row->seed, NULL, 10);
	info->leads = strcmp(row->leads, tb_wait_lead_words[TB_LEADS_FOR]) == 0
			      ? TB_WAIT_FOR
			      : TB_CAME_BY;
	info->wait = info->leads;
	// Which keys, and which meaning, the parameters have.
	struct tb_network_params *network = &info->network;
	snprintf(network->switching, sizeof network->switching, "%s", row->switching);
	snprintf(network->name, sizeof network->name, "%s", info->network_name);
	int status = settle_numbers(info, row->last_bin)
			     ? TB_OK
			     : tb_sql_damaged(path, "run", error);
	if (!status && !tb_switching_words(network))
		status = tb_fail_in(error, TB_EVERSION, path,
			"its run %" PRId64 " is of a network with switching = %s, which "
			"this Tailback does not have",
			info->id, row->switching);
	free(row->seed);
	free(row->switching);
	free(row->leads);
	if (!status)
		status = load_parameters(db, path, &loaded, error);
	// The words follow from the parameters: with pauses they are others.
	info->words =
		tb_run_is_measured(info) ? &measured_words : tb_switching_words(network);
	if (!status) {
		const struct tb_id_limits limits = tb_run_limits(info);
		struct tb_row_reader notes = tb_row_reader_open(db, path, &run_notes,
			"note WHERE run = ?1 ORDER BY note", &limits, error);
		tb_row_bind(&notes, 1, info->id);
		status = tb_row_read_all(&notes, &loaded.notes, &info->n_notes,
			&loaded.notes_room, "a run");
		info->notes = loaded.notes;
	}
	if (status)
		tb_run_record_fini(&loaded);
	else
		*record = loaded;
	return status;
}

int tb_run_record_load(sqlite3 *db, const char *path, int64_t id,
	struct tb_run_record *record, struct tb_error *error)
{
	struct run_record row = {.last_bin = 0};
	struct tb_row_reader rows = tb_row_reader_open(db, path, &run_records,
		FROM_RUNS "WHERE ?1 IN (0, r.run) ORDER BY r.run DESC LIMIT 1", NULL,
		error);
	tb_row_bind(&rows, 1, id);
	bool found = tb_row_read(&rows, &row);
	int status = tb_row_reader_end(&rows);
	if (found)
		return load_record(db, path, &row, record, error);
	if (status)
		return status;
	int64_t newest = 0;
	status = tb_sql_number(db, path, "SELECT max(run) FROM run", 0, &newest, error);
	if (status)
		return status;
	if (newest == 0)
		return tb_fail_in(error, TB_EFORMAT, path, "holds no run");
	return tb_fail_in(error, TB_EUSAGE, path,
		"holds no run %" PRId64 " (its newest is run %" PRId64 ")", id, newest);
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

int tb_runs_open(struct tb_runs **runs, const char *path, struct tb_error *error)
{
	sqlite3 *db = NULL;
	int status = tb_sql_open_reader(&db, path, error);
	if (status)
		return status;
	struct tb_runs *made = calloc(1, sizeof *made);
	struct tb_row_reader rows = tb_row_reader_open(
		db, path, &run_records, FROM_RUNS "ORDER BY r.run", NULL, error);
	struct run_record row = {.last_bin = 0};
	if (!made)
		tb_row_no_memory(&rows, "runs");
	while (tb_row_read(&rows, &row)) {
		struct tb_run_record record;
		rows.status = load_record(db, path, &row, &record, error);
		if (rows.status == TB_OK && TB_ARRAY_RESERVE(&made->records, &made->room,
						    made->n + 1) != TB_OK) {
			tb_run_record_fini(&record);
			tb_row_no_memory(&rows, "runs");
		}
		if (rows.status == TB_OK)
			made->records[made->n++] = record;
		row.info = (struct tb_run_info){0};
	}
	status = tb_row_reader_end(&rows);
	sqlite3_close(db);
	if (status)
		tb_runs_free(made);
	else
		*runs = made;
	return status;
}

size_t tb_runs_n(const struct tb_runs *runs)
{
	return runs->n;
}

const struct tb_run_info *tb_runs_at(const struct tb_runs *runs, size_t i)
{
	return &runs->records[i].info;
}

#include "store_impl.h"

#include "names.h"
#include "parameters.h"
#include "store_row.h"
#include "switchings.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

static int write_run(sqlite3 *db, const char *path, int64_t run, int64_t topology,
	const struct tb_network *network, const struct tb_run_config *config,
	struct tb_error *error)
{
	const struct tb_switching_kind *switching =
		tb_switching_of(tb_network_params(network));
	struct tb_row row = tb_row_into(db, path,
		"INSERT INTO run (run, input_name, input_kind, input_digest, "
		"input_bytes, "
		"options, time_scale, seed, program_version, n_nodes, n_switches, "
		"n_links, "
		"n_levels, n_jobs, network, switching, leads, routes_name, "
		"routes_digest, topology) VALUES "
		"(?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)",
		error);
	char seed[24];
	snprintf(seed, sizeof seed, "%llu", (unsigned long long)config->seed);
	tb_row_put(&row, run);
	tb_row_put_text(&row, config->input_name);
	tb_row_put_text(&row, config->input_kind);
	tb_row_put_text(&row, config->input_digest);
	tb_row_put(&row, (int64_t)config->input_bytes);
	tb_row_put_text(&row, config->options);
	tb_row_put_real(&row, config->time_scale);
	tb_row_put_text(&row, seed);
	tb_row_put_text(&row, TB_VERSION);
	tb_row_put(&row, tb_network_n_hosts(network));
	tb_row_put(&row, tb_network_n_switches(network));
	tb_row_put(&row, tb_network_n_links(network));
	tb_row_put(&row, tb_network_n_levels(network));
	tb_row_put(&row, config->n_jobs);
	tb_row_put_text(&row, tb_network_params(network)->name);
	tb_row_put_text(&row, tb_network_params(network)->switching);
	tb_row_put_text(&row, tb_wait_lead_words[switching ? switching->leads : 0]);
	tb_row_put_text(&row, config->routes_name);
	tb_row_put_text(&row, config->routes_digest);
	tb_row_put(&row, topology);
	tb_row_end(&row);
	return tb_row_done(&row);
}

static void put_value(struct tb_row *row, const struct tb_value *value)
{
	switch (value->type) {
	case TB_VALUE_WHOLE:
		tb_row_put(row, value->whole);
		break;
	case TB_VALUE_REAL:
		tb_row_put_real(row, value->real);
		break;
	case TB_VALUE_WORD:
		tb_row_put_text(row, value->word);
		break;
	}
}

static int write_parameters(sqlite3 *db, const char *path, int64_t run,
	const struct tb_network *network, struct tb_error *error)
{
	struct tb_row row = tb_row_into(db, path,
		"INSERT INTO run_parameter ("
		"run, key, value) "
		"VALUES (?,?,?)",
		error);
	struct tb_network_params params = *tb_network_params(network);
	struct tb_parameter list[TB_PARAMETERS_MOST];
	params.n_rails = tb_network_n_rails(network); // of a built graph they say nothing
	size_t n = tb_parameters(&params, list);
	for (size_t i = 0; !row.status && i < n; i++) {
		tb_row_put(&row, run);
		tb_row_put_text(&row, list[i].key);
		put_value(&row, &list[i].value);
		tb_row_end(&row);
	}
	return tb_row_done(&row);
}

static int write_environment(
	sqlite3 *db, const char *path, int64_t run, struct tb_error *error)
{
	struct utsname system = {0};
	uname(&system);
	struct tb_row row = tb_row_into(db, path,
		"INSERT INTO run_environment (run, host, machine) VALUES (?,?,?)", error);
	tb_row_put(&row, run);
	tb_row_put_text(&row, system.nodename);
	tb_row_put_text(&row, system.machine);
	tb_row_end(&row);
	return tb_row_done(&row);
}

// write_names names nodes by their endpoints, where they have one. Most have none, or are
// called as their host: those have no row.
static int write_names(sqlite3 *db, const char *path, int64_t run,
	const struct tb_network *network, const char *const *names,
	struct tb_error *error)
{
	struct tb_row row = tb_row_into(db, path,
		"INSERT INTO node_name (run, node, name) VALUES (?,?,?)", error);
	uint32_t n = names ? tb_network_n_hosts(network) : 0;
	for (uint32_t i = 0; !row.status && i < n; i++) {
		char host[TB_NAME_SIZE];
		tb_store_name_host(network, i, host, sizeof host);
		if (!*names[i] || strcmp(names[i], host) == 0)
			continue;
		tb_row_put(&row, run);
		tb_row_put(&row, i);
		tb_row_put_text(&row, names[i]);
		tb_row_end(&row);
	}
	return tb_row_done(&row);
}

// rename_nodes names the first `n` nodes by their endpoints, where they have one.
static int rename_nodes(sqlite3 *db, const char *path, int64_t run,
	const char *const *names, uint32_t n, struct tb_error *error)
{
	struct tb_row row = tb_row_into(db, path,
		"INSERT OR REPLACE INTO node_name (run, node, name) VALUES (?,?,?)",
		error);
	for (uint32_t i = 0; !row.status && i < n; i++) {
		if (!*names[i])
			continue;
		tb_row_put(&row, run);
		tb_row_put(&row, i);
		tb_row_put_text(&row, names[i]);
		tb_row_end(&row);
	}
	return tb_row_done(&row);
}

static int setup_write_jobs(sqlite3 *db, const char *path, int64_t run,
	const struct tb_run_job *jobs, uint32_t n, struct tb_error *error)
{
	struct tb_row row = tb_row_into(db, path,
		"INSERT INTO job (run, job, name, input, start_ps, placement) VALUES "
		"(?,?,?,?,?,?)",
		error);
	for (uint32_t i = 0; !row.status && i < n; i++) {
		tb_row_put(&row, run);
		tb_row_put(&row, i);
		tb_row_put_text(&row, jobs[i].name);
		tb_row_put_text(&row, jobs[i].input);
		tb_row_put(&row, jobs[i].start_ps);
		tb_row_put_text(&row, jobs[i].placement);
		tb_row_end(&row);
	}
	return tb_row_done(&row);
}

static int setup_write_notes(sqlite3 *db, const char *path, int64_t run,
	const struct tb_note *notes, size_t n, struct tb_error *error)
{
	struct tb_row row = tb_row_into(db, path,
		"INSERT INTO note ("
		"run, note, job, text) "
		"VALUES (?,?,?,?)",
		error);
	for (size_t i = 0; !row.status && i < n; i++) {
		tb_row_put(&row, run);
		tb_row_put(&row, (int64_t)i);
		if (notes[i].job == TB_ID_NONE)
			tb_row_put_null(&row);
		else
			tb_row_put(&row, notes[i].job);
		tb_row_put_text(&row, notes[i].text);
		tb_row_end(&row);
	}
	return tb_row_done(&row);
}

static int write_places(sqlite3 *db, const char *path, int64_t run,
	const struct tb_run_place *places, size_t n, struct tb_error *error)
{
	struct tb_row row = tb_row_into(db, path,
		"INSERT INTO job_node ("
		"run, job, rank, node) "
		"VALUES (?,?,?,?)",
		error);
	for (size_t i = 0; !row.status && i < n; i++) {
		tb_row_put(&row, run);
		tb_row_put(&row, places[i].job);
		tb_row_put(&row, places[i].rank);
		tb_row_put(&row, places[i].node.id);
		tb_row_end(&row);
	}
	return tb_row_done(&row);
}

static int write_faults(sqlite3 *db, const char *path, int64_t run,
	const struct tb_faults *faults, struct tb_error *error)
{
	struct tb_row row = tb_row_into(db, path,
		"INSERT INTO fault ("
		"run, fault, link, switch, at_ps) "
		"VALUES (?,?,?,?,?)",
		error);
	for (size_t i = 0; !row.status && faults && i < tb_faults_n(faults); i++) {
		struct tb_fault fault = tb_faults_at(faults, i);
		tb_row_put(&row, run);
		tb_row_put(&row, (int64_t)i);
		if (fault.is_switch)
			tb_row_put_null(&row);
		tb_row_put(&row, fault.id);
		if (!fault.is_switch)
			tb_row_put_null(&row);
		tb_row_put(&row, fault.at_ps);
		tb_row_end(&row);
	}
	return tb_row_done(&row);
}

int tb_store_find_next_run(
	sqlite3 *db, const char *path, int64_t *run, struct tb_error *error)
{
	sqlite3_stmt *query = NULL;
	int status = tb_sql_prepare(db, path,
		"SELECT 1 + max(coalesce((SELECT max(run) FROM run), 0), "
		"coalesce((SELECT max(run) FROM sweep_point), 0))",
		&query, error);
	if (!status && sqlite3_step(query) != SQLITE_ROW)
		status = tb_sql_fail(error, db, path);
	if (!status)
		*run = sqlite3_column_int64(query, 0);
	sqlite3_finalize(query);
	return status;
}

int tb_store_write_setup(sqlite3 *db, const char *path, struct tb_store_feed *feed,
	const struct tb_network *network, const struct tb_run_config *config,
	int64_t *run, struct tb_error *error)
{
	int64_t id = config->run;
	int status = id ? TB_OK : tb_store_find_next_run(db, path, &id, error);
	int64_t topology = 0;
	if (!status)
		status = tb_store_write_topology(
			db, path, feed, network, &topology, error);
	if (!status)
		status = write_run(db, path, id, topology, network, config, error);
	if (!status)
		status = write_parameters(db, path, id, network, error);
	if (!status)
		status = write_environment(db, path, id, error);
	if (!status)
		status = write_names(db, path, id, network, config->node_names, error);
	if (!status)
		status = setup_write_jobs(
			db, path, id, config->jobs, config->n_jobs, error);
	if (!status)
		status = write_places(
			db, path, id, config->places, config->n_places, error);
	if (!status)
		status = setup_write_notes(
			db, path, id, config->notes, config->n_notes, error);
	if (!status)
		status = write_faults(db, path, id, config->faults, error);
	if (!status)
		*run = id;
	return status;
}

static int write_wall_time(
	sqlite3 *db, const char *path, int64_t run, double wall_s, struct tb_error *error)
{
	struct tb_row row = tb_row_into(
		db, path, "UPDATE run_environment SET wall_s = ?1 WHERE run = ?2", error);
	tb_row_put_real(&row, wall_s);
	tb_row_put(&row, run);
	tb_row_end(&row);
	return tb_row_done(&row);
}

int tb_store_write_result(sqlite3 *db, const char *path, int64_t run,
	const struct tb_run_result *result, struct tb_error *error)
{
	struct tb_row row = tb_row_into(db, path,
		"UPDATE run SET complete = ?, simulated_ps = ?, n_messages = ?, "
		"n_packets = ?, delivered_bytes = ?, n_retries = ?, n_undelivered = ?, "
		"n_lost = ?, n_resent = ?, input_summary = ? WHERE run = ?",
		error);
	tb_row_put(&row, result->complete);
	tb_row_put(&row, result->simulated_ps);
	tb_row_put(&row, (int64_t)result->n_messages);
	tb_row_put(&row, (int64_t)result->n_packets);
	tb_row_put(&row, (int64_t)result->delivered_bytes);
	tb_row_put(&row, (int64_t)result->n_retries);
	tb_row_put(&row, (int64_t)result->n_undelivered);
	tb_row_put(&row, (int64_t)result->n_lost);
	tb_row_put(&row, (int64_t)result->n_resent);
	tb_row_put_text(&row, result->input_summary ? result->input_summary : "{}");
	tb_row_put(&row, run);
	tb_row_end(&row);
	int status = tb_row_done(&row);
	if (!status && result->node_names)
		status = rename_nodes(
			db, path, run, result->node_names, result->n_named, error);
	if (!status)
		status = write_places(
			db, path, run, result->places, result->n_places, error);
	return status ? status : write_wall_time(db, path, run, result->wall_s, error);
}

int tb_store_write_undelivered(sqlite3 *db, const char *path, int64_t run,
	const struct tb_undelivered_sample *samples, size_t n, struct tb_error *error)
{
	struct tb_row row = tb_row_into(db, path,
		"INSERT INTO undelivered_flow ("
		"run, job, source, destination, dead_link, messages, bytes, first_ps) "
		"VALUES (?,?,?,?,?,?,?,?)",
		error);
	for (size_t i = 0; !row.status && i < n; i++) {
		const struct tb_undelivered_sample *at = &samples[i];
		tb_row_put(&row, run);
		tb_row_put(&row, at->job);
		tb_row_put(&row, at->source.id);
		tb_row_put(&row, at->destination.id);
		tb_row_put_id(&row, at->dead.id);
		tb_row_put(&row, (int64_t)at->n_messages);
		tb_row_put(&row, (int64_t)at->bytes);
		tb_row_put(&row, at->first_ps);
		tb_row_end(&row);
	}
	return tb_row_done(&row);
}

int tb_store_delete_run(
	sqlite3 *db, const char *path, int64_t run, struct tb_error *error)
{
	sqlite3_stmt *query = NULL;
	int status = tb_sql_prepare(db, path,
		"SELECT group_concat('DELETE FROM \"' || t.name || '\" WHERE run = ' || "
		"?1, "
		"';') FROM sqlite_schema AS t JOIN pragma_table_info(t.name) AS c "
		"WHERE t.type = 'table' AND c.name = 'run' AND t.name NOT IN "
		"('sweep_point', 'sweep_value')",
		&query, error);
	if (status)
		return status;
	sqlite3_bind_int64(query, 1, run);
	const char *deletes = sqlite3_step(query) == SQLITE_ROW
				      ? (const char *)sqlite3_column_text(query, 0)
				      : NULL;
	char *text = deletes ? strdup(deletes) : NULL;
	sqlite3_finalize(query);
	status = text ? tb_sql_exec(db, path, text, error)
		      : tb_fail_memory_in(error, path, "what failed");
	free(text);
	return status ? status : tb_store_drop_topologies(db, path, error);
}

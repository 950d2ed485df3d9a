#include "run_impl.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Unused ports take memory in a matrix without being in the file, so their number is
// bounded: per switch by the largest plausible radix, per network by the links.
#define PORTS_MAX	 65536
#define FREE_PORTS_MAX	 (UINT64_C(2) * PORTS_MAX)
#define END_NAME_SIZE	 128 // of a node, or a switch with a port
#define SWITCH_NAME_SIZE 100 // of it
#define PORTS_A_LINK_MAX 64

// A row of the topology takes at least so many bytes of the file.
#define ROW_BYTES_MIN 4

static void run_free_names(char **names, uint32_t n)
{
	for (uint32_t i = 0; names && i < n; i++)
		free(names[i]);
	free(names);
}

void tb_run_free(struct tb_run *run)
{
	if (!run)
		return;
	tb_run_window_fini(run);
	run_free_names(run->node_names, run->record.info.n_nodes);
	run_free_names(run->hosts, run->record.info.n_nodes);
	run_free_names(run->switch_names, run->record.info.n_switches);
	run_free_names(run->link_names, run->record.info.n_links);
	tb_run_labels_fini(run);
	run_free_names(run->job_names, run->record.info.n_jobs);
	free(run->node_jobs);
	free(run->switches);
	free(run->links);
	tb_run_record_fini(&run->record);
	tb_run_record_fini(&run->fresh);
	sqlite3_close(run->db);
	free(run->path);
	free(run);
}

int tb_run_query(struct tb_run *run, const char *sql, struct tb_run_row *row,
	struct tb_error *error)
{
	*row = (struct tb_run_row){0};
	int status = tb_sql_prepare(run->db, run->path, sql, &row->query, error);
	if (!status)
		sqlite3_bind_int64(row->query, 1, run->record.info.id);
	return status;
}

int tb_run_next(struct tb_run *run, const char *table, struct tb_run_row *row,
	struct tb_error *error)
{
	if (row->bad)
		return tb_run_damaged(run->path, table, error);
	int code = sqlite3_step(row->query);
	if (code == SQLITE_ROW)
		return 1;
	return code == SQLITE_DONE ? 0 : tb_sql_fail(error, run->db, run->path);
}

struct tb_row_reader tb_run_read(struct tb_run *run, const struct tb_stored_table *table,
	const char *from, struct tb_error *error)
{
	const struct tb_run_info *info = &run->record.info;
	const struct tb_id_limits limits = {info->n_nodes, info->n_switches,
		info->n_links, info->n_levels, info->n_jobs};
	struct tb_row_reader reader =
		tb_row_reader_open(run->db, run->path, table, from, &limits, error);
	tb_row_bind(&reader, 1, info->id);
	return reader;
}

// A table of the topology to be read into an array: rows must be numbered 0 .. n - 1.
struct run_table {
	const char *name;
	const char *count;  // SQL: the number of rows by that of the last one
	const char *select; // run is ?1; the first column is the row's number
	uint32_t n;
	bool (*take)(struct tb_run *run, struct tb_run_row *row, uint32_t i);
};

static int miscounted(struct tb_run *run, const struct run_table *table, int64_t n,
	struct tb_error *error)
{
	return tb_fail_in(error, TB_EFORMAT, run->path,
		"is damaged: its table '%s' has %lld rows for run %lld, expected %u",
		table->name, (long long)n, (long long)run->record.info.id, table->n);
}

// run_read_number returns 0 for NULL or no row.
static int run_read_number(struct tb_run *run, const struct run_table *table,
	const char *sql, int64_t *n, struct tb_error *error)
{
	struct tb_run_row row;
	int status = tb_run_query(run, sql, &row, error);
	if (status)
		return status;
	status = tb_run_next(run, table->name, &row, error);
	*n = status > 0 ? sqlite3_column_int64(row.query, 0) : 0;
	sqlite3_finalize(row.query);
	return status < 0 ? status : TB_OK;
}

// check_count compares the number of rows with that in the run's row before memory is
// allocated for them. The last row's number and the size of the file stand for it:
// counting would read a table that is read again.
static int check_count(
	struct tb_run *run, const struct run_table *table, struct tb_error *error)
{
	int64_t n = 0, n_bytes = 0;
	int status = run_read_number(run, table, table->count, &n, error);
	if (!status && n != table->n)
		return miscounted(run, table, n, error);
	if (!status)
		status = run_read_number(run, table,
			"SELECT page_count * page_size FROM pragma_page_count, "
			"pragma_page_size WHERE ?1 IS NOT NULL",
			&n_bytes, error);
	if (!status && n > n_bytes / ROW_BYTES_MIN)
		return miscounted(run, table, n_bytes / ROW_BYTES_MIN, error);
	return status;
}

static int run_take_rows(
	struct tb_run *run, const struct run_table *table, struct tb_error *error)
{
	struct tb_run_row row;
	int status = tb_run_query(run, table->select, &row, error);
	if (status)
		return status;
	uint32_t i = 0;
	while ((status = tb_run_next(run, table->name, &row, error)) > 0) {
		if (i >= table->n || tb_run_get(&row, 0, UINT32_MAX) != i) {
			row.bad = true;
		} else if (!table->take(run, &row, i++)) {
			status = tb_fail_memory_in(error, run->path, "the run");
			break;
		}
	}
	sqlite3_finalize(row.query);
	return status || i == table->n ? status : miscounted(run, table, i, error);
}

static bool run_take_node(struct tb_run *run, struct tb_run_row *row, uint32_t i)
{
	run->node_names[i] = tb_run_get_text(row, 1);
	run->hosts[i] = tb_run_get_text(row, 2);
	return run->node_names[i] && run->hosts[i];
}

static bool run_take_job(struct tb_run *run, struct tb_run_row *row, uint32_t i)
{
	run->job_names[i] = tb_run_get_text(row, 1);
	return run->job_names[i] != NULL;
}

static bool take_switch(struct tb_run *run, struct tb_run_row *row, uint32_t i)
{
	const struct tb_run_info *info = &run->record.info;
	struct tb_run_switch *sw = &run->switches[i];
	sw->id.id = i;
	sw->at.level = tb_run_get_id(row, 1, info->n_levels);
	sw->at.index = tb_run_get_id(row, 2, info->n_switches);
	sw->at.n_down_ports = tb_run_get32(row, 3, PORTS_MAX);
	sw->at.n_up_ports = tb_run_get32(row, 4, PORTS_MAX);
	sw->at.rail = tb_run_get_id(row, 5, info->network.n_rails);
	sw->name = run->switch_names[i] = tb_run_get_text(row, 6);
	return sw->name != NULL;
}

static bool parse_kind(const char *name, enum tb_link_kind *kind)
{
	static const char *const names[] = {[TB_LINK_INJECTION] = "injection",
		[TB_LINK_UP] = "up",
		[TB_LINK_DOWN] = "down",
		[TB_LINK_EJECTION] = "ejection"};
	for (size_t i = 0; name && i < sizeof names / sizeof *names; i++) {
		if (strcmp(name, names[i]) == 0) {
			*kind = (enum tb_link_kind)i;
			return true;
		}
	}
	return false;
}

// One end of a link.
struct link_end {
	bool is_node;
	uint32_t id, port;
	uint32_t number; // what the port goes by
};

// get_end reads an end, the columns node, switch, port and number from `column` on.
static struct link_end get_end(
	struct tb_run *run, struct tb_run_row *row, int column, bool is_node)
{
	const struct tb_run_info *info = &run->record.info;
	struct link_end end = {.is_node = is_node,
		.id = is_node ? tb_run_get_id(row, column, info->n_nodes)
			      : tb_run_get_id(row, column + 1, info->n_switches),
		.port = tb_run_get32(row, column + 2, PORTS_MAX),
		.number = tb_run_get32(row, column + 3, PORTS_MAX)};
	if (!row->bad && !is_node) {
		const struct tb_switch_info *at = &run->switches[end.id].at;
		row->bad |= end.port >= at->n_down_ports + at->n_up_ports;
	}
	return end;
}

// append_text and append_number write behind what is there, and return where that ends.
// Names are written by hand: formats took a sixth of what the viewer's first picture
// does.
static char *append_text(char *at, const char *text, size_t most)
{
	size_t n = strnlen(text, most);
	memcpy(at, text, n);
	return at + n;
}

static char *append_number(char *at, uint32_t number)
{
	char digits[10];
	size_t n = 0;
	do
		digits[n++] = (char)('0' + number % 10);
	while (number /= 10);
	while (n > 0)
		*at++ = digits[--n];
	return at;
}

// append_end writes the name of an end, at most END_NAME_SIZE bytes.
static char *append_end(
	const struct tb_run *run, char *at, const struct link_end *end, bool with_port)
{
	if (end->is_node && *run->hosts[end->id])
		return append_text(at, run->hosts[end->id], END_NAME_SIZE - 1);
	if (end->is_node)
		return append_number(append_text(at, "node ", 5), end->id);
	at = append_text(at, run->switches[end->id].name, SWITCH_NAME_SIZE);
	return with_port ? append_number(append_text(at, ":", 1), end->number) : at;
}

// name_link joins the names of the ends; ports are named only between switches.
static bool name_link(struct tb_run *run, uint32_t i, const struct link_end *from,
	const struct link_end *to)
{
	bool with_ports = !from->is_node && !to->is_node;
	char name[2 * END_NAME_SIZE + 8];
	char *at = append_text(append_end(run, name, from, with_ports), " > ", 3);
	*append_end(run, at, to, with_ports) = '\0';
	run->links[i].name = run->link_names[i] = strdup(name);
	return run->link_names[i] != NULL;
}

static bool run_take_link(struct tb_run *run, struct tb_run_row *row, uint32_t i)
{
	struct tb_run_link *link = &run->links[i];
	const char *kind = (const char *)sqlite3_column_text(row->query, 1);
	if (!parse_kind(kind, &link->at.kind)) {
		row->bad = true;
		return true;
	}
	link->id.id = i;
	const struct link_end from =
		get_end(run, row, 2, link->at.kind == TB_LINK_INJECTION);
	const struct link_end to =
		get_end(run, row, 6, link->at.kind == TB_LINK_EJECTION);
	link->at.from = from.id;
	link->at.from_port = from.port;
	link->at.to = to.id;
	link->at.to_port = to.port;
	link->at.reverse.id = tb_run_get_id(row, 10, run->record.info.n_links);
	link->at.bytes_per_s = tb_run_get(row, 11, INT64_MAX);
	link->at.latency_ps = (tb_time_ps)tb_run_get(row, 12, INT64_MAX);
	link->at.n_vcs = run->record.info.network.n_vcs;
	link->at.fifo_bytes = run->record.info.network.fifo_bytes;
	return row->bad || name_link(run, i, &from, &to);
}

// run_find_places sets the places of switches; with one rail a switch's place is its
// index.
static int run_find_places(struct tb_run *run, struct tb_error *error)
{
	const struct tb_run_info *info = &run->record.info;
	uint32_t n_rails = info->network.n_rails;
	uint32_t *before = NULL; // switches of a level in the earlier rails, by rail
	for (uint32_t i = 0; i < info->n_switches; i++)
		run->switches[i].place = run->switches[i].at.index;
	if (n_rails == 1 || info->n_switches == 0)
		return TB_OK;
	// Every rail needs a switch, so there cannot be more rails than switches.
	if (n_rails > info->n_switches)
		return tb_run_damaged(run->path, "run", error);
	before = calloc((size_t)info->n_levels * n_rails, sizeof *before);
	if (!before)
		return tb_fail_memory_in(error, run->path, "the run");
	for (uint32_t i = 0; i < info->n_switches; i++) {
		const struct tb_switch_info *at = &run->switches[i].at;
		if (at->rail + 1 < n_rails)
			before[(size_t)at->level * n_rails + at->rail + 1]++;
	}
	for (size_t i = 1; i < (size_t)info->n_levels * n_rails; i++)
		if (i % n_rails)
			before[i] += before[i - 1];
	for (uint32_t i = 0; i < info->n_switches; i++) {
		const struct tb_switch_info *at = &run->switches[i].at;
		run->switches[i].place += before[(size_t)at->level * n_rails + at->rail];
	}
	free(before);
	return TB_OK;
}

static int run_check_ports(const struct tb_run *run, struct tb_error *error)
{
	const struct tb_run_info *info = &run->record.info;
	uint64_t n_ports = 0;
	for (uint32_t i = 0; i < info->n_switches; i++)
		n_ports +=
			run->switches[i].at.n_down_ports + run->switches[i].at.n_up_ports;
	uint64_t max = (uint64_t)PORTS_A_LINK_MAX * info->n_links + FREE_PORTS_MAX;
	return n_ports <= max ? TB_OK
			      : tb_run_damaged(run->path, "topology_switch", error);
}

// check_info checks the counts for plausibility: a level has a switch, a link two ends.
static int check_info(const struct tb_run *run, struct tb_error *error)
{
	const struct tb_run_info *info = &run->record.info;
	bool levels = info->n_levels <= info->n_switches &&
		      (info->n_switches == 0) == (info->n_levels == 0);
	bool ends = info->n_links == 0 || (info->n_switches > 0 && info->n_nodes > 0);
	return levels && ends ? TB_OK : tb_run_damaged(run->path, "run", error);
}

static int run_allocate(struct tb_run *run, struct tb_error *error)
{
	const struct tb_run_info *info = &run->record.info;
	// One entry more, because calloc of 0 entries may return NULL.
	run->node_names = calloc((size_t)info->n_nodes + 1, sizeof *run->node_names);
	run->job_names = calloc((size_t)info->n_jobs + 1, sizeof *run->job_names);
	run->hosts = calloc((size_t)info->n_nodes + 1, sizeof *run->hosts);
	run->switches = calloc((size_t)info->n_switches + 1, sizeof *run->switches);
	run->switch_names =
		calloc((size_t)info->n_switches + 1, sizeof *run->switch_names);
	run->links = calloc((size_t)info->n_links + 1, sizeof *run->links);
	run->link_names = calloc((size_t)info->n_links + 1, sizeof *run->link_names);
	if (!run->node_names || !run->hosts || !run->switch_names || !run->link_names ||
		!run->job_names || !run->switches || !run->links)
		return tb_fail_memory_in(error, run->path, "the run");
	return TB_OK;
}

#define LAST(number, table, of) "SELECT 1 + max(" number ") FROM " table " " of
#define OF_RUN			"WHERE run = ?1"
#define OF_NETWORK		"WHERE topology = " TB_RUN_TOPOLOGY

static int load_topology(struct tb_run *run, struct tb_error *error)
{
	const struct tb_run_info *info = &run->record.info;
	const struct run_table tables[] = {
		{"topology_node", LAST("node", "topology_node", OF_NETWORK),
			"SELECT t.node, coalesce(n.name, t.host), t.host FROM "
			"topology_node AS t LEFT JOIN node_name AS n ON n.run = ?1 AND "
			"n.node = t.node " OF_NETWORK " ORDER BY t.node",
			info->n_nodes, run_take_node},
		{"job", LAST("job", "job", OF_RUN),
			"SELECT job, name FROM job " OF_RUN " ORDER BY job", info->n_jobs,
			run_take_job},
		{"topology_switch", LAST("switch", "topology_switch", OF_NETWORK),
			"SELECT switch, level, index_in_level, n_down_ports, n_up_ports, "
			"rail, name FROM topology_switch " OF_NETWORK " ORDER BY switch",
			info->n_switches, take_switch},
		{"topology_link", LAST("link", "topology_link", OF_NETWORK),
			"SELECT link, kind, from_node, from_switch, from_port, "
			"from_number, to_node, to_switch, to_port, to_number, reverse, "
			"bytes_per_s, latency_ps FROM topology_link " OF_NETWORK
			" ORDER BY link",
			info->n_links, run_take_link},
	};
	const size_t n_tables = sizeof tables / sizeof *tables;
	int status = check_info(run, error);
	for (size_t i = 0; !status && i < n_tables; i++)
		status = check_count(run, &tables[i], error);
	if (!status)
		status = run_allocate(run, error);
	for (size_t i = 0; !status && i < n_tables; i++)
		status = run_take_rows(run, &tables[i], error);
	if (!status)
		status = run_find_places(run, error);
	if (!status)
		status = tb_run_name_labels(run, error);
	return status ? status : run_check_ports(run, error);
}

// run_load reads everything from one state of the file.
static int run_load(struct tb_run *run, int64_t id, struct tb_error *error)
{
	int status = tb_sql_exec(run->db, run->path, "BEGIN", error);
	if (!status)
		status = tb_run_record_load(run->db, run->path, id, &run->record, error);
	if (!status)
		status = load_topology(run, error);
	if (!status)
		status = tb_run_faults_load(run, error);
	if (!status && tb_run_is_measured(&run->record.info))
		status = tb_run_known_load(run, error);
	if (!status)
		status = tb_run_jobs_load(run, error);
	if (!status)
		status = tb_run_window_init(run, error);
	if (!status)
		status = tb_sql_exec(run->db, run->path, "COMMIT", error);
	return status;
}

// take_database loads a run from an open store, and closes the store on failure.
static int take_database(struct tb_run **run, sqlite3 *db, const char *path, int64_t id,
	struct tb_error *error)
{
	struct tb_run *made = calloc(1, sizeof *made);
	char *name = strdup(path);
	if (!made || !name) {
		free(made);
		free(name);
		sqlite3_close(db);
		return tb_fail_memory_in(error, path, "it");
	}
	made->db = db;
	made->path = name;
	int status = run_load(made, id, error);
	if (status)
		tb_run_free(made);
	else
		*run = made;
	return status;
}

bool tb_run_is_store(const char *path)
{
	enum tb_sql_file kind;
	return tb_sql_probe(path, &kind, NULL) == TB_OK && kind == TB_SQL_STORE;
}

int tb_run_open(struct tb_run **run, const char *path, int64_t id, struct tb_error *error)
{
	sqlite3 *db = NULL;
	int status = tb_sql_open_reader(&db, path, error);
	return status ? status : take_database(run, db, path, id, error);
}

int tb_run_open_bytes(
	struct tb_run **run, const void *bytes, size_t size, struct tb_error *error)
{
	sqlite3 *db = NULL;
	int status = tb_sql_open_bytes(&db, TB_RUN_IN_MEMORY, bytes, size, error);
	return status ? status : take_database(run, db, TB_RUN_IN_MEMORY, 0, error);
}

// SQLite looks this often whether a query is to stop, in steps of its machine: every
// millisecond or two.
#define STEPS_A_LOOK 20000

static int run_stops(void *context)
{
	const struct tb_run *run = context;
	return run->stops && run->stops(run->stops_context);
}

void tb_run_stop_by(struct tb_run *run, bool (*by)(void *context), void *context)
{
	run->stops = by;
	run->stops_context = context;
	sqlite3_progress_handler(run->db, STEPS_A_LOOK, run_stops, run);
}

const struct tb_run_switch *tb_run_switches(const struct tb_run *run)
{
	return run->switches;
}

const struct tb_run_link *tb_run_links(const struct tb_run *run)
{
	return run->links;
}

const char *tb_run_node_name(const struct tb_run *run, struct tb_node node)
{
	return node.id < run->record.info.n_nodes ? run->node_names[node.id] : "";
}

const char *tb_run_job_name(const struct tb_run *run, uint32_t job)
{
	return job < run->record.info.n_jobs ? run->job_names[job] : "";
}

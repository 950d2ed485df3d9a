#include "run_impl.h"
#include "stored_tables.h"

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

struct tb_row_reader tb_run_read(struct tb_run *run, const struct tb_stored_table *table,
	const char *from, struct tb_error *error)
{
	const struct tb_id_limits limits = tb_run_limits(&run->record.info);
	struct tb_row_reader reader =
		tb_row_reader_open(run->db, run->path, table, from, &limits, error);
	tb_row_bind(&reader, 1, run->record.info.id);
	return reader;
}

// Rows of the topology, to be read into arrays: they must be numbered 0 .. n - 1.

struct node_texts {
	char *name, *host;
};
#define RECORD struct node_texts
static const struct tb_stored_table nodes = {.name = "topology_node",
	.number = "t.node",
	TB_STORED_HAS(RECORD, TB_COLUMN("coalesce(n.name, t.host)", name),
		TB_COLUMN("t.host", host))};
#undef RECORD

struct job_text {
	char *name;
};
#define RECORD struct job_text
static const struct tb_stored_table jobs = {
	.name = "job", .number = "job", TB_STORED_HAS(RECORD, TB_COLUMN("name", name))};
#undef RECORD

struct switch_figures {
	struct tb_switch_info at;
	char *name;
};
#define RECORD struct switch_figures
static const struct tb_stored_table switches = {.name = "topology_switch",
	.number = "switch",
	TB_STORED_HAS(RECORD, TB_COLUMN_AS(TB_STORED_LEVEL, "level", at.level),
		TB_COLUMN_AS(TB_STORED_SWITCH, "index_in_level", at.index),
		TB_COLUMN("n_down_ports", at.n_down_ports),
		TB_COLUMN("n_up_ports", at.n_up_ports), TB_COLUMN("rail", at.rail),
		TB_COLUMN("name", name))};
#undef RECORD

union topology_row {
	struct node_texts node;
	struct job_text job;
	struct switch_figures in_switch;
	struct tb_link_row link;
};

struct run_table {
	const struct tb_stored_table *table;
	const char *number; // the column that counts the rows
	const char *from;   // SQL; run is ?1
	uint32_t n;
	// take returns false for a row that makes no sense, or for want of memory, which
	// it then reports.
	bool (*take)(struct tb_run *run, union topology_row *row, uint32_t i,
		struct tb_row_reader *rows);
};

static int miscounted(struct tb_run *run, const struct run_table *table, int64_t n,
	struct tb_error *error)
{
	return tb_fail_in(error, TB_EFORMAT, run->path,
		"is damaged: its table '%s' has %lld rows for run %lld, expected %u",
		table->table->name, (long long)n, (long long)run->record.info.id,
		table->n);
}

// check_count compares the number of rows with that in the run's row before memory is
// allocated for them. The last row's number and the size of the file stand for it:
// counting would read a table that is read again.
static int check_count(
	struct tb_run *run, const struct run_table *table, struct tb_error *error)
{
	int64_t n = 0, n_bytes = 0;
	char sql[192];
	snprintf(sql, sizeof sql, "SELECT 1 + max(%s) FROM %s %s", table->number,
		table->table->name, strstr(table->from, "WHERE"));
	*strstr(sql, " ORDER") = '\0';
	int status =
		tb_sql_number(run->db, run->path, sql, run->record.info.id, &n, error);
	if (!status && n != table->n)
		return miscounted(run, table, n, error);
	if (!status)
		status = tb_sql_number(run->db, run->path,
			"SELECT page_count * page_size FROM pragma_page_count, "
			"pragma_page_size",
			0, &n_bytes, error);
	if (!status && n > n_bytes / ROW_BYTES_MIN)
		return miscounted(run, table, n_bytes / ROW_BYTES_MIN, error);
	return status;
}

static bool run_take_node(struct tb_run *run, union topology_row *row, uint32_t i,
	struct tb_row_reader *rows)
{
	(void)rows;
	run->node_names[i] = row->node.name;
	run->hosts[i] = row->node.host;
	return true;
}

static bool run_take_job(struct tb_run *run, union topology_row *row, uint32_t i,
	struct tb_row_reader *rows)
{
	(void)rows;
	run->job_names[i] = row->job.name;
	return true;
}

static bool take_switch(struct tb_run *run, union topology_row *row, uint32_t i,
	struct tb_row_reader *rows)
{
	const struct switch_figures *from = &row->in_switch;
	(void)rows;
	run->switches[i] =
		(struct tb_run_switch){.id = {i}, .at = from->at, .name = from->name};
	run->switch_names[i] = from->name;
	return from->at.n_down_ports <= PORTS_MAX && from->at.n_up_ports <= PORTS_MAX &&
	       from->at.rail < run->record.info.network.n_rails;
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
static char *append_end(const struct tb_run *run, char *at,
	const struct tb_link_row_end *end, bool with_port)
{
	bool is_node = end->node != TB_ID_NONE;
	if (is_node && *run->hosts[end->node])
		return append_text(at, run->hosts[end->node], END_NAME_SIZE - 1);
	if (is_node)
		return append_number(append_text(at, "node ", 5), end->node);
	at = append_text(at, run->switches[end->in_switch].name, SWITCH_NAME_SIZE);
	return with_port ? append_number(append_text(at, ":", 1), end->number) : at;
}

// settle_end finds at which of a node and a switch an end is; false where that is
// nowhere.
static bool settle_end(
	const struct tb_run *run, struct tb_link_row_end *end, bool is_node, uint32_t *id)
{
	if (is_node)
		end->in_switch = TB_ID_NONE;
	else
		end->node = TB_ID_NONE;
	*id = is_node ? end->node : end->in_switch;
	if (*id == TB_ID_NONE || end->port > PORTS_MAX || end->number > PORTS_MAX)
		return false;
	const struct tb_switch_info *at = is_node ? NULL : &run->switches[*id].at;
	return is_node || end->port < at->n_down_ports + at->n_up_ports;
}

static bool run_take_link(struct tb_run *run, union topology_row *row, uint32_t i,
	struct tb_row_reader *rows)
{
	struct tb_run_link *link = &run->links[i];
	struct tb_link_row *from = &row->link;
	link->id.id = i;
	link->at = from->at;
	if (!settle_end(run, &from->from, link->at.kind == TB_LINK_INJECTION,
		    &link->at.from) ||
		!settle_end(
			run, &from->to, link->at.kind == TB_LINK_EJECTION, &link->at.to))
		return false;
	link->at.from_port = from->from.port;
	link->at.to_port = from->to.port;
	link->at.n_vcs = run->record.info.network.n_vcs;
	link->at.fifo_bytes = run->record.info.network.fifo_bytes;
	// Join the names of the ends; ports are named only between switches.
	bool with_ports = from->from.node == TB_ID_NONE && from->to.node == TB_ID_NONE;
	char name[2 * END_NAME_SIZE + 8];
	char *at = append_text(append_end(run, name, &from->from, with_ports), " > ", 3);
	*append_end(run, at, &from->to, with_ports) = '\0';
	run->links[i].name = run->link_names[i] = strdup(name);
	bool named = run->link_names[i] != NULL;
	if (!named)
		tb_row_no_memory(rows, "the run");
	return named;
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

#define OF_NETWORK "WHERE topology = " TB_RUN_TOPOLOGY " ORDER BY "

// Which links and switches are dead, and from when on.
struct fault_row {
	struct tb_link link;
	struct tb_switch in_switch;
	tb_time_ps at_ps;
};
#define RECORD struct fault_row
static const struct tb_stored_table faults =
	TB_STORED_TABLE("fault", RECORD, TB_COLUMN_WITH("link", link, TB_STORED_OR_NULL),
		TB_COLUMN_WITH("switch", in_switch, TB_STORED_OR_NULL),
		TB_COLUMN("at_ps", at_ps));
#undef RECORD

static void die(tb_time_ps *dead_at_ps, tb_time_ps at_ps)
{
	if (at_ps < *dead_at_ps)
		*dead_at_ps = at_ps;
}

// load_faults notes a cable's two links, or a switch, which dies with all its cables.
static int load_faults(struct tb_run *run, struct tb_error *error)
{
	struct fault_row row;
	for (uint32_t i = 0; i < run->record.info.n_links; i++)
		run->links[i].dead_at_ps = TB_TIME_NEVER;
	for (uint32_t i = 0; i < run->record.info.n_switches; i++)
		run->switches[i].dead_at_ps = TB_TIME_NEVER;
	struct tb_row_reader rows =
		tb_run_read(run, &faults, "fault WHERE run = ?1 ORDER BY fault", error);
	for (; tb_row_read(&rows, &row); run->n_faults++) {
		uint32_t id = row.link.id;
		if (id == TB_ID_NONE && row.in_switch.id == TB_ID_NONE) {
			tb_row_damaged(&rows);
			break;
		}
		if (id == TB_ID_NONE) {
			die(&run->switches[row.in_switch.id].dead_at_ps, row.at_ps);
			continue;
		}
		die(&run->links[id].dead_at_ps, row.at_ps);
		die(&run->links[run->links[id].at.reverse.id].dead_at_ps, row.at_ps);
	}
	for (uint32_t i = 0; i < run->record.info.n_links && run->n_faults; i++) {
		struct tb_run_link *link = &run->links[i];
		if (link->at.kind != TB_LINK_INJECTION)
			die(&link->dead_at_ps, run->switches[link->at.from].dead_at_ps);
		if (link->at.kind != TB_LINK_EJECTION)
			die(&link->dead_at_ps, run->switches[link->at.to].dead_at_ps);
	}
	return tb_row_reader_end(&rows);
}

uint32_t tb_run_n_faults(const struct tb_run *run)
{
	return run->n_faults;
}

// Which job a node belongs to.
struct node_jobs {
	struct tb_node node;
	uint32_t first, last;
};
#define RECORD struct node_jobs
static const struct tb_stored_table jobs_of_nodes = TB_STORED_TABLE("job_node", RECORD,
	TB_COLUMN("node", node), TB_COLUMN_AS(TB_STORED_JOB, "min(job)", first),
	TB_COLUMN_AS(TB_STORED_JOB, "max(job)", last));
#undef RECORD

static int load_node_jobs(struct tb_run *run, struct tb_error *error)
{
	const struct tb_run_info *info = &run->record.info;
	struct node_jobs row;
	run->node_jobs = malloc((info->n_nodes + 1u) * sizeof *run->node_jobs);
	if (!run->node_jobs)
		return tb_fail_memory_in(error, run->path, "the run");
	for (uint32_t i = 0; i < info->n_nodes; i++)
		run->node_jobs[i] = info->n_jobs == 1 ? 0 : TB_ID_NONE;
	if (info->n_jobs < 2)
		return TB_OK;
	struct tb_row_reader rows = tb_run_read(
		run, &jobs_of_nodes, "job_node WHERE run = ?1 GROUP BY node", error);
	while (tb_row_read(&rows, &row))
		if (row.first == row.last)
			run->node_jobs[row.node.id] = row.first;
	return tb_row_reader_end(&rows);
}

uint32_t tb_run_node_job(const struct tb_run *run, struct tb_node node)
{
	return node.id < run->record.info.n_nodes ? run->node_jobs[node.id] : TB_ID_NONE;
}

// run_load reads everything from one state of the file.
static int run_load(struct tb_run *run, int64_t id, struct tb_error *error)
{
	int status = tb_sql_exec(run->db, run->path, "BEGIN", error);
	if (!status)
		status = tb_run_record_load(run->db, run->path, id, &run->record, error);
	if (!status) {
		const struct tb_run_info *info = &run->record.info;
		const struct run_table tables[] = {
			{&nodes, "node",
				"topology_node AS t LEFT JOIN node_name AS n ON n.run = "
				"?1 AND n.node = t.node " OF_NETWORK "t.node",
				info->n_nodes, run_take_node},
			{&jobs, "job", "job WHERE run = ?1 ORDER BY job", info->n_jobs,
				run_take_job},
			{&switches, "switch", "topology_switch " OF_NETWORK "switch",
				info->n_switches, take_switch},
			{&tb_topology_links, "link", "topology_link " OF_NETWORK "link",
				info->n_links, run_take_link},
		};
		const size_t n_tables = sizeof tables / sizeof *tables;
		// A level has a switch, a link two ends.
		bool levels = info->n_levels <= info->n_switches &&
			      (info->n_switches == 0) == (info->n_levels == 0);
		bool ends =
			info->n_links == 0 || (info->n_switches > 0 && info->n_nodes > 0);
		status = levels && ends ? TB_OK : tb_sql_damaged(run->path, "run", error);
		for (size_t i = 0; !status && i < n_tables; i++)
			status = check_count(run, &tables[i], error);
		if (!status)
			status = run_allocate(run, error);
		for (size_t t = 0; !status && t < n_tables; t++) {
			const struct run_table *table = &tables[t];
			struct tb_row_reader rows =
				tb_run_read(run, table->table, table->from, error);
			union topology_row row;
			uint32_t i = 0;
			while (tb_row_read(&rows, &row))
				if (i >= table->n || rows.number != i ||
					!table->take(run, &row, i++, &rows))
					tb_row_damaged(&rows);
			status = tb_row_reader_end(&rows);
			if (!status && i != table->n)
				status = miscounted(run, table, i, error);
		}
		if (!status)
			status = run_find_places(run, error);
		if (!status)
			status = tb_run_name_labels(run, error);
		uint64_t n_ports = 0;
		for (uint32_t i = 0; i < info->n_switches && !status; i++)
			n_ports += run->switches[i].at.n_down_ports +
				   run->switches[i].at.n_up_ports;
		if (!status && n_ports > (uint64_t)PORTS_A_LINK_MAX * info->n_links +
						 FREE_PORTS_MAX)
			status = tb_sql_damaged(run->path, "topology_switch", error);
	}
	if (!status)
		status = load_faults(run, error);
	if (!status && tb_run_is_measured(&run->record.info))
		status = tb_run_known_load(run, error);
	if (!status)
		status = load_node_jobs(run, error);
	if (!status)
		status = tb_run_window_init(run, error);
	if (!status)
		status = tb_sql_exec(run->db, run->path, "COMMIT", error);
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
	if (status)
		return status;
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
	status = run_load(made, id, error);
	if (status)
		tb_run_free(made);
	else
		*run = made;
	return status;
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

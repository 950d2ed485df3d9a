#include "run_copy.h"

#include "store_impl.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TABLES_MOST = 64 };

// What a table's rows belong to.
enum copied_rows_of { OF_PLANS, OF_RUNS, OF_TOPOLOGIES, OWNERS };

// SQL behind "SELECT * FROM table": rows of ?1, a run or a topology, or all.
static const char *const rows_where[OWNERS] = {
	"", " WHERE run = ?1", " WHERE topology = ?1"};

// A table, with the statement that adds a row to it.
struct copied_table {
	char *read; // SQL
	sqlite3_stmt *insert;
	enum copied_rows_of of;
};

struct tb_run_copy {
	sqlite3 *to;
	const char *to_path;
	struct copied_table tables[TABLES_MOST];
	size_t n_tables;
};

void tb_run_copy_free(struct tb_run_copy *copy)
{
	if (!copy)
		return;
	for (size_t i = 0; i < copy->n_tables; i++) {
		sqlite3_free(copy->tables[i].read);
		sqlite3_finalize(copy->tables[i].insert);
	}
	free(copy);
}

static int copy_add_table(struct tb_run_copy *copy, const char *name, int n_columns,
	enum copied_rows_of of, struct tb_error *error)
{
	if (copy->n_tables == TABLES_MOST)
		return tb_fail_in(error, TB_ECAPACITY, copy->to_path,
			"has more than %d tables", TABLES_MOST);
	struct copied_table *table = &copy->tables[copy->n_tables++];
	*table = (struct copied_table){.of = of,
		.read = sqlite3_mprintf("SELECT * FROM \"%w\"%s", name, rows_where[of])};
	// Make "INSERT INTO name VALUES (?,?,...)".
	sqlite3_str *text = sqlite3_str_new(NULL);
	sqlite3_str_appendf(text, "INSERT INTO \"%w\" VALUES (", name);
	for (int i = 0; i < n_columns; i++)
		sqlite3_str_appendall(text, i ? ",?" : "?");
	sqlite3_str_appendall(text, ")");
	char *insert = sqlite3_str_finish(text);
	int status = table->read && insert
			     ? tb_sql_prepare(copy->to, copy->to_path, insert,
				       &table->insert, error)
			     : tb_fail_memory_in(error, copy->to_path, "it");
	sqlite3_free(insert);
	return status;
}

#define RECORD struct table_kind
struct table_kind {
	char *name;
	uint32_t n_columns, of;
};
static const struct tb_stored_table table_kinds = TB_STORED_TABLE("sqlite_schema", RECORD,
	TB_COLUMN("t.name", name), TB_COLUMN("count(*)", n_columns),
	TB_COLUMN("CASE WHEN t.name IN ('sweep_point', 'sweep_value') THEN 0 "
		  "WHEN sum(c.name = 'run') THEN 1 WHEN sum(c.name = 'topology') THEN 2 "
		  "ELSE 0 END",
		of));
#undef RECORD

// list_tables takes the tables from the store that is written, whose schema is this
// program's. All with a column `run` are of runs, but for those that plan a sweep; others
// with a column `topology` are of networks; what `shard` holds is of the store that is
// read alone.
static int list_tables(struct tb_run_copy *copy, struct tb_error *error)
{
	struct tb_row_reader reader = tb_row_reader_open(copy->to, copy->to_path,
		&table_kinds,
		"sqlite_schema AS t JOIN pragma_table_info(t.name) AS c WHERE t.type = "
		"'table' AND t.name <> 'shard' GROUP BY t.rowid",
		NULL, error);
	struct table_kind kind;
	int status = TB_OK;
	while (!status && tb_row_read(&reader, &kind)) {
		status = copy_add_table(copy, kind.name, (int)kind.n_columns,
			(enum copied_rows_of)kind.of, error);
		free(kind.name);
	}
	int read = tb_row_reader_end(&reader);
	return status ? status : read;
}

int tb_run_copy_new(struct tb_run_copy **copy, sqlite3 *to, const char *to_path,
	struct tb_error *error)
{
	struct tb_run_copy *made = calloc(1, sizeof *made);
	if (!made)
		return tb_fail_memory_in(error, to_path, "it");
	made->to = to;
	made->to_path = to_path;
	int status = list_tables(made, error);
	if (status)
		tb_run_copy_free(made);
	else
		*copy = made;
	return status;
}

static int copy_row(const struct tb_run_copy *copy, const struct copied_table *table,
	sqlite3_stmt *rows, struct tb_error *error)
{
	int n = sqlite3_column_count(rows);
	for (int i = 0; i < n; i++)
		if (sqlite3_bind_value(table->insert, i + 1,
			    sqlite3_column_value(rows, i)) != SQLITE_OK)
			return tb_sql_fail(error, copy->to, copy->to_path);
	return tb_sql_run(table->insert, copy->to_path, error);
}

static int copy_tables(const struct tb_run_copy *copy, enum copied_rows_of of,
	sqlite3 *from, const char *from_path, int64_t owner, struct tb_error *error)
{
	int status = TB_OK;
	for (size_t i = 0; i < copy->n_tables && !status; i++)
		if (copy->tables[i].of == of) {
			const struct copied_table *table = &copy->tables[i];
			sqlite3_stmt *rows = NULL;
			status = tb_sql_prepare(
				from, from_path, table->read, &rows, error);
			int code = SQLITE_DONE;
			if (!status && table->of != OF_PLANS)
				sqlite3_bind_int64(rows, 1, owner);
			while (!status && (code = sqlite3_step(rows)) == SQLITE_ROW)
				status = copy_row(copy, table, rows, error);
			if (!status && code != SQLITE_DONE)
				status = tb_sql_fail(error, from, from_path);
			sqlite3_finalize(rows);
		}
	return status;
}

#define RECORD struct run_topology
struct run_topology {
	int64_t topology;
	char *digest;
};
static const struct tb_stored_table run_topologies = TB_STORED_TABLE("topology", RECORD,
	TB_COLUMN_AS(TB_STORED_SIGNED, "topology", topology),
	TB_COLUMN("digest", digest));
#undef RECORD

// copy_topology copies the network of a run unless it is there.
static int copy_topology(const struct tb_run_copy *copy, sqlite3 *from,
	const char *from_path, int64_t run, struct tb_error *error)
{
	struct run_topology of = {.topology = 0};
	bool there = true;
	struct tb_row_reader reader = tb_row_reader_open(from, from_path, &run_topologies,
		"run JOIN topology USING (topology) WHERE run = ?1", NULL, error);
	tb_row_bind(&reader, 1, run);
	bool found = tb_row_read(&reader, &of);
	int status = tb_row_reader_end(&reader);
	if (found)
		status = tb_store_has_topology(
			copy->to, copy->to_path, of.topology, of.digest, &there, error);
	free(of.digest);
	return status || there ? status
			       : copy_tables(copy, OF_TOPOLOGIES, from, from_path,
					 of.topology, error);
}

static int copy_rows(const struct tb_run_copy *copy, enum copied_rows_of of,
	sqlite3 *from, const char *from_path, int64_t run, struct tb_error *error)
{
	bool alone = sqlite3_get_autocommit(copy->to);
	int status = alone ? tb_sql_exec(copy->to, copy->to_path, "BEGIN", error) : TB_OK;
	if (!status && of == OF_RUNS)
		status = copy_topology(copy, from, from_path, run, error);
	if (!status)
		status = copy_tables(copy, of, from, from_path, run, error);
	if (alone && !status)
		status = tb_sql_exec(copy->to, copy->to_path, "COMMIT", error);
	if (alone && status && !sqlite3_get_autocommit(copy->to))
		sqlite3_exec(copy->to, "ROLLBACK", NULL, NULL, NULL);
	return status;
}

int tb_run_copy(struct tb_run_copy *copy, sqlite3 *from, const char *from_path,
	int64_t run, struct tb_error *error)
{
	return copy_rows(copy, OF_RUNS, from, from_path, run, error);
}

int tb_run_copy_plan(struct tb_run_copy *copy, sqlite3 *from, const char *from_path,
	struct tb_error *error)
{
	return copy_rows(copy, OF_PLANS, from, from_path, 0, error);
}

// How errors name a store that came as bytes.
#define RECEIVED "store from another machine"

int tb_store_take_bytes(struct tb_store *store, const unsigned char *bytes, size_t size,
	int64_t run, struct tb_error *error)
{
	sqlite3 *from = NULL;
	struct tb_run_copy *copy = NULL;
	int64_t there = 0;
	int status = tb_sql_open_bytes(&from, RECEIVED, bytes, size, error);
	if (!status)
		status = tb_store_begin(store, error);
	if (!status)
		status = tb_run_copy_new(
			&copy, tb_store_db(store), tb_store_path(store), error);
	if (!status)
		status = tb_run_copy(copy, from, RECEIVED, run, error);
	tb_run_copy_free(copy);
	if (!status)
		status = tb_sql_number(tb_store_db(store), tb_store_path(store),
			"SELECT 1 FROM run WHERE run = ?1 AND complete", run, &there,
			error);
	if (!status && !there)
		status = tb_fail_in(
			error, TB_EFORMAT, RECEIVED, "has no run %lld", (long long)run);
	if (!status)
		status = tb_store_commit(store, error);
	tb_store_undo(store, status);
	sqlite3_close(from);
	return status;
}

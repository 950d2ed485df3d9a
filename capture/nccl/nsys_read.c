// Opens exports, and asks them.
#include "array.h"
#include "bytes.h"
#include "input_files.h"
#include "nsys_export.h"
#include "nsys_trace.h"
#include "stop.h"
#include "text_lines.h"
#include "units.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char magic[] = "SQLite format 3";

static int file_fail(struct nx_file *file)
{
	switch (sqlite3_errcode(file->db) & 0xff) {
	case SQLITE_NOMEM:
		return tb_fail_memory_in(file->error, file->path, "an export");
	case SQLITE_INTERRUPT:
		return tb_fail_in(file->error, TB_ESTOPPED, file->path, "stopped");
	case SQLITE_CANTOPEN:
	case SQLITE_IOERR:
		return tb_fail_in(file->error, TB_EIO, file->path, "cannot be read: %s",
			sqlite3_errmsg(file->db));
	default:
		return tb_fail_in(file->error, TB_EFORMAT, file->path, "is damaged: %s",
			sqlite3_errmsg(file->db));
	}
}

static int ask_to_stop(void *reading)
{
	const struct tb_reading *of = reading;
	return tb_stop_asked(of->stop);
}

// uri_of makes "file:PATH?immutable=1" of a path; NULL without memory. The caller frees
// it.
static char *uri_of(const char *path)
{
	char *uri = NULL;
	size_t size;
	FILE *out = open_memstream(&uri, &size);
	if (!out)
		return NULL;
	fputs(path[0] == '/' ? "file:" : "file:./", out);
	for (const char *c = path; *c; c++) {
		if (isalnum((unsigned char)*c) || strchr("/._-", *c))
			fputc(*c, out);
		else
			fprintf(out, "%%%02x", (unsigned char)*c);
	}
	fputs("?immutable=1", out);
	return tb_text_written(out, &uri);
}

// nx_open opens an export, which nx_close closes; of a failed one, too.
static int nx_open(struct nx_file *file, const char *path,
	const struct tb_reading *reading, struct tb_error *error)
{
	*file = (struct nx_file){NULL, path, error};
	char *uri = uri_of(path);
	if (!uri)
		return tb_fail_memory_in(error, path, "an export");
	int code = sqlite3_open_v2(uri, &file->db,
		SQLITE_OPEN_READONLY | SQLITE_OPEN_URI | SQLITE_OPEN_NOMUTEX, NULL);
	free(uri);
	if (code != SQLITE_OK)
		return file->db ? file_fail(file)
				: tb_fail_memory_in(error, path, "an export");
	// Keep foreign SQL in the schema from running, and limits values.
	sqlite3 *db = file->db;
	sqlite3_db_config(db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
	sqlite3_db_config(db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
	sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, NULL);
	sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_VIEW, 0, NULL);
	sqlite3_limit(db, SQLITE_LIMIT_LENGTH, 1 << 22);
	sqlite3_limit(db, SQLITE_LIMIT_SQL_LENGTH, 1 << 20);
	sqlite3_limit(db, SQLITE_LIMIT_EXPR_DEPTH, 50);
	sqlite3_limit(db, SQLITE_LIMIT_ATTACHED, 0);
	sqlite3_limit(db, SQLITE_LIMIT_VDBE_OP, 25000);
	sqlite3_exec(db, "PRAGMA cell_size_check = ON; PRAGMA mmap_size = 0", NULL, NULL,
		NULL);
	if (reading && reading->stop)
		sqlite3_progress_handler(
			file->db, 100000, ask_to_stop, (void *)(uintptr_t)reading);
	if (tb_input_note_path(path) != TB_OK)
		return tb_fail_memory_in(error, path, "an export");
	return sqlite3_exec(file->db, "SELECT count(*) FROM sqlite_schema", NULL, NULL,
		       NULL) == SQLITE_OK
		       ? TB_OK
		       : file_fail(file);
}

static void nx_close(struct nx_file *file)
{
	sqlite3_close(file->db);
	file->db = NULL;
}

int tb_nx_prepare(struct nx_file *file, const char *sql, sqlite3_stmt **query)
{
	return sqlite3_prepare_v2(file->db, sql, -1, query, NULL) == SQLITE_OK
		       ? TB_OK
		       : file_fail(file);
}

int tb_nx_step(struct nx_file *file, sqlite3_stmt *query)
{
	int code = sqlite3_step(query);
	return code == SQLITE_ROW ? 1 : code == SQLITE_DONE ? 0 : file_fail(file);
}

const char *tb_nx_text(sqlite3_stmt *query, int column)
{
	const char *text = (const char *)sqlite3_column_text(query, column);
	return text ? text : "";
}

// database_holds_text returns whether a query with a text to bind has a row whose first
// column is 1.
static bool database_holds_text(sqlite3 *db, const char *sql, const char *text)
{
	sqlite3_stmt *query = NULL;
	bool is = sqlite3_prepare_v2(db, sql, -1, &query, NULL) == SQLITE_OK &&
		  sqlite3_bind_text(query, 1, text, -1, SQLITE_STATIC) == SQLITE_OK &&
		  sqlite3_step(query) == SQLITE_ROW && sqlite3_column_int(query, 0) == 1;
	sqlite3_finalize(query);
	return is;
}

static bool table_has_column(
	const struct nx_file *file, const char *table, const char *column, size_t n)
{
	sqlite3_stmt *query = NULL;
	bool is =
		sqlite3_prepare_v2(file->db,
			"SELECT 1 FROM pragma_table_xinfo(?1) WHERE name = ?2", -1,
			&query, NULL) == SQLITE_OK &&
		sqlite3_bind_text(query, 1, table, -1, SQLITE_STATIC) == SQLITE_OK &&
		sqlite3_bind_text(query, 2, column, (int)n, SQLITE_STATIC) == SQLITE_OK &&
		sqlite3_step(query) == SQLITE_ROW;
	sqlite3_finalize(query);
	return is;
}

bool tb_nx_has(const struct nx_file *file, const char *table, const char *columns)
{
	// Generated columns would run what the file says, and so would virtual tables.
	if (!database_holds_text(file->db,
		    "SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND name = "
		    "?1 AND sql NOT LIKE 'create virtual%'",
		    table) ||
		!database_holds_text(file->db,
			"SELECT count(*) = 0 FROM pragma_table_xinfo(?1) WHERE hidden <> "
			"0",
			table))
		return false;
	for (size_t n; *columns; columns += n + (columns[n] == ' ')) {
		n = strcspn(columns, " ");
		if (!table_has_column(file, table, columns, n))
			return false;
	}
	return true;
}

bool tb_nsys_is(const char *path, struct tb_bytes first)
{
	struct nx_file file;
	if (first.n < sizeof magic || memcmp(first.data, magic, sizeof magic) != 0 ||
		!tb_input_is_file(path))
		return false;
	int status = nx_open(&file, path, NULL, NULL);
	// A damaged file that is called as an export is refused as one.
	const char *end = strrchr(path, '.');
	bool is = status == TB_EFORMAT && end && strcmp(end, ".sqlite") == 0;
	if (status == TB_OK)
		is = tb_nx_has(&file, "StringIds", "id value") &&
		     (tb_nx_has(&file, "NVTX_EVENTS", "start") ||
			     tb_nx_has(&file, "CUPTI_ACTIVITY_KIND_KERNEL", "start") ||
			     tb_nx_has(&file, "MPI_P2P_EVENTS", "start") ||
			     tb_nx_has(&file, "MPI_COLLECTIVES_EVENTS", "start") ||
			     tb_nx_has(&file, "TARGET_INFO_SESSION_START_TIME", ""));
	nx_close(&file);
	return is;
}

static bool file_is(const char *path, const char *name)
{
	unsigned char first[sizeof magic];
	const char *end = strrchr(name, '.');
	if (!end || strcmp(end, ".sqlite") != 0)
		return false;
	FILE *stream = tb_input_is_file(path) ? tb_input_fopen(path) : NULL;
	size_t n = stream ? fread(first, 1, sizeof first, stream) : 0;
	if (stream)
		fclose(stream);
	return tb_nsys_is(path, (struct tb_bytes){first, n});
}

bool tb_nsys_is_folder(const char *path)
{
	return tb_trace_files_are_in(path, file_is);
}

// nx_files lists the exports that paths name.
static int nx_files(struct tb_trace_files *files, const char *const *paths, size_t n,
	struct tb_error *error)
{
	return tb_trace_files_list(files, paths, n, file_is, error);
}

// What describes the call of a range of NCCL: its extended payload, of which the export
// has the bytes (nsys export --include-blobs=true) or JSON.
//
// The bytes begin with domain, schema, size of the payload and a fourth number, 64 bits
// each, in little-endian order; then comes the payload, whose fields the tables
// NVTX_PAYLOAD_SCHEMA_ENTRIES name (NCCL: src/include/nvtx_payload_schemas.h; types:
// nvtx3/nvToolsExtPayload.h).

enum { HEADER_BYTES = 32, ENTRIES_MOST = 1024 };

static const char *const field_names[NX_N_FIELDS] = {
	[NX_COMM] = "NCCL communicator ID",
	[NX_BYTES] = "Message size [bytes]",
	[NX_ROOT] = "Root",
	[NX_PEER] = "Peer rank",
	[NX_RANK] = "Rank",
	[NX_N_RANKS] = "No. of ranks",
	[NX_DEVICE] = "CUDA device",
};

void tb_nx_schemas_fini(struct nx_schemas *schemas)
{
	free(schemas->entries);
	*schemas = (struct nx_schemas){0};
}

// type_width returns the bytes of an entry's type that is a whole number; 0: another.
static uint32_t type_width(int64_t type)
{
	static const uint8_t widths[] = {
		[1] = 1, 1, 2, 2, 4, 4, 8, 8, 8, 8, 1, 1, 2, 2, 4, 4, 8, 8, [22] = 8, 8};
	return type > 0 && type < (int64_t)sizeof widths ? widths[type] : 0;
}

static int add_entry(struct nx_schemas *schemas, struct nx_file *file,
	sqlite3_stmt *query, uint64_t *end)
{
	struct nx_schema_entry entry = {
		.domain = (uint64_t)sqlite3_column_int64(query, 0),
		.schema = (uint64_t)sqlite3_column_int64(query, 1),
		.width = type_width(sqlite3_column_int64(query, 3)),
		.field = NX_N_FIELDS};
	const char *name = tb_nx_text(query, 4);
	bool is_first = sqlite3_column_int64(query, 2) == 0;
	uint64_t width = entry.width ? entry.width : 8;
	while (entry.field > 0 && strcmp(field_names[entry.field - 1], name) != 0)
		entry.field--;
	// Without an offset fields follow each other, aligned to their own size.
	if (sqlite3_column_type(query, 5) != SQLITE_NULL)
		entry.offset = (uint64_t)sqlite3_column_int64(query, 5);
	else
		entry.offset = is_first ? 0 : (*end + width - 1) / width * width;
	if (entry.offset >= UINT32_MAX)
		return tb_fail_in(file->error, TB_EFORMAT, file->path,
			"its table NVTX_PAYLOAD_SCHEMA_ENTRIES has an offset that cannot "
			"be");
	*end = entry.offset + width;
	if (entry.field == 0 || entry.width == 0)
		return TB_OK;
	entry.field--;
	if (schemas->n >= ENTRIES_MOST)
		return tb_fail_in(file->error, TB_ECAPACITY, file->path,
			"has payloads of more than %d forms", ENTRIES_MOST);
	if (TB_ARRAY_RESERVE(&schemas->entries, &schemas->room, schemas->n + 1) != TB_OK)
		return tb_fail_memory_in(file->error, file->path, "payloads");
	schemas->entries[schemas->n++] = entry;
	return TB_OK;
}

int tb_nx_schemas(struct nx_schemas *schemas, struct nx_file *file)
{
	sqlite3_stmt *query = NULL;
	uint64_t end = 0;
	int found = 1;
	if (!tb_nx_has(file, "NVTX_PAYLOAD_SCHEMA_ENTRIES",
		    "domainId schemaId idx type name offset"))
		return TB_OK;
	int status = tb_nx_prepare(file,
		"SELECT DISTINCT domainId, schemaId, idx, type, name, offset FROM "
		"NVTX_PAYLOAD_SCHEMA_ENTRIES ORDER BY domainId, schemaId, idx",
		&query);
	while (status == TB_OK && (found = tb_nx_step(file, query)) > 0)
		status = add_entry(schemas, file, query, &end);
	sqlite3_finalize(query);
	return found < 0 ? found : status;
}

static void payload_put(struct nx_payload *payload, enum nx_field field, uint64_t value)
{
	if (payload->has[field])
		return;
	payload->has[field] = true;
	payload->value[field] = value;
}

static uint64_t little(const uint8_t *bytes, uint32_t n)
{
	uint64_t value = 0;
	while (n-- > 0)
		value = value << 8 | bytes[n];
	return value;
}

// A number may be text there: "0x1f", "31".
static void payload_take_value(
	sqlite3_stmt *query, int column, enum nx_field field, struct nx_payload *payload)
{
	char *end;
	double real = sqlite3_column_double(query, column);
	const char *text;
	uint64_t value = 0;
	switch (sqlite3_column_type(query, column)) {
	case SQLITE_INTEGER:
		value = (uint64_t)sqlite3_column_int64(query, column);
		break;
	case SQLITE_FLOAT: // an id beyond 2^63
		if (!(real >= 0 && real < 1.8e19))
			return;
		value = (uint64_t)real;
		break;
	case SQLITE_TEXT:
		text = tb_nx_text(query, column);
		value = strtoull(text, &end, 0);
		if (end == text)
			return;
		break;
	default:
		return;
	}
	payload_put(payload, field, value);
}

char *tb_nx_payload_columns(const struct nx_file *file)
{
	char *sql = NULL;
	size_t size;
	bool has_id = tb_nx_has(file, "NVTX_EVENTS", "jsonTextId");
	bool has_text = tb_nx_has(file, "NVTX_EVENTS", "jsonText");
	const char *json = has_text && has_id ? "coalesce(e.jsonText, j.value)"
			   : has_id	      ? "j.value"
			   : has_text	      ? "e.jsonText"
					      : "NULL";
	FILE *out = open_memstream(&sql, &size);
	if (!out)
		return NULL;
	fputs(tb_nx_has(file, "NVTX_EVENTS", "binaryData") ? "e.binaryData" : "NULL",
		out);
	for (size_t i = 0; i < NX_N_FIELDS; i++)
		fprintf(out,
			", CASE WHEN json_valid(%s) THEN json_extract(%s, '$.\"%s\"') "
			"END",
			json, json, field_names[i]);
	fputs(" FROM NVTX_EVENTS e LEFT JOIN StringIds s ON s.id = ", out);
	fputs(tb_nx_has(file, "NVTX_EVENTS", "textId") ? "e.textId" : "NULL", out);
	if (has_id)
		fputs(" LEFT JOIN StringIds j ON j.id = e.jsonTextId", out);
	return tb_text_written(out, &sql);
}

void tb_nx_payload(const struct nx_schemas *schemas, sqlite3_stmt *query, int column,
	struct nx_payload *payload)
{
	*payload = (struct nx_payload){0};
	if (sqlite3_column_type(query, column) == SQLITE_BLOB) {
		const void *data = sqlite3_column_blob(query, column);
		struct tb_bytes blob = (struct tb_bytes){
			data, (size_t)sqlite3_column_bytes(query, column)};
		if (tb_bytes_have(blob, 0, HEADER_BYTES)) {
			// Some write the ids in the lower halves only.
			uint64_t domain = little(blob.data, 4),
				 schema = little(blob.data + 8, 4);
			uint64_t whole = little(blob.data + 8, 8);
			struct tb_bytes rest = tb_bytes_after(blob, HEADER_BYTES);
			for (size_t i = 0; i < schemas->n; i++) {
				const struct nx_schema_entry *entry =
					&schemas->entries[i];
				if ((entry->domain & UINT32_MAX) == domain &&
					(entry->schema == whole ||
						entry->schema == schema) &&
					tb_bytes_have(rest, entry->offset, entry->width))
					payload_put(payload, entry->field,
						little(rest.data + entry->offset,
							entry->width));
			}
		}
	}
	for (int i = 0; i < NX_N_FIELDS; i++)
		payload_take_value(query, column + 1 + i, (enum nx_field)i, payload);
}

// Reads the exports of a job, and what they hold beside calls.

#define ROWS_SHOWN 16

// count_kernels counts NCCL's kernels.
static int count_kernels(struct nx_file *file, uint64_t *n)
{
	sqlite3_stmt *query = NULL;
	if (!tb_nx_has(file, "CUPTI_ACTIVITY_KIND_KERNEL", "shortName"))
		return TB_OK;
	int status = tb_nx_prepare(file,
		"SELECT count(*) FROM CUPTI_ACTIVITY_KIND_KERNEL WHERE shortName IN "
		"(SELECT id FROM StringIds WHERE value LIKE 'nccl%')",
		&query);
	if (status == TB_OK && (status = tb_nx_step(file, query)) > 0) {
		*n += (uint64_t)sqlite3_column_int64(query, 0);
		status = TB_OK;
	}
	sqlite3_finalize(query);
	return status;
}

static int nsys_refuse_empty(const struct nx_trace *trace, struct tb_error *error)
{
	char text[2][48];
	if (trace->lacks_sizes)
		return tb_fail_in(error, TB_EFORMAT, trace->file,
			"has MPI calls without their sizes and partners: record with "
			"'nsys profile --trace=mpi' of Nsight Systems 2022 or later");
	if (trace->n_unranked > 0)
		return tb_fail_in(error, TB_EFORMAT, trace->file,
			"has %" PRIu64 " MPI calls, but not which rank made them (its "
			"table MPI_RANKS)",
			trace->n_unranked);
	if (trace->n_kernels + trace->n_nccl > 0)
		return tb_fail_in(error, TB_EFORMAT, trace->file,
			"has %s and %s of NCCL, and nothing tells what they send: record "
			"with --trace=cuda,nvtx and export with --include-blobs=true, or "
			"use NCCL's log (NCCL_DEBUG=INFO NCCL_DEBUG_SUBSYS=INIT,COLL) or "
			"torch.profiler",
			tb_format_counted(
				trace->n_kernels, "kernel", text[0], sizeof text[0]),
			tb_format_counted(
				trace->n_nccl, "call", text[1], sizeof text[1]));
	return tb_fail_in(error, TB_EFORMAT, trace->file,
		"has no MPI calls: record with 'nsys profile --trace=mpi,cuda,nvtx', "
		"export with 'nsys export -t sqlite'");
}

static int nsys_check_ranks(const struct nx_trace *trace, struct tb_error *error)
{
	uint32_t rank = 0, host;
	while (rank < trace->n_ranks && tb_map_find(&trace->host_of, rank, &host))
		rank++;
	if (rank >= trace->n_ranks)
		return TB_OK;
	return tb_fail_in(error, TB_EFORMAT, trace->file,
		"is of %" PRIu32 " ranks or more, of which %" PRIu32 " are there, and "
		"not rank %" PRIu32 ": give the exports of all reports",
		trace->n_ranks, trace->n_seen, rank);
}

// mpi_bytes sums what the MPI calls send, as far as they can be told apart.
static uint64_t mpi_bytes(const struct nx_trace *trace, uint64_t *n)
{
	uint64_t bytes = 0;
	*n = 0;
	for (size_t i = 0; i < trace->n; i++)
		if (trace->calls[i].act == NX_SEND ||
			trace->calls[i].act == NX_COLLECTIVE) {
			bytes += trace->calls[i].bytes;
			++*n;
		}
	return bytes;
}

// nsys_make_calls takes the calls of MPI or of NCCL, whichever send more: where a job
// uses both, MPI is for what NCCL needs to begin, or NCCL for a part.
static int nsys_make_calls(struct nx_trace *trace, struct nx_nccl *nccl,
	const struct tb_reading *reading, struct tb_calls **calls, const char **made)
{
	char text[2][48];
	uint64_t n_mpi, bytes = mpi_bytes(trace, &n_mpi);
	bool takes_nccl = trace->n_nccl > trace->n_nccl_unsized &&
			  (n_mpi == 0 || trace->nccl_bytes > bytes);
	if (takes_nccl) {
		int status = tb_nx_nccl_calls(nccl, trace, reading, calls);
		if (status == TB_OK)
			*made = "nccl";
		if (status == TB_OK && n_mpi > 0)
			tb_calls_note(*calls,
				"%s left out, of %s: those of NCCL send more",
				tb_format_counted(
					n_mpi, "MPI call is|MPI calls are", text[0], 48),
				tb_format_size(bytes, text[1], 48));
		return status;
	}
	int status = trace->n > 0 ? nsys_check_ranks(trace, trace->error)
				  : nsys_refuse_empty(trace, trace->error);
	if (status == TB_OK)
		status = tb_nx_calls(trace, reading, calls);
	if (status == TB_OK)
		*made = NULL;
	return status;
}

int tb_nsys_read(struct tb_calls **calls, const struct tb_reading *reading,
	const char *const *paths, size_t n, const char **made, struct tb_error *error)
{
	struct nx_trace trace = {.file = paths[0], .error = error};
	struct nx_nccl *nccl = NULL;
	struct tb_trace_files files = {0};
	int status = nx_files(&files, paths, n, error);
	for (size_t i = 0; i < files.n && status == TB_OK; i++) {
		const char *path = files.paths[i];
		struct nx_file file;
		status = nx_open(&file, path, reading, error);
		if (status == TB_OK)
			status = tb_nx_mpi(&trace, &file);
		if (status == TB_OK)
			status = tb_nx_nccl(&nccl, &file, (uint32_t)trace.n_hosts - 1);
		if (status == TB_OK)
			status = count_kernels(&file, &trace.n_kernels);
		nx_close(&file);
	}
	tb_trace_files_fini(&files);
	trace.n_nccl = tb_nx_nccl_count(nccl, &trace.n_nccl_unsized, &trace.nccl_bytes);
	if (status == TB_OK)
		status = nsys_make_calls(&trace, nccl, reading, calls, made);
	tb_nx_trace_fini(&trace);
	tb_nx_nccl_free(nccl);
	return status;
}

// What is asked for facts: a name, what must be there, and a query of text, count, bytes
// (or NULL) and nanoseconds (or NULL).
static const struct {
	const char *name, *table, *columns, *sql;
} questions[] = {
	{"host", "TARGET_INFO_SYSTEM_ENV", "name value",
		"SELECT value, NULL, NULL, NULL FROM TARGET_INFO_SYSTEM_ENV WHERE name = "
		"'Hostname' LIMIT 1"},
	{"report", "MPI_RANKS", "rank",
		"SELECT 'ranks of MPI', count(DISTINCT rank), NULL, NULL FROM MPI_RANKS"},
	{"messages", "MPI_P2P_EVENTS", "start end textId size",
		"SELECT s.value, count(*), total(e.size), total(e.end - e.start) FROM "
		"MPI_P2P_EVENTS e JOIN StringIds s ON s.id = e.textId GROUP BY s.value "
		"ORDER BY 4 DESC, 1"},
	{"collectives", "MPI_COLLECTIVES_EVENTS", "start end textId size",
		"SELECT s.value, count(*), total(e.size), total(e.end - e.start) FROM "
		"MPI_COLLECTIVES_EVENTS e JOIN StringIds s ON s.id = e.textId GROUP BY "
		"s.value ORDER BY 4 DESC, 1"},
	{"kernels", "CUPTI_ACTIVITY_KIND_KERNEL", "start end",
		"SELECT 'of all kinds', count(*), NULL, total(end - start) FROM "
		"CUPTI_ACTIVITY_KIND_KERNEL"},
	{"of NCCL", "CUPTI_ACTIVITY_KIND_KERNEL", "start end shortName",
		"SELECT s.value, count(*), NULL, total(e.end - e.start) FROM "
		"CUPTI_ACTIVITY_KIND_KERNEL e JOIN StringIds s ON s.id = e.shortName "
		"WHERE s.value LIKE 'nccl%' GROUP BY s.value ORDER BY 4 DESC, 1"},
	{"NCCL ranges", "NVTX_EVENTS", "start end text textId",
		"SELECT coalesce(e.text, s.value) AS name, count(*), NULL, total(e.end - "
		"e.start) FROM NVTX_EVENTS e LEFT JOIN StringIds s ON s.id = e.textId "
		"WHERE name LIKE 'nccl%' GROUP BY name ORDER BY 2 DESC, 1"},
};
#define N_QUESTIONS (sizeof questions / sizeof *questions)

static int facts_ask(struct tb_facts *facts, struct nx_file *file, size_t i)
{
	sqlite3_stmt *query = NULL;
	int n = 0, found = 1;
	if (!tb_nx_has(file, questions[i].table, questions[i].columns))
		return TB_OK;
	int status = tb_nx_prepare(file, questions[i].sql, &query);
	while (status == TB_OK && n < ROWS_SHOWN &&
		(found = tb_nx_step(file, query)) > 0) {
		const char *name = questions[i].name;
		char text[3][48], counted[56] = "", bytes[56] = "", time[56] = "";
		double size = sqlite3_column_double(query, 2);
		double ns = sqlite3_column_double(query, 3);
		if (sqlite3_column_type(query, 1) != SQLITE_NULL)
			snprintf(counted, sizeof counted, ": %s",
				tb_format_count((uint64_t)sqlite3_column_int64(query, 1),
					text[0], sizeof text[0]));
		if (size > 0 && size < 9e18)
			snprintf(bytes, sizeof bytes, ", %s",
				tb_format_size((uint64_t)size, text[1], sizeof text[1]));
		if (ns > 0 && ns < 9e15)
			snprintf(time, sizeof time, ", %s",
				tb_format_time(
					(tb_time_ps)(ns * 1e3), text[2], sizeof text[2]));
		tb_facts_add(facts, name, "%.200s%s%s%s", tb_nx_text(query, 0), counted,
			bytes, time);
		n++;
	}
	if (status == TB_OK && found > 0 && tb_nx_step(file, query) > 0)
		tb_facts_add(facts, questions[i].name, "and others");
	sqlite3_finalize(query);
	return found < 0 ? found : status;
}

int tb_nsys_facts(struct tb_facts *facts, const struct tb_reading *reading,
	const char *const *paths, size_t n, struct tb_error *error)
{
	struct tb_trace_files files = {0};
	int status = nx_files(&files, paths, n, error);
	for (size_t i = 0; i < files.n && status == TB_OK; i++) {
		struct nx_file file;
		const char *slash = strrchr(files.paths[i], '/');
		if (files.n > 1)
			tb_facts_add(facts, "export", "%.255s",
				slash ? slash + 1 : files.paths[i]);
		status = nx_open(&file, files.paths[i], reading, error);
		for (size_t q = 0; q < N_QUESTIONS && status == TB_OK; q++)
			status = facts_ask(facts, &file, q);
		nx_close(&file);
	}
	tb_trace_files_fini(&files);
	return status == TB_OK ? tb_facts_check(facts, error) : status;
}

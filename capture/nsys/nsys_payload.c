// What a range of NCCL tells of its call: its extended payload, of which the export has
// the bytes (nsys export --include-blobs=true) or JSON.
//
// The bytes begin with domain, schema, size of the payload and a fourth number, 64 bits
// each, in little-endian order; then comes the payload, whose fields the tables
// NVTX_PAYLOAD_SCHEMA_ENTRIES name (NCCL: src/include/nvtx_payload_schemas.h; types:
// nvtx3/nvToolsExtPayload.h).
#include "nsys_impl.h"

#include "array.h"
#include "bytes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

static void take_bytes(const struct nx_schemas *schemas, struct tb_bytes blob,
	struct nx_payload *payload)
{
	if (!tb_bytes_have(blob, 0, HEADER_BYTES))
		return;
	// Some write the ids in the lower halves only.
	uint64_t domain = little(blob.data, 4), schema = little(blob.data + 8, 4);
	uint64_t whole = little(blob.data + 8, 8);
	struct tb_bytes rest = tb_bytes_after(blob, HEADER_BYTES);
	for (size_t i = 0; i < schemas->n; i++) {
		const struct nx_schema_entry *entry = &schemas->entries[i];
		if ((entry->domain & UINT32_MAX) == domain &&
			(entry->schema == whole || entry->schema == schema) &&
			tb_bytes_have(rest, entry->offset, entry->width))
			payload_put(payload, entry->field,
				little(rest.data + entry->offset, entry->width));
	}
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
	if (fclose(out) == 0)
		return sql;
	free(sql);
	return NULL;
}

void tb_nx_payload(const struct nx_schemas *schemas, sqlite3_stmt *query, int column,
	struct nx_payload *payload)
{
	*payload = (struct nx_payload){0};
	if (sqlite3_column_type(query, column) == SQLITE_BLOB) {
		const void *data = sqlite3_column_blob(query, column);
		take_bytes(schemas,
			(struct tb_bytes){
				data, (size_t)sqlite3_column_bytes(query, column)},
			payload);
	}
	for (int i = 0; i < NX_N_FIELDS; i++)
		payload_take_value(query, column + 1 + i, (enum nx_field)i, payload);
}

// One list of the report as CSV (RFC 4180): a column per key of its JSON objects, in the
// order of schemas/report.schema.json.
#include "markup.h"
#include "report_lists.h"
#include "schemas.h"

#include <stdlib.h>
#include <string.h>

// put_figures writes the figures of a finding as "node=3 percent_of_wait=51.200".
static void put_figures(FILE *stream, json_t *figures)
{
	const char *key, *blank = "";
	json_t *value;
	json_object_foreach(figures, key, value)
	{
		fprintf(stream, json_is_real(value) ? "%s%s=%.3f" : "%s%s=%.0f", blank,
			key, json_number_value(value));
		blank = " ";
	}
}

static void put_value(FILE *stream, json_t *value)
{
	if (json_is_string(value))
		tb_csv_put(stream, json_string_value(value));
	else if (json_is_real(value))
		fprintf(stream, "%.3f", json_real_value(value));
	else if (json_is_integer(value))
		fprintf(stream, "%" JSON_INTEGER_FORMAT, json_integer_value(value));
	else if (json_is_boolean(value))
		fputs(json_is_true(value) ? "true" : "false", stream);
	else if (json_is_object(value))
		put_figures(stream, value);
}

// The ends of a flow, in the order of JSON, have columns of their own; empty where
// several flows were merged.
static const char *const ends[] = {"source", "destination"};

static bool is_party(const char *key)
{
	return strcmp(key, "victim") == 0 || strcmp(key, "culprit") == 0;
}

static void write_header(FILE *stream, json_t *columns)
{
	const char *key, *comma = "";
	json_t *value;
	json_object_foreach(columns, key, value)
	{
		if (!is_party(key))
			fprintf(stream, "%s%s", comma, key);
		for (size_t i = 0; is_party(key) && i < 2; i++, comma = ",")
			fprintf(stream, "%s%s_%s", comma, key, ends[i]);
		comma = ",";
	}
	fputc('\n', stream);
}

static void write_row(FILE *stream, json_t *columns, const json_t *object)
{
	const char *key, *comma = "";
	json_t *unused;
	json_object_foreach(columns, key, unused)
	{
		json_t *value = json_object_get(object, key);
		for (size_t i = 0; is_party(key) && i < 2; i++, comma = ",") {
			fputs(comma, stream);
			put_value(stream, json_object_get(value, ends[i]));
		}
		if (!is_party(key)) {
			fputs(comma, stream);
			put_value(stream, value);
		}
		comma = ",";
	}
	fputc('\n', stream);
}

// columns_of finds the keys of a list's objects in the schema, so that an empty list has
// a header too.
static json_t *columns_of(const json_t *schema, const char *list)
{
	char key[32];
	tb_report_list_key(list, key, sizeof key);
	const json_t *lists = json_object_get(schema, "properties");
	const json_t *items = json_object_get(json_object_get(lists, key), "items");
	return json_object_get(items, "properties");
}

int tb_report_write_csv(const struct tb_report *report, const char *list, FILE *stream)
{
	json_t *schema = json_loads(tb_schema_report_schema_json, 0, NULL);
	json_t *array = tb_report_list(report, list);
	json_t *columns = columns_of(schema, list);
	json_t *object;
	size_t i;
	if (columns && array) {
		write_header(stream, columns);
		json_array_foreach(array, i, object) write_row(stream, columns, object);
	}
	int status = columns && array ? TB_OK : TB_ENOMEM;
	json_decref(array);
	json_decref(schema);
	return status;
}

// Tables as JSON and CSV, and the schema of the JSON.
#include "json.h"
#include "markup.h"
#include "table.h"

#include <inttypes.h>
#include <string.h>

char *tb_table_key(const struct tb_table_type *type, char *key, size_t size)
{
	snprintf(key, size, "%s", type->name);
	for (char *at = key; *at; at++)
		if (*at == '-')
			*at = '_';
	return key;
}

static const char *json_text_of(const struct tb_datum *at)
{
	return at->word ? at->word : at->text;
}

// json_of_datum makes the JSON of a figure.
static json_t *json_of_datum(struct tb_datum *at)
{
	if (at->unknown)
		return json_null();
	switch (at->column->kind) {
	case TB_DATUM_TEXT:
		return tb_json_text(json_text_of(at));
	case TB_DATUM_FLAG:
		return json_boolean(at->whole);
	case TB_DATUM_ID:
	case TB_DATUM_COUNT:
	case TB_DATUM_TIME:
	case TB_DATUM_SIZE:
		return json_integer(at->whole);
	case TB_DATUM_MEAN:
	case TB_DATUM_PERCENT:
	case TB_DATUM_SHARE:
	case TB_DATUM_RATIO:
		return tb_json_real(at->real);
	case TB_DATUM_OBJECT:
	case TB_DATUM_KINDS:
		break;
	}
	return at->object;
}

static json_t *row_object(const struct tb_table *table, size_t row)
{
	struct tb_json_object object = tb_json_object_new();
	for (size_t i = 0; i < table->type->n_columns; i++) {
		struct tb_column column = tb_table_column(table, i);
		struct tb_datum datum;
		if (!column.key)
			continue;
		tb_table_put(table, &column, row, &datum);
		// Take `value` into the object, of "victim.job" into the object "victim"
		// of it.
		json_t *value = json_of_datum(&datum);
		const char *dot = strchr(column.key, '.');
		char outer[48];
		if (!dot) {
			tb_json_add(&object, column.key, value);
			continue;
		}
		snprintf(
			outer, sizeof outer, "%.*s", (int)(dot - column.key), column.key);
		json_t *inner = json_object_get(object.json, outer);
		if (!inner) {
			tb_json_add(&object, outer, json_object());
			inner = json_object_get(object.json, outer);
		}
		if (json_object_set_new(inner, dot + 1, value) != 0)
			object.failed = true;
	}
	return tb_json_object_take(&object);
}

json_t *tb_table_json(const struct tb_table *table)
{
	json_t *array = json_array();
	for (size_t row = 0; array && row < table->n_rows; row++)
		array = tb_json_append(array, row_object(table, row));
	return array;
}

json_t *tb_table_object(const struct tb_table_type *type, const void *of)
{
	const struct tb_table table = {.type = type, .of = of};
	return row_object(&table, 0);
}

// put_members writes an object as "node=3 percent_of_wait=51.200".
static void put_members(FILE *stream, json_t *object)
{
	const char *key, *blank = "";
	json_t *value;
	json_object_foreach(object, key, value)
	{
		fprintf(stream, json_is_real(value) ? "%s%s=%.3f" : "%s%s=%.0f", blank,
			key, json_number_value(value));
		blank = " ";
	}
}

// is_in_csv: keys of objects have '_' for '.' there.
static bool is_in_csv(const struct tb_column *column)
{
	return column->key && !(column->flags & TB_COLUMN_NESTED);
}

static void csv_titles(const struct tb_table *table, FILE *stream)
{
	const char *comma = "";
	for (size_t i = 0; i < table->type->n_columns; i++) {
		struct tb_column column = tb_table_column(table, i);
		if (!is_in_csv(&column))
			continue;
		fputs(comma, stream);
		for (const char *at = column.key; *at; at++)
			fputc(*at == '.' ? '_' : *at, stream);
		comma = ",";
	}
	fputc('\n', stream);
}

void tb_table_csv(const struct tb_table *table, FILE *stream)
{
	csv_titles(table, stream);
	for (size_t row = 0; row < table->n_rows; row++) {
		const char *comma = "";
		for (size_t i = 0; i < table->type->n_columns; i++) {
			struct tb_column column = tb_table_column(table, i);
			struct tb_datum datum;
			if (!is_in_csv(&column))
				continue;
			fputs(comma, stream);
			tb_table_put(table, &column, row, &datum);
			if (!datum.unknown) {
				switch (datum.column->kind) {
				case TB_DATUM_TEXT:
					tb_csv_put(stream, json_text_of(&datum));
					break;
				case TB_DATUM_FLAG:
					fputs(datum.whole ? "true" : "false", stream);
					break;
				case TB_DATUM_ID:
				case TB_DATUM_COUNT:
				case TB_DATUM_TIME:
				case TB_DATUM_SIZE:
					fprintf(stream, "%" PRId64, datum.whole);
					break;
				case TB_DATUM_MEAN:
				case TB_DATUM_PERCENT:
				case TB_DATUM_SHARE:
				case TB_DATUM_RATIO:
					fprintf(stream, "%.3f", datum.real);
					break;
				case TB_DATUM_OBJECT:
				case TB_DATUM_KINDS:
					put_members(stream, datum.object);
					break;
				}
				json_decref(datum.object);
			}
			comma = ",";
		}
		fputc('\n', stream);
	}
}

static const struct {
	const char *type;
	double least, most; // of numbers
} schemas[TB_DATUM_KINDS] = {
	[TB_DATUM_TEXT] = {"string", 0, 0},
	[TB_DATUM_FLAG] = {"boolean", 0, 0},
	[TB_DATUM_ID] = {"integer", 0, 0},
	[TB_DATUM_COUNT] = {"integer", 0, 0},
	[TB_DATUM_TIME] = {"integer", 0, 0},
	[TB_DATUM_SIZE] = {"integer", 0, 0},
	[TB_DATUM_MEAN] = {"number", 0, 0},
	[TB_DATUM_PERCENT] = {"number", 0, 0},
	// Sums of rounded parts may exceed the whole.
	[TB_DATUM_SHARE] = {"number", 0, 100.001},
	[TB_DATUM_RATIO] = {"number", 0, 0},
	[TB_DATUM_OBJECT] = {"object", 0, 0},
};

static json_t *words_schema(const char *(*word)(size_t i))
{
	json_t *words = json_array();
	for (size_t i = 0; words && word(i); i++)
		words = tb_json_append(words, json_string(word(i)));
	return json_pack("{s:o}", "enum", words);
}

static json_t *column_schema(const struct tb_column *column)
{
	char meaning[300];
	struct tb_json_object schema = {.json = NULL};
	const char *type = schemas[column->kind].type;
	if (column->schema)
		schema.json = json_loads(column->schema, 0, NULL);
	else if (column->word)
		schema.json = words_schema(column->word);
	else
		schema.json = json_object();
	schema.failed = !schema.json;
	if (column->meaning)
		tb_json_add_text(&schema, "description",
			tb_fill_words(column->meaning, NULL, meaning, sizeof meaning));
	if (column->schema || column->word)
		return tb_json_object_take(&schema);
	tb_json_add(&schema, "type",
		column->flags & TB_COLUMN_NULL ? json_pack("[s, s]", type, "null")
					       : json_string(type));
	bool number = strcmp(type, "integer") == 0 || strcmp(type, "number") == 0;
	if (number && !(column->flags & TB_COLUMN_SIGNED))
		tb_json_add(&schema, "minimum", json_integer(0));
	if (schemas[column->kind].most > 0)
		tb_json_add_real(&schema, "maximum", schemas[column->kind].most);
	return tb_json_object_take(&schema);
}

// object_schema makes the schema of an object without properties.
static struct tb_json_object object_schema(void)
{
	struct tb_json_object schema = tb_json_object_new();
	tb_json_add_text(&schema, "type", "object");
	tb_json_add(&schema, "required", json_array());
	tb_json_add(&schema, "additionalProperties", json_false());
	tb_json_add(&schema, "properties", json_object());
	return schema;
}

// add_property takes `property`.
static void add_property(
	struct tb_json_object *schema, const char *key, json_t *property, bool required)
{
	json_t *properties = json_object_get(schema->json, "properties");
	json_t *names = json_object_get(schema->json, "required");
	if (json_object_set_new(properties, key, property) != 0 ||
		(required && json_array_append_new(names, json_string(key)) != 0))
		schema->failed = true;
}

static void add_column(struct tb_json_object *schema, const struct tb_column *column)
{
	const char *dot = strchr(column->key, '.');
	bool required = !(column->flags & TB_COLUMN_SOME);
	char outer[48];
	if (!dot) {
		add_property(schema, column->key, column_schema(column), required);
		return;
	}
	snprintf(outer, sizeof outer, "%.*s", (int)(dot - column->key), column->key);
	json_t *properties = json_object_get(schema->json, "properties");
	struct tb_json_object inner = {.json = json_object_get(properties, outer)};
	if (!inner.json) {
		struct tb_json_object made = object_schema();
		add_property(schema, outer, tb_json_object_take(&made), required);
		inner.json = json_object_get(properties, outer);
	}
	add_property(&inner, dot + 1, column_schema(column), true);
	schema->failed |= inner.failed;
}

static struct tb_json_object columns_schema(const struct tb_table_type *type)
{
	struct tb_json_object schema = object_schema();
	for (size_t i = 0; i < type->n_columns; i++)
		if (type->columns[i].key)
			add_column(&schema, &type->columns[i]);
	return schema;
}

json_t *tb_table_object_schema(const struct tb_table_type *type)
{
	struct tb_json_object schema = columns_schema(type);
	if (type->meaning)
		tb_json_add_text(&schema, "description", type->meaning);
	return tb_json_object_take(&schema);
}

json_t *tb_table_schema(const struct tb_table_type *type)
{
	struct tb_json_object items = columns_schema(type);
	struct tb_json_object schema = tb_json_object_new();
	if (type->meaning)
		tb_json_add_text(&schema, "description", type->meaning);
	tb_json_add_text(&schema, "type", "array");
	tb_json_add(&schema, "items", tb_json_object_take(&items));
	return tb_json_object_take(&schema);
}

json_t *tb_schema_root(
	const char *id, const char *title, const char *description, json_t *properties)
{
	struct tb_json_object schema = tb_json_object_new();
	const char *key;
	json_t *value, *names = json_array();
	tb_json_add_text(
		&schema, "$schema", "https://json-schema.org/draft/2020-12/schema");
	tb_json_add_text(&schema, "$id", id);
	tb_json_add_text(&schema, "title", title);
	tb_json_add_text(&schema, "description", description);
	tb_json_add_text(&schema, "type", "object");
	json_object_foreach(properties, key, value) names =
		tb_json_append(names, json_string(key));
	tb_json_add(&schema, "required", names);
	tb_json_add(&schema, "additionalProperties", json_false());
	tb_json_add(&schema, "properties", properties);
	return tb_json_object_take(&schema);
}

#include "json.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

json_t *tb_json_count(uint64_t value)
{
	return json_integer(value < INT64_MAX ? (json_int_t)value : INT64_MAX);
}

json_t *tb_json_real(double value)
{
	return isfinite(value) ? json_real(value) : json_null();
}

// sequence_of returns the length of the UTF-8 sequence that begins with `first`, or 0 if
// none can. Jansson itself refuses overlong sequences and surrogates.
static size_t sequence_of(unsigned char first)
{
	if (first < 0x80)
		return 1;
	if (first >= 0xc2 && first <= 0xdf)
		return 2;
	if (first >= 0xe0 && first <= 0xef)
		return 3;
	return first >= 0xf0 && first <= 0xf4 ? 4 : 0;
}

static bool is_utf8(const char *text, size_t length)
{
	json_t *string = json_stringn(text, length);
	json_decref(string);
	return string != NULL;
}

json_t *tb_json_text(const char *text)
{
	static const char replacement[] = "\xef\xbf\xbd";
	json_t *string = json_string(text);
	if (string)
		return string;
	// At worst each byte becomes the three bytes of U+FFFD.
	char *clean = malloc(strlen(text) * 3 + 1), *end = clean;
	if (!clean)
		return NULL;
	while (*text) {
		size_t n = sequence_of((unsigned char)*text);
		bool whole = n > 0 && strnlen(text, n) == n && is_utf8(text, n);
		memcpy(end, whole ? text : replacement, whole ? n : 3);
		end += whole ? n : 3;
		text += whole ? n : 1;
	}
	string = json_stringn(clean, (size_t)(end - clean));
	free(clean);
	return string;
}

struct tb_json_object tb_json_object_new(void)
{
	json_t *json = json_object();
	return (struct tb_json_object){json, json == NULL};
}

// Jansson takes ownership of `value` even when it fails.
void tb_json_add(struct tb_json_object *object, const char *key, json_t *value)
{
	if (object->failed)
		json_decref(value);
	else if (json_object_set_new(object->json, key, value))
		object->failed = true;
}

void tb_json_add_count(struct tb_json_object *object, const char *key, uint64_t value)
{
	tb_json_add(object, key, tb_json_count(value));
}

void tb_json_add_real(struct tb_json_object *object, const char *key, double value)
{
	tb_json_add(object, key, tb_json_real(value));
}

void tb_json_add_text(struct tb_json_object *object, const char *key, const char *text)
{
	tb_json_add(object, key, tb_json_text(text));
}

void tb_json_add_all(struct tb_json_object *object, json_t *members)
{
	if (!members || json_object_update(object->json, members) != 0)
		object->failed = true;
	json_decref(members);
}

json_t *tb_json_object_take(struct tb_json_object *object)
{
	if (!object->failed)
		return object->json;
	json_decref(object->json);
	return NULL;
}

json_t *tb_json_append(json_t *array, json_t *value)
{
	if (json_array_append_new(array, value) == 0)
		return array;
	json_decref(array);
	return NULL;
}

// real_precision returns jansson's flag for `digits`. The macro yields an int, jansson's
// flags are size_t.
static size_t real_precision(int digits)
{
	return (size_t)JSON_REAL_PRECISION(digits);
}

int tb_json_write(json_t *json, int digits, FILE *stream)
{
	if (!json)
		return TB_ENOMEM;
	json_dumpf(json, stream, JSON_INDENT(2) | real_precision(digits));
	fputc('\n', stream);
	json_decref(json);
	return TB_OK;
}

void tb_json_rows_begin(struct tb_json_rows *rows, json_t *head, const char *key,
	int digits, FILE *stream)
{
	*rows = (struct tb_json_rows){stream, digits, "", head == NULL};
	if (rows->failed)
		return;
	const char *member;
	json_t *value;
	// jansson cannot write half an object, so write the members one by one.
	fputs("{\n", stream);
	json_object_foreach(head, member, value)
	{
		fprintf(stream, "  \"%s\": ", member);
		json_dumpf(value, stream, JSON_ENCODE_ANY | real_precision(digits));
		fputs(",\n", stream);
	}
	fprintf(stream, "  \"%s\": [", key);
	json_decref(head);
}

void tb_json_rows_put(struct tb_json_rows *rows, json_t *row)
{
	if (!row)
		rows->failed = true;
	if (rows->failed) {
		json_decref(row);
		return;
	}
	fprintf(rows->stream, "%s\n    ", rows->separator);
	json_dumpf(row, rows->stream, JSON_ENCODE_ANY | real_precision(rows->digits));
	rows->separator = ",";
	json_decref(row);
}

int tb_json_rows_end(struct tb_json_rows *rows)
{
	if (rows->failed)
		return TB_ENOMEM;
	fputs("\n  ]\n}\n", rows->stream);
	return TB_OK;
}

// JSON output, built with jansson: objects that remember a lack of memory, texts from
// outside, and long lists that are written row by row.
//
// Values are json_t; whoever is given one by "takes" owns it. NULL stands for "no memory"
// everywhere and is passed on, so one check at the end suffices.
#ifndef TB_JSON_H
#define TB_JSON_H

#include "status.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

// tb_json_count is a whole number; what does not fit 63 bits becomes 2^63 - 1.
json_t *tb_json_count(uint64_t value);

// tb_json_real is null where `value` is not finite, which JSON cannot write.
json_t *tb_json_real(double value);

// tb_json_text is a string of any bytes: what is not UTF-8 becomes U+FFFD.
json_t *tb_json_text(const char *text);

struct tb_json_object {
	json_t *json;
	bool failed;
};

struct tb_json_object tb_json_object_new(void);

// tb_json_add takes `value`. The other verbs make the value first.
void tb_json_add(struct tb_json_object *object, const char *key, json_t *value);
void tb_json_add_count(struct tb_json_object *object, const char *key, uint64_t value);
void tb_json_add_real(struct tb_json_object *object, const char *key, double value);
void tb_json_add_text(struct tb_json_object *object, const char *key, const char *text);

// tb_json_object_take ends the object and hands it over, or NULL.
json_t *tb_json_object_take(struct tb_json_object *object);

// tb_json_append takes both: it returns the array with `value` at its end, or NULL.
json_t *tb_json_append(json_t *array, json_t *value) TB_MUST_USE;

// tb_json_write takes `json` and writes it, indented, with a newline behind it; reals get
// `digits` significant digits. TB_ENOMEM when `json` is NULL; write errors show in
// ferror(stream).
int tb_json_write(json_t *json, int digits, FILE *stream) TB_MUST_USE;

// A list too long to be built as a whole: an object whose last member is an array, a row
// a line. Memory: one row.
struct tb_json_rows {
	FILE *stream;
	int digits;
	const char *separator;
	bool failed;
};

// tb_json_rows_begin takes `head` and writes its members, then opens the array `key`.
void tb_json_rows_begin(struct tb_json_rows *rows, json_t *head, const char *key,
	int digits, FILE *stream);
void tb_json_rows_put(struct tb_json_rows *rows, json_t *row); // takes `row`
int tb_json_rows_end(struct tb_json_rows *rows) TB_MUST_USE;   // TB_OK or TB_ENOMEM

#endif

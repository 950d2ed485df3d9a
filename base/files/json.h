// JSON output on top of jansson: objects that remember running out of memory, strings
// from outside that may not be UTF-8, and long lists that are written row by row.
//
// Values are json_t. A function that "takes" a value owns it from then on. NULL means
// "out of memory" everywhere and is passed on, so one check at the end suffices.
#ifndef TB_JSON_H
#define TB_JSON_H

#include "status.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

// tb_json_count makes a whole number; values above 2^63 - 1, which jansson cannot hold,
// become 2^63 - 1.
json_t *tb_json_count(uint64_t value);

// tb_json_real makes a number, or null where `value` is not finite: JSON has no NaN.
json_t *tb_json_real(double value);

// tb_json_text makes a string from any bytes; those that are not UTF-8 become U+FFFD.
json_t *tb_json_text(const char *text);

struct tb_json_object {
	json_t *json;
	bool failed;
};

struct tb_json_object tb_json_object_new(void);

// tb_json_add takes `value`. The others make the value, then add it.
void tb_json_add(struct tb_json_object *object, const char *key, json_t *value);
void tb_json_add_count(struct tb_json_object *object, const char *key, uint64_t value);
void tb_json_add_real(struct tb_json_object *object, const char *key, double value);
void tb_json_add_text(struct tb_json_object *object, const char *key, const char *text);

// tb_json_add_all adds the members of another object, which it takes.
void tb_json_add_all(struct tb_json_object *object, json_t *members);

// tb_json_object_take hands over the finished object, or NULL if anything failed.
json_t *tb_json_object_take(struct tb_json_object *object);

// tb_json_append takes both arguments and returns the array with `value` at its end, or
// NULL.
json_t *tb_json_append(json_t *array, json_t *value) TB_MUST_USE;

// tb_json_write takes `json` and writes it indented, followed by a newline; reals get
// `digits` significant digits. TB_ENOMEM when `json` is NULL; for write errors check
// ferror(stream).
int tb_json_write(json_t *json, int digits, FILE *stream) TB_MUST_USE;

// Writes an object whose last member is an array too long to hold in memory, one row per
// line. Memory: one row.
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

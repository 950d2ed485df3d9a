// Lists as tables. A column is one row of a struct tb_column array: its key in JSON and
// CSV, its title and meaning, its unit, and the member of an item, or the function, that
// has the figure. Text, Markdown, HTML, CSV, JSON and the JSON schema are made from these
// rows; nothing else counts or names columns.
//
// A table holds no cells: each is put when it is written.
#ifndef TB_TABLE_H
#define TB_TABLE_H

#include "run.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

enum tb_datum_kind {
	TB_DATUM_TEXT,
	TB_DATUM_FLAG, // true or false
	TB_DATUM_ID,   // of a node, link or job
	TB_DATUM_COUNT,
	TB_DATUM_TIME, // whole picoseconds
	TB_DATUM_MEAN, // picoseconds, with decimals
	TB_DATUM_SIZE,
	TB_DATUM_PERCENT, // may exceed 100
	TB_DATUM_SHARE,	  // percent of a whole
	TB_DATUM_RATIO,	  // such as a slowdown, or a mean number
	TB_DATUM_OBJECT,  // of JSON
	TB_DATUM_KINDS
};

#define TB_DATUM_PACKETS TB_DATUM_RATIO

struct tb_column;

#define TB_DATUM_BYTES 1024

// A figure of one column and row: `whole` of ids, counts, times, bytes and flags, `real`
// of means, percentages and ratios, `word` or `text` of texts.
struct tb_datum {
	const struct tb_column *column;
	const void *of; // of the table
	size_t row;
	const void *item; // of the row
	bool unknown;	  // "-", null, or an empty field
	int64_t whole;
	double real;
	const char *word;	   // of a text; NULL: `text` holds it
	double bar;		   // percent of a cell's width in HTML, negative: none
	json_t *object;		   // the writer takes it
	char text[TB_DATUM_BYTES]; // what people read, unless it is ""
};

enum {
	TB_COLUMN_LEFT = 1, // aligned left although its unit is a number's
	TB_COLUMN_NULL =
		2, // may be unknown; it is where its member is TB_ID_NONE or NULL
	TB_COLUMN_SOME = 4,   // only some tables have it: adapt() takes it away
	TB_COLUMN_SIGNED = 8, // may be negative
	TB_COLUMN_BAR = 32,   // has a bar in HTML, against the first row's figure
	TB_COLUMN_NESTED = 16 // not in CSV: another column has it
};

// Where an item has a figure.
struct tb_member {
	enum tb_member_type {
		TB_NO_MEMBER,
		TB_U32,
		TB_U64,
		TB_I64,
		TB_REAL,
		TB_BOOL,
		TB_WORD
	} type;
	size_t offset;
};

// TB_MEMBER says which member of a struct `item` a column has.
// clang-format off
#define TB_MEMBER(item, name)                                                            \
	.member = {_Generic(((item *)0)->name,                                           \
		uint32_t: TB_U32, uint64_t: TB_U64, int64_t: TB_I64, double: TB_REAL,    \
		bool: TB_BOOL, char *: TB_WORD, const char *: TB_WORD),                  \
		offsetof(item, name)}
// clang-format on

struct tb_column {
	const char *key;   // in JSON and CSV, "victim.job" in an object there; NULL: none
	const char *title; // for people; NULL: not shown
	const char *meaning; // a sentence: tooltip, and description in the schema; may
			     // have the marks of tb_fill_words
	enum tb_datum_kind kind;
	struct tb_member member; // of the row's item: TB_MEMBER
	// Puts the figure, where it is no member, or what else there is to say of it.
	void (*put)(struct tb_datum *datum);
	unsigned flags;
	const char *schema; // JSON, instead of what the unit gives
	// Of a text that is one of few, these: NULL beyond the last. For the schema.
	const char *(*word)(size_t i);
	// Changes a copy of this row for one table: title, meaning; NULL as key or title
	// takes the column away. NULL: nothing to change.
	void (*adapt)(struct tb_column *column, const void *of);
	uint32_t which; // free for put
	// Times are written in the unit that this one would get; 0: each in its own.
	tb_time_ps model_ps;
};

// An array of items of `size` bytes, or a pointer to one, in what a table is of.
struct tb_table_rows {
	size_t offset, size;
	bool pointed;
};

#define TB_ROWS(of, name)    .rows = {offsetof(of, name), sizeof *((of *)0)->name, true}
#define TB_ROWS_IN(of, name) .rows = {offsetof(of, name), sizeof *((of *)0)->name, false}

struct tb_table;

struct tb_table_type {
	const char *name;    // "hot-links"; its key in JSON has '_' for '-'
	const char *title;   // NULL: never shown
	const char *meaning; // description in the schema; NULL: not in JSON
	const struct tb_column *columns;
	size_t n_columns;
	struct tb_table_rows rows; // the array of its items within `of`: TB_ROWS
	const void *(*item)(const void *of, size_t row); // where that is no array
	// How many items there are, and of how many these are the first, with a remark on
	// the list; TB_COUNT. `what` they are in the plural; NULL: no remark.
	struct tb_member n, n_all;
	const char *what, *remark;
	bool all;			      // is shown however few are asked for
	void (*list)(struct tb_table *table); // counts otherwise; may be NULL
	// How well a figure is known; NULL: all are exact. What was not measured is
	// unknown, bounds are marked for people.
	enum tb_known (*known)(const struct tb_datum *datum);
	const char *brief; // the title among those of other lists; NULL: the title
};

#define TB_COUNT(of, name)                                                               \
	{                                                                                \
		_Generic(((of *)0)->name, uint32_t                                       \
			 : TB_U32, uint64_t                                              \
			 : TB_U64),                                                      \
			offsetof(of, name)                                               \
	}
#define TB_COLUMNS(list) .columns = list, .n_columns = sizeof(list) / sizeof *(list)

struct tb_table {
	const struct tb_table_type *type;
	const void *of;				// whose rows: given to put and adapt
	const struct tb_switching_words *words; // for meanings; NULL: general ones
	size_t n_rows;				// in JSON and CSV
	size_t n_shown;				// for people; 0: no table
	char heading[96];			// instead of the title, unless ""
	char remark[400]; // what the list omits, and what its numbers mean
};

// tb_table_list counts the rows of a table; people are shown `top` of them, 0: all.
void tb_table_list(struct tb_table *table, size_t top);

// tb_table_column returns column `i` as this table has it.
struct tb_column tb_table_column(const struct tb_table *table, size_t i);

// tb_column_is_number is true when people expect the column to be aligned right.
bool tb_column_is_number(const struct tb_column *column);

// tb_table_title returns the heading, or the type's title.
const char *tb_table_title(const struct tb_table *table);

// tb_table_put puts a figure, and what people read of it into datum->text.
void tb_table_put(const struct tb_table *table, const struct tb_column *column,
	size_t row, struct tb_datum *datum);

// For put functions. tb_put_text formats a text for people; a text of JSON too unless
// datum->word is set.
void tb_put_count(struct tb_datum *datum, uint64_t count);
void tb_put_text(struct tb_datum *datum, const char *format, ...) TB_PRINTF(2, 3);

// tb_datum_figure returns the figure as a number, 0 of texts and of what is unknown.
double tb_datum_figure(const struct tb_datum *datum);

// tb_table_remark_rest sets the remark: "The first 20 of 64 links." if rows are not
// shown, then `meaning`.
void tb_table_remark_rest(
	struct tb_table *table, uint64_t n, const char *what, const char *meaning);

// A column as people are shown it.
struct tb_shown_column {
	struct tb_column column; // with one unit for the waits of all rows
	unsigned width;		 // of the widest figure or the title, in characters
	unsigned least; // of a name what still tells it apart, of figures all digits
	bool known;	// of any row
	bool repeats;	// the text of a row in another
};

// tb_table_shown lists the columns with these keys, up to NULL (NULL: all), but for those
// of which no row knows anything; free() it. NULL when memory runs out.
struct tb_shown_column *tb_table_shown(
	const struct tb_table *table, const char *const *keys, size_t *n) TB_MUST_USE;

// tb_table_lead returns which of n > 0 columns names the rows: the first, or the one
// behind their numbers.
size_t tb_table_lead(const struct tb_shown_column *shown, size_t n);

// tb_table_text writes the table within `width` characters (0: any width): where there is
// less room, long names are cut, and then columns continue below, behind the first name.
// Write errors show in ferror(stream). TB_ENOMEM.
// tb_table_text_of writes the columns with these keys, up to NULL; NULL: all.
int tb_table_text(const struct tb_table *table, unsigned width, FILE *stream) TB_MUST_USE;
int tb_table_text_of(const struct tb_table *table, const char *const *keys,
	unsigned width, FILE *stream) TB_MUST_USE;
// tb_table_html writes a section with the table's name as its id; nothing where no row is
// shown.
int tb_table_html(const struct tb_table *table, FILE *stream) TB_MUST_USE;
void tb_table_markdown(const struct tb_table *table, FILE *stream);
void tb_table_csv(const struct tb_table *table, FILE *stream);

// tb_table_prometheus writes each column of figures as a gauge of Prometheus' text format
// (https://prometheus.io/docs/instrumenting/exposition_formats/), tailback_TABLE_KEY,
// with `labels`, such as run="1", and the row's name or cause; times in seconds. Figures
// that no row knows are left out, and ranks, by which labels would jump.
void tb_table_prometheus(const struct tb_table *table, const char *labels, FILE *stream);

// tb_markdown_put writes `text` with Markdown's special characters escaped: names of
// files and endpoints may contain any of them.
void tb_markdown_put(FILE *stream, const char *text);

// tb_text_end_whole removes a UTF-8 character that was cut off at the end of a full
// buffer of `size` bytes.
void tb_text_end_whole(char *text, size_t size);

// tb_format_long_time is tb_format_time for sums too large for a tb_time_ps, and for
// differences.
char *tb_format_long_time(double time_ps, char *buffer, size_t size);

// tb_table_key writes the key that a table has in JSON.
char *tb_table_key(const struct tb_table_type *type, char *key, size_t size);

// tb_table_json makes the array of all rows; tb_table_object an object of one row of
// `of`. NULL when memory runs out.
json_t *tb_table_json(const struct tb_table *table);
json_t *tb_table_object(const struct tb_table_type *type, const void *of);

// tb_table_schema describes what tb_table_json makes; tb_table_object_schema what
// tb_table_object makes. NULL when memory runs out or a column's schema is no JSON.
json_t *tb_table_schema(const struct tb_table_type *type);
json_t *tb_table_object_schema(const struct tb_table_type *type);

// tb_schema_root makes the schema of an object with these members, which it takes: all of
// them are required. `id` is its $id.
json_t *tb_schema_root(
	const char *id, const char *title, const char *description, json_t *properties);

#endif

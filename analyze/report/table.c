#include "table.h"
#include "json.h"
#include "markup.h"
#include "wrap.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

struct tb_column tb_table_column(const struct tb_table *table, size_t i)
{
	struct tb_column column = table->type->columns[i];
	if (column.adapt)
		column.adapt(&column, table->of);
	return column;
}

bool tb_column_is_number(const struct tb_column *column)
{
	return column->kind != TB_DATUM_TEXT && !(column->flags & TB_COLUMN_LEFT);
}

const char *tb_table_title(const struct tb_table *table)
{
	return table->heading[0] ? table->heading : table->type->title;
}

char *tb_format_long_time(double time_ps, char *buffer, size_t size)
{
	double length = fabs(time_ps);
	tb_time_ps time = length < 9.2e18 ? (tb_time_ps)length : TB_TIME_NEVER;
	size_t sign = time_ps < 0 && size > 1;
	buffer[0] = '-';
	tb_format_time(time, buffer + sign, size - sign);
	return buffer;
}

void tb_text_end_whole(char *text, size_t size)
{
	size_t length = strlen(text);
	if (length + 1 < size)
		return;
	size_t start = length;
	while (start > 0 && ((unsigned char)text[start - 1] & 0xc0) == 0x80)
		start--;
	// A first byte 110xxxxx is followed by 1 byte, 1110xxxx by 2, 11110xxx by 3.
	unsigned char first = start > 0 ? (unsigned char)text[start - 1] : 0;
	size_t follow = first >= 0xf0 ? 3 : first >= 0xe0 ? 2 : first >= 0xc0 ? 1 : 0;
	if (follow > length - start)
		text[start - 1] = '\0';
}

void tb_put_count(struct tb_datum *datum, uint64_t count)
{
	datum->whole = count < INT64_MAX ? (int64_t)count : INT64_MAX;
}

void tb_put_text(struct tb_datum *datum, const char *format, ...)
{
	va_list args;
	va_start(args, format);
	int n = vsnprintf(datum->text, sizeof datum->text, format, args);
	va_end(args);
	if (n >= (int)sizeof datum->text)
		tb_text_end_whole(datum->text, sizeof datum->text);
}

static bool is_real(enum tb_datum_kind kind)
{
	return kind == TB_DATUM_MEAN || kind == TB_DATUM_PERCENT ||
	       kind == TB_DATUM_SHARE || kind == TB_DATUM_RATIO;
}

double tb_datum_figure(const struct tb_datum *datum)
{
	return is_real(datum->column->kind) ? datum->real : (double)datum->whole;
}

// datum_show writes the figure for people as one of a kind, the column's if none else
// is asked for.
static void datum_show(struct tb_datum *at, enum tb_datum_kind kind)
{
	size_t size = sizeof at->text;
	switch (kind) {
	case TB_DATUM_TEXT:
	case TB_DATUM_OBJECT:
	case TB_DATUM_KINDS:
		break;
	case TB_DATUM_FLAG:
		snprintf(at->text, size, "%s", at->whole ? "yes" : "no");
		break;
	case TB_DATUM_ID:
		snprintf(at->text, size, "%" PRId64, at->whole);
		break;
	case TB_DATUM_COUNT:
		tb_format_count((uint64_t)at->whole, at->text, size);
		break;
	case TB_DATUM_TIME:
	case TB_DATUM_MEAN:
		if (at->column->model_ps)
			tb_format_time_as((tb_time_ps)tb_datum_figure(at),
				at->column->model_ps, at->text, size);
		else
			tb_format_long_time(tb_datum_figure(at), at->text, size);
		break;
	case TB_DATUM_SIZE:
		tb_format_size((uint64_t)at->whole, at->text, size);
		break;
	case TB_DATUM_PERCENT:
	case TB_DATUM_SHARE:
		snprintf(at->text, size,
			at->column->flags & TB_COLUMN_SIGNED ? "%+.1f %%" : "%.1f %%",
			at->real);
		break;
	case TB_DATUM_RATIO:
		snprintf(at->text, size, "%.*f", at->real < 10 ? 2 : 0, at->real);
		break;
	}
}

// item_of finds the item of a row; of a type without rows all that it is of.
static const void *item_of(const struct tb_table *table, size_t row)
{
	const struct tb_table_rows *rows = &table->type->rows;
	const void *at = (const char *)table->of + rows->offset;
	if (table->type->item)
		return table->type->item(table->of, row);
	return (const char *)(rows->pointed ? *(const char *const *)at : at) +
	       row * rows->size;
}

// put_figure fills the datum, but for its bar and a text that follows from the figure.
static void put_figure(const struct tb_table *table, const struct tb_column *column,
	size_t row, struct tb_datum *datum)
{
	// Not the whole text: that is for most cells longer than all the rest.
	datum->column = column;
	datum->of = table->of;
	datum->row = row;
	datum->unknown = false;
	datum->whole = 0;
	datum->real = 0;
	datum->word = NULL;
	datum->bar = -1;
	datum->object = NULL;
	datum->text[0] = '\0';
	datum->item = item_of(table, row);
	const char *from = (const char *)datum->item + datum->column->member.offset;
	const void *member = from;
	switch (datum->column->member.type) {
	case TB_NO_MEMBER:
		break;
	case TB_U32:
		datum->whole = *(const uint32_t *)member;
		break;
	case TB_U64:
		tb_put_count(datum, *(const uint64_t *)member);
		break;
	case TB_I64:
		datum->whole = *(const int64_t *)member;
		break;
	case TB_REAL:
		datum->real = *(const double *)member;
		break;
	case TB_BOOL:
		datum->whole = *(const bool *)member;
		break;
	case TB_WORD:
		datum->word = *(const char *const *)member;
		break;
	}
	// A member says by its value that there is none.
	if (column->flags & TB_COLUMN_NULL && column->member.type != TB_NO_MEMBER)
		datum->unknown =
			(column->member.type == TB_U32 && datum->whole == TB_ID_NONE) ||
			(column->member.type == TB_WORD && !datum->word);
	if (column->put && !datum->unknown)
		column->put(datum);
}

void tb_table_put(const struct tb_table *table, const struct tb_column *column,
	size_t row, struct tb_datum *datum)
{
	put_figure(table, column, row, datum);
	enum tb_known known = table->type->known ? table->type->known(datum) : TB_EXACT;
	datum->unknown |= known == TB_NOT_MEASURED;
	if (known == TB_AT_LEAST || known == TB_AT_MOST) {
		if (!datum->text[0])
			datum_show(datum, column->kind);
		size_t n = strlen(tb_known_sign(known));
		memmove(datum->text + n, datum->text,
			strnlen(datum->text, sizeof datum->text - n - 1) + 1);
		memcpy(datum->text, tb_known_sign(known), n);
	}
	if (column->flags & TB_COLUMN_BAR && !datum->unknown) {
		struct tb_datum first;
		put_figure(table, datum->column, 0, &first);
		json_decref(first.object);
		if (tb_datum_figure(&first) > 0)
			datum->bar =
				100 * tb_datum_figure(datum) / tb_datum_figure(&first);
	}
	if (datum->unknown && (!datum->text[0] || known == TB_NOT_MEASURED))
		snprintf(datum->text, sizeof datum->text, "-");
	else if (datum->word && !datum->text[0])
		tb_put_text(datum, "%s", datum->word);
	else if (!datum->text[0])
		datum_show(datum, column->kind);
}

void tb_table_remark_rest(
	struct tb_table *table, uint64_t n, const char *what, const char *meaning)
{
	char all[32];
	if (n > table->n_shown)
		snprintf(table->remark, sizeof table->remark,
			"The first %zu of %s %s.%s%s", table->n_shown,
			tb_format_count(n, all, sizeof all), what, *meaning ? " " : "",
			meaning);
	else
		snprintf(table->remark, sizeof table->remark, "%s", meaning);
}

static size_t count_of(const struct tb_table *table, const struct tb_member *member)
{
	const void *at = (const char *)table->of + member->offset;
	return member->type == TB_U32	? *(const uint32_t *)at
	       : member->type == TB_U64 ? *(const uint64_t *)at
					: 0;
}

void tb_table_list(struct tb_table *table, size_t top)
{
	const struct tb_table_type *type = table->type;
	size_t n = count_of(table, &type->n);
	table->n_rows = n;
	if (type->title)
		table->n_shown = top && top < n && !type->all ? top : n;
	if (type->what)
		tb_table_remark_rest(table,
			type->n_all.type ? count_of(table, &type->n_all) : n, type->what,
			type->remark ? type->remark : "");
	if (type->list)
		type->list(table);
}

void tb_markdown_put(FILE *stream, const char *text)
{
	for (; *text; text++) {
		if (strchr("\\`*_[]<>|#", *text))
			fputc('\\', stream);
		fputc(*text, stream);
	}
}

// A cell of Markdown, of a title or of a figure.
static void markdown_cell(FILE *stream, const char *text)
{
	fputc(' ', stream);
	tb_markdown_put(stream, text);
	fputs(" |", stream);
}

void tb_table_markdown(const struct tb_table *table, FILE *stream)
{
	fprintf(stream, "\n## %s\n\n|", tb_table_title(table));
	for (size_t i = 0; i < table->type->n_columns; i++) {
		struct tb_column column = tb_table_column(table, i);
		if (column.title)
			markdown_cell(stream, column.title);
	}
	fputs("\n|", stream);
	for (size_t i = 0; i < table->type->n_columns; i++) {
		struct tb_column column = tb_table_column(table, i);
		if (column.title)
			fputs(tb_column_is_number(&column) ? "---:|" : "---|", stream);
	}
	fputc('\n', stream);
	for (size_t row = 0; row < table->n_shown; row++) {
		fputc('|', stream);
		for (size_t i = 0; i < table->type->n_columns; i++) {
			struct tb_column column = tb_table_column(table, i);
			struct tb_datum datum;
			if (!column.title)
				continue;
			tb_table_put(table, &column, row, &datum);
			markdown_cell(stream, datum.text);
			json_decref(datum.object);
		}
		fputc('\n', stream);
	}
	if (table->remark[0])
		fprintf(stream, "\n%s\n", table->remark);
}

// The columns that people are shown.

// A name does not break into lines shorter than this.
#define SHORTEST 20

// unit_of_waits chooses one unit for all waits of a column, unless one of them would show
// no digit.
static tb_time_ps unit_of_waits(
	const struct tb_table *table, const struct tb_column *column)
{
	bool is_time = column->kind == TB_DATUM_TIME || column->kind == TB_DATUM_MEAN;
	double most = 0;
	if (!is_time || !column->key || !strstr(column->key, "wait"))
		return 0;
	for (size_t pass = 0; pass < 2; pass++)
		for (size_t row = 0; row < table->n_shown; row++) {
			struct tb_datum datum;
			char text[32];
			put_figure(table, column, row, &datum);
			double figure = datum.unknown ? 0 : tb_datum_figure(&datum);
			if (figure >= (double)(INT64_MAX / 2))
				return 0;
			if (pass == 0)
				most = figure > most ? figure : most;
			else if (figure > 0 &&
				 *tb_format_time_as((tb_time_ps)figure, (tb_time_ps)most,
					 text, sizeof text) == '<')
				return 0;
		}
	return (tb_time_ps)most;
}

static int by_text(const void *left, const void *right)
{
	return strcmp(*(char *const *)left, *(char *const *)right);
}

#define BETWEEN_ENDS " > " // of a link or a flow

// A name is kept so far from its begin as tells it from others of its column, and the
// ends of a link or flow whole but for the model of a switch, to this.
#define LONGEST_LEAST 40

// drop_model takes the model of a switch out of a name, between the name and the port.
static void drop_model(char *text)
{
	char *name = strchr(text, ':'), *port = strrchr(text, ':');
	if (name && name < port && name[1] != ' ')
		memmove(name, port, strlen(port) + 1);
}

// longest_end returns how wide the longer end of a link or flow is, with its arrow or
// indented.
static unsigned longest_end(const char *text)
{
	char end[TB_DATUM_BYTES];
	const char *far = strstr(text, BETWEEN_ENDS);
	snprintf(end, sizeof end, "%.*s", (int)(far - text), text);
	drop_model(end);
	unsigned near_w = tb_text_columns(end);
	snprintf(end, sizeof end, "%s", far + strlen(BETWEEN_ENDS));
	drop_model(end);
	unsigned far_w = tb_text_columns(end);
	return 2 + (near_w > far_w ? near_w : far_w);
}

// tell_apart finds how narrow texts may be.
static void tell_apart(struct tb_shown_column *shown, char **texts, size_t n)
{
	qsort(texts, n, sizeof *texts, by_text);
	for (size_t i = 0; i < n; i++) {
		unsigned least = 0;
		if (i && strcmp(texts[i - 1], texts[i]) == 0) {
			shown->repeats = true;
			continue;
		}
		if (strstr(texts[i], BETWEEN_ENDS)) {
			least = longest_end(texts[i]);
		} else if (i) {
			while (texts[i - 1][least] == texts[i][least])
				least++;
			least += 4;
		}
		least = least < LONGEST_LEAST ? least : LONGEST_LEAST;
		shown->least = least > shown->least ? least : shown->least;
	}
}

static int measure_text_column(struct tb_shown_column *made, const struct tb_table *table,
	const struct tb_column *column)
{
	struct tb_shown_column shown = {.column = *column};
	unsigned width = 0, title = tb_text_columns(column->title);
	bool number = tb_column_is_number(column), enough = true;
	char **texts = calloc(table->n_shown + 1, sizeof *texts);
	if (!texts)
		return TB_ENOMEM;
	shown.column.model_ps = unit_of_waits(table, column);
	for (size_t row = 0; row < table->n_shown; row++) {
		struct tb_datum datum;
		tb_table_put(table, &shown.column, row, &datum);
		width = width < tb_text_columns(datum.text) ? tb_text_columns(datum.text)
							    : width;
		shown.known |= strcmp(datum.text, "-") != 0 && datum.text[0];
		texts[row] = number ? NULL : strdup(datum.text);
		enough &= number || texts[row];
		json_decref(datum.object);
	}
	shown.width = width < title ? title : width;
	shown.least = number && width > SHORTEST ? width : SHORTEST;
	if (!number && enough)
		tell_apart(&shown, texts, table->n_shown);
	for (size_t row = 0; row < table->n_shown; row++)
		free(texts[row]);
	free(texts);
	*made = shown;
	return enough ? TB_OK : TB_ENOMEM;
}

// has_key is true for a key of a list up to NULL, and for any where there is no list.
static bool has_key(const char *const *keys, const char *key)
{
	if (!keys)
		return true;
	while (*keys && (!key || strcmp(*keys, key) != 0))
		keys++;
	return *keys != NULL;
}

// drop_unknown leaves out columns of which no row knows anything; of two runs beside each
// other ("Wait in A", "In B") neither, if one is known. It returns how many are left.
static size_t drop_unknown(struct tb_shown_column *shown, size_t n)
{
	size_t n_left = 0;
	bool before = false; // of the column before
	for (size_t i = 0; i < n; i++) {
		bool second = strcmp(shown[i].column.title, "In B") == 0;
		bool first = i + 1 < n && strcmp(shown[i + 1].column.title, "In B") == 0;
		bool known = shown[i].known;
		if (known || (second && before) || (first && shown[i + 1].known))
			shown[n_left++] = shown[i];
		before = known;
	}
	return n_left;
}

struct tb_shown_column *tb_table_shown(
	const struct tb_table *table, const char *const *keys, size_t *n)
{
	size_t n_found = 0;
	struct tb_shown_column *shown = calloc(table->type->n_columns + 1, sizeof *shown);
	for (size_t i = 0; shown && i < table->type->n_columns; i++) {
		struct tb_column column = tb_table_column(table, i);
		if (!column.title || !has_key(keys, table->type->columns[i].key))
			continue;
		if (measure_text_column(&shown[n_found++], table, &column) != TB_OK) {
			free(shown);
			return NULL;
		}
	}
	*n = drop_unknown(shown, n_found);
	return shown;
}

size_t tb_table_lead(const struct tb_shown_column *shown, size_t n)
{
	return n > 1 && tb_column_is_number(&shown[0].column) &&
	       !tb_column_is_number(&shown[1].column);
}

// A table as HTML.

// Tables with at most so many columns keep them close together; those with more than so
// many take a smaller type.
#define NARROW_COLUMNS 5
#define WIDE_COLUMNS   10
#define LONG_NAME      32 // of the longest that leads a row of a wide table
#define SHORT_NAME     24 // of the longest of a column that stays on one line
#define PAPER_ROWS     6  // of a list on paper: report.css hides those behind

static void html_title(const struct tb_table *table, const struct tb_column *column,
	bool lead, FILE *stream)
{
	char meaning[300];
	fprintf(stream, "<th scope=\"col\"%s title=\"",
		lead			      ? " class=\"lead\""
		: tb_column_is_number(column) ? " class=\"num\""
					      : "");
	tb_markup_put(stream,
		tb_fill_words(column->meaning, table->words, meaning, sizeof meaning));
	fputs("\"><button type=\"button\">", stream);
	tb_markup_put(stream, column->title);
	fputs("</button></th>", stream);
}

static void html_cell(const struct tb_table *table, const struct tb_shown_column *shown,
	size_t row, bool lead, FILE *stream)
{
	struct tb_datum datum;
	tb_table_put(table, &shown->column, row, &datum);
	bool number = tb_column_is_number(&shown->column);
	if (datum.bar >= 0)
		fprintf(stream, "<td class=\"num bar\" style=\"--p:%.2f%%\"", datum.bar);
	else
		fprintf(stream, "<%s%s", lead ? "th scope=\"row\"" : "td",
			number			     ? " class=\"num\""
			: shown->width <= SHORT_NAME ? " class=\"short\""
						     : "");
	// What the page sorts by.
	if (number)
		fprintf(stream, " data-v=\"%.17g\"", tb_datum_figure(&datum));
	fputc('>', stream);
	tb_markup_put(stream, datum.text);
	fputs(lead ? "</th>" : "</td>", stream);
	json_decref(datum.object);
}

int tb_table_html(const struct tb_table *table, FILE *stream)
{
	size_t n;
	if (!table->n_shown)
		return TB_OK;
	struct tb_shown_column *shown = tb_table_shown(table, NULL, &n);
	if (!shown)
		return TB_ENOMEM;
	const size_t lead = tb_table_lead(shown, n);
	fprintf(stream, "<section class=\"card%s\" id=\"%s\">\n<h2>",
		n <= NARROW_COLUMNS ? " half" : "", table->type->name);
	tb_markup_put(stream, tb_table_title(table));
	fprintf(stream, " <small>%zu</small></h2>\n", table->n_shown);
	if (table->remark[0]) {
		fputs("<p class=\"remark\">", stream);
		tb_markup_put(stream, table->remark);
		fputs("</p>\n", stream);
	}
	fprintf(stream, "<div class=\"scroll\" tabindex=\"0\"><table%s>\n<thead><tr>",
		n <= NARROW_COLUMNS		? " class=\"narrow\""
		: n <= WIDE_COLUMNS		? ""
		: shown[lead].width > LONG_NAME ? " class=\"wide long\""
						: " class=\"wide\"");
	for (size_t i = 0; i < n; i++)
		html_title(table, &shown[i].column, i == lead, stream);
	fputs("</tr></thead>\n<tbody>\n", stream);
	for (size_t row = 0; row < table->n_shown; row++) {
		fputs("<tr>", stream);
		for (size_t i = 0; i < n; i++)
			html_cell(table, &shown[i], row, i == lead, stream);
		fputs("</tr>\n", stream);
	}
	fputs("</tbody></table></div>\n", stream);
	if (table->n_shown > PAPER_ROWS + 1) // a line that says so takes as much room
		fprintf(stream, "<p class=\"paper\">%d of %zu rows</p>\n", PAPER_ROWS,
			table->n_shown);
	fputs("</section>\n", stream);
	free(shown);
	return TB_OK;
}

// Tables as JSON and CSV, and the schema of the JSON.

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

// put_label writes a text between quotation marks as Prometheus' text format has it.
static void put_label(FILE *stream, const char *text)
{
	fputc('"', stream);
	for (; *text; text++) {
		if (*text == '"' || *text == '\\' || *text == '\n')
			fputc('\\', stream);
		fputc(*text == '\n' ? 'n' : *text, stream);
	}
	fputc('"', stream);
}

static void put_help(const char *name, const char *meaning, FILE *stream)
{
	fprintf(stream, "# HELP %s ", name);
	for (; *meaning; meaning++) {
		if (*meaning == '\\')
			fputc('\\', stream);
		fputc(*meaning == '\n' ? ' ' : *meaning, stream);
	}
	fputc('\n', stream);
}

void tb_table_prometheus(const struct tb_table *table, const char *labels, FILE *stream)
{
	char key[64], name[192], meaning[300];
	tb_table_key(table->type, key, sizeof key);
	for (size_t i = 0; i < table->type->n_columns; i++) {
		struct tb_column column = tb_table_column(table, i);
		size_t length = column.key ? strlen(column.key) : 0;
		bool is_time =
			column.kind == TB_DATUM_TIME || column.kind == TB_DATUM_MEAN;
		// A rank names a row that another link has at another time.
		if (!is_in_csv(&column) || strcmp(column.key, "rank") == 0 ||
			column.kind == TB_DATUM_TEXT || column.kind == TB_DATUM_ID ||
			column.kind == TB_DATUM_FLAG || column.kind == TB_DATUM_OBJECT ||
			strchr(column.key, '.'))
			continue;
		bool in_ps = is_time && length > 3 &&
			     strcmp(column.key + length - 3, "_ps") == 0;
		snprintf(name, sizeof name, "tailback_%s_%.*s%s", key,
			(int)(in_ps ? length - 3 : length), column.key,
			in_ps ? "_seconds" : "");
		bool begun = false;
		for (size_t row = 0; row < table->n_rows; row++) {
			struct tb_datum datum;
			tb_table_put(table, &column, row, &datum);
			if (datum.unknown)
				continue;
			if (!begun && column.meaning)
				put_help(name,
					tb_fill_words(column.meaning, table->words,
						meaning, sizeof meaning),
					stream);
			if (!begun)
				fprintf(stream, "# TYPE %s gauge\n", name);
			begun = true;
			fprintf(stream, "%s{%s", name, labels);
			for (size_t k = 0; k < table->type->n_columns; k++) {
				struct tb_column label = tb_table_column(table, k);
				struct tb_datum text;
				if (!label.key || label.kind != TB_DATUM_TEXT ||
					(strcmp(label.key, "name") != 0 &&
						strcmp(label.key, "cause") != 0))
					continue;
				tb_table_put(table, &label, row, &text);
				fprintf(stream, ",%s=", label.key);
				put_label(stream, json_text_of(&text));
			}
			fprintf(stream, "} %.10g\n",
				tb_datum_figure(&datum) * (in_ps ? 1e-12 : 1));
		}
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

// A table as plain text, within a width.

static void pad(FILE *stream, unsigned width)
{
	fprintf(stream, "%*s", (int)width, "");
}

// shorten_end cuts the name of an end out of its middle: what tells ports and nodes of a
// fabric apart stands last.
static void shorten_end(char *text, unsigned width)
{
	if (tb_text_columns(text) > width)
		drop_model(text);
	size_t n = strlen(text), head = width / 3;
	if (n > width && n == tb_text_columns(text) && width > head + 3) {
		memcpy(text + head, "...", 3);
		memmove(text + head + 3, text + n - (width - head - 3),
			width - head - 3 + 1);
	}
}

// cut_text_cell shortens a text to `width` characters, the last of them three dots.
static void cut_text_cell(char *text, unsigned width)
{
	if (tb_text_columns(text) <= width)
		return;
	for (unsigned kept = 0; kept + 3 < width; kept++)
		do
			text++;
		while (((unsigned char)*text & 0xc0) == 0x80);
	strcpy(text, "...");
}

// take_word takes the word at the begin of a text, behind a near end with its arrow. One
// wider than `width` breaks behind a sign, or is shortened. It returns the word's length
// in the text, and whether the line ends behind it.
static size_t take_word(
	const char *text, unsigned width, bool ends, char *word, bool *line_ends)
{
	size_t n = strcspn(text, " "), piece = 0;
	bool near = strncmp(text + n, BETWEEN_ENDS, strlen(BETWEEN_ENDS)) == 0;
	for (size_t i = 0; !ends && n > width && i < width && text[i]; i++)
		piece = strchr(";:,/-_", text[i]) ? i + 1 : piece;
	n = piece ? piece : n;
	memcpy(word, text, n);
	word[n] = '\0';
	if (ends)
		shorten_end(word, near ? width - 2 : width);
	cut_text_cell(word, near ? width - 2 : width);
	strcat(word, near ? " >" : "");
	*line_ends = near || piece;
	return near ? n + 2 : n;
}

// take_line leaves one line of a text that is wider than its column: it breaks at blanks,
// and behind the near end of a link or a flow. It returns whether more lines follow.
static bool take_line(char text[TB_DATUM_BYTES], unsigned width, size_t line)
{
	char rest[TB_DATUM_BYTES], word[TB_DATUM_BYTES];
	if (tb_text_columns(text) <= width) {
		text[0] = line ? '\0' : text[0];
		return false;
	}
	const bool ends = strstr(text, BETWEEN_ENDS) != NULL;
	const char *at = strcpy(rest, text);
	for (size_t i = 0; i <= line; i++) {
		bool line_ends = false, begun = false;
		strcpy(text, i && *at ? "  " : "");
		while (*at && !line_ends) {
			unsigned used = tb_text_columns(text) + begun;
			bool last;
			size_t n = take_word(at, width - (i ? 2 : 0), ends, word, &last);
			if (begun && used + tb_text_columns(word) > width)
				break;
			strcat(text, begun ? " " : "");
			strcat(text, word);
			line_ends = last;
			begun = true;
			at += n + (at[n] == ' ');
		}
	}
	return *at != '\0';
}

// write_cell writes a cell behind `blanks`, which it leaves for what follows: no line
// ends in blanks.
static void write_cell(const struct tb_shown_column *shown, const char *text,
	unsigned *blanks, FILE *stream)
{
	unsigned blank = shown->width - tb_text_columns(text);
	bool number = tb_column_is_number(&shown->column);
	*blanks += 2 + (number ? blank : 0);
	if (*text) {
		pad(stream, *blanks);
		fputs(text, stream);
		*blanks = 0;
	}
	*blanks += number ? 0 : blank;
}

// Columns to write side by side: [lead, lead_end), which name the row, before [from,
// end).
struct column_part {
	struct tb_shown_column *lead, *lead_end; // NULL: none; before `from`
	struct tb_shown_column *from, *end;
};

// behind is the next column of a part.
static struct tb_shown_column *behind(
	const struct column_part *part, const struct tb_shown_column *at)
{
	return part->from + (at + 1 == part->lead_end ? 0 : at + 1 - part->from);
}

// write_table_line writes one row, or the titles for row SIZE_MAX, in as many lines as
// its texts take.
static void write_table_line(const struct tb_table *table, const struct column_part *part,
	size_t row, FILE *stream)
{
	bool more = true;
	for (size_t line = 0; more; line++) {
		unsigned blanks = 0;
		more = false;
		for (const struct tb_shown_column *at = part->lead ? part->lead
								   : part->from;
			at != part->end; at = behind(part, at)) {
			struct tb_datum datum = {.object = NULL};
			if (row == SIZE_MAX)
				snprintf(datum.text, sizeof datum.text, "%s",
					at->column.title);
			else
				tb_table_put(table, &at->column, row, &datum);
			more |= take_line(datum.text, at->width, line);
			write_cell(at, datum.text, &blanks, stream);
			json_decref(datum.object);
		}
		fputc('\n', stream);
	}
}

static void write_part(
	const struct tb_table *table, const struct column_part *part, FILE *stream)
{
	write_table_line(table, part, SIZE_MAX, stream);
	for (size_t row = 0; row < table->n_shown; row++)
		write_table_line(table, part, row, stream);
}

static unsigned least_column_width(const struct tb_shown_column *column)
{
	return 2 + (column->width < column->least ? column->width : column->least);
}

int tb_table_text(const struct tb_table *table, unsigned width, FILE *stream)
{
	return tb_table_text_of(table, NULL, width, stream);
}

int tb_table_text_of(const struct tb_table *table, const char *const *keys,
	unsigned width, FILE *stream)
{
	size_t n;
	struct tb_shown_column *shown = tb_table_shown(table, keys, &n);
	if (!shown)
		return TB_ENOMEM;
	unsigned room = width ? width : UINT32_MAX;
	fputc('\n', stream);
	tb_wrap(stream, 0, 2, width, tb_table_title(table));
	// Write as many columns as fit side by side, and the others below.
	struct tb_shown_column *lead = shown, *end = shown + n, *from = shown;
	while (lead < end && tb_column_is_number(&lead->column))
		lead++;
	if (lead == end)
		lead = shown; // a rank's number names it
	// Where one name stands in several rows the next tells these apart.
	struct tb_shown_column *lead_end = lead + 1;
	if (lead_end < end && lead->repeats && !tb_column_is_number(&lead_end->column))
		lead_end++;
	unsigned lead_widths[] = {lead->width, lead_end[-1].width};
	while (from < end) {
		struct column_part part = {.from = from, .end = from};
		unsigned used = 0;
		if (lead < from) {
			part.lead = lead;
			part.lead_end = lead_end < from ? lead_end : from;
			for (struct tb_shown_column *at = lead; at < part.lead_end; at++)
				used += least_column_width(at);
		}
		while (part.end < end &&
			(part.end == from || used + least_column_width(part.end) <= room))
			used += least_column_width(part.end++);
		// Cut the widest names and titles of a part until it fits, or none is
		// left to cut.
		struct tb_shown_column *first = part.lead ? part.lead : part.from;
		unsigned whole = 0;
		for (struct tb_shown_column *at = first; at != part.end;
			at = behind(&part, at))
			whole += at->width + 2;
		for (unsigned stage = 0; whole > room && stage < 3;) {
			unsigned shortest = stage < 2 ? SHORTEST : SHORTEST / 2;
			struct tb_shown_column *widest = NULL;
			for (struct tb_shown_column *at = first; at != part.end;
				at = behind(&part, at))
				if (at->width > (stage ? shortest : at->least) &&
					!(stage && tb_column_is_number(&at->column)) &&
					(!widest || at->width > widest->width))
					widest = at;
			stage += !widest;
			whole -= widest ? 1 : 0;
			if (widest)
				widest->width--;
		}
		if (from != shown)
			fputc('\n', stream);
		write_part(table, &part, stream);
		if (part.lead) {
			lead->width = lead_widths[0];
			lead_end[-1].width = lead_widths[1];
		}
		from = part.end;
	}
	if (table->remark[0]) {
		fputs("  ", stream);
		tb_wrap(stream, 2, 2, width, table->remark);
	}
	free(shown);
	return TB_OK;
}

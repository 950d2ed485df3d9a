#include "table.h"

#include "markup.h"

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

void tb_datum_show(struct tb_datum *at, enum tb_datum_kind kind)
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
		tb_format_long_time((double)at->whole, at->text, size);
		break;
	case TB_DATUM_MEAN:
		tb_format_long_time(at->real, at->text, size);
		break;
	case TB_DATUM_SIZE:
		tb_format_size((uint64_t)at->whole, at->text, size);
		break;
	case TB_DATUM_PERCENT:
	case TB_DATUM_SHARE:
		snprintf(at->text, size, "%.1f %%", at->real);
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

static bool is_real(enum tb_datum_kind kind)
{
	return kind == TB_DATUM_MEAN || kind == TB_DATUM_PERCENT ||
	       kind == TB_DATUM_SHARE || kind == TB_DATUM_RATIO;
}

static double figure_of(const struct tb_datum *datum)
{
	return is_real(datum->column->kind) ? datum->real : (double)datum->whole;
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
	if (column->put)
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
			tb_datum_show(datum, column->kind);
		size_t n = strlen(tb_known_sign(known));
		memmove(datum->text + n, datum->text,
			strnlen(datum->text, sizeof datum->text - n - 1) + 1);
		memcpy(datum->text, tb_known_sign(known), n);
	}
	if (column->flags & TB_COLUMN_BAR && !datum->unknown) {
		struct tb_datum first;
		put_figure(table, datum->column, 0, &first);
		json_decref(first.object);
		if (figure_of(&first) > 0)
			datum->bar = 100 * figure_of(datum) / figure_of(&first);
	}
	if (datum->unknown && (!datum->text[0] || known == TB_NOT_MEASURED))
		snprintf(datum->text, sizeof datum->text, "-");
	else if (datum->word && !datum->text[0])
		tb_put_text(datum, "%s", datum->word);
	else if (!datum->text[0])
		tb_datum_show(datum, column->kind);
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

// html_titles returns how many columns it wrote.
static size_t html_titles(const struct tb_table *table, FILE *stream)
{
	size_t n = 0;
	for (size_t i = 0; i < table->type->n_columns; i++) {
		struct tb_column column = tb_table_column(table, i);
		if (!column.title)
			continue;
		n++;
		if (!stream)
			continue;
		fprintf(stream, "<th scope=\"col\"%s title=\"",
			tb_column_is_number(&column) ? " class=\"num\"" : "");
		char meaning[300];
		tb_markup_put(stream, tb_fill_words(column.meaning, table->words, meaning,
					      sizeof meaning));
		fputs("\"><button type=\"button\">", stream);
		tb_markup_put(stream, column.title);
		fputs("</button></th>", stream);
	}
	return n;
}

// Tables with at most so many columns keep them close together.
#define WIDE_COLUMNS 5

void tb_table_html(const struct tb_table *table, FILE *stream)
{
	fprintf(stream,
		"<section class=\"card\" id=\"%s\">\n<h2>%s <small>%zu</small></h2>\n",
		table->type->name, tb_table_title(table), table->n_shown);
	if (table->remark[0])
		fprintf(stream, "<p class=\"remark\">%s</p>\n", table->remark);
	fprintf(stream, "<div class=\"scroll\" tabindex=\"0\"><table%s>\n<thead><tr>",
		html_titles(table, NULL) <= WIDE_COLUMNS ? " class=\"narrow\"" : "");
	html_titles(table, stream);
	fputs("</tr></thead>\n<tbody>\n", stream);
	for (size_t row = 0; row < table->n_shown; row++) {
		fputs("<tr>", stream);
		for (size_t i = 0; i < table->type->n_columns; i++) {
			struct tb_column column = tb_table_column(table, i);
			struct tb_datum datum;
			if (!column.title)
				continue;
			tb_table_put(table, &column, row, &datum);
			bool number = tb_column_is_number(datum.column);
			if (datum.bar >= 0)
				fprintf(stream,
					"<td class=\"num bar\" style=\"--p:%.2f%%\"",
					datum.bar);
			else
				fprintf(stream, "<td%s", number ? " class=\"num\"" : "");
			// What the page sorts by.
			if (number)
				fprintf(stream, " data-v=\"%.17g\"", figure_of(&datum));
			fputc('>', stream);
			tb_markup_put(stream, datum.text);
			fputs("</td>", stream);
			json_decref(datum.object);
		}
		fputs("</tr>\n", stream);
	}
	fputs("</tbody></table></div>\n</section>\n", stream);
}

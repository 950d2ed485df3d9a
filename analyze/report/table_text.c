// A table as plain text, within a width.
#include "table.h"

#include <stdlib.h>
#include <string.h>

// A name is not cut shorter than this: what is left of it would not tell names apart.
#define SHORTEST 16

// width_of counts characters, not bytes: names are UTF-8.
static unsigned width_of(const char *text)
{
	unsigned width = 0;
	for (; *text; text++)
		width += ((unsigned char)*text & 0xc0) != 0x80;
	return width;
}

static void pad(FILE *stream, unsigned width)
{
	fprintf(stream, "%*s", (int)width, "");
}

// cut shortens a text to `width` characters, the last of them three dots.
static void cut(char *text, unsigned width)
{
	if (width_of(text) <= width)
		return;
	for (unsigned kept = 0; kept + 3 < width; kept++)
		do
			text++;
		while (((unsigned char)*text & 0xc0) == 0x80);
	strcpy(text, "...");
}

// One shown column.
struct shown_column {
	struct tb_column column;
	unsigned width;
	unsigned least; // of a name what still tells it apart, of figures all digits
};

static void write_cell(
	const struct shown_column *shown, char *text, bool is_last, FILE *stream)
{
	cut(text, shown->width);
	unsigned blank = shown->width - width_of(text);
	fputs("  ", stream);
	if (tb_column_is_number(&shown->column))
		pad(stream, blank);
	fputs(text, stream);
	// No line ends in blanks.
	if (!tb_column_is_number(&shown->column) && !is_last)
		pad(stream, blank);
}

// Columns to write side by side: `lead` before [from, end).
struct column_part {
	const struct shown_column *lead; // NULL: none; before `from`
	const struct shown_column *from, *end;
};

// write_line writes one row, or the titles for row SIZE_MAX.
static void write_line(const struct tb_table *table, const struct column_part *part,
	size_t row, FILE *stream)
{
	const struct shown_column *next = part->lead ? part->lead : part->from;
	while (next != part->end) {
		struct tb_datum datum = {.object = NULL};
		const struct shown_column *after =
			next == part->lead ? part->from : next + 1;
		if (row == SIZE_MAX)
			snprintf(datum.text, sizeof datum.text, "%s", next->column.title);
		else
			tb_table_put(table, &next->column, row, &datum);
		write_cell(next, datum.text, after == part->end, stream);
		json_decref(datum.object);
		next = after;
	}
	fputc('\n', stream);
}

static void write_part(
	const struct tb_table *table, const struct column_part *part, FILE *stream)
{
	write_line(table, part, SIZE_MAX, stream);
	for (size_t row = 0; row < table->n_shown; row++)
		write_line(table, part, row, stream);
}

static struct shown_column measure(
	const struct tb_table *table, const struct tb_column *column)
{
	unsigned width = 0, title = width_of(column->title);
	for (size_t row = 0; row < table->n_shown; row++) {
		struct tb_datum datum;
		tb_table_put(table, column, row, &datum);
		width = width < width_of(datum.text) ? width_of(datum.text) : width;
		json_decref(datum.object);
	}
	bool number = tb_column_is_number(column);
	return (struct shown_column){*column, width < title ? title : width,
		number && width > SHORTEST ? width : SHORTEST};
}

static unsigned whole_width(const struct shown_column *shown, size_t n)
{
	unsigned whole = 0;
	for (size_t i = 0; i < n; i++)
		whole += shown[i].width + 2;
	return whole;
}

// narrow cuts the widest names and titles until the table fits, or none is left to cut.
static void narrow(struct shown_column *shown, size_t n, unsigned width)
{
	unsigned whole = whole_width(shown, n);
	while (whole > width) {
		struct shown_column *widest = NULL;
		for (size_t i = 0; i < n; i++)
			if (shown[i].width > shown[i].least &&
				(!widest || shown[i].width > widest->width))
				widest = &shown[i];
		if (!widest)
			break;
		widest->width--;
		whole--;
	}
}

// write_parts writes as many columns as fit side by side, and the others below.
static void write_parts(const struct tb_table *table, const struct shown_column *shown,
	size_t n, unsigned width, FILE *stream)
{
	const struct shown_column *lead = shown, *end = shown + n, *from = shown;
	while (lead < end && tb_column_is_number(&lead->column))
		lead++;
	while (from < end) {
		bool first = from == shown;
		struct column_part part = {lead < from ? lead : NULL, from, from};
		unsigned used = part.lead ? lead->width + 2 : 0;
		while (part.end < end &&
			(part.end == from || used + part.end->width + 2 <= width))
			used += part.end++->width + 2;
		if (!first)
			fputc('\n', stream);
		write_part(table, &part, stream);
		from = part.end;
	}
}

int tb_table_text(const struct tb_table *table, unsigned width, FILE *stream)
{
	size_t n = 0;
	struct shown_column *shown = calloc(table->type->n_columns + 1, sizeof *shown);
	if (!shown)
		return TB_ENOMEM;
	for (size_t i = 0; i < table->type->n_columns; i++) {
		struct tb_column column = tb_table_column(table, i);
		if (column.title)
			shown[n++] = measure(table, &column);
	}
	width = width ? width : UINT32_MAX;
	narrow(shown, n, width);
	fprintf(stream, "\n%s\n", tb_table_title(table));
	write_parts(table, shown, n, width, stream);
	if (table->remark[0])
		fprintf(stream, "  %s\n", table->remark);
	free(shown);
	return TB_OK;
}

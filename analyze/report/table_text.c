// A table as plain text, within a width.
#include "table.h"
#include "wrap.h"

#include <stdlib.h>
#include <string.h>

// A name is not cut shorter than this: what is left of it would not tell names apart.
#define SHORTEST 16

static void pad(FILE *stream, unsigned width)
{
	fprintf(stream, "%*s", (int)width, "");
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

// One shown column.
struct shown_column {
	struct tb_column column;
	unsigned width;
	unsigned least; // of a name what still tells it apart, of figures all digits
};

static void write_cell(
	const struct shown_column *shown, char *text, bool is_last, FILE *stream)
{
	cut_text_cell(text, shown->width);
	unsigned blank = shown->width - tb_text_columns(text);
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
	struct shown_column *lead; // NULL: none; before `from`
	struct shown_column *from, *end;
};

// behind is the next column of a part.
static struct shown_column *behind(
	const struct column_part *part, const struct shown_column *at)
{
	return part->from + (at == part->lead ? 0 : at + 1 - part->from);
}

// write_table_line writes one row, or the titles for row SIZE_MAX.
static void write_table_line(const struct tb_table *table, const struct column_part *part,
	size_t row, FILE *stream)
{
	const struct shown_column *next = part->lead ? part->lead : part->from;
	while (next != part->end) {
		struct tb_datum datum = {.object = NULL};
		const struct shown_column *after = behind(part, next);
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
	write_table_line(table, part, SIZE_MAX, stream);
	for (size_t row = 0; row < table->n_shown; row++)
		write_table_line(table, part, row, stream);
}

static struct shown_column measure_text_column(
	const struct tb_table *table, const struct tb_column *column)
{
	unsigned width = 0, title = tb_text_columns(column->title);
	for (size_t row = 0; row < table->n_shown; row++) {
		struct tb_datum datum;
		tb_table_put(table, column, row, &datum);
		width = width < tb_text_columns(datum.text) ? tb_text_columns(datum.text)
							    : width;
		json_decref(datum.object);
	}
	bool number = tb_column_is_number(column);
	return (struct shown_column){*column, width < title ? title : width,
		number && width > SHORTEST ? width : SHORTEST};
}

static unsigned least_column_width(const struct shown_column *column)
{
	return 2 + (column->width < column->least ? column->width : column->least);
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
			shown[n++] = measure_text_column(table, &column);
	}
	unsigned room = width ? width : UINT32_MAX;
	fputc('\n', stream);
	tb_wrap(stream, 0, 2, width, tb_table_title(table));
	// Write as many columns as fit side by side, and the others below.
	struct shown_column *lead = shown, *end = shown + n, *from = shown;
	while (lead < end && tb_column_is_number(&lead->column))
		lead++;
	while (from < end) {
		struct column_part part = {lead < from ? lead : NULL, from, from};
		unsigned used = part.lead ? least_column_width(lead) : 0;
		unsigned lead_width = lead < end ? lead->width : 0;
		while (part.end < end &&
			(part.end == from || used + least_column_width(part.end) <= room))
			used += least_column_width(part.end++);
		// Cut the widest names and titles of a part until it fits, or none is
		// left to cut.
		struct shown_column *first = part.lead ? part.lead : part.from;
		unsigned whole = 0;
		for (struct shown_column *at = first; at != part.end;
			at = behind(&part, at))
			whole += at->width + 2;
		while (whole > room) {
			struct shown_column *widest = NULL;
			for (struct shown_column *at = first; at != part.end;
				at = behind(&part, at))
				if (at->width > at->least &&
					(!widest || at->width > widest->width))
					widest = at;
			if (!widest)
				break;
			widest->width--;
			whole--;
		}
		if (from != shown)
			fputc('\n', stream);
		write_part(table, &part, stream);
		if (part.lead)
			lead->width = lead_width;
		from = part.end;
	}
	if (table->remark[0]) {
		fputs("  ", stream);
		tb_wrap(stream, 2, 2, width, table->remark);
	}
	free(shown);
	return TB_OK;
}

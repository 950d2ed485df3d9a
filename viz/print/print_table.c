// A table on paper. Its titles stand on every page; long names and titles break into
// lines, and columns that have no room side by side go on below, behind the first name.
#include "print_impl.h"

#include <stdlib.h>
#include <string.h>

#define SIZE  7.5
#define LEAST 6.5 // size of tables that have no room otherwise
#define GAP   9.0
// A title of several words stands on one line up to this width.
#define TITLE 36.0
// A name breaks into lines where its column would be wider than this ...
#define WIDE 190.0
// ... or, where all columns together have no room, than this.
#define NARROW 90.0

struct printed_column {
	struct tb_column column;
	double width;
	bool number;
};

struct printed {
	struct sheets *sheets;
	const struct tb_table *table;
	struct printed_column *columns;
	size_t n;
	double size, gap, leading;
};

// Columns to print side by side: `lead` (n: none) before [from, end).
struct table_part {
	size_t lead, from, end;
};

static double longest_word(enum tb_font font, double size, const char *text)
{
	double widest = 0;
	while (*text) {
		size_t length = strcspn(text, " ");
		char word[128];
		snprintf(word, sizeof word, "%.*s", (int)length, text);
		double width = tb_text_width(font, size, word);
		widest = width > widest ? width : widest;
		text += length + (text[length] != '\0');
	}
	return widest;
}

static double table_width(const struct printed *printed)
{
	double width = -printed->gap;
	for (size_t i = 0; i < printed->n; i++)
		width += printed->columns[i].width + printed->gap;
	return width;
}

// table_narrow breaks the widest names until all columns have room or no name is wide.
static void table_narrow(struct printed *printed)
{
	while (table_width(printed) > SHEET_ROOM) {
		struct printed_column *widest = NULL;
		for (size_t i = 0; i < printed->n; i++) {
			struct printed_column *at = &printed->columns[i];
			if (!at->number && at->width > NARROW &&
				(!widest || at->width > widest->width))
				widest = at;
		}
		if (!widest)
			return;
		double rest = widest->width - (table_width(printed) - SHEET_ROOM);
		widest->width = rest > NARROW ? rest : NARROW;
	}
}

// table_line_up writes the row, or for SIZE_MAX the titles, or only counts its lines.
static size_t table_line_up(const struct printed *printed, const struct table_part *part,
	size_t row, bool put)
{
	double x = SHEET_MARGIN;
	size_t most = 1;
	for (size_t i = part->lead < printed->n ? part->lead : part->from;
		i < part->end;) {
		const struct printed_column *at = &printed->columns[i];
		struct tb_datum datum = {.object = NULL};
		bool titles = row == SIZE_MAX;
		if (titles)
			snprintf(datum.text, sizeof datum.text, "%s", at->column.title);
		else
			tb_table_put(printed->table, &at->column, row, &datum);
		const struct tb_type type = {titles ? TB_FONT_BOLD : TB_FONT_TEXT,
			printed->size, at->number ? TB_ALIGN_RIGHT : TB_ALIGN_LEFT,
			titles ? sheets_muted : sheets_ink};
		struct tb_box box = {x, printed->sheets->y, at->width, printed->leading};
		size_t n = put ? sheets_put(printed->sheets, box, type, datum.text)
			       : sheets_n_lines(
					 type.font, printed->size, at->width, datum.text);
		most = n > most ? n : most;
		json_decref(datum.object);
		x += at->width + printed->gap;
		i = i == part->lead ? part->from : i + 1;
	}
	return most;
}

static double table_height(
	const struct printed *printed, const struct table_part *part, size_t row)
{
	return (double)table_line_up(printed, part, row, false) * printed->leading + 2;
}

static double part_width(const struct printed *printed, const struct table_part *part)
{
	double width = part->lead < printed->n
			       ? printed->columns[part->lead].width + printed->gap
			       : 0;
	for (size_t i = part->from; i < part->end; i++)
		width += printed->columns[i].width + printed->gap;
	return width - printed->gap;
}

static void put_titles(const struct printed *printed, const struct table_part *part)
{
	double height = table_height(printed, part, SIZE_MAX);
	table_line_up(printed, part, SIZE_MAX, true);
	printed->sheets->y += height;
	tb_picture_line(sheets_page(printed->sheets),
		(struct tb_box){
			SHEET_MARGIN, printed->sheets->y, part_width(printed, part), 0},
		0.5, sheets_rule);
	printed->sheets->y += 2;
}

// carry_on begins a page with the table's heading and titles.
static void carry_on(const struct printed *printed, const struct table_part *part)
{
	char heading[160];
	snprintf(heading, sizeof heading, "%s (continued)",
		tb_table_title(printed->table));
	sheets_turn(printed->sheets);
	sheets_heading(printed->sheets, heading, 0);
	put_titles(printed, part);
}

// print_parts prints as many columns as fit side by side, and the others below.
static void print_parts(const struct printed *printed)
{
	size_t lead = 0, from = 0;
	while (lead < printed->n && printed->columns[lead].number)
		lead++;
	while (from < printed->n) {
		bool leads = lead < from;
		double width = leads ? printed->columns[lead].width + printed->gap : 0;
		struct table_part part = {leads ? lead : printed->n, from, from};
		while (part.end < printed->n &&
			(part.end == from ||
				width + printed->columns[part.end].width <= SHEET_ROOM))
			width += printed->columns[part.end++].width + printed->gap;
		struct sheets *sheets = printed->sheets;
		double first = table_height(printed, &part, SIZE_MAX) +
			       table_height(printed, &part, 0);
		if (sheets->y + first + 4 > SHEET_BOTTOM)
			carry_on(printed, &part);
		else
			put_titles(printed, &part);
		for (size_t row = 0; row < printed->table->n_shown; row++) {
			double height = table_height(printed, &part, row);
			if (sheets->y + height > SHEET_BOTTOM)
				carry_on(printed, &part);
			if (row % 2)
				tb_picture_rect(sheets_page(sheets),
					(struct tb_box){SHEET_MARGIN - 3, sheets->y - 1,
						part_width(printed, &part) + 6, height},
					sheets_tint);
			table_line_up(printed, &part, row, true);
			sheets->y += height;
		}
		sheets->y += 6;
		from = part.end;
	}
}

// table_fit lays the columns out in the largest type in which all have room side by side.
static void table_fit(struct printed *printed)
{
	for (double size = SIZE; size >= LEAST; size -= 0.5) {
		printed->size = size;
		printed->leading = size + 1.5;
		printed->gap = GAP - 3 * (SIZE - size);
		for (size_t i = 0; i < printed->n; i++) {
			struct printed_column *at = &printed->columns[i];
			at->number = tb_column_is_number(&at->column);
			at->width = 0;
			for (size_t row = 0; row < printed->table->n_shown; row++) {
				struct tb_datum datum;
				tb_table_put(printed->table, &at->column, row, &datum);
				double width = tb_text_width(
					TB_FONT_TEXT, printed->size, datum.text);
				at->width = width > at->width ? width : at->width;
				json_decref(datum.object);
			}
			if (!at->number && at->width > WIDE)
				at->width = WIDE;
			double title = tb_text_width(
				TB_FONT_BOLD, printed->size, at->column.title);
			if (title > TITLE)
				title = longest_word(
					TB_FONT_BOLD, printed->size, at->column.title);
			at->width = (at->width > title ? at->width : title) + 1;
		}
		table_narrow(printed);
		if (table_width(printed) <= SHEET_ROOM)
			return;
	}
}

void tb_print_table(struct sheets *sheets, const struct tb_table *table)
{
	const struct tb_type remark = {TB_FONT_TEXT, SIZE, TB_ALIGN_LEFT, sheets_muted};
	struct printed printed = {.sheets = sheets, .table = table};
	if (table->n_shown == 0)
		return;
	printed.columns = calloc(table->type->n_columns, sizeof *printed.columns);
	if (!printed.columns) {
		sheets->status = TB_ENOMEM;
		return;
	}
	for (size_t i = 0; i < table->type->n_columns; i++) {
		struct tb_column column = tb_table_column(table, i);
		if (column.title)
			printed.columns[printed.n++].column = column;
	}
	table_fit(&printed);
	sheets_heading(sheets, tb_table_title(table), 5 * SIZE);
	if (*table->remark)
		sheets_flow(sheets, SHEET_MARGIN, SHEET_ROOM, remark, SIZE + 1.5,
			table->remark);
	sheets->y += *table->remark ? 3 : 0;
	print_parts(&printed);
	free(printed.columns);
}

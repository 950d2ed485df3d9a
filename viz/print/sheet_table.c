#include "sheet_table.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SIZE  7.5
#define LEAST 7.0 // size of tables that have no room otherwise
#define GAP   9.0
// A title of several words stands on one line up to this width.
#define TITLE 36.0
// A name breaks into lines where its column would be wider than this ...
#define WIDE 190.0
// ... or, where all columns together have no room, than this.
#define NARROW 90.0
// If all columns have room only so, than that.
#define NARROWEST 64.0
// Where columns go on below, names are at most so wide.
#define SPLIT 130.0
// Columns go on below rather than that names take more lines.
#define MOST_LINES 3
// Rows that stay together at the begin and at the end of a page.
#define TOGETHER 3

struct printed_column {
	struct tb_column column;
	double width, whole; // whole: that of its longest text on one line
	bool number;
};

struct printed {
	struct sheets *sheets;
	const struct tb_table *table;
	struct printed_column *columns;
	size_t n, lead;
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

// table_narrow breaks the widest names until all columns have room or no name is wide;
// in the last size they get narrower, if that makes all fit.
static void table_narrow(struct printed *printed, bool last)
{
	double needed = table_width(printed);
	for (size_t i = 0; i < printed->n; i++)
		if (!printed->columns[i].number)
			needed -= fmax(printed->columns[i].width - NARROWEST, 0);
	const double narrow = last && needed <= SHEET_ROOM ? NARROWEST : NARROW;
	while (table_width(printed) > SHEET_ROOM) {
		struct printed_column *widest = NULL;
		for (size_t i = 0; i < printed->n; i++) {
			struct printed_column *at = &printed->columns[i];
			if (!at->number && at->width > narrow &&
				(!widest || at->width > widest->width))
				widest = at;
		}
		if (!widest)
			return;
		double rest = widest->width - (table_width(printed) - SHEET_ROOM);
		widest->width = fmax(rest, narrow);
	}
}

// cell_text writes what stands in a row, of SIZE_MAX the title.
static void cell_text(
	const struct printed *printed, size_t row, size_t i, struct tb_datum *datum)
{
	const struct tb_column *column = &printed->columns[i].column;
	datum->object = NULL;
	if (row == SIZE_MAX)
		snprintf(datum->text, sizeof datum->text, "%s", column->title);
	else
		tb_table_put(printed->table, column, row, datum);
	json_decref(datum->object);
}

// behind_column is the next column of a part.
static size_t behind_column(const struct table_part *part, size_t i)
{
	return i == part->lead ? part->from : i + 1;
}

// table_lines counts the lines of the row, or for SIZE_MAX of the titles.
static size_t table_lines(
	const struct printed *printed, const struct table_part *part, size_t row)
{
	size_t most = 1, i = part->lead < printed->n ? part->lead : part->from;
	for (; i < part->end; i = behind_column(part, i)) {
		struct tb_datum datum;
		cell_text(printed, row, i, &datum);
		size_t n = sheets_n_lines(row == SIZE_MAX ? TB_FONT_BOLD : TB_FONT_TEXT,
			printed->size, printed->columns[i].width, datum.text);
		most = n > most ? n : most;
	}
	return most;
}

static double table_height(
	const struct printed *printed, const struct table_part *part, size_t row)
{
	return (double)table_lines(printed, part, row) * printed->leading + 2;
}

// table_line_up writes the row, or for SIZE_MAX the titles, which end at their rule.
static void table_line_up(
	const struct printed *printed, const struct table_part *part, size_t row)
{
	const bool titles = row == SIZE_MAX;
	const size_t most = titles ? table_lines(printed, part, row) : 0;
	double x = SHEET_MARGIN;
	size_t i = part->lead < printed->n ? part->lead : part->from;
	for (; i < part->end; i = behind_column(part, i)) {
		const struct printed_column *at = &printed->columns[i];
		struct tb_datum datum;
		cell_text(printed, row, i, &datum);
		const struct tb_type type = {titles ? TB_FONT_BOLD : TB_FONT_TEXT,
			printed->size, at->number ? TB_ALIGN_RIGHT : TB_ALIGN_LEFT,
			titles ? sheets_muted : sheets_ink};
		struct tb_box box = {x, printed->sheets->y, at->width, printed->leading};
		if (titles)
			box.y += printed->leading *
				 (double)(most - sheets_n_lines(type.font, type.size,
							 at->width, datum.text));
		sheets_put(printed->sheets, box, type, datum.text);
		x += at->width + printed->gap;
	}
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
	table_line_up(printed, part, SIZE_MAX);
	printed->sheets->y += height;
	tb_picture_line(sheets_page(printed->sheets),
		(struct tb_box){
			SHEET_MARGIN, printed->sheets->y, part_width(printed, part), 0},
		0.5, sheets_rule);
	printed->sheets->y += 2;
}

// part_end returns the column behind those that have room side by side from `from` on.
static size_t part_end(
	const struct printed *printed, size_t lead, size_t from, double room)
{
	double width =
		lead < printed->n ? printed->columns[lead].width + printed->gap : 0;
	size_t end = from;
	while (end < printed->n &&
		(end == from || width + printed->columns[end].width <= room))
		width += printed->columns[end++].width + printed->gap;
	return end;
}

// table_parts returns how many parts the columns take in a width.
static size_t table_parts(const struct printed *printed, size_t lead, double room)
{
	size_t n = 0;
	for (size_t from = 0; from < printed->n; n++)
		from = part_end(printed, lead < from ? lead : printed->n, from, room);
	return n;
}

// rows_height is the height of rows [from, end) of a part.
static double rows_height(const struct printed *printed, const struct table_part *part,
	size_t from, size_t end)
{
	double height = 0;
	for (size_t row = from; row < end && row < printed->table->n_shown; row++)
		height += table_height(printed, part, row);
	return height;
}

// rows_together returns how many rows from the first on stay on one page: the first ones,
// and all of a short list.
static size_t rows_together(const struct printed *printed)
{
	size_t n = printed->table->n_shown;
	return n < 2 * TOGETHER ? n : TOGETHER;
}

// turns_before returns whether a page ends before the row: there is no room for it, or
// the next page would begin with too few rows.
static bool turns_before(
	const struct printed *printed, const struct table_part *part, size_t row)
{
	size_t n = printed->table->n_shown;
	size_t end = row + TOGETHER == n && row >= TOGETHER ? n : row + 1;
	return printed->sheets->y + rows_height(printed, part, row, end) > SHEET_BOTTOM;
}

static void print_part(const struct printed *printed, const struct table_part *part)
{
	struct sheets *sheets = printed->sheets;
	put_titles(printed, part);
	for (size_t row = 0; row < printed->table->n_shown; row++) {
		double height = table_height(printed, part, row);
		if (row && turns_before(printed, part, row)) {
			sheets_turn(sheets);
			put_titles(printed, part);
		}
		if (row % 2)
			tb_picture_rect(sheets_page(sheets),
				(struct tb_box){SHEET_MARGIN - 3, sheets->y - 1,
					part_width(printed, part) + 6, height},
				sheets_tint);
		table_line_up(printed, part, row);
		sheets->y += height;
	}
	sheets->y += 6;
}

// parts_height returns how high all parts of a table are in a width.
static double parts_height(const struct printed *printed, double room)
{
	double height = 0;
	for (size_t from = 0; from < printed->n;) {
		size_t lead = printed->lead < from ? printed->lead : printed->n;
		struct table_part part = {
			lead, from, part_end(printed, lead, from, room)};
		height += table_height(printed, &part, SIZE_MAX) + 8 +
			  rows_height(printed, &part, 0, printed->table->n_shown);
		from = part.end;
	}
	return height;
}

// print_parts prints as many columns as have room side by side, and the others below,
// about as wide, unless the table is brief. What stands above the first is `above` high.
static void print_parts(struct printed *printed, bool brief)
{
	const size_t lead = printed->lead;
	double room = SHEET_ROOM;
	const size_t n_parts = table_parts(printed, lead, room);
	while (!brief && room > SHEET_ROOM / 4.0 &&
		table_parts(printed, lead, room - 5) == n_parts)
		room -= 5;
	// Names take what the parts leave free, each part's own below.
	struct printed_column *names = &printed->columns[lead];
	struct table_part first_part = {printed->n, 0, 0};
	first_part.end = part_end(printed, printed->n, 0, room);
	double used = brief ? part_width(printed, &first_part) : room;
	double more = fmin(SHEET_ROOM - used, names->whole - names->width);
	if (n_parts > 1 && more > 0) {
		names->width += more;
		room = fmin(room + more, SHEET_ROOM);
	}
	const double all_h = brief ? 0 : parts_height(printed, room);
	for (size_t from = 0; from < printed->n;) {
		struct table_part part = {lead < from ? lead : printed->n, from, 0};
		part.end = part_end(printed, part.lead, from, room);
		for (size_t i = from; i < part.end && n_parts > 1 && !brief; i++) {
			struct printed_column *at = &printed->columns[i];
			double free_w = SHEET_ROOM - part_width(printed, &part);
			if (!at->number && i != lead && at->width < at->whole)
				at->width = fmin(at->whole, at->width + free_w);
		}
		double first = table_height(printed, &part, SIZE_MAX) + 4 +
			       rows_height(printed, &part, 0, rows_together(printed));
		// All parts of a short list stay on one page.
		if (from == 0 && printed->table->n_shown < TOGETHER)
			first = fmax(first, all_h);
		if (from == 0) {
			const struct tb_type remark = {
				TB_FONT_TEXT, SIZE, TB_ALIGN_LEFT, sheets_muted};
			const char *text = printed->table->remark;
			double height = 0;
			if (*text)
				height = 3 + (SIZE + 1.5) *
						     (double)sheets_n_lines(TB_FONT_TEXT,
							     SIZE, SHEET_ROOM, text);
			sheets_heading(printed->sheets, tb_table_title(printed->table),
				height + first);
			if (*text)
				sheets_flow(printed->sheets, SHEET_MARGIN, SHEET_ROOM,
					remark, SIZE + 1.5, text);
			printed->sheets->y += *text ? 3 : 0;
		} else {
			sheets_need(printed->sheets, first);
		}
		print_part(printed, &part);
		from = brief ? printed->n : part.end;
	}
	sheets_end_section(printed->sheets);
}

// table_measure finds the widths of the columns in a size.
static void table_measure(struct printed *printed, double size)
{
	printed->size = size;
	printed->leading = size + 1.5;
	printed->gap = GAP - 3 * (SIZE - size);
	for (size_t i = 0; i < printed->n; i++) {
		struct printed_column *at = &printed->columns[i];
		at->number = tb_column_is_number(&at->column);
		at->width = 0;
		for (size_t row = 0; row < printed->table->n_shown; row++) {
			struct tb_datum datum;
			cell_text(printed, row, i, &datum);
			at->width = fmax(
				at->width, tb_text_width(TB_FONT_TEXT, size, datum.text));
		}
		at->whole = at->width + 1;
		if (!at->number && at->width > WIDE)
			at->width = WIDE;
		double title = tb_text_width(TB_FONT_BOLD, size, at->column.title);
		if (title > TITLE)
			title = longest_word(TB_FONT_BOLD, size, at->column.title);
		at->width = fmax(at->width, title) + 1;
	}
}

// name_lines counts the lines of the longest name.
static size_t name_lines(const struct printed *printed)
{
	size_t most = 1;
	for (size_t i = 0; i < printed->n; i++)
		for (size_t row = 0; row < printed->table->n_shown; row++) {
			struct tb_datum datum;
			cell_text(printed, row, i, &datum);
			size_t n = sheets_n_lines(TB_FONT_TEXT, printed->size,
				printed->columns[i].width, datum.text);
			most = n > most ? n : most;
		}
	return most;
}

// table_fit lays the columns out in the largest type in which all have room side by side,
// or where there is none, in that of other tables.
static void table_fit(struct printed *printed, bool brief)
{
	for (double size = SIZE; size >= LEAST; size -= 0.5) {
		table_measure(printed, size);
		table_narrow(printed, size <= LEAST);
		if (table_width(printed) <= SHEET_ROOM &&
			name_lines(printed) <= MOST_LINES)
			return;
	}
	table_measure(printed, SIZE);
	for (size_t i = 0; i < printed->n && !brief; i++)
		if (!printed->columns[i].number && printed->columns[i].width > SPLIT)
			printed->columns[i].width = SPLIT;
}

// table_prepare chooses and measures the columns. False: there is nothing to print, or no
// memory for it.
static bool table_prepare(struct printed *printed, const char *const *brief)
{
	const struct tb_table *table = printed->table;
	if (table->n_shown == 0)
		return false;
	struct tb_shown_column *shown = tb_table_shown(table, brief, &printed->n);
	printed->columns = calloc(printed->n + 1, sizeof *printed->columns);
	bool made = shown && printed->columns;
	for (size_t i = 0; i < printed->n && made; i++)
		printed->columns[i].column = shown[i].column;
	if (made) {
		printed->lead = tb_table_lead(shown, printed->n);
		table_fit(printed, brief != NULL);
	} else {
		printed->sheets->status = TB_ENOMEM;
	}
	free(shown);
	return made;
}

double sheets_table_height(struct sheets *sheets, const struct tb_table *table)
{
	struct printed printed = {.sheets = sheets, .table = table};
	double height = 0;
	if (table_prepare(&printed, NULL))
		height = SHEET_HEADING +
			 (SIZE + 1.5) * (double)sheets_n_lines(TB_FONT_TEXT, SIZE,
						SHEET_ROOM, table->remark) +
			 parts_height(&printed, SHEET_ROOM);
	free(printed.columns);
	return height;
}

void sheets_table(
	struct sheets *sheets, const struct tb_table *table, const char *const *brief)
{
	struct printed printed = {.sheets = sheets, .table = table};
	if (table_prepare(&printed, brief))
		print_parts(&printed, brief != NULL);
	free(printed.columns);
}

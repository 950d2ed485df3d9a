// Tables of a report as plain text and as Markdown.
#include "report_cells.h"

#include <string.h>

// width_of counts characters, not bytes: names are UTF-8.
static int width_of(const char *text)
{
	int width = 0;
	for (; *text; text++)
		width += ((unsigned char)*text & 0xc0) != 0x80;
	return width;
}

static void pad(FILE *stream, int width)
{
	fprintf(stream, "%*s", width > 0 ? width : 0, "");
}

static void aligned(
	FILE *stream, const struct tb_report_column *column, const char *text, int width)
{
	if (column->number)
		pad(stream, width - width_of(text));
	fputs(text, stream);
	if (!column->number)
		pad(stream, width - width_of(text));
}

static int column_width(const struct tb_report_table *table, int column)
{
	int width = width_of(table->columns[column].title);
	for (size_t row = 0; row < table->n_rows; row++) {
		const char *text =
			table->cells[row * (size_t)table->n_columns + (size_t)column]
				.text;
		if (width < width_of(text))
			width = width_of(text);
	}
	return width;
}

// write_row writes one row, or the titles where `cells` is NULL. The last column is not
// padded, so that no line ends in blanks.
static void write_row(FILE *stream, const struct tb_report_table *table,
	const struct tb_report_cell *cells, const int *widths)
{
	for (int i = 0; i < table->n_columns; i++) {
		const struct tb_report_column *column = &table->columns[i];
		const char *text = cells ? cells[i].text : column->title;
		bool last = i == table->n_columns - 1;
		fputs("  ", stream);
		aligned(stream, column, text, last && !column->number ? 0 : widths[i]);
	}
	fputc('\n', stream);
}

void tb_report_table_text(const struct tb_report_table *table, FILE *stream)
{
	int widths[TB_REPORT_COLUMNS];
	for (int i = 0; i < table->n_columns; i++)
		widths[i] = column_width(table, i);
	fprintf(stream, "\n%s\n", table->title);
	write_row(stream, table, NULL, widths);
	for (size_t row = 0; row < table->n_rows; row++)
		write_row(stream, table, &table->cells[row * (size_t)table->n_columns],
			widths);
	if (table->remark[0])
		fprintf(stream, "  %s\n", table->remark);
}

void tb_report_markdown(FILE *stream, const char *text)
{
	for (; *text; text++) {
		if (strchr("\\`*_[]<>|#", *text))
			fputc('\\', stream);
		fputc(*text, stream);
	}
}

void tb_report_table_markdown(const struct tb_report_table *table, FILE *stream)
{
	fprintf(stream, "\n## %s\n\n|", table->title);
	for (int i = 0; i < table->n_columns; i++) {
		fputc(' ', stream);
		tb_report_markdown(stream, table->columns[i].title);
		fputs(" |", stream);
	}
	fputs("\n|", stream);
	for (int i = 0; i < table->n_columns; i++)
		fputs(table->columns[i].number ? "---:|" : "---|", stream);
	fputc('\n', stream);
	for (size_t row = 0; row < table->n_rows; row++) {
		fputc('|', stream);
		for (int i = 0; i < table->n_columns; i++) {
			size_t at = row * (size_t)table->n_columns + (size_t)i;
			fputc(' ', stream);
			tb_report_markdown(stream, table->cells[at].text);
			fputs(" |", stream);
		}
		fputc('\n', stream);
	}
	if (table->remark[0])
		fprintf(stream, "\n%s\n", table->remark);
}

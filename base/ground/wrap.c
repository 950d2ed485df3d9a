#include "wrap.h"

#include <stdbool.h>
#include <string.h>

#define NAME_MOST 24 // characters before a second column, at most

static unsigned columns_of(const char *text, size_t n)
{
	unsigned columns = 0;
	for (size_t i = 0; i < n; i++)
		columns += ((unsigned char)text[i] & 0xc0) != 0x80;
	return columns;
}

unsigned tb_text_columns(const char *text)
{
	return columns_of(text, strlen(text));
}

// wrap writes `n` bytes of text. Blanks remain as they are, but where a line breaks.
static void wrap(FILE *stream, unsigned column, unsigned indent, unsigned width,
	const char *text, size_t n)
{
	const char *end = text + n;
	size_t lead = strspn(text, " ");
	lead = lead < n ? lead : n;
	fprintf(stream, "%.*s", (int)lead, text);
	column += (unsigned)lead;
	for (text += lead; text < end;) {
		size_t word = strcspn(text, " \n"), blanks = strspn(text + word, " ");
		unsigned next = columns_of(
			text + word + blanks, strcspn(text + word + blanks, " \n"));
		fprintf(stream, "%.*s", (int)word, text);
		column += columns_of(text, word);
		text += word + blanks;
		if (text >= end)
			break;
		bool breaks = width && column + blanks + next > width && column > indent;
		if (breaks)
			fprintf(stream, "\n%*s", (int)indent, "");
		else
			fprintf(stream, "%*s", (int)blanks, "");
		column = breaks ? indent : column + (unsigned)blanks;
	}
	fputc('\n', stream);
}

void tb_wrap(
	FILE *stream, unsigned column, unsigned indent, unsigned width, const char *text)
{
	wrap(stream, column, indent, width, text, strlen(text));
}

// second_column finds where the value of "  name    value" begins, or two blanks behind
// the beginning of other lines.
static unsigned second_column(const char *line, size_t n)
{
	size_t lead = strspn(line, " ");
	for (size_t at = lead + 1; at + 2 < n && at < NAME_MOST; at++)
		if (line[at] == ' ' && line[at + 1] == ' ') {
			at += strspn(line + at, " ");
			return columns_of(line, at < n ? at : n);
		}
	return (unsigned)lead + 2;
}

void tb_wrap_lines(FILE *stream, unsigned width, const char *text)
{
	while (*text) {
		size_t n = strcspn(text, "\n");
		wrap(stream, 0, second_column(text, n), width, text, n);
		text += n + (text[n] == '\n');
	}
}

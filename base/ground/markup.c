#include "markup.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

void tb_markup_put(FILE *stream, const char *text)
{
	for (; *text; text++) {
		switch (*text) {
		case '<':
			fputs("&lt;", stream);
			break;
		case '>':
			fputs("&gt;", stream);
			break;
		case '&':
			fputs("&amp;", stream);
			break;
		case '"':
			fputs("&quot;", stream);
			break;
		default:
			fputc(*text, stream);
		}
	}
}

// is_formula returns whether a spreadsheet would calculate a field instead of showing it:
// quotes do not keep it from that.
static bool is_formula(const char *text)
{
	char *end;
	if (*text == '\0' || !strchr("=+-@\t\r", *text))
		return false;
	(void)strtod(text, &end);
	return end == text || *end != '\0';
}

void tb_csv_put(FILE *stream, const char *text)
{
	const char *mark = is_formula(text) ? "'" : "";
	if (!strpbrk(text, ",\"\r\n")) {
		fprintf(stream, "%s%s", mark, text);
		return;
	}
	fprintf(stream, "\"%s", mark);
	for (; *text; text++) {
		if (*text == '"')
			fputc('"', stream);
		fputc(*text, stream);
	}
	fputc('"', stream);
}

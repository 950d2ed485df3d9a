#include "markup.h"

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

void tb_csv_put(FILE *stream, const char *text)
{
	if (!strpbrk(text, ",\"\r\n")) {
		fputs(text, stream);
		return;
	}
	fputc('"', stream);
	for (; *text; text++) {
		if (*text == '"')
			fputc('"', stream);
		fputc(*text, stream);
	}
	fputc('"', stream);
}

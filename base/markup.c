#include "markup.h"

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

void tb_json_put(FILE *stream, const char *text)
{
	fputc('"', stream);
	for (; *text; text++) {
		if (*text == '"' || *text == '\\')
			fprintf(stream, "\\%c", *text);
		else if ((unsigned char)*text < ' ')
			fprintf(stream, "\\u%04x", (unsigned)*text);
		else
			fputc(*text, stream);
	}
	fputc('"', stream);
}

#include "shell.h"

#include "status.h"

#include <stdlib.h>
#include <string.h>

void tb_shell_put(FILE *stream, const char *word)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyz0123456789_./+:=,@%-"
				    "ABCDEFGHIJKLMNOPQRSTUVWXYZ";
	if (*word && word[strspn(word, plain)] == '\0') {
		fputs(word, stream);
		return;
	}
	fputc('\'', stream);
	for (; *word; word++)
		if (*word == '\'')
			fputs("'\\''", stream);
		else
			fputc(*word, stream);
	fputc('\'', stream);
}

int tb_shell_next(const char **line, char **word)
{
	const char *at = *line + strspn(*line, " ");
	if (!*at)
		return 0;
	char *made = malloc(strlen(at) + 1), *end = made;
	if (!made)
		return TB_ENOMEM;
	bool quoted = false;
	for (; *at && (quoted || *at != ' '); at++)
		if (*at == '\'')
			quoted = !quoted;
		else if (*at == '\\' && !quoted && at[1])
			*end++ = *++at;
		else
			*end++ = *at;
	*end = '\0';
	*line = at;
	*word = made;
	return 1;
}

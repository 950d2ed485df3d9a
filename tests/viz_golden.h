// Texts that are compared with files of tests/golden/pictures/. TB_UPDATE=1 rewrites
// these: look at what changed before you keep it.
#ifndef VIZ_GOLDEN_H
#define VIZ_GOLDEN_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static inline char *read_golden(const char *path)
{
	char *text = calloc(1, 1 << 20);
	FILE *file = fopen(path, "rb");
	if (file) {
		size_t n = fread(text, 1, (1 << 20) - 1, file);
		text[n] = '\0';
		fclose(file);
	}
	return text;
}

// show_difference writes the first line that differs, with the event that it belongs to:
// the line after the last empty one.
static inline void show_difference(const char *got, const char *wanted, const char *name)
{
	size_t at = 0, line = 1;
	while (got[at] && got[at] == wanted[at])
		line += got[at++] == '\n';
	size_t from = at, event = at;
	while (from > 0 && got[from - 1] != '\n')
		from--;
	while (event > 1 && !(got[event - 1] == '\n' && got[event - 2] == '\n'))
		event--;
	fprintf(stderr,
		"%s, line %zu, after '%.*s'\nwanted: %.*s\ngot:    %.*s\n"
		"TB_UPDATE=1 accepts all that differs\n",
		name, line, (int)strcspn(got + event, "\n"), got + event,
		(int)strcspn(wanted + from, "\n"), wanted + from,
		(int)strcspn(got + from, "\n"), got + from);
}

// assert_golden compares a text with the file of a name.
static inline void assert_golden(const char *got, const char *name)
{
	char path[512];
	snprintf(path, sizeof path, "%s/tests/golden/pictures/%s.txt",
		getenv("TB_SOURCE"), name);
	if (getenv("TB_UPDATE")) {
		FILE *file = fopen(path, "wb");
		assert_non_null(file);
		fputs(got, file);
		assert_int_equal(fclose(file), 0);
	}
	char *wanted = read_golden(path);
	bool same = strcmp(got, wanted) == 0;
	if (!same)
		show_difference(got, wanted, path);
	free(wanted);
	assert_true(same);
}

#endif

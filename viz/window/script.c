#include "session_impl.h"

#include "array.h"
#include "input_files.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST_BYTES (1u << 20)

static const struct script_word {
	const char *name;
	enum tb_step_kind kind;
	int n_numbers; // 0: the rest of the line is text
} words[] = {
	{"key", TB_STEP_KEY, 0},
	{"hover", TB_STEP_HOVER, 2},
	{"type", TB_STEP_TYPE, 0},
	{"click", TB_STEP_CLICK, 2},
	{"double", TB_STEP_DOUBLE, 2},
	{"drag", TB_STEP_DRAG, 4},
	{"wheel", TB_STEP_WHEEL, 3},
	{"resize", TB_STEP_RESIZE, 2},
	{"wait", TB_STEP_WAIT, 1},
	{"await", TB_STEP_AWAIT, 0},
	{"outlast", TB_STEP_OUTLAST, 0},
	{"expect", TB_STEP_EXPECT, 0},
	{"refuse", TB_STEP_REFUSE, 0},
	{"dump", TB_STEP_DUMP, 0},
	{"screenshot", TB_STEP_SCREENSHOT, 0},
};

void tb_script_fini(struct tb_script *script)
{
	for (size_t i = 0; i < script->n; i++)
		free(script->steps[i].text);
	free(script->steps);
	*script = (struct tb_script){0};
}

static const struct script_word *script_word_of(const char *line, size_t length)
{
	for (size_t i = 0; i < sizeof words / sizeof *words; i++)
		if (strlen(words[i].name) == length &&
			strncmp(line, words[i].name, length) == 0)
			return &words[i];
	return NULL;
}

static int numbers(const char *text, int n, double *into)
{
	for (int i = 0; i < n; i++) {
		char *end;
		into[i] = strtod(text, &end);
		if (end == text || !isfinite(into[i]) || fabs(into[i]) > 1e6)
			return TB_EFORMAT;
		text = end;
	}
	return text[strspn(text, " \t")] == '\0' ? TB_OK : TB_EFORMAT;
}

static int parse_line(struct tb_script *script, const char *line, const char *name,
	unsigned at, struct tb_error *error)
{
	line += strspn(line, " \t");
	if (line[0] == '\0' || line[0] == '#')
		return TB_OK;
	size_t length = strcspn(line, " \t");
	const struct script_word *word = script_word_of(line, length);
	for (size_t i = 0; i < length; i++)
		if ((unsigned char)line[i] < ' ' || line[i] == 127)
			return tb_fail_at(error, TB_EFORMAT, name, TB_PLACE_LINE, at,
				"expected a step, found bytes that are not text");
	if (!word)
		return tb_fail_at(error, TB_EFORMAT, name, TB_PLACE_LINE, at,
			"unknown step '%.*s'", (int)(length < 40 ? length : 40), line);
	const char *rest = line + length;
	rest += strspn(rest, " \t");
	struct tb_step *step = NULL;
	if (TB_ARRAY_RESERVE(&script->steps, &script->room, script->n + 1) == TB_OK) {
		script->steps[script->n] = (struct tb_step){.text = NULL};
		step = &script->steps[script->n++];
	}
	if (!step)
		return tb_fail_memory_in(error, name, "the script");
	step->kind = word->kind;
	step->line = at;
	if (word->n_numbers > 0)
		return numbers(rest, word->n_numbers, step->numbers) == TB_OK
			       ? TB_OK
			       : tb_fail_at(error, TB_EFORMAT, name, TB_PLACE_LINE, at,
					 "%s takes %d number%s", word->name,
					 word->n_numbers, word->n_numbers > 1 ? "s" : "");
	if (rest[0] == '\0')
		return tb_fail_at(error, TB_EFORMAT, name, TB_PLACE_LINE, at,
			"%s needs something after it", word->name);
	step->text = strdup(rest);
	return step->text ? TB_OK : tb_fail_memory_in(error, name, "the script");
}

int tb_script_parse(struct tb_script *script, const char *text, size_t length,
	const char *name, struct tb_error *error)
{
	struct tb_script parsed = {0};
	unsigned at = 0;
	int status = TB_OK;
	const char *end = text + length;
	while (status == TB_OK && text < end) {
		const char *newline = memchr(text, '\n', (size_t)(end - text));
		size_t n = (size_t)((newline ? newline : end) - text);
		char *line = strndup(text, n); // ends at a stray NUL
		at++;
		if (!line) {
			status = tb_fail_memory_in(error, name, "the script");
			break;
		}
		line[strcspn(line, "\r")] = '\0';
		status = parse_line(&parsed, line, name, at, error);
		free(line);
		text += n + (newline != NULL);
	}
	if (status != TB_OK) {
		tb_script_fini(&parsed);
		return status;
	}
	*script = parsed;
	return TB_OK;
}

int tb_script_load(struct tb_script *script, const char *path, struct tb_error *error)
{
	bool standard = strcmp(path, "-") == 0;
	FILE *file = standard ? stdin : tb_input_fopen(path);
	if (!file)
		return tb_fail_in(
			error, TB_EIO, path, "cannot be opened: %s", strerror(errno));
	char *text = malloc(MOST_BYTES);
	size_t n = text ? fread(text, 1, MOST_BYTES, file) : 0;
	int failed = ferror(file);
	if (!standard)
		fclose(file);
	int status;
	if (!text)
		status = tb_fail_memory_in(error, path, "it");
	else if (failed)
		status = tb_fail_in(error, TB_EIO, path, "cannot be read");
	else if (n == MOST_BYTES)
		status = tb_fail_in(
			error, TB_ECAPACITY, path, "a script must be smaller than 1 MiB");
	else
		status = tb_script_parse(script, text, n, path, error);
	free(text);
	return status;
}

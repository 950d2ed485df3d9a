#include "array.h"
#include "input_files.h"
#include "progress.h"
#include "session_impl.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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

// Runs a script in place of a user; its steps go through SDL's queue.

static bool shows(const struct tb_picture *picture, const char *text)
{
	for (size_t i = 0; picture && i < picture->n_items; i++)
		if (picture->items[i].kind == TB_ITEM_TEXT &&
			strstr(tb_picture_string(picture, picture->items[i].text), text))
			return true;
	return false;
}

static void play_post(
	struct tb_session *session, enum tb_input_kind kind, double x, double y)
{
	tb_screen_post(session->screen, &(struct tb_input){.kind = kind, .x = x, .y = y});
}

// play_pass advances time in frames, so that playback takes the same steps as for a user.
static void play_pass(struct tb_session *session, double ms)
{
	for (; ms > 0; ms -= TB_FRAME_MS)
		tb_viewer_tick(session->viewer, fmin(ms, TB_FRAME_MS) / 1000);
	tb_viewer_check(session->viewer);
}

static int play_expect(
	struct tb_session *session, const struct tb_step *step, struct tb_error *error)
{
	bool wanted = step->kind == TB_STEP_EXPECT || step->kind == TB_STEP_AWAIT;
	if (shows(tb_viewer_picture(session->viewer), step->text) == wanted)
		return TB_OK;
	return tb_fail_at(error, TB_EFORMAT, session->options->script, TB_PLACE_LINE,
		step->line, "the picture shows %s'%s'", wanted ? "no " : "", step->text);
}

static int press_key(
	struct tb_session *session, const struct tb_step *step, struct tb_error *error)
{
	// The keys of a prompt, besides text.
	static const char *const typing[] = {
		"Return", "Backspace", "Up", "Down", "Tab", "Escape", "Ctrl+U", "Ctrl+T"};
	struct tb_request ignored;
	struct tb_input input = {.kind = TB_INPUT_KEY};
	bool known = tb_request_of_key(step->text, &ignored);
	for (size_t i = 0; i < sizeof typing / sizeof *typing; i++)
		known |= tb_viewer_typing(session->viewer) &&
			 strcmp(step->text, typing[i]) == 0;
	if (!known)
		return tb_fail_at(error, TB_EFORMAT, session->options->script,
			TB_PLACE_LINE, step->line, "unknown key '%.40s'", step->text);
	snprintf(input.key, sizeof input.key, "%s", step->text);
	tb_screen_post(session->screen, &input);
	return TB_OK;
}

static void play_type(struct tb_session *session, const char *text)
{
	for (; *text; text++) {
		struct tb_input input = {.kind = TB_INPUT_KEY};
		snprintf(input.key, sizeof input.key, "%.1s", text);
		if (*text == ' ')
			snprintf(input.key, sizeof input.key, "Space");
		tb_screen_post(session->screen, &input);
	}
}

static void play_click(struct tb_session *session, double x, double y)
{
	play_post(session, TB_INPUT_PRESS, x, y);
	play_post(session, TB_INPUT_RELEASE, x, y);
}

static void post_wheel(struct tb_session *session, const double *at)
{
	const struct tb_input input = {
		.kind = TB_INPUT_WHEEL, .x = at[0], .y = at[1], .steps = at[2]};
	tb_screen_post(session->screen, &input);
}

static int play_act(
	struct tb_session *session, const struct tb_step *step, struct tb_error *error)
{
	const double *at = step->numbers;
	switch (step->kind) {
	case TB_STEP_KEY:
		return press_key(session, step, error);
	case TB_STEP_TYPE:
		play_type(session, step->text);
		break;
	case TB_STEP_DOUBLE:
		play_post(session, TB_INPUT_MOVE, at[0], at[1]);
		play_click(session, at[0], at[1]);
		play_post(session, TB_INPUT_PRESS, at[0], at[1]);
		play_post(session, TB_INPUT_DOUBLE, at[0], at[1]);
		break;
	case TB_STEP_HOVER:
		play_post(session, TB_INPUT_MOVE, at[0], at[1]);
		break;
	case TB_STEP_CLICK:
		play_post(session, TB_INPUT_MOVE, at[0], at[1]);
		play_click(session, at[0], at[1]);
		break;
	case TB_STEP_DRAG: {
		const int n_moves = 8;
		play_post(session, TB_INPUT_MOVE, at[0], at[1]);
		play_post(session, TB_INPUT_PRESS, at[0], at[1]);
		for (int i = 1; i <= n_moves; i++)
			play_post(session, TB_INPUT_MOVE,
				at[0] + (at[2] - at[0]) * i / n_moves,
				at[1] + (at[3] - at[1]) * i / n_moves);
		play_post(session, TB_INPUT_RELEASE, at[2], at[3]);
	} break;
	case TB_STEP_WHEEL:
		post_wheel(session, at);
		break;
	case TB_STEP_RESIZE:
		play_post(session, TB_INPUT_RESIZE, at[0], at[1]);
		break;
	case TB_STEP_WAIT:
		play_pass(session, at[0]);
		break;
	case TB_STEP_AWAIT:
	case TB_STEP_OUTLAST: {
		// Let other processes go on until the picture shows what they come to.
		double end_s = tb_clock_s() + TB_AWAIT_S;
		int status = play_expect(session, step, error);
		while (status != TB_OK && tb_clock_s() < end_s &&
			!tb_session_quits(session)) {
			usleep(TB_FRAME_MS * 1000);
			play_pass(session, TB_FRAME_MS);
			status = tb_session_draw(session, error);
			if (status != TB_OK)
				return status;
			status = play_expect(session, step, error);
		}
		return tb_session_quits(session) ? TB_OK : status;
	}
	case TB_STEP_EXPECT:
	case TB_STEP_REFUSE:
		return play_expect(session, step, error);
	case TB_STEP_DUMP:
		return tb_session_write(session, step->text, true, error);
	case TB_STEP_SCREENSHOT:
		return tb_session_screenshot(session, step->text, error);
	}
	return TB_OK;
}

int tb_session_play(struct tb_session *session, struct tb_error *error)
{
	struct tb_script script = {0};
	int status = tb_script_load(&script, session->options->script, error);
	if (status == TB_OK) {
		// Run them one by one, and handles the input that a step queued before
		// the next.
		status = tb_session_draw(session, error);
		for (size_t i = 0;
			status == TB_OK && i < script.n && !tb_session_quits(session);
			i++) {
			status = play_act(session, &script.steps[i], error);
			struct tb_input input;
			while ((input = tb_screen_wait(session->screen, 0)).kind !=
				TB_INPUT_NONE)
				tb_session_take(session, &input);
			tb_session_act(session);
			if (status == TB_OK)
				status = tb_session_draw(session, error);
		}
	}
	tb_script_fini(&script);
	return status;
}

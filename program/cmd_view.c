// tailback view: shows a run in a window.
#include "capture_args.h"
#include "cli.h"
#include "commands.h"
#include "picture_args.h"
#include "preset.h"
#include "reading_args.h"
#include "run_args.h"
#include "screen.h"
#include "session.h"
#include "trace.h"
#include "views.h"

#include <argp.h>
#include <stdio.h>
#include <stdlib.h>

enum key { KEY_RUN = 256, KEY_SIZE, KEY_SCALE, KEY_SCRIPT, KEY_SHOT, KEY_VIEW };

static const struct argp_option argp_options[] = {
	{NULL, 0, NULL, 0, "What is shown:", 1},
	{"view", KEY_VIEW, "VIEW", 0, "The view to show first: %s", 1},
	{"metric", 'm', "METRIC", 0, "%s (default: wait)", 1},
	TB_CMD_WAIT_OPTION,
	{"run", KEY_RUN, "ID", 0,
		"Run number within the store (default: the newest); given again, that of "
		"the other store",
		1},
	TB_COLOURS_OPTION,
	{"theme", TB_OPTION_THEME, "NAME", 0, "dark (default) or light", 1},
	{"size", KEY_SIZE, "WxH", 0, "Size of the window (default: 1280x720)", 1},
	{"scale", KEY_SCALE, "F", 0,
		"Size of text and controls, 0.5 to 4 (default: by the display)", 0},
	{"screenshot", KEY_SHOT, "FILE", 0,
		"Write the window as it opens, with --view in that view, as PNG and "
		"exit; no display is needed",
		1},
	// For tests (window/session_impl.h): no part of the command's interface.
	{"script", KEY_SCRIPT, "FILE", OPTION_HIDDEN, NULL, 1},
	{NULL, 0, NULL, 0, "How a TRACE is replayed, to begin with:", 2},
	{"network", 'n', "NETWORK", 0,
		"Preset, INI file or fabric, with changes after commas", 2},
	TB_CMD_CAPTURE_OPTIONS(2),
	TB_CMD_READING_OPTIONS(2),
	{0},
};

static const struct tb_cmd_words words[] = {
	TB_PICTURE_LOOK_WORDS,
	{.key = KEY_VIEW, .word = tb_views_name},
	{.key = 'm', .word = tb_metric_name},
	TB_CMD_WAIT_WORDS,
	{.key = 'n', .lines = tb_network_preset_names},
	TB_CMD_READING_WORDS,
	TB_CMD_CAPTURE_WORDS,
	{0},
};

// WORDS_MOST is what the form of a trace passes on.
#define WORDS_MOST 48

struct viewing {
	struct tb_session_options options;
	struct tb_cmd_captures captures; // only to find mistakes
	struct tb_cmd_reading reading;
	char *words[WORDS_MOST];
};

// keep_word keeps an option of a replay as it was given.
static void keep_word(struct argp_state *state, int key, const char *value)
{
	struct viewing *viewing = state->input;
	const struct argp_option *row = argp_options;
	while (row->key != key)
		row++;
	if (viewing->options.n_words == WORDS_MOST)
		argp_error(state, "more than %d options of a replay", WORDS_MOST);
	char **word = &viewing->words[viewing->options.n_words++];
	if (asprintf(word, "--%s%s%s", row->name, value ? "=" : "", value ? value : "") <
		0)
		exit(tb_cli_no_memory("the options"));
}

static error_t parse_replay(int key, char *value, struct argp_state *state)
{
	struct viewing *viewing = state->input;
	error_t taken =
		key == 'n' ? 0
			   : tb_cmd_capture_arg(key, value, state, &viewing->captures);
	if (taken != 0)
		taken = tb_cmd_reading_arg(key, value, state, &viewing->reading);
	if (taken == 0)
		keep_word(state, key, value);
	return taken;
}

static bool parse_size(const char *text, int *width, int *height)
{
	char end;
	return sscanf(text, "%5dx%5d%c", width, height, &end) == 2 &&
	       *width >= TB_SCREEN_LEAST_W && *width <= 16384 &&
	       *height >= TB_SCREEN_LEAST_H && *height <= 16384;
}

static error_t parse_option(int key, char *value, struct argp_state *state)
{
	struct tb_session_options *options = &((struct viewing *)state->input)->options;
	switch (key) {
	case 'm':
		options->metric = (enum tb_metric)tb_cmd_word(words, key, value, state);
		options->given_metric = true;
		break;
	case TB_OPTION_WAIT:
		options->metric = tb_cmd_word(words, key, value, state) == TB_LEADS_FOR
					  ? TB_WAIT_FOR
					  : TB_CAME_BY;
		options->given_metric = true;
		break;
	case KEY_VIEW:
		options->view = tb_cmd_word(words, key, value, state);
		options->given_view = true;
		break;
	case KEY_RUN:
		if (options->other_run)
			argp_error(
				state, "--run is given once per store, not three times");
		*(options->run ? &options->other_run : &options->run) =
			tb_cmd_run_number(value, state);
		break;
	case ARGP_KEY_ARG:
		if (options->other)
			argp_error(
				state, "two stores at a time: '%s' is too many", value);
		*(options->store ? &options->other : &options->store) = value;
		break;
	case KEY_SIZE:
		if (!parse_size(value, &options->width, &options->height))
			argp_error(state, "a size is %dx%d to 16384x16384, not '%s'",
				TB_SCREEN_LEAST_W, TB_SCREEN_LEAST_H, value);
		options->given_size = true;
		break;
	case KEY_SCALE:
		if (tb_parse_real(value, 0.5, 4, &options->scale) != TB_OK)
			argp_error(state, "a scale is 0.5 to 4, not '%s'", value);
		break;
	case KEY_SCRIPT:
		options->script = value;
		break;
	case KEY_SHOT:
		options->screenshot = value;
		break;
	default:
		if (tb_cmd_look_arg(
			    key, value, state, &options->colours, &options->theme) == 0)
			return 0;
		if (parse_replay(key, value, state) == 0)
			return 0;
		return tb_cmd_store_arg(key, value, state, &options->store);
	}
	return 0;
}

// check_trace reads a trace that a picture is made of to its end: nobody sees in the
// picture that it is broken. What is no trace at all is left to the viewer, which takes
// stores too.
static int check_trace(const struct viewing *viewing, struct tb_error *error)
{
	const char *path = viewing->options.store;
	struct tb_trace trace;
	struct tb_captured_packet packet;
	const struct tb_trace_request request = {.paths = &path,
		.n = 1,
		.packets = &viewing->captures.packets,
		.reading = &viewing->reading.reading,
		.stop = viewing->options.stop};
	int status = tb_trace_read(&trace, &request, error);
	if (status != TB_OK)
		return status == TB_EFOREIGN ? TB_OK : status;
	while (trace.packets &&
		(status = tb_packets_next(trace.packets, &packet, error)) > 0)
		;
	tb_packets_free(trace.packets);
	tb_job_free(trace.job);
	return status;
}

int tb_cmd_view(int argc, char **argv)
{
	static const struct argp argp = {argp_options, parse_option,
		"run.db|TRACE [OTHER.db]",
		"Show a run: the congestion matrix with zoom and pan, the hot links "
		"beside it, and a window over simulated time that plays. Press ? for the "
		"keys. A capture or a job is replayed as you choose in "
		"the window. Two runs are shown side by side, with what changed from the "
		"first to the second.",
		NULL, NULL, NULL};
	struct viewing viewing = {.options = {.width = 1280,
					  .height = 720,
					  .theme = TB_DARK,
					  .metric = TB_WAIT}};
	struct tb_session_options *options = &viewing.options;
	struct tb_error error;
	tb_cmd_parse(&argp, words, argc, argv, 0, &viewing);
	if (options->other_run && !options->other)
		options->other = options->store;
	options->words = (const char *const *)viewing.words;
	options->stop = tb_cli_catch_stop();
	int status = TB_OK;
	if (options->screenshot && !tb_run_is_store(options->store))
		status = check_trace(&viewing, &error);
	if (status == TB_OK)
		status = tb_session_run(options, &error);
	for (size_t i = 0; i < options->n_words; i++)
		free(viewing.words[i]);
	return status == TB_OK ? TB_EXIT_OK : tb_cli_fail(&error);
}

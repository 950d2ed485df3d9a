// tailback view: shows a run in a window.
#include "cli.h"
#include "commands.h"
#include "network_open.h"
#include "picture_args.h"
#include "preset.h"
#include "run.h"
#include "screen.h"
#include "session.h"
#include "trace.h"
#include "trace_args.h"
#include "views.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define WORDS_MOST 48 // that the form of a trace passes on

struct viewing {
	struct tb_session_options options;
	struct tb_cmd_captures captures; // only to find mistakes
	struct tb_cmd_reading reading;
	const char *network; // likewise
	char *words[WORDS_MOST];
	struct tb_given given;
};

#define AT(member) TB_AT(struct viewing, options.member)

static void take_wait(
	const struct tb_option *row, void *target, char *value, struct argp_state *state)
{
	struct tb_session_options *options = target;
	unsigned wait = tb_option_word(row, value, state);
	options->metric = wait == TB_LEADS_FOR ? TB_WAIT_FOR : TB_CAME_BY;
}

static void take_viewed_run(
	const struct tb_option *row, void *target, char *value, struct argp_state *state)
{
	struct tb_session_options *options = target;
	if (options->other_run)
		argp_error(state, "--run is given once per store, not three times");
	*(options->run ? &options->other_run : &options->run) =
		(int64_t)tb_option_count(row, value, state);
}

static void take_size(
	const struct tb_option *row, void *target, char *value, struct argp_state *state)
{
	struct tb_session_options *options = target;
	char end;
	if (sscanf(value, "%5dx%5d%c", &options->width, &options->height, &end) != 2 ||
		options->width < TB_SCREEN_LEAST_W || options->width > 16384 ||
		options->height < TB_SCREEN_LEAST_H || options->height > 16384)
		argp_error(state, "--%s=%s: expected %dx%d to 16384x16384", row->name,
			value, TB_SCREEN_LEAST_W, TB_SCREEN_LEAST_H);
}

static void take_viewed_store(
	const struct tb_option *row, void *target, char *value, struct argp_state *state)
{
	struct tb_session_options *options = target;
	(void)row;
	if (options->other)
		argp_error(state, "two stores at a time: '%s' is too many", value);
	*(options->store ? &options->other : &options->store) = value;
}

// How a trace is replayed: the window's form of a replay gets what is given of these.
static const struct tb_option replay_rows[] = {
	{.help = "How a TRACE is replayed, to begin with:"},
	{"network", 'n', "NETWORK",
		"Preset, INI file or fabric, with changes after commas", TB_TEXT,
		TB_AT(struct viewing, network), .lines = tb_network_preset_names,
		.files = "\\.ini$"},
	TB_INCLUDE(tb_capture_options, struct viewing, captures),
	TB_INCLUDE(tb_reading_options, struct viewing, reading),
	{0},
};

static const struct tb_option option_rows[] = {
	{.help = "What is shown:"},
	{"view", 0, "VIEW", "The view to show first: %s", TB_WORD, AT(view),
		TB_SET(struct viewing, options.given_view), .word = tb_views_name},
	{"metric", 'm', "METRIC", "%s (default: wait)", TB_WORD, AT(metric),
		TB_SET(struct viewing, options.given_metric), .word = tb_metric_name},
	{"wait", 0, "WHICH", TB_WAIT_HELP, TB_CALL, TB_AT(struct viewing, options),
		TB_SET(struct viewing, options.given_metric), .list = tb_wait_lead_words,
		.take = take_wait},
	{"run", 0, "ID",
		"Run number within the store (default: the newest); given again, that of "
		"the other store",
		TB_CALL, TB_AT(struct viewing, options), .min = 1, .max = INT64_MAX,
		.take = take_viewed_run},
	TB_COLOURS_OPTION(struct viewing, options.colours),
	TB_THEME_OPTION(struct viewing, options.theme, "dark (default) or light"),
	{"size", 0, "WxH", "Size of the window (default: 1280x720)", TB_CALL,
		TB_AT(struct viewing, options),
		TB_SET(struct viewing, options.given_size), .take = take_size},
	{"scale", 0, "F", "Size of text and controls, 0.5 to 4 (default: by the display)",
		TB_REAL, AT(scale), .least = 0.5, .most = 4, .seldom = true},
	{"screenshot", 0, "FILE",
		"Write the window as it opens, with --view in that view, as PNG and "
		"exit; no display is needed",
		TB_TEXT, AT(screenshot), .files = "."},
	{"script", 0, "FILE",
		"Play the steps in a file, and exit: keys, clicks and checks of what the "
		"window shows, such as 'key F8', 'expect Two runs' (-: standard input)",
		TB_TEXT, AT(script), .files = ".", .seldom = true},
	{.table = replay_rows, .kind = TB_TABLE},
	{0},
};

static const struct tb_options option_table = {
	.rows = option_rows,
	.args_doc = "run.db|TRACE [OTHER.db]",
	.doc = "Show a run: the congestion matrix with zoom and pan, the hot links "
	       "beside it, and a window over simulated time that plays. Press ? for the "
	       "keys. A capture or a job is replayed as you choose in "
	       "the window. Two runs are shown side by side, with what changed from the "
	       "first to the second.",
	.operand = {.kind = TB_CALL,
		TB_AT(struct viewing, options),
		.files = "\\.(db|pcap|pcapng|cap|goal|tbt|bin)(\\.(gz|zst|xz|lz4|bz2))?$",
		.help = "a store is missing: name a run.db",
		.take = take_viewed_store},
};

// keep_words keeps the options of a replay as they were given; returns an exit code.
static int keep_words(struct viewing *viewing)
{
	const struct tb_given *given = &viewing->given;
	for (size_t i = 0; i < given->names.n; i++) {
		const char *name = given->names.of[i], *value = given->values.of[i];
		if (!tb_option_is_of(replay_rows, name))
			continue;
		if (viewing->options.n_words == WORDS_MOST)
			return tb_cli_usage("tailback view",
				"more than %d options of a replay", WORDS_MOST);
		if (asprintf(&viewing->words[viewing->options.n_words++], "--%s%s%s",
			    name, value ? "=" : "", value ? value : "") < 0)
			return tb_cli_no_memory("the options");
	}
	return TB_EXIT_OK;
}

// check_trace opens the network of a trace that a picture is made of, and reads the trace
// to its end: nobody sees in the picture that either is broken. What is no trace at all
// is left to the viewer, which takes stores too.
static int check_trace(struct viewing *viewing, struct tb_error *error)
{
	struct tb_network_params network;
	if (viewing->network) {
		int opened =
			tb_network_open_params(&network, NULL, viewing->network, error);
		if (opened != TB_OK)
			return opened;
	}
	const char *path = viewing->options.store;
	struct tb_trace trace;
	struct tb_captured_packet packet;
	const struct tb_trace_request request = {.paths = &path,
		.n = 1,
		.packets = &viewing->captures.packets,
		.reading = tb_cmd_reading_of(&viewing->reading),
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
	struct viewing viewing = {.options = {.width = 1280,
					  .height = 720,
					  .theme = TB_DARK,
					  .metric = TB_WAIT}};
	struct tb_session_options *options = &viewing.options;
	struct tb_error error;
	tb_options_parse(&option_table, argc, argv, &viewing, &viewing.given);
	int code = keep_words(&viewing);
	if (options->other_run && !options->other)
		options->other = options->store;
	if (code == TB_EXIT_OK && options->run && access(options->store, F_OK) == 0 &&
		!tb_run_is_store(options->store))
		code = tb_cli_usage("tailback view",
			"--run is for the runs of a store, and '%s' is none",
			options->store);
	if (code == TB_EXIT_OK) {
		options->words = (const char *const *)viewing.words;
		options->stop = tb_cli_catch_stop();
		int status = TB_OK;
		if (options->screenshot && !tb_run_is_store(options->store))
			status = check_trace(&viewing, &error);
		if (status == TB_OK)
			status = tb_session_run(options, &error);
		if (status != TB_OK)
			code = tb_cli_fail(&error);
	}
	for (size_t i = 0; i < options->n_words; i++)
		free(viewing.words[i]);
	tb_given_fini(&viewing.given);
	tb_texts_fini(&viewing.reading.collectives);
	return code;
}

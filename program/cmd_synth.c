// tailback synth: makes a synthetic job and writes it as GOAL.
#include "cmd_synth.h"

#include "cli.h"
#include "commands.h"
#include "nearest.h"
#include "units.h"
#include "words_args.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { KEY_BINARY = 1024, KEY_REPEAT, KEY_COMPUTE };

static const struct argp_option options[] = {
	{"output", 'o', "FILE", 0, "Write the job to FILE (default: -, standard output)",
		1},
	{"binary", KEY_BINARY, NULL, 0, "Write GOAL's binary form instead of its text",
		1},
	{NULL, 0, NULL, 0, "Of patterns and collectives:", 2},
	{"nodes", 'n', "N", 0, "Nodes of the job, one rank each", 2},
	{NULL, 0, NULL, 0, "Of collectives and parallel I/O:", 3},
	{"repeat", KEY_REPEAT, "COUNT", 0, "Repetitions, one after the other (1; bt: 40)",
		3},
	{"compute", KEY_COMPUTE, "TIME", 0,
		"Time that each rank, or client, computes before each repetition (0)", 3},
	{0},
};

enum kind { NOTHING_YET, PATTERN, COLLECTIVE, IO };

struct synth_arguments {
	enum kind kind;
	const char *name; // the operand
	struct tb_synth_pattern_args pattern;
	struct tb_synth_collective_args collective;
	struct tb_synth_io_args io;
	struct tb_plan_job how;
	const char *output;
	bool binary, nodes, repeat, compute;
};

uint64_t tb_synth_number(struct argp_state *state, const char *name, const char *text,
	uint64_t min, uint64_t max)
{
	uint64_t value = 0;
	if (tb_parse_count(text, min, max, &value) != TB_OK)
		argp_error(state,
			"%s takes a whole number from %" PRIu64 " to %" PRIu64
			", not '%s'",
			name, min, max, text);
	return value;
}

uint64_t tb_synth_ns(struct argp_state *state, const char *name, const char *text)
{
	tb_time_ps time = 0;
	if (tb_parse_time(text, &time) != TB_OK || time % TB_PS_PER_NS != 0)
		argp_error(state,
			"%s takes a time in whole nanoseconds such as 10us, not '%s'",
			name, text);
	return (uint64_t)(time / TB_PS_PER_NS);
}

// refuse_name reports an unknown operand and a known one that is near.
static void refuse_name(struct argp_state *state, const char *name)
{
	const char *names[64] = {"io"};
	size_t n = 1;
	for (const struct tb_synth_pattern *p = tb_synth_patterns; p->name; p++)
		names[n++] = p->name;
	for (int op = 0; op < TB_COLL_EXCHANGE; op++)
		names[n++] = tb_collectives[op].name;
	struct tb_hint hint;
	argp_error(state, "no pattern or collective is called '%s'%s", name,
		tb_hint_near(&hint, name, names, n, sizeof *names));
}

static void parse_name(
	struct argp_state *state, struct synth_arguments *args, const char *name)
{
	struct tb_error error;
	if (args->kind == IO && !args->io.options.benchmark) {
		if (tb_io_benchmark_find(&args->io.options.benchmark, name, &error) !=
			TB_OK)
			argp_error(state, "%s", error.text);
		return;
	}
	if (args->kind != NOTHING_YET)
		argp_error(state, "one job at a time: '%s' is too many", name);
	args->name = name;
	if (strcmp(name, "io") == 0)
		args->kind = IO;
	else if (tb_collective_op_find(&args->collective.op, name) &&
		 args->collective.op != TB_COLL_EXCHANGE)
		args->kind = COLLECTIVE;
	else if (tb_synth_pattern_find(&args->pattern.options.pattern, name, NULL) ==
		 TB_OK)
		args->kind = PATTERN;
	else
		refuse_name(state, name);
}

// refuse_others refuses options of another kind of job.
static void refuse_others(struct argp_state *state, const struct synth_arguments *args)
{
	const struct {
		const char *used, *takers;
		bool fits;
	} uses[] = {
		{args->pattern.used, "patterns", args->kind == PATTERN},
		{args->collective.used, "collectives", args->kind == COLLECTIVE},
		{args->io.used, "parallel I/O", args->kind == IO},
		{args->nodes ? "nodes" : NULL, "patterns and collectives",
			args->kind != IO},
		{args->repeat		? "repeat"
			: args->compute ? "compute"
					: NULL,
			"collectives and parallel I/O", args->kind != PATTERN},
	};
	for (size_t i = 0; i < sizeof uses / sizeof *uses; i++)
		if (uses[i].used && !uses[i].fits)
			argp_error(state, "--%s goes with %s, not with %s", uses[i].used,
				uses[i].takers, args->name);
}

static void check_whole(struct argp_state *state, struct synth_arguments *args)
{
	if (args->kind == NOTHING_YET)
		argp_error(state,
			"a PATTERN, COLLECTIVE or io BENCHMARK is missing: --help lists "
			"them");
	refuse_others(state, args);
	if (args->kind != IO && !args->nodes)
		argp_error(state, "--nodes is missing");
	if (args->kind == PATTERN)
		tb_synth_pattern_check(state, &args->pattern);
	if (args->kind == COLLECTIVE)
		tb_synth_collective_check(state, &args->collective);
	if (args->kind == IO && !args->io.options.benchmark)
		argp_error(state, "a BENCHMARK of io is missing: --help lists them");
	if (args->kind == IO)
		tb_synth_io_check(state, &args->io);
	if (args->binary && strcmp(args->output, "-") == 0 && isatty(STDOUT_FILENO))
		argp_error(state, "--binary is not for a terminal: use -o FILE");
}

static void parse_nodes(
	struct argp_state *state, struct synth_arguments *args, const char *text)
{
	uint32_t n = (uint32_t)tb_synth_number(state, "--nodes", text, 2, TB_RANKS_MAX);
	args->nodes = true;
	args->pattern.options.n_nodes = args->collective.options.n_ranks = n;
}

static error_t parse(int key, char *text, struct argp_state *state)
{
	struct synth_arguments *args = state->input;
	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &args->pattern;
		state->child_inputs[1] = &args->collective;
		state->child_inputs[2] = &args->io;
		break;
	case 'n':
		parse_nodes(state, args, text);
		break;
	case KEY_REPEAT:
		args->repeat = true;
		args->how.n_repeats =
			(uint32_t)tb_synth_number(state, "--repeat", text, 1, INT32_MAX);
		break;
	case KEY_COMPUTE:
		args->compute = true;
		args->how.compute_ns = tb_synth_ns(state, "--compute", text);
		break;
	case KEY_BINARY:
		args->binary = true;
		break;
	case 'o':
		args->output = text;
		break;
	case ARGP_KEY_ARG:
		parse_name(state, args, text);
		break;
	case ARGP_KEY_END:
		check_whole(state, args);
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

static const char *const places[] = {"clustered", "distributed", NULL};
static const char *const transports[] = {"elan", "tcp", NULL};
static const char *const rendezvous[] = {"adaptive", "write", "read", NULL};
static const char *const completions[] = {"control", "event", NULL};

const struct tb_cmd_words tb_synth_words[] = {
	{.key = TB_SYNTH_KEY_IO_PLACE, .list = places},
	{.key = TB_SYNTH_KEY_SIZE_DIST, .list = tb_synth_dists},
	{.key = TB_SYNTH_KEY_TIME_DIST, .list = tb_synth_dists},
	{.key = TB_SYNTH_KEY_TRANSPORT, .list = transports},
	{.key = TB_SYNTH_KEY_RENDEZVOUS, .list = rendezvous},
	{.key = TB_SYNTH_KEY_COMPLETION, .list = completions},
	{0},
};

// help_filter adds the tables of names, which are data, to the text after the options.
static char *help_filter(int key, const char *text, void *input)
{
	(void)input;
	if (key != ARGP_KEY_HELP_EXTRA)
		return (char *)(uintptr_t)text;
	char *list = NULL;
	size_t n;
	FILE *stream = open_memstream(&list, &n);
	if (!stream)
		return NULL;
	tb_synth_pattern_help(stream);
	fputc('\n', stream);
	tb_synth_collective_help(stream);
	fputc('\n', stream);
	tb_synth_io_help(stream);
	fputs("\nWithout --load a node sends its messages one after the other, each when "
	      "the one before is done. Receives are posted at the beginning.\n\n"
	      "Examples:\n"
	      "  tailback synth uniform --nodes 64 --message 256K --messages 20\n"
	      "  tailback synth allgather --algorithm bruck -n 16 --ports 2 --size 32K\n"
	      "  tailback synth io read --clients 4 --servers 4 -o job.goal",
		stream);
	fclose(stream);
	return list;
}

static int make_collective(
	struct tb_job **job, const struct synth_arguments *args, struct tb_error *error)
{
	struct tb_plan plan;
	struct tb_plan_job how = args->how;
	int status = tb_collective_plan(&plan, &args->collective.options, error);
	if (status != TB_OK)
		return status;
	how.pin = args->collective.pin;
	how.combine_bytes_per_s = args->collective.combine_bytes_per_s;
	status = tb_plan_to_job(job, &plan, &how, error);
	tb_plan_fini(&plan);
	return status;
}

static int make_io(
	struct tb_job **job, const struct synth_arguments *args, struct tb_error *error)
{
	struct tb_io_options io = args->io.options;
	io.n_repeats = args->repeat ? args->how.n_repeats : io.benchmark->n_repeats;
	io.compute_ns = args->how.compute_ns;
	return tb_io_job(job, &io, error);
}

static int make(
	struct tb_job **job, const struct synth_arguments *args, struct tb_error *error)
{
	return args->kind == PATTERN ? tb_synth_job(job, &args->pattern.options, error)
	       : args->kind == IO    ? make_io(job, args, error)
				     : make_collective(job, args, error);
}

int tb_cmd_synth(int argc, char **argv)
{
	static const struct argp_child children[] = {{&tb_synth_pattern_argp, 0, NULL, 4},
		{&tb_synth_collective_argp, 0, NULL, 5}, {&tb_synth_io_argp, 0, NULL, 6},
		{0}};
	static const struct argp argp = {.options = options,
		.parser = parse,
		.children = children,
		.args_doc = "PATTERN --nodes N --message BYTES --messages COUNT\n"
			    "COLLECTIVE --nodes N --size BYTES\n"
			    "io BENCHMARK",
		.doc = "Make a job of synthetic traffic, of a collective operation or of "
		       "parallel I/O, as GOAL text that other simulators read too.\v",
		.help_filter = help_filter};
	struct synth_arguments args = {.output = "-", .how.n_repeats = 1};
	tb_cmd_parse(&argp, tb_synth_words, argc, argv, 0, &args);
	struct tb_error error;
	struct tb_job *job = NULL;
	int status = make(&job, &args, &error);
	if (status == TB_OK)
		status = args.binary ? tb_job_write_binary(job, args.output, &error)
				     : tb_job_write_text(job, args.output, &error);
	tb_job_free(job);
	return status == TB_OK ? TB_EXIT_OK : tb_cli_fail(&error);
}

// tailback replay: its options, and which runs they ask for.
#include "cmd_replay.h"
#include "peers.h"

#include "capture_args.h"
#include "cli.h"
#include "commands.h"
#include "input_files.h"
#include "network.h"
#include "network_open.h"
#include "output_args.h"
#include "preset.h"
#include "reading_args.h"
#include "trace.h"
#include "value_list.h"

#include <argp.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define JOBS_MOST 1024

enum {
	KEY_NODES = 256,
	KEY_BIN,
	KEY_WINDOW,
	KEY_MAP,
	KEY_NO_BLAME,
	KEY_WATCH,
	KEY_STDIN,
	KEY_JOB,
	KEY_SPLIT,
	KEY_ROUTES,
	KEY_PER_NODE,
	KEY_FAULT,
	KEY_FAULT_FILE,
	KEY_SLOW,
	KEY_EACH,
	KEY_JOBS,
	KEY_SHARD,
	KEY_NUMBERS,
	KEY_ALONE,
	KEY_ALSO,
	KEY_NO_CHECK,
	KEY_NO_BOUNDS,
	KEY_NO_RANGE,
	KEY_THREADS,
	KEY_EXACT_FROM,
	KEY_EXACT_TO,
};

static const struct argp_option option_table[] = {
	{NULL, 0, NULL, 0, "Network and placement:", 1},
	{"network", 'n', "NETWORK", 0,
		"Preset (%s), INI file or fabric, with changes after commas: "
		"qsnet,levels=5, qsnet2,rails=2, my.ini, fabric.ibnetdiscover (default: "
		"qsnet)",
		1},
	{"host", 'H', "LIBRARY", 0,
		"The library of the network that processes send with, with changes "
		"after commas: rdma, get, qdma, tports, mpi, tcp of qsnet2; none",
		1},
	{"nodes", KEY_NODES, "N", 0, "Add levels to the tree until N nodes fit", 1},
	{"map", KEY_MAP, "FILE", 0,
		"Placement, in lines 'ENDPOINT NODE [JOB]' (for a job, 'RANK NODE')", 1},
	{"routes", KEY_ROUTES, "FILE", 0,
		"Forwarding tables instead of the network's own routes, as InfiniBand's "
		"dump_lfts writes them, or OpenSM and ibdiagnet as .fdbs",
		1},
	{"per-node", KEY_PER_NODE, "N", 0, "Put N ranks of a job on each node (1)", 1},
	{"fault", KEY_FAULT, "WHAT[@TIME]", 0,
		"A cable or switch is dead, from the start or from TIME on: link=0.1:4, "
		"'link=node 5', switch=1.4@12ms; may be given again",
		1},
	{"fault-file", KEY_FAULT_FILE, "FILE", 0, "Faults from a file, one per line", 1},
	{"slow", KEY_SLOW, "NODE=RATE", 0,
		"A node drains what arrives no faster than that (networks with credits): "
		"5=2GB/s; may be given again",
		1},
	{"exact-from", KEY_EXACT_FROM, "TIME", 0,
		"With switching=fluid: packets from then on, flows before (default: 0)",
		1},
	{"exact-to", KEY_EXACT_TO, "TIME", 0,
		"With switching=fluid: packets until then, and flows again once they are "
		"in",
		1},
	{NULL, 0, NULL, 0, "Several jobs on one network:", 5},
	{"job", KEY_JOB, "FILE[,KEY=VALUE...]", 0,
		"Another job or capture: start=TIME, placement=block|cyclic|random|"
		"stride:N|trace, per-node=N, nodes=HOSTS such as node[00-15,20], "
		"hosts=FILE, "
		"map=FILE, sl=0..15 (service level), name=NAME; closed-loop",
		5},
	{"split-jobs", KEY_SPLIT, "NAMES", OPTION_ARG_OPTIONAL,
		"Find the jobs in a capture: endpoints that talk to each other form one; "
		"NAMES, separated by commas, are theirs, in the order of their first "
		"nodes",
		5},
	{"alone", KEY_ALONE, NULL, 0,
		"Replay each job by itself too, and on an ideal network: what the others "
		"and the network cost it",
		5},
	{"no-bounds", KEY_NO_BOUNDS, NULL, 0,
		"Do not replay jobs without a network and on an ideal one, for the parts "
		"of "
		"the run time",
		5},
	{"no-check", KEY_NO_CHECK, NULL, 0,
		"Do not replay a closed loop at the captured rate, too", 3},
	{NULL, 0, NULL, 0, "Several replays at once:", 4},
	{"each", KEY_EACH, NULL, 0, "Replay every TRACE into a run of its own", 4},
	{"jobs", KEY_JOBS, "N", 0, "Run N of them at once (default: one per core)", 4},
	{"shard", KEY_SHARD, "K/N", 0,
		"Run the Kth of N shards of them, into a store of its own; 'tailback "
		"merge' puts the shards together",
		4},
	{NULL, 0, NULL, 0, "What is kept:", 2},
	{"output", 'o', "FILE", 0,
		"The store; an existing one gets another run (required)", 2},
	{"bin", KEY_BIN, "TIME", 0,
		"Width of a time bin, such as 10us (default: 1us, doubled until there "
		"are "
		"1024 bins at most, fewer on a large network)",
		2},
	{"no-blame", KEY_NO_BLAME, NULL, 0, "Do not record who waited for whom", 2},
	{"seed", 's', "SEEDS", 0,
		"Seed of the random choices (default: 1); several, such as 1..5, make a "
		"run each",
		2},
	{NULL, 0, NULL, 0, "Packet captures:", 3},
	TB_CMD_CAPTURE_OPTIONS(3),
	{"also", KEY_ALSO, "FILE[,KEY=TIME...]", 0,
		"With --closed-loop: a second capture of the same program, at another "
		"rate, narrows the range; from=TIME and to=TIME choose its span",
		3},
	{"no-range", KEY_NO_RANGE, NULL, 0,
		"With --closed-loop: do not replay the bounds between which the run time "
		"lies",
		3},
	{NULL, 0, NULL, 0, "Traces of what the ranks of a program called:", 7},
	TB_CMD_READING_OPTIONS(7),
	{"stdin", KEY_STDIN, "KIND", 0,
		"What standard input ('-') holds: %s (default: packets); files are "
		"recognised by their content",
		3},
	{NULL, 0, NULL, 0, "Other:", 8},
	{"watch", KEY_WATCH, NULL, 0,
		"Show the run while it is replayed: in a window, or without a display in "
		"the terminal",
		8},
	{"threads", KEY_THREADS, "N", 0,
		"Simulate a large network on N threads (default: one per core, or one "
		"for "
		"each of several replays at once)",
		8},
	{"quiet", 'q', NULL, 0, "No summary", 8},
	// For the viewer (analyze/beside): no part of the command's interface.
	{"progress-numbers", KEY_NUMBERS, NULL, OPTION_HIDDEN, NULL, 8},
	// For 'tailback timeline --closer' (analyze/closer): picoseconds, FROM,TO.
	{"window", KEY_WINDOW, "PS,PS", OPTION_HIDDEN, NULL, 8},
	{0},
};

static const char *const stdin_kinds[] = {
	[TB_TRACE_PACKETS] = "packets", [TB_TRACE_JOB] = "job", NULL};
static const struct tb_cmd_words words[] = {
	{.key = 'n', .lines = tb_network_preset_names},
	{.key = KEY_STDIN, .list = stdin_kinds},
	TB_CMD_READING_WORDS,
	TB_CMD_CAPTURE_WORDS,
	{.key = TB_WORDS_OF_DOC, .word = tb_trace_format_name},
	{0},
};

struct parsing {
	struct replay_options options;
	struct tb_cmd_reading reading;
	struct tb_cmd_captures captures;
	const char **traces, **jobs, **faults, **slow;
	const char *library, *exact_from, *exact_to;
	struct tb_value_list seeds;
	bool each; // trace makes a run of its own
	bool no_range;
	bool network_first; // -n was typed before the first trace
};

static error_t on_capture_option(int key, const char *text, struct argp_state *state)
{
	struct parsing *parsing = state->input;
	struct tb_recording_options *record = &parsing->options.record;
	error_t taken = tb_cmd_capture_arg(key, text, state, &parsing->captures);
	record->workload.packets = parsing->captures.packets;
	record->workload.closed_loop = parsing->captures.closed_loop;
	record->workload.unbounded = parsing->no_range;
	record->wants_captures = parsing->captures.given;
	return taken;
}

// on_reading_option: only options that were given are looked for a trace that takes them.
static error_t on_reading_option(int key, const char *text, struct argp_state *state)
{
	struct parsing *parsing = state->input;
	error_t taken = tb_cmd_reading_arg(key, text, state, &parsing->reading);
	if (taken == 0)
		parsing->options.record.workload.reading = &parsing->reading.reading;
	return taken;
}

static void want_seeds(
	struct argp_state *state, const char *text, struct tb_value_list *seeds)
{
	struct tb_error error = {0};
	uint64_t seed = 0;
	tb_value_list_fini(seeds);
	if (tb_value_list_parse(seeds, TB_VALUE_COUNT, text, &error) != TB_OK)
		argp_error(state, "--seed=%s: %s", text, error.text);
	for (size_t i = 0; i < seeds->n; i++)
		if (tb_parse_count(seeds->texts[i], 0, UINT64_MAX, &seed) != TB_OK)
			argp_error(state,
				"--seed=%s: expected a whole number, or several such as "
				"1..5",
				text);
}

// want_window reads a window, of whole bins: --bin stands before it.
static void want_window(const struct argp_state *state, const char *text,
	struct tb_recording_options *record)
{
	char from[32];
	uint64_t from_ps = 0, to_ps = 0;
	const char *comma = strchr(text, ',');
	int n = comma ? (int)(comma - text) : 0;
	snprintf(from, sizeof from, "%.*s", n, text);
	if (!comma || record->bin_ps == 0 ||
		tb_parse_count(from, 0, INT64_MAX / 2, &from_ps) != TB_OK ||
		tb_parse_count(comma + 1, from_ps + 1, INT64_MAX / 2, &to_ps) != TB_OK ||
		from_ps % (uint64_t)record->bin_ps || to_ps % (uint64_t)record->bin_ps)
		argp_error(state,
			"--window=%s: expected two times, of whole bins of --bin", text);
	record->from_ps = (tb_time_ps)from_ps;
	record->to_ps = (tb_time_ps)to_ps;
}

static error_t on_option(int key, char *text, struct argp_state *state)
{
	struct parsing *parsing = state->input;
	struct replay_options *options = &parsing->options;
	struct tb_recording_options *record = &options->record;
	uint64_t count = 0;
	switch (key) {
	case 'n':
		record->network = text;
		break;
	case 'H':
		parsing->library = text;
		break;
	case KEY_EXACT_FROM:
		parsing->exact_from = text;
		break;
	case KEY_EXACT_TO:
		parsing->exact_to = text;
		break;
	case KEY_NODES:
		if (tb_parse_count(text, 2, 1 << 24, &count) != TB_OK)
			argp_error(state,
				"--nodes=%s: expected a number from 2 to 16777216", text);
		record->n_nodes = (uint32_t)count;
		break;
	case KEY_MAP:
		record->workload.map = text;
		break;
	case KEY_ROUTES:
		record->route_file = text;
		break;
	case KEY_PER_NODE:
		if (tb_parse_count(text, 1, TB_PER_NODE_MAX, &count) != TB_OK)
			argp_error(state, "--per-node=%s: expected a number from 1 to %d",
				text, TB_PER_NODE_MAX);
		record->workload.per_node = (uint32_t)count;
		break;
	case KEY_FAULT:
		parsing->faults[record->n_faults++] = text;
		break;
	case KEY_FAULT_FILE:
		record->fault_file = text;
		break;
	case KEY_SLOW:
		parsing->slow[record->n_slow++] = text;
		break;
	case 'o':
		record->output = text;
		break;
	case KEY_BIN:
		tb_cmd_want_time(state, "bin", text, &record->bin_ps);
		if (record->bin_ps < TB_PS_PER_NS)
			argp_error(state, "--bin=%s: expected 1ns or more", text);
		break;
	case KEY_WINDOW:
		want_window(state, text, record);
		break;
	case KEY_NO_BLAME:
		record->without_blame = true;
		break;
	case 's':
		want_seeds(state, text, &parsing->seeds);
		break;
	case KEY_EACH:
		parsing->each = true;
		break;
	case KEY_JOBS:
		if (tb_parse_count(text, 1, JOBS_MOST, &count) != TB_OK)
			argp_error(state, "--jobs=%s: expected a number from 1 to %d",
				text, JOBS_MOST);
		options->n_workers = (unsigned)count;
		break;
	case KEY_SHARD:
		if (tb_shard_parse(text, &options->shard) != TB_OK)
			argp_error(
				state, "--shard=%s: expected a shard such as 3/16", text);
		break;
	case KEY_NUMBERS:
		options->numbers = true;
		record->watched = true;
		break;
	case KEY_STDIN:
		record->workload.stdin_is_job =
			tb_cmd_word(words, key, text, state) == TB_TRACE_JOB;
		break;
	case KEY_JOB:
		parsing->jobs[record->workload.n_jobs++] = text;
		break;
	case KEY_SPLIT:
		record->workload.split = true;
		record->workload.split_names = text;
		break;
	case KEY_NO_CHECK:
		record->no_check = true;
		break;
	case KEY_NO_BOUNDS:
		record->no_bounds = true;
		break;
	case KEY_ALSO:
		record->also = text;
		break;
	case KEY_ALONE:
		record->alone = true;
		break;
	case KEY_NO_RANGE:
		parsing->no_range = true;
		break;
	case KEY_WATCH:
		options->watch = true;
		record->watched = true;
		break;
	case KEY_THREADS:
		if (tb_parse_count(text, 1, JOBS_MOST, &count) != TB_OK)
			argp_error(state, "--threads=%s: expected a number from 1 to %d",
				text, JOBS_MOST);
		record->n_threads = (unsigned)count;
		break;
	case 'q':
		options->quiet = true;
		break;
	case ARGP_KEY_ARG:
		parsing->traces[record->workload.n_traces++] = text;
		break;
	case ARGP_KEY_END:
		if (record->workload.n_traces + record->workload.n_jobs == 0)
			argp_error(state, "a trace is missing");
		if (record->output && strcmp(record->output, "-") == 0)
			argp_error(state, "a store is a file, not standard output: "
					  "-o run.db");
		break;
	default:
		return on_reading_option(key, text, state) == 0
			       ? 0
			       : on_capture_option(key, text, state);
	}
	return 0;
}

// with_changes appends what options of their own change behind the network's name.
static char *with_changes(const struct parsing *parsing)
{
	const struct {
		const char *key, *value;
	} changes[] = {{"host", parsing->library}, {"exact_from", parsing->exact_from},
		{"exact_to", parsing->exact_to}};
	char *joined = NULL;
	size_t size;
	FILE *stream = open_memstream(&joined, &size);
	if (!stream)
		return NULL;
	fputs(parsing->options.record.network, stream);
	for (size_t i = 0; i < sizeof changes / sizeof *changes; i++)
		if (changes[i].value)
			fprintf(stream, ",%s=%s", changes[i].key, changes[i].value);
	if (fclose(stream) == 0)
		return joined;
	free(joined);
	return NULL;
}

// plan fills in the options of each run: one per seed and, with --each, per trace.
static int plan(
	const struct parsing *parsing, struct tb_recording_options *runs, size_t n)
{
	size_t n_seeds = parsing->seeds.n ? parsing->seeds.n : 1;
	for (size_t i = 0; i < n; i++) {
		runs[i] = parsing->options.record;
		int status = parsing->seeds.n
				     ? tb_parse_count(parsing->seeds.texts[i % n_seeds],
					       0, UINT64_MAX, &runs[i].seed)
				     : TB_OK;
		if (status != TB_OK)
			return status;
		if (parsing->each) {
			runs[i].workload.traces = parsing->traces + i / n_seeds;
			runs[i].workload.n_traces = 1;
		}
	}
	return TB_OK;
}

static bool reads_stdin(const struct parsing *parsing)
{
	for (size_t i = 0; i < parsing->options.record.workload.n_traces; i++)
		if (strcmp(parsing->traces[i], "-") == 0)
			return true;
	return false;
}

// spare_inputs refuses an output that is one of the files to be read.
static int spare_inputs(const struct tb_recording_options *options)
{
	const struct tb_workload_options *workload = &options->workload;
	const char *const others[] = {options->network, workload->map,
		options->route_file, options->fault_file};
	int code = tb_cmd_spare(options->output, workload->traces, workload->n_traces);
	if (!code)
		code = tb_cmd_spare(options->output, workload->jobs, workload->n_jobs);
	if (!code)
		code = tb_cmd_spare(
			options->output, others, sizeof others / sizeof *others);
	return code;
}

static void catch_stop(void)
{
	(void)tb_cli_catch_stop();
}

static unsigned n_cores(void)
{
	long n = sysconf(_SC_NPROCESSORS_ONLN);
	return n < 1 ? 1 : n > JOBS_MOST ? JOBS_MOST : (unsigned)n;
}

// find_traces returns the exit code of the first trace that cannot be read.
static int find_traces(const struct parsing *parsing)
{
	const struct tb_trace_reader *reader;
	struct tb_error error;
	for (size_t i = 0; i < parsing->options.record.workload.n_traces; i++)
		if (!tb_input_is_stream(parsing->traces[i]) &&
			tb_trace_find(&reader, parsing->traces[i], &error) != TB_OK)
			return tb_cli_fail(&error);
	return TB_EXIT_OK;
}

static int try_network(const struct parsing *parsing)
{
	struct tb_network *network = NULL;
	struct tb_error error;
	const struct tb_network_description description = {
		.name = parsing->options.record.network,
		.n_nodes = parsing->options.record.n_nodes};
	if (tb_network_open(&network, &description, &error) != TB_OK)
		return tb_cli_fail(&error);
	tb_network_free(network);
	return TB_EXIT_OK;
}

// miss_output says first what else is wrong: with trace or network, as they were typed.
static int miss_output(const struct parsing *parsing)
{
	int code = parsing->network_first ? try_network(parsing) : find_traces(parsing);
	if (code == TB_EXIT_OK)
		code = parsing->network_first ? find_traces(parsing)
					      : try_network(parsing);
	return code != TB_EXIT_OK ? code
				  : tb_cli_usage("tailback replay",
					    "an output is missing: -o run.db");
}

static int check_inputs(const void *context)
{
	const struct parsing *parsing = context;
	int code = spare_inputs(&parsing->options.record);
	// A replay opens the network first. Of traces with runs of their own a bad one
	// fails its run alone.
	if (code == TB_EXIT_OK && !parsing->network_first && !parsing->each)
		code = find_traces(parsing);
	return code;
}

// run_together has the processes that mpirun started simulate one run.
static int run_together(const struct parsing *parsing, bool many)
{
	struct replay_options options = parsing->options;
	if (many)
		return tb_cli_usage("tailback replay",
			"with mpirun all processes simulate one run: leave out --each "
			"and "
			"--shard, and name one seed");
	if (reads_stdin(parsing))
		return tb_cli_usage("tailback replay",
			"standard input reaches one process alone: name files");
	if (plan(parsing, &options.record, 1) != TB_OK)
		return tb_cli_no_memory("the run");
	return replay_together(&options, check_inputs, parsing);
}

static int run_all(const struct parsing *parsing)
{
	size_t n_traces = parsing->options.record.workload.n_traces;
	size_t n = (parsing->seeds.n ? parsing->seeds.n : 1) *
		   (parsing->each && n_traces ? n_traces : 1);
	bool many = n > 1 || parsing->options.shard.n > 0;
	if (n > 1 && parsing->options.watch)
		return tb_cli_usage(
			"tailback replay", "--watch shows one run, not %zu", n);
	if (many && parsing->options.watch)
		return tb_cli_usage("tailback replay",
			"--watch shows a run as it grows, but a shard stores its runs "
			"whole: leave one of them out");
	if (many && reads_stdin(parsing))
		return tb_cli_usage("tailback replay",
			"standard input can be read once: name files for several runs");
	if (tb_peers_launched() > 1)
		return run_together(parsing, many);
	int code = check_inputs(parsing);
	if (code != TB_EXIT_OK)
		return code;
	struct tb_recording_options *runs = calloc(n, sizeof *runs);
	if (!runs || plan(parsing, runs, n) != TB_OK) {
		free(runs);
		return tb_cli_no_memory("the runs");
	}
	struct replay_options options = parsing->options;
	options.record = runs[0];
	if (options.record.n_threads == 0)
		options.record.n_threads = n_cores();
	// Until there is something to keep, a signal may end the program at once.
	options.record.settled = catch_stop;
	if (many)
		catch_stop();
	code = many ? replay_many(&options, runs, n) : replay_run(&options);
	free(runs);
	return code;
}

// place_of returns at which place a text, an argument or the end of one, was typed.
static int place_of(const char *const *typed, int n, const char *text)
{
	int i = 0;
	while (i < n && (text < typed[i] || text > typed[i] + strlen(typed[i])))
		i++;
	return i;
}

static const struct argp argp = {
	.options = option_table,
	.parser = on_option,
	.args_doc = "[TRACE...]",
	.doc = "Replay traces (%s) through a modelled network and store how long "
	       "every link, flow and job waited.\v"
	       "Several captures are merged by time; jobs share the network, "
	       "each on nodes of its own. Ctrl-C ends a replay early and keeps "
	       "what was simulated so far.\n\n"
	       "Examples:\n"
	       "  tailback replay job.goal -o run.db\n"
	       "  tailback replay node*.pcap.zst --time-scale 0.05 -o run.db\n"
	       "  tailback replay big.goal -n qsnet,levels=5 --bin 50us -o "
	       "run.db\n"
	       "  tailback replay melt.goal --job io.goal,start=5ms,nodes=48-63 "
	       "-o run.db\n"
	       "  tailback replay job.goal --fault link=0.1:4 --fault "
	       "switch=1.4@12ms -o run.db",
};

int tb_cmd_replay(int argc, char **argv)
{
	struct parsing parsing = {.options.record = {.network = "qsnet", .seed = 1}};
	parsing.traces = calloc((size_t)argc, 5 * sizeof *parsing.traces);
	if (!parsing.traces)
		return tb_cli_no_memory("the options");
	parsing.jobs = parsing.traces + argc;
	parsing.faults = parsing.jobs + argc;
	parsing.slow = parsing.faults + argc;
	// The options move to the front of `argv` while it is parsed.
	const char **typed = parsing.slow + argc;
	for (int i = 0; i < argc; i++)
		typed[i] = argv[i];
	tb_cmd_parse(&argp, words, argc, argv, 0, &parsing);
	parsing.network_first = place_of(typed, argc, parsing.options.record.network) <
				place_of(typed, argc, parsing.traces[0]);
	parsing.options.record.workload.traces = parsing.traces;
	parsing.options.record.workload.jobs = parsing.jobs;
	parsing.options.record.faults = parsing.faults;
	parsing.options.record.slow = parsing.slow;
	parsing.options.record.stop = tb_cli_stop_flag();
	char *network = with_changes(&parsing);
	if (!network) {
		free(parsing.traces);
		return tb_cli_no_memory("the options");
	}
	parsing.options.record.network = network;
	int code = parsing.options.record.output ? TB_EXIT_OK : miss_output(&parsing);
	if (code == TB_EXIT_OK)
		code = run_all(&parsing);
	tb_value_list_fini(&parsing.seeds);
	free(parsing.traces);
	free(network);
	return code;
}

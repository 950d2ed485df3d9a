// tailback replay: its options, and which runs they ask for.
#include "cmd_replay.h"
#include "peers.h"

#include "child.h"
#include "cli.h"
#include "commands.h"
#include "fabric_formats.h"
#include "input_files.h"
#include "network.h"
#include "network_open.h"
#include "output_args.h"
#include "preset.h"
#include "recording_beside.h"
#include "recording_sweep.h"
#include "recording_together.h"
#include "shared_inputs.h"
#include "text_lines.h"
#include "trace.h"
#include "trace_args.h"
#include "value_list.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define JOBS_MOST 1024

static const char default_network[] = "qsnet"; // until -n takes its place

struct parsing {
	struct replay_options options;
	struct tb_cmd_reading reading;
	struct tb_cmd_captures captures;
	struct tb_texts traces, jobs, faults, slow, designs;
	const char *library, *exact_from, *exact_to;
	struct tb_value_list seeds;
	bool names_stdin;   // --stdin was given
	bool names_job;	    // --hypothesis was
	bool each;	    // trace makes a run of its own
	bool network_first; // -n was typed before the first trace
};

#define AT(member)     TB_AT(struct parsing, member)
#define RECORD(member) TB_AT(struct parsing, options.record.member)

static void take_seeds(
	const struct tb_option *row, void *target, char *value, struct argp_state *state)
{
	struct tb_value_list *seeds = target;
	struct tb_error error = {0};
	uint64_t seed = 0;
	tb_value_list_fini(seeds);
	if (tb_value_list_parse(seeds, TB_VALUE_COUNT, value, &error) != TB_OK)
		argp_error(state, "--%s=%s: %s", row->name, value, error.text);
	for (size_t i = 0; i < seeds->n; i++)
		if (tb_parse_count(seeds->texts[i], 0, UINT64_MAX, &seed) != TB_OK)
			argp_error(state,
				"--%s=%s: expected a whole number, or several such as "
				"1..5",
				row->name, value);
}

// take_replay_window reads a window, of whole bins: --bin stands before it.
static void take_replay_window(
	const struct tb_option *row, void *target, char *value, struct argp_state *state)
{
	struct tb_recording_options *record = target;
	char from[32];
	uint64_t from_ps = 0, to_ps = 0;
	const char *comma = strchr(value, ',');
	int n = comma ? (int)(comma - value) : 0;
	snprintf(from, sizeof from, "%.*s", n, value);
	if (!comma || record->bin_ps == 0 ||
		tb_parse_count(from, 0, INT64_MAX / 2, &from_ps) != TB_OK ||
		tb_parse_count(comma + 1, from_ps + 1, INT64_MAX / 2, &to_ps) != TB_OK ||
		from_ps % (uint64_t)record->bin_ps || to_ps % (uint64_t)record->bin_ps)
		argp_error(state, "--%s=%s: expected two times, of whole bins of --bin",
			row->name, value);
	record->from_ps = (tb_time_ps)from_ps;
	record->to_ps = (tb_time_ps)to_ps;
}

static bool reads_stdin(const struct parsing *parsing)
{
	for (size_t i = 0; i < parsing->traces.n; i++)
		if (strcmp(parsing->traces.of[i], "-") == 0)
			return true;
	return false;
}

static void check_replay_options(void *arguments, const struct argp_state *state)
{
	struct parsing *parsing = arguments;
	struct tb_recording_options *record = &parsing->options.record;
	struct tb_workload_options *workload = &record->workload;
	workload->traces = parsing->traces.of;
	workload->n_traces = parsing->traces.n;
	workload->jobs = parsing->jobs.of;
	workload->n_jobs = parsing->jobs.n;
	workload->packets = parsing->captures.packets;
	workload->closed_loop = parsing->captures.closed_loop;
	// Only options that were given need a trace that takes them.
	workload->reading = tb_cmd_reading_of(&parsing->reading);
	record->wants_captures = parsing->captures.given;
	record->faults = parsing->faults.of;
	record->n_faults = parsing->faults.n;
	record->slow = parsing->slow.of;
	record->n_slow = parsing->slow.n;
	if (parsing->traces.n + parsing->jobs.n == 0)
		argp_error(state, "a trace is missing");
	if (parsing->names_stdin && !reads_stdin(parsing))
		argp_error(state, "--stdin is for standard input: name it by -");
	if (parsing->names_job && workload->hypothesis == TB_HYPOTHESIS_CLOSEST &&
		(record->no_check || workload->unbounded))
		argp_error(state, "--hypothesis=closest does not go with --no-%s",
			record->no_check ? "check" : "range");
	for (size_t i = 0; i < parsing->designs.n; i++)
		if (record->n_faults && strncmp(parsing->designs.of[i], "fault=", 6) == 0)
			argp_error(state, "--fault and --set fault: name all in --set");
	if (record->output && strcmp(record->output, "-") == 0)
		argp_error(state, "a store is a file, not standard output: -o run.db");
}

static const char *const stdin_kinds[] = {
	[TB_TRACE_PACKETS] = "packets", [TB_TRACE_JOB] = "job", NULL};

static const char *const fault_words[] = {"link=", "switch=", NULL};

static const struct tb_option option_rows[] = {
	{.help = "Network and placement:"},
	{"network", 'n', "NETWORK",
		"Preset (%s), INI file or fabric, with changes after commas: "
		"qsnet,levels=5, qsnet2,rails=2, my.ini, fabric.ibnetdiscover; recorded: "
		"the one that a capture tells of (default: qsnet)",
		TB_TEXT, RECORD(network), .lines = tb_network_preset_names,
		.files = "\\.ini$"},
	{"host", 'H', "LIBRARY",
		"The communication library that processes send with, one of the "
		"network's, with changes after commas: rdma, get, qdma, tports, mpi, tcp "
		"of qsnet2; none; or on a generation of hosts: mpi@rome (default: the "
		"one that the trace was made with, if the network has it)",
		TB_TEXT, AT(library)},
	{"nodes", 0, "N", "Add levels to the tree until N nodes fit", TB_COUNT,
		RECORD(n_nodes), .min = 2, .max = 1 << 24},
	{"map", 0, "FILE",
		"Placement, in lines 'ENDPOINT NODE [JOB]' (for a job, 'RANK NODE')",
		TB_TEXT, RECORD(workload.map), .files = "."},
	{"routes", 0, "FILE",
		"Forwarding tables instead of the network's own routes, as InfiniBand's "
		"dump_lfts writes them, or OpenSM and ibdiagnet as .fdbs",
		TB_TEXT, RECORD(route_file), .files = ".", .seldom = true},
	{"per-node", 0, "N", "Put N ranks of a job on each node (1)", TB_COUNT,
		RECORD(workload.per_node), .min = 1, .max = TB_PER_NODE_MAX},
	{"fault", 0, "WHAT[@TIME]",
		"A cable or switch is dead, from the start or from TIME on: link=0.1:4, "
		"link=leaf1:Ethernet104, 'link=node 5', switch=1.4@12ms; may be given "
		"again",
		TB_TEXTS, AT(faults), .list = fault_words},
	{"fault-file", 0, "FILE", "Faults from a file, one per line", TB_TEXT,
		RECORD(fault_file), .files = ".", .seldom = true},
	{"slow", 0, "NODE=RATE",
		"The node receives no faster than RATE (networks with credits): 5=2GB/s; "
		"may be given again",
		TB_TEXTS, AT(slow), .seldom = true},
	{"exact-from", 0, "TIME",
		"With switching=fluid: simulate packets from then on, and flows before "
		"(default: 0)",
		TB_TEXT, AT(exact_from), .seldom = true},
	{"exact-to", 0, "TIME",
		"With switching=fluid: simulate packets until then, and flows again once "
		"those packets have arrived",
		TB_TEXT, AT(exact_to), .seldom = true},
	{.help = "What is kept:"},
	{"output", 'o', "FILE", "The store; an existing one gets another run (required)",
		TB_TEXT, RECORD(output), .files = "\\.db$"},
	{"bin", 0, "TIME",
		"Width of a time bin, such as 10us (default: 1us, doubled until there "
		"are 1024 bins at most, fewer on a large network)",
		TB_TIME, RECORD(bin_ps), .min = TB_PS_PER_NS},
	{"no-blame", 0, NULL, "Do not record who waited for whom", TB_FLAG,
		RECORD(without_blame), .seldom = true},
	{"seed", 's', "SEEDS",
		"Seed of the random choices (default: 1); several, such as 1..5, make a "
		"run each",
		TB_CALL, AT(seeds), .take = take_seeds},
	{.help = "Packet captures:"},
	TB_INCLUDE(tb_capture_options, struct parsing, captures),
	{"also", 0, "FILE[,KEY=TIME...]",
		"With --closed-loop: a second capture of the same program at another "
		"rate, which narrows the range of the run time; from=TIME and to=TIME "
		"choose its span",
		TB_TEXT, RECORD(also), .files = ".", .seldom = true,
		.needs = "closed-loop", .excludes = "no-range"},
	{"recorded-on", 0, "NETWORK",
		"Of a trace of calls, or a capture in closed loop: the network on which "
		"it was recorded, as of -n; it is replayed there, too, and compared with "
		"what was recorded, and the range of the run time follows from both",
		TB_TEXT, RECORD(recorded_on), .excludes = "no-check", .files = "\\.ini$",
		.seldom = true},
	{"no-range", 0, NULL,
		"Skip the replays that find the least and the most that the run of a "
		"capture in closed loop, or of a trace, can take",
		TB_FLAG, RECORD(workload.unbounded), .seldom = true},
	{"hypothesis", 0, "NAME",
		"With --closed-loop: which of the jobs that the capture allows is "
		"replayed: %s (default: closest to the captured time, or likely with "
		"--no-range or --no-check)",
		TB_WORD, RECORD(workload.hypothesis), TB_SET(struct parsing, names_job),
		.list = tb_hypothesis_names, .seldom = true, .needs = "closed-loop job"},
	{"no-check", 0, NULL,
		"With --closed-loop: skip the replay at the captured rate, which is "
		"compared with the capture",
		TB_FLAG, RECORD(no_check), .seldom = true, .needs = "closed-loop job"},
	{"stdin", 0, "KIND",
		"What standard input ('-') holds: %s (default: packets); files are "
		"recognised by their content",
		TB_WORD, RECORD(workload.stdin_is_job),
		TB_SET(struct parsing, names_stdin), .list = stdin_kinds, .seldom = true},
	{.help = "Several replays at once:"},
	{"each", 0, NULL, "Replay every TRACE into a run of its own", TB_FLAG, AT(each),
		.seldom = true, .excludes = "watch"},
	{"jobs", 0, "N", "Run N replays at once (default: one per core)", TB_COUNT,
		AT(options.n_workers), .min = 1, .max = JOBS_MOST, .seldom = true},
	{"set", 0, "KEY=VALUES",
		"A run for each value of a key of the network, or of network, per-node, "
		"fault or seed: taper=1,2,4; may be given again, for a run of each "
		"combination; what the store has already is not replayed again",
		TB_TEXTS, AT(designs), .excludes = "each watch"},
	TB_SHARD_OPTION(struct parsing, options.shard, "the replays"),
	{.help = "Several jobs on one network:"},
	{"job", 0, "FILE[,KEY=VALUE...]",
		"Another job or capture: start=TIME, "
		"placement=block|cyclic|random|stride:N|trace, per-node=N, nodes=HOSTS "
		"such as node[00-15,20], hosts=FILE, map=FILE, sl=0..15 (service level), "
		"name=NAME; closed-loop; shared: on other jobs' nodes, too",
		TB_TEXTS, AT(jobs), .files = "."},
	{"split-jobs", 0, "NAMES",
		"Find the jobs in a capture: endpoints that talk to each other form one; "
		"NAMES, separated by commas, name them in the order of their first nodes",
		TB_TEXT, RECORD(workload.split_names),
		TB_SET(struct parsing, options.record.workload.split), .optional = true,
		.seldom = true},
	{"alone", 0, NULL,
		"Also replay each job by itself and on an ideal network, to show what "
		"the other jobs and the network cost it",
		TB_FLAG, RECORD(alone)},
	{"no-bounds", 0, NULL,
		"Skip the replays without a network and on an ideal network, which split "
		"a job's run time into its parts",
		TB_FLAG, RECORD(no_bounds), .seldom = true, .excludes = "alone"},
	{.help = "Traces of what the ranks of a program called:"},
	TB_INCLUDE(tb_reading_options, struct parsing, reading),
	{.help = "Other:"},
	{"watch", 0, NULL,
		"Show the run while it is replayed: in a window, or without a display in "
		"the terminal",
		TB_FLAG, AT(options.watch),
		TB_SET(struct parsing, options.record.watched)},
	{"threads", 0, "N",
		"Simulate a large network on N threads (default: one per core, or one "
		"for each of several replays at once)",
		TB_COUNT, RECORD(n_threads), .min = 1, .max = JOBS_MOST, .seldom = true},
	{"quiet", 'q', NULL, "No summary", TB_FLAG, AT(options.quiet)},
	// For the viewer (analyze/beside): no part of the command's interface.
	{"progress-numbers", 0, NULL, NULL, TB_FLAG, AT(options.numbers),
		TB_SET(struct parsing, options.record.watched), .hidden = true},
	// For 'tailback timeline --closer' (analyze/closer): picoseconds, FROM,TO.
	{"window", 0, "PS,PS", NULL, TB_CALL, AT(options.record), .hidden = true,
		.take = take_replay_window},
	{0},
};

static const struct tb_options option_table = {
	.rows = option_rows,
	.args_doc = "[TRACE...]",
	.doc = "Replay traces (%s) through a modelled network and store how long every "
	       "link, flow and job waited.\vSeveral captures are merged by time; jobs "
	       "share the network, each on "
	       "nodes of its own. Ctrl-C ends a replay early and keeps what was "
	       "simulated so far.\n\n"
	       "Examples:\n"
	       "  tailback replay job.goal -o run.db\n"
	       "  tailback replay node*.pcap.zst --time-scale 0.05 -o run.db\n"
	       "  tailback replay big.goal -n qsnet,levels=5 --bin 50us -o run.db\n"
	       "  tailback replay melt.goal --job io.goal,start=5ms,nodes=48-63 -o "
	       "run.db\n"
	       "  tailback replay job.goal --fault switch=1.4@12ms -o run.db",
	.operand = {.kind = TB_TEXTS,
		AT(traces),
		.word = tb_trace_format_name,
		.files =
			"\\.(pcap|pcapng|cap|goal|tbt|bin|cm)(\\.(gz|zst|xz|lz4|bz2))?$"},
	.check = check_replay_options,
};

// name_network makes the name of a run's network, malloc'ed: of "recorded" that which its
// traces tell, their host library (of designs each has its own, later), and what options
// of their own change, behind it. It stores an exit code where that fails.
static char *name_network(
	const struct parsing *parsing, struct tb_recording_options run, int *code)
{
	char recorded[1024];
	struct tb_error error;
	if (strcmp(run.network, "recorded") == 0 ||
		strncmp(run.network, "recorded,", strlen("recorded,")) == 0) {
		if (tb_recording_recorded_network(
			    &run, recorded, sizeof recorded, &error) != TB_OK) {
			*code = tb_cli_fail(&error);
			return NULL;
		}
		run.network = recorded;
	}
	const struct {
		const char *key, *value;
	} changes[] = {{"host", parsing->library ? parsing->library
				: parsing->designs.n
					? NULL
					: tb_recording_host(&run.workload, run.network)},
		{"exact_from", parsing->exact_from}, {"exact_to", parsing->exact_to}};
	char *joined = NULL;
	size_t size;
	FILE *stream = open_memstream(&joined, &size);
	if (stream) {
		fputs(run.network, stream);
		for (size_t i = 0; i < sizeof changes / sizeof *changes; i++)
			if (changes[i].value)
				fprintf(stream, ",%s=%s", changes[i].key,
					changes[i].value);
		joined = tb_text_written(stream, &joined);
	}
	if (!joined)
		*code = tb_cli_no_memory("the options");
	return joined;
}

// plan_runs fills in the options of each run: one per seed and, with --each, per trace,
// each with a network of its own in `networks`. It returns an exit code.
static int plan_runs(const struct parsing *parsing, struct tb_recording_options *runs,
	size_t n, char **networks)
{
	int code = TB_EXIT_OK;
	size_t n_seeds = parsing->seeds.n ? parsing->seeds.n : 1;
	for (size_t i = 0; i < n; i++) {
		runs[i] = parsing->options.record;
		int status = parsing->seeds.n
				     ? tb_parse_count(parsing->seeds.texts[i % n_seeds],
					       0, UINT64_MAX, &runs[i].seed)
				     : TB_OK;
		if (status != TB_OK)
			return tb_cli_no_memory("the runs");
		if (!parsing->each)
			continue;
		size_t trace = i / n_seeds;
		runs[i].workload.traces = parsing->traces.of + trace;
		runs[i].workload.n_traces = 1;
		if (!networks[trace])
			networks[trace] = name_network(parsing, runs[i], &code);
		if (!networks[trace])
			return code;
		runs[i].network = networks[trace];
	}
	return TB_EXIT_OK;
}

static void free_plan(struct tb_recording_options *runs, char **networks, size_t n)
{
	for (size_t i = 0; networks && i < n; i++)
		free(networks[i]);
	free(networks);
	free(runs);
}

static void catch_stop(void)
{
	(void)tb_cli_catch_stop();
}

// find_traces returns the exit code of the first trace that cannot be read.
static int find_traces(const struct parsing *parsing)
{
	const struct tb_trace_reader *reader;
	struct tb_error error;
	for (size_t i = 0; i < parsing->traces.n; i++)
		if (!tb_input_is_stream(parsing->traces.of[i]) &&
			tb_trace_find(&reader, parsing->traces.of[i], &error) != TB_OK) {
			tb_fabric_refuse(&error);
			return tb_cli_fail(&error);
		}
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

// miss_output reports first what else is wrong, with the trace or with the network,
// whichever was typed first.
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

static int check_replay_inputs(const struct parsing *parsing)
{
	// Refuse an output that is one of the files to be read.
	const struct tb_recording_options *options = &parsing->options.record;
	const struct tb_workload_options *workload = &options->workload;
	const char *const others[] = {options->network, workload->map,
		options->route_file, options->fault_file};
	int code = tb_cmd_spare(options->output, workload->traces, workload->n_traces);
	if (!code)
		code = tb_cmd_spare(options->output, workload->jobs, workload->n_jobs);
	if (!code)
		code = tb_cmd_spare(
			options->output, others, sizeof others / sizeof *others);
	// A replay opens the network first. Of traces with runs of their own a bad one
	// fails its run alone.
	if (code == TB_EXIT_OK && !parsing->network_first && !parsing->each)
		code = find_traces(parsing);
	return code;
}

static int serve_replay(const struct replay_options *options)
{
	struct tb_error error;
	// Any process passes a signal on to rank 0, which decides what to do.
	catch_stop();
	return tb_recording_serve(&options->record, &error) == TB_OK
		       ? TB_EXIT_OK
		       : tb_cli_fail(&error);
}

static int lead_replay(
	const struct replay_options *options, const struct parsing *parsing)
{
	int code = check_replay_inputs(parsing);
	if (code == TB_EXIT_OK)
		code = replay_run(options);
	else
		tb_recording_dismiss(options->record.peers);
	tb_recording_leave(options->record.peers);
	return code;
}

// list_designs lists what the runs differ in: the seeds, and what --set has.
static int list_designs(
	const struct parsing *parsing, struct tb_texts *designs, char **seeds)
{
	size_t size;
	FILE *stream = open_memstream(seeds, &size);
	if (!stream)
		return TB_ENOMEM;
	for (size_t i = 0; i < parsing->seeds.n; i++)
		fprintf(stream, "%s%s", i ? "," : "seed=", parsing->seeds.texts[i]);
	if (!tb_text_written(stream, seeds))
		return TB_ENOMEM;
	if (parsing->seeds.n)
		tb_texts_add(designs, *seeds);
	for (size_t i = 0; i < parsing->designs.n; i++)
		tb_texts_add(designs, parsing->designs.of[i]);
	return TB_OK;
}

// plan_designs fills in the options of the run of each point, with a network of its own.
static int plan_designs(const struct tb_recording_options *base,
	const struct tb_sweep *sweep, struct tb_recording_options *runs, char **networks)
{
	static const struct parsing plain;
	int code = TB_EXIT_OK;
	for (size_t i = 0; i < sweep->n_points && code == TB_EXIT_OK; i++) {
		struct tb_error error;
		runs[i] = *base;
		if (tb_recording_at_point(&runs[i], &sweep->points[i], &error) != TB_OK)
			return tb_cli_fail(&error);
		networks[i] = name_network(&plain, runs[i], &code);
		runs[i].network = networks[i];
	}
	return code;
}

// replay_designs replays the traces on each design that --set asks for.
static int replay_designs(const struct parsing *parsing)
{
	struct replay_options options = parsing->options;
	struct tb_texts designs = {0};
	struct tb_sweep sweep = {0};
	struct tb_error error;
	char *seeds = NULL;
	int code = check_replay_inputs(parsing);
	char *network = code ? NULL : name_network(parsing, options.record, &code);
	if (code == TB_EXIT_OK && list_designs(parsing, &designs, &seeds) != TB_OK)
		code = tb_cli_no_memory("the runs");
	options.record.network = network;
	for (size_t i = 0; i < designs.n; i++)
		options.record.is_default &=
			strncmp(designs.of[i], "network=", strlen("network=")) != 0;
	if (code == TB_EXIT_OK && tb_recording_sweep(&sweep, &options.record, designs.of,
					  designs.n, &error) != TB_OK)
		code = tb_cli_fail(&error);
	struct tb_recording_options *runs = calloc(sweep.n_points + 1, sizeof *runs);
	char **networks = calloc(sweep.n_points + 1, sizeof *networks);
	if (code == TB_EXIT_OK)
		code = runs && networks
			       ? plan_designs(&options.record, &sweep, runs, networks)
			       : tb_cli_no_memory("the runs");
	catch_stop();
	if (code == TB_EXIT_OK)
		code = replay_many(&options, runs, sweep.n_points, &sweep);
	free_plan(runs, networks, sweep.n_points);
	tb_sweep_fini(&sweep);
	tb_texts_fini(&designs);
	free(seeds);
	free(network);
	return code;
}

static int replay_all(const struct parsing *parsing)
{
	if (parsing->designs.n) {
		if (reads_stdin(parsing) || tb_peers_launched() > 1)
			return tb_cli_usage("tailback replay",
				reads_stdin(parsing)
					? "standard input can be read once: name files "
					  "for several runs"
					: "with mpirun all processes simulate one run: "
					  "leave out --set");
		return replay_designs(parsing);
	}
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
	if (tb_peers_launched() > 1) {
		// Has the processes that mpirun started simulate one run.
		struct replay_options options = parsing->options;
		if (many)
			return tb_cli_usage("tailback replay",
				"with mpirun all processes simulate one run: leave out "
				"--each and --shard, and name one seed");
		if (reads_stdin(parsing))
			return tb_cli_usage("tailback replay",
				"standard input reaches one process alone: name files");
		char *network = NULL; // of the only trace there may be with --each
		int planned = plan_runs(parsing, &options.record, 1, &network);
		if (planned != TB_EXIT_OK)
			return planned;
		// Run one replay with the other processes that mpirun started.
		struct tb_peers peers;
		struct tb_error error;
		if (tb_peers_open(&peers, &error) != TB_OK)
			return tb_cli_fail(&error);
		if (tb_peer_streams_new(&options.record.peers, &peers) != TB_OK)
			return tb_cli_no_memory("the processes");
		options.record.settled = catch_stop;
		int code = peers.rank > 0 ? serve_replay(&options)
					  : lead_replay(&options, parsing);
		tb_peer_streams_free(options.record.peers);
		// A process that failed by itself leaves others waiting: then mpirun ends
		// them.
		peers.leave(peers.context, peers.rank == 0 || code == TB_EXIT_OK);
		free(network);
		return code;
	}
	int code = check_replay_inputs(parsing);
	if (code != TB_EXIT_OK)
		return code;
	struct tb_recording_options *runs = calloc(n, sizeof *runs);
	char **networks = calloc(n, sizeof *networks);
	code = runs && networks ? plan_runs(parsing, runs, n, networks)
				: tb_cli_no_memory("the runs");
	if (code != TB_EXIT_OK) {
		free_plan(runs, networks, n);
		return code;
	}
	struct replay_options options = parsing->options;
	options.record = runs[0];
	unsigned n_cores = tb_cli_n_cores();
	if (options.record.n_threads == 0)
		options.record.n_threads = n_cores < JOBS_MOST ? n_cores : JOBS_MOST;
	// Until there is something to keep, a signal may end the program at once.
	options.record.settled = catch_stop;
	if (many)
		catch_stop();
	code = many ? replay_many(&options, runs, n, NULL) : replay_run(&options);
	free_plan(runs, networks, n);
	return code;
}

// argument_place returns at which place a text, an argument or the end of one, was typed.
static int argument_place(const char *const *typed, int n, const char *text)
{
	int i = 0;
	while (i < n && (text < typed[i] || text > typed[i] + strlen(typed[i])))
		i++;
	return i;
}

// What a command line of a replay is for.
enum purpose { TO_REPLAY, TO_READ, TO_PARSE };

// run_line parses a command line and does what it is for, with inputs that are shared: a
// replay with those keeps figures alone (commands.h).
static int run_line(
	int argc, char **argv, struct tb_shared_inputs *shared, enum purpose purpose)
{
	struct parsing parsing = {
		.options.record = {
			.network = default_network, .seed = 1, .shared = shared}};
	struct tb_recording_options *record = &parsing.options.record;
	struct tb_error error;
	record->without_blame = record->workload.without_log = shared != NULL;
	// The options move to the front of `argv` while it is parsed.
	const char **typed = malloc((size_t)argc * sizeof *typed);
	if (!typed)
		return tb_cli_no_memory("the options");
	for (int i = 0; i < argc; i++)
		typed[i] = argv[i];
	tb_options_parse(&option_table, argc, argv, &parsing, NULL);
	const char *first = parsing.traces.n ? parsing.traces.of[0] : NULL;
	parsing.network_first = argument_place(typed, argc, record->network) <
				argument_place(typed, argc, first);
	free(typed);
	record->stop = tb_cli_stop_flag();
	int code = TB_EXIT_OK;
	record->is_default = record->network == default_network;
	// With --each every trace has a network of its own, later, and so has a design.
	char *network = parsing.each || parsing.designs.n
				? NULL
				: name_network(&parsing, *record, &code);
	if (network)
		record->network = network;
	if (code == TB_EXIT_OK && purpose == TO_REPLAY && !record->output)
		code = miss_output(&parsing);
	if (code == TB_EXIT_OK && purpose == TO_REPLAY)
		code = replay_all(&parsing);
	if (code == TB_EXIT_OK && purpose == TO_READ &&
		tb_recording_read(record, &error) != TB_OK)
		code = TB_EXIT_FAILURE;
	tb_value_list_fini(&parsing.seeds);
	tb_texts_fini(&parsing.traces);
	tb_texts_fini(&parsing.jobs);
	tb_texts_fini(&parsing.faults);
	tb_texts_fini(&parsing.slow);
	tb_texts_fini(&parsing.designs);
	tb_texts_fini(&parsing.reading.collectives);
	free(network);
	return code;
}

int tb_cmd_replay(int argc, char **argv)
{
	return run_line(argc, argv, NULL, TO_REPLAY);
}

void *tb_replay_inputs_new(void)
{
	struct tb_shared_inputs *shared = NULL;
	return tb_shared_inputs_new(&shared, NULL) == TB_OK ? shared : NULL;
}

void tb_replay_inputs_free(void *inputs)
{
	tb_shared_inputs_free(inputs);
}

// of_replay makes a child's arguments, which begin with the program's name, the
// command's.
static char **of_replay(char **argv)
{
	static char name[] = "tailback replay";
	argv[1] = name;
	return argv + 1;
}

static int parse_only(void *context, int argc, char **argv)
{
	(void)context;
	return run_line(argc - 1, of_replay(argv), NULL, TO_PARSE);
}

void tb_replay_inputs_read(void *inputs, const char *const *arguments)
{
	// Options that cannot be parsed end the process that parses them.
	struct tb_child child = {0};
	const struct tb_child_options trial = {.arguments = arguments,
		.input = -1,
		.log = "/dev/null",
		.run = parse_only};
	if (!inputs || tb_child_start(&child, &trial, NULL) != TB_OK ||
		tb_child_wait(&child) != TB_EXIT_OK)
		return;
	int n = 0;
	while (arguments[n])
		n++;
	// The first is the name, and a parser may change the others and their order.
	char **copies = calloc((size_t)n + 1, sizeof(char *));
	char **argv = calloc((size_t)n + 2, sizeof(char *));
	bool fine = copies && argv;
	for (int i = 1; fine && i < n; i++) {
		copies[i] = argv[i + 1] = strdup(arguments[i]);
		fine = copies[i] != NULL;
	}
	if (fine)
		(void)run_line(n, of_replay(argv), inputs, TO_READ);
	for (int i = 1; copies && i < n; i++)
		free(copies[i]);
	free(copies);
	free(argv);
}

int tb_replay_with_inputs(void *inputs, int argc, char **argv)
{
	return run_line(argc - 1, of_replay(argv), inputs, TO_REPLAY);
}

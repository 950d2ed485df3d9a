// tailback sweep: runs an experiment for many values of its settings, into one store.
#include "cli.h"
#include "commands.h"
#include "experiment.h"
#include "json.h"
#include "merge.h"
#include "output_args.h"
#include "progress.h"
#include "schemas.h"
#include "sweep_peers.h"
#include "swept.h"
#include "trace.h"
#include "units.h"

#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define JOBS_MOST 1024

struct sweep_arguments {
	const char *name;
	const char *output;
	struct tb_texts changes;
	unsigned n_workers;
	struct tb_shard shard;
	bool blame, quiet, list, json;
	struct tb_given given;
};

#define AT(member) TB_AT(struct sweep_arguments, member)

static void check_sweep_options(void *arguments, const struct argp_state *state)
{
	const struct sweep_arguments *args = arguments;
	if (args->list && args->name)
		argp_error(state, "--list shows all: '%s' has no effect with it",
			args->name);
	if (!args->list && !args->name)
		argp_error(state, "a sweep is missing: name a file, or an experiment "
				  "that --list shows");
	if (!args->list && !args->output)
		argp_error(state, "an output is missing: -o sweep.db");
	if (args->output && strcmp(args->output, "-") == 0)
		argp_error(state, "a store is a file, not standard output: -o sweep.db");
}

static const struct tb_option option_rows[] = {
	{"output", 'o', "FILE",
		"The store, one run per point; an interrupted sweep resumes in it",
		TB_TEXT, AT(output), .files = "\\.db$"},
	{"set", 0, "KEY=VALUES",
		"Values for a key of the sweep or of the network, instead of the file's; "
		"may be given again for other keys",
		TB_TEXTS, AT(changes)},
	{"jobs", 0, "N", "Run N points at once (default: one per core)", TB_COUNT,
		AT(n_workers), .min = 1, .max = JOBS_MOST},
	TB_SHARD_OPTION(struct sweep_arguments, shard, "the points"),
	{"blame", 0, NULL, "Also record who waited for whom", TB_FLAG, AT(blame)},
	{"quiet", 'q', NULL, "No summary", TB_FLAG, AT(quiet)},
	{"list", 0, NULL, "List the experiments and the keys, and exit", TB_FLAG,
		AT(list)},
	{"json", 0, NULL, "With --list: as JSON", TB_FLAG, AT(json), .needs = "list"},
	TB_SCHEMA_TEXT_OPTION("--list --json", tb_schema_sweep_schema_json),
	{0},
};

static const struct tb_options option_table = {
	.rows = option_rows,
	.args_doc = "FILE|EXPERIMENT|TRACE",
	.doc = "Run an experiment, or replay a trace, for many values of its settings, "
	       "on all cores, and keep each point as a run.\vA sweep file names an "
	       "experiment in its section [sweep], and lists "
	       "values for keys there and in [network]; the points are all "
	       "combinations. The name of an experiment alone is a sweep of one "
	       "point. Of a trace all options are those of 'tailback replay'; a table "
	       "of run times, switches and cables ends it. 'tailback sweep plot' draws "
	       "curves through the points, 'tailback "
	       "sweep merge' puts shards together; each has a --help.\n\n"
	       "Examples:\n"
	       "  tailback sweep job.txt -n ib-ndr --per-node 8 --set rails=4,8 --set "
	       "taper=1,2,4 -o designs.db\n"
	       "  tailback sweep 000-figure-11.ini -o uniform.db\n"
	       "  tailback sweep uniform --set 'load=0.1..1 step 0.1' --set seed=1..3 -o "
	       "u.db\n"
	       "  tailback sweep plot uniform.db -o uniform.svg",
	.operand = {"sweep", .kind = TB_TEXT, AT(name), .files = "\\.ini$"},
	.check = check_sweep_options,
};

static json_t *experiment_json(const struct tb_experiment *experiment)
{
	char text[128];
	tb_experiment_describe(experiment, text, sizeof text);
	return json_pack("{s:s, s:s, s:I, s:I}", "name", experiment->name, "summary",
		text, "nodes", (json_int_t)experiment->n_active, "message_bytes",
		(json_int_t)experiment->message_bytes);
}

static bool list_experiments_json(void)
{
	json_t *experiments = json_array(), *keys = json_array();
	for (const struct tb_experiment *e = tb_experiments; e->name; e++)
		experiments = tb_json_append(experiments, experiment_json(e));
	for (const struct tb_sweep_key *key = tb_sweep_keys; key->name; key++)
		keys = tb_json_append(keys, json_pack("{s:s, s:s}", "name", key->name,
						    "summary", key->summary));
	json_t *list = json_pack("{s:o, s:o}", "experiments", experiments, "keys", keys);
	return tb_json_write(list, 17, stdout) == TB_OK;
}

static int list_experiments(const struct sweep_arguments *args)
{
	static const char *const effective[] = {"list", "json", NULL};
	int code = tb_given_settle(&args->given, "tailback sweep", effective, "--list");
	if (code != TB_EXIT_OK)
		return code;
	if (!args->json) {
		char text[128], size[24];
		puts("Experiments, as published for a cluster of 64 nodes; of timed "
		     "jobs, "
		     "for 4 or 8 nodes:");
		for (const struct tb_experiment *e = tb_experiments; e->name; e++) {
			tb_experiment_describe(e, text, sizeof text);
			printf("  %-32s %2" PRIu32 " %s, %s: %s\n", e->name, e->n_active,
				e->timed ? "ranks" : "nodes",
				tb_format_size(e->message_bytes, size, sizeof size),
				text);
		}
		puts("\nKeys of a sweep file's section [sweep], and of --set:");
		for (const struct tb_sweep_key *key = tb_sweep_keys; key->name; key++)
			printf("  %-12s%s\n", key->name, key->summary);
	} else if (!list_experiments_json())
		return tb_cli_no_memory("the list of experiments");
	return TB_EXIT_OK;
}

static void show_sweeping(void *context, const struct tb_sweep_progress *progress)
{
	struct tb_progress *line = context;
	char text[64];
	if (!tb_progress_due(line))
		return;
	snprintf(text, sizeof text, "%zu of %zu points", progress->n_done,
		progress->n_points);
	tb_progress_show(line, progress->fraction, text);
}

// What a sweep is run with: this machine's cores, or other processes.
struct sweep_crew {
	struct tb_peers peers; // n is 1: none
	bool all_there;
};

static int run_points(struct sweep_crew *crew, struct tb_sweep_progress *progress,
	const struct tb_sweep *sweep, const struct tb_sweep_run_options *options,
	struct tb_error *error)
{
	if (crew->peers.n == 1)
		return tb_sweep_run(progress, sweep, options, error);
	const struct tb_sweep_lead_options lead = {*options, TB_SWEEP_SILENCE_S};
	return tb_sweep_lead(
		progress, sweep, &lead, &crew->peers, &crew->all_there, error);
}

// differs returns whether points have several values on an axis.
static bool differs(const struct tb_swept *swept, const char *axis)
{
	const char *first = tb_swept_text(&swept->points[0], axis);
	for (size_t i = 1; i < swept->n_points; i++) {
		const char *text = tb_swept_text(&swept->points[i], axis);
		if (!first || !text ? first != text : strcmp(first, text) != 0)
			return true;
	}
	return false;
}

static void name_point(const struct tb_swept *swept, const struct tb_swept_point *point)
{
	const char *before = "";
	for (size_t i = 0; i < point->n_values; i++)
		if (differs(swept, point->values[i].axis)) {
			fprintf(stderr, "%s%s=%s", before, point->values[i].axis,
				point->values[i].text);
			before = " ";
		}
	if (!*before)
		fputs("the only one", stderr);
}

// warn_unsteady names the points of a store that have no steady state, by why.
static void warn_unsteady(const char *path)
{
	enum { NAMED_MOST = 6 };
	static const char *const why[TB_N_STEADINESS] = {
		[TB_STEADY_GROWS] =
			"queues grow: they still fill, or more is offered than accepted",
		[TB_STEADY_DRIFTS] = "what is accepted drifts",
		[TB_STEADY_OTHERS] = "queues grow, or what is accepted drifts"};
	struct tb_swept swept = {0};
	if (tb_swept_read(&swept, path, NULL) != TB_OK)
		swept.n_points = 0;
	for (enum tb_steadiness i = 0; i < TB_N_STEADINESS; i++) {
		size_t n = 0;
		for (size_t k = 0; why[i] && k < swept.n_points; k++)
			n += tb_swept_steadiness(&swept.points[k]) == i;
		if (n == 0)
			continue;
		fprintf(stderr,
			"tailback: warning: no steady state at %zu of %zu points, "
			"where %s (",
			n, swept.n_points, why[i]);
		size_t named = 0;
		for (size_t k = 0; k < swept.n_points && named < NAMED_MOST; k++) {
			if (tb_swept_steadiness(&swept.points[k]) != i)
				continue;
			fputs(named++ ? ", " : "", stderr);
			name_point(&swept, &swept.points[k]);
		}
		if (n > named)
			fprintf(stderr, ", and %zu more", n - named);
		fputs(")\n", stderr);
	}
	tb_swept_fini(&swept);
}

static int run_sweep_points(const struct sweep_arguments *args,
	const struct tb_sweep *sweep, struct sweep_crew *crew)
{
	struct tb_progress line;
	struct tb_sweep_progress progress = {0};
	struct tb_error error = {0};
	const struct tb_sweep_run_options options = {.output = args->output,
		.n_workers = args->n_workers,
		.with_blame = args->blame,
		.shard = args->shard,
		.stop = tb_cli_catch_stop(),
		.watch = show_sweeping,
		.context = &line};
	tb_progress_init(&line, STDERR_FILENO);
	double started = tb_clock_s();
	int status = run_points(crew, &progress, sweep, &options, &error);
	tb_progress_done(&line);
	if (status == TB_ESTOPPED) {
		fprintf(stderr,
			"tailback: stopped early: %zu of %zu points are in %s; the same "
			"command resumes there\n",
			progress.n_done, progress.n_points, args->output);
		return TB_EXIT_FAILURE;
	}
	if (status != TB_OK)
		return tb_cli_fail(&error);
	if (!args->quiet) {
		warn_unsteady(args->output);
		double wall_s = tb_clock_s() - started;
		size_t n_new = progress.n_done - progress.n_before;
		fprintf(stderr, "%zu point%s in %s", progress.n_points,
			progress.n_points == 1 ? "" : "s", args->output);
		if (args->shard.n > 0)
			fprintf(stderr, " (shard %" PRIu32 "/%" PRIu32 ")",
				args->shard.number, args->shard.n);
		fputs(": ", stderr);
		if (progress.n_before > 0)
			fprintf(stderr, "%zu were done before, ", progress.n_before);
		fprintf(stderr, "%zu run in %.2f s\n", n_new, wall_s);
		if (progress.n_points > 1 && args->shard.n == 0)
			fprintf(stderr, "'tailback sweep plot %s' draws the curves\n",
				args->output);
	}
	return TB_EXIT_OK;
}

static int read_and_run(const struct sweep_arguments *args, struct sweep_crew *crew)
{
	struct tb_sweep sweep = {0};
	struct tb_error error;
	int code = tb_cmd_spare(args->output, &args->name, 1);
	if (code != TB_EXIT_OK)
		return code;
	if (tb_sweep_read(&sweep, args->name, args->changes.of, args->changes.n,
		    &error) != TB_OK)
		return tb_cli_fail(&error);
	// Refuse an output that is the file of a network of the sweep.
	const char *before = "";
	for (size_t i = 0; i < sweep.n_points && code == TB_EXIT_OK; i++) {
		const char *network = sweep.points[i].network;
		if (strcmp(network, before) != 0)
			code = tb_cmd_spare(args->output, &network, 1);
		before = network;
	}
	if (code == TB_EXIT_OK) {
		// Warn a user who forgot --shard before the hours that the whole takes.
		struct tb_shard shard;
		size_t n_runs = 0;
		if (args->shard.n == 0 && access(args->output, F_OK) == 0 &&
			tb_merge_shard_of(args->output, &shard, &n_runs, NULL) == 1) {
			fprintf(stderr,
				"tailback: warning: %s is shard %" PRIu32 "/%" PRIu32
				": without --shard it gets all points, and is no shard "
				"any more\n",
				args->output, shard.number, shard.n);
		}
	}
	if (code == TB_EXIT_OK)
		code = run_sweep_points(args, &sweep, crew);
	tb_sweep_fini(&sweep);
	return code;
}

// serve_sweep runs points for rank 0, which prints the outcome.
static int serve_sweep(const struct sweep_arguments *args, struct sweep_crew *crew)
{
	struct tb_error error;
	const struct tb_sweep_serve_options options = {.name = args->name,
		.changes = args->changes.of,
		.n_changes = args->changes.n,
		.with_blame = args->blame,
		.silence_s = TB_SWEEP_SILENCE_S,
		.stop = tb_cli_catch_stop()};
	int status = tb_sweep_serve(&options, &crew->peers, &crew->all_there, &error);
	if (status == TB_OK || status == TB_ESTOPPED)
		return status == TB_OK ? TB_EXIT_OK : TB_EXIT_FAILURE;
	return tb_cli_fail(&error);
}

// work_together runs the sweep on all processes that mpirun started.
static int work_together(const struct sweep_arguments *args)
{
	struct sweep_crew crew = {.all_there = true};
	struct tb_error error;
	if (args->n_workers > 0)
		return tb_cli_usage("tailback sweep",
			"--jobs is for one machine: with mpirun each process but the "
			"first runs a point at a time");
	if (tb_peers_open(&crew.peers, &error) != TB_OK)
		return tb_cli_fail(&error);
	int code = crew.peers.rank > 0 ? serve_sweep(args, &crew)
				       : read_and_run(args, &crew);
	// When the leader could not even begin, it must not let the others wait.
	if (crew.peers.rank == 0)
		tb_sweep_dismiss(&crew.peers, crew.all_there);
	crew.peers.leave(crew.peers.context, crew.all_there);
	return code;
}

// is_trace: what sweeps are of else is the name of an experiment, or a file of INI text.
static bool is_trace(const char *argument)
{
	const struct tb_trace_reader *reader;
	struct stat entry;
	return stat(argument, &entry) == 0 &&
	       (S_ISREG(entry.st_mode) || S_ISDIR(entry.st_mode)) &&
	       tb_trace_find(&reader, argument, NULL) == TB_OK;
}

// names_trace returns whether a trace or a job is to be replayed, whose sweep is one of
// 'tailback replay': it is there, or an option that experiments do not have. The store
// may be there already.
static bool names_trace(int argc, char **argv)
{
	for (int i = 1; i < argc; i++) {
		if (strcmp(argv[i], "--job") == 0 || strncmp(argv[i], "--job=", 6) == 0 ||
			strcmp(argv[i], "-n") == 0 || strcmp(argv[i], "--network") == 0)
			return true;
		bool is_output = strcmp(argv[i - 1], "-o") == 0 ||
				 strcmp(argv[i - 1], "--output") == 0;
		if (!is_output && is_trace(argv[i]))
			return true;
	}
	return false;
}

static bool names_values(int argc, char **argv)
{
	for (int i = 1; i < argc; i++)
		if (strcmp(argv[i], "--set") == 0 || strncmp(argv[i], "--set=", 6) == 0)
			return true;
	return false;
}

// named_experiment returns the experiment, and no file, that an argument names; NULL:
// none does.
static const char *named_experiment(int argc, char **argv)
{
	for (int i = 1; i < argc; i++)
		if (tb_experiment_find(argv[i]) && access(argv[i], F_OK) != 0)
			return argv[i];
	return NULL;
}

int tb_cmd_sweep(int argc, char **argv)
{
	const char *experiment = named_experiment(argc, argv);
	if (experiment && names_trace(argc, argv))
		return tb_cli_usage("tailback sweep",
			"%s is an experiment, not a trace: what it runs on is --set "
			"network=NAME, not -n",
			experiment);
	if (names_trace(argc, argv))
		return names_values(argc, argv) ? tb_cmd_replay(argc, argv)
						: tb_cli_usage("tailback sweep",
							  "a trace is swept over values: "
							  "--set taper=1,2,4");
	struct sweep_arguments args = {.name = NULL};
	tb_options_parse(&option_table, argc, argv, &args, &args.given);
	struct sweep_crew alone = {.peers.n = 1};
	int code = args.list		     ? list_experiments(&args)
		   : tb_peers_launched() > 1 ? work_together(&args)
					     : read_and_run(&args, &alone);
	tb_texts_fini(&args.changes);
	tb_given_fini(&args.given);
	return code;
}

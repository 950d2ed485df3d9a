// tailback compare: what changed between two runs.
#include "cli.h"
#include "commands.h"
#include "compare.h"
#include "compare_print.h"
#include "counters.h"
#include "infile.h"
#include "log_changes.h"
#include "output_args.h"
#include "units.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define COMMAND "tailback compare"
#define FORMATS (TB_FORMATS_OF_LISTS | 1u << TB_FORMAT_HTML | 1u << TB_FORMAT_PDF)

// Rows of a list in formats that people read, and in those that programs search.
#define TOP_TO_READ   10
#define TOP_TO_SEARCH 100

struct compare_options {
	const char *stores[2];
	int n_stores;
	struct run_range {
		int64_t first, last; // 0: not given
	} runs[2];
	int n_runs;
	struct tb_cmd_output output;
	uint64_t top;
	uint64_t width; // of text; 0: the terminal's
	double fail_over, fail_run_over;
	bool top_given, fail_over_given, fail_run_over_given, full;
	struct tb_cmd_wait wait;
};

#define AT(member)  TB_AT(struct compare_options, member)
#define SET(member) TB_SET(struct compare_options, member)

static void take_compared_store(
	const struct tb_option *row, void *target, char *value, struct argp_state *state)
{
	struct compare_options *options = target;
	(void)row;
	if (options->n_stores == 2)
		argp_error(state, "two stores at a time: '%s' is too many", value);
	options->stores[options->n_stores++] = value;
}

static void take_run_range(
	const struct tb_option *row, void *target, char *value, struct argp_state *state)
{
	struct compare_options *options = target;
	if (options->n_runs == 2)
		argp_error(state,
			"--run is given once for A and once for B, not three times");
	struct run_range *range = &options->runs[options->n_runs++];
	char first[32];
	const char *dots = strstr(value, "..");
	snprintf(first, sizeof first, "%.*s", dots ? (int)(dots - value) : 31, value);
	range->first = range->last = (int64_t)tb_option_count(row, first, state);
	if (dots)
		range->last = (int64_t)tb_option_count(row, dots + 2, state);
	if (range->last < range->first)
		argp_error(state, "--run ends before it begins: '%s'", value);
}

static const struct tb_option option_rows[] = {
	TB_OUTPUT_OPTIONS(struct compare_options, output, FORMATS),
	{"top", 0, "N",
		"List the N links and flows that changed most; 0: all (default: 10 in "
		"text, Markdown and PDF, else 100)",
		TB_COUNT, AT(top), SET(top_given), .max = UINT32_MAX - 1},
	{"full", 0, NULL, "All lists, of text, rather than what fits a screen", TB_FLAG,
		AT(full)},
	TB_TEXT_WIDTH_OPTION(struct compare_options, width, TB_AS_WIDE),
	TB_SCHEMA_OPTION(tb_compare_write_schema),
	{"fail-over", 0, "PERCENT",
		"Exit with 3 if packets wait more than PERCENT longer in B than in A and "
		"that is not chance; with 1 if the runs carried different work",
		TB_REAL, AT(fail_over), SET(fail_over_given), .most = 1e6},
	{"fail-run-over", 0, "PERCENT",
		"The same of the run time, where --fail-over looks at waits alone",
		TB_REAL, AT(fail_run_over), SET(fail_run_over_given), .most = 1e6},
	TB_WAIT_OPTION(struct compare_options, wait),
	{"run", 0, "ID[..ID]",
		"Run number within its store, or runs that differ by their seed, as "
		"1..5; given once for A and again for B (default: the newest and its "
		"other seeds; of one store, also those before)",
		TB_CALL, .min = 1, .max = INT64_MAX, .take = take_run_range},
	{0},
};

static const struct tb_options option_table = {
	.rows = option_rows,
	.args_doc = "A.db [B.db]|A.log B.log",
	.doc = "Show what changed between two runs: their settings, their results, and "
	       "the links and flows that changed most; or between two logs of "
	       "benchmarks, "
	       "as of nccl-tests: which sizes are slower, beyond scatter. A is before, B "
	       "is after. With "
	       "one store, its newest run is compared with the one before.\v"
	       "The runs may be of different inputs and networks: links are the same if "
	       "they have one name, flows if they have one job, source and destination. "
	       "Runs that differ by their seed "
	       "only are compared together, in pairs: then what differs beyond "
	       "chance is listed first.\n\n"
	       "Examples:\n"
	       "  tailback compare before.db after.db\n"
	       "  tailback compare run.db --run 1 --run 3 -o change.html\n"
	       "  tailback compare monday.log tuesday.log\n"
	       "  tailback compare good.db new.db --fail-run-over 5 > /dev/null || "
	       "echo slower",
	.operand = {.kind = TB_CALL,
		.files = "\\.(db|log|txt|out)$",
		.help = "stores are missing: name A.db and B.db, or two logs",
		.take = take_compared_store},
};

static bool is_one_file(const char *a, const char *b)
{
	struct stat of[2];
	return stat(a, &of[0]) == 0 && stat(b, &of[1]) == 0 &&
	       of[0].st_dev == of[1].st_dev && of[0].st_ino == of[1].st_ino;
}

// is_in_both returns whether ranges of one store share a run. One run may be compared
// with itself, which finds nothing; of several it would stand among pairs of chance.
static bool is_in_both(const struct compare_options *options)
{
	const struct run_range *a = &options->runs[0], *b = &options->runs[1];
	bool several = a->first != a->last || b->first != b->last;
	return several && options->n_runs == 2 &&
	       is_one_file(options->stores[0], options->stores[1]) &&
	       a->first <= b->last && b->first <= a->last;
}

static bool has_run(const struct tb_seeds *seeds, int64_t run)
{
	for (size_t i = 0; i < seeds->n; i++)
		if (seeds->of[i].run == run)
			return true;
	return false;
}

// note_left_out_runs prints which of the runs that were found are not compared.
static void note_left_out_runs(
	const struct tb_seeds found[2], const struct tb_seeds taken[2])
{
	for (int i = 0; i < 2; i++) {
		size_t n = found[i].n - taken[i].n;
		const char *between = " ";
		if (n == 0)
			continue;
		fprintf(stderr, "tailback: note: of %s run%s", found[i].store,
			n == 1 ? "" : "s");
		for (size_t k = 0; k < found[i].n; k++) {
			if (has_run(&taken[i], found[i].of[k].run))
				continue;
			fprintf(stderr, "%s%" PRId64, between, found[i].of[k].run);
			between = ", ";
		}
		fprintf(stderr, " %s left out: %s\n", n == 1 ? "is" : "are",
			(taken[0].n && taken[1].n &&
				taken[0].of[0].seed == taken[1].of[0].seed)
				? n == 1 ? "no run of the other side has its seed"
					 : "no run of the other side has their seeds"
				: "the sides have no seed in common, and the other has "
				  "fewer runs");
	}
}

// find_seeds finds the runs of either side.
static int find_seeds(const struct compare_options *options, struct tb_seeds seeds[2],
	struct tb_error *error)
{
	int status = TB_OK;
	if (is_in_both(options)) {
		// Name the first run that both ranges have.
		const struct run_range *a = &options->runs[0], *b = &options->runs[1];
		return tb_fail_in(error, TB_EUSAGE, options->stores[0],
			"its run %" PRId64
			" is in both A and B: name other runs by --run",
			a->first > b->first ? a->first : b->first);
	}
	if (options->n_stores == 1 && options->n_runs == 0) {
		const char *store = options->stores[0];
		status = tb_seeds_like(&seeds[1], store, 0, error);
		if (status == TB_OK)
			status = tb_seeds_before(&seeds[0], &seeds[1], error);
		if (status == TB_OK && seeds[0].n == 0) {
			// Find the runs to compare when all of a store differ by their
			// seed only.
			struct tb_runs *list;
			status = tb_runs_open(&list, store, error);
			if (status != TB_OK)
				return status;
			size_t n = tb_runs_n(list);
			if (n < 2) {
				status = tb_fail_in(error, TB_EUSAGE, store,
					"holds %s: name another store to compare it with",
					n == 0 ? "no run" : "only one run");
			} else {
				for (size_t i = 0; i < 2; i++) {
					seeds[i].n = 1;
					seeds[i].of[0].run =
						tb_runs_at(list, n - 2 + i)->id;
				}
				fprintf(stderr,
					"tailback: note: the %zu runs of %s differ at "
					"most by their seed: the newest two are "
					"compared; choose others by "
					"--run A --run B, or name a second store, whose "
					"seeds are paired "
					"with these\n",
					n, store);
			}
			tb_runs_free(list);
			return status;
		}
	} else {
		for (int i = 0; status == TB_OK && i < 2; i++) {
			const struct run_range *range = &options->runs[i];
			const char *store = options->stores[i];
			status = range->first ? tb_seeds_range(&seeds[i], store,
							range->first, range->last, error)
					      : tb_seeds_like(&seeds[i], store, 0, error);
		}
	}
	if (status == TB_OK) {
		// Pair the runs that were found.
		const struct tb_seeds found[2] = {seeds[0], seeds[1]};
		tb_seeds_pair(&seeds[0], &seeds[1]);
		note_left_out_runs(found, seeds);
	}
	return status;
}

// judge_growth judges what a gate was given a limit for.
static int judge_growth(const struct compare_options *options,
	const struct tb_compare *compare, enum tb_gate gate, size_t seeds)
{
	bool wait = gate == TB_GATE_WAIT;
	double limit = wait ? options->fail_over : options->fail_run_over;
	double growth = tb_compare_growth(compare, gate);
	const char *option = wait ? "--fail-over" : "--fail-run-over";
	const char *why_not = tb_compare_why_not(compare, gate);
	if (!(wait ? options->fail_over_given : options->fail_run_over_given))
		return TB_EXIT_OK;
	fflush(stdout);
	if (why_not) {
		fprintf(stderr, "tailback: %s cannot judge: %s and %s %s\n", option,
			options->stores[0], options->stores[1], why_not);
		return TB_EXIT_FAILURE;
	}
	if (growth <= limit)
		return TB_EXIT_OK;
	bool chance = tb_compare_is_by_chance(compare, gate);
	if (isinf(growth))
		fprintf(stderr, "tailback: packets wait in B (%s) and not in A (%s), ",
			options->stores[1], options->stores[0]);
	else
		fprintf(stderr, "tailback: %s %.4g %% longer in B (%s) than in A (%s), ",
			wait ? "packets wait" : "the run takes", growth,
			options->stores[1], options->stores[0]);
	if (chance)
		fprintf(stderr, "which may be chance: %s passes no verdict%s\n", option,
			seeds > 1 ? "" : "; replay both with --seed 1..5");
	else
		fprintf(stderr, "more than %g %%\n", limit);
	return chance ? TB_EXIT_OK : TB_EXIT_TRIPPED;
}

static int write_comparison(const struct compare_options *options,
	const struct tb_compare *compare, FILE *stream, struct tb_error *error)
{
	if (options->output.format == TB_FORMAT_PDF)
		return tb_compare_print(compare, stream, error);
	return tb_compare_write(compare, options->output.format, options->full,
		tb_cmd_text_width(options->width, stream, 0), stream, error);
}

static int compare_runs(struct compare_options *options)
{
	struct tb_error error;
	struct tb_seeds seeds[2] = {{.n = 0}, {.n = 0}};
	struct tb_run *runs[2] = {NULL, NULL};
	struct tb_compare *compare = NULL;
	struct tb_outfile out;
	if (options->n_stores == 1)
		options->stores[1] = options->stores[0];
	int status = find_seeds(options, seeds, &error);
	for (int i = 0; status == TB_OK && i < 2; i++)
		status = tb_run_open(
			&runs[i], options->stores[i], seeds[i].of[0].run, &error);
	for (int i = 0; status == TB_OK && i < 2; i++)
		if (options->wait.given)
			tb_run_choose_wait(
				runs[i], (enum tb_wait_lead)options->wait.which);
	if (status == TB_OK)
		status = tb_compare_new(&compare,
			(struct tb_compared){runs[0], options->stores[0]},
			(struct tb_compared){runs[1], options->stores[1]},
			(uint32_t)options->top, &error);
	if (status == TB_OK)
		status = tb_compare_seeds(compare, seeds, &error);
	if (status == TB_OK)
		status = tb_outfile_open(&out, options->output.file, &error);
	if (status == TB_OK)
		status = tb_cmd_output_end(&out,
			write_comparison(options, compare, out.stream, &error), &error);
	int code = status == TB_OK ? TB_EXIT_OK : tb_cli_fail(&error);
	int trips[2] = {0};
	for (int gate = TB_GATE_WAIT; status == TB_OK && gate <= TB_GATE_RUN_TIME; gate++)
		trips[gate] =
			judge_growth(options, compare, (enum tb_gate)gate, seeds[0].n);
	code = trips[0] > code ? trips[0] : code;
	code = trips[1] > code ? trips[1] : code;
	tb_compare_free(compare);
	tb_run_free(runs[0]);
	tb_run_free(runs[1]);
	return code;
}

// compare_logs compares what benchmarks printed.
static int compare_logs(const struct compare_options *options)
{
	struct tb_error error;
	struct tb_benchmark *benchmark = NULL;
	struct tb_log_changes *changes = NULL;
	struct tb_outfile out;
	const char *const *files = options->stores;
	int status = tb_benchmark_read(&benchmark, files, 2, 0, &error);
	if (status == TB_OK)
		status = tb_log_changes_new(
			&changes, benchmark, files[0], files[1], &error);
	if (status == TB_OK)
		status = tb_outfile_open(&out, options->output.file, &error);
	if (status == TB_OK)
		status = tb_cmd_output_end(&out,
			tb_log_changes_write(changes, options->output.format,
				tb_cmd_text_width(options->width, out.stream, 0),
				out.stream, &error),
			&error);
	int code = status == TB_OK ? TB_EXIT_OK : tb_cli_fail(&error);
	if (status == TB_OK && options->fail_run_over_given &&
		tb_log_changes_growth(changes) > options->fail_run_over) {
		fflush(stdout);
		fprintf(stderr,
			"tailback: an operation takes up to %.4g %% longer in B (%s) "
			"than "
			"in A (%s), more than %g %%\n",
			tb_log_changes_growth(changes), files[1], files[0],
			options->fail_run_over);
		code = TB_EXIT_TRIPPED;
	}
	tb_log_changes_free(changes);
	tb_benchmark_close(benchmark);
	return code;
}

// is_counter_dump returns whether a file or folder has counters of ports.
static bool is_counter_dump(const char *path)
{
	struct tb_counters counters = {0};
	struct tb_error error;
	bool is_one = tb_counters_read(&counters, path, &error) == TB_OK;
	tb_counters_fini(&counters);
	return is_one;
}

static bool begins_store(struct tb_bytes first)
{
	static const char magic[] = "SQLite format 3";
	return first.n >= sizeof magic && memcmp(first.data, magic, sizeof magic) == 0;
}

// compare_others compares two logs of benchmarks, and says what compares dumps; `*code`
// is then the exit code. False: stores, or what is neither.
static bool compare_others(const struct compare_options *options, int *code)
{
	const char *const *files = options->stores;
	enum tb_format format = options->output.format;
	bool are_others = options->n_stores == 2, are_logs = false, are_dumps;
	for (int i = 0; i < options->n_stores; i++) {
		struct stat of;
		// A pipe could be looked at only once.
		are_others &= stat(files[i], &of) == 0 &&
			      (S_ISREG(of.st_mode) || S_ISDIR(of.st_mode)) &&
			      !tb_infile_begins(files[i], begins_store);
		are_logs |= are_others && tb_benchmark_tool(files[i]);
	}
	are_logs &= are_others;
	are_dumps = are_others && !are_logs && is_counter_dump(files[0]) &&
		    is_counter_dump(files[1]);
	if (are_dumps)
		*code = tb_cli_usage(COMMAND,
			"these are dumps of counters: 'tailback counters %s %s -n FABRIC "
			"-o live.db' makes a run of what was counted between them, and "
			"such runs are compared",
			files[0], files[1]);
	else if (are_logs && (options->n_runs || options->wait.given || options->full ||
				     options->top_given || options->fail_over_given))
		*code = tb_cli_usage(COMMAND,
			"--run, --wait, --top, --full and --fail-over are of stores, not "
			"of benchmarks' logs");
	else if (are_logs && format != TB_FORMAT_TEXT && format != TB_FORMAT_MARKDOWN &&
		 format != TB_FORMAT_CSV)
		*code = tb_cli_usage(
			COMMAND, "two logs are compared as text, Markdown or CSV");
	else if (are_logs && is_one_file(files[0], files[1]))
		*code = tb_cli_usage(
			COMMAND, "%s is compared with itself: name another", files[1]);
	else if (are_logs)
		*code = compare_logs(options);
	return are_dumps || are_logs;
}

int tb_cmd_compare(int argc, char **argv)
{
	struct compare_options options = {.output.file = "-"};
	tb_options_parse(&option_table, argc, argv, &options, NULL);
	int code = tb_cmd_output_settle(&options.output, FORMATS, COMMAND, options.stores,
		(size_t)options.n_stores);
	if (code == TB_EXIT_OK)
		code = tb_cmd_output_settle_width(
			&options.output, COMMAND, options.width);
	if (code != TB_EXIT_OK || compare_others(&options, &code))
		return code;
	if (options.full && options.output.format != TB_FORMAT_TEXT)
		return tb_cli_usage(
			COMMAND, "--full is for text: the other formats have all lists");
	if (options.n_stores == 1 && options.n_runs == 1)
		return tb_cli_usage(COMMAND, "one store takes --run twice or not at all");
	if (!options.top_given)
		options.top = tb_cmd_output_is_to_read(&options.output) ||
					      options.output.format == TB_FORMAT_PDF
				      ? TOP_TO_READ
				      : TOP_TO_SEARCH;
	return compare_runs(&options);
}

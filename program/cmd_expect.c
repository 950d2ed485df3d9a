// tailback expect: benchmarks beside what a network should give.
#include "backends.h"
#include "cli.h"
#include "commands.h"
#include "curves_picture.h"
#include "expect.h"
#include "input_files.h"
#include "library.h"
#include "picture_args.h"
#include "preset.h"

#include <stdio.h>
#include <unistd.h>

#define COMMAND "tailback expect"
#define FORMATS (TB_FORMATS_OF_LISTS | 1u << TB_FORMAT_HTML | TB_FORMATS_DRAWN)

struct expect_arguments {
	struct tb_expect_options options;
	struct tb_texts files, collectives;
	struct tb_picture_args picture;
	bool gate, quiet;
};

#define AT(member) TB_AT(struct expect_arguments, member)

static const struct tb_option option_rows[] = {
	{"network", 'n', "NETWORK",
		"Preset (%s), INI file or fabric, with changes after commas: "
		"ib-ndr,rails=8, fabric.ibnetdiscover (required)",
		TB_TEXT, AT(options.network), .lines = tb_network_preset_names,
		.files = "\\.ini$"},
	{"host", 'H', "LIBRARY",
		"The communication library that ranks send with, one of the network's "
		"(default: by the tool that wrote a table: nccl, mpi or none)",
		TB_TEXT, AT(options.host)},
	{"per-node", 0, "N", "Ranks on a host (default: as the tables say, else 1)",
		TB_COUNT, AT(options.per_node), .min = 1, .max = 65536},
	{"nodes", 0, "N", "Add levels to the tree until N nodes fit", TB_COUNT,
		AT(options.n_nodes), .min = 2, .max = 1 << 24},
	{"ranks", 0, "N",
		"Ranks of an operation, or of tables that do not say how many there were",
		TB_COUNT, AT(options.n_ranks), .min = 2, .max = 1 << 24},
	{"size", 0, "SIZES",
		"Sizes of an operation, as 1M..1G (each twice the one before; default: "
		"1K..1G x4)",
		TB_TEXT, AT(options.sizes)},
	{"library", 0, "NAME",
		"The library whose algorithms collective calls have: %s (default: by the "
		"tool)",
		TB_TEXT, AT(options.library), .word = tb_library_number},
	{"collective", 0, "OPERATION=ALGORITHM",
		"The algorithm that was set for an operation, in place of the library's "
		"choice: allreduce=nccl-ring; may be given again",
		TB_TEXTS, AT(collectives)},
	{"every-size", 0, NULL,
		"Replay every size of large tables, however long that takes", TB_FLAG,
		AT(options.every_size), .seldom = true},
	{"no-why", 0, NULL, "Do not try what would explain the figures", TB_FLAG,
		AT(options.leaves_out_why), .seldom = true},
	{"gate", 0, NULL, "Exit with 3 if a row is slower than its range", TB_FLAG,
		AT(gate)},
	{"jobs", 0, "N", "Run N replays at once (default: one per core)", TB_COUNT,
		AT(options.n_workers), .min = 1, .max = 1024, .seldom = true},
	{"quiet", 'q', NULL, "No progress", TB_FLAG, AT(quiet)},
	{.help = "Output:"},
	TB_OUTPUT_OPTIONS(struct expect_arguments, picture.output, FORMATS),
	TB_SCHEMA_OPTION(tb_expect_write_schema),
	TB_INCLUDE(tb_look_options, struct expect_arguments, picture),
	{0},
};

static const struct tb_options option_table = {
	.rows = option_rows,
	.args_doc = "FILE...|OPERATION",
	.doc = "Replay each row of what benchmarks printed (nccl-tests, rccl-tests, OSU, "
	       "IMB, perftest, NetPIPE, GPCNET, mpiGraph) in a network, print the "
	       "measured figures "
	       "beside the expected ones, and judge them by how right the model was on "
	       "measured clusters; or an operation that nothing measured.\vBelow the "
	       "table stands what limits, and what would "
	       "explain the difference: each was tried by replay.\n\n"
	       "Examples:\n"
	       "  tailback expect all_reduce.log -n ib-ndr,rails=8\n"
	       "  tailback expect osu.txt -n ib-hdr --ranks 64 --per-node 8\n"
	       "  tailback expect allreduce -n ib-ndr,rails=8 --ranks 1024 --per-node 8 "
	       "--size 1M..1G\n"
	       "  tailback expect all_reduce.log -n ib-ndr,rails=8 -o expect.svg\n"
	       "  tailback expect nightly.log -n fabric.ibnetdiscover --gate > /dev/null",
	.operand = {.kind = TB_TEXTS,
		AT(files),
		.files = ".",
		.help = "a file is missing: name what a benchmark printed, or an "
			"operation such as allreduce"},
};

#define FIRST_LINE_S 5 // of progress where there is no terminal, then twice as late

struct expect_progress {
	struct tb_progress line;
	bool is_plain;
	double started_s, next_s; // next_s: since then
};

static void show_replays(void *context, size_t n_done, size_t n)
{
	struct expect_progress *progress = context;
	double took = progress->is_plain ? tb_clock_s() - progress->started_s : 0;
	if (!progress->is_plain)
		tb_cli_show_count(&progress->line, n_done, n, "replays");
	else if (took >= progress->next_s) {
		progress->next_s = 2 * took;
		fprintf(stderr, "tailback: %zu of %zu replays after %.0f s\n", n_done, n,
			took);
	}
}

struct expect_drawing {
	struct tb_curves curves;
	struct tb_picture_args *args;
};

static int draw_expect(void *context, struct tb_picture *picture)
{
	const struct expect_drawing *drawing = context;
	const struct tb_curves_figure figure = {
		&drawing->curves, drawing->args->colours, drawing->args->theme};
	return tb_curves_picture(picture, &figure);
}

static int embed_expect(void *context, FILE *stream)
{
	struct tb_picture picture = {0};
	int status = draw_expect(context, &picture);
	if (status == TB_OK)
		tb_picture_svg(&picture, picture.width, stream);
	tb_picture_fini(&picture);
	return status;
}

static bool is_drawn(enum tb_format format)
{
	return (1u << format & TB_FORMATS_DRAWN) != 0;
}

static int write_expect(const struct tb_expect *expect, struct tb_picture_args *args,
	struct tb_error *error)
{
	struct expect_drawing drawing = {.args = args};
	struct tb_outfile out;
	enum tb_format format = args->output.format;
	bool draws = is_drawn(format) || format == TB_FORMAT_HTML;
	int status = draws ? tb_expect_curves(expect, &drawing.curves, error) : TB_OK;
	bool has_curves = draws && status == TB_OK;
	// A page does without a picture where there is nothing to draw.
	if (format == TB_FORMAT_HTML && status == TB_EUSAGE)
		status = TB_OK;
	if (status == TB_OK && is_drawn(format)) {
		const struct tb_cmd_figure figure = {
			.context = &drawing, .picture = draw_expect};
		status = tb_cmd_picture_write(args, &figure, error);
	} else if (status == TB_OK) {
		const struct tb_expect_figure figure = {&drawing, embed_expect};
		status = tb_outfile_open(&out, args->output.file, error);
		if (status == TB_OK)
			status = tb_cmd_output_end(&out,
				tb_expect_write(expect, format,
					tb_cmd_text_width(args->width, out.stream, 0),
					has_curves ? &figure : NULL, out.stream, error),
				error);
	}
	if (has_curves)
		tb_curves_fini(&drawing.curves);
	return status;
}

static int judge_gate(const struct tb_expect *expect)
{
	size_t n_judged, n = tb_expect_n_slower(expect, &n_judged);
	fflush(stdout);
	if (n_judged == 0) {
		fputs("tailback: --gate cannot judge: no row has a range of its class\n",
			stderr);
		return TB_EXIT_FAILURE;
	}
	if (n == 0)
		return TB_EXIT_OK;
	fprintf(stderr, "tailback: %zu of %zu rows %s slower than expected\n", n,
		n_judged, n == 1 ? "is" : "are");
	return TB_EXIT_TRIPPED;
}

static int run_expect(struct expect_arguments *arguments)
{
	struct tb_expect *expect = NULL;
	struct expect_progress progress = {
		.is_plain = !arguments->quiet && !isatty(STDERR_FILENO),
		.started_s = tb_clock_s(),
		.next_s = FIRST_LINE_S};
	struct tb_error error;
	arguments->options.stop = tb_cli_catch_stop();
	tb_progress_init(&progress.line, arguments->quiet ? -1 : STDERR_FILENO);
	arguments->options.context = &progress;
	arguments->options.watch = show_replays;
	int status = tb_expect_new(&expect, &arguments->options, &error);
	tb_progress_done(&progress.line);
	if (status == TB_OK)
		status = write_expect(expect, &arguments->picture, &error);
	int code = status != TB_OK   ? tb_cli_fail(&error)
		   : arguments->gate ? judge_gate(expect)
				     : TB_EXIT_OK;
	tb_expect_free(expect);
	return code;
}

// check_planned refuses what does not go with an operation, or with files.
static int check_planned(const struct expect_arguments *arguments)
{
	enum tb_collective_op op;
	bool is_planned = tb_expect_operation(&op, &arguments->options);
	if (arguments->options.sizes && !is_planned)
		return tb_cli_usage(COMMAND,
			"--size is of an operation, as in expect allreduce, not of a "
			"table");
	if (arguments->gate && is_planned)
		return tb_cli_usage(
			COMMAND, "--gate judges what was measured, not a plan");
	return TB_EXIT_OK;
}

int tb_cmd_expect(int argc, char **argv)
{
	struct expect_arguments arguments = {.picture.output.file = "-"};
	struct tb_expect_options *options = &arguments.options;
	tb_options_parse(&option_table, argc, argv, &arguments, NULL);
	options->files = arguments.files.of;
	options->n_files = arguments.files.n;
	options->collectives = arguments.collectives.of;
	options->n_collectives = arguments.collectives.n;
	int code = tb_cmd_output_settle(&arguments.picture.output, FORMATS, COMMAND,
		options->files, options->n_files);
	if (code == TB_EXIT_OK && !options->network)
		code = tb_cli_usage(COMMAND,
			"a network is missing: name it by -n, as in -n ib-ndr,rails=8");
	if (code == TB_EXIT_OK && arguments.picture.width &&
		!is_drawn(arguments.picture.output.format))
		code = tb_cmd_output_settle_width(
			&arguments.picture.output, COMMAND, arguments.picture.width);
	if (code == TB_EXIT_OK)
		code = check_planned(&arguments);
	if (code == TB_EXIT_OK)
		code = run_expect(&arguments);
	tb_texts_fini(&arguments.files);
	tb_texts_fini(&arguments.collectives);
	return code;
}

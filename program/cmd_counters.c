// tailback counters: makes a run of what the counters of a live fabric measured.
#include "agreement.h"
#include "cli.h"
#include "commands.h"
#include "measured.h"
#include "network_open.h"
#include "picture_args.h"
#include "preset.h"
#include "run.h"
#include "scatter.h"
#include "units.h"
#include <string.h>

#define COMMAND "tailback counters"

#define TOP_DEFAULT 10
#define TOP_MOST    1000000

struct counters_options {
	const char *dumps[2];
	size_t n_dumps;
	const char *fabric;
	const char *store; // to append the run to
	tb_time_ps interval_ps;
	const char *beside; // a store with a replay
	int64_t run;	    // of it; 0: the newest
	int64_t measured;   // of the store in place of dumps; 0: the newest
	uint64_t top;
	bool top_given;
	uint64_t width;
	struct tb_cmd_output output; // of the comparison
	const char *scatter;	     // a picture of it
	bool quiet;
};

static void take_dump(
	const struct tb_option *row, void *target, char *value, struct argp_state *state)
{
	struct counters_options *options = target;
	(void)row;
	if (options->n_dumps == 2)
		argp_error(state, "'%s' is too many: an earlier and a later dump", value);
	options->dumps[options->n_dumps++] = value;
}

// is_stored is whether a run of counters is read in place of dumps.
static bool is_stored(const struct counters_options *options)
{
	return options->beside && options->n_dumps == 1 && !options->store;
}

static void check_counters_options(void *arguments, const struct argp_state *state)
{
	const struct counters_options *options = arguments;
	const struct {
		bool given;
		const char *option;
	} of_dumps[] = {{options->fabric != NULL, "--fabric"},
		{options->interval_ps != 0, "--interval"}};
	if (options->measured && !is_stored(options))
		argp_error(state, "--measured is for a store in place of dumps");
	for (size_t i = 0; i < sizeof of_dumps / sizeof *of_dumps; i++)
		if (of_dumps[i].given && is_stored(options))
			argp_error(state, "%s is for dumps, and %s is a store",
				of_dumps[i].option, options->dumps[0]);
	if (is_stored(options))
		return;
	if (!options->fabric)
		argp_error(state, "the fabric is missing: -n FABRIC");
	if (!options->store)
		argp_error(state, "a store is missing: -o FILE");
}

#define AT(member) TB_AT(struct counters_options, member)

static const struct tb_option option_rows[] = {
	{"fabric", 'n', "FABRIC",
		"The fabric that was counted, a file such as ibnetdiscover's, with "
		"changes after commas, or another network",
		TB_TEXT, AT(fabric), .lines = tb_network_preset_names,
		.files = "\\.ini$"},
	{"output", 'o', "FILE", "Append the run to this store, or make it", TB_TEXT,
		AT(store), .files = "\\.db$"},
	{"interval", 0, "TIME",
		"The time between the dumps, such as 60s (default: by their times)",
		TB_TIME, AT(interval_ps), .min = 1},
	{"beside", 0, "STORE.db",
		"Print how a replay agrees with the counters: rank correlation, and the "
		"links that disagree most; a store of counters may stand in place of "
		"dumps",
		TB_TEXT, AT(beside)},
	{"run", 0, "ID", "The replay's number in its store (default: the newest)",
		TB_COUNT, AT(run), .min = 1, .max = INT64_MAX, .needs = "beside"},
	{"measured", 0, "ID",
		"The run of counters to take from a store in place of dumps (default: "
		"the newest)",
		TB_COUNT, AT(measured), .min = 1, .max = INT64_MAX, .needs = "beside"},
	{"format", 'f', "FORMAT", "%s of --beside (default: text)", TB_FORMAT,
		AT(output.format), TB_SET(struct counters_options, output.format_given),
		.formats = TB_FORMATS_OF_LISTS},
	{"scatter", 0, "PICTURE",
		"Draw each link's measured stall against the simulated one (.svg, .png, "
		".pdf)",
		TB_TEXT, AT(scatter), .needs = "beside"},
	{"top", 0, "N", "List N links of --beside (10; 0: all)", TB_COUNT, AT(top),
		TB_SET(struct counters_options, top_given), .max = TOP_MOST,
		.needs = "beside"},
	TB_TEXT_WIDTH_OPTION(struct counters_options, width, TB_AS_WIDE),
	{"schema", 0, NULL, "Print the JSON schema of --beside -f json", TB_SCHEMA,
		.schema = tb_agreement_write_schema},
	{"quiet", 'q', NULL, "Print only errors", TB_FLAG, AT(quiet)},
	{0},
};

static const struct tb_options option_table = {
	.rows = option_rows,
	.args_doc = "[BEFORE] AFTER",
	.doc = "Make a run of what the counters of a live fabric measured between two "
	       "dumps: how long the port of each link could not send, what it carried, "
	       "and errors. A dump is a file, or a folder of files, of perfquery, "
	       "ibqueryerrors, ibdiagnet2 (.pm, .db_csv), UFM (CSV), InfiniBand "
	       "exporters of Prometheus, ethtool or SONiC.\vExamples:\n"
	       "  tailback counters before after -n fabric.ibnetdiscover --interval 60s "
	       "-o live.db\n"
	       "  tailback report live.db\n"
	       "  tailback counters live.db --beside run.db --scatter both.svg",
	.operand = {.kind = TB_CALL,
		.files = ".",
		.help = "dumps of counters are missing",
		.take = take_dump},
	.check = check_counters_options,
};

static int store_counters(const struct counters_options *options, struct tb_error *error)
{
	struct tb_network *network = NULL;
	struct tb_measured measured = {0};
	const struct tb_measured_options how = {
		.before = options->n_dumps > 1 ? options->dumps[0] : NULL,
		.after = options->dumps[options->n_dumps - 1],
		.interval_ps = options->interval_ps,
		.tick_is_given = strstr(options->fabric, ",xmit_wait_tick=") != NULL};
	int status = tb_network_open(&network,
		&(struct tb_network_description){.name = options->fabric}, error);
	if (status == TB_OK)
		status = tb_measured_init(&measured, network, &how, error);
	if (status == TB_OK)
		status = tb_measured_store(
			&measured, &how, options->fabric, options->store, error);
	if (status == TB_OK && !options->quiet) {
		const char *store = options->store;
		char time[32], ports[48], all[48];
		fprintf(stderr, "%s: counters of %s of the dump's %s over %s\n", store,
			measured.n_matched == measured.n_ports
				? "all"
				: tb_format_count(
					  measured.n_matched, ports, sizeof ports),
			tb_format_counted(measured.n_ports, "port", all, sizeof all),
			tb_format_time(measured.interval_ps, time, sizeof time));
		for (size_t i = 0; i < measured.n_notes; i++)
			fprintf(stderr, "  %s\n", measured.notes[i]);
	}
	tb_measured_fini(&measured);
	tb_network_free(network);
	return status;
}

static int draw_scatter(void *agreement, struct tb_picture *picture)
{
	return tb_scatter_picture(picture, agreement, TB_LIGHT);
}

static int put_scatter(
	const char *file, struct tb_agreement *agreement, struct tb_error *error)
{
	struct tb_picture_args args = {.output.file = file};
	if (tb_format_of_file(file, TB_FORMATS_DRAWN, &args.output.format) != TB_OK)
		return tb_fail(error, TB_EUSAGE,
			"--scatter takes a file that ends in .svg, .png or .pdf");
	return tb_cmd_picture_write(&args,
		&(struct tb_cmd_figure){.context = agreement, .picture = draw_scatter},
		error);
}

int tb_cmd_counters(int argc, char **argv)
{
	struct tb_error error;
	struct counters_options options = {.output.file = "-"};
	tb_options_parse(&option_table, argc, argv, &options, NULL);
	int code = options.store
			   ? tb_cmd_spare(options.store, options.dumps, options.n_dumps)
			   : TB_EXIT_OK;
	if (code == TB_EXIT_OK)
		code = tb_cmd_output_settle(&options.output, TB_FORMATS_OF_LISTS, COMMAND,
			&options.beside, options.beside ? 1 : 0);
	if (code == TB_EXIT_OK)
		code = tb_cmd_output_settle_width(
			&options.output, COMMAND, options.width);
	if (code != TB_EXIT_OK)
		return code;
	int status = is_stored(&options) ? TB_OK : store_counters(&options, &error);
	if (status == TB_OK && options.beside) {
		// Print how a replay agrees with a run of counters.
		const char *measured = options.store ? options.store : options.dumps[0];
		const char *const names[] = {measured, options.beside};
		struct tb_run *runs[2] = {NULL, NULL};
		struct tb_agreement agreement = {0};
		struct tb_outfile out;
		status = tb_run_open(&runs[0], names[0], options.measured, &error);
		if (status == TB_OK)
			status = tb_run_open(&runs[1], names[1], options.run, &error);
		if (status == TB_OK)
			status = tb_agreement_init(
				&agreement, runs[0], runs[1], names, &error);
		if (status == TB_OK)
			status = tb_outfile_open(&out, options.output.file, &error);
		if (status == TB_OK) {
			bool to_read = tb_cmd_output_is_to_read(&options.output);
			status = tb_agreement_write(&agreement, options.output.format,
				options.top_given || !to_read ? (uint32_t)options.top
							      : TOP_DEFAULT,
				tb_cmd_text_width(options.width, out.stream, 0),
				out.stream, &error);
			status = tb_cmd_output_end(&out, status, &error);
		}
		if (status == TB_OK && options.scatter)
			status = put_scatter(options.scatter, &agreement, &error);
		tb_agreement_fini(&agreement);
		tb_run_free(runs[0]);
		tb_run_free(runs[1]);
	}
	return status == TB_OK ? TB_EXIT_OK : tb_cli_fail(&error);
}

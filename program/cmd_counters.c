// tailback counters: makes a run of what the counters of a live fabric measured.
#include "cli.h"
#include "commands.h"
#include "measured.h"
#include "network_open.h"
#include "output_args.h"
#include "preset.h"
#include "run.h"
#include "units.h"

#include <argp.h>

#define COMMAND "tailback counters"

enum key { KEY_INTERVAL = 256 };

struct counters_options {
	const char *dumps[2];
	size_t n_dumps;
	const char *fabric;
	const char *output;
	tb_time_ps interval_ps;
	bool quiet;
};

static const struct argp_option argp_options[] = {
	{"fabric", 'n', "FABRIC", 0,
		"The fabric that was counted, a file such as ibnetdiscover's, with "
		"changes "
		"after commas, or another network",
		0},
	{"output", 'o', "FILE", 0, "Append the run to this store, or make it", 0},
	{"interval", KEY_INTERVAL, "TIME", 0,
		"The time between the dumps, such as 60s (default: by their times)", 0},
	{"quiet", 'q', NULL, 0, "Print only errors", 0},
	{0},
};

static const struct tb_cmd_words words[] = {
	{.key = 'n', .lines = tb_network_preset_names},
	{0},
};

static void take_dump(struct counters_options *options, const char *dump,
	const struct argp_state *state)
{
	if (options->n_dumps == 2)
		argp_error(state, "'%s' is too many: an earlier and a later dump", dump);
	options->dumps[options->n_dumps++] = dump;
}

static void check(const struct counters_options *options, const struct argp_state *state)
{
	if (options->n_dumps == 0)
		argp_error(state, "dumps of counters are missing");
	if (!options->fabric)
		argp_error(state, "the fabric is missing: -n FABRIC");
	if (!options->output)
		argp_error(state, "a store is missing: -o FILE");
}

static error_t parse_option(int key, char *value, struct argp_state *state)
{
	struct counters_options *options = state->input;
	switch (key) {
	case 'n':
		options->fabric = value;
		break;
	case 'o':
		options->output = value;
		break;
	case KEY_INTERVAL:
		if (tb_parse_time(value, &options->interval_ps) != TB_OK ||
			options->interval_ps <= 0)
			argp_error(state,
				"--interval takes a time, such as 60s, not '%s'", value);
		break;
	case 'q':
		options->quiet = true;
		break;
	case ARGP_KEY_ARG:
		take_dump(options, value, state);
		break;
	case ARGP_KEY_END:
		check(options, state);
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

static void print_summary(const struct tb_measured *measured, const char *store)
{
	char time[32], ports[48], all[48];
	fprintf(stderr, "%s: counters of %s of %s over %s\n", store,
		tb_format_count(measured->n_matched, ports, sizeof ports),
		tb_format_counted(measured->n_ports, "port", all, sizeof all),
		tb_format_time(measured->interval_ps, time, sizeof time));
	for (size_t i = 0; i < measured->n_notes; i++)
		fprintf(stderr, "  %s\n", measured->notes[i]);
}

static int measure(const struct counters_options *options, struct tb_error *error)
{
	struct tb_network *network = NULL;
	struct tb_measured measured = {0};
	const struct tb_measured_options how = {
		.before = options->n_dumps > 1 ? options->dumps[0] : NULL,
		.after = options->dumps[options->n_dumps - 1],
		.interval_ps = options->interval_ps};
	int status = tb_network_open(&network,
		&(struct tb_network_description){.name = options->fabric}, error);
	if (status == TB_OK)
		status = tb_measured_init(&measured, network, &how, error);
	if (status == TB_OK)
		status = tb_measured_store(
			&measured, &how, options->fabric, options->output, error);
	if (status == TB_OK && !options->quiet)
		print_summary(&measured, options->output);
	tb_measured_fini(&measured);
	tb_network_free(network);
	return status;
}

int tb_cmd_counters(int argc, char **argv)
{
	static const struct argp argp = {argp_options, parse_option, "[BEFORE] AFTER",
		"Make a run of what the counters of a live fabric measured between two "
		"dumps: how long the port of each link could not send, what it carried, "
		"and errors. A dump is a file, or a folder of files, of perfquery, "
		"ibqueryerrors, ibdiagnet2.pm, UFM (CSV), InfiniBand exporters of "
		"Prometheus, ethtool or SONiC.\v"
		"Examples:\n"
		"  tailback counters before after -n fabric.ibnetdiscover --interval 60s "
		"-o live.db\n"
		"  tailback report live.db",
		NULL, NULL, NULL};
	struct tb_error error;
	struct counters_options options = {0};
	tb_cmd_parse(&argp, words, argc, argv, 0, &options);
	int code = tb_cmd_spare(options.output, options.dumps, options.n_dumps);
	if (code != TB_EXIT_OK)
		return code;
	return measure(&options, &error) == TB_OK ? TB_EXIT_OK : tb_cli_fail(&error);
}

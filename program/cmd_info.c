// tailback info: what is in a store, a packet capture or a job. What a file is, is found
// out by its content.
#include "cmd_info.h"

#include "cli.h"
#include "commands.h"
#include "json.h"

#include <argp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum key { KEY_JSON = 256, KEY_STDIN };

static const struct argp_option argp_options[] = {
	{"json", KEY_JSON, NULL, 0, "Print JSON", 0},
	{"network", 'n', "NETWORK", 0,
		"Preset or file that the load of a capture is told against (default: "
		"qsnet)",
		0},
	{"stdin", KEY_STDIN, "KIND", 0,
		"What standard input is: packets (default) or job", 0},
	{0},
};

static error_t parse_option(int key, char *value, struct argp_state *state)
{
	struct info_options *options = state->input;
	switch (key) {
	case KEY_JSON:
		options->json = true;
		break;
	case 'n':
		options->network = value;
		break;
	case KEY_STDIN:
		options->stdin_is_job = strcmp(value, "job") == 0;
		if (!options->stdin_is_job && strcmp(value, "packets") != 0)
			argp_error(
				state, "--stdin takes packets or job, not '%s'", value);
		break;
	case ARGP_KEY_ARG:
		if (options->file)
			argp_error(state, "one file at a time: '%s' is too many", value);
		options->file = value;
		break;
	case ARGP_KEY_NO_ARGS:
		argp_error(state, "which file? Name a store, a capture or a job");
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

void info_line(const char *name, const char *format, ...)
{
	va_list args;
	printf("  %-12s ", name);
	va_start(args, format);
	vprintf(format, args);
	va_end(args);
	putchar('\n');
}

int info_print_json(json_t *json, struct tb_error *error)
{
	return tb_json_write(json, 6, stdout) == TB_OK
		       ? TB_OK
		       : tb_fail(error, TB_ENOMEM, "no memory for the summary");
}

static int try_store(const struct info_options *options, struct tb_error *error)
{
	struct tb_runs *runs = NULL;
	int status = tb_runs_open(&runs, options->file, error);
	if (status == TB_OK)
		status = info_show_store(options, runs, error);
	tb_runs_free(runs);
	return status;
}

static int try_job(const struct info_options *options, struct tb_error *error)
{
	struct tb_job *job = NULL;
	int status = tb_job_read(&job, options->file, error);
	if (status == TB_OK)
		status = info_show_job(options, job, error);
	tb_job_free(job);
	return status;
}

static int try_packets(const struct info_options *options, struct tb_error *error)
{
	struct tb_packets *packets = NULL;
	int status = tb_packets_open(&packets, &options->file, 1, NULL, error);
	if (status == TB_OK)
		status = info_show_packets(options, packets, error);
	tb_packets_free(packets);
	return status;
}

// refuse_empty says of an empty file what each reader alone would say of its own format.
static int refuse_empty(const char *file, struct tb_error *error)
{
	struct stat entry;
	if (stat(file, &entry) != 0 || !S_ISREG(entry.st_mode) || entry.st_size != 0)
		return TB_OK;
	return tb_fail_in(error, TB_EFORMAT, file,
		"is empty: expected a store, a packet capture (pcap, pcapng) or a job "
		"(GOAL, flow list)");
}

// show asks one reader after the other. Standard input can be read but once, so there the
// user says what it is.
static int show(const struct info_options *options, struct tb_error *error)
{
	if (strcmp(options->file, "-") == 0)
		return options->stdin_is_job ? try_job(options, error)
					     : try_packets(options, error);
	int status = refuse_empty(options->file, error);
	if (status == TB_OK)
		status = try_store(options, error);
	if (status == TB_EFOREIGN)
		status = try_job(options, error);
	if (status == TB_EFOREIGN)
		status = try_packets(options, error);
	if (status == TB_EFOREIGN)
		return tb_fail_in(error, TB_EFOREIGN, options->file,
			"neither a store nor a packet capture (pcap, pcapng) nor a job "
			"(GOAL, flow list)");
	return status;
}

int tb_cmd_info(int argc, char **argv)
{
	static const struct argp argp = {argp_options, parse_option, "FILE",
		"Tell what is in a store, a packet capture or a job; '-' is standard "
		"input.\v"
		"Of a capture it tells what share of the network's capacity it asks for, "
		"and which --time-scale of 'tailback replay' would load the busiest node "
		"to a half.\n\n"
		"Examples:\n"
		"  tailback info run.db\n"
		"  tailback info run.db --json\n"
		"  tailback info capture.pcap.zst",
		NULL, NULL, NULL};
	struct info_options options = {.network = "qsnet"};
	struct tb_error error;
	argp_err_exit_status = TB_EXIT_USAGE;
	argp_parse(&argp, argc, argv, 0, NULL, &options);
	if (show(&options, &error) != TB_OK)
		return tb_cli_fail(&error);
	if (fflush(stdout) != 0) {
		tb_fail_in(&error, TB_EIO, "standard output", "writing failed");
		return tb_cli_fail(&error);
	}
	return TB_EXIT_OK;
}

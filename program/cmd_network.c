// tailback network: what a fabric is, and what its routes do, without a replay.
#include "cmd_network.h"
#include "cli.h"
#include "commands.h"
#include "network.h"

#define TOP_DEFAULT 10

static int run_network(const struct network_options *options, struct tb_error *error)
{
	struct tb_network *network = NULL;
	int status = network_open(options, &network, error);
	if (status != TB_OK)
		return status;
	if (TB_FORMATS_OF_NETWORKS >> options->picture.output.format & 1)
		status = network_copy(network, options, error);
	else if (options->from)
		status = network_paths(network, options, error);
	else
		status = network_report(network, options, error);
	tb_network_free(network);
	return status;
}

// list_networks prints what networks there are.
static int list_networks(const struct network_options *options)
{
	enum tb_format format = options->picture.output.format;
	int code = network_settle(options);
	if (code == TB_EXIT_OK && format != TB_FORMAT_TEXT && format != TB_FORMAT_JSON)
		code = tb_cli_usage(
			NETWORK_COMMAND, "the list is written as text or json");
	if (code == TB_EXIT_OK)
		code = tb_cmd_output_settle_width(&options->picture.output,
			NETWORK_COMMAND, options->picture.width);
	if (code != TB_EXIT_OK)
		return code;
	return network_list(format == TB_FORMAT_JSON, options->picture.width) == TB_OK
		       ? TB_EXIT_OK
		       : TB_EXIT_FAILURE;
}

// settle refuses what cannot be written, or has no effect; returns 0 or an exit code.
static int settle(struct network_options *options)
{
	const char *inputs[] = {options->network, options->routes, options->roots,
		options->names, options->traffic};
	enum { N_INPUTS = sizeof inputs / sizeof *inputs };
	struct tb_cmd_output *output = &options->picture.output;
	int code = tb_cmd_output_settle(output, NETWORK_COMMAND, inputs, N_INPUTS);
	if (code == TB_EXIT_OK && options->store)
		code = tb_cmd_spare(options->store, inputs, N_INPUTS);
	if (code == TB_EXIT_OK && options->from && output->format != TB_FORMAT_TEXT &&
		output->format != TB_FORMAT_JSON)
		code = tb_cli_usage(NETWORK_COMMAND, "a path is written as text or json");
	return code == TB_EXIT_OK ? network_settle(options) : code;
}

int tb_cmd_network(int argc, char **argv)
{
	struct network_options options = {.top = TOP_DEFAULT,
		.study.seed = 1,
		.picture.output = {.allowed = NETWORK_FORMATS, .file = "-"}};
	network_parse(&options, argc, argv);
	if (options.list)
		return list_networks(&options);
	int code = settle(&options);
	if (code != TB_EXIT_OK)
		return code;
	struct tb_error error = {0};
	return run_network(&options, &error) == TB_OK ? TB_EXIT_OK : tb_cli_fail(&error);
}

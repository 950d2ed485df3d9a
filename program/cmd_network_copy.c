// tailback network: the network itself, or its tables, as a file; and the paths between
// two of its hosts.
#include "cli.h"
#include "cmd_network.h"
#include "fabric_file_write.h"
#include "fabric_paths.h"
#include "names.h"
#include "preset_write.h"
#include "route_file_write.h"

#include <string.h>

struct copying {
	const struct tb_network *network;
	enum tb_format format;
};

static int write_network(void *context, FILE *stream, struct tb_error *error)
{
	static const enum tb_fabric_file_format formats[TB_N_FORMATS] = {
		[TB_FORMAT_IBNETDISCOVER] = TB_FABRIC_FILE_IBNETDISCOVER,
		[TB_FORMAT_EDGES] = TB_FABRIC_FILE_EDGES,
		[TB_FORMAT_DOT] = TB_FABRIC_FILE_DOT,
		[TB_FORMAT_GRAPH] = TB_FABRIC_FILE_GRAPH};
	const struct copying *copying = context;
	const struct tb_network_params *params = tb_network_params(copying->network);
	if (copying->format == TB_FORMAT_LFTS)
		return tb_route_file_write(stream, copying->network, error);
	if (copying->format != TB_FORMAT_INI)
		return tb_fabric_file_write(
			stream, copying->network, formats[copying->format], error);
	if (strcmp(params->shape, TB_SHAPE_FABRIC) == 0)
		return tb_fail(error, TB_EUSAGE,
			"an INI file describes a regular tree: write this fabric as "
			"ibnetdiscover or edges");
	tb_preset_write(params, stream);
	return TB_OK;
}

int network_copy(const struct tb_network *network, const struct network_options *options,
	struct tb_error *error)
{
	return tb_cmd_output_write(&options->picture.output, write_network,
		&(struct copying){network, options->picture.output.format}, error);
}

struct following {
	const struct tb_fabric_paths *paths;
	enum tb_format format;
};

static int write_paths(void *context, FILE *stream, struct tb_error *error)
{
	const struct following *following = context;
	int status = TB_OK;
	if (following->format == TB_FORMAT_JSON)
		status = tb_fabric_paths_json(following->paths, stream);
	else
		tb_fabric_paths_text(following->paths, stream);
	return status == TB_OK ? TB_OK : tb_fail_memory(error, "the network");
}

int network_paths(const struct tb_network *network, const struct network_options *options,
	struct tb_error *error)
{
	struct tb_named_nodes from, to;
	struct tb_fabric_paths *paths = NULL;
	int status = tb_names_find_nodes(network, options->from, &from, error);
	if (status == TB_OK)
		status = tb_names_find_nodes(network, options->to, &to, error);
	if (status == TB_OK)
		status = tb_fabric_paths_new(
			&paths, network, from, to, options->study.seed, error);
	if (status == TB_OK)
		status = tb_cmd_output_write(&options->picture.output, write_paths,
			&(struct following){paths, options->picture.output.format},
			error);
	tb_fabric_paths_free(paths);
	return status;
}

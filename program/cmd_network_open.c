// tailback network: opens the network, with its routes, and notes what is odd about it.
#include "cmd_network.h"
#include "fabric_traffic.h"
#include "network_open.h"
#include "preset.h"
#include "route_file.h"

#include <stdlib.h>
#include <string.h>

// note_remarks prints what was odd about a fabric's file or tables, as replay does.
static void note_remarks(const struct tb_network *network)
{
	for (uint32_t i = 0; i < tb_network_n_remarks(network); i++)
		fprintf(stderr, "tailback: note: %s: %s\n",
			tb_network_params(network)->name, tb_network_remark(network, i));
}

// add_file puts a file behind the network's name, where fabrics have it.
static int add_file(char **name, const char *option, enum tb_fabric_word key,
	const char *file, struct tb_error *error)
{
	char *longer = NULL;
	if (!file)
		return TB_OK;
	if (strchr(file, ','))
		return tb_fail(error, TB_EUSAGE,
			"--%s=%s: expected a file without a comma in its name", option,
			file);
	if (asprintf(&longer, "%s,%s=%s", *name, tb_fabric_words[key], file) < 0)
		return tb_fail_memory(error, "a name");
	free(*name);
	*name = longer;
	return TB_OK;
}

// needs_routes: all but the cables of a network do.
static bool needs_routes(const struct network_options *options)
{
	enum tb_format format = options->picture.output.format;
	return !(TB_FORMATS_OF_NETWORKS >> format & 1) || format == TB_FORMAT_LFTS;
}

// note_raised prints that a tree has more levels than it is described with, as replay
// does.
static void note_raised(const struct network_options *options, const char *name,
	const struct tb_network *network, uint32_t n_nodes)
{
	const struct tb_network_params *params = tb_network_params(network);
	struct tb_network_params asked;
	struct tb_error error;
	if (n_nodes == 0 || params->shape[0] ||
		tb_network_open_params(&asked, NULL, name, &error) != TB_OK ||
		asked.levels >= params->levels)
		return;
	fprintf(stderr,
		"tailback: note: %s needs %u nodes: the tree was raised to %u levels, %u "
		"nodes\n",
		options->traffic, n_nodes, params->levels, tb_network_n_hosts(network));
}

// nodes_of_traffic reads how many nodes the run of --traffic has; 0 where the user set
// the number of levels, which stays: the run has to fit.
static int nodes_of_traffic(
	const struct network_options *options, uint32_t *n_nodes, struct tb_error *error)
{
	if (!options->traffic || strstr(options->network, ",levels="))
		return TB_OK;
	return tb_fabric_traffic_nodes(options->traffic, options->run, n_nodes, error);
}

static int open_network(const struct network_options *options,
	struct tb_network **network, struct tb_error *error)
{
	char *name = strdup(options->network);
	int status = name ? TB_OK : tb_fail_memory(error, "a name");
	if (status == TB_OK)
		status = add_file(&name, "roots", TB_FABRIC_ROOTS, options->roots, error);
	if (status == TB_OK)
		status = add_file(
			&name, "node-name-map", TB_FABRIC_NAMES, options->names, error);
	uint32_t n_nodes = 0;
	if (status == TB_OK)
		status = nodes_of_traffic(options, &n_nodes, error);
	if (status == TB_OK)
		status = tb_network_open(network,
			&(struct tb_network_description){.name = name,
				.n_nodes = n_nodes,
				.leaves_out_routes = !needs_routes(options)},
			error);
	if (status == TB_OK)
		note_raised(options, name, *network, n_nodes);
	free(name);
	return status;
}

static int add_routes(struct tb_network *network, const struct network_options *options,
	struct tb_error *error)
{
	int status = TB_OK;
	if (!needs_routes(options))
		return TB_OK;
	if (options->routes)
		status = tb_route_file_open(network, options->routes, error);
	if (status == TB_OK && options->traffic)
		status = tb_fabric_traffic_apply(
			network, options->traffic, options->run, error);
	return status;
}

int network_open(const struct network_options *options, struct tb_network **network,
	struct tb_error *error)
{
	struct tb_network *opened = NULL;
	int status = open_network(options, &opened, error);
	if (status == TB_OK)
		status = add_routes(opened, options, error);
	if (status != TB_OK) {
		tb_network_free(opened);
		return status;
	}
	note_remarks(opened);
	*network = opened;
	return TB_OK;
}

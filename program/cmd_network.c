// tailback network: what a fabric is, and what its routes do, without a replay.
#include "cmd_network.h"

#include "cli.h"
#include "commands.h"
#include "fabric_formats.h"
#include "fabric_traffic.h"
#include "json.h"
#include "network_open.h"
#include "preset.h"
#include "route_file.h"
#include "switchings.h"
#include "wrap.h"

#include <stdlib.h>
#include <string.h>

#define COMMAND		"tailback network"
#define NETWORK_FORMATS (TB_FORMATS_OF_PICTURES | TB_FORMATS_OF_NETWORKS)

#define SAMPLES	     1000000
#define THREADS_MOST 1024
#define TOP_DEFAULT  10
#define TOP_MOST     1000

static void check_network_options(void *arguments, const struct argp_state *state)
{
	const struct network_options *options = arguments;
	if (!options->network && !options->list)
		argp_error(state, "a network is missing: -n NETWORK");
	if (options->routes && options->traffic)
		argp_error(state, "--traffic makes routes, and --routes has them");
	if (options->run && !options->traffic)
		argp_error(state, "--run is for --traffic");
	if (!options->from != !options->to)
		argp_error(state, "a path has two ends: --from HOST --to HOST");
	if (options->from && (options->view || options->store))
		argp_error(state, "a path is written as text or json");
}

#define AT(member) TB_AT(struct network_options, member)

static const struct tb_option option_rows[] = {
	{"network", 'n', "NETWORK",
		"Preset (%s), INI file or fabric, with changes after commas: "
		"qsnet,arity=8,levels=2, my.ini, fabric.ibnetdiscover,preset=ib-hdr",
		TB_TEXT, AT(network), .lines = tb_network_preset_names,
		.files = "\\.ini$"},
	{"routes", 0, "FILE",
		"Forwarding tables instead of the network's own routes, as InfiniBand's "
		"dump_lfts writes them, or OpenSM and ibdiagnet as .fdbs",
		TB_TEXT, AT(routes), .files = "."},
	{"traffic", 0, "RUN",
		"Routes for what the nodes sent each other in a run of a store (-f lfts "
		"writes them)",
		TB_TEXT, AT(traffic), .files = "\\.db$"},
	{"run", 0, "ID",
		"The run's number in the store of --traffic (default: the newest)",
		TB_COUNT, AT(run), .min = 1, .max = INT64_MAX},
	{"roots", 0, "FILE",
		"The top switches of a fabric, a GUID or name per line, as OpenSM's "
		"root_guid_file: levels are distances from them",
		TB_TEXT, AT(roots), .files = "."},
	{"node-name-map", 0, "FILE",
		"The names of a fabric's devices, a GUID and a name per line, as "
		"infiniband-diags take them",
		TB_TEXT, AT(names), .files = "."},
	{"hosts", 0, "LIST",
		"Only these hosts send and receive, such as n[0-15,20] or node[3-7], or "
		"those that a file lists",
		TB_TEXT, AT(hosts)},
	TB_OUTPUT_OPTIONS(struct network_options, picture.output, NETWORK_FORMATS),
	{"view", 0, NULL, "Show the tree in a window", TB_FLAG, AT(view)},
	{"list", 0, NULL,
		"List the networks and the keys behind their names, and exit (-f json)",
		TB_FLAG, AT(list)},
	{"store", 0, "FILE",
		"Also keep the pairs of all to all as a run in a store, for view, matrix "
		"and SQL",
		TB_TEXT, AT(store), .files = "\\.db$"},
	{"from", 0, "HOST",
		"Print the paths from this host to that of --to, and nothing else",
		TB_TEXT, AT(from)},
	{"to", 0, "HOST", "Where the paths lead", TB_TEXT, AT(to)},
	{"top", 0, "N", "List the N hottest links (10)", TB_COUNT, AT(top),
		.max = TOP_MOST},
	{"shifts", 0, "N",
		"Look at N shifts at most (1024; fewer of more than 16384 hosts)",
		TB_COUNT, AT(study.n_shifts), .min = 1, .max = SAMPLES},
	{"bisections", 0, "N",
		"Draw N random bisections (1000; fewer of more than 1048 hosts)",
		TB_COUNT, AT(study.n_bisections), .min = 1, .max = SAMPLES},
	{"seed", 0, "N", "Seed of what is drawn (1)", TB_COUNT, AT(study.seed),
		.max = INT64_MAX},
	{"threads", 0, "N", "Use N threads (default: one per core)", TB_COUNT,
		AT(study.n_workers), .min = 1, .max = THREADS_MOST},
	{"jobs", 0, "N", NULL, TB_COUNT, AT(study.n_workers), .min = 1,
		.max = THREADS_MOST, .hidden = true}, // the former name of --threads
	TB_COLOURS_OPTION(struct network_options, picture.colours),
	{"theme", 0, "NAME",
		"light (default of pictures) or dark (default of the window)", TB_WORD,
		AT(picture.theme), TB_SET(struct network_options, picture.theme_given),
		.word = tb_theme_name},
	{"width", 0, "N", "Pixels of a picture, points of a PDF, columns of text",
		TB_COUNT, AT(picture.width), .min = 40, .max = 32767},
	{0},
};

static const struct tb_options option_table = {
	.rows = option_rows,
	.doc = "Report what a fabric is and what its routes do, without a replay: levels "
	       "and taper, cables by speed, what is missing or not alike, bisection; "
	       "pairs of hosts over each link, and the share of its link that a host has "
	       "in shifts and in random bisections.\v"
	       "Examples:\n"
	       "  tailback network -n qsnet,arity=8,levels=2\n"
	       "  tailback network -n my.ini --routes lfts.txt -f json\n"
	       "  tailback network -n qsnet --from 'node 0' --to 'node 63'",
	.check = check_network_options,
};

// refuse_idle refuses options that have no effect on what is asked for; the format is
// known. Returns 0 or an exit code.
static int refuse_idle(const struct network_options *options)
{
	static const char *const of_list[] = {"list", "format", "width", NULL};
	static const char *const of_path[] = {"network", "routes", "traffic", "run",
		"roots", "node-name-map", "from", "to", "seed", "output", "format", NULL};
	static const char *const of_tables[] = {"network", "routes", "traffic", "run",
		"roots", "node-name-map", "output", "format", NULL};
	static const char *const of_cables[] = {"network", "traffic", "run", "roots",
		"node-name-map", "output", "format", NULL};
	enum tb_format format = options->picture.output.format;
	char with[40];
	if (options->list)
		return tb_given_settle(&options->given, COMMAND, of_list, "--list");
	if (options->from)
		return tb_given_settle(
			&options->given, COMMAND, of_path, "--from and --to");
	if (!(TB_FORMATS_OF_NETWORKS >> format & 1))
		return TB_EXIT_OK;
	snprintf(with, sizeof with, "-f %s", tb_format_name(format));
	return tb_given_settle(&options->given, COMMAND,
		format == TB_FORMAT_LFTS ? of_tables : of_cables, with);
}

// add_fabric_file puts a file behind the network's name, where fabrics have it.
static int add_fabric_file(char **name, const char *option, enum tb_fabric_word key,
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

static int add_given_routes(struct tb_network *network,
	const struct network_options *options, struct tb_error *error)
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

// network_open opens the network, with the routes that the options name where what is
// asked for needs routes, and prints notes of what is odd about it.
static int network_open(const struct network_options *options,
	struct tb_network **network, struct tb_error *error)
{
	struct tb_network *opened = NULL;
	char *name = strdup(options->network);
	int status = name ? TB_OK : tb_fail_memory(error, "a name");
	if (status == TB_OK)
		status = add_fabric_file(
			&name, "roots", TB_FABRIC_ROOTS, options->roots, error);
	if (status == TB_OK)
		status = add_fabric_file(
			&name, "node-name-map", TB_FABRIC_NAMES, options->names, error);
	uint32_t n_nodes = 0;
	// The tree gets room for the run of --traffic, unless the user set its levels.
	if (status == TB_OK && options->traffic && !strstr(options->network, ",levels="))
		status = tb_fabric_traffic_nodes(
			options->traffic, options->run, &n_nodes, error);
	if (status == TB_OK)
		status = tb_network_open(&opened,
			&(struct tb_network_description){.name = name,
				.n_nodes = n_nodes,
				.leaves_out_routes = !needs_routes(options)},
			error);
	if (status == TB_OK)
		note_raised(options, name, opened, n_nodes);
	free(name);
	if (status == TB_OK)
		status = add_given_routes(opened, options, error);
	if (status != TB_OK) {
		tb_network_free(opened);
		return status;
	}
	// Print what was odd about a fabric's file or tables, as replay does.
	for (uint32_t i = 0; i < tb_network_n_remarks(opened); i++)
		fprintf(stderr, "tailback: note: %s: %s\n",
			tb_network_params(opened)->name, tb_network_remark(opened, i));
	*network = opened;
	return TB_OK;
}

// print_network_row writes a name and what is behind it.
static void print_network_row(const char *name, const char *what, unsigned width)
{
	printf("  %-17s ", name);
	tb_wrap(stdout, 20, 20, width, what);
}

static void list_keys(
	const char *title, const struct tb_preset_key *keys, size_t n, unsigned width)
{
	char expects[240], text[512];
	printf("\n%s:\n", title);
	for (size_t i = 0; i < n; i++) {
		snprintf(text, sizeof text, "%s (%s)", keys[i].meaning,
			tb_preset_key_expects(&keys[i], expects, sizeof expects));
		print_network_row(keys[i].name, text, width);
	}
}

static void list_networks_text(char *names, unsigned width)
{
	size_t n;
	const struct tb_switching_kind *kinds = tb_switching_kinds(&n);
	char text[160];
	puts("Networks (-n NAME, or NAME,KEY=VALUE,...):");
	char *rest = names, *name;
	while ((name = strsep(&rest, "\n")) && *name)
		print_network_row(
			name, tb_network_preset_summary(name, text, sizeof text), width);
	puts("\nFabrics (-n FILE, or FILE,preset=NAME,KEY=VALUE,...):");
	for (size_t i = 0; tb_fabric_format(i); i++)
		printf("  %s\n", tb_fabric_format(i)->name);
	list_keys("Keys of all networks", tb_preset_keys, tb_preset_n_keys, width);
	for (size_t i = 0; i < n; i++) {
		snprintf(text, sizeof text, "Keys where switching = %s", kinds[i].name);
		list_keys(text, kinds[i].keys, kinds[i].n_keys, width);
	}
}

static json_t *add_keys(
	json_t *list, const char *switching, const struct tb_preset_key *keys, size_t n)
{
	char expects[240];
	for (size_t i = 0; i < n; i++)
		list = tb_json_append(list,
			json_pack("{s:s, s:s, s:s, s:s, s:s?}", "name", keys[i].name,
				"section", keys[i].section, "meaning", keys[i].meaning,
				"values",
				tb_preset_key_expects(&keys[i], expects, sizeof expects),
				"switching", switching));
	return list;
}

static int list_networks_json(char *names)
{
	size_t n;
	const struct tb_switching_kind *kinds = tb_switching_kinds(&n);
	json_t *networks = json_array(), *fabrics = json_array(), *keys = json_array();
	char text[160];
	char *rest = names, *name;
	while ((name = strsep(&rest, "\n")) && *name)
		networks = tb_json_append(networks,
			json_pack("{s:o, s:o}", "name", tb_json_text(name), "summary",
				tb_json_text(tb_network_preset_summary(
					name, text, sizeof text))));
	for (size_t i = 0; tb_fabric_format(i); i++)
		fabrics = tb_json_append(fabrics, json_string(tb_fabric_format(i)->name));
	keys = add_keys(keys, NULL, tb_preset_keys, tb_preset_n_keys);
	for (size_t i = 0; i < n; i++)
		keys = add_keys(keys, kinds[i].name, kinds[i].keys, kinds[i].n_keys);
	return tb_json_write(json_pack("{s:o, s:o, s:o}", "networks", networks,
				     "fabric_formats", fabrics, "keys", keys),
		17, stdout);
}

// network_list prints what networks there are and what they take; text in `width`
// columns, 0: those of the terminal.
static int network_list(bool as_json, uint64_t width)
{
	char *names = tb_network_preset_names();
	int status = names ? TB_OK : TB_ENOMEM;
	if (names && as_json)
		status = list_networks_json(names);
	else if (names)
		list_networks_text(names, tb_cmd_text_width(width, stdout, 0));
	free(names);
	return status;
}

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
	int code = refuse_idle(options);
	if (code == TB_EXIT_OK && format != TB_FORMAT_TEXT && format != TB_FORMAT_JSON)
		code = tb_cli_usage(COMMAND, "the list is written as text or json");
	if (code == TB_EXIT_OK)
		code = tb_cmd_output_settle_width(
			&options->picture.output, COMMAND, options->picture.width);
	if (code != TB_EXIT_OK)
		return code;
	return network_list(format == TB_FORMAT_JSON, options->picture.width) == TB_OK
		       ? TB_EXIT_OK
		       : TB_EXIT_FAILURE;
}

// settle_network_options refuses what cannot be written, or has no effect; returns 0 or
// an exit code.
static int settle_network_options(struct network_options *options)
{
	const char *inputs[] = {options->network, options->routes, options->roots,
		options->names, options->traffic};
	enum { N_INPUTS = sizeof inputs / sizeof *inputs };
	struct tb_cmd_output *output = &options->picture.output;
	int code =
		tb_cmd_output_settle(output, NETWORK_FORMATS, COMMAND, inputs, N_INPUTS);
	if (code == TB_EXIT_OK && options->store)
		code = tb_cmd_spare(options->store, inputs, N_INPUTS);
	if (code == TB_EXIT_OK && options->from && output->format != TB_FORMAT_TEXT &&
		output->format != TB_FORMAT_JSON)
		code = tb_cli_usage(COMMAND, "a path is written as text or json");
	return code == TB_EXIT_OK ? refuse_idle(options) : code;
}

int tb_cmd_network(int argc, char **argv)
{
	struct network_options options = {
		.top = TOP_DEFAULT, .study.seed = 1, .picture.output.file = "-"};
	tb_options_parse(&option_table, argc, argv, &options, &options.given);
	struct tb_error error = {0};
	int code =
		options.list ? list_networks(&options) : settle_network_options(&options);
	if (!options.list && code == TB_EXIT_OK && run_network(&options, &error) != TB_OK)
		code = tb_cli_fail(&error);
	tb_given_fini(&options.given);
	return code;
}

// tailback network: what a fabric is, and what its routes do, without a replay.
#include "cmd_network.h"
#include "cli.h"
#include "commands.h"
#include "fabric_file_write.h"
#include "fabric_paths.h"
#include "fabric_store.h"
#include "fabric_traffic.h"
#include "input_files.h"
#include "names.h"
#include "network_open.h"
#include "placement.h"
#include "preset.h"
#include "preset_write.h"
#include "progress.h"
#include "route_file.h"
#include "route_file_write.h"
#include "run_args.h"
#include "units.h"
#include "words_args.h"

#include <argp.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define COMMAND "tailback network"
#define FORMATS (TB_FORMATS_OF_PICTURES | TB_FORMATS_OF_NETWORKS)

#define TOP_DEFAULT  10
#define TOP_MOST     1000
#define SAMPLES	     1000000
#define THREADS_MOST 1024
#define ODD_MOST     20 // listed in text

enum key {
	KEY_ROUTES = 256,
	KEY_TRAFFIC,
	KEY_RUN,
	KEY_ROOTS,
	KEY_NAMES,
	KEY_HOSTS,
	KEY_FROM,
	KEY_TO,
	KEY_SEED,
	KEY_SHIFTS,
	KEY_BISECTIONS,
	KEY_TOP,
	KEY_THREADS,
	KEY_STORE,
	KEY_VIEW,
	KEY_LIST
};

static const struct argp_option argp_options[] = {
	{"network", 'n', "NETWORK", 0,
		"Preset (%s), INI file or fabric, with changes after commas: "
		"qsnet,arity=8,levels=2, my.ini, fabric.ibnetdiscover,preset=ib-hdr",
		0},
	{"routes", KEY_ROUTES, "FILE", 0,
		"Forwarding tables instead of the network's own routes, as InfiniBand's "
		"dump_lfts writes them, or OpenSM and ibdiagnet as .fdbs",
		0},
	{"traffic", KEY_TRAFFIC, "RUN", 0,
		"Routes for what the nodes sent each other in a run of a store "
		"(-f lfts writes them)",
		0},
	{"run", KEY_RUN, "ID", 0,
		"The run's number in the store of --traffic (default: the newest)", 0},
	{"roots", KEY_ROOTS, "FILE", 0,
		"The top switches of a fabric, a GUID or name per line, as OpenSM's "
		"root_guid_file: levels are distances from them",
		0},
	{"node-name-map", KEY_NAMES, "FILE", 0,
		"The names of a fabric's devices, a GUID and a name per line, as "
		"infiniband-diags take them",
		0},
	{"hosts", KEY_HOSTS, "LIST", 0,
		"Only these hosts send and receive, such as n[0-15,20] or node[3-7], or "
		"those that a file lists",
		0},
	TB_CMD_OUTPUT_OPTIONS,
	{"view", KEY_VIEW, 0, 0, "Show the tree in a window", 0},
	{"list", KEY_LIST, 0, 0,
		"List the networks and the keys behind their names, and exit (-f json)",
		0},
	{"store", KEY_STORE, "FILE", 0,
		"Also keep the pairs of all to all as a run in a store, for view, matrix "
		"and SQL",
		0},
	{"from", KEY_FROM, "HOST", 0,
		"Print the paths from this host to that of --to, and nothing else", 0},
	{"to", KEY_TO, "HOST", 0, "Where the paths lead", 0},
	{"top", KEY_TOP, "N", 0, "List the N hottest links (10)", 0},
	{"shifts", KEY_SHIFTS, "N", 0,
		"Look at N shifts at most (1024; fewer of more than 16384 hosts)", 0},
	{"bisections", KEY_BISECTIONS, "N", 0,
		"Draw N random bisections (1000; fewer of more than 1048 hosts)", 0},
	{"seed", KEY_SEED, "N", 0, "Seed of what is drawn (1)", 0},
	{"threads", KEY_THREADS, "N", 0, "Use N threads (default: one per core)", 0},
	{"jobs", KEY_THREADS, "N", OPTION_HIDDEN, NULL, 0}, // its name before
	TB_COLOURS_OPTION,
	{"theme", TB_OPTION_THEME, "NAME", 0,
		"light (default of pictures) or dark (default of the window)", 0},
	{"width", TB_OPTION_WIDTH, "N", 0,
		"Pixels of a picture, points of a PDF, columns of text", 0},
	{0},
};

static const struct tb_cmd_words words[] = {
	TB_CMD_OUTPUT_WORDS(FORMATS),
	TB_PICTURE_LOOK_WORDS,
	{.key = 'n', .lines = tb_network_preset_names},
	{0},
};

static uint64_t number(struct argp_state *state, const char *name, const char *text,
	uint64_t min, uint64_t max)
{
	uint64_t value = 0;
	if (tb_parse_count(text, min, max, &value) != TB_OK)
		argp_error(state, "%s takes a whole number from %llu to %llu, not '%s'",
			name, (unsigned long long)min, (unsigned long long)max, text);
	return value;
}

static void check(const struct network_options *options, struct argp_state *state)
{
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

static error_t parse_option(int key, char *text, struct argp_state *state)
{
	struct network_options *options = state->input;
	struct tb_route_study_options *study = &options->study;
	switch (key) {
	case 'n':
		options->network = text;
		break;
	case KEY_ROUTES:
		options->routes = text;
		break;
	case KEY_TRAFFIC:
		options->traffic = text;
		break;
	case KEY_RUN:
		options->run = tb_cmd_run_number(text, state);
		break;
	case KEY_ROOTS:
		options->roots = text;
		break;
	case KEY_NAMES:
		options->names = text;
		break;
	case KEY_HOSTS:
		options->hosts = text;
		break;
	case KEY_FROM:
		options->from = text;
		break;
	case KEY_TO:
		options->to = text;
		break;
	case KEY_SEED:
		study->seed = number(state, "--seed", text, 0, INT64_MAX);
		break;
	case KEY_SHIFTS:
		study->n_shifts = (uint32_t)number(state, "--shifts", text, 1, SAMPLES);
		break;
	case KEY_BISECTIONS:
		study->n_bisections =
			(uint32_t)number(state, "--bisections", text, 1, SAMPLES);
		break;
	case KEY_TOP:
		options->top = (uint32_t)number(state, "--top", text, 0, TOP_MOST);
		break;
	case KEY_THREADS:
		study->n_workers =
			(unsigned)number(state, "--threads", text, 1, THREADS_MOST);
		break;
	case KEY_STORE:
		options->store = text;
		break;
	case KEY_VIEW:
		options->view = true;
		break;
	case KEY_LIST:
		options->list = true;
		break;
	case ARGP_KEY_ARG:
		argp_error(state, "'%s' is too many: there are options only", text);
		break;
	case ARGP_KEY_END:
		check(options, state);
		break;
	default:
		return tb_cmd_picture_arg(key, text, state, &options->picture);
	}
	return 0;
}

static void show_progress(void *context, double fraction)
{
	struct tb_progress *progress = context;
	if (tb_progress_due(progress))
		tb_progress_show(progress, fraction, "following routes");
}

struct network_writing {
	const struct tb_fabric_report *report;
	enum tb_format format;
	uint64_t width;
};

static int write_report(void *context, FILE *stream, struct tb_error *error)
{
	const struct network_writing *writing = context;
	int status = TB_OK;
	if (writing->format == TB_FORMAT_JSON)
		status = tb_fabric_write_json(writing->report, stream);
	else if (writing->format == TB_FORMAT_CSV)
		tb_fabric_write_csv(writing->report, stream);
	else
		status = tb_fabric_write_text(writing->report,
			tb_cmd_text_width(writing->width, stream, 0), stream);
	return status == TB_OK ? TB_OK : tb_fail_memory(error, "the network");
}

static bool is_one_of(unsigned formats, const struct network_options *options)
{
	return formats >> options->picture.output.format & 1;
}

// put hands the report to where it is asked for.
static int put(const struct network_options *options,
	const struct tb_fabric_report *report, struct tb_error *error)
{
	enum tb_format format = options->picture.output.format;
	int status = TB_OK;
	if (options->store)
		status = tb_fabric_store(report, options->store, error);
	if (status != TB_OK)
		return status;
	if (options->view)
		return network_view(options, report, error);
	if (is_one_of(TB_FORMATS_DRAWN, options))
		return network_draw(options, report, error);
	return tb_cmd_output_write(&options->picture.output, write_report,
		&(struct network_writing){report, format, options->picture.width}, error);
}

// choose_hosts takes the hosts that the options list, or all that send.
static int choose_hosts(const struct tb_network *network, const char *list,
	struct tb_fabric_hosts *chosen, struct tb_error *error)
{
	struct tb_hosts hosts = {0};
	int status = !list ? TB_OK
		     : tb_input_is_file(list)
			     ? tb_hosts_read(&hosts, list, network, error)
			     : tb_hosts_parse(&hosts, list, NULL, network, error);
	uint32_t *nodes = malloc((hosts.n + 1u) * sizeof *nodes);
	if (status == TB_OK && !nodes)
		status = tb_fail_memory(error, "the hosts");
	for (uint32_t i = 0; status == TB_OK && i < hosts.n; i++) {
		nodes[i] = hosts.hosts[i].node;
		if (nodes[i] >= tb_network_n_nodes(network))
			status = tb_fail(error, TB_EUSAGE,
				"--hosts=%s: the network has %u nodes", list,
				tb_network_n_nodes(network));
	}
	if (status == TB_OK)
		status = tb_fabric_hosts_init(chosen, network, nodes, hosts.n, error);
	free(nodes);
	tb_hosts_fini(&hosts);
	return status;
}

// look studies the network, and puts what it found where it is asked for.
static int look(const struct tb_network *network, const struct network_options *options,
	const struct tb_fabric_hosts *hosts, struct tb_error *error)
{
	struct tb_fabric fabric = {0};
	struct tb_route_study study = {0};
	struct tb_progress progress;
	struct tb_route_study_options asked = options->study;
	asked.hosts = hosts;
	asked.progress = show_progress;
	asked.context = &progress;
	int status = tb_fabric_init(&fabric, network, hosts, error);
	if (status == TB_OK) {
		tb_progress_init(&progress, STDERR_FILENO);
		status = tb_route_study_init(&study, network, &asked, error);
		tb_progress_done(&progress);
	}
	if (status == TB_OK)
		status = put(options,
			&(struct tb_fabric_report){.fabric = &fabric,
				.study = &study,
				.name = options->network,
				.routes = options->routes    ? options->routes
					  : options->traffic ? options->traffic
							     : "",
				.is_for_traffic = options->traffic != NULL,
				.traffic_run = options->run,
				.seed = asked.seed,
				.n_hottest = options->top,
				.n_odd = ODD_MOST},
			error);
	tb_route_study_fini(&study);
	tb_fabric_fini(&fabric);
	return status;
}

// report looks at the network and reports what it found.
static int report(const struct tb_network *network, const struct network_options *options,
	struct tb_error *error)
{
	struct tb_fabric_hosts hosts = {0};
	int status = choose_hosts(network, options->hosts, &hosts, error);
	if (status == TB_OK)
		status = look(network, options, &hosts, error);
	tb_fabric_hosts_fini(&hosts);
	return status;
}

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

// copy writes the network itself.
static int copy(const struct tb_network *network, const struct network_options *options,
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

static int trace_paths(const struct tb_network *network,
	const struct network_options *options, struct tb_error *error)
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
	return !is_one_of(TB_FORMATS_OF_NETWORKS, options) ||
	       options->picture.output.format == TB_FORMAT_LFTS;
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

static int run_network(const struct network_options *options, struct tb_error *error)
{
	struct tb_network *network = NULL;
	int status = open_network(options, &network, error);
	bool copies = status == TB_OK && is_one_of(TB_FORMATS_OF_NETWORKS, options);
	if (status == TB_OK && options->routes && needs_routes(options))
		status = tb_route_file_open(network, options->routes, error);
	if (status == TB_OK && options->traffic && needs_routes(options))
		status = tb_fabric_traffic_apply(
			network, options->traffic, options->run, error);
	if (status == TB_OK)
		note_remarks(network);
	if (status == TB_OK && copies)
		status = copy(network, options, error);
	else if (status == TB_OK)
		status = options->from ? trace_paths(network, options, error)
				       : report(network, options, error);
	tb_network_free(network);
	return status;
}

int tb_cmd_network(int argc, char **argv)
{
	static const struct argp argp = {argp_options, parse_option, NULL,
		"Report what a fabric is and what its routes do, without a replay: "
		"levels and taper, cables by speed, what is missing or not alike, "
		"bisection; pairs of hosts over each link, and the share of its link "
		"that a host has in shifts and in random bisections.\v"
		"Examples:\n"
		"  tailback network -n qsnet,arity=8,levels=2\n"
		"  tailback network -n my.ini --routes lfts.txt -f json\n"
		"  tailback network -n qsnet --from 'node 0' --to 'node 63'",
		NULL, NULL, NULL};
	struct network_options options = {.top = TOP_DEFAULT,
		.study.seed = 1,
		.picture.output = {.allowed = FORMATS, .file = "-"}};
	tb_cmd_parse(&argp, words, argc, argv, 0, &options);
	const char *inputs[] = {options.network, options.routes, options.roots,
		options.names, options.traffic};
	enum { N_INPUTS = sizeof inputs / sizeof *inputs };
	if (options.list)
		return network_list(options.picture.output.format == TB_FORMAT_JSON,
			       options.picture.width) == TB_OK
			       ? TB_EXIT_OK
			       : TB_EXIT_FAILURE;
	int code =
		tb_cmd_output_settle(&options.picture.output, COMMAND, inputs, N_INPUTS);
	if (code == TB_EXIT_OK && options.store)
		code = tb_cmd_spare(options.store, inputs, N_INPUTS);
	if (code == TB_EXIT_OK && options.from &&
		options.picture.output.format != TB_FORMAT_TEXT &&
		options.picture.output.format != TB_FORMAT_JSON)
		code = tb_cli_usage(COMMAND, "a path is written as text or json");
	if (code != TB_EXIT_OK)
		return code;
	struct tb_error error = {0};
	if (run_network(&options, &error) != TB_OK)
		return tb_cli_fail(&error);
	return TB_EXIT_OK;
}

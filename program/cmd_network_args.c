// tailback network: its options, and which of them have an effect on what is asked for.
#include "cli.h"
#include "cmd_network.h"
#include "commands.h"
#include "preset.h"
#include "run_args.h"
#include "units.h"
#include "words_args.h"

#define SAMPLES	     1000000
#define THREADS_MOST 1024
#define TOP_MOST     1000

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
	TB_CMD_OUTPUT_WORDS(NETWORK_FORMATS),
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
	tb_cmd_given_note(&options->given, key);
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

int network_settle(const struct network_options *options)
{
	static const int of_list[] = {KEY_LIST, 'f', TB_OPTION_WIDTH, 0};
	static const int of_path[] = {'n', KEY_ROUTES, KEY_TRAFFIC, KEY_RUN, KEY_ROOTS,
		KEY_NAMES, KEY_FROM, KEY_TO, KEY_SEED, 'o', 'f', 0};
	static const int of_tables[] = {
		'n', KEY_ROUTES, KEY_TRAFFIC, KEY_RUN, KEY_ROOTS, KEY_NAMES, 'o', 'f', 0};
	static const int of_cables[] = {
		'n', KEY_TRAFFIC, KEY_RUN, KEY_ROOTS, KEY_NAMES, 'o', 'f', 0};
	enum tb_format format = options->picture.output.format;
	bool is_tables = format == TB_FORMAT_LFTS;
	char with[40];
	if (options->list)
		return tb_cmd_given_settle(&options->given, argp_options, NETWORK_COMMAND,
			of_list, "--list");
	if (options->from)
		return tb_cmd_given_settle(&options->given, argp_options, NETWORK_COMMAND,
			of_path, "--from and --to");
	if (!(TB_FORMATS_OF_NETWORKS >> format & 1))
		return TB_EXIT_OK;
	snprintf(with, sizeof with, "-f %s", tb_format_name(format));
	return tb_cmd_given_settle(&options->given, argp_options, NETWORK_COMMAND,
		is_tables ? of_tables : of_cables, with);
}

void network_parse(struct network_options *options, int argc, char **argv)
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
	tb_cmd_parse(&argp, words, argc, argv, 0, options);
}

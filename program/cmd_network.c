// tailback network: what a fabric is, and what its routes do, without a replay.
#include "cli.h"
#include "commands.h"
#include "fabric_file_write.h"
#include "fabric_formats.h"
#include "fabric_paths.h"
#include "fabric_report.h"
#include "fabric_store.h"
#include "fabric_traffic.h"
#include "faults.h"
#include "input_files.h"
#include "json.h"
#include "names.h"
#include "network.h"
#include "network_open.h"
#include "picture_args.h"
#include "placement.h"
#include "preset.h"
#include "progress.h"
#include "route_file.h"
#include "route_file_write.h"
#include "schemas.h"
#include "session.h"
#include "shell.h"
#include "switchings.h"
#include "temporary.h"
#include "text_lines.h"
#include "tree_picture.h"
#include "wrap.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define COMMAND		"tailback network"
#define NETWORK_FORMATS (TB_FORMATS_OF_PICTURES | TB_FORMATS_OF_NETWORKS)

#define SAMPLES	     1000000
#define THREADS_MOST 1024
#define TOP_DEFAULT  10
#define TOP_MOST     1000
#define ODD_MOST     20 // listed in text

struct network_options {
	const char *network, *routes, *names;
	const char *traffic; // store of a run; NULL: none
	int64_t run;	     // in it; 0: the newest
	struct tb_texts faults;
	const char *fault_file;
	const char *hosts;     // that send and receive; NULL: all
	const char *from, *to; // of a path; NULL: none is asked for
	const char *store;     // NULL: none
	bool view, list;
	struct tb_route_study_options study;
	uint32_t top;
	struct tb_picture_args picture;
	struct tb_given given;
};

static void check_network_options(void *arguments, const struct argp_state *state)
{
	const struct network_options *options = arguments;
	if (!options->network && !options->list)
		argp_error(state, "a network is missing: name one, or use --list");
	if (!options->from != !options->to)
		argp_error(state, "a path has two ends: --from HOST --to HOST");
}

#define AT(member) TB_AT(struct network_options, member)

static const char *const fault_words[] = {"link=", "switch=", NULL};

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
		"Compute routes for what the nodes sent each other in a run of a store "
		"(-f lfts writes them)",
		TB_TEXT, AT(traffic), .files = "\\.db$", .excludes = "routes"},
	{"run", 0, "ID",
		"The run's number in the store of --traffic (default: the newest)",
		TB_COUNT, AT(run), .min = 1, .max = INT64_MAX, .needs = "traffic"},
	{"fault", 0, "WHAT",
		"Leave out a cable or switch that is dead: link=0.1:4, "
		"link=leaf1:Ethernet104, switch=1.4; may be given again",
		TB_TEXTS, AT(faults), .list = fault_words},
	{"fault-file", 0, "FILE", "Faults from a file, one per line", TB_TEXT,
		AT(fault_file), .files = ".", .seldom = true},
	{"node-name-map", 0, "FILE",
		"The names of a fabric's devices, a GUID and a name per line, as "
		"infiniband-diags take them",
		TB_TEXT, AT(names), .files = ".", .seldom = true},
	{"hosts", 0, "LIST",
		"Only these hosts, adapters or rails send and receive, such as "
		"n[0-15,20], mlx5_[0-3], rail0, or the hosts that a file lists",
		TB_TEXT, AT(hosts)},
	TB_OUTPUT_OPTIONS(struct network_options, picture.output, NETWORK_FORMATS),
	TB_SCHEMA_TEXT_OPTION("-f json", tb_schema_network_schema_json),
	{"view", 0, NULL, "Show the tree in a window", TB_FLAG, AT(view)},
	{"list", 0, NULL,
		"List the networks and the keys behind their names, and exit (-f json)",
		TB_FLAG, AT(list)},
	{"store", 0, "FILE",
		"Also store the pairs of all to all as a run, for view, matrix and SQL",
		TB_TEXT, AT(store), .files = "\\.db$"},
	{"from", 0, "HOST",
		"Print the paths from this host to that of --to, and nothing else",
		TB_TEXT, AT(from)},
	{"to", 0, "HOST", "The destination of the paths", TB_TEXT, AT(to)},
	{"top", 0, "N", "List the N hottest links (10)", TB_COUNT, AT(top),
		.max = TOP_MOST},
	{"shifts", 0, "N",
		"Study at most N shifts (1024; fewer of more than 16384 hosts)", TB_COUNT,
		AT(study.n_shifts), .min = 1, .max = SAMPLES, .seldom = true},
	{"bisections", 0, "N",
		"Draw N random bisections (1000; fewer of more than 1048 hosts)",
		TB_COUNT, AT(study.n_bisections), .min = 1, .max = SAMPLES,
		.seldom = true},
	{"seed", 0, "N", "Seed of the random choices (1)", TB_COUNT, AT(study.seed),
		.max = INT64_MAX, .seldom = true},
	{"threads", 0, "N", "Use N threads (default: one per core)", TB_COUNT,
		AT(study.n_workers), .min = 1, .max = THREADS_MOST, .seldom = true},
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
	.args_doc = "[NETWORK]",
	.doc = "Report what a fabric is and what its routes do, without a replay: levels "
	       "and taper, cables by speed, what is missing or not alike, bisection; "
	       "pairs of hosts over each link, and the share of its link that a host has "
	       "in shifts and in random bisections.\vExamples:\n"
	       "  tailback network qsnet,arity=8,levels=2\n"
	       "  tailback network my.ini --routes lfts.txt -f json\n"
	       "  tailback network qsnet --from 'node 0' --to 'node 63'",
	.operand = {"network", .kind = TB_TEXT, AT(network),
		.lines = tb_network_preset_names, .files = "."},
	.check = check_network_options,
};

// refuse_idle refuses options that have no effect on what is asked for; the format is
// known. Returns 0 or an exit code.
static int refuse_idle(const struct network_options *options)
{
	static const char *const of_list[] = {"list", "format", "width", NULL};
	static const char *const of_path[] = {"network", "routes", "traffic", "run",
		"node-name-map", "from", "to", "seed", "fault", "fault-file", "output",
		"format", NULL};
	static const char *const of_tables[] = {"network", "routes", "traffic", "run",
		"node-name-map", "fault", "fault-file", "output", "format", NULL};
	static const char *const of_cables[] = {
		"network", "traffic", "run", "node-name-map", "output", "format", NULL};
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

// add_name_map puts the map's file behind the network's name, where fabrics have it.
static int add_name_map(char **name, const char *file, struct tb_error *error)
{
	char *longer = NULL;
	if (!file)
		return TB_OK;
	if (strchr(file, ','))
		return tb_fail(error, TB_EUSAGE,
			"--node-name-map=%s: expected a file without a comma in its name",
			file);
	if (asprintf(&longer, "%s,%s=%s", *name, tb_fabric_words[TB_FABRIC_NAMES], file) <
		0)
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

static bool has_faults(const struct network_options *options)
{
	return options->faults.n > 0 || options->fault_file;
}

static int take_faults_out(struct tb_network *network,
	const struct network_options *options, struct tb_error *error)
{
	struct tb_faults *faults = NULL;
	int status = tb_faults_new(&faults, network, error);
	for (size_t i = 0; status == TB_OK && i < options->faults.n; i++)
		status = tb_faults_add(faults, options->faults.of[i], error);
	if (status == TB_OK && options->fault_file)
		status = tb_faults_read(faults, options->fault_file, error);
	if (status == TB_OK)
		status = tb_faults_take_out(faults, network, error);
	tb_faults_free(faults);
	return status;
}

// write_faults writes the options of faults as of a command; free it.
static char *write_faults(const struct network_options *options)
{
	char *text = NULL;
	size_t size;
	FILE *stream = open_memstream(&text, &size);
	if (!stream)
		return NULL;
	for (size_t i = 0; i < options->faults.n; i++) {
		fputs(i ? " --fault " : "--fault ", stream);
		tb_shell_put(stream, options->faults.of[i]);
	}
	if (options->fault_file) {
		fputs(options->faults.n ? " --fault-file " : "--fault-file ", stream);
		tb_shell_put(stream, options->fault_file);
	}
	return tb_text_written(stream, &text);
}

// draw_one_rail replaces a preset's network of several rails, all alike, by one of them
// where it is to be drawn.
static int draw_one_rail(const struct network_options *options,
	struct tb_network **network, struct tb_error *error)
{
	struct tb_network_params params = *tb_network_params(*network);
	if (!(TB_FORMATS_DRAWN >> options->picture.output.format & 1) ||
		params.n_rails == 1 || strcmp(params.shape, TB_SHAPE_FABRIC) == 0 ||
		options->routes || options->traffic || options->hosts ||
		has_faults(options))
		return TB_OK;
	tb_network_free(*network);
	*network = NULL;
	params.n_rails = 1;
	return tb_network_open(network,
		&(struct tb_network_description){
			.name = options->network, .params = &params},
		error);
}

// What the network was before parts of it were left out.
struct network_whole {
	uint32_t n_rails, n_dead; // cables
};

static int add_given_routes(struct tb_network *network,
	const struct network_options *options, struct network_whole *whole,
	struct tb_error *error)
{
	int status = TB_OK;
	uint32_t n_links = tb_network_n_links(network);
	if (!needs_routes(options))
		return TB_OK;
	if (options->routes)
		status = tb_route_file_open(network, options->routes, error);
	if (status == TB_OK && has_faults(options))
		status = take_faults_out(network, options, error);
	whole->n_dead = (n_links - tb_network_n_links(network)) / 2;
	if (status == TB_OK && options->traffic)
		status = tb_fabric_traffic_apply(
			network, options->traffic, options->run, error);
	return status;
}

// network_open opens the network, with the routes that the options name where what is
// asked for needs routes, without what is dead, and prints notes of what is odd about it.
// A picture may have one of its rails.
static int network_open(const struct network_options *options,
	struct tb_network **network, struct network_whole *whole, struct tb_error *error)
{
	struct tb_network *opened = NULL;
	char *name = strdup(options->network);
	int status = name ? TB_OK : tb_fail_memory(error, "a name");
	if (status == TB_OK)
		status = add_name_map(&name, options->names, error);
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
	if (status == TB_OK) {
		note_raised(options, name, opened, n_nodes);
		whole->n_rails = tb_network_n_rails(opened);
		status = draw_one_rail(options, &opened, error);
	}
	free(name);
	if (status == TB_OK)
		status = add_given_routes(opened, options, whole, error);
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
	puts("\nHosts (-H LIBRARY@GENERATION, or host= behind a network):");
	char *hosts = tb_host_preset_names();
	for (rest = hosts; rest && (name = strsep(&rest, "\n")) && *name;)
		if (strchr(name, '@'))
			printf("  %s\n", name);
	free(hosts);
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

// network_list prints what networks there are and what they take; text in `width`
// columns, 0: those of the terminal.
static int network_list(bool as_json, uint64_t width)
{
	char *names = tb_network_preset_names();
	int status = names ? TB_OK : TB_ENOMEM;
	if (names && as_json) {
		size_t n;
		const struct tb_switching_kind *kinds = tb_switching_kinds(&n);
		json_t *networks = json_array(), *fabrics = json_array(),
		       *keys = json_array(), *hosts = json_array();
		char text[160];
		char *rest = names, *name;
		while ((name = strsep(&rest, "\n")) && *name)
			networks = tb_json_append(
				networks, json_pack("{s:o, s:o}", "name",
						  tb_json_text(name), "summary",
						  tb_json_text(tb_network_preset_summary(
							  name, text, sizeof text))));
		char *host_names = tb_host_preset_names();
		for (rest = host_names; rest && (name = strsep(&rest, "\n")) && *name;)
			hosts = tb_json_append(hosts, tb_json_text(name));
		free(host_names);
		for (size_t i = 0; tb_fabric_format(i); i++)
			fabrics = tb_json_append(
				fabrics, json_string(tb_fabric_format(i)->name));
		keys = add_keys(keys, NULL, tb_preset_keys, tb_preset_n_keys);
		for (size_t i = 0; i < n; i++)
			keys = add_keys(
				keys, kinds[i].name, kinds[i].keys, kinds[i].n_keys);
		status = tb_json_write(
			json_pack("{s:o, s:o, s:o, s:o}", "networks", networks, "hosts",
				hosts, "fabric_formats", fabrics, "keys", keys),
			17, stdout);
	} else if (names)
		list_networks_text(names, tb_cmd_text_width(width, stdout, 0));
	free(names);
	return status;
}

// The viewer and figures read runs of stores. What the routes do is made one, in a folder
// that is removed again.
struct network_store {
	struct tb_temporary folder;
	char path[TB_TEMPORARY_FILE_BYTES];
};

static int make_network_store(struct network_store *beside,
	const struct tb_fabric_report *report, struct tb_error *error)
{
	int status = tb_temporary_init(&beside->folder, "the picture", error);
	if (status != TB_OK)
		return status;
	tb_temporary_file(&beside->folder, "network.db", beside->path);
	return tb_fabric_store(report, beside->path, error);
}

struct drawing {
	const struct network_options *options;
	const struct tb_fabric_report *report;
	struct tb_run *run;
	struct tb_error *error;
};

static void mark_odd_link(const struct tb_network *net, struct tb_link link, uint8_t *odd)
{
	odd[link.id] = odd[tb_network_link(net, link).reverse.id] = 1;
}

// mark_odd marks the links that are not alike, and lists where cables are missing.
static void mark_odd(const struct tb_fabric *fabric, struct tb_tree_figure *figure,
	uint8_t *odd, struct tb_tree_gap *gaps)
{
	const struct tb_network *net = fabric->network;
	for (uint32_t i = 0; i < fabric->n_oddities; i++) {
		const struct tb_oddity *at = &fabric->oddities[i];
		bool is_crossed = at->kind == TB_ODDITY_CROSSED;
		if (is_crossed || at->kind == TB_ODDITY_MISSING)
			gaps[figure->n_gaps++] =
				(struct tb_tree_gap){at->sw.id, at->other.id};
		if (tb_oddity_types[at->kind].has & TB_ODDITY_HAS_LINK)
			mark_odd_link(net, at->link, odd);
		bool is_swapped =
			at->kind == TB_ODDITY_OUT_OF_ORDER && at->n == at->usual;
		if (!is_crossed && !is_swapped)
			continue;
		for (uint32_t link = 0; link < tb_network_n_links(net); link++) {
			struct tb_link_info info =
				tb_network_link(net, (struct tb_link){link});
			bool is_extra = is_crossed && info.kind == TB_LINK_UP &&
					info.from == at->sw.id && info.to == at->group;
			bool is_partner = is_swapped && info.kind == TB_LINK_INJECTION &&
					  info.from == at->n;
			if (is_extra || is_partner)
				mark_odd_link(net, (struct tb_link){link}, odd);
		}
	}
	figure->odd = odd;
	figure->gaps = gaps;
}

static int draw_network_tree(void *context, struct tb_picture *picture)
{
	const struct drawing *drawing = context;
	struct tb_fabric_verdict verdict;
	const char *notes[TB_VERDICT_SENTENCES + 1] = {NULL};
	tb_fabric_judge(drawing->report, &verdict);
	for (int i = 0; i < verdict.n; i++)
		notes[i] = verdict.sentences[i];
	struct tb_tree_figure figure = {.run = drawing->run,
		.metric = TB_BUSY,
		.colours = drawing->options->picture.colours,
		.theme = drawing->options->picture.theme,
		.width = (double)drawing->options->picture.width,
		.title = drawing->report->name,
		.measure = "load of a link in terms of the hottest, all to all",
		.notes = notes};
	const struct tb_fabric *fabric = drawing->report->fabric;
	uint8_t *odd = calloc(tb_network_n_links(fabric->network) + 1u, 1);
	struct tb_tree_gap *gaps = malloc((fabric->n_oddities + 1u) * sizeof *gaps);
	int status = TB_OK;
	if (!odd || !gaps) {
		status = tb_fail_memory(drawing->error, "the picture");
	} else if (fabric->n_oddities > 0) {
		figure.measure = "load of a link in terms of the hottest of those alike, "
				 "all to all";
		mark_odd(fabric, &figure, odd, gaps);
	}
	if (status == TB_OK)
		status = tb_tree_picture(picture, &figure, drawing->error);
	free(odd);
	free(gaps);
	return status;
}

static void show_following(void *line, double share)
{
	tb_cli_show_share(line, share, "following routes");
}

// put_network_report hands the report to where it is asked for.
static int put_network_report(const struct network_options *options,
	const struct tb_fabric_report *report, struct tb_error *error)
{
	enum tb_format format = options->picture.output.format;
	int status = TB_OK;
	if (options->store)
		status = tb_fabric_store(report, options->store, error);
	if (status != TB_OK)
		return status;
	if (options->view) {
		struct network_store beside = {.path = ""};
		status = make_network_store(&beside, report, error);
		const struct tb_session_options session = {.store = beside.path,
			.width = 1280,
			.height = 720,
			.theme = options->picture.theme_given ? options->picture.theme
							      : TB_DARK,
			.colours = options->picture.colours,
			.metric = TB_BUSY,
			.given_metric = true,
			.stop = tb_cli_catch_stop()};
		if (status == TB_OK)
			status = tb_session_run(&session, error);
		tb_temporary_fini(&beside.folder);
		return status;
	}
	if (TB_FORMATS_DRAWN >> format & 1) {
		struct network_store beside = {.path = ""};
		struct drawing drawing = {options, report, NULL, error};
		status = make_network_store(&beside, report, error);
		if (status == TB_OK)
			status = tb_run_open(&drawing.run, beside.path, 0, error);
		if (status == TB_OK)
			status = tb_cmd_picture_write(&options->picture,
				&(struct tb_cmd_figure){.context = &drawing,
					.picture = draw_network_tree},
				error);
		tb_run_free(drawing.run);
		tb_temporary_fini(&beside.folder);
		return status;
	}
	struct tb_outfile out;
	status = tb_outfile_open(&out, options->picture.output.file, error);
	if (status != TB_OK)
		return status;
	if (format == TB_FORMAT_JSON)
		status = tb_fabric_write_json(report, out.stream);
	else if (format == TB_FORMAT_CSV)
		tb_fabric_write_csv(report, out.stream);
	else
		status = tb_fabric_write_text(report,
			tb_cmd_text_width(options->picture.width, out.stream, 0),
			out.stream);
	if (status != TB_OK)
		status = tb_fail_memory(error, "the network");
	return tb_cmd_output_end(&out, status, error);
}

// read_hosts reads the nodes of a file's hosts, which are on all rails.
static int read_hosts(uint32_t **nodes, uint32_t *n, const char *path,
	const struct tb_network *network, struct tb_error *error)
{
	struct tb_hosts hosts = {0};
	uint32_t n_hosts = tb_network_n_hosts(network);
	uint32_t n_rails = tb_network_n_rails(network), made = 0;
	int status = tb_hosts_read(&hosts, path, network, error);
	if (status != TB_OK)
		return status;
	uint32_t *list = malloc(((size_t)hosts.n * n_rails + 1) * sizeof *list);
	if (!list)
		status = tb_fail_memory(error, "the hosts");
	for (uint32_t i = 0; status == TB_OK && i < hosts.n; i++) {
		uint32_t node = hosts.hosts[i].node;
		if (node >= n_hosts * n_rails)
			status = tb_fail(error, TB_EUSAGE,
				"--hosts=%s: the network has %u nodes", path,
				n_hosts * n_rails);
		for (uint32_t rail = 0; status == TB_OK && rail < n_rails; rail++)
			list[made++] = node % n_hosts + rail * n_hosts;
	}
	tb_hosts_fini(&hosts);
	if (status != TB_OK) {
		free(list);
		return status;
	}
	*nodes = list;
	*n = made;
	return TB_OK;
}

// choose_hosts takes the hosts that the options list, or all that send.
static int choose_hosts(const struct tb_network *network, const char *list,
	struct tb_fabric_hosts *chosen, struct tb_error *error)
{
	uint32_t *nodes = NULL, n = 0;
	int status = !list ? TB_OK
		     : tb_input_is_file(list)
			     ? read_hosts(&nodes, &n, list, network, error)
			     : tb_hosts_select(&nodes, &n, list, network, error);
	if (status == TB_OK && list && n == 0)
		status = tb_fail(error, TB_EUSAGE, "--hosts=%s selects no adapter", list);
	if (status == TB_OK)
		status = tb_fabric_hosts_init(chosen, network, nodes, n, error);
	free(nodes);
	return status;
}

static int write_network_file(const struct tb_network *network, enum tb_format format,
	FILE *stream, struct tb_error *error)
{
	static const enum tb_fabric_file_format formats[TB_N_FORMATS] = {
		[TB_FORMAT_IBNETDISCOVER] = TB_FABRIC_FILE_IBNETDISCOVER,
		[TB_FORMAT_EDGES] = TB_FABRIC_FILE_EDGES,
		[TB_FORMAT_DOT] = TB_FABRIC_FILE_DOT,
		[TB_FORMAT_GRAPH] = TB_FABRIC_FILE_GRAPH};
	const struct tb_network_params *params = tb_network_params(network);
	if (format == TB_FORMAT_LFTS)
		return tb_route_file_write(stream, network, error);
	if (format != TB_FORMAT_INI)
		return tb_fabric_file_write(stream, network, formats[format], error);
	if (strcmp(params->shape, TB_SHAPE_FABRIC) == 0)
		return tb_fail(error, TB_EUSAGE,
			"an INI file describes a regular tree: write this fabric as "
			"ibnetdiscover or edges");
	tb_preset_write(params, stream);
	return TB_OK;
}

// network_paths writes the ways between two hosts.
static int network_paths(const struct tb_network *network,
	const struct network_options *options, struct tb_error *error)
{
	const struct tb_cmd_output *output = &options->picture.output;
	struct tb_named_nodes from, to;
	struct tb_fabric_paths *paths = NULL;
	struct tb_outfile out;
	int status = tb_names_find_nodes(network, options->from, &from, error);
	if (status == TB_OK)
		status = tb_names_find_nodes(network, options->to, &to, error);
	if (status == TB_OK)
		status = tb_fabric_paths_new(
			&paths, network, from, to, options->study.seed, error);
	if (status == TB_OK)
		status = tb_outfile_open(&out, output->file, error);
	if (status == TB_OK) {
		if (output->format != TB_FORMAT_JSON)
			tb_fabric_paths_text(paths, out.stream);
		else if (tb_fabric_paths_json(paths, out.stream) != TB_OK)
			status = tb_fail_memory(error, "the network");
		status = tb_cmd_output_end(&out, status, error);
	}
	tb_fabric_paths_free(paths);
	return status;
}

// On the two cores that docs/network.md measures on: 1,048,576 hosts take 10 s on two
// levels and 38 s on four.
#define STUDY_PS      (3 * TB_PS_PER_US) // a host, times the square of the levels
#define STUDY_LONG_PS (10 * TB_PS_PER_S)

// note_long prints how long a study takes, before it begins, where that is long.
static void note_long(const struct tb_network *network,
	const struct tb_fabric_hosts *hosts, const struct tb_route_study_options *study)
{
	uint64_t levels = tb_network_n_levels(network);
	uint64_t n = hosts->of ? (uint64_t)hosts->n * hosts->n_rails
			       : tb_network_n_nodes(network);
	tb_time_ps took_ps = (tb_time_ps)(n * levels * levels) * STUDY_PS;
	char count[48], time[32];
	if (took_ps >= STUDY_LONG_PS && !study->n_shifts && !study->n_bisections)
		fprintf(stderr,
			"tailback: note: %s: to study them takes about %s (less with "
			"--shifts 1 --bisections 1)\n",
			tb_format_counted(tb_fabric_hosts_n(hosts, network), "host",
				count, sizeof count),
			tb_format_time(took_ps, time, sizeof time));
}

static int run_network(const struct network_options *options, struct tb_error *error)
{
	struct tb_network *network = NULL;
	char title[512] = "";
	struct network_whole whole = {0};
	char *faults = write_faults(options);
	int status = faults ? network_open(options, &network, &whole, error)
			    : tb_fail_memory(error, "the faults");
	if (status != TB_OK) {
		free(faults);
		return status;
	}
	if (TB_FORMATS_OF_NETWORKS >> options->picture.output.format & 1) {
		// Write the network itself.
		const struct tb_cmd_output *output = &options->picture.output;
		struct tb_outfile out;
		status = tb_outfile_open(&out, output->file, error);
		if (status == TB_OK)
			status = tb_cmd_output_end(&out,
				write_network_file(
					network, output->format, out.stream, error),
				error);
	} else if (options->from)
		status = network_paths(network, options, error);
	else {
		// Study the network and puts the report where it is asked for.
		struct tb_fabric_hosts hosts = {0};
		status = choose_hosts(network, options->hosts, &hosts, error);
		if (status == TB_OK) {
			struct tb_fabric fabric = {0};
			struct tb_route_study study = {0};
			struct tb_progress progress;
			struct tb_route_study_options asked = options->study;
			asked.hosts = &hosts;
			asked.progress = show_following;
			asked.context = &progress;
			if (tb_network_n_rails(network) < whole.n_rails)
				snprintf(title, sizeof title,
					"%s: one of %u rails, all alike",
					options->network, whole.n_rails);
			note_long(network, &hosts, &asked);
			status = tb_fabric_init(&fabric, network, &hosts, error);
			if (status == TB_OK) {
				tb_progress_init(&progress, STDERR_FILENO);
				status = tb_route_study_init(
					&study, network, &asked, error);
				tb_progress_done(&progress);
			}
			if (status == TB_OK)
				status = put_network_report(options,
					&(struct tb_fabric_report){.fabric = &fabric,
						.study = &study,
						.name = *title ? title : options->network,
						.routes = options->routes
								  ? options->routes
							  : options->traffic
								  ? options->traffic
								  : "",
						.is_for_traffic =
							options->traffic != NULL,
						.faults = faults,
						.n_dead = whole.n_dead,
						.traffic_run = options->run,
						.seed = asked.seed,
						.n_hottest = options->top,
						.n_odd = ODD_MOST},
					error);
			tb_route_study_fini(&study);
			tb_fabric_fini(&fabric);
		}
		tb_fabric_hosts_fini(&hosts);
	}
	free(faults);
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
	const char *inputs[] = {
		options->network, options->routes, options->names, options->traffic};
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
	tb_texts_fini(&options.faults);
	return code;
}

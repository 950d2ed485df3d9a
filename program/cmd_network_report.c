// tailback network: the report on a network, its picture, the network itself as a file,
// and the paths between two of its hosts.
#include "cmd_network.h"

#include "cli.h"
#include "fabric_file_write.h"
#include "fabric_paths.h"
#include "fabric_store.h"
#include "input_files.h"
#include "names.h"
#include "network.h"
#include "placement.h"
#include "preset_write.h"
#include "progress.h"
#include "route_file_write.h"
#include "session.h"
#include "temporary.h"
#include "tree_picture.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define ODD_MOST 20 // listed in text

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

static int network_view(const struct network_options *options,
	const struct tb_fabric_report *report, struct tb_error *error)
{
	struct network_store beside = {.path = ""};
	int status = make_network_store(&beside, report, error);
	const struct tb_session_options session = {.store = beside.path,
		.width = 1280,
		.height = 720,
		.theme = options->picture.theme_given ? options->picture.theme : TB_DARK,
		.colours = options->picture.colours,
		.metric = TB_BUSY,
		.given_metric = true,
		.stop = tb_cli_catch_stop()};
	if (status == TB_OK)
		status = tb_session_run(&session, error);
	tb_temporary_fini(&beside.folder);
	return status;
}

struct drawing {
	const struct network_options *options;
	const struct tb_fabric_report *report;
	struct tb_run *run;
	struct tb_error *error;
};

static int draw_network_tree(void *context, struct tb_picture *picture)
{
	const struct drawing *drawing = context;
	struct tb_fabric_verdict verdict;
	const char *notes[TB_VERDICT_SENTENCES + 1] = {NULL};
	tb_fabric_judge(drawing->report, &verdict);
	for (int i = 0; i < verdict.n; i++)
		notes[i] = verdict.sentences[i];
	const struct tb_tree_figure figure = {.run = drawing->run,
		.metric = TB_BUSY,
		.colours = drawing->options->picture.colours,
		.theme = drawing->options->picture.theme,
		.width = (double)drawing->options->picture.width,
		.title = drawing->report->name,
		.measure = "load of a link in terms of the hottest, all to all",
		.notes = notes};
	return tb_tree_picture(picture, &figure, drawing->error);
}

static int network_draw(const struct network_options *options,
	const struct tb_fabric_report *report, struct tb_error *error)
{
	struct network_store beside = {.path = ""};
	struct drawing drawing = {options, report, NULL, error};
	int status = make_network_store(&beside, report, error);
	if (status == TB_OK)
		status = tb_run_open(&drawing.run, beside.path, 0, error);
	if (status == TB_OK)
		status = tb_cmd_picture_write(&options->picture,
			&(struct tb_cmd_figure){
				.context = &drawing, .picture = draw_network_tree},
			error);
	tb_run_free(drawing.run);
	tb_temporary_fini(&beside.folder);
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
	if (options->view)
		return network_view(options, report, error);
	if (TB_FORMATS_DRAWN >> format & 1)
		return network_draw(options, report, error);
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

// study_network studies the network, and puts what it found where it is asked for.
static int study_network(const struct tb_network *network,
	const struct network_options *options, const struct tb_fabric_hosts *hosts,
	struct tb_error *error)
{
	struct tb_fabric fabric = {0};
	struct tb_route_study study = {0};
	struct tb_progress progress;
	struct tb_route_study_options asked = options->study;
	asked.hosts = hosts;
	asked.progress = show_following;
	asked.context = &progress;
	int status = tb_fabric_init(&fabric, network, hosts, error);
	if (status == TB_OK) {
		tb_progress_init(&progress, STDERR_FILENO);
		status = tb_route_study_init(&study, network, &asked, error);
		tb_progress_done(&progress);
	}
	if (status == TB_OK)
		status = put_network_report(options,
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

int network_report(const struct tb_network *network,
	const struct network_options *options, struct tb_error *error)
{
	struct tb_fabric_hosts hosts = {0};
	int status = choose_hosts(network, options->hosts, &hosts, error);
	if (status == TB_OK)
		status = study_network(network, options, &hosts, error);
	tb_fabric_hosts_fini(&hosts);
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

int network_copy(const struct tb_network *network, const struct network_options *options,
	struct tb_error *error)
{
	const struct tb_cmd_output *output = &options->picture.output;
	struct tb_outfile out;
	int status = tb_outfile_open(&out, output->file, error);
	if (status == TB_OK)
		status = tb_cmd_output_end(&out,
			write_network_file(network, output->format, out.stream, error),
			error);
	return status;
}

int network_paths(const struct tb_network *network, const struct network_options *options,
	struct tb_error *error)
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

// tailback network: the report on a network, written where it is asked for.
#include "cli.h"
#include "cmd_network.h"
#include "fabric_store.h"
#include "input_files.h"
#include "network.h"
#include "placement.h"
#include "progress.h"

#include <stdlib.h>
#include <unistd.h>

#define ODD_MOST 20 // listed in text

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
	if (TB_FORMATS_DRAWN >> format & 1)
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

int network_report(const struct tb_network *network,
	const struct network_options *options, struct tb_error *error)
{
	struct tb_fabric_hosts hosts = {0};
	int status = choose_hosts(network, options->hosts, &hosts, error);
	if (status == TB_OK)
		status = look(network, options, &hosts, error);
	tb_fabric_hosts_fini(&hosts);
	return status;
}

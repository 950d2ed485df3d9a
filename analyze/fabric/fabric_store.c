#include "fabric_store.h"

#include "store.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define LONGEST_PS 9e18 // what fits a time

// study_sample is the link during the run; a link without pairs has none.
static struct tb_link_sample study_sample(
	const struct tb_route_study *study, uint32_t link, double packet_bytes)
{
	struct tb_link_info at = tb_network_link(study->network, (struct tb_link){link});
	double pairs = study->pairs[link];
	double busy = pairs * packet_bytes * TB_PS_PER_S / (double)at.bytes_per_s;
	return (struct tb_link_sample){.link = {link},
		.n_packets = pairs < UINT32_MAX ? (uint32_t)lround(pairs) : UINT32_MAX,
		.busy_ps = (uint64_t)fmin(busy, LONGEST_PS),
		.bytes = (uint64_t)(pairs * packet_bytes)};
}

// describe_report writes the options of the command, as a replay's store keeps them.
static char *describe_report(const struct tb_fabric_report *report)
{
	const char *routes = report->is_for_traffic ? " --traffic "
			     : *report->routes	    ? " --routes "
						    : "";
	char run[32] = "";
	size_t size = strlen(report->name) + strlen(report->routes) +
		      strlen(report->faults) + 96;
	if (report->traffic_run)
		snprintf(run, sizeof run, " --run %" PRId64, report->traffic_run);
	char *text = malloc(size);
	if (text)
		snprintf(text, size, "--network %s --seed %" PRIu64 "%s%s%s%s%s",
			report->name, report->seed, routes, report->routes, run,
			*report->faults ? " " : "", report->faults);
	return text;
}

static int store_links(struct tb_store *store, const struct tb_fabric_report *report,
	struct tb_link_sample *samples, struct tb_error *error)
{
	const struct tb_route_study *study = report->study;
	const struct tb_network_params *params = tb_network_params(study->network);
	struct tb_observer observer = tb_store_observer(store);
	uint64_t longest = 1;
	size_t n = 0;
	for (uint32_t link = 0; link < tb_network_n_links(study->network); link++) {
		// What a full packet takes of a link.
		samples[n] = study_sample(study, link,
			(double)params->packet_payload_bytes +
				params->packet_overhead_bytes);
		if (samples[n].busy_ps > longest)
			longest = samples[n].busy_ps;
		n += study->pairs[link] > 0;
	}
	int status = observer.start(observer.context, (tb_time_ps)longest);
	if (status == TB_OK)
		status = observer.bin(observer.context, 0, samples, n);
	if (status == TB_OK)
		status = observer.flows(observer.context, NULL, 0);
	if (status != TB_OK) {
		if (error)
			*error = *tb_store_error(store);
		return status;
	}
	uint64_t n_pairs = study->n_pairs - study->n_unrouted;
	return tb_store_end_run(store,
		&(struct tb_run_result){.complete = true,
			.simulated_ps = (tb_time_ps)longest,
			.n_messages = n_pairs,
			.n_packets = n_pairs,
			.delivered_bytes = n_pairs * params->packet_payload_bytes},
		error);
}

int tb_fabric_store(
	const struct tb_fabric_report *report, const char *path, struct tb_error *error)
{
	const struct tb_network *net = report->study->network;
	struct tb_store *store = NULL;
	struct tb_link_sample *samples =
		malloc((tb_network_n_links(net) + 1u) * sizeof *samples);
	char *options = describe_report(report);
	int status = samples && options ? tb_store_create(&store, path, error)
					: tb_fail_memory(error, "the fabric");
	if (status == TB_OK)
		status = tb_store_begin_run(store, net,
			&(struct tb_run_config){.input_name = TB_FABRIC_INPUT,
				.input_kind = "routes",
				.input_digest = "",
				.seed = report->seed,
				.time_scale = 1,
				.options = options,
				.routes_name = report->routes,
				.routes_digest = ""},
			error);
	if (status == TB_OK)
		status = store_links(store, report, samples, error);
	tb_store_free(store);
	free(options);
	free(samples);
	return status;
}

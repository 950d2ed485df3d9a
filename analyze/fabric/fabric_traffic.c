#include "fabric_traffic.h"

#include "flow_pairs.h"

#include <inttypes.h>
#include <string.h>

int tb_fabric_traffic_nodes(
	const char *path, int64_t id, uint32_t *n_nodes, struct tb_error *error)
{
	struct tb_run *run = NULL;
	int status = tb_run_open(&run, path, id, error);
	if (status == TB_OK)
		*n_nodes = tb_run_info(run)->n_nodes;
	tb_run_free(run);
	return status;
}

// check_run_nodes refuses the run of another network.
static int check_run_nodes(struct tb_run *run, const struct tb_network *network,
	const char *path, struct tb_error *error)
{
	uint32_t n = tb_network_n_hosts(network);
	if (tb_run_info(run)->n_nodes != n)
		return tb_fail_in(error, TB_EUSAGE, path,
			"its network has %u nodes, and this one %u",
			tb_run_info(run)->n_nodes, n);
	for (uint32_t i = 0; i < n; i++) {
		const char *theirs = tb_run_node_name(run, (struct tb_node){i});
		const char *ours =
			tb_network_node_identity(network, (struct tb_node){i}).name;
		if (*theirs && *ours && strcmp(theirs, ours) != 0)
			return tb_fail_in(error, TB_EUSAGE, path,
				"its traffic is of another network: node %u is called %s "
				"there, and %s here",
				i, theirs, ours);
	}
	return TB_OK;
}

// take_pair adds what one host sends to another, to each rail an equal part.
static void take_pair(
	void *context, struct tb_node source, struct tb_node destination, uint64_t bytes)
{
	struct tb_route_traffic *traffic = context;
	uint32_t n_hosts = tb_network_n_hosts(traffic->network);
	uint32_t n_rails = tb_network_n_rails(traffic->network);
	for (uint32_t rail = 0; rail < n_rails; rail++)
		tb_route_traffic_add(traffic,
			(struct tb_node){rail * n_hosts + source.id},
			(struct tb_node){rail * n_hosts + destination.id},
			bytes / n_rails);
}

static int read_traffic(struct tb_run *run, struct tb_route_traffic *traffic,
	const char *path, struct tb_error *error)
{
	uint64_t n = 0;
	int status = tb_flow_pairs_read(
		run, &(struct tb_flow_taker){take_pair, traffic}, &n, error);
	if (status == TB_OK && n == 0)
		status = tb_fail_in(error, TB_EUSAGE, path,
			"run %" PRId64 " has no flows: %s", tb_run_info(run)->id,
			tb_run_info(run)->complete ? "nothing was delivered"
						   : "it did not end");
	return status;
}

int tb_fabric_traffic_route(struct tb_network *network, struct tb_run *run,
	const char *name, struct tb_route_gain *gain, struct tb_error *error)
{
	struct tb_route_traffic traffic = {0};
	int status = check_run_nodes(run, network, name, error);
	if (status == TB_OK)
		status = tb_route_traffic_init(&traffic, network, error);
	if (status == TB_OK)
		status = read_traffic(run, &traffic, name, error);
	if (status == TB_OK)
		status = tb_route_traffic_apply(network, &traffic, name, gain, error);
	tb_route_traffic_fini(&traffic);
	return status;
}

int tb_fabric_traffic_apply(
	struct tb_network *network, const char *path, int64_t id, struct tb_error *error)
{
	struct tb_run *run = NULL;
	struct tb_route_gain gain;
	int status = tb_run_open(&run, path, id, error);
	if (status == TB_OK)
		status = tb_fabric_traffic_route(network, run, path, &gain, error);
	tb_run_free(run);
	return status;
}

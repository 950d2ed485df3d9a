#include "route_traffic.h"

#include "memory.h"
#include "route_table.h"
#include "traffic_search.h"

#include <stdio.h>
#include <stdlib.h>

int tb_route_traffic_init(struct tb_route_traffic *traffic, const struct tb_network *net,
	struct tb_error *error)
{
	struct tb_route_traffic made = {.network = net};
	made.leaf_of = malloc((net->n_switches + 1u) * sizeof *made.leaf_of);
	made.leaves = malloc((net->n_switches + 1u) * sizeof *made.leaves);
	made.sent = calloc(net->n_nodes, sizeof *made.sent);
	made.got = calloc(net->n_nodes, sizeof *made.got);
	if (!made.leaf_of || !made.leaves || !made.sent || !made.got) {
		tb_route_traffic_fini(&made);
		return tb_fail_memory(error, "the traffic of %u nodes", net->n_nodes);
	}
	for (uint32_t sw = 0; sw < net->n_switches; sw++)
		made.leaf_of[sw] = TB_ID_NONE;
	for (uint32_t node = 0; node < net->n_nodes; node++) {
		uint32_t sw = net->links[net->injection[node]].to;
		if (made.leaf_of[sw] != TB_ID_NONE)
			continue;
		made.leaf_of[sw] = made.n_leaves;
		made.leaves[made.n_leaves++] = sw;
	}
	size_t n = (size_t)net->n_nodes * made.n_leaves;
	int status = tb_memory_check(n * sizeof *made.bytes, "the traffic", error);
	made.bytes = status == TB_OK ? calloc(n, sizeof *made.bytes) : NULL;
	if (status == TB_OK && !made.bytes)
		status = tb_fail_memory(error, "the traffic of %u nodes", net->n_nodes);
	if (status != TB_OK) {
		tb_route_traffic_fini(&made);
		return status;
	}
	*traffic = made;
	return TB_OK;
}

void tb_route_traffic_fini(struct tb_route_traffic *traffic)
{
	free(traffic->bytes);
	free(traffic->sent);
	free(traffic->got);
	free(traffic->leaf_of);
	free(traffic->leaves);
	*traffic = (struct tb_route_traffic){0};
}

void tb_route_traffic_add(struct tb_route_traffic *traffic, struct tb_node source,
	struct tb_node destination, uint64_t bytes)
{
	const struct tb_network *net = traffic->network;
	uint32_t sw = net->links[net->injection[source.id]].to;
	if (source.id == destination.id ||
		source.id / net->n_hosts != destination.id / net->n_hosts)
		return;
	traffic->sent[source.id] += bytes;
	traffic->got[destination.id] += bytes;
	traffic->bytes[(size_t)destination.id * traffic->n_leaves +
		       traffic->leaf_of[sw]] += bytes;
}

// busiest_host is for how long the busiest link of a node carries the traffic.
static double busiest_host(const struct tb_route_traffic *traffic)
{
	const struct tb_network *net = traffic->network;
	double most = 0;
	for (uint32_t node = 0; node < net->n_nodes; node++) {
		const struct tb_link_info *in = &net->links[net->injection[node]];
		const struct tb_link_info *out = &net->links[net->ejection[node]];
		double sent = (double)traffic->sent[node] / (double)in->bytes_per_s;
		double got = (double)traffic->got[node] / (double)out->bytes_per_s;
		most = sent > most ? sent : most;
		most = got > most ? got : most;
	}
	return most;
}

static char *time_of(double seconds, char *buffer, size_t size)
{
	double ps = seconds * 1e12;
	return tb_format_time(ps < 9e18 ? (tb_time_ps)ps : INT64_MAX, buffer, size);
}

int tb_route_traffic_apply(struct tb_network *net, const struct tb_route_traffic *traffic,
	const char *name, struct tb_route_gain *gain, struct tb_error *error)
{
	struct tb_route_gain found = {.hosts = busiest_host(traffic)};
	struct tb_route_table table = {0};
	int status = tb_route_table_init(&table, net, name, error);
	for (uint32_t sw = 0; sw < net->n_switches && status == TB_OK; sw++)
		table.begun[sw] = 1;
	if (status == TB_OK)
		status = tb_traffic_search(&table, traffic, &found);
	if (status == TB_OK)
		status = tb_route_table_check(&table);
	if (status == TB_OK)
		status = tb_route_table_check_cycles(&table);
	if (status == TB_OK) {
		char text[400], before[24], after[24], hosts[24];
		snprintf(text, sizeof text,
			"routes for the traffic of %.200s: the busiest link between "
			"switches carries it in %s, before in %s; the busiest link of a "
			"node in "
			"%s",
			name, time_of(found.after, after, sizeof after),
			time_of(found.before, before, sizeof before),
			time_of(found.hosts, hosts, sizeof hosts));
		status = tb_network_add_remark(net, text) == TB_OK
				 ? TB_OK
				 : tb_fail_memory(error, "remarks on a network");
	}
	if (status == TB_OK) {
		tb_route_table_take(&table, net);
		*gain = found;
	}
	tb_route_table_fini(&table);
	return status;
}

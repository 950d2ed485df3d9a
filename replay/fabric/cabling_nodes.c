#include "cabling_impl.h"

#include "cabling_names.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void tb_cabling_nodes_fini(struct tb_cabling_nodes *nodes)
{
	free(nodes->nodes);
	*nodes = (struct tb_cabling_nodes){0};
}

// A node, and what it is ordered by.
struct sorted {
	struct tb_cabling_node node;
	const char *name;
	unsigned class; // hosts with names, with GUIDs for names, routers
};

static int by_order(const void *one, const void *other)
{
	const struct sorted *a = one, *b = other;
	if (a->class != b->class)
		return a->class < b->class ? -1 : 1;
	int order = tb_cabling_compare(
		a->name, a->node.n_host_bytes, b->name, b->node.n_host_bytes);
	if (order == 0)
		order = tb_cabling_compare(
			a->name, strlen(a->name), b->name, strlen(b->name));
	if (order != 0)
		return order;
	if (a->node.device != b->node.device)
		return a->node.device < b->node.device ? -1 : 1;
	return a->node.port < b->node.port ? -1 : a->node.port > b->node.port;
}

static uint32_t n_plugged(const struct tb_cabling_device *device)
{
	uint32_t n = 0;
	for (size_t port = 0; port < device->n_ports; port++)
		n += device->ports[port].is_used;
	return n;
}

static bool cabling_is_end(const struct tb_cabling_device *device)
{
	return device->kind != TB_DEVICE_SWITCH && !device->is_left_out;
}

static uint32_t cabling_list_nodes(
	const struct tb_cabling *cabling, struct sorted *sorted)
{
	uint32_t n = 0;
	for (uint32_t i = 0; i < cabling->n_devices; i++) {
		const struct tb_cabling_device *at = &cabling->devices[i];
		unsigned class = at->kind == TB_DEVICE_ROUTER	? 2
				 : tb_cabling_is_guid(at->name) ? 1
								: 0;
		for (uint32_t port = 0; cabling_is_end(at) && port < at->n_ports; port++)
			if (at->ports[port].is_used)
				sorted[n++] = (struct sorted){
					.node = {.device = i,
						.port = port,
						.n_host_bytes =
							tb_cabling_host_bytes(at->name),
						.is_one_of_many = n_plugged(at) > 1},
					.name = at->name,
					.class = class};
	}
	return n;
}

static bool is_same_host(const struct sorted *one, const struct sorted *other)
{
	return one->class == other->class &&
	       one->node.n_host_bytes == other->node.n_host_bytes &&
	       memcmp(one->name, other->name, one->node.n_host_bytes) == 0;
}

int tb_cabling_nodes_init(
	struct tb_cabling_nodes *nodes, const struct tb_cabling *cabling)
{
	size_t most = 0;
	for (uint32_t i = 0; i < cabling->n_devices; i++)
		if (cabling_is_end(&cabling->devices[i]))
			most += n_plugged(&cabling->devices[i]);
	struct sorted *sorted = malloc((most + 1) * sizeof *sorted);
	*nodes = (struct tb_cabling_nodes){
		.nodes = malloc((most + 1) * sizeof *nodes->nodes)};
	if (!sorted || !nodes->nodes) {
		free(sorted);
		tb_cabling_nodes_fini(nodes);
		return tb_cabling_no_memory(cabling);
	}
	nodes->n = cabling_list_nodes(cabling, sorted);
	qsort(sorted, nodes->n, sizeof *sorted, by_order);
	for (uint32_t i = 0; i < nodes->n; i++) {
		nodes->n_hosts += i == 0 || !is_same_host(&sorted[i], &sorted[i - 1]);
		nodes->nodes[i] = sorted[i].node;
		nodes->nodes[i].host = nodes->n_hosts - 1;
	}
	free(sorted);
	return TB_OK;
}

// commonest returns how many nodes most hosts have, of several such numbers the largest;
// `n_with` has room for the numbers from 0 to that of all nodes.
static uint32_t commonest(
	const uint32_t *n_of_host, const struct tb_cabling_nodes *nodes, uint32_t *n_with)
{
	uint32_t best = 0;
	for (uint32_t i = 0; i < nodes->n_hosts; i++)
		n_with[n_of_host[i]]++;
	for (uint32_t n = 1; n <= nodes->n; n++)
		if (n_with[n] >= n_with[best])
			best = n;
	return best;
}

static int odd_hosts(const struct tb_cabling *cabling,
	const struct tb_cabling_nodes *nodes, const uint32_t *n_of_host, uint32_t n_rails)
{
	char names[160] = "";
	size_t length = 0;
	uint32_t n_odd = 0, n_named = 0;
	for (uint32_t i = 0; i < nodes->n; i++) {
		const struct tb_cabling_node *at = &nodes->nodes[i];
		if (n_of_host[at->host] == n_rails ||
			(i > 0 && at->host == nodes->nodes[i - 1].host))
			continue;
		if (n_odd++ > 0 && length > 80)
			continue;
		int n = snprintf(names + length, sizeof names - length, "%s%.*s (%u)",
			n_named++ ? ", " : "",
			(int)(at->n_host_bytes < 40 ? at->n_host_bytes : 40),
			cabling->devices[at->device].name, n_of_host[at->host]);
		length += (size_t)n;
	}
	return tb_cabling_refuse(cabling, 0,
		"nics = host: every host needs as many network interfaces as the others, "
		"%u as most have; %u of %u hosts do not: %s%s",
		n_rails, n_odd, nodes->n_hosts, names, n_named < n_odd ? ", ..." : "");
}

int tb_cabling_nodes_by_rail(struct tb_cabling_nodes *nodes,
	const struct tb_cabling *cabling, uint32_t *n_rails)
{
	uint32_t *n_of_host = calloc(nodes->n_hosts + 1u, sizeof *n_of_host);
	uint32_t *n_with = calloc(nodes->n + 1u, sizeof *n_with);
	struct tb_cabling_node *turned = malloc((nodes->n + 1u) * sizeof *turned);
	int status = TB_OK;
	if (!n_of_host || !n_with || !turned) {
		free(n_of_host);
		free(n_with);
		free(turned);
		return tb_cabling_no_memory(cabling);
	}
	for (uint32_t i = 0; i < nodes->n; i++)
		n_of_host[nodes->nodes[i].host]++;
	uint32_t n = commonest(n_of_host, nodes, n_with);
	for (uint32_t i = 0; i < nodes->n_hosts && status == TB_OK; i++)
		if (n_of_host[i] != n)
			status = odd_hosts(cabling, nodes, n_of_host, n);
	for (uint32_t i = 0; i < nodes->n && status == TB_OK; i++)
		turned[i % n * nodes->n_hosts + i / n] = nodes->nodes[i];
	if (status == TB_OK) {
		memcpy(nodes->nodes, turned, nodes->n * sizeof *turned);
		*n_rails = n;
	}
	free(n_of_host);
	free(n_with);
	free(turned);
	return status;
}

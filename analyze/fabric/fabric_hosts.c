#include "fabric_hosts.h"

#include <stdlib.h>

void tb_fabric_hosts_fini(struct tb_fabric_hosts *hosts)
{
	free(hosts->of);
	free(hosts->is_in);
	*hosts = (struct tb_fabric_hosts){0};
}

static void put_host(struct tb_fabric_hosts *hosts, uint32_t host)
{
	if (!hosts->is_in[host])
		hosts->of[hosts->n++] = host;
	hosts->is_in[host] = true;
}

int tb_fabric_hosts_init(struct tb_fabric_hosts *hosts, const struct tb_network *network,
	const uint32_t *nodes, uint32_t n, struct tb_error *error)
{
	uint32_t n_hosts = tb_network_n_hosts(network);
	struct tb_fabric_hosts made = {.of = malloc((n_hosts + 1u) * sizeof *made.of),
		.is_in = calloc(n_hosts + 1u, sizeof *made.is_in)};
	if (!made.of || !made.is_in) {
		tb_fabric_hosts_fini(&made);
		return tb_fail_memory(error, "the hosts");
	}
	for (uint32_t i = 0; i < n; i++)
		put_host(&made, nodes[i] % n_hosts);
	for (uint32_t host = 0; n == 0 && host < n_hosts; host++)
		if (!tb_network_node_identity(network, (struct tb_node){host}).is_router)
			put_host(&made, host);
	bool is_few = n > 0 && made.n < 2;
	if (is_few || made.n < 2 || made.n == n_hosts)
		tb_fabric_hosts_fini(&made); // all
	if (is_few)
		return tb_fail(error, TB_EUSAGE, "expected two hosts or more");
	*hosts = made;
	return TB_OK;
}

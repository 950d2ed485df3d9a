#include "slow_nodes.h"

#include "credit_params.h"
#include "names.h"
#include "network_impl.h"
#include "switchings.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// The rates that presets have, too.
enum { RATE_LEAST = 1000000 };
#define RATE_MOST UINT64_C(1000000000000)

int tb_network_set_drain(
	struct tb_network *network, struct tb_node node, uint64_t bytes_per_s)
{
	if (!network->drains)
		network->drains = calloc(network->n_nodes, sizeof *network->drains);
	if (!network->drains)
		return TB_ENOMEM;
	network->drains[node.id] = bytes_per_s;
	return TB_OK;
}

uint64_t tb_network_drain_bytes_per_s(
	const struct tb_network *network, struct tb_node node)
{
	if (network->drains && network->drains[node.id])
		return network->drains[node.id];
	return tb_credit_params(&network->params)->pcie_bytes_per_s;
}

static int find_nodes(const struct tb_network *network, const char *name,
	struct tb_named_nodes *nodes, struct tb_error *error)
{
	char numbered[TB_NAME_SIZE + 8];
	bool number = name[0] && strspn(name, "0123456789") == strlen(name);
	snprintf(numbered, sizeof numbered, "%s%s", number ? "node " : "", name);
	int status = tb_names_find_nodes(network, numbered, nodes, error);
	if (status != TB_OK && !number)
		return tb_fail(error, TB_EUSAGE,
			"slow: the network has no node called '%s', or several", name);
	return status;
}

int tb_slow_nodes_add(
	struct tb_network *network, const char *text, struct tb_error *error)
{
	const char *equals = strrchr(text, '=');
	char name[TB_NAME_SIZE];
	uint64_t rate = 0;
	struct tb_named_nodes nodes = {0};
	if (!tb_switching_nodes(&network->params)->has_slow_nodes)
		return tb_fail(error, TB_EUSAGE,
			"slow %s: nodes drain at rates of their own only where switching "
			"= credits, not %s",
			text, network->params.switching);
	if (!equals || equals == text || (size_t)(equals - text) >= sizeof name)
		return tb_fail(error, TB_EUSAGE,
			"slow '%s': expected NODE=RATE, such as 5=2GB/s", text);
	snprintf(name, sizeof name, "%.*s", (int)(equals - text), text);
	if (tb_parse_rate(equals + 1, &rate) != TB_OK || rate < RATE_LEAST ||
		rate > RATE_MOST)
		return tb_fail(error, TB_EUSAGE,
			"slow %s: expected a rate from 1MB/s to 1000GB/s: " TB_RATE_HINT,
			text);
	int status = find_nodes(network, name, &nodes, error);
	for (uint32_t i = 0; status == TB_OK && i < nodes.n; i++) {
		struct tb_node node = {nodes.first + i * nodes.step};
		if (tb_network_set_drain(network, node, rate) != TB_OK)
			status = tb_fail_memory(error, "the slow nodes");
	}
	return status;
}

#include "outline.h"

#include "names.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

void tb_outline_fini(struct tb_outline *outline)
{
	free(outline->nodes);
	free(outline->first);
	free(outline->adapter_of);
	*outline = (struct tb_outline){0};
}

static struct tb_identity outline_identity_of(
	const struct tb_outline *outline, uint32_t node)
{
	return tb_network_node_identity(outline->net, (struct tb_node){node});
}

// base_length is how much of a node's name names its adapter, if the adapter has several
// ports: all before ":PORT".
static size_t base_length(const struct tb_identity *own)
{
	char port[16];
	size_t n = strlen(own->name);
	size_t n_port = (size_t)snprintf(port, sizeof port, ":%u", own->adapter_port);
	if (n <= n_port || strcmp(own->name + n - n_port, port) != 0)
		return n;
	return n - n_port;
}

// are_one returns whether two nodes are ports of one adapter.
static bool are_one(const struct tb_outline *outline, uint32_t one, uint32_t other)
{
	struct tb_identity a = outline_identity_of(outline, one),
			   b = outline_identity_of(outline, other);
	size_t n = base_length(&a);
	if (n == strlen(a.name) || n != base_length(&b) || n == strlen(b.name))
		return false;
	return a.adapter_guid == b.adapter_guid && a.adapter_port != b.adapter_port &&
	       memcmp(a.name, b.name, n) == 0;
}

static void group(struct tb_outline *outline)
{
	const struct tb_network *net = outline->net;
	uint32_t n = 0;
	for (uint32_t host = 0; host < net->n_hosts; host++)
		for (uint32_t rail = 0; rail < net->n_rails; rail++)
			outline->nodes[n++] = rail * net->n_hosts + host;
	for (uint32_t i = 0; i < n; i++) {
		if (i == 0 || !are_one(outline, outline->nodes[i - 1], outline->nodes[i]))
			outline->first[outline->n_adapters++] = i;
		outline->adapter_of[outline->nodes[i]] = outline->n_adapters - 1;
	}
	outline->first[outline->n_adapters] = n;
}

static bool has_port_0(const struct tb_network *net)
{
	for (uint32_t sw = 0; sw < net->n_switches; sw++)
		for (uint32_t port = 0;
			port < net->first_out[sw + 1] - net->first_out[sw]; port++)
			if (tb_network_port_number(net, (struct tb_switch){sw}, port) ==
				0)
				return true;
	return false;
}

int tb_outline_init(
	struct tb_outline *outline, const struct tb_network *net, struct tb_error *error)
{
	size_t n = net->n_nodes + 1u;
	if (net->n_rails > 1 && net->switches[net->n_switches - 1].rail > 0)
		return tb_fail(error, TB_EUSAGE,
			"the network is %u rails side by side: expected one that hangs "
			"together",
			net->n_rails);
	*outline = (struct tb_outline){.net = net,
		.nodes = malloc(n * sizeof *outline->nodes),
		.first = malloc(n * sizeof *outline->first),
		.adapter_of = malloc(n * sizeof *outline->adapter_of)};
	if (!outline->nodes || !outline->first || !outline->adapter_of) {
		tb_outline_fini(outline);
		return tb_fail_memory(error, "a network's text");
	}
	group(outline);
	outline->shift = has_port_0(net);
	for (uint32_t node = 0; node < net->n_nodes; node++)
		if (outline_identity_of(outline, node).adapter_port == 0)
			outline->node_shift = 1;
	return TB_OK;
}

const char *tb_outline_switch(const struct tb_outline *outline, uint32_t sw, char *buffer)
{
	return tb_names_switch(
		outline->net, (struct tb_switch){sw}, buffer, TB_OUTLINE_NAME_SIZE);
}

const char *tb_outline_adapter(
	const struct tb_outline *outline, uint32_t adapter, char *buffer)
{
	uint32_t node = outline->nodes[outline->first[adapter]];
	bool is_one_of_many = outline->first[adapter + 1] - outline->first[adapter] > 1;
	struct tb_identity own = outline_identity_of(outline, node);
	if (*own.name)
		snprintf(buffer, TB_OUTLINE_NAME_SIZE, "%.*s",
			(int)(is_one_of_many ? base_length(&own) : strlen(own.name)),
			own.name);
	else
		snprintf(buffer, TB_OUTLINE_NAME_SIZE, "node%u",
			node % outline->net->n_hosts);
	return buffer;
}

// InfiniBand's own begin with a company's identifier, which these do not have.
#define MADE_SWITCH  UINT64_C(0x5300000000000000)
#define MADE_ADAPTER UINT64_C(0x4800000000000000)

uint64_t tb_outline_switch_guid(const struct tb_outline *outline, uint32_t sw)
{
	uint64_t guid =
		tb_network_switch_identity(outline->net, (struct tb_switch){sw}).guid;
	return guid ? guid : MADE_SWITCH + sw + 1;
}

uint64_t tb_outline_port_guid(const struct tb_outline *outline, uint32_t node)
{
	uint64_t guid = outline_identity_of(outline, node).guid;
	return guid ? guid : MADE_ADAPTER + node + 1;
}

uint64_t tb_outline_adapter_guid(const struct tb_outline *outline, uint32_t adapter)
{
	uint32_t node = outline->nodes[outline->first[adapter]];
	uint64_t guid = outline_identity_of(outline, node).adapter_guid;
	return guid ? guid : tb_outline_port_guid(outline, node);
}

uint32_t tb_outline_switch_port(
	const struct tb_outline *outline, uint32_t sw, uint32_t port)
{
	return tb_network_port_number(outline->net, (struct tb_switch){sw}, port) +
	       outline->shift;
}

uint32_t tb_outline_node_port(const struct tb_outline *outline, uint32_t node)
{
	return outline_identity_of(outline, node).adapter_port + outline->node_shift;
}

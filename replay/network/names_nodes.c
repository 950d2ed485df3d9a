// Nodes by the names of their hosts.
#include "names.h"
#include "nearest.h"
#include "network_impl.h"
#include "units.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool node_name_find_node(
	const struct tb_network *net, const char *name, uint32_t *node)
{
	for (*node = 0; *name && *node < net->n_nodes; ++*node)
		if (strcmp(tb_network_node_identity(net, (struct tb_node){*node}).name,
			    name) == 0)
			return true;
	return false;
}

// find_host finds the nodes of a host whose name has `n` bytes.
static bool find_host(const struct tb_network *net, const char *host, size_t n,
	struct tb_named_nodes *nodes)
{
	nodes->n = 0;
	nodes->step = net->n_rails > 1 ? net->n_hosts : 1;
	for (uint32_t node = 0; node < net->n_nodes; node++) {
		struct tb_identity own =
			tb_network_node_identity(net, (struct tb_node){node});
		if (!(n > 0 && own.n_host_bytes == n && memcmp(own.name, host, n) == 0))
			continue;
		if (nodes->n++ == 0)
			nodes->first = node;
	}
	return nodes->n > 0;
}

// ends_with returns whether a name ends with a number: "HCA-2", "mlx5_0:2".
static bool ends_with(const char *name, uint64_t number)
{
	size_t at = strlen(name);
	uint64_t own = 0;
	while (at > 0 && isdigit((unsigned char)name[at - 1]))
		at--;
	return tb_parse_count(name + at, 0, UINT32_MAX, &own) == TB_OK && own == number;
}

// find_numbered finds the one interface that "HOST:2" stands for.
static bool find_numbered(
	const struct tb_network *net, const char *text, struct tb_named_nodes *nodes)
{
	const char *colon = strrchr(text, ':');
	uint64_t number = 0;
	struct tb_named_nodes of_host;
	if (!colon || tb_parse_count(colon + 1, 0, UINT32_MAX, &number) != TB_OK ||
		!find_host(net, text, (size_t)(colon - text), &of_host))
		return false;
	*nodes = (struct tb_named_nodes){.step = 1};
	for (uint32_t i = 0; i < of_host.n; i++) {
		struct tb_node node = {of_host.first + i * of_host.step};
		struct tb_identity own = tb_network_node_identity(net, node);
		if (!ends_with(own.name + own.n_host_bytes, number))
			continue;
		nodes->first = node.id;
		nodes->n++;
	}
	return nodes->n == 1;
}

static bool node_name_find_named(
	const struct tb_network *net, const char *text, struct tb_named_nodes *nodes)
{
	uint32_t node;
	if (node_name_find_node(net, text, &node)) {
		*nodes = (struct tb_named_nodes){node, 1, 1};
		return true;
	}
	return find_host(net, text, strlen(text), nodes) ||
	       find_numbered(net, text, nodes);
}

bool tb_names_find_host(const struct tb_network *net, const char *name,
	struct tb_node *first, uint32_t *n_nodes)
{
	struct tb_named_nodes nodes;
	if (!node_name_find_named(net, name, &nodes) || nodes.first >= net->n_hosts)
		return false;
	first->id = nodes.first;
	*n_nodes = nodes.step == 1 ? nodes.n : 1;
	return true;
}

int tb_names_find_nodes(const struct tb_network *net, const char *text,
	struct tb_named_nodes *nodes, struct tb_error *error)
{
	struct tb_link link;
	struct tb_named_nodes named = {0};
	if (node_name_find_named(net, text, &named)) {
		*nodes = named;
		return TB_OK;
	}
	int status = tb_names_find_link(net, text, &link, error);
	if (status == TB_EUSAGE && net->node_identities.n > 0) {
		struct tb_hint hint = {""};
		if (named.n > 1)
			return tb_fail(error, TB_EUSAGE,
				"'%.100s' stands for several nodes of its host: name "
				"one, such as '%s'",
				text,
				tb_network_node_identity(
					net, (struct tb_node){named.first})
					.name);
		// The names of the network's hosts, which lie behind the pointers to
		// them; NULL when there is no memory.
		enum { ROOM = TB_IDENTITY_NAME_MOST + 1 };
		char **hosts = malloc(net->n_nodes * (sizeof *hosts + ROOM));
		char *at = hosts ? (char *)(hosts + net->n_nodes) : NULL;
		for (uint32_t node = 0; hosts && node < net->n_nodes;
			node++, at += ROOM) {
			struct tb_identity own =
				tb_network_node_identity(net, (struct tb_node){node});
			hosts[node] = at;
			snprintf(at, ROOM, "%.*s", (int)own.n_host_bytes, own.name);
		}
		if (hosts)
			tb_hint_near(&hint, text, (const char *const *)hosts,
				net->n_nodes, sizeof *hosts);
		free(hosts);
		return tb_fail(error, TB_EUSAGE,
			"the network has no host called '%.100s'%s", text, hint.text);
	}
	if (status != TB_OK)
		return status;
	if (net->links[link.id].kind != TB_LINK_INJECTION)
		return tb_fail(error, TB_EUSAGE, "'%.100s' is no host", text);
	*nodes = (struct tb_named_nodes){net->links[link.id].from, 1, 1};
	return TB_OK;
}

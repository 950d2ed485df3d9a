#include "names.h"
#include "nearest.h"
#include "network_impl.h"
#include "text_lines.h"
#include "units.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// The rest of a text that is parsed from left to right.
struct name_scan {
	const char *at;
	const struct tb_network *net;
	const char *text; // the whole, for messages
	struct tb_error *error;
	bool may_be_node;    // where a switch is expected
	int n_ambiguous;     // bytes that are short for several parts; 0: none are
	const char *one_own; // of these, the name of one
};

static bool name_number(struct name_scan *scan, uint32_t *number)
{
	uint64_t value = 0;
	bool found = tb_line_eat_number(&scan->at, 10, UINT32_MAX - 1, &value);
	*number = found ? (uint32_t)value : *number;
	return found;
}

// A name stands alone: "ib5" is not the beginning of "ib50".
static bool ends_name(char next)
{
	return next == '\0' || next == ' ' || next == '\t' || next == ':' || next == '>';
}

static size_t longest_at(const char *text, const char *name, size_t n)
{
	return n > 0 && strncmp(text, name, n) == 0 && ends_name(text[n]) ? n : 0;
}

// The whole one; that of its host; or, of a managed switch ("MF0;spine3:MQM9700/U1"),
// "MF0;spine3", "spine3" and so on.
size_t tb_names_match(const char *text, const struct tb_identity *own)
{
	const char *bare = strchr(own->name, ';'), *model = strrchr(own->name, ':');
	bare = bare ? bare + 1 : own->name;
	if (!model || model < bare)
		model = own->name + strlen(own->name);
	const size_t matches[] = {
		longest_at(text, own->name, strlen(own->name)),
		longest_at(text, own->name, (size_t)(model - own->name)),
		longest_at(text, bare, strlen(bare)),
		longest_at(text, bare, (size_t)(model - bare)),
		longest_at(text, own->name, own->n_host_bytes),
	};
	size_t longest = 0;
	for (size_t i = 0; i < sizeof matches / sizeof *matches; i++)
		longest = matches[i] > longest ? matches[i] : longest;
	return longest;
}

// eat_own takes the longest of the fabric's names with which the rest of the text begins;
// of several parts of that name the first, but nothing that is short for several. Parts
// that are `apart` behind each other are one host's on several rails (0: none are); then
// the first is stored and `all_rails` set.
static bool eat_own(struct name_scan *scan, const struct tb_identities *own,
	uint32_t apart, uint32_t *id, bool *all_rails)
{
	size_t longest = 0;
	bool several = false, whole = false;
	*all_rails = false;
	tb_line_skip_blanks(&scan->at);
	for (uint32_t i = 0; i < own->n; i++) {
		size_t length = tb_names_match(scan->at, &own->of[i]);
		bool is_whole = own->of[i].name[length] == '\0';
		if (length == 0 || length < longest || (length == longest && whole))
			continue;
		bool is_again = length == longest && !is_whole;
		*all_rails = is_again && apart && i % apart == *id % apart;
		several = is_again && (several || !*all_rails);
		longest = length;
		whole = is_whole;
		if (!*all_rails)
			*id = i;
	}
	if (several) {
		scan->n_ambiguous = (int)longest;
		scan->one_own = own->of[*id].name;
		return false;
	}
	scan->at += longest;
	return longest > 0;
}

static bool at_end(struct name_scan *scan)
{
	tb_line_skip_blanks(&scan->at);
	return *scan->at == '\0';
}

// eat_rail takes "r1/"; the rail is TB_ID_NONE when none is named.
static int eat_rail(struct name_scan *scan, uint32_t *rail)
{
	*rail = TB_ID_NONE;
	tb_line_skip_blanks(&scan->at);
	if (scan->at[0] != 'r' || !isdigit((unsigned char)scan->at[1]) ||
		!tb_line_eat(&scan->at, "r"))
		return TB_OK;
	if (!name_number(scan, rail) || !tb_line_eat(&scan->at, "/"))
		return tb_fail(scan->error, TB_EUSAGE,
			"'%.100s': expected a rail, such as r1/", scan->text);
	if (*rail >= scan->net->n_rails)
		return tb_fail(scan->error, TB_EUSAGE,
			"there is no rail %u: the network has %u", *rail,
			scan->net->n_rails);
	return TB_OK;
}

static int no_switch(const struct name_scan *scan)
{
	return tb_fail(scan->error, TB_EUSAGE,
		"'%.100s': expected %sa switch of this network%s as level.index, such "
		"as 0.1",
		scan->text, scan->may_be_node ? "a node, such as node 5, or " : "",
		scan->net->switch_identities.n ? " by its name, or" : "");
}

// no_end: what comes next is neither a host nor a switch.
static int no_end(const struct name_scan *scan)
{
	if (scan->n_ambiguous)
		return tb_fail(scan->error, TB_EUSAGE,
			"'%.*s' stands for several parts of the network: name one, such "
			"as '%s'",
			scan->n_ambiguous < 100 ? scan->n_ambiguous : 100, scan->at,
			scan->one_own);
	const char *end = strchrnul(scan->at, '>');
	while (end > scan->at && isspace((unsigned char)end[-1]))
		end--;
	return tb_fail(scan->error, TB_EUSAGE,
		"the network has no host or switch called '%.*s'",
		(int)(end - scan->at < 100 ? end - scan->at : 100), scan->at);
}

// eat_switch takes the rest of a switch's name; the rail is the first unless one is
// named.
static int eat_switch(struct name_scan *scan, uint32_t rail, uint32_t *sw)
{
	const struct tb_network *net = scan->net;
	uint32_t level = 0, index = 0;
	bool all_rails = false;
	if (eat_own(scan, &net->switch_identities, 0, sw, &all_rails))
		return TB_OK;
	if (!name_number(scan, &level) || !tb_line_eat(&scan->at, ".") ||
		!name_number(scan, &index))
		return no_switch(scan);
	for (uint32_t i = 0; i < net->n_switches; i++) {
		const struct tb_switch_info *at = &net->switches[i];
		if (at->level == level && at->index == index &&
			at->rail == (rail == TB_ID_NONE ? 0 : rail)) {
			*sw = i;
			return TB_OK;
		}
	}
	return tb_fail(scan->error, TB_EUSAGE, "there is no switch %u.%u", level, index);
}

// eat_port_name takes the longest name of a port of a switch that the fabric has.
static bool eat_port_name(struct name_scan *scan, uint32_t sw, uint32_t *port)
{
	const struct tb_network *net = scan->net;
	size_t longest = 0;
	for (uint32_t i = 0; i < net->n_port_names; i++) {
		const struct tb_port_name *named = &net->port_names[i];
		size_t n = strlen(named->name);
		if (named->of_node || named->id != sw || n <= longest ||
			strncmp(scan->at, named->name, n) != 0 ||
			!strchr(" \t>", scan->at[n]))
			continue;
		if (tb_network_find_port(
			    net, (struct tb_switch){sw}, named->number, port))
			longest = n;
	}
	scan->at += longest;
	return longest > 0;
}

static int eat_port(struct name_scan *scan, uint32_t sw, uint32_t *port)
{
	const struct tb_switch_info *at = &scan->net->switches[sw];
	char name[TB_NAME_SIZE];
	tb_line_skip_blanks(&scan->at);
	if (eat_port_name(scan, sw, port))
		return TB_OK;
	bool up = tb_line_eat(&scan->at, "up");
	bool down = !up && tb_line_eat(&scan->at, "down");
	uint32_t number = 0;
	uint32_t n = up ? at->n_up_ports : at->n_down_ports;
	if (!up && !down)
		n += at->n_up_ports;
	if (!name_number(scan, &number))
		return tb_fail(scan->error, TB_EUSAGE,
			"'%.100s': expected a port, such as 4, up0 or down2", scan->text);
	if (!up && !down &&
		tb_network_find_port(scan->net, (struct tb_switch){sw}, number, port))
		return TB_OK;
	if (number >= n || (!up && !down))
		return tb_fail(scan->error, TB_EUSAGE,
			"switch %s has no %sport %u, but %u down and %u up",
			tb_names_switch(
				scan->net, (struct tb_switch){sw}, name, sizeof name),
			up     ? "up "
			: down ? "down "
			       : "",
			number, at->n_down_ports, at->n_up_ports);
	*port = number + (up ? at->n_down_ports : 0);
	return TB_OK;
}

// own_switch_next: a switch of the fabric may be called "r1/leaf".
static bool own_switch_next(struct name_scan *scan)
{
	const char *at = scan->at;
	uint32_t sw = 0;
	bool all_rails = false;
	bool is = eat_own(scan, &scan->net->switch_identities, 0, &sw, &all_rails);
	scan->at = at;
	return is;
}

// An end of a link: a node, or a switch with or without a port.
struct name_tail {
	bool is_node;
	uint32_t id;
	uint32_t rail; // of a node; TB_ID_NONE: not named
	uint32_t port; // TB_ID_NONE: not named
};

static int eat_end(struct name_scan *scan, struct name_tail *end)
{
	*end = (struct name_tail){.is_node = true, .port = TB_ID_NONE};
	scan->n_ambiguous = 0;
	scan->may_be_node = true;
	bool all_rails = false;
	if (eat_own(scan, &scan->net->node_identities, scan->net->n_hosts, &end->id,
		    &all_rails)) {
		end->rail = all_rails ? TB_ID_NONE : end->id / scan->net->n_hosts;
		end->id %= scan->net->n_hosts;
		return TB_OK;
	}
	end->rail = TB_ID_NONE;
	int status = own_switch_next(scan) ? TB_OK : eat_rail(scan, &end->rail);
	if (status != TB_OK)
		return status;
	end->is_node = tb_line_eat(&scan->at, "node");
	if (end->is_node) {
		uint32_t *node = &end->id;
		if (!name_number(scan, node))
			return tb_fail(scan->error, TB_EUSAGE,
				"'%.100s': expected a node, such as node 5", scan->text);
		if (*node >= scan->net->n_hosts)
			return tb_fail(scan->error, TB_EUSAGE,
				"there is no node %u: the network has %u", *node,
				scan->net->n_hosts);
		return TB_OK;
	}
	if (scan->net->node_identities.n > 0 && !isdigit((unsigned char)*scan->at) &&
		!own_switch_next(scan))
		return no_end(scan);
	status = eat_switch(scan, end->rail, &end->id);
	if (status == TB_OK && tb_line_eat(&scan->at, ":"))
		status = eat_port(scan, end->id, &end->port);
	return status;
}

static bool name_is_end(const struct tb_network *net, const struct name_tail *end,
	bool is_node, uint32_t id, uint32_t port)
{
	if (end->is_node != is_node)
		return false;
	if (is_node)
		return end->id == id % net->n_hosts &&
		       (end->rail == TB_ID_NONE || end->rail == id / net->n_hosts);
	return end->id == id && (end->port == TB_ID_NONE || end->port == port);
}

static uint32_t link_between(const struct tb_network *net, const struct name_tail *from,
	const struct name_tail *to)
{
	for (uint32_t i = 0; i < net->n_links; i++) {
		const struct tb_link_info *at = &net->links[i];
		if (name_is_end(net, from, at->kind == TB_LINK_INJECTION, at->from,
			    at->from_port) &&
			name_is_end(net, to, at->kind == TB_LINK_EJECTION, at->to,
				at->to_port))
			return i;
	}
	return TB_ID_NONE;
}

static uint32_t link_out_of(const struct tb_network *net, const struct name_tail *from)
{
	if (from->is_node)
		return net->injection[(from->rail == TB_ID_NONE ? 0 : from->rail) *
					      net->n_hosts +
				      from->id];
	return net->out_links[net->first_out[from->id] + from->port];
}

int tb_names_find_switch(const struct tb_network *net, const char *text,
	struct tb_switch *sw, struct tb_error *error)
{
	struct name_scan scan = {.at = text, .net = net, .text = text, .error = error};
	uint32_t id = 0, rail = TB_ID_NONE;
	int status = own_switch_next(&scan) ? TB_OK : eat_rail(&scan, &rail);
	if (status == TB_OK)
		status = eat_switch(&scan, rail, &id);
	if (status == TB_OK && !at_end(&scan))
		status = no_switch(&scan);
	if (status == TB_OK)
		sw->id = id;
	return status;
}

int tb_names_find_link(const struct tb_network *net, const char *text,
	struct tb_link *link, struct tb_error *error)
{
	struct name_scan scan = {.at = text, .net = net, .text = text, .error = error};
	struct name_tail from, to;
	int status = eat_end(&scan, &from);
	bool both = status == TB_OK && tb_line_eat(&scan.at, ">");
	if (both)
		status = eat_end(&scan, &to);
	if (status != TB_OK)
		return status;
	if (!at_end(&scan) || (!both && !from.is_node && from.port == TB_ID_NONE))
		return tb_fail(error, TB_EUSAGE,
			"'%.100s': expected a link, such as 0.1:4, 0.1:4 > 1.0:1 or "
			"node 5",
			text);
	uint32_t id = both ? link_between(net, &from, &to) : link_out_of(net, &from);
	if (id == TB_ID_NONE)
		return tb_fail(error, TB_EUSAGE, "'%.100s': there is no such link", text);
	link->id = id;
	return TB_OK;
}

// name_rail writes "r1/" where there are several rails.
static const char *name_rail(
	const struct tb_network *net, uint32_t rail, char *buffer, size_t size)
{
	buffer[0] = '\0';
	if (net->n_rails > 1)
		snprintf(buffer, size, "r%u/", rail);
	return buffer;
}

char *tb_names_switch(
	const struct tb_network *net, struct tb_switch sw, char *buffer, size_t size)
{
	const struct tb_switch_info *at = &net->switches[sw.id];
	const char *own = tb_network_switch_identity(net, sw).name;
	char rail[16];
	name_rail(net, at->rail, rail, sizeof rail);
	if (*own)
		snprintf(buffer, size, "%s", own);
	else
		snprintf(buffer, size, "%s%u.%u", rail, at->level, at->index);
	return buffer;
}

char *tb_names_node(
	const struct tb_network *net, struct tb_node node, char *buffer, size_t size)
{
	const char *own = tb_network_node_identity(net, node).name;
	if (*own)
		snprintf(buffer, size, "%s", own);
	else
		snprintf(buffer, size, "node %u", node.id % net->n_hosts);
	return buffer;
}

char *tb_names_link(
	const struct tb_network *net, struct tb_link link, char *buffer, size_t size)
{
	const struct tb_link_info *at = &net->links[link.id];
	char from[TB_NAME_SIZE], to[TB_NAME_SIZE], out[16] = "", in[16] = "";
	bool enters = at->kind == TB_LINK_INJECTION,
	     leaves = at->kind == TB_LINK_EJECTION;
	if (enters)
		tb_names_node(net, (struct tb_node){at->from}, from, sizeof from);
	else
		tb_names_switch(net, (struct tb_switch){at->from}, from, sizeof from);
	if (leaves)
		tb_names_node(net, (struct tb_node){at->to}, to, sizeof to);
	else
		tb_names_switch(net, (struct tb_switch){at->to}, to, sizeof to);
	if (!enters && !leaves) {
		snprintf(out, sizeof out, ":%u",
			tb_network_port_number(
				net, (struct tb_switch){at->from}, at->from_port));
		snprintf(in, sizeof in, ":%u",
			tb_network_port_number(
				net, (struct tb_switch){at->to}, at->to_port));
	}
	snprintf(buffer, size, "%s%s > %s%s", from, out, to, in);
	return buffer;
}

size_t tb_names_host_bytes(const char *name)
{
	static const char *const words[] = {"ib", "hca", "hfi", "opa", "mlx4", "mlx5",
		"eth", "hsn", "roce", "rail", "nic", "rdma", "gpu", "plane", "port"};
	size_t n = strlen(name);
	for (size_t at = n; at-- > 1;) {
		const char *rest = name + at + 1;
		if (!strchr("-_.:/", name[at]))
			continue;
		for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
			size_t length = strlen(words[i]);
			if (strncmp(rest, words[i], length) == 0 &&
				rest[length + strspn(rest + length, "0123456789_-")] ==
					'\0')
				return at;
		}
	}
	return n;
}

const char *tb_names_adapter(const struct tb_identity *own)
{
	const char *rest = own->name + own->n_host_bytes;
	return own->n_host_bytes > 0 ? rest + strspn(rest, " -_.:/") : "";
}

// Nodes by the names of their hosts.

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

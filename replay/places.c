#include "places.h"

#include "network_impl.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

// What is left of a text that is taken apart from left to right.
struct scan {
	const char *at;
	const struct tb_network *net;
	const char *text; // the whole, for messages
	struct tb_error *error;
};

static void skip_spaces(struct scan *scan)
{
	while (*scan->at == ' ' || *scan->at == '\t')
		scan->at++;
}

static bool eat(struct scan *scan, const char *word)
{
	skip_spaces(scan);
	size_t n = strlen(word);
	if (strncmp(scan->at, word, n) != 0)
		return false;
	scan->at += n;
	return true;
}

static bool eat_number(struct scan *scan, uint32_t *number)
{
	uint64_t value = 0;
	skip_spaces(scan);
	if (!isdigit((unsigned char)*scan->at))
		return false;
	for (; isdigit((unsigned char)*scan->at); scan->at++)
		if ((value = value * 10 + (uint64_t)(*scan->at - '0')) >= UINT32_MAX)
			return false;
	*number = (uint32_t)value;
	return true;
}

static bool at_end(struct scan *scan)
{
	skip_spaces(scan);
	return *scan->at == '\0';
}

static int no_switch(const struct scan *scan)
{
	return tb_fail(scan->error, TB_EUSAGE,
		"'%.100s': expected a switch of this network as level.index, such as 0.1",
		scan->text);
}

static int eat_switch(struct scan *scan, uint32_t *sw)
{
	const struct tb_network *net = scan->net;
	uint32_t level = 0, index = 0;
	if (!eat_number(scan, &level) || !eat(scan, ".") || !eat_number(scan, &index))
		return no_switch(scan);
	for (uint32_t i = 0; i < net->n_switches; i++)
		if (net->switches[i].level == level && net->switches[i].index == index) {
			*sw = i;
			return TB_OK;
		}
	return tb_fail(scan->error, TB_EUSAGE, "there is no switch %u.%u", level, index);
}

static int eat_port(struct scan *scan, uint32_t sw, uint32_t *port)
{
	const struct tb_switch_info *at = &scan->net->switches[sw];
	bool up = eat(scan, "up");
	bool down = !up && eat(scan, "down");
	uint32_t number = 0;
	uint32_t n = up ? at->n_up_ports : at->n_down_ports;
	if (!up && !down)
		n += at->n_up_ports;
	if (!eat_number(scan, &number))
		return tb_fail(scan->error, TB_EUSAGE,
			"'%.100s': expected a port, such as 4, up0 or down2", scan->text);
	if (number >= n)
		return tb_fail(scan->error, TB_EUSAGE,
			"switch %u.%u has no %sport %u, but %u down and %u up", at->level,
			at->index,
			up     ? "up "
			: down ? "down "
			       : "",
			number, at->n_down_ports, at->n_up_ports);
	*port = number + (up ? at->n_down_ports : 0);
	return TB_OK;
}

static int eat_node(struct scan *scan, uint32_t *node)
{
	if (!eat_number(scan, node))
		return tb_fail(scan->error, TB_EUSAGE,
			"'%.100s': expected a node, such as node 5", scan->text);
	if (*node >= scan->net->n_nodes)
		return tb_fail(scan->error, TB_EUSAGE,
			"there is no node %u: the network has %u", *node,
			scan->net->n_nodes);
	return TB_OK;
}

// An end of a link: a node, or a switch with or without a port.
struct end {
	bool is_node;
	uint32_t id;
	uint32_t port; // TB_ID_NONE: not told
};

static int eat_end(struct scan *scan, struct end *end)
{
	*end = (struct end){.is_node = eat(scan, "node"), .port = TB_ID_NONE};
	if (end->is_node)
		return eat_node(scan, &end->id);
	int status = eat_switch(scan, &end->id);
	if (status == TB_OK && eat(scan, ":"))
		status = eat_port(scan, end->id, &end->port);
	return status;
}

static bool is_end(const struct end *end, bool is_node, uint32_t id, uint32_t port)
{
	return end->is_node == is_node && end->id == id &&
	       (is_node || end->port == TB_ID_NONE || end->port == port);
}

static uint32_t link_between(
	const struct tb_network *net, const struct end *from, const struct end *to)
{
	for (uint32_t i = 0; i < net->n_links; i++) {
		const struct tb_link_info *at = &net->links[i];
		if (is_end(from, at->kind == TB_LINK_INJECTION, at->from,
			    at->from_port) &&
			is_end(to, at->kind == TB_LINK_EJECTION, at->to, at->to_port))
			return i;
	}
	return TB_ID_NONE;
}

static uint32_t link_out_of(const struct tb_network *net, const struct end *from)
{
	if (from->is_node)
		return net->injection[from->id];
	return net->out_links[net->first_out[from->id] + from->port];
}

int tb_place_switch(const struct tb_network *net, const char *text, struct tb_switch *sw,
	struct tb_error *error)
{
	struct scan scan = {text, net, text, error};
	uint32_t id = 0;
	int status = eat_switch(&scan, &id);
	if (status == TB_OK && !at_end(&scan))
		status = no_switch(&scan);
	if (status == TB_OK)
		sw->id = id;
	return status;
}

int tb_place_link(const struct tb_network *net, const char *text, struct tb_link *link,
	struct tb_error *error)
{
	struct scan scan = {text, net, text, error};
	struct end from, to;
	int status = eat_end(&scan, &from);
	bool both = status == TB_OK && eat(&scan, ">");
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

char *tb_place_name_link(
	const struct tb_network *net, struct tb_link link, char *buffer, size_t size)
{
	const struct tb_link_info *at = &net->links[link.id];
	const struct tb_switch_info *from = &net->switches[at->from];
	const struct tb_switch_info *to = &net->switches[at->to];
	if (at->kind == TB_LINK_INJECTION)
		snprintf(buffer, size, "node %u > %u.%u", at->from, to->level, to->index);
	else if (at->kind == TB_LINK_EJECTION)
		snprintf(buffer, size, "%u.%u > node %u", from->level, from->index,
			at->to);
	else
		snprintf(buffer, size, "%u.%u:%u > %u.%u:%u", from->level, from->index,
			at->from_port, to->level, to->index, at->to_port);
	return buffer;
}

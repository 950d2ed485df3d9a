// What a fabric's file says beside its graph: names and port numbers of its switches and
// nodes, and remarks. Regular trees have none and spend no memory on them.
#include "array.h"
#include "network_builder.h"
#include "network_impl.h"

#include <stdlib.h>
#include <string.h>

static void forget(struct tb_identities *identities)
{
	for (uint32_t i = 0; i < identities->n; i++)
		free(identities->names[i]);
	free(identities->names);
	free(identities->of);
	*identities = (struct tb_identities){0};
}

void tb_network_forget_identities(struct tb_network *net)
{
	forget(&net->switch_identities);
	forget(&net->node_identities);
	free(net->port_numbers);
	net->port_numbers = NULL;
	net->n_port_numbers = 0;
	net->port_numbers_room = 0;
	for (uint32_t i = 0; i < net->n_port_names; i++)
		free((char *)(uintptr_t)net->port_names[i].name);
	free(net->port_names);
	net->port_names = NULL;
	net->n_port_names = 0;
	net->port_names_room = 0;
	for (uint32_t i = 0; i < net->n_remarks; i++)
		free(net->remarks[i]);
	free(net->remarks);
	net->remarks = NULL;
	net->n_remarks = 0;
	net->remarks_room = 0;
	free(net->left_out);
	net->left_out = NULL;
	net->n_left_out = 0;
	net->left_out_room = 0;
}

static int identity_no_memory(struct tb_error *error)
{
	return tb_fail_memory(error, "the names of a network");
}

// identity_reserve makes an entry for each of the first `n` parts.
static int identity_reserve(struct tb_identities *identities, uint32_t n)
{
	if (n <= identities->n)
		return TB_OK;
	if (TB_ARRAY_RESERVE(&identities->of, &identities->of_room, n) != TB_OK ||
		TB_ARRAY_RESERVE(&identities->names, &identities->names_room, n) != TB_OK)
		return TB_ENOMEM;
	for (uint32_t i = identities->n; i < n; i++) {
		identities->of[i] = (struct tb_identity){.name = ""};
		identities->names[i] = NULL;
	}
	identities->n = n;
	return TB_OK;
}

// identify sets the entry of part `id` of `n`.
static int identify(struct tb_identities *identities, uint32_t id, uint32_t n,
	const struct tb_identity *identity, struct tb_error *error)
{
	if (id >= n)
		return tb_fail(error, TB_EUSAGE,
			"there is no part %u to be called '%.40s'", id, identity->name);
	if (strlen(identity->name) > TB_IDENTITY_NAME_MOST)
		return tb_fail(error, TB_EUSAGE,
			"the name '%.40s...' is longer than %u bytes", identity->name,
			TB_IDENTITY_NAME_MOST);
	char *name = strdup(identity->name);
	if (!name || identity_reserve(identities, n) != TB_OK) {
		free(name);
		return identity_no_memory(error);
	}
	free(identities->names[id]);
	identities->names[id] = name;
	identities->of[id] = *identity;
	identities->of[id].name = name;
	return TB_OK;
}

int tb_network_identify_switch(struct tb_network_builder *builder, struct tb_switch sw,
	const struct tb_identity *identity, struct tb_error *error)
{
	struct tb_network *net = tb_network_builder_inside(builder);
	return identify(&net->switch_identities, sw.id, net->n_switches, identity, error);
}

int tb_network_identify_node(struct tb_network_builder *builder, struct tb_node node,
	const struct tb_identity *identity, struct tb_error *error)
{
	struct tb_network *net = tb_network_builder_inside(builder);
	return identify(&net->node_identities, node.id, net->n_nodes, identity, error);
}

static struct tb_identity identity_at(
	const struct tb_identities *identities, uint32_t id, uint32_t default_lid)
{
	if (id >= identities->n)
		return (struct tb_identity){.name = "", .lid = default_lid};
	return identities->of[id];
}

struct tb_identity tb_network_switch_identity(
	const struct tb_network *net, struct tb_switch sw)
{
	return identity_at(&net->switch_identities, sw.id, net->n_nodes + 1 + sw.id);
}

struct tb_identity tb_network_node_identity(
	const struct tb_network *net, struct tb_node node)
{
	return identity_at(&net->node_identities, node.id, node.id + 1);
}

int tb_network_number_port(struct tb_network_builder *builder, struct tb_switch sw,
	uint32_t port, uint32_t number, struct tb_error *error)
{
	struct tb_network *net = tb_network_builder_inside(builder);
	uint32_t n = net->n_switches ? net->first_out[net->n_switches] : 0;
	uint32_t slot = sw.id < net->n_switches ? net->first_out[sw.id] + port : n;
	if (slot >= n || port >= net->first_out[sw.id + 1] - net->first_out[sw.id] ||
		number >= TB_PORT_UNNUMBERED)
		return tb_fail(error, TB_EUSAGE,
			"port %u of switch %u cannot be numbered %u", port, sw.id,
			number);
	if (TB_ARRAY_RESERVE(&net->port_numbers, &net->port_numbers_room, n) != TB_OK)
		return identity_no_memory(error);
	while (net->n_port_numbers < n)
		net->port_numbers[net->n_port_numbers++] = TB_PORT_UNNUMBERED;
	net->port_numbers[slot] = (uint16_t)number;
	return TB_OK;
}

uint32_t tb_network_port_number(
	const struct tb_network *net, struct tb_switch sw, uint32_t port)
{
	uint32_t slot = net->first_out[sw.id] + port;
	if (slot >= net->n_port_numbers || net->port_numbers[slot] == TB_PORT_UNNUMBERED)
		return port;
	return net->port_numbers[slot];
}

bool tb_network_find_port(const struct tb_network *net, struct tb_switch sw,
	uint32_t number, uint32_t *port)
{
	uint32_t n = net->first_out[sw.id + 1] - net->first_out[sw.id];
	for (uint32_t i = 0; i < n; i++)
		if (tb_network_port_number(net, sw, i) == number) {
			*port = i;
			return true;
		}
	return false;
}

int tb_network_name_port(struct tb_network_builder *builder,
	const struct tb_port_name *named, struct tb_error *error)
{
	struct tb_network *net = tb_network_builder_inside(builder);
	char *name = strdup(named->name);
	if (!name || TB_ARRAY_RESERVE(&net->port_names, &net->port_names_room,
			     (size_t)net->n_port_names + 1) != TB_OK) {
		free(name);
		return identity_no_memory(error);
	}
	net->port_names[net->n_port_names] = *named;
	net->port_names[net->n_port_names++].name = name;
	return TB_OK;
}

uint32_t tb_network_n_port_names(const struct tb_network *net)
{
	return net->n_port_names;
}

struct tb_port_name tb_network_port_name(const struct tb_network *net, uint32_t i)
{
	return net->port_names[i];
}

int tb_network_remark_on(
	struct tb_network_builder *builder, const char *sentence, struct tb_error *error)
{
	struct tb_network *net = tb_network_builder_inside(builder);
	return tb_network_add_remark(net, sentence) == TB_OK
		       ? TB_OK
		       : tb_fail_memory(error, "remarks on a network");
}

int tb_network_add_remark(struct tb_network *net, const char *sentence)
{
	char *copy = strdup(sentence);
	if (!copy || TB_ARRAY_RESERVE(&net->remarks, &net->remarks_room,
			     (size_t)net->n_remarks + 1) != TB_OK) {
		free(copy);
		return TB_ENOMEM;
	}
	net->remarks[net->n_remarks++] = copy;
	return TB_OK;
}

int tb_network_leave_out(
	struct tb_network_builder *builder, uint32_t lid, struct tb_error *error)
{
	struct tb_network *net = tb_network_builder_inside(builder);
	if (TB_ARRAY_RESERVE(&net->left_out, &net->left_out_room,
		    (size_t)net->n_left_out + 1) != TB_OK)
		return tb_fail_memory(error, "a network's LIDs");
	net->left_out[net->n_left_out++] = lid;
	return TB_OK;
}

uint32_t tb_network_n_remarks(const struct tb_network *net)
{
	return net->n_remarks;
}

const char *tb_network_remark(const struct tb_network *net, uint32_t i)
{
	return net->remarks[i];
}

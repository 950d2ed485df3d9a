#include "cabling_build.h"
#include "cabling_levels.h"
#include "cabling_names.h"
#include "network_builder.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct building {
	struct tb_cabling *cabling;
	const struct tb_cabling_options *options;
	struct tb_network_builder *builder;
	struct tb_cabling_levels levels;
	struct tb_cabling_nodes nodes;
	uint32_t *place;  // by device: of a switch, where it stands in the order
	uint32_t **ports; // by device: of a switch, the network's port of each of its own
	struct tb_error *error;
};

static const struct tb_cabling_device *device_at(
	const struct building *building, uint32_t device)
{
	return &building->cabling->devices[device];
}

// leads_up returns whether a port's cable leads to a switch that stands later.
static bool leads_up(const struct building *building, uint32_t device, size_t port)
{
	uint32_t peer = device_at(building, device)->ports[port].peer;
	return device_at(building, peer)->kind == TB_DEVICE_SWITCH &&
	       building->place[peer] > building->place[device];
}

// number_ports counts a switch's ports down first, then up, each in the order of the
// fabric's numbers.
static int number_ports(
	struct building *building, uint32_t device, uint32_t *n_down, uint32_t *n_up)
{
	const struct tb_cabling_device *at = device_at(building, device);
	uint32_t *numbers = malloc((at->n_ports + 1) * sizeof *numbers), n = 0;
	if (!numbers)
		return tb_cabling_no_memory(building->cabling);
	building->ports[device] = numbers;
	for (int up = 0; up < 2; up++) {
		for (size_t port = 0; port < at->n_ports; port++)
			if (at->ports[port].is_used &&
				leads_up(building, device, port) == (up == 1))
				numbers[port] = n++;
		*(up ? n_up : n_down) = up ? n - *n_down : n;
	}
	return TB_OK;
}

static int building_add_switch(struct building *building, uint32_t i)
{
	uint32_t device = building->levels.switches[i], n_down = 0, n_up = 0;
	const struct tb_cabling_device *at = device_at(building, device);
	struct tb_switch sw;
	int status = number_ports(building, device, &n_down, &n_up);
	if (status == TB_OK)
		status = tb_network_add_switch(building->builder,
			building->levels.level[device], n_down, n_up, &sw,
			building->error);
	if (status != TB_OK)
		return status;
	const struct tb_identity identity = {.name = at->name,
		.guid = building->cabling->has_guids ? at->guid : 0,
		.lid = at->lid,
		.lmc = at->lmc,
		.device_id = at->device_id,
		.is_doubtful = building->levels.is_doubtful[device]};
	status = tb_network_identify_switch(
		building->builder, sw, &identity, building->error);
	for (uint32_t port = 0; port < at->n_ports && status == TB_OK; port++)
		if (at->ports[port].is_used)
			status = tb_network_number_port(building->builder, sw,
				building->ports[device][port], port, building->error);
	return status;
}

static uint64_t port_key(uint32_t device, uint32_t number)
{
	return (uint64_t)device << 32 | number;
}

// name_ports hands on what the file calls ports, those of nodes first.
static int name_ports(struct building *building)
{
	const struct tb_cabling *cabling = building->cabling;
	const struct tb_cabling_nodes *nodes = &building->nodes;
	struct tb_map node_of = {0};
	int status = TB_OK;
	for (uint32_t i = 0; status == TB_OK && cabling->n_port_names && i < nodes->n;
		i++)
		status = tb_map_put(&node_of,
			port_key(nodes->nodes[i].device, nodes->nodes[i].port), i);
	for (uint32_t i = 0; status == TB_OK && i < cabling->n_port_names; i++) {
		const struct tb_cabling_port_name *at = &cabling->port_names[i];
		struct tb_port_name named = {.number = at->number, .name = at->name};
		named.of_node = tb_map_find(
			&node_of, port_key(at->device, at->number), &named.id);
		if (!named.of_node && !building->ports[at->device])
			continue; // of a device that was left out
		if (!named.of_node)
			named.id = building->place[at->device];
		status = tb_network_name_port(building->builder, &named, building->error);
	}
	tb_map_fini(&node_of);
	return status == TB_ENOMEM ? tb_cabling_no_memory(building->cabling) : status;
}

static struct tb_cable building_cable_of(
	const struct building *building, const struct tb_cabling_port *port)
{
	uint64_t rate = building->options->params->link_bytes_per_s;
	return (struct tb_cable){
		.bytes_per_s = port->bytes_per_s ? port->bytes_per_s : rate,
		.latency_ps = port->latency_ps};
}

static int identify_node(
	struct building *building, const struct tb_cabling_node *node, struct tb_node id)
{
	const struct tb_cabling_device *at = device_at(building, node->device);
	const struct tb_cabling_port *port = &at->ports[node->port];
	char name[TB_IDENTITY_NAME_MOST + 16];
	if (node->is_one_of_many)
		snprintf(name, sizeof name, "%s:%u", at->name, node->port);
	else
		snprintf(name, sizeof name, "%s", at->name);
	bool has_guids = building->cabling->has_guids;
	const struct tb_identity identity = {.name = name,
		.guid = has_guids ? port->guid : 0,
		.lid = port->lid,
		.lmc = port->lmc,
		.device_id = at->device_id,
		.adapter_guid = has_guids ? at->guid : 0,
		.adapter_port = node->port,
		.n_host_bytes = (uint32_t)node->n_host_bytes,
		.is_router = at->kind == TB_DEVICE_ROUTER};
	return tb_network_identify_node(
		building->builder, id, &identity, building->error);
}

static int building_add_node(struct building *building, uint32_t i)
{
	const struct tb_cabling_node *node = &building->nodes.nodes[i];
	const struct tb_cabling_port *port =
		&device_at(building, node->device)->ports[node->port];
	struct tb_cable cable = building_cable_of(building, port);
	int status = tb_network_add_node(building->builder,
		(struct tb_switch){building->place[port->peer]},
		building->ports[port->peer][port->peer_port], &cable, building->error);
	return status == TB_OK ? identify_node(building, node, (struct tb_node){i})
			       : status;
}

// building_add_rails adds each rail's nodes behind the switches of its part, which stand
// in the order of parts.
static int building_add_rails(struct building *building)
{
	const struct tb_cabling_nodes *nodes = &building->nodes;
	uint32_t sw = 0;
	int status = TB_OK;
	for (uint32_t i = 0; i < nodes->n && status == TB_OK; i++) {
		bool begins = i % (nodes->n / nodes->n_rails) == 0;
		if (begins && i > 0)
			status = tb_network_next_rail(building->builder, building->error);
		for (; begins && status == TB_OK && sw < building->levels.n_switches &&
			device_at(building, building->levels.switches[sw])->part <=
				nodes->nodes[i].part;
			sw++)
			status = building_add_switch(building, sw);
		if (status == TB_OK)
			status = building_add_node(building, i);
	}
	return status;
}

static int building_add_cables(struct building *building)
{
	const struct tb_cabling_levels *levels = &building->levels;
	for (uint32_t i = 0; i < levels->n_switches; i++) {
		uint32_t device = levels->switches[i];
		const struct tb_cabling_device *at = device_at(building, device);
		for (size_t number = 0; number < at->n_ports; number++) {
			const struct tb_cabling_port *port = &at->ports[number];
			if (!port->is_used || !leads_up(building, device, number))
				continue;
			struct tb_cable cable = building_cable_of(building, port);
			int status = tb_network_add_cable(building->builder,
				(struct tb_switch){i}, building->ports[device][number],
				(struct tb_switch){building->place[port->peer]},
				building->ports[port->peer][port->peer_port], &cable,
				building->error);
			if (status != TB_OK)
				return status;
		}
	}
	return TB_OK;
}

// prepare finds out what the fabric consists of.
static int prepare(struct building *building)
{
	struct tb_cabling *cabling = building->cabling;
	bool *is_root = NULL;
	int status = tb_cabling_settle(cabling);
	if (status == TB_OK && building->options->names)
		status = tb_cabling_names_read(cabling, building->options->names);
	if (status == TB_OK)
		status = tb_cabling_name_all(cabling);
	if (status == TB_OK)
		status = tb_cabling_find_parts(cabling, building->options->part);
	if (status == TB_OK)
		status = tb_cabling_nodes_init(&building->nodes, cabling,
			building->options->nics, building->options->adapters);
	if (status == TB_OK && building->options->roots)
		status = tb_cabling_roots_read(
			&is_root, cabling, building->options->roots);
	if (status == TB_OK)
		status = tb_cabling_levels_init(&building->levels, cabling, is_root);
	free(is_root);
	if (status != TB_OK)
		return status;
	building->place = calloc(cabling->n_devices + 1u, sizeof *building->place);
	building->ports = calloc(cabling->n_devices + 1u, sizeof *building->ports);
	if (!building->place || !building->ports)
		return tb_cabling_no_memory(cabling);
	for (uint32_t i = 0; i < building->levels.n_switches; i++)
		building->place[building->levels.switches[i]] = i;
	return TB_OK;
}

static int building_finish(struct building *building, struct tb_network **network)
{
	struct tb_network_params params = *building->options->params;
	int status = prepare(building);
	if (status != TB_OK)
		return status;
	uint64_t rate = tb_cabling_fastest(building->cabling);
	params.levels = building->levels.n_levels;
	params.n_rails = building->nodes.n_rails;
	params.arity = 0;
	strcpy(params.shape, TB_SHAPE_FABRIC);
	params.level_rates[0] = params.level_latencies[0] = '\0';
	params.link_bytes_per_s = rate ? rate : params.link_bytes_per_s;
	status = tb_network_builder_new(&building->builder, &params, building->error);
	if (status != TB_OK)
		return status;
	tb_network_builder_stop(building->builder, building->options->stop);
	if (building->cabling->are_cables_unknown)
		tb_network_leave_cables_unknown(building->builder);
	if (building->options->leaves_out_routes)
		tb_network_builder_leave_out_routes(building->builder);
	status = building_add_rails(building);
	if (status == TB_OK)
		status = name_ports(building);
	if (status == TB_OK)
		status = building_add_cables(building);
	if (status == TB_OK) {
		char text[400];
		for (int kind = 0; kind < TB_N_REMARKS && status == TB_OK; kind++)
			if (tb_cabling_remark_text(building->cabling,
				    (enum tb_cabling_remark)kind, text, sizeof text))
				status = tb_network_remark_on(
					building->builder, text, building->error);
	}
	if (status == TB_OK) {
		// Hand over the LIDs of what is left out, for forwarding tables.
		const struct tb_cabling *cabling = building->cabling;
		for (uint32_t i = 0; i < cabling->n_devices && status == TB_OK; i++)
			if (cabling->devices[i].is_aggregation && cabling->devices[i].lid)
				status = tb_network_leave_out(building->builder,
					cabling->devices[i].lid, building->error);
	}
	return status == TB_OK
		       ? tb_network_finish(building->builder, network, building->error)
		       : status;
}

int tb_cabling_build(struct tb_network **network, struct tb_cabling *cabling,
	const struct tb_cabling_options *options, struct tb_error *error)
{
	struct building building = {
		.cabling = cabling, .options = options, .error = error};
	cabling->error = error;
	int status = building_finish(&building, network);
	for (uint32_t i = 0; building.ports && i < cabling->n_devices; i++)
		free(building.ports[i]);
	free(building.ports);
	free(building.place);
	tb_cabling_levels_fini(&building.levels);
	tb_cabling_nodes_fini(&building.nodes);
	tb_network_builder_free(building.builder);
	return status;
}

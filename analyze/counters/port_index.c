// Finds the port of a network that a dump's counters are of.
#include "measured_impl.h"

#include "units.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PLACE_SEVERAL UINT32_MAX

void port_index_fini(struct port_index *index)
{
	tb_map_fini(&index->of_port);
	tb_map_fini(&index->of_node);
	tb_map_fini(&index->of_guid);
	tb_map_fini(&index->of_adapter);
	tb_map_fini(&index->of_lid);
	tb_map_fini(&index->of_name);
	tb_map_fini(&index->of_host);
}

static uint64_t hash_name(const char *name, size_t n)
{
	uint64_t value = UINT64_C(14695981039346656037); // FNV-1a
	for (size_t i = 0; i < n; i++)
		value = (value ^ (unsigned char)name[i]) * UINT64_C(1099511628211);
	return value;
}

static uint64_t port_key(uint64_t device, uint64_t number)
{
	return device * UINT64_C(0x9e3779b97f4a7c15) + number;
}

static int put_links(struct port_index *index)
{
	int status = TB_OK;
	for (uint32_t i = 0; status == TB_OK && i < tb_network_n_links(index->network);
		i++) {
		struct tb_link_info at =
			tb_network_link(index->network, (struct tb_link){i});
		if (at.kind == TB_LINK_INJECTION)
			status = tb_map_put(&index->of_node, at.from, i);
		else
			status = tb_map_put(&index->of_port,
				port_key(at.from, tb_network_port_number(index->network,
							  (struct tb_switch){at.from},
							  at.from_port)),
				i);
	}
	return status;
}

// put_name puts a name, which several may have: then it stands for none.
static int put_name(struct tb_map *map, const char *name, size_t n, uint32_t place)
{
	uint32_t other;
	uint64_t key = hash_name(name, n);
	if (n == 0)
		return TB_OK;
	return tb_map_put(
		map, key, tb_map_find(map, key, &other) ? PLACE_SEVERAL : place);
}

static int put_switch(struct port_index *index, uint32_t sw)
{
	struct tb_identity is =
		tb_network_switch_identity(index->network, (struct tb_switch){sw});
	int status = is.guid ? tb_map_put(&index->of_guid, is.guid, sw) : TB_OK;
	index->has_guids |= is.guid != 0;
	if (status == TB_OK)
		status = tb_map_put(&index->of_lid, is.lid, sw);
	return status == TB_OK ? put_name(&index->of_name, is.name, strlen(is.name), sw)
			       : status;
}

static int put_node(struct port_index *index, uint32_t node)
{
	struct tb_identity is =
		tb_network_node_identity(index->network, (struct tb_node){node});
	uint32_t place = tb_network_n_switches(index->network) + node;
	int status = is.guid ? tb_map_put(&index->of_guid, is.guid, place) : TB_OK;
	index->has_guids |= is.guid != 0;
	if (status == TB_OK && is.adapter_guid)
		status = tb_map_put(&index->of_adapter,
			port_key(is.adapter_guid, is.adapter_port), place);
	for (uint32_t i = 0; status == TB_OK && i < 1u << is.lmc; i++)
		status = tb_map_put(&index->of_lid, is.lid + i, place);
	if (status == TB_OK)
		status = put_name(&index->of_name, is.name, strlen(is.name), place);
	if (status == TB_OK)
		status = put_name(&index->of_host, is.name, is.n_host_bytes, place);
	return status;
}

int port_index_init(struct port_index *index, const struct tb_network *network,
	struct tb_error *error)
{
	*index = (struct port_index){.network = network};
	int status = put_links(index);
	for (uint32_t i = 0; status == TB_OK && i < tb_network_n_switches(network); i++)
		status = put_switch(index, i);
	for (uint32_t i = 0; status == TB_OK && i < tb_network_n_nodes(network); i++)
		status = put_node(index, i);
	if (status == TB_OK)
		return TB_OK;
	port_index_fini(index);
	return tb_fail_memory(error, "the ports of the fabric");
}

static bool find_name(const struct tb_map *map, const char *name, size_t n, uint32_t *at)
{
	return n > 0 && tb_map_find(map, hash_name(name, n), at) && *at != PLACE_SEVERAL;
}

// place_by_name finds a device: by its whole name, by host and interface as fabrics write
// them, by the host where it has one port.
static bool place_by_name(const struct port_index *index,
	const struct tb_counter_port *port, uint32_t *place)
{
	char whole[400];
	size_t n = strlen(port->device);
	snprintf(whole, sizeof whole, "%s %s", port->device, port->port);
	return find_name(&index->of_name, port->device, n, place) ||
	       find_name(&index->of_name, whole, strlen(whole), place) ||
	       find_name(&index->of_host, port->device, n, place) ||
	       find_name(
		       &index->of_host, port->device, strcspn(port->device, " "), place);
}

// number_of is the number of a port, or of the interface, whose digits are at its end.
static uint64_t number_of(const char *port)
{
	size_t n = strlen(port);
	while (n > 0 && port[n - 1] >= '0' && port[n - 1] <= '9')
		n--;
	uint64_t number = UINT64_MAX;
	return tb_parse_count(port + n, 0, UINT32_MAX, &number) == TB_OK ? number
									 : UINT64_MAX;
}

static bool find_place(const struct port_index *index, const struct tb_counter_port *port,
	uint64_t number, uint32_t *place)
{
	if (port->guid)
		return tb_map_find(
			       &index->of_adapter, port_key(port->guid, number), place) ||
		       tb_map_find(&index->of_guid, port->guid, place);
	if (port->lid)
		return index->has_guids && tb_map_find(&index->of_lid, port->lid, place);
	return place_by_name(index, port, place);
}

bool port_index_find(const struct port_index *index, const struct tb_counter_port *port,
	struct port_links *links)
{
	uint32_t place, n_switches = tb_network_n_switches(index->network);
	uint64_t number = number_of(port->port);
	if (!find_place(index, port, number, &place))
		return false;
	bool found = place < n_switches ? tb_map_find(&index->of_port,
						  port_key(place, number), &links->sent)
					: tb_map_find(&index->of_node, place - n_switches,
						  &links->sent);
	if (found)
		links->received =
			tb_network_link(index->network, (struct tb_link){links->sent})
				.reverse.id;
	return found;
}

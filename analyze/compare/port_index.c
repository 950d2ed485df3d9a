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
	tb_map_fini(&index->of_named);
}

static uint64_t hash_name(const char *name, size_t n)
{
	uint64_t value = UINT64_C(14695981039346656037); // FNV-1a
	for (size_t i = 0; i < n; i++)
		value = (value ^ (unsigned char)name[i]) * UINT64_C(1099511628211);
	return value;
}

static uint64_t port_index_key(uint64_t device, uint64_t number)
{
	return device * UINT64_C(0x9e3779b97f4a7c15) + number;
}

static int index_ports_of_links(struct port_index *index)
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
				port_index_key(
					at.from, tb_network_port_number(index->network,
							 (struct tb_switch){at.from},
							 at.from_port)),
				i);
	}
	return status;
}

// index_port_name puts a name, which several may have: then it stands for none.
static int index_port_name(struct tb_map *map, const char *name, size_t n, uint32_t place)
{
	uint32_t other;
	uint64_t key = hash_name(name, n);
	if (n == 0)
		return TB_OK;
	return tb_map_put(
		map, key, tb_map_find(map, key, &other) ? PLACE_SEVERAL : place);
}

static int index_switch_ports(struct port_index *index, uint32_t sw)
{
	struct tb_identity is =
		tb_network_switch_identity(index->network, (struct tb_switch){sw});
	int status = is.guid ? tb_map_put(&index->of_guid, is.guid, sw) : TB_OK;
	index->has_guids |= is.guid != 0;
	if (status == TB_OK)
		status = tb_map_put(&index->of_lid, is.lid, sw);
	return status == TB_OK
		       ? index_port_name(&index->of_name, is.name, strlen(is.name), sw)
		       : status;
}

static int index_node_port(struct port_index *index, uint32_t node)
{
	struct tb_identity is =
		tb_network_node_identity(index->network, (struct tb_node){node});
	uint32_t place = tb_network_n_switches(index->network) + node;
	int status = is.guid ? tb_map_put(&index->of_guid, is.guid, place) : TB_OK;
	index->has_guids |= is.guid != 0;
	if (status == TB_OK && is.adapter_guid)
		status = tb_map_put(&index->of_adapter,
			port_index_key(is.adapter_guid, is.adapter_port), place);
	for (uint32_t i = 0; status == TB_OK && i < 1u << is.lmc; i++)
		status = tb_map_put(&index->of_lid, is.lid + i, place);
	if (status == TB_OK)
		status =
			index_port_name(&index->of_name, is.name, strlen(is.name), place);
	if (status == TB_OK)
		status =
			index_port_name(&index->of_host, is.name, is.n_host_bytes, place);
	return status;
}

static uint64_t hash_named(const char *device, size_t n, const char *port)
{
	return port_index_key(hash_name(device, n), hash_name(port, strlen(port)));
}

// index_named_port puts a port that the fabric's file names, by the name of its device.
static int index_named_port(struct port_index *index, const struct tb_port_name *named)
{
	struct tb_identity is = named->of_node
					? tb_network_node_identity(index->network,
						  (struct tb_node){named->id})
					: tb_network_switch_identity(index->network,
						  (struct tb_switch){named->id});
	size_t n = is.n_host_bytes ? is.n_host_bytes : strlen(is.name);
	uint32_t link;
	bool found = named->of_node
			     ? tb_map_find(&index->of_node, named->id, &link)
			     : tb_map_find(&index->of_port,
				       port_index_key(named->id, named->number), &link);
	return found ? tb_map_put(&index->of_named, hash_named(is.name, n, named->name),
			       link)
		     : TB_OK;
}

int port_index_init(struct port_index *index, const struct tb_network *network,
	struct tb_error *error)
{
	*index = (struct port_index){.network = network};
	int status = index_ports_of_links(index);
	for (uint32_t i = 0; status == TB_OK && i < tb_network_n_switches(network); i++)
		status = index_switch_ports(index, i);
	for (uint32_t i = 0; status == TB_OK && i < tb_network_n_nodes(network); i++)
		status = index_node_port(index, i);
	for (uint32_t i = 0; status == TB_OK && i < tb_network_n_port_names(network);
		i++) {
		struct tb_port_name named = tb_network_port_name(network, i);
		status = index_named_port(index, &named);
	}
	if (status == TB_OK)
		return TB_OK;
	port_index_fini(index);
	return tb_fail_memory(error, "the ports of the fabric");
}

static bool find_name(const struct tb_map *map, const char *name, size_t n, uint32_t *at)
{
	return n > 0 && tb_map_find(map, hash_name(name, n), at) && *at != PLACE_SEVERAL;
}

// place_of_device finds a device: by its whole name, by the host where it has one port.
static bool place_of_device(
	const struct port_index *index, const char *name, size_t n, uint32_t *place)
{
	return find_name(&index->of_name, name, n, place) ||
	       find_name(&index->of_host, name, n, place);
}

// place_by_name finds a device, also by host and interface as fabrics write them, and by
// the host's name without its domain.
static bool place_by_name(const struct port_index *index,
	const struct tb_counter_port *port, uint32_t *place)
{
	char whole[400];
	const char *device = port->device;
	snprintf(whole, sizeof whole, "%s %s", device, port->port);
	return place_of_device(index, device, strlen(device), place) ||
	       find_name(&index->of_name, whole, strlen(whole), place) ||
	       place_of_device(index, device, strcspn(device, " "), place) ||
	       place_of_device(index, device, strcspn(device, "."), place);
}

// find_named_port finds a port by the names of its device and its own.
static bool find_named_port(const struct port_index *index,
	const struct tb_counter_port *port, uint32_t *link)
{
	const char *device = port->device;
	return tb_map_find(&index->of_named,
		       hash_named(device, strlen(device), port->port), link) ||
	       tb_map_find(&index->of_named,
		       hash_named(device, strcspn(device, "."), port->port), link);
}

// port_number_of is the number of a port, or of the interface, whose digits are at its
// end.
static uint64_t port_number_of(const char *port)
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
	if (port->guid && !index->has_guids && *port->device)
		return place_by_name(index, port, place);
	if (port->guid)
		return tb_map_find(&index->of_adapter, port_index_key(port->guid, number),
			       place) ||
		       tb_map_find(&index->of_guid, port->guid, place);
	if (port->lid)
		return index->has_guids && tb_map_find(&index->of_lid, port->lid, place);
	return place_by_name(index, port, place);
}

// find_sent finds the link that begins at a port. Where the fabric names ports, only a
// host with one goes without its name.
static bool find_sent(const struct port_index *index, const struct tb_counter_port *port,
	uint32_t *link)
{
	uint32_t place, n_switches = tb_network_n_switches(index->network);
	uint64_t number = port_number_of(port->port);
	bool by_name = !port->guid && !port->lid;
	if (by_name && find_named_port(index, port, link))
		return true;
	if (!find_place(index, port, number, &place))
		return false;
	if (place >= n_switches)
		return tb_map_find(&index->of_node, place - n_switches, link);
	return !(by_name && index->of_named.n_used) &&
	       tb_map_find(&index->of_port, port_index_key(place, number), link);
}

bool port_index_find(const struct port_index *index, const struct tb_counter_port *port,
	struct port_links *links)
{
	if (!find_sent(index, port, &links->sent))
		return false;
	links->received =
		tb_network_link(index->network, (struct tb_link){links->sent}).reverse.id;
	return true;
}

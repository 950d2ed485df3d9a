#include "cabling_impl.h"

#include "visible.h"

#include <string.h>

// The longest name that leaves room for a port behind it.
enum { NAME_MOST = TB_IDENTITY_NAME_MOST - 6 };

// look_up stores the device of a name and returns whether there is one; else the key that
// it would have. Names of one hash lie behind each other.
static bool look_up(const struct tb_cabling *cabling, const char *name, uint32_t *device,
	uint64_t *key)
{
	for (*key = tb_edge_hash(name); tb_map_find(&cabling->of_guid, *key, device);
		++*key)
		if (strcmp(cabling->devices[*device].name, name) == 0)
			return true;
	return false;
}

bool tb_cabling_has_named(const struct tb_cabling *cabling, const char *given)
{
	char buffer[NAME_MOST + 8];
	uint32_t device;
	uint64_t key;
	return look_up(cabling, tb_visible(given, buffer, sizeof buffer), &device, &key);
}

int tb_cabling_find_named(
	struct tb_cabling *cabling, const char *given, uint64_t line, uint32_t *device)
{
	char buffer[NAME_MOST + 8];
	uint64_t key;
	const char *name = tb_visible(given, buffer, sizeof buffer);
	if (*name == '\0' || strlen(name) > NAME_MOST)
		return tb_cabling_refuse(cabling, line,
			"'%.60s': expected a name of 1 to %d bytes", name, NAME_MOST);
	if (look_up(cabling, name, device, &key))
		return TB_OK;
	int status = tb_cabling_find(cabling, TB_DEVICE_ADAPTER, key, device);
	return status == TB_OK ? tb_cabling_name(cabling, *device, name, strlen(name))
			       : status;
}

static uint32_t next_port(const struct tb_cabling *cabling, uint32_t device)
{
	size_t n = cabling->devices[device].n_ports;
	return n ? (uint32_t)n : 1;
}

int tb_cabling_join(struct tb_cabling *cabling, uint32_t one, uint32_t other,
	const struct tb_cabling_port *seen)
{
	struct tb_cabling_port own = *seen, back = *seen;
	uint32_t own_port = next_port(cabling, one), port = next_port(cabling, other);
	port += one == other;
	if (own_port > TB_CABLING_PORT_MOST || port > TB_CABLING_PORT_MOST)
		return tb_cabling_refuse(cabling, seen->line,
			"'%s' has more than %d ports",
			cabling->devices[own_port > port ? one : other].name,
			TB_CABLING_PORT_MOST);
	own.peer = other;
	own.peer_port = port;
	back.peer = one;
	back.peer_port = own_port;
	int status = tb_cabling_plug(cabling, one, own_port, &own);
	return status == TB_OK ? tb_cabling_plug(cabling, other, port, &back) : status;
}

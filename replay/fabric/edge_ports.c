#include "cabling_impl.h"

#include "array.h"
#include "hash.h"
#include "visible.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

// How the ports of a device are written; kept in its LMC, which edge lists do not have:
// so many of its ports have names.
#define ARE_NUMBERS UINT32_MAX

void tb_edge_ports_give(struct tb_edge_ports *ports, struct tb_cabling *cabling)
{
	cabling->port_names = ports->ports;
	cabling->n_port_names = ports->n;
	tb_map_fini(&ports->of_key);
	*ports = (struct tb_edge_ports){0};
}

static bool is_number(const char *word, uint64_t *number)
{
	return tb_parse_count(word, 0, TB_CABLING_PORT_MOST, number) == TB_OK;
}

// is_name: in a line without ports, a rate or a latency may stand in a port's place.
static bool is_name(const char *word)
{
	bool letter = false, digit = false;
	uint64_t rate;
	tb_time_ps latency;
	for (const char *at = word; *at; at++) {
		letter |= isalpha((unsigned char)*at) != 0;
		digit |= isdigit((unsigned char)*at) != 0;
	}
	return letter && digit && tb_parse_rate(word, &rate) != TB_OK &&
	       tb_parse_time(word, &latency) != TB_OK;
}

bool tb_edge_ports_has(const char *word)
{
	uint64_t number;
	return is_number(word, &number) || is_name(word);
}

uint64_t tb_edge_hash(const char *name)
{
	return tb_hash_text(TB_HASH_BEGIN, name);
}

static int edge_port_add(struct tb_edge_ports *ports, const struct tb_cabling *cabling,
	uint64_t key, const struct tb_cabling_port_name *port)
{
	char *name = strdup(port->name);
	if (!name ||
		TB_ARRAY_RESERVE(&ports->ports, &ports->room, ports->n + (size_t)1) !=
			TB_OK ||
		tb_map_put(&ports->of_key, key, ports->n) != TB_OK) {
		free(name);
		return tb_cabling_no_memory(cabling);
	}
	ports->ports[ports->n] = *port;
	ports->ports[ports->n++].name = name;
	return TB_OK;
}

// edge_port_find_named finds a name's number; names of one hash lie behind each other.
static int edge_port_find_named(struct tb_edge_ports *ports, struct tb_cabling *cabling,
	uint32_t device, char *word, uint64_t line, uint32_t *number)
{
	struct tb_cabling_device *at = &cabling->devices[device];
	uint64_t key = tb_edge_hash(word) + device;
	for (uint32_t found; tb_map_find(&ports->of_key, key, &found); key++) {
		const struct tb_cabling_port_name *port = &ports->ports[found];
		if (port->device == device && strcmp(port->name, word) == 0) {
			*number = port->number;
			return TB_OK;
		}
	}
	if (at->lmc == TB_CABLING_PORT_MOST)
		return tb_cabling_refuse(cabling, line, "'%s' has more than %d ports",
			at->name, TB_CABLING_PORT_MOST);
	*number = at->lmc + 1;
	int status = edge_port_add(ports, cabling, key,
		&(struct tb_cabling_port_name){device, *number, word});
	char shown[60];
	if (status == TB_OK && at->lmc++ == 0)
		tb_cabling_note(cabling, TB_REMARK_NAMED_PORTS, "%.60s: %s is port 1",
			at->name, tb_visible(word, shown, sizeof shown));
	return status;
}

int tb_edge_ports_find(struct tb_edge_ports *ports, struct tb_cabling *cabling,
	uint32_t device, char *word, uint64_t line, uint32_t *number)
{
	struct tb_cabling_device *at = &cabling->devices[device];
	uint64_t given = 0;
	bool numbered = is_number(word, &given);
	if (numbered ? at->lmc != 0 && at->lmc != ARE_NUMBERS : at->lmc == ARE_NUMBERS)
		return tb_cabling_refuse(cabling, line,
			"port '%.60s' of '%s': its other ports are %s", word, at->name,
			numbered ? "names" : "numbers");
	if (!numbered)
		return edge_port_find_named(ports, cabling, device, word, line, number);
	at->lmc = ARE_NUMBERS;
	*number = (uint32_t)given;
	return TB_OK;
}

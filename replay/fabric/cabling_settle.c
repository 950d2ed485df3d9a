// Makes one of the two views that a file has of each cable.
#include "cabling.h"

#include <inttypes.h>
#include <string.h>

// A place in the fabric that is being settled.
struct place {
	uint32_t device, port;
};

static struct tb_cabling_port *settle_port_at(
	const struct tb_cabling *cabling, struct place at)
{
	const struct tb_cabling_device *device = &cabling->devices[at.device];
	return at.port < device->n_ports ? &device->ports[at.port] : NULL;
}

static const char *settle_name_of(const struct tb_cabling *cabling, uint32_t device)
{
	return cabling->devices[device].name;
}

static void unplug(const struct tb_cabling *cabling, struct place at)
{
	struct tb_cabling_port *port = settle_port_at(cabling, at);
	if (port)
		*port = (struct tb_cabling_port){0};
}

static void unplug_both(const struct tb_cabling *cabling, struct place at)
{
	struct tb_cabling_port *port = settle_port_at(cabling, at);
	struct place other = {port->peer, port->peer_port};
	struct tb_cabling_port *back = settle_port_at(cabling, other);
	if (back && back->is_used && back->peer == at.device &&
		back->peer_port == at.port)
		unplug(cabling, other);
	unplug(cabling, at);
}

// settle_leave_out unplugs what is no cable between a switch and something else; 1 when
// it did.
static int settle_leave_out(struct tb_cabling *cabling, struct place at)
{
	const struct tb_cabling_port *port = settle_port_at(cabling, at);
	const struct tb_cabling_device *own = &cabling->devices[at.device],
				       *peer = &cabling->devices[port->peer];
	if (port->peer == at.device)
		tb_cabling_note(cabling, TB_REMARK_SELF_LOOP, "%s, ports %u and %u",
			own->name, at.port, port->peer_port);
	else if (own->kind != TB_DEVICE_SWITCH && peer->kind != TB_DEVICE_SWITCH)
		tb_cabling_note(cabling, TB_REMARK_BACK_TO_BACK, "%s and %s", own->name,
			peer->name);
	else if (!own->is_left_out && !peer->is_left_out)
		return 0;
	unplug_both(cabling, at);
	return 1;
}

// settle_line_of returns the line that shows a cable: of its own side or of the other.
static uint64_t settle_line_of(
	const struct tb_cabling *cabling, const struct tb_cabling_port *port)
{
	const struct tb_cabling_port *other =
		settle_port_at(cabling, (struct place){port->peer, port->peer_port});
	return port->line || !other ? port->line : other->line;
}

static int contradiction(const struct tb_cabling *cabling, struct place at,
	const struct tb_cabling_port *back)
{
	const struct tb_cabling_port *port = settle_port_at(cabling, at);
	return tb_cabling_refuse(cabling, port->line,
		"port %u of '%s' is cabled to port %u of '%s', which line %" PRIu64
		" has cabled to port %u of '%s'",
		at.port, settle_name_of(cabling, at.device), port->peer_port,
		settle_name_of(cabling, port->peer), settle_line_of(cabling, back),
		back->peer_port, settle_name_of(cabling, back->peer));
}

// take_lower gives both ends the lower rate of the two, or the one that is known.
static void take_lower(struct tb_cabling *cabling, struct place at,
	struct tb_cabling_port *port, struct tb_cabling_port *back)
{
	uint64_t one = port->bytes_per_s, other = back->bytes_per_s;
	uint64_t lower = one && (one < other || !other) ? one : other;
	if (one && other && one != other)
		tb_cabling_note(cabling, TB_REMARK_UNEQUAL_ENDS, "%s, port %u",
			settle_name_of(cabling, at.device), at.port);
	if (!lower && cabling->has_guids) // an edge list may give none
		tb_cabling_note(cabling, TB_REMARK_NO_RATE, "%s, port %u",
			settle_name_of(cabling, at.device), at.port);
	port->bytes_per_s = back->bytes_per_s = lower;
	if (!port->latency_ps)
		port->latency_ps = back->latency_ps;
	back->latency_ps = port->latency_ps;
}

// mirror gives the other end of a cable what only this one shows.
static int mirror(struct tb_cabling *cabling, struct place at)
{
	struct tb_cabling_port port = *settle_port_at(cabling, at), *back = NULL;
	const struct tb_cabling_device *peer = &cabling->devices[port.peer];
	if (peer->line == 0 && peer->kind == TB_DEVICE_SWITCH)
		return tb_cabling_refuse(cabling, port.line,
			"'%s' has a cable to the switch '%s', of which there is no "
			"entry: the file is cut off, or a part of it is missing",
			settle_name_of(cabling, at.device), peer->name);
	int status = tb_cabling_port(cabling, port.peer, port.peer_port, &back);
	if (status != TB_OK)
		return status;
	back->is_used = true;
	back->peer = at.device;
	back->peer_port = at.port;
	if (peer->line == 0)
		tb_cabling_note(cabling, TB_REMARK_NO_ENTRY, "%s", peer->name);
	else
		tb_cabling_note(cabling, TB_REMARK_ONE_SIDED,
			"line %" PRIu64 ": %s, port %u", port.line,
			settle_name_of(cabling, at.device), at.port);
	return TB_OK;
}

static int settle_port(struct tb_cabling *cabling, struct place at)
{
	struct tb_cabling_port *port = settle_port_at(cabling, at);
	if (!port->is_used || settle_leave_out(cabling, at))
		return TB_OK;
	struct place other = {port->peer, port->peer_port};
	const struct tb_cabling_port *back = settle_port_at(cabling, other);
	bool shown_twice = back && back->is_used;
	int status = shown_twice ? TB_OK : mirror(cabling, at);
	if (status != TB_OK)
		return status;
	port = settle_port_at(cabling, at);
	struct tb_cabling_port *mirrored = settle_port_at(cabling, other);
	if (mirrored->peer != at.device || mirrored->peer_port != at.port)
		return contradiction(cabling, at, mirrored);
	// Seen from its later end, a cable that both show is settled already.
	if (!shown_twice || other.device > at.device)
		take_lower(cabling, at, port, mirrored);
	return TB_OK;
}

int tb_cabling_settle(struct tb_cabling *cabling)
{
	for (uint32_t i = 0; i < cabling->n_devices; i++) {
		struct tb_cabling_device *at = &cabling->devices[i];
		if (at->kind != TB_DEVICE_ADAPTER ||
			!strstr(at->name, "Aggregation Node"))
			continue;
		at->is_left_out = at->is_aggregation = true;
		// Unplugged, its port forgets the LID.
		for (size_t port = 0; port < at->n_ports && at->lid == 0; port++)
			at->lid = at->ports[port].lid;
		tb_cabling_note(cabling, TB_REMARK_AGGREGATION_NODE, "GUID 0x%016" PRIx64,
			at->guid);
	}
	for (uint32_t i = 0; i < cabling->n_devices; i++)
		for (uint32_t port = 0; port < cabling->devices[i].n_ports; port++) {
			int status = settle_port(cabling, (struct place){i, port});
			if (status != TB_OK)
				return status;
		}
	return TB_OK;
}

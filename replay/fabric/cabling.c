#include "cabling.h"

#include "array.h"
#include "network.h"
#include "visible.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// What leaves room for a port behind a name.
enum { NAME_MOST = TB_IDENTITY_NAME_MOST - 6 };

void tb_cabling_fini(struct tb_cabling *cabling)
{
	for (uint32_t i = 0; i < cabling->n_devices; i++) {
		free(cabling->devices[i].name);
		free(cabling->devices[i].ports);
	}
	free(cabling->devices);
	for (uint32_t i = 0; i < cabling->n_port_names; i++)
		free(cabling->port_names[i].name);
	free(cabling->port_names);
	tb_map_fini(&cabling->of_guid);
	*cabling = (struct tb_cabling){0};
}

int tb_cabling_refuse(
	const struct tb_cabling *cabling, uint64_t line, const char *format, ...)
{
	char text[sizeof cabling->error->text];
	va_list arguments;
	va_start(arguments, format);
	vsnprintf(text, sizeof text, format, arguments);
	va_end(arguments);
	if (line == 0)
		return tb_fail_in(cabling->error, TB_EFORMAT, cabling->file, "%s", text);
	return tb_fail_at(cabling->error, TB_EFORMAT, cabling->file, TB_PLACE_LINE, line,
		"%s", text);
}

int tb_cabling_no_memory(const struct tb_cabling *cabling)
{
	return tb_fail_memory_in(cabling->error, cabling->file, "the fabric");
}

int tb_cabling_find(struct tb_cabling *cabling, enum tb_device_kind kind, uint64_t guid,
	uint32_t *device)
{
	if (tb_map_find(&cabling->of_guid, guid, device))
		return TB_OK;
	if (TB_ARRAY_RESERVE(&cabling->devices, &cabling->room,
		    (size_t)cabling->n_devices + 1) != TB_OK ||
		tb_map_put(&cabling->of_guid, guid, cabling->n_devices) != TB_OK)
		return tb_cabling_no_memory(cabling);
	cabling->devices[cabling->n_devices] =
		(struct tb_cabling_device){.kind = kind, .guid = guid};
	*device = cabling->n_devices++;
	return TB_OK;
}

int tb_cabling_name(
	struct tb_cabling *cabling, uint32_t device, const char *name, size_t n)
{
	char buffer[NAME_MOST + 1];
	char *given = strndup(name, n), *kept = NULL;
	if (given) {
		// A short one is visible as it is, and a long one is cut.
		const char *shown = tb_visible(given, buffer, sizeof buffer);
		if (shown == given)
			given[tb_visible_cut(given, NAME_MOST)] = '\0';
		kept = strdup(shown);
	}
	free(given);
	if (!kept)
		return tb_cabling_no_memory(cabling);
	free(cabling->devices[device].name);
	cabling->devices[device].name = kept;
	return TB_OK;
}

int tb_cabling_port(struct tb_cabling *cabling, uint32_t device, uint32_t port,
	struct tb_cabling_port **made)
{
	struct tb_cabling_device *at = &cabling->devices[device];
	if (port >= at->n_ports) {
		size_t n = port + (size_t)1;
		struct tb_cabling_port *ports = realloc(at->ports, n * sizeof *ports);
		if (!ports)
			return tb_cabling_no_memory(cabling);
		memset(ports + at->n_ports, 0, (n - at->n_ports) * sizeof *ports);
		at->ports = ports;
		at->n_ports = n;
	}
	*made = &at->ports[port];
	return TB_OK;
}

int tb_cabling_plug(struct tb_cabling *cabling, uint32_t device, uint32_t port,
	const struct tb_cabling_port *seen)
{
	struct tb_cabling_port *at = NULL;
	int status = tb_cabling_port(cabling, device, port, &at);
	if (status != TB_OK)
		return status;
	if (at->is_used)
		return tb_cabling_refuse(cabling, seen->line,
			"port %u of '%s' is here a second time, after line %" PRIu64,
			port, cabling->devices[device].name, at->line);
	*at = *seen;
	at->is_used = true;
	return TB_OK;
}

void tb_cabling_note(
	struct tb_cabling *cabling, enum tb_cabling_remark kind, const char *format, ...)
{
	if (cabling->remarks[kind].n++ > 0)
		return;
	va_list arguments;
	va_start(arguments, format);
	vsnprintf(cabling->remarks[kind].first, sizeof cabling->remarks[kind].first,
		format, arguments);
	va_end(arguments);
}

uint64_t tb_cabling_fastest(const struct tb_cabling *cabling)
{
	uint64_t most = 0;
	for (uint32_t i = 0; i < cabling->n_devices; i++)
		for (size_t port = 0; port < cabling->devices[i].n_ports; port++)
			if (cabling->devices[i].ports[port].bytes_per_s > most)
				most = cabling->devices[i].ports[port].bytes_per_s;
	return most;
}

const char *tb_cabling_remark_text(const struct tb_cabling *cabling,
	enum tb_cabling_remark kind, char *buffer, size_t size)
{
	static const struct {
		const char *one, *many; // "N" of the latter stands before it
	} texts[TB_N_REMARKS] = {
		[TB_REMARK_STRAY_LINE] =
			{"a line was passed over that belongs to no entry",
				"lines were passed over that belong to no entry"},
		[TB_REMARK_SELF_LOOP] = {"a cable was left out that leads back to its "
					 "own switch",
			"cables were left out that lead back to their own switches"},
		[TB_REMARK_AGGREGATION_NODE] = {"an aggregation node (SHARP) was left "
						"out: it is no host",
			"aggregation nodes (SHARP) were left out: they are no hosts"},
		[TB_REMARK_ONE_SIDED] = {"a cable is seen from one of its ends only",
			"cables are seen from one of their ends only"},
		[TB_REMARK_UNEQUAL_ENDS] = {"a cable has another rate at each end; the "
					    "lower one was taken",
			"cables have another rate at each end; the lower one was taken"},
		[TB_REMARK_NO_RATE] = {"a cable gives no rate that is known; the "
				       "preset's was taken",
			"cables give no rate that is known; the preset's was taken"},
		[TB_REMARK_NO_ENTRY] = {"a host is known from its switch's entry only",
			"hosts are known from their switches' entries only"},
		[TB_REMARK_NAMELESS] =
			{"an adapter does not name its host and goes by its "
			 "GUID",
				"adapters do not name their hosts and go by their GUIDs"},
		[TB_REMARK_SAME_NAME] = {"a name stands for several devices, which got "
					 "their GUIDs or LIDs added",
			"names stand for several devices each, which got their GUIDs "
			"or LIDs added"},
		[TB_REMARK_NO_HOSTS] = {"a switch was left out that is joined to no host",
			"switches were left out that are joined to no host"},
		[TB_REMARK_BACK_TO_BACK] =
			{"a cable was left out that joins two adapters",
				"cables were left out that join two adapters"},
		[TB_REMARK_LEVELS] =
			{"levels are counted down from a root: counted up from the "
			 "leaves, not every host reaches every other",
				""},
		[TB_REMARK_DOUBTFUL_LEVEL] =
			{"the level of a switch is doubtful: roots=FILE behind "
			 "the fabric's name decides",
				"switches have doubtful levels: roots=FILE behind the "
				"fabric's name decides"},
		[TB_REMARK_NO_CABLE] = {"a device that is declared has no cable",
			"devices that are declared have no cable"},
		[TB_REMARK_NO_ROOT] =
			{"a root was passed over that the fabric does not have",
				"roots were passed over that the fabric does not have"},
		[TB_REMARK_NAMED_PORTS] =
			{"the ports of a device have names and go by their order in the "
			 "file",
				"devices have ports with names, which go by their order "
				"in the file"},
		[TB_REMARK_ONE_CABLE_EACH] =
			{"a pair of switches got one cable, as the file does not give "
			 "their number",
				"pairs of switches got one cable each, as the file does "
				"not give their number"},
		[TB_REMARK_NO_SPEED] = {"a LinkSpeed was passed over: it is no rate such "
					"as 100Gbit/s",
			"LinkSpeeds were passed over: they are no rates such as "
			"100Gbit/s"},
		[TB_REMARK_SECOND_NEIGHBOR] =
			{"a neighbour was passed over, of a port that has another",
				"neighbours were passed over, of ports that have others"},
		[TB_REMARK_NO_DEVICE] =
			{"a name was passed over, of a GUID that the fabric does not "
			 "have",
				"names were passed over, of GUIDs that the fabric does "
				"not have"},
		[TB_REMARK_QUEUE_SIZE] = {"the size of a queue was passed over: the "
					  "preset gives those of buffers",
			"sizes of queues were passed over: the preset gives those of "
			"buffers"},
	};
	uint64_t n = cabling->remarks[kind].n;
	if (n == 0)
		return NULL;
	if (n == 1)
		snprintf(buffer, size, "%s (%s)", texts[kind].one,
			cabling->remarks[kind].first);
	else
		snprintf(buffer, size, "%" PRIu64 " %s (first: %s)", n, texts[kind].many,
			cabling->remarks[kind].first);
	return buffer;
}

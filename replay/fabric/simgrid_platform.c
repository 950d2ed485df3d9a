#include "fabric_readers.h"

#include "array.h"
#include "cabling_rates.h"
#include "hash.h"
#include "name_ranges.h"
#include "shape.h"
#include "text_lines.h"
#include "units.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define NOTHING UINT32_MAX

enum { ATTRIBUTES_MOST = 32, ZONES_MOST = 32, TEXT_MOST = 32 << 20 };

struct simgrid_link {
	const char *id;
	struct tb_cabling_port cable;
	uint32_t n_routes; // between zones, that cross it alone
	uint32_t device;   // the switch that stands for it; NOTHING: none
};

// A route between two devices that crosses one link.
struct simgrid_route {
	const char *from, *to, *link;
	bool is_of_zones;
	uint64_t line;
};

struct simgrid_reading {
	struct tb_cabling *cabling;
	char *text; // owned: all of the file, in which names live
	size_t n_text, text_room;
	const char *at;
	const char *counted; // up to where lines have been counted
	uint64_t n_line;     // that is in this line
	const char *tag;
	bool ends, is_closing; // <tag/>, </tag>
	struct {
		const char *name, *value;
	} attributes[ATTRIBUTES_MOST];
	size_t n_attributes;
	const char *zones[ZONES_MOST]; // ids of those that are open
	size_t n_zones;
	struct simgrid_link *links;
	size_t n_links, links_room;
	struct tb_map link_of; // hash of an id
	struct simgrid_route *routes;
	size_t n_routes, routes_room;
	struct simgrid_route route; // that is open
	uint32_t n_crossed;	    // links of it
	// What is being expanded: hosts of a cluster.
	const struct tb_cabling_port *cable;
	const struct tb_shape *shape; // NULL: all hosts are joined to `router`
	uint32_t router, n_hosts, *leaves;
	uint64_t left; // names that there still may be
};

bool tb_simgrid_platform_is(const char *line)
{
	return strstr(line, "<platform") != NULL ||
	       (strstr(line, "<!DOCTYPE platform") != NULL && strstr(line, "simgrid"));
}

static const char *attribute(const struct simgrid_reading *reading, const char *name)
{
	for (size_t i = 0; i < reading->n_attributes; i++)
		if (strcmp(reading->attributes[i].name, name) == 0)
			return reading->attributes[i].value;
	return NULL;
}

// needed returns an attribute, or "" and an error in `status`.
static const char *needed(struct simgrid_reading *reading, const char *name, int *status)
{
	const char *value = attribute(reading, name);
	if (!value && *status == TB_OK)
		*status = REFUSE(reading, "<%s> has no %s", reading->tag, name);
	return value ? value : "";
}

// end_word ends a word in place; what it overwrites may be the end of a line.
static void end_word(struct simgrid_reading *reading, char *at)
{
	reading->n_line += *at == '\n';
	*at = '\0';
}

// next_tag finds the next tag, in place: 1, 0 at the end, or negative.
static int next_tag(struct simgrid_reading *reading)
{
	char *at = (char *)(uintptr_t)strchr(reading->at, '<');
	for (; at && (at[1] == '!' || at[1] == '?'); at = at ? strchr(at, '<') : NULL) {
		const char *end = strncmp(at, "<!--", 4) == 0 ? "-->" : ">";
		at = strstr(at, end);
	}
	if (!at)
		return 0;
	for (; reading->counted < at; reading->counted++)
		reading->n_line += *reading->counted == '\n';
	reading->cabling->line = reading->n_line;
	reading->is_closing = at[1] == '/';
	at += 1 + reading->is_closing;
	reading->tag = at;
	at += strcspn(at, " \t\r\n/>");
	reading->n_attributes = 0;
	reading->ends = false;
	for (char *end_of_word = at;; end_of_word = at) {
		at += strspn(at, " \t\r\n");
		if (*at == '\0')
			return REFUSE(reading, "the file is cut off in a tag");
		bool ends = *at == '/' && at[1] == '>';
		if (*at == '>' || ends) {
			reading->ends = ends;
			reading->at = at + 1 + ends;
			end_word(reading, end_of_word);
			return 1;
		}
		char *name = at;
		at += strcspn(at, " \t\r\n=/>");
		char *end_of_name = at;
		at += strspn(at, " \t\r\n");
		char quote = *at == '=' ? at[1 + strspn(at + 1, " \t\r\n")] : '\0';
		if (quote != '"' && quote != '\'')
			return REFUSE(reading, "expected NAME=\"VALUE\" in a tag");
		char *value = strchr(at, quote) + 1;
		char *end = strchr(value, quote);
		if (!end)
			return REFUSE(reading, "the file is cut off in a tag");
		if (reading->n_attributes == ATTRIBUTES_MOST)
			return REFUSE(
				reading, "more than %d attributes", ATTRIBUTES_MOST);
		end_word(reading, end_of_word);
		end_word(reading, end_of_name);
		end_word(reading, end);
		reading->attributes[reading->n_attributes].name = name;
		reading->attributes[reading->n_attributes++].value = value;
		at = end + 1;
		// The quote's place ends the word before.
		end_of_word = end;
	}
}

// read_cable reads a bandwidth and a latency, of which a number without unit is bytes per
// second, and seconds.
static int read_cable(struct simgrid_reading *reading, const char *bandwidth,
	const char *latency, struct tb_cabling_port *cable)
{
	char *end = NULL;
	*cable = (struct tb_cabling_port){.line = reading->cabling->line};
	if (!tb_cabling_rate_read(bandwidth, 'B', &cable->bytes_per_s))
		return REFUSE(reading,
			"'%.30s': expected a bandwidth such as 125MBps or 10Gbps",
			bandwidth);
	double seconds = *latency ? strtod(latency, &end) : 0;
	bool is_bare = *latency == '\0' || (end != latency && *end == '\0');
	if (is_bare && seconds >= 0 && seconds <= 1)
		cable->latency_ps = (tb_time_ps)(seconds * (double)TB_PS_PER_S);
	else if (is_bare || tb_parse_time(latency, &cable->latency_ps) != TB_OK ||
		 cable->latency_ps > TB_PS_PER_S)
		return REFUSE(
			reading, "'%.30s': expected a latency such as 50us", latency);
	cable->latency_ps += cable->latency_ps == 0; // 0 would be the preset's
	return TB_OK;
}

static int take_link(struct simgrid_reading *reading)
{
	int status = TB_OK;
	const char *latency = attribute(reading, "latency");
	struct simgrid_link made = {
		.id = needed(reading, "id", &status), .device = NOTHING};
	const char *bandwidth = needed(reading, "bandwidth", &status);
	if (status == TB_OK)
		status = read_cable(
			reading, bandwidth, latency ? latency : "", &made.cable);
	if (status != TB_OK)
		return status;
	if (TB_ARRAY_RESERVE(&reading->links, &reading->links_room,
		    reading->n_links + 1) != TB_OK ||
		tb_map_put(&reading->link_of, tb_hash_text(TB_HASH_BEGIN, made.id),
			(uint32_t)reading->n_links) != TB_OK)
		return tb_cabling_no_memory(reading->cabling);
	reading->links[reading->n_links++] = made;
	return TB_OK;
}

static struct simgrid_link *link_named(struct simgrid_reading *reading, const char *id)
{
	uint32_t link;
	return tb_map_find(&reading->link_of, tb_hash_text(TB_HASH_BEGIN, id), &link)
		       ? &reading->links[link]
		       : NULL;
}

// join_host adds a host of a cluster.
static int join_host(void *context, const char *name)
{
	struct simgrid_reading *reading = context;
	uint32_t host, upper = reading->router;
	if (reading->shape && reading->n_hosts >= tb_shape_n_nodes(reading->shape))
		return REFUSE(
			reading, "'%.60s' is one host more than the fat tree has", name);
	if (reading->shape)
		upper = reading->leaves[reading->n_hosts / reading->shape->m[0]];
	int status =
		tb_cabling_find_new(reading->cabling, name, TB_DEVICE_ADAPTER, &host);
	reading->n_hosts++;
	return status == TB_OK
		       ? tb_cabling_join(reading->cabling, upper, host, reading->cable)
		       : status;
}

// expand_hosts adds the hosts that prefix, radical ("0-3,7") and suffix name.
static int expand_hosts(struct simgrid_reading *reading)
{
	char *names = NULL;
	int status = TB_OK;
	struct tb_error why = {0};
	const char *prefix = attribute(reading, "prefix");
	const char *suffix = attribute(reading, "suffix");
	const char *radical = needed(reading, "radical", &status);
	if (status != TB_OK)
		return status;
	reading->n_hosts = 0;
	if (asprintf(&names, "%s[%s]%s", prefix ? prefix : "", radical,
		    suffix ? suffix : "") < 0)
		return tb_cabling_no_memory(reading->cabling);
	status = tb_name_ranges_expand(names, &reading->left, join_host, reading, &why);
	free(names);
	return why.code == TB_EUSAGE ? REFUSE(reading, "%s", why.text) : status;
}

// grow_tree adds the switches of a fat tree above its hosts, and their cables, as
// regular_tree.c numbers them. `devices` has room for all, level by level.
static int grow_tree(struct simgrid_reading *reading, const char *id,
	const struct tb_shape *shape, uint32_t *devices)
{
	uint32_t first = 0, above = 1;
	int status = TB_OK;
	for (uint32_t level = 0; level < shape->n_levels; level++) {
		uint32_t n = tb_shape_n_switches(shape, level), below = above;
		above *= shape->w[level];
		for (uint32_t i = 0; i < n && status == TB_OK; i++) {
			char name[80];
			snprintf(name, sizeof name, "%.40s switch %u.%u", id, level, i);
			status = tb_cabling_find_new(reading->cabling, name,
				TB_DEVICE_SWITCH, &devices[first + i]);
		}
		uint32_t n_below = level ? tb_shape_n_switches(shape, level - 1) : 0;
		uint32_t m = shape->m[level], w = shape->w[level];
		for (uint32_t i = 0; i < n_below; i++)
			for (uint32_t q = 0; q < w * shape->p[level] && status == TB_OK;
				q++)
				status = tb_cabling_join(reading->cabling,
					devices[first - n_below + i],
					devices[first + i % below + below * (q % w) +
						above * (i / below / m)],
					reading->cable);
		first += n;
	}
	return status;
}

static int take_fat_tree(struct simgrid_reading *reading, const char *id)
{
	int status = TB_OK;
	char text[TB_SHAPE_TEXT + 8];
	struct tb_shape shape;
	struct tb_error why = {0};
	uint64_t n = 0;
	const char *parameters = needed(reading, "topo_parameters", &status);
	if (strlen(parameters) > TB_SHAPE_TEXT)
		return REFUSE(reading, "the topo_parameters of a FAT_TREE are too long");
	snprintf(text, sizeof text, "pgft(%s)", parameters);
	if (status == TB_OK && tb_shape_parse(&shape, text, &why) != TB_OK)
		return REFUSE(reading, "the topo_parameters of a FAT_TREE: %s", why.text);
	for (uint32_t level = 0; status == TB_OK && level < shape.n_levels; level++)
		n += tb_shape_n_switches(&shape, level) *
		     (1 + (uint64_t)tb_shape_n_up(&shape, level));
	if (n > TB_FABRIC_CABLES_MOST)
		return REFUSE(reading,
			"a FAT_TREE of %" PRIu64 " switches and cables: %u are the most",
			n, TB_FABRIC_CABLES_MOST);
	uint32_t *devices = status == TB_OK ? malloc((n + 1) * sizeof *devices) : NULL;
	if (status == TB_OK && !devices)
		status = tb_cabling_no_memory(reading->cabling);
	if (status == TB_OK)
		status = grow_tree(reading, id, &shape, devices);
	reading->leaves = devices;
	reading->shape = &shape;
	if (status == TB_OK)
		status = expand_hosts(reading);
	if (status == TB_OK && reading->n_hosts < tb_shape_n_nodes(&shape))
		status =
			REFUSE(reading, "the fat tree has %u hosts, and radical names %u",
				tb_shape_n_nodes(&shape), reading->n_hosts);
	free(devices);
	reading->shape = NULL;
	reading->leaves = NULL;
	return status;
}

// take_cluster adds a cluster: a fat tree, or hosts at one switch.
static int take_cluster(struct simgrid_reading *reading)
{
	int status = TB_OK;
	struct tb_cabling_port cable;
	char name[160];
	const char *topology = attribute(reading, "topology");
	const char *id = needed(reading, "id", &status);
	const char *bandwidth = needed(reading, "bw", &status);
	const char *latency = needed(reading, "lat", &status);
	const char *router = attribute(reading, "router_id");
	const char *prefix = attribute(reading, "prefix");
	const char *suffix = attribute(reading, "suffix");
	if (status == TB_OK)
		status = read_cable(reading, bandwidth, latency, &cable);
	if (status != TB_OK)
		return status;
	reading->cable = &cable;
	if (topology && strcmp(topology, "FAT_TREE") == 0)
		return take_fat_tree(reading, id);
	if (topology && strcmp(topology, "FLAT") != 0)
		return REFUSE(reading,
			"the cluster '%.40s' is a %.20s: trees alone are simulated "
			"(FAT_TREE, or a flat cluster)",
			id, topology);
	if (attribute(reading, "bb_bw"))
		tb_cabling_note(reading->cabling, TB_REMARK_BACKBONE, "%.60s", id);
	snprintf(name, sizeof name, "%.40s%.40s_router%.40s", prefix ? prefix : "", id,
		suffix ? suffix : "");
	status = tb_cabling_find_new(reading->cabling, router ? router : name,
		TB_DEVICE_SWITCH, &reading->router);
	return status == TB_OK ? expand_hosts(reading) : status;
}

// zone_switch finds the switch that stands for the innermost zone, whose cabinets and
// hosts share it.
static int zone_switch(struct simgrid_reading *reading, uint32_t *device)
{
	char name[80];
	snprintf(name, sizeof name, "%.60s switch",
		reading->n_zones ? reading->zones[reading->n_zones - 1] : "platform");
	return tb_cabling_has_named(reading->cabling, name)
		       ? tb_cabling_find_named(reading->cabling, name, device)
		       : tb_cabling_find_new(
				 reading->cabling, name, TB_DEVICE_SWITCH, device);
}

static int take_cabinet(struct simgrid_reading *reading)
{
	int status = TB_OK;
	struct tb_cabling_port cable;
	const char *bandwidth = needed(reading, "bw", &status);
	const char *latency = needed(reading, "lat", &status);
	if (status == TB_OK)
		status = read_cable(reading, bandwidth, latency, &cable);
	reading->cable = &cable;
	if (status == TB_OK)
		status = zone_switch(reading, &reading->router);
	return status == TB_OK ? expand_hosts(reading) : status;
}

// take_host_link joins a host to its zone's switch.
static int take_host_link(struct simgrid_reading *reading)
{
	int status = TB_OK;
	uint32_t host, upper;
	const char *id = needed(reading, "id", &status);
	const struct simgrid_link *link =
		link_named(reading, needed(reading, "up", &status));
	if (status == TB_OK && !link)
		return REFUSE(reading, "the link up of '%.40s' has no <link>", id);
	if (status == TB_OK)
		status = tb_cabling_find_named(reading->cabling, id, &host);
	if (status == TB_OK)
		status = zone_switch(reading, &upper);
	return status == TB_OK
		       ? tb_cabling_join(reading->cabling, upper, host, &link->cable)
		       : status;
}

static int end_route(struct simgrid_reading *reading)
{
	struct simgrid_route route = reading->route;
	reading->route = (struct simgrid_route){.from = NULL};
	if (!route.from || (reading->n_crossed != 1 && !route.is_of_zones))
		return TB_OK; // a path, over cables that other routes are
	if (reading->n_crossed != 1)
		return tb_cabling_refuse_at(reading->cabling, route.line,
			"a route between zones crosses %u links: expected one, for no "
			"name says what is between several",
			reading->n_crossed);
	if (TB_ARRAY_RESERVE(&reading->routes, &reading->routes_room,
		    reading->n_routes + 1) != TB_OK)
		return tb_cabling_no_memory(reading->cabling);
	reading->routes[reading->n_routes++] = route;
	struct simgrid_link *link = link_named(reading, route.link);
	if (!link)
		return tb_cabling_refuse_at(reading->cabling, route.line,
			"the link '%.40s' of a route has no <link>", route.link);
	link->n_routes += route.is_of_zones;
	return TB_OK;
}

static int begin_route(struct simgrid_reading *reading, bool is_of_zones)
{
	int status = TB_OK;
	reading->route = (struct simgrid_route){.is_of_zones = is_of_zones,
		.line = reading->cabling->line,
		.from = needed(reading, is_of_zones ? "gw_src" : "src", &status),
		.to = needed(reading, is_of_zones ? "gw_dst" : "dst", &status)};
	reading->n_crossed = 0;
	return status == TB_OK && reading->ends ? end_route(reading) : status;
}

static int cross_link(struct simgrid_reading *reading)
{
	int status = TB_OK;
	reading->route.link = needed(reading, "id", &status);
	reading->n_crossed++;
	return status;
}

static int take_tag(struct simgrid_reading *reading)
{
	static const char *const refused[] = {"peer", "trace_connect", "random"};
	const char *tag = reading->tag;
	bool is_zone = strcmp(tag, "zone") == 0 || strcmp(tag, "AS") == 0;
	bool is_route = strcmp(tag, "route") == 0;
	bool is_zone_route = strcmp(tag, "zoneRoute") == 0 || strcmp(tag, "ASroute") == 0;
	uint32_t device;
	int status = TB_OK;
	if (reading->is_closing) {
		reading->n_zones -= is_zone && reading->n_zones > 0;
		return is_route || is_zone_route ? end_route(reading) : TB_OK;
	}
	if (is_zone && !reading->ends) {
		if (reading->n_zones == ZONES_MOST)
			return REFUSE(
				reading, "more than %d zones in each other", ZONES_MOST);
		const char *id = attribute(reading, "id");
		reading->zones[reading->n_zones++] = id ? id : "zone";
	} else if (strcmp(tag, "host") == 0 || strcmp(tag, "router") == 0) {
		const char *id = needed(reading, "id", &status);
		return status == TB_OK ? tb_cabling_find_new(reading->cabling, id,
						 *tag == 'h' ? TB_DEVICE_ADAPTER
							     : TB_DEVICE_SWITCH,
						 &device)
				       : status;
	} else if (strcmp(tag, "link") == 0)
		return take_link(reading);
	else if (strcmp(tag, "cluster") == 0)
		return take_cluster(reading);
	else if (strcmp(tag, "cabinet") == 0)
		return take_cabinet(reading);
	else if (strcmp(tag, "host_link") == 0)
		return take_host_link(reading);
	else if (strcmp(tag, "backbone") == 0)
		tb_cabling_note(reading->cabling, TB_REMARK_BACKBONE, "line %" PRIu64,
			reading->cabling->line);
	else if (is_route || is_zone_route)
		return begin_route(reading, is_zone_route);
	else if (strcmp(tag, "link_ctn") == 0)
		return cross_link(reading);
	for (size_t i = 0; i < sizeof refused / sizeof *refused; i++)
		if (strcmp(tag, refused[i]) == 0)
			return REFUSE(reading,
				"<%s> is not read: expected clusters, or "
				"routers and routes of one link",
				tag);
	return TB_OK;
}

static int find_end(struct simgrid_reading *reading, const char *name, uint32_t *device)
{
	return tb_cabling_has_named(reading->cabling, name)
		       ? tb_cabling_find_named(reading->cabling, name, device)
		       : REFUSE(reading, "'%.60s' of a route is no host and no router",
				 name);
}

// join_route makes a cable of a route. A link that several zones share becomes a switch
// between them, with half its latency on either side.
static int join_route(struct simgrid_reading *reading, const struct simgrid_route *route)
{
	struct simgrid_link *link = link_named(reading, route->link);
	uint32_t one, other;
	reading->cabling->line = route->line;
	int status = find_end(reading, route->from, &one);
	if (status == TB_OK)
		status = find_end(reading, route->to, &other);
	if (status != TB_OK || (link->n_routes < 2 && one == other))
		return status;
	if (link->n_routes < 2)
		return tb_cabling_join_once(reading->cabling, one, other, &link->cable);
	struct tb_cabling_port half = link->cable;
	half.latency_ps = (half.latency_ps + 1) / 2;
	if (link->device == NOTHING) {
		char name[80];
		snprintf(name, sizeof name, "link %.60s", link->id);
		status = tb_cabling_find_new(
			reading->cabling, name, TB_DEVICE_SWITCH, &link->device);
	}
	if (status == TB_OK)
		status = tb_cabling_join_once(reading->cabling, one, link->device, &half);
	return status == TB_OK ? tb_cabling_join_once(
					 reading->cabling, other, link->device, &half)
			       : status;
}

static int gather_line(void *context, struct tb_text_lines *lines)
{
	struct simgrid_reading *reading = context;
	size_t n = reading->n_text + lines->length + 2;
	if (n > TEXT_MOST)
		return tb_cabling_refuse_at(reading->cabling, lines->number,
			"a platform of more than %d MiB", TEXT_MOST >> 20);
	if (TB_ARRAY_RESERVE(&reading->text, &reading->text_room, n) != TB_OK)
		return tb_cabling_no_memory(reading->cabling);
	memcpy(reading->text + reading->n_text, lines->text, lines->length);
	reading->n_text += lines->length + 1;
	memcpy(reading->text + reading->n_text - 1, "\n", 2);
	return TB_OK;
}

static int read_tags(struct simgrid_reading *reading)
{
	int status = TB_OK, found = 1;
	if (!reading->text)
		return tb_cabling_refuse_at(reading->cabling, 0, "is empty");
	reading->at = reading->counted = reading->text;
	while (status == TB_OK && (found = next_tag(reading)) > 0)
		status = take_tag(reading);
	status = found < 0 ? found : status;
	for (size_t i = 0; i < reading->n_routes && status == TB_OK; i++)
		status = join_route(reading, &reading->routes[i]);
	bool is_joined = false;
	for (uint32_t i = 0; i < reading->cabling->n_devices; i++)
		is_joined |= reading->cabling->devices[i].n_ports > 0;
	if (status == TB_OK && !is_joined)
		status = tb_cabling_refuse_at(reading->cabling, 0,
			"has no cluster and no route of one link: no name says what is "
			"between the links of a route");
	return status;
}

int tb_simgrid_platform_read(struct tb_cabling *cabling, FILE *stream)
{
	struct simgrid_reading reading = {
		.cabling = cabling, .n_line = 1, .left = TB_FABRIC_CABLES_MOST};
	int status = tb_fabric_each_line(cabling, stream, gather_line, &reading);
	if (status == TB_OK)
		status = read_tags(&reading);
	free(reading.text);
	free(reading.links);
	free(reading.routes);
	tb_map_fini(&reading.link_of);
	return status;
}

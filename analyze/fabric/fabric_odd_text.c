// What is odd about a fabric, in words: what lacks, is slow, crossed, swapped or dead.
#include "fabric_impl.h"
#include "fabric_report.h"
#include "names.h"
#include "speed_text.h"
#include "units.h"
#include "visible.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define NAMED	 2 // things that a sentence names, of several alike
#define LUMPED	 3 // slower cables of a kind from which they are one line
#define NAME	 TB_NAME_SIZE
#define PORTNAME 64
#define LINKNAME TB_FABRIC_LINK_TEXT

char *tb_fabric_switch_text(
	const struct tb_network *net, struct tb_switch sw, char *buffer, size_t size)
{
	char name[TB_NAME_SIZE], visible[TB_NAME_SIZE];
	snprintf(buffer, size, "%s",
		tb_visible(tb_names_switch(net, sw, name, sizeof name), visible,
			sizeof visible));
	return buffer;
}

char *tb_fabric_node_text(
	const struct tb_network *net, uint32_t node, char *buffer, size_t size)
{
	char name[TB_NAME_SIZE], visible[TB_NAME_SIZE];
	tb_names_node(net, (struct tb_node){node}, name, sizeof name);
	snprintf(buffer, size, "%s", tb_visible(name, visible, sizeof visible));
	return buffer;
}

// write_port writes a switch's port behind its name: as the fabric calls it, with the
// number that other commands show where the name does not end with it; or, of a link
// between switches, by its number alone.
static void write_port(const struct tb_network *net, struct tb_switch sw, uint32_t port,
	bool of_node, char *buffer, size_t size)
{
	uint32_t number = tb_network_port_number(net, sw, port);
	char digits[16], visible[PORTNAME];
	snprintf(digits, sizeof digits, "%u", number);
	snprintf(buffer, size, "%s%s", of_node ? "" : ":", of_node ? "" : digits);
	for (uint32_t i = 0; i < tb_network_n_port_names(net); i++) {
		struct tb_port_name at = tb_network_port_name(net, i);
		if (at.of_node || at.id != sw.id || at.number != number)
			continue;
		const char *name = tb_visible(at.name, visible, sizeof visible);
		size_t rest = strlen(name);
		while (rest > 0 && name[rest - 1] >= '0' && name[rest - 1] <= '9')
			rest--;
		if (strcmp(name + rest, digits) == 0)
			snprintf(buffer, size, ":%s", name);
		else
			snprintf(buffer, size, ":%s (%u)", name, number);
		return;
	}
}

char *tb_fabric_link_text(
	const struct tb_network *net, struct tb_link link, char *buffer, size_t size)
{
	struct tb_link_info at = tb_network_link(net, link);
	bool enters = at.kind == TB_LINK_INJECTION, leaves = at.kind == TB_LINK_EJECTION;
	char from[TB_NAME_SIZE], to[TB_NAME_SIZE];
	char out[PORTNAME] = "", in[PORTNAME] = "";
	if (!enters)
		write_port(net, (struct tb_switch){at.from}, at.from_port, leaves, out,
			sizeof out);
	if (!leaves)
		write_port(net, (struct tb_switch){at.to}, at.to_port, enters, in,
			sizeof in);
	snprintf(buffer, size, "%s%s > %s%s",
		enters ? tb_fabric_node_text(net, at.from, from, sizeof from)
		       : tb_fabric_switch_text(
				 net, (struct tb_switch){at.from}, from, sizeof from),
		out,
		leaves ? tb_fabric_node_text(net, at.to, to, sizeof to)
		       : tb_fabric_switch_text(
				 net, (struct tb_switch){at.to}, to, sizeof to),
		in);
	return buffer;
}

const char *tb_oddity_name(enum tb_oddity_kind kind)
{
	static const char *const names[TB_N_ODDITIES] = {
		[TB_ODDITY_FEWER_UP] = "fewer up",
		[TB_ODDITY_MISSING] = "missing",
		[TB_ODDITY_UNEVEN] = "uneven up",
		[TB_ODDITY_CROSSED] = "crossed",
		[TB_ODDITY_NO_SWITCH] = "no switch",
		[TB_ODDITY_TAPER] = "taper or no switch",
		[TB_ODDITY_FEWER_DOWN] = "fewer down",
		[TB_ODDITY_SLOWER] = "slower",
		[TB_ODDITY_EMPTY] = "no hosts",
		[TB_ODDITY_HIGH_NODE] = "high nodes",
		[TB_ODDITY_SKIPS] = "skips a level",
		[TB_ODDITY_ASIDE] = "aside",
		[TB_ODDITY_OFF_RAIL] = "off its rail",
		[TB_ODDITY_OUT_OF_ORDER] = "out of order",
		[TB_ODDITY_NO_HOST] = "no host",
		[TB_ODDITY_HOST_CABLES] = "host's cables",
		[TB_ODDITY_DOUBTFUL] = "doubtful level",
	};
	return names[kind];
}

bool tb_oddity_has_link(enum tb_oddity_kind kind)
{
	return kind == TB_ODDITY_SLOWER || kind == TB_ODDITY_SKIPS ||
	       kind == TB_ODDITY_ASIDE || kind == TB_ODDITY_OFF_RAIL ||
	       kind == TB_ODDITY_OUT_OF_ORDER || kind == TB_ODDITY_HOST_CABLES;
}

// cables_up counts the cables from a switch up to another.
static uint32_t cables_up(
	const struct tb_network *net, struct tb_switch from, uint32_t to)
{
	uint32_t n = 0;
	for (uint32_t link = 0; link < tb_network_n_links(net); link++) {
		struct tb_link_info at = tb_network_link(net, (struct tb_link){link});
		n += at.kind == TB_LINK_UP && at.from == from.id && at.to == to;
	}
	return n;
}

// next_above returns the first switch, from `least` on, to which one has a cable up;
// TB_ID_NONE: there is none.
static uint32_t next_above(
	const struct tb_network *net, struct tb_switch from, uint32_t least)
{
	uint32_t next = TB_ID_NONE;
	for (uint32_t link = 0; link < tb_network_n_links(net); link++) {
		struct tb_link_info at = tb_network_link(net, (struct tb_link){link});
		if (at.kind == TB_LINK_UP && at.from == from.id && at.to >= least &&
			at.to < next)
			next = at.to;
	}
	return next;
}

// write_uneven writes of a switch with all its cables, which it has to others than its
// peers: to one or two by name.
static void write_uneven(const struct tb_network *net, const struct tb_oddity *odd,
	char *buffer, size_t size)
{
	char one[NAME], name[NAME], above[3 * NAME] = "", n_above[48];
	size_t used = 0;
	uint32_t to = odd->n <= NAMED ? next_above(net, odd->sw, 0) : TB_ID_NONE;
	for (; to != TB_ID_NONE && used < sizeof above;
		to = next_above(net, odd->sw, to + 1))
		used += (size_t)snprintf(above + used, sizeof above - used, "%s%u to %s",
			used ? ", " : "", cables_up(net, odd->sw, to),
			tb_fabric_switch_text(
				net, (struct tb_switch){to}, name, sizeof name));
	snprintf(buffer, size,
		"%s has all its cables up to %s%s%s%s, its peers to %" PRIu64,
		tb_fabric_switch_text(net, odd->sw, one, sizeof one),
		tb_format_counted(odd->n, "switch|switches", n_above, sizeof n_above),
		*above ? " (" : "", above, *above ? ")" : "", odd->usual);
}

// write_out_of_order writes of a host on the wrong leaf by its name.
static void write_out_of_order(const struct tb_network *net, const struct tb_oddity *odd,
	char *buffer, size_t size)
{
	char host[NAME], is[NAME], before[NAME], behind[NAME], belongs[NAME];
	tb_fabric_node_text(net, tb_network_link(net, odd->link).from, host, sizeof host);
	tb_fabric_switch_text(net, odd->sw, is, sizeof is);
	tb_fabric_node_text(net, (uint32_t)odd->n, before, sizeof before);
	tb_fabric_switch_text(net, odd->other, belongs, sizeof belongs);
	if (odd->n == odd->usual)
		snprintf(buffer, size, "%s on %s and %s on %s are likely swapped", host,
			is, before, belongs);
	else if (odd->usual == TB_ID_NONE)
		snprintf(buffer, size,
			"%s is on %s, but %s is on %s, which has fewer hosts than others",
			host, is, before, belongs);
	else
		snprintf(buffer, size, "%s is on %s, but %s and %s are on %s", host, is,
			before,
			tb_fabric_node_text(
				net, (uint32_t)odd->usual, behind, sizeof behind),
			belongs);
}

char *tb_fabric_missing_name(const struct tb_network *net, const struct tb_oddity *odd,
	char *buffer, size_t size)
{
	struct tb_name_numbers at;
	bool has_other = odd->other.id != TB_ID_NONE;
	*buffer = '\0';
	const char *of = tb_network_switch_identity(net, odd->sw).name;
	if (!has_other || !tb_fabric_name_numbers(of,
				  tb_network_switch_identity(net, odd->other).name, &at))
		return buffer;
	// Past `sw`, or between the two.
	bool rises = (at.one > at.other) == (odd->kind == TB_ODDITY_TAPER);
	snprintf(buffer, size, "%.*s%0*" PRIu64 "%s", (int)at.begins, of, (int)at.n,
		rises ? at.one + 1 : at.one - 1, of + at.begins + at.n);
	return buffer;
}

static void write_no_host(const struct tb_network *net, const struct tb_oddity *odd,
	char *buffer, size_t size)
{
	char before[NAME], behind[NAME], leaf[NAME], gone[48];
	struct tb_node one = {tb_network_link(net, odd->link).from}, other = {odd->group};
	struct tb_name_numbers at;
	tb_fabric_name_numbers(tb_network_node_identity(net, one).name,
		tb_network_node_identity(net, other).name, &at);
	snprintf(buffer, size,
		"%s between %s and %s; %s has %" PRIu64 " hosts, its peers %" PRIu64,
		tb_format_counted(at.other - at.one - 1,
			"name is missing|names are missing", gone, sizeof gone),
		tb_fabric_node_text(net, one.id, before, sizeof before),
		tb_fabric_node_text(net, other.id, behind, sizeof behind),
		tb_fabric_switch_text(net, odd->sw, leaf, sizeof leaf), odd->n,
		odd->usual);
}

static void write_no_switch(const struct tb_network *net, const struct tb_oddity *odd,
	char *buffer, size_t size)
{
	char is[48], one[NAME], other[NAME], ports[48];
	bool is_before = odd->other.id == TB_ID_NONE;
	tb_fabric_switch_text(net, odd->sw, one, sizeof one);
	snprintf(buffer, size,
		"by name %s missing %s %s%s%s, and switches %s have %s free %s their "
		"cables %s",
		tb_format_counted(odd->n, "switch is|switches are", is, sizeof is),
		is_before ? "before" : "between", one, is_before ? "" : " and ",
		is_before ? ""
			  : tb_fabric_switch_text(net, odd->other, other, sizeof other),
		odd->group ? "above" : "below",
		tb_format_counted(odd->usual, "port", ports, sizeof ports),
		is_before ? "before" : "between", odd->group ? "down" : "up");
}

// write_taper names the next switch by the numbers of the others.
static void write_taper(const struct tb_network *net, const struct tb_oddity *odd,
	char *buffer, size_t size)
{
	char peer[NAME], gone[NAME + 16], visible[NAME + 16], several[48], level[48];
	uint32_t lower = tb_network_switch(net, odd->sw).level - 1;
	bool is_one = odd->n == 1;
	tb_fabric_switch_text(net, odd->sw, peer, sizeof peer);
	const char *name = tb_visible(tb_fabric_missing_name(net, odd, gone, sizeof gone),
		visible, sizeof visible);
	snprintf(several, sizeof several, "%" PRIu64 " switches such as ", odd->n);
	snprintf(level, sizeof level,
		odd->group ? "some cables up from level %u are missing"
			   : "level %u is tapered by design",
		lower);
	snprintf(buffer, size,
		"%s, or %s%s %s gone: with %s, cabled as %s, switches below would have "
		"as "
		"much capacity up as down",
		level, is_one ? "" : several, *name ? name : "another switch",
		is_one ? "is" : "are", is_one ? "it" : "them", peer);
}

char *tb_oddity_text(const struct tb_network *net, const struct tb_oddity *odd,
	char *buffer, size_t size)
{
	char one[LINKNAME], other[NAME], more[NAME], is[32], was[32];
	switch (odd->kind) {
	case TB_ODDITY_FEWER_UP:
		snprintf(buffer, size, "%s has %" PRIu64 " of %" PRIu64 " cables up",
			tb_fabric_switch_text(net, odd->sw, one, sizeof one), odd->n,
			odd->usual);
		break;
	case TB_ODDITY_MISSING:
		snprintf(buffer, size, "%s has %" PRIu64 " of %" PRIu64 " cables to %s",
			tb_fabric_switch_text(net, odd->sw, one, sizeof one), odd->n,
			odd->usual,
			tb_fabric_switch_text(net, odd->other, other, sizeof other));
		break;
	case TB_ODDITY_UNEVEN:
		write_uneven(net, odd, buffer, size);
		break;
	case TB_ODDITY_CROSSED:
		snprintf(buffer, size,
			"%s has %" PRIu64 " of %" PRIu64 " cables to %s and %u to %s",
			tb_fabric_switch_text(net, odd->sw, one, sizeof one), odd->n,
			odd->usual,
			tb_fabric_switch_text(net, odd->other, other, sizeof other),
			cables_up(net, odd->sw, odd->group),
			tb_fabric_switch_text(
				net, (struct tb_switch){odd->group}, more, sizeof more));
		break;
	case TB_ODDITY_NO_SWITCH:
		write_no_switch(net, odd, buffer, size);
		break;
	case TB_ODDITY_TAPER:
		write_taper(net, odd, buffer, size);
		break;
	case TB_ODDITY_FEWER_DOWN:
		snprintf(buffer, size,
			"%s has %" PRIu64 " of %" PRIu64 " cables to switches below",
			tb_fabric_switch_text(net, odd->sw, one, sizeof one), odd->n,
			odd->usual);
		break;
	case TB_ODDITY_SLOWER:
		snprintf(buffer, size, "%s runs at %s, its peers at %s",
			tb_fabric_link_text(net, odd->link, one, sizeof one),
			tb_speed_text((double)odd->n, is, sizeof is),
			tb_speed_text((double)odd->usual, was, sizeof was));
		break;
	case TB_ODDITY_EMPTY:
		snprintf(buffer, size, "%s, a leaf, has no hosts",
			tb_fabric_switch_text(net, odd->sw, one, sizeof one));
		break;
	case TB_ODDITY_HIGH_NODE:
		snprintf(buffer, size, "%s, of level %u, has %s",
			tb_fabric_switch_text(net, odd->sw, one, sizeof one),
			tb_network_switch(net, odd->sw).level,
			tb_format_counted(odd->n, "host", is, sizeof is));
		break;
	case TB_ODDITY_SKIPS:
		snprintf(buffer, size, "%s passes over a level",
			tb_fabric_link_text(net, odd->link, one, sizeof one));
		break;
	case TB_ODDITY_ASIDE:
		snprintf(buffer, size, "%s joins switches of one level",
			tb_fabric_link_text(net, odd->link, one, sizeof one));
		break;
	case TB_ODDITY_OFF_RAIL: {
		struct tb_identity own =
			tb_network_node_identity(net, (struct tb_node){(uint32_t)odd->n});
		snprintf(buffer, size, "%s leads to a switch of %s",
			tb_fabric_link_text(net, odd->link, one, sizeof one),
			tb_visible(tb_names_adapter(&own), other, sizeof other));
		break;
	}
	case TB_ODDITY_OUT_OF_ORDER:
		write_out_of_order(net, odd, buffer, size);
		break;
	case TB_ODDITY_HOST_CABLES: {
		struct tb_identity own = tb_network_node_identity(
			net, (struct tb_node){tb_network_link(net, odd->link).from});
		snprintf(other, sizeof other, "%.*s", (int)own.n_host_bytes, own.name);
		snprintf(buffer, size, "%s has %s, its peers %" PRIu64,
			tb_visible(other, more, sizeof more),
			tb_format_counted(odd->n, "cable", is, sizeof is), odd->usual);
		break;
	}
	case TB_ODDITY_NO_HOST:
		write_no_host(net, odd, buffer, size);
		break;
	case TB_ODDITY_DOUBTFUL:
		snprintf(buffer, size, "%s may not be of level %" PRIu64,
			tb_fabric_switch_text(net, odd->sw, one, sizeof one), odd->n);
		break;
	case TB_N_ODDITIES:
		break;
	}
	return buffer;
}

void tb_fabric_say(struct tb_fabric_verdict *verdict, const char *format, ...)
{
	va_list args;
	if (verdict->n == TB_VERDICT_SENTENCES)
		return;
	va_start(args, format);
	vsnprintf(verdict->sentences[verdict->n++], TB_VERDICT_LENGTH, format, args);
	va_end(args);
}

uint32_t tb_fabric_count_host_names(const struct tb_network *net)
{
	uint32_t n = 0;
	struct tb_identity before = {.name = ""};
	for (uint32_t host = 0; host < tb_network_n_hosts(net); host++) {
		struct tb_identity own =
			tb_network_node_identity(net, (struct tb_node){host});
		n += own.n_host_bytes == 0 || own.n_host_bytes != before.n_host_bytes ||
		     memcmp(own.name, before.name, own.n_host_bytes) != 0;
		before = own;
	}
	return n;
}

// next_of_kind finds the thing of a kind that comes after `last` (NULL: the first) when
// those that lack most come first.
static const struct tb_oddity *next_of_kind(const struct tb_fabric *fabric,
	enum tb_oddity_kind kind, const struct tb_oddity *last)
{
	const struct tb_oddity *best = NULL;
	for (uint32_t i = 0; i < fabric->n_oddities; i++) {
		const struct tb_oddity *at = &fabric->oddities[i];
		uint64_t lack = at->usual - at->n; // wraps alike where none is usual
		if (at->kind != kind ||
			(last && (lack > last->usual - last->n ||
					 (lack == last->usual - last->n && at <= last))))
			continue;
		if (!best || lack > best->usual - best->n)
			best = at;
	}
	return best;
}

// missing_text writes what a switch lacks, of what follows it among the oddities, `most`
// at most: ": 1 of 2 to spine2".
static const char *missing_text(const struct tb_fabric *fabric,
	const struct tb_oddity *of, uint32_t most, char *buffer, size_t size)
{
	const struct tb_oddity *end = fabric->oddities + fabric->n_oddities;
	size_t used = 0;
	uint32_t n = 0;
	*buffer = '\0';
	for (const struct tb_oddity *at = of + 1;
		at < end && at->kind == TB_ODDITY_MISSING && used < size; at++, n++) {
		char name[NAME];
		if (n >= most) {
			snprintf(buffer + used, size - used, ", ...");
			break;
		}
		used += (size_t)snprintf(buffer + used, size - used,
			"%s %" PRIu64 " of %" PRIu64 " to %s", n ? "," : ":", at->n,
			at->usual,
			tb_fabric_switch_text(
				fabric->network, at->other, name, sizeof name));
	}
	return buffer;
}

// say_kind names the worst things of a kind behind a head.
static void say_kind(const struct tb_fabric *fabric, struct tb_fabric_verdict *verdict,
	enum tb_oddity_kind kind, const char *head)
{
	char text[TB_VERDICT_LENGTH], one[512], lacks[256];
	uint32_t n = fabric->n_of_kind[kind];
	const struct tb_oddity *at = NULL;
	int used = snprintf(text, sizeof text, "%s", head);
	for (uint32_t i = 0; i < n && i < NAMED; i++) {
		at = next_of_kind(fabric, kind, at);
		tb_oddity_text(fabric->network, at, one, sizeof one);
		if ((size_t)used < sizeof text)
			used += snprintf(text + used, sizeof text - (size_t)used,
				"%s%s%s", i ? "; " : "", one,
				missing_text(fabric, at, NAMED, lacks, sizeof lacks));
	}
	if (n > NAMED && (size_t)used < sizeof text)
		snprintf(text + used, sizeof text - (size_t)used, "; %u more", n - NAMED);
	if (n)
		tb_fabric_say(verdict, "%s", text);
}

// slow_cables_text writes slower cables of a kind as one sentence, as tb_oddity_text.
static char *slow_cables_text(const struct tb_fabric *fabric,
	const struct tb_slow_cables *slow, char *buffer, size_t size)
{
	const struct tb_network *net = fabric->network;
	char what[64], is[32], was[32], on[NAME], most[NAME + 48] = "";
	bool are_hosts = tb_fabric_count_host_names(net) == tb_network_n_nodes(net);
	if (slow->to_nodes)
		tb_format_counted(slow->n, are_hosts ? "host" : "adapter", is, sizeof is);
	else
		tb_format_counted(slow->n, "cable", is, sizeof is);
	snprintf(what, sizeof what, "%s", is);
	if (!slow->to_nodes && fabric->n_levels > 2)
		snprintf(what, sizeof what, "%s between levels %u and %u", is,
			slow->lower, slow->upper);
	tb_fabric_switch_text(net, slow->on, on, sizeof on);
	if (slow->n_on == slow->n)
		snprintf(most, sizeof most, ", all of them on %s", on);
	else if (2 * slow->n_on > slow->n)
		snprintf(most, sizeof most, ", %u of them on %s", slow->n_on, on);
	snprintf(buffer, size, "%s at %s%s, their peers at %s", what,
		tb_speed_text((double)slow->bytes_per_s, is, sizeof is), most,
		tb_speed_text((double)slow->usual_bytes_per_s, was, sizeof was));
	return buffer;
}

// say_slower names slower cables, what lacks most first, several of a kind at once.
static void say_slower(const struct tb_fabric *fabric, struct tb_fabric_verdict *verdict)
{
	char text[TB_VERDICT_LENGTH], one[512];
	uint32_t n = fabric->n_of_kind[TB_ODDITY_SLOWER], n_items = 0, n_told = 0;
	if (n == 0)
		return;
	int used = snprintf(text, sizeof text, "%s slower than usual: ",
		tb_format_counted(n, "cable is|cables are", one, sizeof one));
	for (uint32_t group = 0; group < fabric->n_slow; group++) {
		const struct tb_slow_cables *slow = &fabric->slow[group];
		for (uint32_t i = 0; i < fabric->n_oddities && n_items < NAMED; i++) {
			const struct tb_oddity *at = &fabric->oddities[i];
			if (at->kind != TB_ODDITY_SLOWER || at->group != group)
				continue;
			if (slow->n >= LUMPED)
				slow_cables_text(fabric, slow, one, sizeof one);
			else
				tb_oddity_text(fabric->network, at, one, sizeof one);
			used += (size_t)used < sizeof text
					? snprintf(text + used,
						  sizeof text - (size_t)used, "%s%s",
						  n_items ? "; " : "", one)
					: 0;
			n_items++;
			n_told += slow->n >= LUMPED ? slow->n : 1;
			if (slow->n >= LUMPED)
				break;
		}
	}
	if (n > n_told && (size_t)used < sizeof text)
		snprintf(
			text + used, sizeof text - (size_t)used, "; %u more", n - n_told);
	tb_fabric_say(verdict, "%s", text);
}

void tb_fabric_say_oddities(
	const struct tb_fabric *fabric, struct tb_fabric_verdict *verdict)
{
	char missing[96], n[48];
	snprintf(missing, sizeof missing, "%s missing: ",
		tb_format_counted(fabric->n_missing, "cable is|cables are", n, sizeof n));
	const char *const heads[TB_N_ODDITIES] = {
		[TB_ODDITY_FEWER_UP] = missing,
		[TB_ODDITY_UNEVEN] = "Cabled unevenly: ",
		[TB_ODDITY_CROSSED] = "Cables are crossed: ",
		[TB_ODDITY_NO_SWITCH] = "A switch may be dead: ",
		[TB_ODDITY_TAPER] = "Either ",
		[TB_ODDITY_HIGH_NODE] = "Hosts are above the leaves: ",
		[TB_ODDITY_ASIDE] = "It is no fat tree: ",
		[TB_ODDITY_OFF_RAIL] = "Adapters are off their rails: ",
		[TB_ODDITY_OUT_OF_ORDER] = "Hosts are numbered in runs by leaf: ",
		[TB_ODDITY_NO_HOST] = "Hosts may be missing: ",
		[TB_ODDITY_DOUBTFUL] = "Levels are doubtful (roots=FILE behind the name "
				       "decides): ",
	};
	// What rests on levels comes behind what puts these in doubt.
	say_kind(fabric, verdict, TB_ODDITY_DOUBTFUL, heads[TB_ODDITY_DOUBTFUL]);
	for (int kind = 0; kind < TB_ODDITY_DOUBTFUL; kind++)
		if (kind == TB_ODDITY_SLOWER)
			say_slower(fabric, verdict);
		else if (kind != TB_ODDITY_MISSING) // behind those of FEWER_UP
			say_kind(fabric, verdict, (enum tb_oddity_kind)kind,
				heads[kind] ? heads[kind] : "");
}

void tb_fabric_put_oddities(const struct tb_fabric_report *report, FILE *stream)
{
	const struct tb_fabric *fabric = report->fabric;
	uint32_t n_lines = 0, n = fabric->n_oddities;
	if (n == 0)
		return;
	fputs("\nNot alike\n", stream);
	for (uint32_t i = 0; i < n && n_lines < report->n_odd;) {
		const struct tb_oddity *at = &fabric->oddities[i++];
		const struct tb_slow_cables *slow =
			at->kind == TB_ODDITY_SLOWER ? &fabric->slow[at->group] : NULL;
		char text[512], lacks[4096];
		if (slow && slow->n >= LUMPED && at->link.id != slow->first.id)
			continue;
		n_lines++;
		fprintf(stream, "  %s%s\n",
			slow && slow->n >= LUMPED
				? slow_cables_text(fabric, slow, text, sizeof text)
				: tb_oddity_text(fabric->network, at, text, sizeof text),
			missing_text(fabric, at, UINT32_MAX, lacks, sizeof lacks));
		while (i < n && fabric->oddities[i].kind == TB_ODDITY_MISSING)
			i++;
	}
	n -= fabric->n_of_kind[TB_ODDITY_MISSING]; // on the lines of others
	for (uint32_t i = 0; i < fabric->n_slow; i++)
		n -= fabric->slow[i].n >= LUMPED ? fabric->slow[i].n - 1 : 0;
	if (n > n_lines)
		fprintf(stream, "  and %u more: -f json lists all\n", n - n_lines);
}

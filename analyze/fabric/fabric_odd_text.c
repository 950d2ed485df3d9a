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

#define LINK  TB_ODDITY_HAS_LINK
#define OTHER TB_ODDITY_HAS_OTHER
#define IS    TB_ODDITY_HAS_IS
#define USUAL TB_ODDITY_HAS_USUAL

const struct tb_oddity_type tb_oddity_types[TB_N_ODDITIES] = {
	[TB_ODDITY_NO_SWITCH] = {"no switch", OTHER | IS | USUAL,
		"A switch may be dead: "},
	[TB_ODDITY_TAPER] = {"taper or no switch", IS | USUAL, "Either "},
	[TB_ODDITY_FEWER_UP] = {"fewer up", IS | USUAL, "missing: "},
	[TB_ODDITY_MISSING] = {"missing", OTHER | IS | USUAL, NULL},
	[TB_ODDITY_UNEVEN] = {"uneven up", IS | USUAL, "Cabled unevenly: "},
	[TB_ODDITY_CROSSED] = {"crossed", OTHER | IS | USUAL, "Cables are crossed: "},
	[TB_ODDITY_FEWER_DOWN] = {"fewer down", IS | USUAL, ""},
	[TB_ODDITY_SLOWER] = {"slower", LINK | IS | USUAL, "slower than usual: "},
	[TB_ODDITY_EMPTY] = {"no hosts", IS, ""},
	[TB_ODDITY_HIGH_NODE] = {"high nodes", IS, "Hosts are above the leaves: "},
	[TB_ODDITY_SKIPS] = {"skips a level", LINK, ""},
	[TB_ODDITY_ASIDE] = {"aside", LINK, "It is no fat tree: "},
	[TB_ODDITY_OFF_RAIL] = {"off its rail", LINK, "Adapters are off their rails: "},
	[TB_ODDITY_OUT_OF_ORDER] = {"out of order", LINK | OTHER,
		"Hosts are numbered in runs by leaf: "},
	[TB_ODDITY_NO_HOST] = {"no host", IS | USUAL, "Hosts may be missing: "},
	[TB_ODDITY_HOST_CABLES] = {"host's cables", LINK | IS | USUAL, ""},
	[TB_ODDITY_DOUBTFUL] = {"doubtful level", IS,
		"Levels are doubtful (roots=FILE behind the name decides): "},
};

// append writes behind what a buffer holds, as much as fits.
static void append(char *buffer, size_t size, const char *format, ...) TB_PRINTF(3, 4);
static void append(char *buffer, size_t size, const char *format, ...)
{
	size_t used = strlen(buffer);
	va_list args;
	va_start(args, format);
	vsnprintf(buffer + used, size - used, format, args);
	va_end(args);
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
	const char *sw, char *buffer, size_t size)
{
	char name[NAME], above[3 * NAME] = "", n_above[48];
	uint32_t to = odd->n <= NAMED ? next_above(net, odd->sw, 0) : TB_ID_NONE;
	for (; to != TB_ID_NONE; to = next_above(net, odd->sw, to + 1))
		append(above, sizeof above, "%s%u to %s", *above ? ", " : "",
			cables_up(net, odd->sw, to),
			tb_fabric_switch_text(
				net, (struct tb_switch){to}, name, sizeof name));
	snprintf(buffer, size,
		"%s has all its cables up to %s%s%s%s, its peers to %" PRIu64, sw,
		tb_format_counted(odd->n, "switch|switches", n_above, sizeof n_above),
		*above ? " (" : "", above, *above ? ")" : "", odd->usual);
}

// write_out_of_order writes of a host on the wrong leaf by its name.
static void write_out_of_order(const struct tb_network *net, const struct tb_oddity *odd,
	const char *sw, const char *other, char *buffer, size_t size)
{
	char host[NAME], before[NAME], behind[NAME];
	tb_fabric_node_text(net, tb_network_link(net, odd->link).from, host, sizeof host);
	tb_fabric_node_text(net, (uint32_t)odd->n, before, sizeof before);
	if (odd->n == odd->usual)
		snprintf(buffer, size, "%s on %s and %s on %s are likely swapped", host,
			sw, before, other);
	else if (odd->usual == TB_ID_NONE)
		snprintf(buffer, size,
			"%s is on %s, but %s is on %s, which has fewer hosts than others",
			host, sw, before, other);
	else
		snprintf(buffer, size, "%s is on %s, but %s and %s are on %s", host, sw,
			before,
			tb_fabric_node_text(
				net, (uint32_t)odd->usual, behind, sizeof behind),
			other);
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
	const char *sw, char *buffer, size_t size)
{
	char before[NAME], behind[NAME], gone[48];
	struct tb_node one = {tb_network_link(net, odd->link).from}, other = {odd->group};
	struct tb_name_numbers at;
	tb_fabric_name_numbers(tb_network_node_identity(net, one).name,
		tb_network_node_identity(net, other).name, &at);
	snprintf(buffer, size,
		"%s between %s and %s; %s has %" PRIu64 " hosts, its peers %" PRIu64,
		tb_format_counted(at.other - at.one - 1,
			"name is missing|names are missing", gone, sizeof gone),
		tb_fabric_node_text(net, one.id, before, sizeof before),
		tb_fabric_node_text(net, other.id, behind, sizeof behind), sw, odd->n,
		odd->usual);
}

// write_taper names the next switch by the numbers of the others.
static void write_taper(const struct tb_network *net, const struct tb_oddity *odd,
	const char *sw, char *buffer, size_t size)
{
	char gone[NAME + 16], visible[NAME + 16], several[48], level[48];
	uint32_t lower = tb_network_switch(net, odd->sw).level - 1;
	bool is_one = odd->n == 1;
	const char *name = tb_visible(tb_fabric_missing_name(net, odd, gone, sizeof gone),
		visible, sizeof visible);
	snprintf(several, sizeof several, "%" PRIu64 " switches such as ", odd->n);
	snprintf(level, sizeof level,
		odd->group ? "some cables up from level %u are missing"
			   : "level %u is tapered by design",
		lower);
	snprintf(buffer, size,
		"%s, or %s%s %s gone: with %s, cabled as %s, switches below would have "
		"as much capacity up as down",
		level, is_one ? "" : several, *name ? name : "another switch",
		is_one ? "is" : "are", is_one ? "it" : "them", sw);
}

char *tb_oddity_text(const struct tb_network *net, const struct tb_oddity *odd,
	char *buffer, size_t size)
{
	char sw[NAME], other[NAME] = "", link[LINKNAME] = "", cables[64];
	char more[NAME], is[48], was[32];
	bool is_before = odd->other.id == TB_ID_NONE;
	tb_fabric_switch_text(net, odd->sw, sw, sizeof sw);
	if (tb_oddity_types[odd->kind].has & OTHER && !is_before)
		tb_fabric_switch_text(net, odd->other, other, sizeof other);
	if (tb_oddity_types[odd->kind].has & LINK)
		tb_fabric_link_text(net, odd->link, link, sizeof link);
	snprintf(cables, sizeof cables, "%" PRIu64 " of %" PRIu64 " cables", odd->n,
		odd->usual);
	switch (odd->kind) {
	case TB_ODDITY_NO_SWITCH:
		snprintf(buffer, size,
			"by name %s missing %s %s%s%s, and switches %s have %s free %s "
			"their cables %s",
			tb_format_counted(
				odd->n, "switch is|switches are", is, sizeof is),
			is_before ? "before" : "between", sw, is_before ? "" : " and ",
			other, odd->group ? "above" : "below",
			tb_format_counted(odd->usual, "port", was, sizeof was),
			is_before ? "before" : "between", odd->group ? "down" : "up");
		break;
	case TB_ODDITY_TAPER:
		write_taper(net, odd, sw, buffer, size);
		break;
	case TB_ODDITY_FEWER_UP:
		snprintf(buffer, size, "%s has %s up", sw, cables);
		break;
	case TB_ODDITY_MISSING:
		snprintf(buffer, size, "%s has %s to %s", sw, cables, other);
		break;
	case TB_ODDITY_UNEVEN:
		write_uneven(net, odd, sw, buffer, size);
		break;
	case TB_ODDITY_CROSSED:
		snprintf(buffer, size, "%s has %s to %s and %u to %s", sw, cables, other,
			cables_up(net, odd->sw, odd->group),
			tb_fabric_switch_text(
				net, (struct tb_switch){odd->group}, more, sizeof more));
		break;
	case TB_ODDITY_FEWER_DOWN:
		snprintf(buffer, size, "%s has %s to switches below", sw, cables);
		break;
	case TB_ODDITY_SLOWER:
		snprintf(buffer, size, "%s runs at %s, its peers at %s", link,
			tb_speed_text((double)odd->n, is, sizeof is),
			tb_speed_text((double)odd->usual, was, sizeof was));
		break;
	case TB_ODDITY_EMPTY:
		snprintf(buffer, size, "%s, a leaf, has no hosts", sw);
		break;
	case TB_ODDITY_HIGH_NODE:
		snprintf(buffer, size, "%s, of level %u, has %s", sw,
			tb_network_switch(net, odd->sw).level,
			tb_format_counted(odd->n, "host", is, sizeof is));
		break;
	case TB_ODDITY_SKIPS:
		snprintf(buffer, size, "%s passes over a level", link);
		break;
	case TB_ODDITY_ASIDE:
		snprintf(buffer, size, "%s joins switches of one level", link);
		break;
	case TB_ODDITY_OFF_RAIL: {
		struct tb_identity own =
			tb_network_node_identity(net, (struct tb_node){(uint32_t)odd->n});
		snprintf(buffer, size, "%s leads to a switch of %s", link,
			tb_visible(tb_names_adapter(&own), more, sizeof more));
		break;
	}
	case TB_ODDITY_OUT_OF_ORDER:
		write_out_of_order(net, odd, sw, other, buffer, size);
		break;
	case TB_ODDITY_NO_HOST:
		write_no_host(net, odd, sw, buffer, size);
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
	case TB_ODDITY_DOUBTFUL:
		snprintf(buffer, size, "%s may not be of level %" PRIu64, sw, odd->n);
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

uint32_t tb_fabric_next_host(const struct tb_network *net, uint32_t node)
{
	struct tb_identity own = tb_network_node_identity(net, (struct tb_node){node});
	while (++node < tb_network_n_hosts(net) && own.n_host_bytes > 0) {
		struct tb_identity next =
			tb_network_node_identity(net, (struct tb_node){node});
		if (next.n_host_bytes != own.n_host_bytes ||
			memcmp(next.name, own.name, own.n_host_bytes) != 0)
			break;
	}
	return node;
}

uint32_t tb_fabric_count_host_names(const struct tb_network *net)
{
	uint32_t n = 0, n_hosts = tb_network_n_hosts(net);
	for (uint32_t host = 0; host < n_hosts; host = tb_fabric_next_host(net, host))
		n++;
	return n;
}

// lumped returns those slower cables that one line stands for in place of this one's own;
// NULL: none.
static const struct tb_slow_cables *lumped(
	const struct tb_fabric *fabric, const struct tb_oddity *at)
{
	const struct tb_slow_cables *slow =
		at->kind == TB_ODDITY_SLOWER ? &fabric->slow[at->group] : NULL;
	return slow && slow->n >= LUMPED ? slow : NULL;
}

// is_behind returns whether the line of another slower cable stands for this one too.
static bool is_behind(const struct tb_fabric *fabric, const struct tb_oddity *at)
{
	const struct tb_slow_cables *slow = lumped(fabric, at);
	return slow && at->link.id != slow->first.id;
}

// lack_of orders things of a kind: those that lack most come first.
static uint64_t lack_of(const struct tb_oddity *at)
{
	// Wraps alike where none is usual.
	return at->kind == TB_ODDITY_SLOWER ? UINT32_MAX - at->group : at->usual - at->n;
}

// next_of_kind finds the thing of a kind that comes after `last` (NULL: the first) when
// those that lack most come first.
static const struct tb_oddity *next_of_kind(const struct tb_fabric *fabric,
	enum tb_oddity_kind kind, const struct tb_oddity *last)
{
	const struct tb_oddity *best = NULL;
	for (uint32_t i = 0; i < fabric->n_oddities; i++) {
		const struct tb_oddity *at = &fabric->oddities[i];
		if (at->kind != kind || is_behind(fabric, at) ||
			(last && (lack_of(at) > lack_of(last) ||
					 (lack_of(at) == lack_of(last) && at <= last))))
			continue;
		if (!best || lack_of(at) > lack_of(best))
			best = at;
	}
	return best;
}

// append_slow writes slower cables of a kind as one sentence, as tb_oddity_text.
static void append_slow(const struct tb_fabric *fabric, const struct tb_slow_cables *slow,
	char *buffer, size_t size)
{
	const struct tb_network *net = fabric->network;
	char n[48], is[32], was[32], on[NAME];
	bool are_hosts = tb_fabric_count_host_names(net) == tb_network_n_nodes(net);
	const char *what = !slow->to_nodes ? "cable" : are_hosts ? "host" : "adapter";
	append(buffer, size, "%s", tb_format_counted(slow->n, what, n, sizeof n));
	if (!slow->to_nodes && fabric->n_levels > 2)
		append(buffer, size, " between levels %u and %u", slow->lower,
			slow->upper);
	append(buffer, size, " at %s",
		tb_speed_text((double)slow->bytes_per_s, is, sizeof is));
	tb_fabric_switch_text(net, slow->on, on, sizeof on);
	if (slow->n_on == slow->n)
		append(buffer, size, ", all of them on %s", on);
	else if (2 * slow->n_on > slow->n)
		append(buffer, size, ", %u of them on %s", slow->n_on, on);
	append(buffer, size, ", their peers at %s",
		tb_speed_text((double)slow->usual_bytes_per_s, was, sizeof was));
}

// append_oddity writes what is odd, with its like or with what it lacks of what follows
// it among the oddities, `most` at most: ": 1 of 2 to spine2".
static void append_oddity(const struct tb_fabric *fabric, const struct tb_oddity *of,
	uint32_t most, char *buffer, size_t size)
{
	const struct tb_oddity *end = fabric->oddities + fabric->n_oddities;
	const struct tb_slow_cables *slow = lumped(fabric, of);
	char text[512];
	uint32_t n = 0;
	if (slow)
		append_slow(fabric, slow, buffer, size);
	else
		append(buffer, size, "%s",
			tb_oddity_text(fabric->network, of, text, sizeof text));
	for (const struct tb_oddity *at = of + 1;
		at < end && at->kind == TB_ODDITY_MISSING && n <= most; at++, n++)
		if (n < most)
			append(buffer, size, "%s %" PRIu64 " of %" PRIu64 " to %s",
				n ? "," : ":", at->n, at->usual,
				tb_fabric_switch_text(
					fabric->network, at->other, text, sizeof text));
		else
			append(buffer, size, ", ...");
}

// say_kind names the worst things of a kind behind its head.
static void say_kind(const struct tb_fabric *fabric, struct tb_fabric_verdict *verdict,
	enum tb_oddity_kind kind)
{
	char text[TB_VERDICT_LENGTH] = "", number[48];
	uint32_t n = fabric->n_of_kind[kind], n_told = 0;
	const struct tb_oddity *at = NULL;
	bool is_fewer = kind == TB_ODDITY_FEWER_UP;
	if (n == 0 || !tb_oddity_types[kind].head)
		return;
	if (is_fewer || kind == TB_ODDITY_SLOWER)
		append(text, sizeof text, "%s ",
			tb_format_counted(is_fewer ? fabric->n_missing : n,
				"cable is|cables are", number, sizeof number));
	append(text, sizeof text, "%s", tb_oddity_types[kind].head);
	for (int i = 0; i < NAMED && (at = next_of_kind(fabric, kind, at)); i++) {
		const struct tb_slow_cables *slow = lumped(fabric, at);
		append(text, sizeof text, "%s", i ? "; " : "");
		append_oddity(fabric, at, NAMED, text, sizeof text);
		n_told += slow ? slow->n : 1;
	}
	if (n > n_told)
		append(text, sizeof text, "; %u more", n - n_told);
	tb_fabric_say(verdict, "%s", text);
}

void tb_fabric_say_oddities(
	const struct tb_fabric *fabric, struct tb_fabric_verdict *verdict)
{
	// What rests on levels comes behind what puts these in doubt.
	say_kind(fabric, verdict, TB_ODDITY_DOUBTFUL);
	for (int kind = 0; kind < TB_ODDITY_DOUBTFUL; kind++)
		say_kind(fabric, verdict, (enum tb_oddity_kind)kind);
}

void tb_fabric_put_oddities(const struct tb_fabric_report *report, FILE *stream)
{
	const struct tb_fabric *fabric = report->fabric;
	uint32_t n_lines = 0, n_more = 0;
	if (fabric->n_oddities > 0)
		fputs("\nNot alike\n", stream);
	for (uint32_t i = 0; i < fabric->n_oddities; i++) {
		const struct tb_oddity *at = &fabric->oddities[i];
		char text[512 + 4096] = "";
		// Those are on the lines of others.
		if (at->kind == TB_ODDITY_MISSING || is_behind(fabric, at))
			continue;
		if (n_lines++ < report->n_odd) {
			append_oddity(fabric, at, UINT32_MAX, text, sizeof text);
			fprintf(stream, "  %s\n", text);
		} else {
			n_more++;
		}
	}
	if (n_more > 0)
		fprintf(stream, "  and %u more: -f json lists all\n", n_more);
}

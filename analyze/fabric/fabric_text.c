// A fabric in sentences.
#include "circuit_params.h"
#include "fabric_report.h"
#include "markup.h"
#include "names.h"
#include "speed_text.h"
#include "table.h"
#include "text_lines.h"
#include "units.h"
#include "wrap.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define EVEN	 0.005 // a taper within this of 1 is none
#define NEAR	 0.05  // and within this none but on some switches
#define HOT	 1.05  // times the mean, from which a link is worth naming
#define NAME	 TB_NAME_SIZE
#define PORTNAME 64
#define LINKNAME TB_FABRIC_LINK_TEXT
#define ROUTES	 160

char *tb_link_class_text(const struct tb_link_class *class, char *buffer, size_t size)
{
	static const char *const before[] = {
		[TB_LINK_INJECTION] = "hosts to ",
		[TB_LINK_UP] = "up from ",
		[TB_LINK_DOWN] = "down to ",
		[TB_LINK_EJECTION] = "",
	};
	snprintf(buffer, size, "%slevel %u%s", before[class->kind], class->level,
		class->kind == TB_LINK_EJECTION ? " to hosts" : "");
	return buffer;
}

// write_taper_ratio writes "3:1" or "1:1.5".
static char *write_taper_ratio(double taper, char *buffer, size_t size)
{
	if (taper >= 1)
		snprintf(buffer, size, "%.3g:1", taper);
	else
		snprintf(buffer, size, "1:%.3g", 1 / taper);
	return buffer;
}

// say_ports says what trees can be made of the switches of a preset.
static void say_ports(const struct tb_fabric *fabric, struct tb_fabric_verdict *verdict)
{
	uint32_t n_ports = fabric->n_ports, most = 0;
	char hosts[48];
	for (uint32_t i = 0; i < fabric->n_levels; i++) {
		const struct tb_fabric_level *level = &fabric->levels[i];
		uint32_t used = (level->n_down + level->n_up) / level->n_switches;
		most = used > most ? used : most;
	}
	if (n_ports == 0)
		return;
	tb_format_counted(n_ports / 2 * n_ports, "host", hosts, sizeof hosts);
	if (most > n_ports)
		tb_fabric_say(verdict, "Its switches need %u ports, %s's have %u", most,
			tb_network_params(fabric->network)->name, n_ports);
	else if (fabric->n_levels > 1)
		tb_fabric_say(verdict,
			"Two levels of switches with %u ports join up to %s", n_ports,
			hosts);
}

static void say_taper(
	const struct tb_fabric_report *report, struct tb_fabric_verdict *verdict)
{
	const struct tb_fabric *fabric = report->fabric;
	bool any = false;
	for (uint32_t i = 0; i + 1 < fabric->n_levels; i++) {
		const struct tb_fabric_level *level = &fabric->levels[i];
		double taper = tb_fabric_taper(level);
		char all[32], least[32], most[32], range[96] = "";
		if (taper <= 0 || fabs(taper - 1) <= EVEN)
			continue;
		if (level->most_taper - level->least_taper > EVEN)
			snprintf(range, sizeof range, " (%s to %s by switch)",
				write_taper_ratio(
					level->least_taper, least, sizeof least),
				write_taper_ratio(level->most_taper, most, sizeof most));
		any = any || taper > 1;
		if (fabs(taper - 1) <= NEAR && *range)
			tb_fabric_say(verdict,
				"Level %u has as much capacity up as down on the whole%s",
				i, range);
		else
			tb_fabric_say(verdict,
				taper > 1
					? "Level %u is tapered %s%s"
					: "Level %u has more capacity up than down, %s%s",
				i, write_taper_ratio(taper, all, sizeof all), range);
	}
	if (!any && fabric->n_levels > 1)
		tb_fabric_say(verdict, "No level is tapered");
}

// fabric_routes_text writes whose routes they are, in the plural: "Routes by
// ascent=deterministic"; 160 bytes suffice.
static char *fabric_routes_text(
	const struct tb_fabric_report *report, char *buffer, size_t size)
{
	enum tb_ascent ascent = tb_network_params(report->study->network)->ascent;
	if (report->is_for_traffic)
		snprintf(
			buffer, size, "Routes for the traffic of %.120s", report->routes);
	else if (*report->routes)
		snprintf(buffer, size, "The routes of %.120s", report->routes);
	else
		snprintf(buffer, size, "Routes by ascent=%s", tb_ascent_words[ascent]);
	return buffer;
}

// if_even is what a figure of routes by choice rests on.
static const char *if_even(const struct tb_fabric_report *report)
{
	if (report->study->known)
		return "";
	return tb_network_params(report->study->network)->ascent == TB_ASCENT_RANDOM
		       ? ", if draws spread traffic evenly"
		       : ", if the choice by load spreads traffic by rate";
}

// at_slow_rate writes the rate of a link that is slower than usual, else nothing.
static char *at_slow_rate(
	const struct tb_fabric *fabric, struct tb_link link, char *buffer, size_t size)
{
	struct tb_link_info at = tb_network_link(fabric->network, link);
	uint32_t from =
		tb_network_switch(fabric->network, (struct tb_switch){at.from}).level;
	uint32_t to = tb_network_switch(fabric->network, (struct tb_switch){at.to}).level;
	char speed[32];
	*buffer = '\0';
	for (uint32_t i = 0; i < fabric->n_slow; i++) {
		const struct tb_slow_cables *slow = &fabric->slow[i];
		if (!slow->to_nodes && slow->bytes_per_s == at.bytes_per_s &&
			slow->lower == (from < to ? from : to) &&
			slow->upper == (from < to ? to : from))
			snprintf(buffer, size, " at its %s",
				tb_speed_text(
					(double)at.bytes_per_s, speed, sizeof speed));
	}
	return buffer;
}

// has_slow_hosts: then shares of a host's link are of the usual host's.
static bool has_slow_hosts(const struct tb_fabric *fabric)
{
	for (uint32_t i = 0; i < fabric->n_slow; i++)
		if (fabric->slow[i].to_nodes)
			return true;
	return false;
}

static bool is_of_node(enum tb_link_kind kind)
{
	return kind == TB_LINK_INJECTION || kind == TB_LINK_EJECTION;
}

// held_by names the link that holds all to all down, with its rate where that is lower
// than usual: of a host's the host, and how many more are as slow.
static char *held_by(const struct tb_fabric_report *report, struct tb_link link,
	char *buffer, size_t size)
{
	const struct tb_route_study *study = report->study;
	const struct tb_network *net = study->network;
	struct tb_link_info at = tb_network_link(net, link);
	char name[LINKNAME], speed[48], more[48] = "";
	uint32_t n_hosts = tb_network_n_hosts(net), n = 0;
	if (!is_of_node(at.kind)) {
		snprintf(buffer, size, "%s%s",
			tb_fabric_link_text(net, link, name, sizeof name),
			at_slow_rate(report->fabric, link, speed, sizeof speed));
		return buffer;
	}
	uint32_t node = at.kind == TB_LINK_INJECTION ? at.from : at.to;
	for (uint32_t i = 0; i < tb_network_n_nodes(net); i++)
		n += study->end_bytes_per_s[i] <= study->end_bytes_per_s[node] &&
		     tb_fabric_hosts_has(&study->hosts, i % n_hosts) &&
		     tb_fabric_hosts_uses(&study->hosts, i / n_hosts);
	if (n > 1)
		snprintf(more, sizeof more, " and %u more", n - 1);
	snprintf(buffer, size, "%s%s at %s",
		tb_fabric_node_text(net, node, name, sizeof name), more,
		tb_speed_text((double)at.bytes_per_s, speed, sizeof speed));
	return buffer;
}

static void say_all(
	const struct tb_fabric_report *report, struct tb_fabric_verdict *verdict)
{
	const struct tb_route_study *study = report->study;
	const struct tb_network *net = study->network;
	char link[LINKNAME + 64], percent[48], pairs[64], routes[ROUTES], slow[48];
	bool is_usual =
		has_slow_hosts(report->fabric) ||
		(study->all_share < 1 &&
			is_of_node(tb_network_link(net, study->all_hottest).kind));
	const char *whose = is_usual ? "the usual host's link" : "a host's link";
	if (study->n_unrouted)
		tb_fabric_say(verdict, "No route joins %s of hosts",
			tb_format_counted(
				study->n_unrouted, "pair", pairs, sizeof pairs));
	fabric_routes_text(report, routes, sizeof routes);
	tb_format_percent(100 * study->all_share, percent, sizeof percent);
	bool hot = study->hottest_times >= HOT;
	bool same =
		hot && study->all_share < 1 && study->all_hottest.id == study->hottest.id;
	if (hot)
		tb_fabric_say(verdict,
			"%s put %.3g times the mean load of its level on %s%s%s%s%s%s%s",
			routes, study->hottest_times,
			tb_fabric_link_text(net, study->hottest, link, sizeof link),
			at_slow_rate(report->fabric, study->hottest, slow, sizeof slow),
			same ? ", which holds all to all down to " : "",
			same ? percent : "", same ? " of " : "", same ? whose : "",
			same ? if_even(report) : "");
	else if (study->hottest.id != TB_ID_NONE)
		tb_fabric_say(verdict, "%s load the cables of a level alike", routes);
	if (study->all_share >= 1)
		tb_fabric_say(verdict,
			"All to all runs at the full speed of the hosts' links%s",
			if_even(report));
	else if (!same)
		tb_fabric_say(verdict, "All to all runs at %s of %s, held down by %s%s",
			percent, whose,
			held_by(report, study->all_hottest, link, sizeof link),
			if_even(report));
}

// say_idle says what no route uses, when all hosts send.
static void say_idle(
	const struct tb_fabric_report *report, struct tb_fabric_verdict *verdict)
{
	const struct tb_route_study *study = report->study;
	const struct tb_network *net = study->network;
	char name[TB_NAME_SIZE], link[LINKNAME], n[48];
	if (study->n_idle > 0)
		tb_fabric_say(verdict,
			study->n_idle > 1 ? "%s, such as %s, carry no route"
					  : "%s, %s, carries no route",
			tb_format_counted(study->n_idle, "switch|switches", n, sizeof n),
			tb_names_switch(net, study->idle[0], name, sizeof name));
	if (study->n_idle_cables > 0)
		tb_fabric_say(verdict,
			study->n_idle_cables > 1
				? "%s between switches, such as %s, carry no route"
				: "%s between switches, %s, carries no route",
			tb_format_counted(study->n_idle_cables, "cable", n, sizeof n),
			tb_fabric_link_text(net, study->idle_cable, link, sizeof link));
}

static void say_shifts(
	const struct tb_fabric_report *report, struct tb_fabric_verdict *verdict)
{
	const struct tb_pattern_shares *at = &report->study->shifts;
	char n[48], n_of[64] = "", mean[48], least[48], clean[48];
	if (at->n == 0)
		return;
	if (at->n < at->n_of)
		snprintf(n_of, sizeof n_of, " of %s",
			tb_format_count(at->n_of, mean, sizeof mean));
	tb_format_counted(at->n, "shift", n, sizeof n);
	if (at->n_clean == at->n)
		tb_fabric_say(verdict,
			has_slow_hosts(report->fabric)
				? "In %s%s every pair of hosts has the whole of its "
				  "slower "
				  "link"
				: "In %s%s every host has its whole link",
			n, n_of);
	else
		tb_fabric_say(verdict,
			"In %s%s a host has %s of its link, in the worst (by %" PRIu64
			") %s; in %s all have the whole",
			n, n_of,
			tb_format_percent(100 * at->share.mean, mean, sizeof mean),
			at->worst,
			tb_format_percent(100 * at->least, least, sizeof least),
			at->n_clean ? tb_format_count(at->n_clean, clean, sizeof clean)
				    : "none");
}

static void say_bisections(
	const struct tb_fabric_report *report, struct tb_fabric_verdict *verdict)
{
	const struct tb_pattern_shares *at = &report->study->bisections;
	char range[64] = "";
	double mean = 100 * at->share.mean, half = 100 * at->share.half_ci;
	if (at->n == 0)
		return;
	if (isfinite(half) && half > 0)
		snprintf(range, sizeof range, " (%.1f to %.1f)", mean - half,
			fmin(mean + half, 100));
	tb_fabric_say(verdict,
		"The effective bisection bandwidth is %.1f %%%s of the hosts' links%s",
		mean, range, if_even(report));
}

// say_tokens says what flow control leaves of a link where circuits share it with that of
// the cable's other direction.
static void say_tokens(const struct tb_network *net, struct tb_fabric_verdict *verdict)
{
	const struct tb_network_params *params = tb_network_params(net);
	double share = tb_circuit_params(params)->link_tokens;
	char percent[48];
	if (share > 0)
		tb_fabric_say(verdict,
			"Tokens leave a link %s of its rate where the cable's other "
			"direction is as busy, as in shifts and all to all; the shares "
			"here are of what they leave",
			tb_format_percent(100 / (1 + share), percent, sizeof percent));
}

// say_rails tells what no cable joins, and what rails have of their own.
static void say_rails(
	const struct tb_fabric_report *report, struct tb_fabric_verdict *verdict)
{
	const struct tb_fabric *fabric = report->fabric;
	const struct tb_network *net = fabric->network;
	char levels[160] = "";
	size_t used = 0;
	bool differ = false;
	for (uint32_t sw = 0; sw < tb_network_n_switches(net);) {
		uint32_t rail = tb_network_switch(net, (struct tb_switch){sw}).rail;
		uint32_t highest = 0;
		for (; sw < tb_network_n_switches(net); sw++) {
			struct tb_switch_info at =
				tb_network_switch(net, (struct tb_switch){sw});
			if (at.rail != rail)
				break;
			highest = at.level > highest ? at.level : highest;
		}
		differ |= highest + 1 != fabric->n_levels;
		if (used < sizeof levels)
			used += (size_t)snprintf(levels + used, sizeof levels - used,
				"%s%u", used ? ", " : "", highest + 1);
	}
	if (fabric->n_planes > 1)
		tb_fabric_say(verdict, "No cable joins its %u %s%s%s", fabric->n_planes,
			fabric->n_planes == tb_network_n_rails(net) ? "rails" : "planes",
			differ ? ", whose levels are " : "", differ ? levels : "");
	else if (fabric->is_rail_optimized)
		tb_fabric_say(verdict,
			"It is rail-optimized: adapters of one name share their leaf "
			"switches");
}

void tb_fabric_judge(
	const struct tb_fabric_report *report, struct tb_fabric_verdict *verdict)
{
	verdict->n = 0;
	const struct tb_fabric *fabric = report->fabric;
	char hosts[48], switches[48], cables[48], levels[48], rails[64] = "";
	uint64_t n_cables = 0;
	for (uint32_t i = 0; i < fabric->n_cables; i++)
		n_cables += fabric->cables[i].to_nodes ? 0 : fabric->cables[i].n;
	uint32_t n_hosts = tb_fabric_count_host_names(fabric->network);
	if (tb_network_n_rails(fabric->network) > 1)
		snprintf(rails, sizeof rails, " on %u rails",
			tb_network_n_rails(fabric->network));
	else if (n_hosts < tb_network_n_hosts(fabric->network))
		snprintf(rails, sizeof rails, " with %u adapters",
			tb_network_n_hosts(fabric->network));
	tb_format_counted(n_cables, "cable", cables, sizeof cables);
	tb_fabric_say(verdict, "%s%s, %s on %s%s%s%s",
		tb_format_counted(n_hosts, "host", hosts, sizeof hosts), rails,
		tb_format_counted(tb_network_n_switches(fabric->network),
			"switch|switches", switches, sizeof switches),
		tb_format_counted(fabric->n_levels, "level", levels, sizeof levels),
		n_cables ? ", " : "", n_cables ? cables : "",
		n_cables ? " between them" : "");
	say_rails(report, verdict);
	if (report->study->hosts.rail_is_in)
		tb_fabric_say(verdict,
			"Of the hosts %u send and receive here, on %u of the rails",
			report->study->hosts.n, report->study->hosts.n_rails);
	else if (report->study->hosts.of)
		tb_fabric_say(verdict, "Of the %s %u send and receive here",
			n_hosts < tb_network_n_hosts(fabric->network) ? "adapters"
								      : "hosts",
			report->study->hosts.n);
	char dead[48];
	if (*report->faults)
		tb_fabric_say(verdict, "%s left out, as dead (%.400s)",
			tb_format_counted(
				report->n_dead, "cable is|cables are", dead, sizeof dead),
			report->faults);
	if (!tb_network_knows_cables(fabric->network)) {
		tb_fabric_say(verdict,
			"Cables unknown: the file tells which switches are joined, not "
			"by how many cables, so nothing is known of taper, bisection and "
			"loads. Write it with -f edges, correct the cables, and use "
			"that");
		return;
	}
	tb_fabric_say_oddities(fabric, verdict);
	say_ports(fabric, verdict);
	say_taper(report, verdict);
	const struct tb_fabric_bisection *at = &report->fabric->bisection;
	char percent[48], is[32], full[32];
	if (at->level != 0 && at->full_bytes_per_s != 0) {
		double share = (double)at->bytes_per_s / (double)at->full_bytes_per_s;
		tb_fabric_say(verdict,
			"Its bisection carries %s of what half of the hosts send%s, %s "
			"of "
			"%s",
			tb_format_percent(100 * share, percent, sizeof percent),
			has_slow_hosts(fabric) ? " at their usual rate" : "",
			tb_speed_text((double)at->bytes_per_s, is, sizeof is),
			tb_speed_text((double)at->full_bytes_per_s, full, sizeof full));
	}
	say_all(report, verdict);
	say_idle(report, verdict);
	say_shifts(report, verdict);
	say_bisections(report, verdict);
	say_tokens(report->fabric->network, verdict);
}

// A fabric as text and CSV.

#define WIDTH 80 // of sentences, where tables may have any width

static const struct tb_fabric_report *report_of(const struct tb_datum *at)
{
	return at->of;
}

// speed_text: a speed is aligned as a number, and written as networks are sold.
static void speed_text(struct tb_datum *at, double bytes_per_s)
{
	tb_speed_text(bytes_per_s, at->text, sizeof at->text);
}

// The levels, the top first.
static const void *level_item(const void *of, size_t row)
{
	const struct tb_fabric *fabric = ((const struct tb_fabric_report *)of)->fabric;
	return &fabric->levels[fabric->n_levels - 1 - row];
}

static void put_level_number(struct tb_datum *at)
{
	at->whole = (int64_t)(report_of(at)->fabric->n_levels - 1 - at->row);
}

static void put_down(struct tb_datum *at)
{
	const struct tb_fabric_level *level = at->item;
	at->unknown = level->n_down == 0;
	if (level->n_down)
		speed_text(at, (double)level->down_bytes_per_s);
}

// put_cables: those to switches may be unknown.
static void put_cables(struct tb_datum *at)
{
	at->unknown = at->whole == 0 &&
		      !tb_network_knows_cables(report_of(at)->fabric->network);
}

static void put_up(struct tb_datum *at)
{
	const struct tb_fabric_level *level = at->item;
	at->unknown = level->n_up == 0;
	if (level->n_up)
		speed_text(at, (double)level->up_bytes_per_s);
}

static void put_taper(struct tb_datum *at)
{
	const struct tb_fabric_level *level = at->item;
	at->unknown = level->n_up == 0;
	if (level->n_up)
		tb_put_text(at, "%.3g", tb_fabric_taper(level));
}

// put_free has those of one switch where all are of a model.
static void put_free(struct tb_datum *at)
{
	const struct tb_fabric_level *level = at->item;
	uint32_t n_ports = report_of(at)->fabric->n_ports;
	at->unknown = level->n_free == TB_FABRIC_PORTS_UNKNOWN;
	if (n_ports && !at->unknown)
		tb_put_text(
			at, "%u of %u each", level->n_free / level->n_switches, n_ports);
}

static void list_levels(struct tb_table *table)
{
	table->n_shown = ((const struct tb_fabric_report *)table->of)->fabric->n_levels;
}

#define LEVEL(member) TB_MEMBER(struct tb_fabric_level, member)

static const struct tb_column level_columns[] = {
	{NULL, "level", NULL, TB_DATUM_ID, .put = put_level_number},
	{NULL, "switches", NULL, TB_DATUM_ID, LEVEL(n_switches)},
	{NULL, "nodes", NULL, TB_DATUM_ID, LEVEL(n_nodes)},
	{NULL, "cables down", NULL, TB_DATUM_ID, LEVEL(n_down), .put = put_cables},
	{NULL, "cables up", NULL, TB_DATUM_ID, LEVEL(n_up), .put = put_cables},
	{NULL, "down", NULL, TB_DATUM_RATIO, .put = put_down},
	{NULL, "up", NULL, TB_DATUM_RATIO, .put = put_up},
	{NULL, "taper", NULL, TB_DATUM_RATIO, .put = put_taper},
	{NULL, "free ports", NULL, TB_DATUM_ID, LEVEL(n_free), .put = put_free},
};

static const struct tb_table_type levels = {"levels", "Levels", NULL,
	TB_COLUMNS(level_columns), .item = level_item, .list = list_levels};

// The cables, by what they join and their speed.
static const void *cables_item(const void *of, size_t row)
{
	return &((const struct tb_fabric_report *)of)->fabric->cables[row];
}

static void put_between(struct tb_datum *at)
{
	const struct tb_fabric_cables *cables = at->item;
	if (cables->to_nodes)
		tb_put_text(at, "hosts and level %u", cables->upper);
	else
		tb_put_text(at, "levels %u and %u", cables->lower, cables->upper);
}

static void put_cables_speed(struct tb_datum *at)
{
	speed_text(at, (double)((const struct tb_fabric_cables *)at->item)->bytes_per_s);
}

static void list_cables(struct tb_table *table)
{
	table->n_shown = ((const struct tb_fabric_report *)table->of)->fabric->n_cables;
}

static const struct tb_column cables_columns[] = {
	{NULL, "between", NULL, TB_DATUM_TEXT, .put = put_between},
	{NULL, "number", NULL, TB_DATUM_ID, TB_MEMBER(struct tb_fabric_cables, n)},
	{NULL, "speed", NULL, TB_DATUM_RATIO, .put = put_cables_speed},
};

static const struct tb_table_type cables = {"cables", "Cables", NULL,
	TB_COLUMNS(cables_columns), .item = cables_item, .list = list_cables};

static void put_bisection(const struct tb_fabric_report *report, FILE *stream)
{
	const struct tb_fabric *fabric = report->fabric;
	const struct tb_fabric_bisection *at = &fabric->bisection;
	char is[32], full[32], name[TB_NAME_SIZE];
	if (at->level == 0)
		return;
	fprintf(stream,
		"\nBisection\n  %s of %s, between %u and %u nodes: %u and %u of the "
		"subtrees below level %u\n",
		tb_speed_text((double)at->bytes_per_s, is, sizeof is),
		tb_speed_text((double)at->full_bytes_per_s, full, sizeof full),
		at->hosts_first, at->hosts_second, at->n_first,
		at->n_subtrees - at->n_first, at->level);
	fputs("  first half: the subtrees of ", stream);
	for (uint32_t i = 0; i < at->n_first && i < 4; i++)
		fprintf(stream, "%s%s", i ? ", " : "",
			tb_fabric_switch_text(
				fabric->network, at->of_first[i], name, sizeof name));
	fputs(at->n_first > 4 ? ", ...\n" : "\n", stream);
}

// write_lines wraps the lines of what is no table.
static int write_lines(void (*put)(const struct tb_fabric_report *, FILE *),
	const struct tb_fabric_report *report, unsigned width, FILE *stream)
{
	char *lines = NULL;
	size_t size;
	FILE *memory = open_memstream(&lines, &size);
	if (!memory)
		return TB_ENOMEM;
	put(report, memory);
	lines = tb_text_written(memory, &lines);
	if (!lines)
		return TB_ENOMEM;
	tb_wrap_lines(stream, width, lines);
	free(lines);
	return TB_OK;
}

// Pairs of hosts over the links of a direction and level.
static const void *class_item(const void *of, size_t row)
{
	return &((const struct tb_fabric_report *)of)->study->classes[row];
}

static void put_class(struct tb_datum *at)
{
	tb_link_class_text(at->item, at->text, sizeof at->text);
}

static void put_mean(struct tb_datum *at)
{
	tb_put_text(at, "%.7g", at->real);
}

// put_link_times says where it is the load by the links' rates that is shared so, of
// links with several.
static void put_link_times(struct tb_datum *at)
{
	const struct tb_link_class *class = at->item;
	bool by_rate = class->most - at->real * class->mean > .001 * class->most;
	tb_put_text(at, by_rate ? "%.3f by rate" : "%.3f", at->real);
}

static void put_class_hottest(struct tb_datum *at)
{
	const struct tb_link_class *class = at->item;
	if (class->most_times < 1.0005)
		at->word = class->most < 1.0005 * class->mean
				   ? "all alike"
				   : "none: the busier are faster";
	else
		tb_fabric_link_text(report_of(at)->fabric->network, class->hottest,
			at->text, sizeof at->text);
}

static void list_classes(struct tb_table *table)
{
	table->n_shown = ((const struct tb_fabric_report *)table->of)->study->n_classes;
}

#define CLASS(member) TB_MEMBER(struct tb_link_class, member)

static const struct tb_column class_columns[] = {
	{NULL, "links", NULL, TB_DATUM_TEXT, .put = put_class},
	{NULL, "number", NULL, TB_DATUM_ID, CLASS(n_links)},
	{NULL, "mean", NULL, TB_DATUM_RATIO, CLASS(mean), .put = put_mean},
	{NULL, "most", NULL, TB_DATUM_RATIO, CLASS(most), .put = put_mean},
	{NULL, "most/mean", NULL, TB_DATUM_RATIO, CLASS(most_times),
		.put = put_link_times},
	{NULL, "unused", NULL, TB_DATUM_ID, CLASS(n_unused)},
	{NULL, "hottest", NULL, TB_DATUM_TEXT, .put = put_class_hottest},
};

static const struct tb_table_type classes = {"classes",
	"Pairs of hosts over a link, all to all", NULL, TB_COLUMNS(class_columns),
	.item = class_item, .list = list_classes};

// Shifts, then random bisections; neither without the former.
static const void *pattern_item(const void *of, size_t row)
{
	const struct tb_route_study *study = ((const struct tb_fabric_report *)of)->study;
	return row ? &study->bisections : &study->shifts;
}

static void put_pattern(struct tb_datum *at)
{
	at->word = at->row ? "random bisections" : "shifts";
}

static void put_pair_share(struct tb_datum *at)
{
	tb_format_percent(100 * at->real, at->text, sizeof at->text);
}

static void put_mean_speed(struct tb_datum *at)
{
	speed_text(at, at->real);
}

static void list_patterns(struct tb_table *table)
{
	const struct tb_route_study *study =
		((const struct tb_fabric_report *)table->of)->study;
	if (study->shifts.n)
		table->n_shown = study->bisections.n ? 2 : 1;
}

#define SHARES(member) TB_MEMBER(struct tb_pattern_shares, member)

static const struct tb_column pattern_columns[] = {
	{NULL, "patterns", NULL, TB_DATUM_TEXT, .put = put_pattern},
	{NULL, "number", NULL, TB_DATUM_ID, SHARES(n)},
	{NULL, "mean", NULL, TB_DATUM_RATIO, SHARES(share.mean), .put = put_pair_share},
	{NULL, "worst", NULL, TB_DATUM_RATIO, SHARES(least), .put = put_pair_share},
	{NULL, "worst pair", NULL, TB_DATUM_RATIO, SHARES(least_of_pair),
		.put = put_pair_share},
	{NULL, "mean speed", NULL, TB_DATUM_RATIO, SHARES(bytes_per_s),
		.put = put_mean_speed},
	{NULL, "without wait", NULL, TB_DATUM_ID, SHARES(n_clean)},
};

static const struct tb_table_type patterns = {"patterns",
	"Share of its link that a host has", NULL, TB_COLUMNS(pattern_columns),
	.item = pattern_item, .list = list_patterns};

// The hottest links: an item is a link's number.
#define HOTTEST_MOST 1000

struct hottest {
	const struct tb_route_study *study;
	struct tb_link links[HOTTEST_MOST];
};

static void put_hot_times(struct tb_datum *at)
{
	const struct hottest *hottest = at->of;
	tb_put_text(at, "%.3f",
		tb_route_study_times(hottest->study, hottest->links[at->row]));
}

static void put_hot_pairs(struct tb_datum *at)
{
	const struct hottest *hottest = at->of;
	tb_put_text(at, "%.7g", hottest->study->pairs[hottest->links[at->row].id]);
}

static void put_hot_link(struct tb_datum *at)
{
	const struct hottest *hottest = at->of;
	tb_fabric_link_text(hottest->study->network, hottest->links[at->row], at->text,
		sizeof at->text);
}

static const struct tb_column hottest_columns[] = {
	{NULL, "times mean", NULL, TB_DATUM_RATIO, .put = put_hot_times},
	{NULL, "pairs", NULL, TB_DATUM_RATIO, .put = put_hot_pairs},
	{NULL, "link", NULL, TB_DATUM_TEXT, .put = put_hot_link},
};

static const struct tb_table_type hottest_links = {"hottest", "Hottest links, all to all",
	NULL, TB_COLUMNS(hottest_columns), TB_ROWS_IN(struct hottest, links)};

static int write_hottest(
	const struct tb_fabric_report *report, unsigned width, FILE *stream)
{
	struct hottest hottest = {.study = report->study};
	struct tb_table table = {.type = &hottest_links, .of = &hottest};
	uint32_t n = report->n_hottest < HOTTEST_MOST ? report->n_hottest : HOTTEST_MOST;
	table.n_shown = tb_route_study_hottest(report->study, hottest.links, n);
	if (table.n_shown == 0 || report->study->hottest_times < 1.0005)
		return TB_OK;
	return tb_table_text(&table, width, stream);
}

static int write_table(const struct tb_table_type *type,
	const struct tb_fabric_report *report, unsigned width, FILE *stream)
{
	struct tb_table table = {.type = type, .of = report};
	type->list(&table);
	return table.n_shown ? tb_table_text(&table, width, stream) : TB_OK;
}

int tb_fabric_write_text(
	const struct tb_fabric_report *report, unsigned width, FILE *stream)
{
	struct tb_fabric_verdict verdict;
	char text[TB_VERDICT_SENTENCES * (TB_VERDICT_LENGTH + 2)] = "";
	size_t at = 0;
	tb_fabric_judge(report, &verdict);
	for (int i = 0; i < verdict.n; i++)
		at += (size_t)snprintf(text + at, sizeof text - at, "%s%s.", i ? " " : "",
			verdict.sentences[i]);
	tb_wrap(stream, 0, 0, width ? width : WIDTH, text);
	int status = write_table(&levels, report, width, stream);
	if (!status)
		status = write_table(&cables, report, width, stream);
	if (!status)
		status = write_lines(tb_fabric_put_oddities, report, width, stream);
	if (!status)
		status = write_lines(put_bisection, report, width, stream);
	if (!tb_network_knows_cables(report->fabric->network))
		return status;
	if (!status)
		status = write_table(&classes, report, width, stream);
	if (!status)
		status = write_table(&patterns, report, width, stream);
	return status ? status : write_hottest(report, width, stream);
}

// put_level_name writes the level at an end of a link, nothing for a node.
static void put_level_name(
	const struct tb_network *net, bool is_node, uint32_t sw, FILE *stream)
{
	if (!is_node)
		fprintf(stream, "%u",
			tb_network_switch(net, (struct tb_switch){sw}).level);
	fputc(',', stream);
}

void tb_fabric_write_csv(const struct tb_fabric_report *report, FILE *stream)
{
	const struct tb_route_study *study = report->study;
	const struct tb_network *net = study->network;
	fputs("link,from_level,to_level,bytes_per_s,pairs,times\n", stream);
	for (uint32_t link = 0; link < tb_network_n_links(net); link++) {
		struct tb_link_info at = tb_network_link(net, (struct tb_link){link});
		char name[TB_LINK_NAME_SIZE];
		tb_csv_put(stream,
			tb_names_link(net, (struct tb_link){link}, name, sizeof name));
		fputc(',', stream);
		put_level_name(net, at.kind == TB_LINK_INJECTION, at.from, stream);
		put_level_name(net, at.kind == TB_LINK_EJECTION, at.to, stream);
		fprintf(stream, "%" PRIu64 ",%.10g,%.6g\n", at.bytes_per_s,
			study->pairs[link],
			tb_route_study_times(study, (struct tb_link){link}));
	}
}

// A fabric in sentences.
#include "fabric_report.h"
#include "names.h"
#include "units.h"
#include "visible.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>

#define NAMED	 2     // things that a sentence names, of several alike
#define EVEN	 0.005 // a taper within this of 1 is none
#define NEAR	 0.05  // and within this none but on some switches
#define HOT	 1.05  // times the mean, from which a link is worth naming
#define NAME	 TB_NAME_SIZE
#define LINKNAME TB_LINK_NAME_SIZE
#define ROUTES	 160

char *tb_fabric_speed(double bytes_per_s, char *buffer, size_t size)
{
	double gbit = bytes_per_s * 8 / 1e9;
	if (gbit < 0.9995)
		snprintf(buffer, size, "%.4g Mbit/s", gbit * 1000);
	else if (gbit < 9999.5)
		snprintf(buffer, size, "%.4g Gbit/s", gbit);
	else
		snprintf(buffer, size, "%.4g Tbit/s", gbit / 1000);
	return buffer;
}

char *tb_fabric_switch_text(
	const struct tb_network *net, struct tb_switch sw, char *buffer, size_t size)
{
	char name[TB_NAME_SIZE], visible[TB_NAME_SIZE];
	snprintf(buffer, size, "%s",
		tb_visible(tb_names_switch(net, sw, name, sizeof name), visible,
			sizeof visible));
	return buffer;
}

char *tb_fabric_link_text(
	const struct tb_network *net, struct tb_link link, char *buffer, size_t size)
{
	char name[TB_LINK_NAME_SIZE], visible[TB_LINK_NAME_SIZE];
	snprintf(buffer, size, "%s",
		tb_visible(tb_names_link(net, link, name, sizeof name), visible,
			sizeof visible));
	return buffer;
}

const char *tb_oddity_name(enum tb_oddity_kind kind)
{
	static const char *const names[TB_N_ODDITIES] = {
		[TB_ODDITY_FEWER_UP] = "fewer up",
		[TB_ODDITY_MISSING] = "missing",
		[TB_ODDITY_FEWER_DOWN] = "fewer down",
		[TB_ODDITY_SLOWER] = "slower",
		[TB_ODDITY_HIGH_NODE] = "high nodes",
		[TB_ODDITY_SKIPS] = "skips a level",
		[TB_ODDITY_ASIDE] = "aside",
		[TB_ODDITY_DOUBTFUL] = "doubtful level",
	};
	return names[kind];
}

char *tb_oddity_text(const struct tb_network *net, const struct tb_oddity *odd,
	char *buffer, size_t size)
{
	char one[LINKNAME], other[NAME], is[32], was[32];
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
	case TB_ODDITY_FEWER_DOWN:
		snprintf(buffer, size,
			"%s has %" PRIu64 " of %" PRIu64 " cables to switches below",
			tb_fabric_switch_text(net, odd->sw, one, sizeof one), odd->n,
			odd->usual);
		break;
	case TB_ODDITY_SLOWER:
		snprintf(buffer, size, "%s runs at %s, its peers at %s",
			tb_fabric_link_text(net, odd->link, one, sizeof one),
			tb_fabric_speed((double)odd->n, is, sizeof is),
			tb_fabric_speed((double)odd->usual, was, sizeof was));
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
	case TB_ODDITY_DOUBTFUL:
		snprintf(buffer, size, "%s may not be of level %" PRIu64,
			tb_fabric_switch_text(net, odd->sw, one, sizeof one), odd->n);
		break;
	case TB_N_ODDITIES:
		break;
	}
	return buffer;
}

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

static void say(struct tb_fabric_verdict *verdict, const char *format, ...)
	TB_PRINTF(2, 3);

static void say(struct tb_fabric_verdict *verdict, const char *format, ...)
{
	va_list args;
	if (verdict->n == TB_VERDICT_SENTENCES)
		return;
	va_start(args, format);
	vsnprintf(verdict->sentences[verdict->n++], TB_VERDICT_LENGTH, format, args);
	va_end(args);
}

static void say_size(
	const struct tb_fabric_report *report, struct tb_fabric_verdict *verdict)
{
	const struct tb_fabric *fabric = report->fabric;
	char hosts[48], switches[48], cables[48], levels[48], rails[64] = "";
	uint64_t n_cables = 0;
	for (uint32_t i = 0; i < fabric->n_cables; i++)
		n_cables += fabric->cables[i].to_nodes ? 0 : fabric->cables[i].n;
	if (tb_network_n_rails(fabric->network) > 1)
		snprintf(rails, sizeof rails, " on %u rails",
			tb_network_n_rails(fabric->network));
	tb_format_counted(n_cables, "cable", cables, sizeof cables);
	say(verdict, "%s%s, %s on %s%s%s%s",
		tb_format_counted(
			tb_network_n_hosts(fabric->network), "host", hosts, sizeof hosts),
		rails,
		tb_format_counted(tb_network_n_switches(fabric->network),
			"switch|switches", switches, sizeof switches),
		tb_format_counted(fabric->n_levels, "level", levels, sizeof levels),
		n_cables ? ", " : "", n_cables ? cables : "",
		n_cables ? " between them" : "");
	if (report->study->hosts.of)
		say(verdict, "Of the hosts %u send and receive here",
			report->study->hosts.n);
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
			say(verdict,
				"Level %u has as much capacity up as down on the whole%s",
				i, range);
		else
			say(verdict,
				taper > 1
					? "Level %u is tapered %s%s"
					: "Level %u has more capacity up than down, %s%s",
				i, write_taper_ratio(taper, all, sizeof all), range);
	}
	if (!any && fabric->n_levels > 1)
		say(verdict, "No level is tapered");
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

// say_kind names the worst things of a kind behind a head.
static void say_kind(const struct tb_fabric_report *report,
	struct tb_fabric_verdict *verdict, enum tb_oddity_kind kind, const char *head)
{
	const struct tb_fabric *fabric = report->fabric;
	char text[TB_VERDICT_LENGTH], one[512];
	uint32_t n = fabric->n_of_kind[kind];
	const struct tb_oddity *at = NULL;
	int used = snprintf(text, sizeof text, "%s", head);
	for (uint32_t i = 0; i < n && i < NAMED; i++) {
		at = next_of_kind(fabric, kind, at);
		tb_oddity_text(fabric->network, at, one, sizeof one);
		if ((size_t)used < sizeof text)
			used += snprintf(text + used, sizeof text - (size_t)used, "%s%s",
				i ? "; " : "", one);
	}
	if (n > NAMED && (size_t)used < sizeof text)
		snprintf(text + used, sizeof text - (size_t)used, "; %u more", n - NAMED);
	if (n)
		say(verdict, "%s", text);
}

static void say_odd(
	const struct tb_fabric_report *report, struct tb_fabric_verdict *verdict)
{
	char head[96], n[48];
	const uint32_t *n_of = report->fabric->n_of_kind;
	snprintf(head, sizeof head, "%s missing: ",
		tb_format_counted(
			report->fabric->n_missing, "cable is|cables are", n, sizeof n));
	say_kind(report, verdict, TB_ODDITY_FEWER_UP, head);
	say_kind(report, verdict, TB_ODDITY_FEWER_DOWN, "");
	snprintf(head, sizeof head, "%s slower than usual: ",
		tb_format_counted(
			n_of[TB_ODDITY_SLOWER], "cable is|cables are", n, sizeof n));
	say_kind(report, verdict, TB_ODDITY_SLOWER, head);
	say_kind(report, verdict, TB_ODDITY_HIGH_NODE, "Hosts are above the leaves: ");
	say_kind(report, verdict, TB_ODDITY_SKIPS, "");
	say_kind(report, verdict, TB_ODDITY_ASIDE, "");
}

static void say_bisection(
	const struct tb_fabric_report *report, struct tb_fabric_verdict *verdict)
{
	const struct tb_fabric_bisection *at = &report->fabric->bisection;
	char percent[48], is[32], full[32];
	if (at->level == 0 || at->full_bytes_per_s == 0)
		return;
	double share = (double)at->bytes_per_s / (double)at->full_bytes_per_s;
	say(verdict, "Its bisection carries %s of what half of the hosts send, %s of %s",
		tb_format_percent(100 * fmin(share, 1), percent, sizeof percent),
		tb_fabric_speed((double)at->bytes_per_s, is, sizeof is),
		tb_fabric_speed((double)at->full_bytes_per_s, full, sizeof full));
}

char *tb_fabric_routes_text(
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
	return report->study->known ? ""
				    : ", if the choice by load spreads traffic evenly";
}

static void say_all(
	const struct tb_fabric_report *report, struct tb_fabric_verdict *verdict)
{
	const struct tb_route_study *study = report->study;
	const struct tb_network *net = study->network;
	char link[LINKNAME], percent[48], pairs[64], routes[ROUTES];
	if (study->n_unrouted)
		say(verdict, "No route joins %s of hosts",
			tb_format_counted(
				study->n_unrouted, "pair", pairs, sizeof pairs));
	tb_fabric_routes_text(report, routes, sizeof routes);
	tb_format_percent(100 * study->all_share, percent, sizeof percent);
	bool hot = study->hottest_times >= HOT;
	bool same =
		hot && study->all_share < 1 && study->all_hottest.id == study->hottest.id;
	if (hot)
		say(verdict, "%s put %.3g times the mean load of its level on %s%s%s%s%s",
			routes, study->hottest_times,
			tb_fabric_link_text(net, study->hottest, link, sizeof link),
			same ? ", which holds all to all down to " : "",
			same ? percent : "", same ? " of a host's link" : "",
			same ? if_even(report) : "");
	else if (study->hottest.id != TB_ID_NONE)
		say(verdict, "%s load the cables of a level alike", routes);
	if (study->all_share >= 1)
		say(verdict, "All to all runs at the full speed of the hosts' links%s",
			if_even(report));
	else if (!same)
		say(verdict, "All to all runs at %s of a host's link, held down by %s%s",
			percent,
			tb_fabric_link_text(net, study->all_hottest, link, sizeof link),
			if_even(report));
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
		say(verdict, "In %s%s every host has its whole link", n, n_of);
	else
		say(verdict,
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
	say(verdict,
		"The effective bisection bandwidth is %.1f %%%s of the hosts' links%s",
		mean, range, if_even(report));
}

void tb_fabric_judge(
	const struct tb_fabric_report *report, struct tb_fabric_verdict *verdict)
{
	verdict->n = 0;
	say_size(report, verdict);
	say_kind(report, verdict, TB_ODDITY_DOUBTFUL,
		"Levels are doubtful (--roots names the top): ");
	say_taper(report, verdict);
	say_odd(report, verdict);
	say_bisection(report, verdict);
	say_all(report, verdict);
	say_shifts(report, verdict);
	say_bisections(report, verdict);
}

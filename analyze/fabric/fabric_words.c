// A fabric in sentences.
#include "fabric_report.h"
#include "names.h"
#include "units.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>

#define NAMED	 2     // things that a sentence names, of several alike
#define EVEN	 0.005 // a taper within this of 1 is none
#define HOT	 1.05  // times the mean, from which a link is worth naming
#define NAME	 TB_NAME_SIZE
#define LINKNAME TB_LINK_NAME_SIZE

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

const char *tb_oddity_name(enum tb_oddity_kind kind)
{
	static const char *const names[TB_N_ODDITIES] = {
		[TB_ODDITY_FEWER_UP] = "fewer up",
		[TB_ODDITY_MISSING] = "missing",
		[TB_ODDITY_FEWER_DOWN] = "fewer down",
		[TB_ODDITY_SLOWER] = "slower",
		[TB_ODDITY_HIGH_NODE] = "high nodes",
		[TB_ODDITY_SKIPS] = "skips a level",
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
			tb_names_switch(net, odd->sw, one, sizeof one), odd->n,
			odd->usual);
		break;
	case TB_ODDITY_MISSING:
		snprintf(buffer, size, "%s has %" PRIu64 " of %" PRIu64 " cables to %s",
			tb_names_switch(net, odd->sw, one, sizeof one), odd->n,
			odd->usual,
			tb_names_switch(net, odd->other, other, sizeof other));
		break;
	case TB_ODDITY_FEWER_DOWN:
		snprintf(buffer, size,
			"%s has %" PRIu64 " of %" PRIu64 " cables to switches below",
			tb_names_switch(net, odd->sw, one, sizeof one), odd->n,
			odd->usual);
		break;
	case TB_ODDITY_SLOWER:
		snprintf(buffer, size, "%s runs at %s, its peers at %s",
			tb_names_link(net, odd->link, one, sizeof one),
			tb_fabric_speed((double)odd->n, is, sizeof is),
			tb_fabric_speed((double)odd->usual, was, sizeof was));
		break;
	case TB_ODDITY_HIGH_NODE:
		snprintf(buffer, size, "%s, of level %u, has %s",
			tb_names_switch(net, odd->sw, one, sizeof one),
			tb_network_switch(net, odd->sw).level,
			tb_format_counted(odd->n, "host", is, sizeof is));
		break;
	case TB_ODDITY_SKIPS:
		snprintf(buffer, size, "%s passes over a level",
			tb_names_link(net, odd->link, one, sizeof one));
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
}

// ratio writes "3:1" or "1:1.5".
static char *ratio(double taper, char *buffer, size_t size)
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
				ratio(level->least_taper, least, sizeof least),
				ratio(level->most_taper, most, sizeof most));
		any = any || taper > 1;
		say(verdict,
			taper > 1 ? "Level %u is tapered %s%s"
				  : "Level %u has more capacity up than down, %s%s",
			i, ratio(taper, all, sizeof all), range);
	}
	if (!any && fabric->n_levels > 1)
		say(verdict, "No level is tapered");
}

// say_kind names the first things of a kind behind a head.
static void say_kind(const struct tb_fabric_report *report,
	struct tb_fabric_verdict *verdict, enum tb_oddity_kind kind, const char *head)
{
	const struct tb_fabric *fabric = report->fabric;
	char text[TB_VERDICT_LENGTH], one[512];
	uint32_t n = 0;
	int used = snprintf(text, sizeof text, "%s", head);
	for (uint32_t i = 0; i < fabric->n_oddities; i++) {
		if (fabric->oddities[i].kind != kind || n++ >= NAMED)
			continue;
		tb_oddity_text(fabric->network, &fabric->oddities[i], one, sizeof one);
		if ((size_t)used < sizeof text)
			used += snprintf(text + used, sizeof text - (size_t)used, "%s%s",
				n > 1 ? "; " : "", one);
	}
	if (n > NAMED && (size_t)used < sizeof text)
		snprintf(text + used, sizeof text - (size_t)used,
			"; %u more are listed below", n - NAMED);
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

static void say_all(
	const struct tb_fabric_report *report, struct tb_fabric_verdict *verdict)
{
	const struct tb_route_study *study = report->study;
	const struct tb_network *net = study->network;
	char link[LINKNAME], percent[48], pairs[64];
	if (study->n_unrouted)
		say(verdict, "No route joins %s of hosts",
			tb_format_counted(
				study->n_unrouted, "pair", pairs, sizeof pairs));
	if (study->hottest_times >= HOT)
		say(verdict, "The routes put %.3g times the mean load of its level on %s",
			study->hottest_times,
			tb_names_link(net, study->hottest, link, sizeof link));
	else if (study->hottest.id != TB_ID_NONE)
		say(verdict, "The routes load the cables of a level alike");
	if (study->all_share < 1)
		say(verdict, "All to all runs at %s of a host's link, held up by %s",
			tb_format_percent(
				100 * study->all_share, percent, sizeof percent),
			tb_names_link(net, study->all_hottest, link, sizeof link));
	else
		say(verdict, "All to all runs at the full speed of the hosts' links");
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
			tb_format_count(at->n_clean, clean, sizeof clean));
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
		mean, range,
		report->study->known ? ""
				     : ", if the choice by load spreads traffic evenly");
}

void tb_fabric_judge(
	const struct tb_fabric_report *report, struct tb_fabric_verdict *verdict)
{
	verdict->n = 0;
	say_size(report, verdict);
	say_taper(report, verdict);
	say_odd(report, verdict);
	say_bisection(report, verdict);
	say_all(report, verdict);
	say_shifts(report, verdict);
	say_bisections(report, verdict);
}

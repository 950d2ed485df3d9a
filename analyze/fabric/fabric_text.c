// A fabric as text and CSV.
#include "fabric_report.h"
#include "markup.h"
#include "names.h"
#include "units.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#define WIDTH 80 // of the paragraph

// paragraph writes words in lines of up to WIDTH bytes.
struct paragraph {
	FILE *stream;
	size_t column;
};

static void put_words(struct paragraph *paragraph, const char *text, const char *end)
{
	while (*text) {
		size_t n = strcspn(text, " ");
		bool last = text[n] == '\0';
		size_t width = n + (last ? strlen(end) : 0);
		if (paragraph->column > 0 && paragraph->column + 1 + width > WIDTH) {
			fputc('\n', paragraph->stream);
			paragraph->column = 0;
		}
		if (paragraph->column > 0)
			fputc(' ', paragraph->stream);
		fprintf(paragraph->stream, "%.*s%s", (int)n, text, last ? end : "");
		paragraph->column += width + (paragraph->column > 0);
		text += n + !last;
	}
}

static void write_verdict(const struct tb_fabric_report *report, FILE *stream)
{
	struct tb_fabric_verdict verdict;
	struct paragraph paragraph = {stream, 0};
	tb_fabric_judge(report, &verdict);
	for (int i = 0; i < verdict.n; i++)
		put_words(&paragraph, verdict.sentences[i], ".");
	fputc('\n', stream);
}

static void write_levels(const struct tb_fabric *fabric, FILE *stream)
{
	fprintf(stream, "\nLevels\n  %5s %8s %6s %12s %9s %13s %13s %7s %10s\n", "level",
		"switches", "nodes", "cables down", "cables up", "down", "up", "taper",
		"free ports");
	for (uint32_t i = fabric->n_levels; i-- > 0;) {
		const struct tb_fabric_level *level = &fabric->levels[i];
		char down[32], up[32] = "-", taper[32] = "-";
		tb_fabric_speed((double)level->down_bytes_per_s, down, sizeof down);
		if (level->n_up) {
			tb_fabric_speed((double)level->up_bytes_per_s, up, sizeof up);
			snprintf(taper, sizeof taper, "%.3g", tb_fabric_taper(level));
		}
		fprintf(stream, "  %5u %8u %6u %12u %9u %13s %13s %7s %10u\n", i,
			level->n_switches, level->n_nodes, level->n_down, level->n_up,
			down, up, taper, level->n_free);
	}
}

static void write_cables(const struct tb_fabric *fabric, FILE *stream)
{
	fputs("\nCables\n", stream);
	for (uint32_t i = 0; i < fabric->n_cables; i++) {
		const struct tb_fabric_cables *at = &fabric->cables[i];
		char speed[32], between[48];
		if (at->to_nodes)
			snprintf(
				between, sizeof between, "hosts and level %u", at->upper);
		else
			snprintf(between, sizeof between, "levels %u and %u", at->lower,
				at->upper);
		fprintf(stream, "  %-20s %7u at %s\n", between, at->n,
			tb_fabric_speed((double)at->bytes_per_s, speed, sizeof speed));
	}
}

// write_missing continues the line of a switch with what it lacks, and returns how many
// rows that took.
static uint32_t write_missing(
	const struct tb_fabric *fabric, uint32_t first, FILE *stream)
{
	uint32_t i = first;
	for (; i < fabric->n_oddities && fabric->oddities[i].kind == TB_ODDITY_MISSING;
		i++) {
		const struct tb_oddity *at = &fabric->oddities[i];
		char name[TB_NAME_SIZE];
		fprintf(stream, "%s %" PRIu64 " of %" PRIu64 " to %s",
			i == first ? ":" : ",", at->n, at->usual,
			tb_fabric_switch_text(
				fabric->network, at->other, name, sizeof name));
	}
	return i - first;
}

static void write_oddities(const struct tb_fabric_report *report, FILE *stream)
{
	const struct tb_fabric *fabric = report->fabric;
	uint32_t n_lines = 0, n = fabric->n_oddities;
	if (n == 0)
		return;
	fputs("\nNot alike\n", stream);
	for (uint32_t i = 0; i < n && n_lines < report->n_odd; n_lines++) {
		char text[512];
		fprintf(stream, "  %s",
			tb_oddity_text(fabric->network, &fabric->oddities[i++], text,
				sizeof text));
		i += write_missing(fabric, i, stream);
		fputc('\n', stream);
	}
	n -= fabric->n_of_kind[TB_ODDITY_MISSING]; // on the lines of others
	if (n > n_lines)
		fprintf(stream, "  and %u more: -f json lists all\n", n - n_lines);
}

static void write_bisection(const struct tb_fabric *fabric, FILE *stream)
{
	const struct tb_fabric_bisection *at = &fabric->bisection;
	char is[32], full[32], name[TB_NAME_SIZE];
	if (at->level == 0)
		return;
	fprintf(stream,
		"\nBisection\n  %s of %s, between %u and %u hosts: %u and %u of the "
		"subtrees below level %u\n",
		tb_fabric_speed((double)at->bytes_per_s, is, sizeof is),
		tb_fabric_speed((double)at->full_bytes_per_s, full, sizeof full),
		at->hosts_first, at->hosts_second, at->n_first,
		at->n_subtrees - at->n_first, at->level);
	fputs("  first half: the subtrees of ", stream);
	for (uint32_t i = 0; i < at->n_first && i < 4; i++)
		fprintf(stream, "%s%s", i ? ", " : "",
			tb_fabric_switch_text(
				fabric->network, at->of_first[i], name, sizeof name));
	fputs(at->n_first > 4 ? ", ...\n" : "\n", stream);
}

static void write_classes(const struct tb_fabric_report *report, FILE *stream)
{
	const struct tb_route_study *study = report->study;
	fprintf(stream,
		"\nPairs of hosts over a link, all to all\n  %-18s %7s %11s %11s %7s %7s "
		" "
		"%s\n",
		"links", "number", "mean", "most", "times", "unused", "hottest");
	for (uint32_t i = 0; i < study->n_classes; i++) {
		const struct tb_link_class *at = &study->classes[i];
		char class[48], name[TB_LINK_NAME_SIZE];
		bool even = at->most_times < 1.0005;
		fprintf(stream, "  %-18s %7u %11.7g %11.7g %7.3f %7u  %s\n",
			tb_link_class_text(at, class, sizeof class), at->n_links,
			at->mean, at->most, at->most_times, at->n_unused,
			even ? "all alike"
			     : tb_fabric_link_text(
				       study->network, at->hottest, name, sizeof name));
	}
}

static void write_shares(
	const char *what, const struct tb_pattern_shares *at, FILE *stream)
{
	char mean[48], least[48], pair[48], rate[32];
	if (at->n == 0)
		return;
	tb_format_percent(100 * at->share.mean, mean, sizeof mean);
	tb_format_percent(100 * at->least, least, sizeof least);
	tb_format_percent(100 * at->least_of_pair, pair, sizeof pair);
	fprintf(stream, "  %-18s %7" PRIu64 " %9s %9s %9s %13s %7" PRIu64 "\n", what,
		at->n, mean, least, pair,
		tb_fabric_speed(at->bytes_per_s, rate, sizeof rate), at->n_clean);
}

static void write_patterns(const struct tb_fabric_report *report, FILE *stream)
{
	const struct tb_route_study *study = report->study;
	if (study->shifts.n == 0)
		return;
	fprintf(stream,
		"\nShare of its link that a host has\n  %-18s %7s %9s %9s %9s %13s %7s\n",
		"patterns", "number", "mean", "worst", "a pair's", "mean speed",
		"no wait");
	write_shares("shifts", &study->shifts, stream);
	write_shares("random bisections", &study->bisections, stream);
}

static void write_hottest(const struct tb_fabric_report *report, FILE *stream)
{
	const struct tb_route_study *study = report->study;
	enum { MOST = 1000 };
	struct tb_link links[MOST];
	uint32_t n = report->n_hottest < MOST ? report->n_hottest : MOST;
	n = tb_route_study_hottest(study, links, n);
	if (n == 0 || study->hottest_times < 1.0005)
		return;
	fprintf(stream, "\nHottest links, all to all\n  %7s %11s  link\n", "times",
		"pairs");
	for (uint32_t i = 0; i < n; i++) {
		char name[TB_LINK_NAME_SIZE];
		fprintf(stream, "  %7.3f %11.7g  %s\n",
			tb_route_study_times(study, links[i]), study->pairs[links[i].id],
			tb_fabric_link_text(study->network, links[i], name, sizeof name));
	}
}

void tb_fabric_write_text(const struct tb_fabric_report *report, FILE *stream)
{
	write_verdict(report, stream);
	write_levels(report->fabric, stream);
	write_cables(report->fabric, stream);
	write_oddities(report, stream);
	write_bisection(report->fabric, stream);
	write_classes(report, stream);
	write_patterns(report, stream);
	write_hottest(report, stream);
}

// put_level writes the level at an end of a link, nothing for a node.
static void put_level(
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
		put_level(net, at.kind == TB_LINK_INJECTION, at.from, stream);
		put_level(net, at.kind == TB_LINK_EJECTION, at.to, stream);
		fprintf(stream, "%" PRIu64 ",%.10g,%.6g\n", at.bytes_per_s,
			study->pairs[link],
			tb_route_study_times(study, (struct tb_link){link}));
	}
}

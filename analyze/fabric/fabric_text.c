// A fabric as text and CSV.
#include "fabric_report.h"
#include "markup.h"
#include "names.h"
#include "table.h"
#include "units.h"
#include "wrap.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define WIDTH 80 // of sentences, where tables may have any width

static unsigned of_sentences(unsigned width)
{
	return width ? width : WIDTH;
}

static void write_fabric_verdict(
	const struct tb_fabric_report *report, unsigned width, FILE *stream)
{
	struct tb_fabric_verdict verdict;
	char text[TB_VERDICT_SENTENCES * (TB_VERDICT_LENGTH + 2)] = "";
	size_t at = 0;
	tb_fabric_judge(report, &verdict);
	for (int i = 0; i < verdict.n; i++)
		at += (size_t)snprintf(text + at, sizeof text - at, "%s%s.", i ? " " : "",
			verdict.sentences[i]);
	tb_wrap(stream, 0, 0, of_sentences(width), text);
}

static const struct tb_fabric_report *report_of(const struct tb_datum *at)
{
	return at->of;
}

// speed_text: a speed is aligned as a number, and written as networks are sold.
static void speed_text(struct tb_datum *at, double bytes_per_s)
{
	tb_fabric_speed(bytes_per_s, at->text, sizeof at->text);
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
	speed_text(at, (double)level->down_bytes_per_s);
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

static void list_levels(struct tb_table *table)
{
	table->n_shown = ((const struct tb_fabric_report *)table->of)->fabric->n_levels;
}

#define LEVEL(member) TB_MEMBER(struct tb_fabric_level, member)

static const struct tb_column level_columns[] = {
	{NULL, "level", NULL, TB_DATUM_ID, .put = put_level_number},
	{NULL, "switches", NULL, TB_DATUM_ID, LEVEL(n_switches)},
	{NULL, "nodes", NULL, TB_DATUM_ID, LEVEL(n_nodes)},
	{NULL, "cables down", NULL, TB_DATUM_ID, LEVEL(n_down)},
	{NULL, "cables up", NULL, TB_DATUM_ID, LEVEL(n_up)},
	{NULL, "down", NULL, TB_DATUM_RATIO, .put = put_down},
	{NULL, "up", NULL, TB_DATUM_RATIO, .put = put_up},
	{NULL, "taper", NULL, TB_DATUM_RATIO, .put = put_taper},
	{NULL, "free ports", NULL, TB_DATUM_ID, LEVEL(n_free)},
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

static void put_oddities(const struct tb_fabric_report *report, FILE *stream)
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

static void put_bisection(const struct tb_fabric_report *report, FILE *stream)
{
	const struct tb_fabric *fabric = report->fabric;
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
	bool whole = fclose(memory) == 0;
	if (whole)
		tb_wrap_lines(stream, width, lines);
	free(lines);
	return whole ? TB_OK : TB_ENOMEM;
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

static void put_link_times(struct tb_datum *at)
{
	tb_put_text(at, "%.3f", at->real);
}

static void put_class_hottest(struct tb_datum *at)
{
	const struct tb_link_class *class = at->item;
	if (class->most_times < 1.0005)
		at->word = "all alike";
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
	{NULL, "times", NULL, TB_DATUM_RATIO, CLASS(most_times), .put = put_link_times},
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
	{NULL, "a pair's", NULL, TB_DATUM_RATIO, SHARES(least_of_pair),
		.put = put_pair_share},
	{NULL, "mean speed", NULL, TB_DATUM_RATIO, SHARES(bytes_per_s),
		.put = put_mean_speed},
	{NULL, "no wait", NULL, TB_DATUM_ID, SHARES(n_clean)},
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
	{NULL, "times", NULL, TB_DATUM_RATIO, .put = put_hot_times},
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
	write_fabric_verdict(report, width, stream);
	int status = write_table(&levels, report, width, stream);
	if (!status)
		status = write_table(&cables, report, width, stream);
	if (!status)
		status = write_lines(put_oddities, report, width, stream);
	if (!status)
		status = write_lines(put_bisection, report, width, stream);
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

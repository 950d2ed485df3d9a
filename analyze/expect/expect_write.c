// The rows and their reasons, in all formats.
#include "expect_impl.h"

#include "json.h"
#include "markup.h"
#include "page.h"
#include "table.h"
#include "visible.h"
#include "wrap.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *expect_verdict_word(size_t i)
{
	static const char *const words[] = {[TB_EXPECT_FITS] = "as expected",
		[TB_EXPECT_SLOWER] = "slower",
		[TB_EXPECT_FASTER] = "faster than the model allows",
		[TB_EXPECT_WIDE] = "unclear within a wide range",
		[TB_EXPECT_UNMEASURED] = "without a measured range",
		[TB_EXPECT_WRONG] = "wrong values",
		[TB_EXPECT_UNJUDGED] = "not judged"};
	return i < sizeof words / sizeof *words ? words[i] : NULL;
}

static const char *expect_way_word(size_t i)
{
	static const char *const words[] = {[TB_EXPECT_PACKETS] = "packets",
		[TB_EXPECT_FLUID] = "fluid",
		[TB_EXPECT_BETWEEN] = "between",
		[TB_EXPECT_BEYOND] = "beyond",
		[TB_EXPECT_FEWER] = "fewer hosts",
		[TB_EXPECT_LEFT_OUT] = "left out"};
	return i < sizeof words / sizeof *words ? words[i] : NULL;
}

// Columns that are not shown to people, by what all rows have.
enum expect_hidden {
	HIDE_OPERATION = 1, // and ranks and hosts: the heading has them
	HIDE_TIMES = 2,
	HIDE_RATES = 4, // they have times or bus bandwidths
	HIDE_BUS = 8,
	HIDE_ALGORITHM = 16,
	HIDE_RANGE = 32,
	HIDE_MEASURED = 64, // nothing was: ratio and verdict, and the others' words
	HIDE_PLANNED = 128,
	HIDE_FILE = 256 // there is one, or the headings have them
};

static void adapt_expect_column(struct tb_column *column, const void *of)
{
	const struct tb_expect *expect = of;
	if (expect && expect->hidden & column->which)
		column->title = NULL;
	else if (expect && expect->is_planned && column->which == HIDE_BUS)
		column->title = "busbw";
}

int expect_choose_shown(struct tb_expect *expect)
{
	const struct expect_row *first = expect->rows;
	bool rates = false, ranges = false;
	expect->shown = malloc((expect->n_rows + 1) * sizeof *expect->shown);
	if (!expect->shown)
		return TB_ENOMEM;
	expect->hidden = HIDE_OPERATION | HIDE_TIMES | HIDE_BUS | HIDE_ALGORITHM |
			 (expect->is_planned ? HIDE_MEASURED : HIDE_PLANNED) |
			 (expect->options->n_files > 1 ? 0u : HIDE_FILE);
	for (size_t i = 0; i < expect->n_rows; i++) {
		struct expect_row *row = &expect->rows[i], *next = row + 1;
		bool same = expect_is_of_part(row, first);
		expect->hidden &= ~(
			(same ? 0u : HIDE_OPERATION) |
			(isnan(row->measured_us) && !expect->is_planned ? 0u
									: HIDE_TIMES) |
			(isnan(row->measured_bus) && (!expect->is_planned ||
							     isnan(row->expected_bus))
					? 0u
					: HIDE_BUS) |
			(row->call->rule.algorithm ? HIDE_ALGORITHM : 0u));
		rates |= isnan(row->measured_us) && isnan(row->measured_bus) &&
			 !expect->is_planned;
		ranges |= !isnan(row->low);
		expect->shown[expect->n_shown++] = row;
		if (i + 1 < expect->n_rows && next->call == row->call &&
			next->setup == row->setup && next->row->line == row->row->line &&
			next->row->in_place && next->verdict == row->verdict) {
			row->in_place = next;
			i++;
		}
	}
	expect->hidden |=
		(rates ? 0u : HIDE_RATES) | (ranges ? 0u : HIDE_RANGE | HIDE_PLANNED);
	return TB_OK;
}

void expect_put_us(struct tb_datum *at, double us)
{
	at->unknown = isnan(us);
	at->whole = at->unknown ? 0 : (int64_t)(us * 1e6 + .5);
}

void expect_put_rate(struct tb_datum *at, double rate)
{
	char text[24];
	at->unknown = isnan(rate);
	at->real = rate;
	if (!at->unknown)
		tb_put_text(at, "%s", tb_format_rate(rate, text, sizeof text));
}

#define EXPECT_PUT(name, statement)                                                      \
	static void name(struct tb_datum *at)                                            \
	{                                                                                \
		const struct expect_row *row = at->item;                                 \
		statement;                                                               \
	}

EXPECT_PUT(put_expect_file, at->word = row->setup->table->file)
EXPECT_PUT(put_expect_line, at->whole = (int64_t)row->row->line)
EXPECT_PUT(put_expect_tool, at->word = row->setup->table->tool)
EXPECT_PUT(put_expect_what, at->word = row->what)
EXPECT_PUT(put_expect_ranks, at->whole = row->call->n_ranks)
EXPECT_PUT(put_expect_hosts, at->whole = row->call->n_hosts;
	   at->unknown = !row->call->n_hosts)
EXPECT_PUT(put_expect_size, at->whole = (int64_t)row->row->printed_bytes)
EXPECT_PUT(put_expect_in_place, at->whole = row->row->in_place)
EXPECT_PUT(put_measured_time, expect_put_us(at, row->measured_us))
EXPECT_PUT(put_expected_time, expect_put_us(at, row->expected_us))
EXPECT_PUT(put_measured_rate, expect_put_rate(at, row->measured_rate))
EXPECT_PUT(put_expected_rate, expect_put_rate(at, row->expected_rate))
EXPECT_PUT(put_measured_bus, expect_put_rate(at, row->measured_bus))
EXPECT_PUT(put_expected_bus, expect_put_rate(at, row->expected_bus))
EXPECT_PUT(put_expect_low, at->real = row->low; at->unknown = isnan(row->low))
EXPECT_PUT(put_expect_high, at->real = row->high; at->unknown = isnan(row->high))
EXPECT_PUT(put_expect_verdict, at->word = expect_verdict_word(row->verdict))
EXPECT_PUT(put_expect_way, at->word = expect_way_word(row->call->way))
EXPECT_PUT(put_expect_algorithm, at->word = row->call->rule.algorithm;
	   at->unknown = !row->call->rule.algorithm)
EXPECT_PUT(put_expect_protocol, at->word = row->call->rule.protocol;
	   at->unknown = !row->call->rule.protocol)
EXPECT_PUT(put_expect_wrong, at->whole = (int64_t)row->row->n_wrong)
EXPECT_PUT(put_class_rows, at->unknown = isnan(row->n_rows);
	   at->whole = at->unknown ? 0 : (int64_t)row->n_rows)
EXPECT_PUT(put_class_clusters, at->unknown = isnan(row->n_clusters);
	   at->whole = at->unknown ? 0 : (int64_t)row->n_clusters)

// put_expect_ratio puts "0.52/0.51" where a row has one in place beside it, "-/0.51" for
// one in place that is judged otherwise.
static void put_expect_ratio(struct tb_datum *at)
{
	const struct expect_row *row = at->item;
	at->unknown = !isfinite(row->ratio);
	at->real = row->ratio;
	if (!at->unknown && row->in_place)
		tb_put_text(at, "%.2f/%.2f", row->ratio, row->in_place->ratio);
	else if (!at->unknown)
		tb_put_text(at, row->row->in_place ? "-/%.2f" : "%.2f", row->ratio);
}

// put_on_clusters puts the times that such rows took on measured clusters.
static void put_on_clusters(struct tb_datum *at)
{
	const struct expect_row *row = at->item;
	char least[24], most[24];
	bool is_left_out = row->call->way == TB_EXPECT_LEFT_OUT;
	at->unknown = !is_left_out && (isnan(row->low) || isnan(row->expected_us));
	if (is_left_out)
		tb_put_text(at, "not known");
	else if (!at->unknown)
		tb_put_text(at, "%s to %s",
			tb_format_long_time(
				row->expected_us * 1e6 / row->high, least, sizeof least),
			tb_format_long_time(
				row->expected_us * 1e6 / row->low, most, sizeof most));
}

static void put_expect_range(struct tb_datum *at)
{
	const struct expect_row *row = at->item;
	at->unknown = isnan(row->low) || row->call->way == TB_EXPECT_LEFT_OUT;
	if (!at->unknown)
		tb_put_text(at, "%.2f-%.2f", row->low, row->high);
}

// put_short_algorithm leaves out "nccl-", which all algorithms of NCCL have, and of a
// plan, whose table is narrow, puts the protocol behind: "ring, LL128".
static void put_short_algorithm(struct tb_datum *at)
{
	const struct tb_expect *expect = at->of;
	const struct tb_expansion_rule *rule =
		&((const struct expect_row *)at->item)->call->rule;
	const char *name = rule->algorithm;
	const char *protocol = expect->is_planned ? rule->protocol : NULL;
	at->unknown = !name;
	if (name)
		tb_put_text(at, "%s%s%s",
			strncmp(name, "nccl-", 5) == 0 ? name + 5 : name,
			protocol ? ", " : "", protocol ? protocol : "");
}

static void put_short_verdict(struct tb_datum *at)
{
	static const char *const words[] = {[TB_EXPECT_FITS] = "fits",
		[TB_EXPECT_SLOWER] = "slower",
		[TB_EXPECT_FASTER] = "faster",
		[TB_EXPECT_WIDE] = "unclear",
		[TB_EXPECT_UNMEASURED] = "no range",
		[TB_EXPECT_WRONG] = "wrong",
		[TB_EXPECT_UNJUDGED] = "-"};
	at->word = words[((const struct expect_row *)at->item)->verdict];
}

static const struct tb_column row_columns[] = {
	{"operation", "operation", "The operation, and of which rank, pair or rail",
		TB_DATUM_TEXT, .put = put_expect_what, .adapt = adapt_expect_column,
		.which = HIDE_OPERATION},
	{"file", "file", NULL, TB_DATUM_TEXT, .put = put_expect_file,
		.adapt = adapt_expect_column, .which = HIDE_FILE},
	{"line", NULL, "Of the file, from 1", TB_DATUM_COUNT, .put = put_expect_line},
	{"tool", NULL, "That wrote the table", TB_DATUM_TEXT, .put = put_expect_tool},
	{"ranks", "ranks", "That took part", TB_DATUM_COUNT, .put = put_expect_ranks,
		.adapt = adapt_expect_column, .which = HIDE_OPERATION},
	{"hosts", "hosts", "On which they are placed", TB_DATUM_COUNT,
		.put = put_expect_hosts, .flags = TB_COLUMN_NULL,
		.adapt = adapt_expect_column, .which = HIDE_OPERATION},
	{"bytes", "size", "As the tool prints it", TB_DATUM_SIZE, .put = put_expect_size},
	{"in_place", NULL, "The result took the place of the data", TB_DATUM_FLAG,
		.put = put_expect_in_place},
	{"measured_ps", "measured", "Time of one operation", TB_DATUM_TIME,
		.put = put_measured_time, .flags = TB_COLUMN_NULL,
		.adapt = adapt_expect_column, .which = HIDE_TIMES},
	{"expected_ps", "expected", "The same, replayed", TB_DATUM_TIME,
		.put = put_expected_time, .flags = TB_COLUMN_NULL,
		.adapt = adapt_expect_column, .which = HIDE_TIMES},
	{"measured_bytes_per_s", "algbw", "Algorithm bandwidth, or the rate of messages",
		TB_DATUM_RATIO, .put = put_measured_rate, .flags = TB_COLUMN_NULL,
		.adapt = adapt_expect_column, .which = HIDE_RATES},
	{"expected_bytes_per_s", "expected", "The same, replayed", TB_DATUM_RATIO,
		.put = put_expected_rate, .flags = TB_COLUMN_NULL,
		.adapt = adapt_expect_column, .which = HIDE_RATES},
	{"measured_bus_bytes_per_s", "busbw",
		"Bus bandwidth, as nccl-tests define it (doc/PERFORMANCE.md)",
		TB_DATUM_RATIO, .put = put_measured_bus, .flags = TB_COLUMN_NULL,
		.adapt = adapt_expect_column, .which = HIDE_BUS},
	{"expected_bus_bytes_per_s", "expected", "The same, replayed", TB_DATUM_RATIO,
		.put = put_expected_bus, .flags = TB_COLUMN_NULL,
		.adapt = adapt_expect_column, .which = HIDE_BUS},
	{NULL, "on clusters",
		"The expected bus bandwidth, or time, times and by that at which 90 % of "
		"such rows lie on measured clusters",
		TB_DATUM_TEXT, .put = put_on_clusters, .adapt = adapt_expect_column,
		.which = HIDE_PLANNED},
	{"ratio", "ratio", "Measured speed over expected speed", TB_DATUM_RATIO,
		.put = put_expect_ratio, .flags = TB_COLUMN_NULL,
		.adapt = adapt_expect_column, .which = HIDE_MEASURED},
	{NULL, "range",
		"Of the ratio, within which the model was right for the row's class on "
		"measured clusters",
		TB_DATUM_TEXT, .put = put_expect_range, .adapt = adapt_expect_column,
		.which = HIDE_RANGE},
	{NULL, "verdict", "By the range of its class", TB_DATUM_TEXT,
		.put = put_short_verdict, .adapt = adapt_expect_column,
		.which = HIDE_MEASURED},
	{"range_low", NULL,
		"Of the ratio, within which rows of its class were on measured clusters; "
		"null: none was measured",
		TB_DATUM_RATIO, .put = put_expect_low, .flags = TB_COLUMN_NULL},
	{"range_high", NULL, NULL, TB_DATUM_RATIO, .put = put_expect_high,
		.flags = TB_COLUMN_NULL},
	{"range_rows", NULL, "Behind that range", TB_DATUM_COUNT, .put = put_class_rows,
		.flags = TB_COLUMN_NULL},
	{"range_clusters", NULL, "That they are of", TB_DATUM_COUNT,
		.put = put_class_clusters, .flags = TB_COLUMN_NULL},
	{"verdict", NULL, "By the range of its class", TB_DATUM_TEXT,
		.put = put_expect_verdict, .word = expect_verdict_word},
	{NULL, "algorithm", "Of a collective call, and the protocol", TB_DATUM_TEXT,
		.put = put_short_algorithm, .adapt = adapt_expect_column,
		.which = HIDE_ALGORITHM},
	{"algorithm", NULL, "Of a collective call; null: there is none", TB_DATUM_TEXT,
		.put = put_expect_algorithm, .flags = TB_COLUMN_NULL},
	{"protocol", NULL, "Of NCCL; null: there is none", TB_DATUM_TEXT,
		.put = put_expect_protocol, .flags = TB_COLUMN_NULL},
	{"way", NULL,
		"How the expected time was found: by packets, as a fluid, on a line "
		"between or beyond sizes that were replayed, or through calls of fewer "
		"hosts",
		TB_DATUM_TEXT, .put = put_expect_way, .word = expect_way_word},
	{"wrong", NULL, "Values that the tool found wrong", TB_DATUM_COUNT,
		.put = put_expect_wrong},
};

static void list_expect_rows(struct tb_table *table)
{
	const struct tb_expect *expect = table->of;
	table->n_rows = table->n_shown = expect->n_rows;
}

static const struct tb_table_type rows_type = {"rows", "Measured and expected",
	"The rows of the tables, in their order.", TB_COLUMNS(row_columns),
	TB_ROWS(struct tb_expect, rows), .list = list_expect_rows};

static void list_shown_rows(struct tb_table *table)
{
	const struct tb_expect *expect = table->of;
	const struct expect_row *first = expect->shown[0];
	table->n_rows = table->n_shown = expect->n_shown;
	char file[96];
	bool names = expect->options->n_files > 1;
	if (expect->hidden & HIDE_OPERATION && expect->n_shown)
		snprintf(table->heading, sizeof table->heading,
			"%s%s%s, %" PRIu32 " ranks on %" PRIu32 " host%s",
			names ? tb_visible(first->setup->table->file, file, sizeof file)
			      : "",
			names ? ": " : "", first->what, first->call->n_ranks,
			first->call->n_hosts, first->call->n_hosts == 1 ? "" : "s");
}

static const void *shown_row(const void *of, size_t row)
{
	return ((const struct tb_expect *)of)->shown[row];
}

// What people see: what is in place stands beside what is not.
static const struct tb_table_type shown_type = {"shown", "Measured and expected", NULL,
	TB_COLUMNS(row_columns), .item = shown_row, .list = list_shown_rows};

static void put_reason_what(struct tb_datum *at)
{
	at->word = ((const struct expect_reason *)at->item)->what;
}
static void put_reason_text(struct tb_datum *at)
{
	at->word = ((const struct expect_reason *)at->item)->text;
}
static void put_reason_ratio(struct tb_datum *at)
{
	at->real = ((const struct expect_reason *)at->item)->ratio;
	at->unknown = isnan(at->real);
}

static const char *reason_kind(size_t i)
{
	static const char *const kinds[] = {"bound", "explains", "tried", "behind"};
	return i < sizeof kinds / sizeof *kinds ? kinds[i] : NULL;
}

static const struct tb_column reason_columns[] = {
	{"kind", NULL,
		"bound: what limits what is expected; explains: a change with which "
		"about as much is expected as was measured; tried: changes that do not; "
		"behind: a host, rank, rail or file whose rows are slower than those of "
		"others",
		TB_DATUM_TEXT, TB_MEMBER(struct expect_reason, kind),
		.word = reason_kind},
	{"of", "of", "Which row, or which host, rank, rail or file", TB_DATUM_TEXT,
		.put = put_reason_what},
	{"text", "why", "A sentence", TB_DATUM_TEXT, .put = put_reason_text},
	{"ratio", NULL,
		"Measured speed over that with the change, or over that of others",
		TB_DATUM_RATIO, .put = put_reason_ratio, .flags = TB_COLUMN_NULL},
};

static void list_reasons(struct tb_table *table)
{
	const struct tb_expect *expect = table->of;
	table->n_rows = table->n_shown = expect->n_reasons;
}

static const struct tb_table_type reasons_type = {"reasons", "Why",
	"What limits, what would explain, and who falls behind.",
	TB_COLUMNS(reason_columns), TB_ROWS(struct tb_expect, reasons),
	.list = list_reasons};

static struct tb_table expect_table(
	const struct tb_expect *expect, const struct tb_table_type *type)
{
	struct tb_table table = {.type = type, .of = expect};
	type->list(&table);
	return table;
}

// expect_summary writes how many rows have which verdict.
static char *expect_summary(const struct tb_expect *expect, char *text, size_t size)
{
	// What calls for a look comes first.
	static const enum tb_expect_verdict order[] = {TB_EXPECT_SLOWER, TB_EXPECT_FASTER,
		TB_EXPECT_WRONG, TB_EXPECT_FITS, TB_EXPECT_WIDE, TB_EXPECT_UNMEASURED,
		TB_EXPECT_UNJUDGED};
	size_t used = 0, n_in_place = 0;
	char in_place[48] = "";
	if (expect->is_planned) {
		bool ranges = !(expect->hidden & HIDE_PLANNED);
		snprintf(text, size, "This is expected; nothing was measured. %s",
			ranges ? "Beside it stands between which times 90 % of such rows "
				 "lie on measured clusters."
			       : "No such row was measured on a cluster.");
		return text;
	}
	text[0] = '\0';
	for (size_t i = 0; i < expect->n_rows; i++)
		n_in_place += expect->rows[i].row->in_place;
	if (n_in_place)
		snprintf(in_place, sizeof in_place, " (%zu in place)", n_in_place);
	for (size_t v = 0; v < sizeof order / sizeof *order; v++) {
		size_t n = 0;
		double least = INFINITY, most = 0;
		for (size_t i = 0; i < expect->n_rows; i++) {
			const struct expect_row *row = &expect->rows[i];
			if (row->verdict != order[v])
				continue;
			n++;
			least = fmin(least, row->ratio);
			most = fmax(most, row->ratio);
		}
		if (n == 0 || used >= size)
			continue;
		used += used ? (size_t)snprintf(text + used, size - used, ", %zu ", n)
			     : (size_t)snprintf(text, size, "%zu of %zu row%s%s %s ", n,
				       expect->n_rows, expect->n_rows == 1 ? "" : "s",
				       in_place, n == 1 ? "is" : "are");
		if (used < size)
			used += (size_t)snprintf(text + used, size - used, "%s",
				order[v] == TB_EXPECT_WRONG
					? "wrong by the benchmark's own check"
					: expect_verdict_word(order[v]));
		char range[48];
		snprintf(range, sizeof range,
			most - least < .005 ? "%.2f" : "%.2f to %.2f", least, most);
		if (used < size && most > 0)
			used += (size_t)snprintf(text + used, size - used,
				order[v] == TB_EXPECT_FITS
					? " (at %s, as on measured clusters)"
					: " (at %s of the expected speed)",
				range);
	}
	return text;
}

// expect_heading writes what a table is: "all.log: nccl-tests all_reduce_perf 2.29.2, on
// ib-ndr,rails=8,host=nccl".
static char *expect_heading(
	const struct tb_expect *expect, size_t i, char *text, size_t size)
{
	const struct tb_benchmark_table *table = expect->setups[i].table;
	const char *network = expect->networks[expect->setups[i].network].name;
	char file[256];
	if (expect->is_planned)
		snprintf(text, size, "As %s of %s has it, on %s", table->name,
			table->tool, network);
	else
		snprintf(text, size, "%s, line %zu: %s %s%s%s, on %s",
			tb_visible(table->file, file, sizeof file), table->line,
			table->tool, table->name, *table->version ? " " : "",
			table->version, network);
	return text;
}

static size_t expect_n_tables(const struct tb_expect *expect)
{
	return tb_benchmark_n_tables(expect->benchmark);
}

// write_shown writes a table of each operation, or one table where most have few rows.
static int write_shown(const struct tb_expect *expect, enum tb_format format,
	unsigned width, FILE *stream)
{
	const struct expect_row *const *rows = expect->shown;
	size_t n_parts = 1;
	for (size_t i = 1; i < expect->n_shown; i++)
		n_parts += !expect_is_of_part(rows[i - 1], rows[i]);
	bool parts = 4 * n_parts <= expect->n_shown;
	int status = TB_OK;
	for (size_t i = 0, end; i < expect->n_shown && status == TB_OK; i = end) {
		struct tb_expect part = *expect;
		for (end = i + 1; end < expect->n_shown &&
				  (!parts || expect_is_of_part(rows[i], rows[end]));)
			end++;
		part.shown += i;
		part.n_shown = end - i;
		part.hidden |= parts ? HIDE_OPERATION | HIDE_FILE : 0u;
		const struct tb_table table = expect_table(&part, &shown_type);
		if (format == TB_FORMAT_HTML)
			status = tb_table_html(&table, stream);
		else if (format == TB_FORMAT_MARKDOWN)
			tb_table_markdown(&table, stream);
		else
			status = tb_table_text(&table, width, stream);
	}
	return status;
}

static int expect_text(const struct tb_expect *expect, unsigned width, FILE *stream)
{
	char text[1024];
	tb_wrap(stream, 0, 0, width, expect_summary(expect, text, sizeof text));
	for (size_t i = 0; i < expect_n_tables(expect); i++)
		tb_wrap(stream, 0, 2, width,
			expect_heading(expect, i, text, sizeof text));
	int status = write_shown(expect, TB_FORMAT_TEXT, width, stream);
	if (expect->n_reasons)
		fputs("\nWhy\n", stream);
	for (size_t i = 0; i < expect->n_reasons; i++) {
		const struct expect_reason *first = &expect->reasons[i];
		bool behind = strcmp(first->kind, "behind") == 0, seen = false;
		for (size_t k = 0; k < i && !seen; k++)
			seen = strcmp(expect->reasons[k].what, first->what) == 0;
		if (seen)
			continue;
		if (!behind) {
			fputs("  ", stream);
			tb_wrap(stream, 2, 4, width, first->what);
		}
		for (size_t k = i; k < expect->n_reasons; k++) {
			const struct expect_reason *reason = &expect->reasons[k];
			if (strcmp(reason->what, first->what) != 0)
				continue;
			fputs(behind ? "  " : "    ", stream);
			tb_wrap(stream, behind ? 2 : 4, 6, width, reason->text);
		}
	}
	if (expect->n_notes)
		fputc('\n', stream);
	for (size_t i = 0; i < expect->n_notes; i++)
		tb_wrap(stream, 0, 2, width, expect->notes[i]);
	return status;
}

static void expect_markdown(const struct tb_expect *expect, FILE *stream)
{
	char text[1024];
	fputs("# Measured and expected\n\n", stream);
	for (size_t i = 0; i < expect_n_tables(expect); i++) {
		fputs("- ", stream);
		tb_markdown_put(stream, expect_heading(expect, i, text, sizeof text));
		fputc('\n', stream);
	}
	fprintf(stream, "\n%s\n", expect_summary(expect, text, sizeof text));
	const struct tb_table reasons = expect_table(expect, &reasons_type);
	(void)write_shown(expect, TB_FORMAT_MARKDOWN, 0, stream); // fails as text alone
	if (reasons.n_shown)
		tb_table_markdown(&reasons, stream);
	for (size_t i = 0; i < expect->n_notes; i++) {
		fputs(i ? "- " : "\n- ", stream);
		tb_markdown_put(stream, expect->notes[i]);
		fputc('\n', stream);
	}
}

static int expect_html(const struct tb_expect *expect,
	const struct tb_expect_figure *figure, FILE *stream)
{
	char text[1024];
	int status = TB_OK;
	tb_page_begin("Measured and expected", "", stream);
	fputs("<header>\n<h1>Measured and expected</h1>\n<ul>\n", stream);
	for (size_t i = 0; i < expect_n_tables(expect); i++) {
		fputs("<li>", stream);
		tb_markup_put(stream, expect_heading(expect, i, text, sizeof text));
		fputs("</li>\n", stream);
	}
	fputs("</ul>\n<p>", stream);
	tb_markup_put(stream, expect_summary(expect, text, sizeof text));
	fputs("</p>\n</header>\n<main>\n", stream);
	if (figure) {
		fputs("<section class=\"card\">\n<div class=\"scroll light\">\n", stream);
		status = figure->write(figure->context, stream);
		fputs("</div>\n</section>\n", stream);
	}
	const struct tb_table reasons = expect_table(expect, &reasons_type);
	if (write_shown(expect, TB_FORMAT_HTML, 0, stream) != TB_OK ||
		tb_table_html(&reasons, stream) != TB_OK)
		status = TB_ENOMEM;
	for (size_t i = 0; i < expect->n_notes; i++) {
		fputs("<p>", stream);
		tb_markup_put(stream, expect->notes[i]);
		fputs("</p>\n", stream);
	}
	tb_page_end("", stream);
	return status;
}

static int expect_json(const struct tb_expect *expect, FILE *stream)
{
	struct tb_json_object root = tb_json_object_new();
	const struct tb_table rows = expect_table(expect, &rows_type),
			      reasons = expect_table(expect, &reasons_type);
	json_t *notes = json_array(), *tables = json_array();
	char text[1024];
	tb_json_add_text(&root, "summary", expect_summary(expect, text, sizeof text));
	for (size_t i = 0; i < expect_n_tables(expect); i++)
		tables = tb_json_append(tables,
			tb_json_text(expect_heading(expect, i, text, sizeof text)));
	for (size_t i = 0; i < expect->n_notes; i++)
		notes = tb_json_append(notes, tb_json_text(expect->notes[i]));
	tb_json_add(&root, "tables", tables);
	tb_json_add(&root, "rows", tb_table_json(&rows));
	tb_json_add(&root, "reasons", tb_table_json(&reasons));
	tb_json_add(&root, "notes", notes);
	return tb_json_write(tb_json_object_take(&root), 6, stream);
}

int tb_expect_write(const struct tb_expect *expect, enum tb_format format, unsigned width,
	const struct tb_expect_figure *figure, FILE *stream, struct tb_error *error)
{
	const struct tb_table rows = expect_table(expect, &rows_type);
	int status = TB_OK;
	if (format == TB_FORMAT_CSV)
		tb_table_csv(&rows, stream);
	else if (format == TB_FORMAT_JSON)
		status = expect_json(expect, stream);
	else if (format == TB_FORMAT_MARKDOWN)
		expect_markdown(expect, stream);
	else if (format == TB_FORMAT_HTML)
		status = expect_html(expect, figure, stream);
	else
		status = expect_text(expect, width, stream);
	return status == TB_OK ? TB_OK : tb_fail_memory(error, "what was expected");
}

static json_t *texts_schema(const char *description)
{
	return json_pack("{s:s, s:s, s:{s:s}}", "description", description, "type",
		"array", "items", "type", "string");
}

int tb_expect_write_schema(FILE *stream, struct tb_error *error)
{
	struct tb_json_object root = tb_json_object_new();
	tb_json_add(&root, "summary",
		json_pack("{s:s, s:s}", "description",
			"How many rows have which verdict.", "type", "string"));
	tb_json_add(&root, "tables",
		texts_schema("The tables: file, tool and network of each."));
	tb_json_add(&root, "rows", tb_table_schema(&rows_type));
	tb_json_add(&root, "reasons", tb_table_schema(&reasons_type));
	tb_json_add(&root, "notes",
		texts_schema("What was assumed or left out, and how much was replayed."));
	json_t *schema = tb_schema_root("urn:tailback:expect:1", "Measured and expected",
		"What 'tailback expect -f json' writes. Times are picoseconds (_ps), "
		"rates "
		"bytes per second (_bytes_per_s).",
		tb_json_object_take(&root));
	return tb_json_write(schema, 6, stream) == TB_OK
		       ? TB_OK
		       : tb_fail_memory(error, "the schema");
}

// Curves: two for each series, measured and expected. A size that was measured twice, in
// and out of place, is a point of each.

// What a curve is through. Of what is planned the least and the most are where rows of
// its class lie on measured clusters.
enum curve_of { CURVE_MEASURED, CURVE_EXPECTED, CURVE_LEAST, CURVE_MOST };

// curve_figure returns what a row's point is: bus bandwidth in GB/s, else a rate, else,
// of tables of times alone, microseconds.
static double curve_figure(const struct expect_row *row, bool rates, enum curve_of of)
{
	bool measured = of == CURVE_MEASURED;
	double bus = measured ? row->measured_bus : row->expected_bus;
	double rate = measured ? row->measured_rate : row->expected_rate;
	double us = measured ? row->measured_us : row->expected_us;
	double share = of == CURVE_LEAST ? row->low : of == CURVE_MOST ? row->high : 1;
	return rates ? (isnan(bus) ? rate : bus) / 1e9 * share : us / share;
}

static int add_curve(const struct tb_expect *expect, const struct expect_series *series,
	bool rates, enum curve_of of, struct tb_curves *curves)
{
	static const char *const words[] = {[CURVE_MEASURED] = "measured",
		[CURVE_EXPECTED] = "expected",
		[CURVE_LEAST] = "slowest twentieth of clusters",
		[CURVE_MOST] = "fastest twentieth"};
	struct tb_curve *curve = &curves->curves[curves->n_curves];
	const struct expect_call *first = &expect->calls[series->first];
	char label[192];
	bool names = expect->options->n_files > 1;
	*curve = (struct tb_curve){.points = calloc(series->n, sizeof *curve->points)};
	if (!curve->points)
		return TB_ENOMEM;
	curves->n_curves++;
	label[0] = '\0';
	for (size_t k = 0; k < series->n; k++) {
		double sum = 0;
		size_t n = 0, size = 0;
		for (size_t i = 0; i < expect->n_rows; i++) {
			const struct expect_row *row = &expect->rows[i];
			double figure = curve_figure(row, rates, of);
			if (row->call != &first[k] || !(figure > 0) ||
				!isfinite(figure) || row->row->printed_bytes == 0)
				continue;
			sum += figure;
			n++;
			size = row->row->printed_bytes;
			const char *file = row->setup->table->file,
				   *slash = strrchr(file, '/');
			file = slash && slash[1] ? slash + 1 : file;
			snprintf(label, sizeof label, "%.96s%s%s, %s, %" PRIu32 " ranks",
				names ? file : "", names ? ": " : "", words[of],
				row->what, row->call->n_ranks);
		}
		if (!n)
			continue;
		struct tb_curve_point *point = &curve->points[curve->n_points++];
		*point = (struct tb_curve_point){
			.x = (double)size, .y = {sum / (double)n, INFINITY}, .n = 1};
		curves->x.least = fmin(curves->x.least, point->x);
		curves->x.most = fmax(curves->x.most, point->x);
		curves->y.least = fmin(curves->y.least, point->y.mean);
		curves->y.most = fmax(curves->y.most, point->y.mean);
	}
	curve->label = strdup(label);
	if (!curve->label)
		return TB_ENOMEM;
	if (curve->n_points == 0) {
		free(curve->label);
		free(curve->points);
		curves->n_curves--;
	}
	return TB_OK;
}

int tb_expect_curves(
	const struct tb_expect *expect, struct tb_curves *curves, struct tb_error *error)
{
	char text[512];
	bool rates = false;
	for (size_t i = 0; i < expect->n_rows; i++)
		rates |= expect->rows[i].row->kind != TB_BENCH_LATENCY &&
			 !isnan(expect->is_planned ? expect->rows[i].expected_bus
						   : expect->rows[i].row->algorithm_rate);
	*curves = (struct tb_curves){.x = {.name = "size",
					     .title = "Size",
					     .sizes = true,
					     .scale = TB_CURVE_DOUBLING,
					     .least = INFINITY},
		.y = {.scale = TB_CURVE_DOUBLING, .least = INFINITY}};
	snprintf(curves->y.name, sizeof curves->y.name, rates ? "bandwidth" : "time");
	snprintf(curves->y.title, sizeof curves->y.title,
		rates ? "Bus bandwidth, or rate" : "Time of an operation");
	snprintf(curves->y.unit, sizeof curves->y.unit, rates ? "GB/s" : "us");
	snprintf(text, sizeof text, "%s on %s",
		expect->is_planned ? "Expected" : "Measured and expected",
		expect->n_networks ? expect->options->network : "");
	curves->title = strdup(text);
	curves->curves = calloc(4 * expect->n_series + 1, sizeof *curves->curves);
	int status = curves->title && curves->curves ? TB_OK : TB_ENOMEM;
	for (size_t i = 0; i < expect->n_series && status == TB_OK; i++)
		for (enum curve_of of = expect->is_planned ? CURVE_EXPECTED
							   : CURVE_MEASURED;
			of <= (expect->is_planned ? CURVE_MOST : CURVE_EXPECTED) &&
			status == TB_OK;
			of++)
			status = add_curve(expect, &expect->series[i], rates, of, curves);
	// No point lies on the frame, whose upper edge has a number.
	curves->x.least /= 1.25;
	curves->x.most *= 1.25;
	curves->y.least = exp2(floor(log2(curves->y.least / 1.05)));
	curves->y.most = exp2(ceil(log2(curves->y.most * 1.05)));
	if (status == TB_OK && curves->n_curves == 0)
		status = tb_fail(error, TB_EUSAGE,
			"no row has a size and a figure: there is nothing to draw");
	else if (status != TB_OK)
		status = tb_fail_memory(error, "curves");
	if (status != TB_OK)
		tb_curves_fini(curves);
	return status;
}

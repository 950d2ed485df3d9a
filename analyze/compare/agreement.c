#include "agreement.h"
#include "compare_impl.h"
#include "json.h"
#include "movers.h"
#include "order.h"
#include "rank_correlation.h"
#include "table.h"
#include "visible.h"
#include "wrap.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

int tb_order_values(const void *one, const void *other)
{
	const struct tb_value_at *a = one, *b = other;
	int order = TB_ORDER(b->value, a->value);
	return order ? order : TB_ORDER(a->at, b->at);
}

int tb_value_ranks(const double *values, size_t n, double *ranks)
{
	struct tb_value_at *order = malloc((n + 1) * sizeof *order);
	if (!order)
		return TB_ENOMEM;
	for (size_t i = 0; i < n; i++)
		order[i] = (struct tb_value_at){values[i], i};
	qsort(order, n, sizeof *order, tb_order_values);
	for (size_t begin = 0, end; begin < n; begin = end) {
		for (end = begin + 1; end < n; end++)
			if (order[end].value < order[begin].value)
				break;
		for (size_t i = begin; i < end; i++)
			ranks[order[i].at] = (double)(begin + end + 1) / 2;
	}
	free(order);
	return TB_OK;
}

double tb_rank_correlation(const double *a, const double *b, size_t n)
{
	double mean = ((double)n + 1) / 2, both = 0, of_a = 0, of_b = 0;
	for (size_t i = 0; i < n; i++) {
		both += (a[i] - mean) * (b[i] - mean);
		of_a += (a[i] - mean) * (a[i] - mean);
		of_b += (b[i] - mean) * (b[i] - mean);
	}
	return of_a > 0 && of_b > 0 ? both / sqrt(of_a * of_b) : (double)NAN;
}

void tb_agreement_fini(struct tb_agreement *agreement)
{
	free(agreement->rows);
	*agreement = (struct tb_agreement){0};
}

static double agreement_percent(double part, double whole)
{
	return whole > 0 ? 100 * part / whole : 0;
}

// The links of both runs, of which the first was measured.
struct counted_pair {
	struct tb_link_pairs pairs;
	const struct tb_run_link *links;
};

static bool is_pair_left_out(
	const struct counted_pair *pairing, const struct tb_link_pair *pair)
{
	return pair->a.id != TB_ID_NONE &&
	       tb_run_unmeasured_all(pairing->links[pair->a.id].known);
}

// has_figure is whether the counters of a link that the measured run has tell a figure.
static bool has_figure(const struct counted_pair *pairing,
	const struct tb_link_pair *pair, enum tb_metric metric)
{
	return pair->a.id == TB_ID_NONE ||
	       tb_known_of(pairing->links[pair->a.id].known, metric) <= TB_AT_LEAST;
}

static bool is_of_both(const struct tb_link_pair *pair)
{
	return pair->a.id != TB_ID_NONE && pair->b.id != TB_ID_NONE;
}

static bool has(const struct tb_agreement_row *row, bool of_bytes)
{
	return of_bytes ? row->has_bytes : row->has_stall;
}

// rank_figure ranks one figure of both runs and returns its rank correlation in `rho`.
static int rank_figure(
	struct tb_agreement *agreement, bool of_bytes, uint32_t *n_ranked, double *rho)
{
	size_t n = 0;
	for (size_t i = 0; i < agreement->n; i++)
		n += has(&agreement->rows[i], of_bytes);
	*n_ranked = (uint32_t)n;
	double *values = calloc(3 * n + 1, sizeof *values);
	int status = values ? TB_OK : TB_ENOMEM;
	for (int side = 0; !status && side < 2; side++) {
		double *ranks = values + n + (size_t)side * n;
		size_t at = 0;
		for (size_t i = 0; i < agreement->n; i++)
			if (has(&agreement->rows[i], of_bytes))
				values[at++] = of_bytes ? agreement->rows[i].bytes[side]
							: agreement->rows[i].stall[side];
		status = tb_value_ranks(values, n, ranks);
		at = 0;
		for (size_t i = 0; !status && i < agreement->n; i++) {
			struct tb_agreement_row *row = &agreement->rows[i];
			if (has(row, of_bytes))
				*(of_bytes ? &row->bytes_rank[side]
					   : &row->stall_rank[side]) = ranks[at++];
		}
	}
	if (!status)
		*rho = tb_rank_correlation(values + n, values + 2 * n, n);
	free(values);
	return status;
}

static int by_difference(const void *one, const void *other)
{
	const struct tb_agreement_row *a = one, *b = other;
	double more = fabs(a->differs) - fabs(b->differs);
	if (more > 0 || more < 0)
		return more > 0 ? -1 : 1;
	return (a->link.id > b->link.id) - (a->link.id < b->link.id);
}

static int pair_links(struct tb_agreement *agreement, struct counted_pair *pairing,
	struct tb_error *error)
{
	struct tb_link_pairs *pairs = &pairing->pairs;
	int status = tb_link_pairs_init(
		pairs, agreement->sides[0].of.run, agreement->sides[1].of.run, error);
	pairing->links = tb_run_links(agreement->sides[0].of.run);
	for (uint32_t i = 0; !status && i < pairs->n; i++)
		agreement->n_unmeasured += is_of_both(&pairs->pairs[i]) &&
					   is_pair_left_out(pairing, &pairs->pairs[i]);
	agreement->n = pairs->n_both - agreement->n_unmeasured;
	agreement->sides[0].n_only = pairs->n_only_a;
	agreement->sides[1].n_only = pairs->n_only_b;
	if (!status && pairs->n_both == 0)
		return tb_fail(error, TB_EUSAGE,
			"the two runs have no link in common: they are of other fabrics");
	if (!status && agreement->n == 0)
		return tb_fail(error, TB_EUSAGE,
			"no link that the two runs have in common was measured");
	return status;
}

static int check_counted_run(const struct tb_agreement *agreement, struct tb_error *error)
{
	for (int side = 0; side < 2; side++) {
		const struct tb_run_info *info =
			tb_run_info(agreement->sides[side].of.run);
		if (tb_run_is_measured(info) != (side == 0))
			return tb_fail_in(error, TB_EUSAGE,
				agreement->sides[side].of.store,
				"run %lld was %s: a run of counters is put beside a "
				"replay",
				(long long)info->id,
				side ? "measured" : "simulated, not measured");
	}
	return TB_OK;
}

int tb_agreement_init(struct tb_agreement *agreement, struct tb_run *measured,
	struct tb_run *simulated, const char *const names[2], struct tb_error *error)
{
	struct tb_agreement made = {
		.sides = {{.of = {measured, names[0]}}, {.of = {simulated, names[1]}}}};
	int status = check_counted_run(&made, error);
	if (!status) {
		struct counted_pair pairing = {0};
		status = pair_links(&made, &pairing, error);
		made.rows = calloc(made.n + 1u, sizeof *made.rows);
		if (!status && !made.rows)
			status = tb_fail_memory(error, "a comparison");
		for (int side = 0; !status && side < 2; side++) {
			// Set the figures of one run.
			const struct tb_link_sample *samples;
			double all = 0, stall = 0,
			       time = (double)tb_run_info(made.sides[side].of.run)
					      ->simulated_ps;
			uint32_t n = 0;
			status = tb_run_look(made.sides[side].of.run,
				(struct tb_window){0, 0}, &samples, error);
			for (uint32_t i = 0; !status && i < pairing.pairs.n; i++) {
				const struct tb_link_pair *pair = &pairing.pairs.pairs[i];
				uint32_t link = side ? pair->b.id : pair->a.id;
				if (link == TB_ID_NONE ||
					is_pair_left_out(&pairing, pair))
					continue;
				if (has_figure(&pairing, pair, TB_BYTES))
					all += (double)samples[link].bytes;
				if (has_figure(&pairing, pair, TB_STALL))
					stall += (double)samples[link].stall_ps;
			}
			for (uint32_t i = 0; !status && i < pairing.pairs.n; i++) {
				const struct tb_link_pair *pair = &pairing.pairs.pairs[i];
				struct tb_agreement_row *row = &made.rows[n];
				uint32_t link = side ? pair->b.id : pair->a.id;
				if (!is_of_both(pair) || is_pair_left_out(&pairing, pair))
					continue;
				n++;
				row->link = pair->a;
				row->has_stall = has_figure(&pairing, pair, TB_STALL);
				row->has_bytes = has_figure(&pairing, pair, TB_BYTES);
				row->stall[side] = agreement_percent(
					(double)samples[link].stall_ps, stall);
				row->held[side] = agreement_percent(
					(double)samples[link].stall_ps, time);
				row->bytes[side] = agreement_percent(
					(double)samples[link].bytes, all);
			}
		}
		tb_link_pairs_fini(&pairing.pairs);
	}
	if (!status && (rank_figure(&made, false, &made.n_stall, &made.stall) ||
			       rank_figure(&made, true, &made.n_bytes, &made.bytes)))
		status = tb_fail_memory(error, "a comparison");
	if (status) {
		tb_agreement_fini(&made);
		return status;
	}
	for (uint32_t i = 0; i < made.n; i++)
		if (made.rows[i].has_stall)
			made.rows[i].differs =
				made.rows[i].stall[1] - made.rows[i].stall[0];
	qsort(made.rows, made.n, sizeof *made.rows, by_difference);
	*agreement = made;
	return TB_OK;
}

// Measured beside simulated, as text, CSV, JSON and Markdown.

enum { STALL, STALL_RANK, BYTES, BYTES_RANK, HELD };

static void put_counted_link_name(struct tb_datum *at)
{
	const struct tb_agreement *agreement = at->of;
	const struct tb_agreement_row *row = at->item;
	at->word = tb_run_links(agreement->sides[0].of.run)[row->link.id].name;
}

static void put_counted_difference(struct tb_datum *at)
{
	const struct tb_agreement_row *row = at->item;
	at->real = row->differs;
	tb_put_text(at, fabs(row->differs) < 0.05 ? "=" : "%+.1f %%", row->differs);
}

// put_counted_rank: equal links share a rank, which may be a half.
static void put_counted_rank(struct tb_datum *at)
{
	const struct tb_agreement_row *row = at->item;
	uint32_t which = at->column->which;
	const double *ranks = which / 2 == BYTES_RANK ? row->bytes_rank : row->stall_rank;
	at->real = ranks[which % 2];
	tb_put_text(at, "%g", at->real);
}

static void put_counted_percent(struct tb_datum *at)
{
	const struct tb_agreement_row *row = at->item;
	uint32_t which = at->column->which;
	at->real = (which / 2 == BYTES	? row->bytes
		    : which / 2 == HELD ? row->held
					: row->stall)[which % 2];
}

#define PERCENT(key, title, meaning, figure, side)                                       \
	{                                                                                \
		key, title, meaning, TB_DATUM_SHARE, .put = put_counted_percent,         \
						     .flags = TB_COLUMN_NULL,            \
						     .which = 2 * (figure) + (side)      \
	}
#define RANK(key, title, meaning, figure, side)                                          \
	{                                                                                \
		key, title, meaning, TB_DATUM_RATIO, .put = put_counted_rank,            \
						     .flags = TB_COLUMN_NULL,            \
						     .which = 2 * (figure) + (side)      \
	}

static const struct tb_column row_columns[] = {
	{"link", NULL, "Number of the link in the measured run", TB_DATUM_ID,
		TB_MEMBER(struct tb_agreement_row, link.id)},
	{"name", "Link", "From and to: level.index:port of a switch, or a node",
		TB_DATUM_TEXT, .put = put_counted_link_name},
	PERCENT("measured_stall_percent", "Measured",
		"Stall by the counters, of that of all links", STALL, 0),
	PERCENT("simulated_stall_percent", "Simulated",
		"Stall of the replay, of that of all links", STALL, 1),
	{"stall_difference", "Differs", "Simulated less measured, points of percent",
		TB_DATUM_PERCENT, .put = put_counted_difference,
		.flags = TB_COLUMN_SIGNED | TB_COLUMN_NULL},
	PERCENT("measured_held_percent", "Of time",
		"Stall by the counters, of the time between the dumps", HELD, 0),
	PERCENT("simulated_held_percent", "Of run",
		"Stall of the replay, of the time that it simulates", HELD, 1),
	RANK("measured_stall_rank", "Rank measured", "1: the longest stall", STALL_RANK,
		0),
	RANK("simulated_stall_rank", "Rank simulated", "1: the longest stall", STALL_RANK,
		1),
	PERCENT("measured_bytes_percent", "Bytes measured",
		"Bytes by the counters, of those of all links", BYTES, 0),
	PERCENT("simulated_bytes_percent", "Bytes simulated",
		"Bytes of the replay, of those of all links", BYTES, 1),
	RANK("measured_bytes_rank", NULL, "1: most bytes", BYTES_RANK, 0),
	RANK("simulated_bytes_rank", NULL, "1: most bytes", BYTES_RANK, 1),
};

static enum tb_known known_of_row(const struct tb_datum *at)
{
	const struct tb_agreement_row *row = at->item;
	const char *key = at->column->key;
	bool lacks = (strstr(key, "bytes") && !row->has_bytes) ||
		     ((strstr(key, "stall") || strstr(key, "held")) && !row->has_stall);
	return lacks ? TB_NOT_MEASURED : TB_EXACT;
}

static const struct tb_table_type links = {"links", "Links that disagree most",
	"Each link of both runs, those first whose stall differs most.",
	TB_COLUMNS(row_columns), TB_ROWS(struct tb_agreement, rows),
	.known = known_of_row};

static void put_rho(double rho, char *text, size_t size)
{
	if (isfinite(rho))
		snprintf(text, size, "%.3f", rho);
	else
		snprintf(text, size, "none, all are equal in a run");
}

// agreement_answer writes what it comes to.
static void agreement_answer(
	const struct tb_agreement *agreement, char *text, size_t size)
{
	char stall[40], bytes[40], only[120] = "", left_out[100] = "", of_bytes[40] = "";
	uint32_t n_unmeasured = agreement->n_unmeasured;
	put_rho(agreement->stall, stall, sizeof stall);
	put_rho(agreement->bytes, bytes, sizeof bytes);
	if (agreement->sides[0].n_only || agreement->sides[1].n_only)
		snprintf(only, sizeof only,
			" %u links are in the measured run alone, %u in the simulated.",
			(unsigned)agreement->sides[0].n_only,
			(unsigned)agreement->sides[1].n_only);
	if (n_unmeasured)
		snprintf(left_out, sizeof left_out,
			" %u of %u links %s not measured and %s left out.", n_unmeasured,
			n_unmeasured + agreement->n, n_unmeasured == 1 ? "was" : "were",
			n_unmeasured == 1 ? "is" : "are");
	if (agreement->n_bytes != agreement->n_stall)
		snprintf(of_bytes, sizeof of_bytes, " over %u", agreement->n_bytes);
	snprintf(text, size,
		"Rank correlation (Spearman) over %u links: stall %s, bytes %s%s.%s%s",
		(unsigned)agreement->n_stall, stall, bytes, of_bytes, left_out, only);
}

static void put_side_run(struct tb_datum *at)
{
	at->whole = tb_run_info(((const struct tb_agreement_side *)at->item)->of.run)->id;
}

static void put_side_input(struct tb_datum *at)
{
	const struct tb_agreement_side *side = at->item;
	at->word = tb_run_info(side->of.run)->input_name;
}

static void put_side_network(struct tb_datum *at)
{
	const struct tb_agreement_side *side = at->item;
	at->word = tb_run_info(side->of.run)->network_name;
}

static const struct tb_column side_columns[] = {
	{"store", NULL, NULL, TB_DATUM_TEXT,
		TB_MEMBER(struct tb_agreement_side, of.store)},
	{"run", NULL, NULL, TB_DATUM_ID, .put = put_side_run,
		.schema = "{\"type\": \"integer\", \"minimum\": 1}"},
	{"input", NULL, NULL, TB_DATUM_TEXT, .put = put_side_input},
	{"network", NULL, NULL, TB_DATUM_TEXT, .put = put_side_network},
	{"links_alone", NULL, "That this run alone has.", TB_DATUM_COUNT,
		TB_MEMBER(struct tb_agreement_side, n_only)},
};
static const struct tb_table_type measured_run = {
	"measured", NULL, "The run of counters.", TB_COLUMNS(side_columns)};
static const struct tb_table_type simulated_run = {
	"simulated", NULL, "The replay beside it.", TB_COLUMNS(side_columns)};

#define RHO "{\"type\": [\"number\", \"null\"], \"minimum\": -1, \"maximum\": 1}"

static const struct tb_column sum_columns[] = {
	{"stall_rank_correlation", NULL,
		"Spearman's, of the stalls; null: all are equal in a run.",
		TB_DATUM_RATIO, TB_MEMBER(struct tb_agreement, stall), .schema = RHO},
	{"bytes_rank_correlation", NULL, "Of the bytes.", TB_DATUM_RATIO,
		TB_MEMBER(struct tb_agreement, bytes), .schema = RHO},
	{"links_not_measured", NULL, "Links of both that no port counted: left out.",
		TB_DATUM_COUNT, TB_MEMBER(struct tb_agreement, n_unmeasured)},
};
static const struct tb_table_type sums = {"sums", NULL, NULL, TB_COLUMNS(sum_columns)};

int tb_agreement_write(const struct tb_agreement *agreement, enum tb_format format,
	uint32_t top, unsigned width, FILE *stream, struct tb_error *error)
{
	struct tb_table table = {.type = &links,
		.of = agreement,
		.n_rows = agreement->n,
		.n_shown = top && top < agreement->n ? top : agreement->n};
	snprintf(table.remark, sizeof table.remark,
		"%zu of %u links of both runs: stall and bytes in percent of those of "
		"all links, and stall in percent of the time.",
		table.n_shown, (unsigned)agreement->n);
	int status = TB_OK;
	char answer[400];
	agreement_answer(agreement, answer, sizeof answer);
	if (format == TB_FORMAT_JSON) {
		struct tb_json_object root = tb_json_object_new();
		tb_json_add_text(&root, "answer", answer);
		tb_json_add(&root, "measured",
			tb_table_object(&measured_run, &agreement->sides[0]));
		tb_json_add(&root, "simulated",
			tb_table_object(&simulated_run, &agreement->sides[1]));
		tb_json_add_all(&root, tb_table_object(&sums, agreement));
		tb_json_add(&root, "links", tb_table_json(&table));
		status = tb_json_write(tb_json_object_take(&root), 17, stream);
	} else if (format == TB_FORMAT_MARKDOWN) {
		fputs("# Measured beside simulated\n\n", stream);
		tb_compare_put_run(
			stream, format, "measured", &agreement->sides[0].of, 0);
		tb_compare_put_run(
			stream, format, "simulated", &agreement->sides[1].of, 0);
		fputc('\n', stream);
		tb_markdown_put(stream, answer);
		fputc('\n', stream);
		tb_table_markdown(&table, stream);
	} else if (format == TB_FORMAT_CSV) {
		tb_table_csv(&table, stream);
	} else {
		tb_compare_put_run(
			stream, format, "measured ", &agreement->sides[0].of, 0);
		tb_compare_put_run(
			stream, format, "simulated", &agreement->sides[1].of, 0);
		fputc('\n', stream);
		tb_wrap(stream, 0, 0, width, answer);
		status = tb_table_text(&table, width, stream);
	}
	return status ? tb_fail_memory(error, "a comparison") : TB_OK;
}

int tb_agreement_write_schema(FILE *stream, struct tb_error *error)
{
	struct tb_json_object root = tb_json_object_new();
	tb_json_add(&root, "answer",
		json_pack("{s:s, s:s}", "description", "What it comes to, in sentences.",
			"type", "string"));
	tb_json_add(&root, "measured", tb_table_object_schema(&measured_run));
	tb_json_add(&root, "simulated", tb_table_object_schema(&simulated_run));
	json_t *of_sums = tb_table_object_schema(&sums);
	tb_json_add_all(&root, json_incref(json_object_get(of_sums, "properties")));
	json_decref(of_sums);
	tb_json_add(&root, "links", tb_table_schema(&links));
	json_t *schema =
		tb_schema_root("urn:tailback:counters:1", "Counters beside a replay",
			"What 'tailback counters --beside -f json' writes.",
			tb_json_object_take(&root));
	return tb_json_write(schema, 6, stream) == TB_OK
		       ? TB_OK
		       : tb_fail_memory(error, "the schema");
}

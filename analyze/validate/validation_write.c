// The findings as text, CSV, JSON and Markdown.
#include "json.h"
#include "markup.h"
#include "validation.h"
#include "visible.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { ROW, PUBLISHED, SIMULATED, ERROR, ROLE, VERDICT, N_COLUMNS };

static const char *const titles[N_COLUMNS] = {
	"row", "published", "simulated", "error", "role", "verdict"};

struct cells {
	char text[N_COLUMNS][352];
};

// unit_of returns "" for a share, whose unit in the table is 1.
static const char *unit_of(const struct tb_claim *claim)
{
	return strcmp(claim->unit, "1") == 0 ? "" : claim->unit;
}

static void join_words(char *text, size_t size, const char *const words[], size_t n)
{
	size_t at = 0;
	text[0] = '\0';
	for (size_t i = 0; i < n && at < size; i++)
		if (words[i][0])
			at += (size_t)snprintf(
				text + at, size - at, "%s%s", at ? " " : "", words[i]);
}

// write_number writes four significant digits without an exponent.
static void write_number(char *text, size_t size, double value)
{
	double magnitude = fabs(value);
	int places = magnitude >= 100 ? 1 : magnitude >= 10 ? 2 : 3;
	snprintf(text, size, "%.*f", places, value);
}

static void write_simulated(char *text, size_t size, const struct tb_estimate *estimate)
{
	char mean[32], half[32];
	if (!isfinite(estimate->mean)) {
		snprintf(text, size, "none");
		return;
	}
	write_number(mean, sizeof mean, estimate->mean);
	write_number(half, sizeof half, estimate->half_ci);
	snprintf(text, size, isfinite(estimate->half_ci) ? "%s ± %s" : "%s", mean, half);
}

// write_row_verdict writes the verdict, and the other one that is in the interval.
static void write_row_verdict(
	char *text, size_t size, const struct tb_validated_row *finding)
{
	const char *verdict = tb_verdict_name(finding->verdict);
	if (*finding->outside)
		snprintf(text, size, "outside the model: %s", finding->outside);
	else if (*finding->failure)
		snprintf(text, size, "%s: %s", verdict, finding->failure);
	else if (finding->doubt == finding->verdict)
		snprintf(text, size, "%s", verdict);
	else
		snprintf(text, size, "%s, or %s", verdict,
			tb_verdict_name(finding->doubt));
}

static void fill_cells(struct cells *cells, const struct tb_validated_row *finding)
{
	const struct tb_claim *claim = finding->claim;
	enum { SIZE = sizeof cells->text[0] };
	*cells = (struct cells){0};
	snprintf(cells->text[ROW], SIZE, "%s", claim->id);
	// Write what the paper says, and the bound by which we read its word.
	char *text = cells->text[PUBLISHED];
	size_t size = SIZE;
	char bound[64] = "";
	if (claim->relation == TB_RELATION_WITHIN)
		snprintf(bound, sizeof bound, "(x %s)", claim->bound_text);
	else if (*claim->bound_text)
		snprintf(bound, sizeof bound, "(%s %s)", claim->bound_text,
			unit_of(claim));
	const char *const words[] = {claim->relation_text, claim->value_text,
		*claim->value_text || claim->relation == TB_RELATION_RANGE
			? unit_of(claim)
			: "",
		bound};
	join_words(text, size, words, sizeof words / sizeof *words);
	write_row_verdict(cells->text[VERDICT], SIZE, finding);
	if (*finding->outside)
		return;
	write_simulated(cells->text[SIMULATED], SIZE, &finding->simulated);
	snprintf(cells->text[ROLE], SIZE, "%s", tb_claim_role_name(claim->role));
	if (isfinite(finding->error_percent))
		snprintf(cells->text[ERROR], SIZE, "%+.1f%%", finding->error_percent);
}

// width_of counts characters of UTF-8.
static int width_of(const char *text)
{
	int width = 0;
	for (; *text; text++)
		width += ((unsigned char)*text & 0xc0) != 0x80;
	return width;
}

// Numbers stand at the right of their columns; the last column is not padded.
static void write_row(FILE *stream, const char *const text[], const int *widths)
{
	for (int i = 0; i < N_COLUMNS; i++) {
		bool right = i == SIMULATED || i == ERROR;
		int blanks = i < N_COLUMNS - 1 ? widths[i] - width_of(text[i]) : 0;
		fprintf(stream, "%s%*s%s%*s", i ? "  " : "", right ? blanks : 0, "",
			text[i], right ? 0 : blanks, "");
	}
	fputc('\n', stream);
}

static void cell_texts(const struct cells *cells, const char *text[N_COLUMNS])
{
	for (int i = 0; i < N_COLUMNS; i++)
		text[i] = cells->text[i];
}

struct sum {
	const char *model, *role;
	size_t n_rows, n[TB_VERDICTS];
};

// sum_of_role returns the sums of a model (NULL: of all) and role (TB_CLAIM_ROLES: of
// all).
static struct sum sum_of_role(const struct tb_validation *validation, const char *model,
	enum tb_claim_role role)
{
	bool all = role == TB_CLAIM_ROLES;
	struct sum sum = {.model = model ? model : "all",
		.role = all ? "all" : tb_claim_role_name(role)};
	for (enum tb_claim_verdict verdict = 0; verdict < TB_VERDICTS; verdict++) {
		sum.n[verdict] = tb_validation_sum(validation, model, role, verdict);
		sum.n_rows += sum.n[verdict];
	}
	return sum;
}

// next_sum goes through the sums that have rows, by model and role, and then those of all
// models: false behind the last. `at` begins as 0.
static bool next_sum(const struct tb_validation *validation, size_t *at, struct sum *sum)
{
	size_t n_models = 0;
	while (tb_claim_model(n_models))
		n_models++;
	for (; *at < (n_models + 1) * (TB_CLAIM_ROLES + 1);) {
		size_t model = *at / (TB_CLAIM_ROLES + 1);
		enum tb_claim_role role =
			(enum tb_claim_role)(*at % (TB_CLAIM_ROLES + 1));
		++*at;
		*sum = sum_of_role(validation, tb_claim_model(model), role);
		bool of_model = model < n_models;
		if (of_model ? sum->n_rows > 0 && role < TB_CLAIM_ROLES
			     : sum->n_rows > 0 || role == TB_CLAIM_ROLES)
			return true;
	}
	return false;
}

// is_published is true for the networks that the papers measured, with any changes.
static bool is_published(const char *network)
{
	size_t n = strcspn(network, ",");
	return (n == 5 && strncmp(network, "qsnet", n) == 0) ||
	       (n == 6 && strncmp(network, "qsnet2", n) == 0);
}

static void write_summary(const struct tb_validation *validation, FILE *stream)
{
	char shown[512];
	if (validation->n_in_doubt)
		fprintf(stream, "%zu verdict%s another one within the interval. ",
			validation->n_in_doubt,
			validation->n_in_doubt == 1 ? " has" : "s have");
	if (validation->n_outside)
		fprintf(stream, "%zu row%s outside the model. ", validation->n_outside,
			validation->n_outside == 1 ? " is" : "s are");
	if (validation->n_long)
		fprintf(stream, "%zu row%s left out: --long. ", validation->n_long,
			validation->n_long == 1 ? " is" : "s are");
	fprintf(stream, "Network %s, %u seed%s, mean with 95 %% interval.\n",
		tb_visible(validation->network, shown, sizeof shown), validation->n_seeds,
		validation->n_seeds == 1 ? "" : "s");
	if (tb_validation_count(validation, TB_VERDICT_FAILS) &&
		!is_published(validation->network))
		fputs("The published figures are of QsNet and QsNetII: on another "
		      "network a row that fails is no error of the model.\n",
			stream);
}

static void write_csv_figure(FILE *stream, double value)
{
	if (isfinite(value))
		fprintf(stream, "%.9g", value);
	fputc(',', stream);
}

enum { N_CLAIM_FIELDS = 13 };

static void write_fields(FILE *stream, const char *const fields[N_CLAIM_FIELDS])
{
	for (int i = 0; i < N_CLAIM_FIELDS; i++) {
		tb_csv_put(stream, fields[i]);
		fputc(',', stream);
	}
}

// role_of returns "" for a claim that the model does not cover.
static const char *role_of(const struct tb_claim *claim)
{
	return claim->outside ? "" : tb_claim_role_name(claim->role);
}

static void write_validation_csv(const struct tb_validation *validation, FILE *stream)
{
	fputs("id,model,source,experiment,setting,quantity,relation,value,unit,bound,"
	      "role,reason,measured,simulated,half_ci,error_percent,verdict,doubt\n",
		stream);
	for (size_t row = 0; row < validation->n_findings; row++) {
		const struct tb_validated_row *finding = &validation->findings[row];
		const struct tb_claim *claim = finding->claim;
		write_fields(stream,
			(const char *const[N_CLAIM_FIELDS]){claim->id, claim->model,
				claim->source, claim->experiment, claim->setting,
				claim->quantity, claim->relation_text, claim->value_text,
				claim->unit, claim->bound_text, role_of(claim),
				claim->reason, claim->measured});
		write_csv_figure(stream, finding->simulated.mean);
		write_csv_figure(stream, finding->simulated.half_ci);
		write_csv_figure(stream, finding->error_percent);
		fprintf(stream, "%s,%s\n", tb_verdict_name(finding->verdict),
			tb_verdict_name(finding->doubt));
	}
	// Sums are rows of their own: their ids begin with "sum.", the number is the
	// figure, and the verdict is empty.
	struct sum sum;
	for (size_t at = 0; next_sum(validation, &at, &sum);)
		for (enum tb_claim_verdict verdict = 0; verdict < TB_VERDICTS;
			verdict++) {
			char id[64];
			snprintf(id, sizeof id, "sum.%s.%s.%s", sum.model, sum.role,
				tb_verdict_name(verdict));
			write_fields(stream,
				(const char *const[N_CLAIM_FIELDS]){id, sum.model, "", "",
					"", "", "", "", "rows", "", sum.role, "", ""});
			fprintf(stream, "%zu,,,,\n", sum.n[verdict]);
		}
	write_fields(stream, (const char *const[N_CLAIM_FIELDS]){"sum.outside", "", "",
				     "", "", "", "", "", "rows", "", "", "", ""});
	fprintf(stream, "%zu,,,,\n", validation->n_outside);
}

static json_t *finding_json(const struct tb_validated_row *finding)
{
	const struct tb_claim *claim = finding->claim;
	return json_pack(
		"{s:s, s:s, s:s, s:s, s:s, s:s, s:s, s:s, s:s, s:s, s:s, s:s, s:s, "
		"s:o, s:o, s:o, s:s, s:s}",
		"id", claim->id, "model", claim->model, "source", claim->source,
		"experiment", claim->experiment, "setting", claim->setting, "quantity",
		claim->quantity, "relation", claim->relation_text, "value",
		claim->value_text, "unit", claim->unit, "bound", claim->bound_text,
		"role", role_of(claim), "reason", claim->reason, "measured",
		claim->measured, "simulated", tb_json_real(finding->simulated.mean),
		"half_ci", tb_json_real(finding->simulated.half_ci), "error_percent",
		tb_json_real(finding->error_percent), "verdict",
		tb_verdict_name(finding->verdict), "doubt",
		tb_verdict_name(finding->doubt));
}

static json_t *sums_json(const struct tb_validation *validation)
{
	json_t *sums = json_array();
	struct sum sum;
	for (size_t at = 0; next_sum(validation, &at, &sum);) {
		struct tb_json_object object = tb_json_object_new();
		tb_json_add_text(&object, "model", sum.model);
		tb_json_add_text(&object, "role", sum.role);
		for (enum tb_claim_verdict verdict = 0; verdict < TB_VERDICTS; verdict++)
			tb_json_add_count(
				&object, tb_verdict_name(verdict), sum.n[verdict]);
		sums = tb_json_append(sums, tb_json_object_take(&object));
	}
	return sums;
}

static int write_validation_json(
	const struct tb_validation *validation, FILE *stream, struct tb_error *error)
{
	json_t *rows = json_array();
	for (size_t row = 0; row < validation->n_findings; row++)
		rows = tb_json_append(rows, finding_json(&validation->findings[row]));
	json_t *root = json_pack("{s:o, s:i, s:o, s:i, s:i, s:o}", "network",
		tb_json_text(validation->network), "seeds", (int)validation->n_seeds,
		"sums", sums_json(validation), "outside", (int)validation->n_outside,
		"left_out", (int)validation->n_long, "rows", rows);
	return tb_json_write(root, 9, stream) == TB_OK
		       ? TB_OK
		       : tb_fail_memory(error, "the findings");
}

int tb_validation_write(const struct tb_validation *validation, enum tb_format format,
	FILE *stream, struct tb_error *error)
{
	if (format == TB_FORMAT_JSON)
		return write_validation_json(validation, stream, error);
	if (format == TB_FORMAT_CSV)
		write_validation_csv(validation, stream);
	else if (format == TB_FORMAT_MARKDOWN) {
		for (int i = 0; i < N_COLUMNS; i++)
			fprintf(stream, "| %s ", titles[i]);
		fputs("|\n|---|---|--:|--:|--:|---|\n", stream);
		for (size_t row = 0; row < validation->n_findings; row++) {
			struct cells cells;
			fill_cells(&cells, &validation->findings[row]);
			for (int i = 0; i < N_COLUMNS; i++)
				fprintf(stream, i == ROW ? "| `%s` " : "| %s ",
					cells.text[i]);
			fputs("|\n", stream);
		}
		fputc('\n', stream);
		struct sum sum;
		fputs("| model | role | rows ", stream);
		for (enum tb_claim_verdict verdict = 0; verdict < TB_VERDICTS; verdict++)
			fprintf(stream, "| %s ", tb_verdict_name(verdict));
		fputs("|\n|---|---|--:|--:|--:|--:|--:|\n", stream);
		for (size_t at = 0; next_sum(validation, &at, &sum);) {
			fprintf(stream, "| %s | %s | %zu ", sum.model, sum.role,
				sum.n_rows);
			for (enum tb_claim_verdict verdict = 0; verdict < TB_VERDICTS;
				verdict++)
				fprintf(stream, "| %zu ", sum.n[verdict]);
			fputs("|\n", stream);
		}
		fputc('\n', stream);
		write_summary(validation, stream);
	} else {
		int widths[N_COLUMNS];
		const char *text[N_COLUMNS];
		struct cells cells;
		for (int i = 0; i < N_COLUMNS; i++)
			widths[i] = width_of(titles[i]);
		for (size_t row = 0; row < validation->n_findings; row++) {
			fill_cells(&cells, &validation->findings[row]);
			for (int i = 0; i < N_COLUMNS; i++)
				if (widths[i] < width_of(cells.text[i]))
					widths[i] = width_of(cells.text[i]);
		}
		write_row(stream, titles, widths);
		for (size_t row = 0; row < validation->n_findings; row++) {
			fill_cells(&cells, &validation->findings[row]);
			cell_texts(&cells, text);
			write_row(stream, text, widths);
		}
		fputc('\n', stream);
		struct sum sum;
		fprintf(stream, "%-12s%-10s%5s", "model", "role", "rows");
		for (enum tb_claim_verdict verdict = 0; verdict < TB_VERDICTS; verdict++)
			fprintf(stream, "%7s", tb_verdict_name(verdict));
		fputc('\n', stream);
		for (size_t at = 0; next_sum(validation, &at, &sum);) {
			fprintf(stream, "%-12s%-10s%5zu", sum.model, sum.role,
				sum.n_rows);
			for (enum tb_claim_verdict verdict = 0; verdict < TB_VERDICTS;
				verdict++)
				fprintf(stream, "%7zu", sum.n[verdict]);
			fputc('\n', stream);
		}
		fputc('\n', stream);
		write_summary(validation, stream);
	}
	return TB_OK;
}

// The findings as text, CSV, JSON and Markdown.
#include "json.h"
#include "markup.h"
#include "validation.h"
#include "visible.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { ROW, PUBLISHED, SIMULATED, ERROR, TOLERANCE, VERDICT, N_COLUMNS };

static const char *const titles[N_COLUMNS] = {
	"row", "published", "simulated", "error", "tolerance", "verdict"};

struct cells {
	char text[N_COLUMNS][96];
};

static const char *verdict_name(enum tb_verdict verdict)
{
	switch (verdict) {
	case TB_VERDICT_HOLDS:
		return "holds";
	case TB_VERDICT_FAILS:
		return "FAILS";
	case TB_VERDICT_OUTSIDE:
		return "outside the model";
	}
	return "";
}

// unit_of returns "" for a share, whose unit in the table is 1.
static const char *unit_of(const struct tb_claim *claim)
{
	return strcmp(claim->unit, "1") == 0 ? "" : claim->unit;
}

static void join(char *text, size_t size, const char *const words[], size_t n)
{
	size_t at = 0;
	text[0] = '\0';
	for (size_t i = 0; i < n && at < size; i++)
		if (words[i][0])
			at += (size_t)snprintf(
				text + at, size - at, "%s%s", at ? " " : "", words[i]);
}

// number writes four significant digits without an exponent.
static void number(char *text, size_t size, double value)
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
	number(mean, sizeof mean, estimate->mean);
	number(half, sizeof half, estimate->half_ci);
	snprintf(text, size, isfinite(estimate->half_ci) ? "%s ± %s" : "%s", mean, half);
}

static void fill(struct cells *cells, const struct tb_finding *finding)
{
	const struct tb_claim *claim = finding->claim;
	const char *const published[] = {
		claim->relation_text, claim->value_text, unit_of(claim)};
	*cells = (struct cells){0};
	snprintf(cells->text[ROW], sizeof cells->text[ROW], "%s", claim->id);
	join(cells->text[PUBLISHED], sizeof cells->text[PUBLISHED], published, 3);
	snprintf(cells->text[TOLERANCE], sizeof cells->text[TOLERANCE], "%s",
		claim->tolerance_text);
	if (claim->outside) {
		snprintf(cells->text[VERDICT], sizeof cells->text[VERDICT],
			"outside the model: %s", claim->outside);
		return;
	}
	write_simulated(cells->text[SIMULATED], sizeof cells->text[SIMULATED],
		&finding->simulated);
	if (isfinite(finding->error_percent))
		snprintf(cells->text[ERROR], sizeof cells->text[ERROR], "%+.1f%%",
			finding->error_percent);
	snprintf(cells->text[VERDICT], sizeof cells->text[VERDICT], "%s",
		verdict_name(finding->verdict));
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
static void write_line(FILE *stream, const char *const text[], const int *widths)
{
	for (int i = 0; i < N_COLUMNS; i++) {
		bool right = i == SIMULATED || i == ERROR || i == TOLERANCE;
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

static void write_summary(const struct tb_validation *validation, FILE *stream)
{
	fprintf(stream, "%zu of %zu rows hold", validation->n_holding,
		validation->n_holding + validation->n_failing);
	if (validation->n_outside)
		fprintf(stream, ", %zu %s outside the model", validation->n_outside,
			validation->n_outside == 1 ? "is" : "are");
	char shown[512];
	fprintf(stream, ". Network %s, %u seed%s, mean with 95 %% interval.\n",
		tb_visible(validation->network, shown, sizeof shown), validation->n_seeds,
		validation->n_seeds == 1 ? "" : "s");
}

static void write_text(const struct tb_validation *validation, FILE *stream)
{
	int widths[N_COLUMNS];
	const char *text[N_COLUMNS];
	struct cells cells;
	for (int i = 0; i < N_COLUMNS; i++)
		widths[i] = width_of(titles[i]);
	for (size_t row = 0; row < validation->n_findings; row++) {
		fill(&cells, &validation->findings[row]);
		for (int i = 0; i < N_COLUMNS; i++)
			if (widths[i] < width_of(cells.text[i]))
				widths[i] = width_of(cells.text[i]);
	}
	write_line(stream, titles, widths);
	for (size_t row = 0; row < validation->n_findings; row++) {
		fill(&cells, &validation->findings[row]);
		cell_texts(&cells, text);
		write_line(stream, text, widths);
	}
	fputc('\n', stream);
	write_summary(validation, stream);
}

static void write_markdown(const struct tb_validation *validation, FILE *stream)
{
	for (int i = 0; i < N_COLUMNS; i++)
		fprintf(stream, "| %s ", titles[i]);
	fputs("|\n|---|---|--:|--:|--:|---|\n", stream);
	for (size_t row = 0; row < validation->n_findings; row++) {
		struct cells cells;
		fill(&cells, &validation->findings[row]);
		for (int i = 0; i < N_COLUMNS; i++)
			fprintf(stream, i == ROW ? "| `%s` " : "| %s ", cells.text[i]);
		fputs("|\n", stream);
	}
	fputc('\n', stream);
	write_summary(validation, stream);
}

static void write_figure(FILE *stream, double value)
{
	if (isfinite(value))
		fprintf(stream, "%.9g", value);
	fputc(',', stream);
}

static const char *verdict_word(enum tb_verdict verdict)
{
	return verdict == TB_VERDICT_OUTSIDE ? "outside"
	       : verdict == TB_VERDICT_HOLDS ? "holds"
					     : "fails";
}

static void write_csv(const struct tb_validation *validation, FILE *stream)
{
	fputs("id,paper,experiment,setting,quantity,relation,value,unit,tolerance,"
	      "measured,"
	      "simulated,half_ci,error_percent,verdict\n",
		stream);
	for (size_t row = 0; row < validation->n_findings; row++) {
		const struct tb_finding *finding = &validation->findings[row];
		const struct tb_claim *claim = finding->claim;
		const char *const fields[] = {claim->id, claim->paper, claim->experiment,
			claim->setting, claim->quantity, claim->relation_text,
			claim->value_text, claim->unit, claim->tolerance_text,
			claim->measured};
		for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
			tb_csv_put(stream, fields[i]);
			fputc(',', stream);
		}
		write_figure(stream, finding->simulated.mean);
		write_figure(stream, finding->simulated.half_ci);
		write_figure(stream, finding->error_percent);
		fprintf(stream, "%s\n", verdict_word(finding->verdict));
	}
}

static json_t *finding_json(const struct tb_finding *finding)
{
	const struct tb_claim *claim = finding->claim;
	return json_pack("{s:s, s:s, s:s, s:s, s:s, s:s, s:s, s:s, s:s, s:s, s:o, s:o, "
			 "s:o, s:s}",
		"id", claim->id, "paper", claim->paper, "experiment", claim->experiment,
		"setting", claim->setting, "quantity", claim->quantity, "relation",
		claim->relation_text, "value", claim->value_text, "unit", claim->unit,
		"tolerance", claim->tolerance_text, "measured", claim->measured,
		"simulated", tb_json_real(finding->simulated.mean), "half_ci",
		tb_json_real(finding->simulated.half_ci), "error_percent",
		tb_json_real(finding->error_percent), "verdict",
		verdict_word(finding->verdict));
}

static int write_json(
	const struct tb_validation *validation, FILE *stream, struct tb_error *error)
{
	json_t *rows = json_array();
	for (size_t row = 0; row < validation->n_findings; row++)
		rows = tb_json_append(rows, finding_json(&validation->findings[row]));
	json_t *root = json_pack("{s:o, s:i, s:i, s:i, s:i, s:o}", "network",
		tb_json_text(validation->network), "seeds", (int)validation->n_seeds,
		"holding", (int)validation->n_holding, "failing",
		(int)validation->n_failing, "outside", (int)validation->n_outside, "rows",
		rows);
	return tb_json_write(root, 9, stream) == TB_OK
		       ? TB_OK
		       : tb_fail(error, TB_ENOMEM, "no memory for the findings");
}

int tb_validation_write(const struct tb_validation *validation, enum tb_format format,
	FILE *stream, struct tb_error *error)
{
	if (format == TB_FORMAT_JSON)
		return write_json(validation, stream, error);
	if (format == TB_FORMAT_CSV)
		write_csv(validation, stream);
	else if (format == TB_FORMAT_MARKDOWN)
		write_markdown(validation, stream);
	else
		write_text(validation, stream);
	return TB_OK;
}

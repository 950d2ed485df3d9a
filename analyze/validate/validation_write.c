// The findings as text, CSV, JSON and Markdown.
#include "json.h"
#include "markup.h"
#include "validation.h"
#include "visible.h"
#include "wrap.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// A list for people: text or Markdown.
enum { COLUMNS_MOST = 8, CELL = 352 };

struct cells {
	char text[COLUMNS_MOST][CELL];
};

struct list {
	int n_columns;
	unsigned right; // columns that stand at the right, as bits
	bool code;	// the first column is, in Markdown
	const char *titles[COLUMNS_MOST];
	unsigned widths[COLUMNS_MOST]; // at least
	// fill fills the cells of the next row: false behind the last. `at` begins as 0.
	bool (*fill)(
		const struct tb_validation *validation, size_t *at, struct cells *cells);
};

static void write_text_row(
	FILE *stream, const struct list *list, const struct cells *cells)
{
	for (int i = 0; i < list->n_columns; i++) {
		const char *text = cells ? cells->text[i] : list->titles[i];
		bool right = list->right >> i & 1;
		int blanks = (int)(list->widths[i] - tb_text_columns(text));
		if (i == list->n_columns - 1 && !right)
			blanks = 0;
		fprintf(stream, "%s%*s%s%*s", i ? "  " : "", right ? blanks : 0, "", text,
			right ? 0 : blanks, "");
	}
	fputc('\n', stream);
}

static void write_list(
	FILE *stream, struct list list, const struct tb_validation *validation)
{
	struct cells cells;
	for (int i = 0; i < list.n_columns; i++)
		if (list.widths[i] < tb_text_columns(list.titles[i]))
			list.widths[i] = tb_text_columns(list.titles[i]);
	for (size_t at = 0; list.fill(validation, &at, &cells);)
		for (int i = 0; i < list.n_columns; i++)
			if (list.widths[i] < tb_text_columns(cells.text[i]))
				list.widths[i] = tb_text_columns(cells.text[i]);
	write_text_row(stream, &list, NULL);
	for (size_t at = 0; list.fill(validation, &at, &cells);)
		write_text_row(stream, &list, &cells);
	fputc('\n', stream);
}

static void write_list_markdown(
	FILE *stream, const struct list *list, const struct tb_validation *validation)
{
	struct cells cells;
	for (int i = 0; i < list->n_columns; i++)
		fprintf(stream, "| %s ", list->titles[i]);
	fputs("|\n", stream);
	for (int i = 0; i < list->n_columns; i++)
		fputs(list->right >> i & 1 ? "|--:" : "|---", stream);
	fputs("|\n", stream);
	for (size_t at = 0; list->fill(validation, &at, &cells); fputs("|\n", stream))
		for (int i = 0; i < list->n_columns; i++)
			fprintf(stream, i == 0 && list->code ? "| `%s` " : "| %s ",
				cells.text[i]);
	fputc('\n', stream);
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

enum { ROW, PUBLISHED, SIMULATED, ERROR, ROLE, VERDICT, ROW_COLUMNS };

static bool fill_row(
	const struct tb_validation *validation, size_t *at, struct cells *cells)
{
	if (*at == validation->n_findings)
		return false;
	const struct tb_validated_row *finding = &validation->findings[(*at)++];
	const struct tb_claim *claim = finding->claim;
	*cells = (struct cells){0};
	snprintf(cells->text[ROW], CELL, "%s", claim->id);
	// What the paper says, and the bound by which we read its word.
	const char *unit = strcmp(claim->unit, "1") == 0 ? "" : claim->unit;
	bool has_value = *claim->value_text || claim->relation == TB_RELATION_RANGE;
	char *text = cells->text[PUBLISHED];
	int n = snprintf(text, CELL / 2, "%s%s%s%s%s", claim->relation_text,
		*claim->value_text ? " " : "", claim->value_text,
		has_value && *unit ? " " : "", has_value ? unit : "");
	if (claim->relation == TB_RELATION_WITHIN)
		snprintf(text + n, CELL / 2, " (x %s)", claim->bound_text);
	else if (*claim->bound_text)
		snprintf(text + n, CELL / 2, " (%s %s)", claim->bound_text, unit);
	write_row_verdict(cells->text[VERDICT], CELL, finding);
	if (*finding->outside)
		return true;
	write_simulated(cells->text[SIMULATED], CELL, &finding->simulated);
	snprintf(cells->text[ROLE], CELL, "%s", tb_claim_role_name(claim->role));
	if (isfinite(finding->error_percent))
		snprintf(cells->text[ERROR], CELL, "%+.1f%%", finding->error_percent);
	return true;
}

static const struct list row_list = {.n_columns = ROW_COLUMNS,
	.right = 1u << SIMULATED | 1u << ERROR,
	.code = true,
	.titles = {"row", "published", "simulated", "error", "role", "verdict"},
	.fill = fill_row};

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

static bool fill_sum(
	const struct tb_validation *validation, size_t *at, struct cells *cells)
{
	struct sum sum;
	if (!next_sum(validation, at, &sum))
		return false;
	snprintf(cells->text[0], CELL, "%s", sum.model);
	snprintf(cells->text[1], CELL, "%s", sum.role);
	snprintf(cells->text[2], CELL, "%zu", sum.n_rows);
	for (enum tb_claim_verdict verdict = 0; verdict < TB_VERDICTS; verdict++)
		snprintf(cells->text[3 + verdict], CELL, "%zu", sum.n[verdict]);
	return true;
}

static const struct list sum_list = {.n_columns = 3 + TB_VERDICTS,
	.right = ~3u,
	.titles = {"model", "role", "rows", "holds", "near", "tie", "fails"},
	.widths = {10, 9, 4, 5, 5, 5, 5},
	.fill = fill_sum};

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

// A row in CSV and JSON: texts, figures, verdicts.
enum { FIRST_FIGURE = 13, FIRST_VERDICT = 16, N_FIELDS = 18 };

static const char *const field_keys[N_FIELDS] = {"id", "model", "source", "experiment",
	"setting", "quantity", "relation", "value", "unit", "bound", "role", "reason",
	"measured", "simulated", "half_ci", "error_percent", "verdict", "doubt"};

struct fields {
	const char *text[N_FIELDS]; // but of the figures; NULL: ""
	double figures[FIRST_VERDICT - FIRST_FIGURE];
};

static bool is_figure(int field)
{
	return field >= FIRST_FIGURE && field < FIRST_VERDICT;
}

static struct fields fields_of(const struct tb_validated_row *finding)
{
	const struct tb_claim *claim = finding->claim;
	return (struct fields){
		.text = {claim->id, claim->model, claim->source, claim->experiment,
			claim->setting, claim->quantity, claim->relation_text,
			claim->value_text, claim->unit, claim->bound_text,
			claim->outside ? "" : tb_claim_role_name(claim->role),
			claim->reason, claim->measured,
			[FIRST_VERDICT] = tb_verdict_name(finding->verdict),
			tb_verdict_name(finding->doubt)},
		.figures = {finding->simulated.mean, finding->simulated.half_ci,
			finding->error_percent}};
}

static void write_fields(FILE *stream, const struct fields *fields)
{
	for (int i = 0; i < N_FIELDS; i++) {
		double figure = is_figure(i) ? fields->figures[i - FIRST_FIGURE] : NAN;
		if (i)
			fputc(',', stream);
		if (isfinite(figure))
			fprintf(stream, "%.9g", figure);
		else if (fields->text[i])
			tb_csv_put(stream, fields->text[i]);
	}
	fputc('\n', stream);
}

static void write_validation_csv(const struct tb_validation *validation, FILE *stream)
{
	struct fields fields = {.figures = {NAN, NAN, NAN}};
	memcpy(fields.text, field_keys, sizeof fields.text);
	write_fields(stream, &fields);
	for (size_t row = 0; row < validation->n_findings; row++) {
		fields = fields_of(&validation->findings[row]);
		write_fields(stream, &fields);
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
			fields = (struct fields){
				{id, sum.model, [8] = "rows", [10] = sum.role},
				{(double)sum.n[verdict], NAN, NAN}};
			write_fields(stream, &fields);
		}
	fields = (struct fields){
		{"sum.outside", [8] = "rows"}, {(double)validation->n_outside, NAN, NAN}};
	write_fields(stream, &fields);
	fields = (struct fields){{"sum.unmeasured", [8] = "rows"},
		{(double)validation->n_unmeasured, NAN, NAN}};
	write_fields(stream, &fields);
}

static json_t *finding_json(const struct tb_validated_row *finding)
{
	struct tb_json_object object = tb_json_object_new();
	const struct fields fields = fields_of(finding);
	for (int i = 0; i < N_FIELDS; i++)
		if (is_figure(i))
			tb_json_add_real(
				&object, field_keys[i], fields.figures[i - FIRST_FIGURE]);
		else
			tb_json_add_text(&object, field_keys[i], fields.text[i]);
	return tb_json_object_take(&object);
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
	json_t *root = json_pack("{s:o, s:i, s:o, s:i, s:i, s:i, s:o}", "network",
		tb_json_text(validation->network), "seeds", (int)validation->n_seeds,
		"sums", sums_json(validation), "outside", (int)validation->n_outside,
		"unmeasured", (int)validation->n_unmeasured, "left_out",
		(int)validation->n_long, "rows", rows);
	return tb_json_write(root, 9, stream) == TB_OK
		       ? TB_OK
		       : tb_fail_memory(error, "the findings");
}

int tb_validation_write(const struct tb_validation *validation, enum tb_format format,
	FILE *stream, struct tb_error *error)
{
	if (format == TB_FORMAT_JSON)
		return write_validation_json(validation, stream, error);
	if (format == TB_FORMAT_CSV) {
		write_validation_csv(validation, stream);
		return TB_OK;
	}
	if (validation->stopped)
		fprintf(stream, "Stopped early: %zu row%s not measured.\n\n",
			validation->n_unmeasured,
			validation->n_unmeasured == 1 ? " was" : "s were");
	const struct list *const lists[] = {&row_list, &sum_list};
	for (size_t i = 0; i < 2; i++)
		if (format == TB_FORMAT_MARKDOWN)
			write_list_markdown(stream, lists[i], validation);
		else
			write_list(stream, *lists[i], validation);
	write_summary(validation, stream);
	return TB_OK;
}

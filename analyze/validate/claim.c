#include "claim.h"
#include "schemas.h"
#include "units.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum field {
	ID,
	MODEL,
	SOURCE,
	EXPERIMENT,
	SETTING,
	QUANTITY,
	RELATION,
	VALUE,
	UNIT,
	BOUND,
	ROLE,
	REASON,
	MEASURED,
	N_FIELDS
};

static const char header[] =
	"id,model,source,experiment,setting,quantity,relation,value,unit,"
	"bound,role,reason,measured";
static const char outside[] = "outside the model: ";

// next_field takes a field from *rest, in place, and removes quotes (RFC 4180). NULL when
// a quote is not closed or text follows it.
static char *next_field(char **rest, bool *last)
{
	char *from = *rest, *to = *rest, *begin = *rest;
	bool quoted = *from == '"';
	if (quoted)
		from++;
	while (*from && (quoted || *from != ',')) {
		if (quoted && from[0] == '"' && from[1] != '"')
			break;
		if (quoted && *from == '"')
			from++;
		*to++ = *from++;
	}
	if (quoted && *from++ != '"')
		return NULL;
	if (*from && *from != ',')
		return NULL;
	*last = *from == '\0';
	*rest = from + 1;
	*to = '\0';
	return begin;
}

// split_fields returns whether a line has exactly the expected fields.
static bool split_fields(char *line, char *fields[N_FIELDS])
{
	bool last = false;
	for (int i = 0; i < N_FIELDS; i++) {
		if (last || !(fields[i] = next_field(&line, &last)))
			return false;
	}
	return last;
}

// real reads a number, which may have a plus sign.
static bool real(const char *text, double *value)
{
	return tb_parse_real(text + (*text == '+'), 0, 1e300, value) == TB_OK;
}

// read_range reads "+15..+20".
static bool read_range(struct tb_claim *claim)
{
	const char *dots = strstr(claim->relation_text, "..");
	char low[32];
	size_t n = dots ? (size_t)(dots - claim->relation_text) : 0;
	if (!dots || n >= sizeof low)
		return false;
	memcpy(low, claim->relation_text, n);
	low[n] = '\0';
	return real(low, &claim->low) && real(dots + 2, &claim->high) &&
	       claim->low <= claim->high;
}

// half_unit returns half a unit of the last digit of a number; where zeros at the end of
// a whole number are no digits, of the last other one.
static double half_unit(const char *number, bool zeros_are_digits)
{
	const char *point = strchr(number, '.');
	size_t n = strlen(number), n_zeros = 0;
	if (point)
		return 0.5 * pow(10, -(double)strlen(point + 1));
	while (!zeros_are_digits && n_zeros + 1 < n && number[n - 1 - n_zeros] == '0')
		n_zeros++;
	return 0.5 * pow(10, (double)n_zeros);
}

static bool read_claim_value(struct tb_claim *claim)
{
	const char *text = claim->value_text;
	if (!real(text, &claim->low))
		return false;
	claim->high = claim->low;
	if (claim->relation == TB_RELATION_VALUE)
		claim->rounding = half_unit(text, claim->relation_text[0] == '=');
	return true;
}

static bool read_relation(struct tb_claim *claim)
{
	static const struct {
		const char *word;
		enum tb_relation relation;
		bool has_value;
	} words[] = {
		{"=", TB_RELATION_VALUE, true},
		{"about", TB_RELATION_VALUE, true},
		{"within", TB_RELATION_WITHIN, true},
		{"<", TB_RELATION_BELOW, true},
		{"<=", TB_RELATION_AT_MOST, true},
		{">=", TB_RELATION_AT_LEAST, true},
		{"even", TB_RELATION_EVEN, false},
		{"uneven", TB_RELATION_UNEVEN, false},
		{"substantial", TB_RELATION_UNEVEN, false},
		{"falls", TB_RELATION_FALLS, false},
		{"grows", TB_RELATION_GROWS, false},
		{"faster", TB_RELATION_GROWS, false},
		{"better", TB_RELATION_GROWS, false},
	};
	for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
		size_t n = strlen(words[i].word);
		const char *rest = claim->relation_text + n;
		if (strncmp(claim->relation_text, words[i].word, n) != 0 ||
			(*rest && *rest != ' '))
			continue;
		claim->relation = words[i].relation;
		return words[i].has_value ? read_claim_value(claim)
					  : *claim->value_text == '\0';
	}
	claim->relation = TB_RELATION_RANGE;
	return *claim->value_text == '\0' && read_range(claim);
}

static bool read_bound(struct tb_claim *claim)
{
	bool needs_one = claim->relation == TB_RELATION_EVEN ||
			 claim->relation == TB_RELATION_UNEVEN ||
			 claim->relation == TB_RELATION_WITHIN;
	return needs_one ? real(claim->bound_text, &claim->bound)
			 : *claim->bound_text == '\0';
}

// read_role reads the role and sees that a reason stands beside it.
static bool read_role(struct tb_claim *claim, const char *name)
{
	if (claim->outside)
		return *name == '\0' && *claim->reason == '\0';
	claim->role = TB_CLAIM_FITTED;
	while (claim->role < TB_CLAIM_ROLES &&
		strcmp(tb_claim_role_name(claim->role), name) != 0)
		claim->role++;
	return claim->role < TB_CLAIM_ROLES && *claim->reason;
}

const char *tb_claim_model(size_t i)
{
	static const char *const models[] = {
		"qsnet", "ib", "roce", "ethernet", "nccl", "mpi", "closed-loop"};
	return i < sizeof models / sizeof *models ? models[i] : NULL;
}

static bool is_model(const char *name)
{
	for (size_t i = 0; tb_claim_model(i); i++)
		if (strcmp(tb_claim_model(i), name) == 0)
			return true;
	return false;
}

// read_claim returns what is wrong with a line, NULL if nothing.
static const char *read_claim(struct tb_claim *claim, char *line)
{
	char *fields[N_FIELDS];
	if (!split_fields(line, fields))
		return "expected thirteen fields";
	*claim = (struct tb_claim){.id = fields[ID],
		.model = fields[MODEL],
		.source = fields[SOURCE],
		.experiment = fields[EXPERIMENT],
		.setting = fields[SETTING],
		.quantity = fields[QUANTITY],
		.relation_text = fields[RELATION],
		.value_text = fields[VALUE],
		.unit = fields[UNIT],
		.bound_text = fields[BOUND],
		.reason = fields[REASON],
		.measured = fields[MEASURED]};
	if (strncmp(claim->measured, outside, sizeof outside - 1) == 0)
		claim->outside = claim->measured + sizeof outside - 1;
	if (!is_model(claim->model))
		return "expected a model such as qsnet or nccl";
	if (!read_relation(claim))
		return "expected a relation such as =, <=, grows or +15..+20, and its "
		       "value";
	if (!read_bound(claim))
		return "expected a bound for within, even and uneven, none for other "
		       "relations";
	if (!read_role(claim, fields[ROLE]))
		return "expected the role fitted, derived, chosen or predicted and its "
		       "reason, neither where it is outside the model";
	return NULL;
}

static size_t count_lines(const char *text)
{
	size_t n = 1;
	for (; *text; text++)
		n += *text == '\n';
	return n;
}

int tb_claims_read(struct tb_claims *claims, const char *name, const char *text,
	struct tb_error *error)
{
	struct tb_claims made = {
		calloc(count_lines(text), sizeof *made.claims), 0, strdup(text)};
	const char *wrong = NULL;
	uint64_t line = 0;
	if (!made.claims || !made.text) {
		tb_claims_fini(&made);
		return tb_fail_memory(error, "the table of claims");
	}
	for (char *rest = made.text, *at; (at = strsep(&rest, "\n")) && !wrong;) {
		line++;
		if (line == 1)
			wrong = strcmp(at, header) == 0 ? NULL : "expected the header";
		else if (*at && !(wrong = read_claim(&made.claims[made.n], at)))
			made.n++;
	}
	if (wrong) {
		tb_claims_fini(&made);
		return tb_fail_at(
			error, TB_EFORMAT, name, TB_PLACE_LINE, line, "%s", wrong);
	}
	*claims = made;
	return TB_OK;
}

int tb_claims_published(struct tb_claims *claims, struct tb_error *error)
{
	char *text = NULL;
	const char *measured = strchr(tb_schema_measured_csv, '\n') + 1;
	if (asprintf(&text, "%s%s", tb_schema_quadrics_csv, measured) < 0)
		return tb_fail_memory(error, "the tables of claims");
	int status = tb_claims_read(claims, "schemas", text, error);
	free(text);
	return status;
}

void tb_claims_fini(struct tb_claims *claims)
{
	free(claims->claims);
	free(claims->text);
	*claims = (struct tb_claims){0};
}

// How a simulated figure is judged.

#define NEAR_SHARE   0.1
#define NEAR_NOTHING 5	  // of a published 0, in the row's unit
#define TIE	     0.5  // percent
#define SLACK	     1e-9 // of the value: decimals are not exact in binary

static bool is_order(const struct tb_claim *claim)
{
	return claim->relation == TB_RELATION_FALLS ||
	       claim->relation == TB_RELATION_GROWS;
}

// nearest_published returns the published figure that is nearest to a simulated one.
static double nearest_published(const struct tb_claim *claim, double simulated)
{
	return simulated < claim->low	 ? claim->low
	       : simulated > claim->high ? claim->high
					 : simulated;
}

// factor_of returns by which factor two figures differ, 1 or more.
static double factor_of(const struct tb_claim *claim, double simulated)
{
	double ratio = simulated / claim->low;
	return ratio > 0 ? fmax(ratio, 1 / ratio) : INFINITY;
}

static bool holds(const struct tb_claim *claim, double simulated)
{
	switch (claim->relation) {
	case TB_RELATION_VALUE:
		return fabs(simulated - claim->low) <=
		       claim->rounding + SLACK * fabs(claim->low);
	case TB_RELATION_BELOW:
		return simulated < claim->high;
	case TB_RELATION_AT_MOST:
		return simulated <= claim->high;
	case TB_RELATION_AT_LEAST:
		return simulated >= claim->low;
	case TB_RELATION_RANGE:
		return simulated >= claim->low && simulated <= claim->high;
	case TB_RELATION_WITHIN:
		return factor_of(claim, simulated) <= claim->bound;
	case TB_RELATION_EVEN:
		return simulated <= claim->bound;
	case TB_RELATION_UNEVEN:
		return simulated >= claim->bound;
	case TB_RELATION_FALLS:
		return simulated < 0;
	case TB_RELATION_GROWS:
		return simulated > 0;
	}
	return false;
}

static bool is_near(const struct tb_claim *claim, double simulated)
{
	bool published = !is_order(claim) && claim->relation != TB_RELATION_EVEN &&
			 claim->relation != TB_RELATION_UNEVEN;
	double figure = nearest_published(claim, simulated);
	if (claim->relation == TB_RELATION_WITHIN)
		return factor_of(claim, simulated) <= claim->bound * claim->bound;
	double within = figure != 0 ? NEAR_SHARE * fabs(figure) : NEAR_NOTHING;
	return published && fabs(simulated - figure) <= within + SLACK * fabs(figure);
}

static enum tb_claim_verdict judge_figure(const struct tb_claim *claim, double simulated)
{
	if (!isfinite(simulated))
		return TB_VERDICT_FAILS;
	if (holds(claim, simulated))
		return TB_VERDICT_HOLDS;
	return is_near(claim, simulated) ? TB_VERDICT_NEAR : TB_VERDICT_FAILS;
}

enum tb_claim_verdict tb_claim_judge(
	const struct tb_claim *claim, const struct tb_estimate *simulated)
{
	double size = fabs(simulated->mean);
	// Whether 0 is in the interval, if there is one.
	if (is_order(claim) &&
		(size <= TIE || (isfinite(simulated->half_ci) &&
					fabs(simulated->mean) <= simulated->half_ci)))
		return TB_VERDICT_TIE;
	return judge_figure(claim, simulated->mean);
}

enum tb_claim_verdict tb_claim_doubt(
	const struct tb_claim *claim, const struct tb_estimate *simulated)
{
	enum tb_claim_verdict verdict = tb_claim_judge(claim, simulated);
	if (is_order(claim) || !isfinite(simulated->half_ci) || simulated->half_ci <= 0)
		return verdict;
	double low = simulated->mean - simulated->half_ci;
	double high = simulated->mean + simulated->half_ci;
	enum tb_claim_verdict below = judge_figure(claim, low);
	enum tb_claim_verdict above = judge_figure(claim, high);
	enum tb_claim_verdict worst = below > above ? below : above;
	if (worst != verdict)
		return worst;
	// A value may lie within the interval while both ends miss it.
	double best = fmin(fmax(nearest_published(claim, simulated->mean), low), high);
	enum tb_claim_verdict there = judge_figure(claim, best);
	enum tb_claim_verdict end = below < above ? below : above;
	return there < end ? there : end;
}

double tb_claim_error(const struct tb_claim *claim, double simulated)
{
	double figure = claim->low;
	if (claim->relation == TB_RELATION_RANGE)
		figure = nearest_published(claim, simulated);
	// Words have no value: it is 0.
	return figure != 0 ? (simulated - figure) / fabs(figure) * 100 : NAN;
}

const char *tb_claim_role_name(enum tb_claim_role role)
{
	static const char *const names[TB_CLAIM_ROLES] = {[TB_CLAIM_FITTED] = "fitted",
		[TB_CLAIM_DERIVED] = "derived",
		[TB_CLAIM_CHOSEN] = "chosen",
		[TB_CLAIM_PREDICTED] = "predicted"};
	return names[role];
}

const char *tb_verdict_name(enum tb_claim_verdict verdict)
{
	static const char *const names[] = {[TB_VERDICT_HOLDS] = "holds",
		[TB_VERDICT_NEAR] = "near",
		[TB_VERDICT_TIE] = "tie",
		[TB_VERDICT_FAILS] = "fails",
		[TB_VERDICT_OUTSIDE] = "outside"};
	return names[verdict];
}

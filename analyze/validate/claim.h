// The figures that papers and measured clusters publish, row by row, and how a simulated
// figure is judged.
//
// A row of schemas/quadrics.csv (a paper's) or schemas/measured.csv (a cluster's, another
// simulator's, or a closed form's): experiment, setting, quantity, relation, value and
// unit are the source's; model, bound, role, its reason and the way of measuring are
// ours. Relations, and when a simulated mean holds:
//
//   =              rounded to the last digit of the published value, it is that value
//   about          the same, but zeros at the end of a whole number are no digits: about
//                  130 is 125 to 135
//   < <= >=        it is on that side of the value; nothing is allowed for
//   +15..+20       it is within the range
//   within         the value over it, or it over the value, is at most the bound
//   even           at most the bound
//   uneven         at least the bound, as is
//   substantial    the same
//   falls          an order: below 0
//   grows          an order: above 0, as are
//   faster         by how many percent what was published as faster is it
//   better         and as better
//
// A figure that does not hold is `near` when it lies within 10 % of the published value
// or of the range's nearer end (of a published 0, within 5 of the row's unit); of
// "within", within the square of its bound; else it fails. A bound on a spread has no
// near. An order is a tie when the 95 % interval reaches
// over 0, or the figure is within 0.5 of it; otherwise it holds or fails.
#ifndef TB_CLAIM_H
#define TB_CLAIM_H

#include "statistics.h"
#include "status.h"

#include <stdbool.h>
#include <stddef.h>

enum tb_relation {
	TB_RELATION_VALUE, // = and about
	TB_RELATION_BELOW,
	TB_RELATION_AT_MOST,
	TB_RELATION_AT_LEAST,
	TB_RELATION_RANGE,
	TB_RELATION_WITHIN,
	TB_RELATION_EVEN,
	TB_RELATION_UNEVEN,
	TB_RELATION_FALLS,
	TB_RELATION_GROWS, // and faster and better
};

// What an agreement proves.
enum tb_claim_role {
	TB_CLAIM_FITTED,    // the row, or one like it, set a parameter
	TB_CLAIM_DERIVED,   // it restates a value of the preset
	TB_CLAIM_CHOSEN,    // between ways to model something, when the row was known
	TB_CLAIM_PREDICTED, // none of these
	TB_CLAIM_ROLES,
};

// From best to worst.
enum tb_claim_verdict {
	TB_VERDICT_HOLDS,
	TB_VERDICT_NEAR,
	TB_VERDICT_TIE,
	TB_VERDICT_FAILS,
	TB_VERDICTS, // of a row that is judged
	TB_VERDICT_OUTSIDE = TB_VERDICTS,
};

struct tb_claim {
	const char *id;
	const char *model;  // as tb_claim_model has it
	const char *source; // a paper's number, or who published it, and its licence
	const char *experiment;
	const char *setting;
	const char *quantity;
	const char *relation_text;
	const char *value_text;
	const char *unit;
	const char *bound_text;
	const char *reason; // of the role
	const char *measured;
	const char *outside; // why the model does not cover this claim; NULL if it does
	enum tb_relation relation;
	enum tb_claim_role role; // of a claim that the model covers
	double low, high;	 // the value; equal unless it is a range
	double rounding;	 // of the value: half a unit of its last digit
	double bound;		 // in the row's unit
};

struct tb_claims {
	struct tb_claim *claims;
	size_t n;
	char *text; // what the strings point into
};

// tb_claims_read reads a table. TB_EFORMAT, with `name` and the line in the error.
int tb_claims_read(struct tb_claims *claims, const char *name, const char *text,
	struct tb_error *error) TB_MUST_USE;
// tb_claims_published reads the built-in tables.
int tb_claims_published(struct tb_claims *claims, struct tb_error *error) TB_MUST_USE;
void tb_claims_fini(struct tb_claims *claims);

// tb_claim_model returns model i that rows belong to, NULL beyond the last.
const char *tb_claim_model(size_t i);

const char *tb_claim_role_name(enum tb_claim_role role);
const char *tb_verdict_name(enum tb_claim_verdict verdict);

// tb_claim_judge judges a simulated figure; one that is not finite fails. `half_ci` may
// be NaN: there is no interval.
enum tb_claim_verdict tb_claim_judge(
	const struct tb_claim *claim, const struct tb_estimate *simulated);

// tb_claim_doubt returns another verdict that a figure within the 95 % interval has, the
// worst if that is worse than the mean's, else the best. Without another one, and without
// an interval, it returns the mean's. An order knows no doubt: its tie is that.
enum tb_claim_verdict tb_claim_doubt(
	const struct tb_claim *claim, const struct tb_estimate *simulated);

// tb_claim_error returns simulated minus published in percent of the published value, for
// a range from its nearer end; NaN where the claim has no value or the value is 0.
double tb_claim_error(const struct tb_claim *claim, double simulated);

#endif

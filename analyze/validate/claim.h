// The figures that the papers publish, row by row, and whether a simulated figure agrees.
//
// A row of schemas/quadrics.csv: experiment, setting, quantity, relation, value and unit
// are the paper's; tolerance and the way of measuring are ours. A tolerance with '%' is
// relative to the value, one without is in the row's unit. Relations:
//
//   =              within the tolerance of the value
//   < <= >=        on that side of the value, or beyond by less than the tolerance
//   +15..+20       within the range, or beyond by less than the tolerance
//   falls          below minus the tolerance
//   grows...       above the tolerance
//   even           at most the tolerance
//   uneven         at least the tolerance
#ifndef TB_CLAIM_H
#define TB_CLAIM_H

#include "status.h"

#include <stdbool.h>
#include <stddef.h>

enum tb_relation {
	TB_RELATION_EQUAL,
	TB_RELATION_BELOW, // < and <=
	TB_RELATION_ABOVE, // >=
	TB_RELATION_RANGE,
	TB_RELATION_FALLS,
	TB_RELATION_GROWS,
	TB_RELATION_EVEN,
	TB_RELATION_UNEVEN,
};

struct tb_claim {
	const char *id;
	const char *paper;
	const char *experiment;
	const char *setting;
	const char *quantity;
	const char *relation_text;
	const char *value_text;
	const char *unit;
	const char *tolerance_text;
	const char *measured;
	const char *outside; // why the model does not cover this claim; NULL if it does
	enum tb_relation relation;
	double low, high; // the value; equal unless it is a range
	double tolerance; // in the row's unit
};

struct tb_claims {
	struct tb_claim *claims;
	size_t n;
	char *text; // what the strings point into
};

// tb_claims_read reads a table. TB_EFORMAT, with `name` and the line in the error.
int tb_claims_read(struct tb_claims *claims, const char *name, const char *text,
	struct tb_error *error) TB_MUST_USE;
// tb_claims_published reads the built-in table, schemas/quadrics.csv.
int tb_claims_published(struct tb_claims *claims, struct tb_error *error) TB_MUST_USE;
void tb_claims_fini(struct tb_claims *claims);

// tb_claim_holds returns whether a simulated figure agrees with the claim; NaN never
// does.
bool tb_claim_holds(const struct tb_claim *claim, double simulated);

// tb_claim_error returns simulated minus published in percent of the published value, for
// a range from its nearer end; NaN where the claim has no value or the value is 0.
double tb_claim_error(const struct tb_claim *claim, double simulated);

#endif

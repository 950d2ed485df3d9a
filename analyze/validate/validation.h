// The papers' experiments against the model: simulates the experiments of each claim and
// compares the figures with those published.
//
// Model: a claim's figure is computed from the outcomes of some experiments with the same
// seed; several seeds give a mean and its 95 % interval (statistics.h). Each experiment
// is simulated once per seed, however many claims use it. Results do not depend on the
// number of workers. claim.h has the rules by which a figure is judged.
#ifndef TB_VALIDATION_H
#define TB_VALIDATION_H

#include "claim.h"
#include "format.h"
#include "network.h"

#include <stdio.h>

struct tb_validated_row {
	const struct tb_claim *claim;
	struct tb_estimate simulated; // NaN when outside the model's scope
	double error_percent;	      // NaN where the claim has no value
	enum tb_verdict verdict;
	enum tb_verdict doubt; // tb_claim_doubt; the verdict when there is none
	char outside[320]; // why it is not judged: it is outside the model, or what it
			   // changes of the network does not go with it; "": it is
};

struct tb_validation {
	struct tb_claims claims;	   // all of the table
	struct tb_validated_row *findings; // the selected claims, in the table's order
	size_t n_findings;
	size_t sums[TB_CLAIM_ROLES][TB_VERDICTS]; // findings of a role and verdict
	size_t n_outside, n_in_doubt;
	const char *network; // as in the options
	unsigned n_seeds;
};

struct tb_validation_options {
	const char *network; // as tb_network_open reads it
	const char *only;    // shell pattern of ids; NULL: all
	unsigned n_seeds;    // at least 2 for an interval
	unsigned n_workers;  // 0: one per core
	// called at least ten times a second; may be NULL
	void (*progress)(void *context, size_t n_done, size_t n_runs);
	void *context;
};

// tb_validation_run simulates the experiments of the selected claims and judges them.
// TB_EUSAGE when `only` matches none or the network is invalid. The options' strings must
// outlive the validation.
int tb_validation_run(struct tb_validation *validation,
	const struct tb_validation_options *options, struct tb_error *error) TB_MUST_USE;
void tb_validation_fini(struct tb_validation *validation);

// tb_validation_count returns how many rows of all roles have a verdict.
size_t tb_validation_count(
	const struct tb_validation *validation, enum tb_verdict verdict);

int tb_validation_write(const struct tb_validation *validation, enum tb_format format,
	FILE *stream, struct tb_error *error) TB_MUST_USE;

#endif

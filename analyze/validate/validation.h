// The papers' experiments against the model: which runs a claim takes, what is read from
// them, and how it is judged.
//
// Model: a claim's figure is a function of one run each of some experiments with the same
// seed; runs of several seeds give a mean and its 95 % interval (statistics.h). Each
// experiment runs once a seed, however many claims read it. Results do not depend on the
// number of workers.
#ifndef TB_VALIDATION_H
#define TB_VALIDATION_H

#include "claim.h"
#include "format.h"
#include "network.h"
#include "statistics.h"

#include <stdio.h>

enum tb_verdict { TB_VERDICT_HOLDS, TB_VERDICT_FAILS, TB_VERDICT_OUTSIDE };

struct tb_finding {
	const struct tb_claim *claim;
	struct tb_estimate simulated; // NaN when outside the model
	double error_percent;	      // NaN where the claim has no value
	enum tb_verdict verdict;
};

struct tb_validation {
	struct tb_claims claims;     // all of the table
	struct tb_finding *findings; // those asked for, in the table's order
	size_t n_findings;
	size_t n_holding, n_failing, n_outside;
	const char *network; // as asked for
	unsigned n_seeds;
};

struct tb_validation_options {
	const char *network; // preset, with overrides
	const char *only;    // pattern of ids as the shell's; NULL: all
	unsigned n_seeds;    // at least 2 for an interval
	unsigned n_workers;  // 0: as many as there are cores
	// receives the progress at least ten times a second; may be NULL
	void (*progress)(void *context, size_t n_done, size_t n_runs);
	void *context;
};

// tb_validation_run runs what the claims asked for take. TB_EUSAGE when `only` matches
// none or the network makes no sense. The options' strings must outlive the validation.
int tb_validation_run(struct tb_validation *validation,
	const struct tb_validation_options *options, struct tb_error *error) TB_MUST_USE;
void tb_validation_fini(struct tb_validation *validation);

int tb_validation_write(const struct tb_validation *validation, enum tb_format format,
	FILE *stream, struct tb_error *error) TB_MUST_USE;

#endif

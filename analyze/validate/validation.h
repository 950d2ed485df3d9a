// Published experiments and measurements against the model: simulates those of each claim
// and compares the figures.
//
// Model: a claim's figure is computed from the outcomes of some experiments with the same
// seed; several seeds give a mean and its 95 % interval (statistics.h). Each experiment
// is simulated once per seed, however many claims use it. Claims about other models than
// qsnet are replayed once, by their recipes (recipe.h). Results do not depend on the
// number of workers. claim.h has the rules by which a figure is judged.
#ifndef TB_VALIDATION_H
#define TB_VALIDATION_H

#include "claim.h"
#include "format.h"
#include "network.h"

#include <signal.h>
#include <stdio.h>

struct tb_validated_row {
	const struct tb_claim *claim;
	struct tb_estimate simulated; // NaN when outside the model's scope
	double error_percent;	      // NaN where the claim has no value
	enum tb_claim_verdict verdict;
	enum tb_claim_verdict doubt; // tb_claim_doubt; the verdict when there is none
	double figure;		     // by its recipe
	bool replayed;		     // the recipe has ended
	char failure[320];	     // why its replay failed; "": it did not
	char outside[320]; // why it is not judged: it is outside the model, or what it
			   // changes of the network does not go with it; "": it is
};

struct tb_validation {
	struct tb_claims claims;	   // all of the table
	struct tb_validated_row *findings; // the selected claims, in the table's order
	size_t n_findings;
	size_t n_outside, n_in_doubt;
	bool stopped;
	size_t n_unmeasured; // rows that are not there, because it was stopped
	size_t n_long;	     // rows that were left out, because they take long
	const char *network; // as in the options
	unsigned n_seeds;
};

struct tb_validation_options {
	const char *network; // as tb_network_open reads it
	const char *only;    // shell pattern of ids; NULL: all
	const char *model;   // whose rows; NULL: of all
	const char *folder;  // with what recipes replay
	bool with_long;
	unsigned n_seeds;		   // at least 2 for an interval
	unsigned n_workers;		   // 0: one per core
	const volatile sig_atomic_t *stop; // may be NULL
	// called at least ten times a second; may be NULL
	void (*progress)(void *context, size_t n_done, size_t n_runs);
	void *context;
};

// tb_validation_run simulates the experiments of the selected claims and judges them;
// once `stop` is set, those that were measured by then. TB_EUSAGE when `only` matches
// none or the network is invalid. The options' strings must outlive the validation.
int tb_validation_run(struct tb_validation *validation,
	const struct tb_validation_options *options, struct tb_error *error) TB_MUST_USE;
void tb_validation_fini(struct tb_validation *validation);

// tb_validation_count returns how many rows of all roles have a verdict.
size_t tb_validation_count(
	const struct tb_validation *validation, enum tb_claim_verdict verdict);

// tb_validation_sum counts the rows of a model (NULL: of all), a role (TB_CLAIM_ROLES:
// all) and a verdict.
size_t tb_validation_sum(const struct tb_validation *validation, const char *model,
	enum tb_claim_role role, enum tb_claim_verdict verdict);

int tb_validation_write(const struct tb_validation *validation, enum tb_format format,
	FILE *stream, struct tb_error *error) TB_MUST_USE;

#endif

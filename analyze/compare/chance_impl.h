// The figures of the pairs of runs. Private to analyze/compare/.
#ifndef TB_CHANCE_IMPL_H
#define TB_CHANCE_IMPL_H

#include "chance.h"

#include "flow_table.h"

// Those of figure i and pair k are at [i * n_pairs + k], [0] of A and [1] of B.
struct tb_chance_figures {
	size_t n_pairs;
	size_t n[TB_CHANCE_KINDS];
	double *of[TB_CHANCE_KINDS][2];
	struct tb_flow_table flows;    // of the first run
	uint32_t *n_seen;	       // by flow: runs in which it has messages
	uint32_t *at[TB_CHANCE_KINDS]; // which are tested; NULL: all
};

// tb_chance_read reads them. Errors as of tb_chance_gather.
int tb_chance_read(struct tb_chance_figures *figures, const struct tb_compare *compare,
	const struct tb_seeds seeds[2], struct tb_error *error) TB_MUST_USE;
void tb_chance_figures_fini(struct tb_chance_figures *figures);

#endif

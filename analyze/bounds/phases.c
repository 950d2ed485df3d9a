#include "bounds_impl.h"
#include "during.h"

#include <stdlib.h>

static bool is_quiet(const struct tb_bin_total *total)
{
	return total->busy_ps == 0 && total->stall_ps == 0 && total->wait_ps == 0;
}

// join_closest makes one of the two phases with the least between them, of equal ones the
// first.
static void join_closest(struct tb_window *phases, uint32_t n)
{
	uint32_t closest = 1;
	for (uint32_t i = 2; i < n; i++)
		if (phases[i].first_bin - phases[i - 1].end_bin <
			phases[closest].first_bin - phases[closest - 1].end_bin)
			closest = i;
	phases[closest - 1].end_bin = phases[closest].end_bin;
	for (uint32_t i = closest + 1; i < n; i++)
		phases[i - 1] = phases[i];
}

int tb_phases_find(struct tb_window phases[TB_PHASES_MOST], uint32_t *n,
	struct tb_run *run, struct tb_error *error)
{
	uint64_t n_bins = tb_run_info(run)->n_bins;
	struct tb_bin_total *totals = calloc(n_bins + 1, sizeof *totals);
	struct tb_window found[TB_PHASES_MOST + 1];
	int status = totals ? tb_bin_totals(run, totals, error)
			    : tb_fail_memory(error, "the phases");
	*n = 0;
	for (uint64_t bin = 0; !status && bin < n_bins; bin++) {
		if (is_quiet(&totals[bin]))
			continue;
		if (*n && found[*n - 1].end_bin == bin)
			found[*n - 1].end_bin++;
		else
			found[(*n)++] = (struct tb_window){bin, bin + 1};
		if (*n > TB_PHASES_MOST)
			join_closest(found, (*n)--);
	}
	for (uint32_t i = 0; i < *n; i++)
		phases[i] = found[i];
	free(totals);
	return status;
}

// What was tried, in the run's store, so that findings and viewer tell it.
#include "advice_impl.h"
#include "store_added.h"

#include <math.h>

#define PPM_PERCENT 1e4

static int64_t ppm_of(double percent)
{
	return isfinite(percent) ? llround(percent * PPM_PERCENT) : -1;
}

int tb_advice_keep(
	const struct tb_advice *advice, const char *store, struct tb_error *error)
{
	struct tb_tried_row *rows = calloc(advice->n, sizeof *rows);
	size_t n = 0;
	if (!rows)
		return tb_fail_memory(error, "what was tried");
	for (size_t i = 1; i < advice->n; i++) {
		const struct tb_change *change = &advice->changes[i];
		const struct tb_estimate *gain = tb_advice_deciding(advice, change);
		if (change->verdict < TB_VERDICT_FAILED)
			rows[n++] = (struct tb_tried_row){
				.command = change->proposal ? change->proposal
							    : change->command,
				.title = change->title,
				.verdict = tb_verdict_words[change->verdict],
				.of = tb_advice_decides(advice),
				.job = advice->job,
				.n_seeds = change->n_seeds,
				.needs_hardware = change->needs_hardware,
				.gain_ppm = ppm_of(gain->mean),
				.half_ppm = ppm_of(gain->half_ci)};
	}
	int status =
		n ? tb_store_put_tried(store, advice->info->id, rows, n, error) : TB_OK;
	free(rows);
	return status;
}

#include "agreement.h"

#include "movers.h"
#include "rank_correlation.h"

#include <math.h>
#include <stdlib.h>

void tb_agreement_fini(struct tb_agreement *agreement)
{
	free(agreement->rows);
	*agreement = (struct tb_agreement){0};
}

static double agreement_percent(double part, double whole)
{
	return whole > 0 ? 100 * part / whole : 0;
}

// The links of both runs, of which the first was measured.
struct counted_pair {
	struct tb_link_pairs pairs;
	const struct tb_run_link *links;
};

static bool is_pair_left_out(
	const struct counted_pair *pairing, const struct tb_link_pair *pair)
{
	return pair->a.id != TB_ID_NONE &&
	       tb_run_unmeasured_all(pairing->links[pair->a.id].known);
}

// has_figure is whether the counters of a link that the measured run has tell a figure.
static bool has_figure(const struct counted_pair *pairing,
	const struct tb_link_pair *pair, enum tb_metric metric)
{
	return pair->a.id == TB_ID_NONE ||
	       tb_known_of(pairing->links[pair->a.id].known, metric) <= TB_AT_LEAST;
}

static bool is_of_both(const struct tb_link_pair *pair)
{
	return pair->a.id != TB_ID_NONE && pair->b.id != TB_ID_NONE;
}

static bool has(const struct tb_agreement_row *row, bool of_bytes)
{
	return of_bytes ? row->has_bytes : row->has_stall;
}

// rank_figure ranks one figure of both runs and returns its rank correlation in `rho`.
static int rank_figure(
	struct tb_agreement *agreement, bool of_bytes, uint32_t *n_ranked, double *rho)
{
	size_t n = 0;
	for (size_t i = 0; i < agreement->n; i++)
		n += has(&agreement->rows[i], of_bytes);
	*n_ranked = (uint32_t)n;
	double *values = calloc(3 * n + 1, sizeof *values);
	int status = values ? TB_OK : TB_ENOMEM;
	for (int side = 0; !status && side < 2; side++) {
		double *ranks = values + n + (size_t)side * n;
		size_t at = 0;
		for (size_t i = 0; i < agreement->n; i++)
			if (has(&agreement->rows[i], of_bytes))
				values[at++] = of_bytes ? agreement->rows[i].bytes[side]
							: agreement->rows[i].stall[side];
		status = tb_value_ranks(values, n, ranks);
		at = 0;
		for (size_t i = 0; !status && i < agreement->n; i++) {
			struct tb_agreement_row *row = &agreement->rows[i];
			if (has(row, of_bytes))
				*(of_bytes ? &row->bytes_rank[side]
					   : &row->stall_rank[side]) = ranks[at++];
		}
	}
	if (!status)
		*rho = tb_rank_correlation(values + n, values + 2 * n, n);
	free(values);
	return status;
}

static int by_difference(const void *one, const void *other)
{
	const struct tb_agreement_row *a = one, *b = other;
	double more = fabs(a->differs) - fabs(b->differs);
	if (more > 0 || more < 0)
		return more > 0 ? -1 : 1;
	return (a->link.id > b->link.id) - (a->link.id < b->link.id);
}

static int pair_links(struct tb_agreement *agreement, struct counted_pair *pairing,
	struct tb_error *error)
{
	struct tb_link_pairs *pairs = &pairing->pairs;
	int status =
		tb_link_pairs_init(pairs, agreement->runs[0], agreement->runs[1], error);
	pairing->links = tb_run_links(agreement->runs[0]);
	for (uint32_t i = 0; !status && i < pairs->n; i++)
		agreement->n_unmeasured += is_of_both(&pairs->pairs[i]) &&
					   is_pair_left_out(pairing, &pairs->pairs[i]);
	agreement->n = pairs->n_both - agreement->n_unmeasured;
	agreement->n_only[0] = pairs->n_only_a;
	agreement->n_only[1] = pairs->n_only_b;
	if (!status && pairs->n_both == 0)
		return tb_fail(error, TB_EUSAGE,
			"the two runs have no link in common: they are of other fabrics");
	if (!status && agreement->n == 0)
		return tb_fail(error, TB_EUSAGE,
			"no link that the two runs have in common was measured");
	return status;
}

static int fill_agreement_rows(struct tb_agreement *agreement, struct tb_error *error)
{
	struct counted_pair pairing = {0};
	int status = pair_links(agreement, &pairing, error);
	agreement->rows = calloc(agreement->n + 1u, sizeof *agreement->rows);
	if (!status && !agreement->rows)
		status = tb_fail_memory(error, "a comparison");
	for (int side = 0; !status && side < 2; side++) {
		// Set the figures of one run.
		const struct tb_link_sample *samples;
		double all = 0, stall = 0,
		       time = (double)tb_run_info(agreement->runs[side])->simulated_ps;
		uint32_t n = 0;
		status = tb_run_look(
			agreement->runs[side], (struct tb_window){0, 0}, &samples, error);
		for (uint32_t i = 0; !status && i < pairing.pairs.n; i++) {
			const struct tb_link_pair *pair = &pairing.pairs.pairs[i];
			uint32_t link = side ? pair->b.id : pair->a.id;
			if (link == TB_ID_NONE || is_pair_left_out(&pairing, pair))
				continue;
			if (has_figure(&pairing, pair, TB_BYTES))
				all += (double)samples[link].bytes;
			if (has_figure(&pairing, pair, TB_STALL))
				stall += (double)samples[link].stall_ps;
		}
		for (uint32_t i = 0; !status && i < pairing.pairs.n; i++) {
			const struct tb_link_pair *pair = &pairing.pairs.pairs[i];
			struct tb_agreement_row *row = &agreement->rows[n];
			uint32_t link = side ? pair->b.id : pair->a.id;
			if (!is_of_both(pair) || is_pair_left_out(&pairing, pair))
				continue;
			n++;
			row->link = pair->a;
			row->has_stall = has_figure(&pairing, pair, TB_STALL);
			row->has_bytes = has_figure(&pairing, pair, TB_BYTES);
			row->stall[side] =
				agreement_percent((double)samples[link].stall_ps, stall);
			row->held[side] =
				agreement_percent((double)samples[link].stall_ps, time);
			row->bytes[side] =
				agreement_percent((double)samples[link].bytes, all);
		}
	}
	tb_link_pairs_fini(&pairing.pairs);
	return status;
}

static int check_counted_run(const struct tb_agreement *agreement, struct tb_error *error)
{
	for (int side = 0; side < 2; side++) {
		const struct tb_run_info *info = tb_run_info(agreement->runs[side]);
		if (tb_run_is_measured(info) != (side == 0))
			return tb_fail_in(error, TB_EUSAGE, agreement->names[side],
				"run %lld was %s: a run of counters is put beside a "
				"replay",
				(long long)info->id,
				side ? "measured" : "simulated, not measured");
	}
	return TB_OK;
}

int tb_agreement_init(struct tb_agreement *agreement, struct tb_run *measured,
	struct tb_run *simulated, const char *const names[2], struct tb_error *error)
{
	struct tb_agreement made = {
		.runs = {measured, simulated}, .names = {names[0], names[1]}};
	int status = check_counted_run(&made, error);
	if (!status)
		status = fill_agreement_rows(&made, error);
	if (!status && (rank_figure(&made, false, &made.n_stall, &made.stall) ||
			       rank_figure(&made, true, &made.n_bytes, &made.bytes)))
		status = tb_fail_memory(error, "a comparison");
	if (status) {
		tb_agreement_fini(&made);
		return status;
	}
	for (uint32_t i = 0; i < made.n; i++)
		if (made.rows[i].has_stall)
			made.rows[i].differs =
				made.rows[i].stall[1] - made.rows[i].stall[0];
	qsort(made.rows, made.n, sizeof *made.rows, by_difference);
	*agreement = made;
	return TB_OK;
}

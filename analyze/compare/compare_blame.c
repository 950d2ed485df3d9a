// What changed in blame: which links are the roots of how much wait, and which job makes
// which wait. Sums of both runs, so a change is exact.
#include "compare_impl.h"
#include "roots.h"
#include "select.h"

#include <stdlib.h>
#include <string.h>

// tb_compare_read_roots makes samples whose wait is that for a link as a root, so that
// roots are paired as links are.
int tb_compare_read_roots(
	struct tb_run *run, struct tb_link_sample **samples, struct tb_error *error)
{
	struct tb_roots roots = {0};
	uint32_t n_links = tb_run_info(run)->n_links;
	*samples = calloc((size_t)n_links + 1, sizeof **samples);
	if (!*samples)
		return tb_fail_memory(error, "a comparison");
	int status = tb_roots_init(&roots, run, (struct tb_span){0, 0}, 0, error);
	for (uint32_t i = 0; i < n_links; i++)
		(*samples)[i].link.id = i;
	for (uint32_t i = 0; i < roots.listed.n; i++) {
		struct tb_link_sample *sample = &(*samples)[roots.rows[i].root.id];
		sample->wait_ps = roots.rows[i].wait_ps;
		sample->n_packets = roots.rows[i].n_waits;
	}
	tb_roots_fini(&roots);
	return status;
}

static uint64_t job_pair_mover_change(const struct tb_job_pair_mover *pair)
{
	int64_t change_ps = pair->of[1].wait_ps - pair->of[0].wait_ps;
	return (uint64_t)(change_ps < 0 ? -change_ps : change_ps);
}

static int order_job_pair_movers(const void *left, const void *right)
{
	const struct tb_job_pair_mover *a = left, *b = right;
	if (job_pair_mover_change(a) != job_pair_mover_change(b))
		return job_pair_mover_change(a) > job_pair_mover_change(b) ? -1 : 1;
	int order = strcmp(a->victim, b->victim);
	return order ? order : strcmp(a->culprit, b->culprit);
}

// mover_of finds the pair of these names among the `n` first, or adds it.
static struct tb_job_pair_mover *mover_of(struct tb_job_pair_mover *movers, uint32_t *n,
	const char *victim, const char *culprit)
{
	for (uint32_t i = 0; i < *n; i++)
		if (strcmp(movers[i].victim, victim) == 0 &&
			strcmp(movers[i].culprit, culprit) == 0)
			return &movers[i];
	movers[*n] = (struct tb_job_pair_mover){victim, culprit, {{0}, {0}}};
	return &movers[(*n)++];
}

// match_pairs keeps the pairs that changed; it returns how many.
static uint32_t match_pairs(const struct tb_compare *compare,
	const struct tb_job_pairs pairs[2], struct tb_job_pair_mover *movers)
{
	uint32_t n = 0, n_moved = 0;
	for (int which = 0; which < 2; which++)
		for (uint32_t i = 0; i < pairs[which].listed.n; i++) {
			const struct tb_job_pair *pair = &pairs[which].rows[i];
			const struct tb_run *run = compare->runs[which].run;
			struct tb_job_pair_mover *mover = mover_of(movers, &n,
				tb_run_job_name(run, pair->victim_job),
				tb_run_job_name(run, pair->culprit_job));
			mover->of[which].wait_ps += (int64_t)pair->wait_ps;
			mover->of[which].waits += (int64_t)pair->n_waits;
		}
	for (uint32_t i = 0; i < n; i++)
		if (movers[i].of[0].wait_ps != movers[i].of[1].wait_ps)
			movers[n_moved++] = movers[i];
	return n_moved;
}

static int gather_job_pairs(
	struct tb_compare *compare, uint32_t top, struct tb_error *error)
{
	struct tb_job_pairs pairs[2] = {{0}, {0}};
	int status = TB_OK;
	if (compare->info[0]->n_jobs < 2 && compare->info[1]->n_jobs < 2)
		return TB_OK;
	for (int i = 0; !status && i < 2; i++)
		status = tb_job_pairs_init(&pairs[i], compare->runs[i].run,
			(struct tb_span){0, 0}, 0, error);
	size_t room = (size_t)pairs[0].listed.n + pairs[1].listed.n + 1;
	if (!status && !(compare->job_pairs = calloc(room, sizeof *compare->job_pairs)))
		status = tb_fail_memory(error, "a comparison");
	if (!status) {
		uint32_t n = match_pairs(compare, pairs, compare->job_pairs);
		compare->n_job_pairs_moved = n;
		compare->n_job_pairs = top && top < n ? top : n;
		tb_select_first(compare->job_pairs, n, sizeof *compare->job_pairs,
			compare->n_job_pairs, order_job_pair_movers);
	}
	tb_job_pairs_fini(&pairs[0]);
	tb_job_pairs_fini(&pairs[1]);
	return status;
}

int tb_compare_gather_blame(
	struct tb_compare *compare, uint32_t top, struct tb_error *error)
{
	struct tb_link_sample *samples[2] = {NULL, NULL};
	int status = TB_OK;
	for (int i = 0; !status && i < 2; i++)
		status = tb_compare_read_roots(compare->runs[i].run, &samples[i], error);
	for (int i = 0; !status && i < 2; i++)
		for (uint32_t k = 0; k < compare->info[i]->n_links; k++) {
			uint32_t group = tb_compare_group_of(compare->runs[i].run, k);
			if (group < TB_COMPARE_GROUPS)
				compare->outcome[i].groups[group].root_ps +=
					(double)samples[i][k].wait_ps;
		}
	if (!status)
		status = tb_movers(&compare->pairs, samples[0], samples[1], TB_WAIT, top,
			&compare->roots, &compare->n_roots, &compare->n_roots_moved,
			error);
	if (!status) {
		compare->root_waits =
			calloc((size_t)compare->n_roots + 1, sizeof *compare->root_waits);
		if (!compare->root_waits)
			status = tb_fail_memory(error, "a comparison");
	}
	for (uint32_t i = 0; !status && i < compare->n_roots; i++) {
		const struct tb_link at[2] = {
			compare->roots[i].pair.a, compare->roots[i].pair.b};
		for (int side = 0; side < 2; side++)
			if (at[side].id != TB_ID_NONE)
				compare->root_waits[i][side] = (struct tb_listed_wait){
					.wait_ps = (int64_t)samples[side][at[side].id]
							   .wait_ps,
					.waits = (int64_t)samples[side][at[side].id]
							 .n_packets};
	}
	free(samples[0]);
	free(samples[1]);
	return status ? status : gather_job_pairs(compare, top, error);
}

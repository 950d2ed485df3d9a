// Roots, the nodes at which they end, and which job waits for which.
#include "findings_impl.h"
#include "job_waits.h"
#include "jobs.h"
#include "roots.h"
#include "trees.h"

#include <math.h>
#include <stdlib.h>

static int gather_blame_sums(struct tb_evidence *evidence, struct tb_error *error)
{
	const struct tb_span whole = {0, 0};
	struct tb_roots roots = {0};
	struct tb_job_pairs pairs = {0};
	int status = tb_roots_init(&roots, evidence->run, whole, 0, error);
	if (!status)
		status = tb_job_pairs_init(&pairs, evidence->run, whole, 0, error);
	evidence->roots = calloc(roots.listed.n + 1u, sizeof *evidence->roots);
	evidence->pairs = calloc(pairs.listed.n + 1u, sizeof *evidence->pairs);
	if (!status && (!evidence->roots || !evidence->pairs))
		status = tb_fail_memory(error, "the findings");
	for (uint32_t i = 0; !status && i < roots.listed.n; i++)
		evidence->roots[evidence->n_roots++] = (struct tb_evidence_root){
			roots.rows[i].root, roots.rows[i].wait_ps};
	for (uint32_t i = 0; !status && i < pairs.listed.n; i++)
		evidence->pairs[evidence->n_pairs++] =
			(struct tb_evidence_pair){pairs.rows[i].victim_job,
				pairs.rows[i].culprit_job, pairs.rows[i].wait_ps};
	tb_job_pairs_fini(&pairs);
	tb_roots_fini(&roots);
	return status;
}

bool tb_evidence_jobs_meet(const struct tb_evidence *evidence)
{
	for (uint32_t i = 0; i < evidence->n_pairs; i++)
		if (evidence->pairs[i].victim != evidence->pairs[i].culprit)
			return true;
	return evidence->n_pairs == 0 && evidence->wait_ps > 0;
}

// share_of sets which part of the wait in its windows a root has.
static void share_of(struct tb_evidence_end *end, const struct tb_wait_windows *windows,
	const uint64_t *waits, const uint64_t *all_waits)
{
	double of_end = 0, of_all = 0;
	for (uint32_t i = 0; i < windows->n; i++)
		for (uint64_t bin = windows->at[i].first_bin;
			bin < windows->at[i].end_bin; bin++) {
			of_end += (double)waits[bin];
			of_all += (double)all_waits[bin];
		}
	end->window_percent = of_all > 0 ? 100 * of_end / of_all : 0;
}

// time_end finds when the root of an end was one, who sent to it then, and what the link
// did.
static int time_end(struct tb_evidence *evidence, const struct tb_trees *trees,
	const uint64_t *all_waits, struct tb_evidence_end *end, struct tb_error *error)
{
	uint64_t waits[TB_TREES_SLICES] = {0};
	struct tb_wait_windows windows;
	struct tb_span spans[TB_WAIT_WINDOWS_MOST];
	const uint32_t *rows = &trees->root_first[end->link.id];
	for (uint32_t i = rows[0]; i < rows[1]; i++)
		waits[trees->roots[i].bin] += trees->roots[i].wait_ps;
	if (tb_wait_windows_above(&windows, waits, trees->n_bins, TB_EVIDENCE_QUIET))
		return tb_fail_memory(error, "the findings");
	share_of(end, &windows, waits, all_waits);
	for (uint32_t i = 0; i < windows.n; i++)
		spans[i] = tb_trees_span(trees, (uint32_t)windows.at[i].first_bin,
			(uint32_t)windows.at[i].end_bin);
	int status = tb_queue_times_find(
		&end->queue, evidence->run, end->link, spans, windows.n, error);
	if (!status && end->queue.span_ps > 0) {
		double span_ps = (double)end->queue.span_ps;
		end->busy_percent = 100 * (double)end->queue.busy_ps / span_ps;
		end->stall_percent = 100 * (double)end->queue.stall_ps / span_ps;
	}
	return status;
}

// count_ends finds how few nodes' links are the roots of half of the wait.
static void count_ends(struct tb_evidence *evidence)
{
	const struct tb_run_link *links = tb_run_links(evidence->run);
	double held = 0;
	uint32_t n = 0;
	for (uint32_t i = 0; i < evidence->n_roots && held * 2 < evidence->wait_ps; i++) {
		if (links[evidence->roots[i].link.id].at.kind != TB_LINK_EJECTION)
			continue;
		held += (double)evidence->roots[i].wait_ps;
		n++;
	}
	if (n > 0 && held * 2 >= evidence->wait_ps) {
		evidence->n_half_ends = n;
		evidence->half_ends_percent = 100 * held / evidence->wait_ps;
	}
}

static int gather_ends(struct tb_evidence *evidence, struct tb_error *error)
{
	struct tb_trees trees = {0};
	uint64_t waits[TB_TREES_SLICES] = {0};
	int status = tb_trees_init(&trees, evidence->run, error);
	const struct tb_run_link *links = tb_run_links(evidence->run);
	count_ends(evidence);
	for (uint32_t i = 0; !status && i < trees.n_roots; i++)
		waits[trees.roots[i].bin] += trees.roots[i].wait_ps;
	for (uint32_t i = 0; !status && i < evidence->n_roots && trees.bin_ps > 0 &&
			     evidence->info->bin_ps > 0;
		i++) {
		const struct tb_evidence_root *root = &evidence->roots[i];
		if (links[root->link.id].at.kind != TB_LINK_EJECTION)
			continue;
		double percent = 100 * (double)root->wait_ps / evidence->wait_ps;
		if (evidence->n_ends == TB_EVIDENCE_ENDS ||
			(evidence->n_ends >= TB_EVIDENCE_NAMED &&
				percent < TB_EVIDENCE_PART))
			break;
		struct tb_evidence_end *end = &evidence->ends[evidence->n_ends++];
		end->link = root->link;
		end->node.id = links[root->link.id].at.to;
		end->percent = percent;
		status = time_end(evidence, &trees, waits, end, error);
	}
	tb_trees_fini(&trees);
	return status;
}

const struct tb_evidence_pair *tb_evidence_worst_pair(const struct tb_evidence *evidence)
{
	for (uint32_t i = 0; i < evidence->n_pairs; i++)
		if (evidence->pairs[i].victim != evidence->pairs[i].culprit &&
			evidence->pairs[i].wait_ps > 0)
			return &evidence->pairs[i];
	return NULL;
}

int tb_evidence_blame(struct tb_evidence *evidence, struct tb_error *error)
{
	int status = gather_blame_sums(evidence, error);
	const struct tb_evidence_pair *worst = tb_evidence_worst_pair(evidence);
	if (!status && worst)
		status = tb_shared_leaves(evidence->run, worst->victim, worst->culprit,
			&evidence->worst_pair_leaves, error);
	return status ? status : gather_ends(evidence, error);
}

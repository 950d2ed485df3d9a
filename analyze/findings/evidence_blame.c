// Roots, the nodes at which they end, and which job waits for which.
#include "blame.h"
#include "evidence_impl.h"
#include "shared_leaves.h"
#include "trees.h"

#include <math.h>
#include <stdlib.h>

static int no_memory(struct tb_error *error)
{
	return tb_fail(error, TB_ENOMEM, "no memory for the findings");
}

// Of a large run the store keeps the first ones apart.
#define MOST_ROOTS 100

static int gather_sums(struct tb_evidence *evidence, struct tb_error *error)
{
	struct tb_blame_lists lists = {0};
	int status = tb_blame_lists_init(&lists, evidence->run, MOST_ROOTS, error);
	const struct tb_blame_listed *roots = &lists.of[TB_BLAME_ROOTS];
	const struct tb_blame_listed *jobs = &lists.of[TB_BLAME_JOBS];
	evidence->roots = calloc(roots->n + 1u, sizeof *evidence->roots);
	evidence->pairs = calloc(jobs->n + 1u, sizeof *evidence->pairs);
	if (!status && (!evidence->roots || !evidence->pairs))
		status = no_memory(error);
	for (uint32_t i = 0; !status && i < roots->n; i++)
		evidence->roots[evidence->n_roots++] = (struct tb_evidence_root){
			roots->sums[i].at.root, roots->sums[i].at.wait_ps};
	for (uint32_t i = 0; !status && i < jobs->n; i++)
		if (jobs->sums[i].at.victim_job != TB_ID_NONE &&
			jobs->sums[i].at.culprit_job != TB_ID_NONE)
			evidence->pairs[evidence->n_pairs++] = (struct tb_evidence_pair){
				jobs->sums[i].at.victim_job, jobs->sums[i].at.culprit_job,
				jobs->sums[i].at.wait_ps};
	tb_blame_lists_fini(&lists);
	return status;
}

// A replay keeps no more slices.
#define MOST_SLICES 128

// trim sets begin and end to the first and last slices that are not quiet.
static void trim(const struct tb_trees *trees, struct tb_evidence_end *end)
{
	double wait[MOST_SLICES] = {0}, worst = 0;
	for (uint32_t i = 0; i < trees->n; i++) {
		uint32_t slice = trees->rows[i].bin;
		if (trees->rows[i].root.id != end->link.id || slice >= MOST_SLICES)
			continue;
		wait[slice] += (double)trees->rows[i].wait_ps;
		worst = fmax(worst, wait[slice]);
	}
	uint32_t first = 0, last = MOST_SLICES;
	while (first < last && wait[first] * 100 < worst * TB_EVIDENCE_QUIET)
		first++;
	while (last > first && wait[last - 1] * 100 < worst * TB_EVIDENCE_QUIET)
		last--;
	end->begin_ps = first * trees->bin_ps;
	end->end_ps = last * trees->bin_ps;
}

static struct tb_window bins_of(
	const struct tb_run_info *info, tb_time_ps from_ps, tb_time_ps to_ps)
{
	uint64_t bin_ps = (uint64_t)info->bin_ps;
	uint64_t end = ((uint64_t)to_ps + bin_ps - 1) / bin_ps;
	return (struct tb_window){(uint64_t)from_ps / bin_ps, end ? end : 1};
}

// time_end finds when the root of an end was one, who sent to it then, and how busy the
// link was.
static int time_end(struct tb_evidence *evidence, const struct tb_trees *trees,
	struct tb_evidence_end *end, struct tb_error *error)
{
	const struct tb_run_info *info = evidence->info;
	struct tb_bin_total total = {0};
	trim(trees, end);
	if (end->end_ps > info->simulated_ps)
		end->end_ps = info->simulated_ps;
	int status = tb_senders_to(evidence->run, end->node, end->begin_ps, end->end_ps,
		&end->senders, error);
	if (status)
		return status;
	if (end->begin_ps < end->senders.first_ps)
		end->begin_ps = end->senders.first_ps;
	if (end->senders.last_ps > 0 && end->end_ps > end->senders.last_ps)
		end->end_ps = end->senders.last_ps;
	if (end->end_ps <= end->begin_ps || info->bin_ps <= 0)
		return TB_OK;
	status = tb_link_during(evidence->run, end->link,
		bins_of(info, end->begin_ps, end->end_ps), &total, error);
	end->busy_percent = fmin(
		100, 100 * (double)total.busy_ps / (double)(end->end_ps - end->begin_ps));
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
	int status = tb_trees_init(&trees, evidence->run, error);
	const struct tb_run_link *links = tb_run_links(evidence->run);
	count_ends(evidence);
	for (uint32_t i = 0; !status && i < evidence->n_roots &&
			     evidence->n_ends < TB_EVIDENCE_NAMED && trees.bin_ps > 0;
		i++) {
		const struct tb_evidence_root *root = &evidence->roots[i];
		if (links[root->link.id].at.kind != TB_LINK_EJECTION)
			continue;
		struct tb_evidence_end *end = &evidence->ends[evidence->n_ends++];
		end->link = root->link;
		end->node.id = links[root->link.id].at.to;
		end->percent = 100 * (double)root->wait_ps / evidence->wait_ps;
		status = time_end(evidence, &trees, end, error);
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
	int status = gather_sums(evidence, error);
	const struct tb_evidence_pair *worst = tb_evidence_worst_pair(evidence);
	if (!status && worst)
		status = tb_shared_leaves(evidence->run, worst->victim, worst->culprit,
			&evidence->worst_pair_leaves, error);
	return status ? status : gather_ends(evidence, error);
}

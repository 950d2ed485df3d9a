// Roots, the nodes at which they end, and which job waits for which.
#include "circuit_params.h"
#include "credit_params.h"
#include "findings_impl.h"
#include "flow_table.h"
#include "heavy_waits.h"
#include "job_waits.h"
#include "jobs.h"
#include "order.h"
#include "paths.h"
#include "pressed.h"
#include "roots.h"
#include "trees.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

bool tb_evidence_keeps_hosts(const struct tb_evidence *evidence, uint32_t job)
{
	const struct tb_job_figures *at = &evidence->jobs.jobs[job];
	return evidence->info->network.host.local == TB_LOCAL_LINKS &&
	       at->n_ranks > at->n_nodes;
}

// jobs_share_nodes returns whether ranks of two jobs are on one node.
static bool jobs_share_nodes(const struct tb_evidence *evidence)
{
	bool any = false;
	// By node: 0, or 1 + the job that was seen there.
	uint32_t *seen = calloc(evidence->info->n_nodes + UINT64_C(1), sizeof *seen);
	for (size_t i = 0; seen && i < evidence->loads.n; i++) {
		const struct tb_rank_load *load = &evidence->loads.loads[i];
		if (load->node.id >= evidence->info->n_nodes)
			continue;
		any |= seen[load->node.id] && seen[load->node.id] != 1 + load->job;
		seen[load->node.id] = 1 + load->job;
	}
	free(seen);
	return any;
}

bool tb_evidence_jobs_meet(const struct tb_evidence *evidence)
{
	for (uint32_t i = 0; i < evidence->n_pairs; i++)
		if (evidence->pairs[i].victim != evidence->pairs[i].culprit)
			return true;
	if (jobs_share_nodes(evidence))
		return true;
	return evidence->n_pairs == 0 && evidence->wait_ps > 0;
}

// time_end finds when the root of an end was one, who sent to it then, and what the link
// did.
static int time_end(struct tb_evidence *evidence, const struct tb_trees *trees,
	const uint64_t *all_waits, struct tb_evidence_end *end, struct tb_error *error)
{
	uint64_t waits[TB_TREES_SLICES] = {0};
	struct tb_wait_windows windows;
	struct tb_span spans[TB_WAIT_WINDOWS_MOST];
	for (uint32_t i = 0; i < trees->n_roots; i++)
		if (evidence->root_of[trees->roots[i].root.id].id == end->link.id)
			waits[trees->roots[i].bin] += trees->roots[i].wait_ps;
	if (tb_wait_windows_above(&windows, waits, trees->n_bins, TB_EVIDENCE_QUIET))
		return tb_fail_memory(error, "the findings");
	// Set which part of the wait in its windows a root has.
	double of_end = 0, of_all = 0;
	for (uint32_t i = 0; i < windows.n; i++)
		for (uint64_t bin = windows.at[i].first_bin; bin < windows.at[i].end_bin;
			bin++) {
			of_end += (double)waits[bin];
			of_all += (double)all_waits[bin];
		}
	end->window_percent = of_all > 0 ? 100 * of_end / of_all : 0;
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

// find_received finds whether the node of an end receives more than others.
static int find_received(
	struct tb_evidence *evidence, struct tb_evidence_end *end, struct tb_error *error)
{
	const struct tb_run_link *links = tb_run_links(evidence->run);
	const struct tb_link_sample *samples;
	double all = 0, own = 0, n = 0, n_own = 0; // bytes, and links to nodes
	int status =
		tb_run_look(evidence->run, (struct tb_window){0, 0}, &samples, error);
	for (uint32_t i = 0; !status && i < evidence->info->n_links; i++) {
		if (links[i].at.kind != TB_LINK_EJECTION || samples[i].n_packets == 0)
			continue;
		bool is_own = links[i].at.to == end->node.id;
		all += (double)samples[i].bytes;
		own += is_own ? (double)samples[i].bytes : 0;
		n++;
		n_own += is_own;
	}
	end->receives_more = own * fmax(evidence->n_senders, n) >
			     TB_FINDING_CARRIES_MORE * all * n_own;
	return status;
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
		uint32_t k = 0;
		while (k < evidence->n_ends &&
			evidence->ends[k].node.id != links[root->link.id].at.to)
			k++;
		if (k < evidence->n_ends) {
			evidence->ends[k].percent += percent;
			evidence->ends[k].n_links++;
			while (k > 0 && evidence->ends[k - 1].percent <
						evidence->ends[k].percent) {
				const struct tb_evidence_end more = evidence->ends[k];
				evidence->ends[k] = evidence->ends[k - 1];
				evidence->ends[--k] = more;
			}
			continue;
		}
		if (evidence->n_ends == TB_EVIDENCE_ENDS ||
			(evidence->n_ends >= TB_EVIDENCE_NAMED &&
				percent < TB_EVIDENCE_PART))
			break;
		struct tb_evidence_end *end = &evidence->ends[evidence->n_ends++];
		end->link = root->link;
		end->node.id = links[root->link.id].at.to;
		end->percent = percent;
		end->n_links = 1;
		end->before = root->before;
		status = time_end(evidence, &trees, waits, end, error);
		if (!status)
			status = find_received(evidence, end, error);
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

// The only node to which packets went that others waited for at a link.
struct only_end {
	uint32_t node; // TB_ID_NONE: several, or none is known
	double wait_ps;
};

// find_only_ends finds it for each link; the waits are the heaviest.
static void find_only_ends(const struct tb_evidence *evidence, struct only_end *ends)
{
	const struct tb_critical_path *path = &evidence->path;
	for (size_t i = 0; i < path->n_waits; i++) {
		if (path->places[i].link.id == TB_ID_NONE)
			continue;
		struct only_end *at = &ends[path->places[i].link.id];
		uint32_t node = path->waits[i].culprit_destination.id;
		at->node = at->wait_ps == 0 || at->node == node ? node : TB_ID_NONE;
		at->wait_ps += (double)path->waits[i].wait_ps;
	}
}

// find_root_of sets for which link each counts as a root.
static int find_root_of(struct tb_evidence *evidence, struct tb_error *error)
{
	const struct tb_run_link *links = tb_run_links(evidence->run);
	const struct tb_run_info *info = evidence->info;
	const struct tb_link_sample *samples;
	struct only_end *ends = calloc(info->n_links + 1u, sizeof *ends);
	uint32_t *own = calloc(info->n_nodes + 1u, sizeof *own);
	evidence->root_of = calloc(info->n_links + 1u, sizeof *evidence->root_of);
	int status = ends && own && evidence->root_of
			     ? tb_run_look(evidence->run, (struct tb_window){0, 0},
				       &samples, error)
			     : tb_fail_memory(error, "the findings");
	for (uint32_t i = 0; !status && i < info->n_nodes; i++)
		own[i] = TB_ID_NONE;
	for (uint32_t i = 0; !status && i < info->n_links; i++) {
		const struct tb_link_info *at = &links[i].at;
		evidence->root_of[i] = (struct tb_link){i};
		// With several rails it is not known which of a node's links it would be.
		if (at->kind == TB_LINK_EJECTION && at->to < info->n_nodes)
			own[at->to] = own[at->to] == TB_ID_NONE ? i : info->n_links;
	}
	if (!status && info->wait == TB_WAIT_FOR)
		find_only_ends(evidence, ends);
	for (uint32_t i = 0; !status && i < info->n_links; i++) {
		uint32_t end = ends[i].wait_ps > 0 && ends[i].node < info->n_nodes
				       ? own[ends[i].node]
				       : TB_ID_NONE;
		if (end < info->n_links && links[i].at.kind != TB_LINK_INJECTION &&
			links[i].at.kind != TB_LINK_EJECTION &&
			links[end].at.bytes_per_s <= links[i].at.bytes_per_s &&
			2 * ends[i].wait_ps >= (double)samples[i].wait_ps)
			evidence->root_of[i] = (struct tb_link){end};
	}
	free(ends);
	free(own);
	return status;
}

double tb_percent_of_time(const struct tb_evidence *evidence, uint64_t time_ps)
{
	double all = (double)evidence->info->simulated_ps;
	return all > 0 ? 100 * (double)time_ps / all : 0;
}

// find_backlog finds which sender's messages waited longest for those before them, and
// for how much of the run its links stood still.
static int find_backlog(struct tb_evidence *evidence, struct tb_error *error)
{
	const struct tb_link_sample *samples;
	const struct tb_run_link *links = tb_run_links(evidence->run);
	double busy_ps = 0, stall_ps = 0, n = 0;
	int status = tb_backlog_find(&evidence->backlog, evidence->run, error);
	if (!status && evidence->backlog.n_nodes)
		status = tb_run_look(
			evidence->run, (struct tb_window){0, 0}, &samples, error);
	if (status || !evidence->backlog.n_nodes)
		return status;
	for (uint32_t i = 0; i < evidence->info->n_links; i++)
		if (links[i].at.kind == TB_LINK_INJECTION &&
			links[i].at.from == evidence->backlog.node.id) {
			busy_ps += (double)samples[i].busy_ps;
			stall_ps += (double)samples[i].stall_ps;
			n++;
		}
	if (stall_ps > busy_ps)
		evidence->backlog_stall_percent =
			tb_percent_of_time(evidence, (uint64_t)(stall_ps / n));
	return TB_OK;
}

TB_ORDER_BY(by_root_wait, struct tb_evidence_root, TB_DOWN(wait_ps) TB_UP(link.id))

// join_roots makes one root of those that count for the same link.
static int join_roots(struct tb_evidence *evidence, struct tb_error *error)
{
	uint32_t *seats = calloc(evidence->info->n_links + 1u, sizeof *seats), n = 0;
	if (!seats)
		return tb_fail_memory(error, "the findings");
	for (uint32_t i = 0; i < evidence->n_roots; i++) {
		struct tb_evidence_root root = evidence->roots[i];
		struct tb_link of = evidence->root_of[root.link.id];
		if (seats[of.id] == 0) {
			evidence->roots[n++] =
				(struct tb_evidence_root){of, {TB_ID_NONE}, 0};
			seats[of.id] = n;
		}
		struct tb_evidence_root *joined = &evidence->roots[seats[of.id] - 1];
		joined->wait_ps += root.wait_ps;
		// They stand by wait.
		if (of.id != root.link.id && joined->before.id == TB_ID_NONE)
			joined->before = root.link;
	}
	evidence->n_roots = n;
	if (n > 1)
		qsort(evidence->roots, n, sizeof *evidence->roots, by_root_wait);
	free(seats);
	return TB_OK;
}

// kind_of returns the kind of a link: 0 of nodes, then up and down from each level.
static uint32_t kind_of(const struct tb_evidence *evidence, const struct tb_link_info *at)
{
	const struct tb_run_switch *switches = tb_run_switches(evidence->run);
	switch (at->kind) {
	case TB_LINK_UP:
		return 1 + 2 * switches[at->from].at.level;
	case TB_LINK_DOWN:
		return 2 + 2 * switches[at->to].at.level;
	case TB_LINK_INJECTION:
	case TB_LINK_EJECTION:
		break;
	}
	return 0;
}

struct tb_evidence_kind *tb_evidence_kinds(
	const struct tb_evidence *evidence, uint32_t *n_kinds)
{
	const struct tb_run_link *links = tb_run_links(evidence->run);
	const struct tb_run_switch *switches = tb_run_switches(evidence->run);
	uint32_t n_levels = evidence->info->n_levels, n = 1 + 2 * n_levels;
	struct tb_evidence_kind *kinds = calloc(n, sizeof *kinds);
	if (!kinds)
		return NULL;
	for (uint32_t i = 0; i < n; i++) {
		kinds[i].are_of_nodes = i == 0;
		kinds[i].go_up = i % 2;
		kinds[i].level = i ? (i - 1) / 2 : 0;
	}
	for (uint32_t i = 0; i < evidence->info->n_links; i++) {
		const struct tb_link_info *at = &links[i].at;
		struct tb_evidence_kind *of = &kinds[kind_of(evidence, at)];
		of->n++;
		of->rates += (double)at->bytes_per_s;
		uint32_t below = at->kind == TB_LINK_INJECTION || at->kind == TB_LINK_UP
					 ? switches[at->to].at.level
					 : n_levels;
		if (below + 1 < n_levels) {
			kinds[1 + 2 * below].n_down++;
			kinds[1 + 2 * below].rates_down += (double)at->bytes_per_s;
		}
	}
	for (uint32_t i = 0; i < evidence->n_roots; i++)
		kinds[kind_of(evidence, &links[evidence->roots[i].link.id].at)].wait_ps +=
			(double)evidence->roots[i].wait_ps;
	for (uint32_t i = 1; i < n; i++)
		for (uint32_t k = i; k > 0 && kinds[k].wait_ps > kinds[k - 1].wait_ps;
			k--) {
			struct tb_evidence_kind more = kinds[k];
			kinds[k] = kinds[k - 1];
			kinds[k - 1] = more;
		}
	*n_kinds = n;
	return kinds;
}

// evidence_blame gathers roots, ends and pairs of jobs; wait_ps and jobs are known.
static int evidence_blame(struct tb_evidence *evidence, struct tb_error *error)
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
			roots.rows[i].root, {TB_ID_NONE}, roots.rows[i].wait_ps};
	if (!status)
		status = find_root_of(evidence, error);
	if (!status)
		status = join_roots(evidence, error);
	for (uint32_t i = 0; !status && i < pairs.listed.n; i++)
		evidence->pairs[evidence->n_pairs++] =
			(struct tb_evidence_pair){pairs.rows[i].victim_job,
				pairs.rows[i].culprit_job, pairs.rows[i].wait_ps};
	tb_job_pairs_fini(&pairs);
	tb_roots_fini(&roots);
	const struct tb_evidence_pair *worst = tb_evidence_worst_pair(evidence);
	if (!status && worst)
		status = tb_shared_leaves(evidence->run, worst->victim, worst->culprit,
			&evidence->worst_pair_leaves, error);
	return status ? status : gather_ends(evidence, error);
}

// What packets to a node waited, and of that for packets to one of the ends.
struct end_share {
	double wait_ps, for_end_ps;
	struct tb_node end;
	bool is_end;
};

static int share_out_ends(const struct tb_evidence *evidence, struct end_share *shares,
	struct tb_error *error)
{
	struct tb_groups groups = {0};
	uint32_t n_nodes = evidence->info->n_nodes;
	int status =
		tb_groups_init(&groups, evidence->run, TB_GROUP_DESTINATION, 0, error);
	for (uint32_t i = 0; i < evidence->n_ends; i++)
		if (evidence->ends[i].node.id < n_nodes)
			shares[evidence->ends[i].node.id].is_end =
				evidence->ends[i].percent >= TB_EVIDENCE_PART;
	for (uint32_t i = 0; i < groups.listed.n; i++) {
		const struct tb_group_sample *row = &groups.rows[i];
		if (row->victim >= n_nodes || row->culprit >= n_nodes)
			continue;
		struct end_share *share = &shares[row->victim];
		share->wait_ps += (double)row->wait_ps;
		// They stand by wait.
		if (shares[row->culprit].is_end && share->for_end_ps == 0) {
			share->for_end_ps = (double)row->wait_ps;
			share->end.id = row->culprit;
		}
	}
	tb_groups_fini(&groups);
	return status;
}

// find_victim finds whom the traffic to the ends slows down. What waits in connections
// of TCP, or was lost, headers do not tell.
static int find_victim(struct tb_evidence *evidence, struct tb_error *error)
{
	struct tb_evidence_victim *victim = &evidence->victim;
	struct tb_flow_table flows = {0};
	double run_ps = (double)evidence->info->simulated_ps;
	if (evidence->n_ends == 0 || evidence->ends[0].percent < TB_EVIDENCE_PART ||
		tb_switching_of(&evidence->info->network)->has_connections)
		return TB_OK;
	struct end_share *shares = calloc(evidence->info->n_nodes + 1u, sizeof *shares);
	int status = shares ? share_out_ends(evidence, shares, error)
			    : tb_fail_memory(error, "the findings");
	if (!status)
		status = tb_flow_table_init(&flows, evidence->run, error);
	for (uint32_t i = 0; i < flows.n && flows.group == 1; i++) {
		const struct tb_flow_sample *flow = &flows.rows[i];
		const struct end_share *share = &shares[flow->destination.id];
		double taken_ps = (double)flow->network_ps,
		       ideal_ps = (double)flow->ideal_ps;
		if (share->is_end || 2 * share->for_end_ps <= share->wait_ps ||
			taken_ps < TB_FINDING_VICTIM * ideal_ps ||
			100 * (taken_ps - ideal_ps) < TB_FINDING_VICTIM_LOST * run_ps)
			continue;
		victim->n_flows++;
		if (taken_ps - ideal_ps <= victim->lost_ps)
			continue;
		victim->source = flow->source;
		victim->destination = flow->destination;
		victim->end = share->end;
		victim->slowdown = taken_ps / ideal_ps;
		victim->percent = 100 * share->for_end_ps / share->wait_ps;
		victim->lost_ps = taken_ps - ideal_ps;
	}
	tb_flow_table_fini(&flows);
	free(shares);
	return status;
}

// Whose traffic waits for whose, as finely as three pairs show half of it.

static bool holds_half(const struct tb_listed *listed)
{
	return listed->n > 0 && 2 * listed->listed_ps >= listed->whole_ps;
}

static void take_listed(struct tb_evidence *evidence, enum tb_evidence_grain grain,
	const struct tb_listed *listed)
{
	evidence->grain = grain;
	evidence->n_traffic = listed->n;
	evidence->traffic_is_exact = listed->floor_ps == 0;
	evidence->traffic_percent = 100 * listed->listed_ps / evidence->wait_ps;
}

static int try_flows(struct tb_evidence *evidence, struct tb_error *error)
{
	struct tb_heavy_waits waits = {0};
	const struct tb_span whole = {0, 0};
	int status = tb_heavy_waits_during(
		&waits, evidence->run, whole, TB_EVIDENCE_NAMED, error);
	if (status)
		return status;
	if (holds_half(&waits.listed)) {
		take_listed(evidence, TB_EVIDENCE_FLOWS, &waits.listed);
		for (uint32_t i = 0; i < waits.listed.n; i++) {
			const struct tb_blame_sample *row = &waits.rows[i];
			evidence->traffic[i] = (struct tb_evidence_traffic){
				.victim = {row->victim_source, row->victim_destination},
				.culprit = {row->culprit_source,
					row->culprit_destination},
				.percent =
					100 * (double)row->wait_ps / evidence->wait_ps};
		}
	}
	tb_heavy_waits_fini(&waits);
	return TB_OK;
}

static int try_groups(struct tb_evidence *evidence, enum tb_grouping grouping,
	enum tb_evidence_grain grain, struct tb_error *error)
{
	struct tb_groups groups = {0};
	int status = tb_groups_init(
		&groups, evidence->run, grouping, TB_EVIDENCE_NAMED, error);
	if (status)
		return status;
	if (holds_half(&groups.listed)) {
		take_listed(evidence, grain, &groups.listed);
		for (uint32_t i = 0; i < groups.listed.n; i++) {
			const struct tb_group_sample *row = &groups.rows[i];
			evidence->traffic[i] = (struct tb_evidence_traffic){
				.victim = {{row->victim}, {row->victim}},
				.culprit = {{row->culprit}, {row->culprit}},
				.victim_leaf = row->victim,
				.culprit_leaf = row->culprit,
				.percent =
					100 * (double)row->wait_ps / evidence->wait_ps};
		}
	}
	tb_groups_fini(&groups);
	return TB_OK;
}

int tb_evidence_traffic(struct tb_evidence *evidence, struct tb_error *error)
{
	static const struct {
		enum tb_grouping grouping;
		enum tb_evidence_grain grain;
	} coarser[] = {{TB_GROUP_DESTINATION, TB_EVIDENCE_DESTINATIONS},
		{TB_GROUP_DESTINATION_LEAF, TB_EVIDENCE_DESTINATION_LEAVES},
		{TB_GROUP_SOURCE_LEAF, TB_EVIDENCE_SOURCE_LEAVES}};
	if (evidence->wait_ps <= 0)
		return TB_OK;
	int status = try_flows(evidence, error);
	for (size_t i = 0; i < sizeof coarser / sizeof *coarser && !status &&
			   evidence->grain == TB_EVIDENCE_NO_GRAIN;
		i++)
		status = try_groups(
			evidence, coarser[i].grouping, coarser[i].grain, error);
	return status;
}

void tb_evidence_fini(struct tb_evidence *evidence)
{
	free(evidence->roots);
	free(evidence->root_of);
	free(evidence->pairs);
	free(evidence->times);
	free(evidence->seats);
	tb_jobs_fini(&evidence->jobs);
	tb_regions_fini(&evidence->regions);
	tb_run_tries_fini(&evidence->tries);
	tb_recorded_captures_fini(&evidence->recorded);
	tb_bounds_fini(&evidence->bounds);
	tb_critical_path_fini(&evidence->path);
	free(evidence->link_costs);
	free(evidence->cables.usual);
	free(evidence->cables.carries_more);
	tb_rank_loads_fini(&evidence->loads);
	tb_call_spans_fini(&evidence->calls);
	*evidence = (struct tb_evidence){0};
}

static int by_link_wait(const void *one, const void *other)
{
	const uint64_t *a = one, *b = other;
	return (*a < *b) - (*a > *b);
}

// count_waiting_links counts those that waited, were used, and carry most of the wait.
static int count_waiting_links(struct tb_evidence *evidence,
	const struct tb_link_sample *samples, struct tb_error *error)
{
	uint32_t n_links = evidence->info->n_links;
	const struct tb_run_link *links = tb_run_links(evidence->run);
	uint64_t *waits = calloc(n_links + 1u, sizeof *waits);
	double held = 0;
	if (!waits)
		return tb_fail_memory(error, "the findings");
	for (uint32_t i = 0; i < n_links; i++) {
		evidence->wait_ps += (double)samples[i].wait_ps;
		evidence->n_used += samples[i].n_packets > 0;
		evidence->n_senders +=
			samples[i].n_packets > 0 && links[i].at.kind == TB_LINK_INJECTION;
		if (samples[i].wait_ps > 0)
			waits[evidence->n_waiting++] = samples[i].wait_ps;
	}
	qsort(waits, evidence->n_waiting, sizeof *waits, by_link_wait);
	while (evidence->n_carrying < evidence->n_waiting &&
		held * 100 < evidence->wait_ps * TB_EVIDENCE_CARRIED)
		held += (double)waits[evidence->n_carrying++];
	free(waits);
	return TB_OK;
}

// find_choices sets whether packets could have gone other ways than they did.
static int find_choices(struct tb_evidence *evidence,
	const struct tb_link_sample *samples, struct tb_error *error)
{
	const struct tb_run_link *links = tb_run_links(evidence->run);
	uint32_t *n_up = calloc(evidence->info->n_switches + 1u, sizeof *n_up);
	if (!n_up)
		return tb_fail_memory(error, "the findings");
	for (uint32_t i = 0; i < evidence->info->n_links; i++)
		if (links[i].at.kind == TB_LINK_UP && links[i].dead_at_ps > 0)
			n_up[links[i].at.from]++;
	for (uint32_t i = 0; i < evidence->info->n_links; i++) {
		bool is_up = links[i].at.kind == TB_LINK_UP;
		if (samples[i].n_packets == 0 ||
			(!is_up && links[i].at.kind != TB_LINK_DOWN))
			continue;
		evidence->n_inside++;
		evidence->has_ways |= n_up[is_up ? links[i].at.from : links[i].at.to] > 1;
	}
	free(n_up);
	return TB_OK;
}

// find_idle finds links up that carried nothing while others of their switches did.
static int find_idle(struct tb_evidence *evidence, const struct tb_link_sample *samples,
	struct tb_error *error)
{
	const struct tb_run_link *links = tb_run_links(evidence->run);
	const struct tb_run_info *info = evidence->info;
	struct tb_evidence_idle *idle = &evidence->idle;
	struct used {
		uint32_t n_idle;     // links up
		bool is_used, leads; // by packets; idle links lead to it
	} *switches = calloc(info->n_switches + 1u, sizeof *switches);
	if (!switches)
		return tb_fail_memory(error, "the findings");
	for (uint32_t i = 0; i < info->n_links; i++) {
		const struct tb_link_info *at = &links[i].at;
		bool is_idle = samples[i].n_packets == 0;
		if (at->kind != TB_LINK_INJECTION)
			switches[at->from].is_used |= !is_idle;
		if (at->kind == TB_LINK_UP && is_idle &&
			links[i].dead_at_ps == TB_TIME_NEVER)
			switches[at->from].n_idle++;
	}
	for (uint32_t i = 0; i < info->n_links; i++) {
		const struct tb_link_info *at = &links[i].at;
		if (at->kind != TB_LINK_UP || !switches[at->from].n_idle ||
			!switches[at->from].is_used)
			continue;
		double busy = tb_percent_of_time(evidence, samples[i].busy_ps);
		switches[at->to].leads = true;
		idle->n_links++;
		idle->n += samples[i].n_packets == 0;
		idle->wait_ps += (double)samples[i].wait_ps;
		if (busy > idle->busy_percent) {
			idle->busy_percent = busy;
			idle->full.id = i;
		}
	}
	for (uint32_t i = info->n_switches; i-- > 0;)
		if (switches[i].leads && !switches[i].is_used) {
			idle->sw = i;
			idle->n_switches++;
		}
	free(switches);
	return TB_OK;
}

// find_bus finds the busiest bus; each rail has one of its own.
static int find_bus(struct tb_evidence *evidence, const struct tb_link_sample *samples,
	struct tb_error *error)
{
	const struct tb_run_info *info = evidence->info;
	const struct tb_network_params *network = &info->network;
	const struct tb_run_link *links = tb_run_links(evidence->run);
	struct tb_evidence_bus *bus = &evidence->bus;
	bool credits = tb_credit_params(network)->pcie_bytes_per_s > 0;
	double rates[2]; // out of a node, into it
	for (int way = 0; way < 2; way++)
		rates[way] =
			network->n_rails *
			(double)(credits ? tb_credit_params(network)->pcie_bytes_per_s
					 : tb_circuit_bus_rate(network, way));
	if (rates[0] <= 0 || rates[1] <= 0 || info->simulated_ps <= 0)
		return TB_OK;
	double *times = calloc(2 * ((size_t)info->n_nodes + 1), sizeof *times);
	if (!times)
		return tb_fail_memory(error, "the findings");
	bus->both_ways = !credits && tb_circuit_buses_shared(network);
	for (uint32_t i = 0; i < info->n_links; i++) {
		bool in = links[i].at.kind == TB_LINK_EJECTION;
		uint32_t node = in ? links[i].at.to : links[i].at.from;
		if ((!in && links[i].at.kind != TB_LINK_INJECTION) ||
			node >= info->n_nodes)
			continue;
		double headers =
			(double)samples[i].n_packets * network->packet_overhead_bytes;
		double bytes = (double)samples[i].bytes - headers;
		times[2 * (size_t)node + in] += bytes > 0 ? bytes / rates[in] : 0;
	}
	for (uint32_t i = 0; i < info->n_nodes; i++) {
		double out = times[2 * (size_t)i], in = times[2 * (size_t)i + 1];
		double busy = bus->both_ways ? out + in : out > in ? out : in;
		double percent =
			100 * busy * (double)TB_PS_PER_S / (double)info->simulated_ps;
		if (percent <= bus->busy_percent)
			continue;
		bus->node.id = i;
		bus->bytes_per_s = rates[!bus->both_ways && in > out];
		bus->busy_percent = percent;
	}
	free(times);
	return TB_OK;
}

// find_loop finds the link that its buffer holds back most: one full packet after the
// other may be under way until the first has left the buffer and the sender learns it.
// What is stalled for that reason or others is the most that it can have lost.
static void find_loop(struct tb_evidence *evidence, const struct tb_link_sample *samples)
{
	const struct tb_network_params *network = &evidence->info->network;
	const struct tb_run_link *links = tb_run_links(evidence->run);
	struct tb_evidence_loop *loop = &evidence->loop;
	double wire =
		(double)network->packet_payload_bytes + network->packet_overhead_bytes;
	double held = ceil(wire / TB_CREDIT_BLOCK_BYTES) * TB_CREDIT_BLOCK_BYTES;
	const struct tb_credit_params *params = tb_credit_params(network);
	double pcie = (double)params->pcie_bytes_per_s;
	if (strcmp(network->switching, "credits") != 0 ||
		params->flow_control != TB_FLOW_CREDITS)
		return;
	for (uint32_t i = 0; i < evidence->info->n_links; i++) {
		const struct tb_link_info *at = &links[i].at;
		double rate = (double)at->bytes_per_s,
		       n = floor(network->fifo_bytes / held);
		double back = (double)links[at->reverse.id].at.latency_ps;
		double round_ps = (double)at->latency_ps + back;
		bool waits_for_tail = params->forwarding == TB_FORWARDING_STORE &&
				      at->kind != TB_LINK_EJECTION;
		double turn_ps = wire / rate * (double)TB_PS_PER_S * (1 + waits_for_tail);
		double carries = n * wire / (round_ps + turn_ps) * (double)TB_PS_PER_S;
		if (at->kind == TB_LINK_INJECTION && pcie > 0 && pcie < rate)
			rate = pcie;
		if (samples[i].n_packets == 0 || n == 0 ||
			carries >= TB_FINDING_CARRIES * rate)
			continue;
		loop->n_links++;
		double lost_ps = (double)samples[i].bytes * (1 / carries - 1 / rate) *
				 (double)TB_PS_PER_S;
		lost_ps = fmin(lost_ps, (double)samples[i].stall_ps);
		if (lost_ps <= loop->lost_ps)
			continue;
		*loop = (struct tb_evidence_loop){{i}, carries,
			rate * (round_ps + turn_ps) / (double)TB_PS_PER_S * held / wire,
			(tb_time_ps)round_ps, lost_ps, loop->n_links};
	}
}

// add_ways adds up what links would carry of all flows, in ps.
static void add_ways(const struct tb_evidence *evidence, struct tb_paths *paths,
	const struct tb_flow_table *flows, double *loads)
{
	const struct tb_run_link *links = tb_run_links(evidence->run);
	for (uint32_t i = 0; i < flows->n; i++) {
		const struct tb_flow_sample *flow = &flows->rows[i];
		uint32_t n = 0;
		if (flow->source.id == flow->destination.id)
			continue;
		const struct tb_link *way =
			tb_paths_way(paths, flow->source, flow->destination, &n);
		for (uint32_t k = 0; k < n; k++)
			loads[way[k].id] += (double)flow->bytes * (double)TB_PS_PER_S /
					    (double)links[way[k].id].at.bytes_per_s;
	}
}

static int find_digits(struct tb_evidence *evidence, struct tb_error *error)
{
	const struct tb_run_link *links = tb_run_links(evidence->run);
	struct tb_flow_table flows = {0};
	struct tb_paths *paths = NULL;
	if (!tb_ascends_by_load(evidence->info->network.ascent) || !evidence->has_ways)
		return TB_OK;
	double *loads = calloc(evidence->info->n_links + 1u, sizeof *loads);
	int status = loads ? tb_paths_new(&paths, evidence->run, error)
			   : tb_fail_memory(error, "the findings");
	if (!status && tb_paths_by_destination(paths))
		status = tb_flow_table_init(&flows, evidence->run, error);
	if (!status && flows.group == 1)
		add_ways(evidence, paths, &flows, loads);
	struct tb_evidence_digits *digits = &evidence->digits;
	double n_up = 0, sum_up_ps = 0;
	for (uint32_t i = 0; !status && i < evidence->info->n_links; i++) {
		enum tb_link_kind kind = links[i].at.kind;
		double *most = kind == TB_LINK_UP || kind == TB_LINK_DOWN
				       ? &digits->inside_ps
				       : &digits->nodes_ps;
		*most = fmax(*most, loads[i]);
		if (kind != TB_LINK_UP || loads[i] <= 0)
			continue;
		digits->up_ps = fmax(digits->up_ps, loads[i]);
		sum_up_ps += loads[i];
		n_up++;
	}
	digits->mean_up_ps = n_up > 0 ? sum_up_ps / n_up : 0;
	tb_flow_table_fini(&flows);
	tb_paths_free(paths);
	free(loads);
	return status;
}

static int gather_time_totals(struct tb_evidence *evidence, struct tb_error *error)
{
	uint64_t n_bins = evidence->info->n_bins;
	struct tb_bin_total *totals = calloc(n_bins + 1, sizeof *totals);
	uint64_t *waits = calloc(n_bins + 1, sizeof *waits);
	int status = totals && waits ? TB_OK : tb_fail_memory(error, "the findings");
	if (!status)
		status = tb_bin_totals(evidence->run, totals, error);
	for (uint64_t i = 0; !status && i < n_bins; i++)
		waits[i] = totals[i].wait_ps;
	if (!status && tb_wait_windows_find(&evidence->windows, waits, n_bins))
		status = tb_fail_memory(error, "the findings");
	if (!status) {
		// Set how busy and how stalled the used links were in the windows.
		double busy_ps = 0, stall_ps = 0, time_ps = 0;
		for (uint32_t i = 0; i < evidence->windows.n; i++) {
			struct tb_window window = evidence->windows.at[i];
			time_ps += (double)tb_run_window_ps(evidence->run, window);
			for (uint64_t bin = window.first_bin; bin < window.end_bin;
				bin++) {
				busy_ps += (double)totals[bin].busy_ps;
				stall_ps += (double)totals[bin].stall_ps;
			}
		}
		if (time_ps > 0 && evidence->n_used) {
			evidence->busy_percent =
				100 * busy_ps / time_ps / evidence->n_used;
			evidence->stall_percent =
				100 * stall_ps / time_ps / evidence->n_used;
		}
	}
	free(totals);
	free(waits);
	return status;
}

static int gather_seats(struct tb_evidence *evidence, struct tb_error *error)
{
	int status = TB_OK;
	evidence->seats = calloc(evidence->jobs.n + UINT64_C(1), sizeof *evidence->seats);
	if (!evidence->seats)
		return tb_fail_memory(error, "the findings");
	for (uint32_t i = 0; !status && i < evidence->jobs.n; i++)
		if (tb_placement_may_decide(evidence, i))
			status = tb_job_seat_find(
				&evidence->seats[i], evidence->run, i, error);
	return status;
}

static int find_port(struct tb_evidence *evidence, struct tb_error *error)
{
	const struct tb_critical_path *path = &evidence->path;
	const struct tb_run_link *links = tb_run_links(evidence->run);
	const struct tb_run_info *info = evidence->info;
	const struct tb_link_sample *samples;
	tb_time_ps *held = calloc(2 * ((size_t)info->n_nodes + 1), sizeof *held);
	if (!held)
		return tb_fail_memory(error, "the findings");
	int status =
		tb_run_look(evidence->run, (struct tb_window){0, 0}, &samples, error);
	for (size_t i = 0; i < path->n_links; i++) {
		const struct tb_path_link *at = &path->links[i];
		if (at->culprit_job != TB_ID_NONE ||
			at->culprit_source.id >= info->n_nodes ||
			at->culprit_destination.id >= info->n_nodes)
			continue;
		held[2 * at->culprit_source.id] += at->sum_ps;
		held[2 * at->culprit_destination.id + 1] += at->sum_ps;
	}
	for (uint32_t i = 0; !status && i < info->n_links; i++) {
		enum tb_link_kind kind = links[i].at.kind;
		if (kind != TB_LINK_INJECTION && kind != TB_LINK_EJECTION)
			continue;
		struct tb_evidence_port port = {{i},
			held[kind == TB_LINK_INJECTION ? 2 * links[i].at.from
						       : 2 * links[i].at.to + 1],
			100 * (double)samples[i].busy_ps / (double)info->simulated_ps};
		if ((double)port.sum_ps * port.busy_percent >
			(double)evidence->port.sum_ps * evidence->port.busy_percent)
			evidence->port = port;
	}
	free(held);
	return status;
}

int tb_evidence_init(
	struct tb_evidence *evidence, struct tb_run *run, struct tb_error *error)
{
	struct tb_evidence made = {.run = run, .info = tb_run_info(run)};
	made.has_capture = tb_run_capture(made.info, &made.capture);
	const struct tb_window whole = {0, 0};
	const struct tb_link_sample *samples;
	struct tb_hot_link *hottest = NULL;
	int status = tb_run_look(made.run, whole, &samples, error);
	if (!status)
		status = count_waiting_links(&made, samples, error);
	if (!status)
		status = find_choices(&made, samples, error);
	if (!status)
		status = tb_hot_links(made.run, whole, TB_EVIDENCE_NAMED, &hottest,
			&made.n_hottest, error);
	for (uint32_t i = 0; !status && i < made.n_hottest; i++)
		made.hottest[i] = hottest[i];
	free(hottest);
	if (!status)
		status = tb_run_look(made.run, whole, &samples, error);
	if (!status)
		status = tb_evidence_held_find(&made, samples, error);
	if (!status)
		status = find_idle(&made, samples, error);
	if (!status)
		status = find_bus(&made, samples, error);
	if (!status)
		find_loop(&made, samples);
	if (!status)
		status = gather_time_totals(&made, error);
	if (!status)
		status = tb_jobs_init(&made.jobs, run, error);
	if (!status)
		status = tb_job_times_init(&made.times, &made.jobs, run, error);
	if (!status)
		status = gather_seats(&made, error);
	if (!status)
		status = tb_bounds_init(&made.bounds, run, error);
	if (!status)
		status = tb_critical_path_init(&made.path, run, error);
	if (!status && made.path.n_shares) {
		made.link_costs =
			calloc(made.info->n_links + 1u, sizeof *made.link_costs);
		status = made.link_costs ? tb_critical_path_costs(&made.path, run,
						   made.link_costs, error)
					 : tb_fail_memory(error, "the findings");
	}
	if (!status && made.path.connects && made.path.n_links)
		status = find_port(&made, error);
	if (!status)
		status = tb_rank_loads_init(&made.loads, run, error);
	if (!status && tb_stragglers_find(&made.stragglers, &made.loads, &made.path,
			       made.info->simulated_ps))
		status = tb_fail_memory(error, "the findings");
	if (!status)
		status = tb_call_sorts_init(&made.calls, run, error);
	if (!status)
		status = find_backlog(&made, error);
	if (!status)
		status = tb_pressed_find(&made.pressed_ps, run, &made.path, error);
	if (!status)
		status = evidence_blame(&made, error);
	if (!status)
		status = find_victim(&made, error);
	// All flows are read for that.
	if (!status && (made.victim.n_flows > 0 || tb_ways_cost(&made)))
		status = find_digits(&made, error);
	if (!status && !tb_run_is_measured(made.info))
		status = tb_evidence_cables_find(&made, error);
	if (!status)
		status = tb_evidence_traffic(&made, error);
	if (!status)
		status = tb_regions_init(
			&made.regions, run, (struct tb_window){0, 0}, error);
	if (!status)
		status = tb_run_tries_init(&made.tries, run, error);
	if (!status)
		status = tb_recorded_captures_init(&made.recorded, run, error);
	if (status) {
		tb_evidence_fini(&made);
		return status;
	}
	*evidence = made;
	return TB_OK;
}

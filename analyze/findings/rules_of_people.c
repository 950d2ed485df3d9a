// Which ranks make others wait, whose traffic made whose wait, and what it costs.
#include "findings_impl.h"

#include "collective_ops.h"
#include "measured_range.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// straggler_name names the ranks: "Rank 5 of lammps on node 5 (gpu-b)", "The 4 ranks on
// node 1", "Of 2 ranks, rank 5 on node 5".
static void straggler_name(const struct tb_evidence *evidence, char *text, size_t size)
{
	const struct tb_stragglers *found = &evidence->stragglers;
	char node[170] = "", job[140] = "", name[120];
	if (found->most.node.id != TB_ID_NONE) {
		size_t used = (size_t)snprintf(node, sizeof node, " on ");
		tb_node_text(
			evidence->run, found->most.node, node + used, sizeof node - used);
	}
	if (evidence->jobs.n > 1)
		snprintf(job, sizeof job, " of %s",
			tb_job_text(evidence, found->job, name, sizeof name));
	if (found->is_host)
		snprintf(text, size, "The %" PRIu32 " ranks%s%s compute up to", found->n,
			job, node);
	else if (found->n > 1)
		snprintf(text, size,
			"Of %" PRIu32 " slow ranks, rank %" PRIu32
			"%s%s computes longest:",
			found->n, found->most.rank, job, node);
	else
		snprintf(text, size, "Rank %" PRIu32 "%s%s computes", found->most.rank,
			job, node);
}

// find_straggler names ranks that compute longer than the others, if the run waits for
// them.
static void find_straggler(struct tb_judging *judging)
{
	const struct tb_evidence *evidence = judging->evidence;
	const struct tb_stragglers *found = &evidence->stragglers;
	tb_time_ps run_ps = evidence->info->simulated_ps;
	char name[400], computed[32], others[32], wait[48] = "", shorter[32], share[32];
	char more[48] = "", of[48] = "the other";
	double percent = 100 * (double)found->shorter_ps / (double)run_ps;
	if (found->n == 0 || evidence->info->is_captured ||
		percent < TB_FINDING_STRAGGLER)
		return;
	struct tb_finding *finding = tb_judging_find(judging, TB_RULE_STRAGGLER);
	tb_finding_count(finding, "job", found->job);
	tb_finding_count(finding, "rank", found->most.rank);
	tb_finding_count(finding, "ranks", found->n);
	tb_finding_count(finding, "computed_ps", (uint64_t)found->most.computed_ps);
	tb_finding_count(finding, "others_ps", (uint64_t)found->others_ps);
	tb_finding_count(finding, "others_wait_ps", (uint64_t)found->others_wait_ps);
	tb_finding_count(finding, "shorter_ps", (uint64_t)found->shorter_ps);
	straggler_name(evidence, name, sizeof name);
	tb_format_time(found->others_ps, others, sizeof others);
	double times = (double)found->most.computed_ps / (double)found->others_ps;
	if (times < 1.95)
		snprintf(more, sizeof more, "%s longer than",
			tb_percent_text(100 * (times - 1), share, sizeof share));
	else if (found->others_ps > 0)
		snprintf(more, sizeof more, "%.*f times as long as", times < 9.95, times);
	else
		snprintf(more, sizeof more, "against");
	if (found->n_others > 1)
		snprintf(of, sizeof of, "the median of the other %" PRIu32,
			found->n_others);
	if (found->others_wait_ps > 0)
		snprintf(wait, sizeof wait, ", which wait%s %s for others",
			found->n_others > 1 ? "" : "s",
			tb_format_time(found->others_wait_ps, computed, sizeof computed));
	tb_finding_say(finding,
		"%s %s, %s %s (%s)%s: as quick as that, the run would be at most about "
		"%s (%s) shorter.",
		name, tb_format_time(found->most.computed_ps, computed, sizeof computed),
		more, of, others, wait,
		tb_format_time(found->shorter_ps, shorter, sizeof shorter),
		tb_percent_text(percent, share, sizeof share));
}

// say_measured adds how right the model was for such calls on measured clusters: of few
// members nobody knows whether they were on one host.
static void say_measured(const struct tb_judging *judging, struct tb_finding *finding,
	const struct tb_call_sort *sort)
{
	const struct tb_network_params *params = &judging->evidence->info->network;
	const struct tb_jobs *jobs = &judging->evidence->jobs;
	const char *library = strncmp(params->host.name, "nccl", 4) == 0  ? "nccl"
			      : strncmp(params->host.name, "mpi", 3) == 0 ? "mpi"
									  : NULL;
	const char *name = sort->kind + (sort->kind[0] == 'i');
	enum tb_collective_op op;
	if (!library || strcmp(params->switching, "circuits") == 0 || jobs->n != 1 ||
		jobs->jobs[0].n_nodes == 0 || !tb_collective_op_find(&op, name))
		return;
	uint32_t per_node = jobs->jobs[0].n_ranks / jobs->jobs[0].n_nodes;
	bool blocks = tb_collectives[op].size == TB_SIZE_BLOCK && library[0] == 'n';
	double low = INFINITY, high = 0;
	for (int several = sort->n_members > per_node; several < 2; several++) {
		struct tb_measured_range range;
		if (!tb_measured_range_of(&range, name,
			    sort->bytes * (blocks ? sort->n_members : 1), library,
			    several))
			continue;
		low = fmin(low, range.low);
		high = fmax(high, range.high);
	}
	if (high > 0)
		tb_finding_say(finding,
			"On measured clusters 90 %% of such calls ran at %.2f to %.2f of "
			"the speed that the model gives them.",
			low, high);
	else
		tb_finding_say(finding, "No such call was measured on a cluster.");
}

// find_calls names the calls that take most of the ranks' time.
static void find_calls(struct tb_judging *judging)
{
	const struct tb_call_spans *calls = &judging->evidence->calls;
	char name[150], share[32], waited[32], mean[32];
	if (calls->n_sorts == 0)
		return;
	const struct tb_call_sort *most = &calls->sorts[0];
	const struct tb_call_figures *of = &most->figures;
	// Calls that only start something may overlap.
	double percent = fmin(tb_calls_figure_of(of, TB_CALLS_SHARE), 100);
	if (isnan(percent) || percent < TB_FINDING_CALLS)
		return;
	double of_wait = 100 * (double)of->waited_ps / (double)of->sum_ps;
	struct tb_finding *finding = tb_judging_find(judging, TB_RULE_CALLS);
	tb_finding_count(finding, "calls", (uint64_t)of->calls);
	tb_finding_count(finding, "sum_ps", (uint64_t)of->sum_ps);
	tb_finding_count(finding, "waited_ps", (uint64_t)of->waited_ps);
	tb_finding_real(finding, "percent_of_ranks", percent);
	tb_finding_say(finding,
		"Of the calls, %s takes most: %s%s of the ranks' time, %s each; %s of "
		"that is %s%s.",
		tb_call_sort_name(most, name, sizeof name),
		calls->n_left ? "at least " : "",
		tb_percent_text(percent, share, sizeof share),
		tb_format_time((tb_time_ps)tb_calls_figure_of(of, TB_CALLS_MEAN), mean,
			sizeof mean),
		of->waited_ps ? tb_percent_text(of_wait, waited, sizeof waited) : "all",
		of->waited_ps ? "waiting for others" : "transfer",
		of->waited_ps && of_wait < 50 ? ", the rest transfer" : "");
	// What waits for others tells nothing of the network.
	if (of_wait < 50)
		say_measured(judging, finding, most);
}

void tb_rules_of_ranks(struct tb_judging *judging)
{
	find_straggler(judging);
	find_calls(judging);
}

// find_whose reports what jobs made each other wait, or that they did not.
static void find_whose(struct tb_judging *judging)
{
	const struct tb_evidence *evidence = judging->evidence;
	char victim[120], culprit[120], all[32], share[32], time[32];
	double others = tb_others_percent(evidence);
	if (evidence->jobs.n < 2 || evidence->n_pairs == 0 || evidence->wait_ps <= 0)
		return;
	struct tb_finding *finding = tb_judging_find(judging, TB_RULE_WHOSE);
	tb_finding_real(finding, "others_percent", others);
	const struct tb_evidence_pair *worst = tb_evidence_worst_pair(evidence);
	if (!worst) {
		finding->nothing = true;
		tb_finding_say(finding, "No job waited for another.");
		return;
	}
	double percent = 100 * (double)worst->wait_ps / evidence->wait_ps;
	tb_finding_count(finding, "victim_job", worst->victim);
	tb_finding_count(finding, "culprit_job", worst->culprit);
	tb_finding_count(finding, "wait_ps", worst->wait_ps);
	tb_finding_real(finding, "percent_of_wait", percent);
	tb_percent_text(others, all, sizeof all);
	tb_finding_say(finding,
		"%s of the wait is that of one job for another; most of it is %s "
		"waiting for %s: %s in all, %s of the wait.%s",
		all, tb_job_text(evidence, worst->victim, victim, sizeof victim),
		tb_job_text(evidence, worst->culprit, culprit, sizeof culprit),
		tb_format_time((tb_time_ps)worst->wait_ps, time, sizeof time),
		tb_percent_text(percent, share, sizeof share),
		tb_congestion_text(evidence));
}

// say_sender names the node that has the longest backlog, and says whether it posts more
// than its links carry, or only for a while.
static void say_sender(const struct tb_judging *judging, struct tb_finding *finding)
{
	const struct tb_backlog *at = &judging->evidence->backlog;
	char node[160], count[48];
	char queue[32], latency[32], posting[32], carrying[32], size[32];
	double n = (double)at->n_messages;
	bool outpaced = at->carrying_ps > (double)at->posting_ps;
	tb_finding_count(finding, "node", at->node.id);
	tb_finding_count(finding, "nodes", at->n_nodes);
	tb_finding_real(finding, "mean_queue_ps", (double)at->queue_ps / n);
	tb_finding_real(finding, "mean_latency_ps", (double)at->latency_ps / n);
	tb_finding_count(finding, "posted_bytes", at->bytes);
	tb_finding_count(finding, "posting_ps", (uint64_t)at->posting_ps);
	tb_finding_real(finding, "carrying_ps", at->carrying_ps);
	double still = judging->evidence->backlog_stall_percent;
	char share[32], why[96];
	if (still > 0)
		snprintf(why, sizeof why,
			"whose link stood still for %s of the run, as the network took "
			"no more",
			tb_percent_text(still, share, sizeof share));
	else
		snprintf(why, sizeof why, "which asks for more than its link gives%s",
			outpaced ? "" : ", in bursts");
	tb_finding_say(finding,
		"The longest backlog is that of %s, %s: its messages stood %s of their "
		"%s there on average.",
		tb_node_text(judging->evidence->run, at->node, node, sizeof node), why,
		tb_format_time(
			(tb_time_ps)((double)at->queue_ps / n), queue, sizeof queue),
		tb_format_time((tb_time_ps)((double)at->latency_ps / n), latency,
			sizeof latency));
	if (outpaced)
		tb_finding_say(finding,
			"It posted %s %s%s; to carry that takes the link %s.",
			tb_format_size(at->bytes, size, sizeof size),
			at->posting_ps ? "within " : "at once",
			at->posting_ps
				? tb_format_time(at->posting_ps, posting, sizeof posting)
				: "",
			tb_format_time(
				(tb_time_ps)at->carrying_ps, carrying, sizeof carrying));
	if (at->n_nodes > 1)
		tb_finding_say(finding, "%s %s one too.",
			tb_format_counted(
				at->n_nodes - 1, "other node", count, sizeof count),
			at->n_nodes == 2 ? "has" : "have");
}

// find_backlog reports time that is not the network's doing: of all messages together, or
// of those of some nodes.
static void find_backlog(struct tb_judging *judging, double latency, double queue)
{
	const struct tb_backlog *backlog = &judging->evidence->backlog;
	char share[32];
	bool all = queue * 100 >= latency * TB_FINDING_BACKLOG;
	if (!all && backlog->n_nodes == 0)
		return;
	struct tb_finding *finding = tb_judging_find(judging, TB_RULE_BACKLOG);
	tb_finding_real(finding, "queue_percent", 100 * queue / latency);
	tb_finding_say(finding,
		"From post to delivery, messages spent %s of the time behind others of "
		"their own node%s.",
		tb_percent_text(100 * queue / latency, share, sizeof share),
		all ? ": the senders have more to send than they get out" : "");
	if (backlog->n_nodes)
		say_sender(judging, finding);
}

// put_traffic writes one side of a pair: "5 > 0", "traffic to leaf 0.3".
static char *put_traffic(const struct tb_evidence *evidence, const struct tb_node ends[2],
	uint32_t leaf, char *buffer, size_t size)
{
	char node[160], other[160];
	switch (evidence->grain) {
	case TB_EVIDENCE_FLOWS:
		snprintf(buffer, size, "%s > %s",
			tb_node_text(evidence->run, ends[0], node, sizeof node),
			tb_node_text(evidence->run, ends[1], other, sizeof other));
		break;
	case TB_EVIDENCE_DESTINATIONS:
		snprintf(buffer, size, "traffic to %s",
			tb_node_text(evidence->run, ends[0], node, sizeof node));
		break;
	case TB_EVIDENCE_DESTINATION_LEAVES:
	case TB_EVIDENCE_SOURCE_LEAVES:
		snprintf(buffer, size, "traffic %s leaf %s",
			evidence->grain == TB_EVIDENCE_SOURCE_LEAVES ? "from" : "to",
			tb_run_switches(evidence->run)[leaf].name);
		break;
	case TB_EVIDENCE_NO_GRAIN:
		break;
	}
	return buffer;
}

// n_told returns how many of the pairs are worth a word, at least one.
static uint32_t n_told(const struct tb_evidence *evidence)
{
	uint32_t n = evidence->n_traffic;
	while (n > 1 && evidence->traffic[n - 1].percent < TB_FINDING_TOLD)
		n--;
	return n;
}

// is_of_ends: all traffic that waits is to the nodes of an incast, for other traffic to
// it.
static bool is_of_ends(const struct tb_judging *judging)
{
	const struct tb_evidence *evidence = judging->evidence;
	uint32_t n = 0, n_pairs = n_told(evidence);
	for (uint32_t i = 0; i < n_pairs; i++) {
		const struct tb_evidence_traffic *pair = &evidence->traffic[i];
		bool of_end = false;
		for (uint32_t k = 0; k < evidence->n_ends; k++)
			of_end |= evidence->ends[k].node.id == pair->victim[0].id &&
				  evidence->ends[k].node.id == pair->culprit[0].id;
		n += of_end;
	}
	return evidence->grain == TB_EVIDENCE_DESTINATIONS && n == n_pairs &&
	       (tb_judging_found(judging, TB_RULE_INCAST) ||
		       tb_judging_found(judging, TB_RULE_SLOW_RECEIVER));
}

// find_traffic names the traffic that waits and the traffic that it waits for, where few
// pairs make half of the wait.
static void find_traffic(struct tb_judging *judging)
{
	const struct tb_evidence *evidence = judging->evidence;
	const char *same = evidence->grain == TB_EVIDENCE_FLOWS ? "its own packets"
			   : evidence->grain == TB_EVIDENCE_SOURCE_LEAVES
				   ? "other traffic from it"
				   : "other traffic to it";
	char text[900] = "", victim[200], culprit[200], share[32], all[32];
	bool of_leaves = evidence->grain == TB_EVIDENCE_DESTINATION_LEAVES ||
			 evidence->grain == TB_EVIDENCE_SOURCE_LEAVES;
	if (evidence->grain == TB_EVIDENCE_NO_GRAIN || evidence->n_traffic == 0 ||
		is_of_ends(judging))
		return;
	uint32_t n_pairs = n_told(evidence);
	// All traffic is that of the only leaf.
	if (of_leaves && tb_run_info(evidence->run)->n_switches == 1)
		return;
	for (uint32_t i = 0; i < n_pairs; i++) {
		const struct tb_evidence_traffic *pair = &evidence->traffic[i];
		size_t used = strlen(text);
		put_traffic(
			evidence, pair->victim, pair->victim_leaf, victim, sizeof victim);
		put_traffic(evidence, pair->culprit, pair->culprit_leaf, culprit,
			sizeof culprit);
		used += (size_t)snprintf(text + used, sizeof text - used, "%s%s for %s",
			tb_list_between(i, n_pairs), victim,
			(evidence->grain == TB_EVIDENCE_FLOWS ||
						evidence->grain ==
							TB_EVIDENCE_DESTINATIONS
					? pair->victim[0].id == pair->culprit[0].id &&
						  pair->victim[1].id ==
							  pair->culprit[1].id
					: pair->victim_leaf == pair->culprit_leaf)
				? same
				: culprit);
		if (n_pairs > 1 && used < sizeof text)
			snprintf(text + used, sizeof text - used, " (%s)",
				tb_percent_text(pair->percent, share, sizeof share));
	}
	struct tb_finding *finding = tb_judging_find(judging, TB_RULE_TRAFFIC);
	tb_finding_count(finding, "pairs", n_pairs);
	tb_finding_real(finding, "percent_of_wait", evidence->traffic_percent);
	if (evidence->grain <= TB_EVIDENCE_DESTINATIONS)
		tb_finding_count(finding, "node", evidence->traffic[0].culprit[1].id);
	tb_finding_say(finding, "%s%s of the wait is of %s.",
		evidence->traffic_is_exact ? "" : "At least ",
		tb_percent_text(evidence->traffic_percent, all, sizeof all), text);
}

// A replay of a job, as what it takes: its run time; of a capture, whose frames are
// posted when they were captured, a message's mean latency. 0 when it is not known.
static double taken_by(const struct tb_evidence *evidence, const struct tb_job_time *time)
{
	bool by_latency = strcmp(evidence->info->input_kind, "packets") == 0;
	if (!time->known || (by_latency && isnan(time->mean_latency_ps)))
		return 0;
	return by_latency ? time->mean_latency_ps : (double)time->run_ps;
}

// What a job takes, against what it takes in a better case.
struct payment {
	uint32_t job;
	double taken_ps, better_ps;
	double percent; // longer
};

// most_of finds the job that pays most; false when no job is known in both cases.
static bool most_of(
	const struct tb_evidence *evidence, bool for_network, struct payment *most)
{
	bool any = false;
	for (uint32_t i = 0; evidence->times && i < evidence->jobs.n; i++) {
		const struct tb_job_times *times = &evidence->times[i];
		double taken =
			taken_by(evidence, for_network ? &times->alone : &times->run);
		double better =
			taken_by(evidence, for_network ? &times->ideal : &times->alone);
		double percent = better > 0 ? 100 * (taken - better) / better : 0;
		if (taken <= 0 || better <= 0 || (any && percent <= most->percent))
			continue;
		*most = (struct payment){i, taken, better, percent};
		any = true;
	}
	return any;
}

static struct tb_finding *find_payment(
	struct tb_judging *judging, enum tb_rule rule, const struct payment *most)
{
	struct tb_finding *finding = tb_judging_find(judging, rule);
	tb_finding_count(finding, "job", most->job);
	tb_finding_count(finding, "taken_ps", (uint64_t)most->taken_ps);
	tb_finding_count(finding, "better_ps", (uint64_t)most->better_ps);
	return finding;
}

// say_little names the job that pays most, when even that is below the threshold.
static void say_little(struct tb_finding *finding, const struct tb_evidence *evidence,
	const struct payment *most, const char *what)
{
	char job[120], taken[32], alone[32];
	if (most->taken_ps <= most->better_ps) {
		tb_finding_say(finding,
			"The jobs cost each other no time: none would be quicker by "
			"itself.");
		return;
	}
	tb_finding_say(finding,
		"The jobs cost each other less than %g %%. %s pays most: %s %s with the "
		"others and %s alone.",
		TB_FINDING_PAYS, tb_job_text(evidence, most->job, job, sizeof job), what,
		tb_format_time((tb_time_ps)most->taken_ps, taken, sizeof taken),
		tb_format_time((tb_time_ps)most->better_ps, alone, sizeof alone));
}

// say_shared_nodes names the job that shares most nodes with another, where messages on
// the critical path stood in their nodes: what waits there waits for no link.
static void say_shared_nodes(
	struct tb_judging *judging, struct tb_finding *finding, uint32_t job)
{
	const struct tb_evidence *evidence = judging->evidence;
	const struct tb_run_info *info = evidence->info;
	uint32_t most = 0, with = job, n = 0;
	char other[120], nodes[48];
	if (100 * (double)evidence->path.causes[TB_PATH_QUEUE] <
		TB_FINDING_PAYS * (double)info->simulated_ps)
		return;
	// By node: 0, or 1 + the job that was seen there last, of those after its own.
	uint32_t *seen = calloc(info->n_nodes + UINT64_C(1), sizeof *seen);
	if (!seen) {
		judging->failed = true;
		return;
	}
	for (size_t i = 0; i < evidence->loads.n; i++)
		if (evidence->loads.loads[i].job == job &&
			evidence->loads.loads[i].node.id < info->n_nodes)
			seen[evidence->loads.loads[i].node.id] = 1 + job;
	for (size_t i = 0; i < evidence->loads.n; i++) {
		const struct tb_rank_load *load = &evidence->loads.loads[i];
		if (i == 0 || load->job != load[-1].job)
			n = 0;
		if (load->job == job || load->node.id >= info->n_nodes ||
			seen[load->node.id] == 0 || seen[load->node.id] == 1 + load->job)
			continue;
		seen[load->node.id] = 1 + load->job;
		if (++n > most) {
			most = n;
			with = load->job;
		}
	}
	free(seen);
	if (most == 0)
		return;
	tb_finding_count(finding, "shared_nodes", most);
	tb_job_text(evidence, with, other, sizeof other);
	tb_finding_say(finding,
		"%s shares %s with it, where messages of both stand behind each other: "
		"no wait for a link counts that.",
		other, tb_format_counted(most, "node", nodes, sizeof nodes));
}

static void find_others_cost(struct tb_judging *judging)
{
	const struct tb_evidence *evidence = judging->evidence;
	const char *what = strcmp(evidence->info->input_kind, "packets") == 0
				   ? "a message of it takes"
				   : "it takes";
	struct payment most = {0};
	char job[120], taken[32], alone[32], longer[32];
	if (evidence->jobs.n < 2 || !most_of(evidence, false, &most))
		return;
	struct tb_finding *finding = find_payment(judging, TB_RULE_OTHERS_COST, &most);
	if (most.percent < TB_FINDING_PAYS) {
		say_little(finding, evidence, &most, what);
		return;
	}
	tb_finding_say(finding,
		"The other jobs cost %s most: %s %s with them and %s alone, %s longer.",
		tb_job_text(evidence, most.job, job, sizeof job), what,
		tb_format_time((tb_time_ps)most.taken_ps, taken, sizeof taken),
		tb_format_time((tb_time_ps)most.better_ps, alone, sizeof alone),
		tb_percent_text(most.percent, longer, sizeof longer));
	say_shared_nodes(judging, finding, most.job);
}

static void find_network_cost(struct tb_judging *judging)
{
	const struct tb_evidence *evidence = judging->evidence;
	const char *what =
		strcmp(evidence->info->input_kind, "packets") == 0 ? "a message of " : "";
	struct payment most = {0};
	char job[120], taken[32], ideal[32], longer[32];
	if (!most_of(evidence, true, &most))
		return;
	struct tb_finding *finding = find_payment(judging, TB_RULE_NETWORK_COST, &most);
	tb_job_text(evidence, most.job, job, sizeof job);
	tb_format_time((tb_time_ps)most.taken_ps, taken, sizeof taken);
	tb_format_time((tb_time_ps)most.better_ps, ideal, sizeof ideal);
	finding->nothing = most.percent < TB_FINDING_PAYS;
	if (most.taken_ps <= most.better_ps)
		tb_finding_say(finding,
			"On an ideal network, in which no packet waits for another, %s%s "
			"would take %s too: this one costs it nothing.",
			what, job, ideal);
	else if (most.percent < TB_FINDING_PAYS)
		tb_finding_say(finding,
			"On an ideal network, in which no packet waits for another, %s%s "
			"would take %s; by itself on this one it takes %s: the network "
			"costs no job %g %% or more.",
			what, job, ideal, taken, TB_FINDING_PAYS);
	else
		tb_finding_say(finding,
			"On an ideal network, in which no packet waits for another, %s%s "
			"would take %s; by itself on this one it takes %s, %s longer.",
			what, job, ideal, taken,
			tb_percent_text(most.percent, longer, sizeof longer));
}

// say_dead_one names something dead, of the first TB_EVIDENCE_NAMED, and counts it.
static void say_dead_one(struct tb_finding *finding, uint32_t *n, const char *what,
	const char *name, tb_time_ps dead_at_ps, tb_time_ps run_ps)
{
	char time[32];
	if ((*n)++ >= TB_EVIDENCE_NAMED)
		return;
	tb_format_time(dead_at_ps, time, sizeof time);
	if (dead_at_ps > run_ps)
		tb_finding_say(finding,
			"The run ended before the %s %s was to die, at %s.", what, name,
			time);
	else
		tb_finding_say(finding, "The %s %s is dead from %s.", what, name,
			dead_at_ps ? time : "the start");
}

// died_alone is whether a link's cable died by itself, not with a switch; of the two
// links of a cable it is true of one.
static bool died_alone(const struct tb_run *run, const struct tb_run_link *link)
{
	const struct tb_run_switch *switches = tb_run_switches(run);
	tb_time_ps at_ps = link->dead_at_ps;
	return at_ps != TB_TIME_NEVER && link->id.id < link->at.reverse.id &&
	       (link->at.kind == TB_LINK_INJECTION ||
		       switches[link->at.from].dead_at_ps > at_ps) &&
	       (link->at.kind == TB_LINK_EJECTION ||
		       switches[link->at.to].dead_at_ps > at_ps);
}

// say_dead names the dead cables and switches, and returns how many there are.
static uint32_t say_dead(struct tb_finding *finding, const struct tb_evidence *evidence)
{
	const struct tb_run_switch *switches = tb_run_switches(evidence->run);
	const struct tb_run_link *links = tb_run_links(evidence->run);
	tb_time_ps run_ps = evidence->info->simulated_ps;
	uint32_t n = 0;
	bool at_start = false;
	for (uint32_t i = 0; i < tb_run_info(evidence->run)->n_switches; i++)
		if (switches[i].dead_at_ps != TB_TIME_NEVER)
			say_dead_one(finding, &n, "switch", switches[i].name,
				switches[i].dead_at_ps, run_ps);
	for (uint32_t i = 0; i < tb_run_info(evidence->run)->n_links; i++) {
		at_start |= links[i].dead_at_ps == 0;
		if (died_alone(evidence->run, &links[i]))
			say_dead_one(finding, &n, "cable", links[i].name,
				links[i].dead_at_ps, run_ps);
	}
	if (n > TB_EVIDENCE_NAMED)
		tb_finding_say(finding, "%" PRIu32 " more are dead or die.",
			n - TB_EVIDENCE_NAMED);
	if (at_start && evidence->info->network.ascent == TB_ASCENT_DETERMINISTIC)
		tb_finding_say(finding,
			"Routes avoid what was dead at the start, mostly by one top "
			"switch "
			"per destination, as OpenSM's ftree: loads may be unequal.");
	return n;
}

void tb_rules_of_faults(struct tb_judging *judging)
{
	const struct tb_run_info *info = judging->evidence->info;
	char messages[48], packets[64];
	if (info->n_undelivered == 0 && info->n_retries == 0 &&
		tb_run_n_faults(judging->evidence->run) == 0)
		return;
	struct tb_finding *finding = tb_judging_find(judging, TB_RULE_DEAD_LINKS);
	tb_finding_count(finding, "undelivered", info->n_undelivered);
	tb_finding_count(finding, "retries", info->n_retries);
	tb_finding_count(finding, "dead", say_dead(finding, judging->evidence));
	tb_format_counted(info->n_undelivered, "message was|messages were", messages,
		sizeof messages);
	tb_format_counted(
		info->n_retries, "packet was|packets were", packets, sizeof packets);
	tb_finding_say(finding, "%s given up, and %s sent again.",
		info->n_undelivered ? messages : "No message was",
		info->n_retries ? packets : "no packet was");
}

void tb_rules_of_jobs(struct tb_judging *judging)
{
	if (tb_others_percent(judging->evidence) >= TB_FINDING_OTHERS)
		find_whose(judging);
}

void tb_rules_of_people(struct tb_judging *judging)
{
	if (!tb_judging_found(judging, TB_RULE_WHOSE))
		find_whose(judging);
	if (tb_network_matters(judging->evidence) && tb_wait_matters(judging->evidence))
		find_traffic(judging);
	// Compare what messages spent in the network with an idle one, and what they
	// spent in their own sender's queue, which is not the network's doing, with the
	// whole.
	const struct tb_evidence *evidence = judging->evidence;
	const struct tb_run_info *info = evidence->info;
	double latency = 0, queue = 0, network = 0, ideal = 0;
	for (uint32_t i = 0; i < evidence->jobs.n; i++) {
		latency += (double)evidence->jobs.jobs[i].latency_ps;
		queue += (double)evidence->jobs.jobs[i].queue_ps;
		network += (double)evidence->jobs.jobs[i].network_ps;
		ideal += (double)evidence->jobs.jobs[i].ideal_ps;
	}
	if (ideal > 0 && latency > 0) {
		struct tb_finding *finding = tb_judging_find(judging, TB_RULE_COST);
		tb_finding_real(finding, "slowdown", network / ideal);
		finding->nothing = network < TB_FINDING_SLOWER * ideal;
		if (network < TB_FINDING_SLOWER * ideal)
			tb_finding_say(finding,
				"In the network, messages took no longer than on an idle "
				"one%s.",
				tb_judging_found(judging, TB_RULE_SLOW_CABLE)
					? " with the same slow cables"
					: "");
		else
			tb_finding_say(finding,
				"In the network, messages took %.*f times as long as on "
				"an idle one%s.",
				network < 10 * ideal ? 2 : 0, network / ideal,
				!evidence->path.connects || evidence->n_waiting > 0 ? ""
				: info->n_lost || info->n_resent
					? " with connections that are open: they stood "
					  "in their connections, for windows and what "
					  "was lost"
					: " with connections that are open: they stood "
					  "in their connections, until windows that "
					  "begin small had grown");
		find_backlog(judging, latency, queue);
	}
	find_others_cost(judging);
	find_network_cost(judging);
}

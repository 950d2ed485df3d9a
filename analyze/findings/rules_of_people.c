// Whose traffic made whose wait, and what it costs.
#include "findings_impl.h"

#include <inttypes.h>

// find_whose reports what jobs made each other wait, or that they did not.
static void find_whose(struct tb_judging *judging)
{
	const struct tb_evidence *evidence = judging->evidence;
	char victim[120], culprit[120], all[32], share[32], time[32];
	double others = 0;
	if (evidence->jobs.n < 2 || evidence->n_pairs == 0 || evidence->wait_ps <= 0)
		return;
	for (uint32_t i = 0; i < evidence->n_pairs; i++)
		if (evidence->pairs[i].victim != evidence->pairs[i].culprit)
			others += (double)evidence->pairs[i].wait_ps;
	struct tb_finding *finding = tb_judging_find(judging, "whose");
	tb_finding_real(finding, "others_percent", 100 * others / evidence->wait_ps);
	const struct tb_evidence_pair *worst = tb_evidence_worst_pair(evidence);
	if (!worst) {
		tb_finding_say(finding, "No job waited for another.");
		return;
	}
	double percent = 100 * (double)worst->wait_ps / evidence->wait_ps;
	tb_finding_count(finding, "victim_job", worst->victim);
	tb_finding_count(finding, "culprit_job", worst->culprit);
	tb_finding_count(finding, "wait_ps", worst->wait_ps);
	tb_finding_real(finding, "percent_of_wait", percent);
	tb_percent_text(100 * others / evidence->wait_ps, all, sizeof all);
	tb_finding_say(finding,
		"%s of the wait is that of one job for another; most of it is %s "
		"waiting for %s: %s in all, %s of the wait.",
		all, tb_job_text(evidence, worst->victim, victim, sizeof victim),
		tb_job_text(evidence, worst->culprit, culprit, sizeof culprit),
		tb_format_time((tb_time_ps)worst->wait_ps, time, sizeof time),
		tb_percent_text(percent, share, sizeof share));
}

// find_cost compares what messages spent in the network with an idle one, and what they
// spent in their own sender's queue, which is not the network's doing, with the whole.
static void find_cost(struct tb_judging *judging)
{
	const struct tb_evidence *evidence = judging->evidence;
	double latency = 0, queue = 0, network = 0, ideal = 0;
	char share[32];
	for (uint32_t i = 0; i < evidence->jobs.n; i++) {
		latency += (double)evidence->jobs.jobs[i].latency_ps;
		queue += (double)evidence->jobs.jobs[i].queue_ps;
		network += (double)evidence->jobs.jobs[i].network_ps;
		ideal += (double)evidence->jobs.jobs[i].ideal_ps;
	}
	if (ideal <= 0 || latency <= 0)
		return;
	struct tb_finding *finding = tb_judging_find(judging, "cost");
	tb_finding_real(finding, "slowdown", network / ideal);
	tb_finding_say(finding,
		"In the network, messages took %.*f times as long as on an idle one.",
		network < 10 * ideal ? 2 : 0, network / ideal);
	if (queue * 100 < latency * TB_FINDING_BACKLOG)
		return;
	finding = tb_judging_find(judging, "backlog");
	tb_finding_real(finding, "queue_percent", 100 * queue / latency);
	tb_finding_say(finding,
		"From post to delivery, messages spent %s of the time behind others of "
		"their own node: the senders have more to send than they get out.",
		tb_percent_text(100 * queue / latency, share, sizeof share));
}

static void find_dead(struct tb_judging *judging)
{
	const struct tb_run_info *info = judging->evidence->info;
	char messages[48], packets[64];
	if (info->n_undelivered == 0 && info->n_retries == 0)
		return;
	struct tb_finding *finding = tb_judging_find(judging, "dead-links");
	tb_finding_count(finding, "undelivered", info->n_undelivered);
	tb_finding_count(finding, "retries", info->n_retries);
	tb_finding_say(finding, "Dead links kept %s from delivery and had %s.",
		tb_format_counted(
			info->n_undelivered, "message", messages, sizeof messages),
		tb_format_counted(info->n_retries, "packet sent again|packets sent again",
			packets, sizeof packets));
}

void tb_rules_of_people(struct tb_judging *judging)
{
	find_whose(judging);
	find_cost(judging);
	find_dead(judging);
}

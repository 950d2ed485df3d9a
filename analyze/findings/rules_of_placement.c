// Where the ranks of jobs sit, if that leaves most of the network unused: it decides
// everything else that is found.
#include "findings_impl.h"

#include <stdio.h>
#include <string.h>

// Jobs that a report names.
#define NAMED TB_EVIDENCE_NAMED

static bool is_placed(const struct tb_job_figures *job, const char *how)
{
	return strcmp(job->placement ? job->placement : "", how) == 0;
}

bool tb_placement_may_decide(const struct tb_evidence *evidence, uint32_t job)
{
	const struct tb_run_info *info = evidence->info;
	const struct tb_job_figures *at = &evidence->jobs.jobs[job];
	// The ends of captures are where they were, and maps choose.
	if (strcmp(info->input_kind, "job") != 0 || at->n_ranks < 2 ||
		strstr(info->options, "closed-loop") || strstr(info->options, "--map"))
		return false;
	if (is_placed(at, "apart"))
		return true;
	return (is_placed(at, "") || is_placed(at, "trace")) &&
	       (at->n_ranks > at->n_nodes ||
		       (uint64_t)at->n_nodes * TB_FINDING_FEW_NODES <= info->n_nodes);
}

// What is odd about a job's placement.
enum seating_kind { SEAT_FINE, SEAT_SHARED, SEAT_APART, SEAT_ONE_LEAF };

static enum seating_kind seat_of(const struct tb_evidence *evidence, uint32_t job)
{
	const struct tb_job_figures *at = &evidence->jobs.jobs[job];
	bool one_leaf =
		evidence->seats[job].n_leaves == 1 && evidence->info->n_levels > 1 &&
		(uint64_t)at->n_nodes * TB_FINDING_FEW_NODES <= evidence->info->n_nodes;
	if (is_placed(at, "apart"))
		return SEAT_APART;
	if (at->n_ranks > at->n_nodes)
		return SEAT_SHARED;
	return one_leaf ? SEAT_ONE_LEAF : SEAT_FINE;
}

// suggest makes the command with another placement of the job; false when there is none.
static bool suggest(struct tb_judging *judging, uint32_t job, const char *value,
	struct tb_replay_command *command)
{
	if (!tb_judging_command(judging, command))
		return false;
	if (tb_replay_command_n_jobs(command) != judging->evidence->jobs.n) {
		tb_replay_command_fini(command);
		return false;
	}
	tb_replay_command_job(command, job, "placement", value, NULL);
	return true;
}

// of_job writes " of NAME" where there are several jobs.
static const char *of_job(
	const struct tb_evidence *evidence, uint32_t job, char *buffer, size_t size)
{
	char name[120];
	tb_job_text(evidence, job, name, sizeof name);
	snprintf(buffer, size, "%s%s", evidence->jobs.n > 1 ? " of " : "",
		evidence->jobs.n > 1 ? name : "");
	return buffer;
}

static void say_shared(
	struct tb_finding *finding, const struct tb_evidence *evidence, uint32_t job)
{
	const struct tb_job_figures *at = &evidence->jobs.jobs[job];
	const struct tb_job_seat *seat = &evidence->seats[job];
	double percent =
		seat->bytes ? 100 * (double)seat->local_bytes / (double)seat->bytes : 0;
	char name[128], share[32], all[32];
	tb_format_count(evidence->info->n_nodes, all, sizeof all);
	tb_finding_real(finding, "percent_within", percent);
	of_job(evidence, job, name, sizeof name);
	if (at->n_nodes == 1) {
		tb_finding_say(finding,
			"All %u ranks%s sit on one node of %s, as in the trace: none "
			"of their messages meets the network.",
			at->n_ranks, name, all);
		return;
	}
	tb_finding_say(finding,
		"The %u ranks%s sit on %u of %s nodes, as in the trace: %s of the "
		"bytes stay within a node and never meet the network.",
		at->n_ranks, name, at->n_nodes, all,
		tb_percent_text(percent, share, sizeof share));
}

static void say_one_leaf(
	struct tb_finding *finding, const struct tb_evidence *evidence, uint32_t job)
{
	const struct tb_job_figures *at = &evidence->jobs.jobs[job];
	char name[128], all[32];
	tb_finding_say(finding,
		"The %u ranks%s sit on %u of %s nodes, all at one leaf switch: no "
		"link between switches carries their messages.",
		at->n_ranks, of_job(evidence, job, name, sizeof name), at->n_nodes,
		tb_format_count(evidence->info->n_nodes, all, sizeof all));
}

static void say_apart(
	struct tb_finding *finding, const struct tb_evidence *evidence, uint32_t job)
{
	const struct tb_job_figures *at = &evidence->jobs.jobs[job];
	char name[128], all[32];
	tb_finding_say(finding,
		"The %u ranks%s ran on one host, without a network between them; "
		"here each sits on a node of its own, of %s.",
		at->n_ranks, of_job(evidence, job, name, sizeof name),
		tb_format_count(evidence->info->n_nodes, all, sizeof all));
}

// What is said of a placement, and what changes it.
static const struct {
	void (*say)(struct tb_finding *finding, const struct tb_evidence *evidence,
		uint32_t job);
	const char *placement, *words;
} seats[] = {
	[SEAT_SHARED] = {say_shared, "block",
		"placement=block gives each a node of its own."},
	[SEAT_APART] = {say_apart, "trace",
		"placement=trace shows what it takes on one node."},
	[SEAT_ONE_LEAF] = {say_one_leaf, NULL, NULL},
};

static void find_seat(struct tb_judging *judging, uint32_t job, enum seating_kind seat)
{
	const struct tb_evidence *evidence = judging->evidence;
	const struct tb_job_figures *at = &evidence->jobs.jobs[job];
	struct tb_replay_command command;
	struct tb_finding *finding = tb_judging_find(judging, TB_RULE_PLACED);
	tb_finding_count(finding, "job", job);
	tb_finding_count(finding, "ranks", at->n_ranks);
	tb_finding_count(finding, "nodes", at->n_nodes);
	tb_finding_count(finding, "leaves", evidence->seats[job].n_leaves);
	seats[seat].say(finding, evidence, job);
	bool fits =
		seat != SEAT_SHARED || (at->n_ranks <= evidence->info->n_nodes &&
					       !tb_evidence_keeps_hosts(evidence, job));
	// What is at one leaf gains nothing by being spread.
	if (!fits || !seats[seat].placement || !tb_network_matters(evidence) ||
		!suggest(judging, job, seats[seat].placement, &command))
		return;
	tb_finding_say(finding, "%s", seats[seat].words);
	tb_judging_try(judging, finding, &command, "placed.db");
}

void tb_rules_of_placement(struct tb_judging *judging)
{
	const struct tb_evidence *evidence = judging->evidence;
	int n = 0;
	if (evidence->info->n_messages == 0)
		return;
	for (uint32_t i = 0; evidence->seats && i < evidence->jobs.n && n < NAMED; i++) {
		if (evidence->seats[i].n_leaves == 0)
			continue;
		enum seating_kind seat = seat_of(evidence, i);
		n += seat != SEAT_FINE;
		if (seat != SEAT_FINE)
			find_seat(judging, i, seat);
	}
}

// Cables that run below the speed of their peers, and what that costs a run.
#include "credit_params.h"
#include "findings_impl.h"
#include "hash.h"
#include "order.h"
#include "paths.h"
#include "speed_text.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

// A cable among its peers.
struct peer {
	uint64_t kind, bytes_per_s;
	struct tb_link up; // or the injection link
};

TB_ORDER_BY(by_kind_and_rate, struct peer, TB_UP(kind) TB_UP(bytes_per_s) TB_UP(up.id))

// set_usual sets the speed of cables of which more than half of their kind have one.
static void set_usual(struct tb_evidence *evidence, struct peer *peers, uint32_t n)
{
	const struct tb_run_link *links = tb_run_links(evidence->run);
	struct tb_evidence_cables *cables = &evidence->cables;
	if (n)
		qsort(peers, n, sizeof *peers, by_kind_and_rate);
	for (uint32_t i = 0, end, next; i < n; i = end) {
		uint64_t usual = 0;
		uint32_t n_usual = 0;
		for (end = i; end < n && peers[end].kind == peers[i].kind; end = next) {
			next = end;
			while (next < n && peers[next].kind == peers[i].kind &&
				peers[next].bytes_per_s == peers[end].bytes_per_s)
				next++;
			if (next - end > n_usual) {
				n_usual = next - end;
				usual = peers[end].bytes_per_s;
			}
		}
		if (end - i < 2 || 2 * (uint64_t)n_usual <= end - i)
			continue;
		for (uint32_t k = i; k < end; k++) {
			cables->usual[peers[k].up.id] = usual;
			cables->usual[links[peers[k].up.id].at.reverse.id] = usual;
		}
	}
}

// find_usual finds the usual speeds: of cables between the same levels of a rail; of
// hosts that share a name but for its digits, as those of one kind do, theirs.
static int find_usual(struct tb_evidence *evidence, struct tb_error *error)
{
	const struct tb_run_link *links = tb_run_links(evidence->run);
	const struct tb_run_switch *switches = tb_run_switches(evidence->run);
	uint32_t n_links = evidence->info->n_links;
	struct peer *peers = malloc((n_links + 1u) * sizeof *peers);
	if (!peers)
		return tb_fail_memory(error, "the findings");
	for (int by_name = 0; by_name < 2; by_name++) {
		uint32_t n = 0;
		for (uint32_t i = 0; i < n_links; i++) {
			const struct tb_link_info *at = &links[i].at;
			bool enters = at->kind == TB_LINK_INJECTION;
			if ((!enters && (by_name || at->kind != TB_LINK_UP)) ||
				links[i].dead_at_ps == 0)
				continue;
			uint64_t kind = tb_hash_word(TB_HASH_BEGIN, enters);
			kind = tb_hash_word(kind, switches[at->to].at.level);
			kind = tb_hash_word(kind, switches[at->to].at.rail);
			if (!enters)
				kind = tb_hash_word(kind, switches[at->from].at.level);
			const char *name = by_name ? tb_run_node_name(evidence->run,
							     (struct tb_node){at->from})
						   : "";
			for (; *name; name++)
				if (*name < '0' || *name > '9')
					kind = tb_hash_word(kind, (unsigned char)*name);
			peers[n++] = (struct peer){kind, at->bytes_per_s, {i}};
		}
		set_usual(evidence, peers, n);
	}
	free(peers);
	return TB_OK;
}

// mended_rate is what a slow cable would carry at the usual speed, as far as the node's
// PCIe does.
static double mended_rate(const struct tb_evidence *evidence, uint32_t link)
{
	const struct tb_link_info *at = &tb_run_links(evidence->run)[link].at;
	double rate = (double)at->bytes_per_s;
	double usual = (double)evidence->cables.usual[link];
	double pcie =
		(double)tb_credit_params(&evidence->info->network)->pcie_bytes_per_s;
	if ((at->kind == TB_LINK_INJECTION || at->kind == TB_LINK_EJECTION) && pcie > 0)
		usual = fmin(usual, pcie);
	return fmax(usual, rate);
}

// lost_part is the part of a slow cable's time that it would not take at the usual speed.
static double lost_part(const struct tb_evidence *evidence, uint32_t link)
{
	double rate = (double)tb_run_links(evidence->run)[link].at.bytes_per_s;
	return evidence->cables.usual[link] ? 1 - rate / mended_rate(evidence, link) : 0;
}

// What slow cables took longer than they had to: a path holds no more of it.
struct excess {
	const struct tb_link_sample *samples;
	double *left_ps;    // by link
	uint32_t *ejection; // by node
	struct tb_paths *paths;
};

// takes_all is whether whatever takes one of these ways goes over a link, or another slow
// one beside it.
static bool takes_all(const struct tb_evidence *evidence, const struct excess *excess,
	const struct tb_link *way, uint32_t n, uint32_t link)
{
	const struct tb_run_link *links = tb_run_links(evidence->run);
	const struct tb_link_info *at = &links[link].at;
	bool up = at->kind == TB_LINK_UP;
	if (tb_paths_are_known(excess->paths))
		return true;
	if (!up && at->kind != TB_LINK_DOWN)
		return evidence->info->network.n_rails == 1;
	uint32_t below = up ? at->from : at->to;
	if (tb_run_switches(evidence->run)[below].at.level > 0)
		return false;
	for (uint32_t i = 0; i < n; i++) {
		const struct tb_link_info *other = &links[way[i].id].at;
		if (other->kind == at->kind && (up ? other->from : other->to) == below &&
			excess->samples[way[i].id].n_packets > 0 &&
			lost_part(evidence, way[i].id) == 0)
			return false;
	}
	return true;
}

// crossing_cost is how much shorter the steps of a path would be on which messages
// crossed slow cables, or stood behind others that did.
static double crossing_cost(struct tb_evidence *evidence, struct excess *excess,
	const struct tb_path_total *total)
{
	const struct tb_run_link *links = tb_run_links(evidence->run);
	double part = 0, most_ps = 0;
	uint32_t n = 0, n_nodes = evidence->info->n_nodes;
	bool queues = total->cause == TB_PATH_QUEUE;
	if (total->source.id >= n_nodes || total->destination.id >= n_nodes ||
		total->source.id == total->destination.id)
		return 0;
	const struct tb_link *way =
		tb_paths_way(excess->paths, total->source, total->destination, &n);
	for (uint32_t i = 0; i < n; i++) {
		uint32_t link = way[i].id;
		if (excess->left_ps[link] <= 0 ||
			(queues && links[link].at.kind != TB_LINK_INJECTION))
			continue;
		if (!takes_all(evidence, excess, way, n, link)) {
			evidence->cables.may_be_more = true;
			continue;
		}
		part = fmax(part, lost_part(evidence, link));
		most_ps = fmax(most_ps, excess->left_ps[link]);
	}
	double cost_ps = fmin(part * (double)total->sum_ps, most_ps);
	for (uint32_t i = 0; i < n; i++)
		excess->left_ps[way[i].id] -= cost_ps;
	return cost_ps;
}

// sum_costs finds how much shorter the critical path would be at the usual speeds.
static int sum_costs(
	struct tb_evidence *evidence, struct excess *excess, struct tb_error *error)
{
	const struct tb_critical_path *path = &evidence->path;
	struct tb_evidence_cables *cables = &evidence->cables;
	int status = tb_paths_new(&excess->paths, evidence->run, error);
	double cost_ps = 0;
	for (size_t i = 0; !status && i < path->n_totals; i++)
		if (path->totals[i].cause == TB_PATH_TRANSFER ||
			path->totals[i].cause == TB_PATH_QUEUE)
			cost_ps += crossing_cost(evidence, excess, &path->totals[i]);
	tb_paths_free(excess->paths);
	for (size_t i = 0; !status && i < path->n_links; i++) {
		const struct tb_path_link *held = &path->links[i];
		uint32_t node = held->culprit_destination.id;
		uint32_t to =
			held->culprit_job != TB_ID_NONE && node < evidence->info->n_nodes
				? excess->ejection[node]
				: TB_ID_NONE;
		uint32_t link = held->place.link.id;
		double part = link == TB_ID_NONE ? 0 : lost_part(evidence, link);
		// Also farther back, what waits for packets to a node waits for its link.
		if (part == 0 && to != TB_ID_NONE)
			part = lost_part(evidence, to);
		cost_ps += part * (double)held->sum_ps;
	}
	cables->cost_ps = (tb_time_ps)cost_ps;
	if (evidence->link_costs)
		cables->may_be_more |= evidence->link_costs[cables->worst.id].may_be_more;
	return status;
}

// find_least finds what the run takes at least at the usual speeds: its computing, what
// the links of each node carry, and where these are as fast as usual what the ideal
// network takes.
static int find_least(struct tb_evidence *evidence, const struct tb_link_sample *samples,
	struct tb_error *error)
{
	const struct tb_run_info *info = evidence->info;
	const struct tb_run_link *links = tb_run_links(evidence->run);
	struct carried {
		double bytes, bytes_per_s;
	} *nodes = calloc(2 * ((size_t)info->n_nodes + 1), sizeof *nodes);
	const struct tb_time_parts *parts = &evidence->bounds.parts;
	tb_time_ps least_ps = info->has_bound ? info->compute_ps + info->closed_ps : 0;
	bool is_ideal = info->has_bound && parts->unknown_ps == 0;
	if (!nodes)
		return tb_fail_memory(error, "the findings");
	for (uint32_t i = 0; i < info->n_links; i++) {
		const struct tb_link_info *at = &links[i].at;
		bool in = at->kind == TB_LINK_EJECTION;
		uint32_t node = in ? at->to : at->from;
		if ((!in && at->kind != TB_LINK_INJECTION) || node >= info->n_nodes)
			continue;
		is_ideal &= samples[i].bytes == 0 || lost_part(evidence, i) == 0;
		struct carried *of = &nodes[2 * (size_t)node + in];
		of->bytes += (double)samples[i].bytes;
		of->bytes_per_s += (double)at->bytes_per_s / (1 - lost_part(evidence, i));
		tb_time_ps ps = tb_bytes_ps(of->bytes, of->bytes_per_s);
		least_ps = ps > least_ps && info->network.n_rails == 1 ? ps : least_ps;
	}
	free(nodes);
	if (is_ideal)
		least_ps = tb_max_i64(
			least_ps, parts->compute_ps + parts->closed_ps + parts->hosts_ps);
	evidence->cables.least_ps = least_ps;
	return TB_OK;
}

// find_worst finds the slow cable that took most time beyond what it had to, how many are
// like it, and at which switch most of those are.
static int find_worst(
	struct tb_evidence *evidence, struct excess *excess, struct tb_error *error)
{
	const struct tb_run_link *links = tb_run_links(evidence->run);
	const struct tb_run_info *info = evidence->info;
	struct tb_evidence_cables *cables = &evidence->cables;
	uint32_t *n_on = calloc(info->n_switches + 1u, sizeof *n_on);
	double received = 0, n_send = 0, n_receive = 0, most_ps = 0;
	if (!n_on)
		return tb_fail_memory(error, "the findings");
	for (uint32_t i = 0; i < info->n_links; i++) {
		const struct tb_link_info *at = &links[i].at;
		double busy_ps = (double)tb_bytes_ps(
			(double)excess->samples[i].bytes, (double)at->bytes_per_s);
		excess->left_ps[i] = lost_part(evidence, i) * busy_ps;
		if (excess->left_ps[i] > most_ps) {
			most_ps = excess->left_ps[i];
			cables->worst.id = i;
		}
		n_send +=
			at->kind == TB_LINK_INJECTION && excess->samples[i].n_packets > 0;
		if (at->kind != TB_LINK_EJECTION || excess->samples[i].n_packets == 0)
			continue;
		excess->ejection[at->to] = i;
		received += (double)excess->samples[i].bytes;
		n_receive++;
	}
	for (uint32_t i = 0; most_ps > 0 && i < info->n_links; i++) {
		const struct tb_link_info *at = &links[i].at;
		const struct tb_run_link *worst = &links[cables->worst.id];
		if (cables->usual[i] == 0)
			continue;
		cables->carries_more[i] =
			at->kind == TB_LINK_EJECTION &&
			(double)excess->samples[i].bytes * fmax(n_send, n_receive) >
				TB_FINDING_CARRIES_MORE * received;
		double used_ps = excess->left_ps[i] + excess->left_ps[at->reverse.id];
		if ((at->kind != TB_LINK_INJECTION && at->kind != TB_LINK_UP) ||
			used_ps <= 0)
			continue;
		bool alike = cables->usual[i] == cables->usual[worst->id.id] &&
			     at->bytes_per_s == worst->at.bytes_per_s &&
			     (at->kind == worst->at.kind ||
				     links[at->reverse.id].at.kind == worst->at.kind);
		cables->n += alike;
		cables->n_others += !alike;
		if (alike && ++n_on[at->to] > cables->n_on) {
			cables->n_on = n_on[at->to];
			cables->on.id = at->to;
		}
		if (alike && at->kind == TB_LINK_UP && ++n_on[at->from] > cables->n_on) {
			cables->n_on = n_on[at->from];
			cables->on.id = at->from;
		}
	}
	if (cables->n)
		cables->busy_percent =
			100 * (double)excess->samples[cables->worst.id].busy_ps /
			(double)(info->simulated_ps > 0 ? info->simulated_ps : 1);
	free(n_on);
	return TB_OK;
}

int tb_evidence_cables_find(struct tb_evidence *evidence, struct tb_error *error)
{
	struct tb_evidence_cables *cables = &evidence->cables;
	const struct tb_run_link *links = tb_run_links(evidence->run);
	const struct tb_run_info *info = evidence->info;
	size_t n = info->n_links + UINT64_C(1);
	cables->usual = calloc(n, sizeof *cables->usual);
	cables->carries_more = calloc(n, sizeof *cables->carries_more);
	struct excess excess = {.left_ps = calloc(n, sizeof *excess.left_ps),
		.ejection = malloc((info->n_nodes + 1u) * sizeof *excess.ejection)};
	int status =
		cables->usual && cables->carries_more && excess.left_ps && excess.ejection
			? find_usual(evidence, error)
			: tb_fail_memory(error, "the findings");
	for (uint32_t i = 0; !status && i < info->n_links; i++)
		if (cables->usual[i] <= links[i].at.bytes_per_s)
			cables->usual[i] = 0;
	for (uint32_t i = 0; !status && i < info->n_nodes; i++)
		excess.ejection[i] = TB_ID_NONE;
	if (!status)
		status = tb_run_look(
			evidence->run, (struct tb_window){0, 0}, &excess.samples, error);
	if (!status)
		status = find_worst(evidence, &excess, error);
	if (!status && cables->n)
		status = find_least(evidence, excess.samples, error);
	if (!status && cables->n)
		status = sum_costs(evidence, &excess, error);
	free(excess.left_ps);
	free(excess.ejection);
	return status;
}

bool tb_told_as_slow(const struct tb_judging *judging, struct tb_link link)
{
	const struct tb_evidence_cables *cables = &judging->evidence->cables;
	return tb_judging_found(judging, TB_RULE_SLOW_CABLE) && cables->usual[link.id] &&
	       !cables->carries_more[link.id];
}

// put_slow_cables names the slow cables.
static void put_slow_cables(const struct tb_evidence *evidence, char *text, size_t size)
{
	const struct tb_evidence_cables *cables = &evidence->cables;
	const struct tb_run_link *worst = &tb_run_links(evidence->run)[cables->worst.id];
	const struct tb_run_switch *switches = tb_run_switches(evidence->run);
	bool in = worst->at.kind == TB_LINK_EJECTION;
	bool of_node = in || worst->at.kind == TB_LINK_INJECTION;
	char name[160], count[64], on[200] = "";
	if (cables->n > 1) {
		if (2 * cables->n_on > cables->n)
			snprintf(on, sizeof on, ", %s on %s,",
				cables->n_on == cables->n ? "all" : "most",
				switches[cables->on.id].name);
		snprintf(text, size, "%s%s run",
			tb_format_counted(cables->n,
				of_node ? "cable of a node|cables of nodes"
					: "cable between switches|cables between "
					  "switches",
				count, sizeof count),
			on);
	} else if (of_node) {
		snprintf(text, size, "the cable of %s at %s runs",
			tb_node_text(evidence->run,
				(struct tb_node){in ? worst->at.to : worst->at.from},
				name, sizeof name),
			switches[in ? worst->at.from : worst->at.to].name);
	} else {
		snprintf(text, size, "the cable of %s runs", worst->name);
	}
}

// wait_percent is how much of all wait slow cables cause.
static double wait_percent(const struct tb_evidence *evidence)
{
	double wait_ps = 0;
	for (uint32_t i = 0; i < evidence->n_roots; i++)
		if (evidence->cables.usual[evidence->roots[i].link.id])
			wait_ps += (double)evidence->roots[i].wait_ps;
	return tb_percent_of_wait(evidence, wait_ps);
}

// say_cable_cost says by how much they make the critical path longer, and what is left
// without that: along this path, and at least.
static void say_cable_cost(const struct tb_evidence *evidence, struct tb_finding *finding)
{
	const struct tb_evidence_cables *cables = &evidence->cables;
	double usual = (double)cables->usual[cables->worst.id];
	tb_time_ps run_ps = evidence->info->simulated_ps;
	tb_time_ps most_ps = tb_max_i64(run_ps - cables->least_ps, 0);
	char cost[32], whole[32], left[32] = "", then[128] = "", speed[32];
	const char *they = cables->n > 1 ? "They" : "It";
	const char *s = cables->n > 1 ? "" : "s";
	tb_speed_text(usual, speed, sizeof speed);
	tb_format_time(run_ps, whole, sizeof whole);
	bool is_told = cables->cost_ps > 0 && !cables->may_be_more;
	if (is_told)
		tb_format_time_as(run_ps - cables->cost_ps, run_ps, left, sizeof left);
	if (cables->least_ps > 0) {
		tb_finding_count(finding, "least_ps", (uint64_t)cables->least_ps);
		snprintf(then, sizeof then, ": at %s %s%s%s at least %s", speed,
			is_told ? "the critical path would take " : "the run would take",
			left, is_told ? " and the run" : "",
			tb_format_time_as(cables->least_ps, run_ps, cost, sizeof cost));
	}
	if (cables->cost_ps > 0) {
		tb_finding_count(finding, "cost_ps", (uint64_t)cables->cost_ps);
		tb_finding_say(finding,
			"%s make%s the critical path %s%s of %s longer%s.", they, s,
			cables->may_be_more ? "at least " : "",
			tb_format_time_as(cables->cost_ps, run_ps, cost, sizeof cost),
			whole, then);
	} else if (cables->least_ps > 0) {
		tb_finding_say(finding, "%s cost%s at most %s of %s%s.", they, s,
			tb_format_time_as(most_ps, run_ps, cost, sizeof cost), whole,
			then);
	}
}

void tb_rules_of_cables(struct tb_judging *judging)
{
	const struct tb_evidence *evidence = judging->evidence;
	const struct tb_evidence_cables *cables = &evidence->cables;
	double run_ps = (double)evidence->info->simulated_ps;
	char which[400], is[32], usual[32], busy[32], share[32], more[48];
	if (cables->n == 0)
		return;
	const struct tb_run_link *worst = &tb_run_links(evidence->run)[cables->worst.id];
	double percent = wait_percent(evidence);
	// Of captures, and where routes leave open what crossed, the load has to tell.
	bool is_known = evidence->path.n_shares > 0 && !cables->may_be_more;
	if (100 * (double)cables->cost_ps < TB_FINDING_PAYS * run_ps &&
		(is_known || (cables->busy_percent < TB_FINDING_BUSY &&
				     percent < TB_FINDING_INCAST)))
		return;
	struct tb_finding *finding = tb_judging_find(judging, TB_RULE_SLOW_CABLE);
	tb_finding_count(finding, "link", worst->id.id);
	tb_finding_count(finding, "cables", cables->n);
	tb_finding_count(finding, "bytes_per_s", worst->at.bytes_per_s);
	tb_finding_count(finding, "usual_bytes_per_s", cables->usual[worst->id.id]);
	tb_finding_real(finding, "busy_percent", cables->busy_percent);
	tb_finding_real(finding, "percent_of_wait", percent);
	put_slow_cables(evidence, which, sizeof which);
	tb_finding_say(finding, "Slow cable%s: %s at %s, %s peers at %s.",
		cables->n > 1 ? "s" : "", which,
		tb_speed_text((double)worst->at.bytes_per_s, is, sizeof is),
		cables->n > 1 ? "their" : "its",
		tb_speed_text((double)cables->usual[worst->id.id], usual, sizeof usual));
	finding->minor = 100 * (double)cables->cost_ps < TB_FINDING_PAYS * run_ps &&
			 percent < TB_FINDING_INCAST;
	say_cable_cost(evidence, finding);
	tb_finding_say(finding, "%s was busy for %s of the run%s%s%s.",
		cables->n > 1 ? worst->name : "It",
		tb_percent_text(cables->busy_percent, busy, sizeof busy),
		percent < TB_FINDING_STANDS_OUT ? "" : ", and ",
		percent < TB_FINDING_STANDS_OUT
			? ""
			: tb_percent_text(percent, share, sizeof share),
		percent < TB_FINDING_STANDS_OUT ? ""
		: cables->n > 1			? " of all wait is due to them"
						: " of all wait is due to it");
	if (cables->n_others)
		tb_finding_say(finding, "%s slow too.",
			tb_format_counted(cables->n_others,
				"other cable is|other cables are", more, sizeof more));
}

void tb_remedy_of_cables(struct tb_judging *judging)
{
	const struct tb_evidence_cables *cables = &judging->evidence->cables;
	char usual[32];
	const struct tb_finding *slow =
		tb_findings_rule(judging->findings, tb_rules[TB_RULE_SLOW_CABLE].name);
	if (!slow)
		return;
	struct tb_finding *finding = tb_judging_remedy(judging, TB_RULE_MENDED_CABLE);
	finding->minor = slow->minor;
	tb_finding_say(finding,
		"Mend the slow cable%s: check %s, the ports at both ends, and the speed "
		"that they are set to, until %s at %s.",
		cables->n > 1 ? "s" : "", cables->n > 1 ? "them" : "it",
		cables->n > 1 ? "they run" : "it runs",
		tb_speed_text(
			(double)cables->usual[cables->worst.id], usual, sizeof usual));
}

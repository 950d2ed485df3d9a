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

// excess_ps is how much longer a slow cable was busy than at the usual speed.
static double excess_ps(const struct tb_evidence *evidence,
	const struct tb_link_sample *samples, uint32_t link)
{
	double rate = (double)tb_run_links(evidence->run)[link].at.bytes_per_s;
	double busy_ps = (double)tb_bytes_ps((double)samples[link].bytes, rate);
	return evidence->cables.usual[link]
		       ? busy_ps * (1 - rate / mended_rate(evidence, link))
		       : 0;
}

// find_worst finds the slow cable that took most time beyond what it had to, how many are
// like it, at which switch most of those are, and what all took beyond.
static int find_worst(struct tb_evidence *evidence, const struct tb_link_sample *samples,
	double *sum_ps, struct tb_error *error)
{
	const struct tb_run_link *links = tb_run_links(evidence->run);
	const struct tb_run_info *info = evidence->info;
	struct tb_evidence_cables *cables = &evidence->cables;
	uint32_t *n_on = calloc(info->n_switches + 1u, sizeof *n_on);
	double received = 0, n_send = 0, n_receive = 0, most_ps = 0;
	*sum_ps = 0;
	if (!n_on)
		return tb_fail_memory(error, "the findings");
	for (uint32_t i = 0; i < info->n_links; i++) {
		double ps = excess_ps(evidence, samples, i);
		*sum_ps += ps;
		if (ps > most_ps) {
			most_ps = ps;
			cables->worst.id = i;
		}
		bool is_used = samples[i].n_packets > 0;
		n_send += links[i].at.kind == TB_LINK_INJECTION && is_used;
		if (links[i].at.kind != TB_LINK_EJECTION || !is_used)
			continue;
		received += (double)samples[i].bytes;
		n_receive++;
	}
	for (uint32_t i = 0; most_ps > 0 && i < info->n_links; i++) {
		const struct tb_link_info *at = &links[i].at;
		const struct tb_run_link *worst = &links[cables->worst.id];
		if (cables->usual[i] == 0)
			continue;
		cables->carries_more[i] =
			at->kind == TB_LINK_EJECTION &&
			(double)samples[i].bytes * fmax(n_send, n_receive) >
				TB_FINDING_CARRIES_MORE * received;
		if ((at->kind != TB_LINK_INJECTION && at->kind != TB_LINK_UP) ||
			samples[i].bytes + samples[at->reverse.id].bytes == 0)
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
			100 * (double)samples[cables->worst.id].busy_ps /
			(double)(info->simulated_ps > 0 ? info->simulated_ps : 1);
	free(n_on);
	return TB_OK;
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

// find_cost finds the range of what the slow cables cost the run, by what its bytes need
// of the links as they are and at the usual speeds (bounds.h).
//
// At most: the run takes no less than its bytes need then (only those that cross cuts
// where headers choose by load, as other links carry less then), and gains no more than
// the cables were busy longer and timers ran, unless circuits hold them idle, nor more
// than its critical path was in the network. At least: the difference of the two needs, a
// third of it only as far as wait is for these cables, less three quarters of what the
// run took beyond its need, which may have been in parallel. That is no bound: of 800
// mended runs 98 % gained what it says, to 1 % of the run, the fewest (94 %) with slow
// hosts (tests/e2e/slow_cables_cost.sh has others). What TCP loses by windows and
// time-outs has no such measure: there only the first is known.
static int find_cost(struct tb_evidence *evidence, const struct tb_link_sample *samples,
	double sum_ps, struct tb_error *error)
{
	const struct tb_run_info *info = evidence->info;
	const struct tb_run_link *links = tb_run_links(evidence->run);
	struct tb_evidence_cables *cables = &evidence->cables;
	const struct tb_time_parts *parts = &evidence->bounds.parts;
	const struct tb_switching_kind *switching = tb_switching_of(&info->network);
	enum tb_ascent ascent = info->network.ascent;
	bool by_load = tb_ascends_by_load(ascent) || ascent == TB_ASCENT_RANDOM;
	bool of_nodes = false; // that is what the ideal network has, too
	uint64_t *rates = calloc(info->n_links + 1u, sizeof *rates);
	int status = rates ? TB_OK : tb_fail_memory(error, "the findings");
	for (uint32_t i = 0; !status && i < info->n_links; i++) {
		rates[i] = cables->usual[i] ? (uint64_t)mended_rate(evidence, i) : 0;
		of_nodes |= rates[i] && samples[i].bytes > 0 &&
			    (links[i].at.kind == TB_LINK_INJECTION ||
				    links[i].at.kind == TB_LINK_EJECTION);
	}
	if (!status)
		status = tb_bounds_at(&cables->mended, evidence->run, rates, error);
	free(rates);
	if (status)
		return status;
	double run_ps = (double)parts->run_ps;
	double apart_ps = (double)(parts->compute_ps + parts->closed_ps);
	double left_ps = run_ps - apart_ps;
	double ideal_ps = of_nodes ? 0 : (double)parts->hosts_ps;
	double then_ps =
		(double)(by_load ? cables->mended.cut_ps : cables->mended.routes_ps);
	double most_ps = run_ps - fmax(apart_ps + ideal_ps, then_ps);
	const tb_time_ps *causes = evidence->path.causes;
	if (strcmp(info->network.switching, "circuits") != 0)
		most_ps = fmin(most_ps, sum_ps + (double)causes[TB_PATH_TIMEOUT]);
	if (evidence->path.n_shares)
		most_ps = fmin(most_ps,
			(double)(causes[TB_PATH_QUEUE] + causes[TB_PATH_TRANSFER] +
				 causes[TB_PATH_HELD_UP] + causes[TB_PATH_TIMEOUT] +
				 causes[TB_PATH_PACED] + causes[TB_PATH_ACKNOWLEDGE]));
	double now_ps = fmax(ideal_ps, (double)evidence->bounds.whole.routes_ps);
	now_ps = fmin(now_ps, left_ps);
	double cost_ps = (now_ps - fmax(ideal_ps, then_ps)) *
				 (2 + wait_percent(evidence) / 100) / 3 -
			 0.75 * (left_ps - now_ps);
	cables->most_ps = (tb_time_ps)fmax(most_ps, 0);
	if (!switching->has_connections)
		cables->cost_ps = (tb_time_ps)fmax(fmin(cost_ps, most_ps), 0);
	return TB_OK;
}

int tb_evidence_cables_find(struct tb_evidence *evidence, struct tb_error *error)
{
	struct tb_evidence_cables *cables = &evidence->cables;
	const struct tb_run_link *links = tb_run_links(evidence->run);
	const struct tb_run_info *info = evidence->info;
	const struct tb_link_sample *samples;
	size_t n = info->n_links + UINT64_C(1);
	double sum_ps = 0;
	cables->usual = calloc(n, sizeof *cables->usual);
	cables->carries_more = calloc(n, sizeof *cables->carries_more);
	int status = cables->usual && cables->carries_more
			     ? find_usual(evidence, error)
			     : tb_fail_memory(error, "the findings");
	for (uint32_t i = 0; !status && i < info->n_links; i++)
		if (cables->usual[i] <= links[i].at.bytes_per_s)
			cables->usual[i] = 0;
	if (!status)
		status = tb_run_look(
			evidence->run, (struct tb_window){0, 0}, &samples, error);
	if (!status)
		status = find_worst(evidence, samples, &sum_ps, error);
	if (!status && cables->n)
		status = find_cost(evidence, samples, sum_ps, error);
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

// say_cable_cost says what they cost the run, and what it would take without them.
static void say_cable_cost(const struct tb_evidence *evidence, struct tb_finding *finding)
{
	const struct tb_evidence_cables *cables = &evidence->cables;
	tb_time_ps run_ps = evidence->info->simulated_ps;
	tb_time_ps least_ps = run_ps - cables->most_ps;
	char low[32], most[32], whole[32], least[32], high[32], speed[32];
	tb_format_time(run_ps, whole, sizeof whole);
	tb_format_time_as(cables->cost_ps, run_ps, low, sizeof low);
	tb_format_time_as(cables->most_ps, run_ps, most, sizeof most);
	tb_format_time_as(least_ps, run_ps, least, sizeof least);
	tb_format_time_as(run_ps - cables->cost_ps, run_ps, high, sizeof high);
	bool is_range = 100 * (double)cables->cost_ps >= TB_FINDING_PAYS * (double)run_ps;
	bool is_one = is_range &&
		      100 * (double)(cables->most_ps - cables->cost_ps) < (double)run_ps;
	const char *to = is_range && !is_one ? " to " : "";
	tb_finding_count(finding, "least_ps", (uint64_t)least_ps);
	tb_finding_count(finding, "cost_ps", (uint64_t)cables->cost_ps);
	tb_finding_count(finding, "cost_most_ps", (uint64_t)cables->most_ps);
	tb_finding_say(finding, "%s %s%s%s of %s: at %s the run would take %s%s%s.",
		cables->n > 1 ? "They cost" : "It costs",
		is_one	   ? "about "
		: is_range ? low
			   : "at most ",
		to, most, whole,
		tb_speed_text(
			(double)cables->usual[cables->worst.id], speed, sizeof speed),
		is_one	   ? "about "
		: is_range ? least
			   : "at least ",
		to, is_range && !is_one ? high : least);
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
	// Of captures, which go on as they were captured, the load has to tell.
	bool is_timed = evidence->path.n_shares > 0;
	bool is_loaded = percent >= TB_FINDING_INCAST ||
			 (!is_timed && cables->busy_percent >= TB_FINDING_BUSY);
	if (100 * (double)cables->most_ps < TB_FINDING_PAYS * run_ps && !is_loaded)
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
	finding->minor = 50 * (double)(cables->cost_ps + cables->most_ps) <
				 TB_FINDING_PAYS * run_ps &&
			 !is_loaded;
	if (is_timed)
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

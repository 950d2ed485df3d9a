// What kind of wait it is: an incast, a slow receiver, a hot spot, a taper, a full
// network or node.
#include "credit_params.h"
#include "findings_impl.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

// put_incast_times writes the times of an end: "between 1 ms and 2 ms and between ...";
// their length where the four digits of moments do not show it.
static void put_incast_times(const struct tb_evidence *evidence,
	const struct tb_evidence_end *end, char *text, size_t size)
{
	char begin[32], finish[32], length[32];
	size_t used = 0;
	const struct tb_queue_times *queue = &end->queue;
	for (uint32_t i = 0; i < queue->n && used < size; i++) {
		struct tb_span span = queue->at[i];
		tb_time_ps span_ps = span.to_ps - span.from_ps;
		bool brief = span_ps < span.to_ps / 20;
		tb_format_time(span_ps, length, sizeof length);
		tb_moment_text(evidence->info, span.from_ps, begin, sizeof begin);
		tb_moment_text(evidence->info, span.to_ps, finish, sizeof finish);
		bool at_once = strcmp(begin, finish) == 0; // by these digits
		used += (size_t)snprintf(text + used, size - used, "%s%s%s %s%s%s%s%s%s",
			tb_list_between(i, queue->n),
			queue->within ? "at some time " : "", at_once ? "at" : "between",
			begin, at_once ? "" : " and ", at_once ? "" : finish,
			brief ? " (" : "",
			!brief		? ""
			: queue->within ? "within "
					: "for ",
			brief ? length : "");
		if (brief && used < size)
			used += (size_t)snprintf(text + used, size - used, ")");
	}
}

// put_sent writes how many nodes sent to an end: "8 nodes", "8 to 11 nodes".
static void put_sent(const struct tb_evidence_end *end, char *text, size_t size)
{
	char nodes[48];
	const struct tb_queue_times *queue = &end->queue;
	if (queue->at_least)
		snprintf(text, size, "%" PRIu32 " to %" PRIu32 " nodes", queue->senders.n,
			queue->most_senders);
	else
		snprintf(text, size, "%s%s", queue->at_most ? "up to " : "",
			tb_format_counted(queue->senders.n, "node", nodes, sizeof nodes));
}

const char *tb_congestion_text(const struct tb_evidence *evidence)
{
	if (!tb_switching_of(&evidence->info->network)->has_queue_pairs)
		return "";
	switch (tb_credit_params(&evidence->info->network)->congestion_control) {
	case TB_CONGESTION_NONE:
		break;
	case TB_CONGESTION_DCQCN:
		return " Congestion control was on (dcqcn).";
	case TB_CONGESTION_FECN:
		return " Congestion control was on (fecn).";
	}
	return " Congestion control was off.";
}

// many_send is whether enough nodes sent to an end for an incast.
static bool many_send(
	const struct tb_evidence *evidence, const struct tb_evidence_end *end)
{
	return end->queue.senders.n >= TB_FINDING_SENDERS && end->queue.n > 0 &&
	       !tb_is_slow_receiver(evidence, end);
}

static bool is_incast(
	const struct tb_evidence *evidence, const struct tb_evidence_end *end)
{
	return many_send(evidence, end) &&
	       (end->percent >= TB_FINDING_INCAST ||
		       (end->percent >= TB_EVIDENCE_PART &&
			       end->window_percent >= TB_FINDING_INCAST_THEN));
}

static bool at_once(
	const struct tb_evidence_end *one, const struct tb_evidence_end *other)
{
	for (uint32_t i = 0; i < one->queue.n; i++)
		for (uint32_t k = 0; k < other->queue.n; k++)
			if (one->queue.at[i].from_ps < other->queue.at[k].to_ps &&
				other->queue.at[k].from_ps < one->queue.at[i].to_ps)
				return true;
	return false;
}

// Nodes that many send to at once.
struct servers {
	const struct tb_evidence_end *ends[TB_EVIDENCE_ENDS];
	uint32_t n;
	double percent; // of the wait, together
};

static void put_ends(struct tb_finding *finding, const struct tb_evidence_end *end)
{
	const struct tb_queue_times *queue = &end->queue;
	tb_finding_count(finding, "begin_ps", (uint64_t)queue->at[0].from_ps);
	tb_finding_count(finding, "end_ps", (uint64_t)queue->at[queue->n - 1].to_ps);
}

static void put_incast(
	struct tb_finding *finding, const struct tb_evidence_end *end, double percent)
{
	tb_finding_count(finding, "node", end->node.id);
	tb_finding_count(finding, "link", end->link.id);
	tb_finding_count(finding, "senders", end->queue.senders.n);
	tb_finding_count(finding, "senders_at_most", end->queue.most_senders);
	tb_finding_count(finding, "times", end->queue.n);
	put_ends(finding, end);
	tb_finding_real(finding, "percent_of_wait", percent);
	tb_finding_real(finding, "busy_percent", end->busy_percent);
	tb_finding_real(finding, "stalled_percent", end->stall_percent);
}

// cost_of returns for how long packets to a node held up the end of the run.
static tb_time_ps cost_of(const struct tb_critical_path *path, struct tb_node node)
{
	tb_time_ps cost = 0;
	for (size_t i = 0; i < path->n_links; i++)
		if (path->links[i].culprit_job != TB_ID_NONE &&
			path->links[i].culprit_destination.id == node.id)
			cost += path->links[i].sum_ps;
	return cost;
}

bool tb_network_presses(const struct tb_evidence *evidence)
{
	return 100 * (double)evidence->pressed_ps >=
	       TB_FINDING_SMALL * (double)evidence->info->simulated_ps;
}

// say_cost says for how long packets to these nodes held up the end of the run.
static void say_cost(const struct tb_evidence *evidence, struct tb_finding *finding,
	const struct tb_evidence_end *const *ends, uint32_t n)
{
	const struct tb_critical_path *path = &evidence->path;
	char time[32];
	tb_time_ps cost = 0;
	if (path->n_shares == 0)
		return;
	for (uint32_t end = 0; end < n; end++)
		cost += cost_of(path, ends[end]->node);
	bool more = tb_network_presses(evidence);
	const char *them = n == 1 ? "it" : "them";
	// A share that no digit shows tells no bound.
	if (more && 100 * (double)cost <
			    TB_FINDING_TOLD * (double)evidence->info->simulated_ps) {
		tb_finding_say(finding,
			"For how long packets to %s held up the end of the run is not "
			"known: others stood behind them in their nodes.",
			them);
		return;
	}
	if (!more)
		tb_finding_count(finding, "cost_ps", (uint64_t)cost);
	if (cost > 0)
		tb_finding_say(finding,
			"Packets to %s held up the end of the run for %s%s.", them,
			more ? "at least " : "", tb_format_time(cost, time, sizeof time));
	else
		tb_finding_say(finding, "That did not hold up the end of the run.");
}

// say_drain says for how long packets to a slow receiver held up the end of the run, and
// messages to it crossed the network at its pace: an idle network is no quicker.
static void say_drain(const struct tb_evidence *evidence, struct tb_finding *finding,
	const struct tb_evidence_end *end)
{
	const struct tb_critical_path *path = &evidence->path;
	char held[32], crossed[32];
	tb_time_ps cost = cost_of(path, end->node), drain = 0;
	for (size_t i = 0; i < path->n_totals; i++)
		if (path->totals[i].cause == TB_PATH_TRANSFER &&
			path->totals[i].destination.id == end->node.id)
			drain += path->totals[i].sum_ps;
	if (path->n_shares == 0)
		return;
	tb_finding_count(finding, "cost_ps", (uint64_t)(cost + drain));
	if (cost > 0)
		tb_finding_say(finding,
			"Packets to it held up the end of the run for %s.",
			tb_format_time(cost, held, sizeof held));
	if (drain > 0)
		tb_finding_say(finding,
			"For %s the end of the run waited while messages to it crossed "
			"the network, no quicker than it drains.",
			tb_format_time(drain, crossed, sizeof crossed));
	if (cost + drain == 0)
		tb_finding_say(finding, "That did not hold up the end of the run.");
}

void tb_say_link_costs(const struct tb_evidence *evidence, struct tb_finding *finding,
	const struct tb_link *links, uint32_t n)
{
	const char *them = n == 1 ? "it" : "these";
	tb_time_ps cost = 0;
	char time[32];
	bool more = tb_network_presses(evidence), slow = false;
	if (!evidence->link_costs)
		return;
	for (uint32_t i = 0; i < n; i++) {
		more |= evidence->link_costs[links[i].id].may_be_more;
		cost += evidence->link_costs[links[i].id].least_ps;
		slow |= evidence->cables.n > 0 && evidence->cables.usual[links[i].id];
	}
	if (!more)
		tb_finding_count(finding, "cost_ps", (uint64_t)cost);
	if (more && cost == 0)
		tb_finding_say(finding,
			"For how long %s held up the end of the run is not known: what "
			"waited %s.",
			them,
			tb_network_presses(evidence)
				? "stood behind other messages of its node"
				: "had several ways, or was not kept");
	else if (cost > 0)
		tb_finding_say(finding, "Wait at %s held up the end of the run for %s%s.",
			them, more ? "at least " : "",
			tb_format_time(cost, time, sizeof time));
	else if (!slow) // what crosses it holds up all the same
		tb_finding_say(
			finding, "Wait at %s did not hold up the end of the run.", them);
}

// put_its_links writes "Its link X causes", or how many do.
static const char *put_its_links(const struct tb_evidence *evidence,
	const struct tb_evidence_end *end, char *text, size_t size)
{
	if (end->n_links > 1)
		snprintf(text, size, "Its %" PRIu32 " links cause", end->n_links);
	else
		snprintf(text, size, "Its link %s causes",
			tb_link_text(evidence, end->link));
	return text;
}

// is_said is whether an incast was told with these words: they hold of the next one too.
static bool is_said(const struct tb_judging *judging, const char *words)
{
	for (size_t i = 0; i < judging->findings->n; i++)
		if (judging->findings->list[i].id == TB_RULE_INCAST &&
			strstr(judging->findings->list[i].sentence, words))
			return true;
	return false;
}

static void find_incast(struct tb_judging *judging, const struct tb_evidence_end *end)
{
	static const char of_bursts[] =
		"Busy is a share of the time, wait a sum over packets: in a burst those "
		"of all senders wait at once.";
	const struct tb_evidence *evidence = judging->evidence;
	char node[160], times[320] = "", senders[64], busy[32], stall[32], share[32];
	char then[240] = "", part[32], links[160];
	const char *congestion = tb_congestion_text(evidence);
	if (is_said(judging, congestion))
		congestion = "";
	struct tb_finding *finding = tb_judging_find(judging, TB_RULE_INCAST);
	put_incast(finding, end, end->percent);
	tb_recorded_at_end(judging, end, finding);
	put_incast_times(evidence, end, times, sizeof times);
	put_sent(end, senders, sizeof senders);
	// The list of hot links has what waits at it: tell what waits farther back.
	for (uint32_t i = 0; i < evidence->n_hottest; i++)
		if (evidence->hottest[i].sample.link.id == end->link.id &&
			evidence->info->wait == TB_WAIT_FOR && end->n_links == 1 &&
			end->percent - evidence->hottest[i].percent_of_wait >= 1)
			snprintf(then, sizeof then,
				" (%s right there, the rest behind it)",
				tb_percent_text(evidence->hottest[i].percent_of_wait,
					part, sizeof part));
	if (end->before.id != TB_ID_NONE && !*then)
		snprintf(then, sizeof then,
			" (the queue reaches back to %s, where all wait for packets "
			"to it)",
			tb_link_text(evidence, end->before));
	if (end->percent < TB_FINDING_INCAST)
		snprintf(then, sizeof then, ", and %s of the wait in that time",
			tb_percent_text(end->window_percent, part, sizeof part));
	// A link that rests between bursts makes packets wait all the same.
	bool rests = end->busy_percent + end->stall_percent < 50;
	bool stalls = end->stall_percent >= 1;
	tb_finding_say(finding,
		"Incast at %s: %s sent to it %s. %s %s of all wait%s: %s was busy for %s "
		"of that time%s%s%s.%s",
		tb_node_text(evidence->run, end->node, node, sizeof node), senders, times,
		put_its_links(evidence, end, links, sizeof links),
		tb_percent_text(end->percent, share, sizeof share), then,
		end->n_links > 1 ? tb_link_text(evidence, end->link) : "it",
		tb_percent_text(end->busy_percent, busy, sizeof busy),
		stalls ? " and stalled for " : "",
		stalls ? tb_percent_text(end->stall_percent, stall, sizeof stall) : "",
		rests ? ", and rested between bursts" : "", congestion);
	say_cost(evidence, finding, &end, 1);
	if (rests && !is_said(judging, of_bursts))
		tb_finding_say(finding, "%s", of_bursts);
}

// put_servers names the first of them, with their shares.
static void put_servers(const struct tb_evidence *evidence, const struct servers *servers,
	char *text, size_t size)
{
	enum { NAMED = 6 };
	char node[160], share[32];
	size_t used = 0;
	uint32_t n = servers->n <= NAMED ? servers->n : NAMED;
	for (uint32_t i = 0; i < n && used < size; i++)
		used += (size_t)snprintf(text + used, size - used, "%s%s (%s)",
			n < servers->n && i ? ", " : tb_list_between(i, n),
			tb_node_text(
				evidence->run, servers->ends[i]->node, node, sizeof node),
			tb_percent_text(servers->ends[i]->percent, share, sizeof share));
	if (n < servers->n && used < size)
		snprintf(text + used, size - used, " and %" PRIu32 " more",
			servers->n - n);
}

static void find_incast_at_several(
	struct tb_judging *judging, const struct servers *servers)
{
	const struct tb_evidence *evidence = judging->evidence;
	const struct tb_evidence_end *first = servers->ends[0];
	char names[600] = "", times[320] = "", senders[48], share[32], nodes[48];
	char busy[32];
	double busy_percent = 0;
	struct tb_finding *finding = tb_judging_find(judging, TB_RULE_INCAST);
	put_incast(finding, first, servers->percent);
	tb_recorded_at_end(judging, first, finding);
	tb_finding_count(finding, "nodes", servers->n);
	put_servers(evidence, servers, names, sizeof names);
	put_incast_times(evidence, first, times, sizeof times);
	for (uint32_t i = 0; i < servers->n; i++)
		busy_percent += servers->ends[i]->busy_percent / servers->n;
	tb_finding_say(finding,
		"Incast at %s at once: %s. Up to %s sent to each %s; together their "
		"links cause %s of all wait, and were busy for %s of that time.%s",
		tb_format_counted(servers->n, "node", nodes, sizeof nodes), names,
		tb_format_counted(
			first->queue.most_senders, "node", senders, sizeof senders),
		times, tb_percent_text(servers->percent, share, sizeof share),
		tb_percent_text(busy_percent, busy, sizeof busy),
		tb_congestion_text(evidence));
	say_cost(evidence, finding, servers->ends, servers->n);
}

// find_victim finds who has nothing to do with an incast, but waits for it.
static void find_victim(struct tb_judging *judging)
{
	const struct tb_evidence_victim *victim = &judging->evidence->victim;
	const struct tb_run *run = judging->evidence->run;
	char from[160], to[160], end[160], share[32], more[48];
	if (victim->n_flows == 0 || !tb_judging_found(judging, TB_RULE_INCAST))
		return;
	struct tb_finding *finding = tb_judging_find(judging, TB_RULE_VICTIM);
	tb_finding_count(finding, "source", victim->source.id);
	tb_finding_count(finding, "destination", victim->destination.id);
	tb_finding_count(finding, "node", victim->end.id);
	tb_finding_count(finding, "flows", victim->n_flows);
	tb_finding_real(finding, "slowdown", victim->slowdown);
	tb_finding_real(finding, "lost_ps", victim->lost_ps);
	tb_finding_real(finding, "percent_for_node", victim->percent);
	tb_node_text(run, victim->end, end, sizeof end);
	tb_finding_say(finding,
		"Messages from %s to %s have no part in that, but took %.*f times as "
		"long as on an idle network: %s of what packets to %s waited was for "
		"packets to %s.",
		tb_node_text(run, victim->source, from, sizeof from),
		tb_node_text(run, victim->destination, to, sizeof to),
		victim->slowdown < 10 ? 1 : 0, victim->slowdown,
		tb_percent_text(victim->percent, share, sizeof share), to, end);
	if (victim->n_flows > 1)
		tb_finding_say(finding, "So it is with %s.",
			tb_format_counted(victim->n_flows - 1, "more flow|more flows",
				more, sizeof more));
}

bool tb_is_slow_receiver(
	const struct tb_evidence *evidence, const struct tb_evidence_end *end)
{
	return tb_switching_of(&evidence->info->network)->has_slow_nodes &&
	       end->queue.n > 0 && end->percent >= TB_FINDING_INCAST &&
	       end->stall_percent >= TB_FINDING_SLOW &&
	       (end->queue.senders.n < TB_FINDING_SENDERS ||
		       end->stall_percent > end->busy_percent);
}

// put_senders writes who sent to an end: "node 48", "9 nodes of job io".
static void put_senders(const struct tb_evidence *evidence,
	const struct tb_evidence_end *end, char *text, size_t size)
{
	const struct tb_senders *senders = &end->queue.senders;
	char job[120];
	if (senders->n == 1)
		tb_node_text(evidence->run, senders->first, text, size);
	else
		put_sent(end, text, size);
	size_t used = strlen(text);
	if (evidence->jobs.n > 1 && senders->job < evidence->jobs.n)
		snprintf(text + used, size - used, " of %s",
			tb_job_text(evidence, senders->job, job, sizeof job));
	else if (evidence->jobs.n > 1)
		snprintf(text + used, size - used, " of several jobs");
}

static void find_slow_receiver(
	struct tb_judging *judging, const struct tb_evidence_end *end)
{
	const struct tb_evidence *evidence = judging->evidence;
	double wait_ps = evidence->wait_ps * end->percent / 100;
	char node[160], times[320] = "", senders[300], busy[32], stall[32], share[32];
	char wait[32];
	if (!tb_is_slow_receiver(evidence, end))
		return;
	struct tb_finding *finding = tb_judging_find(judging, TB_RULE_SLOW_RECEIVER);
	tb_finding_count(finding, "node", end->node.id);
	tb_finding_count(finding, "link", end->link.id);
	tb_finding_count(finding, "senders", end->queue.senders.n);
	put_ends(finding, end);
	tb_finding_count(finding, "wait_ps", (uint64_t)wait_ps);
	tb_finding_real(finding, "percent_of_wait", end->percent);
	tb_finding_real(finding, "busy_percent", end->busy_percent);
	tb_finding_real(finding, "stalled_percent", end->stall_percent);
	put_incast_times(evidence, end, times, sizeof times);
	put_senders(evidence, end, senders, sizeof senders);
	tb_finding_say(finding,
		"Slow receiver: %s drains more slowly than its link %s could bring the "
		"packets of %s %s. The link was busy for only %s of that time and "
		"stalled for %s; it causes %s of wait, %s of all.",
		tb_node_text(evidence->run, end->node, node, sizeof node),
		tb_link_text(evidence, end->link), senders, times,
		tb_percent_text(end->busy_percent, busy, sizeof busy),
		tb_percent_text(end->stall_percent, stall, sizeof stall),
		tb_format_time((tb_time_ps)wait_ps, wait, sizeof wait),
		tb_percent_text(end->percent, share, sizeof share));
	say_drain(evidence, finding, end);
}

// has_receiver is whether a node was found at which the wait arises.
static bool has_receiver(const struct tb_judging *judging)
{
	return tb_judging_found(judging, TB_RULE_INCAST) ||
	       tb_judging_found(judging, TB_RULE_SLOW_RECEIVER);
}

static void find_hot_spot(struct tb_judging *judging)
{
	const struct tb_evidence *evidence = judging->evidence;
	char share[32];
	if (evidence->n_roots == 0 || has_receiver(judging))
		return;
	const struct tb_evidence_root *root = &evidence->roots[0];
	double percent = tb_percent_of_wait(evidence, (double)root->wait_ps);
	bool is_alone = evidence->n_roots == 1 ||
			(double)evidence->roots[1].wait_ps <
				TB_FINDING_SINGLE * (double)root->wait_ps;
	if (percent < TB_FINDING_HOT || !is_alone || tb_told_as_slow(judging, root->link))
		return;
	struct tb_finding *finding = tb_judging_find(judging, TB_RULE_HOT_SPOT);
	tb_finding_count(finding, "link", root->link.id);
	tb_finding_real(finding, "percent_of_wait", percent);
	tb_finding_say(finding, "Hot spot: the single link %s causes %s of all wait.",
		tb_link_text(evidence, root->link),
		tb_percent_text(percent, share, sizeof share));
	const struct tb_link_info *at = &tb_run_links(evidence->run)[root->link.id].at;
	const struct tb_evidence_end end = {.node = {at->to}}, *const ends[] = {&end};
	if (at->kind == TB_LINK_EJECTION)
		say_cost(evidence, finding, ends, 1);
	else if (evidence->info->wait == TB_WAIT_FOR)
		tb_say_link_costs(evidence, finding, &root->link, 1);
}

const char *tb_kind_text(const struct tb_evidence_kind *of, char *text, size_t size)
{
	char count[32], ratio[32] = "";
	if (of->are_of_nodes) {
		snprintf(text, size, "the nodes' own links");
		return text;
	}
	if (of->go_up && of->rates_down > of->rates)
		snprintf(ratio, sizeof ratio, ", %.3g:1", of->rates_down / of->rates);
	snprintf(text, size, "links %s level %" PRIu32 " (%s%s)",
		of->go_up ? "up from" : "down to", of->level,
		tb_format_count(of->n, count, sizeof count), ratio);
	return text;
}

// taper_costs is whether bytes take longer to cross cuts than nodes' links: of a single
// job so much longer that it pays, and by more than its routes add to that.
static bool taper_costs(const struct tb_evidence *evidence)
{
	const struct tb_bound *bound =
		evidence->cables.n ? &evidence->cables.mended : &evidence->bounds.whole;
	tb_time_ps cost_ps = bound->cut_ps - bound->host_ps;
	if (!tb_is_timed_job(evidence) || evidence->jobs.n > 1)
		return cost_ps > 0;
	return 100 * (double)cost_ps >=
		       TB_FINDING_PAYS * (double)evidence->info->simulated_ps &&
	       cost_ps > tb_routes_cost(&evidence->bounds);
}

// find_taper: the links up from a level, fewer than those down, are what many wait for.
static void find_taper(struct tb_judging *judging)
{
	const struct tb_evidence *evidence = judging->evidence;
	char text[96], share[32], rates[2][32];
	if (has_receiver(judging) || tb_judging_found(judging, TB_RULE_HOT_SPOT) ||
		!taper_costs(evidence))
		return;
	for (uint32_t i = 0; i < judging->n_kinds; i++) {
		const struct tb_evidence_kind *kind = &judging->kinds[i];
		double ratio = kind->rates_down / kind->rates;
		double percent = tb_percent_of_wait(evidence, kind->wait_ps);
		if (!kind->go_up || kind->n == 0 || ratio < TB_FINDING_TAPERED ||
			percent < TB_FINDING_INSIDE)
			continue;
		struct tb_finding *finding = tb_judging_find(judging, TB_RULE_TAPER);
		tb_finding_count(finding, "level", kind->level);
		tb_finding_count(finding, "links", kind->n);
		tb_finding_real(finding, "taper", ratio);
		tb_finding_real(finding, "percent_of_wait", percent);
		tb_finding_say(finding,
			"The taper makes packets wait: %s cause %s of all wait.",
			tb_kind_text(kind, text, sizeof text),
			tb_percent_text(percent, share, sizeof share));
		double up = kind->rates / kind->n, down = kind->rates_down / kind->n_down;
		if (up < TB_FINDING_SLOW_UP * down)
			tb_finding_say(finding,
				"They run at %s each, the links below at %s.",
				tb_format_rate(up, rates[0], sizeof rates[0]),
				tb_format_rate(down, rates[1], sizeof rates[1]));
		return;
	}
}

// find_idle: links up carry nothing while packets wait for others of the same switches.
static void find_idle(struct tb_judging *judging)
{
	const struct tb_evidence *evidence = judging->evidence;
	const struct tb_evidence_idle *idle = &evidence->idle;
	double percent = tb_percent_of_wait(evidence, idle->wait_ps);
	char links[48], share[32], busy[32], more[48] = "";
	if (idle->n == 0 || percent < TB_FINDING_INSIDE || has_receiver(judging) ||
		tb_judging_found(judging, TB_RULE_FEW_RECEIVERS) ||
		idle->busy_percent < TB_EVIDENCE_FULL)
		return;
	struct tb_finding *finding = tb_judging_find(judging, TB_RULE_IDLE_LINKS);
	tb_finding_count(finding, "links", idle->n);
	tb_finding_count(finding, "of_links", idle->n_links);
	tb_finding_count(finding, "link", idle->full.id);
	tb_finding_count(finding, "switches", idle->n_switches);
	tb_finding_real(finding, "percent_of_wait", percent);
	tb_finding_real(finding, "busy_percent", idle->busy_percent);
	tb_finding_say(finding,
		"%" PRIu32 " of %s up carried nothing (ascent is %s), while %s of all "
		"wait is for the others of the same switches: %s was busy for %s of the "
		"run.",
		idle->n, tb_format_counted(idle->n_links, "link", links, sizeof links),
		tb_ascent_words[evidence->info->network.ascent],
		tb_percent_text(percent, share, sizeof share),
		tb_link_text(evidence, idle->full),
		tb_percent_text(idle->busy_percent, busy, sizeof busy));
	if (idle->n_switches > 1)
		snprintf(
			more, sizeof more, " and %" PRIu32 " more", idle->n_switches - 1);
	if (idle->n_switches)
		tb_finding_say(finding, "Nothing crossed switch %s%s.",
			tb_run_switches(evidence->run)[idle->sw].name, more);
}

static void find_few_receivers(struct tb_judging *judging)
{
	const struct tb_evidence *evidence = judging->evidence;
	uint32_t n = evidence->n_half_ends, n_named = evidence->n_ends;
	char names[600] = "", node[160], receivers[48], senders[48], share[32];
	if (n == 0 || n * 100.0 > evidence->n_senders * TB_FINDING_RECEIVERS ||
		has_receiver(judging) || tb_told_as_slow(judging, evidence->ends[0].link))
		return;
	n_named = n_named < TB_EVIDENCE_NAMED ? n_named : TB_EVIDENCE_NAMED;
	n_named = n_named < n ? n_named : n;
	struct tb_finding *finding = tb_judging_find(judging, TB_RULE_FEW_RECEIVERS);
	tb_finding_count(finding, "receivers", n);
	tb_finding_count(finding, "senders", evidence->n_senders);
	tb_finding_count(finding, "node", evidence->ends[0].node.id);
	tb_finding_real(finding, "percent_of_wait", evidence->half_ends_percent);
	for (uint32_t i = 0; i < n_named; i++) {
		size_t used = strlen(names);
		snprintf(names + used, sizeof names - used, "%s%s", i ? ", " : "",
			tb_node_text(evidence->run, evidence->ends[i].node, node,
				sizeof node));
	}
	tb_finding_say(finding,
		"Few receive what many send: %s %s, and the links to %s (%s%s) cause "
		"%s of all wait.",
		tb_format_counted(evidence->n_senders, "node", senders, sizeof senders),
		evidence->n_senders == 1 ? "sends" : "send",
		tb_format_counted(n, "node", receivers, sizeof receivers), names,
		n > n_named ? " and others" : "",
		tb_percent_text(evidence->half_ends_percent, share, sizeof share));
}

double tb_node_leaves(const struct tb_evidence *evidence, bool *is_bus)
{
	double run_ps = (double)evidence->info->simulated_ps;
	double bus = evidence->bus.busy_percent;
	if (!tb_is_timed_job(evidence))
		return 100;
	double link = 100 * (double)evidence->bounds.whole.host_ps / run_ps;
	*is_bus = bus > link;
	return 100 - (*is_bus ? bus : link);
}

bool tb_node_decides(const struct tb_evidence *evidence)
{
	const struct tb_bounds *bounds = &evidence->bounds;
	return strcmp(evidence->info->input_kind, "job") == 0 && evidence->jobs.n <= 1 &&
	       2 * bounds->whole.host_ps >
		       bounds->parts.run_ps - bounds->parts.compute_ps;
}

static void find_full(struct tb_judging *judging)
{
	const struct tb_evidence *evidence = judging->evidence;
	bool is_bus;
	if (tb_node_leaves(evidence, &is_bus) < TB_FINDING_NODE_LEAVES)
		return;
	double held = evidence->busy_percent + evidence->stall_percent;
	char busy[32], stall[32], still[80] = "";
	if (evidence->n_roots == 0 || held < TB_FINDING_FULL_HELD ||
		tb_judging_found(judging, TB_RULE_FEW_RECEIVERS) ||
		evidence->n_carrying * 100.0 < evidence->n_used * TB_FINDING_FULL_LINKS)
		return;
	double worst = tb_percent_of_wait(evidence, (double)evidence->roots[0].wait_ps);
	if (worst >= TB_FINDING_FULL_ROOT)
		return;
	struct tb_finding *finding = tb_judging_find(judging, TB_RULE_NETWORK_FULL);
	tb_finding_real(finding, "busy_percent", evidence->busy_percent);
	tb_finding_real(finding, "stalled_percent", evidence->stall_percent);
	tb_finding_real(finding, "worst_root_percent", worst);
	if (evidence->stall_percent >= 0.5)
		snprintf(still, sizeof still,
			" and stood still, held by a packet, for another %s",
			tb_percent_text(evidence->stall_percent, stall, sizeof stall));
	tb_finding_say(finding,
		"%s: while most of the wait arose, the links in use moved bytes for %s "
		"of the time%s. No link causes more than %.1f %% of the wait.",
		evidence->busy_percent < TB_EVIDENCE_FULL ? "Packets hold each other up"
		: tb_routes_matter(evidence) ? "The links of its routes are full"
					     : "The network is full",
		tb_percent_text(evidence->busy_percent, busy, sizeof busy), still, worst);
}

// find_node_full says which node's own link, or bus, takes nearly all of a run that
// was held up, where no other finding does.
static void find_node_full(struct tb_judging *judging)
{
	const struct tb_evidence *evidence = judging->evidence;
	const struct tb_bound *whole = &evidence->bounds.whole;
	const struct tb_evidence_bus *bus = &evidence->bus;
	const tb_time_ps *causes = evidence->path.causes;
	double run_ps = (double)evidence->info->simulated_ps;
	char text[160], busy[32], rate[32], least[32];
	bool is_bus;
	double leaves = tb_node_leaves(evidence, &is_bus);
	if (!evidence->info->complete || leaves >= TB_FINDING_NODE_LEAVES ||
		100 * (double)(causes[TB_PATH_HELD_UP] + causes[TB_PATH_QUEUE] +
			       causes[TB_PATH_TRANSFER]) <
			TB_FINDING_PAYS * run_ps ||
		has_receiver(judging) ||
		tb_judging_found(judging, TB_RULE_FEW_RECEIVERS) ||
		(!is_bus && whole->link.id != TB_ID_NONE &&
			tb_told_as_slow(judging, whole->link)) ||
		(!is_bus && evidence->backlog.n_nodes > 0))
		return;
	struct tb_finding *finding = tb_judging_find(judging, TB_RULE_NODE_FULL);
	tb_finding_count(finding, "node", is_bus ? bus->node.id : whole->host.part);
	tb_finding_real(finding, "busy_percent", 100 - leaves);
	tb_percent_text(100 - leaves, busy, sizeof busy);
	if (is_bus) {
		tb_finding_say(finding,
			"A node's bus is full: that of %s, %s%s, was busy for %s of the "
			"run. It is not the network that takes the time.",
			tb_node_text(evidence->run, bus->node, text, sizeof text),
			tb_format_rate(bus->bytes_per_s, rate, sizeof rate),
			bus->both_ways ? " for both directions together" : "", busy);
		return;
	}
	tb_finding_say(finding,
		"A node's own link is full: what went %s %s took it %s of the run, %s, "
		"on whatever network.",
		whole->host.into ? "into" : "out of",
		tb_node_text(evidence->run, (struct tb_node){whole->host.part}, text,
			sizeof text),
		busy, tb_format_time(whole->host_ps, least, sizeof least));
}

// find_paced: congestion control kept senders while the links that they had filled
// rested.
static void find_paced(struct tb_judging *judging)
{
	const struct tb_evidence *evidence = judging->evidence;
	tb_time_ps run_ps = evidence->info->simulated_ps;
	tb_time_ps paced_ps = evidence->path.causes[TB_PATH_PACED];
	char cost[32], share[32];
	double percent = 100 * (double)paced_ps / (double)run_ps;
	if (paced_ps == 0 || percent < TB_FINDING_PAYS)
		return;
	struct tb_finding *finding = tb_judging_find(judging, TB_RULE_PACED);
	tb_finding_count(finding, "cost_ps", (uint64_t)paced_ps);
	tb_finding_say(finding,
		"Congestion control (%s) kept senders for %s of the run, %s, while the "
		"links that they had filled rested.",
		tb_credit_params(&evidence->info->network)->congestion_control ==
				TB_CONGESTION_FECN
			? "fecn"
			: "dcqcn",
		tb_percent_text(percent, share, sizeof share),
		tb_format_time_as(paced_ps, run_ps, cost, sizeof cost));
}

// find_credit_limited: a buffer is too small for the way to it and back.
static void find_credit_limited(struct tb_judging *judging)
{
	const struct tb_evidence *evidence = judging->evidence;
	const struct tb_evidence_loop *loop = &evidence->loop;
	char carries[32], rate[32], buffer[32], needed[32], trip[32], lost[32];
	if (100 * loop->lost_ps <
			TB_FINDING_PAYS * (double)evidence->info->simulated_ps ||
		loop->n_links == 0)
		return;
	struct tb_finding *finding = tb_judging_find(judging, TB_RULE_CREDIT_LIMITED);
	tb_finding_count(finding, "link", loop->link.id);
	tb_finding_count(finding, "links", loop->n_links);
	tb_finding_count(finding, "round_trip_ps", (uint64_t)loop->round_ps);
	tb_finding_real(finding, "bytes_per_s", loop->bytes_per_s);
	tb_finding_real(finding, "needed_bytes", loop->needed_bytes);
	tb_finding_real(finding, "lost_at_most_ps", loop->lost_ps);
	tb_finding_say(finding,
		"Buffers are too small: %s of buffer%s carry %s over the round trip of "
		"%s at %s, a link of %s, which needs %s. That may have cost %s.",
		tb_format_size(evidence->info->network.fifo_bytes, buffer, sizeof buffer),
		evidence->info->network.n_vcs > 1 ? " (of a lane)" : "",
		tb_format_rate(loop->bytes_per_s, carries, sizeof carries),
		tb_format_time(loop->round_ps, trip, sizeof trip),
		tb_link_text(evidence, loop->link),
		tb_format_rate(
			(double)tb_run_links(evidence->run)[loop->link.id].at.bytes_per_s,
			rate, sizeof rate),
		tb_format_size((uint64_t)loop->needed_bytes, needed, sizeof needed),
		tb_format_time((tb_time_ps)loop->lost_ps, lost, sizeof lost));
}

void tb_rules_of_nodes(struct tb_judging *judging)
{
	find_credit_limited(judging);
	find_node_full(judging);
	find_paced(judging);
}

void tb_rules_of_shape(struct tb_judging *judging)
{
	if (tb_judging_found(judging, TB_RULE_NO_WAIT) ||
		tb_judging_found(judging, TB_RULE_LITTLE_WAIT) ||
		tb_judging_found(judging, TB_RULE_TIME_SCALE))
		return;
	const struct tb_evidence *evidence = judging->evidence;
	// Where the run is computation, a burst is worth a word if it kept its link busy.
	bool matters = tb_network_matters(evidence) && tb_wait_matters(evidence);
	// Find those at once with the first; n is below 2 when they are no group.
	struct servers servers = {.n = 0};
	for (uint32_t i = 0; i < evidence->n_ends; i++) {
		const struct tb_evidence_end *end = &evidence->ends[i];
		if (!many_send(evidence, end) || end->percent < TB_EVIDENCE_PART ||
			tb_told_as_slow(judging, end->link) ||
			(servers.n && !at_once(servers.ends[0], end)))
			continue;
		servers.ends[servers.n++] = end;
		servers.percent += end->percent;
	}
	if (!matters || servers.percent < TB_FINDING_INCAST ||
		servers.n * 100.0 > evidence->n_senders * TB_FINDING_SERVERS)
		servers.n = 0;
	uint32_t n = 0;
	if (servers.n > 1)
		find_incast_at_several(judging, &servers);
	for (uint32_t i = 0; i < evidence->n_ends && n < TB_EVIDENCE_NAMED; i++) {
		bool named = false;
		for (uint32_t k = 0; servers.n > 1 && k < servers.n; k++)
			named |= servers.ends[k] == &evidence->ends[i];
		const struct tb_evidence_end *end = &evidence->ends[i];
		if (named || !is_incast(evidence, end) ||
			tb_told_as_slow(judging, end->link) ||
			(!matters && end->busy_percent + end->stall_percent < 50))
			continue;
		find_incast(judging, end);
		n++;
	}
	if (!matters)
		return;
	find_victim(judging);
	for (uint32_t i = 0; i < judging->evidence->n_ends; i++)
		find_slow_receiver(judging, &judging->evidence->ends[i]);
	find_hot_spot(judging);
	find_few_receivers(judging);
	find_taper(judging);
	find_idle(judging);
	find_full(judging);
}

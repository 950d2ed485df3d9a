// What kind of wait it is: none, hardly any, an incast, a slow receiver, a hot spot, a
// full network.
#include "credit_params.h"
#include "ethernet_params.h"
#include "findings_impl.h"
#include "range_text.h"
#include "shape.h"
#include "underload.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Of inferred jobs a range is known, no number.
void tb_rules_of_range(struct tb_judging *judging)
{
	const struct tb_run_info *info = judging->evidence->info;
	const struct tb_range range = tb_range_of_run(info);
	char text[TB_RANGE_TEXT];
	if (info->n_calls == 0)
		return;
	struct tb_finding *finding = tb_judging_find(judging, TB_RULE_RUN_TIME);
	tb_finding_count(finding, "least_ps", (uint64_t)range.least_ps);
	tb_finding_count(finding, "most_ps", (uint64_t)range.most_ps);
	tb_finding_count(finding, "calls", range.n_calls);
	tb_finding_count(finding, "hidden", range.n_hidden);
	tb_finding_count(finding, "untold", range.n_untold);
	tb_finding_say(finding, "By what was recorded the run takes %s.",
		tb_range_text(&range, text, sizeof text));
}

// load_of is what a replay of captures asks of the network.
static struct tb_underload load_of(const struct tb_evidence *evidence)
{
	const struct tb_run_info *info = evidence->info;
	return (struct tb_underload){.network = &info->network,
		.busiest_share = evidence->capture.busiest_share,
		.half_scale = evidence->capture.half_scale,
		.wait_ps = evidence->wait_ps,
		.n_packets = info->n_packets,
		.input_name = info->input_name,
		.options = info->options,
		.recorded = tb_run_recorded_on(evidence->run),
		.n_inputs = info->n_jobs};
}

// say_of_load appends sentences on the load.
static void say_of_load(struct tb_judging *judging, struct tb_finding *finding,
	const struct tb_underload *load,
	void (*write)(FILE *stream, const struct tb_underload *load))
{
	char *sentence = NULL;
	size_t size = 0;
	FILE *stream = open_memstream(&sentence, &size);
	if (stream) {
		write(stream, load);
		fclose(stream);
	}
	judging->failed |= !sentence;
	tb_finding_say(finding, "%s", sentence ? sentence : "");
	free(sentence);
}

// find_nothing finds a capture that asks so little that it shows nothing.
static void find_nothing(struct tb_judging *judging)
{
	const struct tb_evidence *evidence = judging->evidence;
	const struct tb_underload load = load_of(evidence);
	size_t size = 0;
	if (!evidence->info->complete ||
		strcmp(evidence->info->input_kind, "packets") != 0 ||
		!tb_underload_shows_nothing(&load))
		return;
	struct tb_finding *finding = tb_judging_find(judging, TB_RULE_TIME_SCALE);
	tb_finding_real(finding, "busiest_percent", load.busiest_share * 100);
	tb_finding_real(finding, "time_scale", load.half_scale);
	say_of_load(judging, finding, &load, tb_underload_state);
	FILE *stream = open_memstream(&finding->command, &size);
	bool again = stream && tb_underload_command(stream, &load) == TB_OK;
	judging->failed |= !stream || fclose(stream) != 0;
	if (!again) {
		free(finding->command);
		finding->command = NULL;
	}
}

static void find_little(struct tb_judging *judging)
{
	const struct tb_evidence *evidence = judging->evidence;
	const struct tb_run_info *info = evidence->info;
	double packet = tb_full_packet_ps(&info->network);
	double mean = info->n_packets ? evidence->wait_ps / (double)info->n_packets : 0;
	char wait[32], full[32], share[32];
	if (!info->complete || evidence->n_waiting == 0 ||
		mean >= TB_FINDING_LITTLE * packet ||
		tb_judging_found(judging, TB_RULE_TIME_SCALE))
		return;
	struct tb_finding *finding = tb_judging_find(judging, TB_RULE_LITTLE_WAIT);
	tb_finding_real(finding, "wait_per_packet_ps", mean);
	tb_finding_real(finding, "percent_of_packet", 100 * mean / packet);
	tb_finding_say(finding,
		"Hardly anything waited: %s a packet on average, %s of the %s that a "
		"full packet takes on a link.",
		tb_format_time((tb_time_ps)mean, wait, sizeof wait),
		tb_format_percent(100 * mean / packet, share, sizeof share),
		tb_format_time((tb_time_ps)packet, full, sizeof full));
	const struct tb_underload load = load_of(evidence);
	if (load.recorded != TB_RECORDED_UNKNOWN)
		say_of_load(judging, finding, &load, tb_underload_hints);
}

void tb_rules_of_state(struct tb_judging *judging)
{
	const struct tb_run_info *info = judging->evidence->info;
	char time[32];
	if (!info->complete) {
		struct tb_finding *finding = tb_judging_find(judging, TB_RULE_INCOMPLETE);
		tb_finding_count(finding, "simulated_ps", (uint64_t)info->simulated_ps);
		tb_finding_say(finding,
			"The run is incomplete: this is what there was when it stopped, "
			"after %s.",
			tb_format_time(info->simulated_ps, time, sizeof time));
	}
	find_nothing(judging);
	if (strcmp(judging->evidence->info->input_kind, "routes") == 0)
		tb_finding_say(tb_judging_find(judging, TB_RULE_NO_WAIT),
			"Nothing was simulated: the run holds what routes put on links.");
	else if (info->complete && info->n_messages == 0 && info->n_undelivered == 0)
		tb_finding_say(tb_judging_find(judging, TB_RULE_NO_WAIT),
			info->simulated_ps ? "No message was sent."
					   : "Nothing was simulated: no message was "
					     "sent, and nothing computed.");
	else if (judging->evidence->n_waiting == 0 &&
		 !tb_judging_found(judging, TB_RULE_TIME_SCALE))
		tb_finding_say(tb_judging_find(judging, TB_RULE_NO_WAIT),
			"No packet waited for %s.",
			judging->evidence->info->words->awaited);
	find_little(judging);
}

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

// presses returns whether messages that stood in their nodes behind those that the
// network held up are more of the path than what is small: costs are "at least" then.
static bool presses(const struct tb_evidence *evidence)
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
	bool more = presses(evidence);
	const char *them = n == 1 ? "it" : "them";
	if (more && cost == 0) {
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

// say_link_costs says for how long the packets that waited at links held up the end of
// the run.
static void say_link_costs(const struct tb_evidence *evidence, struct tb_finding *finding,
	const struct tb_link *links, uint32_t n)
{
	const char *them = n == 1 ? "it" : "these";
	tb_time_ps cost = 0;
	char time[32];
	bool more = presses(evidence);
	if (!evidence->link_costs)
		return;
	for (uint32_t i = 0; i < n; i++) {
		more |= evidence->link_costs[links[i].id].may_be_more;
		cost += evidence->link_costs[links[i].id].least_ps;
	}
	if (!more)
		tb_finding_count(finding, "cost_ps", (uint64_t)cost);
	if (more && cost == 0)
		tb_finding_say(finding,
			"For how long %s held up the end of the run is not known: what "
			"waited %s.",
			them,
			presses(evidence) ? "stood behind other messages of its node"
					  : "had several ways, or was not kept");
	else if (cost > 0)
		tb_finding_say(finding, "Wait at %s held up the end of the run for %s%s.",
			them, more ? "at least " : "",
			tb_format_time(cost, time, sizeof time));
	else
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
	struct tb_finding *finding = tb_judging_find(judging, TB_RULE_INCAST);
	put_incast(finding, first, servers->percent);
	tb_recorded_at_end(judging, first, finding);
	tb_finding_count(finding, "nodes", servers->n);
	put_servers(evidence, servers, names, sizeof names);
	put_incast_times(evidence, first, times, sizeof times);
	tb_finding_say(finding,
		"Incast at %s at once: %s. Up to %s sent to each %s; together their "
		"links cause %s of all wait.%s",
		tb_format_counted(servers->n, "node", nodes, sizeof nodes), names,
		tb_format_counted(
			first->queue.most_senders, "node", senders, sizeof senders),
		times, tb_percent_text(servers->percent, share, sizeof share),
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

static double percent_of_wait(const struct tb_evidence *evidence, double wait_ps)
{
	return evidence->wait_ps > 0 ? 100 * wait_ps / evidence->wait_ps : 0;
}

static void find_hot_spot(struct tb_judging *judging)
{
	const struct tb_evidence *evidence = judging->evidence;
	char share[32];
	if (evidence->n_roots == 0 || has_receiver(judging))
		return;
	const struct tb_evidence_root *root = &evidence->roots[0];
	double percent = percent_of_wait(evidence, (double)root->wait_ps);
	bool is_alone = evidence->n_roots == 1 ||
			(double)evidence->roots[1].wait_ps <
				TB_FINDING_SINGLE * (double)root->wait_ps;
	if (percent < TB_FINDING_HOT || !is_alone)
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
		say_link_costs(evidence, finding, &root->link, 1);
}

// Links of one kind: of nodes, or between switches, up or down from a level.
struct links_of {
	bool are_of_nodes, go_up;
	uint32_t level; // of the lower switches
	uint32_t n;
	double percent;		  // of the wait, for which they are the roots
	double rates, rates_down; // sums; the latter of those down into these switches
};

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

enum { KINDS_MOST = 1 + 2 * TB_SHAPE_LEVELS_MOST };

// find_kinds sums up links by kind; those of most wait come first. Returns how many kinds
// there are, 0 where they are not known.
static uint32_t find_kinds(
	const struct tb_evidence *evidence, struct links_of kinds[KINDS_MOST])
{
	const struct tb_run_link *links = tb_run_links(evidence->run);
	const struct tb_run_switch *switches = tb_run_switches(evidence->run);
	uint32_t n = 1 + 2 * evidence->info->n_levels;
	if (n > KINDS_MOST)
		return 0;
	memset(kinds, 0, KINDS_MOST * sizeof *kinds);
	for (uint32_t i = 0; i < evidence->info->n_links; i++) {
		const struct tb_link_info *at = &links[i].at;
		struct links_of *of = &kinds[kind_of(evidence, at)];
		of->n++;
		of->rates += (double)at->bytes_per_s;
		uint32_t below = at->kind == TB_LINK_INJECTION || at->kind == TB_LINK_UP
					 ? switches[at->to].at.level
					 : evidence->info->n_levels;
		if (below + 1 < evidence->info->n_levels)
			kinds[1 + 2 * below].rates_down += (double)at->bytes_per_s;
	}
	for (uint32_t i = 0; i < n; i++) {
		kinds[i].are_of_nodes = i == 0;
		kinds[i].go_up = i % 2;
		kinds[i].level = i ? (i - 1) / 2 : 0;
	}
	for (uint32_t i = 0; i < evidence->n_roots; i++)
		kinds[kind_of(evidence, &links[evidence->roots[i].link.id].at)].percent +=
			percent_of_wait(evidence, (double)evidence->roots[i].wait_ps);
	for (uint32_t i = 1; i < n; i++)
		for (uint32_t k = i; k > 0 && kinds[k].percent > kinds[k - 1].percent;
			k--) {
			struct links_of more = kinds[k];
			kinds[k] = kinds[k - 1];
			kinds[k - 1] = more;
		}
	return n;
}

// put_kind writes "links up from level 0 (2,048, 4:1)".
static const char *put_kind(const struct links_of *of, char *text, size_t size)
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

// find_taper: the links up from a level, fewer than those down, are what many wait for.
static void find_taper(struct tb_judging *judging)
{
	struct links_of kinds[KINDS_MOST];
	char text[96], share[32];
	const struct tb_bound *bound = &judging->evidence->bounds.whole;
	uint32_t n = has_receiver(judging) ||
				     tb_judging_found(judging, TB_RULE_HOT_SPOT) ||
				     bound->cut_ps <= bound->host_ps
			     ? 0
			     : find_kinds(judging->evidence, kinds);
	for (uint32_t i = 0; i < n; i++) {
		double ratio = kinds[i].rates_down / kinds[i].rates;
		if (!kinds[i].go_up || kinds[i].n == 0 || ratio <= 1 ||
			kinds[i].percent < TB_FINDING_INSIDE)
			continue;
		struct tb_finding *finding = tb_judging_find(judging, TB_RULE_TAPER);
		tb_finding_count(finding, "level", kinds[i].level);
		tb_finding_count(finding, "links", kinds[i].n);
		tb_finding_real(finding, "taper", ratio);
		tb_finding_real(finding, "percent_of_wait", kinds[i].percent);
		tb_finding_say(finding,
			"The taper makes packets wait: %s cause %s of all wait.",
			put_kind(&kinds[i], text, sizeof text),
			tb_percent_text(kinds[i].percent, share, sizeof share));
		return;
	}
}

static void find_few_receivers(struct tb_judging *judging)
{
	const struct tb_evidence *evidence = judging->evidence;
	uint32_t n = evidence->n_half_ends, n_named = evidence->n_ends;
	char names[600] = "", node[160], receivers[48], senders[48], share[32];
	if (n == 0 || n * 100.0 > evidence->n_senders * TB_FINDING_RECEIVERS ||
		has_receiver(judging))
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
	double worst = percent_of_wait(evidence, (double)evidence->roots[0].wait_ps);
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
		tb_routes_matter(evidence) ? "The links of its routes are full"
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
		100 * (double)(causes[TB_PATH_HELD_UP] + causes[TB_PATH_QUEUE]) <
			TB_FINDING_PAYS * run_ps ||
		has_receiver(judging) ||
		tb_judging_found(judging, TB_RULE_FEW_RECEIVERS) ||
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

// find_paced: links rest, and senders wait all the same. What paces held up is not
// recorded, so that it is no more than likely.
static void find_paced(struct tb_judging *judging)
{
	const struct tb_evidence *evidence = judging->evidence;
	const struct tb_bounds *bounds = &evidence->bounds;
	const struct tb_time_parts *parts = &bounds->parts;
	double run_ps = (double)evidence->info->simulated_ps;
	char busy[32], less[32];
	if (!tb_switching_of(&evidence->info->network)->has_queue_pairs ||
		!tb_is_timed_job(evidence) || !evidence->info->complete ||
		parts->unknown_ps > 0)
		return;
	enum tb_congestion_control control =
		tb_credit_params(&evidence->info->network)->congestion_control;
	tb_time_ps gain = parts->capacity_ps + parts->routes_ps + parts->waiting_ps;
	double percent = 100 * (double)bounds->whole.routes_ps / run_ps;
	if (control == TB_CONGESTION_NONE || percent >= TB_FINDING_PACED ||
		100 * (double)gain < TB_FINDING_PACED * run_ps)
		return;
	struct tb_finding *finding = tb_judging_find(judging, TB_RULE_PACED);
	tb_finding_real(finding, "busy_percent", percent);
	tb_finding_count(finding, "gain_at_most_ps", (uint64_t)gain);
	tb_finding_say(finding,
		"No link was busy for more than %s of the run, and an ideal network "
		"would "
		"take %s less: it is likely that congestion control (%s) held senders to "
		"a pace, more than the links did.",
		tb_percent_text(percent, busy, sizeof busy),
		tb_format_time(gain, less, sizeof less),
		control == TB_CONGESTION_FECN ? "fecn" : "dcqcn");
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
	find_full(judging);
}

// Where the ranks of jobs sit, if that leaves most of the network unused: it decides
// everything else that is found.

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

// Where and when it waited.

// time_of_bin returns when a bin begins, the end of the run behind the last.
static tb_time_ps time_of_bin(const struct tb_run_info *info, uint64_t bin)
{
	tb_time_ps at = (tb_time_ps)bin * info->bin_ps;
	return at < info->simulated_ps ? at : info->simulated_ps;
}

static void put_windows(const struct tb_evidence *evidence, char *text, size_t size)
{
	const struct tb_wait_windows *windows = &evidence->windows;
	const struct tb_run_info *info = evidence->info;
	char begin[32], end[32];
	size_t used = 0;
	for (uint32_t i = 0; i < windows->n && used < size; i++)
		used += (size_t)snprintf(text + used, size - used, "%sbetween %s and %s",
			tb_list_between(i, windows->n),
			tb_moment_text(info, time_of_bin(info, windows->at[i].first_bin),
				begin, sizeof begin),
			tb_moment_text(info, time_of_bin(info, windows->at[i].end_bin),
				end, sizeof end));
}

static void find_when(struct tb_judging *judging)
{
	const struct tb_evidence *evidence = judging->evidence;
	const struct tb_wait_windows *windows = &evidence->windows;
	char text[240] = "", share[32], time[32];
	double time_ps = 0;
	for (uint32_t i = 0; i < windows->n; i++)
		time_ps += (double)tb_run_window_ps(evidence->run, windows->at[i]);
	if (windows->n == 0 || evidence->info->simulated_ps <= 0)
		return;
	double percent = 100 * time_ps / (double)evidence->info->simulated_ps;
	// Most of some bins tells nothing.
	if (percent >= TB_FINDING_ALL_ALONG && evidence->info->n_bins < TB_FINDING_BINS)
		return;
	struct tb_finding *finding = tb_judging_find(judging, TB_RULE_WHEN);
	tb_finding_count(finding, "windows", windows->n);
	tb_finding_count(finding, "begin_ps",
		(uint64_t)time_of_bin(evidence->info, windows->at[0].first_bin));
	tb_finding_count(finding, "end_ps",
		(uint64_t)time_of_bin(
			evidence->info, windows->at[windows->n - 1].end_bin));
	tb_finding_real(finding, "percent_of_wait", windows->percent);
	tb_finding_real(finding, "percent_of_time", percent);
	put_windows(evidence, text, sizeof text);
	tb_percent_text(windows->percent, share, sizeof share);
	tb_percent_text(percent, time, sizeof time);
	if (percent >= TB_FINDING_ALL_ALONG)
		tb_finding_say(finding,
			"Packets waited all along: %s of the wait is spread over %s of "
			"the "
			"run.",
			share, time);
	else
		tb_finding_say(finding, "%s of the wait arose %s, %s of the run.", share,
			text, time);
}

// find_region reports the most stalled region that holds a good part of the wait; one
// without wait is busy, not congested.
static void find_region(struct tb_judging *judging)
{
	const struct tb_evidence *evidence = judging->evidence;
	const struct tb_regions *regions = &evidence->regions;
	const struct tb_region *worst = NULL;
	char text[160], stalled[32], share[32];
	for (uint32_t i = 0; i < regions->n; i++)
		if ((double)regions->regions[i].wait_ps * 100 >=
				evidence->wait_ps * TB_FINDING_REGION &&
			(!worst || regions->regions[i].percent > worst->percent))
			worst = &regions->regions[i];
	if (!worst)
		return;
	double wait = 100 * (double)worst->wait_ps / evidence->wait_ps;
	struct tb_finding *finding = tb_judging_find(judging, TB_RULE_REGION);
	tb_finding_count(finding, "links", worst->n_links);
	tb_finding_count(finding, "link", worst->worst.id);
	tb_finding_real(finding, "stalled_percent", worst->percent);
	tb_finding_real(finding, "percent_of_wait", wait);
	tb_percent_text(worst->percent, stalled, sizeof stalled);
	tb_percent_text(wait, share, sizeof share);
	if (worst->n_links == 1) {
		tb_finding_say(finding,
			"%s is stalled for %s of the time (a %s share), and holds %s of "
			"the wait.",
			tb_link_text(evidence, worst->worst), stalled,
			tb_stall_level_name(worst->level), share);
		return;
	}
	tb_finding_say(finding,
		"%s are joined and about equally stalled, for %s of the time on average "
		"(a %s share), and hold %s of the wait; the most stalled of them is %s.",
		tb_region_text(worst, text, sizeof text), stalled,
		tb_stall_level_name(worst->level), share,
		tb_link_text(evidence, worst->worst));
}

// say_hottest names the hottest links, and what they cost.
static void say_hottest(const struct tb_evidence *evidence, struct tb_finding *finding)
{
	char share[32], names[700] = "";
	struct tb_link links[TB_EVIDENCE_NAMED];
	for (uint32_t i = 0; i < evidence->n_hottest; i++) {
		const struct tb_hot_link *hot = &evidence->hottest[i];
		size_t used = strlen(names);
		snprintf(names + used, sizeof names - used, "%s%s (%s)",
			tb_list_between(i, evidence->n_hottest),
			tb_link_text(evidence, hot->sample.link),
			tb_percent_text(hot->percent_of_wait, share, sizeof share));
		links[i] = hot->sample.link;
	}
	tb_finding_say(finding, "The hottest %s %s.",
		evidence->n_hottest > 1 ? "are" : "is", names);
	say_link_costs(evidence, finding, links, evidence->n_hottest);
}

// say_kinds names the kinds of links that are the roots of much wait, where no link
// stands out; what the taper is due to is told with that.
static void say_kinds(const struct tb_judging *judging, struct tb_finding *finding)
{
	const struct tb_evidence *evidence = judging->evidence;
	struct links_of kinds[KINDS_MOST];
	char share[32], kind[96], names[400] = "";
	uint32_t n = find_kinds(evidence, kinds);
	for (uint32_t i = 0; i < n && i < TB_EVIDENCE_NAMED; i++) {
		size_t used = strlen(names);
		if (kinds[i].percent >= TB_FINDING_STANDS_OUT)
			snprintf(names + used, sizeof names - used, "%s%s (%s)",
				i ? ", " : "", put_kind(&kinds[i], kind, sizeof kind),
				tb_percent_text(kinds[i].percent, share, sizeof share));
	}
	tb_finding_say(finding, "No link stands out: the hottest has %s.",
		tb_percent_text(
			evidence->hottest[0].percent_of_wait, share, sizeof share));
	if (*names && !tb_judging_found(judging, TB_RULE_TAPER))
		tb_finding_say(finding, "By level it is due to %s.", names);
}

static void find_where(struct tb_judging *judging)
{
	const struct tb_evidence *evidence = judging->evidence;
	char waiting[48], all[48], count[48];
	const char *way = evidence->info->wait == TB_WAIT_FOR ? "for" : "on";
	struct tb_finding *finding = tb_judging_find(judging, TB_RULE_WHERE);
	double percent = evidence->hottest[0].percent_of_wait;
	tb_finding_count(finding, "links", evidence->n_carrying);
	tb_finding_count(finding, "links_that_waited", evidence->n_waiting);
	tb_finding_count(finding, "link", evidence->hottest[0].sample.link.id);
	tb_finding_real(finding, "percent_of_wait", percent);
	tb_finding_say(finding,
		"Packets waited %s %s of %s; %.0f %% of the wait is %s %s.", way,
		tb_format_count(evidence->n_waiting, waiting, sizeof waiting),
		tb_format_counted(evidence->info->n_links, "link", all, sizeof all),
		TB_EVIDENCE_CARRIED, way,
		tb_format_counted(evidence->n_carrying, "link", count, sizeof count));
	if (percent >= TB_FINDING_STANDS_OUT)
		say_hottest(evidence, finding);
	else
		say_kinds(judging, finding);
}

void tb_rules_of_place(struct tb_judging *judging)
{
	const struct tb_evidence *evidence = judging->evidence;
	// The link of an incast is told with that.
	if (evidence->n_waiting == 0)
		return;
	if (evidence->n_hottest > 1 ||
		(evidence->n_hottest == 1 && !tb_judging_found(judging, TB_RULE_INCAST)))
		find_where(judging);
	if (tb_judging_found(judging, TB_RULE_LITTLE_WAIT) ||
		tb_judging_found(judging, TB_RULE_TIME_SCALE))
		return;
	if (!tb_network_matters(judging->evidence) || !tb_wait_matters(judging->evidence))
		return;
	find_when(judging);
	find_region(judging);
}

// What the run time is made of: the headline.

// say_elsewhere says of what was held up at no link why, if it is much: in a connection
// it waits for the busier end, or for windows and time-outs.
static void say_elsewhere(
	struct tb_finding *finding, const struct tb_evidence *evidence, tb_time_ps run_ps)
{
	const struct tb_critical_path *path = &evidence->path;
	const struct tb_run_info *info = evidence->info;
	const struct tb_evidence_port *port = &evidence->port;
	char part[32], held[32], busy[16], lost[32], again[32];
	tb_time_ps nowhere_ps = 0;
	for (size_t i = 0; i < path->n_links; i++)
		if (path->links[i].culprit_job == TB_ID_NONE)
			nowhere_ps += path->links[i].sum_ps;
	if (nowhere_ps <= run_ps / 100 || nowhere_ps <= path->causes[TB_PATH_HELD_UP] / 4)
		return;
	tb_format_time_as(nowhere_ps, run_ps, part, sizeof part);
	if (!path->connects) {
		tb_finding_say(finding,
			"Of what was held up, %s was at no known link: %s.", part,
			tb_path_nowhere(info));
		return;
	}
	bool decides =
		port->sum_ps >= nowhere_ps / 2 && port->busy_percent >= TB_EVIDENCE_FULL;
	if (info->n_lost == 0 && info->n_resent == 0)
		tb_finding_say(finding,
			"Of what was held up, %s was in connections, which lost "
			"nothing%s.",
			part,
			decides ? ""
				: ": to open them takes a round trip, then windows grow "
				  "from small ones");
	else
		tb_finding_say(finding,
			"Of what was held up, %s was in connections; in all %s lost and "
			"%s sent again.",
			part,
			tb_format_counted(
				info->n_lost, "frame was|frames were", lost, sizeof lost),
			tb_format_counted(info->n_resent, "segment was|segments were",
				again, sizeof again));
	if (!decides)
		return;
	tb_finding_say(finding,
		"%s of that is of messages through %s, which was busy for %s of the run.",
		tb_format_time_as(port->sum_ps, run_ps, held, sizeof held),
		tb_run_links(evidence->run)[port->link.id].name,
		tb_percent_text(port->busy_percent, busy, sizeof busy));
}

// say_timeouts says which connection waited longest for TCP's timer, and what for.
static void say_timeouts(
	struct tb_finding *finding, const struct tb_evidence *evidence, tb_time_ps run_ps)
{
	const struct tb_critical_path *path = &evidence->path;
	const struct tb_path_timeout *most = path->timeouts;
	char from[160], to[160], time[32], least[32], lead[120], noticed[80] = "";
	uint64_t n = 0;
	for (size_t i = 0; i < path->n_timeouts; i++)
		n += path->timeouts[i].n;
	if (n == 0 || 100 * (double)path->causes[TB_PATH_TIMEOUT] <
			      TB_FINDING_TOLD * (double)run_ps)
		return;
	tb_finding_count(finding, "timeouts", n);
	tb_finding_count(finding, "timeouts_source", most->source.id);
	tb_finding_count(finding, "timeouts_destination", most->destination.id);
	if (most->lost.id != TB_ID_NONE)
		tb_finding_count(finding, "timeouts_link", most->lost.id);
	tb_format_time_as(most->sum_ps, run_ps, time, sizeof time);
	if (n == 1)
		snprintf(lead, sizeof lead, "One time-out of %s", time);
	else if (path->n_timeouts == 1)
		snprintf(lead, sizeof lead, "%" PRIu64 " time-outs, all", n);
	else
		snprintf(lead, sizeof lead, "%" PRIu64 " time-outs, %s of them", n, time);
	tb_time_ps rto_ps = tb_ethernet_params(&evidence->info->network)->rto_min_ps;
	if (most->sum_ps >= rto_ps)
		snprintf(noticed, sizeof noticed, " (rto_min %s)",
			tb_format_time(rto_ps, least, sizeof least));
	tb_finding_say(finding,
		"%s in the connection from %s to %s: %s lost%s%s, which TCP learned from "
		"its timer alone%s.",
		lead, tb_node_text(evidence->run, most->source, from, sizeof from),
		tb_node_text(evidence->run, most->destination, to, sizeof to),
		most->n == 1 ? "a frame was" : "frames were",
		most->lost.id == TB_ID_NONE ? "" : " at ",
		most->lost.id == TB_ID_NONE ? "" : tb_link_text(evidence, most->lost),
		noticed);
}

// say_path says what the end of the run waited for: the parts add up to the run time.
// What waits in a connection of TCP is not told apart from what waits in the network.
static void say_path(
	struct tb_finding *finding, const struct tb_evidence *evidence, tb_time_ps run_ps)
{
	const struct tb_critical_path *path = &evidence->path;
	bool connects = tb_switching_of(&evidence->info->network)->has_connections;
	static const char *const words[TB_PATH_CAUSES] = {
		[TB_PATH_START] = "before its job began",
		[TB_PATH_COMPUTE] = "computing",
		[TB_PATH_CLOSED] = "waiting for a receiver to open its window",
		[TB_PATH_QUEUE] = "behind other messages of the same node",
		[TB_PATH_SOFTWARE] = "in hosts and libraries",
		[TB_PATH_TRANSFER] = "crossing the network",
		[TB_PATH_HELD_UP] = "held up in the network",
		[TB_PATH_TIMEOUT] = "in time-outs of TCP",
		[TB_PATH_ACKNOWLEDGE] = "waiting for acknowledgements",
		[TB_PATH_LOST] = "until a message was given up",
		[TB_PATH_END] = "after the last operation"};
	char time[32], text[512] = "";
	size_t used = 0, n_told = 0;
	for (size_t i = 0; i < path->n_shares; i++) {
		const struct tb_path_share *share = &path->shares[i];
		tb_finding_count(finding, tb_path_key((enum tb_path_cause)share->cause),
			(uint64_t)share->sum_ps);
		// What no digit of the longest would show is left to the list.
		if (share->percent < TB_FINDING_TOLD || used >= sizeof text)
			continue;
		used += (size_t)snprintf(text + used, sizeof text - used, "%s %s %s",
			n_told++ ? "," : "",
			tb_format_time_as(share->sum_ps, run_ps, time, sizeof time),
			connects && share->cause == TB_PATH_HELD_UP
				? "held up in the network or its connections"
			: share->cause == TB_PATH_QUEUE &&
					2 * evidence->pressed_ps > share->sum_ps
				? "behind messages of the same node that the network "
				  "held up"
				: words[share->cause]);
	}
	tb_finding_say(finding, "The run took %s:%s, along its critical path.",
		tb_format_time(run_ps, time, sizeof time), text);
	say_timeouts(finding, evidence, run_ps);
	say_elsewhere(finding, evidence, run_ps);
}

// say_ideal says what could be gained where no packet waited for another, and what of the
// rest this network owes to its capacity and routes.
static void say_ideal(struct tb_finding *finding, const struct tb_time_parts *parts,
	const struct tb_evidence *evidence)
{
	char ideal[32], less[32], part[32], text[256] = "";
	tb_time_ps held_ps = evidence->path.causes[TB_PATH_HELD_UP];
	tb_time_ps run_ps = parts->run_ps;
	tb_time_ps gain = parts->capacity_ps + parts->routes_ps + parts->waiting_ps;
	// An ideal network, too, has the nodes' own links, for which other messages may
	// wait there than here.
	bool is_bus = false;
	char rest[96] = "";
	if (tb_node_leaves(evidence, &is_bus) >= TB_FINDING_NODE_LEAVES)
		is_bus = false;
	if (held_ps >= run_ps / 1000 && gain < held_ps / 2)
		snprintf(rest, sizeof rest,
			" %s was held up here waits for the nodes' own %s there.",
			gain < held_ps / 10 ? "What" : "Most of what",
			is_bus ? "buses" : "links");
	if (evidence->n_used == 0) {
		tb_finding_say(finding, "The network carries nothing of it.");
		return;
	}
	if (parts->unknown_ps > 0) {
		tb_finding_say(finding,
			evidence->info->has_bound
				? "An ideal network with the same node links came out no "
				  "quicker: what it would gain is not known."
				: "What an ideal network would take is not known: it was "
				  "not replayed.");
		return;
	}
	if (gain < run_ps / 1000) {
		tb_finding_say(finding,
			"An ideal network with the same node links would take as long.%s",
			rest);
		return;
	}
	size_t used = 0;
	if (parts->capacity_ps > 0)
		used += (size_t)snprintf(text, sizeof text,
			", of which this network's capacity costs at least %s",
			tb_format_time_as(parts->capacity_ps, run_ps, part, sizeof part));
	if (parts->routes_ps > 0)
		snprintf(text + used, sizeof text - used, "%s its routes%s %s",
			used ? " and" : ", of which", used ? "" : " cost at least",
			tb_format_time_as(parts->routes_ps, run_ps, part, sizeof part));
	tb_finding_say(finding,
		"An ideal network with the same node links would take %s, %s less%s.%s",
		tb_format_time_as(run_ps - gain, run_ps, ideal, sizeof ideal),
		tb_format_time_as(gain, run_ps, less, sizeof less), text, rest);
}

void tb_rules_of_time(struct tb_judging *judging)
{
	const struct tb_time_parts *parts = &judging->evidence->bounds.parts;
	char text[400];
	if (parts->run_ps <= 0)
		return;
	struct tb_finding *finding = tb_judging_find(judging, TB_RULE_TIME_PARTS);
	tb_finding_count(finding, "run_ps", (uint64_t)parts->run_ps);
	if (parts->has_compute)
		tb_finding_count(finding, "compute_ps", (uint64_t)parts->compute_ps);
	if (parts->closed_ps > 0)
		tb_finding_count(finding, "closed_ps", (uint64_t)parts->closed_ps);
	tb_finding_count(finding, "hosts_ps", (uint64_t)parts->hosts_ps);
	tb_finding_count(finding, "capacity_ps", (uint64_t)parts->capacity_ps);
	tb_finding_count(finding, "routes_ps", (uint64_t)parts->routes_ps);
	tb_finding_count(finding, "waiting_ps", (uint64_t)parts->waiting_ps);
	if (parts->unknown_ps > 0)
		tb_finding_count(finding, "unknown_ps", (uint64_t)parts->unknown_ps);
	if (judging->evidence->path.n_shares) {
		say_path(finding, judging->evidence, parts->run_ps);
		say_ideal(finding, parts, judging->evidence);
		if (!tb_network_matters(judging->evidence))
			tb_finding_say(
				finding, "It is not the network that takes the time.");
	} else {
		tb_finding_say(
			finding, "%s", tb_time_parts_text(parts, text, sizeof text));
	}
}

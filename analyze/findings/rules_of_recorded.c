// What the captures recorded of congestion, before any replay.
#include "findings_impl.h"
#include "order.h"
#include "speed_text.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// is_loss is whether counts tell of a queue that was full: of loss, pauses or marks, or
// of a receiver that took no more.
static bool is_loss(const struct tb_congestion_counts *counts)
{
	const uint64_t *of = counts->of;
	return of[TB_CONGESTION_RETRANSMISSIONS] || of[TB_CONGESTION_ZERO_WINDOWS] ||
	       of[TB_CONGESTION_MARKED] || of[TB_CONGESTION_CNPS] ||
	       of[TB_CONGESTION_PAUSES] || of[TB_CONGESTION_NOT_READY];
}

// keeps_time is whether the run's time is that of the captures.
static bool keeps_time(const struct tb_evidence *evidence)
{
	return strcmp(evidence->info->input_kind, "packets") == 0;
}

static tb_time_ps run_time(const struct tb_evidence *evidence, tb_time_ps captured_ps)
{
	double scale = evidence->info->time_scale;
	double ps = (double)captured_ps * (scale > 0 ? scale : 1);
	return ps < 9e18 ? (tb_time_ps)ps : TB_TIME_NEVER;
}

// find_span finds when it was recorded, from the first bin to the last.
static bool find_span(
	const struct tb_congestion *congestion, tb_time_ps *from_ps, tb_time_ps *to_ps)
{
	bool found = false;
	for (size_t i = 0; i < congestion->n_bins; i++) {
		const struct tb_congestion_bin *bin = &congestion->bins[i];
		if (!is_loss(&bin->counts))
			continue;
		if (!found || bin->from_ps < *from_ps)
			*from_ps = bin->from_ps;
		if (!found || bin->from_ps + congestion->bin_ps > *to_ps)
			*to_ps = bin->from_ps + congestion->bin_ps;
		found = true;
	}
	return found;
}

// lost_ps is how long loss and the receiver's window kept a flow. Where that is not
// known, as of RDMA, what was sent again weighs as in tb_congestion_worst.
static double lost_ps(const struct tb_congestion_pair *pair)
{
	const uint64_t *of = pair->counts.of;
	if (tb_flow_told_ps(&pair->times) > 0)
		return (double)tb_flow_lost_ps(&pair->times);
	return (double)of[TB_CONGESTION_RETRANSMISSIONS] * (double)TB_PS_PER_MS +
	       fmax((double)of[TB_CONGESTION_CLOSED_PS],
		       (double)of[TB_CONGESTION_LIMITED_PS]);
}

static double lost_percent(const struct tb_congestion_pair *pair)
{
	double told_ps = (double)tb_flow_told_ps(&pair->times);
	return told_ps > 0 ? 100 * (double)tb_flow_lost_ps(&pair->times) / told_ps : 0;
}

// is_held_up is whether what was recorded of a flow explains its rate: a few losses in a
// long one do not. Where it is not known how long it lasted, the span of what was
// recorded stands for that. Marks and pauses stop others than their pair.
static bool is_held_up(const struct tb_congestion_pair *pair, double span_ps)
{
	double lasted_ps = fmax(
		(double)tb_flow_told_ps(&pair->times), (double)pair->times.lasted_ps);
	if (lasted_ps <= 0)
		lasted_ps = span_ps;
	return pair->source && lost_ps(pair) > 0 &&
	       100 * lost_ps(pair) >= TB_FINDING_SMALL * lasted_ps;
}

// flow_text writes "10.0.0.1 > 10.0.0.2 (3 Mbit/s)".
static char *flow_text(const struct tb_congestion_pair *pair, char *buffer, size_t size)
{
	char rate[40];
	const struct tb_flow_times *times = &pair->times;
	size_t n = (size_t)snprintf(
		buffer, size, "%s > %s", pair->source, pair->destination);
	if (times->lasted_ps > 0 && times->payload_bytes > 0 && n < size)
		snprintf(buffer + n, size - n, " (%s)",
			tb_speed_text((double)times->payload_bytes * (double)TB_PS_PER_S /
					      (double)times->lasted_ps,
				rate, sizeof rate));
	return buffer;
}

// say_held says for how long what held a flow up; `worst_of` of how many it is the worst,
// 0: it is the only one.
static void say_held(const struct tb_congestion_pair *pair, uint32_t worst_of,
	struct tb_finding *finding)
{
	char flow[160], times[TB_CONGESTION_TEXT_SIZE], text[TB_CONGESTION_TEXT_SIZE];
	char of[48] = "", spent[TB_CONGESTION_TEXT_SIZE + 80] = "";
	struct tb_congestion_counts counts = pair->counts;
	uint64_t told_ps = tb_flow_told_ps(&pair->times);
	if (worst_of)
		snprintf(of, sizeof of, "Worst of %" PRIu32 " flows held up: ", worst_of);
	if (told_ps > 0) {
		counts.of[TB_CONGESTION_LIMITED_PS] = 0; // a part of its time
		snprintf(spent, sizeof spent, ": of %s%s it spent %s",
			TB_TIME_TEXT((tb_time_ps)told_ps),
			told_ps - told_ps / 50 > pair->times.lasted_ps
				? " of its connections"
				: "",
			tb_flow_times_format(&pair->times, times, sizeof times));
	}
	tb_congestion_format(&counts, text, sizeof text);
	tb_finding_say(finding, "%s%s%s%s%s%s.", of, flow_text(pair, flow, sizeof flow),
		worst_of ? "" : " was held up", spent,
		!*text	      ? ""
		: told_ps > 0 ? "; "
			      : ": ",
		text);
}

static int by_ends(const void *left, const void *right)
{
	const struct tb_congestion_pair *a =
		*(const struct tb_congestion_pair *const *)left;
	const struct tb_congestion_pair *b =
		*(const struct tb_congestion_pair *const *)right;
	int order = strcmp(a->source, b->source);
	return order ? order : strcmp(a->destination, b->destination);
}

// notified_of returns how often a flow's sender was told that packets had been marked;
// `notes` are the `n` pairs that say so, by_ends.
static uint64_t notified_of(const struct tb_congestion_pair *pair,
	const struct tb_congestion_pair *const *notes, size_t n)
{
	struct tb_congestion_pair key = {
		.source = pair->destination, .destination = pair->source};
	const struct tb_congestion_pair *wanted = &key;
	const struct tb_congestion_pair *const *back =
		bsearch(&wanted, notes, n, sizeof *notes, by_ends);
	return back ? (*back)->counts.of[TB_CONGESTION_CNPS] : 0;
}

// say_not_held names the other flows, of 1 % of the largest one's bytes or more: those
// that had nothing to send for most of their time, those that marks slowed down, and
// those of which no count tells what limits them.
static int say_not_held(const struct tb_congestion *congestion, double span_ps,
	struct tb_finding *finding)
{
	enum { UNTOLD, IDLE, MARKED, N_WAYS };
	char names[N_WAYS][600] = {"", "", ""}, flow[160], marks[48], count[48];
	uint64_t most = 0;
	uint32_t n[N_WAYS] = {0, 0, 0};
	size_t n_notes = 0;
	const struct tb_congestion_pair **notes =
		malloc((congestion->n_pairs + 1) * sizeof *notes);
	if (!notes)
		return TB_ENOMEM;
	for (size_t i = 0; i < congestion->n_pairs; i++) {
		const struct tb_congestion_pair *pair = &congestion->pairs[i];
		if (!pair->source) // all that are beyond the table
			continue;
		most = tb_max_u64(most, pair->times.payload_bytes);
		if (pair->counts.of[TB_CONGESTION_CNPS])
			notes[n_notes++] = pair;
	}
	qsort(notes, n_notes, sizeof *notes, by_ends);
	for (size_t i = 0; i < congestion->n_pairs; i++) {
		const struct tb_congestion_pair *pair = &congestion->pairs[i];
		const struct tb_flow_times *times = &pair->times;
		if (is_held_up(pair, span_ps) || !pair->source ||
			100 * (double)times->payload_bytes < (double)most)
			continue;
		uint64_t cnps = notified_of(pair, notes, n_notes);
		int way = cnps ? MARKED
			  : 2 * times->of_ps[TB_FLOW_IDLE] > tb_flow_told_ps(times)
				  ? IDLE
				  : UNTOLD;
		size_t used = strlen(names[way]), left = sizeof names[way] - used;
		if ((way != MARKED && times->lasted_ps == 0) ||
			++n[way] > TB_EVIDENCE_NAMED)
			continue;
		used += (size_t)snprintf(names[way] + used, left, "%s%s",
			n[way] > 1 ? " and " : "", flow_text(pair, flow, sizeof flow));
		if (way == MARKED && used < sizeof names[way])
			snprintf(names[way] + used, sizeof names[way] - used, " (%s, %s)",
				tb_format_counted(pair->counts.of[TB_CONGESTION_MARKED],
					"marked packet", marks, sizeof marks),
				tb_format_counted(cnps, "CNP", count, sizeof count));
	}
	free(notes);
	if (n[MARKED])
		tb_finding_say(finding, "Congestion marks slowed down %s%s.",
			names[MARKED],
			n[MARKED] > TB_EVIDENCE_NAMED ? " and others" : "");
	// Of many, as between ranks of a job, neither tells anything.
	if (n[IDLE] && n[IDLE] <= TB_EVIDENCE_NAMED)
		tb_finding_say(finding,
			"%s had nothing to send for most of the time: look at the "
			"program, or what that waits for.",
			names[IDLE]);
	if (n[UNTOLD] && n[UNTOLD] <= TB_EVIDENCE_NAMED)
		tb_finding_say(finding,
			"What limits %s is not recorded: the congestion window, or a "
			"port's rate.",
			names[UNTOLD]);
	return TB_OK;
}

static bool is_in_run(const struct tb_congestion_pair *pair)
{
	return pair->source_node != TB_ID_NONE && pair->destination_node != TB_ID_NONE;
}

// worst_in_run returns the numbers of pairs that suffered, the worst first, without those
// whose nodes the run left out; where it knows no nodes, of all.
static size_t *worst_in_run(const struct tb_congestion *congestion, size_t *n)
{
	size_t *worst = tb_congestion_worst(congestion, n), n_kept = 0;
	bool any = false;
	for (size_t i = 0; i < congestion->n_pairs; i++)
		any |= is_in_run(&congestion->pairs[i]);
	for (size_t i = 0; worst && any && i < *n; i++)
		if (is_in_run(&congestion->pairs[worst[i]]))
			worst[n_kept++] = worst[i];
	*n = any ? n_kept : *n;
	return worst;
}

static void find_recorded(
	struct tb_judging *judging, const struct tb_recorded_capture *capture)
{
	const struct tb_evidence *evidence = judging->evidence;
	const struct tb_congestion *congestion = capture->congestion;
	char text[TB_CONGESTION_TEXT_SIZE], job[120] = "", span[80] = "";
	char from[32], to[32];
	tb_time_ps from_ps = 0, to_ps = 0;
	size_t n, *worst = worst_in_run(congestion, &n);
	if (!worst) {
		judging->failed = true;
		return;
	}
	struct tb_finding *finding = tb_judging_find(judging, TB_RULE_RECORDED);
	tb_finding_count(finding, "job", capture->job);
	for (int i = 0; i < TB_CONGESTION_N; i++)
		if (congestion->all.counts.of[i] > 0)
			tb_finding_count(finding, tb_congestion_names[i].key,
				congestion->all.counts.of[i]);
	if (evidence->recorded.n > 1)
		snprintf(job, sizeof job, " of %s",
			tb_job_text(evidence, capture->job, text, sizeof text));
	if (find_span(congestion, &from_ps, &to_ps))
		snprintf(span, sizeof span, ", between %s and %s of its time",
			tb_format_time(from_ps, from, sizeof from),
			tb_format_time(to_ps, to, sizeof to));
	uint32_t n_held = 0;
	double span_ps = (double)(to_ps - from_ps), worst_percent = 0;
	for (size_t i = 0; i < n; i++) {
		const struct tb_congestion_pair *pair = &congestion->pairs[worst[i]];
		if (is_held_up(pair, span_ps) && n_held++ == 0)
			worst_percent = lost_percent(pair);
	}
	tb_finding_count(finding, "flows_held", n_held);
	if (n_held)
		tb_finding_real(finding, "worst_lost_percent", worst_percent);
	// Few of them are told one by one.
	bool few = n_held == n && n <= TB_EVIDENCE_NAMED &&
		   congestion->all.counts.of[TB_CONGESTION_PAUSES] == 0;
	tb_finding_say(finding, "Before any replay, the capture%s recorded %s%s.", job,
		few ? tb_format_counted(n_held,
			      "flow that was held up|flows that were held up", text,
			      sizeof text)
		    : tb_congestion_format(&congestion->all.counts, text, sizeof text),
		span);
	for (size_t i = 0, told = 0; i < n; i++) {
		const struct tb_congestion_pair *pair = &congestion->pairs[worst[i]];
		bool many = n_held > TB_EVIDENCE_NAMED;
		if (is_held_up(pair, span_ps) && !(many && told++))
			say_held(pair, many ? n_held : 0, finding);
	}
	if (n_held) {
		judging->failed |= say_not_held(congestion, span_ps, finding) != TB_OK;
	} else if (n > 1 && congestion->pairs[worst[0]].source) {
		const struct tb_congestion_pair *pair = &congestion->pairs[worst[0]];
		tb_finding_say(finding, "Worst of %s is %s > %s: %s.",
			tb_format_counted(n, "pair", from, sizeof from), pair->source,
			pair->destination,
			tb_congestion_format(&pair->counts, text, sizeof text));
	}
	free(worst);
}

bool tb_recorded_loss(const struct tb_evidence *evidence)
{
	for (size_t i = 0; i < evidence->recorded.n; i++)
		if (evidence->recorded.rows[i]
				.congestion->all.counts.of[TB_CONGESTION_RETRANSMISSIONS])
			return true;
	return false;
}

void tb_rules_of_recorded(struct tb_judging *judging)
{
	const struct tb_recorded_captures *recorded = &judging->evidence->recorded;
	for (size_t i = 0; i < recorded->n && i < TB_EVIDENCE_NAMED; i++)
		if (is_loss(&recorded->rows[i].congestion->all.counts))
			find_recorded(judging, &recorded->rows[i]);
}

// is_during is whether a bin falls into the times of an end.
static bool is_during(const struct tb_evidence *evidence,
	const struct tb_evidence_end *end, tb_time_ps from_ps, tb_time_ps to_ps)
{
	for (uint32_t i = 0; i < end->queue.n; i++)
		if (run_time(evidence, from_ps) < end->queue.at[i].to_ps &&
			end->queue.at[i].from_ps < run_time(evidence, to_ps))
			return true;
	return !keeps_time(evidence);
}

void tb_recorded_at_end(const struct tb_judging *judging,
	const struct tb_evidence_end *end, struct tb_finding *finding)
{
	const struct tb_evidence *evidence = judging->evidence;
	struct tb_congestion_counts sum = {{0}};
	char text[TB_CONGESTION_TEXT_SIZE], node[160];
	for (size_t i = 0; i < evidence->recorded.n; i++) {
		const struct tb_congestion *from = evidence->recorded.rows[i].congestion;
		for (size_t k = 0; k < from->n_bins; k++) {
			const struct tb_congestion_bin *bin = &from->bins[k];
			const struct tb_congestion_pair *pair = &from->pairs[bin->pair];
			if (!is_during(evidence, end, bin->from_ps,
				    bin->from_ps + from->bin_ps))
				continue;
			for (int f = 0; f < TB_CONGESTION_N; f++)
				// A CNP goes from the receiver, all else to it.
				if ((f == TB_CONGESTION_CNPS ? pair->source_node
							     : pair->destination_node) ==
					end->node.id)
					sum.of[f] += bin->counts.of[f];
		}
	}
	if (!is_loss(&sum))
		return;
	tb_finding_count(finding, "recorded_retransmissions",
		sum.of[TB_CONGESTION_RETRANSMISSIONS]);
	tb_finding_say(finding, "Recorded at %s%s: %s.",
		tb_node_text(evidence->run, end->node, node, sizeof node),
		keeps_time(evidence) ? " in that time" : "",
		tb_congestion_format(&sum, text, sizeof text));
}

// What the counters of a live fabric tell: which ports could not send, where that begins,
// and what went wrong.

// find_unhindered says that nothing waited only where every link was measured; else on
// how many it was not.
static void find_unhindered(struct tb_judging *judging)
{
	const struct tb_evidence *evidence = judging->evidence;
	uint32_t n = evidence->info->n_links;
	uint32_t n_unmeasured = tb_run_n_unmeasured(evidence->run, TB_WAIT);
	char count[48], all[48];
	if (evidence->n_waiting)
		return;
	if (n_unmeasured == 0) {
		tb_finding_say(tb_judging_find(judging, TB_RULE_NO_WAIT),
			"No port counted that it could not send.");
		return;
	}
	struct tb_finding *finding = tb_judging_find(judging, TB_RULE_NOT_MEASURED);
	tb_finding_count(finding, "links", n_unmeasured);
	tb_finding_say(finding,
		n_unmeasured == n
			? "How long ports could not send was not measured: whether "
			  "anything waited is not known."
			: "Of %s of %s it was not measured how long their ports could "
			  "not send: whether anything waited there is not known. On the "
			  "others nothing did.",
		tb_format_count(n_unmeasured, count, sizeof count),
		tb_format_counted(n, "link", all, sizeof all));
}

// bound_of returns "at least " or "at most ", or "" of what is exact.
static const char *bound_of(enum tb_known known)
{
	return known == TB_AT_LEAST ? "at least " : known == TB_AT_MOST ? "at most " : "";
}

static enum tb_known wait_known(const struct tb_evidence *evidence, struct tb_link link)
{
	return tb_run_links(evidence->run)[link.id].known.wait;
}

static void find_held_ports(struct tb_judging *judging)
{
	const struct tb_evidence *evidence = judging->evidence;
	char count[48], all[48], share[32], part[48], names[900] = "";
	bool all_known = tb_run_sum_known(evidence->run, TB_WAIT) == TB_EXACT;
	if (evidence->n_hottest == 0)
		return;
	const struct tb_hot_link *longest = &evidence->hottest[0];
	bool little = longest->waiting < TB_FINDING_HELD &&
		      wait_known(evidence, longest->sample.link) != TB_AT_LEAST;
	struct tb_finding *finding =
		tb_judging_find(judging, little ? TB_RULE_NO_WAIT : TB_RULE_HELD_PORTS);
	tb_finding_count(finding, "links", evidence->n_waiting);
	bool may_wait = false;
	for (uint32_t i = 0; i < evidence->n_hottest; i++) {
		const struct tb_hot_link *hot = &evidence->hottest[i];
		size_t used = strlen(names);
		if (i == 0)
			tb_finding_count(finding, "link", hot->sample.link.id);
		may_wait |= wait_known(evidence, hot->sample.link) == TB_AT_MOST;
		*part = '\0';
		if (all_known)
			snprintf(part, sizeof part, ", %s",
				tb_percent_text(
					hot->percent_of_wait, share, sizeof share));
		snprintf(names + used, sizeof names - used, "%s%s (%s%s of the time%s)",
			tb_list_between(i, evidence->n_hottest),
			tb_link_text(evidence, hot->sample.link),
			bound_of(wait_known(evidence, hot->sample.link)),
			tb_percent_text(hot->waiting, share, sizeof share), part);
	}
	uint32_t n_unmeasured = tb_run_n_unmeasured(evidence->run, TB_WAIT);
	if (all_known)
		tb_finding_real(finding, "percent_of_wait", longest->percent_of_wait);
	tb_finding_real(finding, "percent_of_time", longest->waiting);
	if (little) {
		tb_finding_say(finding,
			"Hardly any port had to wait before it could send: of %s the "
			"longest is %s, held for %s%s of the time. Nothing has to be "
			"done "
			"about congestion.",
			tb_format_counted(evidence->info->n_links - n_unmeasured,
				n_unmeasured ? TB_COUNTED_LINKS : "link", all,
				sizeof all),
			tb_link_text(evidence, longest->sample.link),
			bound_of(wait_known(evidence, longest->sample.link)),
			tb_percent_text(longest->waiting, share, sizeof share));
		return;
	}
	tb_finding_say(finding,
		"Ports of %s of %s %s before they could send. Longest%s: %s.",
		tb_format_count(evidence->n_waiting, count, sizeof count),
		tb_format_counted(evidence->info->n_links - n_unmeasured,
			n_unmeasured ? TB_COUNTED_LINKS : "link", all, sizeof all),
		may_wait ? "had to wait, or may have had to," : "had to wait",
		all_known ? ", with their share of all such time" : "", names);
}

// name_held names the first hosts, and says how many ports there are besides.
static char *name_held(const struct tb_evidence *evidence,
	const struct tb_held_ports *ports, char *text, size_t size)
{
	char inside[48];
	uint32_t n_hosts = ports->n_hosts,
		 n_named = n_hosts < TB_EVIDENCE_NAMED ? n_hosts : TB_EVIDENCE_NAMED;
	size_t n = 0;
	*text = '\0';
	for (uint32_t i = 0; i < n_named && n < size; i++)
		n += (size_t)snprintf(text + n, size - n, "%s%s",
			tb_list_between(i, n_named + (n_hosts > n_named)),
			tb_run_node_name(evidence->run, ports->named[i]));
	if (n_hosts > n_named && n < size)
		n += (size_t)snprintf(
			text + n, size - n, " and %" PRIu32 " more", n_hosts - n_named);
	if (ports->n_inside && n < size)
		snprintf(text + n, size - n, "%s%s", n ? ", and " : "",
			tb_format_counted(ports->n_inside,
				"port of switches|ports of switches", inside,
				sizeof inside));
	return text;
}

static void say_held_ports(const struct tb_evidence *evidence,
	const struct tb_held_end *end, struct tb_finding *finding)
{
	char names[400];
	tb_finding_count(finding, "hosts", end->held.n_hosts);
	tb_finding_count(finding, "hosts_maybe", end->maybe.n_hosts);
	if (*name_held(evidence, &end->held, names, sizeof names))
		tb_finding_say(finding, "It holds %s.", names);
	if (*name_held(evidence, &end->maybe, names, sizeof names))
		tb_finding_say(finding, "For it or for another may wait %s.", names);
}

// A cable that runs slower than the fabric's file has it is full while others wait for
// it, at 60 % of its rate at most: lanes of FDR for those of EDR; and at least at that of
// one lane of SDR, 0.6 % of NDR.
#define SLOWER_PERCENT	60
#define SLOWEST_PERCENT 0.5

// say_short says what is short where no link is held that leads on.
static void say_short(const struct tb_evidence *evidence, const struct tb_held_end *end,
	const char *held, struct tb_finding *finding)
{
	char busy[32], more[96] = "", count[48];
	if (end->n_more)
		snprintf(more, sizeof more, ", and %s into the same switch",
			tb_format_counted(end->n_more, "more port|more ports", count,
				sizeof count));
	if (end->out.id != TB_ID_NONE) {
		tb_finding_count(finding, "out", end->out.id);
		tb_finding_real(finding, "out_busy_percent", end->busy_percent);
	}
	tb_percent_text(end->busy_percent, busy, sizeof busy);
	tb_finding_say(finding,
		"The wait begins behind %s%s%s:", tb_link_text(evidence, end->last), held,
		more);
	if (end->busy_percent < TB_FINDING_BUSY && end->has_errors)
		tb_finding_say(finding,
			"from the switch there no link is held for long, and that cable "
			"counted errors.");
	else if (end->busy_percent < SLOWEST_PERCENT)
		tb_finding_say(finding,
			"from the switch there no link is held for long or carries more "
			"than %s of what its rate allows, so what is short is not in "
			"the counters.",
			busy);
	else
		tb_finding_say(finding,
			"from the switch there no link is held for long, so what is "
			"short is a link itself. Of those that lead on, %s carries "
			"most, %s of what its rate allows%s.",
			tb_link_text(evidence, end->out), busy,
			100 * end->busy_percent <= SLOWER_PERCENT * end->held_percent
				? "; a cable that runs slower than the fabric file has "
				  "it looks like this"
				: "");
}

// say_not_known: what leads on from a switch was not measured, or not in full. Of several
// it is said once.
static void say_not_known(struct tb_judging *judging, const struct tb_held_end *end)
{
	const struct tb_evidence *evidence = judging->evidence;
	char others[64] = "", count[48];
	if (tb_judging_found(judging, TB_RULE_NOT_MEASURED))
		return;
	struct tb_finding *finding = tb_judging_find(judging, TB_RULE_NOT_MEASURED);
	tb_finding_count(finding, "link", end->unknown.id);
	tb_finding_count(finding, "links", end->n_unknown);
	if (end->n_unknown > 1)
		snprintf(others, sizeof others, " and %s",
			tb_format_counted(
				end->n_unknown - 1, "other|others", count, sizeof count));
	tb_finding_say(finding,
		"Where the wait behind %s begins is not known: how long %s%s, which %s "
		"on from there, could not send was not measured, or not in full.",
		tb_link_text(evidence, end->last), tb_link_text(evidence, end->unknown),
		others, end->n_unknown > 1 ? "lead" : "leads");
}

static void find_origin(struct tb_judging *judging, const struct tb_held_end *end)
{
	const struct tb_evidence *evidence = judging->evidence;
	char held[160] = "", share[32], lead[64] = "", count[48];
	if (!end->is_node && end->n_unknown) {
		say_not_known(judging, end);
		return;
	}
	if (end->n_lead)
		snprintf(lead, sizeof lead, ", to which %s",
			tb_format_counted(end->n_lead,
				"other paused port leads|other paused ports lead", count,
				sizeof count));
	snprintf(held, sizeof held, ", held for %s%s of the time%s",
		bound_of(wait_known(evidence, end->last)),
		tb_percent_text(end->held_percent, share, sizeof share), lead);
	struct tb_finding *finding = tb_judging_find(judging, TB_RULE_WAIT_BEGINS);
	tb_finding_count(finding, "link", end->last.id);
	tb_finding_real(finding, "percent_of_time", end->held_percent);
	if (end->is_node)
		tb_finding_say(finding,
			"The wait begins at the end of %s%s: the host there, its adapter "
			"or its cable takes less than it is "
			"sent. Look at that cable's errors and rate, then at the host.",
			tb_link_text(evidence, end->last), held);
	else
		say_short(evidence, end, held, finding);
	say_held_ports(evidence, end, finding);
	if (end == &evidence->held_ends[TB_HELD_ENDS - 1] && evidence->n_more_ends)
		tb_finding_say(finding, "So it does at %s.",
			tb_format_counted(evidence->n_more_ends,
				"other place|other places", count, sizeof count));
}

static void find_count(struct tb_judging *judging, int counter, enum tb_rule rule)
{
	const struct tb_evidence *evidence = judging->evidence;
	const struct tb_link_count_sum *sum = &evidence->counts.sums[counter];
	char count[80], links[48], most[48];
	size_t n = 0;
	if (sum->n_links == 0)
		return;
	struct tb_finding *finding = tb_judging_find(judging, rule);
	tb_finding_count(finding, "link", sum->worst.id);
	tb_finding_count(finding, "links", sum->n_links);
	tb_finding_count(finding, "count", sum->count);
	if (evidence->counts.n_bad && counter >= TB_CABLE_COUNTER_FIRST &&
		counter <= TB_CABLE_COUNTER_LAST)
		n = (size_t)snprintf(count, sizeof count, "On other cables ");
	if (sum->at_least)
		n += (size_t)snprintf(count + n, sizeof count - n, "at least ");
	tb_format_counted(
		sum->count, tb_counter_infos[counter].noun, count + n, sizeof count - n);
	if (sum->n_links == 1) {
		tb_finding_say(
			finding, "%s: on %s.", count, tb_link_text(evidence, sum->worst));
		return;
	}
	tb_finding_say(finding, "%s, on %s; most, %s, on %s.", count,
		tb_format_counted(sum->n_links, "link", links, sizeof links),
		tb_format_count(sum->worst_count, most, sizeof most),
		tb_link_text(evidence, sum->worst));
}

// find_bad_cable reports all that a cable's counters have in one sentence.
static void find_bad_cable(struct tb_judging *judging, const struct tb_bad_cable *cable)
{
	const struct tb_evidence *evidence = judging->evidence;
	const struct tb_link_info *at = &tb_run_links(evidence->run)[cable->link.id].at;
	const char *name = tb_link_text(evidence, cable->link),
		   *end = strstr(name, " > ");
	const char *least = cable->at_least ? "at least " : "";
	uint64_t n_downs = cable->counts[TB_COUNTER_LINK_DOWNED];
	char port[16] = "", text[512], one[96];
	size_t n = 0;
	if (at->kind == TB_LINK_INJECTION)
		snprintf(port, sizeof port, ":%u", cable->number);
	if (n_downs)
		n = (size_t)snprintf(text, sizeof text, "went down %s%s", least,
			n_downs == 1
				? "once"
				: tb_format_counted(n_downs, "time", one, sizeof one));
	for (int i = TB_COUNTER_LINK_DOWNED + 1; i <= TB_CABLE_COUNTER_LAST; i++)
		if (cable->counts[i] && n < sizeof text)
			n += (size_t)snprintf(text + n, sizeof text - n, "%s%s%s",
				n ? ", " : "", least,
				tb_format_counted(cable->counts[i],
					tb_counter_infos[i].noun, one, sizeof one));
	struct tb_finding *finding = tb_judging_find(judging, TB_RULE_ERRORS);
	tb_finding_count(finding, "link", cable->link.id);
	tb_finding_count(finding, "count", cable->n_errors ? cable->n_errors : n_downs);
	tb_finding_say(finding, "The cable %.*s - %s%s: %s: reseat or replace it%s.",
		(int)(end - name), name, end + 3, port, text,
		cable->n_errors ? "" : ", unless an end was restarted");
}

void tb_rules_of_counters(struct tb_judging *judging)
{
	const struct tb_run_info *info = judging->evidence->info;
	char time[32];
	struct tb_finding *finding = tb_judging_find(judging, TB_RULE_MEASURED);
	tb_finding_count(finding, "interval_ps", (uint64_t)info->simulated_ps);
	tb_finding_say(finding,
		"Measured by the counters of a live fabric over %s, not simulated: how "
		"long ports could not send, and what they carried. Who waited for whom, "
		"flows and jobs are not in counters.",
		tb_format_time(info->simulated_ps, time, sizeof time));
	find_unhindered(judging);
	find_held_ports(judging);
	for (uint32_t i = 0; i < judging->evidence->n_held_ends; i++)
		find_origin(judging, &judging->evidence->held_ends[i]);
	const struct tb_link_counts *counts = &judging->evidence->counts;
	for (uint32_t i = 0; i < counts->n_bad; i++)
		find_bad_cable(judging, &counts->bad[i]);
	for (int i = 0; i < TB_N_COUNTERS; i++)
		if (tb_counter_infos[i].class == TB_COUNTS_ERRORS)
			find_count(judging, i, TB_RULE_ERRORS);
	for (int i = 0; i < TB_N_COUNTERS; i++)
		if (tb_counter_infos[i].class == TB_COUNTS_SIGNS ||
			i == TB_COUNTER_WAIT_TICKS)
			find_count(judging, i, TB_RULE_SIGNS);
}

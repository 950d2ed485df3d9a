// What the captures recorded of congestion, before any replay.
#include "findings_impl.h"

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
	       of[TB_CONGESTION_PAUSES];
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

static void find_recorded(
	struct tb_judging *judging, const struct tb_recorded_capture *capture)
{
	const struct tb_evidence *evidence = judging->evidence;
	const struct tb_congestion *congestion = capture->congestion;
	char text[TB_CONGESTION_TEXT_SIZE], job[120] = "", span[80] = "";
	char from[32], to[32];
	tb_time_ps from_ps = 0, to_ps = 0;
	size_t n, *worst = tb_congestion_worst(congestion, &n);
	if (!worst) {
		judging->failed = true;
		return;
	}
	struct tb_finding *finding = tb_judging_find(judging, "recorded");
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
	tb_finding_say(finding, "Before any replay, the capture%s recorded %s%s.", job,
		tb_congestion_format(&congestion->all.counts, text, sizeof text), span);
	if (n > 1 && congestion->pairs[worst[0]].source) {
		const struct tb_congestion_pair *pair = &congestion->pairs[worst[0]];
		tb_finding_say(finding, "Worst of %s is %s > %s: %s.",
			tb_format_counted(n, "pair", from, sizeof from), pair->source,
			pair->destination,
			tb_congestion_format(&pair->counts, text, sizeof text));
	}
	free(worst);
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

// What a receiver tells its senders goes from it; all else goes to it.
static bool is_reported(enum tb_congestion_figure figure)
{
	return figure == TB_CONGESTION_ZERO_WINDOWS ||
	       figure == TB_CONGESTION_CLOSED_PS || figure == TB_CONGESTION_CNPS;
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
				if ((is_reported((enum tb_congestion_figure)f)
						    ? pair->source_node
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

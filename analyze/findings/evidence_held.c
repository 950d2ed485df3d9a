// Where the time begins in which ports could not send.
#include "findings_impl.h"

// A link that leads on is part of the same jam when it is held for so much of the time of
// the one before; and so many links at most are one behind the other.
#define ON_PERCENT 25
#define STEPS_MOST 32

// next_held_link finds the link that leads on from the end of another and has most of a
// figure.
static bool next_held_link(const struct tb_evidence *evidence,
	const struct tb_link_sample *samples, struct tb_link from, enum tb_metric metric,
	struct tb_link *next)
{
	const struct tb_run_link *links = tb_run_links(evidence->run);
	const struct tb_run_link *at = &links[from.id];
	uint64_t most = 0;
	if (at->at.kind == TB_LINK_EJECTION)
		return false;
	for (uint32_t i = 0; i < evidence->info->n_links; i++) {
		uint64_t value = tb_metric_of(&samples[i], metric);
		if (links[i].at.kind == TB_LINK_INJECTION ||
			links[i].at.from != at->at.to || i == at->at.reverse.id ||
			value <= most)
			continue;
		most = value;
		*next = (struct tb_link){i};
	}
	return most > 0;
}

// all_measured_from: of what leads on from the end of a link, no wait is unknown.
static bool all_measured_from(const struct tb_evidence *evidence, struct tb_link from)
{
	const struct tb_run_link *links = tb_run_links(evidence->run);
	const struct tb_run_link *at = &links[from.id];
	for (uint32_t i = 0; i < evidence->info->n_links; i++)
		if (links[i].at.kind != TB_LINK_INJECTION &&
			links[i].at.from == at->at.to && i != at->at.reverse.id &&
			tb_run_unmeasured(links[i].known, TB_STALL))
			return false;
	return true;
}

static double percent_of_time(const struct tb_evidence *evidence, uint64_t time_ps)
{
	double all = (double)evidence->info->simulated_ps;
	return all > 0 ? 100 * (double)time_ps / all : 0;
}

void tb_evidence_held(struct tb_evidence *evidence, const struct tb_link_sample *samples)
{
	struct tb_held_end *end = &evidence->held_end;
	struct tb_link next;
	if (!tb_run_is_measured(evidence->info) || evidence->n_hottest == 0)
		return;
	end->last = evidence->hottest[0].sample.link;
	for (int i = 0; i < STEPS_MOST &&
			next_held_link(evidence, samples, end->last, TB_STALL, &next);
		i++) {
		if ((double)samples[next.id].stall_ps * 100 <
			(double)samples[end->last.id].stall_ps * ON_PERCENT)
			break;
		end->last = next;
	}
	end->held_percent = percent_of_time(evidence, samples[end->last.id].stall_ps);
	end->is_node =
		tb_run_links(evidence->run)[end->last.id].at.kind == TB_LINK_EJECTION;
	end->is_known =
		end->held_percent >= TB_FINDING_HELD &&
		tb_run_links(evidence->run)[end->last.id].known.wait != TB_AT_MOST;
	if (end->is_node)
		return;
	end->is_known &= all_measured_from(evidence, end->last);
	end->is_known &= next_held_link(evidence, samples, end->last, TB_BUSY, &end->out);
	if (end->is_known)
		end->busy_percent =
			percent_of_time(evidence, samples[end->out.id].busy_ps);
}

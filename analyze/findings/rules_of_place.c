// Where and when it waited.
#include "findings_impl.h"

#include <stdio.h>
#include <string.h>

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
	// Where it is hardly denser than elsewhere, no first page needs it.
	finding->nothing = percent * TB_FINDING_DENSER >= windows->percent;
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
	tb_say_link_costs(evidence, finding, links, evidence->n_hottest);
}

// say_kinds names the kinds of links that are the roots of much wait, where no link
// stands out; what the taper is due to is told with that.
static void say_kinds(const struct tb_judging *judging, struct tb_finding *finding)
{
	const struct tb_evidence *evidence = judging->evidence;
	char share[32], text[96], names[400] = "";
	for (uint32_t i = 0; i < judging->n_kinds && i < TB_EVIDENCE_NAMED; i++) {
		const struct tb_evidence_kind *kind = &judging->kinds[i];
		size_t used = strlen(names);
		double percent = tb_percent_of_wait(evidence, kind->wait_ps);
		if (percent >= TB_FINDING_STANDS_OUT)
			snprintf(names + used, sizeof names - used, "%s%s (%s)",
				i ? ", " : "", tb_kind_text(kind, text, sizeof text),
				tb_percent_text(percent, share, sizeof share));
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

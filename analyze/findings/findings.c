#include "findings_impl.h"
#include "order.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const struct tb_rule_info tb_rules[TB_N_RULES] = {
#define ROW(ID, title) [TB_RULE_##ID] = {.name = title, .by = TB_BY_FOUND},
	TB_RULES_FOUND(ROW)
#undef ROW
#define ROW(ID, title, who, after, what, bound, hardware)                                \
	[TB_RULE_##ID] = {title, TB_BY_##who, after, TB_CHANGE_##what, TB_LIMIT_##bound, \
		hardware},
		TB_RULES_TRIED(ROW)
#undef ROW
};

void tb_findings_fini(struct tb_findings *findings)
{
	for (size_t i = 0; i < findings->n; i++)
		free(findings->list[i].command);
	findings->n = 0;
}

struct tb_finding *tb_judging_find(struct tb_judging *judging, enum tb_rule rule)
{
	struct tb_findings *findings = judging->findings;
	// All rules together find less than there is room for.
	size_t at = findings->n < TB_FINDINGS_MOST ? findings->n++ : TB_FINDINGS_MOST - 1;
	struct tb_finding *finding = &findings->list[at];
	*finding = (struct tb_finding){.id = rule,
		.rule = tb_rules[rule].name,
		.needs_hardware = tb_rules[rule].needs_hardware,
		.place = SIZE_MAX};
	return finding;
}

struct tb_finding *tb_judging_remedy(struct tb_judging *judging, enum tb_rule rule)
{
	struct tb_finding *finding = tb_judging_find(judging, rule);
	finding->remedy = true;
	return finding;
}

static struct tb_figure *next_figure(struct tb_finding *finding, const char *key)
{
	size_t at = finding->n_figures < TB_FIGURES_MOST ? finding->n_figures++
							 : TB_FIGURES_MOST - 1;
	finding->figures[at] = (struct tb_figure){.key = key};
	return &finding->figures[at];
}

void tb_finding_count(struct tb_finding *finding, const char *key, uint64_t count)
{
	struct tb_figure *figure = next_figure(finding, key);
	figure->whole = true;
	figure->count = count;
}

void tb_finding_real(struct tb_finding *finding, const char *key, double real)
{
	next_figure(finding, key)->real = real;
}

void tb_finding_say(struct tb_finding *finding, const char *format, ...)
{
	size_t used = strlen(finding->sentence);
	size_t left = sizeof finding->sentence - used;
	if (used && left > 1) {
		finding->sentence[used++] = ' ';
		left--;
	}
	va_list arguments;
	va_start(arguments, format);
	vsnprintf(finding->sentence + used, left, format, arguments);
	va_end(arguments);
	// A share may stand at the beginning; names there stay as they are.
	if (strncmp(finding->sentence + used, "more than ", 10) == 0)
		finding->sentence[used] = 'M';
}

bool tb_judging_found(const struct tb_judging *judging, enum tb_rule rule)
{
	return tb_findings_rule(judging->findings, tb_rules[rule].name) != NULL;
}

bool tb_judging_command(struct tb_judging *judging, struct tb_replay_command *command)
{
	const struct tb_run_info *info = judging->evidence->info;
	int status = tb_replay_command_init(command, info->input_name, info->options);
	judging->failed |= status == TB_ENOMEM;
	return status == TB_OK;
}

void tb_judging_try(struct tb_judging *judging, struct tb_finding *finding,
	struct tb_replay_command *command, const char *output)
{
	size_t size = 0;
	FILE *stream = open_memstream(&finding->command, &size);
	if (!stream) {
		judging->failed = true;
	} else {
		judging->failed |=
			tb_replay_command_write(command, output, stream) != TB_OK;
		judging->failed |= fclose(stream) != 0;
	}
	tb_replay_command_fini(command);
}

double tb_full_packet_ps(const struct tb_network_params *network)
{
	double bytes =
		(double)network->packet_payload_bytes + network->packet_overhead_bytes;
	return bytes / (double)network->link_bytes_per_s * (double)TB_PS_PER_S;
}

double tb_percent_of_wait(const struct tb_evidence *evidence, double wait_ps)
{
	return evidence->wait_ps > 0 ? 100 * wait_ps / evidence->wait_ps : 0;
}

const char *tb_list_between(uint32_t i, uint32_t n)
{
	if (i == 0)
		return "";
	return i + 1 == n ? " and " : ", ";
}

char *tb_percent_text(double percent, char *buffer, size_t size)
{
	if (percent > 99 && percent < 100)
		snprintf(buffer, size, "more than 99 %%");
	else
		snprintf(buffer, size, "%.*f %%", (percent < 9.95) + (percent < 0.095),
			percent);
	return buffer;
}

char *tb_moment_text(
	const struct tb_run_info *info, tb_time_ps time, char *buffer, size_t size)
{
	if (time > 0 && time < info->simulated_ps)
		return tb_format_time(time, buffer, size);
	snprintf(buffer, size, time > 0 ? "the end" : "the start");
	return buffer;
}

char *tb_node_text(
	const struct tb_run *run, struct tb_node node, char *buffer, size_t size)
{
	const char *name = tb_run_node_name(run, node);
	snprintf(buffer, size, *name ? "node %u (%s)" : "node %u", node.id, name);
	return buffer;
}

const char *tb_link_text(const struct tb_evidence *evidence, struct tb_link link)
{
	return tb_run_links(evidence->run)[link.id].name;
}

char *tb_job_text(
	const struct tb_evidence *evidence, uint32_t job, char *buffer, size_t size)
{
	const char *name = tb_run_job_name(evidence->run, job);
	if (*name)
		snprintf(buffer, size, "%s", name);
	else
		snprintf(buffer, size, "job %u", job);
	return buffer;
}

// say_tried adds what a remedy gained when it was tried.
static void say_tried(const struct tb_judging *judging, struct tb_finding *finding,
	const struct tb_run_tried *tried)
{
	static const char *const verbs[][2] = {
		{"helps", "helps"}, {"harms", "harms"}, {"unclear", "remains unclear"}};
	const char *verb = "makes no difference";
	const char *harms = finding->id == TB_RULE_BEST_TRIED
				    ? NULL
				    : strstr(tried->title, TB_TRIED_HARMS);
	char half[40] = "", job[80] = "";
	for (size_t i = 0; i < sizeof verbs / sizeof *verbs; i++)
		if (strcmp(tried->verdict, verbs[i][0]) == 0)
			verb = verbs[i][1];
	if (tried->half_percent >= 0)
		snprintf(half, sizeof half, " +- %.1f", tried->half_percent);
	tb_finding_real(finding, "gain_percent", tried->gain_percent);
	if (tried->job != TB_ID_NONE)
		tb_job_text(judging->evidence, tried->job, job, sizeof job);
	if (strcmp(tried->verdict, "helps") == 0)
		finding->place = (size_t)(tried - judging->evidence->tries.list);
	tb_finding_say(finding, "Tried, this %s%s: %s%s %+.1f %%%s over %u seed%s.", verb,
		harms ? harms : "", *job ? "run time of " : tried->of, job,
		0 - tried->gain_percent, half, tried->n_seeds,
		tried->n_seeds == 1 ? "" : "s");
}

// is_proposed returns whether a rule proposes what was tried, or another try of as much
// gain is told already.
static bool is_proposed(const struct tb_findings *findings,
	const struct tb_run_tries *tries, const struct tb_run_tried *tried)
{
	for (size_t i = 0; i < findings->n; i++) {
		const struct tb_run_tried *told =
			findings->list[i].command
				? tb_run_tries_find(tries, findings->list[i].command)
				: NULL;
		if (told == tried || (told && strcmp(told->verdict, "helps") == 0 &&
					     told->gain_percent == tried->gain_percent))
			return true;
	}
	return false;
}

// say_at_best says what a job's run takes at least with a remedy that was not tried.
static void say_at_best(const struct tb_evidence *evidence, struct tb_finding *finding)
{
	const struct tb_time_parts *parts = &evidence->bounds.parts;
	const struct tb_bound *whole = &evidence->bounds.whole;
	const struct tb_figure *rails = tb_finding_figure(finding, "rails");
	tb_time_ps run_ps = parts->run_ps, least_ps = parts->compute_ps;
	char time[32];
	switch (tb_rules[finding->id].limit) {
	case TB_LIMIT_ROUTES:
		least_ps = tb_max_i64(parts->compute_ps + parts->hosts_ps, whole->cut_ps);
		break;
	case TB_LIMIT_NODE_LINKS:
		least_ps =
			tb_max_i64(parts->compute_ps + parts->hosts_ps, whole->host_ps);
		break;
	case TB_LIMIT_COMPUTE:
		if (!tb_node_decides(evidence))
			return; // the bound leaves more than anybody could gain
		if (rails && rails->count)
			least_ps = tb_max_i64(least_ps,
				tb_max_i64(least_ps + parts->hosts_ps, whole->host_ps) /
					(tb_time_ps)rails->count);
		break;
	case TB_LIMIT_NONE:
	case TB_LIMIT_STATIC_ROUTES:
	case TB_LIMIT_IDEAL:
	case TB_LIMIT_PLACES:
		return;
	}
	if (!tb_is_timed_job(evidence) || evidence->jobs.n > 1 || parts->unknown_ps > 0 ||
		least_ps <= 0 || least_ps >= run_ps)
		return;
	tb_finding_count(finding, "at_best_ps", (uint64_t)least_ps);
	tb_finding_say(finding, "At best, the run takes %s with it, %.0f %% less.",
		tb_format_time_as(least_ps, run_ps, time, sizeof time),
		100 * (double)(run_ps - least_ps) / (double)run_ps);
}

// tell_tried has the remedies that were tried say so, and of the others what bounds them.
static void tell_tried(struct tb_judging *judging, const struct tb_run_tries *tries)
{
	for (size_t i = 0; i < judging->findings->n; i++) {
		struct tb_finding *finding = &judging->findings->list[i];
		const struct tb_run_tried *tried =
			finding->command ? tb_run_tries_find(tries, finding->command)
					 : NULL;
		if (!tried) {
			if (finding->remedy)
				say_at_best(judging->evidence, finding);
			continue;
		}
		if (strcmp(tried->verdict, "helps") != 0 &&
			strcmp(tried->verdict, "unclear") != 0) {
			// Take back what was proposed and harms, or changes nothing: of a
			// remedy what was found out is left, of another finding all but
			// its command.
			free(finding->command);
			finding->command = NULL;
			if (finding->remedy) {
				finding->n_figures = 0;
				finding->sentence[0] = '\0';
				tb_finding_say(finding, "No remedy: %s.", tried->title);
			}
			finding->remedy = false;
		}
		say_tried(judging, finding, tried);
	}
	// Add the first changes that help, of those that are not told.
	int n = 0;
	for (size_t i = 0; i < tries->n && n < TB_FINDING_TRIED; i++) {
		const struct tb_run_tried *best = &tries->list[i];
		if (strcmp(best->verdict, "helps") != 0 ||
			is_proposed(judging->findings, tries, best))
			continue;
		n++;
		struct tb_finding *finding =
			tb_judging_remedy(judging, TB_RULE_BEST_TRIED);
		finding->needs_hardware = best->needs_hardware;
		tb_finding_say(finding, "Change: %s.", best->title);
		say_tried(judging, finding, best);
		finding->command = strdup(best->command);
		if (finding->command) {
			// Add what FOLDER in its command stands for.
			if (strstr(finding->command, TB_TRIED_FOLDER "/"))
				tb_finding_say(finding,
					"'tailback advise --write " TB_TRIED_FOLDER
					"' makes the " TB_TRIED_FOLDER
					" of this command, with the files that it "
					"needs.");
		}
		judging->failed |= !finding->command;
	}
}

// is_of_wait is whether a finding tells of waits, and of nothing else.
static bool is_of_wait(enum tb_rule rule)
{
	return TB_OF_WAIT >> rule & 1;
}

// tell_small marks the small findings: all on waits where these together held up a single
// job's run for so little, else those of which that is known. None where what waited in
// nodes behind them is more.
static void tell_small(struct tb_judging *judging)
{
	struct tb_findings *findings = judging->findings;
	const struct tb_evidence *evidence = judging->evidence;
	const struct tb_critical_path *path = &evidence->path;
	double most_ps = TB_FINDING_SMALL / 100 * (double)evidence->info->simulated_ps;
	tb_time_ps held_ps = path->causes[TB_PATH_HELD_UP], sum_ps = 0;
	if (path->n_shares == 0 || evidence->jobs.n > 1 ||
		(double)evidence->pressed_ps >= most_ps)
		return;
	for (size_t i = 0; i < findings->n; i++) {
		struct tb_finding *finding = &findings->list[i];
		const struct tb_figure *cost = tb_finding_figure(finding, "cost_ps");
		finding->small = is_of_wait(finding->id) && !finding->command &&
				 (cost ? (double)cost->count : (double)held_ps) < most_ps;
		findings->n_small += finding->small;
		sum_ps += finding->small && cost ? (tb_time_ps)cost->count : 0;
	}
	findings->small_ps =
		(double)held_ps < most_ps || sum_ps > held_ps ? held_ps : sum_ps;
	findings->small_percent =
		100 * (double)findings->small_ps / (double)evidence->info->simulated_ps;
}

// lead_recorded puts first what held up a captured flow for long, where the replay has no
// other answer.
static void lead_recorded(struct tb_judging *judging)
{
	bool waits = !tb_judging_found(judging, TB_RULE_NO_WAIT) &&
		     !tb_judging_found(judging, TB_RULE_LITTLE_WAIT) &&
		     !tb_judging_found(judging, TB_RULE_TIME_SCALE);
	for (size_t i = 0; i < judging->findings->n && !waits; i++) {
		struct tb_finding *finding = &judging->findings->list[i];
		const struct tb_figure *lost =
			tb_finding_figure(finding, "worst_lost_percent");
		finding->leads = lost && lost->real >= TB_FINDING_LOST;
	}
}

enum tb_finding_part tb_finding_part(const struct tb_finding *finding)
{
	if (finding->remedy)
		return finding->needs_hardware ? TB_PART_HARDWARE
		       : finding->minor && !tb_finding_is_tried(finding)
			       ? TB_PART_MINOR_REMEDY
			       : TB_PART_REMEDY;
	if (finding->small)
		return TB_PART_SMALL;
	if (finding->minor)
		return TB_PART_MINOR;
	const uint64_t how_long = TB_AFTER(TIME_PARTS) | TB_AFTER(OTHERS_COST) |
				  TB_AFTER(STRAGGLER) | TB_AFTER(SLOW_CABLE) |
				  TB_AFTER(CALLS);
	if (finding->leads || how_long >> finding->id & 1)
		return TB_PART_HOW_LONG;
	return finding->id == TB_RULE_RUN_TIME	 ? TB_PART_HOW_SURE
	       : finding->id == TB_RULE_RECORDED ? TB_PART_RECORDED
						 : TB_PART_WHERE;
}

// stands_before: by part, and in the order of the advice; others keep theirs.
static bool stands_before(const struct tb_finding *one, const struct tb_finding *other)
{
	enum tb_finding_part parts[] = {tb_finding_part(one), tb_finding_part(other)};
	return parts[0] != parts[1] ? parts[0] < parts[1] : one->place < other->place;
}

// order_parts puts the findings in the order of their parts.
static void order_parts(struct tb_findings *findings)
{
	for (size_t i = 1; i < findings->n; i++) {
		const struct tb_finding moved = findings->list[i];
		size_t to = i;
		while (to > 0 && stands_before(&moved, &findings->list[to - 1]))
			to--;
		memmove(&findings->list[to + 1], &findings->list[to],
			(i - to) * sizeof moved);
		findings->list[to] = moved;
	}
}

int tb_findings_judge(struct tb_findings *findings, const struct tb_evidence *evidence)
{
	static void (*const groups[])(struct tb_judging *) = {tb_rules_of_range,
		tb_rules_of_recorded, tb_rules_of_placement, tb_rules_of_time,
		tb_rules_of_cables, tb_rules_of_ranks, tb_rules_of_state,
		tb_rules_of_faults, tb_rules_of_shape, tb_rules_of_nodes,
		tb_rules_of_jobs, tb_rules_of_place, tb_rules_of_people,
		tb_rules_of_remedy};
	struct tb_judging judging = {.evidence = evidence, .findings = findings};
	findings->n = findings->n_small = 0;
	findings->small_ps = 0;
	if (tb_run_is_measured(evidence->info)) {
		tb_rules_of_counters(&judging);
	} else {
		judging.kinds = tb_evidence_kinds(evidence, &judging.n_kinds);
		judging.failed = !judging.kinds;
		for (size_t i = 0; i < sizeof groups / sizeof *groups; i++)
			groups[i](&judging);
	}
	tell_tried(&judging, &evidence->tries);
	tell_small(&judging);
	lead_recorded(&judging);
	order_parts(findings);
	free(judging.kinds);
	if (!judging.failed)
		return TB_OK;
	tb_findings_fini(findings);
	return TB_ENOMEM;
}

int tb_findings_init(
	struct tb_findings *findings, struct tb_run *run, struct tb_error *error)
{
	struct tb_evidence evidence = {0};
	int status = tb_evidence_init(&evidence, run, error);
	if (!status && tb_findings_judge(findings, &evidence))
		status = tb_fail_memory(error, "the findings");
	tb_evidence_fini(&evidence);
	return status;
}

const struct tb_finding *tb_findings_rule(
	const struct tb_findings *findings, const char *rule)
{
	for (size_t i = 0; i < findings->n; i++)
		if (strcmp(findings->list[i].rule, rule) == 0)
			return &findings->list[i];
	return NULL;
}

bool tb_findings_answer(const struct tb_findings *findings, enum tb_rule rule)
{
	bool any = tb_rules[rule].answers == 0;
	for (size_t i = 0; i < findings->n; i++)
		any |= (tb_rules[rule].answers >> findings->list[i].id & 1) != 0;
	return any;
}

const struct tb_figure *tb_finding_figure(
	const struct tb_finding *finding, const char *key)
{
	for (size_t i = 0; i < finding->n_figures; i++)
		if (strcmp(finding->figures[i].key, key) == 0)
			return &finding->figures[i];
	return NULL;
}

bool tb_finding_is_change(const struct tb_finding *finding)
{
	return finding->remedy && finding->command &&
	       tb_rules[finding->id].by == TB_BY_FINDING;
}

bool tb_finding_is_tried(const struct tb_finding *finding)
{
	return tb_finding_figure(finding, "gain_percent") != NULL;
}

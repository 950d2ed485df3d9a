// Which changes are worth a replay.
#include "advice_impl.h"
#include "array.h"
#include "critical_path.h"
#include "findings.h"
#include "flows.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// add_change adds a change, whose command it takes; `output` is the store in the command
// that the user sees. NULL without memory.
static struct tb_change *add_change(struct tb_advice *advice, enum tb_rule rule,
	struct tb_replay_command *words, const char *output)
{
	size_t size = 0;
	struct tb_change *change = NULL;
	if (TB_ARRAY_RESERVE(&advice->changes, &advice->room, advice->n + 1) == TB_OK) {
		change = &advice->changes[advice->n++];
		*change = (struct tb_change){.id = rule,
			.rule = tb_rules[rule].name,
			.words = *words,
			.needs_hardware = tb_rules[rule].needs_hardware,
			.most = INFINITY,
			.harmed_job = TB_ID_NONE,
			.foreseen = NAN};
		FILE *stream = open_memstream(&change->command, &size);
		if (!stream || tb_replay_command_write(words, output, stream) != TB_OK)
			advice->no_memory = true;
		if (stream && fclose(stream) != 0)
			advice->no_memory = true;
		return change;
	}
	advice->no_memory = true;
	tb_replay_command_fini(words);
	return NULL;
}

bool tb_advice_again(struct tb_advice *advice, struct tb_replay_command *words)
{
	int status = tb_replay_command_init(
		words, advice->info->input_name, advice->info->options);
	advice->no_memory = advice->no_memory || status == TB_ENOMEM;
	return status == TB_OK;
}

bool tb_advice_again_by_job(struct tb_advice *advice, struct tb_replay_command *words)
{
	if (!tb_advice_again(advice, words))
		return false;
	bool named = tb_replay_command_n_jobs(words) == advice->info->n_jobs;
	if (!named)
		tb_replay_command_fini(words);
	return named;
}

bool tb_advice_has_option(const struct tb_advice *advice, const char *option)
{
	return strstr(advice->info->options, option) != NULL;
}

bool tb_advice_is_of_calls(const struct tb_advice *advice, uint32_t job)
{
	static const char begins[] = "the ranks called ";
	for (size_t i = 0; i < advice->info->n_notes; i++)
		if (advice->info->notes[i].job == job &&
			strncmp(advice->info->notes[i].text, begins, sizeof begins - 1) ==
				0)
			return true;
	return false;
}

// has_part is whether a word of the run's own command has a part of "name,key=value,...".
static bool has_part(const struct tb_replay_command *own, const char *part, size_t length)
{
	for (size_t i = 0; i < own->n; i++)
		for (const char *at = own->words[i];; at++) {
			size_t n = tb_replay_command_part(at);
			if (n == length && strncmp(at, part, n) == 0)
				return true;
			at += n;
			if (!*at)
				break;
		}
	return false;
}

// put_new_parts adds the parts of a command that another one does not have to a change's
// title, which `used` bytes begin; it returns how many it has then.
static size_t put_new_parts(const struct tb_advice *advice, struct tb_change *change,
	size_t used, const struct tb_replay_command *other,
	const struct tb_replay_command *words)
{
	static const char nodes[] = "nodes=";
	const size_t begin = used, size = sizeof change->title;
	uint32_t n_jobs = 0;
	while (n_jobs < words->n && words->words[n_jobs][0] != '-')
		n_jobs++; // plain files
	for (size_t i = 0; i < words->n; i++) {
		bool is_job = i > 0 && strcmp(words->words[i - 1], "--job") == 0;
		uint32_t job = is_job ? n_jobs++ : TB_ID_NONE;
		bool named = advice->info->n_jobs > 1 && job < advice->info->n_jobs;
		for (const char *at = words->words[i]; used < size; at++) {
			size_t n = tb_replay_command_part(at);
			bool on = named && strncmp(at, nodes, strlen(nodes)) == 0;
			size_t from = on ? strlen(nodes) : 0;
			if (!has_part(other, at, n) && strcmp(at, "--job") != 0)
				used += (size_t)snprintf(change->title + used,
					size - used, "%s%.60s%s%.*s",
					used == begin ? ""
					: named	      ? ", "
						      : " ",
					named ? tb_run_job_name(advice->run, job) : "",
					on	? " on nodes "
					: named ? " "
						: "",
					(int)(n - from), at + from);
			at += n;
			if (!*at)
				break;
		}
	}
	return used;
}

// title_of makes the title of what the run's own command does not have: "rails=2" of
// "qsnet,rails=2", of several jobs "a on nodes 0-15, b on nodes 16-31"; else of what it
// alone has.
static void title_of(const struct tb_advice *advice, struct tb_change *change)
{
	static const char without[] = "without ";
	const struct tb_replay_command *own = &advice->changes[0].words;
	size_t used = strlen(without);
	if (put_new_parts(advice, change, 0, own, &change->words) > 0)
		return;
	snprintf(change->title, sizeof change->title, "%s", without);
	if (put_new_parts(advice, change, used, &change->words, own) == used)
		snprintf(change->title, sizeof change->title, "%s", change->rule);
}

// propose_one adds what a finding proposes; its command is the one that people see.
static void propose_one(struct tb_advice *advice, const struct tb_finding *finding)
{
	struct tb_replay_command words;
	if (tb_replay_command_read(&words, finding->command) != TB_OK) {
		advice->no_memory = true;
		return;
	}
	struct tb_change *change = add_change(advice, finding->id, &words, "new.db");
	if (!change)
		return;
	title_of(advice, change);
	change->proposal = strdup(finding->command);
	advice->no_memory = advice->no_memory || !change->proposal;
}

// know_routes has the evidence tell how good routes could be, where few flows are read.
static int know_routes(struct tb_advice *advice, struct tb_error *error)
{
	uint64_t n = 0;
	int status = tb_flows_count(advice->run, &n, error);
	return status || n > TB_BOUNDS_FLOWS
		       ? status
		       : tb_bounds_routes(&advice->evidence.bounds, advice->run, error);
}

// propose adds what the findings propose, as if nothing had been tried before: what
// harmed then they do not propose any more.
static int propose(struct tb_advice *advice, struct tb_error *error)
{
	struct tb_findings findings = {.n = 0};
	advice->is_server =
		calloc(advice->info->n_nodes + UINT64_C(1), sizeof *advice->is_server);
	if (!advice->is_server)
		return tb_fail_memory(error, "the changes");
	int status = tb_evidence_init(&advice->evidence, advice->run, error);
	if (!status)
		status = know_routes(advice, error);
	if (status)
		return status;
	tb_run_tries_fini(&advice->evidence.tries);
	if (tb_findings_judge(&findings, &advice->evidence) != TB_OK)
		return tb_fail_memory(error, "the findings");
	for (size_t i = 0; i < findings.n; i++) {
		const struct tb_finding *finding = &findings.list[i];
		if (tb_finding_is_change(finding))
			propose_one(advice, finding);
	}
	for (uint32_t i = 0; i < advice->evidence.n_ends; i++) {
		const struct tb_evidence_end *end = &advice->evidence.ends[i];
		advice->is_server[end->node.id] =
			end->queue.senders.n >= TB_FINDING_SENDERS && end->receives_more;
		advice->has_servers |= advice->is_server[end->node.id];
	}
	advice->has_servers &= tb_findings_answer(&findings, TB_RULE_SERVERS_APART);
	const struct tb_finding *straggler =
		tb_findings_rule(&findings, tb_rules[TB_RULE_STRAGGLER].name);
	snprintf(advice->straggler, sizeof advice->straggler, "%.399s",
		straggler ? straggler->sentence : "");
	advice->has_slow_cables = tb_findings_answer(&findings, TB_RULE_MENDED_CABLE);
	tb_findings_fini(&findings);
	return TB_OK;
}

// is_there returns whether a change like the last one is listed before it.
static bool is_there(const struct tb_advice *advice)
{
	const char *command = advice->changes[advice->n - 1].command;
	for (size_t i = 0; command && i + 1 < advice->n; i++)
		if (advice->changes[i].command &&
			strcmp(advice->changes[i].command, command) == 0)
			return true;
	return false;
}

static void free_change_files(struct tb_advice_file *files, size_t n)
{
	for (size_t i = 0; files && i < n; i++)
		free(files[i].text);
	free(files);
}

void tb_change_fini(struct tb_change *change)
{
	free_change_files(change->files, change->n_files);
	for (size_t i = 0; i < TB_ADVICE_SEEDS_MOST; i++)
		free(change->outcomes[i].job_ps);
	tb_replay_command_fini(&change->words);
	free(change->command);
	free(change->proposal);
}

struct tb_change *tb_advice_search(struct tb_advice *advice, enum tb_rule rule,
	struct tb_replay_command *words, const char *title)
{
	struct tb_change *change = add_change(advice, rule, words, "new.db");
	if (!change)
		return NULL;
	snprintf(change->title, sizeof change->title, "%s", title);
	if (!is_there(advice))
		return change;
	tb_change_fini(&advice->changes[--advice->n]);
	return NULL;
}

void tb_advice_search_with(struct tb_advice *advice, enum tb_rule rule,
	struct tb_replay_command *words, const char *title, struct tb_advice_file *files,
	size_t n)
{
	tb_advice_name_files(
		words, files, n, advice->folder ? advice->folder : TB_TRIED_FOLDER);
	struct tb_change *change = tb_advice_search(advice, rule, words, title);
	if (change) {
		change->files = files;
		change->n_files = n;
	} else {
		free_change_files(files, n);
	}
}

void tb_advice_search_network(struct tb_advice *advice, enum tb_rule rule,
	const char *key, const char *value, const char *title)
{
	struct tb_replay_command words;
	char setting[160];
	if (!tb_advice_again(advice, &words))
		return;
	tb_replay_command_drop(&words, "--routes");
	if (strcmp(key, "level_rates") == 0) // which leave a rate of all without effect
		tb_replay_command_network(&words, "rate", NULL);
	tb_replay_command_network(&words, key, value);
	snprintf(setting, sizeof setting, "%s=%s", key, value);
	tb_advice_search(advice, rule, &words, title ? title : setting);
}

// list_own lists the run as it was.
static int list_own(struct tb_advice *advice, struct tb_error *error)
{
	struct tb_replay_command words;
	char away[PATH_MAX + 128];
	if (!tb_advice_again(advice, &words))
		return advice->no_memory
			       ? tb_fail_memory(error, "the changes")
			       : tb_fail(error, TB_EUSAGE,
					 "run %lld cannot be replayed again: its input "
					 "came from standard input, or an experiment "
					 "made it",
					 (long long)advice->info->id);
	if (tb_replay_command_lacks(&words, away, sizeof away)) {
		tb_replay_command_fini(&words);
		return tb_fail(
			error, TB_EIO, "the run as it was cannot be replayed: %s", away);
	}
	struct tb_change *own = add_change(advice, TB_RULE_AS_IT_WAS, &words, "old.db");
	if (own)
		snprintf(own->title, sizeof own->title, "as it was");
	return TB_OK;
}

int tb_advice_list(struct tb_advice *advice, bool only_findings, struct tb_error *error)
{
	int status = list_own(advice, error);
	if (status == TB_OK && !advice->no_memory)
		status = propose(advice, error);
	if (status == TB_OK && !advice->no_memory && !only_findings)
		status = tb_advice_search_all(advice, error);
	if (status == TB_OK && !advice->no_memory && only_findings && advice->n == 1)
		return tb_fail(error, TB_EUSAGE,
			"the findings of run %lld propose nothing to try",
			(long long)advice->info->id);
	return advice->no_memory ? tb_fail_memory(error, "the changes") : status;
}

// What is known of a rule's changes before any replay: what they change, what bounds
// their gain, and whether they take new hardware.

// shorter_paths stores how much shorter messages of the critical path could be where
// their paths are as short as can be, -1 where the path is not known. A message may cross
// the network four times: a request, its answer, the data and what ends it.
static int shorter_paths(
	const struct tb_advice *advice, tb_time_ps *ps, struct tb_error *error)
{
	const struct tb_run_link *links = tb_run_links(advice->run);
	struct tb_critical_path path = {0};
	uint64_t n_messages = 0;
	tb_time_ps link_ps = 0;
	int status = tb_critical_path_init(&path, advice->run, error);
	for (size_t i = 0; i < path.n_shares && status == TB_OK; i++)
		if (path.shares[i].cause == TB_PATH_TRANSFER)
			n_messages = path.shares[i].n_steps;
	for (uint32_t i = 0; i < advice->info->n_links; i++)
		if (links[i].at.latency_ps > link_ps)
			link_ps = links[i].at.latency_ps;
	double shorter_ps = 8.0 * (double)n_messages * (advice->info->n_levels - 1) *
			    (double)(advice->info->network.hop_latency_ps + link_ps);
	*ps = path.n_shares && shorter_ps < 9e18 ? (tb_time_ps)shorter_ps : -1;
	tb_critical_path_fini(&path);
	return status;
}

// is_rank_per_node: no message stays within a node, so that none does elsewhere.
static bool is_rank_per_node(const struct tb_advice *advice)
{
	const struct tb_jobs *jobs = &advice->evidence.jobs;
	for (uint32_t i = 0; i < jobs->n; i++)
		if (jobs->jobs[i].n_ranks != jobs->jobs[i].n_nodes)
			return false;
	return !tb_advice_has_option(advice, "per-node");
}

// Why a run cannot take less than a time.
struct least {
	tb_time_ps ps;
	const char *why; // "the run takes 2 us, and `why` 1.99 us"
};

static void raise_least(struct least *least, tb_time_ps ps, const char *why)
{
	if (ps > least->ps)
		*least = (struct least){ps, why};
}

// least_run_time returns the time that the run takes at least with such a change.
static struct least least_run_time(
	const struct tb_advice *advice, enum tb_gain_limit limit, tb_time_ps shorter_ps)
{
	const struct tb_bounds *bounds = &advice->evidence.bounds;
	tb_time_ps ideal_ps = advice->info->has_ideal ? advice->info->ideal_ps : 0;
	struct least least = {0, ""};
	if (limit == TB_LIMIT_ROUTES || limit == TB_LIMIT_STATIC_ROUTES)
		raise_least(&least, bounds->whole.cut_ps,
			"no routes carry its bytes on this network in less than");
	if (limit == TB_LIMIT_ROUTES)
		raise_least(&least, bounds->split.least_ps,
			"no routes carry its bytes on this network in less than");
	if (limit == TB_LIMIT_STATIC_ROUTES)
		raise_least(&least, bounds->fixed.least_ps,
			"no static routes carry its bytes on this network in less than");
	if (limit == TB_LIMIT_NODE_LINKS)
		raise_least(&least, bounds->whole.host_ps,
			"the links of its nodes carry no such bytes in less than");
	if (limit != TB_LIMIT_COMPUTE && limit != TB_LIMIT_PLACES)
		raise_least(&least, ideal_ps, "on an ideal network it would take");
	if (limit == TB_LIMIT_PLACES && shorter_ps >= 0 && is_rank_per_node(advice))
		raise_least(&least, ideal_ps - shorter_ps,
			"on an ideal network with the shortest paths at least");
	if (limit == TB_LIMIT_COMPUTE && advice->info->has_bound)
		raise_least(&least, advice->info->compute_ps,
			"with messages that take no time it would take");
	return least;
}

// rule_out leaves a change out when the run can take hardly less with it.
static void rule_out(
	const struct tb_advice *advice, struct tb_change *change, tb_time_ps shorter_ps)
{
	tb_time_ps run_ps = advice->info->simulated_ps;
	enum tb_gain_limit limit = tb_rules[change->id].limit;
	char text[48];
	if (limit == TB_LIMIT_NONE)
		return;
	// A level of links that are the nodes' is faster for these, too.
	struct least least = least_run_time(
		advice, change->is_for_nodes ? TB_LIMIT_COMPUTE : limit, shorter_ps);
	if (least.ps > 0)
		change->most = 100 * (double)(run_ps - least.ps) / (double)run_ps;
	snprintf(change->bound, sizeof change->bound, "%s %s", least.why,
		tb_format_time(least.ps, text, sizeof text));
	if (change->most >= TB_ADVICE_MATTERS)
		return;
	change->verdict = TB_VERDICT_CANNOT;
	snprintf(change->why, sizeof change->why, "the run takes %s, and %s",
		tb_format_time(run_ps, text, sizeof text), change->bound);
}

// is_capped returns whether a change may be left out for what another one gains: its
// bound is known, no finding proposes it, and what it costs is not what is asked. An
// algorithm changes what ranks compute in calls, too.
static bool is_capped(const struct tb_change *change)
{
	return change->verdict < TB_VERDICT_FAILED && change->most < INFINITY &&
	       !change->proposal && change->id != TB_RULE_FEWER_CABLES &&
	       tb_rules[change->id].of != TB_CHANGE_CALLS;
}

// kind_of returns what a change changes; tables of routes are ways, too.
static enum tb_change_of kind_of(const struct tb_change *change)
{
	enum tb_change_of of = tb_rules[change->id].of;
	return of == TB_CHANGE_ALONE ? TB_CHANGE_WAYS : of;
}

// comes_first: no finding proposes a change of the kind, and of the capped ones it may
// gain most, or is the last of those: what the traffic chose is behind what it did not.
static bool comes_first(const struct tb_advice *advice, size_t change)
{
	const struct tb_change *one = &advice->changes[change];
	for (size_t i = 1; i < advice->n; i++) {
		const struct tb_change *other = &advice->changes[i];
		if (i == change || other->verdict >= TB_VERDICT_FAILED ||
			kind_of(other) != kind_of(one) ||
			other->needs_hardware != one->needs_hardware)
			continue;
		if (other->proposal ||
			(is_capped(other) &&
				(other->most > one->most ||
					(other->most == one->most && i > change))))
			return false;
	}
	return true;
}

// price_of ranks what changes cost: nothing, a few links, those of a level, all links.
static int price_of(const struct tb_change *change)
{
	switch ((int)change->id) {
	case TB_RULE_FASTER_NODE:
		return 1;
	case TB_RULE_FASTER_LEVEL:
	case TB_RULE_MORE_CABLES:
	case TB_RULE_LESS_TAPER:
		return 2;
	default:
		return change->needs_hardware ? 3 : 0;
	}
}

void tb_advice_cap(struct tb_advice *advice, bool bought)
{
	for (size_t i = 1; i < advice->n; i++) {
		struct tb_change *change = &advice->changes[i];
		if (change->needs_hardware != bought)
			continue;
		const struct tb_change *best = NULL;
		double most = 0;
		for (size_t k = 1; k < advice->n && change->waits; k++) {
			const struct tb_change *other = &advice->changes[k];
			const struct tb_estimate *by = tb_advice_deciding(advice, other);
			double half =
				other->n_seeds > 1 ? by->half_ci : 100 * other->moves[0];
			bool is_cheap = !tb_advice_more_nodes(advice, other) &&
					price_of(other) <= price_of(change);
			if (other->verdict != TB_VERDICT_HELPS || other->waits ||
				!is_cheap || by->mean - half <= most)
				continue;
			most = by->mean - half;
			best = other;
		}
		if (best && change->most <= most) {
			change->verdict = TB_VERDICT_CAPPED;
			snprintf(change->why, sizeof change->why,
				"%s: it gains %.1f %% at most, and %.90s gains %.1f %%",
				change->bound, change->most, best->title,
				tb_advice_deciding(advice, best)->mean);
		}
		change->waits = false;
	}
}

int tb_advice_limit(struct tb_advice *advice, struct tb_error *error)
{
	tb_time_ps shorter_ps;
	bool any_live = false;
	if (advice->by != TB_ADVICE_BY_RUN || advice->info->simulated_ps <= 0)
		return TB_OK;
	int status = shorter_paths(advice, &shorter_ps, error);
	if (status != TB_OK)
		return status;
	for (size_t i = 1; i < advice->n; i++) {
		rule_out(advice, &advice->changes[i], shorter_ps);
		any_live |= advice->changes[i].verdict != TB_VERDICT_CANNOT &&
			    advice->changes[i].id != TB_RULE_FEWER_CABLES;
	}
	// What fewer cables would cost nobody asks where nothing else is replayed.
	for (size_t i = 1; i < advice->n && !any_live; i++) {
		struct tb_change *change = &advice->changes[i];
		if (change->verdict == TB_VERDICT_CANNOT)
			continue;
		change->verdict = TB_VERDICT_CANNOT;
		snprintf(change->why, sizeof change->why,
			"it only saves cables; nothing can make the run shorter");
	}
	for (size_t i = 1; i < advice->n; i++)
		advice->changes[i].waits =
			is_capped(&advice->changes[i]) && !comes_first(advice, i);
	return TB_OK;
}

// Two changes together, each of which helps: what one leaves the other may take.

// Of the best of each kind so many are combined: six pairs at the most.
#define COMBINED_MOST 4

// copy_files adds copies of a change's files to those of a pair, which has room for them.
static bool copy_files(struct tb_change *pair, const struct tb_change *from)
{
	for (size_t i = 0; i < from->n_files; i++) {
		struct tb_advice_file *file = &pair->files[pair->n_files];
		*file = from->files[i];
		file->text = malloc(file->size + 1);
		if (!file->text)
			return false;
		memcpy(file->text, from->files[i].text, file->size);
		pair->n_files++;
	}
	return true;
}

// add_pair_of_changes adds two changes as one, unless they contradict each other.
static void add_pair_of_changes(struct tb_advice *advice, size_t one, size_t other)
{
	struct tb_replay_command words;
	char title[160];
	if (tb_replay_command_read(&words, advice->changes[one].command) != TB_OK) {
		advice->no_memory = true;
		return;
	}
	if (!tb_replay_command_merge(
		    &words, &advice->changes[0].words, &advice->changes[other].words)) {
		advice->no_memory |= words.failed;
		tb_replay_command_fini(&words);
		return;
	}
	snprintf(title, sizeof title, "%.75s + %.75s", advice->changes[one].title,
		advice->changes[other].title);
	struct tb_change *pair = tb_advice_search(advice, TB_RULE_PAIR, &words, title);
	if (!pair)
		return;
	const struct tb_change *of[] = {&advice->changes[one], &advice->changes[other]};
	pair->parts[0] = one;
	pair->parts[1] = other;
	pair->files = calloc(of[0]->n_files + of[1]->n_files + 1, sizeof *pair->files);
	advice->no_memory |= !pair->files;
	for (int i = 0; i < 2 && pair->files; i++) {
		size_t used = strlen(pair->settings);
		advice->no_memory |= !copy_files(pair, of[i]);
		pair->needs_hardware |= of[i]->needs_hardware;
		pair->is_for_nodes |= of[i]->is_for_nodes;
		snprintf(pair->settings + used, sizeof pair->settings - used, "%s%s",
			used && of[i]->settings[0] ? " " : "", of[i]->settings);
	}
}

bool tb_advice_add_pairs(struct tb_advice *advice, uint32_t most)
{
	size_t best[COMBINED_MOST], before = advice->n;
	// List the changes that help most, one of a kind, best first. A later start needs
	// no other change: alone it shows what the jobs cost each other.
	bool taken[TB_CHANGES_OF] = {[TB_CHANGE_ALONE] = true, [TB_CHANGE_STARTS] = true};
	size_t n = 0;
	while (n < COMBINED_MOST) {
		size_t at = 0;
		for (size_t i = 1; i < advice->n; i++) {
			const struct tb_change *change = &advice->changes[i];
			if (change->verdict == TB_VERDICT_HELPS &&
				!taken[tb_rules[change->id].of] &&
				(!at || tb_advice_deciding(advice, change)->mean >
						tb_advice_deciding(
							advice, &advice->changes[at])
							->mean))
				at = i;
		}
		if (!at)
			break;
		taken[tb_rules[advice->changes[at].id].of] = true;
		best[n++] = at;
	}
	for (size_t i = 0; i < n; i++)
		for (size_t k = i + 1; k < n; k++)
			if (!most || advice->n <= most)
				add_pair_of_changes(advice, best[i], best[k]);
	return advice->n > before;
}

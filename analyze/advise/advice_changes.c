// Which changes are worth a replay.
#include "advice_impl.h"
#include "array.h"
#include "findings.h"
#include "flows.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

// add_change adds a change, whose command it takes; `output` is the store in the command
// that the user sees. NULL without memory.
static struct tb_change *add_change(struct tb_advice *advice, const char *rule,
	struct tb_replay_command *words, const char *output)
{
	size_t size = 0;
	struct tb_change *change = NULL;
	if (TB_ARRAY_RESERVE(&advice->changes, &advice->room, advice->n + 1) == TB_OK) {
		change = &advice->changes[advice->n++];
		*change = (struct tb_change){.rule = rule,
			.words = *words,
			.needs_hardware = tb_change_needs_hardware(rule),
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

bool tb_advice_has_option(const struct tb_advice *advice, const char *option)
{
	return strstr(advice->info->options, option) != NULL;
}

// beyond returns what a word has beyond one of the run's own command: "rails=2" of
// "qsnet,rails=2"; NULL: nothing.
static const char *beyond(const struct tb_replay_command *own, const char *word)
{
	const char *rest = word;
	for (size_t i = 0; i < own->n; i++) {
		size_t same = 0;
		while (word[same] && word[same] == own->words[i][same])
			same++;
		if (!word[same] && !own->words[i][same])
			return NULL;
		// To behind the last comma that both have, or have the end of.
		same += word[same] == ',' && !own->words[i][same];
		while (same > 0 && word[same - 1] != ',')
			same--;
		if (word + same > rest)
			rest = word + same;
	}
	return rest;
}

// title_of makes the title of what the run's own command does not have.
static void title_of(struct tb_change *change, const struct tb_replay_command *own)
{
	size_t used = 0;
	for (size_t i = 0; i < change->words.n; i++) {
		const char *rest = beyond(own, change->words.words[i]);
		if (!rest || strcmp(rest, "--job") == 0)
			continue;
		used += (size_t)snprintf(change->title + used,
			sizeof change->title - used, "%s%s", used ? " " : "", rest);
		if (used >= sizeof change->title)
			return;
	}
	if (!used)
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
	struct tb_change *change = add_change(advice, finding->rule, &words, "new.db");
	if (!change)
		return;
	title_of(change, &advice->changes[0].words);
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
	advice->has_servers = tb_findings_rule(&findings, "incast") ||
			      tb_findings_rule(&findings, "few-receivers");
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

void tb_change_fini(struct tb_change *change)
{
	for (size_t i = 0; i < change->n_files; i++)
		free(change->files[i].text);
	free(change->files);
	for (size_t i = 0; i < TB_ADVICE_SEEDS_MOST; i++)
		free(change->outcomes[i].job_ps);
	tb_replay_command_fini(&change->words);
	free(change->command);
	free(change->proposal);
}

struct tb_change *tb_advice_search(struct tb_advice *advice, const char *rule,
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

void tb_advice_search_network(
	struct tb_advice *advice, const char *rule, const char *key, const char *value)
{
	struct tb_replay_command words;
	char title[160];
	if (!tb_advice_again(advice, &words))
		return;
	tb_replay_command_drop(&words, "--routes");
	tb_replay_command_network(&words, key, value);
	snprintf(title, sizeof title, "%s=%s", key, value);
	tb_advice_search(advice, rule, &words, title);
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
	struct tb_change *own = add_change(advice, "none", &words, "old.db");
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

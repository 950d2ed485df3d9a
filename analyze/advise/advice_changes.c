// Which changes are worth a replay.
#include "advice_impl.h"
#include "array.h"
#include "collective.h"
#include "findings.h"
#include "recorded.h"

#include <stdio.h>
#include <string.h>

// add adds a change, whose command it takes; `output` is the store in the command that
// the user sees. NULL without memory.
static struct tb_change *add(struct tb_advice *advice, const char *rule,
	struct tb_replay_command *words, const char *output)
{
	size_t size = 0;
	struct tb_change *change = NULL;
	if (TB_ARRAY_RESERVE(&advice->changes, &advice->room, advice->n + 1) == TB_OK) {
		change = &advice->changes[advice->n++];
		*change = (struct tb_change){.rule = rule, .words = *words};
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

static bool again(struct tb_advice *advice, struct tb_replay_command *words)
{
	int status = tb_replay_command_init(
		words, advice->info->input_name, advice->info->options);
	advice->no_memory = advice->no_memory || status == TB_ENOMEM;
	return status == TB_OK;
}

static bool has_option(const struct tb_advice *advice, const char *option)
{
	return strstr(advice->info->options, option) != NULL;
}

// Of what the findings propose, what only shows something, and is no change.
static bool only_shows(const char *rule)
{
	static const char *const rules[] = {"alone", "slower-scale", "without-faults"};
	for (size_t i = 0; i < sizeof rules / sizeof *rules; i++)
		if (strcmp(rule, rules[i]) == 0)
			return true;
	return false;
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

static int propose(struct tb_advice *advice, struct tb_error *error)
{
	struct tb_findings findings = {.n = 0};
	int status = tb_findings_init(&findings, advice->run, error);
	for (size_t i = 0; i < findings.n && status == TB_OK; i++) {
		const struct tb_finding *finding = &findings.list[i];
		struct tb_replay_command words;
		if (!finding->remedy || !finding->command || only_shows(finding->rule))
			continue;
		if (tb_replay_command_read(&words, finding->command) != TB_OK) {
			advice->no_memory = true;
			continue;
		}
		struct tb_change *change = add(advice, finding->rule, &words, "new.db");
		if (change)
			title_of(change, &advice->changes[0].words);
	}
	tb_findings_fini(&findings);
	return status;
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

static void drop_last(struct tb_advice *advice)
{
	struct tb_change *last = &advice->changes[--advice->n];
	tb_replay_command_fini(&last->words);
	free(last->command);
}

// search adds a change of the search, unless it is there or changes nothing.
static void search(struct tb_advice *advice, const char *rule,
	struct tb_replay_command *words, const char *title)
{
	struct tb_change *change = add(advice, rule, words, "new.db");
	if (!change)
		return;
	snprintf(change->title, sizeof change->title, "%s", title);
	if (is_there(advice))
		drop_last(advice);
}

static void search_network(
	struct tb_advice *advice, const char *rule, const char *key, const char *value)
{
	struct tb_replay_command words;
	char title[160];
	if (!again(advice, &words))
		return;
	tb_replay_command_drop(&words, "--routes");
	tb_replay_command_network(&words, key, value);
	snprintf(title, sizeof title, "%s=%s", key, value);
	search(advice, rule, &words, title);
}

// A map, hosts or nodes say where the ranks are; a placement takes their place.
static void search_placements(struct tb_advice *advice)
{
	static const char *const kinds[] = {"block", "cyclic", "random"};
	static const char *const instead[] = {"placement", "nodes", "hosts", "map", NULL};
	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
		struct tb_replay_command words;
		char title[160];
		if (advice->info->n_jobs != 1 || has_option(advice, "--map") ||
			strcmp(advice->info->input_kind, "job") != 0 ||
			!again(advice, &words))
			return;
		if (tb_replay_command_n_jobs(&words) != 1) {
			tb_replay_command_fini(&words);
			return;
		}
		tb_replay_command_job(&words, 0, "placement", kinds[i], instead);
		snprintf(title, sizeof title, "placement=%s", kinds[i]);
		search(advice, "placement", &words, title);
	}
}

// The ways up of which none is the others' in small: by destination, by load, by flow.
static void search_ascents(struct tb_advice *advice)
{
	static const enum tb_ascent ways[] = {
		TB_ASCENT_ADAPTIVE, TB_ASCENT_DETERMINISTIC, TB_ASCENT_ECMP};
	for (size_t i = 0; i < sizeof ways / sizeof *ways; i++)
		if (advice->info->n_levels > 1 && ways[i] != advice->info->network.ascent)
			search_network(
				advice, "ascent", "ascent", tb_ascent_words[ways[i]]);
}

static void search_links(struct tb_advice *advice)
{
	const struct tb_network_params *network = &advice->info->network;
	char rate[48];
	if (strcmp(network->shape, TB_SHAPE_FABRIC) == 0 ||
		has_option(advice, "--routes"))
		return; // a file says what its links are
	if (!network->level_rates[0]) {
		snprintf(rate, sizeof rate, "%.12gMB/s",
			2 * (double)network->link_bytes_per_s / 1e6);
		search_network(advice, "faster-links", "rate", rate);
	}
	if (network->n_rails == 1 && !network->broadcast &&
		!has_option(advice, "--fault"))
		search_network(advice, "second-rail", "rails", "2");
}

// is_made_by_nccl returns whether NCCL's algorithms made messages of the calls, for want
// of which there are those of MPI libraries.
static bool is_made_by_nccl(const struct tb_advice *advice)
{
	for (size_t i = 0; i < advice->info->n_notes; i++)
		if (strncmp(advice->info->notes[i].text, "library nccl", 12) == 0)
			return true;
	return has_option(advice, "--library nccl");
}

// search_algorithms tries the algorithms that libraries choose from for the operation in
// which ranks were longest.
static void search_algorithms(struct tb_advice *advice, const char *operation)
{
	enum tb_collective_op op;
	bool nccl = is_made_by_nccl(advice);
	if (!tb_collective_op_find(&op, operation) || has_option(advice, "--collective"))
		return;
	for (const struct tb_algorithm *a = tb_algorithms; a->name; a++) {
		struct tb_replay_command words;
		char title[160];
		bool chosen =
			nccl ? a->names[TB_LIBRARY_NCCL] != NULL
			     : a->names[TB_LIBRARY_OPENMPI] || a->names[TB_LIBRARY_MPICH];
		if (a->op != op || !chosen || !again(advice, &words))
			continue;
		snprintf(title, sizeof title, "%s=%s", operation, a->name);
		tb_replay_command_set(&words, "--collective", title);
		search(advice, "algorithm", &words, title);
	}
}

static int search_collectives(struct tb_advice *advice, struct tb_error *error)
{
	struct tb_recorded recorded = {0};
	const struct tb_recorded_row *longest = NULL;
	enum tb_collective_op op;
	int status = tb_recorded_init(&recorded, advice->run, error);
	for (size_t i = 0; i < recorded.kinds.n && status == TB_OK; i++) {
		const struct tb_recorded_row *row = &recorded.kinds.rows[i];
		if (tb_collective_op_find(&op, row->name) &&
			(!longest || row->recorded_ps > longest->recorded_ps))
			longest = row;
	}
	if (longest)
		search_algorithms(advice, longest->name);
	tb_recorded_fini(&recorded);
	return status;
}

int tb_advice_list(struct tb_advice *advice, struct tb_error *error)
{
	struct tb_replay_command words;
	if (again(advice, &words)) {
		struct tb_change *own = add(advice, "none", &words, "old.db");
		if (own)
			snprintf(own->title, sizeof own->title, "as it was");
	} else if (!advice->no_memory) {
		return tb_fail(error, TB_EUSAGE,
			"run %lld cannot be replayed again: its input came from standard "
			"input, or an experiment made it",
			(long long)advice->info->id);
	}
	int status = advice->no_memory ? TB_OK : propose(advice, error);
	if (status == TB_OK && !advice->no_memory) {
		search_placements(advice);
		search_ascents(advice);
		search_links(advice);
		status = search_collectives(advice, error);
	}
	return advice->no_memory ? tb_fail_memory(error, "the changes") : status;
}

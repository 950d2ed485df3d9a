// Two changes together, each of which helps: what one leaves the other may take.
#include "advice_impl.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Of the best of each kind so many are combined: six pairs at the most.
#define COMBINED_MOST 4

// find_best lists the changes that help most, one of a kind, best first; it returns how
// many.
static size_t find_best(const struct tb_advice *advice, size_t best[COMBINED_MOST])
{
	bool taken[TB_CHANGES_OF] = {[TB_CHANGE_ALONE] = true};
	size_t n = 0;
	while (n < COMBINED_MOST) {
		size_t at = 0;
		for (size_t i = 1; i < advice->n; i++) {
			const struct tb_change *change = &advice->changes[i];
			if (change->verdict == TB_VERDICT_HELPS &&
				!taken[tb_change_of(change)] &&
				(!at || tb_advice_deciding(advice, change)->mean >
						tb_advice_deciding(
							advice, &advice->changes[at])
							->mean))
				at = i;
		}
		if (!at)
			break;
		taken[tb_change_of(&advice->changes[at])] = true;
		best[n++] = at;
	}
	return n;
}

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
	char title[sizeof advice->changes->title];
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
	struct tb_change *pair = tb_advice_search(advice, "pair", &words, title);
	if (!pair)
		return;
	const struct tb_change *of[] = {&advice->changes[one], &advice->changes[other]};
	pair->files = calloc(of[0]->n_files + of[1]->n_files + 1, sizeof *pair->files);
	advice->no_memory |= !pair->files;
	for (int i = 0; i < 2 && pair->files; i++) {
		size_t used = strlen(pair->settings);
		advice->no_memory |= !copy_files(pair, of[i]);
		pair->needs_hardware |= of[i]->needs_hardware;
		pair->is_for_nodes |= of[i]->is_for_nodes;
		snprintf(pair->settings + used, sizeof pair->settings - used, "%s%s",
			used && of[i]->settings[0] ? " " : "", of[i]->settings);
		if (of[i]->delay_ps > 0) {
			pair->delayed_job = of[i]->delayed_job;
			pair->delay_ps = of[i]->delay_ps;
		}
	}
}

bool tb_advice_add_pairs(struct tb_advice *advice, uint32_t most)
{
	size_t best[COMBINED_MOST], before = advice->n;
	size_t n = find_best(advice, best);
	for (size_t i = 0; i < n; i++)
		for (size_t k = i + 1; k < n; k++)
			if (!most || advice->n <= most)
				add_pair_of_changes(advice, best[i], best[k]);
	return advice->n > before;
}

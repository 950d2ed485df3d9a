// Ranks where least of their traffic crosses leaf switches.
#include "advice_impl.h"
#include "seating.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

// A share of the crossing bytes; what saves less is not worth a replay.
#define WORTH 0.02

// add_rank_file makes the map of a job, and has the command name it in the user's folder.
static int add_rank_file(const struct tb_seating *seating, uint32_t job,
	const char *prefix, struct tb_advice_file *file, struct tb_error *error)
{
	FILE *stream = open_memstream(&file->text, &file->size);
	if (!stream)
		return tb_fail_memory(error, "a map");
	file->job = job;
	snprintf(file->name, sizeof file->name, "%s-%u.map", prefix, job);
	int status = tb_seating_write_map(seating, job, stream, error);
	if (fclose(stream) != 0 && status == TB_OK)
		status = tb_fail_memory(error, "a map");
	return status;
}

static int add_files(const struct tb_seating *seating, const char *prefix,
	struct tb_advice_file *files, uint32_t n, struct tb_error *error)
{
	int status = TB_OK;
	for (uint32_t job = 0; job < n && status == TB_OK; job++)
		status = add_rank_file(seating, job, prefix, &files[job], error);
	return status;
}

void tb_advice_name_files(struct tb_replay_command *words,
	const struct tb_advice_file *files, size_t n, const char *folder)
{
	static const char *const instead[] = {
		"placement", "nodes", "hosts", "map", "per-node", NULL};
	for (size_t i = 0; i < n; i++) {
		char path[PATH_MAX];
		tb_advice_files_path(&files[i], folder, path, sizeof path);
		if (files[i].kind == TB_ADVICE_FILE_ROUTES)
			tb_replay_command_set(words, "--routes", path);
		else if (files[i].kind == TB_ADVICE_FILE_FABRIC)
			tb_replay_command_fabric(words, path);
		else
			tb_replay_command_job(words, files[i].job, "map", path, instead);
	}
	if (n && files[0].kind == TB_ADVICE_FILE_MAP)
		tb_replay_command_drop(words, "--per-node");
}

int tb_advice_add_seats(struct tb_advice *advice, const struct tb_seating *seating,
	const char *rule, const char *title, struct tb_error *error)
{
	struct tb_replay_command words;
	uint32_t n = advice->info->n_jobs;
	if (!tb_advice_again(advice, &words))
		return TB_OK;
	struct tb_advice_file *files = calloc(n, sizeof *files);
	int status = files ? add_files(seating, rule, files, n, error)
			   : tb_fail_memory(error, "the maps");
	struct tb_change *change = NULL;
	if (status == TB_OK) {
		tb_advice_name_files(&words, files, n,
			advice->folder ? advice->folder : TB_TRIED_FOLDER);
		change = tb_advice_search(advice, rule, &words, title);
	} else {
		tb_replay_command_fini(&words);
	}
	if (change) {
		change->files = files;
		change->n_files = n;
		return status;
	}
	for (uint32_t i = 0; files && i < n; i++)
		free(files[i].text);
	free(files);
	return status;
}

static int search_seats(struct tb_advice *advice, enum tb_seating_places places,
	const char *rule, const char *what, struct tb_error *error)
{
	struct tb_seating seating = {0};
	char title[160];
	int status = tb_seating_init(&seating, advice->run, places, error);
	if (status == TB_ECAPACITY)
		return TB_OK;
	if (status == TB_OK && seating.crossing_after < (1 - WORTH) * seating.crossing) {
		snprintf(title, sizeof title,
			"%s by traffic (%.0f %% of bytes cross leaves, not %.0f)", what,
			100 * seating.crossing_after / seating.bytes,
			100 * seating.crossing / seating.bytes);
		status = tb_advice_add_seats(advice, &seating, rule, title, error);
	}
	tb_seating_fini(&seating);
	return status;
}

int tb_advice_search_places(struct tb_advice *advice, struct tb_error *error)
{
	const struct tb_run_info *info = advice->info;
	struct tb_replay_command words;
	bool rails_of_file = info->network.n_rails > 1 &&
			     strcmp(info->network.shape, TB_SHAPE_FABRIC) == 0;
	if (strcmp(info->input_kind, "job") != 0 || rails_of_file ||
		tb_advice_has_option(advice, "closed-loop") ||
		tb_advice_has_option(advice, "--map") || !tb_advice_again(advice, &words))
		return TB_OK;
	size_t n_inputs = tb_replay_command_n_jobs(&words);
	tb_replay_command_fini(&words);
	if (n_inputs != info->n_jobs)
		return TB_OK;
	int status =
		search_seats(advice, TB_SEATING_SAME, "ranks-by-traffic", "ranks", error);
	if (status == TB_OK && info->n_levels > 1)
		status = search_seats(advice, TB_SEATING_ANYWHERE, "nodes-by-traffic",
			"nodes and ranks", error);
	return status == TB_OK ? tb_advice_search_servers(advice, error) : status;
}

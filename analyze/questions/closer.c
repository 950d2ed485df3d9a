#include "closer.h"

#include "beside.h"
#include "child.h"
#include "replay_command.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int replay_window(struct tb_closer *closer, const struct tb_replay_command *words,
	const char *store, struct tb_error *error)
{
	char said[TB_TEMPORARY_FILE_BYTES], sentence[256];
	struct tb_child child = {0};
	const char **arguments = calloc(words->n + 6, sizeof *arguments);
	if (!arguments)
		return tb_fail_memory(error, "a replay");
	size_t n = 0;
	arguments[n++] = "replay";
	for (size_t i = 0; i < words->n; i++)
		arguments[n++] = words->words[i];
	arguments[n++] = "-q";
	arguments[n++] = "-o";
	arguments[n++] = store;
	tb_temporary_file(&closer->folder, "said", said);
	const struct tb_child_options options = {
		.arguments = arguments, .input = -1, .log = said};
	int status = tb_child_start(&child, &options, error);
	free(arguments);
	if (status != TB_OK || tb_child_wait(&child) == 0)
		return status;
	tb_beside_sentence(said, sentence, sizeof sentence);
	return tb_fail(error, TB_EIO, "the window cannot be replayed: %s", sentence);
}

static int open_window(struct tb_closer *closer, const struct tb_run *run,
	const char *store, struct tb_error *error)
{
	const struct tb_run_info *info = tb_run_info(run);
	int status = tb_run_open(&closer->run, store, 0, error);
	if (status != TB_OK)
		return status;
	const struct tb_run_info *made = tb_run_info(closer->run);
	if (strcmp(made->input_digest, info->input_digest) != 0)
		return tb_fail(error, TB_EUSAGE,
			"%s is not the file that run %" PRId64 " replayed",
			info->input_name, info->id);
	if (made->n_links != info->n_links || made->n_nodes != info->n_nodes)
		return tb_fail(error, TB_EUSAGE,
			"the network is not the one of run %" PRId64 " any more",
			info->id);
	return TB_OK;
}

int tb_closer_init(struct tb_closer *closer, const struct tb_run *run, tb_time_ps from_ps,
	tb_time_ps to_ps, struct tb_error *error)
{
	const struct tb_run_info *info = tb_run_info(run);
	struct tb_replay_command words = {0};
	char store[TB_TEMPORARY_FILE_BYTES], away[PATH_MAX];
	*closer = (struct tb_closer){0};
	int status = tb_replay_command_init(&words, info->input_name, info->options);
	if (status == TB_EUSAGE)
		return tb_fail(error, TB_EUSAGE,
			"run %" PRId64 " cannot be replayed again: its input came from "
			"standard input, or an experiment made it",
			info->id);
	if (status == TB_OK && tb_replay_command_lacks(&words, away, sizeof away))
		status =
			tb_fail(error, TB_EIO, "the window cannot be replayed: %s", away);
	else if (status == TB_OK) {
		// Have the command keep the window in bins of whole nanoseconds.
		char text[64];
		const tb_time_ps ns = TB_PS_PER_NS;
		tb_time_ps bin_ps = ((to_ps - from_ps) / TB_CLOSER_BINS / ns + 1) * ns;
		snprintf(text, sizeof text, "%" PRId64 "ps", bin_ps);
		tb_replay_command_drop(&words, "--window");
		tb_replay_command_drop(&words, "--bin");
		tb_replay_command_set(&words, "--bin", text);
		snprintf(text, sizeof text, "%" PRId64 ",%" PRId64,
			from_ps / bin_ps * bin_ps,
			(to_ps + bin_ps - 1) / bin_ps * bin_ps);
		tb_replay_command_set(&words, "--window", text);
		tb_replay_command_lighten(&words);
	}
	if (status == TB_ENOMEM || words.failed)
		status = tb_fail_memory(error, "the replay of the window");
	if (status == TB_OK)
		status = tb_temporary_init(
			&closer->folder, "the store of the window", error);
	tb_temporary_file(&closer->folder, "run.db", store);
	if (status == TB_OK)
		status = replay_window(closer, &words, store, error);
	if (status == TB_OK)
		status = open_window(closer, run, store, error);
	tb_replay_command_fini(&words);
	return status;
}

void tb_closer_fini(struct tb_closer *closer)
{
	tb_run_free(closer->run);
	tb_temporary_fini(&closer->folder);
	*closer = (struct tb_closer){0};
}

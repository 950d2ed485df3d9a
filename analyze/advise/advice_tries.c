// Replays changes, several at once, each try into a store of its own.
#include "advice_impl.h"
#include "beside.h"
#include "child.h"
#include "progress.h"

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

// One call of tb_tries_run.
struct try_batch {
	struct tb_tries *tries;
	const struct tb_try *list;
	struct tb_child *children; // by try
	size_t n_begun, n_ended, n;
};

static void try_path(const struct tb_tries *tries, size_t i, const char *what,
	char path[TB_TEMPORARY_FILE_BYTES])
{
	snprintf(path, TB_TEMPORARY_FILE_BYTES, "%s/%zu.%s", tries->folder.path, i, what);
}

// word_try makes the words of a try's replay.
static int word_try(struct tb_replay_command *words, const struct tb_tries *tries,
	const struct tb_try *of, struct tb_error *error)
{
	const struct tb_change *change = &tries->advice->changes[of->change];
	uint64_t first = tries->advice->info->seed + of->first;
	char seeds[64];
	if (tb_replay_command_read(words, change->command) != TB_OK)
		return tb_fail_memory(error, "a replay");
	tb_advice_name_files(words, change->files, change->n_files, tries->folder.path);
	tb_replay_command_lighten(words);
	if (of->fluid)
		tb_replay_command_network(words, "switching", "fluid");
	if (of->n == 1)
		snprintf(seeds, sizeof seeds, "%" PRIu64, first);
	else
		snprintf(seeds, sizeof seeds, "%" PRIu64 "..%" PRIu64, first,
			first + of->n - 1);
	tb_replay_command_set(words, "--seed", seeds);
	return words->failed ? tb_fail_memory(error, "a replay") : TB_OK;
}

static int start(struct try_batch *b, size_t i, const struct tb_replay_command *words,
	struct tb_error *error)
{
	char store[TB_TEMPORARY_FILE_BYTES], said[TB_TEMPORARY_FILE_BYTES];
	try_path(b->tries, i, "db", store);
	try_path(b->tries, i, "said", said);
	const char **arguments = calloc(words->n + 8, sizeof *arguments);
	if (!arguments)
		return tb_fail_memory(error, "a replay");
	size_t n = 0;
	arguments[n++] = "replay";
	for (size_t k = 0; k < words->n; k++)
		arguments[n++] = words->words[k];
	arguments[n++] = "-q";
	arguments[n++] = "--jobs=1";
	arguments[n++] = "-o";
	arguments[n++] = store;
	const struct tb_child_options child = {
		.arguments = arguments, .input = -1, .apart = true, .log = said};
	int status = tb_child_start(&b->children[i], &child, error);
	free(arguments);
	return status;
}

static int begin_try(struct try_batch *b, size_t i, struct tb_error *error)
{
	const struct tb_tries *tries = b->tries;
	struct tb_replay_command words = {0};
	int status = tb_advice_files_write(
		&tries->advice->changes[b->list[i].change], tries->folder.path, error);
	if (status == TB_OK)
		status = word_try(&words, tries, &b->list[i], error);
	if (status == TB_OK)
		status = start(b, i, &words, error);
	tb_replay_command_fini(&words);
	return status;
}

static void remove_store(const struct tb_tries *tries, size_t i)
{
	static const char *const endings[] = {"db", "db-journal", "said"};
	for (size_t k = 0; k < sizeof endings / sizeof *endings; k++) {
		char path[TB_TEMPORARY_FILE_BYTES];
		try_path(tries, i, endings[k], path);
		unlink(path);
	}
}

// end takes what a try came to. By the fluid model one may fail: it cannot do all that
// packets can.
static int end(struct try_batch *b, size_t i, int code, struct tb_error *error)
{
	const struct tb_try *of = &b->list[i];
	struct tb_change *change = &b->tries->advice->changes[of->change];
	struct tb_error of_store = {0};
	char path[TB_TEMPORARY_FILE_BYTES], why[256];
	int status = code == 0 ? TB_OK : TB_EIO;
	try_path(b->tries, i, "said", path);
	if (code != 0)
		tb_beside_sentence(path, why, sizeof why);
	try_path(b->tries, i, "db", path);
	if (code == 0)
		status = tb_try_read(b->tries->advice, of, path, &of_store);
	remove_store(b->tries, i);
	b->n_ended++;
	if (status == TB_OK || of->fluid)
		return TB_OK;
	if (of->change == 0 && status == TB_EUSAGE) {
		*error = of_store;
		return status;
	}
	snprintf(change->why, sizeof change->why, "%.250s",
		code == 0 ? of_store.text : why);
	change->verdict = TB_VERDICT_FAILED;
	return of->change == 0
		       ? tb_fail(error, TB_EIO,
				 "the run as it was cannot be replayed: %s", change->why)
		       : TB_OK;
}

bool tb_tries_time_is_up(const struct tb_tries *tries)
{
	return tb_stop_asked(tries->options->stop) ||
	       (tries->options->seconds > 0 &&
		       tb_clock_s() - tries->began_s > tries->options->seconds);
}

static void cut_off(struct try_batch *b)
{
	for (size_t i = 0; i < b->n_begun; i++) {
		// Twice: after the first signal it would store what it has.
		if (b->children[i].pid) {
			kill(b->children[i].pid, SIGTERM);
			kill(b->children[i].pid, SIGKILL);
			tb_child_wait(&b->children[i]);
		}
		remove_store(b->tries, i); // of one that did not start, too
	}
}

// step begins what there is room for and takes what has ended.
static int step(struct try_batch *b, struct tb_error *error)
{
	int status = TB_OK, code;
	while (status == TB_OK && b->n_begun < b->n &&
		b->n_begun - b->n_ended < b->tries->options->n_at_once)
		status = begin_try(b, b->n_begun++, error);
	for (size_t i = 0; i < b->n_begun && status == TB_OK; i++)
		if (b->children[i].pid && tb_child_ended(&b->children[i], &code))
			status = end(b, i, code, error);
	return status;
}

int tb_tries_run(struct tb_tries *tries, const struct tb_try *list, size_t n, double from,
	double to, struct tb_error *error)
{
	static const struct timespec pause = {.tv_nsec = 20 * 1000 * 1000};
	const struct tb_advice_options *options = tries->options;
	struct try_batch b = {.tries = tries,
		.list = list,
		.n = n,
		.children = calloc(n + 1, sizeof *b.children)};
	if (!b.children)
		return tb_fail_memory(error, "the replays");
	int status = TB_OK;
	while (status == TB_OK && b.n_ended < n && !tb_tries_time_is_up(tries)) {
		status = step(&b, error);
		if (options->watch)
			options->watch(options->context,
				from + (to - from) * (double)b.n_ended / (double)n);
		nanosleep(&pause, NULL);
	}
	cut_off(&b);
	free(b.children);
	return status;
}

int tb_tries_init(struct tb_tries *tries, struct tb_advice *advice,
	const struct tb_advice_options *options, struct tb_error *error)
{
	*tries = (struct tb_tries){
		.advice = advice, .options = options, .began_s = tb_clock_s()};
	return tb_temporary_init(&tries->folder, "the stores of the changes", error);
}

void tb_tries_fini(struct tb_tries *tries)
{
	tb_temporary_fini(&tries->folder);
}

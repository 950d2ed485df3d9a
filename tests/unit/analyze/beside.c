// A replay, and a look at a trace, in a process beside this one. That process is this
// test itself, which plays the program: the trace's name tells it what to do.
#include "beside.h"
#include "glance.h"
#include "progress.h"

#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static int play_replay(const char *trace)
{
	struct tb_progress progress;
	tb_progress_init_numbers(&progress, STDERR_FILENO);
	if (strcmp(trace, "silent") == 0)
		return 1;
	if (strcmp(trace, "broken") == 0) {
		fputs("tailback: a.goal:3: expected '{'\nand more\n", stderr);
		return 1;
	}
	tb_progress_show(&progress, 0.25, "");
	if (strcmp(trace, "late") == 0)
		fputs("plain words\n", stderr);
	if (strcmp(trace, "endless") == 0)
		for (;;)
			pause();
	return strcmp(trace, "late") == 0;
}

static int play_info(const char *trace)
{
	if (strcmp(trace, "capture") == 0)
		puts("{\"kind\": \"packets\", \"nodes\": 5, \"load\": "
		     "{\"busiest_share\": 0.25, \"half_scale\": 2}, "
		     "\"fitting_network\": \"ethernet,rate=1GB/s\"}");
	else if (strcmp(trace, "job") == 0)
		puts("{\"kind\": \"job\", \"nodes\": -1}");
	else if (strcmp(trace, "huge") == 0)
		puts("{\"kind\": \"job\", \"nodes\": 4294967296}");
	else if (strcmp(trace, "odd") == 0)
		puts("{\"nodes\": 5}");
	else
		fputs("tailback: no.goal: cannot be opened\n", stderr);
	return strcmp(trace, "none") == 0;
}

// play does what the trace's name says; a replay first writes its arguments to its store.
static int play(int argc, char **argv)
{
	const char *trace = argv[argc - 1];
	if (strcmp(argv[1], "info") == 0)
		return play_info(trace);
	for (int i = 1; i + 1 < argc; i++) {
		if (strcmp(argv[i], "-o") != 0)
			continue;
		FILE *store = fopen(argv[i + 1], "w");
		for (int k = 1; store && k < argc; k++)
			fprintf(store, "%s ", k == i + 1 ? "STORE" : argv[k]);
		if (store)
			fclose(store);
	}
	return play_replay(trace);
}

static bool stands(const char *path)
{
	struct stat status;
	return stat(path, &status) == 0;
}

static void start(struct tb_beside *beside, const char *trace)
{
	static const char *const words[] = {"--seed", "3"};
	const struct tb_beside_options options = {.network = "ib-hdr,rails=2",
		.trace = trace,
		.words = words,
		.n_words = 2,
		.input = -1};
	*beside = (struct tb_beside){.child.pid = 0};
	assert_int_equal(tb_beside_start(beside, &options, NULL), TB_OK);
	assert_true(stands(beside->folder.path));
}

static void assert_store(const struct tb_beside *beside, const char *expected)
{
	char got[512] = "";
	FILE *store = fopen(beside->store, "r");
	assert_non_null(store);
	assert_non_null(fgets(got, sizeof got, store));
	fclose(store);
	assert_string_equal(got, expected);
}

static void a_replay_gets_its_options(void **state)
{
	(void)state;
	struct tb_beside beside;
	char folder[TB_TEMPORARY_BYTES];
	start(&beside, "-dash");
	strcpy(folder, beside.folder.path);
	assert_int_equal(tb_child_wait(&beside.child), 0);
	assert_store(&beside, "replay -q -n ib-hdr,rails=2 -o STORE --progress-numbers "
			      "--seed 3 -- -dash ");
	tb_beside_end(&beside, false);
	assert_false(stands(folder));
	assert_string_equal(beside.folder.path, "");
	tb_beside_end(&beside, true); // nothing is left to end
}

static void one_that_shows_itself_watches(void **state)
{
	(void)state;
	struct tb_beside beside = {.child.pid = 0};
	double fraction, left_s;
	const struct tb_beside_options options = {
		.network = "qsnet", .trace = "-", .input = -1, .shows = true};
	assert_int_equal(tb_beside_start(&beside, &options, NULL), TB_OK);
	assert_int_equal(tb_child_wait(&beside.child), 0);
	assert_store(&beside, "replay -q -n qsnet -o STORE --watch -- - ");
	assert_false(
		tb_beside_progress(beside.said, &fraction, &left_s)); // it prints itself
	tb_beside_end(&beside, false);
}

static void progress_is_read_while_it_runs(void **state)
{
	(void)state;
	struct tb_beside beside;
	char folder[TB_TEMPORARY_BYTES], journal[TB_TEMPORARY_FILE_BYTES + 16];
	double fraction = 0, left_s = -1;
	start(&beside, "endless");
	strcpy(folder, beside.folder.path);
	while (!tb_beside_progress(beside.said, &fraction, &left_s))
		usleep(1000);
	assert_true(fraction == 0.25);
	assert_true(left_s >= 0);
	assert_true(beside.child.pid > 0);
	pid_t pid = beside.child.pid;
	snprintf(journal, sizeof journal, "%s-journal", beside.store);
	fclose(fopen(journal, "w"));
	tb_beside_end(&beside, true);
	assert_false(stands(folder));
	assert_int_equal(kill(pid, 0), -1);
	assert_int_equal(errno, ESRCH);
	assert_false(tb_beside_progress(beside.said, &fraction, &left_s));
}

static void assert_says(const char *trace, int code, const char *sentence)
{
	struct tb_beside beside;
	char said[512];
	start(&beside, trace);
	assert_int_equal(tb_child_wait(&beside.child), code);
	tb_beside_sentence(beside.said, said, sizeof said);
	assert_string_equal(said, sentence);
	tb_beside_end(&beside, false);
}

static void why_it_failed_is_its_first_line(void **state)
{
	(void)state;
	char said[512];
	assert_says("broken", 1, "a.goal:3: expected '{'");
	assert_says("late", 1, "plain words"); // behind progress
	assert_says("silent", 1, "it failed without a word");
	tb_beside_sentence("no/such/file", said, sizeof said);
	assert_string_equal(said, "it failed without a word");
}

static void without_a_folder_nothing_starts(void **state)
{
	(void)state;
	struct tb_beside beside = {.child.pid = 0};
	struct tb_error error;
	const struct tb_beside_options options = {
		.network = "qsnet", .trace = "-", .input = -1};
	const char *before = getenv("TMPDIR");
	char *kept = before ? strdup(before) : NULL;
	setenv("TMPDIR", "no/such/folder", 1);
	assert_int_equal(tb_beside_start(&beside, &options, &error), TB_EIO);
	assert_string_equal(error.text, "no temporary folder can be made for the store");
	if (kept)
		setenv("TMPDIR", kept, 1);
	else
		unsetenv("TMPDIR");
	free(kept);
	assert_int_equal(beside.child.pid, 0);
}

static int look(
	const char *trace, struct tb_glance_answer *answer, struct tb_error *error)
{
	static const char *const words[] = {"--from", "1s"};
	struct tb_glance glance = {.child.pid = 0};
	char folder[TB_TEMPORARY_BYTES];
	int status = 0;
	assert_int_equal(
		tb_glance_start(&glance, trace, "qsnet", words, 2, error), TB_OK);
	strcpy(folder, glance.folder.path);
	assert_true(stands(folder));
	while ((status = tb_glance_poll(&glance, answer, error)) == 0)
		usleep(1000);
	assert_false(stands(folder));
	assert_int_equal(tb_glance_poll(&glance, answer, error), 0); // none runs
	return status;
}

static void a_glance_answers(void **state)
{
	(void)state;
	struct tb_glance_answer answer;
	struct tb_error error;
	assert_int_equal(look("capture", &answer, &error), 1);
	assert_true(answer.is_capture);
	assert_int_equal(answer.n_nodes, 5);
	assert_true(answer.busiest_share == 0.25);
	assert_true(answer.half_scale == 2);
	assert_string_equal(answer.network, "ethernet,rate=1GB/s");
	assert_int_equal(look("job", &answer, &error), 1);
	assert_false(answer.is_capture);
	assert_int_equal(answer.n_nodes, 0);
	assert_true(answer.busiest_share == 0);
	assert_int_equal(look("huge", &answer, &error), 1);
	assert_int_equal(answer.n_nodes, 0);
}

static void a_glance_that_fails_says_why(void **state)
{
	(void)state;
	struct tb_glance_answer answer;
	struct tb_error error;
	assert_int_equal(look("none", &answer, &error), TB_EFORMAT);
	assert_string_equal(error.text, "no.goal: cannot be opened");
	assert_int_equal(look("odd", &answer, &error), TB_EFORMAT);
	assert_string_equal(error.text, "it failed without a word");
}

static void a_glance_is_ended_at_once(void **state)
{
	(void)state;
	struct tb_glance glance = {.child.pid = 0};
	char folder[TB_TEMPORARY_BYTES];
	assert_int_equal(tb_glance_start(&glance, "job", "qsnet", NULL, 0, NULL), TB_OK);
	strcpy(folder, glance.folder.path);
	tb_glance_end(&glance);
	assert_false(stands(folder));
	tb_glance_end(&glance);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_replay_gets_its_options),
		cmocka_unit_test(one_that_shows_itself_watches),
		cmocka_unit_test(progress_is_read_while_it_runs),
		cmocka_unit_test(why_it_failed_is_its_first_line),
		cmocka_unit_test(without_a_folder_nothing_starts),
		cmocka_unit_test(a_glance_answers),
		cmocka_unit_test(a_glance_that_fails_says_why),
		cmocka_unit_test(a_glance_is_ended_at_once),
	};
	if (argc > 1 && (strcmp(argv[1], "replay") == 0 || strcmp(argv[1], "info") == 0))
		return play(argc, argv);
	return cmocka_run_group_tests(tests, NULL, NULL);
}

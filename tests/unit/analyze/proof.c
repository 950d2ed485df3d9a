// What findings propose, tried in a process beside this one. That process is this test
// itself, which plays the program: the number of the run tells it what to do.
#include "proof.h"
#include "progress.h"

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

#define STORE "proof.db" // in the scratch folder, in which the tests run

enum { RUN_ANSWERS = 1, RUN_FAILS, RUN_NEVER_ENDS };

static const char advise[] =
	"advise --progress-numbers --only=findings --time=" TB_PROOF_TIME " --run=";

// play prints its arguments as the answer.
static int play(int argc, char **argv)
{
	struct tb_progress progress;
	char *equals = argc > 5 ? strchr(argv[5], '=') : NULL;
	int run = equals ? atoi(equals + 1) : RUN_FAILS;
	tb_progress_init_numbers(&progress, STDERR_FILENO);
	tb_progress_show(&progress, 0.25, "");
	if (run == RUN_FAILS)
		fputs("tailback: the input is gone\n", stderr);
	for (int i = 1; run == RUN_ANSWERS && i < argc; i++)
		printf("%s%s", i > 1 ? " " : "", argv[i]);
	puts("\nand a table");
	while (run == RUN_NEVER_ENDS)
		pause();
	return run == RUN_FAILS;
}

static bool stands(const char *path)
{
	struct stat status;
	return stat(path, &status) == 0;
}

static void end_of(int64_t run, const char *sentence)
{
	struct tb_proof proof;
	char folder[TB_TEMPORARY_BYTES], said[512] = "";
	assert_int_equal(tb_proof_start(&proof, STORE, run, NULL), TB_OK);
	strcpy(folder, proof.folder.path);
	assert_true(stands(folder));
	while (!tb_proof_poll(&proof, said, sizeof said))
		usleep(1000);
	assert_string_equal(said, sentence);
	assert_false(stands(folder));
	assert_int_equal(tb_proof_poll(&proof, said, sizeof said), 0);
	tb_proof_end(&proof); // nothing is left to end
}

static void it_tries_what_the_findings_propose_and_tells_the_first_line(void **state)
{
	(void)state;
	char sentence[256];
	snprintf(sentence, sizeof sentence, "%s1 -- " STORE, advise);
	end_of(RUN_ANSWERS, sentence);
}

static void one_that_fails_says_why(void **state)
{
	(void)state;
	end_of(RUN_FAILS, "the input is gone");
}

static void one_that_is_cancelled_keeps_nothing(void **state)
{
	(void)state;
	struct tb_proof proof;
	char said[512] = "";
	assert_int_equal(tb_proof_start(&proof, STORE, RUN_NEVER_ENDS, NULL), TB_OK);
	assert_true(proof.fraction < 0);
	while (proof.fraction < 0) {
		assert_int_equal(tb_proof_poll(&proof, said, sizeof said), 0);
		usleep(1000);
	}
	assert_true(proof.fraction == 0.25);
	tb_proof_cancel(&proof);
	while (!tb_proof_poll(&proof, said, sizeof said))
		usleep(1000);
	assert_string_equal(said, "Cancelled: nothing was kept.");
}

static void one_that_ends_with_its_viewer_leaves_nothing(void **state)
{
	(void)state;
	struct tb_proof proof;
	char folder[TB_TEMPORARY_BYTES];
	assert_int_equal(tb_proof_start(&proof, STORE, RUN_NEVER_ENDS, NULL), TB_OK);
	strcpy(folder, proof.folder.path);
	pid_t pid = proof.child.pid;
	tb_proof_end(&proof);
	assert_false(stands(folder));
	assert_int_equal(kill(pid, 0), -1);
}

static void a_store_that_is_not_there_cannot_be_written(void **state)
{
	(void)state;
	struct tb_proof proof;
	struct tb_error error;
	assert_int_equal(tb_proof_start(&proof, "no/such.db", 1, &error), TB_EIO);
	assert_non_null(strstr(error.text, "cannot be written"));
	assert_int_equal(proof.child.pid, 0);
	tb_proof_end(&proof);
}

static int set_up(void **state)
{
	(void)state;
	FILE *store = fopen(STORE, "w");
	return store ? fclose(store) : 1;
}

static int tear_down(void **state)
{
	(void)state;
	return unlink(STORE);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			it_tries_what_the_findings_propose_and_tells_the_first_line),
		cmocka_unit_test(one_that_fails_says_why),
		cmocka_unit_test(one_that_is_cancelled_keeps_nothing),
		cmocka_unit_test(one_that_ends_with_its_viewer_leaves_nothing),
		cmocka_unit_test(a_store_that_is_not_there_cannot_be_written),
	};
	if (argc > 1 && strcmp(argv[1], "advise") == 0)
		return play(argc, argv);
	return cmocka_run_group_tests(tests, set_up, tear_down);
}

// Recording a trace as a library: to its end, stopped, failed, several at once.
#include "recording_beside.h"
#include "recording_many.h"
#include "run.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#define STORE "analyze_recording.db"
#define JOB   "analyze_recording.goal"

// Rank 0 takes rank 2's message for the one from anywhere, and waits for another for
// ever.
#define FAILS                                                                            \
	"num_ranks 3\nrank 0 {\na: recv 8b from -1\nb: recv 8b from 2\nb requires "      \
	"a\n}\n"                                                                         \
	"rank 1 {\na: calc 1000000\nb: send 8b to 0\nb requires a\n}\n"                  \
	"rank 2 {\nsend 8b to 0\n}\n"

static volatile sig_atomic_t stop;
static const char *const traces[] = {JOB};

static struct tb_recording_options options(void)
{
	return (struct tb_recording_options){
		.workload = {.traces = traces, .n_traces = 1},
		.network = "qsnet,levels=1",
		.output = STORE,
		.seed = 1,
		.stop = &stop};
}

static int enter(void **state)
{
	(void)state;
	stop = 0;
	unlink(STORE);
	FILE *file = fopen(JOB, "w");
	if (!file)
		return -1;
	fputs("num_ranks 2\nrank 0 {\n", file);
	for (int i = 0; i < 2000; i++)
		fputs("send 64000b to 1\n", file);
	fputs("}\nrank 1 {\n", file);
	for (int i = 0; i < 2000; i++)
		fputs("recv 64000b from 0\n", file);
	fputs("}\n", file);
	return fclose(file);
}

static int leave(void **state)
{
	(void)state;
	unlink(STORE);
	return unlink(JOB);
}

static struct tb_recording *begin(const struct tb_recording_options *chosen)
{
	struct tb_recording *recording = NULL;
	struct tb_error error;
	if (tb_recording_new(&recording, chosen, &error) != TB_OK)
		fail_msg("%s", error.text);
	return recording;
}

static struct tb_run_info stored(int64_t run)
{
	struct tb_run *opened = NULL;
	struct tb_error error;
	if (tb_run_open(&opened, STORE, run, &error) != TB_OK)
		fail_msg("%s", error.text);
	struct tb_run_info info = *tb_run_info(opened);
	tb_run_free(opened);
	return info; // strings in it are gone
}

static void a_recording_that_ends_is_complete(void **state)
{
	(void)state;
	const struct tb_recording_options chosen = options();
	struct tb_recording *recording = begin(&chosen);
	struct tb_error error;
	int status;
	while ((status = tb_recording_advance(recording, &error)) > 0)
		;
	assert_int_equal(status, TB_OK);
	assert_int_equal(tb_recording_finish(recording, &error), TB_OK);
	const struct tb_recording_summary summary = tb_recording_summary(recording);
	assert_int_equal(summary.stats.n_delivered, 2000);
	assert_string_equal(summary.input_name, JOB);
	assert_false(summary.stopped);
	tb_recording_free(recording);
	assert_true(stored(1).complete);
	assert_int_equal(stored(1).n_messages, 2000);
}

static void what_was_simulated_before_a_stop_stays(void **state)
{
	(void)state;
	const struct tb_recording_options chosen = options();
	struct tb_recording *recording = begin(&chosen);
	struct tb_error error;
	assert_int_equal(tb_recording_advance(recording, &error), 1);
	stop = 1;
	assert_int_equal(tb_recording_advance(recording, &error), TB_OK);
	assert_true(tb_recording_summary(recording).stopped);
	assert_int_equal(tb_recording_finish(recording, &error), TB_OK);
	uint64_t n = tb_recording_summary(recording).stats.n_packets;
	tb_recording_free(recording);
	assert_false(stored(1).complete);
	assert_int_equal(stored(1).n_packets, n);
	assert_in_range(n, 1, 2000 * 200 - 1);
}

static void a_stop_before_the_simulation_leaves_no_store(void **state)
{
	(void)state;
	const struct tb_recording_options chosen = options();
	struct tb_recording *recording = NULL;
	struct tb_error error;
	stop = 1;
	assert_int_equal(tb_recording_new(&recording, &chosen, &error), TB_ESTOPPED);
	assert_null(recording);
	assert_int_not_equal(access(STORE, F_OK), 0);
}

static void a_recording_that_is_freed_unfinished_stays_incomplete(void **state)
{
	(void)state;
	const struct tb_recording_options chosen = options();
	tb_recording_free(begin(&chosen));
	assert_false(stored(1).complete);
}

static void what_cannot_be_replayed_leaves_no_store(void **state)
{
	(void)state;
	struct tb_recording_options chosen = options();
	struct tb_recording *recording = NULL;
	struct tb_error error;
	chosen.wants_captures = true;
	assert_int_equal(tb_recording_new(&recording, &chosen, &error), TB_EUSAGE);
	assert_non_null(strstr(error.text, "is a job"));
	chosen = options();
	chosen.network = "qsnet,arity=1";
	assert_int_equal(tb_recording_new(&recording, &chosen, &error), TB_EUSAGE);
	assert_int_not_equal(access(STORE, F_OK), 0);
}

// replay_alone records to the end, then replays the job alone.
static struct tb_recording_alone_outcome replay_alone(bool stopped)
{
	const struct tb_recording_options chosen = options();
	struct tb_recording *recording = begin(&chosen);
	struct tb_recording_alone_outcome outcome;
	struct tb_error error;
	while (tb_recording_advance(recording, &error) > 0)
		;
	assert_int_equal(tb_recording_finish(recording, &error), TB_OK);
	const struct tb_recording_alone asked = {.recording = recording, .n_workers = 1};
	stop = stopped;
	assert_int_equal(tb_recording_alone(&outcome, &asked, &error), TB_OK);
	tb_recording_free(recording);
	return outcome;
}

static void a_run_of_one_job_is_replayed_on_the_ideal_network_alone(void **state)
{
	(void)state;
	const struct tb_recording_alone_outcome outcome = replay_alone(false);
	assert_int_equal(outcome.n, 1);
	assert_int_equal(outcome.n_done, 1);
	assert_false(outcome.stopped);
}

// fail_in_the_middle replays a job that waits for ever behind a receive of any source,
// which only the replay can see.
static void fail_in_the_middle(void)
{
	static const char *const jobs[] = {"analyze_recording_cut.goal"};
	struct tb_recording_options chosen = options();
	struct tb_error error;
	int status;
	FILE *file = fopen(jobs[0], "w");
	assert_non_null(file);
	fputs(FAILS, file);
	assert_int_equal(fclose(file), 0);
	chosen.workload.traces = jobs;
	struct tb_recording *recording = begin(&chosen);
	while ((status = tb_recording_advance(recording, &error)) > 0)
		;
	assert_true(status < 0);
	assert_true(tb_recording_summary(recording).stats.n_delivered > 0);
	assert_int_equal(tb_recording_finish(recording, &error), TB_OK);
	tb_recording_free(recording);
	unlink(jobs[0]);
}

static void a_failed_recording_takes_its_new_store_with_it(void **state)
{
	(void)state;
	fail_in_the_middle();
	assert_int_not_equal(access(STORE, F_OK), 0);
}

static void a_failed_recording_leaves_the_other_runs_alone(void **state)
{
	(void)state;
	struct tb_run *opened = NULL;
	struct tb_error error;
	(void)replay_alone(false);
	fail_in_the_middle();
	assert_true(stored(1).complete);
	assert_int_not_equal(tb_run_open(&opened, STORE, 2, &error), TB_OK);
	// Not a row of it is left, so its number can be given again.
	(void)replay_alone(false);
	assert_true(stored(2).complete);
	assert_int_equal(stored(2).n_messages, 2000);
}

static void a_stop_leaves_out_what_was_not_replayed_alone(void **state)
{
	(void)state;
	const struct tb_recording_alone_outcome outcome = replay_alone(true);
	assert_true(outcome.stopped);
	assert_int_equal(outcome.n_done, 0);
	assert_true(stored(1).complete); // the run itself is whole
}

struct kept {
	int64_t runs[3];
	size_t n;
};

static void on_kept(void *context, size_t index, const struct tb_recording_summary *run)
{
	struct kept *kept = context;
	assert_int_equal(index, kept->n);
	kept->runs[kept->n++] = run->run;
}

static void on_watch(void *context, size_t n_done)
{
	(void)context;
	assert_in_range(n_done, 0, 3);
}

static void several_runs_are_kept_in_their_order(void **state)
{
	(void)state;
	struct tb_recording_options chosen[3] = {options(), options(), options()};
	struct kept kept = {.n = 0};
	const struct tb_recording_many many = {
		chosen, 3, 2, .context = &kept, .kept = on_kept, .watch = on_watch};
	struct tb_recording_many_outcome outcome;
	struct tb_error error;
	for (uint64_t i = 0; i < 3; i++)
		chosen[i].seed = i;
	assert_int_equal(tb_recording_many(&outcome, &many, &error), TB_OK);
	assert_int_equal(outcome.n_kept, 3);
	assert_false(outcome.stopped);
	for (int64_t i = 0; i < 3; i++) {
		assert_int_equal(kept.runs[i], i + 1);
		assert_true(stored(i + 1).complete);
	}
}

static void several_runs_stopped_at_once_leave_no_store(void **state)
{
	(void)state;
	const struct tb_recording_options chosen[2] = {options(), options()};
	const struct tb_recording_many many = {
		chosen, 2, 1, .kept = on_kept, .watch = on_watch};
	struct tb_recording_many_outcome outcome;
	struct tb_error error;
	stop = 1;
	assert_int_equal(tb_recording_many(&outcome, &many, &error), TB_OK);
	assert_int_equal(outcome.n_kept, 0);
	assert_true(outcome.stopped);
	assert_int_not_equal(access(STORE, F_OK), 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, enter, leave)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_recording_that_ends_is_complete),
		TEST(what_was_simulated_before_a_stop_stays),
		TEST(a_stop_before_the_simulation_leaves_no_store),
		TEST(a_recording_that_is_freed_unfinished_stays_incomplete),
		TEST(what_cannot_be_replayed_leaves_no_store),
		TEST(a_run_of_one_job_is_replayed_on_the_ideal_network_alone),
		TEST(a_failed_recording_takes_its_new_store_with_it),
		TEST(a_failed_recording_leaves_the_other_runs_alone),
		TEST(a_stop_leaves_out_what_was_not_replayed_alone),
		TEST(several_runs_are_kept_in_their_order),
		TEST(several_runs_stopped_at_once_leave_no_store),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

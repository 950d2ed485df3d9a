// A pool of traces: the same request gets the same job, any other its own.
#include "trace_pool.h"

#include "../../capture_writer.h"
#include "map_file.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static const char *const one[] = {"one.goal"}, *const other[] = {"other.goal"};

static void write_job(const char *path, unsigned bytes)
{
	FILE *file = fopen(path, "w");
	assert_non_null(file);
	fprintf(file, "num_ranks 2\nrank 0 {\nl1: send %ub to 1\n}\n", bytes);
	fprintf(file, "rank 1 {\nl1: recv %ub from 0\n}\n", bytes);
	assert_int_equal(fclose(file), 0);
}

static struct tb_job *read_with(
	struct tb_trace_pool *pool, const char *const *paths, struct tb_reading reading)
{
	const struct tb_trace_request request = {
		.paths = paths, .n = 1, .stdin_kind = TB_TRACE_JOB, .reading = &reading};
	struct tb_trace trace = {0};
	struct tb_error error = {0};
	if (tb_trace_pool_read(pool, &trace, &request, NULL, &error) != TB_OK)
		fail_msg("%s", error.text);
	return trace.job;
}

static struct tb_job *read_plain(struct tb_trace_pool *pool, const char *const *paths)
{
	return read_with(pool, paths, (struct tb_reading){0});
}

static void a_job_is_read_once_for_equal_requests(void **state)
{
	struct tb_trace_pool *pool = *state;
	struct tb_job *first = read_plain(pool, one), *again = read_plain(pool, one);
	struct tb_job *apart = read_plain(pool, other);
	assert_ptr_equal(first->ops, again->ops);
	assert_ptr_not_equal(first->ops, apart->ops);
	assert_int_equal(apart->ops[0].amount, 16);
	// Notes are each one's own, and a job that was freed is there for the next.
	first->notes = strdup("placed");
	assert_null(again->notes);
	tb_job_free(first);
	tb_job_free(apart);
	first = read_plain(pool, one);
	assert_ptr_equal(first->ops, again->ops);
	assert_null(first->notes);
	tb_job_free(first);
	tb_job_free(again);
}

static void whatever_bears_on_a_job_makes_another(void **state)
{
	struct tb_trace_pool *pool = *state;
	static const char *const ring[] = {"allreduce=ring"};
	const struct tb_gpu_node node = {.n_gpus = 4};
	const struct tb_reading readings[] = {{0}, {.library = "mpich"},
		{.collectives = ring, .n_collectives = 1}, {.lenient = true},
		{.clone_ranks = 4}, {.per_node = 1}, {.spreads_host = true},
		{.node = &node}, {.work.combine = 1}, {.work.pin_above_bytes = 1},
		{.sends_wait = true}};
	enum { N = sizeof readings / sizeof *readings };
	struct tb_job *jobs[N];
	for (int i = 0; i < N; i++) {
		jobs[i] = read_with(pool, one, readings[i]);
		for (int k = 0; k < i; k++)
			assert_ptr_not_equal(jobs[i]->ops, jobs[k]->ops);
	}
	for (int i = 0; i < N; i++)
		tb_job_free(jobs[i]);
}

static void failures_are_not_kept(void **state)
{
	struct tb_trace_pool *pool = *state;
	static const char *const none[] = {"none.goal"};
	const struct tb_trace_request request = {.paths = none, .n = 1};
	struct tb_trace trace;
	struct tb_error error;
	for (int i = 0; i < 2; i++)
		assert_int_equal(
			tb_trace_pool_read(pool, &trace, &request, NULL, &error), TB_EIO);
	write_job("none.goal", 8);
	struct tb_job *job = read_plain(pool, none);
	assert_int_equal(job->ops[0].amount, 8);
	tb_job_free(job);
}

static void pipes_are_read_each_time(void **state)
{
	struct tb_trace_pool *pool = *state;
	static const char *const pipe[] = {"pipe"};
	struct tb_job *jobs[2];
	assert_int_equal(mkfifo("pipe", 0600), 0);
	for (unsigned i = 0; i < 2; i++) {
		pid_t writer = fork();
		if (writer == 0) {
			write_job("pipe", 8 + i);
			_exit(0);
		}
		jobs[i] = read_plain(pool, pipe);
	}
	assert_int_equal(jobs[0]->ops[0].amount, 8);
	assert_int_equal(jobs[1]->ops[0].amount, 9);
	tb_job_free(jobs[0]);
	tb_job_free(jobs[1]);
}

static void *read_many(void *pool)
{
	const struct tb_op *ops = NULL;
	for (int i = 0; i < 200; i++) {
		struct tb_job *job = read_plain(pool, one),
			      *apart = read_plain(pool, other);
		ops = job->ops;
		tb_job_free(job);
		tb_job_free(apart);
	}
	return (void *)(uintptr_t)ops;
}

static void threads_get_the_same_job(void **state)
{
	pthread_t threads[4];
	void *ops[4];
	for (int i = 0; i < 4; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, read_many, *state), 0);
	for (int i = 0; i < 4; i++)
		assert_int_equal(pthread_join(threads[i], &ops[i]), 0);
	for (int i = 1; i < 4; i++)
		assert_ptr_equal(ops[i], ops[0]);
}

// write_capture writes packets of so many pairs of nodes, which are a job each.
static void write_capture(uint8_t n_pairs)
{
	struct capture capture;
	capture_begin(&capture, 1);
	for (uint8_t i = 0; i < n_pairs; i++)
		capture_tcp(&capture, i, i, (uint8_t)(i + 10), 1, 1000, 1);
	capture_end(&capture, "survey.pcap");
}

// jobs_found returns how many jobs a survey finds.
static uint32_t jobs_found(struct tb_trace_pool *pool, const char *group,
	const char *names, uint32_t n_nodes_max)
{
	static const char *const paths[] = {"survey.pcap"};
	const struct tb_packets_options packets = {.n_nodes_max = n_nodes_max};
	const struct tb_trace_request request = {
		.paths = paths, .n = 1, .packets = &packets};
	struct tb_map_file *map = NULL;
	struct tb_error error = {0};
	if (tb_trace_pool_survey(pool, &map, &request, group, names, &error) != TB_OK)
		fail_msg("%s", error.text);
	uint32_t n = tb_map_file_n_jobs(map);
	assert_int_equal(tb_map_file_n_nodes(map), tb_map_file_n_endpoints(map));
	if (names)
		assert_string_equal(tb_map_file_job_name(map, 0), names);
	tb_map_file_free(map);
	return n;
}

static void a_survey_is_made_once_for_equal_requests(void **state)
{
	write_capture(2);
	assert_int_equal(jobs_found(*state, "group", NULL, 0), 2);
	write_capture(3);
	// Whoever asks for the same is given what was found, in a map of its own.
	assert_int_equal(jobs_found(*state, "group", NULL, 0), 2);
	assert_int_equal(jobs_found(*state, "group", NULL, 0), 2);
	// Whoever asks for anything else has it read.
	assert_int_equal(jobs_found(*state, "group", "first", 0), 3);
	assert_int_equal(jobs_found(*state, "set", NULL, 0), 3);
	assert_int_equal(jobs_found(*state, NULL, NULL, 0), 0);
	assert_int_equal(jobs_found(*state, "group", NULL, 100), 3);
	assert_int_equal(jobs_found(NULL, "group", NULL, 0), 3);
}

static void without_a_pool_each_job_is_its_own(void **state)
{
	(void)state;
	struct tb_job *first = read_plain(NULL, one), *again = read_plain(NULL, one);
	assert_ptr_not_equal(first->ops, again->ops);
	tb_job_free(first);
	tb_job_free(again);
}

static int make_pool(void **state)
{
	return tb_trace_pool_new((struct tb_trace_pool **)state, NULL);
}

static int drop_pool(void **state)
{
	tb_trace_pool_free(*state);
	return 0;
}

#define POOLED(test) cmocka_unit_test_setup_teardown(test, make_pool, drop_pool)

int main(void)
{
	char folder[] = "/tmp/trace_pool_XXXXXX";
	if (!mkdtemp(folder) || chdir(folder) != 0)
		return 1;
	write_job("one.goal", 8);
	write_job("other.goal", 16);
	const struct CMUnitTest tests[] = {
		POOLED(a_job_is_read_once_for_equal_requests),
		POOLED(whatever_bears_on_a_job_makes_another),
		POOLED(failures_are_not_kept),
		POOLED(pipes_are_read_each_time),
		POOLED(threads_get_the_same_job),
		POOLED(a_survey_is_made_once_for_equal_requests),
		cmocka_unit_test(without_a_pool_each_job_is_its_own),
	};
	int failed = cmocka_run_group_tests(tests, NULL, NULL);
	static const char *const left[] = {
		"one.goal", "other.goal", "none.goal", "pipe", "survey.pcap"};
	for (size_t i = 0; i < sizeof left / sizeof *left; i++)
		unlink(left[i]);
	if (chdir("/") != 0 || rmdir(folder) != 0)
		return 1;
	return failed;
}

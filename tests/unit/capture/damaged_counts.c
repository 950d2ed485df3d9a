// A damaged count in a small file costs no more memory than the file can hold: each word
// of a file is made a large number in turn.
#include "goal.h"
#include "tbt_read.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cmocka.h>

#define MOST_MB 16

static char path[] = "damaged_XXXXXX";
static uint8_t bytes[1 << 16];

static long peak_mb(void)
{
	struct rusage usage;
	getrusage(RUSAGE_SELF, &usage);
	return usage.ru_maxrss / 1024;
}

static size_t load(const char *name)
{
	char whole[1024];
	snprintf(whole, sizeof whole, "%s/tests/%s", getenv("TB_SOURCE"), name);
	FILE *file = fopen(whole, "rb");
	assert_non_null(file);
	size_t n = fread(bytes, 1, sizeof bytes, file);
	fclose(file);
	return n;
}

static void read_tbt(void)
{
	const char *made, *const paths[] = {path};
	const struct tb_reading reading = {0};
	struct tb_calls *calls = NULL;
	if (tb_tbt_read(&calls, &reading, paths, 1, &made, NULL) == TB_OK)
		tb_calls_free(calls);
}

static void read_goal(void)
{
	struct tb_job *job = NULL;
	FILE *file = fopen(path, "rb");
	if (tb_goal_binary_read(&job, file, path, NULL) == TB_OK)
		tb_job_free(job);
	fclose(file);
}

static void damage(const char *name, void (*read)(void))
{
	static const uint32_t counts[] = {0x000fffff, 0x00ffffff, 0xfffffff0};
	size_t n = load(name);
	for (size_t at = 8; at + 4 <= n && at < 1024; at++)
		for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
			uint8_t word[4];
			memcpy(word, bytes + at, 4);
			memcpy(bytes + at, &counts[i], 4);
			FILE *file = fopen(path, "wb");
			assert_non_null(file);
			assert_int_equal(fwrite(bytes, 1, n, file), n);
			fclose(file);
			memcpy(bytes + at, word, 4);
			read();
		}
}

static void damaged_counts_cost_no_memory(void **state)
{
	(void)state;
	long before_mb = peak_mb();
	damage("fuzz/corpus/capture_tbt/collectives.tbt", read_tbt);
	damage("fuzz/corpus/capture_tbt/windows.tbt", read_tbt);
	long of_tbt_mb = peak_mb();
	damage("data/binary_tree_32.bin", read_goal);
	long of_goal_mb = peak_mb();
	print_message("%ld, %ld, %ld MB\n", before_mb, of_tbt_mb, of_goal_mb);
#ifndef __SANITIZE_ADDRESS__ // which keeps what was freed
	assert_true(of_tbt_mb < before_mb + MOST_MB);
	assert_true(of_goal_mb < of_tbt_mb + MOST_MB);
#endif
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(damaged_counts_cost_no_memory),
	};
	close(mkstemp(path));
	int n_failed = cmocka_run_group_tests(tests, NULL, NULL);
	unlink(path);
	return n_failed;
}

// What each reader makes of the times in a small file of tests/data/recorded: every kind
// of call and every rank, to the picosecond. The files were written with these times, so
// the expected figures are sums of numbers in them.
#include "packets.h"
#include "trace.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define FOLDER "/tests/data/recorded/"

static void put_times(const struct tb_recorded_calls *recorded, FILE *out)
{
	const struct tb_call_times *times = &recorded->times;
	char name[TB_TIMED_NAME_BYTES];
	fprintf(out, "run %" PRIu64 "\n", times->run_ps);
	for (uint32_t i = 0; i < TB_TIMED_KINDS; i++)
		if (times->kinds[i].n)
			fprintf(out,
				"%s: %" PRIu64 " of %" PRIu64 " B, %" PRIu64
				", median %" PRIu64 "\n",
				tb_timed_name(i, name), times->kinds[i].n,
				times->kinds[i].bytes, times->kinds[i].sum_ps,
				times->kinds[i].median_ps);
	for (uint32_t i = 0; i < times->n_ranks; i++)
		fprintf(out,
			"rank %" PRIu32 ": %" PRIu64 ", %" PRIu64 ", until %" PRIu64 "\n",
			i, times->ranks[i].n, times->ranks[i].sum_ps,
			times->ranks[i].end_ps);
	for (int i = 0; i < TB_UNCOMPARED_N; i++)
		if (recorded->n_uncompared[i])
			fprintf(out, "%" PRIu64 " %s\n", recorded->n_uncompared[i],
				tb_uncompared_text((enum tb_uncompared)i));
}

// expect reads a trace of one or two files and compares what it recorded.
static void expect(const char *first, const char *second, const char *times)
{
	char paths[2][4096], *text = NULL;
	const char *source = getenv("TB_SOURCE"), *list[] = {paths[0], paths[1]};
	const char *names[] = {first, second};
	struct tb_packets_options packets = {.time_scale = 1};
	struct tb_trace_request request = {.paths = list,
		.n = second ? 2 : 1,
		.packets = &packets,
		.closed_loop = true};
	struct tb_trace trace;
	struct tb_error error = {0};
	size_t size = 0;
	for (size_t i = 0; i < request.n; i++)
		snprintf(paths[i], sizeof paths[i], "%s" FOLDER "%s",
			source ? source : ".", names[i]);
	if (tb_trace_read(&trace, &request, &error) != TB_OK)
		fail_msg("%s: %s", error.file, error.text);
	assert_non_null(trace.job->recorded);
	FILE *out = open_memstream(&text, &size);
	assert_non_null(out);
	put_times(trace.job->recorded, out);
	fclose(out);
	tb_job_free(trace.job);
	assert_string_equal(text, times);
	free(text);
}

static void the_tracer_has_when_calls_began_and_how_long_they_took(void **state)
{
	(void)state;
	expect("job.tbt", NULL,
		"run 1093000\n"
		"recv: 1 of 4096 B, 140000, median 140000\n"
		"isend: 1 of 4096 B, 17000, median 17000\n"
		"wait: 1 of 0 B, 300000, median 300000\n"
		"allreduce: 2 of 16 B, 583000, median 93000\n"
		"rank 0: 3, 410000, until 1093000\n"
		"rank 1: 2, 630000, until 1090000\n");
}

// Ticks of 2 ns. Rank 1 begins 600 ns after rank 0, whose first event is the beginning.
static void otf2_has_enter_and_leave_in_ticks(void **state)
{
	(void)state;
	expect("otf2", NULL,
		"run 2086000\n"
		"recv: 1 of 4096 B, 180000, median 180000\n"
		"isend: 1 of 4096 B, 34000, median 34000\n"
		"wait: 1 of 0 B, 600000, median 600000\n"
		"allreduce: 2 of 16 B, 1166000, median 186000\n"
		"rank 0: 3, 820000, until 2086000\n"
		"rank 1: 2, 1160000, until 2080000\n");
}

static void paraver_has_events_that_begin_and_end_calls(void **state)
{
	(void)state;
	expect("two_tasks.prv", NULL,
		"run 2900000\n"
		"send: 1 of 8 B, 31000, median 31000\n"
		"recv: 2 of 4104 B, 2750000, median 1300000\n"
		"isend: 1 of 4096 B, 17000, median 17000\n"
		"wait: 1 of 0 B, 1300000, median 1300000\n"
		"rank 0: 3, 1348000, until 2031000\n"
		"rank 1: 2, 2750000, until 2900000\n");
}

// A kernel of NCCL lasts as long as the profile has it, from the GPU's first work on.
static void kineto_has_how_long_kernels_took(void **state)
{
	(void)state;
	expect("kineto_rank0.json", "kineto_rank1.json",
		"run 265000000\n"
		"allreduce: 4 of 8080 B, 251000000, median 40000000\n"
		"rank 0: 2, 121000000, until 265000000\n"
		"rank 1: 2, 130000000, until 265000000\n");
}

// Rank 1's clock begins a microsecond later. The barriers have no duration.
static void chakra_has_start_and_duration_of_nodes(void **state)
{
	(void)state;
	expect("chakra.0.json", NULL,
		"run 381000000\n"
		"send: 1 of 64 B, 37000000, median 37000000\n"
		"recv: 1 of 64 B, 42000000, median 42000000\n"
		"allreduce: 2 of 8192 B, 599000000, median 299000000\n"
		"rank 0: 2, 337000000, until 377000000\n"
		"rank 1: 2, 341000000, until 381000000\n");
}

// Requests of 100 B, delivered a nanosecond behind their only frame, and answers of two
// frames 150 us apart, every 7 ms.
static void a_capture_has_when_messages_left_and_arrived(void **state)
{
	(void)state;
	expect("messages.pcap", NULL,
		"run 23150000000\n"
		"message: 8 of 8400 B, 600004000, median 1000\n"
		"rank 0: 4, 4000, until 21000001000\n"
		"rank 1: 4, 600000000, until 23150000000\n");
}

// A message that began before the collective ahead of it had ended, in both ranks.
static void overlapping_nodes_of_chakra_are_listed(void **state)
{
	(void)state;
	expect("overlap.0.json", NULL,
		"run 320000000\n"
		"allreduce: 2 of 8192 B, 599000000, median 299000000\n"
		"rank 0: 1, 300000000, until 320000000\n"
		"rank 1: 1, 299000000, until 319000000\n"
		"2 entered before the call before was left\n");
}

// A kernel that began 30 us after the one before it in its stream, which takes longer.
static void overlapping_kernels_of_a_stream_are_listed(void **state)
{
	(void)state;
	expect("overlap_rank0.json", "overlap_rank1.json",
		"run 140000000\n"
		"allreduce: 2 of 8000 B, 171000000, median 81000000\n"
		"rank 0: 1, 81000000, until 131000000\n"
		"rank 1: 1, 90000000, until 140000000\n"
		"2 entered before the call before was left\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_tracer_has_when_calls_began_and_how_long_they_took),
		cmocka_unit_test(otf2_has_enter_and_leave_in_ticks),
		cmocka_unit_test(paraver_has_events_that_begin_and_end_calls),
		cmocka_unit_test(kineto_has_how_long_kernels_took),
		cmocka_unit_test(chakra_has_start_and_duration_of_nodes),
		cmocka_unit_test(overlapping_nodes_of_chakra_are_listed),
		cmocka_unit_test(overlapping_kernels_of_a_stream_are_listed),
		cmocka_unit_test(a_capture_has_when_messages_left_and_arrived),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

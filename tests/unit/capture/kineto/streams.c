// Profiles of PyTorch: what their streams waited for.
#include "../../../support/kineto_profile.h"

static void streams_overlap_and_wait_as_the_program_made_them(void **state)
{
	(void)state;
	put_overlap("a.json", 0);
	put_overlap("b.json", 1);
	assert_read("a.json", "b.json");
	const struct tb_call *collective = nth(0, TB_CALL_COLLECTIVE, 0);
	assert_int_equal(count(0, TB_CALL_COLLECTIVE), 1);
	assert_int_equal(collective->bytes, 4000);
	assert_int_equal(collective->enter_ns, 100000);
	assert_int_equal(begins_ns(0, collective, 150000), 100000);
	// As traced, 350 us; hidden behind the work while below 200 us; then it shows.
	assert_int_equal(begins_ns(0, NULL, 150000), 350000);
	assert_int_equal(begins_ns(0, NULL, 10000), 350000);
	assert_int_equal(begins_ns(0, NULL, 500000), 650000);
}

static void without_calls_of_the_runtime_time_decides(void **state)
{
	(void)state;
	for (unsigned rank = 0; rank < 2; rank++) {
		begin();
		work(0, 0, 100);
		nccl(0, 100, 150, arguments("allreduce", "Float", 1000, 1000, WORLD));
		work(0, 260, 50);
		end(rank ? "b.json" : "a.json", rank, 2);
	}
	assert_read("a.json", "b.json");
	assert_int_equal(begins_ns(0, NULL, 150000), 310000);
	assert_int_equal(begins_ns(0, NULL, 250000), 410000);
	assert_note("without calls of the CUDA");
}

// nccl_on adds an all-reduce of so many floats on a stream.
static void nccl_on(int stream, int order, double ts, double dur, unsigned n)
{
	char all[1200];
	snprintf(all, sizeof all,
		"\"device\": 0, \"stream\": %d, \"correlation\": %d, \"External id\": "
		"%d, %s",
		stream, order, 1000 + order,
		arguments("allreduce", "Float", n, n, WORLD));
	event("kernel", "ncclDevKernel_AllReduce(x)", all, ts, dur);
}

// assert_waits checks for how many collectives rank 0 waits, and the bytes of the last.
static void assert_waits(uint32_t expected, uint64_t bytes)
{
	uint32_t n, n_calls, n_waits = 0;
	const struct tb_call *of = tb_calls_of(calls, 0, &n_calls);
	for (uint32_t i = 0; i < n_calls; i++) {
		const uint32_t *befores = tb_calls_befores(calls, 0, i, &n);
		if (of[i].kind != TB_CALL_JOINT || n == 0 ||
			of[befores[0]].kind != TB_CALL_COLLECTIVE)
			continue;
		n_waits++;
		assert_int_equal(of[befores[0]].bytes, bytes);
	}
	assert_int_equal(n_waits, expected);
}

static void read_of_both(void)
{
	end("a.json", 0, 2);
	end("b.json", 1, 2);
	assert_read("a.json", "b.json");
}

static void waits_in_full_name_both_streams(void **state)
{
	(void)state;
	begin();
	nccl_on(20, 5, 0, 100, 1);
	nccl_on(20, 7, 100, 100, 2);
	call(7, "cudaLaunchKernel", 3);
	// Though both have ended by then, it waits for the first alone.
	event("cuda_sync", "Stream Wait Event",
		"\"device\": 0, \"stream\": 7, \"correlation\": 9, "
		"\"wait_on_stream\": 20, \"wait_on_cuda_event_record_corr_id\": 6",
		0, 0);
	work(10, 250, 50);
	read_of_both();
	assert_waits(1, 4);
}

static void waits_of_nccl_itself_are_none_of_the_program_s(void **state)
{
	(void)state;
	begin();
	work(1, 0, 100);
	nccl_on(20, 5, 100, 50, 1);
	work(6, 100, 200);
	call(7, "cudaStreamWaitEvent", 1008); // the id of the next collective
	nccl_on(20, 8, 300, 50, 2);
	event("cpu_op", "record_param_comms",
		arguments("allreduce", "Float", 2, 2, WORLD ", \"External id\": 1008"), 3,
		3);
	work(9, 300, 50);
	read_of_both();
	assert_waits(0, 0);
}

static void a_stream_waited_for_what_ended_while_it_was_idle(void **state)
{
	(void)state;
	begin();
	work(1, 0, 100);
	nccl_on(20, 5, 100, 50, 1);
	work(6, 100, 100);
	nccl_on(21, 7, 200, 60, 2);
	call(9, "cudaStreamWaitEvent", 3);
	work(10, 260, 50);
	read_of_both();
	assert_waits(1, 8);
}

static void otherwise_for_the_oldest_that_nobody_waited_for(void **state)
{
	(void)state;
	begin();
	nccl_on(20, 2, 0, 50, 1);
	nccl_on(20, 3, 50, 50, 2);
	work(4, 0, 200);
	call(5, "cudaStreamWaitEvent", 3);
	work(6, 200, 50);
	read_of_both();
	assert_waits(1, 4);
}

static void a_collective_waits_for_the_work_before_it(void **state)
{
	(void)state;
	begin();
	nccl_on(20, 2, 0, 100, 1);
	call(3, "cudaStreamWaitEvent", 3);
	work(4, 100, 100);
	nccl_on(21, 5, 200, 100, 2);
	read_of_both();
	const struct tb_call *last = nth(0, TB_CALL_COLLECTIVE, 1);
	assert_int_equal(begins_ns(0, last, 100000), 200000);
	assert_int_equal(begins_ns(0, last, 500000), 600000);
}

// The second collective stands behind the first on its stream and was launched at 60 us:
// had the first taken no time, it would have begun then.
static void a_kernel_that_queued_begins_at_its_launch_at_the_earliest(void **state)
{
	(void)state;
	begin();
	nccl_on(20, 2, 0, 100, 1);
	call(2, "cudaLaunchKernel", 3);
	nccl_on(20, 60, 101, 50, 2);
	call(60, "cudaLaunchKernel", 4);
	read_of_both();
	const struct tb_call *last = nth(0, TB_CALL_COLLECTIVE, 1);
	assert_int_equal(begins_ns(0, last, 0), 60000);
	assert_int_equal(begins_ns(0, last, 40000), 60000);
	assert_int_equal(begins_ns(0, last, 100000), 100000);
	assert_int_equal(begins_ns(0, last, 300000), 300000);
}

// NCCL's kernel stands in the stream of the work: that counts once, whether the kernel
// follows at once or (the second) the program lets time pass.
static void work_before_the_first_kernel_of_its_own_stream_counts_once(void **state)
{
	(void)state;
	for (unsigned gap = 0; gap <= 50; gap += 50) {
		begin();
		work(1, 0, 100);
		nccl_on(7, 2, 100 + gap, 50, 1);
		work(3, 150 + gap, 100);
		nccl_on(7, 4, 250 + gap, 50, 2);
		read_of_both();
		assert_int_equal(begins_ns(0, nth(0, TB_CALL_COLLECTIVE, 0), 50000),
			(100 + gap) * 1000);
		assert_int_equal(begins_ns(0, nth(0, TB_CALL_COLLECTIVE, 1), 50000),
			(250 + gap) * 1000);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		IN_FOLDER(streams_overlap_and_wait_as_the_program_made_them),
		IN_FOLDER(without_calls_of_the_runtime_time_decides),
		IN_FOLDER(waits_in_full_name_both_streams),
		IN_FOLDER(waits_of_nccl_itself_are_none_of_the_program_s),
		IN_FOLDER(a_stream_waited_for_what_ended_while_it_was_idle),
		IN_FOLDER(otherwise_for_the_oldest_that_nobody_waited_for),
		IN_FOLDER(a_collective_waits_for_the_work_before_it),
		IN_FOLDER(a_kernel_that_queued_begins_at_its_launch_at_the_earliest),
		IN_FOLDER(work_before_the_first_kernel_of_its_own_stream_counts_once),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

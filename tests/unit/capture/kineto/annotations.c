// Profiles and execution traces of PyTorch before 2.1, and of backends other than NCCL:
// what annotations, calls of c10d and inputs tell when "Collective name" is missing.
#include "kineto.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static struct tb_error error;
static struct tb_calls *calls;
static struct tb_reading reading;
static char folder[] = "annotations_XXXXXX";
static char paths[4][300];
static size_t n_paths;
static char events[1 << 14];

// event adds one of thread 7; `ts` and `dur` in microseconds.
static void event(const char *cat, const char *name, int ts, int dur, const char *args)
{
	size_t n = strlen(events);
	snprintf(events + n, sizeof events - n,
		"%s{\"ph\": \"X\", \"cat\": \"%s\", \"name\": \"%s\", \"tid\": 7, "
		"\"ts\": "
		"%d, \"dur\": %d, \"args\": {%s}}",
		n ? "," : "", cat, name, ts, dur, args);
}

// kernel adds one of NCCL's and the call that launched it; at -1: before the profile.
static void kernel(int order, const char *name, int launched, int ts, int dur)
{
	char args[120];
	// Such profiles repeat the correlation id as the external one.
	snprintf(args, sizeof args,
		"\"device\": 0, \"stream\": 20, \"correlation\": %d, \"External id\": %d",
		order, order);
	event("kernel", name, ts, dur, args);
	if (launched >= 0)
		event("cuda_runtime", "cudaLaunchKernel", launched, 1, args);
}

#define SHAPES(dims, types) "\"Input Dims\": " dims ", \"Input type\": " types

static void put(const char *name, const char *text)
{
	char *path = paths[n_paths++];
	snprintf(path, sizeof paths[0], "%s/%s", folder, name);
	FILE *file = fopen(path, "wb");
	assert_non_null(file);
	assert_true(fputs(text, file) >= 0);
	assert_int_equal(fclose(file), 0);
}

// end writes the events as the profile of a rank of two, and begins the next.
static void end(const char *name, unsigned rank)
{
	static char text[1 << 15];
	snprintf(text, sizeof text,
		"{\"distributedInfo\": {\"rank\": %u, \"world_size\": 2}, "
		"\"traceEvents\": [%s]}",
		rank, events);
	put(name, text);
	events[0] = 0;
}

static int read_all(void)
{
	const char *names[4], *made;
	for (size_t i = 0; i < n_paths; i++)
		names[i] = paths[i];
	return tb_kineto_read(&calls, &reading, names, n_paths, &made, &error);
}

static void assert_read(void)
{
	if (read_all() != TB_OK)
		fail_msg("%s: %s", error.file, error.text);
}

static void assert_refused(const char *sentence)
{
	assert_int_equal(read_all(), TB_EFORMAT);
	assert_null(calls);
	if (!strstr(error.text, sentence))
		fail_msg("'%s' is not in '%s'", sentence, error.text);
}

static void assert_note(const char *note)
{
	const char *has;
	for (size_t i = 0; (has = tb_calls_note_at(calls, i)); i++)
		if (strcmp(has, note) == 0)
			return;
	fail_msg("no note is '%s'", note);
}

// communication returns the n-th call of a rank that communicates, or NULL.
static const struct tb_call *communication(uint32_t rank, uint32_t n)
{
	uint32_t n_calls;
	const struct tb_call *of = tb_calls_of(calls, rank, &n_calls);
	for (uint32_t i = 0; i < n_calls; i++)
		if (of[i].kind != TB_CALL_JOINT && n-- == 0)
			return &of[i];
	return NULL;
}

static void assert_call(const struct tb_call *call, uint8_t op, uint64_t bytes)
{
	assert_non_null(call);
	assert_int_equal(call->kind, TB_CALL_COLLECTIVE);
	assert_int_equal(call->op, op);
	assert_int_equal(call->bytes, bytes);
	assert_int_equal(tb_calls_members(calls, call->group).n, 2);
}

static void annotations_tell_what_their_kernels_send(void **state)
{
	(void)state;
	static const struct {
		const char *name, *shapes, *kernel;
		uint8_t op;
		uint64_t bytes;
	} cases[] = {
		{"nccl:all_reduce", SHAPES("[[10, 7]]", "[\"float\"]"),
			"ncclKernel_AllReduce_RING_LL_Sum_float(ncclWorkElem)",
			TB_COLL_ALLREDUCE, 280},
		// Of two ranks: a block of the list that each takes.
		{"nccl:all_to_all", SHAPES("[[8, 5]]", "[\"long int\"]"),
			"ncclKernel_SendRecv_RING_SIMPLE_Sum_int8_t(ncclWorkElem)",
			TB_COLL_ALLTOALL, 160},
		// NCCL may carry it out by messages.
		{"nccl:_all_gather_base", SHAPES("[[9]]", "[\"c10::BFloat16\"]"),
			"ncclKernel_SendRecv_RING_SIMPLE_Sum_int8_t(ncclWorkElem)",
			TB_COLL_ALLGATHER, 18},
		{"nccl:all_reduce", SHAPES("[[3], [4]]", "[\"double\", \"c10::Half\"]"),
			"ncclKernel_AllReduce_RING_LL_Sum_float(ncclWorkElem)",
			TB_COLL_ALLREDUCE, 32},
		{"nccl:_reduce_scatter_base", SHAPES("[[6, 2]]", "[\"unsigned char\"]"),
			"ncclKernel_ReduceScatter_RING_LL_Sum_float(ncclWorkElem)",
			TB_COLL_REDUCE_SCATTER, 12},
		{"nccl:barrier", "\"Ev Idx\": 1",
			"ncclKernel_AllReduce_RING_LL_Sum_int8_t(ncclWorkElem)",
			TB_COLL_ALLREDUCE, 4},
	};
	const int n = sizeof cases / sizeof *cases;
	for (unsigned rank = 0; rank < 2; rank++) {
		for (int i = 0; i < n; i++) {
			int at = 1000 * i;
			event("cpu_op", "record_param_comms", at, 90, "\"Ev Idx\": 3");
			event("user_annotation", cases[i].name, at + 10, 70,
				cases[i].shapes);
			kernel(i + 5, cases[i].kernel, at + 40, at + 300, 200);
			// It sent nothing, and launched nothing.
			event("user_annotation", "nccl:all_to_all", at + 95, 3,
				SHAPES("[[0]]", "[\"float\"]"));
		}
		end(rank ? "b.json" : "a.json", rank);
	}
	assert_read();
	for (int i = 0; i < n; i++)
		assert_call(communication(1, (uint32_t)i), cases[i].op, cases[i].bytes);
	assert_null(communication(1, (uint32_t)n));
	assert_note("12 communication operations understood: 0 by their arguments, 12 by "
		    "annotations, 0 by calls of c10d");
	assert_note("12 operations name no process group: taken to be of all ranks");
}

static void arguments_go_before_annotations_around_them(void **state)
{
	(void)state;
	for (unsigned rank = 0; rank < 2; rank++) {
		event("cpu_op", "c10d::allreduce_", 0, 100,
			SHAPES("[[], []]", "[\"TensorList\", \"\"]"));
		event("cpu_op", "record_param_comms", 5, 90,
			"\"Collective name\": \"allreduce\", \"dtype\": \"Float\", \"In "
			"msg nelems\": 5, \"Out msg nelems\": 5, \"Group size\": 2");
		event("user_annotation", "nccl:all_reduce", 10, 80,
			SHAPES("[[9]]", "[\"float\"]"));
		kernel(5, "ncclDevKernel_AllReduce_Sum_f32_RING_LL(x)", 40, 300, 200);
		end(rank ? "b.json" : "a.json", rank);
	}
	assert_read();
	assert_call(communication(0, 0), TB_COLL_ALLREDUCE, 20);
	assert_null(communication(0, 1));
}

static void kernels_launched_before_the_profile_are_left_out(void **state)
{
	(void)state;
	for (unsigned rank = 0; rank < 2; rank++) {
		kernel(4, "ncclKernel_AllReduce_RING_LL_Sum_float(x)", -1, 3, 200);
		event("user_annotation", "nccl:all_reduce", 1, 8,
			SHAPES("[[9]]", "[\"float\"]"));
		kernel(5, "ncclKernel_AllReduce_RING_LL_Sum_float(x)", 5, 300, 200);
		end(rank ? "b.json" : "a.json", rank);
	}
	assert_read();
	assert_int_equal(communication(0, 0)->enter_ns, 297000);
	assert_null(communication(0, 1));
	assert_note("2 kernels of NCCL are left out: launched before the profile began");
}

static void operations_of_cpus_are_timed_by_them(void **state)
{
	(void)state;
	for (unsigned rank = 0; rank < 2; rank++) {
		event("user_annotation", "gloo:all_reduce", 100, 50,
			SHAPES("[[1000]]", "[\"float\"]"));
		event("user_annotation", "gloo:broadcast", 250, 30,
			SHAPES("[[]]", "[\"double\"]"));
		end(rank ? "b.json" : "a.json", rank);
	}
	assert_read();
	const struct tb_call *first = communication(1, 0), *second = communication(1, 1);
	assert_call(first, TB_COLL_ALLREDUCE, 4000);
	assert_int_equal(first->enter_ns, 0);
	assert_int_equal(first->leave_ns, 50000);
	assert_call(second, TB_COLL_BROADCAST, 8);
	assert_int_equal(second->enter_ns, 150000);
	assert_int_equal(second->leave_ns, 180000);
}

static void calls_of_c10d_stand_in_where_there_is_nothing_else(void **state)
{
	(void)state;
	for (unsigned rank = 0; rank < 2; rank++) {
		// What it fills comes first.
		event("cpu_op", "c10d::_allgather_base_", 0, 9,
			SHAPES("[[20], [10], []]", "[\"int\", \"int\", \"\"]"));
		end(rank ? "b.json" : "a.json", rank);
	}
	assert_read();
	assert_call(communication(0, 0), TB_COLL_ALLGATHER, 40);
	assert_int_equal(communication(0, 0)->leave_ns, 0); // the call only began it
}

static void a_profile_that_hides_all_sizes_is_no_empty_job(void **state)
{
	(void)state;
	event("user_annotation", "gloo:all_reduce", 0, 9, "\"Ev Idx\": 1");
	end("a.json", 0);
	event("user_annotation", "gloo:all_reduce", 0, 9,
		SHAPES("[[1, \"x\"]]", "[\"float\"]"));
	end("b.json", 1);
	assert_refused("has 2 communication operations, and of none it says how much");
	reading.lenient = true;
	assert_read();
	assert_null(communication(0, 0));
	assert_note("2 communication operations are left out: nothing tells how much "
		    "is sent");
}

static void annotations_of_messages_name_their_partner(void **state)
{
	(void)state;
	for (unsigned rank = 0; rank < 2; rank++) {
		event("user_annotation", rank ? "nccl:recv 1<-0" : "nccl:send 0->1", 0, 9,
			SHAPES("[[25]]", "[\"float\"]"));
		kernel(5, "ncclKernel_SendRecv_RING_SIMPLE_Sum_int8_t(x)", 15, 300, 200);
		end(rank ? "b.json" : "a.json", rank);
	}
	assert_read();
	assert_int_equal(communication(0, 0)->kind, TB_CALL_SEND);
	assert_int_equal(communication(0, 0)->peer, 1);
	assert_int_equal(communication(0, 0)->bytes, 100);
	assert_int_equal(communication(1, 0)->kind, TB_CALL_RECV);
	assert_int_equal(communication(1, 0)->peer, 0);
}

static void names_of_workers_and_steps_are_no_hosts(void **state)
{
	(void)state;
	static const char *const names[] = {
		"worker0_12.34.pt.trace.json", "worker1_step_12.34.pt.trace.json"};
	for (unsigned rank = 0; rank < 2; rank++) {
		event("user_annotation", "gloo:barrier", 0, 9, "\"a\": 1");
		end(names[rank], rank);
	}
	assert_read();
	assert_null(tb_calls_host_of(calls, 0));
	assert_null(tb_calls_host_of(calls, 1));
	tb_calls_free(calls);
	calls = NULL;
	n_paths = 0;
	event("user_annotation", "gloo:barrier", 0, 9, "\"a\": 1");
	end("worker-node_12.34.pt.trace.json", 0);
	event("user_annotation", "gloo:barrier", 0, 9, "\"a\": 1");
	end("b.json", 1);
	assert_read();
	assert_string_equal(tb_calls_host_of(calls, 0), "worker-node");
}

static void inputs_of_old_execution_traces_tell_all(void **state)
{
	(void)state;
	// Schema 1.0.1: plain lists, groups by a number of the process, no sizes of
	// groups.
	static const char old[] =
		"{\"schema\": \"1.0.1\", \"nodes\": [{\"name\": \"record_param_comms\", "
		"\"id\": 1, \"inputs\": [[[1, 2, 0, 30, 4, \"cuda:0\"], [3, 4, 0, 5, 2, "
		"\"cuda:0\"]], 9, %u, %u, \"allreduce\", [], []], \"outputs\": []}, "
		"{\"name\": \"record_param_comms\", \"id\": 2, \"inputs\": [9, %u, 0, "
		"\"wait\", [], []], \"outputs\": []}]}";
	// Schema 1.0.3: as values, with the group's row; here of the other rank.
	char text[1000];
	for (unsigned rank = 0; rank < 2; rank++) {
		snprintf(text, sizeof text, old, 94000 + rank, rank, 94000 + rank);
		put(rank ? "b.json" : "a.json", text);
	}
	assert_read();
	assert_call(communication(0, 0), TB_COLL_ALLREDUCE, 130);
	assert_null(communication(1, 1));
	tb_calls_free(calls);
	calls = NULL;
	n_paths = 0;
	for (unsigned rank = 0; rank < 2; rank++) {
		snprintf(text, sizeof text,
			"{\"schema\": \"1.0.3-chakra.0.0.4\", \"nodes\": [{\"name\": "
			"\"record_param_comms\", \"id\": 1, \"inputs\": {\"values\": "
			"[[1, "
			"2, 0, 6, 8, \"cuda:0\"], 33, [\"0\", \"default_pg\"], %u, "
			"\"all_to_all\", [2, 4], [3, 3], 0, 1, 2]}, \"outputs\": "
			"{\"values\": [[5, 6, 0, 6, 8, \"cuda:0\"]]}}]}",
			rank);
		put(rank ? "rank1.json" : "rank0.json", text);
	}
	assert_read();
	uint32_t n;
	const uint64_t *sizes = tb_calls_sizes_of(calls, communication(1, 0), &n);
	assert_call(communication(1, 0), TB_COLL_ALLTOALL, 24);
	assert_int_equal(n, 2);
	assert_int_equal(sizes[0], 16);
	assert_int_equal(sizes[1], 32);
}

static int make_folder(void **state)
{
	(void)state;
	return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state)
{
	(void)state;
	return rmdir(folder);
}

static int clear(void **state)
{
	(void)state;
	tb_calls_free(calls);
	calls = NULL;
	reading = (struct tb_reading){0};
	char command[300];
	snprintf(command, sizeof command, "rm -f %s/*", folder);
	n_paths = 0;
	events[0] = 0;
	return system(command);
}

#define CASE(test) cmocka_unit_test_teardown(test, clear)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(annotations_tell_what_their_kernels_send),
		CASE(arguments_go_before_annotations_around_them),
		CASE(kernels_launched_before_the_profile_are_left_out),
		CASE(operations_of_cpus_are_timed_by_them),
		CASE(calls_of_c10d_stand_in_where_there_is_nothing_else),
		CASE(a_profile_that_hides_all_sizes_is_no_empty_job),
		CASE(annotations_of_messages_name_their_partner),
		CASE(names_of_workers_and_steps_are_no_hosts),
		CASE(inputs_of_old_execution_traces_tell_all),
	};
	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}

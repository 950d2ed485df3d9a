// Profiles of PyTorch: what a rank sent, of what size and in which group, and what is
// refused.
#include "../../support/kineto_profile.h"
#include "real_input.h"

static void sizes_are_elements_times_their_type(void **state)
{
	(void)state;
	static const struct {
		const char *name, *dtype;
		unsigned in, out;
		enum tb_collective_op op;
		uint64_t bytes;
	} cases[] = {
		{"allreduce", "Float", 100, 100, TB_COLL_ALLREDUCE, 400},
		{"allreduce_coalesced", "BFloat16", 100, 100, TB_COLL_ALLREDUCE, 200},
		{"_allgather_base", "Half", 10, 20, TB_COLL_ALLGATHER, 20},
		{"all_gather", "Float8_e4m3fn", 10, 20, TB_COLL_ALLGATHER, 10},
		{"_reduce_scatter_base", "Float", 20, 10, TB_COLL_REDUCE_SCATTER, 80},
		{"reduce_scatter_tensor_coalesced", "Double", 20, 10,
			TB_COLL_REDUCE_SCATTER, 160},
		{"broadcast", "Long", 5, 5, TB_COLL_BROADCAST, 40},
		{"all_to_all", "ComplexDouble", 8, 8, TB_COLL_ALLTOALL, 64},
		{"barrier", "Byte", 0, 0, TB_COLL_ALLREDUCE, 4},
		{"scatter", "Int", 8, 4, TB_COLL_SCATTER, 16},
	};
	size_t n = sizeof cases / sizeof *cases;
	for (unsigned rank = 0; rank < 2; rank++) {
		begin();
		for (size_t i = 0; i < n; i++)
			nccl((int)i + 1, (double)i * 100, 50,
				arguments(cases[i].name, cases[i].dtype, cases[i].in,
					cases[i].out, WORLD));
		end(rank ? "b.json" : "a.json", rank, 2);
	}
	assert_read("a.json", "b.json");
	for (uint32_t i = 0; i < n; i++) {
		const struct tb_call *made = nth(1, TB_CALL_COLLECTIVE, i);
		assert_int_equal(made->op, cases[i].op);
		assert_int_equal(made->bytes, cases[i].bytes);
		assert_int_equal(tb_calls_members(calls, made->group).n, 2);
	}
}

static void split_sizes_divide_an_alltoall(void **state)
{
	(void)state;
	begin();
	nccl(1, 0, 50,
		arguments("all_to_allv", "Float", 100, 70,
			WORLD ", \"In split size\": \"[3, 1]\""));
	end("a.json", 0, 2);
	begin();
	nccl(1, 0, 50,
		arguments("all_to_allv", "Float", 80, 70,
			WORLD ", \"In split size\": \"[1, ..., 1]\""));
	end("b.json", 1, 2);
	assert_read("a.json", "b.json");
	uint32_t n;
	const uint64_t *sizes =
		tb_calls_sizes_of(calls, nth(0, TB_CALL_COLLECTIVE, 0), &n);
	assert_int_equal(n, 2);
	assert_int_equal(sizes[0], 300);
	assert_int_equal(sizes[1], 100);
	assert_null(tb_calls_sizes_of(calls, nth(1, TB_CALL_COLLECTIVE, 0), &n));
	assert_int_equal(nth(1, TB_CALL_COLLECTIVE, 0)->bytes, 160);
	assert_string_equal(tb_calls_note_at(calls, 0),
		"the split sizes of 1 all-to-all are cut in "
		"the profile: taken to be even");
}

static void a_group_of_messages_is_one_kernel(void **state)
{
	(void)state;
	for (unsigned rank = 0; rank < 2; rank++) {
		char more[200];
		begin();
		call(3, "cudaLaunchKernel", 50);
		snprintf(more, sizeof more,
			WORLD ", \"Dst Rank\": %u, \"External id\": 1", 1 - rank);
		event("cpu_op", "record_param_comms",
			arguments("send", "Half", 10, 10, more), 1, 1);
		snprintf(more, sizeof more, WORLD ", \"Rank\": %u, \"External id\": 2",
			1 - rank);
		event("cpu_op", "record_param_comms",
			arguments("recv", "Half", 20 - 10 * 1, 10, more), 2, 1);
		event("kernel", "ncclDevKernel_SendRecv(x)",
			"\"device\": 0, \"stream\": 20, \"correlation\": 3, \"External "
			"id\": 50",
			10, 5);
		end(rank ? "b.json" : "a.json", rank, 2);
	}
	assert_read("a.json", "b.json");
	for (uint32_t rank = 0; rank < 2; rank++) {
		const struct tb_call *send = nth(rank, TB_CALL_SEND, 0);
		const struct tb_call *recv = nth(rank, TB_CALL_RECV, 0);
		assert_int_equal(count(rank, TB_CALL_SEND), 1);
		assert_int_equal(send->peer, 1 - rank);
		assert_int_equal(recv->peer, 1 - rank);
		assert_int_equal(send->bytes, 20);
		assert_int_equal(recv->bytes, 20);
		assert_true(send->starts && recv->starts);
		// The first call of the kernel has its time; the others follow at once.
		uint32_t n, n_befores;
		const struct tb_call *of = tb_calls_of(calls, rank, &n);
		assert_int_equal(n, 4);
		for (uint32_t i = 1; i < n; i++)
			assert_int_equal(of[i].calc_ns, 0);
		const uint32_t *befores = tb_calls_befores(calls, rank, 3, &n_befores);
		assert_int_equal(n_befores, 2);
		assert_int_equal(befores[0], 1);
		assert_int_equal(befores[1], 2);
	}
}

static void old_kernels_find_their_operation_by_id(void **state)
{
	(void)state;
	for (unsigned rank = 0; rank < 2; rank++) {
		begin();
		nccl(3, 10, 5, "\"External id\": 8");
		event("cpu_op", "record_param_comms",
			arguments("allreduce", "Float", 6, 6,
				", \"Group size\": 2, \"External id\": 8"),
			1, 1);
		end(rank ? "b.json" : "a.json", rank, 2);
	}
	assert_read("a.json", "b.json");
	assert_int_equal(nth(0, TB_CALL_COLLECTIVE, 0)->bytes, 24);
}

// One that NCCL launched as two kernels, which describe themselves, too.
static void the_kernels_of_one_id_are_one_call(void **state)
{
	(void)state;
	for (unsigned rank = 0; rank < 2; rank++) {
		begin();
		for (int order = 3; order < 7; order++) {
			char more[100];
			snprintf(more, sizeof more, WORLD ", \"External id\": %d",
				order < 5 ? 8 : order);
			nccl(order, 10 * order, 5,
				arguments("allreduce", "Float", 6, 6, more));
		}
		for (int id = 5; id < 9; id++) {
			char more[100];
			snprintf(more, sizeof more,
				", \"Group size\": 2, \"External id\": %d", id);
			event("cpu_op", "record_param_comms",
				arguments("allreduce", "Float", 6, 6, more), 1, 1);
		}
		end(rank ? "b.json" : "a.json", rank, 2);
	}
	assert_read("a.json", "b.json");
	assert_int_equal(count(0, TB_CALL_COLLECTIVE), 3);
}

static void kernels_of_unknown_size_are_refused_or_left_out(void **state)
{
	(void)state;
	for (unsigned rank = 0; rank < 2; rank++) {
		begin();
		nccl(3, 10.5, 5, "");
		end(rank ? "b.json" : "a.json", rank, 2);
	}
	assert_int_equal(read_files("a.json", "b.json"), TB_EFORMAT);
	assert_refused(TB_EFORMAT, "of the NCCL kernel at 10.500 us nothing says what");
	reading.lenient = true;
	assert_read("a.json", "b.json");
	reading.lenient = false;
	assert_int_equal(count(0, TB_CALL_COLLECTIVE), 0);
	assert_note("2 kernels of NCCL are left out");
}

// put_grid writes rank 0 of 8: tensor parallel with 1, data parallel with 2, 4 and 6.
static void put_grid(const char *data_ranks)
{
	char more[300];
	begin();
	nccl(1, 0, 5,
		arguments("allreduce", "Float", 1, 1,
			", \"Group size\": 2, \"Process Group Name\": \"tp\", "
			"\"Process Group Ranks\": \"[0, 1]\""));
	snprintf(more, sizeof more,
		", \"Group size\": 4, \"Process Group Name\": \"dp\", "
		"\"Process Group Ranks\": \"%s\", \"Global rank start\": 0, "
		"\"Global rank stride\": 2",
		data_ranks);
	nccl(2, 10, 5, arguments("allreduce", "Float", 2, 2, more));
	nccl(3, 20, 5,
		arguments("allreduce", "Float", 3, 3,
			", \"Group size\": 8, \"Process Group Name\": \"0\""));
	end("rank0.json", 0, 8);
}

static void assert_group(
	uint32_t rank, uint32_t n, const uint32_t *members, uint32_t size)
{
	struct tb_group group =
		tb_calls_members(calls, nth(rank, TB_CALL_COLLECTIVE, n)->group);
	assert_int_equal(group.n, size);
	for (uint32_t i = 0; i < size; i++)
		assert_int_equal(group.members[i], members[i]);
}

static void cloned_ranks_have_groups_of_their_own(void **state)
{
	(void)state;
	put_grid("[0, 2, ..., 6]"); // cut: begin and distance say the rest
	assert_int_equal(read_files("rank0.json", NULL), TB_EFORMAT);
	assert_refused(TB_EFORMAT,
		"of a job with 8 ranks, of which there is no profile of 1, 2, 3, 4, 5, "
		"6, 7: "
		"give these too, or let them do what the others do with --clone-ranks 8");
	reading.clone_ranks = 16;
	assert_read("rank0.json", NULL);
	assert_int_equal(tb_calls_n_ranks(calls), 16);
	assert_group(0, 0, (const uint32_t[]){0, 1}, 2);
	assert_group(13, 0, (const uint32_t[]){12, 13}, 2);
	assert_group(13, 1, (const uint32_t[]){1, 3, 5, 7, 9, 11, 13, 15}, 8);
	assert_int_equal(
		tb_calls_members(calls, nth(5, TB_CALL_COLLECTIVE, 2)->group).n, 16);
	assert_note("15 of 16 ranks have no profile");
	reading.clone_ranks = 9;
	assert_int_equal(read_files("rank0.json", NULL), TB_EUSAGE);
	assert_refused(TB_EUSAGE, "--clone-ranks 9 cuts its process groups of 2 ranks");
	reading.clone_ranks = 4;
	assert_int_equal(read_files("rank0.json", NULL), TB_EUSAGE);
	assert_refused(TB_EUSAGE, "--clone-ranks 4 would make fewer");
	put_grid("[0, 1, 4, 6]");
	reading.clone_ranks = 8;
	assert_int_equal(read_files("rank0.json", NULL), TB_EUSAGE);
	assert_refused(TB_EUSAGE, "is no regular part of the job");
	reading.clone_ranks = 0;
}

static void ranks_that_use_a_group_are_its_members(void **state)
{
	(void)state;
	for (unsigned rank = 0; rank < 3; rank++) {
		char name[20];
		snprintf(name, sizeof name, "rank%u.json", rank);
		begin();
		if (rank != 1)
			nccl(1, 0, 5,
				arguments("allreduce", "Float", 1, 1,
					", \"Group size\": 2, \"Process Group Name\": "
					"\"9\""));
		end(name, rank, 3);
	}
	assert_read("", NULL); // the folder
	assert_group(2, 0, (const uint32_t[]){0, 2}, 2);
	begin();
	end("rank2.json", 2, 3);
	assert_int_equal(read_files("", NULL), TB_EFORMAT);
	assert_refused(
		TB_EFORMAT, "nothing says which ranks are in process group '9' of 2");
}

// The groups that a profile lists at its head, of which a kernel gives only the name.
static void groups_are_those_of_the_profile_s_list(void **state)
{
	(void)state;
	for (unsigned rank = 0; rank < 2; rank++) {
		char head[400];
		begin();
		nccl(5, 10, 20,
			arguments("allreduce", "Float", 6, 6,
				", \"Group size\": 2, \"Process Group Name\": \"7\""));
		snprintf(head, sizeof head,
			"\"distributedInfo\": {\"backend\": \"nccl\", \"rank\": %u, "
			"\"world_size\": 3, \"pg_config\": [{\"pg_name\": \"3\", "
			"\"ranks\": \"[0, 1, 2]\", \"pg_size\": 3}, {\"pg_name\": \"7\", "
			"\"ranks\": \"[%s]\", \"pg_size\": 2}]},",
			2 * rank, "2, 0");
		end_of(rank ? "b.json" : "a.json", head);
	}
	begin();
	work(1, 0, 5);
	end("c.json", 1, 3);
	assert_read("", NULL);
	assert_group(0, 0, (const uint32_t[]){2, 0}, 2);
	assert_group(2, 0, (const uint32_t[]){2, 0}, 2);
	assert_int_equal(count(1, TB_CALL_COLLECTIVE), 0);
}

static void numbers_of_ranks_have_a_limit(void **state)
{
	(void)state;
	begin();
	work(1, 0, 5);
	end("a.json", 0, (1u << 24) + 1);
	assert_int_not_equal(read_files("a.json", NULL), TB_OK);
	assert_refused(TB_EFORMAT, "gives the world size as '16777217'");
}

static void profiles_must_be_of_one_job(void **state)
{
	(void)state;
	begin();
	end("a.json", 0, 2);
	end("b.json", 0, 2);
	assert_int_equal(read_files("a.json", "b.json"), TB_EFORMAT);
	assert_refused(TB_EFORMAT, "is of rank 0, as is ");
	end("b.json", 1, 4);
	assert_int_equal(read_files("a.json", "b.json"), TB_EFORMAT);
	assert_refused(TB_EFORMAT, "is of a job with ");
	end("b.json", 2, 2);
	assert_int_equal(read_files("a.json", "b.json"), TB_EFORMAT);
	assert_refused(TB_EFORMAT, "is of rank 2 of a job with 2 ranks");
	end_of("b.json", "");
	assert_int_equal(read_files("a.json", "b.json"), TB_EFORMAT);
	assert_refused(TB_EFORMAT, "does not say of which rank it is");
}

static void names_tell_rank_and_host(void **state)
{
	(void)state;
	begin();
	end_of("trace_rank_1.json", "");
	end_of("rank0.json", "\"hostname\": \"gpu-a\",");
	assert_read("trace_rank_1.json", "rank0.json");
	assert_int_equal(tb_calls_n_ranks(calls), 2);
	assert_string_equal(tb_calls_host_of(calls, 0), "gpu-a");
	assert_null(tb_calls_host_of(calls, 1));
	end("gpu_b_4711.1711964646.pt.trace.json", 1, 2);
	end("gpu_b_4712.1711964646.pt.trace.json", 0, 2);
	assert_read("gpu_b_4711.1711964646.pt.trace.json",
		"gpu_b_4712.1711964646.pt.trace.json");
	assert_string_equal(tb_calls_host_of(calls, 0), "gpu_b");
	assert_string_equal(tb_calls_host_of(calls, 1), "gpu_b");
}

static void numbers_may_have_exponents(void **state)
{
	(void)state;
	put("a.json",
		"{\"distributedInfo\": {\"rank\": 0e0, \"world_size\": 1}, "
		"\"traceEvents\": [{\"ph\": \"X\", \"cat\": \"kernel\", \"name\": "
		"\"ncclX\", \"ts\": 1.25E-1, \"dur\": 1.2e2, \"args\": "
		"{\"Collective name\": \"allreduce\", \"dtype\": \"Float\", "
		"\"Group size\": 1, "
		"\"In msg nelems\": 1.024e+3, \"Out msg nelems\": 102400e-2}}, "
		"{\"ph\": \"X\", \"cat\": \"kernel\", \"name\": \"k\", \"ts\": 1e3, "
		"\"dur\": 0.0000015e6}]}");
	assert_read("a.json", NULL);
	const struct tb_call *call_read = nth(0, TB_CALL_COLLECTIVE, 0);
	assert_int_equal(call_read->bytes, 4096);
	assert_int_equal(call_read->leave_ns - call_read->enter_ns, 120000);
	static const char *const bad[] = {
		"1e", "1e+", "1.e2.", "1e2e2", "e3", "1e30", "1e999999999", "-1e2"};
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		char text[200];
		snprintf(text, sizeof text,
			"{\"traceEvents\": [{\"ph\": \"X\", \"cat\": \"kernel\", "
			"\"name\": \"k\", \"ts\": %s}]}",
			bad[i]);
		put("a.json", text);
		assert_int_equal(read_files("a.json", NULL), TB_EFORMAT);
		assert_refused(TB_EFORMAT, "has no time");
	}
}

#define ALONE ", \"Group size\": 1, \"Process Group Name\": \"0\""

// Of NCCL's kernels the profile's head tells whose they are, and of which version.
static void the_library_is_that_of_the_profile(void **state)
{
	(void)state;
	static const struct {
		const char *head, *made, *version;
	} cases[] = {
		{"", "nccl", NULL},
		{"\"distributedInfo\": {\"backend\": \"nccl\", \"nccl_version\": "
		 "\"2.17.1\"},",
			"nccl", "nccl@2.17"},
		{"\"distributedInfo\": {\"nccl_version\": \"none.1\"},", "nccl", NULL},
		{"\"deviceProperties\": [{\"id\": 0, \"name\": \"NVIDIA H100\"}],",
			"nccl", NULL},
		{"\"deviceProperties\": [{\"name\": \"AMD Instinct MI300X\"}], "
		 "\"distributedInfo\": {\"nccl_version\": \"2.21.5\"},",
			"rccl", "rccl@2.21"},
		// Beside a GPU's, gloo is for what the CPU sends.
		{"\"distributedInfo\": {\"backend\": \"gloo\"},", "nccl", NULL},
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		begin();
		nccl(1, 0, 50, arguments("allreduce", "Float", 4, 4, ALONE));
		end_of("a.json", cases[i].head);
		assert_read("a.json", NULL);
		assert_string_equal(made_with, cases[i].made);
		const char *version = tb_calls_made_by(calls);
		assert_string_equal(
			version ? version : "", cases[i].version ? cases[i].version : "");
	}
	begin();
	call(1, "hipLaunchKernel", 1);
	nccl(1, 0, 50, arguments("allreduce", "Float", 4, 4, ALONE));
	end("a.json", 0, 1);
	assert_read("a.json", NULL);
	assert_string_equal(made_with, "rccl");
}

// What one thread began, and another of gloo's carried out, is one call.
static void gloo_s_operations_are_calls_over_sockets(void **state)
{
	(void)state;
	static const char text[] =
		"{\"distributedInfo\": {\"backend\": \"gloo\", \"rank\": 0, "
		"\"world_size\": 1}, \"traceEvents\": ["
		"{\"ph\": \"X\", \"cat\": \"cpu_op\", \"name\": \"record_param_comms\", "
		"\"tid\": 1, \"ts\": 0, \"dur\": 5, \"args\": {\"Collective name\": "
		"\"allreduce\", \"dtype\": \"Float\", \"In msg nelems\": 8" ALONE "}}, "
		"{\"ph\": \"X\", \"cat\": \"user_annotation\", \"name\": "
		"\"gloo:all_reduce\", \"tid\": 2, \"ts\": 20, \"dur\": 80, \"args\": "
		"{}}, "
		"{\"ph\": \"X\", \"cat\": \"cpu_op\", \"name\": \"record_param_comms\", "
		"\"tid\": 1, \"ts\": 30, \"dur\": 5, \"args\": {\"Collective name\": "
		"\"allreduce\", \"dtype\": \"Float\", \"In msg nelems\": 9" ALONE "}}, "
		"{\"ph\": \"X\", \"cat\": \"user_annotation\", \"name\": "
		"\"gloo:all_reduce\", \"tid\": 2, \"ts\": 110, \"dur\": 40, "
		"\"args\": {}}]}";
	put("a.json", text);
	assert_read("a.json", NULL);
	assert_string_equal(made_with, "sockets");
	assert_int_equal(count(0, TB_CALL_COLLECTIVE), 2);
	assert_int_equal(nth(0, TB_CALL_COLLECTIVE, 0)->leave_ns, 100000);
	assert_int_equal(nth(0, TB_CALL_COLLECTIVE, 1)->bytes, 36);
	assert_int_equal(nth(0, TB_CALL_COLLECTIVE, 1)->leave_ns, 150000);
	assert_note("of the algorithms of gloo nothing is known here");
	const char *note;
	for (size_t i = 0; (note = tb_calls_note_at(calls, i)); i++)
		assert_null(strstr(note, "left out"));
	assert_true(tb_kineto_is_gloo_folder(in_folder("")));
	put("a.json", "{\"traceEvents\": []}");
	assert_false(tb_kineto_is_gloo_folder(in_folder("")));
}

static void broken_profiles_are_refused_with_their_place(void **state)
{
	(void)state;
	static const struct {
		const char *text, *sentence;
	} cases[] = {
		{"{\"schemaVersion\": 1, \"traceEvents\": [{\"ph\": \"X\"",
			"not complete"},
		{"{\"schemaVersion\": 1, \"traceEvents\": [\"abc", "not complete"},
		{"{\"schemaVersion\": 1 \"traceEvents\" 3}", "expected a colon"},
		{"{\"schemaVersion\": 1, traceEvents: 3}", "name of a member in quotes"},
		{"[1]", "expected the outermost object"},
		{"{\"traceEvents\": [{\"ph\": \"X\", \"cat\": \"kernel\", \"name\": "
		 "\"k\", "
		 "\"ts\": NaN}]}",
			"has no time"},
		{"{\"traceEvents\": [{\"ph\": \"X\", \"cat\": \"kernel\", \"name\": "
		 "\"k\", "
		 "\"ts\": 1, \"dur\": -3}]}",
			"has no duration"},
		{"{\"traceEvents\": [{\"ph\": \"X\", \"cat\" \"kernel\"}]}",
			"is no JSON object"},
		{"{\"distributedInfo\": {\"rank\": -1}}", "gives the rank as '-1'"},
		{"{\"traceEvents\": [{\"ph\": \"X\", \"cat\": \"kernel\", \"name\": "
		 "\"ncclX\", \"ts\": 1, \"args\": {\"Collective name\": \"allreduce\", "
		 "\"dtype\": \"Float\", \"In msg nelems\": NaN}}]}",
			"is no count of elements"},
		{"{\"traceEvents\": [{\"ph\": \"X\", \"cat\": \"kernel\", \"name\": "
		 "\"ncclX\", \"ts\": 1, \"args\": {\"Collective name\": \"allreduce\", "
		 "\"dtype\": \"Quad\", \"In msg nelems\": 3}}]}",
			"elements of type 'Quad'"},
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		put("a.json", cases[i].text);
		assert_int_equal(read_files("a.json", NULL), TB_EFORMAT);
		assert_refused(TB_EFORMAT, cases[i].sentence);
		assert_non_null(strstr(error.file, "a.json"));
	}
}

static void values_may_nest_and_be_long_but_not_too_long(void **state)
{
	(void)state;
	FILE *file = fopen(in_folder("a.json"), "wb");
	fputs("{\"schemaVersion\": 1, \"deep\": ", file);
	for (int i = 0; i < 3000000; i++)
		fputc('[', file);
	for (int i = 0; i < 3000000; i++)
		fputc(']', file);
	fputs(", \"long\": \"", file);
	for (int i = 0; i < 5000000; i++)
		fputs("\\\"", file);
	fputs("\", \"distributedInfo\": {\"rank\": 0, \"world_size\": 1}}", file);
	fclose(file);
	assert_read("a.json", NULL);
	file = fopen(in_folder("a.json"), "wb");
	fputs("{\"long\": \"", file);
	for (int i = 0; i < 17 << 20; i++)
		fputc('x', file);
	fputs("\"}", file);
	fclose(file);
	assert_int_equal(read_files("a.json", NULL), TB_EFORMAT);
	assert_refused(TB_EFORMAT, "a value of more than 16 MiB");
}

static void a_cut_archive_is_reported_as_such(void **state)
{
	(void)state;
	char command[1000];
	put_overlap("a.json", 0);
	snprintf(command, sizeof command, "gzip -c %s | head -c 300 >%s",
		in_folder("a.json"), in_folder("a.json.gz"));
	assert_int_equal(system(command), 0);
	assert_int_equal(read_files("a.json.gz", NULL), TB_EFORMAT);
	assert_null(strstr(error.text, "JSON"));
	assert_refused(TB_EFORMAT, "(--lenient takes what is whole)");
}

// Wherever a profile is cut behind its first kernel, that one is kept.
static void what_is_whole_of_a_profile_is_taken(void **state)
{
	(void)state;
	static char text[1 << 16];
	begin();
	for (int i = 0; i < 20; i++)
		nccl(i, 10 * i, 5, arguments("allreduce", "Float", 8, 8, WORLD));
	end("a.json", 0, 2);
	FILE *file = fopen(in_folder("a.json"), "rb");
	size_t n = fread(text, 1, sizeof text - 1, file);
	fclose(file);
	reading.clone_ranks = 2;
	for (size_t cut = n / 10; cut < n; cut += n / 9) {
		text[n] = '\0';
		char kept = text[cut];
		text[cut] = '\0';
		put("a.json", text);
		uint32_t n_whole = 0;
		for (const char *at = text; (at = strstr(at, "}}")); at++)
			n_whole++;
		text[cut] = kept;
		reading.lenient = false;
		assert_int_equal(read_files("a.json", NULL), TB_EFORMAT);
		assert_refused(TB_EFORMAT, "(--lenient takes what is whole)");
		reading.lenient = true;
		assert_read("a.json", NULL);
		assert_int_equal(count(0, TB_CALL_COLLECTIVE), n_whole);
		assert_note("1 file breaks off");
	}
	put("a.json", "{\"schemaVersion\": 1, traceEvents: []}"); // in the middle
	reading.lenient = true;
	assert_int_equal(read_files("a.json", NULL), TB_EFORMAT);
	reading = (struct tb_reading){0};
}

// hta-nccl_data: three steps of a ResNet under DistributedDataParallel, rank 0 of 2; its
// figures were counted by another program.
static void a_real_profile_has_its_known_figures(void **state)
{
	(void)state;
	char path[4096];
	const char *made, *paths[] = {path};
	if (!real_input(path, "kineto/hta-nccl_data.json.gz"))
		skip();
	tb_calls_free(calls);
	calls = NULL;
	reading.clone_ranks = 2;
	assert_int_equal(
		tb_kineto_read(&calls, &reading, paths, 1, &made, &error), TB_OK);
	reading.clone_ranks = 0;
	for (uint32_t rank = 0; rank < 2; rank++) {
		uint64_t reduced = 0, sent = 0;
		assert_int_equal(count(rank, TB_CALL_COLLECTIVE), 21);
		for (uint32_t i = 0; i < 21; i++) {
			const struct tb_call *of = nth(rank, TB_CALL_COLLECTIVE, i);
			*(of->op == TB_COLL_ALLREDUCE ? &reduced : &sent) += of->bytes;
		}
		assert_int_equal(reduced, 306684384);
		assert_int_equal(sent, 638712);
	}
}

// param-resnet_2gpu_et: an execution trace of rank 1 of the same program.
static void an_execution_trace_is_a_rank_of_the_same_job(void **state)
{
	(void)state;
	static char profile[4096], trace[4096];
	const char *made, *paths[] = {trace, profile};
	if (!real_input(profile, "kineto/hta-nccl_data.json.gz") ||
		!real_input(trace, "kineto/param-resnet_2gpu_et.json.gz"))
		skip();
	tb_calls_free(calls);
	calls = NULL;
	assert_int_equal(
		tb_kineto_read(&calls, &reading, paths, 1, &made, &error), TB_EFORMAT);
	assert_refused(
		TB_EFORMAT, "of a job with 2 ranks, of which there is no profile of 0");
	assert_int_equal(
		tb_kineto_read(&calls, &reading, paths, 2, &made, &error), TB_OK);
	for (uint32_t i = 0; i < 21; i++) {
		const struct tb_call *one = nth(0, TB_CALL_COLLECTIVE, i);
		const struct tb_call *other = nth(1, TB_CALL_COLLECTIVE, i);
		assert_int_equal(one->op, other->op);
		assert_int_equal(one->bytes, other->bytes);
		assert_int_equal(one->group, other->group);
	}
	assert_note("an execution trace has no times");
}

static void execution_traces_name_partners_within_their_group(void **state)
{
	(void)state;
	put("rank0.json",
		"{\"schema\": \"1.1.0-chakra.0.0.4\", \"pid\": 1, \"nodes\": ["
		"{\"id\": 4, \"name\": \"## process_group:init ##\", \"inputs\": "
		"{\"values\": [\"[{\\\"pg_name\\\": \\\"0\\\", \\\"group_size\\\": "
		"3}]\"]}},"
		"{\"id\": 5, \"name\": \"record_param_comms\", \"inputs\": {\"values\": "
		"[[], 7, [\"0\", \"\"], 2, \"send\", [], []]}, \"attrs\": ["
		"{\"name\": \"collective_name\", \"value\": \"send\"}, "
		"{\"name\": \"dtype\", \"value\": \"Half\"}, "
		"{\"name\": \"in_msg_nelems\", \"value\": 9}, "
		"{\"name\": \"pg_name\", \"value\": \"0\"}, "
		"{\"name\": \"pg_size\", \"value\": 3}]}]}");
	begin();
	end("rank1.json", 1, 3);
	end("rank2.json", 2, 3);
	assert_read("", NULL);
	const struct tb_call *send = nth(0, TB_CALL_SEND, 0);
	assert_int_equal(send->peer, 2);
	assert_int_equal(send->bytes, 18);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		IN_FOLDER(sizes_are_elements_times_their_type),
		IN_FOLDER(split_sizes_divide_an_alltoall),
		IN_FOLDER(a_group_of_messages_is_one_kernel),
		IN_FOLDER(old_kernels_find_their_operation_by_id),
		IN_FOLDER(the_kernels_of_one_id_are_one_call),
		IN_FOLDER(kernels_of_unknown_size_are_refused_or_left_out),
		IN_FOLDER(cloned_ranks_have_groups_of_their_own),
		IN_FOLDER(ranks_that_use_a_group_are_its_members),
		IN_FOLDER(groups_are_those_of_the_profile_s_list),
		IN_FOLDER(numbers_of_ranks_have_a_limit),
		IN_FOLDER(profiles_must_be_of_one_job),
		IN_FOLDER(names_tell_rank_and_host),
		IN_FOLDER(numbers_may_have_exponents),
		IN_FOLDER(the_library_is_that_of_the_profile),
		IN_FOLDER(gloo_s_operations_are_calls_over_sockets),
		IN_FOLDER(broken_profiles_are_refused_with_their_place),
		IN_FOLDER(values_may_nest_and_be_long_but_not_too_long),
		IN_FOLDER(a_cut_archive_is_reported_as_such),
		IN_FOLDER(what_is_whole_of_a_profile_is_taken),
		IN_FOLDER(a_real_profile_has_its_known_figures),
		IN_FOLDER(an_execution_trace_is_a_rank_of_the_same_job),
		IN_FOLDER(execution_traces_name_partners_within_their_group),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

// Chakra traces become the calls of their ranks. The real trace is a ring all-reduce of
// 1 MiB in 8 ranks, each of which sends 14 pieces of 128 KiB to the next and adds up 7.
#include "chakra.h"
#include "trace_folder.h"

static int read_with(const char *name, const struct tb_reading *with)
{
	const char *paths[] = {in_folder(name)};
	const char *made = NULL;
	int status = tb_chakra_read(&calls, with, paths, 1, &made, &error);
	if (status == TB_OK)
		assert_string_equal(made, "nccl");
	else
		assert_null(calls);
	return status;
}

static void read_it(const char *name)
{
	if (read_with(name, NULL) != TB_OK)
		fail_msg("%s: %s", error.file, error.text);
}

static const struct tb_call *call(uint32_t rank, uint32_t index)
{
	uint32_t n;
	const struct tb_call *found = tb_calls_of(calls, rank, &n);
	assert_true(index < n);
	return &found[index];
}

static uint32_t n_calls(uint32_t rank)
{
	uint32_t n;
	(void)tb_calls_of(calls, rank, &n);
	return n;
}

static bool noted(const char *part)
{
	const char *note;
	for (size_t i = 0; (note = tb_calls_note_at(calls, i)); i++)
		if (strstr(note, part))
			return true;
	return false;
}

static void check_ring(uint32_t rank)
{
	uint32_t n, n_before, n_sends = 0, n_recvs = 0;
	uint64_t calc_ns = 0;
	const struct tb_call *of = tb_calls_of(calls, rank, &n);
	assert_int_equal(n, 35);
	for (uint32_t i = 0; i < n; i++) {
		assert_int_equal(of[i].lane, 0); // it is one chain
		(void)tb_calls_befores(calls, rank, i, &n_before);
		assert_int_equal(n_before, 0);
		calc_ns += of[i].calc_ns;
		if (of[i].kind == TB_CALL_JOINT)
			continue;
		assert_int_equal(of[i].bytes, 131072);
		bool sends = of[i].kind == TB_CALL_SEND;
		assert_int_equal(of[i].peer, (rank + (sends ? 1 : 7)) % 8);
		n_sends += sends;
		n_recvs += !sends;
	}
	assert_int_equal(n_sends, 14);
	assert_int_equal(n_recvs, 14);
	assert_int_equal(calc_ns, 7 * 7000);
}

static void a_ring_sends_what_its_files_hold(void **state)
{
	(void)state;
	char path[4096];
	const char *paths[] = {path};
	const char *source = getenv("TB_SOURCE"), *made;
	// By its folder, and by any of its files.
	for (int i = 0; i < 2; i++) {
		snprintf(path, sizeof path, "%s/tests/data/ring8%s",
			source ? source : ".", i ? "/custom_allreduce.3.et.zst" : "");
		if (tb_chakra_read(&calls, NULL, paths, 1, &made, &error) != TB_OK)
			fail_msg("%s: %s", error.file, error.text);
		assert_int_equal(tb_calls_n_ranks(calls), 8);
		for (uint32_t rank = 0; rank < 8; rank++)
			check_ring(rank);
		assert_string_equal(tb_calls_note_at(calls, 0),
			"224 nodes of communication without start and duration: no "
			"replay "
			"is compared with them");
		assert_null(tb_calls_note_at(calls, 1));
		tb_calls_free(calls);
		calls = NULL;
	}
}

static void a_node_waits_for_all_that_it_depends_on(void **state)
{
	(void)state;
	uint32_t n;
	// 3 joins the chains of 1 and 2, and is listed before them.
	put("a.0.json",
		"{\"version\": \"0.0.4\"}"
		"{\"id\": \"3\", \"name\": \"c\", \"type\": \"COMP_NODE\", \"dataDeps\": "
		"[\"1\", "
		"\"2\"], \"durationMicros\": \"5\"}"
		"{\"id\": \"1\", \"type\": \"COMP_NODE\", \"durationMicros\": \"2\"}"
		"{\"id\": \"2\", \"type\": \"COMP_NODE\", \"durationMicros\": \"3\"}");
	read_it("a.0.json");
	assert_int_equal(n_calls(0), 4);
	assert_int_equal(call(0, 0)->calc_ns, 2000);
	assert_int_equal(call(0, 1)->calc_ns, 3000);
	assert_int_not_equal(call(0, 0)->lane, call(0, 1)->lane);
	// A joint in the lane of 2 waits for 1, and then it computes.
	assert_int_equal(call(0, 2)->calc_ns, 0);
	assert_int_equal(call(0, 2)->lane, call(0, 1)->lane);
	const uint32_t *on = tb_calls_befores(calls, 0, 2, &n);
	assert_int_equal(n, 1);
	assert_int_equal(on[0], 0);
	assert_int_equal(call(0, 3)->calc_ns, 5000);
	assert_int_equal(call(0, 3)->lane, call(0, 1)->lane);
}

static void collectives_have_the_sizes_of_calls(void **state)
{
	(void)state;
	for (int rank = 0; rank < 4; rank++) {
		char name[20];
		snprintf(name, sizeof name, "x.%d.json", rank);
		put(name, "{\"workload_graph\": ["
			  "{\"Id\": 0, \"NodeType\": 7, \"data_deps\": [], "
			  "\"comm_type\": 6, "
			  "\"comm_size\": 4096, \"is_cpu_op\": false},"
			  "{\"Id\": 1, \"NodeType\": 7, \"data_deps\": [0], "
			  "\"comm_type\": 7, "
			  "\"comm_size\": 4096},"
			  "{\"Id\": 2, \"NodeType\": 7, \"data_deps\": [1], "
			  "\"comm_type\": 9}"
			  "], \"ngpus\": 4}");
	}
	read_it("x.0.json");
	assert_int_equal(tb_calls_n_ranks(calls), 4);
	assert_int_equal(call(2, 0)->op, TB_COLL_ALLTOALL);
	assert_int_equal(call(2, 0)->bytes, 1024); // for each
	assert_int_equal(call(2, 1)->op, TB_COLL_REDUCE_SCATTER);
	assert_int_equal(call(2, 1)->bytes, 4096); // the whole vector
	assert_int_equal(call(2, 2)->op, TB_COLL_BARRIER);
	assert_int_equal(n_calls(2), 3);
	assert_true(noted("12 collectives without a process group"));
}

#define NODE(id, rest) "{\"id\": \"" #id "\", \"type\": \"COMM_COLL_NODE\"" rest "}"
#define ATTRIBUTES(group)                                                                \
	", \"attr\": [{\"name\": \"comm_type\", \"int64Val\": \"0\"}, "                  \
	"{\"name\": \"comm_size\", \"int64Val\": \"64\"}, "                              \
	"{\"name\": \"pg_name\", \"stringVal\": \"" group "\"}]"

static void groups_have_the_ranks_that_call_in_them(void **state)
{
	(void)state;
	put("g.0.json", "{}" NODE(0, ATTRIBUTES("even")));
	put("g.1.json", "{}" NODE(0, ATTRIBUTES("odd")));
	put("g.2.json", "{}" NODE(0, ATTRIBUTES("even")));
	read_it("g.2.json");
	struct tb_group even = tb_calls_members(calls, call(2, 0)->group);
	assert_int_equal(even.n, 2);
	assert_int_equal(even.members[1], 2);
	assert_int_equal(tb_calls_members(calls, call(1, 0)->group).n, 1);
	assert_true(noted("process group 'even'"));
}

static void groups_have_the_ranks_that_a_file_lists(void **state)
{
	(void)state;
	put("comm_group.json", "{\"even\": [2, 0], \"odd\": [1]}");
	put("g.0.json", "{}" NODE(0, ATTRIBUTES("even")));
	put("g.1.json", "{}" NODE(0, ATTRIBUTES("odd")));
	put("g.2.json", "{}" NODE(0, ATTRIBUTES("even")));
	read_it("g.2.json");
	assert_int_equal(tb_calls_members(calls, call(2, 0)->group).members[0], 2);
	assert_true(noted("of communication without start and duration"));
	assert_null(tb_calls_note_at(calls, 1));
	tb_calls_free(calls);
	calls = NULL;
	put("g.1.json", "{}" NODE(0, ATTRIBUTES("even")));
	assert_int_equal(read_with("g.0.json", NULL), TB_EFORMAT);
	assert_non_null(
		strstr(error.text, "process group 'even', in which rank 1 is not"));
}

static void groups_have_the_ranks_that_pytorch_lists(void **state)
{
	(void)state;
	const char *list =
		"{}{\"id\": \"7\", \"name\": \"## process_group:init ##\", \"type\": "
		"\"METADATA_NODE\", \"inputs\": {\"values\": \"[['[{\\\"pg_name\\\": "
		"\\\"0\\\", \\\"ranks\\\": [], \\\"group_size\\\": 2}, {\\\"pg_name\\\": "
		"\\\"1\\\", \\\"ranks\\\": [1, 0]}]']]\"}}" NODE(1, ATTRIBUTES("0"))
			NODE(2, ATTRIBUTES("1"));
	put("p.0.json", list);
	put("p.1.json", list);
	read_it("p.0.json");
	assert_int_equal(n_calls(0), 2);
	assert_int_equal(call(0, 0)->group, 0);
	assert_int_equal(tb_calls_members(calls, call(0, 1)->group).members[0], 1);
	assert_true(noted("of communication without start and duration"));
	assert_null(tb_calls_note_at(calls, 1));
}

static void clones_do_what_the_given_ranks_do(void **state)
{
	(void)state;
	reading = (struct tb_reading){.clone_ranks = 3};
	put("c.0.json",
		"{}{\"id\": \"1\", \"type\": \"COMM_COLL_NODE\", \"attr\": [{\"name\": "
		"\"comm_type\", \"int64Val\": \"0\"}, {\"name\": \"comm_size\", "
		"\"uint64Val\": \"8\"}]}");
	assert_int_equal(read_with("c.0.json", &reading), TB_OK);
	assert_int_equal(tb_calls_n_ranks(calls), 3);
	assert_int_equal(n_calls(2), 1);
	assert_true(noted("1 of 3 ranks"));
	tb_calls_free(calls);
	calls = NULL;
	// As many as there are files is no fault, fewer are.
	const struct tb_reading same = {.clone_ranks = 1};
	assert_int_equal(read_with("c.0.json", &same), TB_OK);
	assert_int_equal(tb_calls_n_ranks(calls), 1);
}

static void what_sends_is_not_cloned(void **state)
{
	(void)state;
	reading = (struct tb_reading){.clone_ranks = 3};
	put("c.0.json",
		"{}{\"id\": \"1\", \"type\": \"COMM_SEND_NODE\", \"attr\": [{\"name\": "
		"\"comm_dst\", \"int32Val\": 1}, {\"name\": \"comm_size\", "
		"\"uint64Val\": \"8\"}]}");
	assert_int_equal(read_with("c.0.json", &reading), TB_EUSAGE);
	assert_non_null(strstr(error.text, "sends or receives"));
	// Nor does a job of one rank have a rank to send to.
	assert_int_equal(read_with("c.0.json", NULL), TB_EUSAGE);
	assert_non_null(strstr(error.text, "rank 1 of 1"));
}

// Of the present schema: metadata with a version, a computation of 9 us, and an
// all-to-all of 4096 bytes in process group 0 that waits for it, over one dimension.
static const uint8_t present[] = {0x07, 0x0a, 0x05, 0x30, 0x2e, 0x30, 0x2e, 0x34, 0x09,
	0x08, 0x01, 0x12, 0x01, 0x6b, 0x18, 0x04, 0x38, 0x09, 0x4c, 0x08, 0x02, 0x18,
	0x07, 0x2a, 0x01, 0x01, 0x52, 0x0d, 0x0a, 0x09, 0x63, 0x6f, 0x6d, 0x6d, 0x5f,
	0x74, 0x79, 0x70, 0x65, 0x48, 0x06, 0x52, 0x0e, 0x0a, 0x09, 0x63, 0x6f, 0x6d,
	0x6d, 0x5f, 0x73, 0x69, 0x7a, 0x65, 0x68, 0x80, 0x20, 0x52, 0x0d, 0x0a, 0x07,
	0x70, 0x67, 0x5f, 0x6e, 0x61, 0x6d, 0x65, 0xea, 0x01, 0x01, 0x30, 0x52, 0x15,
	0x0a, 0x0c, 0x69, 0x6e, 0x76, 0x6f, 0x6c, 0x76, 0x65, 0x64, 0x5f, 0x64, 0x69,
	0x6d, 0xe2, 0x01, 0x04, 0x0a, 0x02, 0x01, 0x00};

// Of that of August 2023: metadata with an attribute, a computation of 9 us, and an
// all-to-all (number 1 then) of 128 bytes that waits for it.
static const uint8_t old[] = {0x07, 0x0a, 0x05, 0x0a, 0x01, 0x76, 0x10, 0x04, 0x13, 0x08,
	0x01, 0x18, 0x04, 0x5a, 0x0d, 0x0a, 0x07, 0x72, 0x75, 0x6e, 0x74, 0x69, 0x6d,
	0x65, 0x10, 0x03, 0x38, 0x09, 0x29, 0x08, 0x02, 0x18, 0x07, 0x20, 0x01, 0x5a,
	0x0f, 0x0a, 0x09, 0x63, 0x6f, 0x6d, 0x6d, 0x5f, 0x74, 0x79, 0x70, 0x65, 0x10,
	0x03, 0x38, 0x01, 0x5a, 0x10, 0x0a, 0x09, 0x63, 0x6f, 0x6d, 0x6d, 0x5f, 0x73,
	0x69, 0x7a, 0x65, 0x10, 0x02, 0x30, 0x80, 0x01};

static void both_schemas_of_protobuf_are_read(void **state)
{
	(void)state;
	put_bytes("m.0.et", old, sizeof old);
	read_it("");
	assert_int_equal(n_calls(0), 2);
	assert_int_equal(call(0, 0)->calc_ns, 9000);
	assert_int_equal(call(0, 1)->op, TB_COLL_ALLTOALL);
	assert_int_equal(call(0, 1)->bytes, 128);
	tb_calls_free(calls);
	calls = NULL;
	put_bytes("m.0.et", present, sizeof present);
	put_bytes("m.1.et", present, sizeof present);
	read_it("");
	assert_int_equal(call(1, 0)->calc_ns, 9000);
	assert_int_equal(call(1, 1)->op, TB_COLL_ALLTOALL);
	assert_int_equal(call(1, 1)->bytes, 2048);
	assert_true(noted("2 collectives over some dimensions"));
}

// The old schema numbers operations otherwise; the byte before the size's attribute has
// the number.
static void numbers_and_operations_are_checked_in_the_old_schema_too(void **state)
{
	(void)state;
	static const uint8_t ops[] = {TB_COLL_ALLREDUCE, TB_COLL_ALLTOALL,
		TB_COLL_ALLGATHER, TB_COLL_REDUCE_SCATTER, TB_COLL_BROADCAST};
	uint8_t changed[sizeof old];
	const size_t at = sizeof old - 19;
	memcpy(changed, old, sizeof old);
	assert_int_equal(old[at], 1);
	for (uint8_t i = 0; i < sizeof ops; i++) {
		changed[at] = i;
		put_bytes("m.0.et", changed, sizeof changed);
		read_it("m.0.et");
		assert_int_equal(call(0, 1)->op, ops[i]);
		assert_int_equal(call(0, 1)->bytes, 128);
		tb_calls_free(calls);
		calls = NULL;
	}
	changed[at] = sizeof ops;
	put_bytes("m.0.et", changed, sizeof changed);
	assert_int_equal(read_with("m.0.et", NULL), TB_EFORMAT);
	assert_non_null(strstr(error.text, "comm_type of 5: expected 0 to 4"));
}

static void only_short_numbers_are_ranks(void **state)
{
	(void)state;
	put_bytes("m.0.et", old, sizeof old);
	put_bytes("m.123456789.et", old, sizeof old);
	put_bytes("m..et", old, sizeof old);
	read_it("");
	assert_int_equal(tb_calls_n_ranks(calls), 1);
}

static void damage_is_reported_by_its_place(void **state)
{
	(void)state;
	put_bytes("m.0.et", old, sizeof old - 1);
	assert_int_equal(read_with("m.0.et", NULL), TB_EFORMAT);
	assert_non_null(strstr(error.text, "ends within a message"));
	assert_int_equal(error.at, 28);
	put_bytes("m.0.et", "\x02\x08\x01", 3);
	assert_int_equal(read_with("m.0.et", NULL), TB_EFORMAT);
	assert_non_null(strstr(error.text, "older than August 2023"));
	put_bytes("m.0.et", "\x01\x0a\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff", 13);
	assert_int_equal(read_with("m.0.et", NULL), TB_EFORMAT);
	put("n.0.json", "{\"id\": \"1\", \"type\": \"COMP_NODE\"");
	assert_int_equal(read_with("n.0.json", NULL), TB_EFORMAT);
}

static void circles_are_named(void **state)
{
	(void)state;
	put("o.0.json",
		"{}{\"id\": \"1\", \"type\": \"COMP_NODE\", \"dataDeps\": [\"3\"]}"
		"{\"id\": \"2\", \"type\": \"COMP_NODE\", \"dataDeps\": [\"1\"]}"
		"{\"id\": \"3\", \"type\": \"COMP_NODE\", \"dataDeps\": [\"2\"]}");
	assert_int_equal(read_with("o.0.json", NULL), TB_EDEADLOCK);
	assert_string_equal(error.text, "3 nodes wait for each other: 1, 3, 2");
	put("o.0.json",
		"{}{\"id\": \"5\", \"type\": \"COMP_NODE\", \"dataDeps\": [\"5\"]}");
	assert_int_equal(read_with("o.0.json", NULL), TB_EDEADLOCK);
	assert_string_equal(error.text, "node 5 waits for itself");
}

// Eleven nodes in a circle, behind one that is not in it: eight are named.
static void long_circles_are_cut_short(void **state)
{
	(void)state;
	char text[2000];
	int n = snprintf(text, sizeof text,
		"{}{\"id\": \"99\", \"type\": \"COMP_NODE\", \"dataDeps\": [\"1\"]}");
	for (int i = 1; i <= 11; i++)
		n += snprintf(text + n, sizeof text - (size_t)n,
			"{\"id\": \"%d\", \"type\": \"COMP_NODE\", \"dataDeps\": "
			"[\"%d\"]}",
			i, i % 11 + 1);
	put("o.0.json", text);
	assert_int_equal(read_with("o.0.json", NULL), TB_EDEADLOCK);
	assert_string_equal(
		error.text, "11 nodes wait for each other: 1, 2, 3, 4, 5, 6, 7, 8, ...");
}

// Dependencies that are there stay when others are dropped: nodes 2 and 3 are a chain.
static void what_is_known_stays_when_the_rest_is_dropped(void **state)
{
	(void)state;
	const struct tb_reading lenient = {.lenient = true};
	put("u.0.json",
		"{}{\"id\": \"2\", \"type\": \"COMP_NODE\", \"dataDeps\": [\"1\", "
		"\"8\"], \"durationMicros\": \"2\"}"
		"{\"id\": \"3\", \"type\": \"COMP_NODE\", \"dataDeps\": [\"9\", \"2\"], "
		"\"durationMicros\": \"3\"}"
		"{\"id\": \"1\", \"type\": \"COMP_NODE\", \"durationMicros\": \"1\"}");
	assert_int_equal(read_with("u.0.json", &lenient), TB_OK);
	assert_true(noted("2 dependencies on nodes that the files do not have"));
	assert_int_equal(n_calls(0), 3);
	for (uint32_t i = 0; i < 3; i++) {
		assert_int_equal(call(0, i)->calc_ns, 1000 * (i + 1));
		assert_int_equal(call(0, i)->lane, 0);
	}
}

// Node 2 takes no time and becomes no call; node 3 goes on behind node 1. Node 5 takes
// none either, but joins two.
static void nodes_without_time_pass_on_what_they_wait_for(void **state)
{
	(void)state;
	uint32_t n;
	put("z.0.json",
		"{}{\"id\": \"1\", \"type\": \"COMP_NODE\", \"durationMicros\": \"1\"}"
		"{\"id\": \"2\", \"type\": \"COMP_NODE\", \"dataDeps\": [\"1\"]}"
		"{\"id\": \"3\", \"type\": \"COMP_NODE\", \"dataDeps\": [\"2\", \"1\"], "
		"\"durationMicros\": \"3\"}"
		"{\"id\": \"4\", \"type\": \"COMP_NODE\", \"durationMicros\": \"4\"}"
		"{\"id\": \"5\", \"type\": \"COMP_NODE\", \"dataDeps\": [\"3\", \"4\"]}"
		"{\"id\": \"6\", \"type\": \"COMP_NODE\", \"dataDeps\": [\"5\"], "
		"\"durationMicros\": \"6\"}");
	read_it("z.0.json");
	assert_int_equal(n_calls(0), 5);
	assert_int_equal(call(0, 1)->calc_ns, 3000);
	assert_int_equal(call(0, 1)->lane, call(0, 0)->lane);
	(void)tb_calls_befores(calls, 0, 1, &n);
	assert_int_equal(n, 0);
	assert_int_equal(call(0, 3)->calc_ns, 0);
	(void)tb_calls_befores(calls, 0, 3, &n);
	assert_int_equal(n, 1);
	assert_int_equal(call(0, 4)->calc_ns, 6000);
	assert_int_equal(call(0, 4)->lane, call(0, 3)->lane);
}

static void loads_stores_and_kernels_take_time(void **state)
{
	(void)state;
	put("t.json",
		"{}{\"id\": \"1\", \"type\": \"MEM_LOAD_NODE\", \"durationMicros\": "
		"\"1\"}"
		"{\"id\": \"2\", \"type\": \"MEM_STORE_NODE\", \"dataDeps\": [\"1\"], "
		"\"durationMicros\": \"2\"}"
		"{\"id\": \"3\", \"type\": \"METADATA_NODE\", \"dataDeps\": [\"2\"], "
		"\"durationMicros\": \"3\"}"
		"{\"id\": \"4\", \"type\": \"COMP_NODE\", \"dataDeps\": [\"3\"], "
		"\"durationMicros\": \"4\"}");
	// Of a file whose name has no rank it is rank 0.
	read_it("t.json");
	assert_int_equal(tb_calls_n_ranks(calls), 1);
	assert_int_equal(n_calls(0), 3);
	assert_int_equal(call(0, 0)->calc_ns, 1000);
	assert_int_equal(call(0, 1)->calc_ns, 2000);
	assert_int_equal(call(0, 2)->calc_ns, 4000);
}

// Without PyTorch's marks a node waits for control dependencies, too, the first and last.
static void control_dependencies_are_waited_for(void **state)
{
	(void)state;
	uint32_t n;
	put("w.0.json",
		"{}{\"id\": \"1\", \"type\": \"COMP_NODE\", \"durationMicros\": \"1\"}"
		"{\"id\": \"2\", \"type\": \"COMP_NODE\", \"durationMicros\": \"2\"}"
		"{\"id\": \"3\", \"type\": \"COMP_NODE\", \"durationMicros\": \"3\"}"
		"{\"id\": \"4\", \"type\": \"COMP_NODE\", \"dataDeps\": [\"3\"], "
		"\"ctrlDeps\": [\"1\", \"2\"], \"durationMicros\": \"4\"}");
	read_it("w.0.json");
	assert_int_equal(n_calls(0), 5);
	assert_int_equal(call(0, 3)->lane, call(0, 2)->lane);
	const uint32_t *on = tb_calls_befores(calls, 0, 3, &n);
	assert_int_equal(n, 2);
	assert_int_equal(on[0] + on[1], 1);
	assert_int_equal(call(0, 4)->calc_ns, 4000);
}

static void unknown_dependencies_are_refused_or_dropped(void **state)
{
	(void)state;
	const struct tb_reading lenient = {.lenient = true};
	put("u.0.json",
		"{}{\"id\": \"1\", \"type\": \"COMP_NODE\", \"dataDeps\": [\"8\"], "
		"\"durationMicros\": \"1\"}");
	assert_int_equal(read_with("u.0.json", NULL), TB_EFORMAT);
	assert_non_null(strstr(error.text, "node 1 depends on node 8"));
	assert_int_equal(read_with("u.0.json", &lenient), TB_OK);
	assert_int_equal(n_calls(0), 1);
	assert_true(noted("1 dependency on nodes that the files do not have"));
}

static void what_is_whole_of_messages_is_taken(void **state)
{
	(void)state;
	const struct tb_reading lenient = {.lenient = true};
	for (size_t n = 1; n < sizeof old; n++) {
		put_bytes("c.0.et", old, n);
		// It may end between two messages.
		bool is_cut = read_with("c.0.et", NULL) != TB_OK;
		assert_int_equal(is_cut, n != 8 && n != 28);
		assert_true(
			!is_cut || strstr(error.text, "(--lenient takes what is whole)"));
		tb_calls_free(calls);
		calls = NULL;
		assert_int_equal(read_with("c.0.et", &lenient), TB_OK);
		assert_int_equal(n_calls(0), n < 28 ? 0 : 1);
		assert_int_equal(noted("1 file breaks off"), is_cut);
		tb_calls_free(calls);
		calls = NULL;
	}
}

static void what_is_whole_of_json_is_taken(void **state)
{
	(void)state;
	static const char *const texts[] = {
		"{}{\"id\": \"1\", \"type\": \"COMP_NODE\", \"durationMicros\": \"7\"}"
		"{\"id\": \"2\", \"type\": \"COMP_NODE\", \"durationMicros\": \"8",
		"{\"workload_graph\": [{\"Id\": 1, \"NodeType\": 4, "
		"\"DurationMicros\": 7}, {\"Id\": 2, \"NodeType\": 4, "
		"\"DurationMicros\": 8",
	};
	const struct tb_reading lenient = {.lenient = true};
	for (int i = 0; i < 2; i++) {
		put("c.0.json", texts[i]);
		assert_int_equal(read_with("c.0.json", NULL), TB_EFORMAT);
		assert_non_null(strstr(error.text, "(--lenient takes what is whole)"));
		assert_int_equal(read_with("c.0.json", &lenient), TB_OK);
		assert_int_equal(n_calls(0), 1);
		assert_int_equal(call(0, 0)->calc_ns, 7000);
		assert_true(noted("1 file breaks off"));
		tb_calls_free(calls);
		calls = NULL;
	}
	put("c.0.json", "{}{\"id\": nonsense}{\"id\": 2}");
	assert_int_equal(read_with("c.0.json", &lenient), TB_EFORMAT);
	assert_null(strstr(error.text, "--lenient"));
}

static void operators_wait_for_no_caller(void **state)
{
	(void)state;
	// With PyTorch's rf_id, a control dependency is on the caller; without, on what
	// comes before.
	put("t.0.json",
		"{}{\"id\": \"1\", \"type\": \"COMP_NODE\", \"durationMicros\": \"9\", "
		"\"attr\": [{\"name\": \"rf_id\", \"int64Val\": \"4\"}]}"
		"{\"id\": \"2\", \"type\": \"COMP_NODE\", \"ctrlDeps\": [\"1\"], "
		"\"durationMicros\": \"3\"}");
	read_it("t.0.json");
	assert_int_not_equal(call(0, 0)->lane, call(0, 1)->lane);
	tb_calls_free(calls);
	calls = NULL;
	put("t.0.json",
		"{}{\"id\": \"1\", \"type\": \"COMP_NODE\", \"durationMicros\": \"9\"}"
		"{\"id\": \"2\", \"type\": \"COMP_NODE\", \"ctrlDeps\": [\"1\"], "
		"\"durationMicros\": \"3\"}");
	read_it("t.0.json");
	assert_int_equal(call(0, 0)->lane, call(0, 1)->lane);
}

static void operators_that_launch_collectives_compute(void **state)
{
	(void)state;
	put("l.0.json",
		"{\"workload_graph\": [{\"Id\": 4, \"NodeType\": 7, \"data_deps\": "
		"[], \"runtime\": 85, \"is_cpu_op\": true}]}");
	read_it("l.0.json");
	assert_int_equal(n_calls(0), 1);
	assert_int_equal(call(0, 0)->kind, TB_CALL_JOINT);
	assert_int_equal(call(0, 0)->calc_ns, 85000);
}

static void missing_ranks_are_asked_for(void **state)
{
	(void)state;
	put_bytes("m.0.et", old, sizeof old);
	put_bytes("m.2.et", old, sizeof old);
	assert_int_equal(read_with("m.2.et", NULL), TB_EUSAGE);
	assert_non_null(strstr(error.text, "the file of rank 1 is missing"));
	put_bytes("other.0.et", old, sizeof old);
	assert_int_equal(read_with("", NULL), TB_EUSAGE);
	assert_non_null(strstr(error.text, "has several traces"));
}

static void traces_are_recognised_by_their_bytes(void **state)
{
	(void)state;
	struct tb_bytes bytes = {present, sizeof present};
	assert_true(tb_chakra_begins(bytes));
	assert_true(tb_chakra_begins((struct tb_bytes){old, sizeof old}));
	assert_false(
		tb_chakra_begins((struct tb_bytes){(const uint8_t *)"num_ranks 2", 11}));
	assert_false(
		tb_chakra_begins((struct tb_bytes){(const uint8_t *)"{\"a\": 1}", 8}));
	const char *kineto = "{\"schemaVersion\": 1, \"traceEvents\": []}";
	assert_false(tb_chakra_json_begins(
		(struct tb_bytes){(const uint8_t *)kineto, strlen(kineto)}));
	assert_true(tb_chakra_is_named("a/b.c.12.et.gz"));
	assert_false(tb_chakra_is_named("a/b.et"));
}

#define JSON_SEND                                                                        \
	"{\"version\": \"0.0.4\"}{\"id\": \"1\", \"type\": \"COMM_SEND_NODE\", "         \
	"\"dataDeps\": [], \"attr\": [{\"name\": \"comm_dst\", \"int64Val\": \"1\"}, "   \
	"{\"name\": \"comm_size\", \"int64Val\": \"64\"}]}"

static void a_folder_of_json_is_a_trace(void **state)
{
	(void)state;
	put("k.0.json", "{\"schemaVersion\": 1, \"traceEvents\": []}");
	assert_false(tb_chakra_is_folder(folder));
	put("m.0.json", JSON_SEND);
	put("m.1.json", "{\"version\": \"0.0.4\"}");
	assert_true(tb_chakra_is_folder(folder));
	read_it("");
	assert_int_equal(tb_calls_n_ranks(calls), 2);
	assert_int_equal(n_calls(0), 1);
	assert_int_equal(call(0, 0)->bytes, 64);
	tb_calls_free(calls);
	calls = NULL;
	// Beside protobuf it is the same once more.
	put_bytes("old.0.et", old, sizeof old);
	put_bytes("old.1.et", old, sizeof old);
	read_it("");
	assert_int_not_equal(n_calls(1), 0);
}

static void nodes_in_an_array_are_read_and_none_is_no_trace(void **state)
{
	(void)state;
	put("a.0.json", "{\"version\": \"0.0.4\", \"nodes\": [{\"id\": 1, \"type\": "
			"\"COMM_COLL_NODE\", \"data_deps\": [], \"attr\": [{\"name\": "
			"\"comm_type\", \"int64Val\": 0}, {\"name\": \"comm_size\", "
			"\"int64Val\": 1024}]}]}");
	read_it("a.0.json");
	assert_int_equal(n_calls(0), 1);
	assert_int_equal(call(0, 0)->bytes, 1024);
	tb_calls_free(calls);
	calls = NULL;
	put("b.0.json", "{\"version\": \"0.0.4\", \"graph\": [{\"id\": 1, \"type\": "
			"\"COMM_COLL_NODE\"}]}");
	assert_int_equal(read_with("b.0.json", NULL), TB_EFORMAT);
	assert_non_null(strstr(error.text, "has no node"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		IN_FOLDER(a_ring_sends_what_its_files_hold),
		IN_FOLDER(a_node_waits_for_all_that_it_depends_on),
		IN_FOLDER(collectives_have_the_sizes_of_calls),
		IN_FOLDER(groups_have_the_ranks_that_call_in_them),
		IN_FOLDER(groups_have_the_ranks_that_a_file_lists),
		IN_FOLDER(groups_have_the_ranks_that_pytorch_lists),
		IN_FOLDER(clones_do_what_the_given_ranks_do),
		IN_FOLDER(what_sends_is_not_cloned),
		IN_FOLDER(both_schemas_of_protobuf_are_read),
		IN_FOLDER(damage_is_reported_by_its_place),
		IN_FOLDER(circles_are_named),
		IN_FOLDER(long_circles_are_cut_short),
		IN_FOLDER(loads_stores_and_kernels_take_time),
		IN_FOLDER(control_dependencies_are_waited_for),
		IN_FOLDER(what_is_known_stays_when_the_rest_is_dropped),
		IN_FOLDER(nodes_without_time_pass_on_what_they_wait_for),
		IN_FOLDER(only_short_numbers_are_ranks),
		IN_FOLDER(numbers_and_operations_are_checked_in_the_old_schema_too),
		IN_FOLDER(unknown_dependencies_are_refused_or_dropped),
		IN_FOLDER(what_is_whole_of_messages_is_taken),
		IN_FOLDER(what_is_whole_of_json_is_taken),
		IN_FOLDER(operators_wait_for_no_caller),
		IN_FOLDER(operators_that_launch_collectives_compute),
		IN_FOLDER(missing_ranks_are_asked_for),
		IN_FOLDER(traces_are_recognised_by_their_bytes),
		IN_FOLDER(a_folder_of_json_is_a_trace),
		IN_FOLDER(nodes_in_an_array_are_read_and_none_is_no_trace),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

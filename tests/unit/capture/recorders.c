// What recorders of collective calls keep becomes the calls of ranks, and who is behind.
#include "recorders.h"
#include "pickle.h"
#include "trace_folder.h"

static struct tb_facts *facts;

static int set_up(void **state)
{
	facts = NULL;
	return make_folder(state);
}

static int tear_down(void **state)
{
	tb_facts_free(facts);
	return drop_folder(state);
}

static int read_flight(void)
{
	const char *made = "", *path = folder;
	return tb_flight_read(&calls, &reading, &path, 1, &made, &error);
}

static bool has_fact(const char *name, const char *part)
{
	const char *path = folder, *is_name, *is_text;
	tb_facts_free(facts);
	assert_int_equal(tb_facts_new(&facts, &error), TB_OK);
	if (tb_flight_facts(facts, &reading, &path, 1, &error) != TB_OK)
		fail_msg("%s", error.text);
	for (size_t i = 0; tb_facts_at(facts, i, &is_name, &is_text); i++)
		if (strcmp(name, is_name) == 0 && strstr(is_text, part))
			return true;
	return false;
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

#define ENTRY(name, seq, sizes, state)                                                   \
	"{\"profiling_name\": \"nccl:" name "\", \"process_group\": [\"0\", "            \
	"\"default_pg\"], \"collective_seq_id\": " seq ", \"input_sizes\": " sizes       \
	", \"input_dtypes\": [\"Float\"], \"output_sizes\": [], \"output_dtypes\": "     \
	"[], \"state\": \"" state "\"}"
#define DUMP(ranks, entries)                                                             \
	"{\"pg_config\": {\"0\": {\"name\": \"0\", \"desc\": \"default_pg\", "           \
	"\"ranks\": "                                                                    \
	"\"[" ranks "]\"}}, \"entries\": [" entries "]}"

static void each_operation_has_the_bytes_of_calls(void **state)
{
	(void)state;
	static const struct {
		const char *name;
		uint8_t op;
		uint64_t bytes;
	} rows[] = {{"all_reduce", TB_COLL_ALLREDUCE, 400},
		{"_all_gather_base", TB_COLL_ALLGATHER, 400},
		{"reduce_scatter_tensor", TB_COLL_REDUCE_SCATTER, 400},
		{"all_to_all", TB_COLL_ALLTOALL, 200},
		{"broadcast", TB_COLL_BROADCAST, 400}, {"gather", TB_COLL_GATHER, 400},
		{"barrier", TB_COLL_ALLREDUCE, 4}};
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		char text[1000];
		snprintf(text, sizeof text,
			DUMP("0, 1", ENTRY("%s", "1", "[[10, 10]]", "completed")),
			rows[i].name);
		put("t_0", text);
		put("t_1", text);
		if (read_flight() != TB_OK)
			fail_msg("%s", error.text);
		assert_int_equal(n_calls(1), 1);
		assert_int_equal(call(1, 0)->op, rows[i].op);
		assert_int_equal(call(1, 0)->bytes, rows[i].bytes);
		tb_calls_free(calls);
		calls = NULL;
	}
}

// A ring of records: rank 0 has numbers 2 to 4, rank 1 has 1 to 3.
static void what_all_members_have_counts(void **state)
{
	(void)state;
	put("t_0", DUMP("0, 1", ENTRY("all_reduce", "2", "[[2]]", "completed") "," ENTRY(
					"all_reduce", "3", "[[3]]",
					"completed") "," ENTRY("all_reduce", "4", "[[4]]",
					"scheduled")));
	put("t_1", DUMP("0, 1", ENTRY("all_reduce", "1", "[[1]]", "completed") "," ENTRY(
					"all_reduce", "2", "[[2]]",
					"completed") "," ENTRY("all_reduce", "3", "[[3]]",
					"completed")));
	assert_int_equal(read_flight(), TB_OK);
	for (uint32_t rank = 0; rank < 2; rank++) {
		assert_int_equal(n_calls(rank), 2);
		assert_int_equal(call(rank, 0)->bytes, 8);
		assert_int_equal(call(rank, 1)->bytes, 12);
	}
	assert_non_null(
		strstr(tb_calls_note_at(calls, 0), "2 collective calls are left"));
	assert_true(has_fact("behind", "rank 1 has not called allreduce of 16 B, number "
				       "4, in which 1 of 2 waits; "
				       "its last there is allreduce of 12 B, complete"));
}

static void nobody_is_behind_where_all_is_complete(void **state)
{
	(void)state;
	put("t_0", DUMP("0, 1", ENTRY("all_reduce", "1", "[[2]]", "completed")));
	put("t_1", DUMP("0, 1", ENTRY("all_reduce", "1", "[[2]]", "completed")));
	assert_true(has_fact("behind", "nobody"));
	// All came to it, and it does not end.
	put("t_0", DUMP("0, 1", ENTRY("all_reduce", "1", "[[2]]", "started")));
	put("t_1", DUMP("0, 1", ENTRY("all_reduce", "1", "[[2]]", "scheduled")));
	assert_true(has_fact("held up", "number 1, and 2 did not end it (1 began it)"));
	// They called different things.
	put("t_1", DUMP("0, 1", ENTRY("all_reduce", "1", "[[3]]", "scheduled")));
	assert_true(has_fact("mismatch", "as number 1 rank 1 called allreduce of 12 B, "
					 "but rank 0 allreduce of 8 B"));
	assert_false(has_fact("held up", ""));
}

// Ranks at many numbers of a group: the first numbers are listed, the rest counted.
static void of_many_numbers_the_first_are_listed(void **state)
{
	(void)state;
	char ranks[400] = "0";
	for (int i = 1; i < 30; i++)
		snprintf(ranks + strlen(ranks), sizeof ranks - strlen(ranks), ", %d", i);
	for (int i = 0; i < 30; i++) {
		char name[16], text[1000];
		snprintf(name, sizeof name, "t_%d", i);
		snprintf(text, sizeof text,
			DUMP("%s", ENTRY("all_reduce", "%d", "[[2]]", "%s")), ranks,
			100 + i / 2, i < 28 ? "completed" : "scheduled");
		put(name, text);
	}
	assert_true(has_fact("behind", "ranks 0, 1 have not called allreduce of 8 B, "
				       "number 114, in which 2 of 30 wait"));
	assert_false(has_fact("behind", "others at"));
	for (int i = 0; i < 29; i++) {
		char name[16], text[1000];
		snprintf(name, sizeof name, "t_%d", i);
		snprintf(text, sizeof text,
			DUMP("%s", ENTRY("all_reduce", "%d", "[[2]]", "%s")), ranks, i,
			"completed");
		put(name, text);
	}
	assert_true(has_fact("behind", "others at 13 more numbers"));
}

// The number behind the last "rank" that has one, else the last number before the ending.
static void names_of_dumps_give_ranks(void **state)
{
	(void)state;
	static const char *const names[][2] = {{"1_rank0.5", "0_rank1.5"},
		{"rank7_rank-0_t3", "rank7_rank-1_t3"}, {"RANK_0rank", "Rank_1rank"},
		{"rank__0.rank", "rank-_1.rank"}, {"t10x0y.9", "t10x1y.9"}};
	static const char *const dumps[] = {
		DUMP("0, 1", ENTRY("barrier", "1", "[[1]]", "completed")),
		DUMP("0, 1", ENTRY("barrier", "1", "[[7]]", "completed"))};
	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		for (uint32_t k = 0; k < 2; k++)
			put(names[i][k], dumps[k]);
		if (read_flight() != TB_OK)
			fail_msg("%s: %s", names[i][0], error.text);
		tb_calls_free(calls);
		calls = NULL;
		for (uint32_t k = 0; k < 2; k++)
			unlink(in_folder(names[i][k]));
	}
	put("t", dumps[0]);
	assert_int_equal(read_flight(), TB_EFORMAT);
}

static void groups_are_lists_of_different_ranks(void **state)
{
	(void)state;
	put("t_0", DUMP("1, 0", ENTRY("all_reduce", "1", "[[2]]", "completed")));
	put("t_1", DUMP("1, 0", ENTRY("all_reduce", "1", "[[2]]", "completed")));
	assert_int_equal(read_flight(), TB_OK);
	put("t_0", DUMP("1, 0, 1", ENTRY("all_reduce", "1", "[[2]]", "completed")));
	tb_calls_free(calls);
	calls = NULL;
	assert_int_equal(read_flight(), TB_EFORMAT);
	assert_non_null(strstr(error.text, "a group has a rank twice"));
	put("t_0", DUMP("0, 1", ENTRY("all_reduce", "1", "[[2]]", "completed")));
	put("u_0", DUMP("0, 1", ENTRY("all_reduce", "1", "[[2]]", "completed")));
	assert_int_equal(read_flight(), TB_EFORMAT);
	assert_non_null(strstr(error.text, "is of rank 0, as"));
}

static int unpickle(const char *bytes, size_t n, json_t **value)
{
	*value = NULL;
	return tb_pickle_read(
		value, (struct tb_bytes){(const uint8_t *)bytes, n}, "p", &error);
}

#define UNPICKLE(text, value) unpickle(text, sizeof(text) - 1, value)

static void pickles_have_the_values_of_json(void **state)
{
	(void)state;
	json_t *value;
	// {"a": [1, -2, 2.5, None, True], 7: ("b", "b")}, as Python writes it.
	assert_int_equal(UNPICKLE("\x80\x02}q\x00(X\x01\x00\x00\x00"
				  "aq\x01]q\x02(K\x01J"
				  "\xfe\xff\xff\xffG@\x04\x00\x00\x00\x00\x00\x00N\x88"
				  "eK\x07X\x01\x00\x00\x00"
				  "bq\x03h\x03\x86q\x04u.",
				 &value),
		TB_OK);
	char *text = json_dumps(value, JSON_SORT_KEYS);
	assert_string_equal(
		text, "{\"7\": [\"b\", \"b\"], \"a\": [1, -2, 2.5, null, true]}");
	free(text);
	json_decref(value);
	// Numbers of protocol 4, with a sign and too large.
	assert_int_equal(
		UNPICKLE("\x80\x04]\x94(\x8a\x02\x00\xff\x8a\x05\x00\x00\x00\x00\x01"
			 "e.",
			&value),
		TB_OK);
	assert_int_equal(json_integer_value(json_array_get(value, 0)), -256);
	assert_int_equal(
		json_integer_value(json_array_get(value, 1)), INT64_C(4294967296));
	json_decref(value);
}

static void pickles_call_nothing_and_hold_no_circles(void **state)
{
	(void)state;
	json_t *value;
	// os.system("ls") is the text "ls".
	assert_int_equal(UNPICKLE("\x80\x02"
				  "cos\nsystem\nX\x02\x00\x00\x00ls\x85R.",
				 &value),
		TB_OK);
	assert_string_equal(json_string_value(value), "ls");
	json_decref(value);
	// A list that is put into itself holds a copy of what it had.
	assert_int_equal(UNPICKLE("\x80\x02]q\x00h\x00"
				  "ah\x00"
				  "a.",
				 &value),
		TB_OK);
	char *text = json_dumps(value, 0);
	assert_string_equal(text, "[[], [[]]]");
	free(text);
	json_decref(value);
	// Tuples within tuples, and a list that doubles.
	char deep[400];
	memset(deep, 0x85, sizeof deep);
	memcpy(deep, "\x80\x02N", 3);
	assert_int_equal(unpickle(deep, sizeof deep, &value), TB_EFORMAT);
	assert_non_null(strstr(error.text, "128"));
	char twice[2 + 60 * 3 + 4];
	memcpy(twice, "\x80\x02]q\x00", 5);
	size_t n = 5;
	for (int i = 0; i < 40; i++, n += 3)
		memcpy(twice + n,
			"h\x00"
			"a",
			3);
	assert_int_equal(unpickle(twice, n, &value), TB_EFORMAT);
	assert_non_null(strstr(error.text, "stored twice"));
}

static void cut_pickles_are_refused(void **state)
{
	(void)state;
	static const char whole[] = "\x80\x02}q\x00(X\x01\x00\x00\x00"
				    "aq\x01]q\x02(K\x01J"
				    "\xfe\xff\xff\xff"
				    "eu.";
	json_t *value;
	for (size_t n = 2; n + 1 < sizeof whole; n++)
		assert_int_equal(unpickle(whole, n, &value), TB_EFORMAT);
	assert_int_equal(unpickle(whole, sizeof whole - 1, &value), TB_OK);
	json_decref(value);
	assert_int_equal(UNPICKLE("\x80\x02u.", &value), TB_EFORMAT);
	assert_int_equal(UNPICKLE("\x80\x02K\x01(K\x02u.", &value), TB_EFORMAT);
	assert_int_equal(UNPICKLE("\x80\x02h\x07.", &value), TB_EFORMAT);
}

#define RECORD(comm, rank, n, pid, coll)                                                 \
	"{\"header\": {\"id\": \"" comm "\", \"rank\": " rank ", \"n_ranks\": " n        \
	"}, \"metadata\": {\"hostname\": \"h\", \"pid\": " pid                           \
	"}, \"coll_perf\": {\"coll\": \"" coll "\", \"coll_sn\": 1, "                    \
	"\"coll_msg_size_bytes\": 64, \"coll_exec_time_us\": 5}}\n"

static int read_records(void)
{
	const char *made = "", *path = folder;
	return tb_nccl_records_read(&calls, &reading, &path, 1, &made, &error);
}

static void ranks_are_places_in_the_largest_communicator(void **state)
{
	(void)state;
	// The small communicator has ranks 2 and 1 of the large one.
	put("a", RECORD("0xa", "0", "3", "1", "AllReduce"));
	put("b", RECORD("0xb", "1", "2", "2", "ReduceScatter")
			 RECORD("0xa", "1", "3", "2", "AllReduce"));
	put("c", RECORD("0xa", "2", "3", "3", "AllReduce")
			 RECORD("0xb", "0", "2", "3", "ReduceScatter"));
	if (read_records() != TB_OK)
		fail_msg("%s", error.text);
	assert_int_equal(tb_calls_n_ranks(calls), 3);
	assert_int_equal(n_calls(0), 1);
	assert_int_equal(n_calls(1), 2);
	const struct tb_call *scatter =
		call(1, 0)->op == TB_COLL_REDUCE_SCATTER ? call(1, 0) : call(1, 1);
	assert_int_equal(scatter->op, TB_COLL_REDUCE_SCATTER);
	assert_int_equal(scatter->bytes, 128); // 64 are one rank's block
	struct tb_group group = tb_calls_members(calls, scatter->group);
	assert_int_equal(group.n, 2);
	assert_int_equal(group.members[0], 2);
	assert_int_equal(group.members[1], 1);
	tb_calls_free(calls);
	calls = NULL;
	// Who is it that has two GPUs, and which of them is in the small one?
	put("c", RECORD("0xa", "2", "3", "2", "AllReduce")
			 RECORD("0xb", "0", "2", "3", "ReduceScatter"));
	assert_int_equal(read_records(), TB_EFORMAT);
	assert_non_null(strstr(error.text, "which rank it is here is not known"));
}

static void sums_beyond_a_job_are_refused(void **state)
{
	(void)state;
	put("a", RECORD("0xa", "0", "2", "1", "ReduceScatter")
			 RECORD("0xb", "0", "1048575", "1", "AllReduce"));
	assert_int_equal(read_records(), TB_EFORMAT);
	assert_non_null(strstr(error.text, "recorded calls: give the files of all"));
	char text[40000];
	size_t n = 0;
	for (int i = 0; i < 6; i++)
		n += (size_t)snprintf(text + n, sizeof text - n,
			RECORD("0x%d", "0", "1048575", "1", "AllReduce"), i);
	put("a", text);
	assert_int_equal(read_records(), TB_EFORMAT);
	assert_non_null(
		strstr(error.text, "6291450 ranks in all, and there are 6 calls"));
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		TEST(each_operation_has_the_bytes_of_calls),
		TEST(what_all_members_have_counts),
		TEST(of_many_numbers_the_first_are_listed),
		TEST(names_of_dumps_give_ranks),
		TEST(groups_are_lists_of_different_ranks),
		TEST(nobody_is_behind_where_all_is_complete),
		TEST(pickles_have_the_values_of_json),
		TEST(pickles_call_nothing_and_hold_no_circles),
		TEST(cut_pickles_are_refused),
		TEST(ranks_are_places_in_the_largest_communicator),
		TEST(sums_beyond_a_job_are_refused),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

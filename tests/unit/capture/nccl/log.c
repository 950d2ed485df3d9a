// Logs of NCCL become the calls of their ranks, and what they tell beside these.
#include "nccl_log.h"
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

static int read_folder(void)
{
	const char *made = "", *path = folder;
	int status = tb_nccl_read(&calls, &reading, &path, 1, &made, &error);
	if (status == TB_OK)
		assert_string_equal(made, "nccl");
	else
		assert_null(calls);
	return status;
}

static int read_it(const char *text)
{
	put("log", text);
	return read_folder();
}

static void read_well(const char *text)
{
	if (read_it(text) != TB_OK)
		fail_msg("line %d: %s", (int)error.at, error.text);
}

static void refuses(const char *text, const char *sentence)
{
	assert_int_equal(read_it(text), TB_EFORMAT);
	if (!strstr(error.text, sentence))
		fail_msg("%s", error.text);
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

static bool has_fact(const char *name, const char *text)
{
	const char *path = folder, *is_name, *is_text;
	tb_facts_free(facts);
	facts = NULL;
	assert_int_equal(tb_facts_new(&facts, &error), TB_OK);
	if (tb_nccl_facts(facts, &reading, &path, 1, &error) != TB_OK)
		fail_msg("%s", error.text);
	for (size_t i = 0; tb_facts_at(facts, i, &is_name, &is_text); i++)
		if (strcmp(name, is_name) == 0 && strcmp(text, is_text) == 0)
			return true;
	return false;
}

#define A "a:1:1 [0] NCCL INFO "
#define B "b:2:2 [0] NCCL INFO "
#define INIT(line, comm, rank, n)                                                        \
	line "comm 0x" comm " rank " rank " nranks " n                                   \
	     " cudaDev 0 busId 1a - Init COMPLETE\n"
#define CALL(line, name, count, type, root, comm, n)                                     \
	line name ": opCount 0 sendbuff 0x1 recvbuff (nil) count " count                 \
		  " datatype " type " op 0 root " root " comm 0x" comm " [nranks=" n     \
		  "] stream 0x7\n"
#define TWO INIT(A, "a1", "0", "2") INIT(B, "b1", "1", "2")

static void test_ranks_are_those_of_the_communicator(void **state)
{
	(void)state;
	read_well(INIT(B, "b1", "0", "2") INIT(A, "a1", "1", "2")
			CALL(A, "AllReduce", "10", "7", "0", "a1", "2")
				CALL(B, "AllReduce", "10", "7", "0", "b1", "2"));
	assert_int_equal(tb_calls_n_ranks(calls), 2);
	assert_string_equal(tb_calls_host_of(calls, 0), "b");
	assert_string_equal(tb_calls_host_of(calls, 1), "a");
	assert_int_equal(call(0, 0)->kind, TB_CALL_COLLECTIVE);
	assert_int_equal(call(0, 0)->op, TB_COLL_ALLREDUCE);
	assert_int_equal(call(0, 0)->bytes, 40);
}

static void test_sizes_are_those_of_the_calls(void **state)
{
	(void)state;
	read_well(TWO CALL(A, "ReduceScatter", "10", "9", "0", "a1", "2") CALL(
		A, "AllGather", "10", "0", "0", "a1", "2") CALL(A, "Broadcast", "10", "8",
		"1", "a1", "2") CALL(B, "ReduceScatter", "10", "9", "0", "b1", "2")
			CALL(B, "AllGather", "10", "0", "0", "b1", "2")
				CALL(B, "Broadcast", "10", "8", "1", "b1", "2"));
	assert_int_equal(call(0, 0)->bytes, 40); // the whole vector, of halves
	assert_int_equal(call(0, 1)->bytes, 10); // a block
	assert_int_equal(call(1, 2)->bytes, 80);
	assert_int_equal(call(1, 2)->peer, 1);
}

static void test_messages_of_a_group_go_at_once(void **state)
{
	(void)state;
	uint32_t n;
	read_well(TWO CALL(A, "Send", "8", "0", "1", "a1", "2") CALL(A, "Recv", "9", "0",
		"1", "a1", "2") CALL(A, "Send", "7", "0", "1", "a1", "2") CALL(B, "Send",
		"9", "0", "0", "b1", "2") CALL(B, "Recv", "8", "0", "0", "b1", "2")
			CALL(B, "Recv", "7", "0", "0", "b1", "2"));
	// A second send to the same rank begins another group.
	assert_int_equal(n_calls(0), 5);
	assert_int_equal(call(0, 0)->kind, TB_CALL_SEND);
	assert_true(call(0, 0)->starts);
	assert_int_equal(call(0, 1)->kind, TB_CALL_RECV);
	assert_int_equal(call(0, 1)->peer, 1);
	assert_int_equal(call(0, 2)->kind, TB_CALL_JOINT);
	assert_int_equal(tb_calls_befores(calls, 0, 2, &n)[1], 1);
	assert_int_equal(n, 2);
	assert_int_equal(call(0, 3)->bytes, 7);
	assert_int_equal(call(0, 4)->kind, TB_CALL_JOINT);
}

static void test_another_op_count_is_another_group(void **state)
{
	(void)state;
	read_well(TWO CALL(A, "Send", "8", "0", "1", "a1", "2") A
		"Recv: opCount 1 sendbuff (nil) recvbuff 0x1 count 9 datatype 0 op 0 "
		"root 1 comm 0xa1 [nranks=2] stream 0x7\n" CALL(B, "Recv", "8", "0", "0",
			"b1", "2") CALL(B, "Send", "9", "0", "0", "b1", "2"));
	assert_int_equal(n_calls(0), 4);
	assert_int_equal(call(0, 1)->kind, TB_CALL_JOINT);
	assert_int_equal(call(0, 2)->kind, TB_CALL_RECV);
	assert_int_equal(n_calls(1), 3);
}

static void test_streams_are_lanes(void **state)
{
	(void)state;
	read_well(TWO CALL(A, "AllReduce", "1", "7", "0", "a1", "2") A
		"AllReduce: opCount 1 sendbuff 0x1 recvbuff 0x1 count 1 datatype 7 op 0 "
		"root 0 comm 0xa1 [nranks=2] stream 0x8 task 0 globalrank 0\n" CALL(
			B, "AllReduce", "1", "7", "0", "b1", "2")
			CALL(B, "AllReduce", "1", "7", "0", "b1", "2"));
	assert_int_equal(call(0, 0)->lane, 0);
	assert_int_equal(call(0, 1)->lane, 1);
	assert_int_equal(call(1, 1)->lane, 0);
}

static void test_the_first_rank_tells_what_was_chosen(void **state)
{
	(void)state;
	read_well(TWO CALL(A, "AllReduce", "1024", "7", "0", "a1", "2")
			CALL(B, "AllReduce", "1024", "7", "0", "b1", "2") A
		"AllReduce: 4096 Bytes -> Algo TREE proto LL "
		"channel{Lo..Hi}={0..3}\n" CALL(A, "AllReduce", "1024", "7", "0", "a1",
			"2") CALL(B, "AllReduce", "1024", "7", "0", "b1", "2") A
		"4096 Bytes -> Algo 1 proto 2 time 10.5\n");
	assert_int_equal(call(0, 0)->observed.tree, TB_TREE_TAKEN);
	assert_int_equal(call(0, 0)->observed.n_channels, 4);
	assert_int_equal(call(0, 1)->observed.tree, TB_TREE_NOT_TAKEN);
	assert_int_equal(call(0, 1)->observed.n_channels, 0);
	assert_int_equal(call(1, 0)->observed.tree, TB_TREE_UNKNOWN);
	assert_true(has_fact("chosen", "AllReduce TREE LL: 1"));
	assert_true(has_fact("chosen", "RING SIMPLE: 1"));
}

static void test_times_are_kept_where_all_calls_have_them(void **state)
{
	(void)state;
#define AT(s) "[2026-11-26 10:00:" s "] "
	read_well(TWO CALL(AT("01.5") A, "AllReduce", "1", "7", "0", "a1", "2")
			CALL(AT("02") B, "AllReduce", "1", "7", "0", "b1", "2"));
	assert_int_equal(call(0, 0)->enter_ns, 0);
	assert_int_equal(call(1, 0)->enter_ns, 500000000);
	assert_int_equal(call(1, 0)->calc_ns, 0);
	assert_true(has_fact("times", "500 ms from the first line to the last"));
}

static void test_what_stands_before_a_line_is_no_host(void **state)
{
	(void)state;
	read_well(TWO CALL("   8   2   sum  -1" A, "AllReduce", "1", "7", "0", "a1", "2")
			CALL("[1,1]<stdout>:" B, "AllReduce", "1", "7", "0", "b1", "2"));
	assert_int_equal(tb_calls_n_ranks(calls), 2);
	assert_string_equal(tb_calls_host_of(calls, 0), "a");
	assert_string_equal(tb_calls_host_of(calls, 1), "b");
}

#define ID(line, comm, rank, n, id)                                                      \
	line "ncclCommInitRank comm 0x" comm " rank " rank " nranks " n                  \
	     " cudaDev 0 nvmlDev 0 busId 1a commId 0x" id " - Init COMPLETE\n"
#define C "c:3:3 [0] NCCL INFO "
#define D "d:4:4 [0] NCCL INFO "

static void test_ids_tell_communicators_of_one_size_apart(void **state)
{
	(void)state;
	read_well(ID(A, "1", "0", "2", "aa") ID(C, "3", "0", "2", "bb") ID(
		D, "4", "1", "2", "aa") ID(B, "2", "1", "2", "bb") CALL(A, "AllReduce",
		"1", "7", "0", "1", "2") CALL(B, "AllReduce", "1", "7", "0", "2", "2")
			CALL(C, "AllReduce", "1", "7", "0", "3", "2")
				CALL(D, "AllReduce", "1", "7", "0", "4", "2"));
	assert_int_equal(tb_calls_n_ranks(calls), 4);
	// The members of the first are ranks 0 and 1: hosts a and d.
	assert_string_equal(tb_calls_host_of(calls, 1), "d");
	assert_int_equal(call(0, 0)->group, call(1, 0)->group);
	assert_int_not_equal(call(0, 0)->group, call(2, 0)->group);
}

static void test_communicators_without_ids_may_be_unsure(void **state)
{
	(void)state;
	refuses(INIT(A, "1", "0", "2") INIT(C, "3", "0", "2") INIT(D, "4", "1", "2") INIT(
			B, "2", "1", "2") CALL(A, "AllReduce", "1", "7", "0", "1", "2")
			CALL(B, "AllReduce", "1", "7", "0", "2", "2"),
		"nothing says who is a member of which");
}

static void test_ranks_without_lines_are_asked_for(void **state)
{
	(void)state;
	refuses(INIT(A, "1", "0", "2") CALL(A, "AllReduce", "1", "7", "0", "1", "2"),
		"the lines of only 1 of them");
	assert_true(has_fact("communicator", "2 ranks, 1 call, the log has one of them"));
}

static void test_ranks_without_a_log_are_cloned(void **state)
{
	(void)state;
	reading.clone_ranks = 4;
	put("log", ID(A, "1", "0", "4", "aa") ID(B, "2", "2", "4", "aa")
			   CALL(A, "AllReduce", "1", "7", "0", "1", "4")
				   CALL(B, "AllReduce", "2", "7", "0", "2", "4"));
	assert_int_equal(read_folder(), TB_OK);
	assert_int_equal(tb_calls_n_ranks(calls), 4);
	assert_int_equal(call(1, 0)->bytes, 8); // as the second of the two that have one
	assert_int_equal(call(2, 0)->bytes, 8);
	assert_int_equal(call(3, 0)->bytes, 8);
	assert_null(tb_calls_host_of(calls, 1));
	assert_string_equal(tb_calls_host_of(calls, 2), "b");
	assert_non_null(strstr(tb_calls_note_at(calls, 1), "2 of 4 ranks have no log"));
	tb_calls_free(calls);
	calls = NULL;
	reading.clone_ranks = 3;
	assert_int_equal(read_folder(), TB_EUSAGE);
	put("log", ID(A, "1", "0", "4", "aa") CALL(A, "Send", "1", "7", "0", "1", "4"));
	reading.clone_ranks = 4;
	assert_int_equal(read_folder(), TB_EUSAGE);
}

static void test_without_initialization_ranks_go_by_host_and_device(void **state)
{
	(void)state;
	put("log", CALL(A, "AllReduce", "1", "7", "0", "1", "2") CALL(
			   "a:9:9 [1] NCCL INFO ", "AllReduce", "1", "7", "0", "1", "2"));
	assert_int_equal(read_folder(), TB_OK);
	assert_int_equal(tb_calls_n_ranks(calls), 2);
	assert_non_null(
		strstr(tb_calls_note_at(calls, 1), "numbered by host and device"));
	tb_calls_free(calls);
	calls = NULL;
	refuses(CALL(A, "Send", "1", "7", "1", "1", "2")
			CALL(B, "Recv", "1", "7", "0", "1", "2"),
		"does not say which rank a process is");
}

static void test_an_address_is_used_again(void **state)
{
	(void)state;
	read_well(TWO CALL(A, "AllReduce", "1", "7", "0", "a1", "2")
			CALL(B, "AllReduce", "1", "7", "0", "b1", "2") A
		"comm 0xa1 rank 0 nranks 2 cudaDev 0 busId 1a - Destroy COMPLETE\n" INIT(
			A, "a1", "1", "2") INIT(B, "b2", "0", "2")
			CALL(A, "Broadcast", "1", "7", "0", "a1", "2")
				CALL(B, "Broadcast", "1", "7", "0", "b2", "2"));
	assert_int_not_equal(call(0, 0)->group, call(0, 1)->group);
	// The root is member 0 of the second one, which is rank 1 of the job.
	struct tb_group group = tb_calls_members(calls, call(0, 1)->group);
	assert_int_equal(group.members[0], 1);
}

static void test_broken_lines_of_calls_are_named(void **state)
{
	(void)state;
	refuses(TWO A "AllReduce: opCount 0 sendbuff 0x1 recvbuff 0x1 cou\n", "is cut");
	assert_int_equal(error.at, 3);
	refuses(TWO CALL(A, "AllReduce", "1", "99", "0", "a1", "2"), "datatype");
	refuses(TWO CALL(A, "Broadcast", "1", "7", "2", "a1", "2"), "cannot be");
	reading.lenient = true;
	read_well(TWO A "AllReduce: opCount 0 sendbuff 0x1 recvbuff 0x1 cou\n" CALL(
		A, "AllReduce", "1", "7", "0", "a1", "2")
			CALL(B, "AllReduce", "1", "7", "0", "b1", "2"));
	assert_int_equal(n_calls(0), 1);
}

static void test_rings_and_trees_are_told(void **state)
{
	(void)state;
	put("log", A
		"Ring 00 : 1 -> 0 -> 1\n" B "Ring 00 : 0 -> 1 -> 0\n" A
		"Trees [0] 1/-1/-1->0->-1 [1] -1/-1/-1->0->1\n" B
		"Trees [0] -1->0->1/-1/-1\n" B "Trees [0] -1/-1/-1->1->0 [1] "
		"0/-1/-1->1->-1\n" A
		"Channel 00/0 : 0[1a] -> 1[1a] [send] via NET/IB/3/GDRDMA/Shared\n" A
		"NET/IB : Using [0]mlx5_0:1/IB [3]mlx5_3:1/IB ; OOB eth0:10.0.0.1<0>\n" A
		"NCCL version 2.14.3+cuda11.7\n" TWO);
	assert_true(has_fact("ring", "channel 0: 0 1"));
	assert_true(has_fact("tree", "channel 0: 0 (1)"));
	assert_true(has_fact("tree", "channel 1: 1 (0)"));
	assert_true(has_fact("connections", "NET/IB/GDRDMA/Shared: 1"));
	assert_true(has_fact("adapters", "rank 0 on a: IB 3 (mlx5_3:1/IB)"));
	assert_true(has_fact("made by", "NCCL 2.14.3+cuda11.7"));
	assert_int_equal(read_folder(), TB_EFORMAT);
	assert_non_null(strstr(error.text, "not what was called"));
}

static void test_the_first_rank_writes_whole_rings(void **state)
{
	(void)state;
	put("log", A "Channel 00/02 :    0   2   1\n" A
		     "Channel 01/02 :    0   2   1\n" INIT(A, "1", "0", "3"));
	assert_true(has_fact("ring", "channels 0 to 1: 0 2 1"));
	put("log", A "Channel 00/02 :    0   2   1->-1\n" INIT(A, "1", "0", "3"));
	assert_false(has_fact("ring", "channel 0: 0 2 1"));
}

static void test_a_file_for_each_process_is_one_log(void **state)
{
	(void)state;
	put("nccl.a.1",
		INIT(A, "1", "0", "2") CALL(A, "AllReduce", "1", "7", "0", "1", "2"));
	put("nccl.b.2",
		INIT(B, "1", "1", "2") CALL(B, "AllReduce", "1", "7", "0", "1", "2"));
	put("readme", "no line of NCCL's\n");
	assert_true(tb_nccl_is_folder(folder));
	assert_int_equal(read_folder(), TB_OK);
	assert_int_equal(n_calls(0) + n_calls(1), 2);
}

#define USING "NET/IB : Using [0]mlx5_0:1/IB [1]mlx5_1:1/IB [RO]; OOB e:10.0.0.1<0>\n"
#define BOTH                                                                             \
	TWO CALL(A, "AllReduce", "1", "7", "0", "a1", "2")                               \
		CALL(B, "AllReduce", "1", "7", "0", "b1", "2")

// A network with fewer adapters than hosts had is slower than theirs.
static void test_adapters_that_are_named_are_counted(void **state)
{
	(void)state;
	struct tb_gpu_node node = {.n_nics = 1};
	reading.node = &node;
	read_well(A USING B USING BOTH);
	assert_true(has_fact("adapters", "2 on a: [0]mlx5_0:1/IB [1]mlx5_1:1/IB"));
	assert_true(has_fact("as a network", "-n NETWORK,rails=2"));
	assert_string_equal(tb_calls_note_at(calls, 0),
		"the logs have 2 adapters a host, the network 1: -n PRESET,rails=2 has "
		"as "
		"many");
	tb_calls_free(calls);
	calls = NULL;
	node.n_nics = 2;
	read_well(A USING B USING BOTH);
	assert_null(strstr(tb_calls_note_at(calls, 0), "adapters"));
	tb_calls_free(calls);
	calls = NULL;
	// One host, whose messages do not cross the network.
	node.n_nics = 1;
	read_well(A USING INIT(A, "1", "0", "1")
			CALL(A, "AllReduce", "1", "7", "0", "1", "1"));
	assert_null(strstr(tb_calls_note_at(calls, 0), "adapters"));
}

// A program may print megabytes in one line before NCCL does.
static void test_lines_of_others_may_be_long(void **state)
{
	(void)state;
	static const char log[] = "\n" BOTH;
	size_t n = (size_t)3 << 20;
	char *text = malloc(n + sizeof log);
	memset(text, 'x', n);
	memcpy(text + n, log, sizeof log);
	put("log", text);
	free(text);
	assert_true(tb_nccl_mentions(in_folder("log")));
	const char *made = NULL, *path = in_folder("log");
	assert_int_equal(tb_nccl_read(&calls, &reading, &path, 1, &made, &error), TB_OK);
	assert_int_equal(n_calls(0) + n_calls(1), 2);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		TEST(test_ranks_are_those_of_the_communicator),
		TEST(test_sizes_are_those_of_the_calls),
		TEST(test_messages_of_a_group_go_at_once),
		TEST(test_another_op_count_is_another_group),
		TEST(test_streams_are_lanes),
		TEST(test_the_first_rank_tells_what_was_chosen),
		TEST(test_times_are_kept_where_all_calls_have_them),
		TEST(test_what_stands_before_a_line_is_no_host),
		TEST(test_ids_tell_communicators_of_one_size_apart),
		TEST(test_communicators_without_ids_may_be_unsure),
		TEST(test_ranks_without_lines_are_asked_for),
		TEST(test_ranks_without_a_log_are_cloned),
		TEST(test_without_initialization_ranks_go_by_host_and_device),
		TEST(test_an_address_is_used_again),
		TEST(test_broken_lines_of_calls_are_named),
		TEST(test_rings_and_trees_are_told),
		TEST(test_the_first_rank_writes_whole_rings),
		TEST(test_a_file_for_each_process_is_one_log),
		TEST(test_adapters_that_are_named_are_counted),
		TEST(test_lines_of_others_may_be_long),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

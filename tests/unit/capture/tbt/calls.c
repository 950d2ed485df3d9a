// Records of the tracer become calls: messages and their requests, persistent operations,
// collective operations in groups of one and two sides.
#include "../../../support/tbt_job.h"

static void begin(void)
{
	for (uint32_t rank = 0; rank < N_RANKS; rank++)
		tbt_begin(&lanes[rank], 1000);
}

static void put(uint32_t rank, enum tb_tbt_kind kind, size_t n, const uint64_t *fields)
{
	record(rank, kind, n, fields);
}

// list gives the record before its list.
static void list(uint32_t rank, size_t n, const uint64_t *values)
{
	tbt_list(&lanes[rank], n, values);
}

#define PUT(rank, kind, ...)                                                             \
	put(rank, TB_TBT_##kind, sizeof((const uint64_t[]){__VA_ARGS__}) / 8,            \
		(const uint64_t[]){__VA_ARGS__})
#define LIST(rank, ...)                                                                  \
	list(rank, sizeof((const uint64_t[]){__VA_ARGS__}) / 8,                          \
		(const uint64_t[]){__VA_ARGS__})

static void blocking_messages_are_calls(void **state)
{
	(void)state;
	begin();
	PUT(0, SEND, 0, 1, 7, 100);
	PUT(1, RECV, 0, 0, 7, 100);
	PUT(1, SEND, 0, 2, 8, 0);
	PUT(2, RECV, 0, 1, 8, 0);
	assert_all("to1.7=100@10", "from0.7=100@10 to2.8=0@10", "from1.8=0@10");
}

// Peers of an inter-communicator count within the other side.
static void peers_are_of_the_other_side(void **state)
{
	(void)state;
	begin();
	PUT(0, SEND, 1, 1, 7, 100);
	PUT(2, RECV, 1, 0, 7, 100);
	PUT(1, SEND, 1, 0, 9, 50);
	PUT(0, RECV, 1, 0, 9, 50);
	assert_all("to2.7=100@10 from1.9=50@10", "to0.9=50@10", "from0.7=100@10");
	begin();
	PUT(0, SEND, 1, 2, 7, 100);
	assert_refused("peer");
}

static void requests_are_waited_for(void **state)
{
	(void)state;
	begin();
	PUT(0, ISEND, 0, 1, 7, 100, 1);
	PUT(0, IRECV, 0, 2);
	put(0, TB_TBT_POLL, 0, NULL);
	put(0, TB_TBT_COMPLETE, 0, NULL);
	LIST(0, 4 * 1 + TB_TBT_DONE, 4 * 2 + TB_TBT_RECEIVED, 2, 9, 64);
	PUT(0, IRECV, 0, 3);
	put(0, TB_TBT_COMPLETE, 0, NULL);
	LIST(0, 4 * 3 + TB_TBT_CANCELLED);
	PUT(2, SEND, 0, 0, 9, 64);
	PUT(1, RECV, 0, 0, 7, 100);
	assert_all("to1.7=100*@10 from2.9=64*@10 joint@20<0,1", "from0.7=100@10",
		"to0.9=64@10");
	begin();
	put(0, TB_TBT_COMPLETE, 0, NULL);
	LIST(0, 4 * 2 + TB_TBT_RECEIVED, 2, 9);
	assert_refused("a completion is cut off");
}

// A record names the source of the receive behind it: three of five got a message so, of
// which one is of another world. One that was cancelled does not count.
static void receives_from_any_source_are_counted(void **state)
{
	(void)state;
	begin();
	put(1, TB_TBT_ANY_SOURCE, 0, NULL);
	PUT(1, RECV, 0, 0, 7, 100);
	PUT(1, RECV, 0, 0, 7, 100);
	put(1, TB_TBT_ANY_SOURCE, 0, NULL);
	PUT(1, RECV, 2, 0, 7, 100);
	put(1, TB_TBT_ANY_SOURCE, 0, NULL);
	PUT(1, IRECV, 0, 9);
	put(1, TB_TBT_COMPLETE, 0, NULL);
	LIST(1, 4 * 9 + TB_TBT_CANCELLED);
	put(1, TB_TBT_ANY_SOURCE, 0, NULL);
	PUT(1, RECV_INIT, 0, 5);
	PUT(1, RECV_INIT, 0, 6);
	for (uint64_t i = 5; i < 7; i++) {
		put(1, TB_TBT_START, 0, NULL);
		LIST(1, i, 20 + i);
		put(1, TB_TBT_COMPLETE, 0, NULL);
		LIST(1, 4 * (20 + i) + TB_TBT_RECEIVED, 0, 7, 100);
	}
	assert_int_equal(read_it(), TB_OK);
	bool found = false;
	for (size_t i = 0; tb_calls_note_at(calls, i); i++)
		found = found ||
			strstr(tb_calls_note_at(calls, i),
				"3 receives had MPI_ANY_SOURCE, of 5, 66.7 % of which "
				"got a message: in a replay they take what comes first");
	assert_true(found);
	tb_calls_free(calls);
}

static void sends_and_receives_go_together(void **state)
{
	(void)state;
	begin();
	PUT(0, SENDRECV, 0, 2, 7, 100, 3, 8, 50); // to 1, from 2
	PUT(1, SENDRECV, 0, 0, 0, 0, 1, 7, 100);  // from 0 only
	PUT(2, SENDRECV, 0, 1, 8, 50, 0, 0, 0);	  // to 0 only
	assert_all(
		"from2.8=50*@10 to1.7=100* joint<0,1", "from0.7=100@10", "to0.8=50@10");
}

static void persistent_operations_begin_each_time(void **state)
{
	(void)state;
	begin();
	PUT(0, SEND_INIT, 0, 1, 7, 100, 1);
	PUT(0, COLL_INIT, TB_TBT_BROADCAST, 0, 4 * 2, 32, 2);
	list(0, 0, NULL);
	PUT(1, RECV_INIT, 0, 5);
	for (uint64_t i = 0; i < 2; i++) {
		put(0, TB_TBT_START, 0, NULL);
		LIST(0, 1, 10 + i, 2, 20 + i, 99, 98); // no operation is 99
		put(0, TB_TBT_COMPLETE, 0, NULL);
		LIST(0, 4 * (10 + i), 4 * (20 + i));
		put(1, TB_TBT_START, 0, NULL);
		LIST(1, 5, 30 + i);
		put(1, TB_TBT_COMPLETE, 0, NULL);
		LIST(1, 4 * (30 + i) + TB_TBT_RECEIVED, 0, 7, 100);
	}
	assert_all("to1.7=100*@30 broadcast.2=32* joint@10<0,1 to1.7=100*@10 "
		   "broadcast.2=32* joint@10<3,4",
		"from0.7=100*@20 joint@10<0 from0.7=100*@10 joint@10<2", "");
}

static void collective(uint32_t rank, enum tb_tbt_op op, uint64_t comm, uint64_t root,
	uint64_t bytes, uint64_t request)
{
	PUT(rank, COLL, op, comm, root, bytes, request);
}

static void collectives_have_roots_and_sizes(void **state)
{
	(void)state;
	begin();
	collective(0, TB_TBT_BROADCAST, 0, 4 * 2 + TB_TBT_ROOT_RANK, 64, 0);
	list(0, 0, NULL);
	collective(0, TB_TBT_SCATTER, 0, 4 * 0 + TB_TBT_ROOT_RANK, 0, 0);
	LIST(0, 1, 2, 3);
	collective(0, TB_TBT_ALLREDUCE, 0, 0, 16, 5 + 1);
	list(0, 0, NULL);
	collective(0, TB_TBT_EXCHANGE, 0, 0, 0, 0);
	LIST(0, 1, 10, 2, 20, 1, 5);
	put(0, TB_TBT_COMPLETE, 0, NULL);
	LIST(0, 4 * 5);
	assert_all("broadcast.2=64@10 scatter.0=0[1,2,3]@10 allreduce.0=16*@10 "
		   "0,15,20@10 joint@10<2",
		"", "");
	begin();
	collective(0, TB_TBT_SCATTER, 0, 0, 0, 0);
	LIST(0, 1, 2);
	assert_refused("a collective call has sizes for others than the members");
	begin();
	collective(0, TB_TBT_EXCHANGE, 0, 0, 0, 0);
	LIST(0, 3, 2);
	assert_refused("an exchange has a member that cannot be");
	begin();
	collective(0, TB_TBT_EXCHANGE, 0, 0, 0, 0);
	LIST(0, 1, 2, 1);
	assert_refused("an exchange has a member that cannot be");
	begin();
	collective(0, TB_TBT_BROADCAST, 0, 4 * 3, 0, 0);
	list(0, 0, NULL);
	assert_refused("a collective call has a root that cannot be");
	begin();
	collective(0, TB_TBT_N_OPS, 0, 0, 0, 0);
	list(0, 0, NULL);
	assert_refused("a collective call is of no kind");
}

static bool has_note(const char *text)
{
	const char *note;
	for (size_t i = 0; (note = tb_calls_note_at(calls, i)); i++)
		if (strstr(note, text))
			return true;
	return false;
}

// Of an inter-communicator's rooted calls only the other side knows the root.
static void what_has_no_counterpart_is_left_out(void **state)
{
	(void)state;
	begin();
	collective(0, TB_TBT_BROADCAST, 1, TB_TBT_ROOT_SELF, 64, 0);
	list(0, 0, NULL);
	collective(0, TB_TBT_ALLTOALL, 1, 0, 64, 0);
	list(0, 0, NULL);
	collective(0, TB_TBT_ALLREDUCE, 2, 0, 64, 0); // of another world
	list(0, 0, NULL);
	PUT(0, SEND, 2, 0, 7, 100);
	PUT(0, LEFT_OUT, 1);
	LIST(0, 'M', 'P', 'I');
	calls = NULL;
	assert_int_equal(read_it(), TB_OK);
	assert_calls(0, "alltoall.0=64@20");
	assert_true(has_note("1 collective call with a root is left out"));
	assert_true(has_note("2 calls are left out: their communicators or windows"));
	assert_true(has_note("MPI is left out, and so are messages with the processes"));
	tb_calls_free(calls);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(blocking_messages_are_calls),
		cmocka_unit_test(peers_are_of_the_other_side),
		cmocka_unit_test(requests_are_waited_for),
		cmocka_unit_test(receives_from_any_source_are_counted),
		cmocka_unit_test(sends_and_receives_go_together),
		cmocka_unit_test(persistent_operations_begin_each_time),
		cmocka_unit_test(collectives_have_roots_and_sizes),
		cmocka_unit_test(what_has_no_counterpart_is_left_out),
	};
	close(mkstemp(path));
	int n_failed = cmocka_run_group_tests(tests, NULL, NULL);
	unlink(path);
	return n_failed;
}

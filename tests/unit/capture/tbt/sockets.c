// What processes did with sockets of TCP becomes messages: by the bytes of a connection,
// and by what else has a process wait for another.
#include "../../../support/tbt_job.h"

static void put(uint32_t rank, uint64_t enter_ns, uint64_t leave_ns,
	enum tb_tbt_kind kind, size_t n, const uint64_t *fields)
{
	tbt_put(&lanes[rank], kind, enter_ns, leave_ns, n, fields);
}

#define PUT(rank, enter, leave, kind, ...)                                               \
	put(rank, enter, leave, TB_TBT_##kind,                                           \
		sizeof((const uint64_t[]){__VA_ARGS__}) / 8,                             \
		(const uint64_t[]){__VA_ARGS__})

enum { INFO = 8 };

// moved adds a WRITE or READ of socket 1.
static void moved(uint32_t rank, uint64_t enter, uint64_t leave, enum tb_tbt_kind kind,
	uint64_t bytes, uint64_t so_far)
{
	const uint64_t fields[INFO] = {1, bytes, so_far, 50, 60, 70, 80, 2};
	put(rank, enter, leave, kind, INFO, fields);
}

static void begin(void)
{
	traced_by = TB_TBT_SOCKETS;
	thread.n = 0;
	for (uint32_t rank = 0; rank < N_RANKS; rank++)
		tbt_begin(&lanes[rank], 1000);
}

// process adds who a rank is: process 100 + rank, of a shell that was not traced.
static void process(uint32_t rank, uint64_t parent)
{
	PUT(rank, lanes[rank].now_ns, lanes[rank].now_ns, PROCESS, 100 + rank, parent, 7,
		0);
}

// has gives a rank socket 1, port `own` to port `other` of one address.
static void has(uint32_t rank, uint64_t at, enum tb_tbt_socket how, uint64_t cookie,
	uint64_t own, uint64_t other)
{
	const uint64_t list[] = {0, 0xffff0a000001, own, 0, 0xffff0a000001, other};
	PUT(rank, at, at, SOCKET, 1, how, cookie);
	tbt_list(&lanes[rank], 6, list);
}

// connected begins with ranks 0 and 1 at the two ends of a connection, rank 2 apart.
static void connected(void)
{
	begin();
	for (uint32_t rank = 0; rank < N_RANKS; rank++)
		process(rank, 1);
	has(0, 1000, TB_TBT_INHERITED, 11, 5000, 80);
	has(1, 1000, TB_TBT_INHERITED, 12, 80, 5000);
}

enum { LONG = 1000000 }; // ns in a call that waits

static void a_write_is_one_message(void **state)
{
	(void)state;
	connected();
	moved(0, 2000, 2000 + LONG, TB_TBT_WRITE, 10000, 10001);
	moved(1, 1500, 3000, TB_TBT_READ, 4000, 4001);
	moved(1, 3005, 2000 + LONG, TB_TBT_READ, 6000, 10001);
	// What the first part's read took is work, as it was too quick to wait.
	assert_all("to1.0=10000@1000", "from0.0=10000@2005", "");
}

// Of several ends that match, those that were seen first are a connection.
static void ends_are_paired_in_the_order_in_which_they_came(void **state)
{
	(void)state;
	begin();
	for (uint32_t rank = 0; rank < N_RANKS; rank++)
		process(rank, 1);
	has(0, 1500, TB_TBT_INHERITED, 11, 5000, 80);
	has(1, 2000, TB_TBT_INHERITED, 12, 80, 5000);
	has(2, 1000, TB_TBT_INHERITED, 13, 5000, 80);
	moved(2, 3000, 3010, TB_TBT_WRITE, 10, 11);
	moved(1, 2500, 3000 + LONG, TB_TBT_READ, 10, 11);
	assert_all("", "from2.0=10@1500", "to1.0=10*@2010");
}

static void writes_of_a_read_are_each_a_message(void **state)
{
	(void)state;
	connected();
	moved(0, 2000, 2010, TB_TBT_WRITE, 10, 11);
	moved(0, 2020, 2030, TB_TBT_WRITE, 20, 31);
	moved(1, 1500, 2 * LONG, TB_TBT_READ, 30, 31);
	assert_all("to1.0=10*@1010 to1.0=20*@20", "from0.0=10@500 from0.0=20", "");
}

// Whoever answers a part of a message needs only that, to the end of a segment.
static void a_part_that_is_answered_is_a_message(void **state)
{
	(void)state;
	connected();
	moved(0, 2000, 2000 + LONG, TB_TBT_WRITE, 10000, 10001);
	moved(1, 1000, LONG, TB_TBT_READ, 2000, 2001);
	moved(1, LONG + 10, LONG + 20, TB_TBT_WRITE, 5, 6);
	moved(1, LONG + 30, 2 * LONG, TB_TBT_READ, 8000, 10001);
	moved(0, 2000 + LONG, 3 * LONG, TB_TBT_READ, 5, 6);
	assert_all("to1.0=2896@1000 to1.0=7104 from1.1=5",
		"from0.0=2896 to0.1=5*@20 from0.0=7104@10", "");
}

// The kernel counted 500 bytes before the second write that no call was seen to write.
static void what_was_written_unseen_counts(void **state)
{
	(void)state;
	connected();
	moved(0, 2000, 2000, TB_TBT_WRITE, 100, 101);
	moved(0, 2000, 2000, TB_TBT_WRITE, 100, 701);
	moved(1, 1000, LONG, TB_TBT_READ, 100, 0);
	moved(1, LONG, 2 * LONG, TB_TBT_READ, 600, 0);
	assert_all("to1.0=100*@1000 to1.0=600*", "from0.0=100 from0.0=600", "");
}

// What nobody was seen to read crosses the network all the same, in a lane of its own.
static void what_is_not_read_is_sent(void **state)
{
	(void)state;
	connected();
	moved(0, 2000, 2000, TB_TBT_WRITE, 100, 101);
	moved(0, 2000, 2000, TB_TBT_WRITE, 100, 201);
	moved(1, 1000, LONG, TB_TBT_READ, 100, 101);
	assert_all("to1.0=100*@1000 to1.1=100*", "from0.1=100 1:from0.0=100", "");
}

static void processes_share_a_socket(void **state)
{
	(void)state;
	begin();
	for (uint32_t rank = 0; rank < N_RANKS; rank++)
		process(rank, 1);
	has(0, 1000, TB_TBT_INHERITED, 11, 5000, 80);
	has(1, 1000, TB_TBT_INHERITED, 12, 80, 5000);
	has(2, 1000, TB_TBT_INHERITED, 11, 5000, 80);
	moved(0, 2000, 2000, TB_TBT_WRITE, 10, 11);
	moved(2, 3000, 3000, TB_TBT_WRITE, 20, 31);
	moved(1, 1000, LONG, TB_TBT_READ, 10, 11);
	moved(1, LONG, 2 * LONG, TB_TBT_READ, 20, 31);
	assert_all("to1.0=10*@1000", "from0.0=10 from2.1=20", "to1.1=20*@2000");
}

static void who_accepts_waits_for_who_connects(void **state)
{
	(void)state;
	begin();
	for (uint32_t rank = 0; rank < N_RANKS; rank++)
		process(rank, 1);
	has(0, 2000, TB_TBT_CONNECTED, 11, 5000, 80);
	has(1, 3000, TB_TBT_ACCEPTED, 12, 80, 5000);
	// A port that is used again is another connection.
	PUT(0, 4000, 4000, SOCKET, 2, TB_TBT_CONNECTED, 13);
	tbt_list(&lanes[0], 6,
		(const uint64_t[]){0, 0xffff0a000001, 5000, 0, 0xffff0a000001, 80});
	PUT(2, 5000, 5000, SOCKET, 1, TB_TBT_ACCEPTED, 14);
	tbt_list(&lanes[2], 6,
		(const uint64_t[]){0, 0xffff0a000001, 80, 0, 0xffff0a000001, 5000});
	assert_all("to1.0=0*@1000 to2.1=0*@2000", "from0.0=0@2000", "from0.1=0@4000");
}

// The last who closes before the end is read, or shuts down, ends the stream.
static void the_end_waits_for_who_closed(void **state)
{
	(void)state;
	connected();
	has(2, 1000, TB_TBT_INHERITED, 11, 5000, 80);
	PUT(0, 2000, 2000, SHUT, 1, 0);
	PUT(2, 3000, 3000, SHUT, 1, 0);
	moved(1, 1000, LONG, TB_TBT_READ, 0, 1);
	assert_all("", "from2.0=0", "to1.0=0*@2000");
}

// Waiting in poll is waiting where a receive follows, or room to write was waited for.
static void what_follows_tells_what_was_waited_for(void **state)
{
	(void)state;
	connected();
	PUT(1, 1000, LONG, READY, 0);
	PUT(1, LONG, 2 * LONG, READY, TB_TBT_READABLE);
	moved(1, 2 * LONG + 7, 2 * LONG + 7, TB_TBT_READ, 10, 11);
	PUT(1, 2 * LONG + 7, 3 * LONG, READY, TB_TBT_READABLE);
	moved(1, 3 * LONG, 3 * LONG, TB_TBT_WRITE, 10, 11);
	PUT(1, 3 * LONG, 4 * LONG, READY, TB_TBT_WRITABLE);
	moved(1, 4 * LONG, 4 * LONG, TB_TBT_WRITE, 10, 21);
	moved(0, 1000, 1000, TB_TBT_WRITE, 10, 11);
	moved(0, 1000, 5 * LONG, TB_TBT_READ, 20, 21);
	assert_all("to1.0=10* from1.1=10 from1.1=10",
		"from0.0=10@7 to0.1=10*@999993 to0.1=10", "");
}

// After waiting for readiness a lane reads what came first; without, what it wants.
static void what_was_ready_came_first(void **state)
{
	(void)state;
	for (uint64_t bits = 0; bits < 4; bits++) {
		uint32_t n;
		bool gathers = bits == 3;
		connected();
		moved(0, 2000, 2000, TB_TBT_WRITE, 10, 11);
		PUT(1, 1000, LONG, READY, bits);
		moved(1, LONG, 2 * LONG, TB_TBT_READ, 10, 11);
		if (gathers) { // what it read, for another
			const uint64_t list[] = {0, 1, 80, 0, 1, 5000};
			PUT(1, 2 * LONG, 2 * LONG, SOCKET, 2, 0, 99);
			tbt_list(&lanes[1], 6, list);
			PUT(1, 2 * LONG, 2 * LONG, WRITE, 2, 9, 0, 0, 0, 0, 0, 0);
		}
		assert_int_equal(read_it(), TB_OK);
		const struct tb_call *of = tb_calls_of(calls, 1, &n);
		assert_int_equal(n, 1);
		assert_int_equal(of->any_source, bits == TB_TBT_READABLE);
		tb_calls_free(calls);
	}
}

static void processes_wait_for_each_other(void **state)
{
	(void)state;
	begin();
	process(0, 1);
	process(1, 100); // rank 0's child
	has(0, 1000, TB_TBT_INHERITED, 11, 5000, 80);
	has(1, 2000, TB_TBT_INHERITED, 12, 80, 5000);
	PUT(0, 3000, LONG, CHILD, 101);
	process(2, 1);
	PUT(1, 4000, 4000, SIGNAL, 102);
	// Rank 2 waited for the signal; the child's end is when its parent came back.
	assert_all("to1.0=0* from1.2=0@2000", "from0.0=0 to2.1=0*@3000 to0.2=0*@996000",
		"from1.1=0");
}

// pipe_end gives a rank socket 1: an end of pipe 77.
static void pipe_end(uint32_t rank, bool writes)
{
	const uint64_t list[] = {TB_TBT_LOCAL, 77, writes, TB_TBT_LOCAL, 77, !writes};
	PUT(rank, lanes[rank].now_ns, lanes[rank].now_ns, SOCKET, 1, TB_TBT_INHERITED,
		200 + writes);
	tbt_list(&lanes[rank], 6, list);
}

// Where more was read than was seen to be written, what a pipe's reader waited for is
// not known, and what it took is computation.
static void pipes_are_messages_if_all_was_seen(void **state)
{
	(void)state;
	for (uint64_t unseen = 0; unseen < 2; unseen++) {
		begin();
		for (uint32_t rank = 0; rank < N_RANKS; rank++)
			process(rank, 1);
		pipe_end(0, true);
		pipe_end(2, false);
		moved(0, 2000, 2000, TB_TBT_WRITE, 10, 0);
		moved(2, 1000, LONG, TB_TBT_READ, 10 + unseen, 0);
		PUT(0, 3000, 3000, SIGNAL, 101); // so that it has a call
		PUT(2, LONG, LONG, SIGNAL, 101);
		if (unseen)
			assert_all("to1.0=0*@2000", "from0.0=0 from2.1=0",
				"to1.1=0*@999000");
		else
			assert_all("to2.0=10*@1000 to1.1=0*@1000", "from0.1=0 from2.2=0",
				"from0.0=10 to1.2=0*");
	}
}

static void connections_with_others_are_computation(void **state)
{
	(void)state;
	connected();
	has(2, 1000, TB_TBT_CONNECTED, 15, 6000, 443);
	moved(2, 1000, LONG, TB_TBT_READ, 10, 11);
	process(2, 1);
	assert_int_equal(read_it(), TB_OK);
	bool found = false;
	for (size_t i = 0; tb_calls_note_at(calls, i); i++)
		found = found || strstr(tb_calls_note_at(calls, i),
					 "1 connection with processes that were not "
					 "traced, with 10 B");
	assert_true(found);
	tb_calls_free(calls);
}

// in_thread adds a record of rank 1's second thread.
static void in_thread(uint64_t enter, uint64_t leave, enum tb_tbt_kind kind,
	uint64_t bytes, uint64_t so_far)
{
	const uint64_t fields[INFO] = {1, bytes, so_far, 50, 60, 70, 80, 2};
	tbt_put(&thread, kind, enter, leave, kind == TB_TBT_READ ? INFO : 0, fields);
}

// Rank 1 reads 100 B, and a thread of it the next 900 in three parts, each of which
// waits. Its first thread waits for that, and then answers.
static void threads_wait_for_each_other(void **state)
{
	(void)state;
	for (int waits = 0; waits < 2; waits++) {
		connected();
		moved(0, 1500, 1600, TB_TBT_WRITE, 100, 101);
		moved(0, 2000, 2100, TB_TBT_WRITE, 900, 1001);
		moved(0, 9 * LONG, 12 * LONG, TB_TBT_READ, 50, 51);
		moved(1, 1000, LONG, TB_TBT_READ, 100, 101);
		tbt_begin(&thread, 1000);
		in_thread(LONG + 500, LONG + 500, TB_TBT_THREAD, 0, 0);
		in_thread(LONG + 500, 3 * LONG, TB_TBT_READ, 300, 401);
		in_thread(3 * LONG, 5 * LONG, TB_TBT_READ, 300, 701);
		in_thread(5 * LONG + 70, 7 * LONG, TB_TBT_READ, 300, 1001);
		if (waits)
			put(1, LONG + 900, 7 * LONG + 200, TB_TBT_WOKEN, 0, NULL);
		moved(1, 7 * LONG + 240, 7 * LONG + 240, TB_TBT_WRITE, 50, 51);
		assert_all("to1.0=100*@600 to1.1=900*@500 from1.2=50@8997900",
			waits ? "from0.0=100 1:from0.1=900@570<0 to0.2=50*@240<1"
			      : "from0.0=100 1:from0.1=900@570<0 to0.2=50*@6000240",
			"");
	}
}

static void broken_records_are_refused(void **state)
{
	(void)state;
	connected();
	const uint64_t fields[INFO] = {2, 10};
	put(0, 1000, 1000, TB_TBT_WRITE, INFO, fields);
	assert_refused("a socket is used that has no record");
	begin();
	PUT(0, 1000, 1000, SOCKET, 1, 0, 0);
	tbt_list(&lanes[0], 2, (const uint64_t[]){1, 2});
	assert_refused("a socket has no two addresses");
	begin();
	PUT(0, 1000, 1000, SEND, 0, 1, 7, 100);
	assert_refused("a process has records of MPI");
	traced_by = TB_TBT_MPICH;
	tbt_begin(&lanes[0], 1000);
	PUT(0, 1000, 1000, CHILD, 5);
	assert_refused("a rank of MPI has records of sockets");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_write_is_one_message),
		cmocka_unit_test(ends_are_paired_in_the_order_in_which_they_came),
		cmocka_unit_test(writes_of_a_read_are_each_a_message),
		cmocka_unit_test(a_part_that_is_answered_is_a_message),
		cmocka_unit_test(what_was_written_unseen_counts),
		cmocka_unit_test(what_is_not_read_is_sent),
		cmocka_unit_test(processes_share_a_socket),
		cmocka_unit_test(who_accepts_waits_for_who_connects),
		cmocka_unit_test(the_end_waits_for_who_closed),
		cmocka_unit_test(what_follows_tells_what_was_waited_for),
		cmocka_unit_test(what_was_ready_came_first),
		cmocka_unit_test(processes_wait_for_each_other),
		cmocka_unit_test(pipes_are_messages_if_all_was_seen),
		cmocka_unit_test(connections_with_others_are_computation),
		cmocka_unit_test(threads_wait_for_each_other),
		cmocka_unit_test(broken_records_are_refused),
	};
	int fd = mkstemp(path);
	if (fd < 0)
		return 1;
	close(fd);
	int failed = cmocka_run_group_tests(tests, NULL, NULL);
	unlink(path);
	return failed;
}

// Paraver traces become the calls of their ranks. The real trace is of LULESH in 8 ranks:
// 484 messages of 35,093,376 bytes, and 5 all-reduces of 8 bytes; it is skipped where it
// is absent.
#include "paraver.h"
#include "real_input.h"
#include "trace_folder.h"

static int read_path(const char *path)
{
	const char *made = "";
	int status = tb_paraver_read(&calls, &reading, &path, 1, &made, &error);
	if (status == TB_OK)
		assert_null(made);
	else
		assert_null(calls);
	return status;
}

static int read_it(const char *text)
{
	put("t.prv", text);
	return read_path(in_folder("t.prv"));
}

static void read_well(const char *text)
{
	if (read_it(text) != TB_OK)
		fail_msg("line %d: %s", (int)error.at, error.text);
}

static const struct tb_call *call(uint32_t rank, uint32_t index)
{
	uint32_t n;
	const struct tb_call *found = tb_calls_of(calls, rank, &n);
	assert_true(index < n);
	return &found[index];
}

static bool waits_for(uint32_t rank, uint32_t index, uint32_t on)
{
	uint32_t n;
	const uint32_t *before = tb_calls_befores(calls, rank, index, &n);
	for (uint32_t i = 0; i < n; i++)
		if (before[i] == on)
			return true;
	return false;
}

static bool noted(const char *part)
{
	const char *note;
	for (size_t i = 0; (note = tb_calls_note_at(calls, i)); i++)
		if (strstr(note, part))
			return true;
	return false;
}

struct counts {
	uint64_t n_sends, n_recvs, n_collectives, sent_bytes, received_bytes, calc_ns;
};

static struct counts count_rank(uint32_t rank)
{
	struct counts counts = {0};
	uint32_t n;
	const struct tb_call *of = tb_calls_of(calls, rank, &n);
	for (uint32_t i = 0; i < n; i++) {
		counts.n_sends += of[i].kind == TB_CALL_SEND;
		counts.n_recvs += of[i].kind == TB_CALL_RECV;
		counts.n_collectives += of[i].kind == TB_CALL_COLLECTIVE;
		counts.sent_bytes += of[i].kind == TB_CALL_SEND ? of[i].bytes : 0;
		counts.received_bytes += of[i].kind == TB_CALL_RECV ? of[i].bytes : 0;
		counts.calc_ns += of[i].calc_ns;
	}
	return counts;
}

static void lulesh_has_484_messages(void **state)
{
	(void)state;
	char path[4096];
	if (!real_input(path, "paraver/lulesh_4+4_with_uncores_sockets1+2.chop_5it.prv"))
		skip();
	assert_int_equal(read_path(path), TB_OK);
	assert_int_equal(tb_calls_n_ranks(calls), 8);
	struct counts sum = {0};
	for (uint32_t rank = 0; rank < 8; rank++) {
		struct counts one = count_rank(rank);
		sum.n_sends += one.n_sends;
		sum.n_recvs += one.n_recvs;
		sum.sent_bytes += one.sent_bytes;
		sum.received_bytes += one.received_bytes;
		assert_int_equal(one.n_collectives, 5);
		// Five iterations, of which nearly all is computation.
		assert_in_range(one.calc_ns, 1300000000, 1616378951);
		assert_string_equal(tb_calls_host_of(calls, rank), "epeec04");
	}
	assert_int_equal(sum.n_sends, 484);
	assert_int_equal(sum.n_recvs, 484);
	assert_int_equal(sum.sent_bytes, 35093376);
	assert_int_equal(sum.received_bytes, 35093376);
	assert_true(noted("application 2 (12 tasks) does not communicate"));
	assert_true(noted("112 sends and receives of which the trace has no message"));
}

#define HEAD "#Paraver (01/01/2026 at 00:00):1000_ns:2(1,1):1:2(1:1,1:2)\n"

// Task 1 computes 100, starts a send, computes 50 and waits for it; task 2 starts to
// receive at 10 and waits from 200 to 300.
static const char one_message[] =
	HEAD "2:1:1:1:1:100:50000001:3\n2:1:1:1:1:110:50000001:0\n"
	     "2:1:1:1:1:160:50000001:5\n2:1:1:1:1:170:50000001:0\n"
	     "2:2:1:2:1:10:50000001:4\n2:2:1:2:1:20:50000001:0\n"
	     "2:2:1:2:1:200:50000001:5\n2:2:1:2:1:300:50000001:0\n"
	     "3:1:1:1:1:100:105:2:1:2:1:10:290:4096:7\n";

static void time_outside_calls_is_computation(void **state)
{
	(void)state;
	read_well(one_message);
	assert_int_equal(tb_calls_n_ranks(calls), 2);
	const struct tb_call *send = call(0, 0), *wait = call(0, 1), *end = call(0, 2);
	assert_int_equal(send->kind, TB_CALL_SEND);
	assert_true(send->starts);
	assert_int_equal(send->calc_ns, 100);
	assert_int_equal(send->bytes, 4096);
	assert_int_equal(send->tag, 7);
	assert_int_equal(send->peer, 1);
	assert_int_equal(wait->calc_ns, 50);
	assert_true(waits_for(0, 1, 0));
	assert_int_equal(end->calc_ns, 830);
	assert_int_equal(call(1, 0)->kind, TB_CALL_RECV);
	assert_true(call(1, 0)->starts);
	assert_int_equal(call(1, 1)->calc_ns, 180);
	assert_true(waits_for(1, 1, 0));
	assert_null(tb_calls_note_at(calls, 0));
}

static void calls_are_known_by_their_names(void **state)
{
	(void)state;
	// In this trace 105 is MPI_Allreduce, whatever Extrae numbers so.
	put("t.pcf", "EVENT_TYPE\n9   50000002    MPI Collective Comm\nVALUES\n105   "
		     "MPI_Allreduce\n0   End\n\n\nEVENT_TYPE\n9 50000001 x\nVALUES\n3 "
		     "MPI_Send\n");
	put("t.row", "LEVEL CPU SIZE 2\nc1\nc2\n\nLEVEL NODE SIZE 2\nn01\nn02\n");
	read_well(HEAD "c:1:7:2:2:1\n"
		       "2:1:1:1:1:100:50000002:105:50100001:64:50100002:64:50100004:7\n"
		       "2:1:1:1:1:200:50000002:0\n"
		       "2:2:1:2:1:100:50000002:105:50100001:64:50100002:64:50100004:7\n"
		       "2:2:1:2:1:200:50000002:0\n"
		       "2:1:1:1:1:300:50000001:3\n2:1:1:1:1:310:50000001:0\n"
		       "2:2:1:2:1:300:50000001:2\n2:2:1:2:1:310:50000001:0\n"
		       "3:1:1:1:1:300:305:2:1:2:1:300:310:5:0\n");
	assert_int_equal(call(0, 0)->op, TB_COLL_ALLREDUCE);
	assert_int_equal(call(0, 0)->bytes, 64);
	assert_int_equal(tb_calls_members(calls, call(0, 0)->group).members[0], 1);
	assert_false(call(0, 1)->starts);
	assert_false(call(1, 1)->starts);
	assert_string_equal(tb_calls_host_of(calls, 1), "n02");
}

// Types 50000001 to 50000005 are those of MPI; what is between its calls is computation.
static void types_around_those_of_mpi_are_no_calls(void **state)
{
	(void)state;
	read_well(HEAD "2:1:1:1:1:100:50000000:3\n2:1:1:1:1:400:50000000:0\n"
		       "2:1:1:1:1:500:50000006:3\n2:1:1:1:1:600:50000006:0\n"
		       "2:1:1:1:1:700:50000001:3\n2:1:1:1:1:710:50000001:0\n"
		       "2:1:1:1:1:720:50000005:99\n2:1:1:1:1:800:50000005:0\n"
		       "2:1:1:1:1:900:50000001:3\n2:1:1:1:1:910:50000001:0\n"
		       "3:1:1:1:1:700:705:2:1:2:1:700:710:5:0\n"
		       "3:1:1:1:1:900:905:2:1:2:1:900:910:5:0\n");
	assert_int_equal(call(0, 0)->calc_ns, 700);
	assert_int_equal(call(0, 0)->kind, TB_CALL_SEND);
	assert_int_equal(call(0, 1)->calc_ns, 10 + 100);
	assert_int_equal(call(0, 1)->kind, TB_CALL_SEND);
}

// Whatever their tags and the order of their lines.
static void sends_of_one_time_are_in_the_order_of_their_receives(void **state)
{
	(void)state;
	static const uint32_t tags[] = {9, 8, 7};
	read_well(HEAD "3:1:1:1:1:90:90:2:1:2:1:220:230:5:7\n"
		       "3:1:1:1:1:90:90:2:1:2:1:110:240:5:9\n"
		       "3:1:1:1:1:90:90:2:1:2:1:180:190:5:8\n");
	uint32_t n, n_found = 0;
	const struct tb_call *of = tb_calls_of(calls, 0, &n);
	for (uint32_t i = 0; i < n; i++) {
		if (of[i].kind != TB_CALL_SEND)
			continue;
		assert_true(n_found < 3);
		assert_int_equal(of[i].tag, tags[n_found++]);
	}
	assert_int_equal(n_found, 3);
}

// The order of lines decides nothing.
static void messages_of_one_time_are_in_the_order_of_their_tags(void **state)
{
	(void)state;
	static const uint32_t tags[] = {7, 8, 8, 9};
	static const uint64_t bytes[] = {30, 10, 20, 5};
	read_well(HEAD "3:1:1:1:1:100:100:2:1:2:1:200:200:5:9\n"
		       "3:1:1:1:1:100:100:2:1:2:1:200:200:30:7\n"
		       "3:1:1:1:1:100:100:2:1:2:1:200:200:20:8\n"
		       "3:1:1:1:1:100:100:2:1:2:1:200:200:10:8\n");
	uint32_t n, n_found = 0;
	const struct tb_call *of = tb_calls_of(calls, 1, &n);
	for (uint32_t i = 0; i < n; i++) {
		if (of[i].kind != TB_CALL_RECV)
			continue;
		assert_true(n_found < 4);
		assert_int_equal(of[i].tag, tags[n_found]);
		assert_int_equal(of[i].bytes, bytes[n_found++]);
	}
	assert_int_equal(n_found, 4);
}

static void the_root_says_that_it_is_one(void **state)
{
	(void)state;
	read_well(HEAD "2:1:1:1:1:100:50000002:7:50100001:0:50100002:64\n"
		       "2:1:1:1:1:200:50000002:0\n"
		       "2:2:1:2:1:100:50000002:7:50100001:64:50100002:0:50100003:1\n"
		       "2:2:1:2:1:200:50000002:0\n");
	for (uint32_t rank = 0; rank < 2; rank++) {
		assert_int_equal(call(rank, 0)->op, TB_COLL_BROADCAST);
		assert_int_equal(call(rank, 0)->bytes, 64);
		assert_int_equal(call(rank, 0)->peer, 1);
	}
	assert_null(tb_calls_note_at(calls, 0));
}

static void exchanges_wait_for_both_of_their_messages(void **state)
{
	(void)state;
	read_well(HEAD "2:1:1:1:1:100:50000001:41\n2:1:1:1:1:200:50000001:0\n"
		       "2:2:1:2:1:100:50000001:41\n2:2:1:2:1:200:50000001:0\n"
		       "3:1:1:1:1:100:105:2:1:2:1:100:190:4096:7\n"
		       "3:2:1:2:1:100:105:1:1:1:1:100:190:4096:7\n");
	for (uint32_t rank = 0; rank < 2; rank++) {
		assert_true(call(rank, 0)->starts);
		assert_true(call(rank, 1)->starts);
		assert_true(waits_for(rank, 2, 0));
		assert_true(waits_for(rank, 2, 1));
	}
}

static void exchanges_wait_for_no_send_but_their_own(void **state)
{
	(void)state;
	// Task 1 starts a send, exchanges, and waits for what it started.
	read_well(HEAD "2:1:1:1:1:50:50000001:3\n2:1:1:1:1:60:50000001:0\n"
		       "2:1:1:1:1:100:50000001:41\n2:1:1:1:1:200:50000001:0\n"
		       "2:1:1:1:1:300:50000001:5\n2:1:1:1:1:310:50000001:0\n"
		       "2:2:1:2:1:100:50000001:41\n2:2:1:2:1:200:50000001:0\n"
		       "2:2:1:2:1:250:50000001:2\n2:2:1:2:1:310:50000001:0\n"
		       "3:1:1:1:1:50:305:2:1:2:1:250:310:4096:8\n"
		       "3:1:1:1:1:100:105:2:1:2:1:100:190:4096:7\n"
		       "3:2:1:2:1:100:105:1:1:1:1:100:190:4096:7\n");
	assert_int_equal(call(0, 0)->tag, 8);
	assert_int_equal(call(0, 3)->kind, TB_CALL_JOINT);
	assert_true(waits_for(0, 3, 1));
	assert_true(waits_for(0, 3, 2));
	assert_false(waits_for(0, 3, 0));
	assert_true(waits_for(0, 4, 0));
}

// A wait without a message ends what was started first: no send that blocked.
static void waits_are_for_what_was_started(void **state)
{
	(void)state;
	read_well(HEAD "2:1:1:1:1:50:50000001:1\n2:1:1:1:1:60:50000001:0\n"
		       "2:1:1:1:1:100:50000001:3\n2:1:1:1:1:110:50000001:0\n"
		       "2:1:1:1:1:300:50000001:5\n2:1:1:1:1:310:50000001:0\n"
		       "3:1:1:1:1:50:55:2:1:2:1:50:60:4096:7\n"
		       "3:1:1:1:1:100:105:2:1:2:1:100:190:4096:8\n");
	assert_false(call(0, 0)->starts);
	assert_true(call(0, 1)->starts);
	assert_int_equal(call(0, 2)->kind, TB_CALL_JOINT);
	assert_true(waits_for(0, 2, 1));
	assert_false(waits_for(0, 2, 0));
}

static void states_are_calls_where_there_are_no_others(void **state)
{
	(void)state;
	// In microseconds, as traces without a unit are.
	read_well("#Paraver (01/01/26 at 00:00):1000:2(1,1):1:2(1:1,1:2),0\n"
		  "1:1:1:1:1:0:100:1\n1:1:1:1:1:100:110:4\n1:1:1:1:1:110:1000:1\n"
		  "1:2:1:2:1:0:50:1\n1:2:1:2:1:50:300:3\n1:2:1:2:1:300:1000:1\n"
		  "3:1:1:1:1:100:105:2:1:2:1:50:290:4096:7\n");
	assert_int_equal(call(0, 0)->calc_ns, 100000);
	assert_false(call(0, 0)->starts);
	assert_int_equal(call(1, 0)->calc_ns, 50000);
	assert_int_equal(call(1, 0)->kind, TB_CALL_RECV);
	assert_false(call(1, 0)->starts);
	assert_int_equal(call(1, 1)->calc_ns, 700000);
}

static void messages_outside_calls_start_where_they_are(void **state)
{
	(void)state;
	read_well(HEAD "3:1:1:1:1:100:105:2:1:2:1:50:290:4096:7\n");
	assert_int_equal(call(0, 0)->calc_ns, 100);
	assert_true(call(0, 0)->starts);
	assert_int_equal(call(1, 0)->calc_ns, 50);
}

static void calls_of_before_the_beginning_are_no_computation(void **state)
{
	(void)state;
	read_well(HEAD "2:1:1:1:1:60:50000002:0\n"
		       "3:1:1:1:1:100:105:2:1:2:1:50:290:4096:7\n");
	assert_int_equal(call(0, 0)->calc_ns, 40);
	assert_true(noted("1 MPI call entered before the trace begins"));
}

static void what_is_whole_of_lines_is_taken(void **state)
{
	(void)state;
	char text[sizeof one_message + 40];
	snprintf(text, sizeof text, "%s2:1:1:1:1:400:50000001", one_message);
	assert_int_equal(read_it(text), TB_EFORMAT);
	assert_string_equal(error.text,
		"expected events as TYPE:VALUE (--lenient takes what is whole)");
	reading.lenient = true;
	read_well(text);
	assert_int_equal(call(0, 0)->bytes, 4096);
	assert_true(noted("1 file breaks off"));
	// The program ended no earlier than the last line, and nobody knows when.
	assert_int_equal(call(0, 1)->calc_ns, 50);
	assert_int_equal(call(0, 2)->calc_ns, 130);
	tb_calls_free(calls);
	calls = NULL;
	// A number that is cut looks whole: 12345 bytes, of which 1 is left.
	snprintf(
		text, sizeof text, "%s3:1:1:1:1:110:115:2:1:2:1:20:290:1:1", one_message);
	read_well(text);
	assert_int_equal(count_rank(0).n_sends, 1);
	tb_calls_free(calls);
	calls = NULL;
	assert_int_equal(read_it(HEAD "2:1:1:1:1:1:1\n"), TB_EFORMAT); // in the middle
	assert_null(strstr(error.text, "--lenient"));
	assert_int_equal(read_it("#Paraver (01/01/26 at 00:00):100"), TB_EFORMAT);
	assert_null(strstr(error.text, "--lenient"));
}

static void damage_is_named_by_its_line(void **state)
{
	(void)state;
	static const struct {
		const char *text, *sentence;
		uint64_t line;
	} cases[] = {
		{"#Paraver (1):10_ns:1(1):1:1(1:1\n", "task 1 of an application", 1},
		{"#Paraver (1):10_ds:1(1):1:1(1:1)\n", "a unit of time 'ds:1(1):'", 1},
		{"#Paraver (1):10_ns:1(1):1:2(1:1)\n", "task 1 of an application", 1},
		{HEAD "2:1:1:3:1:10:1:1\n", "a task of application 1, 1 to 2", 2},
		{HEAD "2:1:1:1:2:10:1:1\n", "a thread of the task, 1 to 1", 2},
		{HEAD "2:1:1:1:1:x:1:1\n", "expected a time", 2},
		{HEAD "2:1:1:1:1:1:1\n", "expected events as TYPE:VALUE", 2},
		{HEAD "1:1:1:1:1:9:5:1\n", "ends before it begins", 2},
		{HEAD "\n3:1:1:1:1:1:1:1:1:1:1:1:1:9\n", "size and tag of a message", 3},
		{HEAD "3:1:1:1:1:1:1:1:1:1:1:1:1:99999999999999999999:1\n",
			"size and tag", 2},
		{HEAD "c:1:1:2:1\n", "a communicator of 2", 2},
		{HEAD "4:1\n", "'4:1': expected a state", 2},
		{HEAD, "neither messages nor MPI calls", 0},
		{HEAD "2:1:1:1:1:1:50000002:8:50100004:3\n", "communicator 3", 0},
		{HEAD "c:1:3:1:2\n2:1:1:1:1:1:50000002:8:50100004:3\n", "it is not in",
			0},
		{HEAD "c:1:3:1:9\n2:1:1:1:1:1:50000002:8:50100004:3\n",
			"has task 9 of application 1, which has 2", 0},
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		error = (struct tb_error){0};
		assert_int_equal(read_it(cases[i].text), TB_EFORMAT);
		if (!strstr(error.text, cases[i].sentence))
			fail_msg("case %zu: %s", i, error.text);
		if (cases[i].line)
			assert_int_equal(error.at, cases[i].line);
	}
}

// A pipe would be waited for; what cannot be opened is not as if it were absent.
static void files_beside_the_trace_that_cannot_be_read_are_named(void **state)
{
	(void)state;
	static const char whole[] = HEAD "3:1:1:1:1:100:100:2:1:2:1:200:200:5:9\n";
	static const char *const names[] = {"t.pcf", "t.row"};
	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		char path[100];
		snprintf(path, sizeof path, "%s/%s", folder, names[i]);
		assert_int_equal(mkfifo(path, 0666), 0);
		alarm(20); // instead of a test that hangs
		assert_int_equal(read_it(whole), TB_EFORMAT);
		alarm(0);
		assert_string_equal(error.file, path);
		assert_string_equal(
			error.text, "is no regular file: expected a file of the trace");
		unlink(path);
		assert_int_equal(symlink(names[i], path), 0); // a circle
		assert_int_equal(read_it(whole), TB_EIO);
		assert_string_equal(error.file, path);
		assert_string_equal(error.text,
			"cannot be opened: Too many levels of symbolic links");
		unlink(path);
		assert_int_equal(symlink("absent", path), 0);
		read_well(whole);
		tb_calls_free(calls);
		calls = NULL;
		unlink(path);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		IN_FOLDER(lulesh_has_484_messages),
		IN_FOLDER(time_outside_calls_is_computation),
		IN_FOLDER(calls_are_known_by_their_names),
		IN_FOLDER(types_around_those_of_mpi_are_no_calls),
		IN_FOLDER(sends_of_one_time_are_in_the_order_of_their_receives),
		IN_FOLDER(messages_of_one_time_are_in_the_order_of_their_tags),
		IN_FOLDER(the_root_says_that_it_is_one),
		IN_FOLDER(exchanges_wait_for_both_of_their_messages),
		IN_FOLDER(exchanges_wait_for_no_send_but_their_own),
		IN_FOLDER(waits_are_for_what_was_started),
		IN_FOLDER(states_are_calls_where_there_are_no_others),
		IN_FOLDER(messages_outside_calls_start_where_they_are),
		IN_FOLDER(calls_of_before_the_beginning_are_no_computation),
		IN_FOLDER(what_is_whole_of_lines_is_taken),
		IN_FOLDER(damage_is_named_by_its_line),
		IN_FOLDER(files_beside_the_trace_that_cannot_be_read_are_named),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

// Exports of Nsight Systems become the calls of their MPI ranks.
#include "nsys_export.h"
#include "trace_folder.h"

#include <sqlite3.h>

static const char tables[] =
	"CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value TEXT);"
	"INSERT INTO StringIds VALUES (1,'MPI_Init'),(2,'MPI_Isend'),(3,'MPI_Irecv'),"
	"(4,'MPI_Wait'),(5,'MPI_Waitall'),(6,'MPI_Iallreduce'),(7,'MPI_Send'),"
	"(8,'MPI_Recv'),(9,'MPI_Alltoallv'),(10,'MPI_Sendrecv'),(11,'MPI_Bcast');"
	"CREATE TABLE MPI_RANKS (globalTid INTEGER, rank INTEGER);"
	"CREATE TABLE MPI_P2P_EVENTS (start INTEGER, end INTEGER, globalTid INTEGER, "
	"textId INTEGER, commHandle INTEGER, tag INTEGER, remoteRank INTEGER, size "
	"INTEGER, requestHandle INTEGER);"
	"CREATE TABLE MPI_COLLECTIVES_EVENTS (start INTEGER, end INTEGER, globalTid "
	"INTEGER, textId INTEGER, commHandle INTEGER, rootRank INTEGER, size INTEGER, "
	"recvSize INTEGER, requestHandle INTEGER);"
	"CREATE TABLE MPI_START_WAIT_EVENTS (start INTEGER, end INTEGER, globalTid "
	"INTEGER, textId INTEGER, requestHandle INTEGER);"
	"CREATE TABLE MPI_OTHER_EVENTS (start INTEGER, end INTEGER, globalTid INTEGER, "
	"textId INTEGER);";

static void put_export(const char *name, const char *first, const char *then)
{
	sqlite3 *db;
	const char *path = in_folder(name);
	unlink(path);
	assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
	if (sqlite3_exec(db, first, NULL, NULL, NULL) != SQLITE_OK ||
		sqlite3_exec(db, then, NULL, NULL, NULL) != SQLITE_OK)
		fail_msg("%s", sqlite3_errmsg(db));
	sqlite3_close(db);
}

static int read_folder(void)
{
	const char *made = "", *path = folder;
	int status = tb_nsys_read(&calls, &reading, &path, 1, &made, &error);
	if (status == TB_OK)
		assert_null(made);
	else
		assert_null(calls);
	return status;
}

static void read_well(const char *rows)
{
	put_export("t.sqlite", tables, rows);
	if (read_folder() != TB_OK)
		fail_msg("%s", error.text);
}

static void refuses(const char *rows, const char *sentence)
{
	put_export("t.sqlite", tables, rows);
	assert_int_equal(read_folder(), TB_EFORMAT);
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

// Threads 1 and 2 of processes 1 and 2 are of ranks 0 and 1.
#define RANKS	   "INSERT INTO MPI_RANKS VALUES (16777217,0),(33554434,1);"
#define P2P(row)   "INSERT INTO MPI_P2P_EVENTS VALUES (" row ");"
#define COLL(row)  "INSERT INTO MPI_COLLECTIVES_EVENTS VALUES (" row ");"
#define WAIT(row)  "INSERT INTO MPI_START_WAIT_EVENTS VALUES (" row ");"
#define OTHER(row) "INSERT INTO MPI_OTHER_EVENTS VALUES (" row ");"

static void test_messages_have_partner_size_and_tag(void **state)
{
	(void)state;
	read_well(RANKS P2P("10,20,16777217,7,9,5,1,100,NULL")
			P2P("12,30,33554434,8,9,5,0,120,NULL"));
	assert_int_equal(tb_calls_n_ranks(calls), 2);
	assert_int_equal(call(0, 0)->kind, TB_CALL_SEND);
	assert_int_equal(call(0, 0)->peer, 1);
	assert_int_equal(call(0, 0)->bytes, 100);
	assert_int_equal(call(0, 0)->tag, 5);
	assert_int_equal(call(0, 0)->leave_ns, 10);
	assert_int_equal(call(1, 0)->kind, TB_CALL_RECV);
}

static void test_time_between_calls_is_computation(void **state)
{
	(void)state;
	read_well(RANKS OTHER("100,200,16777217,1") P2P("250,260,16777217,7,9,5,1,1,NULL")
			OTHER("270,300,16777217,1") P2P("310,320,16777217,7,9,5,1,1,NULL")
				P2P("1,2,33554434,8,9,5,0,1,NULL"));
	assert_int_equal(call(0, 0)->calc_ns, 50);
	assert_int_equal(call(0, 0)->enter_ns, 150);
	assert_int_equal(call(0, 1)->calc_ns, 10 + 10);
}

static void test_waits_are_for_their_requests(void **state)
{
	(void)state;
	uint32_t n;
	read_well(RANKS P2P("1,2,16777217,2,9,5,1,8,71") P2P("3,4,16777217,3,9,5,1,8,72")
			WAIT("5,6,16777217,4,72") WAIT("7,8,16777217,5,NULL")
				P2P("1,2,33554434,7,9,5,0,8,NULL"));
	assert_true(call(0, 0)->starts);
	assert_int_equal(call(0, 2)->kind, TB_CALL_JOINT);
	assert_int_equal(tb_calls_befores(calls, 0, 2, &n)[0], 1);
	assert_int_equal(n, 1);
	assert_int_equal(tb_calls_befores(calls, 0, 3, &n)[0], 0);
	assert_int_equal(n, 1);
}

static void test_collectives_have_their_sizes(void **state)
{
	(void)state;
	read_well(RANKS COLL("1,2,16777217,9,9,NULL,80,80,NULL") COLL(
		"3,4,16777217,11,9,1,NULL,64,NULL") COLL("5,6,16777217,6,9,NULL,8,8,70")
			OTHER("1,2,33554434,1"));
	assert_int_equal(call(0, 0)->op, TB_COLL_ALLTOALL);
	assert_int_equal(call(0, 0)->bytes, 40); // of two members
	assert_int_equal(call(0, 1)->op, TB_COLL_BROADCAST);
	assert_int_equal(call(0, 1)->bytes, 64);
	assert_int_equal(call(0, 1)->peer, 1);
	assert_int_equal(call(0, 2)->op, TB_COLL_ALLREDUCE);
	assert_true(call(0, 2)->starts);
}

static void test_threads_of_a_process_are_lanes(void **state)
{
	(void)state;
	read_well(RANKS P2P("1,2,16777217,7,9,5,1,8,NULL") P2P(
		"1,2,16777299,7,9,5,1,8,NULL") P2P("1,2,33554434,8,9,5,0,8,NULL"));
	assert_int_equal(call(0, 0)->lane + call(0, 1)->lane, 1);
}

static void test_several_exports_are_one_job(void **state)
{
	(void)state;
	put_export("a.sqlite", tables,
		"INSERT INTO MPI_RANKS VALUES (16777217,1);"
		"CREATE TABLE TARGET_INFO_SYSTEM_ENV (name TEXT, value TEXT);"
		"INSERT INTO TARGET_INFO_SYSTEM_ENV VALUES ('Hostname','n02');" P2P(
			"1,2,16777217,7,9,5,0,8,NULL"));
	assert_true(tb_nsys_is_folder(folder));
	assert_int_equal(read_folder(), TB_EFORMAT);
	assert_non_null(strstr(error.text, "not rank 0"));
	put_export("b.sqlite", tables,
		"INSERT INTO MPI_RANKS VALUES (16777217,0);" P2P(
			"1,2,16777217,8,9,5,1,8,NULL"));
	assert_int_equal(read_folder(), TB_OK);
	assert_string_equal(tb_calls_host_of(calls, 1), "n02");
	assert_null(tb_calls_host_of(calls, 0));
	tb_calls_free(calls);
	calls = NULL;
	put_export("c.sqlite", tables, "INSERT INTO MPI_RANKS VALUES (16777217,0);");
	assert_int_equal(read_folder(), TB_EFORMAT);
	assert_non_null(strstr(error.text, "as another export has"));
}

static void test_what_is_missing_is_named(void **state)
{
	(void)state;
	refuses(RANKS, "has no MPI calls");
	refuses(P2P("1,2,16777217,7,9,5,1,8,NULL"), "not which rank made them");
	refuses(RANKS P2P("1,2,16777217,7,9,5,1,8,NULL") P2P(
			"3,4,16777217,7,8,5,1,8,NULL") P2P("1,2,33554434,8,9,5,0,8,NULL"),
		"several communicators");
	refuses(RANKS P2P("1,2,16777217,8,9,-1,1,8,NULL"), "any source");
	refuses(RANKS P2P("1,2,16777217,7,9,5,2,8,NULL"), "names rank 2 of 2");
	put_export("t.sqlite", "CREATE TABLE StringIds (id INTEGER, value TEXT);",
		"CREATE TABLE MPI_P2P_EVENTS (start INTEGER, end INTEGER, textId "
		"INTEGER)");
	assert_int_equal(read_folder(), TB_EFORMAT);
	assert_non_null(strstr(error.text, "without their sizes and partners"));
}

static void test_lenient_leaves_out_what_is_not_told(void **state)
{
	(void)state;
	uint32_t n;
	reading.lenient = true;
	read_well(RANKS P2P("1,2,16777217,10,9,5,1,8,NULL") P2P(
		"3,4,16777217,7,9,5,1,8,NULL") P2P("5,6,16777217,7,8,5,1,8,NULL")
			P2P("1,2,33554434,8,9,-1,-1,8,NULL"));
	assert_null(tb_calls_of(calls, 1, &n) && n ? "calls" : NULL);
	assert_non_null(strstr(tb_calls_note_at(calls, 0), "1 MPI call is left out"));
	assert_non_null(strstr(tb_calls_note_at(calls, 1), "2 MPI calls are left out"));
	assert_non_null(strstr(tb_calls_note_at(calls, 2), "any source"));
}

static void test_foreign_sql_does_not_run(void **state)
{
	(void)state;
	put_export("t.sqlite", "CREATE TABLE StringIds (id INTEGER, value TEXT);",
		"CREATE VIEW MPI_RANKS AS WITH RECURSIVE c(i) AS (SELECT 1 UNION ALL "
		"SELECT "
		"i + 1 FROM c) SELECT i AS globalTid, i AS rank FROM c;"
		"CREATE TABLE MPI_OTHER_EVENTS (start INTEGER, end INTEGER, globalTid "
		"INTEGER, textId INTEGER AS (length(zeroblob(100000000))));"
		"INSERT INTO MPI_OTHER_EVENTS (start, end, globalTid) VALUES (1,2,3)");
	assert_int_equal(read_folder(), TB_EFORMAT);
	assert_non_null(strstr(error.text, "has no MPI calls"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		IN_FOLDER(test_messages_have_partner_size_and_tag),
		IN_FOLDER(test_time_between_calls_is_computation),
		IN_FOLDER(test_waits_are_for_their_requests),
		IN_FOLDER(test_collectives_have_their_sizes),
		IN_FOLDER(test_threads_of_a_process_are_lanes),
		IN_FOLDER(test_several_exports_are_one_job),
		IN_FOLDER(test_what_is_missing_is_named),
		IN_FOLDER(test_lenient_leaves_out_what_is_not_told),
		IN_FOLDER(test_foreign_sql_does_not_run),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

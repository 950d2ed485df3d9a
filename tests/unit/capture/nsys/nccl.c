// Ranges of NCCL in exports of Nsight Systems become calls, with sizes and communicators
// of their payloads, which exports have as bytes or as JSON.
#include "nsys_export.h"
#include "trace_folder.h"

#include <sqlite3.h>

// Domain 3. NCCL's schemas 1 (a communicator is made), 2 (all-reduce), 3 (messages), 4
// (broadcast); the first offset is none, as exports have it.
static const char tables[] =
	"CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value TEXT);"
	"INSERT INTO StringIds VALUES (1,'ncclCommInitRankConfig'),(2,'ncclAllReduce'),"
	"(3,'ncclSend'),(4,'ncclRecv'),(5,'ncclGroupStart'),(6,'ncclGroupEnd'),"
	"(7,'ncclReduceScatter'),(8,'ncclBroadcast');"
	"CREATE TABLE TARGET_INFO_SYSTEM_ENV (name TEXT, value TEXT);"
	"CREATE TABLE NVTX_EVENTS (start INTEGER, end INTEGER, eventType INTEGER, text "
	"TEXT, globalTid INTEGER, textId INTEGER, domainId INTEGER, jsonText TEXT, "
	"binaryData BLOB);"
	"CREATE TABLE NVTX_PAYLOAD_SCHEMA_ENTRIES (domainId INTEGER, schemaId INTEGER, "
	"idx INTEGER, type INTEGER, name TEXT, offset INTEGER);"
	"INSERT INTO NVTX_PAYLOAD_SCHEMA_ENTRIES VALUES "
	"(3,1,0,18,'NCCL communicator ID',NULL),(3,1,1,5,'No. of ranks',8),"
	"(3,1,2,5,'Rank',12),(3,1,3,5,'CUDA device',16),"
	"(3,2,0,18,'NCCL communicator ID',NULL),(3,2,1,22,'Message size [bytes]',8),"
	"(3,2,2,16777217,'Reduction operation',16),"
	"(3,3,0,18,'NCCL communicator ID',NULL),(3,3,1,22,'Message size [bytes]',NULL),"
	"(3,3,2,5,'Peer rank',NULL),"
	"(3,4,0,18,'NCCL communicator ID',NULL),(3,4,1,22,'Message size [bytes]',8),"
	"(3,4,2,5,'Root',16);";

static char rows[8192];

static void insert(uint64_t start, unsigned process, int name, const char *payload)
{
	size_t n = strlen(rows);
	snprintf(rows + n, sizeof rows - n,
		"INSERT INTO NVTX_EVENTS VALUES (%llu,%llu,59,NULL,%u,%d,3,%s);",
		(unsigned long long)start, (unsigned long long)start + 1,
		(process << 24) + 1, name, payload);
}

// json_range adds a range whose payload the export has as JSON.
static void json_range(uint64_t start, unsigned process, int name, const char *json)
{
	char text[500];
	snprintf(text, sizeof text, "'%s',NULL", json);
	insert(start, process, name, text);
}

static void hex(char *text, uint64_t value, int n_bytes)
{
	for (int i = 0; i < n_bytes; i++)
		sprintf(text + strlen(text), "%02x", (unsigned)(value >> 8 * i & 0xff));
}

// range adds one whose payload is bytes: two numbers of 8 bytes and up to two of 4, or
// for schema 1 one of 8 and three of 4.
static void range(uint64_t start, unsigned process, int name, unsigned schema,
	const uint64_t *values)
{
	char text[300] = "NULL,X'";
	int n_long = schema == 1 ? 1 : 2, n_short = schema == 1 ? 3 : 1;
	hex(text, 3, 8);
	hex(text, schema, 8);
	hex(text, 24, 8);
	hex(text, 32, 8);
	for (int i = 0; i < n_long + n_short; i++)
		hex(text, values[i], i < n_long ? 8 : 4);
	strcat(text, "'");
	insert(start, process, name, text);
}

#define RANGE(start, process, name, schema, ...)                                         \
	range(start, process, name, schema, (const uint64_t[]){__VA_ARGS__})
#define NAME_INIT	    1
#define NAME_ALLREDUCE	    2
#define NAME_SEND	    3
#define NAME_RECV	    4
#define NAME_GROUP_START    5
#define NAME_GROUP_END	    6
#define NAME_REDUCE_SCATTER 7
#define NAME_BROADCAST	    8

static void put_export(const char *name, const char *more)
{
	sqlite3 *db;
	const char *path = in_folder(name);
	unlink(path);
	assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
	if (sqlite3_exec(db, tables, NULL, NULL, NULL) != SQLITE_OK ||
		sqlite3_exec(db, rows, NULL, NULL, NULL) != SQLITE_OK ||
		sqlite3_exec(db, more, NULL, NULL, NULL) != SQLITE_OK)
		fail_msg("%s", sqlite3_errmsg(db));
	sqlite3_close(db);
	rows[0] = '\0';
}

static int set_up(void **state)
{
	rows[0] = '\0';
	return make_folder(state);
}

static int read_folder(void)
{
	const char *made = "", *path = folder;
	int status = tb_nsys_read(&calls, &reading, &path, 1, &made, &error);
	if (status == TB_OK)
		assert_string_equal(made, "nccl");
	return status;
}

static void read_well(void)
{
	if (read_folder() != TB_OK)
		fail_msg("%s", error.text);
}

static void refuses(const char *sentence)
{
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

static bool is_noted(const char *sentence)
{
	const char *note;
	for (size_t i = 0; (note = tb_calls_note_at(calls, i)); i++)
		if (strstr(note, sentence))
			return true;
	return false;
}

static void sizes_ranks_and_groups_are_those_of_the_payloads(void **state)
{
	(void)state;
	// Rank 1 is the first process of the first export.
	RANGE(10, 5, NAME_INIT, 1, 77, 2, 1, 0);
	RANGE(30, 5, NAME_ALLREDUCE, 2, 77, 4096, 0);
	RANGE(40, 5, NAME_BROADCAST, 4, 77, 100, 1);
	put_export("a.sqlite",
		"INSERT INTO TARGET_INFO_SYSTEM_ENV VALUES ('Hostname','n1');");
	RANGE(1010, 5, NAME_INIT, 1, 77, 2, 0, 0);
	RANGE(1040, 5, NAME_BROADCAST, 4, 77, 100, 1);
	RANGE(1030, 5, NAME_ALLREDUCE, 2, 77, 4096, 0);
	put_export("b.sqlite",
		"INSERT INTO TARGET_INFO_SYSTEM_ENV VALUES ('Hostname','n0');");
	read_well();
	assert_int_equal(tb_calls_n_ranks(calls), 2);
	assert_string_equal(tb_calls_host_of(calls, 0), "n0");
	assert_string_equal(tb_calls_host_of(calls, 1), "n1");
	for (uint32_t rank = 0; rank < 2; rank++) {
		assert_int_equal(call(rank, 0)->kind, TB_CALL_COLLECTIVE);
		assert_int_equal(call(rank, 0)->op, TB_COLL_ALLREDUCE);
		assert_int_equal(call(rank, 0)->bytes, 4096);
		assert_int_equal(call(rank, 0)->enter_ns, 20);
		assert_int_equal(call(rank, 1)->op, TB_COLL_BROADCAST);
		assert_int_equal(call(rank, 1)->peer, 1);
	}
	assert_true(is_noted("the exports do not tell what was computed"));
}

static void json_is_read_as_bytes_are(void **state)
{
	(void)state;
	for (unsigned rank = 0; rank < 2; rank++) {
		char text[200];
		snprintf(text, sizeof text,
			"{\"NCCL communicator ID\": 12715772615376301750, \"No. of "
			"ranks\": 2, \"Rank\": %u, \"CUDA device\": %u}",
			rank, rank);
		json_range(1, rank + 1, NAME_INIT, text);
		json_range(2, rank + 1, NAME_REDUCE_SCATTER,
			"{\"NCCL communicator ID\": 12715772615376301750, \"Message size "
			"[bytes]\": \"0x100\"}");
	}
	put_export("t.sqlite", "");
	read_well();
	assert_int_equal(call(0, 0)->op, TB_COLL_REDUCE_SCATTER);
	assert_int_equal(call(0, 0)->bytes, 2 * 256);
	assert_int_equal(call(1, 0)->bytes, 2 * 256);
}

static void messages_of_a_group_go_at_once(void **state)
{
	(void)state;
	for (unsigned rank = 0; rank < 2; rank++) {
		RANGE(1, rank + 1, NAME_INIT, 1, 7, 2, rank, rank);
		insert(2, rank + 1, NAME_GROUP_START, "NULL,NULL");
		RANGE(3, rank + 1, NAME_SEND, 3, 7, 64, 1 - rank);
		RANGE(4, rank + 1, NAME_RECV, 3, 7, 64, 1 - rank);
		insert(5, rank + 1, NAME_GROUP_END, "NULL,NULL");
	}
	RANGE(6, 1, NAME_SEND, 3, 7, 8, 1);
	RANGE(6, 2, NAME_RECV, 3, 7, 8, 0);
	put_export("t.sqlite", "");
	read_well();
	uint32_t n;
	assert_int_equal(call(0, 0)->kind, TB_CALL_SEND);
	assert_int_equal(call(0, 0)->peer, 1);
	assert_int_equal(call(0, 1)->kind, TB_CALL_RECV);
	assert_int_equal(call(0, 2)->kind, TB_CALL_JOINT);
	tb_calls_befores(calls, 0, 2, &n);
	assert_int_equal(n, 2);
	assert_int_equal(call(0, 3)->bytes, 8);
}

static void calls_without_a_size_are_counted(void **state)
{
	(void)state;
	for (unsigned rank = 0; rank < 2; rank++) {
		RANGE(1, rank + 1, NAME_INIT, 1, 7, 2, rank, rank);
		RANGE(2, rank + 1, NAME_ALLREDUCE, 2, 7, 64, 0);
		insert(3, rank + 1, NAME_ALLREDUCE, "NULL,X'0300'");
		insert(4, rank + 1, NAME_ALLREDUCE, "'{\"Message size',NULL");
	}
	put_export("t.sqlite", "");
	read_well();
	assert_true(is_noted("4 calls of NCCL are left out: the export does not tell"));
	insert(3, 1, NAME_ALLREDUCE, "NULL,NULL");
	put_export("t.sqlite", "");
	tb_calls_free(calls);
	calls = NULL;
	refuses("has 0 kernels and 1 call of NCCL, and nothing tells what they send");
}

static void communicators_that_nobody_made_are_those_who_call(void **state)
{
	(void)state;
	for (unsigned rank = 0; rank < 3; rank++)
		RANGE(2, rank + 1, NAME_ALLREDUCE, 2, 7, 64, 0);
	put_export("t.sqlite", "");
	read_well();
	assert_int_equal(tb_calls_n_ranks(calls), 3);
	assert_true(is_noted("were made before the recording began"));
	RANGE(2, 1, NAME_ALLREDUCE, 2, 7, 64, 0);
	put_export("t.sqlite", "");
	tb_calls_free(calls);
	calls = NULL;
	refuses("1 call of NCCL of which it does not say");
}

static void what_cannot_be_is_refused(void **state)
{
	(void)state;
	static const struct {
		uint64_t init[4], call[3];
		int name;
		const char *sentence;
	} cases[] = {
		{{7, 2, 2, 0}, {7, 1, 0}, NAME_SEND, "a rank or a number of ranks that"},
		{{7, 2, 0, 0}, {7, 1, 2}, NAME_SEND,
			"a size, root or partner that cannot"},
		{{7, 2, 0, 0}, {7, UINT64_C(1) << 50, 1}, NAME_SEND, "a size, root or"},
		{{7, 2, 0, 0}, {7, 1, 1}, NAME_SEND, "but the lines of only 1 of them"},
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		range(1, 1, NAME_INIT, 1, cases[i].init);
		range(2, 1, cases[i].name, 3, cases[i].call);
		put_export("t.sqlite", "");
		refuses(cases[i].sentence);
	}
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, drop_folder)
	const struct CMUnitTest tests[] = {
		TEST(sizes_ranks_and_groups_are_those_of_the_payloads),
		TEST(json_is_read_as_bytes_are),
		TEST(messages_of_a_group_go_at_once),
		TEST(calls_without_a_size_are_counted),
		TEST(communicators_that_nobody_made_are_those_who_call),
		TEST(what_cannot_be_is_refused),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

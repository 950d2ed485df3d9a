// Sweeps on many machines, with threads for machines: whatever becomes of the workers,
// the store has the rows of one machine's, or an error says why not.
#include "sweep_peers.h"

#include "../../support/peers_in_threads.h"

#include "sweep_work.h"

#include <pthread.h>
#include <setjmp.h>
#include <sqlite3.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

// Long against what a busy machine makes a thread wait.
// Where a worker is to be lost, the leader waits so long; where none is, nobody loses
// patience with a machine that stands still for a while.
#define SILENCE_S 4.0
#define PATIENT_S 100.0

// The sweep: eight points, of some milliseconds each.
static const char *const changes[] = {
	"nodes=16", "message=16K", "load=0.5,1", "seed=1..4", "warm=1ms", "window=1ms"};
enum { N_CHANGES = sizeof changes / sizeof *changes };

// What a worker does.
enum conduct {
	WORKS,
	TAKES_A_POINT_AND_IS_LOST,
	SENDS_HALF_AND_IS_LOST,
	SENDS_STRAY_PIECES,
	SENDS_NO_STORE,
	HAS_ANOTHER_SWEEP,
};

struct worker {
	struct desk desk;
	enum conduct conduct;
	double silence_s;
	bool all_there;
	int status;
};

static void wait_for(const struct tb_peers *peers, struct tb_sweep_message *message,
	enum tb_sweep_word word)
{
	uint32_t from;
	size_t n;
	while (tb_sweep_hear(peers, &from, message, &n) == 0 || message->word != word)
		nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
}

static void say_piece(const struct tb_peers *peers, uint32_t point, uint64_t at,
	uint64_t total, size_t n)
{
	struct tb_sweep_message piece = {
		.word = TB_SWEEP_PIECE, .point = point, .at = at, .total = total};
	memset(piece.bytes, 'x', n);
	assert_int_equal(tb_sweep_say(peers, 0, &piece, n), TB_OK);
}

// misbehave plays a worker up to its first point.
static void misbehave(const struct worker *worker, const struct tb_peers *peers)
{
	struct tb_sweep_message message;
	wait_for(peers, &message, TB_SWEEP_BEGIN);
	assert_int_equal(tb_sweep_say_word(peers, 0, TB_SWEEP_READY), TB_OK);
	wait_for(peers, &message, TB_SWEEP_POINT);
	if (worker->conduct == SENDS_HALF_AND_IS_LOST)
		say_piece(peers, message.point, 0, 6000, 3000);
	if (worker->conduct == SENDS_NO_STORE)
		say_piece(peers, message.point, 0, 3000, 3000);
	if (worker->conduct == SENDS_STRAY_PIECES) {
		say_piece(peers, message.point + 1, 0, 10, 10);
		say_piece(peers, message.point, 500, 600, 100);
		say_piece(peers, message.point, 0, 100, 50);
		say_piece(peers, message.point, 0, 0, 0);
		say_piece(peers, message.point, 20, 100, 50);
		say_piece(peers, message.point, 50, 100, 51);
		assert_int_equal(peers->send(peers->context, 0, "?", 1), TB_OK);
	}
}

static void *work(void *context)
{
	struct worker *worker = context;
	const struct tb_peers peers = peers_of(&worker->desk);
	const struct tb_sweep_serve_options options = {.name = "uniform",
		.changes = changes,
		.n_changes =
			worker->conduct == HAS_ANOTHER_SWEEP ? N_CHANGES - 1 : N_CHANGES,
		.silence_s = worker->silence_s};
	struct tb_error error;
	if (worker->conduct == WORKS || worker->conduct == HAS_ANOTHER_SWEEP)
		worker->status =
			tb_sweep_serve(&options, &peers, &worker->all_there, &error);
	else
		misbehave(worker, &peers);
	return NULL;
}

struct outcome {
	int status;
	bool all_there;
	struct tb_sweep_progress progress;
	struct tb_error error;
	uint64_t rows;
};

// add_rows adds all rows of a table to a hash.
static uint64_t add_rows(sqlite3 *db, const char *table, uint64_t hash)
{
	char sql[128];
	sqlite3_stmt *rows = NULL;
	snprintf(sql, sizeof sql, "SELECT * FROM %s", table);
	assert_int_equal(sqlite3_prepare_v2(db, sql, -1, &rows, NULL), SQLITE_OK);
	while (sqlite3_step(rows) == SQLITE_ROW)
		for (int i = 0; i < sqlite3_column_count(rows); i++) {
			const char *text = (const char *)sqlite3_column_text(rows, i);
			for (; text && *text; text++)
				hash = (hash ^ (unsigned char)*text) * 1099511628211u;
			hash = (hash ^ 0xff) * 1099511628211u;
		}
	sqlite3_finalize(rows);
	return hash;
}

static uint64_t hash_of(const char *path)
{
	sqlite3 *db = NULL;
	sqlite3_stmt *tables = NULL;
	uint64_t hash = 14695981039346656037u;
	assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
	assert_int_equal(sqlite3_prepare_v2(db,
				 "SELECT name FROM sqlite_schema WHERE type = 'table' "
				 "AND name <> 'run_environment' ORDER BY name",
				 -1, &tables, NULL),
		SQLITE_OK);
	while (sqlite3_step(tables) == SQLITE_ROW)
		hash = add_rows(db, (const char *)sqlite3_column_text(tables, 0), hash);
	sqlite3_finalize(tables);
	sqlite3_close(db);
	return hash;
}

static void read_sweep(struct tb_sweep *sweep)
{
	struct tb_error error;
	assert_int_equal(
		tb_sweep_read(sweep, "uniform", changes, N_CHANGES, &error), TB_OK);
	assert_int_equal(sweep->n_points, 8);
}

static char *new_path(char *path, size_t size)
{
	snprintf(path, size, "/tmp/tailback-peers-XXXXXX");
	int descriptor = mkstemp(path);
	assert_true(descriptor >= 0);
	close(descriptor);
	unlink(path);
	return path;
}

// lead runs the sweep with n workers of these conducts; a silent one is lost after
// silence_s.
static struct outcome lead(const enum conduct *conducts, uint32_t n, double silence_s)
{
	char path[64];
	struct outcome outcome = {0};
	struct mail mail = {.mutex = PTHREAD_MUTEX_INITIALIZER, .n = n + 1};
	struct desk desk = {&mail, 0};
	const struct tb_peers peers = peers_of(&desk);
	const struct tb_sweep_lead_options options = {
		{.output = new_path(path, sizeof path)}, silence_s};
	struct worker workers[RANKS_MOST] = {0};
	pthread_t threads[RANKS_MOST];
	struct tb_sweep sweep;
	read_sweep(&sweep);
	for (uint32_t i = 0; i < n; i++) {
		workers[i] = (struct worker){
			{&mail, i + 1}, conducts[i], silence_s, false, TB_OK};
		assert_int_equal(pthread_create(&threads[i], NULL, work, &workers[i]), 0);
	}
	outcome.status = tb_sweep_lead(&outcome.progress, &sweep, &options, &peers,
		&outcome.all_there, &outcome.error);
	for (uint32_t i = 0; i < n; i++) {
		pthread_join(threads[i], NULL);
		assert_int_equal(workers[i].status, TB_OK);
		if (conducts[i] == WORKS)
			assert_int_equal(workers[i].all_there, outcome.all_there);
	}
	for (uint32_t rank = 0; rank <= n; rank++) {
		struct desk rest = {&mail, rank};
		struct tb_sweep_message message;
		const struct tb_peers reader = peers_of(&rest);
		uint32_t from;
		size_t size;
		while (mail.first[rank])
			(void)!tb_sweep_hear(&reader, &from, &message, &size);
	}
	if (outcome.status == TB_OK)
		outcome.rows = hash_of(path);
	unlink(path);
	tb_sweep_fini(&sweep);
	return outcome;
}

// alone runs the same sweep on this machine.
static uint64_t alone(void)
{
	char path[64];
	struct tb_sweep sweep;
	struct tb_sweep_progress progress;
	struct tb_error error;
	const struct tb_sweep_run_options options = {
		.output = new_path(path, sizeof path), .n_workers = 1};
	read_sweep(&sweep);
	assert_int_equal(tb_sweep_run(&progress, &sweep, &options, &error), TB_OK);
	uint64_t rows = hash_of(path);
	unlink(path);
	tb_sweep_fini(&sweep);
	return rows;
}

static void expect_whole(const struct outcome *outcome)
{
	if (outcome->status != TB_OK)
		fprintf(stderr, "%s\n", outcome->error.text);
	assert_int_equal(outcome->status, TB_OK);
	assert_int_equal(outcome->progress.n_done, 8);
	assert_true(outcome->rows == alone());
}

static void any_number_of_workers_gives_the_rows_of_one_machine(void **state)
{
	(void)state;
	static const enum conduct conducts[] = {WORKS, WORKS, WORKS};
	for (uint32_t n = 1; n <= 3; n++) {
		const struct outcome outcome = lead(conducts, n, PATIENT_S);
		expect_whole(&outcome);
		assert_true(outcome.all_there);
	}
}

static void the_point_of_a_lost_worker_is_run_by_others(void **state)
{
	(void)state;
	static const enum conduct conducts[] = {TAKES_A_POINT_AND_IS_LOST, WORKS,
		SENDS_HALF_AND_IS_LOST, SENDS_STRAY_PIECES};
	const struct outcome outcome = lead(conducts, 4, SILENCE_S);
	expect_whole(&outcome);
	assert_false(outcome.all_there);
}

static void without_workers_the_sweep_ends(void **state)
{
	(void)state;
	static const enum conduct conducts[] = {
		TAKES_A_POINT_AND_IS_LOST, TAKES_A_POINT_AND_IS_LOST};
	const struct outcome outcome = lead(conducts, 2, SILENCE_S);
	assert_int_equal(outcome.status, TB_EIO);
	assert_string_equal(
		outcome.error.text, "all workers are lost; the same command resumes");
}

static void a_result_that_is_no_store_is_refused(void **state)
{
	(void)state;
	static const enum conduct conducts[] = {SENDS_NO_STORE, WORKS};
	const struct outcome outcome = lead(conducts, 2, PATIENT_S);
	assert_int_equal(outcome.status, TB_EFOREIGN);
	assert_string_equal(outcome.error.file, "store from another machine");
}

static void a_worker_with_another_sweep_is_refused(void **state)
{
	(void)state;
	static const enum conduct conducts[] = {WORKS, HAS_ANOTHER_SWEEP};
	const struct outcome outcome = lead(conducts, 2, PATIENT_S);
	assert_int_equal(outcome.status, TB_EUSAGE);
	assert_non_null(strstr(outcome.error.text, "another sweep for this rank"));
	assert_non_null(strstr(outcome.error.text, "(rank 2)"));
}

// A network on which there is always another message.
struct flood {
	volatile sig_atomic_t stop;
	unsigned n_received;
};

static int flood_send(void *context, uint32_t to, const void *bytes, size_t n)
{
	(void)context;
	(void)to;
	(void)bytes;
	(void)n;
	return TB_OK;
}

static int flood_receive(void *context, uint32_t *from, void *bytes, size_t *n)
{
	struct flood *flood = context;
	const struct tb_sweep_message beat = {.word = TB_SWEEP_BEAT};
	flood->stop = ++flood->n_received > 5000;
	*from = 1;
	*n = TB_SWEEP_MESSAGE_HEAD;
	memcpy(bytes, &beat, *n);
	return flood->n_received < 1000000;
}

static void a_flood_of_messages_keeps_the_leader_from_nothing(void **state)
{
	(void)state;
	char path[64];
	struct tb_sweep sweep;
	struct tb_sweep_progress progress;
	struct tb_error error;
	bool all_there;
	struct flood flood = {0};
	const struct tb_peers peers = {
		.context = &flood, .n = 2, .send = flood_send, .receive = flood_receive};
	const struct tb_sweep_lead_options options = {
		{.output = new_path(path, sizeof path), .stop = &flood.stop}, SILENCE_S};
	read_sweep(&sweep);
	assert_int_equal(
		tb_sweep_lead(&progress, &sweep, &options, &peers, &all_there, &error),
		TB_ESTOPPED);
	assert_true(flood.n_received < 10000);
	unlink(path);
	tb_sweep_fini(&sweep);
}

// A leader that hands out one point, which would take minutes, and soon calls it a day.
struct leader {
	const struct tb_sweep_message *letters;
	size_t n, at;
	bool ready;
};

static int leader_hears(void *context, uint32_t to, const void *bytes, size_t n)
{
	struct leader *leader = context;
	uint32_t word;
	(void)to;
	(void)n;
	memcpy(&word, bytes, sizeof word);
	leader->ready |= word == TB_SWEEP_READY;
	return TB_OK;
}

static int leader_says(void *context, uint32_t *from, void *bytes, size_t *n)
{
	struct leader *leader = context;
	if (leader->at == leader->n || (leader->at == 1 && !leader->ready))
		return 0;
	if (leader->at + 1 == leader->n) // by now the point is under way
		nanosleep(&(struct timespec){.tv_nsec = 50000000}, NULL);
	*from = 0;
	*n = sizeof *leader->letters;
	memcpy(bytes, &leader->letters[leader->at++], *n);
	return 1;
}

static void a_worker_drops_its_point_when_the_sweep_ends(void **state)
{
	(void)state;
	static const char *const endless[] = {"nodes=64", "message=16K", "window=100s"};
	struct tb_sweep_message letters[] = {{.word = TB_SWEEP_BEGIN},
		{.word = TB_SWEEP_POINT, .run = 1}, {.word = TB_SWEEP_END, .at = 1}};
	struct tb_sweep sweep = {0};
	struct tb_error error;
	bool all_there = false;
	assert_int_equal(tb_sweep_read(&sweep, "uniform", endless, 3, &error), TB_OK);
	assert_int_equal(
		tb_sweep_identity(&sweep, false, (char *)letters[0].bytes, &error),
		TB_OK);
	tb_sweep_fini(&sweep);
	struct leader leader = {letters, 3, 0, false};
	const struct tb_peers peers = {.context = &leader,
		.rank = 1,
		.n = 2,
		.send = leader_hears,
		.receive = leader_says};
	const struct tb_sweep_serve_options options = {
		"uniform", endless, 3, .silence_s = SILENCE_S};
	assert_int_equal(tb_sweep_serve(&options, &peers, &all_there, &error), TB_OK);
	assert_true(all_there && leader.ready);
}

int main(void)
{
	// A leader that waits for ever is a failure, too.
	alarm(500);
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(any_number_of_workers_gives_the_rows_of_one_machine),
		cmocka_unit_test(the_point_of_a_lost_worker_is_run_by_others),
		cmocka_unit_test(without_workers_the_sweep_ends),
		cmocka_unit_test(a_result_that_is_no_store_is_refused),
		cmocka_unit_test(a_worker_with_another_sweep_is_refused),
		cmocka_unit_test(a_flood_of_messages_keeps_the_leader_from_nothing),
		cmocka_unit_test(a_worker_drops_its_point_when_the_sweep_ends),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

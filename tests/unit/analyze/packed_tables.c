// Packed tables have the rows of their views, however they are asked, and find damage.
#include "../../analyze_fixture.h"

#include "packed_tables.h"
#include "sql.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { N_NODES = 60, N_JOBS = 3, FLOWS_MOST = N_JOBS * N_NODES * N_NODES };

static uint64_t figure(struct tb_random *random)
{
	return tb_random_next(random) >> (1 + tb_random_below(random, 63));
}

// fill makes a flow so long that the flows of a source take several packs.
static void fill(struct tb_flow_sample *flow)
{
	flow->n_messages = flow->n_packets = flow->bytes = flow->latency_ps =
		flow->queue_ps = flow->network_ps = flow->worst_latency_ps =
			flow->ideal_ps = flow->wait_ps = flow->blamed_ps = INT64_MAX;
	flow->first_ps = flow->last_ps = INT64_MAX;
}

// Some flows have nothing but zeros, and some sources no flows.
static void observe_flows(struct tb_observer observer, uint64_t seed)
{
	struct tb_flow_sample *flows = calloc(FLOWS_MOST, sizeof *flows);
	struct tb_random random;
	size_t n = 0;
	tb_random_init(&random, seed, 0);
	for (uint32_t i = 0; i < FLOWS_MOST; i++) {
		uint32_t source = i / N_NODES % N_NODES;
		if (source % 7 == 3 || tb_random_below(&random, 4) == 0)
			continue;
		flows[n] = (struct tb_flow_sample){.job = i / N_NODES / N_NODES,
			.source = {source},
			.destination = {i % N_NODES}};
		if (tb_random_below(&random, 3)) {
			flows[n].n_messages = figure(&random);
			flows[n].latency_ps = figure(&random);
			flows[n].wait_ps = figure(&random) >> 16;
			flows[n].last_ps = (tb_time_ps)figure(&random);
		}
		if (source % 7 == 5)
			fill(&flows[n]);
		n++;
	}
	if (observer.flows(observer.context, flows, n))
		abort();
	free(flows);
}

// store makes a store of two runs and opens it.
static sqlite3 *store(struct fixture *fixture)
{
	struct tb_error error = {0};
	struct tb_store *made = NULL;
	sqlite3 *db = NULL;
	fixture_init(fixture);
	fixture_fill(fixture, 4, 1);
	if (tb_store_create(&made, fixture->path, &error))
		fixture_fail("create", &error);
	for (uint64_t run = 1; run <= 2; run++) {
		struct tb_run_config config = fixture_config();
		if (tb_store_begin_run(made, fixture->network, &config, &error))
			fixture_fail("begin", &error);
		struct tb_observer observer = tb_store_observer(made);
		if (observer.start(observer.context, FIXTURE_BIN_PS) ||
			fixture_tell(fixture, observer, 0, 4))
			abort();
		observe_flows(observer, run);
		struct tb_run_result result = fixture_result(fixture);
		if (tb_store_end_run(made, &result, &error))
			fixture_fail("end", &error);
	}
	tb_store_free(made);
	// A reader's connection, which does not trust a store, refuses the views.
	assert_int_equal(sqlite3_open(fixture->path, &db), SQLITE_OK);
	assert_int_equal(tb_packed_tables_register(db), SQLITE_OK);
	return db;
}

static int64_t number(sqlite3 *db, const char *sql)
{
	sqlite3_stmt *query = NULL;
	assert_int_equal(sqlite3_prepare_v2(db, sql, -1, &query, NULL), SQLITE_OK);
	assert_int_equal(sqlite3_step(query), SQLITE_ROW);
	int64_t n = sqlite3_column_int64(query, 0);
	sqlite3_finalize(query);
	return n;
}

static char *text_of(sqlite3 *db, const char *rows, int64_t value)
{
	sqlite3_stmt *query = NULL;
	sqlite3_str *text = sqlite3_str_new(NULL);
	int code;
	assert_int_equal(sqlite3_prepare_v2(db, rows, -1, &query, NULL), SQLITE_OK);
	sqlite3_bind_int64(query, 1, value);
	while ((code = sqlite3_step(query)) == SQLITE_ROW)
		for (int i = 0; i < sqlite3_column_count(query); i++)
			sqlite3_str_appendf(
				text, "%lld ", sqlite3_column_int64(query, i));
	assert_int_equal(code, SQLITE_DONE);
	sqlite3_finalize(query);
	return sqlite3_str_finish(text);
}

// check expects the same rows of a table and of its view, in the same order; ?1 is
// `value`.
static void check(
	sqlite3 *db, const char *table, const char *view, const char *rest, int64_t value)
{
	char sql[256];
	snprintf(sql, sizeof sql, "SELECT * FROM %s WHERE %s", view, rest);
	char *expected = text_of(db, sql, value);
	snprintf(sql, sizeof sql, "SELECT * FROM %s WHERE %s", table, rest);
	char *is = text_of(db, sql, value);
	if (expected || is)
		assert_string_equal(is, expected);
	sqlite3_free(expected);
	sqlite3_free(is);
}

static void rows_are_those_of_the_views(void **state)
{
	(void)state;
	static const char *const of_flows[] = {
		"run = 1 ORDER BY job, source, destination",
		"run = 2 ORDER BY job, source, destination",
		"run = 2 ORDER BY destination, source, job", "run = 3",
		"run = 1 AND job = ?1 ORDER BY source, destination",
		"run = 1 AND source = ?1 ORDER BY job, destination",
		"run = 2 AND destination = ?1 ORDER BY job, source",
		"run = 2 AND destination = ?1 AND job = 1 ORDER BY source",
		"run = 2 AND destination IN (5, ?1) ORDER BY job, source, destination",
		"run = 1 AND job = 1 AND source = ?1 AND destination = ?1",
		"run = 1 AND job = 2 AND source = ?1 AND destination = 59",
		"run = 1 AND job = 0 AND source = 0 AND destination = ?1"};
	static const char *const of_links[] = {"run = 1 ORDER BY link",
		"run = 2 AND link = ?1",
		"run = 1 AND link IN (?1, ?1 + 7, 5000000000) ORDER BY link DESC"};
	struct fixture fixture;
	sqlite3 *db = store(&fixture);
	assert_true(number(db, "SELECT count(*) FROM flow_pack WHERE run = 1") > 9);
	assert_true(number(db, "SELECT count(*) FROM unpacked_total WHERE run = 1") > 9);
	for (int64_t value = -1; value <= N_NODES; value += 12) {
		for (size_t i = 0; i < sizeof of_flows / sizeof *of_flows; i++)
			check(db, "unpacked_flow", "flow", of_flows[i], value);
		for (size_t i = 0; i < sizeof of_links / sizeof *of_links; i++)
			check(db, "unpacked_total", "link_total", of_links[i], value);
	}
	sqlite3_close(db);
	fixture_fini(&fixture);
}

// A key that is found for each row of another table, and is not there for some.
static void rows_are_found_by_key_one_after_the_other(void **state)
{
	(void)state;
	struct fixture fixture;
	sqlite3 *db = store(&fixture);
	int64_t n = number(db, "SELECT count(*) FROM flow WHERE run = 2");
	assert_int_equal(
		number(db, "SELECT count(*) FROM flow AS f CROSS JOIN unpacked_flow "
			   "AS u USING (run, job, source, destination) WHERE f.run = 2 "
			   "AND f.last_ps = u.last_ps AND f.messages = u.messages"),
		n);
	assert_int_equal(
		number(db, "SELECT count(*) FROM flow AS f CROSS JOIN unpacked_flow AS "
			   "u ON u.run = 2 AND u.job = f.job AND u.source = f.source AND "
			   "u.destination = f.destination + 60 WHERE f.run = 2"),
		0);
	sqlite3_close(db);
	fixture_fini(&fixture);
}

static void a_question_without_a_run_is_refused(void **state)
{
	(void)state;
	struct fixture fixture;
	sqlite3 *db = store(&fixture);
	sqlite3_stmt *query = NULL;
	assert_int_not_equal(
		sqlite3_prepare_v2(db, "SELECT * FROM unpacked_flow", -1, &query, NULL),
		SQLITE_OK);
	sqlite3_close(db);
	fixture_fini(&fixture);
}

static void damage(const char *path, const char *sql)
{
	sqlite3 *db = NULL;
	assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
	assert_int_equal(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
	sqlite3_close(db);
}

static void damaged_packs_are_found(void **state)
{
	(void)state;
	static const struct {
		const char *sql, *table;
	} cases[] = {
		{"UPDATE flow_pack SET flows = ''", "flow"},
		{"UPDATE flow_pack SET flows = '[]'", "flow"},
		{"UPDATE flow_pack SET flows = flows || ']'", "flow"},
		{"UPDATE flow_pack SET flows = substr(flows, 1, length(flows) - 1)",
			"flow"},
		{"UPDATE flow_pack SET flows = '[[0]]'", "flow"},
		{"UPDATE flow_pack SET source = source + 1000", "flow"},
		{"UPDATE flow_pack SET flows = '[[' || source || ',' || destination || "
		 "',1,2,3,4,5,6,7,8,9,10,11,12,13]]'",
			"flow"},
		{"UPDATE flow_pack SET flows = '[[' || source || ',' || destination || "
		 "',9223372036854775808]]'",
			"flow"},
		{"UPDATE flow_pack SET flows = '[[' || source || ',' || destination || "
		 "'],[' || source || ',' || destination || ']]'",
			"flow"},
		{"UPDATE total_pack SET links = '[[1],[0]]'", "total"},
		{"UPDATE total_pack SET links = '[[1024]]'", "total"},
		{"UPDATE total_pack SET links = '[[1,-1]]'", "total"},
		{"UPDATE total_pack SET pack = pack - 1", "total"},
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct fixture fixture;
		struct tb_error error = {0};
		char sql[96], expected[96];
		sqlite3 *db = store(&fixture);
		sqlite3_close(db);
		damage(fixture.path, cases[i].sql);
		assert_int_equal(tb_sql_open_reader(&db, fixture.path, &error), TB_OK);
		snprintf(sql, sizeof sql,
			"SELECT count(*) FROM unpacked_%s WHERE run = 1", cases[i].table);
		snprintf(expected, sizeof expected,
			"a value in its table '%s_pack' is out of range", cases[i].table);
		sqlite3_stmt *query = NULL;
		assert_int_equal(tb_sql_prepare(db, "it", sql, &query, &error), TB_OK);
		assert_int_equal(tb_sql_run(query, "it", &error), TB_EFORMAT);
		assert_non_null(strstr(error.text, expected));
		sqlite3_finalize(query);
		sqlite3_close(db);
		fixture_fini(&fixture);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rows_are_those_of_the_views),
		cmocka_unit_test(rows_are_found_by_key_one_after_the_other),
		cmocka_unit_test(a_question_without_a_run_is_refused),
		cmocka_unit_test(damaged_packs_are_found),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

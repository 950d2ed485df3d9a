// What questions answer about who waited for whom: sums that are the wait of links, and
// the heaviest rows with their bounds.
#include "../../analyze_fixture.h"
#include "../../support/packed_links.h"

#include "flow_table.h"
#include "grouped.h"
#include "hot_links.h"
#include "roots.h"
#include "run_list.h"

#include <setjmp.h>
#include <sqlite3.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

enum { N_BINS = 6 };
static const struct tb_span whole = {0, 0};

struct stage {
	struct fixture fixture;
	struct tb_run *run;
	uint64_t wait_ps; // of all links
};

static int set_up(void **state)
{
	struct stage *stage = calloc(1, sizeof *stage);
	struct tb_error error = {0};
	fixture_init(&stage->fixture);
	fixture_store(&stage->fixture, N_BINS, 11);
	for (uint32_t i = 0; i < N_BINS * stage->fixture.n_links; i++)
		stage->wait_ps += stage->fixture.samples[i].wait_ps;
	if (tb_run_open(&stage->run, stage->fixture.path, 0, &error))
		fixture_fail("open", &error);
	*state = stage;
	return 0;
}

static int tear_down(void **state)
{
	struct stage *stage = *state;
	tb_run_free(stage->run);
	fixture_fini(&stage->fixture);
	free(stage);
	return 0;
}

static void change(const struct stage *stage, const char *sql)
{
	sqlite3 *db;
	assert_int_equal(sqlite3_open(stage->fixture.path, &db), SQLITE_OK);
	assert_int_equal(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
	sqlite3_close(db);
}

// wait_at is the wait of headers that arrived over a link.
static uint64_t wait_at(const struct stage *stage, uint32_t link)
{
	uint64_t wait_ps = 0;
	for (uint32_t bin = 0; bin < N_BINS; bin++)
		wait_ps += stage->fixture.samples[bin * stage->fixture.n_links + link]
				   .wait_ps;
	return wait_ps;
}

// The fixture has each third link be the root of the waits at three.
static void roots_hold_all_of_the_wait(void **state)
{
	struct stage *stage = *state;
	struct tb_roots roots, first;
	uint64_t sum_ps = 0;
	assert_int_equal(tb_roots_init(&roots, stage->run, whole, 0, NULL), TB_OK);
	for (uint32_t i = 0; i < roots.listed.n; i++) {
		const struct tb_root *at = &roots.rows[i];
		uint64_t wait_ps = 0;
		for (uint32_t link = 3 * at->root.id; link < 3 * at->root.id + 3; link++)
			if (link < stage->fixture.n_links)
				wait_ps += wait_at(stage, link);
		assert_int_equal(at->wait_ps, wait_ps);
		assert_true(i == 0 || roots.rows[i - 1].wait_ps >= wait_ps);
		assert_in_range(at->n_links, 1, 3);
		sum_ps += at->wait_ps;
	}
	assert_int_equal(sum_ps, stage->wait_ps);
	assert_true(roots.listed.whole_ps == (double)stage->wait_ps);
	assert_int_equal(tb_roots_init(&first, stage->run, whole, 2, NULL), TB_OK);
	assert_int_equal(first.listed.n, 2);
	assert_int_equal(first.listed.n_all, roots.listed.n);
	assert_true(first.listed.whole_ps == roots.listed.whole_ps);
	assert_int_equal(first.rows[1].root.id, roots.rows[1].root.id);
	tb_roots_fini(&first);
	tb_roots_fini(&roots);
}

static void spans_of_time_part_the_wait(void **state)
{
	struct stage *stage = *state;
	double roots_ps = 0, pairs_ps = 0, flows_ps = 0;
	for (tb_time_ps from = 0; from < 64 * FIXTURE_BIN_PS;
		from += 4 * FIXTURE_BIN_PS) {
		const struct tb_span span = {from, from + 4 * FIXTURE_BIN_PS};
		struct tb_roots roots;
		struct tb_job_pairs pairs;
		struct tb_heavy_waits flows;
		assert_int_equal(tb_roots_init(&roots, stage->run, span, 1, NULL), TB_OK);
		assert_int_equal(
			tb_job_pairs_init(&pairs, stage->run, span, 1, NULL), TB_OK);
		assert_int_equal(
			tb_heavy_waits_during(&flows, stage->run, span, 0, NULL), TB_OK);
		assert_int_equal(roots.listed.span.from_ps, span.from_ps);
		assert_int_equal(roots.listed.span.to_ps, span.to_ps);
		assert_true(roots.listed.whole_ps == pairs.listed.whole_ps);
		assert_true(flows.listed.whole_ps == pairs.listed.whole_ps);
		assert_true(flows.listed.rest_ps == 0);
		roots_ps += roots.listed.whole_ps;
		pairs_ps += pairs.listed.whole_ps;
		flows_ps += flows.listed.listed_ps;
		tb_roots_fini(&roots);
		tb_job_pairs_fini(&pairs);
		tb_heavy_waits_fini(&flows);
	}
	assert_true(roots_ps == (double)stage->wait_ps);
	assert_true(pairs_ps == (double)stage->wait_ps);
	assert_true(flows_ps == (double)stage->wait_ps);
}

static void a_span_grows_to_the_slices_that_it_touches(void **state)
{
	struct stage *stage = *state;
	struct tb_job_pairs pairs;
	const struct tb_span span = {FIXTURE_BIN_PS + 1, 2 * FIXTURE_BIN_PS + 1};
	assert_int_equal(tb_job_pairs_init(&pairs, stage->run, span, 0, NULL), TB_OK);
	assert_int_equal(pairs.listed.span.from_ps, FIXTURE_BIN_PS);
	assert_int_equal(pairs.listed.span.to_ps, 3 * FIXTURE_BIN_PS);
	tb_job_pairs_fini(&pairs);
}

// A replay of days has slices of hours: of 100 days, of 1.6 days at most.
static void slices_are_as_wide_as_times_can_be(void **state)
{
	struct stage *stage = *state;
	struct tb_job_pairs pairs;
	struct tb_heavy_waits flows;
	struct tb_roots roots;
	const struct tb_span first = {0, FIXTURE_BIN_PS};
	change(stage, "UPDATE run SET root_bin_ps = 5e18, tree_bin_ps = 5e18");
	assert_int_equal(tb_roots_init(&roots, stage->run, first, 0, NULL), TB_OK);
	assert_int_equal(roots.listed.span.to_ps, 5 * TB_PS_PER_S * 1000 * 1000);
	assert_true(roots.listed.n > 0);
	tb_roots_fini(&roots);
	const struct tb_span last = {TB_TIME_NEVER - 1, TB_TIME_NEVER};
	assert_int_equal(tb_job_pairs_init(&pairs, stage->run, last, 0, NULL), TB_OK);
	assert_int_equal(pairs.listed.span.from_ps, 5 * TB_PS_PER_S * 1000 * 1000);
	assert_int_equal(pairs.listed.span.to_ps, TB_TIME_NEVER);
	tb_job_pairs_fini(&pairs);
	assert_int_equal(tb_heavy_waits_during(&flows, stage->run, last, 0, NULL), TB_OK);
	tb_heavy_waits_fini(&flows);
}

static void jobs_wait_as_long_as_their_flows(void **state)
{
	struct stage *stage = *state;
	struct tb_job_pairs pairs;
	struct tb_flow_table flows;
	uint64_t wait_ps[2] = {0, 0}, blamed_ps[2] = {0, 0};
	assert_int_equal(tb_flow_table_init(&flows, stage->run, NULL), TB_OK);
	for (uint32_t i = 0; i < flows.n; i++) {
		wait_ps[flows.rows[i].job] += flows.rows[i].wait_ps;
		blamed_ps[flows.rows[i].job] += flows.rows[i].blamed_ps;
	}
	tb_flow_table_fini(&flows);
	assert_int_equal(wait_ps[0] + wait_ps[1], stage->wait_ps);
	assert_int_equal(blamed_ps[0] + blamed_ps[1], stage->wait_ps);
	assert_int_equal(tb_job_pairs_init(&pairs, stage->run, whole, 0, NULL), TB_OK);
	assert_int_equal(pairs.listed.n, 4);
	for (uint32_t job = 0; job < 2; job++) {
		uint64_t others_ps = tb_job_pairs_wait(&pairs, job, 1 - job);
		uint64_t own_ps = tb_job_pairs_wait(&pairs, job, job);
		assert_true(others_ps > 0 && own_ps > 0);
		assert_int_equal(own_ps + others_ps, wait_ps[job]);
		assert_int_equal(
			own_ps + tb_job_pairs_of_others(&pairs, job), blamed_ps[job]);
		assert_int_equal(tb_job_pairs_for_others(&pairs, job), others_ps);
	}
	tb_job_pairs_fini(&pairs);
}

static void the_jobs_at_links_and_roots_hold_their_wait(void **state)
{
	struct stage *stage = *state;
	struct tb_roots roots;
	struct tb_root_jobs root_jobs;
	struct tb_job_links job_links;
	struct tb_link links[] = {{7}, {3}};
	uint64_t wait_ps[2] = {0, 0}, blamed_ps[2] = {0, 0};
	assert_int_equal(
		tb_job_links_init(&job_links, stage->run, links, 2, NULL), TB_OK);
	for (uint32_t i = 0; i < job_links.n; i++) {
		int at = job_links.rows[i].link.id == 3;
		assert_true(i == 0 || at || job_links.rows[i - 1].link.id == 7);
		wait_ps[at] += job_links.rows[i].wait_ps;
		blamed_ps[at] += job_links.rows[i].blamed_ps;
	}
	for (int i = 0; i < 2; i++) {
		assert_int_equal(wait_ps[i], wait_at(stage, links[i].id));
		assert_int_equal(blamed_ps[i], wait_ps[i]);
	}
	assert_int_equal(tb_roots_init(&roots, stage->run, whole, 3, NULL), TB_OK);
	assert_int_equal(
		tb_root_jobs_init(&root_jobs, stage->run, roots.rows, 3, NULL), TB_OK);
	for (uint32_t i = 0, r = 0; r < 3; r++) {
		uint64_t sum_ps = 0;
		for (; i < root_jobs.n &&
			root_jobs.rows[i].root.id == roots.rows[r].root.id;
			i++)
			sum_ps += root_jobs.rows[i].wait_ps;
		assert_int_equal(sum_ps, roots.rows[r].wait_ps);
	}
	tb_root_jobs_fini(&root_jobs);
	tb_roots_fini(&roots);
	tb_job_links_fini(&job_links);
}

// Without the tables that a run of one job does not have, its links and roots name it.
static void a_run_of_one_job_names_it_everywhere(void **state)
{
	struct stage *stage = *state;
	struct tb_root_jobs root_jobs;
	struct tb_job_links job_links;
	struct tb_roots roots;
	const struct tb_link link = {7};
	change(stage, "DELETE FROM root_job; DELETE FROM job_link");
	assert_int_equal(tb_roots_init(&roots, stage->run, whole, 1, NULL), TB_OK);
	assert_int_equal(
		tb_root_jobs_init(&root_jobs, stage->run, roots.rows, 1, NULL), TB_OK);
	assert_int_equal(root_jobs.n, 1);
	assert_int_equal(root_jobs.rows[0].victim_job, 0);
	assert_int_equal(root_jobs.rows[0].wait_ps, roots.rows[0].wait_ps);
	assert_int_equal(
		tb_job_links_init(&job_links, stage->run, &link, 1, NULL), TB_OK);
	assert_int_equal(job_links.n, 1);
	assert_int_equal(job_links.rows[0].wait_ps, wait_at(stage, 7));
	assert_int_equal(job_links.rows[0].blamed_ps, wait_at(stage, 7));
	tb_job_links_fini(&job_links);
	tb_root_jobs_fini(&root_jobs);
	tb_roots_fini(&roots);
}

static void the_heaviest_at_a_link_are_its_wait(void **state)
{
	struct stage *stage = *state;
	struct tb_heavy_waits at, all;
	assert_int_equal(
		tb_heavy_waits_at(&at, stage->run, (struct tb_link){7}, 0, NULL), TB_OK);
	assert_true(at.listed.listed_ps == (double)wait_at(stage, 7));
	assert_true(at.listed.whole_ps == at.listed.listed_ps);
	assert_true(at.listed.rest_ps == 0);
	assert_int_equal(tb_heavy_waits_init(&all, stage->run, 1, NULL), TB_OK);
	assert_true(all.listed.whole_ps == (double)stage->wait_ps);
	assert_true(all.rows[0].wait_ps >= at.rows[0].wait_ps);
	tb_heavy_waits_fini(&all);
	tb_heavy_waits_fini(&at);
}

static bool leads_to(const struct tb_run_link *link, struct tb_switch sw)
{
	return link->at.kind != TB_LINK_EJECTION && link->at.to == sw.id;
}

static void the_heaviest_into_a_switch_are_those_at_its_links(void **state)
{
	struct stage *stage = *state;
	struct tb_heavy_waits all, into;
	const struct tb_run_link *links = tb_run_links(stage->run);
	assert_int_equal(tb_heavy_waits_init(&all, stage->run, 0, NULL), TB_OK);
	struct tb_switch sw = {links[all.rows[0].link.id].at.to};
	assert_int_equal(tb_heavy_waits_into(&into, stage->run, sw, 0, NULL), TB_OK);
	uint64_t listed_ps = 0, whole_ps = 0;
	for (uint32_t i = 0; i < all.listed.n; i++)
		if (leads_to(&links[all.rows[i].link.id], sw))
			listed_ps += all.rows[i].wait_ps;
	for (uint32_t i = 0; i < tb_run_info(stage->run)->n_links; i++)
		if (leads_to(&links[i], sw))
			whole_ps += wait_at(stage, i);
	assert_true(listed_ps > all.rows[0].wait_ps);
	assert_true(into.listed.listed_ps == (double)listed_ps);
	assert_true(into.listed.whole_ps == (double)whole_ps);
	tb_heavy_waits_fini(&into);
	tb_heavy_waits_fini(&all);
}

// As if the store had kept half of the pairs: those that waited longest.
static void what_is_left_out_is_told(void **state)
{
	struct stage *stage = *state;
	struct tb_heavy_waits all, at, during;
	change(stage,
		"CREATE TEMP TABLE most AS SELECT max(wait_ps) / 2 AS floor FROM "
		"blame_wait; DELETE FROM blame_wait WHERE wait_ps <= (SELECT floor "
		"FROM most); UPDATE blame_list SET floor_ps = (SELECT floor FROM "
		"most), rest_ps = (SELECT sum(came_by_ps) FROM link_total) - (SELECT "
		"sum(wait_ps) FROM blame_wait) WHERE list = 'blame_wait'; DELETE "
		"FROM blame_bin WHERE wait_ps <= 5000; UPDATE blame_list SET "
		"floor_ps = 5000, rest_ps = 1 WHERE list = 'blame_bin'");
	assert_int_equal(tb_heavy_waits_init(&all, stage->run, 0, NULL), TB_OK);
	assert_true(all.listed.floor_ps > 0 && all.listed.rest_ps > 0);
	assert_true(all.listed.listed_ps + all.listed.rest_ps == (double)stage->wait_ps);
	assert_int_equal(
		tb_heavy_waits_at(&at, stage->run, all.rows[0].link, 0, NULL), TB_OK);
	assert_int_equal(at.listed.floor_ps, all.listed.floor_ps);
	assert_true(at.listed.whole_ps == (double)wait_at(stage, all.rows[0].link.id));
	assert_true(at.listed.listed_ps + at.listed.rest_ps == at.listed.whole_ps);
	// Over two slices a pair that was kept in one may have waited in the other.
	assert_int_equal(tb_heavy_waits_during(&during, stage->run,
				 (struct tb_span){0, 2 * FIXTURE_BIN_PS}, 0, NULL),
		TB_OK);
	assert_int_equal(during.listed.floor_ps, 10000);
	bool once = false;
	for (uint32_t i = 0; i < during.listed.n; i++) {
		assert_true(
			during.rows[i].error_ps == 0 || during.rows[i].error_ps == 5000);
		once |= during.rows[i].error_ps > 0;
	}
	assert_true(once);
	assert_true(during.listed.listed_ps + during.listed.rest_ps ==
		    during.listed.whole_ps);
	tb_heavy_waits_fini(&during);
	tb_heavy_waits_fini(&at);
	tb_heavy_waits_fini(&all);
}

static enum tb_grain grain_of(const struct stage *stage)
{
	struct tb_grouped grouped;
	assert_int_equal(tb_grouped_init(&grouped, stage->run, 3, NULL), TB_OK);
	enum tb_grain grain = grouped.grain;
	assert_true(grouped.listed.n > 0);
	assert_true((grain == TB_GRAIN_FLOWS) == (grouped.flows.listed.n > 0));
	assert_true((grain == TB_GRAIN_FLOWS) == (grouped.rows == NULL));
	tb_grouped_fini(&grouped);
	return grain;
}

static void traffic_is_grouped_as_finely_as_is_known(void **state)
{
	struct stage *stage = *state;
	assert_int_equal(grain_of(stage), TB_GRAIN_FLOWS);
	change(stage, "DELETE FROM blame_wait; UPDATE blame_list SET rest_ps = 1e15");
	assert_int_equal(grain_of(stage), TB_GRAIN_JOBS);
	change(stage, "UPDATE blame_list SET rest_ps = 0 WHERE list = 'source leaf'");
	assert_int_equal(grain_of(stage), TB_GRAIN_SOURCE_LEAVES);
	change(stage,
		"UPDATE blame_list SET rest_ps = 0 WHERE list = 'destination leaf'");
	assert_int_equal(grain_of(stage), TB_GRAIN_DESTINATION_LEAVES);
	change(stage, "UPDATE blame_list SET rest_ps = 0 WHERE list = 'destination'");
	assert_int_equal(grain_of(stage), TB_GRAIN_DESTINATIONS);
}

static int64_t unattributed(const struct stage *stage)
{
	struct tb_runs *runs;
	int64_t unattributed_ps = -2;
	assert_int_equal(tb_runs_open(&runs, stage->fixture.path, NULL), TB_OK);
	assert_int_equal(tb_runs_n(runs), 1);
	assert_int_equal(
		tb_runs_unattributed(stage->fixture.path, runs, &unattributed_ps, NULL),
		TB_OK);
	tb_runs_free(runs);
	return unattributed_ps;
}

static void nothing_is_unattributed_until_a_sum_is_wrong(void **state)
{
	struct stage *stage = *state;
	static const struct {
		const char *name, *column, *unpacked, *packed;
	} tables[] = {{"root_total", "wait_ps", "", ""}, {"root_bin", "wait_ps", "", ""},
		{"root_job", "wait_ps", "", ""}, {"job_wait", "wait_ps", "", ""},
		{"job_link", "wait_ps", "", ""}, {"job_link", "blamed_ps", "", ""},
		{"flows", "wait_ps", FLOWS_UNPACKED, FLOWS_PACKED},
		{"flows", "blamed_ps", FLOWS_UNPACKED, FLOWS_PACKED},
		{"totals", "came_by_ps", TOTALS_UNPACKED, TOTALS_PACKED}};
	assert_int_equal(unattributed(stage), 0);
	for (size_t i = 0; i < sizeof tables / sizeof *tables; i++)
		for (int by = -1; by <= 1; by += 2) {
			char sql[1024];
			const char *name = tables[i].name, *column = tables[i].column;
			snprintf(sql, sizeof sql,
				"%sCREATE TEMP TABLE most AS SELECT max(%s) AS w FROM "
				"%s; UPDATE %s SET %s = %s + %d WHERE %s = (SELECT w "
				"FROM "
				"most);%s",
				tables[i].unpacked, column, name, name, column, column,
				3 * by, column, tables[i].packed);
			change(stage, sql);
			assert_int_equal(unattributed(stage), by < 0 ? 3 : 0);
		}
	change(stage, "DELETE FROM root_job; DELETE FROM job_link");
	assert_int_equal(unattributed(stage), stage->wait_ps);
	change(stage, "UPDATE run SET tree_bin_ps = 0, root_bin_ps = 0");
	assert_int_equal(unattributed(stage), -1);
}

#define STAGED(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		STAGED(roots_hold_all_of_the_wait),
		STAGED(spans_of_time_part_the_wait),
		STAGED(a_span_grows_to_the_slices_that_it_touches),
		STAGED(slices_are_as_wide_as_times_can_be),
		STAGED(jobs_wait_as_long_as_their_flows),
		STAGED(the_jobs_at_links_and_roots_hold_their_wait),
		STAGED(a_run_of_one_job_names_it_everywhere),
		STAGED(the_heaviest_at_a_link_are_its_wait),
		STAGED(the_heaviest_into_a_switch_are_those_at_its_links),
		STAGED(what_is_left_out_is_told),
		STAGED(traffic_is_grouped_as_finely_as_is_known),
		STAGED(nothing_is_unattributed_until_a_sum_is_wrong),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

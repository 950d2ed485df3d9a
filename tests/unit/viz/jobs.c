// Jobs: their colours in the views.
#include "../../viz_stage.h"

#include "job_series.h"

// The fixture's jobs, on nodes 0 to 7 and 8 to 15; node 3 is shared.
#define RANKS                                                                            \
	"WITH RECURSIVE n (node) AS (VALUES (0) UNION ALL SELECT node + 1 FROM n WHERE " \
	"node < 15) INSERT INTO job_node SELECT 1, node / 8, node % 8, node FROM n; "    \
	"INSERT INTO job_node VALUES (1, 1, 8, 3)"

static size_t of_job(struct tb_viewer *viewer, uint32_t job)
{
	return marked(viewer, tb_job_colour(TB_DARK, job), 930);
}

static void nodes_have_the_colours_of_their_jobs(void **state)
{
	struct stage *stage = *state;
	assert_int_equal(of_job(stage->viewer, 0), 0);
	stage_change(stage, RANKS);
	assert_int_equal(of_job(stage->viewer, 0), 7); // cells of the matrix
	assert_int_equal(of_job(stage->viewer, 1), 8);
	tb_viewer_key(stage->viewer, "F3");
	assert_int_equal(of_job(stage->viewer, 0), 7); // nodes of the tree
	assert_int_equal(of_job(stage->viewer, 1), 8);
	tb_viewer_key(stage->viewer, "F5");
	assert_int_equal(of_job(stage->viewer, 0), 2 * 7 + 8); // the rims, the list
}

// At the hot link headers of melt waited 400 ns, those of io 100 ns (viz_fixture.h).
static void a_selected_job_filters_the_waits_of_links(void **state)
{
	struct stage *stage = *state;
	struct tb_viewer *viewer = stage->viewer;
	assert_true(shows(viewer, "48 of 64"));
	search(viewer, "job melt");
	assert_true(shows(viewer, "3 of 64")); // where it waited at all
	assert_true(shows(viewer, "400 ns"));
	assert_false(shows(viewer, "links of all"));
	search(viewer, "job io");
	assert_true(shows(viewer, "2 of 64"));
	assert_false(shows(viewer, "220 ns")); // of melt
	// The sums by job are of the whole run, and of waits.
	keys(viewer, (const char *const[]){".", "Home", NULL});
	assert_true(shows(viewer, "only job io, but links of all"));
	assert_true(shows(viewer, "48 of 64"));
	keys(viewer, (const char *const[]){"0", NULL});
	assert_true(shows(viewer, "2 of 64"));
	keys(viewer, (const char *const[]){"Escape", NULL});
	assert_true(shows(viewer, "48 of 64"));
	assert_true(shows(viewer, "1.035 us"));
}

// The fixture's waits: 720 ns of headers of melt, 500 ns of io, in slices of 2 us or
// more.
static void each_job_has_a_lane_of_all_its_waits(void **state)
{
	struct stage *stage = *state;
	struct tb_run *run;
	struct tb_error error;
	struct tb_job_series series;
	uint64_t waits[2] = {0, 0};
	viz_check(tb_run_open(&run, stage->path, 0, &error), &error);
	viz_check(tb_job_series_init(&series, run, &error), &error);
	assert_true(series.slice_ps >= 2 * TB_PS_PER_US);
	for (uint32_t i = 0; i < 2 * series.n_slices; i++)
		waits[i % 2] += series.wait_ps[i];
	assert_int_equal(waits[0], (400 + 100 + 220) * 1000);
	assert_int_equal(waits[1], (100 + 400) * 1000);
	tb_job_series_fini(&series);
	tb_run_free(run);
	// Their names left of the strip.
	assert_non_null(item_of(stage->viewer, (struct tb_pick){TB_PICK_JOB, 1}));
}

static void nodes_know_their_jobs(void **state)
{
	struct stage *stage = *state;
	struct tb_run *run;
	struct tb_error error;
	stage_change(stage, RANKS);
	viz_check(tb_run_open(&run, stage->path, 0, &error), &error);
	assert_int_equal(tb_run_node_job(run, (struct tb_node){7}), 0);
	assert_int_equal(tb_run_node_job(run, (struct tb_node){8}), 1);
	assert_int_equal(tb_run_node_job(run, (struct tb_node){3}), TB_ID_NONE);
	assert_int_equal(tb_run_node_job(run, (struct tb_node){16}), TB_ID_NONE);
	tb_run_free(run);
}

static void a_selected_job_filters_flows_until_it_is_dropped(void **state)
{
	struct stage *stage = *state;
	struct tb_viewer *viewer = stage->viewer;
	search(viewer, "job io");
	assert_true(shows(viewer, "only job io"));
	tb_viewer_key(viewer, "F5");
	assert_true(shows(viewer, "8 > 15"));
	assert_false(shows(viewer, "0 > 7"));
	tb_viewer_resize(viewer, WIDTH, 1400); // all of the panel
	// It stays while one looks at who crosses what.
	search(viewer, "switch 1.0");
	assert_true(shows(viewer, "only job io"));
	assert_true(shows(viewer, "8 flows may cross it"));
	search(viewer, "node 3");
	assert_true(shows(viewer, "sent in 0 flows"));
	tb_viewer_key(viewer, "Escape");
	assert_true(shows(viewer, "only job io"));
	tb_viewer_key(viewer, "Escape");
	assert_false(shows(viewer, "only job io"));
	assert_true(shows(viewer, "0 > 7"));
	search(viewer, "job melt");
	assert_false(shows(viewer, "8 > 15"));
	tb_viewer_key(viewer, "Escape"); // both the job and its filter
	assert_false(shows(viewer, "only job"));
}

#define STAGED(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		STAGED(nodes_have_the_colours_of_their_jobs),
		STAGED(nodes_know_their_jobs),
		STAGED(each_job_has_a_lane_of_all_its_waits),
		STAGED(a_selected_job_filters_the_waits_of_links),
		STAGED(a_selected_job_filters_flows_until_it_is_dropped),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

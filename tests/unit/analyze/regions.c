// Congestion regions of stalls that are made up, so that what belongs together is known.
#include "../../analyze_fixture.h"

#include "regions.h"

#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define RUN_PS 1000000 // one bin

// A link that is stalled for so many percent of the run.
struct stalled {
	const char *name;
	double percent;
};

static struct fixture fixture;
static struct tb_run *run;
static struct tb_regions regions;

static int set_up(void **state)
{
	(void)state;
	fixture_init(&fixture);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	fixture_fini(&fixture);
	return 0;
}

static uint32_t id_of(const char *name)
{
	for (uint32_t i = 0; i < fixture.n_links; i++)
		if (strcmp(tb_run_links(run)[i].name, name) == 0)
			return i;
	fail_msg("no link is called %s", name);
	return 0;
}

static void write_store(const struct tb_link_sample *samples)
{
	struct tb_error error = {0};
	struct tb_store *store = NULL;
	struct tb_run_config config = fixture_config();
	struct tb_run_result result = {.complete = true, .simulated_ps = RUN_PS};
	assert_int_equal(tb_store_create(&store, fixture.path, &error), TB_OK);
	assert_int_equal(
		tb_store_begin_run(store, fixture.network, &config, &error), TB_OK);
	struct tb_observer observer = tb_store_observer(store);
	assert_int_equal(observer.start(observer.context, RUN_PS), TB_OK);
	assert_int_equal(
		observer.bin(observer.context, 0, samples, fixture.n_links), TB_OK);
	assert_int_equal(tb_store_end_run(store, &result, &error), TB_OK);
	tb_store_free(store);
}

static void find(const struct stalled *stalled, size_t n)
{
	struct tb_error error = {0};
	struct tb_link_sample *samples = calloc(fixture.n_links, sizeof *samples);
	tb_regions_fini(&regions);
	for (uint32_t i = 0; i < fixture.n_links; i++)
		samples[i].link.id = i;
	if (!run) { // names first
		write_store(samples);
		assert_int_equal(tb_run_open(&run, fixture.path, 0, &error), TB_OK);
	}
	for (size_t i = 0; i < n; i++) {
		struct tb_link_sample *at = &samples[id_of(stalled[i].name)];
		at->stall_ps = (uint64_t)(stalled[i].percent * RUN_PS / 100 + 0.5);
		at->came_by_ps = 10;
		at->wait_for_ps = 7;
		at->n_packets = 1;
	}
	tb_run_free(run);
	unlink(fixture.path);
	write_store(samples);
	free(samples);
	assert_int_equal(tb_run_open(&run, fixture.path, 0, &error), TB_OK);
	assert_int_equal(
		tb_regions_init(&regions, run, (struct tb_window){0, 0}, &error), TB_OK);
}

#define FIND(list) find(list, sizeof(list) / sizeof *(list))

static uint32_t region_of(const char *name)
{
	return regions.region_of[id_of(name)];
}

static void levels_end_where_the_paper_ends_them(void **state)
{
	(void)state;
	assert_int_equal(tb_stall_level_of(5), TB_STALLED_HARDLY);
	assert_int_equal(tb_stall_level_of(5.1), TB_STALLED_LOW);
	assert_int_equal(tb_stall_level_of(15), TB_STALLED_LOW);
	assert_int_equal(tb_stall_level_of(15.1), TB_STALLED_MEDIUM);
	assert_int_equal(tb_stall_level_of(25), TB_STALLED_MEDIUM);
	assert_int_equal(tb_stall_level_of(25.1), TB_STALLED_HIGH);
}

static void neighbours_that_are_stalled_alike_are_one_region(void **state)
{
	// Step by step, though the ends differ by more than a step.
	static const struct stalled stalled[] = {{"node 0 > 0.0", 20},
		{"0.0:4 > 1.0:0", 16}, {"1.0:1 > 0.1:4", 12}, {"0.1 > node 4", 8}};
	(void)state;
	FIND(stalled);
	assert_int_equal(regions.n, 1);
	assert_int_equal(regions.regions[0].n_links, 4);
	assert_int_equal(regions.regions[0].worst.id, id_of("node 0 > 0.0"));
	assert_int_equal(regions.regions[0].level, TB_STALLED_LOW);
	assert_true(
		regions.regions[0].percent > 13.99 && regions.regions[0].percent < 14.01);
	assert_int_equal(regions.regions[0].wait_ps, 40);
	assert_int_equal(regions.regions[0].stall_ps, 560000);
	assert_int_equal(region_of("0.1 > node 4"), 0);
}

// A region's wait is of the kind by which hot links are listed.
static void a_region_sums_the_wait_that_leads(void **state)
{
	static const struct stalled stalled[] = {
		{"node 0 > 0.0", 20}, {"0.0:4 > 1.0:0", 16}};
	struct tb_error error = {0};
	(void)state;
	FIND(stalled);
	assert_int_equal(regions.regions[0].wait_ps, 20);
	tb_regions_fini(&regions);
	tb_run_choose_wait(run, TB_LEADS_FOR);
	assert_int_equal(
		tb_regions_init(&regions, run, (struct tb_window){0, 0}, &error), TB_OK);
	assert_int_equal(regions.regions[0].wait_ps, 14);
}

static void a_step_too_far_parts_two_regions(void **state)
{
	static const struct stalled stalled[] = {
		{"node 0 > 0.0", 30}, {"node 1 > 0.0", 26}, {"node 2 > 0.0", 21.9}};
	(void)state;
	FIND(stalled);
	assert_int_equal(regions.n, 2);
	assert_int_equal(region_of("node 1 > 0.0"), region_of("node 0 > 0.0"));
	assert_int_equal(region_of("node 2 > 0.0"), 1);
	assert_int_equal(regions.regions[1].level, TB_STALLED_MEDIUM);
}

static void what_is_far_away_is_another_region(void **state)
{
	static const struct stalled stalled[] = {
		{"node 0 > 0.0", 30}, {"node 4 > 0.1", 30}};
	(void)state;
	FIND(stalled);
	assert_int_equal(regions.n, 2);
	assert_int_equal(region_of("node 0 > 0.0"), 0); // of equals the first
	assert_int_equal(region_of("node 4 > 0.1"), 1);
}

static void neighbouring_regions_of_one_mean_merge(void **state)
{
	// 40, 36, 33 and 30 hang together by switches 1.0 and 0.1; 35 is a step too far
	// from 40, beside which it is, and merges by the mean of the four, 34.75.
	static const struct stalled stalled[] = {{"0.0:4 > 1.0:0", 40},
		{"1.0:1 > 0.1:4", 36}, {"0.1 > node 4", 33}, {"0.1 > node 5", 30},
		{"node 0 > 0.0", 35}};
	(void)state;
	FIND(stalled);
	assert_int_equal(regions.n, 1);
	assert_int_equal(regions.regions[0].n_links, 5);
	assert_true(
		regions.regions[0].percent > 34.79 && regions.regions[0].percent < 34.81);
	char text[160];
	assert_string_equal(tb_region_text(&regions.regions[0], text, sizeof text),
		"1 link from a node, 1 link up, 1 link down and 2 links to nodes");
}

static void hardly_stalled_links_belong_to_no_region(void **state)
{
	static const struct stalled stalled[] = {
		{"node 0 > 0.0", 5}, {"node 1 > 0.0", 5.1}};
	(void)state;
	FIND(stalled);
	assert_int_equal(regions.n, 1);
	assert_int_equal(region_of("node 0 > 0.0"), TB_ID_NONE);
	assert_int_equal(regions.regions[0].level, TB_STALLED_LOW);
	assert_true(regions.percent[id_of("node 0 > 0.0")] == 5);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(levels_end_where_the_paper_ends_them),
		cmocka_unit_test(neighbours_that_are_stalled_alike_are_one_region),
		cmocka_unit_test(a_region_sums_the_wait_that_leads),
		cmocka_unit_test(a_step_too_far_parts_two_regions),
		cmocka_unit_test(what_is_far_away_is_another_region),
		cmocka_unit_test(neighbouring_regions_of_one_mean_merge),
		cmocka_unit_test(hardly_stalled_links_belong_to_no_region),
	};
	return cmocka_run_group_tests(tests, set_up, tear_down);
}

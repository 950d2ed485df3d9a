// Dead cables and switches: read with the run, crossed out in matrix and tree, listed.
#include "../../viz_stage.h"

#define LINK   20 // a cable, dead from the start
#define SWITCH 5  // dies within bin 4
#define KILL   "INSERT INTO fault VALUES (1, 0, 20, NULL, 0), (1, 1, NULL, 5, 4500000)"

static size_t crosses(struct tb_viewer *viewer)
{
	return marked(viewer, tb_palette_of(TB_DARK)->dead, 930);
}

static void a_cable_is_two_links_and_a_switch_all_of_its(void **state)
{
	struct stage *stage = *state;
	struct tb_run *run;
	struct tb_error error;
	stage_change(stage, KILL);
	viz_check(tb_run_open(&run, stage->path, 0, &error), &error);
	const struct tb_run_link *links = tb_run_links(run);
	assert_int_equal(tb_run_n_faults(run), 2);
	assert_true(links[LINK].dead_at_ps == 0);
	assert_true(links[links[LINK].at.reverse.id].dead_at_ps == 0);
	assert_true(tb_run_switches(run)[SWITCH].dead_at_ps == 4500000);
	assert_true(tb_run_switches(run)[SWITCH + 1].dead_at_ps == TB_TIME_NEVER);
	uint32_t dying = 0, living = 0;
	for (uint32_t i = 0; i < tb_run_info(run)->n_links; i++) {
		dying += links[i].dead_at_ps == 4500000;
		living += links[i].dead_at_ps == TB_TIME_NEVER;
	}
	// Of the fixture's two levels SWITCH is in the upper, with four cables.
	assert_int_equal(dying, 8);
	assert_int_equal(living, tb_run_info(run)->n_links - 10);
	tb_run_free(run);
}

static void what_is_dead_is_crossed_out_from_its_death_on(void **state)
{
	struct stage *stage = *state;
	assert_int_equal(crosses(stage->viewer), 0);
	stage_change(stage, KILL);
	size_t whole = crosses(stage->viewer);
	assert_true(whole > 4);
	assert_true(shows(stage->viewer, "crossed out: dead"));
	keys(stage->viewer, (const char *const[]){".", "Home", NULL}); // bin 0
	assert_in_range(crosses(stage->viewer), 1, 4);
	for (int bin = 0; bin < 4; bin++)
		tb_viewer_key(stage->viewer, ".");
	assert_int_equal(crosses(stage->viewer), whole);
	tb_viewer_key(stage->viewer, "F3");
	assert_true(crosses(stage->viewer) > 10);
	assert_true(shows(stage->viewer, "crossed out: dead"));
}

static void the_filter_finds_the_dead_and_the_panel_tells_since_when(void **state)
{
	struct stage *stage = *state;
	stage_change(stage, KILL);
	keys(stage->viewer, (const char *const[]){"F4", "&", NULL});
	type(stage->viewer, "dead");
	tb_viewer_key(stage->viewer, "Return");
	assert_true(shows(stage->viewer, "10 of 64 links match 'dead'"));
	click(stage->viewer, (struct tb_pick){TB_PICK_LINK, LINK});
	assert_true(shows(stage->viewer, "from the start"));
	search(stage->viewer, "switch 1.1");
	assert_true(shows(stage->viewer, "from 4.500 us on"));
	keys(stage->viewer, (const char *const[]){".", "Home", NULL});
	assert_true(shows(stage->viewer, "later, from 4.500 us on"));
}

#define STAGED(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		STAGED(a_cable_is_two_links_and_a_switch_all_of_its),
		STAGED(what_is_dead_is_crossed_out_from_its_death_on),
		STAGED(the_filter_finds_the_dead_and_the_panel_tells_since_when),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

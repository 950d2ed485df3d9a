// Which part is visible: cameras, squares and trees that are zoomed and moved, lists and
// slices that are stepped through.
#include "flow_square.h"
#include "parts.h"
#include "root_list.h"
#include "tree_sight.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>

#include <cmocka.h>

static void a_camera_keeps_what_is_under_the_pointer(void **state)
{
	(void)state;
	struct tb_camera camera = {.area_w = 100,
		.area_h = 100,
		.world_w = 400,
		.world_h = 400,
		.fit_zoom = 0.25};
	tb_camera_set(&camera, 1, 50, 50);
	tb_camera_pan(&camera, 10, 20);
	assert_true(camera.pan_x == 40 && camera.pan_y == 30);
	assert_true(tb_camera_zoom(&camera, 60, 20, 2));
	assert_true(camera.zoom == 2);
	assert_true(camera.pan_x == 70 && camera.pan_y == 40);
	assert_false(tb_camera_zoom(&camera, 0, 0, 0.125)); // shows all
	assert_true(camera.zoom == 2);
	assert_true(tb_camera_zoom(&camera, 0, 0, 100));
	assert_true(camera.zoom == 8); // no further
}

static void a_camera_stays_on_its_world(void **state)
{
	(void)state;
	struct tb_camera camera = {.area_w = 100,
		.area_h = 100,
		.world_w = 400,
		.world_h = 40,
		.fit_zoom = 0.25};
	tb_camera_set(&camera, 1, -1000, -1000);
	assert_true(camera.pan_x == -50); // half of the view
	assert_true(camera.pan_y == -60); // all of the world at the lower edge
	tb_camera_set(&camera, 1, 1000, 1000);
	assert_true(camera.pan_x == 350 && camera.pan_y == 0);
}

static void a_square_zooms_about_the_pointer_and_stops_at_its_edges(void **state)
{
	(void)state;
	struct tb_flow_square square;
	tb_flow_square_init(&square);
	square.n_nodes = 64;
	square.box = (struct tb_box){10, 20, 100, 100};
	tb_flow_square_zoom(&square, 60, 70, 2);
	assert_true(square.zoom == 2);
	assert_true(square.pan_x == 0.5 && square.pan_y == 0.5);
	tb_flow_square_set(&square, 4, 100, 100);
	assert_true(square.pan_x == 3 && square.pan_y == 3);
	tb_flow_square_pan(&square, 100, 50);
	assert_true(square.pan_x == 2 && square.pan_y == 2.5);
	tb_flow_square_set(&square, 100, 0, 0);
	assert_true(square.zoom == 16); // four nodes fill it
	tb_flow_square_fini(&square);
}

static void cells_are_wide_enough_to_see(void **state)
{
	(void)state;
	struct tb_flow_square square;
	struct tb_flow_sample flow = {.source = {2}, .destination = {7}};
	const struct tb_flow_table one = {.rows = &flow, .n = 1, .group = 1};
	const struct tb_flow_span always = {.to = INT64_MAX};
	tb_flow_square_init(&square);
	square.box = (struct tb_box){0, 0, 8, 8};
	assert_int_equal(tb_flow_square_fill(&square, &one, always), TB_OK);
	assert_int_equal(square.grid.step, 4);
	assert_int_equal(square.n_nodes, 8); // it ends with the last node that took part
	square.box = (struct tb_box){0, 0, 80, 80};
	assert_int_equal(tb_flow_square_fill(&square, &one, always), TB_OK);
	assert_int_equal(square.grid.step, 1);
	tb_flow_square_fini(&square);
}

static void a_tree_stops_at_its_edges(void **state)
{
	(void)state;
	const struct tb_run_info info = {.n_nodes = 64};
	const struct tb_viewer_data data = {.info = &info};
	struct tb_tree_sight sight;
	tb_tree_sight_init(&sight, &data);
	sight.area = (struct tb_box){0, 0, 100, 100};
	tb_tree_sight_set(&sight, 2, 5);
	assert_true(sight.pan == 1);
	tb_tree_sight_set(&sight, 1, 0);
	tb_tree_sight_zoom(&sight, 50, 2);
	assert_true(sight.zoom == 2 && sight.pan == 0.5);
	tb_tree_sight_set(&sight, 100, 0);
	assert_true(sight.zoom == 16);
	tb_tree_sight_fini(&sight);
}

static void the_window_touches_slices_in_part_too(void **state)
{
	(void)state;
	const struct tb_run_info info = {
		.n_bins = 10, .bin_ps = 1000, .simulated_ps = 9750};
	const struct tb_trees trees = {.bin_ps = 2000, .n_bins = 5};
	struct tb_viewer_data data = {.info = &info, .window = {3, 5}};
	struct tb_slices slices = tb_slices_of(&data, &trees);
	assert_int_equal(slices.from, 1);
	assert_int_equal(slices.end, 3);
	data.window = (struct tb_window){2, 4};
	slices = tb_slices_of(&data, &trees);
	assert_int_equal(slices.from, 1);
	assert_int_equal(slices.end, 2);
	data.window = (struct tb_window){0, 0};
	slices = tb_slices_of(&data, &trees);
	assert_int_equal(slices.from, 0);
	assert_int_equal(slices.end, 5);
	// Slices stand where the run is, whose end may be within one, or behind the last.
	const struct tb_box box = {100, 0, 975, 20};
	assert_true(tb_root_slice(&data, &trees, box, 1).x == 300);
	assert_true(tb_root_slice(&data, &trees, box, 4).w == 175);
	const struct tb_trees quiet_end = {.bin_ps = 2000, .n_bins = 2};
	assert_true(tb_root_slice(&data, &quiet_end, box, 1).w == 200);
}

static void steps_stop_at_the_ends_of_the_roots(void **state)
{
	(void)state;
	struct tb_tree_root roots[] = {{.root = {7}}, {.root = {3}}, {.root = {9}}};
	const struct tb_root_list list = {.roots = roots, .n = 3, .listed = true};
	const struct tb_link last = {9}, middle = {3}, first = {7}, other = {5};
	assert_int_equal(tb_root_list_step(&list, middle, 1).id, 9);
	assert_int_equal(tb_root_list_step(&list, last, 1).id, 9);
	assert_int_equal(tb_root_list_step(&list, middle, -1).id, 7);
	assert_int_equal(tb_root_list_step(&list, first, -1).id, 7);
	assert_int_equal(tb_root_list_step(&list, other, 1).id, TB_ID_NONE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_camera_keeps_what_is_under_the_pointer),
		cmocka_unit_test(a_camera_stays_on_its_world),
		cmocka_unit_test(a_square_zooms_about_the_pointer_and_stops_at_its_edges),
		cmocka_unit_test(cells_are_wide_enough_to_see),
		cmocka_unit_test(a_tree_stops_at_its_edges),
		cmocka_unit_test(the_window_touches_slices_in_part_too),
		cmocka_unit_test(steps_stop_at_the_ends_of_the_roots),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

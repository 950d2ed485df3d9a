// Two runs and their difference, and switches that share a cell of a matrix.
#include "../../support/packed_links.h"
#include "../../viz_fixture.h"

#include "matrix_draw.h"
#include "pair.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>

#include <cmocka.h>

#define LESS VIZ_HOT_LINK // waits 1 us less in B
#define MORE 10		  // waits 5 us more

struct stage {
	char a[64], b[64];
	struct tb_run *run;
	struct tb_matrix matrix;
	struct tb_run_pair *pair;
};

// change_waits makes a store differ from that of the fixture.
static void change_waits(const char *path)
{
	sqlite3 *database;
	char sql[2048];
	snprintf(sql, sizeof sql,
		LINKS_UNPACKED TOTALS_UNPACKED
		"UPDATE links SET came_by_ps = came_by_ps - 1000000 WHERE link = %d AND "
		"bin "
		"= %d;"
		"UPDATE totals SET came_by_ps = came_by_ps - 1000000 WHERE link = %d;"
		"UPDATE links SET came_by_ps = came_by_ps + 5000000 WHERE link = %d AND "
		"bin "
		"= %d;"
		"UPDATE totals SET came_by_ps = came_by_ps + 5000000 WHERE link = "
		"%d;" LINKS_PACKED TOTALS_PACKED,
		LESS, VIZ_HOT_BIN, LESS, MORE, VIZ_HOT_BIN, MORE);
	if (sqlite3_open(path, &database) != SQLITE_OK ||
		sqlite3_exec(database, sql, NULL, NULL, NULL) != SQLITE_OK)
		abort();
	sqlite3_close(database);
}

static int set_up(void **state)
{
	struct stage *stage = calloc(1, sizeof *stage);
	struct tb_error error;
	viz_path(stage->a);
	viz_store(stage->a);
	viz_path(stage->b);
	viz_store(stage->b);
	change_waits(stage->b);
	viz_check(tb_run_open(&stage->run, stage->a, 0, &error), &error);
	viz_check(tb_matrix_lay_out(&stage->matrix, stage->run, &error), &error);
	viz_check(tb_run_pair_new(&stage->pair, stage->run, stage->b, 0, &error), &error);
	*state = stage;
	return 0;
}

static int tear_down(void **state)
{
	struct stage *stage = *state;
	tb_run_pair_free(stage->pair);
	tb_matrix_fini(&stage->matrix);
	tb_run_free(stage->run);
	unlink(stage->a);
	unlink(stage->b);
	free(stage);
	return 0;
}

static const struct tb_run_pair *show(struct stage *stage, struct tb_window window)
{
	struct tb_error error;
	const struct tb_link_sample *samples;
	viz_check(tb_run_look(stage->run, window, &samples, &error), &error);
	tb_matrix_fill(&stage->matrix, samples, TB_WAIT);
	viz_check(tb_run_pair_show(stage->pair, stage->run, window, samples,
			  &stage->matrix, &error),
		&error);
	return stage->pair;
}

static uint32_t switch_of(const struct stage *stage, uint32_t link)
{
	return tb_run_links(stage->run)[link].at.to;
}

static void a_change_has_a_size_and_a_direction(void **state)
{
	struct stage *stage = *state;
	const struct tb_run_pair *pair = show(stage, (struct tb_window){0, 0});
	assert_true(pair->same_shape);
	assert_int_equal(pair->less_links[LESS], 1);
	assert_int_equal(pair->less_links[MORE], 0);
	assert_int_equal(pair->less_switches[switch_of(stage, LESS)], 1);
	assert_int_equal(pair->less_switches[switch_of(stage, MORE)], 0);
	assert_int_equal(pair->change.largest_link, 5000000);
	assert_int_equal(pair->change.largest_switch, 5000000);
	assert_int_equal(pair->n_moved, 2);
	assert_int_equal(pair->movers[0].pair.a.id, MORE);
}

static void both_are_read_in_the_same_window(void **state)
{
	struct stage *stage = *state;
	const struct tb_run_pair *pair =
		show(stage, (struct tb_window){VIZ_HOT_BIN, VIZ_HOT_BIN + 1});
	assert_false(pair->over);
	assert_int_equal(pair->window.first_bin, VIZ_HOT_BIN);
	assert_int_equal(pair->samples[MORE].wait_ps, 5011000);
	pair = show(stage, (struct tb_window){0, VIZ_HOT_BIN});
	assert_int_equal(pair->n_moved, 0);
	assert_int_equal(pair->change.largest_link, 0);
}

static void apart_the_second_keeps_its_window(void **state)
{
	struct stage *stage = *state;
	show(stage, (struct tb_window){VIZ_HOT_BIN, VIZ_HOT_BIN + 1});
	stage->pair->apart = true;
	const struct tb_run_pair *pair = show(stage, (struct tb_window){0, VIZ_HOT_BIN});
	assert_int_equal(pair->window.first_bin, VIZ_HOT_BIN);
	assert_int_equal(pair->samples[MORE].wait_ps, 5011000);
	stage->pair->apart = false;
	pair = show(stage, (struct tb_window){0, VIZ_HOT_BIN});
	assert_int_equal(pair->window.first_bin, 0);
	assert_int_equal(pair->n_moved, 0);
}

// colour_of is the colour in which a picture shows an item.
static struct tb_colour colour_of(const struct tb_picture *picture, struct tb_pick pick)
{
	for (size_t i = 0; i < picture->n_items; i++)
		if (tb_pick_equal(picture->items[i].pick, pick))
			return picture->items[i].colour;
	fail_msg("%u is not drawn", pick.index);
	return (struct tb_colour){0};
}

static struct tb_matrix_view view_of(const struct tb_matrix *matrix)
{
	struct tb_matrix_view view = {.area = {0, 0, 4000, 1000},
		.zoom = 1,
		.detail = TB_DETAIL_CELLS,
		.theme = TB_DARK,
		.font_size = TB_MATRIX_FONT_SIZE};
	tb_matrix_view_scale(&view, matrix, false, false);
	return view;
}

static void less_is_blue_and_more_is_orange(void **state)
{
	struct stage *stage = *state;
	const struct tb_run_pair *pair = show(stage, (struct tb_window){0, 0});
	struct tb_matrix_layout layout;
	struct tb_picture picture = {0};
	struct tb_matrix_view view = view_of(&pair->change);
	view.less_links = pair->less_links;
	view.less_switches = pair->less_switches;
	assert_int_equal(
		tb_matrix_layout_init(&layout, &pair->change, &tb_matrix_on_screen, 1656),
		TB_OK);
	tb_matrix_draw(&picture, &layout, &pair->change, stage->run, &view);
	struct tb_colour less = colour_of(&picture, (struct tb_pick){TB_PICK_LINK, LESS});
	struct tb_colour more = colour_of(&picture, (struct tb_pick){TB_PICK_LINK, MORE});
	assert_true(less.b > less.r);
	assert_true(more.r > more.b);
	tb_picture_fini(&picture);
	tb_matrix_layout_fini(&layout);
}

static void a_shared_cell_shows_its_most_loaded_switch(void **state)
{
	struct stage *stage = *state;
	show(stage, (struct tb_window){0, 0});
	const struct tb_matrix *matrix = &stage->matrix;
	struct tb_matrix_metrics metrics = tb_matrix_on_screen;
	struct tb_matrix_layout layout;
	struct tb_picture picture = {0};
	struct tb_matrix_view view = view_of(matrix);
	metrics.group = 4;
	view.detail = TB_DETAIL_SWITCHES;
	assert_int_equal(tb_matrix_layout_init(&layout, matrix, &metrics, 1656), TB_OK);
	tb_matrix_draw(&picture, &layout, matrix, stage->run, &view);
	for (uint32_t row = 0; row < matrix->n_rows; row++) {
		const struct tb_matrix_box *most = &matrix->rows[row].boxes[0];
		for (uint32_t i = 1; i < matrix->rows[row].n_boxes; i++)
			if (matrix->rows[row].boxes[i].sum > most->sum)
				most = &matrix->rows[row].boxes[i];
		colour_of(&picture, (struct tb_pick){TB_PICK_SWITCH, most->sw.id});
	}
	tb_picture_fini(&picture);
	tb_matrix_layout_fini(&layout);
}

#define STAGED(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		STAGED(a_change_has_a_size_and_a_direction),
		STAGED(both_are_read_in_the_same_window),
		STAGED(apart_the_second_keeps_its_window),
		STAGED(less_is_blue_and_more_is_orange),
		STAGED(a_shared_cell_shows_its_most_loaded_switch),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

// Blocks do not overlap, stay in bounds, and fill the shape that they are fitted into.
#include "matrix_draw.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

static const struct tb_matrix_metrics metrics = {
	.cell_w = 24, .cell_h = 17, .sum_h = 21, .gap_x = 8, .gap_y = 8, .band_gap = 16};

// A matrix of equal switches: only the shape counts here.
struct shape {
	struct tb_matrix matrix;
	struct tb_matrix_row *rows;
	struct tb_matrix_box *boxes;
};

static struct shape new_shape(uint32_t n_rows, uint32_t n_boxes, uint32_t arity)
{
	struct shape shape;
	shape.rows = calloc(n_rows, sizeof *shape.rows);
	shape.boxes = calloc((size_t)n_rows * n_boxes, sizeof *shape.boxes);
	for (uint32_t row = 0; row < n_rows; row++) {
		struct tb_matrix_box *boxes = &shape.boxes[(size_t)row * n_boxes];
		shape.rows[row] =
			(struct tb_matrix_row){n_rows - 1 - row, n_boxes, boxes};
		for (uint32_t i = 0; i < n_boxes; i++) {
			boxes[i].n_below = arity;
			boxes[i].n_above = row == 0 ? 0 : arity;
		}
	}
	shape.matrix = (struct tb_matrix){.n_rows = n_rows, .rows = shape.rows};
	return shape;
}

static void free_shape(struct shape *shape)
{
	free(shape->rows);
	free(shape->boxes);
}

static bool apart(struct tb_box one, struct tb_box other)
{
	return one.x + one.w <= other.x || other.x + other.w <= one.x ||
	       one.y + one.h <= other.y || other.y + other.h <= one.y;
}

static void assert_tidy(const struct tb_matrix_layout *layout)
{
	for (uint32_t band = 0; band < layout->n_bands; band++) {
		struct tb_box before = {0, -1e9, 0, 0};
		for (uint32_t i = 0; i < layout->bands[band].n_boxes; i++) {
			struct tb_box box = tb_matrix_layout_box(layout, band, i);
			assert_true(box.x >= 0 && box.y >= 0);
			assert_true(box.x + box.w <= layout->width + 1e-6);
			assert_true(box.y + box.h <= layout->height + 1e-6);
			assert_true(apart(before, box));
			before = box;
		}
		if (band + 1 < layout->n_bands)
			assert_true(layout->bands[band].y + layout->bands[band].h <
				    layout->bands[band + 1].y);
	}
}

static void sixteen_switches_stand_in_a_row(void **state)
{
	(void)state;
	struct shape shape = new_shape(3, 16, 4);
	struct tb_matrix_layout layout;
	assert_int_equal(
		tb_matrix_layout_init(&layout, &shape.matrix, &metrics, 1656), TB_OK);
	for (uint32_t band = 0; band < 3; band++)
		assert_int_equal(layout.bands[band].n_lines, 1);
	assert_true(layout.width == 16 * 96 + 15 * 8);
	assert_true(layout.bands[0].above_h == 0);
	assert_true(layout.bands[1].above_h == 17);
	assert_tidy(&layout);
	tb_matrix_layout_fini(&layout);
	free_shape(&shape);
}

static void lines_are_of_equal_length(void **state)
{
	(void)state;
	struct shape shape = new_shape(2, 18, 4);
	struct tb_matrix_layout layout;
	assert_int_equal(
		tb_matrix_layout_init(&layout, &shape.matrix, &metrics, 1656), TB_OK);
	assert_int_equal(layout.bands[0].n_lines, 2);
	assert_int_equal(layout.bands[0].per_line, 9);
	assert_tidy(&layout);
	tb_matrix_layout_wrap(&layout, 1); // at least one box a line
	assert_int_equal(layout.bands[0].per_line, 1);
	assert_tidy(&layout);
	tb_matrix_layout_fini(&layout);
	free_shape(&shape);
}

static void a_fit_stays_within_the_shape_and_uses_it(void **state)
{
	(void)state;
	static const struct {
		uint32_t rows, boxes, arity;
	} networks[] = {
		{1, 1, 2}, {2, 4, 4}, {3, 16, 4}, {5, 256, 4}, {3, 36, 18}, {6, 1024, 4}};
	static const double sizes[][2] = {{830, 440}, {1480, 800}, {400, 900}};
	for (size_t n = 0; n < sizeof networks / sizeof *networks; n++) {
		struct shape shape =
			new_shape(networks[n].rows, networks[n].boxes, networks[n].arity);
		struct tb_matrix_layout layout;
		assert_int_equal(
			tb_matrix_layout_init(&layout, &shape.matrix, &metrics, 1656),
			TB_OK);
		for (size_t s = 0; s < 3; s++) {
			double zoom =
				tb_matrix_layout_fit(&layout, sizes[s][0], sizes[s][1]);
			assert_tidy(&layout);
			double w = layout.width * zoom;
			double h = layout.height * zoom;
			assert_true(w <= sizes[s][0] + 1e-6);
			assert_true(h <= sizes[s][1] + 1e-6);
			assert_true(w >= sizes[s][0] - 1e-6 || h >= sizes[s][1] - 1e-6);
		}
		tb_matrix_layout_fini(&layout);
		free_shape(&shape);
	}
}

static void nothing_is_not_scaled(void **state)
{
	(void)state;
	for (uint32_t n_rows = 0; n_rows <= 2; n_rows++) {
		struct shape shape = new_shape(n_rows, 0, 4);
		struct tb_matrix_layout layout;
		assert_int_equal(
			tb_matrix_layout_init(&layout, &shape.matrix, &metrics, 1656),
			TB_OK);
		assert_true(tb_matrix_layout_fit(&layout, 830, 440) == 1);
		tb_matrix_layout_fini(&layout);
		free_shape(&shape);
	}
}

static void groups_share_a_box(void **state)
{
	(void)state;
	struct shape shape = new_shape(2, 10, 4);
	struct tb_matrix_metrics grouped = metrics;
	struct tb_matrix_layout layout;
	grouped.group = 4;
	assert_int_equal(
		tb_matrix_layout_init(&layout, &shape.matrix, &grouped, 1656), TB_OK);
	assert_int_equal(layout.bands[0].n_boxes, 3);
	tb_matrix_layout_fini(&layout);
	free_shape(&shape);
}

static void links_are_wrapped_within_a_box_that_is_too_wide(void **state)
{
	(void)state;
	struct shape shape = new_shape(1, 1, 64);
	struct tb_matrix_layout layout;
	shape.boxes[0].n_nodes = 64;
	assert_int_equal(
		tb_matrix_layout_init(&layout, &shape.matrix, &metrics, 800), TB_OK);
	assert_int_equal(layout.bands[0].columns, 32);
	assert_true(layout.width == 32 * 24.0);
	assert_true(layout.height == 21 + 2 * 2 * 17.0);
	// A wider page undoes that.
	tb_matrix_layout_wrap(&layout, 64 * 24.0);
	assert_int_equal(layout.bands[0].columns, 64);
	tb_matrix_layout_fini(&layout);
	free_shape(&shape);
}

static void a_fit_wraps_links_only_where_they_have_no_numbers_else(void **state)
{
	(void)state;
	struct shape shape = new_shape(1, 2, 32);
	struct tb_matrix_layout layout;
	assert_int_equal(
		tb_matrix_layout_init(&layout, &shape.matrix, &metrics, 1656), TB_OK);
	double zoom = tb_matrix_layout_fit(&layout, 270, 150);
	assert_true(zoom * metrics.cell_w >= TB_MATRIX_NUMBERS_W);
	assert_true(layout.bands[0].columns < 32);
	assert_tidy(&layout);
	uint32_t narrow = layout.bands[0].columns;
	// Another metric keeps them as they are.
	assert_false(tb_matrix_layout_measure(&layout, &shape.matrix));
	assert_int_equal(layout.bands[0].columns, narrow);
	zoom = tb_matrix_layout_fit(&layout, 1656, 400);
	assert_true(zoom * metrics.cell_w >= TB_MATRIX_NUMBERS_W);
	assert_int_equal(layout.bands[0].columns, 32);
	tb_matrix_layout_fini(&layout);
	free_shape(&shape);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sixteen_switches_stand_in_a_row),
		cmocka_unit_test(lines_are_of_equal_length),
		cmocka_unit_test(a_fit_stays_within_the_shape_and_uses_it),
		cmocka_unit_test(nothing_is_not_scaled),
		cmocka_unit_test(groups_share_a_box),
		cmocka_unit_test(links_are_wrapped_within_a_box_that_is_too_wide),
		cmocka_unit_test(a_fit_wraps_links_only_where_they_have_no_numbers_else),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

// Curves as a picture: where points, their intervals and axes are.
#include "curves_picture.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>

#include <cmocka.h>

// bar_at finds the upright line of an interval: 1 wide, in the curve's shade.
static const struct tb_item *bar_at(
	const struct tb_picture *picture, struct tb_colour colour)
{
	for (size_t i = 0; i < picture->n_items; i++) {
		const struct tb_item *item = &picture->items[i];
		if (item->kind == TB_ITEM_LINE && item->box.w == 0 && item->size == 1 &&
			item->colour.r == colour.r && item->colour.b == colour.b)
			return item;
	}
	return NULL;
}

static void higher_values_are_higher_and_intervals_have_two_halves(void **state)
{
	(void)state;
	struct tb_curve_point points[] = {{1, {.mean = 2, .half_ci = 1}, 3, {0}},
		{3, {.mean = 8, .half_ci = INFINITY}, 1, {[TB_STEADY_GROWS] = 1}}};
	struct tb_curve curve = {.label = "only", .points = points, .n_points = 2};
	struct tb_curves curves = {.title = "Title",
		.x = {.name = "load", .title = "Load", .least = 0, .most = 4},
		.y = {.name = "accepted", .title = "Accepted", .least = 0, .most = 10},
		.curves = &curve,
		.n_curves = 1};
	struct tb_picture picture = {0};
	const struct tb_curves_figure figure = {&curves, TB_CIVIDIS, TB_LIGHT};
	assert_int_equal(tb_curves_picture(&picture, &figure), TB_OK);
	const struct tb_item *marks[2] = {NULL};
	size_t n = 0;
	for (size_t i = 0; i < picture.n_items && n < 2; i++)
		if (picture.items[i].kind == TB_ITEM_RECT && picture.items[i].tip)
			marks[n++] = &picture.items[i];
	assert_int_equal(n, 2);
	assert_true(marks[0]->box.x < marks[1]->box.x);
	assert_true(marks[0]->box.y > marks[1]->box.y);
	// The frame of the point that is not steady is around it alone.
	n = 0;
	for (size_t i = 0; i < picture.n_items; i++)
		if (picture.items[i].kind == TB_ITEM_FRAME &&
			picture.items[i].box.x < marks[1]->box.x &&
			picture.items[i].box.y < marks[1]->box.y &&
			picture.items[i].box.w < 4 * marks[1]->box.w) {
			assert_true(picture.items[i].box.x > marks[0]->box.x);
			n++;
		}
	assert_int_equal(n, 1);
	const struct tb_item *bar = bar_at(&picture, marks[0]->colour);
	assert_non_null(bar);
	double middle = marks[0]->box.y + marks[0]->box.h / 2;
	assert_true(fabs(bar->box.y + bar->box.h / 2 - middle) < 1e-6);
	// Six units of y lie between the points, two within the interval.
	assert_true(
		fabs(fabs(bar->box.h) - (marks[0]->box.y - marks[1]->box.y) / 3) < 1e-6);
	tb_picture_fini(&picture);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(higher_values_are_higher_and_intervals_have_two_halves),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

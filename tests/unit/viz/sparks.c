// Sparklines: which are kept when there are more than room, and how they are drawn.
#include "curves_picture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#define PLACES 16 // of a link

static struct tb_sparks *sparks;

static int set_up(void **state)
{
	(void)state;
	sparks = calloc(1, sizeof *sparks);
	return sparks ? 0 : -1;
}

static int tear_down(void **state)
{
	(void)state;
	free(sparks);
	return 0;
}

// rival is one of the links that share the places of link 7.
static struct tb_link rival(uint32_t i)
{
	return (struct tb_link){7 + i * TB_SPARK_SLOTS};
}

static void keep(struct tb_link link)
{
	assert_null(tb_spark_of(sparks, link));
	assert_int_equal(sparks->wanted[sparks->n_wanted - 1].id, link.id);
	tb_sparks_keep(sparks,
		&(struct tb_spark){.known = true, .link = link, .largest = link.id});
}

static void a_line_is_wanted_once_it_is_asked_for_and_then_there(void **state)
{
	(void)state;
	tb_sparks_begin(sparks, TB_WAIT);
	keep(rival(0));
	assert_int_equal(sparks->n_wanted, 1);
	const struct tb_spark *spark = tb_spark_of(sparks, rival(0));
	assert_non_null(spark);
	assert_int_equal(spark->largest, 7);
	assert_int_equal(sparks->n_wanted, 1);
	tb_sparks_begin(sparks, TB_WAIT);
	assert_int_equal(sparks->n_wanted, 0);
	assert_non_null(tb_spark_of(sparks, rival(0)));
	tb_sparks_begin(sparks, TB_BYTES); // another metric, other lines
	assert_null(tb_spark_of(sparks, rival(0)));
}

static void no_more_are_wanted_than_have_room(void **state)
{
	(void)state;
	tb_sparks_begin(sparks, TB_WAIT);
	for (uint32_t i = 0; i < 2 * TB_SPARK_WANTED; i++)
		assert_null(tb_spark_of(sparks, (struct tb_link){i}));
	assert_int_equal(sparks->n_wanted, TB_SPARK_WANTED);
	for (uint32_t i = 0; i < TB_SPARK_WANTED; i++)
		assert_int_equal(sparks->wanted[i].id, i);
}

static void what_was_not_drawn_for_longest_makes_room(void **state)
{
	(void)state;
	tb_sparks_begin(sparks, TB_WAIT);
	for (uint32_t i = 0; i < PLACES; i++)
		keep(rival(i));
	// The next picture shows all but the sixth of them, and another.
	tb_sparks_begin(sparks, TB_WAIT);
	for (uint32_t i = 0; i < PLACES; i++)
		if (i != 5)
			assert_non_null(tb_spark_of(sparks, rival(i)));
	keep(rival(PLACES));
	for (uint32_t i = 0; i <= PLACES; i++)
		if (i != 5)
			assert_non_null(tb_spark_of(sparks, rival(i)));
	assert_null(tb_spark_of(sparks, rival(5)));
}

static void columns_are_as_high_as_their_share_and_at_least_a_pixel(void **state)
{
	(void)state;
	struct tb_picture picture = {0};
	const struct tb_colour colour = {1, 2, 3, 4};
	const struct tb_box box = {100, 20, 2 * TB_SPARK_COLUMNS, 10};
	struct tb_spark spark = {.known = true, .largest = 50};
	spark.values[1] = 50;
	spark.values[2] = 20;
	spark.values[5] = 1;
	spark.values[39] = 80; // more than what fills the box
	tb_picture_clear(&picture, 300, 60, colour);
	tb_spark_draw(&picture, box, &spark, 50, colour);
	tb_spark_draw(&picture, box, &spark, 0, colour);
	static const struct tb_box wanted[] = {
		{102, 20, 2, 10}, {104, 26, 2, 4}, {110, 29, 2, 1}, {178, 20, 2, 10}};
	assert_int_equal(picture.n_items, 4);
	for (size_t i = 0; i < 4; i++) {
		assert_int_equal(picture.items[i].kind, TB_ITEM_RECT);
		assert_memory_equal(&picture.items[i].colour, &colour, sizeof colour);
		assert_memory_equal(&picture.items[i].box, &wanted[i], sizeof wanted[i]);
	}
	tb_picture_fini(&picture);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_line_is_wanted_once_it_is_asked_for_and_then_there),
		TEST(no_more_are_wanted_than_have_room),
		TEST(what_was_not_drawn_for_longest_makes_room),
		TEST(columns_are_as_high_as_their_share_and_at_least_a_pixel),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

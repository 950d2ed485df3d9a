// The figure of a tree.
#include "tree_picture.h"

#include "../../viz_fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>

#include <cmocka.h>

static struct tb_picture drawn_with(struct tb_run *run, double width, const uint8_t *odd,
	const struct tb_tree_gap *gap)
{
	static const char *const notes[] = {"one", "two", NULL};
	struct tb_picture picture = {0};
	const struct tb_tree_figure figure = {.run = run,
		.metric = TB_WAIT,
		.width = width,
		.title = "a tree",
		.measure = "wait",
		.notes = notes,
		.odd = odd,
		.gaps = gap,
		.n_gaps = gap != NULL};
	assert_int_equal(tb_tree_picture(&picture, &figure, NULL), TB_OK);
	return picture;
}

static struct tb_picture drawn(struct tb_run *run, double width)
{
	return drawn_with(run, width, NULL, NULL);
}

static struct tb_run *opened(char path[64])
{
	struct tb_run *run = NULL;
	viz_path(path);
	viz_store(path);
	assert_int_equal(tb_run_open(&run, path, 0, NULL), TB_OK);
	return run;
}

static size_t count(const struct tb_picture *picture, enum tb_item_kind kind)
{
	size_t n = 0;
	for (size_t i = 0; i < picture->n_items; i++)
		n += picture->items[i].kind == kind;
	return n;
}

static bool has_text(const struct tb_picture *picture, const char *text)
{
	for (size_t i = 0; i < picture->n_items; i++)
		if (picture->items[i].kind == TB_ITEM_TEXT &&
			strcmp(tb_picture_string(picture, picture->items[i].text),
				text) == 0)
			return true;
	return false;
}

// Sixteen nodes and sixteen cables above; the legend has lines of its own.
static void every_cable_is_a_line_and_the_hottest_is_on_top(void **state)
{
	(void)state;
	char path[64];
	struct tb_run *run = opened(path);
	struct tb_picture picture = drawn(run, 0);
	const struct tb_item *last = NULL;
	size_t n = 0;
	for (size_t i = 0; i < picture.n_items; i++)
		if (picture.items[i].kind == TB_ITEM_LINE && picture.items[i].tip) {
			last = &picture.items[i];
			n++;
		}
	assert_int_equal(n, 32);
	const char *name = tb_run_links(run)[VIZ_HOT_LINK].name;
	assert_memory_equal(tb_picture_string(&picture, last->tip), name, strlen(name));
	assert_true(has_text(&picture, "a tree"));
	assert_true(has_text(&picture, "one") && has_text(&picture, "two"));
	assert_true(has_text(&picture, "level 1") && has_text(&picture, "nodes"));
	assert_true(has_text(&picture, "1.3"));
	assert_int_equal(count(&picture, TB_ITEM_FRAME), 24);
	tb_picture_fini(&picture);
	tb_run_free(run);
	unlink(path);
}

// The hottest cable is marked, and a dashed one is missing; the next hottest has the full
// shade then.
static void what_is_not_alike_has_a_colour_of_its_own(void **state)
{
	(void)state;
	char path[64];
	struct tb_run *run = opened(path);
	const struct tb_run_link *hot = &tb_run_links(run)[VIZ_HOT_LINK];
	uint8_t *odd = calloc(tb_run_info(run)->n_links, 1);
	struct tb_tree_gap gap = {0, tb_run_info(run)->n_switches - 1};
	assert_non_null(odd);
	odd[VIZ_HOT_LINK] = odd[hot->at.reverse.id] = 1;
	struct tb_picture picture = drawn_with(run, 0, odd, &gap);
	struct tb_colour signal = tb_palette_of(TB_LIGHT)->dead;
	struct tb_colour full = tb_shade(TB_CIVIDIS, TB_LIGHT, 100);
	size_t n_odd = 0, n_dashes = 0, n_full = 0;
	for (size_t i = 0; i < picture.n_items; i++) {
		const struct tb_item *item = &picture.items[i];
		bool is_line = item->kind == TB_ITEM_LINE;
		bool is_odd = memcmp(&item->colour, &signal, sizeof signal) == 0;
		n_odd += is_line && is_odd && item->tip &&
			 strncmp(tb_picture_string(&picture, item->tip), hot->name,
				 strlen(hot->name)) == 0;
		n_dashes += is_line && is_odd && !item->tip;
		n_full += is_line && item->tip &&
			  memcmp(&item->colour, &full, sizeof full) == 0;
	}
	assert_int_equal(n_odd, 1);
	assert_true(n_dashes > 2);
	assert_int_equal(n_full, 1);
	assert_true(has_text(&picture, "wait; purple: not alike, dashed: missing"));
	tb_picture_fini(&picture);
	free(odd);
	tb_run_free(run);
	unlink(path);
}

static void nothing_lies_beyond_the_page(void **state)
{
	(void)state;
	char path[64];
	struct tb_run *run = opened(path);
	for (double width = 300; width < 3000; width *= 2) {
		struct tb_picture picture = drawn(run, width);
		assert_true(picture.width >= width);
		for (size_t i = 0; i < picture.n_items; i++) {
			const struct tb_box *box = &picture.items[i].box;
			assert_true(box->x >= 0 && box->x + box->w <= picture.width);
			assert_true(box->y >= 0 && box->y + box->h <= picture.height);
		}
		tb_picture_fini(&picture);
	}
	tb_run_free(run);
	unlink(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_cable_is_a_line_and_the_hottest_is_on_top),
		cmocka_unit_test(what_is_not_alike_has_a_colour_of_its_own),
		cmocka_unit_test(nothing_lies_beyond_the_page),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

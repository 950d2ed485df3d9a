// What a picture keeps, hits, cuts and hands to its backends.
#include "picture.h"
#include "backends.h"
#include "paper.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const struct tb_colour red = {200, 0, 0, 255};
static const struct tb_colour blue = {0, 0, 200, 255};

static struct tb_picture new_picture(double w, double h)
{
	struct tb_picture picture = {0};
	tb_picture_clear(&picture, w, h, (struct tb_colour){255, 255, 255, 255});
	return picture;
}

static void rect_with_pick(struct tb_picture *picture, struct tb_box box, uint32_t link)
{
	tb_picture_rect(picture, box, red);
	tb_picture_pick(picture, (struct tb_pick){TB_PICK_LINK, link});
}

// written returns what a writer puts on a stream; the caller frees it.
typedef void writer(const struct tb_picture *picture, FILE *stream);
static char *written(const struct tb_picture *picture, writer *write, size_t *n)
{
	char *text = NULL;
	size_t length;
	FILE *stream = open_memstream(&text, &length);
	assert_non_null(stream);
	write(picture, stream);
	assert_int_equal(fclose(stream), 0);
	if (n)
		*n = length;
	return text;
}

static void the_topmost_item_is_hit(void **state)
{
	(void)state;
	struct tb_picture picture = new_picture(100, 100);
	struct tb_pick pick;
	struct tb_box box;
	rect_with_pick(&picture, (struct tb_box){0, 0, 50, 50}, 1);
	rect_with_pick(&picture, (struct tb_box){25, 25, 50, 50}, 2);
	tb_picture_rect(&picture, (struct tb_box){0, 0, 100, 100}, blue); // no id
	assert_true(tb_picture_hit(&picture, 30, 30, &pick, &box));
	assert_int_equal(pick.index, 2);
	assert_true(box.x == 25);
	assert_true(tb_picture_hit(&picture, 10, 10, &pick, NULL));
	assert_int_equal(pick.index, 1);
	assert_false(tb_picture_hit(&picture, 90, 10, &pick, NULL));
	assert_false(tb_picture_hit(&picture, 75, 50, &pick, NULL)); // right edge is out
	assert_false(tb_picture_hit(&picture, 50, 75, &pick, NULL));
	tb_picture_fini(&picture);
}

static void what_is_clipped_away_is_not_hit(void **state)
{
	(void)state;
	struct tb_picture picture = new_picture(100, 100);
	struct tb_pick pick;
	tb_picture_clip(&picture, (struct tb_box){0, 0, 60, 60});
	tb_picture_clip(&picture, (struct tb_box){40, 40, 60, 60});
	rect_with_pick(&picture, (struct tb_box){0, 0, 100, 100}, 1);
	tb_picture_unclip(&picture);
	tb_picture_unclip(&picture);
	assert_true(tb_picture_hit(&picture, 50, 50, &pick, NULL));
	assert_false(tb_picture_hit(&picture, 30, 30, &pick, NULL));
	assert_false(tb_picture_hit(&picture, 70, 70, &pick, NULL));
	tb_picture_fini(&picture);
}

static void a_line_is_hit_beside_it_but_not_beyond_its_ends(void **state)
{
	(void)state;
	struct tb_picture picture = new_picture(100, 100);
	struct tb_pick pick;
	tb_picture_line(&picture, (struct tb_box){10, 10, 40, 0}, 1, red);
	tb_picture_pick(&picture, (struct tb_pick){TB_PICK_LINK, 1});
	assert_true(tb_picture_hit(&picture, 30, 12.9, &pick, NULL));
	assert_false(tb_picture_hit(&picture, 30, 13.1, &pick, NULL));
	assert_true(tb_picture_hit(&picture, 52.9, 10, &pick, NULL));
	assert_false(tb_picture_hit(&picture, 54, 10, &pick, NULL));
	assert_false(tb_picture_hit(&picture, 6, 10, &pick, NULL));
	tb_picture_fini(&picture);
}

static void count_rect(void *context, const struct tb_item *item)
{
	(void)item;
	++*(int *)context;
}

static void ignore_clip(void *context, const struct tb_box *box)
{
	(void)context;
	(void)box;
}

static void only_items_wholly_outside_of_a_clip_are_skipped(void **state)
{
	(void)state;
	struct tb_picture picture = new_picture(100, 100);
	int n = 0;
	const struct tb_backend backend = {
		.context = &n, .rect = count_rect, .clip = ignore_clip};
	tb_picture_clip(&picture, (struct tb_box){40, 40, 20, 20});
	tb_picture_rect(
		&picture, (struct tb_box){30, 45, 15, 5}, red); // over the left edge
	tb_picture_rect(&picture, (struct tb_box){45, 55, 5, 15}, red); // the lower one
	tb_picture_rect(&picture, (struct tb_box){30, 45, 5, 5}, red);	// left of it
	tb_picture_rect(&picture, (struct tb_box){45, 65, 5, 5}, red);	// below it
	tb_picture_unclip(&picture);
	tb_picture_draw(&picture, &backend);
	assert_int_equal(n, 2);
	tb_picture_fini(&picture);
}

static void long_text_is_cut_to_its_box(void **state)
{
	(void)state;
	struct tb_picture picture = new_picture(10, 3);
	struct tb_type type = {TB_FONT_CELL, 1, TB_ALIGN_LEFT, red};
	tb_picture_text(&picture, (struct tb_box){0, 0, 8, 1}, type, "12345678");
	tb_picture_text(&picture, (struct tb_box){0, 1, 8, 1}, type, "123456789");
	tb_picture_text(&picture, (struct tb_box){0, 2, 2, 1}, type, "123456789");
	assert_int_equal(picture.n_items, 2);
	assert_string_equal(
		tb_picture_string(&picture, picture.items[0].text), "12345678");
	assert_string_equal(
		tb_picture_string(&picture, picture.items[1].text), "12345...");
	tb_picture_fini(&picture);
}

// named returns what a box of `w` characters shows of a name.
static const char *named(struct tb_picture *picture, double w, const char *name)
{
	struct tb_type type = {TB_FONT_CELL, 1, TB_ALIGN_LEFT, red};
	tb_picture_name(picture, (struct tb_box){0, 0, w, 1}, type, name);
	return tb_picture_string(picture, picture->items[picture->n_items - 1].text);
}

static void long_names_keep_their_ends(void **state)
{
	(void)state;
	struct tb_picture picture = new_picture(40, 3);
	assert_string_equal(named(&picture, 12, "IBSPINE-03:4"), "IBSPINE-03:4");
	assert_string_equal(named(&picture, 8, "IBSPINE-03:4"), "..E-03:4");
	assert_string_equal(
		named(&picture, 17, "spine-3:1 > leaf-12:40"), "..e-3:1 > ..12:40");
	// What the shorter end does not need the longer one gets.
	assert_string_equal(
		named(&picture, 17, "n1 > A09-IBLEAF-04"), "n1 > ..-IBLEAF-04");
	assert_string_equal(
		named(&picture, 17, "A09-IBLEAF-04 > n1"), "..-IBLEAF-04 > n1");
	assert_string_equal(
		named(&picture, 5, "\xc3\xa4\xc3\xb6\xc3\xbc\xc3\x9f\xc3\xa9\xc3\xa8"),
		"..\xc3\x9f\xc3\xa9\xc3\xa8");
	// Where ends would have nothing to show, the beginning of all says more.
	assert_string_equal(named(&picture, 7, "spine-3 > leaf-12"), "spin...");
	assert_string_equal(named(&picture, 9, "a\x01\x02zzz"), "..\\x02zzz");
	tb_picture_fini(&picture);
}

static void broken_characters_are_shown(void **state)
{
	(void)state;
	struct tb_picture picture = new_picture(100, 3);
	struct tb_type type = {TB_FONT_CELL, 1, TB_ALIGN_LEFT, red};
	struct tb_box box = {0, 0, 90, 1};
	tb_picture_text(&picture, box, type,
		"a\xff"
		"b\xc3");
	tb_picture_text(&picture, box, type,
		"n\xc3\xb6"
		"de\x01\xe2\x82\xac\xed\xa0\x80");
	assert_string_equal(
		tb_picture_string(&picture, picture.items[0].text), "a\\xffb\\xc3");
	assert_string_equal(tb_picture_string(&picture, picture.items[1].text),
		"n\xc3\xb6"
		"de\\x01\xe2\x82\xac\\xed\\xa0\\x80");
	tb_picture_fini(&picture);
}

static void width_follows_the_font(void **state)
{
	(void)state;
	assert_true(tb_text_width(TB_FONT_CELL, 1, "n\xc3\xb6") == 2);
	assert_true(tb_text_width(TB_FONT_CELL, 1, "\xe2\x82\xac") == 1);
	assert_true(tb_text_width(TB_FONT_TEXT, 10, "i") <
		    tb_text_width(TB_FONT_TEXT, 10, "M"));
	assert_true(tb_text_width(TB_FONT_MONO, 10, "i") ==
		    tb_text_width(TB_FONT_MONO, 10, "M"));
}

static void a_cleared_picture_is_drawn_afresh(void **state)
{
	(void)state;
	struct tb_picture picture = new_picture(10, 10);
	rect_with_pick(&picture, (struct tb_box){0, 0, 10, 10}, 1);
	tb_picture_clear(&picture, 10, 10, red);
	struct tb_pick pick;
	assert_false(tb_picture_hit(&picture, 5, 5, &pick, NULL));
	assert_int_equal(picture.n_items, 0);
	tb_picture_fini(&picture);
}

static void svg_writer(const struct tb_picture *picture, FILE *stream)
{
	tb_picture_svg(picture, 0, stream);
}

static void svg_keeps_text_as_text_and_tips_as_titles(void **state)
{
	(void)state;
	struct tb_picture picture = new_picture(100, 50);
	rect_with_pick(&picture, (struct tb_box){0, 0, 10, 10}, 1);
	tb_picture_tip(&picture, "0.1:4 > 1.0:1 & \"so on\"");
	tb_picture_text(&picture, (struct tb_box){0, 0, 90, 20},
		(struct tb_type){TB_FONT_TEXT, 10, TB_ALIGN_CENTRE, blue}, "a<b");
	char *svg = written(&picture, svg_writer, NULL);
	assert_non_null(strstr(svg, "viewBox=\"0 0 100 50\""));
	assert_non_null(
		strstr(svg, "<title>0.1:4 &gt; 1.0:1 &amp; &quot;so on&quot;</title>"));
	assert_non_null(strstr(svg, ">a&lt;b</text>"));
	assert_null(strstr(svg, "<?xml"));
	assert_null(strstr(svg, " id="));
	free(svg);
	tb_picture_fini(&picture);
}

static void terminal_writer(const struct tb_picture *picture, FILE *stream)
{
	assert_int_equal(tb_picture_terminal(picture, TB_TERMINAL_PLAIN, stream), TB_OK);
}

static void rgb_writer(const struct tb_picture *picture, FILE *stream)
{
	assert_int_equal(tb_picture_terminal(picture, TB_TERMINAL_RGB, stream), TB_OK);
}

static void xterm_writer(const struct tb_picture *picture, FILE *stream)
{
	assert_int_equal(tb_picture_terminal(picture, TB_TERMINAL_256, stream), TB_OK);
}

static void the_terminal_shows_text_and_shades(void **state)
{
	(void)state;
	struct tb_picture picture = new_picture(6, 2);
	struct tb_type type = {TB_FONT_CELL, 1, TB_ALIGN_RIGHT, blue};
	tb_picture_rect(&picture, (struct tb_box){1, 0, 3, 1}, red);
	tb_picture_text(&picture, (struct tb_box){0, 0, 3, 1}, type, "42");
	char *plain = written(&picture, terminal_writer, NULL);
	assert_string_equal(plain, " 42\n\n");
	free(plain);
	char *rgb = written(&picture, rgb_writer, NULL);
	assert_string_equal(rgb,
		" \033[0;48;2;200;0;0;38;2;0;0;200m42\033[0;48;2;200;0;0m \033[0m\n\n");
	free(rgb);
	char *xterm = written(&picture, xterm_writer, NULL);
	assert_string_equal(
		xterm, " \033[0;48;5;160;38;5;20m42\033[0;48;5;160m \033[0m\n\n");
	free(xterm);
	tb_picture_fini(&picture);
}

static void greys_have_colours_of_their_own_on_xterm(void **state)
{
	(void)state;
	struct tb_picture picture = new_picture(1, 1);
	const struct tb_colour grey = {118, 118, 118, 255};
	tb_picture_rect(&picture, (struct tb_box){0, 0, 1, 1}, grey);
	char *xterm = written(&picture, xterm_writer, NULL);
	assert_string_equal(xterm, "\033[0;48;5;243m \033[0m\n");
	free(xterm);
	tb_picture_fini(&picture);
}

static void png_writer(const struct tb_picture *picture, FILE *stream)
{
	assert_int_equal(tb_picture_png(picture, 100, stream, NULL), TB_OK);
}

static void pdf_writer(const struct tb_picture *picture, FILE *stream)
{
	assert_int_equal(tb_pictures_pdf(picture, 1, 100, NULL, stream, NULL), TB_OK);
}

static void png_and_pdf_are_written_and_repeat(void **state)
{
	(void)state;
	struct tb_picture picture = new_picture(50, 20);
	rect_with_pick(&picture, (struct tb_box){0, 0, 10, 10}, 1);
	tb_picture_text(&picture, (struct tb_box){0, 0, 50, 20},
		(struct tb_type){TB_FONT_BOLD, 10, TB_ALIGN_LEFT, blue}, "wait");
	size_t n;
	char *png = written(&picture, png_writer, &n);
	assert_true(n > 100 && memcmp(png, "\x89PNG", 4) == 0);
	free(png);
	size_t again_n;
	char *pdf = written(&picture, pdf_writer, &n);
	char *again = written(&picture, pdf_writer, &again_n);
	assert_memory_equal(pdf, "%PDF", 4);
	assert_int_equal(n, again_n);
	assert_memory_equal(pdf, again, n);
	free(pdf);
	free(again);
	assert_int_equal(tb_picture_png(&picture, 40000, stdout, NULL), TB_ECAPACITY);
	tb_picture_fini(&picture);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_topmost_item_is_hit),
		cmocka_unit_test(what_is_clipped_away_is_not_hit),
		cmocka_unit_test(a_line_is_hit_beside_it_but_not_beyond_its_ends),
		cmocka_unit_test(only_items_wholly_outside_of_a_clip_are_skipped),
		cmocka_unit_test(long_text_is_cut_to_its_box),
		cmocka_unit_test(long_names_keep_their_ends),
		cmocka_unit_test(broken_characters_are_shown),
		cmocka_unit_test(width_follows_the_font),
		cmocka_unit_test(a_cleared_picture_is_drawn_afresh),
		cmocka_unit_test(svg_keeps_text_as_text_and_tips_as_titles),
		cmocka_unit_test(the_terminal_shows_text_and_shades),
		cmocka_unit_test(greys_have_colours_of_their_own_on_xterm),
		cmocka_unit_test(png_and_pdf_are_written_and_repeat),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

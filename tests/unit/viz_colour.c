// Shades have the order of their percentages, and text is legible on them.
#include "colour.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static const enum tb_colours all[] = {TB_CIVIDIS, TB_VIRIDIS, TB_GREYS};
static const enum tb_theme themes[] = {TB_LIGHT, TB_DARK};

#define EACH_MAP(map, theme)                                                             \
	for (size_t map = 0; map < 3; map++)                                             \
		for (size_t theme = 0; theme < 2; theme++)

static void luminance_moves_one_way_from_0_to_100(void **state)
{
	(void)state;
	EACH_MAP(m, t)
	{
		double before = tb_colour_luminance(tb_shade(all[m], themes[t], 0));
		for (int percent = 1; percent <= 100; percent++) {
			double now =
				tb_colour_luminance(tb_shade(all[m], themes[t], percent));
			if (themes[t] == TB_LIGHT)
				assert_true(now < before);
			else
				assert_true(now > before);
			before = now;
		}
	}
}

static void ink_reads_on_every_shade(void **state)
{
	(void)state;
	EACH_MAP(m, t)
	{
		for (int percent = 0; percent <= 100; percent++) {
			struct tb_colour shade = tb_shade(all[m], themes[t], percent);
			double contrast = tb_colour_contrast(shade, tb_colour_ink(shade));
			assert_true(contrast >= 4.5);
		}
	}
}

static void palettes_read(void **state)
{
	(void)state;
	for (size_t t = 0; t < 2; t++) {
		const struct tb_palette *palette = tb_palette_of(themes[t]);
		const struct tb_colour grounds[] = {
			palette->page, palette->panel, palette->raised, palette->empty};
		for (size_t i = 0; i < 4; i++) {
			assert_true(tb_colour_contrast(palette->text, grounds[i]) >= 7);
			assert_true(
				tb_colour_contrast(palette->muted, grounds[i]) >= 4.5);
		}
		assert_true(tb_colour_contrast(palette->accent, palette->page) >= 3);
		assert_true(tb_colour_contrast(palette->dead, palette->empty) >= 4.5);
	}
}

static void percentages_out_of_range_are_clipped(void **state)
{
	(void)state;
	struct tb_colour low = tb_shade(TB_CIVIDIS, TB_DARK, -5);
	struct tb_colour high = tb_shade(TB_CIVIDIS, TB_DARK, 500);
	struct tb_colour zero = tb_shade(TB_CIVIDIS, TB_DARK, 0);
	struct tb_colour full = tb_shade(TB_CIVIDIS, TB_DARK, 100);
	assert_memory_equal(&low, &zero, sizeof low);
	assert_memory_equal(&high, &full, sizeof high);
	assert_int_equal(zero.b, 0x4e);
	assert_int_equal(full.r, 0xfe);
}

static void changes_leave_the_ground_in_two_hues(void **state)
{
	(void)state;
	for (size_t t = 0; t < 2; t++) {
		struct tb_colour ground = tb_shade_change(themes[t], 0);
		double less = 1, more = 1;
		for (int percent = 1; percent <= 100; percent++) {
			struct tb_colour down = tb_shade_change(themes[t], -percent);
			struct tb_colour up = tb_shade_change(themes[t], percent);
			assert_true(tb_colour_contrast(ground, down) >= less);
			assert_true(tb_colour_contrast(ground, up) >= more);
			less = tb_colour_contrast(ground, down);
			more = tb_colour_contrast(ground, up);
			assert_true(down.b > down.r && up.r > up.b);
		}
		assert_true(less > 4.5 && more > 4.5);
	}
}

static void names_are_parsed_back(void **state)
{
	(void)state;
	enum tb_colours colours = TB_GREYS;
	for (size_t m = 0; m < 3; m++) {
		assert_int_equal(
			tb_colours_parse(tb_colours_name(all[m]), &colours), TB_OK);
		assert_int_equal(colours, all[m]);
	}
	assert_int_equal(tb_colours_parse("jet", &colours), TB_EUSAGE);
	assert_int_equal(colours, TB_GREYS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(luminance_moves_one_way_from_0_to_100),
		cmocka_unit_test(ink_reads_on_every_shade),
		cmocka_unit_test(palettes_read),
		cmocka_unit_test(percentages_out_of_range_are_clipped),
		cmocka_unit_test(changes_leave_the_ground_in_two_hues),
		cmocka_unit_test(names_are_parsed_back),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

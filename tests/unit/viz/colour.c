// Shades have the order of their percentages, and text is legible on them.
#include "colour.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
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

// seen returns a colour as a person with deuteranopia (or, with protan, protanopia) sees
// it: Machado, Oliveira and Fernandes, IEEE TVCG 15(6), 2009, table 1, severity 1.
static void seen(struct tb_colour colour, bool protan, double rgb[3])
{
	static const double matrices[2][3][3] = {
		{{0.367322, 0.860646, -0.227968}, {0.280085, 0.672501, 0.047413},
			{-0.011820, 0.042940, 0.968881}},
		{{0.152286, 1.052583, -0.204868}, {0.114503, 0.786281, 0.099216},
			{-0.003882, -0.048116, 1.051998}}};
	const double from[3] = {colour.r, colour.g, colour.b};
	for (int i = 0; i < 3; i++) {
		rgb[i] = 0;
		for (int j = 0; j < 3; j++)
			rgb[i] += matrices[protan][i][j] * from[j];
	}
}

static void jobs_are_told_apart_by_all_eyes(void **state)
{
	(void)state;
	for (size_t t = 0; t < 2; t++) {
		for (uint32_t a = 0; a < 8; a++) {
			for (uint32_t b = 0; b < a; b++) {
				for (int protan = 0; protan < 2; protan++) {
					double one[3], other[3], sum = 0;
					seen(tb_job_colour(themes[t], a), protan, one);
					seen(tb_job_colour(themes[t], b), protan, other);
					for (int i = 0; i < 3; i++)
						sum += (one[i] - other[i]) *
						       (one[i] - other[i]);
					if (sum < 35 * 35)
						fail_msg("theme %zu: %u and %u: %.0f", t,
							a, b, sqrt(sum));
				}
			}
			assert_true(tb_colour_contrast(tb_job_colour(themes[t], a),
					    tb_palette_of(themes[t])->panel) >= 1.7);
		}
		struct tb_colour first = tb_job_colour(themes[t], 0);
		struct tb_colour ninth = tb_job_colour(themes[t], 8);
		assert_memory_not_equal(&first, &ninth, sizeof first);
		struct tb_colour nobody = tb_job_colour(themes[t], UINT32_MAX);
		assert_memory_equal(
			&nobody, &tb_palette_of(themes[t])->muted, sizeof nobody);
	}
}

static void colours_and_themes_have_names(void **state)
{
	(void)state;
	assert_string_equal(tb_colours_name(TB_CIVIDIS), "cividis");
	assert_string_equal(tb_colours_name(TB_GREYS), "greys");
	assert_string_equal(tb_theme_name(TB_LIGHT), "light");
	assert_string_equal(tb_theme_name(TB_DARK), "dark");
	assert_null(tb_colours_name(3));
	assert_null(tb_theme_name(2));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(luminance_moves_one_way_from_0_to_100),
		cmocka_unit_test(ink_reads_on_every_shade),
		cmocka_unit_test(palettes_read),
		cmocka_unit_test(percentages_out_of_range_are_clipped),
		cmocka_unit_test(changes_leave_the_ground_in_two_hues),
		cmocka_unit_test(jobs_are_told_apart_by_all_eyes),
		cmocka_unit_test(colours_and_themes_have_names),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

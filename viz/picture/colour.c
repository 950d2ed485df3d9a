#include "colour.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

#define N_ANCHORS 10

// Ten evenly spaced colours per map, dark to bright. Linear interpolation between them
// stays within three units of the published tables.
static const struct colour_map {
	const char *name;
	uint32_t anchors[N_ANCHORS];
} maps[] = {
	[TB_CIVIDIS] = {"cividis",
		{0x00224e, 0x123570, 0x3b496c, 0x575d6d, 0x707173, 0x8a8678, 0xa59c74,
			0xc3b369, 0xe1cc55, 0xfee838}},
	[TB_VIRIDIS] = {"viridis",
		{0x440154, 0x482878, 0x3e4989, 0x31688e, 0x26828e, 0x1f9e89, 0x35b779,
			0x6ece58, 0xb5de2b, 0xfde725}},
	[TB_GREYS] = {"greys", {0x1c1c1c, 0x343434, 0x4b4b4b, 0x636363, 0x7a7a7a,
				       0x929292, 0xa9a9a9, 0xc1c1c1, 0xd8d8d8, 0xf0f0f0}},
};

#define N_MAPS (sizeof maps / sizeof *maps)

static const struct tb_palette palettes[] = {
	[TB_LIGHT] = {.page = {250, 250, 248, 255},
		.panel = {255, 255, 255, 255},
		.raised = {236, 238, 241, 255},
		.empty = {241, 242, 243, 255},
		.line = {205, 209, 214, 255},
		.text = {28, 32, 38, 255},
		.muted = {96, 103, 112, 255},
		.accent = {213, 62, 0, 255},
		.second = {0, 114, 178, 255},
		.dead = {165, 60, 120, 255}},
	[TB_DARK] = {.page = {18, 20, 24, 255},
		.panel = {25, 28, 33, 255},
		.raised = {42, 46, 53, 255},
		.empty = {33, 36, 42, 255},
		.line = {62, 68, 77, 255},
		.text = {232, 234, 237, 255},
		.muted = {154, 161, 171, 255},
		.accent = {255, 126, 66, 255},
		.second = {86, 190, 240, 255},
		.dead = {226, 132, 186, 255}},
};

const struct tb_palette *tb_palette_of(enum tb_theme theme)
{
	return &palettes[theme];
}

static uint8_t channel(uint32_t rgb, int shift)
{
	return (uint8_t)(rgb >> shift & 0xff);
}

static uint8_t colour_mix(uint8_t from, uint8_t to, double share)
{
	// It is not negative; lround takes several times as long.
	return (uint8_t)(from + (to - from) * share + 0.5);
}

struct tb_colour tb_colour_mix(struct tb_colour from, struct tb_colour to, double share)
{
	return (struct tb_colour){colour_mix(from.r, to.r, share),
		colour_mix(from.g, to.g, share), colour_mix(from.b, to.b, share),
		colour_mix(from.a, to.a, share)};
}

// On a light page the bright end of a map catches the eye more than the dark end,
// although it means almost no load. So fade that end towards the page.
static struct tb_colour wash(struct tb_colour colour, double at)
{
	double share = 0.78 * at * at;
	const struct tb_colour page = palettes[TB_LIGHT].page;
	return (struct tb_colour){colour_mix(colour.r, page.r, share),
		colour_mix(colour.g, page.g, share), colour_mix(colour.b, page.b, share),
		255};
}

struct tb_colour tb_shade_change(enum tb_theme theme, double percent)
{
	static const struct tb_colour ends[][2] = {
		[TB_LIGHT] = {{0, 66, 128, 255}, {150, 52, 0, 255}},
		[TB_DARK] = {{120, 205, 255, 255}, {255, 176, 92, 255}}};
	const struct tb_colour ground = palettes[theme].empty;
	const struct tb_colour end = ends[theme][percent > 0];
	double share = fmin(fabs(percent), 100) / 100;
	// Keep the smallest change distinct from no change.
	share = share > 0 ? 0.12 + 0.88 * share : 0;
	return (struct tb_colour){colour_mix(ground.r, end.r, share),
		colour_mix(ground.g, end.g, share), colour_mix(ground.b, end.b, share),
		255};
}

struct tb_colour tb_shade(enum tb_colours colours, enum tb_theme theme, double percent)
{
	double share = fmin(fmax(percent, 0), 100) / 100;
	double at = (theme == TB_LIGHT ? 1 - share : share) * (N_ANCHORS - 1);
	size_t below = (size_t)fmin(floor(at), N_ANCHORS - 2);
	uint32_t from = maps[colours].anchors[below];
	uint32_t to = maps[colours].anchors[below + 1];
	at -= (double)below;
	struct tb_colour colour = {colour_mix(channel(from, 16), channel(to, 16), at),
		colour_mix(channel(from, 8), channel(to, 8), at),
		colour_mix(channel(from, 0), channel(to, 0), at), 255};
	return theme == TB_LIGHT ? wash(colour, 1 - share) : colour;
}

#define N_HUES 8

struct tb_colour tb_job_colour(enum tb_theme theme, uint32_t job)
{
	static const uint32_t hues[][N_HUES] = {
		[TB_LIGHT] = {0x4477aa, 0xddaa33, 0x117733, 0xcc3377, 0x332288, 0x66ccee,
			0x998800, 0x882255},
		[TB_DARK] = {0x77aadd, 0xeedd88, 0x44bb99, 0xffaabb, 0x9988ff, 0x99ddff,
			0xaaaa00, 0xcc6677}};
	const struct tb_colour page = palettes[theme].page;
	double faint = job / N_HUES % 2 ? 0.45 : 0;
	if (job == UINT32_MAX)
		return palettes[theme].muted;
	uint32_t rgb = hues[theme][job % N_HUES];
	return (struct tb_colour){colour_mix(channel(rgb, 16), page.r, faint),
		colour_mix(channel(rgb, 8), page.g, faint),
		colour_mix(channel(rgb, 0), page.b, faint), 255};
}

static double linear(uint8_t level)
{
	double value = level / 255.0;
	return value <= 0.04045 ? value / 12.92 : pow((value + 0.055) / 1.055, 2.4);
}

double tb_colour_luminance(struct tb_colour colour)
{
	return 0.2126 * linear(colour.r) + 0.7152 * linear(colour.g) +
	       0.0722 * linear(colour.b);
}

double tb_colour_contrast(struct tb_colour one, struct tb_colour other)
{
	double a = tb_colour_luminance(one);
	double b = tb_colour_luminance(other);
	return (fmax(a, b) + 0.05) / (fmin(a, b) + 0.05);
}

struct tb_colour tb_colour_ink(struct tb_colour ground)
{
	const struct tb_colour dark = {0, 0, 0, 255};
	const struct tb_colour bright = {255, 255, 255, 255};
	return tb_colour_contrast(ground, dark) >= tb_colour_contrast(ground, bright)
		       ? dark
		       : bright;
}

const char *tb_colours_name(size_t colours)
{
	return colours < N_MAPS ? maps[colours].name : NULL;
}

const char *tb_theme_name(size_t theme)
{
	static const char *const names[] = {[TB_LIGHT] = "light", [TB_DARK] = "dark"};
	return theme < sizeof names / sizeof *names ? names[theme] : NULL;
}

#include "backends.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct glyph {
	char bytes[5];	    // one UTF-8 character, "" for a blank
	bool inked, filled; // has ink, fill; else the terminal's colour
	struct tb_colour ink, fill;
};

struct terminal_cells {
	struct glyph *glyphs;
	int columns, rows;
	struct tb_box clip;
};

static struct glyph *terminal_cell(struct terminal_cells *screen, int x, int y)
{
	if (x < 0 || y < 0 || x >= screen->columns || y >= screen->rows)
		return NULL;
	if (!tb_box_holds(screen->clip, x, y))
		return NULL;
	return &screen->glyphs[(size_t)y * (size_t)screen->columns + (size_t)x];
}

static void terminal_rect(void *context, const struct tb_item *item)
{
	struct terminal_cells *screen = context;
	int left = (int)lround(item->box.x);
	int top = (int)lround(item->box.y);
	int right = (int)lround(item->box.x + item->box.w);
	int bottom = (int)lround(item->box.y + item->box.h);
	for (int y = top; y < bottom; y++) {
		for (int x = left; x < right; x++) {
			struct glyph *glyph = terminal_cell(screen, x, y);
			if (!glyph)
				continue;
			*glyph = (struct glyph){.filled = true, .fill = item->colour};
		}
	}
}

// Frames and lines are finer than a character: the terminal shows none.
static void terminal_skip(void *context, const struct tb_item *item)
{
	(void)context;
	(void)item;
}

static void terminal_text(void *context, const struct tb_item *item, const char *string)
{
	struct terminal_cells *screen = context;
	double spare = item->box.w - tb_text_width(TB_FONT_CELL, 1, string);
	int x = (int)lround(item->box.x + floor(spare * (double)item->align / 2));
	int y = (int)lround(item->box.y + (item->box.h - 1) / 2);
	while (*string) {
		size_t n = 1;
		while (((unsigned char)string[n] & 0xc0) == 0x80 && n < 4)
			n++;
		struct glyph *glyph = terminal_cell(screen, x, y);
		if (glyph) {
			memcpy(glyph->bytes, string, n);
			glyph->bytes[n] = '\0';
			// On the terminal's own background only its own text colour is
			// sure to be readable.
			glyph->inked = glyph->filled;
			glyph->ink = item->colour;
		}
		string += n;
		x++;
	}
}

static void terminal_clip(void *context, const struct tb_box *box)
{
	struct terminal_cells *screen = context;
	screen->clip = box ? *box : (struct tb_box){0, 0, screen->columns, screen->rows};
}

// nearest_256 returns the nearest colour of the xterm palette's cube and greys.
static int nearest_256(struct tb_colour colour)
{
	static const int levels[] = {0, 95, 135, 175, 215, 255};
	const int channels[] = {colour.r, colour.g, colour.b};
	int cube[3];
	int cube_error = 0;
	for (int i = 0; i < 3; i++) {
		cube[i] = 0;
		for (int step = 1; step < 6; step++)
			if (abs(levels[step] - channels[i]) <
				abs(levels[cube[i]] - channels[i]))
				cube[i] = step;
		int off = levels[cube[i]] - channels[i];
		cube_error += off * off;
	}
	int mean = (colour.r + colour.g + colour.b) / 3;
	int grey = mean < 8 ? 0 : mean > 238 ? 23 : (mean - 3) / 10;
	int grey_error = 0;
	for (int i = 0; i < 3; i++) {
		int off = 8 + 10 * grey - channels[i];
		grey_error += off * off;
	}
	return grey_error < cube_error ? 232 + grey
				       : 16 + 36 * cube[0] + 6 * cube[1] + cube[2];
}

static void put_colour(
	FILE *stream, enum tb_terminal_colours colours, int base, struct tb_colour colour)
{
	if (colours == TB_TERMINAL_RGB)
		fprintf(stream, ";%d;2;%d;%d;%d", base, colour.r, colour.g, colour.b);
	else
		fprintf(stream, ";%d;5;%d", base, nearest_256(colour));
}

static bool same_style(const struct glyph *one, const struct glyph *other)
{
	return one->filled == other->filled && one->inked == other->inked &&
	       (!one->filled || memcmp(&one->fill, &other->fill, 4) == 0) &&
	       (!one->inked || memcmp(&one->ink, &other->ink, 4) == 0);
}

enum tb_terminal_colours tb_terminal_colours(FILE *stream)
{
	const char *term = getenv("TERM");
	const char *no_color = getenv("NO_COLOR");
	const char *colorterm = getenv("COLORTERM");
	if (!isatty(fileno(stream)) || !term || strcmp(term, "dumb") == 0)
		return TB_TERMINAL_PLAIN;
	if (no_color && no_color[0])
		return TB_TERMINAL_PLAIN;
	if (colorterm &&
		(strcmp(colorterm, "truecolor") == 0 || strcmp(colorterm, "24bit") == 0))
		return TB_TERMINAL_RGB;
	return TB_TERMINAL_256;
}

int tb_picture_terminal(
	const struct tb_picture *picture, enum tb_terminal_colours colours, FILE *stream)
{
	struct terminal_cells screen = {
		.columns = (int)ceil(picture->width), .rows = (int)ceil(picture->height)};
	size_t n = (size_t)screen.columns * (size_t)screen.rows;
	screen.glyphs = calloc(n ? n : 1, sizeof *screen.glyphs);
	if (!screen.glyphs)
		return TB_ENOMEM;
	const struct tb_backend backend = {&screen, terminal_rect, terminal_skip,
		terminal_skip, terminal_text, terminal_clip};
	terminal_clip(&screen, NULL);
	tb_picture_draw(picture, &backend);
	for (int y = 0; y < screen.rows; y++) {
		const struct glyph *row =
			screen.glyphs + (size_t)y * (size_t)screen.columns;
		int columns = screen.columns;
		const struct glyph plain = {.filled = false};
		const struct glyph *style = &plain;
		bool shown = colours != TB_TERMINAL_PLAIN;
		while (columns > 0 && !row[columns - 1].bytes[0] &&
			!(shown && row[columns - 1].filled))
			columns--;
		for (int x = 0; x < columns; x++) {
			const struct glyph *glyph = &row[x];
			if (shown && !same_style(glyph, style)) {
				fputs("\033[0", stream);
				if (glyph->filled)
					put_colour(stream, colours, 48, glyph->fill);
				if (glyph->inked)
					put_colour(stream, colours, 38, glyph->ink);
				fputc('m', stream);
				style = glyph;
			}
			fputs(glyph->bytes[0] ? glyph->bytes : " ", stream);
		}
		if (!same_style(style, &plain))
			fputs("\033[0m", stream);
		fputc('\n', stream);
	}
	free(screen.glyphs);
	return TB_OK;
}

// Draws pictures on the window with SDL's renderer.
#include "paper.h"
#include "screen_impl.h"

#include <math.h>
#include <stdlib.h>

#define MARGIN	   16	// lines are drawn this many pixels beyond the window
#define RIM	   0.25 // least opacity of a slanted line's edges
#define LEAST_RIM  40	// of 255; fainter ones nobody sees, and thousands take their time
#define CACHED_W   15	// pixels, the widest rectangle that SDL fills through the cache
#define STREAMED_W 128	// and from here on it is faster past it

// screen_nearest rounds as lround does, which is no instruction but a call.
static int screen_nearest(double at)
{
	return (int)(at < 0 ? at - 0.5 : at + 0.5);
}

// screen_pixels rounds edges, not sizes, so that boxes that share an edge still share it.
static SDL_Rect screen_pixels(const struct tb_screen *screen, const struct tb_box *box)
{
	int left = screen_nearest(box->x * screen->scale);
	int top = screen_nearest(box->y * screen->scale);
	int right = screen_nearest((box->x + box->w) * screen->scale);
	int bottom = screen_nearest((box->y + box->h) * screen->scale);
	return (SDL_Rect){left, top, right - left, bottom - top};
}

static void screen_fill(struct tb_screen *screen, struct tb_colour colour, SDL_Rect box)
{
	SDL_SetRenderDrawBlendMode(screen->renderer,
		colour.a == 255 ? SDL_BLENDMODE_NONE : SDL_BLENDMODE_BLEND);
	SDL_SetRenderDrawColor(screen->renderer, colour.r, colour.g, colour.b, colour.a);
	// SDL fills lines of 16 pixels and more past the cache, which is slow where they
	// are so short that few of the cache's lines are whole.
	while (colour.a == 255 && box.w > CACHED_W && box.w < STREAMED_W) {
		SDL_RenderFillRect(
			screen->renderer, &(SDL_Rect){box.x, box.y, CACHED_W, box.h});
		box.x += CACHED_W;
		box.w -= CACHED_W;
	}
	SDL_RenderFillRect(screen->renderer, &box);
}

static void screen_rect(void *context, const struct tb_item *item)
{
	struct tb_screen *screen = context;
	SDL_Rect box = screen_pixels(screen, &item->box);
	box.w = SDL_max(box.w, item->box.w > 0); // a pixel at least
	box.h = SDL_max(box.h, item->box.h > 0);
	if (item->colour.a > 0)
		screen_fill(screen, item->colour, box);
}

static int screen_stroke(const struct tb_screen *screen, double width)
{
	return SDL_max((int)lround(width * screen->scale), 1);
}

static void screen_frame(void *context, const struct tb_item *item)
{
	struct tb_screen *screen = context;
	SDL_Rect box = screen_pixels(screen, &item->box);
	int width = screen_stroke(screen, item->size);
	int inner_h = SDL_max(box.h - 2 * width, 0);
	screen_fill(screen, item->colour, (SDL_Rect){box.x, box.y, box.w, width});
	screen_fill(screen, item->colour,
		(SDL_Rect){box.x, box.y + box.h - width, box.w, width});
	screen_fill(
		screen, item->colour, (SDL_Rect){box.x, box.y + width, width, inner_h});
	screen_fill(screen, item->colour,
		(SDL_Rect){box.x + box.w - width, box.y + width, width, inner_h});
}

// A segment of a line from t = 0 to 1.
struct stretch {
	double from, to;
};

// screen_cut shortens a segment to the part between two limits of one coordinate.
static struct stretch screen_cut(
	struct stretch stretch, double at, double by, double low, double high)
{
	if (by == 0)
		return at < low || at > high ? (struct stretch){1, 0} : stretch;
	double enter = (by > 0 ? low - at : high - at) / by;
	double leave = (by > 0 ? high - at : low - at) / by;
	return (struct stretch){fmax(stretch.from, enter), fmin(stretch.to, leave)};
}

// slanted draws a line that is neither horizontal nor vertical as thin lines side by
// side, the outer ones faint to smooth the steps.
static void slanted(struct tb_screen *screen, const struct tb_item *item)
{
	double scale = screen->scale;
	const struct tb_box whole = {item->box.x * scale, item->box.y * scale,
		item->box.w * scale, item->box.h * scale};
	// Draw only the part of a line that is on the window: SDL stores every pixel
	// of a screen_line, and one in a zoomed tree is a thousand windows long.
	int w = 0;
	int h = 0;
	struct stretch stretch = {0, 1};
	SDL_GetRendererOutputSize(screen->renderer, &w, &h);
	stretch = screen_cut(stretch, whole.x, whole.w, -MARGIN, w + MARGIN);
	stretch = screen_cut(stretch, whole.y, whole.h, -MARGIN, h + MARGIN);
	double length = fmax(stretch.to - stretch.from, 0);
	const struct tb_box line = (struct tb_box){whole.x + whole.w * stretch.from,
		whole.y + whole.h * stretch.from, whole.w * length, whole.h * length};
	double dx = line.w;
	double dy = line.h;
	if (dx == 0 && dy == 0)
		return;
	bool steep = fabs(dy) > fabs(dx);
	double width = item->size * scale * hypot(dx, dy) / fmax(fabs(dx), fabs(dy));
	int n_full = (int)floor(width);
	double rim = (width - n_full) / 2 + RIM;
	for (int i = -1; i <= n_full; i++) {
		bool faint = i < 0 || i == n_full;
		double aside = i - (n_full - 1) / 2.0;
		double x = line.x + (steep ? aside : 0);
		double y = line.y + (steep ? 0 : aside);
		struct tb_colour colour = item->colour;
		colour.a = (uint8_t)(colour.a * (faint ? fmin(rim, 1) : 1));
		if (faint && colour.a < LEAST_RIM)
			continue;
		SDL_SetRenderDrawBlendMode(screen->renderer,
			colour.a == 255 ? SDL_BLENDMODE_NONE : SDL_BLENDMODE_BLEND);
		SDL_SetRenderDrawColor(
			screen->renderer, colour.r, colour.g, colour.b, colour.a);
		SDL_RenderDrawLineF(screen->renderer, (float)x, (float)y, (float)(x + dx),
			(float)(y + dy));
	}
}

static void screen_line(void *context, const struct tb_item *item)
{
	struct tb_screen *screen = context;
	double half = item->size / 2;
	struct tb_box box = item->box;
	if (box.w != 0 && box.h != 0) {
		slanted(screen, item);
		return;
	}
	// The line may run backwards.
	box = (struct tb_box){fmin(box.x, box.x + box.w), fmin(box.y, box.y + box.h),
		fabs(box.w), fabs(box.h)};
	int width = screen_stroke(screen, item->size);
	SDL_Rect thin = screen_pixels(screen, &box);
	if (box.w == 0) {
		thin.x = (int)lround((box.x - half) * screen->scale);
		thin.w = width;
	} else {
		thin.y = (int)lround((box.y - half) * screen->scale);
		thin.h = width;
	}
	screen_fill(screen, item->colour, thin);
}

static void screen_text(void *context, const struct tb_item *item, const char *string)
{
	struct tb_screen *screen = context;
	if (string[0])
		tb_screen_text_draw(&screen->text, item, string, screen->scale);
}

static void screen_clip(void *context, const struct tb_box *box)
{
	struct tb_screen *screen = context;
	if (!box) {
		SDL_RenderSetClipRect(screen->renderer, NULL);
		return;
	}
	SDL_Rect area = screen_pixels(screen, box);
	SDL_RenderSetClipRect(screen->renderer, &area);
}

static void screen_paint(struct tb_screen *screen, const struct tb_picture *picture)
{
	const struct tb_backend backend = {
		screen, screen_rect, screen_frame, screen_line, screen_text, screen_clip};
	struct tb_colour page = picture->page;
	SDL_SetRenderDrawColor(screen->renderer, page.r, page.g, page.b, 255);
	SDL_RenderClear(screen->renderer);
	tb_picture_draw(picture, &backend);
}

void tb_screen_draw(struct tb_screen *screen, const struct tb_picture *picture)
{
	screen_paint(screen, picture);
	SDL_RenderPresent(screen->renderer);
}

int tb_screen_png(
	struct tb_screen *screen, const struct tb_picture *picture, FILE *stream)
{
	int w = 0;
	int h = 0;
	if (SDL_GetRendererOutputSize(screen->renderer, &w, &h) != 0)
		return TB_EIO;
	uint32_t *read = calloc((size_t)w * (size_t)h + 1, sizeof *read);
	if (!read)
		return TB_ENOMEM;
	// Pixels can be read back only before they are presented.
	screen_paint(screen, picture);
	int status = TB_EIO;
	if (SDL_RenderReadPixels(screen->renderer, NULL, SDL_PIXELFORMAT_RGB888, read,
		    w * (int)sizeof *read) == 0)
		status = tb_pixels_png(read, w, h, stream);
	SDL_RenderPresent(screen->renderer);
	free(read);
	return status;
}

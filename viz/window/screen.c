#include "screen.h"

#include "hash.h"
#include "paper.h"
#include "picture.h"

#include <cairo.h>
#include <fontconfig/fontconfig.h>
#include <math.h>
#include <SDL.h>
#include <SDL_ttf.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// The pixels of one line of text: white, with the ink in the alpha channel.
struct builtin_text {
	uint32_t *pixels; // 0xAARRGGBB, rows of w
	int w, h, ascent; // ascent: from the upper edge to the baseline
};

// Text for the screen: fonts found by fontconfig, lines of text kept as textures.

#define TB_MAX_OPEN_FONTS 48
#define TB_TEXT_SLOTS	  8192 // a power of two

struct open_font {
	TTF_Font *font;
	enum tb_font role;
	int size;
};

struct text_slot {
	char *text; // NULL: free
	SDL_Texture *texture;
	enum tb_font role;
	int size, w, h, ascent;
};

struct screen_text {
	SDL_Renderer *renderer;
	char *files[TB_N_FONTS]; // NULL: drawn in cairo's strokes
	struct open_font fonts[TB_MAX_OPEN_FONTS];
	size_t n_fonts;
	struct text_slot *slots;
	size_t n_slots;
};

struct tb_screen {
	SDL_Window *window;
	SDL_Renderer *renderer;
	struct screen_text text;
	double asked_scale; // 0: by the display
	double zoom;	    // of text and controls, by the user
	double scale;	    // output pixels per abstract pixel
	double per_point_x; // output pixels per window point
	double per_point_y;
	int usual_w, usual_h; // points, of the window while it is not maximised
};

static void screen_measure(struct tb_screen *screen);
static void screen_note_size(struct tb_screen *screen);

// builtin_text_init draws a line of text at `size` pixels per em with cairo's built-in
// stroke font (the family "@cairo:" of its manual), stretched to the width that
// tb_text_width returns. TB_ENOMEM. builtin_text_fini frees the pixels.
static int builtin_text_init(
	struct builtin_text *line, enum tb_font font, int size, const char *text)
{
	struct builtin_text made = {
		.w = (int)fmax(ceil(tb_text_width(font, size, text)), 1) + 1,
		.h = (int)ceil(1.3 * size),
		.ascent = (int)ceil(0.95 * size)};
	size_t n = (size_t)made.w * (size_t)made.h;
	made.pixels = calloc(n, sizeof *made.pixels);
	if (!made.pixels)
		return TB_ENOMEM;
	cairo_surface_t *surface =
		cairo_image_surface_create_for_data((unsigned char *)made.pixels,
			CAIRO_FORMAT_ARGB32, made.w, made.h, made.w * 4);
	cairo_t *cairo = cairo_create(surface);
	cairo_text_extents_t extents;
	double wanted = tb_text_width(font, size, text);
	cairo_select_font_face(cairo, "@cairo:", CAIRO_FONT_SLANT_NORMAL,
		font == TB_FONT_BOLD ? CAIRO_FONT_WEIGHT_BOLD : CAIRO_FONT_WEIGHT_NORMAL);
	cairo_set_font_size(cairo, size);
	cairo_text_extents(cairo, text, &extents);
	if (extents.x_advance > 0)
		cairo_scale(cairo, wanted / extents.x_advance, 1);
	cairo_set_source_rgb(cairo, 1, 1, 1);
	cairo_move_to(cairo, 0, made.ascent);
	cairo_show_text(cairo, text);
	cairo_destroy(cairo);
	cairo_surface_finish(surface);
	bool drawn = cairo_surface_status(surface) == CAIRO_STATUS_SUCCESS ||
		     cairo_surface_status(surface) == CAIRO_STATUS_SURFACE_FINISHED;
	cairo_surface_destroy(surface);
	if (!drawn) {
		free(made.pixels);
		return TB_ENOMEM;
	}
	// Cairo multiplies colours by their alpha; a texture does that when it is drawn.
	for (size_t i = 0; i < n; i++)
		made.pixels[i] |= 0xffffff;
	*line = made;
	return TB_OK;
}

static void builtin_text_fini(struct builtin_text *line)
{
	free(line->pixels);
	*line = (struct builtin_text){.pixels = NULL};
}

static char *font_file(const char *family, bool bold)
{
	char *file = NULL;
	FcResult result;
	FcChar8 *found;
	FcPattern *wanted = FcPatternBuild(NULL, FC_FAMILY, FcTypeString, family,
		FC_WEIGHT, FcTypeInteger, bold ? FC_WEIGHT_BOLD : FC_WEIGHT_REGULAR,
		FC_SCALABLE, FcTypeBool, FcTrue, (char *)NULL);
	if (!wanted)
		return NULL;
	FcConfigSubstitute(NULL, wanted, FcMatchPattern);
	FcDefaultSubstitute(wanted);
	FcPattern *match = FcFontMatch(NULL, wanted, &result);
	if (match && FcPatternGetString(match, FC_FILE, 0, &found) == FcResultMatch)
		file = strdup((const char *)found);
	if (match)
		FcPatternDestroy(match);
	FcPatternDestroy(wanted);
	return file;
}

// screen_text_init finds the font files; without them text is drawn in built-in
// strokes. TB_ENOMEM.
static int screen_text_init(
	struct screen_text *text, SDL_Renderer *renderer, struct tb_error *error)
{
	static const struct {
		const char *family;
		bool bold;
	} faces[TB_N_FONTS] = {[TB_FONT_TEXT] = {"DejaVu Sans", false},
		[TB_FONT_BOLD] = {"DejaVu Sans", true},
		[TB_FONT_MONO] = {"DejaVu Sans Mono", false},
		[TB_FONT_CELL] = {"DejaVu Sans Mono", false}};
	*text = (struct screen_text){.renderer = renderer};
	text->slots = calloc(TB_TEXT_SLOTS, sizeof *text->slots);
	if (!text->slots)
		return tb_fail_memory(error, "the window's text");
	for (size_t i = 0; i < TB_N_FONTS; i++)
		text->files[i] = font_file(faces[i].family, faces[i].bold);
	for (size_t i = 0; i < TB_N_FONTS; i++) {
		TTF_Font *font = text->files[i] ? TTF_OpenFont(text->files[i], 12) : NULL;
		if (font) {
			TTF_CloseFont(font);
			continue;
		}
		free(text->files[i]);
		text->files[i] = NULL;
	}
	return TB_OK;
}

// screen_text_forget drops all textures, for when the renderer has lost them.
static void screen_text_forget(struct screen_text *text)
{
	for (size_t i = 0; i < TB_TEXT_SLOTS; i++) {
		struct text_slot *slot = &text->slots[i];
		if (!slot->text)
			continue;
		free(slot->text);
		if (slot->texture)
			SDL_DestroyTexture(slot->texture);
		*slot = (struct text_slot){.text = NULL};
	}
	text->n_slots = 0;
}

static TTF_Font *open_font(struct screen_text *text, enum tb_font role, int size)
{
	for (size_t i = 0; i < text->n_fonts; i++)
		if (text->fonts[i].role == role && text->fonts[i].size == size)
			return text->fonts[i].font;
	if (text->n_fonts == TB_MAX_OPEN_FONTS) {
		// A zoom opens many sizes: close the oldest.
		TTF_CloseFont(text->fonts[0].font);
		text->n_fonts--;
		memmove(text->fonts, text->fonts + 1,
			text->n_fonts * sizeof *text->fonts);
	}
	TTF_Font *font = TTF_OpenFont(text->files[role], size);
	if (!font)
		return NULL;
	TTF_SetFontHinting(font, TTF_HINTING_LIGHT_SUBPIXEL);
	text->fonts[text->n_fonts++] = (struct open_font){font, role, size};
	return font;
}

// slot_hash hashes all that decides how a line of text looks.
static size_t slot_hash(const char *string, enum tb_font role, int size)
{
	uint64_t hash = tb_hash_word(TB_HASH_BEGIN, (uint64_t)role);
	hash = tb_hash_text(tb_hash_word(hash, (uint64_t)size), string);
	return (size_t)(hash ^ hash >> 32);
}

static const struct text_slot *font_find(
	struct screen_text *text, const char *string, enum tb_font role, int size)
{
	size_t at = slot_hash(string, role, size);
	for (;; at++) {
		struct text_slot *slot = &text->slots[at & (TB_TEXT_SLOTS - 1)];
		if (!slot->text) {
			if (text->n_slots >= TB_TEXT_SLOTS / 2)
				break;
			slot->text = strdup(string);
			if (!slot->text)
				return NULL;
			slot->role = role;
			slot->size = size;
			text->n_slots++;
			// Fill a free slot. A line that cannot be rendered stays there
			// without a texture, so that not every frame tries it again.
			const SDL_Color white = {255, 255, 255, 255};
			struct builtin_text line = {.pixels = NULL};
			SDL_Surface *surface = NULL;
			TTF_Font *font = NULL;
			if (text->files[slot->role])
				font = open_font(text, slot->role, slot->size);
			else {
				surface = NULL;
				if (builtin_text_init(&line, slot->role, slot->size,
					    string) == TB_OK) {
					surface = SDL_CreateRGBSurfaceWithFormatFrom(
						line.pixels, line.w, line.h, 32,
						line.w * 4, SDL_PIXELFORMAT_ARGB8888);
				}
			}
			if (font)
				surface = TTF_RenderUTF8_Blended(font, string, white);
			if (surface) {
				slot->texture = SDL_CreateTextureFromSurface(
					text->renderer, surface);
				slot->w = surface->w;
				slot->h = surface->h;
				slot->ascent = font ? TTF_FontAscent(font) : line.ascent;
				SDL_FreeSurface(surface);
			}
			builtin_text_fini(&line);
			return slot;
		}
		if (slot->role == role && slot->size == size &&
			strcmp(slot->text, string) == 0)
			return slot;
	}
	// Full: drop all lines. Those still drawn come back within a frame.
	screen_text_forget(text);
	return font_find(text, string, role, size);
}

// Draws pictures on the window with SDL's renderer.

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

static void screen_line(void *context, const struct tb_item *item)
{
	struct tb_screen *screen = context;
	double half = item->size / 2;
	struct tb_box box = item->box;
	if (box.w != 0 && box.h != 0) {
		// Draw a line that is neither horizontal nor vertical as thin lines side
		// by side, the outer ones faint to smooth the steps.
		double scale = screen->scale;
		const struct tb_box whole = {item->box.x * scale, item->box.y * scale,
			item->box.w * scale, item->box.h * scale};
		// Draw only the part of a line that is on the window: SDL stores every
		// pixel of a screen_line, and one in a zoomed tree is a thousand windows
		// long.
		int w = 0;
		int h = 0;
		struct stretch stretch = {0, 1};
		SDL_GetRendererOutputSize(screen->renderer, &w, &h);
		stretch = screen_cut(stretch, whole.x, whole.w, -MARGIN, w + MARGIN);
		stretch = screen_cut(stretch, whole.y, whole.h, -MARGIN, h + MARGIN);
		double length = fmax(stretch.to - stretch.from, 0);
		const struct tb_box line =
			(struct tb_box){whole.x + whole.w * stretch.from,
				whole.y + whole.h * stretch.from, whole.w * length,
				whole.h * length};
		double dx = line.w;
		double dy = line.h;
		if (dx != 0 || dy != 0) {
			bool steep = fabs(dy) > fabs(dx);
			double width = item->size * scale * hypot(dx, dy) /
				       fmax(fabs(dx), fabs(dy));
			int n_full = (int)floor(width);
			double rim = (width - n_full) / 2 + RIM;
			for (int i = -1; i <= n_full; i++) {
				bool faint = i < 0 || i == n_full;
				double aside = i - (n_full - 1) / 2.0;
				double x = line.x + (steep ? aside : 0);
				double y = line.y + (steep ? 0 : aside);
				struct tb_colour colour = item->colour;
				colour.a =
					(uint8_t)(colour.a * (faint ? fmin(rim, 1) : 1));
				if (faint && colour.a < LEAST_RIM)
					continue;
				SDL_SetRenderDrawBlendMode(screen->renderer,
					colour.a == 255 ? SDL_BLENDMODE_NONE
							: SDL_BLENDMODE_BLEND);
				SDL_SetRenderDrawColor(screen->renderer, colour.r,
					colour.g, colour.b, colour.a);
				SDL_RenderDrawLineF(screen->renderer, (float)x, (float)y,
					(float)(x + dx), (float)(y + dy));
			}
		}
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
	if (string[0]) {
		// Draw one line, with the item's box and size multiplied by `scale`.
		struct screen_text *text = &screen->text;
		double scale = screen->scale;
		int size = (int)fmax(round(item->size * scale), 4);
		const struct text_slot *slot = font_find(text, string, item->font, size);
		if (slot && slot->texture) {
			double spare = item->box.w * scale - slot->w;
			double baseline = (item->box.y + item->box.h / 2 +
						  TB_BASELINE * item->size) *
					  scale;
			SDL_Rect target = {(int)lround(item->box.x * scale +
						       spare * (double)item->align / 2),
				(int)lround(baseline) - slot->ascent, slot->w, slot->h};
			SDL_SetTextureColorMod(slot->texture, item->colour.r,
				item->colour.g, item->colour.b);
			SDL_SetTextureAlphaMod(slot->texture, item->colour.a);
			SDL_RenderCopy(text->renderer, slot->texture, NULL, &target);
		}
	}
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

// Translates SDL's events into inputs, and inputs into SDL's events.

static struct tb_input pointer_input(
	const struct tb_screen *screen, enum tb_input_kind kind, int x, int y)
{
	return (struct tb_input){.kind = kind,
		.x = x * screen->per_point_x / screen->scale,
		.y = y * screen->per_point_y / screen->scale};
}

// key_input names a key that makes no text. Characters arrive as text events, which
// follow the keyboard's layout.
static struct tb_input key_input(const SDL_KeyboardEvent *event)
{
	struct tb_input input = {.kind = TB_INPUT_NONE};
	SDL_Keycode code = event->keysym.sym;
	bool ctrl = (event->keysym.mod & KMOD_CTRL) != 0;
	bool alt = (event->keysym.mod & (KMOD_ALT | KMOD_GUI)) != 0;
	bool character = code >= ' ' && code < 0x7f;
	if (alt || (character && !ctrl))
		return input;
	input.kind = TB_INPUT_KEY;
	snprintf(input.key, sizeof input.key, "%s%s", ctrl ? "Ctrl+" : "",
		SDL_GetKeyName(code));
	return input;
}

static struct tb_input button_input(
	const struct tb_screen *screen, const SDL_MouseButtonEvent *event)
{
	enum tb_input_kind kind = event->type == SDL_MOUSEBUTTONDOWN ? TB_INPUT_PRESS
				  : SDL_GetModState() & KMOD_SHIFT   ? TB_INPUT_ADD
				  : event->clicks == 2		     ? TB_INPUT_DOUBLE
								     : TB_INPUT_RELEASE;
	if (event->button != SDL_BUTTON_LEFT)
		return (struct tb_input){.kind = TB_INPUT_NONE};
	return pointer_input(screen, kind, event->x, event->y);
}

static struct tb_input wheel_input(
	const struct tb_screen *screen, const SDL_MouseWheelEvent *event)
{
	int x;
	int y;
	SDL_GetMouseState(&x, &y);
	struct tb_input input = pointer_input(screen, TB_INPUT_WHEEL,
		event->mouseX ? event->mouseX : x, event->mouseY ? event->mouseY : y);
	bool flipped = event->direction == SDL_MOUSEWHEEL_FLIPPED;
	input.steps = (double)(flipped ? -event->preciseY : event->preciseY);
	return input;
}

static struct tb_input window_input(
	struct tb_screen *screen, const SDL_WindowEvent *event)
{
	struct tb_input input = {.kind = TB_INPUT_NONE};
	if (event->event == SDL_WINDOWEVENT_SIZE_CHANGED ||
		event->event == SDL_WINDOWEVENT_DISPLAY_CHANGED) {
		screen_measure(screen);
		screen_note_size(screen);
		input.kind = TB_INPUT_RESIZE;
	} else if (event->event == SDL_WINDOWEVENT_EXPOSED) {
		input.kind = TB_INPUT_EXPOSE;
	} else if (event->event == SDL_WINDOWEVENT_LEAVE) {
		input.kind = TB_INPUT_LEAVE;
	}
	return input;
}

static struct tb_input translate(struct tb_screen *screen, const SDL_Event *event)
{
	struct tb_input input = {.kind = TB_INPUT_NONE};
	switch (event->type) {
	case SDL_QUIT:
		input.kind = TB_INPUT_QUIT;
		break;
	case SDL_KEYDOWN:
		return key_input(&event->key);
	case SDL_TEXTINPUT:
		input.kind = TB_INPUT_KEY;
		snprintf(input.key, sizeof input.key, "%s",
			strcmp(event->text.text, " ") == 0 ? "Space" : event->text.text);
		break;
	case SDL_MOUSEMOTION:
		return pointer_input(
			screen, TB_INPUT_MOVE, event->motion.x, event->motion.y);
	case SDL_MOUSEBUTTONDOWN:
	case SDL_MOUSEBUTTONUP:
		return button_input(screen, &event->button);
	case SDL_MOUSEWHEEL:
		return wheel_input(screen, &event->wheel);
	case SDL_WINDOWEVENT:
		return window_input(screen, &event->window);
	case SDL_DROPFILE:
		input.kind = TB_INPUT_DROP;
		snprintf(input.path, sizeof input.path, "%s", event->drop.file);
		SDL_free(event->drop.file);
		break;
	case SDL_RENDER_TARGETS_RESET:
	case SDL_RENDER_DEVICE_RESET:
		screen_text_forget(&screen->text);
		input.kind = TB_INPUT_EXPOSE;
		break;
	default:
		break;
	}
	return input;
}

struct tb_input tb_screen_wait(struct tb_screen *screen, int timeout_ms)
{
	SDL_Event event;
	while (SDL_WaitEventTimeout(&event, timeout_ms)) {
		struct tb_input input = translate(screen, &event);
		if (input.kind != TB_INPUT_NONE)
			return input;
		timeout_ms = 0; // do not wait again for what follows
	}
	return (struct tb_input){.kind = TB_INPUT_NONE};
}

static void post_key(const char *key)
{
	SDL_Event event = {.type = SDL_TEXTINPUT};
	bool space = SDL_strcasecmp(key, "Space") == 0;
	if (strlen(key) == 1 || space) {
		snprintf(
			event.text.text, sizeof event.text.text, "%s", space ? " " : key);
		SDL_PushEvent(&event);
		return;
	}
	bool ctrl = strncmp(key, "Ctrl+", 5) == 0;
	event.type = SDL_KEYDOWN;
	event.key.state = SDL_PRESSED;
	event.key.keysym.sym = SDL_GetKeyFromName(ctrl ? key + 5 : key);
	event.key.keysym.mod = ctrl ? KMOD_LCTRL : KMOD_NONE;
	SDL_PushEvent(&event);
}

static SDL_Event button_event(enum tb_input_kind kind, int x, int y)
{
	SDL_Event event = {
		.type = kind == TB_INPUT_PRESS ? SDL_MOUSEBUTTONDOWN : SDL_MOUSEBUTTONUP};
	event.button.button = SDL_BUTTON_LEFT;
	event.button.clicks = kind == TB_INPUT_DOUBLE ? 2 : 1;
	event.button.x = x;
	event.button.y = y;
	return event;
}

void tb_screen_post(struct tb_screen *screen, const struct tb_input *input)
{
	SDL_Event event = {.type = SDL_USEREVENT};
	int x = (int)lround(input->x * screen->scale / screen->per_point_x);
	int y = (int)lround(input->y * screen->scale / screen->per_point_y);
	switch (input->kind) {
	case TB_INPUT_KEY:
		post_key(input->key);
		return;
	case TB_INPUT_MOVE:
		event.type = SDL_MOUSEMOTION;
		event.motion.x = x;
		event.motion.y = y;
		break;
	case TB_INPUT_PRESS:
	case TB_INPUT_RELEASE:
	case TB_INPUT_DOUBLE:
		event = button_event(input->kind, x, y);
		break;
	case TB_INPUT_WHEEL:
		event.type = SDL_MOUSEWHEEL;
		event.wheel.mouseX = x;
		event.wheel.mouseY = y;
		event.wheel.preciseY = (float)input->steps;
		break;
	case TB_INPUT_RESIZE:
		SDL_SetWindowSize(screen->window, (int)input->x, (int)input->y);
		return;
	case TB_INPUT_QUIT:
		event.type = SDL_QUIT;
		break;
	case TB_INPUT_ADD: // events do not report which keys are held
	case TB_INPUT_DROP:
	case TB_INPUT_LEAVE:
	case TB_INPUT_EXPOSE:
	case TB_INPUT_NONE:
		return;
	}
	SDL_PushEvent(&event);
}

// A window's size is in points, what is drawn in pixels, and displays disagree about
// both: use the density where the display reports one.
static double display_scale(SDL_Window *window, int w, int h)
{
	float dpi = 0;
	int display = SDL_GetWindowDisplayIndex(window);
	double scale = fmin(w / 1920.0, h / 1080.0);
	if (display >= 0 && SDL_GetDisplayDPI(display, NULL, &dpi, NULL) == 0 && dpi > 0)
		scale = fmax(scale, (double)dpi / 96);
	return fmin(fmax(floor(scale * 4) / 4, 1), 4);
}

// screen_measure reads the window's size and density.
static void screen_measure(struct tb_screen *screen)
{
	int w = 0;
	int h = 0;
	int point_w = 0;
	int point_h = 0;
	SDL_GetWindowSize(screen->window, &point_w, &point_h);
	if (SDL_GetRendererOutputSize(screen->renderer, &w, &h) != 0) {
		w = point_w;
		h = point_h;
	}
	screen->per_point_x = point_w > 0 ? (double)w / point_w : 1;
	screen->per_point_y = point_h > 0 ? (double)h / point_h : 1;
	screen->scale = screen->asked_scale > 0 ? screen->asked_scale
						: display_scale(screen->window, w, h);
	screen->scale = fmin(fmax(screen->scale * screen->zoom, 0.5), 6);
}

void tb_screen_go_unseen(void)
{
	static const char *const shown[] = {
		"DISPLAY", "WAYLAND_DISPLAY", "SDL_VIDEODRIVER"};
	for (size_t i = 0; i < sizeof shown / sizeof *shown; i++)
		if (SDL_getenv(shown[i]) && SDL_getenv(shown[i])[0])
			return;
	SDL_setenv("SDL_VIDEODRIVER", "dummy", 1);
}

// Look before SDL does: Wayland's library would complain on stderr by itself.
static bool has_no_session(void)
{
	static const char *const signs[] = {
		"DISPLAY", "WAYLAND_DISPLAY", "XDG_RUNTIME_DIR", "SDL_VIDEODRIVER"};
	for (size_t i = 0; i < sizeof signs / sizeof *signs; i++)
		if (SDL_getenv(signs[i]) && SDL_getenv(signs[i])[0])
			return false;
	return true;
}

static int no_display(struct tb_error *error, const char *cause)
{
	return tb_fail(error, TB_EIO,
		"no display to open a window on (%s): run it in a graphical session, or "
		"write a picture with 'tailback matrix run.db -o matrix.png' or "
		"--screenshot, which needs no display",
		cause);
}

// Mesa's GLX crashes where the X server dies while it is being asked (measured: 6 of 25
// servers killed while a window was opened). Nothing is being written then.
static void on_driver_crash(int signal_number)
{
	static const char said[] = "tailback: the display went away, or its driver "
				   "failed, while the window was opened\n";
	(void)signal_number;
	// Whether that could be written matters no more.
	(void)!write(STDERR_FILENO, said, sizeof said - 1);
	_exit(EXIT_FAILURE);
}

// make_window opens the window, and what draws in it.
static void make_window(struct tb_screen *screen, int w, int h)
{
	const struct sigaction guard = {.sa_handler = on_driver_crash};
	struct sigaction before;
	sigaction(SIGSEGV, &guard, &before);
	screen->window = SDL_CreateWindow("Tailback", SDL_WINDOWPOS_UNDEFINED,
		SDL_WINDOWPOS_UNDEFINED, w, h,
		SDL_WINDOW_RESIZABLE | SDL_WINDOW_ALLOW_HIGHDPI);
	if (screen->window)
		screen->renderer = SDL_CreateRenderer(screen->window, -1, 0);
	if (screen->window && !screen->renderer)
		screen->renderer =
			SDL_CreateRenderer(screen->window, -1, SDL_RENDERER_SOFTWARE);
	sigaction(SIGSEGV, &before, NULL);
}

static int open_screen_window(
	struct tb_screen *screen, int w, int h, struct tb_error *error)
{
	// SDL would catch Ctrl-C and make it an event that a busy window sees late.
	SDL_SetHint(SDL_HINT_NO_SIGNAL_HANDLERS, "1");
	SDL_SetHint(SDL_HINT_VIDEO_ALLOW_SCREENSAVER, "1");
	// By default SDL draws a line as thousands of points, which it keeps in a list.
	SDL_SetHint(SDL_HINT_RENDER_LINE_METHOD, "2");
	SDL_SetHint(SDL_HINT_VIDEO_X11_NET_WM_BYPASS_COMPOSITOR, "0");
	if (has_no_session())
		return no_display(error, "DISPLAY and WAYLAND_DISPLAY are not set");
	if (SDL_Init(SDL_INIT_VIDEO) != 0)
		return no_display(error, SDL_GetError());
	// Without a display SDL falls back on a driver that shows nothing, and a user
	// would wait for a window for ever. Obey an explicit SDL_VIDEODRIVER.
	const char *driver = SDL_GetCurrentVideoDriver();
	bool shows = driver && strcmp(driver, "offscreen") != 0 &&
		     strcmp(driver, "dummy") != 0 && strcmp(driver, "evdev") != 0;
	if (!shows && !SDL_getenv("SDL_VIDEODRIVER"))
		return no_display(error, "neither X11 nor Wayland answers");
	if (TTF_Init() != 0)
		return tb_fail(error, TB_EIO, "fonts cannot be used: %s", TTF_GetError());
	make_window(screen, w, h);
	if (!screen->renderer)
		return tb_fail(
			error, TB_EIO, "no window can be opened: %s", SDL_GetError());
	SDL_SetWindowMinimumSize(screen->window, TB_SCREEN_LEAST_W, TB_SCREEN_LEAST_H);
	SDL_StartTextInput();
	return TB_OK;
}

int tb_screen_new(
	struct tb_screen **screen, int w, int h, double scale, struct tb_error *error)
{
	struct tb_screen *made = calloc(1, sizeof *made);
	if (!made)
		return tb_fail_memory(error, "a window");
	made->asked_scale = scale;
	made->zoom = 1;
	int status = open_screen_window(made, w, h, error);
	if (status == TB_OK)
		status = screen_text_init(&made->text, made->renderer, error);
	if (status != TB_OK) {
		tb_screen_free(made);
		return status;
	}
	screen_measure(made);
	screen_note_size(made);
	*screen = made;
	return TB_OK;
}

void tb_screen_free(struct tb_screen *screen)
{
	if (!screen)
		return;
	struct screen_text *text = &screen->text;
	if (text->slots)
		screen_text_forget(text);
	free(text->slots);
	for (size_t i = 0; i < text->n_fonts; i++)
		TTF_CloseFont(text->fonts[i].font);
	for (size_t i = 0; i < TB_N_FONTS; i++)
		free(text->files[i]);
	*text = (struct screen_text){.renderer = NULL};
	if (screen->renderer)
		SDL_DestroyRenderer(screen->renderer);
	if (screen->window)
		SDL_DestroyWindow(screen->window);
	if (TTF_WasInit())
		TTF_Quit();
	SDL_Quit();
	free(screen);
}

bool tb_screen_has_fonts(const struct tb_screen *screen)
{
	// False when one of the files was not found.
	for (size_t i = 0; i < TB_N_FONTS; i++)
		if (!screen->text.files[i])
			return false;
	return true;
}

bool tb_screen_is_maximised(const struct tb_screen *screen)
{
	return (SDL_GetWindowFlags(screen->window) & SDL_WINDOW_MAXIMIZED) != 0;
}

void tb_screen_maximise(struct tb_screen *screen)
{
	SDL_MaximizeWindow(screen->window);
}

// screen_note_size keeps the size of a window that is not maximised.
static void screen_note_size(struct tb_screen *screen)
{
	if (!tb_screen_is_maximised(screen))
		SDL_GetWindowSize(screen->window, &screen->usual_w, &screen->usual_h);
}

void tb_screen_points(const struct tb_screen *screen, int *w, int *h)
{
	*w = screen->usual_w;
	*h = screen->usual_h;
}

bool tb_screen_copy(struct tb_screen *screen, const char *text)
{
	(void)screen; // SDL's clipboard is the display's
	return SDL_SetClipboardText(text) == 0;
}

void tb_screen_scale(struct tb_screen *screen, double factor)
{
	screen->zoom = factor > 0 ? fmin(fmax(screen->zoom * factor, 0.4), 4) : 1;
	screen_measure(screen);
}

void tb_screen_set_title(struct tb_screen *screen, const char *title)
{
	SDL_SetWindowTitle(screen->window, title);
}

void tb_screen_size(const struct tb_screen *screen, double *width, double *height)
{
	int w = 0;
	int h = 0;
	SDL_GetWindowSize(screen->window, &w, &h);
	*width = w * screen->per_point_x / screen->scale;
	*height = h * screen->per_point_y / screen->scale;
}

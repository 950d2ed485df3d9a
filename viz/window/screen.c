#include "screen.h"

#include "draw_cairo.h"
#include "screen_text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define LEAST_W 800
#define LEAST_H 500
#define MARGIN	16   // pixels out of the window to which lines are drawn
#define RIM	0.25 // how strong the rims of a slanted line are at least

struct tb_screen {
	SDL_Window *window;
	SDL_Renderer *renderer;
	struct tb_screen_text text;
	double asked_scale; // 0: by the display
	double zoom;	    // of text and controls, by the user
	double scale;	    // output pixels an abstract pixel
	double per_point_x; // output pixels a window point
	double per_point_y;
};

// A window says in points how large it is and in pixels how finely it is drawn; displays
// say neither the same way, so density counts where it is told.
static double display_scale(SDL_Window *window, int w, int h)
{
	float dpi = 0;
	int display = SDL_GetWindowDisplayIndex(window);
	double scale = fmin(w / 1920.0, h / 1080.0);
	if (display >= 0 && SDL_GetDisplayDPI(display, NULL, &dpi, NULL) == 0 && dpi > 0)
		scale = fmax(scale, (double)dpi / 96);
	return fmin(fmax(floor(scale * 4) / 4, 1), 4);
}

static void measure(struct tb_screen *screen)
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

// Without a display SDL falls back on a driver that shows nothing, and a user would wait
// for a window for ever. Who names such a driver means it.
static bool is_blind(void)
{
	const char *driver = SDL_GetCurrentVideoDriver();
	bool shows = driver && strcmp(driver, "offscreen") != 0 &&
		     strcmp(driver, "dummy") != 0 && strcmp(driver, "evdev") != 0;
	return !shows && !SDL_getenv("SDL_VIDEODRIVER");
}

// Known before SDL is asked: Wayland's library would complain on stderr by itself.
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
		"write a picture with 'tailback matrix run.db -o matrix.png'",
		cause);
}

static int open_window(struct tb_screen *screen, int w, int h, struct tb_error *error)
{
	// SDL would catch Ctrl-C and make it an event that a busy window sees late.
	SDL_SetHint(SDL_HINT_NO_SIGNAL_HANDLERS, "1");
	SDL_SetHint(SDL_HINT_VIDEO_ALLOW_SCREENSAVER, "1");
	SDL_SetHint(SDL_HINT_VIDEO_X11_NET_WM_BYPASS_COMPOSITOR, "0");
	if (has_no_session())
		return no_display(error, "DISPLAY and WAYLAND_DISPLAY are not set");
	if (SDL_Init(SDL_INIT_VIDEO) != 0)
		return no_display(error, SDL_GetError());
	if (is_blind())
		return no_display(error, "neither X11 nor Wayland answers");
	if (TTF_Init() != 0)
		return tb_fail(error, TB_EIO, "fonts cannot be used: %s", TTF_GetError());
	screen->window = SDL_CreateWindow("Tailback", SDL_WINDOWPOS_UNDEFINED,
		SDL_WINDOWPOS_UNDEFINED, w, h,
		SDL_WINDOW_RESIZABLE | SDL_WINDOW_ALLOW_HIGHDPI);
	if (screen->window)
		screen->renderer = SDL_CreateRenderer(screen->window, -1, 0);
	if (screen->window && !screen->renderer)
		screen->renderer =
			SDL_CreateRenderer(screen->window, -1, SDL_RENDERER_SOFTWARE);
	if (!screen->renderer)
		return tb_fail(
			error, TB_EIO, "no window can be opened: %s", SDL_GetError());
	SDL_SetWindowMinimumSize(screen->window, LEAST_W, LEAST_H);
	SDL_StartTextInput();
	return TB_OK;
}

int tb_screen_new(
	struct tb_screen **screen, int w, int h, double scale, struct tb_error *error)
{
	struct tb_screen *made = calloc(1, sizeof *made);
	if (!made)
		return tb_fail(error, TB_ENOMEM, "no memory for a window");
	made->asked_scale = scale;
	made->zoom = 1;
	int status = open_window(made, w, h, error);
	if (status == TB_OK)
		status = tb_screen_text_init(&made->text, made->renderer, error);
	if (status != TB_OK) {
		tb_screen_free(made);
		return status;
	}
	measure(made);
	*screen = made;
	return TB_OK;
}

void tb_screen_free(struct tb_screen *screen)
{
	if (!screen)
		return;
	tb_screen_text_fini(&screen->text);
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
	return tb_screen_text_has_fonts(&screen->text);
}

void tb_screen_points(const struct tb_screen *screen, int *w, int *h)
{
	SDL_GetWindowSize(screen->window, w, h);
}

bool tb_screen_copy(struct tb_screen *screen, const char *text)
{
	(void)screen; // SDL's clipboard is the display's
	return SDL_SetClipboardText(text) == 0;
}

void tb_screen_scale(struct tb_screen *screen, double factor)
{
	screen->zoom = factor > 0 ? fmin(fmax(screen->zoom * factor, 0.4), 4) : 1;
	measure(screen);
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

// pixels rounds edges, not sizes, so that boxes which share an edge still do.
static SDL_Rect pixels(const struct tb_screen *screen, const struct tb_box *box)
{
	int left = (int)lround(box->x * screen->scale);
	int top = (int)lround(box->y * screen->scale);
	int right = (int)lround((box->x + box->w) * screen->scale);
	int bottom = (int)lround((box->y + box->h) * screen->scale);
	return (SDL_Rect){left, top, right - left, bottom - top};
}

static void fill(struct tb_screen *screen, struct tb_colour colour, SDL_Rect box)
{
	SDL_SetRenderDrawBlendMode(screen->renderer,
		colour.a == 255 ? SDL_BLENDMODE_NONE : SDL_BLENDMODE_BLEND);
	SDL_SetRenderDrawColor(screen->renderer, colour.r, colour.g, colour.b, colour.a);
	SDL_RenderFillRect(screen->renderer, &box);
}

static void rect(void *context, const struct tb_item *item)
{
	struct tb_screen *screen = context;
	SDL_Rect box = pixels(screen, &item->box);
	box.w = SDL_max(box.w, item->box.w > 0); // thinner than a pixel is a pixel
	box.h = SDL_max(box.h, item->box.h > 0);
	if (item->colour.a > 0)
		fill(screen, item->colour, box);
}

static int stroke(const struct tb_screen *screen, double width)
{
	return SDL_max((int)lround(width * screen->scale), 1);
}

static void frame(void *context, const struct tb_item *item)
{
	struct tb_screen *screen = context;
	SDL_Rect box = pixels(screen, &item->box);
	int width = stroke(screen, item->size);
	int inner_h = SDL_max(box.h - 2 * width, 0);
	fill(screen, item->colour, (SDL_Rect){box.x, box.y, box.w, width});
	fill(screen, item->colour,
		(SDL_Rect){box.x, box.y + box.h - width, box.w, width});
	fill(screen, item->colour, (SDL_Rect){box.x, box.y + width, width, inner_h});
	fill(screen, item->colour,
		(SDL_Rect){box.x + box.w - width, box.y + width, width, inner_h});
}

// A stretch of a line from t = 0 to 1.
struct stretch {
	double from, to;
};

// cut keeps of a line the part between two limits of one coordinate.
static struct stretch cut(
	struct stretch stretch, double at, double by, double low, double high)
{
	if (by == 0)
		return at < low || at > high ? (struct stretch){1, 0} : stretch;
	double enter = (by > 0 ? low - at : high - at) / by;
	double leave = (by > 0 ? high - at : low - at) / by;
	return (struct stretch){fmax(stretch.from, enter), fmin(stretch.to, leave)};
}

// within is the part of a line that is on the window: SDL would hold every pixel of one
// that is a thousand windows long.
static struct tb_box within(const struct tb_screen *screen, struct tb_box line)
{
	int w = 0;
	int h = 0;
	struct stretch stretch = {0, 1};
	SDL_GetRendererOutputSize(screen->renderer, &w, &h);
	stretch = cut(stretch, line.x, line.w, -MARGIN, w + MARGIN);
	stretch = cut(stretch, line.y, line.h, -MARGIN, h + MARGIN);
	double length = fmax(stretch.to - stretch.from, 0);
	return (struct tb_box){line.x + line.w * stretch.from,
		line.y + line.h * stretch.from, line.w * length, line.h * length};
}

// slanted draws a line that is neither level nor upright: side by side as many thin ones
// as it is wide, those at its rims faint, which takes the worst of the steps away.
static void slanted(struct tb_screen *screen, const struct tb_item *item)
{
	double scale = screen->scale;
	const struct tb_box whole = {item->box.x * scale, item->box.y * scale,
		item->box.w * scale, item->box.h * scale};
	const struct tb_box line = within(screen, whole);
	double dx = line.w;
	double dy = line.h;
	if (dx == 0 && dy == 0)
		return;
	bool steep = fabs(dy) > fabs(dx);
	double width = item->size * scale * hypot(dx, dy) / fmax(fabs(dx), fabs(dy));
	int n_full = (int)floor(width);
	double rim = (width - n_full) / 2 + RIM;
	SDL_SetRenderDrawBlendMode(screen->renderer, SDL_BLENDMODE_BLEND);
	for (int i = -1; i <= n_full; i++) {
		bool faint = i < 0 || i == n_full;
		double aside = i - (n_full - 1) / 2.0;
		double x = line.x + (steep ? aside : 0);
		double y = line.y + (steep ? 0 : aside);
		struct tb_colour colour = item->colour;
		SDL_SetRenderDrawColor(screen->renderer, colour.r, colour.g, colour.b,
			(Uint8)(colour.a * (faint ? fmin(rim, 1) : 1)));
		SDL_RenderDrawLineF(screen->renderer, (float)x, (float)y, (float)(x + dx),
			(float)(y + dy));
	}
}

static void line(void *context, const struct tb_item *item)
{
	struct tb_screen *screen = context;
	double half = item->size / 2;
	struct tb_box box = item->box;
	if (box.w != 0 && box.h != 0) {
		slanted(screen, item);
		return;
	}
	// Whichever end comes first.
	box = (struct tb_box){fmin(box.x, box.x + box.w), fmin(box.y, box.y + box.h),
		fabs(box.w), fabs(box.h)};
	int width = stroke(screen, item->size);
	SDL_Rect thin = pixels(screen, &box);
	if (box.w == 0) {
		thin.x = (int)lround((box.x - half) * screen->scale);
		thin.w = width;
	} else {
		thin.y = (int)lround((box.y - half) * screen->scale);
		thin.h = width;
	}
	fill(screen, item->colour, thin);
}

static void text(void *context, const struct tb_item *item, const char *string)
{
	struct tb_screen *screen = context;
	if (string[0])
		tb_screen_text_draw(&screen->text, item, string, screen->scale);
}

static void clip(void *context, const struct tb_box *box)
{
	struct tb_screen *screen = context;
	if (!box) {
		SDL_RenderSetClipRect(screen->renderer, NULL);
		return;
	}
	SDL_Rect area = pixels(screen, box);
	SDL_RenderSetClipRect(screen->renderer, &area);
}

static void paint(struct tb_screen *screen, const struct tb_picture *picture)
{
	const struct tb_backend backend = {screen, rect, frame, line, text, clip};
	struct tb_colour page = picture->page;
	SDL_SetRenderDrawColor(screen->renderer, page.r, page.g, page.b, 255);
	SDL_RenderClear(screen->renderer);
	tb_picture_draw(picture, &backend);
}

void tb_screen_draw(struct tb_screen *screen, const struct tb_picture *picture)
{
	paint(screen, picture);
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
	// What was presented cannot be read back; what is about to be can.
	paint(screen, picture);
	int status = TB_EIO;
	if (SDL_RenderReadPixels(screen->renderer, NULL, SDL_PIXELFORMAT_RGB888, read,
		    w * (int)sizeof *read) == 0)
		status = tb_pixels_png(read, w, h, stream);
	SDL_RenderPresent(screen->renderer);
	free(read);
	return status;
}

static struct tb_input pointer_input(
	const struct tb_screen *screen, enum tb_input_kind kind, int x, int y)
{
	return (struct tb_input){.kind = kind,
		.x = x * screen->per_point_x / screen->scale,
		.y = y * screen->per_point_y / screen->scale};
}

// key_input names a key that makes no text. Characters come as text, which knows the
// keyboard's layout.
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

static struct tb_input window_input(
	struct tb_screen *screen, const SDL_WindowEvent *event)
{
	struct tb_input input = {.kind = TB_INPUT_NONE};
	if (event->event == SDL_WINDOWEVENT_SIZE_CHANGED ||
		event->event == SDL_WINDOWEVENT_DISPLAY_CHANGED) {
		measure(screen);
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
		if (event->button.button == SDL_BUTTON_LEFT)
			return pointer_input(screen,
				event->type == SDL_MOUSEBUTTONDOWN ? TB_INPUT_PRESS
				: event->button.clicks == 2	   ? TB_INPUT_DOUBLE
								   : TB_INPUT_RELEASE,
				event->button.x, event->button.y);
		break;
	case SDL_MOUSEWHEEL: {
		int x;
		int y;
		SDL_GetMouseState(&x, &y);
		x = event->wheel.mouseX ? event->wheel.mouseX : x;
		y = event->wheel.mouseY ? event->wheel.mouseY : y;
		input = pointer_input(screen, TB_INPUT_WHEEL, x, y);
		input.steps = (double)event->wheel.preciseY;
		if (event->wheel.direction == SDL_MOUSEWHEEL_FLIPPED)
			input.steps = -input.steps;
		break;
	}
	case SDL_WINDOWEVENT:
		return window_input(screen, &event->window);
	case SDL_DROPFILE:
		input.kind = TB_INPUT_DROP;
		snprintf(input.path, sizeof input.path, "%s", event->drop.file);
		SDL_free(event->drop.file);
		break;
	case SDL_RENDER_TARGETS_RESET:
	case SDL_RENDER_DEVICE_RESET:
		tb_screen_text_forget(&screen->text);
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
		timeout_ms =
			0; // what follows is there already, or waits for the next call
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
		event.type = input->kind == TB_INPUT_PRESS ? SDL_MOUSEBUTTONDOWN
							   : SDL_MOUSEBUTTONUP;
		event.button.button = SDL_BUTTON_LEFT;
		event.button.clicks = input->kind == TB_INPUT_DOUBLE ? 2 : 1;
		event.button.x = x;
		event.button.y = y;
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
	case TB_INPUT_DROP:
	case TB_INPUT_LEAVE:
	case TB_INPUT_EXPOSE:
	case TB_INPUT_NONE:
		return;
	}
	SDL_PushEvent(&event);
}

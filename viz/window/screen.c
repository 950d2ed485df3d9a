#include "screen.h"

#include "screen_impl.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

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

void tb_screen_measure(struct tb_screen *screen)
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

// Without a display SDL falls back on a driver that shows nothing, and a user would wait
// for a window for ever. Obey an explicit SDL_VIDEODRIVER.
static bool is_blind(void)
{
	const char *driver = SDL_GetCurrentVideoDriver();
	bool shows = driver && strcmp(driver, "offscreen") != 0 &&
		     strcmp(driver, "dummy") != 0 && strcmp(driver, "evdev") != 0;
	return !shows && !SDL_getenv("SDL_VIDEODRIVER");
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
		"--screenshot, which needs no display if SDL_VIDEODRIVER=dummy is set",
		cause);
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
		status = tb_screen_text_init(&made->text, made->renderer, error);
	if (status != TB_OK) {
		tb_screen_free(made);
		return status;
	}
	tb_screen_measure(made);
	tb_screen_note_size(made);
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

bool tb_screen_is_maximised(const struct tb_screen *screen)
{
	return (SDL_GetWindowFlags(screen->window) & SDL_WINDOW_MAXIMIZED) != 0;
}

void tb_screen_maximise(struct tb_screen *screen)
{
	SDL_MaximizeWindow(screen->window);
}

void tb_screen_note_size(struct tb_screen *screen)
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
	tb_screen_measure(screen);
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

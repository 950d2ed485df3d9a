// A window on the screen: it shows pictures and reports keys and the pointer. Only
// screen*.c use SDL.
//
// Abstract pixels are scaled by the display's density (1 at 96 dots per inch) and by the
// size of very large windows, so that text stays legible on a 4K display. Drawing works
// without acceleration, and with SDL_VIDEODRIVER=dummy without a display.
#ifndef TB_SCREEN_H
#define TB_SCREEN_H

#include "picture.h"

// The smallest window, in points: in less, the views have no room.
#define TB_SCREEN_LEAST_W 800
#define TB_SCREEN_LEAST_H 500

struct tb_screen; // opaque

// tb_screen_new opens a window of w by h points, at least the smallest. `scale` 0: by the
// display. TB_EIO when there is no display; the sentence suggests what to do.
int tb_screen_new(struct tb_screen **screen, int w, int h, double scale,
	struct tb_error *error) TB_MUST_USE;
void tb_screen_free(struct tb_screen *screen);

// tb_screen_go_unseen lets the next window be one that nobody sees, where the environment
// names no display and no SDL_VIDEODRIVER: for pictures and scripts.
void tb_screen_go_unseen(void);

void tb_screen_set_title(struct tb_screen *screen, const char *title);

// tb_screen_size stores the window's size in abstract pixels.
void tb_screen_size(const struct tb_screen *screen, double *width, double *height);

// tb_screen_has_fonts is false when a font is missing and text is drawn in strokes.
bool tb_screen_has_fonts(const struct tb_screen *screen);

// tb_screen_points stores the window's size in points, as tb_screen_new takes it, of a
// maximised one that which it had before.
void tb_screen_points(const struct tb_screen *screen, int *w, int *h);

void tb_screen_maximise(struct tb_screen *screen);
bool tb_screen_is_maximised(const struct tb_screen *screen);

// tb_screen_copy puts text on the clipboard; false when there is none.
bool tb_screen_copy(struct tb_screen *screen, const char *text);

// tb_screen_scale multiplies the size of text and controls; 0 restores that of
// tb_screen_new. The window's size in abstract pixels changes.
void tb_screen_scale(struct tb_screen *screen, double factor);

void tb_screen_draw(struct tb_screen *screen, const struct tb_picture *picture);

// tb_screen_png draws the picture and writes the window's pixels as a PNG. Write errors
// show in ferror(stream). TB_ENOMEM; TB_EIO when the pixels cannot be read.
int tb_screen_png(struct tb_screen *screen, const struct tb_picture *picture,
	FILE *stream) TB_MUST_USE;

// Events of the window.
enum tb_input_kind {
	TB_INPUT_NONE,
	TB_INPUT_KEY, // a character or a key's name, perhaps after "Ctrl+"
	TB_INPUT_MOVE,
	TB_INPUT_PRESS,
	TB_INPUT_RELEASE,
	TB_INPUT_DOUBLE, // the second release of a double click
	TB_INPUT_ADD,	 // a release with Shift held
	TB_INPUT_WHEEL,
	TB_INPUT_LEAVE,
	TB_INPUT_RESIZE,
	TB_INPUT_EXPOSE, // draw again
	TB_INPUT_DROP,	 // a file was dropped on the window
	TB_INPUT_QUIT,
};

struct tb_input {
	enum tb_input_kind kind;
	double x, y;  // pointer, in abstract pixels; resize: the window's size in points
	double steps; // wheel: up is positive
	char key[32];
	char path[512]; // drop
};

// tb_screen_wait returns the next input, or TB_INPUT_NONE after timeout_ms (0: at once).
struct tb_input tb_screen_wait(struct tb_screen *screen, int timeout_ms);

// tb_screen_post puts an input into SDL's queue, as if a user had made it.
void tb_screen_post(struct tb_screen *screen, const struct tb_input *input);

#endif

// The window's state and its text. Only screen*.c include it.
#ifndef TB_SCREEN_IMPL_H
#define TB_SCREEN_IMPL_H

#include "picture.h"
#include "screen.h"

#include <SDL.h>
#include <SDL_ttf.h>

// Text for the screen: fonts found by fontconfig, lines of text kept as textures.

#define TB_MAX_OPEN_FONTS 48
#define TB_TEXT_SLOTS	  8192 // a power of two

struct tb_open_font {
	TTF_Font *font;
	enum tb_font role;
	int size;
};

struct tb_text_slot {
	char *text; // NULL: free
	SDL_Texture *texture;
	enum tb_font role;
	int size, w, h, ascent;
};

struct tb_screen_text {
	SDL_Renderer *renderer;
	char *files[TB_N_FONTS]; // NULL: drawn without a font (builtin_text.h)
	struct tb_open_font fonts[TB_MAX_OPEN_FONTS];
	size_t n_fonts;
	struct tb_text_slot *slots;
	size_t n_slots;
};

// tb_screen_text_init finds the font files; without them text is drawn in built-in
// strokes. TB_ENOMEM.
int tb_screen_text_init(struct tb_screen_text *text, SDL_Renderer *renderer,
	struct tb_error *error) TB_MUST_USE;
// tb_screen_text_has_fonts is false when one of the files was not found.
bool tb_screen_text_has_fonts(const struct tb_screen_text *text);
void tb_screen_text_fini(struct tb_screen_text *text);

// tb_screen_text_forget drops all textures, for when the renderer has lost them.
void tb_screen_text_forget(struct tb_screen_text *text);

// tb_screen_text_draw draws one line, with the item's box and size multiplied by `scale`.
void tb_screen_text_draw(struct tb_screen_text *text, const struct tb_item *item,
	const char *string, double scale);

// The window's state. Only screen*.c include it.

struct tb_screen {
	SDL_Window *window;
	SDL_Renderer *renderer;
	struct tb_screen_text text;
	double asked_scale; // 0: by the display
	double zoom;	    // of text and controls, by the user
	double scale;	    // output pixels per abstract pixel
	double per_point_x; // output pixels per window point
	double per_point_y;
	int usual_w, usual_h; // points, of the window while it is not maximised
};

// tb_screen_measure reads the window's size and density.
void tb_screen_measure(struct tb_screen *screen);

// tb_screen_note_size keeps the size of a window that is not maximised.
void tb_screen_note_size(struct tb_screen *screen);

#endif

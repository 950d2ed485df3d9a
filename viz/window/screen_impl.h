// The window's state. Only screen*.c include it.
#ifndef TB_SCREEN_IMPL_H
#define TB_SCREEN_IMPL_H

#include "screen.h"
#include "screen_text.h"

struct tb_screen {
	SDL_Window *window;
	SDL_Renderer *renderer;
	struct tb_screen_text text;
	double asked_scale; // 0: by the display
	double zoom;	    // of text and controls, by the user
	double scale;	    // output pixels per abstract pixel
	double per_point_x; // output pixels per window point
	double per_point_y;
};

// tb_screen_measure reads the window's size and density.
void tb_screen_measure(struct tb_screen *screen);

#endif

// A run in a terminal, as it is at the moment: the congestion matrix and the hot links,
// as a picture of one pixel a character that fits the screen.
//
// The store is opened read-only; what a writer adds to it is shown at the next refresh.
// One thread at a time per object.
#ifndef TB_TOP_H
#define TB_TOP_H

#include "picture.h"
#include "run.h"

struct tb_top; // opaque

struct tb_top_options {
	const char *store;
	int64_t run; // 0: the newest
	enum tb_metric metric;
	enum tb_colours colours;
	enum tb_theme theme;
};

int tb_top_new(struct tb_top **top, const struct tb_top_options *options,
	struct tb_error *error) TB_MUST_USE;
void tb_top_free(struct tb_top *top);

// tb_top_refresh takes up what is new in the store. What went wrong with it is told on
// the picture; what was read stays.
void tb_top_refresh(struct tb_top *top);

// tb_top_key takes a character, or "Left", "Right", "Up", "Down", "PageUp", "PageDown",
// "Home"; false when it asks to quit.
bool tb_top_key(struct tb_top *top, const char *key);

// tb_top_picture prepares what is shown. `columns` is 40 or more; with 0 rows the picture
// is as high as it needs to be and says nothing of keys. `shaded`: the terminal has
// colours. TB_ENOMEM.
int tb_top_picture(struct tb_top *top, uint32_t columns, uint32_t rows, bool shaded,
	struct tb_picture *picture) TB_MUST_USE;

#endif

// A run in a terminal, followed while it grows: the congestion matrix and the hot links,
// as a picture of one pixel per character that fits the screen.
//
// The store is opened read-only; a refresh shows what a writer has added. One thread at a
// time per object.
#ifndef TB_TOP_H
#define TB_TOP_H

#include "picture.h"
#include "run.h"

struct tb_top; // opaque

struct tb_top_options {
	const char *store;
	int64_t run; // 0: the newest
	enum tb_metric metric;
	bool chooses_wait; // else the one that leads is shown
	enum tb_wait_lead wait;
	enum tb_colours colours;
	enum tb_theme theme;
};

// tb_top_new opens a run and reads it. Errors as of tb_run_open.
int tb_top_new(struct tb_top **top, const struct tb_top_options *options,
	struct tb_error *error) TB_MUST_USE;
void tb_top_free(struct tb_top *top);

// tb_top_refresh reads what is new in the store. The picture reports a failure and keeps
// what was read before.
void tb_top_refresh(struct tb_top *top);

// tb_top_key handles a key: a character, or "Left", "Right", "Up", "Down", "PageUp",
// "PageDown", "Home". False means quit.
bool tb_top_key(struct tb_top *top, const char *key);

// tb_top_picture prepares the picture. `columns` is 40 or more; with 0 rows the picture
// is as high as it needs to be and leaves out the keys. `shaded`: the terminal has
// colours. TB_ENOMEM.
int tb_top_picture(struct tb_top *top, uint32_t columns, uint32_t rows, bool shaded,
	struct tb_picture *picture) TB_MUST_USE;

#endif

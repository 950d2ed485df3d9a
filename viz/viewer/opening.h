// A trace that is to be looked at: the networks that it can be replayed on are offered,
// and the replay runs beside the viewer into a store of its own, which is removed when
// the viewer ends.
//
// The replay is this program once more (base/child.h), so that the viewer answers
// meanwhile, and what goes wrong is a sentence. One thread at a time per object.
#ifndef TB_OPENING_H
#define TB_OPENING_H

#include "picture.h"

struct tb_opening; // opaque

int tb_opening_new(struct tb_opening **opening, const char *trace,
	struct tb_error *error) TB_MUST_USE;
// tb_opening_free ends the replay and removes its store.
void tb_opening_free(struct tb_opening *opening);

// tb_opening_store is the store of the replay that was begun, NULL before.
const char *tb_opening_store(const struct tb_opening *opening);

// tb_opening_runs is true while the replay runs.
bool tb_opening_runs(const struct tb_opening *opening);

// tb_opening_key takes "Up", "Down" and "Return"; false for others.
bool tb_opening_key(struct tb_opening *opening, const char *key);
// tb_opening_press takes a click on what the picture offers.
void tb_opening_press(struct tb_opening *opening, struct tb_pick pick);

// tb_opening_poll looks whether the replay has ended; true when the picture changes. One
// that failed is reported in the picture, and the networks are offered again.
bool tb_opening_poll(struct tb_opening *opening);

// tb_opening_trouble is why the last replay failed, "" when none did.
const char *tb_opening_trouble(const struct tb_opening *opening);

// tb_opening_draw fills the picture.
void tb_opening_draw(const struct tb_opening *opening, enum tb_theme theme,
	struct tb_picture *picture);

#endif

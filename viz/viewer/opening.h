// Opening a trace: the user chooses a network to replay it on, and the replay runs beside
// the viewer into a temporary store, which is removed when the viewer ends.
//
// The replay is a child process of this program (base/child.h), so the viewer stays
// responsive, and a failure arrives as a sentence. One thread at a time per object.
#ifndef TB_OPENING_H
#define TB_OPENING_H

#include "picture.h"

struct tb_opening; // opaque

// tb_opening_new prepares the offers for a trace. TB_ENOMEM.
int tb_opening_new(struct tb_opening **opening, const char *trace,
	struct tb_error *error) TB_MUST_USE;
// tb_opening_free ends the replay and removes its store.
void tb_opening_free(struct tb_opening *opening);

// tb_opening_store returns the path of the replay's store, NULL before the replay.
const char *tb_opening_store(const struct tb_opening *opening);

// tb_opening_runs is true while the replay runs.
bool tb_opening_runs(const struct tb_opening *opening);

// tb_opening_key handles "Up", "Down" and "Return"; false for other keys.
bool tb_opening_key(struct tb_opening *opening, const char *key);
// tb_opening_press handles a click on an offer.
void tb_opening_press(struct tb_opening *opening, struct tb_pick pick);

// tb_opening_poll checks whether the replay has ended; true when the picture changes.
// After a failure the picture reports it and offers the networks again.
bool tb_opening_poll(struct tb_opening *opening);

// tb_opening_trouble returns why the last replay failed, "" when none did.
const char *tb_opening_trouble(const struct tb_opening *opening);

// tb_opening_draw draws the offers, or which replay is running.
void tb_opening_draw(const struct tb_opening *opening, enum tb_theme theme,
	struct tb_picture *picture);

#endif

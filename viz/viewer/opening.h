// Opening a trace: the user chooses in a form (opening_form.h) on which network and how
// it is replayed, and the replay runs beside the viewer into a temporary store, which is
// removed when the viewer ends.
//
// The replay is a child process of this program (base/work/child.h), so the viewer stays
// responsive, and a failure arrives as a sentence. One thread at a time per object.
#ifndef TB_OPENING_H
#define TB_OPENING_H

#include "picture.h"
#include "trace.h"

struct tb_opening; // opaque

// tb_opening_new prepares the form for a trace that `reader` reads. TB_ENOMEM.
int tb_opening_new(struct tb_opening **opening, const char *trace,
	const struct tb_trace_reader *reader, struct tb_error *error) TB_MUST_USE;

// tb_opening_begin_with fills the form in from options of the replay command
// (opening_form.h), which it borrows.
void tb_opening_begin_with(
	struct tb_opening *opening, const char *const *words, size_t n_words);
// tb_opening_free ends the replay and removes its store.
void tb_opening_free(struct tb_opening *opening);

// tb_opening_store returns the path of the replay's store, NULL before the replay.
const char *tb_opening_store(const struct tb_opening *opening);

// tb_opening_key handles "Return" and the keys of the form; false for other keys.
bool tb_opening_key(struct tb_opening *opening, const char *key);
// tb_opening_press handles a click on a part of the form.
void tb_opening_press(struct tb_opening *opening, struct tb_pick pick);

// tb_opening_poll checks whether the replay has ended; true when the picture changes.
// After a failure the picture reports it and shows the form again.
bool tb_opening_poll(struct tb_opening *opening);

// tb_opening_runs is true while the replay is under way.
bool tb_opening_runs(const struct tb_opening *opening);

// tb_opening_trouble returns why the last replay failed, "" when none did.
const char *tb_opening_trouble(const struct tb_opening *opening);

// tb_opening_draw_progress draws how far the replay is into the head of the picture that
// shows its results; nothing once it has ended.
void tb_opening_draw_progress(const struct tb_opening *opening, enum tb_theme theme,
	struct tb_picture *picture, struct tb_box head);

// tb_opening_draw draws the form, or which replay is running and how far it is.
void tb_opening_draw(const struct tb_opening *opening, enum tb_theme theme,
	struct tb_picture *picture);

#endif

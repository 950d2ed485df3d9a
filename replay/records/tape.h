// A tape: observer calls kept in memory and played later. Replays on several threads
// write tapes; the one thread that writes to the store plays them.
//
// Memory: bins that the records kept stay packed, in some 24 bytes per link sample; one
// of a fixed width takes 64, other records as they came. A start drops the bins before
// it, as the observer's order demands.
#ifndef TB_TAPE_H
#define TB_TAPE_H

#include "observer.h"

struct tb_tape; // opaque

int tb_tape_new(struct tb_tape **tape, struct tb_error *error) TB_MUST_USE;
void tb_tape_free(struct tb_tape *tape);

// tb_tape_observer returns the observer that fills the tape; its calls return TB_ENOMEM.
struct tb_observer tb_tape_observer(struct tb_tape *tape);

// tb_tape_play repeats the calls to another observer: TB_OK, or the status that it
// returned.
int tb_tape_play(
	const struct tb_tape *tape, const struct tb_observer *observer) TB_MUST_USE;

#endif

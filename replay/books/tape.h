// What an observer was told, kept to be told again: a run's figures go to the store when
// it is over, from the thread that writes.
//
// Memory: 56 bytes a link sample, and what else was told as it came. A start
// forgets the bins before it, as the observer's order has it.
#ifndef TB_TAPE_H
#define TB_TAPE_H

#include "observer.h"

struct tb_tape; // opaque

int tb_tape_new(struct tb_tape **tape, struct tb_error *error) TB_MUST_USE;
void tb_tape_free(struct tb_tape *tape);

// tb_tape_observer is the observer that fills it; TB_ENOMEM from its calls.
struct tb_observer tb_tape_observer(struct tb_tape *tape);

// tb_tape_play tells it all to another observer: TB_OK, or what that answered.
int tb_tape_play(
	const struct tb_tape *tape, const struct tb_observer *observer) TB_MUST_USE;

#endif

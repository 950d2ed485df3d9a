// What an observer was told, kept to be told again: a run's figures go to the store when
// it is over, from the thread that writes.
//
// Memory: 56 bytes a link sample, and what else was told as it came. A start
// forgets the bins before it, as the observer's order has it.
#ifndef TB_RECORDING_H
#define TB_RECORDING_H

#include "observer.h"

struct tb_recording; // opaque

int tb_recording_new(struct tb_recording **recording, struct tb_error *error) TB_MUST_USE;
void tb_recording_free(struct tb_recording *recording);

// tb_recording_observer is the observer that fills it; TB_ENOMEM from its calls.
struct tb_observer tb_recording_observer(struct tb_recording *recording);

// tb_recording_play tells it all to another observer: TB_OK, or what that answered.
int tb_recording_play(const struct tb_recording *recording,
	const struct tb_observer *observer) TB_MUST_USE;

#endif

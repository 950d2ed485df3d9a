// A thread that runs one errand at a time for a caller that must not wait for it.
//
// Model: the caller begins an errand, goes on, and fetches it when it is done. Between a
// fetch and the next begin the thread touches nothing, so caller and errands can share
// data by turns, without locks. One caller's thread per object.
#ifndef TB_ERRAND_H
#define TB_ERRAND_H

#include "status.h"

#include <stdbool.h>

struct tb_errands; // opaque

// tb_errands_new starts the thread. TB_ENOMEM when the system refuses one.
int tb_errands_new(struct tb_errands **errands, struct tb_error *error) TB_MUST_USE;

// tb_errands_free stops the errand under way, waits for its end and ends the thread. NULL
// is fine.
void tb_errands_free(struct tb_errands *errands);

// tb_errands_begin runs work(context) in the thread; no other errand may be under way.
void tb_errands_begin(
	struct tb_errands *errands, void (*work)(void *context), void *context);

// tb_errands_fetch waits at most `seconds` (negative: as long as it takes) for the errand
// under way; true when it is done, and from then on no errand is under way.
bool tb_errands_fetch(struct tb_errands *errands, double seconds);

// tb_errands_stop asks the errand under way to end early; long ones look at
// tb_errands_stops now and then, from their thread.
void tb_errands_stop(struct tb_errands *errands);
bool tb_errands_stops(const struct tb_errands *errands);

#endif

// A window of a run looked at more closely: its input replayed once more, by this program
// beside itself, up to the window's end and with bins and blame of the window alone.
//
// Bins are a nanosecond wide, or as wide as TB_CLOSER_BINS of them fill the window. The
// replay is the same one, so what ranks do and how links wait is what the run has, in
// bins made anew; no neighbours are merged but where there are still too many.
#ifndef TB_CLOSER_H
#define TB_CLOSER_H

#include "run.h"
#include "temporary.h"

#define TB_CLOSER_BINS 1024

struct tb_closer { // zeroed: none
	struct tb_temporary folder;
	struct tb_run *run; // of the window
};

// tb_closer_init replays [from_ps, to_ps) of a run, from the folder in which that was
// replayed. TB_EUSAGE when it cannot be replayed again, or its input is another one now;
// TB_EIO, with the sentence of the replay, when that failed. Cost: the replay up to the
// window's end. tb_closer_fini in any case.
int tb_closer_init(struct tb_closer *closer, const struct tb_run *run, tb_time_ps from_ps,
	tb_time_ps to_ps, struct tb_error *error) TB_MUST_USE;
void tb_closer_fini(struct tb_closer *closer);

#endif

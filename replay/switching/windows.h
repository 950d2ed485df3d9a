// One replay in parts, side by side on several threads (docs/credits.md, "Parts, windows,
// threads"). Private to replay/.
//
// Model: all parts simulate the same window of time, each alone: from the earliest
// instant at which something happens, for the whole's window_ps or up to the end of
// the open bin. Between windows one thread posts the messages that the source has,
// reports to the source what has ended, in the order of instants and messages, passes
// part messages on and closes bins. Nothing that comes out depends on the number of
// threads or on which of them simulates which part when.
//
// Several processes can do so together (across.h): each simulates some of the parts, and
// what follows a window is done in all of them.
//
// Cost: a few microseconds per window beside what happens in it. Windows in which little
// happens are simulated by one thread.
#ifndef TB_WINDOWS_H
#define TB_WINDOWS_H

#include "switching.h"

struct tb_windows; // opaque

// tb_windows_new makes the parts of a whole, which a model's `make` has made, and
// borrows it; n_threads and peers as in engine_options.h. TB_ENOMEM.
int tb_windows_new(struct tb_windows **windows, struct tb_replay *whole,
	const struct tb_switching *model, unsigned n_threads,
	struct tb_peer_streams *peers) TB_MUST_USE;
void tb_windows_free(struct tb_windows *windows); // NULL is fine; before the whole

// tb_windows_run and tb_windows_finish are those of an engine (engine.h), the former in
// windows instead of instants.
int tb_windows_run(struct tb_windows *windows, uint64_t n_windows,
	struct tb_error *error) TB_MUST_USE;
int tb_windows_finish(struct tb_windows *windows, struct tb_error *error) TB_MUST_USE;

// tb_windows_checkpoint passes all bins so far to the observer, of all processes.
int tb_windows_checkpoint(struct tb_windows *windows, struct tb_error *error) TB_MUST_USE;

// tb_windows_stats returns the sums over the whole and its parts, packets in flight
// included.
struct tb_engine_stats tb_windows_stats(const struct tb_windows *windows);

// tb_windows_now is the last instant at which something happened.
tb_time_ps tb_windows_now(const struct tb_windows *windows);

#endif

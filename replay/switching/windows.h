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
//
// Rules, as in docs/credits.md:
//
// C27. Parts. For several threads a network of 1000 nodes or more is cut into 8 to 16
//   parts, for several processes any network (`replay/network/network_parts.h`);
//   otherwise it is one part.
// C28. Windows. All parts simulate the same window, each alone: from the earliest instant
// at
//   which anything happens, for a length L or to the end of the open bin. L is the least
//   λ of a link between parts and, if the source reacts to endings, at most
//   `send_overhead`, so what it posts in a window cannot begin within it. A replay with
//   faults, or with L below 20 ns, is one part.
// C29. What crosses. Only packets and updates cross, which take at least λ (C1, C9):
//   what a part hands over in a window (updates: at its end) happens after it, in the
//   order of parts.
// C30. Between windows one thread reports what has ended, in the order of instants and
//   messages, and posts what the source has.
// C31. Threads, processes. Any thread may simulate any part. Of several processes each
//   has some parts (`replay/switching/across.h`).
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

// tb_windows_exchange returns what the processes have exchanged so far.
struct tb_engine_exchange tb_windows_exchange(const struct tb_windows *windows);

// tb_windows_now is the last instant at which something happened.
tb_time_ps tb_windows_now(const struct tb_windows *windows);

#endif

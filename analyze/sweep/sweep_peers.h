// Runs the points of a sweep on many machines, into one store.
//
// Model: rank 0 leads: it has the store, hands out point after point, longest first, to
// whichever worker is free, and writes what comes back; it simulates nothing, and takes
// a twentieth of the processor time with two workers (measured). The other ranks serve:
// each simulates one point at a time and sends its run as the bytes of a small store. So
// the rows of the store are those of tb_sweep_run, but for run_environment, which names
// the worker's machine.
//
// A worker from which nothing is heard for a while is taken for lost, and its point is
// handed out again. Should it be heard again after all, it goes on; of two results of a
// point the first one counts. What is in the store stays there, so a sweep that was
// killed as a whole resumes.
//
// Memory: the leader holds one run per worker at most; it sends and receives messages of
// 4 KB and never waits for anybody.
#ifndef TB_SWEEP_PEERS_H
#define TB_SWEEP_PEERS_H

#include "peers.h"
#include "sweep_run.h"

// After how many seconds of silence a peer is taken for lost, by default. Peers speak ten
// times as often, in the middle of a point, too.
#define TB_SWEEP_SILENCE_S 10

struct tb_sweep_lead_options {
	struct tb_sweep_run_options run; // n_workers means nothing here
	double silence_s;
};

// tb_sweep_lead does what tb_sweep_run does, by the other peers, and ends their work.
// Stores in `all_there` whether none of them is lost in the end. Errors are those of
// tb_sweep_run, those that a worker reports, TB_EUSAGE when a worker has another sweep,
// and TB_EIO when no worker is left or a point lost three of them.
int tb_sweep_lead(struct tb_sweep_progress *progress, const struct tb_sweep *sweep,
	const struct tb_sweep_lead_options *options, const struct tb_peers *peers,
	bool *all_there, struct tb_error *error) TB_MUST_USE;

// tb_sweep_dismiss ends the work of the other peers, when the leader cannot even begin.
void tb_sweep_dismiss(const struct tb_peers *peers, bool all_there);

// What a worker is given: the sweep as tb_sweep_read takes it, since it reads it for
// itself, to compare it with the leader's.
struct tb_sweep_serve_options {
	const char *name;
	const char *const *changes;
	size_t n_changes;
	bool with_blame;
	double silence_s;
	const volatile sig_atomic_t *stop; // abandon the point once it is set
};

// tb_sweep_serve works until the leader ends it. It reports errors to the leader and
// returns TB_OK; TB_ESTOPPED when it was stopped, TB_EIO when the leader is lost. Stores
// in `all_there` whether, by the leader's word, no peer is lost.
int tb_sweep_serve(const struct tb_sweep_serve_options *options,
	const struct tb_peers *peers, bool *all_there,
	struct tb_error *error) TB_MUST_USE;

#endif

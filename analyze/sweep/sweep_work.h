// What those share who run the points of a sweep on threads and on other machines.
// Private to analyze/sweep/.
#ifndef TB_SWEEP_WORK_H
#define TB_SWEEP_WORK_H

#include "digest.h"
#include "peers.h"
#include "store.h"
#include "store_points.h"
#include "sweep.h"
#include "sweep_run.h"
#include "tape.h"

#include <string.h>

// What makes a sweep this sweep, as a digest.

// tb_sweep_identity stores a digest of all that bears on the rows of the sweep's store:
// its points in their order, the parameters of their networks (a preset's file may differ
// from machine to machine), its [plot], whether blame is recorded, and the program's
// version. TB_ENOMEM.
int tb_sweep_identity(const struct tb_sweep *sweep, bool with_blame,
	char digest[TB_DIGEST_SIZE], struct tb_error *error) TB_MUST_USE;

// A point of a sweep that has been simulated, on its way into a store.

// Zeroed: nothing.
struct tb_sweep_made {
	struct tb_network *network;
	struct tb_tape *tape;
	struct tb_engine_stats stats;
	double results[TB_N_RESULTS];
	double wall_s;
};

// tb_sweep_made_simulate runs a point and keeps what is recorded. Errors of the engine;
// TB_ESTOPPED once `stop`, which may be NULL, is set.
int tb_sweep_made_simulate(struct tb_sweep_made *made, const struct tb_sweep_point *point,
	bool with_blame, const volatile sig_atomic_t *stop,
	struct tb_error *error) TB_MUST_USE;

// tb_sweep_made_write writes it into a store as the run of that number, whole.
int tb_sweep_made_write(const struct tb_sweep_made *made,
	const struct tb_sweep_point *point, struct tb_store *store, int64_t run,
	struct tb_error *error) TB_MUST_USE;

// tb_sweep_made_fini frees what was made and leaves it zeroed.
void tb_sweep_made_fini(struct tb_sweep_made *made);

// What is to be done of a sweep, and the store that it goes into: shared by those who run
// its points on threads and on other machines.

// Foresees how long the points of a sweep take, from those that are done. Private to
// analyze/sweep/.
//
// Model: a point takes its estimated cost (tb_sweep_cost) times a factor that follows the
// point's nodes, load and message size as powers. The powers are fitted to the points
// that are done, by least squares in logarithms, held towards 0 while there are few: so
// the costs that are left are foreseen from dear points, which are run first, as well as
// from the like.

enum { TB_FORECAST_POWERS = 4 }; // of 1, nodes, load, message size

// A zeroed struct knows nothing.
struct tb_sweep_forecast {
	double squares[TB_FORECAST_POWERS][TB_FORECAST_POWERS]; // sums of products
	double products[TB_FORECAST_POWERS];			// with what was taken
	double powers[TB_FORECAST_POWERS];
	size_t n;
};

// tb_sweep_forecast_add learns that a point took so many seconds. Constant cost.
void tb_sweep_forecast_add(struct tb_sweep_forecast *forecast,
	const struct tb_sweep_point *point, double seconds);

// tb_sweep_forecast_of returns the seconds that a point will take; its estimated cost
// while nothing is known.
double tb_sweep_forecast_of(
	const struct tb_sweep_forecast *forecast, const struct tb_sweep_point *point);

struct tb_sweep_task {
	size_t point;
	double cost;
	bool done;
};

struct tb_sweep_work {
	const struct tb_sweep *sweep;
	const struct tb_sweep_run_options *options;
	struct tb_sweep_progress *progress;
	struct tb_store *store;
	struct tb_store_point *points; // of the sweep
	struct tb_sweep_task *tasks;   // still to be done, longest first
	size_t n_tasks;
	struct tb_sweep_forecast forecast;
	unsigned n_workers;
};

// tb_sweep_work_open opens the store, plans the points in it and lists the tasks. Errors
// of the store. Close the work in any case.
int tb_sweep_work_open(struct tb_sweep_work *work, const struct tb_sweep *sweep,
	const struct tb_sweep_run_options *options, struct tb_sweep_progress *progress,
	struct tb_error *error) TB_MUST_USE;
void tb_sweep_work_close(struct tb_sweep_work *work);

// tb_sweep_work_done counts a task that is in the store and took so many seconds. Linear
// in tasks.
void tb_sweep_work_done(struct tb_sweep_work *work, size_t task, double seconds);

// tb_sweep_work_watch calls the caller's watch.
void tb_sweep_work_watch(struct tb_sweep_work *work);

// What the peers of a sweep say to each other. Private to analyze/sweep/.
//
// The program is the same on all machines of a job, so a message is a struct as it is in
// memory, cut off behind the bytes that it has.

// In a silence after which a peer would be taken for lost, it says so many times that it
// is there.
#define TB_SWEEP_BEATS 10

// How long a peer sleeps when there is nothing to do.
#define TB_SWEEP_REST_NS 1000000

enum tb_sweep_word {
	// From the leader:
	TB_SWEEP_BEGIN = 1, // read the sweep, which has this digest, in `bytes`
	TB_SWEEP_POINT,	    // run `point`, as the run `run`
	TB_SWEEP_END,	    // that is all; `at` is 1 when no peer is lost
	// From a worker:
	TB_SWEEP_READY,	 // for the first point
	TB_SWEEP_PIECE,	 // of a result: of `total` bytes those from `at`
	TB_SWEEP_FAILED, // the struct tb_error in `bytes`
	// From both:
	TB_SWEEP_BEAT, // I am still there
};

#define TB_SWEEP_MESSAGE_HEAD offsetof(struct tb_sweep_message, bytes)
#define TB_SWEEP_PIECE_MOST   (TB_PEERS_MESSAGE_MOST - 40)

struct tb_sweep_message {
	uint32_t word; // enum tb_sweep_word
	uint32_t point;
	int64_t run;
	uint64_t at, total;
	unsigned char bytes[TB_SWEEP_PIECE_MOST];
};

_Static_assert(
	sizeof(struct tb_sweep_message) <= TB_PEERS_MESSAGE_MOST, "a message fits");
_Static_assert(sizeof(struct tb_error) <= TB_SWEEP_PIECE_MOST, "an error fits");

// tb_sweep_say sends a message with `n` of its bytes.
static inline int tb_sweep_say(const struct tb_peers *peers, uint32_t to,
	const struct tb_sweep_message *message, size_t n)
{
	return peers->send(peers->context, to, message, TB_SWEEP_MESSAGE_HEAD + n);
}

// tb_sweep_say_word sends one without bytes.
static inline int tb_sweep_say_word(
	const struct tb_peers *peers, uint32_t to, enum tb_sweep_word word)
{
	const struct tb_sweep_message message = {.word = word};
	return tb_sweep_say(peers, to, &message, 0);
}

// tb_sweep_hear takes the next message and stores how many bytes it has: 1, 0 when none
// has arrived. One that is too short is passed over.
static inline int tb_sweep_hear(const struct tb_peers *peers, uint32_t *from,
	struct tb_sweep_message *message, size_t *n)
{
	unsigned char bytes[TB_PEERS_MESSAGE_MOST];
	size_t size = 0;
	int status = peers->receive(peers->context, from, bytes, &size);
	if (status <= 0)
		return status;
	if (size < TB_SWEEP_MESSAGE_HEAD || size > sizeof *message)
		return 0;
	memcpy(message, bytes, size);
	*n = size - TB_SWEEP_MESSAGE_HEAD;
	return 1;
}

#endif

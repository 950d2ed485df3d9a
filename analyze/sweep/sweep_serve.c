// The other ranks of a sweep on many machines.
#include "sweep_peers.h"

#include "progress.h"
#include "stop.h"
#include "store_impl.h"
#include "sweep_work.h"

#include <pthread.h>
#include <stdlib.h>
#include <time.h>

struct sweep_server {
	const struct tb_sweep_serve_options *options;
	const struct tb_peers *peers;
	struct tb_sweep sweep;
	bool ready; // the sweep is read
	bool ended, all_there;
	double heard_s, beaten_s;

	// The point that is being run, by a thread, so that this one can say that it is
	// still there.
	bool busy;
	pthread_t thread;
	pthread_mutex_t mutex; // guards `done`
	bool done;
	volatile sig_atomic_t stop;
	size_t point;
	int64_t run;
	unsigned char *bytes; // the result
	size_t size;
	int status;
	struct tb_error error;
};

// write_result makes a store of one run.
static int write_result(struct sweep_server *serve, const struct tb_sweep_made *made)
{
	struct tb_store *store = NULL;
	int status = tb_store_create_bytes(&store, &serve->error);
	if (status == TB_OK)
		status = tb_sweep_made_write(made, &serve->sweep.points[serve->point],
			store, serve->run, &serve->error);
	if (status == TB_OK)
		status =
			tb_store_bytes(store, &serve->bytes, &serve->size, &serve->error);
	tb_store_free(store);
	return status;
}

static void *run_point(void *context)
{
	struct sweep_server *serve = context;
	struct tb_sweep_made made = {0};
	serve->status = tb_sweep_made_simulate(&made, &serve->sweep.points[serve->point],
		serve->options->with_blame, &serve->stop, &serve->error);
	if (serve->status == TB_OK)
		serve->status = write_result(serve, &made);
	tb_sweep_made_fini(&made);
	pthread_mutex_lock(&serve->mutex);
	serve->done = true;
	pthread_mutex_unlock(&serve->mutex);
	return NULL;
}

// serve_report sends an error to the leader, which ends the sweep.
static int serve_report(const struct sweep_server *serve, const struct tb_error *cause)
{
	struct tb_sweep_message message = {.word = TB_SWEEP_FAILED};
	memcpy(message.bytes, cause, sizeof *cause);
	return tb_sweep_say(serve->peers, 0, &message, sizeof *cause);
}

// read_sweep reads the sweep and compares it with the leader's.
static int read_sweep(struct sweep_server *serve, const char *wanted)
{
	const struct tb_sweep_serve_options *options = serve->options;
	char identity[TB_DIGEST_SIZE];
	struct tb_error error;
	tb_sweep_fini(&serve->sweep); // another one, which it was begun with before
	int status = tb_sweep_read(&serve->sweep, options->name, options->changes,
		options->n_changes, &error);
	if (status == TB_OK)
		status = tb_sweep_identity(
			&serve->sweep, options->with_blame, identity, &error);
	if (status == TB_OK && strncmp(identity, wanted, sizeof identity) != 0)
		status = tb_fail_in(&error, TB_EUSAGE, options->name,
			"is another sweep for this rank than for rank 0: other points or "
			"options, or another version");
	if (status != TB_OK)
		return serve_report(serve, &error);
	serve->ready = true;
	return tb_sweep_say_word(serve->peers, 0, TB_SWEEP_READY);
}

static int serve_act_on_message(
	struct sweep_server *serve, const struct tb_sweep_message *message, size_t n)
{
	serve->heard_s = tb_clock_s();
	switch (message->word) {
	case TB_SWEEP_BEGIN:
		return serve->ready || n < TB_DIGEST_SIZE
			       ? TB_OK
			       : read_sweep(serve, (const char *)message->bytes);
	case TB_SWEEP_POINT:
		if (serve->busy || !serve->ready ||
			message->point >= serve->sweep.n_points)
			return TB_OK;
		serve->point = message->point;
		serve->run = message->run;
		serve->done = false;
		tb_stop_set(&serve->stop, false);
		serve->busy = pthread_create(&serve->thread, NULL, run_point, serve) == 0;
		if (serve->busy)
			return TB_OK;
		(void)tb_fail_memory(&serve->error, "a thread");
		return serve_report(serve, &serve->error);
	case TB_SWEEP_END:
		serve->ended = true;
		serve->all_there = message->at == 1;
		return TB_OK;
	default:
		return TB_OK;
	}
}

// serve_finish ends the thread and sends what it made.
static int serve_finish(struct sweep_server *serve, bool send)
{
	pthread_join(serve->thread, NULL);
	serve->busy = false;
	int status = TB_OK;
	if (send && serve->status == TB_OK) {
		// Send the result in pieces.
		struct tb_sweep_message piece = {.word = TB_SWEEP_PIECE,
			.point = (uint32_t)serve->point,
			.run = serve->run,
			.total = serve->size};
		while (piece.at < piece.total && status == TB_OK) {
			uint64_t left = piece.total - piece.at;
			size_t n = left < sizeof piece.bytes ? (size_t)left
							     : sizeof piece.bytes;
			memcpy(piece.bytes, serve->bytes + piece.at, n);
			status = tb_sweep_say(serve->peers, 0, &piece, n);
			piece.at += n;
		}
	} else if (send && serve->status != TB_ESTOPPED)
		status = serve_report(serve, &serve->error);
	sqlite3_free(serve->bytes);
	serve->bytes = NULL;
	return status;
}

static bool is_done(struct sweep_server *serve)
{
	pthread_mutex_lock(&serve->mutex);
	bool done = serve->busy && serve->done;
	pthread_mutex_unlock(&serve->mutex);
	return done;
}

// serve_attend does one round of work: 1 when a message came.
static int serve_attend(struct sweep_server *serve)
{
	struct tb_sweep_message message;
	uint32_t from = 0;
	size_t n = 0;
	int heard = tb_sweep_hear(serve->peers, &from, &message, &n);
	if (heard < 0)
		return TB_EIO;
	int status =
		heard && from == 0 ? serve_act_on_message(serve, &message, n) : TB_OK;
	if (status == TB_OK && !serve->ended && is_done(serve))
		status = serve_finish(serve, true);
	if (status == TB_OK) {
		double now_s = tb_clock_s();
		if (!(now_s - serve->beaten_s <
			    serve->options->silence_s / TB_SWEEP_BEATS)) {
			serve->beaten_s = now_s;
			status = tb_sweep_say_word(serve->peers, 0, TB_SWEEP_BEAT);
		}
	}
	return status == TB_OK ? heard : status;
}

static int serve_all(struct sweep_server *serve, struct tb_error *error)
{
	const struct tb_sweep_serve_options *options = serve->options;
	int status = TB_OK;
	while (status >= 0 && !serve->ended) {
		status = serve_attend(serve);
		if (tb_stop_asked(options->stop))
			return tb_fail(error, TB_ESTOPPED, "stopped");
		// The leader may be writing for long, so it is given more time.
		if (tb_clock_s() - serve->heard_s > 3 * options->silence_s)
			return tb_fail(error, TB_EIO, "rank 0 is lost");
		if (status == 0)
			nanosleep(&(struct timespec){.tv_nsec = TB_SWEEP_REST_NS}, NULL);
	}
	if (status == TB_EIO)
		return tb_fail(error, TB_EIO, "a message cannot be read");
	return status < 0 ? tb_fail_memory(error, "the work for rank 0") : TB_OK;
}

int tb_sweep_serve(const struct tb_sweep_serve_options *options,
	const struct tb_peers *peers, bool *all_there, struct tb_error *error)
{
	struct sweep_server serve = {
		.options = options, .peers = peers, .heard_s = tb_clock_s()};
	pthread_mutex_init(&serve.mutex, NULL);
	int status = serve_all(&serve, error);
	tb_stop_set(&serve.stop, true);
	if (serve.busy)
		status = serve_finish(&serve, false) == TB_OK ? status : TB_ENOMEM;
	*all_there = status == TB_OK && serve.all_there;
	pthread_mutex_destroy(&serve.mutex);
	tb_sweep_fini(&serve.sweep);
	return status;
}

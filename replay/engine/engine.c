#include "engine.h"

#include "clock.h"
#include "exact.h"
#include "peer_streams.h"
#include "windows.h"

#include <stdlib.h>
#include <string.h>

// What rank 0 has the engines of the other processes do.
enum peer_order_kind {
	ORDER_RUN,	  // so many windows
	ORDER_PAUSE_AT,	  // that instant
	ORDER_CHECKPOINT, // and the next two: no number
	ORDER_FINISH,
	ORDER_END
};

struct peer_order {
	enum peer_order_kind kind;
	uint64_t n;
};

struct tb_engine {
	const struct tb_switching *model;
	struct tb_replay *replay;
	struct tb_windows *windows; // NULL: the network is one part
	struct tb_exact *exact;	    // NULL: there is no window of packets
	struct tb_peer_streams *peers;
};

#define ADDRESS(name) &tb_##name,
static const struct tb_switching *const models[] = {TB_SWITCHINGS(ADDRESS)};

// model_of returns the network's switching model, the first one if the network names
// none; NULL when it does not exist.
static const struct tb_switching *model_of(const struct tb_network *network)
{
	const char *name = network->params.switching;
	for (size_t i = 0; i < sizeof models / sizeof *models; i++)
		if (name[0] == '\0' || strcmp(name, models[i]->name) == 0)
			return models[i];
	return NULL;
}

// refuse_whole refuses what several processes cannot simulate together.
static int refuse_whole(const struct tb_engine *engine,
	const struct tb_engine_options *options, const char *why, struct tb_error *error)
{
	if (!options->peers)
		return TB_OK;
	if (engine->exact || options->to_ps)
		why = "it has a window of time of its own";
	if (engine->windows && !why)
		return TB_OK;
	return tb_fail(error, TB_EUSAGE,
		"%u processes cannot simulate this replay together: %s; start one, "
		"without mpirun",
		tb_peer_streams_n(options->peers), why ? why : "it is too small");
}

// send_order gives an order to all others; `peers` NULL, or a rank other than 0: nobody.
// TB_ENOMEM.
static int send_order(struct tb_peer_streams *peers, enum peer_order_kind kind,
	uint64_t n, struct tb_error *error)
{
	const struct peer_order order = {kind, n};
	if (!peers || tb_peer_streams_rank(peers) > 0)
		return TB_OK;
	for (uint32_t rank = 1; rank < tb_peer_streams_n(peers); rank++)
		if (tb_peer_streams_put(peers, rank, &order, sizeof order) != TB_OK)
			return tb_fail_memory(error, "orders to other processes");
	return TB_OK;
}

// next_order waits for the next order. TB_ENOMEM, TB_EIO.
static int next_order(
	struct tb_peer_streams *peers, struct peer_order *order, struct tb_error *error)
{
	const unsigned char *bytes = NULL;
	size_t n = 0;
	int status = tb_peer_streams_take(peers, 0, &bytes, &n);
	if (status != TB_OK || n != sizeof *order)
		return tb_fail(error, TB_EIO, "rank 0 was not understood");
	memcpy(order, bytes, sizeof *order);
	return TB_OK;
}

int tb_engine_new(struct tb_engine **engine, const struct tb_network *network,
	const struct tb_source *source, const struct tb_observer *observer,
	const struct tb_engine_options *options, struct tb_error *error)
{
	const struct tb_switching *model = model_of(network);
	if (!model)
		return tb_fail(error, TB_EUSAGE, "no engine knows the switching '%s'",
			network->params.switching);
	struct tb_engine *made = calloc(1, sizeof *made);
	if (!made)
		return tb_fail_memory(error, "the engine");
	bool is_itself = model->is_ideal_too && network->params.exact_to_ps == 0;
	made->model = options->ideal && !is_itself ? &tb_ideal : model;
	struct tb_engine_options own = *options;
	const char *undivided = NULL;
	int status = TB_OK;
	if (network->params.exact_to_ps > 0 && !options->ideal)
		status = tb_exact_new(&made->exact, model,
			models[network->params.stands_for], network, &own);
	if (made->exact)
		made->model = tb_exact_first(made->exact);
	if (status == TB_OK)
		status = tb_switching_make(&made->replay, made->model, network, source,
			observer, &own, &undivided);
	if (status == TB_OK && made->replay->side)
		status = tb_windows_new(&made->windows, made->replay, made->model,
			options->n_threads, options->peers);
	if (status == TB_OK)
		status = refuse_whole(made, options, undivided, error);
	else if (status == TB_ENOMEM)
		status = tb_fail_memory(error, "a network of %u nodes", network->n_nodes);
	else
		status = tb_fail(error, (enum tb_status)status,
			"a network of %u nodes is too large to replay on",
			network->n_nodes);
	if (status == TB_OK) {
		made->peers = options->peers;
		*engine = made;
		return TB_OK;
	}
	tb_windows_free(made->windows);
	if (made->replay)
		tb_switching_free(made->replay, made->model);
	tb_exact_free(made->exact);
	free(made);
	return status;
}

void tb_engine_free(struct tb_engine *engine)
{
	if (!engine)
		return;
	(void)!send_order(engine->peers, ORDER_END, 0, NULL);
	tb_windows_free(engine->windows);
	tb_switching_free(engine->replay, engine->model);
	tb_exact_free(engine->exact);
	free(engine);
}

int tb_engine_run(struct tb_engine *engine, uint64_t n_rounds, struct tb_error *error)
{
	int status = send_order(engine->peers, ORDER_RUN, n_rounds, error);
	if (status != TB_OK)
		return status;
	if (engine->windows)
		return tb_windows_run(engine->windows, n_rounds, error);
	if (engine->exact)
		return tb_exact_run(
			engine->exact, &engine->model, &engine->replay, n_rounds, error);
	return engine->model->run(engine->replay, n_rounds, error);
}

void tb_engine_pause_at(struct tb_engine *engine, tb_time_ps at)
{
	if (send_order(engine->peers, ORDER_PAUSE_AT, (uint64_t)at, NULL) != TB_OK)
		tb_replay_no_memory(engine->replay, "orders to other processes");
	if (engine->exact)
		tb_exact_pause_at(engine->exact, at);
	else
		engine->replay->pause_at = at;
}

int tb_engine_checkpoint(struct tb_engine *engine, struct tb_error *error)
{
	int status = send_order(engine->peers, ORDER_CHECKPOINT, 0, error);
	if (status != TB_OK)
		return status;
	return engine->windows ? tb_windows_checkpoint(engine->windows, error)
			       : tb_records_report_bins(&engine->replay->records, error);
}

int tb_engine_finish(struct tb_engine *engine, struct tb_error *error)
{
	int status = send_order(engine->peers, ORDER_FINISH, 0, error);
	if (status != TB_OK)
		return status;
	if (engine->windows)
		return tb_windows_finish(engine->windows, error);
	return tb_clock_finish(engine->replay, engine->model, error);
}

static int obey(struct tb_engine *engine, struct peer_order order, struct tb_error *error)
{
	switch (order.kind) {
	case ORDER_RUN:
		return tb_engine_run(engine, order.n, error);
	case ORDER_PAUSE_AT:
		tb_engine_pause_at(engine, (tb_time_ps)order.n);
		return TB_OK;
	case ORDER_CHECKPOINT:
		return tb_engine_checkpoint(engine, error);
	case ORDER_FINISH:
		return tb_engine_finish(engine, error);
	case ORDER_END:
		break;
	}
	return TB_OK;
}

int tb_engine_follow(struct tb_engine *engine, struct tb_error *error)
{
	struct peer_order order;
	for (;;) {
		int status = next_order(engine->peers, &order, error);
		if (status != TB_OK || order.kind == ORDER_END)
			return status;
		status = obey(engine, order, error);
		if (status == TB_ENOMEM || status == TB_EIO)
			return status;
	}
}

struct tb_engine_stats tb_engine_stats_of(const struct tb_engine *engine)
{
	const struct tb_replay *replay = engine->replay;
	struct tb_engine_stats stats = replay->stats;
	tb_time_ps now = replay->now;
	stats.n_in_flight = tb_replay_in_flight(replay);
	if (engine->windows) {
		stats = tb_windows_stats(engine->windows);
		now = tb_windows_now(engine->windows);
	}
	stats.now_ps = replay->over ? replay->last_reported : now;
	stats.wait_ps = replay->side ? tb_joint_records_waits(replay->side->records)
				     : replay->records.wait_ps;
	stats.link_bytes = engine->model->link_bytes(replay);
	stats.packet_bytes = (uint32_t)replay->packet_bytes;
	return stats;
}

struct tb_engine_exchange tb_engine_exchange_of(const struct tb_engine *engine)
{
	return engine->windows ? tb_windows_exchange(engine->windows)
			       : (struct tb_engine_exchange){0};
}

tb_time_ps tb_engine_ideal_ps(const struct tb_network *network, struct tb_node source,
	struct tb_node destination, uint64_t bytes)
{
	return model_of(network)->carrier.ideal_ps(network, source, destination, bytes);
}

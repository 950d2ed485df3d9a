// A replay by the engine, or by the oracle with which it is compared (tests/oracle).
#ifndef TB_TESTS_REPLAY_EITHER_H
#define TB_TESTS_REPLAY_EITHER_H

#include "engine.h"
#include "oracle.h"

enum replayer { BY_ENGINE, BY_ORACLE, N_REPLAYERS };

static const char *const replayer_names[N_REPLAYERS] = {"engine", "oracle"};

struct replay {
	const struct tb_network *network;
	const struct tb_source *source;
	const struct tb_observer *observer;
	struct tb_engine_options options;
	uint64_t n_instants; // most points in time to simulate
	uint64_t n_between;  // two checkpoints of the engine; 0: there are none
	// Filled by replay_by.
	struct tb_engine_stats stats;
	struct tb_error error;
};

// run_engine runs an engine to the end, or has it follow where another process leads.
static inline int run_engine(struct tb_engine *engine, struct replay *replay)
{
	const struct tb_peer_streams *peers = replay->options.peers;
	if (peers && tb_peer_streams_rank(peers) > 0)
		return tb_engine_follow(engine, &replay->error);
	int status = 1;
	while (replay->n_between && status > 0) {
		status = tb_engine_run(engine, replay->n_between, &replay->error);
		if (status > 0 && tb_engine_checkpoint(engine, &replay->error) != TB_OK)
			return replay->error.code;
	}
	if (replay->n_between == 0)
		status = tb_engine_run(engine, replay->n_instants, &replay->error);
	return status < 0 ? status : tb_engine_finish(engine, &replay->error);
}

static inline int replay_by_engine(struct replay *replay)
{
	struct tb_engine *engine = NULL;
	int status = tb_engine_new(&engine, replay->network, replay->source,
		replay->observer, &replay->options, &replay->error);
	if (status == TB_OK)
		status = run_engine(engine, replay);
	if (engine)
		replay->stats = tb_engine_stats_of(engine);
	tb_engine_free(engine);
	return status;
}

static inline int replay_by_oracle(struct replay *replay)
{
	struct oracle_stats stats = {0};
	struct oracle_options options = {.seed = replay->options.seed,
		.bin_ps = replay->options.bin_ps,
		.faults = replay->options.faults,
		.delays = replay->options.delays,
		.job_bytes = replay->options.job_bytes,
		.n_jobs = replay->options.n_jobs,
		.service_levels = replay->options.service_levels,
		.n_service_levels = replay->options.n_service_levels,
		.n_instants = replay->n_instants};
	int status = oracle_replay(replay->network, replay->source, replay->observer,
		&options, &stats, &replay->error);
	replay->stats = (struct tb_engine_stats){.now_ps = stats.now_ps,
		.n_posted = stats.n_posted,
		.n_delivered = stats.n_delivered,
		.n_undelivered = stats.n_undelivered,
		.n_packets = stats.n_packets,
		.payload_bytes = stats.payload_bytes,
		.wait_ps = stats.wait_ps,
		.n_hops = stats.n_hops,
		.n_retries = stats.n_retries,
		.n_in_flight = stats.n_in_flight};
	return status;
}

// replay_by simulates a replay to its end, observer included: TB_OK, or negative with
// replay->error filled.
static inline int replay_by(enum replayer by, struct replay *replay)
{
	return by == BY_ENGINE ? replay_by_engine(replay) : replay_by_oracle(replay);
}

#endif

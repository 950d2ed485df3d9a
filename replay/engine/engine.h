// The replay engine: carries a source's messages through a network, event by event, and
// reports to an observer.
//
// The model is docs/model.md. What nodes do is the same everywhere (host/); how links and
// switches carry packets is the network's switching, of which there are several
// (switching/). Those are known here alone.
//
// One instant has three phases, so that the order of events within it cannot matter: what
// arrives, then who is led on (with circuits: which headers get VCs, oldest first), then
// what begins to cross each link.
//
// Several processes: each makes the same engine (tb_engine_options.peers). Rank 0 runs,
// checkpoints and finishes its own as ever, and alone has an observer; the others call
// tb_engine_follow, which has theirs do the same.
//
// Cost: about ten events per packet on six links, whatever the size of packets and flits.
// Memory: links and a record for each packet in flight. One caller's thread at a time per
// engine, which may use others for the parts of a large network (engine_options.h); a
// network may be shared. The same network, source and seed give the same calls to the
// observer.
#ifndef TB_ENGINE_H
#define TB_ENGINE_H

#include "engine_options.h"
#include "engine_stats.h"
#include "network.h"
#include "observer.h"
#include "source.h"

struct tb_engine; // opaque

// tb_engine_new borrows network, source and observer until tb_engine_free. `observer` may
// be NULL (nothing is recorded but flows). TB_EUSAGE when no model has the network's
// switching, or several processes cannot simulate it.
int tb_engine_new(struct tb_engine **engine, const struct tb_network *network,
	const struct tb_source *source, const struct tb_observer *observer,
	const struct tb_engine_options *options, struct tb_error *error) TB_MUST_USE;
void tb_engine_free(struct tb_engine *engine);

// tb_engine_run simulates about `n_instants` further instants, or windows of them where
// parts are simulated side by side: 1 when there is more to
// do, 0 when all is delivered, negative when source or observer failed (TB_EDEADLOCK
// included), TB_ENGINE_PAUSED (2) where tb_engine_pause_at said so.
int tb_engine_run(struct tb_engine *engine, uint64_t n_instants,
	struct tb_error *error) TB_MUST_USE;

// tb_engine_pause_at has tb_engine_run simulate no instant from `at` on, until it is
// called again; TB_TIME_NEVER, as at first: all. When it pauses, it is `at` in the
// replay, and the bins that end until then are closed. `at` is not in the past.
void tb_engine_pause_at(struct tb_engine *engine, tb_time_ps at);

// tb_engine_checkpoint passes all bins so far to the observer; the replay can go on.
int tb_engine_checkpoint(struct tb_engine *engine, struct tb_error *error) TB_MUST_USE;

// tb_engine_finish passes the rest to the observer: bins, flows, blame. Waits that still
// last are counted up to now. Call it once, also after an early end.
int tb_engine_finish(struct tb_engine *engine, struct tb_error *error) TB_MUST_USE;

// tb_engine_follow does with this process's engine what rank 0 does with its own, until
// that is freed. Errors of the replay are the same in rank 0, which reports them: then,
// as otherwise, TB_OK. TB_ENOMEM and TB_EIO are perhaps of this process alone, and
// returned at once: rank 0 waits for it in vain.
int tb_engine_follow(struct tb_engine *engine, struct tb_error *error) TB_MUST_USE;

struct tb_engine_stats tb_engine_stats_of(const struct tb_engine *engine);
struct tb_engine_exchange tb_engine_exchange_of(const struct tb_engine *engine);

// tb_engine_ideal_ps returns the time from post to delivery of a message on an idle
// network, by its switching; the network must be one that tb_engine_new accepts.
tb_time_ps tb_engine_ideal_ps(const struct tb_network *network, struct tb_node source,
	struct tb_node destination, uint64_t bytes);

#endif

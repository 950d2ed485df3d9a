// The hosts: what stands between the processes of a trace and the network interfaces
// (NICs) of the engine. Messages of processes go in, messages of NICs come out.
//
// Model (docs/model.md, "The host"): a process issues its messages one after another; a
// library cuts them, limits how many are under way, exchanges handshakes, and spreads
// them over the rails: round robin up to a size, evenly split above. Between processes of
// one node they may be copied through its memory instead. Messages that arrive on several
// rails are delivered in the order in which they were posted.
//
// It is the engine's source, and asks a source whose nodes are hosts; it is the engine's
// observer, and passes flows and blame of hosts and whole messages on to another. With
// one rail and a library that does nothing it changes nothing. Memory: about 190 bytes
// per message under way and 100 per flow.
#ifndef TB_HOST_H
#define TB_HOST_H

#include "engine_stats.h"
#include "observer.h"
#include "replay.h"

struct tb_host; // opaque

// tb_host_is_needed returns whether hosts of the network change anything: several rails,
// or a library.
bool tb_host_is_needed(const struct tb_network *network);

// tb_host_new borrows all it is given until tb_host_free. `observer` may be NULL. Between
// NICs a message takes `ideal_ps` on an idle network (tb_engine_ideal_ps).
int tb_host_new(struct tb_host **host, const struct tb_network *network,
	const struct tb_source *source, const struct tb_observer *observer,
	tb_ideal_time *ideal_ps, struct tb_error *error) TB_MUST_USE;
void tb_host_free(struct tb_host *host);

// tb_host_source and tb_host_observer return what to give the engine.
struct tb_source tb_host_source(struct tb_host *host);
struct tb_observer tb_host_observer(struct tb_host *host);

// tb_host_stats turns an engine's figures into those of whole messages, including
// messages that crossed no network.
void tb_host_stats(const struct tb_host *host, struct tb_engine_stats *stats);

// tb_host_ideal_ps returns what the network's part of the latency of a message of a
// process takes on an idle network: 0 of one that is copied within a node.
tb_time_ps tb_host_ideal_ps(const struct tb_host *host, const struct tb_message *message);

#endif

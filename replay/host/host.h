// The hosts: what stands between the processes of a trace and the network interfaces
// (NICs) of the engine. Messages of processes go in, messages of NICs come out.
//
// Model (docs/model.md, "The host"): a process issues its messages one after another; a
// library cuts them, lets so many be under way, exchanges handshakes, and
// spreads them over the rails: round robin up to a size, evenly split above. Between
// processes of one node they may be copied through its memory instead. What arrives on
// several rails is told in the order in which it was posted.
//
// It is a source to the engine and asks another one, whose nodes are hosts; and it is the
// engine's observer and tells another one, in whose flows and blame nodes are hosts too
// and messages are whole. With one rail and a library that does nothing it changes
// nothing. Memory: about 150 bytes a message under way, and 100 a flow.
#ifndef TB_HOST_H
#define TB_HOST_H

#include "carrier.h"
#include "engine_stats.h"
#include "observer.h"

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

// tb_host_source and tb_host_observer are what the engine is given.
struct tb_source tb_host_source(struct tb_host *host);
struct tb_observer tb_host_observer(struct tb_host *host);

// tb_host_stats makes an engine's figures those of whole messages, and counts what went
// through no network.
void tb_host_stats(const struct tb_host *host, struct tb_engine_stats *stats);

// tb_host_ideal_ps is what a message of a process takes on an idle network, hosts' part
// included.
tb_time_ps tb_host_ideal_ps(const struct tb_host *host, const struct tb_message *message);

#endif

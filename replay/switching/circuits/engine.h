// The replay engine: wormhole switching with held circuits, event by event.
//
// Model (MODEL.md; the definition is docs/model.md). A message is cut into packets. A
// packet's header takes one VC on each link of its path and keeps them all until its
// acknowledgement has come back and the end-of-packet token has passed; a header that
// finds no free VC waits in place, its flits in the FIFOs behind it. A link serves one VC
// until that has no flit to send or no room ahead. Flits of a packet cross a link in
// bursts of one FIFO's length without a gap, so the engine schedules bursts: its cost
// does not depend on flit or packet size, nor on idle links.
//
// One instant has three phases, so that the order of events within it cannot matter: what
// arrives, then which headers get VCs (oldest first), then which burst a link serves.
//
// Cost: about ten events a packet on six links. Memory: links, VCs and a record for each
// packet in flight, at most (VCs + 1) a node. One thread at a time per engine; a network
// may be shared. The same network, source and seed give the same calls to the observer.
#ifndef TB_ENGINE_H
#define TB_ENGINE_H

#include "faults.h"
#include "network.h"
#include "observer.h"
#include "source.h"

struct tb_engine; // opaque

struct tb_engine_options {
	uint64_t seed;
	tb_time_ps
		bin_ps; // width of a time bin; 0: as wide as keeps their number bounded
	bool without_blame;		// do not tell who waited for whom
	const struct tb_faults *faults; // what dies; read by tb_engine_new; NULL: nothing
	// By link, or NULL. When a packet is in at its destination, each link of its way
	// but the last gains the time from its header's entering the network until it
	// went on from this link's far end: the delay that paper 000, 5.4, sums by the
	// link that packets come in by. The caller may read and clear it between calls.
	tb_time_ps *delays;
};

// tb_engine_new borrows network, source and observer until tb_engine_free. `observer` may
// be NULL (nothing is recorded but flows).
int tb_engine_new(struct tb_engine **engine, const struct tb_network *network,
	const struct tb_source *source, const struct tb_observer *observer,
	const struct tb_engine_options *options, struct tb_error *error) TB_MUST_USE;
void tb_engine_free(struct tb_engine *engine);

// tb_engine_run simulates about `n_instants` further instants: 1 when there is more to
// do, 0 when all is delivered, negative when source or observer failed (TB_EDEADLOCK
// included).
int tb_engine_run(struct tb_engine *engine, uint64_t n_instants,
	struct tb_error *error) TB_MUST_USE;

// tb_engine_checkpoint tells the observer all bins so far; the replay can go on.
int tb_engine_checkpoint(struct tb_engine *engine, struct tb_error *error) TB_MUST_USE;

// tb_engine_finish tells the observer what is left: bins, flows, blame. Waits that still
// last are counted up to now. Call once, also after an early end.
int tb_engine_finish(struct tb_engine *engine, struct tb_error *error) TB_MUST_USE;

struct tb_engine_stats {
	tb_time_ps now_ps;	// simulated time; after the end, when the source was last
				// told of a message sent or delivered
	uint64_t n_posted;	// messages
	uint64_t n_delivered;	// messages
	uint64_t n_packets;	// delivered
	uint64_t payload_bytes; // delivered
	uint64_t wait_ps;	// of all headers at all switches, ended waits only
	uint64_t n_events;
	uint64_t n_hops;	// links crossed by packets
	uint32_t n_in_flight;	// packets
	uint32_t link_bytes;	// of the engine's memory, for each link
	uint32_t packet_bytes;	// and for each packet that can be in flight
	uint64_t n_retries;	// packets sent again after an error
	uint64_t n_undelivered; // messages given up
};

struct tb_engine_stats tb_engine_stats(const struct tb_engine *engine);

// tb_engine_ideal_ps is what a message takes from post to delivery on an idle network:
// the overheads, the first fetch, the packets one after another at the pace of the
// slowest of link, bus and acknowledged VCs, the way of the last, and its drain.
tb_time_ps tb_engine_ideal_ps(const struct tb_network *network, struct tb_node source,
	struct tb_node destination, uint64_t bytes);

#endif

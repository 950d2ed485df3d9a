// The observer: what receives the records of a replay, per link and time bin, per flow,
// and who waited for whom. The store implements it; the engine knows nothing of files.
//
// Order: start passes the bin width, then bin is called once per time bin, in order, with
// the links that saw anything in it, by link id. A further start voids all bins passed
// before it: they follow again, either at a checkpoint of a long replay or with wider
// bins, which keep their number bounded. Flows, blame and trees come once, at the end,
// sorted. All times are simulated picoseconds. A callback that returns a negative status
// ends the replay with it.
#ifndef TB_OBSERVER_H
#define TB_OBSERVER_H

#include "ids.h"
#include "status.h"
#include "units.h"

#include <stddef.h>

// One link in one time bin. The sum over bins is the figure of the whole replay, except
// for longest_wait_ps, which is a maximum.
struct tb_link_sample {
	struct tb_link link;
	uint32_t n_packets; // whose header crossed the link in this bin
	uint32_t n_blocked; // headers that came in by this link and found no free VC
	uint64_t wait_ps; // headers that came in by this link waited at its far end for a
			  // VC
	uint64_t stall_ps;	  // a VC held, nothing moving
	uint64_t busy_ps;	  // bytes moving
	uint64_t bytes;		  // wire bytes
	uint64_t longest_wait_ps; // longest single wait that ended (or still lasts) in
				  // this bin
};

struct tb_flow_sample {
	uint32_t job;
	struct tb_node source;
	struct tb_node destination;
	uint64_t n_messages; // delivered
	uint64_t n_packets;
	uint64_t bytes; // payload, delivered
	// Sums over messages, whose latency is from post to delivery. It has three parts
	// (docs/model.md, "Latency"): own queue, network, and the rest is software.
	uint64_t latency_ps;
	uint64_t queue_ps;
	uint64_t network_ps;
	uint64_t worst_latency_ps; // largest of one message
	uint64_t ideal_ps;   // sum of the network's part of the same messages when it is
			     // idle
	uint64_t wait_ps;    // headers of this flow, over all links
	tb_time_ps first_ps; // when the first of its delivered messages was posted
	tb_time_ps last_ps;  // when the last of them was delivered
	tb_time_ps last_post_ps; // and posted
};

// Waits of one flow's headers that came in by a link, for a VC that another flow's packet
// held, and the root: the link at the end of the chain of held VCs. The holder may itself
// have waited for a VC further on, whose holder waited, and so on; the last link in this
// chain, whose holders were held up by nobody, is what limits. Where there are too many
// flows to keep apart, smaller waits are added up by job, and their node ids are
// TB_ID_NONE. The sums by link, and by link, victim job and culprit job, are the
// link's wait to the picosecond.
struct tb_blame_sample {
	struct tb_link link; // by which the waiting header had come in
	struct tb_link root;
	uint32_t victim_job;
	struct tb_node victim_source;
	struct tb_node victim_destination;
	uint32_t culprit_job;
	struct tb_node culprit_source;
	struct tb_node culprit_destination;
	uint64_t n_waits;
	uint64_t wait_ps;
};

// Messages of a flow that were given up because a link or switch had died.
struct tb_undelivered_sample {
	uint32_t job;
	struct tb_node source;
	struct tb_node destination;
	struct tb_link dead; // that they met last; TB_ID_NONE: their node had no route
	uint64_t n_messages;
	uint64_t bytes;	     // payload of them all, part of which may have arrived
	tb_time_ps first_ps; // when the first of them was given up
};

// The wait of headers in one slice of time, by its root and by the link over which they
// had come in: a congestion tree as it grows and dissolves. In a busy network the smaller
// entries are added up, and their root and link are TB_ID_NONE. Slice 0 begins with the
// replay; all slices together are the waits of the replay to the picosecond.
struct tb_tree_sample {
	uint32_t bin;
	struct tb_link root;
	struct tb_link link;
	uint64_t wait_ps;
};

// One delivered message. Its latency is delivered_ps - posted_ps; what is neither own
// queue nor network is software.
struct tb_message_sample {
	uint64_t number; // of the replay's messages in the order of posting, from 0
	uint64_t bytes;	 // payload
	uint32_t job;
	struct tb_node source;
	struct tb_node destination;
	tb_time_ps posted_ps;
	tb_time_ps started_ps; // its first packet entered the network
	tb_time_ps delivered_ps;
	uint64_t queue_ps, network_ps;
	uint64_t ideal_ps; // of network_ps
};

struct tb_observer {
	void *context;
	int (*start)(void *context, tb_time_ps bin_ps);
	// Bin number `bin` covers [bin * bin_ps, (bin + 1) * bin_ps). `samples` lives for
	// the call.
	int (*bin)(void *context, uint64_t bin, const struct tb_link_sample *samples,
		size_t n);
	int (*flows)(void *context, const struct tb_flow_sample *samples, size_t n);
	int (*blame)(void *context, const struct tb_blame_sample *samples, size_t n);
	// Once, after blame, sorted by job, source, destination, link; not without any.
	// May be NULL.
	int (*undelivered)(
		void *context, const struct tb_undelivered_sample *samples, size_t n);
	// Follows those; by bin, root and link. NULL: not asked for.
	int (*trees)(void *context, tb_time_ps bin_ps,
		const struct tb_tree_sample *samples, size_t n);
	// Once, at the end: the messages that were kept (message_book.h), by job, source,
	// destination and number. NULL: not asked for.
	int (*messages)(void *context, const struct tb_message_sample *samples, size_t n);
};

#endif

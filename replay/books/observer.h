// What a replay tells: per link and time bin, per flow, and who waited for whom. The
// store implements it; the engine knows nothing of files.
//
// Order: start tells the bin width, then bin is called once a time bin, bins in order,
// each with the links that saw anything in it, by link id. A further start voids all bins
// told before: they follow anew (a checkpoint of a long run, or wider bins, so that their
// number stays bounded whatever the length of the run). Flows, blame and trees come once,
// at the end, sorted. All times are simulated picoseconds. A callback that returns
// negative ends the replay with that status.
#ifndef TB_OBSERVER_H
#define TB_OBSERVER_H

#include "ids.h"
#include "status.h"
#include "units.h"

#include <stddef.h>

// One link in one time bin. Sums over bins are the link's whole-run figures but for
// longest_wait_ps (a maximum).
struct tb_link_sample {
	struct tb_link link;
	uint32_t n_packets; // whose header crossed the link in this bin
	uint32_t n_blocked; // headers that came in by this link and found no free VC
	uint64_t wait_ps;  // headers that came in by this link stood at its far end for a
			   // VC
	uint64_t stall_ps; // a VC held, nothing moving
	uint64_t busy_ps;  // bytes moving
	uint64_t bytes;	   // wire bytes
	uint64_t longest_wait_ps; // longest single wait that ended (or still lasts) in
				  // this bin
};

struct tb_flow_sample {
	uint32_t job;
	struct tb_node source;
	struct tb_node destination;
	uint64_t n_messages; // delivered
	uint64_t n_packets;
	uint64_t bytes;		   // payload, delivered
	uint64_t latency_ps;	   // sum over messages, from post to delivery
	uint64_t worst_latency_ps; // largest of one message
	uint64_t ideal_ps;   // sum of what the same messages take on an idle network
	uint64_t wait_ps;    // headers of this flow, over all links
	tb_time_ps first_ps; // when the first of its delivered messages was posted
	tb_time_ps last_ps;  // when the last of them was delivered
};

// Waits of one flow's headers that came in by a link, for a VC that another flow's packet
// held, and the root: the link at the end of the chain of held VCs. The holder may itself
// have waited for a VC further on, whose holder waited, and so on; the last link in this
// chain, whose holders were held up by nobody, is what limits. Where there are too many
// flows to tell apart, those of the smaller waits are told by job alone: node ids are
// then TB_ID_NONE. The sums by link, and by link, victim job and culprit job, are the
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

// Messages of a flow that were given up because something had died.
struct tb_undelivered_sample {
	uint32_t job;
	struct tb_node source;
	struct tb_node destination;
	struct tb_link dead; // that they met last; TB_ID_NONE: their node had no route
	uint64_t n_messages;
	uint64_t bytes;	     // payload of them all, part of which may have arrived
	tb_time_ps first_ps; // when the first of them was given up
};

// What headers waited in a slice of time, by the root that they waited for in the end and
// the link by which they had come in: a congestion tree while it grows and dissolves. In
// a busy network the lighter ones are told together: root and link are then TB_ID_NONE.
// Slices are as wide as told, bin 0 begins with the run; all of them together are the
// run's waits to the picosecond.
struct tb_tree_sample {
	uint32_t bin;
	struct tb_link root;
	struct tb_link link;
	uint64_t wait_ps;
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
};

#endif

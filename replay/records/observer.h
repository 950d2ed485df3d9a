// The observer: what receives the records of a replay, per link and time bin, per flow,
// and who waited for whom. The store implements it; the engine knows nothing of files.
//
// Order: start passes the bin width, then bin is called once per time bin, in order, with
// the links that saw anything in it, by link id. A further start voids all bins passed
// before it: they follow again, either at a checkpoint of a long replay or with wider
// bins, which keep their number bounded. Flows and blame come once, at the end, sorted.
// All times are simulated picoseconds. A callback that returns a negative status ends the
// replay with it.
#ifndef TB_OBSERVER_H
#define TB_OBSERVER_H

#include "ids.h"
#include "link_figures.h"
#include "status.h"
#include "units.h"

#include <stddef.h>

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
	uint64_t blamed_ps;  // anybody's headers, for VCs that packets of this flow held
	tb_time_ps first_ps; // when the first of its delivered messages was posted
	tb_time_ps last_ps;  // when the last of them was delivered
	tb_time_ps last_post_ps; // and posted
};

// Who waited for whom. A header of one flow, the victim, that came in by a link waited
// for a VC that a packet of another, the culprit, held. The root is the link at the end
// of the chain of held VCs: the holder may itself have waited for a VC further on, whose
// holder waited, and so on; the last link in this chain, whose holders were held up by
// nobody, is what limits.
//
// Two kinds of records hold these waits. Sums hold all of them, to the picosecond. Of
// what would be too many the heaviest are kept, by space-saving: such a sample surely
// waited for wait_ps, at most for wait_ps + error_ps, and nothing that is left out waited
// longer than the list's floor_ps. In a small replay nothing is left out; then all errors
// and the floor are 0.
struct tb_root_sample { // sum
	struct tb_link root;
	uint64_t n_waits;
	uint64_t wait_ps;
};

struct tb_root_bin_sample { // sum
	uint32_t bin;
	struct tb_link root;
	uint64_t wait_ps;
};

struct tb_root_job_sample { // sum; none when there is one job
	struct tb_link root;
	uint32_t victim_job;
	uint64_t n_waits;
	uint64_t wait_ps;
};

struct tb_job_wait_sample { // sum
	uint32_t bin;
	uint32_t victim_job;
	uint32_t culprit_job;
	uint64_t n_waits; // that ended in the slice
	uint64_t wait_ps;
};

struct tb_job_link_sample {  // sum; none when there is one job
	struct tb_link link; // by which the waiting headers had come in
	uint32_t job;
	uint64_t wait_ps;   // of the job's headers
	uint64_t blamed_ps; // of anybody's headers, for VCs that the job's packets held
};

struct tb_blame_sample {     // heaviest
	uint32_t bin;	     // of the list by time, else 0
	struct tb_link link; // of the list by link, else TB_ID_NONE
	uint32_t victim_job;
	struct tb_node victim_source;
	struct tb_node victim_destination;
	uint32_t culprit_job;
	struct tb_node culprit_source;
	struct tb_node culprit_destination;
	uint64_t n_waits; // of those counted in wait_ps that ended in the slice
	uint64_t wait_ps;
	uint64_t error_ps;
};

// How flows are grouped: by destination node, by its leaf switch, by the source's.
enum tb_grouping {
	TB_GROUP_DESTINATION,
	TB_GROUP_DESTINATION_LEAF,
	TB_GROUP_SOURCE_LEAF,
	TB_GROUPINGS
};

// tb_grouping_name is the word for a grouping, in the store and in reports.
static inline const char *tb_grouping_name(enum tb_grouping grouping)
{
	static const char *const names[TB_GROUPINGS] = {
		[TB_GROUP_DESTINATION] = "destination",
		[TB_GROUP_DESTINATION_LEAF] = "destination leaf",
		[TB_GROUP_SOURCE_LEAF] = "source leaf"};
	return names[grouping];
}

struct tb_group_sample { // heaviest
	uint32_t victim; // a node or a switch
	uint32_t culprit;
	uint64_t n_waits; // of those counted in wait_ps
	uint64_t wait_ps;
	uint64_t error_ps;
};

// The waits of a root's congestion tree, as it grows and dissolves.
struct tb_tree_sample { // heaviest
	uint32_t bin;
	struct tb_link root;
	struct tb_link link; // by which the headers had come in
	uint64_t wait_ps;
	uint64_t error_ps;
};

// All of them, each array sorted by its keys. Slices of time: slice b covers
// [b * width, (b + 1) * width), and gets the part of a wait that lies in it. The width of
// sums is that of the heaviest, or 2, 4, 8, ... times.
struct tb_blame_record {
	tb_time_ps sum_bin_ps; // of root_bins and job_waits
	tb_time_ps bin_ps;     // of by_time and trees
	const struct tb_root_sample *roots;
	const struct tb_root_bin_sample *root_bins;
	const struct tb_root_job_sample *root_jobs;
	const struct tb_job_wait_sample *job_waits;
	const struct tb_job_link_sample *job_links;
	const struct tb_blame_sample *by_link;
	const struct tb_blame_sample *by_time;
	const struct tb_group_sample *groups[TB_GROUPINGS];
	const struct tb_tree_sample *trees;
	size_t n_roots, n_root_bins, n_root_jobs, n_job_waits, n_job_links;
	size_t n_by_link, n_by_time, n_groups[TB_GROUPINGS], n_trees;
	uint64_t by_link_floor_ps, by_time_floor_ps, group_floor_ps[TB_GROUPINGS];
	uint64_t tree_floor_ps;
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

// Frames for which the queue before a link had no room.
struct tb_port_loss_sample {
	struct tb_link link;
	uint64_t n_frames;
	uint64_t bytes; // on the wire
};

// The same by flow, with acknowledgements of what it sent, and what TCP sent again.
struct tb_flow_loss_sample {
	uint32_t job;
	struct tb_node source;
	struct tb_node destination;
	uint64_t n_frames;
	uint64_t bytes;
	uint64_t n_resent; // segments
};

// A connection had lost frames and waited for its retransmission timer, which ran out, to
// give up what was under way or to probe for it; or a node waited for its retry timer to
// send a packet again that had met a dead link. Of such packets of a flow that wait at
// one time the first stands for all.
struct tb_timeout_sample {
	uint32_t job;
	struct tb_node source;
	struct tb_node destination;
	tb_time_ps from_ps, to_ps; // since it last sent, heard of anything new, or failed
	struct tb_link lost;	   // where its last frame before to_ps was lost
};

// Arrays sorted by their keys; time-outs of a flow by time.
struct tb_loss_record {
	const struct tb_port_loss_sample *ports;
	const struct tb_flow_loss_sample *flows;
	const struct tb_timeout_sample *timeouts;
	size_t n_ports, n_flows, n_timeouts;
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
	uint64_t ideal_ps; // of network_ps, and no more than that
};

struct tb_kept_bins;

struct tb_observer {
	void *context;
	int (*start)(void *context, tb_time_ps bin_ps);
	// Bin number `bin` covers [bin * bin_ps, (bin + 1) * bin_ps). `samples`, sorted
	// by link, lives for the call.
	int (*bin)(void *context, uint64_t bin, const struct tb_link_sample *samples,
		size_t n);
	// In place of `bin`, all bins at once, packed (replay_records.h), which become
	// the observer's. NULL: not asked for.
	int (*kept)(void *context, struct tb_kept_bins *kept);
	int (*flows)(void *context, const struct tb_flow_sample *samples, size_t n);
	// NULL: not asked for. The arrays live for the call.
	int (*blame)(void *context, const struct tb_blame_record *record);
	// Once, after blame, sorted by job, source, destination, link; not without any.
	// May be NULL.
	int (*undelivered)(
		void *context, const struct tb_undelivered_sample *samples, size_t n);
	// Once, at the end: the messages that were kept (slowest_messages.h), by job,
	// source, destination and number. NULL: not asked for.
	int (*messages)(void *context, const struct tb_message_sample *samples, size_t n);
	// Once, at the end; not when nothing was lost or sent again. May be NULL. The
	// arrays live for the call.
	int (*losses)(void *context, const struct tb_loss_record *record);
};

#endif

// Endless synthetic traffic as a source: jobs whose nodes send for as long as the engine
// asks, so that a steady state can be measured.
//
// Model: every sender of a job has messages for the targets that the job's rule gives.
// Without a load each keeps `depth` messages at its node, so that the node never idles;
// with one, messages are issued on time whatever became of earlier ones, and what the
// network cannot take piles up. A write sends the data; a read sends a request of
// TB_TRAFFIC_REQUEST_BYTES, and the target sends the data back, both under the job of the
// reader. The first messages are spread over one message's time, so that nodes do not
// march in step.
//
// Destinations, sizes, times and the choice of reads come from streams of their own for
// each sender. Calls fail only for lack of memory.
#ifndef TB_TRAFFIC_H
#define TB_TRAFFIC_H

#include "source.h"
#include "synth.h"

#define TB_TRAFFIC_REQUEST_BYTES 64 // one write block (paper 000, 2.2.1)

enum tb_traffic_rule {
	TB_TRAFFIC_RANDOM, // any target but the sender itself, anew for each message
	TB_TRAFFIC_FIXED,  // one target for each sender; the sender itself: it is silent
};

struct tb_traffic_job {
	const uint32_t *senders; // nodes
	uint32_t n_senders;
	enum tb_traffic_rule rule;
	// Nodes; for TB_TRAFFIC_FIXED as many as senders, else different ones.
	const uint32_t *targets;
	uint32_t n_targets;
	uint64_t message_bytes; // the mean
	enum tb_synth_dist size_dist;
	double load;		   // of rate_bytes_per_s; 0: all that the network takes
	uint64_t rate_bytes_per_s; // of load 1; 0: TB_SYNTH_RATE_BYTES_PER_S
	enum tb_synth_dist time_dist; // with a load
	uint32_t depth;		      // without a load; at least 1
	double reads;		      // share of reads
	uint32_t n_messages;	      // of each sender; 0: without end
};

struct tb_traffic; // opaque

// tb_traffic_new copies the jobs; a job's index here is its number in flows.
int tb_traffic_new(struct tb_traffic **traffic, const struct tb_traffic_job *jobs,
	uint32_t n_jobs, uint64_t seed, struct tb_error *error) TB_MUST_USE;
void tb_traffic_free(struct tb_traffic *traffic);

struct tb_source tb_traffic_source(struct tb_traffic *traffic);

struct tb_traffic_stats {
	uint64_t n_posted;     // messages
	uint64_t n_done;       // of these, reads complete with their data
	uint64_t posted_bytes; // of data
	tb_time_ps latency_ps; // sum, from post to delivery
};

// tb_traffic_stats_of returns the figures of one job.
struct tb_traffic_stats tb_traffic_stats_of(
	const struct tb_traffic *traffic, uint32_t job);

#endif

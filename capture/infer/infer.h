// Infers a job from a packet capture: the messages, what each waited for, and the
// computation between.
//
// The rules are numbered in docs/closed-loop.md (L1 and so on), with the confidence of
// each. In short: the bytes of a connection are cut into messages (infer/infer_impl.h);
// what stands in the ports of the captured network gives when a message was delivered and
// since when its sender can have called for it (infer/infer_impl.h); events of a node
// that recur give what a message waits for, and where none recur, the last delivery does
// (infer/infer_impl.h).
//
// Nothing is known of the program or its protocol; a job is as good as the order of
// events that it was captured in. Memory grows with the messages, not with the packets.
// Any thread, one object at a time.
#ifndef TB_INFER_H
#define TB_INFER_H

#include "job.h"
#include "packets.h"

struct tb_infer_report {
	uint64_t n_records;	 // looked at: data, retransmissions, acknowledgements
	uint64_t n_messages;	 // of the job
	uint64_t n_split;	 // of them by the sizes of others (rule L3)
	uint64_t bytes;		 // of all messages
	uint64_t n_unfinished;	 // at the end of the capture, kept as they were
	uint64_t n_missing;	 // messages with bytes that were never captured
	uint64_t missing_bytes;	 // of them
	uint64_t n_repeated;	 // records of retransmissions
	uint64_t n_recurring;	 // causes that recur, and a gap as long each time
	uint64_t n_nearest;	 // cause is the last delivery
	uint64_t n_first;	 // nothing came before
	uint64_t n_hidden;	 // when the program called is hidden by its own queue
	uint64_t n_untold;	 // computation before it may be the captured path's time
	int64_t path_ns;	 // one way, of the captured network, mean of messages
	uint64_t n_closed;	 // windows of receivers that opened again
	int64_t closed_ns;	 // they were closed
	uint64_t n_acknowledged; // deliveries that an acknowledgement dates earlier than
				 // the ports do
	uint64_t n_unnumbered;	 // datagrams, of which nothing says where messages end
	uint64_t port_bytes_per_s; // median of the nodes' ports; 0: not seen
	uint64_t bucket_bytes;	   // that a port lets pass at once after a pause
	uint64_t n_unplaced;	   // records left out: endpoints without a node
	uint32_t n_endpoints_unplaced;
	tb_time_ps squeezed_ps; // pauses taken out (packets.h)
	bool is_cut;		// the capture is damaged there (packets.h)
	tb_time_ps span_ps;	// from the first record to the last
};

// tb_infer_options returns the options with which packets must be opened to be inferred
// from: `options` with acknowledgements and retransmissions kept, and time not scaled.
struct tb_packets_options tb_infer_options(const struct tb_packets_options *options);

// tb_infer_job reads packets that were opened with tb_infer_options to their end and
// makes a job: a rank per node, a tag per message of an ordered pair. Its notes are the
// report in sentences. With `bounded` it gets bounds (job.h): jobs with the least and the
// most computation that the capture allows, each with the least and the most of what may
// be a cause. TB_EFORMAT when no message is left, TB_ECAPACITY when there are
// too many; errors of tb_packets_next.
int tb_infer_job(struct tb_packets *packets, bool bounded, struct tb_job **job,
	struct tb_infer_report *report, struct tb_error *error) TB_MUST_USE;

// tb_infer_jobs makes a job of each of the packets' jobs instead (tb_packets_job_name),
// and stores them in `jobs`, which has room for tb_packets_n_jobs: NULL for one of which
// no message was captured. Its ranks are its nodes, in their order. All times count from
// the beginning of the capture, so that jobs begin when they did. What is not counted by
// message stands in no report. TB_EUSAGE when jobs exchange messages; else as
// tb_infer_job.
int tb_infer_jobs(struct tb_packets *packets, bool bounded, struct tb_job **jobs,
	struct tb_error *error) TB_MUST_USE;

#endif

// When packets stood in the queue before a link to a node, and whose they were.
//
// Waits for the link are stored by time bin, and messages to the node each by itself.
// The bins tell when the queue stood, to the width of a bin: it stands in those with at
// least TB_QUEUE_QUIET percent of the wait of the worst, and on the slopes down to where
// it stops falling. It stands on, perhaps farther back, as long as TB_QUEUE_SENDERS nodes
// have messages under way to the node and the link is busy or stalled for TB_QUEUE_HELD
// percent of each bin. Messages that follow each other without a gap are a stretch; one
// that lost as much time in the network, in proportion, is one in which the queue stood,
// and begins and ends within a message's latency. Times are what both have in common.
//
// Of many messages a store keeps the slowest. Then these trim the ends of a time alone,
// and may not show all senders.
#ifndef TB_QUEUE_TIMES_H
#define TB_QUEUE_TIMES_H

#include "during.h"
#include "waits.h"

#define TB_QUEUE_TIMES_MOST 3 // as many as a sentence can name

// In quieter bins, and stretches of messages, is other traffic, now and then.
#define TB_QUEUE_QUIET 5.0

// A link that rests for longer has no queue behind it; fewer senders may fill it without.
#define TB_QUEUE_HELD	 90.0
#define TB_QUEUE_SENDERS 3

// What a link did in a bin.
struct tb_link_bin {
	uint64_t wait_ps, busy_ps, stall_ps;
};

// tb_link_bins_add adds that of each bin, of which `bins` has info->n_bins. Cost: a
// look-up per bin. TB_EFORMAT when the file is damaged, TB_ENOMEM.
int tb_link_bins_add(struct tb_link_bin *bins, struct tb_run *run, struct tb_link link,
	struct tb_error *error) TB_MUST_USE;

struct tb_queue_times {
	struct tb_span at[TB_QUEUE_TIMES_MOST]; // in order; those with the shortest gaps
						// between them are joined
	uint32_t n;				// 0: nobody sent
	bool within;		   // the queue stood within them, perhaps for less:
				   // they are a few bins, and no message tells more
	struct tb_senders senders; // of the time in which most sent
	bool at_least, at_most;	   // that many, of senders.n
	uint32_t most_senders;	   // no more sent then; as many where at_least is false
	uint64_t busy_ps, stall_ps, span_ps; // of the link, in these times; their length
};

// tb_queue_times_find looks for them in n spans of time, and from there on. Cost: a
// look-up per bin, a count per bin and message, and reads all kept messages. TB_EFORMAT
// when the file is damaged, TB_ENOMEM.
int tb_queue_times_find(struct tb_queue_times *times, struct tb_run *run,
	struct tb_link link, const struct tb_span *spans, uint32_t n,
	struct tb_error *error) TB_MUST_USE;

#endif

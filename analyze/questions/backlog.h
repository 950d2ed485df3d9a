// Backlog at the senders: nodes whose messages spend much of their latency behind others
// of the same node, and whether such a node posts more than its links carry.
#ifndef TB_BACKLOG_H
#define TB_BACKLOG_H

#include "run.h"

// A node of which so many percent of its messages' latency is own queue has a backlog.
#define TB_BACKLOG_PERCENT 50.0

struct tb_backlog {
	uint32_t n_nodes; // that have one
	// Of these the node whose messages stood longest, all together.
	struct tb_node node;
	uint64_t n_messages, bytes;    // delivered
	uint64_t latency_ps, queue_ps; // sums over its messages
	tb_time_ps posting_ps;	       // from its first post to its last
	double carrying_ps;	       // what its links take for the bytes, at best
};

// tb_backlog_find fills `backlog`; n_nodes is 0 when no node has one, or the run did not
// end. Cost: a row for each node that sent.
int tb_backlog_find(struct tb_backlog *backlog, struct tb_run *run,
	struct tb_error *error) TB_MUST_USE;

#endif

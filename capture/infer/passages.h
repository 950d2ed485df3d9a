// The ports of the captured network: when a record was delivered, and since when its
// sender can have wanted to send it. Rules L5 and L6 of docs/closed-loop.md.
//
// Model: each node has one port with a rate and a bucket of bytes that pass at once after
// a pause, the same in both directions (a line has no bucket). A capture sees a record
// between the sender's port and the receiver's. What stands in the receiver's port is the
// sum of what was sent to it; a sender whose records follow each other at its rate had a
// queue.
#ifndef TB_PASSAGES_H
#define TB_PASSAGES_H

#include "message_list.h"

struct tb_passages; // opaque

// tb_passages_new measures rates and bucket in records of the beginning of a capture.
int tb_passages_new(struct tb_passages **ports, const struct tb_packet_record *records,
	size_t n) TB_MUST_USE;
void tb_passages_free(struct tb_passages *ports);

// tb_passages_add takes up the next record in the order of time.
int tb_passages_add(struct tb_passages *ports, const struct tb_packet_record *record,
	struct tb_passage *passage) TB_MUST_USE;

// tb_passages_report writes the rate and the bucket.
void tb_passages_report(const struct tb_passages *ports, struct tb_infer_report *report);

#endif

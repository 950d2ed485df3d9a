// A packet trace as a source: each captured frame is a message of its wire length, posted
// when it was captured, whatever the network makes of it (open loop).
//
// Of a capture that breaks off, all whole packets are posted and delivered; then `finish`
// returns the error.
#ifndef TB_OPEN_LOOP_H
#define TB_OPEN_LOOP_H

#include "packets.h"
#include "source.h"

struct tb_open_loop {
	struct tb_packets *packets;
	uint32_t job; // the only one whose packets are posted; TB_ID_NONE: all are
	struct tb_packet head;
	bool has_head;
	int status; // of the last read
	struct tb_error error;
};

// tb_open_loop_init reads the first packet; it borrows `packets`.
void tb_open_loop_init(struct tb_open_loop *loop, struct tb_packets *packets);

// tb_open_loop_init_job does so for one job of the capture: other packets are passed
// over.
void tb_open_loop_init_job(
	struct tb_open_loop *loop, struct tb_packets *packets, uint32_t job);

// tb_open_loop_source makes the source; it borrows `loop`.
struct tb_source tb_open_loop_source(struct tb_open_loop *loop);

#endif

// Reads what processes did with sockets of TCP (tbt_format.h) as calls.
//
// Cost: n log n in the records of all processes. Memory: 80 bytes per record, and 64 per
// message.
#ifndef TB_TBT_SOCKETS_H
#define TB_TBT_SOCKETS_H

#include "tbt_reader.h"

struct tb_tbt_sockets; // opaque

// tb_tbt_sockets_new begins; `reader` is borrowed. Free them after a failure, too.
int tb_tbt_sockets_new(
	struct tb_tbt_sockets **sockets, struct tb_tbt_reader *reader) TB_MUST_USE;
void tb_tbt_sockets_free(struct tb_tbt_sockets *sockets); // NULL is fine

// tb_tbt_sockets_rank takes the lanes of the reader's current rank, which ran on `host`.
// TB_EFORMAT for records that no process can have written.
int tb_tbt_sockets_rank(struct tb_tbt_sockets *sockets, const char *host,
	const struct tb_tbt_lane *lanes, size_t n_lanes) TB_MUST_USE;

// tb_tbt_sockets_clocks passes the messages between processes to the clocks, after all
// ranks were taken with the times of their own clocks; `clock_of` is by rank. It does
// nothing else.
int tb_tbt_sockets_clocks(struct tb_tbt_sockets *sockets, const uint32_t *clock_of,
	struct tb_tbt_clocks *clocks) TB_MUST_USE;

// tb_tbt_sockets_calls adds the calls, after all ranks were taken.
int tb_tbt_sockets_calls(struct tb_tbt_sockets *sockets) TB_MUST_USE;

#endif

// Reads what processes did with sockets of TCP (tbt_format.h) as calls.
//
// Cost: n log n in the records of all processes. Memory: 80 bytes per record, and 64 per
// message.
#ifndef TB_TBT_SOCKETS_H
#define TB_TBT_SOCKETS_H

#include "tbt_reader.h"

struct tb_tbt_sockets; // opaque

// tb_tbt_sockets_new begins; `reader` is borrowed.
int tb_tbt_sockets_new(struct tb_tbt_sockets **sockets, struct tb_tbt_reader *reader,
	struct tb_error *error) TB_MUST_USE;
void tb_tbt_sockets_free(struct tb_tbt_sockets *sockets); // NULL is fine

// tb_tbt_sockets_rank takes the records of the reader's rank, which ran on `host`.
// TB_EFORMAT for records that cannot be a process's.
int tb_tbt_sockets_rank(struct tb_tbt_sockets *sockets, const char *host,
	struct tb_error *error) TB_MUST_USE;

// tb_tbt_sockets_clocks gives the clocks the messages between them, when all ranks are
// taken in the time of their own clocks; `clock_of` is by rank. Nothing else is done
// then.
int tb_tbt_sockets_clocks(struct tb_tbt_sockets *sockets, const uint32_t *clock_of,
	struct tb_tbt_clocks *clocks, struct tb_error *error) TB_MUST_USE;

// tb_tbt_sockets_calls adds the calls, when all ranks are taken.
int tb_tbt_sockets_calls(
	struct tb_tbt_sockets *sockets, struct tb_error *error) TB_MUST_USE;

#endif

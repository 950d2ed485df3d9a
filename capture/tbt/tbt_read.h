// Reads a job.tbt, as `tailback trace` writes it (tbt_format.h), as calls.
//
// Rules (docs/inputs.md): the time between a rank's calls is computation; the time within
// calls is not, nor is that between calls of MPI_Test that find nothing one after
// another. One-sided communication becomes messages (tbt_windows.c).
#ifndef TB_TBT_READ_H
#define TB_TBT_READ_H

#include "bytes.h"
#include "calls.h"
#include "reading.h"

#include <stdbool.h>

// tb_tbt_begins returns whether a file begins like a job.tbt.
bool tb_tbt_begins(struct tb_bytes first);

// tb_tbt_is_of_sockets returns whether a file is a job.tbt of processes traced with
// --sockets.
bool tb_tbt_is_of_sockets(struct tb_bytes first);

// tb_tbt_read is a tb_calls_read (reading.h) of one path, which may be compressed.
// Memory: the calls, the records of the largest rank, and 24 bytes for each request of a
// rank.
int tb_tbt_read(struct tb_calls **calls, const struct tb_reading *reading,
	const char *const *paths, size_t n, const char **made,
	struct tb_error *error) TB_MUST_USE;

#endif

// Reads a job.tbt, which `tailback trace` makes (tbt_format.h), as calls.
//
// Rules (docs/inputs.md): what a rank does between its calls is computation; time in
// calls and between MPI_Test calls that ask in vain one after another is not. One-sided
// communication becomes messages, see tbt_windows.c.
#ifndef TB_TBT_READ_H
#define TB_TBT_READ_H

#include "bytes.h"
#include "calls.h"
#include "reading.h"

#include <stdbool.h>

// tb_tbt_begins returns whether a file begins like a job.tbt.
bool tb_tbt_begins(struct tb_bytes first);

// tb_tbt_is_of_sockets returns whether it does, and is of processes traced with
// --sockets.
bool tb_tbt_is_of_sockets(struct tb_bytes first);

// tb_tbt_read is a tb_calls_read (reading.h): one path, which may be compressed. Memory:
// the calls, the largest rank's records and 24 bytes per request of a rank.
int tb_tbt_read(struct tb_calls **calls, const struct tb_reading *reading,
	const char *const *paths, size_t n, const char **made,
	struct tb_error *error) TB_MUST_USE;

#endif

// Reads what the MPI programs behind the captures of shared/data logged that they called:
// the truth by which readers, inferred jobs and networks are judged.
//
// Both forms of shared/data/README.md are read: jobs/ (`START DUR CPU OP key=value...`)
// and whatif/mpilog (`start_ns dur_ns op peer bytes tag`), whose waits do not name their
// requests: MPI_Wait is for the oldest open one, MPI_Waitall for as many of the oldest as
// it counts; and whose MPI_Sendrecv receives from where it sends to.
//
// A receive from any source is one from where its completion says that it came. Where a
// rank receives any tag from another, tags between the two do not count, only the order.
// A receive that was never completed is left out. MPI_Comm_split, MPI_Cart_create and
// MPI_Finalize synchronize as a barrier.
#ifndef TB_MPILOG_H
#define TB_MPILOG_H

#include "calls.h"

struct tb_mpilog_options {
	// Computation is the thread's CPU time between calls, which only jobs/ have; else
	// it is the time between calls, for programs that sleep instead of computing.
	bool cpu;
	// Only calls that began then, in nanoseconds since the epoch, and computation
	// after from_ns; 0: from the first call, to the last. Ranks come to an instant in
	// different calls, so a span may cut messages in two: read it leniently.
	uint64_t from_ns, to_ns;
};

// tb_mpilog_read reads a folder of logs, a file per rank, or an archive of one
// (.tar.zst). The caller frees `calls`. TB_EFORMAT names file and line.
int tb_mpilog_read(struct tb_calls **calls, const char *path,
	const struct tb_mpilog_options *options, struct tb_error *error) TB_MUST_USE;

#endif

// Traces of MPI programs as text, which simulators replay: SimGrid's time-independent
// traces, what dumpi2ascii prints of DUMPI's, and liballprof's.
//
// Formats:
//
// - SimGrid (smpi_replay.cpp, 3.11 to 3.36): lines "RANK ACTION NUMBER...", of all ranks
//   in a file or of each in its own, which a list names, a file a line; "0 isend 1 0 1e6
//   6" is to rank 1, tag 0, a million elements of type 6 (0 double, 1 int, 2 char, 3
//   short, 4 long, 5 float, 6 byte). Older ones have no tag: "0 isend 1 1e6".
// - DUMPI as text (sst-dumpi, dumpi2ascii): for each call "MPI_Send entering at walltime
//   8.25, cputime 0.1 seconds in thread 0.", a line for each argument ("int count=100",
//   "MPI_Datatype datatype=2 (MPI_CHAR)"), and "MPI_Send returning at walltime ...". A
//   file per rank, whose number is the last in its name.
// - liballprof of LogGOPSim, 1 and 2: lines "MPI_Send:START:ARGUMENTS:END", times in
//   microseconds, arguments as MPI's, of a datatype its size after a comma or alone. A
//   file per rank (pmpi-trace-rank-3.txt).
//
// Rules:
//
// 1. All ranks from 0 on are needed. Time between two calls is computation.
// 2. SimGrid's traces have no times, but operations of computation: how many a second is
//    the platform's. They are taken at 1e9 a second, and a note says so.
// 3. Communicators other than of all ranks are refused: who is in them is not recorded.
// 4. A receive from any source gets what its status names; one without is refused. Calls
//    that move no data are passed over, others that are not known counted in a note.
#ifndef TB_MPI_TEXT_H
#define TB_MPI_TEXT_H

#include "bytes.h"
#include "reading.h"

// These return whether a file begins like one of the formats; tb_ti_list_is, whether it
// lists such files.
bool tb_ti_begins(struct tb_bytes first);
bool tb_ti_list_is(const char *path, struct tb_bytes first);
bool tb_dumpi_text_begins(struct tb_bytes first);
bool tb_allprof_begins(struct tb_bytes first);

// tb_dumpi_text_is_folder and tb_allprof_is_folder return whether a folder has such
// files.
bool tb_dumpi_text_is_folder(const char *path);
bool tb_allprof_is_folder(const char *path);

// Readers of calls. TB_EFORMAT with file and line; TB_EUSAGE for ranks that are missing.
int tb_ti_read(struct tb_calls **calls, const struct tb_reading *reading,
	const char *const *paths, size_t n, const char **made,
	struct tb_error *error) TB_MUST_USE;
int tb_dumpi_text_read(struct tb_calls **calls, const struct tb_reading *reading,
	const char *const *paths, size_t n, const char **made,
	struct tb_error *error) TB_MUST_USE;
int tb_allprof_read(struct tb_calls **calls, const struct tb_reading *reading,
	const char *const *paths, size_t n, const char **made,
	struct tb_error *error) TB_MUST_USE;

#endif

// Reads Open Trace Format 2, in which Score-P, EZTrace and others write what the
// processes of a program did, through libotf2.
//
// Rules (docs/traces.md, section OTF2): processes that take part in MPI are ranks, their
// threads lanes; MPI's records become calls; what a thread does between two MPI calls is
// computation. Memory grows with the calls, not with the regions that were entered.
// libotf2 has one handler of errors per process: one thread at a time.
#ifndef TB_OTF2_TRACE_H
#define TB_OTF2_TRACE_H

#include "reading.h"

// tb_otf2_probe returns whether `path`, a file that begins with the `n` bytes `first`, or
// a folder (n is 0), is an archive: an anchor file, or a folder with exactly one.
bool tb_otf2_probe(const char *path, bool is_folder, const uint8_t *first, size_t n);

// tb_otf2_read reads the archive whose anchor file, or the folder with it, is paths[0];
// see tb_calls_read. With reading->lenient a process whose events are missing or break
// off has those that could be read.
tb_calls_read tb_otf2_read;

#endif

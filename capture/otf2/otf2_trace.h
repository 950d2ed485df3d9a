// Reads Open Trace Format 2, in which Score-P, EZTrace and others write what the
// processes of a program did, through libotf2.
//
// Rules (docs/traces.md, section OTF2): processes that take part in MPI are ranks, their
// threads lanes; MPI's records become calls; what a thread does between two MPI calls is
// computation. Memory grows with the calls, not with the regions that were entered.
// libotf2 has one handler of errors per process: one thread at a time.
#ifndef TB_OTF2_TRACE_H
#define TB_OTF2_TRACE_H

#include "definitions.h"
#include "reading.h"

// tb_otf2_probe returns whether `path`, a file that begins with the `n` bytes `first`, or
// a folder (n is 0), is an archive: an anchor file, or a folder with exactly one.
bool tb_otf2_probe(const char *path, bool is_folder, const uint8_t *first, size_t n);

// tb_otf2_read reads the archive whose anchor file, or the folder with it, is paths[0];
// see tb_calls_read. With reading->lenient a process whose events are missing or break
// off has those that could be read.
tb_calls_read tb_otf2_read;

// An archive as files: its anchor file, and what is checked before libotf2 reads it.

#define TB_OTF2_PATH 4352

struct tb_otf2_archive {
	OTF2_Reader *reader;
	char anchor[TB_OTF2_PATH];
	char folder[TB_OTF2_PATH]; // with the locations' files
	bool has_files;		   // a file per location
	bool has_local_definitions;
	char said[256]; // what libotf2 complained of last, or ""
	OTF2_ErrorCallback before;
	bool listens;
	size_t n_ready; // locations, from the first on, that were opened or passed by
	bool has_selected;
};

// otf2_archive_open opens the archive of an anchor file, or of the folder with it.
// Messages of libotf2 go to `said` from then on, not to standard error.
// TB_EIO, TB_EFORMAT, TB_EVERSION. To be closed in any case.

#endif

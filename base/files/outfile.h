// Output files that appear only when complete (newfile.h), behind the symbolic links at
// their name. "-" is standard output; standard output, open descriptors (/dev/stdout,
// /dev/fd/N), devices and pipes are written directly. No output destroys a file that was
// read (input_files.h): such a name is TB_EUSAGE.
#ifndef TB_OUTFILE_H
#define TB_OUTFILE_H

#include "newfile.h"

#include <stdio.h>

struct tb_outfile {
	FILE *stream; // write here
	char *name;   // NULL: standard output
	struct tb_newfile file;
};

// tb_outfile_spare refuses an output that would overwrite an input (input_files.h), as
// opening it does: a command that has noted its inputs asks before it reads them. "-"
// stands for standard output.
int tb_outfile_spare(const char *name, struct tb_error *error) TB_MUST_USE;

// tb_outfile_open opens `name` for writing. On failure nothing is left behind.
int tb_outfile_open(
	struct tb_outfile *out, const char *name, struct tb_error *error) TB_MUST_USE;

// tb_outfile_open_in_place does the same, but empties a file that is there and writes
// into it, for what others read while it grows; it stays even when it is abandoned.
int tb_outfile_open_in_place(
	struct tb_outfile *out, const char *name, struct tb_error *error) TB_MUST_USE;

// tb_outfile_commit flushes, checks for write errors (such as a full disk) and gives the
// file its name. It finishes the struct in any case; on failure nothing is left behind,
// nor in the buffer of standard output.
int tb_outfile_commit(struct tb_outfile *out, struct tb_error *error) TB_MUST_USE;

// tb_outfile_abandon removes what was written. It does nothing after a commit.
void tb_outfile_abandon(struct tb_outfile *out);

#endif

// Output that is whole or not there: written without a name (newfile.h), which it gets
// when complete. "-" is standard output, which is written directly, as are devices and
// pipes.
#ifndef TB_OUTFILE_H
#define TB_OUTFILE_H

#include "newfile.h"

#include <stdio.h>

struct tb_outfile {
	FILE *stream; // write here
	char *name;   // NULL: standard output
	struct tb_newfile file;
};

// tb_outfile_spare refuses an output that would overwrite an input: TB_EUSAGE when `name`
// is the same regular file as `input`, whatever links lead to it. A command asks for each
// of its inputs before it opens any. "-" is standard output and standard input.
int tb_outfile_spare(
	const char *name, const char *input, struct tb_error *error) TB_MUST_USE;

// tb_outfile_open starts writing `name`. On failure nothing is left behind.
int tb_outfile_open(
	struct tb_outfile *out, const char *name, struct tb_error *error) TB_MUST_USE;

// tb_outfile_commit flushes, checks for write errors (a full disk shows here) and puts
// the file in place. The struct is finished either way; on failure nothing is left.
int tb_outfile_commit(struct tb_outfile *out, struct tb_error *error) TB_MUST_USE;

// tb_outfile_abandon removes what was written. Harmless after commit.
void tb_outfile_abandon(struct tb_outfile *out);

#endif

// Output that is whole or not there: written beside its final name, renamed into place
// when complete. "-" is standard output, which is written directly.
#ifndef TB_OUTFILE_H
#define TB_OUTFILE_H

#include "status.h"

#include <stdio.h>

struct tb_outfile {
	FILE *stream;	 // write here
	char *name;	 // final name; NULL for standard output
	char *temporary; // name while it is written
};

// tb_outfile_open starts writing `name`. On failure nothing is left behind.
int tb_outfile_open(
	struct tb_outfile *out, const char *name, struct tb_error *error) TB_MUST_USE;

// tb_outfile_commit flushes, checks for write errors (a full disk shows here) and
// renames. The struct is finished either way; on failure the partial file is removed.
int tb_outfile_commit(struct tb_outfile *out, struct tb_error *error) TB_MUST_USE;

// tb_outfile_abandon removes what was written. Harmless after commit.
void tb_outfile_abandon(struct tb_outfile *out);

#endif

// An input stream that undoes gzip and zstd, so that readers need not know about them.
//
// Model: the first bytes decide (RFC 1952 section 2.3.1, RFC 8878 section 3.1.1); what is
// neither passes through untouched. Concatenated members or frames read as one. The
// stream is an ordinary FILE for reading, without seeking. Memory is bounded by the
// compressor's window (128 MiB at the most). One thread at a time.
#ifndef TB_INFLATE_H
#define TB_INFLATE_H

#include "status.h"

#include <stdio.h>

struct tb_inflate; // opaque; belongs to its stream and goes when that is closed

// tb_inflate_open opens `path` ("-" is standard input) for reading. `stream` is closed
// with fclose, which also releases `input`. TB_EIO when it cannot be opened or read, or
// is a directory; the bytes themselves are judged as they are read.
int tb_inflate_open(FILE **stream, struct tb_inflate **input, const char *path,
	struct tb_error *error) TB_MUST_USE;

// tb_inflate_check tells why the stream ended: TB_OK for a true end (or when it has not
// ended), TB_EIO when reading failed, TB_EFORMAT when the compressed data is cut short or
// corrupt, with the offset in the compressed file. stdio keeps no more than "an error":
// ask here when fread gives less than wanted.
int tb_inflate_check(const struct tb_inflate *input, struct tb_error *error) TB_MUST_USE;

// tb_inflate_fraction is how much of the file has been read, in [0, 1]; negative when its
// size is not known.
double tb_inflate_fraction(const struct tb_inflate *input);

#endif

// An input stream that decompresses gzip, zstd, xz, lz4 and bzip2, so that readers need
// not know about them.
//
// Model: the first bytes decide; what none of the five begins with passes through
// untouched. Concatenated members or frames read as one, and zeros behind the last are
// padding, as gzip has it. The stream is an ordinary FILE for reading, without seeking.
// Of a stream that is cut or damaged, all that was decompressed before is read first, but
// for the last 128 KiB of formats other than gzip. Memory: 200 KB and what the
// decompressor takes, which is the compressor's window (zstd at most 128 MiB, bzip2 4
// MiB, lz4 8 MiB, xz the dictionary that its header asks for). One thread at a time.
//
// Formats: RFC 1952 (gzip) through zlib, since libarchive 3.6 does not verify gzip's
// check sums; RFC 8878 (zstd) and the others through libarchive.
#ifndef TB_INFILE_H
#define TB_INFILE_H

#include "bytes.h"
#include "status.h"

#include <stdio.h>

#define TB_INFILE_PEEK_MAX 4096

struct tb_infile; // opaque; belongs to its stream and is freed when that is closed

// tb_infile_open opens `path` ("-" is standard input) for reading. `stream` is closed
// with fclose, which also frees `file`. TB_EIO when it cannot be opened or read, or is a
// directory; TB_EFORMAT when its compressed data is damaged where it begins.
int tb_infile_open(FILE **stream, struct tb_infile **file, const char *path,
	struct tb_error *error) TB_MUST_USE;

// tb_infile_peek stores the first `n` bytes of the stream (at most TB_INFILE_PEEK_MAX),
// or all when it has fewer, and leaves them to be read. Call it before the first read.
// The bytes live as long as the file. Fails, with the error that tb_infile_check returns,
// only when there is not one byte.
int tb_infile_peek(struct tb_infile *file, size_t n, struct tb_bytes *first,
	struct tb_error *error) TB_MUST_USE;

// tb_infile_check reports why the stream ended: TB_OK for a true end (or when it has not
// ended), TB_EIO when reading failed, TB_EFORMAT when the compressed data is cut short or
// corrupt, with the offset in the compressed file. stdio keeps no more than "an error":
// call this when fread returns less than it should.
int tb_infile_check(const struct tb_infile *file, struct tb_error *error) TB_MUST_USE;

// tb_infile_fraction is how much of the file has been read, in [0, 1]; negative when its
// size is not known.
double tb_infile_fraction(const struct tb_infile *file);

#endif

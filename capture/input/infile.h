// An input stream that decompresses gzip, zstd, xz, lz4 and bzip2, so that readers need
// not care. A byte order mark of UTF-8 is skipped.
//
// Model: the first bytes decide; data that begins like none of the five passes through
// unchanged. Concatenated members or frames read as one, and zeros after the last are
// padding, as for gzip. The stream is an ordinary FILE for reading, without seeking. If
// it is cut off or damaged, what was decompressed before is read first, except for the
// last 128 KiB of formats other than gzip. Memory: 200 KB plus the decompressor's window
// (zstd at most 128 MiB, bzip2 4 MiB, lz4 8 MiB, xz the dictionary that its header asks
// for). One thread at a time.
//
// Formats: RFC 1952 (gzip) with zlib, because libarchive 3.6 does not verify gzip's check
// sums; RFC 8878 (zstd) and the others with libarchive.
#ifndef TB_INFILE_H
#define TB_INFILE_H

#include "bytes.h"
#include "status.h"

#include <signal.h>
#include <stdio.h>

#define TB_INFILE_PEEK_MAX 4096

struct tb_infile; // opaque; belongs to its stream, and is freed when that is closed

// A stream that was opened to look at its beginning, for whoever reads it. One whose
// stream is NULL is none.
struct tb_opened_input {
	FILE *stream;
	struct tb_infile *file;
};

// tb_infile_open opens `path` ("-" is standard input) for reading. The caller closes
// `stream` with fclose, which also frees `file`. TB_EIO when it cannot be opened or read,
// or is a directory; TB_EFORMAT when its compressed data is damaged at the beginning.
int tb_infile_open(FILE **stream, struct tb_infile **file, const char *path,
	struct tb_error *error) TB_MUST_USE;

// tb_infile_peek stores at least the first `n` bytes of the stream (at most
// TB_INFILE_PEEK_MAX), or all if it has fewer, without consuming them. Call it before the
// first read. The bytes live as long as the file. It fails, as tb_infile_check does, only
// if not a single byte can be read.
int tb_infile_peek(struct tb_infile *file, size_t n, struct tb_bytes *first,
	struct tb_error *error) TB_MUST_USE;

// tb_infile_read reads up to `size` bytes past the stream, for whoever keeps a buffer of
// its own: what there is without waiting longer, at least one; 0 at the end, negative as
// tb_infile_check reports. The stream must not have buffered anything.
ssize_t tb_infile_read(struct tb_infile *file, void *to, size_t size) TB_MUST_USE;

// tb_infile_stop_on has reading fail with TB_ESTOPPED once `*stop` is set, which another
// does (a signal handler). NULL: never, as at first. A signal ends waiting for a pipe,
// socket or terminal in any case (tb_stop_of_signals).
void tb_infile_stop_on(struct tb_infile *file, const volatile sig_atomic_t *stop);

// tb_infile_check returns why the stream ended: TB_OK at the true end (or before), TB_EIO
// when reading failed, TB_EFORMAT when the compressed data is cut short or corrupt, with
// the offset in the compressed file. Call it when fread returns less than it should:
// stdio knows only that there was an error.
int tb_infile_check(const struct tb_infile *file, struct tb_error *error) TB_MUST_USE;

// tb_infile_bytes_most returns how many bytes the stream can have at most, judged by the
// size of its file: for readers of formats that begin with counts, before they make room
// for so many. UINT64_MAX when the size is unknown.
uint64_t tb_infile_bytes_most(const struct tb_infile *file);

// tb_infile_begins returns whether a file can be read and `begins` accepts its first
// bytes, up to TB_INFILE_PEEK_MAX of them.
bool tb_infile_begins(const char *path, bool (*begins)(struct tb_bytes first));

// tb_infile_mentions returns whether `word`, of at most 64 characters, stands in the
// first `most` bytes of a stream, which it reads: for formats that may begin late.
bool tb_infile_mentions(FILE *stream, const char *word, size_t most);

// tb_infile_read_all reads a stream to its end into `bytes`, which the caller frees, also
// after a failure. TB_ECAPACITY beyond `most` bytes, TB_ENOMEM. Why the stream ended is
// left to tb_infile_check.
int tb_infile_read_all(FILE *stream, const char *path, size_t most, uint8_t **bytes,
	size_t *n, struct tb_error *error) TB_MUST_USE;

// tb_infile_bytes returns the size of the file, as it is compressed; 0 when unknown.
uint64_t tb_infile_bytes(const struct tb_infile *file);

// tb_infile_fraction returns how much of the file has been read, in [0, 1]; negative when
// its size is unknown.
double tb_infile_fraction(const struct tb_infile *file);

#endif

// A stream of bytes from a file or from standard input, decompressed as it is read:
// plain, gzip and zstd are told apart by their first bytes, not by the name.
//
// Memory is constant. One thread at a time per object.
#ifndef TB_STREAM_H
#define TB_STREAM_H

#include "status.h"

#include <stddef.h>

struct tb_stream; // opaque

// tb_stream_open opens `path` ("-" is standard input, which is not closed by
// tb_stream_free). TB_EIO when the system refuses.
int tb_stream_open(
	struct tb_stream **stream, const char *path, struct tb_error *error) TB_MUST_USE;
void tb_stream_free(struct tb_stream *stream);

// tb_stream_read stores up to `n` decompressed bytes and how many those are; 0 only at
// the end. TB_EIO when reading failed, TB_EFORMAT when compressed data is damaged or ends
// early: all bytes before the damage have been given by then.
int tb_stream_read(struct tb_stream *stream, void *buffer, size_t n, size_t *n_read,
	struct tb_error *error) TB_MUST_USE;

// tb_stream_peek is tb_stream_read of at most TB_STREAM_PEEK bytes that stay to be read;
// fewer than asked for only at the end. It goes before the first read.
#define TB_STREAM_PEEK 16
int tb_stream_peek(struct tb_stream *stream, void *buffer, size_t n, size_t *n_read,
	struct tb_error *error) TB_MUST_USE;

// tb_stream_name is the path for messages: "standard input" for "-".
const char *tb_stream_name(const struct tb_stream *stream);

// Bytes of the file, as it lies on the disk, that were used so far, and all that it has:
// 0 when its size is not known (pipes).
uint64_t tb_stream_consumed(const struct tb_stream *stream);
uint64_t tb_stream_size(const struct tb_stream *stream);

#endif

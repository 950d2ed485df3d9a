#include "stream.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#define INPUT_BYTES (256 * 1024)

enum codec { PLAIN, GZIP, ZSTD };

struct tb_stream {
	char *name;
	int fd;
	bool owns_fd;
	bool input_ended;
	enum codec codec;
	bool in_frame; // within a gzip member or a zstd frame
	z_stream gzip;
	ZSTD_DStream *zstd;
	uint64_t size;
	uint64_t read_bytes; // from fd, so far
	size_t input_at;     // unused bytes are input[input_at .. input_n)
	size_t input_n;
	size_t head_at; // peeked and not yet read: head[head_at .. head_n)
	size_t head_n;
	uint8_t head[TB_STREAM_PEEK];
	uint8_t input[INPUT_BYTES];
};

static int read_fd(struct tb_stream *s, void *buffer, size_t n, size_t *n_read,
	struct tb_error *error)
{
	ssize_t got;
	do
		got = read(s->fd, buffer, n);
	while (got < 0 && errno == EINTR);
	if (got < 0)
		return tb_fail_in(
			error, TB_EIO, s->name, "cannot read: %s", strerror(errno));
	s->read_bytes += (uint64_t)got;
	s->input_ended = got == 0;
	*n_read = (size_t)got;
	return TB_OK;
}

// fill reads until at least `want` unused bytes are there, or the file ends.
static int fill(struct tb_stream *s, size_t want, struct tb_error *error)
{
	if (s->input_n - s->input_at >= want)
		return TB_OK;
	memmove(s->input, s->input + s->input_at, s->input_n - s->input_at);
	s->input_n -= s->input_at;
	s->input_at = 0;
	while (s->input_n < want && !s->input_ended) {
		size_t got;
		int status = read_fd(
			s, s->input + s->input_n, INPUT_BYTES - s->input_n, &got, error);
		if (status != TB_OK)
			return status;
		s->input_n += got;
	}
	return TB_OK;
}

static int open_codec(struct tb_stream *s, struct tb_error *error)
{
	static const uint8_t gzip_magic[] = {0x1f, 0x8b};
	static const uint8_t zstd_magic[] = {0x28, 0xb5, 0x2f, 0xfd};
	int status = fill(s, 4, error);
	if (status != TB_OK)
		return status;
	if (s->input_n >= 2 && memcmp(s->input, gzip_magic, 2) == 0) {
		if (inflateInit2(&s->gzip, 15 + 16) != Z_OK)
			return tb_fail_in(error, TB_ENOMEM, s->name, "no memory");
		s->codec = GZIP;
	} else if (s->input_n >= 4 && memcmp(s->input, zstd_magic, 4) == 0) {
		s->zstd = ZSTD_createDStream();
		if (!s->zstd)
			return tb_fail_in(error, TB_ENOMEM, s->name, "no memory");
		s->codec = ZSTD;
	}
	return TB_OK;
}

static int open_fd(struct tb_stream *s, const char *path, struct tb_error *error)
{
	s->owns_fd = strcmp(path, "-") != 0;
	s->name = strdup(s->owns_fd ? path : "standard input");
	if (!s->name)
		return tb_fail(error, TB_ENOMEM, "no memory");
	s->fd = s->owns_fd ? open(path, O_RDONLY | O_CLOEXEC) : STDIN_FILENO;
	if (s->fd < 0)
		return tb_fail_in(
			error, TB_EIO, path, "cannot open: %s", strerror(errno));
	struct stat info;
	if (fstat(s->fd, &info) != 0)
		return tb_fail_in(
			error, TB_EIO, path, "cannot open: %s", strerror(errno));
	if (S_ISDIR(info.st_mode))
		return tb_fail_in(error, TB_EIO, path, "is a folder, expected a file");
	if (S_ISREG(info.st_mode) && info.st_size > 0)
		s->size = (uint64_t)info.st_size;
	return open_codec(s, error);
}

int tb_stream_open(struct tb_stream **stream, const char *path, struct tb_error *error)
{
	struct tb_stream *s = calloc(1, sizeof *s);
	if (!s)
		return tb_fail(error, TB_ENOMEM, "no memory");
	s->fd = -1;
	int status = open_fd(s, path, error);
	if (status != TB_OK) {
		tb_stream_free(s);
		return status;
	}
	*stream = s;
	return TB_OK;
}

void tb_stream_free(struct tb_stream *stream)
{
	if (!stream)
		return;
	if (stream->codec == GZIP)
		inflateEnd(&stream->gzip);
	ZSTD_freeDStream(stream->zstd);
	if (stream->owns_fd && stream->fd >= 0)
		close(stream->fd);
	free(stream->name);
	free(stream);
}

static int damaged(const struct tb_stream *s, const char *what, struct tb_error *error)
{
	return tb_fail_at(error, TB_EFORMAT, s->name, TB_PLACE_OFFSET,
		tb_stream_consumed(s), "the %s data %s",
		s->codec == GZIP ? "gzip" : "zstd", what);
}

// inflate_some gives at least one byte, unless at the end of the last member. Members
// follow each other as gzip allows; what follows them and is none is ignored, as gzip
// does with the zeros that tapes add.
static int inflate_some(struct tb_stream *s, void *buffer, size_t n, size_t *n_read,
	struct tb_error *error)
{
	s->gzip.next_out = buffer;
	s->gzip.avail_out = (uInt)n;
	while (s->gzip.avail_out == n) {
		int status = fill(s, 2, error);
		if (status != TB_OK)
			return status;
		const uint8_t *next = s->input + s->input_at;
		size_t ready = s->input_n - s->input_at;
		bool member = ready >= 2 && next[0] == 0x1f && next[1] == 0x8b;
		if (!s->in_frame && !member)
			break;
		if (ready == 0)
			return damaged(s, "ends early", error);
		s->in_frame = true;
		s->gzip.next_in = s->input + s->input_at;
		s->gzip.avail_in = (uInt)ready;
		int code = inflate(&s->gzip, Z_NO_FLUSH);
		s->input_at = s->input_n - s->gzip.avail_in;
		if (code == Z_STREAM_END) {
			s->in_frame = false;
			inflateReset(&s->gzip);
		} else if (code == Z_BUF_ERROR && s->input_ended) {
			return damaged(s, "ends early", error);
		} else if (code != Z_OK && code != Z_BUF_ERROR) {
			return damaged(s, "is damaged", error);
		}
	}
	*n_read = n - s->gzip.avail_out;
	return TB_OK;
}

static int unzstd_some(struct tb_stream *s, void *buffer, size_t n, size_t *n_read,
	struct tb_error *error)
{
	ZSTD_outBuffer out = {buffer, n, 0};
	while (out.pos == 0) {
		// A frame may be all in, and still hold back output: go on without
		// input.
		int status = s->input_at == s->input_n ? fill(s, 1, error) : TB_OK;
		if (status != TB_OK)
			return status;
		bool empty = s->input_at == s->input_n;
		if (empty && !s->in_frame)
			break;
		ZSTD_inBuffer in = {s->input, s->input_n, s->input_at};
		size_t code = ZSTD_decompressStream(s->zstd, &out, &in);
		s->input_at = in.pos;
		if (ZSTD_isError(code))
			return damaged(s, "is damaged", error);
		s->in_frame = code != 0;
		if (empty && out.pos == 0 && s->in_frame)
			return damaged(s, "ends early", error);
	}
	*n_read = out.pos;
	return TB_OK;
}

static int plain_some(struct tb_stream *s, void *buffer, size_t n, size_t *n_read,
	struct tb_error *error)
{
	size_t ready = s->input_n - s->input_at;
	if (ready == 0 && s->input_ended) {
		*n_read = 0;
		return TB_OK;
	}
	if (ready == 0)
		return read_fd(s, buffer, n, n_read, error);
	if (n > ready)
		n = ready;
	memcpy(buffer, s->input + s->input_at, n);
	s->input_at += n;
	*n_read = n;
	return TB_OK;
}

static int decode_some(struct tb_stream *s, void *buffer, size_t n, size_t *n_read,
	struct tb_error *error)
{
	if (n > INPUT_BYTES)
		n = INPUT_BYTES;
	switch (s->codec) {
	case GZIP:
		return inflate_some(s, buffer, n, n_read, error);
	case ZSTD:
		return unzstd_some(s, buffer, n, n_read, error);
	case PLAIN:
		break;
	}
	return plain_some(s, buffer, n, n_read, error);
}

int tb_stream_read(struct tb_stream *stream, void *buffer, size_t n, size_t *n_read,
	struct tb_error *error)
{
	size_t ready = stream->head_n - stream->head_at;
	if (n > 0 && ready == 0)
		return decode_some(stream, buffer, n, n_read, error);
	if (n > ready)
		n = ready;
	memcpy(buffer, stream->head + stream->head_at, n);
	stream->head_at += n;
	*n_read = n;
	return TB_OK;
}

int tb_stream_peek(struct tb_stream *stream, void *buffer, size_t n, size_t *n_read,
	struct tb_error *error)
{
	if (n > TB_STREAM_PEEK)
		n = TB_STREAM_PEEK;
	while (stream->head_n < n) {
		size_t got;
		int status = decode_some(stream, stream->head + stream->head_n,
			n - stream->head_n, &got, error);
		if (status != TB_OK)
			return status;
		if (got == 0)
			break;
		stream->head_n += got;
	}
	*n_read = n < stream->head_n ? n : stream->head_n;
	memcpy(buffer, stream->head, *n_read);
	return TB_OK;
}

const char *tb_stream_name(const struct tb_stream *stream)
{
	return stream->name;
}

uint64_t tb_stream_consumed(const struct tb_stream *stream)
{
	return stream->read_bytes - (stream->input_n - stream->input_at);
}

uint64_t tb_stream_size(const struct tb_stream *stream)
{
	return stream->size;
}

#include "inflate.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#define IN_BYTES     (size_t)(128 << 10)
#define STREAM_BYTES (size_t)(256 << 10)

enum codec { PLAIN, GZIP, ZSTD };

struct tb_inflate {
	int fd;
	enum codec codec;
	z_stream gzip;
	ZSTD_DStream *zstd;
	bool in_member; // within a gzip member or zstd frame: the end of input cuts it
	bool any_member;
	bool at_end;	   // of the file
	uint64_t n_read;   // bytes taken from the file
	uint64_t n_bytes;  // of the file; 0 when not known
	size_t begin, end; // what of `in` is not used yet
	struct tb_error error;
	char name[256];
	unsigned char in[IN_BYTES];
};

// fill reads more input behind what is left. 1, 0 at the end, or negative.
static int fill(struct tb_inflate *input)
{
	if (input->at_end)
		return 0;
	memmove(input->in, input->in + input->begin, input->end - input->begin);
	input->end -= input->begin;
	input->begin = 0;
	ssize_t n;
	do
		n = read(input->fd, input->in + input->end, IN_BYTES - input->end);
	while (n < 0 && errno == EINTR);
	if (n < 0)
		return tb_fail_in(&input->error, TB_EIO, input->name,
			"cannot be read: %s", strerror(errno));
	input->at_end = n == 0;
	input->end += (size_t)n;
	input->n_read += (uint64_t)n;
	return n > 0;
}

static int broken(struct tb_inflate *input, const char *what, const char *why)
{
	uint64_t at = input->n_read - (input->end - input->begin);
	return tb_fail_at(&input->error, TB_EFORMAT, input->name, TB_PLACE_OFFSET, at,
		"the %s data is %s", what, why);
}

// only_padding says whether nothing but zeros follows the last gzip member: tapes and
// block devices pad so, and gzip accepts it.
static bool only_padding(struct tb_inflate *input)
{
	do {
		while (input->begin < input->end)
			if (input->in[input->begin++] != 0)
				return false;
	} while (fill(input) > 0);
	return input->error.code == TB_OK;
}

// next_member prepares for a further gzip member: 1, 0 at the end, or negative.
static int next_member(struct tb_inflate *input)
{
	while (input->end - input->begin < 2) {
		int more = fill(input);
		if (more < 0)
			return more;
		if (more == 0)
			break;
	}
	if (input->begin == input->end)
		return 0;
	if (input->any_member && input->in[input->begin] == 0) {
		if (only_padding(input))
			return 0;
		return input->error.code != TB_OK
			       ? (int)input->error.code
			       : broken(input, "gzip", "followed by something else");
	}
	inflateReset(&input->gzip);
	input->in_member = input->any_member = true;
	return 1;
}

static ssize_t read_gzip(struct tb_inflate *input, char *out, size_t size)
{
	z_stream *z = &input->gzip;
	z->next_out = (unsigned char *)out;
	z->avail_out = (uInt)size;
	while (z->avail_out == size) {
		int more = input->in_member ? 1 : next_member(input);
		if (more <= 0)
			return more;
		if (input->begin == input->end && (more = fill(input)) <= 0)
			return more < 0 ? more : broken(input, "gzip", "cut short");
		z->next_in = input->in + input->begin;
		z->avail_in = (uInt)(input->end - input->begin);
		int result = inflate(z, Z_NO_FLUSH);
		input->begin = input->end - z->avail_in;
		if (result == Z_STREAM_END)
			input->in_member = false;
		else if (result != Z_OK && result != Z_BUF_ERROR)
			return broken(input, "gzip", z->msg ? z->msg : "corrupt");
	}
	return (ssize_t)(size - z->avail_out);
}

static ssize_t read_zstd(struct tb_inflate *input, char *out, size_t size)
{
	ZSTD_outBuffer into = {out, size, 0};
	while (into.pos == 0) {
		if (input->begin == input->end) {
			int more = fill(input);
			if (more < 0)
				return more;
			// A full output buffer may have left bytes inside the decoder,
			// but then `in_member` is set and one more call gives them.
			if (more == 0 && !input->in_member)
				return 0;
		}
		ZSTD_inBuffer from = {
			input->in + input->begin, input->end - input->begin, 0};
		size_t left = ZSTD_decompressStream(input->zstd, &into, &from);
		if (ZSTD_isError(left))
			return broken(input, "zstd", ZSTD_getErrorName(left));
		input->begin += from.pos;
		input->in_member = left != 0;
		if (into.pos == 0 && from.pos == 0 && input->at_end)
			return broken(input, "zstd", "cut short");
	}
	return (ssize_t)into.pos;
}

// read_plain gives what `in` still holds from the look at the first bytes, then reads
// straight into the caller's buffer.
static ssize_t read_plain(struct tb_inflate *input, char *out, size_t size)
{
	size_t held = input->end - input->begin;
	if (held > 0) {
		size_t n = held < size ? held : size;
		memcpy(out, input->in + input->begin, n);
		input->begin += n;
		return (ssize_t)n;
	}
	ssize_t n;
	do
		n = read(input->fd, out, size);
	while (n < 0 && errno == EINTR);
	if (n < 0)
		return tb_fail_in(&input->error, TB_EIO, input->name,
			"cannot be read: %s", strerror(errno));
	input->n_read += (uint64_t)n;
	return n;
}

static ssize_t on_read(void *cookie, char *out, size_t size)
{
	struct tb_inflate *input = cookie;
	ssize_t n = -1;
	if (size > UINT32_MAX / 2)
		size = UINT32_MAX / 2; // zlib counts in unsigned int
	if (input->error.code != TB_OK)
		n = -1;
	else if (input->codec == GZIP)
		n = read_gzip(input, out, size);
	else if (input->codec == ZSTD)
		n = read_zstd(input, out, size);
	else
		n = read_plain(input, out, size);
	if (n >= 0)
		return n;
	errno = EIO;
	return -1;
}

static int on_close(void *cookie)
{
	struct tb_inflate *input = cookie;
	if (input->codec == GZIP)
		inflateEnd(&input->gzip);
	ZSTD_freeDStream(input->zstd);
	if (input->fd > STDIN_FILENO)
		close(input->fd);
	free(input);
	return 0;
}

// recognize looks at the first bytes and readies the decoder that they ask for.
static int recognize(struct tb_inflate *input)
{
	static const unsigned char zstd_magic[] = {0x28, 0xb5, 0x2f, 0xfd};
	int more = 1;
	while (input->end < 4 && (more = fill(input)) > 0)
		;
	if (more < 0)
		return more;
	const unsigned char *in = input->in;
	if (input->end >= 2 && in[0] == 0x1f && in[1] == 0x8b) {
		if (inflateInit2(&input->gzip, 15 + 16) != Z_OK)
			return tb_fail_in(&input->error, TB_ENOMEM, input->name,
				"no memory to decompress it");
		input->codec = GZIP;
	} else if (input->end >= 4 && memcmp(in, zstd_magic, 4) == 0) {
		input->zstd = ZSTD_createDStream();
		if (!input->zstd)
			return tb_fail_in(&input->error, TB_ENOMEM, input->name,
				"no memory to decompress it");
		input->codec = ZSTD;
	}
	return TB_OK;
}

static int open_fd(struct tb_inflate *input, const char *path, struct tb_error *error)
{
	if (strcmp(path, "-") == 0) {
		input->fd = STDIN_FILENO;
		path = "standard input";
	} else {
		input->fd = open(path, O_RDONLY | O_CLOEXEC);
		if (input->fd < 0)
			return tb_fail_in(error, TB_EIO, path, "cannot be opened: %s",
				strerror(errno));
	}
	size_t length = strlen(path);
	size_t skip = length < sizeof input->name ? 0 : length - sizeof input->name + 1;
	snprintf(input->name, sizeof input->name, "%s", path + skip);
	struct stat status;
	if (fstat(input->fd, &status) == 0 && S_ISREG(status.st_mode))
		input->n_bytes = (uint64_t)status.st_size;
	return TB_OK;
}

int tb_inflate_open(FILE **stream, struct tb_inflate **input, const char *path,
	struct tb_error *error)
{
	struct tb_inflate *opened = calloc(1, sizeof *opened);
	if (!opened)
		return tb_fail_in(error, TB_ENOMEM, path, "no memory to open it");
	int status = open_fd(opened, path, error);
	if (status != TB_OK) {
		free(opened);
		return status;
	}
	status = recognize(opened);
	if (status != TB_OK) {
		if (error)
			*error = opened->error;
		on_close(opened);
		return status;
	}
	FILE *made = fopencookie(opened, "rb",
		(cookie_io_functions_t){.read = on_read, .close = on_close});
	if (!made) {
		on_close(opened);
		return tb_fail_in(error, TB_ENOMEM, path, "no memory to open it");
	}
	setvbuf(made, NULL, _IOFBF, STREAM_BYTES);
	*stream = made;
	*input = opened;
	return TB_OK;
}

int tb_inflate_check(const struct tb_inflate *input, struct tb_error *error)
{
	if (input->error.code != TB_OK && error)
		*error = input->error;
	return input->error.code;
}

double tb_inflate_fraction(const struct tb_inflate *input)
{
	if (input->n_bytes == 0)
		return -1;
	uint64_t used = input->n_read - (input->end - input->begin);
	return used >= input->n_bytes ? 1 : (double)used / (double)input->n_bytes;
}

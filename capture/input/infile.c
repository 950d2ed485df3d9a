#include "infile.h"

#include "input_files.h"
#include "libarchive.h"
#include "stop.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#define ARCHIVE_PART 4096
#define IN_BYTES     (size_t)(128 << 10)
#define STREAM_BYTES (size_t)(64 << 10)
#define WAKE_MS	     100

struct codec {
	const char *name;
	uint8_t n_magic;
	const char *magic;
	int filter;	// libarchive's code
	uint32_t times; // no byte becomes more bytes than this
};

// A block of bzip2 makes 46 MB of 39 bytes (900,000 symbols, of which 5 stand for 259);
// one of zstd makes 128 KiB of 4. xz makes 7,000 bytes of one, gzip 1,032, lz4 255.
static const struct codec codecs[] = {
	// read_gzip decodes the first
	{"gzip", 2, "\x1f\x8b", ARCHIVE_FILTER_NONE, 1 << 11},
	{"zstd", 4, "\x28\xb5\x2f\xfd", ARCHIVE_FILTER_ZSTD, 1 << 15},
	{"xz", 6, "\xfd\x37zXZ\0", ARCHIVE_FILTER_XZ, 1 << 15},
	{"lz4", 4, "\x04\x22\x4d\x18", ARCHIVE_FILTER_LZ4, 1 << 11},
	{"bzip2", 3, "BZh", ARCHIVE_FILTER_BZIP2, 1 << 21},
};
#define N_CODECS    (sizeof codecs / sizeof *codecs)
#define N_MAGIC_MAX 6

struct tb_infile {
	int fd;
	bool may_wait;		      // it is no file, so that reading may take for ever
	const struct codec *codec;    // NULL: plain
	struct archive *archive;      // for all codecs but gzip
	struct tb_libarchive library; // loaded with it
	z_stream gzip;
	bool in_member; // within a gzip member, where the file must not end
	bool any_member;
	bool at_end;	   // of the file
	bool ended;	   // libarchive has reached its end
	uint64_t n_read;   // bytes read from the file
	uint64_t n_filled; // bytes read up to the last one that is not 0; not for plain
			   // files
	uint64_t n_bytes;  // size of the file; 0 when unknown
	size_t begin, end; // the part of `in` that is not used yet
	size_t peeked_at, n_peeked;
	const volatile sig_atomic_t *stop; // NULL: none
	struct tb_error error;
	char name[256];
	uint8_t peeked[TB_INFILE_PEEK_MAX];
	uint8_t in[IN_BYTES];
	char buffer[STREAM_BYTES]; // the stream's; setvbuf ignores a size without a
				   // buffer
};

static int stopped(struct tb_infile *file)
{
	return tb_fail_in(
		&file->error, TB_ESTOPPED, file->name, "stopped while it was read");
}

// wait_for_bytes waits until a pipe, socket or terminal has something to read. It wakes
// now and then: a signal may come just before it waits, or to another thread.
static int wait_for_bytes(struct tb_infile *file)
{
	struct pollfd input = {.fd = file->fd, .events = POLLIN};
	for (int n = 0; n <= 0;) {
		if (tb_stop_asked(file->stop) || tb_stop_asked(tb_stop_of_signals()))
			return stopped(file);
		n = poll(&input, 1, WAKE_MS);
		if (n < 0 && errno != EINTR)
			return TB_OK; // reading reports why
	}
	return TB_OK;
}

static ssize_t read_fd(struct tb_infile *file, void *to, size_t size)
{
	ssize_t n;
	do {
		if (file->may_wait && wait_for_bytes(file) != TB_OK)
			return TB_ESTOPPED;
		n = read(file->fd, to, size);
	} while (n < 0 && (errno == EINTR || (errno == EAGAIN && file->may_wait)));
	if (n < 0)
		return tb_fail_in(&file->error, TB_EIO, file->name, "cannot be read: %s",
			strerror(errno));
	file->at_end = n == 0;
	file->n_read += (uint64_t)n;
	return n;
}

// fill_infile appends input to what is left in `in`: 1, 0 at the end, or negative.
static int fill_infile(struct tb_infile *file)
{
	if (file->at_end)
		return 0;
	// A member's header may be split between two reads, so keep what is left.
	memmove(file->in, file->in + file->begin, file->end - file->begin);
	file->end -= file->begin;
	file->begin = 0;
	ssize_t n = read_fd(file, file->in + file->end, IN_BYTES - file->end);
	if (n < 0)
		return (int)n;
	file->end += (size_t)n;
	size_t n_zeros = 0;
	while (n_zeros < (size_t)n && file->in[file->end - n_zeros - 1] == 0)
		n_zeros++;
	if (n_zeros < (size_t)n)
		file->n_filled = file->n_read - n_zeros;
	return n > 0;
}

// n_used returns how many bytes of the file have been decompressed. libarchive gets whole
// blocks and counts itself how much of them it uses, once it has chosen its decompressor.
static uint64_t n_used(const struct tb_infile *file)
{
	if (!file->archive || file->ended)
		return file->n_read - (file->end - file->begin);
	int64_t n = file->library.archive_filter_bytes(file->archive, -1);
	return n < 0 ? 0 : (uint64_t)n;
}

static int broken_at(struct tb_infile *file, uint64_t at, const char *why)
{
	return tb_fail_at(&file->error, TB_EFORMAT, file->name, TB_PLACE_OFFSET, at,
		"the %s data is %s", file->codec->name, why);
}

static int cut_short(struct tb_infile *file)
{
	return broken_at(file, file->n_read, "cut short");
}

static int fail_corrupt(struct tb_infile *file, const char *cause)
{
	char why[200];
	snprintf(why, sizeof why, "corrupt (%s)", cause ? cause : "unknown cause");
	return broken_at(file, n_used(file), why);
}

// check_padding returns 0 if only zeros follow. Tapes and block devices pad with zeros,
// and gzip accepts them.
static int check_padding(struct tb_infile *file)
{
	uint64_t at = n_used(file);
	do
		file->begin = file->end;
	while (fill_infile(file) > 0);
	if (file->n_filled > at)
		return broken_at(file, at, "followed by something else");
	return file->error.code;
}

// next_member prepares for another gzip member: 1, 0 at the end, or negative.
static int next_member(struct tb_infile *file)
{
	while (file->end - file->begin < 2) {
		int more = fill_infile(file);
		if (more < 0)
			return more;
		if (more == 0)
			break;
	}
	if (file->begin == file->end)
		return 0;
	// No member begins with 0, so this is padding after the last one.
	if (file->any_member && file->in[file->begin] == 0)
		return check_padding(file);
	inflateReset(&file->gzip);
	file->in_member = file->any_member = true;
	return 1;
}

static ssize_t read_gzip(struct tb_infile *file, void *out, size_t size)
{
	z_stream *z = &file->gzip;
	z->next_out = out;
	z->avail_out = (uInt)size;
	while (z->avail_out == size) {
		int more = file->in_member ? 1 : next_member(file);
		if (more <= 0)
			return more;
		// The trailer has not come yet, or inflate would have ended the member.
		if (file->begin == file->end && (more = fill_infile(file)) <= 0)
			return more < 0 ? more : cut_short(file);
		z->next_in = file->in + file->begin;
		z->avail_in = (uInt)(file->end - file->begin);
		int result = inflate(z, Z_NO_FLUSH);
		file->begin = file->end - z->avail_in;
		if (result == Z_STREAM_END)
			file->in_member = false;
		else if (result != Z_OK && result != Z_BUF_ERROR)
			return fail_corrupt(file, z->msg);
	}
	return (ssize_t)(size - z->avail_out);
}

// give_infile_block is libarchive's read callback. It hands over all input in `in`.
static la_ssize_t give_infile_block(
	struct archive *archive, void *client, const void **block)
{
	struct tb_infile *file = client;
	if (file->begin == file->end && fill_infile(file) < 0) {
		file->library.archive_set_error(archive, EIO, "%s", file->error.text);
		return ARCHIVE_FATAL;
	}
	size_t n = file->end - file->begin;
	*block = file->in + file->begin;
	file->begin = file->end;
	return (la_ssize_t)n;
}

static int archive_broken(struct tb_infile *file)
{
	const char *cause = file->library.archive_error_string(file->archive);
	if (file->error.code != TB_OK)
		return file->error.code;
	// libarchive has no code for this, only the words of its filters and of liblzma.
	if (!cause || strcasestr(cause, "truncated") || strstr(cause, "No progress"))
		return cut_short(file);
	return fail_corrupt(file, cause);
}

// read_from_archive reads through libarchive. If unknown bytes follow compressed data,
// libarchive reports a normal end, so check_padding checks them.
static ssize_t read_from_archive(struct tb_infile *file, void *out, size_t size)
{
	la_ssize_t n =
		file->ended ? 0
			    : file->library.archive_read_data(file->archive, out, size);
	if (n != 0)
		return n > 0 ? n : archive_broken(file);
	int status = file->ended ? TB_OK : check_padding(file);
	file->ended = true;
	return status;
}

static ssize_t decompress(struct tb_infile *file, void *out, size_t size)
{
	if (file->error.code != TB_OK)
		return -1;
	if (tb_stop_asked(file->stop))
		return stopped(file);
	if (!file->codec) {
		// First copy what `recognize` has read into `in`, then read directly into
		// the caller's buffer.
		size_t held = file->end - file->begin;
		if (held == 0) // after its end a terminal would block again
			return file->at_end ? 0 : read_fd(file, out, size);
		size_t n = held < size ? held : size;
		memcpy(out, file->in + file->begin, n);
		file->begin += n;
		return (ssize_t)n;
	}
	return file->archive ? read_from_archive(file, out, size)
			     : read_gzip(file, out, size);
}

ssize_t tb_infile_read(struct tb_infile *file, void *to, size_t size)
{
	size_t n_kept = file->n_peeked - file->peeked_at;
	if (n_kept > 0) {
		n_kept = n_kept < size ? n_kept : size;
		memcpy(to, file->peeked + file->peeked_at, n_kept);
		file->peeked_at += n_kept;
		return (ssize_t)n_kept;
	}
	// Where the data is cut, libarchive gives nothing of what it was asked for.
	if (file->archive && size > ARCHIVE_PART)
		size = ARCHIVE_PART;
	// zlib counts in unsigned int.
	return decompress(file, to, size < UINT32_MAX ? size : UINT32_MAX);
}

static ssize_t read_cookie(void *cookie, char *out, size_t size)
{
	ssize_t n = tb_infile_read(cookie, out, size);
	if (n >= 0)
		return n;
	errno = EIO;
	return -1;
}

static int close_cookie(void *cookie)
{
	struct tb_infile *file = cookie;
	inflateEnd(&file->gzip);
	if (file->archive)
		file->library.archive_read_free(file->archive);
	if (file->fd > STDIN_FILENO) // standard input is not ours to close
		close(file->fd);
	free(file);
	return 0;
}

// recognize chooses the codec by the first bytes and prepares it.
static int recognize(struct tb_infile *file)
{
	int more = 1;
	while (file->end < N_MAGIC_MAX && (more = fill_infile(file)) > 0)
		;
	if (more < 0)
		return more;
	for (size_t i = 0; i < N_CODECS && !file->codec; i++)
		if (file->end >= codecs[i].n_magic &&
			memcmp(file->in, codecs[i].magic, codecs[i].n_magic) == 0)
			file->codec = &codecs[i];
	if (!file->codec)
		return TB_OK;
	if (file->codec->filter != ARCHIVE_FILTER_NONE) {
		// Start libarchive. It passes data through unchanged that has a magic
		// number by chance, such as a text that begins with "BZh".
		const struct tb_libarchive *library = &file->library;
		struct archive_entry *entry;
		int status = tb_libarchive_load(&file->library, &file->error);
		if (status != TB_OK)
			return status;
		struct archive *archive = library->archive_read_new();
		if (!archive)
			return tb_fail_memory_in(&file->error, file->name, "it");
		file->archive = archive;
		if (library->archive_read_support_filter_by_code(
			    archive, file->codec->filter) !=
			ARCHIVE_OK) // a warning: it would run the codec's external
				    // program
			return tb_fail_in(&file->error, TB_EFORMAT, file->name,
				"is compressed with %s, which this libarchive cannot "
				"read",
				file->codec->name);
		library->archive_read_support_format_raw(archive);
		library->archive_read_support_format_empty(archive);
		int result = library->archive_read_open(
			archive, file, NULL, give_infile_block, NULL);
		if (result == ARCHIVE_OK)
			result = library->archive_read_next_header(archive, &entry);
		if (result < 0)
			return archive_broken(file);
		if (result != ARCHIVE_EOF)
			return TB_OK;
		status = check_padding(file); // the compressed data was empty
		file->ended = true;
		return status;
	}
	if (inflateInit2(&file->gzip, 15 + 16) == Z_OK)
		return TB_OK;
	return tb_fail_memory_in(&file->error, file->name, "it");
}

static int open_fd(struct tb_infile *file, const char *path, struct tb_error *error)
{
	if (strcmp(path, "-") == 0) {
		file->fd = STDIN_FILENO;
		path = "standard input";
		if (tb_input_note(file->fd, "-") != TB_OK)
			return tb_fail_memory_in(error, path, "it");
	} else {
		// Not to wait in here for the writer of a pipe: reading does that.
		file->fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
		if (file->fd < 0)
			return tb_fail_in(error, TB_EIO, path, "cannot be opened: %s",
				strerror(errno));
		if (tb_input_note(file->fd, path) != TB_OK) {
			close(file->fd);
			return tb_fail_memory_in(error, path, "it");
		}
	}
	size_t length = strlen(path);
	size_t skip = length < sizeof file->name ? 0 : length - sizeof file->name + 1;
	snprintf(file->name, sizeof file->name, "%s", path + skip);
	struct stat status;
	if (fstat(file->fd, &status) == 0 && S_ISREG(status.st_mode))
		file->n_bytes = (uint64_t)status.st_size;
	else
		file->may_wait = true;
	return TB_OK;
}

// skip_mark skips the byte order mark that editors and shells of Windows put before
// UTF-8.
static void skip_mark(struct tb_infile *file)
{
	static const char mark[] = "\xef\xbb\xbf";
	size_t n = sizeof mark - 1;
	ssize_t got = 1;
	while (file->n_peeked < n && got > 0) {
		got = decompress(file, file->peeked + file->n_peeked, n - file->n_peeked);
		file->n_peeked += got > 0 ? (size_t)got : 0;
	}
	if (file->n_peeked == n && memcmp(file->peeked, mark, n) == 0)
		file->n_peeked = 0;
}

int tb_infile_open(
	FILE **stream, struct tb_infile **file, const char *path, struct tb_error *error)
{
	struct tb_infile *opened = calloc(1, sizeof *opened);
	if (!opened)
		return tb_fail_memory_in(error, path, "it");
	int status = open_fd(opened, path, error);
	if (status != TB_OK) {
		free(opened);
		return status;
	}
	status = recognize(opened);
	if (status != TB_OK) {
		if (error)
			*error = opened->error;
		close_cookie(opened);
		return status;
	}
	skip_mark(opened);
	FILE *made = fopencookie(opened, "rb",
		(cookie_io_functions_t){.read = read_cookie, .close = close_cookie});
	if (!made) {
		close_cookie(opened);
		return tb_fail_memory_in(error, path, "it");
	}
	setvbuf(made, opened->buffer, _IOFBF, sizeof opened->buffer);
	*stream = made;
	*file = opened;
	return TB_OK;
}

int tb_infile_peek(
	struct tb_infile *file, size_t n, struct tb_bytes *first, struct tb_error *error)
{
	ssize_t got = 1;
	while (file->n_peeked < n && got > 0) {
		got = decompress(file, file->peeked + file->n_peeked,
			sizeof file->peeked - file->n_peeked);
		file->n_peeked += got > 0 ? (size_t)got : 0;
	}
	if (file->n_peeked == 0 && tb_infile_check(file, error) != TB_OK)
		return file->error.code;
	*first = (struct tb_bytes){file->peeked, file->n_peeked};
	return TB_OK;
}

void tb_infile_stop_on(struct tb_infile *file, const volatile sig_atomic_t *stop)
{
	file->stop = stop;
}

int tb_infile_check(const struct tb_infile *file, struct tb_error *error)
{
	if (file->error.code != TB_OK && error)
		*error = file->error;
	return file->error.code;
}

uint64_t tb_infile_bytes_most(const struct tb_infile *file)
{
	uint64_t times = file->codec ? file->codec->times : 1;
	return file->n_bytes == 0 || file->n_bytes > UINT64_MAX / times
		       ? UINT64_MAX
		       : file->n_bytes * times;
}

uint64_t tb_infile_bytes(const struct tb_infile *file)
{
	return file->n_bytes;
}

double tb_infile_fraction(const struct tb_infile *file)
{
	if (file->n_bytes == 0)
		return -1;
	uint64_t used = n_used(file);
	return used >= file->n_bytes ? 1 : (double)used / (double)file->n_bytes;
}

bool tb_infile_begins(const char *path, bool (*begins)(struct tb_bytes first))
{
	FILE *stream;
	struct tb_infile *file;
	struct tb_bytes first;
	if (tb_infile_open(&stream, &file, path, NULL) != TB_OK)
		return false;
	bool is = tb_infile_peek(file, TB_INFILE_PEEK_MAX, &first, NULL) == TB_OK &&
		  begins(first);
	fclose(stream);
	return is;
}

bool tb_infile_mentions(FILE *stream, const char *word, size_t most)
{
	char block[65536 + 64];
	size_t length = strlen(word), kept = 0, sum = 0, n;
	while (sum < most && (n = fread(block + kept, 1, 65536, stream)) > 0) {
		if (memmem(block, kept + n, word, length))
			return true;
		sum += n;
		size_t keep = kept + n < length ? kept + n : length - 1;
		memmove(block, block + kept + n - keep, keep);
		kept = keep;
	}
	return false;
}

int tb_infile_read_all(FILE *stream, const char *path, size_t most, uint8_t **bytes,
	size_t *n, struct tb_error *error)
{
	size_t room = 0;
	*bytes = NULL;
	*n = 0;
	for (size_t got = 1; got > 0; *n += got) {
		if (*n == room) {
			if (room == most)
				return tb_fail_in(error, TB_ECAPACITY, path,
					"has more than %zu MiB", most >> 20);
			room = room == 0 ? 65536 : room < most / 2 ? 2 * room : most;
			uint8_t *more = realloc(*bytes, room);
			if (!more)
				return tb_fail_memory_in(error, path, "it");
			*bytes = more;
		}
		got = fread(*bytes + *n, 1, room - *n, stream);
	}
	return TB_OK;
}

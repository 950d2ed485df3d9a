#include "outfile.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

static void release(struct tb_outfile *out)
{
	if (out->stream && out->name)
		fclose(out->stream);
	tb_newfile_close(&out->file);
	free(out->name);
	*out = (struct tb_outfile){0};
}

// is_special returns whether `name` is a device or pipe (/dev/null, a fifo), which must
// be written to instead of being replaced by a file.
static bool is_special(const char *name)
{
	struct stat status;
	return stat(name, &status) == 0 && !S_ISREG(status.st_mode);
}

// stream_into opens a stream on a second descriptor. Closing it reports late write errors
// (NFS) while the first one still keeps the file, which can then be given up.
static FILE *stream_into(const struct tb_newfile *file)
{
	int fd = fcntl(file->fd, F_DUPFD_CLOEXEC, 0);
	FILE *stream = fd < 0 ? NULL : fdopen(fd, "wb");
	if (!stream && fd >= 0)
		close(fd);
	return stream;
}

static int stat_named(const char *name, int standard, struct stat *status)
{
	return strcmp(name, "-") == 0 ? fstat(standard, status) : stat(name, status);
}

int tb_outfile_spare(const char *name, const char *input, struct tb_error *error)
{
	struct stat to, from;
	if (stat_named(name, STDOUT_FILENO, &to) != 0 || !S_ISREG(to.st_mode) ||
		stat_named(input, STDIN_FILENO, &from) != 0 || to.st_dev != from.st_dev ||
		to.st_ino != from.st_ino)
		return TB_OK;
	bool standard = strcmp(name, "-") == 0;
	return tb_fail_in(error, TB_EUSAGE, standard ? "standard output" : name,
		"is the same file as the input '%s': write to another one", input);
}

int tb_outfile_open(struct tb_outfile *out, const char *name, struct tb_error *error)
{
	struct tb_outfile opened = {0};
	if (strcmp(name, "-") == 0) {
		opened.stream = stdout;
		*out = opened;
		return TB_OK;
	}
	opened.name = strdup(name);
	if (!opened.name)
		return tb_fail_in(error, TB_ENOMEM, name, "no memory to open it");
	int status = TB_OK;
	if (is_special(name))
		opened.stream = fopen(name, "wb");
	else if ((status = tb_newfile_open(&opened.file, name, error)) == TB_OK)
		opened.stream = stream_into(&opened.file);
	if (status == TB_OK && !opened.stream)
		status = tb_fail_in(
			error, TB_EIO, name, "cannot be written: %s", strerror(errno));
	if (status != TB_OK) {
		release(&opened);
		return status;
	}
	*out = opened;
	return TB_OK;
}

// lost_cause guesses why an earlier write failed: stdio remembers only that it did.
static int lost_cause(const struct tb_outfile *out)
{
	struct statvfs space;
	// A device answers again, even to nothing: /dev/full.
	if (write(fileno(out->stream), "", 0) < 0)
		return errno;
	if (fstatvfs(fileno(out->stream), &space) == 0 && space.f_bavail == 0)
		return ENOSPC;
	return EIO;
}

// finish flushes the stream and returns 0, or the errno of the first failure.
static int finish(struct tb_outfile *out)
{
	int cause = ferror(out->stream) ? lost_cause(out) : 0;
	if (fflush(out->stream) != 0)
		cause = errno;
	if (!out->name) // standard output stays open
		return cause;
	if (fclose(out->stream) != 0 && !cause)
		cause = errno;
	out->stream = NULL;
	return cause;
}

int tb_outfile_commit(struct tb_outfile *out, struct tb_error *error)
{
	int cause = finish(out), status = TB_OK;
	if (cause)
		status = tb_fail_in(error, TB_EIO,
			out->name ? out->name : "standard output", "writing failed: %s",
			strerror(cause));
	else if (out->file.name)
		status = tb_newfile_publish(&out->file, true, error);
	release(out);
	return status;
}

void tb_outfile_abandon(struct tb_outfile *out)
{
	release(out);
}

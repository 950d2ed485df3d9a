#include "outfile.h"

#include "input_files.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

static void outfile_release(struct tb_outfile *out)
{
	if (out->stream && out->name)
		fclose(out->stream);
	tb_newfile_close(&out->file);
	free(out->name);
	*out = (struct tb_outfile){0};
}

// type_of returns the type of the file `name` itself, 0 if there is none.
static mode_t type_of(const char *name)
{
	struct stat status;
	return lstat(name, &status) == 0 ? status.st_mode & S_IFMT : 0;
}

int tb_outfile_spare(const char *name, struct tb_error *error)
{
	struct stat to;
	bool standard = strcmp(name, "-") == 0;
	if ((standard ? fstat(STDOUT_FILENO, &to) : stat(name, &to)) != 0)
		return TB_OK;
	return tb_input_spare(standard ? "standard output" : name, &to, error);
}

static int fail_to_write(const char *name, struct tb_error *error)
{
	return tb_fail_in(error, TB_EIO, name, "cannot be written: %s", strerror(errno));
}

static int check_direct(int fd, const char *name, struct tb_error *error)
{
	struct stat to;
	return fstat(fd, &to) == 0 ? tb_input_spare(name, &to, error) : TB_OK;
}

// open_at returns a descriptor for `path`, which is that of a descriptor, a device, a
// pipe or, `in_place`, a file. What stands in it goes once it is known to be no input. A
// file that another process has open is appended to.
static int open_at(const char *path, struct tb_error *error)
{
	int given = tb_newfile_descriptor(path);
	int append = type_of(path) == S_IFLNK ? O_APPEND : 0;
	int flags = O_WRONLY | O_CREAT | O_CLOEXEC | O_NOCTTY | append;
	int fd = given >= 0 ? fcntl(given, F_DUPFD_CLOEXEC, 0) : open(path, flags, 0666);
	if (fd < 0)
		return fail_to_write(path, error);
	struct stat to;
	int status = check_direct(fd, path, error);
	bool cuts = given < 0 && !append && fstat(fd, &to) == 0 && S_ISREG(to.st_mode);
	if (status == TB_OK && cuts && ftruncate(fd, 0) != 0)
		status = fail_to_write(path, error);
	if (status == TB_OK)
		return fd;
	close(fd);
	return status;
}

static int open_direct(struct tb_outfile *out, const char *path, struct tb_error *error)
{
	int fd = open_at(path, error);
	if (fd < 0)
		return fd;
	out->stream = fdopen(fd, "wb");
	if (out->stream)
		return TB_OK;
	close(fd);
	return fail_to_write(path, error);
}

// open_whole opens a stream on a second descriptor. Closing it reports late write errors
// (NFS) while the first one still keeps the file, which can then be given up.
static int open_whole(struct tb_outfile *out, const char *path, struct tb_error *error)
{
	int status = tb_newfile_open(&out->file, path, error);
	if (status != TB_OK)
		return status;
	int fd = fcntl(out->file.fd, F_DUPFD_CLOEXEC, 0);
	out->stream = fd < 0 ? NULL : fdopen(fd, "wb");
	if (!out->stream && fd >= 0)
		close(fd);
	return out->stream ? TB_OK : fail_to_write(path, error);
}

static int open_either(
	struct tb_outfile *out, const char *name, bool in_place, struct tb_error *error)
{
	struct tb_outfile opened = {0};
	int status;
	if (strcmp(name, "-") == 0) {
		opened.stream = stdout;
		status = check_direct(STDOUT_FILENO, "standard output", error);
	} else {
		// Here it has the name that was given, further below that of its file.
		status = tb_outfile_spare(name, error);
		if (status == TB_OK) {
			char *path = tb_newfile_follow(name);
			mode_t type = path ? type_of(path) : 0;
			// A device or pipe (/dev/null, a fifo) or a link to an open file
			// is written to instead of being replaced by a file.
			bool direct = in_place || (type && type != S_IFREG);
			opened.name = strdup(name);
			if (!path || !opened.name)
				status = fail_to_write(name, error);
			else if (direct || tb_newfile_descriptor(path) >= 0)
				status = open_direct(&opened, path, error);
			else
				status = open_whole(&opened, path, error);
			free(path);
		}
	}
	if (status != TB_OK) {
		outfile_release(&opened);
		return status;
	}
	*out = opened;
	return TB_OK;
}

int tb_outfile_open(struct tb_outfile *out, const char *name, struct tb_error *error)
{
	return open_either(out, name, false, error);
}

int tb_outfile_open_in_place(
	struct tb_outfile *out, const char *name, struct tb_error *error)
{
	return open_either(out, name, true, error);
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

// outfile_finish flushes the stream and returns 0, or the errno of the first failure.
static int outfile_finish(struct tb_outfile *out)
{
	int cause = ferror(out->stream) ? lost_cause(out) : 0;
	if (fflush(out->stream) != 0)
		cause = errno;
	if (!out->name) {    // standard output stays open
		if (cause) { // what is lost is reported once
			__fpurge(out->stream);
			clearerr(out->stream);
		}
		return cause;
	}
	if (fclose(out->stream) != 0 && !cause)
		cause = errno;
	out->stream = NULL;
	return cause;
}

int tb_outfile_commit(struct tb_outfile *out, struct tb_error *error)
{
	int cause = outfile_finish(out), status = TB_OK;
	if (cause)
		status = tb_fail_in(error, TB_EIO,
			out->name ? out->name : "standard output", "writing failed: %s",
			strerror(cause));
	else if (out->file.name)
		status = tb_newfile_publish(&out->file, true, error);
	outfile_release(out);
	return status;
}

void tb_outfile_abandon(struct tb_outfile *out)
{
	outfile_release(out);
}

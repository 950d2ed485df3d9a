#include "outfile.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

static void release(struct tb_outfile *out)
{
	free(out->name);
	free(out->temporary);
	*out = (struct tb_outfile){0};
}

// special tells devices and pipes (/dev/null, a fifo), which cannot be replaced by a
// rename.
static int special(const char *name)
{
	struct stat status;
	return stat(name, &status) == 0 && !S_ISREG(status.st_mode);
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
	size_t size = strlen(name) + 32;
	opened.temporary = malloc(size);
	if (!opened.name || !opened.temporary) {
		release(&opened);
		return tb_fail_in(error, TB_ENOMEM, name, "no memory to open it");
	}
	if (special(name))
		snprintf(opened.temporary, size, "%s", name);
	else
		snprintf(opened.temporary, size, "%s.part%ld", name, (long)getpid());
	opened.stream = fopen(opened.temporary, "wb");
	if (!opened.stream) {
		int cause = errno;
		release(&opened);
		return tb_fail_in(
			error, TB_EIO, name, "cannot be written: %s", strerror(cause));
	}
	*out = opened;
	return TB_OK;
}

// lost_cause guesses why an earlier write failed: stdio keeps no more than that it did.
static int lost_cause(const struct tb_outfile *out)
{
	struct statvfs space;
	if (out->temporary && statvfs(out->temporary, &space) == 0 && space.f_bavail == 0)
		return ENOSPC;
	return EIO;
}

int tb_outfile_commit(struct tb_outfile *out, struct tb_error *error)
{
	int failed = ferror(out->stream);
	errno = failed ? lost_cause(out) : 0;
	failed |= fflush(out->stream) != 0;
	int cause = errno;
	if (!out->name) {
		release(out);
		return failed ? tb_fail_in(error, TB_EIO, "standard output",
					"writing failed: %s", strerror(cause))
			      : TB_OK;
	}
	if (fclose(out->stream) != 0 && !failed) {
		failed = 1;
		cause = errno;
	}
	out->stream = NULL;
	if (!failed && strcmp(out->temporary, out->name) != 0 &&
		rename(out->temporary, out->name) != 0) {
		failed = 1;
		cause = errno;
	}
	int status = TB_OK;
	if (failed) {
		status = tb_fail_in(
			error, TB_EIO, out->name, "writing failed: %s", strerror(cause));
		if (strcmp(out->temporary, out->name) != 0)
			unlink(out->temporary);
	}
	release(out);
	return status;
}

void tb_outfile_abandon(struct tb_outfile *out)
{
	if (out->name) {
		fclose(out->stream);
		if (strcmp(out->temporary, out->name) != 0)
			unlink(out->temporary);
	}
	release(out);
}

#include "newfile.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define DESCRIPTORS "/proc/self/fd"
#define PARTS_MOST  16
#define NAME_MOST   4096

enum part_state { PART_FREE, PART_TAKEN, PART_STANDS };

// Names to remove when a signal ends the program. This is the one mutable state at file
// scope: a signal handler gets no context, and must not touch memory that another thread
// may be freeing.
static struct part {
	atomic_int state; // the handler reads `name` only while this is PART_STANDS
	char name[NAME_MOST];
} parts[PARTS_MOST];

static void remember(const char *name)
{
	size_t size = strlen(name) + 1;
	for (int i = 0; i < PARTS_MOST && size <= NAME_MOST; i++) {
		// Two threads may look for a slot at the same time.
		int expected = PART_FREE;
		if (!atomic_compare_exchange_strong(
			    &parts[i].state, &expected, PART_TAKEN))
			continue;
		memcpy(parts[i].name, name, size);
		atomic_store(&parts[i].state, PART_STANDS);
		return;
	}
}

static void forget(const char *name)
{
	for (int i = 0; i < PARTS_MOST; i++)
		if (atomic_load(&parts[i].state) == PART_STANDS &&
			strcmp(parts[i].name, name) == 0)
			atomic_store(&parts[i].state, PART_FREE);
}

void tb_newfile_remove_all(void)
{
	for (int i = 0; i < PARTS_MOST; i++)
		if (atomic_load(&parts[i].state) == PART_STANDS)
			unlink(parts[i].name);
}

// open_unnamed returns a descriptor, or -1 where the file system has no unnamed files or
// there is no /proc, through which they get their name.
static int open_unnamed(const char *name)
{
	const char *slash = strrchr(name, '/');
	char *folder = slash ? strndup(name, (size_t)(slash - name) + 1) : strdup(".");
	int fd = -1;
	if (folder && access(DESCRIPTORS, X_OK) == 0)
		fd = open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0666);
	free(folder);
	return fd;
}

// make_part returns "NAME.partPID", for the caller to free.
static char *make_part(const char *name)
{
	size_t size = strlen(name) + 32;
	char *part = malloc(size);
	if (part)
		snprintf(part, size, "%s.part%ld", name, (long)getpid());
	return part;
}

// open_named overwrites a part that an earlier process with the same pid left behind.
static int open_named(struct tb_newfile *file)
{
	file->temporary = make_part(file->name);
	if (!file->temporary) {
		errno = ENOMEM;
		return -1;
	}
	remember(file->temporary);
	int fd = open(file->temporary, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	if (fd < 0)
		forget(file->temporary);
	return fd;
}

static void release(struct tb_newfile *file)
{
	free(file->name);
	free(file->temporary);
	*file = (struct tb_newfile){.fd = -1};
}

// open_either makes the file without a name where that is possible, unless it is to have
// one.
static int open_either(
	struct tb_newfile *file, const char *name, bool as_part, struct tb_error *error)
{
	struct tb_newfile made = {.name = strdup(name), .fd = -1};
	if (!made.name)
		return tb_fail_in(error, TB_ENOMEM, name, "no memory to open it");
	if (!as_part)
		made.fd = open_unnamed(name);
	if (made.fd < 0)
		made.fd = open_named(&made);
	if (made.fd < 0) {
		int cause = errno;
		release(&made);
		return tb_fail_in(
			error, TB_EIO, name, "cannot be written: %s", strerror(cause));
	}
	*file = made;
	return TB_OK;
}

int tb_newfile_open(struct tb_newfile *file, const char *name, struct tb_error *error)
{
	return open_either(file, name, false, error);
}

int tb_newfile_open_part(
	struct tb_newfile *file, const char *name, struct tb_error *error)
{
	return open_either(file, name, true, error);
}

// link_as gives the unnamed file the name `name`.
static int link_as(const struct tb_newfile *file, const char *name)
{
	char descriptor[sizeof DESCRIPTORS + 16];
	snprintf(descriptor, sizeof descriptor, DESCRIPTORS "/%d", file->fd);
	return linkat(AT_FDCWD, descriptor, AT_FDCWD, name, AT_SYMLINK_FOLLOW);
}

// link_as_part gives the unnamed file its temporary name, from which it can be renamed.
static int link_as_part(struct tb_newfile *file)
{
	char *part = make_part(file->name);
	if (!part) {
		errno = ENOMEM;
		return -1;
	}
	remember(part);
	unlink(part); // left by an earlier process with this pid
	file->temporary = part;
	if (link_as(file, part) == 0)
		return 0;
	int cause = errno;
	forget(part);
	free(part);
	file->temporary = NULL;
	errno = cause;
	return -1;
}

// name_it returns -1 with errno EEXIST if the name exists and must not be replaced. No
// system call replaces a file by an unnamed one, so the file takes its temporary name
// first and is renamed from there.
static int name_it(struct tb_newfile *file, bool replace)
{
	if (!file->temporary) {
		int refused = link_as(file, file->name);
		if (!refused || errno != EEXIST || !replace)
			return refused;
		if (link_as_part(file) != 0)
			return -1;
	}
	return replace ? rename(file->temporary, file->name)
		       : renameat2(AT_FDCWD, file->temporary, AT_FDCWD, file->name,
				 RENAME_NOREPLACE);
}

// NFS does not support RENAME_NOREPLACE, but link(2) also refuses to replace a file.
static int link_part(const struct tb_newfile *file)
{
	int refused = link(file->temporary, file->name);
	return refused ? refused : unlink(file->temporary);
}

int tb_newfile_publish(struct tb_newfile *file, bool replace, struct tb_error *error)
{
	int refused = name_it(file, replace);
	if (refused && errno == EINVAL && file->temporary && !replace)
		refused = link_part(file);
	if (refused && errno == EEXIST)
		return tb_fail_in(error, TB_EFOREIGN, file->name, "is there already");
	if (refused)
		return tb_fail_in(
			error, TB_EIO, file->name, "writing failed: %s", strerror(errno));
	if (file->temporary)
		forget(file->temporary);
	free(file->temporary);
	file->temporary = NULL;
	return TB_OK;
}

void tb_newfile_close(struct tb_newfile *file)
{
	if (!file->name)
		return;
	if (file->fd >= 0)
		close(file->fd);
	if (file->temporary) {
		unlink(file->temporary);
		forget(file->temporary);
	}
	release(file);
}

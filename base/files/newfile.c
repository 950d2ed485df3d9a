#include "newfile.h"

#include "input_files.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <linux/magic.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#define DESCRIPTORS "/proc/self/fd"
#define PARTS_MOST  16
#define NAME_MOST   4096
#define LINKS_MOST  40 // as many as Linux follows
#define TRIES_MOST  100

enum part_state { PART_FREE, PART_TAKEN, PART_STANDS };

// Names to remove when a signal ends the program. This is the one mutable state at file
// scope: a signal handler gets no context, and must not touch memory that another thread
// may be freeing.
static struct part_slot {
	atomic_int state; // the handler reads `name` only while this is PART_STANDS
	char name[NAME_MOST];
} parts[PARTS_MOST];

// remember_part_name returns the slot that holds the name; -1: none is free, or the name
// too long.
static int remember_part_name(const char *name)
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
		return i;
	}
	return -1;
}

static void forget_part_name(int slot)
{
	if (slot >= 0)
		atomic_store(&parts[slot].state, PART_FREE);
}

void tb_newfile_remove_all(void)
{
	for (int i = 0; i < PARTS_MOST; i++)
		if (atomic_load(&parts[i].state) == PART_STANDS)
			unlink(parts[i].name);
}

// open_folder opens the folder that `name` stands in: -1 with errno.
static int open_folder(const char *name, int flags)
{
	const char *slash = strrchr(name, '/');
	char *folder = slash ? strndup(name, (size_t)(slash - name) + 1) : strdup(".");
	int fd = folder ? open(folder, flags | O_CLOEXEC, 0666) : -1;
	free(folder);
	return fd;
}

// name_part returns "NAME.partRANDOM", for the caller to free; NULL with errno. Nobody
// can foresee the name, so nobody can have put a link there.
static char *name_part(const char *name)
{
	uint64_t random;
	if (getrandom(&random, sizeof random, 0) != sizeof random)
		return NULL;
	size_t size = strlen(name) + 32;
	char *part = malloc(size);
	if (part)
		snprintf(part, size, "%s.part%016" PRIx64, name, random);
	return part;
}

// try_part has `make` make the file under a name that nothing has yet, and stores the
// name: the result of `make`, or -1 with errno.
static int try_part(struct tb_newfile *file,
	int (*make)(const struct tb_newfile *file, const char *part))
{
	int made = -1;
	errno = EEXIST;
	for (int i = 0; i < TRIES_MOST && made < 0 && errno == EEXIST; i++) {
		char *part = name_part(file->name);
		if (!part)
			return -1;
		int slot = remember_part_name(part);
		made = make(file, part);
		if (made >= 0) {
			file->temporary = part;
			file->slot = slot;
			break;
		}
		int cause = errno;
		forget_part_name(slot);
		free(part);
		errno = cause;
	}
	return made;
}

static int create_part(const struct tb_newfile *file, const char *part)
{
	(void)file;
	return open(part, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
}

// target_of_link returns what a link at `name` leads to, for the caller to free.
static char *target_of_link(const char *name, const char *target)
{
	char *path = NULL;
	const char *slash = target[0] == '/' ? NULL : strrchr(name, '/');
	int folder = slash ? (int)(slash - name) + 1 : 0;
	return asprintf(&path, "%.*s%s", folder, name, target) < 0 ? NULL : path;
}

// may_follow returns whether a link called `name` can be read. One on procfs leads to an
// open file; its text is no name of that file.
static bool may_follow(const char *name)
{
	struct statfs system;
	int folder = open_folder(name, O_PATH | O_DIRECTORY);
	if (folder < 0)
		return false;
	bool may = fstatfs(folder, &system) == 0 && system.f_type != PROC_SUPER_MAGIC;
	close(folder);
	return may;
}

char *tb_newfile_follow(const char *name)
{
	char target[PATH_MAX];
	char *path = strdup(name);
	for (int n_links = 0; path; n_links++) {
		ssize_t n =
			may_follow(path) ? readlink(path, target, sizeof target - 1) : -1;
		if (n < 0)
			return path;
		target[n] = '\0';
		char *next = n_links < LINKS_MOST ? target_of_link(path, target) : NULL;
		free(path);
		path = next;
		errno = n_links < LINKS_MOST ? ENOMEM : ELOOP;
	}
	return NULL;
}

// lists_own returns whether the open folder is one in which procfs lists this process's
// descriptors.
static bool lists_own(int folder)
{
	static const char *const own[] = {DESCRIPTORS, "/proc/thread-self/fd"};
	struct stat given, here;
	bool lists = false;
	for (size_t i = 0; i < sizeof own / sizeof *own; i++)
		lists |= fstat(folder, &given) == 0 && stat(own[i], &here) == 0 &&
			 given.st_dev == here.st_dev && given.st_ino == here.st_ino;
	return lists;
}

int tb_newfile_descriptor(const char *name)
{
	const char *slash = strrchr(name, '/');
	const char *digits = slash ? slash + 1 : name;
	size_t n_digits = strspn(digits, "0123456789");
	if (n_digits == 0 || n_digits > 7 || digits[n_digits])
		return -1;
	int folder = open_folder(name, O_PATH | O_DIRECTORY);
	if (folder < 0)
		return -1;
	bool own = lists_own(folder);
	close(folder);
	return own ? atoi(digits) : -1;
}

static void release_newfile(struct tb_newfile *file)
{
	free(file->name);
	free(file->temporary);
	*file = (struct tb_newfile){.fd = -1};
}

static int spare_input(const struct tb_newfile *file, struct tb_error *error)
{
	struct stat there;
	return stat(file->name, &there) == 0 ? tb_input_spare(file->name, &there, error)
					     : TB_OK;
}

int tb_newfile_open(struct tb_newfile *file, const char *name, struct tb_error *error)
{
	struct tb_newfile made = {.name = tb_newfile_follow(name), .fd = -1};
	if (!made.name)
		return tb_fail_in(
			error, TB_EIO, name, "cannot be written: %s", strerror(errno));
	if (spare_input(&made, error) != TB_OK) {
		release_newfile(&made);
		return TB_EUSAGE;
	}
	// Where the file system has unnamed files and there is /proc, through which they
	// get a name, use one.
	made.fd = access(DESCRIPTORS, X_OK) == 0
			  ? open_folder(made.name, O_TMPFILE | O_RDWR)
			  : -1;
	if (made.fd < 0)
		made.fd = try_part(&made, create_part);
	if (made.fd < 0) {
		int cause = errno;
		release_newfile(&made);
		return tb_fail_in(
			error, TB_EIO, name, "cannot be written: %s", strerror(cause));
	}
	tb_input_forget(made.fd);
	*file = made;
	return TB_OK;
}

// link_as gives the unnamed file the name `name`.
static int link_as(const struct tb_newfile *file, const char *name)
{
	char descriptor[sizeof DESCRIPTORS + 16];
	snprintf(descriptor, sizeof descriptor, DESCRIPTORS "/%d", file->fd);
	return linkat(AT_FDCWD, descriptor, AT_FDCWD, name, AT_SYMLINK_FOLLOW);
}

// publish_part returns -1 with errno EEXIST if the name exists and must not be replaced.
// No system call replaces a file by an unnamed one, so the file takes its temporary name
// first and is renamed from there.
static int publish_part(struct tb_newfile *file, bool replace)
{
	if (!file->temporary) {
		int refused = link_as(file, file->name);
		if (!refused || errno != EEXIST || !replace)
			return refused;
		if (try_part(file, link_as) != 0)
			return -1;
	}
	return replace ? rename(file->temporary, file->name)
		       : renameat2(AT_FDCWD, file->temporary, AT_FDCWD, file->name,
				 RENAME_NOREPLACE);
}

int tb_newfile_publish(struct tb_newfile *file, bool replace, struct tb_error *error)
{
	int status = replace ? spare_input(file, error) : TB_OK;
	if (status != TB_OK)
		return status;
	int refused = publish_part(file, replace);
	if (refused && errno == EINVAL && file->temporary && !replace) {
		// NFS does not support RENAME_NOREPLACE, but link(2) also refuses to
		// replace a file.
		int link_refused = link(file->temporary, file->name);
		refused = link_refused ? link_refused : unlink(file->temporary);
	}
	if (refused && errno == EEXIST)
		return tb_fail_in(error, TB_EFOREIGN, file->name, "is there already");
	if (refused)
		return tb_fail_in(
			error, TB_EIO, file->name, "writing failed: %s", strerror(errno));
	if (file->temporary)
		forget_part_name(file->slot);
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
		forget_part_name(file->slot);
	}
	release_newfile(file);
}

#include "store_output.h"

#include "sql.h"
#include "store_image.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

// How often another writer may remove the file that it has just made before tb_store_lock
// fails.
#define TRIES 100

static int open_regular(const char *path, bool *absent)
{
	struct stat entry;
	bool there = stat(path, &entry) == 0;
	*absent = !there && errno == ENOENT;
	if (there && !S_ISREG(entry.st_mode))
		errno = ENOTSUP;
	if (!there || !S_ISREG(entry.st_mode))
		return -1;
	return open(path, O_RDWR | O_CLOEXEC);
}

int tb_store_lock(const char *path, int *lock, bool *absent, struct tb_error *error)
{
	for (int i = 0; i < TRIES; i++) {
		int file = open_regular(path, absent);
		*lock = -1;
		if (file < 0 && errno == ENOENT && !*absent)
			continue;
		if (file < 0)
			return TB_OK;
		if (flock(file, LOCK_EX | LOCK_NB) != 0) {
			bool taken = errno == EWOULDBLOCK;
			close(file);
			if (!taken)
				return TB_OK;
			return tb_fail_in(error, TB_EIO, path,
				"another replay is writing into it: wait until that has "
				"ended, or name another store");
		}
		// The previous holder of the lock may have removed the file.
		struct stat locked, named;
		if (fstat(file, &locked) == 0 && stat(path, &named) == 0 &&
			locked.st_ino == named.st_ino && locked.st_dev == named.st_dev) {
			*lock = file;
			return TB_OK;
		}
		close(file);
	}
	return tb_fail_in(error, TB_EIO, path, "other writers keep removing it");
}

void tb_store_unlock(int lock)
{
	if (lock >= 0)
		close(lock);
}

// remove_leftovers removes what stands beside the file, behind links, as SQLite looks
// there.
static int remove_leftovers(const char *name, const char *path, struct tb_error *error)
{
	static const char *const endings[] = {"-journal", "-wal", "-shm"};
	for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
		char *beside = NULL;
		if (asprintf(&beside, "%s%s", name, endings[i]) < 0)
			return tb_fail_memory_in(error, path, "it");
		int refused = unlink(beside);
		int cause = errno;
		free(beside);
		if (refused && cause != ENOENT)
			return tb_fail_in(error, TB_EIO, path,
				"cannot be made: %s%s is left of another store of this "
				"name, and cannot be removed: %s",
				path, endings[i], strerror(cause));
	}
	return TB_OK;
}

int tb_store_name(struct tb_newfile *file, const char *path, struct tb_error *error)
{
	if (flock(file->fd, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK)
		return tb_fail_in(error, TB_EIO, path, "cannot be locked");
	int status = tb_newfile_publish(file, false, error);
	if (status != TB_OK)
		return status;
	// Only now: with the name and the lock nobody else writes beside it.
	status = remove_leftovers(file->name, path, error);
	if (status != TB_OK)
		unlink(file->name);
	return status;
}

int tb_store_made_open(
	sqlite3 **db, struct tb_newfile *file, const char *path, struct tb_error *error)
{
	int status = tb_newfile_open(file, path, error);
	if (status == TB_EIO)
		status = tb_fail_in(
			error, TB_EIO, path, "cannot be opened: %s", strerror(errno));
	return status == TB_OK ? tb_store_image_open(db, TB_SQL_PAGE_BYTES, path, error)
			       : status;
}

// write_whole returns 0, or -1 with errno set.
static int write_whole(int fd, const unsigned char *bytes, size_t n)
{
	while (n > 0) {
		ssize_t written = write(fd, bytes, n);
		if (written < 0 && errno == EINTR)
			continue;
		if (written < 0)
			return -1;
		bytes += written;
		n -= (size_t)written;
	}
	return fdatasync(fd);
}

int tb_store_made_publish(sqlite3 **db, struct tb_newfile *file, const char *path,
	int *lock, struct tb_error *error)
{
	assert(sqlite3_get_autocommit(*db) && !sqlite3_next_stmt(*db, NULL));
	sqlite3_int64 size = 0;
	int status = tb_sql_exec(*db, path, "BEGIN", error);
	if (!status)
		status = tb_sql_put_views(*db, path, error);
	if (!status)
		status = tb_sql_exec(*db, path, "COMMIT", error);
	if (status)
		return status;
	unsigned char *bytes = sqlite3_serialize(*db, "main", &size, 0);
	if (!bytes)
		return tb_fail_memory_in(error, path, "the store");
	int refused = write_whole(file->fd, bytes, (size_t)size);
	int cause = errno;
	sqlite3_free(bytes);
	if (refused)
		return tb_fail_in(
			error, TB_EIO, path, "cannot be written: %s", strerror(cause));
	// Keep the lock that the file gets with its name.
	*lock = fcntl(file->fd, F_DUPFD_CLOEXEC, 0);
	status = *lock >= 0 ? tb_store_name(file, path, error)
			    : tb_fail_in(error, TB_EIO, path, "cannot be kept locked: %s",
				      strerror(errno));
	if (status == TB_EFOREIGN)
		status = tb_fail_in(error, TB_EIO, path,
			"was made by another replay meanwhile: replay again to add to "
			"it, or name another store");
	if (status != TB_OK) {
		tb_store_unlock(*lock);
		*lock = -1;
		return status;
	}
	// Closing a descriptor of the file drops SQLite's own locks on it. So close this
	// one before SQLite opens the file, and the lock's after SQLite has closed it.
	tb_newfile_close(file);
	sqlite3_close(*db);
	*db = NULL;
	return tb_sql_open_made(db, path, error);
}

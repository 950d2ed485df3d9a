#include "store_impl.h"

#include "sql.h"
#include "store_lock.h"
#include "store_name.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

int tb_store_made_open(
	sqlite3 **db, struct tb_newfile *file, const char *path, struct tb_error *error)
{
	int status = tb_newfile_open(file, path, error);
	if (status == TB_EIO)
		status = tb_fail_in(
			error, TB_EIO, path, "cannot be opened: %s", strerror(errno));
	return status == TB_OK ? tb_sql_make(db, TB_SQL_PAGE_BYTES, path, error) : status;
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

static int made_copy_bytes(sqlite3 *db, const struct tb_newfile *file, const char *path,
	struct tb_error *error)
{
	sqlite3_int64 size = 0;
	unsigned char *bytes = sqlite3_serialize(db, "main", &size, 0);
	if (!bytes)
		return tb_fail_memory_in(error, path, "the store");
	int refused = write_whole(file->fd, bytes, (size_t)size);
	int cause = errno;
	sqlite3_free(bytes);
	return refused ? tb_fail_in(error, TB_EIO, path, "cannot be written: %s",
				 strerror(cause))
		       : TB_OK;
}

// keep_lock keeps the lock that the file gets with its name.
static int keep_lock(
	struct tb_newfile *file, const char *path, int *lock, struct tb_error *error)
{
	*lock = fcntl(file->fd, F_DUPFD_CLOEXEC, 0);
	return *lock >= 0 ? TB_OK
			  : tb_fail_in(error, TB_EIO, path, "cannot be kept locked: %s",
				    strerror(errno));
}

static int made_name_it(struct tb_newfile *file, const char *path, struct tb_error *error)
{
	int status = tb_store_name(file, path, error);
	if (status == TB_EFOREIGN)
		return tb_fail_in(error, TB_EIO, path,
			"was made by another replay meanwhile: replay again to add to "
			"it, or name another store");
	return status;
}

int tb_store_made_publish(sqlite3 **db, struct tb_newfile *file, const char *path,
	int *lock, struct tb_error *error)
{
	assert(sqlite3_get_autocommit(*db) && !sqlite3_next_stmt(*db, NULL));
	int status = made_copy_bytes(*db, file, path, error);
	if (status == TB_OK)
		status = keep_lock(file, path, lock, error);
	if (status == TB_OK)
		status = made_name_it(file, path, error);
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

#include "merge_file.h"

#include "sql.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct tb_merge_file {
	sqlite3_vfs vfs;
	int fd;
	char name[48];
};

// What SQLite keeps per file: the base comes first.
struct merge_io {
	sqlite3_file base;
	int fd;
};

static int fd_of(sqlite3_file *file)
{
	return ((struct merge_io *)file)->fd;
}

static int merge_file_on_close(sqlite3_file *file)
{
	(void)file; // the descriptor is the caller's
	return SQLITE_OK;
}

// merge_file_on_read fills what lies behind the end of the file with zeros, as SQLite
// expects.
static int merge_file_on_read(sqlite3_file *file, void *to, int n, sqlite3_int64 at)
{
	int got = 0;
	while (got < n) {
		ssize_t more =
			pread(fd_of(file), (char *)to + got, (size_t)(n - got), at + got);
		if (more < 0 && errno == EINTR)
			continue;
		if (more < 0)
			return SQLITE_IOERR_READ;
		if (more == 0)
			break;
		got += (int)more;
	}
	memset((char *)to + got, 0, (size_t)(n - got));
	return got == n ? SQLITE_OK : SQLITE_IOERR_SHORT_READ;
}

static int on_write(sqlite3_file *file, const void *from, int n, sqlite3_int64 at)
{
	for (int put = 0; put < n;) {
		ssize_t more = pwrite(fd_of(file), (const char *)from + put,
			(size_t)(n - put), at + put);
		if (more < 0 && errno == EINTR)
			continue;
		if (more < 0)
			return errno == ENOSPC ? SQLITE_FULL : SQLITE_IOERR_WRITE;
		put += (int)more;
	}
	return SQLITE_OK;
}

static int on_truncate(sqlite3_file *file, sqlite3_int64 size)
{
	return ftruncate(fd_of(file), size) == 0 ? SQLITE_OK : SQLITE_IOERR_TRUNCATE;
}

// on_sync leaves it to the end, when the merge has the whole file written.
static int on_sync(sqlite3_file *file, int flags)
{
	(void)file;
	(void)flags;
	return SQLITE_OK;
}

static int on_size(sqlite3_file *file, sqlite3_int64 *size)
{
	struct stat now;
	if (fstat(fd_of(file), &now) != 0)
		return SQLITE_IOERR_FSTAT;
	*size = now.st_size;
	return SQLITE_OK;
}

static int on_lock(sqlite3_file *file, int level)
{
	(void)file;
	(void)level;
	return SQLITE_OK;
}

static int on_reserved(sqlite3_file *file, int *is)
{
	(void)file;
	*is = 0;
	return SQLITE_OK;
}

static int on_control(sqlite3_file *file, int code, void *argument)
{
	(void)file;
	(void)code;
	(void)argument;
	return SQLITE_NOTFOUND;
}

static int no_answer(sqlite3_file *file)
{
	(void)file;
	return 0; // sectors and devices as SQLite takes them to be
}

// on_open opens the one file. There is no journal, and temporary tables are in memory.
static int on_open(
	sqlite3_vfs *vfs, const char *name, sqlite3_file *file, int flags, int *out)
{
	static const sqlite3_io_methods methods = {.iVersion = 1,
		.xClose = merge_file_on_close,
		.xRead = merge_file_on_read,
		.xWrite = on_write,
		.xTruncate = on_truncate,
		.xSync = on_sync,
		.xFileSize = on_size,
		.xLock = on_lock,
		.xUnlock = on_lock,
		.xCheckReservedLock = on_reserved,
		.xFileControl = on_control,
		.xSectorSize = no_answer,
		.xDeviceCharacteristics = no_answer};
	struct tb_merge_file *of = vfs->pAppData;
	(void)name;
	file->pMethods = NULL;
	if (!(flags & SQLITE_OPEN_MAIN_DB))
		return SQLITE_CANTOPEN;
	*(struct merge_io *)file = (struct merge_io){{&methods}, of->fd};
	if (out)
		*out = flags;
	return SQLITE_OK;
}

static int on_full_name(sqlite3_vfs *vfs, const char *name, int n, char *to)
{
	(void)vfs;
	snprintf(to, (size_t)n, "%s", name);
	return SQLITE_OK;
}

// on_access answers whether a file beside the database is there: none ever is.
static int on_access(sqlite3_vfs *vfs, const char *name, int flags, int *is)
{
	(void)vfs;
	(void)name;
	(void)flags;
	*is = 0;
	return SQLITE_OK;
}

int tb_merge_file_new(struct tb_merge_file **file, sqlite3 **db, int fd, const char *path,
	struct tb_error *error)
{
	struct tb_merge_file *made = calloc(1, sizeof *made);
	if (!made)
		return tb_fail_memory_in(error, path, "it");
	made->vfs = *sqlite3_vfs_find(NULL); // its clock and its random numbers
	made->vfs.szOsFile = sizeof(struct merge_io);
	made->vfs.pAppData = made;
	made->vfs.pNext = NULL;
	made->vfs.xOpen = on_open;
	made->vfs.xAccess = on_access;
	made->vfs.xFullPathname = on_full_name;
	made->fd = fd;
	// SQLite finds file systems by their names, so each has one of its own.
	snprintf(made->name, sizeof made->name, "merge-%p", (void *)made);
	made->vfs.zName = made->name;
	int code = sqlite3_vfs_register(&made->vfs, 0);
	int status = code == SQLITE_OK ? tb_sql_make_on(db, made->name, path, error)
				       : tb_fail_memory_in(error, path, "it");
	if (status != TB_OK) {
		tb_merge_file_free(made);
		return status;
	}
	*file = made;
	return TB_OK;
}

void tb_merge_file_free(struct tb_merge_file *file)
{
	if (file)
		sqlite3_vfs_unregister(&file->vfs);
	free(file);
}

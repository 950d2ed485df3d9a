#include "store_lock.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

// How often another writer may remove the file that it has just made before tb_store_lock
// fails.
#define TRIES 100

// is_still returns whether the path still names the locked file: the previous holder of
// the lock may have removed it.
static bool is_still(int file, const char *path)
{
	struct stat locked, named;
	return fstat(file, &locked) == 0 && stat(path, &named) == 0 &&
	       locked.st_ino == named.st_ino && locked.st_dev == named.st_dev;
}

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
		if (is_still(file, path)) {
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

#include "store_name.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

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

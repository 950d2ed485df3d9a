// A temporary folder, under TMPDIR or /tmp.
#ifndef TB_TEMPORARY_H
#define TB_TEMPORARY_H

#include "status.h"

#include <limits.h>
#include <stddef.h>
#include <sys/types.h>

// tb_temporary_folder makes a folder that is this user's alone and writes its path;
// `purpose` stands in the error ("the store"). TB_EIO, and an empty path, when there can
// be none. Whoever made it removes it.
int tb_temporary_folder(
	char *path, size_t size, const char *purpose, struct tb_error *error) TB_MUST_USE;

// A temporary folder that goes with all that is in it when it is removed, or when this
// process ends, however it does: a shell waits for that.
struct tb_temporary {
	char path[PATH_MAX];
	int guard; // descriptor whose end the shell waits for
	pid_t shell;
};

// tb_temporary_guarded makes one. Errors as tb_temporary_folder.
int tb_temporary_guarded(struct tb_temporary *folder, const char *purpose,
	struct tb_error *error) TB_MUST_USE;

// tb_temporary_remove removes it, and returns when it is gone.
void tb_temporary_remove(struct tb_temporary *folder);

#endif

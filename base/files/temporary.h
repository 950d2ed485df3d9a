// A temporary folder, under TMPDIR or /tmp.
#ifndef TB_TEMPORARY_H
#define TB_TEMPORARY_H

#include "status.h"

#include <stddef.h>

// tb_temporary_folder makes a folder that is this user's alone and writes its path;
// `purpose` stands in the error ("the store"). TB_EIO, and an empty path, when there can
// be none. Whoever made it removes it.
int tb_temporary_folder(
	char *path, size_t size, const char *purpose, struct tb_error *error) TB_MUST_USE;

#endif

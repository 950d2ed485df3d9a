// SQLite on an open file that need not have a name: a merged store gets its name when it
// is whole.
//
// SQLite opens files by their names only, so this is a file system for it
// (sqlite.org/vfs.html) that knows one file: the descriptor. Nobody else sees the file,
// so it takes no locks, and it has no journal: after a crash nothing is left of it.
#ifndef TB_MERGE_FILE_H
#define TB_MERGE_FILE_H

#include "status.h"

#include <sqlite3.h>

struct tb_merge_file; // opaque

// tb_merge_file_new makes the file system for a descriptor, which stays the caller's, and
// makes the tables of a store in the file; `path` is for errors. Free it after the
// database has been closed. TB_ENOMEM, TB_EIO.
int tb_merge_file_new(struct tb_merge_file **file, sqlite3 **db, int fd, const char *path,
	struct tb_error *error) TB_MUST_USE;
void tb_merge_file_free(struct tb_merge_file *file);

#endif

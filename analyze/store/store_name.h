// A new store gets its name. Private to analyze/.
#ifndef TB_STORE_NAME_H
#define TB_STORE_NAME_H

#include "newfile.h"

// tb_store_name locks the file (store_lock.h), for as long as one of its descriptors is
// open, and gives it its name, at which no file may be: TB_EFOREIGN when there is one.
//
// What SQLite left beside a file of that name which was removed, or moved, since goes,
// too: a journal or write-ahead log (`-journal`, `-wal`, `-shm`) would be played into the
// new one. SQLite itself removes them beside a file that is empty. TB_EIO when they
// cannot be removed, and the file then has no name, or when it cannot be locked or named.
// `path` is for errors.
int tb_store_name(
	struct tb_newfile *file, const char *path, struct tb_error *error) TB_MUST_USE;

#endif

// A store that is being made: in memory until its first commit, so that whatever kills
// the program before leaves no file. Private to analyze/.
//
// Memory: the first commit's bytes twice.
#ifndef TB_STORE_MADE_H
#define TB_STORE_MADE_H

#include "newfile.h"

#include <sqlite3.h>

// tb_store_made_open makes the tables, in a transaction that stays open, and the file
// that will hold them, which has no name yet. TB_EIO when its folder refuses.
int tb_store_made_open(sqlite3 **db, struct tb_newfile *file, const char *path,
	struct tb_error *error) TB_MUST_USE;

// tb_store_made_publish copies what was committed in memory into the file, names it, and
// opens it in place of the database in memory, which it closes: all statements of that
// must have been finalized. Stores the writer's lock. TB_EIO when the disk is full or
// another replay made the file meanwhile; then `db` is as it was.
int tb_store_made_publish(sqlite3 **db, struct tb_newfile *file, const char *path,
	int *lock, struct tb_error *error) TB_MUST_USE;

#endif

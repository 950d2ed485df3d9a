// A new store is kept in memory until its first commit, so that a program killed before
// that leaves no file. Private to analyze/.
//
// Memory: twice the size of the first commit.
#ifndef TB_STORE_MADE_H
#define TB_STORE_MADE_H

#include "newfile.h"

#include <sqlite3.h>

// tb_store_made_open makes the tables, in a transaction that stays open, and the file
// that will hold them, which has no name yet. TB_EIO when the folder cannot be written.
int tb_store_made_open(sqlite3 **db, struct tb_newfile *file, const char *path,
	struct tb_error *error) TB_MUST_USE;

// tb_store_made_publish copies what was committed in memory into the file, gives it its
// name, and replaces `*db`, the database in memory, with the opened file. All statements
// of the database in memory must be finalized before. Stores the writer's lock. TB_EIO
// when the disk is full or another replay has made the file meanwhile; `db` is then
// unchanged.
int tb_store_made_publish(sqlite3 **db, struct tb_newfile *file, const char *path,
	int *lock, struct tb_error *error) TB_MUST_USE;

#endif

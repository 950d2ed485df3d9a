// The file that a store is written into: it has one writer, and a new one gets its name
// when there is something in it. Private to analyze/.
//
// One writer: a lock on the file from the first transaction to the last, so that no other
// writer can start between two commits. It is advisory (flock), ends with the process,
// and does not affect readers. Where the file system has no locks or the file cannot be
// opened, there is none: SQLite then reports the error, or separates writers for the
// length of a transaction only.
//
// A new store is kept in memory until its first commit, so that a program killed before
// that leaves no file. Memory: twice the size of the first commit.
#ifndef TB_STORE_OUTPUT_H
#define TB_STORE_OUTPUT_H

#include "newfile.h"

#include <sqlite3.h>

// tb_store_lock takes the lock of `path` and stores in `lock` the handle for
// tb_store_unlock, -1 when there is no lock, and in `absent` whether the file is missing.
// TB_EIO when another writer holds the lock.
int tb_store_lock(
	const char *path, int *lock, bool *absent, struct tb_error *error) TB_MUST_USE;

// tb_store_unlock releases the lock. SQLite must have closed the file first: closing it
// here would drop SQLite's own locks.
void tb_store_unlock(int lock);

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

// tb_store_name locks the file, for as long as one of its descriptors is open, and gives
// it its name, at which no file may be: TB_EFOREIGN when there is one.
//
// What SQLite left beside a file of that name which was removed, or moved, since goes,
// too: a journal or write-ahead log (`-journal`, `-wal`, `-shm`) would be played into the
// new one. SQLite itself removes them beside a file that is empty. TB_EIO when they
// cannot be removed, and the file then has no name, or when it cannot be locked or named.
// `path` is for errors.
int tb_store_name(
	struct tb_newfile *file, const char *path, struct tb_error *error) TB_MUST_USE;

#endif

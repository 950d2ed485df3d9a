// One writer per store: a lock on the file from the first transaction to the last, so
// that no other writer can start between two commits. Private to analyze/.
//
// The lock is advisory (flock), ends with the process, and does not affect readers. Where
// the file system has no locks or the file cannot be opened, there is none: SQLite then
// reports the error, or separates writers for the length of a transaction only.
#ifndef TB_STORE_LOCK_H
#define TB_STORE_LOCK_H

#include "status.h"

#include <stdbool.h>

// tb_store_lock takes the lock of `path` and stores in `lock` the handle for
// tb_store_unlock, -1 when there is no lock, and in `absent` whether the file is missing.
// TB_EIO when another writer holds the lock.
int tb_store_lock(
	const char *path, int *lock, bool *absent, struct tb_error *error) TB_MUST_USE;

// tb_store_unlock releases the lock. SQLite must have closed the file first: closing it
// here would drop SQLite's own locks.
void tb_store_unlock(int lock);

#endif

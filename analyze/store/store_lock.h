// One writer a store: a lock on the file from the first transaction to the last, so that
// none can come in between two commits. Private to analyze/.
//
// The lock is advisory (flock), goes away with the process, and does not hinder readers.
// Where the file system has none, or the file cannot be opened, there is no lock: SQLite
// then tells what is wrong, or keeps writers apart for the length of a transaction.
#ifndef TB_STORE_LOCK_H
#define TB_STORE_LOCK_H

#include "status.h"

#include <stdbool.h>

// tb_store_lock takes the lock of `path` and stores what is to be closed, -1 when there
// is no lock; or stores that no file is there. TB_EIO when another writer has it.
int tb_store_lock(
	const char *path, int *lock, bool *absent, struct tb_error *error) TB_MUST_USE;

// tb_store_unlock gives the lock back. SQLite must have closed the file before: closing
// it here would drop SQLite's own locks.
void tb_store_unlock(int lock);

#endif

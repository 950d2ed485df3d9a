// Writes what queues had no room for. Private to analyze/; within the caller's
// transaction.
#ifndef TB_STORE_LOSSES_H
#define TB_STORE_LOSSES_H

#include "observer.h"
#include "status.h"

#include <sqlite3.h>

int tb_store_write_losses(sqlite3 *db, const char *path, int64_t run,
	const struct tb_loss_record *record, struct tb_error *error) TB_MUST_USE;

#endif

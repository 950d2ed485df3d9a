// Copies of struct tb_blame_record (observer.h), which own their arrays.
#ifndef TB_BLAME_COPY_H
#define TB_BLAME_COPY_H

#include "observer.h"

// tb_blame_record_copy stores a copy of `from`; free it by tb_blame_record_free. Upon
// TB_ENOMEM there is nothing to free.
int tb_blame_record_copy(
	struct tb_blame_record *copy, const struct tb_blame_record *from) TB_MUST_USE;

// tb_blame_record_free frees the arrays of a record that owns them, and zeroes it.
void tb_blame_record_free(struct tb_blame_record *record);

#endif

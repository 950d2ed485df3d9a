// Formats that are recognised and not read, in one table, so that a refusal names what a
// file is and what to give instead.
#ifndef TB_FOREIGN_H
#define TB_FOREIGN_H

#include "bytes.h"
#include "status.h"

#include <stdbool.h>

// tb_foreign_is returns whether a file that has this name and begins with these bytes,
// decompressed, is of such a format.
bool tb_foreign_is(const char *path, struct tb_bytes first);

// tb_foreign_refuse says what the file is: TB_EFORMAT, as no other reader has it.
int tb_foreign_refuse(const char *name, const char *path, struct tb_bytes first,
	struct tb_error *error) TB_MUST_USE;

#endif

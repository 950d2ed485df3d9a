// What does not fit into the computer's memory is refused before it is asked for: the
// system would promise it, and kill the program as it is filled.
#ifndef TB_MEMORY_H
#define TB_MEMORY_H

#include "status.h"

#include <stdint.h>

// tb_memory_check returns TB_ECAPACITY when `what`, such as "the routes of 9 switches to
// 40 nodes", takes more bytes than the computer has.
int tb_memory_check(uint64_t bytes, const char *what, struct tb_error *error) TB_MUST_USE;

#endif

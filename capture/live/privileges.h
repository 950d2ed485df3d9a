// Giving up privileges, for good, once what needed them is open.
#ifndef TB_PRIVILEGES_H
#define TB_PRIVILEGES_H

#include "status.h"

// tb_privileges_drop makes the process that of user `name`, with the groups of that user,
// and gives up all capabilities. Without being root it only gives up capabilities, and
// `name` must be NULL. With `name` "root" nothing changes. TB_EUSAGE when there is no
// such user or the process may not become it, TB_EIO when the system refuses.
int tb_privileges_drop(const char *name, struct tb_error *error) TB_MUST_USE;

#endif

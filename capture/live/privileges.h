// Gives up privileges for good, once the capture that needed them is open.
#ifndef TB_PRIVILEGES_H
#define TB_PRIVILEGES_H

#include "status.h"

// tb_privileges_drop makes the process run as user `name`, with that user's groups, which
// also drops all capabilities. With `name` NULL it only drops all capabilities. With
// "root" it changes nothing. TB_EUSAGE when there is no such user or the process is not
// root, TB_EIO when the system refuses.
int tb_privileges_drop(const char *name, struct tb_error *error) TB_MUST_USE;

#endif

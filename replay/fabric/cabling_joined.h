// Keeps of a fabric the one part that hangs together and has hosts.
#ifndef TB_CABLING_JOINED_H
#define TB_CABLING_JOINED_H

#include "cabling.h"

// tb_cabling_keep_joined leaves out devices that no cable joins to a host. TB_EFORMAT
// when two parts of the fabric have hosts, or none has.
int tb_cabling_keep_joined(struct tb_cabling *cabling) TB_MUST_USE;

#endif

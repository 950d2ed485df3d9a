// The links of a measured run of which no port counted anything.
#ifndef TB_UNMEASURED_H
#define TB_UNMEASURED_H

#include "run.h"

// tb_unmeasured_read stores, by link, whether it was not measured; the caller frees the
// array, which has one entry at least. Stores of older versions mark no link.
// TB_ENOMEM; TB_EFORMAT when the file is damaged. Cost: links, and a row for each.
int tb_unmeasured_read(
	bool **unmeasured, struct tb_run *run, struct tb_error *error) TB_MUST_USE;

#endif

// Between what the run time of inferred jobs lies, in words.
#ifndef TB_RANGE_TEXT_H
#define TB_RANGE_TEXT_H

#include "units.h"

#include <stddef.h>

struct tb_range {
	tb_time_ps least_ps, likely_ps, most_ps;
	uint64_t n_calls, n_hidden, n_untold; // see struct tb_run_info
};

#define TB_RANGE_TEXT 480

// tb_range_text writes a sentence; of a wide range it has the reason and what would make
// it narrower. Returns buffer, always terminated; TB_RANGE_TEXT bytes suffice.
char *tb_range_text(const struct tb_range *range, char *buffer, size_t size);

#endif

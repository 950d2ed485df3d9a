// Exact sums of waits by a key: a table that grows with the keys that occur. Private to
// replay/.
#ifndef TB_WAIT_SUMS_H
#define TB_WAIT_SUMS_H

#include "status.h"
#include "wait_key.h"

#include <stddef.h>

struct tb_wait_sum { // two figures, both 0 in a free slot
	struct tb_wait_key key;
	uint64_t first, second;
};

struct tb_wait_sums {		   // zeroed: empty
	struct tb_wait_sum *slots; // open addressing
	size_t n_slots;		   // 0 or a power of two
	size_t n_used;
};

void tb_wait_sums_fini(struct tb_wait_sums *sums);

// tb_wait_sums_add adds to both figures of a key; not both are 0. TB_ENOMEM leaves the
// sums as they were.
int tb_wait_sums_add(struct tb_wait_sums *sums, struct tb_wait_key key, uint64_t first,
	uint64_t second) TB_MUST_USE;

// tb_wait_sums_list moves the sums, sorted by key, to the front of the slots: `n_used` of
// them. The table is then a list; do not add to it.
void tb_wait_sums_list(struct tb_wait_sums *sums);

// tb_wait_sums_widen adds up the sums whose keys differ in a by 1, from an even one:
// slices twice as wide. TB_ENOMEM as above.
int tb_wait_sums_widen(struct tb_wait_sums *sums) TB_MUST_USE;

#endif

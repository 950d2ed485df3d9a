// The first few of many in order, without putting the rest in order: for lists of which a
// page is read.
#ifndef TB_SELECT_H
#define TB_SELECT_H

#include <stddef.h>

// tb_select_first moves the `k` smallest of n entries to the front, sorted; the rest
// follow in no order. `compare` is as qsort's and calls no two entries equal, else which
// of them come first is open. Entries have at most TB_SELECT_SIZE_MAX bytes. Cost: n on
// average, and k log k.
#define TB_SELECT_SIZE_MAX 64
void tb_select_first(void *entries, size_t n, size_t size, size_t k,
	int (*compare)(const void *, const void *));

#endif

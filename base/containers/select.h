// Sorts only the first k of n entries, for lists of which the user sees one page.
#ifndef TB_SELECT_H
#define TB_SELECT_H

#include <stddef.h>

// tb_select_first moves the `k` smallest of `n` entries to the front, sorted; the rest
// follow in no particular order. `compare` is as for qsort. It should call no two entries
// equal: which of equal entries come first is undefined. An entry has at most
// TB_SELECT_SIZE_MAX bytes. Cost: O(n + k log k) on average.
#define TB_SELECT_SIZE_MAX 256
void tb_select_first(void *entries, size_t n, size_t size, size_t k,
	int (*compare)(const void *, const void *));

#endif

// Sorting of an array of any type, in the manner of heap.h:
//
//	TB_SORT(events_by_time, struct event, sooner)
//
// defines `events_by_time(items, spare, n)`, for items of type struct event and `bool
// sooner(const struct event *a, const struct event *b)`. Items of which neither comes
// before the other keep their order. `spare` has room for n items, when there are more
// than TB_SORT_FEW.
//
// Few items are inserted one after the other, more are merged, but for halves that follow
// each other as they are. Cost: some n^2 / 4 moves of few items; n log2(n / TB_SORT_FEW)
// comparisons besides, without a call each.
#ifndef TB_SORT_H
#define TB_SORT_H

#include <stddef.h>
#include <string.h>

enum { TB_SORT_FEW = 24 };

#define TB_SORT(name, type, before)                                                      \
	static inline void name##_insert(type *items, size_t n)                          \
	{                                                                                \
		for (size_t i = 1; i < n; i++) {                                         \
			type item = items[i];                                            \
			size_t at = i;                                                   \
			for (; at > 0 && before(&item, &items[at - 1]); at--)            \
				items[at] = items[at - 1];                               \
			items[at] = item;                                                \
		}                                                                        \
	}                                                                                \
                                                                                         \
	static void name##_merge(type *items, type *spare, size_t n)                     \
	{                                                                                \
		size_t middle = n / 2, a = 0, b = middle;                                \
		if (n <= TB_SORT_FEW) {                                                  \
			name##_insert(items, n);                                         \
			return;                                                          \
		}                                                                        \
		name##_merge(items, spare, middle);                                      \
		name##_merge(items + middle, spare, n - middle);                         \
		if (!before(&items[middle], &items[middle - 1]))                         \
			return;                                                          \
		memcpy(spare, items, middle * sizeof *items);                            \
		for (size_t i = 0; a < middle; i++)                                      \
			items[i] = b < n && before(&items[b], &spare[a]) ? items[b++]    \
									 : spare[a++];   \
	}                                                                                \
                                                                                         \
	static inline void name(type *items, type *spare, size_t n)                      \
	{                                                                                \
		if (n <= TB_SORT_FEW)                                                    \
			name##_insert(items, n);                                         \
		else                                                                     \
			name##_merge(items, spare, n);                                   \
	}

#endif

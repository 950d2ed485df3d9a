// A binary heap of any type, in an array of its owner's (array.h): the first item is the
// one that comes before all others.
//
//	TB_HEAP(due, struct timer, sooner)
//
// defines, for items of type struct timer and `bool sooner(const struct timer *a, const
// struct timer *b)`:
//
//	due_put(heap, n, item)		adds an item to n; the array has room for it
//	due_replace(heap, n, item)	puts an item in the place of the first of n
//	due_take(heap, n)		removes and returns the first of n; n - 1 are left
//
// Items of which neither comes before the other leave in no particular order; to have
// them leave in the order in which they were put, number them and compare the numbers
// last. Not all three need be used. Cost: at most 2 log2(n) comparisons.
//
// A macro, since the compiler keeps an item in registers only if it knows the type: with
// functions over an element size and memcpy, each packet read waited for the copy of its
// key.
#ifndef TB_HEAP_H
#define TB_HEAP_H

#include <stddef.h>

#define TB_HEAP(name, type, before)                                                      \
	__attribute__((unused)) static inline void name##_put(                           \
		type *heap, size_t n, type item)                                         \
	{                                                                                \
		for (; n > 0 && before(&item, &heap[(n - 1) / 2]); n = (n - 1) / 2)      \
			heap[n] = heap[(n - 1) / 2];                                     \
		heap[n] = item;                                                          \
	}                                                                                \
                                                                                         \
	__attribute__((unused)) static inline void name##_replace(                       \
		type *heap, size_t n, type item)                                         \
	{                                                                                \
		size_t i = 0;                                                            \
		for (size_t child; (child = 2 * i + 1) < n; i = child) {                 \
			if (child + 1 < n && before(&heap[child + 1], &heap[child]))     \
				child++;                                                 \
			if (!before(&heap[child], &item))                                \
				break;                                                   \
			heap[i] = heap[child];                                           \
		}                                                                        \
		heap[i] = item;                                                          \
	}                                                                                \
                                                                                         \
	__attribute__((unused)) static inline type name##_take(type *heap, size_t n)     \
	{                                                                                \
		type first = heap[0];                                                    \
		if (n > 1)                                                               \
			name##_replace(heap, n - 1, heap[n - 1]);                        \
		return first;                                                            \
	}

#endif

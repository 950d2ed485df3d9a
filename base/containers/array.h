// Growing an array of any element.
//
// The owner keeps `items`, how many there are and, in a size_t, for how many there is
// room; all zero is an empty array, freed by free(items). Growing at least doubles the
// room, so adding n items one by one costs about 2 n copies, and an array of n has room
// for less than 2 n, or for 8.
#ifndef TB_ARRAY_H
#define TB_ARRAY_H

#include "status.h"

#include <stddef.h>

// TB_ARRAY_RESERVE(&x->items, &x->room, n) makes room for n items: TB_OK, or TB_ENOMEM,
// with which nothing changes. What is new is not zeroed. Evaluates its arguments twice.
#define TB_ARRAY_RESERVE(items, room, n)                                                 \
	((n) <= *(room) ? TB_OK : tb_array_grow((items), (room), (n), sizeof **(items)))

// TB_ARRAY_RESERVE_ZEROED does the same and zeroes what is new, of the room too.
#define TB_ARRAY_RESERVE_ZEROED(items, room, n)                                          \
	((n) <= *(room) ? TB_OK                                                          \
			: tb_array_grow_zeroed((items), (room), (n), sizeof **(items)))

// TB_ARRAY_MORE(x, items) makes room for one more in the array x->items of x->n_items,
// with room for x->items_room; TB_ARRAY_NEXT(x, items) in that of x->n, with room for
// x->room.
#define TB_ARRAY_MORE(of, items)                                                         \
	TB_ARRAY_RESERVE(&(of)->items, &(of)->items##_room, (size_t)(of)->n_##items + 1)
#define TB_ARRAY_NEXT(of, items)                                                         \
	TB_ARRAY_RESERVE(&(of)->items, &(of)->room, (size_t)(of)->n + 1)

// These are for the macros: `items` is the address of the owner's pointer.
int tb_array_grow(void *items, size_t *room, size_t n, size_t size) TB_MUST_USE;
int tb_array_grow_zeroed(void *items, size_t *room, size_t n, size_t size) TB_MUST_USE;

#endif

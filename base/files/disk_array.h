// An array in an unlinked temporary file, so that memory holds only what is being looked
// at: the system writes the rest out.
//
// Model: the file is mapped. It has room on the disk before it is written to, so that a
// full disk is noticed when the array grows; then the array moves to memory and stays
// there. Works on files of the process that made it and of those forked from it. One
// thread at a time grows it.
#ifndef TB_DISK_ARRAY_H
#define TB_DISK_ARRAY_H

#include "status.h"

#include <stdbool.h>
#include <stddef.h>

// Arrays of fewer bytes lie in memory, which is quicker: a file costs system time by
// page.
#define TB_DISK_ARRAY_LEAST ((size_t)64 << 20)

// A zeroed struct is an empty array that stays in memory.
struct tb_disk_array {
	const char *beside; // a file in the folder of which there is room; NULL: none
	char *memory;
	size_t bytes;
	int file; // 0: the array lies in memory
	bool refused;
};

// tb_disk_array_resize makes it so many bytes long, and moves it; what is new is not
// zeroed. TB_ENOMEM, with which nothing changes.
int tb_disk_array_resize(struct tb_disk_array *array, size_t bytes) TB_MUST_USE;

// TB_DISK_ARRAY_RESERVE(&x->array, &x->items, &x->room, n) makes room for n items, which
// are those of the array: as TB_ARRAY_RESERVE does (array.h).
#define TB_DISK_ARRAY_RESERVE(array, items, room, n)                                     \
	((n) <= *(room) ? TB_OK                                                          \
			: tb_disk_array_grow(                                            \
				  (array), (items), (room), (n), sizeof **(items)))

int tb_disk_array_grow(struct tb_disk_array *array, void *items, size_t *room, size_t n,
	size_t size) TB_MUST_USE;

// tb_disk_array_cool lets go of memory; what is read or written next comes from the file.
void tb_disk_array_cool(const struct tb_disk_array *array);

// tb_disk_array_fini leaves an empty array.
void tb_disk_array_fini(struct tb_disk_array *array);

#endif

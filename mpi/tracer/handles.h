// A table from handles of MPI to numbers from 0, in the order of definition.
#ifndef TB_HANDLES_H
#define TB_HANDLES_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

// A zeroed struct but for the lock is empty. Few handles live at a time: lookups begin
// where the last one ended.
struct tb_handles {
	pthread_mutex_t lock;
	struct tb_handle {
		uint64_t handle, id;
	} * items;
	uint32_t n, room, last;
	uint64_t n_ids;
};

// tb_handles_find returns whether a handle is known, and its number.
bool tb_handles_find(struct tb_handles *handles, uint64_t handle, uint64_t *id);

// tb_handles_add gives a handle, known or not, the next number.
uint64_t tb_handles_add(struct tb_handles *handles, uint64_t handle);

void tb_handles_remove(struct tb_handles *handles, uint64_t handle);

#endif

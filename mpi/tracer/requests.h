// Requests: which operation of the rank a handle of MPI_Request stands for.
//
// A handle can stand for several operations at once: an MPI gives all sends that are
// already complete the same one. It is taken out of the table before the call that
// completes it, since another thread may get the same handle as soon as it is free, and
// put back if it is not complete. Thread safe if the program's threads may call MPI.
#ifndef TB_REQUESTS_H
#define TB_REQUESTS_H

#include "real.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tb_traced_request {
	uint64_t id;	 // 1 and up; of a persistent one that of the definition
	uint64_t active; // operation to be completed; 0: none
	uint64_t also;	 // receive of the same request (MPI_Isendrecv); 0: none
	bool receives, persistent, cancelled;
	// Of partitioned messages: how many partitions, and how many are not ready yet.
	uint32_t n_parts, n_unready;
	// What a receive gets, where no status tells it.
	bool known;
	uint64_t peer, tag, bytes;
};

// tb_request_new returns a new number.
uint64_t tb_request_new(void);

// tb_request_put adds what a handle stands for.
void tb_request_put(MPI_Request handle, const struct tb_traced_request *request);

// tb_request_take removes it and returns true if the handle is known.
bool tb_request_take(MPI_Request handle, struct tb_traced_request *request);

#endif

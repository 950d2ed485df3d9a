// Keeps the state of each connection: which of its bytes have been seen, and how large
// its segments are.
//
// The table is bounded: beyond TB_CONNECTIONS_MAX connections, each new one replaces one
// that has long been idle, found by the clock algorithm. If a forgotten connection goes
// on, it counts as a new one whose beginning was not captured. Memory: at most about 30
// MB. Not thread safe.
#ifndef TB_CONNECTIONS_H
#define TB_CONNECTIONS_H

#include "seq_ranges.h"
#include "status.h"

#include <stdbool.h>

#define TB_CONNECTIONS_MAX (UINT32_C(1) << 17)

struct tb_connection_key {
	uint32_t source; // numbers of endpoints
	uint32_t destination;
	uint32_t channel; // both ports, or a queue pair
	uint32_t kind;	  // a number per transport
	bool two_way;	  // the same connection with ends and ports swapped is the other
			  // direction
};

// One direction of a connection.
struct tb_direction {
	bool begun;   // `seen` and `first` are set
	uint16_t mss; // announced by its sender; 0: not seen
	uint16_t
		largest; // largest full-sized segment that needs no cutting; 0: none seen
	uint32_t first;	 // sequence number of the SYN, or the first one seen
	struct tb_seq_ranges seen;
};

struct tb_connections; // opaque

int tb_connections_new(struct tb_connections **connections) TB_MUST_USE;
void tb_connections_free(struct tb_connections *connections);

// tb_connections_get finds or adds a connection and stores two directions: `there` from
// the key's source to its destination, `back` the other way. Both live until the next
// call. Amortised constant cost.
int tb_connections_get(struct tb_connections *connections,
	const struct tb_connection_key *key, struct tb_direction **there,
	struct tb_direction **back) TB_MUST_USE;

uint32_t tb_connections_n(const struct tb_connections *connections);

#endif

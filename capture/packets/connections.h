// What is remembered of each connection: which of its bytes have been seen, and how large
// its segments are.
//
// The table is bounded: with TB_CONNECTIONS_MAX connections alive, one that was idle for
// long is forgotten for each new one (a clock hand passes over those used since it came
// by last). A forgotten connection that goes on is one without a beginning. Memory: at
// most about 30 MB. Not thread safe.
#ifndef TB_CONNECTIONS_H
#define TB_CONNECTIONS_H

#include "seq_ranges.h"
#include "status.h"

#include <stdbool.h>

#define TB_CONNECTIONS_MAX (UINT32_C(1) << 17)

struct tb_connection_key {
	uint32_t source; // any numbers that tell endpoints apart
	uint32_t destination;
	uint32_t channel; // both ports, or a queue pair
	uint32_t kind;	  // tells transports apart
	bool two_way;	  // the other direction is the same connection, with its ports
			  // swapped
};

// One direction of a connection.
struct tb_direction {
	bool begun;	  // `seen` stands
	uint16_t mss;	  // that its sender announced; 0: not seen
	uint16_t largest; // full-sized segment seen that no card cut; 0: none
	uint32_t first;	  // number of the SYN, or of what was seen first
	struct tb_seq_ranges seen;
};

struct tb_connections; // opaque

int tb_connections_new(struct tb_connections **connections) TB_MUST_USE;
void tb_connections_free(struct tb_connections *connections);

// tb_connections_get finds or makes a connection and stores its direction as the key has
// it, and the one back; both live until the next call. Amortised constant cost.
int tb_connections_get(struct tb_connections *connections,
	const struct tb_connection_key *key, struct tb_direction **there,
	struct tb_direction **back) TB_MUST_USE;

uint32_t tb_connections_n(const struct tb_connections *connections);

#endif

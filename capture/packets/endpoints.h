// Numbers addresses in the order in which they are added, from 0.
//
// A zeroed struct is empty. Memory grows with the addresses. Not thread safe.
#ifndef TB_ENDPOINTS_H
#define TB_ENDPOINTS_H

#include "address.h"

struct tb_endpoints {
	struct tb_address *addresses; // by number
	uint32_t n;
	uint32_t capacity;
	uint32_t *slots; // hash table, open addressing: number + 1, or 0 if free
	uint32_t n_slots;
	uint32_t hash_shift;
};

void tb_endpoints_fini(struct tb_endpoints *endpoints);

// tb_endpoints_find returns whether the address is known, and then stores its number.
bool tb_endpoints_find(const struct tb_endpoints *endpoints,
	const struct tb_address *address, uint32_t *number);

// tb_endpoints_add stores the number of the address, adding it if it is new. Amortised
// constant cost.
int tb_endpoints_add(struct tb_endpoints *endpoints, const struct tb_address *address,
	uint32_t *number) TB_MUST_USE;

#endif

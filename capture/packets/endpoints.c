#include "endpoints.h"

#include "array.h"

#include <stdlib.h>

void tb_endpoints_fini(struct tb_endpoints *endpoints)
{
	free(endpoints->addresses);
	free(endpoints->slots);
	*endpoints = (struct tb_endpoints){0};
}

// endpoint_slot returns the slot of the address, or the free one where it belongs.
// Multiplying by the golden ratio (Knuth, TAOCP volume 3, section 6.4) spreads
// consecutive addresses.
static uint32_t *endpoint_slot(
	const struct tb_endpoints *endpoints, const struct tb_address *address)
{
	uint64_t word = (address->high ^ address->kind) * UINT64_C(0xc2b2ae3d27d4eb4f);
	uint64_t hash = (address->low ^ word) * UINT64_C(0x9e3779b97f4a7c15);
	uint32_t mask = endpoints->n_slots - 1;
	for (uint32_t i = (uint32_t)(hash >> endpoints->hash_shift);;
		i = (i + 1) & mask) {
		uint32_t *slot = &endpoints->slots[i];
		if (*slot == 0 ||
			tb_address_equal(&endpoints->addresses[*slot - 1], address))
			return slot;
	}
}

bool tb_endpoints_find(const struct tb_endpoints *endpoints,
	const struct tb_address *address, uint32_t *number)
{
	if (endpoints->n == 0)
		return false;
	uint32_t slot = *endpoint_slot(endpoints, address);
	if (slot == 0)
		return false;
	*number = slot - 1;
	return true;
}

// grow_endpoints doubles both arrays. The slots stay at most a quarter full, so that most
// lookups find their address at once.
static int grow_endpoints(struct tb_endpoints *endpoints)
{
	uint32_t capacity = endpoints->capacity ? endpoints->capacity * 2 : 64;
	size_t room = endpoints->capacity;
	if (TB_ARRAY_RESERVE(&endpoints->addresses, &room, capacity) != TB_OK)
		return TB_ENOMEM;
	uint32_t *slots = calloc((size_t)capacity * 4, sizeof *slots);
	if (!slots)
		return TB_ENOMEM;
	free(endpoints->slots);
	endpoints->slots = slots;
	endpoints->n_slots = capacity * 4;
	endpoints->hash_shift = 64 - (uint32_t)__builtin_ctz(capacity * 4);
	endpoints->capacity = capacity;
	for (uint32_t i = 0; i < endpoints->n; i++)
		*endpoint_slot(endpoints, &endpoints->addresses[i]) = i + 1;
	return TB_OK;
}

int tb_endpoints_add(struct tb_endpoints *endpoints, const struct tb_address *address,
	uint32_t *number)
{
	if (tb_endpoints_find(endpoints, address, number))
		return TB_OK;
	if (endpoints->n == endpoints->capacity && grow_endpoints(endpoints) != TB_OK)
		return TB_ENOMEM;
	endpoints->addresses[endpoints->n] = *address;
	*number = endpoints->n++;
	*endpoint_slot(endpoints, address) = *number + 1;
	return TB_OK;
}

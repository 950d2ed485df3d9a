// An endpoint's address, of any kind that occurs in captures and map files.
//
// Value struct; a zeroed one is TB_ADDRESS_NONE. Addresses sort by kind in the order of
// the enum, then as numbers, so 10.77.0.2 comes before 10.77.0.10.
#ifndef TB_ADDRESS_H
#define TB_ADDRESS_H

#include "bytes.h"
#include "status.h"

enum tb_address_kind {
	TB_ADDRESS_NONE,
	TB_ADDRESS_IPV4,
	TB_ADDRESS_IPV6,
	TB_ADDRESS_MAC,
	TB_ADDRESS_LID, // InfiniBand local identifier
	TB_ADDRESS_GID, // InfiniBand global identifier, also RoCE v1
};

struct tb_address {
	uint64_t high; // first 8 bytes of 16; 0 for the shorter kinds
	uint64_t low;
	enum tb_address_kind kind;
};

#define TB_ADDRESS_TEXT_SIZE 64

// tb_address_format writes "10.77.0.1", "fe80::1", "02:4d:00:00:00:01", "lid:18" or
// "gid:fe80::1" into buffer, always terminated, and returns buffer. TB_ADDRESS_TEXT_SIZE
// bytes suffice.
char *tb_address_format(const struct tb_address *address, char *buffer, size_t size);

// tb_address_parse reads what tb_address_format writes, and also "lid:0x12". TB_EUSAGE
// for anything else.
int tb_address_parse(const char *text, struct tb_address *address) TB_MUST_USE;

// tb_address_compare returns a negative number, 0 or a positive number if `a` sorts
// before, with or after `b`.
int tb_address_compare(const struct tb_address *a, const struct tb_address *b);

// These read an address at offset `at` of a packet; false when it is not within the
// bytes. They are inline because two of them run for every frame.
static inline bool tb_address_ipv4_at(
	struct tb_bytes bytes, size_t at, struct tb_address *address)
{
	uint32_t value;
	if (!tb_bytes_u32(bytes, at, &value))
		return false;
	*address = (struct tb_address){.low = value, .kind = TB_ADDRESS_IPV4};
	return true;
}

static inline bool tb_address_mac_at(
	struct tb_bytes bytes, size_t at, struct tb_address *address)
{
	uint16_t high;
	uint32_t low;
	if (!tb_bytes_u16(bytes, at, &high) || !tb_bytes_u32(bytes, at + 2, &low))
		return false;
	*address = (struct tb_address){
		.low = (uint64_t)high << 32 | low, .kind = TB_ADDRESS_MAC};
	return true;
}

static inline bool tb_address_wide_at(struct tb_bytes bytes, size_t at,
	enum tb_address_kind kind, struct tb_address *address)
{
	uint64_t high;
	uint64_t low;
	if (!tb_bytes_u64(bytes, at, &high) || !tb_bytes_u64(bytes, at + 8, &low))
		return false;
	*address = (struct tb_address){.high = high, .low = low, .kind = kind};
	return true;
}

static inline bool tb_address_equal(
	const struct tb_address *a, const struct tb_address *b)
{
	return a->low == b->low && a->high == b->high && a->kind == b->kind;
}

// Numbers addresses in the order in which they are added, from 0.
//
// A zeroed struct is empty. Memory grows with the addresses. Not thread safe.

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

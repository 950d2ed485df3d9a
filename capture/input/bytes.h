// Bounds-checked getters for untrusted bytes. Each returns whether the field lies within
// the bytes, and stores it only then. All decoding goes through them.
#ifndef TB_BYTES_H
#define TB_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct tb_bytes {
	const uint8_t *data;
	size_t n;
};

static inline bool tb_bytes_have(struct tb_bytes bytes, size_t at, size_t n)
{
	return at <= bytes.n && n <= bytes.n - at;
}

// tb_bytes_after returns the bytes after the first `n`; empty if there are fewer.
static inline struct tb_bytes tb_bytes_after(struct tb_bytes bytes, size_t n)
{
	if (n > bytes.n)
		n = bytes.n;
	return (struct tb_bytes){bytes.data + n, bytes.n - n};
}

static inline bool tb_bytes_u8(struct tb_bytes bytes, size_t at, uint8_t *value)
{
	if (!tb_bytes_have(bytes, at, 1))
		return false;
	*value = bytes.data[at];
	return true;
}

// These read network byte order (big-endian).
static inline bool tb_bytes_u16(struct tb_bytes bytes, size_t at, uint16_t *value)
{
	if (!tb_bytes_have(bytes, at, 2))
		return false;
	const uint8_t *p = bytes.data + at;
	*value = (uint16_t)(p[0] << 8 | p[1]);
	return true;
}

static inline bool tb_bytes_u24(struct tb_bytes bytes, size_t at, uint32_t *value)
{
	if (!tb_bytes_have(bytes, at, 3))
		return false;
	const uint8_t *p = bytes.data + at;
	*value = (uint32_t)p[0] << 16 | (uint32_t)p[1] << 8 | p[2];
	return true;
}

static inline bool tb_bytes_u32(struct tb_bytes bytes, size_t at, uint32_t *value)
{
	if (!tb_bytes_have(bytes, at, 4))
		return false;
	const uint8_t *p = bytes.data + at;
	*value = (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
	return true;
}

static inline bool tb_bytes_u64(struct tb_bytes bytes, size_t at, uint64_t *value)
{
	uint32_t high;
	uint32_t low;
	if (!tb_bytes_u32(bytes, at, &high) || !tb_bytes_u32(bytes, at + 4, &low))
		return false;
	*value = (uint64_t)high << 32 | low;
	return true;
}

// tb_bytes_u32_as and tb_bytes_u16_as read the byte order that a file's header gives.
static inline bool tb_bytes_u32_as(
	struct tb_bytes bytes, size_t at, bool little_endian, uint32_t *value)
{
	uint32_t big;
	if (!tb_bytes_u32(bytes, at, &big))
		return false;
	*value = little_endian ? __builtin_bswap32(big) : big;
	return true;
}

static inline bool tb_bytes_u16_as(
	struct tb_bytes bytes, size_t at, bool little_endian, uint16_t *value)
{
	uint16_t big;
	if (!tb_bytes_u16(bytes, at, &big))
		return false;
	*value = little_endian ? __builtin_bswap16(big) : big;
	return true;
}

// tb_bytes_varint reads a LEB128 number, as protobuf has it, and moves `at` behind it:
// seven bits per byte, the lowest first, and the top bit set in all but the last. False
// for a number beyond 64 bits, too; then `at` is anywhere within the bytes.
static inline bool tb_bytes_varint(struct tb_bytes bytes, size_t *at, uint64_t *value)
{
	uint64_t sum = 0;
	for (unsigned shift = 0; shift < 64; shift += 7) {
		uint8_t byte;
		if (!tb_bytes_u8(bytes, *at, &byte))
			return false;
		++*at;
		sum |= (uint64_t)(byte & 0x7f) << shift;
		if (byte & 0x80)
			continue;
		*value = sum;
		return shift < 63 || byte < 2;
	}
	return false;
}

#endif

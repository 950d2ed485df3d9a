// FNV-1a with 64 bits (Fowler, Noll, Vo), for keys of maps. A collision among a million
// texts is unlikely (3e-8): who cannot bear one compares the texts.
#ifndef TB_HASH_H
#define TB_HASH_H

#include <stddef.h>
#include <stdint.h>

#define TB_HASH_BEGIN UINT64_C(14695981039346656037)

// The next three take a word, bytes, or a text without its end, into a hash, which begins
// as TB_HASH_BEGIN.
static inline uint64_t tb_hash_word(uint64_t hash, uint64_t word)
{
	return (hash ^ word) * UINT64_C(1099511628211);
}

static inline uint64_t tb_hash_bytes(uint64_t hash, const void *bytes, size_t n)
{
	for (const unsigned char *at = bytes; n > 0; at++, n--)
		hash = tb_hash_word(hash, *at);
	return hash;
}

static inline uint64_t tb_hash_text(uint64_t hash, const char *text)
{
	for (; *text; text++)
		hash = tb_hash_word(hash, (unsigned char)*text);
	return hash;
}

#endif

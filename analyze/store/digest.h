// SHA-256 of files, to distinguish inputs with the same name, and of texts.
#ifndef TB_DIGEST_H
#define TB_DIGEST_H

#include "status.h"

#include <stddef.h>

struct sha256_ctx; // nettle's

#define TB_DIGEST_SIZE 65 // 64 hexadecimal digits and the terminator

// tb_digest_files stores the digest of all bytes of `n` files, one after the other, in
// lower-case hexadecimal: what `cat FILES | sha256sum` prints. A folder stands for the
// files in it and in its folders, in the order of their names. The digest is "" and
// `bytes` 0 when a file cannot be read twice ("-", a pipe, a device). TB_EIO when one
// cannot be read at all. Cost: a second per 1.1 GB (measured).
int tb_digest_files(const char *const *paths, size_t n, char digest[TB_DIGEST_SIZE],
	uint64_t *bytes, struct tb_error *error) TB_MUST_USE;

// tb_digest_text stores the digest of a text's bytes.
void tb_digest_text(const char *text, size_t size, char digest[TB_DIGEST_SIZE]);

// tb_digest_end stores the digest of what was hashed.
void tb_digest_end(struct sha256_ctx *hash, char digest[TB_DIGEST_SIZE]);

#endif

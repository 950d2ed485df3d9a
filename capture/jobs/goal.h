// Reads and writes GOAL on streams, in its text and its binary form.
#ifndef TB_GOAL_H
#define TB_GOAL_H

#include "bytes.h"
#include "job.h"

#include <stdio.h>

// The comments of the text form, each a line of its own, that say whether a library
// planned the messages below (`planned` of struct tb_op).
#define TB_GOAL_PLANNED	    "// planned"
#define TB_GOAL_NOT_PLANNED "// not planned"

// The end of a binary file that has planned messages, see goal_binary.c.
#define TB_GOAL_PLANNED_END UINT64_C(0x0a64656e6e616c70) // "planned\n"

// tb_goal_binary_begins returns whether the bytes begin like the binary form, with 4223
// as a little-endian u64.
static inline bool tb_goal_binary_begins(struct tb_bytes first)
{
	return tb_bytes_have(first, 0, 8) &&
	       memcmp(first.data, "\x7f\x10\0\0\0\0\0\0", 8) == 0;
}

// The readers read the stream to its end. `name` appears in messages. TB_EFOREIGN when
// the stream does not begin like that form. They take a read error for the end of the
// stream, so the caller must check ferror(stream).
int tb_goal_text_read(struct tb_job **job, FILE *stream, const char *name,
	struct tb_error *error) TB_MUST_USE;
int tb_goal_binary_read(struct tb_job **job, FILE *stream, const char *name,
	struct tb_error *error) TB_MUST_USE;

// The writers fail only when out of memory; for write errors check ferror(stream).
int tb_goal_text_write(
	const struct tb_job *job, FILE *stream, struct tb_error *error) TB_MUST_USE;
int tb_goal_binary_write(
	const struct tb_job *job, FILE *stream, struct tb_error *error) TB_MUST_USE;

#endif

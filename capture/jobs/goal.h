// GOAL on streams, in its two forms.
#ifndef TB_GOAL_H
#define TB_GOAL_H

#include "bytes.h"
#include "job.h"

#include <stdio.h>

// tb_goal_binary_begins reports whether the bytes begin like the binary form: with 4223
// as a little-endian u64.
static inline bool tb_goal_binary_begins(struct tb_bytes first)
{
	return tb_bytes_have(first, 0, 8) &&
	       memcmp(first.data, "\x7f\x10\0\0\0\0\0\0", 8) == 0;
}

// Readers take the stream to its end. `name` stands in messages. TB_EFOREIGN when the
// beginning is not that of the form. A read error of the stream looks like its end: ask
// the stream.
int tb_goal_text_read(struct tb_job **job, FILE *stream, const char *name,
	struct tb_error *error) TB_MUST_USE;
int tb_goal_binary_read(struct tb_job **job, FILE *stream, const char *name,
	struct tb_error *error) TB_MUST_USE;

// Writers leave write errors to the stream; they fail for lack of memory only.
int tb_goal_text_write(
	const struct tb_job *job, FILE *stream, struct tb_error *error) TB_MUST_USE;
int tb_goal_binary_write(
	const struct tb_job *job, FILE *stream, struct tb_error *error) TB_MUST_USE;

#endif

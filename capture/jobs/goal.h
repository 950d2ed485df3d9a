// GOAL on streams: the two forms that tb_job_read and tb_job_write_* choose between.
#ifndef TB_GOAL_H
#define TB_GOAL_H

#include "job.h"

#include <stdio.h>

// First byte of the binary form (its magic is 4223 as a little-endian u64); no text
// begins with it.
#define TB_GOAL_BINARY_FIRST 0x7f

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

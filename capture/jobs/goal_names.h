// What GOAL has no word for: on which host each rank ran, or which endpoint of a capture
// it was. The text form has it in comments, the binary form behind all parts. Private to
// capture/jobs/.
#ifndef TB_GOAL_NAMES_H
#define TB_GOAL_NAMES_H

#include "bytes.h"
#include "job.h"

#include <stdio.h>

#define TB_GOAL_NAME_MOST 255 // bytes; longer names are not written

enum tb_goal_name_kind { TB_GOAL_HOST, TB_GOAL_ENDPOINT, TB_GOAL_N_NAMES };

// The comment before a name, and the last 8 bytes of its section in the binary form.
extern const char *const tb_goal_name_marks[TB_GOAL_N_NAMES]; // "// host "
extern const char *const tb_goal_name_ends[TB_GOAL_N_NAMES];  // "hosts  \n"

// Names as they are read. Zeroed, there are none.
struct tb_goal_names {
	struct tb_goal_named {
		uint32_t rank;
		char *text;
	} * list[TB_GOAL_N_NAMES];
	size_t n[TB_GOAL_N_NAMES], room[TB_GOAL_N_NAMES];
};

void tb_goal_names_fini(struct tb_goal_names *names);

// tb_goal_names_comment takes a line that begins with a mark; others are nothing.
int tb_goal_names_comment(
	struct tb_goal_names *names, uint32_t rank, const char *line) TB_MUST_USE;

// tb_goal_names_section takes the section at the end of a file and returns how long it
// is, 0 when there is none, or TB_ENOMEM. It may be called again for one before it. A
// section is a text for each of `n_ranks` ranks with a zero behind it, the bytes of these
// as u64, and the 8 bytes of tb_goal_name_ends.
int64_t tb_goal_names_section(
	struct tb_goal_names *names, struct tb_bytes file, uint32_t n_ranks) TB_MUST_USE;

// tb_goal_finish finishes the job (job.h), which knows the names if each rank has one.
int tb_goal_finish(struct tb_job_builder *builder, struct tb_goal_names *names,
	const char *name, struct tb_job **job, struct tb_error *error) TB_MUST_USE;

// tb_goal_has_names returns whether the job has such names, and a line can hold each;
// tb_goal_name returns that of a rank, "" for none.
bool tb_goal_has_names(const struct tb_job *job, enum tb_goal_name_kind kind);
const char *tb_goal_name(
	const struct tb_job *job, enum tb_goal_name_kind kind, uint32_t rank);

#endif

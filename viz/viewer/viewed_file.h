// The file that is viewed: a store, or a trace with the replay that makes its store.
#ifndef TB_VIEWED_FILE_H
#define TB_VIEWED_FILE_H

#include "opening.h"
#include "run.h"

#include <sys/types.h>

struct tb_viewed_file {
	char *path;  // of the store; of the trace until it has a store
	char *given; // the path that was opened: of a trace, stays so
	char title[320];
	dev_t device; // of the store that was opened
	ino_t inode;
	struct tb_opening *opening; // of a trace; NULL: a store was opened
};

// tb_viewed_file_init copies a path. TB_ENOMEM.
int tb_viewed_file_init(struct tb_viewed_file *file, const char *path,
	struct tb_error *error) TB_MUST_USE;
void tb_viewed_file_fini(struct tb_viewed_file *file);

// tb_viewed_file_opened records the identity of the opened file and makes the window's
// title from its run; NULL for no run.
void tb_viewed_file_opened(struct tb_viewed_file *file, const struct tb_run_info *info);

// tb_viewed_file_check checks that the path still leads to the opened file. TB_EIO: it is
// gone or replaced.
int tb_viewed_file_check(
	const struct tb_viewed_file *file, struct tb_error *error) TB_MUST_USE;

// tb_viewed_file_poll polls the replay of a trace and adopts the path of its store once
// there is one; true when the picture changes. False for a store.
bool tb_viewed_file_poll(struct tb_viewed_file *file);

#endif

// The file that is looked at: a store, or a trace with the replay that makes its store.
#ifndef TB_VIEWED_FILE_H
#define TB_VIEWED_FILE_H

#include "opening.h"
#include "run.h"

#include <sys/types.h>

struct tb_viewed_file {
	char *path; // the store's; of a trace its own until there is a store
	char title[320];
	dev_t device; // of the store that was opened
	ino_t inode;
	struct tb_opening *opening; // of a trace; NULL: a store was opened
};

// tb_viewed_file_init remembers a path. TB_ENOMEM.
int tb_viewed_file_init(struct tb_viewed_file *file, const char *path,
	struct tb_error *error) TB_MUST_USE;
void tb_viewed_file_fini(struct tb_viewed_file *file);

// tb_viewed_file_opened remembers which file was opened, and titles the window by its
// run; NULL for none.
void tb_viewed_file_opened(struct tb_viewed_file *file, const struct tb_run_info *info);

// tb_viewed_file_check looks whether the file that was opened is still there under its
// name. TB_EIO: gone or replaced.
int tb_viewed_file_check(
	const struct tb_viewed_file *file, struct tb_error *error) TB_MUST_USE;

// tb_viewed_file_poll looks how the replay of a trace is doing and takes its store's path
// once there is one; true when the picture changes. False for a store.
bool tb_viewed_file_poll(struct tb_viewed_file *file);

#endif

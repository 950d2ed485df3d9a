// A temporary folder that goes, with all that is in it, when it is removed or when this
// process ends, however it does: kill -9 included.
//
// Model: a shell in a session of its own makes the folder, waits for the end of this
// process, and removes it. So nobody who kills this process and its group stops it, and
// there is no moment at which the folder stands and nobody would remove it. Processes
// that write into the folder are started with tb_child_start, which ends them with this
// process, too (base/work/child.h).
#ifndef TB_TEMPORARY_H
#define TB_TEMPORARY_H

#include "status.h"

#include <stddef.h>
#include <sys/types.h>

#define TB_TEMPORARY_BYTES	1024
#define TB_TEMPORARY_FILE_BYTES (TB_TEMPORARY_BYTES + 64)

// A zeroed struct is none.
struct tb_temporary {
	char path[TB_TEMPORARY_BYTES]; // "": none
	int guard;		       // descriptor whose end the shell waits for
	pid_t shell;
};

// tb_temporary_init makes a folder that is this user's alone, under TMPDIR or, where that
// is unset or empty, /tmp; tb_temporary_init_in makes it in `parent`. `purpose` stands in
// the error ("the store"). TB_EIO when there can be none; then the struct is zeroed.
int tb_temporary_init(struct tb_temporary *folder, const char *purpose,
	struct tb_error *error) TB_MUST_USE;
int tb_temporary_init_in(struct tb_temporary *folder, const char *parent,
	const char *purpose, struct tb_error *error) TB_MUST_USE;

// tb_temporary_fini removes it, and returns when it is gone. It does nothing to a zeroed
// struct, and leaves one.
void tb_temporary_fini(struct tb_temporary *folder);

// tb_temporary_file writes the path of a file in it, of at most 60 characters, and
// returns it.
char *tb_temporary_file(const struct tb_temporary *folder, const char *name,
	char path[TB_TEMPORARY_FILE_BYTES]);

#endif

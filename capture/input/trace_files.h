// The files of a trace that has one for each process: those that were named, and of
// folders among them those that are such files.
//
// A zeroed struct is empty. One thread at a time per object.
#ifndef TB_TRACE_FILES_H
#define TB_TRACE_FILES_H

#include "status.h"

#include <stdbool.h>
#include <stddef.h>

struct tb_trace_files {
	char **paths; // owned
	size_t n, room;
};

// Whether what a folder holds is a file of the format; `name` is that of the path without
// the folder.
typedef bool tb_trace_file_is(const char *path, const char *name);

// tb_trace_files_list adds the files that `paths` name, in this order; those of a folder
// are sorted by name, and hidden ones are none. TB_EIO for a folder that cannot be
// opened, TB_ENOMEM. tb_trace_files_fini frees them, also after a failure.
int tb_trace_files_list(struct tb_trace_files *files, const char *const *paths, size_t n,
	tb_trace_file_is *is, struct tb_error *error) TB_MUST_USE;
void tb_trace_files_fini(struct tb_trace_files *files);

// tb_trace_files_are_in returns whether a folder has such a file.
bool tb_trace_files_are_in(const char *folder, tb_trace_file_is *is);

#endif

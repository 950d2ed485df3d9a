// The files of a folder, and those opened lately, to choose one to open.
//
// Each is recognised by its first bytes, as opening it would; a folder with very many
// files is listed before all of them were looked into. One thread at a time per object.
#ifndef TB_FILE_LIST_H
#define TB_FILE_LIST_H

#include "status.h"

#include <stdbool.h>
#include <stddef.h>

enum tb_file_kind {
	TB_FILE_PARENT, // the folder above
	TB_FILE_FOLDER,
	TB_FILE_STORE,
	TB_FILE_CAPTURE,
	TB_FILE_JOB,
	TB_FILE_UNKNOWN, // not looked into
	TB_FILE_OTHER,	 // nothing that can be opened
};

struct tb_listed_file {
	char *path; // as it is opened
	char *name; // in its visible form (visible.h)
	enum tb_file_kind kind;
	bool recent;
	uint64_t bytes;
};

struct tb_file_list {
	struct tb_listed_file *files; // recent ones, the parent, folders, files by name
	size_t n, room;
};

// tb_file_list_read lists a folder; "" is the working folder, and then paths have no
// folder in front. Its own files that are hidden are left out. `recent` holds paths, the
// latest first; those that are gone are left out. A folder that cannot be read is empty.
// TB_ENOMEM; the list is to be freed in either case. Cost: a look into each file, for
// 40 ms at most once there are a hundred.
int tb_file_list_read(struct tb_file_list *list, const char *folder,
	const char *const *recent, size_t n_recent) TB_MUST_USE;
void tb_file_list_fini(struct tb_file_list *list);

#endif

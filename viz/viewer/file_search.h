// Finding a file to open: the files of a folder, and those that match what was typed.
#ifndef TB_FILE_SEARCH_H
#define TB_FILE_SEARCH_H

#include "opening.h"
#include "prompt.h"
#include "run.h"
#include "status.h"

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

// The files of a folder, and those opened lately, to choose one to open.
//
// Each is recognised by its first bytes, as opening it would; a folder with very many
// files is listed before all of them were looked into. One thread at a time per object.

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

// Finds files to open by the path that is typed: its folder is listed, and its last part
// narrows the list.

// Which files are offered; folders always are.
enum tb_file_types {
	TB_TYPES_KNOWN, // stores and traces
	TB_TYPES_STORES,
	TB_TYPES_TRACES,
	TB_TYPES_ALL,
	TB_N_TYPES
};

// The dialog that opens files.
struct tb_file_search {
	struct tb_file_list list;
	char folder[TB_PROMPT_TEXT]; // that is listed, with its slash; "" for the working
				     // folder
	char begun[TB_PROMPT_TEXT]; // the text that the dialog began with
	enum tb_file_types types;
	char **recent; // the latest first
	size_t n_recent;
};

void tb_file_search_fini(struct tb_file_search *search);

// tb_file_search_set_recent copies the paths of files opened lately. TB_ENOMEM.
int tb_file_search_set_recent(
	struct tb_file_search *search, const char *const *paths, size_t n) TB_MUST_USE;

// tb_file_search_begin returns the text to begin with for a file that is shown: its
// folder.
const char *tb_file_search_begin(struct tb_file_search *search, const char *shown);

// tb_file_search_find offers files, by their places in the list. TB_ENOMEM.
int tb_file_search_find(
	struct tb_file_search *search, struct tb_prompt *prompt) TB_MUST_USE;

// tb_file_search_complete extends the typed path by what all that begin with it have in
// common; false when that is nothing.
bool tb_file_search_complete(
	const struct tb_file_search *search, struct tb_prompt *prompt);

// tb_file_search_take stores the path that Return opens: that of the chosen offer, else
// the typed one. False for a folder: it becomes the prompt's text instead.
bool tb_file_search_take(const struct tb_file_search *search, struct tb_prompt *prompt,
	char path[TB_PROMPT_TEXT]);

// The file that is viewed: a store, or a trace with the replay that makes its store.

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

// Finds files to open by the path that is typed: its folder is listed, and its last part
// narrows the list.
#ifndef TB_FILE_SEARCH_H
#define TB_FILE_SEARCH_H

#include "file_list.h"
#include "prompt.h"

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

#endif

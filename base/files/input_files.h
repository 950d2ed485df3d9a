// The files that this program has read, so that no output destroys one of them.
//
// Model: whatever is opened for reading on the user's behalf is opened, or noted, here;
// outputs (outfile.h) ask before they replace a file. Files are distinguished by device
// and inode, so links and other spellings of a path do not matter. The list is the
// process's, as its descriptors are: a reader far below a command need not know of its
// outputs. Safe from any thread. Cost: some 100 bytes per file; a search is linear.
#ifndef TB_INPUT_FILES_H
#define TB_INPUT_FILES_H

#include "status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/stat.h>

// tb_input_open opens a file for reading, as open(2) does, and notes it: a descriptor, or
// -1 with errno.
int tb_input_open(const char *path) TB_MUST_USE;

// tb_input_fopen does the same for a stream: NULL with errno.
FILE *tb_input_fopen(const char *path) TB_MUST_USE;

// tb_input_note notes an open file that messages call `name`, tb_input_note_path one that
// a library will open by its name; a path that leads to nothing is no error. TB_ENOMEM.
int tb_input_note(int fd, const char *name) TB_MUST_USE;
int tb_input_note_path(const char *path) TB_MUST_USE;

// tb_input_spare refuses an output called `name` that is a noted file: TB_EUSAGE.
int tb_input_spare(
	const char *name, const struct stat *file, struct tb_error *error) TB_MUST_USE;

// tb_input_forget removes an open file that is new: it may have the inode of one that was
// read and is gone.
void tb_input_forget(int fd);

// tb_inputs_return forgets the files that this thread has noted since tb_inputs_mark, for
// a program that only looked at the beginning of many to say what they are.
uint64_t tb_inputs_mark(void);
void tb_inputs_return(uint64_t mark);

// tb_input_is_stream returns whether a path leads to a pipe or the like ("-" is standard
// input), which can be read only once.
bool tb_input_is_stream(const char *path);

// tb_input_is_file returns whether `path` leads to a regular file. What is found in a
// folder is asked for it first: opening a pipe there would wait for its writer for ever.
bool tb_input_is_file(const char *path);

#endif

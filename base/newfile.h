// A file that has no name before it is whole.
//
// Model: the file is made without a name in the folder where it will stand (open(2),
// O_TMPFILE) and linked there when it is published, so whatever kills the program before
// leaves nothing behind, SIGKILL included. Where the file system has no such files (NFS,
// FAT) it is called NAME.partPID until then; tb_newfile_remove_all removes those from a
// signal handler.
#ifndef TB_NEWFILE_H
#define TB_NEWFILE_H

#include "status.h"

#include <stdbool.h>

struct tb_newfile {
	int fd;		 // read and write here
	char *name;	 // where it will stand
	char *temporary; // its name until then; NULL: none
};

// tb_newfile_open makes the file, with the permissions that the process gives new files.
// TB_EIO when the folder refuses, errno says why; then nothing is left behind.
int tb_newfile_open(
	struct tb_newfile *file, const char *name, struct tb_error *error) TB_MUST_USE;

// tb_newfile_publish gives the file its name. What has that name already is replaced, or,
// unless `replace`, stays: then TB_EFOREIGN. On failure the file can be published again
// or abandoned.
int tb_newfile_publish(
	struct tb_newfile *file, bool replace, struct tb_error *error) TB_MUST_USE;

// tb_newfile_close closes the file, and removes it unless it was published. Harmless on a
// zeroed or closed one.
void tb_newfile_close(struct tb_newfile *file);

// tb_newfile_remove_all removes every file of the process that is called NAME.partPID: of
// 16 at a time, with names of up to 4095 bytes. Safe in a signal handler; nothing else
// may be done with these files afterwards but to end the program.
void tb_newfile_remove_all(void);

#endif

// A file that gets its name only when it is complete.
//
// Model: the file is created without a name in its folder (open(2), O_TMPFILE) and linked
// to its name when it is published, so a program that is killed before leaves nothing
// behind, even after SIGKILL. On file systems without unnamed files (NFS, FAT) it is
// called NAME.partPID until it is published; a signal handler removes such files with
// tb_newfile_remove_all.
#ifndef TB_NEWFILE_H
#define TB_NEWFILE_H

#include "status.h"

#include <stdbool.h>

struct tb_newfile {
	int fd;		 // open for reading and writing
	char *name;	 // final name
	char *temporary; // name until then; NULL: none
};

// tb_newfile_open creates the file with the process's default permissions (umask). TB_EIO
// when the folder cannot be written; then nothing is left behind.
int tb_newfile_open(
	struct tb_newfile *file, const char *name, struct tb_error *error) TB_MUST_USE;

// tb_newfile_open_part does the same, but the file is called NAME.partPID on every file
// system until it is published: file->temporary, for a library that opens it by its name.
int tb_newfile_open_part(
	struct tb_newfile *file, const char *name, struct tb_error *error) TB_MUST_USE;

// tb_newfile_publish gives the file its name. It replaces an existing file of that name;
// without `replace` it leaves that file alone and returns TB_EFOREIGN. After a failure
// the caller can publish again or close.
int tb_newfile_publish(
	struct tb_newfile *file, bool replace, struct tb_error *error) TB_MUST_USE;

// tb_newfile_close closes the file, and removes it unless it was published. It does
// nothing to a zeroed or closed struct.
void tb_newfile_close(struct tb_newfile *file);

// tb_newfile_remove_all removes the files of this process that are called NAME.partPID;
// it knows at most 16 of them, with names of up to 4095 bytes. Safe in a signal handler,
// which must then end the program: the files cannot be published any more.
void tb_newfile_remove_all(void);

#endif

// A file that gets its name only when it is complete.
//
// Model: the file is created without a name in its folder (open(2), O_TMPFILE) and linked
// to its name when it is published, so a program that is killed before leaves nothing
// behind, even after SIGKILL. On file systems without unnamed files (NFS, FAT) it is
// called NAME.partRANDOM until it is published; a signal handler removes such files with
// tb_newfile_remove_all.
#ifndef TB_NEWFILE_H
#define TB_NEWFILE_H

#include "status.h"

#include <stdbool.h>

struct tb_newfile {
	int fd;		 // open for reading and writing
	char *name;	 // final name, behind links
	char *temporary; // name until then; NULL: none
	int slot;	 // private: where `temporary` stands for signals; -1: nowhere
};

// tb_newfile_follow returns where `name` leads, for the caller to free: onto a symbolic
// link, even one that leads to no file yet, the name of the file behind it. It stops at a
// link on procfs, such as /proc/PID/fd/1: that stands for an open file, which may have no
// name. NULL with errno: ELOOP, ENOMEM.
char *tb_newfile_follow(const char *name) TB_MUST_USE;

// tb_newfile_descriptor returns the descriptor of this process that a followed name
// stands for ("/dev/fd/3", and /dev/stdout, which is a link to such a name); -1: none.
int tb_newfile_descriptor(const char *name);

// tb_newfile_open creates the file, behind the links at `name`, with the process's
// default permissions (umask). TB_EIO when the folder cannot be written, TB_EUSAGE when
// it would replace a file that was read (input_files.h); then nothing is left behind.
int tb_newfile_open(
	struct tb_newfile *file, const char *name, struct tb_error *error) TB_MUST_USE;

// tb_newfile_publish gives the file its name. It replaces an existing file of that name;
// without `replace` it leaves that file alone and returns TB_EFOREIGN. It never
// replaces a file that was read: TB_EUSAGE. After a failure
// the caller can publish again or close.
int tb_newfile_publish(
	struct tb_newfile *file, bool replace, struct tb_error *error) TB_MUST_USE;

// tb_newfile_close closes the file, and removes it unless it was published. It does
// nothing to a zeroed or closed struct.
void tb_newfile_close(struct tb_newfile *file);

// tb_newfile_remove_all removes the files of this process that are called
// NAME.partRANDOM; it knows at most 16 of them, with names of up to 4095 bytes. Safe in a
// signal handler, which must then end the program: the files cannot be published any
// more.
void tb_newfile_remove_all(void);

#endif

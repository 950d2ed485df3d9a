// This program, started once more beside itself: a replay that shows what it writes.
#ifndef TB_CHILD_H
#define TB_CHILD_H

#include "status.h"

#include <stdbool.h>
#include <sys/types.h>

struct tb_child {
	pid_t pid; // 0: none
};

struct tb_child_options {
	const char *const *arguments; // behind the program's name; ends with NULL
	int input;	  // what it reads as its standard input; -1: as this program
	bool apart;	  // Ctrl-C does not reach it
	const char *said; // file that takes its standard error; NULL: as this program's
};

// tb_child_start starts it; TB_EIO when the system refuses.
int tb_child_start(struct tb_child *child, const struct tb_child_options *options,
	struct tb_error *error) TB_MUST_USE;

// tb_child_wait waits until it has ended and gives its exit code, 1 when a signal ended
// it; at once and 0 when there is none. A signal that comes meanwhile and is caught asks
// it to end.
int tb_child_wait(struct tb_child *child);

// tb_child_ended says whether it has, and with which exit code, as tb_child_wait.
bool tb_child_ended(struct tb_child *child, int *code);

#endif

// Runs this program a second time as a child process: the viewer and `capture --watch`
// start a replay this way and show its results while it writes them.
//
// A child ends with the thread that started it, and so with this program, however that
// ends: the system kills it (PR_SET_PDEATHSIG).
#ifndef TB_CHILD_H
#define TB_CHILD_H

#include "status.h"

#include <stdbool.h>
#include <sys/types.h>

struct tb_child {
	pid_t pid; // 0: none
};

struct tb_child_options {
	const char *const *arguments; // after the program's name; ends with NULL
	int input;	    // descriptor for its standard input; -1: that of this program
	bool apart;	    // in its own process group, so that Ctrl-C does not reach it
	const char *log;    // file for its standard error; NULL: that of this program
	const char *output; // file for its standard output; NULL: that of this program
	// Called in the forked process in place of this program's start, with what this
	// one has read so far; returns the exit code. It must not use descriptors opened
	// before but those of standard streams, which are closed. This process must have
	// one thread. NULL: the program starts anew.
	int (*run)(void *context, int argc, char **argv);
	void *context;
};

// tb_child_start starts the child. TB_EIO when the system refuses.
int tb_child_start(struct tb_child *child, const struct tb_child_options *options,
	struct tb_error *error) TB_MUST_USE;

// tb_child_bind prepares a process that was just forked, with all signals blocked, for
// another program: no handler of its parent runs in it, and it gets the signal `number`
// when the thread that forked it ends. False when that has ended already. Safe after a
// fork of one thread of many.
bool tb_child_bind(pid_t parent, int number) TB_MUST_USE;

// tb_child_wait waits for the child to end and returns its exit code, or 1 if a signal
// killed it. Without a child it returns 0 at once. If a signal handler interrupts the
// wait, the child gets SIGTERM and the wait goes on.
int tb_child_wait(struct tb_child *child);

// tb_child_ended returns whether the child has ended, without waiting, and then stores
// its exit code as tb_child_wait returns it.
bool tb_child_ended(struct tb_child *child, int *code);

#endif

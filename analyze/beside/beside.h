// Records a trace beside this program: in a process of its own, into a store in a
// temporary folder, for whoever looks at it meanwhile.
//
// The process is this program's replay command. tb_beside_end ends it and removes the
// folder; if this program is killed before, both stay.
#ifndef TB_BESIDE_H
#define TB_BESIDE_H

#include "child.h"

#include <stddef.h>

struct tb_beside {
	struct tb_child child;
	char folder[256]; // "": none was begun
	char store[288];  // where the run is
	char said[288];	  // what the process wrote on standard error, unless it shows
};

struct tb_beside_options {
	const char *network; // as tb_network_preset reads it
	const char *trace;   // "-": what comes from `input`
	int input;	     // a descriptor; -1: as this program's
	// The process shows the run itself and prints its own warnings; else nothing of
	// it is seen, and Ctrl-C does not reach it.
	bool shows;
};

// tb_beside_start makes the folder, under TMPDIR or /tmp, and starts the process. TB_EIO
// when the system refuses; then nothing is left.
int tb_beside_start(struct tb_beside *beside, const struct tb_beside_options *options,
	struct tb_error *error) TB_MUST_USE;

// tb_beside_sentence writes why the process failed: its first line on standard error.
void tb_beside_sentence(const struct tb_beside *beside, char *text, size_t size);

// tb_beside_end waits until the process has ended, or with `at_once` kills it, and
// removes the store. Harmless when nothing was begun.
void tb_beside_end(struct tb_beside *beside, bool at_once);

#endif

// Records a trace beside this program: in a process of its own, into a store in a
// temporary folder. Others may read that store while it grows.
//
// The process runs this program's replay command. tb_beside_end ends the process and
// removes the folder; if this program is killed first, both go with it.
#ifndef TB_BESIDE_H
#define TB_BESIDE_H

#include "child.h"
#include "temporary.h"

#include <stddef.h>

#define TB_BESIDE_WORDS_MOST 64

struct tb_beside {
	struct tb_child child;
	struct tb_temporary folder;
	char store[TB_TEMPORARY_FILE_BYTES];
	char said[TB_TEMPORARY_FILE_BYTES]; // the process's standard error, unless
					    // `shows`
};

struct tb_beside_options {
	const char *network;	  // opened by tb_network_open
	const char *trace;	  // "-": read `input`
	const char *const *words; // further options of the replay command, n_words
	size_t n_words;		  // at most TB_BESIDE_WORDS_MOST
	int input; // standard input of the process, a descriptor; -1: that of this
		   // program
	// The process opens the viewer itself and prints its own warnings. Otherwise it
	// shows and prints nothing, and Ctrl-C does not reach it.
	bool shows;
};

// tb_beside_start makes the folder, under TMPDIR or /tmp, and starts the process. TB_EIO
// when the system refuses either; then neither folder nor process remains.
int tb_beside_start(struct tb_beside *beside, const struct tb_beside_options *options,
	struct tb_error *error) TB_MUST_USE;

// tb_beside_progress reads how far a process is and foresees the seconds that it still
// takes, from the file `said`, where its standard error goes; false while that is
// unknown. tb_beside_progress_text writes it, "42 %, 0:12 left"; nothing of a negative
// fraction.
bool tb_beside_progress(const char *said, double *fraction, double *left_s);
char *tb_beside_progress_text(double fraction, double left_s, char *text, size_t size);

// tb_beside_sentence writes why a process failed: its first line in the file `said`,
// where its standard error went.
void tb_beside_sentence(const char *said, char *text, size_t size);

// tb_beside_end waits until the process has ended, or kills it if `at_once`, and removes
// the folder with the store. Does nothing when nothing was started.
void tb_beside_end(struct tb_beside *beside, bool at_once);

#endif

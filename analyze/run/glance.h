// What is in a trace, found out beside this program: in a process of its own, which runs
// this program's info command, because reading a large capture takes long.
//
// One thread at a time per object.
#ifndef TB_GLANCE_H
#define TB_GLANCE_H

#include "child.h"
#include "temporary.h"

struct tb_glance {
	struct tb_child child;
	struct tb_temporary folder;
	char file[TB_TEMPORARY_FILE_BYTES]; // what the process writes
	char said[TB_TEMPORARY_FILE_BYTES]; // what it writes on standard error
};

// What was found. Loads are for the network of tb_glance_start.
struct tb_glance_answer {
	bool is_capture;
	uint32_t n_nodes;     // that it needs; 0: unknown
	double busiest_share; // of what a node's link carries, 0..1; 0: unknown
	double half_scale;    // the time scale at which that would be a half
	char network[256];    // that fits it; "": not told
};

// tb_glance_start starts the process with n_words further options of the info command
// (TB_BESIDE_WORDS_MOST at most). TB_EIO when the system refuses; then nothing remains.
int tb_glance_start(struct tb_glance *glance, const char *trace, const char *network,
	const char *const *words, size_t n_words, struct tb_error *error) TB_MUST_USE;

// tb_glance_poll returns 1 once the answer is there, 0 while the process runs or none was
// started, TB_EFORMAT with the process's sentence when it failed. After 1 and TB_EFORMAT
// nothing is left to end.
int tb_glance_poll(struct tb_glance *glance, struct tb_glance_answer *answer,
	struct tb_error *error);

// tb_glance_end ends the process if it runs.
void tb_glance_end(struct tb_glance *glance);

#endif

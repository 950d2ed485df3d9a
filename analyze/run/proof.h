// What a run's findings propose, tried beside this program: in a process of its own,
// which runs this program's advise command for these changes alone, for TB_PROOF_TIME at
// most. What it finds out is then in the run's store. One thread at a time per object.
#ifndef TB_PROOF_H
#define TB_PROOF_H

#include "child.h"
#include "temporary.h"

#include <stddef.h>
#include <stdint.h>

#define TB_PROOF_TIME "60s"

// A zeroed struct is one that was not started.
struct tb_proof {
	struct tb_child child;
	struct tb_temporary folder;
	char said[TB_TEMPORARY_FILE_BYTES];   // what the process writes on standard error
	char answer[TB_TEMPORARY_FILE_BYTES]; // and on standard output
	bool cancelled;
	double fraction, left_s; // as tb_beside_progress has them; a negative fraction is
				 // unknown
};

// tb_proof_start starts the process, in this one's folder, where it looks for the run's
// input. TB_EIO when the store cannot be written, or the system refuses; then nothing
// remains.
int tb_proof_start(struct tb_proof *proof, const char *store, int64_t run,
	struct tb_error *error) TB_MUST_USE;

// tb_proof_poll returns 1 once the process has ended, and writes in a sentence what it
// came to, or why it failed; 0 while it runs, and when there is none.
int tb_proof_poll(struct tb_proof *proof, char *sentence, size_t size);

// tb_proof_cancel asks the process to end and to leave the store as it is; tb_proof_poll
// tells when it has.
void tb_proof_cancel(struct tb_proof *proof);

// tb_proof_end cancels it and removes what is left. It waits for the process, but not for
// long: that ends by itself.
void tb_proof_end(struct tb_proof *proof);

#endif

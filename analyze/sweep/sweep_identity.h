// What makes a sweep this sweep, as a digest. Private to analyze/sweep/.
#ifndef TB_SWEEP_IDENTITY_H
#define TB_SWEEP_IDENTITY_H

#include "digest.h"
#include "sweep.h"

// tb_sweep_identity stores a digest of all that bears on the rows of the sweep's store:
// its points in their order, the parameters of their networks (a preset's file may differ
// from machine to machine), its [plot], whether blame is recorded, and the program's
// version. TB_ENOMEM.
int tb_sweep_identity(const struct tb_sweep *sweep, bool with_blame,
	char digest[TB_DIGEST_SIZE], struct tb_error *error) TB_MUST_USE;

#endif

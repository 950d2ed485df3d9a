// Puts the clocks of ranks on one time, where an archive's writer did not.
//
// EZTrace counts each process's time from its own start. Rule: members of a collective
// call on all ranks that nobody can leave before the last has entered it leave it at
// about the same time. A rank's clock is shifted by the median of its differences.
#ifndef TB_OTF2_CLOCKS_H
#define TB_OTF2_CLOCKS_H

#include "receives.h"

// tb_otf2_clocks_align shifts the clocks of `ranks`, so that none goes below 0, and
// stores by how much they were apart; 0 when the ranks have no such calls, or not equally
// many, but for those whose events break off. TB_ENOMEM.
int tb_otf2_clocks_align(struct tb_otf2_unresolved *ranks, size_t n, uint64_t *apart_ns,
	struct tb_error *error) TB_MUST_USE;

#endif

// Finds what the receives received of which an archive has only the beginning.
//
// EZTrace records when MPI_Irecv was called, but not what it received. Rule: in the order
// in which a rank posted its receives, such a one gets the earliest message to the rank
// that no other receive needs and that was sent before the request was used again, or not
// a millisecond later: clocks differ. MPI_Cancel cancels the one posted last. A rank
// has waited for it by the end of the first MPI_Wait or MPI_Test after it that ends after
// the message was sent. A receive for which no message is left was cancelled, or is.
#ifndef TB_OTF2_RECEIVES_H
#define TB_OTF2_RECEIVES_H

#include "steps.h"

struct tb_otf2_unresolved {
	uint32_t rank;
	struct tb_otf2_steps steps;
};

struct tb_otf2_found {
	uint64_t n_found, n_without;
};

// tb_otf2_receives_cut drops what the ranks called after the first of them broke off, and
// returns how many calls. Receives would get the messages of other senders then.
uint64_t tb_otf2_receives_cut(struct tb_otf2_unresolved *ranks, size_t n);

// tb_otf2_receives_find does so for the ranks in `ranks`, whose steps are not among the
// calls; those of all other ranks are. TB_ENOMEM.
int tb_otf2_receives_find(struct tb_otf2_unresolved *ranks, size_t n,
	const struct tb_calls *calls, struct tb_otf2_found *found,
	struct tb_error *error) TB_MUST_USE;

// Clocks: EZTrace counts each process's time from its own start. Rule: members of a
// collective call on all ranks that nobody can leave before the last has entered it leave
// it at about the same time. A rank's clock is shifted by the median of its differences.

// tb_otf2_clocks_align shifts the clocks of `ranks`, so that none goes below 0, and
// stores by how much they were apart; 0 when the ranks have no such calls, or not equally
// many, but for those whose events break off. TB_ENOMEM.
int tb_otf2_clocks_align(struct tb_otf2_unresolved *ranks, size_t n, uint64_t *apart_ns,
	struct tb_error *error) TB_MUST_USE;

#endif

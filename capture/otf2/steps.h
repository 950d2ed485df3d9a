// What one rank called, while its locations are read: calls that can still be changed,
// because only a later record shows what a receive received.
#ifndef TB_STEPS_H
#define TB_STEPS_H

#include "calls.h"

struct tb_otf2_step {
	struct tb_call call;
	// Of one that starts: when its request was used again; of a blocking one: when it
	// returned; else UINT64_MAX.
	uint64_t until_ns;
	bool is_open;	   // a receive or collective call that no record completed yet
	bool has_ended;	   // of one that starts: a call came after it
	bool is_cancelled; // at until_ns
	bool is_dropped;
};

// Call `waiting` comes after call `on`.
struct tb_otf2_order {
	uint32_t waiting, on;
};

// A time in which the rank waited, or polled, and nothing was recorded of what for. It
// becomes a joint if something is found to have ended in it (tb_otf2_receives_find).
struct tb_otf2_pause {
	uint64_t enter_ns, leave_ns, calc_ns; // calc_ns: as in a call
	uint32_t next;			      // the step of its lane after it
	uint32_t lane;
	uint32_t joint; // the step that was made of it, or UINT32_MAX
};

struct tb_otf2_steps {
	struct tb_otf2_step *steps;
	struct tb_otf2_order *orders;
	struct tb_otf2_pause *pauses;
	size_t n_steps, n_orders, n_pauses;
	size_t steps_room, orders_room, pauses_room;
	uint32_t n_lanes;
	size_t n_open_receives;
	bool is_cut; // its events break off, at cut_ns
	uint64_t cut_ns;
};

// A zeroed struct is empty. tb_otf2_steps_fini leaves it empty.
void tb_otf2_steps_fini(struct tb_otf2_steps *of);

// These append. TB_ENOMEM, TB_ECAPACITY.
int tb_otf2_steps_add(struct tb_otf2_steps *of, const struct tb_call *call,
	uint32_t *index, struct tb_error *error) TB_MUST_USE;
int tb_otf2_steps_after(struct tb_otf2_steps *of, uint32_t waiting, uint32_t on,
	struct tb_error *error) TB_MUST_USE;
int tb_otf2_steps_pause(struct tb_otf2_steps *of, const struct tb_otf2_pause *pause,
	struct tb_error *error) TB_MUST_USE;

// tb_otf2_steps_give adds the steps that are not dropped to the calls of `rank`, in the
// order in which they were entered, and empties `of`. An order that clocks turned around
// is left out.
int tb_otf2_steps_give(struct tb_otf2_steps *of, struct tb_calls *calls, uint32_t rank,
	struct tb_error *error) TB_MUST_USE;

// Finds what the receives received of which an archive has only the beginning.
//
// EZTrace records when MPI_Irecv was called, but not what it received. Rule: in the order
// in which a rank posted its receives, such a one gets the earliest message to the rank
// that no other receive needs and that was sent before the request was used again, or not
// a millisecond later: clocks differ. MPI_Cancel cancels the one posted last. A rank
// has waited for it by the end of the first MPI_Wait or MPI_Test after it that ends after
// the message was sent. A receive for which no message is left was cancelled, or is.

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

// The callbacks of the records of events, and what they use of events.c.
#ifndef TB_OTF2_RECORDS_H
#define TB_OTF2_RECORDS_H

#include "events.h"
#include "ranks.h"

// tb_otf2_records_new makes the callbacks, whose user data is a struct tb_otf2_events;
// NULL without memory.
OTF2_EvtReaderCallbacks *tb_otf2_records_new(void);

// tb_otf2_events_at begins an event; false when reading should end.
bool tb_otf2_events_at(struct tb_otf2_events *of, uint64_t time);
OTF2_CallbackCode tb_otf2_events_next(const struct tb_otf2_events *of);
// tb_otf2_events_fail keeps the first failure, whose sentence is in of->error.
void tb_otf2_events_fail(struct tb_otf2_events *of, int status);

// These begin and end an MPI call at of->last; calls within calls belong to the
// outermost.
void tb_otf2_call_enter(struct tb_otf2_events *of, struct tb_otf2_region *region);
void tb_otf2_call_leave(struct tb_otf2_events *of);

// tb_otf2_call_add adds a step of the call; false on failure. tb_otf2_call_ends has the
// call complete what an earlier step started.
bool tb_otf2_call_add(
	struct tb_otf2_events *of, const struct tb_call *call, uint32_t *index);
void tb_otf2_call_ends(struct tb_otf2_events *of, uint32_t step);

// The two sizes of a collective record; docs/traces.md has the table.

// tb_otf2_collective finds the operation; false for those that only make or free handles
// or memory.
bool tb_otf2_collective(OTF2_CollectiveOp op, enum tb_collective_op *found);

// tb_otf2_collective_bytes returns the bytes of a call from what its record says was
// sent and received. `by_arguments`: the record has what the call's arguments say of one
// block (EZTrace); else the totals over all members, as Score-P has them
// (SCOREP_Mpi_Coll.c): the rank's own block counts, unless the call was made in place.
uint64_t tb_otf2_collective_bytes(OTF2_CollectiveOp op, const struct tb_otf2_view *view,
	uint64_t sent, uint64_t received, bool by_arguments);

#endif

// What the two sizes of a collective record say, as calls.h wants it. docs/traces.md has
// the table.
#ifndef TB_OTF2_SIZES_H
#define TB_OTF2_SIZES_H

#include "ranks.h"

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

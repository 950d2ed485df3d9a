// A recording that several processes simulate together (engine.h, "Several processes"):
// rank 0 records, as recording.h has it, and the others do their parts.
#ifndef TB_RECORDING_TOGETHER_H
#define TB_RECORDING_TOGETHER_H

#include "peer_streams.h"
#include "recording.h"

// tb_recording_serve reads the traces and builds the network as rank 0 does, in another
// process, simulates its parts, and waits until rank 0 leaves. Errors of its own it
// reports to rank 0, which prints them, and returns TB_OK. What it returns is an
// error that comes later: rank 0 does not know of it, and waits.
int tb_recording_serve(
	const struct tb_recording_options *options, struct tb_error *error) TB_MUST_USE;

// tb_recording_dismiss ends the other processes' work, where rank 0 cannot begin.
void tb_recording_dismiss(struct tb_peer_streams *peers);

// tb_recording_leave has the others, which wait for it, end as rank 0 does: what follows
// a run may take rank 0 longer than MPI waits at its end.
void tb_recording_leave(struct tb_peer_streams *peers);

#endif

// Paraver traces (.prv), as Extrae writes them: what the tasks of MPI programs did.
//
// A trace is NAME.prv (or .prv.gz); beside it NAME.pcf names the values of events, and
// NAME.row the hosts; both may be absent. The trace has a header and a record per line:
//
//   #Paraver (21/01/2022 at
//   16:37):DURATION_ns:NODES(CPUS,...):APPLICATIONS:TASKS(THREADS:NODE,...),...
//   c:APPLICATION:COMMUNICATOR:N:TASK:...
//   1:CPU:APPLICATION:TASK:THREAD:BEGIN:END:STATE
//   2:CPU:APPLICATION:TASK:THREAD:TIME:TYPE:VALUE:TYPE:VALUE...
//   3:CPU:APPLICATION:TASK:THREAD:SEND:SENT:CPU:APPLICATION:TASK:THREAD:RECEIVE:RECEIVED:BYTES:TAG
//
// All numbers count from 1. Events of types 50000001 to 50000005 are the MPI calls: the
// value is the call, 0 its end; 50100001 to 50100004 are a collective's bytes sent and
// received, whether the task is the root, and the communicator. Where a trace has no such
// events, its states other than Running are the calls.
//
// Rules (docs/traces.md): tasks of applications that communicate are ranks, application
// after application. Time outside MPI calls is computation. A message is sent in the call
// in which its send begins, and received in the call in which its receive begins; it
// completes in the first call that waits and ends after it was received.
#ifndef TB_PARAVER_H
#define TB_PARAVER_H

#include "bytes.h"
#include "calls.h"
#include "reading.h"

// tb_paraver_begins returns whether a file that begins so is a Paraver trace.
bool tb_paraver_begins(struct tb_bytes first);

// tb_paraver_read is a tb_calls_read; it takes one file.
int tb_paraver_read(struct tb_calls **calls, const struct tb_reading *reading,
	const char *const *paths, size_t n, const char **made,
	struct tb_error *error) TB_MUST_USE;

#endif

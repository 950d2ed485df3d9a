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
// Rules:
//
// What Extrae writes: NAME.prv or NAME.prv.gz. NAME.pcf beside it names the calls
// (else they go by Extrae's numbers), and NAME.row the hosts.
// 1. Tasks of applications that communicate are ranks, application after application;
//    threads are lanes.
// 2. Events of types 50000001 to 50000005 are the calls, and the time outside of them
//    is computation. Without such events states other than Running are calls;
//    collectives cannot be told.
// 3. A communication record is a message. The call in which its send begins sends it,
//    and the call in which its receive begins receives it: a call that starts
//    (MPI_Isend, MPI_Irecv) or one that returns when it is complete. Where there is no
//    call at that time, one that starts is taken.
// 4. A receive that was started is waited for in the first MPI_Wait... that ends after
//    the message was received, or the MPI_Test... in which it was. The trace does not
//    say which wait is for which send: MPI_Waitall is for all that were started, and
//    an MPI_Wait in which no receive completes for the oldest.
// 5. Calls whose message is not in the trace, and calls entered before it begins, are
//    left out and counted.
// 6. A collective call has its sizes, its communicator and whether it is the root from
//    the events 50100001 to 50100004. MPI_Alltoallv has the sum of its sizes only, and
//    is taken as blocks of equal size.
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

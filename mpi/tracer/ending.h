// Endings: which signal ended a rank, or that it exited without MPI_Finalize.
//
// Rule: the signals whose default is to end the process have a handler that notes the
// signal in the rank file, puts back what was there before, and has the signal come
// again. So the process ends, dumps core or handles the signal as it would untraced. What
// the program sets later replaces the handler. SIGKILL leaves no note.
#ifndef TB_ENDING_H
#define TB_ENDING_H

// tb_ending_watch begins to watch, when the rank file is open.
void tb_ending_watch(void);

#endif

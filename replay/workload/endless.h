// A workload without a network: each message is delivered as soon as it is posted. What
// is left is what the program computes until its last message, along its longest chain of
// dependences; the source's owner knows what it computes after that.
//
// Where operations of a rank take turns on its processor, another order may take longer
// (Graham, SIAM J. Appl. Math. 17, 1969): the time is then no bound of what a network
// takes, and who compares takes the lesser.
#ifndef TB_ENDLESS_H
#define TB_ENDLESS_H

#include "source.h"

#include <signal.h>

// tb_endless_run plays a source to its end and stores when its last message was. Returns
// 1 when `stop` (NULL: never) was set before. Errors of the source; TB_ENOMEM. Cost: a
// few calls a message.
int tb_endless_run(const struct tb_source *source, const volatile sig_atomic_t *stop,
	tb_time_ps *took_ps, struct tb_error *error) TB_MUST_USE;

#endif

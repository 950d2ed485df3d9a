// A flag that asks for an early end. A signal handler or another thread sets it, and
// long work checks it now and then; NULL: the work is never stopped.
//
// The flag is a volatile sig_atomic_t, as signal handlers need it, read and written
// atomically, as threads do.
#ifndef TB_STOP_H
#define TB_STOP_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>

// tb_stop_of_signals returns the flag that this process's signal handlers set. A handler
// gets no context, so it stands at file scope: an exception to the rule. What must not
// wait for ever for a pipe asks it beside its own.
volatile sig_atomic_t *tb_stop_of_signals(void);

static inline bool tb_stop_asked(const volatile sig_atomic_t *stop)
{
	return stop && __atomic_load_n(stop, __ATOMIC_RELAXED) != 0;
}

static inline void tb_stop_set(volatile sig_atomic_t *stop, bool asked)
{
	__atomic_store_n(stop, asked, __ATOMIC_RELAXED);
}

#endif

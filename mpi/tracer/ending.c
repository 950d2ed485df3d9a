#include "ending.h"

#include "lane.h"

#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <unistd.h>

// Faults come again when the handler returns, and a handler that was there before (Open
// MPI's prints a backtrace) is kept for then. The others, which end processes by others'
// wish, are watched only where nothing else is done about them.
static const struct {
	int number;
	bool fault;
} watched[] = {{SIGSEGV, true}, {SIGBUS, true}, {SIGFPE, true}, {SIGILL, true},
	{SIGABRT, true}, {SIGSYS, true}, {SIGTERM, false}, {SIGINT, false},
	{SIGHUP, false}, {SIGQUIT, false}, {SIGXCPU, false}, {SIGXFSZ, false},
	{SIGPIPE, false}, {SIGALRM, false}, {SIGUSR1, false}, {SIGUSR2, false}};

enum { N_WATCHED = sizeof watched / sizeof *watched };

static struct sigaction before[N_WATCHED];
static atomic_bool watching;

// A signal that was sent would not come again by itself; it is blocked until the handler
// returns, so that it meets what was there before.
static void ending_on_signal(int number, siginfo_t *info, void *context)
{
	int kept = errno;
	(void)context;
	for (size_t i = 0; i < N_WATCHED; i++) {
		if (watched[i].number != number)
			continue;
		tb_lanes_ending((uint32_t)number);
		sigaction(number, &before[i], NULL);
		if (info->si_code <= 0 || !watched[i].fault)
			raise(number);
	}
	errno = kept;
}

void tb_ending_watch(void)
{
	for (size_t i = 0; i < N_WATCHED; i++) {
		struct sigaction own = {.sa_sigaction = ending_on_signal,
			.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART};
		sigemptyset(&own.sa_mask);
		if (sigaction(watched[i].number, NULL, &before[i]) != 0)
			continue;
		bool is_default = !(before[i].sa_flags & SA_SIGINFO) &&
				  before[i].sa_handler == SIG_DFL;
		bool is_ignored = !(before[i].sa_flags & SA_SIGINFO) &&
				  before[i].sa_handler == SIG_IGN;
		if (is_default || (watched[i].fault && !is_ignored))
			sigaction(watched[i].number, &own, NULL);
	}
	watching = true;
}

// A process that exits runs this; one that a signal ends does not. A rank that came to
// MPI_Finalize has said so, which counts more.
static void __attribute__((destructor)) note_exit(void)
{
	if (watching)
		tb_lanes_ending(TB_TBT_EXITED);
}

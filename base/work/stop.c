#include "stop.h"

static volatile sig_atomic_t stop_of_signals;

volatile sig_atomic_t *tb_stop_of_signals(void)
{
	return &stop_of_signals;
}

// The options --from and --to: which span of a capture is meant. For cmd_*.c only: a
// mistake on the command line ends the program through argp_error.
#ifndef TB_INSTANT_ARGS_H
#define TB_INSTANT_ARGS_H

#include "instant.h"

#include <argp.h>

// tb_cmd_want_instant stores the instant that `text` is, the value of --NAME.
void tb_cmd_want_instant(const struct argp_state *state, const char *name,
	const char *text, struct tb_instant *instant);

#endif

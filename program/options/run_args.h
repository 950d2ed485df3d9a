// The arguments of subcommands that read a run: the store, and which run of it. For
// commands only: a mistake ends the program through argp_error.
#ifndef TB_RUN_ARGS_H
#define TB_RUN_ARGS_H

#include <argp.h>
#include <stdint.h>

// tb_cmd_store_arg takes the one argument, a store; other keys are ARGP_ERR_UNKNOWN. For
// the default case of a parser.
error_t tb_cmd_store_arg(
	int key, char *value, struct argp_state *state, const char **store);

// tb_cmd_run_number returns the value of --run, 1 or more.
int64_t tb_cmd_run_number(const char *value, const struct argp_state *state);

#endif

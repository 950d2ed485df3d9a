// What the subcommands that read a run have in common on the command line: the store, and
// which run of it. For commands alone: a mistake ends the program through argp_error.
#ifndef TB_RUN_ARGS_H
#define TB_RUN_ARGS_H

#include <argp.h>
#include <stdint.h>

// tb_cmd_store_arg takes the one argument, a store, from a parser's default case; other
// keys are ARGP_ERR_UNKNOWN.
error_t tb_cmd_store_arg(
	int key, char *value, struct argp_state *state, const char **store);

// tb_cmd_run_number reads the value of --run, from 1.
int64_t tb_cmd_run_number(const char *value, const struct argp_state *state);

#endif

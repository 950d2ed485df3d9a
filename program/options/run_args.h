// The arguments of subcommands that read a run: the store, and which run of it. For
// commands only: a mistake ends the program through argp_error.
#ifndef TB_RUN_ARGS_H
#define TB_RUN_ARGS_H

#include <argp.h>
#include <stdbool.h>
#include <stdint.h>

// tb_cmd_store_arg takes the one argument, a store; other keys are ARGP_ERR_UNKNOWN. For
// the default case of a parser.
error_t tb_cmd_store_arg(
	int key, char *value, struct argp_state *state, const char **store);

// tb_cmd_run_number returns the value of --run, 1 or more.
int64_t tb_cmd_run_number(const char *value, const struct argp_state *state);

// --wait: which of the two waits of a link is shown, by words of tb_wait_lead_words;
// without it the one that leads in the run's network.
#define TB_OPTION_WAIT 0x780
#define TB_CMD_WAIT_OPTION                                                               \
	{                                                                                \
		"wait", TB_OPTION_WAIT, "WHICH", 0,                                      \
			"The wait of a link that is shown: of packets that %s it "       \
			"(default: as "                                                  \
			"the network's switching has it)",                               \
			0                                                                \
	}
#define TB_CMD_WAIT_WORDS                                                                \
	{                                                                                \
		.key = TB_OPTION_WAIT, .list = tb_wait_lead_words                        \
	}

struct tb_cmd_wait {
	bool given;
	unsigned which; // enum tb_wait_lead
};

#endif

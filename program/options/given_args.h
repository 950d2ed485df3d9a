// Which options were given: those without an effect on what is asked for are refused.
#ifndef TB_GIVEN_ARGS_H
#define TB_GIVEN_ARGS_H

#include <argp.h>
#include <stddef.h>

struct tb_cmd_given {
	int keys[64]; // of the options, each once, as first given
	size_t n;
};

// tb_cmd_given_note notes an option; other keys of a parser it leaves alone. For its
// beginning.
void tb_cmd_given_note(struct tb_cmd_given *given, int key);

// tb_cmd_given_settle refuses the first option that is not among the `effective` ones, up
// to a 0, "with" what has it so ("--list"): returns 0, or the exit code after it has
// printed why, with the command's name. `options` has the options' names.
int tb_cmd_given_settle(const struct tb_cmd_given *given,
	const struct argp_option *options, const char *command, const int *effective,
	const char *with);

#endif

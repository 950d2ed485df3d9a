// What all subcommands share: exit codes, the form of an error message, the stop flag
// that Ctrl-C sets. For the program (cmd_*.c and tailback.c); libraries do not use it.
#ifndef TB_CLI_H
#define TB_CLI_H

#include "progress.h"
#include "status.h"

#include <signal.h>

enum tb_exit {
	TB_EXIT_OK = 0,
	TB_EXIT_FAILURE = 1,
	TB_EXIT_USAGE = 2,
	TB_EXIT_TRIPPED = 3
};

// tb_cli_guard_streams prepares the standard streams; called first. A stream that was
// closed (>&-) becomes one that fails, so that no other file takes its number. Everything
// that is printed on stderr from then on is made visible (visible.h), argp's and other
// libraries' messages included: they quote arguments and files. When the program ends,
// by exit too, stdout is flushed: if output was lost, it reports that and exits with 1.
void tb_cli_guard_streams(void);

struct tb_command {
	const char *name;
	const char *task;    // its headline in `tailback --help`; NULL: not shown there
	const char *summary; // one line for `tailback --help`
	int (*run)(int argc,
		char **argv); // argv[0] is "tailback NAME"; returns the exit code
};

// tb_cli_fail prints "tailback: <file: place: sentence>" on stderr and returns the exit
// code that the status asks for: 2 for TB_EUSAGE, else 1.
int tb_cli_fail(const struct tb_error *error);
// tb_cli_no_memory does so for a lack of memory for `what`.
int tb_cli_no_memory(const char *what);

// tb_cli_usage prints "tailback COMMAND: <sentence>" and how to get help, and returns 2.
int tb_cli_usage(const char *command, const char *format, ...) TB_PRINTF(2, 3);

// tb_cli_n_cores returns how many cores there are, at least 1.
uint32_t tb_cli_n_cores(void);

// tb_cli_show_share updates a progress line, when it is due, with the share that is done
// (-1: not known) and a text. tb_cli_show_count does so with "3 of 8 THINGS".
void tb_cli_show_share(struct tb_progress *line, double share, const char *text);
void tb_cli_show_count(
	struct tb_progress *line, size_t n_done, size_t n, const char *things);

// tb_cli_catch_end has SIGINT, SIGTERM and SIGHUP remove half-written files (newfile.h),
// report that on stderr and end the program. Every command starts with it. An ignored
// signal stays ignored.
void tb_cli_catch_end(void);

// tb_cli_catch_stop has these signals set the flag that it returns; a second signal ends
// the program as above. For commands that keep what was done so far. SIGHUP stays ignored
// if it was (nohup).
const volatile sig_atomic_t *tb_cli_catch_stop(void);

// tb_cli_stop_flag returns the same flag, which is not set before tb_cli_catch_stop.
const volatile sig_atomic_t *tb_cli_stop_flag(void);

#endif

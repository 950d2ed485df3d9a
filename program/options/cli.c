#include "cli.h"

#include "outfile.h"
#include "stop.h"
#include "visible.h"

#include <argp.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// end_output is the one check that all that was printed has been written. Commands, argp
// and lists that are printed while options are parsed end in different ways, all by exit.
static void end_output(void)
{
	struct tb_outfile out = {.stream = stdout};
	struct tb_error error;
	if (tb_outfile_commit(&out, &error) == TB_OK)
		return;
	tb_cli_fail(&error);
	_exit(TB_EXIT_FAILURE);
}

void tb_cli_guard_streams(void)
{
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
		if (fcntl(fd, F_GETFD) < 0) // opened the wrong way round
			(void)!open(
				"/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY);
	atexit(end_output);
	FILE *guarded = tb_visible_stream(STDERR_FILENO);
	if (guarded)
		stderr = guarded; // a variable in glibc, as argp is of glibc
}

int tb_cli_fail(const struct tb_error *error)
{
	char text[1024];
	fflush(stdout);
	fprintf(stderr, "tailback: %s\n", tb_error_format(error, text, sizeof text));
	return error->code == TB_EUSAGE ? TB_EXIT_USAGE : TB_EXIT_FAILURE;
}

int tb_cli_no_memory(const char *what)
{
	struct tb_error error;
	tb_fail_memory(&error, "%s", what);
	return tb_cli_fail(&error);
}

int tb_cli_usage(const char *command, const char *format, ...)
{
	va_list args;
	fflush(stdout);
	fprintf(stderr, "%s: ", command);
	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fputc('\n', stderr);
	// As argp says it of options. It does not write to the name.
	char *name = strdup(command);
	argp_help(&(const struct argp){0}, stderr, ARGP_HELP_SEE,
		name ? name : program_invocation_short_name);
	free(name);
	return TB_EXIT_USAGE;
}

static void handle_signal(int signal_number, void (*handler)(int))
{
	struct sigaction action = {.sa_handler = handler};
	sigemptyset(&action.sa_mask);
	sigaction(signal_number, &action, NULL);
}

// is_ignored is true where nohup or a shell's & started the program with the signal
// ignored.
static bool is_ignored(int signal_number)
{
	struct sigaction action;
	return sigaction(signal_number, NULL, &action) == 0 &&
	       action.sa_handler == SIG_IGN;
}

// on_end ends the program by the signal's default action, which a shell recognises.
static void on_end(int signal_number)
{
	static const char sentence[] = "tailback: stopped by a signal\n";
	tb_newfile_remove_all();
	// That nobody reads it changes nothing.
	(void)!write(STDERR_FILENO, sentence, sizeof sentence - 1);
	signal(signal_number, SIG_DFL);
	raise(signal_number);
}

static void on_stop(int signal_number)
{
	tb_stop_set(tb_stop_of_signals(), true);
	handle_signal(signal_number, on_end);
}

void tb_cli_catch_end(void)
{
	static const int ending[] = {SIGINT, SIGTERM, SIGHUP};
	for (size_t i = 0; i < sizeof ending / sizeof *ending; i++)
		if (!is_ignored(ending[i]))
			handle_signal(ending[i], on_end);
}

const volatile sig_atomic_t *tb_cli_stop_flag(void)
{
	return tb_stop_of_signals();
}

const volatile sig_atomic_t *tb_cli_catch_stop(void)
{
	handle_signal(SIGINT, on_stop);
	handle_signal(SIGTERM, on_stop);
	if (!is_ignored(SIGHUP))
		handle_signal(SIGHUP, on_stop);
	return tb_stop_of_signals();
}

uint32_t tb_cli_n_cores(void)
{
	long n = sysconf(_SC_NPROCESSORS_ONLN);
	return n > 1 ? (uint32_t)n : 1;
}

void tb_cli_show_share(struct tb_progress *line, double share, const char *text)
{
	if (tb_progress_due(line))
		tb_progress_show(line, share, text);
}

void tb_cli_show_count(
	struct tb_progress *line, size_t n_done, size_t n, const char *things)
{
	char text[96];
	if (!tb_progress_due(line))
		return;
	snprintf(text, sizeof text, "%zu of %zu %s", n_done, n, things);
	tb_progress_show(line, n ? (double)n_done / (double)n : -1, text);
}

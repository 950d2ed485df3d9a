#include "cli.h"

#include <stdio.h>
#include <string.h>

int tb_cli_fail(const struct tb_error *error)
{
	char text[1024];
	fflush(stdout);
	fprintf(stderr, "tailback: %s\n", tb_error_format(error, text, sizeof text));
	return error->code == TB_EUSAGE ? TB_EXIT_USAGE : TB_EXIT_FAILURE;
}

int tb_cli_usage(const char *command, const char *format, ...)
{
	va_list args;
	fflush(stdout);
	fprintf(stderr, "%s: ", command);
	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fprintf(stderr, "\nTry '%s --help'.\n", command);
	return TB_EXIT_USAGE;
}

// A signal handler can reach nothing but file scope: the one exception to the rule.
static volatile sig_atomic_t stop_asked;

static void on_stop(int signal_number)
{
	stop_asked = 1;
	signal(signal_number, SIG_DFL);
}

const volatile sig_atomic_t *tb_cli_catch_stop(void)
{
	struct sigaction action = {.sa_handler = on_stop};
	sigemptyset(&action.sa_mask);
	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	return &stop_asked;
}

// The command table: finds the subcommand and hands over.
#include "cli.h"
#include "commands.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>

static void print_help(FILE *stream)
{
	fputs("Usage: tailback COMMAND [OPTION...] [FILE...]\n"
	      "Replay packet captures and job traces through a modelled fat tree and see "
	      "which\n"
	      "links they wait for.\n\nCommands:\n",
		stream);
	for (const struct tb_command *command = tb_commands; command->name; command++)
		fprintf(stream, "  %-10s %s\n", command->name, command->summary);
	fputs("\n'tailback COMMAND --help' tells a command's options; 'man tailback' the "
	      "rest.\n",
		stream);
}

int main(int argc, char **argv)
{
	// A file that grows beyond a limit is to be an error of write, as a full disk is.
	signal(SIGXFSZ, SIG_IGN);
	if (argc < 2) {
		print_help(stderr);
		return TB_EXIT_USAGE;
	}
	if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-?") == 0 ||
		strcmp(argv[1], "help") == 0) {
		print_help(stdout);
		return TB_EXIT_OK;
	}
	if (strcmp(argv[1], "--version") == 0 || strcmp(argv[1], "-V") == 0) {
		puts("tailback " TB_VERSION);
		return TB_EXIT_OK;
	}
	for (const struct tb_command *command = tb_commands; command->name; command++) {
		if (strcmp(argv[1], command->name) != 0)
			continue;
		char name[64];
		snprintf(name, sizeof name, "tailback %s", command->name);
		argv[1] = name;
		return command->run(argc - 1, argv + 1);
	}
	return tb_cli_usage("tailback", "no command is called '%s'", argv[1]);
}

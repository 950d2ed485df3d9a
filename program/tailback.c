// The entry point: finds the subcommand in the table and runs it.
#include "cli.h"
#include "commands.h"
#include "nearest.h"
#include "version.h"

#include <malloc.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#define MAPPED_BYTES (1 << 20)

static void print_help(FILE *stream)
{
	fputs("Usage: tailback COMMAND [OPTION...] [FILE...]\n"
	      "Replay packet captures and job traces through a modelled fat tree and see "
	      "which\n"
	      "links they wait for.\n",
		stream);
	const char *task = "";
	for (const struct tb_command *command = tb_commands; command->name; command++) {
		if (!command->task)
			continue;
		if (strcmp(command->task, task) != 0)
			fprintf(stream, "\n%s:\n", command->task);
		fprintf(stream, "  %-10s %s\n", command->name, command->summary);
		task = command->task;
	}
	fputs("\n'tailback COMMAND --help' lists a command's options; 'man tailback' has "
	      "the rest.\n",
		stream);
}

static const struct tb_command *find_command(const char *name)
{
	for (const struct tb_command *command = tb_commands; command->name; command++)
		if (strcmp(name, command->name) == 0)
			return command;
	return NULL;
}

// whole_command returns the command that a part belongs to, or the command itself.
static const struct tb_command *whole_command(const struct tb_command *command)
{
	while (!command->task)
		command--;
	return command;
}

static int run_command_line(const struct tb_command *command, int argc, char **argv)
{
	char name[64];
	const struct tb_command *part = argc > 1 ? find_command(argv[1]) : NULL;
	if (part && part != command && whole_command(part) == command) {
		command = part;
		argc--;
		argv++;
	}
	if (command->task)
		snprintf(name, sizeof name, "tailback %s", command->name);
	else
		snprintf(name, sizeof name, "tailback %s %s",
			whole_command(command)->name, command->name);
	argv[0] = name;
	return command->run(argc, argv);
}

static int unknown(const char *name)
{
	struct tb_hint hint;
	size_t n = 0;
	while (tb_commands[n].name)
		n++;
	return tb_cli_usage("tailback", "no command is called '%s'%s", name,
		tb_hint_near(&hint, name, &tb_commands->name, n, sizeof *tb_commands));
}

// help prints the table, or with `name` the options of that command.
static int help(const char *name)
{
	char option[] = "--help";
	char *arguments[] = {NULL, option, NULL};
	if (!name) {
		print_help(stdout);
		return TB_EXIT_OK;
	}
	const struct tb_command *command = find_command(name);
	if (!command)
		return unknown(name);
	return run_command_line(command, 2, arguments);
}

int main(int argc, char **argv)
{
	// With SIGXFSZ ignored, write fails on a file that exceeds a limit, as on a full
	// disk.
	signal(SIGXFSZ, SIG_IGN);
#ifdef M_MMAP_THRESHOLD
	// Large arrays go back to the system when they are freed, whatever was freed
	// before them (glibc raises the threshold by that).
	mallopt(M_MMAP_THRESHOLD, MAPPED_BYTES);
#endif
	// Where it was ignored, the end of a child could not be waited for.
	signal(SIGCHLD, SIG_DFL);
	tb_cli_guard_streams();
	tb_cli_catch_end();
	if (argc < 2) {
		print_help(stderr);
		return TB_EXIT_USAGE;
	}
	if (strcmp(argv[1], "help") == 0)
		return help(argv[2]);
	if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-?") == 0)
		return help(NULL);
	if (strcmp(argv[1], "--version") == 0 || strcmp(argv[1], "-V") == 0) {
		printf("tailback %s\n", tb_version);
		return TB_EXIT_OK;
	}
	const struct tb_command *command = find_command(argv[1]);
	if (!command)
		return unknown(argv[1]);
	return run_command_line(command, argc - 1, argv + 1);
}

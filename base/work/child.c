#include "child.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define PROGRAM	      "/proc/self/exe"
#define ARGUMENTS_MAX 96

static int spawn(struct tb_child *child, const struct tb_child_options *options,
	char *const *arguments)
{
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attributes;
	sigset_t defaults;
	int status = posix_spawn_file_actions_init(&actions);
	if (status)
		return status;
	status = posix_spawnattr_init(&attributes);
	if (status) {
		posix_spawn_file_actions_destroy(&actions);
		return status;
	}
	// This program ignores SIGPIPE; an ignored signal would stay ignored in the
	// child.
	sigemptyset(&defaults);
	sigaddset(&defaults, SIGPIPE);
	posix_spawnattr_setsigdefault(&attributes, &defaults);
	posix_spawnattr_setpgroup(&attributes, 0);
	posix_spawnattr_setflags(
		&attributes, (short)(POSIX_SPAWN_SETSIGDEF |
				     (options->apart ? POSIX_SPAWN_SETPGROUP : 0)));
	if (options->input >= 0)
		status = posix_spawn_file_actions_adddup2(
			&actions, options->input, STDIN_FILENO);
	if (!status && options->log)
		status = posix_spawn_file_actions_addopen(&actions, STDERR_FILENO,
			options->log, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	if (!status && options->output)
		status = posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO,
			options->output, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	if (!status)
		status = posix_spawn(
			&child->pid, PROGRAM, &actions, &attributes, arguments, environ);
	posix_spawnattr_destroy(&attributes);
	posix_spawn_file_actions_destroy(&actions);
	return status;
}

int tb_child_start(struct tb_child *child, const struct tb_child_options *options,
	struct tb_error *error)
{
	// posix_spawn takes pointers to char, not const, so pass copies.
	char *arguments[ARGUMENTS_MAX + 2] = {NULL};
	int n = 0, status = 0;
	arguments[n++] = strdup("tailback");
	for (; n <= ARGUMENTS_MAX && options->arguments[n - 1]; n++)
		arguments[n] = strdup(options->arguments[n - 1]);
	if (options->arguments[n - 1])
		status = E2BIG;
	for (int i = 0; i < n; i++)
		status = arguments[i] ? status : ENOMEM;
	child->pid = 0;
	if (!status)
		status = spawn(child, options, arguments);
	for (int i = 0; i < n; i++)
		free(arguments[i]);
	if (!status)
		return TB_OK;
	child->pid = 0;
	return tb_fail(error, TB_EIO, "tailback %s cannot be started: %s",
		options->arguments[0], strerror(status));
}

static int exit_code(int ended)
{
	return WIFEXITED(ended) ? WEXITSTATUS(ended) : 1;
}

int tb_child_wait(struct tb_child *child)
{
	int ended = 0;
	if (child->pid == 0)
		return 0;
	// EINTR: a handler of this program caught a signal, so ask the child to end.
	while (waitpid(child->pid, &ended, 0) < 0) {
		if (errno != EINTR)
			break;
		kill(child->pid, SIGTERM);
	}
	child->pid = 0;
	return exit_code(ended);
}

bool tb_child_ended(struct tb_child *child, int *code)
{
	int ended;
	if (waitpid(child->pid, &ended, WNOHANG) != child->pid)
		return false;
	child->pid = 0;
	*code = exit_code(ended);
	return true;
}

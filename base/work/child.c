#include "child.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define PROGRAM	      "/proc/self/exe"
#define ARGUMENTS_MAX 96

// redirect opens `path`, unless it is NULL, in place of a standard stream.
static int redirect(const char *path, int stream)
{
	int fd = path ? open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600)
		      : stream;
	return fd == stream || dup2(fd, stream) >= 0 ? 0 : -1;
}

bool tb_child_bind(pid_t parent, int number)
{
	for (int caught = 1; caught < NSIG; caught++) {
		struct sigaction action;
		// An ignored SIGPIPE, as of capture, would stay ignored.
		if (sigaction(caught, NULL, &action) == 0 &&
			(action.sa_handler != SIG_IGN || caught == SIGPIPE))
			signal(caught, SIG_DFL);
	}
	// The parent may have ended before its end was asked for.
	return prctl(PR_SET_PDEATHSIG, number) == 0 && getppid() == parent;
}

// become_child turns the process that was forked into the child, and returns only if that
// fails. Other threads may have held any lock at the fork: unless it is to run on, it
// calls what a signal handler may.
static void become_child(const struct tb_child_options *options, char **arguments,
	pid_t parent, const sigset_t *mask)
{
	if (!tb_child_bind(parent, SIGKILL))
		return;
	if (options->apart)
		setpgid(0, 0);
	if (options->input >= 0 && dup2(options->input, STDIN_FILENO) < 0)
		return;
	if (redirect(options->log, STDERR_FILENO) != 0 ||
		redirect(options->output, STDOUT_FILENO) != 0)
		return;
	sigprocmask(SIG_SETMASK, mask, NULL);
	if (!options->run) {
		execv(PROGRAM, arguments);
		return;
	}
	int n = 0;
	while (arguments[n])
		n++;
	close_range(STDERR_FILENO + 1, ~0U, 0);
	int code = options->run(options->context, n, arguments);
	fflush(NULL);
	_exit(code);
}

static int fork_child(
	struct tb_child *child, const struct tb_child_options *options, char **arguments)
{
	sigset_t all, mask;
	int ends[2], failed = 0;
	pid_t parent = getpid();
	if (pipe2(ends, O_CLOEXEC) != 0)
		return errno;
	if (options->run)
		fflush(NULL); // else the child would write it, too
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &mask);
	pid_t pid = fork();
	if (pid == 0) {
		become_child(options, arguments, parent, &mask);
		(void)!write(ends[1], &errno, sizeof errno);
		_exit(EXIT_FAILURE);
	}
	if (pid < 0)
		failed = errno;
	pthread_sigmask(SIG_SETMASK, &mask, NULL);
	close(ends[1]);
	if (!failed) {
		// The child writes why it could not run the program; when it could, the
		// pipe closes.
		int fd = ends[0];
		int cause = 0;
		ssize_t n;
		do
			n = read(fd, &cause, sizeof cause);
		while (n < 0 && errno == EINTR);
		failed = n == sizeof cause ? cause : 0;
	}
	close(ends[0]);
	if (pid > 0 && failed)
		waitpid(pid, NULL, 0);
	if (!failed)
		child->pid = pid;
	return failed;
}

int tb_child_start(struct tb_child *child, const struct tb_child_options *options,
	struct tb_error *error)
{
	// execv takes pointers to char, not const, so pass copies.
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
		status = fork_child(child, options, arguments);
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

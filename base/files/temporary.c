#include "temporary.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

int tb_temporary_folder(
	char *path, size_t size, const char *purpose, struct tb_error *error)
{
	const char *parent = getenv("TMPDIR");
	// Of a path that is cut, too few X are left, and mkdtemp refuses it.
	(void)snprintf(path, size, "%s/tailback-XXXXXX", parent ? parent : "/tmp");
	if (mkdtemp(path))
		return TB_OK;
	path[0] = '\0';
	return tb_fail(error, TB_EIO, "no temporary folder can be made for %s", purpose);
}

// spawn_shell starts the shell, whose input ends with this process: the other end of the
// pipe is open here alone.
static int spawn_shell(struct tb_temporary *folder, int input)
{
	static char name[] = "sh", option[] = "-c";
	static char script[] = "trap '' HUP INT TERM; read -r _; rm -rf -- \"$0\"";
	char *const words[] = {name, option, script, folder->path, NULL};
	char *const nothing[] = {NULL};
	posix_spawn_file_actions_t actions;
	int failed = posix_spawn_file_actions_init(&actions);
	if (failed)
		return failed;
	failed = posix_spawn_file_actions_adddup2(&actions, input, STDIN_FILENO);
	// It keeps no pipe of this program's open.
	for (int out = STDOUT_FILENO; out <= STDERR_FILENO && !failed; out++)
		failed = posix_spawn_file_actions_addopen(
			&actions, out, "/dev/null", O_WRONLY, 0);
	if (!failed)
		failed = posix_spawn(
			&folder->shell, "/bin/sh", &actions, NULL, words, nothing);
	posix_spawn_file_actions_destroy(&actions);
	return failed;
}

int tb_temporary_guarded(
	struct tb_temporary *folder, const char *purpose, struct tb_error *error)
{
	int ends[2];
	int status =
		tb_temporary_folder(folder->path, sizeof folder->path, purpose, error);
	if (status != TB_OK)
		return status;
	if (pipe2(ends, O_CLOEXEC) == 0) {
		int failed = spawn_shell(folder, ends[0]);
		close(ends[0]);
		folder->guard = ends[1];
		if (!failed)
			return TB_OK;
		close(ends[1]);
	}
	rmdir(folder->path);
	return tb_fail(
		error, TB_EIO, "no shell starts that would remove %s's folder", purpose);
}

void tb_temporary_remove(struct tb_temporary *folder)
{
	close(folder->guard);
	while (waitpid(folder->shell, NULL, 0) < 0 && errno == EINTR)
		;
}

#include "temporary.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

// The shell prints a line when it has made the folder. It removes the folder more than
// once, as children of this process may write into it until they have ended, too.
static char guard_script[] =
	"trap '' HUP INT TERM PIPE; umask 077; mkdir -- \"$0\" || exit; echo; read -r _; "
	"for _ in 1 2 3 4 5 6 7 8 9; do rm -rf -- \"$0\" && exit; sleep 1; done";

// spawn_guard starts the shell in a session of its own. It keeps no stream of this
// program's open but `end`.
static int spawn_guard(struct tb_temporary *folder, int end)
{
	static char name[] = "sh", option[] = "-c";
	char *const words[] = {name, option, guard_script, folder->path, NULL};
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attributes;
	int failed = posix_spawn_file_actions_init(&actions);
	if (failed)
		return failed;
	failed = posix_spawnattr_init(&attributes);
	if (failed) {
		posix_spawn_file_actions_destroy(&actions);
		return failed;
	}
	posix_spawnattr_setflags(&attributes, (short)POSIX_SPAWN_SETSID);
	for (int stream = STDIN_FILENO; stream <= STDOUT_FILENO && !failed; stream++)
		failed = posix_spawn_file_actions_adddup2(&actions, end, stream);
	if (!failed)
		failed = posix_spawn_file_actions_addopen(
			&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
	char *const environment[] = {NULL};
	if (!failed)
		failed = posix_spawn(&folder->shell, "/bin/sh", &actions, &attributes,
			words, environment);
	posix_spawnattr_destroy(&attributes);
	posix_spawn_file_actions_destroy(&actions);
	return failed;
}

// temporary_exists waits for the shell's line.
static bool temporary_exists(const struct tb_temporary *folder)
{
	char line;
	ssize_t n;
	do
		n = read(folder->guard, &line, 1);
	while (n < 0 && errno == EINTR);
	return n == 1;
}

int tb_temporary_init_in(struct tb_temporary *folder, const char *parent,
	const char *purpose, struct tb_error *error)
{
	struct tb_temporary made;
	uint64_t random = 0;
	int ends[2];
	bool named =
		getrandom(&random, sizeof random, 0) == sizeof random &&
		(size_t)snprintf(made.path, sizeof made.path, "%s/tailback-%016" PRIx64,
			parent, random) < sizeof made.path;
	*folder = (struct tb_temporary){0};
	if (named && socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) == 0) {
		int failed = spawn_guard(&made, ends[1]);
		close(ends[1]);
		made.guard = ends[0];
		if (!failed && temporary_exists(&made)) {
			*folder = made;
			return TB_OK;
		}
		close(ends[0]);
		if (!failed)
			waitpid(made.shell, NULL, 0);
	}
	return tb_fail(error, TB_EIO, "no temporary folder can be made for %s", purpose);
}

int tb_temporary_init(
	struct tb_temporary *folder, const char *purpose, struct tb_error *error)
{
	const char *parent = getenv("TMPDIR");
	return tb_temporary_init_in(
		folder, parent && *parent ? parent : "/tmp", purpose, error);
}

void tb_temporary_fini(struct tb_temporary *folder)
{
	if (!folder->path[0])
		return;
	close(folder->guard);
	while (waitpid(folder->shell, NULL, 0) < 0 && errno == EINTR)
		;
	*folder = (struct tb_temporary){0};
}

char *tb_temporary_file(const struct tb_temporary *folder, const char *name,
	char path[TB_TEMPORARY_FILE_BYTES])
{
	snprintf(path, TB_TEMPORARY_FILE_BYTES, "%s/%.60s", folder->path, name);
	return path;
}

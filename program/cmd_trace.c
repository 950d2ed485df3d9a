// tailback trace: runs an MPI program under the tracer and merges what its ranks wrote.
#include "cmd_trace.h"
#include "child.h"
#include "cli.h"
#include "commands.h"
#include "options.h"
#include "which_mpi.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

// A file in the ranks' folder, with the name of an MPI behind it, that a process leaves
// for which that MPI's tracer is not installed.
#define MISSING "missing-"

static const char *mpi_word(size_t i)
{
	return tb_mpi_name(TB_TBT_OPENMPI + i);
}

static void check_trace_options(void *arguments, const struct argp_state *state)
{
	struct trace_arguments *args = arguments;
	if (args->mpi_given)
		args->mpi += TB_TBT_OPENMPI;
	if (!args->output)
		argp_error(state, "an output is missing: -o job.tbt");
	if (strcmp(args->output, "-") == 0)
		argp_error(state, "a trace is a file, not standard output: -o job.tbt");
	if (args->merge && args->command)
		argp_error(state, "--merge runs no command");
	if (!args->merge && !args->command)
		argp_error(state, "a command is missing: -- mpirun -n 16 ./app");
}

// take_command: the rest is the command, with its own options.
static void take_command(
	const struct tb_option *row, void *target, char *value, struct argp_state *state)
{
	(void)row, (void)value;
	*(char ***)target = state->argv + state->next - 1;
	state->next = state->argc;
}

#define AT(member) TB_AT(struct trace_arguments, member)

static const struct tb_option option_rows[] = {
	{"output", 'o', "FILE",
		"The trace to make, job.tbt (required); of further worlds job-2.tbt ...",
		TB_TEXT, AT(output), .files = "\\.tbt$"},
	{"mpi", 0, "MPI",
		"The program's MPI: %s (default: what the program links, else what "
		"mpirun is, else what each process links)",
		TB_WORD, AT(mpi), TB_SET(struct trace_arguments, mpi_given),
		.word = mpi_word},
	{"keep", 0, NULL, "Keep the folder with the files of the ranks", TB_FLAG,
		AT(keep)},
	{"merge", 0, "FOLDER",
		"Run nothing: merge the files of ranks (rank-*.tbr) in FOLDER", TB_TEXT,
		AT(merge), .files = "/$"},
	{"quiet", 'q', NULL, "No summary", TB_FLAG, AT(quiet)},
	{0},
};

static const struct tb_options option_table = {
	.rows = option_rows,
	.args_doc = "[--] COMMAND...",
	.doc = "Run an MPI program and trace what its ranks call, into a file that "
	       "replay, info and convert read.\v"
	       "COMMAND is how the program is run without tracing. Each rank writes a "
	       "file of its own, which are merged at the end; the exit code is the "
	       "command's.\n\n"
	       "Example:\n"
	       "  tailback trace -o job.tbt -- mpirun -n 16 ./app\n"
	       "  tailback replay job.tbt -n ib-hdr -o run.db",
	.operand = {.kind = TB_CALL, AT(command), .take = take_command},
	.check = check_trace_options,
	.flags = ARGP_IN_ORDER,
};

// make_folder makes a folder beside the output, so that the ranks' files are on the same
// disk as it; its path is absolute, because ranks may run elsewhere.
static int make_folder(const char *output, char **folder, struct tb_error *error)
{
	char *name = NULL;
	if (asprintf(&name, "%s.ranks-XXXXXX", output) < 0)
		return tb_fail_memory(error, "a name");
	if (mkdtemp(name))
		*folder = realpath(name, NULL);
	int status = TB_OK;
	if (!*folder)
		status = tb_fail_in(error, TB_EIO, output,
			"no folder can be made beside it: %s", strerror(errno));
	free(name);
	return status;
}

static void remove_folder(const char *path)
{
	DIR *folder = opendir(path);
	const struct dirent *entry;
	while (folder && (entry = readdir(folder)) != NULL) {
		size_t n = strlen(entry->d_name);
		if ((n > 4 && strcmp(entry->d_name + n - 4, ".tbr") == 0) ||
			strncmp(entry->d_name, MISSING, strlen(MISSING)) == 0)
			unlinkat(dirfd(folder), entry->d_name, 0);
	}
	if (folder)
		closedir(folder);
	rmdir(path);
}

static void run_command(const struct trace_arguments *args,
	const struct trace_preload *preload, const char *folder)
{
	struct tb_error error = {0};
	if (tb_trace_preload_set(preload, folder, &error) != TB_OK)
		_exit(tb_cli_fail(&error));
	execvp(args->command[0], args->command);
	tb_fail_in(
		&error, TB_EIO, args->command[0], "cannot be run: %s", strerror(errno));
	tb_cli_fail(&error);
	_exit(127);
}

// wait_for_command waits for the command, with `signals` blocked. Ctrl-C reaches mpirun
// by itself, which ends the ranks at the first and, if that takes long, by force at the
// second; a signal to this program is passed on. What does not end is killed at the
// third. What the ranks wrote is merged in any case.
static int wait_for_command(pid_t pid, const sigset_t *signals)
{
	int status = 0;
	unsigned n_asked = 0;
	while (waitpid(pid, &status, WNOHANG) == 0) {
		int signal_number = sigwaitinfo(signals, NULL);
		if (signal_number > 0 && signal_number != SIGCHLD)
			kill(pid, ++n_asked < 3 ? SIGTERM : SIGKILL);
	}
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static int run_traced(const struct trace_arguments *args,
	const struct trace_preload *preload, const char *folder, int *code,
	struct tb_error *error)
{
	sigset_t signals, before;
	struct sigaction hangup;
	sigemptyset(&signals);
	sigaddset(&signals, SIGINT);
	sigaddset(&signals, SIGTERM);
	// Under nohup it is to be ignored, which a blocked signal is not.
	if (sigaction(SIGHUP, NULL, &hangup) == 0 && hangup.sa_handler != SIG_IGN)
		sigaddset(&signals, SIGHUP);
	sigaddset(&signals, SIGCHLD);
	// Blocked, none gets lost between two looks.
	sigprocmask(SIG_BLOCK, &signals, &before);
	fflush(stdout);
	pid_t parent = getpid(), pid = fork();
	if (pid == 0) {
		// mpirun ends its ranks when it is asked to.
		if (!tb_child_bind(parent, SIGTERM))
			_exit(TB_EXIT_FAILURE);
		sigprocmask(SIG_SETMASK, &before, NULL);
		run_command(args, preload, folder);
	}
	if (pid > 0)
		*code = wait_for_command(pid, &signals);
	sigprocmask(SIG_SETMASK, &before, NULL);
	return pid > 0 ? TB_OK
		       : tb_fail(error, TB_EIO, "no process can be started: %s",
				 strerror(errno));
}

// check_given_mpi refuses an MPI that is not the program's: the tracer of another MPI
// reads its handles as its own, which ends the program.
static int check_given_mpi(const struct trace_arguments *args, struct tb_error *error)
{
	const char *word = tb_mpi_against(args->mpi, args->command);
	if (!word)
		return TB_OK;
	const char *its = args->mpi == TB_TBT_MPICH ? "Open MPI" : "MPICH";
	return tb_fail_in(error, TB_EUSAGE, word,
		"is a program of %s by the libraries that it links, not of --mpi %s: "
		"leave --mpi out",
		its, tb_mpi_name(args->mpi));
}

// find_mpi stores which MPI the command runs.
static int find_mpi(struct trace_arguments *args, struct tb_error *error)
{
	if (args->mpi_given)
		return check_given_mpi(args, error);
	if (tb_which_mpi(&args->mpi, args->command))
		return TB_OK;
	args->mpi = 0;
	if (!tb_is_program(args->command[0]))
		return tb_fail_in(error, TB_EUSAGE, args->command[0],
			"is not found, or is no program that may be run");
	return TB_OK;
}

// find_missing returns the MPI of a process whose tracer was not there, or 0.
static unsigned find_missing(const char *folder)
{
	for (unsigned mpi = TB_TBT_OPENMPI; tb_mpi_name(mpi); mpi++) {
		char path[PATH_MAX];
		snprintf(path, sizeof path, "%s/" MISSING "%s", folder, tb_mpi_name(mpi));
		if (access(path, F_OK) == 0)
			return mpi;
	}
	return 0;
}

// explain_nothing says why no rank left a trace, as far as the command shows it.
static int explain_nothing(const struct trace_arguments *args, struct tb_error *error)
{
	const char *why, *word = tb_not_preloaded(args->command, &why);
	if (word)
		return tb_fail_in(error, TB_EFOREIGN, word,
			"%s: the tracer cannot be loaded into it, and no other process "
			"came through MPI_Init under the tracer",
			why);
	if (args->mpi)
		return tb_fail_in(error, TB_EFOREIGN, args->command[0],
			"no process came through MPI_Init under the tracer of %s",
			tb_mpi_name(args->mpi));
	return tb_fail_in(error, TB_EFOREIGN, args->command[0],
		"no process came through MPI_Init under a tracer: where a program loads "
		"MPI later and no mpirun starts it, give --mpi openmpi or --mpi mpich");
}

// leave_folder removes the ranks' files unless they are wanted: by the user, or because
// they are all that is left of the run where they could not be merged.
static void leave_folder(
	const struct trace_arguments *args, const char *folder, bool merged)
{
	if (args->keep || !merged)
		fprintf(stderr, "The ranks' files are in %s%s\n", folder,
			merged ? "" : ": 'tailback trace --merge' makes a trace of them");
	else
		remove_folder(folder);
}

// merge_all makes the traces, and says which processes had no tracer.
static int merge_all(const struct trace_arguments *args, const char *folder, int *code,
	struct tb_error *error)
{
	struct tb_error missing;
	unsigned mpi = find_missing(folder);
	int status = tb_trace_merge(args, folder, code, error);
	if (status == TB_EFOREIGN && mpi) {
		(void)tb_trace_not_installed(mpi, error);
		error->code = TB_EFOREIGN;
		return TB_EFOREIGN;
	}
	if (status == TB_EFOREIGN)
		return explain_nothing(args, error);
	if (mpi) {
		(void)tb_trace_not_installed(mpi, &missing);
		tb_cli_fail(&missing);
	}
	return status;
}

// trace runs the command and merges; `code` gets the command's exit code.
static int trace(struct trace_arguments *args, int *code, struct tb_error *error)
{
	struct trace_preload preload = {0};
	char *folder = NULL;
	bool has_run = false;
	int status = find_mpi(args, error);
	if (status == TB_OK)
		status = tb_trace_preload_find(&preload, args->mpi, error);
	if (status == TB_OK)
		status = make_folder(args->output, &folder, error);
	if (status == TB_OK)
		status = run_traced(args, &preload, folder, code, error);
	has_run = status == TB_OK;
	if (has_run)
		status = merge_all(args, folder, code, error);
	if (folder)
		leave_folder(args, folder,
			status == TB_OK || status == TB_EFOREIGN || !has_run);
	tb_trace_preload_fini(&preload);
	free(folder);
	return status;
}

int tb_cmd_trace(int argc, char **argv)
{
	struct trace_arguments args = {0};
	struct tb_error error = {0};
	int code = 0;
	tb_options_parse(&option_table, argc, argv, &args, NULL);
	int status = args.merge ? tb_trace_merge(&args, args.merge, &code, &error)
				: trace(&args, &code, &error);
	if (status != TB_OK)
		return code ? (tb_cli_fail(&error), code) : tb_cli_fail(&error);
	return code;
}

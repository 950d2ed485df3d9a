// tailback trace: runs an MPI program under the tracer and merges what its ranks wrote.
#include "cmd_trace.h"
#include "cli.h"
#include "commands.h"
#include "which_mpi.h"
#include "words_args.h"

#include <argp.h>
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

enum key { KEY_MPI = 256, KEY_MERGE, KEY_KEEP };

static const struct argp_option argp_options[] = {
	{"output", 'o', "FILE", 0,
		"The trace to make, job.tbt (required); of further worlds job-2.tbt ...",
		0},
	{"mpi", KEY_MPI, "MPI", 0,
		"The program's MPI: %s (default: what the program links, "
		"else what mpirun is)",
		0},
	{"keep", KEY_KEEP, NULL, 0, "Keep the folder with the files of the ranks", 0},
	{"merge", KEY_MERGE, "FOLDER", 0,
		"Run nothing: merge the files of ranks (rank-*.tbr) in FOLDER", 0},
	{"quiet", 'q', NULL, 0, "No summary", 0},
	{0},
};

static const char *mpi_word(size_t i)
{
	return tb_mpi_name(TB_TBT_OPENMPI + i);
}

static const struct tb_cmd_words words[] = {
	{.key = KEY_MPI, .word = mpi_word},
	{0},
};

static void check_whole(struct argp_state *state, const struct trace_arguments *args)
{
	if (!args->output)
		argp_error(state, "an output is missing: -o job.tbt");
	if (strcmp(args->output, "-") == 0)
		argp_error(state, "a trace is a file, not standard output: -o job.tbt");
	if (args->merge && args->command)
		argp_error(state, "--merge runs no command");
	if (!args->merge && !args->command)
		argp_error(state, "a command is missing: -- mpirun -n 16 ./app");
}

static error_t parse(int key, char *text, struct argp_state *state)
{
	struct trace_arguments *args = state->input;
	switch (key) {
	case 'o':
		args->output = text;
		break;
	case KEY_MPI:
		args->mpi = (enum tb_tbt_mpi)(
			TB_TBT_OPENMPI + tb_cmd_word(words, key, text, state));
		args->mpi_given = true;
		break;
	case KEY_MERGE:
		args->merge = text;
		break;
	case KEY_KEEP:
		args->keep = true;
		break;
	case 'q':
		args->quiet = true;
		break;
	case ARGP_KEY_ARG:
		// The rest is the command, with its own options.
		args->command = state->argv + state->next - 1;
		state->next = state->argc;
		break;
	case ARGP_KEY_END:
		check_whole(state, args);
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

// find_tracer stores the path of the library for an MPI: beside the program as in the
// build folder, or where it is installed.
static int find_tracer(enum tb_tbt_mpi mpi, char path[PATH_MAX], struct tb_error *error)
{
	static const char *const places[] = {"", "../" TB_MODULES "/"};
	char own[PATH_MAX / 2];
	ssize_t n = readlink("/proc/self/exe", own, sizeof own - 1);
	if (n < 0)
		return tb_fail(error, TB_EIO, "cannot find this program's folder: %s",
			strerror(errno));
	own[n] = '\0';
	*(strrchr(own, '/') + 1) = '\0';
	for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
		snprintf(path, PATH_MAX, "%s%stailback-trace-%s.so", own, places[i],
			tb_mpi_name(mpi));
		if (access(path, R_OK) == 0)
			return TB_OK;
	}
	return tb_fail(error, TB_EUSAGE,
		"programs of %s are traced by the package tailback-trace-%s, which is "
		"not installed",
		mpi == TB_TBT_OPENMPI ? "Open MPI" : "MPICH", tb_mpi_name(mpi));
}

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
		if (n > 4 && strcmp(entry->d_name + n - 4, ".tbr") == 0)
			unlinkat(dirfd(folder), entry->d_name, 0);
	}
	if (folder)
		closedir(folder);
	rmdir(path);
}

// set_environment has every process below load the tracer. To other machines MPICH's
// mpirun passes it on, Open MPI's when asked to (-x).
static int set_environment(const char *tracer, const char *folder, struct tb_error *error)
{
	const char *given = getenv("LD_PRELOAD");
	char *preload = NULL;
	int n = asprintf(&preload, "%s%s%s", tracer, given && *given ? ":" : "",
		given ? given : "");
	if (n < 0 || setenv("LD_PRELOAD", preload, 1) != 0 ||
		setenv("TAILBACK_TRACE_FOLDER", folder, 1) != 0) {
		free(preload);
		return tb_fail_memory(error, "the environment");
	}
	free(preload);
	return TB_OK;
}

static void run_command(
	const struct trace_arguments *args, const char *tracer, const char *folder)
{
	struct tb_error error;
	if (set_environment(tracer, folder, &error) != TB_OK)
		_exit(tb_cli_fail(&error));
	execvp(args->command[0], args->command);
	tb_fail_in(
		&error, TB_EIO, args->command[0], "cannot be run: %s", strerror(errno));
	tb_cli_fail(&error);
	_exit(127);
}

// wait_for waits for the command, with `signals` blocked. Ctrl-C reaches mpirun by
// itself, which ends the ranks at the first and, if that takes long, by force at the
// second; a signal to this program is passed on. What does not end is killed at the
// third. What the ranks wrote is merged in any case.
static int wait_for(pid_t pid, const sigset_t *signals)
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

static int run_traced(const struct trace_arguments *args, const char *tracer,
	const char *folder, int *code, struct tb_error *error)
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
	pid_t pid = fork();
	if (pid == 0) {
		sigprocmask(SIG_SETMASK, &before, NULL);
		run_command(args, tracer, folder);
	}
	if (pid > 0)
		*code = wait_for(pid, &signals);
	sigprocmask(SIG_SETMASK, &before, NULL);
	return pid > 0 ? TB_OK
		       : tb_fail(error, TB_EIO, "no process can be started: %s",
				 strerror(errno));
}

// check_given refuses an MPI that is not the program's: the tracer of another MPI reads
// its handles as its own, which ends the program.
static int check_given(const struct trace_arguments *args, struct tb_error *error)
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
		return check_given(args, error);
	if (tb_which_mpi(&args->mpi, args->command))
		return TB_OK;
	if (!tb_is_program(args->command[0]))
		return tb_fail_in(error, TB_EUSAGE, args->command[0],
			"is not found, or is no program that may be run");
	return tb_fail(error, TB_EUSAGE,
		"nothing in the command shows which MPI it uses: give --mpi openmpi or "
		"--mpi mpich");
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

// trace runs the command and merges; `code` gets the command's exit code.
static int trace(struct trace_arguments *args, int *code, struct tb_error *error)
{
	char tracer[PATH_MAX], *folder = NULL;
	bool has_run = false;
	int status = find_mpi(args, error);
	if (status == TB_OK)
		status = find_tracer(args->mpi, tracer, error);
	if (status == TB_OK)
		status = make_folder(args->output, &folder, error);
	if (status == TB_OK)
		status = run_traced(args, tracer, folder, code, error);
	has_run = status == TB_OK;
	if (has_run)
		status = tb_trace_merge(args, folder, code, error);
	if (status == TB_EFOREIGN)
		status = tb_fail_in(error, TB_EFOREIGN, args->command[0],
			"no process came through MPI_Init under the tracer of %s",
			tb_mpi_name(args->mpi));
	if (folder)
		leave_folder(args, folder,
			status == TB_OK || status == TB_EFOREIGN || !has_run);
	free(folder);
	return status;
}

int tb_cmd_trace(int argc, char **argv)
{
	static const struct argp argp = {.options = argp_options,
		.parser = parse,
		.args_doc = "[--] COMMAND...",
		.doc = "Run an MPI program and trace what its ranks call, into a file "
		       "that "
		       "replay, info and convert read.\v"
		       "COMMAND is how the program is run without tracing. Each rank "
		       "writes a file of its own, which are merged at the end; the exit "
		       "code is the command's.\n\n"
		       "Example:\n"
		       "  tailback trace -o job.tbt -- mpirun -n 16 ./app\n"
		       "  tailback replay job.tbt -n ib-hdr -o run.db"};
	struct trace_arguments args = {0};
	struct tb_error error = {0};
	int code = 0;
	tb_cmd_parse(&argp, words, argc, argv, ARGP_IN_ORDER, &args);
	int status = args.merge ? tb_trace_merge(&args, args.merge, &code, &error)
				: trace(&args, &code, &error);
	if (status != TB_OK)
		return code ? (tb_cli_fail(&error), code) : tb_cli_fail(&error);
	return code;
}

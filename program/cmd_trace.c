// tailback trace: runs an MPI program under the tracer and merges what its ranks wrote.
#include "child.h"
#include "cli.h"
#include "commands.h"
#include "options.h"
#include "outfile.h"
#include "status.h"
#include "tbt_format.h"
#include "tbt_merge.h"
#include "tbt_records.h"
#include "temporary.h"
#include "units.h"
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

struct trace_arguments {
	const char *output, *merge;
	bool mpi_given, sockets, keep, quiet;
	enum tb_tbt_mpi mpi; // 0: each process's own
	char **command;	     // ends with NULL
};

static const char *mpi_word(size_t i)
{
	return tb_mpi_name(TB_TBT_OPENMPI + i);
}

static void check_trace_options(void *arguments, const struct argp_state *state)
{
	struct trace_arguments *args = arguments;
	if (args->mpi_given)
		args->mpi += TB_TBT_OPENMPI;
	if (args->mpi_given && args->sockets)
		argp_error(state, "--sockets traces no MPI: leave --mpi out");
	if (args->merge && args->sockets)
		argp_error(state,
			"--merge finds what is in the folder: leave --sockets out");
	if (args->sockets)
		args->mpi = TB_TBT_SOCKETS;
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
	{"sockets", 0, NULL,
		"Trace any program, by its sockets of TCP: each process is a rank",
		TB_FLAG, AT(sockets)},
	{"keep", 0, NULL, "Keep the folder with the files of the ranks", TB_FLAG,
		AT(keep)},
	{"merge", 0, "FOLDER", "Run nothing: merge the files of ranks (*.tbr) in FOLDER",
		TB_TEXT, AT(merge), .files = "/$"},
	{"quiet", 'q', NULL, "No summary", TB_FLAG, AT(quiet)},
	{0},
};

static const struct tb_options option_table = {
	.rows = option_rows,
	.args_doc = "[--] COMMAND...",
	.doc = "Run a program of MPI, or any that uses sockets, and trace what it "
	       "sends and receives, into a file that "
	       "replay, info and convert read.\vCOMMAND is how the program is run "
	       "without tracing. Each rank writes a "
	       "file of its own, which are merged at the end; the exit code is the "
	       "command's.\n\n"
	       "Example:\n"
	       "  tailback trace -o job.tbt -- mpirun -n 16 ./app\n"
	       "  tailback replay job.tbt -n ib-hdr -o run.db",
	.operand = {.kind = TB_CALL, AT(command), .take = take_command},
	.check = check_trace_options,
	.flags = ARGP_IN_ORDER,
};

// What the processes of the command load.
struct trace_preload {
	char *libraries;
	struct tb_temporary links; // of links to them, where it takes some
};

// Enum tb_tbt_mpi, and what finds a process's MPI as number 0.
enum { ANY = 0, N_LIBRARIES = TB_TBT_SOCKETS + 1 };

static void library_name(unsigned mpi, char name[64])
{
	snprintf(name, 64, "tailback-trace-%s.so",
		mpi == ANY		? "any"
		: mpi == TB_TBT_SOCKETS ? "sockets"
					: tb_mpi_name(mpi));
}

static bool has_library(const char *folder, unsigned mpi)
{
	char path[PATH_MAX], name[64];
	library_name(mpi, name);
	return snprintf(path, sizeof path, "%s%s", folder, name) < PATH_MAX &&
	       access(path, R_OK) == 0;
}

// find_folder stores where the libraries are: beside the program as in the build folder,
// or where they are installed.
static int find_folder(char folder[PATH_MAX], struct tb_error *error)
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
		snprintf(folder, PATH_MAX, "%s%s", own, places[i]);
		for (unsigned mpi = ANY; mpi < N_LIBRARIES; mpi++)
			if (has_library(folder, mpi))
				return TB_OK;
	}
	return TB_OK;
}

// refuse_missing_tracer returns TB_EUSAGE and how the tracer of an MPI is installed.
static int refuse_missing_tracer(unsigned mpi, struct tb_error *error)
{
	return tb_fail(error, TB_EUSAGE,
		"programs of %s are traced by the package tailback-trace-%s, which is "
		"not installed: apt install tailback-trace-%s",
		mpi == TB_TBT_OPENMPI ? "Open MPI" : "MPICH", tb_mpi_name(mpi),
		tb_mpi_name(mpi));
}

// link_libraries makes a folder of links: the words of LD_PRELOAD are separated by
// spaces and colons, and a path cannot have them.
static int link_libraries(
	struct trace_preload *preload, char folder[PATH_MAX], struct tb_error *error)
{
	const char *tmp = getenv("TMPDIR");
	char path[PATH_MAX + 64], link[TB_TEMPORARY_FILE_BYTES], name[64];
	if (!tmp || !*tmp || strpbrk(tmp, ": \t\n"))
		tmp = "/tmp";
	int status = tb_temporary_init_in(&preload->links, tmp, "the tracers", error);
	if (status != TB_OK)
		return status;
	for (unsigned mpi = ANY; mpi < N_LIBRARIES; mpi++) {
		library_name(mpi, name);
		snprintf(path, sizeof path, "%s%s", folder, name);
		snprintf(link, sizeof link, "%s/%s", preload->links.path, name);
		if (has_library(folder, mpi) && symlink(path, link) != 0)
			return tb_fail_in(error, TB_EIO, link, "cannot be made: %s",
				strerror(errno));
	}
	snprintf(folder, PATH_MAX, "%s/", preload->links.path);
	return TB_OK;
}

// preload_find finds the tracer of an MPI (enum tb_tbt_mpi, or 0: what finds
// each process's own); TB_EUSAGE where it is not installed.
static int preload_find(
	struct trace_preload *preload, unsigned mpi, struct tb_error *error)
{
	char folder[PATH_MAX], tracer[64], any[64];
	*preload = (struct trace_preload){0};
	int status = find_folder(folder, error);
	if (status != TB_OK)
		return status;
	if (mpi == TB_TBT_SOCKETS && !has_library(folder, mpi))
		return tb_fail(error, TB_EUSAGE,
			"tailback-trace-sockets.so is not beside this program or in its "
			"folder of modules: install the package tailback anew, or in a "
			"checkout run ./dev build");
	if (mpi != ANY && !has_library(folder, mpi))
		return refuse_missing_tracer(mpi, error);
	if (mpi == ANY && !has_library(folder, ANY))
		return tb_fail(error, TB_EUSAGE,
			"nothing in the command shows which MPI it uses: give --mpi "
			"openmpi or --mpi mpich");
	if (strpbrk(folder, ": \t\n"))
		status = link_libraries(preload, folder, error);
	library_name(mpi, tracer);
	library_name(ANY, any);
	bool both = mpi != ANY && mpi != TB_TBT_SOCKETS && has_library(folder, ANY);
	if (status == TB_OK &&
		asprintf(&preload->libraries, "%s%s%s%s%s", folder, tracer,
			both ? ":" : "", both ? folder : "", both ? any : "") < 0) {
		preload->libraries = NULL;
		status = tb_fail_memory(error, "the environment");
	}
	return status;
}

// preload_set has the children of this process load it and write into `folder`.
// To other machines MPICH's mpirun passes the environment on, Open MPI's when asked to
// (-x).
static int preload_set(
	const struct trace_preload *preload, const char *folder, struct tb_error *error)
{
	const char *given = getenv("LD_PRELOAD");
	char *words = NULL;
	int n = asprintf(&words, "%s%s%s", preload->libraries, given && *given ? ":" : "",
		given ? given : "");
	bool set = n >= 0 && setenv("LD_PRELOAD", words, 1) == 0 &&
		   setenv("TAILBACK_TRACE_FOLDER", folder, 1) == 0;
	if (n >= 0)
		free(words);
	return set ? TB_OK : tb_fail_memory(error, "the environment");
}

static void preload_fini(struct trace_preload *preload)
{
	tb_temporary_fini(&preload->links);
	free(preload->libraries);
	*preload = (struct trace_preload){0};
}

struct traces {
	const struct trace_arguments *args;
	struct tb_tbt_worlds worlds;
};

// world_output stores in `name`, which it returns, the output for a world: job.tbt,
// job-2.tbt.
static const char *world_output(const char *output, size_t at, char name[PATH_MAX])
{
	const char *folder = strrchr(output, '/');
	const char *last = folder ? folder + 1 : output, *dot = strrchr(last, '.');
	int n = (int)(dot && dot != last ? (size_t)(dot - output) : strlen(output));
	if (at == 0)
		snprintf(name, PATH_MAX, "%s", output);
	else
		snprintf(name, PATH_MAX, "%.*s-%zu%s", n, output, at + 1, output + n);
	return name;
}

// print_missing reports ranks without a readable file. It names the files only if the
// user gave them with --merge: those of a run are removed.
static void print_missing(
	const struct trace_arguments *args, const struct tb_tbt_summary *summary)
{
	char ranks[48], text[1024];
	uint32_t n = args->merge ? summary->n_missing : 0;
	for (uint32_t i = 0; i < n && i < TB_TBT_UNREAD_MAX; i++)
		fprintf(stderr, "%s\n",
			tb_error_format(&summary->unread[i], text, sizeof text));
	if (n > TB_TBT_UNREAD_MAX)
		fprintf(stderr, "and %" PRIu32 " more files\n", n - TB_TBT_UNREAD_MAX);
	fprintf(stderr, "%s left no trace%s\n",
		tb_format_counted(summary->n_missing, "rank", ranks, sizeof ranks),
		n ? ": the trace has the others"
		  : ": they ended before they returned from MPI_Init");
}

static tb_time_ps ps_between(uint64_t from_ns, uint64_t to_ns)
{
	uint64_t ns = to_ns > from_ns ? to_ns - from_ns : 0;
	return ns > INT64_MAX / 1000 ? INT64_MAX : (tb_time_ps)ns * 1000;
}

// print_world prints when a world was, where there are several, and what began it.
static void print_world(const struct traces *traces, size_t at)
{
	char begin[32], span[32], name[PATH_MAX];
	const struct tb_tbt_world *world = &traces->worlds.items[at];
	const struct tb_tbt_world *first = traces->worlds.items;
	if (traces->worlds.n > 1)
		fprintf(stderr, ", from %s on",
			tb_format_time(ps_between(first->begin_ns, world->begin_ns),
				begin, sizeof begin));
	if (traces->worlds.n > 1 && world->end_ns)
		fprintf(stderr, " for %s",
			tb_format_time(ps_between(world->begin_ns, world->end_ns), span,
				sizeof span));
	for (size_t i = 0; i < traces->worlds.n && world->parent_id; i++)
		if (traces->worlds.items[i].id == world->parent_id)
			fprintf(stderr, ", spawned by that of %s",
				world_output(traces->args->output, i, name));
	if (world->origin == TB_TBT_SPAWNED && !world->parent_id)
		fprintf(stderr, ", spawned by a world that is not known");
	fputc('\n', stderr);
}

static void print_early(const struct tb_tbt_summary *summary)
{
	char ranks[48], how[48];
	uint32_t rank = summary->first_early;
	const char *first = "by MPI_Abort";
	bool wordless = !summary->first_aborted && !summary->first_ending;
	tb_format_counted(summary->n_early, "rank", ranks, sizeof ranks);
	if (wordless && summary->n_unexplained > 1)
		fprintf(stderr,
			"%s ended early, which first is unknown: %" PRIu32
			" left no word of a signal, of which rank %" PRIu32
			"'s last call returned first",
			ranks, summary->n_unexplained, rank);
	else {
		if (!summary->first_aborted)
			first = tb_tbt_ending(summary->first_ending, how, sizeof how);
		if (wordless)
			first = "signal unknown, as of SIGKILL";
		fprintf(stderr, "%s ended early, rank %" PRIu32 " first, %s", ranks, rank,
			first);
	}
	fputs(": the trace has what they did until then\n", stderr);
}

static void print_world_summary(
	const struct traces *traces, size_t at, const struct tb_tbt_summary *summary)
{
	char ranks[48], records[48], clocks[48], name[PATH_MAX];
	const struct trace_arguments *args = traces->args;
	fprintf(stderr, "%s, %s in %s",
		tb_format_counted(summary->n_ranks, "rank", ranks, sizeof ranks),
		tb_format_counted(summary->n_records, "record", records, sizeof records),
		world_output(args->output, at, name));
	print_world(traces, at);
	if (summary->n_left_out)
		fprintf(stderr,
			"%s without a socket of TCP left out: what they took is "
			"computation\n",
			tb_format_counted(summary->n_left_out, "process|processes", ranks,
				sizeof ranks));
	if (summary->n_missing)
		print_missing(args, summary);
	if (summary->n_early)
		print_early(summary);
	if (summary->n_lost)
		fprintf(stderr,
			"%s found the disk full: the trace has what came before\n",
			tb_format_counted(summary->n_lost, "rank", ranks, sizeof ranks));
	if (summary->n_clocks > 1)
		fprintf(stderr, "%s, corrected by the order of messages\n",
			tb_format_counted(
				summary->n_clocks, "clock", clocks, sizeof clocks));
	if (summary->n_unlinked)
		fprintf(stderr,
			"%s keep their own time of day: no message relates them to the "
			"others\n",
			tb_format_counted(
				summary->n_unlinked, "clock", clocks, sizeof clocks));
}

static int merge_world(const struct traces *traces, size_t at, const char *folder,
	struct tb_tbt_summary *summary, struct tb_error *error)
{
	struct tb_outfile out;
	char name[PATH_MAX];
	int status = tb_outfile_open(
		&out, world_output(traces->args->output, at, name), error);
	if (status != TB_OK)
		return status;
	status = tb_tbt_merge(
		folder, &traces->worlds.items[at], out.stream, summary, error);
	if (status == TB_OK)
		return tb_outfile_commit(&out, error);
	tb_outfile_abandon(&out);
	return status;
}

// merge_traces makes a trace of each world in the folder, as tbt_merge.h orders them:
// the first is the output, the others have -2, -3 and so on before its ending. A world
// that cannot be merged does not keep the others from it. `code` becomes a failure where
// full disks left nothing of the run.
static int merge_traces(const struct trace_arguments *args, const char *folder, int *code,
	struct tb_error *error)
{
	struct traces traces = {.args = args};
	uint64_t n_records = 0;
	uint32_t n_lost = 0;
	int status = tb_tbt_worlds_find(&traces.worlds, folder, error);
	for (size_t i = 0; i < traces.worlds.n; i++) {
		struct tb_tbt_summary summary = {0};
		struct tb_error own = {0};
		int merged = merge_world(&traces, i, folder, &summary, &own);
		n_records += summary.n_records;
		n_lost += summary.n_lost;
		if (merged == TB_OK && !args->quiet)
			print_world_summary(&traces, i, &summary);
		if (merged == TB_OK)
			continue;
		if (status != TB_OK)
			tb_cli_fail(&own);
		else if (error)
			*error = own;
		status = status != TB_OK ? status : merged;
	}
	if (status == TB_OK && n_lost && n_records == 0 && *code == 0)
		*code = TB_EXIT_FAILURE;
	tb_tbt_worlds_fini(&traces.worlds);
	return status;
}

// make_folder makes a folder beside the output, so that the ranks' files are on the same
// disk as it; its path is absolute, because ranks may run elsewhere.
//
// With --sockets any user may write into it, as servers give up being root.
static int make_folder(
	const char *output, bool sockets, char **folder, struct tb_error *error)
{
	char *name = NULL;
	if (asprintf(&name, "%s.ranks-XXXXXX", output) < 0)
		return tb_fail_memory(error, "a name");
	if (mkdtemp(name))
		*folder = realpath(name, NULL);
	if (*folder && sockets && chmod(*folder, 01777) != 0)
		fprintf(stderr, "%s: other users cannot write into it: %s\n", *folder,
			strerror(errno));
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
	if (preload_set(preload, folder, &error) != TB_OK)
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
	// Blocked signals stay pending, so none gets lost between two waits.
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

// find_mpi stores which MPI the command runs.
static int find_mpi(struct trace_arguments *args, struct tb_error *error)
{
	if (args->sockets)
		return TB_OK;
	if (args->mpi_given) {
		// Refuse an MPI that is not the program's: the tracer of another MPI
		// reads its handles as its own, which ends the program.
		const char *word = tb_mpi_against(args->mpi, args->command);
		if (!word)
			return TB_OK;
		const char *its = args->mpi == TB_TBT_MPICH ? "Open MPI" : "MPICH";
		return tb_fail_in(error, TB_EUSAGE, word,
			"is a program of %s by the libraries that it links, not of --mpi "
			"%s: leave --mpi out",
			its, tb_mpi_name(args->mpi));
	}
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

// merge_all makes the traces, and reports which processes had no tracer.
static int merge_all(const struct trace_arguments *args, const char *folder, int *code,
	struct tb_error *error)
{
	struct tb_error missing;
	unsigned mpi = find_missing(folder);
	int status = merge_traces(args, folder, code, error);
	if (status == TB_EFOREIGN && mpi) {
		(void)refuse_missing_tracer(mpi, error);
		error->code = TB_EFOREIGN;
		return TB_EFOREIGN;
	}
	if (status == TB_EFOREIGN && *code)
		return tb_fail_in(error, TB_EFOREIGN, args->command[0],
			"ended with code %d before it called anything that is traced: "
			"see that it runs without 'tailback trace'",
			*code);
	if (status == TB_EFOREIGN) {
		// Report why no rank left a trace, as far as the command shows it.
		const char *why, *word = tb_not_preloaded(args->command, &why);
		if (word)
			return tb_fail_in(error, TB_EFOREIGN, word,
				"%s: the tracer cannot be loaded into it, and no other "
				"process %s",
				why,
				args->sockets ? "used a socket of TCP through libc"
					      : "came through MPI_Init under the tracer");
		if (args->sockets)
			return tb_fail_in(error, TB_EFOREIGN, args->command[0],
				"no process used a socket of TCP through libc: programs "
				"that call the system themselves (Go) or are static show "
				"none");
		if (args->mpi)
			return tb_fail_in(error, TB_EFOREIGN, args->command[0],
				"no process came through MPI_Init under the tracer of %s",
				tb_mpi_name(args->mpi));
		return tb_fail_in(error, TB_EFOREIGN, args->command[0],
			"no process came through MPI_Init under a tracer: where a "
			"program loads MPI later and no mpirun starts it, give --mpi "
			"openmpi or --mpi "
			"mpich");
	}
	if (mpi) {
		(void)refuse_missing_tracer(mpi, &missing);
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
		status = preload_find(&preload, args->mpi, error);
	if (status == TB_OK)
		status = make_folder(args->output, args->sockets, &folder, error);
	if (status == TB_OK)
		status = run_traced(args, &preload, folder, code, error);
	has_run = status == TB_OK;
	if (has_run)
		status = merge_all(args, folder, code, error);
	if (folder) {
		// Remove the ranks' files unless they are wanted: by the user, or because
		// they are all that is left of the run where they could not be merged.
		bool merged = status == TB_OK || status == TB_EFOREIGN || !has_run;
		if (args->keep || !merged)
			fprintf(stderr, "The ranks' files are in %s%s\n", folder,
				merged ? ""
				       : ": 'tailback trace --merge' makes a trace of "
					 "them");
		else
			remove_folder(folder);
	}
	preload_fini(&preload);
	free(folder);
	return status;
}

int tb_cmd_trace(int argc, char **argv)
{
	struct trace_arguments args = {0};
	struct tb_error error = {0};
	int code = 0;
	tb_options_parse(&option_table, argc, argv, &args, NULL);
	int status = args.merge ? merge_traces(&args, args.merge, &code, &error)
				: trace(&args, &code, &error);
	if (status != TB_OK)
		return code ? (tb_cli_fail(&error), code) : tb_cli_fail(&error);
	return code;
}

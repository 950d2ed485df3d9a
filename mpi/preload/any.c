// Loaded into every process of a command: finds which MPI the process uses, and has it
// start again, before its first line, with the tracer of that MPI.
//
// Rule: the MPI is that of the libraries that are loaded with the program, else that of
// the launcher whose variables it has (a Python that loads MPI later). Processes of
// neither, such as shells and mpirun itself, go on, and what they start comes by here.
// The tracers lie beside this library. One that is missing leaves a file missing-MPI in
// the folder of the ranks' files, for `tailback trace` to report.
#include "mpi_library.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <limits.h>
#include <link.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define TRACER "tailback-trace-"
#define AGAIN  "TAILBACK_TRACE_AGAIN" // the process that has been started again

static const char *const names[] = {
	[TB_TBT_OPENMPI] = "openmpi", [TB_TBT_MPICH] = "mpich"};

struct loaded {
	bool library[3], tracer[3]; // by enum tb_tbt_mpi
};

// tracer_of returns the MPI of a tracer's file, 0 for another file.
static unsigned tracer_of(const char *name)
{
	if (strncmp(name, TRACER, strlen(TRACER)) != 0)
		return 0;
	for (unsigned mpi = TB_TBT_OPENMPI; mpi <= TB_TBT_MPICH; mpi++)
		if (strncmp(name + strlen(TRACER), names[mpi], strlen(names[mpi])) == 0)
			return mpi;
	return 0;
}

static int library_look(struct dl_phdr_info *info, size_t size, void *context)
{
	struct loaded *loaded = context;
	const char *name = basename(info->dlpi_name);
	(void)size;
	loaded->library[tb_mpi_of_library(name)] = true;
	loaded->tracer[tracer_of(name)] = true;
	return 0;
}

// preload_wanted returns the MPI whose tracer the process lacks, or 0. A tracer brings
// its MPI's library with it, so that library says nothing beside it.
static unsigned preload_wanted(void)
{
	struct loaded loaded = {0};
	dl_iterate_phdr(library_look, &loaded);
	for (unsigned mpi = TB_TBT_OPENMPI; mpi <= TB_TBT_MPICH; mpi++) {
		unsigned other = TB_TBT_OPENMPI + TB_TBT_MPICH - mpi;
		if (loaded.library[mpi] && !loaded.tracer[mpi] &&
			(loaded.tracer[other] || !loaded.library[other]))
			return mpi;
	}
	if (loaded.library[TB_TBT_OPENMPI] || loaded.library[TB_TBT_MPICH])
		return 0;
	if (getenv("OMPI_COMM_WORLD_RANK"))
		return TB_TBT_OPENMPI;
	return getenv("PMI_RANK") && (getenv("PMI_FD") || getenv("PMI_PORT"))
		       ? TB_TBT_MPICH
		       : 0;
}

// preload_of stores LD_PRELOAD with one tracer, in front of what else was in it.
static bool preload_of(char *preload, size_t size, const char *tracer)
{
	const char *given = getenv("LD_PRELOAD");
	char *copy = strdup(given ? given : ""), *rest = NULL;
	int n = snprintf(preload, size, "%s", tracer);
	for (char *word = copy ? strtok_r(copy, ": ", &rest) : NULL;
		word && n > 0 && (size_t)n < size; word = strtok_r(NULL, ": ", &rest))
		if (!tracer_of(basename(word)))
			n += snprintf(preload + n, size - (size_t)n, ":%s", word);
	free(copy);
	return copy && n > 0 && (size_t)n < size;
}

// start_again does not return, unless it cannot. A program that the dynamic loader was
// called with by hand cannot be called again by its arguments.
static void start_again(char **argv, const char *tracer)
{
	char program[PATH_MAX], own[32], preload[4 * PATH_MAX];
	const char *before = getenv(AGAIN);
	ssize_t n = readlink("/proc/self/exe", program, sizeof program - 1);
	snprintf(own, sizeof own, "%ld", (long)getpid());
	if (n <= 0 || (before && strcmp(before, own) == 0))
		return;
	program[n] = '\0';
	if (strncmp(basename(program), "ld-", 3) == 0 ||
		strncmp(basename(program), "ld.so", 5) == 0)
		return;
	if (!preload_of(preload, sizeof preload, tracer) || setenv(AGAIN, own, 1) != 0 ||
		setenv("LD_PRELOAD", preload, 1) != 0)
		return;
	execv(program, argv);
}

static void __attribute__((constructor)) preload_choose(int argc, char **argv)
{
	Dl_info self;
	char tracer[PATH_MAX];
	const char *folder = getenv("TAILBACK_TRACE_FOLDER");
	unsigned mpi = argc > 0 && folder ? preload_wanted() : 0;
	if (!mpi || !dladdr((void *)(uintptr_t)preload_choose, &self))
		return;
	int n = (int)(basename(self.dli_fname) - self.dli_fname);
	snprintf(tracer, sizeof tracer, "%.*s" TRACER "%s.so", n, self.dli_fname,
		names[mpi]);
	if (access(tracer, R_OK) == 0)
		start_again(argv, tracer);
	else {
		char path[PATH_MAX];
		snprintf(path, sizeof path, "%s/missing-%s", folder, names[mpi]);
		int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
		if (fd >= 0)
			close(fd);
	}
}

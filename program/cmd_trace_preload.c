// tailback trace: the libraries that the processes of the command load.
#include "cmd_trace.h"

#include "which_mpi.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// Enum tb_tbt_mpi, and what finds a process's MPI as number 0.
enum { ANY = 0, N_LIBRARIES = TB_TBT_MPICH + 1 };

static void library_name(unsigned mpi, char name[64])
{
	snprintf(name, 64, "tailback-trace-%s.so", mpi == ANY ? "any" : tb_mpi_name(mpi));
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

int tb_trace_not_installed(unsigned mpi, struct tb_error *error)
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

int tb_trace_preload_find(
	struct trace_preload *preload, unsigned mpi, struct tb_error *error)
{
	char folder[PATH_MAX], tracer[64], any[64];
	*preload = (struct trace_preload){0};
	int status = find_folder(folder, error);
	if (status != TB_OK)
		return status;
	if (mpi != ANY && !has_library(folder, mpi))
		return tb_trace_not_installed(mpi, error);
	if (mpi == ANY && !has_library(folder, ANY))
		return tb_fail(error, TB_EUSAGE,
			"nothing in the command shows which MPI it uses: give --mpi "
			"openmpi or --mpi mpich");
	if (strpbrk(folder, ": \t\n"))
		status = link_libraries(preload, folder, error);
	library_name(mpi, tracer);
	library_name(ANY, any);
	bool both = mpi != ANY && has_library(folder, ANY);
	if (status == TB_OK &&
		asprintf(&preload->libraries, "%s%s%s%s%s", folder, tracer,
			both ? ":" : "", both ? folder : "", both ? any : "") < 0) {
		preload->libraries = NULL;
		status = tb_fail_memory(error, "the environment");
	}
	return status;
}

// To other machines MPICH's mpirun passes the environment on, Open MPI's when asked to
// (-x).
int tb_trace_preload_set(
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

void tb_trace_preload_fini(struct trace_preload *preload)
{
	tb_temporary_fini(&preload->links);
	free(preload->libraries);
	*preload = (struct trace_preload){0};
}

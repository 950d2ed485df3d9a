// Which files make a trace: NAME.RANK.et of one folder.
#include "chakra.h"
#include "chakra_impl.h"

#include "array.h"
#include "input_files.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *const packings[] = {"", ".gz", ".zst", ".xz", ".lz4", ".bz2"};

// split_name finds the parts of "NAME.RANK.et.gz": how long NAME is, the rank, and what
// follows the rank; false for other names.
static bool split_name(
	const char *name, size_t *n_name, uint32_t *rank, const char **ending)
{
	for (const char *dot = strchr(name, '.'); dot; dot = strchr(dot + 1, '.')) {
		size_t n_digits = strspn(dot + 1, "0123456789");
		const char *rest = dot + 1 + n_digits;
		bool is_et = strncmp(rest, ".et", 3) == 0;
		bool is_json = strncmp(rest, ".json", 5) == 0;
		if (n_digits == 0 || n_digits > 8 || (!is_et && !is_json))
			continue;
		for (size_t i = 0; i < sizeof packings / sizeof *packings; i++) {
			if (strcmp(rest + (is_et ? 3 : 5), packings[i]) != 0)
				continue;
			*n_name = (size_t)(dot - name);
			*rank = (uint32_t)strtoul(dot + 1, NULL, 10);
			*ending = rest;
			return true;
		}
	}
	return false;
}

static const char *path_base(const char *path)
{
	const char *slash = strrchr(path, '/');
	return slash ? slash + 1 : path;
}

bool tb_chakra_is_named(const char *path)
{
	size_t n;
	uint32_t rank;
	const char *ending;
	return split_name(path_base(path), &n, &rank, &ending) &&
	       strncmp(ending, ".et", 3) == 0;
}

bool tb_chakra_is_folder(const char *path)
{
	DIR *folder = opendir(path);
	bool found = false;
	for (struct dirent *entry; folder && !found && (entry = readdir(folder));)
		found = tb_chakra_is_named(entry->d_name);
	if (folder)
		closedir(folder);
	return found;
}

void tb_chakra_files_fini(struct chakra_files *files)
{
	for (size_t i = 0; i < files->n; i++)
		free(files->paths[i]);
	free(files->paths);
	free(files->ranks);
	free(files->groups);
	*files = (struct chakra_files){0};
}

static int chakra_files_no_memory(struct tb_error *error)
{
	return tb_fail_memory(error, "the files of a trace");
}

static int chakra_file_add(
	struct chakra_files *files, char *path, uint32_t rank, struct tb_error *error)
{
	size_t ranks_room = files->room;
	if (!path ||
		TB_ARRAY_RESERVE(&files->paths, &files->room, files->n + 1) != TB_OK ||
		TB_ARRAY_RESERVE(&files->ranks, &ranks_room, files->room) != TB_OK) {
		free(path);
		return chakra_files_no_memory(error);
	}
	files->paths[files->n] = path;
	files->ranks[files->n++] = rank;
	return TB_OK;
}

// What is looked for in a folder: files of one trace.
struct chakra_series {
	const char *folder;
	char *name;   // of the trace, NULL: whatever comes first
	char *ending; // likewise
	struct tb_error *error;
};

static int chakra_files_look_at(
	struct chakra_files *files, struct chakra_series *wanted, const char *entry)
{
	size_t n_name;
	uint32_t rank;
	const char *ending;
	char *path;
	if (strcmp(entry, "comm_group.json") == 0 && !files->groups)
		return asprintf(&files->groups, "%s/%s", wanted->folder, entry) < 0
			       ? chakra_files_no_memory(wanted->error)
			       : TB_OK;
	if (!split_name(entry, &n_name, &rank, &ending) ||
		(!wanted->name && strncmp(ending, ".et", 3) != 0))
		return TB_OK;
	bool is_same = wanted->name && strlen(wanted->name) == n_name &&
		       strncmp(wanted->name, entry, n_name) == 0 &&
		       strncmp(wanted->ending, ending, 3) == 0;
	if (!is_same)
		return TB_OK;
	if (asprintf(&path, "%s/%s", wanted->folder, entry) < 0)
		path = NULL;
	if (path && !tb_input_is_file(path)) {
		int status = tb_fail_in(wanted->error, TB_EFORMAT, path,
			"is a pipe or a device: expected a file of the trace");
		free(path);
		return status;
	}
	return chakra_file_add(files, path, rank, wanted->error);
}

static int chakra_files_scan(struct chakra_files *files, struct chakra_series *wanted)
{
	DIR *folder = opendir(wanted->folder);
	if (!folder)
		return tb_fail_in(wanted->error, TB_EIO, wanted->folder,
			"cannot be opened: %s", strerror(errno));
	int status = TB_OK;
	for (struct dirent *entry; status == TB_OK && (entry = readdir(folder));)
		status = chakra_files_look_at(files, wanted, entry->d_name);
	closedir(folder);
	return status;
}

// name_trace takes the name of the only trace of a folder.
static int name_trace(struct chakra_series *wanted)
{
	DIR *folder = opendir(wanted->folder);
	int status = TB_OK;
	if (!folder)
		return tb_fail_in(wanted->error, TB_EIO, wanted->folder,
			"cannot be opened: %s", strerror(errno));
	for (struct dirent *entry; status == TB_OK && (entry = readdir(folder));) {
		size_t n;
		uint32_t rank;
		const char *ending;
		if (!split_name(entry->d_name, &n, &rank, &ending) ||
			strncmp(ending, ".et", 3) != 0)
			continue;
		if (!wanted->name) {
			wanted->name = strndup(entry->d_name, n);
			wanted->ending = strdup(ending);
			if (!wanted->name || !wanted->ending)
				status = chakra_files_no_memory(wanted->error);
		} else if (strlen(wanted->name) != n ||
			   strncmp(wanted->name, entry->d_name, n) != 0) {
			status = tb_fail_in(wanted->error, TB_EUSAGE, wanted->folder,
				"has several traces, '%s' and '%.*s': name a file of one",
				wanted->name, (int)n, entry->d_name);
		}
	}
	closedir(folder);
	return status;
}

struct ranked_path {
	uint32_t rank;
	char *path;
};

static int chakra_file_by_rank(const void *left, const void *right)
{
	const struct ranked_path *a = left, *b = right;
	if (a->rank != b->rank)
		return a->rank < b->rank ? -1 : 1;
	return strcmp(a->path, b->path);
}

static int chakra_files_sort(struct chakra_files *files, struct tb_error *error)
{
	struct ranked_path *sorted = malloc((files->n + 1) * sizeof *sorted);
	if (!sorted)
		return chakra_files_no_memory(error);
	for (size_t i = 0; i < files->n; i++)
		sorted[i] = (struct ranked_path){files->ranks[i], files->paths[i]};
	qsort(sorted, files->n, sizeof *sorted, chakra_file_by_rank);
	for (size_t i = 0; i < files->n; i++) {
		files->ranks[i] = sorted[i].rank;
		files->paths[i] = sorted[i].path;
	}
	free(sorted);
	for (size_t i = 1; i < files->n; i++)
		if (files->ranks[i] == files->ranks[i - 1])
			return tb_fail_in(error, TB_EUSAGE, files->paths[i],
				"is the second file of rank %" PRIu32, files->ranks[i]);
	return TB_OK;
}

static int scan_beside(struct chakra_files *files, const char *path, bool is_folder,
	struct tb_error *error)
{
	const char *base = path_base(path), *ending;
	size_t n;
	uint32_t rank;
	struct chakra_series wanted = {.error = error};
	char *folder = is_folder      ? strdup(path)
		       : base == path ? strdup(".")
				      : strndup(path, (size_t)(base - path));
	// A single slash at the end is enough, and the root is one.
	while (folder && strlen(folder) > 1 && folder[strlen(folder) - 1] == '/')
		folder[strlen(folder) - 1] = '\0';
	wanted.folder = folder;
	int status = folder ? TB_OK : chakra_files_no_memory(error);
	if (status == TB_OK && is_folder) {
		status = name_trace(&wanted);
	} else if (status == TB_OK && split_name(base, &n, &rank, &ending)) {
		wanted.name = strndup(base, n);
		wanted.ending = strdup(ending);
		if (!wanted.name || !wanted.ending)
			status = chakra_files_no_memory(error);
	}
	if (status == TB_OK && wanted.name)
		status = chakra_files_scan(files, &wanted);
	else if (status == TB_OK)
		status = chakra_file_add(files, strdup(path), 0, error);
	free(wanted.name);
	free(wanted.ending);
	free(folder);
	return status;
}

// chakra_files_add_named adds files that are given one by one, with the groups beside the
// first.
static int chakra_files_add_named(struct chakra_files *files, const char *const *paths,
	size_t n, struct tb_error *error)
{
	int status = TB_OK;
	for (size_t i = 0; i < n && status == TB_OK; i++) {
		size_t n_name;
		uint32_t rank;
		const char *ending;
		if (!split_name(path_base(paths[i]), &n_name, &rank, &ending))
			return tb_fail_in(error, TB_EUSAGE, paths[i],
				"has no rank in its name: expected NAME.RANK.et");
		status = chakra_file_add(files, strdup(paths[i]), rank, error);
	}
	const char *base = path_base(paths[0]);
	char *groups = NULL;
	if (status == TB_OK && asprintf(&groups, "%.*scomm_group.json",
				       (int)(base - paths[0]), paths[0]) < 0)
		return chakra_files_no_memory(error);
	if (status == TB_OK && access(groups, R_OK) == 0)
		files->groups = groups;
	else
		free(groups);
	return status;
}

int tb_chakra_files_find(struct chakra_files *files, const char *const *paths, size_t n,
	struct tb_error *error)
{
	DIR *folder = opendir(paths[0]);
	bool is_folder = folder != NULL;
	if (folder)
		closedir(folder);
	int status = n > 1 ? chakra_files_add_named(files, paths, n, error)
			   : scan_beside(files, paths[0], is_folder, error);
	return status == TB_OK ? chakra_files_sort(files, error) : status;
}

#include "trace_files.h"

#include "array.h"
#include "input_files.h"

#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

void tb_trace_files_fini(struct tb_trace_files *files)
{
	for (size_t i = 0; i < files->n; i++)
		free(files->paths[i]);
	free(files->paths);
	*files = (struct tb_trace_files){0};
}

// append_trace_file takes the path.
static int append_trace_file(struct tb_trace_files *files, char *path)
{
	if (path && TB_ARRAY_NEXT(files, paths) == TB_OK) {
		files->paths[files->n++] = path;
		return TB_OK;
	}
	free(path);
	return TB_ENOMEM;
}

static int order_paths(const void *a, const void *b)
{
	char *const *one = a, *const *other = b;
	return strcmp(*one, *other);
}

// list_folder adds the files in a folder until there are `most`.
static int list_folder(struct tb_trace_files *files, const char *folder, size_t most,
	tb_trace_file_is *is, struct tb_error *error)
{
	struct dirent *entry;
	int status = TB_OK;
	size_t first = files->n;
	DIR *dir = opendir(folder);
	if (!dir)
		return tb_fail_in(error, TB_EIO, folder, "cannot be opened");
	while (status == TB_OK && files->n < most && (entry = readdir(dir))) {
		char *path = NULL;
		if (entry->d_name[0] == '.')
			continue;
		if (asprintf(&path, "%s/%s", folder, entry->d_name) < 0)
			path = NULL;
		// Opening a pipe would wait for its writer.
		if (path && (!tb_input_is_file(path) || !is(path, entry->d_name)))
			free(path);
		else
			status = append_trace_file(files, path);
	}
	closedir(dir);
	if (status != TB_OK)
		return tb_fail_memory_in(error, folder, "its files");
	if (files->n > first + 1)
		qsort(files->paths + first, files->n - first, sizeof *files->paths,
			order_paths);
	return TB_OK;
}

int tb_trace_files_list(struct tb_trace_files *files, const char *const *paths, size_t n,
	tb_trace_file_is *is, struct tb_error *error)
{
	int status = TB_OK;
	for (size_t i = 0; i < n && status == TB_OK; i++) {
		struct stat entry;
		if (stat(paths[i], &entry) == 0 && S_ISDIR(entry.st_mode))
			status = list_folder(files, paths[i], SIZE_MAX, is, error);
		else if (append_trace_file(files, strdup(paths[i])) != TB_OK)
			status = tb_fail_memory_in(error, paths[i], "its name");
	}
	return status;
}

bool tb_trace_files_are_in(const char *folder, tb_trace_file_is *is)
{
	struct tb_trace_files files = {0};
	bool are = list_folder(&files, folder, 1, is, NULL) == TB_OK && files.n > 0;
	tb_trace_files_fini(&files);
	return are;
}

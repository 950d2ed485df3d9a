#include "file_list.h"

#include "array.h"
#include "progress.h"
#include "run.h"
#include "trace.h"
#include "visible.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

// As long as nobody notices; but a few files are looked into however busy the machine is.
#define LOOK_S	   0.04
#define LOOK_LEAST 100

void tb_file_list_fini(struct tb_file_list *list)
{
	for (size_t i = 0; i < list->n; i++) {
		free(list->files[i].path);
		free(list->files[i].name);
	}
	free(list->files);
	*list = (struct tb_file_list){.n = 0};
}

static enum tb_file_kind trace_kind(const char *path, enum tb_file_kind other)
{
	const struct tb_trace_reader *reader;
	if (tb_trace_find(&reader, path, NULL) != TB_OK)
		return other;
	return reader->kind == TB_TRACE_PACKETS ? TB_FILE_CAPTURE : TB_FILE_JOB;
}

// kind_of looks into a file; not into what is none, such as a pipe, which would wait for
// a writer.
static enum tb_file_kind kind_of(const char *path, const struct stat *at, bool look)
{
	if (!S_ISREG(at->st_mode) && !S_ISDIR(at->st_mode))
		return TB_FILE_OTHER;
	bool folder = S_ISDIR(at->st_mode);
	if (!look)
		return folder ? TB_FILE_FOLDER : TB_FILE_UNKNOWN;
	if (folder)
		return trace_kind(path, TB_FILE_FOLDER);
	return tb_run_is_store(path) ? TB_FILE_STORE : trace_kind(path, TB_FILE_OTHER);
}

// add lists a file under a name; one that is gone is left out.
static int add(struct tb_file_list *list, const char *path, const char *name,
	double until_s, bool recent)
{
	struct stat at;
	char shown[160];
	if (stat(path[0] ? path : ".", &at) != 0)
		return TB_OK;
	if (TB_ARRAY_RESERVE(&list->files, &list->room, list->n + 1) != TB_OK)
		return TB_ENOMEM;
	bool look = list->n < LOOK_LEAST || tb_clock_s() <= until_s;
	struct tb_listed_file *file = &list->files[list->n++];
	*file = (struct tb_listed_file){.path = strdup(path),
		.name = strdup(tb_visible(name, shown, sizeof shown)),
		.kind = strcmp(name, "..") == 0 ? TB_FILE_PARENT
						: kind_of(path, &at, look),
		.recent = recent,
		.bytes = (uint64_t)at.st_size};
	return file->path && file->name ? TB_OK : TB_ENOMEM;
}

static int by_name(const void *a, const void *b)
{
	const struct tb_listed_file *one = a, *other = b;
	bool above = one->kind <= TB_FILE_FOLDER, below = other->kind <= TB_FILE_FOLDER;
	if (above != below)
		return above ? -1 : 1;
	if (one->kind != other->kind &&
		(one->kind == TB_FILE_PARENT || other->kind == TB_FILE_PARENT))
		return one->kind == TB_FILE_PARENT ? -1 : 1;
	int order = strcasecmp(one->name, other->name);
	return order ? order : strcmp(one->path, other->path);
}

static int read_folder(struct tb_file_list *list, const char *folder, double until_s)
{
	char path[4096];
	int status = TB_OK;
	DIR *stream = opendir(folder[0] ? folder : ".");
	if (!stream)
		return TB_OK;
	const struct dirent *entry;
	while (status == TB_OK && (entry = readdir(stream))) {
		bool hidden = entry->d_name[0] == '.' && strcmp(entry->d_name, "..") != 0;
		int n = snprintf(path, sizeof path, "%s%s", folder, entry->d_name);
		if (!hidden && n < (int)sizeof path)
			status = add(list, path, entry->d_name, until_s, false);
	}
	closedir(stream);
	return status;
}

int tb_file_list_read(struct tb_file_list *list, const char *folder,
	const char *const *recent, size_t n_recent)
{
	double until_s = tb_clock_s() + LOOK_S;
	int status = TB_OK;
	*list = (struct tb_file_list){.n = 0};
	for (size_t i = 0; i < n_recent && status == TB_OK; i++)
		status = add(list, recent[i], recent[i], until_s, true);
	size_t n_first = list->n;
	if (status == TB_OK)
		status = read_folder(list, folder, until_s);
	if (list->n > n_first)
		qsort(list->files + n_first, list->n - n_first, sizeof *list->files,
			by_name);
	return status;
}

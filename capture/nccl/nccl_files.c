// The files of a log.
#include "nccl_log.h"

#include "array.h"
#include "infile.h"
#include "input_files.h"
#include "nccl_impl.h"
#include "stop.h"
#include "text_lines.h"

#include <dirent.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define LINE_MOST    ((size_t)1 << 20)
#define MENTION_MOST ((size_t)1 << 20)
#define MARK	     " NCCL INFO "

static bool has_mark(const void *data, size_t n)
{
	return memmem(data, n, MARK, strlen(MARK)) != NULL;
}

bool tb_nccl_begins(struct tb_bytes first)
{
	return has_mark(first.data, first.n);
}

static bool is_text(struct tb_bytes first)
{
	return first.n > 0 && !memchr(first.data, 0, first.n);
}

static bool look_into(const char *path, bool further)
{
	FILE *stream;
	struct tb_infile *file;
	struct tb_bytes first;
	if (!tb_input_is_file(path) ||
		tb_infile_open(&stream, &file, path, NULL) != TB_OK)
		return false;
	bool is = tb_infile_peek(file, TB_INFILE_PEEK_MAX, &first, NULL) == TB_OK;
	if (is)
		is = tb_nccl_begins(first) ||
		     (further && is_text(first) &&
			     tb_infile_mentions(stream, MARK, MENTION_MOST));
	fclose(stream);
	return is;
}

bool tb_nccl_mentions(const char *path)
{
	return look_into(path, true);
}

struct nl_files {
	char **paths;
	size_t n, room;
};

static void free_files(struct nl_files *files)
{
	for (size_t i = 0; i < files->n; i++)
		free(files->paths[i]);
	free(files->paths);
}

static int add_file(struct nl_files *files, char *path)
{
	if (path &&
		TB_ARRAY_RESERVE(&files->paths, &files->room, files->n + 1) == TB_OK) {
		files->paths[files->n++] = path;
		return TB_OK;
	}
	free(path);
	return TB_ENOMEM;
}

static int by_name(const void *a, const void *b)
{
	char *const *one = a, *const *other = b;
	return strcmp(*one, *other);
}

// list_folder adds the logs in a folder, up to `most`, sorted by name.
static int list_folder(
	struct nl_files *files, const char *folder, size_t most, struct tb_error *error)
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
		if (path && !look_into(path, false))
			free(path);
		else
			status = add_file(files, path);
	}
	closedir(dir);
	if (status != TB_OK)
		return tb_fail_memory_in(error, folder, "its files");
	if (files->n > first + 1)
		qsort(files->paths + first, files->n - first, sizeof *files->paths,
			by_name);
	return TB_OK;
}

bool tb_nccl_is_folder(const char *path)
{
	struct nl_files files = {0};
	bool is = list_folder(&files, path, 1, NULL) == TB_OK && files.n > 0;
	free_files(&files);
	return is;
}

static int list_files(struct nl_files *files, const char *const *paths, size_t n,
	struct tb_error *error)
{
	int status = TB_OK;
	for (size_t i = 0; i < n && status == TB_OK; i++) {
		struct stat entry;
		if (stat(paths[i], &entry) == 0 && S_ISDIR(entry.st_mode))
			status = list_folder(files, paths[i], SIZE_MAX, error);
		else if (add_file(files, strdup(paths[i])) != TB_OK)
			status = tb_fail_memory_in(error, paths[i], "its name");
	}
	return status;
}

// take_line takes a line. One of a call that is broken is left out with --lenient:
// processes that write to one file may cut each other's lines.
static int take_line(struct nl_log *log, const char *text, bool lenient)
{
	struct nl_line line;
	tb_nl_version(log, text);
	if (!tb_nl_line(&line, text))
		return TB_OK;
	log->n_lines++;
	if (line.has_time) {
		if (log->first_ns == 0 || line.at_ns < log->first_ns)
			log->first_ns = line.at_ns;
		if (line.at_ns > log->last_ns)
			log->last_ns = line.at_ns;
	}
	int status = tb_nl_call(log, &line);
	if (status == TB_OK)
		status = tb_nl_choice(log, &line);
	if (status == TB_OK)
		status = tb_nl_topology(log, &line);
	if (status == TB_EFORMAT && lenient) {
		log->n_broken_lines++;
		return TB_OK;
	}
	return status;
}

static int read_lines(struct nl_log *log, FILE *stream, const struct tb_reading *reading)
{
	struct tb_text_lines lines;
	int status = TB_OK, found = 1;
	tb_text_lines_init(&lines, stream, log->file, log->error);
	lines.most = LINE_MOST;
	while (status == TB_OK && (found = tb_text_lines_next(&lines)) > 0) {
		log->line = lines.number;
		status = take_line(log, lines.text, reading->lenient);
		if (lines.number % 4096 == 0 && tb_stop_asked(reading->stop))
			status =
				tb_fail_in(log->error, TB_ESTOPPED, log->file, "stopped");
	}
	tb_text_lines_fini(&lines);
	return found < 0 ? found : status;
}

static int read_file(struct nl_log *log, const struct tb_reading *reading)
{
	FILE *stream;
	struct tb_infile *file;
	int status = tb_infile_open(&stream, &file, log->file, log->error);
	if (status != TB_OK)
		return status;
	tb_infile_stop_on(file, reading->stop);
	status = read_lines(log, stream, reading);
	int cause = tb_infile_check(file, log->error);
	fclose(stream);
	if (cause == TB_EFORMAT)
		return tb_reading_breaks_off(
			reading, cause, &log->n_broken_files, log->error);
	return cause != TB_OK ? cause : status;
}

int tb_nl_read(struct nl_log *log, const struct tb_reading *reading, uint32_t clone_ranks,
	const char *const *paths, size_t n)
{
	struct nl_files files = {0};
	log->file = paths[0];
	int status = list_files(&files, paths, n, log->error);
	for (size_t i = 0; i < files.n && status == TB_OK; i++) {
		log->file = files.paths[i];
		status = read_file(log, reading);
	}
	log->file = paths[0];
	free_files(&files);
	if (status == TB_OK && log->n_lines == 0)
		status = tb_fail_in(log->error, TB_EFORMAT, log->file,
			"has no line of NCCL's: expected HOST:PID:TID [DEVICE] NCCL "
			"INFO");
	if (status == TB_OK && clone_ranks > 0)
		status = tb_nl_clone(log, clone_ranks);
	return status == TB_OK ? tb_nl_group(log) : status;
}

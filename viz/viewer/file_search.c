#include "file_search.h"

#include "array.h"
#include "input_files.h"
#include "progress.h"
#include "run.h"
#include "scale.h"
#include "trace.h"
#include "units.h"
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

static void file_list_fini(struct tb_file_list *list)
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

// file_kind looks into a file; not into what is none, such as a pipe, which would wait
// for a writer.
static enum tb_file_kind file_kind(const char *path, const struct stat *at, bool look)
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

// file_add lists a file under a name; one that is gone is left out.
static int file_add(struct tb_file_list *list, const char *path, const char *name,
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
						: file_kind(path, &at, look),
		.recent = recent,
		.bytes = (uint64_t)at.st_size};
	return file->path && file->name ? TB_OK : TB_ENOMEM;
}

static int file_by_name(const void *a, const void *b)
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

static int read_file_folder(struct tb_file_list *list, const char *folder, double until_s)
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
			status = file_add(list, path, entry->d_name, until_s, false);
	}
	closedir(stream);
	return status;
}

static void free_recent(struct tb_file_search *search)
{
	for (size_t i = 0; i < search->n_recent; i++)
		free(search->recent[i]);
	free(search->recent);
	search->recent = NULL;
	search->n_recent = 0;
}

void tb_file_search_fini(struct tb_file_search *search)
{
	file_list_fini(&search->list);
	free_recent(search);
}

int tb_file_search_set_recent(
	struct tb_file_search *search, const char *const *paths, size_t n)
{
	free_recent(search);
	search->recent = calloc(n + 1, sizeof *search->recent);
	if (!search->recent)
		return TB_ENOMEM;
	for (; search->n_recent < n; search->n_recent++) {
		char *copy = strdup(paths[search->n_recent]);
		if (!copy)
			return TB_ENOMEM;
		search->recent[search->n_recent] = copy;
	}
	return TB_OK;
}

// last_part returns what follows the last slash.
static const char *last_part(const char *path)
{
	const char *slash = strrchr(path, '/');
	return slash ? slash + 1 : path;
}

const char *tb_file_search_begin(struct tb_file_search *search, const char *shown)
{
	int length = (int)(last_part(shown) - shown);
	if (length >= (int)sizeof search->begun)
		length = 0;
	snprintf(search->begun, sizeof search->begun, "%.*s", length, shown);
	file_list_fini(&search->list); // read the folder anew
	return search->begun;
}

// expand_home replaces ~ at the beginning by the home folder.
static void expand_home(const char *path, char *buffer, size_t size)
{
	const char *home = getenv("HOME");
	if (strncmp(path, "~/", 2) == 0 && home)
		snprintf(buffer, size, "%s%s", home, path + 1);
	else
		snprintf(buffer, size, "%s", path);
}

static bool is_of_types(enum tb_file_kind kind, enum tb_file_types types)
{
	bool trace = kind == TB_FILE_CAPTURE || kind == TB_FILE_JOB;
	if (kind <= TB_FILE_FOLDER || types == TB_TYPES_ALL)
		return true;
	if (kind == TB_FILE_UNKNOWN || kind == TB_FILE_OTHER)
		return kind == TB_FILE_UNKNOWN;
	return types == TB_TYPES_KNOWN || (types == TB_TYPES_TRACES) == trace;
}

enum { EXACT = 0, IN_ORDER = 5, BEGINS = 10, HOLDS = 20, LATELY = 30, NO_MATCH = 100 };

// file_match scores a file for what is typed; lower is better. Files opened lately are
// offered first before anything is typed, then behind those of the folder.
static int file_match(const struct tb_file_search *search,
	const struct tb_listed_file *file, const char *text)
{
	const char *typed = last_part(text);
	if (file->recent && strcmp(text, search->begun) == 0)
		return IN_ORDER;
	if (file->recent)
		return typed[0] && strcasestr(file->path, typed) ? LATELY : NO_MATCH;
	if (!typed[0])
		return IN_ORDER;
	if (file->kind == TB_FILE_PARENT)
		return NO_MATCH;
	if (strcmp(last_part(file->path), typed) == 0)
		return EXACT;
	if (strncasecmp(file->name, typed, strlen(typed)) == 0)
		return BEGINS;
	return strcasestr(file->name, typed) ? HOLDS : NO_MATCH;
}

static void file_offer(struct tb_prompt *prompt, const struct tb_listed_file *file,
	size_t place, int score)
{
	static const char *const kinds[] = {
		"folder above", "folder", "store", "capture", "job", "", ""};
	struct tb_prompt_result result = {.number = (int64_t)place, .score = score};
	char size[24] = "";
	bool sized = file->kind >= TB_FILE_STORE;
	if (sized)
		tb_format_size(file->bytes, size, sizeof size);
	snprintf(result.text, sizeof result.text, "%.140s%s\t%s%s", file->name,
		file->kind == TB_FILE_FOLDER ? "/" : "", kinds[file->kind],
		file->recent ? ", opened lately" : "");
	snprintf(result.note, sizeof result.note, "%s", size);
	tb_prompt_offer(prompt, &result);
}

int tb_file_search_find(struct tb_file_search *search, struct tb_prompt *prompt)
{
	static const char *const types[] = {
		"stores and traces", "stores", "traces", "all files"};
	const char *text = prompt->text;
	int status = TB_OK;
	char path[TB_PROMPT_TEXT];
	expand_home(text, path, sizeof path);
	path[last_part(path) - path] = '\0';
	if (!search->list.files || strcmp(path, search->folder) != 0) {
		memcpy(search->folder, path, sizeof path);
		file_list_fini(&search->list);
		struct tb_file_list *list = &search->list;
		const char *folder = search->folder;
		const char *const *recent = (const char *const *)search->recent;
		size_t n_recent = search->n_recent;
		double until_s = tb_clock_s() + LOOK_S;
		uint64_t mark = tb_inputs_mark();
		status = TB_OK;
		*list = (struct tb_file_list){.n = 0};
		for (size_t i = 0; i < n_recent && status == TB_OK; i++)
			status = file_add(list, recent[i], recent[i], until_s, true);
		size_t n_first = list->n;
		if (status == TB_OK)
			status = read_file_folder(list, folder, until_s);
		if (list->n > n_first)
			qsort(list->files + n_first, list->n - n_first,
				sizeof *list->files, file_by_name);
		tb_inputs_return(mark); // files are looked at here, not read
	}
	for (size_t i = 0; i < search->list.n; i++) {
		const struct tb_listed_file *file = &search->list.files[i];
		int score = is_of_types(file->kind, search->types)
				    ? file_match(search, file, prompt->text)
				    : NO_MATCH;
		if (score < NO_MATCH)
			file_offer(prompt, file, i, score);
	}
	bool above = prompt->n > 1 &&
		     search->list.files[prompt->results[0].number].kind == TB_FILE_PARENT;
	tb_prompt_choose(prompt, above ? 1 : 0);
	snprintf(prompt->about, sizeof prompt->about, "%s (Ctrl+T: others)",
		types[search->types]);
	return status;
}

bool tb_file_search_complete(
	const struct tb_file_search *search, struct tb_prompt *prompt)
{
	const char *typed = last_part(prompt->text), *common = NULL;
	size_t length = strlen(typed), n = 0;
	const struct tb_listed_file *only = NULL;
	for (size_t i = 0; i < search->list.n; i++) {
		const struct tb_listed_file *file = &search->list.files[i];
		const char *name = last_part(file->path);
		if (file->recent || file->kind == TB_FILE_PARENT ||
			!is_of_types(file->kind, search->types) ||
			strncmp(name, typed, length) != 0)
			continue;
		only = common ? NULL : file;
		if (!common)
			n = strlen(name);
		for (size_t k = 0; common && k < n; k++)
			if (name[k] != common[k])
				n = k;
		common = common ? common : name;
	}
	bool folder = only && only->kind == TB_FILE_FOLDER;
	size_t at = strlen(prompt->text);
	if (!common || (n <= length && !folder))
		return false;
	snprintf(prompt->text + at, sizeof prompt->text - at, "%.*s%s", (int)(n - length),
		common + length, folder ? "/" : "");
	return true;
}

bool tb_file_search_take(const struct tb_file_search *search, struct tb_prompt *prompt,
	char path[TB_PROMPT_TEXT])
{
	if (prompt->n == 0) {
		expand_home(prompt->text, path, TB_PROMPT_TEXT);
		return true;
	}
	const struct tb_listed_file *file =
		&search->list.files[prompt->results[prompt->chosen].number];
	snprintf(path, TB_PROMPT_TEXT, "%s", file->path);
	if (file->kind > TB_FILE_FOLDER)
		return true;
	// Without the two dots, which would pile up.
	char *whole = file->kind == TB_FILE_PARENT ? realpath(path, NULL) : NULL;
	const char *folder = whole ? whole : path;
	snprintf(prompt->text, sizeof prompt->text, "%s%s", folder,
		strcmp(folder, "/") == 0 ? "" : "/");
	free(whole);
	return false;
}

int tb_viewed_file_init(
	struct tb_viewed_file *file, const char *path, struct tb_error *error)
{
	*file = (struct tb_viewed_file){.path = strdup(path), .given = strdup(path)};
	return file->path && file->given ? TB_OK : tb_fail_memory_in(error, path, "it");
}

void tb_viewed_file_fini(struct tb_viewed_file *file)
{
	tb_opening_free(file->opening);
	free(file->path);
	free(file->given);
	*file = (struct tb_viewed_file){.path = NULL};
}

void tb_viewed_file_opened(struct tb_viewed_file *file, const struct tb_run_info *info)
{
	struct stat identity;
	char caption[256];
	if (!info) {
		snprintf(file->title, sizeof file->title, "Tailback");
		return;
	}
	if (stat(file->path, &identity) == 0) {
		file->device = identity.st_dev;
		file->inode = identity.st_ino;
	}
	snprintf(file->title, sizeof file->title, "%s - Tailback",
		tb_run_caption(info, caption, sizeof caption));
}

int tb_viewed_file_check(const struct tb_viewed_file *file, struct tb_error *error)
{
	struct stat now;
	if (stat(file->path, &now) != 0)
		return tb_fail_in(error, TB_EIO, file->path,
			"the store is gone; the picture shows what was read before");
	if (now.st_dev != file->device || now.st_ino != file->inode)
		return tb_fail_in(error, TB_EIO, file->path,
			"the store was replaced; the picture shows the old one");
	return TB_OK;
}

bool tb_viewed_file_poll(struct tb_viewed_file *file)
{
	if (!file->opening)
		return false;
	const char *store = tb_opening_store(file->opening);
	if (store && strcmp(store, file->path) != 0) {
		char *path = strdup(store);
		if (!path)
			return false;
		free(file->path);
		file->path = path;
	}
	return tb_opening_poll(file->opening);
}

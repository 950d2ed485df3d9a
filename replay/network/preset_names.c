// Which presets there are: those built in, and those in the user's folder.
#include "input_files.h"
#include "preset.h"
#include "preset_reading.h"
#include "schemas.h"
#include "text_lines.h"

#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define ENDING	   ".ini"
#define FILES_MOST 256

static const char *own_folder(void)
{
	const char *folder = getenv("TAILBACK_NETWORKS");
	return folder ? folder : "";
}

const struct tb_schema_network *tb_preset_built_in(const char *name)
{
	for (const struct tb_schema_network *at = tb_schema_networks; at->name; at++)
		if (strcmp(name, at->name) == 0)
			return at;
	return NULL;
}

bool tb_preset_own_path(const char *name, char *path, size_t size)
{
	int n = snprintf(path, size, "%s/%s" ENDING, own_folder(), name);
	return *own_folder() && *name && !strchr(name, '/') && n > 0 &&
	       (size_t)n < size && access(path, F_OK) == 0;
}

// own_name returns the length of a preset's name in that of its file, 0 for other files,
// hosts.ini among them.
static size_t own_name(const char *file)
{
	size_t n = strlen(file), n_ending = strlen(ENDING);
	return n > n_ending && file[0] != '.' && strcmp(file, "hosts" ENDING) != 0 &&
			       strcmp(file + n - n_ending, ENDING) == 0
		       ? n - n_ending
		       : 0;
}

static int is_own(const struct dirent *entry)
{
	return own_name(entry->d_name) > 0;
}

char *tb_network_preset_names(void)
{
	struct dirent **own = NULL;
	char *names = NULL;
	size_t size;
	FILE *stream = open_memstream(&names, &size);
	if (!stream)
		return NULL;
	for (const struct tb_schema_network *at = tb_schema_networks; at->name; at++)
		fprintf(stream, "%s\n", at->name);
	int n = *own_folder() ? scandir(own_folder(), &own, is_own, alphasort) : 0;
	for (int i = 0; i < n; i++) {
		const char *file = own[i]->d_name;
		char name[NAME_MAX + 1];
		snprintf(name, sizeof name, "%.*s", (int)own_name(file), file);
		if (!tb_preset_built_in(name)) // which has the name
			fprintf(stream, "%s\n", name);
		free(own[i]);
	}
	free(own);
	if (fclose(stream) == 0)
		return names;
	free(names);
	return NULL;
}

// is_preset returns whether a file can be given as a network: by a path without commas.
static bool is_preset(const char *path)
{
	struct tb_network_params params;
	struct stat found;
	return !strpbrk(path, ",\n") && stat(path, &found) == 0 &&
	       S_ISREG(found.st_mode) && tb_network_preset(&params, path, NULL) == TB_OK;
}

static bool is_own_folder(const char *folder)
{
	struct stat own, other;
	return *own_folder() && stat(own_folder(), &own) == 0 &&
	       stat(folder, &other) == 0 && own.st_dev == other.st_dev &&
	       own.st_ino == other.st_ino;
}

char *tb_network_preset_files(const char *folder)
{
	struct dirent **files = NULL;
	char *paths = NULL;
	size_t size;
	FILE *stream = open_memstream(&paths, &size);
	if (!stream)
		return NULL;
	int n = is_own_folder(folder) ? 0 : scandir(folder, &files, is_own, alphasort);
	for (int i = 0; i < n; i++) {
		char path[PATH_MAX];
		int length =
			snprintf(path, sizeof path, "%s/%s", folder, files[i]->d_name);
		if (i < FILES_MOST && length < (int)sizeof path && is_preset(path))
			fprintf(stream, "%s\n", path);
		free(files[i]);
	}
	free(files);
	if (fclose(stream) == 0)
		return paths;
	free(paths);
	return NULL;
}

static char *first_sentence(const char *text, char *buffer, size_t size)
{
	text += strspn(text, "; ");
	snprintf(buffer, size, "%.*s", (int)strcspn(text, "\n"), text);
	return buffer;
}

char *tb_network_preset_summary(const char *name, char *buffer, size_t size)
{
	const struct tb_schema_network *built_in = tb_preset_built_in(name);
	char path[PATH_MAX];
	struct tb_text_lines lines;
	if (built_in)
		return first_sentence(built_in->text, buffer, size);
	*buffer = '\0';
	FILE *file =
		tb_preset_own_path(name, path, sizeof path) ? tb_input_fopen(path) : NULL;
	if (!file)
		return buffer;
	tb_text_lines_init(&lines, file, path, NULL);
	if (tb_text_lines_next(&lines) == 1 && lines.text[0] == ';')
		first_sentence(lines.text, buffer, size);
	tb_text_lines_fini(&lines);
	fclose(file);
	return buffer;
}

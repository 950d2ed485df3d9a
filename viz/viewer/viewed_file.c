#include "viewed_file.h"

#include "run_text.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

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

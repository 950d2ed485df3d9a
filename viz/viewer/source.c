#include "source.h"

#include "run_text.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

int tb_source_init(struct tb_source *source, const char *path, struct tb_error *error)
{
	*source = (struct tb_source){.path = strdup(path)};
	return source->path ? TB_OK
			    : tb_fail_in(error, TB_ENOMEM, path, "no memory to open it");
}

void tb_source_fini(struct tb_source *source)
{
	tb_opening_free(source->opening);
	free(source->path);
	*source = (struct tb_source){.path = NULL};
}

void tb_source_opened(struct tb_source *source, const struct tb_run_info *info)
{
	struct stat identity;
	char caption[192];
	if (!info) {
		snprintf(source->title, sizeof source->title, "Tailback");
		return;
	}
	if (stat(source->path, &identity) == 0) {
		source->device = identity.st_dev;
		source->inode = identity.st_ino;
	}
	snprintf(source->title, sizeof source->title, "%s - Tailback",
		tb_run_caption(info, caption, sizeof caption));
}

int tb_source_check(const struct tb_source *source, struct tb_error *error)
{
	struct stat now;
	if (stat(source->path, &now) != 0)
		return tb_fail_in(error, TB_EIO, source->path,
			"the store is gone; what is shown was read before");
	if (now.st_dev != source->device || now.st_ino != source->inode)
		return tb_fail_in(error, TB_EIO, source->path,
			"the store was replaced; what is shown is the old one");
	return TB_OK;
}

bool tb_source_poll(struct tb_source *source)
{
	if (!source->opening)
		return false;
	const char *store = tb_opening_store(source->opening);
	if (store && strcmp(store, source->path) != 0) {
		char *path = strdup(store);
		if (!path)
			return false;
		free(source->path);
		source->path = path;
	}
	return tb_opening_poll(source->opening);
}

// Files that changes need.
#include "advice_impl.h"
#include "outfile.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

void tb_advice_files_path(
	const struct tb_advice_file *file, const char *folder, char *path, size_t size)
{
	snprintf(path, size, "%s/%s", folder, file->name);
}

int tb_advice_files_write(
	const struct tb_change *change, const char *folder, struct tb_error *error)
{
	int status = TB_OK;
	for (size_t i = 0; i < change->n_files && status == TB_OK; i++) {
		char path[PATH_MAX];
		struct tb_outfile out;
		tb_advice_files_path(&change->files[i], folder, path, sizeof path);
		status = tb_outfile_open(&out, path, error);
		if (status)
			return status;
		fwrite(change->files[i].text, 1, change->files[i].size, out.stream);
		status = tb_outfile_commit(&out, error);
	}
	return status;
}

int tb_advice_files_folder(const char *folder, struct tb_error *error)
{
	struct stat at;
	if (mkdir(folder, 0777) == 0 ||
		(errno == EEXIST && stat(folder, &at) == 0 && S_ISDIR(at.st_mode)))
		return TB_OK;
	return tb_fail(error, TB_EIO, "%s: no folder can be made there: %s", folder,
		strerror(errno));
}

int tb_advice_write_files(const struct tb_advice *advice, struct tb_error *error)
{
	int status = TB_OK;
	for (size_t i = 1; advice->folder && i < advice->n && status == TB_OK; i++)
		if (advice->changes[i].verdict == TB_VERDICT_HELPS)
			status = tb_advice_files_write(
				&advice->changes[i], advice->folder, error);
	return status;
}

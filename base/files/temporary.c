#include "temporary.h"

#include <stdio.h>
#include <stdlib.h>

int tb_temporary_folder(
	char *path, size_t size, const char *purpose, struct tb_error *error)
{
	const char *parent = getenv("TMPDIR");
	// Of a path that is cut, too few X are left, and mkdtemp refuses it.
	(void)snprintf(path, size, "%s/tailback-XXXXXX", parent ? parent : "/tmp");
	if (mkdtemp(path))
		return TB_OK;
	path[0] = '\0';
	return tb_fail(error, TB_EIO, "no temporary folder can be made for %s", purpose);
}

#include "libarchive.h"

int tb_libarchive_load(struct tb_libarchive *libarchive, struct tb_error *error)
{
	static const char *const names[] = {TB_LIBARCHIVE(TB_MODULE_NAME)};
	return tb_module_load(
		libarchive, "archive", names, sizeof names / sizeof *names, error);
}

// libarchive, loaded with the first compressed input: with what it depends on (ICU, XML)
// it takes longer to start than the rest of the program.
#ifndef TB_LIBARCHIVE_H
#define TB_LIBARCHIVE_H

#include "module.h"

#include <archive.h>
#include <archive_entry.h>

#define TB_LIBARCHIVE(X)                                                                 \
	X(archive_entry_filetype)                                                        \
	X(archive_entry_hardlink)                                                        \
	X(archive_entry_pathname)                                                        \
	X(archive_error_string)                                                          \
	X(archive_filter_bytes)                                                          \
	X(archive_format)                                                                \
	X(archive_read_data)                                                             \
	X(archive_read_data_block)                                                       \
	X(archive_read_free)                                                             \
	X(archive_read_new)                                                              \
	X(archive_read_next_header)                                                      \
	X(archive_read_open)                                                             \
	X(archive_read_support_filter_by_code)                                           \
	X(archive_read_support_format_empty)                                             \
	X(archive_read_support_format_raw)                                               \
	X(archive_read_support_format_tar)                                               \
	X(archive_read_support_format_zip_streamable)                                    \
	X(archive_set_error)

struct tb_libarchive {
	TB_LIBARCHIVE(TB_MODULE_POINTER)
};

// tb_libarchive_load stores its functions. Errors as of tb_module_load.
static inline int tb_libarchive_load(
	struct tb_libarchive *libarchive, struct tb_error *error)
{
	static const char *const names[] = {TB_LIBARCHIVE(TB_MODULE_NAME)};
	return tb_module_load(
		libarchive, "archive", names, sizeof names / sizeof *names, error);
}

#endif

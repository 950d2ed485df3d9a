#include "store_image.h"

#include "sql.h"

#include <string.h>

int tb_store_image_open(
	sqlite3 **db, int page_bytes, const char *path, struct tb_error *error)
{
	const struct tb_store_image *image = tb_store_images;
	while (image->page_bytes != page_bytes)
		image++;
	sqlite3 *opened = NULL;
	unsigned char *bytes = sqlite3_malloc64(image->size);
	if (!bytes ||
		sqlite3_open_v2(":memory:", &opened,
			SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, NULL) != SQLITE_OK) {
		sqlite3_free(bytes);
		sqlite3_close(opened);
		return tb_fail_memory_in(error, path, "it");
	}
	memset(bytes, 0, image->size);
	for (size_t i = 0; i < image->n_runs; i++)
		memcpy(bytes + image->runs[i].at, image->runs[i].bytes, image->runs[i].n);
	sqlite3_int64 size = (sqlite3_int64)image->size, most = INT64_MAX / 2;
	int code = sqlite3_deserialize(opened, "main", bytes, size, size,
		SQLITE_DESERIALIZE_FREEONCLOSE | SQLITE_DESERIALIZE_RESIZEABLE);
	if (code == SQLITE_OK) // else 1 GiB
		code = sqlite3_file_control(
			opened, "main", SQLITE_FCNTL_SIZE_LIMIT, &most);
	if (code != SQLITE_OK) {
		sqlite3_close(opened);
		return tb_fail_memory_in(error, path, "it");
	}
	*db = opened;
	return TB_OK;
}

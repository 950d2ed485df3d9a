#include "disk_array.h"

#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { ROOM_LEAST = 8 };

// open_beside makes a file without a name in the folder of `path`.
static int open_beside(const char *path)
{
	char *name = NULL;
	const char *end = strrchr(path, '/');
	if (asprintf(&name, "%.*stailback-XXXXXX", (int)(end ? end + 1 - path : 0),
		    path) < 0)
		return -1;
	int file = mkostemp(name, O_CLOEXEC);
	if (file >= 0)
		unlink(name);
	free(name);
	return file;
}

// map_file moves the array to a file that it fits into.
static bool map_file(struct tb_disk_array *array, size_t bytes)
{
	int file = array->file ? array->file : open_beside(array->beside);
	void *map = MAP_FAILED;
	if (file > 0 && posix_fallocate(file, 0, (off_t)bytes) == 0)
		map = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
	if (map == MAP_FAILED) {
		if (file > 0 && file != array->file)
			close(file);
		return false;
	}
	if (array->file) {
		munmap(array->memory, array->bytes);
	} else if (array->memory) {
		memcpy(map, array->memory, array->bytes < bytes ? array->bytes : bytes);
		free(array->memory);
	}
	array->memory = map;
	array->bytes = bytes;
	array->file = file;
	return true;
}

int tb_disk_array_resize(struct tb_disk_array *array, size_t bytes)
{
	if (array->beside && bytes >= TB_DISK_ARRAY_LEAST && !array->refused) {
		if (map_file(array, bytes))
			return TB_OK;
		array->refused = true;
	}
	struct tb_disk_array was = *array;
	char *memory = realloc(array->file ? NULL : array->memory, bytes ? bytes : 1);
	if (!memory)
		return TB_ENOMEM;
	array->memory = memory;
	array->bytes = bytes;
	array->file = 0;
	if (was.file) {
		memcpy(memory, was.memory, was.bytes < bytes ? was.bytes : bytes);
		tb_disk_array_fini(&was);
	}
	return TB_OK;
}

int tb_disk_array_grow(
	struct tb_disk_array *array, void *items, size_t *room, size_t n, size_t size)
{
	size_t larger = n > *room + *room / 2 ? n : *room + *room / 2;
	if (larger < ROOM_LEAST)
		larger = ROOM_LEAST;
	if (larger > PTRDIFF_MAX / size ||
		tb_disk_array_resize(array, larger * size) != TB_OK)
		return TB_ENOMEM;
	memcpy(items, &array->memory, sizeof array->memory);
	*room = larger;
	return TB_OK;
}

void tb_disk_array_cool(const struct tb_disk_array *array)
{
	if (array->file)
		(void)madvise(array->memory, array->bytes, MADV_DONTNEED);
}

void tb_disk_array_fini(struct tb_disk_array *array)
{
	if (array->file) {
		munmap(array->memory, array->bytes);
		close(array->file);
	} else {
		free(array->memory);
	}
	*array = (struct tb_disk_array){.beside = array->beside};
}

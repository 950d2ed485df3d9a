// What tests of OTF2 archives share: an archive that is written (otf2_archive.h) in a
// folder of its own for each test, and the calls that are read of it.
#ifndef TB_OTF2_READ_TEST_H
#define TB_OTF2_READ_TEST_H

#include "otf2_archive.h"
#include "otf2_trace.h"

#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static char folder[] = "otf2_XXXXXX";
static struct tb_error error;
static struct tb_calls *calls;
static struct otf2_archive out;

static inline void remove_folder(const char *path)
{
	DIR *entries = opendir(path);
	for (struct dirent *entry; entries && (entry = readdir(entries));) {
		char *name = NULL;
		if (entry->d_name[0] == '.' ||
			asprintf(&name, "%s/%s", path, entry->d_name) < 0)
			continue;
		if (remove(name) != 0)
			remove_folder(name);
		free(name);
	}
	if (entries)
		closedir(entries);
	remove(path);
}

static inline int set_up(void **state)
{
	(void)state;
	strcpy(folder, "otf2_XXXXXX");
	error = (struct tb_error){0};
	calls = NULL;
	if (!mkdtemp(folder))
		return -1;
	otf2_begin(&out, folder);
	return 0;
}

static inline int tear_down(void **state)
{
	(void)state;
	tb_calls_free(calls);
	remove_folder(folder);
	return 0;
}

static inline int read_it(bool lenient)
{
	const char *path = folder, *made;
	struct tb_reading reading = {.lenient = lenient};
	return tb_otf2_read(&calls, &reading, &path, 1, &made, &error);
}

static inline void read_well(void)
{
	int status = read_it(false);
	if (status != TB_OK)
		print_error("%s: %s\n", error.file, error.text);
	assert_int_equal(status, TB_OK);
}

static inline void refuse(int code, const char *text)
{
	assert_int_equal(read_it(false), code);
	assert_non_null(strstr(error.text, text));
}

// call returns call `i` of a rank, which makes `n`.
static inline const struct tb_call *call(uint32_t rank, uint32_t i, uint32_t n)
{
	uint32_t n_calls;
	const struct tb_call *of = tb_calls_of(calls, rank, &n_calls);
	assert_int_equal(n_calls, n);
	return &of[i];
}

static inline void comes_after(uint32_t rank, uint32_t i, uint32_t n, const uint32_t *on)
{
	uint32_t n_befores;
	const uint32_t *befores = tb_calls_befores(calls, rank, i, &n_befores);
	assert_int_equal(n_befores, n);
	for (uint32_t k = 0; k < n; k++)
		assert_int_equal(befores[k], on[k]);
}

static inline bool has_note(const char *text)
{
	const char *note;
	for (size_t i = 0; (note = tb_calls_note_at(calls, i)); i++)
		if (strstr(note, text))
			return true;
	return false;
}

static inline void world(struct otf2_archive *to)
{
	otf2_processes(to);
	otf2_world(to);
}

static inline void empty_location(void)
{
	otf2_location(&out);
	otf2_location_end(&out);
}

#endif

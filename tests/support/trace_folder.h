// What tests of readers share: a folder of trace files, empty for each test, and the
// calls that are read of it.
#ifndef TB_TRACE_FOLDER_TEST_H
#define TB_TRACE_FOLDER_TEST_H

#include "calls.h"
#include "reading.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static struct tb_error error;
static struct tb_calls *calls;
static struct tb_reading reading;
static char folder[] = "traces_XXXXXX";

// in_folder returns the path of a file of the folder. It is overwritten by the fourth
// call that follows.
static inline const char *in_folder(const char *name)
{
	static char path[4][300];
	static int turn;
	turn = (turn + 1) % 4;
	snprintf(path[turn], sizeof path[turn], "%s%s%s", folder, *name ? "/" : "", name);
	return path[turn];
}

static inline void put_bytes(const char *name, const void *bytes, size_t n)
{
	FILE *file = fopen(in_folder(name), "wb");
	assert_non_null(file);
	assert_int_equal(fwrite(bytes, 1, n, file), n);
	assert_int_equal(fclose(file), 0);
}

static inline void put(const char *name, const char *text)
{
	put_bytes(name, text, strlen(text));
}

static inline int make_folder(void **state)
{
	(void)state;
	strcpy(folder, "traces_XXXXXX");
	error = (struct tb_error){0};
	reading = (struct tb_reading){0};
	calls = NULL;
	return mkdtemp(folder) ? 0 : -1;
}

static inline int drop_folder(void **state)
{
	(void)state;
	char command[100];
	tb_calls_free(calls);
	calls = NULL;
	snprintf(command, sizeof command, "rm -r %s", folder);
	return system(command);
}

// A case with a folder of its own.
#define IN_FOLDER(test) cmocka_unit_test_setup_teardown(test, make_folder, drop_folder)

#endif

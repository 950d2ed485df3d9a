// What the viewer remembers.
#include "session_impl.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static int set_up(void **state)
{
	static char folder[] = "/tmp/tailback-state-XXXXXX";
	strcpy(folder, "/tmp/tailback-state-XXXXXX");
	if (!mkdtemp(folder))
		return -1;
	setenv("XDG_STATE_HOME", folder, 1);
	*state = folder;
	return 0;
}

static int tear_down(void **state)
{
	char command[128];
	snprintf(command, sizeof command, "rm -rf %s", (char *)*state);
	return system(command);
}

// store makes a file that stands for a store.
static const char *store(const char *folder, const char *name, char path[128])
{
	snprintf(path, 128, "%s/%s", folder, name);
	FILE *file = fopen(path, "w");
	fclose(file);
	return path;
}

static void nothing_is_known_at_first(void **state)
{
	char path[128];
	struct tb_session_state loaded;
	tb_session_state_load(&loaded, store(*state, "run.db", path));
	assert_false(loaded.known);
	assert_false(loaded.look.of_store);
}

static void each_store_has_a_look_of_its_own(void **state)
{
	char one[128], other[128];
	struct tb_session_state loaded, saved = {.known = true,
						.width = 1400,
						.height = 900,
						.maximised = true,
						.look = {.style = {.theme = TB_DARK,
								 .colours = TB_VIRIDIS,
								 .logarithmic = true},
							.of_store = true,
							.view = 4,
							.metric = TB_BYTES,
							.window = {12, 20}}};
	tb_session_state_save(&saved, store(*state, "one.db", one));
	saved.look.view = 1;
	saved.look.style.theme = TB_LIGHT;
	tb_session_state_save(&saved, store(*state, "other run.db", other));
	tb_session_state_load(&loaded, one);
	assert_true(loaded.known && loaded.look.of_store);
	assert_int_equal(loaded.look.view, 4);
	assert_int_equal(loaded.look.metric, TB_BYTES);
	assert_int_equal(loaded.look.window.first_bin, 12);
	assert_int_equal(loaded.look.style.theme, TB_LIGHT); // the viewer's, set last
	assert_int_equal(loaded.width, 1400);
	assert_true(loaded.maximised);
	tb_session_state_load(&loaded, other);
	assert_int_equal(loaded.look.view, 1);
}

static void stores_beyond_forty_are_forgotten(void **state)
{
	char path[128], name[16];
	struct tb_session_state loaded, saved = {.known = true,
						.width = 800,
						.height = 600,
						.look = {.of_store = true, .view = 2}};
	for (int i = 0; i < 60; i++) {
		snprintf(name, sizeof name, "%d.db", i);
		tb_session_state_save(&saved, store(*state, name, path));
	}
	tb_session_state_load(&loaded, path);
	assert_true(loaded.look.of_store);
	snprintf(path, sizeof path, "%s/20.db",
		(char *)*state); // the fortieth from the end
	tb_session_state_load(&loaded, path);
	assert_true(loaded.look.of_store);
	snprintf(path, sizeof path, "%s/19.db", (char *)*state);
	tb_session_state_load(&loaded, path);
	assert_false(loaded.look.of_store);
	snprintf(path, sizeof path, "%s/3.db", (char *)*state);
	tb_session_state_load(&loaded, path);
	assert_true(loaded.known);
	assert_false(loaded.look.of_store);
}

// read_line reads a state of one line.
static struct tb_session_state read_line(const char *line)
{
	struct tb_session_state loaded;
	FILE *stream = fmemopen((char *)(uintptr_t)line, strlen(line), "r");
	assert_non_null(stream);
	tb_session_state_read(&loaded, stream, "/run.db");
	fclose(stream);
	return loaded;
}

static void values_out_of_range_are_ignored(void **state)
{
	char beyond[64];
	(void)state;
	snprintf(beyond, sizeof beyond, "store 1 %d 3 5 /run.db\n", TB_N_METRICS);
	assert_true(read_line("viewer 320 240 0 0 1 0\n").known);
	assert_false(read_line("viewer 319 240 0 0 1 0\n").known);
	assert_false(read_line("viewer 320 240 2 0 1 0\n").known);
	assert_false(read_line("viewer 320 240 0 -1 1 0\n").known);
	assert_true(read_line("store 1 6 3 5 /run.db\n").look.of_store);
	assert_false(read_line(beyond).look.of_store);
	assert_false(read_line("store 64 6 3 5 /run.db\n").look.of_store);
	assert_false(read_line("store 1 6 3 5 /other.db\n").look.of_store);
}

static void a_folder_that_cannot_be_written_is_no_trouble(void **state)
{
	char path[128];
	const struct tb_session_state saved = {
		.known = true, .width = 800, .height = 600};
	struct tb_session_state loaded;
	setenv("XDG_STATE_HOME", "/proc/nowhere", 1);
	tb_session_state_save(&saved, store(*state, "run.db", path));
	tb_session_state_load(&loaded, path);
	assert_false(loaded.known);
}

#define STAGED(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		STAGED(nothing_is_known_at_first),
		STAGED(each_store_has_a_look_of_its_own),
		STAGED(stores_beyond_forty_are_forgotten),
		STAGED(values_out_of_range_are_ignored),
		STAGED(a_folder_that_cannot_be_written_is_no_trouble),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

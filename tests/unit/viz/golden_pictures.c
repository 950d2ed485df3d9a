// Pictures against their descriptions in tests/golden/pictures. TB_UPDATE=1 rewrites the
// descriptions: look at what changed before you keep it.
#include "../../viz_fixture.h"

#include "backends.h"
#include "golden_difference.h"
#include "matrix_picture.h"
#include "views.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>

#include <cmocka.h>

struct stage {
	char path[64];
	struct tb_run *run;
	struct tb_matrix matrix;
};

static int set_up(void **state)
{
	struct stage *stage = calloc(1, sizeof *stage);
	struct tb_error error;
	viz_path(stage->path);
	viz_store(stage->path);
	viz_check(tb_run_open(&stage->run, stage->path, 0, &error), &error);
	viz_check(tb_matrix_init(&stage->matrix, stage->run, (struct tb_window){0, 0},
			  TB_WAIT, &error),
		&error);
	*state = stage;
	return 0;
}

static int tear_down(void **state)
{
	struct stage *stage = *state;
	tb_matrix_fini(&stage->matrix);
	tb_run_free(stage->run);
	unlink(stage->path);
	free(stage);
	return 0;
}

static char *read_all(const char *path)
{
	FILE *file = fopen(path, "rb");
	char *text = calloc(1, 1 << 20);
	if (file) {
		size_t n = fread(text, 1, (1 << 20) - 1, file);
		text[n] = '\0';
		fclose(file);
	}
	return text;
}

// assert_golden compares what was written to a memory stream with a golden file.
static void assert_golden(const char *got, const char *name)
{
	char path[512];
	snprintf(path, sizeof path, "%s/tests/golden/pictures/%s", getenv("TB_SOURCE"),
		name);
	if (getenv("TB_UPDATE")) {
		FILE *file = fopen(path, "wb");
		assert_non_null(file);
		fputs(got, file);
		assert_int_equal(fclose(file), 0);
	}
	char *wanted = read_all(path);
	bool differs = golden_text_difference(name, wanted, got, stderr);
	free(wanted);
	assert_false(differs);
}

struct writing {
	FILE *stream;
	char *text;
	size_t length;
};

static void begin(struct writing *writing)
{
	writing->stream = open_memstream(&writing->text, &writing->length);
	assert_non_null(writing->stream);
}

static void end(struct writing *writing, const char *name)
{
	assert_int_equal(fclose(writing->stream), 0);
	assert_golden(writing->text, name);
	free(writing->text);
}

static struct tb_matrix_figure figure_of(struct stage *stage)
{
	return (struct tb_matrix_figure){
		.run = stage->run, .matrix = &stage->matrix, .theme = TB_LIGHT};
}

static void text_on_a_plain_terminal(void **state)
{
	struct tb_matrix_figure figure = figure_of(*state);
	struct tb_picture picture = {0};
	struct writing writing;
	begin(&writing);
	assert_int_equal(tb_matrix_picture_text(&picture, &figure, 80, false), TB_OK);
	assert_int_equal(
		tb_picture_terminal(&picture, TB_TERMINAL_PLAIN, writing.stream), TB_OK);
	end(&writing, "matrix_plain.txt");
	tb_picture_fini(&picture);
}

static void text_with_24_bit_colours(void **state)
{
	struct tb_matrix_figure figure = figure_of(*state);
	struct tb_picture picture = {0};
	struct writing writing;
	begin(&writing);
	figure.theme = TB_DARK;
	assert_int_equal(tb_matrix_picture_text(&picture, &figure, 80, true), TB_OK);
	assert_int_equal(
		tb_picture_terminal(&picture, TB_TERMINAL_RGB, writing.stream), TB_OK);
	end(&writing, "matrix_rgb.txt");
	tb_picture_fini(&picture);
}

static void text_on_a_narrow_terminal(void **state)
{
	struct tb_matrix_figure figure = figure_of(*state);
	struct tb_picture picture = {0};
	struct writing writing;
	begin(&writing);
	assert_int_equal(tb_matrix_picture_text(&picture, &figure, 40, false), TB_OK);
	assert_int_equal(
		tb_picture_terminal(&picture, TB_TERMINAL_PLAIN, writing.stream), TB_OK);
	end(&writing, "matrix_narrow.txt");
	tb_picture_fini(&picture);
}

static void the_figure(void **state)
{
	struct tb_matrix_figure figure = figure_of(*state);
	struct tb_picture picture = {0};
	struct writing writing;
	begin(&writing);
	assert_int_equal(tb_matrix_picture(&picture, &figure), TB_OK);
	tb_picture_dump(&picture, writing.stream);
	end(&writing, "matrix_figure.txt");
	tb_picture_fini(&picture);
}

// At the width of a page nothing shrinks, is cut or sticks out.
static void the_figure_wraps_to_a_page(void **state)
{
	struct tb_matrix_figure figure = figure_of(*state);
	struct tb_picture picture = {0};
	bool explained = false;
	figure.width = 420;
	assert_int_equal(tb_matrix_picture(&picture, &figure), TB_OK);
	assert_true(picture.width == 420);
	assert_true(picture.height > picture.width);
	for (size_t i = 0; i < picture.n_items; i++) {
		const struct tb_item *item = &picture.items[i];
		if (item->kind == TB_ITEM_CLIP || item->kind == TB_ITEM_UNCLIP)
			continue;
		assert_true(item->box.x >= 0 && item->box.x + item->box.w <= 420);
		assert_true(item->box.y + item->box.h <= picture.height);
		if (item->kind != TB_ITEM_TEXT)
			continue;
		assert_null(strstr(tb_picture_string(&picture, item->text), "..."));
		assert_true(item->size >= 8);
		explained |= strstr(tb_picture_string(&picture, item->text),
				     "Darker means more.") != NULL;
	}
	assert_true(explained);
	tb_picture_fini(&picture);
}

static void the_figure_as_svg(void **state)
{
	struct stage *stage = *state;
	char *svg;
	assert_int_equal(tb_matrix_picture_svg(stage->run, (struct tb_window){0, 0},
				 TB_WAIT, TB_LIGHT, &svg, NULL),
		TB_OK);
	assert_golden(svg, "matrix.svg");
	free(svg);
}

static void the_data(void **state)
{
	struct stage *stage = *state;
	struct writing writing;
	begin(&writing);
	tb_matrix_csv(stage->run, &stage->matrix, writing.stream);
	end(&writing, "matrix.csv");
	begin(&writing);
	assert_int_equal(tb_matrix_json(stage->run, &stage->matrix,
				 (struct tb_window){0, 0}, writing.stream),
		TB_OK);
	end(&writing, "matrix.json");
}

// dump_session presses the keys and dumps what the viewer then shows.
static void dump_session(struct stage *stage, const char *const *keys, const char *name)
{
	struct tb_viewer *viewer;
	struct tb_error error;
	struct writing writing;
	viz_check(tb_viewer_new(&viewer, tb_views, stage->path, 0, &error), &error);
	tb_viewer_resize(viewer, 1280, 720);
	for (; *keys; keys++)
		assert_true(tb_viewer_key(viewer, *keys));
	begin(&writing);
	tb_picture_dump(tb_viewer_picture(viewer), writing.stream);
	end(&writing, name);
	tb_viewer_free(viewer);
}

static void the_viewer_at_first(void **state)
{
	static const char *const keys[] = {NULL};
	dump_session(*state, keys, "viewer_first.txt");
}

static void the_viewer_with_a_window_and_a_selection(void **state)
{
	static const char *const keys[] = {".", ".", ".", "n", "t", NULL};
	dump_session(*state, keys, "viewer_window.txt");
}

static void the_viewer_with_its_keys(void **state)
{
	static const char *const keys[] = {"?", NULL};
	dump_session(*state, keys, "viewer_help.txt");
}

static void the_tree(void **state)
{
	static const char *const keys[] = {"F3", "n", NULL};
	dump_session(*state, keys, "viewer_tree.txt");
}

static void the_table_of_links(void **state)
{
	static const char *const keys[] = {"F4", "n", "n", NULL};
	dump_session(*state, keys, "viewer_links.txt");
}

static void node_to_node(void **state)
{
	static const char *const keys[] = {"F5", "g", "g", "g", NULL};
	dump_session(*state, keys, "viewer_flows.txt");
}

static void congestion_trees(void **state)
{
	static const char *const keys[] = {"F6", "t", NULL};
	dump_session(*state, keys, "viewer_roots.txt");
}

static void who_waited_for_whom(void **state)
{
	static const char *const keys[] = {"F7", "%", NULL};
	dump_session(*state, keys, "viewer_blame.txt");
}

static void the_search(void **state)
{
	static const char *const keys[] = {"/", "0", ".", NULL};
	dump_session(*state, keys, "viewer_search.txt");
}

#define STAGED(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		STAGED(text_on_a_plain_terminal),
		STAGED(text_with_24_bit_colours),
		STAGED(text_on_a_narrow_terminal),
		STAGED(the_figure),
		STAGED(the_figure_wraps_to_a_page),
		STAGED(the_figure_as_svg),
		STAGED(the_data),
		STAGED(the_viewer_at_first),
		STAGED(the_viewer_with_a_window_and_a_selection),
		STAGED(the_viewer_with_its_keys),
		STAGED(the_tree),
		STAGED(the_table_of_links),
		STAGED(node_to_node),
		STAGED(congestion_trees),
		STAGED(who_waited_for_whom),
		STAGED(the_search),
	};
	if (!getenv("TB_SOURCE")) {
		puts("skip: TB_SOURCE, the folder of the sources, is not set");
		return 77;
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}

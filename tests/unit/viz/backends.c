// The window and cairo draw a picture alike: compares their pixels with each other and
// with golden ones, block by block with a tolerance. TB_UPDATE=1 rewrites the golden
// blocks.
#include "../../viz_fixture.h"

#include "golden_difference.h"
#include "paper.h"
#include "screen.h"
#include "views.h"

#include <cairo.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>

#include <cmocka.h>

#define WIDTH  1280
#define HEIGHT 720
// Blocks of 20 by 20 pixels hide differences in how text is smoothed, but not a cell of
// another shade or place.
#define BLOCK	  20
#define COLUMNS	  (WIDTH / BLOCK)
#define ROWS	  (HEIGHT / BLOCK)
#define TOLERANCE 26  // of 255, in a block
#define MEAN	  2.5 // over all blocks

struct blocks {
	uint8_t grey[ROWS][COLUMNS][3];
};

struct stage {
	char path[64];
	struct tb_viewer *viewer;
	struct tb_screen *screen;
};

static int set_up(void **state)
{
	struct stage *stage = calloc(1, sizeof *stage);
	struct tb_error error;
	setenv("SDL_VIDEODRIVER", "dummy", 1);
	viz_path(stage->path);
	viz_store(stage->path);
	viz_check(
		tb_viewer_new(&stage->viewer, tb_views, stage->path, 0, &error), &error);
	viz_check(tb_screen_new(&stage->screen, WIDTH, HEIGHT, 1, &error), &error);
	tb_viewer_resize(stage->viewer, WIDTH, HEIGHT);
	*state = stage;
	return 0;
}

static int tear_down(void **state)
{
	struct stage *stage = *state;
	tb_screen_free(stage->screen);
	tb_viewer_free(stage->viewer);
	unlink(stage->path);
	free(stage);
	return 0;
}

struct reader {
	const char *data;
	size_t left;
};

static cairo_status_t read_png(void *closure, unsigned char *into, unsigned int length)
{
	struct reader *reader = closure;
	if (length > reader->left)
		return CAIRO_STATUS_READ_ERROR;
	memcpy(into, reader->data, length);
	reader->data += length;
	reader->left -= length;
	return CAIRO_STATUS_SUCCESS;
}

static void take_blocks(struct blocks *blocks, cairo_surface_t *surface)
{
	const unsigned char *pixels = cairo_image_surface_get_data(surface);
	int stride = cairo_image_surface_get_stride(surface);
	assert_int_equal(cairo_image_surface_get_width(surface), WIDTH);
	assert_int_equal(cairo_image_surface_get_height(surface), HEIGHT);
	for (int row = 0; row < ROWS; row++)
		for (int column = 0; column < COLUMNS; column++)
			for (int c = 0; c < 3; c++) {
				unsigned sum = 0;
				for (int i = 0; i < BLOCK * BLOCK; i++)
					sum += pixels[(row * BLOCK + i / BLOCK) * stride +
						      (column * BLOCK + i % BLOCK) * 4 +
						      c];
				blocks->grey[row][column][c] =
					(uint8_t)(sum / (BLOCK * BLOCK));
			}
}

// blocks_of renders the viewer's picture by the window or by cairo.
static void blocks_of(struct stage *stage, bool window, struct blocks *blocks)
{
	char *text = NULL;
	size_t length;
	FILE *stream = open_memstream(&text, &length);
	const struct tb_picture *picture = tb_viewer_picture(stage->viewer);
	assert_non_null(picture);
	if (window)
		assert_int_equal(tb_screen_png(stage->screen, picture, stream), TB_OK);
	else
		assert_int_equal(tb_picture_png(picture, WIDTH, stream, NULL), TB_OK);
	fclose(stream);
	struct reader reader = {text, length};
	cairo_surface_t *surface =
		cairo_image_surface_create_from_png_stream(read_png, &reader);
	assert_int_equal(cairo_surface_status(surface), CAIRO_STATUS_SUCCESS);
	take_blocks(blocks, surface);
	cairo_surface_destroy(surface);
	free(text);
}

// off_of gives by how much the worst colour of a block differs.
static int off_of(const struct blocks *a, const struct blocks *b, int row, int column)
{
	int most = 0;
	for (int c = 0; c < 3; c++) {
		int off = abs(a->grey[row][column][c] - b->grey[row][column][c]);
		most = off > most ? off : most;
	}
	return most;
}

// draw_difference writes a picture of the blocks: paler than in `a`, and red where `b` is
// off.
static void draw_difference(
	const struct blocks *a, const struct blocks *b, const char *name)
{
	char path[512];
	cairo_surface_t *surface =
		cairo_image_surface_create(CAIRO_FORMAT_RGB24, WIDTH, HEIGHT);
	cairo_t *cairo = cairo_create(surface);
	for (int row = 0; row < ROWS; row++)
		for (int column = 0; column < COLUMNS; column++) {
			const uint8_t *grey = a->grey[row][column];
			if (off_of(a, b, row, column) > TOLERANCE)
				cairo_set_source_rgb(cairo, 0.9, 0, 0);
			else
				cairo_set_source_rgb(cairo, 0.5 + grey[2] / 510.0,
					0.5 + grey[1] / 510.0, 0.5 + grey[0] / 510.0);
			cairo_rectangle(cairo, column * BLOCK, row * BLOCK, BLOCK, BLOCK);
			cairo_fill(cairo);
		}
	golden_path_of_difference(path, name, ".difference.png");
	cairo_surface_write_to_png(surface, path);
	cairo_destroy(cairo);
	cairo_surface_destroy(surface);
	fprintf(stderr, "the difference: %s\n", path);
}

// assert_alike compares two renderings of the picture `name`.
static void assert_alike(const struct blocks *a, const struct blocks *b, const char *name,
	const char *what)
{
	double sum = 0;
	int n = 0, most = 0, at_row = 0, at_column = 0;
	for (int row = 0; row < ROWS; row++)
		for (int column = 0; column < COLUMNS; column++) {
			int off = off_of(a, b, row, column);
			n += off > TOLERANCE;
			if (off > most) {
				most = off;
				at_row = row;
				at_column = column;
			}
			for (int c = 0; c < 3; c++)
				sum += abs(a->grey[row][column][c] -
					   b->grey[row][column][c]);
		}
	double mean = sum / (ROWS * COLUMNS * 3);
	if (n == 0 && mean <= MEAN)
		return;
	draw_difference(a, b, name);
	fail_msg("%s: %d blocks of %d pixels are off, most (by %d) that at %d, %d; %.2f "
		 "in the mean",
		what, n, BLOCK, most, at_column * BLOCK, at_row * BLOCK, mean);
}

static void golden_path(char path[512], const char *name)
{
	snprintf(path, 512, "%s/tests/golden/pictures/%s", getenv("TB_SOURCE"), name);
}

static void write_blocks(const struct blocks *blocks, const char *name)
{
	char path[512];
	golden_path(path, name);
	FILE *file = fopen(path, "w");
	assert_non_null(file);
	for (int row = 0; row < ROWS; row++) {
		for (int column = 0; column < COLUMNS; column++)
			fprintf(file, "%02x%02x%02x", blocks->grey[row][column][2],
				blocks->grey[row][column][1],
				blocks->grey[row][column][0]);
		fputc('\n', file);
	}
	assert_int_equal(fclose(file), 0);
}

static void read_blocks(struct blocks *blocks, const char *name)
{
	char path[512];
	golden_path(path, name);
	FILE *file = fopen(path, "r");
	assert_non_null(file);
	for (int i = 0; i < ROWS * COLUMNS; i++) {
		unsigned r, g, b;
		assert_int_equal(fscanf(file, "%2x%2x%2x", &r, &g, &b), 3);
		blocks->grey[i / COLUMNS][i % COLUMNS][0] = (uint8_t)b;
		blocks->grey[i / COLUMNS][i % COLUMNS][1] = (uint8_t)g;
		blocks->grey[i / COLUMNS][i % COLUMNS][2] = (uint8_t)r;
	}
	fclose(file);
}

// drawn_alike presses the keys and compares what the viewer then shows.
static void drawn_alike(struct stage *stage, const char *const *keys, const char *name)
{
	static struct blocks window, cairo, golden;
	for (; *keys; keys++)
		assert_true(tb_viewer_key(stage->viewer, *keys));
	blocks_of(stage, true, &window);
	blocks_of(stage, false, &cairo);
	assert_alike(&window, &cairo, name, "window and cairo");
	if (getenv("TB_UPDATE"))
		write_blocks(&window, name);
	read_blocks(&golden, name);
	assert_alike(&window, &golden, name, "window and what it was");
}

static void the_matrix(void **state)
{
	drawn_alike(*state, (const char *const[]){"n", NULL}, "blocks_matrix.txt");
}

static void the_tree(void **state)
{
	drawn_alike(*state, (const char *const[]){"F3", "t", NULL}, "blocks_tree.txt");
}

static void congestion_trees(void **state)
{
	drawn_alike(*state, (const char *const[]){"F6", NULL}, "blocks_roots.txt");
}

static void a_png_that_is_too_large_is_refused(void **state)
{
	(void)state;
	struct tb_picture picture = {0};
	struct tb_error error;
	tb_picture_clear(&picture, 1, 100, (struct tb_colour){.a = 255});
	assert_int_equal(tb_picture_png(&picture, 400, stderr, &error), TB_ECAPACITY);
	assert_string_equal(error.text,
		"the picture would be more than 32767 pixels wide or high: lower "
		"--width, or write an SVG");
	tb_picture_fini(&picture);
}

#define STAGED(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_png_that_is_too_large_is_refused),
		STAGED(the_matrix),
		STAGED(the_tree),
		STAGED(congestion_trees),
	};
	if (!getenv("TB_SOURCE")) {
		puts("skip: TB_SOURCE, the folder of the sources, is not set");
		return 77;
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}

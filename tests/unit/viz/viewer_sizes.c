// The viewer at other sizes and of other runs than in viewer_events.c: every view after a
// few keys and with the pointer at some places, in a narrow, a usual and a wide window,
// of networks with credits and with frames, with dead parts, and of a run that was
// stopped. Of each picture, what it says that the one before did not, the number of its
// items and a hash of all.
#include "../../support/packed_links.h"
#include "../../viz_golden.h"
#include "../../viz_stage.h"

#include <inttypes.h>

#define SHOW 4 // texts that are written out

struct size {
	double w, h;
};
static const struct size sizes[] = {{420, 330}, {900, 520}, {2000, 1150}};

static const char *const views[] = {"F2", "F3", "F4", "F5", "F6", "F7", "F9", "F10"};

// What is done in each view, one after the other.
static const char *const steps[][4] = {{NULL}, {"%", NULL}, {"l", "9", NULL}, {"n", NULL},
	{"n", "n", "Return", NULL}, {".", ".", "]", NULL}, {"+", "Right", "Down", NULL},
	{"t", "c", "o", NULL}};

static uint32_t hash_of(const char *text)
{
	uint32_t hash = 2166136261U;
	for (; *text; text++)
		hash = (hash ^ (unsigned char)*text) * 16777619U;
	return hash;
}

// dump_of is the picture's description, which the caller frees.
static char *dump_of(struct tb_viewer *viewer, size_t *n_items)
{
	char *text = NULL;
	size_t length;
	FILE *stream = open_memstream(&text, &length);
	const struct tb_picture *picture = tb_viewer_settled(viewer);
	assert_non_null(picture);
	tb_picture_dump(picture, stream);
	fclose(stream);
	*n_items = picture->n_items;
	return text;
}

// write_new writes the first lines of texts that were not there before.
static void write_new(FILE *to, const char *before, const char *after)
{
	int n = 0;
	for (const char *line = after; line && *line && n < SHOW;) {
		const char *end = strchr(line, '\n');
		char *copy = strndup(line, end ? (size_t)(end - line) : strlen(line));
		if (strncmp(copy, "text ", 5) == 0 && !strstr(before, copy)) {
			fprintf(to, "%s\n", copy);
			n++;
		}
		free(copy);
		line = end ? end + 1 : NULL;
	}
}

static char *write_picture(
	FILE *to, struct tb_viewer *viewer, char *before, const char *what)
{
	size_t n_items;
	char *after = dump_of(viewer, &n_items);
	fprintf(to, "\n%s: %zu items, %08" PRIx32 "\n", what, n_items, hash_of(after));
	write_new(to, before, after);
	free(before);
	return after;
}

// press presses the keys of a step, and names it.
static void press(
	struct tb_viewer *viewer, const char *view, const char *const *key, char what[48])
{
	int n = snprintf(what, 48, "%s", view);
	for (; *key; key++) {
		tb_viewer_key(viewer, *key);
		n += snprintf(what + n, 48 - (size_t)n, " %s", *key);
	}
}

// point moves the pointer to a place and does one thing there, another at each place.
static void point(struct tb_viewer *viewer, struct size size, int place, char what[48])
{
	double x = size.w * (0.04 + 0.137 * (place % 7)),
	       y = size.h * (0.1 + 0.06 * place);
	snprintf(what, 48, "point %d at %.0f %.0f", place % 5, x, y);
	tb_viewer_pointer(viewer, TB_POINTER_MOVE, x, y);
	if (place % 5 == 1)
		tb_viewer_wheel(viewer, x, y, 2);
	if (place % 5 < 2)
		return;
	tb_viewer_pointer(viewer, TB_POINTER_PRESS, x, y);
	if (place % 5 == 2) {
		tb_viewer_pointer(viewer, TB_POINTER_MOVE, x + 9, y - 4);
		tb_viewer_pointer(viewer, TB_POINTER_MOVE, x + 30, y + 21);
	}
	tb_viewer_pointer(
		viewer, place % 5 == 4 ? TB_POINTER_ADD : TB_POINTER_RELEASE, x, y);
}

#define PLACES 15

static void write_views(FILE *to, struct stage *stage, struct size size)
{
	struct tb_viewer *viewer = stage->viewer;
	char what[48];
	tb_viewer_resize(viewer, size.w, size.h);
	fprintf(to, "\nAt %.0f x %.0f:\n", size.w, size.h);
	char *before = strdup("");
	for (size_t v = 0; v < sizeof views / sizeof *views; v++) {
		tb_viewer_key(viewer, views[v]);
		for (size_t s = 0; s < sizeof steps / sizeof *steps; s++) {
			press(viewer, views[v], steps[s], what);
			before = write_picture(to, viewer, before, what);
		}
		for (int place = 0; place < PLACES; place++) {
			point(viewer, size, place, what);
			before = write_picture(to, viewer, before, what);
		}
		tb_viewer_leave(viewer);
		for (int i = 0; i < 6; i++)
			tb_viewer_key(viewer, "Escape");
		keys(viewer, (const char *const[]){"0", "f", "1", "%", "l", NULL});
	}
	free(before);
}

// look writes every view of a run of the network, changed by SQL, at all sizes.
static void look(
	struct stage *stage, const char *network, const char *sql, const char *name)
{
	char folder[] = "/tmp/tailback-sizes-XXXXXX";
	char *text;
	size_t length;
	FILE *to = open_memstream(&text, &length);
	assert_non_null(mkdtemp(folder));
	assert_int_equal(chdir(folder), 0); // the picture may show the path
	snprintf(stage->path, sizeof stage->path, "run.db");
	viz_store_on(stage->path, network);
	stage_open(stage);
	stage_change(stage, sql);
	fprintf(to, "A run on %s, every view at several sizes.\n", network);
	for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
		tb_viewer_free(stage->viewer);
		stage_open(stage);
		write_views(to, stage, sizes[i]);
	}
	fclose(to);
	tb_viewer_free(stage->viewer);
	stage->viewer = NULL;
	assert_int_equal(unlink("run.db") | chdir("/") | rmdir(folder), 0);
	char file[64];
	snprintf(file, sizeof file, "sizes_%s", name);
	assert_golden(text, file);
	free(text);
}

static void of_a_network_with_credits_and_dead_parts(void **state)
{
	(void)state;
	look(&(struct stage){.viewer = NULL}, "ib-hdr,arity=2,levels=4",
		"INSERT INTO fault VALUES (1, 0, 50, NULL, 0), (1, 1, NULL, 9, "
		"4500000); " LINKS_UNPACKED "UPDATE links SET largest_queue_bytes = "
		"max(0, 9000 - link * 100);" LINKS_PACKED,
		"credits");
}

static void of_frames_in_a_run_that_was_stopped(void **state)
{
	(void)state;
	look(&(struct stage){.viewer = NULL}, "ethernet,arity=4,levels=2",
		"UPDATE run SET complete = 0;" LINKS_UNPACKED
		"UPDATE links SET largest_queue_bytes = link * 100 WHERE bin < "
		"5;" LINKS_PACKED,
		"frames");
}

int main(void)
{
	if (!getenv("TB_SOURCE")) {
		puts("skipped: set TB_SOURCE to the source folder");
		return 77;
	}
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(of_a_network_with_credits_and_dead_parts),
		cmocka_unit_test(of_frames_in_a_run_that_was_stopped),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

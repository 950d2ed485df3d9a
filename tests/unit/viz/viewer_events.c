// What each event changes in the picture: every key, and clicks, double clicks, drags and
// turns of the wheel all over the window, in every view. The items that went and came are
// compared with tests/golden/pictures/events_*.txt: the first of them, their number and a
// hash of all.
#include "../../support/packed_links.h"
#include "../../viz_golden.h"
#include "../../viz_stage.h"

#include <inttypes.h>

#define W    1000
#define H    600
#define SHOW 3 // items of either kind that are written out

struct lines {
	char *text;
	char **list;
	size_t n;
};

static int by_text(const void *one, const void *other)
{
	return strcmp(*(char *const *)one, *(char *const *)other);
}

// describe takes the picture apart into one line per item.
static struct lines describe(struct tb_viewer *viewer)
{
	struct lines lines = {NULL, NULL, 0};
	size_t length;
	FILE *stream = open_memstream(&lines.text, &length);
	const struct tb_picture *picture = tb_viewer_settled(viewer);
	assert_non_null(picture);
	tb_picture_dump(picture, stream);
	fclose(stream);
	lines.list = malloc((picture->n_items + 2) * sizeof *lines.list);
	for (char *line = strtok(lines.text, "\n"); line; line = strtok(NULL, "\n"))
		lines.list[lines.n++] = line;
	return lines;
}

static void drop(struct lines *lines)
{
	free(lines->list);
	free(lines->text);
}

// only_in leaves those lines of `of` that are not in `other`, in their order.
static struct lines only_in(const struct lines *of, const struct lines *other)
{
	struct lines left = {NULL, malloc((of->n + 1) * sizeof(char *)), 0};
	char **sorted = malloc((other->n + 1) * sizeof *sorted);
	memcpy(sorted, other->list, other->n * sizeof *sorted);
	qsort(sorted, other->n, sizeof *sorted, by_text);
	for (size_t i = 0; i < of->n; i++)
		if (!bsearch(&of->list[i], sorted, other->n, sizeof *sorted, by_text))
			left.list[left.n++] = of->list[i];
	free(sorted);
	return left;
}

static uint32_t hash_of(const struct lines *lines)
{
	uint32_t hash = 2166136261U;
	for (size_t i = 0; i < lines->n; i++)
		for (const char *at = lines->list[i]; *at; at++)
			hash = (hash ^ (unsigned char)*at) * 16777619U;
	return hash;
}

static void write_some(FILE *to, char sign, const struct lines *lines)
{
	for (size_t i = 0; i < lines->n && i < SHOW; i++)
		fprintf(to, "%c %s\n", sign, lines->list[i]);
	if (lines->n > SHOW)
		fprintf(to, "%c %zu items, %08" PRIx32 "\n", sign, lines->n,
			hash_of(lines));
}

// A round of events in one view.
struct round {
	struct stage *stage;
	FILE *to;
	const char *view;	   // its key
	const char *const *before; // keys
	double zoom;		   // steps of the wheel before
	const char *other;	   // a store to compare with, or NULL
};

// begin opens a viewer as the round has it.
static struct lines begin(const struct round *round)
{
	struct tb_viewer *viewer;
	tb_viewer_free(round->stage->viewer);
	stage_open(round->stage);
	viewer = round->stage->viewer;
	tb_viewer_resize(viewer, W, H);
	if (round->other)
		assert_int_equal(tb_views_compare(viewer, round->other, 0, NULL), TB_OK);
	tb_viewer_key(viewer, round->view);
	(void)tb_viewer_settled(viewer);
	for (const char *const *key = round->before; key && *key; key++) {
		tb_viewer_key(viewer, *key);
		(void)tb_viewer_settled(viewer);
	}
	if (round->zoom != 0)
		tb_viewer_wheel(viewer, 300, 250, round->zoom);
	tb_viewer_leave(viewer);
	return describe(viewer);
}

// end writes what has changed since.
static void end(const struct round *round, struct lines *before, const char *what)
{
	struct lines after = describe(round->stage->viewer);
	struct lines gone = only_in(before, &after), come = only_in(&after, before);
	if (gone.n + come.n > 0) {
		fprintf(round->to, "\n%s\n", what);
		write_some(round->to, '-', &gone);
		write_some(round->to, '+', &come);
	}
	free(gone.list);
	free(come.list);
	drop(&after);
	drop(before);
}

static void press_keys(const struct round *round, const char *const *keys)
{
	for (; *keys; keys++) {
		char what[48];
		snprintf(what, sizeof what, "key %s", *keys);
		struct lines before = begin(round);
		tb_viewer_key(round->stage->viewer, *keys);
		end(round, &before, what);
	}
}

// press_all presses the first key of every request but those whose picture depends on the
// machine.
static void press_all(const struct round *round)
{
	for (size_t i = 0; i < TB_N_REQUESTS; i++) {
		const char *names = tb_request_rows()[i].keys;
		char key[32];
		const char *const one[] = {key, NULL};
		if (i == TB_REQUEST_OPEN || i == TB_REQUEST_SAVE ||
			i == TB_REQUEST_EXPORT)
			continue;
		snprintf(key, sizeof key, "%.*s", (int)strcspn(names, " "), names);
		press_keys(round, one);
	}
}

enum gesture { HOVER, CLICK, TWICE, DRAG, WHEEL, N_GESTURES, PULL = N_GESTURES };

static void make(struct tb_viewer *viewer, enum gesture gesture, double x, double y)
{
	tb_viewer_pointer(viewer, TB_POINTER_MOVE, x, y);
	if (gesture == WHEEL)
		tb_viewer_wheel(viewer, x, y, 1);
	if (gesture == HOVER || gesture == WHEEL)
		return;
	tb_viewer_pointer(viewer, TB_POINTER_PRESS, x, y);
	if (gesture == PULL) {
		y += 11;
		tb_viewer_pointer(viewer, TB_POINTER_MOVE, x, y);
	}
	if (gesture == DRAG) {
		x += 37;
		y -= 23;
		tb_viewer_pointer(viewer, TB_POINTER_MOVE, x - 20, y + 10);
		tb_viewer_pointer(viewer, TB_POINTER_MOVE, x, y);
	}
	tb_viewer_pointer(viewer, TB_POINTER_RELEASE, x, y);
	if (gesture == TWICE)
		tb_viewer_pointer(viewer, TB_POINTER_DOUBLE, x, y);
}

// point makes a gesture at nx by ny places of a box.
static void point(const struct round *round, enum gesture gesture, struct tb_box box,
	int nx, int ny)
{
	static const char *const names[] = {
		"hover", "click", "double", "drag", "wheel", "pull"};
	for (int i = 0; i < nx * ny; i++) {
		char what[48];
		double x = round->zoom != 0 ? box.x + (i % nx + 0.41) * box.w / nx
					    : box.x + (i % nx + 0.53) * box.w / nx;
		double y = box.y + (i / nx + 0.47) * box.h / ny;
		snprintf(what, sizeof what, "%s %.0f %.0f", names[gesture], x, y);
		struct lines before = begin(round);
		make(round->stage->viewer, gesture, x, y);
		if (gesture != HOVER)
			tb_viewer_leave(round->stage->viewer);
		end(round, &before, what);
	}
}

static const struct tb_box of_main = {0, 92, 680, 330};
static const struct tb_box of_lists = {690, 60, 300, 360};
static const struct tb_box of_bars = {992, 92, 6, 330}; // that show what is scrolled
static const struct tb_box of_time = {0, 430, 1000, 165};

static const char *const moves[] = {"Left", "Right", "Up", "Down", "+", "-", "f",
	"Return", "Escape", "j", "k", "n", "p", ".", ",", "<", ">", NULL};

// play_view makes all events in a view, fresh and zoomed and with a link selected.
static void play_view(struct stage *stage, const char *key, const char *name)
{
	static const char *const selected[] = {"n", "n", NULL};
	static const char *const narrow[] = {".", ".", "]", NULL};
	char *text;
	size_t length;
	FILE *to = open_memstream(&text, &length);
	assert_non_null(to);
	struct round round = {.stage = stage, .to = to, .view = key};
	fprintf(to, "The view of %s, what each event takes away and adds.\n", key);
	press_all(&round);
	for (int gesture = 0; gesture < N_GESTURES; gesture++)
		point(&round, (enum gesture)gesture, of_main, 5, 4);
	fprintf(to, "\nZoomed in:\n");
	round.zoom = 4;
	press_keys(&round, moves);
	point(&round, DRAG, of_main, 2, 2);
	point(&round, WHEEL, of_main, 2, 2);
	point(&round, HOVER, of_main, 3, 3);
	fprintf(to, "\nThe second link selected:\n");
	round.zoom = 0;
	round.before = selected;
	press_keys(&round, moves);
	fprintf(to, "\nA window of two bins:\n");
	round.before = narrow;
	press_keys(&round, moves);
	point(&round, CLICK, of_main, 3, 2);
	fclose(to);
	char file[64];
	snprintf(file, sizeof file, "events_%s", name);
	assert_golden(text, file);
	free(text);
}

static void in_the_matrix(void **state)
{
	play_view(*state, "F2", "matrix");
}

static void in_the_tree(void **state)
{
	play_view(*state, "F3", "tree");
}

static void in_the_table_of_links(void **state)
{
	play_view(*state, "F4", "links");
}

static void in_node_to_node(void **state)
{
	play_view(*state, "F5", "flows");
}

static void in_congestion_trees(void **state)
{
	play_view(*state, "F6", "roots");
}

static void in_blame(void **state)
{
	play_view(*state, "F7", "blame");
}

static void in_findings(void **state)
{
	play_view(*state, "F9", "findings");
}

static void in_the_levels(void **state)
{
	play_view(*state, "F10", "levels");
}

// The list, the panel and the strip of time, beside the matrix.
static void in_the_other_panes(void **state)
{
	static const char *const selected[] = {"n", NULL};
	static const char *const narrow[] = {".", ".", "]", "]", NULL};
	static const char *const steps[] = {".", ",", "<", ">", "[", "]", "Home", "End",
		"0", "Space", "Escape", NULL};
	char *text;
	size_t length;
	FILE *to = open_memstream(&text, &length);
	struct round round = {.stage = *state, .to = to, .view = "F2"};
	fprintf(to, "The other panes, what each event takes away and adds.\n");
	for (int gesture = 0; gesture < N_GESTURES; gesture++) {
		point(&round, (enum gesture)gesture, of_lists, 3, 6);
		point(&round, (enum gesture)gesture, of_time, 5, 4);
		point(&round, (enum gesture)gesture, (struct tb_box){0, 0, W, 92}, 6, 2);
	}
	point(&round, PULL, of_bars, 1, 12);
	fprintf(to, "\nThe first link selected:\n");
	round.before = selected;
	point(&round, PULL, of_bars, 1, 12);
	for (int gesture = 0; gesture < N_GESTURES; gesture++)
		point(&round, (enum gesture)gesture, of_lists, 2, 8);
	fprintf(to, "\nA window of four bins:\n");
	round.before = narrow;
	press_keys(&round, steps);
	for (int gesture = 0; gesture < N_GESTURES; gesture++)
		point(&round, (enum gesture)gesture, of_time, 9, 3);
	fclose(to);
	assert_golden(text, "events_panes");
	free(text);
}

// write_panel writes the panel, and what is copied of it, after some keys; "/..."
// searches.
static void write_panel(FILE *to, struct stage *stage, const char *const *keys)
{
	struct tb_viewer *viewer = stage->viewer;
	tb_viewer_free(viewer);
	stage_open(stage);
	viewer = stage->viewer;
	tb_viewer_resize(viewer, W, 1200);
	fprintf(to, "\nafter");
	for (; *keys; keys++) {
		fprintf(to, " '%s'", *keys);
		if (**keys == '/')
			search(viewer, *keys + 1);
		else
			tb_viewer_key(viewer, *keys);
		(void)tb_viewer_settled(viewer);
	}
	fprintf(to, "\n");
	const struct tb_picture *picture = tb_viewer_settled(viewer);
	struct lines lines = describe(viewer);
	for (size_t i = 0; i < picture->n_items && i + 1 < lines.n; i++) {
		struct tb_box box = picture->items[i].box;
		if (box.x >= 670 && box.y > 400 && box.y < 1020)
			fprintf(to, "%s\n", lines.list[i + 1]);
	}
	char *copied = tb_viewer_copy(viewer);
	fprintf(to, "%s", copied);
	free(copied);
	drop(&lines);
}

// At the hot link headers wait for two roots, and for the second one longer.
#define SECOND_ROOT                                                                      \
	"INSERT INTO tree_bin SELECT run, bin, root + 5, link, wait_ps * 2, error_ps "   \
	"FROM tree_bin WHERE link = 6"

static void in_the_panel(void **state)
{
	struct stage *stage = *state;
	static const char *const ways[][9] = {{"."}, {"n"}, {"n", ".", "."},
		{"/switch 0.1"}, {"/switch 1.2", "."}, {"/node 5"}, {"/node 9", ".", "]"},
		{"/link 0.1:4"}, {"/link node 2"}, {"/link node 2", ".", "]"},
		{"/job melt"}, {"/job io", "."}, {"/node 1", "x", "/node 9"},
		{"/node 1", "x", "/switch 1.0"}, {"n", "k", "Return"},
		{"n", "k", "Return", "j", "Return"}, {"n", "j", "j"},
		{"/link node 2", "j", "j", "j", "Return"},
		{"/link node 2", "k", "Return", "Escape"}, {"5", "n"}, {"4", "n", "n"}};
	char *text;
	size_t length;
	FILE *to = open_memstream(&text, &length);
	stage_change(stage, SECOND_ROOT);
	fprintf(to, "The panel of what is selected, and its text as it is copied.\n");
	for (size_t i = 0; i < sizeof ways / sizeof *ways; i++)
		write_panel(to, stage, ways[i]);
	fclose(to);
	assert_golden(text, "events_panel");
	free(text);
}

// Two stores of the same network, of which the second waits 5 us more at a link.
static void in_two_runs(void **state)
{
	struct stage *stage = *state;
	char folder[] = "/tmp/tailback-events-XXXXXX", mine[64];
	snprintf(mine, sizeof mine, "%s", stage->path);
	assert_non_null(mkdtemp(folder));
	assert_int_equal(chdir(folder), 0); // the picture shows the paths
	snprintf(stage->path, sizeof stage->path, "b.db");
	viz_store(stage->path);
	stage_change(stage, LINKS_UNPACKED TOTALS_UNPACKED
		"UPDATE links SET came_by_ps = came_by_ps + 5000000 WHERE "
		"link = 10 AND bin = 3;" LINKS_PACKED
		"UPDATE totals SET came_by_ps = came_by_ps + "
		"5000000 WHERE link = 10;" TOTALS_PACKED);
	snprintf(stage->path, sizeof stage->path, "a.db");
	viz_store(stage->path);
	static const char *const narrow[] = {".", ".", "]", NULL};
	char *text;
	size_t length;
	FILE *to = open_memstream(&text, &length);
	struct round round = {.stage = stage, .to = to, .view = "F8", .other = "b.db"};
	fprintf(to, "Two runs, what each event takes away and adds.\n");
	struct lines first = begin(&round);
	for (size_t i = 0; i < first.n; i++)
		fprintf(to, "%s\n", first.list[i]);
	drop(&first);
	press_all(&round);
	for (int gesture = 0; gesture < N_GESTURES; gesture++)
		point(&round, (enum gesture)gesture, of_main, 6, 4);
	fprintf(to, "\nZoomed in:\n");
	round.zoom = 4;
	press_keys(&round, moves);
	point(&round, DRAG, of_main, 3, 2);
	point(&round, WHEEL, of_main, 3, 2);
	fprintf(to, "\nA window of two bins:\n");
	round.zoom = 0;
	round.before = narrow;
	press_keys(&round, moves);
	fclose(to);
	assert_int_equal(unlink("a.db") | unlink("b.db") | chdir("/") | rmdir(folder), 0);
	snprintf(stage->path, sizeof stage->path, "%s", mine);
	assert_golden(text, "events_pair");
	free(text);
}

int main(void)
{
	if (!getenv("TB_SOURCE")) {
		puts("set TB_SOURCE to the source folder");
		return 77;
	}
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(in_the_matrix, set_up, tear_down),
		cmocka_unit_test_setup_teardown(in_the_tree, set_up, tear_down),
		cmocka_unit_test_setup_teardown(in_the_table_of_links, set_up, tear_down),
		cmocka_unit_test_setup_teardown(in_node_to_node, set_up, tear_down),
		cmocka_unit_test_setup_teardown(in_congestion_trees, set_up, tear_down),
		cmocka_unit_test_setup_teardown(in_blame, set_up, tear_down),
		cmocka_unit_test_setup_teardown(in_findings, set_up, tear_down),
		cmocka_unit_test_setup_teardown(in_the_levels, set_up, tear_down),
		cmocka_unit_test_setup_teardown(in_the_other_panes, set_up, tear_down),
		cmocka_unit_test_setup_teardown(in_the_panel, set_up, tear_down),
		cmocka_unit_test_setup_teardown(in_two_runs, set_up, tear_down),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

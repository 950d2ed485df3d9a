// Random walks through the viewer: each view of six recorded runs, and two runs side by
// side, at a size of its own, through keys, clicks, drags, turns of the wheel and
// searches. The pictures after all events, what is copied and what is exported are one
// hash a walk in tests/golden/pictures/viewer_walk.txt. TB_WALK=1 writes each event with
// its hash to standard error: the first one that differs between two builds tells where
// to look.
#include "../../support/timeline_made.h"
#include "../../viz_golden.h"
#include "../../viz_stage.h"

#include "random.h"

#include <inttypes.h>

#define EVENTS 90

// Two jobs that compute, send to one rank and wait for each other.
static const char job_text[] =
	"num_ranks 4\nrank 0 {\na: recv 40000b from 1\nb: recv 40000b from 2\n"
	"c: recv 20000b from 3\nd: calc 3000\nd requires a\nd requires b\nd requires c\n"
	"e: send 8b to 1\ne requires d\n}\nrank 1 {\na: calc 2000\nb: send 40000b to 0\n"
	"b requires a\nc: recv 8b from 0\nd: calc 500\nd requires c\n}\n"
	"rank 2 {\na: send 40000b to 0\nb: calc 9000\nb requires a\n}\n"
	"rank 3 {\na: calc 1000\nb: send 20000b to 0\nb requires a\n}\n";

static const char edges_text[] =
	"leaf0 1 a 1\nleaf0 2 b 1\nleaf0 3 io 1\nleaf0 4 spine0 1\nleaf0 5 spine1 1\n"
	"leaf1 1 n2 1\nleaf1 2 n10 1\nleaf1 3 \"n2 mlx5_1\" 1\nleaf1 4 spine0 2\n"
	"leaf1 5 spine1 2\nleaf2 1 c 1\nleaf2 2 d 1\nleaf2 3 spine0 3\n";

// A run that is recorded: of these two jobs, or of a trace.
struct scene {
	const char *network, *trace, *fault, *slow;
};
static const struct scene scenes[] = {
	{"ib-hdr,arity=4,levels=2", NULL, NULL, "4=1GB/s"},
	{"qsnet,levels=2", NULL, "link=0.0:4@20us", NULL},
	{"ethernet,arity=4,levels=2,rate=1Gbit/s,queue=30000", NULL, NULL, NULL},
	{"ib-ndr,arity=4,levels=2", "job.tbt", NULL, NULL},
	{"roce-100,arity=8,levels=3,rails=2", NULL, NULL, NULL},
	{"walk.edges,preset=ib-hdr", NULL, NULL, NULL},
};

static void record(const struct scene *scene, const char *store)
{
	static const char *const jobs[] = {"walk.goal,name=first",
		"walk.goal,name=second,start=4us,placement=stride:2"};
	const char *const traces[] = {scene->trace};
	const struct tb_recording_options options = {
		.workload = {.traces = traces,
			.n_traces = scene->trace ? 1 : 0,
			.jobs = jobs,
			.n_jobs = scene->trace ? 0 : 2},
		.network = scene->network,
		.output = store,
		.faults = &scene->fault,
		.n_faults = scene->fault ? 1 : 0,
		.slow = &scene->slow,
		.n_slow = scene->slow ? 1 : 0,
		.alone = true,
		.seed = 1};
	struct made made;
	assert_true(made_record(&made, &options));
	made_drop(&made);
}

struct walk {
	struct tb_viewer *viewer;
	struct tb_random random;
	double w, h, x, y;
	uint32_t hash;
	size_t n_items;
};

static uint32_t below(struct walk *walk, uint32_t bound)
{
	return (uint32_t)tb_random_below(&walk->random, bound);
}

static void add(struct walk *walk, const char *text)
{
	for (; *text; text++)
		walk->hash = (walk->hash ^ (unsigned char)*text) * 16777619U;
}

// press_any presses a key of any request but those that leave the view or wait for what
// depends on the machine, and leaves a prompt again.
static void press_any(struct walk *walk, char what[64])
{
	static const char *const words[] = {
		"node 3", "1.0", "second", "nothing", "0.1:4", "a", "n2", "leaf1:4"};
	enum tb_request_name name = (enum tb_request_name)below(walk, TB_N_REQUESTS);
	char keys_of[48], *key = keys_of, *next;
	snprintf(keys_of, sizeof keys_of, "%s", tb_request_rows()[name].keys);
	while ((next = strchr(key, ' ')) && below(walk, 3) > 0)
		key = next + 1;
	key[strcspn(key, " ")] = '\0';
	snprintf(what, 64, "key %s", key);
	switch ((int)name) {
	case TB_REQUEST_VIEW:
	case TB_REQUEST_VIEW_NEXT:
	case TB_REQUEST_OPEN:
	case TB_REQUEST_RUNS:
	case TB_REQUEST_COMPARE:
	case TB_REQUEST_SAVE:
	case TB_REQUEST_PROVE:
	case TB_REQUEST_QUIT:
		return;
	case TB_REQUEST_PLAY:
		tb_viewer_key(walk->viewer, key);
		tb_viewer_tick(walk->viewer, 0.3);
		tb_viewer_key(walk->viewer, key);
		return;
	default:
		tb_viewer_key(walk->viewer, key);
	}
	if (tb_viewer_typing(walk->viewer)) {
		for (const char *at = words[below(walk, 8)]; *at; at++)
			tb_viewer_key(walk->viewer,
				*at == ' ' ? "Space" : (const char[]){*at, '\0'});
		tb_viewer_key(walk->viewer, below(walk, 3) > 0 ? "Return" : "Escape");
		if (tb_viewer_typing(walk->viewer))
			tb_viewer_key(walk->viewer, "Escape");
	}
}

static void point_anywhere(struct walk *walk, char what[64])
{
	struct tb_viewer *viewer = walk->viewer;
	double x = walk->x, y = walk->y;
	uint32_t kind = below(walk, 8);
	walk->x = below(walk, (uint32_t)walk->w) + 0.5;
	walk->y = below(walk, (uint32_t)walk->h) + 0.5;
	snprintf(what, 64, "pointer %" PRIu32 " %.1f %.1f", kind, walk->x, walk->y);
	tb_viewer_pointer(viewer, TB_POINTER_MOVE, walk->x, walk->y);
	switch (kind) {
	case 0:
	case 1:
		return; // rests there
	case 2:
		tb_viewer_wheel(viewer, walk->x, walk->y, below(walk, 2) ? 1 : -1);
		return;
	case 3: // a drag from where it was
		tb_viewer_pointer(viewer, TB_POINTER_PRESS, x, y);
		tb_viewer_pointer(viewer, TB_POINTER_MOVE, (x + walk->x) / 2, walk->y);
		tb_viewer_pointer(viewer, TB_POINTER_MOVE, walk->x, walk->y);
		tb_viewer_pointer(viewer, TB_POINTER_RELEASE, walk->x, walk->y);
		break;
	case 4:
		tb_viewer_pointer(viewer, TB_POINTER_PRESS, walk->x, walk->y);
		tb_viewer_pointer(viewer, TB_POINTER_ADD, walk->x, walk->y);
		break;
	default:
		tb_viewer_pointer(viewer, TB_POINTER_PRESS, walk->x, walk->y);
		tb_viewer_pointer(viewer, TB_POINTER_RELEASE, walk->x, walk->y);
		if (kind == 5)
			tb_viewer_pointer(viewer, TB_POINTER_DOUBLE, walk->x, walk->y);
	}
	if (below(walk, 2))
		tb_viewer_leave(viewer);
}

static void step(struct walk *walk)
{
	char what[64] = "", *text = NULL;
	size_t length;
	const struct tb_picture *picture;
	if (below(walk, 100) < 55)
		press_any(walk, what);
	else
		point_anywhere(walk, what);
	FILE *stream = open_memstream(&text, &length);
	assert_non_null(stream);
	picture = tb_viewer_settled(walk->viewer);
	assert_non_null(picture);
	tb_picture_dump(picture, stream);
	if (below(walk, 8) == 0)
		tb_viewer_export(walk->viewer, stream);
	fclose(stream);
	add(walk, text);
	free(text);
	text = tb_viewer_copy(walk->viewer);
	assert_non_null(text);
	add(walk, text);
	free(text);
	walk->n_items += picture->n_items;
	if (getenv("TB_WALK"))
		fprintf(stderr, "%s: %zu items, %08" PRIx32 "\n", what, picture->n_items,
			walk->hash);
}

static void take(
	FILE *to, const char *store, const char *other, const char *view, uint64_t seed)
{
	static const double sizes[][2] = {{1000, 600}, {640, 480}, {1500, 900}};
	struct walk walk = {.hash = 2166136261U};
	struct tb_error error;
	tb_random_init(&walk.random, seed, 0);
	walk.w = sizes[seed % 3][0];
	walk.h = sizes[seed % 3][1];
	viz_check(tb_viewer_new(&walk.viewer, tb_views, store, 0, &error), &error);
	tb_viewer_resize(walk.viewer, walk.w, walk.h);
	if (other)
		viz_check(tb_views_compare(walk.viewer, other, 0, &error), &error);
	tb_viewer_key(walk.viewer, view);
	if (getenv("TB_WALK"))
		fprintf(stderr, "%s of %s:\n", view, store);
	for (int i = 0; i < EVENTS; i++)
		step(&walk);
	fprintf(to, "%s of %s%s%s: %d events, %zu items, %08" PRIx32 "\n", view, store,
		other ? " and " : "", other ? other : "", EVENTS, walk.n_items,
		walk.hash);
	tb_viewer_free(walk.viewer);
}

static void walks_lead_where_they_did(void **state)
{
	static const char *const views[] = {
		"F2", "F3", "F4", "F5", "F6", "F7", "F9", "F10", "F11"};
	enum {
		N_VIEWS = sizeof views / sizeof *views,
		N_SCENES = sizeof scenes / sizeof *scenes
	};
	char folder[] = "/tmp/tailback-walk-XXXXXX", store[N_SCENES][16], *text,
	     trace[512];
	size_t length;
	FILE *to = open_memstream(&text, &length), *job;
	(void)state;
	assert_non_null(mkdtemp(folder));
	assert_int_equal(chdir(folder), 0); // pictures have the paths
	job = fopen("walk.goal", "w");
	assert_non_null(job);
	fputs(job_text, job);
	assert_int_equal(fclose(job), 0);
	job = fopen("walk.edges", "w");
	assert_non_null(job);
	fputs(edges_text, job);
	assert_int_equal(fclose(job), 0);
	snprintf(trace, sizeof trace, "%s/tests/data/recorded/job.tbt",
		getenv("TB_SOURCE"));
	assert_int_equal(symlink(trace, "job.tbt"), 0);
	for (unsigned i = 0; i < N_SCENES; i++) {
		snprintf(store[i], sizeof store[i], "scene%u.db", i);
		record(&scenes[i], store[i]);
		for (unsigned k = 0; k < N_VIEWS; k++)
			take(to, store[i], NULL, views[k], 100 * i + k);
	}
	for (unsigned i = 0; i < 3; i++)
		take(to, store[0], store[i], "F8", 1000 + i);
	fclose(to);
	for (unsigned i = 0; i < N_SCENES; i++)
		assert_int_equal(unlink(store[i]), 0);
	assert_int_equal(unlink("walk.goal") | unlink("walk.edges") | unlink("job.tbt") |
				 chdir("/") | rmdir(folder),
		0);
	assert_golden(text, "viewer_walk");
	free(text);
}

int main(void)
{
	if (!getenv("TB_SOURCE")) {
		puts("set TB_SOURCE to the source folder");
		return 77;
	}
	const struct CMUnitTest tests[] = {cmocka_unit_test(walks_lead_where_they_did)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

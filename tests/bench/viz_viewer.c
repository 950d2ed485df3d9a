// The viewer on 64, 4096 and 65,536 nodes at 1920x1080, drawn in software: time to the
// first picture of the window and of each view, time from a click to its picture, frame
// rates while panning, zooming and playing bins that are read for the first time and
// again, and memory. With arguments: of these scenes, or of the newest runs of these
// stores. For instructions.sh, `--make SCENE FILE` makes the store of a scene, and
// `--once first_picture FILE`, or `play_frames`, does that alone and prints how many
// pictures it drew.
#include "network_open.h"
#include "preset.h"
#include "screen.h"
#include "store.h"
#include "views.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define FRAMES_COUNTED 20

// A run to view. In each bin headers wait on every `spread`th link, on others in turn.
struct scene {
	const char *name, *preset;
	uint32_t n_bins, spread;
	int n_frames;
};

struct bench {
	const struct scene *scene;
	struct tb_viewer *viewer;
	struct tb_screen *screen;
};

// clock_s returns CPU time: nothing here sleeps, and other load on the machine must not
// count.
static double clock_s(clockid_t clock)
{
	struct timespec now;
	clock_gettime(clock, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

// now_s counts both threads, own_s only the one that draws.
static double now_s(void)
{
	return clock_s(CLOCK_PROCESS_CPUTIME_ID);
}

static double own_s(void)
{
	return clock_s(CLOCK_THREAD_CPUTIME_ID);
}

static void check(int status, const struct tb_error *error)
{
	char text[1024];
	if (status == TB_OK)
		return;
	fprintf(stderr, "%s\n", tb_error_format(error, text, (int)sizeof text));
	exit(1);
}

static void record(
	const struct scene *scene, struct tb_observer observer, uint32_t n_links)
{
	struct tb_link_sample *samples = calloc(n_links, sizeof *samples);
	if (observer.start(observer.context, TB_PS_PER_US))
		exit(1);
	for (uint32_t bin = 0; bin < scene->n_bins; bin++) {
		uint32_t n = 0;
		for (uint32_t link = bin % scene->spread; link < n_links;
			link += scene->spread)
			samples[n++] = (struct tb_link_sample){.link = {link},
				.n_packets = 1,
				.n_blocked = 1,
				.bytes = 378,
				.busy_ps = 378000,
				.came_by_ps = 1 + link * UINT64_C(7919) % 500000,
				.longest_wait_ps =
					1 + (link * UINT64_C(104729) + bin * 31) % 90000};
		if (observer.bin(observer.context, bin, samples, n))
			exit(1);
	}
	free(samples);
}

static void make_store(const struct scene *scene, const char *path)
{
	struct tb_error error;
	struct tb_store *store;
	struct tb_network *network;
	struct tb_network_params params;
	const struct tb_run_config config = {
		.input_name = "bench", .input_kind = "job", .time_scale = 1};
	const struct tb_run_result result = {
		.complete = true, .simulated_ps = scene->n_bins * TB_PS_PER_US};
	check(tb_network_preset(&params, scene->preset, &error), &error);
	check(tb_network_open(&network,
		      &(struct tb_network_description){.params = &params}, &error),
		&error);
	check(tb_store_create(&store, path, &error), &error);
	check(tb_store_begin_run(store, network, &config, &error), &error);
	record(scene, tb_store_observer(store), tb_network_n_links(network));
	check(tb_store_end_run(store, &result, &error), &error);
	tb_store_free(store);
	tb_network_free(network);
}

static void draw(struct bench *bench)
{
	const struct tb_picture *picture = tb_viewer_picture(bench->viewer);
	if (!picture)
		exit(1);
	tb_screen_draw(bench->screen, picture);
}

static void print(
	const struct bench *bench, const char *what, double value, const char *unit)
{
	printf("viewer_%s_%s,%.1f,%s\n", bench->scene->name, what, value, unit);
}

// frames measures n_frames of what `step` does to the viewer. The reader works beside the
// drawing, so a frame costs what the busier of the two threads does for it.
typedef void step_function(struct tb_viewer *viewer, int frame);
static void frames(struct bench *bench, const char *name, step_function *step)
{
	int n = bench->scene->n_frames;
	double begin = now_s(), own_begin = own_s();
	for (int frame = 0; frame < n; frame++) {
		step(bench->viewer, frame);
		draw(bench);
	}
	double own = own_s() - own_begin, reader = now_s() - begin - own;
	print(bench, name, n / (own > reader ? own : reader), "frames/s");
}

static void pan(struct tb_viewer *viewer, int frame)
{
	tb_viewer_key(viewer, frame % 2 ? "a" : "d");
}

static void zoom(struct tb_viewer *viewer, int frame)
{
	tb_viewer_wheel(viewer, 700, 400, frame % 20 < 10 ? 1 : -1);
}

static void play(struct tb_viewer *viewer, int frame)
{
	(void)frame;
	tb_viewer_key(viewer, ".");
}

static void play_back(struct tb_viewer *viewer, int frame)
{
	(void)frame;
	tb_viewer_key(viewer, ",");
}

// frames_of_play leaves stores out: at the end of a short run the window stands still.
static void frames_of_play(struct bench *bench, const char *name, step_function *step)
{
	if (bench->scene->n_bins > 0)
		frames(bench, name, step);
}

static void keep_worst(double *worst_s, double begin_s)
{
	double took_s = own_s() - begin_s;
	*worst_s = took_s > *worst_s ? took_s : *worst_s;
}

// answer measures the slowest of some clicks at different places, up to the drawn
// picture.
static void answer(struct bench *bench, const char *name)
{
	double worst_s = 0;
	for (int i = 0; i < 20; i++) {
		double begin = own_s(), x = 150 + 50 * i, y = 150 + 30 * i;
		tb_viewer_pointer(bench->viewer, TB_POINTER_PRESS, x, y);
		tb_viewer_pointer(bench->viewer, TB_POINTER_RELEASE, x, y);
		draw(bench);
		keep_worst(&worst_s, begin);
	}
	print(bench, name, worst_s * 1000, "ms");
	tb_viewer_key(bench->viewer, "Escape");
}

static const struct {
	const char *key, *name;
} views[] = {{"F3", "tree"}, {"F4", "links"}, {"F5", "flows"}, {"F6", "roots"},
	{"F7", "blame"}, {"F9", "findings"}, {"F10", "levels"}, {"F11", "ranks"},
	{"F2", "matrix"}};

// visit measures each view's first picture, all that is read for it included; how long
// the drawing thread is at it at most without a break, from the key or until the answer
// is shown; and its slowest click.
static void visit(struct bench *bench)
{
	char name[64];
	for (size_t i = 0; i < sizeof views / sizeof *views; i++) {
		double worst_s = 0, begin = now_s(), own_begin = own_s();
		tb_viewer_set_patience(bench->viewer, 0);
		tb_viewer_key(bench->viewer, views[i].key);
		draw(bench);
		keep_worst(&worst_s, own_begin);
		while (tb_viewer_await(bench->viewer)) {
			own_begin = own_s();
			draw(bench);
			keep_worst(&worst_s, own_begin);
		}
		double took_s = now_s() - begin;
		tb_viewer_set_patience(bench->viewer, -1);
		snprintf(name, sizeof name, "%s_first_picture", views[i].name);
		print(bench, name, took_s * 1000, "ms");
		snprintf(name, sizeof name, "%s_longest_step", views[i].name);
		print(bench, name, worst_s * 1000, "ms");
		snprintf(name, sizeof name, "%s_click", views[i].name);
		answer(bench, name);
	}
}

// first_picture opens a store and draws it. It is found by its name, as play_frames is:
// callgrind counts what they do.
int first_picture(struct bench *bench, const char *path);
int first_picture(struct bench *bench, const char *path)
{
	struct tb_error error;
	check(tb_viewer_new(&bench->viewer, tb_views, path, 0, &error), &error);
	tb_viewer_resize(bench->viewer, 1920, 1080);
	draw(bench);
	return 1;
}

int play_frames(struct bench *bench, const char *path);
int play_frames(struct bench *bench, const char *path)
{
	(void)path;
	for (int i = 0; i < FRAMES_COUNTED; i++) {
		play(bench->viewer, i);
		draw(bench);
	}
	return FRAMES_COUNTED;
}

static void look(const struct scene *scene, const char *path)
{
	struct tb_error error;
	struct rusage usage;
	struct bench bench = {.scene = scene};
	setenv("SDL_VIDEODRIVER", "dummy", 1);
	check(tb_screen_new(&bench.screen, 1920, 1080, 1, &error), &error);
	double begin = now_s();
	(void)first_picture(&bench, path);
	print(&bench, "first_picture", (now_s() - begin) * 1000, "ms");
	answer(&bench, "click_to_picture");
	visit(&bench);
	frames(&bench, "zoom", zoom);
	tb_viewer_key(bench.viewer, "f");
	tb_viewer_wheel(bench.viewer, 700, 400, 2);
	frames(&bench, "pan", pan);
	tb_viewer_key(bench.viewer, "f");
	frames_of_play(&bench, "play", play);
	frames_of_play(&bench, "play_again", play_back);
	tb_viewer_key(bench.viewer, "F3");
	frames(&bench, "tree_zoom", zoom);
	tb_viewer_key(bench.viewer, "f");
	frames_of_play(&bench, "tree_play", play);
	tb_viewer_key(bench.viewer, "F4");
	frames_of_play(&bench, "links_play", play_back);
	tb_viewer_key(bench.viewer, "F2");
	begin = now_s();
	while (tb_viewer_preload(bench.viewer))
		;
	print(&bench, "preload", now_s() - begin, "s");
	getrusage(RUSAGE_SELF, &usage);
	print(&bench, "memory", (double)usage.ru_maxrss / 1024, "MB");
	tb_viewer_free(bench.viewer);
	tb_screen_free(bench.screen);
}

// look_apart views a store in a process of its own, so that its memory is the viewer's
// alone.
static int look_apart(const struct scene *scene, const char *path)
{
	int status = 1;
	fflush(stdout);
	pid_t child = fork();
	if (child == 0) {
		look(scene, path);
		exit(0);
	}
	if (child > 0)
		waitpid(child, &status, 0);
	return status != 0;
}

// run makes the scene's store and views it.
static int run(const struct scene *scene)
{
	char path[] = "/tmp/tailback-bench-XXXXXX";
	int descriptor = mkstemp(path), status = 1;
	if (descriptor < 0)
		return 1;
	close(descriptor);
	unlink(path);
	pid_t child = fork();
	if (child == 0) {
		make_store(scene, path);
		exit(0);
	}
	waitpid(child, &status, 0);
	if (status == 0)
		status = look_apart(scene, path);
	unlink(path);
	return status != 0;
}

// run_store views a store as the scene named by its file without folder and ending.
static int run_store(const char *path)
{
	const char *slash = strrchr(path, '/');
	char *name = strdup(slash ? slash + 1 : path);
	if (!name)
		return 1;
	name[strcspn(name, ".")] = '\0';
	const struct scene scene = {.name = name, .n_frames = 60};
	int status = look_apart(&scene, path);
	free(name);
	return status;
}

static const struct scene scenes[] = {
	{"64", "qsnet", 1000, 3, 200},
	{"4096", "qsnet,levels=6", 1000, 3, 200},
	{"65536_wide", "qsnet,arity=16,levels=4", 100, 15, 60},
	{"65536", "qsnet,levels=8", 100, 30, 60},
};

static const struct scene *find_scene(const char *name)
{
	for (size_t i = 0; i < sizeof scenes / sizeof *scenes; i++)
		if (strcmp(scenes[i].name, name) == 0)
			return &scenes[i];
	return NULL;
}

// run_argument views a scene by its name, or else a store.
static int run_argument(const char *name)
{
	const struct scene *scene = find_scene(name);
	return scene ? run(scene) : run_store(name);
}

static int run_make(const char *name, const char *path)
{
	const struct scene *scene = find_scene(name);
	if (scene)
		make_store(scene, path);
	return !scene;
}

static int run_once(const char *what, const char *path)
{
	struct tb_error error;
	struct bench bench = {.scene = NULL};
	bool plays = strcmp(what, "play_frames") == 0;
	setenv("SDL_VIDEODRIVER", "dummy", 1);
	check(tb_screen_new(&bench.screen, 1920, 1080, 1, &error), &error);
	int n = first_picture(&bench, path);
	if (plays)
		tb_viewer_key(bench.viewer, "[");
	if (plays)
		n = play_frames(&bench, path);
	printf("%d\n", n);
	tb_viewer_free(bench.viewer);
	tb_screen_free(bench.screen);
	return 0;
}

int main(int argc, char **argv)
{
	static const struct scene smoke = {"smoke", "qsnet,levels=2", 10, 3, 3};
	if (argc > 1 && strcmp(argv[1], "--smoke") == 0)
		return run(&smoke);
	if (argc == 4 && strcmp(argv[1], "--make") == 0)
		return run_make(argv[2], argv[3]);
	if (argc == 4 && strcmp(argv[1], "--once") == 0)
		return run_once(argv[2], argv[3]);
	for (int i = 1; i < argc; i++)
		if (run_argument(argv[i]))
			return 1;
	for (size_t i = 0; argc == 1 && i < sizeof scenes / sizeof *scenes; i++)
		if (run(&scenes[i]))
			return 1;
	return 0;
}

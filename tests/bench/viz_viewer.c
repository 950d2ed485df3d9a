// The viewer on 4096 nodes at 1920x1080, drawn in software: to the first picture, and the
// rate of frames while panning, zooming and playing.
#include "screen.h"
#include "store.h"
#include "viewer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

struct bench {
	struct tb_viewer *viewer;
	struct tb_screen *screen;
	int n_frames;
};

static double now_s(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static void check(int status, const struct tb_error *error)
{
	char text[1024];
	if (status == TB_OK)
		return;
	fprintf(stderr, "%s\n", tb_error_format(error, text, (int)sizeof text));
	exit(1);
}

// tell fills the bins: every third link waits in each, others in turn.
static void tell(struct tb_observer observer, uint32_t n_links, uint32_t n_bins)
{
	struct tb_link_sample *samples = calloc(n_links, sizeof *samples);
	if (observer.start(observer.context, TB_PS_PER_US))
		exit(1);
	for (uint32_t bin = 0; bin < n_bins; bin++) {
		uint32_t n = 0;
		for (uint32_t link = bin % 3; link < n_links; link += 3)
			samples[n++] = (struct tb_link_sample){.link = {link},
				.n_packets = 1,
				.n_blocked = 1,
				.bytes = 378,
				.busy_ps = 378000,
				.wait_ps = 1 + link * UINT64_C(7919) % 500000,
				.longest_wait_ps =
					1 + (link * UINT64_C(104729) + bin * 31) % 90000};
		if (observer.bin(observer.context, bin, samples, n))
			exit(1);
	}
	free(samples);
}

static void make_store(const char *path, const char *preset, uint32_t n_bins)
{
	struct tb_error error;
	struct tb_store *store;
	struct tb_network *network;
	struct tb_network_params params;
	const struct tb_run_config config = {
		.input_name = "bench", .input_kind = "job", .time_scale = 1};
	const struct tb_run_result result = {
		.complete = true, .simulated_ps = n_bins * TB_PS_PER_US};
	check(tb_network_preset(&params, preset, &error), &error);
	check(tb_network_kary_ntree(&network, &params, 0, &error), &error);
	check(tb_store_create(&store, path, &error), &error);
	check(tb_store_begin_run(store, network, &config, &error), &error);
	tell(tb_store_observer(store), tb_network_n_links(network), n_bins);
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

// frames measures n_frames of what `step` does to the viewer.
typedef void step_function(struct tb_viewer *viewer, int frame);
static void frames(struct bench *bench, const char *name, step_function *step)
{
	double begin = now_s();
	for (int frame = 0; frame < bench->n_frames; frame++) {
		step(bench->viewer, frame);
		draw(bench);
	}
	printf("%s,%.1f,frames/s\n", name, bench->n_frames / (now_s() - begin));
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

int main(int argc, char **argv)
{
	bool smoke = argc > 1 && strcmp(argv[1], "--smoke") == 0;
	const char *preset = smoke ? "qsnet,levels=2" : "qsnet,levels=6";
	char path[] = "/tmp/tailback-bench-XXXXXX";
	struct tb_error error;
	struct bench bench = {.n_frames = smoke ? 3 : 200};
	int descriptor = mkstemp(path);
	if (descriptor < 0)
		return 1;
	close(descriptor);
	unlink(path);
	make_store(path, preset, smoke ? 10 : 1000);
	setenv("SDL_VIDEODRIVER", "dummy", 1);
	check(tb_screen_new(&bench.screen, 1920, 1080, 1, &error), &error);
	double begin = now_s();
	check(tb_viewer_new(&bench.viewer, path, 0, &error), &error);
	tb_viewer_resize(bench.viewer, 1920, 1080);
	draw(&bench);
	printf("viewer_4096_first_picture,%.1f,ms\n", (now_s() - begin) * 1000);
	frames(&bench, "viewer_4096_zoom", zoom);
	tb_viewer_key(bench.viewer, "f");
	tb_viewer_wheel(bench.viewer, 700, 400, 2);
	frames(&bench, "viewer_4096_pan", pan);
	tb_viewer_key(bench.viewer, "f");
	frames(&bench, "viewer_4096_play", play);
	tb_viewer_free(bench.viewer);
	tb_screen_free(bench.screen);
	unlink(path);
	return 0;
}

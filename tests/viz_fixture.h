// A store for the tests of viz/: 16 nodes, ten bins of 1 us, and waits by a formula, so
// that tests know the hottest link and switch of each bin.
//
// Headers arriving over link i wait (i + 1) ns in every bin, except on links to nodes,
// where none waits. In bin 3 those of link 4 wait 1 us more, which makes it the hottest
// link of that bin and of the run. In bins 7 and later none waits.
#ifndef VIZ_FIXTURE_H
#define VIZ_FIXTURE_H

#include "network_open.h"
#include "store.h"

#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define VIZ_BINS       10
#define VIZ_QUIET_FROM 7
#define VIZ_HOT_BIN    3
#define VIZ_HOT_LINK   4

static inline void viz_check(int status, const struct tb_error *error)
{
	char text[1024];
	if (status == TB_OK)
		return;
	fprintf(stderr, "fixture: %s\n", tb_error_format(error, text, (int)sizeof text));
	abort();
}

static inline struct tb_link_sample viz_sample(
	const struct tb_network *network, uint32_t bin, uint32_t link)
{
	struct tb_link_sample sample = {.link = {link}, .n_packets = 2, .bytes = 756};
	sample.busy_ps = sample.bytes * 1000;
	bool ejects = tb_network_link(network, sample.link).kind == TB_LINK_EJECTION;
	if (bin >= VIZ_QUIET_FROM || ejects)
		return sample;
	sample.wait_ps = (link + 1) * UINT64_C(1000);
	if (bin == VIZ_HOT_BIN && link == VIZ_HOT_LINK)
		sample.wait_ps += 1000000;
	sample.stall_ps = sample.wait_ps / 2;
	sample.n_blocked = 1;
	sample.longest_wait_ps = sample.wait_ps;
	return sample;
}

static inline void viz_bins(struct tb_observer observer, const struct tb_network *network)
{
	uint32_t n_links = tb_network_n_links(network);
	struct tb_link_sample *samples = calloc(n_links, sizeof *samples);
	for (uint32_t bin = 0; bin < VIZ_BINS; bin++) {
		for (uint32_t link = 0; link < n_links; link++)
			samples[link] = viz_sample(network, bin, link);
		if (observer.bin(observer.context, bin, samples, n_links))
			abort();
	}
	free(samples);
}

// Two jobs, nodes 0 to 7 and 8 to 15: each node sends to its mirror image in the job.
static inline void viz_flows(struct tb_observer observer)
{
	struct tb_flow_sample flows[16];
	for (uint32_t i = 0; i < 16; i++)
		flows[i] = (struct tb_flow_sample){.job = i / 8,
			.source = {i},
			.destination = {i / 8 * 8 + 7 - i % 8},
			.n_messages = 4,
			.n_packets = 60,
			.bytes = 4096 * (i + UINT64_C(1)),
			.latency_ps = (8 + i) * UINT64_C(1000000),
			.queue_ps = UINT64_C(500000),
			.network_ps = (6 + i) * UINT64_C(1000000),
			.worst_latency_ps = (4 + i) * UINT64_C(1000000),
			.ideal_ps = 4000000,
			.wait_ps = i * UINT64_C(200000),
			.first_ps = i / 8 * 5 * TB_PS_PER_US,
			.last_ps = (i / 8 * 4 + 5) * TB_PS_PER_US};
	if (observer.flows(observer.context, flows, 16))
		abort();
}

// Flow 1 > 6 waits for 2 > 5 on link VIZ_HOT_LINK, in the end for VIZ_ROOT; others wait
// less. The tree of VIZ_ROOT has waits in slices 0 to 2 of 2 us, most in slice 1.
#define VIZ_ROOT 40
static inline void viz_blame(struct tb_observer observer)
{
	struct tb_blame_sample blame[6];
	struct tb_tree_sample trees[7];
	for (uint32_t i = 0; i < 6; i++)
		blame[i] = (struct tb_blame_sample){.link = {VIZ_HOT_LINK + 3 * i},
			.root = {i < 4 ? VIZ_ROOT : VIZ_ROOT + 5},
			.victim_job = i % 2,
			.victim_source = {1 + i % 2 * 8},
			.victim_destination = {6 + i % 2 * 8},
			.culprit_job = i / 3,
			.culprit_source = {2 + i / 3 * 8},
			.culprit_destination = {5 + i / 3 * 8},
			.n_waits = 3,
			.wait_ps = 600000 / (i + 1)};
	for (uint32_t i = 0; i < 6; i++)
		trees[i] = (struct tb_tree_sample){.bin = i / 2,
			.root = {VIZ_ROOT},
			.link = {VIZ_HOT_LINK + 3 * (i % 2)},
			.wait_ps = i / 2 == 1 ? 300000 : 100000};
	trees[6] = (struct tb_tree_sample){.bin = 3,
		.root = {VIZ_ROOT + 5},
		.link = {VIZ_HOT_LINK + 12},
		.wait_ps = 220000};
	if (observer.blame(observer.context, blame, 6) ||
		observer.trees(observer.context, 2 * TB_PS_PER_US, trees, 7))
		abort();
}

// viz_store writes the store to `path`, as one run.
static inline void viz_store(const char *path)
{
	struct tb_error error;
	struct tb_store *store;
	struct tb_network *network;
	struct tb_network_params params;
	static const struct tb_run_job jobs[] = {
		{"melt", "melt.goal", 0, ""}, {"io", "io.goal", 0, ""}};
	const struct tb_run_config config = {.jobs = jobs,
		.n_jobs = 2,
		.input_name = "made/up.goal",
		.input_kind = "job",
		.input_digest = "",
		.options = "",
		.seed = 1,
		.time_scale = 1};
	const struct tb_run_result result = {.complete = true,
		.simulated_ps = VIZ_BINS * TB_PS_PER_US - 250000,
		.n_messages = 64,
		.n_packets = 960,
		.delivered_bytes = 65536,
		.wall_s = 0.5};
	viz_check(tb_store_create(&store, path, &error), &error);
	viz_check(tb_network_preset(&params, "qsnet,levels=2", &error), &error);
	viz_check(tb_network_open(&network,
			  &(struct tb_network_description){.params = &params}, &error),
		&error);
	viz_check(tb_store_begin_run(store, network, &config, &error), &error);
	struct tb_observer observer = tb_store_observer(store);
	if (observer.start(observer.context, TB_PS_PER_US))
		abort();
	viz_bins(observer, network);
	viz_flows(observer);
	viz_blame(observer);
	viz_check(tb_store_end_run(store, &result, &error), &error);
	tb_store_free(store);
	tb_network_free(network);
}

// viz_empty_store writes a store that holds no run.
static inline void viz_empty_store(const char *path)
{
	sqlite3 *database;
	viz_store(path);
	if (sqlite3_open(path, &database) != SQLITE_OK ||
		sqlite3_exec(database, "PRAGMA foreign_keys = off; DELETE FROM run", NULL,
			NULL, NULL) != SQLITE_OK)
		abort();
	sqlite3_close(database);
}

// viz_path makes the name of a file that does not exist yet.
static inline void viz_path(char path[64])
{
	snprintf(path, 64, "/tmp/tailback-viz-XXXXXX");
	int descriptor = mkstemp(path);
	if (descriptor < 0)
		abort();
	close(descriptor);
	unlink(path);
}

#endif

// A store for the tests of viz/: 16 nodes, ten bins of 1 us, and waits by a formula, so
// that tests know the hottest link and switch of each bin.
//
// Headers arriving over link i wait (i + 1) ns in every bin, except on links to nodes,
// where none waits. In bin 3 those of link 4 wait 1 us more, which makes it the hottest
// link of that bin and of the run. In bins 7 and later none waits.
#ifndef VIZ_FIXTURE_H
#define VIZ_FIXTURE_H

#include "network_open.h"
#include "oracle_facts.h"
#include "preset.h"
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
	sample.longest_wait_ps = sample.came_by_ps = sample.wait_ps;
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
			.last_ps = (i / 8 * 4 + 5) * TB_PS_PER_US,
			.last_post_ps = i / 8 * 5 * TB_PS_PER_US};
	if (observer.flows(observer.context, flows, 16))
		abort();
}

// viz_wait notes that a header of node 1 (job 0) or 9 (job 1) waited at a link in a slice
// of 2 us, for one of node 2 or 10.
static inline void viz_wait(struct oracle_facts *facts, uint32_t link, uint32_t root,
	uint32_t slice, uint32_t wait_ns, uint32_t victim_job, uint32_t culprit_job)
{
	tb_time_ps from = slice * 2 * TB_PS_PER_US;
	oracle_note(facts,
		(struct oracle_fact){.kind = ORACLE_WAITED,
			.link = link,
			.root = root,
			.from = from,
			.to = from + wait_ns * TB_PS_PER_NS,
			.flow = {victim_job, 1 + 8 * victim_job, 6 + 8 * victim_job},
			.culprit = {
				culprit_job, 2 + 8 * culprit_job, 5 + 8 * culprit_job}});
}

// Flow 1 > 6 waits longest for 2 > 5, on link VIZ_HOT_LINK, in the end for VIZ_ROOT. The
// tree of VIZ_ROOT has waits of 1 us in slices 0 to 2, most of it in slice 1.
#define VIZ_ROOT 40
static inline void viz_blame(
	struct tb_observer observer, const struct tb_network *network)
{
	struct oracle_facts facts = {0};
	viz_wait(&facts, VIZ_HOT_LINK, VIZ_ROOT, 0, 100, 0, 0);
	viz_wait(&facts, VIZ_HOT_LINK, VIZ_ROOT, 1, 300, 0, 0);
	viz_wait(&facts, VIZ_HOT_LINK, VIZ_ROOT, 2, 100, 1, 0);
	viz_wait(&facts, VIZ_HOT_LINK + 3, VIZ_ROOT, 0, 100, 1, 0);
	viz_wait(&facts, VIZ_HOT_LINK + 3, VIZ_ROOT, 1, 200, 1, 0);
	viz_wait(&facts, VIZ_HOT_LINK + 3, VIZ_ROOT, 1, 100, 0, 1);
	viz_wait(&facts, VIZ_HOT_LINK + 3, VIZ_ROOT, 2, 100, 1, 1);
	viz_wait(&facts, VIZ_HOT_LINK + 12, VIZ_ROOT + 5, 3, 220, 0, 1);
	if (oracle_report_blame(&facts, &observer, network, 2 * TB_PS_PER_US))
		abort();
	free(facts.list);
}

// viz_store_on writes the store to `path`, as one run, of a network with at least 16
// nodes and 53 links.
static inline void viz_store_on(const char *path, const char *preset)
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
	viz_check(tb_network_preset(&params, preset, &error), &error);
	viz_check(tb_network_open(&network,
			  &(struct tb_network_description){.params = &params}, &error),
		&error);
	viz_check(tb_store_begin_run(store, network, &config, &error), &error);
	struct tb_observer observer = tb_store_observer(store);
	if (observer.start(observer.context, TB_PS_PER_US))
		abort();
	viz_bins(observer, network);
	viz_flows(observer);
	viz_blame(observer, network);
	viz_check(tb_store_end_run(store, &result, &error), &error);
	tb_store_free(store);
	tb_network_free(network);
}

static inline void viz_store(const char *path)
{
	viz_store_on(path, "qsnet,levels=2");
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

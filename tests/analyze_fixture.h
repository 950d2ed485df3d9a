// Stores for the tests of analyze/: the observer driven by hand, with numbers that a seed
// gives, and the same numbers kept in memory to compare with.
#ifndef ANALYZE_FIXTURE_H
#define ANALYZE_FIXTURE_H

#include "network_open.h"
#include "oracle_facts.h"
#include "preset.h"
#include "random.h"
#include "store.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FIXTURE_BIN_PS INT64_C(1000000)

struct fixture {
	char path[64];
	struct tb_network *network;
	uint32_t n_links;
	uint32_t n_bins;
	struct tb_link_sample *samples; // [bin][link], zeroed where nothing happened
};

static void fixture_fail(const char *what, const struct tb_error *error)
{
	char text[1024];
	fprintf(stderr, "%s: %s\n", what, tb_error_format(error, text, (int)sizeof text));
	abort();
}

// fixture_init makes a name for a store and the 4-ary 2-tree of 16 nodes.
static inline void fixture_init(struct fixture *fixture)
{
	struct tb_error error = {0};
	struct tb_network_params params;
	memset(fixture, 0, sizeof *fixture);
	snprintf(fixture->path, sizeof fixture->path, "/tmp/tailback-test-XXXXXX");
	int descriptor = mkstemp(fixture->path);
	if (descriptor < 0)
		abort();
	close(descriptor);
	if (tb_network_preset(&params, "qsnet,levels=2", &error) ||
		tb_network_open(&fixture->network,
			&(struct tb_network_description){.params = &params}, &error))
		fixture_fail("network", &error);
	fixture->n_links = tb_network_n_links(fixture->network);
}

static inline void fixture_fini(struct fixture *fixture)
{
	char journal[96];
	snprintf(journal, sizeof journal, "%s-journal", fixture->path);
	unlink(journal);
	unlink(fixture->path);
	tb_network_free(fixture->network);
	free(fixture->samples);
}

static inline struct tb_link_sample *fixture_bin(struct fixture *fixture, uint32_t bin)
{
	return &fixture->samples[(size_t)bin * fixture->n_links];
}

// fixture_fill gives every second link or so something in every bin but the idle ones.
static inline void fixture_fill(struct fixture *fixture, uint32_t n_bins, uint64_t seed)
{
	struct tb_random random;
	tb_random_init(&random, seed, 0);
	free(fixture->samples);
	fixture->n_bins = n_bins;
	fixture->samples =
		calloc((size_t)n_bins * fixture->n_links + 1, sizeof *fixture->samples);
	for (uint32_t bin = 0; bin < n_bins; bin++) {
		bool idle = tb_random_below(&random, 8) == 0;
		for (uint32_t link = 0; link < fixture->n_links; link++) {
			struct tb_link_sample *sample = &fixture_bin(fixture, bin)[link];
			sample->link.id = link;
			if (idle || tb_random_below(&random, 2))
				continue;
			sample->n_packets = (uint32_t)tb_random_below(&random, 9);
			sample->n_blocked = (uint32_t)tb_random_below(&random, 4);
			sample->busy_ps = sample->n_packets * UINT64_C(100000);
			sample->bytes = sample->n_packets * UINT64_C(378);
			sample->stall_ps = tb_random_below(&random, 50000);
			if (!sample->n_blocked)
				continue;
			sample->longest_wait_ps = tb_random_below(&random, 40000);
			sample->wait_ps = sample->longest_wait_ps * sample->n_blocked;
			sample->came_by_ps = sample->wait_ps; // which leads
			sample->largest_queue_bytes =
				sample->longest_wait_ps * 7919 % 4096;
		}
	}
}

static const struct tb_run_job fixture_jobs[] = {
	{"melt", "melt.pcap", 0, ""}, {"io", "io.pcap", 2000000, "nodes=0-11"}};
static const struct tb_run_place fixture_places[] = {
	{0, 0, {0}}, {0, 1, {1}}, {1, 0, {12}}, {1, 1, {12}}};

static inline struct tb_run_config fixture_config(void)
{
	static char left_out[] = "3 calls were left out", odd[] = "2 cables are slower";
	static const struct tb_note notes[] = {{1, left_out}, {TB_ID_NONE, odd}};
	return (struct tb_run_config){
		.input_name = "melt.pcap io.pcap",
		.input_kind = "packets",
		.input_digest = "e3b0c44298fc1c149afbf4c8996fb924"
				"27ae41e4649b934ca495991b7852b855",
		.input_bytes = 123456,
		.seed = UINT64_C(0xfedcba9876543210),
		.time_scale = 0.5,
		.options = "--time-scale 0.5",
		.jobs = fixture_jobs,
		.n_jobs = 2,
		.places = fixture_places,
		.n_places = 4,
		.notes = notes,
		.n_notes = 2,
	};
}

// Messages of two flows: of job 0 from node 0, of job 1 from node 3.
enum { FIXTURE_MESSAGES = 12 };

static inline struct tb_message_sample fixture_message(uint32_t i)
{
	uint32_t job = i / 8;
	tb_time_ps posted_ps = 500000 * (tb_time_ps)i;
	return (struct tb_message_sample){.number = 3 * i,
		.bytes = 100 + i,
		.job = job,
		.source = {3 * job},
		.destination = {15 - 3 * job},
		.posted_ps = posted_ps,
		.started_ps = posted_ps + 1200000,
		.delivered_ps = posted_ps + 4000000,
		.queue_ps = 200000,
		.network_ps = 2100000 + i,
		.ideal_ps = 2000000};
}

// fixture_flow is flow `i` of 24, half of them of each job.
static inline struct oracle_flow fixture_flow(uint32_t i)
{
	return (struct oracle_flow){i / 12, i % 12, 15 - i % 12};
}

// fixture_waits has every wait of a link in a bin be one of some flow for another, so
// that blame adds up to the waits of links and flows.
static inline struct oracle_facts fixture_waits(
	const struct fixture *fixture, struct tb_flow_sample flows[24])
{
	struct oracle_facts facts = {0};
	for (uint32_t i = 0; i < fixture->n_bins * fixture->n_links; i++) {
		const struct tb_link_sample *sample = &fixture->samples[i];
		tb_time_ps from = i / fixture->n_links * FIXTURE_BIN_PS;
		uint32_t victim = i * 7 % 24, culprit = i * 5 % 24;
		if (sample->wait_ps == 0)
			continue;
		flows[victim].wait_ps += sample->wait_ps;
		flows[culprit].blamed_ps += sample->wait_ps;
		oracle_note(&facts, (struct oracle_fact){.kind = ORACLE_WAITED,
					    .link = sample->link.id,
					    .root = sample->link.id / 3,
					    .from = from,
					    .to = from + (tb_time_ps)sample->wait_ps,
					    .flow = fixture_flow(victim),
					    .culprit = fixture_flow(culprit)});
	}
	return facts;
}

// fixture_flows tells no flows of a network that is too small for them.
static inline void fixture_flows(
	const struct fixture *fixture, struct tb_observer observer, uint64_t seed)
{
	struct tb_flow_sample flows[24];
	struct tb_random random;
	if (tb_network_n_nodes(fixture->network) < 16)
		return;
	tb_random_init(&random, seed, 1);
	for (uint32_t i = 0; i < 24; i++) {
		const struct oracle_flow flow = fixture_flow(i);
		uint64_t delay = 1000 * (1 + tb_random_below(&random, 100000));
		flows[i] = (struct tb_flow_sample){.job = flow.job,
			.source = {flow.source},
			.destination = {flow.destination},
			.n_messages = 4,
			.n_packets = 13,
			.bytes = 4096,
			.latency_ps = 24000000 + 2 * delay,
			.queue_ps = 1200000 + delay,
			.network_ps = 16000000 + delay,
			.worst_latency_ps = 4000000 + delay / 2,
			.ideal_ps = 16000000,
			.first_ps = 1000 * (tb_time_ps)i,
			.last_ps = 20000000 + 1000 * (tb_time_ps)i,
			.last_post_ps = 10000000 + 1000 * (tb_time_ps)i};
	}
	struct oracle_facts facts = fixture_waits(fixture, flows);
	struct tb_message_sample messages[FIXTURE_MESSAGES];
	for (uint32_t i = 0; i < FIXTURE_MESSAGES; i++)
		messages[i] = fixture_message(i);
	if (observer.flows(observer.context, flows, 24) ||
		oracle_report_blame(
			&facts, &observer, fixture->network, FIXTURE_BIN_PS) ||
		observer.messages(observer.context, messages, FIXTURE_MESSAGES))
		abort();
	free(facts.list);
}

// fixture_tell tells bins [first, end), with samples in which nothing happened among
// them.
static inline int fixture_tell(struct fixture *fixture, struct tb_observer observer,
	uint32_t first, uint32_t end)
{
	int status = TB_OK;
	for (uint32_t bin = first; !status && bin < end; bin++)
		status = observer.bin(observer.context, bin, fixture_bin(fixture, bin),
			fixture->n_links);
	return status;
}

static inline struct tb_run_result fixture_result(const struct fixture *fixture)
{
	return (struct tb_run_result){
		.complete = true,
		.simulated_ps =
			fixture->n_bins ? fixture->n_bins * FIXTURE_BIN_PS - 300000 : 0,
		.n_messages = 96,
		.n_packets = 312,
		.delivered_bytes = 98304,
		.wall_s = 0.25,
		.input_summary = "{\"records\": 400, \"acks\": 88}",
	};
}

// fixture_store writes one whole run into the file.
static inline void fixture_store(struct fixture *fixture, uint32_t n_bins, uint64_t seed)
{
	struct tb_error error = {0};
	struct tb_store *store = NULL;
	struct tb_run_config config = fixture_config();
	fixture_fill(fixture, n_bins, seed);
	if (tb_network_n_nodes(fixture->network) < 16)
		config.n_places = 0;
	if (tb_store_create(&store, fixture->path, &error) ||
		tb_store_begin_run(store, fixture->network, &config, &error))
		fixture_fail("begin", &error);
	struct tb_observer observer = tb_store_observer(store);
	if (observer.start(observer.context, FIXTURE_BIN_PS) ||
		fixture_tell(fixture, observer, 0, n_bins))
		fixture_fail("observe", tb_store_error(store));
	fixture_flows(fixture, observer, seed);
	struct tb_run_result result = fixture_result(fixture);
	if (tb_store_end_run(store, &result, &error))
		fixture_fail("end", &error);
	tb_store_free(store);
}

#endif

// Every wait inside switches counts twice, for the link that the packet wanted and for
// the one by which it came: on every switching, at each switch, the sums are equal,
// whatever the routes, parts and threads. Also whenever a replay ends, with what still
// waits.
#include "../support/replay_outcome.h"
#include "network.h"
#include "random.h"
#include "switchings.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum { PROGRAMS = 60, MOST = 60 };

static uint32_t below(struct tb_random *random, uint64_t n)
{
	return (uint32_t)tb_random_below(random, n);
}

static int by_time(const void *left, const void *right)
{
	const struct line *a = left, *b = right;
	return (a->at > b->at) - (a->at < b->at);
}

// random_lines posts messages of which many go to one node.
static size_t random_lines(struct tb_random *random, struct line *lines, uint32_t n_nodes)
{
	size_t n = 2 + below(random, MOST - 2);
	uint32_t favourite = below(random, n_nodes);
	for (size_t i = 0; i < n; i++) {
		struct line *line = &lines[i];
		*line = (struct line){.at = below(random, 20) * TB_PS_PER_US,
			.source = below(random, n_nodes),
			.bytes = below(random, 40000)};
		line->destination = below(random, 2) ? favourite : below(random, n_nodes);
		if (line->destination == line->source)
			line->destination = (line->source + 1) % n_nodes;
	}
	qsort(lines, n, sizeof *lines, by_time);
	return n;
}

// check_switches: what waited in a switch came by links into it and wanted links out of
// it. What waits for its node's link waits in its own queue, which counts nowhere.
static void check_switches(
	const char *name, const struct tb_network *net, const struct tally *tally)
{
	uint32_t n = tb_network_n_switches(net);
	uint64_t *came_by = calloc(n + 1u, sizeof *came_by);
	uint64_t *wanted = calloc(n + 1u, sizeof *wanted);
	enum tb_wait_lead leads = tb_switching_of(tb_network_params(net))->leads;
	for (uint32_t i = 0; i < tb_network_n_links(net); i++) {
		struct tb_link_info link = tb_network_link(net, (struct tb_link){i});
		const struct tb_link_sample *sample = &tally->links[i];
		uint64_t all_ps =
			leads == TB_LEADS_FOR ? sample->wait_for_ps : sample->came_by_ps;
		if (sample->longest_wait_ps > all_ps)
			fail_msg("%s: at link %u one waited %" PRIu64
				 " ps, all together %" PRIu64 " ps",
				name, i, sample->longest_wait_ps, all_ps);
		if (link.kind == TB_LINK_INJECTION)
			assert_int_equal(sample->wait_for_ps, 0);
		else
			wanted[link.from] += sample->wait_for_ps;
		if (link.kind == TB_LINK_EJECTION)
			assert_int_equal(sample->came_by_ps, 0);
		else
			came_by[link.to] += sample->came_by_ps;
	}
	for (uint32_t sw = 0; sw < n; sw++)
		if (came_by[sw] != wanted[sw])
			fail_msg("%s: at switch %u packets waited %" PRIu64
				 " ps that had come by links, and %" PRIu64
				 " ps for links",
				name, sw, came_by[sw], wanted[sw]);
	free(came_by);
	free(wanted);
}

// check_program returns whether anything waited.
static bool check_program(const char *name, struct tb_random *random)
{
	static struct line lines[MOST];
	struct tb_network *net = network_of(name);
	size_t n = random_lines(random, lines, tb_network_n_hosts(net));
	uint32_t n_links = tb_network_n_links(net);
	struct tally tally = {0};
	struct script script = {lines, n, 0};
	struct tb_source source = script_source(&script);
	struct tb_observer observer = tally_observer(&tally, n_links);
	bool whole = below(random, 3) > 0;
	struct replay replay = {.network = net,
		.source = &source,
		.observer = &observer,
		.options = {.seed = below(random, 1000),
			.bin_ps = below(random, 2) * 3 * TB_PS_PER_US,
			.n_parts = 1 + below(random, 4),
			.n_threads = 1 + below(random, 3)},
		.n_instants = whole ? UINT64_MAX : 1 + below(random, 2000)};
	if (replay_by_engine(&replay) != TB_OK)
		fail_msg("%s: %s", name, replay.error.text);
	if (tally.wait_ps != replay.stats.wait_ps || tally.wait_for_ps != tally.wait_ps)
		fail_msg("%s: %" PRIu64 " ps by links, %" PRIu64 " ps for links, %" PRIu64
			 " ps in all",
			name, tally.wait_ps, tally.wait_for_ps, replay.stats.wait_ps);
	check_switches(name, net, &tally);
	free(tally.links);
	tb_network_free(net);
	return replay.stats.wait_ps > 0;
}

// check_all replays PROGRAMS random programs on each shape and ascent of a network.
static void check_all(const char *preset)
{
	static const char *const shapes[] = {
		"arity=2,levels=3", "arity=4,levels=2", "arity=6,levels=1"};
	static const char *const ascents[] = {"adaptive", "adaptive-round-robin",
		"deterministic", "source", "random", "ecmp"};
	uint32_t n_waited = 0;
	for (uint64_t seed = 1; seed <= PROGRAMS; seed++) {
		struct tb_random random;
		char name[160];
		tb_random_init(&random, seed, 7);
		snprintf(name, sizeof name, "%s,%s,ascent=%s", preset,
			shapes[below(&random, 3)], ascents[below(&random, 6)]);
		n_waited += check_program(name, &random);
	}
	print_message("%s: in %u of %d programs packets waited\n", preset, n_waited,
		(int)PROGRAMS);
	assert_true(n_waited > PROGRAMS / 2);
}

static void waits_for_links_are_those_of_what_came_by_links(void **state)
{
	(void)state;
	static const char *const presets[] = {"qsnet", "qsnet,vcs=1", "qsnet2", "ib-hdr",
		"ib-qdr", "ib-edr,queues=fifo", "ib-ndr,input_speedup=1", "ib-hdr,vls=2",
		"ib-xdr,forwarding=store-and-forward", "roce-100", "roce-400",
		"roce-100,queues=fifo", "ethernet", "ethernet-shaped",
		"ethernet,queue=20000", "ib-hdr,switching=fluid",
		"roce-400,switching=fluid", "qsnet,switching=fluid",
		"ethernet,switching=fluid", "qsnet2,rails=2,switching=fluid"};
	for (size_t i = 0; i < sizeof presets / sizeof *presets; i++)
		check_all(presets[i]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(waits_for_links_are_those_of_what_came_by_links),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

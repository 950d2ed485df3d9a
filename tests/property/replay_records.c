// Conservation, for engine and oracle: whatever is posted arrives once, every packet
// crosses every link of its way once, no VC is kept, and waits give one sum by link, by
// switch, by flow and by blame, whenever a replay ends.
#include "../support/replay_account.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>

#include <cmocka.h>

static uint64_t seed_of_failure; // for messages; set before each program

static void equal(const char *what, uint64_t is, uint64_t expected)
{
	if (is != expected)
		fail_msg("seed %" PRIu64 ": %s is %" PRIu64 ", expected %" PRIu64,
			seed_of_failure, what, is, expected);
}

struct sums {
	uint64_t wait_ps, wait_for_ps, bytes, n_packets, n_blocked;
};

static struct sums sum_links(const struct account *account)
{
	struct sums sums = {0};
	for (size_t i = 0; i < account->observed.n_bins; i++) {
		const struct tb_link_sample *sample = &account->observed.bins[i].sample;
		sums.wait_ps += sample->came_by_ps;
		sums.wait_for_ps += sample->wait_for_ps;
		sums.bytes += sample->bytes;
		sums.n_packets += sample->n_packets;
		sums.n_blocked += sample->n_blocked;
		assert_true(sample->busy_ps <= (uint64_t)account->observed.bin_ps);
		assert_true(sample->stall_ps <= (uint64_t)account->observed.bin_ps);
		assert_true(sample->longest_wait_ps <= sample->came_by_ps ||
			    account->observed.bins[i].bin > 0);
	}
	return sums;
}

static void check_waits(const struct account *account)
{
	uint64_t by_flow = 0, by_blame = 0, n_waits = 0;
	struct sums links = sum_links(account);
	for (size_t i = 0; i < account->observed.n_flows; i++)
		by_flow += account->observed.flows[i].wait_ps;
	for (size_t i = 0; i < account->observed.blame.n_roots; i++) {
		by_blame += account->observed.blame.roots[i].wait_ps;
		n_waits += account->observed.blame.roots[i].n_waits;
	}
	equal("wait of all links", links.wait_ps, account->stats.wait_ps);
	equal("wait for all links", links.wait_for_ps, account->stats.wait_ps);
	equal("wait of all flows", by_flow, account->stats.wait_ps);
	equal("wait that is blamed", by_blame, account->stats.wait_ps);
	assert_true(n_waits <= links.n_blocked);
}

// expect_links is what the posted messages must make on all links.
static struct sums expect_links(
	const struct program *program, const struct account *account)
{
	struct tb_error error;
	struct tb_network *net = network_of(program, &error);
	const struct tb_network_params *params = &program->params;
	struct sums sums = {0};
	for (uint32_t i = 0; i < program->n_posts; i++) {
		const struct post *post = &program->posts[i];
		if (account->delivered[i] == TB_TIME_NEVER ||
			post->source == post->destination)
			continue;
		uint64_t full = params->packet_payload_bytes;
		uint64_t n = post->bytes ? (post->bytes + full - 1) / full : 1;
		uint64_t wire = post->bytes + n * params->packet_overhead_bytes +
				tb_circuit_padding(params, post->bytes % full);
		uint64_t hops = tb_network_hops(net, (struct tb_node){post->source},
			(struct tb_node){post->destination});
		sums.n_packets += n * hops;
		sums.bytes += (wire ? wire : 1) * hops;
	}
	tb_network_free(net);
	return sums;
}

// posted says whether a message was posted at all: in an open loop nobody tells that
// another one was sent.
static bool posted(const struct program *program, uint32_t post)
{
	const struct post *at = &program->posts[post];
	if (at->when == POST_AT)
		return true;
	if (at->when == POST_AFTER_SENT && program->open_loop)
		return false;
	return posted(program, at->after);
}

static void check_end(enum replayer by, const struct program *program)
{
	struct account *account = account_of(by, program, UINT64_MAX);
	uint64_t n_posted = 0;
	equal("status", (uint64_t)account->status, TB_OK);
	for (uint32_t i = 0; i < program->n_posts; i++) {
		n_posted += posted(program, i);
		if (posted(program, i) && account->delivered[i] == TB_TIME_NEVER)
			fail_msg("seed %" PRIu64 ": message %u never came", program->seed,
				i);
	}
	equal("messages posted", account->stats.n_posted, n_posted);
	equal("messages delivered", account->stats.n_delivered, n_posted);
	equal("packets under way", account->stats.n_in_flight, 0);
	struct sums is = sum_links(account), expected = expect_links(program, account);
	equal("bytes of all links", is.bytes, expected.bytes);
	equal("packets of all links", is.n_packets, expected.n_packets);
	equal("hops", account->stats.n_hops, expected.n_packets);
	check_waits(account);
	account_drop(account);
}

static const enum shape shapes[] = {SHAPE_TREE, SHAPE_IRREGULAR, SHAPE_MIXED};

static void whatever_is_posted_arrives_once(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 450; seed++) {
		struct program program = random_program(seed, shapes[seed % 3]);
		seed_of_failure = seed;
		for (enum replayer by = 0; by < N_REPLAYERS; by++)
			check_end(by, &program);
	}
}

static void waits_agree_whenever_a_replay_ends(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 300; seed++) {
		struct program program = random_program(seed, shapes[seed % 3]);
		seed_of_failure = seed;
		for (enum replayer by = 0; by < N_REPLAYERS; by++) {
			struct account *account =
				account_of(by, &program, 1 + seed * 7 % 400);
			equal("status", (uint64_t)account->status, TB_OK);
			check_waits(account);
			account_drop(account);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(whatever_is_posted_arrives_once),
		cmocka_unit_test(waits_agree_whenever_a_replay_ends),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

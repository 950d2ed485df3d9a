// Hardware broadcast (docs/model.md, rules 28 to 32) by closed forms, for engine
// and oracle.
#include "../support/replay_account.h"
#include "preset.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>

#include <cmocka.h>

static struct program sixteen_nodes(void)
{
	struct program program = {.seed = 1, .bin_ps = TB_PS_PER_US};
	assert_int_equal(tb_network_preset(&program.params,
				 "qsnet,levels=2,bus=none,send_overhead=0,"
				 "receive_overhead=0",
				 NULL),
		TB_OK);
	return program;
}

// A packet of 320 + 58 bytes over an idle tree takes what it takes to the furthest node,
// however many there are: three hops of 35 + 5 ns, its bytes, the last wire; and the
// acknowledgement 200 ns and four hops back.
static void a_broadcast_takes_what_its_furthest_receiver_takes(void **state)
{
	(void)state;
	static const struct {
		uint32_t source, first, n;
		tb_time_ps n_links;
	} cases[] = {{0, 1, 15, 4}, {0, 0, 16, 4}, {5, 0, 16, 4}, {5, 4, 4, 2},
		{7, 4, 4, 2}, {15, 3, 2, 4}};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct program program = sixteen_nodes();
		program.n_posts = 1;
		program.posts[0] = (struct post){.source = cases[i].source,
			.destination = cases[i].first,
			.n_receivers = cases[i].n,
			.bytes = 320};
		tb_time_ps in = (cases[i].n_links - 1) * 40000 + 378 * 2500 + 35000;
		for (enum replayer by = 0; by < N_REPLAYERS; by++) {
			struct account *account = account_of(by, &program, UINT64_MAX);
			assert_int_equal(account->status, TB_OK);
			assert_int_equal(account->delivered[0], in);
			assert_int_equal(
				account->sent[0], in + 200000 + cases[i].n_links * 40000);
			account_drop(account);
		}
	}
}

// Broadcasts of all nodes to all nodes at once hold no parts of each other: all arrive.
static void many_broadcasts_do_not_deadlock(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 20; seed++) {
		struct tb_random random;
		struct program program = sixteen_nodes();
		program.seed = seed;
		program.n_posts = POSTS_MOST;
		tb_random_init(&random, seed, 0);
		for (uint32_t i = 0; i < POSTS_MOST; i++) {
			uint32_t first = below(&random, 15);
			program.posts[i] = (struct post){.source = i % 16,
				.destination = first,
				.n_receivers = 1 + below(&random, 16 - first),
				.bytes = below(&random, 2000)};
		}
		struct account *account = account_of(BY_ENGINE, &program, UINT64_MAX);
		assert_int_equal(account->status, TB_OK);
		for (uint32_t i = 0; i < POSTS_MOST; i++)
			assert_int_not_equal(account->delivered[i], TB_TIME_NEVER);
		account_drop(account);
	}
}

static void broadcasts_are_refused_where_they_are_not_exact(void **state)
{
	(void)state;
	struct program program = sixteen_nodes();
	program.n_posts = 1;
	program.posts[0] = (struct post){.destination = 1, .n_receivers = 2};
	program.n_faults = 1;
	program.faults[0].at_ps = TB_PS_PER_S;
	struct program irregular = program;
	irregular.n_faults = 0;
	irregular.n_leaves = 2;
	irregular.n_tops = 1;
	irregular.nodes_a_leaf[0] = irregular.nodes_a_leaf[1] = 2;
	for (uint32_t i = 0; i < CABLES_MOST; i++)
		irregular.cables[i].n_vcs = 2;
	for (enum replayer by = 0; by < N_REPLAYERS; by++) {
		struct account *faulty = account_of(by, &program, UINT64_MAX);
		struct account *other = account_of(by, &irregular, UINT64_MAX);
		assert_int_equal(faulty->status, TB_EUSAGE);
		assert_int_equal(other->status, TB_EUSAGE);
		account_drop(faulty);
		account_drop(other);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_broadcast_takes_what_its_furthest_receiver_takes),
		cmocka_unit_test(many_broadcasts_do_not_deadlock),
		cmocka_unit_test(broadcasts_are_refused_where_they_are_not_exact),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

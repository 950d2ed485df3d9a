// Backlog at the senders: of the nodes that have one, that whose messages stood longest.
#include "../../analyze_fixture.h"

#include "backlog.h"

#include <setjmp.h>
#include <stdint.h>

#include <cmocka.h>

// store_flows keeps a run of three flows; two are from node 5.
static void store_flows(struct fixture *fixture, const struct tb_flow_sample flows[3])
{
	struct tb_error error = {0};
	struct tb_store *store = NULL;
	struct tb_run_config config = fixture_config();
	fixture_init(fixture);
	assert_int_equal(tb_store_create(&store, fixture->path, &error), TB_OK);
	assert_int_equal(
		tb_store_begin_run(store, fixture->network, &config, &error), TB_OK);
	struct tb_observer observer = tb_store_observer(store);
	assert_int_equal(observer.start(observer.context, FIXTURE_BIN_PS), TB_OK);
	assert_int_equal(observer.flows(observer.context, flows, 3), TB_OK);
	struct tb_run_result result = fixture_result(fixture);
	assert_int_equal(tb_store_end_run(store, &result, &error), TB_OK);
	tb_store_free(store);
}

static struct tb_backlog find(const struct fixture *fixture)
{
	struct tb_error error = {0};
	struct tb_run *run = NULL;
	struct tb_backlog found = {0};
	assert_int_equal(tb_run_open(&run, fixture->path, 0, &error), TB_OK);
	assert_int_equal(tb_backlog_find(&found, run, &error), TB_OK);
	tb_run_free(run);
	return found;
}

static const struct tb_flow_sample flows[3] = {
	{.source = {2},
		.destination = {9},
		.n_messages = 2,
		.bytes = 320,
		.latency_ps = 5000,
		.queue_ps = 2500,
		.network_ps = 1500,
		.first_ps = 7,
		.last_ps = 99,
		.last_post_ps = 70},
	{.source = {5},
		.destination = {1},
		.n_messages = 3,
		.bytes = 3200,
		.latency_ps = 9000,
		.queue_ps = 6000,
		.network_ps = 2000,
		.first_ps = 40,
		.last_ps = 9040,
		.last_post_ps = 60},
	{.source = {5},
		.destination = {2},
		.n_messages = 1,
		.bytes = 3200,
		.latency_ps = 1000,
		.network_ps = 900,
		.first_ps = 20,
		.last_ps = 9090,
		.last_post_ps = 20},
};

static void the_node_whose_messages_stood_longest_is_found(void **state)
{
	(void)state;
	struct fixture fixture;
	store_flows(&fixture, flows);
	struct tb_backlog found = find(&fixture);
	assert_int_equal(found.n_nodes, 2);
	assert_int_equal(found.node.id, 5);
	assert_int_equal(found.n_messages, 4);
	assert_int_equal(found.bytes, 6400);
	assert_int_equal(found.queue_ps, 6000);
	assert_int_equal(found.latency_ps, 10000);
	assert_int_equal(found.posting_ps, 40);
	// 20 packets of 378 bytes on the wire, at 2.5 ns a byte.
	assert_true(found.carrying_ps > 18899999 && found.carrying_ps < 18900001);
	fixture_fini(&fixture);
}

static void less_than_half_of_the_latency_is_no_backlog(void **state)
{
	(void)state;
	struct fixture fixture;
	struct tb_flow_sample quicker[3] = {flows[0], flows[1], flows[2]};
	quicker[0].queue_ps--;
	quicker[1].queue_ps = 4999;
	store_flows(&fixture, quicker);
	assert_int_equal(find(&fixture).n_nodes, 0);
	fixture_fini(&fixture);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_node_whose_messages_stood_longest_is_found),
		cmocka_unit_test(less_than_half_of_the_latency_is_no_backlog),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

// Messages of a flow: those under way in a stretch of time, in the order of posting.
#include "../../analyze_fixture.h"

#include "flow_messages.h"

#include <setjmp.h>
#include <stdint.h>

#include <cmocka.h>

static struct tb_flow_messages ask(
	const struct fixture *fixture, uint32_t job, tb_time_ps from_ps, tb_time_ps to_ps)
{
	struct tb_error error = {0};
	struct tb_run *run = NULL;
	struct tb_flow_messages found = {0};
	const struct tb_flow_messages_wanted wanted = {
		job, {3 * job}, {15 - 3 * job}, from_ps, to_ps};
	assert_int_equal(tb_run_open(&run, fixture->path, 0, &error), TB_OK);
	assert_int_equal(tb_run_info(run)->n_messages_kept, FIXTURE_MESSAGES);
	assert_int_equal(tb_flow_messages_init(&found, run, &wanted, &error), TB_OK);
	tb_run_free(run);
	return found;
}

static void a_flow_has_its_messages_in_order(void **state)
{
	(void)state;
	struct fixture fixture;
	fixture_init(&fixture);
	fixture_store(&fixture, 2, 1);
	struct tb_flow_messages found = ask(&fixture, 0, 0, TB_TIME_NEVER);
	assert_int_equal(found.n, 8);
	for (uint32_t i = 0; i < found.n; i++) {
		struct tb_message_sample told = fixture_message(i), *at = &found.list[i];
		assert_int_equal(at->number, told.number);
		assert_int_equal(at->bytes, told.bytes);
		assert_int_equal(at->posted_ps, told.posted_ps);
		assert_int_equal(at->started_ps, told.started_ps);
		assert_int_equal(at->delivered_ps, told.delivered_ps);
		assert_int_equal(at->queue_ps, told.queue_ps);
		assert_int_equal(at->network_ps, told.network_ps);
		assert_int_equal(at->ideal_ps, told.ideal_ps);
	}
	tb_flow_messages_fini(&found);
	found = ask(&fixture, 1, 0, TB_TIME_NEVER);
	assert_int_equal(found.n, 4);
	assert_int_equal(found.list[0].number, 24);
	assert_int_equal(found.list[0].source.id, 3);
	tb_flow_messages_fini(&found);
	fixture_fini(&fixture);
}

// Message i is under way from 0.5 i to 0.5 i + 4 us.
static void a_window_has_what_was_under_way_in_it(void **state)
{
	(void)state;
	struct fixture fixture;
	fixture_init(&fixture);
	fixture_store(&fixture, 2, 1);
	struct tb_flow_messages found = ask(&fixture, 0, 4500000, 5000000);
	assert_int_equal(found.n, 6); // 2 to 7
	assert_int_equal(found.list[0].number, 6);
	tb_flow_messages_fini(&found);
	found = ask(&fixture, 0, 0, 500000);
	assert_int_equal(found.n, 1);
	assert_int_equal(found.list[0].number, 0);
	tb_flow_messages_fini(&found);
	found = ask(&fixture, 0, 9000000, 9500000);
	assert_int_equal(found.n, 0);
	tb_flow_messages_fini(&found);
	fixture_fini(&fixture);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_flow_has_its_messages_in_order),
		cmocka_unit_test(a_window_has_what_was_under_way_in_it),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

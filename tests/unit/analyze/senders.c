// Who sent to a node: in a run of many jobs it costs what their flows come to, however
// many nodes the network has.
#include "../../analyze_fixture.h"

#include "during.h"
#include "run_impl.h"

#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

// Job j sends from node j % 16 to node 0, and to node 1 + j % 15.
enum { N_JOBS = 1500 };

static uint32_t target(uint32_t flow)
{
	return flow % 2 ? 1 + flow / 2 % 15 : 0;
}

static int observe_flows(struct tb_observer observer)
{
	struct tb_flow_sample flows[2 * N_JOBS];
	for (uint32_t i = 0; i < 2 * N_JOBS; i++)
		flows[i] = (struct tb_flow_sample){.job = i / 2,
			.source = {i / 2 % 16},
			.destination = {target(i)},
			.n_messages = 1,
			.first_ps = i,
			.last_ps = 1000 + i,
			.last_post_ps = i};
	return observer.flows(observer.context, flows, 2 * N_JOBS);
}

static struct tb_run *store_and_open(struct fixture *fixture)
{
	struct tb_error error = {0};
	struct tb_store *store = NULL;
	struct tb_run *run = NULL;
	struct tb_run_config config = fixture_config();
	struct tb_run_job jobs[N_JOBS];
	for (uint32_t i = 0; i < N_JOBS; i++)
		jobs[i] =
			(struct tb_run_job){.name = "job", .input = "", .placement = ""};
	config.jobs = jobs;
	config.n_jobs = N_JOBS;
	fixture_fill(fixture, 4, 1);
	if (tb_store_create(&store, fixture->path, &error) ||
		tb_store_begin_run(store, fixture->network, &config, &error))
		fixture_fail("begin", &error);
	struct tb_observer observer = tb_store_observer(store);
	if (observer.start(observer.context, FIXTURE_BIN_PS) ||
		fixture_tell(fixture, observer, 0, 4) || observe_flows(observer))
		abort();
	struct tb_run_result result = fixture_result(fixture);
	if (tb_store_end_run(store, &result, &error))
		fixture_fail("end", &error);
	tb_store_free(store);
	if (tb_run_open(&run, fixture->path, 0, &error))
		fixture_fail("open", &error);
	return run;
}

static int count_steps(void *n)
{
	++*(uint64_t *)n;
	return 0;
}

static void senders_of_many_jobs_are_found_by_their_flows(void **state)
{
	(void)state;
	struct fixture fixture;
	struct tb_error error = {0};
	struct tb_senders senders = {0};
	uint64_t hundreds = 0;
	fixture_init(&fixture);
	struct tb_run *run = store_and_open(&fixture);
	sqlite3_progress_handler(run->db, 100, count_steps, &hundreds);
	assert_int_equal(
		tb_senders_to(run, (struct tb_node){0}, 0, INT64_MAX, &senders, &error),
		TB_OK);
	assert_int_equal(senders.n, 15); // not itself
	assert_int_equal(senders.first.id, 1);
	assert_int_equal(senders.job, TB_ID_NONE);
	assert_int_equal(senders.first_ps, 2);
	assert_int_equal(senders.last_ps, 1000 + 2 * (N_JOBS - 1));
	// 114 steps a job; a look at each of the 16 nodes for each job takes 190.
	assert_in_range(hundreds, 1, N_JOBS * 4 / 3);
	// To node 3 send jobs 2, 17, 32 and 47, of those that begin before 100.
	assert_int_equal(
		tb_senders_to(run, (struct tb_node){3}, 0, 100, &senders, &error), TB_OK);
	assert_int_equal(senders.n, 4);
	assert_int_equal(senders.first.id, 0);
	assert_int_equal(senders.first_ps, 5);
	tb_run_free(run);
	fixture_fini(&fixture);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(senders_of_many_jobs_are_found_by_their_flows),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

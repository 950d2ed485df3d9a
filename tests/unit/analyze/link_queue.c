// The queue of a link over the bins of a run.
#include "../../analyze_fixture.h"

#include "link_queue.h"

#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define N_BINS 30

static void it_is_that_of_the_bins_read_one_by_one(void **state)
{
	(void)state;
	struct fixture fixture;
	struct tb_error error = {0};
	struct tb_run *run = NULL;
	uint32_t n_deep = 0;
	fixture_init(&fixture);
	fixture_store(&fixture, N_BINS, 11);
	assert_int_equal(tb_run_open(&run, fixture.path, 0, &error), TB_OK);
	tb_time_ps bin_ps = tb_run_info(run)->bin_ps;
	enum tb_metric leads = tb_run_info(run)->leads;
	struct tb_link *links = calloc(fixture.n_links, sizeof *links);
	struct tb_link_queue *all = calloc(fixture.n_links, sizeof *all);
	assert_true(links && all && fixture.n_links > 8);
	for (uint32_t i = 0; i < fixture.n_links; i++)
		links[fixture.n_links - 1 - i].id = i;
	assert_int_equal(
		tb_link_queues_find(all, run, leads, links, fixture.n_links, &error),
		TB_OK);
	for (uint32_t link = 0; link < fixture.n_links; link++) {
		struct tb_link_queue queue;
		uint64_t most = 0, at = 0, longest = 0, from = 0, length = 0;
		for (uint64_t bin = 0; bin < N_BINS; bin++) {
			const struct tb_link_sample *samples;
			struct tb_window window = {bin, bin + 1};
			assert_int_equal(
				tb_run_look(run, window, &samples, &error), TB_OK);
			if (samples[link].largest_queue_bytes > most) {
				most = samples[link].largest_queue_bytes;
				at = bin;
			}
			length = samples[link].wait_ps > 0 ? length + 1 : 0;
			if (length > longest) {
				longest = length;
				from = bin + 1 - length;
			}
		}
		assert_int_equal(tb_link_queues_find(&queue, run, leads,
					 &(struct tb_link){link}, 1, &error),
			TB_OK);
		assert_memory_equal(
			&queue, &all[fixture.n_links - 1 - link], sizeof queue);
		assert_int_equal(queue.largest_bytes, most);
		assert_int_equal(queue.largest_at_ps, (tb_time_ps)at * bin_ps);
		// The last bin ends after the run.
		tb_time_ps end = (tb_time_ps)(from + longest) * bin_ps;
		tb_time_ps run_ps = tb_run_info(run)->simulated_ps;
		assert_int_equal(queue.to_ps, !longest ? 0 : end < run_ps ? end : run_ps);
		assert_int_equal(queue.from_ps, longest ? (tb_time_ps)from * bin_ps : 0);
		n_deep += most > 0 && at > 0;
	}
	assert_true(n_deep > 0);
	free(links);
	free(all);
	tb_run_free(run);
	fixture_fini(&fixture);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(it_is_that_of_the_bins_read_one_by_one),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

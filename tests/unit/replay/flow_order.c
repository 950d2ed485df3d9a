// Flows in order: what a sort of all of them by job, source and destination gives.
#include "replay_records.h"

#include "random.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static int by_ids(const void *left, const void *right)
{
	const struct tb_flow_sample *a = left, *b = right;
	if (a->job != b->job)
		return a->job < b->job ? -1 : 1;
	if (a->source.id != b->source.id)
		return a->source.id < b->source.id ? -1 : 1;
	return (a->destination.id > b->destination.id) -
	       (a->destination.id < b->destination.id);
}

static void check(size_t n, uint64_t jobs, uint64_t nodes)
{
	struct tb_flow_sample *flows = calloc(n + 1, sizeof *flows);
	struct tb_flow_sample *sorted = calloc(n + 1, sizeof *sorted);
	struct tb_random random;
	tb_random_init(&random, 7, n);
	for (size_t i = 0; i < n; i++)
		flows[i] = (struct tb_flow_sample){
			.job = (uint32_t)tb_random_below(&random, jobs),
			.source = {(uint32_t)tb_random_below(&random, nodes)},
			.destination = {(uint32_t)tb_random_below(&random, nodes)}};
	for (size_t i = 0; i < n; i++) // what else a flow has goes with it
		flows[i].bytes = tb_flow_key(
			flows[i].job, flows[i].source.id, flows[i].destination.id);
	assert_int_equal(tb_flows_in_order(flows, n, sorted), TB_OK);
	qsort(flows, n, sizeof *flows, by_ids);
	assert_memory_equal(flows, sorted, n * sizeof *flows);
	free(flows);
	free(sorted);
}

static void flows_are_sorted_by_job_source_and_destination(void **state)
{
	(void)state;
	check(0, 1, 1);
	check(1, 1, 16);
	check(2, 1, 2);
	check(1000, 1, 64);
	check(1000, 3, 300);
	check(5000, 1 << 16, 1 << 24);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(flows_are_sorted_by_job_source_and_destination),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

// What hosts of several rails report as not delivered: by node, not by NIC.
#include "host.h"
#include "network_open.h"
#include "preset.h"
#include "replay_script.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

struct seen {
	struct tb_undelivered_sample samples[8];
	size_t n;
};

static int keep(void *context, const struct tb_undelivered_sample *samples, size_t n)
{
	struct seen *seen = context;
	for (size_t i = 0; i < n && seen->n < 8; i++)
		seen->samples[seen->n++] = samples[i];
	return TB_OK;
}

static tb_time_ps never(const struct tb_network *network, struct tb_node source,
	struct tb_node destination, uint64_t bytes)
{
	(void)network, (void)source, (void)destination, (void)bytes;
	return 0;
}

static struct tb_network *two_rails(void)
{
	struct tb_network_params params;
	struct tb_network *net = NULL;
	struct tb_error error = {0};
	assert_int_equal(
		tb_network_preset(&params, "qsnet2,rails=2,levels=2", &error), 0);
	assert_int_equal(
		tb_network_open(&net, &(struct tb_network_description){.params = &params},
			&error),
		0);
	return net;
}

// A message from node 1 to 2 was given up on each rail, for one reason: that is one row,
// with the earlier instant. Other reasons and other pairs have rows of their own, sorted.
static void rails_are_added_up(void **state)
{
	(void)state;
	struct tb_network *net = two_rails();
	const uint32_t n = tb_network_n_nodes(net) / 2;
	struct seen seen = {.n = 0};
	struct script script = {NULL, 0, 0};
	const struct tb_source source = script_source(&script);
	const struct tb_observer observer = {.context = &seen, .undelivered = keep};
	struct tb_host *host = NULL;
	struct tb_error error = {0};
	assert_int_equal(
		tb_host_new(&host, net, &source, &observer, never, &error), TB_OK);
	const struct tb_undelivered_sample samples[] = {
		{0, {1}, {2}, {9}, 1, 100, 700},
		{0, {1}, {2}, {TB_ID_NONE}, 2, 40, 900},
		{0, {3}, {2}, {9}, 1, 5, 100},
		{0, {1 + n}, {2 + n}, {9}, 3, 1000, 500},
		{0, {1 + n}, {2 + n}, {TB_ID_NONE}, 4, 8, 950},
		{1, {1 + n}, {2 + n}, {9}, 1, 7, 300},
	};
	const struct tb_undelivered_sample expected[] = {
		{0, {1}, {2}, {9}, 4, 1100, 500},
		{0, {1}, {2}, {TB_ID_NONE}, 6, 48, 900},
		{0, {3}, {2}, {9}, 1, 5, 100},
		{1, {1}, {2}, {9}, 1, 7, 300},
	};
	const struct tb_observer hosts = tb_host_observer(host);
	assert_int_equal(hosts.undelivered(hosts.context, samples, 6), TB_OK);
	assert_int_equal(seen.n, 4);
	for (size_t i = 0; i < 4; i++) {
		const struct tb_undelivered_sample *is = &seen.samples[i];
		assert_int_equal(is->job, expected[i].job);
		assert_int_equal(is->source.id, expected[i].source.id);
		assert_int_equal(is->destination.id, expected[i].destination.id);
		assert_int_equal(is->dead.id, expected[i].dead.id);
		assert_int_equal(is->n_messages, expected[i].n_messages);
		assert_int_equal(is->bytes, expected[i].bytes);
		assert_int_equal(is->first_ps, expected[i].first_ps);
	}
	tb_host_free(host);
	tb_network_free(net);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rails_are_added_up),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

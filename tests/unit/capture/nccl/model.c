// NCCL's model of time against its published constants (src/graph/tuning.cc), by hand,
// and what follows for calls of many sizes on many hosts.
#include "algorithms.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define N_MOST 256

// Hosts of H100s, an adapter of NDR for each.
static struct tb_collective_shape shape_on(
	enum tb_collective_op op, uint32_t n_hosts, uint32_t each, uint64_t bytes)
{
	static uint32_t hosts[N_MOST];
	for (uint32_t i = 0; i < n_hosts * each; i++)
		hosts[i] = i / each;
	return (struct tb_collective_shape){.op = op,
		.n = n_hosts * each,
		.n_local = n_hosts * each,
		.bytes = bytes,
		.hosts = hosts};
}

static void the_model_has_the_published_times(void **state)
{
	(void)state;
	static const struct {
		enum tb_collective_op op;
		uint32_t n_hosts, each;
		uint64_t bytes;
		const char *algorithm, *protocol;
		double us;
	} rows[] = {
		// 2 (15 steps of 2.7 us between hosts, 48 of the proxy's 1 us), 20.4
		// GB/s.
		{TB_COLL_ALLREDUCE, 16, 4, 256, "nccl-ring", "LL",
			6.6 + 2 * (15 * 2.7 + 48 * 1) + 256 / (20400 * 64. / 126)},
		{TB_COLL_ALLREDUCE, 16, 4, 256, "nccl-tree", "LL",
			6.8 + 2 * (3 * .6 + 4 * 5) + 256 / (20400 * .5)},
		// Four channels of 36 GB/s, at .8 for 64 MiB.
		{TB_COLL_ALLREDUCE, 16, 4, 64 << 20, "nccl-tree", "Simple",
			8.4 + 2 * (3 * 4 + 4 * 14) + (64 << 20) / (144000 * .5 * .8)},
		{TB_COLL_ALLREDUCE, 1, 8, 1 << 20, "nccl-ring", "LL128",
			14 + 14 * 1.9 + (1 << 20) / (370800 * .92 * 8 / 14)},
		// One GPU on each host: the tree's latency, and the ring's plateau.
		{TB_COLL_ALLREDUCE, 10, 1, 64 << 20, "nccl-ring", "Simple",
			(8.4 + 18 * 14) * 1.4 + (64 << 20) / (48000 * 10. / 18)},
		{TB_COLL_ALLGATHER, 16, 1, 4096, "nccl-pat", "Simple",
			8 + 4 * 14 / 3.5 + 16 * 2.8 + 16 * 4096 / 36000.},
		{TB_COLL_ALLREDUCE, 10, 8, 256 << 20, "nccl-nvls-tree", "Simple",
			25 + 2 * 3 * 20.9 + (256 << 20) / (8 * 45500. * 80 / 158)},
		{TB_COLL_ALLREDUCE, 1, 8, 64 << 20, "nccl-nvls", "Simple",
			25 + (64 << 20) / (370800 * 8. / 14)},
		{TB_COLL_BROADCAST, 4, 8, 1 << 20, "nccl-ring", "LL",
			6.6 + 2.7 + (1 << 20) / 20400.},
		{TB_COLL_REDUCE_SCATTER, 2, 8, 1 << 20, "nccl-tree", "LL", -1},
	};
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct tb_collective_shape shape = shape_on(
			rows[i].op, rows[i].n_hosts, rows[i].each, rows[i].bytes);
		double us = tb_nccl_time_us(&shape, rows[i].algorithm, rows[i].protocol);
		if (fabs(us - rows[i].us) > 1e-3 * fabs(us))
			fail_msg("row %zu: %.3f us instead of %.3f", i, us, rows[i].us);
	}
}

static void nccl_takes_what_its_model_finds_fastest(void **state)
{
	(void)state;
	static const struct {
		uint32_t n_hosts, each;
		uint64_t bytes;
		const char *algorithm;
	} rows[] = {
		{1, 8, 1024, "nccl-ring"},
		{1, 8, 64 << 20, "nccl-nvls"},
		{2, 8, 256, "nccl-tree"},
		{16, 4, 256, "nccl-tree"},
		{16, 4, 64 << 20, "nccl-nvls-tree"},
		{10, 1, 1024, "nccl-tree"},
		{10, 1, 256 << 20, "nccl-ring"},
	};
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct tb_collective_shape shape = shape_on(
			TB_COLL_ALLREDUCE, rows[i].n_hosts, rows[i].each, rows[i].bytes);
		struct tb_algorithm_choice choice = {0};
		tb_choose_nccl(&choice, &shape);
		if (strcmp(choice.algorithm, rows[i].algorithm) != 0)
			fail_msg("row %zu: %s (%s) instead of %s", i, choice.algorithm,
				choice.reason, rows[i].algorithm);
	}
}

// Channels that share an adapter are one of the plan's, but for those of both trees and
// the slices of Simple's rings; trees by LL128 have smaller chunks (calcCollChunking).
static void channels_that_share_are_one(void **state)
{
	(void)state;
	static const struct {
		enum tb_collective_op op;
		uint32_t n_hosts, each;
		uint64_t bytes;
		const char *algorithm;
		uint32_t n_channels;
		uint64_t chunk_bytes, channel_bytes_per_s;
	} rows[] = {
		// LL128, 8 channels of 36.7 GB/s
		{TB_COLL_ALLREDUCE, 16, 4, 8 << 20, "nccl-ring", 4, 2 * 576000,
			UINT64_C(73400000000)},
		// LL: one channel has enough to do.
		{TB_COLL_ALLREDUCE, 16, 4, 1024, "nccl-ring", 1, 32 << 10,
			UINT64_C(5875000000)},
		// Simple
		{TB_COLL_ALLREDUCE, 16, 4, 256 << 20, "nccl-ring", 8, 2 << 20, 0},
		{TB_COLL_ALLGATHER, 1, 8, 64 << 20, "nccl-ring", 1, 48 << 20, 0},
		// LL128; 5.4 steps, 1 MiB over 8 channels. Both trees carry 4 x 29 GB/s
		// at .6 / 2, of which an inner member takes in three.
		{TB_COLL_ALLREDUCE, 16, 4, 1 << 20, "nccl-tree", 8, 18000,
			UINT64_C(13050000000)},
	};
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct tb_collective_shape shape = shape_on(
			rows[i].op, rows[i].n_hosts, rows[i].each, rows[i].bytes);
		struct tb_algorithm_choice choice = {.algorithm = rows[i].algorithm};
		tb_choose_nccl(&choice, &shape);
		double off = (double)choice.pace.channel_bytes_per_s -
			     (double)rows[i].channel_bytes_per_s;
		if (choice.n_channels != rows[i].n_channels ||
			choice.chunk_bytes != rows[i].chunk_bytes || fabs(off) > 1e6)
			fail_msg("row %zu: %u channels, chunks of %llu, %llu B/s", i,
				choice.n_channels, (unsigned long long)choice.chunk_bytes,
				(unsigned long long)choice.pace.channel_bytes_per_s);
	}
}

// A network without links has no NVLS, and slower adapters carry less.
static void the_machine_at_hand_decides(void **state)
{
	(void)state;
	struct tb_collective_shape shape = shape_on(TB_COLL_ALLREDUCE, 1, 8, 64 << 20);
	struct tb_gpu_node node = {.nic_bytes_per_s = UINT64_C(12500000000)};
	shape.node = &node;
	assert_true(tb_nccl_time_us(&shape, "nccl-nvls", "Simple") < 0);
	node.link_bytes_per_s = UINT64_C(240000000000); // A100
	assert_true(tb_nccl_time_us(&shape, "nccl-nvls", "Simple") < 0);
	shape = shape_on(TB_COLL_ALLGATHER, 4, 8, 1 << 20);
	shape.node = &node;
	node.n_nics = 8;
	double eight = tb_nccl_time_us(&shape, "nccl-ring", "Simple");
	node.n_nics = 1;
	double one = tb_nccl_time_us(&shape, "nccl-ring", "Simple");
	// 31 of 32 MiB at 8 x 12 GB/s, or at 12.
	assert_true(fabs(one - eight - 31 * (double)(1 << 20) / 12000 * 7 / 8) < 1);
}

// Channels enter hosts at different members, whose adapters they use.
static void channels_use_the_adapters_of_all(void **state)
{
	(void)state;
	struct tb_collective_shape shape = shape_on(TB_COLL_ALLGATHER, 3, 4, 1 << 20);
	struct tb_plan plan = tb_plan_of_call(shape.op, shape.n, shape.bytes, false);
	bool enters[N_MOST] = {0};
	shape.n_channels = 4;
	tb_nccl_ring(&plan, &shape);
	for (size_t i = 0; i < plan.n_transfers; i++)
		if (shape.hosts[plan.transfers[i].from] !=
			shape.hosts[plan.transfers[i].to])
			enters[plan.transfers[i].to] = true;
	for (uint32_t i = 0; i < shape.n; i++)
		assert_true(enters[i]);
	tb_plan_fini(&plan);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_model_has_the_published_times),
		cmocka_unit_test(nccl_takes_what_its_model_finds_fastest),
		cmocka_unit_test(channels_that_share_are_one),
		cmocka_unit_test(the_machine_at_hand_decides),
		cmocka_unit_test(channels_use_the_adapters_of_all),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

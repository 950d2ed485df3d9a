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
		// Eight channels of 24 GB/s, two an adapter, at .92, and .8 for 64 MiB.
		{TB_COLL_ALLREDUCE, 16, 4, 64 << 20, "nccl-tree", "Simple",
			8.4 + 2 * (3 * 4 + 4 * 14) +
				(64 << 20) / (8 * 24000 * .92 * .5 * .8)},
		// Two hosts: what a tree carries inside a host counts, here 60 GB/s for
		// the 48 that two channels carry between them.
		{TB_COLL_ALLREDUCE, 2, 1, 1 << 30, "nccl-tree", "Simple",
			8.4 + 2 * 14 + (1 << 30) / (2 * 41400 * .85 * .5)},
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
// the slices of Simple's rings of one GPU a host; trees by LL128 have smaller chunks
// (calcCollChunking).
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
		// LL128, 16 channels of 36.7 GB/s
		{TB_COLL_ALLREDUCE, 16, 4, 8 << 20, "nccl-ring", 4, 4 * 576000,
			UINT64_C(146800000000)},
		// LL: one channel has enough to do.
		{TB_COLL_ALLREDUCE, 16, 4, 1024, "nccl-ring", 1, 32 << 10,
			UINT64_C(5875000000)},
		// Simple
		{TB_COLL_ALLREDUCE, 16, 4, 1 << 30, "nccl-ring", 4, 8 << 20, 0},
		{TB_COLL_ALLREDUCE, 16, 1, 1 << 30, "nccl-ring", 2, 4 << 20, 0},
		{TB_COLL_ALLGATHER, 1, 8, 64 << 20, "nccl-ring", 1, 48 << 20, 0},
		// LL128; 5.4 steps, 1 MiB over 16 channels, two of 18000 B together. Both
		// trees carry 8 x 24 GB/s at .92 x 15 / 16 and .6 / 2, of which an inner
		// member takes in three.
		{TB_COLL_ALLREDUCE, 16, 4, 1 << 20, "nccl-tree", 8, 36000,
			UINT64_C(18630000000)},
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

// What two hosts, versions and the environment make of it: GPUs of A100s with one adapter
// of 100 Gbit/s a host, or H100s with one of NDR each.
static void hosts_versions_and_settings_decide(void **state)
{
	(void)state;
	static const struct {
		const char *library;
		enum tb_collective_op op;
		uint32_t n_hosts, each;
		uint64_t bytes;
		bool is_slow;
		const char *algorithm, *protocol;
	} rows[] = {
		{"nccl", TB_COLL_ALLREDUCE, 2, 8, 1 << 30, true, "nccl-tree", "Simple"},
		{"nccl", TB_COLL_ALLREDUCE, 4, 8, 1 << 30, true, "nccl-ring", "Simple"},
		{"nccl NCCL_ALGO=Ring", TB_COLL_ALLREDUCE, 2, 8, 1 << 30, true,
			"nccl-ring", "Simple"},
		{"nccl NCCL_ALGO=^tree,NVLStree", TB_COLL_ALLREDUCE, 2, 8, 1 << 30, true,
			"nccl-ring", "Simple"},
		{"nccl NCCL_ALGO=ring;allreduce:tree NCCL_PROTO=LL", TB_COLL_ALLREDUCE, 4,
			8, 1 << 30, true, "nccl-tree", "LL"},
		// A list without algorithms of the operation is none.
		{"nccl NCCL_ALGO=Tree", TB_COLL_ALLGATHER, 4, 8, 1 << 20, false,
			"nccl-ring", NULL},
		{"nccl", TB_COLL_ALLREDUCE, 4, 8, 64 << 20, false, "nccl-nvls-tree",
			NULL},
		{"nccl@2.17", TB_COLL_ALLREDUCE, 4, 8, 64 << 20, false, "nccl-ring",
			"LL128"},
		{"nccl NCCL_NVLS_ENABLE=0", TB_COLL_ALLREDUCE, 1, 8, 64 << 20, false,
			"nccl-ring", NULL},
		{"nccl@2.16", TB_COLL_ALLREDUCE, 1, 8, 64 << 20, false, "nccl-ring",
			NULL},
		{"nccl", TB_COLL_ALLGATHER, 16, 1, 4096, false, "nccl-pat", NULL},
		{"nccl@2.22", TB_COLL_ALLGATHER, 16, 1, 4096, false, "nccl-ring", NULL},
		{"nccl NCCL_PAT_ENABLE=0", TB_COLL_ALLGATHER, 16, 1, 4096, false,
			"nccl-ring", NULL},
		{"rccl", TB_COLL_ALLREDUCE, 1, 8, 64 << 20, false, "nccl-ring", "Simple"},
		{"rccl", TB_COLL_ALLREDUCE, 4, 8, 1024, false, "nccl-tree", "LL"},
		{"rccl@2.20", TB_COLL_ALLREDUCE, 4, 8, 1 << 30, false, "nccl-ring",
			"Simple"},
	};
	static const struct tb_gpu_node slow = {
		.link_bytes_per_s = UINT64_C(240000000000),
		.nic_bytes_per_s = UINT64_C(12500000000),
		.n_nics = 1};
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		const struct tb_library *library = NULL;
		struct tb_collective_choices choices = {0};
		assert_int_equal(
			tb_library_read(&library, &choices, rows[i].library, NULL),
			TB_OK);
		struct tb_collective_shape shape = shape_on(
			rows[i].op, rows[i].n_hosts, rows[i].each, rows[i].bytes);
		struct tb_algorithm_choice choice = {0};
		shape.nccl = &choices.nccl;
		shape.is_rccl = strcmp(tb_library_name(library), "rccl") == 0;
		shape.node = rows[i].is_slow ? &slow : NULL;
		tb_choose_nccl(&choice, &shape);
		if (strcmp(choice.algorithm, rows[i].algorithm) != 0 ||
			(rows[i].protocol && !strstr(choice.reason, rows[i].protocol)))
			fail_msg("row %zu: %s (%s) instead of %s", i, choice.algorithm,
				choice.reason, rows[i].algorithm);
	}
}

static void bad_settings_are_refused(void **state)
{
	(void)state;
	static const char *const rows[][2] = {{"nccl@19", "no version of NCCL"},
		{"nccl@2.19beta", "no version of NCCL"},
		{"nccl NCCL_ALGO=Circle", "'Circle' is none of Ring, Tree"},
		{"nccl NCCL_ALGO=Ring;Tree", "expected FUNCTION:LIST"},
		{"nccl NCCL_PROTO=", "none of LL"},
		{"nccl NCCL_MAX_NCHANNELS=many", "expected a number"},
		{"nccl NCCL_DEBUG=INFO", "no setting of NCCL that is modelled"},
		{"openmpi@4", "only nccl and rccl have versions"},
		{"mpich NCCL_ALGO=Ring", "library mpich has no setting"}};
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		const struct tb_library *library = NULL;
		struct tb_collective_choices choices = {0};
		struct tb_error error = {0};
		assert_int_equal(tb_library_read(&library, &choices, rows[i][0], &error),
			TB_EUSAGE);
		if (!strstr(error.text, rows[i][1]))
			fail_msg("%s: %s", rows[i][0], error.text);
	}
}

// With 16 adapters for 8 GPUs every one carries a channel; without knowing the GPUs there
// is one for each.
static void two_adapters_of_a_gpu_carry_twice(void **state)
{
	(void)state;
	struct tb_gpu_node node = {.link_bytes_per_s = UINT64_C(240000000000),
		.nic_bytes_per_s = UINT64_C(12500000000),
		.n_nics = 16};
	struct tb_collective_shape shape = shape_on(TB_COLL_ALLGATHER, 4, 8, 1 << 20);
	shape.node = &node;
	double one = tb_nccl_time_us(&shape, "nccl-ring", "Simple");
	node.n_gpus = 8;
	double two = tb_nccl_time_us(&shape, "nccl-ring", "Simple");
	assert_true(fabs(one - two - 31 * (double)(1 << 20) / 96000 / 2) < 1);
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
		cmocka_unit_test(hosts_versions_and_settings_decide),
		cmocka_unit_test(bad_settings_are_refused),
		cmocka_unit_test(two_adapters_of_a_gpu_carry_twice),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

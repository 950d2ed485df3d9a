// What NCCL chooses. An all-reduce goes along rings or trees, whichever its own model of
// time finds faster: latency and bytes over bandwidth, the better of the protocols LL and
// Simple, with the constants of src/graph/tuning.cc of NCCL 2.7 (NVLink within a host).
// NCCL measures bandwidths of the machine; here all links have BUS_GB_PER_S.
#include "algorithms.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#define BUS_GB_PER_S 24.0

enum protocol { LL, SIMPLE, N_PROTOCOLS };

// Microseconds: what a collective costs at all, and a step within and between hosts.
static const struct {
	double base, within, between;
} tree_us[N_PROTOCOLS] = {{4.4, .52 * 1.8, 5.0}, {0, 28, 50}},
  ring_us[N_PROTOCOLS] = {{3.6, .47 * 1.8, 2.7}, {8.4, 3.4, 9.6}};

// The share of the bandwidth that trees get, for 64 B, 128 B, ... (tuning.cc).
static const double tree_share[N_PROTOCOLS][22] = {
	{1, 1, 1, 1, .9, .8, .7, .7, .7, .7, .6, .5, .4, .4, .5, .6, .7, .8, .9, 1, 1, 1},
	{.9, .9, .9, .9, .9, .9, .9, .8, .7, .6, .6, .5, .5, .5, .5, .5, .5, .6, .6, .7,
		.8, .9},
};

static uint32_t log2_of(uint64_t n)
{
	uint32_t log = 0;
	while (n >>= 1)
		log++;
	return log;
}

static double tree_time(uint32_t n, uint32_t hosts, uint64_t bytes, enum protocol p)
{
	double gb_per_s = BUS_GB_PER_S * .9 / 2 / (p == LL ? 3.8 : 1);
	uint32_t size = log2_of(bytes >> 6);
	double share = size < 22 ? tree_share[p][size] : 1;
	double steps_us = 2 * ((n / hosts - 1) * tree_us[p].within +
				      log2_of(hosts) * tree_us[p].between);
	return tree_us[p].base + steps_us + (double)bytes / (1000 * gb_per_s * share);
}

static double ring_time(uint32_t n, uint32_t hosts, uint64_t bytes, enum protocol p)
{
	double steps = 2.0 * (n - 1), between = 2.0 * (hosts - 1);
	double gb_per_s = BUS_GB_PER_S * n / steps / (p == LL ? 4 : 1);
	double us = ring_us[p].base + (steps - between) * ring_us[p].within +
		    between * ring_us[p].between;
	if (p == SIMPLE && (double)bytes >= n / 16.0 * 65536)
		us *= 1.9; // "plateau effect of ring"
	return us + (double)bytes / (1000 * gb_per_s);
}

static double least(const double times[N_PROTOCOLS])
{
	return times[LL] < times[SIMPLE] ? times[LL] : times[SIMPLE];
}

static int compare(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	return x < y ? -1 : x > y;
}

static uint32_t n_hosts_of(const struct tb_collective_shape *shape)
{
	if (!shape->hosts)
		return shape->n;
	uint32_t n = 1, *sorted = malloc(shape->n * sizeof *sorted);
	if (!sorted)
		return shape->n; // the planner will find no memory either
	for (uint32_t i = 0; i < shape->n; i++)
		sorted[i] = shape->hosts[i];
	qsort(sorted, shape->n, sizeof *sorted, compare);
	for (uint32_t i = 1; i < shape->n; i++)
		n += sorted[i] != sorted[i - 1];
	free(sorted);
	return n;
}

static void choose_allreduce(
	struct tb_choice *choice, const struct tb_collective_shape *shape)
{
	uint32_t n = shape->n, hosts = n_hosts_of(shape);
	double tree[N_PROTOCOLS], ring[N_PROTOCOLS];
	for (int p = 0; p < N_PROTOCOLS; p++) {
		tree[p] = tree_time(n, hosts, shape->bytes, (enum protocol)p);
		ring[p] = ring_time(n, hosts, shape->bytes, (enum protocol)p);
	}
	bool by_tree = hosts > 1 && least(tree) < least(ring);
	choice->algorithm = by_tree ? "nccl-tree" : "nccl-ring";
	if (hosts == 1)
		snprintf(choice->reason, sizeof choice->reason, "NCCL, one host");
	else
		snprintf(choice->reason, sizeof choice->reason,
			"NCCL, %" PRIu32 " hosts, where its model finds %s faster", hosts,
			by_tree ? "trees" : "rings");
}

void tb_choose_nccl(struct tb_choice *choice, const struct tb_collective_shape *shape)
{
	static const char *const names[TB_COLL_N] = {
		[TB_COLL_BARRIER] = "tree",
		[TB_COLL_BROADCAST] = "nccl-chain",
		[TB_COLL_ALLGATHER] = "nccl-ring",
		[TB_COLL_REDUCE] = "nccl-chain",
		[TB_COLL_REDUCE_SCATTER] = "nccl-ring",
	};
	bool has_own = names[shape->op] && !shape->unequal;
	if (shape->op == TB_COLL_ALLREDUCE) {
		choose_allreduce(choice, shape);
		return;
	}
	choice->algorithm = has_own ? names[shape->op] : "linear";
	snprintf(choice->reason, sizeof choice->reason, "NCCL, %s",
		shape->op == TB_COLL_BARRIER ? "as an all-reduce of nothing"
		: has_own		     ? "always"
					     : "a group of sends and receives");
}

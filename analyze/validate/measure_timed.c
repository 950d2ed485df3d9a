// How claims about collectives and parallel I/O are computed from measured times.
#include "measure_impl.h"

#include <math.h>

static double outcome_ratio(const struct tb_outcome *over, const struct tb_outcome *under)
{
	return over->latency_s / under->latency_s;
}

// speed_up takes the outcomes of our version, then of the native one.
static double speed_up(const struct tb_outcome *const *outcomes)
{
	return outcome_ratio(outcomes[1], outcomes[0]);
}

static double measure_gain(const struct tb_outcome *const *outcomes)
{
	return (outcome_ratio(outcomes[1], outcomes[0]) - 1) * 100;
}

static double saved(const struct tb_outcome *const *outcomes)
{
	return (1 - outcome_ratio(outcomes[0], outcomes[1])) * 100;
}

// least_lead takes groups, one per size: first the experiment, then those that it was
// published to be faster than. It returns by how many percent it is, in the closest race.
static double least_lead(const struct tb_outcome *const *outcomes, int n, int a_group)
{
	double least = INFINITY;
	for (int i = 0; i < n; i += a_group)
		for (int k = 1; k < a_group; k++)
			least = fmin(least, outcome_ratio(outcomes[i + k], outcomes[i]));
	return (least - 1) * 100;
}

static double lead_of_three(const struct tb_outcome *const *outcomes)
{
	return least_lead(outcomes, 9, 3);
}

static double lead_of_four(const struct tb_outcome *const *outcomes)
{
	return least_lead(outcomes, 12, 4);
}

static double lead_of_two(const struct tb_outcome *const *outcomes)
{
	return least_lead(outcomes, 6, 2);
}

// there returns half of the round-trip time, in us.
static double there(const struct tb_outcome *const *outcomes)
{
	return outcomes[0]->latency_s / 2 * 1e6;
}

// Of pings of a megabyte, in MB/s.
static double one_way(const struct tb_outcome *const *outcomes)
{
	return (1 << 20) / outcomes[0]->latency_s / 1e6;
}

static double both_ways(const struct tb_outcome *const *outcomes)
{
	return 2 * one_way(outcomes);
}

#define SHORT_ALLGATHER(size)                                                            \
	"allgather.bruck." size, "allgather.direct." size, "allgather.exchange." size
#define LONG_ALLGATHER(size)                                                             \
	"allgather.direct." size, "allgather.bruck." size, "allgather.exchange." size,   \
		"elan.allgather.ring." size
#define SCATTER(first, second, size) "scatter." first "." size, "scatter." second "." size
#define PVFS(which)		     "pvfs." which ".elan4", "pvfs." which ".tcp"

const struct tb_measure tb_measures_timed[] = {
	{"q2.put.bothway.1", both_ways, {"ping.both.put.1"}},
	{"q2.put.bothway.2", both_ways, {"ping.both.put.2"}},
	{"q2.put.lat", there, {"ping.back.put"}},
	{"q2.rdma.write.lat", there, {"ping.back.write"}},
	{"q2.rdma.write.bw", one_way, {"ping.way.write"}},
	{"q2.rdma.read.lat", there, {"ping.back.read"}},
	{"q2.rdma.read.bw", one_way, {"ping.way.read"}},
	{"q2.qdma.lat", there, {"ping.back.qdma"}},
	{"q2.qdma.bw", one_way, {"ping.way.qdma"}},
	{"q2.eip.lat", there, {"ping.back.tcp"}},
	{"q2.eip.bw", one_way, {"ping.way.tcp"}},
	{"coll.allgather.32k", speed_up,
		{"allgather.direct.32k", "elan.allgather.ring.32k"}},
	{"coll.allgather.order.short", lead_of_three,
		{SHORT_ALLGATHER("4"), SHORT_ALLGATHER("64"), SHORT_ALLGATHER("256")}},
	{"coll.allgather.order.long", lead_of_four,
		{LONG_ALLGATHER("4k"), LONG_ALLGATHER("32k"), LONG_ALLGATHER("256k")}},
	{"coll.gather.1m", speed_up, {"gather.binomial.1m", "elan.gather.tree.1m"}},
	{"coll.alltoall.16k", speed_up,
		{"alltoall.direct.16k", "elan.alltoall.permission.16k"}},
	{"coll.scatter.short", lead_of_two,
		{SCATTER("binomial", "sequential", "4"),
			SCATTER("binomial", "sequential", "64"),
			SCATTER("binomial", "sequential", "256")}},
	{"coll.scatter.long", lead_of_two,
		{SCATTER("sequential", "binomial", "16k"),
			SCATTER("sequential", "binomial", "256k"),
			SCATTER("sequential", "binomial", "1m")}},
	{"pvfs.read.gain", measure_gain, {PVFS("read")}},
	{"pvfs.write.gain", measure_gain, {PVFS("write")}},
	{"pvfs.resize", saved, {PVFS("resize")}},
	{"pvfs.tile.write", measure_gain, {PVFS("tile-write")}},
	{"pvfs.tile.read", measure_gain, {PVFS("tile-read")}},
	{"pvfs.btio.saved", saved, {PVFS("bt")}},
	{0},
};

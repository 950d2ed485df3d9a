// How the figure of each claim is computed from its experiments.
#include "measure.h"

#include <math.h>
#include <string.h>

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

// least_lead takes an experiment, then those that it was published to be faster than. It
// returns by how many percent it is, in the closest race.
static double least_lead(const struct tb_outcome *const *outcomes)
{
	double least = INFINITY;
	for (int i = 1; outcomes[i]; i++)
		least = fmin(least, outcome_ratio(outcomes[i], outcomes[0]));
	return (least - 1) * 100;
}

// least_lead_of_two is as least_lead of two experiments one after the other.
static double least_lead_of_two(const struct tb_outcome *const *outcomes)
{
	double least = INFINITY, sum = outcomes[0]->latency_s + outcomes[1]->latency_s;
	for (int i = 2; outcomes[i]; i++)
		least = fmin(least, outcomes[i]->latency_s / sum);
	return (least - 1) * 100;
}

// most_gain takes pairs, ours and the native one; it returns the greatest speed-up.
static double most_gain(const struct tb_outcome *const *outcomes)
{
	double most = 0;
	for (int i = 0; outcomes[i]; i += 2)
		most = fmax(most, outcome_ratio(outcomes[i + 1], outcomes[i]));
	return most;
}

// Of timed jobs: half of the time there and back, in us; the time, in ms; the rate of
// what all of them move, in MB/s; how many times that of another.
static double there(const struct tb_outcome *const *outcomes)
{
	return outcomes[0]->latency_s / 2 * 1e6;
}

static double milliseconds(const struct tb_outcome *const *outcomes)
{
	return outcomes[0]->latency_s * 1e3;
}

static double rate(const struct tb_outcome *const *outcomes)
{
	return outcomes[0]->job_bps / 1e6;
}

static double times_rate(const struct tb_outcome *const *outcomes)
{
	return outcomes[0]->job_bps / outcomes[1]->job_bps;
}

static double rate_lead(const struct tb_outcome *const *outcomes)
{
	return (times_rate(outcomes) - 1) * 100;
}

static double rate_difference(const struct tb_outcome *const *outcomes)
{
	return fabs(rate_lead(outcomes));
}

#define MB_PER_S 1e6

// mean_sent returns the mean rate of the senders among nodes `first` to `last`, in MB/s.
static double mean_sent(const struct tb_outcome *outcome, uint32_t first, uint32_t last)
{
	double sum = 0;
	uint32_t n = 0;
	for (uint32_t i = first; i <= last && i < outcome->n_nodes; i++)
		if (outcome->nodes[i].role == TB_ROLE_SENDER) {
			sum += outcome->nodes[i].sent_bps;
			n++;
		}
	return n ? sum / n / MB_PER_S : NAN;
}

static double sent(const struct tb_outcome *const *outcomes)
{
	return mean_sent(outcomes[0], 0, UINT32_MAX);
}

static double wire(const struct tb_outcome *const *outcomes)
{
	return outcomes[0]->nodes[0].wire_bps / MB_PER_S;
}

static double latency(const struct tb_outcome *const *outcomes)
{
	return outcomes[0]->latency_s * 1e6;
}

static double fraction(const struct tb_outcome *const *outcomes)
{
	return sent(outcomes) / sent(outcomes + 1);
}

// sent_change returns by how many percent the first experiment's nodes send more than
// the second's.
static double sent_change(const struct tb_outcome *const *outcomes)
{
	return (fraction(outcomes) - 1) * 100;
}

static double by_sizes_difference(const struct tb_outcome *const *outcomes)
{
	const double *bps = outcomes[0]->by_sizes_bps;
	return fabs(bps[0] / bps[1] - 1) * 100;
}

static double mean_taken(const struct tb_outcome *outcome)
{
	double sum = 0;
	uint32_t n = 0;
	for (uint32_t i = 0; i < outcome->n_nodes; i++)
		if (outcome->nodes[i].serves) {
			sum += outcome->nodes[i].taken_bps;
			n++;
		}
	return n ? sum / n / MB_PER_S : NAN;
}

static double taken(const struct tb_outcome *const *outcomes)
{
	return mean_taken(outcomes[0]);
}

// measure_given returns what the hot node sent, which is what the others read.
static double measure_given(const struct tb_outcome *const *outcomes)
{
	return outcomes[0]->nodes[0].sent_bps / MB_PER_S;
}

static double drop(const struct tb_outcome *const *outcomes)
{
	return (1 - mean_taken(outcomes[1]) / mean_taken(outcomes[0])) * 100;
}

static double measure_near(const struct tb_outcome *const *outcomes)
{
	return mean_sent(outcomes[0], 1, 3);
}

static double mid(const struct tb_outcome *const *outcomes)
{
	return mean_sent(outcomes[0], 4, 15);
}

static double far(const struct tb_outcome *const *outcomes)
{
	return mean_sent(outcomes[0], 16, 63);
}

// shared_gain: I/O nodes that send too, and such that only serve.
static double shared_gain(const struct tb_outcome *const *outcomes)
{
	return mean_taken(outcomes[0]) - mean_taken(outcomes[1]);
}

// taken_lead takes pairs: the one that was published to be better, and the other. It
// returns by how many percent it is, in the closest pair.
static double taken_lead(const struct tb_outcome *const *outcomes)
{
	double least = INFINITY;
	for (int i = 0; outcomes[i]; i += 2)
		least = fmin(
			least, mean_taken(outcomes[i]) / mean_taken(outcomes[i + 1]));
	return (least - 1) * 100;
}

static double taken_difference(const struct tb_outcome *const *outcomes)
{
	return fabs(taken_lead(outcomes));
}

static uint32_t count_serving(const struct tb_outcome *outcome)
{
	uint32_t n = 0;
	for (uint32_t i = 0; i < outcome->n_nodes; i++)
		n += outcome->nodes[i].serves;
	return n;
}

// read_change takes writes alone, half of each, and reads alone. It returns how much the
// largest load of an I/O node, both directions counted, is above the smallest, in percent
// of their mean.
static double read_change(const struct tb_outcome *const *outcomes)
{
	double least = INFINITY, most = 0, sum = 0;
	for (int i = 0; i < 3; i++) {
		double load = outcomes[i]->job_bps / count_serving(outcomes[i]);
		least = fmin(least, load);
		most = fmax(most, load);
		sum += load;
	}
	return (most - least) / (sum / 3) * 100;
}

// A compute job alone, then beside I/O. Its bytes are counted by job: an I/O node on
// which it runs sends what the I/O job reads.
#define N_LOADS 3

static double loss(const struct tb_outcome *const *outcomes, int load)
{
	return (1 - outcomes[1 + load]->job_bps / outcomes[0]->job_bps) * 100;
}

static double job_loss(const struct tb_outcome *const *outcomes)
{
	return loss(outcomes, 0);
}

static double worst_loss(const struct tb_outcome *const *outcomes)
{
	double worst = loss(outcomes, 0);
	for (int i = 1; i < N_LOADS; i++)
		worst = fmax(worst, loss(outcomes, i));
	return worst;
}

static double smallest_step(const struct tb_outcome *const *outcomes)
{
	double before = 0, smallest = INFINITY;
	for (int i = 0; i < N_LOADS; i++) {
		double now = loss(outcomes, i);
		smallest = fmin(smallest, now - before);
		before = now;
	}
	return smallest;
}

static double most_loaded(const struct tb_outcome *outcome)
{
	double most = 0;
	for (uint32_t i = 0; i < outcome->n_links; i++)
		most = fmax(most, outcome->links[i].delay_share);
	return most;
}

struct sender_spread {
	double mean, deviation;
};

static struct sender_spread stage_spread(
	const struct tb_outcome *outcome, enum tb_link_kind kind, uint32_t level)
{
	double sum = 0, squares = 0;
	uint32_t n = 0;
	for (uint32_t i = 0; i < outcome->n_links; i++)
		if (outcome->links[i].kind == kind && outcome->links[i].level == level) {
			sum += outcome->links[i].delay_share;
			squares += outcome->links[i].delay_share *
				   outcome->links[i].delay_share;
			n++;
		}
	double mean = sum / n;
	return (struct sender_spread){mean, sqrt(fmax(squares / n - mean * mean, 0))};
}

// The numbers in the complement's matrix grow along the path, so they are sums: the delay
// of packets from entering the network until leaving a link (paper 000, 5.4).
//
// stage_percent is NaN when nothing came anywhere: there is no most loaded link.
static double stage_percent(
	const struct tb_outcome *outcome, enum tb_link_kind kind, uint32_t level)
{
	double most = most_loaded(outcome);
	return most > 0 ? stage_spread(outcome, kind, level).mean / most * 100 : NAN;
}

static double first_level(const struct tb_outcome *const *outcomes)
{
	return stage_percent(outcomes[0], TB_LINK_INJECTION, 0);
}

static double second_level(const struct tb_outcome *const *outcomes)
{
	return stage_percent(outcomes[0], TB_LINK_UP, 1);
}

// The stages of the longest path, in its order; headers at an ejection link are there.
static const struct {
	enum tb_link_kind kind;
	uint32_t level;
} stages[] = {
	{TB_LINK_INJECTION, 0},
	{TB_LINK_UP, 1},
	{TB_LINK_UP, 2},
	{TB_LINK_DOWN, 1},
	{TB_LINK_DOWN, 0},
};
enum { N_STAGES = sizeof stages / sizeof *stages };

static double growth_of(const struct tb_outcome *outcome)
{
	double smallest = INFINITY;
	double before = stage_percent(outcome, stages[0].kind, stages[0].level);
	for (int i = 1; i < N_STAGES; i++) {
		double now = stage_percent(outcome, stages[i].kind, stages[i].level);
		if (isnan(now))
			return NAN;
		smallest = fmin(smallest, now - before);
		before = now;
	}
	return smallest;
}

static double unevenness_of(const struct tb_outcome *outcome)
{
	double worst = 0;
	for (int i = 0; i < N_STAGES; i++) {
		struct sender_spread spread =
			stage_spread(outcome, stages[i].kind, stages[i].level);
		if (spread.mean > 0)
			worst = fmax(worst, spread.deviation / spread.mean * 100);
	}
	return most_loaded(outcome) > 0 ? worst : NAN;
}

// The load at which the paper's matrix was taken is not published.
#define COMPLEMENT_LIGHT  "complement.light"
#define COMPLEMENT_MEDIUM "complement.medium"
#define COMPLEMENT_LOADS  COMPLEMENT_LIGHT, COMPLEMENT_MEDIUM, "complement"
enum { N_COMPLEMENT_LOADS = 3 };

// least_growth and most_uneven: the worst of the loads; NaN when one has no figure.
static double least_growth(const struct tb_outcome *const *outcomes)
{
	double worst = INFINITY;
	for (int i = 0; i < N_COMPLEMENT_LOADS; i++) {
		double growth = growth_of(outcomes[i]);
		worst = growth < worst || isnan(growth) ? growth : worst;
	}
	return worst;
}

static double most_uneven(const struct tb_outcome *const *outcomes)
{
	double worst = 0;
	for (int i = 0; i < N_COMPLEMENT_LOADS; i++) {
		double uneven = unevenness_of(outcomes[i]);
		worst = uneven > worst || isnan(uneven) ? uneven : worst;
	}
	return worst;
}

// hot_first_level is the spread over the links that lead into the first level of
// switches, from nodes and from above.
static double hot_first_level(const struct tb_outcome *const *outcomes)
{
	const struct tb_outcome *outcome = outcomes[0];
	double sum = 0, squares = 0;
	uint32_t n = 0;
	for (uint32_t i = 0; i < outcome->n_links; i++) {
		const struct tb_link_outcome *link = &outcome->links[i];
		bool joins =
			link->kind == TB_LINK_UP ? link->level == 1 : link->level == 0;
		if (!joins || link->kind == TB_LINK_EJECTION)
			continue;
		sum += link->wait_share;
		squares += link->wait_share * link->wait_share;
		n++;
	}
	double mean = sum / n;
	return mean > 0 ? sqrt(fmax(squares / n - mean * mean, 0)) / mean * 100 : NAN;
}

// Main memory instead of Elan memory is behind the hosts' PCI bus (docs/model.md, "Main
// memory").
#define PCI_33	  " buffers=main pci=200MB/s pci_turn=600ns"
#define PCI_66	  " buffers=main pci=320MB/s"
#define FROM_MAIN " buffers=main-to-nic pci=320MB/s"
#define TO_MAIN	  " buffers=nic-to-main pci=320MB/s"

#define PERMUTATION(name, pattern)                                                       \
	{                                                                                \
		"perm." name, sent,                                                      \
		{                                                                        \
			pattern                                                          \
		}                                                                        \
	}
#define HOT(name, figure, how)                                                           \
	{                                                                                \
		"hot." name, figure,                                                     \
		{                                                                        \
			"hot nodes=" how                                                 \
		}                                                                        \
	}
#define IO(name) "io." name
#define IO_ROW(name, experiment)                                                         \
	{                                                                                \
		"io." name, taken,                                                       \
		{                                                                        \
			IO(experiment)                                                   \
		}                                                                        \
	}
#define READS "io.random.clustered.dedicated reads="
#define AT(mix, load)                                                                    \
	{                                                                                \
		mix "." load, job_loss,                                                  \
		{                                                                        \
			mix, mix " io_load=0." load                                      \
		}                                                                        \
	}
#define IO_LOADS(mix) mix " io_load=0.1", mix " io_load=0.3", mix " io_load=0.5"
#define LOADS(mix)    mix, IO_LOADS(mix)
#define MIX(mix)      AT(mix, "1"), AT(mix, "3"), AT(mix, "5")

// The clusters of papers 003 and 004: PCI-X at 100 and at 133 MHz.
#define RAIL  " rails=1"
#define RAILS " rails=2"
#define PCI_X " bus=911MB/s"

// The Elan library's collectives pass up to 2 KB through a node's memory (002, 2;
// 003, 2.1).
// Longer ones are copied from one process to another as Tports do, unless put.
#define SHARED " host=elan"
#define COPIED " host=tports"

// All-gather on 16 processes: the one that is the fastest, and the others.
#define ALLGATHER(how, size) "allgather." how " message=" size
#define RING(size)	     "elan.allgather.ring message=" size
#define BRUCK_FIRST(name, size)                                                          \
	{                                                                                \
		"coll.allgather.short." name, least_lead,                                \
		{                                                                        \
			ALLGATHER("bruck", size), ALLGATHER("direct", size),             \
				ALLGATHER("exchange", size)                              \
		}                                                                        \
	}
// Gathered in rank 0, then broadcast by hardware (002, 2).
#define ELAN_FIRST(name, size, all)                                                      \
	{                                                                                \
		"coll.allgather.elan." name, least_lead_of_two,                          \
		{                                                                        \
			"elan.gather.tree message=" size SHARED,                         \
				"elan.broadcast.hardware message=" all,                  \
				ALLGATHER("bruck", size), ALLGATHER("direct", size),     \
				ALLGATHER("exchange", size)                              \
		}                                                                        \
	}
#define DIRECT_FIRST(name, size)                                                         \
	{                                                                                \
		"coll.allgather.long." name, least_lead,                                 \
		{                                                                        \
			ALLGATHER("direct", size), ALLGATHER("bruck", size),             \
				ALLGATHER("exchange", size), RING(size)                  \
		}                                                                        \
	}
// Paper 002, 7: better than Bruck on a power of three, worse on 16 processes.
#define EXCHANGE_9(name, size)                                                           \
	{                                                                                \
		"coll.allgather.nine." name, least_lead,                                 \
		{                                                                        \
			ALLGATHER("exchange", size " nodes=9"),                          \
				ALLGATHER("bruck", size " nodes=9")                      \
		}                                                                        \
	}
#define EXCHANGE_16(name, size)                                                          \
	{                                                                                \
		"coll.allgather.sixteen." name, least_lead,                              \
		{                                                                        \
			ALLGATHER("bruck", size), ALLGATHER("exchange", size)            \
		}                                                                        \
	}
#define SCATTER(length, first, second, name, size)                                       \
	{                                                                                \
		"coll.scatter." length "." name, least_lead,                             \
		{                                                                        \
			"scatter." first " message=" size,                               \
				"scatter." second " message=" size                       \
		}                                                                        \
	}
#define SCATTER_SHORT(name, size) SCATTER("short", "binomial", "sequential", name, size)
#define SCATTER_LONG(name, size)  SCATTER("long", "sequential", "binomial", name, size)
#define GATHERS(size)		  "gather.binomial message=" size, "elan.gather.tree message=" size
#define GATHER(name, size, local)                                                        \
	{                                                                                \
		"coll.gather." name, measure_gain,                                       \
		{                                                                        \
			GATHERS(size) local                                              \
		}                                                                        \
	}
#define ALLTOALLS(how, size)                                                             \
	"alltoall.direct message=" size, "elan.alltoall." how " message=" size
#define ALLTOALL(name, how, size, changes)                                               \
	{                                                                                \
		"coll.alltoall." name, measure_gain,                                     \
		{                                                                        \
			ALLTOALLS(how, size) changes                                     \
		}                                                                        \
	}

// A collective on two rails against one, with messages that are large.
#define ON_RAILS(name, figure, how)                                                      \
	{                                                                                \
		"coll.rails." name, figure,                                              \
		{                                                                        \
			how " message=256K" RAILS, how " message=256K" RAIL              \
		}                                                                        \
	}

#define PVFS(which) "pvfs." which ".elan4", "pvfs." which ".tcp"
// A point of table 3 of paper 004.
#define CLIENTS(which, over, n)                                                          \
	{                                                                                \
		"pvfs." which "." over "." n, milliseconds,                              \
		{                                                                        \
			"pvfs." which "." over " nodes=" n                               \
		}                                                                        \
	}
#define TABLE_3(which, over)                                                             \
	CLIENTS(which, over, "1"), CLIENTS(which, over, "2"), CLIENTS(which, over, "3"), \
		CLIENTS(which, over, "4"), CLIENTS(which, over, "5"),                    \
		CLIENTS(which, over, "6")

#define SHORT "uniform message=16K warm=15ms window=20ms"

static const struct tb_measure measures[] = {
	{"ping.uni.bw", sent, {"ping"}},
	{"ping.uni.wire", wire, {"ping"}},
	{"ping.uni.lat0", latency, {"latency"}},
	{"ping.uni.lat1", latency, {"latency message=1"}},
	{"ping.uni.lat16", latency, {"latency message=16"}},
	{"ping.uni.lat64", latency, {"latency message=64"}},
	{"ping.uni.lat0.16", latency, {"latency nodes=16"}},
	{"ping.uni.lat64.16", latency, {"latency message=64 nodes=16"}},
	{"ping.uni.lat0.tports", latency, {"latency nodes=16 host=tports"}},
	{"ping.uni.lat0.mpi", latency, {"latency nodes=16 host=mpi"}},
	{"ping.uni.lat0.mpi.64", latency, {"latency host=mpi"}},
	{"ping.uni.main33", sent, {"ping" PCI_33}},
	{"ping.uni.mpi33", sent, {"ping host=mpi" PCI_33}},
	{"ping.uni.bw.16", sent, {"ping nodes=16"}},
	{"ping.uni.main66r", sent, {"ping nodes=16" FROM_MAIN}},
	{"ping.uni.main66w", sent, {"ping nodes=16" TO_MAIN}},
	{"ping.uni.mpi66", sent, {"ping nodes=16 host=mpi" PCI_66}},
	{"ping.uni.tports66", sent, {"ping nodes=16 host=tports" PCI_66}},
	{"ping.bi.bw", sent, {"ping.both"}},
	{"ping.bi.main33", sent, {"ping.both" PCI_33}},
	{"ping.bi.main-elan", sent, {"ping.both nodes=16" FROM_MAIN}},
	{"ping.bi.elan-main", sent_change,
		{"ping.both nodes=16" FROM_MAIN, "ping.both nodes=16"}},
	{"ping.bi.main66", sent, {"ping.both nodes=16" PCI_66}},
	{"ping.bi.main66.tports", sent, {"ping.both nodes=16 host=tports" PCI_66}},
	{"ping.bi.main66.mpi", sent, {"ping.both nodes=16 host=mpi" PCI_66}},
	{"uniform.64.bw", sent, {"uniform"}},
	{"uniform.64.frac", fraction, {"uniform", "ping.both"}},
	{"uniform.32.bw", sent, {"uniform nodes=32"}},
	{"uniform.scale.32", sent_change, {"uniform nodes=32", "uniform nodes=16"}},
	{"uniform.scale.64", sent_change, {"uniform", "uniform nodes=32"}},
	{"uniform.64.sizes", by_sizes_difference, {"uniform"}},
	{"uniform.size.64k", sent_change,
		{"uniform message=64K warm=15ms window=20ms", SHORT}},
	{"uniform.size.256k", sent_change, {"uniform", SHORT}},
	{"uniform.size.1m", sent_change,
		{"uniform message=1M warm=30ms window=50ms", SHORT}},
	PERMUTATION("neighbor", "neighbour"),
	PERMUTATION("butterfly", "butterfly"),
	PERMUTATION("complement", "complement"),
	PERMUTATION("shuffle", "shuffle"),
	PERMUTATION("transpose", "transpose"),
	PERMUTATION("bitrev", "bit-reversal"),
	{"matrix.complement.l1.light", first_level, {COMPLEMENT_LIGHT}},
	{"matrix.complement.l1.medium", first_level, {COMPLEMENT_MEDIUM}},
	{"matrix.complement.l1.full", first_level, {"complement"}},
	{"matrix.complement.l2.light", second_level, {COMPLEMENT_LIGHT}},
	{"matrix.complement.l2.medium", second_level, {COMPLEMENT_MEDIUM}},
	{"matrix.complement.l2.full", second_level, {"complement"}},
	{"matrix.complement.even", most_uneven, {COMPLEMENT_LOADS}},
	{"matrix.complement.grow", least_growth, {COMPLEMENT_LOADS}},
	{"matrix.bitrev.hot", hot_first_level, {"bit-reversal"}},
	HOT("4", taken, "4"),
	HOT("8", taken, "8"),
	HOT("16", taken, "16"),
	HOT("32", taken, "32"),
	{"hot.64.drop", drop, {"hot nodes=32", "hot nodes=64"}},
	HOT("64.near", measure_near, "64"),
	HOT("64.mid", mid, "64"),
	HOT("64.far", far, "64"),
	HOT("4.read", measure_given, "4 reads=1" PCI_66),
	HOT("16.read", measure_given, "16 reads=1" PCI_66),
	HOT("4.write", taken, "4" PCI_66),
	HOT("16.write", taken, "16" PCI_66),
	IO_ROW("rand.clustered.shared", "random.clustered.shared"),
	IO_ROW("rand.clustered.dedicated", "random.clustered.dedicated"),
	IO_ROW("rand.distributed.shared", "random.distributed.shared"),
	IO_ROW("rand.distributed.dedicated", "random.distributed.dedicated"),
	IO_ROW("det.clustered.shared", "fixed.clustered.shared"),
	IO_ROW("det.clustered.dedicated", "fixed.clustered.dedicated"),
	IO_ROW("det.distributed.shared", "fixed.distributed.shared"),
	IO_ROW("det.distributed.dedicated", "fixed.distributed.dedicated"),
	{"io.rand.gain", shared_gain,
		{IO("random.clustered.shared"), IO("random.clustered.dedicated")}},
	{"io.det.gain", shared_gain,
		{IO("fixed.clustered.shared"), IO("fixed.clustered.dedicated")}},
	{"io.order.det", taken_lead,
		{IO("fixed.clustered.shared"), IO("random.clustered.shared"),
			IO("fixed.clustered.dedicated"), IO("random.clustered.dedicated"),
			IO("fixed.distributed.shared"), IO("random.distributed.shared"),
			IO("fixed.distributed.dedicated"),
			IO("random.distributed.dedicated")}},
	{"io.order.distributed", taken_lead,
		{IO("random.distributed.shared"), IO("random.clustered.shared"),
			IO("random.distributed.dedicated"),
			IO("random.clustered.dedicated"), IO("fixed.distributed.shared"),
			IO("fixed.clustered.shared"), IO("fixed.distributed.dedicated"),
			IO("fixed.clustered.dedicated")}},
	{"io.distributed.shared", taken_lead,
		{IO("random.distributed.shared"), IO("random.clustered.shared")}},
	{"io.distributed.dedicated", taken_lead,
		{IO("random.distributed.dedicated"), IO("random.clustered.dedicated")}},
	{"io.mapping.rand", taken_difference,
		{IO("random.distributed.shared"), IO("random.distributed.dedicated")}},
	{"io.mapping.det", taken_difference,
		{IO("fixed.distributed.shared"), IO("fixed.distributed.dedicated")}},
	{"io.reads", read_change,
		{IO("random.clustered.dedicated"), READS "0.5", READS "1"}},
	MIX("mix.1c.dedicated"),
	MIX("mix.1i.dedicated"),
	MIX("mix.distributed.dedicated"),
	MIX("mix.1c.shared"),
	MIX("mix.1i.shared"),
	{"mix.1i.shared", worst_loss, {LOADS("mix.1i.shared")}},
	{"mix.distributed.shared", smallest_step,
		{"mix.1c.shared", IO_LOADS("mix.distributed.shared")}},
	{"q2.put.bothway.1", rate, {"both-ways" RAIL}},
	{"q2.put.bothway.2", rate, {"both-ways" RAILS}},
	{"q2.put.doubled", times_rate, {"both-ways" RAILS, "both-ways" RAIL}},
	{"q2.put.lat", there, {"there-and-back" RAIL}},
	{"q2.get.bothway.1", rate, {"both-ways host=get" RAIL}},
	{"q2.get.bothway.2", rate, {"both-ways host=get" RAILS}},
	{"q2.get.slower", least_lead,
		{"there-and-back" RAIL, "there-and-back host=get" RAIL}},
	{"q2.tports.one", times_rate, {"one-way host=tports" RAIL, "one-way" RAIL}},
	{"q2.tports.both", times_rate, {"both-ways host=tports" RAIL, "both-ways" RAIL}},
	{"q2.tports.two", rate_lead, {"one-way" RAILS, "one-way host=tports" RAILS}},
	{"q2.tports.two.both", rate_lead,
		{"both-ways" RAILS, "both-ways host=tports" RAILS}},
	{"q2.tports.rails", rate_lead,
		{"one-way host=tports" RAILS, "one-way host=tports" RAIL}},
	{"q2.tports.slower", least_lead,
		{"there-and-back" RAIL, "there-and-back host=tports" RAIL}},
	{"q2.mpi.doubled", times_rate,
		{"one-way host=mpi" RAILS, "one-way host=mpi" RAIL}},
	{"q2.mpi.both", times_rate,
		{"both-ways host=mpi" RAILS, "both-ways host=mpi" RAIL}},
	{"q2.rdma.write.lat", there, {"there-and-back" PCI_X}},
	{"q2.rdma.write.bw", rate, {"one-way" PCI_X}},
	{"q2.rdma.read.lat", there, {"there-and-back host=get" PCI_X}},
	{"q2.rdma.read.bw", rate, {"one-way host=get" PCI_X}},
	{"q2.qdma.lat", there, {"there-and-back host=qdma" PCI_X}},
	{"q2.qdma.bw", rate, {"one-way host=qdma" PCI_X}},
	{"q2.eip.lat", there, {"there-and-back host=tcp" PCI_X}},
	{"q2.eip.bw", rate, {"one-way host=tcp" PCI_X}},
	{"coll.allgather.32k", speed_up, {ALLGATHER("direct", "32K"), RING("32K")}},
	{"coll.allgather.most", most_gain,
		{ALLGATHER("direct", "4K"), RING("4K"), ALLGATHER("direct", "16K"),
			RING("16K"), ALLGATHER("direct", "32K"), RING("32K"),
			ALLGATHER("direct", "256K"), RING("256K")}},
	BRUCK_FIRST("4", "4"),
	BRUCK_FIRST("64", "64"),
	BRUCK_FIRST("256", "256"),
	ELAN_FIRST("4", "4", "64"),
	ELAN_FIRST("256", "256", "4K"),
	ELAN_FIRST("2k", "2K", "32K"),
	DIRECT_FIRST("4k", "4K"),
	DIRECT_FIRST("32k", "32K"),
	DIRECT_FIRST("256k", "256K"),
	EXCHANGE_9("1k", "1K"),
	EXCHANGE_9("4k", "4K"),
	EXCHANGE_9("16k", "16K"),
	EXCHANGE_16("1k", "1K"),
	EXCHANGE_16("4k", "4K"),
	EXCHANGE_16("16k", "16K"),
	GATHER("4", "4", SHARED),
	GATHER("64", "64", SHARED),
	GATHER("1k", "1K", SHARED),
	GATHER("32k", "32K", ""),
	{"coll.gather.1m", speed_up, {GATHERS("1M") COPIED}},
	ALLTOALL("4", "linear", "4", SHARED),
	ALLTOALL("64", "linear", "64", SHARED),
	ALLTOALL("256", "linear", "256", SHARED),
	ALLTOALL("2k", "pairwise", "2K", SHARED),
	{"coll.alltoall.16k", speed_up, {ALLTOALLS("permission", "16K") COPIED}},
	ALLTOALL("32k", "permission", "32K", RAILS),
	ALLTOALL("256k", "permission", "256K", RAILS),
	SCATTER_SHORT("4", "4"),
	SCATTER_SHORT("64", "64"),
	SCATTER_SHORT("256", "256"),
	SCATTER_LONG("16k", "16K"),
	SCATTER_LONG("256k", "256K"),
	SCATTER_LONG("1m", "1M"),
	ON_RAILS("allgather", rate_difference, "elan.allgather.ring"),
	ON_RAILS("gather", rate_difference, "elan.gather.tree" COPIED),
	ON_RAILS("bcast", rate_difference, "elan.broadcast.tree" COPIED),
	ON_RAILS("alltoall", rate_lead, "elan.alltoall.permission" COPIED),
	ON_RAILS("mpi.scatter", rate_lead, "mpi.scatter.binomial"),
	ON_RAILS("mpi.allgather", rate_difference, "mpi.allgather.ring"),
	{"pvfs.read.gain", measure_gain, {PVFS("read")}},
	{"pvfs.write.gain", measure_gain, {PVFS("write")}},
	TABLE_3("create", "elan4"),
	TABLE_3("create", "tcp"),
	TABLE_3("resize", "elan4"),
	TABLE_3("resize", "tcp"),
	{"pvfs.resize", saved, {"pvfs.resize.elan4 nodes=6", "pvfs.resize.tcp nodes=6"}},
	{"pvfs.tile.write", measure_gain, {PVFS("tile-write")}},
	{"pvfs.tile.sync", measure_gain, {PVFS("tile-sync")}},
	{"pvfs.tile.read", measure_gain, {PVFS("tile-read")}},
	{"pvfs.btio.saved", saved, {PVFS("bt")}},
};

const struct tb_measure *tb_measure_find(const char *id)
{
	for (size_t i = 0; i < sizeof measures / sizeof *measures; i++)
		if (strcmp(measures[i].id, id) == 0)
			return &measures[i];
	return NULL;
}

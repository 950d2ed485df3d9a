// How claims about collectives and parallel I/O are computed from measured times.
#include "measure.h"
#include "timed.h"

#include <math.h>
#include <string.h>

// The tables that tb_measure_find searches.

// Measures of times; the last entry has a NULL id.
extern const struct tb_measure tb_measures_timed[];

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

// size_change: two experiments of small messages, then three of large ones.
static double size_change(const struct tb_outcome *const *outcomes)
{
	double small = (sent(outcomes) + sent(outcomes + 1)) / 2;
	double large = (sent(outcomes + 2) + sent(outcomes + 3) + sent(outcomes + 4)) / 3;
	return (large / small - 1) * 100;
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
	for (int i = 0; i < 8; i += 2)
		least = fmin(
			least, mean_taken(outcomes[i]) / mean_taken(outcomes[i + 1]));
	return (least - 1) * 100;
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

// A compute job alone, then beside three loads of I/O. Its bytes are counted by job: an
// I/O node on which it runs sends what the I/O job reads.
#define N_LOADS 3

static double loss(const struct tb_outcome *const *outcomes, int load)
{
	return (1 - outcomes[1 + load]->job_bps / outcomes[0]->job_bps) * 100;
}

static double mean_loss(const struct tb_outcome *const *outcomes)
{
	double sum = 0;
	for (int i = 0; i < N_LOADS; i++)
		sum += loss(outcomes, i);
	return sum / N_LOADS;
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
#define COMPLEMENT_LOADS "complement.light", "complement.medium", "complement"
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

#define IO(name) "io." name
#define IO_ROW(name, experiment)                                                         \
	{                                                                                \
		"io." name, taken,                                                       \
		{                                                                        \
			IO(experiment)                                                   \
		}                                                                        \
	}
#define LOADS(mix) mix, mix ".1", mix ".3", mix ".5"
#define PERMUTATION(name, pattern)                                                       \
	{                                                                                \
		"perm." name, sent,                                                      \
		{                                                                        \
			pattern                                                          \
		}                                                                        \
	}

static const struct tb_measure measures[] = {
	{"ping.uni.bw", sent, {"ping"}},
	{"ping.uni.wire", wire, {"ping"}},
	{"ping.uni.lat0", latency, {"latency"}},
	{"ping.uni.lat64", latency, {"latency.64"}},
	{"ping.uni.lat0.16", latency, {"latency.0.16"}},
	{"ping.uni.lat0.tports", latency, {"latency.0.16"}},
	{"ping.uni.lat0.mpi", latency, {"latency.0.16"}},
	{"ping.uni.main33", sent, {"ping"}},
	{"ping.uni.main66r", sent, {"ping"}},
	{"ping.uni.main66w", sent, {"ping"}},
	{"ping.uni.mpi66", sent, {"ping"}},
	{"ping.bi.bw", sent, {"ping.both"}},
	{"ping.bi.main33", sent, {"ping.both"}},
	{"ping.bi.main66", sent, {"ping.both"}},
	{"uniform.64.bw", sent, {"uniform"}},
	{"uniform.64.frac", fraction, {"uniform", "ping.both"}},
	{"uniform.32.bw", sent, {"uniform.32"}},
	{"uniform.size", size_change,
		{"uniform.4k", "uniform.16k", "uniform.64k", "uniform", "uniform.1m"}},
	PERMUTATION("neighbor", "neighbour"),
	PERMUTATION("butterfly", "butterfly"),
	PERMUTATION("complement", "complement"),
	PERMUTATION("shuffle", "shuffle"),
	PERMUTATION("transpose", "transpose"),
	PERMUTATION("bitrev", "bit-reversal"),
	{"matrix.complement.l1.light", first_level, {"complement.light"}},
	{"matrix.complement.l1.medium", first_level, {"complement.medium"}},
	{"matrix.complement.l1.full", first_level, {"complement"}},
	{"matrix.complement.l2.light", second_level, {"complement.light"}},
	{"matrix.complement.l2.medium", second_level, {"complement.medium"}},
	{"matrix.complement.l2.full", second_level, {"complement"}},
	{"matrix.complement.even", most_uneven, {COMPLEMENT_LOADS}},
	{"matrix.complement.grow", least_growth, {COMPLEMENT_LOADS}},
	{"matrix.bitrev.hot", hot_first_level, {"bit-reversal"}},
	{"hot.32", taken, {"hot.32"}},
	{"hot.64.drop", drop, {"hot.32", "hot"}},
	{"hot.64.near", measure_near, {"hot"}},
	{"hot.64.mid", mid, {"hot"}},
	{"hot.64.far", far, {"hot"}},
	{"hot.16.read", measure_given, {"hot.16.read"}},
	{"hot.16.write", taken, {"hot.16.write"}},
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
	{"io.reads", read_change,
		{IO("random.clustered.dedicated"), IO("random.clustered.dedicated.half"),
			IO("random.clustered.dedicated.reads")}},
	{"mix.1c.dedicated", mean_loss, {LOADS("mix.1c.dedicated")}},
	{"mix.1i.dedicated", mean_loss, {LOADS("mix.1i.dedicated")}},
	{"mix.distributed.dedicated", mean_loss, {LOADS("mix.distributed.dedicated")}},
	{"mix.1c.shared", mean_loss, {LOADS("mix.1c.shared")}},
	{"mix.1i.shared", worst_loss, {LOADS("mix.1i.shared")}},
	{"mix.distributed.shared", smallest_step, {LOADS("mix.distributed.shared")}},
};

// Main memory instead of Elan memory is behind the hosts' PCI bus (docs/model.md, "Main
// memory").
#define PCI_33 "bus=200MB/s,bus_turn=600ns"
#define PCI_66 "bus=320MB/s,bus_turn=0"

static const struct {
	const char *id, *network;
} changed[] = {
	{"ping.uni.lat0.tports", "host=tports"},
	{"ping.uni.lat0.mpi", "host=mpi"},
	{"ping.uni.main33", PCI_33},
	{"ping.uni.main66r", PCI_66},
	{"ping.uni.main66w", PCI_66},
	{"ping.uni.mpi66", PCI_66 ",host=mpi"},
	{"ping.bi.main33", PCI_33},
	{"ping.bi.main66", PCI_66},
	{"hot.16.read", PCI_66},
	{"hot.16.write", PCI_66},
};

const struct tb_measure *tb_measure_find(const char *id)
{
	for (size_t i = 0; i < sizeof measures / sizeof *measures; i++)
		if (strcmp(measures[i].id, id) == 0)
			return &measures[i];
	for (const struct tb_measure *m = tb_measures_timed; m->id; m++)
		if (strcmp(m->id, id) == 0)
			return m;
	return NULL;
}

const char *tb_measure_network(const char *id)
{
	for (size_t i = 0; i < sizeof changed / sizeof *changed; i++)
		if (strcmp(changed[i].id, id) == 0)
			return changed[i].network;
	return NULL;
}

const struct tb_experiment *tb_measure_experiment(const char *name)
{
	const struct tb_experiment *found = tb_experiment_find(name);
	return found ? found : tb_timed_find(name);
}
